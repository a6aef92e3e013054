"""The forms of files: each is read like the same data as TREC writes it.

The fixtures in ``forms/`` hold one run or its qrels. Tevatron's was written by its `write_ranking`
(0.1.0); the others follow the code that writes them (sentence-transformers 6.2, DPR, ColBERT), or
the documentation (MT-RAG, TREC RAG, Quepid, AutoRAG).
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
from ir_outcomes.reading.forms import QRELS, RUN
from ir_outcomes.reading.texts import query_texts, texts_in

FOLDER = Path(__file__).parent / "forms"
QUERIES = {"q1": "do lemons float", "q2": "who was first"}
PASSAGES = {"d1": "Lemons float.", "d2": "Limes sink.", "d3": "The first was Ada."}
FILES = sorted(path.name for path in FOLDER.iterdir())
WITH_PASSAGES = [name for name in FILES if name.startswith(("mt-rag", "dpr"))]
WITH_TEXTS = [
    *WITH_PASSAGES,
    *(name for name in FILES if name.startswith(("trec-rag", "sentence", "re"))),
]
RELEVANT_ONLY = ("dpr", "relevant-ids", "retrieval-gt")


def read(path: Path) -> Any:
    return iro.read_qrels(path) if ".qrels." in path.name else iro.read_run(path)


def expected_of(name: str) -> dict[str, dict[str, float]]:
    """What TREC's form of the same data says: graded, and by score, where the form is."""
    if ".qrels." in name:
        nested: Any = iro.read_qrels(FOLDER / "trec.qrels.txt").to_dict()
        if name.startswith(RELEVANT_ONLY):
            nested = {
                query: {document: 1 for document in grades if grades[document]}
                for query, grades in nested.items()
            }
    else:
        # Those of DPR are texts.
        has_scores = "3.5" in (FOLDER / name).read_text() and not name.startswith("dpr")
        by = "score" if has_scores else "rank"
        nested = iro.read_run(FOLDER / "trec.run", by=by).to_dict()  # type: ignore[arg-type]
    by_text = name.startswith(("dpr", "quepid"))
    return {QUERIES[query] if by_text else query: ranking for query, ranking in nested.items()}


@pytest.mark.parametrize("name", FILES)
def test_each_form_is_read_like_the_same_data_of_trec(name: str, tmp_path: Path) -> None:
    packed, marked = tmp_path / f"{name}.gz", tmp_path / f"marked-{name}"
    packed.write_bytes(gzip.compress((FOLDER / name).read_bytes()))
    marked.write_bytes(b"\xef\xbb\xbf" + (FOLDER / name).read_bytes().replace(b"\n", b"\r\n"))
    for path in (FOLDER / name, packed, marked):
        assert read(path).to_dict() == expected_of(name)


@pytest.mark.parametrize("name", WITH_TEXTS)
def test_texts_of_queries_and_documents_come_along(name: str) -> None:
    found = texts_in(FOLDER / name)
    texts = QUERIES
    if name.startswith("dpr"):
        texts = {text: text for text in QUERIES.values()}
    if name.startswith("mt-rag"):
        texts = {}
    assert dict(read(FOLDER / name).texts) == found.queries == texts
    assert bool(found.documents) == (name in WITH_PASSAGES)
    assert found.documents.items() <= PASSAGES.items()


def test_texts_of_a_run_are_those_of_an_evaluation() -> None:
    path, judged = FOLDER / "sentence-transformers.jsonl", {"q1": {"d1": 1}, "q2": {"d3": 1}}
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
        as_object = iro.as_qrels if ".qrels." in name else iro.as_run
        assert as_object(records).to_dict() == expected_of(name)
        path.write_text(json.dumps(records[0]))
        assert list(read(path).query_ids) == ["q1"]


LISTS = [(RUN, name) for name in RUN.id_lists] + [(QRELS, name) for name in QRELS.id_lists]
OBJECTS = [(RUN, name) for name in RUN.object_lists] + [(QRELS, name) for name in QRELS.object_lists]  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), LISTS + OBJECTS)
def test_every_name_of_a_list_is_read_on_its_side_only(kind: Any, name: str, write: Any) -> None:
    item: Any = "d" if name in kind.id_lists else {"id": "d", "text": "a passage"}
    path = write(json.dumps({"id": "q", "question": "x", name: [item]}) + "\n")
    right, wrong = iro.read_run, iro.read_qrels
    if kind is QRELS:
        right, wrong = iro.read_qrels, iro.read_run  # type: ignore[assignment]
    assert list(right(path).to_dict()["q"]) == ["d"]
    with pytest.raises(FormatError, match=r"were the arguments swapped\?"):
        wrong(path)


def test_one_file_may_hold_both_sides(write: Any) -> None:
    lines = write('{"user_input": "x", "retrieved_context_ids": ["b", "a"], "reference_context_ids": ["a"]}\n')  # fmt: skip
    assert iro.read_run(lines).to_dict() == {"x": {"b": -1.0, "a": -2.0}}
    assert iro.read_qrels(lines).to_dict() == {"x": {"a": 1}}
    table = write("query_id,doc_id,score,rank,relevance\nq,a,2,2,1\nq,b,1,1,0\n", "both.csv")
    for order, scores in (("score", {"a": 2.0, "b": 1.0}), ("rank", {"a": -2.0, "b": -1.0})):
        assert iro.as_run(f"{table}#{order}").to_dict() == {"q": scores}
        assert iro.as_qrels(f"{table}#{order}").to_dict() == {"q": {"a": 1, "b": 0}}


def test_an_id_comes_before_a_text_and_general_names_before_others(write: Any) -> None:
    frame = "qid,docid,docno,rank,score,query\nq1,7,d2,0,3.5,lemons\n"  # of PyTerrier
    assert iro.read_run(write(frame, "a.csv")).to_dict() == {"q1": {"d2": 3.5}}
    assert iro.read_qrels(write("q_id,doc_id,score,relevance\nq1,d2,1,2\n", "b.csv")).to_dict() == {
        "q1": {"d2": 2}
    }
    for header in ("id,question,docId,score", "Query ID,id,Doc ID,score", "id,query,pid,score"):
        run = iro.read_run(write(f"{header}\nq1,x,d,2.5\n", "c.csv"))
        assert run.to_dict() == {"q1": {"d": 2.5}}
    assert iro.read_run(write("query,id,score\nlemons,d,1\n", "d.csv")).query_ids == ("lemons",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            '{"name": "j", "type": "x", "judgmentRatings": [{"query": "a", "ratings": []}]}',
            "name, type, judgmentRatings",
        ),
        ('{"run_name": "r", "turns": [{"turn_id": "1", "responses": []}]}', "run_name, turns"),
        ('[{"qid": "q", "relevant_idz": ["d"]}]', "relevant_idz"),
        ('{"mteb_model_meta": {"a": "b"}, "default": {"test": {"q": {"d": 1}}}}', "mteb_model"),
    ],
)
def test_json_of_no_form_is_refused_with_its_keys(text: str, words: str, write: Any) -> None:
    with pytest.raises(FormatError, match=rf"has the keys .*{words}.* such as"):
        iro.read_qrels(write(text))


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "sentence-transformers.jsonl",
            '"corpus_id": "d1", "score": 1.25',
            '"doc": "d1"',
            "line 2: has no 'corpus_id', as a run",
        ),
        (
            "mt-rag.jsonl",
            '"score": 0.5',
            '"score": "x"',
            "line 2: document d3 of query q2: a score or grade must be a number",
        ),
        ("columns.jsonl", '"score": 0.5', '"x": 1', "line 4: has no 'score'"),
        ("lists.jsonl", '"doc_ids": ["d1", "d3"]', '"doc_ids": 5', "line 2: has no list"),
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


def test_documents_that_are_to_be_left_out_of_rankings_are_refused() -> None:
    entry = {"query_id": "q1", "gold_ids": ["a", "b"]}
    for excluded in ([], ["N/A"]):  # as BRIGHT writes that there are none
        assert len(iro.as_qrels([{**entry, "excluded_ids": excluded}])) == 2
    with pytest.raises(FormatError, match="excluded_ids"):
        iro.as_qrels([{**entry, "excluded_ids": ["c"]}])


def test_qrels_that_are_lists_of_documents() -> None:
    assert iro.as_qrels({"q1": ["a", "b"]}).to_dict() == {"q1": {"a": 1, "b": 1}}


def test_an_iterator_that_was_read_says_so() -> None:
    rows = iter([{"query_id": "q1", "doc_id": "a", "relevance": 1}])
    assert len(iro.as_qrels(rows)) == 1
    with pytest.raises(FormatError, match="an iterator with nothing left"):
        iro.as_qrels(rows)
