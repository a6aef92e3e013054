"""Every figure at every size: nothing overlaps, leaves the frame, grows without bound or changes global state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.across.slices import CutoffsComparison
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.errors import MissingDependency, ParameterError
from ir_outcomes.leaderboards.agreement import Agreement
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.leaderboards.history import SotaHistory
from ir_outcomes.leaderboards.stability import RankCorrelation, RankDistribution
from ir_outcomes.showing import figures
from ir_outcomes.showing.charts import Axis, Estimate, Forest, Row
from ir_outcomes.showing.figures import KINDS, styled
from ir_outcomes.showing.figures.comparisons import draw_forest
from ir_outcomes.showing.figures.leaderboards import conditions_plot
from ir_outcomes.tail.lengths import LengthChanges, LengthDistributions
from ir_outcomes.tail.reordering import Reordering
from ir_outcomes.tail.rrie import RRIE, Headroom
from tests.helpers import made_up
from tests.helpers.extents import outside, overlapping, texts
from tests.helpers.results import result_of
from tests.helpers.runs import qrels_of, run_of

Draw = Callable[[Any], Any]
PAIR: tuple[str, str] = (made_up.long_names(2)[0], made_up.long_names(2)[1])
LARGEST = 19.0  # inches


def drawn(cls: type, result: Any, kind: str) -> Draw:
    """A figure of a made-up result in place of one of this class."""
    return styled()(lambda ax: KINDS[cls][kind](result, ax))


def forest_plot_of(n: int) -> Draw:
    estimate, missing = Estimate(1.0, -1.0, 4.0, "+0.50", "[-1.00, +4.00]"), Estimate(None, None, None, "-", "")
    rows = [
        Row(f"cqadupstack-{'long-name-' * (place % 3)}{place}", LABELS[place % len(LABELS)], (estimate, missing), place)
        for place in range(n)
    ]
    axis = Axis(-6.5, 9.0, ((-5.0, "\N{MINUS SIGN}5"), (0.0, "0"), (5.0, "+5")))
    forest = Forest(
        "collection",
        (("coverage, points", axis), ("ranking, search length B / A", axis)),
        (*rows, Row("these, mean", LABELS[0], (estimate, estimate), kind="these")),
    )
    return styled()(lambda ax: draw_forest(forest, "minilm against bm25", "cutoff 100, 95 % intervals", ax))


def conditions_of(n: int) -> Draw:
    return lambda ax: conditions_plot({f"{name}\nprivate": made_up.ranks(n) for name in ("RR@100", "nDCG@10")}, ax=ax)


MADE: dict[type, Callable[[int], Any]] = {
    Comparison: lambda n: made_up.comparison(*PAIR, n=n),
    Comparisons: made_up.comparisons,
    CutoffsComparison: made_up.cutoffs,
    Leaderboard: made_up.board,
    SotaHistory: made_up.history,
    RankDistribution: made_up.ranks,
    RankCorrelation: made_up.correlation,
    Agreement: lambda _: made_up.agreement(),
    Reordering: made_up.reordering,
    LengthDistributions: made_up.distributions,
    LengthChanges: lambda _: made_up.length_changes(),
    RRIE: lambda _: made_up.rrie(),
    Headroom: made_up.headroom,
}
FIGURES = [(cls, kind) for cls in MADE for kind in KINDS[cls] if kind != "forest"]  # which needs results that are not made up
LARGE = [
    (Comparisons, "facets", 63), (Comparisons, "facets", 143), (Leaderboard, "verdicts", 63), (RankDistribution, "ranks", 63),
    (SotaHistory, "history", 143), (Comparison, "queries", 500),
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_open_figures() -> Iterator[None]:
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


def check(draw: Draw) -> Any:
    figure = figures.blank_figure()
    axes = draw(figure)
    assert axes.figure is figure
    assert plt.get_fignums() == []
    assert axes.get_title(loc="left")
    assert axes.get_xlabel() or axes.get_ylabel()
    boxes = texts(figure)
    assert overlapping(boxes) == []
    assert outside(boxes, figure) == []
    assert max(figure.get_size_inches()) <= LARGEST
    return axes


@pytest.mark.parametrize(("cls", "kind"), FIGURES)
def test_no_text_overlaps_or_leaves_the_frame(cls: type, kind: str) -> None:
    check(drawn(cls, MADE[cls](14), kind))


@pytest.mark.parametrize(("cls", "kind", "n"), LARGE)
def test_many_runs_fit_too(cls: type, kind: str, n: int) -> None:
    check(drawn(cls, MADE[cls](n), kind))


def test_few_runs_fit_and_so_do_figures_of_several_conditions() -> None:
    for draw in (forest_plot_of(14), conditions_of(14), drawn(Comparisons, made_up.comparisons(4), "facets")):
        check(draw)


def test_the_facets_name_baseline_level_and_cutoff_and_say_when_intervals_are_left_out() -> None:
    axes = drawn(Comparisons, made_up.comparisons(4, cutoff=20, alpha=0.01), "facets")(figures.blank_figure())
    title = axes.get_title(loc="left").replace("\n", " ")
    for words in ("bm25-default.dev", "99 % intervals", "cutoff 20", "50 queries"):
        assert words in title
    assert {"better", "worse", "trade-off"}.isdisjoint(text.get_text() for text in axes.texts)
    many = drawn(Comparisons, made_up.comparisons(40), "facets")(figures.blank_figure())
    assert "intervals not drawn" in many.get_title(loc="left").replace("\n", " ")


def test_settings_stand_in_the_title_of_history_and_reordering() -> None:
    for cls, kind, words in (
        (SotaHistory, "history", "(higher is better), 2019-"),
        (Leaderboard, "history", "cutoff 50"),
        (Reordering, "orders", "or more, ties trec"),
        (Reordering, "changes", "or more, ties trec"),
    ):
        axes = drawn(cls, MADE[cls](14), kind)(figures.blank_figure())
        assert words in axes.get_title(loc="left").replace("\n", " ")


def test_a_history_that_nobody_led_is_drawn() -> None:
    entries = [{"id": "b", "date": "2020-01-01", "s": 0.5, "baseline": "yes"}, {"id": "x", "date": "2020-02-01", "s": 0.4}]
    assert "0 runs took the top, of 2 runs" in check(lambda ax: iro.sota_history(entries, score="s").plot(ax=ax)).get_title(
        loc="left"
    )


def test_dates_of_a_few_days_have_no_hours() -> None:
    axes = drawn(SotaHistory, made_up.history(2), "history")(figures.blank_figure())
    assert not any(":" in label.get_text() for label in axes.get_xticklabels())


def test_several_baselines_are_told_apart() -> None:
    pairs = [made_up.comparison(baseline, "minilm", seed) for seed, baseline in enumerate(("bm25", "splade"))]
    axes = check(drawn(Comparisons, pairs, "outcomes"))
    shown = [text.get_text() for text in (*axes.texts, *axes.get_yticklabels())]
    assert {"minilm / bm25", "minilm / splade"} <= set(shown)
    assert "bm25" not in axes.get_title(loc="left")


def test_a_given_axes_is_drawn_on_and_keeps_its_size() -> None:
    curve, facets = (drawn(cls, MADE[cls](14), kind) for cls, kind in ((CutoffsComparison, "curve"), (Comparisons, "facets")))
    for draw in (facets, forest_plot_of(4), curve):
        figure = Figure(figsize=(16, 6), layout="constrained")
        left, right = figure.subplots(1, 2)
        axes = draw(left)
        assert axes.figure is figure
        assert axes.get_subplotspec().get_topmost_subplotspec() == left.get_subplotspec()
        assert figure.get_size_inches().tolist() == [16.0, 6.0]
        assert not right.has_data()


def test_new_figures_are_those_of_pyplot_and_print_truetype_fonts(tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    axes = drawn(Comparisons, made_up.comparisons(4), "facets")(None)
    assert plt.gcf() is axes.figure
    axes.figure.savefig(tmp_path / "picture.pdf")
    figures.save(axes, tmp_path / "saved.pdf")
    for path in tmp_path.glob("*.pdf"):
        (page,) = pypdf.PdfReader(path).pages
        fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
        assert fonts
        for font in fonts:
            assert font["/Subtype"] == "/Type0"
            assert font["/DescendantFonts"][0].get_object()["/Subtype"] == "/CIDFontType2"
    axes.figure.savefig(tmp_path / "picture.svg")
    assert "coverage: queries answered" in (tmp_path / "picture.svg").read_text(encoding="utf-8")
    plt.close(axes.figure)
    assert plt.get_fignums() == []


def test_nasty_names_are_shown_escaped(tmp_path: Path) -> None:
    import xml.dom.minidom

    nasty = made_up.comparison("a\x00\x1b[31m$x^2$_{\\", "<b>&\u202eevil\nline$")
    for kind in ("facets", "outcomes", "ranks"):
        axes = drawn(Comparison, nasty, kind)(figures.blank_figure())
        figures.save(axes, tmp_path / f"{kind}.svg")
        source = (tmp_path / f"{kind}.svg").read_text(encoding="utf-8")
        xml.dom.minidom.parseString(source.encode())
        assert "\u202e" not in source
        assert r"a\x00\x1b[31m$x^2$_{" in source


def test_wrong_kinds_are_named() -> None:
    with pytest.raises(ParameterError, match="is for one comparison: name one contender"):
        result_of("Comparisons").plot("ranks")
    with pytest.raises(ParameterError, match="a dict has no figures"):
        figures.draw({})
    uncut = made_up.comparison("a", "b")
    uncut.restricted = None
    with pytest.raises(ParameterError, match="needs a cutoff"):
        drawn(Comparison, uncut, "restricted")(None)
    disjoint = iro.compare({"q1": {"d": 1}, "q2": {"d": 1}}, {"q1": {"d": 1.0}}, {"q2": {"d": 1.0}}, names=["a", "b"])
    for kind in ("facets", "ranks"):
        with pytest.raises(ParameterError, match=f"kind='{kind}': no query is found by both runs"):
            disjoint.plot(kind)
    assert plt.get_fignums() == []


def test_results_draw_their_figures_and_put_better_up_and_to_the_right() -> None:
    queries = [f"q{n}" for n in range(40)]
    poor = run_of({query: 5 if n > 3 else None for n, query in enumerate(queries)})
    good = run_of(dict.fromkeys(queries, 2))
    result = iro.compare(qrels_of(queries), poor, good, names=["A", "B"])
    assert isinstance(result, Comparison)
    for kind in ("facets", "outcomes", "restricted", "ranks", "differences", "queries"):
        assert result.plot(kind, ax=Figure()).has_data()
    axes = result.plot()
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["B"]
    (point,) = [line.get_xydata().tolist() for line in axes.lines if line.get_marker() == "^"]
    assert point == [[10.0, 3.0]]
    assert plt.get_fignums() == [axes.figure.number]
    restored = Comparison.from_json(result.to_json())
    with pytest.raises(ParameterError, match="stored without its queries"):
        restored.plot("queries")
    with pytest.raises(ParameterError, match="kind='pie': a Comparison is drawn as facets, outcomes, restricted, ranks"):
        result.plot("pie")
    uncut = iro.compare(qrels_of(queries), poor, good, names=["A", "B"], cutoff=None)
    assert uncut.plot("facets", ax=Figure()).has_data()


@pytest.mark.parametrize("kind", ["Comparisons", "CollectionsComparison", "SlicesComparison", "CutoffsComparison"])
def test_forests_of_results(kind: str) -> None:
    axes = result_of(kind).plot("forest", ax=Figure())
    assert axes.has_data()
    assert outside(texts(axes.figure), axes.figure) == []


def test_conditions_say_which_runs_they_draw() -> None:
    conditions = {name: made_up.ranks(14) for name in ("RR", "nDCG@5")}
    axes = conditions_plot(conditions, ax=figures.blank_figure())
    assert "Ranks of 3 runs (the first 3 by RR) of 14" in axes.get_title(loc="left").replace("\n", " ")
    chosen = conditions_plot(conditions, made_up.long_names(1), ax=figures.blank_figure())
    assert "1 run (chosen)" in chosen.get_title(loc="left")
    for runs, message in ((["nobody"], "nobody is not among the runs of RR"), ([], "name at least one run")):
        with pytest.raises(ParameterError, match=message):
            conditions_plot(conditions, runs)
    with pytest.raises(ParameterError, match="there is no condition"):
        conditions_plot({})


def test_files_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    axes = drawn(CutoffsComparison, made_up.cutoffs(4), "curve")(figures.blank_figure())
    for path in (tmp_path / "nowhere" / "picture.png", tmp_path / "picture.docx"):
        with pytest.raises(ParameterError, match="cannot be written"):
            figures.save(axes, path)


def test_a_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependency, match=r'pip install "\.\[plot\]"'):
        drawn(Comparisons, made_up.comparisons(4), "facets")(None)
    with pytest.raises(MissingDependency, match=r'pip install "\.\[plot\]"'):
        figures.blank_figure()
