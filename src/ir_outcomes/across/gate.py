"""Pass or fail for pipelines: whether harm beyond the margins is excluded, shown, or neither."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, Never

from ir_outcomes.across.gate_decisions import GateDecision, Status, decide
from ir_outcomes.across.result import ConditionsComparison
from ir_outcomes.comparison.columns import measure_columns
from ir_outcomes.comparison.outcomes import Settings, checked_margins
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.remarks import MANY_MISSING
from ir_outcomes.formatting import listed, percent
from ir_outcomes.notes import as_notes
from ir_outcomes.reading.files import file_digest
from ir_outcomes.results import HasPage, Result
from ir_outcomes.table_columns import Column, attributes, of_part, rows_of
from ir_outcomes.types import check_kind

# From the best status to the worst.
EXIT_STATUS: Mapping[Status, int] = {
    "pass": 0,
    "inconclusive": 4,
    "fail": 3,
}


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
    by_place: dict[Place, Comparison] = {(item.contender, None): item for item in found}
    return _Side(found[0].baseline, found[0].settings, by_place, ())


def gate(
    compared: Compared,
    *runs: Never,
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
    if runs:
        raise ParameterError(
            "a gate decides on comparisons; pass it what compare returns, as in"
            " gate(compare(qrels, baseline, contenders), margins=(1.0, 0.5))"
        )
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
    named = [*(side.baseline for side in sides), *wanted]
    known = [f"{run}@{name}" for run in named for name in places if name is not None]
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
                decisions.append(decide(found, place, against, margins, max_missing))
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
                    " % of the time. On real and constructed runs, where 2.5 % are nominal, at most"
                    " 4.7 % passed. A gate that runs again and again on the same queries repeats"
                    " this: among many contenders that should not pass, some will."
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
