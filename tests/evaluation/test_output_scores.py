from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, IrOutcomesWarning, MismatchError, ParameterError
from tests.helpers.many import collection


def test_all_forms_are_the_same(tmp_path: Path) -> None:
    qrels, runs = collection(3, 12)
    metrics = {
        name: list(ir_measures.iter_calc([ir_measures.nDCG @ 5, ir_measures.RR], qrels, run)) for name, run in runs.items()
    }
    expected = iro.evaluate(qrels, runs, measures=["nDCG@5"]).scores_of("nDCG@5").on(sorted(qrels))
    values = {name: {m.query_id: m.value for m in found if str(m.measure) == "nDCG@5"} for name, found in metrics.items()}
    wide = pd.DataFrame.from_dict(values, orient="index")
    rows = [(name, m.query_id, str(m.measure), m.value) for name, found in metrics.items() for m in found]
    long = pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])
    long.to_csv(tmp_path / "perquery.csv", index=False)
    wide.to_csv(tmp_path / "wide.tsv", sep="\t", index_label="run")
    for source in (metrics, values, wide, long, tmp_path / "perquery.csv", tmp_path / "wide.tsv"):
        scores = iro.scores_from_outputs(source, measure="nDCG@5")
        assert (scores.measure, scores.higher_is_better, scores.runs) == ("nDCG@5", True, tuple(runs))
        assert scores.query_ids == tuple(sorted(qrels))
        order = [expected.query_ids.index(query) for query in scores.query_ids]
        assert np.allclose(scores.values, expected.values[:, order], atol=1e-12)
    named = iro.scores_from_outputs(list(values.values()), measure="nDCG@5", names=list(runs))
    assert named.runs == tuple(runs)


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
    with pytest.raises(ParameterError, match="name it with measure="):
        iro.scores_from_outputs({"a": {"q1": 0.5}})
    with pytest.raises(ParameterError, match="there is no output"):
        iro.scores_from_outputs([])
    with pytest.raises(ParameterError, match="2 outputs and 1 names"):
        iro.scores_from_outputs([{"q": 1.0}, {"q": 1.0}], measure="AP", names=["a"])
    with pytest.raises(FormatError, match="output of a: row 1: ESL of query q1 is infinite"):
        iro.scores_from_outputs({"a": {"q1": float("inf")}, "b": {"q1": 1.0}}, measure="ESL")
    with pytest.raises(MismatchError, match="different measures"):
        iro.scores_from_outputs({"a": {"q1": {"AP": 0.5}}, "b": {"q1": {"RR": 0.5}}})


def test_an_empty_cell_is_a_query_without_a_value(tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("run,401,402\nb,0.5,\na,0.25,1\n")
    frame = pd.read_csv(table, index_col=0)
    for source in (table, frame):
        with pytest.warns(IrOutcomesWarning, match="b has no value of AP for 402, which other outputs have; counted as 0"):
            scores = iro.scores_from_outputs(source, measure="AP")
        assert (scores.runs, scores.query_ids, scores.values.tolist()) == (("b", "a"), ("401", "402"), [[0.5, 0], [0.25, 1]])
