#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "kernels/common/family.h"
#include "tools/safetensors.h"

/// What a file of `--save` says of the run that wrote it.
namespace monojit::tools {

struct RunOptions;

FileMetadata run_metadata(const std::string& key, const RunOptions& options, int ranks);

/// Makes the seed of the run that wrote the file of `--inputs` that of this run of `key`, unless the user gave one. On
/// stderr it says which seed is taken, and when the file is another build's. A file without metadata of ours changes
/// nothing. Throws UserError for a file of another family's, and for metadata of ours that are damaged.
void follow_saved_run(const kernels::BuildKey& key, bool seed_given, RunOptions& options);

}  // namespace monojit::tools
