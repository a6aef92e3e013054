"""The one reader of runs and qrels: files are recognized by their content, not by their names.

Parquet is recognized by its first bytes; JSON by a brace or bracket, and then by its keys; a table
with a header by the names of its columns; other lines by the number of their columns.
"""

import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from ir_outcomes.errors import (
    EmptyInput,
    FormatError,
    InputError,
    MissingDependency,
    UnreadableFile,
)
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import Columns, grouped
from ir_outcomes.reading.files import (
    BOM,
    LONGEST_LINE,
    Block,
    blocks_of,
    check_bytes,
    decompressed,
    nonblank,
    pieces,
    refuse_bomb,
)
from ir_outcomes.reading.forms import FORMS, QRELS, RUN, Kind, Layout, other
from ir_outcomes.reading.measure_names import is_measure_name
from ir_outcomes.reading.objects import columns_of
from ir_outcomes.reading.records import FileContent, Texts, read_json
from ir_outcomes.reading.text import COLUMN_REMEDY, from_line, number_in, read_lines, shown
from ir_outcomes.types import RunBy

_KNOWN_NAMES = {
    name for form in FORMS if not form.items for name in (*form.query, *form.document, *form.value)
}
_JSON = re.compile(rb"\s*(\{\s*(\"|\}|$)|\[)")
_METADATA_START, _METADATA_END = b"# ir_metadata.start", b"# ir_metadata.end"
_SEPARATORS = (b"\t", b",", b";")
_LINES_LOOKED_AT = 50
# The columns of a layout, and what the third one is.
_OF_THREE: dict[str | None, RunBy] = {
    "msmarco": "rank",
    "tevatron": "score",
}
_PARQUET = (  # and the first field of a page or of the footer; an id can begin with PAR1 too
    b"PAR1\x15"
)
_LZ4 = b"\x04\x22\x4d\x18"  # once more in decompressed content
_LEAST_ROW = 16  # bytes that a row of Parquet takes as text, at least


def read_any_file(path: str | os.PathLike[str], kind: Kind) -> FileContent:
    """Return the content of a file; ``path#name`` says its form, or the subset and split of predictions of MTEB."""
    source, selection = path_and_selection(os.fspath(path))
    kind = kind._replace(selection=selection, by=kind.by or _OF_THREE.get(selection))
    with closing(pieces(source)) as opened:
        (first, *_), content = _first_lines(opened)
        if first.startswith(_PARQUET):
            found = FileContent(
                columns_of(_parquet_table(b"".join(content), kind, source), source, kind), "Parquet"
            )
        elif first.startswith(_LZ4):
            found = FileContent(
                columns_of(_nested_in_lz4(b"".join(content), source), source, kind), "ranx"
            )
        elif _is_json(first, kind):
            found = read_json(first, content, kind, source)
        else:
            found = _read_lines(content, kind, source)
    names = [form.name for form in kind.forms]
    if selection is not None and found.name is None and selection not in names:
        problem = (
            f"#{selection} in its path says neither its form ({', '.join(names)}) nor, of"
            " predictions of MTEB, a split"
        )
        raise FormatError(source, problem)
    if not len(found.columns.codes):
        raise EmptyInput(source, "is empty; nothing can be evaluated from it")
    return found


def texts_in(path: str | os.PathLike[str]) -> Texts:
    """Return the texts that come along in a file of a run or of qrels; none where it is neither."""
    for kind in (RUN, QRELS):
        with suppress(InputError):
            return read_any_file(path, kind).texts
    return Texts({}, {})


def path_and_selection(path: str) -> tuple[str, str | None]:
    """Return the path of a file and what follows its ``#``, None where there is none."""
    file, sign, selection = path.rpartition("#")
    if sign and not os.path.exists(path) and os.path.isfile(file):
        return file, selection
    return path, None


def seems_to_be_a_run(path: str) -> bool:
    """Return whether a file could be a run, by its first lines: half of them fit, so that the error of a bad line is raised."""
    with closing(pieces(path)) as opened:
        lines, _ = _first_lines(opened)
    if lines[0].startswith((_PARQUET, _LZ4, _METADATA_START)) or _is_json(lines[0], RUN):
        return True
    _, names = _names_of(lines[0])
    if _is_header(names):
        return any(name in names for form in RUN.forms for name in form.value)
    # The output of trec_eval has three columns too.
    names_measure = any(
        is_measure_name(field.decode("utf-8", "replace")) for field in lines[0].split()[:2]
    )
    layouts = [layout for layout in RUN.layouts if layout.columns != 3 or not names_measure]
    return 2 * sum(any(_fits(line, layout) for layout in layouts) for line in lines) >= len(lines)


def _first_lines(opened: Iterator[bytes]) -> tuple[list[bytes], Iterator[bytes]]:
    """Return the first lines that are not blank, and the whole content."""
    head = b""
    for piece in opened:
        head += piece
        if len(head) > LONGEST_LINE or b"\n" in head.removeprefix(BOM).lstrip():
            break
    # The head can be a million lines, of which only the first are split off.
    not_blank = (
        line.removesuffix(b"\n") for line in io.BytesIO(head.removeprefix(BOM)) if line.strip()
    )
    lines = list(islice(not_blank, _LINES_LOOKED_AT + 1))
    # The last may be cut off where the head ends.
    if 1 < len(lines) <= _LINES_LOOKED_AT and not head.endswith(b"\n"):
        lines.pop()
    return lines[:_LINES_LOOKED_AT] or [b""], chain([head], opened)


def _is_json(line: bytes, kind: Kind) -> bool:
    """Return whether content is JSON by its first line, and not lines with an id that begins with a brace or bracket."""
    return bool(_JSON.match(line)) and not any(_fits(line, layout) for layout in kind.layouts)


def _fits(line: bytes, layout: Layout) -> bool:
    """Return whether a line has the columns of a layout, and its value where it belongs."""
    fields = line.split()
    value = number_in(fields[layout.value]) if len(fields) == layout.columns else None
    return value is not None and (layout.value_name == "score" or value.is_integer())


# --- tables: Parquet, and lines with a header or without


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
        *names, _ = kind.named(file.schema_arrow.names, source)
        refuse_bomb(source, file.metadata.num_rows * _LEAST_ROW, len(data))
        return file.read(names)
    except InputError:
        raise
    except (ArrowException, OSError) as error:
        raise UnreadableFile(
            f"{source}: is not a valid Parquet file ({error}); fetch or write it again"
        ) from None


def _nested_in_lz4(data: bytes, source: str) -> dict[Any, Any]:
    """Return the run that ranx writes into ``.lz4`` files: CBOR, compressed twice."""
    try:
        from cbor2 import loads
    except ImportError:
        raise MissingDependency(
            f"{source}: reading a run of ranx in lz4 needs the package cbor2: pip install cbor2"
        ) from None
    try:
        packed = io.BytesIO()
        for piece in decompressed(io.BufferedReader(io.BytesIO(data))):
            packed.write(piece)
            refuse_bomb(source, packed.tell(), len(data))
        document = loads(packed.getvalue())
    except InputError:
        raise
    except Exception as error:  # each decoder raises its own
        raise FormatError(
            source, f"is lz4 within lz4, but not a run of ranx ({error}); write it again"
        ) from None
    if not isinstance(document, dict):
        raise FormatError(
            source,
            f"is lz4 within lz4 with a {type(document).__name__}, and not a run of ranx; write it"
            " again",
        )
    return document


def _is_header(names: Iterable[str]) -> bool:
    """Return whether the fields of a line are names of columns: at least two of them are known names."""
    return len(_KNOWN_NAMES.intersection(names)) >= 2


def _names_of(line: bytes) -> tuple[bytes | None, list[str]]:
    """Return the separator of a header, None for white space, and its names."""
    separator = next((sign for sign in _SEPARATORS if sign in line), None)
    return separator, [
        name.strip().strip(b"\"'").decode("utf-8", "replace").lower()
        for name in line.split(separator)
    ]


def _read_lines(content: Iterable[bytes], kind: Kind, source: str) -> FileContent:
    """Return the content of lines: a table with a header, or a layout by the number of columns."""
    metadata, first, blocks = _without_metadata(blocks_of(content, source), kind, source)
    number, line = next(nonblank(first))
    separator, names = _names_of(line)
    layout = next((layout for layout in kind.layouts if layout.columns == len(line.split())), None)
    if _is_header(names) and not (layout and _fits(line, layout)):
        check_bytes(Block(number, line), source)
        *parts, value_name = kind.named(names, source, number)
        query, document, value = map(names.index, parts)
        layout = Layout(len(names), query, document, value, value_name, separator)
        columns = read_lines(blocks, layout, source, number + 1)
        kind.refuse_swapped(columns, parts)
        return FileContent(columns, "columns", metadata=metadata)
    if layout is None:
        check_bytes(first, source)
        fields = line.split()
        problem = (
            f"has {plural('column', len(fields))}, expected"
            f" {' or '.join(str(own.columns) for own in kind.layouts)}"
        )
        if any(_fits(line, foreign) for foreign in other(kind).layouts if foreign.columns > 3):
            problem += (
                f"; these look like the columns of {other(kind).called}: were the arguments"
                " swapped?"
            )
        else:
            problem += COLUMN_REMEDY
        raise FormatError(source, problem, line=number, text=shown(fields))
    if layout.columns == 3 and _are_values(first):
        problem = (
            "has values of measures for queries, as trec_eval -q and ir_measures -q write them, and"
            " is not a run; compare such files with compare-outputs (in Python compare_outputs), or"
            " give the run that they are about"
        )
        raise FormatError(source, problem, line=number, text=shown(line.split()))
    columns = read_lines(blocks, layout, source, number)
    if layout.columns == 3 and kind.by is None:
        columns = _ranks_or_scores(columns)
    form = "three columns" if layout.columns == 3 else "TREC"
    return FileContent(columns, form, metadata=metadata)


def _are_values(first: Block) -> bool:
    """Return whether the first lines name measures, before the query or behind it."""
    lines = [line.decode("utf-8", "replace").split() for _, line in islice(nonblank(first), 5)]
    return any(all(is_measure_name(line[place]) for line in lines) for place in (0, 1))


def _without_metadata(
    blocks: Iterator[Block], kind: Kind, source: str
) -> tuple[str, Block, Iterator[Block]]:
    """Return the ir_metadata header of a run (Breuer et al., SIGIR 2022), and the first and all blocks behind it."""
    first, blocks = _first_block(blocks, source)
    if kind.what != "run" or not first.data.lstrip().startswith(_METADATA_START):
        return "", first, blocks
    check_bytes(first, source)
    texts: list[str] = []
    for number, line in nonblank(first):
        if line.strip() == _METADATA_END:
            return "\n".join(texts[1:]), *_first_block(from_line(blocks, number + 1), source)
        if not line.startswith(b"#"):
            break
        texts.append(line.decode().rstrip()[1:].removeprefix(" "))
    problem = "the ir_metadata header must be comment lines and end with '# ir_metadata.end'"
    raise FormatError(source, problem, line=number, text=shown([line.strip()]))


def _first_block(blocks: Iterator[Block], source: str) -> tuple[Block, Iterator[Block]]:
    """Return the first block with a line that is not blank, and the blocks from it on."""
    for block in blocks:
        if block.data and not block.data.isspace():
            return block, chain([block], blocks)
    raise EmptyInput(source, "is empty; nothing can be evaluated from it")


def _ranks_or_scores(columns: Columns) -> Columns:
    """Decide once for all lines whether the third of three columns holds ranks, as MS MARCO writes them, or scores."""
    offsets, _, values = grouped(columns)
    # Ranks are 1 to n in each query.
    before = np.repeat(offsets[:-1], np.diff(offsets))
    counted = np.arange(1, len(values) + 1) - before
    if np.array_equal(values, counted):
        return replace(columns, value_name="rank")
    if np.any(values < 0) or np.any(values != np.floor(values)):
        return columns
    raise FormatError(
        columns.source,
        "has three columns, and it cannot be told whether the third has ranks or scores; say it as"
        " FILE#rank or FILE#score",
    )
