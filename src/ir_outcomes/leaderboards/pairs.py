"""The two-facet verdict for all pairs of runs, on all queries or on many subsets of them at once.

The numbers that decide are those of `ir_outcomes.compare`; what it shows beside them is left out here, because there are many
pairs: n runs have n (n - 1) / 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ir_outcomes.comparison.outcomes import Outcomes, Split, Unit, split
from ir_outcomes.comparison.verdict import Finding, decide
from ir_outcomes.lengths import SearchLengths
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
    seed: int,
    resamples: int,
    looks: int = 1,
) -> list[PairVerdict]:
    """Judge every run against every later one.

    Parameters
    ----------
    tables : list of SearchLengths
        Made alike.
    unit, alpha, correction, seed, resamples
        See `ir_outcomes.compare`.
    looks : int
        Corrected p-values are multiplied by it: how often the same queries had been looked at.

    Returns
    -------
    list of PairVerdict
        In the order of `itertools.combinations`, p-values corrected over all of them; the verdicts are those of
        ``compare(all_pairs=True)``.
    """
    couples = list(combinations(tables, 2))
    splits = [split(baseline, contender, unit) for baseline, contender in couples]
    changes = [differences(each.found_baseline, each.found_contender) for each in splits]
    coverage = [_coverage_test(change, seed, resamples) for change in changes]
    lengths = [differences(each.length_baseline[each.shared], each.length_contender[each.shared]) for each in splits]
    ranking = [(t_test(d), wilcoxon(d)) for d in lengths]
    coverage_ps = [min(1.0, looks * p) for p in adjust([test.pvalue for test in coverage], correction)]
    ranking_ps = [min(1.0, looks * p) for p in adjust([t.pvalue for t, _ in ranking], correction)]
    return [
        PairVerdict(
            baseline=baseline.name,
            contender=contender.name,
            outcomes=each.outcomes,
            coverage=100 * float(change.mean()),
            coverage_p=found.pvalue,
            coverage_p_corrected=found_p,
            n_both=int(each.shared.sum()),
            baseline_length=_mean(each.length_baseline, each),
            contender_length=_mean(each.length_contender, each),
            ranking_p=t.pvalue,
            ranking_p_corrected=ranked_p,
            wilcoxon_p=w.pvalue,
            label=decide(_finding(found, found_p, alpha, +1), _finding(t, ranked_p, alpha, -1, veto=w))[0],
        )
        for (baseline, contender), each, change, found, (t, w), found_p, ranked_p in zip(
            couples, splits, changes, coverage, ranking, coverage_ps, ranking_ps, strict=True
        )
    ]


def _coverage_test(change: npt.NDArray[np.float64], seed: int, resamples: int) -> Test:
    if np.isin(change, (-1.0, 0.0, 1.0)).all():
        return binomial_test(int(np.sum(change > 0)), int(np.sum(change < 0)))
    return sign_flip(change, seed=seed, resamples=resamples)


def _mean(lengths: npt.NDArray[np.float64], each: Split) -> float | None:
    return float(lengths[each.shared].mean()) if each.shared.any() else None


def _finding(test: Test, corrected: float, alpha: float, better: int, veto: Test | None = None) -> Finding:
    """Say what a facet does; `better` is the sign of an improvement."""
    significant = {each.direction * better for each in (test, veto) if each is not None and each.pvalue <= alpha}
    direction = test.direction * better
    return Finding(
        up=direction > 0 and corrected <= alpha,
        hurt=-1 in significant,
        down=direction < 0 and corrected <= alpha,
        gain=1 in significant,
    )
