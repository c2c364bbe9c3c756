"""`monojit bench`: names and form, not speed."""


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
