"""Search lengths compared part by part."""

from dataclasses import fields

import numpy as np

from ir_outcomes import SearchLengths


def differing(lengths: SearchLengths, same: SearchLengths) -> list[str]:
    """Name the attributes that are not the same, to the bit."""
    names = [field.name for field in fields(SearchLengths)]
    return [name for name in names if not _same(getattr(lengths, name), getattr(same, name))]


def _same(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and a == b
