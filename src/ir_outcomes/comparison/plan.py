"""How many queries a comparison needs, judged from one that was made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes.arguments import LARGEST, check_kind, check_number
from ir_outcomes.choices import Floats
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.result import Comparison, Comparisons, QueryOutcome
from ir_outcomes.comparison.rows import Row
from ir_outcomes.errors import ParameterError
from ir_outcomes.formatting import listed, plural
from ir_outcomes.notes import as_notes, note
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
DEFAULTS = (1.0, 0.5)  # percentage points of coverage, ranks


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


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """How many queries like those of a pilot each row of a comparison needs.

    Attributes
    ----------
    baseline, contender, n_queries
        Of the pilot; see `ir_outcomes.Comparison`.
    coverage, ranking : PlannedRow
        What they need.
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
    coverage: PlannedRow
    ranking: PlannedRow
    all_queries: PlannedRow | None
    power: float
    settings: Settings
    n_runs: tuple[int, int] = (1, 1)

    @property
    def parts(self) -> tuple[PlannedRow, ...]:
        """Coverage, ranking and, where a difference was given, all queries."""
        parts = (self.coverage, self.ranking)
        return parts if self.all_queries is None else (*parts, self.all_queries)

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each of `parts`."""
        columns = (
            *attributes("row=name", "measured_in", "effect", "n", "differ"),
            *attributes("queries=needed.queries", "queries_upper=needed.upper"),
            *attributes("queries_to_pass=to_pass.queries", "queries_to_pass_upper=to_pass.upper"),
            Column("power", lambda _: self.power),
            Column("alpha", lambda _: self.settings.first_level),
        )
        return rows_of(columns, self.parts)


def plan(
    comparison: Comparison,
    coverage: float | None = None,
    ranking: float | None = None,
    all_queries: float | None = None,
    *,
    power: float = POWER,
) -> Plan:
    """Compute how many queries like those of a comparison would detect the effects that matter.

    The effects are those that you care about, not those that were observed: the power of a finished
    test to detect what it observed says no more than its p-value.

    Parameters
    ----------
    comparison : Comparison
        The pilot: the same kind of queries and of runs.
    coverage, ranking : float, optional
        Sizes of the differences to detect, in either direction: percentage points, by default 1,
        and ranks (or the unit of the measure that was compared), by default 0.5.
    all_queries : float, optional
        Difference over all queries, in ranks; by default it is not planned.
    power : float
        Chance to detect them.

    Returns
    -------
    Plan
        For each row the number of queries that detect the difference, and the number with which a
        gate excludes as large a harm if the runs are equally good. Beside both is an 80 % upper
        bound, which accounts for what the pilot does not know about the spread. Where a system has
        several runs, the numbers are for these runs.

    Raises
    ------
    ParameterError
        If an effect or the power is not possible, or the result was stored without its queries.

    References
    ----------
    Guenther 1981 and Sakai 2016, "Topic set size design"; see
    `ir_outcomes.statistics.queries_for_mean`.

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(60)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0 if n % 3 else 0.5, "x": 1.0} for n, q in enumerate(qrels)}
    >>> iro.plan(iro.compare(qrels, a, b), ranking=0.25).ranking.needed.queries
    31
    """
    if isinstance(comparison, Comparisons) and len(comparison) == 1:
        comparison = comparison[0]
    check_kind(
        "comparison",
        comparison,
        Comparison,
        "a Comparison: what ir_outcomes.compare returns, by its contender's name",
    )
    for name, effect, largest in (
        ("coverage", coverage, 100.0),
        ("ranking", ranking, LARGEST),
        ("all_queries", all_queries, LARGEST),
    ):
        if effect is not None:
            check_number(name, effect, SMALLEST_EFFECT, largest)
    points, ranks = DEFAULTS
    planned = [
        _planned(comparison, comparison.coverage, coverage or points, power),
        _planned(comparison, comparison.ranking, ranking or ranks, power),
    ]
    extra: list[PlannedRow] = []
    if all_queries is not None:
        if comparison.all_queries is None:
            raise ParameterError(
                "search lengths over all queries are not known without a cutoff; leave it out",
                all_queries=all_queries,
            )
        extra = [_planned(comparison, comparison.all_queries, all_queries, power)]
    defaults = [row for row, size in zip(planned, (coverage, ranking), strict=True) if size is None]
    return Plan(
        baseline=comparison.baseline,
        contender=comparison.contender,
        n_queries=comparison.n_queries,
        coverage=planned[0],
        ranking=planned[1],
        all_queries=extra[0] if extra else None,
        power=power,
        settings=comparison.settings,
        n_runs=comparison.n_runs,
        notes=as_notes(_notes(comparison, planned + extra, defaults)),
    )


def queries_to_pass(
    comparison: Comparison, row: Row, margin: float, power: float = POWER
) -> QueriesNeeded | None:
    """Return how many queries exclude harm beyond a margin if the runs are equally good.

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


def _planned(comparison: Comparison, row: Row, effect: float, power: float) -> PlannedRow:
    """Return what one row needs."""
    values, _, n = _units(comparison, row)
    level = comparison.settings.first_level
    return PlannedRow(
        name=row.name,
        measured_in=row.measured_in,
        effect=effect,
        n=row.n,
        differ=row.differ,
        needed=queries_for_mean(values, n, effect, alpha=level, power=power),
        to_pass=queries_to_pass(comparison, row, effect, power),
    )


def _units(comparison: Comparison, row: Row) -> tuple[Floats, Floats, int]:
    """Return values and sizes of the units of a row, and how many units the pilot has.

    Of several runs a query has the mean of its rows.
    """
    if comparison.queries is None:
        raise ParameterError(
            "this result was stored without its queries; write it with to_json(per_query=True)"
        )
    changes = [_change(query, row.name) for query in comparison.queries]
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


def _change(query: QueryOutcome, name: str) -> float | None:
    """Return the difference of a query in a row; None where it does not count."""
    if name == "coverage":
        return 100 * (query.found_contender - query.found_baseline)
    if name == "ranking":
        return query.difference
    if query.restricted is None:  # values of another tool, 0 where nothing was found
        return (query.contender or 0.0) - (query.baseline or 0.0)
    return query.restricted


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
