"""Bytes from files: opened by content, decompressed, handed on in blocks of whole lines.

Memory stays bounded whatever the file holds: a block is a few MiB, and a single line that does not end
within `LONGEST_LINE` bytes is refused instead of collected.
"""

from __future__ import annotations

import difflib
import io
import lzma
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ir_outcomes.errors import FormatError, UnreadableFile
from ir_outcomes.reading.decompression import decompressed

BLOCK_SIZE = 1 << 19
LONGEST_LINE = 1 << 20
LARGEST_RATIO = 200  # of text to compressed bytes; runs have 3 to 30
UNSUSPICIOUS = 256 << 20  # bytes of text that may have any ratio
BOM = b"\xef\xbb\xbf"
STDIN = "-"  # the path that stands for standard input


class Block(NamedTuple):
    """Whole lines, and the number of the first of them (starting at 1)."""

    first_line: int
    data: bytes


def blocks(path: str | os.PathLike[str]) -> Iterator[Block]:
    """Yield a file's decompressed content in blocks that end at a line's end.

    Raises
    ------
    UnreadableFile
        If the file is missing, is not a file, or its compressed data is truncated or damaged.
    FormatError
        If a line is longer than any line of a run or qrels file can sensibly be.
    """
    yield from blocks_of(pieces(path), os.fspath(path))


def blocks_of(content: Iterable[bytes], source: str) -> Iterator[Block]:
    """Divide content into blocks that end at a line's end; a byte order mark at its beginning is removed."""
    line, rest, is_start = 1, b"", True
    for piece in content:
        data = rest + piece
        if is_start and len(data) >= len(BOM):
            data = data.removeprefix(BOM)
            is_start = False
        end = data.rfind(b"\n") + 1
        lines, rest = data[:end], data[end:]
        if len(rest) > LONGEST_LINE:
            raise FormatError(
                source,
                f"a line longer than {LONGEST_LINE:,} bytes: this is not a run or qrels file",
                line=line + newlines(lines),
                text=rest[:200].decode("utf-8", "replace"),
            )
        if lines:
            yield Block(line, lines)
            line += newlines(lines)
            is_start = False
    if rest:
        yield Block(line, rest)


def pieces(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Yield a file's decompressed content in pieces of at most `BLOCK_SIZE` bytes; the path ``-`` is standard input.

    Raises
    ------
    UnreadableFile
        If the file is missing, is not a file, or its compressed data is truncated or damaged.
    """
    source = os.fspath(path)
    with _open(source) as (file, stream):
        yield from _pieces(file, stream, source)


def read_texts(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read the texts of queries from lines with an id, white space, and the text.

    Raises
    ------
    UnreadableFile
        If the file cannot be read.
    FormatError
        If a line has no text, or an id comes twice.
    """
    texts: dict[str, str] = {}
    for number, line in _lines(path):
        identifier, _, text = line.strip().replace("\t", " ", 1).partition(" ")
        if identifier and (not text or identifier in texts):
            problem = "a query's text is missing" if not text else "a query id comes twice"
            raise FormatError(os.fspath(path), f"{problem}; a line is an id, a tab and the text", line=number, text=line)
        texts[identifier] = text
    texts.pop("", None)
    return texts


def read_ids(path: str | os.PathLike[str]) -> list[str]:
    """Read ids of queries, one on each line; what stands behind white space, such as the query's text, is left out."""
    return [line.split(None, 1)[0] for _, line in _lines(path) if line.strip()]


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    for block in blocks(path):
        for number, line in enumerate(io.BytesIO(block.data), block.first_line):
            try:
                yield number, line.decode()
            except UnicodeDecodeError:
                text = line.decode("utf-8", "backslashreplace")
                raise FormatError(os.fspath(path), "is not UTF-8; convert it", line=number, text=text) from None


def newlines(data: bytes) -> int:
    """Count newlines; where there are many this is faster than `bytes.count`."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == 10))


def name_of(path: str | os.PathLike[str]) -> str:
    """Give the name a file's content goes by: the file name without the endings that say its format.

    Examples
    --------
    >>> name_of("runs/bm25.v2.run.gz")
    'bm25.v2'
    """
    name = Path(path).name
    for endings in (_COMPRESSION_ENDINGS, _FORMAT_ENDINGS):
        stem, dot, ending = name.rpartition(".")
        if dot and stem and ending.lower() in endings:
            name = stem
    return name


_COMPRESSION_ENDINGS = {"gz", "bz2", "xz", "lz4", "zst"}
_FORMAT_ENDINGS = {"run", "txt", "tsv", "trec", "res", "qrels", "qrel"}


class _CountedFile(io.FileIO):
    """A file, or a pipe, that knows how much was read of it."""

    count = 0

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer) or 0
        self.count += size
        return size


@contextmanager
def _open(source: str) -> Iterator[tuple[_CountedFile, IO[bytes]]]:
    """Yield the file itself and its decompressed content; afterwards refuse a file that has changed meanwhile."""
    try:
        place: str | int = 0 if source == STDIN else source
        mode = os.stat(place).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or (stat.S_ISSOCK(mode) and source == STDIN)):
            raise UnreadableFile(f"{source}: a directory or device, not a file; name the file itself")
        file = _CountedFile(place, closefd=source != STDIN)
    except FileNotFoundError:
        raise UnreadableFile(f"{source}: no such file{_nearest(source)}") from None
    except UnreadableFile:
        raise
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte
        raise _unreadable(source, error) from error
    with io.BufferedReader(file) as raw:
        before = os.fstat(raw.fileno())
        try:
            content = decompressed(raw)
        except OSError as error:
            raise _unreadable(source, error) from error
        with content as stream:
            yield file, stream
        after = os.fstat(raw.fileno())
        if stat.S_ISREG(mode) and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise UnreadableFile(f"{source}: changed while it was read; read it again when it is complete")


def _unreadable(source: str, error: Exception) -> UnreadableFile:
    return UnreadableFile(f"{source!r}: cannot be read: {getattr(error, 'strerror', None) or error}")


def _pieces(file: _CountedFile, stream: IO[bytes], source: str) -> Iterator[bytes]:
    size = 0
    while True:
        try:
            piece = stream.read(BLOCK_SIZE)
        except (EOFError, OSError, lzma.LZMAError, zlib.error, RuntimeError, ValueError) as error:
            raise UnreadableFile(
                f"{source}: cannot be read to its end ({error}); the file is truncated or damaged: fetch or write it again"
            ) from error
        if not piece:
            return
        size += len(piece)
        if size > UNSUSPICIOUS and size > LARGEST_RATIO * file.count:
            raise UnreadableFile(
                f"{source}: expands to more than {LARGEST_RATIO} times its size: a decompression bomb? If it is genuine, "
                "decompress it first"
            )
        yield piece


def _nearest(source: str) -> str:
    folder, name = os.path.split(source)
    try:
        there = os.listdir(folder or ".")
    except OSError:
        return f"; the folder {folder} does not exist or cannot be listed"
    near = difflib.get_close_matches(name, there, n=3)
    return f"; did you mean {', '.join(os.path.join(folder, n) for n in near)}?" if near else ""
