"""`evaluate_suite`: the runs of several collections."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ir_outcomes._progress import with_progress
from ir_outcomes._types import OnError, Ties, UnitChoice
from ir_outcomes.errors import InputError
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.reading.suites import Suite, read_suite

__all__ = ["evaluate_suite"]


def evaluate_suite(
    suite: str | os.PathLike[str] | Suite,
    *,
    cutoff: int | None = None,
    rel: int | None = None,
    unit: UnitChoice = "auto",
    ties: Ties = "trec",
    judged_only: bool = False,
    measures: Sequence[Any] | str = (),
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
    on_error: OnError = "report",
) -> dict[str, Evaluation]:
    """Evaluate the runs of several collections, for `ir_outcomes.compare_collections`.

    Parameters
    ----------
    suite : path or Suite
        A folder or file that lists the collections; see `ir_outcomes.reading.suites.read_suite` for the layouts.
    cutoff, rel : int, optional
        For all collections; by default each collection's own in the file, else the dataset's, else 100 and 1.
    unit, ties, judged_only, measures, n_jobs, cache
        See `ir_outcomes.evaluate`.
    progress : bool
        Show a progress bar over the collections on stderr.
    on_error : {"report", "raise"}
        What to do about a run that cannot be evaluated, such as an empty one: warn and leave it out, or raise its error.
        `ir_outcomes.compare_collections` leaves a collection that lacks a run out of that run's means.

    Returns
    -------
    dict of str to Evaluation
        By the name of the collection.

    Raises
    ------
    InputError
        If the suite cannot be read, or no run of a collection can be evaluated; the message names the collection.

    Warns
    -----
    IrOutcomesWarning
        Under "report", of each run that is left out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for collection in ("first", "second"):
    ...     (folder / collection).mkdir()
    ...     _ = (folder / collection / "qrels.txt").write_text("q1 0 d1 1")
    ...     _ = (folder / collection / "bm25.run").write_text("q1 Q0 d1 1 0.5 bm25")
    >>> {name: evaluation.names for name, evaluation in evaluate_suite(folder).items()}
    {'first': ('bm25',), 'second': ('bm25',)}
    """
    found = suite if isinstance(suite, Suite) else read_suite(suite)
    evaluations = {}
    for collection in with_progress(found.collections, "collection", len(found.collections), shown=progress):
        try:
            evaluations[collection.name] = evaluate(
                collection.qrels,
                dict(collection.runs),
                cutoff=collection.cutoff if cutoff is None else cutoff,
                rel=collection.rel if rel is None else rel,
                unit=unit,
                ties=ties,
                judged_only=judged_only,
                measures=measures,
                n_jobs=n_jobs,
                cache=cache,
                on_error=on_error,
            )
        except InputError as error:
            error.args = (f"collection {collection.name}: {error}",)
            raise
    return evaluations
