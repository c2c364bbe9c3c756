"""Commands that look after the cache: trim, clear, verify, stats, path; limits and what survives processes."""

import os
import time

import pytest
from conftest import KEY, entry_files, refused

SECOND = "minimax_m3.k1{tokens=2}"


@pytest.fixture
def two(monojit):
    """A folder with two entries, the first used a day ago."""
    assert monojit("warm", KEY, SECOND, "--arch", "gfx950").code == 0
    old = monojit("cache", "show", KEY, "--json").json()["entries"][0]["file"]
    day_ago = time.time() - 86400
    os.utime(old, (day_ago, day_ago))
    return monojit


def keys(monojit):
    return ["tokens=2" in entry["key"] and SECOND or KEY for entry in monojit.entries()]


def test_trim_removes_what_was_used_least_recently(two):
    sizes = [entry["file_bytes"] for entry in two.entries()]
    report = two("cache", "trim", "--max-size", sum(sizes) - 1, "--json").json()
    assert set(report) == {"folder", "max_bytes", "max_age_s", "removed", "removed_bytes", "failed", "kept", "kept_bytes"}
    assert report["removed"] == 1 and report["kept"] == 1
    assert report["removed_bytes"] + report["kept_bytes"] == sum(sizes)
    assert keys(two) == [SECOND]


def test_trim_removes_what_is_too_old(two):
    assert "removed 1 entry" in two("cache", "trim", "--max-age", "12h").out
    assert keys(two) == [SECOND]


def test_trim_takes_its_limits_from_the_environment(two):
    assert two("cache", "trim", "--json").json()["removed"] == 0
    assert two("cache", "trim", "--json", MONOJIT_CACHE_MAX_AGE="1h").json()["removed"] == 1


def test_a_hit_keeps_an_entry_from_being_trimmed(two):
    assert two.run("--arch", "gfx950").json()["cache"] == "disk"
    assert two("cache", "trim", "--max-age", "12h", "--json").json()["removed"] == 0


def test_a_limit_that_is_none_is_refused(monojit):
    assert refused(monojit("cache", "trim", "--max-size", "lots"), "lots", "500M")
    assert refused(monojit("cache", "trim", "--max-age", "3y"), "3y", "30d")


def test_a_variable_that_means_nothing_is_warned_of_and_costs_no_answer(monojit):
    outcome = monojit.run(MONOJIT_CACHE_MAX_SIZE="lots")
    assert outcome.json()["cache"] == "built"
    assert "MONOJIT_CACHE_MAX_SIZE=lots is not used" in outcome.err


def test_trim_stale_removes_what_is_unusable_and_keeps_the_rest(two):
    damaged = two.entries()[0]
    with open(damaged["file"], "r+b") as file:
        file.truncate(100)
    assert two("cache", "trim", "--stale", "--json").json()["removed"] == 1
    (left,) = two.entries()
    assert left["digest"] != damaged["digest"] and left["current"] is True


def test_clear_leaves_nothing_but_counts(two):
    assert two("cache", "clear", "--json").json()["removed"] == 2
    assert entry_files(two.cache) == []
    assert two("cache", "clear").code == 0


def test_verify_names_the_unusable_and_removes_them_on_request(two):
    fine = two("cache", "verify", "--json")
    assert fine.code == 0 and fine.json()["unusable"] == [] and fine.json()["entries"] == 2
    damaged = two.entries()[0]["file"]
    with open(damaged, "r+b") as file:
        file.seek(200)
        file.write(b"\0\0\0\0\0\0\0\0")
    found = two("cache", "verify")
    assert found.code == 1 and damaged in found.out and "checksum" in found.out
    assert two("cache", "verify", "--remove", "--json").json()["removed"] == 1
    assert two("cache", "verify").code == 0


def test_stats_count_what_processes_did(monojit):
    assert monojit("warm", KEY, SECOND, "--arch", "gfx950").code == 0
    assert monojit("warm", KEY, "--arch", "gfx950").code == 0
    report = monojit("cache", "stats", "--json").json()
    assert set(report) == {"folder", "max_bytes", "max_age_s", "families"}
    (family,) = report["families"]
    assert set(family) == {"family", "entries", "bytes", "disk_hits", "read_only_hits", "remote_hits", "misses", "builds",
                           "bytes_read", "bytes_stored"}
    assert family["family"] == "minimax_m3.k1"
    assert family["entries"] == 2 and family["builds"] == 2 and family["misses"] == 2 and family["disk_hits"] == 1
    assert family["bytes"] > family["bytes_stored"] > family["bytes_read"] > 0
    assert "minimax_m3.k1" in monojit("cache", "stats", "--reset").out
    (family,) = monojit("cache", "stats", "--json").json()["families"]
    assert family["entries"] == 2 and family["builds"] == 0


def test_path_tells_the_folder_and_where_it_comes_from(monojit, tmp_path):
    assert monojit("cache", "path").out == f"{monojit.cache}\n"
    assert monojit("cache", "path", "--json").json()["origin"] == "MONOJIT_CACHE_DIR"
    assert monojit("cache", "path", "--cache-dir", tmp_path, "--json").json()["origin"] == "--cache-dir"
    assert not monojit.cache.exists()


def test_other_users_are_let_in_by_the_umask_variable_alone(monojit):
    assert monojit("warm", KEY, MONOJIT_CACHE_UMASK="027").code == 0
    (entry,) = entry_files(monojit.cache)
    assert entry.stat().st_mode & 0o777 == 0o640 and entry.parent.stat().st_mode & 0o777 == 0o750
    assert monojit("cache", "clear").code == 0
    assert monojit("warm", KEY).code == 0
    (entry,) = entry_files(monojit.cache)
    assert entry.stat().st_mode & 0o777 == 0o600
