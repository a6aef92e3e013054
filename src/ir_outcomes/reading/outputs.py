"""Per-query values that other tools computed: ir_measures, pytrec_eval, trec_eval -q, PyTerrier."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ir_outcomes.errors import FormatError, ParameterError
from ir_outcomes.reading.files import blocks, name_of

MOST_PLACES = 6
_SUMMARY = "all"
_PREFERRED = ("RR", "recip_rank", "ESL")


@dataclass(frozen=True, eq=False)
class Output:
    """One measure's values for one run.

    Attributes
    ----------
    name : str
        The run.
    measure : str
        The measure's name, as its tool writes it.
    values : dict of str to float
        Per query; NaN for undefined.
    places : int or None
        Decimal places that all values were rounded to; None where they are written in full.
    """

    name: str
    measure: str
    values: dict[str, float]
    places: int | None


def read_output(source: Any, *, measure: str | None = None, name: str | None = None, position: str = "output") -> Output:
    """Take one measure of one run out of what a tool wrote or returned.

    Parameters
    ----------
    source : path, CalcResults, iterable of Metric, dict or frame
        The text of ``trec_eval -q``, of ``ir_measures -q`` (tsv or jsonl) or PyTerrier's ``perquery.csv``; ir_measures'
        `CalcResults` or `Metric` values; pytrec_eval's ``{query: {measure: value}}``; PyTerrier's frame with the columns
        ``name, qid, measure, value``.
    measure : str, optional
        Which of the measures; by default a reciprocal rank or ESL, or the only one there is.
    name : str, optional
        Which of the runs, where the source holds several; and what to call it.
    position : str
        What to call a nameless source.

    Raises
    ------
    FormatError
        If the source is none of these forms.
    ParameterError
        If the measure or run is not there, or has to be chosen.
    """
    is_file = isinstance(source, (str, os.PathLike))
    where = os.fspath(source) if is_file else f"the {position}"
    rows = list(_file_rows(source) if is_file else _object_rows(source, where))
    rows = [row for row in rows if row[1] != _SUMMARY]
    if not rows:
        raise FormatError(where, "holds no per-query value; write them with -q, or perquery=True")
    runs = dict.fromkeys(row[0] for row in rows if row[0] is not None)
    if len(runs) > 1 or (runs and name in runs):
        if name not in runs:
            raise ParameterError(f"{where} holds the runs {', '.join(runs)}; name one of them with names=(baseline, contender)")
        rows = [row for row in rows if row[0] == name]
    chosen = _chosen(list(dict.fromkeys(row[2] for row in rows)), measure, where)
    values: dict[str, float] = {}
    for _, query, found, value in rows:
        if found == chosen:
            if query in values:
                raise FormatError(where, f"has two values of {chosen} for query {query}")
            values[query] = _number(value, where)
    texts = [value for _, _, found, value in rows if found == chosen]
    called = name or next(iter(runs), None) or (name_of(source) if is_file else position)
    return Output(called, chosen, values, _places(texts))


_Row = tuple[str | None, str, str, Any]


def _file_rows(path: str | os.PathLike[str]) -> Iterator[_Row]:
    where = os.fspath(path)
    lines = [
        (number, line)
        for block in blocks(path)
        for number, line in enumerate(block.data.decode("utf-8", "replace").splitlines(), block.first_line)
        if line.strip()
    ]
    if lines and lines[0][1].startswith("name,qid,measure,value"):
        for row in csv.DictReader([line for _, line in lines]):
            yield row["name"], row["qid"], row["measure"], row["value"]
        return
    for number, line in lines:
        if line.startswith("{"):
            try:
                fields = json.loads(line)
                yield None, fields["query_id"], fields["measure"], fields["value"]
            except (ValueError, KeyError):
                raise FormatError(
                    where, "is not a line of ir_measures -q -o jsonl (query_id, measure, value)", line=number, text=line
                ) from None
            continue
        parts = line.split()
        if len(parts) != 3:
            raise FormatError(
                where, "is not a line of trec_eval -q or ir_measures -q, which have 3 columns", line=number, text=line
            )
        first, second, value = parts
        if _is_text(value):  # trec_eval's relstring, and its runid
            continue
        # ir_measures writes query, measure, value with tabs; trec_eval pads the measure's name, which comes first.
        yield (None, first, second, value) if _is_measure(second) and not first.islower() else (None, second, first, value)


def _object_rows(source: Any, where: str) -> Iterator[_Row]:
    if hasattr(source, "per_query"):
        source = source.per_query
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):
        missing = {"qid", "measure", "value"} - set(source.columns)
        if missing:
            raise FormatError(
                where, f"is a frame without {', '.join(sorted(missing))}; PyTerrier writes them with perquery=True"
            )
        runs = list(source["name"]) if "name" in source.columns else [None] * len(source)
        columns = (list(source[column]) for column in ("qid", "measure", "value"))
        for run, query, measure, value in zip(runs, *columns, strict=True):
            yield run, str(query), str(measure), value
    elif isinstance(source, Mapping):
        for query, values in source.items():
            if not isinstance(values, Mapping):
                raise FormatError(where, "is not a dict of dict {query: {measure: value}}", text=repr(values))
            for measure, value in values.items():
                yield None, str(query), str(measure), value
    elif isinstance(source, Iterable):
        for metric in source:
            if not hasattr(metric, "query_id") or not hasattr(metric, "measure"):
                raise FormatError(where, "is not an iterable of ir_measures.Metric", text=repr(metric))
            yield None, str(metric.query_id), str(metric.measure), metric.value
    else:
        raise FormatError(where, f"per-query values cannot be read from a {type(source).__name__}")


def _chosen(there: list[str], measure: str | None, where: str) -> str:
    if measure is not None:
        if measure not in there:
            raise ParameterError(f"{where} has no values of {measure}; it has {', '.join(there)}")
        return measure
    preferred = [name for name in there if name.split("@")[0].split("(")[0] in _PREFERRED]
    candidates = preferred or there
    if len(candidates) > 1:
        raise ParameterError(f"{where} holds several measures ({', '.join(candidates)}); choose one with measure=")
    return candidates[0]


def _is_measure(text: str) -> bool:
    from ir_measures.measures import registry

    return text.split("@")[0].split("(")[0] in registry


def _is_text(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return True
    return False


def _number(value: Any, where: str) -> float:
    try:
        return math.nan if value is None else float(value)
    except (TypeError, ValueError):
        raise FormatError(where, "a value is not a number", text=repr(value)) from None


def _places(values: list[Any]) -> int | None:
    """Find the number of decimal places that all values fit in, if it is so small that they must have been rounded."""
    numbers = [float(value) for value in values if value is not None]
    numbers = [number for number in numbers if math.isfinite(number) and number != int(number)]
    if not numbers:
        return None
    for places in range(1, MOST_PLACES + 1):
        if all(round(number, places) == number for number in numbers):
            fits = places
            break
    else:
        return None
    # Few short fractions, such as 1/2 and 1/4, fit without having been rounded.
    return None if all((1 / number) == int(1 / number) for number in numbers if number) else fits
