"""Cache folders of which a part is something else, or can't be read: said by its own name, and healed."""

import os
import subprocess

import pytest
from conftest import SMALL, TIMEOUT_S, entry_files

NOBODY = 65534


@pytest.fixture(params=["shard", "entries", "tmp", "locks"])
def stray(request, monojit):
    """A file in the place of one of the folders of a cache that had SMALL's entry."""
    assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
    (entry,) = entry_files(monojit.cache)
    place = entry.parent if request.param == "shard" else monojit.cache / request.param
    subprocess.run(["rm", "-r", place], check=True)
    place.write_text("stray")
    return place


def test_a_warm_replaces_what_is_in_the_place_of_a_folder(monojit, stray):
    assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
    assert monojit("cache", "verify").code == 0
    assert stray.is_dir() or not stray.exists()
    assert monojit.get().json()["cache"] == "disk"


def test_verify_names_it_and_removes_it_on_request(monojit, stray):
    found = monojit("cache", "verify")
    assert found.code == 1 and f"{stray} is in the place" in found.out
    assert monojit("cache", "verify", "--json").json()["strays"] == [str(stray)]
    assert monojit("cache", "verify", "--remove").code == 0
    assert not stray.exists()


@pytest.mark.parametrize("command", [("clear",), ("rm", "--all"), ("trim", "--stale")])
def test_what_removes_entries_removes_it(monojit, stray, command):
    assert monojit("cache", *command).code == 0
    assert not stray.exists()


def test_a_folder_in_the_place_of_a_lock_is_replaced(monojit):
    assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
    (entry,) = entry_files(monojit.cache)
    entry.unlink()
    (monojit.cache / "locks" / f"{entry.stem}.lock").mkdir(parents=True)
    outcome = monojit.get()
    assert outcome.json()["cache"] == "built" and outcome.warnings == []
    assert list((monojit.cache / "locks").iterdir()) == []


@pytest.mark.parametrize("own", ["counters", "trimmed"])
def test_a_folder_in_the_place_of_a_file_of_the_cache_costs_no_line_and_gives_way(monojit, own):
    monojit.cache.mkdir()
    (monojit.cache / own).mkdir()
    os.utime(monojit.cache / own, (1, 1))
    assert f"{own} is in the place" in monojit("cache", "verify").out
    outcome = monojit.get(MONOJIT_CACHE_MAX_SIZE="1G")
    assert outcome.json()["cache"] == "built" and outcome.warnings == []
    assert (monojit.cache / own).is_file()
    assert monojit("cache", "stats", "--json").json()["families"][0]["builds"] == 1
    assert monojit("cache", "verify").code == 0


@pytest.mark.parametrize("own", ["counters", "trimmed"])
def test_one_with_something_in_it_stays_until_its_removal_is_asked_for(monojit, own):
    (monojit.cache / own / "below").mkdir(parents=True)
    for expected in ("built", "disk"):
        outcome = monojit.get(MONOJIT_CACHE_MAX_SIZE="1G")
        assert outcome.json()["cache"] == expected and outcome.warnings == []
    assert (monojit.cache / own / "below").is_dir()
    assert monojit("cache", "stats").code == 0
    assert monojit("cache", "verify", "--json").json()["strays"] == [str(monojit.cache / own)]
    assert monojit("cache", "verify", "--remove").code == 0
    assert not (monojit.cache / own).exists()


def as_nobody(monojit, *arguments):
    """The command as a user who may not read the cache."""
    done = subprocess.run([monojit.binary, *map(str, arguments)], env=monojit.environment, capture_output=True, text=True, timeout=TIMEOUT_S,
                          preexec_fn=lambda: os.setuid(NOBODY))
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def unreadable(monojit, tmp_path):
    """The cache of another user, on a way that all may go."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    try:
        assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
        for folder in (tmp_path, *tmp_path.parents):
            if folder.stat().st_uid == 0 and folder.stat().st_mode & 0o055 != 0o055:
                folder.chmod(folder.stat().st_mode | 0o055)
        subprocess.run([monojit.binary, "--version"], check=True, capture_output=True, preexec_fn=lambda: os.setuid(NOBODY))
    except (OSError, subprocess.SubprocessError):
        pytest.skip("this root can't become another user here")
    return monojit.cache


@pytest.mark.parametrize("command", [("verify",), ("rm", "--all"), ("trim",), ("ls",), ("stats",), ("clear",)])
def test_a_cache_that_can_not_be_read_does_not_pass_for_an_empty_one(monojit, unreadable, command):
    code, _, err = as_nobody(monojit, "cache", *command)
    assert code == 1
    assert str(unreadable) in err and "Permission denied" in err


def test_a_cache_that_can_not_be_read_is_not_packed(monojit, unreadable, tmp_path):
    tmp_path.chmod(0o777)
    code, out, err = as_nobody(monojit, "cache", "pack", tmp_path / "archive", "--all")
    assert code == 1 and out == "" and "Permission denied" in err
    assert not (tmp_path / "archive").exists()
