from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.comparison import Comparison, Comparisons
from ir_outcomes.errors import MissingDependency, ParameterError
from tests.helpers.runs import qrels_of, run_of

EVIL = '<script>alert("x")</script> & 100% $run_1$ \\x {y} #~^'


@pytest.fixture(scope="module")
def several() -> Comparisons:
    rng = np.random.default_rng(1)
    queries = [f"q{n}" for n in range(50)]
    runs = {
        name: run_of({q: int(r) if r <= 12 else None for q, r in zip(queries, rng.geometric(p, 50), strict=True)})
        for name, p in (("A", 0.2), (EVIL, 0.3), ("C", 0.4), *((f"D{n}", 0.2 + n / 20) for n in range(6)))
    }
    result = iro.compare(qrels_of(queries), runs.pop("A"), runs, names=["A", *runs])
    assert isinstance(result, Comparisons)
    return result


def test_csv_and_json_lines_and_frames_hold_the_same_rows(several: Comparisons) -> None:
    rows = list(csv.DictReader(io.StringIO(several.to_csv())))
    frame = several.to_frame()
    assert [row["contender"] for row in rows] == list(frame["contender"]) == [each.contender for each in several]
    for row, each in zip(rows, several, strict=True):
        assert float(row["ranking_difference"]) == each.ranking.difference
        assert float(row["coverage_p"]) == each.coverage.pvalue
        assert row["verdict"] == each.verdict.label
    assert list(frame["coverage_low"]) == [each.coverage.interval.low for each in several if each.coverage.interval]
    single = several[0].to_frame()
    assert len(single) == 1
    nothing = iro.compare(qrels_of(["q"]), run_of({"q": None}), run_of({"q": None}))
    assert isinstance(nothing, Comparison)
    assert next(csv.DictReader(io.StringIO(nothing.to_csv())))["ranking_difference"] == ""


def test_latex_escapes_names_and_has_a_row_for_each_contender(several: Comparisons) -> None:
    text = several.to_latex()
    assert text.startswith(r"\begin{tabular}")
    body = text[text.index(r"\midrule") : text.index(r"\bottomrule")]
    assert len(body.splitlines()) == 1 + len(several)
    for line in body.splitlines()[1:]:
        assert len(re.findall(r"(?<!\\)&", line)) == 9
        assert text.isascii()
    escaped = (
        r"\textless{}script\textgreater{}alert(\"x\")\textless{}/script\textgreater{} \& 100\% \$run\_1\$ \textbackslash{}x"
    )
    assert escaped.replace('\\"', '"') in body


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_escapes_everything(several: Comparisons) -> None:
    for result in (several, several[0]):
        page = Tags()
        page.feed(result._repr_html_())
        assert "script" not in page.tags
        assert EVIL in page.text
        assert page.tags.count("table") == len(result.view().tables)


def test_every_picture_draws_on_the_axes_it_is_given(several: Comparisons, tmp_path: Path) -> None:
    for kind in ("facets", "outcomes", "ranks", "differences"):
        ax = Figure().subplots()
        assert several[1].plot(kind, ax=ax) is ax
        path = tmp_path / f"{kind}.png"
        several[1].plot(kind).figure.savefig(path)
        assert path.stat().st_size > 5000
    assert len(several.plot("outcomes").get_yticks()) == len(several)
    assert len(several.plot("facets").get_legend().get_texts()) == len(several)


def test_facet_plot_puts_better_up_and_to_the_right() -> None:
    queries = [f"q{n}" for n in range(20)]
    worse = {q: 5 if n > 3 else None for n, q in enumerate(queries)}
    found = iro.compare(qrels_of(queries), run_of(worse), run_of(dict.fromkeys(queries, 2)), names=["A", "B"])
    ax = found.plot("facets")
    (label,) = [text for text in ax.texts if text.get_text() == "B"]
    assert label.xy == (20.0, 3.0)


def test_wrong_pictures(several: Comparisons) -> None:
    with pytest.raises(ParameterError, match="must be one of outcomes, ranks, differences, facets"):
        several.plot("pie")
    with pytest.raises(ParameterError, match="is for one comparison"):
        several.plot("ranks")


def test_missing_packages_are_named(several: Comparisons, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependency, match=r"pip install 'ir-outcomes\[plot\]'"):
        several.plot("facets")
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingDependency, match=r"pip install 'ir-outcomes\[pandas\]'"):
        several.to_frame()
