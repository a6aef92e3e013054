"""Both facets under assignments of relevance to unjudged documents: their labels, and a small set that changes the direction.

The facets are computed in full for each assignment, many assignments at once, on arrays of ranks: a
new relevant document is an item of its own, it is one irrelevant document less above those that
follow it, and it makes a query answerable that had no relevant document.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.comparison.outcomes import (
    CoverageTest,
    PairedQueries,
    Settings,
    from_items,
    horizon_of,
)
from ir_outcomes.comparison.pair_tests import (
    FamilyPvalues,
    PairTests,
    run_tests,
    samples_of,
    stacked,
)
from ir_outcomes.comparison.verdict import DIRECTIONS, LABELS, NO_FAMILY, judge
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.ranking import RankedDocuments
from ir_outcomes.reading.columns import Ids
from ir_outcomes.statistics import adjust
from ir_outcomes.statistics.kernels import Kernel
from ir_outcomes.types import Bools, Floats, Ints

MOST_TIPPING = 5  # documents of a tipping point; larger sets warn of nothing
# Documents that are tried together before those that are not needed are left out.
LONGEST_PREFIX = 10
LARGEST_BLOCK = 1 << 20  # items that are worked on at a time


@dataclass(frozen=True, eq=False)
class Holdings:
    """Where two runs hold the relevant documents and the unjudged ones, within the cutoff, and how their label is reached."""

    n_queries: int  # all queries of the qrels
    horizon: int | None  # k of the restricted search length
    atom_query: Ints  # (n_atoms,) the query of each judged relevant document
    atom_ranks: Ints  # (2, n_atoms) its ranks in baseline and contender; 0 where it is not within the cutoff
    query: Ints  # (n_documents,) the query of each unjudged document that either run returned, ascending
    ranks: Ints  # (2, n_documents) its ranks
    docids: Ids  # (n_documents,) in UTF-8
    settings: Settings
    clusters: Ints | None  # (n_queries,) the cluster of each query
    # The function behind the name of a test of ranking that is not ours.
    own_test: Kernel | None = None
    others: FamilyPvalues = NO_FAMILY  # raw p-values of the other pairs of the family, which stay

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def effects(self) -> Floats:
        """How each unjudged document by itself would change its query: coverage, ranking, all queries; (3, n_documents)."""
        starts = np.searchsorted(self.atom_query, np.arange(self.n_queries + 1))
        sizes = np.diff(starts)[self.query]
        before = np.cumsum(sizes) - sizes
        atoms = np.arange(int(sizes.sum())) + np.repeat(starts[self.query] - before, sizes)
        places = np.arange(len(self))
        each = replace(  # every document in a copy of its query
            self,
            n_queries=len(self),
            atom_query=np.repeat(places, sizes),
            atom_ranks=self.atom_ranks[:, atoms],
            query=places,
            clusters=None,
        )
        return _changes_of(each, relevant=True) - _changes_of(each, relevant=False)


def _changes_of(each: Holdings, *, relevant: bool) -> Floats:
    """Return the changes in coverage, ranking and over all queries where each query has one document; (3, n_documents)."""
    pair, counted = _paired(each, np.full((1, len(each)), relevant))
    restricted: Any = pair.restricted  # never None, because an evaluation has a cutoff
    changes = np.zeros((3, len(each)))
    changes[0, counted[0]] = pair.found_contender - pair.found_baseline
    lengths = pair.length_contender - pair.length_baseline
    changes[1, counted[0]] = np.where(pair.shared, lengths, 0.0)
    changes[2, counted[0]] = restricted.contender - restricted.baseline
    return changes


def holdings_of(
    runs: Sequence[SearchLengths],
    unjudged: Sequence[RankedDocuments],
    settings: Settings,
) -> Holdings:
    """Set the relevant and the unjudged documents of two runs side by side, up to the cutoff of the settings."""
    baseline, contender = (run.at(settings.cutoff) for run in runs)
    queries = []
    docids = []
    ranks = []
    for kept in unjudged:
        within = kept.rank <= (settings.cutoff or kept.depth)
        sizes = np.diff(kept.offsets)
        queries.append(np.repeat(np.arange(len(sizes)), sizes)[within])
        docids.append(kept.docids[within])
        ranks.append(kept.rank[within])
    ids = np.concatenate(docids)
    returned = np.empty(len(ids), dtype=[("query", np.int64), ("docid", ids.dtype)])
    returned["query"] = np.concatenate(queries)
    returned["docid"] = ids
    documents, place = np.unique(returned, return_inverse=True)
    of_runs = np.zeros((2, len(documents)), dtype=np.int64)
    of_runs[np.repeat([0, 1], list(map(len, ranks))), place] = np.concatenate(ranks)
    return Holdings(
        n_queries=len(baseline.query_ids),
        horizon=horizon_of(baseline, contender),
        atom_query=baseline.query,
        atom_ranks=np.stack([baseline.rank, contender.rank]),
        query=documents["query"],
        ranks=of_runs,
        docids=documents["docid"],
        settings=settings,
        clusters=baseline.clusters,
    )


def labels_of(holdings: Holdings, relevant: Bools) -> Ints:
    """Return the label, an index into `LABELS`, under each of (n_assignments, n_documents) assignments of relevance."""
    settings = holdings.settings
    tests = tests_of(holdings, relevant)
    raw: Any = tests.deciding  # of all queries, too, because an evaluation has a cutoff
    others: Any = holdings.others
    corrected = FamilyPvalues(
        coverage=_corrected(raw.coverage, others.coverage, settings.correction),
        ranking=_corrected(raw.ranking, others.ranking, settings.correction),
        all_queries=_corrected(raw.all_queries, others.all_queries, settings.correction),
    )
    return judge(tests, alpha=settings.alpha, corrected=corrected).label


def _corrected(pvalues: Floats, others: Floats, correction: str) -> Floats:
    """Return each p-value corrected together with those of the other pairs."""
    return np.array([adjust([own, *others], correction)[0] for own in pvalues.tolist()])


def own_label(holdings: Holdings) -> int:
    """Return the label with unjudged documents as not relevant."""
    return int(labels_of(holdings, np.zeros((1, len(holdings)), dtype=bool))[0])


def tests_of(holdings: Holdings, relevant: Bools) -> PairTests:
    """Run the tests under each assignment, for so many at a time as fit into memory; p-values suffice for labels."""
    settings = holdings.settings
    # One relevant document more makes it possible that a query has several.
    shares = settings.unit == "document" and bool(relevant.any())
    coverage_test: CoverageTest = "signflip" if shares else settings.coverage_test
    size = max(1, LARGEST_BLOCK // max(len(holdings.atom_query) + len(holdings), 1))
    tests = []
    for start in range(0, len(relevant), size):
        pair, counted = _paired(holdings, relevant[start : start + size])
        own_queries = np.repeat(np.eye(len(counted)), holdings.n_queries, axis=0)[counted.ravel()]
        samples = samples_of(pair, settings.levels, subsets=own_queries, labels_only=True)
        tests.append(run_tests(samples, settings.test, coverage_test, holdings.own_test))
    return stacked(tests)


def _paired(holdings: Holdings, relevant: Bools) -> tuple[PairedQueries, Bools]:
    """Return the answerable queries of all assignments, one after the other, and which are, (n_assignments, n_queries)."""
    n = len(relevant)
    n_queries = holdings.n_queries
    assignment, document = np.nonzero(relevant)
    of_atoms = (np.arange(n)[:, None] * n_queries + holdings.atom_query).ravel()
    group = np.concatenate([of_atoms, assignment * n_queries + holdings.query[document]])
    ranks = np.concatenate([np.tile(holdings.atom_ranks, n), holdings.ranks[:, document]], axis=1)
    counted = np.bincount(group, minlength=n * n_queries) > 0
    item = (np.cumsum(counted) - 1)[group]
    if holdings.settings.unit == "query":
        lengths = [_first(item, rank, int(counted.sum())) for rank in ranks]
        item = np.arange(int(counted.sum()))
    else:
        lengths = [_documents(item, rank) for rank in ranks]
    clusters = None
    if holdings.clusters is not None:  # those of each assignment are clusters of their own
        n_clusters = int(holdings.clusters.max()) + 1
        clusters = (np.arange(n)[:, None] * n_clusters + holdings.clusters).ravel()[counted]
    ids = ("",) * int(counted.sum())
    pair = from_items(("A", "B"), ids, item, (lengths[0], lengths[1]), holdings.horizon, clusters)
    return pair, counted.reshape(n, n_queries)


def _documents(item: Ints, rank: Ints) -> Floats:
    """Return the search length of each document: its rank less the relevant documents above it; NaN where it is not found."""
    order, starts = _found(item, rank)
    at = np.arange(len(order))
    lengths = np.full(len(rank), np.nan)
    lengths[order] = rank[order] - (at - np.maximum.accumulate(np.where(starts, at, 0)))
    return lengths


def _first(query: Ints, rank: Ints, n_queries: int) -> Floats:
    """Return the rank of the first relevant document of each query; NaN where there is none."""
    order, starts = _found(query, rank)
    lengths = np.full(n_queries, np.nan)
    lengths[query[order[starts]]] = rank[order[starts]]
    return lengths


def _found(item: Ints, rank: Ints) -> tuple[Ints, Bools]:
    """Return the places of the documents that were found, by item and rank, and which of them are the first of their item."""
    found = np.flatnonzero(rank > 0)
    # One key sorts several times as fast as two, as items are almost in order.
    key = item[found] * (int(rank.max(initial=0)) + 1) + rank[found]
    order = found[np.argsort(key, kind="stable")]
    return order, np.diff(item[order], prepend=-1) > 0


class Tip(NamedTuple):
    """Unjudged documents whose relevance changes the direction of a label."""

    documents: Ints  # places, those with the largest effect first
    label: str  # what it becomes


def tip_of(holdings: Holdings, own: int) -> Tip | None:
    """Find at most five documents that change the direction of the label `own`; None if there are none.

    The documents are those with the largest effects, from which all are left out that are not
    needed.
    """
    orders = _orders(holdings)
    sets = [order[:n] for n in range(1, LONGEST_PREFIX + 1) for order in orders if len(order) >= n]
    tip = None
    while (smaller := _first_that_changes(holdings, sets, own)) is not None:
        tip = smaller
        # The last documents have the smallest effects, so they are left out first.
        last_first = range(len(tip.documents))[::-1]
        sets = [np.delete(tip.documents, place) for place in last_first]
    if tip is None or len(tip.documents) > MOST_TIPPING:
        return None
    return tip


def _first_that_changes(holdings: Holdings, sets: Sequence[Ints], own: int) -> Tip | None:
    """Return the first of some sets of documents that changes the direction."""
    relevant = np.zeros((len(sets), len(holdings)), dtype=bool)
    for row, documents in enumerate(sets):
        relevant[row, documents] = True
    if not relevant.any():
        return None
    labels = labels_of(holdings, relevant)
    changing = np.flatnonzero(DIRECTIONS[labels] != DIRECTIONS[own])
    if not len(changing):
        return None
    first = changing[0]
    return Tip(sets[first], LABELS[labels[first]])


def priority(holdings: Holdings) -> Ints:
    """Put the unjudged documents in the order in which they should be judged: by the largest change that each would make."""
    gains = np.zeros(len(holdings))
    for effect in holdings.effects:
        spread = float(np.sqrt(np.mean(effect**2))) if len(effect) else 0.0
        gains = np.maximum(gains, np.abs(effect) / spread if spread else 0.0)
    return np.argsort(-gains, kind="stable")


def _orders(holdings: Holdings) -> list[Ints]:
    """Order the documents by each effect in each direction; further documents of the same query count for less."""
    orders = []
    for gain in (sign * effect for effect in holdings.effects for sign in (1, -1)):
        order = np.lexsort((-gain, holdings.query))
        starts = np.searchsorted(holdings.query[order], np.arange(holdings.n_queries))
        turn = np.arange(len(order)) - starts[holdings.query[order]]
        discount = 1 / (1 + turn)
        if holdings.settings.unit == "query":  # only the first relevant document of a query counts
            discount = turn == 0
        discounted = gain[order] * discount
        helpful = int(np.sum(discounted > 0))
        orders.append(order[np.argsort(-discounted, kind="stable")][:helpful])
    return orders
