"""How many queries a comparison needs, judged from one that was made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.result import Comparison, Comparisons, QueryOutcome
from ir_outcomes.comparison.rows import Row, margins_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.formatting import plural
from ir_outcomes.notes import as_notes, note
from ir_outcomes.results import Immutable, Result
from ir_outcomes.statistics.power import (
    POWER,
    QueriesNeeded,
    queries_for_margin,
    queries_for_mean,
    unit_values,
)
from ir_outcomes.table_columns import attributes, rows_of
from ir_outcomes.types import LARGEST, Floats, check_kind, check_number

SMALLEST_EFFECT = 1e-6  # that can be planned for
DEFAULTS = (1.0, 0.5)  # percentage points of coverage, ranks


@dataclass(frozen=True)
class PlannedRow(Immutable):
    """How many queries one row needs."""

    name: str  #: "coverage", "ranking" or "all queries"
    measured_in: str  #: unit of `effect`
    effect: float  #: the difference to detect, positive
    n: int  #: queries of the pilot that the row is measured on
    differ: int  #: those on which the runs differ
    #: answerable queries, or clusters of them, that detect the difference, with an upper bound
    needed: QueriesNeeded
    #: how many a gate needs to exclude as large a harm, if the runs are equally good; None where
    #: that is not known
    to_pass: QueriesNeeded | None


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """How many queries like those of a pilot each row needs.

    Attributes
    ----------
    baseline, contender, n_queries
        Of the pilot; see `ir_outcomes.Comparison`.
    planned : tuple of PlannedRow
        What coverage, ranking and, with a cutoff, all queries need.
    power : float
        Chance to detect the effects.
    settings : Settings
        Of the pilot; with several contenders the level is that of the first step of the correction.
    """

    baseline: str
    contender: str
    n_queries: int
    planned: tuple[PlannedRow, ...]
    power: float
    settings: Settings

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each row of the comparison."""
        columns = (
            *attributes("row=name", "measured_in", "effect", "n", "differ"),
            *attributes("queries=needed.queries", "queries_upper=needed.upper"),
            *attributes("queries_to_pass=to_pass.queries", "queries_to_pass_upper=to_pass.upper"),
        )
        return rows_of(columns, self.planned)


def plan(
    comparison: Comparison,
    *,
    coverage: float | None = None,
    ranking: float | None = None,
    all_queries: float | None = None,
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
        Difference over all queries, in ranks; by default what the other two tolerate together as
        margins of `ir_outcomes.gate`.
    power : float
        Chance to detect them.

    Returns
    -------
    Plan
        For each row the number of queries that detect the difference, the number with which a gate
        excludes as large a harm if the runs are equally good, and 80 % upper bounds, which account
        for what the pilot does not know about the spread.

    Raises
    ------
    ParameterError
        If an effect or the power is not possible, or the result was stored without its queries.

    References
    ----------
    Guenther 1981, "Sample size formulas for normal theory t tests".

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(60)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0 if n % 3 else 0.5, "x": 1.0} for n, q in enumerate(qrels)}
    >>> [row.needed.queries for row in iro.plan(iro.compare(qrels, a, b), ranking=0.25).planned]
    [None, 31, None]
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
    if comparison.queries is None:
        raise ParameterError(
            "this result was stored without its queries; write it with to_json(per_query=True)"
        )
    effects = [
        DEFAULTS[0] if coverage is None else coverage,
        DEFAULTS[1] if ranking is None else ranking,
    ]
    rows = [comparison.coverage, comparison.ranking]
    if comparison.restricted is not None:
        implied = margins_of(effects, comparison.outcomes, comparison.restricted)[-1]
        effects.append(implied if all_queries is None else all_queries)
        rows.append(comparison.restricted)
    planned = tuple(
        _planned(comparison, row, effect, power) for row, effect in zip(rows, effects, strict=True)
    )
    return Plan(
        baseline=comparison.baseline,
        contender=comparison.contender,
        n_queries=comparison.n_queries,
        planned=planned,
        power=power,
        settings=comparison.settings,
        notes=as_notes(_notes(comparison, planned, is_default=coverage is ranking is None)),
    )


def _planned(comparison: Comparison, row: Row, effect: float, power: float) -> PlannedRow:
    """Return what one row needs."""
    changes, n = changes_of(comparison.queries or (), row.name)
    level = comparison.settings.first_level
    return PlannedRow(
        name=row.name,
        measured_in=row.measured_in,
        effect=effect,
        n=row.n,
        differ=row.differ,
        needed=queries_for_mean(changes, n, effect, alpha=level, power=power),
        to_pass=queries_to_pass(comparison, row, effect, power),
    )


def queries_to_pass(
    comparison: Comparison, row: Row, margin: float, power: float = POWER
) -> QueriesNeeded | None:
    """Return how many queries exclude harm beyond a margin if the runs are equally good; None where it is not known."""
    if comparison.queries is None or row.largest is None or not row.n:
        return None
    changes, n = changes_of(comparison.queries, row.name)
    level = comparison.settings.first_level
    return queries_for_margin(changes, n, margin, row.largest, alpha=level, power=power)


def changes_of(queries: Sequence[QueryOutcome], row: str) -> tuple[Floats, int]:
    """Return the changes in a row by query, or by cluster, and the number of all queries, or clusters."""
    values = [_change(query, row) for query in queries]
    counted = [index for index, value in enumerate(values) if value is not None]
    changes = np.array([values[index] for index in counted], dtype=np.float64)
    if not queries or queries[0].cluster is None:
        return changes, len(queries)
    clusters = np.array([queries[index].cluster for index in counted], dtype=np.int64)
    n = len({query.cluster for query in queries})
    if not len(changes):
        return changes, n
    code = np.unique(clusters, return_inverse=True)[1]
    return unit_values(np.bincount(code, weights=changes), np.bincount(code).astype(float)), n


def _change(query: QueryOutcome, row: str) -> float | None:
    if row == "coverage":
        return 100 * (query.found_contender - query.found_baseline)
    return query.difference if row == "ranking" else query.change


def _notes(
    comparison: Comparison, planned: Sequence[PlannedRow], *, is_default: bool
) -> Iterator[str]:
    settings = comparison.settings
    if is_default:
        yield note("default effect", "1 point of coverage and 0.5 ranks; give your own.")
    for row in planned:
        if row.needed.queries is None:
            reason = "it would take more than a million, or all differences of the pilot are equal"
            if row.differ < 2:
                reason = "fewer than two queries differ in it"
            yield f"{row.name}: no number of queries can be given, because {reason}."
    if settings.n_clusters is not None:
        size = comparison.n_queries / settings.n_clusters
        yield f"The numbers count clusters of about {size:.1f} queries each."
    if comparison.of_several_runs:
        yield "The numbers are for these runs; for new ones more queries may not be enough."
    if settings.family > 1 and settings.correction != "none":
        yield (
            f"Planned at the level {settings.first_level:.2g}, the first step of the correction over"
            f" {plural('comparison', settings.family)}."
        )
