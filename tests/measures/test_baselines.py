import math
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from ir_measures import RR

import ir_outcomes as iro
from ir_outcomes import ASL, ESL, Answered, Outcome
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.errors import FormatError, ParameterError
from ir_outcomes.measures import baselines
from tests.helpers import strategies

QRELS = {
    "q1": {"a": 1},
    "q2": {"b": 2, "c": 1},
    "q3": {"z": 1},
    "absent": {"a": 1},
    "empty": {"a": 0},
}
BASELINE = {"q1": {"a": 2.0}, "q2": {"x": 3.0, "y": 2.0, "b": 1.0}, "stray": {"a": 1.0}}
RUN = {
    "q1": {"x": 2.0, "a": 1.0},
    "q2": {"b": 3.0, "y": 2.0, "c": 1.0},
    "q3": {"z": 1.0},
    "empty": {"a": 1.0},
}
NAN = math.nan


@pytest.fixture
def bm25() -> str:
    iro.register_baseline("bm25", BASELINE)
    return "bm25"


def by_query(measure: Any, qrels: Any = QRELS, run: Any = RUN) -> dict[str, float]:
    return {
        metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], qrels, run)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ESL@100", [2, 1, 1, NAN, NAN]),
        ("ESL(unanswered='cutoff+1')@1", [2, 1, 1, 2, 2]),
        ("ESL(need=2)", [NAN, 3, NAN, NAN, NAN]),
        ("ESL(rel=2)", [NAN, 1, NAN, NAN, NAN]),
        ("Answered@1", [0, 1, 1, 0, 0]),
        ("ASL(missing='cutoff')@1", [2, 1, 1, 2, NAN]),
        ("Outcome(baseline='bm25',case='neither')@100", [0, 0, 0, 1, 1]),
        ("Outcome(baseline='bm25',case='lost')@100", [0, 0, 0, 0, 0]),
        ("Outcome(baseline='bm25',case='lost')@1", [1, 0, 0, 0, 0]),
        ("Outcome(baseline='bm25',case='won')@100", [0, 0, 1, 0, 0]),
        ("Outcome(baseline='bm25',case='both')@100", [1, 1, 0, 0, 0]),
        ("Outcome(baseline='bm25',case='won',unit='document')@100", [0, 0.5, 1, 0, 0]),
        ("ESL(baseline='bm25')@100", [2, 1, NAN, NAN, NAN]),
        ("ESL(baseline='bm25',of='baseline')@100", [1, 3, NAN, NAN, NAN]),
        ("ESL(need=2,baseline='bm25')@100", [NAN, NAN, NAN, NAN, NAN]),
        ("ASL(baseline='bm25')@100", [2, 1, NAN, NAN, NAN]),
        ("ASL(baseline='bm25',of='baseline')", [1, 3, NAN, NAN, NAN]),
    ],
)
def test_values_of_every_query(bm25: str, text: str, expected: list[float]) -> None:
    measure = iro.parse_measure(text)
    assert str(measure) == text
    assert measure == ir_measures.parse_measure(text)
    assert by_query(measure) == pytest.approx(dict(zip(QRELS, expected, strict=True)), nan_ok=True)
    # The same through an evaluator beside other measures, averaged over defined values.
    evaluator = ir_measures.evaluator([measure, RR, ESL @ 100], QRELS)
    defined = [value for value in expected if not math.isnan(value)]
    assert evaluator.calc_aggregate(RUN)[measure] == pytest.approx(
        np.mean(defined) if defined else NAN, nan_ok=True
    )


def test_a_baseline_is_evaluated_once_per_content_qrels_and_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bm25: str
) -> None:
    path = tmp_path / "a run.run"
    path.write_text("q1 Q0 a 1 2.0 t\n")
    for name in (bm25, str(path)):
        for run in (RUN, BASELINE):
            two = [Outcome(baseline=name, case="won") @ 100, ESL(baseline=name) @ 100]
            ir_measures.calc_aggregate([*two, Answered @ 100], QRELS, run)
    assert len(baselines._evaluated) == 2
    by_query(ESL(baseline=bm25) @ 100, {"q1": {"a": 1}})
    by_query(ESL(baseline=bm25) @ 5)
    assert len(baselines._evaluated) == 4
    path.write_text("q2 Q0 c 1 2.0 t\n")  # of the same size
    assert by_query(Outcome(baseline=str(path), case="both") @ 100)["q2"] == 1
    iro.register_baseline(bm25, {"q3": {"z": 1.0}}, replace=True)
    assert by_query(Outcome(baseline=bm25, case="both") @ 100)["q3"] == 1
    assert len(baselines._evaluated) == 6
    monkeypatch.setattr(baselines, "MOST_KEPT", 1)
    by_query(ESL(baseline=bm25) @ 7)
    assert len(baselines._evaluated) == 1


@given(strategies.qrels, strategies.runs, strategies.runs, strategies.cutoffs)
def test_the_measures_say_what_the_comparison_says(
    qrels: dict[str, dict[str, int]],
    baseline: dict[str, Any],
    contender: dict[str, Any],
    cutoff: int | None,
) -> None:
    iro.register_baseline("A", baseline, replace=True)
    at = cutoff or 9
    answerable = [
        query for query, grades in qrels.items() if any(grade >= 1 for grade in grades.values())
    ]
    if not answerable or not {*baseline} & {*qrels} or not {*contender} & {*qrels}:
        return
    if not any(
        {*documents} & {*qrels.get(query, {})}
        for run in (baseline, contender)
        for query, documents in run.items()
    ):
        return  # runs of which no document is in the qrels are refused
    for unit in ("query", "document"):
        compared = iro.compare(qrels, baseline, contender, cutoff=at, unit=unit, names=["A", "B"])
        assert isinstance(compared, Comparison)
        values = {
            case: by_query(Outcome(baseline="A", case=case, unit=unit) @ at, qrels, contender)
            for case in ("neither", "lost", "won", "both")
        }
        for case, found in values.items():
            assert np.mean([found[query] for query in answerable]) == pytest.approx(
                getattr(compared.outcomes.shares, case)
            )
        length = ESL if unit == "query" else ASL
        for of, facet in (
            ("baseline", compared.ranking.baseline),
            ("contender", compared.ranking.contender),
        ):
            measure = length(baseline="A", of=of) @ at
            mean = ir_measures.calc_aggregate([measure], qrels, contender)[measure]
            assert (facet is None and math.isnan(mean)) or mean == pytest.approx(facet)


def test_registering(tmp_path: Path, bm25: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bm25").write_text("q3 Q0 z 1 2.0 t\n")  # a name comes before a path
    iro.register_baseline("bm25", BASELINE)
    assert by_query(Outcome(baseline="bm25", case="both") @ 9)["q3"] == 0
    with pytest.raises(
        ParameterError,
        match="'bm25' is registered for another run; choose another name, or pass `replace=True`",
    ):
        iro.register_baseline("bm25", RUN)
    iro.register_baseline("bm25", RUN, replace=True)
    assert by_query(Outcome(baseline="bm25", case="both") @ 9)["q3"] == 1
    for name in ("", "irds:x"):
        with pytest.raises(ParameterError, match="a baseline cannot be called"):
            iro.register_baseline(name, RUN)
    Path("broken").write_text("q3 Q0 z\n")
    with pytest.raises(FormatError, match="broken, line 1"):
        by_query(Outcome(baseline="broken", case="both") @ 9)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Outcome(case='won')@100", "compares with a baseline"),
        ("Outcome(baseline='bm25')@100", "case is missing"),
        ("Outcome(baseline='bm25',case='won',ties='expected')", "no single order"),
        ("Outcome(baseline='bm52',case='won')@100", "unknown baseline 'bm52'"),
        ("ESL(baseline='bm25',unanswered='cutoff+1')@9", "leave unanswered out"),
        ("ESL(of='baseline')@9", "needs a baseline"),
        ("ESL(cutoff=0)", "cutoff=0"),
        ("ASL(missing='worst')@10", "missing='worst'"),
        ("ASL(missing='cutoff')", "needs a cutoff"),
        ("ESL(unanswered='cutoff+1')", "needs a cutoff"),
        ("Answered(first=3)", "no parameter first"),
        ("ESL(judged_only=1)", "judged_only=1"),
    ],
)
def test_wrong_measures_give_our_error(bm25: str, text: str, wrong: str) -> None:
    with pytest.raises(ParameterError, match=wrong):
        ir_measures.calc_aggregate([iro.parse_measure(text)], QRELS, RUN)


@pytest.mark.parametrize(
    "text", ["ESL(baseline='bm25')@5", "ASL(baseline='bm25')@5", "ASL(baseline='bm25')"]
)
def test_an_evaluation_has_the_values_of_calc(bm25: str, text: str) -> None:
    """ASL was refused for a ``missing`` that nobody had written."""
    measure = iro.parse_measure(text)
    found = iro.evaluate(QRELS, {"run": RUN}, measures=[text]).scores_of(text).means()
    assert found.tolist() == [ir_measures.calc_aggregate([measure], QRELS, RUN)[measure]]
