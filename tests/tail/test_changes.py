from collections import Counter
from itertools import permutations
from typing import Any

import pytest

import ir_outcomes as iro
from tests.helpers.many import collection


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("cutoff", [3, 6, 10])
def test_changes_by_loops(seed: int, cutoff: int) -> None:
    qrels, runs = collection(2, 15, relevant=3, seed=seed)
    result = iro.length_changes(iro.evaluate(qrels, runs), "run0", "run1", cutoff=cutoff, bins=3)
    width = -(-cutoff // 3)
    assert result.edges == (1, 1 + width, 1 + 2 * width)
    counted: Counter[Any] = Counter()
    for query, grades in qrels.items():
        ranked = [
            sorted(run[query], key=lambda d: -run[query][d])[:cutoff] for run in runs.values()
        ]
        for gold in grades:
            ranks = [
                documents.index(gold) + 1 if gold in documents else None for documents in ranked
            ]
            if None in ranks:
                counted["neither" if not any(ranks) else "won" if ranks[0] is None else "lost"] += 1
                continue
            above = [documents[: documents.index(gold)] for documents in ranked]
            before, after = (
                sum(document not in grades for document in documents) for documents in above
            )
            change = after - before
            counted[
                (
                    "unchanged"
                    if not change
                    else ("up" if change < 0 else "down", (abs(change) - 1) // width)
                )
            ] += 1
    for name, found in (("up", result.further_up), ("down", result.further_down)):
        assert found == tuple(counted[name, bucket] for bucket in range(3))
    for name in ("unchanged", "won", "lost", "neither"):
        assert getattr(result, name) == counted[name]
    assert sum(row["share"] for row in result.rows()) == pytest.approx(1.0)


def test_documents_that_a_run_does_not_find_do_not_move() -> None:
    # "a" is 3 ranks deep in B, and A, which lacks it, has only relevant documents above its end.
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    runs = {"A": {"q": {"b": 3.0, "c": 2.0, "x": 1.0}}, "B": {"q": {"x": 3.0, "y": 2.0, "a": 1.0}}}
    found = iro.length_changes(iro.evaluate(qrels, runs), "A", "B")
    assert (
        sum(found.further_up),
        found.won,
        sum(found.further_down),
        found.lost,
        found.neither,
    ) == (0, 1, 0, 2, 0)
    runs = {"A": {"q": {"a": 9.0, "x": 8.0, "y": 7.0}}, "B": {"q": {"a": 9.0, "b": 8.0, "x": 7.0}}}
    found = iro.length_changes(iro.evaluate(qrels, runs), "A", "B")
    assert (
        sum(found.further_up),
        found.won,
        sum(found.further_down),
        found.unchanged,
        found.neither,
    ) == (0, 1, 0, 1, 1)
    # C is missing from a list with one irrelevant document less.
    assert found.mean == pytest.approx((0 - 2 - 1) / 3)


def test_sizes_that_are_no_whole_numbers_are_rounded_up() -> None:
    qrels = {"q": {"a": 1}}
    runs = {"A": {"q": {"x": 1.0, "a": 1.0}}, "B": {"q": {"a": 2.0, "x": 1.0}}}
    result = iro.length_changes(iro.evaluate(qrels, runs, ties="expected"), "A", "B")
    assert (result.further_up, result.unchanged, result.mean) == ((1,), 0, -0.5)


def test_a_document_in_a_tie_level_has_half_of_the_others_above_it() -> None:
    """By all orders of the level: 0, 1 or 2 of two irrelevant documents, 1 on average, besides the one above the level."""
    tied = {"q": {"first": 2.0, "gold": 1.0, "x": 1.0, "y": 1.0}}
    alone = {"q": {"gold": 3.0, "first": 2.0, "x": 1.0, "y": 1.0}}
    orders = list(permutations(["gold", "x", "y"]))
    expected = 1 + sum(order.index("gold") for order in orders) / len(orders)
    evaluation = iro.evaluate(
        {"q": {"gold": 1}}, {"tied": tied, "alone": alone}, ties="expected", cutoff=4
    )
    result = iro.length_changes(evaluation, "tied", "alone", bins=4)
    assert result.mean == -expected == -2
    assert result.further_up == (0, 1, 0, 0)
