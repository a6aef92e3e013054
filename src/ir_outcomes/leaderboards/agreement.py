"""Do two halves of the queries say the same? Agreement of significance tests, and of the two-facet verdict."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ir_outcomes._checks import check_choice, check_one_order, check_positive
from ir_outcomes._formatting import plural
from ir_outcomes._types import Ties, Unit
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluate import evaluate, notes_on_listing, task_of, unit_of
from ir_outcomes.evaluation.scores import Scores, default_measure, scores
from ir_outcomes.leaderboards.halves import TestAgreement, agreement_of
from ir_outcomes.leaderboards.verdict_agreement import VerdictAgreement, verdicts_agree
from ir_outcomes.reading.several import runs_and_names
from ir_outcomes.results import Result, versions
from ir_outcomes.statistics.checks import check_draws

__all__ = ["Agreement", "TestAgreement", "VerdictAgreement", "agreement"]


@dataclass(frozen=True)
class Agreement(Result):
    """Agreement over random half splits; the picture is "agreement".

    Attributes
    ----------
    tests : tuple of TestAgreement
        For each measure, test and aggregate.
    verdict : VerdictAgreement or None
        The same for the two-facet verdict; None where the runs were not given, only their values.
    n_queries, n_runs, n_pairs : int
        How many.
    splits, seed : int
        How many half splits, drawn from which seed.
    alpha : float
        Level of the tests; p-values are raw.
    notes : tuple of str
        What a careful reader must know.
    versions : dict of str to str
        Of ir_outcomes, NumPy, SciPy, ir_measures and Python.
    """

    tests: tuple[TestAgreement, ...]
    verdict: VerdictAgreement | None
    n_queries: int
    n_runs: int
    n_pairs: int
    splits: int
    seed: int
    alpha: float
    notes: tuple[str, ...]
    versions: dict[str, str]

    def _summary(self) -> str:
        return f"{plural('run', self.n_runs)}, {plural('split', self.splits)} of {plural('query', self.n_queries)}"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measure, test and aggregate, and one for the verdict."""
        rows: list[dict[str, Any]] = [
            {
                "measure": each.measure,
                "test": each.test,
                "aggregate": each.aggregate,
                "agree": each.agree,
                "partial": each.partial,
                "disagree": each.disagree,
                "significant": each.significant,
            }
            for each in self.tests
        ]
        if self.verdict is not None:
            rows.append(
                {
                    "measure": f"outcomes by {self.verdict.unit}",
                    "test": "two facets",
                    "aggregate": None,
                    "agree": self.verdict.same,
                    "partial": 1.0 - self.verdict.same - self.verdict.contradict,
                    "disagree": self.verdict.contradict,
                    "significant": self.verdict.decided,
                }
            )
        return rows


def agreement(
    qrels: Any,
    runs: Any,
    *,
    measures: Sequence[Any] | None = None,
    cutoff: int | None = None,
    rel: int | None = None,
    unit: Literal["auto", "query", "document"] = "auto",
    ties: Ties = "trec",
    splits: int = 100,
    seed: int = 0,
    alpha: float = 0.05,
    names: Sequence[str] | None = None,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Agreement:
    """Split the queries in random halves, again and again, and count how often tests say the same of both.

    For every pair of runs, two halves *agree* if they agree as to which run is better, and the difference is significant in
    both or in neither; they *partially agree* if they agree as to which is better but only one is significant, or do not agree
    as to which is better and neither is significant; they *disagree* if they do not agree as to which is better, and at least
    one is significant. Equal aggregates count as a third answer to which run is better. Measures are split over all queries of
    the qrels, as means of ir_measures are, the verdict over the answerable ones.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels`.
    runs : list, or dict from names to runs
        See `ir_outcomes.as_run`; at least two.
    measures : sequence of Measure or str, optional
        What is tested; by default the reciprocal rank, at `rel`, and nDCG@10. Where a measure such as ESL is undefined in
        one of two runs, the query does not count for the pair.
    cutoff, rel, unit, ties
        Settings of the two-facet verdict; see `ir_outcomes.compare`.
    splits, seed : int
        How many half splits, and the seed they are drawn from.
    alpha : float
        Level of the tests, uncorrected as in the paper.
    names : sequence of str, optional
        Names of the runs.
    n_jobs : int or None
        Files evaluated at a time; see `ir_outcomes.evaluate`.
    cache : path, optional
        A folder that keeps what was found in run files; see `ir_outcomes.evaluate`.
    progress : bool
        Show progress bars on stderr.

    Returns
    -------
    Agreement

    Raises
    ------
    ParameterError
        If a setting makes no sense, or there are fewer than two runs or four queries.
    InputError
        If something cannot be read.

    References
    ----------
    Craswell et al. 2021, section 4.3, Table 4, after Buckley and Voorhees 2000.

    Examples
    --------
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(20)}
    >>> good = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> poor = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> result = agreement(qrels, {"good": good, "poor": poor}, measures=["RR"], splits=10)
    >>> result.tests[0].agree, result.verdict.same
    (1.0, 1.0)
    """
    check_positive("splits", splits)
    check_choice("unit", unit, ("auto", *get_args(Unit)))
    check_draws(seed, splits)
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha={alpha!r}: must be between 0 and 1")
    check_one_order(ties)
    task = task_of(qrels)
    judgments = task.qrels if task else qrels
    items, given = runs_and_names(runs, names)
    if len(items) < 2:
        raise ParameterError("there is one run only; agreement needs at least two")
    cutoff = cutoff if cutoff is not None else task.cutoff if task else 100
    rel = rel if rel is not None else task.rel if task else 1
    lengths = evaluate(
        judgments, items, names=given, cutoff=cutoff, rel=rel, ties=ties, n_jobs=n_jobs, cache=cache, progress=progress
    )
    chosen = unit_of(unit, task, lengths[0])
    called = [each.name for each in lengths]
    chosen_measures = (default_measure(qrels, rel), "nDCG@10") if measures is None else measures
    tables = scores(judgments, items, chosen_measures, names=called, n_jobs=n_jobs, progress=progress)
    return Agreement(
        tests=tuple(row for table in tables for row in agreement_of(table, splits, seed, alpha, progress)),
        verdict=verdicts_agree(lengths, chosen, splits, seed, alpha, progress),
        n_queries=len(lengths[0].query_ids),
        n_runs=len(items),
        n_pairs=len(items) * (len(items) - 1) // 2,
        splits=splits,
        seed=seed,
        alpha=alpha,
        notes=(*_notes(tables), *notes_on_listing(lengths)),
        versions=versions(),
    )


def _notes(tables: list[Scores]) -> tuple[str, ...]:
    notes = ["p-values are raw, as in Craswell et al. 2021; half of the queries tell less than all of them would."]
    for table in tables:
        undefined = int(np.isnan(table.values).any(axis=0).sum())
        if undefined:
            notes.append(
                f"{table.measure} is undefined for some run on {undefined} of {len(table.query_ids)} queries: a pair of "
                "runs is tested where both are defined."
            )
    return tuple(notes)
