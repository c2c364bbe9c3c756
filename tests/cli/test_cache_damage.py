"""Entries that are not what they should be: never served, said once, built anew."""

import os
import random
import shutil
import subprocess
import threading
from contextlib import ExitStack
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import entries
import pytest
from conftest import KEY, MS_BIND, MS_RDONLY, MS_REMOUNT, SMALL, TIMEOUT_S, entry_files, mounting, refused

FLIPS = 12
SEED = 4


@pytest.fixture
def entry(monojit):
    """The file of SMALL's entry."""
    assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
    (file,) = entry_files(monojit.cache)
    return file


def rebuilt(monojit, file, *texts):
    """The entry is built anew, with one line that names the file and holds all of the texts; then it is as it should be."""
    outcome = monojit.get()
    assert outcome.code == 0, outcome
    assert outcome.json()["cache"] == "built"
    (line,) = outcome.warnings
    assert str(file) in line
    for text in texts:
        assert text in line
    again = monojit.get()
    assert again.json()["cache"] == "disk" and again.warnings == []
    assert monojit("cache", "verify").code == 0
    return True


@pytest.mark.parametrize("kept", [0, 7, 20, 100, -33, -1])
def test_an_entry_cut_anywhere_is_built_anew(monojit, entry, kept):
    entry.write_bytes(entry.read_bytes()[:kept])
    assert rebuilt(monojit, entry, "is truncated")


def test_an_entry_with_any_bit_flipped_is_built_anew(monojit, entry):
    sound = entry.read_bytes()
    seeded = random.Random(SEED)
    for _ in range(FLIPS):
        content = bytearray(sound)
        at = seeded.randrange(len(content))
        content[at] ^= 1 << seeded.randrange(8)
        entry.write_bytes(content)
        assert monojit("cache", "verify").code == 1, at
        assert rebuilt(monojit, entry), at


def test_an_entry_with_bytes_behind_its_end_is_built_anew(monojit, entry):
    entry.write_bytes(entry.read_bytes() + b"x")
    assert rebuilt(monojit, entry, "1 bytes after its end")


def test_an_entry_of_another_format_version_is_built_anew(monojit, entry):
    entry.write_bytes(entries.encoded(entries.parts_of(entry), version=2))
    assert rebuilt(monojit, entry, "format version 2")


@pytest.mark.parametrize("other", ["example.row_norm{rows=5,hidden=512}", "common.bump"])
def test_a_sound_entry_of_another_key_under_this_ones_name_is_built_anew(monojit, entry, other):
    assert monojit("warm", other, "--arch", "gfx950").code == 0
    (stranger,) = [file for file in entry_files(monojit.cache) if file != entry]
    shutil.move(stranger, entry)
    assert rebuilt(monojit, entry, "holds another key", other.split("{")[0])


def test_a_sound_entry_of_another_chip_under_this_ones_name_is_built_anew(monojit, entry):
    assert monojit("warm", SMALL, "--arch", "gfx942").code == 0
    (stranger,) = [file for file in entry_files(monojit.cache) if file != entry]
    shutil.move(stranger, entry)
    assert rebuilt(monojit, entry, "holds another key", "gfx942")


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_file_in_an_entrys_place_is_built_anew(monojit, entry, kind, tmp_path):
    aside = tmp_path / "aside"
    shutil.move(entry, aside)
    {"link": lambda: entry.symlink_to(aside), "folder": entry.mkdir, "pipe": lambda: os.mkfifo(entry)}[kind]()
    assert rebuilt(monojit, entry, "symbolic link" if kind == "link" else "not a regular file")
    assert aside.exists()


def forge(file, **changes):
    """Changes parts of an entry and seals it again."""
    file.write_bytes(entries.encoded(entries.parts_of(file) | changes))


def test_an_image_that_the_device_refuses_is_dropped_built_anew_once_and_runs(monojit, entry):
    forge(entry, code_object=b"\x7fELF and no more")
    outcome = monojit.run("--arch", "gfx950", key=SMALL)
    assert outcome.code == 0, outcome
    assert outcome.json()["cache"] == "built" and outcome.json()["verified"] is True
    assert len(outcome.warnings) == 1 and "building it anew" in outcome.err
    assert monojit.run("--arch", "gfx950", key=SMALL).json()["cache"] == "disk"


def test_an_image_that_the_device_refuses_is_a_clear_error_where_nothing_may_be_built(monojit, entry):
    forge(entry, code_object=b"\x7fELF and no more")
    outcome = monojit.run("--strict", "--arch", "gfx950", key=SMALL)
    assert refused(outcome, SMALL.split("{")[0], "it is not used", "run monojit warm '")
    assert entry.exists()


@pytest.mark.parametrize("metadata", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"symbol": 5}'])
def test_a_sound_entry_with_a_senseless_record_is_built_anew(monojit, entry, metadata):
    forge(entry, metadata=metadata)
    outcome = monojit.get()
    assert outcome.code == 0, outcome
    assert outcome.json()["cache"] == "built"
    assert len(outcome.warnings) == 1 and "building it anew" in outcome.err
    assert monojit.get().json()["cache"] == "disk"


NESTED = b'{"a":' * 100_000 + b"1" + b"}" * 100_000


@pytest.mark.parametrize("metadata", [b"garbage", b"", b"\xff", b'{"a":1} x', b'{"vgpr": 1e400}', NESTED],
                         ids=["text", "empty", "no text", "more", "too large", "nested"])
def test_a_sound_entry_with_a_senseless_record_is_unusable_to_verify_and_show(monojit, entry, metadata):
    forge(entry, metadata=metadata)
    shown = monojit("cache", "show", SMALL, "--json")
    assert shown.code == 0, shown
    (listed,) = shown.json()["entries"]
    assert "can't be loaded" in listed["problem"] and "record" not in listed
    assert "unusable" in monojit("cache", "show", SMALL).out
    assert "can't be loaded" in monojit("cache", "verify").out
    assert monojit("cache", "verify", "--remove", "--json").json()["removed"] == 1


@pytest.mark.parametrize("metadata", [b"garbage", NESTED], ids=["text", "nested"])
def test_another_releases_record_that_is_no_json_is_shown_as_null(monojit, entry, metadata):
    parts = entries.parts_of(entry) | {"toolchain": b"llvm-21.0.0/comgr-3.0", "metadata": metadata}
    digest = entries.add_to(monojit.cache, parts).stem
    (listed,) = monojit("cache", "show", digest, "--json").json()["entries"]
    assert listed["problem"] is None and listed["record"] is None
    assert monojit("cache", "verify").code == 0


def test_a_deep_member_in_an_otherwise_sound_record_is_not_printed(monojit, entry):
    record = entries.parts_of(entry)["metadata"].strip()
    forge(entry, metadata=record[:-1] + b', "x": ' + NESTED + b"}")
    shown = monojit("cache", "show", SMALL, "--json")
    assert shown.code == 0, shown
    assert shown.json()["entries"][0]["record"] is None


def test_a_sound_entry_of_a_program_for_this_machine_is_unusable_to_verify(monojit, entry):
    forge(entry, code_object=Path("/bin/true").read_bytes())
    found = monojit("cache", "verify")
    assert found.code == 1 and "no ELF file for AMD GPUs" in found.out


def test_a_warm_builds_anew_what_could_not_be_loaded(monojit, entry):
    forge(entry, code_object=Path("/bin/true").read_bytes())
    outcome = monojit("warm", SMALL, "--arch", "gfx950", "--json")
    assert outcome.code == 0, outcome
    assert "building it anew" in outcome.err
    assert outcome.json()["summary"]["built"] == 1 and outcome.json()["summary"]["strict_ready"] is True
    assert monojit.run("--strict", "--arch", "gfx950", key=SMALL).code == 0


class SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def scrap(monojit, folder):
    """A folder that has SMALL's entry with an image that no device takes."""
    assert monojit("warm", SMALL, "--arch", "gfx950", "--cache-dir", folder).code == 0
    (file,) = entry_files(folder)
    forge(file, code_object=b"\x7fELF and no more")
    return folder


@pytest.mark.parametrize("tier", ["folder", "archive", "web server"])
@pytest.mark.parametrize("command", ["warm", "run", "dump"])
def test_an_image_that_no_device_takes_below_the_users_folder_is_built_anew_once_into_it(monojit, command, tier, tmp_path):
    with ExitStack() as stack:
        place = str(scrap(monojit, tmp_path / "shipped"))
        if tier == "archive":
            assert monojit("cache", "pack", tmp_path / "packed", "--all", "--cache-dir", place).code == 0
            place = str(tmp_path / "packed")
        if tier == "web server":
            handler = partial(SilentHandler, directory=place)
            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), handler))
            threading.Thread(target=server.serve_forever, args=(0.05,)).start()
            stack.callback(server.shutdown)
            place = f"http://127.0.0.1:{server.server_address[1]}?readonly"
        monojit.environment["MONOJIT_CACHE_REMOTE" if tier == "web server" else "MONOJIT_CACHE_READONLY"] = place
        if command == "warm":
            outcome = monojit("warm", SMALL, "--arch", "gfx950", "--json")
            assert outcome.json()["summary"]["built"] == 1 and outcome.json()["summary"]["strict_ready"] is True
        elif command == "run":
            outcome = monojit.run("--arch", "gfx950", key=SMALL)
            assert outcome.json()["cache"] == "built" and outcome.json()["verified"] is True
        else:
            outcome = monojit("dump", SMALL, "--arch", "gfx950", "--emit=isa", "--json")
            assert outcome.json()["cache"] == "built"
        assert outcome.code == 0 and outcome.err.count("building it anew") == 1
        assert len([line for line in outcome.warnings if " are to be built" not in line]) == 1, outcome
        again = monojit.run("--strict", "--arch", "gfx950", key=SMALL)
        assert again.json()["cache"] == "disk" and again.warnings == []


def test_an_unusable_image_in_a_folder_that_can_not_be_written_is_not_taken_again(monojit, entry):
    forge(entry, code_object=b"\x7fELF and no more")
    folder = os.fsencode(monojit.cache)
    enter = mounting((folder, folder, None, MS_BIND, None), (None, folder, None, MS_REMOUNT | MS_BIND | MS_RDONLY, None))
    done = subprocess.run([monojit.binary, "run", SMALL, "--device", "emulator", "--arch", "gfx950", "--json"], env=monojit.environment,
                          capture_output=True, text=True, timeout=TIMEOUT_S, preexec_fn=enter)
    assert done.returncode == 0, done
    assert '"cache": "built"' in done.stdout and done.stderr.count("building it anew") == 1
    assert "can't be removed" in done.stderr


def test_what_was_damaged_runs_and_is_right(monojit):
    assert monojit("warm", KEY, "--arch", "gfx950").code == 0
    (file,) = entry_files(monojit.cache)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    outcome = monojit.run("--arch", "gfx950")
    assert outcome.json()["cache"] == "built" and outcome.json()["verified"] is True
