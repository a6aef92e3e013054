"""A comparison for each condition, such as a collection or a slice, with its effects."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from operator import and_
from typing import Any, NamedTuple, cast

import numpy as np

from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.facets import Facet
from ir_outcomes.comparison.holes import judged_shares
from ir_outcomes.comparison.outcomes import PairedQueries, pair_queries
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import NO_DIFFERENCE, Findings, confirmed_by, decide, direction_of, find
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.formatting import fixed, listed, plural
from ir_outcomes.results import Immutable, cells_of
from ir_outcomes.statistics import Interval, adjust, coverage_interval, differences, linearized
from ir_outcomes.statistics.counts import sums_by_cluster
from ir_outcomes.statistics.intervals import effective_df, log_ratio_influence
from ir_outcomes.statistics.pooling import FEWEST_SAMPLES_TO_GENERALISE, fixed_mean, log_ratio_of_means, random_effects
from ir_outcomes.statistics.tests import Tests
from ir_outcomes.types import Correction, Floats, Ints, RankingTest


@dataclass(frozen=True)
class Effect(Immutable):
    """The effect of one facet, or of a measure, in one condition.

    Attributes
    ----------
    name : str
        "coverage", "ranking", "all queries" or a measure.
    effect : float
        Contender against baseline: percentage points for coverage, the logarithm of the ratio of mean search lengths for
        ranking, the difference of means for the restricted search length of all queries (ranks) and for a measure.
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


def effects_of(pair: PairedQueries, level: float) -> list[Effect | None]:
    """Return the effects of coverage, of ranking and over all queries in one condition, with intervals at this level."""
    values = [] if pair.restricted is None else [pair.restricted.baseline, pair.restricted.contender]
    over_all = mean_effect("all queries", *values, clusters=pair.clusters, level=level) if values else None
    return [_coverage_effect(pair, level), _ranking_effect(pair, level), over_all]


def mean_effect(name: str, baseline: Floats, contender: Floats, *, clusters: Ints | None, level: float) -> Effect | None:
    """Return the effect on the mean of a measure over the queries."""
    change = linearized(differences(baseline, contender), clusters)
    variance = float(change.var(ddof=1)) / len(change) if len(change) > 1 else 0.0
    return _effect(name, float(change.mean()), variance, effective_df(change), len(baseline), level) if variance else None


def _coverage_effect(pair: PairedQueries, level: float) -> Effect | None:
    if pair.clusters is not None:
        return mean_effect(
            "coverage", 100 * pair.found_baseline, 100 * pair.found_contender, clusters=pair.clusters, level=level
        )
    change, share = differences(pair.found_baseline, pair.found_contender), pair.item_share
    interval, n = coverage_interval(change, share, level), len(change)
    if interval is None or n < 2:
        return None
    # The variance of the interval, which is never 0: of a sample with one more query won and one more lost.
    centre = float(change.sum()) / (n + 2 * share)
    variance = (float((change**2).sum()) + 2 * share**2) / (n + 2 * share) - centre**2
    variance *= (1 + (1 - share) / (n - 1)) / (n + 2 * share)
    points = Interval(100 * interval.low, 100 * interval.high)
    return Effect("coverage", 100 * float(change.mean()), 1e4 * variance, n - 1, points, n)


def _ranking_effect(pair: PairedQueries, level: float) -> Effect | None:
    x, y = pair.length_baseline[pair.shared], pair.length_contender[pair.shared]
    n = len(x)
    if pair.clusters is not None and n:  # the ratio of the means is that of the sums, cluster by cluster
        (x, _), (y, _) = (sums_by_cluster(values, pair.clusters[pair.shared]) for values in (x, y))
    found = log_ratio_of_means(x, y)
    return None if found is None else _effect("ranking", *found, effective_df(log_ratio_influence(x, y)), n, level)


def _effect(name: str, effect: float, variance: float, df: float, n: int, level: float) -> Effect:
    from scipy.special import stdtrit

    half = -float(stdtrit(df, (1 - level) / 2)) * math.sqrt(variance)
    return Effect(name, effect, variance, df, Interval(effect - half, effect + half), n)


def in_words(name: str, effect: float) -> str:
    """Write an effect with its unit."""
    if name == "coverage":
        return f"{fixed(effect, 2, signed=True)} points"
    if name == "ranking":
        return f"reads {bare(name, effect)} times as far"
    return bare(name, effect)


def bare(name: str, effect: float) -> str:
    """Write an effect without its unit; a log-ratio as a ratio."""
    if name == "ranking":
        return fixed(math.exp(effect), 2)
    return fixed(effect, 2 if name in ("coverage", "all queries") else 4, signed=True)


class Rules(NamedTuple):
    """How the conditions are compared; see `ir_outcomes.compare`."""

    alpha: float = 0.05
    test: RankingTest = "t"
    correction: Correction = "holm"


@dataclass(frozen=True)
class Condition(Immutable):
    """One contender in one condition.

    Attributes
    ----------
    condition : str
        Name of the collection or slice.
    group : str or None
        Conditions of one group count as one in the means.
    comparison : Comparison
        What `ir_outcomes.compare` gives for it, corrected over the contenders only.
    coverage_p, ranking_p : float
        P-values of the deciding tests, corrected over contenders and conditions.
    survives : bool
        Whether the label would be the same with these p-values.
    labelled : bool
        Whether there are enough queries for a label.
    coverage : Effect or None
        None where there is no query.
    ranking : Effect or None
        None where fewer than 10 queries are shared, or both runs read equally far on all of them.
    all_queries : Effect or None
        Of the restricted search length; None without a cutoff, or where it has no variance.
    measures : tuple of Effect or None
        Of the other measures, in their order.
    judged : pair of float or None
        Judged share of the documents within the cutoff, baseline and contender.
    """

    condition: str
    group: str | None
    comparison: Comparison
    coverage_p: float
    ranking_p: float
    survives: bool
    labelled: bool
    coverage: Effect | None
    ranking: Effect | None
    all_queries: Effect | None
    measures: tuple[Effect | None, ...]
    judged: tuple[float, float] | None

    @property
    def effects(self) -> tuple[Effect | None, ...]:
        """Of coverage, ranking, all queries, then the measures."""
        return self.coverage, self.ranking, self.all_queries, *self.measures

    @property
    def label(self) -> str | None:
        """The label of the comparison; None where there are too few queries."""
        return self.comparison.verdict.label if self.labelled else None


def conditions_of(
    evaluations: Mapping[str, Evaluation],
    baseline: str,
    contenders: Sequence[str],
    rules: Rules,
    *,
    over_conditions: str,
    measures: Sequence[str] = (),
    groups: Mapping[str, str] | None = None,
    fewest: int = 0,
) -> list[Condition]:
    """Compare every contender with the baseline in every condition that has both; a label needs at least `fewest` queries."""
    compared = compare_in(evaluations, baseline, contenders, rules)
    coverage = _corrected([comparison.coverage for _, comparison in compared], over_conditions)
    ranking = _corrected([comparison.ranking for _, comparison in compared], over_conditions)
    rows, level = [], 1 - rules.alpha
    for (name, comparison), coverage_p, ranking_p in zip(compared, coverage, ranking, strict=True):
        evaluation = evaluations[name]
        pair = [evaluation[run].at(evaluation.cutoff) for run in (comparison.baseline, comparison.contender)]
        effects = effects_of(pair_queries(pair[0], pair[1], evaluation.unit), level)
        # A label survives if every facet that is significant after the correction over the contenders still is.
        lost = [
            facet.corrected <= rules.alpha < pvalue
            for facet, pvalue in ((comparison.coverage, coverage_p), (comparison.ranking, ranking_p))
        ]
        condition = Condition(
            condition=name,
            group=(groups or {}).get(name),
            comparison=comparison,
            coverage_p=coverage_p,
            ranking_p=ranking_p,
            survives=comparison.verdict.label == NO_DIFFERENCE or not any(lost),
            labelled=comparison.n_queries >= fewest,
            coverage=effects[0],
            ranking=effects[1],
            all_queries=effects[2],
            measures=tuple(_measure_effect(evaluation, measure, comparison, level) for measure in measures),
            judged=judged_shares(pair, evaluation.cutoff),
        )
        rows.append(condition)
    return rows


def _measure_effect(evaluation: Evaluation, measure: str, comparison: Comparison, level: float) -> Effect | None:
    """Return the effect of another measure over the answerable queries."""
    scores = evaluation.scores_of(measure).on(tuple(compress(evaluation.query_ids, evaluation.answerable.tolist())))
    baseline, contender = (scores.values[evaluation.position(run)] for run in (comparison.baseline, comparison.contender))
    return mean_effect(measure, baseline, contender, clusters=scores.clusters, level=level)


def differing(evaluations: Mapping[str, Evaluation], *settings: str) -> Iterator[tuple[str, str]]:
    """Find the settings in which evaluations differ, with their values in words."""
    for setting in settings:
        values = {name: getattr(evaluation, setting) for name, evaluation in evaluations.items()}
        if len(set(values.values())) > 1:
            yield setting, listed([f"{name} {value}" for name, value in values.items()][:10])


def compare_in(
    evaluations: Mapping[str, Evaluation], baseline: str, contenders: Sequence[str], rules: Rules
) -> list[tuple[str, Comparison]]:
    """Compare in every condition, and return the comparisons with the name of the condition, contender by contender."""
    compared: list[tuple[str, Comparison]] = []
    for name, evaluation in evaluations.items():
        present = [contender for contender in contenders if contender in evaluation.names]
        if baseline in evaluation.names and present:
            items = cast("Comparisons", compare(evaluation, baseline, present, **rules._asdict()))
            compared += [(name, item) for item in items]
    return sorted(compared, key=lambda item: contenders.index(item[1].contender))


def _corrected(facets: Sequence[Facet], over_conditions: str) -> list[float]:
    """Correct the p-values over all contenders and conditions; they stay at least those corrected over the contenders."""
    pvalues = adjust([facet.pvalue for facet in facets], over_conditions)
    return [max(facet.corrected, float(pvalue)) for facet, pvalue in zip(facets, pvalues, strict=True)]


def prevailing(labels: Sequence[str]) -> tuple[str, int, bool]:
    """Return the label that occurs most often, the first of several; how often; and whether labels have opposite directions."""
    most = max(labels, key=labels.count)
    return most, labels.count(most), {"better", "worse"} <= {direction_of(label) for label in labels}


FACETS = (("coverage", True), ("ranking", False), ("all queries", False))


@dataclass(frozen=True)
class Mean(Immutable):
    """The mean of the effects of these conditions, each with the same weight.

    Attributes
    ----------
    effect, low, high : float
        Mean and the ends of its interval at level 1 - alpha, in the unit of `Effect`.
    pvalue, pvalue_corrected : float
        Of a mean of 0, raw and corrected over the contenders.
    k : int
        Conditions (or groups) in the mean.
    """

    effect: float
    low: float
    high: float
    pvalue: float
    pvalue_corrected: float
    k: int


@dataclass(frozen=True)
class NewCondition(Immutable):
    """What to expect of a new condition, by random effects.

    Attributes
    ----------
    effect, low, high : float
        Mean over all conditions like these, and the ends of its interval (Hartung, Knapp, Sidik and Jonkman, modified).
    pvalue : float
        Of a mean of 0.
    predicted_low, predicted_high : float
        Prediction interval of the effect of a new condition.
    tau_squared, i_squared, cochran_q, cochran_pvalue : float
        How much the effects vary between conditions: their variance (Paule and Mandel), the share of the variance that is not
        due to sampling, and Cochran's Q with its chi-square p-value.
    weights : tuple of float
        Of the conditions in the mean.
    k : int
        Conditions (or groups).
    """

    effect: float
    low: float
    high: float
    pvalue: float
    predicted_low: float
    predicted_high: float
    tau_squared: float
    i_squared: float
    cochran_q: float
    cochran_pvalue: float
    weights: tuple[float, ...]
    k: int


@dataclass(frozen=True)
class PooledEffect(Immutable):
    """One facet, or a measure, over all conditions.

    Attributes
    ----------
    name : str
        "coverage", "ranking", "all queries" or a measure.
    higher_is_better : bool
        Direction.
    better, worse : int
        Conditions in which the contender is ahead and behind.
    these : Mean or None
        None where no condition has an effect.
    new : NewCondition or None
        None below five conditions.
    left_out : tuple of str
        Conditions without an effect of this facet.
    """

    name: str
    higher_is_better: bool
    better: int
    worse: int
    these: Mean | None
    new: NewCondition | None
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Overall(Immutable):
    """What holds over all conditions for one contender.

    Attributes
    ----------
    contender : str
        The run.
    label : str or None
        From the means of these conditions; None where there is none.
    hurt : tuple of str
        Conditions where a facet is hurt (at raw alpha, as everywhere), or whose own label is worse or a trade-off.
    pooled : tuple of PooledEffect
        Coverage, ranking, then the measures.
    all_queries : PooledEffect
        The restricted search lengths, whose mean confirms a label.
    sentence : str
        In plain words.
    """

    contender: str
    label: str | None
    hurt: tuple[str, ...]
    pooled: tuple[PooledEffect, ...]
    all_queries: PooledEffect
    sentence: str


def overall_of(rows: Sequence[Condition], rules: Rules, measures: Sequence[tuple[str, bool]] = ()) -> list[Overall]:
    """Combine the conditions of each contender; `measures` are other measures, and whether higher is better."""
    of_contender: dict[str, list[Condition]] = {}
    for row in rows:
        of_contender.setdefault(row.comparison.contender, []).append(row)
    groups = {row.condition: row.group for row in rows if row.group is not None}
    pooled = []
    for place, (name, higher_is_better) in enumerate([*FACETS, *measures]):
        of_facet = [
            pooled_effect({row.condition: row.effects[place] for row in own}, groups, name, higher_is_better, rules)
            for own in of_contender.values()
        ]
        pvalues = adjust([effect.these.pvalue for effect in of_facet if effect.these], rules.correction)
        corrected = iter(pvalues.tolist())
        pooled.append(
            [
                replace(effect, these=effect.these and replace(effect.these, pvalue_corrected=next(corrected)))
                for effect in of_facet
            ]
        )
    return [
        _overall(contender, own, effects, rules)
        for (contender, own), effects in zip(of_contender.items(), zip(*pooled, strict=True), strict=True)
    ]


def pooled_effect(
    effects: Mapping[str, Effect | None], groups: Mapping[str, str], name: str, higher_is_better: bool, rules: Rules
) -> PooledEffect:
    """Combine the effects of one facet, or of a measure, in all conditions; those of a group are averaged first."""
    known = {condition: effect for condition, effect in effects.items() if effect is not None}
    ahead = [effect.effect * (1 if higher_is_better else -1) for effect in known.values()]
    these, new = None, None
    if known:
        values, variances, dfs = np.array(_grouped([(groups.get(name, name), effect) for name, effect in known.items()])).T
        mean = fixed_mean(values, variances, dfs + 1, 1 - rules.alpha)
        these = Mean(mean.effect, *mean.interval, mean.pvalue, mean.pvalue, mean.k)
        if len(values) >= FEWEST_SAMPLES_TO_GENERALISE:
            found = random_effects(values, variances, 1 - rules.alpha)
            new = NewCondition(
                found.effect, *found.interval, found.pvalue, *found.prediction, found.tau_squared, found.i_squared,
                found.cochran_q, found.cochran_pvalue, found.weights, found.k,
            )  # fmt: skip
    left_out = tuple(condition for condition in effects if condition not in known)
    better, worse = sum(value > 0 for value in ahead), sum(value < 0 for value in ahead)
    return PooledEffect(name, higher_is_better, better, worse, these, new, left_out)


def _grouped(effects: Sequence[tuple[str, Effect]]) -> list[tuple[float, float, float]]:
    """Average the effects of each group: mean, variance and its degrees of freedom."""
    groups: dict[str, list[Effect]] = {}
    for group, effect in effects:
        groups.setdefault(group, []).append(effect)
    result = []
    for members in groups.values():
        variances = np.array([effect.variance for effect in members])
        total = float(variances.sum())
        df = total**2 / float((variances**2 / np.array([effect.df for effect in members])).sum())
        result.append((float(np.mean([effect.effect for effect in members])), total / len(members) ** 2, df))
    return result


def _overall(contender: str, rows: Sequence[Condition], effects: Sequence[PooledEffect], rules: Rules) -> Overall:
    coverage, ranking, over_all, *measures = effects
    label: str | None = None
    if len(rows) == 1:
        label = rows[0].label
    elif coverage.these is not None:
        label = label_of(coverage, ranking, over_all, rules)
    hurt = tuple(row.condition for row in rows if _is_hurt(row.comparison))
    sentence = _sentence(contender, rows, (coverage, ranking), hurt, label)
    return Overall(contender, label, hurt, (coverage, ranking, *measures), over_all, sentence)


def _is_hurt(comparison: Comparison) -> bool:
    """Return whether a facet is hurt at raw alpha, by any test that finds harm, or the label says worse or trade-off."""
    ranking, verdict = comparison.ranking, comparison.verdict
    vetoes = (ranking.test, ranking.mean_test, "wilcoxon")
    tests = [(comparison.coverage, comparison.coverage.test), *((ranking, name) for name in vetoes)]
    harm = [facet.tests[name].direction == (-1 if facet.higher_is_better else 1) for facet, name in tests]
    significant = [facet.tests[name].pvalue <= comparison.alpha for facet, name in tests]
    return verdict.direction == "worse" or verdict.label == "trade-off" or any(map(and_, harm, significant))


def label_of(coverage: PooledEffect, ranking: PooledEffect, all_queries: PooledEffect, rules: Rules) -> str:
    """Return the overall label of a contender: a direction of one facet is confirmed by the mean over all queries."""
    confirmed = confirmed_by([_tests(all_queries)], rules.alpha, higher_is_better=False)
    (label,) = decide(_findings(coverage, rules), _findings(ranking, rules), confirmed, alpha=rules.alpha).labels()
    return label


def _tests(effect: PooledEffect) -> Tests:
    mean = effect.these
    return Tests(np.array([1.0 if mean is None else mean.pvalue]), np.array([0 if mean is None else int(np.sign(mean.effect))]))


def _findings(effect: PooledEffect, rules: Rules) -> Findings:
    corrected = np.array([1.0 if effect.these is None else effect.these.pvalue_corrected])
    return find(_tests(effect), corrected, rules.alpha, higher_is_better=effect.higher_is_better)


def _sentence(
    contender: str,
    rows: Sequence[Condition],
    facets: Sequence[PooledEffect],
    hurt: Sequence[str],
    label: str | None,
) -> str:
    collections = plural("collection", len(rows))
    opening = f"{contender}: {label} on average of {collections}" if label else f"{contender}: no overall label"
    warning = f"Hurt or a trade-off in {listed(hurt)}." if hurt else f"Hurt in none of the {collections}."
    return " ".join([f"{opening}.", *(_facet_sentence(effect, len(rows)) for effect in facets), warning])


def _facet_sentence(effect: PooledEffect, n_rows: int) -> str:
    name = effect.name.capitalize()
    if effect.these is None:
        return f"{name}: not known in any collection."
    mean = in_words(effect.name, effect.these.effect)
    interval = f"[{bare(effect.name, effect.these.low)}, {bare(effect.name, effect.these.high)}]"
    text = f"{name}: better in {effect.better} of {n_rows}, {mean} on average {interval}"
    if effect.new is None:
        return f"{text}."
    low, high = effect.new.predicted_low, effect.new.predicted_high
    prediction = f"[{bare(effect.name, low)}, {bare(effect.name, high)}]"
    outlook = "could go either way" if low < 0 < high else "is expected to go the same way"
    return f"{text}; a new collection {outlook} (prediction interval {prediction})."


def condition_row(row: Condition, measures: Sequence[str] = ()) -> dict[str, Any]:
    """Return a column for each value; None where there is none."""
    judged = row.judged or (None, None)
    values = cells_of(row, "condition", "group")
    values |= cells_of(row.comparison, "baseline", "contender", "n_queries", "cutoff", "rel", "unit")
    values |= cells_of(row, "verdict=label", "survives") | cells_of(row.comparison.outcomes, *OUTCOMES)
    values |= {"judged_baseline": judged[0], "judged_contender": judged[1]}
    values |= cells_of(
        row, "coverage_p=comparison.coverage.pvalue", "coverage_p_corrected=coverage_p",
        "ranking_difference=comparison.ranking.difference", "ranking_p=comparison.ranking.pvalue",
        "ranking_p_corrected=ranking_p",
    )  # fmt: skip
    names, effects = ("coverage", "ranking_log_ratio", *measures), (row.coverage, row.ranking, *row.measures)
    for name, effect in zip(names, effects, strict=False):
        values |= cells_of(effect, "effect", "low=interval.low", "high=interval.high", "n", prefix=f"{name}_")
    return values


def pooled_row(overall: Overall, effect: PooledEffect) -> dict[str, Any]:
    """Return a column for each value of a mean; None where there is none."""
    return {
        "condition": "all",
        **cells_of(overall, "contender", "verdict=label"),
        **cells_of(effect, "facet=name", "higher_is_better", "better", "worse"),
        **cells_of(
            effect.these, "mean=effect", "mean_low=low", "mean_high=high", "mean_p=pvalue", "mean_p_corrected=pvalue_corrected",
            "conditions_in_mean=k",
        ),
        **cells_of(
            effect.new, "new_mean=effect", "new_low=low", "new_high=high", "new_p=pvalue", "predicted_low", "predicted_high",
            "tau_squared", "i_squared",
        ),
    }  # fmt: skip
