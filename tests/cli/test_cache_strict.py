"""Strict mode: nothing is compiled, and a miss says what to do."""

import os
import shutil
import subprocess

import pytest
from conftest import KEY, MS_BIND, MS_RDONLY, MS_REMOUNT, SMALL, TIMEOUT_S, entry_files, mounting, refused


def test_strict_builds_nothing_and_names_the_command_that_would(monojit):
    assert refused(monojit.run("--strict"), "monojit warm", "minimax_m3.k1{")
    assert monojit.entries() == []


def test_a_miss_in_strict_mode_gives_the_command_that_mends_it(monojit, tmp_path):
    folder = tmp_path / "it's here"
    outcome = monojit.run("--strict", "--arch", "gfx950", "--cache-dir", folder)
    assert refused(outcome, "strict mode compiles nothing: run monojit warm '", "--cache-dir '")
    command = outcome.err.strip().split(": run ")[-1].replace("monojit", f"'{monojit.binary}'", 1)
    assert subprocess.run(["sh", "-c", command], env=monojit.environment, timeout=TIMEOUT_S).returncode == 0
    assert monojit.run("--strict", "--arch", "gfx950", "--cache-dir", folder).json()["cache"] == "disk"


def test_strict_mode_opens_no_compiler(monojit):
    outcome = monojit.run("--strict", MONOJIT_COMGR_LIBRARY="/nonexistent/libamd_comgr.so")
    assert refused(outcome, "monojit warm")
    assert "comgr" not in outcome.err


def test_a_damaged_entry_is_a_miss_in_strict_mode_too(monojit):
    assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
    (file,) = entry_files(monojit.cache)
    file.write_bytes(file.read_bytes()[:-1])
    outcome = monojit.run("--strict", "--arch", "gfx950", key=SMALL)
    assert refused(outcome, "is truncated", "monojit warm")


def test_strict_and_no_cache_do_not_go_together(monojit):
    assert refused(monojit.run("--strict", "--no-cache"), "--strict", "--no-cache")


def test_a_warm_ends_with_a_look_as_strict_mode_has_it(monojit):
    assert "strict mode serves every job" in monojit("warm", KEY, "--arch", "gfx950").out
    assert monojit.run("--strict", "--arch", "gfx950").json()["cache"] == "disk"


def test_the_command_of_a_miss_is_one_line_whatever_the_folders_name(monojit, tmp_path):
    folder = tmp_path / "two\nlines \\ it's"
    outcome = monojit.run("--strict", "--arch", "gfx950", "--cache-dir", folder, key=SMALL)
    assert outcome.code == 2 and len(outcome.err.splitlines()) == 1
    command = outcome.err.strip().split(": run ")[-1].replace("monojit", f"'{monojit.binary}'", 1)
    assert subprocess.run(["bash", "-c", command], env=monojit.environment, timeout=TIMEOUT_S).returncode == 0
    assert monojit.run("--strict", "--arch", "gfx950", "--cache-dir", folder, key=SMALL).json()["cache"] == "disk"


@pytest.mark.parametrize("name", ["a\tb", "new\nline", "the end\n", "100% \\101 $x `y` \"z\" it's\x1b", b"no \xff text", "pl\u00e4in"])
def test_the_command_of_a_miss_means_the_folder_to_the_plainest_shell(monojit, tmp_path, name):
    folder = os.fsencode(tmp_path) + b"/" + (name if isinstance(name, bytes) else name.encode())
    command = [monojit.binary, "run", SMALL, "--device", "emulator", "--strict", "--json", "--cache-dir", folder]
    refusal = subprocess.run(command, env=monojit.environment, capture_output=True, timeout=TIMEOUT_S).stderr.decode()
    assert refusal.endswith("\n") and refusal[:-1].isprintable()
    warm = refusal.strip().split(": run ")[-1].replace("monojit", f"'{monojit.binary}'", 1)
    shell = shutil.which("dash") or "sh"
    assert subprocess.run([shell, "-c", warm], env=monojit.environment, cwd=tmp_path, capture_output=True, timeout=TIMEOUT_S).returncode == 0
    assert subprocess.run(command, env=monojit.environment, capture_output=True, timeout=TIMEOUT_S).returncode == 0


def test_a_miss_says_what_has_to_come_before_its_command(monojit, tmp_path):
    folder = tmp_path / "folder"
    folder.write_text("x")
    for where in (folder, folder / "below"):
        outcome = monojit.run("--strict", "--arch", "gfx950", "--cache-dir", where, key=SMALL)
        assert refused(outcome, f"make the cache folder one that can be written ({folder} is a file) or name another, then: run monojit warm '")
    folder.unlink()
    folder.mkdir()
    plain = monojit.run("--strict", "--arch", "gfx950", "--cache-dir", folder, key=SMALL)
    assert refused(plain, "compiles nothing: run monojit warm '")
    name = os.fsencode(folder)
    enter = mounting((name, name, None, MS_BIND, None), (None, name, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None))
    done = subprocess.run([monojit.binary, "run", SMALL, "--device", "emulator", "--strict", "--cache-dir", folder], env=monojit.environment,
                          capture_output=True, text=True, timeout=TIMEOUT_S, preexec_fn=enter)
    assert done.returncode == 2 and f"({folder} can't be written, Read-only file system) or name another, then: run monojit" in done.stderr


def test_the_command_of_a_miss_without_any_folder_makes_one(monojit, tmp_path):
    nowhere = {"MONOJIT_CACHE_DIR": "", "HOME": "", "XDG_CACHE_HOME": ""}
    outcome = monojit.run("--strict", "--arch", "gfx950", key=SMALL, **nowhere)
    assert outcome.code == 2
    command = outcome.err.strip().split(": run ")[-1].replace("monojit", f"'{monojit.binary}'", 1)
    done = subprocess.run(["sh", "-c", command], env=monojit.environment | nowhere, cwd=tmp_path, timeout=TIMEOUT_S)
    assert done.returncode == 0 and len(entry_files(tmp_path / "kernels")) == 1
