import math
from pathlib import Path
from typing import Any

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


def test_missing_values_are_warned_of(tmp_path: Path) -> None:
    with pytest.warns(IrOutcomesWarning, match="left out of the mean of b"):
        scores = iro.scores_from_outputs({"a": {"q1": 5, "q2": 1}, "b": {"q1": 5}}, measure="ESL@10")
    assert not scores.higher_is_better
    assert np.isnan(scores.values[1, 1])
    table = tmp_path / "scores.csv"
    table.write_text("run,401,402\nb,0.5,\na,0.25,1\n")
    for source in (table, pd.read_csv(table, index_col=0), {"b": {"401": 0.5}, "a": {"401": 0.25, "402": 1}}):
        with pytest.warns(IrOutcomesWarning, match="b has no value of AP for 402, which other outputs have; counted as 0"):
            scores = iro.scores_from_outputs(source, measure="AP")
        assert (scores.runs, scores.query_ids, scores.values.tolist()) == (("b", "a"), ("401", "402"), [[0.5, 0], [0.25, 1]])


@pytest.mark.parametrize(
    ("sources", "settings", "error", "message"),
    [
        ({"a": {"q1": 0.5}}, {}, ParameterError, "name it with measure="),
        ({"a": {"q1": 0.5}}, {"measure": "latency"}, ParameterError, "the direction of latency is not known"),
        ([], {}, ParameterError, "there is no output"),
        ([{"q": 1.0}, {"q": 1.0}], {"measure": "AP", "names": ["a"]}, ParameterError, "2 outputs and 1 names"),
        ({"a": {"q1": math.inf}}, {"measure": "ESL"}, FormatError, "output of a: row 1: ESL of query q1 is infinite"),
        ({"a": {"q1": {"AP": 0.5}}, "b": {"q1": {"RR": 0.5}}}, {}, MismatchError, "different measures"),
    ],
)
def test_directions_and_what_is_refused(sources: Any, settings: Any, error: type[Exception], message: str) -> None:
    values = {"a": {"q1": 0.5}, "b": {"q1": 0.25}}
    assert iro.scores_from_outputs(values, measure="recip_rank").higher_is_better
    assert not iro.scores_from_outputs(values, measure="latency", higher_is_better=False).higher_is_better
    with pytest.raises(error, match=message):
        iro.scores_from_outputs(sources, **settings)
