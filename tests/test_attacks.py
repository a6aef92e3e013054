"""What a hostile or broken file may do: cost bounded memory and an error of ours, never a crash or an endless read."""

from __future__ import annotations

import gzip
import lzma
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, InputError, UnreadableFile
from ir_outcomes.reading import files

MIB = 1 << 20
LINE = b"q1 Q0 d1 1 1.0 t\n"


def refused(path: Path, error: type[InputError], message: str, most: int = 48 * MIB) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(error, match=message):
            iro.read_run(path)
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, zstd])
def test_a_bomb_of_one_byte_ends_at_the_longest_line(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "bomb.run"
    path.write_bytes(compress(b"x" * (64 * MIB)))
    assert path.stat().st_size < MIB
    refused(path, FormatError, "a line longer than")


@pytest.mark.parametrize("filler", [LINE, b"\n"])
def test_a_bomb_of_sound_lines_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filler: bytes) -> None:
    path = tmp_path / "bomb.run.gz"
    path.write_bytes(gzip.compress(LINE + filler * (16 * MIB // len(filler))))
    monkeypatch.setattr(files, "UNSUSPICIOUS", 2 * MIB)
    refused(path, UnreadableFile, "expands to more than 200 times its size: a decompression bomb?")


def test_a_run_that_compresses_well_is_no_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"".join(b"q%d Q0 d%d 1 1.0 t\n" % (place // 100, place) for place in range(40_000))))
    monkeypatch.setattr(files, "UNSUSPICIOUS", 1000)
    assert len(iro.read_run(path)) == 40_000


def test_one_endless_line(tmp_path: Path) -> None:
    path = tmp_path / "line.run"
    with path.open("wb") as stream:
        stream.truncate(1 << 30)  # a hole of one GiB: NUL bytes, no newline
    refused(path, FormatError, "a line longer than")


def test_a_line_of_a_million_columns(tmp_path: Path) -> None:
    path = tmp_path / "wide.run"
    path.write_bytes(LINE + b"x " * 500_000 + b"\n")
    refused(path, FormatError, "line 2: has 500000 columns, expected 6", most=128 * MIB)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty", "/proc", "."])
def test_what_is_no_file(device: str) -> None:
    if not os.path.exists(device):
        pytest.skip(f"there is no {device} here")
    with pytest.raises(UnreadableFile, match="a directory or device, not a file"):
        iro.read_run(device)


def change_while_reading(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    pieces = files._pieces

    def changing(*arguments: object) -> object:
        for number, piece in enumerate(pieces(*arguments)):  # type: ignore[arg-type]
            if number == 1:
                change()
            yield piece

    monkeypatch.setattr(files, "_pieces", changing)
    monkeypatch.setattr(files, "BLOCK_SIZE", 1000)


def rows(query: str) -> bytes:
    return b"".join(b"%s Q0 d%d 1 1.0 t\n" % (query.encode(), place) for place in range(1000))


@pytest.mark.parametrize("how", ["appended", "truncated"])
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(rows("q1"))

    def change() -> None:
        if how == "appended":
            with path.open("ab") as stream:
                stream.write(rows("q2"))
        else:
            os.truncate(path, 5004)

    change_while_reading(monkeypatch, change)
    with pytest.raises(InputError):
        iro.read_run(path)


def test_a_file_that_is_replaced_while_it_is_read_is_read_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = tmp_path / "a.run", tmp_path / "b.run"
    path.write_bytes(rows("q1"))
    other.write_bytes(rows("q2"))
    with monkeypatch.context() as patch:
        change_while_reading(patch, lambda: os.replace(other, path))
        assert iro.read_run(path).query_ids == ("q1",)
    assert iro.read_run(path).query_ids == ("q2",)


def test_a_compressed_file_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.run.gz"
    path.write_bytes(gzip.compress(rows("q1"))[:-10])
    refused(path, UnreadableFile, "cannot be read to its end")
