"""`monojit diff`, and `monojit dump` of a kernel that is cached."""

import pytest
from conftest import KEY, refused

OTHER = "minimax_m3.k1{tokens=1,index_heads=1,weight_nt=1}"


@pytest.fixture(scope="module")
def differ(tmp_path_factory):
    import os

    from conftest import Monojit

    monojit = Monojit(os.environ["MONOJIT_BINARY"], tmp_path_factory.mktemp("diff"))
    assert monojit("warm", KEY, OTHER, "--arch", "gfx950").code == 0
    return monojit


def test_two_kernels_differ_in_a_field_and_in_what_it_does(differ):
    outcome = differ("diff", KEY, OTHER, "--arch", "gfx950", "--json")
    assert outcome.code == 0, outcome.err
    report = outcome.json()
    assert set(report) == {"first", "second", "arch", "fields", "resources", "ir", "isa"}
    assert report["fields"] == [{"name": "weight_nt", "first": "0", "second": "1"}]
    isa = report["isa"]
    assert isa["removed"] > 0 and isa["added"] > 0
    changed = [line for line in isa["unified"].splitlines() if line[0] in "+-"]
    assert len(changed) == isa["removed"] + isa["added"]
    assert any(line.startswith("+") and line.endswith(" nt") for line in changed)
    assert isa["added"] < 200, "loads differ in their policy, and nothing else moves"
    text = differ("diff", KEY, OTHER, "--arch", "gfx950", "--emit=fields,isa").out
    assert "weight_nt" in text and "@@ -" in text and "ir:" not in text


def test_a_kernel_does_not_differ_from_itself(differ):
    report = differ("diff", KEY, KEY, "--arch", "gfx950", "--json").json()
    assert report["fields"] == report["resources"] == []
    for part in ("ir", "isa"):
        assert report[part] == {"removed": 0, "added": 0, "unified": ""}
    assert "fields: the same" in differ("diff", KEY, KEY, "--arch", "gfx950").out


def test_fields_alone_need_no_build(differ):
    outcome = differ("diff", KEY, "minimax_m3.k1{tokens=9}", "--arch", "gfx950", "--emit=fields", "--json",
                     MONOJIT_LIBRARY_DIR="/nonexistent")
    assert outcome.json()["fields"] == [{"name": "tokens", "first": "1", "second": "9"}]


def test_kernels_of_two_families_differ_in_the_family(differ):
    report = differ("diff", KEY, "common.bump", "--arch", "gfx950", "--emit=fields", "--json").json()
    assert report["fields"] == [{"name": "family", "first": "minimax_m3.k1", "second": "common.bump"}]


def test_a_part_that_there_is_not_is_refused(differ):
    assert refused(differ("diff", KEY, OTHER, "--emit=soup"), "soup", "fields, resources, ir and isa")
    assert refused(differ("diff", KEY, "minimax_m3.k1{tokens=0}"), "tokens")


def test_a_dump_of_a_cached_kernel_comes_from_the_cache(differ):
    """Without comgr nothing can be built."""
    stages = "ir,opt-ir,isa,metadata,resources"
    outcome = differ("dump", KEY, "--arch", "gfx950", f"--emit={stages}", "--json",
                     MONOJIT_COMGR_LIBRARY="/nonexistent/libamd_comgr.so")
    assert outcome.code == 0, outcome.err
    cached = outcome.json()
    assert cached["cache"] == "disk"
    built = differ("dump", KEY, "--arch", "gfx950", f"--emit={stages}", "--json", "--no-cache").json()
    assert built["cache"] == "built"
    assert cached["stages"] == built["stages"]


def test_a_dump_of_a_kernel_that_is_not_cached_puts_it_there(monojit):
    key = "example.row_norm{rows=5,hidden=512}"
    assert monojit("dump", key, "--arch", "gfx950", "--emit=resources", "--json").json()["cache"] == "built"
    assert monojit("dump", key, "--arch", "gfx950", "--emit=resources", "--json").json()["cache"] == "disk"
