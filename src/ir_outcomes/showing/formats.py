"""Text, Markdown, HTML, LaTeX, CSV, JSON lines and data frames; everything is escaped, and the values of rows are exact."""

import csv
import html
import io
import json
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, TextIO, get_args

from rich.cells import cell_len

from ir_outcomes.errors import ParameterError, escaped, not_installed
from ir_outcomes.formatting import plural
from ir_outcomes.results import Column
from ir_outcomes.showing import Cell, Table, View, column_groups
from ir_outcomes.types import Mark, check_choice

ROWS = 20  # of each table on the first screen
LEAST_WIDTH = 8  # of a column that is folded
WIDEST_WORD = 12  # that is not divided
_WORDS = re.compile(r"\s*(?:\S*\bp [=<] \d\S*|\S+)")  # a p-value stays on one line
# Names of runs may be divided behind hyphens and underscores, measures before their cutoff:
# "RR(rel=2)@10" above "0" would be read as another measure.
_PARTS = re.compile(r"\s*(?:[^\s_-]*[_-]+|[^\s_-]+?(?=@\d)|[^\s_-]+)")
_COLOURS = {
    "bold blue": r"\bbetter (on (both facets|coverage|ranking)|over all queries)|\bpass\b",
    "bold dark_orange": r"\bworse (on (both facets|coverage|ranking)|over all queries)|\bfail\b",
    "bold": r"\btrade-off\b|\b(coverage|ranking) (gain|loss), unconfirmed\b|\binconclusive\b",
}


def as_text(
    view: View, *, details: bool = False, rows: int | None = ROWS, in_python: bool = True
) -> str:
    """Write a view; `rows` bounds the tables, None for all. How to see more is said in the words of Python or of a shell."""
    width = max(shutil.get_terminal_size((80, 24)).columns, 40)
    blocks = [
        _wrapped(view.headline, width),
        "\n".join(_wrapped(sentence, width) for sentence in view.sentences),
    ]
    blocks += [_table(table, width, rows, in_python) for table in view.tables]
    closing = [_wrapped(note, width, first="! ", rest="  ") for note in view.first_notes]
    if not details and (view.details or view.other_notes):
        ask = "to_text(details=True)" if in_python else "--details"
        closing.append(_wrapped(f"More ({view.more or 'notes'}): {ask}", width))
    blocks.append("\n".join(closing))
    if details:
        blocks += [_table(table, width, None, in_python) for table in view.details]
        blocks.append(
            "\n".join(_wrapped(note, width, first="- ", rest="  ") for note in view.other_notes)
        )
    return "\n\n".join(filter(None, blocks))


def print_text(text: str, stream: TextIO) -> None:
    """Print text, with verdicts in colour on a terminal."""
    if not stream.isatty():
        stream.write(f"{text}\n")
        return
    from rich.console import Console
    from rich.text import Text

    coloured = Text(text)
    for style, pattern in _COLOURS.items():
        coloured.highlight_regex(pattern, style)
    Console(file=stream, highlight=False, emoji=False, markup=False, soft_wrap=True).print(coloured)


def _table(table: Table, width: int, most: int | None, in_python: bool) -> str:
    lines = [_wrapped(table.title, width)] if table.title else []
    shown = table.rows[:most]
    if table.columns:
        lines += _aligned(table.columns, _with_letters(table, len(shown)), width)
    if left_out := len(table.rows) - len(shown):
        ask = "to_text(rows=None)" if in_python else f"--rows {len(table.rows)}"
        lines.append(_wrapped(f"and {plural('more row', left_out)}: {ask}", width))
    return "\n".join([*lines, *(_wrapped(caption, width) for caption in table.captions)])


def _with_letters(table: Table, n_rows: int) -> Sequence[Sequence[str]]:
    """Return the first rows with their superscripts behind the values, which stay aligned."""
    widths = {
        place: max(len(letters) for (_, at), letters in table.raised.items() if at == place)
        for _, place in table.raised
    }

    def cell(row: int, place: int, text: str) -> str:
        if place in widths:
            return f"{text} {table.raised.get((row, place), ''):<{widths[place]}}"
        return text

    return [
        [cell(row, place, text) for place, text in enumerate(table.rows[row])]
        for row in range(n_rows)
    ]


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Write the lines of a table, each column as wide as its widest cell; columns of text are folded where it is too wide."""
    heads = [[escaped(column.title) for column in columns]]
    cells = [[escaped(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*heads, *cells, strict=True)]
    groups = [(escaped(group), place) for group, place in column_groups(columns)]
    for group, place in groups:
        widths[place.start] += max(0, cell_len(group) - _width(widths[place]))
    for divided in (False, True):  # words are divided only where that is not enough
        least = [
            _least_width(column, head, [row[place] for row in cells], divided)
            for place, (column, head) in enumerate(zip(columns, heads[0], strict=True))
        ]
        while _width(widths) > width:
            wide = [place for place in range(len(columns)) if widths[place] > least[place]]
            if not wide:
                break
            widths[max(wide, key=lambda place: widths[place])] -= 1
    if groups:
        yield " ".join(_centred(group, _width(widths[place])) for group, place in groups).rstrip()
    for row in (*heads, *cells):
        placed = zip(row, widths, strict=True)
        folded = [_folded_cell(cell, size) for cell, size in placed]
        for parts in zip_longest(*folded, fillvalue=""):
            line = zip(parts, widths, columns, strict=True)
            yield " ".join(
                _padded(part, size, column.numeric) for part, size, column in line
            ).rstrip()


def _least_width(column: Column, head: str, cells: Sequence[str], divided: bool) -> int:
    """Return how far a column may be folded: numbers stay on one line, and words whole unless they are divided."""
    if column.numeric:
        return max(LEAST_WIDTH, _longest_word([head]), *map(cell_len, cells))
    return LEAST_WIDTH if divided else max(LEAST_WIDTH, _longest_word([head, *cells]))


def _longest_word(texts: Iterable[str]) -> int:
    """Return the width of the longest word that is not too long to stay whole."""
    parts = [part.strip() for text in texts for part in _PARTS.findall(text)]
    return min(max(map(cell_len, parts), default=0), WIDEST_WORD)


def _centred(cell: str, width: int) -> str:
    before = (width - cell_len(cell)) // 2
    return _padded(" " * before + cell, width, numeric=False)


def _padded(cell: str, width: int, numeric: bool) -> str:
    padding = " " * (width - cell_len(cell))  # a character can be two columns wide, or none
    return f"{padding}{cell}" if numeric else f"{cell}{padding}"


def _width(widths: Sequence[int]) -> int:
    """Return the width of columns that stand side by side."""
    return sum(widths) + len(widths) - 1


def _wrapped(text: str, width: int, *, first: str = "", rest: str = "") -> str:
    return "\n".join(_folded(_WORDS.findall(escaped(text)), width, first, rest))


def _folded_cell(cell: str, width: int) -> list[str]:
    if cell_len(cell) > width:
        return _folded(_PARTS.findall(cell), width)
    return [cell]


def _folded(words: Iterable[str], width: int, first: str = "", rest: str = "") -> list[str]:
    """Put words, with the white space before them, into lines of so many columns; a word that is longer is divided."""
    lines: list[str] = []
    line = first
    is_empty = True
    for spaced in words:
        word = spaced.lstrip()
        gap = " " if len(word) < len(spaced) and not is_empty else ""
        if cell_len(line + gap + word) <= width:
            line = line + gap + word
            is_empty = False
            continue
        if not is_empty:
            lines.append(line)
            line = rest
        while cell_len(line + word) > width:
            fitting = _fitting(word, width - cell_len(line))
            lines.append(line + word[:fitting])
            line = rest
            word = word[fitting:]
        line = line + word
        is_empty = not word
    return [*lines, line]


def _fitting(word: str, width: int) -> int:
    """Return how many characters fit, at least one."""
    size = 1
    while size < len(word) and cell_len(word[: size + 1]) <= width:
        size += 1
    return size


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
    }
)


def as_markdown(view: View, *, details: bool = False, rows: int | None = None) -> str:
    """Write a view as GitHub renders it: paragraphs, tables and lists of notes."""
    blocks = [f"**{_escape(view.headline)}**"]
    if view.sentences:
        blocks.append(_paragraph(" ".join(view.sentences)))
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
    return "\n".join(
        [
            head,
            f"|{''.join('---:|' if column.numeric else '---|' for column in table.columns)}",
            *body,
        ]
    )


def _escape(text: str) -> str:
    """Escape text for use within a line of Markdown."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", _entities(text))


def _entities(text: str) -> str:
    return html.escape(escaped(text), quote=False)


def _markdown_cell(text: str, column: Column) -> str:
    """Escape a cell; the brackets and signs of numbers are not markup within a table."""
    if column.numeric and "|" not in text and "*" not in text:
        return _entities(text)
    return _escape(text)


def _paragraph(text: str) -> str:
    """Escape text that starts a line, where a dash, or a number with a dot, would begin a list."""
    return _LIST.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", _escape(text))


def _marked(cell: str, bold: str, table: Table, place: Cell) -> str:
    """Return an escaped cell with its superscript; the best of a table with superscripts are bold."""
    if table.raised and place in table.best:
        cell = bold.format(cell)
    if place in table.raised:
        return f"{cell}<sup>{table.raised[place]}</sup>"
    return cell


def as_html(view: View, *, full: bool = False) -> str:
    """Write a view with its details in a fold; `full` makes it a page with character set, title and style."""
    shown = f"<p><b>{_text(view.headline)}</b></p>{''.join(f'<p>{_text(sentence)}</p>' for sentence in view.sentences)}"
    shown += _html_parts(view.tables, view.first_notes)
    if folded := _html_parts(view.details, view.other_notes):
        shown += (
            f"<details><summary>More: {_text(view.more or 'notes')}</summary>{folded}</details>"
        )
    if not full:
        return shown
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta'
        f' charset="utf-8">\n<title>{_text(view.headline)}</title>\n'
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
        f'<th colspan="{place.stop - place.start}" style="text-align: center">{_text(group)}</th>'
        for group, place in column_groups(table.columns)
    )
    styles = [
        f'style="text-align: {"right" if column.numeric else "left"}"' for column in table.columns
    ]
    named = zip(styles, table.columns, strict=True)
    headings = "".join(
        f'<th scope="col" {style}>{_text(column.title)}</th>' for style, column in named
    )
    rows = []
    for row, cells in enumerate(table.rows):
        marked = [
            _marked(_text(text), "<b>{}</b>", table, (row, place))
            for place, text in enumerate(cells)
        ]
        rows.append(
            "".join(f"<td {style}>{cell}</td>" for style, cell in zip(styles, marked, strict=True))
        )
    captions = "<br/>".join(map(_text, table.captions))
    return "".join(
        [
            f'{title}<table class="ir-outcomes">',
            f"<caption>{captions}</caption>" if captions else "",
            f"<thead>{f'<tr>{groups}</tr>' if groups else ''}<tr>{headings}</tr></thead>",
            f"<tbody>{''.join(f'<tr>{cells}</tr>' for cells in rows)}</tbody></table>",
        ]
    )


def as_latex(
    view: View,
    *,
    caption: bool | str = False,
    label: str | None = None,
    wide: bool = False,
    mark: Collection[Mark] = (),
) -> str:
    """Write a ``tabular`` for each table, on request in a float, with its sentences and the notes as comments."""
    for each in mark:
        check_choice("mark", each, get_args(Mark))
    if label is not None and not _LABEL.fullmatch(label):
        raise ParameterError(
            "use letters, digits and - : . only, such as tab:comparison", label=label
        )
    parts = []
    # Sentences say what a single item's table would; a paper wants the table.
    tables = [table for table in view.printed or view.tables if table.columns] or [
        table for table in view.details if table.columns
    ][:1]
    for number, table in enumerate(tables, start=1):
        described = [
            *map(_sentence, (table.title or view.headline, *table.captions)),
            *_legend_of_marks(table, mark),
        ]
        lines = _tabular(table, mark)
        own = _tex(" ".join(described)) if caption is True else caption
        if isinstance(caption, str) and number > 1 and table.title:
            own = f"{caption} ({_tex(table.title)})"
        if caption is not False or label is not None or wide:
            environment = "table*" if wide else "table"
            head = [rf"\begin{{{environment}}}", r"\centering"]
            if own:
                head.append(rf"\caption{{{own}}}")
            if label is not None:
                suffix = f"-{number}" if number > 1 else ""
                head.append(rf"\label{{{label}{suffix}}}")
            # Eleven columns of many contenders are then 460 points wide; two columns of a page are
            # 470 to 520.
            lines = [*head, r"\small\setlength{\tabcolsep}{3pt}", *lines, rf"\end{{{environment}}}"]
        parts.append("\n".join([*lines, *(_comments(described) if caption is not True else ())]))
    is_said = any(not table.title for table in tables)  # in the place of a title
    headline = [] if is_said or view.printed else [view.headline]
    return "\n\n".join([*parts, "\n".join(_comments([*headline, *view.sentences, *view.notes]))])


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _comments(texts: Iterable[str]) -> Iterator[str]:
    return (f"% {escaped(text)}" for text in texts)


def _legend_of_marks(table: Table, mark: Collection[Mark]) -> list[str]:
    """Say what the marks mean, where there are any."""
    meanings = {
        "best": "Bold: the best value of the column.",
        "significant": "Dagger: a significant difference.",
    }
    return [
        meanings[each] for each in mark if (table.best if each == "best" else table.significant)
    ]


def _tex(text: str) -> str:
    """Escape text for LaTeX."""
    return re.sub("-(?=-)", "-{}", escaped(text).translate(_TEX))


def _tabular(table: Table, mark: Collection[Mark]) -> list[str]:
    groups = []
    rules = []
    for group, place in column_groups(table.columns):
        size = place.stop - place.start
        groups += [rf"\multicolumn{{{size}}}{{c}}{{{_tex(group)}}}"] if group else [""] * size
        rules += [rf"\cmidrule(lr){{{place.start + 1}-{place.stop}}}"] if group else []
    return [
        (
            rf"\begin{{tabular}}{{{''.join('r' if column.numeric else 'l' for column in table.columns)}}}"
        ),
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
    significant = table.significant if "significant" in mark else ()
    daggers = dict.fromkeys(significant, r"\dagger")
    bold = table.best if "best" in mark or table.raised else ()
    for place, (text, column) in enumerate(zip(table.rows[row], table.columns, strict=True)):
        at = (row, place)
        is_best = at in bold
        words = rf"\textbf{{{_tex(text)}}}" if is_best else _tex(text)
        cell = _tex_number(text, bold=is_best) if column.numeric else words
        yield f"{cell}{_superscript(table.raised, at)}{_superscript(daggers, at)}"


def _superscript(marks: Mapping[Cell, str], at: Cell) -> str:
    """Return the mark of a cell, and the space that a longer one of its column takes, so that numbers stay aligned."""
    own = marks.get(at, "")
    of_column = [mark for (_, place), mark in marks.items() if place == at[1]]
    rest = max(of_column, key=len, default="")[len(own) :]
    shown = rf"$^{{{own}}}$" if own else ""
    return shown + (rf"$^{{\phantom{{{rest}}}}}$" if rest else "")


def _tex_number(text: str, *, bold: bool) -> str:
    """Set numbers with a true minus sign and powers of ten, which only math mode has."""
    if text == "-":
        return "--"
    if not any(found["sign"] or found["exponent"] for found in _NUMBER.finditer(text)):
        return rf"\textbf{{{_tex(text)}}}" if bold else _tex(text)
    math = (
        _NUMBER.sub(_in_math, escaped(text))
        .replace("%", r"\%")
        .replace("< 1\\times", "<")
        .replace("< ", "<")
    )
    return rf"$\mathbf{{{math}}}$" if bold else f"${math}$"


def _in_math(found: re.Match[str]) -> str:
    sign, mantissa, exponent = found.group("sign", "mantissa", "exponent")
    if exponent is None:
        return f"{sign}{mantissa}"
    return rf"{sign}{mantissa}\times10^{{{int(exponent)}}}"


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows with a header; empty for None. Names are as they are, also where a spreadsheet would compute them."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines: list[list[Any]] = [columns, *([row.get(column) for column in columns] for row in rows)]
    return "\n".join(map(_csv_line, lines))


def _csv_line(values: Iterable[Any]) -> str:
    """Write a line without its end; the writer quotes a carriage return only if it is part of the end of a line."""
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\r\n").writerow(values)
    return stream.getvalue().removesuffix("\r\n")


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
