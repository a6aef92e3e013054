"""Plans: from the differences of a pilot to the numbers of `ir_outcomes.statistics.power`."""

import math
from dataclasses import replace

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.power import queries_for_margin, queries_for_mean, unit_values

SIZES = {f"q{n}": n % 3 + 1 for n in range(60)}  # queries of their cluster


def run(seed: int) -> dict[str, dict[str, float]]:
    """Return ten documents for each query, "d" the relevant one, which is missing in some."""
    rng = np.random.default_rng(seed)
    ranks = rng.integers(0, 13, 60).tolist()
    return {
        query: {("d" if place == rank else f"x{place}"): 10.0 - place for place in range(10)}
        for query, rank in zip(SIZES, ranks, strict=True)
    }


QRELS = {query: {"d": 1} for query in SIZES}


def compared(**settings: object) -> iro.Comparison:
    return iro.compare(QRELS, run(1), run(2), cutoff=10, **settings)  # type: ignore[call-overload,no-any-return]


def ranks(seed: int) -> list[float]:
    found = [list(documents) for documents in run(seed).values()]
    return [names.index("d") + 1 if "d" in names else math.nan for names in found]


def test_numbers_are_those_of_the_differences() -> None:
    planned = iro.plan(compared(alpha=0.01), 5.0, 2.0, 1.5, power=0.9)
    a, b = np.array(ranks(1)), np.array(ranks(2))
    differences = {
        "coverage": 100.0 * (~np.isnan(b)) - 100.0 * (~np.isnan(a)),
        "ranking": (b - a)[~np.isnan(b - a)],
        "all queries": np.nan_to_num(b, nan=11.0) - np.nan_to_num(a, nan=11.0),
    }
    effects = (5.0, 2.0, 1.5)
    largest = (100.0, 9.0, 10.0)
    options = {"alpha": 0.01, "power": 0.9}
    for row, d, effect, most in zip(
        planned.parts, differences.values(), effects, largest, strict=True
    ):
        assert row.needed == queries_for_mean(d, 60, effect, **options)
        assert row.to_pass == queries_for_margin(d, 60, effect, most, **options)
        assert (row.effect, row.n, row.differ) == (effect, len(d), int(np.sum(d != 0)))
    assert [row.name for row in planned.parts] == [*differences]
    assert planned.rows()[1]["queries_to_pass"] == planned.ranking.to_pass.queries  # type: ignore[union-attr]


def test_without_effects_a_point_and_half_a_rank_are_planned() -> None:
    planned = iro.plan(compared())
    assert [row.effect for row in planned.parts] == [1.0, 0.5]
    assert planned.notes[0].kind == "default effect"
    assert not iro.plan(compared(), 1.0, 0.5).notes
    assert iro.plan(compared(), ranking=-0.0 + 0.5) != planned


def test_clusters_are_counted() -> None:
    clusters = {query: f"c{n // 3}" for n, query in enumerate(SIZES)}
    clusters["q59"] = clusters["q58"] = clusters["q0"]
    found = compared(clusters=clusters)
    planned = iro.plan(found, ranking=1.0)
    d = np.array(ranks(2)) - np.array(ranks(1))
    names = sorted({*clusters.values()})
    sums = np.zeros(len(names))
    sizes = np.zeros(len(names))
    for query, difference in zip(clusters, d.tolist(), strict=True):
        if not math.isnan(difference):
            sums[names.index(clusters[query])] += difference
            sizes[names.index(clusters[query])] += 1
    values = unit_values(sums[sizes > 0], sizes[sizes > 0])
    assert planned.ranking.needed == queries_for_mean(values, len(names), 1.0, alpha=0.05)
    weight = sizes.max() / sizes[sizes > 0].mean()
    assert planned.ranking.to_pass == queries_for_margin(
        values, len(names), 1.0, 9.0, alpha=0.05, weight=weight
    )
    assert any("clusters of about" in text for text in planned.notes)


def test_systems_of_several_runs_have_the_means_of_their_rows() -> None:
    systems = iro.evaluate(
        QRELS,
        {"a": run(1), "b": [run(2), run(3)]},
        cutoff=10,
    )
    planned = iro.plan(iro.compare(systems, "a", "b"), 2.0)
    coverage = [100.0 * ~np.isnan(ranks(seed)) for seed in (1, 2, 3)]
    d = (coverage[1] + coverage[2]) / 2 - coverage[0]
    assert planned.coverage.needed == queries_for_mean(d, 60, 2.0, alpha=0.05)
    assert planned.n_runs == (1, 2)
    assert any("for these runs" in text for text in planned.notes)


def test_a_family_is_planned_at_the_first_step() -> None:
    evaluation = iro.evaluate(QRELS, {f"r{seed}": run(seed) for seed in range(4)}, cutoff=10)
    family = iro.compare(evaluation, "r0")
    alone = iro.compare(evaluation, "r0", "r1", alpha=0.05 / 3)
    planned = iro.plan(family["r1"], 1.0, 1.0)
    expected = iro.plan(alone, 1.0, 1.0)
    assert planned.ranking.needed == expected.ranking.needed
    assert any(text.startswith("Planned at the level") for text in planned.notes)


def test_equal_runs_say_why_there_is_no_number() -> None:
    equal = iro.compare(QRELS, run(1), run(1), cutoff=10)
    planned = iro.plan(equal)
    assert planned.ranking.needed.queries is None
    assert planned.ranking.to_pass is not None
    assert planned.ranking.to_pass.queries is not None
    assert planned.view().tables == ()
    assert len(planned.view().sentences) == 2
    assert len(iro.plan(equal, all_queries=1.0).view().sentences) == 3


def test_what_cannot_be_planned_is_refused() -> None:
    stored = iro.Comparison.from_json(compared().to_json())
    without_cutoff = replace(compared(), all_queries=None)
    for comparison, options in (
        (stored, {}),
        (without_cutoff, {"all_queries": 1.0}),
        (compared(), {"coverage": 200.0}),
        (compared(), {"power": 1.5}),
        ("a", {}),
    ):
        with pytest.raises(ParameterError):
            iro.plan(comparison, **options)  # type: ignore[arg-type]
