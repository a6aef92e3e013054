"""Relative reduction in error: which share of the distance from the optimum a contender removes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.results import Result
from ir_outcomes.table_columns import PERCENT, Column, decimals, rows_of
from ir_outcomes.tail.measures import TailSettings, runs_at_depth, top_and_all
from ir_outcomes.types import Bools, Missing, check_kind

# How the names of measures with the optimum 1 and no upper bound begin.
_SEARCH_LENGTHS = ("ASL", "ESL")


@dataclass(frozen=True)
class Reduction:
    """Reduction in error by one measure."""

    measure: str
    baseline: float  #: its mean
    contender: float
    optimum: float  #: the best value: 1 for precisions and for search lengths
    #: Share of the baseline's distance from the optimum that the contender removes, negative where
    #: it adds to it; higher is better. None where the baseline is optimal.
    rrie: float | None


REDUCTION_COLUMNS = (
    Column("measure"),
    Column("baseline", heading="A", form=decimals(3)),
    Column("contender", heading="B", form=decimals(3)),
    Column("optimum"),
    Column("rrie", heading="RRIE, %", form=PERCENT),
)


@dataclass(frozen=True)
class RRIE(Result):
    """Relative reduction in error from a baseline to a contender.

    Attributes
    ----------
    baseline, contender : str
        Names.
    reductions : tuple of Reduction
        The measures.
    settings : TailSettings or None
        None for published means.
    """

    baseline: str
    contender: str
    reductions: tuple[Reduction, ...]
    settings: TailSettings | None

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measure."""
        runs = (
            Column("baseline_run", lambda _: self.baseline),
            Column("contender_run", lambda _: self.contender),
        )
        measure, *numbers = REDUCTION_COLUMNS
        return rows_of((measure, *runs, *numbers), self.reductions)


def _reduction(measure: str, baseline: float, contender: float) -> Reduction:
    """Return the relative reduction in error: Alex et al. 2022, equation 11 for precisions, 12 for search lengths."""
    optimum = 1.0
    error = baseline - optimum
    share = None if error == 0 else (baseline - contender) / error
    return Reduction(measure, float(baseline), float(contender), optimum, share)


def rrie_from_means(
    baseline: Mapping[str, float],
    contender: Mapping[str, float],
    *,
    names: tuple[str, str] = ("baseline", "contender"),
) -> RRIE:
    """Compute relative reductions in error from published means.

    Parameters
    ----------
    baseline, contender : mapping of str to float
        Means by the name of the measure; the same measures in both: precisions, as shares such as
        0.401, and search lengths (1 or more; their names begin with ASL or ESL).
    names : tuple of two str
        What to call the two runs.

    Raises
    ------
    ParameterError
        If the measures differ, or a mean is not finite or outside the range of the measure.

    References
    ----------
    Alex et al. 2022, section 4.3, Table 1, equations 11 and 12.

    Examples
    --------
    >>> result = rrie_from_means({"P@20": 0.456, "ASL@g1-10": 14}, {"P@20": 0.594, "ASL@g1-10": 5}, names=("BM25", "neural"))
    >>> [round(reduction.rrie, 2) for reduction in result.reductions]
    [0.25, 0.69]
    """
    for means in (baseline, contender):
        check_kind("means", means, Mapping, "a mapping from names of measures to means")
    unpaired = sorted(set(baseline) ^ set(contender))
    if unpaired:
        raise ParameterError(f"there is only one mean of {some(unpaired)}")
    if not baseline:
        raise ParameterError("there is no measure")
    for measure, mean in baseline.items():
        _check_means(measure, mean, contender[measure])
    reductions = (
        _reduction(measure, mean, contender[measure]) for measure, mean in baseline.items()
    )
    return RRIE(*names, tuple(reductions), settings=None)


def _check_means(measure: str, baseline: Any, contender: Any) -> None:
    """Refuse means that are no numbers, or that 1 is not the optimum of."""
    shown = f"{measure}: {baseline!r} and {contender!r}"
    for mean in (baseline, contender):
        if not isinstance(mean, (int, float)) or not math.isfinite(mean):
            raise ParameterError(f"{shown}: must be finite numbers")
    if measure.upper().startswith(_SEARCH_LENGTHS):
        if min(baseline, contender) < 1:
            raise ParameterError(f"{shown}: a search length is at least 1")
    elif min(baseline, contender) < 0 or max(baseline, contender) > 1:
        raise ParameterError(
            f"{shown} are not between 0 and 1: write precisions as shares, such as 0.401; other"
            " measures have no reduction in error"
        )


def rrie(
    evaluation: Evaluation,
    baseline: str,
    contender: str,
    *,
    cutoff: int | None = None,
    missing: Missing = "cutoff",
) -> RRIE:
    """Compute the reduction in error at the top and over all relevant documents, by precision and by search length.

    Parameters
    ----------
    evaluation : Evaluation
        The runs; see `ir_outcomes.evaluate`.
    baseline, contender : str
        Names of two runs of the evaluation.
    cutoff : int, optional
        Depth that both runs share; by default the evaluation's, or the one that both reach where
        that is less.
    missing : {"cutoff", "retrieved"}
        Search length of a missing document; see `SearchLengths.asl`.

    Returns
    -------
    RRIE
        P@20 (of shorter runs at their depth) and ASL@g1-10 for the top, AP and ASL for all relevant
        documents. Means are those of ir_measures: of precisions over all queries of the qrels, of
        search lengths over those that have a relevant document.

    Raises
    ------
    MismatchError
        If the runs differ in depth and no cutoff is given.
    ParameterError
        If a run is unknown, a setting is invalid, a missing document would have no search length
        under ``missing="retrieved"``, or the cutoff splits a group of tied documents under
        ``ties="expected"``.

    References
    ----------
    Alex et al. 2022, section 4.3, Table 1, equations 11 and 12.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> runs = {"A": {"q": {"x": 3.0, "a": 2.0, "y": 1.0}}, "B": {"q": {"a": 3.0, "b": 2.0, "x": 1.0}}}
    >>> result = rrie(evaluate({"q": {"a": 1, "b": 1}}, runs), "A", "B")
    >>> result.reductions[-1].measure, result.reductions[-1].rrie
    ("ASL(missing='cutoff')@3", 1.0)
    """
    runs, settings, notes = runs_at_depth(evaluation, cutoff, missing, [baseline, contender])
    reductions = tuple(
        _reduction(scores.measure, *scores.means().tolist())
        for scores in top_and_all(runs, settings)
    )
    return RRIE(runs[0].name, runs[1].name, reductions, settings, notes=notes)


PRECISIONS = tuple(tenth / 10 for tenth in range(10))
LENGTHS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)


@dataclass(frozen=True)
class MeasureHeadroom:
    """Values of a measure in the run that is best by it."""

    measure: str
    run: str  #: the best run
    mean: float  #: its mean
    #: Bucket i holds the values from ``edges[i]`` up to, not including, ``edges[i + 1]``; the last
    #: is open.
    edges: tuple[float, ...]
    #: Queries with a relevant document in each bucket; the others leave nothing to gain.
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Headroom(Result):
    """What is left to gain; the figures are "top precision", "top length", "precision" and "length", Figures 1 to 4.

    Attributes
    ----------
    measures : tuple of MeasureHeadroom
        P@20, ASL@g1-10, AP and ASL.
    n_runs : int
        Number of runs that the best is chosen from.
    settings
        As in `LengthDistributions`.
    """

    measures: tuple[MeasureHeadroom, ...]
    n_runs: int
    settings: TailSettings

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measure and bucket."""
        return [
            {
                "measure": best.measure,
                "run": best.run,
                "mean": best.mean,
                "from": low,
                "to": high,
                "queries": number,
            }
            for best in self.measures
            for low, high, number in zip(
                best.edges, (*best.edges[1:], None), best.counts, strict=True
            )
        ]


def headroom(
    evaluation: Evaluation, *, cutoff: int | None = None, missing: Missing = "cutoff"
) -> Headroom:
    """Count queries by what the best run leaves to gain.

    Parameters
    ----------
    evaluation, cutoff, missing
        See `ir_outcomes.rrie`, for all runs of the evaluation.

    References
    ----------
    Alex et al. 2022, section 4.2, Figures 1 to 4.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> result = headroom(evaluate({"q": {"a": 1}}, {"run": {"q": {"x": 2.0, "a": 1.0}}}))
    >>> [(of_measure.measure, of_measure.mean) for of_measure in result.measures][:2]
    [('P@2', 0.5), ("ASL(first=10,missing='cutoff')@2", 2.0)]
    """
    runs, settings, notes = runs_at_depth(evaluation, cutoff, missing)
    measures = tuple(
        _of_best_run(scores, runs[0].answerable) for scores in top_and_all(runs, settings)
    )
    return Headroom(measures, len(runs), settings, notes=notes)


def _of_best_run(scores: Scores, answerable: Bools) -> MeasureHeadroom:
    means = scores.means()
    best = int(np.nanargmax(means if scores.higher_is_better else -means))
    edges = PRECISIONS if scores.higher_is_better else LENGTHS
    counts, _ = np.histogram(scores.values[best, answerable], [*edges, np.inf])
    return MeasureHeadroom(
        measure=scores.measure,
        run=scores.runs[best],
        mean=float(means[best]),
        edges=edges,
        counts=tuple(counts.tolist()),
    )
