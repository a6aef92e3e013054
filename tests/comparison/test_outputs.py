"""Comparisons of values that another tool computed: ranks are those of the runs, other values loops."""

from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from ir_measures import RR, nDCG

import ir_outcomes as iro
from ir_outcomes import ESL
from ir_outcomes.errors import MismatchError, ParameterError
from tests.helpers.comparisons import all_notes, compare_pair
from tests.helpers.estimate import check_row, margin_interval
from tests.helpers.literal import Pair
from tests.helpers.many import collection

QRELS, RUNS = collection(2, 80, relevant=2, depth=30)
Values = dict[str, dict[str, float]]


def compared(*outputs: Any, **settings: Any) -> iro.Comparison:
    found = iro.compare_outputs(*outputs, **settings)
    assert isinstance(found, iro.Comparison)
    return found


def test_reciprocal_ranks_and_search_lengths_give_the_verdict_of_the_runs(tmp_path: Path) -> None:
    expected = compare_pair(QRELS, *RUNS.values(), unit="query")
    finite = ESL(unanswered="cutoff+1") @ 100
    sources: list[list[Any]] = [
        [list(ir_measures.iter_calc([measure], QRELS, run)) for run in RUNS.values()]
        for measure in (RR, ESL @ 100, finite)
    ]
    sources.append([ir_measures.calc([RR, nDCG @ 10], QRELS, run) for run in RUNS.values()])
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"recip_rank", "map"})
    sources.append([evaluator.evaluate(run) for run in RUNS.values()])
    paths = [tmp_path / f"{name}.eval" for name in RUNS]
    for path, metrics in zip(paths, sources[0], strict=True):
        lines = (f"recip_rank\t{each.query_id}\t{each.value:.4f}\n" for each in metrics)
        path.write_text("".join([*lines, "recip_rank\tall\t0.5\n"]))
    for outputs in (*sources, paths):
        found = compared(*outputs)
        assert found.outcomes == expected.outcomes
        for row, same in ((found.coverage, expected.coverage), (found.ranking, expected.ranking)):
            assert (row.difference, row.pvalue) == pytest.approx((same.difference, same.pvalue))
            assert row.tests.keys() == same.tests.keys()


@pytest.mark.parametrize("clustered", [False, True])
def test_other_measures_split_at_zero(clustered: bool) -> None:
    outputs = [list(ir_measures.iter_calc([nDCG @ 10], QRELS, run)) for run in RUNS.values()]
    a, b = ({each.query_id: each.value for each in output} for output in outputs)
    clusters = {query: query[:2] for query in a} if clustered else None
    found = compared(*outputs, clusters=clusters, margins=(0.1,))
    pairs = [Pair(query, 0, 0, a[query], b[query]) for query in a]
    both = [pair for pair in pairs if pair.a and pair.b]
    coverage = [pair._replace(a=100.0 * (pair.a > 0), b=100.0 * (pair.b > 0)) for pair in pairs]
    assert found.all_queries is not None
    for row, of_row, largest in (
        (found.coverage, coverage, 100.0),
        (found.ranking, both, 1.0),
        (found.all_queries, pairs, 1.0),
    ):
        check_row(row, of_row, largest, clusters=clusters)
    assert (found.ranking.higher_is_better, found.ranking.measured_in) == (True, "nDCG@10")
    # The margin is on the mean.
    assert [row.margin is None for row in found.deciding] == [True, True, False]
    assert found.all_queries.margin is not None
    interval = found.all_queries.margin.interval
    assert interval is not None
    assert found.verdict.non_inferior == (interval.low > -0.1)
    if not clustered:
        sums = [(pair.b - pair.a, 1.0) for pair in pairs]
        assert interval == pytest.approx(margin_interval(sums, 1.0))


def test_values_that_say_nothing_of_what_was_found_have_their_mean_alone() -> None:
    random = np.random.default_rng(2)
    a, b = ({f"q{n}": {"cost": value} for n, value in enumerate(random.random(40))} for _ in "ab")
    for higher in (True, False):
        found = compared(a, b, higher_is_better=higher)
        assert (found.coverage.n, found.ranking.n) == (0, 0)
        assert found.deciding == (found.all_queries,)
        pairs = [Pair(q, 0, 0, a[q]["cost"], b[q]["cost"]) for q in a]
        assert found.all_queries is not None
        assert found.all_queries.higher_is_better == higher
        check_row(found.all_queries, pairs, None)
    with pytest.raises(ParameterError, match="direction of cost is not known"):
        compared(a, b)


@pytest.mark.parametrize(
    ("measure", "cutoff"), [("nDCG@10", 10), ("AP", None), ("RR(rel=2)@10", 10)]
)
def test_the_cutoff_and_grade_of_a_measure_are_those_of_its_name(
    measure: str, cutoff: int | None
) -> None:
    a, b = ({f"q{n}": {measure: value} for n in range(40)} for value in (0.25, 0.5))
    found = compared(a, b)
    assert (found.cutoff, found.rel) == (cutoff, 2 if "rel=2" in measure else None)
    assert found.verdict.label == "better on ranking"


A: Values = {"q1": {"RR": 0.5, "nDCG@10": 0.3}, "q2": {"RR": 1.0, "nDCG@10": 1.0}}
ONE: Values = {"q1": {"RR": 1.0}}


def test_unanswerable_queries_and_names() -> None:
    several = iro.compare_outputs(A, [A, A], measure="RR")
    assert [(item.baseline, item.contender) for item in several] == [
        ("baseline", "contender 1"),
        ("baseline", "contender 2"),
    ]
    assert several[1].verdict.label == "no significant difference"
    told = compared(A, ONE, measure="RR", qrels={"q1": {"d": 1}, "q2": {"d": 0}})
    assert (told.n_queries, told.n_unanswerable) == (1, 1)
    both = compared(A, ONE, measure="RR", qrels={"q1": {"d": 1}, "q2": {"d": 1}})
    assert (both.n_queries, both.outcomes.lost) == (2, 1)


def test_rounded_values_are_the_ranks_that_they_can_stand_for_and_others_stay() -> None:
    """A mean over tied documents is the reciprocal of no rank."""
    written = {"q1": 1.0, "q2": 0.3333, "q3": 0.0101, "q4": 0.4167, "q5": 0.7}
    lengths = [1.0, 3.0, 99.0, 1 / 0.4167, 1 / 0.7]
    outputs = [
        {query: {"RR": value} for query, value in values.items()}
        for values in (written, dict.fromkeys(written, 0.5))
    ]
    found = compared(*outputs)
    assert [query.baseline for query in found.per_query()] == pytest.approx(lengths, abs=1e-12)
    assert any(note.kind == "values" for note in all_notes(found))


@pytest.mark.parametrize(
    ("baseline", "contender", "settings", "error", "message"),
    [
        (
            {"q": {"RR(rel=2)": 1.0}},
            {"q": {"RR(rel=2)": 1.0}},
            {"rel": 1},
            ParameterError,
            "counts grades from 2 on",
        ),
        (A, A, {"correction": "sidak", "measure": "RR"}, ParameterError, "must be one of holm"),
        (A, {"z": {"RR": 1.0}}, {}, MismatchError, "have no query in common"),
        ({"q": {"AP": 1, "P@5": 1}}, {"q": {"AP": 1, "P@5": 1}}, {}, ParameterError, "several"),
        ({"q": 1.0}, A, {}, ParameterError, "name it with `measure`"),
        (A, A, {"names": ("A",)}, ParameterError, "one name for each of the 2 outputs"),
        (A, A, {"qrels": {"q9": {"d": 1}}}, MismatchError, "no query of the outputs"),
        (A, A, {"measure": "nDCG@10", "margins": (1.0, 0.5)}, ParameterError, "one number"),
        (ONE, ONE, {"margins": (0.5,)}, ParameterError, "two or three numbers"),
    ],
)
def test_wrong_outputs(
    baseline: Any, contender: Any, settings: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        iro.compare_outputs(baseline, contender, **settings)


def test_what_is_left_out_is_counted_in_one_note() -> None:
    old = {f"q{number}": number / 80 for number in range(40)}
    new = {query: value for query, value in old.items() if query not in {"q3", "q4", "q5"}}
    found = iro.compare_outputs(old, new, measure="nDCG@10", allow=["missing-values"])
    assert found.n_queries == 37
    kinds = [note.kind for note in all_notes(found)]
    assert kinds.count("missing-values") == 1
    assert not {"missing", "many missing"} & {*kinds}


@pytest.mark.parametrize("measure", ["ESL@10", "RR(rel=2)@10", "nDCG@10"])
def test_without_qrels_a_note_says_what_cannot_be_told_apart(measure: str) -> None:
    values = {"q1": {measure: 1.0}, "q2": {measure: 1.0}}
    qrels = {"q1": {"d": 2}, "q2": {"d": 2}, "q3": {"d": 0}}
    alone = iro.compare_outputs(values, values, measure=measure)
    beside = iro.compare_outputs(values, values, measure=measure, qrels=qrels)
    assert any("qrels" in note for note in alone.background)
    assert not any("Without qrels" in note for note in beside.background)
    assert (alone.n_unanswerable, beside.n_unanswerable) == (0, 1)
