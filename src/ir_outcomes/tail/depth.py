"""Runs at one depth: ASL compares runs only where a document that is missing costs each of them the same."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ir_outcomes._checks import check_one_order
from ir_outcomes._types import Missing, Ties
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluate import evaluate, notes_on_queries, task_of
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.reading.run_lists import runs_and_names

__all__ = ["AtDepth", "at_depth", "pair_at_depth"]


class AtDepth(NamedTuple):
    """Runs evaluated alike.

    Attributes
    ----------
    tables : list of SearchLengths
        One for each run.
    cutoff : int or None
        The depth they share; None where unequal depths were asked for.
    rel : int
        Least grade of a relevant document.
    notes : tuple of str
        What a careful reader must know.
    """

    tables: list[SearchLengths]
    cutoff: int | None
    rel: int
    notes: tuple[str, ...]


def at_depth(
    qrels: Any,
    runs: Any,
    *,
    cutoff: int | None,
    rel: int | None,
    ties: Ties,
    missing: Missing,
    names: Sequence[str] | None = None,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> AtDepth:
    """Evaluate runs at a shared depth.

    Parameters
    ----------
    qrels, runs, names
        See `ir_outcomes.leaderboard`.
    cutoff : int, optional
        The depth; by default the one that all runs reach.
    rel : int, optional
        By default the task's, where `qrels` is one, else 1.
    ties, missing
        See `ir_outcomes.search_lengths` and `SearchLengths.asl`.
    n_jobs, cache, progress
        See `ir_outcomes.evaluate`.

    Raises
    ------
    MismatchError
        If there is no cutoff, the runs differ in depth, and ``missing="retrieved"`` was not asked for.
    ParameterError
        If it was, and a run has no results for a query, or none but relevant ones; or under ``ties="expected"``.
    """
    check_one_order(ties)
    task = task_of(qrels)
    rel = rel if rel is not None else task.rel if task else 1
    items, given = runs_and_names(runs, names)
    tables = evaluate(
        task.qrels if task else qrels,
        items,
        names=given,
        cutoff=cutoff,
        rel=rel,
        ties=ties,
        n_jobs=n_jobs,
        cache=cache,
        progress=progress,
    )
    if missing == "retrieved":
        _refuse_lists_without_irrelevant_documents(tables)
    about = list(notes_on_queries(tables))
    reached = {table.name: int(table.retrieved.max(initial=0)) for table in tables}
    if cutoff is not None:
        shallow = [name for name, depth in reached.items() if depth < cutoff]
        if shallow:
            about.append(f"{some(shallow)}: no list reaches the depth of {cutoff}; documents below are unknown, not missing.")
        return AtDepth(tables, cutoff, rel, tuple(about))
    common = min(reached.values())
    if max(reached.values()) == common:
        return AtDepth([replace(table, cutoff=common) for table in tables], common, rel, tuple(about))
    at = {depth: [name for name, each in reached.items() if each == depth] for depth in sorted(set(reached.values()))}
    depths = "; ".join(f"{depth}: {some(named, 3)}" for depth, named in at.items())
    if missing == "cutoff":
        raise MismatchError(
            f"the runs differ in depth ({depths}), and short lists look good in ASL: give the depth that all share, "
            f"cutoff={common}, or missing='retrieved' for equation 3 of Alex et al. 2022 as printed"
        )
    return AtDepth(
        tables, None, rel, (f"The runs differ in depth ({depths}); short lists look good in ASL, equation 3.", *about)
    )


def pair_at_depth(qrels: Any, baseline: Any, contender: Any, **settings: Any) -> AtDepth:
    """Do the same with two runs; see `at_depth` for the settings.

    Raises
    ------
    ParameterError
        If one of them stands for several.
    """
    runs, _ = runs_and_names([baseline, contender])
    if len(runs) != 2:
        raise ParameterError(f"baseline and contender must be one run each; these are {len(runs)} runs")
    return at_depth(qrels, runs, **settings)


def _refuse_lists_without_irrelevant_documents(tables: list[SearchLengths]) -> None:
    """Equation 3 gives a missing document as many ranks as irrelevant ones were retrieved, and there is none."""
    for table in tables:
        irrelevant = table.retrieved - table.relevant_retrieved
        bare = table.answerable & (irrelevant == 0) & (table.relevant_retrieved < table.relevant)
        queries = [query for query, each in zip(table.query_ids, bare.tolist(), strict=True) if each]
        if queries:
            raise ParameterError(
                f"{table.name}: no irrelevant documents for {len(queries)} queries ({some(queries)}), where a missing document "
                "has no search length under equation 3; use missing='cutoff'"
            )
