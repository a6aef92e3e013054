"""The decision table of the verdict, over every combination of findings; and the verdict of published numbers."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from ir_outcomes import SummaryVerdict, verdict_from_summary
from ir_outcomes.comparison.verdict import (
    LABELS,
    MIRRORED,
    Findings,
    OverAll,
    decide,
    direction_of,
    is_unconfirmed,
    meaning_of,
    over_all,
)
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.kernels import Pvalues

NAMES = ("up", "hurt", "down", "gain")
every: list[Any] = [
    Findings(**dict(zip(NAMES, flags, strict=True)), estimate=estimate)  # type: ignore[arg-type]
    for flags in itertools.product((False, True), repeat=4)
    for estimate in (-1, 0, 1)
]
# A facet that is significant after correction is significant before it, and does not improve and
# worsen by one test.
possible = [f for f in every if f.up <= f.gain and f.down <= f.hurt and not (f.up and f.down)]
pairs = list(itertools.product(possible, repeat=2))


def findings(side: int) -> Findings:
    """The findings of one facet in all pairs of findings."""
    flags = {
        name: np.array([getattr(pair[side], name) for pair in pairs], dtype=bool) for name in NAMES
    }
    return Findings(**flags, estimate=np.array([pair[side].estimate for pair in pairs]))


def everywhere(
    confirmed: int, decided: int = 0, *, worse: bool = False, better: bool = False
) -> OverAll:
    """The same finding over all queries for all pairs."""
    n = len(pairs)
    return OverAll(
        np.full(n, confirmed), np.full(n, decided), np.full(n, worse), np.full(n, better)
    )


def label_by_the_rules(
    coverage: Findings, ranking: Findings, confirmed: int | None, decided: int
) -> str:
    """The label without the guard, one rule after the other as in design and docs/verdict.md."""
    facets = {"coverage": coverage, "ranking": ranking}
    ups = [name for name, facet in facets.items() if facet.up]
    downs = [name for name, facet in facets.items() if facet.down]
    hurt = any(facet.hurt for facet in facets.values())
    gain = any(facet.gain for facet in facets.values())
    if (ups and hurt) or (downs and gain):
        return "trade-off"
    for direction, changed, sign, word in (
        ("better", ups, 1, "gain"),
        ("worse", downs, -1, "loss"),
    ):
        if len(changed) == 2:
            return f"{direction} on both facets"
        if changed and confirmed == sign:
            return f"{direction} on {changed[0]}"
        if changed:
            return f"{changed[0]} {word}, unconfirmed"
    for direction, sign, harm in (("better", 1, hurt), ("worse", -1, gain)):
        if (
            decided == sign
            and not harm
            and all(facet.estimate * sign >= 0 for facet in facets.values())
        ):
            return f"{direction} over all queries"
    return "no significant difference"


@pytest.mark.parametrize(
    ("confirmed", "decided"), [(None, 0), (-1, 0), (0, 0), (1, 0), (1, 1), (-1, -1)]
)
def test_every_combination(confirmed: int | None, decided: int) -> None:
    found = None if confirmed is None else everywhere(confirmed, decided)
    verdicts = decide(findings(0), findings(1), found)
    rows = zip(
        verdicts.labels(), verdicts.direction, verdicts.strict, verdicts.do_no_harm, strict=True
    )
    for (coverage, ranking), (label, direction, strict, do_no_harm) in zip(
        pairs, rows, strict=True
    ):
        ups = coverage.up + ranking.up
        hurts = coverage.hurt + ranking.hurt
        downs = coverage.down + ranking.down
        gains = coverage.gain + ranking.gain
        assert (strict == 1, strict == -1) == (ups == 2 and hurts == 0, downs == 2 and gains == 0)
        assert (do_no_harm == 1, do_no_harm == -1) == (
            ups >= 1 and hurts == 0,
            downs >= 1 and gains == 0,
        )
        assert label == label_by_the_rules(coverage, ranking, confirmed, decided)
        assert direction == {"better": 1, "worse": -1}.get(label.split()[0], 0)
    assert not verdicts.guard.any()


def test_swapped_runs_have_the_mirrored_label() -> None:
    for confirmed, decided in ((0, 0), (1, 0), (1, 1)):
        facets = findings(0), findings(1)
        coverage, ranking = (Findings(f.down, f.gain, f.up, f.hurt, -f.estimate) for f in facets)
        labels = decide(*facets, everywhere(confirmed, decided)).labels()
        mirrored = decide(coverage, ranking, everywhere(-confirmed, -decided)).labels()
        assert [MIRRORED[label] for label in labels] == mirrored


@pytest.mark.parametrize("confirmed", [-1, 0, 1])
@pytest.mark.parametrize("direction", [1, -1])
def test_the_guard_contradicts_what_has_or_claims_a_direction(
    confirmed: int, direction: int
) -> None:
    plain = decide(findings(0), findings(1), everywhere(confirmed, confirmed))
    against = everywhere(confirmed, confirmed, worse=direction > 0, better=direction < 0)
    guarded = decide(findings(0), findings(1), against)
    decided = np.array([label.endswith("over all queries") for label in plain.labels()])
    assert decided.any() == bool(confirmed)
    claimed = np.where(decided, plain.direction, plain.do_no_harm)
    assert (guarded.guard == (claimed == direction)).all()
    expected = [
        "trade-off" if acted else label
        for label, acted in zip(plain.labels(), guarded.guard, strict=True)
    ]
    assert guarded.labels() == expected
    assert (guarded.do_no_harm == plain.do_no_harm).all()


def test_all_queries_confirm_by_either_test_in_the_direction_of_their_mean() -> None:
    # mean: p and direction; Wilcoxon: p and direction; what they confirm
    table = np.array([
        (0.01, -1, 0.5, 0, -1),
        (0.2, -1, 0.01, -1, -1),
        (0.2, -1, 0.01, 1, 0),  # Wilcoxon the other way
        (0.2, 0, 0.01, -1, 0),  # a mean without direction
        (0.2, -1, 0.2, -1, 0),
        (0.01, 1, 0.01, -1, 1),
    ])  # fmt: skip
    mean, wilcoxon = (Pvalues(table[:, p], table[:, p + 1].astype(int)) for p in (0, 2))
    found = over_all(mean, mean.pvalue, 0.05, wilcoxon=wilcoxon)
    assert (found.confirmed == table[:, 4]).all()
    assert found.decided.tolist() == [-1, 0, 0, 0, 0, 1]
    assert not found.worse.any()
    assert not found.better.any()  # without search lengths there is no guard
    guarded = over_all(mean, mean.pvalue, 0.05, won_and_lost=wilcoxon)
    assert guarded.worse.tolist() == [True, True, False, True, False, True]
    assert guarded.better.tolist() == [False, False, True, False, False, True]


def test_labels_stand_from_best_to_worst_and_say_what_is_better() -> None:
    assert [direction_of(label) for label in LABELS] == ["better"] * 4 + ["none"] * 6 + [
        "worse"
    ] * 4
    for label in LABELS:
        meaning = meaning_of(label)
        assert is_unconfirmed(label) == label.endswith("unconfirmed")
        if meaning.by != "none":
            assert ("both facets" if meaning.by == "both" else meaning.by) in label
        assert meaning.direction == "none" or label.startswith(meaning.direction)


N = 5793
# Lin et al. 2021, Table 2: contender, % A wins, % B wins, A ESL, B ESL, WSR p, t p. And section 5
# in words: the answers that follow from its two rules, strict and do no harm, and the label.
# Nothing confirms a direction with one facet where only means were published.
TABLE_2 = {
    "R2": ((9, 16, 6.99, 9.14, 3.22e-12, 1.60e-07), ("undecided", "undecided", "trade-off")),
    "R3": (
        (15, 14, 7.15, 5.99, 4.62e-06, 1.34e-05),
        ("undecided", "better", "ranking gain, unconfirmed"),
    ),
    "R4": ((10, 15, 7.06, 8.13, 0.000249, 0.004918), ("undecided", "undecided", "trade-off")),
    "R5": (
        (11, 15, 7.13, 7.27, 0.609428, 0.813828),
        ("undecided", "better", "coverage gain, unconfirmed"),
    ),
    "R6": (
        (10, 15, 7.15, 7.19, 0.886547, 0.381946),
        ("undecided", "better", "coverage gain, unconfirmed"),
    ),
    "R7": ((10, 15, 7.27, 6.98, 0.279188, 0.022938), ("better", "better", "better on both facets")),
    "R8": (
        (15, 15, 7.06, 5.71, 7.94e-08, 8.68e-08),
        ("undecided", "better", "ranking gain, unconfirmed"),
    ),
    "R9": (
        (15, 14, 7.15, 5.15, 2.03e-16, 4.33e-17),
        ("undecided", "better", "ranking gain, unconfirmed"),
    ),
    "R10": (
        (12, 15, 7.08, 5.88, 4.79e-06, 1.46e-06),
        ("better", "better", "better on both facets"),
    ),
    "R10 against R9": (
        (12, 17, 5.22, 5.79, 0.026583, 0.006238),
        ("undecided", "undecided", "trade-off"),
    ),
}


def answers(verdict: SummaryVerdict) -> tuple[str, str, str]:
    return verdict.strict, verdict.do_no_harm, verdict.label


def from_table(row: str, pvalue: float | None = None) -> SummaryVerdict:
    lost, won, a, b, _, t = TABLE_2[row][0]
    return verdict_from_summary(
        N, won / 100 * N, lost / 100 * N, b - a, t if pvalue is None else pvalue, rounding=0.5
    )


def test_table_2_and_the_table_in_the_docs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "numbers" / "lin-table-2.md").read_text(
        encoding="utf-8"
    )
    printed = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| R")
    ]
    for cells, (row, (numbers, expected)) in zip(printed, TABLE_2.items(), strict=True):
        by_t = from_table(row)
        assert answers(by_t) == expected
        assert by_t.direction == ("better" if by_t.strict == "better" else "none")
        # By Wilcoxon.
        assert answers(from_table(row, numbers[4])) == (
            TABLE_2["R6"][1] if row == "R7" else expected
        )
        assert by_t.coverage_pvalues[0] <= by_t.coverage_pvalue <= by_t.coverage_pvalues[1]
        _, _, lost, won, pvalue, a, b, t, *labels, survives = cells
        assert (float(lost.rstrip("% ")), float(won.rstrip("% ")), float(a), float(b)) == numbers[
            :4
        ]
        assert ([*answers(from_table(row, float(t)))], f"{by_t.coverage_pvalue:.2g}") == (
            labels,
            pvalue,
        )
        assert by_t.survives_rounding == (survives == "yes")


def test_rounding_of_the_percentages_matters_where_they_are_close() -> None:
    close = from_table("R3")
    assert close.coverage_pvalue == pytest.approx(0.164, abs=5e-4)
    assert close.coverage_pvalues == pytest.approx((0.00582, 1.0), abs=0.03)
    assert set(close.labels) == {"ranking gain, unconfirmed", "trade-off"}


def test_rounded_numbers_are_at_most_all_queries_together() -> None:
    """Of 10 queries, 6 won and 4 lost to within 10 % can have been 7 and 3, or 5 and 5, but not 7 and 5."""
    found = verdict_from_summary(10, 6, 4, 0.5, 0.2, rounding=10)
    assert found.coverage_pvalues == pytest.approx((scipy.stats.binomtest(7, 10).pvalue, 1.0))


def test_decisions_are_those_of_the_numbers_as_they_are_printed() -> None:
    """60 and 40 of 1000 do not differ significantly; 55 and 35, which they may have been rounded from, do."""
    found = verdict_from_summary(1000, 60, 40, -0.5, 0.2, rounding=0.5)
    assert found.coverage_pvalues[0] < 0.05 < found.coverage_pvalue
    assert (found.strict, found.do_no_harm) == ("undecided", "undecided")
    assert found.label == "no significant difference"
    assert set(found.labels) == {found.label, "coverage gain, unconfirmed"}


def test_other_pvalues_count_for_harm_only() -> None:
    assert verdict_from_summary(1000, 60, 20, 0.5, 0.2).label == "coverage gain, unconfirmed"
    assert verdict_from_summary(1000, 60, 20, 0.5, 0.2, other_pvalues=(0.001,)).label == "trade-off"
    assert (
        verdict_from_summary(1000, 20, 20, -0.5, 0.2, other_pvalues=(0.001,)).label
        == "no significant difference"
    )
    assert verdict_from_summary(1000, 20, 60, 0.5, 0.001).strict == "worse"
    assert (
        verdict_from_summary(10, 10, 0, -1.0, 0.001).coverage_pvalue
        == verdict_from_summary(10, 0, 10, -1.0, 1).coverage_pvalue
    )
    # Counts are as they are where no rounding is given.
    exact = verdict_from_summary(1000, 60, 40, 0.5, 0.001)
    assert exact.coverage_pvalues == (exact.coverage_pvalue, exact.coverage_pvalue)


@pytest.mark.parametrize(
    ("arguments", "rounding", "message"),
    [
        ((0, 0, 0, 0.0, 1.0), 0.0, "n=0"),
        ((10, 11, 0, 0.0, 1.0), 0.0, "`won=11`: must be a number of queries between 0 and 10"),
        ((10, 6, 5, 0.0, 1.0), 0.0, "`won=6`, `lost=5`, `n=10`: must be at most n together"),
        # At most 100 % and the most by which both can have been rounded up.
        ((10, 8, 8, 0.0, 1.0), 20.0, "`won=8`, `lost=8`, `n=10`: must be at most n together"),
        (
            (10, 1, 0.5, 0.0, 1.0),
            0.0,
            "`lost=0.5`: must be a whole number of queries, or a published percentage",
        ),
        (
            (5193, 59, 79, 0.1, 1.0),
            0.5,
            "`won=59`: is 1.14 % of n=5193, which is no percentage that was rounded by 0.5",
        ),
        ((10, 1, 1, math.nan, 1.0), 0.0, "ranking_difference=nan"),
        ((10, 1, 1, 0.0, 1.5), 0.0, "`pvalue=1.5`: must be a number between 0 and 1"),
        ((10, 1, 1, 0.0, 1.0), -1.0, "rounding=-1"),
        ((10, 1, 1, 0.0, 1.0), 50.0, "rounding=50"),
    ],
)
def test_impossible_numbers(
    arguments: tuple[int, float, float, float, float], rounding: float, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        verdict_from_summary(*arguments, rounding=rounding)


def test_a_trade_off_shows_the_harm_that_made_it_one() -> None:
    """Coverage is up and ranking is hurt by its raw p-value only; without a trade-off that is not said."""
    yes = np.array([True])
    no = np.array([False])
    up = Findings(yes, no, no, yes, np.array([1]))
    hurt = Findings(no, yes, no, no, np.array([-1]))
    nothing = Findings(no, no, no, no, np.array([0]))
    traded = decide(up, hurt, None)
    assert traded.labels() == ["trade-off"]
    assert (traded.coverage_found[0], traded.ranking_found[0]) == (1, -1)
    harmed = decide(nothing, hurt, None)
    assert harmed.labels() == ["no significant difference"]
    assert (harmed.coverage_found[0], harmed.ranking_found[0]) == (0, 0)
