"""What leaderboards, history, stability and agreement show, in every format and figure."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.results import Result
from ir_outcomes.showing.figures import kinds
from tests.helpers.many import collection
from tests.helpers.results import result_of


def test_every_figure_of_runs_and_of_scores() -> None:
    qrels, runs = collection(4, 30, relevant=2)
    scores = iro.evaluate(qrels, runs, cutoff=10).scores_of(None)
    of_scores: list[Result] = [iro.leaderboard(scores), iro.agreement(scores, splits=5)]
    names = ("Leaderboard", "SotaHistory", "RankDistribution", "RankCorrelation", "Agreement")
    for result in (*map(result_of, names), of_scores[1]):
        for kind in kinds(result):
            assert result.plot(kind, ax=Figure()).has_data()
    for kind in ("verdicts", "history"):
        with pytest.raises(ParameterError, match=f"kind='{kind}' needs"):
            of_scores[0].plot(kind, ax=Figure())
    for result in of_scores:
        assert "None" not in result.to_text(details=True)


def test_shares_of_the_first_places_are_shown() -> None:
    qrels, runs = collection(6, 30)
    result = iro.rank_distribution(iro.evaluate(qrels, runs), resamples=40)
    (table,) = result.view().tables
    headings = [column.title for column in table.columns]
    assert headings[5:10] == ["1", "2", "3", "4", "5"]
    for cells, run in zip(table.rows, result.runs, strict=True):
        assert cells[5:10] == tuple(f"{100 * number / 40:.1f}" for number in run.counts[:5])
    assert r"rank, \%" in result.to_latex()


def test_tests_and_verdict_are_rows_of_one_table() -> None:
    view = result_of("Agreement").view()
    assert [row[0] for row in view.tables[0].rows][-1] == "verdict"
    labels, craswell = view.details
    assert [len(table.rows) for table in (labels, craswell)] == [8, 7]
    assert labels.rows[-1][:2] == ("outcomes by document", "verdict")
    assert "Craswell et al. 2021" in craswell.title


def test_a_table_for_papers_has_letters_and_the_best_in_bold() -> None:
    qrels, runs = collection(3, 200, relevant=2, seed=0)
    evaluation = iro.evaluate(qrels, runs, cutoff=6, measures=["AP@6"])
    board = iro.leaderboard(evaluation, measures=["AP@6", "coverage"])
    first, last = board.standings[0].run, board.standings[-1].run
    assert board.measures[0].better_than[0] == (last,)
    value = f"{board.standings[0].score:.4f}"
    text = str(board)
    assert f"a {first} {value} c" in text
    assert "Letters: the runs that this one is significantly better than: t test" in " ".join(text.split())
    assert "Holm over 3 pairs, level 0.05" in " ".join(text.split())
    assert f"| **{value}**<sup>c</sup> |" in board.to_markdown()
    assert f"<b>{value}</b><sup>c</sup></td>" in board.to_html()
    assert rf"\textbf{{{value}}}$^{{c}}$" in board.to_latex(caption=True)
    assert "Holm over 3 pairs, level 0.05" in board.to_latex(caption=True)
