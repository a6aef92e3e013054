from __future__ import annotations

import json
from pathlib import Path

import ir_measures
import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesWarning, MismatchError, ParameterError
from tests.helpers.many import collection


def test_all_forms_are_the_same(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    qrels, runs = collection(3, 12)
    measures = [ir_measures.nDCG @ 5, ir_measures.RR]
    metrics = {name: list(ir_measures.iter_calc(measures, qrels, run)) for name, run in runs.items()}
    evaluation = iro.evaluate(qrels, runs, measures=["nDCG@5"])
    expected = evaluation.scores_of("nDCG@5").on(sorted(qrels))
    files = []
    for name, found in metrics.items():
        files.append(tmp_path / f"{name}.jsonl")
        lines = [{"query_id": m.query_id, "measure": str(m.measure), "value": m.value} for m in found]
        files[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
    values = {name: {m.query_id: m.value for m in found if str(m.measure) == "nDCG@5"} for name, found in metrics.items()}
    wide = pandas.DataFrame.from_dict(values, orient="index")
    long = pandas.DataFrame(
        [(name, m.query_id, str(m.measure), m.value) for name, found in metrics.items() for m in found],
        columns=["name", "qid", "measure", "value"],
    )
    long.to_csv(tmp_path / "perquery.csv", index=False)
    for scores in (
        iro.scores_from_outputs(metrics, measure="nDCG@5"),
        iro.scores_from_outputs(files, measure="nDCG@5"),
        iro.scores_from_outputs(list(metrics.values()), measure="nDCG@5", names=list(runs)),
        iro.scores_from_outputs(values, measure="nDCG@5"),
        iro.scores_from_outputs(wide, measure="nDCG@5"),
        iro.scores_from_outputs(long, measure="nDCG@5"),
        iro.scores_from_outputs(tmp_path / "perquery.csv", measure="nDCG@5", names=list(runs)),
    ):
        assert (scores.measure, scores.higher_is_better) == ("nDCG@5", True)
        assert [name.partition(".")[0] for name in scores.runs] == list(runs)
        assert scores.query_ids == tuple(sorted(qrels))
        order = [expected.query_ids.index(query) for query in scores.query_ids]
        assert np.allclose(scores.values, expected.values[:, order], atol=1e-12)


def test_missing_values_are_warned_of() -> None:
    with pytest.warns(IrOutcomesWarning, match="b has no value of nDCG@10 for q2, which other outputs have; counted as 0"):
        scores = iro.scores_from_outputs({"a": {"q1": 0.5, "q2": 1.0}, "b": {"q1": 0.5}}, measure="nDCG@10")
    assert scores.values.tolist() == [[0.5, 1.0], [0.5, 0.0]]
    with pytest.warns(IrOutcomesWarning, match="left out of the mean of b"):
        scores = iro.scores_from_outputs({"a": {"q1": 5, "q2": 1}, "b": {"q1": 5}}, measure="ESL@10")
    assert not scores.higher_is_better
    assert np.isnan(scores.values[1, 1])


def test_directions() -> None:
    values = {"a": {"q1": 0.5}, "b": {"q1": 0.25}}
    assert iro.scores_from_outputs(values, measure="recip_rank").higher_is_better
    assert not iro.scores_from_outputs(values, measure="latency", higher_is_better=False).higher_is_better
    with pytest.raises(ParameterError, match="the direction of latency is not known"):
        iro.scores_from_outputs(values, measure="latency")


def test_what_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ParameterError, match="name it with measure="):
        iro.scores_from_outputs({"a": {"q1": 0.5}})
    with pytest.raises(ParameterError, match="there is no output"):
        iro.scores_from_outputs([])
    with pytest.raises(ParameterError, match="2 outputs and 1 names"):
        iro.scores_from_outputs([{"q": 1.0}, {"q": 1.0}], measure="AP", names=["a"])
    with pytest.raises(ParameterError, match="several outputs are called a"):
        iro.scores_from_outputs([{"q": 1.0}, {"q": 1.0}], measure="AP", names=["a", "a"])
    with pytest.raises(ParameterError, match="two rows of the same name"):
        iro.scores_from_outputs(pandas.DataFrame({"q1": [1.0, 2.0]}, index=["a", "a"]), measure="AP")
    with pytest.raises(ParameterError, match="infinite"):
        iro.scores_from_outputs({"a": {"q1": float("inf")}, "b": {"q1": 1.0}}, measure="ESL")
    with pytest.raises(MismatchError, match="different measures"):
        iro.scores_from_outputs({"a": {"q1": {"AP": 0.5}}, "b": {"q1": {"RR": 0.5}}})
