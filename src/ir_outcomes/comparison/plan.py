"""How many queries a comparison needs, judged from one that was made."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes.comparison.facets import POWER
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.result import Comparison, QueryOutcome
from ir_outcomes.errors import ParameterError
from ir_outcomes.formatting import listed, plural
from ir_outcomes.results import Immutable, Result, attributes, rows_of
from ir_outcomes.statistics import QueriesNeeded, linearized, queries_for_coverage, queries_for_mean
from ir_outcomes.statistics.corrections import smallest_pvalue
from ir_outcomes.types import Floats

DEFAULTS = (1.0, 0.5)  # percentage points of coverage, ranks
BY_DEFAULT = "By default"  # a note that begins so is shown first


@dataclass(frozen=True)
class PlannedFacet(Immutable):
    """How many queries one facet needs."""

    name: str  #: "coverage" or "ranking"
    measured_in: str  #: unit of `effect`
    effect: float  #: the difference to detect, positive
    n: int  #: queries of the pilot that the facet is measured on
    n_nonzero: int  #: those on which the runs differ
    smallest_pvalue: float  #: that these allow
    test: str  #: that is planned for
    needed: QueriesNeeded  #: all answerable queries counted, with an upper bound; its `effect` is a share for coverage


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """How many queries like those of a pilot each facet needs.

    Attributes
    ----------
    baseline, contender, n_queries
        Of the pilot; see `ir_outcomes.Comparison`.
    coverage, ranking : PlannedFacet
        What each facet needs.
    power : float
        Chance to detect the effects.
    settings : Settings
        Of the pilot; with several contenders the tests are planned at the level of Holm's first step.
    """

    baseline: str
    contender: str
    n_queries: int
    coverage: PlannedFacet
    ranking: PlannedFacet
    power: float
    settings: Settings

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each facet."""
        columns = (
            *attributes("facet=name", "measured_in", "effect", "n", "n_nonzero", "smallest_pvalue", "test"),
            *attributes("queries=needed.queries", "queries_upper=needed.upper", "power=needed.power"),
            *attributes("alpha=needed.alpha", "confidence=needed.confidence"),
        )
        return rows_of(columns, (self.coverage, self.ranking))


def changes_of(queries: Sequence[QueryOutcome], what: str) -> tuple[Floats, int]:
    """Return the changes in coverage (percentage points), ranking or all queries, and of how many queries, or clusters."""
    change_of: Callable[[QueryOutcome], float | None] = {
        "coverage": lambda query: 100 * (query.found_contender - query.found_baseline),
        "ranking": lambda query: query.difference,
        "all queries": lambda query: query.restricted,
    }[what]
    changes = [(change, query.cluster) for query in queries if (change := change_of(query)) is not None]
    values = np.array([change for change, _ in changes], dtype=np.float64)
    if not queries or queries[0].cluster is None:
        return values, len(queries)
    return linearized(values, np.array([cluster for _, cluster in changes])), len({query.cluster for query in queries})


def plan(comparison: Comparison, coverage: float | None = None, ranking: float | None = None, *, power: float = POWER) -> Plan:
    """Compute how many queries like those of a comparison would detect the effects that matter.

    The effects are those that you care about, not those that were observed: the power of a finished test to detect what it
    observed says no more than its p-value.

    Parameters
    ----------
    comparison : Comparison
        The pilot: the same kind of queries and of runs.
    coverage, ranking : float, optional
        Differences to detect, in either direction: percentage points, by default 1, and ranks (or the unit of the measure that
        was compared), by default 0.5.
    power : float
        Chance to detect them.

    Returns
    -------
    Plan
        For each facet a number of queries and an 80 % upper bound, which accounts for what the pilot does not know about the
        spread.

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
    if comparison.queries is None:
        raise ParameterError("this result was stored without its queries; write it with to_json(per_query=True)")
    level, facet = comparison.settings.first_step_level, comparison.coverage
    points, ranks = DEFAULTS[0] if coverage is None else coverage, DEFAULTS[1] if ranking is None else ranking
    if facet.won is not None and facet.lost is not None:
        for_coverage = queries_for_coverage(facet.n, facet.won, facet.lost, points / 100, alpha=level, power=power)
    else:
        changes, n = changes_of(comparison.queries, "coverage")
        for_coverage = queries_for_mean(changes / 100, n, points / 100, alpha=level, power=power)
    for_ranking = queries_for_mean(*changes_of(comparison.queries, "ranking"), ranks, alpha=level, power=power)
    planned = []
    for measured, effect, needed in ((facet, points, for_coverage), (comparison.ranking, ranks, for_ranking)):
        test, smallest = "exact" if measured.test == "exact" else "t", smallest_pvalue(measured.n_nonzero)
        about = measured.name, measured.measured_in, abs(effect), measured.n, measured.n_nonzero
        planned.append(PlannedFacet(*about, smallest, test, needed))
    defaults = [facet for facet, effect in zip(planned, (coverage, ranking), strict=True) if effect is None]
    return Plan(
        baseline=comparison.baseline,
        contender=comparison.contender,
        n_queries=comparison.n_queries,
        coverage=planned[0],
        ranking=planned[1],
        power=power,
        settings=comparison.settings,
        notes=tuple(_notes(comparison, planned, defaults, level)),
    )


def _notes(
    comparison: Comparison, facets: Sequence[PlannedFacet], defaults: Sequence[PlannedFacet], level: float
) -> Iterator[str]:
    if defaults:
        effects = [
            f"{facet.effect:g} {facet.measured_in}".replace("1 percentage points", "1 percentage point") for facet in defaults
        ]
        what = "difference to detect is" if len(effects) == 1 else "differences to detect are"
        yield f"{BY_DEFAULT} the {what} {listed(effects)}; give your own."
    for facet in facets:
        name, differing = facet.name.capitalize(), plural("query", facet.n_nonzero)
        verb = "differs" if facet.n_nonzero == 1 else "differ"
        above = "" if facet.smallest_pvalue <= level else f", which is above the level of {level:.2g}"
        yield f"{name}: with {differing} that {verb} the smallest possible p is {facet.smallest_pvalue:.2g}{above}."
        if facet.needed.queries is None:
            reason = (
                "fewer than two queries differ in it"
                if facet.n_nonzero < 2
                else "it would take more than a million queries, or all differences of the pilot are equal"
            )
            yield f"{name}: no number of queries can be given, because {reason}."
    if comparison.settings.n_clusters is not None:
        yield f"The numbers count clusters of about {comparison.n_queries / comparison.settings.n_clusters:.1f} queries each."
    yield (
        "The numbers count answerable queries of the same kind, for runs that differ as much as these. The upper bound "
        "accounts for what the pilot does not know about the spread: plan with it."
    )
    if comparison.settings.family > 1 and comparison.settings.correction != "none":
        yield (
            f"Planned at the level {level:.2g}, the first step of the correction over "
            f"{plural('comparison', comparison.settings.family)}."
        )
