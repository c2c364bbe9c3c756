"""`monojit run` as an engine runs a model: layer after layer on the same buffers, traced, and with a workgroup that hangs."""

import json
from collections import Counter

import pytest
import tensors
from conftest import KEY, refused

LAST_LAYER = 126
TIMED = "minimax_m3.k1{tokens=3,index_heads=1,timeline=1}"
WORKGROUPS = 256


def int32(value):
    return ("I32", [1], value.to_bytes(4, "little"))


def at(folder, step, layer):
    """A file of inputs for the launch of that step and layer."""
    tensors.write(folder / "place.safetensors", {"step": int32(step), "layer": int32(layer)})
    return folder / "place.safetensors"


def test_each_layer_of_a_chain_is_verified_and_has_a_row(warm, tmp_path):
    outcome = warm.run("--layers", 3, "--inputs", at(tmp_path, 7, 4))
    assert outcome.code == 0, outcome
    report = outcome.json()
    assert [(row["step"], row["layer"]) for row in report["layers"]] == [(7, 4), (7, 5), (7, 6)]
    for row in report["layers"]:
        assert set(row) == {"step", "layer", "run_ms", "wave_instructions", "outputs", "verified"}
        assert row["verified"] is True
        assert {output["name"] for output in row["outputs"]} == {output["name"] for output in report["outputs"]}
    assert report["launches"] == 3
    assert report["verified"] is True
    assert report["emulator"]["wave_instructions"] == sum(row["wave_instructions"] for row in report["layers"])
    (h_out,) = [output for output in report["outputs"] if output["name"] == "h_out"]
    assert h_out["elements"] == 3 * 6144


def test_behind_the_last_layer_the_step_moves_on(warm, tmp_path):
    outcome = warm.run("--layers", 3, "--inputs", at(tmp_path, 7, LAST_LAYER - 1))
    assert outcome.code == 0, outcome
    assert [(row["step"], row["layer"]) for row in outcome.json()["layers"]] == [(7, LAST_LAYER - 1), (7, LAST_LAYER), (8, 0)]


def test_a_layer_reads_the_residual_stream_that_the_one_before_it_wrote(warm, tmp_path):
    start = at(tmp_path, 7, 4)
    runs = [tensors.read(path) for layers in (1, 2)
            for path in [tmp_path / f"{layers}.safetensors"]
            if warm.run("--layers", layers, "--inputs", start, "--save", path).code == 0]
    one, two = runs
    assert two["in/res"] == one["in/res"]
    assert two["res"] == one["h_out"]
    assert two["h_out"] != one["h_out"]
    assert (one["layer"], two["layer"]) == (int32(4), int32(5))


def test_launches_back_to_back_leave_what_launches_one_by_one_leave(warm, tmp_path):
    start = at(tmp_path, 7, LAST_LAYER - 1)
    options = {"one_by_one": ["--layers", 4], "back_to_back": ["--layers", 4, "--no-verify"], "again": ["--layers", 2, "--repeat", 2]}
    saved = {}
    for name, option in options.items():
        outcome = warm.run(*option, "--inputs", start, "--save", tmp_path / name)
        assert outcome.code == 0, outcome
        assert outcome.json()["launches"] == 4
        saved[name] = tensors.read(tmp_path / name)
    assert saved["back_to_back"] == saved["one_by_one"]
    assert saved["again"] == saved["one_by_one"]


def test_what_was_not_compared_is_not_called_verified(warm):
    report = warm.run("--layers", 2, "--no-verify").json()
    assert report["verified"] is None
    assert report["outputs"] == [] and report["layers"] == []
    assert "not verified" in warm("run", KEY, "--device", "emulator", "--no-verify").out


def test_a_chain_that_can_not_be_is_refused(warm):
    assert refused(warm.run("--layers", 2, key="example.row_norm{rows=4,hidden=512}"), "example.row_norm", "no layer of a model")
    assert refused(warm.run("--repeat", 2, key="example.row_norm{rows=4,hidden=512}"), "example.row_norm")
    for option, too_many in (("--layers", "10001"), ("--repeat", "1000001")):
        for value in ("0", "-1", "x", too_many):
            assert refused(warm.run(f"{option}={value}"), option)


def trace_of(path):
    events = json.loads(path.read_text())["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    return names, [event for event in events if event["ph"] == "X"]


def test_a_trace_has_a_track_a_workgroup_and_the_stages_of_its_role(monojit, tmp_path):
    outcome = monojit.run("--trace", tmp_path / "trace.json", key=TIMED)
    assert outcome.code == 0, outcome
    names, slices = trace_of(tmp_path / "trace.json")
    assert len(names) == WORKGROUPS + 1
    roles = {track: name.split(": ")[1] for track, name in names.items() if ": " in name}
    assert roles[1 + 3 * 8] == "GEMV q3"
    assert [roles[1 + 160 + task] for task in (0, 15, 16, 17, 18, 19)] == ["head q0", "head q15", "head k", "head v", "head index q", "head index k"]
    assert [roles[1 + 180 + token] for token in range(4)] == ["norm 0", "norm 1", "norm 2", "scores"]
    stages = {role: {each["name"] for each in slices if roles.get(each["tid"], "").startswith(role)} for role in ("GEMV", "head", "norm", "scores")}
    assert {"GEMV: wait for activations", "projection"} <= stages["GEMV"]
    assert "head: wait for its row" in stages["head"]
    assert "norm: sum of squares" in stages["norm"]
    assert stages["scores"] == {"scores"}


def test_slices_of_a_workgroup_follow_one_another_and_launches_too(monojit, tmp_path):
    for options in (["--layers", 3], ["--layers", 3, "--no-verify"]):
        assert monojit.run(*options, "--trace", tmp_path / "trace.json", key=TIMED).code == 0
        _, slices = trace_of(tmp_path / "trace.json")
        launches = [each for each in slices if each["tid"] == 0]
        assert len(launches) == 3
        assert all(" layer " in each["name"] for each in launches)
        assert launches[0]["ts"] == 0
        for earlier, later in zip(launches, launches[1:]):
            assert later["ts"] >= earlier["ts"] + earlier["dur"] - 1e-3
        for track in range(1, WORKGROUPS + 1):
            own = sorted((each for each in slices if each["tid"] == track), key=lambda each: each["ts"])
            assert all(later["ts"] >= earlier["ts"] + earlier["dur"] - 1e-3 for earlier, later in zip(own, own[1:]))
        by_launch = Counter(each["args"]["launch"] for each in slices if each["tid"] != 0)
        assert set(by_launch) == {each["name"] for each in launches}


def test_a_trace_of_a_build_without_time_stamps_is_refused_with_what_to_do(warm, tmp_path):
    assert refused(warm.run("--trace", tmp_path / "trace.json"), "add timeline=1 to the key")
    assert refused(warm.run("--trace", tmp_path / "trace.json", key="example.row_norm{rows=4,hidden=512}"), "example.row_norm has no timeline")
    assert refused(warm.run("--trace", tmp_path / "no" / "trace.json", key=TIMED), str(tmp_path / "no" / "trace.json"))
    assert not (tmp_path / "trace.json").exists()


@pytest.mark.parametrize("stalled, region", [("0", "qkv"), ("182", "x8_scale")])
def test_a_kernel_whose_wait_gave_up_says_who_waited_for_what(monojit, tmp_path, stalled, region):
    outcome = monojit.run("--trace", tmp_path / "trace.json", key=TIMED, MONOJIT_EMULATOR_STALL=stalled)
    assert outcome.code == 1
    report = outcome.json()
    assert report["verified"] is False
    assert report["outputs"] == []
    assert report["launches"] == 0
    assert report["emulator"]["wave_instructions"] > report["emulator"]["mfma"] > 0, "what a failed launch executed counts"
    assert report["failure"]["place"].startswith("step ")
    assert report["failure"]["health"]
    for line in report["failure"]["health"]:
        assert line.startswith("workgroup ")
        assert "waited more than 10 s for pair" in line
        assert line in outcome.err
    assert any(f"of {region}:" in line for line in report["failure"]["health"])
    assert f"stalled by MONOJIT_EMULATOR_STALL: workgroup {stalled}" in report["failure"]["error"]
    _, slices = trace_of(tmp_path / "trace.json")
    assert {each["tid"] for each in slices} >= {0, 170}
    assert int(stalled) + 1 not in {each["tid"] for each in slices}


def test_a_kernel_without_bounded_waits_fails_with_the_emulators_words_alone(monojit):
    outcome = monojit.run(key="minimax_m3.k1{tokens=1,bounded=0}", MONOJIT_EMULATOR_STALL="0")
    assert outcome.code == 1
    assert outcome.out == ""
    assert "deadlock" in outcome.err
    assert "stalled by MONOJIT_EMULATOR_STALL: workgroup 0" in outcome.err
    assert "gave up" not in outcome.err
