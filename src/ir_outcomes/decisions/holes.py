"""How much a verdict depends on unjudged documents."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, Literal, NamedTuple

import numpy as np

from ir_outcomes.arguments import check_one_order
from ir_outcomes.choices import Floats, Ints, Level, Positive
from ir_outcomes.comparison.family import compared
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, evaluation_of
from ir_outcomes.evaluation.ranking import RankedDocuments
from ir_outcomes.evaluation.remarks import STOPS, note_on_depth, notes_on_grades
from ir_outcomes.files import with_progress
from ir_outcomes.notes import Note, note
from ir_outcomes.pairs.rules import Rules, Settings
from ir_outcomes.pairs.verdict import direction_of
from ir_outcomes.results import Immutable, Result
from ir_outcomes.table_columns import NUMBER, PERCENT, Column, attributes, rows_of

CANDIDATES = 1000  # documents to judge that a result keeps for each contender
USUAL_DEPTH = 10

BoundWord = Literal["stands", "could weaken", "could reverse", "could decide"]


class Bound(NamedTuple):
    """The labels if three families of unjudged documents were relevant."""

    word: BoundWord  #: what they do to the direction of the label: nothing, one removes it, reverses it, or gives one
    baseline: str  #: label if all unjudged documents that favour the baseline were relevant
    contender: str  #: if all that favour the contender were
    both: str  #: if all that both runs returned were

    @classmethod
    def of(cls, label: str, labels: Sequence[str]) -> "Bound":
        """Say what the three families do to the direction of a label."""
        before = direction_of(label)
        after = {direction_of(other) for other in labels}
        word: BoundWord = "stands"
        if after != {before}:
            word = "could weaken"
            if before == "none":
                word = "could decide"
            elif ({"better", "worse"} - {before}) & after:
                word = "could reverse"
        return cls(word, *labels)


class UnjudgedDocument(NamedTuple):
    """A document that nobody judged, within the cutoff of at least one of two runs."""

    query_id: str
    docid: str
    baseline: int | None  #: its rank; None where it is not within the cutoff
    contender: int | None


@dataclass(frozen=True)
class PairHoles(Immutable):
    """What depends on the unjudged documents of the baseline and one contender."""

    contender: str
    label: str  #: of the pair by itself, where unjudged documents count as not relevant
    #: Judged share of the first 10 documents of both, where the cutoff reaches so far.
    judged_at_10: tuple[float, float] | None
    judged: tuple[float, float]  #: within the cutoff
    n_unjudged: int  #: unjudged documents within the cutoff of either run
    bound: Bound  #: the labels under three families of assignments
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

    def to_judge(self, n: Positive) -> tuple[UnjudgedDocument, ...]:
        """Choose n documents to judge first, of all contenders in turn."""
        in_turn = chain.from_iterable(zip_longest(*(pair.candidates for pair in self.pairs)))
        chosen: dict[tuple[str, str], UnjudgedDocument] = {}
        for document in in_turn:
            if document is not None:
                chosen.setdefault((document.query_id, document.docid), document)
        return tuple(chosen.values())[:n]

    def to_tsv(self, n: Positive) -> str:
        """Return `to_judge` as lines of query id, tab and document id, for whoever judges."""
        return "".join(f"{document.query_id}\t{document.docid}\n" for document in self.to_judge(n))

    def rows(self) -> list[dict[str, Any]]:
        """One flat row for each contender."""
        return rows_of((Column("baseline", lambda _: self.baseline), *COLUMNS), self.pairs)


def _share(at: str, run: int) -> Callable[[PairHoles], float | None]:
    return lambda pair: None if (shares := getattr(pair, at)) is None else shares[run]


COLUMNS = (
    Column("contender", heading="run (B)"),
    Column("verdict", "label"),
    *(
        Column(f"{at}_{run}", _share(at, side), "AB"[side], PERCENT, group=group)
        for at, group in (("judged_at_10", "judged at 10"), ("judged", "judged, %"))
        for side, run in enumerate(("baseline", "contender"))
    ),
    Column("n_unjudged", heading="unjudged", form=NUMBER),
    Column("bound", "bound.word"),
    *attributes(
        "label_if_baseline=bound.baseline",
        "label_if_contender=bound.contender",
        "label_if_both=bound.both",
    ),
)


def holes(
    evaluation: Evaluation,
    baseline: str | None = None,
    contenders: str | Sequence[str] | None = None,
    *,
    cutoff: Positive | None = None,
    alpha: Level = 0.05,
    progress: bool = False,
) -> Holes:
    """Find how much a verdict depends on unjudged documents.

    For each family of unjudged documents the runs are evaluated and compared as always, with qrels
    in which these documents are relevant. The verdict is never replaced by a "corrected" one.

    Parameters
    ----------
    evaluation : Evaluation
        From ``evaluate(..., documents="cutoff")``.
    baseline, contenders : str, and str or sequence of str, optional
        Names of runs; by default the first is the baseline, and all others are contenders.
    cutoff : int, optional
        Ranks beyond it do not count; by default that of the evaluation.
    alpha : float
        Significance level; labels are of each pair by itself, without a correction.
    progress : bool
        Show a progress bar over the contenders on stderr.

    Raises
    ------
    ParameterError
        If the unjudged documents were removed or not kept, or a setting is not possible.

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
    >>> found = holes(iro.evaluate(qrels, {"a": a, "b": b}, documents=100), "a", "b")
    >>> found["b"].label, found["b"].bound.word, found["b"].n_unjudged
    ('worse on ranking', 'stands', 40)
    """
    rules = Rules(alpha=alpha, correction="none")
    evaluation = evaluation_of(evaluation)
    baseline = evaluation.names[0] if baseline is None else baseline
    names = contenders_of(evaluation.names, baseline, contenders)
    if cutoff is not None:
        evaluation = evaluation.with_cutoff(cutoff)
    _refuse_without_documents(evaluation)
    pairs = [
        _holes_of(evaluation[[baseline, name]], rules)
        for name in with_progress(names, "pair", len(names), shown=progress)
    ]
    notes = [Note(_ABOUT_STANDS), *notes_on_grades(evaluation.qrels, evaluation.rel)]
    deepest = max(run.depth for run in evaluation.at())
    if deepest < evaluation.cutoff:
        notes.append(note_on_depth(deepest, evaluation.cutoff))
    if evaluation.positives_only:
        notes.insert(0, note("positives only", _ABOUT_POSITIVES))
    settings = Settings.of(evaluation, rules)
    return Holes(baseline, tuple(pairs), settings, notes=tuple(notes))


def _holes_of(pair: Evaluation, rules: Rules) -> PairHoles:
    """Find what depends on the unjudged documents of two runs."""
    unjudged = _Unjudged.of(pair)
    judged_again = (_judged_again(pair, unjudged, family) for family in unjudged.families())
    label, *labels = (
        compared(evaluation, rules)[0].verdict.label for evaluation in (pair, *judged_again)
    )
    at_10 = _judged(pair, USUAL_DEPTH) if pair.cutoff >= USUAL_DEPTH else None
    order = np.argsort(-unjudged.gains(pair), kind="stable")[:CANDIDATES]
    return PairHoles(
        contender=pair.names[1],
        label=label,
        judged_at_10=at_10,
        judged=_judged(pair, pair.cutoff),
        n_unjudged=len(unjudged.query),
        bound=Bound.of(label, labels),
        candidates=tuple(unjudged.named(order, pair.query_ids)),
    )


class _Unjudged(NamedTuple):
    """The unjudged documents within the cutoff of either of two runs, (n,) arrays."""

    query: Ints  # index of the query
    docids: Any
    ranks: Ints  # (2, n) in the baseline and the contender; 0 where it is not within the cutoff

    @classmethod
    def of(cls, pair: Evaluation) -> "_Unjudged":
        """Join the unjudged documents of two runs."""
        ranks: dict[tuple[int, bytes], list[int]] = {}
        for side, documents in enumerate(pair.documents):
            holes = documents.first(pair.cutoff).unjudged()
            queries = np.repeat(np.arange(len(holes.offsets) - 1), np.diff(holes.offsets))
            for query, docid, rank in zip(
                queries.tolist(), holes.docids.tolist(), holes.rank.tolist(), strict=True
            ):
                ranks.setdefault((query, docid), [0, 0])[side] = rank
        queries_of = np.array([query for query, _ in ranks], dtype=np.int64)
        docids = np.array([docid for _, docid in ranks], dtype=bytes)
        return cls(
            queries_of, docids, np.array(list(ranks.values()), dtype=np.int64).reshape(-1, 2).T
        )

    def families(self) -> Iterator[Any]:
        """Yield which documents favour the baseline, the contender, or both returned."""
        baseline, contender = np.where(self.ranks > 0, self.ranks, np.inf)
        yield baseline < contender
        yield contender < baseline
        yield baseline + contender < np.inf

    def gains(self, pair: Evaluation) -> Floats:
        """By how much each document would change the search over all queries, if relevant."""
        lengths = np.where(self.ranks > 0, self.ranks, pair.cutoff + 1.0)
        first = [np.nan_to_num(run.esl(), nan=pair.cutoff + 1.0)[self.query] for run in pair.at()]
        if pair.unit == "query":
            lengths = np.minimum(lengths, first)
            gains: Floats = np.abs((lengths[1] - lengths[0]) - (first[1] - first[0]))
            return gains
        gains = np.abs(lengths[1] - lengths[0]) / (pair.runs[0].relevant[self.query] + 1)
        return gains

    def named(self, rows: Ints, query_ids: Sequence[str]) -> Iterator[UnjudgedDocument]:
        """Yield documents with the ids of their queries."""
        columns = (self.query[rows], self.docids[rows], *self.ranks[:, rows])
        for query, docid, baseline, contender in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            yield UnjudgedDocument(
                query_ids[query], docid.decode(), baseline or None, contender or None
            )


def _judged_again(pair: Evaluation, unjudged: _Unjudged, relevant: Any) -> Evaluation:
    """Evaluate two runs with qrels in which some unjudged documents are relevant."""
    if pair.qrels is None:
        raise ParameterError("the qrels were not kept; evaluate the runs again")
    judged = pair.qrels.to_dict()
    for document in unjudged.named(np.flatnonzero(relevant), pair.query_ids):
        judged.setdefault(document.query_id, {})[document.docid] = pair.rel
    runs = {
        name: _as_run(documents.first(pair.cutoff), pair.query_ids)
        for name, documents in zip(pair.names, pair.documents, strict=True)
    }
    settings: dict[str, Any] = {
        "cutoff": pair.cutoff,
        "rel": pair.rel,
        "unit": pair.unit,
        "ties": "input",
        "allow": STOPS,
    }
    return evaluate(judged, runs, on_error="keep", clusters=_clusters_of(pair), **settings)


def _clusters_of(evaluation: Evaluation) -> dict[str, str] | None:
    """The cluster of each query as `evaluate` takes them, None without."""
    if evaluation.clusters is None:
        return None
    codes = evaluation.clusters.tolist()
    return {query: str(code) for query, code in zip(evaluation.query_ids, codes, strict=True)}


def _as_run(documents: RankedDocuments, query_ids: Sequence[str]) -> dict[str, dict[str, float]]:
    """The first documents of each query with scores that fall with their ranks."""
    ids = [docid.decode() for docid in documents.docids.tolist()]
    ranks = documents.rank.tolist()
    run = {}
    for index, query in enumerate(query_ids):
        rows = range(int(documents.offsets[index]), int(documents.offsets[index + 1]))
        if rows:
            run[query] = {ids[row]: float(-ranks[row]) for row in rows}
    return run


def _refuse_without_documents(evaluation: Evaluation) -> None:
    """Refuse an evaluation that does not know the documents within its cutoff."""
    check_one_order(evaluation.ties)
    if evaluation.judged_only:
        raise ParameterError(
            "`judged_only=True` removed the unjudged documents; evaluate the runs without it"
        )
    if min((run.depth for run in evaluation.documents), default=0) < evaluation.cutoff:
        raise ParameterError(
            f"the documents were not kept to the cutoff; pass `documents={evaluation.cutoff}` to"
            " evaluate"
        )


def _judged(pair: Evaluation, depth: int) -> tuple[float, float]:
    """The judged share of the first documents of two runs."""
    first, second = (_judged_share(documents.first(depth)) for documents in pair.documents)
    return first, second


def _judged_share(documents: RankedDocuments) -> float:
    return 1 - len(documents.unjudged().rank) / max(len(documents.rank), 1)


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
