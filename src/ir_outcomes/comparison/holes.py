"""`holes`: how much a verdict depends on unjudged documents: a bound, a small set that changes the direction, what to judge."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, zip_longest
from typing import Any, Literal, NamedTuple

import numpy as np

from ir_outcomes.comparison.holdings import (
    Holdings,
    holdings_of,
    labels_of,
    own_label,
    priority,
    tests_of,
    tip_of,
)
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.pair_tests import stacked
from ir_outcomes.comparison.verdict import DIRECTIONS, LABELS
from ir_outcomes.errors import ParameterError, some, warn
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, evaluation_of
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.remarks import note_on_depth, notes_on_grades, unjudged_share
from ir_outcomes.formatting import plural, with_progress
from ir_outcomes.notes import Note, note
from ir_outcomes.results import Immutable, Result
from ir_outcomes.statistics.kernels import Kernel
from ir_outcomes.table_columns import NUMBER, PERCENT, Column, attributes, rows_of
from ir_outcomes.types import Correction, Ints, RankingTest, check_one_order, check_positive

CANDIDATES = 1000  # documents to judge that a result keeps for each contender
USUAL_DEPTH = 10


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
    depth = min(kept.depth for kept in evaluation.unjudged)
    if depth < evaluation.cutoff:
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
        tip = tip_of(pair, own)
        tipping = None
        if tip is not None:
            documents = _named_documents(pair, tip.documents, evaluation.query_ids)
            tipping = Tipping(len(documents), len(documents) / len(pair), tip.label, documents)
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
    deepest = max(run.depth for run in evaluation.at())
    if deepest < evaluation.cutoff:
        notes.append(note_on_depth(deepest, evaluation.cutoff))
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
        tip = tip_of(pair, own_label(pair))
        if tip is None:
            notes.append(())
            continue
        n = len(tip.documents)
        verb = "makes" if n == 1 else "make"
        few = f"at most {plural('unjudged document', n)} of {len(pair)}, if relevant, {verb} it"
        text = f'{few} "{tip.label}"; ir_outcomes.holes lists them.'
        notes.append((note("few judgments", text),))
    return notes


def _pairs(
    evaluation: Evaluation,
    baseline: str,
    names: Sequence[str],
    settings: Settings,
    own_test: Kernel | None = None,
) -> list[Holdings]:
    """Set the baseline and each contender side by side, with the p-values of the other contenders."""
    pairs = []
    for name in names:
        runs = evaluation[[baseline, name]]
        pair = holdings_of(runs.runs, runs.unjudged, settings)
        pairs.append(replace(pair, own_test=own_test))
    if len(pairs) == 1:
        return pairs
    tests = [tests_of(pair, np.zeros((1, len(pair)), dtype=bool)) for pair in pairs]
    family = stacked(tests).deciding
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
