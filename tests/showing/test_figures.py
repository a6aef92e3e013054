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
from ir_outcomes.comparison import Comparison, Comparisons
from ir_outcomes.errors import MissingDependency, ParameterError
from ir_outcomes.leaderboards import Agreement, Leaderboard, RankCorrelation, RankDistribution, SotaHistory
from ir_outcomes.showing import figures
from ir_outcomes.showing.figures._kinds import KINDS
from ir_outcomes.showing.figures._style import styled
from ir_outcomes.showing.figures.forest import ForestPanel, ForestRow, draw_forest
from ir_outcomes.tail import RRIE, Headroom, LengthChanges, LengthDistributions, Reordering
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


def forest_of(n: int) -> Draw:
    def rows(scale: float, null: float) -> tuple[ForestRow, ...]:
        found = [
            ForestRow(
                f"cqadupstack-{'long-name-' * (place % 3)}{place}",
                (null + scale * (place % 7 - 2), null - scale, null + 6 * scale),
                place + 1,
            )
            for place in range(n)
        ]
        found[-1] = ForestRow(found[-1].label, None)
        mean, predicted = (null + scale, null, null + 2 * scale), (null - scale, null + 4 * scale)
        these = ForestRow("mean of these collections", mean, kind="these")
        new = ForestRow("a new collection", mean, kind="new", prediction=predicted)
        return (*found, these, new)

    panels = [
        ForestPanel("coverage", "change, percentage points", rows(0.5, 0.0)),
        ForestPanel("ranking", "ratio of mean search lengths", rows(0.05, 1.0), better="left", null=1.0, log=True),
    ]
    return styled(lambda ax: draw_forest(panels, "minilm against bm25, 95 % intervals", ax))


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
    "forest": forest_of,
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


@pytest.mark.parametrize("n", [7, 30])
def test_contenders_of_the_facets_differ_in_colour_and_marker(n: int) -> None:
    axes = check(drawn(Comparisons, made_up.comparisons(n + 1), "facets"))
    shown = axes.get_legend_handles_labels()[0]
    styles = {
        (handle.lines[0].get_marker(), handle.lines[0].get_markeredgecolor(), handle.lines[2][0].get_color().tobytes())
        for handle in shown
    }
    assert len(styles) == len(shown) == n
    assert len(axes.get_legend().get_texts()) == n + 2


def test_the_facets_name_baseline_level_and_cutoff_and_claim_nothing_in_the_corners() -> None:
    axes = drawn(Comparisons, made_up.comparisons(4, cutoff=20, alpha=0.01), "facets")(figures.blank_figure())
    title = axes.get_title(loc="left").replace("\n", " ")
    for words in ("run…default.dev", "99 % intervals", "cutoff 20", "50 queries"):
        assert words in title
    assert {"better", "worse", "trade-off"}.isdisjoint(text.get_text() for text in axes.texts)
    low, high = axes.get_xlim()
    bounds = [bound for item in made_up.comparisons(4) for bound in item.coverage.interval]
    assert high - low < 1.3 * (max(*bounds, 0.0) - min(*bounds, 0.0))


def test_axes_that_count_have_whole_numbers_and_those_in_logs_say_so() -> None:
    one = made_up.comparison("bm25", "minilm", n=2)
    axes = drawn(Comparison, one, "differences")(figures.blank_figure())
    assert [tick for tick in axes.get_yticks() if tick % 1] == []
    many = made_up.comparison("bm25", "minilm", n=2000)
    for kind in ("ranks", "differences", "queries"):
        assert "log scale" in drawn(Comparison, many, kind)(figures.blank_figure()).get_ylabel()


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
        figure = Figure(figsize=(9, 6))
        left, _ = figure.subplots(1, 2)
        size = left.get_position().bounds
        axes = CASES[name](left)
        assert axes.figure is figure
        assert axes is left or axes in left.child_axes
        assert left.get_position().bounds == size
        assert figure.get_size_inches().tolist() == [9.0, 6.0]


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
    assert "coverage: change in queries answered" in (tmp_path / "picture.svg").read_text(encoding="utf-8")
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


def names_in_another_script(monkeypatch: pytest.MonkeyPatch, characters: str, fonts: tuple[str, ...]) -> Any:
    monkeypatch.setattr("ir_outcomes.showing.figures._fonts.FALLBACKS", fonts)
    items = [made_up.comparison(f"{characters} 1", f"{characters} {number}") for number in (2, 3)]
    return drawn(Comparisons, items, "facets")(figures.blank_figure())


def test_names_fall_back_to_a_font_that_has_their_characters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    characters = "\u2332"  # of the fonts that matplotlib brings, STIX has it and the default one does not
    axes = names_in_another_script(monkeypatch, characters, ("Not Installed", "STIXGeneral"))
    figures.save(axes, tmp_path / "picture.png")  # any warning is an error
    for text in (axes.texts[0], axes.title, axes.xaxis.label):
        assert text.get_fontfamily() == ["sans-serif", "STIXGeneral"]
    plain = drawn(Comparisons, made_up.comparisons(3), "facets")(figures.blank_figure())
    assert plain.texts[0].get_fontfamily() == ["sans-serif"]


def test_texts_that_were_on_the_axes_keep_their_font() -> None:
    axes = Figure().subplots()
    note = axes.text(0, 0, "mine", fontfamily="monospace")
    drawn(Comparisons, made_up.comparisons(3), "facets")(axes)
    assert note.get_fontfamily() == ["monospace"]


def test_characters_without_a_font_are_warned_about_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    message = "knows no font with the characters \u2332, which.* Noto Sans CJK"
    with pytest.warns(iro.IrOutcomesWarning, match=message) as found:
        axes = names_in_another_script(monkeypatch, "\u2332", ())
    assert [warning.filename for warning in found] == [__file__]
    for suffix in ("png", "pdf", "svg"):
        axes.figure.savefig(tmp_path / f"picture.{suffix}")  # a second warning is an error
    axes.figure.canvas.draw()


def test_wrong_kinds_are_named() -> None:
    for result, kind, message in (
        (made_up.comparisons(3), "ranks", r"is for one comparison; choose it, such as result\[0\]"),
        ([made_up.comparison("a", "b")], "queries", "is for one comparison"),
    ):
        with pytest.raises(ParameterError, match=message):
            drawn(Comparisons, result, kind)(None)
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
    (label,) = [text for text in axes.texts if text.get_text() == "B"]
    assert label.xy == (10.0, 3.0)
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
    with pytest.raises(MissingDependency, match=r"pip install 'ir-outcomes\[plot\]'"):
        CASES["facets 4"](None)
    with pytest.raises(MissingDependency, match=r"pip install 'ir-outcomes\[plot\]'"):
        figures.blank_figure()
