"""Markdown, HTML, CSV, JSON lines and data frames; everything is escaped, and the values of rows are exact."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ir_outcomes.columns import Column
from ir_outcomes.errors import escaped, not_installed
from ir_outcomes.formatting import plural
from ir_outcomes.showing.view import Cell, Table, View, column_groups

__all__ = ["as_csv", "as_frame", "as_html", "as_json_lines", "as_markdown", "markdown_table"]

# An underscore within a word is not markup; elsewhere it could begin emphasis, as the other characters could.
_MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_BULLET = re.compile(r"^[-+#=!]")
_NUMBERED = re.compile(r"^(\d+)([.)])")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_STYLE = """\
body { font-family: sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; line-height: 1.4; }
table { border-collapse: collapse; margin: 1em 0; }
caption { text-align: left; caption-side: bottom; margin-top: 0.5em; }
th, td { padding: 0.2em 0.6em; }
thead tr:last-child th { border-bottom: 1px solid; }
tbody td { font-variant-numeric: tabular-nums; }\
"""


def as_markdown(view: View, *, details: bool = False, rows: int | None = None) -> str:
    """Write a view as GitHub renders it: paragraphs, tables and lists of notes."""
    blocks = [f"**{_escape(view.headline)}**"]
    blocks += [_paragraph(" ".join(view.sentences))] if view.sentences else []
    blocks += [block for table in view.tables for block in _blocks(table, rows)]
    blocks += ["\n".join(f"- {_paragraph(note)}" for note in view.first_notes)] if view.notes else []
    if details:
        blocks += [block for table in view.details for block in _blocks(table, None)]
        blocks += ["\n".join(f"- {_paragraph(note)}" for note in view.other_notes)] if view.other_notes else []
    return "\n\n".join(blocks)


def _blocks(table: Table, rows: int | None) -> Iterator[str]:
    if table.title:
        yield f"**{_escape(table.title)}**"
    if table.columns:
        yield markdown_table(table.columns, table.rows[:rows], table)
    if rows is not None and len(table.rows) > rows:
        yield f"and {plural('more row', len(table.rows) - rows)}"
    if table.captions:
        yield "  \n".join(map(_paragraph, table.captions))


def markdown_table(columns: Sequence[Column], rows: Iterable[Sequence[str]], marks: Table | None = None) -> str:
    """Write one table."""
    rule = "".join("---:|" if column.numeric else "---|" for column in columns)
    # Markdown has no headings over several columns.
    headings = [_escape(f"{column.group} {column.title}".strip()) for column in columns]
    lines = [[_markdown_cell(text, column) for text, column in zip(row, columns, strict=True)] for row in rows]
    if marks is not None and marks.raised:
        lines = [
            [_marked(cell, "**", "**", marks, (row, place)) for place, cell in enumerate(cells)]
            for row, cells in enumerate(lines)
        ]
    head, *body = (f"| {' | '.join(cells)} |" for cells in (headings, *lines))
    return "\n".join([head, f"|{rule}", *body])


def _escape(text: str) -> str:
    """Escape text for use within a line of Markdown."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", _entities(text))


def _entities(text: str) -> str:
    return escaped(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _markdown_cell(text: str, column: Column) -> str:
    """Escape a cell; the brackets and signs of numbers are not markup within a table."""
    return _entities(text) if column.numeric and "|" not in text and "*" not in text else _escape(text)


def _marked(cell: str, begin: str, end: str, table: Table, place: Cell) -> str:
    """Return an escaped cell with its superscript; the best of a table with superscripts are bold."""
    if table.raised and place in table.best:
        cell = f"{begin}{cell}{end}"
    return f"{cell}<sup>{table.raised[place]}</sup>" if place in table.raised else cell


def _paragraph(text: str) -> str:
    """Escape text that starts a line, where a dash, or a number with a dot, would begin a list."""
    return _NUMBERED.sub(r"\1\\\2", _BULLET.sub(r"\\\g<0>", _escape(text)))


def as_html(view: View, *, full: bool = False) -> str:
    """Write a view with its details in a fold; `full` makes it a page with character set, title and style."""
    body = [f"<p><b>{_text(view.headline)}</b></p>", *(f"<p>{_text(sentence)}</p>" for sentence in view.sentences)]
    body += [*map(_html_table, view.tables), _html_list(view.first_notes)]
    folded = "".join([*map(_html_table, view.details), _html_list(view.other_notes)])
    if folded:
        body.append(f"<details><summary>More: {_text(view.more or 'notes')}</summary>{folded}</details>")
    shown = "".join(body)
    if not full:
        return shown
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{_text(view.headline)}</title>\n'
        f"<style>\n{_STYLE}\n</style>\n</head>\n<body>\n{shown}\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return html.escape(escaped(text))


def _html_table(table: Table) -> str:
    title = f"<p><b>{_text(table.title)}</b></p>" if table.title else ""
    if not table.columns:
        return title
    groups = "".join(
        f'<th colspan="{size}" style="text-align: center">{_text(group)}</th>' for group, size in column_groups(table.columns)
    )
    headings = "".join(f'<th scope="col" style="{_alignment(column)}">{_text(column.title)}</th>' for column in table.columns)
    captions = "<br/>".join(map(_text, table.captions))
    return "".join([
        f'{title}<table class="ir-outcomes">',
        f"<caption>{captions}</caption>" if captions else "",
        f"<thead>{f'<tr>{groups}</tr>' if groups else ''}<tr>{headings}</tr></thead>",
        f"<tbody>{''.join(_html_row(table, row) for row in range(len(table.rows)))}</tbody></table>",
    ])  # fmt: skip


def _html_row(table: Table, row: int) -> str:
    marked = (_marked(_text(text), "<b>", "</b>", table, (row, place)) for place, text in enumerate(table.rows[row]))
    cells = (f'<td style="{_alignment(column)}">{cell}</td>' for cell, column in zip(marked, table.columns, strict=True))
    return f"<tr>{''.join(cells)}</tr>"


def _alignment(column: Column) -> str:
    return f"text-align: {'right' if column.numeric else 'left'}"


def _html_list(notes: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(note)}</li>' for note in notes)}</ul>" if notes else ""


def as_csv(rows: Sequence[Mapping[str, Any]], *, spreadsheet: bool = False) -> str:
    """Write rows with a header; empty for None."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines: list[list[Any]] = [columns, *([row.get(column) for column in columns] for row in rows)]
    return "\n".join(_csv_line(line, spreadsheet) for line in lines)


def _csv_line(values: Iterable[Any], spreadsheet: bool) -> str:
    """Write a line without its end; the writer quotes a carriage return only if it is part of the end of a line."""
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\r\n").writerow(map(_guarded, values) if spreadsheet else values)
    return stream.getvalue().removesuffix("\r\n")


def _guarded(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def as_json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write each row as a line of JSON; null for None."""
    return "\n".join(json.dumps(dict(row), ensure_ascii=False, allow_nan=False) for row in rows)


def as_frame(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Make a pandas data frame of rows."""
    try:
        import pandas as pd
    except ImportError:
        raise not_installed("a data frame needs pandas", "pandas") from None
    return pd.DataFrame(list(rows))
