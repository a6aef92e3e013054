"""Compressed files: recognized by their first bytes, decompressed in pieces, refused where they are damaged or truncated."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from typing import IO, Any

from ir_outcomes.errors import MissingDependency

__all__ = ["decompressed"]

_INPUT = 1 << 16  # bytes
_ZSTD_INPUT = 1024  # bytes; they can become 32 MiB, which is what bounds the memory
_XZ_MEMORY = 128 << 20  # bytes; xz -9 needs 65 MiB


def decompressed(raw: io.BufferedReader[Any]) -> Any:
    """Return the decompressed content: an object whose ``read(size)`` returns at most so many bytes.

    Where the data is damaged, reading raises an EOFError, OSError, LZMAError or zlib.error.

    Raises
    ------
    MissingDependency
        If the content is zstd and zstandard is not installed.
    """
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
        try:
            import zstandard
        except ImportError:
            problem = "reading a .zst file needs the package zstandard: pip install 'ir-outcomes[zstd]'"
            raise MissingDependency(problem) from None
        return _Streams(raw, lambda: _ZstdFrame(zstandard), _ZSTD_INPUT)
    return raw


class _Streams:
    """Concatenated compressed streams. Unlike the readers of Python and zstandard, this notices damage in later streams."""

    def __init__(self, raw: IO[bytes], decompressor: Callable[[], Any], input_size: int = _INPUT) -> None:
        self._raw = raw
        self._decompressor = decompressor
        self._input_size = input_size
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
                data = self._raw.read(self._input_size)
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
            piece = self._raw.read(self._input_size)
            if not piece:
                return b""
            data = piece.lstrip(b"\0")
        return data


class _ZstdFrame:
    """A zstandard frame with the interface of the decompressors of bz2 and lzma."""

    def __init__(self, zstandard: Any) -> None:
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._error = zstandard.ZstdError
        self._output = memoryview(b"")

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof) and not self._output

    @property
    def needs_input(self) -> bool:
        return not self._output

    @property
    def unused_data(self) -> bytes:
        data: bytes = self._frame.unused_data
        return data

    def decompress(self, data: bytes, size: int) -> bytes:
        if data:
            try:
                self._output = memoryview(self._frame.decompress(data))
            except self._error as error:
                raise OSError(str(error)) from error
        piece, self._output = self._output[:size].tobytes(), self._output[size:]
        return piece
