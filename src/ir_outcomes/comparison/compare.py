"""The main job: is this run really better, and in which way."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from ir_outcomes._checks import check_choice
from ir_outcomes._types import Ties, Unit
from ir_outcomes.comparison.build import Pair, build
from ir_outcomes.comparison.facets import naive_tests
from ir_outcomes.comparison.outcomes import split
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.settings import CoverageTest, FamilyCorrection, RankingTest, Settings
from ir_outcomes.comparison.wording import notes_on_input
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluate import _task_of as task_of
from ir_outcomes.evaluation.evaluate import _unit_of as unit_of
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.reading.datasets import DATASET_PREFIX
from ir_outcomes.reading.several import several_runs

__all__ = ["compare"]


def compare(
    qrels: Any,
    baseline: Any,
    contenders: Any,
    *,
    cutoff: int | None = None,
    rel: int | None = None,
    unit: Literal["auto", "query", "document"] = "auto",
    ties: Ties = "trec",
    judged_only: bool = False,
    alpha: float = 0.05,
    test: RankingTest = "t",
    coverage_test: CoverageTest = "exact",
    correction: FamilyCorrection = "holm",
    margins: tuple[float, float] | None = None,
    all_pairs: bool = False,
    names: Sequence[str] | None = None,
    texts: Mapping[str, str] | None = None,
    seed: int = 0,
    resamples: int = 99_999,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Comparison | Comparisons:
    """Compare one or several runs with a baseline, on both facets.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels` and `ir_outcomes.load`.
    baseline : Run, path, ``"irds:<dataset id>"``, dict, frame, iterable or SearchLengths
        Run A. See `ir_outcomes.as_run`. "best" takes that of the contenders with the highest mean reciprocal rank,
        "irds:" the ranking that comes with the task.
    contenders : the same, or a list of such, or a dict from names to such, or a directory or pattern of files
        Run B, or several.
    cutoff : int, optional
        Ranks beyond it do not count; by default the task's, where `qrels` is one, else 100.
    rel : int, optional
        Least grade of a relevant document; by default the task's, where `qrels` is one, else 1.
    unit : {"auto", "query", "document"}
        What is answered or not: a query, by its first relevant document, or each relevant document, averaged within its
        query. "auto" takes the task's, or chooses "query" where the median query has one relevant document.
    ties : {"trec", "msmarco", "input"}
        Order among equal scores; see `ir_outcomes.search_lengths`.
    judged_only : bool
        Remove unjudged documents before ranks are counted.
    alpha : float
        Level of tests, intervals and verdict.
    test : {"t", "wilcoxon", "sign", "signflip"}
        Which test decides on ranking; all are reported.
    coverage_test : {"exact", "midp"}
        Which binomial test decides on coverage. Where shares of documents are compared, the sign-flip test decides.
    correction : {"holm", "bonferroni", "fdr_bh", "tukey", "none"}
        Correction for several contenders, separately per facet. It applies to improvements, not to the harm check. "tukey",
        the randomized Tukey HSD test, is for all pairs and ``unit="query"``.
    margins : (float, float), optional
        Non-inferiority margins for coverage (percentage points) and ranking (ranks), both positive.
    all_pairs : bool
        Compare every run with every later one, instead of all with the baseline.
    names : sequence of str, optional
        Names of the baseline and the contenders, in this order.
    texts : mapping of str to str, optional
        Text of the queries, for `Comparison.per_query`; by default the task's, where they are on this machine.
    seed, resamples : int
        Of the sign-flip test where it cannot be exact.
    n_jobs : int or None
        Files evaluated at a time, through joblib: -1 for one per processor; None leaves it to ``joblib.parallel_config``.
    cache : path, optional
        A folder that keeps what was found in run files, by the content of run and qrels and the settings.
    progress : bool
        Show a progress bar of the runs on stderr.

    Returns
    -------
    Comparison or Comparisons
        One result for a single contender; a `Comparisons` for a list or dict of them.

    Raises
    ------
    ParameterError
        If a setting makes no sense.
    MismatchError
        If no query of a run is in the qrels, or no query is answerable.
    InputError
        If something cannot be read.

    References
    ----------
    Lin et al. 2021, sections 4 and 5, Tables 1 and 2; for ``unit="document"`` joined with Alex et al. 2022, section 3.1.

    Examples
    --------
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(8)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> result = compare(qrels, a, b, names=["A", "B"])
    >>> result.verdict.label, result.ranking.difference, result.ranking.pvalue
    ('better without harm', -1.0, 0.0078125)
    """
    task = task_of(qrels)
    cutoff = cutoff if cutoff is not None else task.cutoff if task else 100
    rel = rel if rel is not None else task.rel if task else 1
    if texts is None and task is not None and (source := task.source("queries")) is not None and source.here:
        texts = task.queries
    check_choice("unit", unit, ("auto", *get_args(Unit)))
    several = several_runs(contenders)
    others = list(several.values()) if isinstance(several, dict) else [contenders] if several is None else several
    runs = others if _is_best(baseline) else [baseline, *others]
    if any(isinstance(run, str) and run == DATASET_PREFIX for run in runs):
        if task is None:
            raise ParameterError("'irds:' is the ranking that comes with a task; the qrels must be a dataset id")
        runs = [task.baseline_run() if isinstance(run, str) and run == DATASET_PREFIX else run for run in runs]
    if len(runs) < 2 or (several is None and (all_pairs or _is_best(baseline))):
        raise ParameterError("baseline='best' and all_pairs=True need several contenders; give a list or a dict of runs")
    if correction == "tukey" and not all_pairs:
        raise ParameterError("correction='tukey' is for all pairs of systems; add all_pairs=True, or use 'holm'")
    check_choice("ties", ties, get_args(Ties))
    settings = Settings(
        cutoff=cutoff,
        rel=rel,
        unit="query" if unit == "auto" else unit,
        ties=ties,
        judged_only=judged_only,
        alpha=alpha,
        test=test,
        coverage_test=coverage_test,
        correction=correction,
        family=len(runs) - 1,  # until the pairs are known
        margins=margins,
        seed=seed,
        resamples=resamples,
    )
    tables = list(
        evaluate(
            task.qrels if task else qrels,
            runs,
            names=_names(names, runs, several),
            cutoff=cutoff,
            rel=rel,
            ties=ties,
            judged_only=judged_only,
            n_jobs=n_jobs,
            cache=cache,
            progress=progress,
        ).at()
    )
    settings = replace(settings, unit=unit_of(unit, task, tables[0]))
    chosen: tuple[str, ...] = ()
    if _is_best(baseline):
        tables, chosen = _best_first(tables)
    couples = list(combinations(tables, 2)) if all_pairs else [(tables[0], each) for each in tables[1:]]
    settings = replace(settings, family=len(couples))
    results = build([_pair(one, other, settings, chosen, texts or {}) for one, other in couples], settings)
    return results[0] if several is None else results


def _pair(
    baseline: SearchLengths, contender: SearchLengths, settings: Settings, chosen: tuple[str, ...], texts: Mapping[str, str]
) -> Pair:
    answerable = baseline.answerable
    return Pair(
        baseline.name,
        contender.name,
        split(baseline, contender, settings.unit),
        int(np.sum(~answerable)),
        naive_tests(baseline.reciprocal_rank()[answerable], contender.reciprocal_rank()[answerable]),
        (*chosen, *notes_on_input(baseline, contender)),
        texts,
    )


def _is_best(baseline: Any) -> bool:
    return isinstance(baseline, str) and baseline == "best"


def _best_first(tables: list[SearchLengths]) -> tuple[list[SearchLengths], tuple[str, ...]]:
    best = max(tables, key=lambda table: float(table.reciprocal_rank().mean()))
    note = (
        f"{best.name} is the baseline because its mean reciprocal rank is the highest of {len(tables)} runs; a run that was "
        "chosen for its score on these queries looks better than it is."
    )
    return [best, *(table for table in tables if table is not best)], (note,)


def _names(names: Sequence[str] | None, runs: list[Any], several: list[Any] | dict[str, Any] | None) -> list[str | None]:
    """Pair every run with the name that the call gives it, or None."""
    if names is not None and len(names) != len(runs):
        raise ParameterError(f"names: {len(names)} names for {len(runs)} runs; name the baseline first, then each contender")
    if names is not None:
        return list(names)
    given = list(several) if isinstance(several, dict) else []
    return [None] * (len(runs) - len(given)) + given
