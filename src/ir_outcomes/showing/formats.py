"""Markdown, HTML, LaTeX, CSV, JSON lines and data frames; everything is escaped, and the values of rows are exact."""

import csv
import html
import io
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from ir_outcomes.columns import Column
from ir_outcomes.errors import ParameterError, escaped, not_installed
from ir_outcomes.formatting import plural
from ir_outcomes.showing.view import Cell, Table, View, column_groups
from ir_outcomes.types import Mark, check_choice

# An underscore within a word is not markup; elsewhere it could begin emphasis, as the other characters could.
_MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
_LIST = re.compile(r"^([-+#=!]|\d+[.)])")  # what makes a list or a heading of the line that it starts
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_STYLE = """\
body { font-family: sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; line-height: 1.4; }
table { border-collapse: collapse; margin: 1em 0; }
caption { text-align: left; caption-side: bottom; margin-top: 0.5em; }
th, td { padding: 0.2em 0.6em; }
thead tr:last-child th { border-bottom: 1px solid; }
tbody td { font-variant-numeric: tabular-nums; }\
"""
_LABEL = re.compile(r"[^\\{}%#~^$&\s]+")
_NUMBER = re.compile(r"(?P<sign>[-+]?)(?P<mantissa>\d[\d.]*)(?:e(?P<exponent>[-+]?\d+))?")
_TEX = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
})  # fmt: skip


def as_markdown(view: View, *, details: bool = False, rows: int | None = None) -> str:
    """Write a view as GitHub renders it: paragraphs, tables and lists of notes."""
    blocks = [f"**{_escape(view.headline)}**", *([_paragraph(" ".join(view.sentences))] if view.sentences else [])]
    blocks += _blocks(view.tables, view.first_notes, rows)
    if details:
        blocks += _blocks(view.details, view.other_notes, None)
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
            yield "  \n".join(map(_paragraph, table.captions))
    if notes:
        yield "\n".join(f"- {_paragraph(note)}" for note in notes)


def markdown_table(table: Table, rows: int | None = None) -> str:
    """Write the columns and the first rows of a table; Markdown has no headings over several columns."""
    headings = [_escape(f"{column.group} {column.title}".strip()) for column in table.columns]
    lines = [
        [
            _marked(_markdown_cell(text, column), "**{}**", table, (row, place))
            for place, (text, column) in enumerate(zip(cells, table.columns, strict=True))
        ]
        for row, cells in enumerate(table.rows[:rows])
    ]
    head, *body = (f"| {' | '.join(cells)} |" for cells in (headings, *lines))
    return "\n".join([head, f"|{''.join('---:|' if column.numeric else '---|' for column in table.columns)}", *body])


def _escape(text: str) -> str:
    """Escape text for use within a line of Markdown."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", _entities(text))


def _entities(text: str) -> str:
    return escaped(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _markdown_cell(text: str, column: Column) -> str:
    """Escape a cell; the brackets and signs of numbers are not markup within a table."""
    return _entities(text) if column.numeric and "|" not in text and "*" not in text else _escape(text)


def _paragraph(text: str) -> str:
    """Escape text that starts a line, where a dash, or a number with a dot, would begin a list."""
    return _LIST.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", _escape(text))


def _marked(cell: str, bold: str, table: Table, place: Cell) -> str:
    """Return an escaped cell with its superscript; the best of a table with superscripts are bold."""
    cell = bold.format(cell) if table.raised and place in table.best else cell
    return f"{cell}<sup>{table.raised[place]}</sup>" if place in table.raised else cell


def as_html(view: View, *, full: bool = False) -> str:
    """Write a view with its details in a fold; `full` makes it a page with character set, title and style."""
    shown = f"<p><b>{_text(view.headline)}</b></p>{''.join(f'<p>{_text(sentence)}</p>' for sentence in view.sentences)}"
    shown += _html_parts(view.tables, view.first_notes)
    if folded := _html_parts(view.details, view.other_notes):
        shown += f"<details><summary>More: {_text(view.more or 'notes')}</summary>{folded}</details>"
    if not full:
        return shown
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{_text(view.headline)}</title>\n'
        f"<style>\n{_STYLE}\n</style>\n</head>\n<body>\n{shown}\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return html.escape(escaped(text))


def _html_parts(tables: Iterable[Table], notes: Sequence[str]) -> str:
    items = "".join(f"<li>{_text(note)}</li>" for note in notes)
    return "".join([*map(_html_table, tables), f"<ul>{items}</ul>" if items else ""])


def _html_table(table: Table) -> str:
    title = f"<p><b>{_text(table.title)}</b></p>" if table.title else ""
    if not table.columns:
        return title
    groups = "".join(
        f'<th colspan="{size}" style="text-align: center">{_text(group)}</th>' for group, size in column_groups(table.columns)
    )
    styles = [f'style="text-align: {"right" if column.numeric else "left"}"' for column in table.columns]
    named = zip(styles, table.columns, strict=True)
    headings = "".join(f'<th scope="col" {style}>{_text(column.title)}</th>' for style, column in named)
    rows = []
    for row, cells in enumerate(table.rows):
        marked = [_marked(_text(text), "<b>{}</b>", table, (row, place)) for place, text in enumerate(cells)]
        rows.append("".join(f"<td {style}>{cell}</td>" for style, cell in zip(styles, marked, strict=True)))
    captions = "<br/>".join(map(_text, table.captions))
    return "".join([
        f'{title}<table class="ir-outcomes">',
        f"<caption>{captions}</caption>" if captions else "",
        f"<thead>{f'<tr>{groups}</tr>' if groups else ''}<tr>{headings}</tr></thead>",
        f"<tbody>{''.join(f'<tr>{cells}</tr>' for cells in rows)}</tbody></table>",
    ])  # fmt: skip


def as_latex(
    view: View, *, caption: bool | str = False, label: str | None = None, wide: bool = False, mark: Collection[Mark] = ()
) -> str:
    """Write a ``tabular`` for each table, on request in a float, with its sentences and the notes as comments."""
    for each in mark:
        check_choice("mark", each, get_args(Mark))
    if label is not None and not _LABEL.fullmatch(label):
        raise ParameterError(f"label={label!r}: use letters, digits and - : . only, such as tab:comparison")
    in_float = caption is not False or label is not None or wide
    environment = "table*" if wide else "table"
    parts = []
    for number, table in enumerate((table for table in view.tables if table.columns), start=1):
        described = [*map(_sentence, (table.title or view.headline, *table.captions)), *_legend_of_marks(table, mark)]
        lines = _tabular(table, mark)
        if in_float:
            own = _tex(" ".join(described)) if caption is True else caption
            lines = [
                rf"\begin{{{environment}}}",
                r"\centering",
                *([rf"\caption{{{own}}}"] if own else []),
                *([rf"\label{{{label}{f'-{number}' if number > 1 else ''}}}"] if label is not None else []),
                # Eleven columns of many contenders are then 460 points wide; two columns of a page are 470 to 520.
                r"\small\setlength{\tabcolsep}{3pt}",
                *lines,
                rf"\end{{{environment}}}",
            ]
        parts.append("\n".join([*lines, *(_comments(described) if caption is not True else ())]))
    is_said = any(table.columns and not table.title for table in view.tables)  # in the place of a title
    headline = [] if is_said else [view.headline]
    return "\n\n".join([*parts, "\n".join(_comments([*headline, *view.sentences, *view.notes]))])


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _comments(texts: Iterable[str]) -> Iterator[str]:
    return (f"% {escaped(text)}" for text in texts)


def _legend_of_marks(table: Table, mark: Collection[Mark]) -> list[str]:
    """Say what the marks mean, where there are any."""
    meanings = {"best": "Bold: the best value of the column.", "significant": "Dagger: a significant difference."}
    return [meanings[each] for each in mark if (table.best if each == "best" else table.significant)]


def _tex(text: str) -> str:
    """Escape text for LaTeX."""
    return escaped(text).translate(_TEX).replace("--", "-{}-").replace("--", "-{}-")


def _tabular(table: Table, mark: Collection[Mark]) -> list[str]:
    groups, rules, first = [], [], 1
    for group, size in column_groups(table.columns):
        groups += [rf"\multicolumn{{{size}}}{{c}}{{{_tex(group)}}}"] if group else [""] * size
        rules += [rf"\cmidrule(lr){{{first}-{first + size - 1}}}"] if group else []
        first += size
    return [
        rf"\begin{{tabular}}{{{''.join('r' if column.numeric else 'l' for column in table.columns)}}}",
        r"\toprule",
        *([_tex_row(groups), "".join(rules)] if groups else []),
        _tex_row(_tex(column.title) for column in table.columns),
        r"\midrule",
        *(_tex_row(_tex_cells(table, number, mark)) for number in range(len(table.rows))),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _tex_row(cells: Iterable[str]) -> str:
    r"""Join cells; a row that starts with ``*`` or ``[`` would be read as an argument of the ``\\`` or the rule above it."""
    row = " & ".join(cells)
    return rf"{'{}' if row.startswith(('*', '[')) else ''}{row} \\"


def _tex_cells(table: Table, row: int, mark: Collection[Mark]) -> Iterator[str]:
    for place, (text, column) in enumerate(zip(table.rows[row], table.columns, strict=True)):
        is_best = ("best" in mark or bool(table.raised)) and (row, place) in table.best
        cell = _tex_number(text, bold=is_best) if column.numeric else rf"\textbf{{{_tex(text)}}}" if is_best else _tex(text)
        raised = rf"$^{{{table.raised[row, place]}}}$" if (row, place) in table.raised else ""
        dagger = r"$^{\dagger}$" if "significant" in mark and (row, place) in table.significant else ""
        yield f"{cell}{raised}{dagger}"


def _tex_number(text: str, *, bold: bool) -> str:
    """Set numbers with a true minus sign and powers of ten, which only math mode has."""
    if text == "-":
        return "--"
    if not any(found["sign"] or found["exponent"] for found in _NUMBER.finditer(text)):
        return rf"\textbf{{{_tex(text)}}}" if bold else _tex(text)
    math = _NUMBER.sub(_in_math, escaped(text)).replace("%", r"\%").replace("< 1\\times", "<").replace("< ", "<")
    return rf"$\mathbf{{{math}}}$" if bold else f"${math}$"


def _in_math(found: re.Match[str]) -> str:
    sign, mantissa, exponent = found.group("sign", "mantissa", "exponent")
    return f"{sign}{mantissa}" if exponent is None else rf"{sign}{mantissa}\times10^{{{int(exponent)}}}"


def as_csv(rows: Sequence[Mapping[str, Any]], *, spreadsheet: bool = False) -> str:
    """Write rows with a header; empty for None."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines: list[list[Any]] = [columns, *([row.get(column) for column in columns] for row in rows)]
    return "\n".join(_csv_line(map(_guarded, line) if spreadsheet else line) for line in lines)


def _csv_line(values: Iterable[Any]) -> str:
    """Write a line without its end; the writer quotes a carriage return only if it is part of the end of a line."""
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\r\n").writerow(values)
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
