"""Scores of runs from per-query values that another tool computed."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ir_outcomes.errors import IrOutcomesWarning, MismatchError, ParameterError, some, user_stacklevel
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.reading.measure_names import higher_is_better as direction_of
from ir_outcomes.reading.measure_names import is_gain, parse_measure
from ir_outcomes.reading.outputs import Output, read_output, read_outputs

__all__ = ["scores_from_outputs"]


def scores_from_outputs(
    sources: Any, measure: str | None = None, *, higher_is_better: bool | None = None, names: Sequence[str] | None = None
) -> Scores:
    """Collect the values of one measure for several runs from what other tools wrote or returned.

    `leaderboard`, `rank_distribution` and `agreement` take the result instead of an `Evaluation`.

    Parameters
    ----------
    sources : list, mapping, frame or path
        One source for each run, or a mapping from names to sources. A source is a file of ``trec_eval -q`` or
        ``ir_measures -q``, PyTerrier's ``perquery.csv`` or frame, a dict ``{query: {measure: value}}`` or ``{query: value}``,
        or an iterable of ``ir_measures.Metric``. Also one source of several runs: PyTerrier's; or a table with a row for each
        run and a column for each query, which is a frame with the names of the runs as its index, or a file as its ``to_csv``
        writes it, separated by commas or tabs. A cell of such a table that is empty is a query of which the run has no value.
    measure : str, optional
        The measure, as the tool writes it; by default a reciprocal rank or ESL, or the only one. Required where the sources do
        not name it.
    higher_is_better : bool, optional
        Direction of the measure, where its name does not tell.
    names : sequence of str, optional
        Names of the runs; by default those in the sources, or the names of the files. Of one source of several runs, which
        of them, and in which order.

    Returns
    -------
    Scores
        Queries in the order of their ids.

    Raises
    ------
    InputError
        If a source cannot be read, has a value that the measure cannot have, or the sources are of different measures.
    ParameterError
        If the measure or its direction is unknown, or names are repeated or not as many as sources.

    Warns
    -----
    IrOutcomesWarning
        If a run lacks queries that others have. The missing value is 0 where that is what the measure is for a query without
        results, as in ``trec_eval -c``; else it is undefined.

    Examples
    --------
    >>> scores = scores_from_outputs({"a": {"q1": 0.5, "q2": 1.0}, "b": {"q1": 0.25, "q2": 1.0}}, "nDCG@10")
    >>> scores.higher_is_better, scores.means().tolist()
    (True, [0.75, 0.625])
    """
    outputs = list(_outputs(sources, measure, names))
    if not outputs:
        raise ParameterError("there is no output; give one for each run")
    measures = list(dict.fromkeys(output.measure for output in outputs))
    if len(measures) > 1:
        raise MismatchError(f"the outputs are of different measures ({some(measures)}); choose one with measure=")
    called = [output.name for output in outputs]
    repeated = sorted({name for name in called if called.count(name) > 1})
    if repeated:
        raise ParameterError(f"several outputs are called {some(repeated)}; name them with names=")
    query_ids = tuple(sorted({query for output in outputs for query in output.values}))
    gain = is_gain(measures[0])
    _warn_of_missing(outputs, query_ids, gain)
    values = np.array([[output.values.get(query, 0.0 if gain else np.nan) for query in query_ids] for output in outputs])
    direction = _direction(measures[0]) if higher_is_better is None else higher_is_better
    return Scores(measures[0], direction, tuple(called), query_ids, values)


def _outputs(sources: Any, measure: str | None, names: Sequence[str] | None) -> Iterator[Output]:
    """Read one output for each run."""
    if isinstance(sources, Mapping):
        for name, source in sources.items():
            yield read_output(source, measure=measure, name=str(name), position=f"output of {name}")
    elif isinstance(sources, (str, os.PathLike)) or hasattr(sources, "columns"):
        yield from read_outputs(sources, measure=measure, names=names, position="table of outputs")
    else:
        listed = list(sources)
        given = list(names) if names is not None else [None] * len(listed)
        if len(given) != len(listed):
            raise ParameterError(f"there are {len(listed)} outputs and {len(given)} names; give one name for each")
        for number, (source, name) in enumerate(zip(listed, given, strict=True), 1):
            yield read_output(source, measure=measure, name=name, position=f"output {number}")


def _warn_of_missing(outputs: Sequence[Output], query_ids: Sequence[str], gain: bool) -> None:
    for output in outputs:
        missing = [query for query in query_ids if query not in output.values]
        if missing:
            meaning = "counted as 0" if gain else f"left out of the mean of {output.name}"
            warnings.warn(
                f"{output.name} has no value of {output.measure} for {some(missing)}, which other outputs have; {meaning}",
                IrOutcomesWarning,
                stacklevel=user_stacklevel(),
            )


def _direction(measure: str) -> bool:
    try:
        return direction_of(parse_measure(measure))
    except ParameterError:  # the name that another tool gives it, such as recip_rank
        return direction_of(measure)
