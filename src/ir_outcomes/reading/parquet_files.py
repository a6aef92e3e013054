"""Parquet files to columns, through pyarrow, or through pandas where only that is installed."""

from __future__ import annotations

import io
from typing import Any

from ir_outcomes.errors import FormatError, MissingDependency, UnreadableFile
from ir_outcomes.reading.columns import Columns
from ir_outcomes.reading.files import LARGEST_RATIO, UNSUSPICIOUS
from ir_outcomes.reading.layouts import Kind, named_columns
from ir_outcomes.reading.python_objects import columns_of

__all__ = ["is_parquet", "read_parquet"]

_MAGIC = b"PAR1"
_LEAST_ROW = 16  # bytes that a row takes as text, at least


def is_parquet(head: bytes) -> bool:
    """Tell whether content is a Parquet file; a text whose first word begins alike goes on with text."""
    return head.startswith(_MAGIC) and len(head) > 4 and not head[4:5].isspace() and not 0x20 <= head[4] < 0x7F


def read_parquet(data: bytes, kind: Kind, source: str) -> Columns:
    """Read the columns of query, document and value.

    Raises
    ------
    FormatError
        If a column is missing, or a value is not one of a run or of qrels.
    UnreadableFile
        If the file is damaged.
    MissingDependency
        If neither pyarrow nor pandas can read it.
    """
    return columns_of(_frame(data, kind, source), source, kind)


def _frame(data: bytes, kind: Kind, source: str) -> Any:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        return _frame_of_pandas(data, source)
    try:
        file = ParquetFile(io.BytesIO(data))
        found = named_columns(file.schema_arrow.names, kind, source)
        if file.metadata.num_rows * _LEAST_ROW > max(UNSUSPICIOUS, LARGEST_RATIO * len(data)):
            raise UnreadableFile(f"{source}: expands to more than {LARGEST_RATIO} times its size: a decompression bomb?")
        return file.read(list(found[:3]))
    except (ArrowException, OSError) as error:
        if isinstance(error, (FormatError, UnreadableFile)):
            raise
        raise UnreadableFile(f"{source}: is not a valid Parquet file ({error}); fetch or write it again") from None


def _frame_of_pandas(data: bytes, source: str) -> Any:
    missing = f"{source}: reading a Parquet file needs the package pyarrow: pip install pyarrow"
    try:
        import pandas
    except ImportError:
        raise MissingDependency(missing) from None
    try:
        return pandas.read_parquet(io.BytesIO(data))
    except ImportError:  # pandas itself needs a package for that
        raise MissingDependency(missing) from None
    except Exception as error:  # fastparquet raises whatever a damaged file happens to cause
        raise UnreadableFile(f"{source}: is not a valid Parquet file ({error}); fetch or write it again") from None
