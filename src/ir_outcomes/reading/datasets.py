"""Collections of ir_datasets: their queries, qrels and rankings by id, and the size of the downloads."""

import difflib
import os
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from ir_outcomes.errors import DatasetUnavailable, warn

DATASET_PREFIX = "irds:"
LARGE_DOWNLOAD = 100_000_000

Part = Literal["queries", "qrels", "scoreddocs"]


class Source(NamedTuple):
    """Where a part of a collection comes from."""

    here: bool  # on this machine
    path: str | None  # its file, or the one that a download would write
    size: int | None  # bytes to download, where that is known


def is_dataset_id(name: str) -> bool:
    """Whether ir_datasets knows a collection with this id."""
    import ir_datasets

    try:
        ir_datasets.load(name.removeprefix(DATASET_PREFIX))
    except KeyError:
        return False
    except Exception:  # made on demand from a pattern, such as clirmatrix/..., and not to be had now: `dataset_of` says so
        return True
    return True


def nearest_ids(name: str) -> list[str]:
    """List the most similar ids, the most similar one first."""
    import ir_datasets

    return difflib.get_close_matches(name.removeprefix(DATASET_PREFIX), list(ir_datasets.registry), n=3, cutoff=0.75)


def dataset_of(name: str) -> Any:
    """Open a collection of ir_datasets."""
    import ir_datasets

    name = name.removeprefix(DATASET_PREFIX)
    try:
        return ir_datasets.load(name)
    except KeyError:
        near = nearest_ids(name)
        hint = f"did you mean {', '.join(near)}?" if near else "the known ones are listed by: ir-outcomes datasets"
        raise DatasetUnavailable(f"{name}: neither a file nor an ir_datasets id; {hint}") from None
    except Exception as error:
        problem = f"cannot be opened ({reason_of(error)}); try again with a network connection, or give files"
        raise DatasetUnavailable(f"{name}: {problem}") from error


def source_of(name: str, part: Part) -> Source | None:
    """Return where a part of a collection comes from; None if it has no such part. Nothing is downloaded."""
    dataset = dataset_of(name)
    return _source(getattr(dataset, f"{part}_handler")()) if getattr(dataset, f"has_{part}")() else None


def load_part(name: str, part: Part) -> list[Any]:
    """Load the queries, the qrels or the ranking of a collection, downloading them if they are not on this machine."""
    name = name.removeprefix(DATASET_PREFIX)
    dataset = dataset_of(name)
    if not getattr(dataset, f"has_{part}")():
        raise DatasetUnavailable(f"{name}: this collection has no {_lacking(name, part)}")
    source = _source(getattr(dataset, f"{part}_handler")())
    if not source.here and source.size is not None and source.size >= LARGE_DOWNLOAD:
        warn(f"{name}: its {part} are downloaded ({size_text(source.size)}), unless you put the file at {source.path}")
    try:
        rows = list(getattr(dataset, f"{part}_iter")())
    except Exception as error:  # ir_datasets raises RuntimeError, OSError, EOFError or a hash error, by source
        raise DatasetUnavailable(_failure(name, part, source, error)) from error
    _check_complete(name, part, rows, dataset, source)
    if part == "scoreddocs" and _unordered(rows):
        raise DatasetUnavailable(
            f"{name}: every score of this collection's own ranking is {rows[0].score}, so it has no order and cannot be a "
            "baseline; give a run file"
        )
    return rows


def told_by(dataset: Any, what: Literal["documentation", "metadata"]) -> dict[str, Any]:
    """Return what ir_datasets states about a collection; an empty dict for one that was registered without it."""
    return (getattr(dataset, what)() if hasattr(dataset, what) else None) or {}


def query_text(query: Any) -> str:
    """Return the text of a query of ir_datasets, whatever the names of its fields."""
    if hasattr(query, "default_text"):
        return str(query.default_text())
    return " ".join(str(value) for field, value in query._asdict().items() if field != "query_id")


def size_text(size: int) -> str:
    """Write a number of bytes with a unit."""
    if size >= 10**9:
        return f"{size / 10**9:.2f} GB"
    return f"{size / 10**6:.1f} MB" if size >= 10**6 else f"{size / 10**3:.0f} kB"


def reason_of(error: Exception) -> str:
    """Say why ir_datasets could not read a file or download it."""
    if isinstance(error, RuntimeError) and len(error.args) == 2 and isinstance(error.args[1], list):
        return "; ".join(str(cause) for _, cause in error.args[1])  # one for each mirror
    return str(error) or type(error).__name__


def _failure(name: str, part: Part, source: Source, error: Exception) -> str:
    reason = reason_of(error)
    if source.here and source.path is not None:
        return (
            f"{name}: its {part} at {source.path} cannot be read ({reason}); remove that file, which may be half a download, "
            "so that it is fetched again, or give a file instead of the id"
        )
    size = "" if source.size is None else f" (a download of {size_text(source.size)})"
    where = "" if source.path is None else f" to {source.path}"
    put = "" if source.path is None else ", put the file there yourself"
    return (
        f"{name}: its {part}{size} could not be fetched{where} ({reason}); try again with a network connection{put}, "
        "or give a file instead of the id"
    )


def _check_complete(name: str, part: Part, rows: list[Any], dataset: Any, source: Source) -> None:
    """Refuse an incomplete download: ir_datasets reads any file that exists, but states how many judgments it should have."""
    expected = (told_by(dataset, "metadata").get(part) or {}).get("count", 0)
    if part == "qrels" and len(rows) < expected:
        raise DatasetUnavailable(
            f"{name}: only {len(rows)} of its {expected} judgments are on this machine; remove {source.path or 'the file'}, "
            "which may be half a download, so that it is fetched again, or give a file instead of the id"
        )


def _unordered(documents: list[Any]) -> bool:
    """Whether all scores are equal within every query."""
    queries = groupby(documents, key=attrgetter("query_id"))
    several = [scores for scores in ([row.score for row in group] for _, group in queries) if len(scores) > 1]
    return bool(several) and all(len(set(scores)) == 1 for scores in several)


def _source(handler: Any) -> Source:
    found = list(_files(handler, set()))
    missing = [source for source in found if not source.here]
    if not missing:
        return found[0] if found else Source(False, None, None)
    sizes = [source.size for source in missing]
    return Source(False, missing[0].path, None if None in sizes else sum(size or 0 for size in sizes))


def _files(holder: Any, seen: set[int]) -> Iterator[Source]:
    """Find the files behind ir_datasets' nested readers, of which it has no public list."""
    from ir_datasets import Dataset
    from ir_datasets.util import Cache, Download

    if id(holder) in seen:
        return
    seen.add(id(holder))
    if isinstance(holder, (Download, Cache)):
        path = holder._cache_path if isinstance(holder, Download) else holder._path
        if path is not None and os.path.exists(path):
            yield Source(True, str(path), None)
        elif isinstance(holder, Download):
            yield Source(False, None if path is None else str(path), holder._size_hint)
        else:
            yield _source(holder._streamer)._replace(path=str(path))
    elif isinstance(holder, (list, tuple)):
        for part in holder:
            yield from _files(part, seen)
    elif type(holder).__module__.split(".")[0] == "ir_datasets":
        for name, value in vars(holder).items():
            # A part may be a selection from the same part of another collection.
            yield from _files(getattr(value, name.lstrip("_"))() if isinstance(value, Dataset) else value, seen)
    elif hasattr(holder, "stream"):  # a collection that the user registered, on files of their own
        yield Source(True, None, None)


def _lacking(name: str, part: Part) -> str:
    """Say what a collection lacks, and what to use instead."""
    import ir_datasets

    if part == "queries":
        return "queries"
    if part == "scoreddocs":
        return "ranking of its own; give a run file"
    parent = name.rpartition("/")[0] or name
    judged = [known for known in ir_datasets.registry if known.startswith(f"{parent}/") and ir_datasets.load(known).has_qrels()]
    return f"qrels; these do: {', '.join(judged[:5])}" if judged else "qrels; give a qrels file"
