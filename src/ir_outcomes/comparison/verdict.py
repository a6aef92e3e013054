"""The label of a pair of runs: a table of what the rows show."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, TypedDict

import numpy as np

from ir_outcomes.arguments import check_fields
from ir_outcomes.choices import Bools, Correction, Direction, Floats, Ints, Level
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.estimate import Estimates, sign_pvalues
from ir_outcomes.statistics.families import adjust

TRADE_OFF = "trade-off"
NO_DIFFERENCE = "no significant difference"
Ways = Literal["both", "coverage", "ranking", "all queries", "none"]
Decision = Literal["better", "worse", "undecided"]
NAMES: dict[int, Direction] = {1: "better", -1: "worse", 0: "none"}
DECISIONS: dict[int, Decision] = {1: "better", -1: "worse", 0: "undecided"}


class RuleOptions(TypedDict, total=False):
    """How verdicts are reached, as keyword arguments."""

    alpha: Level
    correction: Correction
    margins: tuple[float, ...] | None


@dataclass(frozen=True)
class Rules:
    """How verdicts are reached.

    Parameters
    ----------
    alpha : float
        Level of p-values, intervals and labels.
    correction : {"holm", "bonferroni", "fdr_bh", "none"}
        Correction of p-values over the contenders of a call. Each row is corrected by itself.
    margins : (float, float), (float, float, float) or (float,), optional
        Margins of harm: coverage, ranking, all queries. Points and ranks; all are positive. The
        third is by default what the other two tolerate together.
    """

    alpha: Level = 0.05
    correction: Correction = "holm"
    margins: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "margins", _checked_margins(self.margins))


def _checked_margins(margins: Any) -> tuple[float, ...] | None:
    """Refuse margins that are not one to three positive, finite numbers."""
    if margins is None:
        return None
    try:
        checked = tuple(map(float, margins))
    except (TypeError, ValueError):
        checked = ()
    if len(checked) not in (1, 2, 3) or not all(0 < margin < math.inf for margin in checked):
        raise ParameterError(
            "must be positive numbers: percentage points of coverage, ranks, and ranks over all"
            " queries, such as (1.0, 0.5) or (1.0, 0.5, 1.0); of values of a measure one, such as"
            " (0.01,)",
            margins=margins,
        )
    if len(checked) > 1 and checked[0] >= 100:
        raise ParameterError(
            "no run can lose more than 100 percentage points of coverage; give a smaller margin",
            margins=margins,
        )
    return checked


class Signs(NamedTuple):
    """What the rows of each of m pairs show, all in one direction, (m,) bool arrays."""

    coverage: Bools  # found better at the corrected p-value
    ranking: Bools
    all_queries: Bools
    harm: Bools  # a row is worse at the raw p-value
    confirmed: Bools  # all queries are better at the raw p-value, or by mean and sign test

    @property
    def facet(self) -> Bools:
        """Whether a facet is better."""
        return self.coverage | self.ranking

    @property
    def any(self) -> Bools:
        """Whether a row is better."""
        return self.facet | self.all_queries


# The rows that carry a label, or confirm it.
CARRYING: Mapping[Ways, tuple[str, ...]] = {
    "both": ("coverage", "ranking"),
    "coverage": ("coverage", "all queries"),
    "ranking": ("ranking", "all queries"),
    "all queries": ("all queries",),
    "none": ("coverage", "ranking", "all queries"),
}


class LabelMeaning(NamedTuple):
    """What a label says."""

    direction: Direction  # of the label for the contender
    by: Ways  # what carries it, see `CARRYING`


# The labels of a contender that is better somewhere: their meaning, and what they take. The first
# that applies is the label; those of a contender that is worse mirror them.
_Gains = dict[str, tuple[str, LabelMeaning, Callable[[Signs], Bools]]]
_GAINS: _Gains = {
    "better on both facets": (
        "worse on both facets",
        LabelMeaning("better", "both"),
        lambda signs: signs.coverage & signs.ranking,
    ),
    "better on coverage": (
        "worse on coverage",
        LabelMeaning("better", "coverage"),
        lambda signs: signs.coverage & signs.confirmed,
    ),
    "better on ranking": (
        "worse on ranking",
        LabelMeaning("better", "ranking"),
        lambda signs: signs.ranking & signs.confirmed,
    ),
    "coverage gain, unconfirmed": (
        "coverage loss, unconfirmed",
        LabelMeaning("none", "coverage"),
        lambda signs: signs.coverage,
    ),
    "ranking gain, unconfirmed": (
        "ranking loss, unconfirmed",
        LabelMeaning("none", "ranking"),
        lambda signs: signs.ranking,
    ),
    "better over all queries": (
        "worse over all queries",
        LabelMeaning("better", "all queries"),
        lambda signs: signs.all_queries,
    ),
}
_OPPOSITE: dict[Direction, Direction] = {"better": "worse", "worse": "better", "none": "none"}
# Every label, from best to worst.
LABELS = (
    "better on both facets",
    "better on coverage",
    "better on ranking",
    "better over all queries",
    "coverage gain, unconfirmed",
    "ranking gain, unconfirmed",
    NO_DIFFERENCE,
    TRADE_OFF,
    "ranking loss, unconfirmed",
    "coverage loss, unconfirmed",
    "worse over all queries",
    "worse on ranking",
    "worse on coverage",
    "worse on both facets",
)
# The label with the runs swapped: two labels have no direction and stay.
MIRRORED = dict(zip(LABELS, LABELS[::-1], strict=True)) | {
    label: label for label in (NO_DIFFERENCE, TRADE_OFF)
}
_MEANINGS = {label: LabelMeaning("none", "none") for label in (NO_DIFFERENCE, TRADE_OFF)}
for _label, (_mirrored, _meaning, _) in _GAINS.items():
    _MEANINGS[_label] = _meaning
    _MEANINGS[_mirrored] = _meaning._replace(direction=_OPPOSITE[_meaning.direction])
DIRECTIONS = np.array(
    [{"better": 1, "worse": -1, "none": 0}[_MEANINGS[label].direction] for label in LABELS]
)


def meaning_of(label: str) -> LabelMeaning:
    """Return what a label says."""
    return _MEANINGS[label]


def direction_of(label: str) -> Direction:
    """Return the direction of a label for the contender."""
    return _MEANINGS[label].direction


def is_unconfirmed(label: str) -> bool:
    """Return whether one facet changed and all queries do not confirm it."""
    meaning = _MEANINGS.get(label)
    return meaning is not None and meaning.direction == "none" and meaning.by != "none"


def labels_of(gains: Signs, losses: Signs) -> Ints:
    """Return the label of each pair as an index into `LABELS`, (m,) array.

    Parameters
    ----------
    gains, losses : Signs
        What the rows show, and what they show with the runs swapped. Where all queries are not
        known, nothing is confirmed.
    """
    label = np.full(len(gains.coverage), LABELS.index(NO_DIFFERENCE))
    for gain, (loss, _, applies) in reversed(_GAINS.items()):
        label[applies(gains)] = LABELS.index(gain)
        label[applies(losses)] = LABELS.index(loss)
    mixed = (gains.any & gains.harm) | (losses.any & losses.harm)
    label[mixed] = LABELS.index(TRADE_OFF)
    return label


class RowEstimates(NamedTuple):
    """One row of m pairs: the mean with its p-value, and the sign of what is better."""

    sign: Ints  #: (m,) 1 where the mean is better, -1 where it is worse, 0 where neither
    pvalue: Floats  #: (m,) of each pair by itself

    @classmethod
    def of(cls, found: Estimates, *, higher_is_better: bool) -> Self:
        """Take the estimates of a row, and whether a higher mean is better."""
        sign = np.sign(np.nan_to_num(found.mean)).astype(np.int64)
        return cls(sign if higher_is_better else -sign, found.pvalue)

    @classmethod
    def of_sign_test(cls, better: Floats, worse: Floats) -> Self:
        """Take the exact sign test of how often each pair is better, and worse."""
        return cls(np.sign(better - worse).astype(np.int64), sign_pvalues(better, worse))


class Labels(NamedTuple):
    """The labels of m pairs, and what was found on each row, (m,) arrays."""

    label: Ints  #: index into `LABELS`
    corrected: dict[str, Floats]  #: p-values over the family, by the name of the row
    found: dict[str, Ints]  #: 1 where the row is better by the corrected p-value, -1 where worse

    @property
    def direction(self) -> Ints:
        """(m,) int array: 1 where the label is better, -1 where it is worse, else 0."""
        directions: Ints = DIRECTIONS[self.label]
        return directions

    def names(self) -> list[str]:
        """Return the labels as text."""
        return [LABELS[code] for code in self.label.tolist()]


def judge(
    rows: Mapping[str, RowEstimates],
    rules: Rules,
    sign_test: RowEstimates | None = None,
    adjusted: Mapping[str, Floats] | None = None,
) -> Labels:
    """Label the pairs of a family.

    Parameters
    ----------
    rows : mapping
        "coverage", "ranking" and, where it is known, "all queries", of the m pairs of a family.
    rules : Rules
        The level, and the correction over the family.
    sign_test : RowEstimates, optional
        The exact two-sided sign test of better against worse over all queries, which confirms only.
    adjusted : mapping, optional
        P-values over the family where they are not a correction of `rows`, such as those of several
        families.
    """
    corrected = adjusted
    if corrected is None:
        corrected = {name: adjust(row.pvalue, rules.correction) for name, row in rows.items()}
    found = {
        name: np.where(corrected[name] <= rules.alpha, row.sign, 0) for name, row in rows.items()
    }
    sides = [_signs(rows, found, sign_test, rules.alpha, side) for side in (1, -1)]
    return Labels(labels_of(*sides), dict(corrected), found)


def _signs(
    rows: Mapping[str, RowEstimates],
    found: Mapping[str, Ints],
    sign_test: RowEstimates | None,
    alpha: float,
    side: int,
) -> Signs:
    """Return what the rows show, in the direction of one side."""
    nothing = np.zeros(len(rows["coverage"].pvalue), dtype=bool)
    harm = nothing.copy()
    for row in rows.values():
        harm |= (row.sign == -side) & (row.pvalue <= alpha)
    confirmed = nothing
    whole = rows.get("all queries")
    if whole is not None:
        ahead = whole.sign == side
        confirmed = ahead & (whole.pvalue <= alpha)
        if sign_test is not None:
            confirmed |= ahead & (sign_test.sign == side) & (sign_test.pvalue <= alpha)
    return Signs(
        coverage=found["coverage"] == side,
        ranking=found["ranking"] == side,
        all_queries=found["all queries"] == side if "all queries" in found else nothing,
        harm=harm,
        confirmed=confirmed,
    )


def decision(coverage: int, ranking: int) -> tuple[Decision, Decision]:
    """Return what the paper's rules *strict* and *do no harm* say (Lin et al. 2021, section 5).

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
