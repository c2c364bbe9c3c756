"""`monojit run` of a kernel that runs on eight devices in lockstep."""

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


def test_a_rank_that_stalls_ends_all_and_is_named(monojit):
    key = "kimi_k3.k2{tokens=1,nblocks=1,fault_rank=3,fault_epoch=7,fault_layer=130,fault_ticks=1200000000}"
    outcome = monojit("run", key, "--json")
    assert outcome.code == 1
    failure = outcome.json()["failure"]
    assert any(line.startswith("rank 0: ") and line.split(":")[1].endswith("from rank 3") for line in failure["health"]), failure
    for rank in range(8):
        assert f"rank {rank} raised its alarm" in failure["health"]


def test_options_that_a_group_does_not_take_are_refused(monojit):
    for option in (["--layers", "2"], ["--repeat", "2"], ["--save", "x.safetensors"], ["--device", "hip:0"]):
        assert refused(monojit("run", KEY, *option), option[0])
    assert refused(monojit("run", KEY, "--arch", "gfx942"), "gfx950")
