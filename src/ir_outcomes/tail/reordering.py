"""What changes when runs are ordered by another measure, and which step of the way from AP to ASL changes it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes._formatting import plural
from ir_outcomes._types import Missing, Ties
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.scores import Scores, scores
from ir_outcomes.results import Result, versions
from ir_outcomes.statistics import differences, t_test
from ir_outcomes.statistics.orders import kendall_taus, shared_ranks
from ir_outcomes.tail.depth import AtDepth, at_depth
from ir_outcomes.tail.measures import average_precision

__all__ = ["Change", "Reordering", "ablation", "reordering"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

NOTICEABLE = 1.1  # "10 % better"
ALPHA = 0.05


@dataclass(frozen=True)
class Change:
    """What one change of measure does to the order of runs.

    Attributes
    ----------
    step : str
        What is changed.
    old, new : str
        The measures.
    tau : float or None
        Kendall's tau-b between the two orders; 1 for no reordering. None where all runs tie.
    delta_sort : float
        Largest change, over the runs, of the number of runs that are better, in percent of the runs; 0 for none.
    run : str
        The run it is reached by.
    better_before, better_after : int
        How many runs were better than it.
    delta_value, deviation : float or None
        Mean over the runs, and standard deviation, of new value / old value, lower-is-better measures as reciprocals.
    """

    step: str
    old: str
    new: str
    tau: float | None
    delta_sort: float
    run: str
    better_before: int
    better_after: int
    delta_value: float | None
    deviation: float | None


@dataclass(frozen=True)
class Reordering(Result):
    """How changes of measure reorder the runs; the pictures are "orders" and "changes".

    Attributes
    ----------
    changes : tuple of Change
        Step by step, and where there are several the cumulative change last.
    runs : tuple of str
        Names.
    measures : tuple of str
        The measures, in the order of the steps.
    values : tuple of tuple of float or None
        Mean of each measure (rows) for each run; search lengths as reciprocals, so that higher is better throughout.
    cutoff : int or None
        Depth that search lengths are taken to; None also where only named measures were compared.
    rel : int or None
        Least grade of a relevant document; None where only named measures were compared.
    missing : str or None
        Search length of a missing document; None where only named measures were compared.
    notes : tuple of str
        What a careful reader must know.
    versions : dict of str to str
        Of ir_outcomes, NumPy, SciPy, ir_measures and Python.
    """

    changes: tuple[Change, ...]
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    cutoff: int | None
    rel: int | None
    missing: str | None
    notes: tuple[str, ...]
    versions: dict[str, str]

    def _summary(self) -> str:
        return f"{plural('run', len(self.runs))} by {', '.join(self.measures)}"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each change."""
        return [
            {
                "step": each.step,
                "old": each.old,
                "new": each.new,
                "delta_sort": each.delta_sort,
                "run": each.run,
                "better_before": each.better_before,
                "better_after": each.better_after,
                "kendall_tau": each.tau,
                "delta_value": each.delta_value,
                "delta_value_deviation": each.deviation,
            }
            for each in self.changes
        ]


def reordering(
    qrels: Any,
    runs: Any,
    *,
    measures: Sequence[Any] | None = None,
    cutoff: int | None = None,
    rel: int | None = None,
    ties: Ties = "trec",
    missing: Missing = "cutoff",
    names: Sequence[str] | None = None,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Reordering:
    """Order the runs by one measure and by another, and measure what changes.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels`.
    runs : list, or dict from names to runs
        See `ir_outcomes.as_run`; at least two.
    measures : sequence of Measure or str, optional
        Two or more measures of ir_measures, compared in turn. By default the way from AP to ASL, step by step.
    cutoff : int, optional
        Depth that all runs share, for the way from AP to ASL; by default the one they reach.
    rel : int, optional
        Least grade of a relevant document, for the way from AP to ASL; by default the task's, or 1.
    ties, missing
        For the way from AP to ASL; see `ir_outcomes.search_lengths` and `SearchLengths.asl`.
    names : sequence of str, optional
        Names of the runs.
    n_jobs, progress
        See `ir_outcomes.evaluate`.
    cache : path, optional
        For the way from AP to ASL; see `ir_outcomes.evaluate`.

    Returns
    -------
    Reordering

    Raises
    ------
    MismatchError
        If the runs differ in depth and no cutoff is given.
    ParameterError
        If there are fewer than two runs or measures, if a setting of the way from AP to ASL is given beside named measures, or
        under ``ties="expected"``.
    InputError
        If something cannot be read.

    Notes
    -----
    "Better" is what the paper takes it for: a value 10 % better, and p <= 0.05 in a paired t test on the per-query values.
    Values of lower-is-better measures are compared as reciprocals; the test sees them as they are.

    References
    ----------
    Alex et al. 2022, section 4.4, Table 2.

    Examples
    --------
    >>> qrels = {f"q{n}": {"a": 1, "b": 1} for n in range(9)}
    >>> top = {q: {"a": 3.0, "x": 2.0, "y": 1.0, "b": 0.0} for q in qrels}
    >>> even = {q: {"x": 3.0, "a": 2.0, "b": 1.0, "y": 0.0} for q in qrels}
    >>> result = reordering(qrels, {"top": top, "even": even})
    >>> [(each.step, each.tau) for each in result.changes]
    [('atomize P', 1.0), ('harmonic within queries', None), ('harmonic across queries', None), ('cumulative', None)]
    """
    if measures is not None and len(measures) < 2:
        raise ParameterError("measures: name at least two, the old and the new")
    own = {"cutoff": cutoff, "rel": rel, "ties": ties, "missing": missing, "cache": cache}
    idle = [name for name, value in own.items() if value != _DEFAULTS.get(name)]
    if measures is not None and idle:
        raise ParameterError(
            f"{idle[0]} is for the way from AP to ASL; named measures have their own settings, such as nDCG(rel=2)@10"
        )
    depth: AtDepth | None = None
    steps: tuple[str, ...] = STEPS
    if measures is None:
        depth = at_depth(
            qrels,
            runs,
            cutoff=cutoff,
            rel=rel,
            ties=ties,
            missing=missing,
            names=names,
            n_jobs=n_jobs,
            cache=cache,
            progress=progress,
        )
        tables = ablation(depth.tables, missing)
    else:
        tables = scores(qrels, runs, measures, names=names, n_jobs=n_jobs, progress=progress)
        steps = tuple(f"{new.measure} for {old.measure}" for old, new in pairwise(tables))
    if len(tables[0].runs) < 2:
        raise ParameterError("there is one run only; reordering needs at least two")
    values = [_magnitudes(table) for table in tables]
    better = [_better(table, value) for table, value in zip(tables, values, strict=True)]
    kinds = [*zip(steps, pairwise(range(len(tables))), strict=True)]
    if len(steps) > 1:
        kinds.append(("cumulative", (0, len(tables) - 1)))
    return Reordering(
        changes=tuple(
            _change(step, (tables[old], tables[new]), (values[old], values[new]), (better[old], better[new]))
            for step, (old, new) in kinds
        ),
        runs=tables[0].runs,
        measures=tuple(table.measure for table in tables),
        values=tuple(tuple(None if np.isnan(each) else float(each) for each in value) for value in values),
        cutoff=depth.cutoff if depth else None,
        rel=depth.rel if depth else None,
        missing=missing if depth else None,
        notes=depth.notes if depth else tuple(note for table in tables for note in table.notes()),
        versions=versions(),
    )


_DEFAULTS = {"ties": "trec", "missing": "cutoff"}
STEPS = ("atomize P", "harmonic within queries", "harmonic across queries")


def ablation(tables: list[SearchLengths], missing: Missing) -> list[Scores]:
    """Compute the measures on the way from AP to ASL.

    Returns
    -------
    list of Scores
        "AP"; "atomized P", the mean within a query of 1 / ASL of each document; "harmonic P", 1 / ASL of each query, which is
        the harmonic instead of the arithmetic mean within it; "ASL", of which 1 / mean is the harmonic mean across queries.

    References
    ----------
    Alex et al. 2022, section 4.4: "Atomize P", "Aggregate docs within query", "Aggregate rates across queries".
    """
    first = tables[0]
    chosen = first.answerable
    ids = tuple(compress(first.query_ids, chosen.tolist()))
    names = tuple(table.name for table in tables)

    def means(table: SearchLengths, values: Floats) -> Floats:
        totals = np.bincount(table.query, weights=values, minlength=len(table.query_ids))
        return (totals[chosen] / table.relevant[chosen]).astype(np.float64)

    lengths = [table.document_lengths(missing) for table in tables]
    rows = {
        "AP": [average_precision(table)[chosen] for table in tables],
        "atomized P": [means(table, 1 / each) for table, each in zip(tables, lengths, strict=True)],
        "harmonic P": [1 / means(table, each) for table, each in zip(tables, lengths, strict=True)],
        "ASL": [means(table, each) for table, each in zip(tables, lengths, strict=True)],
    }
    return [Scores(name, name != "ASL", names, ids, np.stack(values)) for name, values in rows.items()]


def _magnitudes(table: Scores) -> Floats:
    """Means, search lengths and other lower-is-better measures as reciprocals."""
    means = table.means()
    if table.higher_is_better:
        return means
    reciprocals: Floats = np.divide(1.0, means, out=np.full(len(means), np.nan), where=means != 0)
    return reciprocals


def _better(table: Scores, values: Floats) -> Bools:
    """(n_runs, n_runs) bool array: whether run j is better than run i, by 10 % and significantly."""
    n_runs = len(table.runs)
    better = np.zeros((n_runs, n_runs), dtype=bool)
    for i, j in zip(*np.nonzero(values[None, :] >= NOTICEABLE * values[:, None]), strict=True):
        defined = ~np.isnan(table.values[i]) & ~np.isnan(table.values[j])
        test = t_test(differences(table.gains()[i][defined], table.gains()[j][defined]))
        better[i, j] = test.pvalue <= ALPHA and test.direction > 0
    return better


def _change(step: str, tables: tuple[Scores, Scores], values: tuple[Floats, Floats], better: tuple[Bools, Bools]) -> Change:
    (old, new), (before, after) = tables, values
    counts = better[0].sum(axis=1), better[1].sum(axis=1)
    moved = np.abs(counts[0] - counts[1])
    run = int(np.argmax(moved))
    orders = [shared_ranks(np.where(np.isnan(each), -np.inf, each)[None]) for each in values]
    tau = float(kendall_taus(-orders[0][0], -orders[1])[0])
    ratios = np.divide(after, before, out=np.full(len(after), np.nan), where=before > 0)
    ratios = ratios[np.isfinite(ratios)]
    return Change(
        step=step,
        old=old.measure,
        new=new.measure,
        tau=None if np.isnan(tau) else tau,
        delta_sort=float(100 * moved[run] / len(moved)),
        run=old.runs[run],
        better_before=int(counts[0][run]),
        better_after=int(counts[1][run]),
        delta_value=float(ratios.mean()) if len(ratios) else None,
        deviation=float(ratios.std(ddof=1)) if len(ratios) > 1 else None,
    )
