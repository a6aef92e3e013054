"""Scores that an evaluation keeps, computes from search lengths, or reads the runs again for; and those of other tools."""

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
import pytrec_eval

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, IrOutcomesWarning, MismatchError, ParameterError
from ir_outcomes.evaluation.remarks import notes_on_ties
from ir_outcomes.evaluation.scores import Scores, scores_from_lengths
from ir_outcomes.evaluation.search import search_lengths
from ir_outcomes.evaluation.systems import separator_in
from tests.helpers.command_line import call
from tests.helpers.many import collection


def test_scores_that_are_read_again_are_of_the_queries_of_the_evaluation() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    part = iro.evaluate(qrels, runs).restrict(["q5", "q2"])
    with pytest.warns(
        IrOutcomesWarning, match=r"nDCG@10 was not kept, so all runs are read again"
    ) as caught:
        scores = part.scores_of("nDCG@10")
    assert caught[0].filename == __file__
    assert scores.query_ids == part.query_ids == ("q2", "q5")
    kept = (
        iro.evaluate(qrels, runs, measures=["nDCG@10"]).restrict(["q2", "q5"]).scores_of("nDCG@10")
    )
    assert (scores.values == kept.values).all()


def test_measures_that_are_made_comparable_are_found_by_the_name_they_were_asked_for() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the runs are not read again
        for measure in ("ASL(ties='msmarco')@5", "ASL(ties='msmarco',missing='retrieved')@5"):
            ev = iro.evaluate(qrels, runs, measures=[measure])
            assert ev.scores_of(measure) is ev.scores[0]
    ev = iro.evaluate(qrels, runs, measures=["ASL(missing='retrieved')@5"])
    assert ev.scores_of("ASL@5").measure == "ASL(missing='cutoff')@5"
    # As ir_measures writes its default.
    assert ev.scores_of("ASL(missing='retrieved')@5").measure == "ASL@5"
    assert repr(ev.scores_of("ESL@10")) == "<Scores: ESL@10, 2 runs, 10 queries>"


def test_ties_that_decide_where_first_relevant_documents_stand_are_noted() -> None:
    """The tie rule put the first relevant document of every query elsewhere than its file, and nothing said so."""
    qrels = {f"q{number}": {"a": 1} for number in range(10)}
    tied = {query: {"a": 1.0, "b": 1.0, "c": 1.0} for query in qrels}
    clear = {query: {"a": 3.0, "b": 1.0, "c": 1.0} for query in qrels}
    ev = iro.evaluate(qrels, {"tied": tied, "clear": clear})
    (note,) = notes_on_ties(ev.runs)
    assert note in iro.leaderboard(ev).notes
    assert note.startswith(
        "Tied scores: in 100 % of the queries that tied answers, the rule 'trec' gives the first"
        " relevant"
    )
    # The last has the documents in the order of their ids, as they are listed.
    for ties in (
        "input",
        "expected",
        "msmarco",
    ):
        assert not list(notes_on_ties(iro.evaluate(qrels, {"tied": tied}, ties=ties).runs))


def test_a_query_of_nothing_but_low_grades_does_not_end_python(tmp_path: Path) -> None:
    """The grade -2, junk in TREC's Web tracks, as the highest of a query was a segmentation fault in pytrec_eval."""
    grades = {"q1": {f"d{place}": -2 - place % 2 for place in range(50)}, "q2": {"d1": 1, "d2": -2}}
    run = {query: {f"d{place}": 1.0 - place / 100 for place in range(50)} for query in grades}
    ev = iro.evaluate(grades, {"a": run}, measures=["nDCG@10"])
    expected = 1 / math.log2(3)
    assert ev.scores[0].values.tolist() == [[0.0, pytest.approx(expected)]]
    qrels, path = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text(
        "".join(
            f"{query} 0 {doc} {grade}\n"
            for query, docs in grades.items()
            for doc, grade in docs.items()
        )
    )
    path.write_text(
        "".join(
            f"{query} Q0 {doc} 1 {score} t\n"
            for query, docs in run.items()
            for doc, score in docs.items()
        )
    )
    assert call("measure", qrels, path, "nDCG@10").stdout == f"nDCG@10\t{expected / 2:.4f}\n"


def test_negative_grades_mean_the_same_to_every_measure() -> None:
    random = np.random.default_rng(0)
    documents = [f"d{place}" for place in range(30)]
    grades = {
        f"q{query}": dict(zip(documents[:20], random.integers(-3, 3, 20).tolist(), strict=True))
        for query in range(40)
    }
    run = {query: dict(zip(documents, random.random(30).tolist(), strict=True)) for query in grades}
    capped = iro.as_qrels(grades).for_trec_eval().to_dict()
    assert min(grade for of_query in capped.values() for grade in of_query.values()) == -1
    as_given, as_capped = (
        pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures).evaluate(run)
        for qrels in (grades, capped)
    )
    assert as_given == as_capped


def test_an_infinite_score_is_refused() -> None:
    ev = iro.evaluate({"q1": {"d": 1}, "q2": {"d": 1}}, {"a": {"q1": {"d": 1.0}}})
    with (
        pytest.warns(IrOutcomesWarning, match="there are no results, which scores inf"),
        pytest.raises(
            ParameterError,
            match="a is infinite for 1 query without results; compare runs with `missing='cutoff'`",
        ),
    ):
        ev.scores_of("ASL(missing='retrieved')@5")


@pytest.mark.realdata
def test_usual_runs_are_not_said_to_be_tied(real_data: Path) -> None:
    folder = real_data / "known-item"
    ev = iro.evaluate(next(folder.glob("qrels.txt*")), str(folder / "*.run.gz"))
    noted = [run.name for run in ev if list(notes_on_ties([run]))]
    assert noted == ["bm25-coarse"]  # whose scores were rounded to whole numbers


def test_all_forms_are_the_same(tmp_path: Path) -> None:
    qrels, runs = collection(3, 12)
    metrics = {
        name: list(ir_measures.iter_calc([ir_measures.nDCG @ 5, ir_measures.RR], qrels, run))
        for name, run in runs.items()
    }
    expected = iro.evaluate(qrels, runs, measures=["nDCG@5"]).scores_of("nDCG@5").on(sorted(qrels))
    values = {
        name: {m.query_id: m.value for m in found if str(m.measure) == "nDCG@5"}
        for name, found in metrics.items()
    }
    wide = pd.DataFrame.from_dict(values, orient="index").rename_axis("run")
    rows = [
        (name, m.query_id, str(m.measure), m.value)
        for name, found in metrics.items()
        for m in found
    ]
    long = pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])
    long.to_csv(tmp_path / "perquery.csv", index=False)
    wide.to_csv(tmp_path / "wide.tsv", sep="\t", index_label="run")
    for source in (metrics, values, wide, long, tmp_path / "perquery.csv", tmp_path / "wide.tsv"):
        scores = iro.scores_from_outputs(source, measure="nDCG@5")
        assert (scores.measure, scores.higher_is_better, scores.runs) == (
            "nDCG@5",
            True,
            tuple(runs),
        )
        assert scores.query_ids == tuple(sorted(qrels))
        order = [expected.query_ids.index(query) for query in scores.query_ids]
        assert np.allclose(scores.values, expected.values[:, order], atol=1e-12)
    by_object = iro.scores_from_outputs(wide, ir_measures.nDCG @ 5)
    assert (by_object.measure, by_object.runs) == ("nDCG@5", tuple(runs))
    named = iro.scores_from_outputs(list(values.values()), measure="nDCG@5", names=list(runs))
    assert named.runs == tuple(runs)


def test_missing_values_are_noted(tmp_path: Path) -> None:
    scores = iro.scores_from_outputs({"a": {"q1": 5, "q2": 1}, "b": {"q1": 5}}, measure="ESL@10")
    assert not scores.higher_is_better
    assert np.isnan(scores.values[1, 1])
    table = tmp_path / "scores.csv"
    table.write_text("run,401,402\nb,0.5,\na,0.25,1\n")
    for source in (
        table,
        pd.read_csv(table, index_col=0),
        {"b": {"401": 0.5}, "a": {"401": 0.25, "402": 1}},
    ):
        scores = iro.scores_from_outputs(source, measure="AP")
        assert (scores.runs, scores.query_ids, scores.values.tolist()) == (
            ("b", "a"),
            ("401", "402"),
            [[0.5, 0], [0.25, 1]],
        )
        assert scores.absent == {"b": ("402",)}
        (note,) = scores.notes_on_output()
        assert (note.kind, note.runs) == ("missing", ("b",))
        assert scores.on(["401"]).absent == {"b": ()}
        assert not list(scores.on(["401"]).notes())
    for direction in (True, False):  # what no value counts is not known
        with pytest.raises(MismatchError, match="b has no value of cost for q2, which other"):
            iro.scores_from_outputs(
                {"a": {"q1": 1, "q2": 2}, "b": {"q1": 1}}, "cost", higher_is_better=direction
            )


def test_values_that_must_not_pass() -> None:
    queries = [f"q{number}" for number in range(30)]
    values = {
        "old": dict.fromkeys(queries, 0.5),
        "dead": dict.fromkeys(queries, 0.0),
        "cut": dict.fromkeys(queries[1:], 0.5),
    }
    scores = iro.scores_from_outputs(values, "nDCG@10")
    assert [bool(scores.problems(run)) for run in scores.runs] == [False, True, True]
    found = {note.kind: note.runs for note in scores.notes_on_output()}
    assert found == {"missing": ("cut",), "equal-scores": ("dead",)}


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
    scores = iro.scores_from_outputs([dict.fromkeys(ids.split(), 0.5)] * 2, "AP")
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
    assert iro.scores_from_outputs(values, measure="recip_rank").higher_is_better
    assert not iro.scores_from_outputs(
        values, measure="latency", higher_is_better=False
    ).higher_is_better
    with pytest.raises(error, match=message):
        iro.scores_from_outputs(sources, **settings)


@pytest.mark.parametrize(("length", "shown"), [(80, "x" * 78), (81, "x" * 76 + "...")])
def test_a_long_text_that_is_no_measure_is_cut_in_the_error(length: int, shown: str) -> None:
    text = f"'{'x' * (length - 2)}'"
    with pytest.raises(ParameterError) as caught:
        iro.parse_measure(text)
    assert str(caught.value).startswith(f"\"'{shown}")
    assert f"'{shown}x" not in str(caught.value)


def test_search_lengths_determine_a_measure_where_all_reach_its_cutoff() -> None:
    qrels, run = {"q": {"d": 1}}, {"q": {"x": 2.0, "d": 1.0}}
    whole, cut = (
        replace(search_lengths(qrels, run, cutoff=cutoff), name=str(cutoff)) for cutoff in (None, 5)
    )
    measure = iro.parse_measure("ESL@10")
    for runs in ([cut, whole], [whole, cut], [cut]):
        assert scores_from_lengths(measure, runs) is None
        assert scores_from_lengths(iro.parse_measure("ESL@5"), runs) is not None
    found = scores_from_lengths(measure, [whole])
    assert found is not None
    assert found.values.tolist() == [[2.0]]


def test_undefined_values_are_noted_and_only_these() -> None:
    ids = ("q1", "q2", "q3")
    complete = Scores("ESL@10", False, ("a", "b"), ids, np.array([[1.0, 2, 3], [2.0, 2, 2]]))
    assert complete.notes() == ()
    partial = Scores(
        "ESL@10", False, ("a", "b"), ids, np.array([[1.0, np.nan, 3], [2.0, np.nan, np.nan]])
    )
    (note,) = partial.notes()
    assert note.startswith("ESL@10 is undefined for some run on 2 of 3 queries")


def test_means_are_over_the_queries_where_a_measure_is_defined() -> None:
    values = np.array([[1.0, np.nan, 3.0], [2.0, np.nan, np.nan], [np.nan, np.nan, np.nan]])
    scores = Scores("ESL@10", False, ("a", "b", "c"), ("q1", "q2", "q3"), values)
    np.testing.assert_array_equal(scores.means(), [2.0, 2.0, np.nan])


def test_the_first_document_is_the_smallest_cutoff() -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}
    scores = iro.evaluate(qrels, {"a": run}, measures=["P(rel=1)@1"]).scores_of("P(rel=1)@1")
    assert scores.values.tolist() == [[1.0, 0.0]]
    for below in ("P@0", "P(rel=0)@1"):
        with pytest.raises(ParameterError, match="must be from 1 to"):
            iro.parse_measure(below)


def test_the_largest_cutoff_is_that_of_trec_eval() -> None:
    """It counts ranks with 32 bits, and a larger cutoff would be another one there."""
    iro.parse_measure("P@2147483647")
    with pytest.raises(ParameterError, match="cutoff must be from 1 to 2147483647"):
        iro.parse_measure("P@2147483648")


def test_at_most_three_measures_are_suggested() -> None:
    with pytest.raises(ParameterError) as caught:
        iro.parse_measure("nDCGG")
    suggested = str(caught.value).partition("did you mean ")[2].split(", ")
    assert len(suggested) == 3
    assert any("DCG" in name for name in suggested)
