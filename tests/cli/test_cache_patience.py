"""What long builds and those who wait for them say, and whom they stop waiting for."""

import os
import signal
import socket
import time

import pytest
from conftest import KEY, SMALL, entry_files, wait_until, workers_of


class HeldBuild:
    """A process that builds KEY, whose worker stands still until this ends."""

    def __init__(self, monojit):
        self.monojit = monojit
        self.process = monojit.start("warm", KEY, "--arch", "gfx950", "--json")
        wait_until(lambda: list(monojit.cache.glob("locks/*.lock")), "the lock of the build")
        (self.worker,) = wait_until(lambda: workers_of(self.process), "a build")
        os.kill(self.worker, signal.SIGSTOP)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        try:
            os.kill(self.worker, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def go_on(self):
        os.kill(self.worker, signal.SIGCONT)
        return self.monojit.finish(self.process)


@pytest.fixture
def held(monojit):
    with HeldBuild(monojit) as build:
        yield build


def test_a_long_build_says_what_it_will_do_and_every_ten_seconds_what_it_is_at(held):
    time.sleep(12)
    outcome = held.go_on()
    assert outcome.code == 0
    lines = [line for line in outcome.err.splitlines() if "building" in line]
    assert len(lines) == 2, outcome.err
    assert KEY[:-1] in lines[0] and "emit IR, optimise, generate code, link, check" in lines[0] and "now " in lines[0]
    assert KEY[:-1] in lines[1] and "emit IR" not in lines[1] and "s so far, now " in lines[1]


def wait_beside(monojit, held):
    """Another process that wants the same kernel, and waits for it by now."""
    waiter = monojit.start("warm", KEY, "--arch", "gfx950", "--json")
    time.sleep(1.5)
    assert waiter.poll() is None
    return waiter


def waited_for(held):
    return f"waiting for process {held.process.pid}, which builds {KEY[:-1]}"


def test_who_waits_says_for_whom_and_gets_the_kernel(monojit, held):
    waiter = wait_beside(monojit, held)
    assert held.go_on().json()["kernels"][0]["cache"] == "built"
    outcome = monojit.finish(waiter)
    assert outcome.json()["kernels"][0]["cache"] == "disk"
    assert waited_for(held) in outcome.err and outcome.err.count("waiting for") == 1


def test_who_waits_for_a_process_that_dies_builds_at_once(monojit, held):
    waiter = wait_beside(monojit, held)
    held.process.kill()
    start = time.monotonic()
    outcome = monojit.finish(waiter)
    assert time.monotonic() - start < 10
    assert waited_for(held) in outcome.err
    assert outcome.json()["kernels"][0]["cache"] == "built"
    assert len(entry_files(monojit.cache)) == 1


def test_who_waits_for_a_process_that_is_stopped_goes_on_without_it(monojit, held):
    waiter = wait_beside(monojit, held)
    held.process.send_signal(signal.SIGSTOP)
    outcome = monojit.finish(waiter)
    assert outcome.code == 0
    assert waited_for(held) in outcome.err
    assert f"process {held.process.pid}, which builds" in outcome.err and "is stopped: going on without it" in outcome.err
    assert outcome.json()["kernels"][0]["cache"] == "built"
    held.process.send_signal(signal.SIGCONT)
    assert held.go_on().code == 0
    assert monojit("cache", "verify").code == 0


def test_a_wait_for_another_process_is_bounded_by_the_timeout(monojit, held):
    start = time.monotonic()
    outcome = monojit("warm", KEY, "--arch", "gfx950", "--json", "--timeout", "3.5")
    assert time.monotonic() - start < 9
    assert outcome.code == 0 and outcome.json()["kernels"][0]["cache"] == "built"
    assert f"process {held.process.pid} has not built {KEY[:-1]}" in outcome.err and "in 3.5 s: going on without it" in outcome.err


def test_a_hit_waits_for_no_build(monojit):
    assert monojit.get().json()["cache"] == "built"
    with HeldBuild(monojit) as held:
        assert monojit.get().json()["cache"] == "disk"
        assert held.go_on().code == 0


def test_who_waits_can_be_interrupted(monojit, held):
    waiter = wait_beside(monojit, held)
    waiter.send_signal(signal.SIGINT)
    start = time.monotonic()
    outcome = monojit.finish(waiter)
    assert time.monotonic() - start < 5
    assert outcome.code == 1 and "goes on where it stopped" in outcome.err


def test_time_in_which_a_warm_and_its_workers_are_stopped_does_not_count_as_a_builds(monojit):
    timeout_s = 6
    process = monojit.start("warm", KEY, "--arch", "gfx950", "--jobs", "1", "--timeout", timeout_s, "--retries", "0")
    wait_until(lambda: list(monojit.cache.glob("locks/*.lock")), "the lock of the build")
    (worker,) = wait_until(lambda: workers_of(process), "a build")
    stopped = (worker, process.pid)
    for each in stopped:
        os.kill(each, signal.SIGSTOP)
    time.sleep(timeout_s + 2)
    for each in stopped:
        os.kill(each, signal.SIGCONT)
    outcome = monojit.finish(process)
    assert outcome.code == 0, outcome
    assert "built 1, hit 0, failed 0" in outcome.out


def test_a_warm_whose_remote_is_slow_says_that_it_asks_it(monojit):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}?timeout_ms=12000"
        outcome = monojit("warm", SMALL, "--arch", "gfx950", MONOJIT_CACHE_REMOTE=url)
    assert outcome.code == 0, outcome
    (line,) = [line for line in outcome.err.splitlines() if "now at" in line]
    assert "0 of 1 kernels done after 10 s" in line and "the remote cache is asked" in line


def test_a_warm_is_interrupted_while_it_asks_a_slow_remote(monojit):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}?timeout_ms=3000"
        process = monojit.start("warm", SMALL, "--arch", "gfx950", MONOJIT_CACHE_REMOTE=url)
        connection, _ = silent.accept()
        process.send_signal(signal.SIGINT)
        outcome = monojit.finish(process)
        connection.close()
    assert outcome.code == 1 and "goes on where it stopped" in outcome.err
    assert entry_files(monojit.cache) == []
