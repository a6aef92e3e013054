"""Columns as each kind of frame that is read: of pandas, polars and Arrow, and what offers an Arrow stream."""

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa


class Stream:
    """What offers an Arrow stream and nothing else."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


class Relation(Stream):
    """Like a relation of DuckDB: what it gives for a column is another relation."""

    columns = ("qid", "docno", "score")  # has no effect, as a stream has names of its own

    def __getitem__(self, name: str) -> Any:
        raise TypeError("a relation is not a column")


FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas, objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas, categories": lambda columns: pd.DataFrame(columns).astype(dict.fromkeys(list(columns)[:2], "category")),
    "pandas, index": lambda columns: pd.DataFrame(columns).set_index(next(iter(columns)), drop=False),
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "polars, categories": lambda columns: pl.DataFrame(columns).with_columns(pl.nth(0).cast(pl.Categorical)),
    "arrow": pa.table,
    "arrow, dictionary": lambda columns: pa.table({name: pa.array(c).dictionary_encode() for name, c in columns.items()}),
    "arrow, chunks": lambda columns: pa.concat_tables([pa.table(columns).slice(0, 2), pa.table(columns).slice(2)]),
    "arrow reader": lambda columns: pa.table(columns).to_reader(),
    "arrow stream": lambda columns: Stream(pl.DataFrame(columns)),
    "relation": lambda columns: Relation(pl.DataFrame(columns)),
}
