"""What leaderboards, history, stability and agreement show, in every format and figure."""

from __future__ import annotations

import re
import xml.dom.minidom

import pytest
from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.results import Result
from ir_outcomes.showing.figures import conditions_plot, kinds
from tests.helpers.many import collection

NASTY = ["<b>&_%", "a" * 60, "$x^2$ \\ {y}", "плохо"]


@pytest.fixture(scope="module")
def results() -> list[Result]:
    qrels, runs = collection(4, 30, relevant=2)
    named = dict(zip(NASTY, runs.values(), strict=True))
    entries = [{"id": name, "date": f"2021-02-0{day}", "group": name} for day, name in enumerate(NASTY, 1)]
    evaluation = iro.evaluate(qrels, named, cutoff=10)
    scores = evaluation.scores_of(None)
    return [
        iro.leaderboard(evaluation, entries=entries),
        iro.leaderboard(scores),
        iro.sota_history([{**entry, "score": day} for day, entry in enumerate(entries)]),
        iro.rank_distribution(evaluation, resamples=50),
        iro.agreement(evaluation, splits=5),
        iro.agreement(scores, splits=5),
        iro.rank_correlation(scores, evaluation.scores_of("ESL(unanswered='cutoff+1')@5")),
    ]


def test_every_result_in_every_format(results: list[Result]) -> None:
    for result in results:
        text = str(result)
        assert not re.search(r"\bnan\b", text.lower())
        assert "None" not in text
        assert type(result).from_json(result.to_json()) == result
        assert repr(result).startswith(f"<{type(result).__name__}: ")
        assert result.to_csv()
        assert result.to_markdown()
        assert r"\begin{tabular}" in result.to_latex()
        xml.dom.minidom.parseString(f"<div>{result.to_html()}</div>")


def test_every_figure(results: list[Result]) -> None:
    drawn = 0
    for result in results[:-1]:
        for kind in kinds(result):
            if isinstance(result, iro.Leaderboard) and not result.pairs and kind != "tiers":
                with pytest.raises(ParameterError, match=f"kind='{kind}' needs"):
                    result.plot(kind, ax=Figure())
            else:
                assert result.plot(kind, ax=Figure()).has_data()
                drawn += 1
    assert drawn == 11


def test_shares_of_the_first_places_are_shown() -> None:
    qrels, runs = collection(6, 30)
    result = iro.rank_distribution(iro.evaluate(qrels, runs), resamples=40)
    (table,) = result.view().tables
    headings = [column.title for column in table.columns]
    assert headings[5:10] == ["1", "2", "3", "4", "5"]
    for cells, run in zip(table.rows, result.runs, strict=True):
        assert cells[5:10] == tuple(f"{100 * number / 40:.1f}" for number in run.counts[:5])
    assert r"rank, \%" in result.to_latex()


def test_tests_and_verdict_are_rows_of_one_table(results: list[Result]) -> None:
    result = results[4]
    view = result.view()
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
    many = {f"run{number:02d}": runs[f"run{number % 3}"] for number in range(30)}
    crowded = str(iro.leaderboard(iro.evaluate(qrels, many, cutoff=6), measures=["Answered@6"]))
    assert "Raised: the number of runs" in " ".join(crowded.split())


def test_the_title_says_which_runs_are_drawn() -> None:
    qrels, runs = collection(5, 30)
    evaluation = iro.evaluate(qrels, runs, measures=["nDCG@5"])
    conditions = {name: iro.rank_distribution(evaluation, measure=name, resamples=20) for name in ("RR", "nDCG@5")}
    ax = conditions_plot(conditions, ax=Figure())
    assert "the first 3 by RR" in ax.get_title(loc="left") + ax.get_title() + str(ax.figure.get_suptitle())
