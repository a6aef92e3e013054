"""How many queries a comparison needs, judged from one that was made."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes.comparison.facets import POWER, CoverageFacet, Facet, RestrictedLength
from ir_outcomes.comparison.margins import implied_margin, largest_change
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.result import Comparison, Comparisons, QueryOutcome
from ir_outcomes.errors import ParameterError
from ir_outcomes.formatting import listed, plural
from ir_outcomes.notes import as_notes, note
from ir_outcomes.results import Immutable, Result
from ir_outcomes.statistics import (
    QueriesNeeded,
    queries_for_coverage,
    queries_for_margin,
    queries_for_mean,
)
from ir_outcomes.statistics.corrections import smallest_pvalue
from ir_outcomes.statistics.counts import Rows, linearized
from ir_outcomes.statistics.new_runs import LEAST_RUNS, Halved, Side, halved
from ir_outcomes.table_columns import attributes, rows_of
from ir_outcomes.types import LARGEST, Floats, check_kind, check_number

SMALLEST_EFFECT = 1e-6  # that can be planned for
DEFAULTS = (1.0, 0.5)  # percentage points of coverage, ranks


@dataclass(frozen=True)
class PlannedFacet(Immutable):
    """How many queries one facet needs."""

    name: str  #: "coverage", "ranking" or "all queries"
    measured_in: str  #: unit of `effect`
    effect: float  #: the difference to detect, positive
    n: int  #: queries of the pilot that the facet is measured on
    n_nonzero: int  #: those on which the runs differ
    smallest_pvalue: float  #: that these allow
    test: str  #: that is planned for
    needed: QueriesNeeded  #: all answerable queries counted, with an upper bound; its `effect` is a share for coverage
    #: how many queries a gate needs to exclude as large a harm, if the runs are equally good; None
    #: where that is not known
    to_pass: QueriesNeeded | None
    #: what halves the interval for new runs; None where there is none, or nothing to halve
    halved: Halved | None = None


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """How many queries like those of a pilot each facet needs.

    Attributes
    ----------
    baseline, contender, n_queries
        Of the pilot; see `ir_outcomes.Comparison`.
    n_runs : pair of int
        Numbers of runs of both systems in the pilot.
    coverage, ranking : PlannedFacet
        What each facet needs.
    all_queries : PlannedFacet or None
        What the mean search length over all queries needs; None without a cutoff.
    power : float
        Chance to detect the effects.
    settings : Settings
        Of the pilot; with several contenders the tests are planned at the level of Holm's first
        step.
    """

    baseline: str
    contender: str
    n_queries: int
    coverage: PlannedFacet
    ranking: PlannedFacet
    all_queries: PlannedFacet | None
    power: float
    settings: Settings
    n_runs: tuple[int, int] = (1, 1)

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each facet."""
        columns = (
            *attributes(
                "facet=name", "measured_in", "effect", "n", "n_nonzero", "smallest_pvalue", "test"
            ),
            *attributes(
                "queries=needed.queries", "queries_upper=needed.upper", "power=needed.power"
            ),
            *attributes("alpha=needed.alpha", "confidence=needed.confidence"),
            *attributes("queries_to_pass=to_pass.queries", "queries_to_pass_upper=to_pass.upper"),
        )
        if self.n_runs != (1, 1):
            columns += attributes(
                "half_new_runs=halved.half",
                "runs_to_halve=halved.runs",
                "queries_to_halve=halved.queries",
            )
        return rows_of(columns, self.facets)

    @property
    def facets(self) -> tuple[PlannedFacet, ...]:
        """Coverage, ranking and, where they are known, all queries."""
        facets = (self.coverage, self.ranking)
        if self.all_queries is None:
            return facets
        return (*facets, self.all_queries)


def changes_of(queries: Sequence[QueryOutcome], what: str) -> tuple[Floats, int]:
    """Return the changes in coverage (percentage points), ranking or all queries, and of how many queries, or clusters."""
    change_of: Callable[[QueryOutcome], float | None] = {
        "coverage": lambda query: 100 * (query.found_contender - query.found_baseline),
        "ranking": lambda query: query.difference,
        "all queries": lambda query: query.restricted,
    }[what]
    counted = [query for query in queries if change_of(query) is not None]
    values = np.array([change_of(query) for query in counted], dtype=np.float64)
    weights = np.ones(len(values))
    if what == "ranking":  # of several runs its mean is over pairs of runs and queries
        weights = np.array([query.n_shared or 1 for query in counted], dtype=np.float64)
    clusters = [query.cluster for query in counted]
    n = len({query.cluster for query in queries})
    if not queries or queries[0].cluster is None:
        n = len(queries)
        if np.all(weights == weights[:1]):
            return values, n
        clusters = list(range(len(values)))
    return linearized(weights * values, Rows(np.array(clusters, dtype=np.int64), weights)), n


def queries_to_pass(
    comparison: Comparison, facet: Facet | RestrictedLength, margin: float, power: float = POWER
) -> QueriesNeeded | None:
    """Return how many queries exclude harm beyond a margin if the runs are equally good; None where it is not known."""
    largest = largest_change(facet, comparison.restricted)
    if comparison.of_several_runs:
        return None  # more queries do not replace more runs
    if comparison.queries is None or facet.smallest_margin is None or largest is None:
        return None
    changes, n = changes_of(comparison.queries, facet.name)
    whole = facet.name == "coverage" and comparison.settings.coverage_test == "exact"
    level = comparison.settings.first_step_level
    return queries_for_margin(changes, n, margin, largest, alpha=level, power=power, whole=whole)


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
        Difference over all queries, in ranks; by default what the other two tolerate together as
        margins of `ir_outcomes.gate`.
    power : float
        Chance to detect them.

    Returns
    -------
    Plan
        For each facet the number of queries that detect the difference, the number with which a
        gate excludes as large a harm if the runs are equally good, and 80 % upper bounds, which
        account for what the pilot does not know about the spread. Where a system has several runs,
        these numbers are for these runs, without a gate; with five or more, how many runs, and how
        many queries, halve the interval for new runs (`PlannedFacet.halved`).

    Raises
    ------
    ParameterError
        If an effect or the power is not possible, or the result was stored without its queries.

    References
    ----------
    Sakai 2016, "Topic set size design", for ranking; Connor 1987 for the setting of coverage.

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
    if comparison.queries is None:
        raise ParameterError(
            "this result was stored without its queries; write it with to_json(per_query=True)"
        )
    points = DEFAULTS[0] if coverage is None else coverage
    ranks = DEFAULTS[1] if ranking is None else ranking
    planned = [
        _planned(comparison, comparison.coverage, points, power),
        _planned(comparison, comparison.ranking, ranks, power),
    ]
    defaults = []
    if coverage is None:
        defaults.append(planned[0])
    if ranking is None:
        defaults.append(planned[1])
    restricted = comparison.restricted
    over_all = None
    if restricted is not None:
        effect = all_queries
        if effect is None:
            effect = implied_margin((points, ranks), restricted, comparison.outcomes)
        over_all = _planned(comparison, restricted, effect, power)
        planned.append(over_all)
    return Plan(
        baseline=comparison.baseline,
        contender=comparison.contender,
        n_queries=comparison.n_queries,
        coverage=planned[0],
        ranking=planned[1],
        all_queries=over_all,
        power=power,
        settings=comparison.settings,
        n_runs=comparison.n_runs,
        notes=as_notes(_notes(comparison, planned, defaults)),
    )


def _planned(
    comparison: Comparison, facet: Facet | RestrictedLength, effect: float, power: float
) -> PlannedFacet:
    """Return what one facet needs."""
    level = comparison.settings.first_step_level
    changes, n = changes_of(comparison.queries or (), facet.name)
    test = "t"
    if isinstance(facet, CoverageFacet):
        share = effect / 100
        if facet.won is not None and facet.lost is not None:
            test = "exact"
            needed = queries_for_coverage(
                facet.n, facet.won, facet.lost, share, alpha=level, power=power
            )
        else:
            needed = queries_for_mean(changes / 100, n, share, alpha=level, power=power)
    else:
        needed = queries_for_mean(changes, n, effect, alpha=level, power=power)
    return PlannedFacet(
        name=facet.name,
        measured_in=facet.measured_in,
        effect=effect,
        n=facet.n,
        n_nonzero=facet.n_nonzero,
        smallest_pvalue=smallest_pvalue(facet.n_nonzero),
        test=test,
        needed=needed,
        to_pass=queries_to_pass(comparison, facet, effect, power),
        halved=_halved(comparison, facet),
    )


def _halved(comparison: Comparison, facet: Facet | RestrictedLength) -> Halved | None:
    """Return what halves the interval of a facet for new runs; None where there is none, or nothing varies."""
    if not facet.n_nonzero or facet.interval is None or facet.difference is None:
        return None
    # An end may be cut at the largest possible difference.
    low, high = facet.interval
    half = max(facet.difference - low, high - facet.difference)
    several = [number for number in comparison.n_runs if number > 1]
    if not facet.errors_of_runs or not any((half, *facet.errors_of_runs)):
        return None
    n = comparison.settings.n_clusters or comparison.n_queries
    sides = [
        Side(number, error**2) for number, error in zip(several, facet.errors_of_runs, strict=True)
    ]
    return halved(half, n, sides, 1 - comparison.alpha)


def _notes(
    comparison: Comparison,
    facets: Sequence[PlannedFacet],
    defaults: Sequence[PlannedFacet],
) -> Iterator[str]:
    settings = comparison.settings
    level = settings.first_step_level
    if defaults:
        effects = [
            f"{facet.effect:g} {facet.measured_in}".replace(
                "1 percentage points", "1 percentage point"
            )
            for facet in defaults
        ]
        yield note("default effect", f"{listed(effects)}; give your own.")
    for facet in facets:
        name = facet.name.capitalize()
        differing = plural("query", facet.n_nonzero)
        verb = "differs" if facet.n_nonzero == 1 else "differ"
        above = ""
        if facet.smallest_pvalue > level:
            above = f", which is above the level of {level:.2g}"
        yield (
            f"{name}: with {differing} that {verb} the smallest possible p is"
            f" {facet.smallest_pvalue:.2g}{above}."
        )
        if facet.needed.queries is None:
            reason = (
                "it would take more than a million queries, or all differences of the pilot are"
                " equal"
            )
            if facet.n_nonzero < 2:
                reason = "fewer than two queries differ in it"
            yield f"{name}: no number of queries can be given, because {reason}."
    if settings.n_clusters is not None:
        yield (
            "The numbers count clusters of about"
            f" {comparison.n_queries / settings.n_clusters:.1f} queries each."
        )
    yield (
        "The numbers count answerable queries of the same kind, for runs that differ as much as"
        " these. The upper bound accounts for what the pilot does not know about the spread: plan"
        " with it."
    )
    if comparison.of_several_runs:
        yield (
            "To detect a difference, the numbers are for these runs; for new ones more queries may"
            " not be enough."
        )
        if not comparison.coverage.errors_of_runs:
            yield note(
                "few runs",
                "what halves an interval for new runs is known from"
                f" {LEAST_RUNS} runs on of each system that has several.",
            )
    if settings.family > 1 and settings.correction != "none":
        yield (
            f"Planned at the level {level:.2g}, the first step of the correction over "
            f"{plural('comparison', settings.family)}."
        )
