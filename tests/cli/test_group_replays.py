"""`monojit run --repeat` of a kernel that runs on eight devices in lockstep: captured steps, replayed."""

import os
import pty
import signal

import pytest
import tensors
from conftest import wait_until

KEY = "kimi_k3.k2{tokens=1,nblocks=1}"
ROWS = 8 * 7168  # ranks, columns
FINAL_WORDS = 8 * 8 * 3584 * 2  # ranks, sources, words of two columns, value and tag


def replay_rows(report):
    rows = {output["name"]: output for output in report["outputs"] if output["name"].startswith("replays.")}
    assert all(row["mismatches"] == 0 for row in rows.values())
    assert report["replays"]["values"] == sum(row["elements"] for row in rows.values())
    assert report["replays"]["mismatches"] == 0
    return {name: row["elements"] for name, row in rows.items()}


def test_every_replay_is_compared_and_memory_stays_flat(monojit):
    outcome = monojit("run", KEY, "--repeat", 14, "--json")
    assert outcome.code == 0, outcome
    report = outcome.json()
    assert report["launches"] == 14
    replays = report["replays"]
    assert replays["count"] == 12
    rows = replay_rows(report)
    assert set(rows) == {"replays.out", "replays.prefix", "replays.hand_offs"}
    assert rows["replays.out"] == rows["replays.prefix"] == 12 * ROWS
    assert rows["replays.hand_offs"] > 6 * FINAL_WORDS  # the last two of every four
    assert replays["resident_bytes"]["last"] - replays["resident_bytes"]["first"] < 1 << 20


def test_where_ranks_do_not_reduce_the_partials_of_every_replay_are_compared(monojit):
    outcome = monojit("run", "kimi_k3.k2{tokens=1,nblocks=1,reduce=0}", "--repeat", 5, "--json")
    assert outcome.code == 0, outcome
    rows = replay_rows(outcome.json())
    assert set(rows) == {"replays.final", "replays.prefix", "replays.hand_offs"}
    assert rows["replays.final"] == 3 * FINAL_WORDS
    assert rows["replays.prefix"] == 3 * ROWS


def test_replays_of_a_chain_are_compared_layer_by_layer(monojit):
    outcome = monojit("run", KEY, "--layers", 2, "--repeat", 3, "--json")
    assert outcome.code == 0, outcome
    rows = replay_rows(outcome.json())
    assert rows["replays.out"] == 2 * ROWS
    assert rows["replays.prefix"] == ROWS


def test_a_run_leaves_the_same_whether_it_is_compared_or_not(monojit, tmp_path):
    files = [tmp_path / name for name in ("compared", "not_compared")]
    for file, options in zip(files, ([], ["--no-verify"])):
        assert monojit("run", KEY, "--repeat", 5, "--save", file, *options).code == 0
    compared, not_compared = map(tensors.read, files)
    assert {name for name in compared if compared[name] != not_compared[name]} == set()


def test_a_replay_that_fails_ends_the_run(monojit):
    outcome = monojit("run", KEY, "--repeat", 4, "--no-verify", "--fault", "rank=3,time=3", "--json")
    assert outcome.code == 1
    report = outcome.json()
    assert "fault_epoch=3,fault_layer=129" in report["key"]
    assert report["launches"] == 1
    assert report["replays"]["count"] == 0
    assert report["failure"]["place"] == "step 3, layer 1"
    of_step_1 = 256 + 129 + 1  # even and odd steps use one half of the peer buffer each
    assert any("from rank 3, " in line and line.endswith(f"saw {of_step_1:#x}, the tag of an earlier launch (epoch 1, layer 129)") for line in report["failure"]["health"])


def test_a_replay_that_fails_is_named_though_others_were_on_their_way(monojit):
    outcome = monojit("run", KEY, "--repeat", 6, "--no-verify", "--fault", "rank=3,time=2", "--json")
    assert outcome.code == 1
    assert outcome.json()["failure"]["place"] == "step 2, layer 1"
    told = [line for line in outcome.err.splitlines() if line.startswith("monojit: step ")]  # behind notes of a slow build
    assert told[0].startswith("monojit: step 2, layer 1: "), outcome


@pytest.fixture
def launching(monojit):
    """A binary that has a handler for SIGINT from its first launch on: what compiles has one of its own."""
    assert monojit("warm", KEY, "--arch", "gfx950").code == 0
    return monojit


def catches(process, signal_number):
    """Whether the process has a handler for the signal by now."""
    status = dict(line.split(":", 1) for line in open(f"/proc/{process.pid}/status"))
    return int(status["SigCgt"], 16) >> (signal_number - 1) & 1


def test_an_interrupted_run_tells_what_was_compared(launching):
    process = launching.start("run", KEY, "--repeat", 1000, "--json")
    wait_until(lambda: catches(process, signal.SIGINT), "the first launch")
    process.send_signal(signal.SIGINT)
    outcome = launching.finish(process)
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        "monojit: interrupted: ends behind the launches that are on their way; another signal ends it at once",
        "monojit: interrupted behind 1 of 1000 launches: all that they left equals the reference"]
    report = outcome.json()
    assert report["interrupted"] is True
    assert report["verified"] is True
    assert report["launches"] == 1


def test_a_second_signal_ends_a_run_at_once(launching, tmp_path):
    process = launching.start("run", KEY, "--repeat", 1000, "--save", tmp_path / "x")
    wait_until(lambda: catches(process, signal.SIGINT), "the first launch")
    process.send_signal(signal.SIGINT)
    wait_until(lambda: not catches(process, signal.SIGINT), "the first signal")
    process.send_signal(signal.SIGINT)
    assert launching.finish(process).code == -signal.SIGINT
    assert not (tmp_path / "x").exists()


def test_who_watches_replays_on_a_terminal_is_told_how_far_they_are_and_may_interrupt_them(launching, tmp_path):
    terminal, end = pty.openpty()
    process = launching.start_on("run", KEY, "--repeat", 1000, "--save", tmp_path / "x", stderr=end)
    os.close(end)
    with os.fdopen(terminal, errors="replace") as lines:
        assert "of 998 replays: all " in next(lines)
        process.send_signal(signal.SIGINT)
        said = [next(lines) for _ in range(4)]
    out, _ = process.communicate()
    assert process.returncode == 1
    assert "interrupted: ends behind" in said[0]
    assert "interrupted behind " in said[1] and "of 1000 launches: all " in said[1]
    assert "of 998 replays: all " in said[2]
    assert f"{tmp_path / 'x'} is not written" in said[3]
    assert "INTERRUPTED: what was compared equals the host reference" in out
    assert not (tmp_path / "x").exists()
