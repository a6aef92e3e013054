"""What the comparisons under several conditions return: one for each condition, and what holds over all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ir_outcomes.comparison.columns import columns_of
from ir_outcomes.comparison.facets import known_p
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.results import HasPage, Immutable, Result
from ir_outcomes.statistics import Interval, QueriesNeeded
from ir_outcomes.statistics.pooling import FixedMean, RandomEffects
from ir_outcomes.table_columns import (
    PERCENT,
    PVALUE,
    Column,
    attributes,
    chosen,
    of_part,
    rows_of,
    signed,
)

What = Literal["collection", "slice", "cutoff", "judge"]
Answer = Literal["holds", "cannot be told", "wrong"]


@dataclass(frozen=True)
class Effect(Immutable):
    """The effect of one facet, or of a measure, in one condition."""

    name: str  #: "coverage", "ranking", "all queries" or a measure
    #: contender against baseline: percentage points for coverage, the logarithm of the ratio of
    #: mean search lengths for ranking, the difference of means for all queries (ranks) and for a
    #: measure
    effect: float
    variance: float  #: its sampling variance
    df: float  #: degrees of freedom of the variance
    interval: Interval | None  #: two-sided, at level 1 - alpha, in the unit of the effect
    n: int  #: queries behind it
    #: largest possible size of the effect, at which intervals end; None where it is not known
    largest: float | None = None


@dataclass(frozen=True)
class Condition(Immutable):
    """One contender in one condition."""

    condition: str  #: name of the collection, slice or judge, or the cutoff
    group: str | None  #: conditions of one group count as one in the means
    #: what `ir_outcomes.compare` gives for it, corrected over the contenders only
    comparison: Comparison
    #: of the test that decides on coverage, corrected over contenders and conditions
    coverage_p: float
    ranking_p: float  #: the same for ranking
    all_queries_p: float  #: and over all queries; 1 where that is not known
    survives: bool  #: whether the label would be the same with these p-values
    labelled: bool  #: whether there are enough queries for a label
    coverage: Effect | None  #: None where there is no query
    #: None where fewer than 10 queries are shared, or both runs read equally far on all of them.
    ranking: Effect | None
    all_queries: Effect | None  #: of the restricted search length; None where it has no variance
    measures: tuple[Effect | None, ...]  #: of the other measures, in their order
    #: Judged share of the documents within the cutoff, baseline and contender.
    judged: tuple[float, float] | None

    @property
    def effects(self) -> tuple[Effect | None, ...]:
        """Of coverage, ranking, all queries, then the measures."""
        return self.coverage, self.ranking, self.all_queries, *self.measures

    def effect(self, name: str) -> Effect | None:
        """Return the effect of a facet or measure by its name; None where there is none."""
        return next((own for own in self.effects if own is not None and own.name == name), None)

    @property
    def label(self) -> str | None:
        """The label of the comparison; None where there are too few queries."""
        return self.comparison.verdict.label if self.labelled else None


@dataclass(frozen=True)
class PooledEffect(Immutable):
    """One facet, or a measure, over all conditions."""

    name: str  #: "coverage", "ranking", "all queries" or a measure
    higher_is_better: bool  #: direction
    better: int  #: conditions in which the contender is ahead
    worse: int  #: conditions in which it is behind
    these: FixedMean | None  #: None where no condition has an effect
    new: RandomEffects | None  #: None below five conditions
    left_out: tuple[str, ...]  #: conditions without an effect of this facet


@dataclass(frozen=True)
class Overall(Immutable):
    """What holds over all conditions for one contender."""

    contender: str  #: the run
    label: str | None  #: from the means of these conditions; None where there is none
    #: Conditions where a facet is hurt (at raw alpha), or whose own label is worse or a trade-off.
    hurt: tuple[str, ...]
    pooled: tuple[PooledEffect, ...]  #: coverage, ranking, then the measures
    all_queries: PooledEffect  #: the restricted search lengths, whose mean confirms a label

    @property
    def outlook(self) -> str:
        """Which way a new condition goes by coverage and ranking; empty where too few conditions tell."""
        known = [
            (effect.new.prediction, effect.higher_is_better)
            for effect in self.pooled
            if effect.name in ("coverage", "ranking") and effect.new is not None
        ]
        if not known:
            return ""
        for side, wanted in (("better", True), ("worse", False)):
            if all(ends.low >= 0 if higher is wanted else ends.high <= 0 for ends, higher in known):
                return f"likely {side}"
        return "could go either way"


@dataclass(frozen=True)
class SliceDifferences(Immutable):
    """Whether the slices differ in the effect of one facet at all."""

    contender: str  #: the run
    facet: str  #: "coverage" or "ranking"
    cochran_q: float | None  #: Cochran's Q; None where there is nothing to compare
    pvalue: float | None  #: of its permutation test
    pvalue_corrected: float | None  #: the same, corrected over the contenders, which decides
    slices: int  #: slices that were compared


@dataclass(frozen=True)
class Curve(Immutable):
    """Share of the queries answered (or documents found) by rank k, in both runs, for k from 1 to the depth."""

    ranks: tuple[int, ...]  #: the ranks k
    #: Share found by rank k, averaged over the answerable queries, higher is better.
    baseline: tuple[float, ...]
    contender: tuple[float, ...]  #: the same of the contender
    #: Band of the difference (contender minus baseline) that holds for all k at once.
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float  #: of the band
    n: int  #: answerable queries
    seed: int  #: of the random signs
    resamples: int  #: how many


@dataclass(frozen=True)
class Flip(Immutable):
    """A query on which judges disagree about which run is better."""

    contender: str  #: the run
    query_id: str  #: the query
    better: tuple[str, ...]  #: judges for whom the contender is better
    worse: tuple[str, ...]  #: judges for whom it is worse
    text: str | None  #: the query's text, where it is known


@dataclass(frozen=True)
class Audit(Immutable):
    """The difference that one judge finds in one facet, against the reference."""

    contender: str  #: the run
    judge: str  #: who is audited
    facet: str  #: "coverage", "all queries" (the restricted search length) or a measure
    measured_in: str  #: unit of all differences, which are contender minus baseline
    higher_is_better: bool  #: their direction
    n_labeled: int  #: queries that the reference labeled, of those that the judge judged
    n_queries: int  #: queries that the judge judged
    judge_difference: float  #: mean difference by the judge, over all queries
    #: mean difference by the reference, over the queries that it labeled
    reference_difference: float
    bias: float  #: mean of reference minus judge over the labeled queries
    bias_interval: Interval  #: its interval at level 1 - alpha
    bias_p: float  #: of a bias of 0, not corrected
    corrected: float  #: difference over all queries by prediction-powered inference
    corrected_interval: Interval  #: its interval at level 1 - alpha
    weight: float  #: of the judge in it, from 0 (the labels alone) to 1
    #: Of the differences by judge and by reference, over the labeled queries.
    correlation: float | None
    #: Labeled queries that would show a difference as large as the judge's; None where it is 0.
    needed: QueriesNeeded | None
    answer: Answer  #: wrong: the bias is significant; holds: else, and the corrected interval excludes 0 on the judge's side


@dataclass(frozen=True, repr=False)
class ConditionsComparison(HasPage, Result):
    """Contenders against a baseline on collections, on slices of the queries, at several cutoffs, or under several judges.

    The figure is "forest"; of cutoffs there is "curve", too. What is particular to one kind is
    None or empty for the others.

    Attributes
    ----------
    what : {"collection", "slice", "cutoff", "judge"}
        What the conditions are.
    baseline : str
        The run that the others are compared with.
    conditions : tuple of Condition
        One for each contender and condition, contender by contender.
    settings : Settings
        Of the comparisons; the cutoff is None where conditions have their own.
    over_conditions : str
        Correction over contenders and conditions; "none" for cutoffs and judges.
    overall : tuple of Overall
        Of collections: what holds on average, one for each contender.
    missing : tuple of (str, str)
        Of collections: runs that one lacks, with its name: there they are neither compared nor part
        of a mean.
    measures : tuple of str
        Other measures that went along.
    by : str or None
        Of slices: what they are made by.
    differ : tuple of SliceDifferences
        Of slices: for each contender and facet, whether they differ at all; empty where queries
        come in clusters.
    curves : tuple of Curve
        Of cutoffs: what is found by every rank, one for each contender; empty for fewer than two
        queries.
    sentences : tuple of str
        Of cutoffs and judges: how far the labels of each contender agree; then what each audit
        says.
    flips : tuple of Flip
        Of judges: queries on which they disagree about the direction.
    reference : str or None
        Of judges: the one that the others are audited by.
    audits : tuple of Audit
        Of judges: for each contender, judge and facet, whether the judge's difference holds by the
        reference.
    seed, resamples : int or None
        Of slices and cutoffs: of the permutations, and of the random signs of the curves.
    """

    what: What
    baseline: str
    conditions: tuple[Condition, ...]
    settings: Settings
    over_conditions: str
    overall: tuple[Overall, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    measures: tuple[str, ...] = ()
    by: str | None = None
    differ: tuple[SliceDifferences, ...] = ()
    curves: tuple[Curve, ...] = ()
    sentences: tuple[str, ...] = ()
    flips: tuple[Flip, ...] = ()
    reference: str | None = None
    audits: tuple[Audit, ...] = ()
    seed: int | None = None
    resamples: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the conditions."""
        return tuple(dict.fromkeys(row.condition for row in self.conditions))

    @property
    def contenders(self) -> tuple[str, ...]:
        """Names of the contenders."""
        return tuple(by_contender(self.conditions))

    def of(self, contender: str) -> tuple[Condition, ...]:
        """Return the rows of one contender."""
        return tuple(by_contender(self.conditions).get(contender, ()))

    def labels(self, contender: str) -> dict[str, str | None]:
        """Return the label of one contender in each condition; None where there are too few queries."""
        return {row.condition: row.label for row in self.of(contender)}

    def rows(self) -> list[dict[str, Any]]:
        """Return a flat row for each contender and condition, then for each mean."""
        means = [row for overall in self.overall for row in pooled_rows(overall)]
        return [
            *rows_of(condition_columns(self.conditions, self.measures), self.conditions),
            *means,
        ]

    def long_rows(self) -> list[dict[str, Any]]:
        """Return a flat row for each contender, condition and test."""
        return [
            {"condition": own.condition, **row}
            for own in self.conditions
            for row in own.comparison.long_rows()
        ]


def by_contender(rows: Iterable[Condition]) -> dict[str, list[Condition]]:
    """Return the conditions of each contender."""
    found: dict[str, list[Condition]] = {}
    for row in rows:
        found.setdefault(row.comparison.contender, []).append(row)
    return found


def condition_columns(rows: Sequence[Condition], measures: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of conditions: what is compared, the label, outcomes, p-values, and effects."""
    compared = of_part("comparison", columns_of([row.comparison for row in rows]))
    effects = {"coverage": "coverage", "ranking_log_ratio": "ranking"}
    effects |= {measure: measure for measure in measures}
    return (
        *attributes("condition", "group"),
        *chosen(compared, "baseline", "contender", "n_queries", "cutoff", "rel", "unit"),
        Column("verdict", "label"),
        Column("survives"),
        *chosen(compared, *OUTCOMES),
        Column(
            "judged_baseline",
            lambda row: row.judged and row.judged[0],
            "A",
            PERCENT,
            group="judged",
        ),
        Column(
            "judged_contender",
            lambda row: row.judged and row.judged[1],
            "B",
            PERCENT,
            group="judged",
        ),
        *chosen(compared, "coverage_p"),
        _corrected_column("coverage"),
        *chosen(compared, "ranking_difference", "ranking_p"),
        _corrected_column("ranking"),
        *chosen(compared, "restricted_difference", "restricted_p"),
        _corrected_column("all_queries"),
        *(column for heading, name in effects.items() for column in _effect_columns(heading, name)),
    )


def _corrected_column(name: Literal["coverage", "ranking", "all_queries"]) -> Column:
    """Return the column of the p-values of a part, corrected over the conditions, too."""

    def value(row: Condition) -> float | None:
        part = getattr(row.comparison, name)
        return known_p(part and part.difference, getattr(row, f"{name}_p"))

    return Column(f"{name}_p_corrected", value, "p", PVALUE)


def _effect_columns(heading: str, name: str) -> tuple[Column, ...]:
    columns = (
        Column("effect", form=signed(4)),
        *attributes("low=interval.low", "high=interval.high", "n"),
    )
    return of_part(lambda row: row.effect(name), columns, f"{heading}_")


_POOLED = attributes(
    "facet=name",
    "higher_is_better",
    "better",
    "worse",
    "mean=these.effect",
    "mean_low=these.low",
    "mean_high=these.high",
    "mean_p=these.pvalue",
    "mean_p_corrected=these.pvalue_corrected",
    "conditions_in_mean=these.k",
    "new_mean=new.effect",
    "new_low=new.low",
    "new_high=new.high",
    "new_p=new.pvalue",
    "predicted_low=new.predicted_low",
    "predicted_high=new.predicted_high",
    "tau_squared=new.tau_squared",
    "i_squared=new.i_squared",
)


def pooled_rows(overall: Overall) -> list[dict[str, Any]]:
    """Return a flat row for the mean of each facet and measure; None where there is none."""
    about = {"condition": "all", "contender": overall.contender, "verdict": overall.label}
    return [about | row for row in rows_of(_POOLED, overall.pooled)]
