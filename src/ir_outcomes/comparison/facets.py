"""A facet of a comparison: two means, their difference, how sure, how large, and what could have been missed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ir_outcomes.comparison.outcomes import Split
from ir_outcomes.comparison.settings import Settings
from ir_outcomes.comparison.verdict import Finding, finding
from ir_outcomes.statistics import (
    Interval,
    Test,
    binomial_test,
    detectable_mean,
    detectable_proportion,
    differences,
    hodges_lehmann,
    interval_of_mean,
    midp_test,
    odds_ratio,
    odds_ratio_interval,
    paired_proportion_interval,
    paired_tests,
    rank_sum,
    ratio_of_means,
    ratio_of_means_interval,
    sign_flip,
    t_test,
    wilcoxon,
)

_Floats = npt.NDArray[np.float64]
POWER = 0.8


@dataclass(frozen=True)
class Facet:
    """One way in which a contender can be better.

    Attributes
    ----------
    name : str
        "coverage", "ranking", "reciprocal rank" or "reciprocal search length".
    measured_in : str
        Unit of `baseline`, `contender` and `difference`.
    higher_is_better : bool
        Direction.
    n : int
        Queries that the facet is measured on.
    baseline, contender : float or None
        Means over those queries; None where there are none.
    difference : float or None
        Contender minus baseline.
    deviation : float or None
        Standard deviation of the per-query differences; None for fewer than two queries.
    won, lost : int or None
        Queries on which the contender is ahead and behind, where every difference is -1, 0 or 1 query answered; else None.
    interval : Interval or None
        Two-sided confidence interval of the difference at level 1 - alpha.
    interval_method : str
        How it was computed.
    effect_size : float or None
        Named by `effect`; None where it is not finite.
    effect : str
        "odds ratio won : lost" or "mean / standard deviation of the differences".
    ratio : float or None
        Ranking only: mean search length of the contender as a multiple of the baseline's ("reads 0.78 times as far"), which a
        ratio scale allows; lower is better.
    ratio_interval : Interval or None
        Its paired bootstrap interval at level 1 - alpha.
    shift : float or None
        Ranking only: Hodges-Lehmann estimate of the difference of a typical query, which belongs to the Wilcoxon test.
    test : str
        Name of the deciding test, a key of `tests`.
    tests : mapping of str to Test
        All tests of this facet by name; those that do not decide are run when they are first asked for.
    pvalue_corrected : float
        The deciding test's p-value, corrected for the contenders of one call.
    detectable : float or None
        Smallest true difference that the deciding kind of test would find with power 0.8 at level alpha; None where none.
    alpha : float
        Level of `interval` and `detectable`.
    """

    name: str
    measured_in: str
    higher_is_better: bool
    n: int
    baseline: float | None
    contender: float | None
    difference: float | None
    deviation: float | None
    won: int | None
    lost: int | None
    interval: Interval | None
    interval_method: str
    effect_size: float | None
    effect: str
    ratio: float | None
    ratio_interval: Interval | None
    shift: float | None
    test: str
    tests: Mapping[str, Test]
    pvalue_corrected: float
    detectable: float | None
    alpha: float

    @property
    def decides(self) -> Test:
        """The deciding test."""
        return self.tests[self.test]

    @property
    def statistic(self) -> float | None:
        """Statistic of the deciding test."""
        return self.decides.statistic

    @property
    def pvalue(self) -> float:
        """Uncorrected p-value of the deciding test."""
        return self.decides.pvalue

    @property
    def pvalues(self) -> dict[str, float]:
        """Uncorrected p-values by the name of the test."""
        return {name: test.pvalue for name, test in self.tests.items()}

    @property
    def improves(self) -> bool:
        """Whether the contender's mean is better."""
        return self.difference is not None and (self.difference > 0 if self.higher_is_better else self.difference < 0)

    @property
    def worst_case(self) -> float | None:
        """The end of `interval` on the harmful side: how bad the difference may be; None without an interval."""
        if self.interval is None:
            return None
        return self.interval.low if self.higher_is_better else self.interval.high

    def confidence_interval(self, level: float = 0.95) -> Interval | None:
        """Compute the two-sided confidence interval of the difference.

        Parameters
        ----------
        level : float
            Between 0 and 1.

        Returns
        -------
        Interval or None
            In the unit of `difference`; None for fewer than two queries or differences that are all equal.

        References
        ----------
        For queries answered, Bonett and Price 2012 (adjusted Wald); else the t interval of the mean.
        """
        if self.won is not None and self.lost is not None:
            shares = paired_proportion_interval(self.won, self.lost, self.n, level)
            return None if shares is None else Interval(100 * shares.low, 100 * shares.high)
        if self.difference is None or self.deviation is None:
            return None
        return interval_of_mean(self.difference, self.deviation, self.n, level)

    def effect_interval(self, level: float = 0.95) -> Interval | None:
        """Compute the exact interval of the odds ratio won : lost; None for every other effect.

        Its high end is infinite where nothing was lost.
        """
        if self.won is None or self.lost is None:
            return None
        return odds_ratio_interval(self.won, self.lost, level)

    def finding(self) -> Finding:
        """Say whether the facet improves or worsens, for the decision table."""
        vetoes = (self.tests["t"], self.tests["wilcoxon"]) if self.name == "ranking" else ()
        return finding(self.decides, self.pvalue_corrected, self.alpha, higher_is_better=self.higher_is_better, vetoes=vetoes)

    def corrected(self, pvalue: float) -> Facet:
        """Return the facet with this corrected p-value."""
        return replace(self, pvalue_corrected=pvalue)


def coverage_facet(split: Split, settings: Settings) -> Facet:
    """Compare how many queries are answered (or relevant documents found), in percentage points."""
    change = differences(split.found_baseline, split.found_contender)
    whole = bool(np.isin(change, (-1.0, 0.0, 1.0)).all())
    won, lost = int(np.sum(change > 0)), int(np.sum(change < 0))
    tests = {"exact": binomial_test(won, lost), "midp": midp_test(won, lost)} if whole else {"signflip": sign_flip(change)}
    return _facet(
        "coverage",
        "percentage points",
        True,
        (100 * split.found_baseline, 100 * split.found_contender, 100 * change),
        tests,
        settings.coverage_test if whole else "signflip",
        settings.alpha,
        discordant=(won, lost) if whole else None,
    )


def ranking_facet(split: Split, settings: Settings) -> Facet:
    """Compare mean search lengths (or the values of another measure) on what both runs found."""
    pair = split.length_baseline[split.shared], split.length_contender[split.shared]
    facet = _paired_facet("ranking", split.measure or "ranks", split.higher_is_better, pair, settings)
    if split.measure is not None:  # no ratio scale is known of it
        return replace(facet, shift=hodges_lehmann(differences(*pair)))
    return replace(
        facet,
        ratio=ratio_of_means(*pair),
        ratio_interval=ratio_of_means_interval(*pair, 1 - settings.alpha, seed=settings.seed),
        shift=hodges_lehmann(differences(*pair)),
    )


def reciprocal_facet(split: Split, settings: Settings) -> Facet | None:
    """Compare mean reciprocals of the search lengths on what both runs found, as Table 2 of Lin et al. 2021 does.

    None where another measure stands in the place of search lengths.
    """
    if split.measure is not None:
        return None
    name = "reciprocal rank" if settings.unit == "query" else "reciprocal search length"
    pair = split.reciprocal_baseline[split.shared], split.reciprocal_contender[split.shared]
    return _paired_facet(name, "reciprocal", True, pair, settings)


@dataclass(frozen=True)
class Naive:
    """What the framework replaces: standard tests on reciprocal rank over all answerable queries.

    Attributes
    ----------
    baseline, contender : float or None
        Mean reciprocal rank of the first relevant document, unanswered queries as 0; higher is better.
    difference : float or None
        Contender minus baseline.
    tests : dict of str to Test
        "ranksum", "wilcoxon" and "t": WRS, WSR and t-test of Table 1.

    References
    ----------
    Lin et al. 2021, section 3, Table 1.
    """

    baseline: float | None
    contender: float | None
    difference: float | None
    tests: dict[str, Test]

    @property
    def pvalues(self) -> dict[str, float]:
        """Uncorrected p-values by the name of the test."""
        return {name: test.pvalue for name, test in self.tests.items()}


def naive_tests(baseline: _Floats, contender: _Floats) -> Naive:
    """Run the tests of Table 1 on reciprocal ranks, or on the values of another measure."""
    change = differences(baseline, contender)
    tests = {"ranksum": rank_sum(baseline, contender), "wilcoxon": wilcoxon(change), "t": t_test(change)}
    return Naive(_mean(baseline), _mean(contender), _mean(change), tests)


def _paired_facet(
    name: str, measured_in: str, higher_is_better: bool, pair: tuple[_Floats, _Floats], settings: Settings
) -> Facet:
    change = differences(*pair)
    tests = paired_tests(change)
    return _facet(name, measured_in, higher_is_better, (*pair, change), tests, settings.test, settings.alpha)


def _facet(
    name: str,
    measured_in: str,
    higher_is_better: bool,
    values: tuple[_Floats, _Floats, _Floats],
    tests: Mapping[str, Test],
    test: str,
    alpha: float,
    discordant: tuple[int, int] | None = None,
) -> Facet:
    baseline, contender, change = values
    n, difference, deviation = len(change), _mean(change), _deviation(change)
    if discordant is None:
        won, lost = None, None
        effect_size = difference / deviation if difference is not None and deviation else None
        detectable = detectable_mean(n, deviation, alpha, POWER) if deviation else None
    else:
        won, lost = discordant
        effect_size = odds_ratio(won, lost)
        share = detectable_proportion(n, (won + lost) / max(n, 1), alpha, POWER)
        detectable = None if share is None else 100 * share
    facet = Facet(
        name=name,
        measured_in=measured_in,
        higher_is_better=higher_is_better,
        n=n,
        baseline=_mean(baseline),
        contender=_mean(contender),
        difference=difference,
        deviation=deviation,
        won=won,
        lost=lost,
        interval=None,
        interval_method="t interval of the mean difference" if won is None else "Bonett and Price 2012, adjusted Wald",
        effect_size=effect_size,
        effect="mean / standard deviation of the differences" if won is None else "odds ratio won : lost",
        ratio=None,
        ratio_interval=None,
        shift=None,
        test=test,
        tests=tests,
        pvalue_corrected=tests[test].pvalue,
        detectable=detectable,
        alpha=alpha,
    )
    return replace(facet, interval=facet.confidence_interval(1 - alpha))


def _mean(values: _Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def _deviation(values: _Floats) -> float | None:
    if len(values) < 2:
        return None
    return 0.0 if np.all(values == values[0]) else float(values.std(ddof=1))
