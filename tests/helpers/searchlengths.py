"""Search lengths compared part by part."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from ir_outcomes import SearchLengths


def differing(one: SearchLengths, other: SearchLengths) -> list[str]:
    """Name the attributes that are not the same, to the bit."""
    names = [field.name for field in fields(SearchLengths)]
    return [name for name in names if not _same(getattr(one, name), getattr(other, name))]


def _same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return type(one) is type(other) and one == other
