"""What is shown of results, whatever the format."""

import pickle
from dataclasses import replace

import pytest
from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.errors import FormatError
from ir_outcomes.notes import FIRST, note, ranked
from ir_outcomes.showing.views.parts import widened_words
from ir_outcomes.statistics.estimate import Sums, estimates
from tests.helpers.comparisons import compare_pair, compare_several
from tests.helpers.many import collection
from tests.helpers.values import as_values


@pytest.fixture(scope="module")
def thirteen() -> iro.Comparisons:
    qrels, runs = collection(14, 200, relevant=1)
    baseline, *contenders = runs.values()
    return compare_several(
        qrels, baseline, contenders, names=[f"run.bm25-{number}.dev" for number in range(14)]
    )


def test_notes_are_said_once_for_each_kind(thirteen: iro.Comparisons) -> None:
    alone = note("chances", "it is 3 ranks longer.")
    both = note("grades", "on 30 queries.")
    depth = note("depth", "Depth 10.")
    a = replace(thirteen[0], contender="r1", notes=(alone, both), background=(depth,))
    b = replace(thirteen[1], contender="r2", notes=(both,), background=(depth,))
    view = iro.Comparisons((a, b)).view()
    assert [
        sum("3 ranks longer" in own for own in notes) for notes in (view.notes, view.background)
    ] == [1, 0]
    assert sum("on 30 queries" in own for own in view.notes) == 1
    assert sum("Depth 10." in own for own in view.background) == 1


def test_the_kind_of_a_note_decides_its_rank_and_its_place() -> None:
    notes = [note(kind, f"about {kind}.") for kind in reversed((*FIRST, "clusters"))]
    first, background = ranked([*notes, "A remark."])
    assert [own.kind for own in first] == list(FIRST)
    assert background == ("about clusters.", "A remark.")
    assert all(own == f"{FIRST[own.kind]}: about {own.kind}." for own in first)


def test_a_kind_that_is_not_declared_is_no_background() -> None:
    with pytest.raises(KeyError, match="few decides"):
        note("few decides", "on ranking.")


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


def test_columns_of_the_paper(thirteen: iro.Comparisons) -> None:
    found = thirteen[4]
    (row,) = found.paper_table().rows()
    assert found.reciprocal is not None
    assert row["rr_wsr_p"] == found.reciprocal.tests["wilcoxon"].pvalue
    assert row["naive_wrs_p"] == found.naive.tests["ranksum"].pvalue
    (table,) = thirteen.paper_table().view().tables
    assert (len(table.columns), len(table.rows)) == (len(row), 13)
    assert iro.Comparisons(()).paper_table().to_text() == "There is no comparison"


def test_columns_are_named_by_what_is_compared() -> None:
    """By document the search length on what both found is no ESL; and other measures than ranks have no reciprocal."""
    qrels = {f"q{n}": {"x": 1, "y": 1} for n in range(40)}
    runs = [
        {query: dict(zip(order, (3.0, 2.0, 1.0), strict=True)) for query in qrels}
        for order in ("axy", "xay")
    ]
    (row,) = compare_pair(qrels, *runs, unit="document").paper_table().rows()
    assert (row["a_asl"], row["a_reciprocal_asl"]) == (2.0, 0.5)
    assert not {"a_esl", "a_rr"} & set(row)
    values = {query: {"ndcg": 0.5} for query in qrels}
    (row,) = (
        iro.compare_outputs(values, values, measure="ndcg", higher_is_better=True)
        .paper_table()
        .rows()
    )
    assert row["a_ndcg"] == 0.5
    assert "a_rr" not in row


def test_letters_of_each_measure_are_in_the_details() -> None:
    qrels, runs = collection(3, 200, relevant=2, seed=0)
    board = iro.leaderboard(
        iro.evaluate(qrels, runs, cutoff=6, measures=["AP@6"]), measures=["AP@6", "coverage"]
    )
    letters = dict(zip((item.run for item in board.standings), "abc", strict=True))
    table = board.view().details()[0]
    of_columns = [item.better_than for item in board.standings], board.measures[0].better_than
    for column, of_column in enumerate(of_columns, start=2):
        for row, better_than in zip(table.rows, of_column, strict=True):
            printed = row[column].split()[1:]
            assert printed == (
                ["".join(letters[run] for run in better_than)] if better_than else []
            )
    assert any(item.better_than for item in board.standings)


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


def test_a_board_writes_the_letters_of_many_runs_as_a_range() -> None:
    qrels = {f"q{number}": {"gold": 1} for number in range(40)}
    runs = {
        f"run{rank}": {
            query: {("gold" if place == rank else f"d{place}"): -place for place in range(10)}
            for query in qrels
        }
        for rank in range(6)
    }
    board = iro.leaderboard(iro.evaluate(qrels, runs))
    table = board.view().tables[0]
    column = [column.name for column in table.columns].index("beats")
    assert [row[column] for row in table.rows] == ["b-f", "c-f", "d e f", "e f", "f", ""]
