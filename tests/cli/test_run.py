"""`monojit run`: what it prints, what it saves, what it takes."""

import os
import subprocess
from pathlib import Path

import pytest
import tensors
from conftest import KEY, refused


def test_the_json_of_a_run_has_its_documented_names(monojit):
    outcome = monojit.run("--arch", "gfx950")
    assert outcome.code == 0
    report = outcome.json()
    assert set(report) == {"key", "seed", "arch", "device", "cache", "times_ms", "resources", "launches", "outputs", "verified", "failure", "emulator"}
    assert report["key"].startswith("minimax_m3.k1{tokens=1,index_heads=1")
    assert report["arch"] == "gfx950"
    assert report["device"] == "emulator:0"
    assert report["cache"] == "built"
    assert list(report["times_ms"]) == ["emit", "codegen", "link", "store", "load", "run"]
    assert all(time > 0 for time in report["times_ms"].values())
    assert list(report["resources"]) == ["vgpr", "agpr", "sgpr", "lds_bytes", "scratch_bytes", "spills", "code_bytes"]
    assert report["resources"]["scratch_bytes"] == 0
    assert report["resources"]["code_bytes"] > 0
    assert report["verified"] is True
    assert report["launches"] == 1
    assert report["failure"] is None
    for output in report["outputs"]:
        assert list(output) == ["name", "elements", "mismatches", "max_error", "bound"]
        assert output["mismatches"] == 0
        assert output["max_error"] <= output["bound"]
    assert {"h_out", "q_out", "k_cache", "v_cache"} <= {output["name"] for output in report["outputs"]}
    assert set(report["emulator"]) == {"wave_instructions", "mfma", "bytes", "seconds", "matrix_model"}
    assert list(report["emulator"]["bytes"]) == ["device", "peer", "host", "lds", "scratch"]
    assert report["emulator"]["bytes"]["device"]["loaded"] > report["emulator"]["bytes"]["device"]["stored"] > 0
    assert report["emulator"]["bytes"]["scratch"] == {"loaded": 0, "stored": 0}
    assert report["emulator"]["wave_instructions"] > report["emulator"]["mfma"] > 0


def test_the_text_of_a_run_names_what_a_reader_looks_for(warm):
    outcome = warm("run", KEY, "--device", "emulator", "--arch", "gfx950")
    assert outcome.code == 0
    for text in ("minimax_m3.k1{", "gfx950", "emit", "codegen", "link", "VGPR", "SGPR", "AGPR", "LDS", "scratch", "wave-instructions per second",
                 "q_out", "verified"):
        assert text in outcome.out


def test_the_reference_follows_the_emulators_model_of_the_matrix_core(monojit):
    for model in ["cdna3", "fma-chain"]:
        report = monojit.run(MONOJIT_EMULATOR_MATRIX=model).json()
        assert report["verified"] is True
        assert report["emulator"]["matrix_model"] == model


def test_auto_says_that_it_took_the_emulator_when_there_is_no_gpu(warm):
    outcome = warm("run", KEY, "--json")
    assert outcome.code == 0
    if outcome.json()["device"] == "emulator:0":
        assert "no AMD GPU here" in outcome.err


@pytest.mark.parametrize("key", ["minimax_m3.k1{tokens=2,index_heads=1}", "minimax_m3.k1{tokens=1,page_stride=8,kv_scale=static_one}"])
@pytest.mark.parametrize("arch", ["gfx950", "gfx942"])
def test_other_keys_and_archs_are_verified_too(monojit, key, arch):
    outcome = monojit.run("--arch", arch, key=key)
    assert outcome.code == 0, outcome
    assert outcome.json()["arch"] == arch
    assert outcome.json()["verified"] is True


def saved(monojit, path, *arguments):
    outcome = monojit.run("--arch", "gfx950", "--save", path, *arguments)
    assert outcome.code == 0, outcome
    return tensors.read(path)


def outputs(content):
    return {name: tensor for name, tensor in content.items() if not name.startswith("in/")}


def test_a_saved_run_holds_every_argument_before_and_after(warm, tmp_path):
    content = saved(warm, tmp_path / "run.safetensors")
    names = {argument["name"] for argument in warm("keys", "minimax_m3.k1", "--json").json()["families"][0]["arguments"]}
    assert set(content) == names | {f"in/{name}" for name in names}
    assert content["layer"][0:2] == ("I32", [1])
    assert content["in/w_qkv"] == content["w_qkv"]
    assert content["in/q_out"] != content["q_out"]


def test_a_run_on_saved_inputs_gives_the_saved_outputs(warm, tmp_path):
    first = saved(warm, tmp_path / "first.safetensors", "--seed", 7)
    again = saved(warm, tmp_path / "again.safetensors", "--seed", 8, "--inputs", tmp_path / "first.safetensors")
    assert again == first


def test_tensors_named_as_arguments_replace_generated_ones(warm, tmp_path):
    first = saved(warm, tmp_path / "first.safetensors", "--seed", 7)
    plain = {name.removeprefix("in/"): tensor for name, tensor in first.items() if name.startswith("in/")}
    tensors.write(tmp_path / "plain.safetensors", plain)
    again = saved(warm, tmp_path / "again.safetensors", "--seed", 8, "--inputs", tmp_path / "plain.safetensors")
    assert outputs(again) == outputs(first)


def test_seeds_give_different_data_and_one_seed_always_the_same(warm, tmp_path):
    first, same, other = (saved(warm, tmp_path / f"{i}.safetensors", "--seed", seed) for i, seed in enumerate((1, 1, 2)))
    assert first == same
    assert first["in/ar"] != other["in/ar"]


def test_a_number_may_be_a_tensor_without_a_shape(warm, tmp_path):
    tensors.write(tmp_path / "layer.safetensors", {"layer": ("I32", [], (5).to_bytes(4, "little"))})
    content = saved(warm, tmp_path / "run.safetensors", "--inputs", tmp_path / "layer.safetensors")
    assert content["layer"] == ("I32", [1], (5).to_bytes(4, "little"))


@pytest.mark.parametrize("name, tensor, texts", [
    ("art", ("BF16", [1, 6144], bytes(12288)), ["no argument 'art'", "ar, res"]),
    ("ar", ("F32", [1, 6144], bytes(24576)), ["'ar' is F32", "BF16"]),
    ("ar", ("BF16", [2, 6144], bytes(24576)), ["ar"]),
    ("layer", ("I32", [1], (127).to_bytes(4, "little")), ["layer"]),
])
def test_a_tensor_that_the_kernel_can_not_take_is_refused_by_name(warm, tmp_path, name, tensor, texts):
    tensors.write(tmp_path / "bad.safetensors", {name: tensor})
    outcome = warm.run("--inputs", tmp_path / "bad.safetensors")
    assert refused(outcome, str(tmp_path / "bad.safetensors"), *texts)
    assert "monojit: monojit:" not in outcome.err


def test_files_that_are_no_tensors_are_refused(warm, tmp_path):
    (tmp_path / "text").write_text("this is no safetensors file at all")
    assert refused(warm.run("--inputs", tmp_path / "text"), str(tmp_path / "text"))
    assert refused(warm.run("--inputs", tmp_path / "missing"), str(tmp_path / "missing"))
    os.mkfifo(tmp_path / "fifo")  # reading it would wait for a writer for ever
    assert refused(warm.run("--inputs", tmp_path / "fifo"), str(tmp_path / "fifo"), "no regular file")
    assert refused(warm.run("--save", tmp_path / "no" / "folder"), str(tmp_path / "no" / "folder"))


def test_a_seed_is_decimal_whatever_it_begins_with(warm, tmp_path):
    plain, padded = (saved(warm, tmp_path / seed, "--seed", seed) for seed in ("10", "010"))
    assert plain == padded


def test_tensors_that_do_not_fit_in_memory_are_a_failure_that_names_the_key(monojit):
    if b"__asan_init" in Path(monojit.binary).read_bytes():
        pytest.skip("the address sanitizer needs more address space than the limit leaves")
    key = "example.row_norm{rows=65535,hidden=16384}"
    limit = 2_000_000  # KiB
    outcome = subprocess.run(["sh", "-c", f'ulimit -v {limit}; exec "$0" "$@"', monojit.binary, "run", key, "--device", "emulator"],
                             capture_output=True, text=True, env=monojit.environment)
    assert outcome.returncode == 1
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("monojit: example.row_norm{rows=65535,hidden=16384")
    assert "don't fit in memory" in outcome.stderr
