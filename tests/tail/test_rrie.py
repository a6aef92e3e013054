from __future__ import annotations

import math
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError

PUBLISHED = [  # Alex et al. 2022, Table 1: documents, then passages
    ("P@20", 0.456, 0.594, 25), ("ASL@g1-10", 14, 5, 69), ("MAP", 0.401, 0.543, 24), ("ASL", 39, 27, 32),
    ("P@20", 0.517, 0.706, 39), ("ASL@g1-10", 51, 6, 90), ("MAP", 0.400, 0.572, 29), ("ASL", 264, 215, 19),
]  # fmt: skip


@pytest.mark.parametrize("documents", [PUBLISHED[:4], PUBLISHED[4:]], ids=["documents", "passages"])
def test_rrie_from_published_means_is_table_1(documents: list[tuple[str, float, float, int]]) -> None:
    result = iro.rrie_from_means(
        {measure: mean for measure, mean, _, _ in documents},
        {measure: mean for measure, _, mean, _ in documents},
        names=("BM25", "neural"),
    )
    assert (result.baseline, result.contender, result.settings) == ("BM25", "neural", None)
    for found, (measure, baseline, contender, percent) in zip(result.reductions, documents, strict=True):
        assert (found.measure, found.baseline, found.contender) == (measure, baseline, contender)
        assert found.rrie is not None
        assert 100 * found.rrie == pytest.approx(percent, abs=1.0)
    assert iro.RRIE.from_json(result.to_json()) == result
    (scaled,) = iro.rrie_from_means({"MAP": 40.0}, {"MAP": 55.0}, optima={"MAP": 100}).reductions
    (perfect,) = iro.rrie_from_means({"P@20": 1.0}, {"P@20": 0.9}).reductions
    assert (scaled.rrie, perfect.rrie) == (0.25, None)


@pytest.mark.parametrize(
    ("baseline", "contender", "optima", "message"),
    [
        ({"ASL": 3.0, "AP": 0.4}, {"ASL": 2.0}, None, "there is only one mean of AP"),
        ({}, {}, None, "there is no measure"),
        ({"WER": 0.4}, {"WER": 57.2}, {"WER": 1}, r"WER: 0\.4 and 57\.2 lie on different sides of the optimum 1"),
        ({"AP": 0.4}, {"AP": 0.5}, {"RR": 1}, "optima: there is no mean of RR"),
        ({"ASL": 12.0}, {"ASL": math.nan}, None, r"ASL: 12\.0 and nan: must be finite numbers"),
        ({"AP": "0.4"}, {"AP": 0.5}, None, r"AP: '0\.4' and 0\.5: must be finite numbers"),
        ({"ASL": 0.5}, {"ASL": 3}, None, r"ASL: 0\.5 and 3: a search length is at least 1"),
        # A gain from 40.1 to 54.3 % would be a reduction of -36 %.
        ({"MAP": 40.1}, {"MAP": 54.3}, None, r"MAP: .* are not between 0 and 1: write precisions as shares.*optima=\{'MAP'"),
        ({"MAP": -0.1}, {"MAP": 0.3}, None, r"MAP: .* are not between 0 and 1"),
    ],
)
def test_impossible_means_are_refused(baseline: Any, contender: Any, optima: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        iro.rrie_from_means(baseline, contender, optima=optima)
