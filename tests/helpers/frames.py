"""Columns as each kind of frame that is read: of pandas, polars and Arrow."""

from importlib.util import find_spec
from typing import Any

import pandas as pd

from tests.helpers.packages import needed


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
    "polars, categories": _categories,
    "arrow": lambda columns: needed("pyarrow").table(columns),
    "arrow, dictionary": _dictionary,
    "arrow, chunks": _chunks,
}
INSTALLED = [
    kind
    for kind in FRAMES
    if kind.startswith("pandas") or (find_spec("polars") and find_spec("pyarrow"))
]
