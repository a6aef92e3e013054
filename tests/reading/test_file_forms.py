"""The forms of files that users have: JSON, JSON lines, CSV, TSV, Parquet, BEIR, standard input."""

import gzip
import io
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, MissingDependency, UnreadableFile
from ir_outcomes.reading import files
from ir_outcomes.reading.texts import (
    CLUSTERS,
    DOCUMENTS,
    LABELS,
    QUERIES,
    SYSTEMS,
    TextKind,
    read_texts,
)
from tests.helpers.packages import needed

RUN = {"q1": {"b": 1.5, "é": 2.5}, "q2": {"a": 0.5}}
QRELS = {"q1": {"b": 1, "é": 0}, "q2": {"a": 2}}
BY_RANK = {"q1": {"b": -1.0, "é": -2.0}, "q2": {"a": -1.0}}
GOOD = "q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 2.0 t\nq2 Q0 d1 1 1.5 t\n"
# (query, document, score, rank, grade)
ROWS = [("q1", "b", 1.5, 1, 1), ("q1", "é", 2.5, 2, 0), ("q2", "a", 0.5, 1, 2)]


def separated(separator: str, frame: pd.DataFrame) -> str:
    rows = [list(frame.columns), *frame.to_numpy().tolist()]
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def parquet(frame: pd.DataFrame, **settings: Any) -> bytes:
    stream = io.BytesIO()
    pa = needed("pyarrow")
    needed("pyarrow.parquet").write_table(pa.Table.from_pandas(frame), stream, **settings)
    return stream.getvalue()


FORMS: dict[str, Callable[[pd.DataFrame], str | bytes]] = {
    "csv": lambda frame: separated(",", frame),
    "csv, quoted": lambda frame: frame.to_csv(quoting=2),
    "csv, semicolons": lambda frame: separated(";", frame),
    "csv, blanks": lambda frame: separated(", ", frame),
    "tsv": lambda frame: separated("\t", frame),
    "tsv, windows": lambda frame: "\ufeff" + separated("\t", frame).replace("\n", "\r\n"),
    "white space": lambda frame: separated("  ", frame),
    "json lines": lambda frame: frame.to_json(orient="records", lines=True),
    "json list": lambda frame: frame.to_json(orient="records", indent=1, force_ascii=False),
    "parquet": parquet,
}
HEADERS = [("query_id", "doc_id"), ("qid", "docno"), ("q_id", "docid"), ("query-id", "corpus-id")]


@pytest.mark.parametrize(("form", "ids"), list(zip(FORMS, HEADERS * 3, strict=False)))
def test_files_with_named_columns_in_any_order(write: Any, form: str, ids: tuple[str, str]) -> None:
    make, table = FORMS[form], pd.DataFrame(ROWS, columns=[*ids, "score", "rank", "grade"])
    content = make(table[[ids[0], "rank", "score", ids[1]]])
    run = iro.read_run(write(content))
    assert (run.to_dict(), run.by_rank, run.name) == (RUN, False, "a")
    assert iro.read_run(write(content), by="rank").to_dict() == BY_RANK
    assert (
        iro.read_run(
            write(gzip.compress(content if isinstance(content, bytes) else content.encode()))
        ).to_dict()
        == RUN
    )
    ranked = iro.as_run(write(make(table[["rank", *ids]])))
    assert (ranked.to_dict(), ranked.by_rank) == (BY_RANK, True)
    for name in ("relevance", "label", "rel"):
        assert (
            iro.read_qrels(
                write(make(table[[*ids, "grade"]].rename(columns={"grade": name})))
            ).to_dict()
            == QRELS
        )


def test_json_documents_and_lists(write: Any) -> None:
    for indent in (None, 2):
        assert iro.read_run(write(json.dumps(RUN, indent=indent))).to_dict() == RUN
        assert iro.read_qrels(write(json.dumps(QRELS, indent=indent))).to_dict() == QRELS
    lists = {query: list(ranking) for query, ranking in RUN.items()}
    assert iro.read_run(write("\ufeff" + json.dumps(lists))).to_dict() == BY_RANK
    for name in ("doc_ids", "docids", "ranking"):
        text = "\n".join(
            json.dumps({"query_id": query, name: ranking, "ms": 3})
            for query, ranking in lists.items()
        )
        run = iro.read_run(write(text))
        assert (run.to_dict(), run.by_rank) == (BY_RANK, True)
    long = {"qid": "q", "docids": [f"document-{place}" for place in range(30_000)]}
    assert len(iro.read_run(write(json.dumps(long)))) == 30_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "q1 Q0 d1 1 3.0 t\nq2 Q0 d1 1 3.0 t\n\nq1 Q0 d1 2 2.0 t\n",
            r"line 4: document d1 of query q1 is ranked twice; keep.*`duplicates='first'`",
        ),
        (GOOD + "q3 Q0 d1 1 1_0 t\n", r"line 4: the score is not a number; .*1_0"),
        (
            GOOD + "q3  Q0 d1 1 3.0\nq4 Q0 d1 1 3.0 t q5\nq6 Q0 d1 1 2.0 t\n",
            "line 4: has 5 columns, expected 6",
        ),
        (
            GOOD + "q3 Q0 d1 1 3.0 my tag\n",
            r"line 4: has 7 columns, expected 6; ids and tags must not contain white space",
        ),
        (
            GOOD.encode() + b"q3 Q0 d\xe9 1 3.0 t\n",
            r"line 4: is not UTF-8; convert it .*iconv.*\n  'q3 Q0 d\\\\xe9",
        ),
        (
            GOOD.encode() + b"q3 Q0 d\0 1 3.0 t\n",
            r"line 4: contains a NUL byte; is this a text file",
        ),
        (GOOD.encode("utf-16"), r"is UTF-16; convert it: iconv -f UTF-16 -t UTF-8"),
        (GOOD.encode("utf-16-le"), r"line 1: contains a NUL byte; .*iconv -f UTF-16 -t UTF-8"),
        (
            "q1 0 d1 1\n",
            (
                r"has 4 columns, expected 6 or 3; these look like the columns of qrels: were the"
                r" arguments swapped\?"
            ),
        ),
        (GOOD + "q" * 1500 + " Q0 d 1 3.0 t\n", r"line 4: a query id is longer than 1000 bytes"),
        ("qid,docno,score\nq1,d1,1.5\nq1,d2,x\n", r"line 3: the score is not a number.*x'"),
        ("qid,docno,rank\nq1,d1,1\nq1,d2,1\n", r"line 3: rank 1 is given twice"),
        ("qid,docno,score\nq1,,1.0\n", r"line 2: a document id is empty"),
        ('qid,docno,score\nq1,"d1,1.0\n', r"line 2: is not a line of a CSV file"),
        ("qid,docno,score,qid\nq1,d1,1.0,q1\n", r"line 1: has more than one column 'qid'"),
        (
            "\nqid,docno,points\nq1,d1,1.0\n",
            r"line 2: has no column 'score' or 'rank' or 'position'; its columns are qid, docno, points",
        ),
        (
            "qid,docno,label\nq1,d1,1\n",
            r"no column 'score'.*columns of qrels: were the arguments swapped\?",
        ),
        ("qid,docno,score,\ufeffnote\nq1,d1,1.5,x\n", r"line 1: contains a byte order mark"),
        ('{"q1": {"d1": 1.0, "d1": 2.0}}', r"line 1: .*an object has the same name twice, 'd1'"),
        ('{"q1": {"d1": 1.0}\n, "q1"', r"line 2: is not JSON \(.*\); correct it or write it again"),
        ("[" * 100_000, r"is not JSON \(maximum recursion depth"),
        ("[1, 2]", r"is a int, which is no known form"),
        (GOOD.replace("\n", "\r"), r"line ends of old Macs.*tr '\\r' '\\n' < .*a\.run > new"),
        (
            GOOD.replace(" ", ","),
            "is separated by ',', .* not name the columns .*query_id,doc_id,score",
        ),
        (GOOD.replace(" ", ";"), "is separated by ';', .* not name the columns"),
        (
            "query_id;doc_id;score\nq;d;1\nq;e;0,95\n",
            "line 3: .*decimal comma, .*0,95'",
        ),
        ("q1 Q0 d1 1 3.0\nq1 Q0 d2 1 2.0\n", "has 5 columns, expected 6 or 3; those of TREC are"),
        ("q1 d1 2 3.5\n", "has 4 columns, expected 6 or 3; those of TREC are"),
        (b"PK\x03\x04" + bytes(30), "is a zip archive; unpack it"),
        (bytes(257) + b"ustar", "is a tar archive; unpack it"),
        (b"PK\x03\x04" + bytes(26) + b"rank.npy", r"is a saved evaluation \(\.npz\)"),
        (b"\x04\x22\x4d\x18" + bytes(30), "is compressed by lz4; unpack it"),
        ("RR@10\t0.4\nnDCG@10\t0.5\n", "means do not say how many queries changed"),
        ("query,nDCG@10,RR\nq1,0.5,1\n", "has values of measures.*compare-outputs"),
        (
            '{"qid": "q", "retrieved": ["a"]}\n{"qid": "p", "retrieved": [{"id": "b", "score": 2}]}\n',
            "line 2: has no list 'retrieved', as a run like this has it",
        ),
        (
            "map all 0.25\nP_10 all 0.5\n",
            "has values of measures.*give the run that they are about",
        ),
        ("map q1 0.25\nmap all 0.5\n", "compare values of queries with compare-outputs"),
        (
            '{"qid": "q1", "docid": "d1", "score": 1.0}\n{"qid": "q1", "docid": "d2"}',
            r"line 2: has no 'score', which the first has",
        ),
        (
            '{"qid": "q", "docids": ["a"]}\n\n{"qid": "p", "docids": ["a", "a"]}',
            r"line 3: document a of query p is ranked twice",
        ),
        ('{"qid": "q", "docids": ["a", 1.5]}', r"line 1: .*a document id must be text"),
        (
            '{"qid": "q", "docid": "d", "relevance": 1}',
            r"line 1: has the keys of qrels: were the arguments",
        ),
        (
            '{"q1": {"d2": 1},\n "q2": {"é": "high"}}',
            "document é of query q2: a score or grade must be a number",
        ),
        (
            '{"qid": "q1", "docid": "d", "score": 1}\n{"qid": "q2", "docid": "é", "score": NaN}',
            "line 2: document é of",
        ),
        ("# ir_metadata.start\n# a: 1\n" + GOOD, "line 1: .*comment lines must be removed"),
        ("query_id\tdoc_id\tscore\n\n\n", "is empty; nothing can be evaluated"),
        (
            "q1 Q0 d1 1 3.0 t\n# a comment\n",
            "line 2: has 3 columns, expected 6; .*comment lines must be removed",
        ),
        ("q1 Q0 d1 1 3.0 t\n# Q0 is column 2 x\n", "line 2: is a comment; remove comment lines"),
        (
            "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
            r"qrels as BEIR and ranx write them.*were the arguments swapped\?",
        ),
        ('{"q1": {"d1": ' + "9" * 5000 + "}}", r"is not JSON \(.* has 5000 digits\); correct it"),
    ],
)
def test_what_is_wrong_in_a_run_is_said_with_file_line_text_and_remedy(
    write: Any, content: str | bytes, message: str
) -> None:
    path = write(content)
    with pytest.raises(FormatError, match=rf"(?s){message}") as caught:
        iro.read_run(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "qid,docno,score\nq1,d1,1.5\n",
            r"has no column 'relevance'.*columns of a run: were the arguments swapped\?",
        ),
        (
            "q1 0 d1 1\nq1 0 d2 1\nq1 0 d1 2\n",
            r"line 3: document d1 has two grades for query q1, 1 and 2. Leave out one line",
        ),
        (
            "q1 0 d1 1.5\n",
            r"line 1: document d1 of query q1: a grade must be a whole number .*\n  '1.5'",
        ),
        (
            "query_id,doc_id,relevance\nq,d,9223372036854775808\n",
            r"line 2: .*a grade must be a whole number of at most",
        ),
        (
            "q1 Q0 d1 1 3.0 t\n",
            r"has 6 columns, expected 4 or 3; these look like .* a run: were the arguments swapped\?",
        ),
        ("q1 d1\n", r"line 1: has 2 columns, expected 4 or 3: the grade is missing.*query_id"),
        ("q1 d1 1\nq1 d2 2\n", r"like the ranks of a run: were the arguments swapped\?"),
        ("q1 d1 30\nq1 d2 110\n", r"has a grade above 100.*were the arguments swapped\?"),
        (
            "q1 1 d1 1\nq1 2 d1 0\n",
            r"line 2: .*holds subtopics, take the highest grade: sort -k1,1",
        ),
        ('{"q1": {"d1": 1.5}}', r"a grade must be a whole number"),
        ("RR@10\t0.4\nnDCG@10\t0.5\n", "means do not say how many queries changed"),
        ("query-id,corpus-id,score\n\n", "is empty; nothing can be evaluated"),
    ],
)
def test_what_is_wrong_in_qrels_is_located(write: Any, content: str, message: str) -> None:
    with pytest.raises(FormatError, match=rf"(?s){message}") as caught:
        iro.read_qrels(write(content))
    assert ("swapped" in message) == ("were the arguments swapped" in str(caught.value))


def test_json_on_one_line_may_have_any_length(write: Any) -> None:
    """A run of 1.0 to 1.5 MiB was refused as a line that is too long; shorter and longer ones were read."""
    for size in (0.9, 1.2, 1.6, 3.0):
        run = {
            f"q{query}": {f"document {place:09}": 1.5 - place for place in range(1000)}
            for query in range(int(36 * size))
        }
        content = json.dumps(run)
        assert len(content) / 2**20 == pytest.approx(size, rel=0.1)
        assert iro.read_run(write(content)).to_dict() == run
    passage = {"docid": "d", "score": 1.5, "text": "a long one " * 200_000}
    records = [{"qid": f"q{number}", "candidates": [passage][:number]} for number in (0, 1)]
    assert iro.read_run(write("\n".join(map(json.dumps, records)))).to_dict() == {"q1": {"d": 1.5}}


@pytest.mark.parametrize("form", FORMS)
def test_qrels_of_beir_are_no_run_in_any_form(write: Any, form: str) -> None:
    grades = pd.DataFrame(ROWS, columns=["query-id", "corpus-id", "value", "rank", "score"])[
        ["query-id", "corpus-id", "score"]
    ]
    scores = grades.assign(score=[1.5, 2.5, 0.5])
    assert iro.as_run(write(FORMS[form](scores))).to_dict() == RUN
    for given in (write(FORMS[form](grades)), grades):
        with pytest.raises(
            FormatError,
            match=(
                r"has the columns of qrels as BEIR and ranx write them.*were the arguments"
                r" swapped\?"
            ),
        ):
            iro.as_run(given)


def test_ids_that_begin_like_another_form(write: Any) -> None:
    for first in ('{"q', "[1]", "PAR1", "qid"):
        assert iro.read_run(write(f"{first} Q0 docno 1 1.5 score\n")).query_ids == (first,)


# --- BEIR


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact"
    (folder / "qrels").mkdir(parents=True)
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n")
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq9\td1\t1\n")
    (folder / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "first", "metadata": {}}\n{"_id": "q2", "text": "second"}'
    )
    return folder


def test_texts_of_queries_from_a_beir_folder_json_lines_or_lines(
    beir: Path, tmp_path: Path
) -> None:
    run = {"q1": {"d1": 1.0}}
    texts = {"q1": "first", "q2": "second"}
    assert iro.evaluate(beir, run).texts == texts
    json_lines, lines = tmp_path / "queries.json", tmp_path / "queries.tsv"
    json_lines.write_text('{"query_id": "q1", "query": "first"}\n{"qid": "q2", "text": "second"}\n')
    lines.write_text("q1\tfirst\nq2\tsecond\n")
    for source in (beir, json_lines, lines, texts):
        assert iro.evaluate({"q1": {"d1": 1}}, run, queries=source).texts == texts


def test_texts_and_ids_are_cut_at_newlines_only(write: Any) -> None:
    path = write("\n q1\tfoo\u2028bar\u00a0baz\r\n\nq2\u00a0\tx\n", "queries.tsv")
    assert read_texts(path, QUERIES) == {"q1": "foo\u2028bar\u00a0baz", "q2\u00a0": "x"}
    assert files.read_ids(path) == ["q1", "q2\u00a0"]


@pytest.mark.parametrize("kind", [QUERIES, LABELS, CLUSTERS, SYSTEMS, DOCUMENTS])
def test_texts_of_every_kind_are_read_alike(kind: TextKind, write: Any) -> None:
    texts = {"a": "x y", "b": "z"}
    identifier, text = kind.ids[0], kind.fields[-1]
    records = [{identifier: key, text: value} for key, value in texts.items()]
    for content in ("a\tx y\nb\tz\n", "a x y\n\nb z", "\n\n".join(map(json.dumps, records))):
        assert read_texts(write(content, "texts"), kind) == texts
        assert read_texts(write(content, "texts"), kind, {"b"}) == {"b": "z"}
    assert read_texts(write("a b\tx\n", "texts"), kind) == {"a b": "x"}
    assert read_texts(write('{"_id": "a", "title": " T. "}\n', "texts"), DOCUMENTS) == {"a": "T."}
    for bad in ("a\tx\nb\n", "a\tx\na\ty\n", '{"other": "a"}', "a\tx\n{}\n"):
        with pytest.raises(FormatError, match="line"):
            read_texts(write(bad, "texts"), kind)


def test_a_folder_of_a_beir_dataset(beir: Path) -> None:
    for folder in (beir, str(beir), beir / "qrels", beir / "qrels" / "test.tsv"):
        assert iro.as_qrels(folder).to_dict() == {"q1": {"d1": 1}, "q2": {"d2": 2}}
    assert iro.read_qrels(beir).name == "scifact"
    (beir / "qrels" / "test.tsv").unlink()
    assert iro.as_qrels(beir).query_ids == ("q9",)
    (beir / "qrels" / "dev.tsv").write_text("")
    with pytest.raises(
        UnreadableFile,
        match=r"a BEIR dataset with .*; name the file itself: .*dev\.tsv, .*train\.tsv",
    ):
        iro.as_qrels(beir)
    with pytest.raises(UnreadableFile, match="as qrels, a directory must be a BEIR dataset"):
        iro.as_qrels(beir.parent)


def test_a_byte_order_mark_within_a_file_is_an_error(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for content, line in (
        ("\ufeff\ufeffq1 Q0 d1 1 3.0 t\n", 1),
        ("q1 Q0 d1 1 3.0 t\nq1 Q0 d\ufeff2 2 3.0 t\n", 2),
        (
            (
                '{"qid": "q", "docid": "d", "score": 1}\n\ufeff{"qid": "q", "docid": "e", "score":'
                " 1}\n"
            ),
            2,
        ),
    ):
        for size in (1 << 19, 2, 5):
            monkeypatch.setattr(files, "BLOCK_SIZE", size)
            with pytest.raises(FormatError, match=rf"line {line}: contains a byte order mark"):
                iro.read_run(write(content))


def test_parquet_that_is_damaged_or_cannot_be_read(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = parquet(pd.DataFrame({"qid": ["q"], "docno": ["d"], "score": [1.0]}))
    for damaged in (whole[:-5], whole[:40], b"PAR1\x15\x04", whole[:30] + b"\0" * 20 + whole[50:]):
        with pytest.raises(UnreadableFile, match="is not a valid Parquet file"):
            iro.read_run(write(damaged))
    many = pd.DataFrame({"qid": "q", "docno": "q", "score": [1.0] * 1_000_000})
    bomb = write(parquet(many, compression="zstd"), "bomb")
    monkeypatch.setattr(files, "UNSUSPICIOUS", 1000)
    with pytest.raises(UnreadableFile, match="a decompression bomb"):
        iro.read_run(bomb)
    path = write(whole)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match="needs the package pyarrow: pip install pyarrow"):
        iro.read_run(path)


def test_a_socket_is_read_as_standard_input_only(tmp_path: Path) -> None:
    """Servers hand a connection over as standard input; one with a path of its own is no file."""
    reading, writing = socket.socketpair()
    before = os.dup(0)
    with reading, writing:
        os.dup2(reading.fileno(), 0)
        try:
            writing.sendall(gzip.compress(b"q1 Q0 d1 1 3.0 t\n"))
            writing.shutdown(socket.SHUT_WR)
            run = iro.read_run("-")
            assert (run.name, run.to_dict()) == ("stdin", {"q1": {"d1": 3.0}})
        finally:
            os.dup2(before, 0)
            os.close(before)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "s"))
        with pytest.raises(UnreadableFile, match="a directory or device, not a file"):
            iro.read_run(tmp_path / "s")
