"""Files: runs and qrels in every form, per-query outputs."""

from __future__ import annotations

import csv
import io
import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesError
from ir_outcomes.reading import text as lines
from ir_outcomes.reading.formats import DOCUMENT_NAMES, GRADE_NAMES, QUERY_NAMES, texts_in
from ir_outcomes.reading.qrels import query_texts
from tests.fuzz.inputs import IDS, NUMBERS, damaged, result_of

__all__ = ["forms", "tables"]


def like_the_plain_reader(read: Callable[[], Any]) -> Any:
    """Read with the fast reader and again without it: the same result, or the same message."""
    result = said_by(read)
    with patch.object(lines, "_fast", lambda block, layout: None):
        plain = said_by(read)
    if result != plain or (isinstance(result, dict) and list(result) != list(plain)):
        raise AssertionError(f"read as {result!r}, and by the plain reader as {plain!r}")
    return result


def said_by(read: Callable[[], Any]) -> Any:
    """Return the result, or the text of an error of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", iro.IrOutcomesWarning)
        try:
            return read()
        except IrOutcomesError as error:
            return str(error)


def rows_of(rng: random.Random, value: Callable[[], Any]) -> list[tuple[str, str, Any]]:
    """Rows of query, document and value; a pair occurs once."""
    pairs = {(rng.choice(IDS[:9]), rng.choice(IDS[:9])): value() for _ in range(rng.randint(1, 8))}
    return [(query, document, number) for (query, document), number in pairs.items()]


def nested_of(rows: list[tuple[str, str, Any]]) -> dict[str, dict[str, Any]]:
    nested: dict[str, dict[str, Any]] = {}
    for query, document, value in rows:
        nested.setdefault(str(query), {})[str(document)] = value
    return nested


def tables(rng: random.Random, folder: Path) -> None:
    """CSV, TSV, JSON lines, JSON documents and Parquet with named columns, whole and damaged."""
    is_run = rng.random() < 0.5
    rows = rows_of(rng, (lambda: rng.choice([1.5, -2.25, 1e-9])) if is_run else (lambda: rng.randint(-1, 3)))
    names = [rng.choice(QUERY_NAMES), rng.choice(DOCUMENT_NAMES), "score" if is_run else rng.choice(GRADE_NAMES)]
    good = rng.random() < 0.5
    if not good:
        rows = [tuple(odd_text(rng, value) for value in row) for row in rows]
        names[rng.randrange(3)] = rng.choice([*QUERY_NAMES, *DOCUMENT_NAMES, *GRADE_NAMES, "score", "rank", "", "x"])
    records = [dict(zip(names, row, strict=True)) for row in rows]
    form = rng.choice(["csv", "tsv", "quoted", "lines", "list", "document", "parquet"])
    if form == "parquet":
        stream = io.BytesIO()
        columns = {name: [record[name] if good else ascii(record[name]) for record in records] for name in names}
        pq.write_table(pa.table(columns), stream)
        data = stream.getvalue()
    elif form in ("lines", "list", "document"):
        text = json.dumps(records if form == "list" else nested_of(rows), ensure_ascii=rng.random() < 0.5)
        data = ("".join(json.dumps(record) + "\n" for record in records) if form == "lines" else text).encode(
            "utf-8", "surrogatepass"
        )
    else:
        buffer = io.StringIO()
        dialect = csv.excel_tab if form == "tsv" else csv.unix_dialect if form == "quoted" else csv.excel  # unix quotes all
        csv.writer(buffer, dialect).writerows([names, *rows])
        data = buffer.getvalue().encode("utf-8", "surrogatepass")
    path = folder / "input"
    path.write_bytes(data if good else damaged(rng, data))
    read: Callable[[], Any] = (lambda: iro.read_run(path).to_dict()) if is_run else (lambda: iro.read_qrels(path).to_dict())
    result = like_the_plain_reader(read)
    if good and result != nested_of(rows):
        raise AssertionError(f"{form}: read as {result!r}, the file has {nested_of(rows)!r}")


def odd_text(rng: random.Random, value: Any) -> Any:
    return rng.choice([*IDS, *NUMBERS, None, [1], {}, True, 10**400, "\ud800"]) if rng.random() < 0.1 else value


FORMS = sorted((Path(__file__).parents[1] / "reading" / "forms").iterdir())


def forms(rng: random.Random, folder: Path) -> None:
    """The files of other tools, damaged, as runs and as qrels."""
    fixture = rng.choice(FORMS)
    path = folder / fixture.name
    path.write_bytes(damaged(rng, fixture.read_bytes()))
    for read in (iro.read_run, iro.read_qrels, query_texts, texts_in):
        result_of(lambda read=read: read(path))  # type: ignore[misc]
