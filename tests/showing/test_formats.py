from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import unicodedata
import xml.dom.minidom
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.cli.output import Format
from ir_outcomes.errors import MissingDependency, ParameterError, escaped
from ir_outcomes.results import Column
from ir_outcomes.showing import Table, View
from ir_outcomes.showing.formats import as_csv, as_html, as_json_lines, as_latex, as_markdown, as_text, print_text
from tests.helpers.many import collection
from tests.helpers.results import HOSTILE, KINDS, result_of

every_kind = pytest.mark.parametrize("kind", KINDS)
anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
hostile = st.one_of(st.sampled_from(HOSTILE), anything)


def view_with(name: str, *numbers: str) -> View:
    columns = (Column(name, group=name), *(Column("n", form="n", group="g") for _ in numbers))
    table = Table(columns, ((name, *numbers),), (name,), name)
    return View(name, name, (name,), (table,), (name,), name, (table,), (name,))


def is_visible(shown: str) -> bool:
    """Whether no control character but the end of a line is left."""
    return not any((unicodedata.category(each) == "Cc" and each != "\n") or each in "\u202e\u2066\ufeff" for each in shown)


class Page(HTMLParser):
    """Tags and texts of a page, and the cells of its tables."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag in ("td", "th", "li", "p", "summary", "caption"):
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        self.texts.append(self.texts.pop() + data if self.texts else data)


def tabular_rows(source: str) -> list[list[str]]:
    """Split the body of each tabular into cells."""
    bodies = re.findall(r"\\toprule\n(.*?)\\bottomrule", source, flags=re.DOTALL)
    lines = [line for body in bodies for line in body.splitlines() if line.endswith(r"\\")]
    return [re.split(r"(?<!\\)&", line.removesuffix(r"\\")) for line in lines]


@every_kind
def test_every_result_in_every_format(kind: str) -> None:
    result = result_of(kind)
    view = result.view()
    forms = set(get_args(Format)) - {"json", "jsonl", "csv"}
    shown = [*(getattr(result, f"to_{form}")() for form in sorted(forms)), repr(result)]
    assert all(map(is_visible, shown))
    assert not any(re.search(r"\bnan\b|\binf\b|None", each) for each in shown)
    assert (str(result), result._repr_html_()) == (result.to_text(), result.to_html())
    tables = [table for table in (*view.tables, *view.details) if table.columns]
    page = Page(result.to_html())
    assert page.tags.count("table") == len(tables)
    assert page.tags.count("td") == sum(len(row) for table in tables for row in table.rows)
    assert {escaped(cell) for table in tables for row in table.rows for cell in row} <= set(page.texts)
    xml.dom.minidom.parseString(f"<div>{result.to_html()}</div>")
    rows = tabular_rows(result.to_latex())
    headings = [1 + any(column.group for column in table.columns) for table in view.tables]
    assert len(rows) == sum(headings) + sum(len(table.rows) for table in view.tables)
    assert not any(row[0].lstrip().startswith(("*", "[")) for row in rows)
    lines = [line for line in result.to_markdown().splitlines() if line.startswith("|")]
    assert len(lines) == sum(2 + len(table.rows) for table in view.tables)
    written = list(csv.DictReader(io.StringIO(result.to_csv(), newline="")))
    columns = list(dict.fromkeys(name for row in result.rows() for name in row))  # some results have rows of two kinds
    assert list(result.to_frame().columns) == columns
    for row, values in zip(result.rows(), written, strict=True):
        assert values == {name: "" if row.get(name) is None else str(row[name]) for name in columns}
    assert [json.loads(line) for line in as_json_lines(result.rows()).splitlines()] == result.rows()


@given(hostile)
def test_text_keeps_names_whole_and_shows_control_characters(name: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COLUMNS", "1000")
        shown = as_text(view_with(name, "1.00"), details=True)
    assert is_visible(shown)
    assert "".join(escaped(name).split()) in "".join(shown.split())


@given(hostile)
def test_latex_escapes_whatever_comes(name: str) -> None:
    source = as_latex(view_with(name, "-1.00", "3e-09"), caption=True, label="t:1", mark=("best", "significant"))
    assert is_visible(source)
    body = "\n".join(line for line in source.splitlines() if not line.startswith("%"))
    bare = re.sub(r"\\[{}$&#_%\\]", "", body)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") == 4
    assert not set(bare) & set("#~<>|`%")
    assert [len(row) for row in tabular_rows(source)] == [2, 3, 3]  # groups are one cell each
    assert not re.search(r"(\\\\|rule)\s*[*\[]", body)


@given(hostile)
def test_html_shows_what_was_given(name: str) -> None:
    source = as_html(view_with(name, "1.00"), full=True)
    assert source.startswith("<!DOCTYPE html>")
    page = Page(source)
    assert set(page.tags) <= {
        "html", "head", "meta", "title", "style", "body", "table", "caption", "b", "thead", "tr", "th", "tbody", "td",
        "p", "details", "summary", "ul", "li",
    }  # fmt: skip
    assert escaped(name) in page.texts


@given(hostile)
def test_markdown_tables_keep_their_columns(name: str) -> None:
    written = as_markdown(view_with(name, "1.00"))
    assert is_visible(written)
    assert "<script" not in written
    lines = [line for line in written.splitlines() if line.startswith("| ")]
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3 for line in lines)


def test_markdown_paragraphs_do_not_become_lists() -> None:
    view = View("t", notes=("- a", "1. b", "12.5 % of runs"))
    assert as_markdown(view) == "**t**\n\n- \\- a\n- 1\\. b\n- 12\\.5 % of runs"


@given(st.lists(st.tuples(anything, st.floats(allow_nan=False), st.none() | st.integers()), min_size=1))
def test_csv_is_exact(values: list[tuple[str, float, int | None]]) -> None:
    rows = [dict(zip(("name", "value", "n"), row, strict=True)) for row in values]
    read = list(csv.DictReader(io.StringIO(as_csv(rows), newline="")))
    assert [(row["name"], float(row["value"]), int(row["n"]) if row["n"] else None) for row in read] == values


def test_csv_for_spreadsheets() -> None:
    names = ["=1+2", "+a", "-b", "@c", "\td", "\re", "f=1", ""]
    rows = [{"run": name, "score": -0.5} for name in names]
    written = [row["run"] for row in csv.DictReader(io.StringIO(as_csv(rows, spreadsheet=True), newline=""))]
    assert written == ["'=1+2", "'+a", "'-b", "'@c", "'\td", "'\re", "f=1", ""]
    assert as_csv(rows, spreadsheet=True).count(",-0.5") == len(names)
    assert "'" not in as_csv(rows)


@pytest.mark.parametrize(
    ("cell", "source"),
    [
        ("-0.73", "$-0.73$"),
        ("0.031", "0.031"),
        ("3e-09", r"$3\times10^{-9}$"),
        ("< 1e-300", "$<10^{-300}$"),
        ("[-0.10, +2.00]", "$[-0.10, +2.00]$"),
        ("-3.5 %", r"$-3.5 \%$"),
        ("-", "--"),
    ],
)
def test_numbers_in_latex(cell: str, source: str) -> None:
    table = Table((Column("a"), Column("b", form="n")), (("x", cell),))
    assert rf"x & {source} \\" in as_latex(View("t", tables=(table,))).splitlines()


def test_latex_floats_and_marks() -> None:
    columns = (Column("run"), Column("ESL", form="n"), Column("gain", form="n"))
    rows = (("a", "1.50", "-0.50"), ("b", "2.00", "+0.25"))
    table = Table(columns, rows, ("h", "c."), "t_1", best=frozenset({(0, 1)}), significant=frozenset({(0, 2)}))
    view = View("v", tables=(table, table))
    assert as_latex(view).startswith(r"\begin{tabular}{lrr}")
    assert r"\textbf" not in as_latex(view)
    marked = as_latex(view, mark=("best", "significant"), caption=r"See \citet{lin}.", label="tab:x", wide=True)
    assert marked.count(r"\begin{table*}") == marked.count(r"\end{table*}") == 2
    assert marked.count(r"\caption{See \citet{lin}.}") == 2
    assert re.findall(r"\\label{(.*?)}", marked) == ["tab:x", "tab:x-2"]
    assert r"a & \textbf{1.50} & $-0.50$$^{\dagger}$ \\" in marked
    assert r"\caption{t\_1. h. c.}" in as_latex(view, caption=True)
    assert r"\begin{table}" in as_latex(view, label="x")
    assert r"\caption" not in as_latex(view, label="x")
    for label in ("", "a b", "a}", "a\\b", "a%"):
        with pytest.raises(ParameterError, match="use letters, digits"):
            as_latex(view, label=label)
    with pytest.raises(ParameterError, match="mark='worst': must be one of best, significant"):
        as_latex(view, mark=("worst",))  # type: ignore[arg-type]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_a_terminal_has_colour_and_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    name = "/a/very/long/path/" * 6
    table = Table((Column("run"), Column("verdict", form="label")), ((name, "better without harm"),))
    view = View("t", tables=(table,), notes=("Read it again, because this sentence is longer than a line of 60 columns.",))
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
    table = Table((Column("run"),), tuple((f"r{number}",) for number in range(30)))
    view = View("t", tables=(table,))
    assert as_text(view).splitlines()[-1] == "and 10 more rows: to_text(rows=None)"
    assert as_text(view, in_python=False).splitlines()[-1] == "and 10 more rows: --rows 30"
    assert "r29" in as_text(view, rows=None)
    assert "r29" in as_markdown(view)
    assert "r29" not in as_markdown(view, rows=20)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependency, match=r'pip install "\.\[pandas\]"'):
        result_of("RRIE").to_frame()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("kind", [*KINDS, "14 runs"])
def test_latex_compiles_and_contenders_fit_over_two_columns(kind: str, tmp_path: Path) -> None:
    if kind in KINDS:
        source = result_of(kind).to_latex(caption=True, label="t", wide=True, mark=("best", "significant"))
    else:
        judged, runs = collection(14, 60, relevant=3)
        named = {f"bm25_docT5q_ColB_{number}": run for number, run in enumerate(runs.values())}
        source = iro.compare(judged, named.pop("bm25_docT5q_ColB_0"), named).to_latex(caption=True, wide=True)
    head = r"\documentclass[twocolumn]{article}\usepackage{booktabs}\usepackage[margin=19mm]{geometry}\begin{document}"
    # The names of the kinds need Cyrillic fonts.
    (tmp_path / "t.tex").write_text(f"{head}\n{source.encode('ascii', 'replace').decode()}\n\\end{{document}}\n")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "t.tex"], cwd=tmp_path, capture_output=True, check=False)
    printed = done.stdout.decode(errors="replace")
    assert done.returncode == 0, printed[-2000:]
    assert kind in KINDS or "Overfull" not in printed
