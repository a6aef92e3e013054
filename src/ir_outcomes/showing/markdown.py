"""Markdown as GitHub renders it; everything is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ir_outcomes.errors import escaped
from ir_outcomes.showing.view import Column, Table, View

__all__ = ["escape", "table", "write"]

# An underscore within a word is not markup; elsewhere it could begin emphasis, as the other characters could.
_MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_BULLET = re.compile(r"^[-+#=]")
_NUMBERED = re.compile(r"^(\d+)([.)])")


def write(view: View) -> str:
    """Write a view as paragraphs, tables and a list of notes."""
    blocks = [block for part in view.tables for block in _blocks(part)]
    for statement in view.statements:
        words = " ".join(escape(sentence) for sentence in statement.sentences)
        blocks.append(f"**{escape(f'{statement.title}: {statement.label}')}** {words}".rstrip())
    if view.notes:
        blocks += ["**Notes**", "\n".join(f"- {_paragraph(note)}" for note in view.notes)]
    return "\n\n".join(blocks)


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> str:
    r"""Write one table.

    Examples
    --------
    >>> print(table([Column("run"), Column("ESL", "number")], [["a|b", "1.50"]]))
    | run | ESL |
    |---|---:|
    | a\|b | 1.50 |
    """
    rule = "".join("---:|" if column.numeric else "---|" for column in columns)
    lines = [[escape(_heading(column)) for column in columns], *(map(_cell, row, columns) for row in rows)]
    head, *body = (f"| {' | '.join(cells)} |" for cells in lines)
    return "\n".join([head, f"|{rule}", *body])


def escape(text: str) -> str:
    r"""Escape text for use within a line.

    Examples
    --------
    >>> print(escape("*a* <b> c|d run_1 _x_"))
    \*a\* &lt;b&gt; c\|d run_1 \_x\_
    """
    return _MARKUP.sub(lambda found: f"\\{found[0]}", _entities(text))


def _entities(text: str) -> str:
    return escaped(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cell(text: str, column: Column) -> str:
    """Escape a cell; the brackets and signs of numbers are not markup within a table."""
    return _entities(text) if column.numeric and "|" not in text else escape(text)


def _heading(column: Column) -> str:
    """Write a heading; Markdown has no headings over several columns."""
    return f"{column.group} {column.heading}".strip()


def _blocks(part: Table) -> Iterator[str]:
    if part.title:
        yield f"**{escape(part.title)}**"
    if part.head:
        yield _paragraph(part.head)
    if part.columns:
        yield table(part.columns, part.rows)
    if part.caption:
        yield _paragraph(part.caption)
    for sentence in part.sentences:
        yield _paragraph(sentence)


def _paragraph(text: str) -> str:
    """Escape text that starts a line, where a dash, or a number with a dot, would begin a list."""
    return _NUMBERED.sub(r"\1\\\2", _BULLET.sub(r"\\\g<0>", escape(text)))
