"""Archives of kernels: packed, used in place, unpacked."""

import json
import os
import pty
import random
import struct
import subprocess

import entries
import pytest
from conftest import KEY, MS_BIND, MS_RDONLY, MS_REMOUNT, SMALL, TIMEOUT_S, entry_files, mounting, refused

CHANGES = 30
SEED = 9
TERABYTES = 4 << 40


def run(monojit, *arguments, **environment):
    return monojit.run("--arch", "gfx950", "--no-verify", *arguments, **environment)


def test_an_archive_serves_in_place_and_unpacks(monojit, warm_cache, tmp_path):
    archive = tmp_path / "kernels.monopack"
    report = monojit("cache", "pack", archive, KEY, "--cache-dir", warm_cache, "--json").json()
    assert [set(entry) for entry in report["entries"]] == [
        {"digest", "key", "target", "generator", "toolchain", "entry_bytes", "stored_bytes"}]
    assert report["bytes"] == archive.stat().st_size < report["entries"][0]["entry_bytes"]
    outcome = run(monojit, "--strict", MONOJIT_CACHE_READONLY=f"/nowhere:{archive}")
    assert outcome.json()["cache"] == "read_only"
    assert "/nowhere can't be opened" in outcome.err
    assert entry_files(monojit.cache) == []
    assert KEY[:20] in monojit("cache", "unpack", archive, "--list").out
    assert entry_files(monojit.cache) == []
    assert monojit("cache", "unpack", archive, "--json").json()["stored"] == 1
    assert run(monojit).json()["cache"] == "disk"


def test_packing_nothing_or_what_is_no_archive_is_refused(monojit, tmp_path):
    assert refused(monojit("cache", "pack", tmp_path / "a"), "either entries or --all")
    text = tmp_path / "text"
    text.write_text("this is a text of a few words, longer than a header")
    assert refused(monojit("cache", "unpack", text), "no archive of kernels")


@pytest.fixture
def packed(monojit, tmp_path):
    """An archive of three kernels, and nothing in the cache."""
    archive = tmp_path / "kernels.monopack"
    assert monojit("warm", "example.row_norm{rows=3|4|5,hidden=512}", "--arch", "gfx950").code == 0
    report = monojit("cache", "pack", archive, "--all", "--json").json()
    assert len(report["entries"]) == 3
    assert monojit("cache", "clear").code == 0
    return archive


def test_all_is_packed_and_comes_back_byte_for_byte(monojit, tmp_path):
    assert monojit("warm", "example.row_norm{rows=3|4|5,hidden=512}", "--arch", "gfx950,gfx942").code == 0
    before = {file.name: file.read_bytes() for file in entry_files(monojit.cache)}
    first, second = tmp_path / "first", tmp_path / "second"
    for archive in (first, second):
        assert monojit("cache", "pack", archive, "--all").code == 0
    assert first.read_bytes() == second.read_bytes()
    assert monojit("cache", "clear").code == 0
    assert monojit("cache", "unpack", first, "--json").json()["stored"] == 6
    assert {file.name: file.read_bytes() for file in entry_files(monojit.cache)} == before


def test_an_entry_that_is_unusable_is_left_out_of_all_and_said(monojit, tmp_path):
    assert monojit("warm", "example.row_norm{rows=3|4,hidden=512}", "--arch", "gfx950").code == 0
    damaged = entry_files(monojit.cache)[0]
    damaged.write_bytes(damaged.read_bytes()[:-1])
    outcome = monojit("cache", "pack", tmp_path / "archive", "--all", "--json")
    assert len(outcome.json()["entries"]) == 1
    assert str(damaged) in outcome.err and "left out" in outcome.err


def test_an_archive_with_any_byte_changed_serves_no_wrong_kernel(monojit, packed):
    sound = packed.read_bytes()
    seeded = random.Random(SEED)
    for _ in range(CHANGES):
        content = bytearray(sound)
        content[seeded.randrange(len(content))] ^= 1 << seeded.randrange(8)
        packed.write_bytes(content)
        outcome = monojit("cache", "unpack", packed, "--json")
        assert outcome.code in (0, 1, 2), outcome
        assert outcome.err or outcome.json()["stored"] == 3
        assert monojit("cache", "verify").code == 0
        assert monojit("cache", "clear").code == 0


def test_an_archive_that_is_cut_is_refused_and_costs_a_reader_one_line(monojit, packed):
    packed.write_bytes(packed.read_bytes()[:-5])
    assert refused(monojit("cache", "unpack", packed), str(packed))
    outcome = monojit.get(SMALL, MONOJIT_CACHE_READONLY=str(packed))
    assert outcome.json()["cache"] == "built"
    (line,) = outcome.warnings
    assert str(packed) in line and "it is not used" in line


def test_strict_mode_serves_from_an_archive_and_tells_another_release_from_a_miss(monojit, packed):
    hit = run(monojit, "--strict", key=SMALL, MONOJIT_CACHE_READONLY=str(packed))
    assert hit.json()["cache"] == "read_only" and hit.warnings == []
    miss = run(monojit, "--strict", key="example.row_norm{rows=7,hidden=512}", MONOJIT_CACHE_READONLY=str(packed))
    assert refused(miss, "monojit warm") and "another release" not in miss.err
    assert monojit("cache", "unpack", packed).code == 0
    for file in entry_files(monojit.cache):
        parts = entries.parts_of(file)
        file.unlink()
        entries.add_to(monojit.cache, parts | {"toolchain": b"llvm-21.0.0/comgr-3.0"})
    other = packed.parent / "other"
    assert monojit("cache", "pack", other, "--all").code == 0
    assert monojit("cache", "clear").code == 0
    differs = run(monojit, "--strict", key=SMALL, MONOJIT_CACHE_READONLY=str(other))
    assert refused(differs, "only of another release", "llvm-21.0.0/comgr-3.0")


def test_a_run_that_only_hits_read_only_places_makes_no_folder_to_count_in(monojit, packed, tmp_path):
    nowhere = {"MONOJIT_CACHE_DIR": str(tmp_path / "nowhere"), "MONOJIT_CACHE_READONLY": str(packed)}
    assert run(monojit, "--strict", key=SMALL, **nowhere).json()["cache"] == "read_only"
    assert monojit("cache", "stats", "--json", **nowhere).json()["families"] == []
    assert not (tmp_path / "nowhere").exists()
    assert run(monojit, key="example.row_norm{rows=7,hidden=512}", **nowhere).json()["cache"] == "built"
    assert run(monojit, "--strict", key=SMALL, **nowhere).json()["cache"] == "read_only"
    (family,) = monojit("cache", "stats", "--json", **nowhere).json()["families"]
    assert (family["read_only_hits"], family["builds"]) == (1, 1)


def test_a_warm_counts_what_is_read_only_as_there(monojit, packed):
    outcome = monojit("warm", SMALL, "--arch", "gfx950", "--json", MONOJIT_CACHE_READONLY=str(packed),
                      MONOJIT_COMGR_LIBRARY="/nonexistent/libamd_comgr.so")
    assert outcome.code == 0, outcome
    assert outcome.json()["summary"]["hit"] == 1 and outcome.json()["summary"]["strict_ready"] is True


def test_packing_onto_what_is_no_regular_file_is_refused_and_leaves_it(monojit, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert refused(monojit("cache", "pack", pipe, "--all"), str(pipe), "it is there already and no regular file")
    assert pipe.is_fifo()
    assert refused(monojit("cache", "pack", tmp_path, "--all"), str(tmp_path), "Is a directory")
    assert refused(monojit("cache", "pack", tmp_path / "no" / "archive", "--all"), "No such file")


HEAD = b"\x89MPAK\r\n\x1a" + struct.pack("<I", 1)


@pytest.mark.parametrize("head, said", [(b"", "no archive of kernels"), (HEAD, "no compressed part"), (HEAD[:8] + b"\2", "archive version 2")])
def test_an_endless_input_that_is_no_archive_is_refused_at_its_first_bytes(monojit, head, said):
    process = subprocess.Popen([monojit.binary, "cache", "unpack", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=False, env=monojit.environment)
    process.stdin.write(head + bytes(64))
    process.stdin.flush()  # and no end of it
    assert process.wait(timeout=TIMEOUT_S) == 2
    assert process.stdout.read() == b"" and said in process.stderr.read().decode()


@pytest.mark.parametrize("content", [b"", HEAD[:5], HEAD, HEAD + b"\x28\xb5\x2f\xfd"])
def test_an_input_that_ends_too_early_is_refused(monojit, content):
    done = subprocess.run([monojit.binary, "cache", "unpack", "-"], input=content, env=monojit.environment, capture_output=True, timeout=TIMEOUT_S)
    assert done.returncode == 2 and b"standard input is truncated" in done.stderr


def test_an_entry_that_is_named_twice_is_packed_and_counted_once(monojit, packed):
    assert monojit("cache", "unpack", packed).code == 0
    (digest, *_) = (entry["digest"] for entry in monojit.entries() if entry["key"].startswith(SMALL[:-1]))
    done = subprocess.run([monojit.binary, "cache", "pack", "-", SMALL, SMALL, digest[:12]], env=monojit.environment, capture_output=True,
                          timeout=TIMEOUT_S)
    assert done.returncode == 0 and b"packed 1 entry" in done.stderr


def test_a_pack_whose_stdout_is_full_says_that_alone(monojit, packed):
    assert monojit("cache", "unpack", packed).code == 0
    with open("/dev/full", "wb") as full:
        done = subprocess.run([monojit.binary, "cache", "pack", "-", "--all"], env=monojit.environment, stdout=full, stderr=subprocess.PIPE,
                              text=True, timeout=TIMEOUT_S)
    assert done.returncode == 1 and done.stderr.splitlines() == ["monojit: can't write the result: No space left on device"]


def test_an_archive_goes_through_a_pipe_as_tars_do(monojit, packed, tmp_path):
    assert monojit("cache", "unpack", packed).code == 0
    other = tmp_path / "other"
    command = f'"$0" cache pack - --all | "$0" cache unpack - --cache-dir "{other}" --json'
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command, monojit.binary], cwd=tmp_path, env=monojit.environment, capture_output=True,
                          text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done
    assert json.loads(done.stdout)["stored"] == 3 and "packed 3 entries" in done.stderr
    assert {file.name: file.read_bytes() for file in entry_files(other)} == {file.name: file.read_bytes() for file in entry_files(monojit.cache)}
    assert not (tmp_path / "-").exists()
    same = subprocess.run([monojit.binary, "cache", "pack", "-", "--all"], env=monojit.environment, capture_output=True, timeout=TIMEOUT_S)
    assert same.stdout == packed.read_bytes()


def test_an_archive_is_not_written_to_a_terminal_nor_among_json(monojit, packed):
    assert monojit("cache", "unpack", packed).code == 0
    assert refused(monojit("cache", "pack", "-", "--all", "--json"), "no place for --json")
    assert refused(monojit("cache", "unpack", "-"), "standard input is truncated")  # nothing comes
    ours, terminal = pty.openpty()
    try:
        done = subprocess.run([monojit.binary, "cache", "pack", "-", "--all"], env=monojit.environment, stdin=terminal, stdout=terminal,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
        assert done.returncode == 2 and "not for a terminal" in done.stderr
    finally:
        os.close(ours)
        os.close(terminal)


def test_unpacking_into_a_folder_that_is_read_only_speaks_of_the_option_that_named_it(monojit, packed, tmp_path):
    folder = tmp_path / "read only"
    folder.mkdir()
    bound = mounting((os.fsencode(folder), os.fsencode(folder), None, MS_BIND, None),
                     (None, os.fsencode(folder), None, MS_REMOUNT | MS_BIND | MS_RDONLY, None))
    done = subprocess.run([monojit.binary, "cache", "unpack", packed, "--cache-dir", folder], env=monojit.environment, capture_output=True, text=True,
                          timeout=TIMEOUT_S, preexec_fn=bound)
    assert done.returncode == 1 and "set --cache-dir to a folder" in done.stderr and "MONOJIT_CACHE_DIR" not in done.stderr


def test_packing_follows_a_link_to_the_archive(monojit, packed, tmp_path):
    assert monojit("cache", "unpack", packed).code == 0
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("an older one")
    link.symlink_to(target)
    assert monojit("cache", "pack", link, "--all").code == 0
    assert link.is_symlink() and target.read_bytes() == packed.read_bytes()


def test_packing_an_empty_cache_is_refused_and_leaves_an_older_archive(monojit, packed):
    before = packed.read_bytes()
    assert refused(monojit("cache", "pack", packed, "--all"), "no usable entry")
    assert packed.read_bytes() == before


def test_an_archive_that_claims_terabytes_is_refused_and_costs_a_reader_one_line(monojit, tmp_path):
    hollow = tmp_path / "hollow"
    with open(hollow, "wb") as file:
        file.write(b"\x89MPAK\r\n\x1a" + struct.pack("<I", 1))
        file.truncate(TERABYTES)
        file.seek(TERABYTES)
        file.write(struct.pack("<QQQ", 12, TERABYTES - 12, 100) + bytes(32))
    outcome = monojit.get(SMALL, MONOJIT_CACHE_READONLY=str(hollow))
    assert outcome.code == 0 and outcome.json()["cache"] == "built"
    (line,) = outcome.warnings
    assert str(hollow) in line and "it is not used" in line
    for arguments in ((), ("--list",)):
        assert refused(monojit("cache", "unpack", hollow, *arguments), str(hollow), "damaged")


@pytest.mark.parametrize("arguments", [("pack", "out.pack", "--all"), ("ls", "--cache-dir", "folder")])
def test_a_relative_name_where_the_working_folder_is_gone_is_no_riddle(monojit, tmp_path, arguments):
    gone = tmp_path / "gone"
    gone.mkdir()

    def leave():
        os.chdir(gone)
        gone.rmdir()

    done = subprocess.run([monojit.binary, "cache", *arguments], env=monojit.environment, capture_output=True, text=True, timeout=TIMEOUT_S,
                          preexec_fn=leave)
    assert done.returncode in (0, 2)
    assert "filesystem error" not in done.stderr
    assert arguments[0] == "ls" or "can't write out.pack" in done.stderr


def test_unpacking_more_than_the_limit_allows_is_said(monojit, packed):
    assert monojit("cache", "unpack", packed).err == ""
    monojit("cache", "clear")
    outcome = monojit("cache", "unpack", packed, MONOJIT_CACHE_MAX_SIZE="10K")
    assert outcome.code == 0 and "unpacked 3 entries" in outcome.out
    bytes_there = sum(file.stat().st_size for file in entry_files(monojit.cache))
    assert f"now has {bytes_there} bytes, more than the 10240 that MONOJIT_CACHE_MAX_SIZE allows it" in outcome.err
    assert monojit("cache", "unpack", packed, MONOJIT_CACHE_MAX_SIZE="0").err == ""


def test_a_folder_that_can_not_be_written_is_one_line_of_unpack_and_clear(monojit, packed):
    assert monojit("cache", "unpack", packed).code == 0
    folder = os.fsencode(monojit.cache)
    enter = mounting((folder, folder, None, MS_BIND, None), (None, folder, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None))

    def read_only(*arguments):
        done = subprocess.run([monojit.binary, "cache", *arguments, "--json"], env=monojit.environment, capture_output=True, text=True,
                              timeout=TIMEOUT_S, preexec_fn=enter)
        (line,) = done.stderr.splitlines()
        assert done.returncode == 1 and json.loads(done.stdout)["failed"] == 3
        return line

    for command in ("clear", "rm --all", "trim --max-size 1"):
        assert read_only(*command.split()) == f"monojit: 3 entries could not be removed: may this user write to {monojit.cache}?"
    assert f"cache folder {monojit.cache} can't be used (Read-only file system)" in read_only("unpack", packed)
