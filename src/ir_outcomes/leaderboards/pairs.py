"""The two-facet verdict for all pairs of runs.

The numbers that decide are those of `ir_outcomes.compare`. What a comparison shows beside them is left out, because n runs have
n (n - 1) / 2 pairs: a pair keeps a few numbers, and nothing by query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from ir_outcomes._progress import with_progress
from ir_outcomes._types import Unit
from ir_outcomes.comparison.pair_tests import PairTests, coverage_test_for, judge, run_tests, stacked
from ir_outcomes.comparison.verdict import MIRRORED
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.leaderboards.pair_blocks import Summary, blocks_of_ranks, blocks_of_shares

__all__ = ["PairVerdict", "all_pairs"]


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


def all_pairs(
    runs: Sequence[SearchLengths],
    unit: Unit,
    many_relevant: bool,
    *,
    alpha: float,
    correction: str,
    looks: int = 1,
    progress: bool = False,
) -> list[PairVerdict]:
    """Judge each run as a contender against every earlier one.

    Parameters
    ----------
    runs : sequence of SearchLengths
        Computed with the same qrels and settings.
    unit : {"query", "document"}
        What is answered or not.
    many_relevant : bool
        Whether any answerable query of the evaluation has more than one relevant document.
    alpha, correction
        See `ir_outcomes.compare`; the family is all pairs.
    looks : int
        Corrected p-values are multiplied by it: how often the same queries had been used.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    list of PairVerdict
        In the order of `itertools.combinations`; the verdicts are those of ``compare(all_pairs=True)``.
    """
    coverage_test = coverage_test_for(unit, many_relevant, "exact")
    blocks = blocks_of_shares(runs) if unit == "document" and many_relevant else blocks_of_ranks(runs)
    n_pairs = len(runs) * (len(runs) - 1) // 2
    blocks = with_progress(blocks, "pair", n_pairs, shown=progress, size=lambda block: len(block.summaries))
    summaries: list[Summary] = []
    tests: list[PairTests] = []
    # Joined from time to time: arrays of few numbers take more memory than all else together.
    while batch := [(block.summaries, run_tests(block.samples, "t", coverage_test)) for block in islice(blocks, 256)]:
        summaries += chain.from_iterable(of_block for of_block, _ in batch)
        tests.append(stacked([of_block for _, of_block in batch]))
    joined = stacked(tests)
    judged = judge(joined, alpha=alpha, correction=correction, looks=looks)
    columns = (
        joined.coverage.pvalue.tolist(),
        judged.coverage.tolist(),
        joined.ranking.pvalue.tolist(),
        judged.ranking.tolist(),
        joined.wilcoxon.pvalue.tolist(),
        judged.verdicts.labels(),
        judged.verdicts.guard.tolist(),
    )
    return [
        PairVerdict(
            baseline=summary.baseline,
            contender=summary.contender,
            neither=summary.neither,
            lost=summary.lost,
            won=summary.won,
            both=summary.both,
            coverage=summary.coverage,
            coverage_p=coverage_p,
            coverage_p_corrected=coverage_p_corrected,
            n_both=summary.n_both,
            baseline_length=summary.baseline_length,
            contender_length=summary.contender_length,
            ranking_p=ranking_p,
            ranking_p_corrected=ranking_p_corrected,
            wilcoxon_p=wilcoxon_p,
            label=label,
            guard=guard,
        )
        for summary, coverage_p, coverage_p_corrected, ranking_p, ranking_p_corrected, wilcoxon_p, label, guard in zip(
            summaries, *columns, strict=True
        )
    ]
