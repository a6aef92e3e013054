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
from ir_outcomes.showing.text import as_text, print_text
from ir_outcomes.showing.view import Table, View, column_groups
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
    return View(name, name, (name,), (table,), (name,), name, (table,), (name,))


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
    view, page, rows = result.view(), Page(result.to_html()), tabular_rows(result.to_latex())
    shown = [*(getattr(result, f"to_{form}")() for form in get_args(ViewFormat)), repr(result)]
    assert all(map(is_visible, shown))
    assert not any(re.search(r"\bnan\b|\binf\b|None", each) for each in shown)
    assert (str(result), result._repr_html_()) == (result.to_text(), result.to_html())
    tables = [table for table in (*view.tables, *view.details) if table.columns]
    assert page.tags.count("table") == len(tables)
    empty = [
        group for table in tables for group, _ in column_groups(table.columns) if not group
    ]  # headings over several columns
    empty += [col.title for table in tables for col in table.columns if not col.title.strip()]
    cells = sum(len(row) for table in tables for row in table.rows)
    assert page.tags.count("td") == cells + len(empty)
    assert {
        f"{escaped(cell)}{table.raised.get((number, column), '')}"
        for table in tables
        for number, row in enumerate(table.rows)
        for column, cell in enumerate(row)
    } <= set(page.texts)
    xml.dom.minidom.parseString(f"<div>{result.to_html()}</div>")
    assert len(rows) == sum(
        1 + any(column.group for column in table.columns) + len(table.rows)
        for table in view.printed or view.tables
    )
    assert not any(row[0].lstrip().startswith(("*", "[")) for row in rows)
    lines = [line for line in result.to_markdown().splitlines() if line.startswith("|")]
    assert len(lines) == sum(2 + len(table.rows) for table in view.tables)
    # Some results have rows of two kinds.
    columns = list(dict.fromkeys(name for row in result.rows() for name in row))
    assert list(result.to_frame().columns) == columns
    for row, values in zip(
        result.rows(), csv.DictReader(io.StringIO(result.to_csv(), newline="")), strict=True
    ):
        assert values == {name: "" if row.get(name) is None else str(row[name]) for name in columns}
    assert [json.loads(line) for line in as_json_lines(result.rows()).splitlines()] == result.rows()


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
    marked = Table((Column("verdict"),), (("better ‡",),))
    assert r"better $\ddagger$ \\" in as_latex(View("t", tables=(marked,)))
    columns = (Column("run"), Column("ESL", form=NUMBER), Column("gain", form=NUMBER))
    rows = (("a", "1.50", "-0.50"), ("b", "2.00", "+0.25"))
    table = Table(columns, rows, ("h", "c."), "t_1", best=[(0, 1)], significant=[(0, 2)])
    view = View("v", tables=(table, table))
    assert as_latex(view).startswith(r"\begin{tabular}{lrr}")
    assert r"\textbf" not in as_latex(view)
    latex = as_latex(
        view, mark=("best", "significant"), caption=r"See \citet{lin}.", label="tab:x", wide=True
    )
    assert latex.count(r"\begin{table*}") == latex.count(r"\end{table*}") == 2
    marks = "Bold: the best value of the column. Dagger: significantly different from the baseline."
    assert re.findall(r"\\caption{(.*)}", latex) == [
        rf"See \citet{{lin}}. {marks}",
        rf"See \citet{{lin}}. (t\_1) {marks}",  # two tables of a document have two captions
    ]
    assert re.findall(r"\\label{(.*?)}", latex) == ["tab:x", "tab:x-2"]
    assert r"a & \textbf{1.50} & $-0.50$$^{\dagger}$ \\" in latex
    assert r"\caption{t\_1. h. c.}" in as_latex(view, caption=True)
    assert r"\begin{table}" in as_latex(view, label="x")
    assert r"\caption" not in as_latex(view, label="x")
    for label in ("", "a b", "a}", "a\\b", "a%"):
        with pytest.raises(ParameterError, match="use letters, digits"):
            as_latex(view, label=label)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_a_terminal_has_colour_and_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    name = "/a/very/long/path/" * 6
    table = Table((Column("run"), Column("verdict")), ((name, "better on coverage"),))
    view = View(
        "t",
        tables=(table,),
        notes=("Read it again, because this sentence is longer than a line of 60 columns.",),
    )
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        print_text(as_text(view), stream)
    assert "\x1b[" in terminal.getvalue()
    assert pipe.getvalue() == f"{as_text(view)}\n"
    assert max(map(len, pipe.getvalue().splitlines())) <= 60
    assert re.sub(r"\x1b\[[\d;]*m", "", terminal.getvalue()) == pipe.getvalue()
    monkeypatch.setenv("COLUMNS", "200")
    assert name in as_text(view)


def test_rows_beyond_the_first_are_counted() -> None:
    view = View(
        "t", tables=(Table((Column("run"),), tuple((f"r{number}",) for number in range(30))),)
    )
    assert as_text(view).splitlines()[-1] == "and 10 more rows: to_text(rows=None)"
    assert as_text(view, in_python=False).splitlines()[-1] == "and 10 more rows: --rows 30"
    assert [
        "r29" in shown
        for shown in (as_text(view, rows=None), as_markdown(view), as_markdown(view, rows=20))
    ] == [1, 1, 0]


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


PHANTOM = r"$^{\phantom{\dagger}}$"  # keeps numbers without a dagger in line with the others


def test_latex_of_several_runs_has_a_row_for_the_baseline() -> None:
    qrels, runs = collection(3, 60, seed=4)
    runs["best"] = {query: dict.fromkeys(own, 9.0) for query, own in qrels.items()}
    evaluation = iro.evaluate(qrels, runs, cutoff=8, measures=["nDCG@10"])
    compared: Any = iro.compare(evaluation, "run0", ["run1", "best"], measures=["nDCG@10"])
    latex = compared.to_latex(mark=("best", "significant"), caption="Runs", label="tab:x")
    assert latex.count(r"\caption{Runs Bold: ") == 1
    rows = [
        [cell.strip() for cell in row]
        for row in tabular_rows(latex.replace(PHANTOM, ""))
        if not row[-1].startswith(r" \multi")
    ]
    headings, baseline, first, second = rows[-4:]
    assert [row[0] for row in (headings, baseline, first, second)] == [
        "run",
        "run0",
        "best",
        "run1",
    ]
    means = [place for place, heading in enumerate(headings) if heading == "mean"]
    parts = [
        pair
        for pair in zip(compared["best"].parts, compared["run1"].parts, strict=True)
        if pair[0].name != "ranking"
    ]
    for place, (best, other) in zip(means, parts, strict=True):
        values = {"run0": best.baseline, "best": best.contender, "run1": other.contender}
        top = (max if best.higher_is_better else min)(values.values())
        bold = {row[0] for row in (baseline, first, second) if "bf{" in row[place]}
        assert bold == {run for run, value in values.items() if value == top}
    for run, cells in (("best", first), ("run1", second)):
        differences = [
            cell
            for cell, heading in zip(cells, headings, strict=True)
            if heading in ("points", "ranks", "B - A")
        ]
        daggers = [r"\dagger" in cell for cell in differences]
        found = [row.found != "none" for row in compared[run].parts]
        assert daggers == found


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
