"""Reading files: decompressed by their content, in blocks of whole lines.

Memory stays bounded whatever a file contains: a block has half a MiB, and a line that does not end within `LONGEST_LINE`
bytes is refused.
"""

from __future__ import annotations

import bz2
import codecs
import difflib
import gzip
import hashlib
import io
import lzma
import os
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ir_outcomes.errors import FormatError, UnreadableFile, not_installed

_INPUT = 1 << 16  # bytes
_XZ_MEMORY = 128 << 20  # bytes; xz -9 needs 65 MiB


def decompressed(raw: io.BufferedReader[Any]) -> Any:
    """Return the decompressed content: an object whose ``read(size)`` returns at most so many bytes."""
    head = raw.peek(10)
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=raw, mode="rb")
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return _Streams(raw, bz2.BZ2Decompressor)
    if head.startswith(b"\xfd7zXZ\x00"):
        return _Streams(raw, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY))
    if head.startswith(b"\x04\x22\x4d\x18"):
        import lz4.frame

        return lz4.frame.open(raw)
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return _Streams(raw, _zstd_decompressor())
    return raw


class _Streams:
    """Concatenated compressed streams. Unlike Python's own readers, this notices damage in later streams."""

    def __init__(self, raw: IO[bytes], decompressor: Callable[[], Any]) -> None:
        self._raw = raw
        self._decompressor = decompressor
        self._stream: Any = None

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes; none at the end."""
        while True:
            if self._stream is None or self._stream.eof:
                data = self._next_stream()
                if not data:
                    return b""
                self._stream = self._decompressor()
            elif self._stream.needs_input:
                data = self._raw.read(_INPUT)
                if not data:
                    raise EOFError("compressed data ended inside a stream")
            else:
                data = b""
            piece: bytes = self._stream.decompress(data, size)
            if piece:
                return piece

    def _next_stream(self) -> bytes:
        """Return the first bytes of the next stream; NUL bytes between streams are padding."""
        data: bytes = b"" if self._stream is None else self._stream.unused_data.lstrip(b"\0")
        while not data:
            piece = self._raw.read(_INPUT)
            if not piece:
                return b""
            data = piece.lstrip(b"\0")
        return data


def _zstd_decompressor() -> Callable[[], Any]:
    """Return the decompressor of zstd, which is in the standard library of Python 3.14."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        try:
            from backports import zstd
        except ImportError:
            raise not_installed("reading a .zst file needs the package backports.zstd", "zstd") from None
    return zstd.ZstdDecompressor


BLOCK_SIZE = 1 << 19
LONGEST_LINE = 1 << 20
LARGEST_RATIO = 200  # of text to compressed bytes; runs have 3 to 30
UNSUSPICIOUS = 64 << 20  # bytes of text that may have any ratio
BOM = codecs.BOM_UTF8
STDIN = "-"  # the path that stands for standard input


class Block(NamedTuple):
    """Whole lines, and the line number of the first one (starting at 1)."""

    first_line: int
    data: bytes


def blocks(path: str | os.PathLike[str]) -> Iterator[Block]:
    """Yield a file's decompressed content in blocks of whole lines, without the byte order mark at its start."""
    yield from blocks_of(pieces(path), os.fsdecode(path))


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


def pieces(path: str | os.PathLike[str]) -> Generator[bytes, None, None]:
    """Yield a file's decompressed content in pieces of at most `BLOCK_SIZE` bytes; the path ``-`` is standard input."""
    source = os.fsdecode(path)
    with _open(source) as (file, stream):
        size = 0
        while True:
            try:
                piece = stream.read(BLOCK_SIZE)
            except Exception as error:  # each decompressor raises its own
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


def read_texts(path: str | os.PathLike[str], what: str = "text") -> dict[str, str]:
    """Read the texts of queries, or something else about them, from lines with an id, white space, and the text."""
    texts: dict[str, str] = {}
    for number, line in lines_of(path):
        identifier, *rest = line.strip(WHITE_SPACE).replace("\t", " ", 1).split(" ", 1)
        text = rest[0].strip(WHITE_SPACE) if rest else ""
        if not identifier:
            continue
        if not text or identifier in texts:
            problem = f"the {what} of the query is missing" if not text else "the query id is repeated"
            raise FormatError(os.fsdecode(path), f"{problem}; a line is an id, a tab and the {what}", line=number, text=line)
        texts[identifier] = text
    return texts


def read_ids(path: str | os.PathLike[str]) -> list[str]:
    """Read query ids, the first column of each line; the query's text may follow."""
    ids = []
    for number, line in lines_of(path):
        fields = line.encode().split(None, 1)  # bytes are split at ASCII white space only, as in runs and qrels
        if fields:
            identifier = fields[0].decode()
            if identifier != identifier.strip():
                problem = "a query id begins or ends with a space that is not ASCII (such as a no-break space); remove it"
                raise FormatError(os.fsdecode(path), problem, line=number, text=identifier)
            ids.append(identifier)
    return ids


WHITE_SPACE = " \t\n\r\v\f"  # ASCII only: other white space, such as a no-break space, can be a part of an id


def lines_of(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file with their numbers, starting at 1; they end at newlines only, unlike `str.splitlines`."""
    for block in blocks(path):
        check_bytes(block, os.fsdecode(path))
        if block.data.strip():  # blank lines by the million take no time
            for number, line in enumerate(io.BytesIO(block.data), block.first_line):
                yield number, line.decode()


def nonblank(block: Block) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers."""
    for number, line in enumerate(io.BytesIO(block.data), block.first_line):
        if not line.isspace():
            yield number, line


def check_bytes(block: Block, source: str) -> None:
    """Refuse what no text file contains: NUL bytes, bytes that are not UTF-8, byte order marks within the text."""
    data = block.data
    if b"\0" in data:
        at = data.index(b"\0")
        problem = (
            "contains a NUL byte; is this a text file? UTF-16 must be converted to UTF-8, and a saved evaluation (.npz) stands "
            "for runs"
        )
        raise FormatError(source, problem, line=_line_at(block, at), text=_around(data, at))
    try:
        data.decode()
    except UnicodeDecodeError as error:
        problem = "is not UTF-8; convert it (iconv -f latin1 -t utf-8), and the qrels with it, so that ids match"
        raise FormatError(source, problem, line=_line_at(block, error.start), text=_around(data, error.start)) from None
    if BOM in data:
        at = data.index(BOM)
        problem = (
            "contains a byte order mark (U+FEFF) after its beginning, as files do that were joined; remove it, because it "
            "would become part of an id"
        )
        raise FormatError(source, problem, line=_line_at(block, at), text=_around(data, at))


def _line_at(block: Block, position: int) -> int:
    return block.first_line + block.data.count(b"\n", 0, position)


def _around(data: bytes, position: int) -> str:
    start = max(data.rfind(b"\n", 0, position) + 1, position - 40)
    return data[start : position + 20].split(b"\n")[0].decode("utf-8", "backslashreplace")


def newlines(data: bytes) -> int:
    """Count newlines; where there are many this is faster than `bytes.count`."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == 10))


def name_of(path: str | os.PathLike[str]) -> str:
    """Return the file name without the endings that state its format; bytes that are not UTF-8 are written as escapes."""
    name = os.fsencode(Path(os.fsdecode(path)).name).decode("utf-8", "backslashreplace")
    for endings in (COMPRESSION_ENDINGS, _FORMAT_ENDINGS):
        stem, dot, ending = name.rpartition(".")
        if dot and stem and ending.lower() in endings:
            name = stem
    return name


COMPRESSION_ENDINGS = ("gz", "bz2", "xz", "lz4", "zst")
_FORMAT_ENDINGS = {"run", "txt", "tsv", "trec", "res", "qrels", "qrel", "csv", "json", "jsonl", "parquet", "parq"}


class _CountedFile(io.FileIO):
    """A file or pipe that counts the bytes that were read from it."""

    count = 0

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer) or 0
        self.count += size
        return size


@contextmanager
def _open(source: str) -> Iterator[tuple[_CountedFile, IO[bytes]]]:
    """Yield the file itself and its decompressed content; afterwards refuse a file that changed while it was read."""
    try:
        place: str | int = 0 if source == STDIN else source
        mode = os.stat(place).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or (stat.S_ISSOCK(mode) and source == STDIN)):
            raise UnreadableFile(f"{source}: a directory or device, not a file; give the path of a file")
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
            stream = decompressed(raw)
        except OSError as error:
            raise _unreadable(source, error) from error
        yield file, stream
        after = os.fstat(raw.fileno())
        if stat.S_ISREG(mode) and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise UnreadableFile(f"{source}: changed while it was read; read it again when it is complete")


def _unreadable(source: str, error: Exception) -> UnreadableFile:
    return UnreadableFile(f"{source!r}: cannot be read: {getattr(error, 'strerror', None) or error}")


def file_digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise UnreadableFile(f"{os.fsdecode(path)}: {error.strerror or error}") from error


def _nearest(source: str) -> str:
    folder, name = os.path.split(source)
    try:
        present = os.listdir(folder or ".")
    except (OSError, ValueError):
        return f"; the folder {folder} does not exist or cannot be listed"
    near = difflib.get_close_matches(name, present, n=3)
    return f"; did you mean {', '.join(os.path.join(folder, match) for match in near)}?" if near else ""
