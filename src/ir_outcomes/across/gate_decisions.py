"""The decision of a gate on one contender: what its margins exclude or show, and why, in sentences."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal

from ir_outcomes.comparison.facets import MeasureMeans
from ir_outcomes.comparison.margins import (
    Against,
    against_margins,
    check_can_be_exceeded,
    check_range,
    within_margins,
)
from ir_outcomes.comparison.plan import queries_to_pass
from ir_outcomes.comparison.result import Comparison, QueryOutcome
from ir_outcomes.comparison.wording import missing_of_runs
from ir_outcomes.formatting import listed, percent, unit_behind
from ir_outcomes.notes import Note, note
from ir_outcomes.results import OPTIONAL, Immutable
from ir_outcomes.statistics import Interval, QueriesNeeded
from ir_outcomes.statistics.intervals import HarmStatus
from ir_outcomes.types import DOCUMENTS_ABOVE, RANKS

Status = Literal["pass", "inconclusive", "fail"]

MOST_QUERIES = 10  # that are listed for a decision
# Kinds of notes, in the order in which they are shown.
FIRST_NOTES = (
    "identical",
    "scores against ranks",
    "judged unequally",
    "other cutoffs",
    "within margins",
    "opposite mean",
)
# Kinds of notes whose subject the decision states already.
SAID_BY_THE_GATE = (
    "missing",
    "many missing",
    "few queries",
    "few differences",
)


@dataclass(frozen=True)
class GateFacet(Immutable):
    """One facet, or all queries, against its margin."""

    name: str  #: "coverage", "ranking" or "all queries"
    measured_in: str  #: unit of the numbers
    higher_is_better: bool  #: direction of the difference
    n: int  #: queries that it is measured on
    difference: float | None  #: contender minus baseline
    #: the interval for margins, two-sided, at level 1 - alpha / (number of contenders); None where
    #: nothing can be compared, or the runs are identical
    interval: Interval | None
    #: what runs as good as each other could pass with so many queries; None where nothing can be
    #: compared
    smallest_margin: float | None
    margin: float  #: largest tolerable harm, positive
    status: HarmStatus  #: whether harm beyond the margin is excluded or shown
    #: how many queries like these, or clusters of them, would exclude harm beyond the margin if the
    #: two runs were equally good; None where it is not inconclusive, or the queries are not known
    needed: QueriesNeeded | None


@dataclass(frozen=True)
class GateDecision(Immutable):
    """The decision on one contender, in one condition, against one baseline."""

    contender: str  #: the run
    condition: str | None  #: the collection; None where there is only one
    reference: str | None  #: the second baseline, where this decision is against it
    status: Status  #: the decision
    reasons: tuple[str, ...]  #: why, in sentences
    label: str | None = None  #: of the comparison; None where there is no comparison
    #: whether differences beyond the margins are excluded in both directions
    equivalent: bool = False
    n_queries: int = 0  #: answerable queries
    n_missing: tuple[int, int] = (0, 0)  #: those without any result, of baseline and contender
    #: whether both runs have the same documents in the same order for every query
    identical: bool = False
    #: coverage, ranking, and all queries where they are known; empty without a comparison
    facets: tuple[GateFacet, ...] = ()
    #: up to ten queries with the most harm on the facets that failed, else on those that are not
    #: settled: of several facets in turn; empty where the gate passes
    queries: tuple[QueryOutcome, ...] = ()
    harms: tuple[str, ...] = ()  #: of each of these queries, what was lost
    notes: tuple[Note, ...] = ()  #: what changes how the decision is read, the most important first
    #: of the comparison: those that were asked for, which decide nothing
    measures: tuple[MeasureMeans, ...] = ()
    #: what was decided on, for the report page; JSON has it with ``per_query=True`` only
    comparison: Comparison | None = field(default=None, compare=False, metadata=OPTIONAL)

    @property
    def name(self) -> str:
        """The contender, with the second baseline where it is against that, and the condition where there are several."""
        name = self.contender
        if self.reference is not None:
            name += f" against {self.reference}"
        if self.condition is not None:
            name += f" on {self.condition}"
        return name


def decide(
    compared: Comparison,
    condition: str | None,
    reference: str | None,
    margins: Sequence[float],
    max_missing: float,
) -> GateDecision:
    """Decide on one contender against one baseline."""
    if compared.restricted is None and compared.ranking.measured_in != RANKS and compared.ranking.n:
        check_range(compared.ranking.measured_in, compared.ranking.smallest_margin)
    found = against_margins(compared, margins)
    failures = list(_failures(compared, max_missing))
    if not failures:
        check_can_be_exceeded(compared, found, margins)
    facets = tuple(_facet(compared, against) for against in found)
    failures += [
        _harm_in_words(facet, compared) for facet in facets if facet.status == "harm shown"
    ]
    doubts = [_harm_in_words(facet, compared) for facet in facets if facet.status == "inconclusive"]
    if compared.restricted is None and not compared.identical:
        doubts.append(
            "The search lengths over all queries are not known without a cutoff, so they could not"
            " be checked."
        )
    is_equivalent = within_margins(compared, found).equivalent
    status: Status = "pass"
    reasons = [*failures, *doubts]
    harms: dict[QueryOutcome, str] = {}
    if reasons:
        status = "fail" if failures else "inconclusive"
        harms = _behind(compared, facets)
    else:
        reasons = [_pass_in_words(compared, is_equivalent, facets)]
    return GateDecision(
        contender=compared.contender,
        condition=condition,
        reference=reference,
        status=status,
        reasons=(f"{_of_which_runs(compared)}{reasons[0]}", *reasons[1:]),
        label=compared.verdict.label,
        equivalent=is_equivalent,
        n_queries=compared.n_queries,
        n_missing=compared.n_missing,
        identical=compared.identical,
        facets=facets,
        queries=tuple(harms),
        harms=tuple(harms.values()),
        notes=_notes_of(compared, status),
        measures=compared.measures,
        comparison=compared,
    )


def _notes_of(compared: Comparison, status: Status) -> tuple[Note, ...]:
    """Return the notes of a comparison that change how a decision is read, those that can make it wrong first."""
    notes = [known for known in compared.notes if known.kind not in SAID_BY_THE_GATE]
    worse = [f"{at.label} at {at.cutoff}" for at in compared.cutoffs if at.direction == "worse"]
    if status == "pass" and worse and not any(known.kind == "other cutoffs" for known in notes):
        notes.append(note("within margins", f"{listed(worse)}."))
    # All other kinds have the same place, behind the first ones.
    return tuple(sorted(notes, key=lambda known: (*FIRST_NOTES, known.kind).index(known.kind)))


def _facet(compared: Comparison, against: Against) -> GateFacet:
    """Add to one facet against its margin how many queries would settle it."""
    facet = against.facet
    needed = None
    if against.status == "inconclusive":
        needed = queries_to_pass(compared, facet, against.margin)
    interval = facet.margin_interval
    if compared.identical:
        interval = None
    return GateFacet(
        name=facet.name,
        measured_in=facet.measured_in,
        higher_is_better=facet.higher_is_better,
        n=facet.n,
        difference=facet.difference,
        interval=interval,
        smallest_margin=facet.smallest_margin,
        margin=against.margin,
        status=against.status,
        needed=needed,
    )


def _behind(compared: Comparison, facets: Sequence[GateFacet]) -> dict[QueryOutcome, str]:
    """Choose the queries with the most harm, of the facets behind a decision in turn, and say what was lost on each."""
    if compared.queries is None:
        return {}
    longer = [query for query in compared.queries if (query.restricted or 0) > 0]
    kinds = {
        # Of the queries where the same share was lost, those come first that the baseline answered
        # best.
        "coverage": sorted(
            compared.per_query("lost"),
            key=lambda query: query.found_contender - query.found_baseline,
        ),
        "ranking": compared.per_query("worse"),
        "all queries": sorted(longer, key=lambda query: -(query.restricted or 0)),
    }
    named = _facets_behind(facets)
    chosen: dict[QueryOutcome, str] = {}
    for of_place in zip_longest(*(kinds[name] for name in named)):
        for name, query in zip(named, of_place, strict=True):
            if query is not None and query not in chosen and len(chosen) < MOST_QUERIES:
                chosen[query] = _loss_in_words(query, name, compared)
    return chosen


def _facets_behind(facets: Sequence[GateFacet]) -> list[str]:
    """Name the facets that failed, else those that are not settled, else all of them."""
    shown = [facet.name for facet in facets if facet.status == "harm shown"]
    not_settled = [facet.name for facet in facets if facet.status == "inconclusive"]
    return shown or not_settled or [facet.name for facet in facets]


def most_harm_in_words(decision: GateDecision) -> str:
    """Say on which facets the queries of a decision have the most harm."""
    named = _facets_behind(decision.facets)
    words = []
    for name in named:
        preposition = "over" if name == "all queries" else "on"
        words.append(f"{preposition} {name}")
    if len(words) == 1:
        return f"most harm {words[0]}"
    return f"most harm {listed(words)}, in turn"


def _of_which_runs(compared: Comparison) -> str:
    """Say which runs a decision is about, where a system has several."""
    if not compared.of_several_runs:
        return ""
    new = "About these runs only"
    if compared.coverage.new_runs:
        new = "About new runs, too"
    several = [f"{n_runs} of {name}" for name, n_runs in compared.systems if n_runs > 1]
    return f"{new} ({listed(several)}). "


def _failures(compared: Comparison, max_missing: float) -> Iterator[str]:
    """Say which of the two runs cannot be used: it lacks too many queries, or finds nothing."""
    n = compared.n_queries
    systems = (compared.baseline, compared.contender)
    finds_nothing = []
    lacking = missing_of_runs(compared, systems)
    for (run, missing), coverage in zip(lacking, _least_coverage(compared), strict=True):
        if missing > max_missing * n:
            yield (
                f"{run} has no results for {missing} of the {n} answerable queries"
                f" ({percent(missing / n)} %); at most {percent(max_missing)} % may be missing."
            )
        elif not coverage:
            finds_nothing.append(run)
    if finds_nothing:
        verb = "has"
        whose = "its"
        if len(finds_nothing) > 1:
            verb = "have"
            whose = "their"
        where = ""
        if compared.cutoff is not None:
            where = f" within the first {compared.cutoff}"
        yield (
            f"{listed(finds_nothing)} {verb} no relevant document{where}, for any query: are"
            f" {whose} ids those of the qrels?"
        )


def _least_coverage(compared: Comparison) -> Iterable[float]:
    """Return the coverage of both runs; of a system with several that of the run with the least."""
    of_a = compared.coverage.baseline or 0.0
    of_b = compared.coverage.contender or 0.0
    least = {compared.baseline: of_a, compared.contender: of_b}
    for run in compared.runs:
        # The difference of a run of B from the mean of A, or of the mean of B from a run of A.
        change = run.coverage or 0.0
        own = of_a + change if run.system == compared.contender else of_b - change
        least[run.system] = min(least[run.system], round(own, 9))
    return least.values()


def _harm_in_words(facet: GateFacet, compared: Comparison) -> str:
    """Say what harm the interval shows or does not exclude, and how many queries, or clusters, would exclude it."""
    name = facet.name.capitalize()
    if facet.interval is None:
        reason = "on no query did both runs find something, so nothing can be compared, and no"
        if facet.n:
            reason = "without a cutoff the largest possible loss is not known, so no"
        return f"{name}: {reason} harm is excluded."
    least, most = facet.interval
    if facet.higher_is_better:
        least = -facet.interval.high
        most = -facet.interval.low
    if facet.status == "harm shown":
        margin = _in_unit(facet.margin, facet.measured_in)
        return (
            f"{name}: a loss of more than {margin} is shown; it is between {least:.3g} and"
            f" {most:.3g}."
        )
    if most < facet.margin:
        return (
            f"{name}: all {facet.n} differences are equal, and too few to exclude harm beyond"
            f" {facet.margin:.3g}."
        )
    text = (
        f"{name}: a loss of up to {_in_unit(most, facet.measured_in)} is not excluded, and the"
        f" margin is {facet.margin:.3g}."
    )
    needed = facet.needed
    if needed is None or needed.queries is None:
        return text
    there_are = compared.n_queries
    units = "queries"
    if compared.settings.n_clusters is not None:
        there_are = compared.settings.n_clusters
        units = "clusters of queries"
    power = f"with {percent(needed.power, 0)} % power"
    if needed.queries <= there_are:
        return (
            f"{text} With {there_are} {units} a loss beyond the margin would be excluded {power} if"
            " the runs were equally good; what was seen is less favorable than that."
        )
    bound = "not known" if needed.upper is None else str(needed.upper)
    return (
        f"{text} If the runs are equally good, about {needed.queries} {units} like these exclude a"
        f" loss beyond the margin {power} ({percent(needed.confidence, 0)} % upper bound: {bound};"
        f" there are {there_are})."
    )


def _in_unit(value: float, unit: str) -> str:
    """Write a value with its unit."""
    return f"{value:.3g} {unit_behind(value, unit)}"


def _pass_in_words(compared: Comparison, is_equivalent: bool, facets: Sequence[GateFacet]) -> str:
    """Say what is excluded where a contender passes."""
    if compared.identical:
        return (
            f"{compared.contender} is identical to {compared.baseline}, so no query can have been"
            " harmed."
        )
    margins = []
    for facet in facets:
        preposition = "over" if facet.name == "all queries" else "of"
        margin = _in_unit(facet.margin, facet.measured_in)
        margins.append(f"{margin} {preposition} {facet.name}")
    if is_equivalent:
        return (
            f"The runs are equivalent within the margins: differences beyond {listed(margins)} are"
            " excluded in both directions."
        )
    return f"Harm beyond {listed(margins)} is excluded."


def _loss_in_words(query: QueryOutcome, facet: str, compared: Comparison) -> str:
    """Say what a query lost on a facet."""
    baseline = compared.baseline
    contender = compared.contender
    of_ranks = compared.ranking.measured_in == RANKS
    all_lost = query.found_baseline == 1 and query.found_contender == 0
    if all_lost and facet != "ranking":
        place = f" at {_number(query.baseline)}" if of_ranks else ""
        return f"found by {baseline}{place}, not by {contender}"
    if facet == "coverage":
        return f"{100 * query.found_baseline:.3g} % found, now {100 * query.found_contender:.3g} %"
    if facet == "all queries":
        unit = RANKS
        if compared.restricted is not None:
            unit = compared.restricted.measured_in
        return _in_unit(query.restricted or 0, f"more {unit}")
    if of_ranks:
        return f"ranked {_number(query.baseline)}, now {_number(query.contender)}"
    if compared.ranking.measured_in == DOCUMENTS_ABOVE and query.baseline and query.contender:
        # A search length is one more than the documents above.
        above = _in_unit(query.baseline - 1, DOCUMENTS_ABOVE)
        return f"{above}, now {_number(query.contender - 1)}"
    measure = compared.ranking.measured_in
    return f"{measure} {_number(query.baseline)}, now {_number(query.contender)}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
