"""From what the tests found on each facet to verdicts: the decision table, the confirmation and the guard, on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from ir_outcomes.comparison.outcomes import CoverageTest, PairedQueries
from ir_outcomes.statistics import adjust, differences
from ir_outcomes.statistics.counts import Differences, Members, tally, tally_subsets
from ir_outcomes.statistics.tests import Tests, binomial_tests, many_tests, mean_tests
from ir_outcomes.types import Bools, Floats, Ints

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
    """Apply the rules *strict* and *do no harm* (Lin et al."""
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

    coverage, ranking, mean, wilcoxon, confirming, guards, higher_is_better = zip(*tests, strict=True)
    return PairTests(
        coverage=joined(coverage),
        ranking=joined(ranking),
        mean=joined(mean),
        wilcoxon=joined(wilcoxon),
        confirming=tuple(map(joined, zip(*confirming, strict=True))),
        guards=tuple(map(joined, zip(*guards, strict=True))),
        higher_is_better=higher_is_better[0],
    )


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
