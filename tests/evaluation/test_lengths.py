import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesWarning, MismatchError, ParameterError
from ir_outcomes.evaluation.lengths import check_comparable
from ir_outcomes.evaluation.search import search_lengths
from tests.helpers import literal, strategies
from tests.helpers.searchlengths import differing


def same(found: Any, expected: list[float]) -> None:
    np.testing.assert_array_equal(np.asarray(found, dtype=float), np.asarray(expected, dtype=float))


@given(
    qrels=strategies.qrels,
    run=strategies.runs,
    settings=strategies.settings,
    cutoff=st.integers(1, 8),
)
def test_a_smaller_cutoff_afterwards_is_the_same_as_a_new_computation(
    qrels: literal.Qrels, run: literal.Run, settings: dict[str, Any], cutoff: int
) -> None:
    largest = settings["cutoff"]
    lengths = search_lengths(qrels, run, **settings)
    if largest is not None and cutoff > largest:
        with pytest.raises(MismatchError, match=f"says nothing about cutoff={cutoff}"):
            lengths.at(cutoff)
        return
    new = search_lengths(qrels, run, **{**settings, "cutoff": cutoff})
    assert {*differing(lengths.at(cutoff), new)} <= {"unjudged"}  # it is that of the first 10


@given(
    qrels=strategies.qrels,
    run=strategies.runs,
    settings=strategies.settings,
    positions=st.sets(st.integers(0, 5), min_size=1),
)
def test_some_queries_afterwards_are_the_same_as_a_new_computation(
    qrels: literal.Qrels, run: literal.Run, settings: dict[str, Any], positions: set[int]
) -> None:
    chosen = sorted({position % len(qrels) for position in positions})
    some = {query: qrels[query] for query in np.array([*qrels])[chosen].tolist()}
    lengths = search_lengths(qrels, run, **settings)
    part = lengths.restrict(np.array(chosen, dtype=np.int64))
    of_all = {"qrels_digest", "ignored", "unknown_ids", "longest"}
    assert {*differing(part, search_lengths(some, run, **settings))} <= of_all
    assert part.depth == lengths.depth


@given(
    qrels=strategies.qrels,
    run=strategies.runs,
    settings=strategies.settings.filter(lambda settings: settings["ties"] != "expected"),
    need=st.integers(1, 3),
    first=st.one_of(st.none(), st.integers(1, 3)),
)
def test_everything_equals_the_literal_definitions(
    qrels: literal.Qrels, run: literal.Run, settings: dict[str, Any], need: int, first: Any
) -> None:
    lengths = search_lengths(qrels, run, **settings)
    cutoff, rel, ties, judged_only = (
        settings[name] for name in ("cutoff", "rel", "ties", "judged_only")
    )
    golds = [literal.relevant(judged, rel) for judged in qrels.values()]
    orders = [
        literal.top(literal.ranked(run.get(query, {}), ties), judged, cutoff, judged_only)
        for query, judged in qrels.items()
    ]
    esl = [literal.esl(order, gold, need) for order, gold in zip(orders, golds, strict=True)]
    same(lengths.esl(need), esl)
    same(lengths.answered(need), [not math.isnan(rank) for rank in esl])
    same(lengths.reciprocal_rank(need), [0.0 if math.isnan(rank) else 1 / rank for rank in esl])
    same(lengths.relevant, [len(gold) for gold in golds])
    same(lengths.retrieved, [len(order) for order in orders])
    same(
        lengths.relevant_retrieved,
        [len(set(order) & set(gold)) for order, gold in zip(orders, golds, strict=True)],
    )
    judged = [{d for d, grade in judged.items() if grade >= 0} for judged in qrels.values()]
    same(
        lengths.diagnosis.unjudged,
        [len(set(o[:10]) - j) for o, j in zip(orders, judged, strict=True)],
    )
    same(lengths.diagnosis.listed, [query in run for query in qrels])
    assert set(lengths.diagnosis.ignored) == set(run) - set(qrels)
    pairs = [(order, gold, d) for order, gold in zip(orders, golds, strict=True) for d in gold]
    same(
        lengths.atoms(),
        [literal.atom(order, gold, d) if d in order else math.nan for order, gold, d in pairs],
    )
    for missing in ("retrieved", "cutoff") if cutoff else ("retrieved",):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IrOutcomesWarning)
            found = lengths.asl(first=first, missing=missing)
        expected = [
            literal.asl(o, g, missing, cutoff, first) for o, g in zip(orders, golds, strict=True)
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-15)


few_levels = st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([1.0, 2.0]), max_size=6)


@given(
    ranking=few_levels,
    judged=strategies.judgments,
    cutoff=strategies.cutoffs,
    need=st.integers(1, 3),
)
def test_expected_ties_equal_the_mean_over_all_orders(
    ranking: dict[str, float], judged: dict[str, int], cutoff: Any, need: int
) -> None:
    lengths = search_lengths({"q": judged}, {"q": ranking}, cutoff=cutoff, ties="expected")
    golds = literal.relevant(judged, 1)
    chance, rank, reciprocal = literal.expected_esl(ranking, golds, cutoff, need)
    np.testing.assert_allclose(lengths.answered(need), [chance], rtol=1e-13)
    np.testing.assert_allclose(lengths.esl(need), [rank], rtol=1e-13)
    np.testing.assert_allclose(lengths.reciprocal_rank(need), [reciprocal], rtol=1e-13)
    if cutoff is None and golds and ranking:
        for first in (None, 1, 2):
            every = [
                literal.asl(order, golds, "retrieved", None, first)
                for order in literal.orders(ranking)
            ]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", IrOutcomesWarning)
                np.testing.assert_allclose(
                    lengths.asl(first=first), [sum(every) / len(every)], rtol=1e-13
                )


def test_van_rijsbergen_chapter_7() -> None:
    """Information Retrieval (1979), ch. 7: j = 3, a last level of r = 2 and i = 3, one more needed: 4.0 non-relevant."""
    before = {f"r{n}": 9.0 for n in range(5)} | {f"n{n}": 9.0 for n in range(3)}
    level = {"r5": 1.0, "r6": 1.0, "x": 1.0, "y": 1.0, "z": 1.0}
    qrels = {"q": {f"r{n}": 1 for n in range(7)}}
    lengths = search_lengths(qrels, {"q": before | level}, ties="expected")
    same(lengths.esl(need=6), [10.0])  # 6 relevant and 4.0 others read


def test_alex_equations_9_and_10() -> None:
    """Alex et al. 2022: ranks 1 and 1000 average to about rank 2 in P-space, to about 500 in search length."""
    ranking = {"first": 2000.0} | {f"d{n}": 1000.0 - n for n in range(999)} | {"last": 0.0}
    lengths = search_lengths({"q": {"first": 1, "last": 1}}, {"q": ranking})
    same(lengths.atoms(), [1.0, 1000.0])
    same(lengths.asl(), [500.5])  # equation 10: (1 + 1000)/2
    assert (1 / lengths.atoms()).mean() == pytest.approx(1 / 2, abs=1e-3)  # equation 9


def test_short_lists_look_good_under_equation_3_and_are_warned_about() -> None:
    qrels = {"q1": {"gold": 1}, "q2": {"gold": 1, "other": 1}, "q3": {"gold": 1}}
    one_wrong = search_lengths(qrels, {query: {"wrong": 1.0} for query in qrels}, cutoff=10)
    with pytest.warns(
        IrOutcomesWarning, match=r"in 3 queries \(q1, q2, q3\) there are.*missing='cutoff'"
    ):
        same(one_wrong.asl(), [1.0, 1.0, 1.0])
    same(one_wrong.asl(missing="cutoff"), [11.0, 11.0, 11.0])
    only_relevant = search_lengths(qrels, {"q2": {"gold": 1.0}}, cutoff=10)
    with pytest.warns(IrOutcomesWarning, match="there are no results, which scores inf, or so few"):
        same(only_relevant.asl(), [math.inf, 0.5, math.inf])
    same(only_relevant.asl(missing="cutoff"), [11.0, 5.5, 11.0])


def test_mean_esl_weights_with_the_chance_of_an_answer() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {}}
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"b": 2.0, "c": 1.5, "a": 1.0}, "q3": {"b": 1.0}}
    lengths, short = (
        search_lengths(qrels, run, cutoff=cutoff, ties="expected") for cutoff in (3, 1)
    )
    assert (lengths.mean_esl(), short.mean_esl()) == ((1.5 + 3) / 2, 1.0)
    nothing = search_lengths({"q": {}}, {}, cutoff=1)
    assert nothing.mean_esl() is None


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ({"cutoff": 0}, {}, "`cutoff=0`: must be a whole number, 1 or more"),
        ({"rel": 0}, {}, "rel=0"),
        ({"ties": "random"}, {}, "`ties='random'`: must be one of trec, msmarco"),
        ({}, {"missing": "worst"}, "`missing='worst'`: must be one of retrieved, cutoff"),
        ({}, {"missing": "cutoff"}, "`missing='cutoff'`: needs a cutoff"),
        (
            {"cutoff": 1, "ties": "expected"},
            {},
            r"splits a group of tied documents in 1 query \(q\)",
        ),
    ],
)
def test_wrong_settings(settings: dict[str, Any], arguments: dict[str, Any], message: str) -> None:
    run = {"q": {"a": 1.0, "b": 1.0}}
    with pytest.raises(ParameterError, match=message):
        iro.search_lengths({"q": {"a": 1}}, run, **settings).asl(**arguments)


def test_a_group_of_tied_documents_that_ends_at_the_cutoff_is_not_split() -> None:
    lengths = search_lengths(
        {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 0.0}}, cutoff=2, ties="expected"
    )
    same(lengths.asl(), [1.5])


def test_a_document_beyond_the_cutoff_is_in_no_group_of_tied_documents() -> None:
    run = {"q": {"x": 3.0, "y": 2.0, "a": 1.0, "b": 1.0}}
    lengths = search_lengths({"q": {"a": 1}}, run, cutoff=2, ties="expected")
    assert (lengths.rank.tolist(), lengths.level_irrelevant.tolist()) == ([0], [0])
    assert lengths.level_relevant.tolist() == [1]


@pytest.mark.parametrize(
    ("qrels", "cutoff", "what"),
    [({"q": {"a": 1}}, 20, r"cutoff \(10 and 20\)"), ({"q": {"b": 1}}, 10, "qrels")],
)
def test_what_was_not_made_alike_is_not_compared(qrels: Any, cutoff: int, what: str) -> None:
    run = {"q": {"a": 1.0}}
    one, other = (
        search_lengths({"q": {"a": 1}}, run, cutoff=10),
        search_lengths(qrels, run, cutoff=cutoff),
    )
    check_comparable(one, one)
    with pytest.raises(MismatchError, match=f"different {what}"):
        check_comparable(one, other)
