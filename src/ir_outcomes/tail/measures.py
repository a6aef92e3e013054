"""Runs at a depth that they share, and measures of all relevant documents there."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from ir_measures import AP, P

from ir_outcomes.arguments import check_one_order
from ir_outcomes.choices import Floats, Missing, divided
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
from ir_outcomes.measures.asl import ASL
from ir_outcomes.notes import Note, as_notes
from ir_outcomes.tail.result import TailSettings


def runs_at_depth(
    evaluation: Evaluation, cutoff: int | None, missing: Missing, names: list[str] | None = None
) -> tuple[tuple[SearchLengths, ...], TailSettings, tuple[Note, ...]]:
    """Take runs at a depth they share, the cutoff or less, with settings and notes."""
    evaluation = checked_evaluation(evaluation)
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
        depths = "; ".join(
            f"{length}: {some([name for name in reached if reached[name] == length], 3)}"
            for length in sorted(set(reached.values()))
        )
        if missing == "cutoff":
            judged = " after unjudged documents are removed" if evaluation.judged_only else ""
            raise MismatchError(
                f"the runs differ in depth{judged} ({depths}), and short lists look good in ASL:"
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


def notes_on_unanswerable(evaluation: Evaluation) -> Iterator[str]:
    """Say how queries without a relevant document count, and which queries runs lack."""
    if evaluation.n_unanswerable:
        yield (
            f"{plural('query', evaluation.n_unanswerable)} without a relevant document at rel {evaluation.rel}: left"
            " out of search lengths, 0 in other measures, as in ir_measures."
        )
    yield from notes_on_documents(evaluation.runs)
    yield from notes_on_copies(evaluation.runs)
    yield from notes_on_listing(evaluation.runs)


def checked_evaluation(source: Any) -> Evaluation:
    """Refuse an evaluation with clusters or several orders."""
    evaluation = evaluation_of(source)
    check_one_order(evaluation.ties)
    if evaluation.clusters is not None:
        raise ParameterError(
            "the analyses of the tail take queries as independent; evaluate without clusters"
        )
    return evaluation


def _notes_on_unjudged(runs: Sequence[SearchLengths], depth: int) -> Iterator[str]:
    """Say where runs have unequal shares of unjudged documents."""
    first = JUDGED_DEPTH
    if depth < first or runs[0].judged_only:
        return
    of_runs = [(unjudged_share(run), run.name) for run in runs]
    shares = sorted((share, name) for share, name in of_runs if share is not None)
    (least, best), (largest, worst) = shares[0], shares[-1]
    if largest - least > UNEVEN_JUDGING:
        yield (
            f"Of the first {first} documents, {percent(least, 0)} % are unjudged in {best} and"
            f" {percent(largest, 0)} % in {worst}. They count as irrelevant, which favors runs that"
            " have fewer of them; compare the result with `judged_only=True`."
        )


def _refuse_lists_without_irrelevant_documents(runs: Sequence[SearchLengths]) -> None:
    """Refuse lists in which equation 3 gives a missing document a search length of 0."""
    for run in runs:
        without = run.retrieved == run.relevant_retrieved
        without &= run.relevant_retrieved < run.relevant
        queries = [run.query_ids[query] for query in np.flatnonzero(without)]
        if queries:
            raise ParameterError(
                f"{run.name}: no irrelevant documents for {plural('query', len(queries))}"
                f" ({some(queries)}), where a missing document has no search length under equation"
                " 3; use `missing='cutoff'`"
            )


PRECISION_DEPTH = 20
ASL_FIRST = 10


def top_and_all(runs: Sequence[SearchLengths], settings: TailSettings) -> list[Scores]:
    """P@20 (or less deep), ASL@g1-10, AP and ASL: Alex et al. 2022, Table 1."""
    depth = min(PRECISION_DEPTH, settings.cutoff)
    missing = settings.missing
    rule = {"rel": settings.rel, "judged_only": settings.judged_only}
    asl = ASL(missing=missing, ties=settings.ties, **rule) @ settings.cutoff
    # Precisions have the names of ir_measures where they have its values.
    ties = "" if settings.ties == "trec" else f", ties {settings.ties}"
    precision = f"{P(**rule) @ depth}{ties}"
    average = f"{AP(**rule) @ settings.cutoff}{ties}"
    first = str(asl(first=ASL_FIRST))
    return [
        _scores(precision, True, runs, lambda run: precision_at(run, depth)),
        _scores(first, False, runs, lambda run: run.asl(ASL_FIRST, missing)),
        _scores(average, True, runs, average_precision),
        _scores(str(asl), False, runs, lambda run: run.asl(missing=missing)),
    ]


def _scores(
    measure: str,
    higher_is_better: bool,
    runs: Sequence[SearchLengths],
    values: Callable[[SearchLengths], Floats],
) -> Scores:
    """Make scores of the (n_queries,) values of each run."""
    stacked = np.stack(list(map(values, runs)))
    if higher_is_better:
        stacked[:, ~runs[0].answerable] = 0.0  # as ir_measures has precisions
    names = tuple(run.name for run in runs)
    return Scores(measure, higher_is_better, names, runs[0].query_ids, stacked)


# From AP to ASL, one change of the definition at a time: Alex et al. 2022, section 4.4.
STEPS = ("atomize P", "harmonic within queries", "harmonic across queries")


def ablation(runs: Sequence[SearchLengths], missing: Missing) -> list[Scores]:
    """The measures between the steps from AP to ASL."""
    # The mean within a query of 1 / ASL of each document; 1 / ASL of each query, which is the
    # harmonic instead of the arithmetic mean within it; ASL, of which 1 / mean is the harmonic mean
    # across queries.
    return [
        _scores("AP", True, runs, average_precision),
        _scores(
            "atomized P", True, runs, lambda run: _means(run, 1 / run.document_lengths(missing))
        ),
        _scores("harmonic P", True, runs, lambda run: 1 / run.asl(missing=missing)),
        _scores("ASL", False, runs, lambda run: run.asl(missing=missing)),
    ]


def _means(run: SearchLengths, values: Floats) -> Floats:
    """Average values of documents within each query."""
    return means_by_query(run.query, values, len(run.query_ids))


def precision_at(run: SearchLengths, depth: int) -> Floats:
    """(n_queries,) share of relevant documents among the first."""
    queries = run.query[(run.rank > 0) & (run.rank <= depth)]
    return np.bincount(queries, minlength=len(run.query_ids)) / depth


def average_precision(run: SearchLengths) -> Floats:
    """(n_queries,) mean precision over a query's relevant documents."""
    return _means(run, document_precisions(run))


def document_precisions(run: SearchLengths) -> Floats:
    """(n_atoms,) precision at each relevant document, 0 where it is missing."""
    return divided(run.rank - run.irrelevant_above, run.rank, run.rank > 0, otherwise=0.0)


def effective_share(run: SearchLengths) -> float:
    """Share of the relevant documents that AP in effect averages."""
    # Alex et al. 2022, Appendix A.1: the documents are taken in the order of their precision until
    # the unweighted mean of their 1/P is as close as possible to 1/MAP, queries weighing the same.
    precisions = document_precisions(run)
    weights = 1 / run.relevant[run.query]
    order = np.argsort(-precisions, kind="stable")
    order = order[precisions[order] > 0]
    if not len(order):
        return 0.0
    included = np.cumsum(weights[order])
    means = np.cumsum(weights[order] / precisions[order]) / included
    target = weights.sum() / (weights * precisions).sum()
    return float(included[np.argmin(np.abs(means - target))] / weights.sum())
