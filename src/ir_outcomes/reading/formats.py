"""The one reader of runs and qrels, which recognizes files by their content.

Parquet is recognized by its first bytes; JSON by a brace or bracket, and then by its keys; a table
with a header by the names of its columns; other lines by the number of their columns.
"""

import io
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any, get_args

import numpy as np

from ir_outcomes.choices import RunBy
from ir_outcomes.errors import (
    EmptyInput,
    FormatError,
    InputError,
    MissingDependency,
    UnreadableFile,
)
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import Columns
from ir_outcomes.reading.files import (
    BOM,
    LONGEST_LINE,
    LONGEST_RECORD,
    STDIN,
    Block,
    blocks_of,
    check_bytes,
    json_lines,
    nonblank,
    parsed_json,
    pieces,
    refuse_bomb,
)
from ir_outcomes.reading.forms import (
    DOCUMENT_NAMES,
    GRADE_NAMES,
    QUERY_NAMES,
    RUN,
    SWAPPED,
    VALUE_NAMES,
    Kind,
    Layout,
    normal,
)
from ir_outcomes.reading.lines import (
    COLUMN_REMEDY,
    cells_of,
    fields_of,
    joined,
    number_in,
    part_of,
    shown,
)
from ir_outcomes.reading.measure_names import is_measure_name
from ir_outcomes.reading.objects import columns_of, columns_of_records, is_nested

VALUES_REMEDY = "compare values of queries with compare-outputs (in Python compare_outputs)"
_TREC = "query_id Q0 doc_id rank score tag"
_SHORT_LINES = "Lines without Q0 or a tag are read where the ranks of each query are 1, 2, 3 ... or 0, 1, 2 ..."
MEANS_REMEDY = "means do not say how many queries changed, so give the run that they are about"
_NAMES = {*QUERY_NAMES, *DOCUMENT_NAMES, *VALUE_NAMES, *GRADE_NAMES}
_JSON = re.compile(rb"\s*(\{\s*(\"|\}|$)|\[)")
_SEPARATORS = ("\t", ",", ";")
_LINES_LOOKED_AT = 50
_PARQUET = (  # and the first field of a page or of the footer; an id can begin with PAR1 too
    b"PAR1\x15"
)
_LEAST_ROW = 16  # bytes that a row of Parquet takes as text, at least


def read_any_file(source: str, kind: Kind) -> Columns:
    """Return the content of a file."""
    with closing(pieces(source)) as opened:
        lines, head = _first_lines(opened)
        first = lines[0][1] if lines else b""
        content = chain([head], opened)
        if first.startswith(_PARQUET):
            table = _parquet_table(b"".join(content), kind, source)
            columns = replace(columns_of(table, source, kind), form="Parquet")
        elif _is_json(first, kind):
            columns = replace(_read_json(first, content, kind, source), form="JSON")
        elif lines:
            columns = _read_lines(lines, content, kind, source)
    if not lines or not len(columns.codes):
        name = "standard input" if source == STDIN else source
        raise EmptyInput(name, "is empty; nothing can be evaluated from it")
    kind.refuse_swapped(columns)
    return columns


def path_and_order(source: str | os.PathLike[str]) -> tuple[str, RunBy | None]:
    """Return the path of a file, and what ``#score`` or ``#rank`` behind it says."""
    path = os.fspath(source)
    file, _, order = path.rpartition("#")
    for by in get_args(RunBy):
        if order == by and not os.path.exists(path) and os.path.isfile(file):
            return file, by
    return path, None


def seems_to_be_a_run(path: str) -> bool:
    """Return whether a file could be a run, by its first lines.

    Half of them must fit, so that the error of a bad line is raised and the file not left out.
    """
    with closing(pieces(path)) as opened:
        lines = [line for _, line in _first_lines(opened)[0]]
    if not lines or lines[0].startswith(_PARQUET) or _is_json(lines[0], RUN):
        return True  # an empty file is a run without results
    _, names = _header(lines[0])
    if _is_header(names):
        return not {*map(normal, names)}.isdisjoint(VALUE_NAMES)
    layouts = _layouts(lines, RUN)
    fitting = sum(any(_fits(line, layout) for layout in layouts) for line in lines)
    return 2 * fitting >= len(lines) and not _are_measures(lines)


def _first_lines(opened: Iterator[bytes]) -> tuple[list[tuple[int, bytes]], bytes]:
    """Return the first lines that are not blank, numbered, and all that was read."""
    head = b""
    for piece in opened:
        head += piece
        if len(head) > LONGEST_LINE or b"\n" in head.removeprefix(BOM).lstrip():
            break
    # The head can be a million lines, of which only the first are split off.
    lines = list(islice(nonblank(Block(1, head.removeprefix(BOM))), _LINES_LOOKED_AT + 1))
    # The last may be cut off where the head ends.
    if 1 < len(lines) <= _LINES_LOOKED_AT and not head.endswith(b"\n"):
        lines.pop()
    return lines[:_LINES_LOOKED_AT], head


# --- Parquet and JSON


def _parquet_table(data: bytes, kind: Kind, source: str) -> Any:
    """Return the columns of query, document and value, as a table of Arrow."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingDependency(
            f"{source}: reading a Parquet file needs the package pyarrow: pip install pyarrow"
        ) from None
    try:
        file = ParquetFile(io.BytesIO(data))
        *titles, _ = kind.titles(file.schema_arrow.names, source)
        refuse_bomb(source, file.metadata.num_rows * _LEAST_ROW, len(data))
        return file.read(list(filter(None, titles)))
    except InputError:
        raise
    except (ArrowException, OSError) as error:
        raise UnreadableFile(
            f"{source}: is not a valid Parquet file ({error}); fetch or write it again"
        ) from None


def _is_json(line: bytes, kind: Kind) -> bool:
    """Return whether content is JSON, and not lines that begin with a bracket."""
    return bool(_JSON.match(line)) and not any(_fits(line, layout) for layout in kind.layouts)


def _read_json(first_line: bytes, content: Iterable[bytes], kind: Kind, source: str) -> Columns:
    """Read JSON lines, of which the first is an object by itself, or a JSON document."""
    first = None
    with suppress(FormatError):
        first = parsed_json(first_line.decode("utf-8", "replace"), source, 1)
    if isinstance(first, dict) and not is_nested(first, kind):
        return joined(partial(_json_lines, kind, source), content, source)
    data = b"".join(content).removeprefix(BOM)
    check_bytes(Block(1, data), source)
    document = parsed_json(data.decode(), source, 1)
    if isinstance(document, dict) and is_nested(document, kind):
        return columns_of(document, source, kind)
    records = document if isinstance(document, list) else [document]
    return columns_of_records(records, source, kind)


def _json_lines(kind: Kind, source: str, content: Iterable[bytes]) -> Iterator[Columns]:
    first = None
    for block in blocks_of(content, source, LONGEST_RECORD):
        records, numbers = json_lines(block, source)
        if records:
            first = first or records[0]
            yield columns_of_records(records, source, kind, numbers, first)


# --- lines with a header or without


def _header(line: bytes) -> tuple[str | None, list[str]]:
    """Return the separator of a header, None for white space, and its names."""
    text = line.decode("utf-8", "replace")
    separator = next((sign for sign in _SEPARATORS if sign in text), None)
    return separator, [name.strip().strip("\"'") for name in text.split(separator)]


def _is_header(names: Iterable[str]) -> bool:
    """Return whether fields are names of columns: at least two of them are."""
    return len(_NAMES.intersection(map(normal, names))) >= 2


def _fits(line: bytes, layout: Layout) -> bool:
    """Return whether a line has the columns of a layout, and a value in its column."""
    fields = fields_of(line, layout)
    value = number_in(fields[layout.value]) if len(fields) == layout.columns else None
    return value is not None and (layout.value_name == "score" or value.is_integer())


def _layouts(lines: list[bytes], kind: Kind) -> list[Layout]:
    """Return the layouts of a kind, some of them only where the ranks are plain."""
    return [
        layout
        for layout in kind.layouts
        if layout.columns in (3, 6) or not kind.is_run or _has_ranks(lines, layout)
    ]


def _has_ranks(lines: list[bytes], layout: Layout) -> bool:
    """Return whether lines have the ranks and the Q0 of a layout."""
    rows = [fields_of(line, layout) for line in lines]
    has_q0 = all(row[1:2] in ([b"0"], [b"Q0"]) for row in rows)
    if len(rows[0]) != layout.columns or has_q0 != (layout.document == 2):
        return False
    fitting = b"".join(line for line in lines if _fits(line, layout))
    with suppress(FormatError):  # which the reader of the whole file raises, with its line
        return not fitting or _wrong_rank(part_of(Block(1, fitting), layout, "")) is None
    return True


def _wrong_rank(columns: Columns) -> int | None:
    """Return the first row whose rank is not the next of its query, from 0 or 1 on."""
    rows = np.argsort(columns.codes, kind="stable")
    ranks = (columns.values if columns.ranks is None else columns.ranks)[rows]
    first = columns.offsets[columns.codes[rows]]
    wrong = rows[ranks != np.arange(len(rows)) - first + (ranks[first] == 1)]
    return int(wrong.min()) if len(wrong) else None


def _read_lines(
    numbered: list[tuple[int, bytes]], content: Iterable[bytes], kind: Kind, source: str
) -> Columns:
    """Read lines: a table with a header, or a layout by the number of columns."""
    lines = [line for _, line in numbered]
    number = numbered[0][0]
    layouts = _layouts(lines, kind)
    layout = next((layout for layout in layouts if _fits(lines[0], layout)), None)
    if layout is None:
        separator, names = _header(lines[0])
        if _is_header(names):
            return _read_table(numbered[0], content, separator, kind, source)
        n_columns = len(lines[0].split())  # a value of the first line may be wrong
        layout = next((layout for layout in layouts if layout.columns == n_columns), None)
    if layout is None:
        check_bytes(Block(number, lines[0]), source)
        problem = _misfit(lines, kind, source)
        raise FormatError(source, problem, line=number, text=shown(lines[0].split()))
    if layout.columns == 3 and _are_measures(lines[:5]):
        raise FormatError(
            source,
            f"has values of measures, as trec_eval and ir_measures write them, and is not {kind.name};"
            f" {VALUES_REMEDY}; {MEANS_REMEDY}",
            line=number,
            text=shown(lines[0].split()),
        )
    return _read_layout(content, layout, kind, source)


def _read_layout(content: Iterable[bytes], layout: Layout, kind: Kind, source: str) -> Columns:
    """Read lines of one layout, and refuse what happens to have its columns."""
    columns = joined(partial(_parts, kind.ordered_by(layout), 0, source), content, source)
    if "#" in columns.query_ids:  # a comment can happen to have the right number of words
        row = int(np.argmax(columns.codes == columns.query_ids.index("#")))
        raise columns.error(row, "is a comment; remove comment lines")
    if layout.columns == 3:
        columns = columns if kind.by else _ranks_or_values(columns, kind)
        return replace(columns, form="three columns")
    wrong = _wrong_rank(columns) if kind.is_run and layout.columns != 6 else None
    if wrong is not None:
        problem = f"{columns.described(wrong)}: the rank is not the next of its query"
        raise columns.error(wrong, f"{problem}; write {_TREC}. {_SHORT_LINES}")
    return replace(columns, form="TREC")


def _read_table(
    header: tuple[int, bytes],
    content: Iterable[bytes],
    separator: str | None,
    kind: Kind,
    source: str,
) -> Columns:
    """Read a table by the names of its columns."""
    number, line = header
    check_bytes(Block(number, line), source)
    _, names = _header(line)
    if separator is not None:
        _, names = next(cells_of([(number, line.decode())], separator, source))
    titles = kind.titles(names, source, number)
    query, document, value = (names.index(str(title)) for title in titles[:3])
    rank = None if titles.rank is None else names.index(titles.rank)
    layout = Layout(len(names), query, document, value, titles.value_name, rank, separator)
    columns = joined(partial(_parts, layout, number, source), content, source)
    return replace(columns, titles=titles, form="columns")


def _parts(layout: Layout, header: int, source: str, content: Iterable[bytes]) -> Iterator[Columns]:
    """Read blocks of lines or rows, below the line of a header."""
    blocks = _below(header, blocks_of(content, source))
    if layout.separator is not None:
        blocks = _whole_rows(blocks)
    for block in blocks:
        if not block.data.isspace():
            yield part_of(block, layout, source)


def _below(header: int, blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks of the lines below the header, all of them for 0."""
    for first, data in blocks:
        while data and first <= header:
            data = data.partition(b"\n")[2]
            first += 1
        if data:
            yield Block(first, data)


def _whole_rows(blocks: Iterable[Block]) -> Iterator[Block]:
    """Join blocks between which there is a cell in quotes."""
    joined: list[Block] = []
    n_quotes = 0
    for block in blocks:
        joined.append(block)
        n_quotes += block.data.count(b'"')
        if n_quotes % 2 == 0:
            yield Block(joined[0].first_line, b"".join(part.data for part in joined))
            joined = []
    if joined:
        yield Block(joined[0].first_line, b"".join(part.data for part in joined))


def _misfit(lines: list[bytes], kind: Kind, source: str) -> str:
    """Say what is wrong with lines that have the columns of nothing that is read."""
    line = lines[0]
    n_fields = len(line.split())
    expected = " or ".join(str(layout.columns) for layout in kind.layouts[:2])
    problem = f"has {plural('column', n_fields)}, expected {expected}"
    separator = next((sign for sign in ";,|" if line.count(sign.encode()) >= 2), None)
    if b"\r" in line.strip():
        return (
            "has the line ends of old Macs, so that the file is one line; convert it:"
            f" tr '\\r' '\\n' < {shlex.quote(source)} > new"
        )
    if separator is not None and n_fields == 1:
        if any(map(is_measure_name, _header(line)[1])):
            return f"has values of measures, and is not {kind.name}; {VALUES_REMEDY}"
        return (
            f"is separated by {separator!r}, and its first line does not name the columns of"
            f" {kind.name}; write one that does, such as"
            f" {separator.join(('query_id', 'doc_id', kind.values[0]))}"
        )
    if any(_fits(line, layout) and layout.columns > 3 for layout in _layouts(lines, kind.other)):
        return f"{problem}; these look like the columns of {kind.other.name}: {SWAPPED}"
    if n_fields == 2 and is_measure_name(line.split()[0].decode("utf-8", "replace")):
        return f"has means of measures, and is not {kind.name}; {MEANS_REMEDY}"
    if n_fields == 2 and not kind.is_run:
        return (
            f"{problem}: the grade is missing; write query_id, 0, doc_id and a relevance of 1, or a"
            " header that names query_id, doc_id and relevance"
        )
    if n_fields in (4, 5) and kind.is_run:
        return (
            f"{problem}; those of TREC are {_TREC}. {_SHORT_LINES}; or write a header that names"
            " query_id, doc_id and score"
        )
    return problem + COLUMN_REMEDY


def _are_measures(lines: list[bytes]) -> bool:
    """Return whether one of three columns names measures, as trec_eval writes them."""
    rows = [line.decode("utf-8", "replace").split() for line in lines]
    return any(
        all(len(row) == 3 and is_measure_name(row[column]) for row in rows) for column in (0, 1)
    )


def _ranks_or_values(columns: Columns, kind: Kind) -> Columns:
    """Decide once for all lines whether the third of three columns holds ranks."""
    values = columns.values
    are_ranks = _wrong_rank(columns) is None and values.min(initial=1) == 1
    if not kind.is_run:
        if are_ranks and len(values) > len(columns.query_ids):
            raise FormatError(
                columns.source,
                "has three columns, and the third holds 1, 2, 3 ... in each query, like the ranks"
                f" of a run: {SWAPPED} Grades are read from four columns (query_id 0 doc_id grade)",
            )
        return columns
    if are_ranks:
        return replace(columns, value_name="rank")
    if np.any(values < 0) or np.any(values != np.floor(values)):
        return columns
    raise FormatError(
        columns.source,
        "has three columns, and it cannot be told whether the third has ranks or scores; say it as"
        " FILE#rank or FILE#score",
    )
