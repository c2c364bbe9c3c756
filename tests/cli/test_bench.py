"""`monojit bench`: names and form, not speed."""

import pytest
from conftest import refused


def test_a_benchmark_prints_name_value_and_unit(monojit):
    outcome = monojit("bench", "launch", "--json")
    assert outcome.code == 0
    figures = outcome.json()
    assert [figure["name"] for figure in figures] == ["launch.pack", "launch.pack.kimi_k3.k2", "launch.group_step"]
    for figure in figures:
        assert set(figure) == {"name", "value", "unit"}
        assert figure["unit"] == "ns"
        assert figure["value"] > 0
    assert "launch.group_step" in monojit("bench", "launch").out


def test_cache_hits_are_measured(monojit):
    outcome = monojit("bench", "^cache", "--json")
    assert outcome.code == 0, outcome.err
    assert [(figure["name"], figure["unit"]) for figure in outcome.json()] == [
        ("cache.disk_hit", "us"), ("cache.memory_hit", "ns"), ("cache.entry_bytes", "B"), ("cache.code_object_bytes", "B"), ("cache.trim100k", "ms"), ("cache.warm_start32", "ms"),
        ("cache.contains1000", "ms"), ("cache.jobs2_speedup", "x"), ("cache.warm_peak_worker", "B"), ("cache.warm_peak_process", "B"),
        ("cache.start.minimax_m3.k1", "ms"), ("cache.start.kimi_k3.k2", "ms")]
    assert monojit.entries() == []


def test_builds_are_tabulated_with_what_they_cost_and_execute(monojit):
    outcome = monojit("bench", "builds", "minimax_m3.k1{tokens=1,scorer=0}", "minimax_m3.k1{tokens=1}", "--times", 1, "--json")
    assert outcome.code == 0, outcome
    report = outcome.json()
    assert set(report) == {"arch", "scenario", "builds"}
    assert "seed 1" in report["scenario"]
    assert len(report["builds"]) == 2
    for build in report["builds"]:
        assert set(build) == {"key", "problem", "times_ms", "resources", "instructions", "instructions_by_class", "run"}
        assert build["problem"] is None
        assert list(build["times_ms"]) == ["emit", "codegen", "link", "cpu"]
        assert all(time > 0 for time in build["times_ms"].values())
        assert build["instructions"] == sum(build["instructions_by_class"].values())
        counters = build["run"]["counters"]
        assert counters["wave_instructions"] == sum(count for name, count in counters.items() if name != "wave_instructions")
        assert counters["mfma"] > 0
        assert build["run"]["weight_bytes"] > 2560 * 6144
        assert abs(build["run"]["floor_us"] - build["run"]["weight_bytes"] / 8e6) < 1e-6
        assert build["run"]["verified"] is True
    without, scored = report["builds"]
    assert without["instructions"] < scored["instructions"]
    assert without["run"]["counters"]["wave_instructions"] < scored["run"]["counters"]["wave_instructions"]


def test_a_group_kernel_is_told_stage_by_stage(monojit):
    outcome = monojit("bench", "builds", "kimi_k3.k2{tokens=1,nblocks=1}", "--times", 1, "--json")
    assert outcome.code == 0, outcome
    (build,) = outcome.json()["builds"]
    run = build["run"]
    assert run["verified"] is True
    stages = {stage["name"]: stage for stage in run["stages"]}
    assert list(stages)[-1] == "entry"
    assert all(stage["instructions"] > 0 and stage["executed"] > 0 for stage in run["stages"])
    assert sum(stage["instructions"] for stage in run["stages"]) == build["instructions"]
    assert sum(stage["mfma"] for stage in run["stages"]) == run["counters"]["mfma"]
    executed = sum(stage["executed"] + stage["retries"] for stage in run["stages"])
    assert abs(executed - run["counters"]["wave_instructions"]) < 0.2 * executed  # waits are not in the profile
    # Weights are streamed once, 16 experts' among them.
    assert stages["output_projection"]["bytes"]["streamed"] == 7168 * 1536 * 2
    assert stages["expert_gate_up"]["bytes"]["streamed"] == 16 * 1376256
    assert stages["expert_down"]["bytes"]["streamed"] == 16 * 688128
    assert stages["expert_down"]["bytes_in_flight"] > 0
    # Peer buffers are read where ranks' parts are added, routed or quantised, and nowhere else.
    readers = {"residual_slice", "route", "latent_quantise", "latent_norm", "final_reduce"}
    assert {name for name, stage in stages.items() if stage["bytes"]["system"] > 0} == readers


def test_floors_say_at_which_bandwidth_they_are(monojit):
    outcome = monojit("bench", "builds", "kimi_k3.k2{tokens=1,nblocks=1}", "--times", 1, "--no-verify")
    assert outcome.code == 0, outcome
    (head,) = [line for line in outcome.out.splitlines() if line.endswith("floor: weights at HBM's peak of 8 TB/s")]
    heads, row = outcome.out.split(head)[1].split("stages of")[0].split("\n")[1:3]
    assert heads.endswith("FLOOR US")
    floor = float(row.split()[-1])
    (line,) = [line for line in outcome.out.splitlines() if line.startswith("weights with their scales")]
    assert line.endswith(f"floor {floor:.1f} us at HBM's peak of 8.0 TB/s, {floor * 8 / 7.2:.1f} us at the 7.2 TB/s that it is expected to give")


def test_a_build_may_be_measured_without_a_launch(monojit):
    outcome = monojit("bench", "builds", "example.row_norm{rows=4,hidden=512}", "--no-run", "--times", 1)
    assert outcome.code == 0, outcome
    heads, row = outcome.out.splitlines()
    assert {"INSTS", "VGPR", "SPILLS"} <= set(heads.split())
    assert row.startswith("example.row_norm{rows=4,hidden=512}")


def test_builds_that_can_not_be_are_refused(monojit):
    assert refused(monojit("bench", "builds", "minimax_m3.k1{tokens=17}"), "tokens")
    assert refused(monojit("bench", "builds", "minimax_m3.k1{tokens=1,index_own=1}", "--no-run"), "index_own")


@pytest.mark.parametrize("seed", ["-1", "x", "0x10", "18446744073709551616"])
def test_a_seed_that_is_none_is_refused_with_its_range(monojit, seed):
    assert refused(monojit("bench", "builds", "minimax_m3.k1{tokens=1}", f"--seed={seed}"), "--seed", seed, "no decimal number of 0 to")


def test_builds_with_a_filter_before_it_are_refused(monojit):
    assert refused(monojit("bench", "emulator", "builds", "--no-run"), "takes no FILTER")
