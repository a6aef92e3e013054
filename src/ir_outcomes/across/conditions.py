"""A comparison for each condition, such as a collection or a slice, with its effects."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, NamedTuple, cast

import numpy as np

from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.facets import Facet
from ir_outcomes.comparison.holes import judged_shares
from ir_outcomes.comparison.outcomes import PairedQueries, pair_queries
from ir_outcomes.comparison.result import Comparison, Comparisons, Verdict
from ir_outcomes.comparison.verdict import NO_DIFFERENCE, Findings, decide, direction_of, find
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.formatting import fixed, listed, plural
from ir_outcomes.results import Immutable, cells_of
from ir_outcomes.statistics import (
    FEWEST_SAMPLES_TO_GENERALISE,
    Interval,
    Tests,
    adjust,
    coverage_interval,
    differences,
    effective_df,
    fixed_mean,
    log_ratio_influence,
    log_ratio_of_means,
    mean_interval,
    random_effects,
)
from ir_outcomes.types import Correction, CoverageTest, RankingTest


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
    return Effect(measure, float(change.mean()), variance, effective_df(change), mean_interval(change, level, 0.0), len(change))


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


class Rules(NamedTuple):
    """How the conditions are compared; see `ir_outcomes.compare`."""

    alpha: float = 0.05
    test: RankingTest = "t"
    coverage_test: CoverageTest = "exact"
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
    measures: tuple[Effect | None, ...]
    judged: tuple[float, float] | None

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
    """Compare every contender with the baseline in every condition.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        The conditions; runs that are missing in one are left out there.
    baseline, contenders : str
        Names of runs.
    rules : Rules
        How.
    over_conditions : str
        Correction over the conditions, of each contender.
    measures : sequence of str
        Other measures whose effects are computed.
    groups : mapping of str to str, optional
        Group of a condition.
    fewest : int
        Queries that a label needs.
    """
    compared = compare_in(evaluations, baseline, contenders, rules)
    coverage = _corrected([comparison.coverage for _, comparison in compared], over_conditions)
    ranking = _corrected([comparison.ranking for _, comparison in compared], over_conditions)
    rows = []
    for (name, comparison), coverage_p, ranking_p in zip(compared, coverage, ranking, strict=True):
        evaluation = evaluations[name]
        pair = [evaluation[run].at(evaluation.cutoff) for run in (comparison.baseline, comparison.contender)]
        coverage_effect, ranking_effect = effects_of(pair_queries(pair[0], pair[1], evaluation.unit), 1 - rules.alpha)
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
            coverage=coverage_effect,
            ranking=ranking_effect,
            measures=tuple(
                measure_effect(evaluation, measure, (comparison.baseline, comparison.contender), 1 - rules.alpha)
                for measure in measures
            ),
            judged=judged_shares(pair, evaluation.cutoff),
        )
        rows.append(condition)
    return rows


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


FACETS = (("coverage", True), ("ranking", False))


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
        "coverage", "ranking" or a measure.
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
        Conditions whose own label is worse or a trade-off.
    pooled : tuple of PooledEffect
        Coverage, ranking, then the measures.
    sentence : str
        In plain words.
    """

    contender: str
    label: str | None
    hurt: tuple[str, ...]
    pooled: tuple[PooledEffect, ...]
    sentence: str


def overall_of(rows: Sequence[Condition], rules: Rules, measures: Sequence[tuple[str, bool]] = ()) -> list[Overall]:
    """Combine the conditions of each contender; `measures` are other measures, and whether higher is better."""
    of_contender: dict[str, list[Condition]] = {}
    for row in rows:
        of_contender.setdefault(row.comparison.contender, []).append(row)
    groups = {row.condition: row.group for row in rows if row.group is not None}
    pooled = []
    for place, (name, higher_is_better) in enumerate([*FACETS, *measures]):
        effects = [
            {row.condition: (row.coverage, row.ranking, *row.measures)[place] for row in own} for own in of_contender.values()
        ]
        of_facet = [pooled_effect(by_condition, groups, name, higher_is_better, rules) for by_condition in effects]
        pooled.append(_corrected_over_conditions(of_facet, rules.correction))
    return [
        _overall(contender, own, effects, rules)
        for (contender, own), effects in zip(of_contender.items(), zip(*pooled, strict=True), strict=True)
    ]


def _corrected_over_conditions(effects: Sequence[PooledEffect], correction: str) -> list[PooledEffect]:
    """Correct the p-values of the means over the contenders."""
    pvalues = iter(adjust([effect.these.pvalue for effect in effects if effect.these is not None], correction).tolist())
    return [
        effect if (mean := effect.these) is None else replace(effect, these=replace(mean, pvalue_corrected=next(pvalues)))
        for effect in effects
    ]


def pooled_effect(
    effects: Mapping[str, Effect | None], groups: Mapping[str, str], name: str, higher_is_better: bool, rules: Rules
) -> PooledEffect:
    """Combine the effects of one facet, or of a measure, in all conditions; those of a group are averaged first."""
    known = {condition: effect for condition, effect in effects.items() if effect is not None}
    ahead = [effect.effect * (1 if higher_is_better else -1) for effect in known.values()]
    averaged = _grouped([(groups.get(condition, condition), effect) for condition, effect in known.items()])
    these, new = None, None
    if averaged:
        values, variances, dfs = (np.array(column) for column in zip(*averaged, strict=True))
        mean = fixed_mean(values, variances, dfs + 1, 1 - rules.alpha)
        these = Mean(mean.effect, *mean.interval, mean.pvalue, mean.pvalue, mean.k)
        if len(averaged) >= FEWEST_SAMPLES_TO_GENERALISE:
            found = random_effects(values, variances, 1 - rules.alpha)
            new = NewCondition(
                found.effect, *found.interval, found.pvalue, *found.prediction, found.tau_squared, found.i_squared,
                found.cochran_q, found.cochran_pvalue, found.weights, found.k,
            )  # fmt: skip
    return PooledEffect(
        name=name,
        higher_is_better=higher_is_better,
        better=sum(value > 0 for value in ahead),
        worse=sum(value < 0 for value in ahead),
        these=these,
        new=new,
        left_out=tuple(condition for condition, effect in effects.items() if effect is None),
    )


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


def _overall(contender: str, rows: Sequence[Condition], pooled: Sequence[PooledEffect], rules: Rules) -> Overall:
    hurt = tuple(row.condition for row in rows if row.labelled and _is_hurt(row.comparison.verdict))
    label: str | None = None
    if len(rows) == 1:
        label = rows[0].label
    elif pooled[0].these is not None:
        label = label_of(pooled[0], pooled[1], rules)
    return Overall(contender, label, hurt, tuple(pooled), _sentence(contender, rows, pooled, hurt, label))


def _is_hurt(verdict: Verdict) -> bool:
    return verdict.direction == "worse" or verdict.label == "trade-off"


def label_of(coverage: PooledEffect, ranking: PooledEffect, rules: Rules) -> str:
    """Return the overall label of a contender."""
    (label,) = decide(_findings(coverage, rules), _findings(ranking, rules), alpha=rules.alpha).labels()
    return label


def _findings(effect: PooledEffect, rules: Rules) -> Findings:
    mean = effect.these
    pvalue, corrected = (1.0, 1.0) if mean is None else (mean.pvalue, mean.pvalue_corrected)
    direction = 0 if mean is None else int(np.sign(mean.effect))
    tests = Tests(np.array([pvalue]), np.array([direction]))
    return find(tests, np.array([corrected]), rules.alpha, higher_is_better=effect.higher_is_better)


def _sentence(
    contender: str,
    rows: Sequence[Condition],
    pooled: Sequence[PooledEffect],
    hurt: Sequence[str],
    label: str | None,
) -> str:
    collections = plural("collection", len(rows))
    opening = f"{contender}: {label} on average of {collections}" if label else f"{contender}: no overall label"
    parts = [_facet_sentence(effect, len(rows)) for effect in pooled[:2]]
    n_labelled = sum(row.labelled for row in rows)
    warning = ""
    if hurt:
        warning = f"Hurt or a trade-off in {listed(hurt)}."
    elif n_labelled:
        warning = f"Hurt in none of the {plural('collection', n_labelled)} with a label."
    return " ".join([f"{opening}.", *parts, warning]).strip()


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
