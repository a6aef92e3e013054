"""Values that other tools computed, as an evaluation."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, Literal

import numpy as np
from ir_measures.measures import Measure

from ir_outcomes.choices import Bools, ReadingOfValues, Trials
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.clusters import clusters_of
from ir_outcomes.evaluation.evaluation import DEFAULT_CUTOFF, Evaluation
from ir_outcomes.evaluation.named_measures import direction_of, grade_of
from ir_outcomes.evaluation.remarks import MANY_MISSING
from ir_outcomes.evaluation.scores import AllQueries, Scores
from ir_outcomes.evaluation.systems import Systems, named_systems, system_by_run
from ir_outcomes.formatting import plural
from ir_outcomes.notes import note
from ir_outcomes.reading.datasets import as_qrels
from ir_outcomes.reading.forms import normal
from ir_outcomes.reading.measure_names import base_name, is_gain, is_reciprocal
from ir_outcomes.reading.objects import is_frame
from ir_outcomes.reading.tables import Source
from ir_outcomes.values.records import QUERY_TITLES
from ir_outcomes.values.table import ValuesTable, read_table


class OutputOptions(ReadingOfValues, total=False):
    """The settings of `outputs`."""

    measure: Any
    names: Sequence[str] | None
    higher_is_better: bool | None
    qrels: Any
    rel: int | None
    clusters: Any
    replicates: Any
    allow: Collection[Literal["missing-values"]]


def outputs(
    *sources: Any,
    measure: str | Measure | None = None,
    range: tuple[float, float] | None = None,
    id: str | None = None,
    where: Mapping[str, str] | Sequence[str] | None = None,
    trials: Trials | None = None,
    names: Sequence[str] | None = None,
    higher_is_better: bool | None = None,
    qrels: Any = None,
    rel: int | None = None,
    clusters: Any = None,
    replicates: Any = None,
    allow: Collection[Literal["missing-values"]] = (),
) -> Evaluation:
    """Take the values of a measure that another tool computed, as an evaluation.

    Every analysis that needs no ranked lists takes it. Nothing is guessed: what is not clear is an
    error that says what to name.

    Parameters
    ----------
    *sources : path, frame, dict, list of mappings, series, or pair of arrays
        One for each run, or one that holds several; or a single list of such, or a dict from names
        to such. Lines of trec_eval and ir_measures, also with the name of a run in front; CSV, TSV,
        JSON lines and JSON: tables with a column for each measure or run, turned ones, and those of
        query, measure and value. Keys within keys are joined by dots (``metrics.ndcg@10``); a JSON
        object with one list of objects is that list.
    measure : str or Measure, optional
        The measure, as the tool writes it or in another spelling; by default a reciprocal rank or
        ESL, or the only one.
    range : pair of float, optional
        Smallest and largest value, where the name of the measure does not tell.
    id : str, optional
        The column of query ids; by default the first of the known names, such as query_id.
    where : mapping of str to str, or sequence of str
        Rows to take, COLUMN=VALUE, all of which must hold. A mapping says the same.
    trials : {"mean"}, optional
        What becomes of several values of a query: their mean. By default they are an error.
    names : sequence of str, optional
        Names of the runs; by default those in the sources, or the names of the files. Of one source
        of several runs, which of them, and in which order.
    higher_is_better : bool, optional
        Direction of the measure, where its name does not tell.
    qrels : see `ir_outcomes.as_qrels`, optional
        Tells which queries are answerable; a query that a run lacks is then 0, or unanswered.
    rel : int, optional
        Smallest grade of a relevant document; by default that of the measure, or 1 with qrels.
    clusters, replicates
        See `ir_outcomes.evaluate`.
    allow : collection of {"missing-values"}
        Compare although more than 5 % of the queries lack a value in some run.

    Returns
    -------
    Evaluation
        Its `values` are `Scores`: queries in the order of their ids, those of which all runs have a
        value. A value that is empty, null or NaN, or of a row that the tool marks as failed, is
        missing: neither 0 nor dropped in one run only.

    Raises
    ------
    InputError
        If a source cannot be read, has a value that the measure cannot have, the sources are of
        different measures or have no query in common, or too many values are missing.
    ParameterError
        If the measure or its direction is unknown, or names are repeated or not as many as sources.

    Examples
    --------
    >>> ev = outputs({"q1": 0.5, "q2": 1.0}, {"q1": 0.25, "q2": 1.0}, measure="nDCG@10", names=["a", "b"])
    >>> ev.names, ev.values.means().tolist()
    (('a', 'b'), [0.75, 0.625])
    """
    of_call, of_names = _sources_of_call(sources)
    if not of_call:
        raise ParameterError("there is no output; give one for each run")
    positions = [f"output {number}" for number, _ in enumerate(of_call, 1)]
    if of_names is not None and names is None:
        names = of_names
        positions = [f"output of {name}" for name in of_names]
    table = read_table(
        list(map(Source.of, of_call, positions)),
        measure=None if measure is None else str(measure),
        names=names,
        id=id,
        where=where,
        trials=trials,
        range=range,
    )
    systems: Systems = {}
    if replicates is not None:
        system_of = system_by_run(table.runs, replicates)
        names_of_runs, systems = named_systems(table.runs, system_of)
        table = replace(table, runs=tuple(names_of_runs))
    direction = direction_of(table.measure) if higher_is_better is None else higher_is_better
    rel = grade_of(table.measure, rel)
    n_unanswerable = None
    if qrels is not None:
        rel = rel or 1
        table, n_unanswerable = _answerable(table, as_qrels(qrels), rel)
    elif table.n_queries > len(table.query_ids):
        table = _with_unlisted(table)
    scores = replace(_scores(table, direction, allow), rel=rel, n_unanswerable=n_unanswerable)
    if clusters is not None:
        everything = np.ones(len(scores.query_ids), dtype=bool)
        scores = replace(scores, clusters=clusters_of(clusters, scores.query_ids, everything))
    return Evaluation(
        (),
        collection=scores.measure,
        cutoff=scores.cutoff or DEFAULT_CUTOFF,
        unit="query",
        values=scores,
        replicates=systems,
    )


def _sources_of_call(sources: Sequence[Any]) -> tuple[list[Any], list[str] | None]:
    """Return the sources of a call, with their names where they stand in a dict."""
    if len(sources) != 1:
        return list(sources), None
    (source,) = sources
    if isinstance(source, Mapping) and are_sources(list(source.values())):
        return list(source.values()), list(map(str, source))
    if isinstance(source, (list, tuple)) and (not source or are_sources(source)):
        return list(source), None
    return [source], None


def are_sources(items: Sequence[Any]) -> bool:
    """Return whether each item of a list or dict is a source by itself."""
    if not items or hasattr(items, "per_query") or hasattr(items, "_fields"):
        return False
    return all(
        isinstance(item, (str, os.PathLike, list))
        or is_frame(item)
        or hasattr(item, "per_query")
        or (isinstance(item, Mapping) and not _is_record(item))
        for item in items
    )


def _is_record(item: Mapping[Any, Any]) -> bool:
    """Return whether a mapping has an id of a query, and so is a row."""
    titles = {normal(str(key).rpartition(".")[2]) for key in list(item)[:100]} & {*QUERY_TITLES}
    return any(not isinstance(value, Mapping) for value in item.values()) and bool(titles)


def _is_of_retrieval(measure: str) -> bool:
    """Return whether a measure is known to be 0 where nothing was retrieved."""
    return is_gain(measure) or is_reciprocal(measure) or base_name(measure) == "ESL"


def _answerable(table: ValuesTable, qrels: Any, rel: int) -> tuple[ValuesTable, int]:
    """Return the values of the answerable queries, where what is absent was not found."""
    codes = np.unique(qrels.codes[qrels.grades >= rel]).tolist()
    query_ids = tuple(qrels.query_ids[code] for code in codes)
    if set(table.query_ids).isdisjoint(query_ids):
        raise MismatchError(
            f"no query of the outputs ({some(table.query_ids, 3)}) is answerable in the qrels"
        )
    return _on(table, query_ids), len(qrels.query_ids) - len(query_ids)


def _with_unlisted(table: ValuesTable) -> ValuesTable:
    """Return the values with the queries that only trec_eval's count has."""
    if not _is_of_retrieval(table.measure):
        return table
    n_more = table.n_queries - len(table.query_ids)
    more = tuple(f"(not listed {number})" for number in np.arange(1, n_more + 1).tolist())
    text = (
        f"{plural('query', n_more)} of {table.n_queries} (num_q) {'is' if n_more == 1 else 'are'} in"
        " no output, and nothing was found for them."
    )
    table = _on(table, (*table.query_ids, *more))
    return replace(table, notes=(*table.notes, note("unlisted", text)))


def _on(table: ValuesTable, query_ids: tuple[str, ...]) -> ValuesTable:
    """Return the values for these queries, of a retrieval measure 0 where absent."""
    position = {query: column for column, query in enumerate(table.query_ids)}
    columns = np.array([position.get(query, -1) for query in query_ids], dtype=np.int64)
    absent = np.where(columns < 0, True, table.absent[:, columns])
    missing = np.where(columns < 0, True, table.missing[:, columns])
    values = np.where(absent, np.nan, table.values[:, columns])
    if _is_of_retrieval(table.measure):
        missing &= ~absent
        if base_name(table.measure) != "ESL":
            values[absent] = 0.0
    return replace(table, query_ids=query_ids, values=values, absent=absent, missing=missing)


def _scores(table: ValuesTable, higher_is_better: bool, allow: Collection[str]) -> Scores:
    """Return the values of the queries that all runs have, if these are enough."""
    missing: Bools = np.any(table.missing, axis=0)
    if missing.all():
        first, last = (list(compress(table.query_ids, ~row)) for row in table.missing[[0, -1]])
        raise MismatchError(
            f"{table.runs[0]} ({some(first, 3)}) and {table.runs[-1]} ({some(last, 3)}) have no"
            " query in common; are the ids in another column (`id`)?"
        )
    if missing.sum() > MANY_MISSING * len(missing) and "missing-values" not in allow:
        raise MismatchError(_words_of_missing(table))
    n_missing: dict[str, int] = {}
    everywhere = None
    if missing.any():
        n_missing = dict(zip(table.runs, table.missing.sum(axis=1).tolist(), strict=True))
        everywhere = AllQueries(table.query_ids, table.values, table.missing)
    return Scores(
        table.measure,
        higher_is_better,
        table.runs,
        tuple(compress(table.query_ids, ~missing)),
        table.values[:, ~missing],
        range=table.range,
        missing=n_missing,
        everywhere=everywhere,
        decimals=table.decimals,
        about=table.notes,
    )


def _words_of_missing(table: ValuesTable) -> str:
    """Say which run lacks how many values, and what to do."""
    n = len(table.query_ids)
    n_common = n - int(np.any(table.missing, axis=0).sum())
    parts = []
    for run, source, row, failed in zip(
        table.runs, table.sources, table.missing, table.failed, strict=True
    ):
        if queries := list(compress(table.query_ids, row)):
            why = f", of which {failed} failed (error)" if failed else ""
            parts.append(
                f"{run} ({source}) has none for {len(queries)} of {n}{why}: {some(queries)}"
            )
    return (
        f"only {n_common} of {n} queries have a value of {table.measure} in every output: "
        f"{'; '.join(parts)}. Compute what is missing; if these queries may be left out on both"
        " sides, pass `allow=['missing-values']`."
    )
