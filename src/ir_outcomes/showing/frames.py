"""Data frames with exact values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ir_outcomes.errors import MissingDependency

__all__ = ["data_frame"]


def data_frame(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Make a pandas data frame of rows.

    Raises
    ------
    MissingDependency
        If pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingDependency("a data frame needs pandas: pip install 'ir-outcomes[pandas]'") from None
    return pd.DataFrame(list(rows))
