"""Inputs that ended in a traceback of another library: each is an error of ours, or works."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import P

import ir_outcomes as iro
from ir_outcomes import ESL
from ir_outcomes.errors import IrOutcomesError
from ir_outcomes.reading.files import name_of, read_ids, read_texts
from ir_outcomes.reading.outputs import read_output

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
        lambda: iro.as_run(None),
        lambda: iro.as_qrels([ir_measures.Qrel("q", "d", 1), None]),
        lambda: iro.as_qrels({"q": {"d": 1j}}),
        lambda: iro.search_lengths(QRELS, {"\ud800": {"d": 1.0}}),
        lambda: iro.search_lengths({"q": {"d": 1}}, {"q": {"\ud800": 1.0, "d": 1.0}}),
        lambda: iro.search_lengths(QRELS, {"q": {"d": 1j}}),
        lambda: iro.search_lengths(QRELS, {"q": {"a": 1.0, None: 1.0}}),
        lambda: iro.search_lengths(QRELS, RUN, cutoff=10**22),
        lambda: iro.search_lengths(QRELS, RUN).esl(need=10**22),
        lambda: iro.evaluate(QRELS, [RUN]).save("/dev/full"),
        lambda: iro.evaluate(QRELS, [RUN]).save("a\0b.npz"),
        lambda: iro.load_evaluation("/dev/zero"),
        lambda: iro.load_evaluation("a\0b"),
        lambda: iro.read_run("a\0b"),
        lambda: iro.read_run("\udce9"),
        lambda: iro.evaluate(QRELS, [RUN], names=[1]),  # type: ignore[list-item]
        lambda: iro.evaluate(QRELS, [RUN], measures=[P @ 0]),
        lambda: iro.evaluate(QRELS, [RUN], measures=["nDCG@" + "9" * 23]),
        lambda: iro.evaluate(QRELS, [RUN], measures=[None]),
        lambda: iro.evaluate(QRELS, [RUN, None]),
        lambda: iro.evaluate(QRELS, [RUN], queries="a\0b"),
        lambda: iro.parse_measure(None),
        lambda: ESL @ 10**22,
        lambda: iro.register_baseline("x", {"q": {"d": None}}),
        lambda: ir_measures.calc_aggregate([ESL(baseline="a\0b") @ 10], QRELS, RUN),
        lambda: read_output({"q": {"RR": 1j}}),
        lambda: read_output([None]),
        lambda: read_output("a\0b"),
        lambda: read_texts("a\0b"),
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
    for ties in ("trec", "msmarco", "input"):
        nested = iro.search_lengths(qrels, run, ties=ties)
        arrays = iro.search_lengths(qrels, iro.as_run(run), ties=ties)
        assert nested.rank.tolist() == arrays.rank.tolist()


def test_no_break_spaces_in_lists_of_queries(tmp_path: Path) -> None:
    path = tmp_path / "queries"
    path.write_text("q1 what is\nq2\u00a0\n", "utf-8")
    assert read_ids(path) == ["q1", "q2\u00a0"]
    path.write_text("\n q1\twhat\u00a0is\n\n", "utf-8")
    assert read_ids(path) == ["q1"]
    assert read_texts(path) == {"q1": "what\u00a0is"}
