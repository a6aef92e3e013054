"""Search lengths on disk: saved by name, or cached by the content of what they were made from.

A file is an npz without pickles: the arrays, and one JSON text with everything else. It is written whole or not at all, so
that processes share a folder without locks.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ir_outcomes.errors import FormatError, InputError, MismatchError, ParameterError, UnreadableFile
from ir_outcomes.evaluation.lengths import PER_ATOM, PER_QUERY, SearchLengths, search_lengths
from ir_outcomes.evaluation.ranking import pytrec_eval_compares_as_float32
from ir_outcomes.reading.files import name_of
from ir_outcomes.reading.qrels import Qrels, as_qrels
from ir_outcomes.reading.runs import read_run

__all__ = ["cached_lengths", "load", "make_folder", "save"]

LAYOUT = 2  # goes up whenever a file of the old layout would be misread

_ARRAYS = ("offsets", *PER_ATOM, *PER_QUERY)
_OTHERS = ("unjudged_depths", "name", "query_ids", "ignored", "cutoff", "rel", "ties", "judged_only", "qrels_digest")


def save(lengths: SearchLengths, path: str | os.PathLike[str]) -> None:
    """Write search lengths to a file; see `SearchLengths.save`."""
    about = {field: getattr(lengths, field) for field in _OTHERS}
    about |= {"layout": LAYOUT, "score_bits": _score_bits(lengths.ties)}
    text = json.dumps(about, default=lambda number: number.item())  # of numpy
    content = io.BytesIO()
    arrays = {field: getattr(lengths, field) for field in _ARRAYS}
    np.savez_compressed(content, about=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)
    _write_whole(Path(path), content.getvalue())


def load(path: str | os.PathLike[str], qrels: Any = None) -> SearchLengths:
    """Read search lengths from a file; see `SearchLengths.load`."""
    source = os.fspath(path)
    about, arrays = _content(source)
    layout = about.get("layout")
    if layout != LAYOUT:
        raise FormatError(
            source,
            f"was saved by another version of ir_outcomes (layout {layout}, this one has {LAYOUT}); evaluate the run anew",
        )
    try:
        parts = {field: arrays[field] for field in _ARRAYS} | {field: about[field] for field in _OTHERS}
        lists = {field: tuple(parts[field]) for field in ("query_ids", "ignored", "unjudged_depths")}
        lengths, bits = SearchLengths(**(parts | lists)), about["score_bits"]
        sound = _is_sound(lengths)
    except (KeyError, TypeError) as error:
        raise FormatError(source, f"lacks a part of search lengths ({error}); evaluate the run anew") from error
    if not sound:
        raise FormatError(source, "its parts do not fit together; evaluate the run anew")
    if bits != _score_bits(lengths.ties):
        raise MismatchError(
            f"{source} was made where pytrec_eval compares scores in {bits} bits, here it does in "
            f"{_score_bits(lengths.ties)}, so that ties differ; evaluate the run anew"
        )
    if qrels is not None and lengths.qrels_digest != as_qrels(qrels).digest:
        raise MismatchError(f"{source} was made with other qrels than those given; give the same, or evaluate the run anew")
    return lengths


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """Make the folder of a cache, if need be; its absolute path means the same to processes in other directories."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"cache {os.fspath(folder)}: cannot be made a folder ({error.strerror})") from error
    return Path(folder).absolute()


def cached_lengths(
    folder: Path, qrels: Qrels, path: str | os.PathLike[str], settings: Mapping[str, Any]
) -> tuple[SearchLengths, str | None]:
    """Take the search lengths of a run file from the cache, or find and keep them.

    The key is the content of qrels and run, the settings, and what else decides the result: an entry can be missing, never
    out of date.

    Parameters
    ----------
    folder : Path
        The cache.
    qrels : Qrels
        The judgments.
    path : path
        The run, a regular file.
    settings : mapping
        Of `search_lengths`.

    Returns
    -------
    SearchLengths
        Named after the file.
    str or None
        What to warn of: an entry that could not be read, and was made anew.

    Raises
    ------
    InputError
        If the run cannot be read.
    ParameterError
        If the cache cannot be written to.
    """
    from importlib.metadata import version  # as slow to import as the rest of this room together

    content = _digest(path)
    key = [LAYOUT, version("ir-outcomes"), _score_bits(settings["ties"]), qrels.digest, content, sorted(settings.items())]
    entry = folder / f"{hashlib.sha256(repr(key).encode()).hexdigest()}.npz"
    warning = None
    if entry.exists():
        try:
            return replace(load(entry, qrels), name=name_of(path)), None
        except InputError as error:
            warning = f"a cache entry is of no use, {os.fspath(path)} is evaluated anew: {error}"
    lengths = search_lengths(qrels, read_run(path), **settings)
    if _digest(path) == content:  # else the file changed while it was read, and nobody knows what was
        save(lengths, entry)
    return lengths, warning


def _score_bits(ties: str) -> int | None:
    """At which precision scores are compared where pytrec_eval decides it."""
    if ties != "trec":
        return None
    return 32 if pytrec_eval_compares_as_float32() else 64


def _content(source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        with open(source, "rb") as stream:
            content = stream.read()
    except OSError as error:
        raise UnreadableFile(f"{source}: {error.strerror or error}") from error
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = dict(file)
        about = dict(json.loads(arrays.pop("about").tobytes()))
    except Exception as error:  # whatever numpy, zipfile, zlib or json make of strange bytes
        raise FormatError(source, f"holds no search lengths, or is damaged ({type(error).__name__}: {error})") from error
    return about, arrays


def _is_sound(lengths: SearchLengths) -> bool:
    n_queries, offsets = len(lengths.query_ids), lengths.offsets
    if offsets.shape != (n_queries + 1,) or offsets[0] != 0 or np.any(np.diff(offsets) < 0):
        return False
    shapes = dict.fromkeys(PER_ATOM, (int(offsets[-1]),)) | dict.fromkeys(PER_QUERY, (n_queries,))
    shapes["unjudged"] = (n_queries, len(lengths.unjudged_depths))
    types = dict.fromkeys(_ARRAYS, np.dtype(np.int64)) | {"listed": np.dtype(np.bool_)}
    return all(getattr(lengths, field).shape == shape for field, shape in shapes.items()) and all(
        getattr(lengths, field).dtype == dtype for field, dtype in types.items()
    )


def _write_whole(path: Path, content: bytes) -> None:
    """Write beside the file and rename: whoever reads sees the old content or the new, never a part."""
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        beside.write_bytes(content)
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise ParameterError(f"{path}: cannot be written ({error.strerror})") from error


def _digest(path: str | os.PathLike[str]) -> str:
    content = hashlib.sha256()
    try:
        with open(path, "rb") as stream:
            while block := stream.read(1 << 20):
                content.update(block)
    except OSError as error:
        raise UnreadableFile(f"{os.fspath(path)}: {error.strerror or error}") from error
    return content.hexdigest()
