"""`holes`: how much a verdict depends on unjudged documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ir_outcomes.comparison.outcomes import PairedQueries, Settings, contenders_of, from_items, horizon_of
from ir_outcomes.comparison.verdict import DIRECTIONS, LABELS, PairSamples, PairTests, coverage_test_for, judge, run_tests
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation, RankedDocuments, unjudged_share
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.formatting import plural, with_progress
from ir_outcomes.reading.columns import Ids
from ir_outcomes.results import Immutable, Result, cells_of, versions
from ir_outcomes.statistics import Differences, Tests, adjust, differences, mean_tests, tally_rows, wilcoxon_tests
from ir_outcomes.types import (
    Bools,
    Correction,
    CoverageTest,
    Floats,
    Ints,
    RankingTest,
    check_choice,
    check_count,
    check_one_order,
    check_positive,
)

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
    guarded = np.flatnonzero(verdicts.do_no_harm)  # all queries confirm and guard no other label, and these tests are slow
    if not len(guarded):
        return verdicts.label
    everywhere, won_and_lost = samples.all_queries, samples.won_and_lost
    assert everywhere is not None  # holes are looked at within a cutoff
    assert won_and_lost is not None
    mean, wilcoxon = _tests_at(mean_tests, everywhere, guarded), _tests_at(wilcoxon_tests, everywhere, guarded)
    guards = (mean, _tests_at(mean_tests, won_and_lost, guarded))
    return judge(tests._replace(confirming=(mean, wilcoxon), guards=guards), alpha=alpha, corrected=corrected).verdicts.label


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
    """Run the tests that decide and veto, but not those that confirm and guard."""
    settings = holdings.settings
    # One relevant document more makes it possible that a query has several.
    coverage_test = coverage_test_for(settings.unit, holdings.many_relevant or any_relevant, settings.coverage_test)
    return run_tests(samples._replace(all_queries=None, won_and_lost=None), settings.test, coverage_test)


def _tests_at(tests: Callable[[Differences], Tests], sample: Differences, places: Ints) -> Tests:
    """Test some of the assignments; the others have no direction."""
    n_assignments = sample.positive.shape[1]
    pvalue, direction = np.ones(n_assignments), np.zeros(n_assignments, dtype=np.int64)
    found = tests(sample.at(places))
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
        all_queries=_tallied(numbers.restricted, numbers.counted),
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


BoundLabel = Literal["stands", "could weaken", "could reverse"]

FINEST_PARTS = 24  # larger sets of documents are reduced part by part


class Bound(NamedTuple):
    """The labels under the three families of assignments.

    Attributes
    ----------
    word : {"stands", "could weaken", "could reverse"}
        Whether one of them changes the label, or gives one of the opposite direction.
    baseline, contender, both : str
        Label if all unjudged documents that favour the baseline were relevant, all that favour the contender, all that both
        runs returned.
    """

    word: BoundLabel
    baseline: str
    contender: str
    both: str


@dataclass(frozen=True, eq=False)
class Tip:
    """Some unjudged documents whose relevance changes the label.

    Attributes
    ----------
    documents : (n,) int64 array
        Their places in the holdings, those with the largest effect first.
    label : int
        The label if they are relevant.
    """

    documents: Ints
    label: int


def bound_of(holdings: Holdings, own: int) -> Bound:
    """Find the labels under the three families of assignments.

    Parameters
    ----------
    holdings : Holdings
        A pair of runs.
    own : int
        Its label, with unjudged documents as not relevant.
    """
    baseline, contender = holdings.ranks
    in_both = (baseline > 0) & (contender > 0)
    families = np.stack([_is_before(baseline, contender), _is_before(contender, baseline), in_both])
    labels = labels_of(holdings, families)
    word: BoundLabel = "stands"
    if np.any(labels != own):
        word = "could reverse" if np.any(DIRECTIONS[labels] * DIRECTIONS[own] < 0) else "could weaken"
    return Bound(word, *(LABELS[label] for label in labels.tolist()))


def _is_before(own: Ints, opposite: Ints) -> Bools:
    """Tell which documents are returned only by a run, or ranked higher by it."""
    before: Bools = (own > 0) & ((opposite == 0) | (own < opposite))
    return before


def tip_of(holdings: Holdings, own: int) -> Tip | None:
    """Find a small set of unjudged documents whose relevance changes the label; None where no set was found.

    Documents are taken in the order of what each would change in its query, for either run and for each facet, until the label
    changes; then those are left out again that are not needed. The set is small, not certainly the smallest.
    """
    promising = [tip.documents for tip in _changing(_sequences(holdings), holdings, own)]
    if not promising:
        return None
    low, high, longest = 0, 1, max(map(len, promising))
    while not (changing := _changing([sequence[:high] for sequence in promising], holdings, own)):
        if high >= longest:
            return None
        low, high = high, min(2 * high, longest)
    while high - low > 1:  # the smallest size at which a sequence changes the label; half of it does not
        middle = (low + high) // 2
        shorter = _changing([tip.documents[:middle] for tip in changing], holdings, own)
        low, high, changing = (low, middle, shorter) if shorter else (middle, high, changing)
    return _reduced(holdings, changing[0], own)


def priority(holdings: Holdings, chance: Floats, tip: Tip | None) -> Ints:
    """Put the unjudged documents in the order in which they should be judged.

    Those of the tipping point come first; then by what a document would change in its query, in units of the spread over all
    documents, times the chance that it is relevant.
    """
    gains = np.zeros(len(holdings))
    for effect in effects_of(holdings):
        spread = float(np.sqrt(np.mean(effect**2))) if len(effect) else 0.0
        gains = np.maximum(gains, np.abs(effect) / spread if spread else 0.0)
    first = np.zeros(len(holdings), dtype=bool)
    if tip is not None:
        first[tip.documents] = True
    return np.lexsort((-gains * chance, ~first))


def _sequences(holdings: Holdings) -> list[Ints]:
    """Order the documents by each effect in each direction; further documents of the same query count for less."""
    sequences = []
    for effect in effects_of(holdings):
        for sign in (1.0, -1.0):
            gain = sign * effect
            order = np.lexsort((-gain, holdings.query))
            starts = np.searchsorted(holdings.query[order], np.arange(holdings.n_queries))
            turn = np.arange(len(order)) - starts[holdings.query[order]]
            # Under unit="query" only the first relevant document of a query counts.
            weight = (turn == 0) if holdings.settings.unit == "query" else 1 / (1 + turn)
            discounted = gain[order] * weight
            kept = order[np.argsort(-discounted, kind="stable")]
            sequences.append(kept[: int(np.sum(discounted > 0))])
    return [sequence for sequence in sequences if len(sequence)]


def _labels(holdings: Holdings, sets: Sequence[Ints]) -> list[int]:
    relevant = np.zeros((len(sets), len(holdings)), dtype=bool)
    for row, documents in enumerate(sets):
        relevant[row, documents] = True
    return labels_of(holdings, relevant).tolist() if sets else []


def _changing(sets: Sequence[Ints], holdings: Holdings, own: int) -> list[Tip]:
    """Keep the sets of documents that change the label."""
    return [Tip(documents, label) for documents, label in zip(sets, _labels(holdings, sets), strict=True) if label != own]


def _reduced(holdings: Holdings, tip: Tip, own: int) -> Tip:
    """Leave out documents until none can be left out without losing the change; of large sets only small parts."""
    while len(tip.documents) > 1:
        parts = np.array_split(tip.documents, min(len(tip.documents), FINEST_PARTS))
        rests = [tip.documents[~np.isin(tip.documents, part)] for part in parts]
        spare = [part for part, label in zip(parts, _labels(holdings, rests), strict=True) if label != own]
        if not spare:
            break
        for part in reversed(spare):  # the last ones have the smallest effects
            rest = tip.documents[~np.isin(tip.documents, part)]
            smaller = _changing([rest], holdings, own)
            tip = smaller[0] if smaller else tip
    return tip


CANDIDATES = 1000  # documents to judge that a result keeps for each contender
FLAGGED_FROM = 0.1  # share of the draws that change the label
USUAL_DEPTH = 10
NEAR_DOCUMENTS, NEAR_SHARE = 5, 0.01  # a tipping point of so many documents, or of this share, is near


class UnjudgedDocument(NamedTuple):
    """A document that nobody judged, within the cutoff of at least one of two runs.

    Attributes
    ----------
    query_id, docid : str
        The pair to judge.
    baseline, contender : int or None
        Its ranks in the two runs; None where it is not within the cutoff.
    """

    query_id: str
    docid: str
    baseline: int | None
    contender: int | None


@dataclass(frozen=True)
class Tipping(Immutable):
    """A small set of unjudged documents whose relevance changes the label.

    Attributes
    ----------
    n : int
        At most so many are enough: the set is small, not certainly the smallest.
    share : float
        Of all unjudged documents within the cutoff of the two runs.
    label : str
        What the label becomes.
    documents : tuple of UnjudgedDocument
        The set, those with the largest effect first.
    """

    n: int
    share: float
    label: str
    documents: tuple[UnjudgedDocument, ...]


@dataclass(frozen=True)
class PairHoles(Immutable):
    """What depends on the unjudged documents of the baseline and one contender.

    Attributes
    ----------
    contender : str
        The run.
    label : str
        The label of the comparison, where unjudged documents count as not relevant.
    judged_at_10, judged : pair of float or None
        Judged share of the first 10 documents, and of those within the cutoff: baseline, contender. The first is None where
        the runs were evaluated with a cutoff below 10.
    n_unjudged : int
        Unjudged documents within the cutoff of either run.
    bound : Bound
        The labels under three families of assignments, and whether the comparison's own label stands.
    tipping : Tipping or None
        A small set of documents that changes the label; None where no set was found.
    changed : float
        Share of the draws in which the label is another one.
    flagged : bool
        Whether that is at least 10 %.
    drawn : mapping of str to float
        Share of the draws with each label.
    candidates : tuple of UnjudgedDocument
        Up to 1000 documents, the one to judge first at the front.
    """

    contender: str
    label: str
    judged_at_10: tuple[float, float] | None
    judged: tuple[float, float]
    n_unjudged: int
    bound: Bound
    tipping: Tipping | None
    changed: float
    flagged: bool
    drawn: Mapping[str, float]
    candidates: tuple[UnjudgedDocument, ...]


@dataclass(frozen=True, repr=False)
class Holes(Result):
    """How much the verdicts depend on unjudged documents.

    Attributes
    ----------
    baseline : str
        The run that the others are compared with.
    pairs : tuple of PairHoles
        One for each contender.
    prior : tuple of float
        Probability that an unjudged document is relevant, by its rank from 1 to the cutoff; where two runs return it, by the
        smaller rank.
    prior_given : bool
        Whether the caller gave it.
    draws, seed : int
        Of the resampling.
    settings : Settings
        Of the comparisons.
    notes, versions
        See `ir_outcomes.Comparison`.
    """

    baseline: str
    pairs: tuple[PairHoles, ...]
    prior: tuple[float, ...]
    prior_given: bool
    draws: int
    seed: int
    settings: Settings
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    def __getitem__(self, contender: str) -> PairHoles:
        for pair in self.pairs:
            if pair.contender == contender:
                return pair
        raise KeyError(f"{contender}; the contenders are {some([pair.contender for pair in self.pairs], 10)}")

    def to_judge(self, n: int) -> tuple[UnjudgedDocument, ...]:
        """Choose the documents to judge first: those of the tipping points, then those that are likely to change most.

        Parameters
        ----------
        n : int
            At most so many; of several contenders in turn.
        """
        check_positive("n", n)
        in_turn = chain.from_iterable(zip_longest(*(pair.candidates for pair in self.pairs)))
        chosen: dict[tuple[str, str], UnjudgedDocument] = {}
        for document in in_turn:
            if document is not None:
                chosen.setdefault((document.query_id, document.docid), document)
        return tuple(chosen.values())[:n]

    def to_tsv(self, n: int) -> str:
        """Return `to_judge` as lines of query id, tab and document id, for whoever judges."""
        return "".join(f"{document.query_id}\t{document.docid}\n" for document in self.to_judge(n))

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each contender."""
        return [_row(self.baseline, pair) for pair in self.pairs]

    def _summary(self) -> str:
        words = ", ".join(f"{pair.contender!r} {pair.bound.word}" for pair in self.pairs)
        return f"{words}, against {self.baseline!r}"


def _row(baseline: str, pair: PairHoles) -> dict[str, Any]:
    at_10 = pair.judged_at_10 or (None, None)
    return {
        "baseline": baseline,
        **cells_of(pair, "contender", "verdict=label"),
        "judged_at_10_baseline": at_10[0],
        "judged_at_10_contender": at_10[1],
        "judged_baseline": pair.judged[0],
        "judged_contender": pair.judged[1],
        **cells_of(
            pair, "n_unjudged", "bound=bound.word", "label_if_baseline=bound.baseline", "label_if_contender=bound.contender",
            "label_if_both=bound.both", "tipping_n=tipping.n", "tipping_share=tipping.share", "tipping_label=tipping.label",
            "changed", "flagged",
        ),
    }  # fmt: skip


def holes(
    evaluation: Evaluation,
    baseline: str,
    contenders: str | Sequence[str] | None = None,
    *,
    cutoff: int | None = None,
    alpha: float = 0.05,
    test: RankingTest = "t",
    coverage_test: CoverageTest = "exact",
    correction: Correction = "holm",
    prior: float | Sequence[float] | None = None,
    draws: int = 20,
    seed: int = 0,
    progress: bool = False,
) -> Holes:
    """Find how much a verdict depends on unjudged documents, which count as not relevant.

    Both facets are computed in full for each assignment of relevance: a new relevant document changes the number of relevant
    documents and the irrelevant ones above the others. The verdict is never replaced by a "corrected" one, which is worse: on
    runs that were judged twice, the majority of such draws was right about fewer pairs than the verdict itself.

    Parameters
    ----------
    evaluation : Evaluation
        From ``evaluate(..., unjudged=True)``.
    baseline : str
        Name of run A.
    contenders : str or sequence of str, optional
        Names of the other runs; by default all.
    cutoff : int, optional
        Ranks beyond it do not count; by default the evaluation's, and at most that of `evaluate`.
    alpha, test, coverage_test, correction
        See `ir_outcomes.compare`. With several contenders the p-values of the others stay as they are.
    prior : float or sequence of float, optional
        Probability that an unjudged document is relevant: a number, or one for each rank. By default the share of relevant
        documents among the judged ones at that rank in all runs of the evaluation, which is too high: pools are made of the
        documents that several systems believe in.
    draws : int
        How often relevance is drawn; 0 for none.
    seed : int
        Of the draws.
    progress : bool
        Show a progress bar over the contenders on stderr.

    Returns
    -------
    Holes

    Raises
    ------
    ParameterError
        If the evaluation did not keep the unjudged documents, removed them, or a setting is not possible.

    References
    ----------
    Froebe et al. 2023, "Bootstrapped nDCG estimation in the presence of unjudged documents", for bounds and resampling.

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1, "bad": 0} for n in range(40)}
    >>> a = {q: {"gold": 1.0, "x": 0.5} for q in qrels}
    >>> b = {q: {"bad": 2.0, "gold": 1.0} for q in qrels}
    >>> found = holes(iro.evaluate(qrels, {"a": a, "b": b}, unjudged=True), "a", "b")
    >>> found["b"].label, found["b"].bound.word, found["b"].n_unjudged
    ('worse without gain', 'stands', 40)
    """
    check_choice("correction", correction, get_args(Correction))
    check_count("draws", draws)
    check_count("seed", seed)
    names = contenders_of(evaluation, baseline, contenders)
    if cutoff is not None:
        evaluation = evaluation.with_cutoff(cutoff)
    rules = {"alpha": alpha, "test": test, "coverage_test": coverage_test, "correction": correction}
    settings = Settings.of(evaluation, **rules, family=len(names), seed=seed)
    unjudged = _kept(evaluation)
    runs = evaluation.at()
    chances = _prior(prior, evaluation.cutoff, runs, unjudged)
    rng = np.random.default_rng(seed)
    judged = {run.name: 1 - len(kept.rank) / max(int(run.retrieved.sum()), 1) for run, kept in zip(runs, unjudged, strict=True)}
    found = []
    pairs = zip(names, _pairs(evaluation, baseline, names, settings), strict=True)
    for name, pair in with_progress(pairs, "pair", len(names), shown=progress):
        own = own_label(pair)
        tip = tip_of(pair, own)
        chance = _chance(pair, chances)
        drawn = Counter(labels_of(pair, rng.random((draws, len(pair))) < chance).tolist()) if draws else Counter()
        changed = 1 - drawn[own] / draws if draws else 0.0
        first = priority(pair, chance, tip)[:CANDIDATES]
        tipping = None
        if tip is not None:
            n, documents = len(tip.documents), _named_documents(pair, tip.documents, evaluation.query_ids)
            tipping = Tipping(n, n / len(pair), LABELS[tip.label], documents)
        found.append(
            PairHoles(
                contender=name,
                label=LABELS[own],
                judged_at_10=judged_shares([evaluation[baseline], evaluation[name]], USUAL_DEPTH),
                judged=(judged[baseline], judged[name]),
                n_unjudged=len(pair),
                bound=bound_of(pair, own),
                tipping=tipping,
                changed=changed,
                flagged=changed >= FLAGGED_FROM,
                drawn={LABELS[label]: times / draws for label, times in sorted(drawn.items())},
                candidates=_named_documents(pair, first, evaluation.query_ids),
            )
        )
    return Holes(
        baseline=baseline,
        pairs=tuple(found),
        prior=tuple(chances.tolist()),
        prior_given=prior is not None,
        draws=draws,
        seed=seed,
        settings=settings,
        notes=tuple(_notes(prior is not None, draws)),
        versions=versions(),
    )


def tipping_notes(evaluation: Evaluation, settings: Settings) -> list[tuple[str, ...]]:
    """Say of each contender that few unjudged documents would change the label, for `ir_outcomes.compare`.

    Parameters
    ----------
    evaluation : Evaluation
        The baseline, then the contenders, with the cutoff of the comparison.
    settings : Settings
        Of the comparison.

    Returns
    -------
    list of tuple of str
        A note or none for each contender; none at all where the evaluation did not keep the unjudged documents.
    """
    baseline, *names = evaluation.names
    kept = evaluation.unjudged
    if kept is None or settings.judged_only or settings.correction == "tukey":
        return [()] * len(names)
    if evaluation.cutoff > min(documents.depth for documents in kept):
        return [()] * len(names)
    notes: list[tuple[str, ...]] = []
    for pair in _pairs(evaluation, baseline, names, settings):
        tip = tip_of(pair, own_label(pair))
        if tip is None or len(tip.documents) > max(NEAR_DOCUMENTS, NEAR_SHARE * len(pair)):
            notes.append(())
            continue
        n = len(tip.documents)
        note = (
            f"The label depends on few judgments: at most {plural('unjudged document', n)} of {len(pair)}, if relevant, "
            f'{"makes" if n == 1 else "make"} it "{LABELS[tip.label]}"; ir_outcomes.holes lists them.'
        )
        notes.append((note,))
    return notes


def _pairs(evaluation: Evaluation, baseline: str, names: Sequence[str], settings: Settings) -> list[Holdings]:
    """Set the baseline and each contender side by side, with the p-values of the other contenders."""
    runs, unjudged = evaluation.at(), _kept(evaluation)
    place = evaluation.position(baseline)
    pairs = [
        holdings_of((runs[place], runs[own]), (unjudged[place], unjudged[own]), settings, evaluation.many_relevant)
        for own in map(evaluation.position, names)
    ]
    coverage, ranking = np.array([raw_pvalues(pair) for pair in pairs]).T
    return [replace(pair, others=(np.delete(coverage, row), np.delete(ranking, row))) for row, pair in enumerate(pairs)]


def own_label(pair: Holdings) -> int:
    """Return the label of a pair, with unjudged documents as not relevant."""
    return int(labels_of(pair, np.zeros((1, len(pair)), dtype=bool))[0])


def _kept(evaluation: Evaluation) -> tuple[RankedDocuments, ...]:
    check_one_order(evaluation.ties)
    if evaluation.judged_only:
        raise ParameterError("judged_only=True removed the unjudged documents; evaluate the runs without it")
    if evaluation.unjudged is None:
        raise ParameterError("the evaluation did not keep the unjudged documents; pass unjudged=True to evaluate")
    cutoff, depth = evaluation.cutoff, min(kept.depth for kept in evaluation.unjudged)
    if cutoff > depth:
        raise ParameterError(f"cutoff={cutoff}: unjudged documents were kept to rank {depth}; pass cutoff={cutoff} to evaluate")
    return tuple(kept.first(cutoff) for kept in evaluation.unjudged)


def _prior(
    prior: float | Sequence[float] | None,
    cutoff: int,
    runs: Sequence[SearchLengths],
    unjudged: Sequence[RankedDocuments],
) -> Floats:
    """Return the probability of relevance at each rank."""
    if prior is None:
        return _share_of_judged(cutoff, runs, unjudged)
    try:
        given = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.array([np.nan])
    chances = np.full(cutoff, given) if given.ndim == 0 else given
    if chances.shape != (cutoff,) or not np.all((chances >= 0) & (chances <= 1)):
        raise ParameterError(f"prior={prior!r}: must be a probability, or one for each of the {cutoff} ranks")
    return chances


def _share_of_judged(cutoff: int, runs: Sequence[SearchLengths], unjudged: Sequence[RankedDocuments]) -> Floats:
    """Share of relevant documents among the judged ones at each rank, drawn towards the share of all ranks."""
    relevant, judged = np.zeros(cutoff), np.zeros(cutoff)
    for run, kept in zip(runs, unjudged, strict=True):
        relevant += np.bincount(run.rank[run.rank > 0], minlength=cutoff + 1)[1:]
        # A query of length n has documents at the ranks 1 to n.
        ends = np.bincount(run.retrieved, minlength=cutoff + 1)
        judged += np.cumsum(ends[::-1])[::-1][1:] - np.bincount(kept.rank, minlength=cutoff + 1)[1:]
    overall = relevant.sum() / max(judged.sum(), 1.0)
    shares: Floats = (relevant + overall) / (judged + 1)  # one document at the overall share: some ranks have few
    return shares


def _chance(pair: Holdings, chances: Floats) -> Floats:
    ranks = np.where(pair.ranks > 0, pair.ranks, len(chances) + 1).min(axis=0)
    probabilities: Floats = chances[ranks - 1]
    return probabilities


def judged_shares(runs: Sequence[SearchLengths], depth: int) -> tuple[float, float] | None:
    """Return the judged share of the first documents of baseline and contender; None where it is not known."""
    baseline, contender = (unjudged_share(run, depth) for run in runs)
    return None if baseline is None or contender is None else (1 - baseline, 1 - contender)


def _named_documents(pair: Holdings, places: Ints, query_ids: Sequence[str]) -> tuple[UnjudgedDocument, ...]:
    rows = zip(
        pair.query[places].tolist(), pair.docids[places].tolist(), *pair.ranks[:, places].tolist(), strict=True
    )  # fmt: skip
    return tuple(
        UnjudgedDocument(query_ids[query], docid.decode(), baseline or None, contender or None)
        for query, docid, baseline, contender in rows
    )


def _notes(prior_given: bool, draws: int) -> Iterator[str]:
    yield (
        '"stands" means that three families of assignments leave the label as it is: all unjudged documents relevant that '
        "favour the baseline, all that favour the contender, all that both runs return. Other assignments can still change it, "
        "but none is known to have reversed it."
    )
    if not draws:
        return
    source = (
        "the given one"
        if prior_given
        else "the share of relevant documents among the judged ones at that rank, which is too high; prior= takes a better one"
    )
    yield (
        f"In {plural('draw', draws)} each unjudged document was relevant with a probability: {source}. The draws are a "
        "warning, not a correction: the verdict itself is right more often than the majority of the draws."
    )
