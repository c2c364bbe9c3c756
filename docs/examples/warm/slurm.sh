#!/bin/bash
#SBATCH --job-name=monojit-warm
#SBATCH --array=0-7
#SBATCH --cpus-per-task=4
#SBATCH --mem=20G
#SBATCH --time=00:30:00
# Each task of the array warms its part of the jobs into a cache folder that all nodes see. No GPU is needed. What a task
# could not finish, the same sbatch goes on with.
#
#   MONOJIT_CACHE_DIR=/shared/monojit sbatch docs/examples/warm/slurm.sh docs/examples/warm/jobs.json
exec monojit warm --file "$1" \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --jobs "$SLURM_CPUS_PER_TASK" --memory 4096
