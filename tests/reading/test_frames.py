"""Runs and qrels as pandas, polars and Arrow frames, and as objects of ranx."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, MissingDependency
from tests.fuzz.objects import FRAMES, Stream

QUERIES, DOCUMENTS, SCORES, GRADES = ["q1", "q1", "q2"], ["b", "é", "a"], [1.5, 2.5, 0.5], [1, 0, 2]
RUN = {"q1": {"b": 1.5, "é": 2.5}, "q2": {"a": 0.5}}
QRELS = {"q1": {"b": 1, "é": 0}, "q2": {"a": 2}}

OURS = {"query_id": QUERIES, "doc_id": DOCUMENTS}
PYTERRIER = {"qid": QUERIES, "docno": DOCUMENTS}


@pytest.mark.parametrize("ids", [OURS, PYTERRIER], ids=["ir_measures", "PyTerrier"])
@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind: str, ids: dict[str, Any]) -> None:
    make: Any = FRAMES[kind]
    assert iro.as_run(make({**ids, "score": SCORES})).to_dict() == RUN
    for grade in ("relevance", "label", "rel"):
        assert iro.as_qrels(make({**ids, grade: GRADES})).to_dict() == QRELS


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_whole_number_ids_are_text(kind: str) -> None:
    make: Any = FRAMES[kind]
    frame = make({"qid": [10, 10, 9], "docno": [1, 2, 3], "score": SCORES})
    assert iro.as_run(frame).to_dict() == {"10": {"1": 1.5, "2": 2.5}, "9": {"3": 0.5}}
    found = iro.search_lengths({"10": {"1": 1}, "9": {"3": 1}}, frame)
    assert found.esl().tolist() == [2.0, 1.0]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"qid": QUERIES, "doc": DOCUMENTS, "score": SCORES},
            "has no column 'doc_id' or 'docno' or 'docid' or 'corpus-id'; its columns are qid, doc, score",
        ),
        ({**PYTERRIER, "score": [1.0, None, 2.0]}, r"document é of query q1 has no score or grade \(NaN\)"),
        ({**PYTERRIER, "score": [1.0, float("nan"), 2.0]}, r"document é of query q1 has no score or grade \(NaN\)"),
        ({**PYTERRIER, "qid": ["q1", None, "q2"], "score": SCORES}, "row 2: a query id must be text or a whole number"),
        ({**PYTERRIER, "docno": ["a", "", "b"], "score": SCORES}, "a document id is empty"),
        ({**PYTERRIER, "docno": ["a", "a", "b"], "score": SCORES}, "document a is ranked twice for query q1"),
        ({**PYTERRIER, "score": ["1", "2", "3"]}, "a score or grade must be a number"),
    ],
)
def test_what_is_wrong_is_said(kind: str, columns: dict[str, Any], message: str) -> None:
    make: Any = FRAMES[kind]
    with pytest.raises(FormatError, match=message):
        iro.as_run(make(columns))


@given(
    st.lists(
        st.tuples(st.sampled_from(["q1", "q2", "ü"]), st.text("aé日", min_size=1, max_size=20), st.integers(0, 3)),
        min_size=1,
        max_size=12,
        unique_by=lambda row: row[:2],
    ),
    st.integers(0, 3),
)
def test_text_in_arrow_is_read_as_text_in_objects(rows: list[Any], start: int) -> None:
    """Parts of columns too, and columns in several pieces."""
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    table = pyarrow.Table.from_pandas(frame)
    for form in (pd.concat([frame[:start], frame[start:]]), table, pyarrow.concat_tables([table[:start], table[start:]])):
        ours = iro.as_run(form)
        theirs = iro.as_run(frame.astype({"query_id": object, "doc_id": object}))
        assert ours.query_ids == theirs.query_ids
        assert ours.docids.dtype == theirs.docids.dtype
        assert ours.docids.tolist() == theirs.docids.tolist()
    assert iro.as_run(table[start:]).to_dict() == iro.as_run(frame[start:].astype(object)).to_dict()


@pytest.mark.parametrize(
    ("documents", "message"), [(["a", "b\0", "c"], "has a NUL character"), (["a", "b" * 1001, "c"], "longer than 1000 bytes")]
)
def test_odd_text_in_arrow_is_refused(documents: list[str], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        iro.as_run(pyarrow.table({"qid": QUERIES, "docno": documents, "score": SCORES}))


def test_an_arrow_stream_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match="pip install pyarrow"):
        iro.as_run(Stream(pl.DataFrame({**OURS, "score": SCORES})))


def test_ranx() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ranx and numba warn of their own code when they are imported
        import ranx
    run = iro.as_run(ranx.Run(RUN, name="bm25"))
    assert (run.name, run.to_dict()) == ("bm25", RUN)
    assert iro.as_run(ranx.Run(RUN), "other").name == "other"
    qrels = ranx.Qrels(QRELS)
    assert iro.as_qrels(qrels).to_dict() == QRELS
    found = iro.compare(qrels, ranx.Run(RUN, name="A"), ranx.Run(RUN, name="B"))
    assert isinstance(found, iro.Comparison)
    assert (found.baseline, found.contender) == ("A", "B")
    with pytest.raises(FormatError, match=r"cannot be read from a Random; give .* or a Run or Qrels of ranx"):
        iro.as_run(__import__("random").Random())


@pytest.mark.parametrize("kind", ["pandas", "pandas, wide", "arrow", "arrow stream"])
def test_a_repeated_column_name_is_refused(kind: str) -> None:
    names = ["qid", "docno", "score", "docno"]
    table = pyarrow.table([QUERIES, DOCUMENTS, SCORES, DOCUMENTS], names=names)
    wide = pd.concat([pd.DataFrame({**PYTERRIER, "score": SCORES}), pd.DataFrame({"docno": DOCUMENTS})], axis=1)
    rows = list(zip(QUERIES, DOCUMENTS, SCORES, DOCUMENTS, strict=True))
    frames = {
        "pandas": pd.DataFrame(rows, columns=names),
        "pandas, wide": wide,
        "arrow": table,
        "arrow stream": Stream(table),
    }
    with pytest.raises(FormatError, match="has more than one column 'docno'; rename or remove the others"):
        iro.as_run(frames[kind])


class Relation(Stream):
    """Like a relation of DuckDB: what it gives for a column is another relation."""

    columns = ("qid", "docno", "score")

    def __getitem__(self, name: str) -> Any:
        raise TypeError("a relation is not a column")


def test_an_arrow_stream_is_taken_first() -> None:
    assert iro.as_run(Relation(pl.DataFrame({**PYTERRIER, "score": SCORES}))).to_dict() == RUN


def test_complex_numbers_are_refused() -> None:
    for scores in ([1j, 2.0, 3.0], np.array([1j, 2, 3])):
        with pytest.raises(FormatError, match="a score or grade must be a number"):
            iro.as_run(pd.DataFrame({**PYTERRIER, "score": scores}))
    for column in PYTERRIER:
        with pytest.raises(FormatError, match="id must be text or a whole number, not complex"):
            iro.as_run(pd.DataFrame({**PYTERRIER, "score": SCORES, column: [1j, 2j, 3j]}))


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_that_look_swapped(kind: str) -> None:
    make: Any = FRAMES[kind]
    with pytest.raises(FormatError, match="look like the columns of qrels: were the arguments swapped"):
        iro.as_run(make({**OURS, "relevance": GRADES}))
    with pytest.raises(FormatError, match="look like the columns of a run: were the arguments swapped"):
        iro.as_qrels(make({**OURS, "score": SCORES}))
    beir = {"query-id": QUERIES, "corpus-id": DOCUMENTS, "score": GRADES}
    assert iro.as_qrels(make(beir)).to_dict() == QRELS


def test_a_stream_of_record_batches_without_columns() -> None:
    table = pyarrow.table({"qid": ["q", "q"], "docno": ["a", "b"], "score": [1.0, 2.0]})
    assert iro.as_run(table.to_reader()).to_dict() == {"q": {"a": 1.0, "b": 2.0}}


@pytest.mark.parametrize("column", ["qid", "docno"])
@pytest.mark.parametrize("large", [False, True])
def test_arrow_text_that_is_not_utf_8_is_located(column: str, large: bool) -> None:
    """Query ids were a UnicodeDecodeError; document ids were accepted and failed later."""
    binary, text = (pyarrow.large_binary(), pyarrow.large_string()) if large else (pyarrow.binary(), pyarrow.string())
    columns = {name: pyarrow.array([b"a", b"b", b"c"], binary) for name in ("qid", "docno")}
    columns[column] = pyarrow.array([b"a", b"caf\xe9", b"c"], binary)
    buffers = {name: array.buffers() for name, array in columns.items()}
    named = {name: pyarrow.Array.from_buffers(text, 3, buffers[name]) for name in columns}
    with pytest.raises(FormatError, match=r"(?s)the run: an id is not UTF-8 .*at string index 1"):
        iro.as_run(pyarrow.table({**named, "score": [1.0, 2.0, 3.0]}))


def test_truth_values_are_no_scores(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"q": {"d": true}}')
    for run in (
        {"q": {"d": True}},
        {"q": {"d": np.True_}},
        pd.DataFrame({"qid": ["q"], "docno": ["d"], "score": [True]}),
        path,
    ):
        with pytest.raises(FormatError, match="a score or grade must be a number"):
            iro.evaluate({"q": {"d": 1}}, [run])
