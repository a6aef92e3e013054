"""`comparisons`: verdicts on an experiment that has already been run."""

from __future__ import annotations

import os
from typing import Any, cast

from ir_outcomes.comparison import Comparisons, compare_outputs
from ir_outcomes.errors import FormatError, ParameterError

__all__ = ["comparisons"]


def comparisons(
    perquery: Any,
    *,
    baseline: str,
    measure: Any = None,
    qrels: Any = None,
    **settings: Any,
) -> Comparisons:
    """Compare the systems of an experiment that has already been run with ``perquery=True``.

    Parameters
    ----------
    perquery : frame or tuple
        What `pyterrier.Experiment` returned for ``perquery=True`` or ``"both"``, or the path of the ``perquery.csv`` in its
        ``save_dir``.
    baseline : str
        Name of the system that the others are compared with.
    measure : measure or str, optional
        Which of its measures; by default a reciprocal rank or ESL. See `ir_outcomes.compare_outputs`.
    qrels : frame or anything that `ir_outcomes.as_qrels` takes, optional
        Tells which queries are answerable. Without it, topics without qrels count as unanswered.
    **settings
        See `ir_outcomes.compare_outputs`.

    Returns
    -------
    Comparisons

    Raises
    ------
    ParameterError
        If there is no such system.
    FormatError
        If it is not per-query values.
    """
    if hasattr(perquery, "perquery"):
        perquery = perquery.perquery
    if isinstance(perquery, (str, os.PathLike)):
        import pandas as pd

        perquery = pd.read_csv(perquery, dtype={"qid": str, "name": str})
    if not hasattr(perquery, "columns") or "name" not in perquery.columns:
        raise FormatError("the experiment", "is not a frame of per-query values; run it with perquery=True")
    names = list(dict.fromkeys(map(str, perquery["name"])))
    if baseline not in names:
        raise ParameterError(f"baseline={baseline!r}: no system has this name; they are {', '.join(names)}")
    if len(names) < 2:
        raise ParameterError(f"the experiment has one system only, {baseline}; there is nothing to compare it with")
    ordered = (baseline, *(name for name in names if name != baseline))
    text = None if measure is None else str(measure)
    contenders = [perquery] * (len(names) - 1)
    return cast("Comparisons", compare_outputs(perquery, contenders, names=ordered, measure=text, qrels=qrels, **settings))
