"""Runs evaluated once under the same qrels and settings: what every analysis takes."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from ir_outcomes.errors import IrOutcomesWarning, MismatchError, ParameterError, some, user_stacklevel
from ir_outcomes.evaluation.lengths import SearchLengths, text_before
from ir_outcomes.evaluation.ranking import judged_part, locate, places_of, ranked_rows
from ir_outcomes.evaluation.scores import (
    MeasureOfLengths,
    RunScorer,
    Scores,
    comparable_measures,
    reciprocal_ranks,
    scores_from_lengths,
    stacked_scores,
)
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import Ids
from ir_outcomes.reading.files import read_ids
from ir_outcomes.reading.measure_names import parse_measure
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, as_run, check_distinct
from ir_outcomes.types import Bools, Floats, Ints, Ties, Unit, check_one_order, check_positive

UNEVEN_JUDGING = 0.05  # shares of unjudged documents that differ by more can bias a comparison


def notes_on_queries(runs: Sequence[SearchLengths]) -> Iterator[str]:
    """Say which queries are left out, count as unanswered, or are ignored."""
    unanswerable = int(np.sum(~runs[0].answerable))
    if unanswerable:
        verb = "has" if unanswerable == 1 else "have"
        left_out = "is" if unanswerable == 1 else "are"
        yield f"{plural('query', unanswerable)} {verb} no relevant document at rel {runs[0].rel} and {left_out} left out."
    yield from _notes_on_clusters(runs[0])
    yield from notes_on_listing(runs)


def _notes_on_clusters(run: SearchLengths) -> Iterator[str]:
    """Say that ids look like those of clusters: the text before a separator is that of several queries each."""
    if run.clusters is not None:
        return
    for separator in ("<::>", "::", "#", "_"):
        n_clusters = len({text_before(separator, query) for query in run.query_ids})
        if 10 <= n_clusters <= len(run.query_ids) / 2:
            yield (
                f"Dependent queries: by their ids they seem to be in {n_clusters} clusters (the text before {separator!r}), "
                f"and tests take queries as independent; if so, pass clusters='by:{separator}'."
            )
            return


def notes_on_listing(runs: Sequence[SearchLengths]) -> Iterator[str]:
    """Say which queries runs lack, or have beyond the qrels; runs with the same queries share a note."""
    lacking: dict[str, list[str]] = {}
    ignoring: dict[str, list[str]] = {}
    for run in runs:
        absent = np.flatnonzero(run.answerable & ~run.listed)
        if len(absent):
            missing = [run.query_ids[query] for query in absent]
            lacking.setdefault(f"{plural('query', len(missing))} of the qrels ({some(missing)})", []).append(run.name)
        if run.ignored:
            ignored = f"{plural('query', len(run.ignored))} that the qrels lack ({some(run.ignored)})"
            ignoring.setdefault(ignored, []).append(run.name)
    for queries, names in lacking.items():
        yield f"Missing queries: {some(names)} {'lacks' if len(names) == 1 else 'lack'} {queries}, which count as unanswered."
    for queries, names in ignoring.items():
        yield f"{some(names)} {'has' if len(names) == 1 else 'have'} {queries}, which are ignored."


def n_missing(run: SearchLengths) -> int:
    """Count the answerable queries for which the run returned nothing."""
    # Under judged_only an empty list can mean that all its documents were removed, so only absent queries count.
    absent = ~run.listed if run.judged_only else run.retrieved == 0
    return int(np.sum(run.answerable & absent))


def unjudged_share(run: SearchLengths, depth: int) -> float | None:
    """Share of unjudged documents among the first documents of all lists; None where this depth was not kept."""
    unjudged = run.unjudged_within(depth)
    if unjudged is None:
        return None
    return float(unjudged.sum() / max(np.minimum(run.retrieved, depth).sum(), 1))


UNJUDGED = -1


@dataclass(frozen=True, eq=False)
class RankedDocuments:
    """Documents of a run with their ranks, query by query, in the order of the qrels' queries.

    Attributes
    ----------
    name : str
        The run.
    query_ids : tuple of str
        All queries of the qrels, in their order.
    offsets : (n_queries + 1,) int64 array
        The rows of query i are ``offsets[i]:offsets[i + 1]``, in the order of their ranks.
    rank : (n,) int64 array
        Rank of each document, from 1.
    docids : (n,) bytes array
        Document ids in UTF-8.
    scores : (n,) float64 array
        Scores of the run.
    grades : (n,) int64 array
        Judged grades; -1 where there is none.
    depth : int
        The first so many documents of each list were considered.
    """

    name: str
    query_ids: tuple[str, ...]
    offsets: Ints
    rank: Ints
    docids: Ids
    scores: Floats
    grades: Ints
    depth: int

    def __repr__(self) -> str:
        return f"RankedDocuments({self.name!r}, {len(self.docids)} documents of {len(self.query_ids)} queries)"

    def first(self, depth: int) -> RankedDocuments:
        """Return only the documents up to a smaller depth."""
        return replace(self._rows(np.flatnonzero(self.rank <= depth)), depth=min(depth, self.depth))

    def unjudged(self) -> RankedDocuments:
        """Return only the documents that are not judged."""
        return self._rows(np.flatnonzero(self.grades == UNJUDGED))

    def restrict(self, queries: Ints) -> RankedDocuments:
        """Return the documents of some of the queries, given by their indices, ascending."""
        lengths = np.diff(self.offsets)[queries]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rows = np.repeat(self.offsets[:-1][queries] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return replace(
            self._rows(rows),
            query_ids=tuple(self.query_ids[query] for query in queries.tolist()),
            offsets=offsets,
        )

    def _rows(self, rows: Ints) -> RankedDocuments:
        return replace(
            self,
            offsets=np.searchsorted(rows, self.offsets).astype(np.int64),
            rank=self.rank[rows],
            docids=self.docids[rows],
            scores=self.scores[rows],
            grades=self.grades[rows],
        )


def ranked_documents(qrels: Qrels, run: Run, depth: int, *, ties: Ties = "trec", judged_only: bool = False) -> RankedDocuments:
    """List the first documents of each query.

    Parameters
    ----------
    qrels : Qrels
        Their queries are listed, in their order.
    run : Run
        The run.
    depth : int
        How many documents of each query.
    ties : {"trec", "msmarco", "input"}
        Order among equal scores; see `ir_outcomes.search_lengths`.
    judged_only : bool
        Remove unjudged documents before ranks are counted.

    Raises
    ------
    ParameterError
        If the tie rule gives no single order.
    """
    check_one_order(ties)
    places = places_of(qrels, run)
    if judged_only:
        run = judged_part(qrels, run, places)
    rows = locate(qrels, run, places)
    grades = np.full(len(run), UNJUDGED, dtype=np.int64)
    found = rows >= 0
    # A negative grade means that the document was in the pool but not judged.
    grades[rows[found]] = np.maximum(qrels.grades[found], UNJUDGED)

    order = ranked_rows(run, ties)
    lengths = np.append(np.diff(run.offsets), 0)[places]  # the last, at place -1, is that of queries that the run lacks
    starts = np.append(run.offsets[:-1], 0)[places]
    kept = np.minimum(lengths, depth)
    offsets = np.concatenate([[0], np.cumsum(kept)])
    rank = np.arange(offsets[-1]) - np.repeat(offsets[:-1], kept) + 1
    chosen = order[np.repeat(starts, kept) + rank - 1]
    return RankedDocuments(
        run.name, qrels.query_ids, offsets, rank, run.docids[chosen], run.scores[chosen], grades[chosen], depth
    )


DEFAULT_CUTOFF = 100


@dataclass(frozen=True, eq=False)
class Evaluation(Sequence[SearchLengths]):
    """Search lengths of several runs, made from the same qrels with the same settings; see `evaluate`.

    An evaluation is a sequence: ``len(ev)``, ``ev[0]``, iteration; ``ev["bm25"]`` finds a run by its name, and a slice or a
    list of names is an evaluation of those runs.

    Attributes
    ----------
    runs : tuple of SearchLengths
        The runs. Those that were read from files keep their whole depth.
    collection : str
        What the qrels are called: the dataset id or the name of the file.
    cutoff : int
        The default of the analyses: ranks beyond it do not count.
    unit : {"query", "document"}
        What is answered or not.
    many_relevant : bool
        Whether any answerable query of the collection has more than one relevant document.
    texts : mapping of str to str
        Texts of queries by query id, as far as they are known.
    scores : tuple of Scores
        Values of the measures that were asked for, for all runs.
    documents : tuple of RankedDocuments or None
        The first documents of each list, where they were asked for; one for each run.
    unjudged : tuple of RankedDocuments or None
        Unjudged documents within the cutoff, where they were asked for; one for each run.
    sources : tuple of object
        What each run was read from; None where it cannot be read again.
    qrels : Qrels or None
        The judgments; None where they were not kept.
    """

    runs: tuple[SearchLengths, ...]
    collection: str
    cutoff: int
    unit: Unit
    many_relevant: bool
    texts: Mapping[str, str] = field(default_factory=dict)
    scores: tuple[Scores, ...] = ()
    documents: tuple[RankedDocuments, ...] | None = None
    unjudged: tuple[RankedDocuments, ...] | None = None
    sources: tuple[Any, ...] = ()
    qrels: Qrels | None = None

    def __post_init__(self) -> None:
        check_distinct(self.names)

    def __repr__(self) -> str:
        return (
            f"Evaluation({self.collection!r}, {len(self.runs)} runs, {len(self.query_ids)} queries, cutoff={self.cutoff}, "
            f"rel={self.rel}, unit={self.unit!r})"
        )

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[SearchLengths]:
        return iter(self.runs)

    @overload
    def __getitem__(self, key: int | str) -> SearchLengths: ...

    @overload
    def __getitem__(self, key: slice | list[str]) -> Evaluation: ...

    def __getitem__(self, key: int | str | slice | list[str]) -> SearchLengths | Evaluation:
        if isinstance(key, int):
            return self.runs[key]
        if isinstance(key, str):
            return self.runs[self.position(key)]
        if isinstance(key, slice):
            return self._take(list(range(len(self.runs))[key]))
        return self._take([self.position(name) for name in key])

    def position(self, name: str) -> int:
        """Find a run by its name.

        Raises
        ------
        ParameterError
            If no run has this name.
        """
        if name not in self.names:
            raise ParameterError(f"no run is called {name!r}; the runs are {some(self.names, 10)}")
        return self.names.index(name)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the runs."""
        return tuple(run.name for run in self.runs)

    @property
    def query_ids(self) -> tuple[str, ...]:
        """All queries of the qrels, in their order."""
        return self.runs[0].query_ids

    @property
    def rel(self) -> int:
        """Smallest grade of a relevant document."""
        return self.runs[0].rel

    @property
    def ties(self) -> Ties:
        """Order among equal scores."""
        return self.runs[0].ties

    @property
    def judged_only(self) -> bool:
        """Whether unjudged documents were removed before ranks were counted."""
        return self.runs[0].judged_only

    @property
    def qrels_digest(self) -> str:
        """Hash of the qrels."""
        return self.runs[0].qrels_digest

    @property
    def answerable(self) -> Bools:
        """(n_queries,) bool array: whether the query has a relevant document."""
        return self.runs[0].answerable

    @property
    def clusters(self) -> Ints | None:
        """(n_queries,) int64 array: the cluster of each query; None where queries are independent."""
        return self.runs[0].clusters

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters that have an answerable query; None where queries are independent."""
        return None if self.clusters is None else len(np.unique(self.clusters[self.answerable]))

    @property
    def clusters_digest(self) -> str | None:
        """Hash of which queries are together; None where queries are independent."""
        return None if self.clusters is None else hashlib.sha256(self.clusters.tobytes()).hexdigest()[:32]

    def at(self, cutoff: int | None = None) -> tuple[SearchLengths, ...]:
        """Return the search lengths of all runs at a cutoff, by default the evaluation's own.

        Raises
        ------
        MismatchError
            If a run was given as search lengths with a smaller cutoff.
        """
        return tuple(run.at(self.cutoff if cutoff is None else cutoff) for run in self.runs)

    def scores_of(self, measure: Any, *, cutoff: int | None = None) -> Scores:
        """Return the values of a measure for all runs.

        Measures of search lengths with the settings of this evaluation are computed from what is here. Others must have been
        asked for in ``evaluate(measures=)``, or the runs are read again where that is possible, with a warning.

        Parameters
        ----------
        measure : Measure or str or None
            Such as ``nDCG@10``. None is the reciprocal rank of the first relevant document at `cutoff`, over the answerable
            queries.
        cutoff : int, optional
            For the reciprocal rank; by default the evaluation's own.

        Raises
        ------
        ParameterError
            If the measure was not kept and the runs cannot be read again.
        """
        scores = self._scores_of(measure, cutoff)
        if self.clusters is None:
            return scores
        place = {query: index for index, query in enumerate(self.query_ids)}
        return replace(scores, clusters=self.clusters[[place[query] for query in scores.query_ids]])

    def _scores_of(self, measure: Any, cutoff: int | None) -> Scores:
        if measure is None:
            return reciprocal_ranks(self.runs, self.cutoff if cutoff is None else cutoff)
        parsed = parse_measure(measure)
        if isinstance(parsed, MeasureOfLengths):
            parsed = parsed.for_comparison()  # as it was kept
        for scores in self.scores:
            if scores.measure == str(parsed):
                return scores
        return scores_from_lengths(parsed, self.runs) or self._read_scores(parsed)

    def _read_scores(self, measure: Any) -> Scores:
        remedy = f"pass measures=[{str(measure)!r}] to evaluate"
        if self.qrels is None or not self.sources or any(source is None for source in self.sources):
            raise ParameterError(f"{measure} was not kept, and some runs cannot be read again; {remedy}")
        message = f"{measure} was not kept, so all runs are read again; {remedy}"
        warnings.warn(message, IrOutcomesWarning, stacklevel=user_stacklevel())
        measures = comparable_measures([measure])
        scorer = RunScorer(self.qrels, tuple(measures))
        values = [scorer.values(as_run(source, name)) for source, name in zip(self.sources, self.names, strict=True)]
        (scores,) = stacked_scores(self.qrels.query_ids, self.names, measures, np.stack(values))
        return scores.on(self.query_ids)

    def restrict(self, queries: Iterable[str] | str | os.PathLike[str]) -> Evaluation:
        """Return the evaluation of some of the queries.

        Parameters
        ----------
        queries : iterable of str, or path
            Query ids; a file has one id on each line.

        Raises
        ------
        MismatchError
            If a query is not in the qrels, or there is no query.
        """
        ids = list(read_ids(queries) if isinstance(queries, (str, os.PathLike)) else queries)
        place = {query: index for index, query in enumerate(self.query_ids)}
        missing = [query for query in ids if query not in place]
        if missing:
            raise MismatchError(f"the qrels have no query {some(missing)}")
        if not ids:
            raise MismatchError("the list of queries is empty; name at least one query")
        chosen = np.array(sorted({place[query] for query in ids}), dtype=np.int64)
        kept = [self.query_ids[index] for index in chosen.tolist()]
        return replace(
            self,
            runs=tuple(run.restrict(chosen) for run in self.runs),
            scores=tuple(scores.on(kept) for scores in self.scores),
            documents=None if self.documents is None else tuple(documents.restrict(chosen) for documents in self.documents),
            unjudged=None if self.unjudged is None else tuple(documents.restrict(chosen) for documents in self.unjudged),
        )

    def with_cutoff(self, cutoff: int) -> Evaluation:
        """Return the same with another default cutoff."""
        check_positive("cutoff", cutoff)
        return replace(self, cutoff=cutoff)

    def _take(self, places: list[int]) -> Evaluation:
        return replace(
            self,
            runs=tuple(self.runs[place] for place in places),
            scores=tuple(scores.take(places) for scores in self.scores),
            documents=None if self.documents is None else tuple(self.documents[place] for place in places),
            unjudged=None if self.unjudged is None else tuple(self.unjudged[place] for place in places),
            sources=tuple(self.sources[place] for place in places) if self.sources else (),
        )
