"""`monojit env` and `monojit completion`."""

import os
import subprocess
from pathlib import Path

import pytest
from conftest import SMALL, TIMEOUT_S, refused


def variables(monojit, **environment):
    return {each["name"]: each for each in monojit("env", "--json", **environment).json()["variables"]}


def test_env_lists_every_variable_with_meaning_default_value_and_origin(monojit):
    listed = variables(monojit, MONOJIT_EMULATOR_SEED="7", MONOJIT_EMULATOR_THREADS="")
    assert {"MONOJIT_CACHE_DIR", "MONOJIT_HIP_LIBRARY", "MONOJIT_COMGR_LIBRARY", "MONOJIT_LIBRARY_DIR"} <= set(listed)
    for each in listed.values():
        assert set(each) == {"name", "meaning", "default", "value", "origin"}
        assert each["meaning"] and each["default"]
    assert (listed["MONOJIT_CACHE_DIR"]["value"], listed["MONOJIT_CACHE_DIR"]["origin"]) == (str(monojit.cache), "environment")
    assert (listed["MONOJIT_EMULATOR_SEED"]["value"], listed["MONOJIT_EMULATOR_SEED"]["origin"]) == ("7", "environment")
    assert (listed["MONOJIT_EMULATOR_THREADS"]["value"], listed["MONOJIT_EMULATOR_THREADS"]["origin"]) == (None, "default")
    text = monojit("env").out
    assert all(name in text for name in listed)


def test_env_says_which_variable_gives_the_cache_folder(monojit):
    assert variables(monojit, MONOJIT_CACHE_DIR="", XDG_CACHE_HOME="/x")["MONOJIT_CACHE_DIR"] | {"meaning": "", "default": ""} == {
        "name": "MONOJIT_CACHE_DIR", "meaning": "", "default": "", "value": "/x/monojit/kernels", "origin": "XDG_CACHE_HOME"}
    assert variables(monojit, MONOJIT_CACHE_DIR="", XDG_CACHE_HOME="", HOME="/h")["MONOJIT_CACHE_DIR"]["origin"] == "HOME"


def test_env_shows_no_control_characters_of_a_value(monojit):
    assert "/a\\x1b[31m\\x0ab" in monojit("env", MONOJIT_CACHE_READONLY="/a\x1b[31m\nb").out
    assert variables(monojit, MONOJIT_CACHE_READONLY="/a\nb")["MONOJIT_CACHE_READONLY"]["value"] == "/a\nb"


@pytest.mark.parametrize("url", ["redis://me:geheim@host:1/2", "http://me:geheim@host/a?readonly"])
def test_env_hides_user_and_password_of_the_remote(monojit, url):
    shown = variables(monojit, MONOJIT_CACHE_REMOTE=url)["MONOJIT_CACHE_REMOTE"]["value"]
    assert "***@host" in shown and "me:" not in shown
    assert "geheim" not in shown + monojit("env", MONOJIT_CACHE_REMOTE=url).out
    assert variables(monojit, MONOJIT_CACHE_REMOTE="redis://host:1/2")["MONOJIT_CACHE_REMOTE"]["value"] == "redis://host:1/2"


@pytest.mark.parametrize("url", ["me:geheim@host", "redis://me:ge/h?geheim@host", "redis://host?password=geheim", "redis://geheim:geheim"])
def test_env_shows_nothing_of_a_remote_that_can_not_be_read_and_says_that_it_is_not_used(monojit, url):
    assert variables(monojit, MONOJIT_CACHE_REMOTE=url)["MONOJIT_CACHE_REMOTE"]["value"] == "***"
    outcome = monojit("env", MONOJIT_CACHE_REMOTE=url)
    assert "geheim" not in outcome.out + outcome.err
    assert "MONOJIT_CACHE_REMOTE is not used" in outcome.err


@pytest.mark.parametrize("name, value, said", [
    ("MONOJIT_CACHE_MAX_SIZE", "many", "MONOJIT_CACHE_MAX_SIZE=many is not used: it wants a size"),
    ("MONOJIT_CACHE_MAX_AGE", "-1", "MONOJIT_CACHE_MAX_AGE=-1 is not used"),
    ("MONOJIT_CACHE_UMASK", "0o22", "MONOJIT_CACHE_UMASK=0o22 is not used"),
    ("MONOJIT_EMULATOR_MEMORY", "wild", "MONOJIT_EMULATOR_MEMORY=wild: not understood"),
])
def test_env_says_which_values_are_not_in_force(monojit, name, value, said):
    assert said in monojit("env", **{name: value}).err
    problems = monojit("env", "--json", **{name: value}).json()["problems"]
    assert len(problems) == 1 and said in problems[0]
    assert monojit("env", "--json").json()["problems"] == []


def problems(monojit, **environment):
    outcome = monojit("env", "--json", **environment)
    assert outcome.code == 0
    found = outcome.json()["problems"]
    assert monojit("env", **environment).err.splitlines() == ["monojit: " + each for each in found]
    return found


def test_env_says_what_is_wrong_with_the_folders_that_are_named(monojit, tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    own = problems(monojit, MONOJIT_CACHE_DIR=str(file))
    assert own == [f"cache folder {file} is a file: caching is off (set MONOJIT_CACHE_DIR)"]
    assert own[0] in monojit.get(SMALL, MONOJIT_CACHE_DIR=str(file)).err
    below = problems(monojit, MONOJIT_CACHE_DIR=str(file / "below"))
    assert len(below) == 1 and f"{file} is a file" in below[0]
    read_only = problems(monojit, MONOJIT_CACHE_READONLY=f"{file}:{tmp_path}:/nowhere")
    assert [line.split(":")[0] for line in read_only] == [f"read-only cache {file} is no archive of kernels (wrong first bytes)",
                                                          "read-only cache /nowhere can't be opened (No such file or directory)"]
    assert not monojit.cache.exists()


def test_env_says_when_there_is_no_folder_and_why(monojit):
    nowhere = {"MONOJIT_CACHE_DIR": "", "HOME": "", "XDG_CACHE_HOME": ""}
    missing = "no cache folder: caching is off (set MONOJIT_CACHE_DIR)"
    assert problems(monojit, **nowhere) == [missing]
    relative = "XDG_CACHE_HOME=here is not used: it wants an absolute path"
    assert problems(monojit, **nowhere | {"XDG_CACHE_HOME": "here"}) == [relative, missing]
    assert problems(monojit, **nowhere | {"XDG_CACHE_HOME": "here", "HOME": "/"}) == [relative]
    assert problems(monojit, XDG_CACHE_HOME="here") == []


@pytest.mark.parametrize("name", ["MONOJIT_HIP_LIBRARY", "MONOJIT_COMGR_LIBRARY"])
def test_env_says_which_library_can_not_be_loaded(monojit, tmp_path, name):
    file = tmp_path / "libtext.so"
    file.write_text("x")
    os.mkfifo(tmp_path / "pipe")
    assert problems(monojit, **{name: "/nonexistent/lib.so"}) == [f"{name}=/nonexistent/lib.so can't be opened (No such file or directory)"]
    assert problems(monojit, **{name: str(file)}) == [f"{name}={file} is no library"]
    assert problems(monojit, **{name: str(tmp_path / "pipe")}) == [f"{name}={tmp_path / 'pipe'} is not a regular file"]
    assert problems(monojit, **{name: "libfound_by_the_loader.so"}) == []


@pytest.mark.parametrize("command", [("env",), ("keys",), ("cache", "ls")])
def test_a_variable_that_means_nothing_is_warned_of_with_the_one_that_may_be_meant(monojit, command):
    outcome = monojit(*command, MONOJIT_CACHE_DRI="/tmp", MONOJIT_BOX="1")
    assert outcome.code == 0
    assert "MONOJIT_CACHE_DRI means nothing to monojit: is MONOJIT_CACHE_DIR meant?" in outcome.err
    assert "MONOJIT_BOX means nothing to monojit (monojit env lists its variables)" in outcome.err
    assert monojit(*command).err == ""


def test_unknown_variables_are_in_the_json_too(monojit):
    assert monojit("env", "--json", MONOJIT_COMGR_LIBARY="x").json()["unknown"] == [
        {"name": "MONOJIT_COMGR_LIBARY", "nearest": "MONOJIT_COMGR_LIBRARY"}]


def completed(monojit, *words):
    """What bash offers behind these words, of which the last is being typed."""
    script = monojit("completion", "bash").out
    asked = f"{script}\nCOMP_WORDS=(monojit {' '.join(repr(word) for word in words)}); COMP_CWORD={len(words)}; _monojit; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    path = f"{Path(monojit.binary).parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "--norc", "-c", asked], env=monojit.environment | {"PATH": path}, capture_output=True, text=True,
                          timeout=TIMEOUT_S)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize("words, expected", [
    (("wa",), ["warm"]),
    (("cache", "l"), ["ls"]),
    (("warm", "--sh"), ["--shard"]),
    (("warm", "--arch", "gfx95"), ["gfx950"]),
    (("warm", "--arch", "gfx950,gfx94"), ["gfx950,gfx942"]),
    (("warm", "--file", ""), []),
    (("run", "--cache-dir", ""), []),
    (("cached",), []),
    (("warm", "--model", ""), ["kimi_k3", "minimax_m3"]),
    (("run", "mini"), ["minimax_m3.k1"]),
    (("keys", "kimi"), ["kimi_k3.k2"]),
    (("dump", "--emit", "opt"), ["opt-ir"]),
    (("dump", SMALL, "--emit", "isa,f"), []),
    (("diff", "--emit", "isa,f"), ["isa,fields"]),
    (("cache", "unpack", ""), []),
    (("cache", "unpack", "--li"), ["--list"]),
    (("dump", "--emit", "=", "i"), ["ir", "isa"]),  # as bash has it, for which = breaks words
    (("dump", "--emit", "="), ["ir", "opt-ir", "isa", "metadata", "resources", "layout"]),
    (("dump", "--emit=i"), ["--emit=ir", "--emit=isa"]),
    (("dump", "--emit=isa,i"), ["--emit=isa,ir"]),
    (("warm", "--arch", "gfx950,"), ["gfx950,gfx942"]),
    (("completion", ""), ["--help", "bash", "zsh"]),
    (("completion", "z"), ["zsh"]),
])
def test_bash_completes_subcommands_options_values_and_kernels(monojit, words, expected):
    assert completed(monojit, *words) == expected


def test_digests_of_entries_are_completed(warm, tmp_path):
    (entry,) = warm.entries()
    digest = entry["digest"][:12]
    assert completed(warm, "cache", "show", digest[:3]) == [digest]
    assert digest in completed(warm, "cache", "rm", "")
    assert completed(warm, "cache", "rm", "--al") == ["--all"]
    assert completed(warm, "cache", "show", "--cache-dir", str(tmp_path), digest[:3]) == []


def test_digests_are_those_of_the_folder_that_is_named_in_any_form(monojit, warm_cache, tmp_path):
    (digest,) = (file.name[:12] for file in warm_cache.rglob("*.mono"))
    for words in (("--cache-dir", str(warm_cache)), (f"--cache-dir={warm_cache}",), ("--cache-dir", "=", str(warm_cache))):
        assert completed(monojit, "cache", "show", *words, digest[:3]) == [digest]
        assert completed(monojit, "cache", *words, "show", digest[:3]) == [digest]
    assert completed(monojit, "cache", "show", f"--cache-dir={tmp_path}", digest[:3]) == []


def test_digests_are_completed_behind_the_archive_that_they_are_packed_into(warm):
    (entry,) = warm.entries()
    digest = entry["digest"][:12]
    assert completed(warm, "cache", "pack", "") == []  # files are the shell's
    for words in (("out",), ("out", "--json"), ("--cache-dir", str(warm.cache), "out"), ("out", digest)):
        assert completed(warm, "cache", "pack", *words, digest[:3]) == [digest]
    assert completed(warm, "cache", "pack", "--cache-dir", str(warm.cache), "") == []


def test_every_subcommand_is_completed(monojit):
    offered = completed(monojit, "")
    for name in ("run", "dump", "diff", "keys", "warm", "cache", "doctor", "env", "completion", "bench", "emulate"):
        assert name in offered


def test_the_script_for_zsh_is_one_for_zsh(monojit):
    script = monojit("completion", "zsh").out
    assert script.startswith("#compdef monojit\n")
    assert "'warm:Build kernels into the cache" in script
    zsh = subprocess.run(["sh", "-c", "command -v zsh"], capture_output=True, text=True, check=False).stdout.strip()
    if not zsh:
        pytest.skip("zsh is not here to read it")
    assert subprocess.run([zsh, "-n"], input=script, capture_output=True, text=True, timeout=TIMEOUT_S).returncode == 0


def test_another_shell_is_refused(monojit):
    assert refused(monojit("completion", "fish"), "fish")
