"""The table of forms: each form is read like the same data as TREC writes it.

The fixtures in ``forms/`` hold one run or its qrels. RankLLM's were written by its `DataWriter`
(0.25.7), Tevatron's by its `write_ranking` (0.1.0); the others follow the definitions that the
table links to: the code that writes them (sentence-transformers 6.2, DPR, Pyserini, LlamaIndex), or
the documentation (MT-RAG, TREC RAG, rank_eval, Quepid).
"""

import gzip
import json
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, IrOutcomesError
from ir_outcomes.reading.formats import texts_in
from ir_outcomes.reading.forms import FORMS
from ir_outcomes.reading.qrels import query_texts

FOLDER = Path(__file__).parent / "forms"
QUERIES = {"q1": "do lemons float", "q2": "who was first"}
PASSAGES = {"d1": "Lemons float.", "d2": "Limes sink.", "d3": "The first was Ada."}
FILES = sorted(path.name for path in FOLDER.iterdir())
WITH_PASSAGES = [
    name
    for name in FILES
    if name.startswith(("rankllm", "mt-rag", "dpr", "pyserini", "llamaindex"))
]
WITH_TEXTS = [
    *WITH_PASSAGES,
    *(name for name in FILES if name.startswith(("trec-rag", "sentence"))),
]


def read(path: Path) -> Any:
    return iro.read_qrels(path) if ".qrels." in path.name else iro.read_run(path)


def expected_of(name: str) -> dict[str, dict[str, float]]:
    """What TREC's form of the same data says: graded where the form has grades, by rank where it has no scores."""
    if ".qrels." in name:
        nested: Any = iro.read_qrels(FOLDER / "trec.qrels.txt").to_dict()
        if name.startswith(("dpr", "llamaindex")):  # only what is relevant
            nested = {
                query: {document: 1 for document in grades if grades[document]}
                for query, grades in nested.items()
            }
    else:
        has_scores = name.startswith(
            ("trec.", "tevatron", "columns", "rankllm", "mt-rag", "sentence", "trectools")
        )
        nested = iro.read_run(FOLDER / "trec.run", by="score" if has_scores else "rank").to_dict()
    by_text = name.startswith(("dpr", "quepid"))
    return {QUERIES[query] if by_text else query: ranking for query, ranking in nested.items()}


@pytest.mark.parametrize("name", FILES)
def test_each_form_is_read_like_the_same_data_of_trec(name: str, tmp_path: Path) -> None:
    packed, marked = tmp_path / f"{name}.gz", tmp_path / f"marked-{name}"
    packed.write_bytes(gzip.compress((FOLDER / name).read_bytes()))
    marked.write_bytes(b"\xef\xbb\xbf" + (FOLDER / name).read_bytes().replace(b"\n", b"\r\n"))
    for path in (FOLDER / name, packed, marked):
        assert read(path).to_dict() == expected_of(name)


def test_each_row_of_the_table_has_a_fixture() -> None:
    assert {(form.name, form.what) for form in FORMS} == {
        (name.split(".")[0].removesuffix("-2025"), "qrels" if ".qrels." in name else "run")
        for name in FILES
    }


@pytest.mark.parametrize("name", WITH_TEXTS)
def test_texts_of_queries_and_documents_come_along(name: str) -> None:
    found = texts_in(FOLDER / name)
    ids = (
        {text: text for text in QUERIES.values()}
        if name.startswith("dpr")
        else {}
        if name.startswith("mt-rag")
        else QUERIES
    )
    assert dict(read(FOLDER / name).texts) == found.queries == ids
    assert bool(found.documents) == (name in WITH_PASSAGES)
    assert found.documents.items() <= PASSAGES.items()


def test_texts_of_a_run_are_those_of_an_evaluation() -> None:
    path, judged = FOLDER / "rankllm.jsonl", {"q1": {"d1": 1}, "q2": {"d3": 1}}
    assert query_texts(path) == iro.evaluate(judged, [path]).texts == QUERIES
    assert iro.evaluate(judged, [path], queries={"q1": "mine"}).texts == {**QUERIES, "q1": "mine"}


def test_a_list_one_line_and_lines_are_the_same(tmp_path: Path) -> None:
    """Valid JSON lines were called "not JSON (Extra data)"."""
    for name in (name for name in FILES if name.endswith(".jsonl")):
        path = tmp_path / name
        records = [json.loads(line) for line in (FOLDER / name).read_text().splitlines()]
        for text in (
            json.dumps(records),
            json.dumps(records, indent=1),
            "\n\n".join(map(json.dumps, records)),
        ):
            path.write_text(text)
            assert read(path).to_dict() == expected_of(name)
        path.write_text(json.dumps(records[0]))
        assert list(read(path).query_ids) == ["q1"]


BOTH = {
    "query_id": "q1", "query": {"qid": "q1", "text": "x"},
    "results": [{"corpus_id": "a", "score": 1.0}, {"corpus_id": "b", "score": 0.5}],
    "candidates": [{"docid": "b", "score": 1.0, "doc": {}}, {"docid": "a", "score": 0.5, "doc": {}}],
}  # fmt: skip


def test_general_names_come_before_those_of_one_tool(tmp_path: Path) -> None:
    """A frame of PyTerrier has columns that are called like those of trectools too."""
    path = tmp_path / "pyterrier.csv"
    path.write_text("qid,docid,docno,rank,score,query\nq1,7,d2,0,3.5,lemons\n")
    assert iro.read_run(path).to_dict() == {"q1": {"d2": 3.5}}
    assert iro.as_run(f"{path}#trectools").to_dict() == {"lemons": {"7": 3.5}}
    path.write_text("q_id,doc_id,score,relevance\nq1,d2,1,2\n")
    assert iro.read_qrels(path).to_dict() == {"q1": {"d2": 2}}


def test_a_file_that_two_rows_recognize_must_say_which(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps(BOTH) + "\n")
    with pytest.raises(
        FormatError,
        match=r"can be read in the forms sentence-transformers, rankllm; say which as FILE#NAME",
    ):
        iro.read_run(path)
    assert list(iro.as_run(f"{path}#rankllm").to_dict()["q1"]) == ["b", "a"]
    assert list(iro.as_run(f"{path}#sentence-transformers").to_dict()["q1"]) == ["a", "b"]
    with pytest.raises(
        FormatError, match=r"#mine in its path says neither its form \(trec, msmarco, tevatron"
    ):
        iro.read_run(f"{FOLDER / 'mt-rag.jsonl'}#mine")
    three = tmp_path / "three.txt"
    three.write_text("q1 a 2\nq1 b 1\n")
    assert iro.as_run(f"{three}#tevatron").to_dict() == {"q1": {"a": 2.0, "b": 1.0}}
    assert iro.as_run(f"{three}#msmarco").to_dict() == {"q1": {"a": -2.0, "b": -1.0}}


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "rankllm.jsonl",
            '"docid": "d1", "score": 1.25',
            '"id": "d1"',
            "line 2: entry 2 has no 'docid' as a run of",
        ),
        (
            "mt-rag.jsonl",
            '"score": 0.5',
            '"score": "x"',
            "line 2: document d3 of query q2: a score or grade must be a number",
        ),
        (
            "rank-eval.qrels.json",
            '"rating": 2',
            '"grade": 2',
            "entry 2 has no 'rating' as qrels of the form",
        ),
    ],
)
def test_damage_is_located(name: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    path, text = tmp_path / name, (FOLDER / name).read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(FormatError, match=rf"(?s){message}"):
        read(path)


@given(
    st.sampled_from(FILES),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 5), st.binary(max_size=3)), max_size=3),
)
def test_a_damaged_file_is_read_or_refused(
    name: str, damages: list[tuple[int, int, bytes]]
) -> None:
    content = bytearray((FOLDER / name).read_bytes())
    for start, size, inserted in damages:
        content[start : start + size] = inserted
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", iro.IrOutcomesWarning)
        path = Path(folder, name)
        path.write_bytes(content)
        for damaged in (iro.read_run, iro.read_qrels, query_texts, texts_in):
            with suppress(IrOutcomesError):
                damaged(path)


@pytest.mark.realdata
def test_a_run_of_mt_rag(real_data: Path) -> None:
    run = iro.read_run(real_data / "mt-rag" / "elser.lastturn.fiqa.jsonl.gz")
    theirs = iro.read_run(real_data / "mt-rag" / "elser.lastturn.run.gz").to_dict()
    assert run.to_dict() == {query: theirs[query] for query in run.query_ids}


def table() -> str:
    """The table of docs/formats.md; ``python -m tests.reading.test_forms`` writes it there."""
    rows = ["| form | written by | read as | recognized by |", "|---|---|---|---|"]
    for form in FORMS:
        records = form.records and form.records + ("" if form.records.endswith("*") else "[]")
        listed = (
            f"{records}.{form.items[0].strip('.')}".strip(".") + "[]" if form.items else records
        )
        places = [(records, form.query), (listed, form.document), (listed, form.value)]
        names = [
            f"{place}.{part[0]}".strip(".") for place, part in places if part and part != ("*",)
        ]
        if form.items and not form.document:
            names.append(listed)
        keys = (
            f"{form.layout.columns} columns"
            if form.layout
            else ", ".join(f"`{name}`" for name in names)
        )
        rows.append(f"| `{form.name}` | [{form.written_by}]({form.link}) | {form.what} | {keys} |")
    return "\n".join(rows) + "\n"


PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
START, END = "<!-- the table of forms -->\n\n", "\n<!-- end of the table -->\n"


def test_the_page_has_the_table() -> None:
    assert f"{START}{table()}{END}" in PAGE.read_text()


if __name__ == "__main__":
    page = PAGE.read_text()
    PAGE.write_text(page[: page.index(START)] + START + table() + page[page.index(END) :])
