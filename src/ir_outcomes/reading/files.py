"""Reading files: decompressed by their content, in blocks of whole lines.

Memory stays bounded whatever a file contains: a block has half a MiB, and a line that does not end
within `LONGEST_LINE` bytes is refused (`LONGEST_RECORD` in JSON lines).
"""

import codecs
import difflib
import gzip
import hashlib
import io
import json
import os
import shlex
import stat
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from ir_outcomes.arguments import check_argument
from ir_outcomes.errors import FormatError, IrOutcomesError, UnreadableFile, not_installed


def decompressed(raw: "io.BufferedReader[Any]") -> Iterator[bytes]:
    """Yield the decompressed content in pieces of at most `BLOCK_SIZE` bytes."""
    head = raw.peek(4)
    content: Any = raw
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        content = _zstd_file(raw)
    elif head.startswith(b"\x1f\x8b"):
        content = gzip.GzipFile(fileobj=raw, mode="rb")
    return iter(lambda: content.read(BLOCK_SIZE), b"")


def _zstd_file(raw: IO[bytes]) -> Any:
    """Open a file of zstd, which the standard library reads from Python 3.14 on."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        try:
            from backports import zstd
        except ImportError:
            raise not_installed(
                "reading a .zst file needs the package backports.zstd", "zstd"
            ) from None
    return zstd.ZstdFile(raw)


BLOCK_SIZE = 1 << 19
LONGEST_LINE = 1 << 20
# A line of JSON lines, such as a query's list with the texts of its documents.
LONGEST_RECORD = 1 << 24
LARGEST_RATIO = 200  # of text to compressed bytes; runs have 3 to 30
UNSUSPICIOUS = 64 << 20  # bytes of text that may have any ratio
BOM = codecs.BOM_UTF8
STDIN = "-"  # the path that stands for standard input


class Block(NamedTuple):
    """Whole lines, and the line number of the first one (starting at 1)."""

    first_line: int
    data: bytes


def blocks(path: str | os.PathLike[str], longest: int = LONGEST_LINE) -> Iterator[Block]:
    """Yield a file's decompressed content in blocks of whole lines."""
    check_argument("path", path, str | os.PathLike[str])
    yield from blocks_of(pieces(path), os.fsdecode(path), longest)


def blocks_of(
    content: Iterable[bytes], source: str, longest: int = LONGEST_LINE
) -> Iterator[Block]:
    """Divide content into blocks of whole lines, without a byte order mark."""
    line = 1
    rest = b""
    for piece in content:
        data = rest + piece
        end = data.rfind(b"\n") + 1
        lines = data[:end]
        rest = data[end:]
        if len(rest) > longest:
            raise FormatError(
                source,
                f"a line longer than {longest:,} bytes: this is not a run or qrels file",
                line=line + lines.count(b"\n"),
                text=rest[:200].decode("utf-8", "replace"),
            )
        if lines:
            yield Block(line, lines.removeprefix(BOM) if line == 1 else lines)
            line += lines.count(b"\n")
    if rest:
        yield Block(line, rest.removeprefix(BOM) if line == 1 else rest)


def pieces(path: str | os.PathLike[str]) -> Generator[bytes, None, None]:
    """Yield decompressed content in pieces, of standard input for ``-``."""
    source = os.fsdecode(path)
    with _opened(source) as file, io.BufferedReader(file) as raw:
        status = os.fstat(raw.fileno())
        size = 0
        is_file = stat.S_ISREG(status.st_mode)
        try:
            for piece in decompressed(raw):
                if not size:
                    refuse_other_content(source, piece)
                size += len(piece)
                refuse_bomb(source, size, file.count)
                yield piece
        except IrOutcomesError:
            raise
        except Exception as error:  # each decompressor raises its own
            raise UnreadableFile(
                f"{source}: cannot be read to its end ({error}); the file is truncated or damaged:"
                " fetch or write it again"
            ) from error
        latest = os.fstat(raw.fileno())
        changed = (status.st_size, status.st_mtime_ns) != (latest.st_size, latest.st_mtime_ns)
        if is_file and changed:
            raise UnreadableFile(
                f"{source}: changed while it was read; read it again when it is complete"
            )


_UNPACK = "unpack it, and give the file that it contains"
_CONVERT = "is UTF-16; convert it: iconv -f UTF-16 -t UTF-8"
_OTHER_CONTENT = (  # where a file has which bytes, and what it then is
    (0, b"PK\x03\x04", f"is a zip archive; {_UNPACK} (unzip)"),
    (0, b"7z\xbc\xaf\x27\x1c", f"is a 7z archive; {_UNPACK}"),
    (0, b"Rar!\x1a", f"is a rar archive; {_UNPACK}"),
    (257, b"ustar", f"is a tar archive; {_UNPACK} (tar xf)"),
    (0, b"\x04\x22\x4d\x18", f"is compressed by lz4; {_UNPACK} (lz4 -d)"),
    (
        0,
        b"\xfd7zXZ\x00",
        f"is compressed by xz; {_UNPACK} (unxz), or compress that by gzip or zstd",
    ),
    (
        4,
        b"1AY&SY",
        f"is compressed by bzip2; {_UNPACK} (bunzip2), or compress that by gzip or zstd",
    ),
    (0, codecs.BOM_UTF16_LE, _CONVERT),
    (0, codecs.BOM_UTF16_BE, _CONVERT),
)


def refuse_other_content(source: str, head: bytes) -> None:
    """Refuse archives, text in UTF-16, and saved evaluations."""
    for start, sign, problem in _OTHER_CONTENT:
        if not head.startswith(sign, start):
            continue
        if problem == _CONVERT:
            problem = f"{problem} {shlex.quote(source)} > new"
        if b".npy" in head[:100]:
            problem = (
                "is a saved evaluation (.npz), which stands for qrels and runs together, and holds"
                " no documents"
            )
        raise FormatError(source, problem)


class _CountedFile(io.FileIO):
    """A file or pipe that counts the bytes that were read from it."""

    count = 0

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer) or 0
        self.count += size
        return size


def _opened(source: str) -> _CountedFile:
    """Open a file or pipe."""
    try:
        path: str | int = 0 if source == STDIN else source
        status = os.stat(path)
        mode = status.st_mode
        # Standard input can be a socket, or the null device, which is read as empty.
        is_input = source == STDIN and (
            stat.S_ISSOCK(mode) or os.path.samestat(status, os.stat(os.devnull))
        )
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or is_input):
            raise UnreadableFile(
                f"{source}: a directory or device, not a file; give the path of a file"
            )
        return _CountedFile(path, closefd=source != STDIN)
    except FileNotFoundError:
        raise UnreadableFile(f"{source}: no such file{_nearest(source)}") from None
    except UnreadableFile:
        raise
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte
        if source == STDIN:
            raise UnreadableFile(
                "standard input is closed; give the path of a file, or write to it with | or <"
            ) from error
        raise UnreadableFile(
            f"{source!r}: cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error


def _nearest(source: str) -> str:
    if os.path.islink(source):
        return "; this is a link to nothing"
    folder, name = os.path.split(source)
    try:
        present = os.listdir(folder or ".")
    except (OSError, ValueError):
        return f"; the folder {folder} does not exist or cannot be listed"
    near = difflib.get_close_matches(name, present, n=3)
    if near:
        return f"; did you mean {', '.join(os.path.join(folder, match) for match in near)}?"
    return ""


def refuse_bomb(source: str, size: int, n_bytes: int) -> None:
    """Refuse content that is much larger than the bytes that it was read from."""
    if size > UNSUSPICIOUS and size > LARGEST_RATIO * n_bytes:
        problem = f"expands to more than {LARGEST_RATIO} times its size: a decompression bomb?"
        raise UnreadableFile(f"{source}: {problem} If it is genuine, decompress it first")


def read_ids(path: str | os.PathLike[str]) -> list[str]:
    """Read query ids, the first column of each line."""
    # Bytes are split at ASCII white space only, as in runs and qrels.
    return [line.encode().split(None, 1)[0].decode() for _, line in lines_of(path)]


WHITE_SPACE = (  # ASCII only: other white space, such as a no-break space, can be a part of an id
    " \t\n\r\v\f"
)


def lines_of(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file that are not blank, with their numbers."""
    return lines_in(blocks(path), os.fsdecode(path))


def lines_in(blocks: Iterable[Block], source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, which end at newlines only, as text."""
    for block in blocks:
        check_bytes(block, source)
        for number, line in nonblank(block):
            yield number, line.decode()


def nonblank(block: Block) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers."""
    if block.data.isspace():  # blank lines by the million take no time
        return
    for number, line in enumerate(io.BytesIO(block.data), block.first_line):
        if not line.isspace():
            yield number, line


def text_in(blocks: Iterable[Block], source: str) -> str:
    """Return the text of blocks."""
    parts = []
    for block in blocks:
        check_bytes(block, source)
        parts.append(block.data)
    return b"".join(parts).decode()


def json_lines(block: Block, source: str) -> tuple[list[Any], Sequence[int]]:
    """Return what JSON lines say, and their numbers."""
    text = text_in([block], source).replace("\r\n", "\n").rstrip("\n")
    n_lines = text.count("\n") + 1
    # Objects that have a line each are decoded at once.
    if text.count("}\n{") == n_lines - 1:
        records = _decoded("decode_lines", text)
        if records is not None and len(records) == n_lines:
            return records, range(block.first_line, block.first_line + n_lines)
    lines = list(lines_in([block], source))
    return (
        [parsed_json(line, source, number) for number, line in lines],
        [number for number, _ in lines],
    )


def _decoded(method: Literal["decode", "decode_lines"], text: str) -> Any:
    """Decode JSON quickly, or return None where it may be wrong."""
    import msgspec

    with suppress(ValueError, RecursionError):
        found = getattr(msgspec.json.Decoder(), method)(text)
        # The decoder keeps the last of repeated names, so that what it found has fewer quotes.
        n_quotes = msgspec.json.encode(found).count(b'"')
        if n_quotes == text.count('"') and "\\u0022" not in text:
            return found
    return None


def parsed_json(text: str, source: str, line: int) -> Any:
    """Return what JSON says, or raise an error with the line."""
    try:
        found = _decoded("decode", text)
        return _DECODER.decode(text) if found is None else found
    except (ValueError, RecursionError) as error:
        at = None if "\n" in text.strip() else line
        shown = None
        reason = str(error).removesuffix("; use sys.set_int_max_str_digits() to increase the limit")
        if isinstance(error, json.JSONDecodeError):
            at = line + error.lineno - 1
            wrong = text.split("\n")[error.lineno - 1]
            shown = wrong[max(error.colno - 41, 0) : error.colno + 20]
        raise FormatError(
            source, f"is not JSON ({reason}); correct it or write it again", line=at, text=shown
        ) from None


def _without_repeated_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object with a repeated name, of which `json` keeps only the last."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = sorted(name for name, _ in pairs)
        repeated = next(name for name, following in pairwise(names) if name == following)
        raise ValueError(
            f"an object has the same name twice, {repeated!r}; a query or document must occur only"
            " once"
        )
    return members


# It is made once: `json.loads` would make one for every line.
_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeated_names)


def check_bytes(block: Block, source: str) -> None:
    """Refuse NUL bytes, bytes that are not UTF-8, and later byte order marks."""
    data = block.data
    problem = _NUL
    at = data.find(b"\0")
    if at < 0 and not data.isascii():
        problem = _JOINED
        at = data.find(BOM)
        try:
            data.decode()
        except UnicodeDecodeError as error:
            problem = _NOT_UTF8
            at = error.start
    if at >= 0:
        start = max(data.rfind(b"\n", 0, at) + 1, at - 40)
        around = data[start : at + 20].split(b"\n")[0].decode("utf-8", "backslashreplace")
        line = block.first_line + data.count(b"\n", 0, at)
        raise FormatError(source, problem, line=line, text=around)


_NUL = "contains a NUL byte; is this a text file? If it is UTF-16, convert it: iconv -f UTF-16 -t UTF-8"
_NOT_UTF8 = (
    "is not UTF-8; convert it (iconv -f latin1 -t utf-8), and the qrels with it, so that ids match"
)
_JOINED = (
    "contains a byte order mark (U+FEFF) after its beginning, as files do that were joined; remove"
    " it, because it would become part of an id"
)


def name_of(path: str | os.PathLike[str]) -> str:
    """Return the file name without the endings that state its format."""
    if path == STDIN:
        return "stdin"
    name = os.fsencode(Path(os.fsdecode(path)).name).decode("utf-8", "backslashreplace")
    for endings in (COMPRESSION_ENDINGS, _FORMAT_ENDINGS):
        stem, dot, ending = name.rpartition(".")
        if dot and stem and ending.lower() in endings:
            name = stem
    return name


COMPRESSION_ENDINGS = ("gz", "zst", "bz2", "xz")  # the last two are told, but not read
_FORMAT_ENDINGS = (
    *("run", "txt", "tsv", "trec", "res", "qrels", "qrel"),
    *("csv", "json", "jsonl", "parquet", "parq"),
)


def file_digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    source = os.fsdecode(path)
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        raise UnreadableFile(f"{source}: no such file{_nearest(source)}") from None
    except OSError as error:
        raise UnreadableFile(f"{source}: {error.strerror or error}") from error
