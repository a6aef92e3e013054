"""Rows of comparisons against loops over dicts: the definitions, and the tests of SciPy."""

from typing import Any

import ir_measures
import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ir_measures import nDCG

import ir_outcomes as iro
from ir_outcomes.errors import MismatchError
from ir_outcomes.pairs.verdict import MIRRORED
from tests.helpers import literal, strategies
from tests.helpers.comparisons import compare_pair, compare_ranks
from tests.helpers.estimate import check_row
from tests.helpers.many import collection
from tests.helpers.runs import in_blocks, qrels_of, run_of

ALLOWED = ("unknown-ids", "rising-scores", "equal-scores")
CUTOFF = 5
some_runs = strategies.runs.filter(bool)
units = st.sampled_from(["query", "document"])
CLUSTERS = {"q1": "c1", "q2": "c1", "q10": "c2", "ü": "c2"}


def compared(qrels: Any, a: Any, b: Any, **options: Any) -> iro.Comparison:
    try:
        return compare_pair(qrels, a, b, cutoff=CUTOFF, allow=ALLOWED, **options)
    except MismatchError:  # nothing is answerable, or a run is empty
        assume(False)
        raise


@pytest.mark.filterwarnings("ignore:every cluster has one answerable query")
@given(
    qrels=strategies.qrels,
    a=some_runs,
    b=some_runs,
    unit=units,
    rel=st.integers(1, 2),
    clustered=st.booleans(),
)
def test_rows_against_the_definitions(
    qrels: Any, a: Any, b: Any, unit: Any, rel: int, clustered: bool
) -> None:
    clusters = CLUSTERS if clustered else None
    options: Any = {"unit": unit, "rel": rel, "clusters": clusters}
    found = compared(qrels, a, b, **options)
    expected = literal.rows(qrels, [a], [b], unit, CUTOFF, rel)
    largest = {"coverage": 100.0, "ranking": CUTOFF - 1.0, "all queries": float(CUTOFF)}
    assert found.all_queries is not None
    for row in (found.coverage, found.ranking, found.all_queries):
        check_row(
            row,
            expected[row.name],
            largest[row.name],
            clusters=clusters,
            identical=found.identical,
        )
    assert found.naive.difference == pytest.approx(
        np.mean([pair.b - pair.a for pair in expected["MRR"]]), abs=1e-12
    )
    assert found.n_queries + found.n_unanswerable == len(qrels)
    if "t" in found.coverage.tests:  # by document, where queries have several
        change = np.array([pair.b - pair.a for pair in expected["coverage"]])
        if np.ptp(change) > 1e-9:
            t = scipy.stats.ttest_1samp(change, 0)
            assert found.coverage.tests["t"].pvalue == pytest.approx(t.pvalue, rel=1e-6)
    # Mirrored runs mirror everything, and JSON, which has no NaN, holds everything.
    back = compared(qrels, b, a, **options)
    assert back.verdict.label == MIRRORED[found.verdict.label]
    assert [at.label for at in back.cutoffs] == [MIRRORED[at.label] for at in found.cutoffs]
    assert back.outcomes.won == found.outcomes.lost
    for forth, mirrored in zip(found.parts, back.parts, strict=True):
        assert (forth.pvalue, forth.better) == (mirrored.pvalue, mirrored.worse)
        assert forth.difference == -(mirrored.difference or 0.0)
        if forth.interval is not None and mirrored.interval is not None:
            assert forth.interval == (-mirrored.interval.high, -mirrored.interval.low)
    restored = iro.Comparison.from_json(found.to_json(per_query=True))
    assert (restored, tuple(restored.queries or ())) == (found, tuple(found.queries or ()))


ranks = st.lists(
    st.tuples(*[st.one_of(st.none(), st.integers(1, 12))] * 2), min_size=1, max_size=40
).filter(lambda pairs: any(a for a, _ in pairs) and any(b for _, b in pairs))


@settings(max_examples=40)
@given(pairs=ranks)
def test_one_relevant_document_per_query_is_the_same_in_both_units(pairs: Any) -> None:
    queries = [f"q{n}" for n in range(len(pairs))]
    runs = [run_of(dict(zip(queries, of_run, strict=True))) for of_run in zip(*pairs, strict=True)]
    data = []
    for unit in ("query", "document"):
        found = compare_pair(
            qrels_of(queries), *runs, cutoff=CUTOFF, unit=unit, margins=(5.0, 1.0), allow=ALLOWED
        ).to_dict(per_query=True)
        for name in ("notes", "background"):
            del found[name]  # they name the unit
        del found["settings"]["unit"], found["reciprocal"]["name"], found["verdict"]["sentence"]
        for row in ("ranking", "all_queries"):
            del found[row]["measured_in"]
        data.append(found)
    assert data[0] == data[1]


@given(pairs=ranks)
def test_the_papers_tests_are_those_of_scipy_and_decide_its_rules(pairs: Any) -> None:
    """On coverage, on ranking, on reciprocal ranks over all queries and on what both found."""
    found = compare_ranks(*in_blocks(*((1, a, b) for a, b in pairs)), allow=ALLOWED)
    both = np.array([(x, y) for x, y in pairs if x and y], dtype=float).reshape(-1, 2).T
    reciprocal = np.array([[1 / rank if rank else 0.0 for rank in pair] for pair in pairs]).T
    assert found.reciprocal is not None
    for row, (x, y) in (
        (found.ranking, both),
        (found.reciprocal, 1 / both),
        (found.naive, reciprocal),
    ):
        if len(set(np.round(y - x, 12))) > 1:
            t = scipy.stats.ttest_rel(y, x)
            assert row.tests["t"].pvalue == pytest.approx(t.pvalue, rel=1e-9)
        if np.any(x != y) and len(x) > 1:
            wilcoxon = scipy.stats.wilcoxon(np.round(y - x, 12), method="auto", correction=False)
            assert row.tests["wilcoxon"].pvalue == pytest.approx(wilcoxon.pvalue, rel=1e-9)
        elif not np.any(x != y):
            assert {test.pvalue for test in row.tests.values()} == {1.0}
    if np.ptp(reciprocal):
        u = scipy.stats.mannwhitneyu(*reciprocal, method="asymptotic", use_continuity=False)
        assert found.naive.tests["ranksum"].pvalue == pytest.approx(u.pvalue, rel=1e-9)
    won = sum(x is None and y is not None for x, y in pairs)
    lost = sum(x is not None and y is None for x, y in pairs)
    exact = found.coverage.tests["exact"]
    if won + lost:
        assert exact.pvalue == pytest.approx(scipy.stats.binomtest(won, won + lost).pvalue)
    signs = (
        np.sign(won - lost) * (exact.pvalue <= 0.05),
        np.sign(found.ranking.gain) * (found.ranking.tests["t"].pvalue <= 0.05),
    )
    says = {1: "better", -1: "worse", 0: "undecided"}
    assert found.verdict.do_no_harm == says[np.sign(sum(signs))]
    assert found.verdict.strict == says[signs[0] if signs[0] == signs[1] else 0]


@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
def test_measures_are_those_of_ir_measures(judged_only: bool, clustered: bool) -> None:
    qrels, runs = collection(2, 60, relevant=3)
    qrels["nothing relevant"] = {"g0": 0}
    clusters = {query: query[:2] for query in qrels} if clustered else None
    options: Any = {"cutoff": CUTOFF, "judged_only": judged_only, "clusters": clusters}
    found = compare_pair(qrels, *runs.values(), measures=["nDCG@10"], **options)
    values = [
        {each.query_id: each.value for each in ir_measures.iter_calc([nDCG @ 10], qrels, run)}
        for run in runs.values()
    ]
    (row,) = found.measures
    pairs = [
        literal.Pair(query, 0, 0, values[0][query], values[1][query]) for query in list(qrels)[:-1]
    ]
    check_row(row, pairs, 1.0, clusters=clusters)
    shown = {-1: "worse", 1: "better", 0: "none"}
    assert row.found == shown[np.sign(row.gain) * (row.pvalue <= 0.05)]
    plain = compare_pair(qrels, *runs.values(), **options)
    assert (plain.verdict, plain.measures) == (found.verdict, ())
    assert found.rows()[0]["nDCG@10_difference"] == row.difference
    evaluated = iro.evaluate(qrels, runs, measures=["nDCG@10"], **options)
    assert iro.compare(evaluated, "run0", "run1", measures=nDCG @ 10).measures == (row,)


def test_a_measure_that_is_undefined_for_a_query_is_refused() -> None:
    a, b = in_blocks((1, 1, 2), (1, None, 3))
    with pytest.raises(iro.ParameterError, match=r"undefined .*unanswered='cutoff\+1'"):
        compare_ranks(a, b, measures=["ESL@10"])
    (row,) = compare_ranks(a, b, measures=["ESL(unanswered='cutoff+1')@10"]).measures
    assert (row.baseline, row.contender, row.higher_is_better) == (6.0, 2.5, False)


def test_lin_section_4_examples() -> None:
    """Lin et al. 2021, section 4: q1 to q6 are comparable, q7 and q8 are apples and oranges."""
    a = {"q1": 2, "q2": 50, "q3": 1, "q4": 10, "q5": 1, "q6": 5, "q7": 1, "q8": None}
    b = {"q1": 4, "q2": 52, "q3": 4, "q4": 40, "q5": 4, "q6": 2, "q7": 100, "q8": 99}
    queries = {query.query_id: query for query in compare_ranks(a, b).per_query()}
    assert queries["q1"].difference == queries["q2"].difference == 2.0
    assert [queries[q].outcome for q in ("q7", "q8")] == ["both", "won"]
    assert queries["q8"].baseline is None
    equal = compare_ranks({"q5": 1, "q6": 5}, {"q5": 4, "q6": 2})
    assert equal.ranking.baseline == equal.ranking.contender == 3.0
    # Section 5: equal ESL, other reciprocal ranks.
    mrr = compare_ranks({"q1": 1, "q2": 9}, {"q1": 4, "q2": 6})
    assert mrr.ranking.difference == 0.0
    assert (mrr.naive.baseline, mrr.naive.contender) == pytest.approx((0.556, 0.208), abs=5e-4)
