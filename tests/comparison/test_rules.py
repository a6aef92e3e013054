"""Rules that decide on labels and margins, each at the point where its answer changes."""

import math
from collections.abc import Callable
from itertools import product
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.comparison.holdings import _documents, _first
from ir_outcomes.comparison.margins import against_margins, check_can_be_exceeded
from ir_outcomes.comparison.runs_of_systems import holds_for_new_runs
from ir_outcomes.comparison.verdict import LABELS, meaning_of
from ir_outcomes.statistics.intervals import Interval, margin_interval
from ir_outcomes.types import Unit
from tests.helpers import literal
from tests.helpers.comparisons import all_notes, compare_pair, compare_ranks, compare_several
from tests.helpers.many import collection
from tests.helpers.runs import in_blocks, qrels_of, run_of


def test_without_a_third_margin_it_is_what_the_other_two_tolerate_over_all_queries() -> None:
    """Of a share of the queries that both answer the ranking margin, and each answer that is lost costs k ranks."""
    # More answers are won than lost, but late ones, and all facets are well inside of their
    # margins.
    runs = in_blocks((400, 5, 6), (400, 6, 5), (30, 1, None), (60, None, 20), (110, None, None))
    found = compare_ranks(*runs, depth=20)
    assert found.outcomes.shares is not None
    assert found.restricted is not None
    assert (found.outcomes.shares.both, found.restricted.horizon) == (0.8, 20)
    assert found.restricted.margin_interval is not None
    harm = found.restricted.margin_interval.high

    def non_inferior(*margins: float) -> Any:
        return compare_ranks(*runs, depth=20, margins=margins).verdict.non_inferior

    # At this ranking margin the implied one is the harm that cannot be excluded.
    coverage = 0.5
    ranking = (harm - coverage / 100 * 20) / 0.8
    assert [non_inferior(coverage, ranking + slack) for slack in (-0.01, 0.01)] == [False, True]
    assert [non_inferior(coverage, 0.5, harm + slack) for slack in (-0.01, 0.01)] == [False, True]


@pytest.mark.parametrize(
    ("depth", "expected"), [(19, [10]), (20, [10, 20]), (49, [10, 20]), (50, [10, 20, 50])]
)
def test_labels_at_cutoffs_up_to_the_longest_list_of_the_shallower_run(
    depth: int, expected: list[int]
) -> None:
    a, b = in_blocks((30, 3, 2), (30, 9, 15), (30, 2, 2))
    qrels = qrels_of(a)
    deep, shallow = run_of(a, 120), run_of(b, depth)
    one_list_is_longer = {
        query: dict(list(ranked.items())[: 15 if query == "q1" else depth])
        for query, ranked in shallow.items()
    }
    for contender in (shallow, one_list_is_longer):
        for runs in ((deep, contender), (contender, deep)):
            found = compare_pair(qrels, *runs)
            shown = [at.cutoff for at in found.cutoffs]
            assert shown == [*expected, 100]
            for at in found.cutoffs:
                assert at.label == compare_pair(qrels, *runs, cutoff=at.cutoff).verdict.label


def test_the_usual_cutoffs_end_at_1000() -> None:
    a, b = in_blocks((2, 3, 2), (2, 9, 15))
    for depth, expected in (
        (999, [10, 20, 50, 100]),
        (1000, [10, 20, 50, 100, 1000]),
        (1200, [10, 20, 50, 100, 1000]),
    ):
        found = compare_pair(qrels_of(a), run_of(a, 1200), run_of(b, depth), cutoff=100)
        assert [at.cutoff for at in found.cutoffs] == expected


def test_each_contender_has_the_cutoffs_that_it_reaches() -> None:
    a, b = in_blocks((30, 3, 2), (30, 9, 15))
    runs = [run_of(b, depth) for depth in (12, 60, 25)]
    found = compare_several(qrels_of(a), run_of(a, 120), runs, cutoff=20)
    assert [[at.cutoff for at in item.cutoffs] for item in found] == [
        [10, 20],
        [10, 20, 50],
        [10, 20],
    ]


Lists = tuple[tuple[str, ...], tuple[str, ...]]


@pytest.mark.parametrize(
    ("word", "label", "lists"),
    [
        # B finds it earlier. A has a document that nobody judged in front of it: nobody's, one
        # between, one in front of B's.
        ("stands", "better", (("x", "x", "gold"), ("x", "gold"))),
        ("could weaken", "better", (("x", "new", "gold"), ("x", "gold"))),
        ("could reverse", "better", (("new", "x", "gold"), ("x", "gold"))),
        # Both find it at the same place.
        ("stands", "none", (("x", "gold"), ("x", "gold"))),
        ("could decide", "none", (("x", "gold"), ("new", "gold"))),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_what_unjudged_documents_could_do_to_a_direction(
    word: str, label: str, lists: Lists, swapped: bool
) -> None:
    queries = [f"q{number}" for number in range(40)]
    qrels = {query: {"gold": 1, "x": 0} for query in queries}

    def run(documents: tuple[str, ...]) -> literal.Run:
        # "x" stands for judged documents that are not relevant, which have one name in each place.
        names = [
            "gold" if document == "gold" else f"{document}{place}"
            for place, document in enumerate(documents)
        ]
        return {query: {name: 9.0 - place for place, name in enumerate(names)} for query in queries}

    for judged in qrels.values():
        judged.update(dict.fromkeys(("x0", "x1", "x2"), 0))
    runs = {"A": run(lists[0]), "B": run(lists[1])}
    if swapped:
        runs = {"A": runs["B"], "B": runs["A"]}
        label = {"better": "worse"}.get(label, label)
    evaluation = iro.evaluate(qrels, runs, cutoff=10, unjudged=True)
    found = iro.holes(evaluation, "A", "B")["B"]
    assert compare_pair(evaluation, "A", "B").verdict.direction == label
    assert found.bound.word == word


def test_only_queries_that_a_run_does_not_list_are_missing_among_judged_documents() -> None:
    """Without judged_only an empty list is the same as none; with it, it can be one of unjudged documents."""
    qrels = {query: {"gold": 1, "bad": 0} for query in ("q1", "q2", "q3", "q4")}
    usual = {query: {"gold": 2.0, "bad": 1.0} for query in qrels}
    partly: Any = {"q1": {"gold": 2.0}, "q2": {"new": 3.0}, "q3": {}}
    for judged_only, missing in ((True, 1), (False, 2)):
        evaluation = iro.evaluate(
            qrels, {"usual": usual, "partly": partly}, judged_only=judged_only
        )
        found = compare_pair(evaluation, "usual", "partly")
        assert found.n_missing == (0, missing)
        assert compare_pair(evaluation, "partly", "usual").n_missing == (missing, 0)
        assert found.outcomes.lost == 3
        assert any("partly lacks" in note for note in all_notes(found))


@pytest.mark.parametrize("unit", get_args(Unit))
@pytest.mark.parametrize("relevant", [1, 3])
@pytest.mark.parametrize("clusters", [None, "by:-"])
def test_the_test_of_coverage_follows_from_what_is_possible(
    unit: Any, relevant: int, clusters: Any
) -> None:
    qrels, runs = collection(2, 40, relevant=1, seed=3)
    qrels = {f"{int(query[1:]) // 4}-{query}": dict(judged) for query, judged in qrels.items()}
    runs = {
        name: {f"{int(query[1:]) // 4}-{query}": ranked for query, ranked in run.items()}
        for name, run in runs.items()
    }
    # One query has several relevant documents, which no run retrieves.
    last = list(qrels)[-1]
    qrels[last] |= {f"never{number}": 1 for number in range(relevant - 1)}
    evaluation = iro.evaluate(qrels, runs, unit=unit, clusters=clusters)
    several = unit == "document" and relevant > 1
    expected = "signflip" if several or clusters else "exact"
    # The other half does not have that query.
    for part in (
        evaluation,
        evaluation.restrict(list(qrels)[:20]),
    ):
        coverage = compare_pair(part, "run0", "run1").coverage
        assert (coverage.test, *coverage.tests) == (expected, expected)
        assert (coverage.won is None) == (expected == "signflip")
        # The test that the label follows from is the one that is shown.
        assert coverage.pvalue_corrected == pytest.approx(coverage.pvalue)


def test_a_negative_grade_is_no_judgment() -> None:
    """As in trec_eval: such a document is neither relevant nor judged not relevant, whatever grade is asked for."""
    qrels = {"q1": {"gold": 2, "fair": 1, "bad": 0, "spam": -1, "worse": -2}, "q2": {"spam": -1}}
    run = {
        "q1": {"spam": 9.0, "worse": 8.0, "bad": 7.0, "fair": 6.0, "gold": 5.0, "new": 4.0},
        "q2": {"spam": 9.0},
    }
    for rel, rank, rank_among_judged in ((1, 4, 2), (2, 5, 3)):
        lengths = iro.search_lengths(qrels, run, rel=rel)
        judged = iro.search_lengths(qrels, run, rel=rel, judged_only=True)
        assert lengths.esl()[0] == rank
        assert judged.esl()[0] == rank_among_judged
        assert lengths.answerable.tolist() == judged.answerable.tolist() == [True, False]
        assert judged.retrieved.tolist() == [3, 0]
    counted = iro.search_lengths(qrels, run, count_unjudged_at=(2, 10))
    assert [counted.unjudged_within(depth).tolist() for depth in (2, 10)] == [[2, 1], [3, 1]]  # type: ignore[union-attr]
    evaluation = iro.evaluate(qrels, {"A": run, "B": {"q1": {"gold": 1.0}}}, unjudged=True)
    assert {document.docid for document in iro.holes(evaluation, "A", "B")["B"].candidates} == {
        "spam",
        "worse",
        "new",
    }


@pytest.mark.parametrize(
    ("won", "steady", "expected"),
    [
        (5, True, ["A loss of up to 4.95 points of coverage and 0.31 ranks cannot be ruled out."]),
        (
            6,
            False,
            [
                "A loss of up to 1.08 points of coverage cannot be ruled out.",
                "Any loss of ranking is excluded at the 95 % level.",
            ],
        ),
        (60, False, ["Any loss of coverage and ranking is excluded at the 95 % level."]),
    ],
)
def test_losses_that_the_intervals_leave_possible(
    won: int, steady: bool, expected: list[str]
) -> None:
    """The end of an interval on the side of harm: the low one of coverage, the high one of ranking."""
    both = ((40, 3, 3), (30, 2, 4), (30, 4, 2)) if steady else ((400, 3, 2), (30, 2, 4))
    found = compare_ranks(*in_blocks(*both, (won, None, 3), (4, 5, None)))
    coverage, ranking = found.coverage.interval, found.ranking.interval
    assert coverage is not None
    assert ranking is not None
    assert (found.coverage.worst_case, found.ranking.worst_case) == (coverage.low, ranking.high)
    assert [note for note in all_notes(found) if "loss" in note.split()] == expected


@pytest.mark.parametrize("swapped", [False, True])
def test_shares_of_documents_are_not_tested_as_if_each_query_weighed_the_same(
    swapped: bool,
) -> None:
    """Ten queries win one of ten documents, and five lose all of theirs: by sign flips of the shares the loss outweighs."""
    documents = [f"d{number}" for number in range(10)]
    qrels = {f"q{query}": dict.fromkeys(documents, 1) for query in range(15)}

    def run(n_won: int, n_lost: int) -> literal.Run:
        found = [documents[:n_won] if query < 10 else documents[:n_lost] for query in range(15)]
        return {
            query: dict.fromkeys([*own, "x"], 1.0) for query, own in zip(qrels, found, strict=True)
        }

    runs = (run(2, 0), run(1, 10)) if swapped else (run(1, 10), run(2, 0))
    found = compare_pair(qrels, *runs, unit="document").coverage
    sums = [abs(sum(signs)) for signs in product(*([-1, 1],) * 10, *([-10, 10],) * 5)]
    assert (
        found.pvalue
        == found.pvalue_corrected
        == pytest.approx(np.mean([total >= 40 for total in sums]))
    )
    assert (found.difference or 0) * (-1 if swapped else 1) == pytest.approx(-100 * 4 / 15)


def test_the_first_of_several_documents_of_a_query_wherever_they_stand_in_the_list() -> None:
    """An unjudged document at the last rank of one query comes behind a judged one at the first rank of the next."""
    ranks = _first(np.array([1, 0, 2, 0, 2]), np.array([1, 6, 0, 5, 0]), 3)
    np.testing.assert_array_equal(ranks, [5, 1, np.nan])
    ranks = _first(np.array([1, 0]), np.array([1, 6]), 2)
    np.testing.assert_array_equal(ranks, [6, 1])


def test_intervals_that_say_other_than_their_tests_are_mentioned_and_no_others() -> None:
    """The note of a facet is there exactly where its interval excludes zero and its test does not, or the reverse."""
    said = {True: 0, False: 0}
    for seed in range(40):
        qrels, runs = collection(2, 25, seed=seed)
        found = compare_pair(qrels, *runs.values(), cutoff=8)
        for name, facet in (("Coverage", found.coverage), ("Ranking", found.ranking)):
            expected = []
            if facet.interval is not None:
                excludes = facet.interval.low > 0 or facet.interval.high < 0
                if excludes and facet.pvalue > 0.05:
                    expected = [f"{name}: the interval excludes zero, but the test"]
                if not excludes and facet.pvalue <= 0.05:
                    expected = [f"{name}: the interval includes zero, but the test"]
            shown = [
                note
                for note in all_notes(found)
                if note.startswith(f"{name}: the interval ") and "ratio" not in note
            ]
            assert [
                note[: len(text)] for note, text in zip(shown, expected, strict=True)
            ] == expected
            said[bool(expected)] += 1
    assert all(said.values())


def test_progress_is_shown_only_if_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    evaluation = iro.evaluate(*collection(3, 12), unjudged=True)
    assert capfd.readouterr().err == ""
    calls: list[Callable[..., Any]] = [iro.compare, iro.holes, iro.compare_cutoffs]
    for call in calls:
        call(evaluation, "run0", "run1")
        assert capfd.readouterr().err == ""
    for call in calls[:2]:
        call(evaluation, "run0", "run1", progress=True)
        assert "pair" in capfd.readouterr().err


@pytest.mark.parametrize("family", [1, 2, 3])
def test_a_corrected_p_over_all_queries_is_shown_in_a_family_of_any_size(family: int) -> None:
    a, b = in_blocks((55, 3, 2), (5, 1, None), (60, 2, 2))
    found = compare_several(qrels_of(a), run_of(a), [run_of(b) for _ in range(family)])[0]
    assert found.verdict.label == "ranking gain, unconfirmed"
    over_all = found.verdict.sentence.partition("over all")[2]
    assert ("corrected" in over_all) == (family > 1), found.verdict.sentence


WITH_NOTES = {
    "few large changes": in_blocks((13, 12, 1), (19, 2, 3), (15, 3, 5), (14, 9, None), (10, 2, 2)),
    "unconfirmed": in_blocks((24, 3, 9), (21, 2, None), (23, None, 3), (10, 2, 2)),
    "guard": in_blocks((16, None, 1), (12, 5, 9), (7, 12, None), (10, 2, 2)),
    "most rankings": in_blocks((22, 2, 3), (3, 12, 5), (20, 1, 2), (10, 2, 2)),
    "all queries only": in_blocks((25, None, 2), (13, 5, None), (2, 1, 3), (10, 2, 2)),
    "opposite mean": in_blocks((26, 12, 5), (21, 1, 5), (10, 2, 2)),
    "intervals": in_blocks((16, 12, None), (14, None, 12), (16, None, 5), (10, 2, 2)),
}


@pytest.mark.parametrize("runs", WITH_NOTES.values(), ids=WITH_NOTES)
def test_a_pvalue_that_equals_the_level_is_significant(runs: Any) -> None:
    """In the label, in what is shown with it, and in the notes."""

    def said(alpha: float) -> Any:
        found = compare_ranks(*runs, alpha=alpha)
        return (
            found.verdict,
            [(part.found, found.shown_test(part)) for part in found.parts],
            all_notes(found),
        )

    found = compare_ranks(*runs)
    assert found.all_queries is not None
    assert found.restricted is not None
    parts = (found.coverage, found.ranking, found.all_queries)
    pvalues = {test.pvalue for part in parts for test in part.tests.values()}
    others = (found.restricted.test, found.restricted.won_and_lost_test, found.naive.tests["t"])
    pvalues |= {test.pvalue for test in others}
    for pvalue in (pvalue for pvalue in pvalues if pvalue < 0.49):
        assert said(pvalue) == said(math.nextafter(pvalue, 1.0))


@pytest.mark.parametrize("kind", WITH_NOTES)
def test_swapped_runs_have_notes_of_the_same_kinds(kind: str) -> None:
    """Those on losses apart, which are about the contender."""
    runs = WITH_NOTES[kind]
    found, swapped = (compare_ranks(*order) for order in (runs, runs[::-1]))
    kinds, mirrored = (
        {note.kind for note in all_notes(result)} - {"possible loss", "excluded loss"}
        for result in (found, swapped)
    )
    assert kind in kinds
    assert kinds == mirrored


@pytest.mark.parametrize("label", [label for label in LABELS if meaning_of(label).by != "none"])
def test_a_label_holds_for_new_runs_where_the_intervals_of_all_that_carries_it_do(
    label: str,
) -> None:
    """Two facets carry it, or one and the search over all queries that confirms it, or that alone."""
    direction, by = label.split(maxsplit=1)[0], meaning_of(label).by
    carrying = {"both": [0, 1], "coverage": [0, 2], "ranking": [1, 2], "all queries": [2]}[by]
    for outside in product((False, True), repeat=3):
        parts: list[Any] = []
        for is_outside, higher_is_better in zip(outside, (True, False, False), strict=True):
            low = 1.0 if is_outside else -1.0
            interval = Interval(low, 3.0)
            if (direction == "better") != higher_is_better:
                interval = Interval(-3.0, -low)
            parts.append(SimpleNamespace(new_runs=interval, higher_is_better=higher_is_better))
        expected = None
        if direction in ("better", "worse"):
            expected = all(outside[place] for place in carrying)
        assert holds_for_new_runs(label, parts) == expected


@pytest.mark.parametrize(("missing", "kind"), [(2, "missing"), (3, "many missing")])
def test_more_than_five_percent_without_results_are_many(missing: int, kind: str) -> None:
    a, b = in_blocks((40, 2, 2))
    contender = dict(list(run_of(b).items())[missing:])
    for runs in ((run_of(a), contender), (contender, run_of(a))):
        kinds = {note.kind for note in all_notes(compare_pair(qrels_of(a), *runs))}
        assert kinds & {"missing", "many missing"} == {kind}


def test_two_differences_have_a_deviation() -> None:
    found = compare_ranks(*in_blocks((1, 2, 3), (1, 2, 5), (8, None, None)))
    assert found.ranking.deviation == pytest.approx(math.sqrt(2))
    assert compare_ranks(*in_blocks((1, 2, 3), (8, None, None))).ranking.deviation is None


def test_no_interval_goes_beyond_what_a_query_can_change_by() -> None:
    """From rank 1 to the cutoff is one less than the cutoff."""
    found = compare_ranks(*in_blocks((2, 1, 12), (2, 12, 1), (1, None, 1)), depth=12, cutoff=12)
    assert found.ranking.margin_interval == pytest.approx((-11, 11))


def test_shares_of_documents_are_compared_with_margins_as_means_up_to_one() -> None:
    qrels = {f"q{number}": {f"d{document}": 1 for document in range(3)} for number in range(20)}
    found_in_b = [[0, 1, 2], [0], [1, 2], [0, 1]] * 5
    a = {query: {"d0": 2.0, "d1": 1.0} for query in qrels}
    b = {
        query: {f"d{document}": 1.0 for document in documents}
        for query, documents in zip(qrels, found_in_b, strict=True)
    }
    found = compare_pair(qrels, a, b, unit="document")
    d = np.array([len(documents) - 2 for documents in found_in_b]) / 3
    expected = margin_interval(d, 1.0, found.settings.margin_level)
    assert expected is not None
    assert found.coverage.margin_interval == pytest.approx([100 * end for end in expected])


@pytest.mark.parametrize(("measure", "sign"), [("ESL(unanswered='cutoff+1')@12", -1), ("RR@12", 1)])
def test_a_measure_is_better_in_its_own_direction(measure: str, sign: int) -> None:
    runs = in_blocks((30, 9, 2), (10, 2, 3), (5, 4, 4))
    for order, better in ((runs, 1), (runs[::-1], -1)):
        (means,) = compare_ranks(*order, depth=12, measures=[measure]).measures
        assert (means.contender - means.baseline) * sign * better > 0
        assert means.found == {1: "better", -1: "worse"}[better]
        pvalue = means.test.pvalue
        for alpha, is_found in ((pvalue, True), (math.nextafter(pvalue, 0.0), False)):
            (at_level,) = compare_ranks(*order, depth=12, measures=[measure], alpha=alpha).measures
            assert at_level.found == (means.found if is_found else "none")


def test_the_largest_possible_loss_is_no_margin() -> None:
    """A run that loses everything would pass."""
    found = compare_ranks(*in_blocks((20, 2, 3), (20, 5, 2), (5, None, 4)), depth=12)
    below = (99.9, 10.9, 11.9)
    check_can_be_exceeded(found, against_margins(found, below), below)
    for margins, said in (
        ((100.0, 1.0, 1.0), "100 percentage points of coverage; give"),
        ((1.0, 11.0, 1.0), "11 ranks of ranking; give"),
        ((1.0, 1.0, 12.0), "12 ranks over all queries; give"),
        # 40 of 45 queries are answered by both.
        ((99.9, 10.9), "12 ranks over all queries, and these imply a margin of 21.68; give"),
    ):
        with pytest.raises(iro.ParameterError, match=f"no run can lose more than {said}"):
            check_can_be_exceeded(found, against_margins(found, margins), margins)


def test_the_power_of_few_queries_or_differences_is_said_to_be_approximate() -> None:
    """Of fewer than 200 queries, or 30 differences, in the facet that it is about."""
    for n, n_answers, coverage, ranking in (
        (199, 42, "about ", "about "),
        (200, 42, "", "about "),
        (242, 42, "", ""),
        (242, 30, "", ""),
        (242, 29, "about ", ""),
    ):
        won = n_answers - 10
        both = n - n_answers
        found = compare_ranks(
            *in_blocks((30, 3, 2), (both - 30, 2, 3), (won, None, 4), (10, 5, None))
        )
        assert (found.coverage.n, found.ranking.n) == (n, both)
        assert found.coverage.n_nonzero == n_answers
        (text,) = [note for note in all_notes(found) if note.kind == "power"]
        assert text == (
            "Smallest true difference that would be found with 80 % power:"
            f" {coverage}{found.coverage.detectable:.2f} points of coverage and"
            f" {ranking}{found.ranking.detectable:.2f} ranks."
        )


@pytest.mark.parametrize(
    ("unjudged", "is_uneven"), [((8, 8), False), ((2, 1), False), ((9, 2), True), ((3, 1), True)]
)
def test_runs_are_judged_unequally_where_their_shares_differ_by_more_than_five_points(
    unjudged: tuple[int, int], is_uneven: bool
) -> None:
    """Of the first ten documents of two queries, so that one document more is exactly five points."""
    a, b = in_blocks((2, 1, 1))
    qrels = {
        query: {"gold": 1} | {f"d{place}": 0 for place in range(2, 11)} for query in qrels_of(a)
    }

    def run(ranks: Any, n_unjudged: int) -> literal.Run:
        ranked = run_of(ranks, 10)
        places = [(query, place) for query in ranked for place in range(2, 11)]
        for query, place in places[:n_unjudged]:
            ranked[query][f"new{place}"] = ranked[query].pop(f"d{place}")
        return ranked

    for order in (unjudged, unjudged[::-1]):
        found = compare_pair(qrels, run(a, order[0]), run(b, order[1]), cutoff=10)
        said = [note for note in all_notes(found) if note.kind == "judged unequally"]
        shares = " and ".join(
            f"{5 * number} % of {'the top 10 of ' if place == 0 else ''}{'AB'[place]}"
            for place, number in enumerate(order)
        )
        assert [shares in note for note in said] == [True] * is_uneven


def test_a_facet_without_any_change_points_nowhere() -> None:
    """As many answers are lost, late ones, as are won early, and what both find moved down."""
    runs = in_blocks((25, None, 1), (25, 90, None), (2, 1, 3), (10, 2, 2))
    for order in (runs, runs[::-1]):
        found = compare_ranks(*order)
        assert found.coverage.difference == 0
        (text,) = [note for note in all_notes(found) if note.kind == "all queries only"]
        assert "but ranking points the other way" in text


def test_a_facet_points_where_its_mean_or_any_of_its_tests_does() -> None:
    """Many small changes, which the signed ranks count, against a few large ones, which the mean does."""
    answers = ((40, None, 1), (40, 90, None))
    many = compare_ranks(*in_blocks(*answers, (18, 3, 4), (2, 70, 1), (10, 2, 2)))
    assert many.ranking.difference is not None
    assert many.ranking.difference < 0 < many.ranking.tests["wilcoxon"].direction
    assert many.ranking.tests["wilcoxon"].pvalue < 0.05 < many.ranking.tests["t"].pvalue
    (text,) = [note for note in all_notes(many) if note.kind == "all queries only"]
    assert "but ranking points the other way" in text
    # Where both say the same the label has a direction, and nothing is blocked.
    same = compare_ranks(*in_blocks(*answers, (18, 4, 3), (2, 70, 1), (10, 2, 2)))
    assert same.ranking.tests["wilcoxon"].direction < 0
    assert not [note for note in all_notes(same) if note.kind == "all queries only"]


documents = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=12
).filter(lambda pairs: len({p for p in pairs if p[1]}) == len([p for p in pairs if p[1]]))


@given(pairs=documents)
def test_search_lengths_of_documents_that_might_be_relevant(pairs: list[tuple[int, int]]) -> None:
    """Of a query, that of the first; of a document, its rank less the relevant documents above it."""
    query = np.array([pair[0] for pair in pairs])
    rank = np.array([pair[1] for pair in pairs])
    found: list[list[int]] = [
        [place for own, place in pairs if own == number and place] for number in range(4)
    ]
    firsts = [min(places) if places else math.nan for places in found]
    np.testing.assert_array_equal(_first(query, rank, 4), firsts)
    lengths = [
        place - sum(other < place for other in found[own]) if place else math.nan
        for own, place in pairs
    ]
    np.testing.assert_array_equal(_documents(query, rank), lengths)


@pytest.mark.parametrize(
    ("n_moved", "words"), [(1, "(1 of which differs)"), (2, "(2 of which differ)")]
)
def test_one_query_differs_and_two_differ(n_moved: int, words: str) -> None:
    found = compare_ranks(*in_blocks((n_moved, 3, 2), (8, 2, 2)))
    assert words in found.verdict.sentence


@pytest.mark.parametrize(("depth", "kind"), [(12, set()), (11, {"depth"})])
def test_a_run_that_reaches_the_cutoff_is_deep_enough(depth: int, kind: set[str]) -> None:
    a, b = in_blocks((20, 3, 2))
    for depths in ((30, depth), (depth, 30)):
        runs = [run_of(ranks, own) for ranks, own in zip((a, b), depths, strict=True)]
        notes = all_notes(compare_pair(qrels_of(a), *runs, cutoff=12))
        assert {note.kind for note in notes} & {"depth", "shallow"} == kind


@pytest.mark.parametrize(("n", "is_few"), [(59, True), (60, False)])
def test_nothing_found_on_fewer_than_sixty_queries_says_little(n: int, is_few: bool) -> None:
    runs = in_blocks((8, 3, 2), (8, 2, 3), (8, None, 4), (8, 5, None), (n - 32, 2, 2))
    said = [note for note in all_notes(compare_ranks(*runs)) if note.kind == "few queries"]
    assert any(f"coverage ({n})" in note for note in said) == is_few
