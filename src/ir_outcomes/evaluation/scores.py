"""A measure's value for every run and query, with its direction: what is aggregated, resampled and split in halves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluate import check_overlap, distinct_names, evaluate, task_of
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.parallel import each_run
from ir_outcomes.measures.definitions import ASL, SearchLengthMeasure
from ir_outcomes.measures.provider import settings_of
from ir_outcomes.reading.files import read_ids
from ir_outcomes.reading.measure_names import higher_is_better as direction_of
from ir_outcomes.reading.measure_names import parse_measure
from ir_outcomes.reading.qrels import Qrels, as_qrels
from ir_outcomes.reading.runs import as_run
from ir_outcomes.reading.several import runs_and_names

__all__ = ["Scores", "default_measure", "reciprocal_ranks", "scores"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scores:
    """A measure's values.

    Attributes
    ----------
    measure : str
        Name of the measure.
    higher_is_better : bool
        Its direction.
    runs : tuple of str
        Names of the runs.
    query_ids : tuple of str
        The queries.
    values : (n_runs, n_queries) float array
        NaN where the measure is undefined.
    """

    measure: str
    higher_is_better: bool
    runs: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats

    def means(self) -> Floats:
        """(n_runs,) float array: means over the queries where the measure is defined; NaN where there are none."""
        defined = ~np.isnan(self.values)
        totals, numbers = np.where(defined, self.values, 0.0).sum(axis=1), defined.sum(axis=1)
        means: Floats = np.divide(totals, numbers, out=np.full(len(totals), np.nan), where=numbers > 0)
        return means

    def gains(self) -> Floats:
        """(n_runs, n_queries) float array: the values, turned so that higher is better."""
        return self.values if self.higher_is_better else -self.values

    def on(self, queries: Iterable[str] | str | os.PathLike[str] | None) -> Scores:
        """Keep some of the queries: a list of ids, or a file with an id on each line; None keeps all.

        Raises
        ------
        MismatchError
            If a query is not there.
        """
        if queries is None:
            return self
        wanted = list(read_ids(queries) if isinstance(queries, (str, os.PathLike)) else queries)
        place = {query: column for column, query in enumerate(self.query_ids)}
        missing = [query for query in wanted if query not in place]
        if missing or not wanted:
            raise MismatchError(f"the qrels have no query {some(missing)}" if missing else "the list of queries is empty")
        chosen = np.array(sorted({place[query] for query in wanted}))
        return replace(self, query_ids=tuple(self.query_ids[column] for column in chosen), values=self.values[:, chosen])

    def notes(self) -> tuple[str, ...]:
        """Say what a careful reader must know of these values."""
        undefined = int(np.isnan(self.values).any(axis=0).sum())
        if not undefined:
            return ()
        return (
            f"{self.measure} is undefined for some run on {undefined} of {len(self.query_ids)} queries; each run's mean is "
            "over its own defined queries, so a run that answers less can look better: read coverage beside it, or use "
            "ESL(unanswered='cutoff+1') or RR.",
        )


def scores(
    qrels: Any,
    runs: Any,
    measures: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    higher_is_better: bool | None = None,
    n_jobs: int | None = 1,
    progress: bool = False,
) -> list[Scores]:
    """Compute measures of ir_measures, ours and others, for many runs; each run is read once.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels`.
    runs : list, or dict from names to runs
        See `ir_outcomes.as_run`. Search lengths serve for our measures with the settings they were made with.
    measures : sequence of Measure or str, or one
        Such as ``nDCG@10`` or ``"ESL@100"``.
    names : sequence of str, optional
        Names of the runs.
    higher_is_better : bool, optional
        Direction of measures; needed for those that are not known here.
    n_jobs : int or None
        Files evaluated at a time; see `ir_outcomes.evaluate`.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    list of Scores
        For each measure, over all queries of the qrels, as means of ir_measures are.

    Raises
    ------
    ParameterError
        If a measure or its direction is unknown, a measure is named twice, or a value is infinite.
    MismatchError
        If no query of a run is in the qrels.
    InputError
        If something cannot be read.
    """
    measures = [measures] if isinstance(measures, str) else measures
    chosen = [_comparable(parse_measure(measure) if isinstance(measure, str) else measure) for measure in measures]
    if not chosen:
        raise ParameterError("there is no measure; name at least one")
    repeated = [str(measure) for measure in chosen if chosen.count(measure) > 1]
    if repeated:
        raise ParameterError(f"{repeated[0]} is named twice; name each measure once")
    rising = [direction_of(measure) if higher_is_better is None else higher_is_better for measure in chosen]
    task = task_of(qrels)
    judgments = as_qrels(task.qrels if task else qrels)
    items, given = runs_and_names(runs, names)
    called: list[str] = []
    tables = []
    for name, table in each_run(_Evaluator(judgments, chosen), items, given, n_jobs=n_jobs, progress=progress):
        for measure, values in zip(chosen, table, strict=True):
            if np.isinf(values).any():
                raise ParameterError(
                    f"{measure} of {name} is infinite for {int(np.isinf(values).sum())} queries, for which the run has no "
                    "results; compare runs with missing='cutoff'"
                )
        called.append(name)
        tables.append(table)
    names = tuple(distinct_names(called, items))
    return [
        Scores(str(measure), higher, names, judgments.query_ids, np.stack([table[row] for table in tables]))
        for row, (measure, higher) in enumerate(zip(chosen, rising, strict=True))
    ]


def reciprocal_ranks(tables: Sequence[SearchLengths]) -> Scores:
    """Take the reciprocal ranks of the answerable queries from search lengths that were made alike.

    They go by the name of ir_measures' measure only where they are the same.
    """
    first = tables[0]
    chosen = first.answerable
    ids = tuple(compress(first.query_ids, chosen.tolist()))
    depth = "" if first.cutoff is None else f"@{first.cutoff}"
    grade = "" if first.rel == 1 else f"(rel={first.rel})"
    rule = "" if first.ties == ("trec" if first.cutoff is None else "msmarco") else f", ties {first.ties}"
    judged = ", judged only" if first.judged_only else ""
    values = np.stack([each.reciprocal_rank()[chosen] for each in tables])
    return Scores(f"RR{grade}{depth}{rule}{judged}", True, tuple(each.name for each in tables), ids, values)


def default_measure(qrels: Any, rel: int | None = None) -> Any:
    """Name the reciprocal rank at this grade, or that of the task, where `qrels` is one."""
    from ir_measures import RR

    task = task_of(qrels)
    grade = rel if rel is not None else task.rel if task else 1
    return RR if grade == 1 else RR(rel=grade)


def _comparable(measure: Any) -> Any:
    """Give every run's missing documents the same depth: equation 3 as printed would make short lists look good."""
    if not isinstance(measure, type(ASL)) or "missing" in measure.params:
        return measure
    if measure.cutoff is None:
        raise ParameterError(
            f"{measure} compares runs of any depth; write ASL(missing='cutoff')@k with the depth that all runs share, or "
            "ASL(missing='retrieved') for equation 3 of Alex et al. as printed"
        )
    return measure(missing="cutoff")


class _Evaluator:
    """Measures of ir_measures on one run after the other; in another process it is made anew, which takes little."""

    def __init__(self, qrels: Qrels, measures: Sequence[Any]) -> None:
        self._qrels = qrels
        self._measures = measures

    def __getstate__(self) -> dict[str, Any]:
        return {"_qrels": self._qrels, "_measures": self._measures}

    @cached_property
    def _evaluator(self) -> Any:
        import ir_measures

        return ir_measures.evaluator(self._measures, self._qrels.to_dict())

    def __call__(self, run: Any, name: str | None) -> tuple[str, Floats]:
        """Return the run's name and its (n_measures, n_queries) values."""
        if isinstance(run, SearchLengths):
            return name or run.name, np.stack([_of_lengths(measure, run, self._qrels) for measure in self._measures])
        run = as_run(run, name)
        check_overlap(name or run.name, run.query_ids, self._qrels.query_ids)
        values = np.full((len(self._measures), len(self._qrels.query_ids)), np.nan)
        row_of = {measure: row for row, measure in enumerate(self._measures)}
        column_of = {query: column for column, query in enumerate(self._qrels.query_ids)}
        for metric in self._evaluator.iter_calc(run.to_dict()):
            values[row_of[metric.measure], column_of[metric.query_id]] = metric.value
        return name or run.name, values


def _of_lengths(measure: Any, lengths: SearchLengths, qrels: Qrels) -> Floats:
    if not isinstance(measure, SearchLengthMeasure) or measure.baseline is not None:
        raise ParameterError(f"{measure} cannot be computed from the search lengths of {lengths.name}; give the run itself")
    (table,) = evaluate(qrels, [lengths], names=[None], **settings_of(measure))
    values: Floats = measure.values(table)
    return values
