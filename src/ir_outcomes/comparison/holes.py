"""`holes`: how much a verdict depends on unjudged documents: a bound, a small set that changes the direction, what to judge.

Both facets are computed in full for each assignment of relevance, many assignments at once, on arrays of ranks: a new relevant
document is an item of its own, it is one irrelevant document less above those that follow it, and it makes a query answerable
that had no relevant document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ir_outcomes.comparison.outcomes import CoverageTest, PairedQueries, Settings, contenders_of, from_items, horizon_of
from ir_outcomes.comparison.verdict import DIRECTIONS, LABELS, PairTests, judge, run_tests, samples_of, stacked
from ir_outcomes.errors import ParameterError, some, warn
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.evaluation import Evaluation, unjudged_share
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.ranking import RankedDocuments
from ir_outcomes.formatting import plural, with_progress
from ir_outcomes.reading.columns import Ids
from ir_outcomes.results import Immutable, Result, cells_of, versions
from ir_outcomes.statistics import adjust
from ir_outcomes.types import Bools, Correction, Floats, Ints, RankingTest, check_choice, check_one_order, check_positive

LARGEST_BLOCK = 1 << 20  # items that are worked on at a time
NO_PVALUES: Floats = np.empty(0)


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
    others: tuple[Floats, Floats] = (NO_PVALUES, NO_PVALUES)  # raw p-values of the other pairs of the family, which stay

    def __len__(self) -> int:
        return len(self.query)


def holdings_of(
    runs: tuple[SearchLengths, SearchLengths],
    unjudged: tuple[RankedDocuments, RankedDocuments],
    settings: Settings,
) -> Holdings:
    """Set the relevant and the unjudged documents of two runs side by side."""
    queries = [np.repeat(np.arange(len(kept.offsets) - 1), np.diff(kept.offsets)) for kept in unjudged]
    docids = np.concatenate([kept.docids for kept in unjudged])
    returned = np.empty(len(docids), dtype=[("query", np.int64), ("docid", docids.dtype)])
    returned["query"], returned["docid"] = np.concatenate(queries), docids
    documents, place = np.unique(returned, return_inverse=True)
    ranks = np.zeros((2, len(documents)), dtype=np.int64)
    ranks[np.repeat([0, 1], list(map(len, queries))), place] = np.concatenate([kept.rank for kept in unjudged])
    return Holdings(
        n_queries=len(runs[0].query_ids),
        horizon=horizon_of(*runs),
        atom_query=runs[0].query,
        atom_ranks=np.stack([runs[0].rank, runs[1].rank]),
        query=documents["query"],
        ranks=ranks,
        docids=documents["docid"],
        settings=settings,
        clusters=runs[0].clusters,
    )


def labels_of(holdings: Holdings, relevant: Bools) -> Ints:
    """Return the label, an index into `LABELS`, under each of (n_assignments, n_documents) assignments of relevance."""
    settings = holdings.settings
    tests = _tests(holdings, relevant, labels_only=True)
    corrected = (
        _corrected(tests.coverage.pvalue, holdings.others[0], settings.correction),
        _corrected(tests.ranking.pvalue, holdings.others[1], settings.correction),
    )
    return judge(tests, alpha=settings.alpha, corrected=corrected).verdicts.label


def directions_of(holdings: Holdings, relevant: Bools) -> Ints:
    """Return the direction, 1, -1 or 0, under each of (n_assignments, n_documents) assignments of relevance."""
    directions: Ints = DIRECTIONS[labels_of(holdings, relevant)]
    return directions


def raw_pvalues(holdings: Holdings) -> tuple[float, float]:
    """Return the p-values of the deciding tests of coverage and ranking, with unjudged documents as not relevant."""
    tests = _tests(holdings, np.zeros((1, len(holdings)), dtype=bool), labels_only=False)
    return float(tests.coverage.pvalue[0]), float(tests.ranking.pvalue[0])


def effects_of(holdings: Holdings) -> tuple[Floats, Floats, Floats]:
    """Return how each unjudged document by itself would change its query: coverage, search length, restricted search length."""
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
        clusters=None,
    )
    before, after = (_changes(each, np.full((1, len(holdings)), relevant)) for relevant in (False, True))
    coverage, ranking, restricted = after - before
    return coverage, ranking, restricted


def _tests(holdings: Holdings, relevant: Bools, *, labels_only: bool) -> PairTests:
    """Run the tests under each assignment, for so many at a time as fit into memory."""
    settings = holdings.settings
    # One relevant document more makes it possible that a query has several.
    shares = settings.unit == "document" and bool(relevant.any())
    coverage_test: CoverageTest = "signflip" if shares else settings.coverage_test
    size = max(1, LARGEST_BLOCK // max(len(holdings.atom_query) + len(holdings), 1))
    tests = []
    for start in range(0, len(relevant), size):
        pair, counted = _paired(holdings, relevant[start : start + size])
        own_queries = np.repeat(np.eye(len(counted)), holdings.n_queries, axis=0)[counted.ravel()]
        samples = samples_of(pair, own_queries)
        tests.append(run_tests(samples, settings.test, coverage_test, settings.levels, labels_only=labels_only))
    return stacked(tests)


def _paired(holdings: Holdings, relevant: Bools) -> tuple[PairedQueries, Bools]:
    """Return the answerable queries of all assignments, one after the other, and which are, (n_assignments, n_queries)."""
    n, n_queries = len(relevant), holdings.n_queries
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


def _changes(holdings: Holdings, relevant: Bools) -> Floats:
    """Return the changes of coverage, search length and restricted search length, (3, n_queries), under one assignment."""
    pair, counted = _paired(holdings, relevant)
    restricted = pair.restricted
    if restricted is None:
        raise ParameterError("holes are looked at within a cutoff: give one")
    ranking = np.where(pair.shared, pair.length_contender - pair.length_baseline, 0.0)
    changes = np.zeros((3, holdings.n_queries))
    changes[:, counted[0]] = pair.found_contender - pair.found_baseline, ranking, restricted.contender - restricted.baseline
    return changes


def _corrected(pvalue: Floats, others: Floats, correction: str) -> Floats:
    """Return the p-value under each assignment, corrected together with those of the other pairs."""
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


BoundWord = Literal["stands", "could weaken", "could reverse", "could decide"]


class Bound(NamedTuple):
    """The labels under the three families of assignments.

    Attributes
    ----------
    word : {"stands", "could weaken", "could reverse", "could decide"}
        What they do to the direction of the label: nothing, one removes it, one gives the opposite one, or there was none and
        one gives one.
    baseline, contender, both : str
        Label if all unjudged documents that favour the baseline were relevant, all that favour the contender, all that both
        runs returned.
    """

    word: BoundWord
    baseline: str
    contender: str
    both: str


class Tip(NamedTuple):
    """Places of some unjudged documents, those with the largest effect first, and the label if they are relevant."""

    documents: Ints
    label: int


def bound_of(holdings: Holdings, own: int) -> Bound:
    """Return the labels under the three families of assignments, where `own` is the label without them."""
    baseline, contender = holdings.ranks
    in_both = (baseline > 0) & (contender > 0)
    families = np.stack([_is_before(baseline, contender), _is_before(contender, baseline), in_both])
    labels = labels_of(holdings, families)
    before, after = DIRECTIONS[own], DIRECTIONS[labels]
    word: BoundWord = "stands"
    if np.any(after != before):
        word = "could decide" if before == 0 else "could reverse" if np.any(after == -before) else "could weaken"
    return Bound(word, *(LABELS[label] for label in labels.tolist()))


def _is_before(own: Ints, opposite: Ints) -> Bools:
    """Return which documents only the one run returned, or ranked higher than the other."""
    before: Bools = (own > 0) & ((opposite == 0) | (own < opposite))
    return before


def tip_of(holdings: Holdings, own: int) -> Tip | None:
    """Find at most five unjudged documents whose relevance changes the direction; None where no such set was found."""
    orders = _orders(holdings)
    prefixes = [order[:n] for n in range(1, LONGEST_PREFIX + 1) for order in orders if len(order) >= n]
    found = _first_that_changes(holdings, prefixes, own)
    while found is not None and len(found.documents) > 1:
        # The last documents have the smallest effects, so they are left out first.
        rests = [np.delete(found.documents, place) for place in range(len(found.documents))[::-1]]
        smaller = _first_that_changes(holdings, rests, own)
        if smaller is None:
            break
        found = smaller
    return found if found is not None and len(found.documents) <= MOST_TIPPING else None


def _first_that_changes(holdings: Holdings, sets: Sequence[Ints], own: int) -> Tip | None:
    relevant = np.zeros((len(sets), len(holdings)), dtype=bool)
    for row, documents in enumerate(sets):
        relevant[row, documents] = True
    labels = labels_of(holdings, relevant) if sets else np.empty(0, dtype=np.int64)
    changing = np.flatnonzero(DIRECTIONS[labels] != DIRECTIONS[own])
    return Tip(sets[changing[0]], int(labels[changing[0]])) if len(changing) else None


def priority(holdings: Holdings) -> Ints:
    """Put the unjudged documents in the order in which they should be judged: by the largest change that each would make."""
    gains = np.zeros(len(holdings))
    for effect in effects_of(holdings):
        spread = float(np.sqrt(np.mean(effect**2))) if len(effect) else 0.0
        gains = np.maximum(gains, np.abs(effect) / spread if spread else 0.0)
    return np.argsort(-gains, kind="stable")


def _orders(holdings: Holdings) -> list[Ints]:
    """Order the documents by each effect in each direction; further documents of the same query count for less."""
    orders = []
    for effect in effects_of(holdings):
        for gain in (effect, -effect):
            order = np.lexsort((-gain, holdings.query))
            starts = np.searchsorted(holdings.query[order], np.arange(holdings.n_queries))
            turn = np.arange(len(order)) - starts[holdings.query[order]]
            # Under unit="query" only the first relevant document of a query counts.
            weight = (turn == 0) if holdings.settings.unit == "query" else 1 / (1 + turn)
            discounted = gain[order] * weight
            kept = order[np.argsort(-discounted, kind="stable")]
            orders.append(kept[: int(np.sum(discounted > 0))])
    return orders


CANDIDATES = 1000  # documents to judge that a result keeps for each contender
USUAL_DEPTH = 10
MOST_TIPPING = 5  # documents of a tipping point; larger sets warn of nothing
LONGEST_PREFIX = 10  # documents that are tried together before those that are not needed are left out


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
    """At most five unjudged documents whose relevance changes the direction of the label.

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
        The labels under three families of assignments, and whether the direction of the comparison's own label stands.
    tipping : Tipping or None
        At most five documents that change the direction; None where no such set was found.
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
    settings : Settings
        Of the comparisons.
    notes, versions
        See `ir_outcomes.Comparison`.
    """

    baseline: str
    pairs: tuple[PairHoles, ...]
    settings: Settings
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    def __getitem__(self, contender: str) -> PairHoles:
        for pair in self.pairs:
            if pair.contender == contender:
                return pair
        raise KeyError(f"{contender}; the contenders are {some([pair.contender for pair in self.pairs], 10)}")

    def to_judge(self, n: int) -> tuple[UnjudgedDocument, ...]:
        """Choose the documents to judge first: those whose relevance would change most in their query.

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
    correction: Correction = "holm",
    progress: bool = False,
) -> Holes:
    """Find how much a verdict depends on unjudged documents, which count as not relevant.

    Both facets are computed in full for each assignment of relevance: a new relevant document changes the number of relevant
    documents and the irrelevant ones above the others. The verdict is never replaced by a "corrected" one, which is right less
    often on runs that were judged twice.

    Parameters
    ----------
    evaluation : Evaluation
        Best from ``evaluate(..., unjudged=True)``: otherwise the runs are read again, with a warning.
    baseline : str
        Name of run A.
    contenders : str or sequence of str, optional
        Names of the other runs; by default all.
    cutoff : int, optional
        Ranks beyond it do not count; by default the evaluation's, and at most that of `evaluate`.
    alpha, test, correction
        See `ir_outcomes.compare`. With several contenders the p-values of the others stay as they are.
    progress : bool
        Show a progress bar over the contenders on stderr.

    Returns
    -------
    Holes

    Raises
    ------
    ParameterError
        If the unjudged documents were removed, or not kept and the runs cannot be read again, or a setting is not possible.

    References
    ----------
    Froebe et al. 2023, "Bootstrapped nDCG estimation in the presence of unjudged documents", for bounds.

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
    names = contenders_of(evaluation, baseline, contenders)
    evaluation = _with_unjudged(evaluation)
    if cutoff is not None:
        evaluation = evaluation.with_cutoff(cutoff)
    rules = {"alpha": alpha, "test": test, "correction": correction}
    settings = Settings.of(evaluation, **rules, family=len(names))
    unjudged = _kept(evaluation)
    runs = evaluation.at()
    judged = {run.name: 1 - len(kept.rank) / max(int(run.retrieved.sum()), 1) for run, kept in zip(runs, unjudged, strict=True)}
    found = []
    pairs = zip(names, _pairs(evaluation, baseline, names, settings), strict=True)
    for name, pair in with_progress(pairs, "pair", len(names), shown=progress):
        own = own_label(pair)
        tip = tip_of(pair, own)
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
                candidates=_named_documents(pair, priority(pair)[:CANDIDATES], evaluation.query_ids),
            )
        )
    return Holes(
        baseline=baseline,
        pairs=tuple(found),
        settings=settings,
        notes=(_ABOUT_STANDS,),
        versions=versions(),
    )


def tipping_notes(evaluation: Evaluation, settings: Settings) -> list[tuple[str, ...]]:
    """Return for each contender a note that few unjudged documents would change the direction, or none."""
    baseline, *names = evaluation.names
    kept, unknown = evaluation.unjudged, settings.judged_only or settings.correction == "tukey"
    if not kept or unknown or evaluation.cutoff > min(documents.depth for documents in kept):
        return [()] * len(names)
    notes: list[tuple[str, ...]] = []
    for pair in _pairs(evaluation, baseline, names, settings):
        tip = tip_of(pair, own_label(pair))
        if tip is not None:
            n = len(tip.documents)
            few = f"at most {plural('unjudged document', n)} of {len(pair)}, if relevant, {'makes' if n == 1 else 'make'} it"
            notes.append((f'The label depends on few judgments: {few} "{LABELS[tip.label]}"; ir_outcomes.holes lists them.',))
        else:
            notes.append(())
    return notes


def _pairs(evaluation: Evaluation, baseline: str, names: Sequence[str], settings: Settings) -> list[Holdings]:
    """Set the baseline and each contender side by side, with the p-values of the other contenders."""
    runs, unjudged = evaluation.at(), _kept(evaluation)
    place = evaluation.position(baseline)
    pairs = [
        holdings_of((runs[place], runs[own]), (unjudged[place], unjudged[own]), settings)
        for own in map(evaluation.position, names)
    ]
    coverage, ranking = np.array([raw_pvalues(pair) for pair in pairs]).T
    return [replace(pair, others=(np.delete(coverage, row), np.delete(ranking, row))) for row, pair in enumerate(pairs)]


def own_label(pair: Holdings) -> int:
    """Return the label of a pair, with unjudged documents as not relevant."""
    return int(labels_of(pair, np.zeros((1, len(pair)), dtype=bool))[0])


def _with_unjudged(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation with its unjudged documents, for which the runs are read again where they were not kept."""
    check_one_order(evaluation.ties)
    if evaluation.judged_only:
        raise ParameterError("judged_only=True removed the unjudged documents; evaluate the runs without it")
    if evaluation.unjudged:
        return evaluation
    remedy = "pass unjudged=True to evaluate"
    if evaluation.qrels is None or not evaluation.sources or any(source is None for source in evaluation.sources):
        raise ParameterError(f"the unjudged documents were not kept, and some runs cannot be read again; {remedy}")
    warn(f"the unjudged documents were not kept, so all runs are read again; {remedy}")
    clusters = evaluation.clusters
    return evaluate(
        evaluation.qrels, evaluation.sources, names=evaluation.names, unjudged=True, cutoff=evaluation.cutoff,
        rel=evaluation.rel, unit=evaluation.unit, ties=evaluation.ties,
        clusters=None if clusters is None else dict(zip(evaluation.query_ids, map(str, clusters.tolist()), strict=True)),
    )  # fmt: skip


def _kept(evaluation: Evaluation) -> tuple[RankedDocuments, ...]:
    """Return the unjudged documents within the cutoff."""
    cutoff, depth = evaluation.cutoff, min(kept.depth for kept in evaluation.unjudged)
    if cutoff > depth:
        raise ParameterError(f"cutoff={cutoff}: unjudged documents were kept to rank {depth}; pass cutoff={cutoff} to evaluate")
    return tuple(kept.first(cutoff) for kept in evaluation.unjudged)


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


_ABOUT_STANDS = (
    '"stands" means that three families of assignments leave the direction as it is: all unjudged documents relevant that '
    "favour the baseline, all that favour the contender, all that both runs return. Other assignments can still change it, but "
    "none is known to have reversed it. What no run returned, and what judges would revise, cannot be seen here."
)
