"""The main job: is this run really better, and in which way."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any, Literal, get_args

import numpy as np

from ir_outcomes.comparison.facets import Facet, coverage_facet, naive_tests, ranking_facet, reciprocal_facet
from ir_outcomes.comparison.outcomes import OUTCOMES, Split, Unit, split
from ir_outcomes.comparison.result import Comparison, Comparisons, QueryOutcome
from ir_outcomes.comparison.settings import CoverageTest, RankingTest, Settings, check_choice
from ir_outcomes.comparison.verdict import Verdict, decide
from ir_outcomes.comparison.wording import notes, sentence
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.lengths import SearchLengths, search_lengths
from ir_outcomes.ranking import Ties
from ir_outcomes.reading.qrels import as_qrels
from ir_outcomes.reading.runs import as_run
from ir_outcomes.statistics import Correction, adjust

__all__ = ["compare"]


def compare(
    qrels: Any,
    baseline: Any,
    contenders: Any,
    *,
    cutoff: int = 100,
    rel: int = 1,
    unit: Literal["auto", "query", "document"] = "auto",
    ties: Ties = "trec",
    judged_only: bool = False,
    alpha: float = 0.05,
    test: RankingTest = "t",
    coverage_test: CoverageTest = "exact",
    correction: Correction = "holm",
    margins: tuple[float, float] | None = None,
    names: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = 99_999,
) -> Comparison | Comparisons:
    """Compare one or several runs with a baseline, on both facets.

    Parameters
    ----------
    qrels : Qrels, path, dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels`.
    baseline : Run, path, ``"irds:<dataset id>"``, dict, frame, iterable or SearchLengths
        Run A. See `ir_outcomes.as_run`.
    contenders : the same, or a list of such, or a dict from names to such
        Run B, or several.
    cutoff : int
        Ranks beyond it do not count.
    rel : int
        Least grade of a relevant document.
    unit : {"auto", "query", "document"}
        What is answered or not: a query, by its first relevant document, or each relevant document, averaged within its
        query. "auto" chooses "query" where the median query has one relevant document.
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
    correction : {"holm", "bonferroni", "fdr_bh", "none"}
        Correction for several contenders, separately per facet. It applies to improvements, not to the harm check.
    margins : (float, float), optional
        Non-inferiority margins for coverage (percentage points) and ranking (ranks), both positive.
    names : sequence of str, optional
        Names of the baseline and the contenders, in this order.
    seed, resamples : int
        Of the sign-flip test where it cannot be exact.

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
    check_choice("unit", unit, ("auto", *get_args(Unit)))
    several = _as_contenders(contenders)
    runs = [baseline, *(several.values() if isinstance(several, dict) else [contenders] if several is None else several)]
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
        family=len(runs) - 1,
        margins=margins,
        seed=seed,
        resamples=resamples,
    )
    tables = _evaluated(qrels, runs, _names(names, runs, several), settings)
    if unit == "auto":
        settings = replace(settings, unit=_unit(tables[0]))
    results = _compare_tables(tables[0], tables[1:], settings)
    return results[0] if several is None else results


def _evaluated(qrels: Any, runs: list[Any], names: list[str | None], settings: Settings) -> list[SearchLengths]:
    judgments = as_qrels(qrels)
    tables = []
    for run, name in zip(runs, names, strict=True):
        if not isinstance(run, SearchLengths):
            run = search_lengths(
                judgments,
                as_run(run, name),
                cutoff=settings.cutoff,
                rel=settings.rel,
                ties=settings.ties,
                judged_only=settings.judged_only,
            )
        _check_overlap(run)
        tables.append(run if name is None else replace(run, name=name))
    return _distinctly_named(tables, runs)


def _compare_tables(baseline: SearchLengths, contenders: list[SearchLengths], settings: Settings) -> Comparisons:
    splits = [split(baseline, contender, settings.unit) for contender in contenders]
    coverage, ranking, reciprocal = (
        _corrected([facet(each, settings) for each in splits], settings.correction)
        for facet in (coverage_facet, ranking_facet, reciprocal_facet)
    )
    rows = zip(contenders, splits, coverage, ranking, reciprocal, strict=True)
    return Comparisons(tuple(_comparison(baseline, *row, settings) for row in rows))


def _comparison(
    baseline: SearchLengths,
    contender: SearchLengths,
    outcome: Split,
    coverage: Facet,
    ranking: Facet,
    reciprocal: Facet,
    settings: Settings,
) -> Comparison:
    answerable = baseline.answerable
    label, strict, do_no_harm = decide(coverage.finding(), ranking.finding())
    words = sentence(label, baseline.name, contender.name, settings.unit, outcome.outcomes, coverage, ranking)
    return Comparison(
        baseline=baseline.name,
        contender=contender.name,
        n_queries=len(outcome.query_ids),
        n_unanswerable=int(np.sum(~answerable)),
        settings=settings,
        outcomes=outcome.outcomes,
        coverage=coverage,
        ranking=ranking,
        reciprocal_rank=reciprocal,
        naive=naive_tests(baseline.reciprocal_rank()[answerable], contender.reciprocal_rank()[answerable]),
        verdict=Verdict(label, strict, do_no_harm, _non_inferior(coverage, ranking, settings.margins), words),
        notes=tuple(notes(baseline, contender, coverage, ranking, label, settings.unit)),
        versions=_versions(),
        queries=_queries(outcome),
    )


def _corrected(facets: list[Facet], correction: Correction) -> list[Facet]:
    pvalues = adjust([facet.pvalue for facet in facets], correction)
    return [facet.corrected(pvalue) for facet, pvalue in zip(facets, pvalues, strict=True)]


def _non_inferior(coverage: Facet, ranking: Facet, margins: tuple[float, float] | None) -> bool | None:
    if margins is None:
        return None

    def inside(facet: Facet, margin: float) -> bool:
        return facet.worst_case is not None and abs(min(0.0, facet.worst_case * (1 if facet.higher_is_better else -1))) < margin

    return (coverage.finding().up and inside(ranking, margins[1])) or (ranking.finding().up and inside(coverage, margins[0]))


def _queries(outcome: Split) -> tuple[QueryOutcome, ...]:
    change = outcome.found_contender - outcome.found_baseline
    code = np.where(change < 0, 1, np.where(change > 0, 2, np.where(outcome.found_baseline > 0, 3, 0)))
    difference = np.where(outcome.shared, outcome.length_contender - outcome.length_baseline, np.nan)
    return tuple(
        QueryOutcome(query, OUTCOMES[each], *found, *(None if value != value else value for value in lengths))
        for query, each, found, lengths in zip(
            outcome.query_ids,
            code.tolist(),
            np.stack([outcome.found_baseline, outcome.found_contender], axis=1).tolist(),
            np.stack([outcome.length_baseline, outcome.length_contender, difference], axis=1).tolist(),
            strict=True,
        )
    )


def _as_contenders(contenders: Any) -> list[Any] | dict[str, Any] | None:
    """Tell several contenders from a single one; None for a single one."""
    if isinstance(contenders, Mapping):
        first = next(iter(contenders.values()), None)
        is_run = isinstance(first, Mapping) and not isinstance(next(iter(first.values()), None), Mapping)
        several: list[Any] | dict[str, Any] | None = None if is_run else dict(contenders)
    elif isinstance(contenders, (list, tuple)):
        one = bool(contenders) and (hasattr(contenders[0], "_fields") or hasattr(contenders, "_fields"))
        several = None if one else list(contenders)
    else:
        return None
    if several is not None and not several:
        raise ParameterError("there is no contender; give at least one run")
    return several


def _names(names: Sequence[str] | None, runs: list[Any], several: list[Any] | dict[str, Any] | None) -> list[str | None]:
    if names is not None and len(names) != len(runs):
        raise ParameterError(f"names: {len(names)} names for {len(runs)} runs; name the baseline first, then each contender")
    if names is not None:
        return list(names)
    return [None, *several] if isinstance(several, dict) else [None] * len(runs)


def _distinctly_named(tables: list[SearchLengths], runs: list[Any]) -> list[SearchLengths]:
    """Give runs that would go by the same name their paths or numbers, so that no table is ambiguous."""
    taken = [table.name for table in tables]
    result = []
    for number, (table, run) in enumerate(zip(tables, runs, strict=True)):
        if taken.count(table.name) > 1:
            path = os.fspath(run) if isinstance(run, (str, os.PathLike)) else None
            table = replace(table, name=path or f"{table.name} {number}")
        result.append(table)
    return result


def _check_overlap(table: SearchLengths) -> None:
    if not table.answerable.any():
        raise MismatchError(f"no query of the qrels has a relevant document at rel={table.rel}; lower rel or mend the qrels")
    if not table.listed.any():
        raise MismatchError(
            f"none of the queries of {table.name} is in the qrels; the run has {some(table.ignored, 3) or 'no query'}, "
            f"the qrels have {some(table.query_ids, 3)}: are these for the same topics?"
        )


def _unit(table: SearchLengths) -> Unit:
    return "query" if np.median(table.relevant[table.answerable]) == 1 else "document"


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("ir-outcomes", "numpy", "scipy", "ir-measures")}
    return {**packages, "python": platform.python_version()}
