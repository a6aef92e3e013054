"""Pass or fail for pipelines: whether harm beyond the margins is excluded, shown, or neither."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product, zip_longest
from typing import Any, Literal, NamedTuple

from ir_outcomes.across.result import ConditionsComparison
from ir_outcomes.comparison.facets import MeasureMeans
from ir_outcomes.comparison.margins import (
    Against,
    against_margins,
    check_can_be_exceeded,
    check_range,
    within_margins,
)
from ir_outcomes.comparison.outcomes import Settings, checked_margins
from ir_outcomes.comparison.plan import queries_to_pass
from ir_outcomes.comparison.result import Comparison, Comparisons, QueryOutcome, measure_columns
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import MANY_MISSING
from ir_outcomes.formatting import listed, percent
from ir_outcomes.notes import Note, as_notes, note
from ir_outcomes.reading.files import file_digest
from ir_outcomes.results import (
    OPTIONAL,
    Column,
    HasPage,
    Immutable,
    Result,
    attributes,
    of_part,
    rows_of,
)
from ir_outcomes.statistics import Interval, QueriesNeeded
from ir_outcomes.statistics.intervals import HarmStatus
from ir_outcomes.types import DOCUMENTS_ABOVE, RANKS, check_kind

Status = Literal["pass", "inconclusive", "fail"]

# From the best status to the worst.
EXIT_STATUS: Mapping[Status, int] = {
    "pass": 0,
    "inconclusive": 4,
    "fail": 3,
}
MOST_QUERIES = 10  # that are listed for a decision
# Kinds of notes, in the order in which they are shown.
FIRST_NOTES = (
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
    #: nothing can be compared
    interval: Interval | None
    #: what runs as good as each other could pass with so many queries; None as above
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
    facets: tuple[
        GateFacet, ...
    ] = ()  #: coverage, ranking, and all queries where they are known; empty without a comparison
    #: up to ten queries with the largest harm, of the facets that failed, else of those that are
    #: not settled; empty where the gate passes
    queries: tuple[QueryOutcome, ...] = ()
    harms: tuple[str, ...] = ()  #: of each of these queries, what was lost
    notes: tuple[Note, ...] = ()  #: what changes how the decision is read, the most important first
    measures: tuple[
        MeasureMeans, ...
    ] = ()  #: of the comparison: those that were asked for, which decide nothing
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


def _facet_columns(place: int, name: str) -> tuple[Column, ...]:
    columns = attributes(
        "status",
        "difference",
        "low=interval.low",
        "high=interval.high",
        "margin",
        "queries=needed.queries",
        "queries_upper=needed.upper",
    )
    return of_part(
        lambda decision: decision.facets[place] if place < len(decision.facets) else None,
        columns,
        f"{name}_",
    )


_COLUMNS = (
    *attributes(
        "condition",
        "contender",
        "baseline=reference",
        "status",
        "verdict=label",
        "equivalent",
        "identical",
        "n_queries",
    ),
    Column("missing_baseline", lambda decision: decision.n_missing[0]),
    Column("missing_contender", lambda decision: decision.n_missing[1]),
    *_facet_columns(0, "coverage"),
    *_facet_columns(1, "ranking"),
    *_facet_columns(2, "all_queries"),
    Column("reasons", lambda decision: " ".join(decision.reasons)),
)


@dataclass(frozen=True, repr=False)
class GateResult(HasPage, Result):
    """The decisions of a gate; the worst one counts.

    Attributes
    ----------
    baseline : str
        The run that the others are compared with.
    reference : str or None
        The second baseline, such as the last release.
    decisions : tuple of GateDecision
        One for each contender and condition, against the baseline and then against the reference.
    margins : tuple of float
        Largest tolerable harm: percentage points of coverage, ranks, and where it was given ranks
        over all queries.
    smallest_margins : tuple of float
        Margins of coverage, ranking and all queries that so many queries would pass if none
        differed, in every decision; None where they are not known.
    max_missing : float
        Largest tolerable share of answerable queries without results.
    settings : Settings
        Of the comparisons; the cutoff is None where collections have their own.
    inputs : mapping of str to str
        SHA-256 of each input by its name.
    """

    baseline: str
    reference: str | None
    decisions: tuple[GateDecision, ...]
    margins: tuple[float, ...]
    smallest_margins: tuple[float | None, ...]
    max_missing: float
    settings: Settings
    inputs: Mapping[str, str]

    @property
    def status(self) -> Status:
        """The worst of all decisions."""
        return self.worst.status

    @property
    def worst(self) -> GateDecision:
        """The first of the worst decisions."""
        return self.worst_first[0]

    @property
    def worst_first(self) -> list[GateDecision]:
        """All decisions, in the order in which they are shown."""
        order = list(EXIT_STATUS)
        return sorted(self.decisions, key=lambda decision: -order.index(decision.status))

    @property
    def exit_status(self) -> int:
        """Exit status of the command: 0 pass, 3 fail, 4 inconclusive."""
        return EXIT_STATUS[self.status]

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each decision."""
        # None where a run is missing.
        measures = max((decision.measures for decision in self.decisions), key=len)
        rows = rows_of((*_COLUMNS, *measure_columns(measures)), self.decisions)
        return [row | {"baseline": row["baseline"] or self.baseline} for row in rows]


Compared = Comparison | Comparisons | ConditionsComparison
Place = tuple[str, str | None]  # a run, and a collection or None where there is only one


class _Side(NamedTuple):
    """What is decided on against one baseline."""

    baseline: str
    settings: Settings
    compared: Mapping[Place, Comparison]  # of each contender
    missing: Sequence[Place]

    @property
    def contenders(self) -> list[str]:
        return list(
            dict.fromkeys(run for run, _ in (*self.compared, *self.missing) if run != self.baseline)
        )

    def runs_at(self, place: str | None) -> set[str]:
        """Return the runs that are known to be in a collection; with a single comparison, that were compared."""
        lacking = {run for run, name in self.missing if name == place}
        compared = {run for run, name in self.compared if name == place}
        known = bool(lacking or compared)  # otherwise nothing of this collection was evaluated
        if known:
            return {self.baseline, *compared, *self.contenders} - lacking
        return set()


def _side_of(compared: Compared) -> _Side:
    if isinstance(compared, ConditionsComparison):
        if compared.what != "collection":
            raise ParameterError(
                f"a gate decides on one collection or several, not on {compared.what}s"
            )
        known: dict[Place, Comparison] = {
            (row.comparison.contender, row.condition): row.comparison for row in compared.conditions
        }
        return _Side(compared.baseline, compared.settings, known, compared.missing)
    check_kind(
        "compared",
        compared,
        (Comparison, Comparisons),
        "what ir_outcomes.compare or compare_collections returns",
    )
    if isinstance(compared, Comparisons):
        found = list(compared)
    else:
        found = [compared]
    return _Side(
        found[0].baseline, found[0].settings, {(item.contender, None): item for item in found}, ()
    )


def gate(
    compared: Compared,
    *,
    reference: Compared | None = None,
    margins: tuple[float, ...] | None = None,
    max_missing: float = MANY_MISSING,
    allow_missing: Collection[str] = (),
    contenders: Sequence[str] | None = None,
    collections: Sequence[str] = (),
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> GateResult:
    """Decide whether runs may take the place of the baseline: pass, fail or inconclusive.

    *pass*: harm beyond the margins is excluded on both facets and over all queries. *fail*: harm
    beyond a margin is shown, a run lacks too many queries, or it is missing in a collection.
    *inconclusive*: neither. The exit status is 0, 3 or 4.

    Parameters
    ----------
    compared : Comparison, Comparisons or ConditionsComparison
        Each contender and collection is decided on, and the worst decision is that of the whole.
    reference : the same, optional
        The same contenders against a second baseline, such as the last release; both must pass.
    margins : (float, float) or (float, float, float), optional
        Largest tolerable harm: percentage points of coverage, ranks (or units of the measure that
        was compared), ranks over all queries. By default those of the comparison.
    max_missing : float
        Largest tolerable share of answerable queries for which a run returned nothing.
    allow_missing : collection of str
        Runs that a collection may lack, as ``"run@collection"``; without a comparison there is no
        decision.
    contenders : sequence of str, optional
        Names of the runs to decide on, which must be there: one that was not compared fails. By
        default all that were.
    collections : sequence of str
        Names of collections that must be there, too: where nothing was compared every contender
        fails.
    inputs : iterable of path
        Files whose SHA-256 is kept in the result.

    Raises
    ------
    ParameterError
        If there are no margins, the reference has other contenders, or a setting is not possible.
    UnreadableFile
        If an input cannot be read.

    References
    ----------
    Schuirmann 1987 for non-inferiority by an interval; the intervals are those of
    `ir_outcomes.compare` at level 1 - alpha / (number of contenders).

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(40)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> iro.gate(iro.compare(qrels, a, b), margins=(10.0, 0.5)).status
    'pass'
    """
    first = _side_of(compared)
    others = [] if reference is None else [_side_of(reference)]
    sides = [first, *others]
    margins = checked_margins(margins) or first.settings.margins
    if margins is None:
        raise ParameterError(
            "a gate needs margins, the largest harm that you tolerate in percentage points of"
            " coverage and in ranks, such as `margins=(1.0, 0.5)`"
        )
    if not 0 <= max_missing < 1:
        raise ParameterError(
            "must be a share of the queries, from 0 to less than 1, such as 0.05",
            max_missing=max_missing,
        )
    if len({frozenset(side.contenders) for side in sides}) > 1:
        raise ParameterError(
            "the reference must be compared with the same contenders as the baseline"
        )
    if contenders is None:
        wanted = first.contenders
    else:
        wanted = list(dict.fromkeys(contenders))
    if not wanted:
        raise ParameterError("there is no contender; name a run other than the baseline")
    places: list[str | None] = list(collections)
    places += [name for side in sides for _, name in (*side.compared, *side.missing)]
    places = list(dict.fromkeys(places))
    runs = [*(side.baseline for side in sides), *wanted]
    known = [f"{run}@{name}" for run in runs for name in places if name is not None]
    if unknown := [name for name in allow_missing if name not in known]:
        expected = "there are no collections"
        if known:
            expected = f"they are {listed(known[:10])}"
        raise ParameterError(f"allow_missing: {unknown[0]!r} is no run@collection; {expected}")
    decisions = []
    for side in sides:
        against = None if side is first else side.baseline
        for contender, place in product(wanted, places):
            found = side.compared.get((contender, place))
            if found is not None:
                decisions.append(_decide(found, place, against, margins, max_missing))
                continue
            there = side.runs_at(place)
            lacking = [run for run in (side.baseline, contender) if run not in there] or [contender]
            if not {f"{run}@{place}" for run in lacking} <= {*allow_missing}:
                verb = "is" if len(lacking) == 1 else "are"
                where = "" if place is None else f" on {place}"
                reason = f"{listed(lacking)} {verb} missing{where}, so nothing can be compared."
                decisions.append(GateDecision(contender, place, against, "fail", (reason,)))
    if not decisions:
        raise ParameterError(
            "allow_missing leaves nothing to decide on; let at least one collection have every run"
        )
    tolerated = percent(first.settings.first_step_level / 2, 2)
    return GateResult(
        baseline=first.baseline,
        reference=others[0].baseline if others else None,
        decisions=tuple(decisions),
        margins=margins,
        smallest_margins=_smallest_margins(decisions),
        max_missing=float(max_missing),
        settings=replace(first.settings, margins=margins),
        inputs={os.fsdecode(path): file_digest(path) for path in inputs},
        notes=as_notes(
            [
                (
                    f"A contender whose true harm is exactly a margin nominally passes {tolerated}"
                    " % of the time. Drawn from real and constructed runs, 2.5 % was at most 4.7"
                    " %. A gate that runs again and again on the same queries repeats this: among"
                    " many contenders that should not pass, some will."
                ),
            ]
        ),
    )


def _smallest_margins(decisions: Sequence[GateDecision]) -> tuple[float | None, ...]:
    """Return for coverage, ranking and all queries the margin that passes in every decision if no query differs."""
    facets = [facet for decision in decisions for facet in decision.facets]
    smallest: list[float | None] = []
    for name in ("coverage", "ranking", "all queries"):
        margins = [facet.smallest_margin for facet in facets if facet.name == name]
        known = [margin for margin in margins if margin is not None]
        smallest.append(max(known) if known and known == margins else None)
    return tuple(smallest)


def _decide(
    compared: Comparison,
    condition: str | None,
    reference: str | None,
    margins: Sequence[float],
    max_missing: float,
) -> GateDecision:
    if compared.restricted is None and compared.ranking.measured_in != RANKS and compared.ranking.n:
        check_range(compared.ranking.measured_in, compared.ranking.smallest_margin)
    found = against_margins(compared, margins)
    facets = tuple(_facet(compared, against) for against in found)
    failures = [*_failures(compared, max_missing)]
    if not failures:
        check_can_be_exceeded(compared, found, margins)
    failures += [_about(facet, compared) for facet in facets if facet.status == "harm shown"]
    doubts = [_about(facet, compared) for facet in facets if facet.status == "inconclusive"]
    if compared.restricted is None and not compared.identical:
        doubts.append(
            "The search lengths over all queries are not known without a cutoff, so they could not"
            " be checked."
        )
    status: Status = "pass"
    if failures:
        status = "fail"
    elif doubts:
        status = "inconclusive"
    is_equivalent = within_margins(compared, found).equivalent
    harms = {} if status == "pass" else _behind(compared, facets)
    return GateDecision(
        **rows_of(
            attributes("contender", "label=verdict.label", "n_queries", "n_missing", "identical"),
            [compared],
        )[0],
        condition=condition,
        reference=reference,
        status=status,
        reasons=_of_runs(
            compared,
            (*failures, *doubts) or (_pass_in_words(compared, is_equivalent, facets),),
        ),
        equivalent=is_equivalent,
        facets=facets,
        queries=tuple(harms),
        harms=tuple(harms.values()),
        notes=_notes_of(compared, status),
        measures=compared.measures,
        comparison=compared,
    )


def _of_runs(compared: Comparison, reasons: tuple[str, ...]) -> tuple[str, ...]:
    """Say first which runs a decision is about, where a system has several."""
    if not compared.of_several_runs:
        return reasons
    new = "About these runs only"
    if compared.coverage.new_runs:
        new = "About new runs, too"
    systems = (compared.baseline, compared.contender)
    several = []
    for name, n_runs in zip(systems, compared.n_runs, strict=True):
        if n_runs > 1:
            several.append(f"{n_runs} of {name}")
    return (f"{new} ({listed(several)}). {reasons[0]}", *reasons[1:])


def _notes_of(compared: Comparison, status: Status) -> tuple[Note, ...]:
    """Return the notes of a comparison that change how a decision is read, those that can make it wrong first."""
    notes = [known for known in compared.notes if known.kind not in SAID_BY_THE_GATE]
    worse = [f"{at.label} at {at.cutoff}" for at in compared.cutoffs if at.direction == "worse"]
    if status == "pass" and worse and not any(known.kind == "other cutoffs" for known in notes):
        notes.append(note("within margins", f"{listed(worse)}."))
    # All other kinds have the same place, behind the first ones.
    return tuple(sorted(notes, key=lambda known: (*FIRST_NOTES, known.kind).index(known.kind)))


def _failures(compared: Comparison, max_missing: float) -> Iterator[str]:
    """Say which of the two runs cannot be used: it lacks too many queries, or finds nothing."""
    n = compared.n_queries
    runs = []
    systems = (compared.baseline, compared.contender)
    for name, n_runs in zip(systems, compared.n_runs, strict=True):
        runs.append(name if n_runs == 1 else f"a run of {name}")
    too_many = [missing > max_missing * n for missing in compared.n_missing]
    for run, missing, is_too_many in zip(runs, compared.n_missing, too_many, strict=True):
        if is_too_many:
            yield (
                f"{run} has no results for {missing} of the {n} answerable queries"
                f" ({percent(missing / n)} %); at most {percent(max_missing)} % may be missing."
            )
    found = _least_coverage(compared)
    nothing = [
        run
        for run, share, is_said in zip(runs, found, too_many, strict=True)
        if not (share or is_said)
    ]
    if nothing:
        verb, whose = ("has", "its") if len(nothing) == 1 else ("have", "their")
        where = ""
        if compared.cutoff is not None:
            where = f" within the first {compared.cutoff}"
        yield (
            f"{listed(nothing)} {verb} no relevant document{where}, for any query: are {whose} ids"
            " those of the qrels?"
        )


def _least_coverage(compared: Comparison) -> list[float | None]:
    """Return the coverage of both runs; of a system with several that of the run with the least."""
    of_a = compared.coverage.baseline
    of_b = compared.coverage.contender
    least = [of_a, of_b]
    for run in compared.runs:
        if of_a is None or of_b is None or run.coverage is None:
            continue
        # The difference of a run of B from the mean of A, or of the mean of B from a run of A.
        if run.system == compared.contender:
            least[1] = min(least[1] or 0.0, round(of_a + run.coverage, 9))
        else:
            least[0] = min(least[0] or 0.0, round(of_b - run.coverage, 9))
    return least


def _facet(compared: Comparison, against: Against) -> GateFacet:
    """Add to one facet against its margin how many queries would settle it."""
    facet = against.facet
    needed = None
    if against.status == "inconclusive":
        needed = queries_to_pass(compared, facet, against.margin)
    measured = attributes(
        "name",
        "measured_in",
        "higher_is_better",
        "n",
        "difference",
        "interval=margin_interval",
        "smallest_margin",
    )
    return GateFacet(
        **rows_of(measured, [facet])[0], margin=against.margin, status=against.status, needed=needed
    )


def _about(facet: GateFacet, compared: Comparison) -> str:
    """Say what harm the interval shows or does not exclude, and how many queries, or clusters, would exclude it."""
    name = facet.name.capitalize()
    if facet.interval is None:
        if facet.n:
            return (
                f"{name}: without a cutoff the largest possible loss is not known, so no harm is"
                " excluded."
            )
        return (
            f"{name}: on no query did both runs find something, so nothing can be compared, and no"
            " harm is excluded."
        )
    least, most = sorted(end * (-1 if facet.higher_is_better else 1) for end in facet.interval)
    if facet.status == "harm shown":
        return (
            f"{name}: a loss of more than {_in_unit(facet.margin, facet.measured_in)} is shown; it is between"
            f" {least:.3g} and {most:.3g}."
        )
    if most < facet.margin:
        return (
            f"{name}: all {facet.n} differences are equal, and too few to exclude harm beyond"
            f" {facet.margin:.3g}."
        )
    text = (
        f"{name}: a loss of up to {_in_unit(most, facet.measured_in)} is not excluded, and the margin is"
        f" {facet.margin:.3g}."
    )
    needed = facet.needed
    if needed is None or needed.queries is None:
        return text
    clusters = compared.settings.n_clusters
    there_are, units = (
        (compared.n_queries, "queries") if clusters is None else (clusters, "clusters of queries")
    )
    if needed.queries <= there_are:
        return (
            f"{text} With {there_are} {units} such a loss would be excluded with"
            f" {percent(needed.power, 0)} % power if the runs were equally good; what was seen is"
            " less favorable than that."
        )
    bound = "not known" if needed.upper is None else str(needed.upper)
    return (
        f"{text} If the runs are equally good, about {needed.queries} {units} like these exclude it"
        f" with {percent(needed.power, 0)} % power ({percent(needed.confidence, 0)} % upper bound:"
        f" {bound}; there are {there_are})."
    )


def _in_unit(value: float, unit: str) -> str:
    """Write a value with its unit, which is singular for 1."""
    if value == 1:
        unit = re.sub(r"(rank|point|document)s", r"\1", unit)
    return f"{value:.3g} {unit}"


def _pass_in_words(compared: Comparison, is_equivalent: bool, facets: Sequence[GateFacet]) -> str:
    if compared.identical:
        return (
            f"{compared.contender} is identical to {compared.baseline}, the same documents in the"
            " same order for every query: was the new run written?"
        )
    margins = listed(
        [
            f"{_in_unit(facet.margin, facet.measured_in)} {'over' if facet.name == 'all queries' else 'of'}"
            f" {facet.name}"
            for facet in facets
        ]
    )
    if is_equivalent:
        return (
            f"The runs are equivalent within the margins: differences beyond {margins} are excluded"
            " in both directions."
        )
    return f"Harm beyond {margins} is excluded."


def _behind(compared: Comparison, facets: Sequence[GateFacet]) -> dict[QueryOutcome, str]:
    """Choose the queries with the largest harm, alternating between the facets that failed, and say what was lost on each."""
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
    shown = [facet.name for facet in facets if facet.status == "harm shown"]
    not_settled = [facet.name for facet in facets if facet.status == "inconclusive"]
    named = shown or not_settled or list(kinds)
    chosen: dict[QueryOutcome, str] = {}
    for of_place in zip_longest(*(kinds[name] for name in named)):
        for name, query in zip(named, of_place, strict=True):
            if query is not None and query not in chosen and len(chosen) < MOST_QUERIES:
                chosen[query] = _lost(query, name, compared)
    return chosen


def _lost(query: QueryOutcome, facet: str, compared: Comparison) -> str:
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
