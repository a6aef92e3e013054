"""Measures from text."""

import re
from typing import Any

import ir_measures
import pytest
from ir_measures import P, nDCG

from ir_outcomes import MissingDependency, ParameterError, parse_measure


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P@0", "P@0: cutoff must be from 1 to 2147483647"),
        ("P@2147483648", "cutoff must be from 1 to 2147483647"),  # trec_eval has 32 bits
        ("P(rel=0)@5", "P(rel=0)@5: rel must be from 1"),
        ("P@'5'", "P: invalid param cutoff='5' (its parameters: cutoff, rel, judged_only)"),
        ("P(cutoff=5)@10", "cutoff is given twice"),
        (
            "nDCG(foo=1)",
            (
                "nDCG: unsupported params found: ['foo'] (its parameters: cutoff, dcg, gains,"
                " judged_only)"
            ),
        ),
        ("nDCG(**{})", "parameters must be named"),
        ("alpha_nDCG@10", "alpha_nDCG@10 needs judgments per subtopic"),
        ("ERR", "ir_measures does not compute ERR with these parameters; try others, or ERR@10"),
        ("ndcg@10", "unknown measure ndcg; did you mean"),
        ("(" * 500, "is not a measure"),
        ("P@" * 9999, "longer than 1000 characters"),
        ("", "is not a measure"),
    ],
)
def test_what_a_measure_needs_is_said_before_another_library_is_asked(
    text: str, message: str
) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        parse_measure(text)


@pytest.mark.parametrize("measure", [P @ 0, nDCG(foo=1), P, 5, None, object()])
def test_objects_are_checked_too(measure: Any) -> None:
    with pytest.raises(ParameterError):
        parse_measure(measure)


def test_measures_that_can_be_computed_pass() -> None:
    assert parse_measure(nDCG) is nDCG
    for text in (
        "P@2147483647",
        "P(rel=2)@5",
        "AP",
        "nDCG(gains={1:3})@10",
        "ESL@100",
        "ASL(missing='cutoff')@10",
    ):
        assert str(parse_measure(text)) == text
    if not ir_measures.cwl_eval.is_available():
        with pytest.raises(
            MissingDependency, match=r"INST\(max_rel=3\) needs cwl_eval \(pip install"
        ):
            parse_measure("INST(max_rel=3)")
