"""Several processes and one cache folder: each kernel is built once, whoever dies or deletes meanwhile."""

import os
import random
import shutil
import signal
import threading
import time

import pytest
from conftest import KEY, SMALL, debris, entry_files, wait_until, workers_of

PATTERN = "example.row_norm{rows=1..6,hidden=512}"
KILLS = 40
SEED = 11


def test_two_at_once_build_a_key_once(monojit):
    processes = [monojit.start("warm", KEY, "--arch", "gfx950", "--json") for _ in range(2)]
    outcomes = [monojit.finish(process) for process in processes]
    assert [outcome.code for outcome in outcomes] == [0, 0]
    sources = [outcome.json()["kernels"][0]["cache"] for outcome in outcomes]
    assert sorted(sources) == ["built", "disk"]
    assert len(entry_files(monojit.cache)) == 1


def test_many_processes_and_threads_build_each_key_once(monojit):
    processes = [monojit.start("warm", PATTERN, "--arch", "gfx950", "--jobs", "3", "--json") for _ in range(4)]
    summaries = [monojit.finish(process).json()["summary"] for process in processes]
    assert sum(summary["built"] for summary in summaries) == 6
    assert all(summary["built"] + summary["hit"] == 6 and summary["strict_ready"] for summary in summaries)
    assert len(entry_files(monojit.cache)) == 6
    assert debris(monojit.cache) == []


def test_different_keys_are_built_at_the_same_time(monojit):
    """A build that stands still holds up no other."""
    held = monojit.start("warm", KEY, "--arch", "gfx950")
    (worker,) = wait_until(lambda: workers_of(held), "a build")
    wait_until(lambda: list(monojit.cache.glob("locks/*.lock")), "the lock of the build")
    os.kill(worker, signal.SIGSTOP)
    try:
        assert monojit.get().json()["cache"] == "built"
    finally:
        os.kill(worker, signal.SIGCONT)
    assert monojit.finish(held).code == 0


def test_processes_killed_at_random_moments_leave_whole_entries_and_no_lock(monojit):
    seeded = random.Random(SEED)
    for _ in range(KILLS):
        process = monojit.start("warm", PATTERN, "--arch", "gfx950", "--jobs", "2")
        time.sleep(seeded.uniform(0.01, 0.4))
        process.kill()
        process.communicate()
        assert monojit("cache", "verify").code == 0
        if seeded.random() < 0.3:
            monojit("cache", "clear")
    outcome = monojit("warm", PATTERN, "--arch", "gfx950", "--json")
    assert outcome.code == 0 and outcome.err.count("can't") == 0
    assert outcome.json()["summary"]["strict_ready"] is True
    assert monojit("cache", "trim").code == 0
    assert debris(monojit.cache) == []


class Repeatedly:
    """Does something again and again, beside what the test does."""

    def __init__(self, action):
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(action,))

    def run(self, action):
        while not self.stop.is_set():
            action()

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


@pytest.mark.parametrize("way", ["evicted", "deleted"])
def test_a_reader_gets_its_kernels_while_entries_are_evicted_or_the_folder_is_deleted(monojit, way):
    def evict():
        monojit("cache", "trim", "--max-size", "1")

    def delete():
        shutil.rmtree(monojit.cache, ignore_errors=True)
        time.sleep(0.02)

    with Repeatedly(evict if way == "evicted" else delete):
        for _ in range(12):
            outcome = monojit.get()
            assert outcome.code == 0, outcome
            assert outcome.json()["cache"] in ("built", "disk")
    assert monojit.get().code == 0
    assert monojit("cache", "verify").code == 0


def test_a_warm_whose_kernels_another_command_removes_does_not_blame_the_limit(monojit):
    """The first kernel is removed while the second one is built."""
    warming = monojit.start("warm", SMALL, KEY, "--arch", "gfx950", "--jobs", "1")
    wait_until(lambda: list(monojit.cache.glob("entries/*/*.mono")), "the first entry")
    (worker,) = wait_until(lambda: workers_of(warming), "a build")
    os.kill(worker, signal.SIGSTOP)
    try:
        assert monojit("cache", "clear").code == 0
    finally:
        os.kill(worker, signal.SIGCONT)
    outcome = monojit.finish(warming)
    assert outcome.code == 1
    assert "1 of the 2 kernels were removed meanwhile" in outcome.err
    assert "MONOJIT_CACHE_MAX_SIZE" not in outcome.err
