"""Two published shares of answered queries, against all runs that could be behind them, and against real runs."""

import itertools
import re
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.comparison.published import Counts
from ir_outcomes.errors import ParameterError
from tests.helpers.command_line import call
from tests.helpers.comparisons import compare_pair


def printed_as(share: str, n: int) -> set[int]:
    """The numbers of n queries whose share is printed like this, with halves rounded up or down."""
    places = Decimal(1).scaleb(-len(share.partition(".")[2]))
    return {
        count
        for count in range(n + 1)
        for rule in (ROUND_HALF_UP, ROUND_HALF_DOWN)
        if (Decimal(count) / n).quantize(places, rule) == Decimal(share)
    }


@given(
    n=st.integers(1, 40),
    a=st.integers(0, 40),
    b=st.integers(0, 40),
    places=st.integers(1, 4),
    alpha=st.sampled_from([0.05, 0.01]),
)
def test_all_runs_that_can_be_behind_two_shares(
    n: int, a: int, b: int, places: int, alpha: float
) -> None:
    shares = [f"{count / n:.{places}f}" for count in (min(a, n), min(b, n))]
    found = iro.verdict_from_means(n, *shares, alpha=alpha)
    possible = [printed_as(share, n) for share in shares]
    assert (found.answered_baseline, found.answered_contender) == tuple(
        (min(own), max(own)) for own in possible
    )
    significant: dict[
        int, dict[int, bool]
    ] = {}  # by the net number, then by the number of queries that differ
    for of_a in possible[0]:
        for of_b in possible[1]:
            for both in range(max(0, of_a + of_b - n), min(of_a, of_b) + 1):
                won, lost = of_b - both, of_a - both
                pvalue = scipy.stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
                significant.setdefault(won - lost, {})[won + lost] = pvalue <= alpha * (1 + 1e-9)
    assert found.net == (min(significant), max(significant))
    assert found.most_differing == max(
        differing for own in significant.values() for differing in own
    )
    answers = {answer for own in significant.values() for answer in own.values()}
    if found.significant == "never":
        assert answers == {False}
    elif found.significant == "always":
        assert answers == {True}
    else:
        assert found.significant == "depends"
        # Where each share stands for one number only, the answer depends on how many queries
        # differ, or the other words apply.
        assert answers == {True, False} or any(len(own) > 1 for own in possible)
    assert found.threshold is not None
    for net, own in significant.items():
        for differing, answer in own.items():
            if abs(net) == min(map(abs, significant)):
                assert answer == (0 < differing <= found.threshold.low)
            if abs(net) == max(map(abs, significant)):
                assert answer == (0 < differing <= found.threshold.high)
    in_words(found, significant)


def in_words(found: iro.MeansVerdict, significant: dict[int, dict[int, bool]]) -> None:
    """Check the first screen against all runs that can be behind the shares, by net number and queries that differ."""
    view = found.view()
    low, high = min(significant), max(significant)
    sizes = sorted({*map(abs, (low, high))})
    assert [int(number) for number in re.findall(r"\d+", view.label)] in (
        sizes,
        [abs(low), abs(high)],
        [],
    )
    if low < 0 < high:
        assert "lost and" in view.label
    elif low or high:
        assert view.label.endswith("won" if high > 0 else "lost")
    else:
        assert view.label == "as many queries won as lost"
    text = view.sentences[0]
    most = {
        net: max((n for n, answer in own.items() if answer), default=0)
        for net, own in significant.items()
    }
    if text.startswith("It cannot be significant"):
        assert not any(most.values())
    elif "whichever queries they are" in text:
        differing = max(max(own) for own in significant.values())
        assert text.endswith(f"such runs differ on at most {differing}.")
        assert all(answer for own in significant.values() for answer in own.values())
    else:
        at_most = re.search(
            r"only if the runs differ on at most (\d+) quer(?:y|ies) \((\S+) %\)", text
        )
        assert at_most is not None
        # A pair that differs on more is not significant; those that differ on as many may not exist.
        assert all(n <= int(at_most[1]) for n in most.values())
        assert float(at_most[2]) == pytest.approx(100 * int(at_most[1]) / found.n, abs=0.051)


def test_shares_that_no_number_of_queries_has() -> None:
    for share in ("0.15", "15 %", "15.0%", ".15"):
        assert iro.verdict_from_means(10, share, ".5").significant == "impossible"
    everything = iro.verdict_from_means(10, "0 %", "100 %")
    assert everything.threshold == Counts(10, 10)  # not more than there are
    found = iro.verdict_from_means(5193, ".4438", ".4400")
    assert (found.answered_baseline, found.net, found.threshold) == (None, None, None)
    assert "No whole number of 5193 queries is printed as .4438." in str(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5193, 0.4439, ".44"), "must be a share as text with all printed decimals"),
        ((5193, ".", ".44"), "must be a share as text with all printed decimals"),
        ((5193, "44.39", ".44"), "at most 1; write percentages with %"),
        ((5193, ".44", "x"), "contender='x'"),
        ((0, ".44", ".45"), "n=0"),
    ],
)
def test_what_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        iro.verdict_from_means(*arguments)


@pytest.mark.realdata
def test_real_pairs(real_data: Path) -> None:
    """From what a paper prints, the counts, and the significance once it is known on how many queries the runs differ."""
    folder = real_data / "known-item"
    evaluation = iro.evaluate(
        next(folder.glob("qrels.txt*")), str(folder / "*.run.gz"), cutoff=10, unit="query"
    )
    decided = []
    names = evaluation.names
    for baseline, contender in [
        *itertools.combinations(names[:5], 2),
        *itertools.permutations(names[4:], 2),
    ]:
        result = compare_pair(evaluation, baseline, contender)
        shares = [
            f"{mean / 100:.4f}"
            for mean in (result.coverage.baseline, result.coverage.contender)
            if mean is not None
        ]
        found = iro.verdict_from_means(result.n_queries, *shares)
        outcomes = result.outcomes
        assert found.net is not None
        assert found.threshold is not None
        assert found.net.low <= outcomes.won - outcomes.lost <= found.net.high
        assert outcomes.won + outcomes.lost <= (found.most_differing or 0)
        significant = result.coverage.pvalue <= 0.05
        assert found.significant != ("never" if significant else "always")
        if found.net.low == found.net.high:
            assert significant == (0 < outcomes.won + outcomes.lost <= found.threshold.low)
            decided.append(significant)
    assert {True, False} == set(decided)


def test_the_command_takes_either_form() -> None:
    done = call("verdict", "--n", "5193", "--means", ".4439", ".4400")
    assert done.stdout.startswith(
        "Shares answered .4439 and .4400 of 5193 queries: net 20 queries lost\n\n"
        "Significant (exact, 5 %) only if the runs differ on at most 94 queries (1.8 %).\n"
    )
    for words in ("--means .44 .45 --won 3", "--won 3 --lost 4", ""):
        done = call("verdict", "--n", "5193", *words.split())
        assert (done.returncode, "either --means, or --won" in done.stderr) == (2, True)


def test_what_published_numbers_cannot_show() -> None:
    """The note on a missing confirmation stands only where one is missing."""
    both = iro.verdict_from_summary(
        1000, won=32, lost=5, ranking_difference=-0.73, ranking_pvalue=0.047
    )
    assert both.label == "better on both facets"
    assert not any("confirm" in note for note in both.notes)
    one = iro.verdict_from_summary(1000, won=32, lost=5, ranking_difference=0.1, ranking_pvalue=0.8)
    assert one.label == "coverage gain, unconfirmed"
    assert one.notes[0].startswith(
        "Published numbers cannot confirm the coverage gain over all queries, so the label has no"
    )
