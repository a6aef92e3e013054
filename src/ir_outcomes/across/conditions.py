"""What collections and slices have in common: a comparison for each condition, its effects, and what holds over all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from ir_outcomes._formatting import fixed, listed, plural
from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.outcomes import PairedQueries, pair_queries
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import LABELS, Findings, decide, find
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.notes import unjudged_share
from ir_outcomes.results import Immutable
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

__all__ = [
    "Condition",
    "Effect",
    "Mean",
    "NewCondition",
    "Overall",
    "PooledEffect",
    "Rules",
    "bare",
    "conditions_of",
    "in_words",
    "overall_of",
]

_FACETS = (("coverage", True), ("ranking", False))


class Rules(NamedTuple):
    """How the conditions are compared; see `ir_outcomes.compare`."""

    alpha: float = 0.05
    test: Literal["t", "wilcoxon", "sign", "signflip"] = "t"
    coverage_test: Literal["exact", "midp"] = "exact"
    correction: Literal["holm", "bonferroni", "fdr_bh", "none"] = "holm"


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
        None below five conditions, or where conditions share their queries.
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
    rows: list[Condition] = []
    for name, evaluation in evaluations.items():
        present = [contender for contender in contenders if contender in evaluation.names]
        if baseline not in evaluation.names or not present:
            continue
        compared = compare(evaluation, baseline, present, **rules._asdict())
        items = compared if isinstance(compared, Comparisons) else [compared]
        rows += [_condition(name, evaluation, item, rules, measures, (groups or {}).get(name), fewest) for item in items]
    corrected = _corrected(rows, rules, over_conditions)
    return [row for contender in contenders for row in corrected if row.comparison.contender == contender]


def _condition(
    name: str,
    evaluation: Evaluation,
    comparison: Comparison,
    rules: Rules,
    measures: Sequence[str],
    group: str | None,
    fewest: int,
) -> Condition:
    baseline, contender = (evaluation[run].at(evaluation.cutoff) for run in (comparison.baseline, comparison.contender))
    pair = pair_queries(baseline, contender, evaluation.unit)
    coverage, ranking = effects_of(pair, 1 - rules.alpha)
    shares = [unjudged_share(run, evaluation.cutoff) for run in (baseline, contender)]
    return Condition(
        condition=name,
        group=group,
        comparison=comparison,
        coverage_p=comparison.coverage.pvalue_corrected,
        ranking_p=comparison.ranking.pvalue_corrected,
        survives=True,
        labelled=comparison.n_queries >= fewest,
        coverage=coverage,
        ranking=ranking,
        measures=tuple(_measure_effect(evaluation, measure, comparison, 1 - rules.alpha) for measure in measures),
        judged=None if shares[0] is None or shares[1] is None else (1 - shares[0], 1 - shares[1]),
    )


def effects_of(pair: PairedQueries, level: float) -> tuple[Effect | None, Effect | None]:
    """Compute the effects of coverage and ranking in one condition, with intervals at this level."""
    return _coverage_effect(pair, level), _ranking_effect(pair, level)


def label_of_effects(effects: Sequence[tuple[Effect | None, Effect | None]], rules: Rules) -> str:
    """Return the overall label of a single contender from the effects of coverage and ranking in each condition."""
    pooled = [
        _pooled({str(place): pair[facet] for place, pair in enumerate(effects)}, {}, name, higher, rules, generalise=False)
        for facet, (name, higher) in enumerate(_FACETS)
    ]
    return _label(pooled[0], pooled[1], rules)


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
    lengths = pair.length_baseline[pair.shared], pair.length_contender[pair.shared]
    effect = log_ratio_of_means(*lengths)
    if effect is None:
        return None
    n = len(lengths[0])
    df = effective_df(log_ratio_influence(*lengths))
    half = _half_width(effect[1], df, level)
    return Effect("ranking", effect[0], effect[1], df, Interval(effect[0] - half, effect[0] + half), n)


def _measure_effect(evaluation: Evaluation, measure: str, comparison: Comparison, level: float) -> Effect | None:
    scores = evaluation.scores_of(measure)
    answerable = evaluation.answerable
    chosen = np.array([answerable[evaluation.query_ids.index(query)] for query in scores.query_ids])
    values = [scores.values[evaluation.position(run)] for run in (comparison.baseline, comparison.contender)]
    change = differences(values[0][chosen], values[1][chosen])
    variance = float(change.var(ddof=1)) / len(change) if len(change) > 1 else 0.0
    if variance == 0:
        return None
    return Effect(measure, float(change.mean()), variance, effective_df(change), mean_interval(change, level), len(change))


def _half_width(variance: float, df: float, level: float) -> float:
    from scipy.special import stdtrit

    return -float(stdtrit(df, (1 - level) / 2)) * math.sqrt(variance)


def _corrected(rows: Sequence[Condition], rules: Rules, over_conditions: str) -> list[Condition]:
    """Correct the p-values over all contenders and conditions, and see whether the labels survive."""
    if not rows:
        return []
    families = [
        np.maximum(adjust([facet.pvalue for facet in facets], over_conditions), [facet.pvalue_corrected for facet in facets])
        for facets in ([row.comparison.coverage for row in rows], [row.comparison.ranking for row in rows])
    ]
    result = []
    for row, coverage_p, ranking_p in zip(rows, *families, strict=True):
        comparison = row.comparison
        # A label survives if every facet that is significant after the correction over the contenders still is.
        lost = [
            facet.pvalue_corrected <= rules.alpha < pvalue
            for facet, pvalue in ((comparison.coverage, coverage_p), (comparison.ranking, ranking_p))
        ]
        survives = comparison.verdict.label == LABELS[-1] or not any(lost)
        result.append(replace(row, coverage_p=float(coverage_p), ranking_p=float(ranking_p), survives=survives))
    return result


def overall_of(
    rows: Sequence[Condition],
    rules: Rules,
    *,
    kind: str,
    measures: Sequence[tuple[str, bool]] = (),
    generalise: bool = True,
) -> list[Overall]:
    """Combine the conditions of each contender.

    Parameters
    ----------
    rows : sequence of Condition
        Of all contenders.
    rules : Rules
        How.
    kind : str
        What a condition is called in the sentence, such as "collection".
    measures : sequence of (str, bool)
        Other measures and whether higher is better.
    generalise : bool
        Whether to say what to expect of a new condition.
    """
    contenders = list(dict.fromkeys(row.comparison.contender for row in rows))
    directions = [*_FACETS, *measures]
    pooled = {
        contender: [
            _pooled_rows([row for row in rows if row.comparison.contender == contender], place, name, higher, rules, generalise)
            for place, (name, higher) in enumerate(directions)
        ]
        for contender in contenders
    }
    for place in range(len(directions)):  # correct over the contenders
        known = [contender for contender in contenders if pooled[contender][place].these is not None]
        pvalues = adjust([_mean_of(pooled[contender][place]).pvalue for contender in known], rules.correction)
        for contender, pvalue in zip(known, pvalues, strict=True):
            effect = pooled[contender][place]
            pooled[contender][place] = replace(effect, these=replace(_mean_of(effect), pvalue_corrected=float(pvalue)))
    return [
        _overall(contender, [row for row in rows if row.comparison.contender == contender], pooled[contender], rules, kind)
        for contender in contenders
    ]


def _mean_of(effect: PooledEffect) -> Mean:
    if effect.these is None:
        raise ParameterError(f"there is no mean of {effect.name}")
    return effect.these


def _pooled_rows(
    rows: Sequence[Condition], place: int, name: str, higher_is_better: bool, rules: Rules, generalise: bool
) -> PooledEffect:
    effects = {row.condition: (row.coverage, row.ranking, *row.measures)[place] for row in rows}
    groups = {row.condition: row.group for row in rows if row.group is not None}
    return _pooled(effects, groups, name, higher_is_better, rules, generalise)


def _pooled(
    effects: Mapping[str, Effect | None],
    groups: Mapping[str, str],
    name: str,
    higher_is_better: bool,
    rules: Rules,
    generalise: bool,
) -> PooledEffect:
    known = {condition: effect for condition, effect in effects.items() if effect is not None}
    ahead = [effect.effect * (1 if higher_is_better else -1) for effect in known.values()]
    averaged = _grouped([(groups.get(condition, condition), effect) for condition, effect in known.items()])
    these, new = None, None
    if averaged:
        values, variances, dfs = (np.array(column) for column in zip(*averaged, strict=True))
        mean = fixed_mean(values, variances, dfs + 1, 1 - rules.alpha)
        these = Mean(mean.effect, *mean.interval, mean.pvalue, mean.pvalue, mean.k)
        if generalise and len(averaged) >= FEWEST_SAMPLES_TO_GENERALISE:
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


def _overall(contender: str, rows: Sequence[Condition], pooled: Sequence[PooledEffect], rules: Rules, kind: str) -> Overall:
    hurt = tuple(row.condition for row in rows if row.labelled and row.comparison.verdict.label.startswith(("worse", "trade")))
    label: str | None
    if len(rows) == 1:
        label = rows[0].label
    elif pooled[0].these is None:
        label = None
    else:
        label = _label(pooled[0], pooled[1], rules)
    return Overall(contender, label, hurt, tuple(pooled), _sentence(contender, rows, pooled, hurt, label, kind))


def _label(coverage: PooledEffect, ranking: PooledEffect, rules: Rules) -> str:
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
    kind: str,
) -> str:
    opening = f"{contender}: {label} on average of {plural(kind, len(rows))}" if label else f"{contender}: no overall label"
    parts = [_facet_sentence(effect, len(rows), kind) for effect in pooled[:2]]
    labelled = [row for row in rows if row.labelled]
    warning = f"Hurt or a trade-off in {listed(list(hurt))}." if hurt else (
        f"Hurt in none of the {plural(kind, len(labelled))} with a label." if labelled else ""
    )  # fmt: skip
    return " ".join([f"{opening}.", *parts, warning]).strip()


def _facet_sentence(effect: PooledEffect, n_rows: int, kind: str) -> str:
    name = effect.name.capitalize()
    if effect.these is None:
        return f"{name}: not known in any {kind}."
    mean = in_words(effect.name, effect.these.effect)
    interval = f"[{bare(effect.name, effect.these.low)}, {bare(effect.name, effect.these.high)}]"
    text = f"{name}: better in {effect.better} of {n_rows}, {mean} on average {interval}"
    if effect.new is None:
        return f"{text}."
    low, high = effect.new.predicted_low, effect.new.predicted_high
    either = low < 0 < high
    prediction = f"[{bare(effect.name, low)}, {bare(effect.name, high)}]"
    outlook = f"a new {kind} could go either way" if either else f"a new {kind} is expected to go the same way"
    return f"{text}; {outlook} (prediction interval {prediction})."


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
