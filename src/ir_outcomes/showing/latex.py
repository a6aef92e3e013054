r"""LaTeX: a ``tabular`` for each table, ruled with booktabs, and on request a float around it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import get_args

from ir_outcomes.columns import Column
from ir_outcomes.errors import ParameterError, escaped
from ir_outcomes.showing.view import Cell, Table, View, column_groups
from ir_outcomes.types import Mark, check_choice

__all__ = ["tex", "write"]

_NOT_IN_LABELS = re.compile(r"[\\{}%#~^$&\s]")
_NUMBER = re.compile(r"(?P<sign>[-+]?)(?P<mantissa>\d[\d.]*)(?:e(?P<exponent>[-+]?\d+))?")
_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
}  # fmt: skip


def write(
    view: View,
    *,
    caption: bool | str = False,
    label: str | None = None,
    wide: bool = False,
    mark: Collection[Mark] = (),
) -> str:
    """Write the tables of a view, each with its sentences as comments, and the notes as comments at the end."""
    for each in mark:
        check_choice("mark", each, get_args(Mark))
    if label is not None and (not label or _NOT_IN_LABELS.search(label)):
        raise ParameterError(f"label={label!r}: use letters, digits and - : . only, such as tab:comparison")
    in_float = caption is not False or label is not None or wide
    parts = []
    for number, table in enumerate((table for table in view.tables if table.columns), start=1):
        tabular = _tabular(table, mark)
        described = [_sentence(table.title or view.headline), *map(_sentence, table.captions), *_legend(table, mark)]
        if in_float:
            suffix = f"-{number}" if number > 1 else ""
            own = tex(" ".join(described)) if caption is True else caption or ""
            tabular = _float(tabular, own, None if label is None else f"{label}{suffix}", wide=wide)
        parts.append("\n".join([*tabular, *(map(_comment, described) if caption is not True else ())]))
    closing = [_comment(text) for text in (view.headline, *view.sentences, *view.notes)]
    return "\n\n".join([*parts, "\n".join(closing)])


def tex(text: str) -> str:
    """Escape text for LaTeX."""
    visible = escaped(text)
    return "".join(_TEX.get(character, character) for character in visible).replace("--", "-{}-").replace("--", "-{}-")


def _tabular(table: Table, mark: Collection[Mark]) -> list[str]:
    alignment = "".join("r" if column.numeric else "l" for column in table.columns)
    return [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        *_groups(table.columns),
        _row(tex(column.title) for column in table.columns),
        r"\midrule",
        *(_row(_cells(table, number, mark)) for number in range(len(table.rows))),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _groups(columns: tuple[Column, ...]) -> Iterator[str]:
    r"""Write the headings over several columns, with a rule below each."""
    groups = column_groups(columns)
    if not groups:
        return
    cells, rules, first = [], [], 1
    for group, size in groups:
        if group:
            cells.append(rf"\multicolumn{{{size}}}{{c}}{{{tex(group)}}}")
            rules.append(rf"\cmidrule(lr){{{first}-{first + size - 1}}}")
        else:
            cells += [""] * size
        first += size
    yield _row(cells)
    yield "".join(rules)


def _cells(table: Table, row: int, mark: Collection[Mark]) -> Iterator[str]:
    for number, (text, column) in enumerate(zip(table.rows[row], table.columns, strict=True)):
        is_best = ("best" in mark or bool(table.raised)) and (row, number) in table.best
        cell = _numeric(text, bold=is_best) if column.numeric else tex(text)
        if is_best and not column.numeric:
            cell = rf"\textbf{{{cell}}}"
        if letters := table.raised.get((row, number)):
            cell = f"{cell}$^{{{letters}}}$"
        yield rf"{cell}$^{{\dagger}}$" if "significant" in mark and (row, number) in table.significant else cell


def _numeric(text: str, *, bold: bool) -> str:
    """Set numbers with a true minus sign and powers of ten, which only math mode has."""
    if text == "-":
        return "--"
    if not any(found["sign"] or found["exponent"] for found in _NUMBER.finditer(text)):
        return rf"\textbf{{{tex(text)}}}" if bold else tex(text)
    math = _NUMBER.sub(_in_math, escaped(text)).replace("%", r"\%").replace("< 1\\times", "<").replace("< ", "<")
    return rf"$\mathbf{{{math}}}$" if bold else f"${math}$"


def _in_math(found: re.Match[str]) -> str:
    sign, mantissa, exponent = found.group("sign", "mantissa", "exponent")
    return f"{sign}{mantissa}" if exponent is None else rf"{sign}{mantissa}\times10^{{{int(exponent)}}}"


def _row(cells: Iterable[str]) -> str:
    r"""Join cells; a row that starts with ``*`` or ``[`` would be read as an argument of the ``\\`` or the rule above it."""
    row = " & ".join(cells)
    return rf"{'{}' if row.startswith(('*', '[')) else ''}{row} \\"


# Eleven columns of many contenders are then 460 points wide; two columns of a page are 470 to 520.
_FITTING = r"\small\setlength{\tabcolsep}{3pt}"


def _float(tabular: list[str], caption: str, label: str | None, *, wide: bool) -> list[str]:
    environment = "table*" if wide else "table"
    return [
        rf"\begin{{{environment}}}",
        r"\centering",
        *([rf"\caption{{{caption}}}"] if caption else []),
        *([rf"\label{{{label}}}"] if label is not None else []),
        _FITTING,
        *tabular,
        rf"\end{{{environment}}}",
    ]


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _legend(table: Table, mark: Collection[Mark]) -> list[str]:
    """Say what the marks mean, where there are any."""
    meanings = {"best": "Bold: the best value of the column.", "significant": "Dagger: a significant difference."}
    cells: dict[Mark, frozenset[Cell]] = {"best": table.best, "significant": table.significant}
    return [meanings[each] for each in mark if cells[each]]


def _comment(text: str) -> str:
    return f"% {escaped(text)}"
