from __future__ import annotations

import pytest

from ir_outcomes.formatting import fixed, interval, listed, percent, plural, pvalue, pvalue_in_words


def test_numbers() -> None:
    assert [fixed(0.12345, 2), fixed(1.5, 2, signed=True), fixed(None, 2)] == ["0.12", "+1.50", "-"]
    assert fixed(-0.001, 2, signed=True) == "+0.00", "no negative zero"
    assert [percent(0.1234), percent(0.5, 2, unit=" %"), percent(None)] == ["12.3", "50.00 %", "-"]
    assert [interval((-0.5, 1.25), 2, signed=True), interval(None, 2)] == ["[-0.50, +1.25]", "-"]


@pytest.mark.parametrize(
    ("p", "alpha", "text"),
    [
        (0.0312, 0.05, "0.031"),
        (3e-9, 0.05, "3e-09"),
        (1.0, 0.05, "1.000"),
        (1e-310, 0.05, "< 1e-300"),
        (None, 0.05, "-"),
        (0.0499, 0.05, "0.0499"),  # as many digits as show on which side of the level it is
        (0.050004, 0.05, "0.050004"),
        (0.05, 0.05, "0.050"),
        (0.0101, 0.01, "0.0101"),
    ],
)
def test_pvalues(p: float | None, alpha: float, text: str) -> None:
    assert pvalue(p, alpha) == text


def test_words() -> None:
    assert [pvalue_in_words(0.0312), pvalue_in_words(0.0)] == ["p = 0.031", "p < 1e-300"]
    nouns = [plural("query", 1), plural("query", 2), plural("run", 0), plural("box", 2)]
    assert nouns == ["1 query", "2 queries", "0 runs", "2 boxes"]
    assert [listed(["10"]), listed(["10", "20", "50"])] == ["10", "10, 20 and 50"]
