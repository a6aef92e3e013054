"""Per-query outputs of other tools and leaderboards: read completely, or refused with the place of the problem."""

from __future__ import annotations

import math
import time
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, ParameterError
from ir_outcomes.reading.outputs import read_entries, read_output, read_outputs


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "a.eval"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


IDS = ["ABC", "abc", "Q7", "q7", "RR", "7", "map", "P_5", "all-of-it", "Straße"]


@pytest.mark.parametrize("measures", [["recip_rank", "map"], ["RR", "AP", "nDCG@10"], ["mine", "other"]])
@pytest.mark.parametrize("separator", ["\t", "   "])
@pytest.mark.parametrize("measure_first", [True, False])
def test_the_column_order_is_that_of_the_whole_file(
    tmp_path: Path, measures: list[str], separator: str, measure_first: bool
) -> None:
    ids = [query for query in IDS if query not in measures]
    values = {query: (place + 1) / 16 for place, query in enumerate(ids)}
    lines = [
        separator.join([*((measure, query) if measure_first else (query, measure)), repr(value)])
        for query, value in values.items()
        for measure in measures
    ]
    assert read_output(written(tmp_path, "\n".join(lines)), measure=measures[0]).values == values


def test_mixed_ids_turn_no_verdict_around(tmp_path: Path) -> None:
    """Lower-case ids were dropped without a message, and a worse run became a better one."""
    better = {f"Q{number}": 1.0 for number in range(20)} | {f"q{number}": 0.25 for number in range(80)}
    texts = [
        "\n".join(f"{query}\tRR\t{value}" for query, value in values.items()) for values in (dict.fromkeys(better, 0.5), better)
    ]
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    result = iro.compare_outputs(*paths)
    assert isinstance(result, iro.Comparison)
    assert result.n_queries == 100
    assert result.verdict.do_no_harm == "worse"


def test_a_query_named_all_is_a_query_in_dicts_and_the_summary_in_files(tmp_path: Path) -> None:
    assert read_output({"all": {"RR": 1.0}, "q": {"RR": 0.5}}).values == {"all": 1.0, "q": 0.5}
    assert read_output(written(tmp_path, "q RR 0.5\nall RR 0.5\n")).values == {"q": 0.5}
    line = '{"query_id": "%s", "measure": "RR", "value": 0.5}\n'
    assert read_output(written(tmp_path, line % "q" + line % "all")).values == {"q": 0.5}
    with pytest.raises(FormatError, match="line 3: has two values of RR for query all"):
        read_output(written(tmp_path, "all RR 0.5\nq RR 0.5\nall RR 0.5\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 RR 0.5\nq2 RR 0_5\n", r"line 2: the value of query q2 is not a number; .*\n  '0_5'"),
        ("q1 RR 0.5\nq2 RR \u0660.\u0665\n", "line 2: the value of query q2 is not a number"),
        ("q1 RR 0.5\nq2 RR 0.5 x\n", "line 2: is not a line of trec_eval -q"),
        ("q1 RR 0.5\nq2 RR 50\n", r"line 2: RR of query q2 is not between 0 and 1; are the values in percent\?"),
        ("q1 RR 0.5\nq2 RR nan\n", "line 2: RR of query q2 is undefined"),
        ("q1 RR 0.5\nq2 RR inf\n", "line 2: RR of query q2 is infinite"),
        ("q1 nDCG@10 0.5\nq2 nDCG@10 -1\n", "line 2: nDCG@10 of query q2 is negative"),
        ("q1 ESL 0.5\n", "line 1: ESL of query q1 is not a rank"),
        ("q1 RR 0.5\nq2 RR 0.5\nq2 AP 0.5\nq1 RR 0.5\n", "line 4: has two values of RR for query q1"),
        ("q1 RR 0.5\nq2 AP 0.5\n", r"values of some of the measures only \(q1, q2; the measures are AP, RR\)"),
        ("a b 0.5\n", "it cannot be told which column has the measures"),
        ("RR AP 0.5\nAP RR 0.5\n", "it cannot be told which column has the measures"),
        ("q1 RR 0.5\n".encode("utf-16"), "UTF-16 must be converted"),
        ("", "has no per-query value"),
        ("all RR 0.5\n", "it cannot be told|has no per-query value"),
        ('{"query_id": "q", "measure": "RR", "value": "0.5"}', "line 1: is not a line of ir_measures"),
        ('{"query_id": "q", "measure": "RR", "value": true}', "line 1: the value of query q is not a number"),
        ('{"query_id": "q", "measure": "RR", "value": 0.5, "value": 0.1}', "line 1: .*an object has the same name twice"),
        ('{"query_id": ["q"], "measure": "RR", "value": 1}', "a query id must be text"),
        ('{"query_id": "q", "measure": "RR", "value": 1}\n[]', "line 2: is not a line of ir_measures"),
        ('{"query_id": "q", "measure": "RR", "value": 1}\n' * 2, "line 2: has two values"),
        ("name,qid,measure,value\na,q1,RR,0.5\na,q2,RR\n", "line 3: has 3 columns, the header has 4"),
        ("name,qid,measure,value\na,q1,RR,0.5\na,q2,RR,x\n", "line 3: the value of query q2 is not a number"),
        ("name,qid,measure,value,qid\na,q1,RR,0.5,q2\n", "line 1: has the column 'qid' 2 times"),
        ("name,qid,measure,value\na,,RR,0.5\n", "line 2: a query id is empty"),
        ("name,qid,measure,value\na,q1,RR,0.5\na,q1,RR,0.5\n", "line 3: has two values of RR for query q1"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_output(written(tmp_path, text))


class Row(NamedTuple):
    query_id: Any
    measure: Any
    value: Any


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"q": {"RR": "0.5"}}, "the value of query q is not a number"),
        ({"q": {"RR": 0.5 + 0j}}, "the value of query q is not a number"),
        ({"q": {"RR": 10**400}}, "is not a number"),
        ({"q": {"RR": None}}, "RR of query q is undefined"),
        ({"q": {"RR": 1.5}}, "are the values in percent"),
        ({"q": None}, "is not a dict of dict"),
        ({"q": {}}, "has no per-query value"),
        ([Row("q", "RR", 0.5), None], "is not an iterable of ir_measures.Metric"),
        ([Row("q", "RR", 0.5), Row("q", "RR", 0.5)], "has two values of RR for query q"),
        (None, "cannot be read from a NoneType"),
        (pd.DataFrame({"qid": ["q"], "measure": ["RR"], "value": ["x"]}), "row 1: the value of query q is not a number"),
        (pd.DataFrame({"qid": ["q"], "measure": ["RR"]}), "is a table without value"),
        (pd.DataFrame([["q", "p", "RR", 0.5]], columns=["qid", "qid", "measure", "value"]), "has the column 'qid' 2 times"),
        (pa.table([["q"], ["p"], ["RR"], [0.5]], names=["qid", "qid", "measure", "value"]), "has the column 'qid' 2 times"),
    ],
)
def test_objects_that_cannot_be_read_are_refused(source: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_output(source)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_every_kind(kind: Any) -> None:
    data = {"name": ["a", "a"], "qid": ["q1", "q2"], "measure": ["RR", "RR"], "value": [0.5, 1.0]}
    found = read_output(kind(data))
    assert (found.name, found.values) == ("a", {"q1": 0.5, "q2": 1.0})


def test_lines_of_trec_eval_with_text_are_no_values(tmp_path: Path) -> None:
    text = "runid                 \tall\tmy run\nrecip_rank            \tq1\t0.5000\nrelstring_10          \tq1\t'01'\n"
    text += "recip_rank            \tq2\t0.3333\nrelstring_10          \tq2\t'001'\nrecip_rank            \tall\t0.4167\n"
    found = read_output(written(tmp_path, text))
    assert found.values == {"q1": 0.5, "q2": 0.3333}
    assert found.places == 4


def test_a_damaged_first_line_is_not_the_header_of_a_table(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="line 1: the value of query 01 is not a number"):
        read_output(written(tmp_path, "recip_rank\t01\t0x1\nrecip_rank\t02\t0.25\n"), measure="recip_rank")


def test_undefined_search_lengths_are_kept(tmp_path: Path) -> None:
    assert math.isnan(read_output(written(tmp_path, "q1 ESL 3\nq2 ESL nan\n")).values["q2"])
    line = '{"query_id": "q%d", "measure": "ESL@10", "value": %s}\n'
    assert math.isnan(read_output(written(tmp_path, line % (1, "null") + line % (2, "3.0"))).values["q1"])


@pytest.mark.parametrize(
    ("measure", "values", "places"),
    [
        ("P@10", [0.1, 0.3, 0.0], None),  # exact
        ("RR", [1.0, 0.5, 0.25, 0.2], None),  # exact
        ("RR", [1.0, 0.33], 2),
        ("nDCG@10", [0.1234, 0.5], 4),
        ("nDCG@10", [0.123456789, 0.5], None),
    ],
)
def test_rounding_is_only_said_of_rounded_values(measure: str, values: list[float], places: int | None) -> None:
    assert read_output({f"q{number}": {measure: value} for number, value in enumerate(values)}).places == places


def test_a_choice_among_runs_and_measures() -> None:
    rows = pd.DataFrame({"name": ["a", "b"], "qid": ["q", "q"], "measure": ["RR", "RR"], "value": [0.5, 1.0]})
    with pytest.raises(ParameterError, match="has the runs a, b"):
        read_output(rows)
    assert read_output(rows, name="b").values == {"q": 1.0}
    with pytest.raises(ParameterError, match="has no values of AP; it has RR"):
        read_output({"q": {"RR": 1.0}}, measure="AP")


def test_a_table_that_stands_the_other_way_says_so_or_is_refused(tmp_path: Path) -> None:
    """It was read as runs that are called 401, 402."""
    rows = "401,0.5,1\n402,0.5,\n403,0.5,1\n"
    with pytest.raises(FormatError, match=r"rows \(401, 402, 403\) and columns \(bm25, rm3\).*call the first column 'run' or"):
        read_outputs(written(tmp_path, ",bm25,rm3\n" + rows), measure="AP")
    wide = written(tmp_path, "qid,bm25,rm3\n" + rows)
    assert [output.name for output in read_outputs(wide, measure="AP", names=["rm3", "bm25"])] == ["rm3", "bm25"]
    with pytest.raises(ParameterError, match="has the runs bm25, rm3; choose one"):
        read_output(wide, measure="AP")
    titled = pd.read_csv(wide).set_index("qid")
    assert iro.scores_from_outputs(titled["bm25"].to_frame(), measure="AP").values.tolist() == [[0.5, 0.5, 0.5]]
    with pytest.raises(FormatError, match="it cannot be told which are the queries"):
        read_outputs(written(tmp_path, "\tbm25\nq1\t0.5\nq2\t0.5\n"), measure="AP")


LINE = '{"query_id": "%s", "measure": "%s", "value": %s}\n'


@pytest.mark.parametrize("form", ["lines", "csv", "dict", "frame", "metrics", "columns"])
@pytest.mark.parametrize("damaged", ["RR@1O", "RR@100"])
def test_queries_that_have_another_measure_only_are_no_smaller_set(tmp_path: Path, form: str, damaged: str) -> None:
    """Half of the queries were left out without a word, and the verdict was turned around."""
    rows = [(f"q{number}", "RR@10" if number % 2 else damaged, 0.5) for number in range(6)]
    frame = pd.DataFrame(rows, columns=["qid", "measure", "value"])
    sources: dict[str, Any] = {
        "lines": written(tmp_path, "".join(LINE % row for row in rows)) if form == "lines" else None,
        "csv": written(tmp_path, frame.to_csv(index=False)) if form == "csv" else None,
        "columns": written(tmp_path, frame.to_csv(index=False, header=False, sep=" ")) if form == "columns" else None,
        "dict": {query: {measure: value} for query, measure, value in rows},
        "frame": frame,
        "metrics": [Row(*row) for row in rows],
    }
    with pytest.raises(FormatError, match=r"queries have values of some of the measures only \(q0, q2"):
        read_output(sources[form], measure="RR@10")


def test_a_wide_table_of_three_numbered_queries(tmp_path: Path) -> None:
    found = read_output(written(tmp_path, "\t401\t402\t403\na\t0.5\t1\t0.25\n"), measure="AP")
    assert (found.name, found.values) == ("a", {"401": 0.5, "402": 1.0, "403": 0.25})


@pytest.mark.parametrize(
    ("measure", "value", "message"),
    [
        ("RR@10", 1 / 50, "RR@10 of query q is below 1/10, although ranks beyond 10 do not count"),
        ("ESL@10", 12.0, "ESL@10 of query q is a rank beyond the cutoff, 10"),
        ("ESL(unanswered='cutoff+1')@10", 12.0, "is a rank beyond the cutoff, 10"),
        ("RR@10", 0.0, None),
        ("RR@300", 0.0033, None),
        ("ESL(unanswered='cutoff+1')@10", 11.0, None),
    ],
)
def test_values_that_are_impossible_at_the_cutoff(measure: str, value: float, message: str | None) -> None:
    if message is None:
        assert read_output({"q": {measure: value}}).values == {"q": value}
    else:
        with pytest.raises(FormatError, match=message.replace("+", r"\+")):
            read_output({"q": {measure: value}})


HEADER = "id,date,score\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,date,score,score\na,2020-01-01,1,2\n", r"line 1: has the column 'score' 2 times; keep one"),
        ("id,date,score\na,2020-01-01\n", "line 2: has 2 columns, the header has 3"),
        ('id,date,score\n"a,2020-01-01,1\n', "is not a line of a CSV file"),
        ("id,score\na,1\n", "has no column 'date'; its columns are id, score"),
        (HEADER + "a,2020-01-01,1\na,2020-01-02,2\n", "line 3: the id is repeated"),
        (HEADER + "a,2020-01-01,1_0\n", "line 2: a score is not a number"),
        (HEADER + "a,2020-01-01,\u0661\n", "line 2: a score is not a number"),
        (HEADER + "a,2020-13-01,1\n", "line 2: a date must be written as"),
        (HEADER + ",2020-01-01,1\n", "line 2: a name is empty"),
        (HEADER, "has no entry"),
        ("[", "is not JSON"),
        ("[1]", "row 1 is not an object"),
        ('{"id": 1}', "is a dict, not a list of objects"),
        ('[{"id": "a", "date": "2020-01-01", "score": true}]', "line 1: a score is not a number"),
        ('[{"id": "a", "date": "2020-01-01", "score": ' + "9" * 5000 + "}]", r"is not JSON \(Exceeds"),
        ('[{"id": "a", "id": "b", "date": "2020-01-01"}]', "an object has the same name twice"),
        ('[{"id": "\\ud800", "date": "2020-01-01"}]', "line 1: a name .* cannot be encoded in UTF-8"),
        ('[{"id": "a", "date": null}]', "line 1: a date must be written as"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = tmp_path / "entries"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError, match=message):
        read_entries(path)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([{"id": "a", "date": "2020-01-01"}, None], "row 2 is not an object"),
        (None, "is a NoneType, not a list"),
        ({"id": "a", "date": "2020-01-01"}, "is a dict, not a list"),
        ([{"id": "a", "date": "2020-01-01", "score": 1 + 2j}], "a score is not a number"),
        ([{}], "has no column 'date'"),
    ],
)
def test_objects_that_are_refused(source: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_entries(source)


def test_what_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "entries.csv"
    path.write_text('\ufeffid,date,,team,score\n"a, b",2020/1/2,\N{CLASSICAL BUILDING},"x\ny",0.5\n0,2020-01-03,,,\n', "utf-8")
    first, second = read_entries(path).entries
    assert (first.run, first.date, first.is_baseline, first.group, first.score) == ("a, b", date(2020, 1, 2), True, "x\ny", 0.5)
    assert (second.run, second.group, second.score) == ("0", None, None)
    (entry,) = read_entries([{"run": 5, "date": datetime(2020, 1, 2, 3), "score": 1}]).entries
    assert (entry.run, entry.date, entry.score) == ("5", date(2020, 1, 2), 1.0)


def test_entries_without_ids_take_no_quadratic_time() -> None:
    """16,000 of them took two minutes."""
    start = time.process_time()
    rows = [{"description": "bm25" if number % 2 else "bm25 #2", "date": "2020-01-01"} for number in range(16_000)]
    found = read_entries(rows).entries
    assert time.process_time() - start < 5
    assert len({entry.run for entry in found}) == 16_000
    assert [entry.run for entry in found[:4]] == ["bm25 #2", "bm25", "bm25 #2 #2", "bm25 #3"]


def test_a_score_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match="has no column 'x'"):
        read_entries([{"id": "a", "date": "2020-01-01"}], score="x")
