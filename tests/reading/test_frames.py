"""Runs and qrels as pandas, polars and Arrow frames, and with odd values."""

import math
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, IrOutcomesError
from tests.helpers.frames import FRAMES, INSTALLED
from tests.helpers.packages import needed

QUERIES, DOCUMENTS, SCORES, GRADES = ["q1", "q1", "q2"], ["b", "é", "a"], [1.5, 2.5, 0.5], [1, 0, 2]
RUN = {"q1": {"b": 1.5, "é": 2.5}, "q2": {"a": 0.5}}
QRELS = {"q1": {"b": 1, "é": 0}, "q2": {"a": 2}}

OURS = {"query_id": QUERIES, "doc_id": DOCUMENTS}
PYTERRIER = {"qid": QUERIES, "docno": DOCUMENTS}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind: str) -> None:
    make = FRAMES[kind]
    for ids in (OURS, PYTERRIER):
        assert iro.as_run(make({**ids, "score": SCORES})).to_dict() == RUN
        assert iro.as_qrels(make({**ids, "relevance": GRADES})).to_dict() == QRELS


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_whole_number_ids_are_text(kind: str) -> None:
    frame = FRAMES[kind]({"qid": [10, 10, 9], "docno": [1, 2, 3], "score": SCORES})
    assert iro.as_run(frame).to_dict() == {"10": {"1": 1.5, "2": 2.5}, "9": {"3": 0.5}}


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"qid": QUERIES, "doc": DOCUMENTS, "score": SCORES},
            "has no column 'doc_id' or .*; its columns are qid, doc, score",
        ),
        (
            {**OURS, "relevance": GRADES},
            "look like the columns of qrels: were the arguments swapped",
        ),
        (
            {**PYTERRIER, "score": [1.0, None, 2.0]},
            r"document é of query q1 has no score or grade \(NaN\)",
        ),
        (
            {**PYTERRIER, "qid": ["q1", None, "q2"], "score": SCORES},
            "row 2: a query id must be text or a whole number",
        ),
        ({**PYTERRIER, "docno": ["a", "", "b"], "score": SCORES}, "a document id is empty"),
        ({**PYTERRIER, "docno": ["a", "b\0", "c"], "score": SCORES}, "has a NUL character"),
        ({**PYTERRIER, "docno": ["a", "b" * 1001, "c"], "score": SCORES}, "longer than 1000 bytes"),
    ],
)
def test_what_is_wrong_is_said(kind: str, columns: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        iro.as_run(FRAMES[kind](columns))


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q1", "q2", "ü"]),
            st.text("aé日", min_size=1, max_size=20),
            st.integers(0, 3),
        ),
        min_size=1,
        max_size=12,
        unique_by=lambda row: row[:2],
    ),
    st.integers(0, 3),
)
def test_text_in_arrow_is_read_as_text_in_objects(rows: list[Any], start: int) -> None:
    """Parts of columns too, and columns in several pieces."""
    pa = needed("pyarrow")
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    table = pa.Table.from_pandas(frame)
    theirs = iro.as_run(frame.astype({"query_id": object, "doc_id": object}))
    for form in (
        pd.concat([frame[:start], frame[start:]]),
        table,
        pa.concat_tables([table[:start], table[start:]]),
    ):
        ours = iro.as_run(form)
        assert ours.query_ids == theirs.query_ids
        np.testing.assert_array_equal(ours.docids, theirs.docids, strict=True)
    assert iro.as_run(table[start:]).to_dict() == iro.as_run(frame[start:].astype(object)).to_dict()


class Stream:
    """What offers an Arrow stream and no columns, as a relation of DuckDB."""

    columns = ("qid", "docno", "score")

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise AssertionError("it is not read")

    def __getitem__(self, name: str) -> Any:
        raise AssertionError("a relation is not a column")


class Run:
    """What has `to_dict`, as a Run of ranx."""

    def to_dict(self) -> dict[str, dict[str, float]]:
        return RUN


class Frame(pd.DataFrame):
    """A frame of a library that builds on pandas."""


@pytest.mark.parametrize("kind", ["lazy frame", "reader", "stream", "object"])
def test_what_has_no_columns_yet_is_refused_with_the_call_that_makes_them(kind: str) -> None:
    columns = {**OURS, "score": SCORES}
    made: Any = {"stream": Stream, "object": Run}.get(kind)
    if kind == "lazy frame":
        made = needed("polars").DataFrame(columns).lazy
    elif kind == "reader":
        made = needed("pyarrow").table(columns).to_reader
    for read in (iro.as_run, iro.as_qrels):
        with pytest.raises(FormatError, match="cannot be read from a "):
            read(made())
    assert iro.as_run(Frame(columns)).to_dict() == RUN


def test_a_repeated_column_name_is_refused() -> None:
    pa = needed("pyarrow")
    table = pa.table(
        [QUERIES, DOCUMENTS, SCORES, DOCUMENTS], names=["qid", "docno", "score", "docno"]
    )
    wide = pd.DataFrame([["q", "d", 1.0, "d"]], columns=table.column_names)
    for frame in (wide, table):
        with pytest.raises(
            FormatError, match="has more than one column 'docno'; rename or remove the others"
        ):
            iro.as_run(frame)


@pytest.mark.parametrize("column", ["qid", "docno"])
def test_arrow_text_that_is_not_utf_8_is_refused(column: str) -> None:
    """Query ids were a UnicodeDecodeError; document ids were accepted and failed later."""
    pa = needed("pyarrow")
    columns = {
        name: pa.array([b"a", b"caf\xe9" if name == column else b"b", b"c"])
        for name in ("qid", "docno")
    }
    named = {
        name: pa.Array.from_buffers(pa.string(), 3, array.buffers())
        for name, array in columns.items()
    }
    with pytest.raises(FormatError, match=r"the run: an id is not UTF-8"):
        iro.as_run(pa.table({**named, "score": [1.0, 2.0, 3.0]}))


ODD: list[Any] = [
    None, True, 5, -1, 10**400, 1.5, math.nan, math.inf, "", "\ud800", "a\0", "é", b"x", (), 1j, np.int64(3), np.float32(2),
]  # fmt: skip
IDS = st.sampled_from(["q1", "d1", "1", "\u00a0", "=1+1", *ODD])


@given(
    st.lists(st.tuples(IDS, IDS, st.sampled_from([0.5, 1, -2.0, *ODD])), max_size=4),
    st.sampled_from(INSTALLED),
)
def test_odd_values_are_read_or_refused(rows: list[Any], kind: str) -> None:
    nested: dict[Any, Any] = {}
    for query, document, value in rows:
        nested.setdefault(query, {})[document] = value
    given: list[Any] = [nested, {document: value for _, document, value in rows}, rows]
    with suppress(Exception):  # there is no such frame
        given.append(
            FRAMES[kind](
                {
                    name: [row[place] for row in rows]
                    for place, name in enumerate(["qid", "docno", "score"])
                }
            )
        )
    for odd in given:
        with suppress(IrOutcomesError), warnings.catch_warnings():
            warnings.simplefilter("ignore", iro.IrOutcomesWarning)
            iro.as_run(odd)
            iro.search_lengths({"q1": {"d1": 1}}, odd)
            iro.as_qrels(odd)
