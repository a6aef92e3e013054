"""Results as tables in LaTeX for ``booktabs``, with everything escaped."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from ir_outcomes.choices import Mark
from ir_outcomes.errors import ParameterError, escaped
from ir_outcomes.showing.view import Table, View, column_groups
from ir_outcomes.showing.words import sentence

_LABEL = re.compile(r"[^\\{}%#~^$&\s]+")
_NUMBER = re.compile(r"(?P<sign>[-+]?)(?P<mantissa>\d[\d.]*)(?:e(?P<exponent>[-+]?\d+))?")
_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "_": r"\_",
        "%": r"\%",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "`": r"\textasciigrave{}",
        "‡": r"$\ddagger$",
    }
)


def as_latex(
    view: View,
    *,
    caption: bool | str = False,
    label: str | None = None,
    wide: bool = False,
    mark: Collection[Mark] = (),
) -> str:
    """Write a ``tabular`` for each table, with sentences and notes as comments."""
    if label is not None and not _LABEL.fullmatch(label):
        raise ParameterError(
            "use letters, digits and - : . only, such as tab:comparison", label=label
        )
    tables = [table for table in view.printed or view.tables if table.columns]
    if not tables:  # sentences say what a single item's table would; a paper wants the table
        first = next((table for table in view.details() if table.columns), None)
        tables = [] if first is None else [first]
    parts = []
    for number, table in enumerate(tables, start=1):
        texts = [*map(sentence, (table.title or view.headline, *table.captions))]
        marks = {
            "best": (table.best, "Bold: the best value of the column."),
            "significant": (
                table.significant,
                "Dagger: significantly different from the baseline.",
            ),
        }
        legend = [
            words
            for name, (cells, words) in marks.items()
            if name in mark and any(map(any, cells.values()))
        ]
        lines = _tabular(table, mark)
        if caption is not False or label is not None or wide:
            environment = "table*" if wide else "table"
            lines = [
                rf"\begin{{{environment}}}",
                r"\centering",
                *_caption(caption, texts, legend, table.title if number > 1 else ""),
                *([rf"\label{{{label}{f'-{number}' if number > 1 else ''}}}"] if label else []),
                # Eleven columns of many contenders are then 460 points wide; two columns of a page
                # are 470 to 520.
                r"\small\setlength{\tabcolsep}{3pt}",
                *lines,
                rf"\end{{{environment}}}",
            ]
        if caption is not True:
            lines += _comments([*texts, *legend])
        parts.append("\n".join(lines))
    remarks = [*view.sentences, *view.notes]
    if all(table.title for table in tables) and not view.printed:
        remarks.insert(0, view.headline)
    return "\n\n".join([*parts, "\n".join(_comments(remarks))])


def _caption(
    caption: bool | str, texts: Sequence[str], legend: Sequence[str], title: str
) -> Iterator[str]:
    """Yield the caption of a float, where a text is taken as LaTeX."""
    if caption is True:
        yield rf"\caption{{{_tex(' '.join([*texts, *legend]))}}}"
    elif caption:
        words = [f"{caption} ({_tex(title)})" if title else caption, *map(_tex, legend)]
        yield rf"\caption{{{' '.join(words)}}}"


def _comments(texts: Iterable[str]) -> Iterator[str]:
    return (f"% {escaped(text)}" for text in texts)


def _tex(text: str) -> str:
    """Escape text for LaTeX."""
    return re.sub("-(?=-)", "-{}", escaped(text).translate(_TEX))


def _tabular(table: Table, mark: Collection[Mark]) -> list[str]:
    groups = []
    rules = []
    for group, column_number in column_groups(table.columns):
        size = column_number.stop - column_number.start
        groups += [rf"\multicolumn{{{size}}}{{c}}{{{_tex(group)}}}"] if group else [""] * size
        rules += (
            [rf"\cmidrule(lr){{{column_number.start + 1}-{column_number.stop}}}"] if group else []
        )
    sides = "".join(column.align[0] for column in table.columns)
    columns = [_tex_column(table, position, mark) for position in range(len(table.columns))]
    return [
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        *([_tex_row(groups), "".join(rules)] if groups else []),
        _tex_row(_tex(column.title) for column in table.columns),
        r"\midrule",
        *map(_tex_row, zip(*columns, strict=True)),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _tex_row(cells: Iterable[str]) -> str:
    """Join cells so that none is read as an argument of the line above."""
    row = " & ".join(cells)
    if row.startswith(("*", "[")):
        row = f"{{}}{row}"
    return rf"{row} \\"


def _tex_column(table: Table, position: int, mark: Collection[Mark]) -> Iterator[str]:
    """Yield the cells of a column, those without a dagger as wide as the others."""
    column = table.columns[position]
    best = table.best.get(column.name, ()) if "best" in mark else ()
    significant = table.significant.get(column.name, ()) if "significant" in mark else ()
    for row, texts in enumerate(table.rows):
        text = texts[position]
        is_best = bool(best and best[row])
        cell = _tex_number(text, bold=is_best) if column.numeric else _bold(_tex(text), is_best)
        if any(significant):
            dagger = r"\dagger" if significant[row] else r"\phantom{\dagger}"
            cell += f"$^{{{dagger}}}$"
        yield cell


def _bold(text: str, is_best: bool) -> str:
    return rf"\textbf{{{text}}}" if is_best else text


def _tex_number(text: str, *, bold: bool) -> str:
    """Set numbers with a true minus sign and powers of ten."""
    if text == "-":
        return "--"
    if not any(match["sign"] or match["exponent"] for match in _NUMBER.finditer(text)):
        return _bold(_tex(text), bold)
    math = (
        _NUMBER.sub(_in_math, escaped(text))
        .replace("%", r"\%")
        .replace("< 1\\times", "<")
        .replace("< ", "<")
    )
    return rf"$\mathbf{{{math}}}$" if bold else f"${math}$"


def _in_math(match: re.Match[str]) -> str:
    sign, mantissa, exponent = match.group("sign", "mantissa", "exponent")
    if exponent is None:
        return f"{sign}{mantissa}"
    return rf"{sign}{mantissa}\times10^{{{int(exponent)}}}"
