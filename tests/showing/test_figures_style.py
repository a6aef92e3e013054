"""Labels that stay distinct, colours that differ in greyscale, and numbers that stand where they should."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.showing import figures
from ir_outcomes.showing.figures.comparisons import OUTCOME_STYLES, draw_differences, draw_queries, draw_restricted
from ir_outcomes.showing.figures.drawing import COLORS, TONES, labels_of, literal, series_style
from ir_outcomes.showing.figures.leaderboards import VERDICT_CELLS, draw_headroom
from tests.helpers import made_up


@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8, unique=True),
    st.text(max_size=30),
    st.text(max_size=30),
    st.integers(16, 40),
)
def test_labels_are_short_distinct_and_printable(middles: list[str], start: str, end: str, most: int) -> None:
    names = [f"{start}{middle}{end}" for middle in middles]
    labels = labels_of(names, most)
    assert all(len(label) <= most and label.isprintable() for label in labels)
    assert len(set(labels)) == len({literal(name) for name in names})
    assert labels_of([*names, *names], most) == [*labels, *labels]


def test_names_that_differ_in_the_middle_keep_what_differs() -> None:
    labels = labels_of(made_up.long_names(6))
    for label, word in zip(labels, ("default", "default+rm3", "tuned", "tuned+rm3", "unicoil-noexp", "splade"), strict=True):
        assert word in label
        assert label.endswith(".dev")
    assert labels_of(["bm25", "minilm"]) == ["bm25", "minilm"]
    assert literal("a$b\tc") == "a\\$b\\tc"


def lightness(color: str) -> float:
    """Lightness L* of a colour, 0 (black) to 100 (white): what is left of it in greyscale."""
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = ((value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4) for value in channels)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return float(116 * luminance ** (1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance)


def test_styles_differ_in_greyscale_in_their_hatch_or_in_their_mark() -> None:
    assert {label.removeprefix("coverage ").removeprefix("ranking ") for label in LABELS} == set(VERDICT_CELLS)
    unconfirmed = {"gain, unconfirmed", "loss, unconfirmed"}
    for (name, first), (other, second) in itertools.combinations(VERDICT_CELLS.items(), 2):
        assert first[1] != second[1] or abs(lightness(first[0]) - lightness(second[0])) > 6 or {name, other} == unconfirmed
    for styles in (OUTCOME_STYLES, TONES):
        for one, two in itertools.combinations(styles.values(), 2):
            assert one[1] != two[1] or abs(lightness(one[0]) - lightness(two[0])) > 15


def test_series_differ() -> None:
    styles = [tuple(series_style(number).values()) for number in range(len(COLORS) * 13)]
    assert len(set(styles)) == len(styles)


def test_parts_of_the_gain_add_up_to_the_diamond_and_right_is_better() -> None:
    comparison = made_up.comparison("bm25", "minilm", n=1000)
    comparison.restricted = SimpleNamespace(horizon=100, both=-3.0, won=-2.0, lost=1.5, difference=-3.5, interval=(-6.0, -1.0))
    axes = draw_restricted(comparison, figures.blank_figure())
    ends = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches)
    assert np.allclose(sorted((min(pair), max(pair)) for pair in ends), [(-1.5, 0), (0, 2), (2, 5)])
    assert axes.lines[1].get_xdata().tolist() == [3.5]
    assert "rank 101" in axes.get_title(loc="left").replace("\n", " ")


def test_queries_are_sorted_and_what_is_not_found_counts_as_the_next_rank() -> None:
    comparison = made_up.comparison("bm25", "minilm", n=200)
    axes = draw_queries(comparison, figures.blank_figure())
    heights = [bar.get_height() for bar in sorted(axes.patches, key=lambda bar: bar.get_x())]
    assert heights == sorted(heights)
    assert heights == sorted(-query.restricted for query in comparison.queries if query.outcome != "neither")
    assert "rank 101" in axes.get_title(loc="left").replace("\n", " ")


def test_bars_of_the_differences_run_from_lost_to_won_and_end_at_the_cutoff() -> None:
    comparison = made_up.comparison("bm25", "minilm", n=200)
    axes = draw_differences(comparison, figures.blank_figure())
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert (names[0], names[-1]) == ("lost", "won")
    assert sum(bar.get_height() for bar in axes.patches) + comparison.outcomes.neither == 200
    comparison.restricted.horizon = 5
    short = [label.get_text() for label in draw_differences(comparison, figures.blank_figure()).get_xticklabels()]
    assert not any("10" in name for name in short)


def test_buckets_of_the_headroom_share_no_end() -> None:
    axes = draw_headroom(made_up.headroom(4), figures.blank_figure(), number=0)
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"]
    assert [bar.get_x() for bar in axes.patches] == axes.get_xticks().tolist()[:-1]
