"""`compare` with the type of its result: a single comparison or several."""

from __future__ import annotations

from typing import Any

import ir_outcomes as iro


def compare_pair(*arguments: Any, **settings: Any) -> iro.Comparison:
    found = iro.compare(*arguments, **settings)
    assert isinstance(found, iro.Comparison)
    return found


def compare_several(*arguments: Any, **settings: Any) -> iro.Comparisons:
    found = iro.compare(*arguments, **settings)
    assert isinstance(found, iro.Comparisons)
    return found
