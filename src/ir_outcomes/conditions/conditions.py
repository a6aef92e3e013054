"""A comparison for each condition, and what holds over all of them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from ir_outcomes.choices import Direction, Floats
from ir_outcomes.comparison.columns import columns_of, row_columns
from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.rows import Row, found_alone, labels_of_rows
from ir_outcomes.comparison.verdict import (
    LABELS,
    NAMES,
    TRADE_OFF,
    RuleOptions,
    Rules,
    direction_of,
)
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import Allow, unjudged_share
from ir_outcomes.evaluation.scores import Measures
from ir_outcomes.evaluation.search import JUDGED_DEPTH
from ir_outcomes.formatting import listed, plural
from ir_outcomes.results import HasFigures, HasPage, Immutable, Result
from ir_outcomes.statistics.estimate import Interval
from ir_outcomes.statistics.families import adjust
from ir_outcomes.table_columns import PERCENT, Column, attributes, of_part, rows_of

Kind = Literal["collection", "slice", "judge"]
DECIDING = ("coverage", "ranking", "all queries")
FEWEST_COLLECTIONS = 5  # from which on something is said about a new one


@dataclass(frozen=True)
class Condition(Immutable):
    """One contender in one condition."""

    condition: str  #: name of the collection, slice or judge
    group: str | None  #: conditions of one group count as one in the means
    #: what `ir_outcomes.compare` gives for it, corrected over the contenders only
    comparison: Comparison
    #: the label where each row is corrected over contenders and conditions
    label_over_conditions: str
    labelled: bool  #: whether there are enough queries for a label
    #: judged share of the first 10 documents, baseline and contender; None where not known
    judged: tuple[float, float] | None = None

    @property
    def label(self) -> str | None:
        """The label of the comparison, None where there are too few queries."""
        return self.comparison.verdict.label if self.labelled else None

    @property
    def holds(self) -> bool:
        """Whether the label stays the same when corrected over the conditions."""
        return not self.labelled or self.label == self.label_over_conditions


@dataclass(frozen=True)
class Overall(Immutable):
    """What holds over all conditions for one contender."""

    contender: str  #: the run
    label: str  #: from the means of these conditions
    #: Conditions whose label is worse or a trade-off.
    hurt: tuple[str, ...]
    better: int  #: conditions whose label is better
    worse: int  #: conditions whose label is worse
    #: `n` counts conditions, a group as one; `differ` and `better` those in which the means differ;
    #: the interval is of the unweighted mean of the differences
    coverage: Row
    ranking: Row
    all_queries: Row
    measures: tuple[Row, ...] = ()
    #: where the difference measured in a new collection of about these sizes lies, by the name of
    #: the row; empty below five collections
    new: Mapping[str, Interval] = field(default_factory=dict)
    #: conditions that a row leaves out, by its name: fewer than two units
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[Row, ...]:
        """All rows, in the order of their table."""
        rows = (self.coverage, self.ranking, self.all_queries, *self.measures)
        return tuple(row for row in rows if row.n)

    @property
    def outlook(self) -> str:
        """Which way a new collection goes, empty where too few tell."""
        rows = [row for row in (self.coverage, self.ranking) if row.name in self.new]
        if not rows:
            return ""
        for side, above in (("better", True), ("worse", False)):
            ends = [(self.new[row.name], row.higher_is_better == above) for row in rows]
            if all(new.low >= 0 if upwards else new.high <= 0 for new, upwards in ends):
                return f"likely {side}"
        return "could go either way"


@dataclass(frozen=True)
class SliceDifference(Immutable):
    """Whether the slices differ in one row at all."""

    contender: str  #: the run
    row: str  #: "coverage" or "ranking"
    pvalue: float | None  #: of the permutation test; None where there is nothing to compare
    pvalue_corrected: float | None  #: the same, corrected over the contenders, which decides
    slices: int  #: slices that were compared


@dataclass(frozen=True)
class Flip(Immutable):
    """A query on which judges disagree about which run is better."""

    contender: str  #: the run
    query_id: str  #: the query
    better: tuple[str, ...]  #: judges for whom the contender is better
    worse: tuple[str, ...]  #: judges for whom it is worse
    text: str | None  #: the query's text, where it is known


Answer = Literal["agrees", "differs", "cannot be told"]


@dataclass(frozen=True)
class Bias(Immutable):
    """A judge's difference in one row, less the reference's on the same queries."""

    contender: str  #: the run
    judge: str  #: who is compared with the reference
    #: `baseline` is the reference's difference, `contender` the judge's, and the difference the bias
    row: Row
    reference_found: Direction  #: what the reference finds on these queries
    judge_found: Direction  #: what the judge finds on all its queries
    answer: Answer


@dataclass(frozen=True, repr=False)
class ConditionsComparison(HasFigures, HasPage, Result):
    """Contenders against a baseline under several conditions.

    The figure is "forest". What is particular to one kind is None or empty for the others.

    Attributes
    ----------
    over : {"collection", "slice", "judge"}
        What the conditions are.
    baseline : str
        The run that the others are compared with.
    conditions : tuple of Condition
        One for each contender and condition, contender by contender.
    settings : Settings
        Of the comparisons; the cutoff is None where collections differ in it.
    overall : tuple of Overall
        Of collections and slices: what holds on average, one for each contender.
    missing : tuple of (str, str)
        Of collections: runs that one lacks, with its name: there they are neither compared nor part
        of a mean.
    by : str or None
        Of slices: what they are made by.
    differ : tuple of SliceDifference
        Of slices: for each contender, coverage and ranking, whether they differ at all; empty where
        queries come in clusters.
    flips : tuple of Flip
        Of judges: queries on which they disagree about the direction.
    reference : str or None
        Of judges: the one that the others are compared with.
    biases : tuple of Bias
        Of judges: for each contender, judge and row, the difference from the reference.
    seed, resamples : int or None
        Of slices: of the permutations.
    """

    over: Kind
    baseline: str
    conditions: tuple[Condition, ...]
    settings: Settings
    overall: tuple[Overall, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    by: str | None = None
    differ: tuple[SliceDifference, ...] = ()
    flips: tuple[Flip, ...] = ()
    reference: str | None = None
    biases: tuple[Bias, ...] = ()
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
        """Return the conditions of one contender."""
        return tuple(by_contender(self.conditions).get(contender, ()))

    def labels(self, contender: str) -> dict[str, str | None]:
        """Return the label of one contender in each condition, if it has one."""
        return {row.condition: row.label for row in self.of(contender)}

    def rows(self) -> list[dict[str, Any]]:
        """Return a flat row for each contender and condition, then for each mean."""
        return [
            *rows_of(condition_columns(self.conditions), self.conditions),
            *(row for overall in self.overall for row in _mean_rows(overall)),
        ]

    def long_rows(self) -> list[dict[str, Any]]:
        """Return the long rows of each comparison, with the condition."""
        return [
            {"condition": item.condition, **row}
            for item in self.conditions
            for row in item.comparison.long_rows()
        ]


def by_contender(conditions: Iterable[Condition]) -> dict[str, list[Condition]]:
    """Return the conditions of each contender."""
    found: dict[str, list[Condition]] = {}
    for row in conditions:
        found.setdefault(row.comparison.contender, []).append(row)
    return found


def condition_columns(conditions: Sequence[Condition]) -> tuple[Column, ...]:
    """Return the columns of conditions."""

    def judged(side: int) -> Any:
        return lambda row: row.judged and row.judged[side]

    return (
        *attributes("condition", "group"),
        *of_part("comparison", columns_of([row.comparison for row in conditions])),
        *attributes("label", "label_over_conditions"),
        Column("judged_baseline", judged(0), "A", PERCENT, group="judged"),
        Column("judged_contender", judged(1), "B", PERCENT, group="judged"),
    )


def _mean_rows(overall: Overall) -> Iterator[dict[str, Any]]:
    """Yield a flat row for the mean of each row over the conditions."""
    for row in overall.parts:
        low, high = overall.new.get(row.name, (None, None))
        (values,) = rows_of(row_columns("mean", row, lambda item: item), [row])
        yield {
            "condition": "all",
            "contender": overall.contender,
            "verdict": overall.label,
            "row": row.name,
            **values,
            "new_low": low,
            "new_high": high,
        }


def conditions_of(
    evaluations: Mapping[str, Evaluation],
    baseline: str,
    contenders: Sequence[str],
    rules: RuleOptions,
    *,
    over_conditions: bool,
    allow: Allow = (),
    measures: Measures = (),
    groups: Mapping[str, str] | None = None,
    fewest: int = 0,
) -> list[Condition]:
    """Compare every contender with the baseline in every condition that has both.

    A label needs at least `fewest` queries; with `over_conditions` there is a second label, whose
    rows are corrected by Holm over contenders and conditions.
    """
    compared: list[tuple[str, Comparison]] = []
    for name, evaluation in evaluations.items():
        present = [run for run in contenders if run in evaluation.names]
        if baseline in evaluation.names and present:
            found = compare(evaluation, baseline, present, measures=measures, allow=allow, **rules)
            compared += [(name, comparison) for comparison in found]
    compared.sort(key=lambda item: contenders.index(item[1].contender))
    labels = [comparison.verdict.label for _, comparison in compared]
    if over_conditions and compared:
        labels = _labels_over_conditions([item for _, item in compared], Rules(**rules))
    conditions = []
    for (name, comparison), label in zip(compared, labels, strict=True):
        evaluation = evaluations[name]
        judged = None
        if not evaluation.positives_only:
            runs = evaluation[[comparison.baseline, comparison.contender]].at()
            first, second = (unjudged_share(run, JUDGED_DEPTH) for run in runs)
            judged = None if first is None or second is None else (1 - first, 1 - second)
        conditions.append(
            Condition(
                condition=name,
                group=(groups or {}).get(name),
                comparison=comparison,
                label_over_conditions=label,
                labelled=comparison.n_queries >= fewest,
                judged=judged,
            )
        )
    return conditions


def _labels_over_conditions(comparisons: Sequence[Comparison], rules: Rules) -> list[str]:
    """Return the labels with rows corrected by Holm over the conditions, too."""
    every = {name: [row_called(item, name) for item in comparisons] for name in DECIDING}
    rows = {name: [row for row in of_name if row is not None] for name, of_name in every.items()}
    adjusted = {name: _holm(of_name) for name, of_name in rows.items()}
    return labels_of_rows(rows, rules, adjusted=adjusted).names()


def _holm(rows: Sequence[Row]) -> Floats:
    """Correct p-values by Holm over all rows, and at least as over contenders."""
    corrected: Floats = np.maximum(
        adjust([row.pvalue for row in rows], "holm"), [row.pvalue_corrected for row in rows]
    )
    return corrected


def overall_of(
    conditions: Sequence[Condition], rules: Rules, *, new_collection: bool = False
) -> list[Overall]:
    """Combine the conditions of each contender by unweighted means."""
    of_contender = by_contender(conditions)
    means = {run: _Means(rows, rules.alpha) for run, rows in of_contender.items()}
    rows = {name: [found.rows[name] for found in means.values()] for name in DECIDING}
    labels = labels_of_rows(rows, rules, with_sign_test=False)
    overall = []
    for index, (run, found) in enumerate(means.items()):
        corrected = {
            name: replace(
                of_name[index],
                pvalue_corrected=float(labels.corrected[name][index]),
                found=NAMES[int(labels.found[name][index])],
            )
            for name, of_name in rows.items()
        }
        decided = [row.label for row in of_contender[run] if row.label is not None]
        directions = [direction_of(label) for label in decided]
        overall.append(
            Overall(
                contender=run,
                label=LABELS[labels.label[index]],
                hurt=tuple(_hurt(of_contender[run])),
                better=directions.count("better"),
                worse=directions.count("worse"),
                coverage=corrected["coverage"],
                ranking=corrected["ranking"],
                all_queries=corrected["all queries"],
                measures=tuple(found.measures),
                new=found.new if new_collection else {},
                left_out=found.left_out,
            )
        )
    return overall


def _hurt(conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield the conditions whose label is worse or a trade-off."""
    for row in conditions:
        if row.label is not None and (row.label == TRADE_OFF or direction_of(row.label) == "worse"):
            yield row.condition


class _Means:
    """The means of the rows of one contender over its conditions."""

    def __init__(self, conditions: Sequence[Condition], alpha: float) -> None:
        self.rows: dict[str, Row] = {}
        self.new: dict[str, Interval] = {}
        self.left_out: dict[str, tuple[str, ...]] = {}
        names = dict.fromkeys(part.name for own in conditions for part in own.comparison.parts)
        for name in dict.fromkeys((*DECIDING, *names)):
            groups: dict[str, list[Row]] = {}
            left_out = []
            for condition in conditions:
                row = row_called(condition.comparison, name)
                if row is None or row.standard_error is None:
                    left_out.append(condition.condition)
                    continue
                if not row.differ:
                    row = replace(row, standard_error=0.0)
                groups.setdefault(condition.group or condition.condition, []).append(row)
            if left_out:
                self.left_out[name] = tuple(left_out)
            counted = [mean_row(members, alpha) for members in groups.values()]
            first = next(filter(None, (row_called(own.comparison, name) for own in conditions)))
            self.rows[name] = mean_row(counted, alpha) if counted else _no_row(first)
            if len(counted) >= FEWEST_COLLECTIONS:
                self.new[name] = _of_a_new_one(counted, alpha)

    @property
    def measures(self) -> list[Row]:
        """The rows that decide nothing."""
        return [row for name, row in self.rows.items() if name not in DECIDING]


def row_called(comparison: Comparison, name: str) -> Row | None:
    """Return the row of this name, None where there is none."""
    rows = (comparison.coverage, comparison.ranking, comparison.restricted, *comparison.measures)
    return next((row for row in rows if row is not None and row.name == name), None)


def mean_row(rows: Sequence[Row], alpha: float) -> Row:
    """Return the unweighted mean of rows of independent conditions.

    SE = sqrt(sum SE_i^2) / k, with Welch and Satterthwaite's degrees of freedom.
    """
    from scipy.special import stdtr, stdtrit

    k = len(rows)
    columns = [(row.difference, row.standard_error, row.df) for row in rows]
    differences, errors, dfs = np.array(columns, dtype=np.float64).T
    variances = errors**2
    difference = float(differences.mean())
    error = math.sqrt(variances.sum()) / k
    largest = None
    if all(row.largest is not None for row in rows):
        largest = sum(row.largest or 0.0 for row in rows) / k
    df = 1.0
    pvalue = 1.0
    interval = None
    if error > 0:
        df = float(variances.sum() ** 2 / (variances**2 / dfs).sum())
        pvalue = float(2 * stdtr(df, -abs(difference) / error))
        half = float(stdtrit(df, 1 - alpha / 2)) * error
        interval = _around(difference, half, largest)
    row = replace(
        rows[0],
        n=k,
        differ=sum(row.difference != 0 for row in rows),
        better=sum(row.gain > 0 for row in rows),
        baseline=_mean_level([row.baseline for row in rows]),
        contender=_mean_level([row.contender for row in rows]),
        difference=difference,
        interval=interval,
        standard_error=error,
        df=df,
        pvalue=pvalue,
        pvalue_corrected=pvalue,
        found="none",
        largest=largest,
        detectable=None,
        margin=None,
        tests={},
    )
    return found_alone(row, alpha)


def _no_row(like: Row) -> Row:
    """Return a row of which no condition tells anything."""
    return replace(
        like,
        n=0,
        differ=0,
        better=0,
        baseline=None,
        contender=None,
        difference=None,
        interval=None,
        standard_error=None,
        df=None,
        pvalue=1.0,
        pvalue_corrected=1.0,
        found="none",
        detectable=None,
        margin=None,
        tests={},
    )


def _of_a_new_one(rows: Sequence[Row], alpha: float) -> Interval:
    """Return where the difference measured in a new condition lies."""
    from scipy.special import stdtrit

    k = len(rows)
    differences = np.array([row.difference for row in rows], dtype=np.float64)
    half = float(stdtrit(k - 1, 1 - alpha / 2)) * differences.std(ddof=1) * math.sqrt(1 + 1 / k)
    limits = [math.inf if row.largest is None else row.largest for row in rows]
    return _around(float(differences.mean()), float(half), max(limits))


def _around(mean: float, half: float, largest: float | None) -> Interval:
    """Return an interval around a mean, cut at what is possible."""
    limit = math.inf if largest is None else largest
    return Interval(max(mean - half, -limit), min(mean + half, limit))


def _mean_level(levels: Sequence[float | None]) -> float | None:
    known = [level for level in levels if level is not None]
    return float(np.mean(known)) if known else None


def differing(evaluations: Mapping[str, Evaluation], *settings: str) -> Iterator[tuple[str, str]]:
    """Find the settings in which evaluations differ, with their values in words."""
    for setting in settings:
        values = {name: getattr(evaluation, setting) for name, evaluation in evaluations.items()}
        if len(set(values.values())) > 1:
            yield setting, listed([f"{name} {value}" for name, value in values.items()][:10])


def agreement_of(result: ConditionsComparison) -> Iterator[str]:
    """Say for each contender how far its labels agree over judges."""
    for contender in result.contenders:
        labels = [row.comparison.verdict.label for row in result.of(contender)]
        most = max(labels, key=labels.count)
        times = labels.count(most)
        several = plural(result.over, len(labels))
        same = f"a different label under each of {several}"
        if times > 1 or len(labels) == 1:
            same = f'the same label under {times} of {several} ("{most}")'
        directions = "never opposite"
        if {"better", "worse"} <= {direction_of(label) for label in labels}:
            directions = "opposite directions occur"
        yield f"{contender}: {same}, {directions}."
