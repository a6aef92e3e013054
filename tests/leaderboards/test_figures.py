import re
from typing import Any

from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.pairs.verdict import MIRRORED
from ir_outcomes.showing.figures.leaderboards import VERDICT_CELLS
from ir_outcomes.showing.views.conditions import sign_of
from tests.helpers.many import collection


def board() -> iro.Leaderboard:
    return iro.leaderboard(iro.evaluate(*collection(5, 300, seed=1), cutoff=8))


def test_the_picture_has_the_order_and_the_means_of_the_board() -> None:
    result = board()
    axes = result.plot("standings", Figure())
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [standing.run for standing in result.standings]
    drawn = [tuple(line.get_xdata()) for line in axes.lines]
    expected: list[Any] = []
    for standing in result.standings:
        expected += [standing.interval, (standing.score,)]
    assert drawn == expected
    beside = [text.get_text() for text in axes.texts]
    ranks = [re.findall(r"\d+", text) for text in beside]
    assert [(int(of_run[0]), int(of_run[-1])) for of_run in ranks] == [
        tuple(standing.ranks) for standing in result.standings
    ]
    assert len({tuple(of_run) for of_run in ranks}) > 1


def test_cells_are_of_a_run_against_each_other_one() -> None:
    result = board()
    axes = result.plot("verdicts", Figure())
    runs = [standing.run for standing in result.standings]
    signs = {}
    for place, run in enumerate(runs):
        for column, upper in enumerate(runs[:place]):
            pair = result.verdict(upper, run)
            assert result.verdict(run, upper).label == MIRRORED[pair.label]
            signs[column, place] = sign_of(pair.label)
            signs[place, column] = sign_of(MIRRORED[pair.label])
    assert {text.get_position(): text.get_text() for text in axes.texts} == signs
    colors = {sign: list(signs.values()).count(sign) for sign in VERDICT_CELLS}
    drawn = [len(cells.get_paths()) for cells in axes.collections]
    assert drawn == [number for number in colors.values() if number]
