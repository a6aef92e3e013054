"""The same comparison at several cutoffs, and the curve that shows both facets: what is found by rank k."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes._checks import check_positive
from ir_outcomes._formatting import listed, plural
from ir_outcomes._types import CoverageTest, RankingTest
from ir_outcomes.across.conditions import Rules, compare_in, prevailing
from ir_outcomes.comparison.build import USUAL_CUTOFFS
from ir_outcomes.comparison.result import Comparison, row_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.results import Immutable, Result, versions
from ir_outcomes.statistics import band_of_events

__all__ = ["Curve", "CutoffsComparison", "compare_cutoffs", "curve_of"]


@dataclass(frozen=True)
class Curve(Immutable):
    """Share of the queries answered (or documents found) by rank k, in both runs, for k from 1 to the depth.

    Attributes
    ----------
    ranks : tuple of int
        The ranks k.
    baseline, contender : tuple of float
        Shares found by rank k, averaged over the answerable queries, higher is better.
    low, high : tuple of float
        Band of the difference (contender minus baseline) that holds for all k at once at `level`.
    level : float
        Of the band.
    n : int
        Answerable queries.
    seed, resamples : int
        Of the random signs.
    """

    ranks: tuple[int, ...]
    baseline: tuple[float, ...]
    contender: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    level: float
    n: int
    seed: int
    resamples: int


@dataclass(frozen=True, repr=False)
class CutoffsComparison(Result):
    """Two runs at several cutoffs; the picture is "curve".

    Attributes
    ----------
    baseline, contender : str
        Names of the runs.
    comparisons : tuple of Comparison
        What `ir_outcomes.compare` gives at each cutoff, ascending; not corrected for the number of cutoffs.
    curve : Curve or None
        None for fewer than two queries.
    notes, versions
        See `ir_outcomes.Comparison`.
    """

    baseline: str
    contender: str
    comparisons: tuple[Comparison, ...]
    curve: Curve | None
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    @property
    def labels(self) -> dict[int, str]:
        """The label at each cutoff."""
        return {comparison.cutoff or 0: comparison.verdict.label for comparison in self.comparisons}

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each cutoff."""
        return [row_of(comparison) for comparison in self.comparisons]

    def _summary(self) -> str:
        return f"{self.contender!r} against {self.baseline!r} at {plural('cutoff', len(self.comparisons))}"


def compare_cutoffs(
    evaluation: Evaluation,
    baseline: str,
    contender: str,
    *,
    cutoffs: Sequence[int] = USUAL_CUTOFFS,
    alpha: float = 0.05,
    test: RankingTest = "t",
    coverage_test: CoverageTest = "exact",
    seed: int = 0,
    resamples: int = 9_999,
) -> CutoffsComparison:
    """Compare two runs at several cutoffs; no run is read.

    Parameters
    ----------
    evaluation : Evaluation
        Of the runs.
    baseline, contender : str
        Names of the runs.
    cutoffs : sequence of int
        Which; those beyond the longest list of the shallower run are left out, with a note.
    alpha, test, coverage_test
        See `ir_outcomes.compare`.
    seed, resamples : int
        Of the random signs of the band.

    Returns
    -------
    CutoffsComparison

    Raises
    ------
    ParameterError
        If a cutoff is not a positive whole number, or none is within the lists.

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(40)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> found = compare_cutoffs(iro.evaluate(qrels, {"a": a, "b": b}), "a", "b", cutoffs=[1, 2])
    >>> found.labels
    {1: 'better without harm', 2: 'better without harm'}
    """
    for cutoff in cutoffs:
        check_positive("cutoff", cutoff)
    pair = [evaluation[name] for name in (baseline, contender)]
    depths = [run.depth for run in pair]
    wanted = sorted(set(cutoffs))
    within = [cutoff for cutoff in wanted if cutoff <= min(depths)]
    if not within:
        raise ParameterError(
            f"no cutoff of {listed(list(map(str, wanted)))} is within the lists, which hold {min(depths)} documents"
        )
    beyond = [str(cutoff) for cutoff in wanted if cutoff > min(depths)]
    at_cutoffs = {str(cutoff): evaluation.with_cutoff(cutoff) for cutoff in within}
    compared = compare_in(at_cutoffs, baseline, [contender], Rules(alpha, test, coverage_test))
    comparisons = [comparison for _, comparison in compared]
    return CutoffsComparison(
        baseline=baseline,
        contender=contender,
        comparisons=tuple(comparisons),
        curve=curve_of(pair[0], pair[1], evaluation, min(depths), 1 - alpha, seed=seed, resamples=resamples),
        notes=tuple(_notes(comparisons, beyond, min(depths))),
        versions=versions(),
    )


def curve_of(
    baseline: SearchLengths,
    contender: SearchLengths,
    evaluation: Evaluation,
    depth: int,
    level: float,
    *,
    seed: int = 0,
    resamples: int = 9_999,
) -> Curve | None:
    """Compute the curve of two runs to a depth, with its band at a level; None for fewer than two queries."""
    answerable = baseline.answerable
    n = int(answerable.sum())
    if n < 2 or depth < 1:
        return None
    place = np.cumsum(answerable) - 1
    events = [_steps(run, evaluation.unit == "query") for run in (baseline, contender)]
    shares = []
    for _, rank, step in events:
        within = rank <= depth
        shares.append(np.cumsum(np.bincount(rank[within], weights=step[within], minlength=depth + 1)[1:]) / n)
    relevant = baseline.relevant[answerable]
    band = band_of_events(
        np.concatenate([place[query] for query, _, _ in events]),
        np.concatenate([rank for _, rank, _ in events]),
        np.concatenate([-events[0][2], events[1][2]]),
        n,
        depth,
        level,
        smallest_step=1.0 if evaluation.unit == "query" else float(np.mean(1 / relevant)),
        seed=seed,
        resamples=resamples,
    )
    if band is None:
        return None
    return Curve(
        ranks=tuple(range(1, depth + 1)),
        baseline=tuple(shares[0].tolist()),
        contender=tuple(shares[1].tolist()),
        low=tuple(band.low.tolist()),
        high=tuple(band.high.tolist()),
        level=level,
        n=n,
        seed=seed,
        resamples=resamples,
    )


def _steps(run: SearchLengths, by_query: bool) -> tuple[Any, Any, Any]:
    """Return where the share found rises: query, rank and by how much."""
    if by_query:
        ranks = run.esl()
        queries = np.flatnonzero(~np.isnan(ranks))
        return queries, ranks[queries].astype(np.int64), np.ones(len(queries))
    found = run.rank > 0
    query = run.query[found]
    return query, run.rank[found], 1 / run.relevant[query]


def _notes(comparisons: Sequence[Comparison], beyond: Sequence[str], depth: int) -> Iterator[str]:
    most, times, opposite = prevailing([comparison.verdict.label for comparison in comparisons])
    if times < len(comparisons):
        yield (
            f'The label depends on the cutoff: "{most}" at {times} of {plural("cutoff", len(comparisons))}, '
            f"{'with' if opposite else 'never with'} opposite directions. Labels are not corrected for the number of cutoffs: "
            "decide on one before looking."
        )
    if beyond:
        yield f"{listed(beyond)}: beyond the longest list of the shallower run ({plural('document', depth)}); left out."
