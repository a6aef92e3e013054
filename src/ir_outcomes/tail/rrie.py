"""The distance from the best value: relative reduction in error, and headroom."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ir_outcomes.choices import Missing, Positive
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.tail.measures import runs_at_depth, top_and_all
from ir_outcomes.tail.result import ErrorReduction, Headroom, TailSettings

OPTIMUM = 1.0  # of precisions, and of search lengths
_LENGTH_NAMES = ("ASL", "ESL")  # how they begin
# The first values of buckets.
PRECISIONS = tuple(tenth / 10 for tenth in range(10))
LENGTHS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)


def rrie(
    evaluation: Evaluation | None,
    baseline: str | Mapping[str, float],
    contender: str | Mapping[str, float],
    *,
    cutoff: Positive | None = None,
    missing: Missing = "cutoff",
) -> ErrorReduction:
    """Compute the relative reduction in error, by precision and by search length.

    Parameters
    ----------
    evaluation : Evaluation or None
        The runs; see `ir_outcomes.evaluate`. None for published means.
    baseline, contender : str, or mapping of str to float
        Names of two runs of the evaluation; or published means by the name of the measure, the same
        measures in both: precisions, as shares such as 0.401, and search lengths (1 or more; their
        names begin with ASL or ESL).
    cutoff : int, optional
        Depth that both runs share; by default the evaluation's, or the one that both reach where
        that is less.
    missing : {"cutoff", "retrieved"}
        Search length of a missing document; see `SearchLengths.asl`.

    Returns
    -------
    ErrorReduction
        A row for each measure: P@20 (of shorter runs at their depth) and ASL@g1-10 for the top, AP
        and ASL for all relevant documents, or the published ones. The means are those of
        ir_measures: of precisions over all queries of the qrels, of search lengths over those that
        have a relevant document. ``rrie`` is the share of the baseline's distance from the optimum
        that the contender removes, negative where it adds to it; None where there is no distance.

    Raises
    ------
    MismatchError
        If the runs differ in depth and no cutoff is given.
    ParameterError
        If a run is unknown, a setting or a published mean is invalid, a missing document would have no
        search length under ``missing="retrieved"``, or for ``ties="expected"``.

    References
    ----------
    Alex et al. 2022, section 4.3, Table 1, equations 11 and 12.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> runs = {"A": {"q": {"x": 3.0, "a": 2.0, "y": 1.0}}, "B": {"q": {"a": 3.0, "b": 2.0, "x": 1.0}}}
    >>> result = rrie(evaluate({"q": {"a": 1, "b": 1}}, runs), "A", "B")
    >>> result.table[-1]["measure"], result.table[-1]["rrie"]
    ("ASL(missing='cutoff')@3", 1.0)
    >>> published = rrie(None, {"P@20": 0.456, "ASL@g1-10": 14}, {"P@20": 0.594, "ASL@g1-10": 5})
    >>> [round(row["rrie"], 2) for row in published.table]
    [0.25, 0.69]
    """
    names = ("baseline", "contender")
    settings: TailSettings | None = None
    notes: tuple[Any, ...] = ()
    if evaluation is None:
        means = _published(baseline, contender)
    else:
        chosen = [str(baseline), str(contender)]
        runs, settings, notes = runs_at_depth(evaluation, cutoff, missing, chosen)
        names = (runs[0].name, runs[1].name)
        means = [(scores.measure, *scores.means()) for scores in top_and_all(runs, settings)]
    rows = [
        {
            "measure": measure,
            "baseline_run": names[0],
            "contender_run": names[1],
            "baseline": float(a),
            "contender": float(b),
            "optimum": OPTIMUM,
            "rrie": None if a == OPTIMUM else (a - b) / (a - OPTIMUM),
        }
        for measure, a, b in means
    ]
    return ErrorReduction(names, tuple(rows), settings, notes=notes)


def _published(baseline: Any, contender: Any) -> list[tuple[Any, ...]]:
    """Pair published means of measures whose optimum is 1 by their names."""
    if not isinstance(baseline, Mapping) or not isinstance(contender, Mapping) or not baseline:
        raise ParameterError(
            "without an evaluation `baseline` and `contender` are published means: mappings from"
            " names of measures to numbers"
        )
    if unpaired := sorted(baseline.keys() ^ contender.keys()):
        raise ParameterError(f"there is only one mean of {', '.join(unpaired)}; give both")
    means = [(measure, mean, contender[measure]) for measure, mean in baseline.items()]
    for measure, *pair in means:
        ends = (1, sys.float_info.max) if measure.upper().startswith(_LENGTH_NAMES) else (0, 1)
        for mean in pair:
            if not isinstance(mean, (int, float)) or not ends[0] <= mean <= ends[1]:
                raise ParameterError(
                    f"{measure}: {mean!r}: write precisions as shares, such as 0.401, and search"
                    " lengths (ASL, ESL) as numbers from 1; other measures have no reduction in"
                    " error"
                )
    return means


def headroom(
    evaluation: Evaluation, *, cutoff: int | None = None, missing: Missing = "cutoff"
) -> Headroom:
    """Count queries by what the best run leaves to gain.

    Parameters
    ----------
    evaluation, cutoff, missing
        See `ir_outcomes.rrie`, for all runs of the evaluation.

    Returns
    -------
    Headroom
        A row for each measure (P@20, ASL@g1-10, AP and ASL) and bucket: the run that is best by it,
        its mean, and the queries with a relevant document whose value is in the bucket, which has
        its left end and not its right one; the last is open.

    References
    ----------
    Alex et al. 2022, section 4.2, Figures 1 to 4.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> result = headroom(evaluate({"q": {"a": 1}}, {"run": {"q": {"x": 2.0, "a": 1.0}}}))
    >>> {row["measure"]: row["mean"] for row in result.table[:20]}
    {'P@2': 0.5, "ASL(first=10,missing='cutoff')@2": 2.0}
    """
    runs, settings, notes = runs_at_depth(evaluation, cutoff, missing)
    rows = []
    for scores in top_and_all(runs, settings):
        means = scores.means()
        best = int(np.nanargmax(means if scores.higher_is_better else -means))
        edges = PRECISIONS if scores.higher_is_better else LENGTHS
        counts, _ = np.histogram(scores.values[best, runs[0].answerable], [*edges, np.inf])
        head = {"measure": scores.measure, "run": scores.runs[best], "mean": means[best]}
        for low, high, number in zip(edges, (*edges[1:], None), counts, strict=True):
            rows.append({**head, "from": low, "to": high, "queries": number})
    names = tuple(run.name for run in runs)
    return Headroom(names, tuple(rows), settings, notes=notes)
