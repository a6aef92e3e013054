"""What a hostile or broken file may do: cost bounded memory and an error of ours, never a crash or an endless read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, InputError, UnreadableFile
from ir_outcomes.reading import files
from ir_outcomes.reading import formats as any_file
from ir_outcomes.reading import text as lines

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

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


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, zstd.compress])
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
    def changing(path: str) -> Iterator[bytes]:
        for number, piece in enumerate(files.pieces(path)):
            if number == 1:
                change()
            yield piece

    monkeypatch.setattr(any_file, "pieces", changing)
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


@pytest.mark.parametrize("ending", ["bz2", "xz", "zst"])
def test_damage_in_a_later_stream_is_no_end(tmp_path: Path, ending: str) -> None:
    compressors: dict[str, Callable[[bytes], bytes]] = {"bz2": bz2.compress, "xz": lzma.compress, "zst": zstd.compress}
    compress = compressors[ending]
    first, second = compress(LINE), bytearray(compress(b"q2 Q0 d1 1 1.0 t\n"))
    path = tmp_path / "a.run"
    path.write_bytes(first + second)
    assert len(iro.read_run(path)) == 2
    for damaged in (b"\x01" + second[1:], second[:-9], b"garbage!"):
        path.write_bytes(first + damaged)
        refused(path, UnreadableFile, "cannot be read to its end")


def test_padding_between_streams(tmp_path: Path) -> None:
    path = tmp_path / "a.run.xz"
    path.write_bytes(lzma.compress(LINE) + bytes(512) + lzma.compress(b"q2 Q0 d1 1 1.0 t\n") + bytes(8))
    assert len(iro.read_run(path)) == 2


def test_a_query_that_looks_like_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(b"BZh91 Q0 d1 1 1.0 t\n")
    assert iro.read_run(path).to_dict() == {"BZh91": {"d1": 1.0}}


@pytest.mark.parametrize("column", ["query", "document"])
def test_one_id_of_a_megabyte_widens_no_table(tmp_path: Path, column: str) -> None:
    path = tmp_path / "a.run"
    long = b"x" * (MIB // 2)
    wide = b"%b Q0 d 1 1 t\n" % long if column == "query" else b"q Q0 %b 1 1 t\n" % long
    path.write_bytes(b"".join(b"q1 Q0 d%d 1 1.0 t\n" % number for number in range(20_000)) + wide)
    refused(path, FormatError, f"line 20001: a {column} id is longer than 1000 bytes")


def test_one_long_id_among_very_many_short_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_LARGE", MIB)
    path = tmp_path / "a.run"
    path.write_bytes(b"".join(b"q%d Q0 d 1 1 t\n" % number for number in range(20_000)) + b"q Q0 %b 1 1 t\n" % (b"x" * 900))
    refused(path, FormatError, "one id as long as this among many short ones would take 17 MiB")


def test_a_bomb_of_one_frame_through_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "UNSUSPICIOUS", 2 * MIB)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    bomb = gzip.compress(LINE * (16 * MIB // len(LINE)))
    writer = threading.Thread(target=_write_until_closed, args=(pipe, bomb))
    writer.start()
    refused(pipe, UnreadableFile, "a decompression bomb")
    writer.join()


def _write_until_closed(pipe: Path, data: bytes) -> None:
    with suppress(BrokenPipeError):
        pipe.write_bytes(data)


def test_documents_that_differ_in_last_bytes_only_are_told_apart() -> None:
    documents = [f"chapter{a}Section{b}Passage{c}" for a in range(10) for b in range(10) for c in range(10)]
    judged = {"q": dict.fromkeys(documents[::3], 1)}
    ranking = {document: -float(rank) for rank, document in enumerate(documents)}
    lengths = iro.search_lengths(judged, iro.as_run({"q": ranking}))
    assert sorted(lengths.rank.tolist()) == list(range(1, 1001, 3))


@pytest.mark.parametrize("grade", ["9223372036854775808", "1e30", "inf"])
def test_a_grade_that_is_no_grade(tmp_path: Path, grade: str) -> None:
    path = tmp_path / "qrels"
    path.write_text(f"q 0 d {grade}\n")
    with pytest.raises(FormatError, match=r"line 1: .*a grade must be a whole number of at most"):
        iro.read_qrels(path)


def test_texts_and_ids_are_cut_at_newlines_only(tmp_path: Path) -> None:
    path = tmp_path / "queries.tsv"
    path.write_text("q1\tfoo\u2028bar baz\r\nq2\tx\n", newline="")
    assert files.read_texts(path) == {"q1": "foo\u2028bar baz", "q2": "x"}
    assert files.read_ids(path) == ["q1", "q2"]
    path.write_bytes(b"q1\tcaf\xe9\n")
    with pytest.raises(FormatError, match="line 1: is not UTF-8"):
        files.read_texts(path)


def test_values_and_ids_that_are_none() -> None:
    for score in (10**400, Decimal("sNaN"), [1.0, 2.0], "1"):
        with pytest.raises(FormatError, match="a score or grade must be a number"):
            iro.as_run({"q": {"d": score}})
    with pytest.raises(FormatError, match="or cannot be encoded in UTF-8"):
        iro.as_run({"q": {"\ud800": 1.0}})


def test_a_pipe_stays_in_the_process_that_has_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "a.run").write_bytes(LINE)
    writer = threading.Thread(target=pipe.write_bytes, args=(LINE,))
    writer.start()
    found = iro.evaluate({"q1": {"d1": 1}}, [tmp_path / "a.run", pipe], cutoff=5, rel=1, ties="trec", n_jobs=2)
    writer.join()
    assert [table.rank.tolist() for table in found] == [[1], [1]]
