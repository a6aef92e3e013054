"""Lists of runs: from a list, a dict from names to runs, a directory, or a pattern for paths."""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch
from itertools import chain
from typing import Any

from ir_outcomes.errors import IrOutcomesError, IrOutcomesWarning, ParameterError, UnreadableFile, some, user_stacklevel
from ir_outcomes.reading.any_file import seems_to_be_a_run
from ir_outcomes.reading.datasets import DATASET_PREFIX
from ir_outcomes.reading.python_objects import is_ranking

__all__ = ["is_path", "run_list", "run_paths", "runs_and_names"]

_TEXTS = ("readme*", "license*", "*.md")  # of file names in lower case, which stand beside runs in many repositories


def run_list(runs: Any) -> list[Any] | dict[str, Any] | None:
    """Return the runs of a list, a dict from names to runs, a directory or a pattern; None for a single run.

    A list may contain directories and patterns. A dict is a single run where its values are rankings, that is dicts from
    documents to scores, or lists of documents.

    Raises
    ------
    ParameterError
        If there is no run, or a name in a dict is not text.
    UnreadableFile
        See `run_paths`.
    """
    listed: list[Any] | dict[str, Any]
    if isinstance(runs, Mapping):
        if _is_run(runs):
            return None
        listed = dict(runs)
        _check_names(listed)
    elif isinstance(runs, (list, tuple)):
        if hasattr(runs, "_fields") or (runs and hasattr(runs[0], "_fields")):  # named tuples are the rows of a run
            return None
        listed = list(chain.from_iterable(run_paths(run) if _is_directory_or_pattern(run) else [run] for run in runs))
    elif _is_directory_or_pattern(runs):
        listed = list(run_paths(runs))
    else:
        return None
    if not listed:
        raise ParameterError("there is no run; give at least one")
    return listed


def runs_and_names(runs: Any, names: Sequence[str | None] | None = None) -> tuple[list[Any], list[str | None]]:
    """Return runs as a list, and the name that the call gives to each of them, or None.

    Parameters
    ----------
    runs : object
        See `run_list`; a single run is a list of one.
    names : sequence of str or None, optional
        The names; by default those of a dict.

    Raises
    ------
    ParameterError
        If there are not as many names as runs, or a name is not text.
    """
    listed = run_list(runs)
    items = [runs] if listed is None else list(listed.values()) if isinstance(listed, dict) else listed
    if names is None:
        return items, list(listed) if isinstance(listed, dict) else [None] * len(items)
    if isinstance(names, str):
        raise ParameterError(f"names={names!r}: must be a list with a name for each run")
    if len(names) != len(items):
        raise ParameterError(f"names: {len(names)} names for {len(items)} runs")
    _check_names(name for name in names if name is not None)
    return items, list(names)


def run_paths(source: str | os.PathLike[str]) -> list[str]:
    """List the runs of a directory, or those that a pattern such as ``"runs/*.gz"`` matches, in the order of their paths.

    Hidden files are left out. Files that are not runs, such as qrels (which have four columns), the output of trec_eval, or a
    README, are left out with a warning that names them. ``**`` in a pattern stands for any directories; links to directories
    are followed, and each directory is visited once. A path that is neither a directory nor a pattern is returned as it is.

    Raises
    ------
    UnreadableFile
        If there is no run.
    """
    path = os.fspath(source)
    if not _is_directory_or_pattern(path):
        return [path]
    is_folder = os.path.isdir(path)
    pattern = os.path.join(glob.escape(path), "*") if is_folder else path
    found = sorted(match for match in _matches(pattern) if not os.path.isdir(match))
    if not found:
        raise UnreadableFile(f"{path}: {'the directory contains no file' if is_folder else 'no file matches this pattern'}")
    runs = [file for file in found if _is_probably_run(file)]
    rest = [os.path.relpath(file, path) if is_folder else file for file in sorted({*found} - {*runs})]
    if not runs:
        raise UnreadableFile(f"{path}: contains no run, but {some(rest)}; name a file itself to read it as a run")
    if rest:
        left_out = "is not a run and is left out" if len(rest) == 1 else "are not runs and are left out"
        message = f"{path}: {some(rest, 20)} {left_out}; name a file itself to read it as a run"
        warnings.warn(message, IrOutcomesWarning, stacklevel=user_stacklevel())
    return runs


def is_path(run: Any) -> bool:
    """Tell whether a run is given as a path, and not as a dataset id."""
    return isinstance(run, os.PathLike) or (isinstance(run, str) and not run.startswith(DATASET_PREFIX))


def _is_run(runs: Mapping[Any, Any]) -> bool:
    """Tell a run in a dict from a dict of runs by the first value that is not empty."""
    first = next((value for value in runs.values() if not isinstance(value, (Mapping, list, tuple)) or len(value)), None)
    if first is None:
        return bool(runs)
    if isinstance(first, Mapping):
        inner = next(iter(first.values()))
        return not isinstance(inner, Mapping) and not is_ranking(inner)
    return is_ranking(first)


def _check_names(names: Iterable[Any]) -> None:
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(f"the name {name!r} of a run is not text; convert names with str")


def _is_directory_or_pattern(run: Any) -> bool:
    if not is_path(run):
        return False
    is_pattern = any(sign in os.fspath(run) for sign in "*?[") and not os.path.exists(run)
    return is_pattern or os.path.isdir(run)


def _matches(pattern: str) -> set[str]:
    """Find the paths that match a pattern, as `glob.glob` does, but visit each directory only once.

    `glob.glob` follows a link to a directory above it again and again, so that a file is found by many paths, and two such
    links never end.
    """
    parts = pattern.split(os.sep)
    if "**" not in parts:
        return set(glob.glob(pattern))
    place = parts.index("**")
    rest = os.sep.join(parts[place + 1 :]) or "*"
    tops = glob.glob(os.sep.join(parts[:place]) + os.sep) if place else [""]
    visited: set[tuple[int, int]] = set()
    found: dict[tuple[str, str], str] = {}
    for top in sorted(tops):
        for folder in _folders_below(top, visited):
            for match in sorted(_matches(glob.escape(folder) + rest)):
                parent, name = os.path.split(match)
                found.setdefault((os.path.realpath(parent), name), match)
    return set(found.values())


def _folders_below(top: str, visited: set[tuple[int, int]]) -> list[str]:
    """List a directory and all directories below it that are not hidden and were not visited, each with a separator."""
    folders = []
    waiting = [top]
    while waiting:  # breadth first, so that a file gets its shortest path
        folder = waiting.pop(0)
        try:
            status = os.stat(folder or os.curdir)
            names = sorted(os.listdir(folder or os.curdir))
        except OSError:  # as glob does, pass over what cannot be listed
            continue
        if (status.st_dev, status.st_ino) in visited:
            continue
        visited.add((status.st_dev, status.st_ino))
        folders.append(folder)
        below = (os.path.join(folder, name, "") for name in names if not name.startswith("."))
        waiting.extend(path for path in below if os.path.isdir(path))
    return folders


def _is_probably_run(path: str) -> bool:
    """Tell whether a file found in a directory is a run; what cannot be read counts as one, so that its error is raised."""
    if any(fnmatch(os.path.basename(path).lower(), pattern) for pattern in _TEXTS):
        return False
    if not os.path.isfile(path):  # a pipe can be read only once
        return True
    try:
        return seems_to_be_a_run(path) or os.path.getsize(path) == 0  # an empty file is a run without results
    except IrOutcomesError:
        return True
