"""From what the tests found on each facet to verdicts: the decision table, all queries, and the guard, on arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ir_outcomes.comparison.pair_tests import FamilyPvalues, PairTests
from ir_outcomes.statistics import adjust
from ir_outcomes.statistics.kernels import Pvalues
from ir_outcomes.types import Bools, Direction, Floats, Ints

Ways = Literal["both", "coverage", "ranking", "all queries", "none"]


class LabelMeaning(NamedTuple):
    """What a label says."""

    direction: Direction  # of the label for the contender
    by: Ways  # the facets that carry it
    sentence: str  # how a sentence about it begins


TRADE_OFF = "trade-off"
NO_DIFFERENCE = "no significant difference"
_BETTER = "{contender} is better than {baseline}"
_WORSE = "{contender} is worse than {baseline}"
_GAINS = "{{contender}} gains on {facet} over {{baseline}}, not confirmed over all queries"
_LOSES = "{{contender}} loses on {facet} to {{baseline}}, not confirmed over all queries"
_NOTHING = "There is no significant difference between {contender} and {baseline}"
# Every label, from best to worst.
_LABELS = {
    "better on both facets": LabelMeaning("better", "both", f"{_BETTER} on both facets"),
    "better on coverage": LabelMeaning("better", "coverage", f"{_BETTER} on coverage"),
    "better on ranking": LabelMeaning("better", "ranking", f"{_BETTER} on ranking"),
    "better over all queries": LabelMeaning("better", "all queries", f"{_BETTER} over all queries"),
    "coverage gain, unconfirmed": LabelMeaning("none", "coverage", _GAINS.format(facet="coverage")),
    "ranking gain, unconfirmed": LabelMeaning("none", "ranking", _GAINS.format(facet="ranking")),
    NO_DIFFERENCE: LabelMeaning("none", "none", _NOTHING),
    TRADE_OFF: LabelMeaning("none", "none", "{contender} against {baseline} is a trade-off"),
    "ranking loss, unconfirmed": LabelMeaning("none", "ranking", _LOSES.format(facet="ranking")),
    "coverage loss, unconfirmed": LabelMeaning("none", "coverage", _LOSES.format(facet="coverage")),
    "worse over all queries": LabelMeaning("worse", "all queries", f"{_WORSE} over all queries"),
    "worse on ranking": LabelMeaning("worse", "ranking", f"{_WORSE} on ranking"),
    "worse on coverage": LabelMeaning("worse", "coverage", f"{_WORSE} on coverage"),
    "worse on both facets": LabelMeaning("worse", "both", f"{_WORSE} on both facets"),
}
LABELS = tuple(_LABELS)
NAMES: dict[int, Direction] = {1: "better", -1: "worse", 0: "none"}
DIRECTIONS = np.array(
    [{"better": 1, "worse": -1, "none": 0}[meaning.direction] for meaning in _LABELS.values()]
)
# The label with the runs swapped: two labels have no direction and stay.
MIRRORED = dict(zip(LABELS, LABELS[::-1], strict=True)) | {
    label: label for label in (NO_DIFFERENCE, TRADE_OFF)
}

Decision = Literal["better", "worse", "undecided"]
# What the rules *strict* and *do no harm* say.
DECISIONS: dict[int, Decision] = {
    1: "better",
    -1: "worse",
    0: "undecided",
}


def meaning_of(label: str) -> LabelMeaning:
    """Return what a label says."""
    return _LABELS[label]


def direction_of(label: str) -> Direction:
    """Return the direction of a label for the contender."""
    return _LABELS[label].direction


def is_unconfirmed(label: str) -> bool:
    """Return whether one facet changed and all queries do not confirm it."""
    meaning = _LABELS.get(label)
    return meaning is not None and meaning.direction == "none" and meaning.by != "none"


@dataclass(frozen=True)
class Verdict:
    """The two-facet significance verdict on a contender (Lin et al. 2021, section 5)."""

    label: str  #: one of `LABELS`, after the confirmation and the guard
    direction: Direction  #: of the label
    strict: Decision  #: the paper's rule: both facets improve significantly and neither is hurt; or the same for the baseline
    do_no_harm: Decision  #: the paper's weaker rule: at least one facet improves significantly and none is hurt
    #: whether the search lengths over all queries turned the label into "trade-off"; None where
    #: they are not known
    guard: bool | None
    #: whether harm beyond the margins is excluded on both facets and, with a cutoff, over all
    #: queries; None without margins
    non_inferior: bool | None
    equivalent: bool | None  #: whether any difference beyond them is
    sentence: str  #: the verdict in plain words, with its numbers
    #: whether the label holds for new runs of the systems, too; None where it has no direction, no
    #: system has several runs, or one of several has fewer than five
    new_runs: bool | None = None


class Findings(NamedTuple):
    """What the tests say about one facet, for each of m contenders; (m,) bool arrays."""

    up: Bools  # it improves, and the corrected p-value of the deciding test is at most alpha
    hurt: Bools  # it worsens, and a raw p-value is: of the deciding test, or for ranking of t or Wilcoxon in its own direction
    down: Bools  # what `up` is with the runs swapped
    gain: Bools  # what `hurt` is with the runs swapped
    estimate: Ints  # 1 where the mean improves, -1 where it worsens, 0 where it stays


class OverAll(NamedTuple):
    """What the search over all queries says about each of m contenders; (m,) arrays."""

    # The direction that t or Wilcoxon shows at raw alpha: 1 better, -1 worse, 0 neither.
    confirmed: Ints
    decided: Ints  # the direction that the test of the mean shows after the correction
    worse: Bools  # the guard: at raw alpha it is worse, or the part of what was won and lost by itself is
    better: Bools


NO_FAMILY = FamilyPvalues(np.empty(0), np.empty(0), np.empty(0))


class Verdicts(NamedTuple):
    """The two-facet verdict on each of m contenders; (m,) arrays."""

    label: Ints  # index into LABELS, after the confirmation and the guard
    strict: Ints  # the rule of Lin et al. 2021, before the guard: 1 better (both facets up, none hurt), -1 worse, 0 undecided
    do_no_harm: Ints  # the same for their weaker rule: at least one facet up, none hurt
    guard: Bools  # whether the guard turned a label into "trade-off"
    coverage_found: Ints  # what each facet shows: 1 better, -1 worse, 0 nothing
    ranking_found: Ints
    all_queries_found: Ints  # after the correction where neither facet decides, else as it confirms
    # p-values of the deciding tests, where `judge` made the verdicts.
    corrected: FamilyPvalues = NO_FAMILY

    @property
    def direction(self) -> Ints:
        """(m,) int array: 1 where the label is better, -1 where it is worse, 0 where it has no direction."""
        directions: Ints = DIRECTIONS[self.label]
        return directions

    def labels(self) -> list[str]:
        """Return the labels as text."""
        return [LABELS[code] for code in self.label.tolist()]


def find(
    deciding: Pvalues,
    corrected: Floats,
    alpha: float,
    *,
    vetoes: Sequence[Pvalues] = (),
    mean: Pvalues | None = None,
) -> Findings:
    """Return what the tests of a facet find: the deciding one with its corrected p-values, and others for gain and harm."""
    significant = corrected <= alpha
    raw = (deciding, *vetoes)
    return Findings(
        up=significant & (deciding.direction == 1),
        hurt=_any_shows(-1, raw, alpha),
        down=significant & (deciding.direction == -1),
        gain=_any_shows(1, raw, alpha),
        estimate=(deciding if mean is None else mean).direction,
    )


def _any_shows(direction: int, tests: Sequence[Pvalues], alpha: float) -> Bools:
    """Return where one of the tests shows a direction at the raw level."""
    shown = [(test.pvalue <= alpha) & (test.direction == direction) for test in tests]
    found: Bools = np.any(shown, axis=0)
    return found


def over_all(
    mean: Pvalues,
    corrected: Floats,
    alpha: float,
    *,
    wilcoxon: Pvalues | None = None,
    won_and_lost: Pvalues | None = None,
) -> OverAll:
    """Return what the tests over all queries say: of the mean (with corrected p-values), Wilcoxon, and of won and lost."""
    confirms = mean.pvalue <= alpha
    if wilcoxon is not None:
        confirms = confirms | ((wilcoxon.pvalue <= alpha) & (wilcoxon.direction == mean.direction))
    worse = np.zeros(len(corrected), dtype=bool)
    better = worse
    if won_and_lost is not None:  # the guard is about search lengths
        worse = _any_shows(-1, (mean, won_and_lost), alpha)
        better = _any_shows(1, (mean, won_and_lost), alpha)
    return OverAll(
        confirmed=np.where(confirms, mean.direction, 0),
        decided=np.where(corrected <= alpha, mean.direction, 0),
        worse=worse,
        better=better,
    )


def decide(coverage: Findings, ranking: Findings, everywhere: OverAll | None = None) -> Verdicts:
    """Apply the rules of Lin et al. 2021, section 5, then the confirmation, the decision over all queries, and the guard."""
    up = coverage.up | ranking.up
    hurt = coverage.hurt | ranking.hurt
    down = coverage.down | ranking.down
    gain = coverage.gain | ranking.gain
    strict = _signs(coverage.up & ranking.up & ~hurt, coverage.down & ranking.down & ~gain)
    do_no_harm = _signs(up & ~hurt, down & ~gain)
    if everywhere is None:
        zeros = np.zeros_like(strict)
        everywhere = OverAll(zeros, zeros, worse=zeros > 0, better=zeros > 0)
    stands = do_no_harm == everywhere.confirmed
    # Where neither facet decides, the parts may each be too weak and their sum may not be. No
    # estimate points against it.
    neither = ~(up | down)
    ahead = neither & (coverage.estimate >= 0) & (ranking.estimate >= 0) & ~hurt
    behind = neither & (coverage.estimate <= 0) & (ranking.estimate <= 0) & ~gain
    together = _signs((everywhere.decided > 0) & ahead, (everywhere.decided < 0) & behind)
    claimed = do_no_harm + together  # one of them is 0
    guard = ((claimed > 0) & everywhere.worse) | ((claimed < 0) & everywhere.better)
    first_that_applies = {
        TRADE_OFF: guard | (up & hurt) | (down & gain),
        "better on both facets": strict > 0,
        "worse on both facets": strict < 0,
        "better on coverage": (do_no_harm > 0) & stands & coverage.up,
        "better on ranking": (do_no_harm > 0) & stands,
        "worse on coverage": (do_no_harm < 0) & stands & coverage.down,
        "worse on ranking": (do_no_harm < 0) & stands,
        "coverage gain, unconfirmed": (do_no_harm > 0) & coverage.up,
        "ranking gain, unconfirmed": do_no_harm > 0,
        "coverage loss, unconfirmed": (do_no_harm < 0) & coverage.down,
        "ranking loss, unconfirmed": do_no_harm < 0,
        "better over all queries": together > 0,
        "worse over all queries": together < 0,
    }
    codes = [LABELS.index(label) for label in first_that_applies]
    label = np.select(list(first_that_applies.values()), codes, LABELS.index(NO_DIFFERENCE))
    is_trade_off = label == LABELS.index(TRADE_OFF)
    return Verdicts(
        label=label.astype(np.int64, copy=False),
        strict=strict,
        do_no_harm=do_no_harm,
        guard=guard,
        coverage_found=_shown(coverage, is_trade_off),
        ranking_found=_shown(ranking, is_trade_off),
        all_queries_found=np.where(neither, everywhere.decided, everywhere.confirmed),
    )


def _signs(better: Bools, worse: Bools) -> Ints:
    """Return 1 where something is better, -1 where it is worse, else 0."""
    # 64 bits each would be most of the memory of a million pairs.
    signs: Ints = np.subtract(better, worse, dtype=np.int8)
    return signs


def _shown(facet: Findings, is_trade_off: Bools) -> Ints:
    """Return what is said of a facet: what is significant, and in a trade-off also the harm or gain that made it one."""
    significant = _signs(facet.up, facet.down)
    raw = _signs(facet.gain, facet.hurt)
    return np.where((significant == 0) & is_trade_off, raw, significant)


def judge(
    tests: PairTests,
    *,
    alpha: float,
    correction: str = "none",
    looks: int = 1,
    corrected: FamilyPvalues | None = None,
) -> Verdicts:
    """Reach the verdicts, after the deciding p-values were corrected over the family and multiplied by the number of looks."""
    if corrected is None:
        corrected = tests.deciding.each(lambda raw: adjust(raw, correction))
    pvalues = corrected.each(lambda own: np.minimum(1.0, looks * own))
    ranking = find(
        tests.ranking,
        pvalues.ranking,
        alpha,
        vetoes=(tests.ranking_mean, tests.ranking_wilcoxon),
        mean=tests.ranking_mean,
    )
    everywhere = None
    if tests.everywhere is not None and pvalues.all_queries is not None:
        everywhere = over_all(
            tests.everywhere,
            pvalues.all_queries,
            alpha,
            wilcoxon=tests.everywhere_wilcoxon,
            won_and_lost=tests.won_and_lost,
        )
    coverage = find(tests.coverage, pvalues.coverage, alpha)
    return decide(coverage, ranking, everywhere)._replace(corrected=pvalues)
