"""The JSON Schema of results, from the script that publishes it."""

import runpy
from functools import cache
from pathlib import Path
from typing import Any

from ir_outcomes.results import Result

SCRIPT = Path(__file__).parents[2] / "docs" / "schemas.py"


@cache
def _script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def schema_of(kind: type[Result]) -> dict[str, Any]:
    schema: dict[str, Any] = _script()["schema_of"](kind)
    return schema
