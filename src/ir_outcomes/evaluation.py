"""Many runs under the same qrels and settings, each evaluated once: what every comparison and leaderboard starts from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.lengths import SearchLengths, search_lengths
from ir_outcomes.matching import Unit
from ir_outcomes.ranking import Ties
from ir_outcomes.reading.datasets import is_dataset_id
from ir_outcomes.reading.qrels import as_qrels
from ir_outcomes.reading.runs import as_run
from ir_outcomes.reading.tasks import Task, load

__all__ = ["evaluate", "runs_and_names", "several_runs", "task_of", "unit_of"]


def evaluate(
    qrels: Any,
    runs: Sequence[Any],
    *,
    names: Sequence[str | None],
    cutoff: int | None,
    rel: int,
    ties: Ties,
    judged_only: bool = False,
) -> list[SearchLengths]:
    """Find where each run ranks each relevant document.

    Parameters
    ----------
    qrels : Qrels, path, dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels`.
    runs : sequence of Run, path, dict, frame, iterable or SearchLengths
        See `ir_outcomes.as_run`. Search lengths are taken as they are, if they were made with these qrels and settings.
    names : sequence of str or None
        What to call each run; None leaves its own name.
    cutoff, rel, ties, judged_only
        See `ir_outcomes.search_lengths`.

    Returns
    -------
    list of SearchLengths
        In the order of `runs`. Runs that would go by the same name get their paths or numbers.

    Raises
    ------
    InputError
        If something cannot be read.
    MismatchError
        If search lengths were made otherwise, no query of a run is in the qrels, or no query is answerable.
    """
    judgments = as_qrels(qrels)
    settings = {"cutoff": cutoff, "rel": rel, "ties": ties, "judged_only": judged_only}
    tables = []
    for run, name in zip(runs, names, strict=True):
        if isinstance(run, SearchLengths):
            table = run
            _check_settings(table, judgments.digest, settings)
        else:
            run = as_run(run, name)
            table = search_lengths(judgments, run, cutoff=cutoff, rel=rel, ties=ties, judged_only=judged_only)
        _check_overlap(table)
        tables.append(table if name is None else replace(table, name=name))
    return _distinctly_named(tables, runs)


def task_of(qrels: Any) -> Task | None:
    """Return the task that `qrels` is, or is the dataset id of; None for other qrels."""
    if isinstance(qrels, Task):
        return qrels
    is_id = isinstance(qrels, str) and not os.path.exists(qrels) and is_dataset_id(qrels)
    return load(qrels) if is_id else None


def unit_of(unit: Unit | Literal["auto"], task: Task | None, table: SearchLengths) -> Unit:
    """Choose the unit that "auto" stands for: the task's, or "query" where the median query has one relevant document."""
    chosen = task.unit if unit == "auto" and task is not None else unit
    is_query = chosen == "query" or (chosen == "auto" and np.median(table.relevant[table.answerable]) == 1)
    return "query" if is_query else "document"


def several_runs(runs: Any) -> list[Any] | dict[str, Any] | None:
    """Tell several runs, a list of them or a dict from names to them, from a single one; None for a single one."""
    if isinstance(runs, Mapping):
        first = next(iter(runs.values()), None)
        is_run = isinstance(first, Mapping) and not isinstance(next(iter(first.values()), None), Mapping)
        several: list[Any] | dict[str, Any] | None = None if is_run else dict(runs)
    elif isinstance(runs, (list, tuple)):
        one = bool(runs) and (hasattr(runs[0], "_fields") or hasattr(runs, "_fields"))
        several = None if one else list(runs)
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


def _distinctly_named(tables: list[SearchLengths], runs: Sequence[Any]) -> list[SearchLengths]:
    """Give runs that would go by the same name their paths or numbers, so that no table is ambiguous."""
    taken = [table.name for table in tables]
    result = []
    for number, (table, run) in enumerate(zip(tables, runs, strict=True)):
        if taken.count(table.name) > 1:
            path = os.fspath(run) if isinstance(run, (str, os.PathLike)) else None
            table = replace(table, name=path or f"{table.name} {number}")
        result.append(table)
    return result


def _check_settings(table: SearchLengths, digest: str, settings: Mapping[str, Any]) -> None:
    """Refuse search lengths that were made otherwise than the result will say."""
    if table.qrels_digest != digest:
        raise MismatchError(f"{table.name} was evaluated with other qrels than those of this comparison; give the same")
    for setting, asked in settings.items():
        made = getattr(table, setting)
        if made != asked:
            raise MismatchError(
                f"{table.name} was evaluated with {setting}={made!r}, this comparison has {setting}={asked!r}; "
                f"pass {setting}={made!r} or evaluate it anew"
            )


def _check_overlap(table: SearchLengths) -> None:
    if not table.answerable.any():
        raise MismatchError(f"no query of the qrels has a relevant document at rel={table.rel}; lower rel or mend the qrels")
    if not table.listed.any():
        raise MismatchError(
            f"none of the queries of {table.name} is in the qrels; the run has {some(table.ignored, 3) or 'no query'}, "
            f"the qrels have {some(table.query_ids, 3)}: are these for the same topics?"
        )
