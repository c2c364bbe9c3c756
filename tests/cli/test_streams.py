"""Standard streams that can't be written."""

import subprocess

import pytest
from conftest import KEY, TIMEOUT_S

FULL = "No space left on device"


def shell(monojit, redirection, *arguments):
    """The command with streams redirected by a shell."""
    return subprocess.run(["sh", "-c", f'"$0" "$@" {redirection}', monojit.binary, *arguments], capture_output=True, text=True,
                          env=monojit.environment, timeout=TIMEOUT_S)


@pytest.mark.parametrize("arguments", [
    ("--help",), ("--version",), ("run", "--help"), ("keys",), ("keys", "--json"), ("cache", "ls"), ("cache", "show", KEY),
    ("cache", "ls", "--json"), ("doctor",), ("warm", KEY), ("dump", KEY), ("run", KEY, "--device", "emulator", "--json"),
    ("bench", "cache.memory_hit")])
def test_a_result_that_can_not_be_written_is_a_failure(warm, arguments):
    outcome = shell(warm, "> /dev/full", *arguments)
    assert outcome.returncode == 1
    assert outcome.stderr.splitlines()[-1] == f"monojit: can't write the result: {FULL}"


def test_a_closed_stdout_is_a_failure(warm):
    outcome = shell(warm, ">&-", "keys")
    assert outcome.returncode == 1
    assert outcome.stderr == "monojit: can't write the result: Bad file descriptor\n"


@pytest.mark.parametrize("redirection", ["2> /dev/full", "2>&-"])
def test_a_message_that_can_not_be_written_changes_nothing_else(warm, redirection):
    assert shell(warm, redirection, "keys", "no_such_kernel").returncode == 2
    assert shell(warm, redirection, "--wat").returncode == 2
    outcome = shell(warm, redirection, "run", KEY, "--json")
    assert outcome.returncode == 0
    assert '"verified": true' in outcome.stdout
