import csv
import io
import json
import re
import shutil
import subprocess
import unicodedata
import xml.dom.minidom
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import ir_outcomes as iro
from ir_outcomes.choices import Mark
from ir_outcomes.cli.output import ViewFormat
from ir_outcomes.errors import ParameterError, escaped
from ir_outcomes.showing.formats import as_csv, as_html, as_json_lines, as_markdown
from ir_outcomes.showing.latex import as_latex
from ir_outcomes.showing.text import as_text
from ir_outcomes.showing.view import Table, View
from ir_outcomes.table_columns import NUMBER, Column
from tests.helpers.comparisons import compare_several
from tests.helpers.many import collection
from tests.helpers.pages import Page
from tests.helpers.results import HOSTILE, KINDS, result_of

anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
hostile = st.one_of(st.sampled_from(HOSTILE), anything)


def view_with(name: str, *numbers: str) -> View:
    columns = (Column(name, group=name), *(Column("n", form=NUMBER, group="g") for _ in numbers))
    table = Table(columns, ((name, *numbers),), (name,), name)
    return View(name, name, (name,), (table,), (name,), name, lambda: (table,), (name,))


def is_visible(shown: str) -> bool:
    """Whether no control character but the end of a line is left."""
    return not any(
        (unicodedata.category(each) == "Cc" and each != "\n") or each in "\u202e\u2066\ufeff"
        for each in shown
    )


def tabular_rows(source: str) -> list[list[str]]:
    """Split the body of each tabular into cells."""
    bodies = re.findall(r"\\toprule\n(.*?)\\bottomrule", source, flags=re.DOTALL)
    lines = [line for body in bodies for line in body.splitlines() if line.endswith(r"\\")]
    return [re.split(r"(?<!\\)&", line.removesuffix(r"\\")) for line in lines]


@pytest.mark.parametrize("kind", KINDS)
def test_every_result_in_every_format(kind: str) -> None:
    result = result_of(kind)
    view, page, rows = result.view(), Page(result.to_html()), result.rows()
    shown = [*(getattr(result, f"to_{form}")() for form in get_args(ViewFormat)), repr(result)]
    assert all(map(is_visible, shown))
    assert not any(re.search(r"\bnan\b|\binf\b|None", each) for each in shown)
    assert (str(result), result._repr_html_()) == (result.to_text(), result.to_html())
    tables = [table for table in (*view.tables, *view.details()) if table.columns]
    cells = {escaped(cell) for table in tables for row in table.rows for cell in row}
    assert cells <= set(page.texts)
    xml.dom.minidom.parseString(f"<div>{result.to_html()}</div>")
    printed = tabular_rows(result.to_latex())
    assert sum(len(table.rows) for table in view.printed or view.tables) < len(printed)
    assert not any(row[0].lstrip().startswith(("*", "[")) for row in printed)
    # Some results have rows of two kinds.
    columns = list(dict.fromkeys(name for row in rows for name in row))
    assert list(result.to_frame().columns) == columns
    for row, values in zip(
        rows, csv.DictReader(io.StringIO(result.to_csv(), newline="")), strict=True
    ):
        assert values == {name: "" if row.get(name) is None else str(row[name]) for name in columns}
    assert [json.loads(line) for line in as_json_lines(rows).splitlines()] == rows


@given(hostile)
def test_whatever_a_name_holds_is_escaped(name: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", "1000")
        text = as_text(view_with(name, "1.00"), details=True)
    assert "".join(escaped(name).split()) in "".join(text.split())
    latex = as_latex(
        view_with(name, "-1.00", "3e-09"), caption=True, label="t:1", mark=("best", "significant")
    )
    body = "\n".join(line for line in latex.splitlines() if not line.startswith("%"))
    bare = re.sub(r"\\[{}$&#_%\\]", "", body)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") == 4
    assert not set(bare) & set("#~<>|`%")
    assert [len(row) for row in tabular_rows(latex)] == [2, 3, 3]  # groups are one cell each
    assert not re.search(r"(\\\\|rule)\s*[*\[]", body)
    page = Page(as_html(view_with(name, "1.00"), full=True))
    assert set(page.tags) <= {
        "html", "head", "meta", "title", "style", "body", "table", "caption", "b", "thead", "tr", "th", "tbody", "td",
        "p", "details", "summary", "ul", "li",
    }  # fmt: skip
    assert escaped(name) in page.texts
    markdown = as_markdown(view_with(name, "1.00"))
    assert all(map(is_visible, (text, latex, markdown)))
    assert "<script" not in markdown
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3 for line in lines)


def test_markdown_paragraphs_do_not_become_lists() -> None:
    view = View("t", notes=("- a", "1. b", "12.5 % of runs"))
    assert as_markdown(view) == "**t**\n\n- \\- a\n- 1\\. b\n- 12\\.5 % of runs"


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("name", ["n" * 124, "检索系统" * 5, "검색 시스템 " * 8])
def test_no_line_is_wider_than_the_terminal(
    name: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Characters were counted and not their columns, and long names were not divided."""
    monkeypatch.setenv("COLUMNS", str(width))
    for result in _results_of(name):
        for line in result.to_text(details=True).splitlines():
            assert cell_len(line) <= width, line
    written = as_text(View(f"{name} and {name}", name))
    # Nothing is lost where a line ends.
    assert "".join(written.split()) == "".join(f"{name} and {name}: {name}".split())


@cache
def _results_of(name: str) -> list[Any]:
    qrels, runs = collection(4, 40, relevant=2)
    named = {f"{name}{place}": run for place, run in enumerate(runs.values())}
    ev = iro.evaluate(qrels, named, documents=100)
    first, second, *_ = ev.names
    return [
        iro.compare(ev, first, second),
        iro.compare(ev, first),
        iro.leaderboard(ev),
        iro.holes(ev, first),
        iro.rank_distribution(ev, resamples=20),
        iro.gate(ev, first, margins=(2, 1)),
    ]


def test_names_in_csv_are_exact() -> None:
    """SECURITY.md says that they are not escaped for spreadsheets."""
    names = ["=1+2", "+a", "-b", "@c", "\td", "\re", "f=1", "g,h", 'i"j', ""]
    rows = [{"run": name, "score": -0.5} for name in names]
    written = list(csv.DictReader(io.StringIO(as_csv(rows), newline="")))
    assert [row["run"] for row in written] == names
    assert {row["score"] for row in written} == {"-0.5"}


NUMBERS = {
    "-0.73": "$-0.73$", "0.031": "0.031", "3e-09": r"$3\times10^{-9}$", "< 1e-300": "$<10^{-300}$",
    "[-0.10, +2.00]": "$[-0.10, +2.00]$", "-3.5 %": r"$-3.5 \%$", "-": "--",
}  # fmt: skip


def test_latex_numbers_floats_and_marks() -> None:
    numbers = Table((Column("a"), Column("b", form=NUMBER)), tuple(("x", cell) for cell in NUMBERS))
    assert [row[1] for row in tabular_rows(as_latex(View("t", tables=(numbers,))))[1:]] == [
        f" {n} " for n in NUMBERS.values()
    ]
    columns = (Column("run"), Column("ESL", form=NUMBER), Column("gain", form=NUMBER))
    rows = (("a ‡", "1.50", "-0.50"), ("b", "2.00", "+0.25"))
    marks = {"best": {"ESL": [True, False]}, "significant": {"gain": [True, False]}}
    view = View("v", tables=2 * (Table(columns, rows, ("h", "c."), "t_1", **marks),))
    plain = as_latex(view)
    assert not any(mark in plain for mark in (r"\textbf", r"\dagger", r"\begin{table"))
    latex = as_latex(
        view, mark=("best", "significant"), caption=r"See \citet{lin}.", label="tab:x", wide=True
    )
    assert latex.count(r"\begin{table*}") == latex.count(r"\end{table*}") == 2
    first, second = re.findall(r"\\caption{(.*)}", latex)
    assert second == first.replace("}.", r"}. (t\_1)", 1)  # two tables of a document
    assert first.count("Bold") == first.count("Dagger") == 1
    assert re.findall(r"\\label{(.*?)}", latex) == ["tab:x", "tab:x-2"]
    assert r"a $\ddagger$ & \textbf{1.50} & $-0.50$$^{\dagger}$ \\" in latex
    assert r"\caption{t\_1. h. c.}" in as_latex(view, caption=True)
    assert r"\caption" not in as_latex(view, label="x")
    for label in ("", "a b", "a}", "a\\", "a%"):
        with pytest.raises(ParameterError, match="use letters, digits"):
            as_latex(view, label=label)


def test_rows_beyond_the_first_are_counted() -> None:
    rows = tuple((f"r{number}",) for number in range(30))
    view = View("t", tables=(Table((Column("run"),), rows),))
    assert "10 more rows" in as_text(view)
    assert "r20" not in as_text(view)
    for shown in (as_text(view, rows=None), as_markdown(view)):
        assert "r29" in shown
    assert "10 more rows" in as_markdown(view, rows=20)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles_and_contenders_fit_over_two_columns(tmp_path: Path) -> None:
    judged, runs = collection(14, 60, relevant=3)
    named = {f"bm25_docT5q_ColB_{number}": run for number, run in enumerate(runs.values())}
    fitting = compare_several(judged, named.pop("bm25_docT5q_ColB_0"), named).to_latex(
        caption=True, wide=True
    )
    marks: tuple[Mark, ...] = ("best", "significant")
    kinds = [
        result_of(kind).to_latex(caption=True, label=kind.split()[-1], wide=True, mark=marks)
        for kind in KINDS
    ]
    head = r"\documentclass[twocolumn]{article}\usepackage{booktabs}\usepackage[margin=19mm]{geometry}\begin{document}"
    for name, source in (("fitting", fitting), ("kinds", "\n\\clearpage\n".join(kinds))):
        # The names of the kinds need Cyrillic fonts.
        (tmp_path / f"{name}.tex").write_text(
            f"{head}\n{source.encode('ascii', 'replace').decode()}\n\\end{{document}}\n"
        )
        command = ["pdflatex", "-interaction=nonstopmode", f"{name}.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        printed = done.stdout.decode(errors="replace")
        assert done.returncode == 0, printed[-2000:]
        assert name == "kinds" or "Overfull" not in printed


def test_latex_of_several_runs_has_a_row_for_the_baseline() -> None:
    qrels, runs = collection(3, 60, seed=4)
    runs["best"] = {query: dict.fromkeys(own, 9.0) for query, own in qrels.items()}
    evaluation = iro.evaluate(qrels, runs, cutoff=8, measures=["nDCG@10"])
    compared: Any = iro.compare(evaluation, "run0", ["run1", "best"], measures=["nDCG@10"])
    (table,) = compared.view().printed
    baseline, first, second = table.rows
    assert [row[0] for row in table.rows] == ["run0", "best", "run1"]
    for place, column in enumerate(table.columns):
        name, _, field = column.name.rpartition(" ")
        rows = [row for run in ("best", "run1") for row in compared[run].parts if row.name == name]
        if field == "mean":
            means = [float(row[place]) for row in (baseline, first, second)]
            places = len(baseline[place].partition(".")[2])
            values = [rows[0].baseline, *(row.contender for row in rows)]
            assert means == pytest.approx(values, abs=1.01 * 10.0**-places)
            top = (max if rows[0].higher_is_better else min)(values)
            assert table.best[column.name] == [value == top for value in values]
        if field == "difference":
            found = [row.found != "none" for row in rows]
            assert table.significant[column.name] == [False, *found]
    assert [name for name in table.best if name.startswith("ranking")] == []


def test_nothing_is_best_where_rows_are_of_other_queries_or_baselines() -> None:
    """Bold said that B was best on the easiest collection, where A was better."""
    qrels, runs = collection(3, 60, seed=4)
    evaluation = iro.evaluate(qrels, runs, cutoff=8, measures=["nDCG@10"])
    halves = {query: str(number % 2) for number, query in enumerate(evaluation.query_ids)}
    asked: dict[str, Any] = {"measures": ["nDCG@10"]}
    results: list[Any] = [
        iro.compare_slices(evaluation, "run0", "run1", by=halves, **asked),
        iro.compare_collections({"one": evaluation, "two": evaluation}, "run0", "run1", **asked),
    ]
    for result in results:
        latex = result.to_latex(mark=("best", "significant"))
        assert "nDCG@10" in latex
        assert "bf{" not in latex
        assert "Bold" not in latex
