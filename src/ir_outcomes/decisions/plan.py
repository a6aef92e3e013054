"""How many queries a comparison needs, judged from one that was made."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes.choices import LARGEST, Floats
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.formatting import listed, plural
from ir_outcomes.notes import as_notes, note
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.rules import Settings
from ir_outcomes.results import Immutable, Result
from ir_outcomes.statistics.power import (
    POWER,
    QueriesNeeded,
    queries_for_margin,
    queries_for_mean,
    unit_values,
)
from ir_outcomes.table_columns import Column, attributes, rows_of

SMALLEST_EFFECT = 1e-6  # that can be planned for
DEFAULTS = {"coverage": 1.0, "ranking": 0.5}  # percentage points, ranks


@dataclass(frozen=True)
class PlannedRow(Immutable):
    """How many queries one row of a comparison needs."""

    name: str  #: "coverage", "ranking" or "all queries"
    measured_in: str  #: unit of `effect`
    effect: float  #: the difference to detect, positive
    n: int  #: queries of the pilot that the row is measured on
    differ: int  #: those of them, or clusters, on which the runs differ
    needed: QueriesNeeded  #: to detect the difference, of all answerable queries
    #: for a gate to exclude as large a harm, if the runs are equally good; None where the most that
    #: a query can change by is not known
    to_pass: QueriesNeeded | None
    #: the same effect carried to all queries; None where the search over all queries is not known
    over_all: float | None
    for_label: QueriesNeeded | None  #: to detect that, which gives the label its direction


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """How many queries like those of a pilot each row of a comparison needs.

    Attributes
    ----------
    baseline, contender, n_queries
        Of the pilot; see `ir_outcomes.Comparison`.
    coverage, ranking : PlannedRow or None
        What they need; None where the pilot compares the mean of a measure.
    all_queries : PlannedRow or None
        What the mean over all queries needs; None where no difference was given.
    power : float
        Chance to detect the differences.
    settings : Settings
        Of the pilot; with several contenders tests are planned at the level of Holm's first step.
    n_runs : pair of int
        Numbers of runs of both systems in the pilot.
    """

    baseline: str
    contender: str
    n_queries: int
    coverage: PlannedRow | None
    ranking: PlannedRow | None
    all_queries: PlannedRow | None
    power: float
    settings: Settings
    n_runs: tuple[int, int] = (1, 1)

    @property
    def parts(self) -> tuple[PlannedRow, ...]:
        """The rows that are planned: coverage, ranking, all queries."""
        rows = (self.coverage, self.ranking, self.all_queries)
        return tuple(row for row in rows if row is not None)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row for each of `parts`."""
        columns = (
            *attributes("row=name", "measured_in", "effect", "n", "differ"),
            *attributes("queries=needed.queries", "queries_upper=needed.upper"),
            *attributes("effect_over_all=over_all", "queries_for_label=for_label.queries"),
            *attributes("queries_for_label_upper=for_label.upper"),
            *attributes("queries_to_pass=to_pass.queries", "queries_to_pass_upper=to_pass.upper"),
            Column("power", lambda _: self.power),
            Column("alpha", lambda _: self.settings.first_level),
        )
        return rows_of(columns, self.parts)


def plan(
    comparison: Comparison | Comparisons,
    coverage: float | None = None,
    ranking: float | None = None,
    all_queries: float | None = None,
    *,
    power: float = POWER,
) -> Plan:
    """Compute how many queries like these would detect the effects that matter.

    The effects are those that you care about, not those that were observed: the power of a finished
    test to detect what it observed says no more than its p-value.

    Parameters
    ----------
    comparison : Comparison
        The pilot: the same kind of queries and of runs.
    coverage, ranking : float, optional
        Sizes of the differences to detect, in either direction: percentage points, by default 1,
        and search lengths (ranks, or irrelevant documents above), by default 0.5.
    all_queries : float, optional
        Difference over all queries, in the unit of search lengths; by default it is not planned. Of
        a pilot of values of another measure only the mean is planned, and one difference is taken,
        in the unit of the measure, from whichever argument it is given by.
    power : float
        Chance to detect them.

    Returns
    -------
    Plan
        For each row the number of queries that detect the difference; the number with which the
        label has a direction, where the row changes by so much and the other facet does not; and
        the number with which a gate excludes as large a harm if the runs are equally good. Beside
        each is an 80 % upper bound, which accounts for what the pilot does not know about the
        spread. Where a system has several runs, the numbers are for these runs.

    Raises
    ------
    ParameterError
        If an effect or the power is not possible, the pilot is of values of a measure and no effect
        is given, or the result was stored without its queries.

    References
    ----------
    Guenther 1981 and Sakai 2016, "Topic set size design"; see
    `ir_outcomes.statistics.power.queries_for_mean`.

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(60)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0 if n % 3 else 0.5, "x": 1.0} for n, q in enumerate(qrels)}
    >>> iro.plan(iro.compare(qrels, a, b), ranking=0.25).ranking.needed.queries
    38
    """
    if isinstance(comparison, Comparisons):
        if len(comparison) > 1:
            names = some([item.contender for item in comparison])
            raise ParameterError(f"a plan is of one contender: give comparisons[NAME], of {names}")
        comparison = comparison[0]
    arguments = {"coverage": coverage, "ranking": ranking, "all_queries": all_queries}
    effects = {name: effect for name, effect in arguments.items() if effect is not None}
    rows = _rows_of_effects(comparison, effects)
    for argument, effect in effects.items():
        _check_effect(argument, effect, rows[argument])
    planned = [
        _planned(comparison, row, (DEFAULTS | effects)[argument], power)
        for argument, row in rows.items()
    ]
    defaults = [row for row, argument in zip(planned, rows, strict=True) if argument not in effects]
    by_name = {row.name: row for row in planned}
    return Plan(
        baseline=comparison.baseline,
        contender=comparison.contender,
        n_queries=comparison.n_queries,
        coverage=by_name.get("coverage"),
        ranking=by_name.get("ranking"),
        all_queries=by_name.get("all queries"),
        power=power,
        settings=comparison.settings,
        n_runs=comparison.n_runs,
        notes=as_notes(_notes(comparison, planned, defaults)),
    )


def queries_to_pass(
    comparison: Comparison, row: Row, margin: float, power: float = POWER
) -> QueriesNeeded | None:
    """How many queries exclude harm beyond a margin if the runs are equally good.

    None where the most that a query can change by is not known.
    """
    if row.largest is None:
        return None
    values, sizes, n = _units(comparison, row)
    weight = float(sizes.max() / sizes.mean()) if len(sizes) else 1.0
    level = comparison.settings.first_level
    return queries_for_margin(
        values, n, margin, row.largest, alpha=level, power=power, weight=weight
    )


def _rows_of_effects(comparison: Comparison, effects: Mapping[str, float]) -> dict[str, Row]:
    """The rows that are planned, by the argument of their effect."""
    whole = comparison.all_queries
    if not comparison.in_lengths:
        if whole is None or len(effects) != 1:
            measure = comparison.ranking.measured_in
            example = _possible_effect(comparison.ranking.largest)
            raise ParameterError(
                f"give one difference of {measure}, the one that matters to you, such as"
                f" `all_queries={example}`",
                **effects,
            )
        return dict.fromkeys(effects, whole)
    rows = {"coverage": comparison.coverage, "ranking": comparison.ranking}
    if "all_queries" not in effects:
        return rows
    if whole is None:
        raise ParameterError(
            "search lengths over all queries are not known without a cutoff; leave it out",
            all_queries=effects["all_queries"],
        )
    return {**rows, "all_queries": whole}


def _check_effect(argument: str, effect: float, row: Row) -> None:
    """Refuse an effect that no queries can have."""
    if row.largest == 0:
        raise ParameterError(
            f"{row.name} cannot change at this cutoff; leave it out", **{argument: effect}
        )
    largest = LARGEST if row.largest is None else row.largest
    if not SMALLEST_EFFECT <= effect <= largest:
        most = "" if row.largest is None else f" and at most {largest:g}, the most that is possible"
        raise ParameterError(
            f"must be {SMALLEST_EFFECT:f} or more{most}, such as {_possible_effect(row.largest)}",
            **{argument: effect},
        )


def _possible_effect(largest: float | None) -> str:
    """An effect that a row can have."""
    return f"{min(1.0, (largest or 1.0) / 10):.2g}"


def _planned(comparison: Comparison, row: Row, effect: float, power: float) -> PlannedRow:
    """What one row needs."""
    needed = _needed(comparison, row, effect, power)
    over_all, for_label = _for_label(comparison, row, effect, power)
    return PlannedRow(
        name=row.name,
        measured_in=row.measured_in,
        effect=effect,
        n=row.n,
        differ=row.differ,
        needed=needed,
        to_pass=queries_to_pass(comparison, row, effect, power),
        over_all=over_all,
        for_label=for_label,
    )


def _for_label(
    comparison: Comparison, row: Row, effect: float, power: float
) -> tuple[float | None, QueriesNeeded | None]:
    """Carry the effect of a row to all queries, with the queries that detect it."""
    whole = comparison.all_queries
    if whole is None:
        return None, None
    over_all = effect
    if row.name != whole.name:
        over_all = effect * _slope_over_all(comparison, row, whole)
    if over_all == 0:  # where no query of the pilot changes in the row
        return over_all, QueriesNeeded(None, None)
    return over_all, _needed(comparison, whole, over_all, power)


def _slope_over_all(comparison: Comparison, row: Row, whole: Row) -> float:
    """The change of all queries, if one row changes by 1 and the other does not.

    These are slopes of the pilot's queries: of ranking on those that find as much as before, and of
    coverage after that. The most that an item can cost would be too much, because what only one run
    finds is seldom at its first rank.
    """
    names = ("coverage", "ranking", whole.name)
    changes = [
        [query.change_in(name) or 0.0 for name in names] for query in comparison.queries or ()
    ]
    coverage, ranking, total = np.array(changes).reshape(-1, 3).T
    moved = (coverage == 0) & (ranking != 0)
    slope = _slope(ranking[moved], total[moved]) if moved.any() else 1.0
    if row.name == "coverage":
        slope = _slope(coverage, total - slope * ranking)
    return abs(slope) * row.n / whole.n


def _slope(x: Floats, y: Floats) -> float:
    """The least-squares slope of a line through 0."""
    return float(x @ y) / float(x @ x) if x.any() else 0.0


def _needed(comparison: Comparison, row: Row, effect: float, power: float) -> QueriesNeeded:
    """How many queries detect an effect of a row."""
    values, _, n = _units(comparison, row)
    level = comparison.settings.first_level
    return queries_for_mean(values, n, effect, alpha=level, power=power, differ=row.differ)


def _units(comparison: Comparison, row: Row) -> tuple[Floats, Floats, int]:
    """Values and sizes of the units of a row, and how many units the pilot has.

    Of several runs a query has the mean of its rows.
    """
    if comparison.queries is None:
        raise ParameterError(
            "this result was stored without its queries; write it with to_json(per_query=True)"
        )
    changes = [query.change_in(row.name) for query in comparison.queries]
    counted = np.array([change is not None for change in changes], dtype=bool)
    values = np.array([change for change in changes if change is not None], dtype=np.float64)
    clusters = [query.cluster for query in comparison.queries]
    n = len(set(clusters)) if comparison.settings.n_clusters else len(clusters)
    if not comparison.settings.n_clusters or not len(values):
        return values, np.ones(len(values)), n
    code = np.unique(np.array(clusters)[counted], return_inverse=True)[1]
    sizes = np.bincount(code).astype(np.float64)
    sums = np.bincount(code, values).astype(np.float64)
    return unit_values(sums, sizes), sizes, n


def _notes(
    comparison: Comparison, rows: Sequence[PlannedRow], defaults: Sequence[PlannedRow]
) -> Iterator[str]:
    settings = comparison.settings
    if defaults:
        effects = [
            f"{row.effect:g} {row.measured_in}".replace("1 percentage points", "1 percentage point")
            for row in defaults
        ]
        yield note("default effect", f"{listed(effects)}; give your own.")
    for row in rows:
        if row.needed.queries is None:
            reason = "it would take more than a million, or all differences are equal"
            if row.differ < 2:
                reason = "fewer than two queries differ"
            yield note("not planned", f"for {row.name}, because {reason}.")
    if settings.n_clusters is not None:
        mean_size = comparison.n_queries / settings.n_clusters
        yield f"The numbers count clusters of about {mean_size:.1f} queries each."
    if comparison.of_several_runs:
        yield "The numbers are for these runs; for new ones more queries may not be enough."
    if settings.first_level != settings.alpha:
        yield (
            f"Planned at the level {settings.first_level:.2g}, the first step of the correction"
            f" over {plural('comparison', settings.family)}."
        )
