"""Cache folders as file systems can have them: what can't be used costs a line, and no answer."""

import os
import resource
import subprocess
import time
from pathlib import Path

import pytest
from conftest import KEY, MS_BIND, MS_RDONLY, MS_REMOUNT, SMALL, TIMEOUT_S, debris, entry_files, mounting, refused, wait_until

# No user, root included, may make files there.
UNWRITABLE = "/proc/self/monojit"


def one_line(outcome, *texts):
    """A kernel was built all the same, and one line holds all of the texts."""
    assert outcome.code == 0, outcome
    assert outcome.json()["cache"] == "built"
    (line,) = outcome.warnings
    for text in texts:
        assert text in line
    return True


def test_a_file_in_the_folders_place_costs_a_warning_and_no_answer(monojit, tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    assert one_line(monojit.run(MONOJIT_CACHE_DIR=str(file)), str(file), "MONOJIT_CACHE_DIR")
    assert file.read_text() == "not a folder"
    for arguments in (("cache", "ls"), ("warm", KEY)):
        assert refused(monojit(*arguments, MONOJIT_CACHE_DIR=str(file)), str(file))


def test_a_file_on_the_way_to_the_folder_costs_a_warning_and_no_answer(monojit, tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    assert one_line(monojit.get(MONOJIT_CACHE_DIR=str(file / "kernels")), f"{file} is a file")


def test_advice_about_the_cache_folder_names_the_flag_that_was_given(monojit, tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    for arguments in (("run", KEY, "--device", "emulator"), ("warm", KEY), ("cache", "ls")):
        outcome = monojit(*arguments, "--cache-dir", file)
        assert "set --cache-dir" in outcome.err and "MONOJIT_CACHE_DIR" not in outcome.err


def test_a_cache_folder_that_can_not_be_written_costs_a_warning_and_no_answer(monojit):
    outcome = monojit.run(MONOJIT_CACHE_DIR=UNWRITABLE)
    assert one_line(outcome, UNWRITABLE)
    assert outcome.json()["verified"] is True
    assert refused(monojit("warm", KEY, MONOJIT_CACHE_DIR=UNWRITABLE), UNWRITABLE)


def test_missing_parents_are_made(monojit, tmp_path):
    folder = tmp_path / "a" / "b" / "c"
    assert monojit.get(MONOJIT_CACHE_DIR=str(folder)).warnings == []
    assert monojit.get(MONOJIT_CACHE_DIR=str(folder)).json()["cache"] == "disk"


def test_without_a_home_kernels_are_built_and_one_line_says_why_none_is_kept(monojit):
    environment = {name: value for name, value in monojit.environment.items() if name not in ("HOME", "XDG_CACHE_HOME", "MONOJIT_CACHE_DIR")}
    done = subprocess.run([monojit.binary, "dump", SMALL, "--arch", "gfx950", "--emit=resources"], env=environment, capture_output=True,
                          text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0
    (line,) = warnings(done)
    assert "caching is off" in line and "MONOJIT_CACHE_DIR" in line
    done = subprocess.run([monojit.binary, "cache", "ls"], env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 2 and "there is no cache folder" in done.stderr


def test_a_limit_on_the_size_of_files_costs_a_line_and_leaves_nothing(monojit, tmp_path):
    """A compiler writes larger files than a cache: so the entry comes from an archive."""
    assert monojit.get().code == 0
    assert monojit("cache", "pack", tmp_path / "archive", "--all").code == 0
    assert monojit("cache", "clear").code == 0
    done = subprocess.run([monojit.binary, "cache", "unpack", tmp_path / "archive"], env=monojit.environment, capture_output=True, text=True,
                          timeout=TIMEOUT_S, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    assert done.returncode == 1, done
    assert "is full (File too large): new kernels are not kept" in done.stderr
    assert entry_files(monojit.cache) == [] and debris(monojit.cache) == []


def warnings(done):
    return [line for line in done.stderr.splitlines() if not line.startswith("monojit: building ")]


def test_a_full_disk_costs_a_line_and_a_disk_with_space_again_is_used_again(monojit, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    script = (f'head -c 60k /dev/zero > "{disk}/filler"; "$0" "$@" > full.json; find "{disk}" -name "*.tmp"; '
              f'rm "{disk}/filler"; "$0" "$@" > /dev/null; exec "$0" "$@"')
    command = [monojit.binary, "dump", SMALL, "--arch", "gfx950", "--emit=resources", "--json", "--cache-dir", str(disk / "cache")]
    done = subprocess.run(["sh", "-c", script, *command], cwd=tmp_path, env=monojit.environment, capture_output=True, text=True,
                          timeout=TIMEOUT_S, preexec_fn=mounting((b"tmpfs", os.fsencode(disk), b"tmpfs", 0, b"size=64k")))
    assert done.returncode == 0, done
    assert '"cache": "built"' in (tmp_path / "full.json").read_text()
    (line,) = warnings(done)
    assert "is full (No space left on device)" in line
    assert ".tmp" not in done.stdout and '"cache": "disk"' in done.stdout


@pytest.mark.parametrize("files", range(7, 13))
def test_with_few_descriptors_a_kernel_is_stored_and_said_to_be_or_neither(monojit, files):
    limit = (files, files)
    done = subprocess.run([monojit.binary, "warm", SMALL, "--arch", "gfx950", "--jobs", "1"], env=monojit.environment, capture_output=True, text=True,
                          timeout=TIMEOUT_S, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
    stored = len(list(monojit.cache.rglob("*.mono")))
    assert done.returncode == (0 if stored else 1), done
    assert ("built 1, hit 0, failed 0" in done.stdout) == (stored == 1), done
    assert "not kept" not in done.stderr and "not be stored" not in done.stderr


@pytest.mark.parametrize("name", ["a b", "new\nline", b"\xff\xfe", "-rf", "*", "it's", "$HOME", "trailing/", "x" * 200, "\u00fc\u4e2d"])
def test_odd_names_are_as_good_as_others(monojit, tmp_path, name):
    folder = os.fsencode(tmp_path) + b"/" + os.fsencode(name)
    environment = {os.fsencode(key): os.fsencode(value) for key, value in monojit.environment.items()} | {b"MONOJIT_CACHE_DIR": folder}
    command = [monojit.binary, "warm", SMALL, "--arch", "gfx950"]
    for expected in (b"built 1, hit 0", b"built 0, hit 1"):
        done = subprocess.run(command, env=environment, capture_output=True, timeout=TIMEOUT_S)
        assert done.returncode == 0, done
        assert expected in done.stdout
    for arguments in (["cache", "ls", "--json"], ["cache", "stats"], ["cache", "path"], ["cache", "verify"]):
        assert subprocess.run([monojit.binary, *arguments], env=environment, capture_output=True, timeout=TIMEOUT_S).returncode == 0


def test_a_relative_folder_is_below_where_the_command_runs(monojit, tmp_path):
    done = subprocess.run([monojit.binary, "warm", SMALL, "--arch", "gfx950", "--cache-dir", "here"], env=monojit.environment, cwd=tmp_path,
                          capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0 and len(entry_files(tmp_path / "here")) == 1


def test_a_folder_behind_a_link_is_used_and_one_behind_a_dead_link_is_said(monojit, tmp_path):
    disk, link = tmp_path / "disk", tmp_path / "link"
    disk.mkdir()
    link.symlink_to(disk)
    assert monojit.get(MONOJIT_CACHE_DIR=str(link)).warnings == []
    assert len(entry_files(disk)) == 1
    link.unlink()
    link.symlink_to(tmp_path / "nowhere")
    assert one_line(monojit.get(MONOJIT_CACHE_DIR=str(link)), str(link))
    assert not (tmp_path / "nowhere").exists()


def test_a_time_that_lies_ahead_is_that_of_a_wrong_clock(monojit):
    assert monojit.get().code == 0
    (entry,) = entry_files(monojit.cache)
    ahead = time.time() + 10 * 365 * 86400
    os.utime(entry, (ahead, ahead))
    assert monojit("cache", "trim", "--max-age", "1h", "--json").json()["removed"] == 0
    assert monojit.get().json()["cache"] == "disk"
    assert abs(entry.stat().st_mtime - time.time()) < 60
    os.utime(entry, (0, 0))
    assert monojit.get().json()["cache"] == "disk"


def test_what_a_killed_writer_left_is_swept_by_the_next(monojit):
    assert monojit.get().code == 0
    for left in ("tmp/0123456789abcdef.tmp", "locks/00.lock"):
        (monojit.cache / left).write_text("half")
    assert len(debris(monojit.cache)) == 2
    assert monojit.get("example.row_norm{rows=5,hidden=512}").code == 0
    assert debris(monojit.cache) == []


def test_files_of_others_in_the_folder_stay(monojit):
    assert monojit.get().code == 0
    foreign = [monojit.cache / "thesis.txt", monojit.cache / "entries" / "notes.mono", monojit.cache / "tmp" / "x.txt"]
    for file in foreign:
        file.write_text("not the cache's")
    for command in (("cache", "trim", "--max-size", "1", "--stale"), ("cache", "clear"), ("cache", "verify", "--remove")):
        assert monojit(*command).code == 0
    assert all(file.exists() for file in foreign)
    assert list(Path(monojit.cache).rglob("*/??/*.mono")) == []


def test_a_read_only_disk_serves_what_is_on_it(monojit):
    assert monojit.get().code == 0
    folder = os.fsencode(monojit.cache)
    enter = mounting((folder, folder, None, MS_BIND, None), (None, folder, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None))

    def get(key):
        return subprocess.run([monojit.binary, "dump", key, "--arch", "gfx950", "--emit=resources", "--json"], env=monojit.environment,
                              capture_output=True, text=True, timeout=TIMEOUT_S, preexec_fn=enter)

    hit = get(SMALL)
    assert '"cache": "disk"' in hit.stdout and warnings(hit) == []
    built = get("example.row_norm{rows=5,hidden=512}")
    assert built.returncode == 0 and '"cache": "built"' in built.stdout
    (line,) = warnings(built)
    assert "Read-only file system" in line and "new kernels are not kept" in line


def test_control_characters_of_a_folders_name_do_not_reach_the_terminal(monojit, tmp_path):
    file = tmp_path / "a\x1b[2Jb\rc"
    file.write_text("not a folder")
    outcome = monojit("cache", "ls", "--cache-dir", file)
    assert outcome.code == 2
    assert "\x1b" not in outcome.err and "\r" not in outcome.err and "a\\x1b[2Jb\\x0dc" in outcome.err


def aged(folder, days):
    """The folder, and all that is in it, as if nobody had touched it for so long."""
    then = time.time() - days * 86400
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (then, then), follow_symlinks=False)


def test_what_a_killed_process_left_of_a_build_of_its_own_a_build_a_day_later_removes(monojit, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = monojit.start("dump", KEY, "--arch", "gfx950", "--emit=resources", TMPDIR=str(temporary))
    wait_until(lambda: list(temporary.glob("comgr-*/input/*")), "comgr's input")
    process.kill()
    process.communicate()
    (left,) = temporary.iterdir()
    assert monojit.get(TMPDIR=str(temporary)).code == 0
    assert left.exists(), "as young as it is, its process may live"
    aged(left, 2)
    (temporary / "monojit-abcdef").mkdir()
    aged(temporary / "monojit-abcdef", 2)
    assert monojit.get(TMPDIR=str(temporary)).json()["cache"] == "disk"
    assert left.exists(), "nothing was built"
    assert monojit.get("example.row_norm{rows=5,hidden=512}", TMPDIR=str(temporary)).code == 0
    assert list(temporary.iterdir()) == []


def test_temporary_folders_of_others_and_young_ones_stay(monojit, tmp_path):
    temporary, elsewhere = tmp_path / "temporary", tmp_path / "elsewhere"
    for name in ("comgr-foreign", "comgr-young", "comgr-in-use", "monojit-full00"):
        (temporary / name / "input").mkdir(parents=True)
        (temporary / name / "input" / ("other.bc" if name == "comgr-foreign" else "monojit.bc")).touch()
    (temporary / "comgr-empty").mkdir()
    elsewhere.mkdir()
    (elsewhere / "input").mkdir()
    (elsewhere / "input" / "monojit.bc").touch()
    (temporary / "comgr-link").symlink_to(elsewhere)
    for folder in (temporary, elsewhere):
        aged(folder, 2)
    os.utime(temporary / "comgr-young")
    os.utime(temporary / "comgr-in-use" / "input" / "monojit.bc")
    before = [*temporary.rglob("*"), *elsewhere.rglob("*")]
    assert monojit.get(TMPDIR=str(temporary)).json()["cache"] == "built"
    assert sorted([*temporary.rglob("*"), *elsewhere.rglob("*")]) == sorted(before)
