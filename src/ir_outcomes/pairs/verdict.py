"""The label of a pair: one row gives the direction, the facets say in what way."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from ir_outcomes.choices import Direction, Ints

NO_DIFFERENCE = "no significant difference"
TRADE_OFF = "trade-off"
FACETS = ("coverage", "ranking")
DECIDING = (*FACETS, "all queries")
Decision = Literal["better", "worse", "undecided"]
SIGNS: dict[Direction, int] = {"better": 1, "worse": -1, "none": 0}
DIRECTIONS = {sign: direction for direction, sign in SIGNS.items()}
DECISIONS: dict[int, Decision] = {1: "better", -1: "worse", 0: "undecided"}


class LabelMeaning(NamedTuple):
    """What a label says."""

    direction: Direction  # for the contender
    facets: tuple[str, ...]  # that it names
    short: str  # in tables

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows that carry the label."""
        return self.facets if self.direction == "none" else ("all queries", *self.facets)


# "Better" is of the mean of a measure, without facets.
_GAINS = {
    "better on both facets": LabelMeaning("better", FACETS, "better on both facets"),
    "better on coverage": LabelMeaning("better", ("coverage",), "better on coverage"),
    "better on ranking": LabelMeaning("better", ("ranking",), "better on ranking"),
    "better over all queries": LabelMeaning("better", (), "better over all queries"),
    "better": LabelMeaning("better", (), "better"),
    "trade-off, better over all queries": LabelMeaning("better", FACETS, "trade-off, better"),
    "better over all queries, worse on coverage": LabelMeaning(
        "better", ("coverage",), "better, coverage worse"
    ),
    "better over all queries, worse on ranking": LabelMeaning(
        "better", ("ranking",), "better, ranking worse"
    ),
    "better over all queries, worse on both facets": LabelMeaning(
        "better", FACETS, "better, both facets worse"
    ),
    "gain on both facets, unconfirmed": LabelMeaning("none", FACETS, "gain on both, unconfirmed"),
    "coverage gain, unconfirmed": LabelMeaning("none", ("coverage",), "coverage gain, unconfirmed"),
    "ranking gain, unconfirmed": LabelMeaning("none", ("ranking",), "ranking gain, unconfirmed"),
}
_OPPOSITE = {"better": "worse", "worse": "better", "gain": "loss"}


def _mirrored(text: str) -> str:
    """Exchange what the two systems have in a label."""
    return re.sub("better|worse|gain", lambda word: _OPPOSITE[word[0]], text)


# Every label, from best to worst: the losses are the gains with the systems swapped.
MEANINGS: dict[str, LabelMeaning] = {
    **_GAINS,
    NO_DIFFERENCE: LabelMeaning("none", (), NO_DIFFERENCE),
    TRADE_OFF: LabelMeaning("none", FACETS, TRADE_OFF),
    **{
        _mirrored(label): LabelMeaning(
            "worse" if meaning.direction == "better" else "none",
            meaning.facets,
            _mirrored(meaning.short),
        )
        for label, meaning in reversed(_GAINS.items())
    },
}
LABELS = tuple(MEANINGS)
# The label with the systems swapped: two labels have no direction and stay.
MIRRORED = dict(zip(LABELS, LABELS[::-1], strict=True)) | {
    label: label for label in (NO_DIFFERENCE, TRADE_OFF)
}
_BOTH_FACETS = "both facets"


def label_of(all_queries: int | None, coverage: int, ranking: int) -> str:
    """The label of what the rows of a pair show.

    Parameters
    ----------
    all_queries : int or None
        1 where the contender is found better over all queries, -1 where worse, else 0; None where
        the row is not known.
    coverage, ranking : int
        2 where it is found better by the corrected p-value, 1 where it is better by the raw one
        only, -1 and -2 where it is worse, else 0. "Found" is corrected, and a facet is hurt where
        the raw p-value shows it: "no harm" is not corrected.
    """
    facets = dict(zip(FACETS, (coverage, ranking), strict=True))
    better = [name for name, sign in facets.items() if sign == 2]
    worse = [name for name, sign in facets.items() if sign == -2]
    gained = any(sign > 0 for sign in facets.values())
    hurt = any(sign < 0 for sign in facets.values())
    if all_queries is None and (len(better) == 2 or len(worse) == 2):
        return f"{'better' if better else 'worse'} on {_BOTH_FACETS}"
    if all_queries == 1:
        if len(better) == 2:
            return f"better on {_BOTH_FACETS}"
        if better:
            return f"{TRADE_OFF}, better over all queries" if hurt else f"better on {better[0]}"
        facet = _BOTH_FACETS if len(worse) == 2 else "".join(worse)
        return f"better over all queries, worse on {facet}" if worse else "better over all queries"
    if all_queries == -1:
        return MIRRORED[label_of(1, -coverage, -ranking)]
    if (better and hurt) or (worse and gained):
        return TRADE_OFF
    for names, change in ((better, "gain"), (worse, "loss")):
        if len(names) == 2:
            return f"{change} on {_BOTH_FACETS}, unconfirmed"
        if names:
            return f"{names[0]} {change}, unconfirmed"
    return NO_DIFFERENCE


# The index of the label, by what all queries, coverage and ranking show; the last of all queries
# is where these are not known.
_SHOWN = range(-2, 3)
_TABLE = np.array(
    [
        LABELS.index(label_of(whole, coverage, ranking))
        for whole, coverage, ranking in product((-1, 0, 1, None), _SHOWN, _SHOWN)
    ]
).reshape(4, 5, 5)
_LABELS_OF_MEANS = np.array([LABELS.index(label) for label in ("worse", NO_DIFFERENCE, "better")])
SIGNS_OF_LABELS = np.array([SIGNS[meaning.direction] for meaning in MEANINGS.values()])


def labels_of(corrected: Mapping[str, Ints], alone: Mapping[str, Ints]) -> Ints:
    """The labels of many pairs as indices into `LABELS`, (pairs,) array.

    Parameters
    ----------
    corrected, alone : mapping of str to (pairs,) int array
        What the rows that decide show by the corrected p-values, and by those of each pair by
        itself: 1 better, -1 worse, 0 neither. They are coverage, ranking and, where it is known,
        all queries; or all queries alone.
    """
    if "coverage" not in corrected:
        return _LABELS_OF_MEANS[corrected["all queries"] + 1]
    coverage, ranking = (corrected[name] + alone[name] + 2 for name in FACETS)
    whole = corrected["all queries"] + 1 if "all queries" in corrected else 3
    labels: Ints = _TABLE[whole, coverage, ranking]
    return labels


def meaning_of(label: str) -> LabelMeaning:
    """What a label says."""
    return MEANINGS[label]


def direction_of(label: str) -> Direction:
    """The direction of a label for the contender."""
    return MEANINGS[label].direction


def is_unconfirmed(label: str) -> bool:
    """Whether facets changed and all queries do not confirm it."""
    meaning = MEANINGS[label]
    return meaning.direction == "none" and bool(meaning.facets) and label != TRADE_OFF


def decision(coverage: int, ranking: int) -> tuple[Decision, Decision]:
    """The paper's rules *strict* and *do no harm* (Lin et al. 2021, section 5).

    Each facet is 1 where the contender improves significantly, -1 where it is hurt, else 0.
    *Strict*: both facets improve. *Do no harm*: at least one improves, and none is hurt.
    """
    strict = DECISIONS[coverage] if coverage == ranking else "undecided"
    return strict, DECISIONS[int(np.sign(coverage + ranking))]


@dataclass(frozen=True)
class Verdict:
    """The two-facet significance verdict on a contender (Lin et al. 2021, section 5)."""

    label: str  #: one of `LABELS`
    direction: Direction  #: of the label
    #: the paper's rule: both facets improve significantly; or the same for the baseline. None with
    #: clusters or several runs, which its tests do not know
    strict: Decision | None
    #: the paper's weaker rule: at least one facet improves significantly and none is hurt
    do_no_harm: Decision | None
    #: whether harm beyond the margins is excluded on all rows; None without margins
    non_inferior: bool | None
    equivalent: bool | None  #: whether any difference beyond them is
    sentence: str  #: the verdict in plain words, with its numbers
    #: whether the label holds for new runs of the systems, too; None where it has no direction, no
    #: system has several runs, or one of several has fewer than five
    new_runs: bool | None = None
