from __future__ import annotations

from dataclasses import replace

import pytest

import ir_outcomes as iro
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.formatting import pvalue
from tests.helpers.many import collection
from tests.helpers.runs import qrels_of, run_of


@pytest.fixture(scope="module")
def thirteen() -> Comparisons:
    qrels, runs = collection(14, 200, relevant=1)
    names = [f"run.msmarco-v1-passage.bm25-{number}.dev" for number in range(14)]
    baseline, *contenders = runs.values()
    found = iro.compare(qrels, baseline, contenders, names=names)
    assert isinstance(found, Comparisons)
    return found


def test_thirteen_contenders_print_a_screen_best_first(thirteen: Comparisons) -> None:
    text = str(thirteen)
    assert len(text.splitlines()) <= 60
    view = thirteen.view()
    (table,) = view.tables
    labels = [row[1] for row in table.rows]
    assert labels == sorted(labels, key=LABELS.index)
    assert view.label == ", ".join(f"{n} {label}" for label in LABELS if (n := labels.count(label)))
    assert "p and labels by Holm over 13 runs" in " ".join(text.split())


def test_a_mark_shows_what_is_significant_only_before_the_correction(thirteen: Comparisons) -> None:
    (table,) = thirteen.view().tables
    shown = {row[0]: row for row in table.rows}
    for each in thirteen:
        for facet, column in ((each.coverage, 3), (each.ranking, 5)):
            lost = facet.pvalue <= 0.05 < facet.corrected
            assert shown[each.contender][column].endswith("*") == lost
            assert shown[each.contender][column].startswith(pvalue(facet.corrected))
    assert ("*: at most 0.05 before it" in " ".join(table.captions)) == any("*" in cell for row in table.rows for cell in row)


def test_notes_are_said_once_for_each_kind(thirteen: Comparisons) -> None:
    alone, both = "Harm is not excluded: a loss of up to 3 points is possible.", "Few queries: on 30 queries."
    a = replace(thirteen[0], contender="r1", notes=(alone, both), background=("Depth 10.",))
    b = replace(thirteen[1], contender="r2", notes=(both,), background=("Depth 10.", "Unjudged documents: 3 %."))
    view = Comparisons((a, b)).view()
    assert view.notes == (both, "Harm is not excluded, for r1: a loss of up to 3 points is possible.")
    assert view.background == ("Depth 10.", "Unjudged documents, for r2: 3 %.")
    c = replace(thirteen[2], contender="r3", notes=(alone.replace("3", "4"),), background=())
    assert any(note.startswith("Harm is not excluded, for 2 of 3: ") for note in Comparisons((a, b, c)).view().notes)


def test_details_hold_everything(thirteen: Comparisons) -> None:
    comparison = thirteen[5]
    page, text = comparison.to_html(), " ".join(comparison.to_text(details=True).split())
    for shown in ("coverage, %", "naive MRR", "mean search length, B / A", "median rank", comparison.verdict.label):
        assert shown in page
        assert shown in text
        assert (shown in str(comparison)) == (shown in ("coverage, %", comparison.verdict.label))
    for note in (*comparison.notes, *comparison.background):
        assert note.replace('"', "&quot;").replace("'", "&#x27;") in page
        assert note in text
    assert "<details>" in page


def test_a_row_for_each_test(thirteen: Comparisons) -> None:
    frame = thirteen.to_frame(long=True)
    names = ["baseline", "contender", "facet", "test", "estimate", "low", "high", "statistic", "p", "p_corrected", "n"]
    assert list(frame.columns) == [*names, "n_nonzero"]
    first = thirteen[0]
    own = frame[(frame.contender == first.contender) & (frame.facet == "ranking")].set_index("test")
    assert dict(own.p) == first.ranking.pvalues
    assert own.p_corrected[first.ranking.test] == first.ranking.pvalue_corrected
    assert own.p_corrected.notna().sum() == 1
    with pytest.raises(iro.ParameterError, match="has no row for each test"):
        iro.verdict_from_summary(10, 3, 2, 0.5, 0.1).to_frame(long=True)


def test_columns_of_the_paper(thirteen: Comparisons) -> None:
    names = list(thirteen.paper_rows()[0])
    assert names == [
        "A", "B", "delta", "naive_wrs_p", "naive_wsr_p", "naive_t_p", "neither", "a_wins", "b_wins", "coverage_p", "both",
        "a_esl", "b_esl", "esl_wsr_p", "esl_t_p", "a_rr", "b_rr", "rr_wsr_p", "rr_t_p", "verdict",
    ]  # fmt: skip
    row, found = thirteen[4].paper_rows()[0], thirteen[4]
    assert found.reciprocal is not None
    assert row["rr_wsr_p"] == found.reciprocal.pvalues["wilcoxon"]
    assert found.reciprocal.pvalue_corrected is None  # it decides nothing
    assert row["naive_wrs_p"] == found.naive.pvalues["ranksum"]
    (table,) = thirteen.view(columns="paper").tables
    assert (len(table.columns), len(table.rows)) == (len(names), 13)
    assert r"\multicolumn{9}{c}{(3) both find}" in thirteen.to_latex(columns="paper")


def test_columns_of_the_paper_are_named_by_the_unit() -> None:
    """By document the search length on what both found is no ESL, which is that of the first relevant document."""
    qrels = {f"q{n}": {"x": 1, "y": 1} for n in range(40)}
    runs = [{query: dict(zip(order, (3.0, 2.0, 1.0), strict=True)) for query in qrels} for order in ("axy", "xay")]
    found = iro.compare(qrels, *runs, unit="document")
    assert isinstance(found, iro.Comparison)
    (row,) = found.paper_rows()
    assert (row["a_asl"], row["a_reciprocal_asl"]) == (2.0, 0.5)
    assert not {"a_esl", "a_rr"} & set(row)
    text = found.to_text(columns="paper")
    assert "Lower is better for ASL" in " ".join(text.split())
    assert "ESL" not in text


def test_significant_and_best_cells_are_marked_on_request(thirteen: Comparisons) -> None:
    (table,) = thirteen.view().tables
    by_name = {each.contender: each for each in thirteen}
    assert {row for row, column in table.significant if column == 2} == {
        row for row, cells in enumerate(table.rows) if by_name[cells[0]].coverage.corrected <= 0.05
    }
    latex = thirteen.to_latex(mark=("best", "significant"))
    assert latex.count(r"$^{\dagger}$") == len(table.significant)
    assert latex.count(r"\mathbf") == len(table.best)


def test_other_measures_than_ranks_are_named() -> None:
    a = {f"q{number}": {"ndcg": number / 40} for number in range(40)}
    b = {query: {"ndcg": values["ndcg"] / 2} for query, values in a.items()}
    found = iro.compare_outputs(a, [b, b], measure="ndcg", higher_is_better=True)
    assert isinstance(found, Comparisons)
    assert found.view().tables[0].columns[4].title == "ndcg"
    assert "a_rr" not in found.paper_rows()[0]
    (table,) = found.view(columns="paper").tables
    assert [column.title for column in table.columns][11:13] == ["A ndcg", "B ndcg"]
    assert "naive mean" in found[0].to_text(details=True)


def test_lists_of_queries() -> None:
    found = iro.compare(qrels_of(["q1", "q2"]), run_of({"q1": 1, "q2": None}), run_of({"q1": 3, "q2": 1}), names=["a", "b"])
    assert isinstance(found, Comparison)
    (table,) = found.per_query().view().tables
    assert table.rows == (
        ("q1", "both", "1.00", "1.00", "1.00", "3.00", "+2.00"),
        ("q2", "won", "0.00", "1.00", "-", "1.00", "-"),
    )


def test_every_head_says_that_unjudged_documents_were_removed() -> None:
    qrels, runs = collection(3, 40, relevant=1)
    for judged_only in (False, True):
        evaluation = iro.evaluate(qrels, runs, judged_only=judged_only, measures=["nDCG@10"])
        for result in (iro.compare(evaluation, "run0"), iro.leaderboard(evaluation, measures=["nDCG@10"])):
            assert ("judged only" in " ".join(result.view().tables[0].captions)) == judged_only
