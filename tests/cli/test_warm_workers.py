"""Builds in worker processes: what goes wrong in one costs that one, and an interrupted warm goes on."""

import array
import fcntl
import json
import os
import random
import resource
import signal
import subprocess
import termios
import time

import pytest
from conftest import TIMEOUT_S, entry_files, wait_until, workers_of

ROW_NORM = "example.row_norm{rows=1|2|3,hidden=512}"
F_SETPIPE_SZ = 1031  # Python has no name for it yet
PIPE_BYTES = 4096


def waiting_bytes(pipe):
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def test_a_build_that_wants_more_memory_than_it_may_have_fails_alone(monojit):
    """24 MiB are enough for a small kernel."""
    large = "kimi_k3.k2{tokens=8,nblocks=8}"
    outcome = monojit("warm", large, ROW_NORM, "--arch", "gfx950", "--memory", "24", "--retries", "0", "--json")
    assert outcome.code == 1
    report = outcome.json()
    assert report["summary"]["failed"] == 1 and report["summary"]["built"] == 3 and report["summary"]["strict_ready"] is False
    failed = report["kernels"][0]
    assert failed["cache"] is None and failed["key"] in failed["error"] and "24 MiB of memory" in failed["error"]
    assert len(entry_files(monojit.cache)) == 3


def test_a_build_past_its_deadline_is_tried_again_and_then_fails(monojit):
    outcome = monojit("warm", "kimi_k3.k2{tokens=8,nblocks=8}", "--timeout", "0.1", "--retries", "2", "--arch", "gfx950", "--json")
    assert outcome.code == 1
    (kernel,) = outcome.json()["kernels"]
    assert kernel["attempts"] == 3
    assert "0.1 s, the deadline" in kernel["error"]
    assert entry_files(monojit.cache) == []


def test_killed_workers_cost_their_builds_at_most_and_retries_mend_them(monojit):
    process = monojit.start("warm", "minimax_m3.k1{tokens=*}", "--arch", "gfx950", "--jobs", "2", "--retries", "20", "--json")
    seeded = random.Random(7)
    killed = 0
    while process.poll() is None and killed < 6:
        time.sleep(seeded.uniform(0.05, 0.3))
        for worker in workers_of(process)[:1]:
            os.kill(worker, signal.SIGKILL)
            killed += 1
    outcome = monojit.finish(process)
    assert killed > 0
    assert outcome.code == 0, outcome.err
    assert outcome.json()["summary"]["strict_ready"] is True
    assert len(entry_files(monojit.cache)) == 16


def test_a_worker_that_is_killed_before_its_first_build_costs_no_warm(monojit):
    process = monojit.start("warm", ROW_NORM, "--arch", "gfx950", "--jobs", "1", "--retries", "3")
    (worker,) = wait_until(lambda: workers_of(process), "a worker")
    os.kill(worker, signal.SIGKILL)
    outcome = monojit.finish(process)
    assert outcome.code == 0, outcome
    assert len(entry_files(monojit.cache)) == 3


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_warm_goes_on_where_it_stopped(monojit, signal_number):
    arguments = ("warm", "minimax_m3.k1{tokens=*}", "--arch", "gfx950", "--jobs", "1", "--json")
    process = monojit.start(*arguments)
    deadline = time.monotonic() + TIMEOUT_S
    while len(list(monojit.cache.rglob("*.mono"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal_number)
    outcome = monojit.finish(process)
    assert outcome.code == 1
    assert "goes on where it stopped" in outcome.err
    first = outcome.json()["summary"]
    assert first["failed"] == 0 and first["built"] >= 3
    second = monojit(*arguments).json()["summary"]
    assert second["hit"] == first["built"] and second["built"] == 16 - first["built"]


def test_a_warm_that_is_interrupted_while_its_workers_start_says_so(monojit):
    process = monojit.start("warm", ROW_NORM, "--arch", "gfx950", "--jobs", "1", "--json")
    (worker,) = wait_until(lambda: workers_of(process), "a worker")
    os.kill(worker, signal.SIGSTOP)  # it takes long to start
    process.send_signal(signal.SIGINT)
    outcome = monojit.finish(process)
    assert outcome.code == 1 and "goes on where it stopped" in outcome.err
    assert outcome.json()["summary"]["failed"] == 0


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_report_is_written_does_not_cut_it(monojit, signal_number):
    arguments = ("warm", "example.row_norm{rows=1..9,hidden=512}", "--arch", "gfx950", "--json")
    assert monojit(*arguments).code == 0
    process = monojit.start(*arguments)
    capacity = fcntl.fcntl(process.stdout, F_SETPIPE_SZ, PIPE_BYTES)
    wait_until(lambda: waiting_bytes(process.stdout) == capacity, "a report that waits for its reader")
    process.send_signal(signal_number)
    outcome = monojit.finish(process)
    assert outcome.code == 0 and len(outcome.json()["kernels"]) == 9


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_behind_the_report_changes_no_exit_code_and_leaves_no_folder(monojit, tmp_path, signal_number):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    for number in range(5):
        process = monojit.start("warm", ROW_NORM, "--arch", "gfx950", "--json", "--cache-dir", tmp_path / f"cache{number}", TMPDIR=str(temporary))
        report = ""
        while not report.endswith("\n}\n"):
            report += os.read(process.stdout.fileno(), 1 << 16).decode()
        process.send_signal(signal_number)
        assert monojit.finish(process).code == 0 and json.loads(report)["summary"]["strict_ready"] is True
        assert list(temporary.iterdir()) == []


def catches(process, number):
    """Whether a process has a handler for a signal; None: it has ended."""
    status = open(f"/proc/{process.pid}/status").read()
    caught = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")]
    return bool(int(caught[0], 16) >> (number - 1) & 1) if process.poll() is None else None


def test_a_signal_that_comes_when_all_is_there_already_interrupts_nothing(monojit):
    arguments = ("warm", ROW_NORM, "--arch", "gfx950", "--jobs", "1", "--json")
    assert monojit(*arguments).code == 0
    done = 0
    for _ in range(20):
        process = monojit.start(*arguments)
        while catches(process, signal.SIGINT) is False:
            pass
        process.send_signal(signal.SIGINT)
        outcome = monojit.finish(process)
        if outcome.code < 0:
            continue  # it had ended, or the handler was not there yet
        summary = outcome.json()["summary"]
        assert (outcome.code == 1) == ("goes on where it stopped" in outcome.err) == (summary["not_started"] > 0), outcome
        done += summary["not_started"] == 0
    assert done > 0


def test_the_memory_of_workers_is_nothing_where_none_was_started(monojit):
    arguments = ("warm", ROW_NORM, "--arch", "gfx950", "--json")
    assert monojit(*arguments).json()["summary"]["peak_worker_bytes"] > 0
    assert monojit(*arguments).json()["summary"]["peak_worker_bytes"] == 0


@pytest.mark.parametrize("descriptors", [6, 8, 10, 12, 14, 16, 18, 20, 24, 28])
def test_workers_that_can_not_be_started_cost_no_job_that_another_can_do(monojit, tmp_path, descriptors):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [monojit.binary, "warm", "example.row_norm{rows=1..8,hidden=512}", "--arch", "gfx950", "--jobs", "4", "--json"]
    done = subprocess.run(command, env=monojit.environment | {"TMPDIR": str(temporary)}, capture_output=True, text=True, timeout=TIMEOUT_S,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors)))
    assert list(temporary.iterdir()) == []
    if descriptors < 10:
        assert done.returncode in (1, 2) and "Too many open files" in done.stderr
        return
    summary = json.loads(done.stdout)["summary"]
    assert summary["built"] + summary["failed"] == 8
    assert (done.returncode == 0) == (summary["failed"] == 0) == summary["strict_ready"], done
    if descriptors >= 20:
        assert done.returncode == 0, done


def test_a_killed_warm_leaves_no_worker_behind(monojit):
    process = monojit.start("warm", "minimax_m3.k1{tokens=*}", "--arch", "gfx950", "--jobs", "2")
    deadline = time.monotonic() + TIMEOUT_S
    while not (workers := workers_of(process)) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    while any(os.path.exists(f"/proc/{worker}") for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(os.path.exists(f"/proc/{worker}") for worker in workers)


def test_what_killed_warms_and_workers_left_of_temporary_files_the_next_warm_removes(monojit, tmp_path):
    arguments = ("warm", "minimax_m3.k1{tokens=*}", "--arch", "gfx950", "--jobs", "2", "--retries", "20")
    process = monojit.start(*arguments, TMPDIR=str(tmp_path / "temporary"))
    assert monojit.finish(process).code != 0, "there is no such folder"
    (tmp_path / "temporary").mkdir()
    (tmp_path / "temporary" / "monojit-worker-of-nobody").mkdir()
    (tmp_path / "temporary" / "of-another").mkdir()
    process = monojit.start(*arguments, TMPDIR=str(tmp_path / "temporary"))
    wait_until(lambda: list((tmp_path / "temporary").glob("monojit-worker-*/comgr-*")), "comgr's folder")
    process.kill()
    workers = workers_of(process)
    process.wait()
    wait_until(lambda: not any(os.path.exists(f"/proc/{worker}") for worker in workers), "the end of the workers")
    before = len(entry_files(monojit.cache))
    process = monojit.start(*arguments, TMPDIR=str(tmp_path / "temporary"))
    wait_until(lambda: len(entry_files(monojit.cache)) > before, "a build")
    (worker, *_) = workers_of(process)
    os.kill(worker, signal.SIGKILL)
    assert monojit.finish(process).code == 0
    assert [each.name for each in (tmp_path / "temporary").iterdir()] == ["of-another"]
