"""`monojit bench`: names and form, not speed."""

from conftest import refused


def test_a_benchmark_prints_name_value_and_unit(monojit):
    outcome = monojit("bench", "launch", "--json")
    assert outcome.code == 0
    (figure,) = outcome.json()
    assert set(figure) == {"name", "value", "unit"}
    assert figure["name"] == "launch.pack"
    assert figure["unit"] == "ns"
    assert figure["value"] > 0
    assert "launch.pack" in monojit("bench", "launch").out


def test_cache_hits_are_measured(monojit):
    outcome = monojit("bench", "^cache", "--json")
    assert outcome.code == 0, outcome.err
    assert [(figure["name"], figure["unit"]) for figure in outcome.json()] == [("cache.disk_hit", "us"), ("cache.memory_hit", "ns")]
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


def test_a_build_may_be_measured_without_a_launch(monojit):
    outcome = monojit("bench", "builds", "example.row_norm{rows=4,hidden=512}", "--no-run", "--times", 1)
    assert outcome.code == 0, outcome
    heads, row = outcome.out.splitlines()
    assert {"INSTS", "VGPR", "SPILLS"} <= set(heads.split())
    assert row.startswith("example.row_norm{rows=4,hidden=512}")


def test_builds_that_can_not_be_are_refused(monojit):
    assert refused(monojit("bench", "builds", "minimax_m3.k1{tokens=17}"), "tokens")
    assert refused(monojit("bench", "builds", "minimax_m3.k1{tokens=1,index_own=1}", "--no-run"), "index_own")
