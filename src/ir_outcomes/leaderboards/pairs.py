"""The two-facet verdict for all pairs of runs, on all queries or on many subsets of them at once.

The numbers that decide are those of `ir_outcomes.compare`; what it shows beside them is left out here, because there are many
pairs: n runs have n (n - 1) / 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes._types import Unit
from ir_outcomes.comparison.outcomes import Outcomes, split
from ir_outcomes.comparison.verdict import decide, finding
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.statistics import Test, adjust, binomial_test, differences, sign_flip, t_test, wilcoxon

__all__ = ["PairVerdict", "all_pairs"]

_TURNED = {"better": "worse", "worse": "better"}


@dataclass(frozen=True)
class PairVerdict:
    """What two runs did against each other.

    Attributes
    ----------
    baseline, contender : str
        Names; every difference is contender minus baseline.
    outcomes : Outcomes
        The split; with its own queries for each pair.
    coverage : float
        Change of coverage, percentage points, higher is better.
    coverage_p, coverage_p_corrected : float
        Of the exact binomial test, or of the sign-flip test where shares of documents are compared.
    n_both : int
        Queries on which both found something in common.
    baseline_length, contender_length : float or None
        Mean search length there, ranks, lower is better; the baseline's differs from pair to pair.
    ranking_p, ranking_p_corrected, wilcoxon_p : float
        Of the paired t test, which decides, and of the Wilcoxon test, which can veto.
    label : str
        The verdict; see `ir_outcomes.comparison.verdict.LABELS`.
    """

    baseline: str
    contender: str
    outcomes: Outcomes
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

    @property
    def ranking(self) -> float | None:
        """Change of the mean search length on what both found, ranks, lower is better."""
        if self.baseline_length is None or self.contender_length is None:
            return None
        return self.contender_length - self.baseline_length

    def turned(self) -> PairVerdict:
        """Give the same with baseline and contender exchanged."""
        counts, shares = self.outcomes, self.outcomes.fractions
        first, _, rest = self.label.partition(" ")
        label = {
            "better without harm": "worse without gain",
            "worse without gain": "better without harm",
        }.get(self.label, f"{_TURNED[first]} {rest}" if first in _TURNED else self.label)
        return replace(
            self,
            baseline=self.contender,
            contender=self.baseline,
            outcomes=replace(
                counts, lost=counts.won, won=counts.lost, fractions={**shares, "lost": shares["won"], "won": shares["lost"]}
            ),
            coverage=-self.coverage,
            baseline_length=self.contender_length,
            contender_length=self.baseline_length,
            label=label,
        )


def all_pairs(
    tables: list[SearchLengths],
    unit: Unit,
    *,
    alpha: float,
    correction: str,
    looks: int = 1,
) -> list[PairVerdict]:
    """Judge every run against every later one.

    Parameters
    ----------
    tables : list of SearchLengths
        Made alike.
    unit, alpha, correction
        See `ir_outcomes.compare`.
    looks : int
        Corrected p-values are multiplied by it: how often the same queries had been looked at.

    Returns
    -------
    list of PairVerdict
        In the order of `itertools.combinations`, p-values corrected over all of them; the verdicts are those of
        ``compare(all_pairs=True)``.
    """
    judged = [_judged(baseline, contender, unit) for baseline, contender in combinations(tables, 2)]
    coverage_ps = [min(1.0, looks * p) for p in adjust([each.found.pvalue for each in judged], correction).tolist()]
    ranking_ps = [min(1.0, looks * p) for p in adjust([each.t.pvalue for each in judged], correction).tolist()]
    return [_verdict(*row, alpha) for row in zip(judged, coverage_ps, ranking_ps, strict=True)]


class _Judged(NamedTuple):
    """A pair of runs, tested but not yet corrected."""

    names: tuple[str, str]
    outcomes: Outcomes
    coverage: float
    found: Test
    lengths: tuple[float | None, float | None]
    n_both: int
    t: Test
    wilcoxon: Test


def _judged(baseline: SearchLengths, contender: SearchLengths, unit: Unit) -> _Judged:
    """Test a pair, and keep no number of a single query: there are many pairs."""
    each = split(baseline, contender, unit)
    gained = differences(each.found_baseline, each.found_contender)
    x, y = each.length_baseline[each.shared], each.length_contender[each.shared]
    change = differences(x, y)
    return _Judged(
        names=(baseline.name, contender.name),
        outcomes=each.outcomes,
        coverage=100 * float(gained.mean()),
        found=_coverage_test(gained),
        lengths=(float(x.mean()), float(y.mean())) if len(x) else (None, None),
        n_both=len(x),
        t=t_test(change),
        wilcoxon=wilcoxon(change),
    )


def _verdict(each: _Judged, coverage_p: float, ranking_p: float, alpha: float) -> PairVerdict:
    coverage = finding(each.found, coverage_p, alpha, higher_is_better=True)
    ranking = finding(each.t, ranking_p, alpha, higher_is_better=False, vetoes=(each.wilcoxon,))
    return PairVerdict(
        baseline=each.names[0],
        contender=each.names[1],
        outcomes=each.outcomes,
        coverage=each.coverage,
        coverage_p=each.found.pvalue,
        coverage_p_corrected=coverage_p,
        n_both=each.n_both,
        baseline_length=each.lengths[0],
        contender_length=each.lengths[1],
        ranking_p=each.t.pvalue,
        ranking_p_corrected=ranking_p,
        wilcoxon_p=each.wilcoxon.pvalue,
        label=decide(coverage, ranking)[0],
    )


def _coverage_test(change: npt.NDArray[np.float64]) -> Test:
    if np.isin(change, (-1.0, 0.0, 1.0)).all():
        return binomial_test(int(np.sum(change > 0)), int(np.sum(change < 0)))
    return sign_flip(change)
