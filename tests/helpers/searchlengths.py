"""Search lengths compared part by part."""

from dataclasses import fields
from typing import Any

import numpy as np

from ir_outcomes import SearchLengths


def differing(lengths: SearchLengths, same: SearchLengths) -> list[str]:
    """Name the attributes that are not the same, to the bit, also those of the diagnosis."""
    theirs = _attributes(same)
    return [name for name, value in _attributes(lengths).items() if not _same(value, theirs[name])]


def _attributes(lengths: SearchLengths) -> dict[str, Any]:
    attributes = {field.name: getattr(lengths, field.name) for field in fields(lengths)}
    return {**vars(attributes.pop("diagnosis")), **attributes}


def _same(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and a == b
