"""Help, versions and wrong command lines."""

import pytest
from conftest import refused

SUBCOMMANDS = ["run", "dump", "diff", "keys", "warm", "cache", "doctor", "env", "completion", "bench", "emulate"]


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


@pytest.mark.parametrize("arguments", [("run",), ("dump",), ("diff",), ("env",), ("keys",), ("warm",), ("cache", "ls"), ("cache", "show"), ("cache", "rm"),
                                       ("doctor",), ("bench",), ("emulate",)])
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
    (("emulate",), "FILE"),
    (("keys", "--wat"), "--wat"),
    (("cache",), "subcommand"),
    (("cache", "nope"), "nope"),
    (("cache", "rm"), "either entries or --all"),
    (("run", "minimax_m3.k1{tokens=1}", "--seed", "many"), "--seed"),
    (("run", "minimax_m3.k1{tokens=1}", "--seed", "0x10"), "'0x10' is no decimal number"),
    (("run", "minimax_m3.k1{tokens=1}", "--seed", "-1"), "'-1' is no decimal number"),
    (("run", "minimax_m3.k1{tokens=1}", "--seed", "18446744073709551616"), "is no decimal number"),
    (("run", "minimax_m3.k1{tokens=1}", "--arch", "gfx1100"), "--arch: kernels can't be built for 'gfx1100'"),
    (("bench", "("), "'(' is no valid regular expression"),
    (("dump", "minimax_m3.k1{tokens=1}", "--emit=isa,"), "a name is missing"),
    (("dump", "minimax_m3.k1{tokens=1}", "--emit=,"), "a name is missing"),
    (("cache", "show", ""), "must not be empty"),
    (("cache", "rm", ""), "must not be empty"),
    (("bench", "no_such_benchmark"), "no_such_benchmark"),
    (("dump", "minimax_m3.k1{tokens=1}", "--emit=ir,soup"), "soup"),
])
def test_a_wrong_command_line_is_refused_with_the_part_that_is_wrong(monojit, arguments, text):
    assert refused(monojit(*arguments), text)


@pytest.mark.parametrize("command, option", [
    ("run", "--save"), ("run", "--inputs"), ("run", "--arch"), ("run", "--cache-dir"), ("run", "--seed"), ("run", "--device"), ("run", "--layers"), ("run", "--repeat"),
    ("run", "--ranks"),
    ("dump", "--output"), ("dump", "--emit"), ("warm", "--cache-dir")])
def test_an_empty_value_is_refused(monojit, command, option):
    assert refused(monojit(command, "minimax_m3.k1{tokens=1}", option, ""), option)
