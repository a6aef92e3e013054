"""Inputs made at random, and what has to hold for each: an error of ours, or the right result; never anything else.

A target takes a random generator and a folder, and raises if something is wrong. Everything it does follows from the generator,
so that a seed reproduces a failure.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import random
import warnings
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesError
from ir_outcomes.reading.entries import read_entries
from ir_outcomes.reading.measure_names import parse_measure
from ir_outcomes.reading.outputs import read_output
from tests.helpers.searchlengths import differing

__all__ = ["TARGETS"]

IDS = [
    "q1",
    "q2",
    "d1",
    "D1",
    "1",
    "01",
    "RR",
    "all",
    "é",
    "漢",
    "\u00a0",
    "a\u00a0b",
    "\u2028",
    "\x1b[1m",
    "x" * 70,
    "=1+1",
    '"',
    ",",
]
NUMBERS = [
    "1",
    "0",
    "-1",
    "0.5",
    "1e3",
    "1_0",
    "nan",
    "inf",
    "-inf",
    "\u0661",
    "0x1",
    "1,0",
    "",
    "1e999",
    "1" * 30,
    "+3",
    ".5",
    "5.",
    "-0.0",
]
SEPARATORS = [" ", "\t", "  ", " \t", "\v", "\f", "\u00a0", ","]
ENDS = ["\n", "\r\n", "\n\n", "", "\r", "\u2028"]


def line(rng: random.Random, n_columns: int, numeric: tuple[int, ...]) -> str:
    """A line that is mostly as it should be."""
    columns = [rng.choice(NUMBERS[:5] if rng.random() < 0.95 else NUMBERS) if place in numeric else
               rng.choice(IDS[:6] if rng.random() < 0.9 else IDS) for place in range(n_columns)]  # fmt: skip
    if rng.random() < 0.02:
        columns.pop() if rng.random() < 0.5 else columns.append("x")
    separator = rng.choice(SEPARATORS[:2] if rng.random() < 0.95 else SEPARATORS)
    return separator.join(columns) + (rng.choice(ENDS) if rng.random() < 0.05 else "\n")


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Change, remove or insert some bytes, or compress them, mostly not."""
    content = bytearray(data)
    if rng.random() < 0.3:
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(content) + 1)
            kind = rng.randrange(4)
            if kind == 0 and place < len(content):
                content[place] = rng.randrange(256)
            elif kind == 1:
                content[place:place] = rng.choice([b"\0", b"\xff", b"\xef\xbb\xbf", b"\n", b" ", b"\x1b", b'"', b"\xc3"])
            elif kind == 2:
                del content[place : place + rng.randint(1, 5)]
            else:
                del content[place:]
    data = bytes(content)
    if rng.random() < 0.05:
        compress: Any = rng.choice([gzip.compress, bz2.compress, lzma.compress])
        data = compress(data)
        if rng.random() < 0.5:
            place = rng.randrange(len(data))
            data = data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
    return data


def written(rng: random.Random, folder: Path, text: str) -> Path:
    path = folder / "input"
    path.write_bytes(damaged(rng, text.encode("utf-8", "surrogatepass")))
    return path


def result_of(read: Callable[[], Any]) -> Any:
    """The result, or the kind of an error of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", iro.IrOutcomesWarning)
        try:
            return read()
        except IrOutcomesError as error:
            str(error).encode()  # can be shown everywhere
            return type(error)


def literal_run(data: bytes, columns: int) -> dict[str, dict[str, float]] | None:
    """Read a run or qrels of simple form as the documentation defines it; None where it is not of that form."""
    found: dict[str, dict[str, float]] = {}
    query, document, value = (0, 2, 4) if columns == 6 else (0, 2, 3)
    for text in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        fields = text.split()
        if not fields:
            continue
        if len(fields) != columns or b"_" in fields[value]:
            return None
        try:
            number = float(fields[value])
        except ValueError:
            return None
        documents = found.setdefault(fields[query].decode(), {})
        if fields[document].decode() in documents or math.isnan(number):
            return None
        documents[fields[document].decode()] = number
    return found


def runs(rng: random.Random, folder: Path) -> None:
    text = "".join(line(rng, 6, (3, 4)) for _ in range(rng.randint(0, 12)))
    path = written(rng, folder, text)
    result = result_of(lambda: iro.read_run(path).to_dict())
    compare_with_literal(path, result, 6)


def qrels(rng: random.Random, folder: Path) -> None:
    text = "".join(line(rng, 4, (3,)) for _ in range(rng.randint(0, 12)))
    path = written(rng, folder, text)
    result = result_of(lambda: iro.read_qrels(path).to_dict())
    compare_with_literal(path, result, 4)


def compare_with_literal(path: Path, result: Any, columns: int) -> None:
    if isinstance(result, type):
        return
    data = path.read_bytes()
    try:
        expected = literal_run(data, columns)
    except UnicodeDecodeError:
        return  # compressed
    if expected is None and columns == 6 and not data[:1].isalnum():
        return
    if expected is not None and result != expected:
        raise AssertionError(f"read as {result!r}, the file has {expected!r}")


def outputs(rng: random.Random, folder: Path) -> None:
    measures = rng.sample(["RR", "AP", "nDCG@10", "recip_rank", "ESL@10", "mine"], rng.randint(1, 2))
    ids = rng.sample(IDS[:10], rng.randint(1, 6))
    form = rng.choice(["ir_measures", "trec_eval", "jsonl", "csv"])
    rows = [
        (query, measure, rng.choice(["0.5", "1.0", "0.25"] if rng.random() < 0.97 else NUMBERS))
        for query in ids
        for measure in measures
    ]
    if form == "csv":
        text = "name,qid,measure,value\n" + "".join(f"a,{query},{measure},{value}\n" for query, measure, value in rows)
    elif form == "jsonl":
        text = "".join(f'{{"query_id": {json.dumps(q)}, "measure": "{m}", "value": {v or "null"}}}\n' for q, m, v in rows)
    else:
        ordered = rows if form == "ir_measures" else [(measure, query, value) for query, measure, value in rows]
        text = "".join("\t".join(row) + "\n" for row in ordered)
    path = folder / "input"
    data = text.encode()
    path.write_bytes(damaged(rng, data))
    changed = path.read_bytes() != data
    result = result_of(lambda: read_output(path, measure=measures[0]).values)
    if not isinstance(result, type) and not changed:
        expected = {
            query: value for query, measure, value in rows if measure == measures[0] and (form == "csv" or query != "all")
        }
        if set(result) != set(expected) or any(
            not (math.isnan(result[q]) and value in ("nan", "")) and result[q] != float(value) for q, value in expected.items()
        ):
            raise AssertionError(f"read as {result!r}, the file has {expected!r}")


def entries(rng: random.Random, folder: Path) -> None:
    dates = ["2020-01-02"] if rng.random() < 0.8 else ["2020-01-02", "2020/1/2", "2020-13-01", "", "x"]
    rows = [
        {"id": rng.choice(IDS), "date": rng.choice(dates), "score": rng.choice(NUMBERS[:4]), "team": rng.choice(IDS)}
        for _ in range(rng.randint(0, 5))
    ]
    if rng.random() < 0.5:
        text = json.dumps(rows)
    else:
        text = "id,date,score,team\n" + "".join(
            ",".join(f'"{value}"' if "," in value else value for value in row.values()) + "\n" for row in rows
        )
    path = written(rng, folder, text)
    result_of(lambda: read_entries(path))
    for row in rows:
        if rng.random() < 0.1:
            row[rng.choice(list(row))] = rng.choice([None, [1], {}, 5, True, 1j, "\ud800", 10**400])  # type: ignore[assignment]
    result_of(lambda: read_entries(rows))


ODD: list[Any] = [
    None,
    True,
    5,
    -1,
    10**400,
    1.5,
    math.nan,
    math.inf,
    "1",
    "",
    "\ud800",
    "a\0",
    "é",
    b"x",
    (),
    [1],
    {},
    1j,
    np.int64(3),
    np.float32(2),
]


def odd(rng: random.Random, usual: Any, share: float = 0.05) -> Any:
    return rng.choice(ODD) if rng.random() < share else usual


def objects(rng: random.Random, folder: Path) -> None:
    """Dicts, frames and iterables, with some odd values."""
    hashable = [value for value in ODD if not isinstance(value, (list, dict))]
    ids = [rng.choice(hashable) if rng.random() < 0.03 else rng.choice(IDS) for _ in range(6)]
    nested: Any = {
        query: odd(rng, {document: odd(rng, rng.random(), 0.03) for document in rng.sample(ids, 3)}, 0.02) for query in ids[:3]
    }
    judged: Any = {query: {document: odd(rng, rng.randint(0, 2), 0.01) for document in rng.sample(ids, 3)} for query in ids[:3]}
    ties: Any = rng.choice(["trec", "msmarco", "input"])
    result_of(lambda: iro.search_lengths(judged, nested, ties=ties, cutoff=odd(rng, 10)))
    result_of(lambda: iro.as_run(nested))
    frame = pd.DataFrame({
        "query_id": [odd(rng, rng.choice(IDS)) for _ in range(4)],
        "doc_id": [odd(rng, rng.choice(IDS)) for _ in range(4)],
        "score": [odd(rng, rng.random()) for _ in range(4)],
    }, dtype=object)  # fmt: skip
    result_of(lambda: iro.as_run(frame))
    result_of(lambda: iro.as_run(odd(rng, [odd(rng, row) for row in frame.itertuples(index=False)], 0.2)))
    result_of(lambda: read_output({query: {"RR": odd(rng, 0.5)} for query in ids}))


def archives(rng: random.Random, folder: Path) -> None:
    path = folder / "lengths.npz"
    judged = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
    lengths = iro.search_lengths(
        judged, {"q1": {"d2": 3.0, "d1": rng.random()}, "q9": {"d": 1.0}}, cutoff=rng.choice([None, 1, 10])
    )
    lengths.save(path)
    content = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(content))
        if rng.random() < 0.8:
            content[place] ^= 1 << rng.randrange(8)
        else:
            del content[place : place + rng.randint(1, 200)]
        if not content:
            break
    path.write_bytes(content)
    result = result_of(lambda: iro.SearchLengths.load(path))
    if not isinstance(result, type) and differing(lengths, result):
        raise AssertionError("damage was not noticed")
    replaced = folder / "replaced.npz"
    lengths.save(path)
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(replaced, "w") as target:
        for name in source.namelist():
            data = bytearray(source.read(name))
            if rng.random() < 0.3:
                data[rng.randrange(len(data))] = rng.randrange(256)
            target.writestr(name, bytes(data))
    result = result_of(lambda: iro.SearchLengths.load(replaced))
    if not isinstance(result, type):
        result.esl(), result.answered()


def measures(rng: random.Random, folder: Path) -> None:
    names = [
        "P",
        "nDCG",
        "RR",
        "ESL",
        "ASL",
        "Answered",
        "Compat",
        "AP",
        "R",
        "SetF",
        "IPrec",
        "Success",
        "RPrec",
        "Judged",
        "x",
    ]
    parameters = ["rel", "cutoff", "judged_only", "p", "beta", "gains", "dcg", "missing", "need", "first", "recall", "baseline"]
    values = [
        "0",
        "1",
        "2",
        "-1",
        "True",
        "0.5",
        "2.0",
        "1e999",
        "'x'",
        "'cutoff'",
        "{1: 2}",
        "None",
        "[1]",
        "9" * 25,
        "(",
        "-",
        "()",
    ]
    inside = ",".join(f"{rng.choice(parameters)}={rng.choice(values)}" for _ in range(rng.randint(0, 2)))
    text = rng.choice(names) + (f"({inside})" if inside else "") + (f"@{rng.choice(values)}" if rng.random() < 0.7 else "")
    measure = result_of(lambda: parse_measure(text))
    if not isinstance(measure, type):
        import ir_measures

        judged, run = {"1": {"d-1": 1, "e-2": 0}}, {"1": {"d-1": 2.0, "e-2": 1.0}}
        result_of(lambda: ir_measures.calc_aggregate([measure], judged, run))


def command_lines(rng: random.Random, folder: Path) -> None:
    from ir_outcomes.cli import main

    (folder / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    (folder / "a.run").write_bytes(damaged(rng, b"q1 Q0 d1 1 2 t\nq2 Q0 d2 1 2 t\n"))
    (folder / "b.run").write_text("q1 Q0 d1 1 2 t\nq2 Q0 d3 1 3 t\nq2 Q0 d2 1 2 t\n")
    words = [
        *(str(folder / name) for name in ("qrels", "a.run", "b.run", "")),
        *("--cutoff", "--rel", "--ties", "--format", "--unit", "--alpha", "--judged-only", "--margins", "--names", "-m"),
        *("trec", "P@0", "nDCG@5", "0", "1", "-1", "1.5", "x", "json", "text", "csv", "query", "1,inf", "a,b", ""),
        *("\x1b", "\udce9"),
    ]
    command = rng.choice(
        ["compare", "measure", "leaderboard", "stability", "agreement", "history", "tail", "reordering", "compare-outputs"]
    )
    arguments = [str(folder / "qrels"), str(folder / "a.run"), str(folder / "b.run")] if rng.random() < 0.8 else []
    arguments += [rng.choice(words) for _ in range(rng.randint(0, 3))]
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    import sys

    before, sys.argv = sys.argv, ["ir-outcomes", command, *arguments]
    try:
        with redirect_stdout(out), redirect_stderr(io.StringIO()), suppress(SystemExit), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            main()
    finally:
        sys.argv = before


TARGETS: dict[str, Callable[[random.Random, Path], None]] = {
    target.__name__: target for target in (runs, qrels, outputs, entries, objects, archives, measures, command_lines)
}
