from __future__ import annotations

from dataclasses import replace

import pytest

import ir_outcomes as iro
from ir_outcomes.comparison import Comparison, Comparisons
from ir_outcomes.showing.view import view_of
from ir_outcomes.showing.views.comparison import queries_view
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


def test_thirteen_contenders_print_a_page(thirteen: Comparisons) -> None:
    text = str(thirteen)
    assert len(text.splitlines()) <= 60
    assert all(any(line.startswith(f"{each.contender} ") for line in text.splitlines()) for each in thirteen)
    assert thirteen[0].verdict.sentence[:40] not in " ".join(text.split())
    explained = thirteen.to_text(sentences=True)
    assert all(each.verdict.sentence in " ".join(explained.split()) for each in thirteen)
    few = thirteen[:3]
    assert few.view().statements
    assert not few.view(sentences=False).statements
    assert not thirteen[:4].view().statements


def test_notes_are_said_once_for_each_kind(thirteen: Comparisons) -> None:
    texts = ["Only of a.", "Depth is 10.", "3 of 12 in r1.", "3 of 13 in r2."]
    a = replace(thirteen[0], contender="r1", notes=(texts[0], texts[1], texts[2]))
    b = replace(thirteen[1], contender="r2", notes=(texts[1], texts[3]))
    assert Comparisons((a, b)).view().notes == (
        "r1: Only of a.",
        "Depth is 10.",
        "r1: 3 of 12 in r1. The same, with other numbers, applies to all others.",
    )
    c = replace(thirteen[2], contender="r3", notes=(texts[1],))
    assert Comparisons((a, b, c)).view().notes == (
        "r1: Only of a.",
        "Depth is 10.",
        "r1: 3 of 12 in r1. The same, with other numbers, applies to r2.",
    )


def test_html_of_one_comparison_shows_what_its_text_shows(thirteen: Comparisons) -> None:
    comparison = thirteen[5]
    page, text = comparison.to_html(), str(comparison)
    for shown in ("coverage, %", "ranking, ranks", "reciprocal rank", "naive MRR", "Hodges-Lehmann", comparison.verdict.label):
        assert shown in page
        assert shown in text
    for note in comparison.notes:
        assert note.replace('"', "&quot;") in page
    assert len(comparison.view().tables) == 3


def test_p_is_printed_alike_in_every_format(thirteen: Comparisons) -> None:
    found = min(thirteen, key=lambda each: each.ranking.pvalue_corrected)
    p = f"{found.ranking.pvalue_corrected:.1e}"
    mantissa, _, exponent = p.partition("e")
    for shown in (thirteen.to_text(), thirteen.to_html(), thirteen.to_markdown()):
        assert p in shown
    assert rf"${mantissa}\times10^{{{int(exponent)}}}$" in thirteen.to_latex()


def test_reciprocals_decide_nothing_and_are_not_corrected(thirteen: Comparisons) -> None:
    row = thirteen.rows()[0]
    assert "reciprocal_p" in row
    assert "reciprocal_p_corrected" not in row
    assert thirteen[0].reciprocal is not None
    assert thirteen[0].reciprocal.pvalue_corrected is None


def test_columns_of_the_paper(thirteen: Comparisons) -> None:
    names = list(thirteen.paper_rows()[0])
    assert names == [
        "A", "B", "delta", "naive_wrs_p", "naive_wsr_p", "naive_t_p", "neither", "a_wins", "b_wins", "coverage_p", "both",
        "a_esl", "b_esl", "esl_wsr_p", "esl_t_p", "a_rr", "b_rr", "rr_wsr_p", "rr_t_p", "verdict",
    ]  # fmt: skip
    assert thirteen.to_csv(columns="paper").splitlines()[0] == ",".join(names)
    row, found = thirteen[4].paper_rows()[0], thirteen[4]
    assert found.reciprocal is not None
    assert row["rr_wsr_p"] == found.reciprocal.pvalues["wilcoxon"]
    assert row["naive_wrs_p"] == found.naive.pvalues["ranksum"]
    (table,) = thirteen.view(columns="paper").tables
    assert (len(table.columns), len(table.rows)) == (len(names), 13)
    assert r"\multicolumn{9}{c}{(3) both find}" in thirteen.to_latex(columns="paper")
    assert "WSR p" in found.to_text(columns="paper")
    assert "(3) both find" in found.to_html(columns="paper")


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
    assert {row for row, column in table.significant if column == 4} == {
        row for row, each in enumerate(thirteen) if each.coverage.pvalue_corrected <= 0.05
    }
    latex = thirteen.to_latex(mark=("best", "significant"))
    assert latex.count(r"$^{\dagger}$") == len(table.significant)
    assert latex.count(r"\mathbf") == len(table.best)


def test_other_measures_than_ranks_are_named() -> None:
    a = {f"q{number}": {"ndcg": number / 40} for number in range(40)}
    b = {query: {"ndcg": values["ndcg"] / 2} for query, values in a.items()}
    found = iro.compare_outputs(a, [b, b], measure="ndcg", higher_is_better=True)
    assert isinstance(found, Comparisons)
    assert "mean ndcg of baseline and contender on what both find, higher is better" in " ".join(str(found).split())
    assert "a_rr" not in found.paper_rows()[0]
    (table,) = found.view(columns="paper").tables
    assert [column.heading for column in table.columns][11:13] == ["A ndcg", "B ndcg"]
    assert "naive mean" in str(found[0])


def test_lists_of_queries() -> None:
    found = iro.compare(qrels_of(["q1", "q2"]), run_of({"q1": 1, "q2": None}), run_of({"q1": 3, "q2": 1}), names=["a", "b"])
    assert isinstance(found, Comparison)
    (table,) = queries_view(found.per_query(), found).tables
    assert table.rows == (
        ("q1", "both", "1.00", "1.00", "1.00", "3.00", "+2.00", ""),
        ("q2", "won", "0.00", "1.00", "-", "1.00", "-", ""),
    )


def test_every_head_says_that_unjudged_documents_were_removed() -> None:
    qrels, runs = collection(3, 40, relevant=1)
    for judged_only in (False, True):
        evaluation = iro.evaluate(qrels, runs, judged_only=judged_only, measures=["nDCG@10"])
        for result in (iro.compare(evaluation, "run0"), iro.leaderboard(evaluation, measure="nDCG@10")):
            assert ("judged only" in result.view().tables[0].head) == judged_only


def test_what_has_no_view() -> None:
    with pytest.raises(iro.errors.ParameterError, match=r"^int has no view"):
        view_of(3, None)  # type: ignore[arg-type]
