"""What is shown of results, whatever the format."""

import pickle
from dataclasses import replace
from typing import Any

import pytest
from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.errors import FormatError
from ir_outcomes.formatting import pvalue
from ir_outcomes.notes import FIRST, note, ranked
from ir_outcomes.pairs.verdict import LABELS, direction_of
from ir_outcomes.showing.views.parts import widened_words
from ir_outcomes.statistics.estimate import Sums, estimates
from tests.helpers.comparisons import compare_pair, compare_several
from tests.helpers.many import collection
from tests.helpers.results import result_of
from tests.helpers.runs import qrels_of, run_of
from tests.helpers.values import as_values


@pytest.fixture(scope="module")
def thirteen() -> iro.Comparisons:
    qrels, runs = collection(14, 200, relevant=1)
    baseline, *contenders = runs.values()
    return compare_several(
        qrels, baseline, contenders, names=[f"run.bm25-{number}.dev" for number in range(14)]
    )


def flat(text: str) -> str:
    """Undo the wrapping of lines."""
    return " ".join(text.split())


def test_several_comparisons_are_a_row_each_best_first(thirteen: iro.Comparisons) -> None:
    view = thirteen.view()
    (table,) = view.tables
    labels = [row[1] for row in table.rows]
    assert labels == sorted(labels, key=LABELS.index)
    directions = [direction_of(label) for label in labels]
    assert (
        view.label == f"{directions.count('better')} better, {directions.count('none')} undecided"
    )
    assert len(str(thirteen).splitlines()) <= 60
    by_name = {row[0]: row for row in table.rows}
    shown = [column.name for column in table.columns]
    for item in thirteen:
        for row in item.deciding:
            place = shown.index(f"{row.name} difference")
            cells = by_name[item.contender]
            star = "*" if row.pvalue <= 0.05 < row.pvalue_corrected else ""
            assert cells[place + 1] == f"{pvalue(row.pvalue, digits=1)}{star}"
    (printed,) = view.printed
    names = [column.name for column in printed.columns]
    significant = {
        (names.index(f"{row.name} difference"), number)
        for number, cells in enumerate(printed.rows[1:], 1)
        for row in next(item for item in thirteen if item.contender == cells[0]).deciding
        if row.pvalue_corrected <= 0.05
    }
    assert {(place, number) for number, place in printed.significant} == significant


def test_notes_are_said_once_for_each_kind(thirteen: iro.Comparisons) -> None:
    alone = note("unconfirmed", "it is 3 ranks longer.")
    both = note("grades", "on 30 queries.")
    depth = note("shallow", "Depth 10.")
    a = replace(thirteen[0], contender="r1", notes=(alone, both), background=(depth,))
    b = replace(thirteen[1], contender="r2", notes=(both,), background=(depth,))
    view = iro.Comparisons((a, b)).view()
    assert [
        sum("3 ranks longer" in own for own in notes) for notes in (view.notes, view.background)
    ] == [1, 0]
    assert sum("on 30 queries" in own for own in view.notes) == 1
    assert sum("Depth 10." in own for own in view.background) == 1


def test_the_kind_of_a_note_decides_its_rank_and_its_place() -> None:
    assert len(FIRST) <= 17
    notes = [note(kind, f"about {kind}.") for kind in reversed((*FIRST, "clusters"))]
    first, background = ranked([*notes, "A remark."])
    assert [own.kind for own in first] == list(FIRST)
    assert background == ("about clusters.", "A remark.")
    assert all(own == f"{FIRST[own.kind]}: about {own.kind}." for own in first)


def test_notes_are_text_and_data(thirteen: iro.Comparisons) -> None:
    comparison = replace(thirteen[0], notes=(note("grades", "many.", ["r1"]),))
    data = comparison.to_dict()
    assert data["notes"] == [{"kind": "grades", "text": "Graded judgments: many.", "runs": ["r1"]}]
    restored = iro.Comparison.from_json(comparison.to_json())
    (own,) = restored.notes
    assert (own, own.kind, own.runs) == ("Graded judgments: many.", "grades", ("r1",))
    assert pickle.loads(pickle.dumps(own)).kind == "grades"
    with pytest.raises(
        FormatError, match=r"notes\[0\]: Expected a note with kind, text and runs, got 'Tied'"
    ):
        iro.Comparison.from_dict(data | {"notes": ["Tied"]})


def test_details_hold_all_notes_and_every_test(thirteen: iro.Comparisons) -> None:
    comparison = thirteen[5]
    text = flat(comparison.to_text(details=True))
    for own in (*comparison.notes, *comparison.background):
        assert flat(own) in text
    shown = {cell for table in comparison.view().details for row in table.rows for cell in row}
    for row in (*comparison.parts, comparison.naive):
        for test in row.tests.values():
            assert pvalue(test.pvalue) in shown


def test_a_row_for_each_test(thirteen: iro.Comparisons) -> None:
    frame = thirteen.to_frame(long=True)
    for item in thirteen:
        for row in item.parts:
            chosen = (frame.contender == item.contender) & (frame.row == row.name)
            own = frame[chosen].set_index("test")
            assert own.p["estimate"] == row.pvalue
            assert own.p_corrected["estimate"] == row.pvalue_corrected
            assert own.p_corrected.notna().sum() == 1
            assert (own.low["estimate"], own.high["estimate"]) == row.interval
            assert dict(own.p.drop("estimate")) == {n: test.pvalue for n, test in row.tests.items()}
    with pytest.raises(iro.ParameterError, match="has no row for each test"):
        result_of("SummaryVerdict").to_frame(long=True)


def test_columns_of_the_paper(thirteen: iro.Comparisons) -> None:
    found = thirteen[4]
    (row,) = found.paper_rows()
    assert list(row) == [
        "A", "B", "delta", "naive_wrs_p", "naive_wsr_p", "naive_t_p", "neither", "a_wins", "b_wins", "coverage_p", "both",
        "a_esl", "b_esl", "esl_wsr_p", "esl_t_p", "a_rr", "b_rr", "rr_wsr_p", "rr_t_p", "verdict",
    ]  # fmt: skip
    assert found.reciprocal is not None
    assert row["rr_wsr_p"] == found.reciprocal.tests["wilcoxon"].pvalue
    assert row["naive_wrs_p"] == found.naive.tests["ranksum"].pvalue
    (table,) = thirteen.view(columns="paper").tables
    assert (len(table.columns), len(table.rows)) == (len(row), 13)
    assert r"\multicolumn{9}{c}{(3) both find}" in thirteen.to_latex(columns="paper")
    assert iro.Comparisons(()).to_text(columns="paper") == "There is no comparison"


def test_columns_are_named_by_what_is_compared() -> None:
    """By document the search length on what both found is no ESL; and other measures than ranks have no reciprocal."""
    qrels = {f"q{n}": {"x": 1, "y": 1} for n in range(40)}
    runs = [
        {query: dict(zip(order, (3.0, 2.0, 1.0), strict=True)) for query in qrels}
        for order in ("axy", "xay")
    ]
    found = compare_pair(qrels, *runs, unit="document")
    (row,) = found.paper_rows()
    assert (row["a_asl"], row["a_reciprocal_asl"]) == (2.0, 0.5)
    assert not {"a_esl", "a_rr"} & set(row)
    assert "Lower is better for ASL" in flat(found.to_text(columns="paper"))
    a = {f"q{number}": {"ndcg": number / 40} for number in range(40)}
    b = {query: {"ndcg": values["ndcg"] / 2} for query, values in a.items()}
    outputs: Any = iro.compare_outputs(a, [b, b], measure="ndcg", higher_is_better=True)
    assert outputs.view().tables[0].columns[2].title == "ndcg"
    assert "a_rr" not in outputs.paper_rows()[0]
    assert [column.title for column in outputs.view(columns="paper").tables[0].columns][11:13] == [
        "A ndcg",
        "B ndcg",
    ]


def test_lists_of_queries() -> None:
    found = compare_pair(
        qrels_of(["q1", "q2"]),
        run_of({"q1": 1, "q2": None}),
        run_of({"q1": 3, "q2": 1}),
        names=["a", "b"],
    )
    (table,) = found.per_query().view().tables
    assert table.rows[0] == ("q1", "both", "1.00", "1.00", "1.00", "3.00", "+2.00")
    assert table.rows[1] == ("q2", "won", "0.00", "1.00", "-", "1.00", "-")


@pytest.mark.parametrize("ties", ["trec", "input"])
@pytest.mark.parametrize("judged_only", [False, True])
def test_every_head_says_the_settings(ties: Any, judged_only: bool) -> None:
    qrels, runs = collection(3, 20, relevant=2)
    next(iter(qrels.values()))["not relevant"] = 0
    ev = iro.evaluate(qrels, runs, ties=ties, judged_only=judged_only, measures=["nDCG@10"])
    pair = ("run0", "run1")
    for result in (
        iro.length_distributions(ev),
        iro.length_changes(ev, *pair),
        iro.rrie(ev, *pair),
        iro.headroom(ev),
    ):
        judged = ", judged documents only" if judged_only else ""
        assert (
            result.view().tables[0].captions[-1]
            == f"depth {ev[0].depth}, rel 1, ties {ties}, missing cutoff{judged}"
        )
    for board in (
        ()
        if ties == "expected"
        else (iro.compare(ev, "run0"), iro.leaderboard(ev, measures=["nDCG@10"]))
    ):
        assert ("judged only" in " ".join(board.view().tables[0].captions)) == judged_only


def test_changes_of_lengths() -> None:
    qrels = {"many": {f"d{number}": 1 for number in range(9)}, "single": {"d0": 1}}
    found = {"many": {"d0": 1.0, "x": 0.5}, "single": {"d0": 1.0, "x": 0.5}}
    lost = {"many": {"x": 1.0, "y": 0.5}, "single": {"x": 1.0, "d0": 0.5}}
    result = iro.length_changes(iro.evaluate(qrels, {"A": found, "B": lost}), "A", "B")
    (table,) = result.view().tables
    # One document of ten is lost, although it is an eighteenth of the relevant documents by queries
    # of the same weight.
    assert table.rows[-1] == ("one run only", "0", "0.0", "1", "10.0")
    assert table.rows[0] == ("1 or more", "0", "0.0", "1", "10.0")
    assert "found by neither: 8 (80.0 %)" in flat(str(result))


def test_a_plan_says_one_document_above() -> None:
    qrels = {f"q{n}": {"a": 1, "b": 1} for n in range(30)}
    far = {query: {"a": 3.0, "x": 2.0, "b": 1.0} for query in qrels}
    near = {query: {"a": 3.0, "b": 2.0, "x": 1.0} for query in list(qrels)[::2]}
    compared = iro.compare(qrels, far, {**far, **near}, unit="document", names=["A", "B"])
    for size, words in (
        (1.0, "1 irrelevant document above"),
        (2.0, "2 irrelevant documents above"),
    ):
        (table,) = iro.plan(compared, 1.0, size).view().tables
        assert table.rows[1][0] == f"ranking, {words}"


def test_published_means_are_shown_without_settings() -> None:
    text = str(iro.rrie(None, {"MAP": 0.4, "ASL": 264}, {"MAP": 0.572, "ASL": 215}))
    assert "contender (B) against baseline (A): relative reduction in error\n" in text
    assert all(shown in text for shown in ("published means", "28.7", "18.6"))


def test_shares_of_the_first_places_are_shown() -> None:
    qrels, runs = collection(6, 30)
    result = iro.rank_distribution(iro.evaluate(qrels, runs), resamples=40)
    (table,) = result.view().tables
    assert [column.title for column in table.columns][5:10] == ["1", "2", "3", "4", "5"]
    for row, run in zip(table.rows, result.runs, strict=True):
        assert row[5:10] == tuple(f"{100 * number / 40:.1f}" for number in run.counts[:5])


def test_all_runs_that_tie_for_the_first_place_are_named() -> None:
    qrels, runs = collection(1, 10)
    (run,) = runs.values()
    twice = {"one": run, "two": run}
    result = iro.rank_distribution(iro.evaluate(qrels, twice), resamples=10)
    assert all(run.rank == 1 and run.first == 1.0 for run in result.runs)
    (sentence,) = result.view().sentences
    assert all(name in sentence for name in twice)


def test_letters_of_each_measure_are_in_the_details() -> None:
    qrels, runs = collection(3, 200, relevant=2, seed=0)
    board = iro.leaderboard(
        iro.evaluate(qrels, runs, cutoff=6, measures=["AP@6"]), measures=["AP@6", "coverage"]
    )
    letters = dict(zip("abc", (standing.run for standing in board.standings), strict=True))
    table = board.view().details[0]
    assert table.raised
    columns = {
        "score": [standing.better_than for standing in board.standings],
        "coverage": board.measures[0].better_than,
    }
    for column, of_column in enumerate(column.name for column in table.columns):
        for row, better_than in enumerate(columns.get(of_column, ())):
            named = table.raised.get((row, column), "")
            assert tuple(letters[letter] for letter in named) == better_than
    value = f"{board.standings[0].score:.4f}"
    assert f"<b>{value}</b><sup>c</sup></td>" in board.to_html()
    assert f"| **{value}**<sup>c</sup> |" in board.to_markdown(details=True)
    assert rf"\textbf{{{value}}}" in board.to_latex(mark=("best",))


def test_a_board_of_values_has_its_pictures() -> None:
    qrels, runs = collection(3, 20, relevant=2)
    board = iro.leaderboard(as_values(iro.evaluate(qrels, runs).scores_of(None)))
    assert "None" not in board.to_text(details=True)
    for kind in ("standings", "verdicts"):
        axes = board.plot(kind, ax=Figure())
        names = [label.get_text() for label in axes.get_yticklabels()]
        assert names == [standing.run for standing in board.standings]


@pytest.mark.parametrize(
    ("n", "differ", "widened"), [(1000, 0, True), (1000, 3, True), (8, 8, True), (1000, 12, False)]
)
def test_few_differences_are_said_beside_what_p_is(
    thirteen: iro.Comparisons, n: int, differ: int, widened: bool
) -> None:
    """Of so many differences of a kind p is 2^(1 - m) at least; all m = 8 of 8 would have less."""
    (found,) = estimates(Sums.of_counts(n, differ, 0, 100.0)).pvalue
    row = replace(thirteen[0].coverage, n=n, differ=differ, better=differ, pvalue=found)
    assert bool(widened_words([row], 0.05)) is widened
