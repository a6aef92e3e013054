"""Progress bars on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["with_progress"]

T = TypeVar("T")


def with_progress(items: Iterable[T], unit: str, total: int, *, shown: bool) -> Iterator[T]:
    """Yield items and show on stderr how many of them are done, if asked to."""
    if not shown or sys.stderr is None:
        return iter(items)
    from tqdm import tqdm

    bar: Iterator[T] = iter(tqdm(items, total=total, unit=unit, file=sys.stderr))
    return bar
