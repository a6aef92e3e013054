"""Runs evaluated once under the same qrels and settings: what every analysis takes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from ir_outcomes._checks import check_positive
from ir_outcomes._types import Bools, Ties, Unit
from ir_outcomes.errors import IrOutcomesWarning, MismatchError, ParameterError, some, user_stacklevel
from ir_outcomes.evaluation.documents import RankedDocuments
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.scores import (
    MeasureOfLengths,
    RunScorer,
    Scores,
    comparable_measures,
    reciprocal_ranks,
    scores_from_lengths,
    stacked_scores,
)
from ir_outcomes.reading.files import read_ids
from ir_outcomes.reading.measure_names import parse_measure
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import as_run

__all__ = ["DEFAULT_CUTOFF", "Evaluation"]

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
        if measure is None:
            return reciprocal_ranks(self.runs, self.cutoff if cutoff is None else cutoff)
        parsed = parse_measure(measure)
        if isinstance(parsed, MeasureOfLengths):
            parsed = parsed.for_comparison()  # as it was kept
        for scores in self.scores:
            if scores.measure == str(parsed):
                return scores
        computed = scores_from_lengths(parsed, self.runs)
        if computed is not None:
            return computed
        return self._read_scores(parsed)

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
