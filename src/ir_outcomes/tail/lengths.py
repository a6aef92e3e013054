"""Search lengths of all relevant documents: distributions and changes far down the ranking."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from ir_measures import AP, P

from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import (
    UNEVEN_JUDGING,
    Evaluation,
    evaluation_of,
    notes_on_documents,
    notes_on_listing,
    unjudged_share,
)
from ir_outcomes.evaluation.lengths import SearchLengths, means_by_query
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.formatting import percent, plural
from ir_outcomes.measures import ASL
from ir_outcomes.notes import Note, as_notes
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.results import NUMBER, OPTIONAL, PERCENT, Column, Result, decimals, rows_of, signed
from ir_outcomes.types import (
    Floats,
    Ints,
    Missing,
    Ties,
    check_choice,
    check_positive,
    divided,
)


@dataclass(frozen=True)
class TailSettings:
    """How the search lengths of an analysis were computed; see `ir_outcomes.evaluate` and `SearchLengths.asl`."""

    cutoff: int  #: depth of the runs
    rel: int
    ties: Ties
    judged_only: bool
    missing: Missing  #: search length of a missing document


def runs_at_depth(
    evaluation: Evaluation, cutoff: int | None, missing: Missing, names: list[str] | None = None
) -> tuple[tuple[SearchLengths, ...], TailSettings, tuple[Note, ...]]:
    """Take runs, all or those with these names, at a depth they share: the cutoff, or less; with settings and notes."""
    evaluation = checked_evaluation(evaluation)
    check_positive("cutoff", cutoff, none_allowed=True)
    check_choice("missing", missing, get_args(Missing))
    evaluation = evaluation if names is None else evaluation[names]
    # Length of the longest list.
    reached = {run.name: int(run.retrieved.max(initial=1)) for run in evaluation.runs}
    depth = cutoff or min(evaluation.cutoff, max(reached.values()))
    shared = min(reached.values())
    names_at = {
        length: [name for name in reached if reached[name] == length]
        for length in sorted(set(reached.values()))
    }
    depths = "; ".join(f"{length}: {some(called, 3)}" for length, called in names_at.items())
    notes = list(notes_on_unanswerable(evaluation))
    if shared < depth and cutoff is not None:
        shallow = [name for name, length in reached.items() if length < cutoff]
        notes.append(
            f"{some(shallow)}: no list reaches the cutoff {cutoff}; what is ranked below its end is"
            " unknown."
        )
    elif shared < depth and missing == "cutoff":
        after = ""
        if evaluation.judged_only:
            after = " after unjudged documents are removed"
        raise MismatchError(
            f"the runs differ in depth{after} ({depths}), and short lists look good in ASL: give"
            f" the depth that all share, `cutoff={shared}`, or `missing='retrieved'` for equation 3"
            " of Alex et al. 2022 as printed"
        )
    elif shared < depth:
        notes.insert(
            0, f"The runs differ in depth ({depths}); short lists look good in ASL, equation 3."
        )
    runs = evaluation.at(depth)
    if missing == "retrieved":
        _refuse_lists_without_irrelevant_documents(runs)
    notes += _notes_on_unjudged(evaluation.runs, min(depth, shared))
    return (
        runs,
        TailSettings(depth, evaluation.rel, evaluation.ties, evaluation.judged_only, missing),
        as_notes(notes),
    )


def notes_on_unanswerable(evaluation: Evaluation) -> Iterator[str]:
    """Say how queries without a relevant document count, and which queries runs lack or have beyond the qrels."""
    number = int(np.sum(~evaluation.answerable))
    if number:
        yield (
            f"{plural('query', number)} without a relevant document at rel {evaluation.rel}: left"
            " out of search lengths, 0 in other measures, as in ir_measures."
        )
    yield from notes_on_documents(evaluation.runs)
    yield from notes_on_listing(evaluation.runs)


def checked_evaluation(given: Any) -> Evaluation:
    """Return an evaluation; refuse anything else, and one with clusters."""
    evaluation = evaluation_of(given)
    if evaluation.clusters is not None:
        raise ParameterError(
            "the analyses of the tail take queries as independent; evaluate without clusters"
        )
    return evaluation


def _notes_on_unjudged(runs: Sequence[SearchLengths], depth: int) -> Iterator[str]:
    """Say where runs have unequal shares of unjudged documents, in the first documents of lists that all reach this depth."""
    depths = [kept for kept in runs[0].unjudged_depths if kept is not None and kept <= depth]
    if not depths or runs[0].judged_only:
        return
    first = max(depths)
    shares = sorted(
        (share, run.name) for run in runs if (share := unjudged_share(run, first)) is not None
    )
    (least, best), (most, worst) = shares[0], shares[-1]
    if most - least > UNEVEN_JUDGING:
        yield (
            f"Of the first {first} documents, {percent(least, 0)} % are unjudged in {best} and"
            f" {percent(most, 0)} % in {worst}. They count as irrelevant, which favors runs that"
            " have fewer of them; compare the result with `judged_only=True`."
        )


def _refuse_lists_without_irrelevant_documents(runs: Sequence[SearchLengths]) -> None:
    """Refuse what equation 3 gives a search length of 0: a missing document where no irrelevant document is retrieved."""
    for run in runs:
        irrelevant = run.retrieved - run.relevant_retrieved
        without = np.flatnonzero(
            run.answerable & (irrelevant == 0) & (run.relevant_retrieved < run.relevant)
        )
        if len(without):
            queries = [run.query_ids[query] for query in without]
            raise ParameterError(
                f"{run.name}: no irrelevant documents for {plural('query', len(queries))}"
                f" ({some(queries)}), where a missing document has no search length under equation"
                " 3; use `missing='cutoff'`"
            )


# From AP to ASL, in `ablation`.
STEPS: tuple[str, ...] = (
    "atomize P",
    "harmonic within queries",
    "harmonic across queries",
)
PRECISION_DEPTH = 20
ASL_FIRST = 10


def top_and_all(runs: Sequence[SearchLengths], settings: TailSettings) -> list[Scores]:
    """Return P@20 (of shorter runs precision at their depth), ASL@g1-10, AP and ASL: Alex et al. 2022, Table 1."""
    cutoff = settings.cutoff
    missing = settings.missing
    depth = min(PRECISION_DEPTH, cutoff)
    rule = {"rel": settings.rel, "judged_only": settings.judged_only}
    asl = ASL(missing=missing, ties=settings.ties, **rule) @ cutoff
    # Precisions have the names of ir_measures where they have its values.
    other_rule = ""
    if settings.ties != "trec":
        other_rule = f", ties {settings.ties}"
    return [
        _scores(
            f"{P(**rule) @ depth}{other_rule}",
            True,
            runs,
            [precision_at(run, depth) for run in runs],
        ),
        _scores(
            str(asl(first=ASL_FIRST)), False, runs, [run.asl(ASL_FIRST, missing) for run in runs]
        ),
        _scores(
            f"{AP(**rule) @ cutoff}{other_rule}",
            True,
            runs,
            [average_precision(run) for run in runs],
        ),
        _scores(str(asl), False, runs, [run.asl(missing=missing) for run in runs]),
    ]


def _scores(
    measure: str, higher_is_better: bool, runs: Sequence[SearchLengths], values: Sequence[Floats]
) -> Scores:
    """Make scores of (n_queries,) values of each run: 0 for precisions, NaN for lengths without a relevant document."""
    stacked = np.stack(values)
    if higher_is_better:
        stacked[:, ~runs[0].answerable] = 0.0
    return Scores(
        measure, higher_is_better, tuple(run.name for run in runs), runs[0].query_ids, stacked
    )


def ablation(runs: Sequence[SearchLengths], missing: Missing) -> list[Scores]:
    """Return the measures on the way from AP to ASL, one change of the definition at a time (Alex et al. 2022, section 4.4)."""
    # The mean within a query of 1 / ASL of each document; 1 / ASL of each query, which is the
    # harmonic instead of the arithmetic mean within it; ASL, of which 1 / mean is the harmonic mean
    # across queries.
    if runs[0].ties == "expected":
        raise ParameterError(
            "the steps from AP to ASL average 1 / ASL, and the reciprocal of an expected search"
            " length is not the expected reciprocal; evaluate with `ties='trec'`, or name"
            " `measures`",
            ties="expected",
        )
    lengths = [_means(run, run.document_lengths(missing)) for run in runs]
    values = {
        "AP": [average_precision(run) for run in runs],
        "atomized P": [_means(run, 1 / run.document_lengths(missing)) for run in runs],
        "harmonic P": [1 / of_run for of_run in lengths],
        "ASL": lengths,
    }
    return [
        _scores(measure, measure != "ASL", runs, of_runs) for measure, of_runs in values.items()
    ]


def _means(run: SearchLengths, values: Floats) -> Floats:
    """Average values of documents within each query; NaN for an unanswerable query."""
    return means_by_query(run.query, values, len(run.query_ids))


def document_lengths(lengths: SearchLengths, missing: Missing) -> Floats:
    """(n_atoms,) search length of each relevant document; in a tie level under ``ties="expected"``, its own expectation."""
    # `SearchLengths.document_lengths` gives the documents of a tie level the expectations of the
    # first, the second and so on, whichever they are. Their mean is the same.
    by_place = lengths.document_lengths(missing)
    if lengths.ties != "expected":
        return by_place
    return np.where(lengths.rank > 0, lengths.atoms(), by_place)


def precision_at(lengths: SearchLengths, cutoff: int) -> Floats:
    """(n_queries,) share of relevant documents among the first `cutoff`; under ``ties="expected"`` its expectation."""
    size = lengths.level_relevant + lengths.level_irrelevant
    # For a document of a tie level of this size.
    chance_within = np.clip((cutoff - (lengths.rank - 1)) / size, 0.0, 1.0)
    chances = np.where(lengths.rank > 0, chance_within, 0.0)
    shares: Floats = (
        np.bincount(lengths.query, weights=chances, minlength=len(lengths.query_ids)) / cutoff
    )
    return shares


def average_precision(lengths: SearchLengths) -> Floats:
    """(n_queries,) mean of `document_precisions` over a query's relevant documents; NaN for an unanswerable query."""
    return _means(lengths, document_precisions(lengths))


def document_precisions(lengths: SearchLengths) -> Floats:
    """(n_atoms,) precision at each relevant document, which AP averages; 0 where it is not found."""
    # For tied documents it is the expectation: McSherry and Najork 2008, "Computing information
    # retrieval performance measures efficiently in the presence of tied scores", section 2.4.
    found = lengths.rank > 0
    before = lengths.rank[found] - 1  # documents above the tie level
    relevant_before = before - lengths.irrelevant_above[found]
    relevant = lengths.level_relevant[found]
    size = relevant + lengths.level_irrelevant[found]
    # A relevant document is at each place i = 1 .. size of its level with the same chance. Above it
    # are, besides the relevant documents before the level, (i - 1) (relevant - 1) / (size - 1) of
    # the level in expectation.
    last = (before + size).max(initial=0)
    harmonic = np.cumsum([0.0, *(1 / np.arange(1, last + 1))])
    reciprocals = harmonic[before + size] - harmonic[before]  # sum of 1 / (before + i)
    density = divided(relevant - 1, size - 1, size > 1, otherwise=0.0)
    expected = (
        (relevant_before + 1) * reciprocals + density * (size - (before + 1) * reciprocals)
    ) / size
    precisions = np.zeros(len(found))
    # The difference of two sums would be off in the last digits where there is no tie.
    precisions[found] = np.where(size > 1, expected, (relevant_before + 1) / (before + 1))
    return precisions


def effective_share(lengths: SearchLengths) -> float:
    """Share of the relevant documents that AP in effect averages: the best-ranked ones, with equal weights."""
    # The documents are taken in the order of their precision until the unweighted mean of their 1/P
    # is as close as possible to 1/MAP, queries weighing the same: Alex et al. 2022, Appendix A.1.
    precisions = document_precisions(lengths)
    weights = 1 / lengths.relevant[lengths.query]
    order = np.argsort(-precisions, kind="stable")
    order = order[precisions[order] > 0]
    if not len(order):
        return 0.0
    included = np.cumsum(weights[order])
    means = np.cumsum(weights[order] / precisions[order]) / included
    target = weights.sum() / (weights * precisions).sum()
    return float(included[np.argmin(np.abs(means - target))] / weights.sum())


@dataclass(frozen=True)
class LengthDistribution:
    """Where a run ranks the relevant documents."""

    run: str
    asl: float  #: ASL, irrelevant documents above a relevant one, plus 1; lower is better
    asl_top: float  #: ASL@g1-10 of the ten best-ranked relevant documents
    #: Relevant documents found, by search length, in the buckets of the result.
    counts: tuple[int, ...]
    missing: int  #: relevant documents not found: the spike of Figure 5, counted separately
    #: Share of the relevant documents that AP in effect averages: the best-ranked ones whose
    #: unweighted mean of 1/P comes closest to 1/MAP (Alex et al. 2022, Appendix A.1). None under
    #: ``ties="expected"``, where a document has no single precision.
    effective_share: float | None


@dataclass(frozen=True)
class LengthDistributions(Result):
    """Distribution of search lengths over the relevant documents; the figure is "lengths", Figure 5.

    Attributes
    ----------
    runs : tuple of LengthDistribution
        Best first: by the mean ASL.
    edges : tuple of int
        Bucket i holds the search lengths from ``edges[i]`` up to, not including, ``edges[i + 1]``.
    n_documents, n_queries : int
        Relevant documents, and queries that have any.
    settings
        `TailSettings`; see `ir_outcomes.Comparison`.
    """

    runs: tuple[LengthDistribution, ...]
    edges: tuple[int, ...]
    n_documents: int
    n_queries: int
    settings: TailSettings

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run, with a column for each bucket, and the number and share of missing documents."""
        return rows_of(distribution_columns(self), self.runs)


def distribution_columns(result: LengthDistributions) -> tuple[Column, ...]:
    """Return the columns of its rows."""

    def bucket(place: int) -> Column:
        low, high = result.edges[place : place + 2]
        return Column(f"{low}_to_{high - 1}", lambda run: run.counts[place], form=NUMBER)

    return (
        Column("run"),
        Column("asl", heading="ASL", form=decimals(1)),
        Column("asl_g1_10", "asl_top", "ASL@g1-10", decimals(1)),
        Column("effective_share", heading="averaged", form=PERCENT),
        *map(bucket, range(len(result.edges) - 1)),
        Column("missing", form=NUMBER),
        Column("missing_share", lambda run: run.missing / result.n_documents, "missing", PERCENT),
    )


def length_distributions(
    evaluation: Evaluation,
    *,
    cutoff: int | None = None,
    missing: Missing = "cutoff",
    bins: int = 10,
) -> LengthDistributions:
    """Count the relevant documents by search length, the missing ones separately.

    Parameters
    ----------
    evaluation, cutoff, missing
        See `ir_outcomes.rrie`, for all runs of the evaluation.
    bins : int
        Number of buckets, of equal width.

    References
    ----------
    Alex et al. 2022, section 4.5, Figure 5.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> run = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    >>> result = length_distributions(evaluate({"q": {"a": 1, "b": 1, "c": 1}}, {"run": run}), bins=3)
    >>> result.edges, result.runs[0].counts, result.runs[0].missing
    ((1, 2, 3, 4), (1, 1, 0), 1)
    """
    check_positive("bins", bins)
    runs, settings, notes = runs_at_depth(evaluation, cutoff, missing)
    ends = np.linspace(1, settings.cutoff + 1, bins + 1)
    edges = np.unique(ends.round().astype(np.int64))
    distributions = [_distribution(run, missing, edges) for run in runs]
    return LengthDistributions(
        runs=tuple(sorted(distributions, key=lambda run: run.asl)),
        edges=tuple(edges.tolist()),
        n_documents=len(runs[0].rank),
        n_queries=int(runs[0].answerable.sum()),
        settings=settings,
        notes=notes,
    )


def _distribution(run: SearchLengths, missing: Missing, edges: Ints) -> LengthDistribution:
    found = run.rank > 0
    counts, _ = np.histogram(document_lengths(run, missing)[found], edges)
    return LengthDistribution(
        run=run.name,
        asl=float(np.nanmean(run.asl(missing=missing))),
        asl_top=float(np.nanmean(run.asl(ASL_FIRST, missing))),
        counts=tuple(counts.tolist()),
        missing=int(np.sum(~found)),
        effective_share=None if run.ties == "expected" else effective_share(run),
    )


Moved = Literal["lost", "won", "further up", "further down"]

SIZES = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000)


class DocumentChange(NamedTuple):
    """A relevant document that at least one of two runs found."""

    query_id: str
    document_id: str
    #: Ranks, lower is better; None where it is not found. Under ``ties="expected"`` the first rank
    #: of its tie level.
    baseline_rank: int | None
    contender_rank: int | None
    #: Irrelevant documents above it in the contender minus those in the baseline, lower is better;
    #: None where only one run found it.
    change: float | None

    @property
    def which(self) -> Moved | None:
        """What happened to the document; None where its search length stayed the same."""
        if self.change is None:
            return "won" if self.baseline_rank is None else "lost"
        if self.change == 0:
            return None
        return "further up" if self.change < 0 else "further down"


DOCUMENT_COLUMNS = (
    Column("query_id", heading="query"),
    Column("document_id", heading="document"),
    Column("baseline_rank", heading="A", form=NUMBER),
    Column("contender_rank", heading="B", form=NUMBER),
    Column("change", form=signed(1)),
)


@dataclass(frozen=True)
class DocumentChanges(Result):
    """Relevant documents that a contender lost, won, or moved in one direction.

    Attributes
    ----------
    baseline, contender : str
        Names of the runs.
    which : {"lost", "won", "further up", "further down"}
        What happened to the documents.
    documents : tuple of DocumentChange
        Those found only once by their rank, the others by the size of the change, the largest
        first.
    n_documents : int
        How many such documents there are, listed or not.
    settings
        As in `LengthChanges`.
    """

    baseline: str
    contender: str
    which: Moved
    documents: tuple[DocumentChange, ...]
    n_documents: int
    settings: TailSettings

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each document that is listed."""
        return rows_of(DOCUMENT_COLUMNS, self.documents)


@dataclass(frozen=True)
class LengthChanges(Result):
    """What a contender does to each relevant document; the figure is "changes", Figure 6.

    Each relevant document is counted once: in `further_up`, `further_down`, `unchanged`, `won`,
    `lost` or `neither`.

    Attributes
    ----------
    baseline, contender : str
        Names; changes are contender minus baseline, in irrelevant documents above a relevant one,
        lower is better.
    edges : tuple of int
        Sizes of the changes: bucket i holds those from ``edges[i]`` up to, not including, ``edges[i
        + 1]``; the last is open. A size that is not a whole number, which ``ties="expected"``
        gives, is rounded up.
    further_up, further_down : tuple of int
        Relevant documents that both runs found and that have a smaller, and a larger, search length
        in the contender, by size.
    unchanged : int
        Relevant documents that both found, with the same search length.
    won, lost, neither : int
        Relevant documents that only the contender found, only the baseline found, and neither
        found.
    mean : float
        Mean change over all relevant documents, queries weighing the same: the difference of ASL,
        in irrelevant documents above a relevant one.
    settings
        `TailSettings`; see `ir_outcomes.Comparison`.
    moves : tuple of DocumentChange or None
        The documents that at least one run found; see `documents`. None where they are not known;
        JSON holds them only with ``to_json(per_query=True)``.
    """

    baseline: str
    contender: str
    edges: tuple[int, ...]
    further_up: tuple[int, ...]
    further_down: tuple[int, ...]
    unchanged: int
    won: int
    lost: int
    neither: int
    mean: float
    settings: TailSettings
    moves: tuple[DocumentChange, ...] | None = field(default=None, compare=False, metadata=OPTIONAL)

    @property
    def n_documents(self) -> int:
        """Number of relevant documents."""
        found_by_both = sum(self.further_up) + sum(self.further_down) + self.unchanged
        return found_by_both + self.won + self.lost + self.neither

    def documents(self, which: Moved, top: int | None = None) -> DocumentChanges:
        """List the documents that were lost, won, or moved in one direction.

        `top` is how many: the best-ranked of those lost or won, the largest changes.
        `ParameterError` if they are not known.
        """
        check_choice("which", which, get_args(Moved))
        check_positive("top", top, none_allowed=True)
        if self.moves is None:
            raise ParameterError(
                "the documents are not known: compute the result from qrels and runs, or write its"
                " JSON with to_json(per_query=True)"
            )
        chosen = [move for move in self.moves if move.which == which]
        if which in ("won", "lost"):
            chosen.sort(key=lambda move: move.baseline_rank or move.contender_rank or 0)
        else:
            chosen.sort(key=lambda move: -abs(move.change or 0))
        return DocumentChanges(
            self.baseline,
            self.contender,
            which,
            tuple(chosen[:top]),
            len(chosen),
            self.settings,
            notes=self.notes,
            versions=self.versions,
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each kind and size of change, with the number and share of all relevant documents."""
        highs = [*(high - 1 for high in self.edges[1:]), None]
        counted: list[tuple[str, int | None, int | None, int]] = [
            (change, low, high, number)
            for change, numbers in (
                ("further up", self.further_up),
                ("further down", self.further_down),
            )
            for low, high, number in zip(self.edges, highs, numbers, strict=True)
        ]
        counted.append(("unchanged", 0, 0, self.unchanged))
        counted += [
            (change, None, None, getattr(self, change)) for change in ("won", "lost", "neither")
        ]
        return [
            {
                "change": change,
                "from": low,
                "to": high,
                "documents": number,
                "share": number / self.n_documents,
            }
            for change, low, high, number in counted
        ]


def length_changes(
    evaluation: Evaluation,
    baseline: str,
    contender: str,
    *,
    cutoff: int | None = None,
    missing: Missing = "cutoff",
    bins: int | None = None,
) -> LengthChanges:
    """Count the relevant documents by how their search length changed, and those that only one run found.

    Parameters
    ----------
    evaluation, baseline, contender, cutoff, missing
        See `ir_outcomes.rrie`; `missing` is for the mean change only.
    bins : int, optional
        Number of buckets of equal width in each direction, up to the depth, as in Figure 6. By
        default the buckets grow: 1 to 2, 3 to 9, 10 to 29 and so on.

    References
    ----------
    Alex et al. 2022, section 4.5, Figure 6.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> runs = {"A": {"q": {"x": 3.0, "a": 2.0}}, "B": {"q": {"a": 3.0, "x": 2.0}}}
    >>> result = length_changes(evaluate({"q": {"a": 1}}, runs), "A", "B")
    >>> result.further_up, result.mean
    ((1,), -1.0)
    """
    check_positive("bins", bins, none_allowed=True)
    evaluation = checked_evaluation(evaluation)
    (first, second), settings, notes = runs_at_depth(
        evaluation, cutoff, missing, [baseline, contender]
    )
    by_first = first.rank > 0
    by_second = second.rank > 0
    by_both = by_first & by_second
    changes = document_lengths(second, missing) - document_lengths(first, missing)
    largest = float(np.abs(changes[by_both]).max(initial=1.0))
    edges = tuple(size for size in SIZES if size <= largest)
    if bins is not None:
        # A whole number of ranks, so that together they reach the depth.
        width = -(-settings.cutoff // bins)
        edges = tuple(range(1, 1 + width * bins, width))
    return LengthChanges(
        baseline=first.name,
        contender=second.name,
        edges=edges,
        further_up=_by_size(-changes[by_both], edges),
        further_down=_by_size(changes[by_both], edges),
        unchanged=int(np.sum(changes[by_both] == 0)),
        won=int(np.sum(by_second & ~by_first)),
        lost=int(np.sum(by_first & ~by_second)),
        neither=int(np.sum(~by_first & ~by_second)),
        mean=float(
            np.nanmean(second.asl(missing=missing)) - np.nanmean(first.asl(missing=missing))
        ),
        moves=(
            None
            if evaluation.qrels is None
            else _moves(evaluation.qrels, first, second, np.where(by_both, changes, np.nan))
        ),
        settings=settings,
        notes=notes,
    )


def _by_size(changes: Floats, edges: tuple[int, ...]) -> tuple[int, ...]:
    """Count the positive changes by their size."""
    counts, _ = np.histogram(np.ceil(changes[changes > 0]), [*edges, np.inf])
    return tuple(counts.tolist())


def _moves(
    qrels: Qrels, baseline: SearchLengths, contender: SearchLengths, changes: Floats
) -> tuple[DocumentChange, ...]:
    """List the documents that at least one run found; `changes` are NaN where only one did."""
    found = (baseline.rank > 0) | (contender.rank > 0)
    queries = set(baseline.query_ids)  # which may be some of those of the qrels
    kept = np.array([query in queries for query in qrels.query_ids], dtype=bool)
    documents = qrels.docids[(qrels.grades >= baseline.rel) & kept[qrels.codes]][found]
    ranks = [run.rank[found].tolist() for run in (baseline, contender)]
    atoms = zip(
        baseline.query[found].tolist(),
        documents.tolist(),
        *ranks,
        changes[found].tolist(),
        strict=True,
    )
    return tuple(
        DocumentChange(
            baseline.query_ids[query],
            document.decode(),
            before or None,
            after or None,
            None if np.isnan(change) else change,
        )
        for query, document, before, after, change in atoms
    )
