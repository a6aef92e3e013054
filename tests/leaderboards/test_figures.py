from typing import Any

from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.pairs.verdict import MIRRORED
from ir_outcomes.showing.figures.leaderboards import (
    VERDICT_CELLS,
    cell_of,
    draw_tiers,
    draw_verdicts,
)
from tests.helpers.many import collection


def board() -> iro.Leaderboard:
    return iro.leaderboard(iro.evaluate(*collection(5, 300, seed=1), cutoff=8))


def test_the_picture_has_the_order_of_the_board_and_bars_of_what_decides() -> None:
    result = board()
    figure = Figure()
    draw_tiers(result, figure)
    means, verdicts = figure.axes
    names = [label.get_text() for label in means.get_yticklabels()]
    assert names == [standing.run for standing in result.standings]
    bars: Any = verdicts.patches
    widths = [bar.get_width() for bar in bars]
    expected = [own.won for own in result.standings]
    expected += [-(own.lost or 0) for own in result.standings]
    assert widths == expected
    assert any(expected)
    beside = [text.get_text() for text in verdicts.texts]
    assert beside == [f"tier {own.tier}" for own in result.standings]


def test_cells_are_of_a_run_against_those_above_it() -> None:
    result = board()
    axes = draw_verdicts(result, Figure())
    runs = [standing.run for standing in result.standings]
    drawn = dict.fromkeys(VERDICT_CELLS, 0)
    for place, run in enumerate(runs):
        for upper in runs[:place]:
            pair = result.verdict(upper, run)
            assert result.verdict(run, upper).label == MIRRORED[pair.label]
            drawn[cell_of(pair.label)] += 1
    squares = dict(zip(VERDICT_CELLS, axes.collections, strict=True))
    assert {label: len(own.get_paths()) for label, own in squares.items()} == drawn
    for own in squares.values():
        for path in own.get_paths():
            column, row = path.vertices[0] + 0.5
            assert column < row
