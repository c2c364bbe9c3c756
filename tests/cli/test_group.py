"""`monojit run` of a kernel that runs on eight devices in lockstep."""

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest
import tensors
from conftest import refused, wait_until

KEY = "kimi_k3.k2{tokens=1,nblocks=1}"


def test_all_ranks_agree_with_the_reference(monojit):
    outcome = monojit("run", KEY, "--ranks", 8, "--json")
    assert outcome.code == 0, outcome
    report = outcome.json()
    assert report["device"] == "emulator:0..7"
    assert report["verified"] is True
    assert report["resources"]["scratch_bytes"] == 0
    assert report["resources"]["spills"] == 0
    names = {output["name"] for output in report["outputs"]}
    assert {"out", "prefix", "route", "ar", "final", "health"} <= names


def test_a_process_a_rank_gives_the_same(monojit):
    outcome = monojit("run", KEY, "--processes", "--json")
    assert outcome.code == 0, outcome
    report = outcome.json()
    assert report["device"] == "emulator:0 in each of 8 processes"
    assert report["verified"] is True
    assert report["launches"] == 1


@pytest.mark.parametrize("processes", [[], ["--processes"]])
def test_a_rank_that_stalls_ends_all_and_is_named(monojit, processes):
    key = "kimi_k3.k2{tokens=1,nblocks=1,fault_rank=3,fault_epoch=7,fault_layer=130,fault_ticks=1200000000}"
    outcome = monojit("run", key, "--json", *processes)
    assert outcome.code == 1
    assert outcome.json()["failure"]["place"] == "step 7, layer 2"
    health = outcome.json()["failure"]["health"]
    for rank in (0, 1, 2, 4, 5, 6, 7):
        assert any(line.startswith(f"rank {rank}: ") and "from rank 3, " in line for line in health), health
    assert any(line.startswith("rank 3: ") and "from workgroup 0 of its own rank" in line for line in health), health
    assert health[-1] == "by rank 0's alarm flags, ranks 0, 1, 2, 3, 4, 5, 6, 7 gave up"


@pytest.mark.parametrize("processes", [[], ["--processes"]])
def test_a_workgroup_that_hangs_ends_all_ranks_and_each_tells_whom_it_missed(monojit, processes):
    outcome = monojit("run", KEY, "--json", *processes, MONOJIT_EMULATOR_STALL="3:17")
    assert outcome.code == 1
    failure = outcome.json()["failure"]
    health = failure["health"]
    for rank in (0, 1, 2, 4, 5, 6, 7):
        assert any(line.startswith(f"rank {rank}: ") and "from rank 3, " in line for line in health), health
    assert any(line.startswith("rank 3: ") and "of part, " in line and "from workgroup 17 of its own rank" in line for line in health), health
    assert health[-1] == "by rank 0's alarm flags, ranks 0, 1, 2, 3, 4, 5, 6, 7 gave up"
    assert "stalled by MONOJIT_EMULATOR_STALL: workgroup 17" in failure["error"]


@pytest.mark.parametrize("rank, workgroup", [(0, 5), (2, 90), (4, 200), (6, 240), (7, 152)])
def test_the_workgroup_that_hangs_is_named_first_whatever_its_part(monojit, rank, workgroup):
    outcome = monojit("run", KEY, "--json", "--no-verify", MONOJIT_EMULATOR_STALL=f"{rank}:{workgroup}")
    assert outcome.code == 1
    cause = outcome.json()["failure"]["health"][0]
    assert cause.startswith(f"nearest to the cause: workgroup {workgroup} of rank {rank} did not put pair "), cause
    assert cause.endswith(", and left no record itself"), cause
    assert cause in outcome.err


def test_workgroups_that_hang_end_every_process_and_each_tells_whom_it_missed(monojit):
    outcome = monojit("run", KEY, "--processes", "--json", MONOJIT_EMULATOR_STALL="17")
    assert outcome.code == 1
    failure = outcome.json()["failure"]
    for rank in range(8):
        line = next(line for line in failure["health"] if line.startswith(f"rank {rank}: "))
        assert "of part, " in line and "from workgroup 17 of its own rank" in line, line
    assert "ranks 0..7: hipStreamSynchronize failed" in failure["error"]
    assert failure["health"][-1] == "by rank 0's alarm flags, ranks 0, 1, 2, 3, 4, 5, 6, 7 gave up"
    assert "stalled by MONOJIT_EMULATOR_STALL: workgroup 17" in failure["error"]


@pytest.mark.parametrize("processes", [[], ["--processes"]])
def test_a_rank_that_hangs_as_a_whole_ends_the_others(monojit, processes):
    outcome = monojit("run", KEY, "--json", *processes, MONOJIT_EMULATOR_STALL="3:*")
    assert outcome.code == 1
    failure = outcome.json()["failure"]
    for rank in (0, 1, 2, 4, 5, 6, 7):
        line = next(line for line in failure["health"] if line.startswith(f"rank {rank}: "))
        assert "of ar, " in line and "from rank 3, " in line, line
    assert failure["health"][-1] == "rank 3 left no record: none of its waits gave up, or it never ran"
    assert "stalled by MONOJIT_EMULATOR_STALL: all workgroups" in failure["error"]


@pytest.mark.parametrize("processes, why", [
    ([], "MONOJIT_EMULATOR_STALL names workgroup 17 of device 9, but MONOJIT_EMULATOR_DEVICES is 8"),
    (["--processes"], "MONOJIT_EMULATOR_STALL=3:17,9:17: 9:17 names rank 9; with a process a rank its device is the rank, and ranks are 0..7"),
])
def test_a_workgroup_of_a_rank_that_is_none_is_refused(monojit, processes, why):
    assert refused(monojit("run", KEY, *processes, MONOJIT_EMULATOR_STALL="3:17,9:17"), why)


@pytest.mark.parametrize("stall", ["x", "3:x"])
@pytest.mark.parametrize("processes", [[], ["--processes"]])
def test_a_stall_that_is_none_is_refused(monojit, processes, stall):
    assert refused(monojit("run", KEY, *processes, MONOJIT_EMULATOR_STALL=stall), "not understood, use workgroups as NUMBER, DEVICE:NUMBER or DEVICE:*")


def test_workgroups_of_two_ranks_that_hang_are_told_as_one(monojit):
    outcome = monojit("run", KEY, "--json", MONOJIT_EMULATOR_STALL="3:17,4:200")
    assert outcome.code == 1
    failure = outcome.json()["failure"]
    assert failure["place"].startswith("step ")
    assert len({line.split(":")[0] for line in failure["health"] if line.startswith("rank ")}) == 8, failure
    assert re.match("nearest to the cause: workgroup (17 of rank 3|200 of rank 4) did not put", failure["health"][0]), failure
    assert "stalled by MONOJIT_EMULATOR_STALL" in failure["error"]


def alive(process):
    """Whether a process that is not this one's child is there and has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1][0] not in "ZX"
    except FileNotFoundError:
        return False


def started_ranks(monojit, *arguments):
    """A run of eight processes whose launch takes its time, and their numbers in the order of the ranks."""
    run = monojit.start("run", KEY, "--processes", "--json", *arguments, MONOJIT_EMULATOR_MEMORY="weak", MONOJIT_EMULATOR_THREADS="2")
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    ranks = wait_until(lambda: len(ranks := children.read_text().split()) == 8 and list(map(int, ranks)), "eight ranks")
    return run, ranks


def wait_for_launch(process):
    threads_of_a_launch = 3  # the host's, the device's, and the one that a launch on two threads adds
    threads = Path(f"/proc/{process}/task")
    wait_until(lambda: len(list(threads.iterdir())) == threads_of_a_launch, "the launch")


def test_a_rank_whose_process_dies_in_the_launch_ends_the_others(monojit):
    run, ranks = started_ranks(monojit)
    wait_for_launch(ranks[3])
    os.kill(ranks[3], signal.SIGKILL)
    outcome = monojit.finish(run)
    assert outcome.code == 1
    failure = outcome.json()["failure"]
    assert "rank 3: its process was killed by signal 9" in failure["error"]
    for rank in (0, 1, 2, 4, 5, 6, 7):
        assert any(line.startswith(f"rank {rank}: ") for line in failure["health"]), failure
    assert any("from rank 3, " in line for line in failure["health"]), failure


def test_a_rank_that_is_stopped_before_the_launch_ends_all_within_the_bound(monojit):
    run, ranks = started_ranks(monojit, "--timeout", 2)
    os.kill(ranks[3], signal.SIGSTOP)
    outcome = monojit.finish(run)
    assert outcome.code == 1
    assert outcome.out == ""
    assert f"rank 3's process {ranks[3]} is stopped (SIGSTOP): unless it goes on, it is ended after 2 s" in outcome.err
    assert f"rank 3: its process {ranks[3]} was stopped (SIGSTOP) for 2 s, and was ended" in outcome.err
    assert "ranks 0..2, 4..7: " in outcome.err
    assert not any(Path(f"/proc/{rank}").exists() for rank in ranks)


def test_a_rank_that_is_stopped_in_the_launch_ends_all_within_the_bound(monojit):
    shared = set(os.listdir("/dev/shm"))
    run, ranks = started_ranks(monojit, "--timeout", 2)
    wait_for_launch(ranks[3])
    os.kill(ranks[3], signal.SIGSTOP)
    outcome = monojit.finish(run)
    assert outcome.code == 1
    failure = outcome.json()["failure"]
    assert f"rank 3: its process {ranks[3]} was stopped (SIGSTOP) for 2 s, and was ended" in failure["error"]
    for rank in (0, 1, 2, 4, 5, 6, 7):
        assert any(line.startswith(f"rank {rank}: ") for line in failure["health"]), failure
    assert any("from rank 3, " in line for line in failure["health"]), failure
    assert not any(Path(f"/proc/{rank}").exists() for rank in ranks)
    assert set(os.listdir("/dev/shm")) == shared


@pytest.mark.parametrize("in_launch", [False, True])
def test_a_rank_that_is_stopped_for_a_while_goes_on(monojit, in_launch):
    run, ranks = started_ranks(monojit)
    if in_launch:
        wait_for_launch(ranks[3])
    os.kill(ranks[3], signal.SIGSTOP)
    time.sleep(1)
    os.kill(ranks[3], signal.SIGCONT)
    outcome = monojit.finish(run)
    assert outcome.code == 0, outcome
    assert outcome.json()["verified"] is True
    assert f"rank 3's process {ranks[3]} is stopped (SIGSTOP): unless it goes on, it is ended after 60 s" in outcome.err
    assert f"rank 3's process {ranks[3]} goes on" in outcome.err


def test_a_run_that_is_killed_takes_its_ranks_along_a_stopped_one_too(monojit):
    run, ranks = started_ranks(monojit)
    os.kill(ranks[3], signal.SIGSTOP)
    run.kill()
    assert monojit.finish(run).code == -signal.SIGKILL
    wait_until(lambda: not any(alive(rank) for rank in ranks), "the end of all ranks")


def test_the_fault_is_an_option_too(monojit):
    outcome = monojit("run", KEY, "--fault", "rank=3", "--json")
    assert outcome.code == 1
    report = outcome.json()
    assert "fault_rank=3,fault_epoch=1,fault_layer=129,fault_ticks=1200000000" in report["key"]
    assert report["failure"]["place"] == "step 1, layer 1"
    assert any(line.startswith("rank 0: ") and "from rank 3, " in line for line in report["failure"]["health"])


@pytest.mark.parametrize("fault, why", [
    ("rank", "'rank' is none of rank=N, epoch=N, layer=N, ticks=N and time=N"),
    ("ranks=3", "'ranks=3' is none of"),
    ("epoch=1", "which rank is to stall"),
    ("rank=x", "rank wants a decimal number, not 'x'"),
    ("rank=8", "rank is one of 0..7"),
    ("rank=-1", "rank is one of 0..7"),
    ("rank=1,rank=2", "rank is given twice"),
    ("rank=1,layer=0", "layer is one of 129..220"),
    ("rank=1,layer=200", "layer 200 of the model has nblocks=7,reset=1, not the key's nblocks=1,reset=0, as layer 129 has"),
    ("rank=1,time=2", "time is one of 1..1"),
])
def test_a_fault_that_is_none_is_refused(monojit, fault, why):
    assert refused(monojit("run", KEY, "--fault", fault), why)


def test_a_fault_beside_the_key_s_own_is_refused(monojit):
    key = "kimi_k3.k2{tokens=1,nblocks=1,fault_rank=2,fault_epoch=1,fault_layer=129,fault_ticks=1}"
    assert refused(monojit("run", key, "--fault", "rank=3"), "the key has a fault already")


def test_layers_are_verified_and_replayed_while_the_tags_wrap_around(monojit, tmp_path):
    file = tmp_path / "epoch.safetensors"
    last = (1 << 22) - 1  # epoch that tags tell apart
    tensors.write(file, {"epoch": ("I32", [1], (last - 2).to_bytes(4, "little"))})
    opens_a_block = "kimi_k3.k2{tokens=1,nblocks=2,reset=1}"
    outcome = monojit("run", opens_a_block, "--layers", 2, "--repeat", 5, "--inputs", file, "--json")
    assert outcome.code == 0, outcome
    report = outcome.json()
    assert report["launches"] == 10
    assert [(row["step"], row["layer"]) for row in report["layers"]] == [
        (last - 2, 12), (last - 2, 13), (last + 2, 12), (last + 2, 13)]
    assert report["verified"] is True


def test_what_a_first_launch_missed_was_never_written(monojit):
    failure = monojit("run", KEY, "--fault", "rank=3", "--json").json()["failure"]
    lines = [line for line in failure["health"] if ", saw 0x" in line]
    assert len(lines) >= 8
    assert all(", no tag: nobody has written there since `monojit run` filled the memory" in line for line in lines), lines


def test_a_health_word_that_was_set_before_the_launch_is_told_so(monojit, tmp_path):
    file = tmp_path / "health.safetensors"
    tensors.write(file, {"rank3/health": ("I32", [257, 8], (1).to_bytes(4, "little") + bytes(257 * 8 * 4 - 4))})
    outcome = monojit("run", KEY, "--inputs", file, "--json")
    assert outcome.code == 1
    health = outcome.json()["failure"]["health"]
    assert health[0] == "rank 3: health word 0 was set before the launch: none of its waits left a record of it, they gave up at once"
    assert not any("waited more than" in line and line.startswith("rank 3: ") for line in health), health


def test_what_was_given_and_saved_runs_again_and_gives_the_same(monojit, tmp_path):
    given, first, second = (tmp_path / f"{name}.safetensors" for name in ("given", "first", "second"))
    zeros, ones = (("BF16", [1, 1536], bytes(halves) * 1536) for halves in ((0, 0), (0x80, 0x3F)))
    tensors.write(given, {"core": zeros, "rank3/core": ones})
    assert monojit("run", KEY, "--inputs", given, "--save", first).code == 0
    assert monojit("run", KEY, "--inputs", first, "--save", second).code == 0
    saved = tensors.read(first)
    assert saved == tensors.read(second)
    assert saved["in/rank3/core"] == ones
    assert saved["in/rank2/core"] == zeros
    assert saved["in/prefix"][:2] == ("BF16", [1, 7168])
    assert saved["rank3/out"] == saved["rank4/out"]
    assert saved["rank3/peer"][:2] == ("U8", [9519360])
    assert not any(name.split("/")[-1] in ("w13", "w13s", "w2", "w2s") for name in saved)


def test_what_was_saved_with_a_seed_runs_again_with_that_seed_s_experts(monojit, tmp_path):
    first, second = tmp_path / "first.safetensors", tmp_path / "second.safetensors"
    assert monojit("run", KEY, "--seed", 7, "--save", first).code == 0
    assert tensors.metadata(first)["ranks"] == "8"
    outcome = monojit("run", KEY, "--inputs", first, "--save", second, "--json")
    assert outcome.code == 0
    assert outcome.json()["seed"] == 7
    assert tensors.read(first) == tensors.read(second)


def scalars(path, **values):
    tensors.write(path, {name: ("I32", [1], value.to_bytes(4, "little")) for name, value in values.items()})
    return path


def test_layers_begin_with_the_one_that_a_file_names(monojit, tmp_path):
    outcome = monojit("run", KEY, "--layers", 2, "--inputs", scalars(tmp_path / "x", layer=135, epoch=9), "--json")
    assert outcome.code == 0, outcome
    assert [(row["step"], row["layer"]) for row in outcome.json()["layers"]] == [(9, 7), (9, 8)]


@pytest.mark.parametrize("values, options, why", [
    ({"layer": 200}, ["--layers", "2"], "layer 200 of the model has nblocks=7,reset=1, not the key's nblocks=1,reset=0, as layer 129 has"),
    ({"layer": 5}, ["--layers", "2"], "the tensor `layer` is 5, must be in 129..220"),
    ({"layer": 130}, ["--fault", "rank=3"], "`layer` of rank 0 is 130, but the run begins with layer 129"),
    ({"epoch": 49}, ["--fault", "rank=3"], "`epoch` of rank 0 is 49, but the run begins with epoch 1"),
    ({"epoch": 49}, ["--fault", "rank=3", "--layers", "2"], "`epoch` of rank 0 is 49, but the run begins with epoch 1"),
    ({"rank3/epoch": 49, "epoch": 1}, ["--fault", "rank=3"], "`epoch` of rank 3 is 49, but the run begins with epoch 1"),
])
def test_a_launch_of_a_file_that_the_options_do_not_make_is_refused(monojit, tmp_path, values, options, why):
    assert refused(monojit("run", KEY, *options, "--inputs", scalars(tmp_path / "x", **values)), why)


@pytest.mark.parametrize("name, shape, why", [
    ("rank8/core", [1, 1536], "'rank8' is no rank; ranks are rank0..rank7"),
    ("rank3/cores", [1, 1536], "a rank has no tensor 'cores'; tensors are core, w_o, "),
    ("rank3/core", [1536], "has shape [1536], the kernel wants [1][1536]"),
    ("rank3/prefix", [1, 1536], "has shape [1][1536], the kernel wants [1][7168]"),
])
def test_a_tensor_that_is_none_is_refused(monojit, tmp_path, name, shape, why):
    file = tmp_path / "x.safetensors"
    tensors.write(file, {name: ("BF16", shape, bytes(2 * 1536))})
    assert refused(monojit("run", KEY, "--inputs", file), name, why)


def test_a_trace_has_a_process_a_rank_and_a_track_a_workgroup(monojit, tmp_path):
    file = tmp_path / "trace.json"
    outcome = monojit("run", "kimi_k3.k2{tokens=1,nblocks=1,timeline=1}", "--trace", file, "--json")
    assert outcome.code == 0, outcome
    assert outcome.json()["verified"] is True
    assert outcome.json()["resources"]["spills"] == 0
    events = json.loads(file.read_text())["traceEvents"]
    processes = {event["pid"] for event in events if event["name"] == "process_name"}
    assert len(processes) == 8
    slices = [event for event in events if event["ph"] == "X"]
    for process in processes:
        of_rank = [event for event in slices if event["pid"] == process]
        assert {event["tid"] for event in of_rank} == set(range(257))
        final = [event for event in of_rank if event["name"] == "final sum"]
        assert [event["tid"] - 1 for event in final] == list(range(200, 256))
    assert refused(monojit("run", KEY, "--trace", file), "timeline=1")


def test_options_that_do_not_go_together_are_refused(monojit, tmp_path):
    for option in (["--layers", "2"], ["--repeat", "2"], ["--save", tmp_path / "x.safetensors"]):
        assert refused(monojit("run", KEY, *option, "--processes"), f"{option[0]} with --processes")
    assert refused(monojit("run", KEY, "--device", "hip:0"), "--device")
    assert refused(monojit("run", KEY, "--arch", "gfx942"), "gfx950")
    assert refused(monojit("run", KEY, "--processes", "--profile"), "--profile with --processes")
    assert refused(monojit("run", KEY, "--timeout", "5"), "--timeout is for --processes")
    assert refused(monojit("run", KEY, "--processes", "--timeout", "0"), "--timeout: '0' is no decimal number of 1 to")
    assert refused(monojit("run", KEY, "--ranks", "4"), "--ranks 4: kimi_k3.k2 runs on 8 ranks")
    assert refused(monojit("run", KEY, "--ranks", "x"), "--ranks")
    assert refused(monojit("run", "common.bump", "--ranks", "8"), "common.bump does not run on a group")
    assert refused(monojit("run", "common.bump", "--processes"), "common.bump does not run on a group")
    assert refused(monojit("run", "common.bump", "--fault", "rank=3"), "common.bump does not run on a group")
    assert refused(monojit("run", "kimi_k3.k2{tokens=1,nblocks=1,reset=1}", "--layers", "2"), "nblocks=1,reset=1")
