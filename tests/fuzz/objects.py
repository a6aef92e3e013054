"""Python objects: dicts, frames, iterables, names of measures, and the JSON of results."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

import ir_outcomes as iro
from ir_outcomes.reading.outputs import read_output
from tests.fuzz.inputs import IDS, ODD, odd, result_of

__all__ = ["frames", "objects"]


def objects(rng: random.Random, folder: Path) -> None:
    """Dicts, frames and iterables, with some odd values."""
    hashable = [value for value in ODD if not isinstance(value, (list, dict))]
    ids = [rng.choice(hashable) if rng.random() < 0.03 else rng.choice(IDS) for _ in range(6)]
    nested: Any = {
        query: odd(rng, {document: odd(rng, rng.random(), 0.03) for document in rng.sample(ids, 3)}, 0.02) for query in ids[:3]
    }
    judged: Any = {query: {document: odd(rng, rng.randint(0, 2), 0.01) for document in rng.sample(ids, 3)} for query in ids[:3]}
    ties: Any = rng.choice(["trec", "msmarco", "input"])
    result_of(lambda: iro.search_lengths(judged, nested, ties=ties, cutoff=odd(rng, 10)))
    result_of(lambda: iro.as_run(nested))
    frame = pd.DataFrame({
        "query_id": [odd(rng, rng.choice(IDS)) for _ in range(4)],
        "doc_id": [odd(rng, rng.choice(IDS)) for _ in range(4)],
        "score": [odd(rng, rng.random()) for _ in range(4)],
    }, dtype=object)  # fmt: skip
    result_of(lambda: iro.as_run(frame))
    result_of(lambda: iro.as_run(odd(rng, [odd(rng, row) for row in frame.itertuples(index=False)], 0.2)))
    result_of(lambda: read_output({query: {"RR": odd(rng, 0.5)} for query in ids}))


def frames(rng: random.Random, folder: Path) -> None:
    """Frames of every library: the same content gives the same run, and odd content an error of ours."""
    good = rng.random() < 0.5
    n_rows = rng.randint(0, 5)
    queries = [rng.choice(IDS[:9]) for _ in range(n_rows)]
    columns: dict[str, list[Any]] = {
        rng.choice(["query_id", "qid"]): queries,
        rng.choice(["doc_id", "docno"]): [f"{rng.choice(IDS[:9])}{place}" for place in range(n_rows)],
        "score": [rng.choice([0.5, 1.25, -3.0]) for _ in range(n_rows)],
    }
    if rng.random() < 0.3:
        columns[rng.choice(["rank", "tag", "name", "iteration"])] = list(range(n_rows))
    if not good:
        columns = {odd_name(rng, name): values for name, values in columns.items()}
        columns[rng.choice(list(columns))] = [odd(rng, rng.choice(IDS), 0.3) for _ in range(n_rows)]
    expected: dict[str, dict[str, float]] = {}
    if good:
        for query, document, score in zip(*list(columns.values())[:3], strict=True):
            expected.setdefault(query, {})[document] = score
    for kind in rng.sample(list(FRAMES), 3):
        try:
            frame: Any = FRAMES[kind](columns)
        except Exception:  # no such frame
            continue
        if not good and rng.random() < 0.1 and kind == "pandas":
            frame = pd.concat([frame, frame.iloc[:, :1]], axis=1)
        result = result_of(lambda frame=frame: iro.as_run(frame).to_dict())  # type: ignore[misc]
        if good and result != expected and n_rows:
            raise AssertionError(f"{kind}: read as {result!r}, the frame has {expected!r}")
        result_of(lambda frame=frame: iro.as_qrels(frame).to_dict())  # type: ignore[misc]
        result_of(lambda frame=frame: iro.search_lengths({"q1": {"d1": 1}}, frame).esl())  # type: ignore[misc]


def odd_name(rng: random.Random, name: str) -> Any:
    others = ["query_id", "qid", "doc_id", "docno", "score", "rank", "relevance", "", "x", "\x1b", 0, None, ("a", "b")]
    return rng.choice(others) if rng.random() < 0.15 else name


class Stream:
    """What offers an Arrow stream and nothing else."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


FRAMES: dict[str, Callable[[dict[Any, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas, objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas, categories": lambda columns: pd.DataFrame(columns).astype(dict.fromkeys(list(columns)[:2], "category")),
    "pandas, index": lambda columns: pd.DataFrame(columns).set_index(next(iter(columns)), drop=False),
    "polars": pl.DataFrame,
    "polars, objects": lambda columns: pl.DataFrame(columns, strict=False),
    "polars, lazy": pl.LazyFrame,
    "polars, categories": lambda columns: pl.DataFrame(columns).with_columns(pl.nth(0).cast(pl.Categorical)),
    "arrow": pa.table,
    "arrow, dictionary": lambda columns: pa.table(
        {name: pa.array(values).dictionary_encode() for name, values in columns.items()}
    ),
    "arrow, chunks": lambda columns: pa.concat_tables([pa.table(columns).slice(0, 2), pa.table(columns).slice(2)]),
    "arrow stream": lambda columns: Stream(pl.DataFrame(columns)),
}
