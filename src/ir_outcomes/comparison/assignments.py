"""What a comparison would say if some unjudged documents were relevant: many such assignments at once, on arrays of ranks.

Both facets are computed in full for each assignment: a new relevant document is an item of its own, it is one irrelevant
document less above those that follow it, and it makes a query answerable that had no relevant document.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ir_outcomes._types import Bools, Floats, Ints
from ir_outcomes.comparison.outcomes import PairedQueries, from_items, horizon_of
from ir_outcomes.comparison.pair_tests import PairSamples, PairTests, coverage_test_for, judge, run_tests
from ir_outcomes.comparison.settings import Settings
from ir_outcomes.evaluation.documents import RankedDocuments
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.reading.keys import Ids
from ir_outcomes.statistics import Differences, Tests, adjust, differences, mean_tests, tally_rows

__all__ = [
    "Holdings",
    "effects_of",
    "holdings_of",
    "labels_of",
    "raw_pvalues",
]

LARGEST_BLOCK = 1 << 20  # items that are worked on at a time
NO_PVALUES: Floats = np.empty(0)


@dataclass(frozen=True, eq=False)
class Holdings:
    """Where two runs hold the relevant documents and the unjudged ones, within the cutoff, and how their label is reached.

    Attributes
    ----------
    n_queries : int
        All queries of the qrels.
    horizon : int
        k of the restricted search length.
    atom_query : (n_atoms,) int64 array
        The query of each judged relevant document.
    atom_ranks : (2, n_atoms) int64 array
        Its ranks in baseline and contender; 0 where it is not within the cutoff.
    query : (n_documents,) int64 array
        The query of each unjudged document that either run returned, ascending.
    ranks : (2, n_documents) int64 array
        Its ranks.
    docids : (n_documents,) bytes array
        Document ids in UTF-8.
    settings : Settings
        Of the comparison.
    many_relevant : bool
        Whether any answerable query of the collection has more than one relevant document.
    others : pair of float arrays
        Raw p-values of the deciding tests of coverage and ranking, of the other pairs of the family. They stay as they are.
    """

    n_queries: int
    horizon: int | None
    atom_query: Ints
    atom_ranks: Ints
    query: Ints
    ranks: Ints
    docids: Ids
    settings: Settings
    many_relevant: bool
    others: tuple[Floats, Floats] = (NO_PVALUES, NO_PVALUES)

    def __len__(self) -> int:
        return len(self.query)


class _Numbers(NamedTuple):
    """Changes of each query (contender minus baseline) under each assignment; all arrays are (n_assignments, n_queries).

    Attributes
    ----------
    coverage, ranking : float arrays
        Change of the share found, and of the search length on what both found; 0 where there is none.
    restricted, won_and_lost : float arrays
        Change of the restricted search length, and its part of won and lost.
    counted, shared : bool arrays
        Whether the query is answerable, and whether both runs found something in common.
    """

    coverage: Floats
    ranking: Floats
    restricted: Floats
    won_and_lost: Floats
    counted: Bools
    shared: Bools


def holdings_of(
    runs: tuple[SearchLengths, SearchLengths],
    unjudged: tuple[RankedDocuments, RankedDocuments],
    settings: Settings,
    many_relevant: bool,
) -> Holdings:
    """Set the relevant and the unjudged documents of two runs side by side.

    Parameters
    ----------
    runs : pair of SearchLengths
        Baseline and contender, at the cutoff.
    unjudged : pair of RankedDocuments
        Their unjudged documents within the same cutoff.
    settings, many_relevant
        See `Holdings`.
    """
    queries = [np.repeat(np.arange(len(kept.query_ids)), np.diff(kept.offsets)) for kept in unjudged]
    query = np.concatenate(queries)
    docids = np.concatenate([kept.docids for kept in unjudged])
    rank = np.concatenate([kept.rank for kept in unjudged])
    run = np.repeat([0, 1], [len(part) for part in queries])
    order = np.lexsort((docids, query))
    query, docids, rank, run = query[order], docids[order], rank[order], run[order]
    is_new = np.ones(len(query), dtype=bool)
    is_new[1:] = (query[1:] != query[:-1]) | (docids[1:] != docids[:-1])
    document = np.cumsum(is_new) - 1
    ranks = np.zeros((2, int(is_new.sum())), dtype=np.int64)
    ranks[run, document] = rank
    return Holdings(
        n_queries=len(runs[0].query_ids),
        horizon=horizon_of(*runs),
        atom_query=runs[0].query,
        atom_ranks=np.stack([runs[0].rank, runs[1].rank]),
        query=query[is_new],
        ranks=ranks,
        docids=docids[is_new],
        settings=settings,
        many_relevant=many_relevant,
    )


def labels_of(holdings: Holdings, relevant: Bools) -> Ints:
    """Find the label under each assignment.

    Parameters
    ----------
    holdings : Holdings
        A pair of runs.
    relevant : (n_assignments, n_documents) bool array
        Which unjudged documents are relevant.

    Returns
    -------
    (n_assignments,) int64 array
        Indices into `ir_outcomes.comparison.verdict.LABELS`.
    """
    alpha, correction = holdings.settings.alpha, holdings.settings.correction
    samples = _samples(_numbers(holdings, relevant))
    tests = _tests(holdings, samples, any_relevant=bool(relevant.any()))
    corrected = (
        _corrected(tests.coverage.pvalue, holdings.others[0], correction),
        _corrected(tests.ranking.pvalue, holdings.others[1], correction),
    )
    verdicts = judge(tests, alpha=alpha, corrected=corrected).verdicts
    guarded = np.flatnonzero(verdicts.do_no_harm)  # the guard acts on no other label, and its tests are slow
    if not len(guarded):
        return verdicts.label
    guards = tuple(_mean_tests_at(sample, guarded) for sample in (samples.restricted, samples.won_and_lost) if sample)
    return judge(tests._replace(guards=guards), alpha=alpha, corrected=corrected).verdicts.label


def raw_pvalues(holdings: Holdings) -> tuple[float, float]:
    """Return the p-values of the deciding tests of coverage and ranking, with unjudged documents as not relevant."""
    tests = _tests(holdings, _samples(_numbers(holdings, np.zeros((1, len(holdings)), dtype=bool))))
    return float(tests.coverage.pvalue[0]), float(tests.ranking.pvalue[0])


def effects_of(holdings: Holdings) -> tuple[Floats, Floats, Floats]:
    """Compute what each unjudged document would change in its query if it alone were relevant.

    Returns
    -------
    tuple of three (n_documents,) float arrays
        Changes of the query's difference of coverage, of search length and of restricted search length.
    """
    starts = np.searchsorted(holdings.atom_query, np.arange(holdings.n_queries + 1))
    sizes = np.diff(starts)[holdings.query]
    ends = np.cumsum(sizes)
    atoms = np.repeat(starts[holdings.query] - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
    each = replace(
        holdings,  # every document in a copy of its query
        n_queries=len(holdings),
        atom_query=np.repeat(np.arange(len(holdings)), sizes),
        atom_ranks=holdings.atom_ranks[:, atoms],
        query=np.arange(len(holdings)),
    )
    before = _numbers(each, np.zeros((1, len(holdings)), dtype=bool))
    after = _numbers(each, np.ones((1, len(holdings)), dtype=bool))
    return (
        (after.coverage - before.coverage)[0],
        (after.ranking - before.ranking)[0],
        (after.restricted - before.restricted)[0],
    )


def _tests(holdings: Holdings, samples: PairSamples, any_relevant: bool = False) -> PairTests:
    """Run the tests that decide and veto, but not those that guard."""
    settings = holdings.settings
    # One relevant document more makes it possible that a query has several.
    coverage_test = coverage_test_for(settings.unit, holdings.many_relevant or any_relevant, settings.coverage_test)
    return run_tests(samples._replace(restricted=None, won_and_lost=None), settings.test, coverage_test)


def _mean_tests_at(sample: Differences, places: Ints) -> Tests:
    """Test the mean of some assignments; the others have no direction."""
    n_assignments = sample.positive.shape[1]
    pvalue, direction = np.ones(n_assignments), np.zeros(n_assignments, dtype=np.int64)
    found = mean_tests(Differences(sample.sizes, sample.positive[:, places], sample.negative[:, places]))
    pvalue[places], direction[places] = found.pvalue, found.direction
    return Tests(pvalue, direction)


def _numbers(holdings: Holdings, relevant: Bools) -> _Numbers:
    """Compute the changes of each query under each assignment; see `labels_of`."""
    n_items = len(holdings.atom_query) + len(holdings)
    size = max(1, LARGEST_BLOCK // max(n_items, 1))
    blocks = [_numbers_of_block(holdings, relevant[start : start + size]) for start in range(0, len(relevant), size)]
    return _Numbers(*map(np.concatenate, zip(*blocks, strict=True)))


def _numbers_of_block(holdings: Holdings, relevant: Bools) -> _Numbers:
    n, n_queries = len(relevant), holdings.n_queries
    assignment, document = np.nonzero(relevant)
    group = np.concatenate(
        [
            (np.arange(n)[:, None] * n_queries + holdings.atom_query).ravel(),
            assignment * n_queries + holdings.query[document],
        ]
    )
    ranks = np.concatenate([np.tile(holdings.atom_ranks, n), holdings.ranks[:, document]], axis=1)
    counted = np.bincount(group, minlength=n * n_queries) > 0
    place = np.cumsum(counted) - 1
    if holdings.settings.unit == "query":
        item = np.arange(int(counted.sum()))
        lengths = [_first(place[group], rank, len(item)) for rank in ranks]
    else:
        item = place[group]
        lengths = [_documents(item, rank) for rank in ranks]
    pair = from_items(("A", "B"), ("",) * int(counted.sum()), item, (lengths[0], lengths[1]), holdings.horizon)
    return _changes(pair, counted.reshape(n, n_queries))


def _changes(pair: PairedQueries, counted: Bools) -> _Numbers:
    def spread(values: Floats, where: Bools) -> Floats:
        everywhere = np.zeros(counted.shape)
        everywhere[where] = values
        return everywhere

    shared = np.zeros(counted.shape, dtype=bool)
    shared[counted] = pair.shared
    restricted = pair.restricted
    assert restricted is not None  # holes are looked at within a cutoff
    return _Numbers(
        coverage=spread(differences(pair.found_baseline, pair.found_contender), counted),
        ranking=spread(differences(pair.length_baseline[pair.shared], pair.length_contender[pair.shared]), shared),
        restricted=spread(differences(restricted.baseline, restricted.contender), counted),
        won_and_lost=spread(differences(-restricted.won, restricted.lost), counted),
        counted=counted,
        shared=shared,
    )


def _samples(numbers: _Numbers) -> PairSamples:
    return PairSamples(
        coverage=_tallied(numbers.coverage, numbers.counted),
        ranking=_tallied(numbers.ranking, numbers.shared),
        restricted=_tallied(numbers.restricted, numbers.counted),
        won_and_lost=_tallied(numbers.won_and_lost, numbers.counted),
        higher_is_better=False,
    )


def _tallied(changes: Floats, counted: Bools) -> Differences:
    """Count the differences of each assignment, without the queries that do not count, whose change is 0."""
    sample = tally_rows(changes)
    sample.positive[0] -= (~counted).sum(axis=1)
    return sample


def _corrected(pvalue: Floats, others: Floats, correction: str) -> Floats:
    if not len(others):
        return pvalue
    return np.array([adjust([own, *others], correction)[0] for own in pvalue.tolist()])


def _documents(item: Ints, rank: Ints) -> Floats:
    """Search length of each document: its rank less the relevant documents above it; NaN where it is not found."""
    found = np.flatnonzero(rank > 0)
    order = found[_in_order(item[found], rank[found])]
    at = np.arange(len(order))
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = item[order[1:]] != item[order[:-1]]
    above = at - np.maximum.accumulate(np.where(starts, at, 0))
    lengths = np.full(len(rank), np.nan)
    lengths[order] = rank[order] - above
    return lengths


def _first(query: Ints, rank: Ints, n_queries: int) -> Floats:
    """Rank of the first relevant document of each query; NaN where there is none."""
    found = np.flatnonzero(rank > 0)
    order = found[_in_order(query[found], rank[found])][::-1]
    lengths = np.full(n_queries, np.nan)
    lengths[query[order]] = rank[order]  # the last assignment to a place is that of the smallest rank
    return lengths


def _in_order(item: Ints, rank: Ints) -> Ints:
    return np.argsort(item * (int(rank.max(initial=0)) + 1) + rank, kind="stable")
