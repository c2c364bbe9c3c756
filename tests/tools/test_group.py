"""`monojit run` of a kernel that runs on eight devices in lockstep."""

import pytest

from conftest import refused

KEY = "kimi_k3.k2{tokens=1,nblocks=1}"


def test_all_ranks_agree_with_the_reference(monojit):
    outcome = monojit("run", KEY, "--json")
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
    health = outcome.json()["failure"]["health"]
    for rank in (0, 1, 2, 4, 5, 6, 7):
        assert any(line.startswith(f"rank {rank}: ") and "from rank 3, " in line for line in health), health
    assert any(line.startswith("rank 3: ") and "from workgroup 0 of its own rank" in line for line in health), health
    assert health[-1] == "by rank 0's alarm flags, ranks 0, 1, 2, 3, 4, 5, 6, 7 gave up"


def test_options_that_a_group_does_not_take_are_refused(monojit):
    for option in (["--layers", "2"], ["--repeat", "2"], ["--save", "x.safetensors"], ["--device", "hip:0"]):
        assert refused(monojit("run", KEY, *option), option[0])
    assert refused(monojit("run", KEY, "--arch", "gfx942"), "gfx950")
    assert refused(monojit("run", KEY, "--processes", "--profile"), "--profile with --processes")
    assert refused(monojit("run", "common.bump", "--processes"), "common.bump does not run on a group")
