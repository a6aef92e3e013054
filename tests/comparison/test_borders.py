"""Numbers that decide, at their borders: hurt, found, intervals, margins, conditions."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import t

import ir_outcomes as iro
from tests.helpers.comparisons import compare_several
from tests.helpers.estimate import margin_interval
from tests.helpers.runs import Ranks, in_blocks, qrels_of, run_of

CUTOFF = 10


def evaluated(runs: dict[str, Ranks], **settings: Any) -> iro.Evaluation:
    qrels = qrels_of(runs["A"])
    found = {name: run_of(ranks, CUTOFF) for name, ranks in runs.items()}
    evaluation: iro.Evaluation = iro.evaluate(qrels, found, cutoff=CUTOFF, **settings)
    return evaluation


def gain_with_harm(later: int) -> iro.Evaluation:
    """B answers 14 more of 60 queries, and `later` of the others one rank later; so 2 of C."""
    answered = {"A": [1] * 40 + [None] * 20}
    answered["B"] = [1] * (34 - later) + [2] * later + [1] * 20 + [None] * 6
    answered["C"] = [1] * 38 + [2] * 2 + [None] * 20
    return evaluated(
        {
            name: {f"q{query}": rank for query, rank in enumerate(ranks)}
            for name, ranks in answered.items()
        }
    )


def just_below(number: float) -> float:
    return math.nextafter(number, 0.0)


@pytest.mark.parametrize(
    ("later", "pvalue", "found"),
    [(8, 0.0096, "worse"), (6, 0.0312, "none"), (5, 0.0625, "none"), (2, 0.5, "none")],
)
def test_harm_is_at_the_raw_pvalue_and_findings_at_the_corrected_one(
    later: int, pvalue: float, found: str
) -> None:
    """The harm of both contenders is corrected by Holm; "no harm" is not corrected."""
    b, c = compare_several(gain_with_harm(later), "A", ["B", "C"])
    assert b.ranking.pvalue == pytest.approx(pvalue, abs=0.001)
    assert b.ranking.pvalue_corrected == pytest.approx(min(2 * pvalue, 1), abs=0.002)
    assert (b.coverage.found, b.ranking.found, c.ranking.found) == ("better", found, "none")
    assert b.verdict.label.startswith("trade-off") == (b.ranking.pvalue <= 0.05)
    assert not c.verdict.label.startswith("trade-off")


@pytest.mark.parametrize(
    ("share", "hurt"), [(1, True), (0.6, True), (0.2, True), (1.0001, False), (10, False)]
)
def test_harm_at_a_pvalue_that_is_this_share_of_alpha(share: float, hurt: bool) -> None:
    evaluation = gain_with_harm(8)
    pvalue = compare_several(evaluation, "A", ["B", "C"])[0].ranking.pvalue
    b, _ = compare_several(evaluation, "A", ["B", "C"], alpha=pvalue / share)
    assert b.coverage.found == "better"
    assert b.verdict.label.startswith("trade-off") == hurt


def test_alpha_is_the_corrected_pvalue_itself() -> None:
    """What is found excludes 0 from the interval, and both change at the same alpha."""
    evaluation = gain_with_harm(8)
    for name in ("coverage", "ranking", "all_queries"):
        row = getattr(compare_several(evaluation, "A", ["B", "C"])[0], name)
        direction = "worse" if name == "ranking" else "better"
        corrected = row.pvalue_corrected
        for alpha, found in ((corrected, direction), (just_below(corrected), "none")):
            b, _ = compare_several(evaluation, "A", ["B", "C"], alpha=alpha)
            assert getattr(b, name).found == found
        for alpha, excluded in ((row.pvalue, True), (just_below(row.pvalue), False)):
            low, high = getattr(
                compare_several(evaluation, "A", ["B", "C"], alpha=alpha)[0], name
            ).interval
            assert (low > 0 or high < 0) == excluded


@pytest.mark.parametrize("contenders", [1, 2])
def test_the_margin_that_equal_runs_pass(contenders: int) -> None:
    """The better end of the interval for margins where no query differs, at alpha / contenders."""
    evaluation = gain_with_harm(6)
    names = ["B", "C"][:contenders]
    found = iro.compare(evaluation, "A", names, margins=(5.0, 1.0, 2.0))
    comparison = found if isinstance(found, iro.Comparison) else found[0]
    sizes = {"coverage": (60, 100.0), "ranking": (40, 9.0), "all queries": (60, 10.0)}
    for row in comparison.deciding:
        n, largest = sizes[row.name]
        assert row.n == n
        assert row.margin is not None
        half = t.ppf(1 - 0.025 / contenders, n + 3) * 2 * largest / math.sqrt((n + 3) * (n + 4))
        assert row.margin.passable == pytest.approx(half)


def test_the_margin_that_equal_runs_pass_by_cluster() -> None:
    """Imaginary clusters are as large as the largest; where none differs only they count."""
    ranks = {f"q{query}": 1 + query % 3 for query in range(60)}
    later = {query: rank + (query == "q0") for query, rank in ranks.items()}
    sizes = [1] * 10 + [2] * 10 + [6] * 5
    names = iter(ranks)
    clusters = {next(names): f"c{number}" for number, size in enumerate(sizes) for _ in range(size)}
    evaluation = evaluated({"A": ranks, "B": later}, clusters=clusters)
    found = iro.compare(evaluation, "A", "B", margins=(5.0, 1.0, 2.0))
    assert isinstance(found, iro.Comparison)
    for row in found.deciding:
        largest = {"coverage": 100.0, "ranking": 9.0, "all queries": 10.0}[row.name]
        _, expected = margin_interval([(0.0, size) for size in sizes], largest)
        assert row.margin is not None
        assert row.margin.passable == pytest.approx(expected)


def collections(
    number: int, rank: Callable[[int], int], gained: Callable[[int], int]
) -> dict[str, iro.Evaluation]:
    """In each of 60 queries 40 are answered by both, B at `rank`, and B gains or loses some."""
    suite = {}
    for index in range(number):
        won = max(gained(index), 0)
        lost = max(-gained(index), 0)
        blocks: Sequence[tuple[int, int | None, int | None]] = [
            (40, 4, rank(index)),
            (won, None, 4),
            (lost, 4, None),
            (20 - won - lost, None, None),
        ]
        a, b = in_blocks(*blocks)
        suite[f"c{index}"] = evaluated({"A": a, "B": b})
    return suite


@pytest.mark.parametrize(
    ("rank", "gained", "outlook"),
    [
        (lambda index: 1 + index % 2, lambda index: 8 + index % 3, "likely better"),
        (lambda index: 1 + index % 2, lambda index: 0, "likely better"),
        (lambda index: 4, lambda index: 8 + index % 3, "likely better"),
        (lambda index: 7 + index % 2, lambda index: -8 - index % 3, "likely worse"),
        (lambda index: 7 + index % 2, lambda index: 0, "likely worse"),
        (lambda index: 7 + index % 2, lambda index: 8 + index % 3, "likely worse"),
        (lambda index: 5 + index % 2, lambda index: 8 + index % 3, "could go either way"),
        (lambda index: 1 + index % 2, lambda index: -8 - index % 3, "could go either way"),
        (lambda index: 3 + 2 * (index % 2), lambda index: 8, "could go either way"),
        (lambda index: 1, lambda index: 8 * (-1) ** index, "could go either way"),
    ],
)
def test_where_a_new_collection_lies(
    rank: Callable[[int], int], gained: Callable[[int], int], outlook: str
) -> None:
    """The interval mean -+ t s sqrt(1 + 1 / k) over all queries excludes harm, or a gain."""
    number = 5
    result = iro.compare_collections(collections(number, rank, gained), "A", "B")
    (overall,) = result.overall
    changes = {
        "coverage": [100 * gained(index) / 60 for index in range(number)],
        "ranking": [float(rank(index) - 4) for index in range(number)],
        "all queries": [
            (40 * (rank(index) - 4) - (CUTOFF + 1 - 4) * gained(index)) / 60
            for index in range(number)
        ],
    }
    half = {
        name: t.ppf(0.975, number - 1) * np.std(values, ddof=1) * math.sqrt(1 + 1 / number)
        for name, values in changes.items()
    }
    for name, values in changes.items():
        mean = float(np.mean(values))
        assert overall.new[name] == pytest.approx((mean - half[name], mean + half[name]))
    low, high = overall.new["all queries"]
    expected = "likely worse" if low >= 0 else "could go either way"
    assert overall.outlook == ("likely better" if high <= 0 else expected) == outlook


def test_four_collections_say_nothing_about_a_new_one() -> None:
    result = iro.compare_collections(collections(4, lambda index: 1, lambda index: 8), "A", "B")
    (overall,) = result.overall
    assert (dict(overall.new), overall.outlook) == ({}, "")


def test_slices_of_thirty_queries_have_a_label() -> None:
    a, b = in_blocks((59, 3, 1))
    evaluation = evaluated({"A": a, "B": b})
    by = {query: "29 queries" if place < 29 else "30 queries" for place, query in enumerate(a)}
    found = iro.compare_slices(evaluation, "A", by=by)
    labelled = {row.condition: row.labelled for row in found.conditions}
    assert labelled == {"29 queries": False, "30 queries": True}
    assert [row.label is None for row in found.conditions] == [
        not row.labelled for row in found.conditions
    ]
    few = iro.compare_collections(
        {
            name: evaluated({"A": dict([*a.items()][:9]), "B": dict([*b.items()][:9])})
            for name in "cd"
        },
        "A",
        "B",
    )
    assert all(row.labelled and row.label == row.comparison.verdict.label for row in few.conditions)
