from __future__ import annotations

import numpy as np
import pytest

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics import detectable_mean, detectable_proportion, queries_for_coverage, queries_for_mean
from ir_outcomes.statistics.power import power_of_proportion


@pytest.mark.parametrize(("n", "won", "lost", "effect"), [(5193, 59, 79, 0.004), (200, 6, 4, 0.02), (54, 3, 2, 0.05)])
@pytest.mark.parametrize("test", ["exact", "midp"])
def test_queries_for_coverage_are_what_detectable_proportion_says(
    n: int, won: int, lost: int, effect: float, test: str
) -> None:
    plan = queries_for_coverage(n, won, lost, -effect, alpha=0.05, test=test)  # type: ignore[arg-type]
    assert plan.queries is not None
    assert plan.upper is not None
    share = (won + lost) / n
    assert power_of_proportion(plan.queries, share, effect, 0.05, test) >= 0.8  # type: ignore[arg-type]
    assert power_of_proportion(plan.queries - 1, share, effect, 0.05, test) < 0.8  # type: ignore[arg-type]
    assert detectable_proportion(plan.queries, share, 0.05, 0.8, test) == pytest.approx(effect, rel=0.01)  # type: ignore[arg-type]
    assert plan.upper > plan.queries
    family = queries_for_coverage(n, won, lost, effect, alpha=0.05 / 20, test=test)  # type: ignore[arg-type]
    assert (family.queries or 0) > 1.5 * plan.queries


def test_queries_for_coverage_from_a_pilot_without_discordant_queries() -> None:
    plan = queries_for_coverage(200, 0, 0, 0.001, alpha=0.05)
    assert plan.queries is not None
    assert (plan.upper or 0) > 2 * plan.queries
    assert queries_for_coverage(20, 5, 5, 1e-5, alpha=0.05).queries is None


def test_queries_for_mean_are_what_detectable_mean_says() -> None:
    d = np.random.default_rng(0).normal(0, 3, 100)
    plan = queries_for_mean(d, 100, 0.4, alpha=0.01)
    assert plan.queries is not None
    assert detectable_mean(plan.queries, d.std(ddof=1), 0.01) == pytest.approx(0.4, rel=0.005)
    assert (detectable_mean(plan.queries - 1, d.std(ddof=1), 0.01) or 0) > 0.4
    thinned = queries_for_mean(d, 200, 0.4, alpha=0.01)
    assert thinned.queries == pytest.approx(2 * plan.queries, rel=0.02)
    assert (thinned.upper or 0) > (thinned.queries or 0)


def test_queries_for_mean_where_the_pilot_cannot_tell() -> None:
    for d in ([], [3.0], [2.0, 2.0, 2.0]):
        plan = queries_for_mean(d, 10, 0.5, alpha=0.05)
        assert plan.queries is plan.upper is None
    assert queries_for_mean([1000, -1000, 0], 3, 1e-3, alpha=0.05).queries is None


def test_planned_power_is_realised() -> None:
    """Draw samples of the planned size from a population with many zeros."""
    rng = np.random.default_rng(1)
    population = np.where(rng.random(20_000) < 0.6, 0.0, rng.normal(0.8, 4, 20_000))
    plan = queries_for_mean(population[:4000], 5000, float(population.mean()), alpha=0.05)
    assert plan.queries is not None
    detected = 0
    for _ in range(1500):
        size = rng.binomial(plan.queries, 0.8)
        d = rng.choice(population, size)
        detected += abs(d.mean()) / (d.std(ddof=1) / np.sqrt(size)) > 1.97
    assert detected / 1500 == pytest.approx(0.8, abs=0.05)


def test_upper_bound_holds_for_most_pilots() -> None:
    rng = np.random.default_rng(2)
    population = np.where(rng.random(20_000) < 0.6, 0.0, rng.laplace(0.5, 4, 20_000))
    whole = queries_for_mean(population, 25_000, 0.3, alpha=0.05).queries
    assert whole is not None
    held = 0
    for _ in range(30):
        size = rng.binomial(200, 0.8)
        held += (queries_for_mean(rng.choice(population, size), 200, 0.3, alpha=0.05).upper or 0) >= whole
    assert held / 30 >= 0.65


def test_planning_refuses_what_cannot_be_planned() -> None:
    with pytest.raises(ParameterError, match="won=5, lost=5, n=3: must be counts, 0 or more, together at most n"):
        queries_for_coverage(3, 5, 5, 0.02, alpha=0.05)
    with pytest.raises(ParameterError, match="effect=0: must be a number other than 0"):
        queries_for_coverage(200, 3, 4, 0, alpha=0.05)
    with pytest.raises(ParameterError, match="effect=2: must be a difference of shares"):
        queries_for_coverage(200, 3, 4, 2, alpha=0.05)
    with pytest.raises(ParameterError, match="confidence=1: must be between 0 and 1"):
        queries_for_mean([1, 2], 2, 1, alpha=0.05, confidence=1)
    with pytest.raises(ParameterError, match="at most one for each query"):
        queries_for_mean([1, 2, 3], 2, 1, alpha=0.05)
