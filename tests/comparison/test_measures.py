"""Measures that are shown beside the facets: their values, where they are shown, and what they must not do."""

from typing import Any

import ir_measures
import numpy as np
import pytest
import scipy.stats
from ir_measures import RR, nDCG

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.showing.charts import facets_of, forest_of
from tests.helpers.many import collection
from tests.helpers.runs import in_blocks, qrels_of, run_of

QRELS, RUNS = collection(3, 60, relevant=3)
QRELS["nothing relevant"] = {"g0": 0}
MEASURES = ["nDCG@10", "RR@10"]


def values(measure: Any, run: Any) -> list[float]:
    """What ir_measures says of the answerable queries, 0 where the run has nothing."""
    found = {
        metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], QRELS, run)
    }
    return [found[query] for query in QRELS if query != "nothing relevant"]


def compared(**settings: Any) -> Any:
    return iro.compare(
        QRELS, {"run0": RUNS["run0"]}, RUNS["run2"], names=["run0", "run2"], **settings
    )


@pytest.mark.parametrize("judged_only", [False, True])
def test_means_and_t_tests_are_those_of_ir_measures_and_scipy(judged_only: bool) -> None:
    result = compared(measures=MEASURES, judged_only=judged_only, cutoff=5)
    assert [means.measure for means in result.measures] == MEASURES
    for means, measure in zip(result.measures, (nDCG @ 10, RR @ 10), strict=True):
        baseline, contender = (values(measure, RUNS[run]) for run in ("run0", "run2"))
        assert means.n == 60
        assert means.baseline == pytest.approx(np.mean(baseline), rel=1e-12)
        assert means.contender == pytest.approx(np.mean(contender), rel=1e-12)
        assert means.difference == pytest.approx(means.contender - means.baseline)
        expected = scipy.stats.ttest_rel(contender, baseline)
        assert means.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        assert means.interval is not None
        assert means.interval.low < means.difference < means.interval.high
        assert means.found == (
            "none" if expected.pvalue > 0.05 else "better" if expected.statistic > 0 else "worse"
        )
    assert ("on the runs as given" in str(result)) == judged_only


def test_they_decide_nothing_and_a_result_with_them_is_restored() -> None:
    result = compared(measures=MEASURES)
    without = compared()
    assert result.verdict == without.verdict
    assert result.measures != without.measures == ()
    assert iro.Comparison.from_json(result.to_json()).measures == result.measures


def test_an_evaluation_has_the_values_and_a_single_measure_needs_no_list() -> None:
    evaluation = iro.evaluate(QRELS, RUNS, measures=["nDCG@10"])
    several = iro.compare(evaluation, "run0", measures=nDCG @ 10)
    assert several["run2"].measures == compared(measures="nDCG@10").measures
    # Not corrected.
    assert all(item.measures[0].pvalue == item.measures[0].test.pvalue for item in several)
    every = iro.compare(evaluation, "run0", measures=["nDCG@10", nDCG @ 10], all_pairs=True)
    last = every[-1]
    assert (last.baseline, last.contender) == ("run1", "run2")
    assert last.measures[0].baseline == pytest.approx(np.mean(values(nDCG @ 10, RUNS["run1"])))
    assert len(last.measures) == 1


def test_every_screen_shows_them() -> None:
    result = compared(measures=MEASURES)
    first, _ = result.measures
    row = f"nDCG@10 {first.baseline:.4f} {first.contender:.4f} {first.difference:+.4f}"
    assert row in " ".join(str(result).split())
    assert "nDCG@10, RR@10: by t; they decide nothing" in str(result)
    assert f"nDCG@10 & {first.baseline:.4f}" in result.to_latex()
    assert result.rows()[0]["nDCG@10_difference"] == first.difference
    assert [row["p"] for row in result.long_rows() if row["facet"] == "nDCG@10"] == [first.pvalue]
    assert [row["name"] for row in facets_of(result)][3:] == MEASURES
    several = iro.compare(
        QRELS,
        {"run0": RUNS["run0"]},
        {name: RUNS[name] for name in ("run1", "run2")},
        measures=MEASURES,
    )
    text = str(several)
    assert f"{first.baseline:.4f} {first.contender:.4f} {first.difference:+.4f}" in text
    assert "by t, not corrected" in text
    assert max(map(len, text.splitlines())) <= 80
    assert r"\multicolumn{3}{c}{nDCG@10}" in several.to_latex()


def test_a_measure_without_a_value_for_some_query_is_refused() -> None:
    runs = {"a": run_of({"q1": 1, "q2": None}), "b": run_of({"q1": 2, "q2": 3})}
    qrels = qrels_of(["q1", "q2"])
    with pytest.raises(
        ParameterError, match=r"ESL@10 is undefined for a on 1 query of 2, .*unanswered='cutoff\+1'"
    ):
        iro.compare(qrels, runs["a"], runs["b"], names=["a", "b"], measures=["ESL@10"])
    finite = iro.compare(qrels, runs["a"], runs["b"], measures=["ESL(unanswered='cutoff+1')@10"])
    (means,) = finite.measures
    assert (means.baseline, means.contender, means.higher_is_better) == (6.0, 2.5, False)
    assert "(lower is better)" in str(finite)


def test_clusters_are_the_unit_of_their_test() -> None:
    qrels, runs = collection(2, 40, relevant=2, seed=3)
    blocks = {query: number // 4 for number, query in enumerate(qrels)}
    found = [
        iro.compare(qrels, *runs.values(), clusters=clusters, measures=["RR@10"])
        for clusters in (None, blocks)
    ]
    alone, together = (result.measures[0] for result in found)
    assert alone.difference == pytest.approx(together.difference)
    assert alone.pvalue != together.pvalue


def test_one_note_names_all_means_that_go_the_other_way() -> None:
    """Most answers move from rank 2 to 1, some from 5 to 60: the search is longer, and all measures are higher."""
    ranks = in_blocks((60, 2, 1), (20, 5, 60), (20, 3, 3))
    runs = [run_of(of_run, depth=100) for of_run in ranks]
    result = iro.compare(qrels_of(ranks[0]), *runs, measures=["RR@10", "P@100"])
    assert result.verdict.label == "worse on ranking"
    (note,) = [
        note
        for note in result.notes
        if note.startswith("The mean over all queries goes the other way")
    ]
    assert "MRR 0.4067 to 0.6700" in note
    assert "and RR@10 0.4067 to 0.6667 (t, p = " in note
    assert "P@100" not in note
    assert "MRR mixes both facets" in note
    assert note.endswith("The label does not depend on them.")
    alone = iro.compare(qrels_of(ranks[0]), *runs)
    assert any("The label does not depend on it." in note for note in alone.notes)
    agreeing = iro.compare(qrels_of(ranks[0]), runs[0], runs[0], measures=["RR@10"])
    assert not any("other way" in note for note in agreeing.notes)


def test_slices_collections_and_gates_show_them() -> None:
    """Runs in memory that were not kept are read again once, not slice by slice."""
    qrels, runs = collection(2, 80, relevant=2, seed=5)
    slices = {query: "odd" if int(query[1:]) % 2 else "even" for query in qrels}
    evaluation = iro.evaluate(qrels, runs, measures=["RR@10"])
    by_slice = iro.compare_slices(
        evaluation, "run0", "run1", by=slices, measures=["RR@10"], resamples=9
    )
    for row in by_slice.conditions:
        (means,) = row.comparison.measures
        kept = evaluation.restrict(
            [query for query, label in slices.items() if label == row.condition]
        )
        assert means.contender == pytest.approx(kept.scores_of("RR@10").means()[1])
        assert f"{row.condition} {means.baseline:.4f} {means.contender:.4f}" in " ".join(
            str(by_slice).split()
        )
    forest: Any = forest_of(by_slice)
    assert forest.panels[-1][0] == "RR@10, difference"
    drawn = [row.estimates[-1].gain for row in forest.rows]
    assert drawn == [row.comparison.measures[0].difference for row in by_slice.conditions]
    suite = {"first": evaluation, "second": evaluation}
    collections = iro.compare_collections(suite, "run0", measures=["RR@10"])
    (means,) = iro.compare(evaluation, "run0", "run1", measures=["RR@10"]).measures
    assert [row.comparison.measures for row in collections.conditions] == [(means,)] * 2
    assert f"second {means.baseline:.4f}" in " ".join(str(collections).split())
    for compared in (collections, iro.compare(evaluation, "run0", "run1", measures="RR@10")):
        gate = iro.gate(compared, margins=(1.0, 0.5))
        assert {decision.measures for decision in gate.decisions} == {(means,)}
        assert f"{means.baseline:.4f} {means.contender:.4f}" in str(gate)
        assert gate.rows()[0]["RR@10_p"] == means.pvalue
        assert iro.GateResult.from_json(gate.to_json()) == gate
    unread = iro.evaluate(qrels, runs)
    with pytest.warns(UserWarning, match="nDCG@10 was not kept") as warned:
        iro.compare_slices(unread, "run0", by=slices, measures=["nDCG@10"], resamples=9)
    assert len(warned) == 1
