"""Labels that stay distinct, colours that differ for everybody and in greyscale, and numbers that stand where they should."""

import itertools
import re
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.pairs.verdict import LABELS
from ir_outcomes.showing.figures import labels_of, literal
from ir_outcomes.showing.figures.changes import CHANGES
from ir_outcomes.showing.figures.leaderboards import VERDICT_CELLS
from ir_outcomes.showing.views.conditions import sign_of

# What people without cones for green or for blue see (those without cones for red see much as those
# without green): Machado, Oliveira and Fernandes 2009, table 1, severity 1; and greyscale.
SIGHTS = {
    "usual": np.eye(3),
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
    "grey": [[0.2126, 0.7152, 0.0722]] * 3,
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def seen(color: str, sight: str = "usual") -> np.ndarray:
    """Linear red, green and blue of a colour such as #15b or #1556b0, as it is seen."""
    digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
    channels = np.array([int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.clip(np.array(SIGHTS[sight]) @ linear, 0, 1))


def lab(color: str, sight: str = "usual") -> np.ndarray:
    """Lightness L*, a* and b* of a colour as it is seen."""
    x, y, z = np.cbrt(TO_XYZ @ seen(color, sight) / TO_XYZ.sum(axis=1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_of_the_page_differ_for_everybody_in_light_in_dark_and_in_print(sight: str) -> None:
    style = (files("ir_outcomes.showing.page") / "page.css").read_text(encoding="utf-8")
    root, _, others = style.partition("}")
    colors = re.findall(r"--([a-z-]+): light-dark\((#\w+), (#\w+)\)", root)
    light = {name: first for name, first, _ in colors}
    dark = {name: second for name, _, second in colors}
    assert ":root { color-scheme: light" in others.partition("@media print")[2]  # as on paper
    for palette in (light, dark):
        # worse is hatched, too
        for other in ["grey", *(["orange"] if sight != "grey" else [])]:
            difference = lab(palette["blue"], sight) - lab(palette[other], sight)
            assert np.linalg.norm(difference) > 20


def test_styles_of_figures_differ_in_greyscale_in_their_hatch_or_in_their_mark() -> None:
    assert {sign_of(label) for label in LABELS} == set(VERDICT_CELLS)
    cells = [cell[1:] for cell in VERDICT_CELLS.values()]
    for styles, least in ((cells, 6), ([change[1:] for change in CHANGES.values()], 15)):
        for one, two in itertools.combinations(styles, 2):
            assert one[1] != two[1] or abs(lab(one[0])[0] - lab(two[0])[0]) > least


@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8, unique=True),
    st.text(max_size=30),
    st.text(max_size=30),
    st.integers(16, 40),
)
def test_labels_are_short_distinct_and_printable(
    middles: list[str], start: str, end: str, most: int
) -> None:
    names = [f"{start}{middle}{end}" for middle in middles]
    labels = labels_of(names, most)
    assert all(len(label) <= most and label.isprintable() for label in labels)
    assert len(set(labels)) == len({literal(name) for name in names})
    assert labels_of([*names, *names], most) == [*labels, *labels]


def test_names_that_differ_in_the_middle_keep_what_differs() -> None:
    words = ("bm25-default", "bm25-default+rm3", "bm25-tuned", "bm25-tuned+rm3", "unicoil-noexp")
    labels = labels_of([f"run.msmarco-v1-passage.{word}.dev" for word in words])
    for label, word in zip(labels, words, strict=True):
        assert word in label
        assert label.endswith(".dev")
    assert labels_of(["bm25", "minilm"]) == ["bm25", "minilm"]
