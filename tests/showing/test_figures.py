"""Every figure at several sizes: nothing overlaps, leaves the frame, grows without bound or changes global state."""

import sys
import xml.dom.minidom
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.errors import MissingDependency, ParameterError
from ir_outcomes.showing import figures
from ir_outcomes.showing.figures import BETTER, WORSE
from ir_outcomes.showing.registry import sections_of
from tests.helpers.extents import outside, overlapping, texts
from tests.helpers.many import collection
from tests.helpers.packages import needed
from tests.helpers.systems import drawn

LARGEST = 19.0  # inches
# Names of the kind that MS MARCO runs have: long, and different in the middle only.
NAMES = [
    f"run.msmarco-v1-passage.{model}{version}.dev"
    for version in ("", *(f".v{number}" for number in range(1, 24)))
    for model in (
        "bm25-default",
        "bm25-default+rm3",
        "bm25-tuned",
        "bm25-tuned+rm3",
        "unicoil-noexp",
        "splade-distil-medium",
    )
]


@cache
def evaluated(n_runs: int, n_queries: int = 40) -> iro.Evaluation:
    qrels, runs = collection(n_runs, n_queries, relevant=3, depth=50)
    return iro.evaluate(
        qrels, list(runs.values()), names=NAMES[:n_runs], cutoff=50, measures=["nDCG@10"]
    )


def compared(n_runs: int, n_queries: int = 40, **settings: Any) -> Any:
    """The first run against the second, or against all others."""
    return iro.compare(
        evaluated(n_runs, n_queries), NAMES[0], NAMES[1] if n_runs == 2 else None, **settings
    )


def history(n_runs: int) -> Any:
    scores = 0.42 - 0.15 * np.exp(-np.arange(n_runs) / 20) - np.arange(n_runs) % 3 / 99
    entries = [
        {"id": name, "date": date(2019, 3, 1) + timedelta(days=4 * number), "score": score}
        for number, (name, score) in enumerate(zip(NAMES, scores.tolist(), strict=False))
    ]
    return iro.sota_history(entries, score="score")


def suite(n_runs: int, size: int) -> dict[str, iro.Evaluation]:
    found = {}
    for seed in range(size):
        qrels, runs = collection(n_runs, 40, seed=seed)
        named = dict(zip(NAMES, runs.values(), strict=False))
        found[f"collection {seed}"] = iro.evaluate(qrels, named, cutoff=10)
    return found


FIGURES: dict[str, Callable[[int], Any]] = {
    "facets": compared,
    "facets of one": lambda n: compared(2, n, measures=["nDCG@10"]),
    "changes": lambda n: compared(2, n),
    "forest": lambda n: iro.compare_collections(suite(2, n), NAMES[0]),
    "forest of several": lambda n: iro.compare_collections(suite(n, 3), NAMES[0]),
    "standings": lambda n: iro.leaderboard(evaluated(n)),
    "verdicts": lambda n: iro.leaderboard(evaluated(n)),
    "history": history,
    "ranks": lambda n: iro.rank_distribution(evaluated(n), resamples=200),
    "ranks of two": lambda n: [
        iro.rank_distribution(evaluated(n), measure=measure, resamples=200)
        for measure in (None, "nDCG@10")
    ],
    "changes of documents": lambda n: iro.length_changes(evaluated(2, n), *NAMES[:2]),
    "headroom": lambda n: iro.headroom(evaluated(n)),
}


@cache
def made(figure: str, n: int = 9) -> Any:
    return FIGURES[figure](n)


def kind_of(figure: str) -> str:
    return figure.partition(" of ")[0]


@pytest.fixture(autouse=True)
def no_open_figures() -> Iterator[None]:
    plt.close("all")  # what other tests of this process left open
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


def title_of(axes: Any) -> str:
    return str(axes.figure.get_suptitle().replace("\n", " "))


def legend_of(axes: Any) -> list[str]:
    """The texts of all legends of a figure."""
    legends = (*axes.figure.legends, *(own.get_legend() for own in axes.figure.axes))
    return [text.get_text() for legend in legends if legend for text in legend.get_texts()]


@pytest.mark.parametrize(
    ("figure", "n"), [*((figure, 9) for figure in FIGURES), ("facets", 40), ("history", 63)]
)
def test_no_text_overlaps_or_leaves_the_frame(figure: str, n: int) -> None:
    axes = figures.draw(made(figure, n), kind_of(figure), figures.blank_figure())
    assert plt.get_fignums() == []
    assert title_of(axes)
    boxes = texts(axes.figure)
    assert overlapping(boxes) == []
    assert outside(boxes, axes.figure) == []
    assert max(axes.figure.get_size_inches()) <= LARGEST


def strips_of(axes: Any) -> list[tuple[float, float, float, str]]:
    """What is drawn in each row of an axes, from its top: value, ends, and colour."""
    lines = [line for line in axes.lines[1:] if len(line.get_xdata())]
    found = []
    for interval, mark in zip(lines[::2], lines[1::2], strict=True):
        (value,) = mark.get_xdata()
        low, high = interval.get_xdata()
        found.append((value, low, high, to_hex(mark.get_color()).upper()))
    return found


def test_rows_are_drawn_with_their_intervals_and_right_is_better() -> None:
    for result in (compared(9), compared(2, measures=["nDCG@10"]), made("forest")):
        sections = sections_of(result)
        panels = result.plot(ax=Figure()).figure.axes
        for axes, name in zip(panels, sections[0].rows, strict=True):
            rows = [section.rows[name] for section in sections]
            expected = []
            for row in rows:
                assert row.interval is not None
                color = {"better": BETTER, "worse": WORSE}.get(row.found, figures.MUTED)
                expected.append((row.difference, *row.interval, color.upper()))
            assert strips_of(axes) == expected
            left, right = axes.get_xlim()
            assert (left < right) == rows[0].higher_is_better


def test_a_forest_has_conditions_means_and_a_new_one() -> None:
    result = made("forest")
    (overall,) = result.overall
    *conditions, mean, new = sections_of(result)
    assert [section.comparison for section in conditions] == [
        condition.comparison for condition in result.conditions
    ]
    assert tuple(mean.rows.values()) == overall.parts
    assert {name: row.interval for name, row in new.rows.items()} == dict(overall.new)


def bars_of(axes: Any) -> dict[str, list[float]]:
    """Heights of the bars of each kind, from the left."""
    found = {}
    for group in axes.containers:
        heights = [0.0] * len(axes.get_xticks())
        for bar in group:
            heights[round(bar.get_x() + bar.get_width() / 2)] = bar.get_height()
        found[group.get_label()] = heights
    return found


@pytest.mark.parametrize("unit", ["query", "document"])
def test_bars_of_changes_count_the_queries(unit: Any) -> None:
    qrels, runs = collection(2, 300, relevant=3, depth=50)
    ev = iro.evaluate(qrels, runs, cutoff=50, unit=unit)
    result: Any = iro.compare(ev, *ev.names)
    axes = result.plot("changes", ax=figures.blank_figure())
    names = [label.get_text() for label in axes.get_xticklabels()]
    right = names[len(names) // 2 : -1]
    ends = np.nextafter([0.0, *(float(name.split()[-1]) for name in right), np.inf], np.inf)
    changes = np.array([query.change for query in result.queries], dtype=float)
    better, worse = (np.histogram(sign * changes, ends)[0].tolist() for sign in (-1, 1))
    counts = bars_of(axes)
    assert np.add(counts["worse"], counts["lost"]).tolist() == [*worse[::-1], *(0 for _ in better)]
    assert np.add(counts["better"], counts["won"]).tolist() == [*(0 for _ in worse), *better]


def test_bars_of_documents_are_those_of_the_table() -> None:
    result = made("changes of documents")
    bars = bars_of(result.plot(ax=figures.blank_figure()))
    names = {"further up": "better", "further down": "worse", "won": "won", "lost": "lost"}
    for change, kind in names.items():
        documents = [row["documents"] for row in result.table if row["change"] == change]
        assert sum(bars[kind]) == sum(documents)
    assert bars["lost"][0] == sum(bars["lost"])
    assert bars["won"][-1] == sum(bars["won"])


def test_the_headroom_has_a_panel_for_each_measure() -> None:
    result = made("headroom")
    panels = result.plot(ax=figures.blank_figure()).figure.axes
    rows = [list(rows) for _, rows in groupby(result.table, itemgetter("measure"))]
    for axes, of_measure in zip(panels, rows, strict=True):
        assert axes.get_xlabel().startswith(of_measure[0]["measure"])
        heights = [bar.get_height() for bar in axes.patches]
        assert heights == [row["queries"] for row in of_measure]
        assert axes.xaxis_inverted() == (of_measure[0]["from"] >= 1)


def test_runs_of_a_system_are_drawn_below_their_mean() -> None:
    qrels, runs = drawn(1, runs={"a": 1, "b": 5, "c": 2}, n_queries=60)
    result: Any = iro.compare(iro.evaluate(qrels, runs, cutoff=6), "a", ["b", "c"])
    coverage = result.plot("facets", ax=Figure()).figure.axes[0]
    found = [line.get_xdata() for line in coverage.lines if line.get_marker() == "|"]
    expected = [[run.coverage for run in item.runs] for item in result]
    assert sorted(map(list, found)) == sorted(expected)
    assert "single runs" in legend_of(coverage)


def test_given_axes_are_drawn_on_and_keep_their_size() -> None:
    figure = Figure(figsize=(16, 6), layout="constrained")
    left, right = figure.subplots(1, 2)
    assert made("ranks").plot(ax=left) is left
    assert left.get_title(loc="left")
    assert not right.has_data()
    assert not figure.get_suptitle()
    assert figure.get_size_inches().tolist() == [16.0, 6.0]
    with pytest.raises(ParameterError, match="of type Axes; it must be an empty Figure"):
        made("facets").plot(ax=right)


def test_new_figures_are_those_of_pyplot_and_print_truetype_fonts(tmp_path: Path) -> None:
    pypdf = needed("pypdf")
    axes = made("ranks").plot()
    assert plt.gcf() is axes.figure
    axes.figure.savefig(tmp_path / "picture.pdf")
    figures.save(axes, tmp_path / "saved.pdf")
    for path in tmp_path.glob("*.pdf"):
        (page,) = pypdf.PdfReader(path).pages
        fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
        assert {font["/DescendantFonts"][0].get_object()["/Subtype"] for font in fonts} == {
            "/CIDFontType2"
        }
    for path in (tmp_path / "nowhere" / "picture.png", tmp_path / "picture.docx"):
        with pytest.raises(ParameterError, match="cannot be written"):
            figures.save(axes, path)


def test_nasty_names_are_shown_escaped(tmp_path: Path) -> None:
    qrels, runs = collection(2, 20)
    nasty: Any = iro.compare(
        qrels, *runs.values(), names=["a\x00\x1b[31m$x^2$_{\\", "<b>&\u202eevil\nline$"]
    )
    for kind in figures.kinds(nasty):
        figures.save(nasty.plot(kind, ax=figures.blank_figure()), tmp_path / "picture.svg")
        source = (tmp_path / "picture.svg").read_text(encoding="utf-8")
        xml.dom.minidom.parseString(source.encode())
        assert "\u202e" not in source
        assert r"a\x00\x1b[31m$x^2$_{" in source


def test_wrong_kinds_are_named() -> None:
    stored = iro.Comparison.from_json(compared(2).to_json())
    for result, kind, message in (
        (compared(3), "changes", "a Comparisons is drawn as facets"),
        (made("changes"), "pie", "`kind='pie'`: a Comparison is drawn as facets, changes"),
        (stored, "changes", "stored without its queries"),
    ):
        with pytest.raises(ParameterError, match=message):
            result.plot(kind)


def test_distributions_of_ranks_are_in_the_order_of_the_first() -> None:
    conditions = made("ranks of two")
    panels = figures.draw(conditions, "ranks", figures.blank_figure()).figure.axes
    for axes, distribution in zip(panels, conditions, strict=False):
        assert distribution.measure in axes.get_xlabel()
        shares = axes.images[0].get_array().filled(0)
        for row, run in zip(shares, conditions[0].runs, strict=True):
            assert row.tolist() == [number / 2 for number in distribution[run.run].counts]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    result = made("changes")
    for module in ("matplotlib.figure", "pandas"):
        monkeypatch.setitem(sys.modules, module, None)
    for use, package in (
        (result.plot, "plot"),
        (figures.blank_figure, "plot"),
        (result.to_frame, "pandas"),
    ):
        with pytest.raises(MissingDependency, match=rf'pip install "ir-outcomes\[{package}\]"'):
            use()
