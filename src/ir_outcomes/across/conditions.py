"""A comparison for each condition, such as a collection or a slice, with its effects, and what holds over all of them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ir_outcomes.across.result import Condition, Effect, Overall, PooledEffect, What, by_contender
from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.facets import AllQueries, Facet
from ir_outcomes.comparison.holes import judged_shares
from ir_outcomes.comparison.outcomes import PairedQueries, Settings, pair_queries
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.verdict import (
    NO_DIFFERENCE,
    TRADE_OFF,
    decide,
    direction_of,
    find,
    meaning_of,
    over_all,
)
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.formatting import fixed, listed, plural
from ir_outcomes.reading.measure_names import range_of
from ir_outcomes.statistics import (
    Interval,
    adjust,
    coverage_interval,
    differences,
    linearized,
    pooling,
)
from ir_outcomes.statistics.counts import sums_by_cluster
from ir_outcomes.statistics.intervals import adjusted_wald, effective_df, t_interval
from ir_outcomes.statistics.kernels import Pvalues
from ir_outcomes.statistics.tests import Test
from ir_outcomes.types import Floats, Ints

# Whether higher is better stands beside the facet.
FACETS = (
    ("coverage", True),
    ("ranking", False),
    ("all queries", False),
)


def effects_of(pair: PairedQueries, level: float) -> list[Effect | None]:
    """Return the effects of `FACETS` in one condition, with intervals at this level; None where there is none."""
    whole = pair.restricted
    all_queries = None
    if whole is not None:
        of_runs = whole.baseline, whole.contender
        all_queries = mean_effect(
            "all queries", *of_runs, pair.clusters, level, float(whole.horizon)
        )
    return [_coverage_effect(pair, level), _ranking_effect(pair, level), all_queries]


def mean_effect(
    name: str,
    baseline: Floats,
    contender: Floats,
    clusters: Ints | None,
    level: float,
    largest: float | None,
) -> Effect | None:
    """Return the effect on the mean of a measure over the queries, at most `largest`, if known; None without variance."""
    change = linearized(differences(baseline, contender), clusters)
    variance = 0.0
    if len(change) > 1:
        variance = float(change.var(ddof=1)) / len(change)
    if not variance:
        return None
    mean = float(change.mean())
    df = effective_df(change)
    interval = t_interval(mean, math.sqrt(variance), df, level)
    if largest is not None:
        interval = interval.within(-largest, largest)
    return Effect(name, mean, variance, df, interval, len(baseline), largest)


def _coverage_effect(pair: PairedQueries, level: float) -> Effect | None:
    if pair.clusters is not None:
        return mean_effect(
            "coverage",
            100 * pair.found_baseline,
            100 * pair.found_contender,
            pair.clusters,
            level,
            100.0,
        )
    change = differences(pair.found_baseline, pair.found_contender)
    n = len(pair.query_ids)
    interval = coverage_interval(change, pair.item_share, level)
    if interval is None or n < 2:
        return None
    # The variance of the interval, which is never 0: of a sample with one more query won and one
    # more lost.
    _, variance = adjusted_wald(change.sum(), change @ change, n, pair.item_share)
    points = Interval(100 * interval.low, 100 * interval.high)
    mean = 100 * float(change.mean())
    return Effect("coverage", mean, 1e4 * float(variance), n - 1, points, n, 100.0)


def _ranking_effect(pair: PairedQueries, level: float) -> Effect | None:
    x = pair.length_baseline[pair.shared]
    y = pair.length_contender[pair.shared]
    n = len(x)
    # The ratio of the means is that of the sums, cluster by cluster.
    clusters = pair.rows(shared=True)
    if clusters is not None and n:
        (x, _), (y, _) = (sums_by_cluster(values, clusters) for values in (x, y))
    found = pooling.log_ratio_of_means(x, y)
    if found is None:
        return None
    interval = found.interval(level)
    largest = None
    if pair.restricted is not None:  # no rank is beyond k, and no ratio of two
        largest = math.log(pair.restricted.horizon)
        interval = interval.within(-largest, largest)
    return Effect("ranking", found.mean, found.variance, found.df, interval, n, largest)


def written(name: str, effect: float, ends: tuple[float, float] | None = None) -> str:
    """Write an effect without its unit, and its interval; a log-ratio as a ratio."""
    if ends is not None:
        return f"{written(name, effect)} [{written(name, ends[0])}, {written(name, ends[1])}]"
    if name == "ranking":
        return fixed(math.exp(effect), 2)
    return fixed(effect, 2 if name in ("coverage", "all queries") else 4, signed=True)


def conditions_of(
    evaluations: Mapping[str, Evaluation],
    baseline: str,
    contenders: Sequence[str],
    settings: Settings,
    *,
    over_conditions: str,
    measures: Sequence[str] = (),
    groups: Mapping[str, str] | None = None,
    fewest: int = 0,
) -> list[Condition]:
    """Compare every contender with the baseline in every condition that has both; a label needs at least `fewest` queries."""
    compared = _compare_in(evaluations, baseline, contenders, settings, measures)
    coverage = _corrected([comparison.coverage for _, comparison in compared], over_conditions)
    ranking = _corrected([comparison.ranking for _, comparison in compared], over_conditions)
    all_queries = _corrected([comparison.restricted for _, comparison in compared], over_conditions)
    rows = []
    level = 1 - settings.alpha
    for (name, comparison), coverage_p, ranking_p, all_queries_p in zip(
        compared, coverage, ranking, all_queries, strict=True
    ):
        evaluation = evaluations[name][[comparison.baseline, comparison.contender]]
        runs = evaluation.at()
        pair = pair_queries(runs[0], runs[1], evaluation.unit)
        coverage_effect, ranking_effect, all_queries_effect = effects_of(pair, level)
        of_measures = []
        for measure in measures:
            scores = evaluation.scores_of(measure).on(evaluation.answerable_queries)
            of_runs = scores.values[0], scores.values[1]
            largest = range_of(measure, scores.values)
            effect = mean_effect(measure, *of_runs, scores.clusters, level, largest)
            of_measures.append(effect)
        # A label survives if what is significant after the correction over the contenders, and
        # carries it, still is.
        label = comparison.verdict.label
        carrying: list[tuple[Facet | AllQueries, float]] = [
            (comparison.coverage, coverage_p),
            (comparison.ranking, ranking_p),
        ]
        if comparison.restricted is not None and meaning_of(label).by == "all queries":
            carrying = [(comparison.restricted, all_queries_p)]
        lost = any(part.pvalue_corrected <= settings.alpha < after for part, after in carrying)
        condition = Condition(
            condition=name,
            group=(groups or {}).get(name),
            comparison=comparison,
            coverage_p=coverage_p,
            ranking_p=ranking_p,
            all_queries_p=all_queries_p,
            survives=label == NO_DIFFERENCE or not lost,
            labelled=comparison.n_queries >= fewest,
            coverage=coverage_effect,
            ranking=ranking_effect,
            all_queries=all_queries_effect,
            measures=tuple(of_measures),
            judged=None if evaluation.positives_only else judged_shares(runs, evaluation.cutoff),
        )
        rows.append(condition)
    return rows


def _compare_in(
    evaluations: Mapping[str, Evaluation],
    baseline: str,
    contenders: Sequence[str],
    settings: Settings,
    measures: Sequence[str],
) -> list[tuple[str, Comparison]]:
    """Compare in every condition, and return the comparisons with the name of the condition, contender by contender."""
    test: Any = settings.test
    compared: list[tuple[str, Comparison]] = []
    for name, evaluation in evaluations.items():
        present = [contender for contender in contenders if contender in evaluation.names]
        if baseline not in evaluation.names or not present:
            continue
        found = compare(
            evaluation,
            baseline,
            present,
            alpha=settings.alpha,
            test=test,
            correction=settings.correction,
            measures=measures,
        )
        compared += [(name, comparison) for comparison in found]
    return sorted(compared, key=lambda item: contenders.index(item[1].contender))


def differing(evaluations: Mapping[str, Evaluation], *settings: str) -> Iterator[tuple[str, str]]:
    """Find the settings in which evaluations differ, with their values in words."""
    for setting in settings:
        values = {name: getattr(evaluation, setting) for name, evaluation in evaluations.items()}
        if len(set(values.values())) > 1:
            yield setting, listed([f"{name} {value}" for name, value in values.items()][:10])


def agreement_of(what: What, rows: Sequence[Condition]) -> Iterator[str]:
    """Say for each contender how far its labels agree."""
    under = "at" if what == "cutoff" else "under"
    for contender, own in by_contender(rows).items():
        labels = [row.comparison.verdict.label for row in own]
        most = max(labels, key=labels.count)
        times = labels.count(most)
        several = plural(what, len(labels))
        same = f"a different label {under} each of {several}"
        if times > 1 or len(labels) == 1:
            same = f'the same label {under} {times} of {several} ("{most}")'
        directions = "never opposite"
        if {"better", "worse"} <= {direction_of(label) for label in labels}:
            directions = "opposite directions occur"
        yield f"{contender}: {same}, {directions}."


def _corrected(facets: Sequence[Facet | AllQueries | None], over_conditions: str) -> list[float]:
    """Correct the p-values over all contenders and conditions; they stay at least those corrected over the contenders."""
    raw = [1.0 if facet is None else facet.pvalue for facet in facets]
    own = [1.0 if facet is None else facet.pvalue_corrected for facet in facets]
    corrected: list[float] = np.maximum(own, adjust(raw, over_conditions)).tolist()
    return corrected


def overall_of(
    rows: Sequence[Condition], settings: Settings, measures: Sequence[tuple[str, bool]]
) -> list[Overall]:
    """Combine the conditions of each contender; `measures` are other measures, and whether higher is better."""
    of_contender = by_contender(rows)
    groups = {row.condition: row.group for row in rows if row.group is not None}
    pooled = []
    for name, higher_is_better in (*FACETS, *measures):
        found = []
        for own in of_contender.values():
            effects = {row.condition: row.effect(name) for row in own}
            found.append(pooled_effect(effects, groups, name, higher_is_better, settings.alpha))
        pooled.append(_with_corrected_means(found, settings.correction))
    runs = zip(of_contender.items(), *pooled, strict=True)
    return [_overall(name, own, effects, settings.alpha) for (name, own), *effects in runs]


def _with_corrected_means(
    effects: Sequence[PooledEffect], correction: str
) -> Iterator[PooledEffect]:
    """Correct the p-values of the means of these conditions over the contenders."""
    raw = [effect.these.pvalue for effect in effects if effect.these]
    corrected = iter(adjust(raw, correction).tolist())
    for effect in effects:
        mean = effect.these and replace(effect.these, pvalue_corrected=next(corrected))
        yield replace(effect, these=mean)


def pooled_effect(
    effects: Mapping[str, Effect | None],
    groups: Mapping[str, str],
    name: str,
    higher_is_better: bool,
    alpha: float,
) -> PooledEffect:
    """Combine the effects of one facet, or of a measure, in all conditions; those of a group are averaged first."""
    known = {condition: effect for condition, effect in effects.items() if effect is not None}
    these = None
    new = None
    if known:
        values, variances, dfs, limits = np.array(_grouped(known, groups)).T
        these = pooling.fixed_mean(values, variances, dfs + 1, 1 - alpha)
        if len(values) >= pooling.FEWEST_SAMPLES_TO_GENERALISE:
            new = pooling.random_effects(values, variances, 1 - alpha)
        # Of these conditions no mean is larger than the mean of what is possible in each.
        these = these.within(float(limits.mean()))
        new = None if new is None else new.within(float(limits.max()))
    gains = [effect.effect * (1 if higher_is_better else -1) for effect in known.values()]
    better = sum(gain > 0 for gain in gains)
    worse = sum(gain < 0 for gain in gains)
    left_out = tuple(condition for condition in effects if condition not in known)
    return PooledEffect(name, higher_is_better, better, worse, these, new, left_out)


def _grouped(
    effects: Mapping[str, Effect], groups: Mapping[str, str]
) -> list[tuple[float, float, float, float]]:
    """Average the effects of each group: mean, variance and its degrees of freedom, and the largest possible mean."""
    members: dict[str, list[Effect]] = {}
    for condition, effect in effects.items():
        members.setdefault(groups.get(condition, condition), []).append(effect)
    result = []
    for own in members.values():
        columns = np.array([(effect.effect, effect.variance, effect.df) for effect in own])
        values, variances, dfs = columns.T
        total = variances.sum()
        variance = total / len(own) ** 2
        df = total**2 / (variances**2 / dfs).sum()
        limits = [math.inf if effect.largest is None else effect.largest for effect in own]
        largest = float(np.mean(limits))
        result.append((values.mean(), variance, df, largest))
    return result


def _overall(
    contender: str, rows: Sequence[Condition], effects: Sequence[PooledEffect], alpha: float
) -> Overall:
    coverage, ranking, all_queries, *measures = effects
    label = None
    if len(rows) == 1:
        label = rows[0].label
    elif coverage.these:
        label = label_of(coverage, ranking, all_queries, alpha)
    hurt = tuple(row.condition for row in rows if _is_hurt(row.comparison))
    return Overall(contender, label, hurt, (coverage, ranking, *measures), all_queries)


def _is_hurt(comparison: Comparison) -> bool:
    """Return whether a facet is hurt at raw alpha, by any test that finds harm, or the label says worse or trade-off."""
    verdict = comparison.verdict
    if verdict.direction == "worse" or verdict.label == TRADE_OFF:
        return True
    return bool(harms_of(comparison))


def harms_of(comparison: Comparison) -> list[tuple[Facet, Test]]:
    """Return the facets that are hurt at raw alpha, each with the deciding test, or the first other one that finds it."""
    harms: list[tuple[Facet, Test]] = []
    for facet in (comparison.coverage, comparison.ranking):
        harmful = -1 if facet.higher_is_better else 1
        for test in facet.harm_tests:
            if test.direction == harmful and test.pvalue <= comparison.alpha:
                harms.append((facet, test))
                break
    return harms


def label_of(
    coverage: PooledEffect, ranking: PooledEffect, all_queries: PooledEffect, alpha: float
) -> str:
    """Return the overall label of a contender: a direction of one facet is confirmed by the mean over all queries."""
    (label,) = decide(
        find(*_tested(coverage), alpha),
        find(*_tested(ranking), alpha),
        over_all(*_tested(all_queries), alpha),
    ).labels()
    return label


def _tested(effect: PooledEffect) -> tuple[Pvalues, Floats]:
    """Return the test of a mean, and its corrected p-value; 1 where there is none."""
    mean = effect.these
    if mean is None:
        no_direction = np.zeros(1, dtype=np.int64)
        return Pvalues(np.ones(1), no_direction), np.ones(1)
    better = 1 if effect.higher_is_better else -1
    direction = np.sign([better * mean.effect]).astype(np.int64)
    raw = np.array([mean.pvalue])
    corrected = np.array([mean.pvalue_corrected])
    return Pvalues(raw, direction), corrected
