"""Errors and words: what a message shows, and inputs that ended in a traceback of another library."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import ir_measures
import pytest

import ir_outcomes as iro
from ir_outcomes import ESL
from ir_outcomes.choices import OneOrder
from ir_outcomes.errors import (
    FormatError,
    IrOutcomesError,
    IrOutcomesWarning,
    ParameterError,
    escaped,
    some,
)
from ir_outcomes.formatting import pvalue
from ir_outcomes.reading.files import name_of, read_ids


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢 👍🏽 a\u200cb", "plain é 漢 👍🏽 a\u200cb"),
        ("\x1b[31m\x00\x07\x7f\x85\x9b", r"\x1b[31m\x00\x07\x7f\x85\x9b"),
        ("a\tb\nc\rd", r"a\tb\nc\rd"),
        (
            "\u202eabc\u2066\u2028\ufeff\u200f\U000e0041",
            r"\u202eabc\u2066\u2028\ufeff\u200f\U000e0041",
        ),
        ("caf\udce9 \ud800", r"caf\xe9 \ud800"),
    ],
)
def test_control_characters_are_shown_as_escapes(text: str, shown: str) -> None:
    assert escaped(text) == shown
    assert escaped(shown) == shown


def test_no_message_contains_a_control_character() -> None:
    for kind in (IrOutcomesError, IrOutcomesWarning):
        assert (
            str(kind("\x1b]0;title\x07: no such file\n  next line"))
            == "\\x1b]0;title\\x07: no such file\n  next line"
        )
    error = FormatError("a\nb\x1b.run", "is wrong", line=3, text="q\x1b1")
    assert str(error) == "a\\nb\\x1b.run, line 3: is wrong\n  'q\\x1b1'"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert some(["q\x1b", "b"]) == r"q\x1b, b"


def test_an_error_carries_the_arguments_that_it_is_about() -> None:
    error = ParameterError("must be at most n", won=3, n=2)
    for same in (error, pickle.loads(pickle.dumps(error))):
        assert (str(same), same.arguments) == (
            "`won=3`, `n=2`: must be at most n",
            {"won": 3, "n": 2},
        )
    assert len(str(ParameterError("must be short", names=["a"] * 1000))) < 120
    assert str(ParameterError("there is nothing")) == "there is nothing"


@pytest.mark.parametrize(
    ("p", "alpha", "text"),
    [
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


QRELS = {"q": {"d": 1}}
RUN = {"q": {"d": 1.0}}


@pytest.mark.parametrize(
    "call",
    [
        lambda: iro.as_run([ir_measures.ScoredDoc("q", "d", 1.0), None]),
        lambda: iro.as_run({"q": {"d": None}}),
        lambda: iro.as_run({None: {"d": 1.0}}),
        lambda: iro.as_run({"\ud800": {"d": 1.0}}),
        lambda: iro.as_run({"q": {"\ud800": 1.0}}),
        lambda: iro.as_qrels([ir_measures.Qrel("q", "d", 1), None]),
        lambda: iro.as_qrels({"q": {"d": 1j}}),
        lambda: iro.search_lengths(QRELS, {"\ud800": {"d": 1.0}}),
        lambda: iro.search_lengths(QRELS, RUN, cutoff=10**22),
        lambda: iro.search_lengths(QRELS, RUN).esl(need=10**22),
        lambda: iro.evaluate(QRELS, [RUN]).save("/dev/full"),
        lambda: iro.evaluate(QRELS, [RUN]).save("a\0b.npz"),
        lambda: iro.load_evaluation("/dev/zero"),
        lambda: iro.read_run("a\0b"),
        lambda: iro.read_run("\udce9"),
        lambda: iro.evaluate(QRELS, [RUN], measures=["nDCG@" + "9" * 23]),
        lambda: iro.evaluate(QRELS, [RUN], queries="a\0b"),
        lambda: ESL @ 10**22,
        lambda: iro.register_baseline("x", {"q": {"d": None}}),
        lambda: ir_measures.calc_aggregate([ESL(baseline="a\0b") @ 10], QRELS, RUN),
        lambda: iro.outputs({"q": {"RR": 1j}}),
        lambda: iro.outputs([None]),
        lambda: read_ids("/dev/null"),
    ],
)
def test_an_error_of_ours(call: Callable[[], Any]) -> None:
    with pytest.raises(IrOutcomesError) as caught:
        call()
    assert str(caught.value).isprintable() or "\n" in str(caught.value)


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    path = os.fsdecode(folder + b"/caf\xe9\x1b.run")
    Path(path).write_text("q Q0 d 1 1 t\n")
    run = iro.read_run(path)
    run.name.encode()
    assert name_of(path).startswith("caf\\xe9")
    Path(path).write_text("q Q0 d 1 x t\n")
    with pytest.raises(IrOutcomesError, match=r"caf\\xe9\\x1b\.run, line 1"):
        iro.read_run(path)


def test_what_a_dict_may_hold_and_a_file_may_not() -> None:
    """White space in ids works in dicts, in every form and under every rule."""
    qrels = {"a query\n": {"a document": 1, "d\u2028": 1}}
    run = {"a query\n": {"a document": 1.0, "d\u2028": 1.0, "x\ty": 1.0}}
    for ties in get_args(OneOrder):
        nested = iro.search_lengths(qrels, run, ties=ties)
        arrays = iro.search_lengths(qrels, iro.as_run(run), ties=ties)
        assert nested.rank.tolist() == arrays.rank.tolist()
