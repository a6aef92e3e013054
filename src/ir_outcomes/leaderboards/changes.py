"""Search lengths of all runs of a board, and how often they change by how much from one run to another.

Where each query has one search length, these are whole numbers, so each change between two runs is
its own class of differences. Classes are looked up in one table for all runs, nothing is sorted for
a pair, and one count of the queries by change has the samples of all facets.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from ir_outcomes.comparison.outcomes import PairedQueries, from_items, horizon_of
from ir_outcomes.comparison.pair_tests import PairSamples
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.statistics.counts import Differences
from ir_outcomes.statistics.halves import Halves
from ir_outcomes.statistics.signflips import Levels
from ir_outcomes.statistics.tests import Samples
from ir_outcomes.types import Floats, Ints, divided

_DEEPEST = 2000  # of longer lists most changes occur in no query


class Changes(NamedTuple):
    """Search lengths as codes: that of a change between two runs is the sum of the one's code as baseline and the other's.

    With K the largest possible search length, a the baseline's, b the contender's, the code of a
    change is b - 1 where only the contender found something, 2 K where neither did, 3 K + b - a
    where both did, and 5 K + 1 - a where only the baseline did. Different outcomes or changes never
    have the same code.
    """

    longest: int  # K
    as_baseline: Ints  # (n_runs, n_queries)
    as_contender: Ints
    totals: Floats  # (n_runs,) sums of the search lengths

    @classmethod
    def of(cls, lengths: Floats, longest: int) -> Self:
        """Take the search lengths of all runs, (n_runs, n_queries), NaN where a run found nothing."""
        missing = np.isnan(lengths)
        ranks = np.where(missing, 0, lengths).astype(np.int64)
        as_baseline = np.where(missing, -1, 3 * longest - ranks)
        as_contender = np.where(missing, 2 * longest + 1, ranks)
        return cls(longest, as_baseline, as_contender, ranks.sum(axis=1).astype(np.float64))

    @property
    def n_codes(self) -> int:
        """How many codes there are."""
        return 5 * self.longest + 1

    def codes(self, baseline: int, contender: int) -> Ints:
        """(n_queries,) codes of the changes from one run to another."""
        codes: Ints = self.as_baseline[baseline] + self.as_contender[contender]
        return codes

    def counts(self, baseline: int, contenders: slice) -> Floats:
        """(n_codes, n_contenders) numbers of queries with each change, from one run to each of several."""
        codes = self.as_contender[contenders] + self.as_baseline[baseline]
        n_contenders = len(codes)
        codes += self.n_codes * np.arange(n_contenders)[:, None]
        counts = np.bincount(codes.ravel(), minlength=n_contenders * self.n_codes)
        return counts.reshape(n_contenders, self.n_codes).T.astype(np.float64)


class BoardLengths(NamedTuple):
    """Search lengths of all runs, of the answerable queries or of their relevant documents: the items."""

    lengths: Floats  # (n_runs, n_items), NaN where nothing was found
    horizons: Sequence[int]  # (n_runs,) k of the restricted search length
    query: Ints  # (n_items,) place of the query among the answerable ones
    n_queries: int
    clusters: Ints | None  # (n_queries,)
    changes: Changes | None  # where all queries are independent and have one search length

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        """Take the search lengths within the cutoff of an evaluation."""
        answerable = evaluation.answerable
        by_document = evaluation.unit == "document"
        lengths = []
        horizons = []
        # Each run is cut off by itself: a copy of all would take more memory than all that follows.
        for run in evaluation.runs:
            within = run.at(evaluation.cutoff)
            lengths.append(within.atoms() if by_document else within.esl()[answerable])
            horizons.append(horizon_of(within) or 0)
        stacked = np.stack(lengths)
        n_queries = int(answerable.sum())
        query = np.arange(n_queries)
        if by_document:
            query = (np.cumsum(answerable) - 1)[evaluation.runs[0].query]
        clusters = evaluation.clusters
        if clusters is not None:
            clusters = clusters[answerable]
        changes = None
        has_several = by_document and evaluation.many_relevant
        if clusters is None and not has_several and max(horizons) < _DEEPEST:
            changes = Changes.of(stacked, max(horizons))
        return cls(stacked, horizons, query, n_queries, clusters, changes)

    def horizon(self, baseline: int, contender: int) -> int:
        """Return the horizon of a pair, which is the larger one."""
        return max(self.horizons[baseline], self.horizons[contender])

    def paired(self, baseline: int, contenders: slice) -> PairedQueries:
        """Set the queries of a run and of each of some contenders, which share a horizon with it, side by side."""
        of_contenders = self.lengths[contenders]
        pairs = np.arange(len(of_contenders))[:, None]
        clusters = self.clusters
        if clusters is not None:
            clusters = (clusters + (clusters.max() + 1) * pairs).ravel()
        return from_items(
            ("", ""),
            ("",) * (self.n_queries * len(pairs)),
            (self.query + self.n_queries * pairs).ravel(),
            (np.tile(self.lengths[baseline], len(pairs)), of_contenders.ravel()),
            self.horizon(baseline, contenders.start),
            clusters,
        )


class ChangeCounts(NamedTuple):
    """How many queries have each change, by outcome; a sample is a pair of runs, or some queries of a pair.

    The rows of `earlier`, `later`, `won` and `lost` are for sizes from 1 to the horizon.
    """

    n: Floats  # (n_samples,) queries
    same: Floats  # (n_samples,) both runs found something, at the same search length,
    earlier: Floats  # or the contender at a shorter one,
    later: Floats  # or at a longer one
    won: Floats  # only the contender found something; the baseline's search length is the horizon + 1
    lost: Floats  # only the baseline did

    @classmethod
    def of(cls, counts: Floats, longest: int, horizon: int) -> Self:
        """Take the numbers of the codes of `Changes`, (n_codes, n_samples)."""
        # Where both runs found something the size is less than the horizon, and there the table has
        # the next outcome.
        none = np.zeros_like(counts[:1])
        earlier = np.concatenate([counts[2 * longest + 1 : 3 * longest][::-1], none])
        later = np.concatenate([counts[3 * longest + 1 : 4 * longest], none])
        # What one run found is counted by its search length; at the horizon it is better by 1 than
        # what is missing.
        won = counts[:longest]
        lost = counts[4 * longest + 1 :][::-1]
        return cls(
            n=counts.sum(axis=0),
            same=counts[3 * longest],
            earlier=earlier[:horizon],
            later=later[:horizon],
            won=won[:horizon][::-1],
            lost=lost[:horizon][::-1],
        )

    def facets(self) -> list[Differences]:
        """Return the differences of coverage, ranking, all queries, and what was won and lost."""
        n_won = self.won.sum(axis=0)
        n_lost = self.lost.sum(axis=0)
        n_otherwise = self.n - n_won - n_lost
        longer = self.lost + self.later
        shorter = self.won + self.earlier
        n_unchanged = self.n - longer.sum(axis=0) - shorter.sum(axis=0)
        return [
            _differences(n_otherwise, n_won[None], n_lost[None]),
            _differences(self.same, self.later, self.earlier),
            _differences(n_unchanged, longer, shorter),
            _differences(n_otherwise, self.lost, self.won),
        ]

    def samples(
        self,
        levels: Levels,
        *,
        first: Self | None = None,
        labels_only: bool = False,
        guard_only: bool = False,
    ) -> PairSamples:
        """Return the differences of all facets, ready to be tested; see `ir_outcomes.comparison.pair_tests.samples_of`.

        With the changes of the first halves, the samples are the halves.
        """
        facets = self.facets()
        if first is not None:
            facets = [*map(Halves, first.facets(), facets)]
        coverage, ranking, everywhere, won_and_lost = facets
        return PairSamples(
            coverage=Samples(coverage, levels, labels_only=labels_only),
            ranking=Samples(ranking, levels, labels_only=labels_only),
            everywhere=Samples(everywhere, levels, labels_only=labels_only),
            won_and_lost=Samples(won_and_lost, levels, labels_only=labels_only or guard_only),
            higher_is_better=False,
        )

    def means(self, baseline_totals: Floats, contender_totals: Floats) -> Floats:
        """(4, n_samples): change of coverage in percentage points, both mean search lengths, and change over all queries.

        The totals are the sums of the search lengths that each run found.
        """
        horizon = len(self.won)
        n_won = self.won.sum(axis=0)
        n_lost = self.lost.sum(axis=0)
        n_both = self.same + self.earlier.sum(axis=0) + self.later.sum(axis=0)
        # All sums are of whole numbers, and exact.
        won = _sums(self.won)
        lost = _sums(self.lost)
        baseline_on_both = baseline_totals - ((horizon + 1) * n_lost - lost)
        contender_on_both = contender_totals - ((horizon + 1) * n_won - won)
        everywhere = _sums(self.later) + lost - _sums(self.earlier) - won
        return np.stack(
            [
                100 * divided(n_won - n_lost, self.n, self.n > 0),
                divided(baseline_on_both, n_both, n_both > 0),
                divided(contender_on_both, n_both, n_both > 0),
                divided(everywhere, self.n, self.n > 0),
            ]
        )


def _differences(zero: Floats, positive: Floats, negative: Floats) -> Differences:
    """Return samples of differences by 0, 1, 2, ..."""
    sizes = np.arange(len(positive) + 1.0)
    counts = np.concatenate([zero[None], positive, np.zeros_like(zero[None]), negative])
    return Differences.of_counts(sizes, counts)


def _sums(counts: Floats) -> Floats:
    """(n_samples,) sums of the sizes."""
    sizes = np.arange(1.0, len(counts) + 1)
    sums: Floats = np.einsum("i,ij->j", sizes, counts)
    return sums
