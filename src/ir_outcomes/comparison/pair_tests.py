"""The tests of a pair of runs that decide, veto, confirm and guard: of many samples, or of many pairs, at a time."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import numpy as np

from ir_outcomes.comparison.outcomes import CoverageTest, PairedQueries
from ir_outcomes.statistics import differences
from ir_outcomes.statistics.counts import Members, tally, tally_subsets
from ir_outcomes.statistics.kernels import Kernel, Pvalues, binomial_tests
from ir_outcomes.statistics.signflips import Levels
from ir_outcomes.statistics.tests import Samples
from ir_outcomes.types import Floats


class PairSamples(NamedTuple):
    """The differences of a pair, or of subsets of its queries, each ready to be tested."""

    coverage: Samples
    ranking: Samples
    everywhere: Samples | None  # over all queries; None where nothing can confirm
    # The part of what only one run found; None where no search lengths are known.
    won_and_lost: Samples | None
    higher_is_better: bool  # direction of all but coverage, of which more is always better


class FamilyPvalues(NamedTuple):
    """P-values of the deciding tests of coverage, ranking and all queries, such as those of a family; (m,) arrays."""

    coverage: Floats
    ranking: Floats
    all_queries: Floats | None  # None where the search over all queries is not known

    def each(self, change: Callable[[Floats], Floats]) -> Self:
        """Return the p-values after a change that takes those of a facet."""
        all_queries = None if self.all_queries is None else change(self.all_queries)
        return type(self)(change(self.coverage), change(self.ranking), all_queries)


class PairTests(NamedTuple):
    """P-values and directions (1 where the contender is better, -1 where it is worse) of m samples or pairs."""

    coverage: Pvalues  # the deciding tests of both facets
    ranking: Pvalues
    ranking_mean: Pvalues  # tests of ranking that find harm whichever test decides
    ranking_wilcoxon: Pvalues
    # Of the mean over all queries, which confirms, guards and can decide; None where it is not
    # known.
    everywhere: Pvalues | None
    everywhere_wilcoxon: Pvalues | None  # confirms, too
    # Guards, too; None where no search lengths over all queries are known.
    won_and_lost: Pvalues | None

    @property
    def deciding(self) -> FamilyPvalues:
        """The raw p-values that a correction over the family takes."""
        all_queries = None if self.everywhere is None else self.everywhere.pvalue
        return FamilyPvalues(self.coverage.pvalue, self.ranking.pvalue, all_queries)


def samples_of(
    pair: PairedQueries,
    levels: Levels | None = None,
    *,
    subsets: Members | None = None,
    labels_only: bool = False,
    guard_only: bool = False,
) -> PairSamples:
    """Take the differences of a pair as one sample, or one for each of (n_queries, n_subsets) subsets, unions of clusters.

    For `labels_only` see `Samples`; with `guard_only` it holds for what only guards, whose p-values are not shown.
    """
    every = np.ones(len(pair.shared), dtype=bool)

    def sample(baseline: Floats, contender: Floats, *, shared: bool, only_label: bool) -> Samples:
        counted = pair.shared if shared else every
        rows = pair.rows(shared=shared)
        change = differences(baseline[counted], contender[counted])
        if subsets is not None:
            tallied = tally_subsets(change, counted, subsets, pair.clusters)
        else:
            tallied = tally(change, rows)
        return Samples(tallied, levels, labels_only=only_label)

    everywhere = None
    won_and_lost = None
    if pair.all_queries is not None:
        everywhere = sample(*pair.all_queries, shared=False, only_label=labels_only)
    if pair.restricted is not None:
        won_and_lost = sample(
            -pair.restricted.won,
            pair.restricted.lost,
            shared=False,
            only_label=labels_only or guard_only,
        )
    return PairSamples(
        coverage=sample(
            pair.found_baseline, pair.found_contender, shared=False, only_label=labels_only
        ),
        ranking=sample(
            pair.length_baseline, pair.length_contender, shared=True, only_label=labels_only
        ),
        everywhere=everywhere,
        won_and_lost=won_and_lost,
        higher_is_better=pair.higher_is_better,
    )


def run_tests(
    samples: PairSamples,
    ranking_test: str,
    coverage_test: CoverageTest,
    own_test: Kernel | None = None,
) -> PairTests:
    """Run the tests on the samples of a pair; `own_test` is the function behind the name of a ranking test that is not ours."""
    coverage = samples.coverage.differences
    # Sums over the rows of a cluster, as of several runs, have no binomial test.
    if coverage_test == "exact" and coverage.moments is None:
        won = coverage.n_positive
        of_coverage = binomial_tests(won, coverage.n_nonzero - won)
    else:
        of_coverage = samples.coverage.many("signflip")
    better = 1 if samples.higher_is_better else -1

    def of_contender(tests: Pvalues) -> Pvalues:
        return Pvalues(tests.pvalue, better * tests.direction)

    mean = of_contender(samples.ranking.of_means())
    ranking = mean
    if ranking_test != "t":
        ranking = of_contender(samples.ranking.many(ranking_test, own_test))
    everywhere = None
    everywhere_wilcoxon = None
    won_and_lost = None
    if samples.everywhere is not None:
        everywhere = of_contender(samples.everywhere.of_means())
        everywhere_wilcoxon = of_contender(samples.everywhere.many("wilcoxon"))
    if samples.won_and_lost is not None:
        won_and_lost = of_contender(samples.won_and_lost.of_means())
    return PairTests(
        coverage=of_coverage,
        ranking=ranking,
        ranking_mean=mean,
        ranking_wilcoxon=of_contender(samples.ranking.many("wilcoxon")),
        everywhere=everywhere,
        everywhere_wilcoxon=everywhere_wilcoxon,
        won_and_lost=won_and_lost,
    )


def stacked(tests: Sequence[PairTests]) -> PairTests:
    """Join the tests of several pairs, such as those of a family; what one of them does not have is None."""
    return PairTests._make(map(_joined, zip(*tests, strict=True)))


def _joined(parts: Sequence[Pvalues | None]) -> Pvalues | None:
    """Return the p-values and directions of all parts, one after the other."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return Pvalues(
        np.concatenate([part.pvalue for part in known]),
        np.concatenate([part.direction for part in known]),
    )
