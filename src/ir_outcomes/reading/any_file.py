"""A file of a run or of qrels, in any form that users have: the form is recognized by the content, not by the name.

===================  =======================================================================================
form                 recognized by
===================  =======================================================================================
Parquet              the first four bytes
JSON, JSON lines     a brace or bracket at the beginning (`ir_outcomes.reading.json_files`)
CSV, TSV             a first line with at least two known names of columns (`ir_outcomes.reading.layouts`)
TREC, MS MARCO       the number of columns of the first line
===================  =======================================================================================
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain

from ir_outcomes._formatting import plural
from ir_outcomes.errors import EmptyInput, FormatError
from ir_outcomes.reading.columns import Columns, FileContent
from ir_outcomes.reading.files import BOM, LONGEST_LINE, Block, blocks_of, pieces
from ir_outcomes.reading.json_files import is_json_lines, mteb_selection, read_json, read_json_lines
from ir_outcomes.reading.layouts import RUN, Kind, Layout, is_header, named_columns
from ir_outcomes.reading.lines import COLUMN_REMEDY, check_bytes, from_line, nonblank, read_lines, shown
from ir_outcomes.reading.parquet_files import is_parquet, read_parquet

__all__ = ["read_any_file", "seems_to_be_a_run"]

_JSON = re.compile(rb"\s*(\{\s*(\"|\}|$)|\[)")
_METADATA_START, _METADATA_END = b"# ir_metadata.start", b"# ir_metadata.end"
_SEPARATORS = (b"\t", b",", b";")
_LINES_LOOKED_AT = 50


def read_any_file(path: str | os.PathLike[str], kind: Kind) -> FileContent:
    """Read a file of a run or of qrels.

    Parameters
    ----------
    path : path
        The file; ``-`` is standard input. For predictions of MTEB with several subsets or splits, ``path#subset/split``.
    kind : Kind
        Whether a run or qrels are expected, and which value of a run orders its documents.

    Raises
    ------
    FormatError
        If the content is malformed; the error has file, line and text as far as they exist.
    UnreadableFile
        If the file is missing, truncated or cannot be decompressed.
    MissingDependency
        If it is a Parquet file and there is no package that can read it.
    """
    source, selection = mteb_selection(os.fspath(path))
    with closing(pieces(source)) as opened:
        head, content = _with_head(opened)
        if is_parquet(head):
            found = FileContent(read_parquet(b"".join(content), kind, source))
        elif _is_json(head, kind):
            if is_json_lines(_first_lines(head)[0]):
                found = FileContent(read_json_lines(blocks_of(content, source), kind, source))
            else:
                found = read_json(b"".join(content), kind, source, selection)
        else:
            found = _read_lines(content, kind, source)
    if selection is not None and found.name is None:
        raise FormatError(source, f"is not a file of MTEB predictions; remove #{selection} from its path")
    if not len(found.columns.codes):
        raise EmptyInput(source, "is empty; nothing can be evaluated from it")
    return found


def seems_to_be_a_run(path: str) -> bool:
    """Tell by its first lines whether a file could be a run.

    Raises
    ------
    UnreadableFile, MissingDependency
        If it cannot be read or decompressed.
    """
    with closing(pieces(path)) as opened:
        head, _ = _with_head(opened)
    if is_parquet(head) or _is_json(head, RUN):
        return True
    lines = _first_lines(head)
    if not lines:
        return False
    if lines[0].startswith(_METADATA_START):
        return True
    _, names = _names_of(lines[0])
    if is_header(names):
        return bool(set(names) & set(RUN.value_names))
    # The output of trec_eval has as many columns as an MS MARCO run, and begins with counts: more lines tell them apart. In the
    # other layouts one good line is enough, so that a file with bad lines is read, and its error raised.
    return any((all if layout.columns == 3 else any)(_fits(line, layout) for line in lines) for layout in RUN.layouts)


def _with_head(opened: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Read until the first line that is not blank has ended; return what was read, and the whole content."""
    head = b""
    for piece in opened:
        head += piece
        if len(head) > LONGEST_LINE or b"\n" in head.removeprefix(BOM).lstrip():
            break
    return head, chain([head], opened)


def _first_lines(head: bytes) -> list[bytes]:
    lines = [line for line in head.removeprefix(BOM).split(b"\n") if line.strip()]
    # The last line may be cut off where the head ends.
    return lines[: min(_LINES_LOOKED_AT, len(lines) if len(lines) <= 1 or head.endswith(b"\n") else len(lines) - 1)]


def _is_json(head: bytes, kind: Kind) -> bool:
    if not _JSON.match(head.removeprefix(BOM)):
        return False
    lines = _first_lines(head)
    return not any(_fits(lines[0], layout) for layout in kind.layouts)  # such as a query id that begins with a bracket


def _fits(line: bytes, layout: Layout) -> bool:
    fields = line.split()
    return len(fields) == layout.columns and _is_number(fields[layout.value], layout.whole)


def _is_number(field: bytes, whole: bool) -> bool:
    try:
        value = float(field)
    except ValueError:
        return False
    return not whole or value.is_integer()


def _read_lines(content: Iterable[bytes], kind: Kind, source: str) -> FileContent:
    blocks = blocks_of(content, source)
    metadata, blocks = _without_metadata(blocks, kind, source)
    first, blocks = _first_block(blocks)
    if first is None:
        raise EmptyInput(source, "is empty; nothing can be evaluated from it")
    number, line = next(nonblank(first))
    separator, names = _names_of(line)
    layout = next((layout for layout in kind.layouts if layout.columns == len(line.split())), None)
    is_row = layout is not None and _fits(line, layout)
    if is_header(names) and not is_row:
        return FileContent(_read_with_header(blocks, kind, source, number, separator, names), metadata=metadata)
    if line.startswith(b"#") and not is_row:
        raise FormatError(source, "is a comment; remove comment lines", line=number, text=shown(line.split()))
    if layout is None:
        check_bytes(first, source)
        raise FormatError(source, _wrong_columns(line.split(), kind), line=number, text=shown(line.split()))
    return FileContent(read_lines(blocks, layout, source, number), metadata=metadata)


def _first_block(blocks: Iterator[Block]) -> tuple[Block | None, Iterator[Block]]:
    """Find the first block with a line that is not blank; return it, and the blocks from it on."""
    for block in blocks:
        if block.data and not block.data.isspace():
            return block, chain([block], blocks)
    return None, blocks


def _names_of(line: bytes) -> tuple[bytes | None, list[str]]:
    """Take a line as a header: return the separator, None for white space, and the names."""
    separator = next((sign for sign in _SEPARATORS if sign in line), None)
    return separator, [name.strip().strip(b"\"'").decode("utf-8", "replace").lower() for name in line.split(separator)]


def _read_with_header(
    blocks: Iterator[Block], kind: Kind, source: str, number: int, separator: bytes | None, names: list[str]
) -> Columns:
    found = named_columns(names, kind, source, number)
    query, document, value = (names.index(name) for name in found[:3])
    layout = Layout(len(names), query, document, value, found.value_name, separator)
    columns = read_lines(blocks, layout, source, number + 1)
    if (found.document, found.value, kind.what) == ("corpus-id", "score", "run") and _are_grades(columns):
        raise FormatError(source, "has the columns of qrels as BEIR writes them, and grades: were the arguments swapped?")
    return columns


def _are_grades(columns: Columns) -> bool:
    """Tell whether scores look like the grades of qrels: a few small whole numbers."""
    values = columns.values
    return len(values) > 0 and bool(((values >= 0) & (values <= 10) & (values == values.round())).all())


def _wrong_columns(fields: list[bytes], kind: Kind) -> str:
    """Say what is wrong with the number of columns; only what looks like the other kind is said to be swapped."""
    expected = " or ".join(str(layout.columns) for layout in kind.layouts)
    problem = f"has {plural('column', len(fields))}, expected {expected}"
    if len(fields) == 4 and kind.what == "run" and _is_number(fields[3], whole=True):
        return f"{problem}: a qrels file has 4 columns (query, iteration, document, grade); were the arguments swapped?"
    if len(fields) == 6 and kind.what == "qrels" and _is_number(fields[3], whole=True) and _is_number(fields[4], whole=False):
        return f"{problem}: a TREC run has 6 columns (query, Q0, document, rank, score, tag); were the arguments swapped?"
    if len(fields) == 3 and kind.what == "qrels" and _is_number(fields[2], whole=True):
        return (
            f"{problem} (query, iteration, document, grade): qrels of 3 columns need a header that names them, such as "
            "query-id, corpus-id, score; an MS MARCO run (query, document, rank) has 3 columns too"
        )
    return problem + COLUMN_REMEDY


def _without_metadata(blocks: Iterator[Block], kind: Kind, source: str) -> tuple[str, Iterator[Block]]:
    """Take the header that the ir_metadata specification defines off the beginning of a run.

    Source: Breuer, Keller, Schaer, "ir_metadata: An Extensible Metadata Schema for IR Experiments", SIGIR 2022.
    """
    first, blocks = _first_block(blocks)
    if first is None or kind.what != "run" or not first.data.lstrip().startswith(_METADATA_START):
        return "", blocks
    lines: list[str] = []
    size = 0
    for block in blocks:
        check_bytes(block, source)
        for number, line in nonblank(block):
            size += len(line)
            if line.strip() == _METADATA_END:
                return "\n".join(lines[1:]), from_line(chain([block], blocks), number + 1)
            if not line.startswith(b"#") or size > LONGEST_LINE:
                problem = "belongs to the ir_metadata header, which must be comment lines and end with '# ir_metadata.end'"
                raise FormatError(source, problem, line=number, text=shown([line.strip()]))
            lines.append(line.decode().rstrip()[1:].removeprefix(" "))
    raise FormatError(source, "begins with an ir_metadata header that does not end; add the line '# ir_metadata.end'")
