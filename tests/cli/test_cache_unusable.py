"""Sealed entries that no device would load: never served, passed over where nothing may be built, else built anew once."""

import json
import random
import re
from pathlib import Path

import entries
import pytest
from conftest import SMALL, Monojit, entry_files, refused

OTHER = "example.row_norm{rows=5,hidden=512}"
AMDGPU_HEADER = b"\x7fELF\x02\x01" + bytes(10) + b"\x03\x00\xe0\x00" + bytes(44)
CHANGES = 24
SEED = 5


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Parts of the entries of SMALL for both chips and of OTHER."""
    import os

    def parts(key, arch):
        monojit = Monojit(os.environ["MONOJIT_BINARY"], tmp_path_factory.mktemp("sound"))
        assert monojit("warm", key, "--arch", arch).code == 0
        (file,) = entry_files(monojit.cache)
        return entries.parts_of(file)

    return {"small": parts(SMALL, "gfx950"), "gfx942": parts(SMALL, "gfx942"), "other": parts(OTHER, "gfx950")}


def renamed(code, which):
    """The code object with one of the places that have the kernel's name changed."""
    name = b"example_row_norm_"
    at = -1
    for _ in range(which + 1):
        at = code.index(name, at + 1)
    return code[:at] + b"E" + code[at + 1:]


def lying(metadata, case):
    """The record with one thing that its code object says otherwise."""
    record = json.loads(metadata)
    if case == "symbol":
        record["symbol"] += "\0hidden"
    elif case == "argument":
        record["arguments"][0]["offset"] += 8
    elif case == "ir_digest":
        record["ir_digest"] = "none"
    elif case == "kernarg_bytes":
        record["kernarg_bytes"] += 8
    else:
        record["resources"][case] += 1
    return json.dumps(record).encode()


def unusable(sound, case):
    """SMALL's entry for gfx950 with parts that are not its own."""
    small = sound["small"]
    if case in LIES:
        return small | {"metadata": lying(small["metadata"], case)}
    if case == "header":
        return small | {"code_object": AMDGPU_HEADER}
    if case == "chip":
        return small | {part: sound["gfx942"][part] for part in ("metadata", "code_object")}
    if case == "kernel":
        return small | {"code_object": sound["other"]["code_object"]}
    if case == "kernel and record":
        return small | {part: sound["other"][part] for part in ("metadata", "code_object")}
    if case == "record":
        return small | {"metadata": b"garbage"}
    if case == "program":
        return small | {"code_object": Path("/bin/true").read_bytes()}
    if case == "text":
        return small | {"code_object": b"a text"}
    return small | {"code_object": renamed(small["code_object"], int(case.removeprefix("name ")))}


RESOURCES = ["vgpr", "agpr", "sgpr", "lds_bytes", "scratch_bytes", "vgpr_spills", "sgpr_spills", "code_bytes"]
LIES = [*RESOURCES, "kernarg_bytes", "symbol", "argument", "ir_digest"]
CASES = ["header", "chip", "kernel", "kernel and record", "record", "program", "text", "lds_bytes", "kernarg_bytes"]


def names_of(sound):
    return [f"name {i}" for i in range(sound["small"]["code_object"].count(b"example_row_norm_"))]


@pytest.mark.parametrize("case", CASES)
def test_verify_names_what_no_device_would_load(monojit, sound, case):
    entries.add_to(monojit.cache, unusable(sound, case))
    outcome = monojit("cache", "verify")
    assert outcome.code == 1 and "can't be loaded" in outcome.out


@pytest.mark.parametrize("case", LIES)
def test_a_record_that_says_otherwise_than_its_code_object_is_not_believed(monojit, sound, case):
    entries.add_to(monojit.cache, unusable(sound, case))
    verified = monojit("cache", "verify")
    assert verified.code == 1 and "its record" in verified.out
    assert refused(strict(monojit), "its record", "it is not used", "run monojit warm '")
    again = monojit.run("--arch", "gfx950", key=SMALL)
    assert again.code == 0 and again.json()["cache"] == "built" and again.err.count("building it anew") == 1
    (file,) = entry_files(monojit.cache)
    rebuilt = json.loads(entries.parts_of(file)["metadata"])
    first = json.loads(sound["small"]["metadata"])
    assert {**rebuilt, "times_ms": None} == {**first, "times_ms": None}


WRONG_NUMBERS = {
    "beyond 32 bits": lambda true: true + 2**32,
    "negative": lambda true: true - 2**32,
    "a fraction": lambda true: true + 0.5,
    "whole, as a fraction": lambda true: f"{true}.0",
    "huge": lambda true: "1e300",
    "true": lambda true: "true",
}


def unusable_record(monojit, sound, text, why):
    """Whether a sealed entry with this record is named by verify, and built anew where it is wanted."""
    entries.add_to(monojit.cache, sound["small"] | {"metadata": text.encode()})
    verified = monojit("cache", "verify")
    again = monojit.get()
    return verified.code == 1 and why in verified.out and again.json()["cache"] == "built" and why in again.err


@pytest.mark.parametrize("number", ["code_bytes", "kernarg_bytes", "offset"])
@pytest.mark.parametrize("case", WRONG_NUMBERS)
def test_a_number_that_is_none_of_a_records_is_not_taken_for_the_one_that_it_would_be_cut_to(monojit, sound, case, number):
    text = sound["small"]["metadata"].decode()
    value = re.search(f'"{number}":[0-9]+', text)[0]
    digits = value.split(":")[1]
    assert unusable_record(monojit, sound, text.replace(value, f'"{number}":{WRONG_NUMBERS[case](int(digits))}', 1), "no whole number")


@pytest.mark.parametrize("member", ["symbol", "kernarg_bytes", "code_bytes", "offset"])
def test_a_record_with_a_member_twice_is_malformed(monojit, sound, member):
    text = sound["small"]["metadata"].decode()
    pair = re.search(f'"{member}":("[^"]*"|[0-9]+)', text)[0]
    assert unusable_record(monojit, sound, text.replace(pair, f'"{member}":"another",{pair}', 1), f'member "{member}" is there twice')


def test_a_record_with_the_digest_of_another_ir_serves_no_ir(monojit, sound):
    other = json.loads(sound["other"]["metadata"])["ir_digest"]
    record = json.loads(sound["small"]["metadata"]) | {"ir_digest": other}
    entries.add_to(monojit.cache, sound["small"] | {"metadata": json.dumps(record).encode()})
    outcome = monojit("dump", SMALL, "--arch", "gfx950", "--emit=ir")
    assert outcome.code == 0 and outcome.err.count("building it anew") == 1


@pytest.mark.parametrize("command", ["warm", "run", "dump", "diff"])
@pytest.mark.parametrize("case", CASES)
def test_what_no_device_would_load_is_built_anew_once(monojit, sound, case, command):
    entries.add_to(monojit.cache, unusable(sound, case))
    arch = ("--arch", "gfx950")
    if command == "run":
        outcome = monojit.run(*arch, key=SMALL)
    elif command == "diff":
        outcome = monojit("diff", SMALL, SMALL, *arch)
    else:
        outcome = monojit(command, SMALL, *arch)
    assert outcome.code == 0, outcome
    assert outcome.err.count("building it anew") == 1
    again = monojit.run("--strict", *arch, key=SMALL)
    assert again.json()["cache"] == "disk" and again.json()["verified"] is True and again.warnings == []


def test_a_code_object_that_lacks_the_kernels_name_in_any_place_runs_or_is_named_by_verify(monojit, sound):
    named = 0
    for case in names_of(sound):
        file = entries.add_to(monojit.cache, unusable(sound, case))
        if monojit("cache", "verify").code == 0:
            assert monojit.run("--strict", "--arch", "gfx950", key=SMALL).json()["verified"] is True, case
        else:
            named += 1
        file.unlink()
    assert named >= 3  # two tables of symbols and the metadata


def test_dump_and_diff_build_anew_what_they_can_not_take_apart(monojit, sound):
    code = sound["small"]["code_object"]
    for command in (("dump", SMALL, "--emit=isa,metadata,resources"), ("diff", SMALL, SMALL)):
        entries.add_to(monojit.cache, sound["small"] | {"code_object": code.replace(b"amdhsa.kernels", b"amdhsa.kernelz")})
        outcome = monojit(*command, "--arch", "gfx950")
        assert outcome.code == 0, outcome
        assert outcome.err.count("building it anew") == 1
        (file,) = entry_files(monojit.cache)
        assert entries.parts_of(file)["code_object"] == code


def test_a_sealed_byte_change_anywhere_costs_no_dump(monojit, sound):
    seeded = random.Random(SEED)
    code = sound["small"]["code_object"]
    for _ in range(CHANGES):
        at = seeded.randrange(len(code))
        changed = code[:at] + bytes([code[at] ^ (1 << seeded.randrange(8))]) + code[at + 1:]
        entries.add_to(monojit.cache, sound["small"] | {"code_object": changed})
        outcome = monojit("dump", SMALL, "--arch", "gfx950", "--emit=isa,metadata,resources")
        assert outcome.code == 0, (at, outcome)
        assert outcome.err.count("building it anew") <= 1


def strict(monojit, *read_only):
    return monojit.run("--strict", "--arch", "gfx950", key=SMALL, MONOJIT_CACHE_READONLY=":".join(map(str, read_only)))


@pytest.mark.parametrize("case", CASES)
def test_strict_mode_passes_over_what_is_unusable_to_the_next_tier(monojit, sound, tmp_path, case):
    bad, good = tmp_path / "bad", tmp_path / "good"
    own = entries.add_to(monojit.cache, unusable(sound, case))
    entries.add_to(bad, unusable(sound, case))
    entries.add_to(good, sound["small"])
    for _ in range(2):
        outcome = strict(monojit, bad, good)
        assert outcome.code == 0 and outcome.json()["cache"] == "read_only" and outcome.json()["verified"] is True
        assert outcome.err.count("it is not used") == 2 and "anew" not in outcome.err
        assert own.exists()
    own.unlink()
    assert strict(monojit, bad, good).json()["cache"] == "read_only"


@pytest.mark.parametrize("case", CASES)
def test_strict_mode_without_a_usable_entry_gives_the_command_that_mends_it(monojit, sound, tmp_path, case):
    entries.add_to(monojit.cache, unusable(sound, case))
    entries.add_to(tmp_path / "bad", unusable(sound, case))
    outcome = strict(monojit, tmp_path / "bad")
    assert refused(outcome, "it is not used", "run monojit warm '")
    assert "anew" not in outcome.err
    assert monojit("warm", SMALL, "--arch", "gfx950").code == 0
    assert strict(monojit, tmp_path / "bad").json()["cache"] == "disk"
