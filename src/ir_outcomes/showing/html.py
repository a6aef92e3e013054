"""HTML: a part of a page for notebooks and reports, or a whole page; everything is escaped."""

from __future__ import annotations

from html import escape

from ir_outcomes.errors import escaped
from ir_outcomes.showing.view import Column, Statement, Table, View, column_groups

__all__ = ["write"]

_STYLE = """\
body { font-family: sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; line-height: 1.4; }
table { border-collapse: collapse; margin: 1em 0; }
caption { text-align: left; margin-bottom: 0.5em; }
th, td { padding: 0.2em 0.6em; }
thead tr:last-child th { border-bottom: 1px solid; }
tbody td { font-variant-numeric: tabular-nums; }\
"""


def write(view: View, *, full: bool = False) -> str:
    """Write a view; `full` makes it a page with character set, title and style."""
    body = "".join([*map(_table, view.tables), *map(_statement, view.statements), _notes(view.notes)])
    if not full:
        return body
    title = next((table.title for table in view.tables if table.title), "ir_outcomes")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{_text(title)}</title>\n'
        f"<style>\n{_STYLE}\n</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return escape(escaped(text))


def _table(table: Table) -> str:
    title = f"<b>{_text(table.title)}</b>" if table.title else ""
    caption = "<br/>".join(part for part in (title, _text(table.head), _text(table.caption)) if part)
    sentences = "".join(f"<p>{_text(sentence)}</p>" for sentence in table.sentences)
    if not table.columns:
        return f"<p>{caption}</p>{sentences}" if caption else sentences
    rows = "".join(f"<tr>{''.join(map(_cell, row, table.columns))}</tr>" for row in table.rows)
    return (
        f'<table class="ir-outcomes">{f"<caption>{caption}</caption>" if caption else ""}'
        f"<thead>{_groups(table.columns)}<tr>{''.join(map(_heading, table.columns))}</tr></thead>"
        f"<tbody>{rows}</tbody></table>{sentences}"
    )


def _groups(columns: tuple[Column, ...]) -> str:
    """Write the headings over several columns."""
    groups = column_groups(columns)
    cells = [f'<th colspan="{size}" style="text-align: center">{_text(group)}</th>' for group, size in groups]
    return f"<tr>{''.join(cells)}</tr>" if groups else ""


def _heading(column: Column) -> str:
    return f'<th scope="col" style="{_alignment(column)}">{_text(column.heading)}</th>'


def _cell(text: str, column: Column) -> str:
    return f'<td style="{_alignment(column)}">{_text(text)}</td>'


def _alignment(column: Column) -> str:
    return f"text-align: {'right' if column.numeric else 'left'}"


def _statement(statement: Statement) -> str:
    return f"<p><b>{_text(statement.title)}: {_text(statement.label)}</b> {_text(' '.join(statement.sentences))}</p>"


def _notes(notes: tuple[str, ...]) -> str:
    if not notes:
        return ""
    items = "".join(f"<li>{_text(note)}</li>" for note in notes)
    return f"<details><summary>Notes</summary><ul>{items}</ul></details>"
