"""Comparisons against definitions, papers and other packages; their notes, lists and settings; and plans made from them."""

import math
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.verdict import MIRRORED
from ir_outcomes.errors import MismatchError, ParameterError
from ir_outcomes.statistics import adjust
from tests.helpers import literal, strategies
from tests.helpers.comparisons import all_notes, compare_pair, compare_ranks, compare_several
from tests.helpers.many import collection
from tests.helpers.runs import in_blocks, qrels_of, run_of

some_runs = strategies.runs.filter(bool)
units = st.sampled_from(["query", "document"])
ranks = st.lists(
    st.tuples(*[st.one_of(st.none(), st.integers(1, 12))] * 2), min_size=1, max_size=40
)
answered = ranks.filter(lambda pairs: any(chain(*pairs)))


@settings(max_examples=40)
@given(pairs=answered, cutoff=st.integers(1, 12))
def test_one_relevant_document_per_query_against_the_definitions(pairs: Any, cutoff: int) -> None:
    """Both units agree to the last digit."""
    queries = [f"q{n}" for n in range(len(pairs))]
    runs = [run_of(dict(zip(queries, of_run, strict=True))) for of_run in zip(*pairs, strict=True)]
    by_unit = [
        compare_pair(qrels_of(queries), *runs, cutoff=cutoff, unit=unit)
        for unit in ("document", "query")
    ]
    by_document, by_query = (comparison.to_dict(per_query=True) for comparison in by_unit)
    for data in (by_document, by_query):
        del (
            data["settings"]["unit"],
            data["reciprocal"]["name"],
            data["verdict"]["sentence"],
            data["ranking"]["measured_in"],
        )
        if data["restricted"]:
            del data["restricted"]["measured_in"]
        assert len(data["notes"]) + len(data["background"]) > 0  # they name the unit
        del data["notes"], data["background"]
    assert by_document == by_query
    found = by_unit[0]
    within = [
        tuple(rank if rank is not None and rank <= cutoff else None for rank in pair)
        for pair in pairs
    ]
    both = [(x, y) for x, y in within if x and y]
    won, lost = (sum(bool(pair[side]) and not pair[1 - side] for pair in within) for side in (1, 0))
    outcomes = found.outcomes
    assert (outcomes.lost, outcomes.won, outcomes.both) == (lost, won, len(both))
    assert outcomes.neither == len(pairs) - lost - won - len(both)
    assert sum(outcomes.shares or ()) == pytest.approx(1)
    assert found.coverage.difference == pytest.approx(100 * (won - lost) / len(pairs))
    expected = scipy.stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
    assert found.coverage.pvalue == pytest.approx(expected, rel=1e-12)
    assert found.ranking.n == len(both)
    if both:
        x, y = np.array(both, dtype=float).T
        assert found.ranking.baseline == pytest.approx(x.mean())
        assert found.ranking.difference == pytest.approx(y.mean() - x.mean(), abs=1e-12)
        if len(set(y - x)) > 1:
            assert found.ranking.pvalues["t"] == pytest.approx(
                scipy.stats.ttest_rel(y, x).pvalue, rel=1e-12
            )
            assert found.reciprocal is not None
            assert found.reciprocal.pvalues["t"] == pytest.approx(
                scipy.stats.ttest_rel(1 / y, 1 / x).pvalue, rel=1e-9
            )
    reciprocal = [
        [1 / rank if rank else 0.0 for rank in of_run] for of_run in zip(*within, strict=True)
    ]
    assert found.naive.baseline == pytest.approx(np.mean(reciprocal[0]))
    if len(set(np.subtract(reciprocal[0], reciprocal[1]))) > 1:
        assert found.naive.pvalues["t"] == pytest.approx(
            scipy.stats.ttest_rel(*reciprocal).pvalue, rel=1e-9
        )


@settings(max_examples=40)
@given(qrels=strategies.qrels, a=some_runs, b=some_runs, unit=units, rel=st.integers(1, 2))
def test_documents_are_averaged_and_swapped_runs_mirror_everything(
    qrels: Any, a: Any, b: Any, unit: Any, rel: int
) -> None:
    try:
        found, back = (
            compare_pair(qrels, *runs, unit=unit, rel=rel, cutoff=5) for runs in ((a, b), (b, a))
        )
    except MismatchError:
        assume(False)
    restored = Comparison.from_json(found.to_json(per_query=True))  # which refuses NaN and infinity
    assert (restored, restored.queries) == (found, found.queries)
    assert back.verdict.label == MIRRORED[found.verdict.label]
    assert (back.outcomes.won, back.outcomes.lost) == (found.outcomes.lost, found.outcomes.won)
    assert [at.label for at in back.cutoffs] == [MIRRORED[at.label] for at in found.cutoffs]
    for name in ("coverage", "ranking", "reciprocal", "restricted", "naive"):
        forth, mirrored = getattr(found, name), getattr(back, name)
        assert forth.pvalues == mirrored.pvalues
        assert forth.difference == (None if mirrored.difference is None else -mirrored.difference)
        if getattr(forth, "interval", None) is not None:
            assert forth.interval == pytest.approx(
                (-mirrored.interval.high, -mirrored.interval.low), abs=1e-12
            )
    golds = {q: gold for q, judged in qrels.items() if (gold := literal.relevant(judged, rel))}
    assert (found.n_queries, found.n_unanswerable) == (len(golds), len(qrels) - len(golds))
    if unit == "document":
        tops = [{q: literal.ranked(run.get(q, {}), "trec")[:5] for q in golds} for run in (a, b)]
        shares = [
            100 * np.mean([np.mean([d in top[q] for d in gold]) for q, gold in golds.items()])
            for top in tops
        ]
        assert (found.coverage.baseline, found.coverage.contender) == pytest.approx(tuple(shares))
        common = {
            q: [d for d in gold if d in tops[0][q] and d in tops[1][q]] for q, gold in golds.items()
        }
        lengths = [
            [np.mean([literal.atom(top[q], golds[q], d) for d in both]) for top in tops]
            for q, both in common.items()
            if both
        ]
        assert found.ranking.n == len(lengths)
        if lengths:
            assert [found.ranking.baseline, found.ranking.contender] == pytest.approx(
                list(np.mean(lengths, axis=0))
            )


def test_lin_section_4_examples() -> None:
    """Lin et al. 2021, section 4: q1 to q6 are comparable, q7 and q8 are apples and oranges."""
    a = {"q1": 2, "q2": 50, "q3": 1, "q4": 10, "q5": 1, "q6": 5, "q7": 1, "q8": None}
    b = {"q1": 4, "q2": 52, "q3": 4, "q4": 40, "q5": 4, "q6": 2, "q7": 100, "q8": 99}
    found = compare_ranks(a, b)
    queries = {query.query_id: query for query in found.per_query()}
    # Better by two ESL units in both.
    assert queries["q1"].difference == queries["q2"].difference == 2.0
    assert [(queries[q].contender or 0) / (queries[q].baseline or 1) for q in ("q3", "q4")] == [
        4.0,
        4.0,
    ]
    assert [queries[q].outcome for q in ("q7", "q8")] == ["both", "won"]
    assert queries["q8"].baseline is None  # and none is made up
    equal = compare_ranks({"q5": 1, "q6": 5}, {"q5": 4, "q6": 2})
    # "with an (arithmetic) mean ESL of 3".
    assert equal.ranking.baseline == equal.ranking.contender == 3.0
    assert equal.ranking.pvalue == 1.0


@pytest.fixture(scope="module")
def systems() -> tuple[literal.Qrels, dict[str, literal.Run]]:
    rng = np.random.default_rng(9)
    ranks = {
        name: rng.geometric(p, 60).tolist() for name, p in (("A", 0.12), ("B", 0.13), ("C", 0.6))
    }
    runs = {
        name: run_of({f"q{n}": rank for n, rank in enumerate(of_run)})
        for name, of_run in ranks.items()
    }
    return qrels_of(runs["A"]), runs


def test_several_contenders_are_corrected_and_shown_best_first(systems: Any) -> None:
    qrels, runs = systems
    contenders = {name: runs[name] for name in "CB"}
    for correction, factor in (("bonferroni", 2), ("none", 1), ("holm", None)):
        found = compare_several(qrels, runs["A"], contenders, correction=correction)
        for facet in (*(item.coverage for item in found), *(item.ranking for item in found)):
            assert (
                facet.pvalue_corrected == min(1.0, factor * facet.pvalue)
                if factor
                else facet.pvalue_corrected >= facet.pvalue
            )
    assert (found["B"], len(found[:2])) == (found[1], 2)
    assert [row[0] for row in found.view().tables[0].rows] == ["C", "B"]
    assert str(found[:0]) == "There is no comparison"
    with pytest.raises(KeyError, match="the contenders are C, B"):
        found["E"]
    best = compare_several(qrels, "best", runs)
    assert [(item.baseline, item.contender) for item in best] == [("C", "A"), ("C", "B")]
    assert best[0].notes[0].startswith("The baseline was chosen on these queries: C has")


def test_all_pairs_are_one_family(systems: Any) -> None:
    qrels, runs = systems
    several = compare_several(
        qrels, runs["A"], [runs["B"], runs["C"]], names=["A", "B", "C"], all_pairs=True
    )
    assert [(item.baseline, item.contender) for item in several] == [
        ("A", "B"),
        ("A", "C"),
        ("B", "C"),
    ]
    assert several[0].settings.family == 3
    for facet in ("coverage", "ranking"):
        raw = [getattr(item, facet).pvalue for item in several]
        assert [getattr(item, facet).pvalue_corrected for item in several] == adjust(
            raw, "holm"
        ).tolist()
    assert several[1].verdict.strict == "better"
    assert [row[:2] for row in several.view().tables[0].rows] == [
        ("C", "B"),
        ("C", "A"),
        ("B", "A"),
    ]


def test_intervals_stay_within_what_is_possible() -> None:
    """With few queries and many contenders the interval of the ranking was [-21, +29] ranks at cutoff 10."""
    a, b = {"q1": 1, "q2": 9, "q3": 1, "q4": 2}, {"q1": 10, "q2": 1, "q3": 7, "q4": 2}
    for alpha in (0.05, 0.0001):
        comparison = compare_ranks(a, b, cutoff=10, alpha=alpha)
        assert comparison.restricted is not None
        assert comparison.ranking.interval is not None
        assert comparison.ranking.ratio_interval is not None
        assert comparison.restricted.interval is not None
        assert -9 <= comparison.ranking.interval.low < comparison.ranking.interval.high <= 9
        assert (
            0.1
            <= comparison.ranking.ratio_interval.low
            < comparison.ranking.ratio_interval.high
            <= 10
        )
        assert -10 <= comparison.restricted.interval.low < comparison.restricted.interval.high <= 10
    shares = {"q1": 0.1, "q2": 0.9, "q3": 0.2}, {"q1": 1.0, "q2": 0.2, "q3": 0.9}
    assert iro.compare_outputs(*shares, measure="nDCG@10").ranking.interval == (-1, 1)


def test_notes_name_everything_odd() -> None:
    queries = [f"q{n}" for n in range(10)]
    qrels = {**qrels_of(queries), "unjudged": {"d1": 0}}
    a = {**run_of(dict.fromkeys(queries, 3)), "stray": {"d1": 1.0}}
    b = run_of(dict.fromkeys(queries[:7], 3), depth=5)
    found = compare_pair(qrels, a, b, names=["A", "B"])
    notes = "\n".join(all_notes(found))
    assert (
        found.notes[0]
        == "Many queries are missing: B has no results for 3 of 10 queries (30.0 %); they count as"
        " not found."
    )
    assert "1 query has no relevant document at rel 1 and is left out." in notes
    assert "B lacks 3 queries of the qrels (q7, q8, q9), counted as unanswered." in notes
    assert "A has 1 query that the qrels lack (stray), ignored here." in notes
    assert (
        "Unequal depth: A returns at most 12 documents, B 5; compare with `cutoff=5`, which both"
        " reach." in notes
    )
    assert (
        "Unjudged documents: 90 % of the top 10 of A and 80 % of B; 92 % of the top 100 of A and 80"
        " % of B." in notes
    )
    assert "which can bias ranking and coverage: see `judged_only=True`." in notes
    judged = compare_pair(qrels, a, b, judged_only=True)
    assert not any("Unjudged" in note or "depth" in note for note in all_notes(judged))
    assert judged.ranking.baseline == 1.0


def test_test_and_interval_that_disagree_are_noted() -> None:
    a, b = in_blocks((2, 2, 90), (58, 2, 1))
    found = compare_ranks(a, b)
    t, wilcoxon = found.ranking.tests["t"], found.ranking.tests["wilcoxon"]
    assert t.pvalue > 0.05 > wilcoxon.pvalue
    assert (t.direction, wilcoxon.direction) == (1, -1)
    assert any(note.startswith("Most rankings change, not their mean: ") for note in found.notes)
    # T decides and sees nothing; Wilcoxon sees a gain.
    assert found.verdict.label == "no significant difference"
    # The other way round Wilcoxon sees harm, which a better coverage must not hide.
    worse = b | {f"q{n}": None for n in range(2, 12)}
    assert compare_ranks(worse, a).verdict.label == "trade-off"


EVALUATED = iro.search_lengths(qrels_of(["q1"]), run_of({"q1": 1}), cutoff=7)
DEGENERATE = [
    [(1, 1, 1)],
    [(1, 1, 3)],
    [(2, None, None)],
    [(1, 1, None), (1, None, 1)],
    [(1, 1, 2), (1, 2, 3)],
]


@pytest.mark.parametrize("blocks", DEGENERATE)
def test_degenerate_pairs_are_defined_and_explained(blocks: Any) -> None:
    a, b = in_blocks(*blocks)
    # One block has nothing that is judged.
    ev = iro.evaluate(qrels_of(a), {"A": run_of(a), "B": run_of(b)}, on_error="keep")
    found = compare_pair(ev, "A", "B")
    assert found.verdict.label == "no significant difference"
    assert any(note.startswith(("Ranking:", "Coverage:")) for note in all_notes(found))
    assert "nan" not in str(found).lower().replace("ranking", "")
    found.to_json()  # refuses NaN


def test_documents_that_the_qrels_do_not_know(tmp_path: Path) -> None:
    """With ``.0`` behind every id, B was worse without gain, and both runs had no significant difference."""
    qrels, runs = collection(2, 40, relevant=2)
    next(iter(qrels.values()))["judged"] = 0
    a, b = runs.values()
    wrong = {
        query: {f"{document}.0": score for document, score in ranking.items()}
        for query, ranking in b.items()
    }
    message = (
        r"the qrels know no document of a, b, in any query; the runs have .*\.0.*, the qrels have"
        r" .*: are ids of documents"
    )
    with pytest.raises(MismatchError, match=message):
        iro.evaluate(qrels, {"a": wrong, "b": wrong})
    path = tmp_path / "b.run"
    lines = [
        f"{q} Q0 {d} 1 {score} t\n" for q, ranking in wrong.items() for d, score in ranking.items()
    ]
    path.write_text("".join(lines))
    with pytest.raises(MismatchError, match="the qrels know no document of b, in any query"):
        iro.evaluate(qrels, [path])
    found = compare_pair(qrels, a, path, names=["A", "B"])
    assert found.notes[0].startswith(
        "Unknown documents: the qrels know no document of B, in any query"
    )
    # Nothing was compared, so that no p stands beside the dashes.
    for details in (False, True):
        for line in found.to_text(details=details).splitlines():
            if line.startswith(("ranking, ", "reciprocal ")):
                assert "1.000" not in line
    for judged_only in (False, True):
        board = iro.evaluate(qrels, {"a": a, "b": wrong}, judged_only=judged_only)
        for result in (iro.leaderboard(board), iro.length_distributions(board, cutoff=1)):
            assert [
                note
                for note in result.notes
                if note.startswith("Unknown documents: the qrels know no document of b,")
            ]
    kept = iro.evaluate(qrels, {"a": wrong}, on_error="keep")  # for gates, which fail it
    assert not kept[0].known
    # A run without documents has no wrong ones.
    assert iro.evaluate({"q": {"d": 1}}, {"a": {"q": {}}}).names == ("a",)


def test_a_grade_that_counts_here_and_not_in_trec_dl_is_said_first() -> None:
    qrels = {f"{number}": {"7": 3, "8": 1, "9": 0} for number in range(40)}
    runs = {
        "a": {query: {"7": 2.0, "8": 1.0} for query in qrels},
        "b": {query: {"8": 2.0, "9": 1.0} for query in qrels},
    }
    for rel, others, is_said in (
        (1, {}, True),
        (2, {}, False),
    ):
        judged = {**qrels, "0": {**qrels["0"], **others}}
        evaluation = iro.evaluate(judged, runs, rel=rel, unjudged=True)
        halves = {query: str(int(query) % 2) for query in qrels}
        results: list[Any] = [
            compare_pair(evaluation, "a", "b"),
            iro.leaderboard(evaluation),
            iro.holes(evaluation, "a"),
            iro.agreement(evaluation, splits=2),
            iro.compare_slices(evaluation, "a", by=halves),
            iro.compare_cutoffs(evaluation, "a", cutoffs=(1, 2)),
            iro.compare_collections({"one": evaluation, "two": evaluation}, "a"),
        ]
        for result in results:
            shown = [note.partition(":")[0].partition(",")[0] for note in result.view().notes]
            assert ("Graded judgments" in shown) == is_said, result


def test_runs_that_have_the_same_queries_too_many_are_named_together() -> None:
    a, b = in_blocks((3, 2, 1))
    more = [{**run_of(ranks), "stray": {"d": 1.0}} for ranks in (a, b)]
    for runs, said in (
        ((more[0], run_of(b)), "A has 1 query"),
        ((run_of(a), more[1]), "B has 1 query"),
        (more, "A, B have 1 query"),
    ):
        notes = all_notes(compare_pair(qrels_of(a), *runs, names=["A", "B"]))
        assert [said in note for note in notes if note.kind == "ignored"] == [True]


def test_qrels_of_relevant_documents_only_say_nothing_about_judging() -> None:
    qrels = qrels_of(f"q{n}" for n in range(40))
    a, b = in_blocks((40, 3, 1))
    evaluation = iro.evaluate(qrels, {"a": run_of(a), "b": run_of(b)}, unjudged=True)
    assert evaluation.positives_only
    found = compare_pair(evaluation, "a", "b")
    kinds = {own.kind for own in (*found.notes, *found.background)}
    assert not kinds & {"judged unequally", "unjudged"}
    with pytest.raises(
        ParameterError,
        match="the qrels hold no document below grade 1, so only relevant documents would",
    ):
        iro.evaluate(qrels, {"a": run_of(a)}, judged_only=True)
    holes = iro.holes(evaluation, "a", "b")
    first = holes.view().first_notes[0]
    assert first == holes.notes[0]
    assert first.startswith(
        "Only relevant documents are judged: an unjudged document is one that nobody called"
        " relevant"
    )
    graded = {query: {**judged, "other": 0} for query, judged in qrels.items()}
    assert not iro.evaluate(graded, {"a": run_of(a)}).positives_only


def test_per_query_lists() -> None:
    a: dict[str, int | None] = {"q1": 1, "q2": 9, "q3": None, "q4": 5, "q5": 3, "q6": 2}
    b: dict[str, int | None] = {"q1": None, "q2": 1, "q3": 4, "q4": 6, "q5": 9, "q6": None}
    found = compare_ranks(a, b)
    for which, expected in (
        (None, [*a]),
        ("lost", ["q1", "q6"]),
        ("won", ["q3"]),
        ("worse", ["q5", "q4"]),
    ):
        assert [query.query_id for query in found.per_query(which)] == expected
    assert [query.query_id for query in found.per_query("better", top=1)] == ["q2"]
    assert found.per_query("worse").to_csv().startswith("query_id,outcome,found_baseline,")
    with pytest.raises(ParameterError, match="must be one of won, lost, better, worse"):
        found.per_query("best")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"contenders": None}, "there is no contender; give a run"),
        ({"alpha": 5}, "`alpha=5`: must be a number between 0 and 0.5"),
        (
            {"contenders": EVALUATED},
            "evaluated with `cutoff=7`, which says nothing about cutoff=100",
        ),
        ({"unit": "topic"}, "`unit='topic'`: must be one of auto, query, document"),
        ({"ties": "expected"}, "gives no single order to compare"),
        (
            {"test": "never_given()"},
            r"`test='never_given\(\)'`: must be one of t, wilcoxon, signflip",
        ),
        ({"correction": "sidak"}, "must be one of holm, bonferroni, fdr_bh, none"),
        ({"margins": (1, math.inf)}, "must be two or three positive numbers"),
        ({"all_pairs": True}, "need several contenders; give a list of them"),
    ],
)
def test_wrong_settings(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(iro.IrOutcomesError, match=message):
        iro.compare(
            qrels_of(["q1"]), run_of({"q1": 1}), **({"contenders": run_of({"q1": 2})} | asked)
        )


def test_runs_are_named_and_compared_once() -> None:
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    first, second = {"q": {"a": 1.0}}, {"r": {"b": 1.0}}
    found = compare_several(qrels, {"bm25": first}, {"stem": second})
    assert [(item.baseline, item.contender) for item in found] == [("bm25", "stem")]
    with pytest.raises(ParameterError, match=r"baseline: a dict of 2 runs \(bm25, stem\)"):
        iro.compare(qrels, {"bm25": first, "stem": second}, second)
    evaluation = iro.evaluate(qrels, {"x": first, "y": second, "z": first})
    found = compare_several(evaluation, "x", ["y", "y", "z"])
    assert ([item.contender for item in found], found[0].settings.family) == (["y", "z"], 2)
    with pytest.raises(
        ParameterError, match="rel and names: an evaluation has its own; pass it to evaluate"
    ):
        iro.compare(evaluation, "x", rel=2, names=["X", "Y", "Z"])


def test_a_gain_is_positive_where_the_contender_is_better() -> None:
    found = compare_ranks(*in_blocks((20, 3, 2), (9, None, 4), (3, 5, None), (8, 2, 4)))
    assert (found.coverage.gain, found.ranking.gain) == (
        found.coverage.difference,
        -(found.ranking.difference or 0),
    )
    assert found.coverage.gain == pytest.approx(100 * 6 / 40)
    assert found.ranking.gain == pytest.approx(4 / 28)
    nothing = compare_ranks(*in_blocks((20, 3, None), (20, None, 3)))
    assert (nothing.ranking.difference, nothing.ranking.gain) == (None, 0.0)


def test_a_single_contender_in_a_list_has_the_columns_of_the_paper() -> None:
    a, b = in_blocks((20, 3, 2), (9, None, 4))
    (row,) = compare_several(qrels_of(a), run_of(a), [run_of(b)]).paper_rows()
    assert row == compare_pair(qrels_of(a), run_of(a), run_of(b)).paper_rows()[0]
