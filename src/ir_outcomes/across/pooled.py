"""What holds over several conditions: for these, and for a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ir_outcomes._formatting import listed, plural
from ir_outcomes.across.conditions import Condition, Rules
from ir_outcomes.across.effects import Effect, bare, in_words
from ir_outcomes.comparison.verdict import Findings, decide, find
from ir_outcomes.results import Immutable
from ir_outcomes.statistics import FEWEST_SAMPLES_TO_GENERALISE, Tests, adjust, fixed_mean, random_effects

__all__ = ["FACETS", "Mean", "NewCondition", "Overall", "PooledEffect", "label_of", "overall_of", "pooled_effect"]

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
        pooled.append(_corrected(of_facet, rules.correction))
    return [
        _overall(contender, own, effects, rules)
        for (contender, own), effects in zip(of_contender.items(), zip(*pooled, strict=True), strict=True)
    ]


def _corrected(effects: Sequence[PooledEffect], correction: str) -> list[PooledEffect]:
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
    hurt = tuple(row.condition for row in rows if row.labelled and row.comparison.verdict.label.startswith(("worse", "trade")))
    label: str | None = None
    if len(rows) == 1:
        label = rows[0].label
    elif pooled[0].these is not None:
        label = label_of(pooled[0], pooled[1], rules)
    return Overall(contender, label, hurt, tuple(pooled), _sentence(contender, rows, pooled, hurt, label))


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
