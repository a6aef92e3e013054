"""Relative reduction in error: how much of what is left to gain did a contender gain."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ir_outcomes._formatting import plural
from ir_outcomes._types import Ties
from ir_outcomes.evaluation.lengths import Missing
from ir_outcomes.results import Result, versions
from ir_outcomes.tail.depth import pair_at_depth
from ir_outcomes.tail.measures import top_and_all

__all__ = ["RRIE", "Reduction", "rrie"]


@dataclass(frozen=True)
class Reduction:
    """One measure of two runs.

    Attributes
    ----------
    measure : str
        Its name.
    baseline, contender : float
        Means.
    optimum : float
        The best value: 1 for precisions and for search lengths.
    rrie : float or None
        Share of the baseline's distance from the optimum that the contender saves, negative where it loses; higher is better.
        None where the baseline is optimal.
    """

    measure: str
    baseline: float
    contender: float
    optimum: float
    rrie: float | None


@dataclass(frozen=True)
class RRIE(Result):
    """Relative reduction in error from a baseline to a contender; the picture is "rrie".

    Attributes
    ----------
    baseline, contender : str
        Names.
    reductions : tuple of Reduction
        One for each measure.
    cutoff : int or None
        Depth that search lengths and AP are taken to.
    rel : int
        Least grade of a relevant document.
    missing : str
        Search length of a missing document; see `SearchLengths.asl`.
    notes : tuple of str
        What a careful reader must know.
    versions : dict of str to str
        Of ir_outcomes, NumPy, SciPy, ir_measures and Python.
    """

    baseline: str
    contender: str
    reductions: tuple[Reduction, ...]
    cutoff: int | None
    rel: int
    missing: str
    notes: tuple[str, ...]
    versions: dict[str, str]

    def _summary(self) -> str:
        return f"{self.contender} against {self.baseline}, {plural('measure', len(self.reductions))}"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measure."""
        return [
            {
                "measure": each.measure,
                "baseline_run": self.baseline,
                "contender_run": self.contender,
                "baseline": each.baseline,
                "contender": each.contender,
                "optimum": each.optimum,
                "rrie": each.rrie,
            }
            for each in self.reductions
        ]


def reduction(measure: str, baseline: float, contender: float, optimum: float = 1.0) -> Reduction:
    """Compute the relative reduction in error.

    References
    ----------
    Alex et al. 2022, equation 11 for precisions, equation 12 for search lengths; both have the optimum 1.

    Examples
    --------
    >>> round(reduction("ASL", 264, 215).rrie, 2), round(reduction("P@20", 0.517, 0.706).rrie, 2)
    (0.19, 0.39)
    """
    error = baseline - optimum
    return Reduction(measure, baseline, contender, optimum, None if error == 0 else (baseline - contender) / error)


def rrie(
    qrels: Any,
    baseline: Any,
    contender: Any,
    *,
    cutoff: int | None = None,
    rel: int | None = None,
    ties: Ties = "trec",
    missing: Missing = "cutoff",
    names: Sequence[str] | None = None,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> RRIE:
    """Set the reduction in error at the top beside that over all relevant documents, by precision and by search length.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels`.
    baseline, contender : run
        See `ir_outcomes.as_run`.
    cutoff : int, optional
        Depth that all runs share; by default the one they reach.
    rel : int, optional
        Least grade of a relevant document; by default the task's, or 1.
    ties, missing
        See `ir_outcomes.search_lengths` and `SearchLengths.asl`.
    names : sequence of str, optional
        Of the baseline and the contender.
    n_jobs, cache, progress
        See `ir_outcomes.evaluate`.

    Returns
    -------
    RRIE
        P@20 and ASL@g1-10 for the top, AP and ASL for all relevant documents; where the runs are less deep than 20, precision
        at their depth.

    Raises
    ------
    MismatchError
        If the runs differ in depth and no cutoff is given.
    ParameterError
        If baseline or contender stands for several runs, or under ``ties="expected"``.
    InputError
        If something cannot be read.

    References
    ----------
    Alex et al. 2022, section 4.3, Table 1, equations 11 and 12.

    Examples
    --------
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> result = rrie(qrels, {"q": {"x": 3.0, "a": 2.0, "y": 1.0}}, {"q": {"a": 3.0, "b": 2.0, "x": 1.0}}, names=["A", "B"])
    >>> [(each.measure, each.rrie) for each in result.reductions][-1]
    ("ASL(missing='cutoff')@3", 1.0)
    """
    runs = pair_at_depth(
        qrels,
        baseline,
        contender,
        cutoff=cutoff,
        rel=rel,
        ties=ties,
        missing=missing,
        names=names,
        n_jobs=n_jobs,
        cache=cache,
        progress=progress,
    )
    pairs = [(table.measure, *table.means().tolist()) for table in top_and_all(runs, missing)]
    return RRIE(
        baseline=runs.tables[0].name,
        contender=runs.tables[1].name,
        reductions=tuple(reduction(*pair) for pair in pairs),
        cutoff=runs.cutoff,
        rel=runs.rel,
        missing=missing,
        notes=runs.notes,
        versions=versions(),
    )
