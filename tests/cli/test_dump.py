"""`monojit dump`."""

import json

import pytest
from conftest import KEY

STAGES = "ir,opt-ir,isa,metadata,resources"


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    import os

    from conftest import Monojit

    monojit = Monojit(os.environ["MONOJIT_BINARY"], tmp_path_factory.mktemp("dump"))
    outcome = monojit("dump", KEY, "--arch", "gfx950", f"--emit={STAGES}", "--json")
    assert outcome.code == 0, outcome.err
    return outcome.json()


def test_the_json_of_dump_holds_every_stage(stages):
    assert set(stages) == {"key", "arch", "symbol", "cache", "stages"}
    assert list(stages["stages"]) == STAGES.split(",")


def test_every_stage_is_what_it_says(stages):
    symbol, text = stages["symbol"], stages["stages"]
    assert f"amdgpu_kernel void @{symbol}(" in text["ir"]
    assert f"@{symbol}(" in text["opt-ir"] and text["opt-ir"] != text["ir"]
    assert "s_endpgm" in text["isa"] and "v_mfma" in text["isa"]
    assert "kernels/minimax_m3/k1/emit/" in text["isa"], "DSL lines stand beside the instructions"
    assert symbol in text["metadata"] and ".kernarg_segment_size" in text["metadata"]
    resources = json.loads(text["resources"])
    assert resources["vgpr"] > 0 and resources["scratch_bytes"] == 0


def test_stages_go_to_files_of_a_folder(monojit, tmp_path):
    folder = tmp_path / "made" / "here"
    outcome = monojit("dump", KEY, "--arch", "gfx950", "--emit=isa,resources", "-o", folder, "--json")
    assert outcome.code == 0
    files = outcome.json()["files"]
    assert set(files) == {"isa", "resources"}
    for file in files.values():
        assert file.startswith(str(folder))
    assert len(list(folder.iterdir())) == 2


def test_one_stage_goes_to_stdout_alone(monojit):
    outcome = monojit("dump", KEY, "--arch", "gfx942", "--emit=resources")
    assert outcome.code == 0
    assert json.loads(outcome.out)["code_bytes"] > 0


def test_a_layout_needs_no_build(monojit):
    outcome = monojit("dump", "kimi_k3.k2{tokens=8,nblocks=8}", "--arch", "gfx950", "--emit=layout")
    assert outcome.code == 0, outcome.err
    assert "scratch: 481248 bytes" in outcome.out
    assert "xrow   bf16 [token 8][column 7168]: token*7168 + column" in outcome.out


def test_the_front_half_of_minimax_has_a_layout_too(monojit):
    outcome = monojit("dump", "minimax_m3.k1{tokens=3,index_heads=1}", "--arch", "gfx950", "--emit=layout")
    assert outcome.code == 0, outcome.err
    assert "scratch: 576256 bytes" in outcome.out
    assert "qkv       f32 pairs [token 3][row 2560]: token*2560 + row" in outcome.out
    assert "x8        FP8 [token 3][column 6144]: token*6144 + column" in outcome.out
    one = monojit("dump", "minimax_m3.k1{tokens=1,index_heads=1}", "--arch", "gfx950", "--emit=layout")
    assert "x8" not in one.out


def test_a_kernel_without_a_layout_of_its_own_says_so(monojit):
    outcome = monojit("dump", "example.row_norm{rows=4,hidden=512}", "--arch", "gfx950", "--emit=layout")
    assert outcome.code != 0
    assert "example.row_norm has no layout of its own" in outcome.err
