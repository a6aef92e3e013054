"""Pass or fail for pipelines: whether harm beyond the margins is excluded, shown, or neither."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any, Literal, NamedTuple

from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.comparison.facets import POWER, Facet, excludes_harm, identical, shows_harm, within_margins
from ir_outcomes.comparison.outcomes import Settings, checked_margins
from ir_outcomes.comparison.plan import coverage_changes, ranking_changes
from ir_outcomes.comparison.result import Comparison, Comparisons, QueryOutcome
from ir_outcomes.errors import ParameterError
from ir_outcomes.formatting import listed, plural, pvalue_in_words
from ir_outcomes.reading.files import file_digest
from ir_outcomes.results import Immutable, Result, cells_of, versions
from ir_outcomes.statistics import Interval, QueriesNeeded, queries_for_mean

Status = Literal["pass", "inconclusive", "fail"]
FacetStatus = Literal["harm excluded", "inconclusive", "harm shown"]

EXIT_STATUS: Mapping[Status, int] = {"pass": 0, "inconclusive": 4, "fail": 3}  # from the best status to the worst
MOST_QUERIES = 10  # that are listed for a decision
MAX_MISSING = 0.05


class WithoutResults(NamedTuple):
    """A run that has no results for any answerable query, so that there is no comparison.

    Attributes
    ----------
    contender : str
        The run that was to be decided on.
    reason : str
        Which run has no results, and why.
    """

    contender: str
    reason: str


GateRow = tuple[str | None, Comparison | WithoutResults]  # a collection, or None where there is only one


@dataclass(frozen=True)
class GateFacet(Immutable):
    """One facet against its margin.

    Attributes
    ----------
    name : str
        "coverage" or "ranking".
    measured_in : str
        Unit of the numbers.
    higher_is_better : bool
        Direction of `difference`.
    n : int
        Queries that the facet is measured on.
    difference : float or None
        Contender minus baseline.
    interval : Interval or None
        Its two-sided interval at level 1 - alpha / (number of contenders).
    margin : float
        Largest tolerable harm, positive.
    status : {"harm excluded", "inconclusive", "harm shown"}
        Whether harm beyond the margin is excluded or shown.
    needed : QueriesNeeded or None
        How many queries like these would exclude harm beyond the margin if the two runs were equally good; None where the
        facet is not inconclusive, or the queries are not known.
    """

    name: str
    measured_in: str
    higher_is_better: bool
    n: int
    difference: float | None
    interval: Interval | None
    margin: float
    status: FacetStatus
    needed: QueriesNeeded | None


@dataclass(frozen=True)
class GateDecision(Immutable):
    """The decision on one contender, in one condition.

    Attributes
    ----------
    condition : str or None
        The collection; None where there is only one.
    contender : str
        The run.
    status : {"pass", "inconclusive", "fail"}
        The decision.
    reasons : tuple of str
        Why, in sentences.
    label : str or None
        The label of the comparison; None where the run has no results.
    equivalent : bool
        Whether differences beyond the margins are excluded in both directions.
    n_queries : int
        Answerable queries.
    n_missing : pair of int
        Those without any result, of baseline and contender.
    facets : tuple of GateFacet
        Coverage and ranking; empty where the run has no results.
    all_queries : float or None
        Change of the search length over all queries, in ranks, lower is better; None where it is not known.
    all_queries_p : float or None
        Its p-value, not corrected.
    queries : tuple of QueryOutcome
        Up to ten queries behind the decision, the largest harm of each kind first; empty where the gate passes.
    """

    condition: str | None
    contender: str
    status: Status
    reasons: tuple[str, ...]
    label: str | None
    equivalent: bool
    n_queries: int
    n_missing: tuple[int, int]
    facets: tuple[GateFacet, ...]
    all_queries: float | None
    all_queries_p: float | None
    queries: tuple[QueryOutcome, ...]

    @property
    def name(self) -> str:
        """The contender, and the condition where there are several."""
        return self.contender if self.condition is None else f"{self.contender} on {self.condition}"


@dataclass(frozen=True, repr=False)
class GateResult(Result):
    """The decisions of a gate; the worst one counts.

    Attributes
    ----------
    baseline : str
        The run that the others are compared with.
    decisions : tuple of GateDecision
        One for each contender and condition.
    margins : (float, float)
        Largest tolerable harm: percentage points of coverage, ranks.
    max_missing : float
        Largest tolerable share of answerable queries without results.
    settings : Settings or None
        Of the comparisons; None where no run had results.
    inputs : mapping of str to str
        SHA-256 of each input by its name.
    notes, versions
        See `ir_outcomes.Comparison`.
    """

    baseline: str
    decisions: tuple[GateDecision, ...]
    margins: tuple[float, float]
    max_missing: float
    settings: Settings | None
    inputs: Mapping[str, str]
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    @property
    def status(self) -> Status:
        """The worst of all decisions."""
        return self.worst.status

    @property
    def worst(self) -> GateDecision:
        """The first of the worst decisions."""
        return max(self.decisions, key=lambda decision: list(EXIT_STATUS).index(decision.status))

    @property
    def exit_status(self) -> int:
        """Exit status of the command: 0 pass, 3 fail, 4 inconclusive."""
        return EXIT_STATUS[self.status]

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each decision."""
        return [_row(decision) for decision in self.decisions]

    def _summary(self) -> str:
        return f"{self.status} ({self.worst.name}), {plural('decision', len(self.decisions))} against {self.baseline!r}"


def _row(decision: GateDecision) -> dict[str, Any]:
    row = cells_of(decision, "condition", "contender", "status", "verdict=label", "equivalent", "n_queries")
    row |= {"missing_baseline": decision.n_missing[0], "missing_contender": decision.n_missing[1]}
    for name, facet in zip(("coverage", "ranking"), decision.facets or (None, None), strict=True):
        row |= cells_of(
            facet, "status", "difference", "low=interval.low", "high=interval.high", "margin", "queries=needed.queries",
            "queries_upper=needed.upper", prefix=f"{name}_",
        )  # fmt: skip
    return row | cells_of(decision, "all_queries", "all_queries_p") | {"reasons": " ".join(decision.reasons)}


def gate_of(
    baseline: str,
    rows: Sequence[GateRow],
    settings: Settings | None,
    *,
    margins: tuple[float, float] | None,
    max_missing: float,
    inputs: Mapping[str, str | os.PathLike[str]] | Iterable[str | os.PathLike[str]],
) -> GateResult:
    """Decide on each contender and collection; see `ir_outcomes.gate`."""
    margins = checked_margins(margins) or (None if settings is None else settings.margins)
    if margins is None:
        raise ParameterError(
            "a gate needs margins, the largest harm that you tolerate in percentage points of coverage and in ranks, such as "
            "margins=(1.0, 0.5)"
        )
    if isinstance(max_missing, bool) or not isinstance(max_missing, (int, float)) or not 0 <= max_missing < 1:
        raise ParameterError(
            f"max_missing={max_missing!r}: must be a share of the queries, from 0 to less than 1, such as 0.05"
        )
    paths = dict(inputs) if isinstance(inputs, Mapping) else {os.fsdecode(path): path for path in inputs}
    return GateResult(
        baseline=baseline,
        decisions=tuple(decide_gate(compared, margins, max_missing, condition) for condition, compared in rows),
        margins=margins,
        max_missing=float(max_missing),
        settings=None if settings is None else replace(settings, margins=margins),
        inputs={name: file_digest(path) for name, path in paths.items()},
        notes=() if settings is None else (_note(settings),),
        versions=versions(),
    )


def decide_gate(
    compared: Comparison | WithoutResults, margins: tuple[float, float], max_missing: float, condition: str | None = None
) -> GateDecision:
    """Decide on one contender, on the collection `condition` where there are several."""
    if isinstance(compared, WithoutResults):
        return GateDecision(
            condition, compared.contender, "fail", (compared.reason,), None, False, 0, (0, 0), (), None, None, ()
        )  # fmt: skip
    facets = tuple(
        _facet(compared, facet, changes, margin)
        for facet, changes, margin in zip(
            (compared.coverage, compared.ranking), (coverage_changes, ranking_changes), margins, strict=True
        )
    )
    missing = list(_about_missing(compared, max_missing))
    harms = [_harm_in_words(facet) for facet in facets if facet.status == "harm shown"]
    doubts = [*_about_open_facets(compared, facets), *_about_all_queries(compared)]
    within = within_margins(compared.coverage, compared.ranking, margins)
    status: Status = "fail" if missing or harms else "inconclusive" if doubts else "pass"
    restricted = compared.restricted
    return GateDecision(
        condition=condition,
        contender=compared.contender,
        status=status,
        reasons=(*missing, *harms, *doubts) or (_pass_in_words(within.equivalent, facets),),
        label=compared.verdict.label,
        equivalent=within.equivalent,
        n_queries=compared.n_queries,
        n_missing=compared.n_missing,
        facets=facets,
        all_queries=None if restricted is None else restricted.difference,
        all_queries_p=None if restricted is None else restricted.test.pvalue,
        queries=() if status == "pass" else _behind(compared, facets),
    )


def _facet(compared: Comparison, facet: Facet, changes: Any, margin: float) -> GateFacet:
    status: FacetStatus = "inconclusive"
    if identical(compared.coverage, compared.ranking) or excludes_harm(facet, margin):
        status = "harm excluded"
    elif shows_harm(facet, margin):
        status = "harm shown"
    needed = None
    if status == "inconclusive" and compared.queries is not None:
        level = compared.settings.first_step_level
        needed = queries_for_mean(changes(compared.queries), compared.n_queries, margin, alpha=level, power=POWER)
    return GateFacet(
        name=facet.name,
        measured_in=facet.measured_in,
        higher_is_better=facet.higher_is_better,
        n=facet.n,
        difference=facet.difference,
        interval=facet.margin_interval,
        margin=margin,
        status=status,
        needed=needed,
    )


def _about_missing(compared: Comparison, max_missing: float) -> Iterator[str]:
    for run, n_missing in zip((compared.baseline, compared.contender), compared.n_missing, strict=True):
        if n_missing == compared.n_queries:
            yield f"{run} has no results for any of the {plural('answerable query', n_missing)}."
        elif n_missing > max_missing * compared.n_queries:
            yield (
                f"{run} has no results for {n_missing} of the {compared.n_queries} answerable queries "
                f"({n_missing / compared.n_queries:.1%}); at most {max_missing:.1%} may be missing."
            )


def _harm_in_words(facet: GateFacet) -> str:
    assert facet.interval is not None  # harm is shown by an interval only
    least, most = sorted(abs(end) for end in facet.interval)
    margin = _amount(facet.margin, facet)
    return f"{facet.name.capitalize()}: a loss of more than {margin} is shown; it is between {least:.3g} and {most:.3g}."


def _amount(value: float, facet: GateFacet) -> str:
    unit = facet.measured_in.removesuffix("s") if value == 1 else facet.measured_in
    return f"{value:.3g} {unit}"


def _about_open_facets(compared: Comparison, facets: Sequence[GateFacet]) -> Iterator[str]:
    for facet in facets:
        if facet.status != "inconclusive":
            continue
        name = facet.name.capitalize()
        if facet.interval is None:
            yield f"{name}: {plural('query', facet.n)} can be compared, too few for an interval, so no harm is excluded."
            continue
        worst = -facet.interval.low if facet.higher_is_better else facet.interval.high
        if worst < facet.margin:
            yield f"{name}: all {facet.n} differences are equal, and too few to exclude harm beyond {facet.margin:g}."
            continue
        yield (
            f"{name}: a loss of up to {_amount(worst, facet)} is not excluded, and the margin is {facet.margin:g}."
            f"{_needed_in_words(facet, compared.n_queries)}"
        )


def _needed_in_words(facet: GateFacet, n_queries: int) -> str:
    needed = facet.needed
    if needed is None or needed.queries is None:
        return ""
    if needed.queries <= n_queries:
        return (
            f" With {n_queries} queries such a loss would be excluded with {needed.power:.0%} power if the runs were equally "
            "good; what was seen is less favourable than that."
        )
    bound = "more than a million" if needed.upper is None else str(needed.upper)
    return (
        f" If the runs are equally good, about {needed.queries} queries like these exclude it with {needed.power:.0%} power "
        f"({needed.confidence:.0%} upper bound: {bound}; there are {n_queries})."
    )


def _about_all_queries(compared: Comparison) -> Iterator[str]:
    restricted = compared.restricted
    if restricted is None:
        yield "The search lengths over all queries are not known without a cutoff, so they could not be checked."
        return
    if restricted.test.direction > 0 and restricted.test.pvalue <= compared.alpha:
        yield (
            f"Over all queries the search is significantly longer, by {restricted.difference:.3g} ranks "
            f"({pvalue_in_words(restricted.test.pvalue)}); more queries do not settle this."
        )
    if compared.verdict.guard:
        yield "The search lengths over all queries contradict the two facets (trade-off); more queries do not settle this."


def _pass_in_words(is_equivalent: bool, facets: Sequence[GateFacet]) -> str:
    margins = listed([f"{_amount(facet.margin, facet)} of {facet.name}" for facet in facets])
    if is_equivalent:
        return f"The runs are equivalent within the margins: differences beyond {margins} are excluded in both directions."
    return f"Harm beyond {margins} is excluded."


def _behind(compared: Comparison, facets: Sequence[GateFacet]) -> tuple[QueryOutcome, ...]:
    """Choose the queries with the largest harm, alternating between the facets where harm is not excluded."""
    if compared.queries is None:
        return ()
    coverage, ranking = facets
    # Of the queries where the same share was lost, those come first that the baseline answered best.
    lost = sorted(compared.per_query("lost"), key=lambda query: query.found_contender - query.found_baseline)
    kinds = ((lost[:MOST_QUERIES], coverage), (compared.per_query("worse", MOST_QUERIES), ranking))
    not_excluded = [queries for queries, facet in kinds if facet.status != "harm excluded"]
    alternating = chain.from_iterable(zip_longest(*(not_excluded or (queries for queries, _ in kinds))))
    chosen = dict.fromkeys(query for query in alternating if query is not None)  # a query can be lost in part and worse
    return tuple(chosen)[:MOST_QUERIES]


def _note(settings: Settings) -> str:
    return (
        f"A contender whose true harm on a facet is as large as the margin passes about {settings.first_step_level / 2:.2%} of "
        "the time, or less. A gate that runs again and again on the same queries repeats this test: among many contenders that "
        "should not pass, some will."
    )


def gate(
    compared: Comparison | Comparisons | CollectionsComparison,
    *,
    margins: tuple[float, float] | None = None,
    max_missing: float = MAX_MISSING,
    inputs: Mapping[str, str | os.PathLike[str]] | Iterable[str | os.PathLike[str]] = (),
) -> GateResult:
    """Decide whether runs may take the place of the baseline: pass, fail or inconclusive.

    *pass*: harm beyond the margins is excluded on both facets, the guard did not act, and the search over all queries is not
    significantly longer. *fail*: harm beyond a margin is shown, or a run lacks too many queries. *inconclusive*: neither; "not
    significant" is never a pass.

    Parameters
    ----------
    compared : Comparison, Comparisons or CollectionsComparison
        From `ir_outcomes.compare` or `ir_outcomes.compare_collections`. Each contender and collection is decided on, and the
        worst decision is that of the whole.
    margins : (float, float), optional
        Largest tolerable harm: percentage points of coverage, ranks (or units of the measure that was compared); by default
        those of the comparison.
    max_missing : float
        Largest tolerable share of answerable queries for which a run returned nothing.
    inputs : paths, or mapping from names to paths
        Files whose SHA-256 is kept in the result.

    Returns
    -------
    GateResult
        Its `status` is the decision, its `exit_status` 0, 3 or 4.

    Raises
    ------
    ParameterError
        If there are no margins, no comparisons, or a setting is not possible.
    UnreadableFile
        If an input cannot be read.

    References
    ----------
    Schuirmann 1987 for non-inferiority by an interval; the intervals are those of `ir_outcomes.compare` at level
    1 - alpha / (number of contenders).

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(40)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> iro.gate(iro.compare(qrels, a, b), margins=(10.0, 0.5)).status
    'pass'
    >>> iro.gate(iro.compare(qrels, b, a), margins=(10.0, 0.5)).status
    'fail'
    """
    rows: list[GateRow]
    if isinstance(compared, CollectionsComparison):
        baseline, rows, settings = compared.baseline, collection_rows(compared), compared.settings
    else:
        items = list(compared) if isinstance(compared, Comparisons) else [compared]
        if not items:
            raise ParameterError("there is no comparison to decide on")
        baseline, rows, settings = items[0].baseline, [(None, item) for item in items], items[0].settings
    return gate_of(baseline, rows, settings, margins=margins, max_missing=max_missing, inputs=inputs)


def collection_rows(compared: CollectionsComparison, reasons: Mapping[tuple[str, str], str] | None = None) -> list[GateRow]:
    """List every contender on every collection, those without a comparison too.

    Parameters
    ----------
    compared : CollectionsComparison
        The comparisons.
    reasons : mapping of (collection, run) to str, optional
        Why a run has no results on a collection.
    """
    reasons = reasons or {}
    known = {(row.condition, row.comparison.contender): row.comparison for row in compared.conditions}
    collections = dict.fromkeys([*compared.collections, *(collection for collection, _ in reasons)])
    rows: list[GateRow] = []
    for contender in (overall.contender for overall in compared.overall):
        for collection in collections:
            found = known.get((collection, contender))
            reason = reasons.get((collection, contender)) or reasons.get((collection, compared.baseline))
            lacking = f"{contender} cannot be compared on {collection}: {reason or 'a run is missing there.'}"
            rows.append((collection, found or WithoutResults(contender, lacking)))
    return rows
