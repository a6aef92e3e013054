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
from ir_outcomes.across.same_queries import CutoffsComparison
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.errors import MissingDependency, ParameterError
from ir_outcomes.leaderboards.agreement import Agreement
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.leaderboards.history import SotaHistory
from ir_outcomes.leaderboards.stability import RankCorrelation, RankDistribution
from ir_outcomes.showing import figures
from ir_outcomes.showing.charts import Axis, Estimate, Forest, ForestRow
from ir_outcomes.showing.figures import KINDS
from ir_outcomes.showing.figures.comparisons import draw_forest
from ir_outcomes.showing.figures.drawing import styled
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
    return styled(lambda ax: KINDS[cls][kind](result, ax))


def forest_plot_of(n: int) -> Draw:
    def rows() -> list[ForestRow]:
        found = []
        for place in range(n):
            name = f"cqadupstack-{'long-name-' * (place % 3)}{place}"
            estimate = Estimate(place % 7 - 2.0, place % 7 - 3.0, place % 7 + 4.0, "+0.50", "[-1.00, +4.00]")
            missing = Estimate(None, None, None, "-", "")
            found.append(ForestRow(name, LABELS[place % len(LABELS)], (estimate, missing if place == 1 else estimate), place))
        wide = Estimate(0.5, -6.0, 7.0, "0.90", "[0.70, 1.20]")
        return [*found, ForestRow("these, mean", LABELS[0], (wide, wide), kind="these")]

    axis = Axis(-6.5, 9.0, ((-5.0, "\N{MINUS SIGN}5"), (0.0, "0"), (5.0, "+5")))
    forest = Forest("collection", (("coverage, points", axis), ("ranking, search length B / A", axis)), tuple(rows()))
    return styled(lambda ax: draw_forest(forest, "minilm against bm25", "cutoff 100, 95 % intervals", ax))


BY_SIZE: dict[str, Callable[[int], Draw]] = {
    "facets": lambda n: drawn(Comparisons, made_up.comparisons(n), "facets"),
    "outcomes": lambda n: drawn(Comparisons, made_up.comparisons(n), "outcomes"),
    "restricted": lambda n: drawn(Comparisons, made_up.comparisons(n), "restricted"),
    "tiers": lambda n: drawn(Leaderboard, made_up.board(n), "tiers"),
    "verdicts": lambda n: drawn(Leaderboard, made_up.board(n), "verdicts"),
    "history": lambda n: drawn(SotaHistory, made_up.history(n), "history"),
    "ranks": lambda n: drawn(RankDistribution, made_up.ranks(n), "ranks"),
    "tau": lambda n: drawn(RankDistribution, made_up.ranks(n), "tau"),
    "orders": lambda n: drawn(Reordering, made_up.reordering(n), "orders"),
    "correlation": lambda n: drawn(RankCorrelation, made_up.correlation(n), "orders"),
    "lengths": lambda n: drawn(LengthDistributions, made_up.distributions(n), "lengths"),
    "conditions": lambda n: (
        lambda ax: figures.conditions_plot({f"{name}\nprivate": made_up.ranks(n) for name in ("RR@100", "nDCG@10")}, ax=ax)
    ),
    "forest": forest_plot_of,
    "queries": lambda n: drawn(Comparison, made_up.comparison(*PAIR, n=n), "queries"),
    "ranks of queries": lambda n: drawn(Comparison, made_up.comparison(*PAIR, n=n), "ranks"),
    "differences": lambda n: drawn(Comparison, made_up.comparison(*PAIR, n=n), "differences"),
    "curve": lambda depth: drawn(CutoffsComparison, made_up.cutoffs(depth), "curve"),
}
ONE_SIZE: dict[str, Draw] = {
    "agreement": drawn(Agreement, made_up.agreement(), "agreement"),
    "agreement of the paper": drawn(Agreement, made_up.agreement(), "paper"),
    "steps": drawn(Reordering, made_up.reordering(14), "changes"),
    "changes": drawn(LengthChanges, made_up.length_changes(), "changes"),
    "rrie": drawn(RRIE, made_up.rrie(), "rrie"),
    **{kind: drawn(Headroom, made_up.headroom(14), kind) for kind in ("top precision", "top length", "precision", "length")},
}
CASES = {f"{name} {n}": make(n) for name, make in BY_SIZE.items() for n in (4, 14)} | ONE_SIZE
LARGE = [("facets", 63), ("facets", 143), ("verdicts", 63), ("ranks", 63), ("history", 143), ("queries", 500)]


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


@pytest.mark.parametrize(
    "name", [name for name in CASES if not name.endswith(" 4") or name.startswith(("facets", "lengths", "tiers"))]
)
def test_no_text_overlaps_or_leaves_the_frame(name: str) -> None:
    check(CASES[name])


@pytest.mark.parametrize(("name", "n"), LARGE)
def test_many_runs_fit_too(name: str, n: int) -> None:
    check(BY_SIZE[name](n))


def test_the_facets_name_baseline_level_and_cutoff_and_say_when_intervals_are_left_out() -> None:
    axes = drawn(Comparisons, made_up.comparisons(4, cutoff=20, alpha=0.01), "facets")(figures.blank_figure())
    title = axes.get_title(loc="left").replace("\n", " ")
    for words in ("bm25-default.dev", "99 % intervals", "cutoff 20", "50 queries"):
        assert words in title
    assert {"better", "worse", "trade-off"}.isdisjoint(text.get_text() for text in axes.texts)
    many = drawn(Comparisons, made_up.comparisons(40), "facets")(figures.blank_figure())
    assert "intervals not drawn" in many.get_title(loc="left").replace("\n", " ")


def test_axes_that_count_have_whole_numbers_and_those_in_logs_say_so() -> None:
    one = made_up.comparison("bm25", "minilm", n=2)
    axes = drawn(Comparison, one, "differences")(figures.blank_figure())
    assert [tick for tick in axes.get_yticks() if tick % 1] == []
    many = made_up.comparison("bm25", "minilm", n=2000)
    assert "log scale" in drawn(Comparison, many, "queries")(figures.blank_figure()).get_ylabel()
    assert drawn(Comparison, many, "ranks")(figures.blank_figure()).get_yscale() == "log"


def test_dates_of_a_few_days_have_no_hours() -> None:
    axes = drawn(SotaHistory, made_up.history(2), "history")(figures.blank_figure())
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels
    assert not any(":" in label for label in labels)


@pytest.mark.parametrize("kind", ["facets", "outcomes", "restricted"])
def test_several_baselines_are_told_apart(kind: str) -> None:
    pairs = [made_up.comparison(baseline, "minilm", seed) for seed, baseline in enumerate(("bm25", "splade"))]
    axes = check(drawn(Comparisons, pairs, kind))
    shown = [text.get_text() for text in (*axes.texts, *axes.get_yticklabels())]
    assert {"minilm / bm25", "minilm / splade"} <= set(shown)
    assert "bm25" not in axes.get_title(loc="left")


def test_a_given_axes_is_drawn_on_and_keeps_its_size() -> None:
    for name in ("facets 4", "forest 4", "curve 14"):
        figure = Figure(figsize=(16, 6), layout="constrained")
        left, right = figure.subplots(1, 2)
        axes = CASES[name](left)
        assert axes.figure is figure
        assert axes.get_subplotspec().get_topmost_subplotspec() == left.get_subplotspec()
        assert figure.get_size_inches().tolist() == [16.0, 6.0]
        assert not right.has_data()


def test_new_figures_are_those_of_pyplot_and_print_truetype_fonts(tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    axes = CASES["facets 4"](None)
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


@pytest.mark.parametrize("kind", ["CollectionsComparison", "SlicesComparison", "CutoffsComparison"])
def test_results_of_several_conditions_draw_their_figures(kind: str) -> None:
    axes = result_of(kind).plot(ax=Figure())
    assert axes.has_data()
    assert outside(texts(axes.figure), axes.figure) == []


def test_conditions_say_which_runs_they_draw() -> None:
    conditions = {name: made_up.ranks(14) for name in ("RR", "nDCG@5")}
    axes = figures.conditions_plot(conditions, ax=figures.blank_figure())
    assert "Ranks of 3 runs (the first 3 by RR) of 14" in axes.get_title(loc="left").replace("\n", " ")
    chosen = figures.conditions_plot(conditions, made_up.long_names(1), ax=figures.blank_figure())
    assert "1 run (chosen)" in chosen.get_title(loc="left")
    for runs, message in ((["nobody"], "nobody is not among the runs of RR"), ([], "name at least one run")):
        with pytest.raises(ParameterError, match=message):
            figures.conditions_plot(conditions, runs)
    with pytest.raises(ParameterError, match="there is no condition"):
        figures.conditions_plot({})


def test_files_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    axes = CASES["curve 4"](figures.blank_figure())
    for path in (tmp_path / "nowhere" / "picture.png", tmp_path / "picture.docx"):
        with pytest.raises(ParameterError, match="cannot be written"):
            figures.save(axes, path)


def test_a_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependency, match=r'pip install "\.\[plot\]"'):
        CASES["facets 4"](None)
    with pytest.raises(MissingDependency, match=r'pip install "\.\[plot\]"'):
        figures.blank_figure()
