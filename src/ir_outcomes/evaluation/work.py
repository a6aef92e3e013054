"""Runs evaluated one after another, in this process or in others, and what is kept of each."""

import os
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.errors import EmptyInput, InputError, MismatchError, ParameterError, some, warn
from ir_outcomes.evaluation.ids import repair_of_queries
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.parallel import check_jobs, in_parallel
from ir_outcomes.evaluation.ranking import RankedDocuments, ranked_documents
from ir_outcomes.evaluation.replicates import Listed
from ir_outcomes.evaluation.saved import SavedRun
from ir_outcomes.evaluation.scores import measure_values
from ir_outcomes.evaluation.search import search_lengths
from ir_outcomes.formatting import with_progress
from ir_outcomes.reading.datasets import as_run
from ir_outcomes.reading.files import name_of
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, is_path, run_and_warnings
from ir_outcomes.types import Floats, OnError


class Kept(NamedTuple):
    """What is kept of one run."""

    lengths: SearchLengths
    values: Floats  # (n_measures, n_queries), of the measures that search lengths do not determine
    documents: RankedDocuments | None = None
    unjudged: RankedDocuments | None = None
    texts: Mapping[str, str] = {}  # of queries, where the file of the run has them
    # Of reading, which another process may do, whose warnings nobody sees.
    warnings: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()  # the first documents of the run, where the qrels know none of it


# It is hashed by identity, because joblib's backend for Dask waits forever for what has no hash.
@dataclass(frozen=True, eq=False)
class Work:
    """Evaluates one run after another, in this process or in others."""

    qrels: Qrels
    settings: dict[str, Any]
    cutoff: int
    measures: tuple[Any, ...]
    documents: int
    unjudged: bool
    keeps_empty: bool  # runs without results

    def __call__(self, source: Any, name: str | None) -> Kept | InputError:
        """Return what is kept of a run, or its error, which must not end the other runs."""
        try:
            if isinstance(source, SearchLengths):
                result = self._of_saved(SavedRun(source, {}))
            elif isinstance(source, SavedRun):
                result = self._of_saved(source)
            else:
                result = self._of_run(source, name)
            _check_answers(result.lengths, name or result.lengths.name)
        except InputError as error:
            if self.keeps_empty and isinstance(error, EmptyInput):
                nothing = Run(
                    name or name_of(error.source),
                    (),
                    np.zeros(1, np.int64),
                    np.empty(0, "S1"),
                    np.empty(0),
                )
                message = f"{error}; here it counts as a run that finds nothing"
                return self._of_run(nothing, None)._replace(warnings=(message,))
            return error
        return result

    def _of_run(self, source: Any, name: str | None) -> Kept:
        run, messages = (
            run_and_warnings(source, name=name) if is_path(source) else (as_run(source, name), ())
        )
        documents = None
        unjudged = None
        if self.documents or self.unjudged:
            ranked = ranked_documents(
                self.qrels,
                run,
                max(self.documents, self.cutoff if self.unjudged else 0),
                ties=self.settings["ties"],
                judged_only=self.settings["judged_only"],
            )
            if self.documents:
                documents = ranked.first(self.documents)
            if self.unjudged:
                unjudged = ranked.first(self.cutoff).unjudged()
        lengths = search_lengths(self.qrels, run, **self.settings)
        unknown = () if lengths.known else tuple(map(bytes.decode, run.docids[:3].tolist()))
        values = measure_values(self.qrels, self.measures, run)
        return Kept(lengths, values, documents, unjudged, run.texts, messages, unknown)

    def _of_saved(self, run: SavedRun) -> Kept:
        """Refuse search lengths that were computed with other settings than the result will say, and what was not kept."""
        lengths = run.lengths
        if lengths.qrels_digest != self.qrels.digest:
            raise MismatchError(
                f"{lengths.name} was evaluated with other qrels than the other runs; give the same"
                " qrels"
            )
        for setting in ("rel", "ties", "judged_only"):
            computed = getattr(lengths, setting)
            wanted = self.settings[setting]
            if computed != wanted:
                raise MismatchError(
                    f"{lengths.name} was evaluated with `{setting}={computed!r}`, here it is"
                    f" `{setting}={wanted!r}`; pass `{setting}={computed!r}` or evaluate the run"
                    " again"
                )
        lengths.at(self.cutoff)
        asked = [str(measure) for measure in self.measures]
        lacking = [measure for measure in asked if measure not in run.values]
        if self.documents or self.unjudged:
            lacking.append("documents")
        if lacking:
            raise ParameterError(
                f"the search lengths of {lengths.name}, of a saved evaluation, do not hold"
                f" {lacking[0]}; give the file of the run instead"
            )
        values = np.empty((0, len(self.qrels.query_ids)))
        if asked:
            values = np.stack([run.values[measure] for measure in asked])
        return Kept(lengths, values)


def evaluated(
    work: Work,
    jobs: list[Listed],
    *,
    n_jobs: int | None,
    progress: bool,
    on_error: OnError,
) -> list[tuple[Listed, Kept]]:
    """Evaluate runs; return those that could be, with what is kept of them."""
    done: list[tuple[Listed, Kept]] = []
    first: SearchLengths | None = None
    failure: InputError | None = None  # only the first: an error holds on to what was being read
    with closing(each_run(work, jobs, n_jobs)) as attempts:
        for job, result in zip(
            jobs, with_progress(attempts, "run", len(jobs), shown=progress), strict=True
        ):
            if isinstance(result, Kept):
                for message in result.warnings:
                    warn(message)
                first = first or result.lengths
                done.append((job, result._replace(lengths=result.lengths.sharing(first))))
            elif on_error == "report":
                failure = failure or result
                warn(f"a run is left out: {result}")
            else:
                raise result
    if failure is not None and not done:
        raise failure
    return done


def each_run(
    work: Work, jobs: list[Listed], n_jobs: int | None
) -> Generator[Kept | InputError, None, None]:
    """Evaluate the runs in their order, files by other processes through joblib if there is more than one job."""
    check_jobs(n_jobs)
    # Runs in memory would take longer to send than to evaluate, and a pipe is read by this process
    # only. Paths are absolute because a process that is used again may have started in another
    # directory.
    sent = [n_jobs != 1 and is_path(run) and os.path.isfile(run) for run, *_ in jobs]
    calls = [
        partial(work, os.path.abspath(run), name)
        for (run, name, _), is_sent in zip(jobs, sent, strict=True)
        if is_sent
    ]
    with closing(in_parallel(calls, n_jobs)) as elsewhere:
        for (run, name, _), is_sent in zip(jobs, sent, strict=True):
            yield next(elsewhere) if is_sent else work(run, name)


def _check_answers(lengths: SearchLengths, name: str) -> None:
    if not lengths.answerable.any():
        raise MismatchError(
            f"no query of the qrels has a relevant document at `rel={lengths.rel}`; lower it or"
            " check the grades of the qrels"
        )
    if not lengths.listed.any():
        raise EmptyInput(
            name,
            f"none of its queries is in the qrels; the run has"
            f" {some(lengths.ignored, 3) or 'no query'}, "
            f"the qrels have {some(lengths.query_ids, 3)}: "
            f"{repair_of_queries(lengths.ignored, lengths.query_ids) or 'are these for the same topics?'}",
        )
