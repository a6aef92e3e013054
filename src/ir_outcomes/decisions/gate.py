"""Pass, fail or inconclusive: whether harm beyond the margins is excluded."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from typing import Any, Literal, Unpack

from ir_outcomes.choices import Positive
from ir_outcomes.comparison.columns import measure_columns
from ir_outcomes.comparison.compare import check_can_be_exceeded
from ir_outcomes.comparison.family import compared
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.decisions.plan import queries_to_pass
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import (
    Evaluation,
    contenders_of,
    evaluation_of,
    evaluations_of,
    refuse_measures,
)
from ir_outcomes.evaluation.named_measures import Measures
from ir_outcomes.evaluation.remarks import MANY_MISSING, STOPS, stops_of
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.formatting import listed, percent, plural
from ir_outcomes.notes import as_notes
from ir_outcomes.pairs.outcomes import QueryOutcome
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.rules import RuleOptions, Rules, Settings
from ir_outcomes.reading.files import file_digest
from ir_outcomes.results import HasPage, Immutable, Result
from ir_outcomes.statistics.power import QueriesNeeded
from ir_outcomes.table_columns import Column, attributes, of_part, rows_of

Status = Literal["pass", "inconclusive", "fail"]
# From the best status to the worst, with the exit status of the command.
EXIT_STATUS: Mapping[Status, int] = {"pass": 0, "inconclusive": 4, "fail": 3}
MOST_QUERIES = 10  # that are listed for a decision


@dataclass(frozen=True)
class GateDecision(Immutable):
    """The decision on one contender, in one collection, against one baseline."""

    contender: str  #: the run
    condition: str | None  #: the collection; None where there is only one
    reference: str | None  #: the second baseline, where this decision is against it
    status: Status  #: the decision
    reasons: tuple[str, ...]  #: why, in sentences; every row that fails is named
    #: how many queries like these, or clusters of them, would exclude harm if both runs were equally
    #: good, by the name of the row; of those that are not settled
    needed: Mapping[str, QueriesNeeded] = field(default_factory=dict)
    #: up to ten queries with the most harm on the rows that failed, else on those that are not
    #: settled, of several rows in turn; empty where the gate passes
    queries: tuple[QueryOutcome, ...] = ()
    comparison: Comparison | None = None  #: what was decided on; None where a run is missing

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows that decide, each with its margin."""
        return () if self.comparison is None else self.comparison.with_margins

    @property
    def name(self) -> str:
        """The contender, with the second baseline and the collection."""
        name = self.contender
        if self.reference is not None:
            name += f" against {self.reference}"
        if self.condition is not None:
            name += f" on {self.condition}"
        return name

    @property
    def harmed(self) -> list[str]:
        """The names of the rows that failed, else of those that are not settled."""
        against = {row.name: row.margin.found for row in self.rows if row.margin is not None}
        shown = [name for name, found in against.items() if found == "harm shown"]
        return shown or [name for name, found in against.items() if found == "not excluded"]


def _row(name: str) -> Any:
    return lambda decision: next((row for row in decision.rows if row.name == name), None)


def _row_columns(name: str) -> tuple[Column, ...]:
    columns = attributes(
        "difference",
        "low=margin.interval.low",
        "high=margin.interval.high",
        "margin=margin.size",
        "found=margin.found",
        "equal_runs_pass=margin.passable",
    )
    return of_part(_row(name), columns, f"{name.replace(' ', '_')}_")


_COLUMNS = (
    *attributes("condition", "contender", "baseline=reference", "status"),
    *of_part("comparison", attributes("verdict=verdict.label", "identical", "n_queries")),
    *of_part("comparison", (Column("missing_baseline", lambda item: item.n_missing[0]),)),
    *of_part("comparison", (Column("missing_contender", lambda item: item.n_missing[1]),)),
    *(column for name in ("coverage", "ranking", "all queries") for column in _row_columns(name)),
    Column("reasons", lambda decision: " ".join(decision.reasons)),
)


@dataclass(frozen=True, repr=False)
class GateResult(HasPage, Result):
    """The decisions of a gate, of which the worst one counts.

    Attributes
    ----------
    baseline : str
        The run that the others are compared with.
    reference : str or None
        The second baseline, such as the last release.
    decisions : tuple of GateDecision
        One for each contender and collection, against the baseline and then against the reference.
    max_missing : float
        Largest tolerable share of queries without results. Only answerable queries count.
    settings : Settings
        Of the comparisons, with the margins; the cutoff is None where collections have their own.
    inputs : mapping of str to str
        SHA-256 of each input by its name.
    """

    baseline: str
    reference: str | None
    decisions: tuple[GateDecision, ...]
    max_missing: float
    settings: Settings
    inputs: Mapping[str, str]

    @property
    def status(self) -> Status:
        """The worst of all decisions."""
        return self.worst_first[0].status

    @property
    def worst_first(self) -> list[GateDecision]:
        """All decisions, in the order in which they are shown."""
        order = list(EXIT_STATUS)
        return sorted(
            self.decisions,
            key=lambda decision: (
                -order.index(decision.status),
                decision.comparison is None or not decision.comparison.identical,
            ),
        )

    @property
    def exit_status(self) -> int:
        """Exit status of the command: 0 pass, 3 fail, 4 inconclusive."""
        return EXIT_STATUS[self.status]

    def rows(self) -> list[dict[str, Any]]:
        """One flat row for each decision."""
        compared = filter(None, (decision.comparison for decision in self.decisions))
        measures = max((comparison.measures for comparison in compared), key=len, default=())
        columns = (*_COLUMNS, *of_part("comparison", measure_columns(measures)))
        rows = rows_of(columns, self.decisions)
        return [row | {"baseline": row["baseline"] or self.baseline} for row in rows]


def gate(
    evaluation: Evaluation | Mapping[str, Evaluation],
    baseline: str,
    contenders: Sequence[str] | str | None = None,
    *,
    reference: str | None = None,
    cutoff: Positive | None = None,
    max_missing: float | None = None,
    identical: Literal["pass", "fail"] = "pass",
    allow: Collection[str] = (),
    measures: Measures = (),
    inputs: Iterable[str | os.PathLike[str]] = (),
    **rules: Unpack[RuleOptions],
) -> GateResult:
    """Decide whether runs may take the place of the baseline.

    *pass*: harm beyond the margins is excluded on coverage, ranking and over all queries. *fail*:
    harm beyond a margin is shown, a run lacks too many queries, finds nothing or is missing in a
    collection, or its ids or scores look like a mistake. *inconclusive*: neither. The exit status is
    0, 3 or 4.

    Parameters
    ----------
    evaluation : Evaluation, or mapping of str to Evaluation
        Of the runs; several collections by their names, each of which is decided on. Of values that
        another tool computed (`ir_outcomes.outputs`) the mean over all queries decides, with one
        margin; a mapping can hold several measures.
    baseline, contenders : str, and str or sequence of str
        Names of runs; by default all others are contenders.
    reference : str, optional
        A second baseline, such as the last release; contenders must pass against both.
    cutoff : int, optional
        Ranks beyond it do not count; by default that of the evaluation.
    max_missing : float, optional
        Largest tolerable share of answerable queries for which a run returned nothing, by default
        0.05; of values of another tool, for which it has none, by default 0. With a larger share
        what the contender lacks counts as the worst value of the range.
    identical : {"pass", "fail"}
        What becomes of a contender with the baseline's rankings.
    allow : collection of str
        What is meant although it looks like a mistake. These are "unknown-ids", "rising-scores",
        "equal-scores", and runs that a collection lacks, as ``"run@collection"``.
    measures : sequence of Measure or str
        Measures that are shown beside the rows, and decide nothing.
    inputs : iterable of path
        Files whose SHA-256 is kept in the result.
    **rules
        alpha, correction and margins, which are needed; see `ir_outcomes.Rules`.

    Raises
    ------
    ParameterError
        If there are no margins, no run can exceed them, or a setting is not possible.
    UnreadableFile
        If an input cannot be read.

    References
    ----------
    Schuirmann 1987 for non-inferiority by an interval; its level is 1 - alpha / (number of
    contenders).

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(40)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> iro.gate(iro.evaluate(qrels, {"a": a, "b": b}), "a", margins=(20.0, 0.5)).status
    'pass'
    """
    checked = Rules(**rules)
    if checked.margins is None:
        raise ParameterError(
            "a gate needs margins, the largest harm that you tolerate in percentage points of"
            " coverage and in ranks, such as `margins=(1.0, 0.5)`"
        )
    if max_missing is not None and not 0 <= max_missing < 1:
        raise ParameterError(
            "must be a share of the queries, from 0 to less than 1, such as 0.05",
            max_missing=max_missing,
        )
    collections: dict[str | None, Evaluation] = {}
    if isinstance(evaluation, Mapping):
        for name, item in evaluations_of(evaluation, cutoff, values=True).items():
            collections[name] = item
    else:
        collections[None] = evaluation_of(evaluation, cutoff=cutoff, several_runs=True, values=True)
    are_values = any(item.values is not None for item in collections.values())
    if max_missing is None:  # a tool that computed a value for one run can do it for another
        max_missing = 0.0 if are_values else MANY_MISSING
    for item in collections.values():
        refuse_measures(item, measures)
    names = tuple(dict.fromkeys(run for item in collections.values() for run in item.systems))
    candidates = contenders_of(names, baseline, contenders)
    baselines = [baseline, *([] if reference is None else [reference])]
    candidates = [run for run in candidates if run not in baselines]
    if not candidates:
        raise ParameterError("there is no contender; name a run other than the baseline")
    _check_allow(allow, [*baselines, *candidates], collections)
    decider = _Decider(checked, len(candidates), max_missing, identical, frozenset(allow), measures)
    decisions = [
        decision
        for run in baselines
        for name, item in collections.items()
        for decision in decider.decisions(
            item, run, candidates, name, run if run != baseline else None
        )
    ]
    decisions.sort(
        key=lambda decision: (decision.reference is not None, candidates.index(decision.contender))
    )
    if not decisions:
        raise ParameterError(
            "`allow` leaves nothing to decide on; let at least one collection have every run"
        )
    settings = Settings.of_collections(collections.values(), checked, len(candidates))
    tolerated = percent(settings.first_level / 2, 2)
    return GateResult(
        baseline=baseline,
        reference=reference,
        decisions=tuple(decisions),
        max_missing=float(max_missing),
        settings=settings,
        inputs={os.fsdecode(path): file_digest(path) for path in inputs},
        notes=as_notes(
            [
                f"A contender whose true harm is exactly a margin nominally passes {tolerated} % of"
                " the time. A gate that runs again and again on the same queries repeats this:"
                " among many contenders that should not pass, some will."
            ]
        ),
    )


def _check_allow(
    allow: Collection[str], runs: Sequence[str], collections: Iterable[str | None]
) -> None:
    """Refuse what is neither a stop nor a run of a collection."""
    in_collections = [f"{run}@{name}" for run in runs for name in collections if name is not None]
    for item in allow:
        if item not in STOPS and item not in in_collections:
            raise ParameterError(
                f"{item!r} is neither one of {listed(list(STOPS))} nor a run@collection such as"
                f" {in_collections[0] if in_collections else 'bm25@dl19'}",
                allow=allow,
            )


@dataclass(frozen=True)
class _Decider:
    """Decides on the contenders of an evaluation by the rules of a gate."""

    rules: Rules
    family: int
    max_missing: float
    identical: Literal["pass", "fail"]
    allow: frozenset[str]
    measures: Measures

    def decisions(
        self,
        evaluation: Evaluation,
        baseline: str,
        contenders: Sequence[str],
        collection: str | None,
        reference: str | None,
    ) -> Iterator[GateDecision]:
        """Yield a decision on each contender in one collection."""
        systems = evaluation.systems
        present = [run for run in contenders if run in systems]
        comparisons: dict[str, Comparison] = {}
        if baseline in systems and present:
            pairs = evaluation[[baseline, *present]]
            if pairs.values is not None:
                # What a contender lacks counts as the worst value, where that is known.
                worst = pairs.values.with_worst(pairs.systems[baseline])
                pairs = replace(pairs, values=worst or pairs.values)
            # What stops a comparison fails the gate, which names it.
            family = compared(
                pairs, self.rules, measures=self.measures, family=self.family, for_gate=True
            )
            comparisons = {item.contender: item for item in family}
        for contender in contenders:
            if contender in comparisons:
                yield self._decide(comparisons[contender], evaluation, collection, reference)
                continue
            absent = [run for run in (baseline, contender) if run not in systems]
            if not {f"{run}@{collection}" for run in absent} <= self.allow:
                verb = "is" if len(absent) == 1 else "are"
                where = "" if collection is None else f" on {collection}"
                reason = f"{listed(absent)} {verb} missing{where}, so nothing can be compared."
                yield GateDecision(contender, collection, reference, "fail", (reason,))

    def _decide(
        self,
        comparison: Comparison,
        evaluation: Evaluation,
        collection: str | None,
        reference: str | None,
    ) -> GateDecision:
        """Decide on one comparison."""
        failures = list(self._failures(comparison, evaluation))
        if not failures:
            check_can_be_exceeded(comparison.deciding)
        failures += _harm_words(comparison, "harm shown")
        doubts = list(_doubts(comparison, evaluation.values))
        status: Status = "pass"
        if failures or doubts:
            status = "fail" if failures else "inconclusive"
        decision = GateDecision(
            contender=comparison.contender,
            condition=collection,
            reference=reference,
            status=status,
            reasons=(*failures, *doubts) or (_pass_words(comparison),),
            needed={} if status == "pass" else _needed(comparison),
            comparison=comparison,
        )
        if status == "pass":
            return decision
        return replace(decision, queries=tuple(_most_harmed(comparison, decision.harmed)))

    def _failures(self, comparison: Comparison, evaluation: Evaluation) -> Iterator[str]:
        """Say why one of the two systems cannot be used."""
        names = [comparison.baseline, comparison.contender]
        if evaluation.values is not None:
            for run in chain.from_iterable(evaluation.systems[name] for name in names):
                yield from evaluation.values.problems(run, self.max_missing)
        else:
            yield from self._failures_of_lists(comparison, evaluation[names], names)
        if comparison.identical and self.identical == "fail":
            yield _identical_words(comparison)

    def _failures_of_lists(
        self, comparison: Comparison, pair: Evaluation, names: Sequence[str]
    ) -> Iterator[str]:
        for stop in stops_of(pair.at()):
            if stop.kind not in self.allow:
                yield f"{stop} If that is meant, allow {stop.kind!r}."
        n = comparison.n_queries
        for run, missing in zip(names, comparison.n_missing, strict=True):
            if missing > self.max_missing * n:
                yield (
                    f"{run} has no results for {missing} of {n} answerable queries"
                    f" ({percent(missing / n)} %); at most {percent(self.max_missing)} % may be"
                    " missing."
                )
        coverage = comparison.coverage
        for run, found in zip(names, (coverage.baseline, coverage.contender), strict=True):
            if not found:
                yield f"{run} has no relevant document, for any query: are its ids those of the qrels?"


def _harm_words(comparison: Comparison, found: str) -> Iterator[str]:
    """Say on which rows harm beyond the margin is shown, or not excluded."""
    harmed = [
        row.on
        for row in comparison.with_margins
        if row.margin is not None and row.margin.found == found
    ]
    if harmed:
        on = listed(harmed)
        run = comparison.contender
        if found == "harm shown":
            yield f"{run} is worse than the margin allows {on}."
        else:
            yield f"{run}: harm beyond the margin is not excluded {on}."


def _doubts(comparison: Comparison, values: Scores | None) -> Iterator[str]:
    """Say why harm is not excluded."""
    harm = list(_harm_words(comparison, "not excluded"))
    if harm and values is not None:
        harm = [_words_of_size(comparison)]
    yield from harm
    is_unknown = values is not None and (values.range is None or values.clusters is not None)
    if is_unknown and comparison.n_missing[1]:  # nothing with a missing value can pass
        yield (
            f"{comparison.contender} lacks values of {plural('query', comparison.n_missing[1])}, and"
            " what these count as is not known."
        )
    if comparison.all_queries is None and not comparison.identical:
        yield "Without a cutoff nothing is known over all queries."


def _words_of_size(comparison: Comparison) -> str:
    """Say what is not excluded for a mean, and how many queries could settle it."""
    row = comparison.deciding[-1]
    margin = row.margin
    if margin is None or margin.interval is None:
        return next(_harm_words(comparison, "not excluded"))
    n = plural("query", comparison.n_queries)
    needed = queries_to_pass(comparison, row, margin.size)
    queries = (
        "over a million" if needed is None or not needed.queries else f"about {needed.queries}"
    )
    if margin.passable is not None and margin.passable > margin.size:
        return (
            f"{n} are too few for a margin of {margin.size:g}: even equal runs need one of"
            f" {margin.passable:.2g}; {queries} queries would do."
        )
    loss = -margin.interval.low if row.higher_is_better else margin.interval.high
    return (
        f"a loss of up to {loss:.2g} is not excluded (margin {margin.size:g}); {queries} queries"
        " could settle it."
    )


def _pass_words(comparison: Comparison) -> str:
    """Say what is excluded where a contender passes."""
    if comparison.identical:
        return _identical_words(comparison)
    if comparison.verdict.equivalent:
        return f"{comparison.contender} is equivalent within the margins."
    return f"{comparison.contender}: harm beyond the margins is excluded."


def _identical_words(comparison: Comparison) -> str:
    return f"{comparison.contender} is identical to {comparison.baseline}: was the new run written?"


def _needed(comparison: Comparison) -> dict[str, QueriesNeeded]:
    """How many queries would settle the rows that are not settled."""
    needed = {
        row.name: queries_to_pass(comparison, row, row.margin.size)
        for row in comparison.with_margins
        if row.margin is not None and row.margin.found == "not excluded"
    }
    return {name: queries for name, queries in needed.items() if queries is not None}


def _most_harmed(comparison: Comparison, names: Sequence[str]) -> list[QueryOutcome]:
    """Choose the queries with the most harm on these rows, in turn."""
    rows = [row for row in comparison.with_margins if row.name in names]
    turns = zip_longest(*(_harmed(comparison, row) for row in rows))
    chosen = dict.fromkeys(query for turn in turns for query in turn if query is not None)
    return list(chosen)[:MOST_QUERIES]


def _harmed(comparison: Comparison, row: Row) -> list[QueryOutcome]:
    """Return the queries on which the contender is worse in a row, the worst first."""

    def harm(query: QueryOutcome, row: Row) -> float:
        change = query.change_in(row.name) or 0.0
        return -change if row.higher_is_better else change

    whole = comparison.all_queries or row
    harmed = [query for query in comparison.queries or () if harm(query, row) > 0]
    return sorted(
        harmed, key=lambda query: (-harm(query, row), -harm(query, whole), query.query_id)
    )
