"""Progress bars on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

__all__ = ["with_progress"]

T = TypeVar("T")


def with_progress(
    items: Iterable[T], unit: str, total: int, *, shown: bool, size: Callable[[T], int] | None = None
) -> Iterator[T]:
    """Yield items and show on stderr how many of them are done, if asked to.

    Parameters
    ----------
    items : iterable
        What is worked on.
    unit : str
        What is counted: the items, or what they consist of.
    total : int
        How many there are.
    shown : bool
        Whether to show it.
    size : callable, optional
        Tells how many units an item consists of; by default one.
    """
    if not shown or sys.stderr is None:
        return iter(items)
    return _counted(items, unit, total, size or (lambda item: 1))


def _counted(items: Iterable[T], unit: str, total: int, size: Callable[[T], int]) -> Iterator[T]:
    from tqdm import tqdm

    with tqdm(total=total, unit=unit, file=sys.stderr) as bar:
        for item in items:
            yield item
            bar.update(size(item))
