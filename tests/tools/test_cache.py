"""The cache as the command sees it: hits, damage, folders that can't be used, two at once."""

import pytest
from conftest import KEY, entry_files, refused

# No user, root included, may make files there.
UNWRITABLE = "/proc/self/monojit"


def test_a_second_run_finds_the_kernel_on_disk_and_says_so(monojit):
    first = monojit.run()
    assert first.code == 0, first.err
    assert first.json()["cache"] == "built"
    second = monojit.run()
    assert second.code == 0
    assert second.json()["cache"] == "disk"
    assert second.json()["times_ms"]["codegen"] == 0
    assert "disk" in monojit("run", KEY, "--device", "emulator").out


def test_no_cache_builds_anew_and_stores_nothing(monojit):
    assert monojit.run("--no-cache").json()["cache"] == "built"
    assert monojit.entries() == []


def test_strict_builds_nothing_and_names_the_command_that_would(monojit):
    assert refused(monojit.run("--strict"), "monojit warm", "minimax_m3.k1{")


@pytest.mark.parametrize("kept", [0, 7, 100, -1])
def test_a_truncated_entry_is_warned_of_and_built_anew(monojit, kept):
    assert monojit("warm", KEY, "--arch", "gfx950").code == 0
    (entry,) = entry_files(monojit.cache)
    content = entry.read_bytes()
    entry.write_bytes(content[:kept])
    outcome = monojit.run("--arch", "gfx950")
    assert outcome.code == 0
    assert outcome.json()["cache"] == "built"
    assert outcome.json()["verified"] is True
    assert str(entry) in outcome.err
    assert monojit.run("--arch", "gfx950").json()["cache"] == "disk"


def test_a_damaged_entry_is_never_served(monojit):
    assert monojit("warm", KEY, "--arch", "gfx950").code == 0
    (entry,) = entry_files(monojit.cache)
    content = bytearray(entry.read_bytes())
    content[len(content) // 2] ^= 1
    entry.write_bytes(content)
    assert monojit("cache", "ls", "--json").json()["entries"][0]["problem"]
    outcome = monojit.run("--arch", "gfx950")
    assert outcome.json()["cache"] == "built"
    assert outcome.json()["verified"] is True


def test_a_cache_folder_that_is_a_file_costs_a_warning_and_no_answer(monojit, tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    outcome = monojit.run(MONOJIT_CACHE_DIR=str(file))
    assert outcome.code == 0
    assert outcome.json()["cache"] == "built"
    assert str(file) in outcome.err and "MONOJIT_CACHE_DIR" in outcome.err
    assert file.read_text() == "not a folder"
    for arguments in (("cache", "ls"), ("warm", KEY)):
        assert refused(monojit(*arguments, MONOJIT_CACHE_DIR=str(file)), str(file))


def test_advice_about_the_cache_folder_names_the_flag_that_was_given(monojit, tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    for arguments in (("run", KEY, "--device", "emulator"), ("warm", KEY), ("cache", "ls")):
        outcome = monojit(*arguments, "--cache-dir", file)
        assert "set --cache-dir" in outcome.err and "MONOJIT_CACHE_DIR" not in outcome.err


def test_a_cache_folder_that_can_not_be_written_costs_a_warning_and_no_answer(monojit):
    outcome = monojit.run(MONOJIT_CACHE_DIR=UNWRITABLE)
    assert outcome.code == 0
    assert outcome.json()["verified"] is True
    assert UNWRITABLE in outcome.err
    assert refused(monojit("warm", KEY, MONOJIT_CACHE_DIR=UNWRITABLE), UNWRITABLE)


def test_two_at_once_build_a_key_once(monojit):
    processes = [monojit.start("warm", KEY, "--arch", "gfx950", "--json") for _ in range(2)]
    outcomes = [monojit.finish(process) for process in processes]
    assert [outcome.code for outcome in outcomes] == [0, 0]
    sources = [outcome.json()["kernels"][0]["cache"] for outcome in outcomes]
    assert sorted(sources) == ["built", "disk"]
    assert len(entry_files(monojit.cache)) == 1


def test_warm_says_what_it_built_and_what_was_there(monojit):
    report = monojit("warm", KEY, "minimax_m3.k1{tokens=2}", "--arch", "gfx950", "--json").json()
    assert set(report) == {"arch", "archs", "folder", "kernels", "summary"}
    assert report["arch"] == "gfx950"
    assert [kernel["cache"] for kernel in report["kernels"]] == ["built", "built"]
    assert set(report["kernels"][0]) == {"key", "arch", "cache", "attempts", "error", "times_ms", "resources"}
    assert set(report["kernels"][0]["times_ms"]) == {"emit", "codegen", "link", "store"}
    again = monojit("warm", KEY, "--arch", "gfx950")
    assert again.code == 0
    assert "there already" in again.out


def test_ls_shows_each_entry(warm):
    report = warm("cache", "ls", "--json").json()
    assert set(report) == {"folder", "entries", "total_bytes"}
    (entry,) = report["entries"]
    assert set(entry) == {"digest", "file", "file_bytes", "modified", "problem", "key", "target", "options", "generator",
                          "toolchain", "current", "object_bytes"}
    assert entry["key"].startswith("minimax_m3.k1{tokens=1,index_heads=1")
    assert entry["target"].endswith("gfx950")
    text = warm("cache", "ls").out
    assert "1 entry," in text
    assert entry["digest"][:12] in text and entry["key"] in text


def test_show_finds_an_entry_by_digest_or_key(warm):
    (entry,) = warm.entries()
    for name in (entry["digest"][:8], entry["digest"][:20].upper(), KEY):
        (shown,) = warm("cache", "show", name, "--json").json()["entries"]
        assert shown["digest"] == entry["digest"]
        assert shown["record"]["resources"]["code_bytes"] > 0
        assert shown["record"]["arguments"][0]["name"] == "ar"
    assert entry["digest"] in warm("cache", "show", KEY).out


def test_rm_removes_what_is_named_and_all_removes_the_rest(monojit):
    assert monojit("warm", KEY, "minimax_m3.k1{tokens=2}", "--arch", "gfx950").code == 0
    removed = monojit("cache", "rm", KEY, "--json").json()
    assert removed["removed"] == 1 and removed["failed"] == 0
    (left,) = monojit.entries()
    assert "tokens=2" in left["key"]
    assert monojit("cache", "rm", "--all", "--json").json()["removed"] == 1
    assert monojit.entries() == []


def test_an_entry_that_is_not_there_is_refused(monojit):
    assert refused(monojit("cache", "show", "0123abcd"), "0123abcd")
    assert refused(monojit("cache", "rm", KEY), "not in the cache")


def test_an_empty_cache_is_fine(monojit):
    assert monojit("cache", "ls").code == 0
    assert monojit("cache", "rm", "--all").code == 0
