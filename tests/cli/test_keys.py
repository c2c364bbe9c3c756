"""`monojit keys`, and keys that are none."""

import pytest
from conftest import refused


def test_keys_lists_every_field_with_range_default_and_meaning(monojit):
    outcome = monojit("keys")
    assert outcome.code == 0
    for text in ("minimax_m3.k1", "tokens", "1..16", "(must be given)", "page_stride", "8 or 16", "rows of the decode batch"):
        assert text in outcome.out


def test_the_json_of_keys_has_its_documented_names(monojit):
    family = next(f for f in monojit("keys", "--json").json()["families"] if f["name"] == "minimax_m3.k1")
    assert set(family) == {"name", "summary", "fields", "arguments"}
    fields = {field["name"]: field for field in family["fields"]}
    assert fields["tokens"] == {"name": "tokens", "meaning": fields["tokens"]["meaning"], "kind": "integer", "range": "1..16",
                                "first": 1, "last": 16, "default": None}
    assert fields["page_stride"]["choices"] == ["8", "16"]
    assert fields["page_stride"]["default"] == "16"
    assert fields["eps"]["kind"] == "float32"
    arguments = {argument["name"]: argument for argument in family["arguments"]}
    assert set(arguments["ar"]) == {"name", "type", "written", "alignment", "meaning"}
    assert arguments["ar"]["type"] == "pointer"
    assert arguments["layer"]["type"] == "int32"
    assert arguments["q_out"]["written"] is True


@pytest.mark.parametrize("command", ["run", "dump", "warm"])
@pytest.mark.parametrize("key, texts", [
    ("minimax_m4.k1{tokens=1}", ["minimax_m4.k1", "minimax_m3.k1"]),
    ("minimax_m3.k1{tokens=1,colour=3}", ["colour", "tokens"]),
    ("minimax_m3.k1{index_heads=1}", ["tokens", "1..16"]),
    ("minimax_m3.k1{tokens=0}", ["tokens", "0", "1..16"]),
    ("minimax_m3.k1{tokens=17}", ["tokens", "17", "1..16"]),
    ("minimax_m3.k1{tokens=one}", ["tokens", "one", "1..16"]),
    ("minimax_m3.k1{tokens=1,tokens=1}", ["tokens"]),
    ("minimax_m3.k1{tokens=1,page_stride=12}", ["page_stride", "12", "8 or 16"]),
    ("minimax_m3.k1{tokens=1", ["minimax_m3.k1{tokens=1"]),
    ("", ["key"]),
])
def test_a_key_that_is_none_is_refused_by_field_and_range(monojit, command, key, texts):
    assert refused(monojit(command, key), *texts)


def test_an_unknown_family_is_refused_by_keys(monojit):
    assert refused(monojit("keys", "minimax_m4.k1"), "minimax_m4.k1", "minimax_m3.k1")
