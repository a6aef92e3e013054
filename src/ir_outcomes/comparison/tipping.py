"""How much depends on unjudged documents: the bound, a small set of documents that changes the label, and random draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ir_outcomes._types import Bools, Floats, Ints
from ir_outcomes.comparison.assignments import Holdings, effects_of, labels_of
from ir_outcomes.comparison.verdict import DIRECTIONS, LABELS

__all__ = ["Bound", "BoundLabel", "Tip", "bound_of", "priority", "tip_of"]

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
