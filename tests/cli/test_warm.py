"""`monojit warm`: patterns, job files, shards, what it prints."""

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest
from conftest import KEY, SMALL, TIMEOUT_S, entry_files, refused

ROW_NORM = "example.row_norm{rows=1|2|3,hidden=512}"
SUMMARY = {"jobs", "built", "hit", "failed", "not_started", "seconds", "bytes", "peak_bytes", "peak_worker_bytes", "strict_ready"}


def warm(monojit, *arguments, **environment):
    return monojit("warm", *arguments, "--arch", "gfx950", **environment)


def test_a_pattern_is_every_key_that_it_stands_for(monojit):
    outcome = warm(monojit, ROW_NORM, "--json")
    assert outcome.code == 0, outcome.err
    report = outcome.json()
    assert [kernel["key"].split(",")[0] for kernel in report["kernels"]] == [f"example.row_norm{{rows={n}" for n in (1, 2, 3)]
    assert set(report["summary"]) == SUMMARY
    summary = report["summary"]
    assert (summary["jobs"], summary["built"], summary["hit"], summary["failed"]) == (3, 3, 0, 0)
    assert summary["strict_ready"] is True
    assert summary["bytes"] == sum(file.stat().st_size for file in entry_files(monojit.cache))
    assert 2**20 < summary["peak_worker_bytes"] < 2**32
    assert 2**20 < summary["peak_bytes"] < 2**28, "this process does not build"
    again = warm(monojit, ROW_NORM, "--json").json()["summary"]
    assert (again["built"], again["hit"], again["peak_worker_bytes"]) == (0, 3, 0)


def test_what_is_there_needs_no_compiler_and_no_worker(monojit, tmp_path):
    assert warm(monojit, ROW_NORM).code == 0
    outcome = warm(monojit, ROW_NORM, MONOJIT_COMGR_LIBRARY="/nonexistent/libamd_comgr.so")
    assert outcome.code == 0
    assert "built 0, hit 3, failed 0" in outcome.out
    assert "strict mode serves every job" in outcome.out


def test_combinations_that_can_not_be_built_are_left_out_and_counted(monojit):
    outcome = monojit("warm", "minimax_m3.k1{tokens=1,index_heads=*,index_own=*}", "--list", "--json", "--arch", "gfx950")
    assert outcome.code == 0
    assert len(outcome.json()["jobs"]) == 5
    assert "3 of the 8 combinations" in outcome.err and "must be below index_heads" in outcome.err


def test_a_model_is_every_kernel_that_serving_it_needs(monojit):
    jobs = monojit("warm", "--model", "kimi_k3", "--list", "--json", "--arch", "gfx950").json()["jobs"]
    keys = {job["key"] for job in jobs}
    assert len(keys) == 1 + 8 * 8 * 2
    assert "common.bump{}" in keys
    assert refused(monojit("warm", "--model", "gpt"), "unknown model 'gpt'", "minimax_m3")


def test_several_archs(monojit):
    report = monojit("warm", "example.row_norm{rows=1,hidden=512}", "--arch", "gfx950,gfx942", "--json").json()
    assert report["archs"] == ["gfx950", "gfx942"] and report["arch"] is None
    assert [kernel["arch"] for kernel in report["kernels"]] == ["gfx950", "gfx942"]
    assert {entry["target"].split("-")[-1] for entry in monojit.entries()} == {"gfx950", "gfx942"}


@pytest.mark.parametrize("text", [
    '["example.row_norm{rows=1..3,hidden=512}"]',
    '{"jobs": [{"key": "example.row_norm{rows=1|2,hidden=512}"}, "example.row_norm{rows=3,hidden=512}"], "arch": "gfx950"}',
    '{"family": "example.row_norm", "fields": {"rows": [1, "2..3"], "hidden": 512}, "arch": ["gfx950"]}',
    '{"key": "example.row_norm{rows=1,hidden=512}"}\n\n{"key": "example.row_norm{rows=2..3,hidden=512}"}\n',
    '"example.row_norm{rows=1|2,hidden=512}"\n"example.row_norm{rows=2|3,hidden=512}"',
])
def test_a_job_file_names_the_jobs(monojit, tmp_path, text):
    file = tmp_path / "jobs"
    file.write_text(text)
    jobs = monojit("warm", "--file", file, "--arch", "gfx950", "--list").out.splitlines()
    assert len(jobs) == 3 and all(job.startswith("gfx950 example.row_norm{rows=") for job in jobs)


@pytest.mark.parametrize("text, problem", [
    ("", "holds no job"),
    ("{", "is no JSON, nor JSON lines"),
    ("[]", "holds no job"),
    ('{"jobs": {}}', '"jobs" must be a list'),
    ('{"jobs": [], "color": 1}', 'unknown member "color"'),
    ("[3]", "job 1: a job must be a text or an object"),
    ('[{"key": "example.row_norm{rows=1,hidden=512}", "model": "kimi_k3"}]', 'one of "key", "model" and "family"'),
    ('[{"keys": "x"}]', 'job 1: unknown member "keys"'),
    ('[{"key": 5}]', '"key" must be a text'),
    ('[{"key": "example.row_norm{rows=0,hidden=512}"}]', "job 1: example.row_norm: rows = 0 is out of range"),
    ('[{"family": "example.row_norm", "fields": {"rows": [[1]]}}]', "list within its list"),
    ('[{"family": "example.row_norm", "fields": {"rows": null}}]', 'field "rows" must be'),
    ('[{"model": "kimi_k3", "fields": {}}]', 'goes with "family"'),
    ('[{"key": "common.bump", "arch": "gfx900"}]', "can't be built for 'gfx900'"),
    ('[{"key": "common.bump", "arch": []}]', "empty list"),
    ('["common.bump", {"model": "kimi_k9"}]', "job 2: unknown model 'kimi_k9'"),
    ('[{"key": "common.bump\\u0000x"}]', 'a NUL follows "common.bump" in a text'),
    ('[{"family": "common.bump", "fields": {"a\\u0000b": 1}}]', 'a NUL follows "a" in a text'),
    ('[{"family": "common.bump", "fields": {"a": 1}}]', "unknown field 'a'; it has no fields"),
    ('"common.bump"\n{"key": 1', "line 2:"),
    pytest.param("[" * 100_000 + "]" * 100_000, "more than 16 deep", id="deep lists"),
    pytest.param('{"family": "x", "fields": {"rows": ' + '{"a":' * 100_000 + "1" + "}" * 100_002, "more than 16 deep", id="deep objects"),
    ('[{"key": "common.bump", "model": null}]', 'a job has one of "key", "model" and "family", this one has "key" and "model"'),
    ('[{"key": "common.bump", "key": "bench.peak"}]', 'member "key" is there twice'),
    ('{"jobs": ["common.bump"], "jobs": []}', 'member "jobs" is there twice'),
    ('{"family": "example.row_norm", "fields": {"rows": 1, "rows": 2, "hidden": 512}}', 'member "rows" is there twice'),
    ('"common.bump"\n{"key": "common.bump", "key": "common.bump"}', 'member "key" is there twice'),
    ('[{"family": "example.row_norm", "fields": {"rows": "1,hidden=512"}}]', 'field "rows" holds one of { } , ='),
    ('[{"family": "example.row_norm", "fields": {"rows=1,hidden": 512}}]', 'field "rows=1,hidden" holds one of'),
    ('[{"family": "minimax_m3.k1", "fields": {"tokens": 1, "eps": 1e-400}}]', "the number 1e-400 is too small"),
    ('[{"family": "minimax_m3.k1", "fields": {"tokens": 1, "eps": 1e400}}]', "the number 1e400 is too large"),
])
def test_a_job_file_that_is_wrong_is_refused_with_the_place(monojit, tmp_path, text, problem):
    file = tmp_path / "jobs.json"
    file.write_text(text)
    assert refused(monojit("warm", "--file", file, "--arch", "gfx950"), str(file), problem)


@pytest.mark.parametrize("arguments, text", [
    ((), "name what to warm"),
    (("--file", "/nonexistent/jobs.json"), "--file /nonexistent/jobs.json: can't be read"),
    (("--file", "/"), "--file /: can't be read"),
    (("--file", "/dev/zero"), "--file /dev/zero: holds more than 64 MiB"),
    ((KEY, "--shard", "2/2"), "--shard"),
    ((KEY, "--shard", "1"), "--shard"),
    ((KEY, "--jobs", "0"), "--jobs"),
    ((KEY, "--arch", "gfx950,gfx900"), "gfx900"),
    ((KEY, "--arch", "gfx950,,gfx942"), "--arch: kernels can't be built for ''"),
    ((KEY, "--arch", "gfx950,"), "--arch: kernels can't be built for ''"),
    ((KEY, "--arch", ""), "--arch: kernels can't be built for ''"),
    (("minimax_m3.k1{tokens=1,eps=*}",), "eps=* has no end"),
    (("kimi_k3.k2{tokens=1,nblocks=1}", "--arch", "gfx942"), "arch must be gfx950"),
])
def test_a_wrong_command_line_is_refused(monojit, arguments, text):
    assert refused(monojit("warm", *arguments), text)


def test_shards_together_are_the_whole_and_share_nothing(monojit):
    def jobs(*arguments):
        return monojit("warm", "minimax_m3.k1{tokens=*}", "--arch", "gfx950,gfx942", "--list", *arguments).out.splitlines()

    shards = [jobs("--shard", f"{i}/5") for i in range(5)]
    assert {len(shard) for shard in shards} == {6, 7}
    assert sorted(sum(shards, [])) == sorted(jobs())


def test_a_terminal_gets_a_bar_and_no_line_a_kernel(monojit):
    primary, secondary = pty.openpty()
    process = subprocess.Popen([monojit.binary, "warm", ROW_NORM, "--arch", "gfx950"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=secondary, text=True, env=monojit.environment)
    os.close(secondary)
    out, _ = process.communicate(timeout=TIMEOUT_S)
    shown = b""
    try:
        while chunk := os.read(primary, 4096):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    os.close(primary)
    assert b"/3, built " in shown and b"[" in shown
    assert out.splitlines() == [out.strip()] and out.startswith("built 3, hit 0, failed 0")


@pytest.mark.parametrize("seconds", ["nan", "-nan", "inf", "0", "-1", "86401", "1e400", "", "ten"])
def test_a_time_that_no_build_can_be_given_is_refused(monojit, seconds):
    assert refused(warm(monojit, ROW_NORM, f"--timeout={seconds}"), "--timeout")
    assert entry_files(monojit.cache) == []


EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "warm"


def test_the_example_job_files_name_jobs(monojit):
    listed = monojit("warm", "--file", EXAMPLES / "jobs.json", "--list").out.splitlines()
    assert len(listed) == 1 + 6 + 6 * 2
    assert len(monojit("warm", "--file", EXAMPLES / "jobs.jsonl", "--list", "--arch", "gfx942").out.splitlines()) == 2 + 80


def test_the_example_of_a_slurm_array_warms_the_list_between_its_tasks(monojit):
    path = f"{Path(monojit.binary).parent}:{os.environ['PATH']}"
    for task in range(8):
        done = subprocess.run([EXAMPLES / "slurm.sh", EXAMPLES / "jobs.json"], capture_output=True, text=True, timeout=TIMEOUT_S,
                              env=monojit.environment | {"PATH": path, "SLURM_ARRAY_TASK_ID": str(task),
                                                         "SLURM_ARRAY_TASK_COUNT": "8", "SLURM_CPUS_PER_TASK": "2"})
        assert done.returncode == 0, done.stderr
    assert len(entry_files(monojit.cache)) == 19


def test_the_example_of_a_kubernetes_job_runs_a_shard_a_pod(monojit):
    """Its command, as each pod runs it, with the job file in the place of the volume's."""
    text = (EXAMPLES / "kubernetes.yaml").read_text()
    assert "completionMode: Indexed" in text and "completions: 8" in text
    (command,) = re.findall(r"- (exec monojit warm .*)", text)
    command = command.replace("/jobs/jobs.json", str(EXAMPLES / "jobs.json")) + " --list"
    path = f"{Path(monojit.binary).parent}:{os.environ['PATH']}"
    listed = []
    for pod in range(8):
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=TIMEOUT_S,
                              env=monojit.environment | {"PATH": path, "JOB_COMPLETION_INDEX": str(pod)})
        assert done.returncode == 0, done.stderr
        listed += done.stdout.splitlines()
    assert len(listed) == len(set(listed)) == 19


def test_a_shard_without_a_job_promises_nothing(monojit):
    outcome = monojit("warm", SMALL, "--arch", "gfx950", "--shard", "1/2")
    assert outcome.code == 0 and "this shard has no job" in outcome.out and "strict mode" not in outcome.out


def test_a_job_files_long_name_is_shown_in_part(monojit):
    outcome = monojit("warm", "--file", "/" + 50_000 * "ab")
    assert refused(outcome, "--file /ababab", "abab: can't be read") and len(outcome.err) < 500


def test_what_is_no_text_is_escaped_in_messages(monojit, tmp_path):
    done = subprocess.run([monojit.binary, "warm", "--file", os.fsencode(tmp_path) + b"/\xff\xc3\xa4\xc2\x9b"], env=monojit.environment,
                          capture_output=True, timeout=TIMEOUT_S)
    assert done.returncode == 2 and b"/\\xff\xc3\xa4\\xc2\\x9b: can't be read" in done.stderr
