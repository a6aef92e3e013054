import importlib
import math
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import ir_measures
import pytest
from ir_measures import RR, Success, nDCG

import ir_outcomes as iro
from ir_outcomes import ASL, ESL, Answered
from ir_outcomes.errors import IrOutcomesWarning, ParameterError
from ir_outcomes.measures import register

QRELS = {"q1": {"a": 1}, "q2": {"b": 2, "c": 1}, "q3": {"z": 1}, "absent": {"a": 1}, "empty": {}}
RUN = {
    "q1": {"x": 2.0, "a": 1.0},
    "q2": {"b": 3.0, "y": 2.0, "c": 1.0},
    "q3": {"y": 1.0},
    "stray": {"a": 1.0},
    "empty": {"a": 1.0},
}


def test_aggregates_beside_other_measures() -> None:
    found = ir_measures.calc_aggregate(
        [ESL @ 100, Answered @ 100, nDCG @ 10, RR, Success @ 100], QRELS, RUN
    )
    assert found[ESL @ 100] == 1.5
    assert found[Answered @ 100] == found[Success @ 100] == 0.4
    alone = ir_measures.calc_aggregate([nDCG @ 10, RR], QRELS, RUN)
    assert found[nDCG @ 10] == alone[nDCG @ 10]
    assert found[RR] == alone[RR]
    assert math.isnan(ir_measures.calc_aggregate([ESL], {"q": {"a": 1}}, {"q": {"b": 1.0}})[ESL])
    with pytest.warns(
        IrOutcomesWarning,
        match=r"in 2 queries \(q3, absent\) there are no results, which scores inf",
    ):
        assert ir_measures.calc_aggregate([ASL], QRELS, RUN) == {ASL: math.inf}


def test_registering(monkeypatch: pytest.MonkeyPatch) -> None:
    importlib.reload(iro)
    register()
    (ours,) = [
        provider
        for provider in ir_measures.DefaultPipeline.providers
        if provider.NAME == "ir_outcomes"
    ]
    assert ir_measures.calc_aggregate(
        [iro.parse_measure("ESL@100"), iro.ESL @ 100], QRELS, RUN
    ) == {ESL @ 100: 1.5}
    with pytest.raises(
        ParameterError, match=r"ir_outcomes does not provide RR; call ir_measures\.calc_aggregate"
    ):
        ours.calc_aggregate([ESL @ 100, RR], QRELS, RUN)
    monkeypatch.setitem(ir_measures.measures.registry, "ESL", nDCG)
    with pytest.warns(IrOutcomesWarning, match="ir_measures already knows a measure ESL"):
        register()
    assert ir_measures.measures.registry["ESL"] is nDCG


def test_the_entry_point_is_the_provider() -> None:
    """Which ir_measures' branch "entry-points" loads and calls, without an import."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    (entry,) = project["project"]["entry-points"]["ir_measures.provider"].values()
    provider = EntryPoint("ir_outcomes", entry, "ir_measures.provider").load()()
    assert provider.calc_aggregate([ESL @ 100], QRELS, RUN) == {ESL @ 100: 1.5}
    assert provider.PRIORITY is not None
