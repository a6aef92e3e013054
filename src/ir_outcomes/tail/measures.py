"""Runs at a depth that they share, and measures of all relevant documents there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from ir_measures import AP, P

from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation, evaluation_of
from ir_outcomes.evaluation.lengths import SearchLengths, means_by_query
from ir_outcomes.evaluation.remarks import (
    UNEVEN_JUDGING,
    notes_on_copies,
    notes_on_documents,
    notes_on_listing,
    unjudged_share,
)
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.search import JUDGED_DEPTH
from ir_outcomes.formatting import percent, plural
from ir_outcomes.measures import ASL
from ir_outcomes.notes import Note, as_notes
from ir_outcomes.types import Floats, Missing, Ties, check_choice, check_positive, divided


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
    if names is not None:
        evaluation = evaluation[names]
    # Length of the longest list.
    reached = {run.name: int(run.retrieved.max(initial=1)) for run in evaluation.runs}
    shared = min(reached.values())
    depth = cutoff or min(evaluation.cutoff, max(reached.values()))
    notes = list(notes_on_unanswerable(evaluation))
    if cutoff is not None and shared < cutoff:
        shallow = [name for name, length in reached.items() if length < cutoff]
        notes.append(
            f"{some(shallow)}: no list reaches the cutoff {cutoff}; what is ranked below its end is"
            " unknown."
        )
    elif shared < depth:
        depths = _depths(reached)
        if missing == "cutoff":
            after = " after unjudged documents are removed" if evaluation.judged_only else ""
            raise MismatchError(
                f"the runs differ in depth{after} ({depths}), and short lists look good in ASL:"
                f" give the depth that all share, `cutoff={shared}`, or `missing='retrieved'` for"
                " equation 3 of Alex et al. 2022 as printed"
            )
        notes.insert(
            0, f"The runs differ in depth ({depths}); short lists look good in ASL, equation 3."
        )
    runs = evaluation.at(depth)
    if missing == "retrieved":
        _refuse_lists_without_irrelevant_documents(runs)
    notes += _notes_on_unjudged(evaluation.runs, min(depth, shared))
    settings = TailSettings(depth, evaluation.rel, evaluation.ties, evaluation.judged_only, missing)
    return runs, settings, as_notes(notes)


def _depths(reached: Mapping[str, int]) -> str:
    """List the runs by the length of their longest list."""
    listed = []
    for length in sorted(set(reached.values())):
        names = [name for name, own in reached.items() if own == length]
        listed.append(f"{length}: {some(names, 3)}")
    return "; ".join(listed)


def notes_on_unanswerable(evaluation: Evaluation) -> Iterator[str]:
    """Say how queries without a relevant document count, and which queries runs lack or have beyond the qrels."""
    number = int(np.sum(~evaluation.answerable))
    if number:
        yield (
            f"{plural('query', number)} without a relevant document at rel {evaluation.rel}: left"
            " out of search lengths, 0 in other measures, as in ir_measures."
        )
    yield from notes_on_documents(evaluation.runs)
    yield from notes_on_copies(evaluation.runs)
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
    first = JUDGED_DEPTH
    if depth < first or runs[0].judged_only:
        return
    shares = sorted(
        (share, run.name) for run in runs if (share := unjudged_share(run, first)) is not None
    )
    least, best = shares[0]
    most, worst = shares[-1]
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
    other_rule = "" if settings.ties == "trec" else f", ties {settings.ties}"
    at_top = [precision_at(run, depth) for run in runs]
    of_all = [average_precision(run) for run in runs]
    asl_at_top = [run.asl(ASL_FIRST, missing) for run in runs]
    asl_of_all = [run.asl(missing=missing) for run in runs]
    return [
        _scores(f"{P(**rule) @ depth}{other_rule}", True, runs, at_top),
        _scores(str(asl(first=ASL_FIRST)), False, runs, asl_at_top),
        _scores(f"{AP(**rule) @ cutoff}{other_rule}", True, runs, of_all),
        _scores(str(asl), False, runs, asl_of_all),
    ]


def _scores(
    measure: str, higher_is_better: bool, runs: Sequence[SearchLengths], values: Sequence[Floats]
) -> Scores:
    """Make scores of (n_queries,) values of each run: 0 for precisions, NaN for lengths without a relevant document."""
    stacked = np.stack(values)
    if higher_is_better:
        stacked[:, ~runs[0].answerable] = 0.0
    names = tuple(run.name for run in runs)
    return Scores(measure, higher_is_better, names, runs[0].query_ids, stacked)


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
