"""CSV with exact values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["write"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write(rows: Sequence[Mapping[str, Any]], *, spreadsheet: bool = False) -> str:
    r"""Write rows with a header; empty for None.

    Parameters
    ----------
    rows : sequence of mapping
        Columns are all keys, in the order in which they first occur.
    spreadsheet : bool
        Put an apostrophe before text that a spreadsheet would compute as a formula; numbers stay as they are.

    Examples
    --------
    >>> print(write([{"run": "=1+2", "score": -0.5}], spreadsheet=True))
    run,score
    '=1+2,-0.5
    """
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [_line(columns, spreadsheet=spreadsheet)]
    lines += [_line((row.get(column) for column in columns), spreadsheet=spreadsheet) for row in rows]
    return "\n".join(lines)


def _line(values: Iterable[Any], *, spreadsheet: bool) -> str:
    """Write a line without its end; the writer quotes a carriage return only if it is part of the end of a line."""
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\r\n").writerow(map(_as_text, values) if spreadsheet else values)
    return stream.getvalue().removesuffix("\r\n")


def _as_text(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
