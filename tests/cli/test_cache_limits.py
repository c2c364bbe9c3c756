"""Limits of size and age, what goes first, and counts that outlive processes."""

from conftest import KEY, SECOND, SMALL, debris, refused


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


def test_a_store_keeps_the_folder_within_its_limit(monojit):
    assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
    (entry,) = monojit.entries()
    room = 3 * entry["file_bytes"]
    outcome = monojit("warm", "example.row_norm{rows=1..12,hidden=512}", "--arch", "gfx950", "--jobs", "1", MONOJIT_CACHE_MAX_SIZE=str(room))
    assert "failed 0" in outcome.out
    assert sum(entry["file_bytes"] for entry in monojit.entries()) <= room
    assert debris(monojit.cache) == []


def test_no_count_is_lost_between_processes(monojit):
    assert monojit.get().code == 0
    for _ in range(3):
        processes = [monojit.start("warm", SMALL, "--arch", "gfx950") for _ in range(8)]
        assert all(monojit.finish(process).code == 0 for process in processes)
    (family,) = monojit("cache", "stats", "--json").json()["families"]
    assert (family["disk_hits"], family["misses"], family["builds"]) == (24, 1, 1)


def test_a_warm_of_more_than_the_limit_names_the_limit_once(monojit):
    outcome = monojit("warm", "example.row_norm{rows=3|4|5,hidden=512}", "--arch", "gfx950", MONOJIT_CACHE_MAX_SIZE="1")
    assert outcome.code == 1
    (line,) = [line for line in outcome.warnings if "MONOJIT_CACHE_MAX_SIZE" in line]
    assert "3 of the 3 kernels were removed again" in line and "1 bytes" in line
    assert "strict mode would not serve" not in outcome.err


def test_an_empty_limit_is_refused(monojit):
    for flag in ("--max-size", "--max-age"):
        assert refused(monojit("cache", "trim", flag, ""), flag, "must not be empty")
