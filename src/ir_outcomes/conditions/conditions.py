"""A comparison for each condition, and what holds over all of them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from ir_outcomes.choices import RANKS, or_none
from ir_outcomes.comparison.columns import columns_of, row_columns
from ir_outcomes.comparison.family import compared
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.named_measures import Measures
from ir_outcomes.evaluation.remarks import Allow, notes_on_grades, refuse_stops, unjudged_share
from ir_outcomes.formatting import listed
from ir_outcomes.notes import Note
from ir_outcomes.pairs.differences import Quantity
from ir_outcomes.pairs.means import RowInConditions, RowOfMeans, mean_over_conditions
from ir_outcomes.pairs.measurements import deciding_rows
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.rules import Rules, Settings
from ir_outcomes.pairs.verdict import DECIDING, FACETS, LABELS, direction_of, labels_of
from ir_outcomes.results import HasFigures, HasPage, Immutable, Result
from ir_outcomes.statistics.estimate import Interval
from ir_outcomes.statistics.families import adjust
from ir_outcomes.table_columns import PERCENT, Column, attributes, of_part, rows_of

Kind = Literal["collection", "slice", "judge"]
FEWEST_COLLECTIONS = 5  # from which on something is said about a new one
# All queries of reciprocal ranks whose cutoff is not known.
_NO_CUTOFF = Row.absent(Quantity("all queries", RANKS, False, None))


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
    def hurt(self) -> tuple[str, ...]:
        """The facets that are worse, by p-values without correction."""
        rows = [(name, self.comparison.row(name)) for name in FACETS]
        alpha = self.comparison.alpha
        return tuple(name for name, row in rows if row and row.pvalue <= alpha and row.gain < 0)

    @property
    def holds(self) -> bool:
        """Whether the label stays the same when corrected over the conditions."""
        return not self.labelled or self.label == self.label_over_conditions


@dataclass(frozen=True)
class Overall(Immutable):
    """What holds over all conditions for one contender."""

    contender: str  #: the run
    label: str  #: from the means of these conditions
    #: conditions whose label is worse, or in which coverage or ranking is worse by the raw p-value
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
        """Which way a new collection goes over all queries, empty where too few tell."""
        if "all queries" not in self.new:
            return ""
        low, high = self.new["all queries"]
        if not self.all_queries.higher_is_better:
            low, high = -high, -low
        if low >= 0:
            return "likely better"
        return "likely worse" if high <= 0 else "could go either way"


@dataclass(frozen=True, repr=False)
class ConditionsComparison(HasFigures, HasPage, Result):
    """Contenders against a baseline under several conditions.

    The figure is "forest".

    Attributes
    ----------
    baseline : str
        The run that the others are compared with.
    conditions : tuple of Condition
        One for each contender and condition, contender by contender.
    settings : Settings
        Of the comparisons; the cutoff is None where collections differ in it.
    """

    over: ClassVar[Kind]  #: what the conditions are

    baseline: str
    conditions: tuple[Condition, ...]
    settings: Settings

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
        """Return a flat row for each contender and condition."""
        return rows_of(condition_columns(self.conditions), self.conditions)


@dataclass(frozen=True, repr=False)
class MeansOverConditions(ConditionsComparison):
    """Contenders against a baseline under independent conditions, and on average.

    Attributes
    ----------
    overall : tuple of Overall
        What holds on average, one for each contender.
    """

    overall: tuple[Overall, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return a flat row for each contender and condition, then for each mean."""
        means = [row for overall in self.overall for row in _mean_rows(overall)]
        return [*super().rows(), *means]


def by_contender(conditions: Iterable[Condition]) -> dict[str, list[Condition]]:
    """Return the conditions of each contender."""
    by_run: dict[str, list[Condition]] = {}
    for row in conditions:
        by_run.setdefault(row.comparison.contender, []).append(row)
    return by_run


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
    rules: Rules,
    *,
    over_conditions: bool,
    allow: Allow = (),
    measures: Measures = (),
    groups: Mapping[str, str] | None = None,
    fewest: int = 0,
) -> list[Condition]:
    """Compare every contender with the baseline in every condition that has both.

    The family is all contenders, also where a condition lacks some. A label needs at least `fewest`
    queries; with `over_conditions` there is a second label, whose rows are corrected by Holm over
    contenders and conditions.
    """
    named: list[tuple[str, Comparison]] = []
    for name, evaluation in evaluations.items():
        present = [run for run in contenders if run in evaluation.names]
        if baseline in evaluation.names and present:
            pairs = evaluation[[baseline, *present]]
            refuse_stops(pairs.at(), allow)
            family = len(contenders)
            comparisons = compared(pairs, rules, measures=measures, family=family)
            named += [(name, comparison) for comparison in comparisons]
    named.sort(key=lambda item: contenders.index(item[1].contender))
    labels = [comparison.verdict.label for _, comparison in named]
    if over_conditions and named:
        deciding = [deciding_rows(evaluations[name].values) for name, _ in named]
        labels = _labels_over_conditions([item for _, item in named], deciding, rules.alpha)
    conditions = []
    for (name, comparison), label in zip(named, labels, strict=True):
        evaluation = evaluations[name]
        judged = None
        if evaluation.values is None and not evaluation.positives_only:
            runs = evaluation[[comparison.baseline, comparison.contender]].at()
            first, second = (unjudged_share(run) for run in runs)
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


def deciding_over(evaluations: Mapping[str, Evaluation]) -> tuple[str, ...]:
    """Return the rows that decide in every condition."""
    of_each = [deciding_rows(evaluation.values) for evaluation in evaluations.values()]
    return tuple(name for name in DECIDING if all(name in rows for rows in of_each))


def _labels_over_conditions(
    comparisons: Sequence[Comparison], deciding: Sequence[Sequence[str]], alpha: float
) -> list[str]:
    """Return the labels with rows corrected by Holm over the conditions, too."""
    found, alone = {}, {}
    for name in DECIDING:
        rows = [item.row(name) for item in comparisons]
        pvalues = [1.0 if row is None else row.pvalue for row in rows]
        of_contenders = [1.0 if row is None else row.pvalue_corrected for row in rows]
        corrected = np.maximum(adjust(pvalues, "holm"), of_contenders)
        sign = np.array([0 if row is None else int(np.sign(row.gain)) for row in rows])
        alone[name] = np.where(np.array(pvalues) <= alpha, sign, 0)
        found[name] = np.where(corrected <= alpha, sign, 0)
    labels = {
        rows: labels_of(
            {name: found[name] for name in rows}, {name: alone[name] for name in rows}
        ).tolist()
        for rows in map(tuple, deciding)
    }
    return [LABELS[labels[tuple(rows)][index]] for index, rows in enumerate(deciding)]


def overall_of(
    conditions: Sequence[Condition],
    deciding: Sequence[str],
    rules: Rules,
    family: int,
    *,
    new_collection: bool = False,
) -> list[Overall]:
    """Combine the conditions of each contender by unweighted means."""
    of_contender = by_contender(conditions)
    means = _means(conditions, [*of_contender], rules.alpha)
    corrected = {}
    for name, mean in means.items():
        pvalues = adjust(mean.row.estimates.pvalue, rules.correction, family)
        corrected[name] = mean.row.over(pvalues, rules.alpha)
    labels = labels_of(
        {name: corrected[name].found for name in deciding},
        {name: corrected[name].alone for name in deciding},
    ).tolist()
    overall = []
    for index, (contender, of_run) in enumerate(of_contender.items()):
        rows = {
            name: replace(
                row.row(index, rules.alpha),
                largest=or_none(means[name].largest[index]),
                detectable=None,
            )
            for name, row in corrected.items()
        }
        directions = [direction_of(row.label) for row in of_run if row.label is not None]
        overall.append(
            Overall(
                contender=contender,
                label=LABELS[labels[index]],
                hurt=tuple(
                    row.condition
                    for row in of_run
                    if row.hurt or (row.label and direction_of(row.label) == "worse")
                ),
                better=directions.count("better"),
                worse=directions.count("worse"),
                coverage=rows["coverage"],
                ranking=rows["ranking"],
                all_queries=rows.get("all queries", _NO_CUTOFF),
                measures=tuple(row for name, row in rows.items() if name not in DECIDING),
                new=_new_ones(means, index, of_run, rules.alpha) if new_collection else {},
                left_out={name: names for name in rows if (names := _left_out(name, of_run))},
            )
        )
    return overall


def _means(
    conditions: Sequence[Condition], contenders: Sequence[str], alpha: float
) -> dict[str, RowOfMeans]:
    """Average every row of all contenders over the conditions, groups first."""
    comparisons = {
        (item.condition, item.comparison.contender): item.comparison for item in conditions
    }
    groups = {
        item.condition: (item.group is not None, item.group or item.condition)
        for item in conditions
    }
    measures = [row.name for row in conditions[0].comparison.measures]
    means = {}
    for name in (*DECIDING, *measures):
        rows = [
            [
                comparisons[condition, run].row(name) if (condition, run) in comparisons else None
                for run in contenders
            ]
            for condition in groups
        ]
        first = next((row for of_condition in rows for row in of_condition if row), None)
        if first is None:
            continue
        quantity = Quantity(name, first.measured_in, first.higher_is_better, first.largest)
        in_conditions = RowInConditions.of(rows)
        means[name] = mean_over_conditions(quantity, in_conditions, [*groups.values()], alpha)
    return means


def _left_out(name: str, conditions: Sequence[Condition]) -> tuple[str, ...]:
    """Return the conditions that do not enter a row."""
    rows = ((item.condition, item.comparison.row(name)) for item in conditions)
    return tuple(condition for condition, row in rows if row is None or row.standard_error is None)


def notes_on_condition(evaluation: Evaluation) -> Iterator[Note]:
    """Say what is known of the judgments, or of values of another tool."""
    yield from notes_on_grades(evaluation.qrels, evaluation.rel)
    if evaluation.values is not None:
        yield from evaluation.values.notes_on_output()


def notes_on_left_out(overall: Overall) -> Iterator[str]:
    """Say which conditions do not enter a mean."""
    for name, conditions in overall.left_out.items():
        yield (
            f"{overall.contender}: the mean of {name} leaves out {listed(conditions)}, where fewer"
            " than two queries can be compared."
        )


def _new_ones(
    means: Mapping[str, RowOfMeans], index: int, conditions: Sequence[Condition], alpha: float
) -> dict[str, Interval]:
    """Return where differences in a new condition lie, if enough conditions tell."""
    from scipy.special import stdtrit

    intervals = {}
    for name, row_of_means in means.items():
        differences = row_of_means.groups[:, index]
        differences = differences[~np.isnan(differences)]
        k = len(differences)
        if k < FEWEST_COLLECTIONS:
            continue
        quantile = float(stdtrit(k - 1, 1 - alpha / 2))
        half = quantile * float(differences.std(ddof=1)) * math.sqrt(1 + 1 / k)
        mean = float(differences.mean())
        rows = [item.comparison.row(name) for item in conditions]
        limits = [row.largest for row in rows if row is not None]
        limit = max(math.inf if largest is None else largest for largest in limits)
        intervals[name] = Interval(max(mean - half, -limit), min(mean + half, limit))
    return intervals
