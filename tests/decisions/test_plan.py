"""Plans: from the differences of a pilot to the numbers of `ir_outcomes.statistics.power`."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.choices import Floats
from ir_outcomes.decisions.plan import PlannedRow
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.power import (
    queries_for_margin,
    queries_for_mean,
    unit_values,
)
from tests.helpers import literal

SIZES = {f"q{n}": n % 3 + 1 for n in range(60)}  # queries of their cluster


def run(seed: int) -> dict[str, dict[str, float]]:
    """Return ten documents for each query, "d" the relevant one, which is missing in some."""
    rng = np.random.default_rng(seed)
    ranks = rng.integers(0, 13, 60).tolist()
    return {
        query: {("d" if place == rank else f"x{place}"): 10.0 - place for place in range(10)}
        for query, rank in zip(SIZES, ranks, strict=True)
    }


def row_of(planned: iro.Plan, name: str) -> PlannedRow:
    (row,) = (row for row in planned.parts if row.name == name)
    return row


QRELS = {query: {"d": 1} for query in SIZES}
Run = dict[str, dict[str, float]]


def compared(**settings: object) -> iro.Comparison:
    return iro.compare(QRELS, run(1), run(2), cutoff=10, **settings)  # type: ignore[call-overload,no-any-return]


def units_of(row: str, *seeds: int, clusters: dict[str, str] | None = None) -> Floats:
    """Sums and numbers of differences to the first run, by query or cluster."""
    rows = literal.rows(QRELS, [run(1)], [run(seed) for seed in seeds], "query", 10)
    return np.array(literal.units(rows[row], clusters)).T


def differences_of(row: str, *seeds: int) -> Floats:
    sums, numbers = units_of(row, *seeds)
    differences: Floats = sums / numbers
    return differences


def test_numbers_are_those_of_the_differences() -> None:
    planned = iro.plan(compared(alpha=0.01), 5.0, 2.0, 1.5, power=0.9)
    names, effects, largest = ("coverage", "ranking", "all queries"), (5.0, 2.0, 1.5), (100, 9, 10)
    for row, name, effect, most in zip(planned.parts, names, effects, largest, strict=True):
        d = differences_of(name, 2)
        assert row.needed == queries_for_mean(d, 60, effect, alpha=0.01, power=0.9)
        assert row.to_pass == queries_for_margin(d, 60, effect, most, alpha=0.01, power=0.9)
        assert (row.effect, row.n, row.differ) == (effect, len(d), int(np.sum(d != 0)))
    assert tuple(row.name for row in planned.parts) == names
    assert planned.rows()[1]["queries_to_pass"] == row_of(planned, "ranking").to_pass.queries  # type: ignore[union-attr]


def test_without_effects_a_point_and_half_a_rank_are_planned() -> None:
    planned = iro.plan(compared())
    assert [row.effect for row in planned.parts] == [1.0, 0.5]
    assert planned.notes[0].kind == "default effect"
    assert not iro.plan(compared(), 1.0, 0.5).notes
    assert iro.plan(compared(), ranking=0.5) != planned


def test_clusters_are_counted() -> None:
    clusters = {query: f"c{n // 3}" for n, query in enumerate(SIZES)}
    clusters["q59"] = clusters["q58"] = clusters["q0"]
    found = compared(clusters=clusters)
    planned = iro.plan(found, ranking=1.0)
    sums, sizes = units_of("ranking", 2, clusters=clusters)
    values, n = unit_values(sums, sizes), len({*clusters.values()})
    row = row_of(planned, "ranking")
    assert row.needed == queries_for_mean(
        values, n, 1.0, alpha=0.05, differ=int(np.count_nonzero(sums))
    )
    assert row.to_pass == queries_for_margin(
        values, n, 1.0, 9.0, alpha=0.05, weight=sizes.max() / sizes.mean()
    )
    assert any("clusters of about" in text for text in planned.notes)


def test_systems_of_several_runs_have_the_means_of_their_rows() -> None:
    systems = iro.evaluate(
        QRELS,
        {"a": run(1), "b": [run(2), run(3)]},
        cutoff=10,
    )
    planned = iro.plan(iro.compare(systems, "a", "b"), 2.0)
    d = differences_of("coverage", 2, 3)
    assert row_of(planned, "coverage").needed == queries_for_mean(d, 60, 2.0, alpha=0.05)
    assert planned.n_runs == (1, 2)
    assert any("for these runs" in text for text in planned.notes)


def test_a_family_is_planned_at_the_first_step() -> None:
    evaluation = iro.evaluate(QRELS, {f"r{seed}": run(seed) for seed in range(4)}, cutoff=10)
    family = iro.compare(evaluation, "r0")
    alone = iro.compare(evaluation, "r0", "r1", alpha=0.05 / 3)
    planned = iro.plan(family["r1"], 1.0, 1.0)
    expected = iro.plan(alone, 1.0, 1.0)
    assert row_of(planned, "ranking").needed == row_of(expected, "ranking").needed
    assert any(text.startswith("Planned at the level") for text in planned.notes)


def test_equal_runs_say_why_there_is_no_number() -> None:
    equal = iro.compare(QRELS, run(1), run(1), cutoff=10)
    planned = iro.plan(equal)
    assert row_of(planned, "ranking").needed.queries is None
    to_pass = row_of(planned, "ranking").to_pass
    assert to_pass is not None
    assert to_pass.queries is not None
    assert planned.view().tables == ()


def ranked(ranks: Sequence[int]) -> dict[str, float]:
    """Return ten documents with "g0", "g1" ... at these ranks, 0 for one that is missing."""
    relevant = {rank: f"g{number}" for number, rank in enumerate(ranks) if rank}
    return {relevant.get(rank, f"x{rank}"): -float(rank) for rank in range(1, 11)}


def changing(facet: str, relevant: int) -> tuple[literal.Qrels, Run, Run]:
    """Return 400 queries on which a second run changes this facet and not the other."""
    rng = np.random.default_rng(relevant)
    qrels: literal.Qrels = {}
    first: Run = {}
    second: Run = {}
    for number in range(400):
        query = f"q{number}"
        ranks = (rng.permutation(10)[:relevant] + 1).tolist()
        spare = next(rank for rank in rng.permutation(10) + 1 if rank not in ranks)
        if number % 3 == 0 or (facet == "ranking" and relevant > 1):
            ranks[0] = 0
        others = list(ranks)
        if facet == "coverage":
            others[0] = others[0] or (int(spare) if number % 2 else 0)
        elif others[-1]:
            others[-1] = min(others[-1], int(spare)) if number % 4 else int(spare)
        qrels[query] = {f"g{n}": 1 for n in range(relevant)}
        first[query], second[query] = ranked(ranks), ranked(others)
    return qrels, first, second


@pytest.mark.parametrize("facet", ["coverage", "ranking"])
@pytest.mark.parametrize("relevant", [1, 3])
def test_an_effect_alone_is_carried_to_what_all_queries_change_by(
    facet: str, relevant: int
) -> None:
    """The pilot has the planned effect, so that all queries change by what is planned for the label."""
    unit: Literal["query", "document"] = "document" if relevant > 1 else "query"
    qrels, first, second = changing(facet, relevant)
    found = iro.compare(qrels, first, second, cutoff=10, unit=unit)
    rows = {"coverage": found.coverage, "ranking": found.ranking, "whole": found.all_queries}
    changes = {name: abs(row.difference or 0.0) for name, row in rows.items() if row is not None}
    changed, whole = changes.pop(facet), changes.pop("whole")
    (other,) = changes.values()  # by document what is found is one irrelevant document less
    assert other < 0.1
    planned = row_of(iro.plan(found, **{facet: changed}), facet)
    assert planned.over_all == pytest.approx(whole - other, rel=0.15)
    d = np.array([query.all_queries for query in found.queries or ()])
    assert planned.for_label == queries_for_mean(d, 400, planned.over_all or 0.0, alpha=0.05)
    restored = iro.Comparison.from_json(found.to_json(per_query=True))
    assert iro.plan(restored, 3.0, 0.7) == iro.plan(found, 3.0, 0.7)


def test_values_have_one_row() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.random(50), rng.random(50)
    values = [dict(zip(map(str, range(50)), side.tolist(), strict=True)) for side in (a, b)]
    found = iro.compare_outputs(*values, measure="faithfulness", higher_is_better=True)
    restored = iro.Comparison.from_json(found.to_json(per_query=True))
    expected = queries_for_mean(b - a, 50, 0.05, alpha=0.05)
    for planned in (iro.plan(found, 0.05), iro.plan(restored, all_queries=0.05)):
        (row,) = planned.parts
        assert (planned.coverage, planned.ranking, planned.all_queries) == (None, None, row)
        assert row.needed == row.for_label == expected
        assert row.to_pass is None
        assert len(planned.view().tables) == 1
    for effects in ({}, {"coverage": 0.1, "all_queries": 0.1}, {"all_queries": -0.1}):
        with pytest.raises(ParameterError) as refused:
            iro.plan(found, **effects)
        assert iro.plan(found, all_queries=value_that_works(str(refused.value))).parts
    ranged = iro.compare_outputs(*values, measure="nDCG@10")
    with pytest.raises(ParameterError, match=r"`all_queries=1\.5`"):
        iro.plan(ranged, all_queries=1.5)
    (row,) = iro.plan(ranged, 0.05).parts
    assert row.to_pass == queries_for_margin(b - a, 50, 0.05, 1.0, alpha=0.05)


def value_that_works(message: str) -> float:
    return float(message.split("such as")[1].strip("` ").removeprefix("all_queries="))


@pytest.mark.parametrize(
    ("argument", "largest"), [("coverage", 100), ("ranking", 9), ("all_queries", 10)]
)
def test_effects_that_cannot_be_name_one_that_can(argument: str, largest: int) -> None:
    for effect in (0, -0.0, -1, math.nan, math.inf, largest + 1e-9, 10 * largest):
        with pytest.raises(ParameterError) as refused:
            iro.plan(compared(), **{argument: effect})
        assert f"`{argument}={effect}`" in str(refused.value)
        works = value_that_works(str(refused.value))
        assert {argument: works}.items() <= {
            row.name.replace(" ", "_"): row.effect
            for row in iro.plan(compared(), **{argument: works}).parts
        }.items()
    assert iro.plan(compared(), **{argument: largest}).parts


def test_where_ranking_cannot_change_it_is_not_planned() -> None:
    first = iro.compare(QRELS, run(1), run(2), cutoff=1)
    planned = iro.plan(first)
    assert planned.ranking is not None
    assert row_of(planned, "ranking").needed.queries is None
    with pytest.raises(ParameterError, match="leave it out"):
        iro.plan(first, ranking=0.5)


def test_what_cannot_be_planned_is_refused() -> None:
    stored = iro.Comparison.from_json(compared().to_json())
    without_cutoff = replace(compared(), all_queries=None)
    for comparison, options in (
        (stored, {}),
        (without_cutoff, {"all_queries": 1.0}),
        (compared(), {"power": 1.5}),
        ("a", {}),
    ):
        with pytest.raises(ParameterError):
            iro.plan(comparison, **options)  # type: ignore[arg-type]
