"""Per-query outputs of other tools and leaderboards: read completely, or refused with the place of the problem."""

import json
import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pandas as pd
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, IrOutcomesError, MismatchError, ParameterError
from ir_outcomes.reading.measure_names import (
    bounds_of,
    cutoff_of,
    is_gain,
    is_measure_name,
    is_reciprocal,
    is_same_measure,
)
from ir_outcomes.reading.tables import Source
from ir_outcomes.values.table import read_table
from tests.helpers.frames import FRAMES


class RunValues(NamedTuple):
    name: str
    measure: str
    values: dict[str, float]
    decimals: int | None


def read_values(source: Any, *, position: str = "output", **settings: Any) -> list[RunValues]:
    """Return the values of each run by query."""
    table = read_table([Source.of(source, position)], **settings)
    return [
        RunValues(
            run,
            table.measure,
            {
                query: value
                for query, value, is_absent in zip(table.query_ids, values, absent, strict=True)
                if not is_absent
            },
            table.decimals,
        )
        for run, values, absent in zip(
            table.runs, table.values.tolist(), table.absent.tolist(), strict=True
        )
    ]


def read_output(source: Any, **settings: Any) -> RunValues:
    """Read the values of the only run."""
    (output,) = read_values(source, **settings)
    return output


class Row(NamedTuple):
    query_id: Any
    measure: Any
    value: Any


def in_file(write: Any, content: Any) -> Any:
    """Write text into a file and return its path; return anything else as it is."""
    return write(content, "a.eval") if isinstance(content, (str, bytes)) else content


LINE = '{"query_id": "%s", "measure": "%s", "value": %s}\n'
WIDE = "run,401,402,403\n"


@pytest.mark.parametrize(
    "measures", [["recip_rank", "map"], ["RR", "AP", "nDCG@10"], ["mine", "other"]]
)
@pytest.mark.parametrize("separator", ["\t", "   "])
@pytest.mark.parametrize("measure_first", [True, False])
def test_the_column_order_is_that_of_the_whole_file(
    write: Any, measures: list[str], separator: str, measure_first: bool
) -> None:
    # Lower-case ids were dropped without a message, and a worse run became a better one.
    ids = {"ABC", "abc", "Q7", "q7", "RR", "7", "map", "P_5", "all-of-it", "Straße"} - {*measures}
    values = {query: (place + 1) / 16 for place, query in enumerate(sorted(ids))}
    lines = [
        separator.join([*((measure, query) if measure_first else (query, measure)), repr(value)])
        for query, value in values.items()
        for measure in measures
    ]
    assert read_output(in_file(write, "\n".join(lines)), measure=measures[0]).values == values


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ({"all": {"RR": 1.0}, "q": {"RR": 0.5}}, {"q": 0.5}),
        ("q RR 0.5\nall RR 0.5\n", {"q": 0.5}),
        ("runid\tall\tmy run\nrecip_rank\tq1\t0.5000\nrelstring_10\tq1\t'01'\nrecip_rank\tall\t0.5\n", {"q1": 0.5}),
        ("q1 ESL 3\nq2 ESL nan\n", {"q1": 3, "q2": math.nan}),
        (LINE % ("q1", "ESL@10", "null") + LINE % ("q2", "ESL@10", 3), {"q1": math.nan, "q2": 3}),
        (2 * "relstring\tq1\t'10'\n" + "map\tq1\t0.5\nmap\tq2\t1\n", {"q1": 0.5, "q2": 1}),  # no second value
        ({"q": {"RR@300": 0.0033}, "p": {"RR@300": 0}, "r": {"RR@300": 1}}, {"q": 0.0033, "p": 0, "r": 1}),
        ({"meta": {"n": 4}, "run": {"out": {"samples": [{"id": "q", "RR": 0.5}]}}}, {"q": 0.5}),
        ({"q": {"ESL(unanswered='cutoff+1')@10": 11.0}}, {"q": 11.0}),
    ],
)  # fmt: skip
def test_what_is_read(write: Any, source: Any, values: dict[str, float]) -> None:
    assert read_output(in_file(write, source)).values == pytest.approx(values, nan_ok=True)


def test_dicts_of_pytrec_eval_and_ranx_in_python_and_as_json(write: Any) -> None:
    by_query = {"q1": {"recip_rank": 0.5, "map": 0.25}, "R": {"recip_rank": 1.0, "map": 0.75}}
    # `Run.scores`.
    by_measure = {
        "mrr@10": {"q1": 0.5, "R": 1.0},
        "hit_rate@10": {"q1": 1.0, "R": 1.0},
    }
    for data, measure in ((by_query, "recip_rank"), (by_measure, "mrr@10")):
        sources = [
            data,
            *(write(json.dumps(data, indent=indent), f"{indent}.json") for indent in (None, 1)),
        ]
        for source in sources:
            for asked in (None, measure):
                output = read_output(source, measure=asked)
                assert (output.measure, output.values) == (measure, {"q1": 0.5, "R": 1.0})
    assert len(iro.outputs({"a": by_measure, "b": by_measure})) == 2
    flat = read_output(write('{"q1": 2, "q2": null}'), measure="ESL")
    assert flat.values == pytest.approx({"q1": 2, "q2": math.nan}, nan_ok=True)
    own = {"mine": {"q1": 0.5, "q2": 1.0}, "other": {"q1": 0.5, "q2": 1.0}}
    # Which only the name that is asked for tells.
    assert read_output(own, measure="mine").values == {
        "q1": 0.5,
        "q2": 1.0,
    }
    assert read_output(own, measure="q1").values == {"mine": 0.5, "other": 0.5}


def test_tables_of_runs_and_queries_either_way(write: Any) -> None:
    by_run = "{},401,402,403\nbm25,0.5,1,0\nrm3,0.25,0.5,1\n"
    by_query = "{},bm25,rm3\n401,0.5,0.25\n402,1,0.5\n403,0,1\n"
    for text, titles in ((by_run, ("run", "system", "")), (by_query, ("query", "topic", ""))):
        for title in titles:
            found = read_values(write(text.format(title)), measure="AP")
            assert [output.name for output in found] == ["bm25", "rm3"]
            assert found[1].values == {"401": 0.25, "402": 0.5, "403": 1.0}
    frame = pd.DataFrame({"bm25": [0.5, 1], "rm3": [0.25, 0.5]}, ["401", "402"])
    assert [output.name for output in read_values(frame, measure="AP")] == ["bm25", "rm3"]
    assert [output.name for output in read_values(frame.T, measure="AP")] == ["bm25", "rm3"]
    with pytest.raises(FormatError, match="it cannot be told which are the queries"):
        read_values(write(",x,y\na,0.5,1\nb,0.5,1\n"), measure="AP")
    with pytest.raises(FormatError, match="it cannot be told which are the queries"):
        read_values(frame.reset_index(drop=True), measure="AP")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("q1 RR 0.5\nq2 RR 0_5\n", r"line 2: the value of RR of query q2 is not a number; .*\n  '0_5'"),
        ("q1 RR 0.5\nq2 RR 0.5 x y\n", r"a\.eval, line 2: is not a line of 3 columns"),
        ("q1 RR 0.5\nq2 RR 50\n", r"line 2: RR of query q2 is not between 0 and 1; if the values are ranks, call them ESL"),
        ("q1 AP 0.5\nq2 AP 50\n", r"line 2: AP of query q2 is not between 0 and 1; if the values are percentages, divide"),
        (WIDE + "a,0.5,0.5,\"0,5\"", "line 2: the value of RR of query 403 has a decimal comma; write a point"),
        ("q1 ESL 0.5\n", "line 1: ESL of query q1 is not a rank"),
        ("q1 RR@10 1.001\n", "RR@10 of query q1 is not between 0 and 1"),
        ("q1 RR@10 -0.001\n", "RR@10 of query q1 is not between 0 and 1"),
        ("q1 Q0 d1 1 9 t\n", r"a\.eval, line 1: has no values by query; runs and qrels are for"),
        ("q1 nDCG@10 0.5\nq2 nDCG@10 -1\n", "line 2: nDCG@10 of query q2 is not between 0 and 1"),
        ("q1 RR 0.5\nq2 RR 0.5\nq2 AP 0.5\nq1 RR 0.5\n", "line 4: query q1 .query_id. has several values of RR; if they are"),
        ("a b 0.5\n", "it cannot be told which column has the measures"),
        ("q1 RR 0.5\n".encode("utf-16"), "is UTF-16; convert it"),
        ("", "has no values by query; the means alone do not do"),
        (LINE % ("q", "RR", '"half"'), "line 1: the value of RR of query q is not a number"),
        (LINE % ("q", "RR", '0.5, "value": 0.1'), "line 1: .*an object has the same name twice"),
        ('{"query_id": ["q"], "measure": "RR", "value": 1}', "is in no form of values"),
        ("name,qid,measure,value,qid\na,q1,RR,0.5,q2\n", "line 1: has the column 'qid' 2 times"),
        ("name,qid,measure\na,401,RR", "has no column of values; call it value"),
        (WIDE + "a,0.5,x,0", "line 2: the value of RR of query 402 is not a number; correct it, or .*\n  'x'"),
        (WIDE + "\na,0.5,0.5,0\nb,0.5", "line 4: has 2 columns, the header has 4"),
        (WIDE + "a,0.5,0.5,0\na,0.5,0.5,0", r"line 3: query 401 \(query_id\) has several values of RR; if they are trials"),
        ("401,402,403,404\n0.25,0.5,0.5,1", "line 2: has no name of a run here; write the table with a header"),
        ("run,,402,q3\na,0.5,0.5,0", "line 2: a query id is empty"),
        (",bm25,rm3\n0,0.5,1\n1,0.5,\n", r"rows \(0, 1\) and columns \(bm25, rm3\).*call the first column"),
        ({"q": {"RR": 10**400}}, "is not a number"),
        ({"q": {"RR@10": 1 / 50}}, "RR@10 of query q is below 1/10, although ranks beyond 10 do not count"),
        ({"q": {"ESL@10": 12.0}}, "ESL@10 of query q is a rank beyond the cutoff, 10"),
        ({"q": [1]}, "is in no form of values by query that is read, such as .*its keys are q"),
        ([SimpleNamespace(query_id="q", value=0.5)], "row 1: is no record, such as those of"),
        ([Row("q", "RR", 0.5), None], "row 2: is no record, such as those of"),
        ([Row("q", "RR", 0.5), Row("p", "RR", "half")], "row 2: the value of RR of query p is not a number"),
        (None, "cannot be read from a NoneType"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(
    write: Any, source: Any, message: str
) -> None:
    with pytest.raises(FormatError, match=f"(?s){message}"):
        read_values(
            in_file(write, source),
            measure="RR" if isinstance(source, str) and "," in source else None,
        )


@pytest.mark.parametrize(
    ("measure", "values", "decimals"),
    [
        ("RR", [1.0, 0.5, 0.25, 0.2], None),  # exact
        ("RR", [1.0, 0.33], 2),
        ("RR", [0.5, 0.3333], 4),
        ("nDCG@10", [0.1234, 0.5], 4),
        ("nDCG@10", [0.123456, 0.5], 6),
        ("nDCG@10", [0.1234567, 0.5], None),
    ],
)
def test_rounding_is_only_said_of_rounded_values(
    measure: str, values: list[float], decimals: int | None
) -> None:
    assert (
        read_output(
            {f"q{number}": {measure: value} for number, value in enumerate(values)}
        ).decimals
        == decimals
    )


def test_a_choice_among_runs_and_measures(write: Any) -> None:
    rows = pd.DataFrame(
        {"name": ["a", "b"], "qid": ["q", "q"], "measure": ["RR", "RR"], "value": [0.5, 1.0]}
    )
    with pytest.raises(MismatchError, match=r"has the runs a, b; name one .* `names=\['a', 'b'\]`"):
        iro.outputs([rows, rows])
    with pytest.raises(ParameterError, match="`names='ab'`: must be a list of names"):
        read_values(rows, names="ab")
    assert read_output(rows, names=["b"]).values == {"q": 1.0}
    with pytest.raises(ParameterError, match="has no run c, d; it has a, b"):
        read_values(rows, names=["c", "d"])
    with pytest.raises(ParameterError, match="has no values of AP; it has RR"):
        read_output({"q": {"RR": 1.0}}, measure="AP")
    nameless = in_file(write, "name,qid,measure,value\na,q,RR,0.5\n,q\u00a0,RR,1\n")
    assert [(output.name, output.values) for output in read_values(nameless)] == [
        ("a", {"q": 0.5}),
        ("", {"q\u00a0": 1.0}),
    ]
    # A table with a row for each query was read as runs that are called 401, 402.
    turned = in_file(write, "qid,bm25,rm3\n401,0.5,1\n402,0.5,\n403,0.5,1\n")
    assert [output.name for output in read_values(turned, measure="AP", names=["rm3", "bm25"])] == [
        "rm3",
        "bm25",
    ]
    from_zero = pd.DataFrame({"a": [0.5, 1]}, pd.Index([0, 1], name="qid"))
    assert read_output(from_zero, measure="AP").values == {"0": 0.5, "1": 1}
    titled = pd.read_csv(turned).set_index("qid")
    assert read_output(titled["bm25"].to_frame(), measure="AP").values == dict.fromkeys(
        ("401", "402", "403"), 0.5
    )
    wide = read_output(in_file(write, "\t401\t402\t403\na\t0.5\t1\t0.25\n"), measure="AP")
    assert (wide.name, wide.values) == ("a", {"401": 0.5, "402": 1.0, "403": 0.25})


def test_a_header_of_three_columns_is_none_of_the_lines_of_trec_eval(write: Any) -> None:
    with pytest.raises(FormatError, match="has no column of values; call it value"):
        read_output(write("qid\tmeasure\tx\na\tb\t0.5\n"), measure="RR")
    with pytest.raises(FormatError, match="has no column of query ids"):
        read_values(FRAMES["polars"]({"q1": [0.5]}))
    values = read_output(write("run\tqid\tvalue\na\tb\t0.5\n"), measure="RR")
    assert (values.name, values.values) == ("a", {"b": 0.5})
    assert read_output(write("query\tAP\tRR\nq\t1\t0.5\n")).values == {"q": 0.5}


TITLES = [
    "query_id",
    "qid",
    "query",
    "topic",
    "topic_id",
    "id",
    "case_id",
    "sample_id",
    "question_id",
    "user_input",
]
COLUMNS = {"q1": (0.5, 0.25), "q2": (1.0, 0.75)}


def in_forms(write: Any, query: str, run: str | None = None) -> Iterator[Any]:
    """Yield a row for each query and a column for each measure, in every form."""
    records = [
        {query: name, "text": "a, b", "NDCG@10": first, "mine": second}
        for name, (first, second) in COLUMNS.items()
    ]
    if run is not None:
        records = [{run: "a", **record} for record in records]
    frame = pd.DataFrame(records)
    yield frame
    yield frame.set_index(query)
    yield FRAMES["polars"](frame.to_dict("list"))
    yield frame.to_dict("list")
    yield records
    for number, separator in enumerate("\t,;"):
        yield write(frame.to_csv(index=False, sep=separator), f"{number}.csv")
    yield write(frame.to_csv(), "index.csv")
    yield write(json.dumps(records), "list.json")
    yield write(json.dumps(records, indent=1), "lines.json")
    yield write(frame.to_json(), "frame.json")
    yield write("\n".join(map(json.dumps, records)), "lines.jsonl")


@pytest.mark.parametrize("query", [*TITLES, "Query", "Topic ID"])
def test_columns_of_measures_are_read_alike_in_all_forms(write: Any, query: str) -> None:
    """Columns that nobody asked for are not read."""
    for source in in_forms(write, query):
        for asked in (None, "NDCG@10", "nDCG@10", "ndcg_cut_10"):
            output = read_output(source, measure=asked)
            assert output.values == {"q1": 0.5, "q2": 1.0}
            assert output.measure == (asked or "NDCG@10")
        assert read_output(source, measure="mine").values == {"q1": 0.25, "q2": 0.75}
        with pytest.raises(ParameterError, match="has no values of AP; it has NDCG@10"):
            read_output(source, measure="AP")


@pytest.mark.parametrize(
    "source",
    [
        "epoch,steps,cosine-NDCG@10\n0,100,0.45\n",
        "name,AP,RR\nbm25,0.3,0.5\n",
        "AP,RR\n0.3,0.5\n",
        ",AP\n0,0.3\n1,0.4\n",
        "map\tall\t0.3\n",
        '{"ndcg": {"NDCG@1": 0.3}, "map": {"MAP@1": 0.2}}',
        '{"nDCG@10": 0.3, "RR": 0.2}',
    ],
)
def test_means_are_refused(source: str, write: Any) -> None:
    for asked in (None, "AP", "cosine-NDCG@10"):
        if asked in source if asked else "cosine" not in source:
            with pytest.raises(FormatError, match="the means alone do not do"):
                read_values(write(source), measure=asked)


def test_truth_values_are_1_and_0(write: Any) -> None:
    frame = pd.DataFrame({"id": [1, 2], "ok": [True, False]})
    for source in (frame, *(write(f"id,ok\n1,{yes}\n2,{no}\n") for yes, no in ("CI", "YN"))):
        assert read_output(source, measure="ok").values == {"1": 1.0, "2": 0.0}


def test_trials_are_averaged_where_that_is_asked_for(write: Any) -> None:
    text = "query,R@10\nq,0\nq,1\nq,1\np,0.5\n"
    source = write(text)
    with pytest.raises(FormatError, match=r"query q .query. has several values of R@10; .*`trials"):
        read_output(source)
    assert read_output(source, trials="mean").values == {"q": 2 / 3, "p": 0.5}
    with pytest.raises(FormatError, match="line 4: R@10 of query q is not between 0 and 1"):
        read_output(write(text.replace("q,1\np", "q,1.1\np")), trials="mean")
    with pytest.raises(FormatError, match="ESL of query q is undefined in a trial"):
        read_output(write("query,ESL\nq,2\nq,\n"), trials="mean")
    with pytest.raises(ParameterError, match="must be one of mean"):
        iro.outputs([text], trials="median")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,item,score\na,c,1\n", "has no column of query ids; name it .*model, item, score"),
        ("model,id,score,x\na,c,1,2\n", r"choose one of its columns \(score, x\) with `measure`"),
        ("query,AP\nq1,0.5\n,1\n", r"line 3: has no query id \(query\)"),
        ('{"config": {"k": 1}, "text": ["a"]}', "in no form .*keys are config.k, text"),
        ('{"testCases": [1]}', "is in no form of values by query.*its keys are testCases"),
        ("1\t0.5\n2\t0.25\n", "has no name of a run here; write the table with a header"),
    ],
)
def test_tables_that_are_refused(text: str, message: str, write: Any) -> None:
    asked = "score" if "item" in text else None
    if asked is None and "AP" not in text and "score" not in text:
        asked = "AP"
    with pytest.raises(IrOutcomesError, match=f"(?s){message}"):
        read_values(write(text), measure=asked)


@pytest.mark.parametrize(
    ("measure", "bounds"),
    [("nDCG@10", (0, 1)), ("ESL@10", (1, 11)), ("ASL@10", (1, 11)), ("ESL", None)],
)
def test_the_bounds_of_a_measure_are_known_by_its_name(
    measure: str, bounds: tuple[float, float] | None
) -> None:
    """A search length is 1 at best, and one more than the cutoff where nothing was found."""
    assert bounds_of(measure) == bounds


@pytest.mark.parametrize(
    ("spellings", "cutoff"),
    [
        ("RR MRR mrr recip_rank reciprocal_rank", None),
        ("RR@10 MRR@10 mrr_10 mrr_at_10", 10),
        ("nDCG@10 NDCG@10 ndcg_cut_10 ndcg_at_10 ndcg@10 ndcg_10 ndcg10", 10),
        ("AP MAP map", None),
        ("P@5 P_5 precision@5 Precision_5", 5),
        ("R@1000 recall_1000 Recall@1000 recall_at_1000", 1000),
        ("Success@1 success_1 hit_rate@1 Hit@1", 1),
        ("F1 f1", None),
        ("Rprec RPrec r-precision", None),
    ],
)
def test_spellings_of_a_measure(spellings: str, cutoff: int | None) -> None:
    first, *others = spellings.split()
    for name in (first, *others):
        assert is_same_measure(first, name)
        assert (is_measure_name(name), is_gain(name), bounds_of(name)) == (True, True, (0.0, 1.0))
        assert cutoff_of(name) == cutoff
        assert is_reciprocal(name) == spellings.startswith("RR")


def test_nested_names_are_known_as_the_innermost_one_and_are_no_spellings_of_it() -> None:
    for name in ("metrics.ndcg@10", "a.b_1.recip_rank"):
        assert (is_gain(name), bounds_of(name), cutoff_of(name)) == (
            True,
            (0.0, 1.0),
            10 if "@" in name else None,
        )
        assert not is_measure_name(name)
        assert not is_same_measure(name, name.rpartition(".")[2])
    assert is_reciprocal("a.b_1.recip_rank")


@pytest.mark.parametrize("measure", [None, "ndcg@10", "nDCG@10", "metrics.ndcg@10"])
def test_the_only_measure_below_a_key_is_read_by_each_of_its_names(measure: str | None) -> None:
    source = [{"query_id": f"q{n}", "metrics": {"ndcg@10": n / 4}} for n in (1, 2)]
    values = iro.outputs(source, measure=measure).values
    assert values is not None
    assert values.measure == (measure or "ndcg@10")
    assert (values.values.tolist(), values.range) == ([[0.25, 0.5]], (0.0, 1.0))


@pytest.mark.parametrize("measure", [None, "ndcg@10", "nDCG@10"])
def test_a_measure_by_itself_comes_before_one_below_a_key(measure: str | None) -> None:
    source = [{"query_id": f"q{n}", "old.ndcg@10": n / 8, "ndcg@10": n / 4} for n in (1, 2)]
    values = iro.outputs(source, measure=measure).values
    assert values is not None
    assert values.values.tolist() == [[0.25, 0.5]]


@pytest.mark.parametrize("measure", [None, "ndcg@10"])
def test_no_measure_is_chosen_among_those_of_one_name_below_several_keys(
    measure: str | None,
) -> None:
    source = [{"query_id": f"q{n}", "a.ndcg@10": n / 8, "b.ndcg@10": n / 4} for n in (1, 2)]
    with pytest.raises(ParameterError, match="several columns of ndcg@10"):
        iro.outputs(source, measure=measure)
    values = iro.outputs(source, measure="b.ndcg@10").values
    assert values is not None
    assert values.values.tolist() == [[0.25, 0.5]]


def test_names_that_are_no_measures_or_of_other_ones() -> None:
    for name in ("p", "r", "R1", "p_1", "r2", "bm25", "score", "run1", "text", "Q7", "Task10", ""):
        assert not is_measure_name(name)
    for one, other in (
        ("nDCG@10", "nDCG@20"),
        ("nDCG@10", "nDCG(dcg='exp-log2')@10"),
        ("AP", "SetAP"),
        ("RR", "RR(rel=2)"),
        ("mine", "mine"),
    ):
        assert not is_same_measure(one, other)
    assert is_measure_name("ESL@100")
    assert (is_gain("NERR8@10"), bounds_of("NERR8@10"), cutoff_of("NERR8")) == (True, None, None)
    assert not any(map(is_gain, ("num_ret", "ESL", "Judged@10", "gm_map")))
