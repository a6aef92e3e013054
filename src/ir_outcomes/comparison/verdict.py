"""From what the tests found on each facet to verdicts: the decision table, the confirmation and the guard, on arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ir_outcomes.comparison.facets import Facets, PairTests
from ir_outcomes.comparison.margins import against_margins, within_margins
from ir_outcomes.comparison.outcomes import PairedQueries
from ir_outcomes.statistics import adjust
from ir_outcomes.statistics.tests import Tests
from ir_outcomes.types import Bools, Floats, Ints

Direction = Literal["better", "worse", "none"]

NO_PVALUES: Floats = np.empty(0)
NO_DIFFERENCE = "no significant difference"
_LABELS: dict[str, tuple[Direction, str]] = {  # every label, from best to worst, with its direction and the start of a sentence
    "better on both facets": ("better", "{contender} is better than {baseline} on both facets"),
    "better without harm": ("better", "{contender} is better than {baseline} without significant harm"),
    "coverage gain, unconfirmed": ("none", "{contender} gains on coverage over {baseline}, not confirmed over all queries"),
    "ranking gain, unconfirmed": ("none", "{contender} gains on ranking over {baseline}, not confirmed over all queries"),
    NO_DIFFERENCE: ("none", "There is no significant difference between {contender} and {baseline}"),
    "trade-off": ("none", "{contender} against {baseline} is a trade-off"),
    "ranking loss, unconfirmed": ("none", "{contender} loses on ranking to {baseline}, not confirmed over all queries"),
    "coverage loss, unconfirmed": ("none", "{contender} loses on coverage to {baseline}, not confirmed over all queries"),
    "worse without gain": ("worse", "{contender} is worse than {baseline} without significant gain"),
    "worse on both facets": ("worse", "{contender} is worse than {baseline} on both facets"),
}
LABELS = tuple(_LABELS)
SENTENCES = {label: sentence for label, (_, sentence) in _LABELS.items()}
DIRECTIONS = np.array([{"better": 1, "worse": -1, "none": 0}[direction] for direction, _ in _LABELS.values()])
# The label with the runs swapped: two labels have no direction and stay.
MIRRORED = dict(zip(LABELS, LABELS[::-1], strict=True)) | {label: label for label in (NO_DIFFERENCE, "trade-off")}

Decision = Literal["better", "worse", "undecided"]
DECISIONS: dict[int, Decision] = {1: "better", -1: "worse", 0: "undecided"}  # of the rules *strict* and *do no harm*


def direction_of(label: str) -> Direction:
    """Return the direction of a label for the contender."""
    return _LABELS[label][0]


@dataclass(frozen=True)
class Verdict:
    """The two-facet significance verdict on a contender (Lin et al. 2021, section 5)."""

    label: str  #: one of `LABELS`, after the confirmation and the guard
    direction: Direction  #: of the label
    strict: Decision  #: the paper's rule: both facets improve significantly and neither is hurt; or the same for the baseline
    do_no_harm: Decision  #: the paper's weaker rule: at least one facet improves significantly and none is hurt
    #: whether the search lengths over all queries turned the label into "trade-off"; None where they are not known
    guard: bool | None
    #: whether harm beyond the margins is excluded on both facets and, with a cutoff, over all queries; None without margins
    non_inferior: bool | None
    equivalent: bool | None  #: whether any difference beyond them is
    sentence: str  #: the verdict in plain words, with its numbers


class Findings(NamedTuple):
    """What the tests say about one facet, for each of m contenders; (m,) bool arrays."""

    up: Bools  # it improves, and the corrected p-value of the deciding test is at most alpha
    hurt: Bools  # it worsens, and a raw p-value is: of the deciding test, or for ranking of t or Wilcoxon in its own direction
    down: Bools  # up and hurt with the runs swapped
    gain: Bools


class Verdicts(NamedTuple):
    """The two-facet verdict on each of m contenders; (m,) arrays."""

    label: Ints  # index into LABELS, after the confirmation and the guard
    strict: Ints  # the rule of Lin et al. 2021, before the guard: 1 better (both facets up, none hurt), -1 worse, 0 undecided
    do_no_harm: Ints  # the same for their weaker rule: at least one facet up, none hurt
    guard: Bools  # whether the guard turned a label into "trade-off"
    coverage_p: Floats = NO_PVALUES  # corrected p-values of the deciding tests, where `judge` made the verdicts
    ranking_p: Floats = NO_PVALUES

    @property
    def direction(self) -> Ints:
        """(m,) int array: 1 where the label is better, -1 where it is worse, 0 where it has no direction."""
        directions: Ints = DIRECTIONS[self.label]
        return directions

    def labels(self) -> list[str]:
        """Return the labels as text."""
        return [LABELS[code] for code in self.label.tolist()]

    def of(self, place: int, found: Facets, pair: PairedQueries, margins: Sequence[float] | None) -> Verdict:
        """Return one verdict, without its sentence."""
        label, non_inferior, is_equivalent = LABELS[self.label[place]], None, None
        if margins is not None:
            against = against_margins(found.coverage, found.ranking, found.restricted, pair.outcomes, margins, pair.identical)
            non_inferior, is_equivalent = within_margins(against, pair.identical)
        return Verdict(
            label=label,
            direction=direction_of(label),
            strict=DECISIONS[int(self.strict[place])],
            do_no_harm=DECISIONS[int(self.do_no_harm[place])],
            guard=None if found.restricted is None else bool(self.guard[place]),
            non_inferior=non_inferior,
            equivalent=is_equivalent,
            sentence="",
        )


def find(deciding: Tests, corrected: Floats, alpha: float, *, higher_is_better: bool, vetoes: Sequence[Tests] = ()) -> Findings:
    """Return what the tests of a facet find: the deciding one with its corrected p-values, and others for gain and harm."""
    sign, tests = 1 if higher_is_better else -1, (deciding, *vetoes)
    gain, hurt = (
        np.any([(test.pvalue <= alpha) & (test.direction == side) for test in tests], axis=0) for side in (sign, -sign)
    )
    significant = corrected <= alpha
    up, down = (significant & (deciding.direction == side) for side in (sign, -sign))
    return Findings(up, hurt, down, gain)


def confirmed_by(tests: Sequence[Tests], alpha: float, *, higher_is_better: bool) -> Ints:
    """Return the direction that all queries confirm for each contender: 1 better, -1 worse, 0 neither."""
    mean = tests[0]
    significant = np.any([(test.pvalue <= alpha) & (test.direction == mean.direction) for test in tests], axis=0)
    return np.where(significant, mean.direction if higher_is_better else -mean.direction, 0)


def decide(
    coverage: Findings,
    ranking: Findings,
    confirmed: Ints | None = None,
    guards: Sequence[Tests] = (),
    alpha: float = 0.05,
) -> Verdicts:
    """Apply the rules of Lin et al. 2021, section 5, then the confirmation and the guard."""
    up, hurt, down, gain = (of_coverage | of_ranking for of_coverage, of_ranking in zip(coverage, ranking, strict=True))
    strict = (coverage.up & ranking.up & ~hurt).astype(np.int64) - (coverage.down & ranking.down & ~gain)
    do_no_harm = (up & ~hurt).astype(np.int64) - (down & ~gain)
    stands = np.zeros(len(do_no_harm), dtype=bool) if confirmed is None else do_no_harm == confirmed
    guard = np.zeros(len(do_no_harm), dtype=bool)
    for test in guards:
        # A positive direction of the test is worse for the contender, so it contradicts "better", and the reverse.
        guard |= (test.pvalue <= alpha) & (test.direction * do_no_harm > 0)
    first_that_applies = {
        "trade-off": guard | (up & hurt) | (down & gain),
        "better on both facets": strict > 0,
        "worse on both facets": strict < 0,
        "better without harm": (do_no_harm > 0) & stands,
        "worse without gain": (do_no_harm < 0) & stands,
        "coverage gain, unconfirmed": (do_no_harm > 0) & coverage.up,
        "ranking gain, unconfirmed": do_no_harm > 0,
        "coverage loss, unconfirmed": (do_no_harm < 0) & coverage.down,
        "ranking loss, unconfirmed": do_no_harm < 0,
    }
    codes = [LABELS.index(label) for label in first_that_applies]
    label = np.select(list(first_that_applies.values()), codes, LABELS.index(NO_DIFFERENCE))
    return Verdicts(label.astype(np.int64), strict, do_no_harm, guard)


def stacked(tests: Sequence[PairTests]) -> PairTests:
    """Join the tests of several pairs, such as those of a family."""
    coverage = [pair.coverage for pair in tests]
    ranking = [pair.ranking for pair in tests]
    ranking_mean = [pair.ranking_mean for pair in tests]
    ranking_wilcoxon = [pair.ranking_wilcoxon for pair in tests]
    everywhere = [pair.everywhere for pair in tests]
    everywhere_wilcoxon = [pair.everywhere_wilcoxon for pair in tests]
    won_and_lost = [pair.won_and_lost for pair in tests]
    return PairTests(
        coverage=_joined(coverage),
        ranking=_joined(ranking),
        ranking_mean=_joined(ranking_mean),
        ranking_wilcoxon=_joined(ranking_wilcoxon),
        everywhere=_joined_where_known(everywhere),
        everywhere_wilcoxon=_joined_where_known(everywhere_wilcoxon),
        won_and_lost=_joined_where_known(won_and_lost),
        higher_is_better=tests[0].higher_is_better,
    )


def _joined(parts: Sequence[Tests]) -> Tests:
    """Return the p-values and directions of all parts, one after the other."""
    pvalues = [part.pvalue for part in parts]
    directions = [part.direction for part in parts]
    return Tests(np.concatenate(pvalues), np.concatenate(directions))


def _joined_where_known(parts: Sequence[Tests | None]) -> Tests | None:
    """Return the same, or None where a part is not known."""
    known = [part for part in parts if part is not None]
    return _joined(known) if len(known) == len(parts) else None


def judge(
    tests: PairTests,
    *,
    alpha: float,
    correction: str = "none",
    looks: int = 1,
    corrected: tuple[Floats, Floats] | None = None,
) -> Verdicts:
    """Reach the verdicts, after the deciding p-values were corrected over the family and multiplied by the number of looks."""
    if corrected is None:
        corrected = adjust(tests.coverage.pvalue, correction), adjust(tests.ranking.pvalue, correction)
    coverage_p, ranking_p = (np.minimum(1.0, looks * np.asarray(pvalues)) for pvalues in corrected)
    coverage = find(tests.coverage, coverage_p, alpha, higher_is_better=True)
    vetoes = tests.ranking_mean, tests.ranking_wilcoxon
    ranking = find(tests.ranking, ranking_p, alpha, higher_is_better=tests.higher_is_better, vetoes=vetoes)
    confirmed = None
    guards: list[Tests] = []
    if tests.everywhere is not None and tests.everywhere_wilcoxon is not None:
        confirming = tests.everywhere, tests.everywhere_wilcoxon
        confirmed = confirmed_by(confirming, alpha, higher_is_better=tests.higher_is_better)
    if tests.everywhere is not None and tests.won_and_lost is not None:
        guards = [tests.everywhere, tests.won_and_lost]
    verdicts = decide(coverage, ranking, confirmed, guards, alpha)
    return verdicts._replace(coverage_p=coverage_p, ranking_p=ranking_p)
