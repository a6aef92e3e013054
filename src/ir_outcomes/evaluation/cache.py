"""A cache of search lengths and of other measures' values, by the content of what they are computed from.

The key of an entry is the content of qrels and run, the settings, and what else decides the result: an entry can be missing,
but not out of date. The key is in the entry too, so that an entry under the name of another one is noticed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ir_outcomes._types import Floats
from ir_outcomes.errors import FormatError, InputError, ParameterError
from ir_outcomes.evaluation.lengths import SearchLengths, search_lengths
from ir_outcomes.evaluation.scores import RunScorer
from ir_outcomes.evaluation.storage import LAYOUT, load_parts, load_values, save_parts, save_values, score_bits
from ir_outcomes.reading.files import file_digest, name_of
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run

__all__ = ["Reading", "cached_lengths", "cached_values", "make_folder"]

Reading = Callable[[], tuple[Run, tuple[str, ...]]]  # reads the run when it is needed; the run and what to warn about
T = TypeVar("T")


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
    folder: Path, qrels: Qrels, path: str | os.PathLike[str], settings: Mapping[str, Any], read: Reading
) -> tuple[SearchLengths, tuple[str, ...]]:
    """Take the search lengths of a run file from the cache, or compute and keep them.

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
    read : function
        Reads the run.

    Returns
    -------
    SearchLengths
        Named after the file.
    tuple of str
        Warnings: of reading, of an entry that was unusable and was computed again, or of a cache that cannot be written to.

    Raises
    ------
    InputError
        If the run cannot be read.
    """

    def load(entry: Path, key: str) -> SearchLengths:
        parts, found = load_parts(entry)
        if found != key:
            raise FormatError(os.fspath(entry), "is the entry of another run or of other settings")
        return SearchLengths(**parts)

    lengths, messages = _cached(
        folder,
        path,
        ("npz", score_bits(settings["ties"]), qrels.digest, sorted(settings.items())),
        read,
        load=load,
        compute=lambda run: search_lengths(qrels, run, **settings),
        save=lambda lengths, entry, key: save_parts(vars(lengths), entry, key),
    )
    return replace(lengths, name=name_of(path)), messages


def cached_values(
    folder: Path, qrels: Qrels, path: str | os.PathLike[str], scorer: RunScorer, read: Reading
) -> tuple[Floats, tuple[str, ...]]:
    """Take the values of measures of ir_measures on a run file from the cache, or compute and keep them.

    Parameters
    ----------
    folder, qrels, path, read
        See `cached_lengths`.
    scorer : RunScorer
        The measures.

    Returns
    -------
    (n_measures, n_queries) float array
        The values.
    tuple of str
        Warnings; see `cached_lengths`.

    Raises
    ------
    InputError
        If the run cannot be read.
    """
    from importlib.metadata import version

    shape = len(scorer.measures), len(qrels.query_ids)
    packages = [version(name) for name in ("ir-measures", "pytrec-eval-terrier")]
    return _cached(
        folder,
        path,
        ("npy", packages, qrels.digest, list(map(str, scorer.measures))),
        read,
        load=lambda entry, key: load_values(entry, key, shape),
        compute=scorer.values,
        save=save_values,
    )


def _cached(
    folder: Path,
    path: str | os.PathLike[str],
    what: tuple[Any, ...],
    read: Reading,
    *,
    load: Callable[[Path, str], T],
    compute: Callable[[Run], T],
    save: Callable[[T, Path, str], None],
) -> tuple[T, tuple[str, ...]]:
    from importlib.metadata import version  # as slow to import as the rest of this package together

    content = file_digest(path)
    key = repr([LAYOUT, version("ir-outcomes"), content, *what])
    entry = folder / f"{hashlib.sha256(key.encode()).hexdigest()}.{what[0]}"
    messages: list[str] = []
    if entry.exists():
        try:
            return load(entry, key), ()
        except InputError as error:
            messages.append(f"a cache entry is unusable, {os.fsdecode(path)} is evaluated again: {error}")
    run, from_reading = read()
    messages.extend(from_reading)
    result = compute(run)
    # Not kept where reading warned, so that the next evaluation warns too, nor where the file changed while it was read.
    if not from_reading and file_digest(path) == content:
        try:
            save(result, entry, key)
        except ParameterError as error:
            messages.append(f"the cache cannot be written to, results are not kept: {error}")
    return result, tuple(messages)
