"""`holes`: how much a verdict depends on unjudged documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any, NamedTuple, get_args

import numpy as np

from ir_outcomes._checks import check_choice, check_count, check_one_order, check_positive
from ir_outcomes._formatting import plural
from ir_outcomes._progress import with_progress
from ir_outcomes._types import Correction, CoverageTest, Floats, Ints, RankingTest
from ir_outcomes.comparison.assignments import Holdings, holdings_of, labels_of, raw_pvalues
from ir_outcomes.comparison.settings import Settings, contenders_of
from ir_outcomes.comparison.tipping import Bound, bound_of, priority, tip_of
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.documents import RankedDocuments
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.notes import unjudged_share
from ir_outcomes.results import Immutable, Result, cells_of, versions

__all__ = ["Holes", "PairHoles", "Tipping", "UnjudgedDocument", "holes", "judged_shares", "tipping_notes"]

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
            n, documents = len(tip.documents), _documents(pair, tip.documents, evaluation.query_ids)
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
                candidates=_documents(pair, first, evaluation.query_ids),
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


def _documents(pair: Holdings, places: Ints, query_ids: Sequence[str]) -> tuple[UnjudgedDocument, ...]:
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
