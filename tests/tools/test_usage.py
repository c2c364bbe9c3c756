"""Help, versions and wrong command lines."""

import pytest
from conftest import refused

SUBCOMMANDS = ["run", "dump", "keys", "warm", "cache", "doctor", "bench"]


def test_help_lists_every_subcommand(monojit):
    outcome = monojit("--help")
    assert outcome.code == 0
    assert outcome.err == ""
    for name in SUBCOMMANDS:
        assert f"\n  {name} " in outcome.out


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_has_help_and_says_what_its_options_do(monojit, name):
    outcome = monojit(name, "--help")
    assert outcome.code == 0
    assert outcome.err == ""
    assert len(outcome.out.splitlines()) > 5


@pytest.mark.parametrize("arguments", [("run",), ("dump",), ("keys",), ("warm",), ("cache", "ls"), ("cache", "show"), ("cache", "rm"),
                                       ("doctor",), ("bench",)])
def test_every_subcommand_can_print_json(monojit, arguments):
    assert "--json" in monojit(*arguments, "--help").out


def test_the_version_is_printed(monojit):
    outcome = monojit("--version")
    assert outcome.code == 0
    assert outcome.out.startswith("monojit ")


@pytest.mark.parametrize("arguments, text", [
    ((), "subcommand"),
    (("brew",), "brew"),
    (("run",), "KEY"),
    (("warm",), "KEY"),
    (("keys", "--wat"), "--wat"),
    (("cache",), "subcommand"),
    (("cache", "rm"), "either entries or --all"),
    (("run", "minimax_m3.k1{tokens=1}", "--seed", "many"), "--seed"),
    (("bench", "no_such_benchmark"), "no_such_benchmark"),
    (("dump", "minimax_m3.k1{tokens=1}", "--emit=ir,soup"), "soup"),
])
def test_a_wrong_command_line_is_refused_with_the_part_that_is_wrong(monojit, arguments, text):
    assert refused(monojit(*arguments), text)
