"""JSON lines with exact values; a whole result is JSON by `Result.to_json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["write_lines"]


def write_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write each row as a line of JSON; null for None."""
    return "\n".join(json.dumps(dict(row), ensure_ascii=False, allow_nan=False) for row in rows)
