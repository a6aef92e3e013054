"""Every figure at every size: nothing overlaps, leaves the frame, grows without bound or changes global state."""

import re
import sys
import xml.dom.minidom
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from ir_outcomes.showing.charts import facets_of
from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.errors import MissingDependency, ParameterError
from ir_outcomes.results import Result
from ir_outcomes.showing import figures
from ir_outcomes.showing.figures.leaderboards import conditions_plot
from tests.helpers.extents import outside, overlapping, texts
from tests.helpers.many import collection
from tests.helpers.packages import needed
from tests.helpers.results import result_of
from tests.helpers.runs import qrels_of, run_of
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


def entries(n_runs: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(n_runs)
    days = np.cumsum(rng.integers(0, 9, n_runs)).tolist()
    scores = 0.42 - 0.15 * np.exp(-np.arange(n_runs) / 20) - abs(rng.normal(0, 0.02, n_runs))
    return [
        {"id": name, "date": date(2019, 3, 1) + timedelta(days=day), "score": score}
        for name, day, score in zip(NAMES, days, scores.tolist(), strict=False)
    ]


MADE: dict[type | str, Callable[[int], Any]] = {
    iro.Comparison: lambda n: compared(2, n),
    iro.Comparisons: compared,
    iro.ConditionsComparison: lambda n: iro.compare_cutoffs(
        evaluated(2), *NAMES[:2], cutoffs=[n], resamples=99
    ),
    iro.Leaderboard: lambda n: iro.leaderboard(evaluated(n), entries=entries(n)),
    iro.SotaHistory: lambda n: iro.sota_history(entries(n)),
    iro.RankDistribution: lambda n: iro.rank_distribution(evaluated(n), resamples=200),
    "length-distributions": lambda n: iro.length_distributions(evaluated(n)),
    "headroom": lambda n: iro.headroom(evaluated(n)),
}


@cache
def made(cls: type | str, n: int = 14) -> Any:
    if cls in MADE:
        return MADE[cls](n)
    return result_of(f"TailResult of {cls}" if isinstance(cls, str) else cls.__name__)


figures.kinds(result_of("Comparison"))  # registers the figures
ALL = [(cls, kind, 14) for cls, kinds in figures.KINDS.items() for kind in kinds]
SIZES = [
    (iro.Comparisons, "facets", 4), (iro.Comparisons, "facets", 60), (iro.Leaderboard, "verdicts", 35),
    (iro.RankDistribution, "ranks", 40), (iro.SotaHistory, "history", 63), (iro.Comparison, "queries", 500),
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_open_figures() -> Iterator[None]:
    plt.close("all")  # what other tests of this process left open
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


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
    check(made(cls, n).plot(kind, ax=figures.blank_figure()))


@pytest.mark.parametrize(
    ("result", "kind", "words"),
    [
        (
            lambda: compared(4, cutoff=20, alpha=0.01),
            "facets",
            [NAMES[0], "99 % intervals", "cutoff 20", "40 queries"],
        ),
        (lambda: compared(40), "facets", ["intervals not drawn"]),
        (lambda: made(iro.SotaHistory), "history", ["(higher is better), 2019-"]),
        (lambda: made(iro.Leaderboard), "history", ["cutoff 50"]),
        (lambda: made("length-distributions"), "lengths", ["or more, ties trec"]),
        (
            lambda: iro.compare_measure(evaluated(2), *NAMES[:2], measure="nDCG@10"),
            "queries",
            ["neither run found anything"],
        ),
    ],
)
def test_settings_stand_in_the_title(
    result: Callable[[], Any], kind: str, words: list[str]
) -> None:
    title = title_of(result().plot(kind, ax=Figure()))
    assert all(word in title for word in words)


def test_a_history_that_nobody_led_and_one_of_a_few_days() -> None:
    own = [
        {"id": "b", "date": "2020-01-01", "s": 0.5, "baseline": "yes"},
        {"id": "x", "date": "2020-02-01", "s": 0.4},
    ]
    axes = iro.sota_history(own, score="s").plot(ax=Figure())
    check(axes)
    assert "0 runs took the top, of 2 runs" in title_of(axes)
    axes = iro.sota_history(entries(2)).plot(ax=Figure())
    assert not any(":" in label.get_text() for label in axes.get_xticklabels())  # no hours


def test_several_baselines_are_told_apart() -> None:
    axes = compared(3, all_pairs=True).plot("outcomes", ax=Figure())
    check(axes)
    assert [text.get_text().count(" / ") for text in axes.get_yticklabels()] == [1, 1, 1]
    assert NAMES[0] not in title_of(axes)


@pytest.mark.parametrize(("conditions", "name"), [("cutoffs", "curve"), ("slices", "forest")])
def test_a_given_axes_is_drawn_on_and_keeps_its_size(conditions: str, name: str) -> None:
    result = result_of(f"ConditionsComparison of {conditions}")
    figure = Figure(figsize=(16, 6), layout="constrained")
    left, right = figure.subplots(1, 2)
    axes = result.plot(name, ax=left)
    assert axes.get_subplotspec().get_topmost_subplotspec() == left.get_subplotspec()
    assert figure.get_size_inches().tolist() == [16.0, 6.0]
    assert not right.has_data()
    placed = result.plot(name, ax=Figure().add_axes((0.1, 0.1, 0.8, 0.8)))
    assert placed.has_data()


def test_new_figures_are_those_of_pyplot_and_print_truetype_fonts(tmp_path: Path) -> None:
    pypdf = needed("pypdf")
    axes = made(iro.ConditionsComparison, 4).plot("curve")
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
    for kind in ("facets", "outcomes", "ranks"):
        figures.save(nasty.plot(kind, ax=figures.blank_figure()), tmp_path / "picture.svg")
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
        (result_of("TailResult of rrie"), None, "a TailResult has no figures"),
        (result_of("TailResult of length-changes"), "lengths", "a TailResult is drawn as changes"),
        (disjoint, "facets", "`kind='facets'`: no query is found by both runs"),
        (disjoint, "ranks", "`kind='ranks'`: no query is found by both runs"),
        (
            disjoint,
            "pie",
            "`kind='pie'`: a Comparison is drawn as facets, outcomes, ranks, queries",
        ),
        (stored, "queries", "stored without its queries"),
    ):
        with pytest.raises(ParameterError, match=message):
            result.plot(kind)
    assert plt.get_fignums() == []


def test_the_docstring_of_a_class_names_its_figures_the_default_first() -> None:
    figures.kinds(result_of("Comparison"))  # which lets all register
    for cls in Result.__subclasses__():
        said = re.search(r"figures? (?:is|are) ([^.]*)", " ".join((cls.__doc__ or "").split()))
        named = re.findall(r'"([\w ]+)"', said[1]) if said else []
        assert named == list(figures.KINDS.get(cls, ())), cls.__name__


def test_better_is_up_and_to_the_right() -> None:
    queries = [f"q{n}" for n in range(40)]
    poor = run_of({query: 5 if n > 3 else None for n, query in enumerate(queries)})
    result: Any = iro.compare(
        qrels_of(queries), poor, run_of(dict.fromkeys(queries, 2)), names=["A", "B"]
    )
    axes = result.plot()
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["B"]
    assert [line.get_xydata().tolist() for line in axes.lines if line.get_marker() == "^"] == [
        [[10.0, 3.0]]
    ]
    assert all(result.plot(kind, ax=Figure()).has_data() for kind in figures.kinds(result))


def test_queries_run_from_the_largest_loss_to_the_largest_gain() -> None:
    comparison = compared(2, 200)
    axes = comparison.plot("queries", ax=Figure())
    gains = [-query.restricted for query in comparison.queries if query.outcome != "neither"]
    assert [
        bar.get_height() for bar in sorted(axes.patches, key=lambda bar: bar.get_x())
    ] == sorted(gains)
    by_query = iro.compare(replace(evaluated(2, 200), unit="query"), *NAMES[:2])
    axes = by_query.plot("queries", ax=Figure())
    assert "counting 51 where nothing is found" in title_of(axes)
    assert axes.get_ylabel() == "fewer ranks,\nlog scale (up is better)"


def test_by_document_figures_say_irrelevant_documents_above_as_tables_do() -> None:
    """Levels are one more than the documents above; what is not found has the whole list above it."""
    comparison = compared(2, 200)
    queries = comparison.plot("queries", ax=Figure())
    assert "counting a search length of 51 for what is not found" in title_of(queries)
    assert queries.get_ylabel() == "fewer irrelevant documents above,\nlog scale (up is better)"
    facets = comparison.plot(ax=Figure())
    assert facets.get_ylabel() == "ranking: fewer irrelevant documents above (up is better)"
    ranks = comparison.plot("ranks", ax=Figure())
    assert "(search length, irrelevant documents above, plus 1)" in ranks.get_xlabel()
    for axes in (queries, facets, ranks):
        said = " ".join([title_of(axes), axes.get_xlabel(), axes.get_ylabel()])
        assert re.search(r"\branks?\b", said) is None
    ranking, whole = facets_of(comparison)[1:3]
    assert ranking["explanation"].startswith("irrelevant documents above a relevant one, plus 1")
    assert whole["explanation"].endswith("plus 1, 51 where not found")


def test_buckets_of_the_headroom_share_no_end() -> None:
    axes = iro.headroom(evaluated(4)).plot("top precision", ax=Figure())
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        f"{tenth / 10:g}" for tenth in range(11)
    ]
    assert [bar.get_x() for bar in axes.patches] == axes.get_xticks().tolist()[:-1]


def test_conditions_say_which_runs_they_draw() -> None:
    conditions = {f"{name}\nprivate": made(iro.RankDistribution) for name in ("RR@100", "nDCG@10")}
    axes = conditions_plot(conditions, ax=Figure())
    check(axes)
    assert "Ranks of 3 runs (the first 3 by RR@100 private) of 14" in title_of(axes)
    assert "1 run (chosen)" in title_of(conditions_plot(conditions, NAMES[:1], ax=Figure()))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    result = result_of("Comparison")
    for module in ("matplotlib.figure", "pandas"):
        monkeypatch.setitem(sys.modules, module, None)
    for use, package in (
        (result.plot, "plot"),
        (figures.blank_figure, "plot"),
        (result.to_frame, "pandas"),
    ):
        with pytest.raises(MissingDependency, match=rf'pip install "ir-outcomes\[{package}\]"'):
            use()


def test_bars_of_queries_point_where_their_colour_says_and_have_a_legend() -> None:
    """By document a query can lose one of two documents and still be read faster."""
    qrels = {f"q{number}": {"a": 1, "b": 1, "c": 1} for number in range(30)}
    runs: Any = {"base": {}, "new": {}}
    generator = np.random.default_rng(5)
    for query in qrels:
        for name in runs:
            order = generator.permutation(["a", "b", "c", *(f"x{place}" for place in range(9))])
            runs[name][query] = {
                str(document): -float(place) for place, document in enumerate(order)
            }
    runs["base"]["q0"] = {
        name: -float(place) for place, name in enumerate(["x", "y", "z", "a", "b", "c"])
    }
    runs["new"]["q0"] = {
        name: -float(place) for place, name in enumerate(["a", "b", "x", "y", "z", "u", "c"])
    }
    result: Any = iro.compare(qrels, runs["base"], runs["new"], cutoff=6, unit="document")
    gains = {query.query_id: -query.restricted for query in result.per_query()}
    assert any(gains[query.query_id] > 0 for query in result.per_query("lost"))
    ax = result.plot("queries", ax=figures.blank_figure())
    bars = {
        group.get_label().partition(":")[0]: [bar.get_height() for bar in group]
        for group in ax.containers
    }
    assert all(height < 0 for kind in ("lost", "worse") for height in bars.get(kind, ()))
    assert all(height > 0 for kind in ("won", "better") for height in bars.get(kind, ()))
    assert {"won", "lost"} <= bars.keys()
    shown = {query.query_id for query in result.per_query() if query.outcome != "neither"}
    drawn = [gain for query, gain in gains.items() if query in shown]
    assert sorted(height for heights in bars.values() for height in heights) == pytest.approx(
        sorted(drawn)
    )
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"{kind}: {len(heights)}" for kind, heights in bars.items()]


def test_runs_of_a_system_are_small_dots() -> None:
    qrels, runs = drawn(1, runs={"a": 1, "b": 5, "c": 2}, n_queries=60)
    compared = iro.compare(iro.evaluate(qrels, runs, cutoff=6), "a", ["b", "c"])
    ax = compared.plot("facets")
    found = [line.get_xydata().tolist() for line in ax.lines if line.get_marker() == "."]
    expected = [[[run.coverage, -(run.ranking or 0)] for run in own.runs] for own in compared.items]
    assert found == expected
    assert "small dots: runs" in ax.get_title(loc="left").replace("\n", " ")
