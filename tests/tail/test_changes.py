from collections import Counter
from typing import Any

import pytest

import ir_outcomes as iro
from tests.helpers.many import collection


def numbers(result: iro.LengthChanges) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for row in result.table:
        found.setdefault(row["change"], []).append(row["documents"])
    return found


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
    found = numbers(result)
    for name in ("up", "down"):
        assert found[f"further {name}"] == [counted[name, bucket] for bucket in range(3)]
    for name in ("unchanged", "won", "lost", "neither"):
        assert found[name] == [counted[name]]
    assert sum(row["share"] for row in result.rows()) == pytest.approx(1.0)


def test_documents_that_a_run_does_not_find_do_not_move() -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    runs = {"A": {"q": {"a": 9.0, "x": 8.0, "y": 7.0}}, "B": {"q": {"a": 9.0, "b": 8.0, "x": 7.0}}}
    result = iro.length_changes(iro.evaluate(qrels, runs), "A", "B")
    found = numbers(result)
    assert [
        sum(found[name]) for name in ("further up", "won", "further down", "unchanged", "neither")
    ] == [0, 1, 0, 1, 1]
    # C is missing from a list with one irrelevant document less.
    assert result.mean_change == pytest.approx((0 - 2 - 1) / 3)
