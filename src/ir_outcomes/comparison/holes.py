"""`holes`: how much a verdict depends on unjudged documents: a bound, a small set that changes the direction, what to judge.

Both facets are computed in full for each assignment of relevance, many assignments at once, on
arrays of ranks: a new relevant document is an item of its own, it is one irrelevant document less
above those that follow it, and it makes a query answerable that had no relevant document.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, zip_longest
from typing import Any, Literal, NamedTuple

import numpy as np

from ir_outcomes.comparison.facets import PairTests, run_tests, samples_of
from ir_outcomes.comparison.outcomes import (
    CoverageTest,
    PairedQueries,
    Settings,
    from_items,
    horizon_of,
)
from ir_outcomes.comparison.verdict import (
    DIRECTIONS,
    LABELS,
    NO_FAMILY,
    FamilyPvalues,
    deciding_pvalues,
    judge,
    stacked,
)
from ir_outcomes.errors import ParameterError, some, warn
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.evaluation import (
    Evaluation,
    contenders_of,
    evaluation_of,
    notes_on_grades,
    unjudged_share,
)
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.ranking import RankedDocuments
from ir_outcomes.formatting import plural, with_progress
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.columns import Ids
from ir_outcomes.results import NUMBER, PERCENT, Column, Immutable, Result, attributes, rows_of
from ir_outcomes.statistics import adjust
from ir_outcomes.statistics.kernels import Kernel
from ir_outcomes.types import (
    Bools,
    Correction,
    Floats,
    Ints,
    RankingTest,
    check_one_order,
    check_positive,
)

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
        without, judged_relevant = np.zeros((2, 3, len(self)))
        for relevant, change in ((False, without), (True, judged_relevant)):
            pair, counted = _paired(each, np.full((1, len(self)), relevant))
            restricted: Any = pair.restricted  # never None, because an evaluation has a cutoff
            ranking = np.where(pair.shared, pair.length_contender - pair.length_baseline, 0.0)
            all_queries = restricted.contender - restricted.baseline
            change[:, counted[0]] = pair.found_contender - pair.found_baseline, ranking, all_queries
        return judged_relevant - without


def holdings_of(
    runs: tuple[SearchLengths, SearchLengths],
    unjudged: tuple[RankedDocuments, RankedDocuments],
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
    returned["query"], returned["docid"] = np.concatenate(queries), ids
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
    tests = _tests(holdings, relevant)
    raw = deciding_pvalues(tests)
    others = holdings.others
    all_queries = None
    if raw.all_queries is not None and others.all_queries is not None:
        all_queries = _corrected(raw.all_queries, others.all_queries, settings.correction)
    corrected = FamilyPvalues(
        coverage=_corrected(raw.coverage, others.coverage, settings.correction),
        ranking=_corrected(raw.ranking, others.ranking, settings.correction),
        all_queries=all_queries,
    )
    return judge(tests, alpha=settings.alpha, corrected=corrected).label


def _corrected(pvalues: Floats, others: Floats, correction: str) -> Floats:
    """Return each p-value corrected together with those of the other pairs."""
    return np.array([adjust([own, *others], correction)[0] for own in pvalues.tolist()])


def own_label(holdings: Holdings) -> int:
    """Return the label with unjudged documents as not relevant."""
    return int(labels_of(holdings, np.zeros((1, len(holdings)), dtype=bool))[0])


def _tests(holdings: Holdings, relevant: Bools) -> PairTests:
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
    order = found[
        np.argsort(item[found] * (int(rank.max(initial=0)) + 1) + rank[found], kind="stable")
    ]
    return order, np.diff(item[order], prepend=-1) > 0


BoundWord = Literal["stands", "could weaken", "could reverse", "could decide"]


class Bound(NamedTuple):
    """The labels under the three families of assignments."""

    word: BoundWord  #: what they do to the direction of the label: nothing, one removes it, reverses it, or gives one
    baseline: str  #: label if all unjudged documents that favour the baseline were relevant
    contender: str  #: if all that favour the contender were
    both: str  #: if all that both runs returned were


def bound_of(holdings: Holdings, own: int) -> Bound:
    """Return the labels under the three families of assignments, where `own` is the label without them."""
    baseline, contender = np.where(holdings.ranks > 0, holdings.ranks, np.inf)
    labels = labels_of(
        holdings,
        np.stack([baseline < contender, contender < baseline, (baseline + contender) < np.inf]),
    )
    before = DIRECTIONS[own]
    after = DIRECTIONS[labels]
    word: BoundWord = "stands"
    if np.any(after != before):
        word = "could weaken"
        if before == 0:
            word = "could decide"
        elif np.any(after == -before):
            word = "could reverse"
    return Bound(word, *(LABELS[label] for label in labels.tolist()))


def tip_of(holdings: Holdings, own: int) -> tuple[Ints, int] | None:
    """Find at most five unjudged documents whose relevance changes the direction, and the label then; None if there are none.

    The documents are those with the largest effects, from which all are left out that are not
    needed.
    """
    orders = _orders(holdings)
    prefixes = [
        order[:n] for n in range(1, LONGEST_PREFIX + 1) for order in orders if len(order) >= n
    ]
    tip = smaller = _first_that_changes(holdings, prefixes, own)
    while smaller is not None:
        tip = smaller
        documents = tip[0]
        # The last documents have the smallest effects, so they are left out first.
        rests = []
        if len(documents) > 1:
            rests = [np.delete(documents, place) for place in range(len(documents))[::-1]]
        smaller = _first_that_changes(holdings, rests, own)
    return tip if tip is not None and len(tip[0]) <= MOST_TIPPING else None


def _first_that_changes(
    holdings: Holdings, sets: Sequence[Ints], own: int
) -> tuple[Ints, int] | None:
    if not sets:
        return None
    relevant = np.zeros((len(sets), len(holdings)), dtype=bool)
    for row, documents in enumerate(sets):
        relevant[row, documents] = True
    labels = labels_of(holdings, relevant)
    changing = np.flatnonzero(DIRECTIONS[labels] != DIRECTIONS[own])
    if len(changing):
        return (sets[changing[0]], int(labels[changing[0]]))
    return None


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
        # Under unit="query" only the first relevant document of a query counts.
        discounted = gain[order] * (
            (turn == 0) if holdings.settings.unit == "query" else 1 / (1 + turn)
        )
        orders.append(order[np.argsort(-discounted, kind="stable")][: int(np.sum(discounted > 0))])
    return orders


CANDIDATES = 1000  # documents to judge that a result keeps for each contender
USUAL_DEPTH = 10
MOST_TIPPING = 5  # documents of a tipping point; larger sets warn of nothing
# Documents that are tried together before those that are not needed are left out.
LONGEST_PREFIX = 10


class UnjudgedDocument(NamedTuple):
    """A document that nobody judged, within the cutoff of at least one of two runs."""

    query_id: str
    docid: str
    baseline: int | None  #: its rank; None where it is not within the cutoff
    contender: int | None


@dataclass(frozen=True)
class Tipping(Immutable):
    """At most five unjudged documents whose relevance changes the direction of the label."""

    n: int  #: so many are enough: the set is small, not certainly the smallest
    share: float  #: of all unjudged documents
    label: str  #: what the label becomes
    documents: tuple[UnjudgedDocument, ...]  #: those with the largest effect first


@dataclass(frozen=True)
class PairHoles(Immutable):
    """What depends on the unjudged documents of the baseline and one contender."""

    contender: str
    label: str  #: of the comparison, where unjudged documents count as not relevant
    #: Judged share of the first 10 documents of both, where the cutoff reaches so far.
    judged_at_10: tuple[float, float] | None
    judged: tuple[float, float]  #: within the cutoff
    n_unjudged: int  #: unjudged documents within the cutoff of either run
    bound: Bound  #: the labels under three families of assignments
    tipping: Tipping | None  #: a few documents that change the direction, if they were found
    #: Up to 1000 documents, the one to judge first at the front.
    candidates: tuple[UnjudgedDocument, ...]


@dataclass(frozen=True, repr=False)
class Holes(Result):
    """How much the verdicts depend on unjudged documents.

    Attributes
    ----------
    pairs : tuple of PairHoles
        One for each contender.
    baseline, settings
        See `ir_outcomes.Comparison`.
    """

    baseline: str
    pairs: tuple[PairHoles, ...]
    settings: Settings

    def __getitem__(self, contender: str) -> PairHoles:
        for pair in self.pairs:
            if pair.contender == contender:
                return pair
        raise KeyError(
            f"{contender}; the contenders are {some([pair.contender for pair in self.pairs], 10)}"
        )

    def to_judge(self, n: int) -> tuple[UnjudgedDocument, ...]:
        """Choose n documents to judge first, whose relevance would change most in their query; of all contenders in turn."""
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
        return rows_of((Column("baseline", lambda _: self.baseline), *COLUMNS), self.pairs)


def _share(at: str, run: int) -> Callable[[PairHoles], float | None]:
    return lambda pair: None if (shares := getattr(pair, at)) is None else shares[run]


COLUMNS = (
    Column("contender", heading="run (B)"),
    Column("verdict", "label"),
    *(
        Column(f"{at}_{run}", _share(at, place), "AB"[place], PERCENT, group=group)
        for at, group in (("judged_at_10", "judged at 10"), ("judged", "judged, %"))
        for place, run in enumerate(("baseline", "contender"))
    ),
    Column("n_unjudged", heading="unjudged", form=NUMBER),
    Column("bound", "bound.word"),
    *attributes(
        "label_if_baseline=bound.baseline",
        "label_if_contender=bound.contender",
        "label_if_both=bound.both",
    ),
    Column("tipping_n", "tipping.n", "tipping", NUMBER),
    *attributes("tipping_share=tipping.share", "tipping_label=tipping.label"),
)


def holes(
    evaluation: Evaluation,
    baseline: str | None = None,
    contenders: str | Sequence[str] | None = None,
    *,
    cutoff: int | None = None,
    alpha: float = 0.05,
    test: RankingTest = "t",
    correction: Correction = "holm",
    progress: bool = False,
) -> Holes:
    """Find how much a verdict depends on unjudged documents, which count as not relevant.

    Both facets are computed in full for each assignment of relevance: a new relevant document
    changes the number of relevant documents and the irrelevant ones above the others. The verdict
    is never replaced by a "corrected" one, which is right less often on runs that were judged
    twice.

    Parameters
    ----------
    evaluation : Evaluation
        Best from ``evaluate(..., unjudged=True)``: otherwise the runs are read again, with a
        warning.
    baseline, contenders, alpha, test, correction, progress
        See `ir_outcomes.compare`. With several contenders the p-values of the others stay as they
        are.
    cutoff : int, optional
        Ranks beyond it do not count; by default the evaluation's, and at most that of `evaluate`.

    Raises
    ------
    ParameterError
        If the unjudged documents were removed, or not kept and the runs cannot be read again, or a
        setting is not possible.

    References
    ----------
    Froebe et al. 2023, "Bootstrapped nDCG estimation in the presence of unjudged documents", for
    bounds.

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1, "bad": 0} for n in range(40)}
    >>> a = {q: {"gold": 1.0, "x": 0.5} for q in qrels}
    >>> b = {q: {"bad": 2.0, "gold": 1.0} for q in qrels}
    >>> found = holes(iro.evaluate(qrels, {"a": a, "b": b}, unjudged=True), "a", "b")
    >>> found["b"].label, found["b"].bound.word, found["b"].n_unjudged
    ('worse on ranking', 'stands', 40)
    """
    evaluation = evaluation_of(evaluation)
    baseline = evaluation.names[0] if baseline is None else baseline
    names = contenders_of(evaluation.names, baseline, contenders)
    evaluation = _with_unjudged(evaluation)
    if cutoff is not None:
        evaluation = evaluation.with_cutoff(cutoff)
    if (depth := min(kept.depth for kept in evaluation.unjudged)) < evaluation.cutoff:
        wanted = evaluation.cutoff
        raise ParameterError(
            f"unjudged documents were kept to rank {depth}; pass `cutoff={wanted}` to evaluate",
            cutoff=wanted,
        )
    settings = Settings.of(
        evaluation, alpha=alpha, test=test, correction=correction, family=len(names)
    )
    n_returned = {run.name: max(int(run.retrieved.sum()), 1) for run in evaluation.at()}
    found = []
    pairs = zip(names, _pairs(evaluation, baseline, names, settings), strict=True)
    for name, pair in with_progress(pairs, "pair", len(names), shown=progress):
        own = own_label(pair)
        tipping = None
        if (tip := tip_of(pair, own)) is not None:
            documents = _named_documents(pair, tip[0], evaluation.query_ids)
            tipping = Tipping(len(documents), len(documents) / len(pair), LABELS[tip[1]], documents)
        unjudged = np.count_nonzero(pair.ranks, axis=1).tolist()
        found.append(
            PairHoles(
                contender=name,
                label=LABELS[own],
                judged_at_10=judged_shares([evaluation[baseline], evaluation[name]], USUAL_DEPTH),
                judged=(1 - unjudged[0] / n_returned[baseline], 1 - unjudged[1] / n_returned[name]),
                n_unjudged=len(pair),
                bound=bound_of(pair, own),
                tipping=tipping,
                candidates=_named_documents(
                    pair, priority(pair)[:CANDIDATES], evaluation.query_ids
                ),
            )
        )
    notes = [Note(_ABOUT_STANDS), *notes_on_grades(evaluation.qrels, evaluation.rel)]
    if evaluation.positives_only:
        notes.insert(0, note("positives only", _ABOUT_POSITIVES))
    return Holes(baseline, tuple(found), settings, notes=tuple(notes))


def tipping_notes(
    evaluation: Evaluation, settings: Settings, own_test: Kernel | None = None
) -> list[tuple[Note, ...]]:
    """Return for each contender a note that few unjudged documents would change the direction, or none."""
    baseline, *names = evaluation.names
    kept = evaluation.unjudged
    if (
        not kept
        or settings.judged_only
        or evaluation.cutoff > min(documents.depth for documents in kept)
    ):
        return [()] * len(names)
    notes: list[tuple[Note, ...]] = []
    for pair in _pairs(evaluation, baseline, names, settings, own_test):
        notes.append(())
        if (tip := tip_of(pair, own_label(pair))) is not None:
            n = len(tip[0])
            label = LABELS[tip[1]]
            few = (
                f"at most {plural('unjudged document', n)} of {len(pair)}, if relevant,"
                f" {'makes' if n == 1 else 'make'} it"
            )
            notes[-1] = (note("few judgments", f'{few} "{label}"; ir_outcomes.holes lists them.'),)
    return notes


def _pairs(
    evaluation: Evaluation,
    baseline: str,
    names: Sequence[str],
    settings: Settings,
    own_test: Kernel | None = None,
) -> list[Holdings]:
    """Set the baseline and each contender side by side, with the p-values of the other contenders."""
    places = [evaluation.position(name) for name in (baseline, *names)]
    (first, unjudged), *others = [
        (evaluation[place], evaluation.unjudged[place]) for place in places
    ]
    pairs = []
    for run, kept in others:
        pair = holdings_of((first, run), (unjudged, kept), settings)
        pairs.append(replace(pair, own_test=own_test))
    if len(pairs) == 1:
        return pairs
    tests = [_tests(pair, np.zeros((1, len(pair)), dtype=bool)) for pair in pairs]
    family = deciding_pvalues(stacked(tests))
    for row, pair in enumerate(pairs):
        pairs[row] = replace(pair, others=family.each(partial(np.delete, obj=row)))
    return pairs


def _with_unjudged(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation with its unjudged documents, for which the runs are read again where they were not kept."""
    check_one_order(evaluation.ties)
    if evaluation.judged_only:
        raise ParameterError(
            "`judged_only=True` removed the unjudged documents; evaluate the runs without it"
        )
    if evaluation.unjudged:
        return evaluation
    remedy = "pass `unjudged=True` to evaluate"
    if (
        evaluation.qrels is None
        or not evaluation.sources
        or any(source is None for source in evaluation.sources)
    ):
        raise ParameterError(
            f"the unjudged documents were not kept, and some runs cannot be read again; {remedy}"
        )
    warn(f"the unjudged documents were not kept, so all runs are read again; {remedy}")
    again = evaluate(
        evaluation.qrels,
        evaluation.sources,
        names=evaluation.names,
        unjudged=True,
        cutoff=evaluation.cutoff,
        rel=evaluation.rel,
        ties=evaluation.ties,
    )
    return replace(evaluation, unjudged=again.restrict(evaluation.query_ids).unjudged)


def judged_shares(runs: Sequence[SearchLengths], depth: int) -> tuple[float, float] | None:
    """Return the judged share of the first documents of baseline and contender; None where it is not known."""
    baseline, contender = (unjudged_share(run, depth) for run in runs)
    if baseline is None or contender is None:
        return None
    return (1 - baseline, 1 - contender)


def _named_documents(
    pair: Holdings, places: Ints, query_ids: Sequence[str]
) -> tuple[UnjudgedDocument, ...]:
    columns = (
        pair.query[places].tolist(),
        pair.docids[places].tolist(),
        *pair.ranks[:, places].tolist(),
    )
    return tuple(
        UnjudgedDocument(query_ids[query], docid.decode(), baseline or None, contender or None)
        for query, docid, baseline, contender in zip(*columns, strict=True)
    )


_ABOUT_STANDS = (
    '"stands" means that three families of assignments leave the direction as it is: all unjudged'
    " documents relevant that favour the baseline, all that favour the contender, all that both"
    " runs return. Other assignments can still change it, but none is known to have reversed it."
    " What no run returned, and what judges would revise, cannot be seen here."
)
_ABOUT_POSITIVES = (
    "an unjudged document is one that nobody called relevant, often because nobody looked. How many"
    " are relevant is not known, and there is no document judged not relevant that could tell."
)
