"""The two-facet verdict for all pairs of runs.

The numbers that decide are those of `ir_outcomes.compare`. What a comparison shows beside them is left out, because n runs have
n (n - 1) / 2 pairs: a pair keeps a few numbers in a row of a table, and nothing by query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import isnan
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from ir_outcomes._progress import with_progress
from ir_outcomes._types import Bools
from ir_outcomes.comparison.pair_tests import PairTests, coverage_test_for, judge, run_tests, stacked
from ir_outcomes.comparison.verdict import DIRECTIONS, LABELS, MIRRORED
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.leaderboards.pair_blocks import blocks_of_ranks, blocks_of_shares

__all__ = ["PairVerdict", "PairVerdicts", "all_pairs"]

# The fields of `PairVerdict`, as they are kept.
_COLUMNS: dict[str, type] = {
    "baseline": np.int32,  # runs by their places among the names
    "contender": np.int32,
    "neither": np.int64,
    "lost": np.int64,
    "won": np.int64,
    "both": np.int64,
    "coverage": np.float64,
    "coverage_p": np.float64,
    "coverage_p_corrected": np.float64,
    "n_both": np.int64,
    "baseline_length": np.float64,  # NaN where there is none
    "contender_length": np.float64,
    "ranking_p": np.float64,
    "ranking_p_corrected": np.float64,
    "wilcoxon_p": np.float64,
    "label": np.int8,  # index into LABELS
    "guard": np.bool_,
}


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The verdict on a contender against a baseline, with the numbers that led to it.

    Attributes
    ----------
    baseline, contender : str
        Names; every difference is contender minus baseline.
    neither, lost, won, both : int
        Queries (or relevant documents) found by neither run, by the baseline only, by the contender only, by both.
    coverage : float
        Change of coverage, percentage points, higher is better.
    coverage_p, coverage_p_corrected : float
        Of the exact binomial test, or of the sign-flip test where shares of documents are compared.
    n_both : int
        Queries on which both found at least one same document: the queries of the ranking facet.
    baseline_length, contender_length : float or None
        Mean search length there, ranks, lower is better; that of the same baseline differs from pair to pair.
    ranking_p, ranking_p_corrected, wilcoxon_p : float
        Of the test of the mean that decides (t; with fewer than 30 differences that are not zero the sign-flip test), and of
        the Wilcoxon test, which can veto.
    label : str
        The verdict, one of `ir_outcomes.comparison.verdict.LABELS`, after the guard.
    guard : bool
        Whether the restricted search length over all queries contradicts the two facets, so that the label is "trade-off".
    """

    baseline: str
    contender: str
    neither: int
    lost: int
    won: int
    both: int
    coverage: float
    coverage_p: float
    coverage_p_corrected: float
    n_both: int
    baseline_length: float | None
    contender_length: float | None
    ranking_p: float
    ranking_p_corrected: float
    wilcoxon_p: float
    label: str
    guard: bool

    @property
    def ranking(self) -> float | None:
        """Change of the mean search length on what both found, ranks, lower is better."""
        if self.baseline_length is None or self.contender_length is None:
            return None
        return self.contender_length - self.baseline_length

    def turned(self) -> PairVerdict:
        """Return the verdict on the baseline against the contender."""
        return replace(
            self,
            baseline=self.contender,
            contender=self.baseline,
            lost=self.won,
            won=self.lost,
            coverage=0.0 - self.coverage,  # 0 stays 0, and does not become -0.0
            baseline_length=self.contender_length,
            contender_length=self.baseline_length,
            label=MIRRORED[self.label],
        )


class PairVerdicts(Sequence[PairVerdict]):
    """The verdicts on all pairs of runs, in the order of `itertools.combinations`; equal to a tuple of the same verdicts.

    They are rows of a table, a quarter of the memory of as many objects; a `PairVerdict` is made where it is asked for.

    Parameters
    ----------
    names : tuple of str
        The runs.
    table : (n_pairs,) structured array
        A column for each field of `PairVerdict`.
    """

    __slots__ = ("_names", "_table")

    def __init__(self, names: tuple[str, ...], table: npt.NDArray[np.void]) -> None:
        table.setflags(write=False)
        self._names = names
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    @overload
    def __getitem__(self, place: int) -> PairVerdict: ...

    @overload
    def __getitem__(self, place: slice) -> PairVerdicts: ...

    def __getitem__(self, place: int | slice) -> PairVerdict | PairVerdicts:
        if isinstance(place, slice):
            return PairVerdicts(self._names, self._table[place])
        values: dict[str, Any] = dict(zip(_COLUMNS, self._table[place].tolist(), strict=True))
        for run in ("baseline", "contender"):
            values[run] = self._names[values[run]]
            length = values[f"{run}_length"]
            values[f"{run}_length"] = None if isnan(length) else length
        return PairVerdict(**values | {"label": LABELS[values["label"]]})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (PairVerdicts, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"PairVerdicts({len(self)} pairs of {len(self._names)} runs)"

    @property
    def names(self) -> tuple[str, ...]:
        """The runs, in their order."""
        return self._names

    def better(self) -> Bools:
        """(n_runs, n_runs) bool array: whether the run of the row is better than the run of the column."""
        baseline, contender = self._table["baseline"], self._table["contender"]
        direction = DIRECTIONS[self._table["label"]]
        better = np.zeros((len(self._names), len(self._names)), dtype=bool)
        better[contender, baseline] = direction > 0
        better[baseline, contender] = direction < 0
        return better


def all_pairs(evaluation: Evaluation, *, alpha: float, correction: str, looks: int = 1, progress: bool = False) -> PairVerdicts:
    """Judge each run as a contender against every earlier one.

    Parameters
    ----------
    evaluation : Evaluation
        The runs; its cutoff and unit are those of the verdicts.
    alpha, correction
        See `ir_outcomes.compare`; the family is all pairs.
    looks : int
        Corrected p-values are multiplied by it: how often the same queries had been used.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    PairVerdicts
        The verdicts are those of ``compare(all_pairs=True)``.
    """
    runs = evaluation.runs
    coverage_test = coverage_test_for(evaluation.unit, evaluation.many_relevant, "exact")
    blocks_of = blocks_of_shares if evaluation.unit == "document" and evaluation.many_relevant else blocks_of_ranks
    table = np.empty(len(runs) * (len(runs) - 1) // 2, dtype=list(_COLUMNS.items()))
    table["baseline"], table["contender"] = np.triu_indices(len(runs), 1)
    blocks = with_progress(
        blocks_of(runs, evaluation.cutoff), "pair", len(table), shown=progress, size=lambda block: len(block.summary.both)
    )
    tests: list[PairTests] = []
    end = 0
    # Joined from time to time: arrays of few numbers take more memory than all else together.
    while batch := [(block.summary, run_tests(block.samples, "t", coverage_test)) for block in islice(blocks, 256)]:
        for summary, _ in batch:
            start, end = end, end + len(summary.both)
            for name, column in summary._asdict().items():
                table[name][start:end] = column
        tests.append(stacked([of_block for _, of_block in batch]))
    joined = stacked(tests)
    judged = judge(joined, alpha=alpha, correction=correction, looks=looks)
    table["coverage_p"], table["coverage_p_corrected"] = joined.coverage.pvalue, judged.coverage
    table["ranking_p"], table["ranking_p_corrected"] = joined.ranking.pvalue, judged.ranking
    table["wilcoxon_p"] = joined.wilcoxon.pvalue
    table["label"], table["guard"] = judged.verdicts.label, judged.verdicts.guard
    return PairVerdicts(evaluation.names, table)
