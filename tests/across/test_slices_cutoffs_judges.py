from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

import ir_outcomes as iro
from ir_outcomes.errors import MismatchError, ParameterError
from ir_outcomes.showing.figures import blank_figure
from tests.helpers.comparisons import compare_several
from tests.helpers.runs import qrels_of, run_of


@pytest.fixture(scope="module")
def evaluation() -> iro.Evaluation:
    rng = np.random.default_rng(4)
    ranks = {
        f"q{q}": int(rank) if rank <= 30 else None
        for q, rank in enumerate(rng.geometric(0.15, 120))
    }
    moved = {q: max(1, r - 3) if r and int(q[1:]) < 60 else r for q, r in ranks.items()}
    return iro.evaluate(
        qrels_of(ranks),
        {"a": run_of(ranks, 30), "b": run_of(moved, 30)},
        cutoff=30,
        queries={q: "word " * (1 + int(q[1:]) % 4) for q in ranks},
    )


def test_a_new_kind_of_condition_is_shown(evaluation: iro.Evaluation) -> None:
    kind: Any = "depth"
    found = replace(iro.compare_cutoffs(evaluation, "a", cutoffs=[5, 10]), what=kind)
    assert "2 depths" in found.to_text()
    assert "counts, p" in found.to_text()


def test_slices_are_the_comparisons_of_their_queries(evaluation: iro.Evaluation) -> None:
    kinds = {q: "first" if int(q[1:]) < 60 else "second" for q in evaluation.query_ids}
    found = iro.compare_slices(evaluation, "a", by=kinds)
    assert found.names == ("first", "second")
    for row in found.conditions:
        queries = [q for q in evaluation.query_ids if kinds[q] == row.condition]
        assert row.comparison == compare_several(evaluation.restrict(queries), "a", ["b"])[0]
    ranking = next(differ for differ in found.differ if differ.facet == "ranking")
    assert ranking.pvalue is not None
    assert ranking.pvalue < 0.01


def test_whether_slices_differ_is_corrected_over_the_contenders() -> None:
    """With random labels and 20 contenders it was said that they differ in 9 of 12 draws."""
    rng = np.random.default_rng(1)
    ranks = {f"q{q}": int(rank) for q, rank in enumerate(rng.integers(2, 12, 120))}
    runs = {"a": run_of(ranks)}
    for number in range(20):
        runs[f"b{number:02d}"] = run_of(
            {q: max(1, rank + int(rng.integers(-3, 4))) for q, rank in ranks.items()}
        )
    evaluation = iro.evaluate(qrels_of(ranks), runs, cutoff=12)
    labels = {q: str(rng.choice(["odd", "even"])) for q in ranks}
    found = iro.compare_slices(evaluation, "a", by=labels, resamples=999)
    ranking = [row for row in found.differ if row.facet == "ranking"]
    raw: list[Any] = [row.pvalue for row in ranking]
    corrected: list[Any] = [row.pvalue_corrected for row in ranking]
    np.testing.assert_allclose(corrected, multipletests(raw, method="holm")[1])
    assert min(raw) <= 0.05 < min(corrected)
    assert "no evidence that they differ" in str(found)
    assert sum("no evidence that slices differ in ranking" in note for note in found.notes) == 20
    alone = iro.compare_slices(
        evaluation, "a", ranking[int(np.argmin(raw))].contender, by=labels, resamples=999
    )
    assert "they differ for" in str(alone)
    uncorrected = iro.compare_slices(evaluation, "a", by=labels, correction="none", resamples=999)
    assert [row.pvalue_corrected for row in uncorrected.differ] == [
        row.pvalue for row in uncorrected.differ
    ]


def test_slices_by_length_are_quartiles(evaluation: iro.Evaluation) -> None:
    found = iro.compare_slices(evaluation, "a", by="length")
    assert found.names == ("1 word", "2 words", "3 words", "4 words")
    assert sum(row.comparison.n_queries for row in found.conditions) == 120


@pytest.mark.parametrize(
    ("by", "error", "message"),
    [
        (lambda query: "won", ParameterError, "regress to the mean"),
        (lambda query: "b", ParameterError, "regress to the mean"),
        (lambda query: "x", ParameterError, "slices need at least two"),
        (lambda query: None, MismatchError, "no answerable query has a label"),
    ],
)
def test_slices_that_are_refused(
    evaluation: iro.Evaluation, by: Any, error: type[Exception], message: str
) -> None:
    labels = {query: by(query) for query in evaluation.query_ids if by(query)} or {"z": "x"}
    with pytest.raises(error, match=message):
        iro.compare_slices(evaluation, "a", by=labels)


def test_small_slices_have_no_label_and_missing_labels_are_said(
    evaluation: iro.Evaluation, tmp_path: Path
) -> None:
    path = tmp_path / "kinds.tsv"
    path.write_text(
        "".join(f"q{q}\t{'small' if q < 20 else 'large'}\n" for q in range(110)) + "q999\tlarge\n"
    )
    found = iro.compare_slices(evaluation, "a", by=path)
    assert {row.condition: row.label is None for row in found.conditions} == {
        "small": True,
        "large": False,
    }
    notes = "\n".join(found.notes)
    assert "10 queries without a label" in notes
    assert "1 label ignored, of queries that the qrels lack: q999." in notes
    assert "too few queries" in " ".join(str(found).split())


def test_labels_of_single_queries_are_said_to_test_nothing(evaluation: iro.Evaluation) -> None:
    """It was said that there is no evidence, which reads as if something had been tested."""
    own = iro.compare_slices(evaluation, "a", by={q: f"about {q}" for q in evaluation.query_ids})
    view = own.view()
    assert view.label == (
        "nothing is tested, because every slice has fewer than 30 queries (120 labels for 120"
        " queries)"
    )
    (overview,) = view.tables
    assert [column.title for column in overview.columns] == ["labels", "queries", "verdict"]
    assert overview.captions == ("cutoff 30, rel 1, unit query, ties trec, alpha 0.05",)
    assert view.details[0].captions == (
        "no test: fewer than two slices of two queries, or the same change on all",
    )
    same = replace(evaluation, runs=(evaluation["a"], replace(evaluation["a"], name="b")))
    halves = {q: f"half {int(q[1:]) % 2}" for q in evaluation.query_ids}
    found = iro.compare_slices(replace(same, sources=()), "a", by=halves)
    assert found.view().label == "whether they differ cannot be tested"


def test_cutoffs_are_the_comparisons_at_each(evaluation: iro.Evaluation) -> None:
    found = iro.compare_cutoffs(evaluation, "a", "b", cutoffs=[20, 1, 5, 50])
    assert found.names == tuple(found.labels("b")) == ("1", "5", "20")
    for row in found.conditions:
        (comparison,) = compare_several(evaluation.with_cutoff(int(row.condition)), "a", ["b"])
        assert row.comparison == comparison
    assert any(note.startswith("50: beyond the longest list") for note in found.notes)
    with pytest.raises(
        ParameterError, match="no cutoff of 50 is within the lists, which hold 30 documents"
    ):
        iro.compare_cutoffs(evaluation, "a", "b", cutoffs=[50])


def test_several_runs_at_several_cutoffs(evaluation: iro.Evaluation) -> None:
    """They are corrected over the runs, shown by a matrix of signs first, and each has a curve."""
    three = replace(
        evaluation, runs=(*evaluation.runs, replace(evaluation["b"], name="c")), sources=()
    )
    found = iro.compare_cutoffs(three, "a", cutoffs=[5, 20], resamples=99)
    assert found.contenders == ("b", "c")
    alone = [compare_several(three.with_cutoff(cutoff), "a", ["b", "c"])[1] for cutoff in (5, 20)]
    assert [row.comparison for row in found.of("c")] == alone
    assert (len(found.curves), found.settings.family, found.settings.cutoff) == (2, 2, None)
    assert "run 5 20 better worse" in str(found)
    labels = [
        text.get_text() for text in found.plot("curve", ax=blank_figure()).get_legend().get_texts()
    ]
    assert labels == ["a", "b", "c"]
    with pytest.raises(ParameterError, match="one collection or several, not on cutoffs"):
        iro.gate(found, margins=(1.0, 0.5))


def test_the_curve_is_the_share_found_by_each_rank(evaluation: iro.Evaluation) -> None:
    (curve,) = iro.compare_cutoffs(evaluation, "a", "b").curves
    for name, shares in (("a", curve.baseline), ("b", curve.contender)):
        assert shares == pytest.approx(
            [evaluation[name].at(rank).coverage() for rank in curve.ranks]
        )
    difference = np.subtract(curve.contender, curve.baseline)
    assert (np.array(curve.low) <= difference + 1e-12).all()
    assert (difference <= np.array(curve.high) + 1e-12).all()
    qrels = {f"q{q}": {f"d{d}": 1 for d in range(1 + q % 3)} for q in range(40)}
    rng = np.random.default_rng(0)
    runs = {
        name: {
            q: dict(zip([*judged, "x", "y", "z"], rng.permutation(9).tolist(), strict=False))
            for q, judged in qrels.items()
        }
        for name in "ab"
    }
    by_document = iro.evaluate(qrels, runs, unit="document", cutoff=10)
    (curve,) = iro.compare_cutoffs(by_document, "a", "b", cutoffs=[1, 2, 3]).curves
    at_ranks = [by_document["a"].at(rank) for rank in curve.ranks]
    assert curve.baseline == pytest.approx(
        [(at.relevant_retrieved / at.relevant).mean() for at in at_ranks]
    )


def test_judges_side_by_side() -> None:
    runs = {
        name: {f"q{q}": {"x": float(name == "a"), "y": 0.5} for q in range(40)} for name in "ab"
    }
    x, y = (
        iro.evaluate({q: {document: 1} for q in runs["a"]}, runs, cutoff=10) for document in "xy"
    )
    found, same = (
        iro.compare_judges({"x judge": x, "y judge": y}, "a"),
        iro.compare_judges({"one": x, "a model": x}, "a"),
    )
    assert found.labels("b") == {"x judge": "worse on ranking", "y judge": "better on ranking"}
    assert (len(found.flips), found.flips[0].better, same.flips) == (40, ("y judge",), ())
    assert found.sentences == (
        "b: a different label under each of 2 judges, opposite directions occur.",
    )
    assert same.sentences[0].startswith(
        'b: the same label under 2 of 2 judges ("worse on ranking"), never opposite'
    )


def test_judges_may_differ_in_qrels_and_rel_only() -> None:
    runs = {"a": {"q": {"x": 1.0}}, "b": {"q": {"x": 1.0}}}
    ev = iro.evaluate({"q": {"x": 2}}, runs, cutoff=10)
    strict = iro.evaluate({"q": {"x": 2}}, runs, cutoff=10, rel=2)
    found = iro.compare_judges({"B": ev, "strict b": strict}, "a")
    assert [row.comparison.rel for row in found.conditions] == [1, 2]
    assert [note.partition(":")[0] for note in found.notes if "the judge's name" in note] == ["B"]
    with pytest.raises(MismatchError, match="judges may differ in qrels and rel only"):
        iro.compare_judges({"one": ev, "two": ev.with_cutoff(5)}, "a")
    with pytest.raises(MismatchError, match="the run b is missing"):
        iro.compare_judges({"one": ev, "two": ev[["a"]]}, "a")
    with pytest.raises(ParameterError, match="at least two judges"):
        iro.compare_judges({"one": ev}, "a")
    with pytest.raises(
        ParameterError, match="there is no contender; name a run other than the baseline"
    ):
        iro.compare_collections({"one": ev}, "a", [])
    with pytest.raises(ParameterError, match="needs the texts of the queries"):
        iro.compare_slices(ev, "a", by="length")


def test_whether_slices_differ_is_not_tested_where_queries_come_in_clusters(
    evaluation: iro.Evaluation,
) -> None:
    runs = [replace(run, clusters=np.arange(120) // 4) for run in evaluation]
    labels = {
        query: "even" if number % 2 else "odd" for number, query in enumerate(evaluation.query_ids)
    }
    clustered = iro.compare_slices(replace(evaluation, runs=tuple(runs)), "a", by=labels)
    assert (bool(iro.compare_slices(evaluation, "a", by=labels).differ), clustered.differ) == (
        True,
        (),
    )
    assert "not tested: queries come in clusters" in " ".join(str(clustered).split())
