"""Markdown, HTML, CSV, JSON lines and data frames of results."""

import csv
import html
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ir_outcomes.errors import escaped, not_installed
from ir_outcomes.formatting import plural
from ir_outcomes.showing.view import Table, View, column_groups
from ir_outcomes.showing.words import sentence
from ir_outcomes.table_columns import Column

# An underscore within a word is not markup; elsewhere it could begin emphasis, as the other
# characters could.
_MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
# What would make a list or a heading of the line that it starts.
_LIST = re.compile(r"^([-+#=!]|\d+[.)])")
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
    if view.sentences:
        blocks.append(_paragraph(" ".join(view.sentences)))
    blocks += _blocks(view.tables, view.first_notes, rows)
    if details:
        blocks += _blocks(view.details(), view.other_notes, None)
    return "\n\n".join(blocks)


def _blocks(tables: Iterable[Table], notes: Sequence[str], rows: int | None) -> Iterator[str]:
    for table in tables:
        if table.title:
            yield f"**{_escape(table.title)}**"
        if table.columns:
            yield markdown_table(table, rows)
        if rows is not None and len(table.rows) > rows:
            yield f"and {plural('more row', len(table.rows) - rows)}"
        if table.captions:
            yield _paragraph(" ".join(map(sentence, table.captions)))
    if notes:
        yield "\n".join(f"- {_paragraph(note)}" for note in notes)


def markdown_table(table: Table, rows: int | None = None) -> str:
    """Write the columns and the first rows of a table."""
    headings = [_escape(f"{column.group} {column.title}".strip()) for column in table.columns]
    rules = {"left": "---", "right": "---:"}
    lines = [
        f"| {' | '.join(headings)} |",
        f"|{'|'.join(rules[column.align] for column in table.columns)}|",
    ]
    for texts in table.rows[:rows]:
        cells = map(_markdown_cell, texts, table.columns)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _escape(text: str) -> str:
    """Escape text for use within a line of Markdown."""
    return _MARKUP.sub(lambda match: f"\\{match[0]}", _entities(text))


def _entities(text: str) -> str:
    return html.escape(escaped(text), quote=False)


def _markdown_cell(text: str, column: Column) -> str:
    """Escape a cell, where signs and brackets of numbers are not markup."""
    if column.numeric and "|" not in text and "*" not in text:
        return _entities(text)
    return _escape(text)


def _paragraph(text: str) -> str:
    """Escape text that starts a line, which could begin a list."""
    return _LIST.sub(lambda match: f"{match[0][:-1]}\\{match[0][-1]}", _escape(text))


def as_html(view: View, *, full: bool = False) -> str:
    """Write a view with its details in a fold, `full` as a page by itself."""
    parts = [
        _element("p", _element("b", _text(view.headline))),
        *(_element("p", _text(sentence)) for sentence in view.sentences),
        html_parts(view.tables, view.first_notes),
    ]
    if folded := html_parts(view.details(), view.other_notes):
        summary = _element("summary", f"More: {_text(view.more or 'notes')}")
        parts.append(_element("details", f"{summary}{folded}"))
    if not full:
        return "".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta'
        f' charset="utf-8">\n<title>{_text(view.headline)}</title>\n'
        f"<style>\n{_STYLE}\n</style>\n</head>\n<body>\n{''.join(parts)}\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return html.escape(escaped(text))


def _element(name: str, content: str) -> str:
    """Return an element of HTML, nothing without content."""
    return content and f"<{name}>{content}</{name}>"


def html_parts(tables: Iterable[Table], notes: Iterable[str]) -> str:
    """Write tables and notes."""
    items = [_element("li", _text(note)) for note in notes]
    return "".join([*map(_html_table, tables), _element("ul", "".join(items))])


def _html_table(table: Table) -> str:
    title = _element("p", _element("b", _text(table.title)))
    if not table.columns:
        return title
    groups = []
    for group, columns in column_groups(table.columns):
        tag = "th" if group else "td"  # an empty heading is none
        size = f'colspan="{columns.stop - columns.start}"'
        groups.append(f'<{tag} {size} style="text-align: center">{_text(group)}</{tag}>')
    headings = [_heading(column) for column in table.columns]
    head = _element("tr", "".join(groups)) + _element("tr", "".join(headings))
    rows = []
    for texts in table.rows:
        cells = [
            f'<td style="text-align: {column.align}">{_text(text)}</td>'
            for text, column in zip(texts, table.columns, strict=True)
        ]
        rows.append(_element("tr", "".join(cells)))
    captions = _element("caption", "<br/>".join(map(_text, table.captions)))
    return (
        f'{title}<table class="ir-outcomes">{captions}<thead>{head}</thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _heading(column: Column) -> str:
    """Return a heading, or a cell where it has no text."""
    title = column.title.strip()
    tag, scope = ("th", ' scope="col"') if title else ("td", "")
    return f'<{tag}{scope} style="text-align: {column.align}">{_text(title)}</{tag}>'


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows with a header, names as they are, and nothing for None."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = [_csv_line(columns)]
    for row in rows:
        lines.append(_csv_line(map(row.get, columns)))
    return "\n".join(lines)


def _csv_line(values: Iterable[Any]) -> str:
    """Write a line without its end."""
    # The writer quotes a carriage return only where that can be part of the end of a line.
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\r\n").writerow(values)
    return stream.getvalue().removesuffix("\r\n")


def as_json_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write each row as a line of JSON."""
    return "\n".join(json.dumps(dict(row), ensure_ascii=False, allow_nan=False) for row in rows)


def as_frame(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Make a pandas data frame of rows."""
    try:
        import pandas as pd
    except ImportError:
        raise not_installed("a data frame needs pandas", "pandas") from None
    return pd.DataFrame(list(rows))
