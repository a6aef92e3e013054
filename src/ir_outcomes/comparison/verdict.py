"""From what the tests found on each facet to verdicts: the decision table, the confirmation and the guard, on arrays.

`verdict_from_summary` applies the table to numbers that somebody else published, and says whether it survives their rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from ir_outcomes.comparison.outcomes import CoverageTest, PairedQueries, check_alpha
from ir_outcomes.errors import ParameterError
from ir_outcomes.results import Column, Result, attributes, rows_of
from ir_outcomes.statistics import adjust, differences
from ir_outcomes.statistics.counts import Differences, Members, tally, tally_subsets
from ir_outcomes.statistics.tests import Tests, binomial_tests, many_tests, mean_tests
from ir_outcomes.types import Bools, Floats, Ints, check_positive

Direction = Literal["better", "worse", "none"]

NO_DIFFERENCE = "no significant difference"
_DIRECTION_OF: dict[str, Direction] = {  # every label, from best to worst, and its direction for the contender
    "better on both facets": "better",
    "better without harm": "better",
    "coverage gain, unconfirmed": "none",
    "ranking gain, unconfirmed": "none",
    NO_DIFFERENCE: "none",
    "trade-off": "none",
    "ranking loss, unconfirmed": "none",
    "coverage loss, unconfirmed": "none",
    "worse without gain": "worse",
    "worse on both facets": "worse",
}
LABELS = tuple(_DIRECTION_OF)
DIRECTIONS = np.array([{"better": 1, "worse": -1, "none": 0}[direction] for direction in _DIRECTION_OF.values()])
_SWAPPED = {
    "better on both facets": "worse on both facets",
    "better without harm": "worse without gain",
    "coverage gain, unconfirmed": "coverage loss, unconfirmed",
    "ranking gain, unconfirmed": "ranking loss, unconfirmed",
    NO_DIFFERENCE: NO_DIFFERENCE,
    "trade-off": "trade-off",
}
MIRRORED = _SWAPPED | {swapped: label for label, swapped in _SWAPPED.items()}  # the label with the runs swapped

Decision = Literal["better", "worse", "undecided"]
DECISIONS: dict[int, Decision] = {1: "better", -1: "worse", 0: "undecided"}  # of the rules *strict* and *do no harm*


def direction_of(label: str) -> Direction:
    """Return the direction of a label for the contender."""
    return _DIRECTION_OF[label]


class Findings(NamedTuple):
    """What the tests say about one facet, for each of m contenders; (m,) bool arrays."""

    up: Bools  # it improves, and the corrected p-value of the deciding test is at most alpha
    hurt: Bools  # it worsens, and a raw p-value is: of the deciding test, or for ranking of t or Wilcoxon in its own direction
    down: Bools  # up and hurt with the runs swapped
    gain: Bools

    def swapped(self) -> Findings:
        """Return the findings for the baseline."""
        return Findings(up=self.down, hurt=self.gain, down=self.up, gain=self.hurt)


class Verdicts(NamedTuple):
    """The two-facet verdict on each of m contenders; (m,) arrays."""

    label: Ints  # index into LABELS, after the confirmation and the guard
    strict: Ints  # the rule of Lin et al. 2021, before the guard: 1 better (both facets up, none hurt), -1 worse, 0 undecided
    do_no_harm: Ints  # the same for their weaker rule: at least one facet up, none hurt
    guard: Bools  # whether the guard turned a label into "trade-off"

    @property
    def direction(self) -> Ints:
        """(m,) int array: 1 where the label is better, -1 where it is worse, 0 where it has no direction."""
        directions: Ints = DIRECTIONS[self.label]
        return directions

    def labels(self) -> list[str]:
        """Return the labels as text."""
        return [LABELS[code] for code in self.label.tolist()]


def find(deciding: Tests, corrected: Floats, alpha: float, *, higher_is_better: bool, vetoes: Sequence[Tests] = ()) -> Findings:
    """Return what the tests of a facet find: the deciding one with its corrected p-values, and others for gain and harm."""
    improvement = 1 if higher_is_better else -1
    direction = deciding.direction * improvement
    gain, hurt = np.zeros(len(direction), dtype=bool), np.zeros(len(direction), dtype=bool)
    for test in (deciding, *vetoes):
        significant = test.pvalue <= alpha
        gain |= significant & (test.direction == improvement)
        hurt |= significant & (test.direction == -improvement)
    significant = corrected <= alpha
    return Findings(up=significant & (direction > 0), hurt=hurt, down=significant & (direction < 0), gain=gain)


def confirmed_by(tests: Sequence[Tests], alpha: float, *, higher_is_better: bool) -> Ints:
    """Return the direction that all queries confirm for each contender: 1 better, -1 worse, 0 neither."""
    mean = tests[0]
    significant = np.any([(test.pvalue <= alpha) & (test.direction == mean.direction) for test in tests], axis=0)
    return np.where(significant, mean.direction if higher_is_better else -mean.direction, 0)


def decide(
    coverage: Findings,
    ranking: Findings,
    confirmed: Ints | None = None,
    guards: Sequence[Tests] = (),
    alpha: float = 0.05,
) -> Verdicts:
    """Apply the rules of Lin et al. 2021, section 5, then the confirmation and the guard."""
    swapped = coverage.swapped(), ranking.swapped()
    strict = _strictly_better(coverage, ranking).astype(np.int64) - _strictly_better(*swapped)
    do_no_harm = _better_without_harm(coverage, ranking).astype(np.int64) - _better_without_harm(*swapped)
    stands = np.zeros(len(do_no_harm), dtype=bool) if confirmed is None else do_no_harm == confirmed
    guard = np.zeros(len(do_no_harm), dtype=bool)
    for test in guards:
        # A positive direction of the test is worse for the contender, so it contradicts "better", and the reverse.
        guard |= (test.pvalue <= alpha) & (test.direction * do_no_harm > 0)
    first_that_applies = {
        "trade-off": guard | _mixed(coverage, ranking) | _mixed(*swapped),
        "better on both facets": strict > 0,
        "worse on both facets": strict < 0,
        "better without harm": (do_no_harm > 0) & stands,
        "worse without gain": (do_no_harm < 0) & stands,
        "coverage gain, unconfirmed": (do_no_harm > 0) & coverage.up,
        "ranking gain, unconfirmed": do_no_harm > 0,
        "coverage loss, unconfirmed": (do_no_harm < 0) & coverage.down,
        "ranking loss, unconfirmed": do_no_harm < 0,
    }
    codes = [LABELS.index(label) for label in first_that_applies]
    label = np.select(list(first_that_applies.values()), codes, LABELS.index(NO_DIFFERENCE))
    return Verdicts(label.astype(np.int64), strict, do_no_harm, guard)


def _strictly_better(coverage: Findings, ranking: Findings) -> Bools:
    return coverage.up & ranking.up & ~(coverage.hurt | ranking.hurt)


def _better_without_harm(coverage: Findings, ranking: Findings) -> Bools:
    return (coverage.up | ranking.up) & ~(coverage.hurt | ranking.hurt)


def _mixed(coverage: Findings, ranking: Findings) -> Bools:
    return (coverage.up | ranking.up) & (coverage.hurt | ranking.hurt)


class PairSamples(NamedTuple):
    """Paired differences by query, contender minus baseline, as the tests take them."""

    coverage: Differences  # share found; higher is better
    ranking: Differences  # search length on what both found, where there is such a thing
    all_queries: Differences | None  # restricted search length (or the measure that takes its place)
    won_and_lost: Differences | None  # its part of won and lost; lower is better
    higher_is_better: bool  # direction of ranking and all queries


class PairTests(NamedTuple):
    """P-values and directions of the tests that decide, veto, confirm and guard; arrays over samples or pairs."""

    coverage: Tests  # the deciding tests of both facets
    ranking: Tests
    mean: Tests  # tests of ranking that find harm whichever test decides
    wilcoxon: Tests
    confirming: tuple[Tests, ...]  # over all queries: of the mean, and Wilcoxon; empty where nothing can confirm
    guards: tuple[Tests, ...]  # of the restricted search length and of its part of won and lost; empty where not known
    higher_is_better: bool  # direction of ranking and of the tests that confirm


class Judgment(NamedTuple):
    """Verdicts, and the corrected p-values of the deciding tests of both facets that led to them."""

    verdicts: Verdicts
    coverage: Floats
    ranking: Floats


def samples_of(pair: PairedQueries, subsets: Members | None = None) -> PairSamples:
    """Take the differences of a pair as one sample, or one for each of (n_queries, n_subsets) subsets, unions of clusters."""
    every = np.ones(len(pair.query_ids), dtype=bool)
    restricted, all_queries = pair.restricted, pair.all_queries

    def sample(baseline: Floats, contender: Floats, counted: Bools) -> Differences:
        change = differences(baseline[counted], contender[counted])
        if subsets is not None:
            return tally_subsets(change, counted, subsets, pair.clusters)
        return tally(change, None if pair.clusters is None else pair.clusters[counted])

    return PairSamples(
        coverage=sample(pair.found_baseline, pair.found_contender, every),
        ranking=sample(pair.length_baseline, pair.length_contender, pair.shared),
        all_queries=None if all_queries is None else sample(*all_queries, every),
        won_and_lost=None if restricted is None else sample(-restricted.won, restricted.lost, every),
        higher_is_better=pair.higher_is_better,
    )


def run_tests(
    samples: PairSamples,
    ranking_test: str,
    coverage_test: CoverageTest,
    levels: tuple[float, float] | None = None,
    *,
    labels_only: bool = False,
) -> PairTests:
    """Run the tests that decide, veto, confirm and guard; for `levels` and `labels_only` see `many_tests`."""
    deciding = partial(many_tests, levels=levels, labels_only=labels_only)
    mean = mean_tests(samples.ranking, levels, labels_only=labels_only)
    everywhere, won_and_lost = samples.all_queries, samples.won_and_lost
    confirming: tuple[Tests, ...] = ()
    guards: tuple[Tests, ...] = ()
    if everywhere is not None:
        # No p-value of these is kept: only on which side of the levels it is.
        side_of = partial(mean_tests, levels=levels, labels_only=levels is not None)
        confirming = mean_all, _ = side_of(everywhere), many_tests("wilcoxon", everywhere)
        guards = () if won_and_lost is None else (mean_all, side_of(won_and_lost))
    return PairTests(
        coverage=_binomial_tests(samples.coverage) if coverage_test == "exact" else deciding("signflip", samples.coverage),
        ranking=mean if ranking_test == "t" else deciding(ranking_test, samples.ranking),
        mean=mean,
        wilcoxon=many_tests("wilcoxon", samples.ranking),
        confirming=confirming,
        guards=guards,
        higher_is_better=samples.higher_is_better,
    )


def stacked(tests: Sequence[PairTests]) -> PairTests:
    """Join the tests of several pairs, such as those of a family."""

    def joined(parts: Sequence[Tests]) -> Tests:
        return Tests(*map(np.concatenate, zip(*parts, strict=True)))

    *always, confirming, guards, higher_is_better = zip(*tests, strict=True)
    coverage, ranking, mean, wilcoxon = map(joined, always)
    confirming, guards = (tuple(map(joined, zip(*parts, strict=True))) for parts in (confirming, guards))
    return PairTests(coverage, ranking, mean, wilcoxon, confirming, guards, higher_is_better[0])


def judge(
    tests: PairTests,
    *,
    alpha: float,
    correction: str = "none",
    looks: int = 1,
    corrected: tuple[Floats, Floats] | None = None,
) -> Judgment:
    """Reach the verdicts, after the deciding p-values were corrected over the family and multiplied by the number of looks."""
    if corrected is None:
        corrected = adjust(tests.coverage.pvalue, correction), adjust(tests.ranking.pvalue, correction)
    coverage_p, ranking_p = (np.minimum(1.0, looks * np.asarray(pvalues)) for pvalues in corrected)
    coverage = find(tests.coverage, coverage_p, alpha, higher_is_better=True)
    ranking = find(
        tests.ranking, ranking_p, alpha, higher_is_better=tests.higher_is_better, vetoes=(tests.mean, tests.wilcoxon)
    )
    confirmed = confirmed_by(tests.confirming, alpha, higher_is_better=tests.higher_is_better) if tests.confirming else None
    return Judgment(decide(coverage, ranking, confirmed, tests.guards, alpha), coverage_p, ranking_p)


def _binomial_tests(sample: Differences) -> Tests:
    return binomial_tests(sample.positive[1:].sum(axis=0), sample.negative[1:].sum(axis=0))


@dataclass(frozen=True, repr=False)
class SummaryVerdict(Result):
    """A verdict on published numbers.

    Attributes
    ----------
    n, won, lost, ranking_difference, ranking_pvalue, alpha, rounding
        As given.
    label, direction, strict, do_no_harm : str
        The verdict at face value; see `Verdict`. Nothing can confirm a direction with only one facet here, and the guard cannot
        be checked.
    coverage_pvalue, coverage_pvalues : float and (float, float)
        Exact binomial test of won against lost, at face value; the smallest and the largest within the rounding.
    labels : tuple of str
        Every verdict within the rounding, the one at face value first.
    """

    n: int
    won: float
    lost: float
    ranking_difference: float
    ranking_pvalue: float
    alpha: float
    rounding: float
    label: str
    direction: Direction
    strict: Decision
    do_no_harm: Decision
    coverage_pvalue: float
    coverage_pvalues: tuple[float, float]
    labels: tuple[str, ...]

    @property
    def survives_rounding(self) -> bool:
        """Whether the verdict is the same for all numbers that round to those given."""
        return len(self.labels) == 1

    def _summary(self) -> str:
        return f"{self.label}, {'survives' if self.survives_rounding else 'does not survive'} rounding"

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row."""
        columns = (
            *attributes("n", "won", "lost", "coverage_p=coverage_pvalue"),
            Column("coverage_p", "coverage_pvalues", form="[p]"),
            *attributes("ranking_difference", "ranking_p=ranking_pvalue", "verdict=label"),
            *attributes("direction", "strict", "do_no_harm", "survives_rounding"),
        )
        return rows_of(columns, [self])


def verdict_from_summary(
    n: int,
    won: float,
    lost: float,
    ranking_difference: float,
    ranking_pvalue: float,
    *,
    other_pvalues: tuple[float, ...] = (),
    alpha: float = 0.05,
    rounding: float = 0.0,
) -> SummaryVerdict:
    """Reach the two-facet verdict from published numbers alone, uncorrected for several contenders.

    Parameters
    ----------
    n, won, lost : int and float
        Queries; those that only the contender, and only the baseline, answered: counts, or where `rounding` is given
        published percentages times n / 100.
    ranking_difference : float
        Mean search length of the contender minus that of the baseline on what both answered; ranks, lower is better.
    ranking_pvalue : float
        Of the test that decides on ranking.
    other_pvalues : tuple of float
        Of other tests of the same difference, in the same direction: they count for the harm check.
    alpha : float
        Level.
    rounding : float
        How far `won` and `lost` may be off, in percentage points of n: 0.5 for percentages printed without decimals.

    Raises
    ------
    ParameterError
        If a number is not possible.

    References
    ----------
    Lin et al. 2021, section 5.

    Examples
    --------
    R8 against R1 of Table 2 of Lin et al. 2021: 15 % and 15 % of 5793 queries, search lengths 7.06 and 5.71.

    >>> verdict = verdict_from_summary(5793, 0.15 * 5793, 0.15 * 5793, 5.71 - 7.06, 8.68e-08, rounding=0.5)
    >>> verdict.label, verdict.do_no_harm, verdict.survives_rounding
    ('ranking gain, unconfirmed', 'better', True)
    """
    check_positive("n", n)
    check_alpha(alpha)
    if not 0 <= rounding < 50:
        raise ParameterError(f"rounding={rounding!r}: must be a number of percentage points, 0 or more and less than 50")
    if not math.isfinite(ranking_difference):
        raise ParameterError(f"ranking_difference={ranking_difference!r}: must be a number of ranks")
    for pvalue in (ranking_pvalue, *other_pvalues):
        if not 0 <= pvalue <= 1:
            raise ParameterError(f"a p-value of {pvalue!r}: must be between 0 and 1")
    _check_count("won", won, n, rounding)
    _check_count("lost", lost, n, rounding)
    if won + lost > n + 2 * rounding / 100 * n:
        raise ParameterError(f"won={won:g} and lost={lost:g} are more than the n={n} queries")

    # The counts at face value are followed by all pairs of counts that they may have been rounded from.
    counts = np.array([[round(won)], [round(lost)]], dtype=np.float64)
    tests = binomial_tests(*np.concatenate([counts, _within_rounding(won, lost, n, rounding)], axis=1))
    coverage = find(tests, tests.pvalue, alpha, higher_is_better=True)
    direction = np.full(len(tests.pvalue), np.sign(ranking_difference), dtype=np.int64)
    deciding, *others = (Tests(np.full(len(direction), pvalue), direction) for pvalue in (ranking_pvalue, *other_pvalues))
    ranking = find(deciding, deciding.pvalue, alpha, higher_is_better=False, vetoes=others)
    verdicts = decide(coverage, ranking, alpha=alpha)
    labels = tuple(dict.fromkeys(verdicts.labels()))
    return SummaryVerdict(
        n=int(n),
        won=float(won),
        lost=float(lost),
        ranking_difference=float(ranking_difference),
        ranking_pvalue=float(ranking_pvalue),
        alpha=alpha,
        rounding=float(rounding),
        label=labels[0],
        direction=direction_of(labels[0]),
        strict=DECISIONS[int(verdicts.strict[0])],
        do_no_harm=DECISIONS[int(verdicts.do_no_harm[0])],
        coverage_pvalue=float(tests.pvalue[0]),
        coverage_pvalues=(float(tests.pvalue.min()), float(tests.pvalue.max())),
        labels=labels,
        notes=(
            "Published numbers can neither confirm a direction with one facet, which the label therefore lacks, nor show that "
            "early answers were lost and late ones won; strict and do no harm are the rules of the paper.",
        ),
    )


def _check_count(name: str, value: float, n: int, rounding: float) -> None:
    if not (isinstance(value, (int, float, np.number)) and math.isfinite(value) and 0 <= value <= n):
        raise ParameterError(f"{name}={value!r}: must be a number of queries between 0 and n={n}")
    if rounding == 0:
        if value != round(value):
            raise ParameterError(
                f"{name}={value!r}: must be a whole number of queries; for a published percentage give percentage * n / 100, "
                "with rounding=0.5 if it was printed without decimals"
            )
        return
    percentage, step = 100 * value / n, 2 * rounding
    # Half a query of slack, because a percentage of n may have been rounded to a whole number of queries.
    if abs(percentage - step * round(percentage / step)) > 50 / n + 1e-9:
        raise ParameterError(
            f"{name}={value!r} is {percentage:.3g} % of n={n}, which is no percentage that was rounded by {rounding:g}; give "
            "counts (the published percentage times n / 100), not percentages or shares"
        )


def _within_rounding(won: float, lost: float, n: int, rounding: float) -> Floats:
    """List all pairs of counts that the numbers given may have been rounded from; (2, n_pairs)."""
    slack = rounding / 100 * n
    ranges = [np.arange(max(0, math.ceil(count - slack)), min(n, math.floor(count + slack)) + 1.0) for count in (won, lost)]
    pairs = np.array(np.meshgrid(*ranges)).reshape(2, -1)
    return pairs[:, pairs.sum(axis=0) <= n]
