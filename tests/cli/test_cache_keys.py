"""What a key holds, and what it must not: the environment, the machine, another build of monojit."""

import json
import random
import subprocess

import entries
import pytest
from conftest import SMALL, TIMEOUT_S, entry_files, refused


def random_environment(seeded, folder):
    """Variables that other programs heed, and some that none does; where a home may be, and where it is not."""
    names = ["ARCH", "DEBUG", "CC", "CXX", "CFLAGS", "CXXFLAGS", "TARGET", "OPT", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "HOSTNAME",
             "PWD", "TERM", "EDITOR", "SOURCE_DATE_EPOCH", "CACHE", "CACHE_DIR", "LLVM", "ROCM_PATH", "HIP_PLATFORM", "STRICT", "JIT", "LLD_VERSION", "CCC_OVERRIDE_OPTIONS", "LLVM_OVERRIDE_PRODUCER", "AMD_COMGR_EMIT_VERBOSE_LOGS",
             "CLANG_CONFIG_FILE_USER_DIR", "COMPILER_PATH", "CPATH", "LIBRARY_PATH", "AMD_COMGR_CACHE", "AMD_COMGR_CACHE_DIR"]
    values = ["", "0", "1", "gfx90a", "gfx942", "-O0", "tr_TR.UTF-8", "C", "Pacific/Auckland", "/nonexistent", "root", "\u00e9", "=", "*"]
    environment = {name: seeded.choice(values) for name in seeded.sample(names, seeded.randint(3, len(names)))}
    environment |= {f"X{seeded.randrange(10**6)}": "y" * seeded.randrange(100) for _ in range(seeded.randrange(4))}
    environment["HOME"] = str(folder / f"home{seeded.randrange(10**6)}")
    return environment


def test_keys_and_code_are_the_same_under_twenty_random_environments(monojit, tmp_path):
    """Warmed here, hit there: whatever else the environment holds."""
    keys = [SMALL, "minimax_m3.k1{tokens=2}"]
    assert monojit("warm", *keys, "--arch", "gfx950").code == 0
    digests = sorted(entry["digest"] for entry in monojit.entries())
    kept = {name: monojit.environment[name] for name in ("MONOJIT_LIBRARY_DIR", "PATH", "LD_LIBRARY_PATH") if name in monojit.environment}
    seeded = random.Random(20)
    for number in range(20):
        environment = kept | random_environment(seeded, tmp_path)
        folder = tmp_path / f"cwd{number}"
        folder.mkdir()

        def run(*arguments):
            return subprocess.run([monojit.binary, *arguments], cwd=folder, env=environment, capture_output=True, text=True,
                                  timeout=TIMEOUT_S)

        hit = run("warm", *keys, "--arch", "gfx950", "--cache-dir", str(monojit.cache), "--json")
        assert hit.returncode == 0, hit.stderr
        assert json.loads(hit.stdout)["summary"]["hit"] == len(keys)
        if number % 5 == 0:  # and what is built there goes by the same names, with the same code
            own = folder / "cache"
            built = run("warm", *keys, "--arch", "gfx950", "--cache-dir", str(own))
            assert built.returncode == 0, built.stderr
            listed = json.loads(run("cache", "ls", "--cache-dir", str(own), "--json").stdout)["entries"]
            assert sorted(entry["digest"] for entry in listed) == digests
            for entry in listed:
                here, there = (entries.parts_of(where / "entries" / entry["digest"][:2] / (entry["digest"] + ".mono"))
                               for where in (own, monojit.cache))
                assert here["code_object"] == there["code_object"]
                records = [json.loads(part["metadata"]) | {"times_ms": None} for part in (here, there)]
                assert records[0] == records[1]


@pytest.mark.parametrize("assignment", ["LLVM_OVERRIDE_PRODUCER=x", "AMD_COMGR_EMIT_VERBOSE_LOGS=1"])
def test_what_llvm_and_comgr_take_from_the_environment_is_in_no_record(monojit, tmp_path, assignment):
    environment = dict([assignment.split("=")])
    other = tmp_path / "other"
    assert monojit.get().json()["cache"] == "built"
    assert monojit.get(SMALL, "--cache-dir", other, **environment).json()["cache"] == "built"
    first, second = (json.loads(entries.parts_of(entry_files(folder)[0])["metadata"]) for folder in (monojit.cache, other))
    assert first | {"times_ms": None} == second | {"times_ms": None} and first["warnings"] == []
    ir = monojit("dump", SMALL, "--arch", "gfx950", "--emit=ir", "--json", **environment)
    assert ir.json()["cache"] == "disk" and ir.err == ""


def test_kernels_that_differ_in_a_field_or_a_chip_share_no_entry(monojit):
    pattern = "example.row_norm{rows=1..3,hidden=512|1024,eps=1e-5|1e-6}"
    assert monojit("warm", pattern, "--arch", "gfx950,gfx942").code == 0
    listed = monojit.entries()
    assert len(listed) == len({entry["digest"] for entry in listed}) == 3 * 2 * 2 * 2
    assert len({(entry["key"], entry["target"]) for entry in listed}) == len(listed)


@pytest.fixture(params=["generator", "toolchain"])
def other_release(request, monojit):
    """A cache with SMALL of this build, and of one with another generator or compiler; gives that entry's file."""
    assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
    (own,) = entry_files(monojit.cache)
    parts = entries.parts_of(own)
    assert entries.digest_of(parts) == own.stem
    changed = {"generator": b"0" * 64, "toolchain": b"llvm-21.0.0/comgr-3.0"}[request.param]
    other = entries.add_to(monojit.cache, parts | {request.param: changed})
    own.unlink()
    return other


def test_an_entry_of_another_generator_or_compiler_misses(monojit, other_release):
    outcome = monojit.get()
    assert outcome.json()["cache"] == "built" and outcome.warnings == []
    assert len(entry_files(monojit.cache)) == 2


def test_an_entry_of_another_generator_or_compiler_is_listed_shown_removed_and_trimmed(monojit, other_release):
    assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
    assert sorted(entry["current"] for entry in monojit.entries()) == [False, True]
    assert "of another release" in monojit("cache", "ls").out
    assert monojit("cache", "show", SMALL).out.count("of another release") == 1
    assert other_release.stem in monojit("cache", "show", other_release.stem[:16]).out
    assert monojit("cache", "trim", "--json").json()["removed"] == 0
    assert monojit("cache", "trim", "--stale", "--json").json()["removed"] == 1
    assert not other_release.exists() and len(entry_files(monojit.cache)) == 1


def test_one_of_another_release_can_be_removed_by_its_digest(monojit, other_release):
    assert monojit("cache", "rm", other_release.stem, "--json").json()["removed"] == 1
    assert monojit.entries() == []


def test_strict_mode_tells_another_releases_kernel_from_a_miss(monojit, other_release):
    other = entries.parts_of(other_release)
    outcome = monojit.run("--strict", "--arch", "gfx950", key=SMALL)
    assert refused(outcome, "only of another release", other["generator"].decode()[:12], other["toolchain"].decode(), "monojit warm")
    missing = monojit.run("--strict", "--arch", "gfx950", key="example.row_norm{rows=5,hidden=512}")
    assert refused(missing, "monojit warm") and "another release" not in missing.err
