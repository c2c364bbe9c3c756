"""What an engine counts on, as far as a command shows it: a process that hits needs no compiler and reads each kernel once.
tests/runtime/test_jit_engine.cpp has the rest: seal(), warm() in process, counters, probes."""

import pytest
from conftest import KEY, SMALL


def loaded(monojit, folder, name, *arguments):
    """What the dynamic loader of a command and of those that it started opened."""
    assert monojit(*arguments, LD_DEBUG="files", LD_DEBUG_OUTPUT=str(folder / name)).code == 0
    return "".join(file.read_text(errors="replace") for file in folder.glob(f"{name}.*"))


def test_a_hit_maps_neither_llvm_nor_comgr(monojit, tmp_path):
    warm = ("warm", KEY, "--arch", "gfx950")
    assert "libLLVM" in loaded(monojit, tmp_path, "build", *warm)
    hit = loaded(monojit, tmp_path, "hit", *warm)
    assert "libfmt" in hit
    assert "libLLVM" not in hit and "comgr" not in hit


def test_a_launch_of_what_is_warm_builds_nothing_and_reads_it_once(monojit):
    assert monojit("warm", KEY, "--arch", "gfx950").code == 0
    assert monojit("cache", "stats", "--reset").code == 0
    outcome = monojit.run("--strict", "--arch", "gfx950", "--repeat", 3, "--no-verify",
                          MONOJIT_COMGR_LIBRARY="/nonexistent/libamd_comgr.so")
    assert outcome.code == 0 and outcome.json()["launches"] == 3
    (family,) = monojit("cache", "stats", "--json").json()["families"]
    assert (family["disk_hits"], family["builds"], family["misses"]) == (1, 0, 0)


@pytest.mark.parametrize("command", ["run", "dump", "diff"])
def test_a_process_that_builds_itself_fills_the_same_cache(monojit, command):
    arguments = {"run": ("run", SMALL, "--device", "emulator", "--arch", "gfx950"), "dump": ("dump", SMALL, "--arch", "gfx950"),
                 "diff": ("diff", SMALL, SMALL, "--arch", "gfx950")}[command]
    assert monojit(*arguments).code == 0
    assert "hit 1" in monojit("warm", SMALL, "--arch", "gfx950").out
