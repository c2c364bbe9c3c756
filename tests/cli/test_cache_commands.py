"""`monojit cache`: what it shows and removes; what commands say of hits and builds."""

import subprocess

import entries
import pytest
from conftest import KEY, SMALL, TIMEOUT_S, entry_files, refused

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


def test_path_tells_the_folder_and_where_it_comes_from(monojit, tmp_path):
    assert monojit("cache", "path").out == f"{monojit.cache}\n"
    assert monojit("cache", "path", "--json").json()["origin"] == "MONOJIT_CACHE_DIR"
    assert monojit("cache", "path", "--cache-dir", tmp_path, "--json").json()["origin"] == "--cache-dir"
    assert not monojit.cache.exists()


def test_path_is_printed_whatever_is_there(monojit, tmp_path):
    file = tmp_path / "file"
    file.touch()
    assert monojit("cache", "path", "--cache-dir", file).out == f"{file}\n"
    outcome = monojit("cache", "path", "--json", MONOJIT_CACHE_DIR=str(file))
    assert outcome.code == 0 and outcome.err == "" and outcome.json()["folder"] == str(file)
    assert refused(monojit("cache", "ls", "--cache-dir", file), f"{file} is a file")


def test_clear_leaves_nothing_but_counts(two):
    assert two("cache", "clear", "--json").json()["removed"] == 2
    assert entry_files(two.cache) == []
    assert two("cache", "clear").code == 0


def test_an_entrys_control_characters_do_not_reach_the_terminal(monojit, tmp_path):
    assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
    (sound,) = entry_files(monojit.cache)
    text = b"\x1b[31mEVIL\x07\nline2{a=1}"
    evil = {"text": text, "family": b"fam\x1b[2J\xff", "target": b"a\nb", "generator": b"g\x1b", "toolchain": b"t\r"}
    parts = entries.parts_of(sound) | evil
    sound.unlink()
    digest = entries.add_to(monojit.cache, parts).stem
    assert monojit("cache", "pack", "--all", tmp_path / "archive").code == 0
    for command in (["ls"], ["show", digest], ["stats"], ["unpack", tmp_path / "archive", "--list"]):
        done = subprocess.run([monojit.binary, "cache", *command], env=monojit.environment, capture_output=True, timeout=TIMEOUT_S)
        assert done.returncode == 0, done
        assert not set(done.stdout) & {0x07, 0x0D, 0x1B}, command
        if command != ["stats"]:
            assert b"\\x1b[31mEVIL\\x07\\x0aline2{a=1}" in done.stdout and b"a\\x0ab" in done.stdout
    assert monojit.entries()[0]["key"] == text.decode()
