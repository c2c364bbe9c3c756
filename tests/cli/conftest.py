"""Fixtures of the black-box tests: the real `monojit` binary in an environment of its own."""

import ctypes
import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

TIMEOUT_S = 240
KEY = "minimax_m3.k1{tokens=1,index_heads=1}"
SECOND = "minimax_m3.k1{tokens=2}"
SMALL = "example.row_norm{rows=4,hidden=512}"  # soon built


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)

    @property
    def warnings(self):
        """Messages, but for what a build that lasts longer than a second says of itself."""
        return [line for line in self.err.splitlines() if not line.startswith("monojit: building ")]


class Monojit:
    """Runs the binary with a cache folder of the test's own."""

    def __init__(self, binary, folder):
        self.binary = binary
        self.cache = folder / "cache"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("MONOJIT_") or k == "MONOJIT_LIBRARY_DIR"}
        self.environment["MONOJIT_CACHE_DIR"] = str(self.cache)

    def start(self, *arguments, **environment):
        return self.start_on(*arguments, stderr=subprocess.PIPE, **environment)

    def start_on(self, *arguments, stderr, **environment):
        """start(), with a stderr that the test reads itself."""
        return subprocess.Popen([self.binary, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=stderr, text=True, errors="backslashreplace", env=self.environment | environment)

    @staticmethod
    def finish(process):
        out, err = process.communicate(timeout=TIMEOUT_S)
        return Outcome(process.returncode, out, err)

    def __call__(self, *arguments, **environment):
        return self.finish(self.start(*arguments, **environment))

    def run(self, *arguments, key=KEY, **environment):
        """One run on the emulator."""
        return self("run", key, "--device", "emulator", "--json", *arguments, **environment)

    def get(self, key=SMALL, *arguments, **environment):
        """A kernel for gfx950, from the cache or built into it; the JSON says which in "cache"."""
        return self("dump", key, "--arch", "gfx950", "--emit=resources", "--json", *arguments, **environment)

    def entries(self):
        return self("cache", "ls", "--json").json()["entries"]


@pytest.fixture
def monojit(tmp_path):
    return Monojit(os.environ["MONOJIT_BINARY"], tmp_path)


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory):
    """A folder with KEY for gfx950 in it."""
    warmed = Monojit(os.environ["MONOJIT_BINARY"], tmp_path_factory.mktemp("warm"))
    assert warmed("warm", KEY, "--arch", "gfx950").code == 0
    return warmed.cache


@pytest.fixture
def warm(monojit, warm_cache):
    """The binary with a cache that others share: to be read, not changed."""
    monojit.cache = warm_cache
    monojit.environment["MONOJIT_CACHE_DIR"] = str(warm_cache)
    return monojit


@pytest.fixture
def two(monojit):
    """A folder with two entries, the first used a day ago."""
    assert monojit("warm", KEY, SECOND, "--arch", "gfx950").code == 0
    old = monojit("cache", "show", KEY, "--json").json()["entries"][0]["file"]
    day_ago = time.time() - 86400
    os.utime(old, (day_ago, day_ago))
    return monojit


def refused(outcome, *texts):
    """Exit code 2, nothing on stdout, and one message that holds all of the texts."""
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    assert all(line.startswith("monojit: ") for line in outcome.err.splitlines())
    for text in texts:
        assert text in outcome.err
    return True


def entry_files(folder: Path):
    """The files of a cache folder that hold something, its counters aside."""
    return [file for file in folder.rglob("*") if file.is_file() and file.stat().st_size > 0 and file.name != "counters"]


def debris(folder: Path):
    """What a writer or the holder of a lock would have left behind."""
    return [file for part in ("tmp", "locks") for file in (folder / part).glob("*")]


def workers_of(process):
    """Process ids of the worker processes that a running command has."""
    found = []
    for name in os.listdir("/proc"):
        try:
            status = open(f"/proc/{name}/stat").read().rsplit(") ", 1)
            if name.isdigit() and status[1].split()[1] == str(process.pid):
                found.append(int(name))
        except (OSError, IndexError):
            continue
    return found


def wait_until(condition, what):
    """The first value of condition() that counts as true."""
    deadline = time.monotonic() + TIMEOUT_S
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.005)
    return value


MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18


def mounting(*mounts):
    """For preexec_fn: mounts that only the process and its children see."""
    libc = ctypes.CDLL(None, use_errno=True)

    def enter():
        os.unshare(os.CLONE_NEWNS if os.geteuid() == 0 else os.CLONE_NEWNS | os.CLONE_NEWUSER)
        for source, target, kind, flags, options in [(None, b"/", None, MS_REC | MS_PRIVATE, None), *mounts]:
            if libc.mount(source, target, kind, flags, options) != 0:
                raise OSError(ctypes.get_errno(), "mount")

    try:
        subprocess.run(["true"], preexec_fn=enter, check=True)
    except (AttributeError, subprocess.SubprocessError):
        pytest.skip("this user, or this Python, may not mount a disk")
    return enter
