"""Each call that a command makes for its cache folder fails in turn, its libraries' calls too (tests/cache/file_faults.h)."""

import errno
import os
import shutil

import pytest
from conftest import SMALL, debris, entry_files

FAULTS = os.environ["MONOJIT_FILE_FAULTS"]
ERRORS = [errno.EIO, errno.ENOSPC, errno.EACCES, errno.ENOENT, errno.ESTALE, errno.EROFS, errno.EMFILE, errno.EDQUOT, errno.ENOLCK]
TOO_MANY = 1000


class Faulty:
    """Runs commands in which the call of a number fails, below a place that has the cache folder in it."""

    def __init__(self, monojit, folder):
        self.monojit = monojit
        self.place = folder / "place"
        self.log = folder / "failed"
        self.prepared = folder / "prepared"
        monojit.cache = self.place / "kernels"
        monojit.environment["MONOJIT_CACHE_DIR"] = str(monojit.cache)
        self.place.mkdir()

    def prepare(self):
        """What is there now is there again before every command."""
        shutil.copytree(self.place, self.prepared, symlinks=True)

    def each_call(self, *arguments, errors=ERRORS, turns=1, fewest=10):
        """(call and error, outcome) of the command with call after call failing; of the errors, `turns` are tried on each."""
        for number in range(TOO_MANY):
            for turn in range(turns):
                error = errors[(number + turn * (len(errors) // turns)) % len(errors)]
                shutil.rmtree(self.place)
                shutil.copytree(self.prepared, self.place, symlinks=True)
                self.log.unlink(missing_ok=True)
                outcome = self.monojit(*arguments, LD_PRELOAD=FAULTS, FILE_FAULTS_FOLDER=str(self.place), FILE_FAULTS_NUMBER=str(number),
                                       FILE_FAULTS_ERROR=str(error), FILE_FAULTS_LOG=str(self.log))
                if not self.log.exists():
                    assert number > fewest, "a command that makes so few calls proves little"
                    return
                yield f"call {number}, {self.log.read_text().strip()}: {os.strerror(error)}", outcome

    def clear_up(self):
        """Behind a fault: nothing wrong is served, and the next process that looks after the folder sweeps what could not be removed."""
        assert self.monojit("cache", "verify", "--remove").code == 0
        assert self.monojit("cache", "trim").code == 0
        assert debris(self.monojit.cache) == []


@pytest.fixture
def faulty(monojit, tmp_path):
    return Faulty(monojit, tmp_path)


def check_kernel(outcome, call, most_lines):
    assert outcome.code == 0, (call, outcome)
    assert '"cache": ' in outcome.out, call
    assert len(outcome.warnings) <= most_lines, (call, outcome.err)


def get(*arguments):
    return ("dump", SMALL, "--arch", "gfx950", "--emit=resources", "--json", *arguments)


def test_a_build_into_a_folder_that_is_still_to_be_made(faulty):
    faulty.prepare()
    for call, outcome in faulty.each_call(*get()):
        check_kernel(outcome, call, 1)
        faulty.clear_up()


def test_a_hit(faulty):
    assert faulty.monojit.get().code == 0
    faulty.prepare()
    for call, outcome in faulty.each_call(*get(), turns=3):
        check_kernel(outcome, call, 1)


def test_a_damaged_entry_and_what_a_killed_writer_left(faulty):
    assert faulty.monojit.get().code == 0
    (entry,) = entry_files(faulty.monojit.cache)
    entry.write_bytes(entry.read_bytes()[:-1])
    for left in ("tmp/0123456789abcdef.tmp", "locks/00.lock"):
        (faulty.monojit.cache / left).write_text("half")
    faulty.prepare()
    for call, outcome in faulty.each_call(*get()):
        check_kernel(outcome, call, 2)
        faulty.clear_up()


@pytest.mark.parametrize("command", [
    ("ls", "--json"), ("show", SMALL), ("stats", "--json"), ("verify",), ("trim", "--max-size", "1"), ("clear",), ("rm", SMALL),
    ("stats", "--reset"), ("trim", "--stale"), ("pack", "archive", "--all")])
def test_a_command_that_looks_after_the_cache(faulty, command, tmp_path, monkeypatch):
    """It does what it should or says what went wrong; either way the next one works."""
    monkeypatch.chdir(tmp_path)
    assert faulty.monojit("warm", "example.row_norm{rows=4|6,hidden=512}", "--arch", "gfx950,gfx942").code == 0
    faulty.prepare()
    for call, outcome in faulty.each_call("cache", *command):
        assert outcome.code in (0, 1, 2), (call, outcome)
        assert outcome.code == 0 or outcome.err or "1 unusable" in outcome.out, call
        again = faulty.monojit("cache", "verify")
        assert again.code == 0, (call, again)
    faulty.clear_up()


def test_a_warm(faulty):
    """All of it is stored, or the exit code says that it is not."""
    faulty.prepare()
    for call, outcome in faulty.each_call("warm", SMALL, "--arch", "gfx950", "--json"):
        assert outcome.code in (0, 1, 2), (call, outcome)
        assert outcome.code == 0 or outcome.err, call
        stored = [file for file in entry_files(faulty.monojit.cache) if file.suffix == ".mono"]
        assert (outcome.code == 0) <= (len(stored) == 1), (call, outcome)
        faulty.clear_up()


def test_a_worker_whose_folder_for_temporary_files_fills_up_costs_its_kernels_alone(monojit, tmp_path, monkeypatch):
    """LLVM ends the process over some of the calls that fail; the command goes on, names the kernels, and stores no part of them."""
    monkeypatch.chdir(tmp_path)  # comgr links to a.out where it can make no folder
    log = tmp_path / "failed"
    (tmp_path / "temporary").mkdir()
    ended = 0
    for number in range(0, TOO_MANY, 3):  # comgr's writes come in threes: buffer, rest, close
        log.unlink(missing_ok=True)
        outcome = monojit("warm", SMALL, "--arch", "gfx950,gfx942", "--jobs", "1", "--retries", "0", LD_PRELOAD=FAULTS, TMPDIR=str(tmp_path / "temporary"),
                          FILE_FAULTS_FOLDER=str(tmp_path / "temporary"), FILE_FAULTS_NUMBER=str(number), FILE_FAULTS_ERROR=str(errno.ENOSPC),
                          FILE_FAULTS_LOG=str(log))
        if not log.exists():
            break
        assert outcome.code in (0, 1, 2), (number, outcome)
        failed = [line for line in outcome.err.splitlines() if " failed: " in line]
        stored = [file for file in entry_files(monojit.cache) if file.suffix == ".mono"]
        if outcome.code == 2:  # before there was a worker
            assert stored == [] and "set TMPDIR" in outcome.err, (number, outcome)
            continue
        assert len(failed) + len(stored) == 2 and all(SMALL.split("{")[0] in line for line in failed), (number, outcome)
        ended += "LLVM gave up" in outcome.err
        assert not failed or monojit("cache", "verify").code == 0
        shutil.rmtree(monojit.cache)
    assert number > 10 and ended > 0
    assert monojit("warm", SMALL, "--arch", "gfx950", TMPDIR=str(tmp_path / "temporary")).code == 0
    assert list((tmp_path / "temporary").iterdir()) == []
