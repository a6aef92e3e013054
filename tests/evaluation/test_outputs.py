"""Values of other tools as an evaluation: what is missing, ids, rows, ranges, and every analysis."""

import math
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, MismatchError, ParameterError
from ir_outcomes.evaluation.clusters import separator_in

QUERIES = [f"q{number}" for number in range(40)]


def values_of(*sources: Any, **settings: Any) -> iro.Scores:
    """Return the values of an evaluation of them."""
    values = iro.outputs(*sources, **settings).values
    assert values is not None
    return values


@pytest.mark.parametrize(
    ("ids", "separator"),
    [
        ("s0_t0 s0_t1 s1_t0 s1_t1 s2_t0 s2_t1", "_"),
        ("9-1_1 9-1_2 9-2_1 9-2_2 10-1_1 10-1_2", "_"),
        ("a::1 a::2 b::1 b::2 c::1 c::2", "::"),
        ("s0_t0 s0_t1 s1_t0 s1_t1", None),  # of two clusters only
        ("PLAIN-7 PLAIN-12 PLAIN-9", None),
        ("2022-5 2022-123 2023-7 2023-8 2024-77 2024-123 2024-1", None),
        ("a_1 b_2 c_3 d_4 e_5", None),
        ("1 2 3 4 5 6", None),
    ],
)
def test_ids_that_look_like_clusters_or_trials(ids: str, separator: str | None) -> None:
    assert separator_in(ids.split()) == separator
    scores = values_of([dict.fromkeys(ids.split(), 0.5)] * 2, measure="AP")
    kinds = [note.kind for note in scores.notes_on_output()]
    assert kinds == ([] if separator is None else ["dependent"])


@pytest.mark.parametrize(
    ("sources", "settings", "error", "message"),
    [
        (
            {"a": {"q1": 0.5}},
            {"measure": "latency"},
            ParameterError,
            "the direction of latency is not known",
        ),
        ([], {}, ParameterError, "there is no output"),
        (
            {"a": {"q1": math.inf}},
            {"measure": "ESL"},
            FormatError,
            "output of a: ESL of query q1 is infinite",
        ),
        (
            {"a": {"q1": {"AP": 0.5}}, "b": {"q1": {"RR": 0.5}}},
            {},
            MismatchError,
            "different measures",
        ),
    ],
)
def test_directions_and_what_is_refused(
    sources: Any, settings: Any, error: type[Exception], message: str
) -> None:
    values = {"a": {"q1": 0.5}, "b": {"q1": 0.25}}
    assert values_of(values, measure="recip_rank").higher_is_better
    assert not values_of(values, measure="latency", higher_is_better=False).higher_is_better
    with pytest.raises(error, match=message):
        values_of(sources, **settings)


def table(values: list[float | None], **columns: Any) -> pd.DataFrame:
    ids = [f"q{number}" for number in range(len(values))]
    return pd.DataFrame({"query_id": ids, "nDCG@10": values, **columns})


def test_missing_values_are_neither_0_nor_dropped_in_one_run() -> None:
    a = [0.25 + number / 80 for number in range(40)]
    b: list[float | None] = [None, *a[1:]]
    scores = values_of(table([*a]), table(b), names=["a", "b"])
    assert len(scores.query_ids) == 39
    assert scores.missing == {"a": 0, "b": 1}
    assert scores.lacks("b") == ("q0",)
    assert scores.values.tolist() == [sorted(a[1:], key=lambda x: f"q{a.index(x)}")] * 2
    assert scores.everywhere is not None
    worst = scores.with_worst()
    assert worst is not None
    assert worst.values[:, worst.query_ids.index("q0")].tolist() == [0.25, 0.0]
    assert scores.with_worst(["b"]).query_ids == scores.query_ids  # type: ignore[union-attr]
    note = next(iter(scores.notes_on_output()))
    assert (note.kind, note.runs) == ("missing-values", ("b",))
    assert scores.take([0]).missing == {"a": 0}
    unknown = values_of(
        table([*a]).rename(columns={"nDCG@10": "cost"}),
        table(b).rename(columns={"nDCG@10": "cost"}),
        measure="cost",
        higher_is_better=False,
    )
    assert unknown.everywhere is not None
    assert unknown.with_worst() is None


@pytest.mark.parametrize("n_missing", [2, 3])
def test_more_than_5_percent_missing_stop(n_missing: int) -> None:
    whole = dict.fromkeys(QUERIES, 0.5)
    part = dict.fromkeys(QUERIES[n_missing:], 0.5)
    if n_missing == 2:
        assert len(values_of(whole, part, measure="nDCG@10").query_ids) == 38
        return
    with pytest.raises(MismatchError, match=r"only 37 of 40 queries .* none for 3 of 40"):
        iro.outputs(whole, part, measure="nDCG@10")
    allowed = values_of(whole, part, measure="nDCG@10", allow=["missing-values"])
    assert len(allowed.query_ids) == 37
    with pytest.raises(ParameterError, match="each item one of missing-values"):
        iro.outputs(whole, part, measure="nDCG@10", allow=["unknown-ids"])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("error", ["timeout", None, "", "null", False, 0]),
        ("exception", ["ValueError()", "None", "false", "0", None, ""]),
        ("failed", [True, False, False, False, False, False]),
        ("status", ["failed", "ok", "success", "done", None, ""]),
        ("status", ["timeout", "ok", "success", "done", None, ""]),
    ],
)
def test_rows_that_failed_are_missing(column: str, cells: list[Any]) -> None:
    rows = [
        {"case_id": f"c{number}", "score": 0.5, column: cell} for number, cell in enumerate(cells)
    ]
    others = [{**row, column: None} for row in rows]
    scores = values_of(
        rows, others, measure="score", higher_is_better=True, allow=["missing-values"]
    )
    assert scores.missing == {"output 1": 1, "output 2": 0}
    assert "c0" not in scores.query_ids


def test_unanswered_is_not_missing() -> None:
    scores = values_of({"q1": 5, "q2": None}, {"q1": 5, "q2": 1}, measure="ESL@10")
    assert not scores.missing
    assert not scores.higher_is_better
    assert np.isnan(scores.values[0, 1])
    assert scores.kind == "rank"


def test_with_qrels_what_is_absent_was_not_found() -> None:
    qrels = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 0}, "q4": {"d": 1}}
    one = {"q1": 0.5, "q2": None, "q3": 0.5}
    scores = values_of(
        one, {"q1": 1.0, "q2": 0.5, "q4": 0.25}, measure="RR", qrels=qrels, allow=["missing-values"]
    )
    assert scores.query_ids == ("q1", "q4")
    assert scores.values.tolist() == [[0.5, 0.0], [1.0, 0.25]]
    assert (scores.missing, scores.n_unanswerable) == ({"output 1": 1, "output 2": 0}, 1)


def test_queries_that_trec_eval_counted_are_0_in_all_runs(tmp_path: Path) -> None:
    lines = "map\tq1\t0.5\nmap\tq2\t0.25\nnum_q\tall\t4\nmap\tall\t0.1875\n"
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        path.write_text(lines)
    scores = values_of(*paths, measure="map")
    assert scores.means().tolist() == [0.1875, 0.1875]
    assert len(scores.query_ids) == 4


ROWS = [(f"q{number}", number / 50) for number in range(40)]


def shuffled(rows: list[Any], seed: int = 1) -> list[Any]:
    order = np.random.default_rng(seed).permutation(len(rows)).tolist()
    return [rows[place] for place in order]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("title", ["question", "topic", "user_input"])
def test_row_numbers_give_way_to_an_id(title: str, first: int) -> None:
    def numbered(rows: list[Any]) -> list[Any]:
        return [
            {"id": number, title: query, "AP": value}
            for number, (query, value) in enumerate(rows, first)
        ]

    scores = values_of(numbered(ROWS), numbered(shuffled(ROWS)))
    assert scores.query_ids == tuple(sorted(dict(ROWS)))
    assert (scores.values[0] == scores.values[1]).all()
    if title != "topic":  # a text that differs for an id is an error
        some = numbered(ROWS)
        some[0] = {**some[0], title: "another"}
        with pytest.raises(MismatchError, match="has another"):
            iro.outputs(numbered(ROWS), some)
        with pytest.raises(MismatchError):
            iro.outputs(some, numbered(ROWS))
        noted = values_of(numbered(ROWS), some, id="id")
        assert [note.kind for note in noted.about] == ["other texts"]


def test_ids_that_no_two_sources_share_give_way() -> None:
    one = [{"sample_id": f"a{query}", "id": query, "AP": value} for query, value in ROWS]
    other = [
        {"sample_id": f"b{query}", "id": query, "AP": value} for query, value in shuffled(ROWS)
    ]
    scores = values_of(one, other)
    assert scores.query_ids == tuple(sorted(dict(ROWS)))
    with pytest.raises(MismatchError, match="have no query in common"):
        iro.outputs(one, other, id="sample_id")


def test_an_id_is_named_or_below_other_keys() -> None:
    rows = [{"item": {"key": query}, "AP": value} for query, value in ROWS]
    with pytest.raises(
        FormatError, match=r"has no column of query ids; name it with `id`.*item.key"
    ):
        iro.outputs(rows, rows)
    for name in ("item.key", "key"):
        assert len(values_of(rows, rows, id=name).query_ids) == 40
    with pytest.raises(FormatError, match="has no column 'other'"):
        iro.outputs(rows, rows, id="other")
    nested = [{"meta": {"query_id": query}, "metrics": {"AP": value}} for query, value in ROWS]
    assert (
        values_of(nested, nested).means().tolist()
        == values_of(rows, rows, id="key").means().tolist()
    )


def test_rows_of_one_id_are_chosen_by_a_column() -> None:
    rows = [
        {"doc_id": query, "filter": kind, "acc": value * (kind == "strict")}
        for query, value in ROWS
        for kind in ("strict", "loose")
    ]
    settings: Any = {"measure": "acc", "higher_is_better": True}
    with pytest.raises(
        FormatError, match=r"doc_id\).*column 'filter' tells apart \(loose, strict\)"
    ):
        iro.outputs(rows, rows, **settings)
    for where in ({"filter": "strict"}, ["filter=strict"]):
        scores = values_of(rows, rows, where=where, **settings)
        assert scores.values[0].max() == 39 / 50
    with pytest.raises(FormatError, match="has no row with filter=other; the column has loose"):
        iro.outputs(rows, rows, where=["filter=other"], **settings)
    with pytest.raises(FormatError, match="has no column 'split'"):
        iro.outputs(rows, rows, where=["split=test"], **settings)
    trials = [{"doc_id": row["doc_id"], "epoch": row["filter"], "acc": row["acc"]} for row in rows]
    with pytest.raises(FormatError, match="if they are trials"):
        iro.outputs(trials, trials, **settings)
    mean = values_of(trials, trials, trials="mean", **settings)
    assert mean.values[0].max() == pytest.approx(39 / 100)


@pytest.mark.parametrize(
    ("range", "message"),
    [((1, 5), None), ((2, 5), "is not between 2 and 5"), ((5, 1), "the smaller one first")],
)
def test_a_range_is_said(range: tuple[float, float], message: str | None) -> None:
    a = {query: 1.0 + place % 5 for place, query in enumerate(QUERIES)}
    settings: Any = {"measure": "rating", "higher_is_better": True}
    assert values_of(a, a, **settings).range is None
    if message is not None:
        with pytest.raises((FormatError, ParameterError), match=message):
            iro.outputs(a, a, range=range, **settings)
        return
    b = {query: max(1.0, value - 0.5) for query, value in a.items()}
    evaluation = iro.outputs(a, b, range=range, **settings)
    assert evaluation.values is not None
    assert evaluation.values.range == (1.0, 5.0)
    (decision,) = iro.gate(evaluation, "output 1", margins=(0.25,)).decisions
    (row,) = decision.rows
    assert (decision.status, row.largest) == ("inconclusive", 4.0)


def test_minus_1_may_mark_what_failed() -> None:
    a = dict.fromkeys(QUERIES, 0.5)
    b = {**a, "q3": -1.0, "q7": -1.0}
    settings: Any = {"measure": "faithfulness", "higher_is_better": True}
    with pytest.raises(FormatError, match="exactly -1 in 2 rows"):
        iro.outputs(a, b, **settings)
    assert values_of(a, b, range=(-1, 1), **settings).values.min() == -1


@pytest.mark.parametrize(
    ("name", "value", "is_summary"),
    [
        ("all", 0.1, True),
        ("ALL", 0.1, True),
        ("mean", 0.5, True),
        ("mean", 0.1, False),
        ("median", 0.5, True),
        ("max", 1.0, True),
        ("min", 0.0, True),
        ("std", 0.5, True),
        ("total", 20.0, True),
        ("count", 40, True),
        ("variance", 0.25, False),
    ],
)
def test_a_summary_has_the_name_and_the_value_of_one(
    name: str, value: float, is_summary: bool
) -> None:
    rows = [{"query": query, "cost": float(place % 2)} for place, query in enumerate(QUERIES)]
    rows.append({"query": name, "cost": value})
    scores = values_of(rows, rows, measure="cost", higher_is_better=False)
    assert (name not in scores.query_ids) == is_summary
    assert {note.kind for note in scores.about} == ({"summaries"} if is_summary else set())


def test_lists_of_records_are_one_source_and_lists_of_sources_are_several() -> None:
    rows = [{"query_id": query, "AP": value} for query, value in ROWS]
    frame = pd.DataFrame(rows)
    of_query = dict(ROWS)
    aligned = (list(of_query), np.array(list(of_query.values())))
    series = pd.Series(of_query)
    for source in (rows, frame, of_query, aligned, series):
        evaluation = iro.outputs(source, source, measure="AP")
        assert (len(evaluation), len(evaluation.query_ids)) == (2, 40)
    for sources in ([rows, frame], [of_query, of_query], {"a": rows, "b": of_query}):
        assert len(iro.outputs(sources, measure="AP")) == 2
    found = iro.compare_outputs(rows, rows, measure="AP")
    assert isinstance(found, iro.Comparison)


def test_an_evaluation_of_values_is_used_like_one_of_runs(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    sources = {
        name: dict(zip(QUERIES, random.random(40).tolist(), strict=True))
        for name in ("a_1", "a_2", "b_1", "b_2")
    }
    evaluation: Any = iro.outputs(
        sources, measure="nDCG@10", replicates="by:_", clusters=lambda query: query[:2]
    )
    by_object: Any = iro.outputs(sources, measure=ir_measures.nDCG @ 10)
    assert by_object.names == evaluation.names == ("a_1", "a_2", "b_1", "b_2")
    assert [*evaluation.systems] == ["a", "b"]
    assert len(evaluation) == 4
    assert evaluation.clusters is not None
    assert evaluation[["a"]].names == ("a_1", "a_2")
    assert evaluation.scores_of(None) is evaluation.scores_of("ndcg_cut_10") is evaluation.values
    assert "nDCG@10" in repr(evaluation)
    assert "cutoff=" not in repr(evaluation)
    part = evaluation.restrict(QUERIES[:10])
    assert part.values is not None
    assert part.answerable_queries == tuple(sorted(QUERIES[:10]))
    assert part.values.range == (0, 1)
    path = tmp_path / "values.npz"
    evaluation.save(path)
    loaded: Any = iro.load_evaluation(path)
    assert loaded.names == evaluation.names
    assert iro.compare(loaded, "a", "b") == iro.compare(evaluation, "a", "b")
    first, *others = sources.values()
    compared: Any = iro.compare_outputs(
        first,
        others,
        measure="nDCG@10",
        names=tuple(sources),
        replicates="by:_",
        clusters=lambda query: query[:2],
    )
    assert compared == iro.compare(evaluation, "a", "b")


@pytest.mark.parametrize(
    "analysis",
    [
        lambda ev: iro.holes(ev, "a"),
        lambda ev: iro.reordering(ev),
        lambda ev: iro.headroom(ev),
        lambda ev: iro.compare_judges({"x": ev, "y": ev}, "a"),
        lambda ev: ev["a"],
        lambda ev: ev[0],
    ],
)
def test_what_needs_ranked_lists_says_so(analysis: Any) -> None:
    evaluation = iro.outputs({"a": dict(ROWS), "b": dict(ROWS)}, measure="AP")
    with pytest.raises(ParameterError, match="need ranked lists"):
        analysis(evaluation)
