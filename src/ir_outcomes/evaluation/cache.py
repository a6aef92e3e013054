"""A cache of search lengths, by the content of what they are computed from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ir_outcomes.errors import FormatError, InputError, ParameterError, UnreadableFile
from ir_outcomes.evaluation.lengths import SearchLengths, search_lengths
from ir_outcomes.evaluation.storage import LAYOUT, load_parts, save_parts, score_bits
from ir_outcomes.reading.files import name_of
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import read_run

__all__ = ["cached_lengths", "make_folder"]


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """Create the folder of a cache if it does not exist; return its absolute path, which is valid in any process.

    Raises
    ------
    ParameterError
        If it cannot be created.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte
        reason = getattr(error, "strerror", None) or error
        raise ParameterError(f"cache {os.fsdecode(folder)}: the folder cannot be created ({reason})") from error
    return Path(folder).absolute()


def cached_lengths(
    folder: Path, qrels: Qrels, path: str | os.PathLike[str], settings: Mapping[str, Any]
) -> tuple[SearchLengths, str | None]:
    """Take the search lengths of a run file from the cache, or compute and keep them.

    The key is the content of qrels and run, the settings, and what else decides the result: an entry can be missing, but not
    out of date. The key is in the entry too, so that an entry under the name of another one is noticed.

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
        A warning: an entry was unusable and was computed again, or the cache cannot be written to.

    Raises
    ------
    InputError
        If the run cannot be read.
    """
    from importlib.metadata import version  # as slow to import as the rest of this package together

    content = _digest(path)
    key = repr([LAYOUT, version("ir-outcomes"), score_bits(settings["ties"]), qrels.digest, content, sorted(settings.items())])
    entry = folder / f"{hashlib.sha256(key.encode()).hexdigest()}.npz"
    warning = None
    if entry.exists():
        try:
            return replace(_loaded(entry, key), name=name_of(path)), None
        except InputError as error:
            warning = f"a cache entry is unusable, {os.fsdecode(path)} is evaluated again: {error}"
    lengths = search_lengths(qrels, read_run(path), **settings)
    if _digest(path) == content:  # otherwise the file changed while it was read, and nobody knows what was
        try:
            save_parts(vars(lengths), entry, key)
        except ParameterError as error:
            warning = f"the cache cannot be written to, results are not kept: {error}"
    return lengths, warning


def _loaded(entry: Path, key: str) -> SearchLengths:
    parts, found = load_parts(entry)
    if found != key:
        raise FormatError(os.fspath(entry), "is the entry of another run or of other settings")
    return SearchLengths(**parts)


def _digest(path: str | os.PathLike[str]) -> str:
    content = hashlib.sha256()
    try:
        with open(path, "rb") as stream:
            while block := stream.read(1 << 20):
                content.update(block)
    except OSError as error:
        raise UnreadableFile(f"{os.fsdecode(path)}: {error.strerror or error}") from error
    return content.hexdigest()
