"""Qrels, queries and rankings of public collections, by their ir_datasets ids.

ir_datasets fetches what is not on this machine yet. What can go wrong with that ends in one error, `DatasetUnavailable`,
which says what would have been fetched, how large it is, where it would lie, and how to go on without it.
"""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from ir_outcomes.errors import DatasetUnavailable, IrOutcomesWarning

DATASET_PREFIX = "irds:"
LARGE_DOWNLOAD = 100_000_000

Part = Literal["qrels", "queries", "scoreddocs"]


class Source(NamedTuple):
    """Where a part of a collection comes from.

    Attributes
    ----------
    here : bool
        Whether it is on this machine already.
    path : str or None
        Where its file lies or would lie.
    size : int or None
        Bytes to be downloaded, where that is known; the file itself may be smaller.
    """

    here: bool
    path: str | None
    size: int | None


def is_dataset_id(name: str) -> bool:
    """Tell whether ir_datasets knows a collection of this id."""
    import ir_datasets

    try:
        ir_datasets.load(name.removeprefix(DATASET_PREFIX))
    except KeyError:
        return False
    return True


def dataset_of(name: str) -> Any:
    """Look a collection up; nothing is fetched.

    Raises
    ------
    DatasetUnavailable
        If ir_datasets does not know the id; the message names the nearest.
    """
    import ir_datasets

    name = name.removeprefix(DATASET_PREFIX)
    try:
        return ir_datasets.load(name)
    except KeyError:
        near = nearest_ids(name)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise DatasetUnavailable(f"{name}: neither a file nor an ir_datasets id{hint}") from None


def nearest_ids(name: str) -> list[str]:
    """List the known ids that look like a name, the most similar first."""
    import ir_datasets

    return difflib.get_close_matches(name.removeprefix(DATASET_PREFIX), list(ir_datasets.registry), n=3)


def source_of(name: str, part: Part) -> Source | None:
    """Tell where a part of a collection comes from; None if the collection has no such part. Nothing is fetched."""
    dataset = dataset_of(name)
    return _source(_handler(dataset, part)) if _has(dataset, part) else None


def load_part(name: str, part: Part) -> list[Any]:
    """Load a part of a collection, fetching it where need be.

    Raises
    ------
    DatasetUnavailable
        If the collection has no such part, it cannot be fetched, or its ranking holds no scores.

    Warns
    -----
    IrOutcomesWarning
        Before a download of more than 100 MB.
    """
    name = name.removeprefix(DATASET_PREFIX)
    dataset = dataset_of(name)
    if not _has(dataset, part):
        raise DatasetUnavailable(f"{name}: this collection has no {_CALLED[part]}{_siblings(name, part)}; give a file instead")
    source = _source(_handler(dataset, part))
    if not source.here and (source.size or 0) > LARGE_DOWNLOAD:
        message = f"{name}: fetching its {_CALLED[part]}, a download of {_megabytes(source.size)}"
        warnings.warn(message, IrOutcomesWarning, stacklevel=4)
    with _fetching(name, part, source):
        rows = list(getattr(dataset, f"{part}_iter")())
    if part == "scoreddocs" and rows and len({row.score for row in rows}) == 1:
        raise DatasetUnavailable(
            f"{name}: every score of this collection's own ranking is {rows[0].score}, so it has no order and cannot be a "
            "baseline; give a run file"
        )
    return rows


_CALLED: dict[Part, str] = {"qrels": "qrels", "queries": "queries", "scoreddocs": "ranking of its own (scoreddocs)"}


def _has(dataset: Any, part: Part) -> bool:
    return bool(getattr(dataset, f"has_{part}")())


def _handler(dataset: Any, part: Part) -> Any:
    return getattr(dataset, f"{part}_handler")()


def _source(handler: Any) -> Source:
    """Follow ir_datasets' chain of readers to the files that it caches and the download behind them."""
    paths: list[str] = []
    size = None
    queue, seen = [handler], set()
    while queue:
        link = queue.pop(0)
        if id(link) in seen or not type(link).__module__.startswith("ir_datasets"):
            continue
        seen.add(id(link))
        fields = vars(link) if hasattr(link, "__dict__") else {}
        path = fields.get("_cache_path") or (fields.get("_path") if "_streamer" in fields else None)
        if path:
            paths.append(os.fspath(path))
        size = size or fields.get("_size_hint")
        queue += [each for value in fields.values() for each in (value if isinstance(value, (list, tuple)) else [value])]
    here = next((path for path in paths if os.path.exists(path)), None)
    return Source(here is not None, here or (paths[0] if paths else None), None if here else size)


def _siblings(name: str, part: Part) -> str:
    import ir_datasets

    parent = name.rpartition("/")[0]
    there = [other for other in ir_datasets.registry if parent and other.startswith(f"{parent}/")]
    there = [other for other in there if _has(ir_datasets.load(other), part)]
    return f"; these do: {', '.join(there[:5])}" if there else ""


@contextmanager
def _fetching(name: str, part: Part, source: Source) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # ir_datasets raises RuntimeError, OSError, or what a damaged file leads to
        if source.here:
            remedy = "remove that file, so that it is fetched anew"
            problem = f"its {_CALLED[part]} at {source.path} cannot be read ({error}); {remedy}"
        else:
            size = f" (a download of {_megabytes(source.size)})" if source.size else ""
            where = f" to {source.path}" if source.path else ""
            problem = f"its {_CALLED[part]}{size} could not be fetched{where} ({error}); try again with a network connection"
        raise DatasetUnavailable(f"{name}: {problem}, or give a file instead of the id") from error


def _megabytes(size: int | None) -> str:
    if size is None:
        return "unknown size"
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
