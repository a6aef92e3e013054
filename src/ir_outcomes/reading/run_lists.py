"""Several runs: a list, a dict from names to runs, a directory, a pattern for paths."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ir_outcomes.errors import ParameterError, UnreadableFile
from ir_outcomes.reading.datasets import DATASET_PREFIX

__all__ = ["is_path", "run_paths", "runs_and_names", "several_runs"]


def several_runs(runs: Any) -> list[Any] | dict[str, Any] | None:
    """Tell several runs from a single one, for which the answer is None.

    Several are a list, a dict from names to runs, a directory or a pattern; a list may hold directories and patterns.
    """
    if isinstance(runs, Mapping):
        first = next(iter(runs.values()), None)
        is_run = isinstance(first, Mapping) and not isinstance(next(iter(first.values()), None), Mapping)
        several: list[Any] | dict[str, Any] | None = None if is_run else dict(runs)
    elif isinstance(runs, (list, tuple)):
        one = bool(runs) and (hasattr(runs[0], "_fields") or hasattr(runs, "_fields"))
        several = None if one else [each for run in runs for each in (run_paths(run) if _is_several(run) else [run])]
    elif _is_several(runs):
        several = list(run_paths(runs))
    else:
        return None
    if several is not None and not several:
        raise ParameterError("there is no run; give at least one")
    return several


def runs_and_names(runs: Any, names: Sequence[str] | None = None) -> tuple[list[Any], list[str | None]]:
    """Take several runs, or one, as a list, with the name that the call gives each, or None.

    Raises
    ------
    ParameterError
        If there are not as many names as runs.
    """
    several = several_runs(runs)
    items = [runs] if several is None else list(several.values()) if isinstance(several, dict) else several
    if names is not None and len(names) != len(items):
        raise ParameterError(f"names: {len(names)} names for {len(items)} runs")
    if names is not None:
        return items, list(names)
    return items, list(several) if isinstance(several, dict) else [None] * len(items)


def run_paths(source: str | os.PathLike[str]) -> list[str]:
    """List the files of a directory, or those that a pattern such as ``"runs/*.gz"`` matches, in the order of their paths.

    Hidden files and directories within are left out; ``**`` in a pattern stands for any directories. The path of a file, and
    whatever else is no pattern, stands for itself.

    Raises
    ------
    UnreadableFile
        If there is no file.
    """
    path = os.fspath(source)
    if not _is_several(path):
        return [path]
    is_folder = os.path.isdir(path)
    pattern = os.path.join(glob.escape(path), "*") if is_folder else path
    found = sorted(each for each in glob.glob(pattern, recursive=True) if os.path.isfile(each))
    if not found:
        raise UnreadableFile(f"{path}: {'the directory holds no file' if is_folder else 'no file matches this pattern'}")
    return found


def is_path(run: Any) -> bool:
    """Tell whether a run is given as the path of a file, and not by a dataset id."""
    return isinstance(run, os.PathLike) or (isinstance(run, str) and not run.startswith(DATASET_PREFIX))


def _is_several(run: Any) -> bool:
    """Tell whether this is a directory, or a pattern for paths rather than the path of a file."""
    if not is_path(run):
        return False
    is_pattern = any(sign in os.fspath(run) for sign in "*?[") and not os.path.exists(run)
    return is_pattern or os.path.isdir(run)
