"""Devices, archs and libraries that aren't there; `monojit doctor`."""

import os
import subprocess

import pytest
from conftest import KEY, MS_BIND, MS_RDONLY, MS_REMOUNT, SMALL, TIMEOUT_S, mounting, refused


@pytest.mark.parametrize("command", ["run", "dump", "warm"])
def test_an_arch_that_does_not_exist_is_refused(monojit, command):
    assert refused(monojit(command, KEY, "--arch", "gfx900"), "gfx900", "gfx950", "gfx942")


@pytest.mark.parametrize("device, text", [
    ("emulator:7", "device emulator:7 is not there"),
    ("cuda:0", "unknown device 'cuda:0'"),
    ("emulator:x", "no device number"),
])
def test_a_device_that_is_not_there_is_refused(monojit, device, text):
    assert refused(monojit("run", KEY, "--device", device), text)


def test_a_hip_library_that_is_not_there_is_named(monojit):
    outcome = monojit("run", KEY, MONOJIT_HIP_LIBRARY="/nonexistent/libamdhip64.so")
    assert refused(outcome, "/nonexistent/libamdhip64.so")


@pytest.mark.parametrize("variable, possible", [
    ("MONOJIT_EMULATOR_CHIP", "gfx950"),
    ("MONOJIT_EMULATOR_THREADS", "1..256"),
    ("MONOJIT_EMULATOR_MATRIX", "fma-chain"),
    ("MONOJIT_EMULATOR_SEED", "64-bit"),
    ("MONOJIT_EMULATOR_HOST_ISA", "avx2"),
    ("MONOJIT_EMULATOR_STALL", "DEVICE:NUMBER"),
])
def test_an_emulator_that_can_not_be_set_up_so_is_refused_with_what_is_possible(monojit, variable, possible):
    outcome = monojit("run", KEY, "--device", "emulator", **{variable: "bad"})
    assert refused(outcome, f"monojit: {variable}=bad: not understood", possible)
    assert "hipInit" not in outcome.err


def test_a_stalled_workgroup_of_a_device_that_is_not_there_is_refused(monojit):
    outcome = monojit("run", KEY, "--device", "emulator", MONOJIT_EMULATOR_STALL="1:3")
    assert refused(outcome, "MONOJIT_EMULATOR_STALL names workgroup 3 of device 1, but MONOJIT_EMULATOR_DEVICES is 1")


def test_a_stalled_workgroup_that_a_kernel_does_not_have_is_told_once(monojit):
    outcome = monojit.run("--repeat", "2", MONOJIT_EMULATOR_STALL="100000")
    assert outcome.code == 0
    assert outcome.err.count("MONOJIT_EMULATOR_STALL names workgroup 100000; a launch of ") == 1


def test_empty_variables_of_the_emulator_are_as_good_as_none(monojit):
    names = ["CHIP", "THREADS", "MATRIX", "SEED", "HOST_ISA"]
    outcome = monojit.run(**{f"MONOJIT_EMULATOR_{name}": "" for name in names})
    assert outcome.code == 0
    assert outcome.json()["emulator"]["matrix_model"] == "cdna3"


def test_missing_libraries_of_our_own_are_named_with_what_to_do(monojit, tmp_path):
    assert refused(monojit("warm", KEY, MONOJIT_LIBRARY_DIR=str(tmp_path)), "monojit-worker", "MONOJIT_LIBRARY_DIR")
    assert refused(monojit("dump", KEY, MONOJIT_LIBRARY_DIR=str(tmp_path)), "libmonojit_codegen.so", "MONOJIT_LIBRARY_DIR")
    assert refused(monojit("run", KEY, "--device", "emulator", MONOJIT_LIBRARY_DIR=str(tmp_path)), "emulator", "MONOJIT_LIBRARY_DIR")


@pytest.mark.parametrize("command", ["run", "dump", "warm"])
def test_without_comgr_nothing_is_built_and_the_message_says_why(monojit, command):
    outcome = monojit(command, KEY, "--arch", "gfx950", MONOJIT_COMGR_LIBRARY="/nonexistent/libamd_comgr.so")
    assert refused(outcome, "/nonexistent/libamd_comgr.so", "MONOJIT_COMGR_LIBRARY")
    assert monojit.entries() == []


@pytest.mark.parametrize("command", ["run", "dump", "warm"])
def test_a_folder_for_temporary_files_that_is_none_is_named_and_hits_need_none(monojit, command, tmp_path):
    outcome = monojit(command, SMALL, "--arch", "gfx950", TMPDIR="/nonexistent")
    assert "TMPDIR=/nonexistent is no folder" in outcome.err and outcome.code in (1, 2)
    assert monojit.entries() == []
    assert monojit("warm", SMALL, "--arch", "gfx950", TMPDIR=str(tmp_path)).code == 0
    assert "hit 1" in monojit("warm", SMALL, "--arch", "gfx950", TMPDIR="/nonexistent").out


@pytest.mark.parametrize("command", [("run", "--device", "emulator", "--no-verify"), ("dump", "--emit=resources"), ("warm",)])
def test_a_working_folder_that_is_gone_stops_no_build(monojit, command, tmp_path):
    name, *options = command
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    (tmp_path / "gone").mkdir()
    done = subprocess.run(["sh", "-c", script, "sh", tmp_path / "gone", monojit.binary, name, SMALL, "--arch", "gfx950", *options],
                          env=monojit.environment, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done
    assert len(monojit.entries()) == 1


@pytest.mark.parametrize("command", ["run", "dump", "warm"])
def test_a_folder_for_temporary_files_that_takes_none_is_named(monojit, command):
    outcome = monojit(command, SMALL, "--arch", "gfx950", TMPDIR="/proc")
    assert "TMPDIR=/proc takes no files" in outcome.err and outcome.code in (1, 2)
    assert monojit.entries() == []


def with_disk(monojit, enter, disk, command, key=SMALL):
    """The command where `enter` has put something in the place of its folder for temporary files."""
    return subprocess.run([monojit.binary, command, key, "--arch", "gfx950"], env=monojit.environment | {"TMPDIR": str(disk)},
                          capture_output=True, text=True, timeout=TIMEOUT_S, preexec_fn=enter)


@pytest.mark.parametrize("command", ["run", "dump", "warm"])
@pytest.mark.parametrize("options", ["size=1m", "nr_inodes=9"])
def test_a_folder_for_temporary_files_without_room_is_named_before_anything_is_built(monojit, command, options, tmp_path):
    """LLVM would end the process over a write that fails."""
    disk = tmp_path / "disk"
    disk.mkdir()
    outcome = with_disk(monojit, mounting((b"tmpfs", os.fsencode(disk), b"tmpfs", 0, options.encode())), disk, command)
    assert outcome.returncode in (1, 2) and f"TMPDIR={disk}" in outcome.stderr, outcome
    assert "is full, it has room for" in outcome.stderr and "set TMPDIR" in outcome.stderr
    assert "LLVM gave up" not in outcome.stderr
    assert monojit.entries() == []


@pytest.mark.parametrize("command", ["run", "dump", "warm"])
def test_a_read_only_folder_for_temporary_files_is_named(monojit, command, tmp_path):
    disk = os.fsencode(tmp_path / "disk")
    os.mkdir(disk)
    enter = mounting((disk, disk, None, MS_BIND, None), (None, disk, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None))
    outcome = with_disk(monojit, enter, tmp_path / "disk", command)
    assert outcome.returncode in (1, 2)
    assert f"TMPDIR={tmp_path}/disk takes no files (Read-only file system)" in outcome.stderr and "set TMPDIR" in outcome.stderr
    assert monojit.entries() == []


def test_a_file_system_with_room_for_builds_is_room_enough(monojit, tmp_path):
    (tmp_path / "disk").mkdir()
    enter = mounting((b"tmpfs", os.fsencode(tmp_path / "disk"), b"tmpfs", 0, b"size=5m"))
    for command in ("dump", "warm"):
        assert with_disk(monojit, enter, tmp_path / "disk", command, KEY).returncode == 0
        assert monojit("cache", "clear").code == 0


@pytest.mark.parametrize("command", ["dump", "warm"])
def test_an_empty_variable_names_no_folder_for_temporary_files(monojit, command):
    assert monojit(command, SMALL, "--arch", "gfx950", TMPDIR="", TMP="").code == 0


def test_what_comgr_logs_stays_out_of_the_result(monojit):
    outcome = monojit.get(AMD_COMGR_EMIT_VERBOSE_LOGS="1", AMD_COMGR_REDIRECT_LOGS="stdout")
    assert outcome.json()["cache"] == "built"
    assert "amd_comgr_do_action" in outcome.err


def test_without_comgr_a_cached_kernel_still_runs(warm):
    outcome = warm.run("--arch", "gfx950", MONOJIT_COMGR_LIBRARY="/nonexistent/libamd_comgr.so")
    assert outcome.code == 0
    assert outcome.json()["cache"] == "disk"


def test_doctor_tells_what_it_found(monojit):
    outcome = monojit("doctor", "--json")
    report = outcome.json()
    assert set(report) == {"version", "usable", "compiler", "gpu", "emulator", "cache"}
    assert report["usable"] is True
    assert outcome.code == 0
    assert report["compiler"]["toolchain"].startswith("llvm-")
    assert set(report["compiler"]) == {"pinned", "toolchain", "problem"}
    assert {"device", "name", "arch", "compute_units", "memory_bytes"} == set(report["emulator"]["devices"][0])
    assert report["cache"] == {"folder": str(monojit.cache), "entries": 0, "problem": None}


def test_doctor_says_what_to_do_without_comgr(monojit):
    outcome = monojit("doctor", "--json", MONOJIT_COMGR_LIBRARY="/nonexistent/libamd_comgr.so")
    assert outcome.code == 1
    report = outcome.json()
    assert report["usable"] is False
    assert "/nonexistent/libamd_comgr.so" in report["compiler"]["problem"]
    assert "PROBLEM" in monojit("doctor", MONOJIT_COMGR_LIBRARY="/nonexistent/libamd_comgr.so").out


def test_doctor_names_a_cache_folder_that_is_a_file(monojit, tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    outcome = monojit("doctor", "--json", MONOJIT_CACHE_DIR=str(file))
    assert outcome.code == 1
    assert str(file) in outcome.json()["cache"]["problem"]
