"""Effects of both facets, and of other measures, in one condition, with their sampling variances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import compress

from ir_outcomes._formatting import fixed
from ir_outcomes.comparison.outcomes import PairedQueries
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.results import Immutable
from ir_outcomes.statistics import (
    Interval,
    coverage_interval,
    differences,
    effective_df,
    log_ratio_influence,
    log_ratio_of_means,
    mean_interval,
)

__all__ = ["Effect", "bare", "effects_of", "in_words", "measure_effect"]


@dataclass(frozen=True)
class Effect(Immutable):
    """The effect of one facet, or of a measure, in one condition.

    Attributes
    ----------
    name : str
        "coverage", "ranking" or a measure.
    effect : float
        Contender against baseline: percentage points for coverage, the logarithm of the ratio of mean search lengths for
        ranking, the difference of means for a measure.
    variance : float
        Its sampling variance.
    df : float
        Degrees of freedom of the variance.
    interval : Interval or None
        Two-sided, at level 1 - alpha, in the unit of `effect`.
    n : int
        Queries behind it.
    """

    name: str
    effect: float
    variance: float
    df: float
    interval: Interval | None
    n: int


def effects_of(pair: PairedQueries, level: float) -> tuple[Effect | None, Effect | None]:
    """Compute the effects of coverage and ranking in one condition, with intervals at this level."""
    return _coverage_effect(pair, level), _ranking_effect(pair, level)


def _coverage_effect(pair: PairedQueries, level: float) -> Effect | None:
    change = differences(pair.found_baseline, pair.found_contender)
    if len(change) < 2:
        return None
    interval = coverage_interval(change, pair.item_share, level)
    if interval is None:
        return None
    # The variance of the interval, which is never 0: of a sample with one more query won and one more lost.
    share, weight = pair.item_share, len(change) + 2 * pair.item_share
    centre = float(change.sum()) / weight
    variance = (float((change**2).sum()) + 2 * share**2) / weight - centre**2
    variance *= (1 + (1 - share) / (len(change) - 1)) / weight
    points = Interval(100 * interval.low, 100 * interval.high)
    return Effect("coverage", 100 * float(change.mean()), 1e4 * variance, len(change) - 1, points, len(change))


def _ranking_effect(pair: PairedQueries, level: float) -> Effect | None:
    from scipy.special import stdtrit

    lengths = pair.length_baseline[pair.shared], pair.length_contender[pair.shared]
    effect = log_ratio_of_means(*lengths)
    if effect is None:
        return None
    n = len(lengths[0])
    df = effective_df(log_ratio_influence(*lengths))
    half = -float(stdtrit(df, (1 - level) / 2)) * math.sqrt(effect[1])
    return Effect("ranking", effect[0], effect[1], df, Interval(effect[0] - half, effect[0] + half), n)


def measure_effect(evaluation: Evaluation, measure: str, runs: tuple[str, str], level: float) -> Effect | None:
    """Compute the difference of the means of another measure over the answerable queries; None where it has no variance."""
    answerable = compress(evaluation.query_ids, evaluation.answerable.tolist())
    values = evaluation.scores_of(measure).on(tuple(answerable)).values
    change = differences(*(values[evaluation.position(run)] for run in runs))
    variance = float(change.var(ddof=1)) / len(change) if len(change) > 1 else 0.0
    if variance == 0:
        return None
    return Effect(measure, float(change.mean()), variance, effective_df(change), mean_interval(change, level), len(change))


def in_words(name: str, effect: float) -> str:
    """Write an effect with its unit."""
    if name == "coverage":
        return f"{fixed(effect, 2, signed=True)} points"
    if name == "ranking":
        return f"reads {bare(name, effect)} times as far"
    return fixed(effect, 4, signed=True)


def bare(name: str, effect: float) -> str:
    """Write an effect without its unit; a log-ratio as a ratio."""
    if name == "ranking":
        return fixed(math.exp(effect), 2)
    return fixed(effect, 2 if name == "coverage" else 4, signed=True)
