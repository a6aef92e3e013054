"""Every figure at every size: nothing overlaps, leaves the frame, grows without bound or changes global state."""

from __future__ import annotations

import dataclasses
import xml.dom.minidom
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.errors import MissingDependency, ParameterError
from ir_outcomes.showing import figures
from ir_outcomes.showing.figures.leaderboards import conditions_plot
from tests.helpers import made_up
from tests.helpers.extents import outside, overlapping, texts
from tests.helpers.results import result_of
from tests.helpers.runs import qrels_of, run_of

LARGEST = 19.0  # inches
MADE: dict[type, Callable[[int], Any]] = {
    iro.Comparison: lambda n: made_up.comparison("run.bm25-default.dev", "run.bm25-tuned+rm3.dev", n=n),
    iro.Comparisons: made_up.comparisons,
    iro.CutoffsComparison: made_up.cutoffs,
    iro.Leaderboard: made_up.board,
    iro.SotaHistory: made_up.history,
    iro.RankDistribution: made_up.ranks,
    iro.RankCorrelation: lambda n: iro.rank_correlation(made_up.ranks(n), made_up.ranks(n, "nDCG@10")),
    iro.Agreement: lambda _: iro.agreement(made_up.evaluated(5), measures=["nDCG@10"], splits=5),
    iro.Reordering: made_up.reordering,
    iro.LengthDistributions: lambda n: iro.length_distributions(made_up.evaluated(n)),
    iro.LengthChanges: lambda _: iro.length_changes(made_up.evaluated(2), *made_up.long_names(2)),
    iro.RRIE: lambda _: iro.rrie(made_up.evaluated(2), *made_up.long_names(2)),
    iro.Headroom: made_up.headroom,
}
figures.kinds(result_of("Comparison"))  # registers the figures
ALL = [(cls, kind, 14) for cls in MADE for kind in figures.KINDS[cls] if kind != "forest"]  # which needs whole results
SIZES = [
    (iro.Comparisons, "facets", 4), (iro.Comparisons, "facets", 143), (iro.Leaderboard, "verdicts", 40),
    (iro.RankDistribution, "ranks", 63), (iro.SotaHistory, "history", 63), (iro.Comparison, "queries", 500),
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_open_figures() -> Iterator[None]:
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


def drawn(cls: type, kind: str, result: Any, ax: Any = None) -> Any:
    with figures.styled():
        return figures.KINDS[cls][kind](result, figures.blank_figure() if ax is None else ax)


def title_of(axes: Any) -> str:
    return str(axes.get_title(loc="left").replace("\n", " "))


def check(axes: Any) -> None:
    assert plt.get_fignums() == []
    assert title_of(axes)
    assert axes.get_xlabel() or axes.get_ylabel()
    boxes = texts(axes.figure)
    assert overlapping(boxes) == []
    assert outside(boxes, axes.figure) == []
    assert max(axes.figure.get_size_inches()) <= LARGEST


@pytest.mark.parametrize(("cls", "kind", "n"), [*ALL, *SIZES])
def test_no_text_overlaps_or_leaves_the_frame(cls: type, kind: str, n: int) -> None:
    check(drawn(cls, kind, MADE[cls](n)))


@pytest.mark.parametrize("kind", ["Comparisons", "CollectionsComparison", "SlicesComparison", "CutoffsComparison"])
def test_forests_of_results(kind: str) -> None:
    axes = result_of(kind).plot("forest", ax=figures.blank_figure())
    assert axes.has_data()
    assert outside(texts(axes.figure), axes.figure) == []


@pytest.mark.parametrize(
    ("cls", "kind", "result", "words"),
    [
        (
            iro.Comparisons, "facets", lambda: made_up.comparisons(4, cutoff=20, alpha=0.01),
            ["bm25-default.dev", "99 % intervals", "cutoff 20", "50 queries"],
        ),
        (iro.Comparisons, "facets", lambda: made_up.comparisons(40), ["intervals not drawn"]),
        (iro.SotaHistory, "history", lambda: made_up.history(14), ["(higher is better), 2019-"]),
        (iro.Leaderboard, "history", lambda: made_up.board(14), ["cutoff 50"]),
        (iro.Reordering, "orders", lambda: made_up.reordering(14), ["or more, ties trec"]),
        (iro.Reordering, "changes", lambda: made_up.reordering(14), ["or more, ties trec"]),
    ],
)  # fmt: skip
def test_settings_stand_in_the_title(cls: type, kind: str, result: Callable[[], Any], words: list[str]) -> None:
    title = title_of(drawn(cls, kind, result()))
    assert all(word in title for word in words)


def test_a_history_that_nobody_led_and_one_of_a_few_days() -> None:
    entries = [{"id": "b", "date": "2020-01-01", "s": 0.5, "baseline": "yes"}, {"id": "x", "date": "2020-02-01", "s": 0.4}]
    axes = iro.sota_history(entries, score="s").plot(ax=Figure())
    check(axes)
    assert "0 runs took the top, of 2 runs" in title_of(axes)
    axes = made_up.history(2).plot(ax=Figure())
    assert not any(":" in label.get_text() for label in axes.get_xticklabels())  # no hours


def test_several_baselines_are_told_apart() -> None:
    pairs = [made_up.comparison(baseline, "minilm", seed) for seed, baseline in enumerate(("bm25", "splade"))]
    axes = drawn(iro.Comparisons, "outcomes", pairs)
    check(axes)
    assert {"minilm / bm25", "minilm / splade"} <= {text.get_text() for text in axes.get_yticklabels()}
    assert "bm25" not in title_of(axes)


@pytest.mark.parametrize(("kind", "name"), [("CutoffsComparison", "curve"), ("SlicesComparison", "forest")])
def test_a_given_axes_is_drawn_on_and_keeps_its_size(kind: str, name: str) -> None:
    figure = Figure(figsize=(16, 6), layout="constrained")
    left, right = figure.subplots(1, 2)
    axes = result_of(kind).plot(name, ax=left)
    assert axes.get_subplotspec().get_topmost_subplotspec() == left.get_subplotspec()
    assert figure.get_size_inches().tolist() == [16.0, 6.0]
    assert not right.has_data()
    placed = result_of(kind).plot(name, ax=Figure().add_axes((0.1, 0.1, 0.8, 0.8)))
    assert placed.has_data()


def test_new_figures_are_those_of_pyplot_and_print_truetype_fonts(tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    axes = made_up.cutoffs(4).plot("curve")
    assert plt.gcf() is axes.figure
    axes.figure.savefig(tmp_path / "picture.pdf")
    figures.save(axes, tmp_path / "saved.pdf")
    for path in tmp_path.glob("*.pdf"):
        (page,) = pypdf.PdfReader(path).pages
        fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
        assert {font["/DescendantFonts"][0].get_object()["/Subtype"] for font in fonts} == {"/CIDFontType2"}
    for path in (tmp_path / "nowhere" / "picture.png", tmp_path / "picture.docx"):
        with pytest.raises(ParameterError, match="cannot be written"):
            figures.save(axes, path)


def test_nasty_names_are_shown_escaped(tmp_path: Path) -> None:
    nasty = made_up.comparison("a\x00\x1b[31m$x^2$_{\\", "<b>&\u202eevil\nline$")
    for kind in ("facets", "outcomes", "ranks"):
        figures.save(drawn(iro.Comparison, kind, nasty), tmp_path / "picture.svg")
        source = (tmp_path / "picture.svg").read_text(encoding="utf-8")
        xml.dom.minidom.parseString(source.encode())
        assert "\u202e" not in source
        assert r"a\x00\x1b[31m$x^2$_{" in source


def test_wrong_kinds_are_named() -> None:
    queries = {"q1": {"d": 1}, "q2": {"d": 1}}
    disjoint: Any = iro.compare(queries, {"q1": {"d": 1.0}}, {"q2": {"d": 1.0}}, names=["a", "b"])
    stored = iro.Comparison.from_json(disjoint.to_json())
    for result, kind, message in (
        (result_of("Comparisons"), "ranks", "is for one comparison: name one contender"),
        (result_of("Plan"), None, "a Plan has no figures"),
        (disjoint, "facets", "kind='facets': no query is found by both runs"),
        (disjoint, "ranks", "kind='ranks': no query is found by both runs"),
        (disjoint, "pie", "kind='pie': a Comparison is drawn as facets, outcomes, restricted, ranks"),
        (dataclasses.replace(disjoint, restricted=None), "restricted", "needs a cutoff"),
        (stored, "queries", "stored without its queries"),
    ):
        with pytest.raises(ParameterError, match=message):
            result.plot(kind)
    assert plt.get_fignums() == []


def test_better_is_up_and_to_the_right() -> None:
    queries = [f"q{n}" for n in range(40)]
    poor = run_of({query: 5 if n > 3 else None for n, query in enumerate(queries)})
    result: Any = iro.compare(qrels_of(queries), poor, run_of(dict.fromkeys(queries, 2)), names=["A", "B"])
    axes = result.plot()
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["B"]
    assert [line.get_xydata().tolist() for line in axes.lines if line.get_marker() == "^"] == [[[10.0, 3.0]]]
    assert all(result.plot(kind, ax=Figure()).has_data() for kind in figures.kinds(result))


def test_conditions_say_which_runs_they_draw() -> None:
    conditions = {f"{name}\nprivate": made_up.ranks(14) for name in ("RR@100", "nDCG@10")}
    axes = conditions_plot(conditions, ax=Figure())
    check(axes)
    assert "Ranks of 3 runs (the first 3 by RR@100 private) of 14" in title_of(axes)
    assert "1 run (chosen)" in title_of(conditions_plot(conditions, made_up.long_names(1), ax=Figure()))


def test_a_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    for draw in (result_of("Comparison").plot, figures.blank_figure):
        with pytest.raises(MissingDependency, match=r'pip install "\.\[plot\]"'):
            draw()
