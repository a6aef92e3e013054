"""Labels that stay distinct, colours that differ in greyscale, and numbers that stand where they should."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.showing import figures
from ir_outcomes.showing.figures._frame import place_rows
from ir_outcomes.showing.figures._labels import literal, printable, short_labels
from ir_outcomes.showing.figures._palette import BLACK, COLORS, lightness, series_style
from ir_outcomes.showing.figures.comparisons import OUTCOME_STYLES, draw_restricted
from ir_outcomes.showing.figures.forest import ForestPanel, ForestRow, draw_forest
from ir_outcomes.showing.figures.leaderboards import VERDICT_CELLS
from ir_outcomes.showing.figures.queries import QUERY_STYLES, draw_differences, draw_queries
from ir_outcomes.showing.figures.tail import draw_headroom
from tests.helpers import made_up


@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8, unique=True),
    st.text(max_size=30),
    st.text(max_size=30),
    st.integers(12, 40),
)
def test_labels_are_short_distinct_and_printable(middles: list[str], start: str, end: str, most: int) -> None:
    names = [f"{start}{middle}{end}" for middle in middles]
    labels = short_labels(names, most)
    assert all(len(label) <= most and label.isprintable() for label in labels)
    assert len(set(labels)) == len({printable(name) for name in names})
    assert short_labels([*names, *names], most) == [*labels, *labels]


def test_names_that_differ_in_the_middle_keep_what_differs() -> None:
    labels = short_labels(made_up.long_names(6))
    for label, word in zip(labels, ("default", "default+rm3", "tuned", "tuned+rm3", "unicoil-noexp", "splade"), strict=True):
        assert word in label
        assert label.endswith(".dev")
    assert short_labels(["bm25", "minilm"]) == ["bm25", "minilm"]
    assert literal("a$b\nc\td") == "a\\$b\nc\\td"


def test_verdicts_differ_in_greyscale_or_in_their_mark() -> None:
    assert list(VERDICT_CELLS) == list(LABELS)
    for first, second in itertools.combinations(VERDICT_CELLS.values(), 2):
        assert first[1] != second[1] or abs(lightness(first[0]) - lightness(second[0])) > 25
    for color, _, ink in VERDICT_CELLS.values():
        assert abs(lightness(color) - lightness(BLACK if ink == BLACK else "#FFFFFF")) > 45


def test_bars_differ_in_greyscale_or_in_their_hatch() -> None:
    for styles in (OUTCOME_STYLES, QUERY_STYLES):
        for first, second in itertools.combinations(styles.values(), 2):
            assert first[1] != second[1] or abs(lightness(first[0]) - lightness(second[0])) > 15


def test_series_differ() -> None:
    styles = [tuple(series_style(number).values()) for number in range(len(COLORS) * 13)]
    assert len(set(styles)) == len(styles)
    for part in (0, 1):
        assert len({style[part] for style in styles[:8]}) == 8


@pytest.mark.parametrize("n", [1, 14, 63, 143, 1000])
def test_rows_have_a_bounded_height_and_labels_that_fit(n: int) -> None:
    rows = place_rows(n)
    assert rows.height <= 14.2
    assert 5.5 <= rows.fontsize <= 9
    assert rows.fontsize / 72 <= rows.step * rows.height / n
    assert rows.step == 1 or n > 143


def test_parts_of_the_restricted_length_add_up_to_the_diamond() -> None:
    comparison = made_up.comparison("bm25", "minilm", n=1000)
    comparison.restricted = SimpleNamespace(horizon=100, both=-3.0, won=-2.0, lost=1.5, difference=-3.5, interval=(-6.0, -1.0))
    axes = draw_restricted(comparison, figures.blank_figure())
    ends = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches)
    assert np.allclose(sorted((min(pair), max(pair)) for pair in ends), [(-5, -3), (-3, 0), (0, 1.5)])
    assert axes.lines[1].get_xdata().tolist() == [-3.5]
    assert "rank 101" in axes.get_title(loc="left")


def test_queries_are_sorted_and_what_is_not_found_counts_as_the_next_rank() -> None:
    comparison = made_up.comparison("bm25", "minilm", n=200)
    comparison.restricted.horizon = 50
    axes = draw_queries(comparison, figures.blank_figure())
    tops = [(path.vertices[0, 0], path.vertices[1, 1]) for drawn in axes.collections for path in drawn.get_paths()]
    heights = [height for _, height in sorted(tops)]
    assert heights == sorted(heights, reverse=True)
    gains = [
        (51 if query.baseline is None else query.baseline) - (51 if query.contender is None else query.contender)
        for query in comparison.queries
        if query.outcome != "neither"
    ]
    assert sorted(heights) == sorted(gains)


def test_every_bar_of_the_differences_has_a_tick() -> None:
    comparison = made_up.comparison("bm25", "minilm", n=200)
    axes = draw_differences(comparison, figures.blank_figure())
    middles = {round(bar.get_x() + bar.get_width() / 2) for bar in axes.patches}
    assert set(axes.get_xticks().tolist()) == middles == set(range(-7, 8))


def test_buckets_of_the_headroom_share_no_end() -> None:
    axes = draw_headroom(made_up.headroom(4), figures.blank_figure(), number=0)
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"]
    assert [bar.get_x() for bar in axes.patches] == axes.get_xticks().tolist()[:-1]


def test_a_forest_plot_shows_estimates_weights_and_prediction() -> None:
    rows = (
        ForestRow("a", (1.0, 0.0, 2.0), weight=4.0),
        ForestRow("b", (0.0, -1.0, 1.0), weight=1.0),
        ForestRow("c", None),
        ForestRow("these", (0.5, 0.1, 0.9), kind="these"),
        ForestRow("new", (0.5, 0.0, 1.0), kind="new", prediction=(-3.0, 4.0)),
    )
    axes = draw_forest([ForestPanel("coverage", "points", rows)], "", figures.blank_figure())
    squares = [line for line in axes.lines if line.get_marker() == "s"]
    assert [float(line.get_xdata()[0]) for line in squares] == [1.0, 0.0]
    assert squares[0].get_markersize() > squares[1].get_markersize()
    assert [text.get_text() for text in axes.texts] == [
        "+1.00 [+0.00, +2.00]",
        "+0.00 [\N{MINUS SIGN}1.00, +1.00]",
        "not estimated",
        "+0.50 [+0.10, +0.90]",
        "+0.50 [+0.00, +1.00]",
    ]
    assert axes.get_xlim()[0] < -3.0
    assert axes.get_xlim()[1] > 4.0
