"""Columns as each kind of frame that is read: of pandas, polars and Arrow, and what offers an Arrow stream."""

from importlib.util import find_spec
from typing import Any

import pandas as pd

from tests.helpers.packages import needed


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


def _categories(columns: dict[str, Any]) -> Any:
    pl = needed("polars")
    return pl.DataFrame(columns).with_columns(pl.nth(0).cast(pl.Categorical))


def _dictionary(columns: dict[str, Any]) -> Any:
    pa = needed("pyarrow")
    return pa.table(
        {name: pa.array(values).dictionary_encode() for name, values in columns.items()}
    )


def _chunks(columns: dict[str, Any]) -> Any:
    pa = needed("pyarrow")
    table = pa.table(columns)
    return pa.concat_tables([table.slice(0, 2), table.slice(2)])


FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas, objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas, categories": (
        lambda columns: pd.DataFrame(columns).astype(dict.fromkeys(list(columns)[:2], "category"))
    ),
    "pandas, index": (
        lambda columns: pd.DataFrame(columns).set_index(next(iter(columns)), drop=False)
    ),
    "polars": lambda columns: needed("polars").DataFrame(columns),
    "polars, lazy": lambda columns: needed("polars").LazyFrame(columns),
    "polars, categories": _categories,
    "arrow": lambda columns: needed("pyarrow").table(columns),
    "arrow, dictionary": _dictionary,
    "arrow, chunks": _chunks,
    "arrow reader": lambda columns: needed("pyarrow").table(columns).to_reader(),
    "arrow stream": lambda columns: Stream(needed("polars").DataFrame(columns)),
    "relation": lambda columns: Relation(needed("polars").DataFrame(columns)),
}
INSTALLED = [
    kind
    for kind in FRAMES
    if kind.startswith("pandas") or (find_spec("polars") and find_spec("pyarrow"))
]
