"""Malformed and hostile files of lines: the right answer or an error of ours, at bounded cost, never a crash."""

import bz2
import gzip
import json
import lzma
import os
import re
import sys
import tempfile
import threading
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.errors import (
    FormatError,
    InputError,
    IrOutcomesWarning,
    ParameterError,
    UnreadableFile,
)
from ir_outcomes.reading import files, forms, lines

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GOOD = "q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 2.0 t\nq2 Q0 d1 1 1.5 t\n"
EXPECTED = {"q1": {"d1": 3.0, "d2": 2.0}, "q2": {"d1": 1.5}}


@pytest.mark.parametrize(
    ("old", "new"), [(" ", " "), ("\n", "\r\n"), (" ", "\t"), (" ", " \t  "), ("\n", "\n\n \t\n")]
)
def test_what_changes_no_number(write: Any, old: str, new: str) -> None:
    for content in (GOOD, "\n\n" + GOOD, "  " + GOOD, GOOD.rstrip("\n"), "\ufeff" + GOOD):
        assert iro.read_run(write(content.replace(old, new))).to_dict() == EXPECTED
    run = iro.read_run(
        write(
            "q'1 Q0 \"d,1\" 1 3.0 t\nq'1 Q0 dé\u00a0ü 2 2e0 t\nq'1 Q0 D#0 3 -inf t\n".replace(
                old, new
            )
        )
    )
    assert run.to_dict() == {"q'1": {'"d,1"': 3.0, "dé\u00a0ü": 2.0, "D#0": float("-inf")}}


@pytest.mark.parametrize("library", [gzip, zstd])
def test_compression_is_told_by_content_and_damage_is_noticed(write: Any, library: Any) -> None:
    compress = library.compress
    first, second = compress(GOOD[:17].encode()), compress(GOOD[17:].encode())
    for path in (
        write(compress(GOOD.encode()), "no-ending"),
        write(first + second),
        write(GOOD, "plain.run.gz"),
    ):
        assert iro.read_run(path).to_dict() == EXPECTED
    noise = "".join(f"q{n} Q0 d{hash((n, n))} 1 1.0 t\n" for n in range(2000))
    whole = compress(noise.encode())
    later = (b"\x01" + second[1:], second[:-9], b"garbage!")
    for damaged in (whole[: len(whole) // 2], whole[:-5], *(first + damage for damage in later)):
        with pytest.raises(
            UnreadableFile, match=r"a\.run: cannot be read to its end .*truncated or damaged"
        ):
            iro.read_run(write(damaged))


@pytest.mark.parametrize(("library", "remedy"), [(bz2, "bunzip2"), (lzma, "unxz")])
def test_other_compression_is_refused_with_the_program_that_undoes_it(
    write: Any, library: Any, remedy: str
) -> None:
    for path in (
        write(library.compress(GOOD.encode())),
        write(gzip.compress(library.compress(b"q"))),
    ):
        with pytest.raises(FormatError, match=rf"is compressed by .*\({remedy}\)"):
            iro.read_run(path)
    assert iro.read_run(write("BZh91 Q0 d1 1 1.0 t\n")).to_dict() == {"BZh91": {"d1": 1.0}}


def test_names_of_files_and_paths_that_are_none(tmp_path: Path, write: Any) -> None:
    names = ("a.run", "b.v2.trec.xz", "c", "run.txt", "d.RUN.GZ", "e.f", "g.jsonl.gz")
    assert [files.name_of(f"/x/{name}") for name in names] == [
        "a",
        "b.v2",
        "c",
        "run",
        "d",
        "e.f",
        "g",
    ]
    write(GOOD, "bm25.run")
    (tmp_path / "link.run").symlink_to("nothing.run")
    for path, message in (
        (tmp_path / "bm26.run", r"bm26\.run: no such file; did you mean .*bm25\.run\?"),
        (tmp_path / "link.run", r"link\.run: no such file; this is a link to nothing"),
        (tmp_path / "nowhere" / "a.run", r"the folder .* does not exist"),
        (tmp_path, "a directory or device, not a file"),
        ("/dev/zero", "a directory or device, not a file"),
    ):
        with pytest.raises(UnreadableFile, match=message):
            iro.read_run(path)


def test_msmarco_columns_and_ordering_by_rank(write: Any) -> None:
    path, trec = (
        write("q1\td1\t2\nq1\td2\t1\n", "msmarco"),
        write("q1 Q0 d1 2 9.0 t\nq1 Q0 d2 1 1.0 t\n"),
    )
    for run in (
        iro.read_run(path, by="rank"),
        iro.as_run(f"{path}#rank"),
        iro.read_run(trec, by="rank"),
    ):
        assert (run.by_rank, run.to_dict()) == (True, {"q1": {"d1": -2.0, "d2": -1.0}})
    for wrong in ("inf", "1.5", "nan"):
        with pytest.raises(
            FormatError, match=r"line 1: .*(the rank is not a number|a rank must be a whole number)"
        ):
            iro.read_run(write(f"q1\td1\t{wrong}\n"), by="rank")
    with pytest.raises(ParameterError, match="`by='date'`: must be one of score, rank"):
        iro.read_run(trec, by="date")  # type: ignore[arg-type]


def readers_agree(data: bytes, layout: forms.Layout) -> Any:
    """Check that NumPy's reader says the same as the plain one or declines, and return what they say."""
    if not data.strip():  # neither reader is given blank blocks
        return None, ()
    block = files.Block(1, data)
    fast = None
    try:
        fast = lines._by_numpy(block, layout, "text")
        plain = lines._plainly(block, layout, "text")
    except FormatError:
        assert fast is None
        return None, None
    if fast is not None:
        assert (fast.query_ids, fast.docids.tolist()) == (plain.query_ids, plain.docids.tolist())
        for name in ("codes", "values", "ranks"):  # to the last bit, but for the sign of 0
            np.testing.assert_array_equal(getattr(fast, name), getattr(plain, name))
        for row in range(len(fast.codes)):
            assert fast.line_of(row) == plain.line_of(row)
    return fast, plain


id_characters = st.characters(
    codec="utf-8", exclude_categories=["Cs", "Z", "Cc"], exclude_characters="\ufeff#"
)
ids = st.text(id_characters, min_size=1, max_size=40)
rows = st.lists(
    st.tuples(ids, ids, st.floats(allow_nan=False), st.sampled_from([" ", "\t", "  ", " \t"])),
    min_size=1,
    max_size=20,
    unique_by=lambda row: row[:2],
)


@given(rows=rows, newline=st.sampled_from(["\n", "\r\n", "\n\n"]), size=st.integers(1, 200))
def test_both_readers_and_any_size_of_blocks_say_the_same(
    rows: list[Any], newline: str, size: int
) -> None:
    text = newline.join(
        f"{q}{gap}Q0{gap}{d}{gap}1{gap}{score!r}{gap}t" for q, d, score, gap in rows
    )
    fast, plain = readers_agree(text.encode(), forms.RUN.layouts[0])
    assert fast is not None
    assert plain.docids.tolist() == [d.encode() for _, d, _, _ in rows]
    assert plain.values.tolist() == [score for _, _, score, _ in rows]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder, "a.run")
        path.write_bytes(text.encode())
        whole = iro.read_run(path)
        patch.setattr(files, "BLOCK_SIZE", size)
        parts = iro.read_run(path)
    for name in ("query_ids", "offsets", "docids", "scores"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


numerals = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.tuples(st.floats(-1e9, 1e9), st.integers(0, 17)).map(lambda pair: f"{pair[0]:.{pair[1]}f}"),
    st.tuples(st.integers(0, 10**19), st.integers(0, 21)).map(
        lambda pair: f"{Decimal(f'{pair[0]}e-{pair[1]}'):f}"
    ),
    st.integers(2**53 - 5, 2**54).map(str),
    st.from_regex(r"[-+]?[0-9]{0,17}(\.[0-9]{0,17})?", fullmatch=True),
    st.sampled_from(
        [
            "1e5",
            "1E-7",
            "inf",
            "-0",
            "5e-324",
            "123456789.5",
            "12345678.1234567",
            "0.000000000000001",
        ]
    ),
    st.sampled_from(
        ["1_0", "--5", ".", "-", "1.2.3", "5..", "0x1", "1,5", "nan", "12345678a", "\u0665"]
    ),
)


@given(
    texts=st.lists(numerals.filter(bool), min_size=1, max_size=8),
    beside=st.sampled_from(["1", "1.", ".", "5.25", "-", "12345678.12345678"]),
)
def test_numbers_are_those_of_float(texts: list[str], beside: str) -> None:
    text = "".join(f"q {beside} d{number} 1 {each} {beside}\n" for number, each in enumerate(texts))
    fast, plain = readers_agree(text.encode(), forms.RUN.layouts[0])
    assert (fast is None) == (plain is None)


@given(
    st.lists(
        st.sampled_from(
            [
                *b"q1 d1 1 2.5 nan , \t \n \r \x0b \x1c \x01 \0 \xc3 \xa0 \xc3\xa0 _ #".split(b" "),
                *(b" ", b'"', b"a,d1,2\n"),
            ]
        )
    )
)
def test_the_fast_reader_declines_what_the_plain_one_refuses(noise: list[bytes]) -> None:
    for layout in (*forms.RUN.layouts, *forms.QRELS.layouts):
        readers_agree(b"".join(noise), layout)
    for separator in ",\t;":
        table = forms.Layout(
            3, query=0, document=1, value=2, value_name="score", separator=separator
        )
        readers_agree(b"".join(noise).replace(b",", separator.encode()), table)


@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    '{"a":1}',
                    '{"a":1,"b":"c"}',
                    '{"a":1,"a":2}',
                    '{"a":{"b":1,"b":2}}',
                    '{"a":NaN}',
                ),
                *(
                    '{"a":1e400,"b":-0.0}',
                    '{"a":12345678901234567890123}',
                    '{"a":"\\ud800"}',
                    '{"a":\n',
                ),
                *(
                    '{"a":"\\"\\u0022","a":1}',
                    '{"a":"}\n{"}',
                    '{"a":"\x01"}',
                    '{"a":"é\\""}',
                    "\n",
                    "}",
                ),
                *("\n", "\n", "\r\n", " "),
            ]
        )
    )
)
def test_json_lines_at_once_are_those_one_by_one(parts: list[str]) -> None:
    block = files.Block(3, "".join(parts).encode())

    def expected() -> list[Any]:
        lines = files.lines_in([block], "text")
        return [(number, files.parsed_json(line, "text", number)) for number, line in lines]

    try:
        right = repr(expected())  # NaN is NaN in it
    except FormatError as error:
        with pytest.raises(FormatError, match=re.escape(str(error))):
            files.json_lines(block, "text")
    else:
        records, numbers = files.json_lines(block, "text")
        assert repr([*zip(numbers, records, strict=True)]) == right


@pytest.mark.parametrize("size", [7, 1 << 19])
@pytest.mark.parametrize(
    ("rows", "line"),
    [("q,a,3\nq,b,2\nq,a,1\n", 4), ("\nq,b,2\n\nq,a,3\nq,a,1", 6), ('q,"a\nb",2\nq,"a\nb",3\n', 5)],
)
def test_errors_of_tables_name_lines(
    write: Any, monkeypatch: pytest.MonkeyPatch, rows: str, line: int, size: int
) -> None:
    monkeypatch.setattr(files, "BLOCK_SIZE", size)
    with pytest.raises(FormatError, match="is ranked twice") as raised:
        iro.read_run(write(f"qid,docno,score\n{rows}", "a.csv"))
    assert raised.value.line == line
    wrong = write(f"qid,docno,score\n{rows}\nq,c,x\n", "a.csv")
    with pytest.raises(FormatError, match="the score is not a number") as raised:
        iro.read_run(wrong)
    assert raised.value.line == len(wrong.read_text().splitlines())


@given(
    n_fields=st.lists(st.sampled_from([0, 5, 6, 7, 12]), min_size=1, max_size=4),
    gap=st.sampled_from([" ", "  "]),
)
def test_lines_have_the_fields_of_a_run_however_many_are_on_others(
    n_fields: list[int], gap: str
) -> None:
    """Lines of too few and of too many fields can have as many as right ones together."""
    row = ["q1", "Q0", "d1", "1", "2.0", "t"]
    rows = [gap.join((3 * row)[:number]) for number in n_fields]
    fast, plain = readers_agree("\n".join(rows).encode() + b"\n", forms.RUN.layouts[0])
    is_wrong = any(number not in (0, 6) for number in n_fields)
    assert (plain is None) == is_wrong
    assert (fast is None) == (is_wrong or not any(n_fields))


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(1, 5)), min_size=1
    ),
    by=st.sampled_from(["score", "rank"]),
    duplicates=st.sampled_from(["first", "max"]),
)
def test_what_counts_of_a_repeated_document(rows: Any, by: Any, duplicates: Any) -> None:
    """Its first line, or the best: the first of the highest scores or of the smallest ranks."""
    sign = 1 if by == "score" else -1
    rows = [
        (query, document, 10 * value + place) for place, (query, document, value) in enumerate(rows)
    ]
    expected: dict[str, dict[str, float]] = {}
    for query, document, value in rows:
        ranking = expected.setdefault(query, {})
        if document not in ranking or (duplicates == "max" and sign * value > ranking[document]):
            ranking[document] = sign * value
    table = pd.DataFrame(rows, columns=["qid", "docno", by])
    assert iro.as_run(table, duplicates=duplicates).to_dict() == expected


def test_the_order_of_what_counts_of_a_repeated_document(write: Any) -> None:
    path = write("q Q0 a 1 9 t\nq Q0 b 2 6 t\nq Q0 c 3 7 t\nq Q0 b 4 8 t\np Q0 a 1 1 t\n")
    with pytest.raises(FormatError, match="line 4: document b of query q is ranked twice"):
        iro.read_run(path)
    first, best = (iro.read_run(path, duplicates=each) for each in ("first", "max"))
    assert list(first.to_dict()["q"].items()) == [("a", 9.0), ("b", 6.0), ("c", 7.0)]
    assert list(best.to_dict()["q"].items()) == [("a", 9.0), ("c", 7.0), ("b", 8.0)]
    assert iro.as_run({"q": ["a", "a", "b"]}, duplicates="first").to_dict() == {
        "q": {"a": -1.0, "b": -3.0}
    }
    with pytest.raises(ParameterError, match="`duplicates='best'`: must be one of first, max"):
        iro.read_run(path, duplicates="best")  # type: ignore[arg-type]
    assert first.against_ranks is not None
    assert first.against_ranks.tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "against"),
    [
        ("q Q0 a 1 1 t\nq Q0 b 2 2 t\n", [True]),
        ("q Q0 a 1.5 1 t\nq Q0 b 1.7 2 t\n", [True]),
        ("q Q0 a - 1 t\nq Q0 b 2 2 t\n", None),
        ("qid,docno,rank,score\nq,a,1,1\nq,b,2,2\n", [True]),
        ('{"qid": "q", "docno": "a", "rank": 2, "score": 1}\n{"qid": "q", "docno": "b", "rank": 1, "score": 2}', None),
        ('{"qid": "q", "hits": [{"docno": "a", "rank": 1, "score": 1}, {"docno": "b", "rank": 2, "score": 2}]}', [True]),
        ("qid,docno,score\nq,a,1\nq,b,2\n", None),
        ('{"q": {"a": 1, "b": 2}}', None),
        ("q a 1.5\nq b 2.5\n", None),
    ],
)  # fmt: skip
def test_only_scores_beside_ranks_can_contradict_them(
    text: str, against: list[bool] | None, write: Any
) -> None:
    found = iro.read_run(write(text)).against_ranks
    assert (None if found is None else found.tolist()) == against


@pytest.mark.parametrize("size", [10, 1 << 19])
def test_ranks_in_one_list_and_scores_in_another_are_refused(
    write: Any, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(files, "BLOCK_SIZE", size)
    rows = [{"id": "a", "rank": 1}], [{"id": "b", "score": 2.5}]
    lines = [json.dumps({"qid": f"q{number}", "hits": hits}) for number, hits in enumerate(rows)]
    with pytest.raises(FormatError) as refused:
        iro.read_run(write("\n".join(lines)))
    assert refused.value.line == 2


def test_queries_whose_lines_are_apart_are_counted(write: Any) -> None:
    together, apart = GOOD, GOOD + "q1 Q0 d3 3 1.0 t\nq3 Q0 d1 1 1.0 t\n"
    assert [iro.read_run(write(text)).scattered for text in (together, apart)] == [0, 1]
    assert iro.read_run(write(apart)).to_dict()["q1"] == {"d1": 3.0, "d2": 2.0, "d3": 1.0}


@pytest.mark.parametrize(
    ("values", "meaning"),
    [
        ({"q1": [1, 2, 3], "q2": [1]}, "rank"),
        ({"q1": [1], "q2": [1]}, "rank"),  # one document for each query
        ({"q1": [1, 2, 2.5]}, "score"),
        ({"q1": [3, 2, -1], "q2": [5]}, "score"),
        ({"q1": [30, 20, 10], "q2": [5]}, None),
        ({"q1": [2, 1], "q2": [30, 20]}, None),
        ({"q1": [1, 3, 2]}, None),
        ({"q1": [0, 1, 2]}, None),
    ],
)
@pytest.mark.parametrize("mixed", [False, True])
def test_three_columns_have_ranks_or_scores_or_must_say_which(
    write: Any, values: dict[str, list[float]], meaning: str | None, mixed: bool
) -> None:
    """Whole scores were read as ranks, the order reversed."""
    lines = [
        (place, f"{query}\td{place}\t{value}\n")
        for query in values
        for place, value in enumerate(values[query])
    ]
    # The lines of a query may be apart.
    path = write("".join(line for _, line in (sorted(lines) if mixed else lines)))
    if meaning is None:
        with pytest.raises(
            FormatError, match=r"ranks or scores; .*say it as FILE#rank or FILE#score"
        ):
            iro.read_run(path)
    else:
        assert iro.read_run(path).by_rank == (meaning == "rank")
    assert not iro.read_run(path, by="score").by_rank
    expected = {
        query: {f"d{place}": value for place, value in enumerate(found)}
        for query, found in values.items()
    }
    assert iro.as_run(f"{path}#score").to_dict() == expected


class Row(NamedTuple):
    query: str


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (
            {1.0: {"d": 1.0}},
            r"a query id must be text or a whole number, not float; convert it to str first",
        ),
        ({"q": {"d": "high"}}, r"a score or grade must be a number\n  \"'high'\""),
        ({"q": {"d": float("nan")}}, r"document d of query q has no score or grade \(NaN\)"),
        ({"q": 1.0}, r"is not a dict of dict"),
        ({"q": {"d": True}}, "a score or grade must be a number"),
        *(
            (pd.DataFrame({"qid": ["q"], "docno": ["d"], "score": [odd]}), "must be a number")
            for odd in (True, 1j)
        ),
        (
            {1: {"d": 1.0}, "1": {"d": 1.0}},
            r"contains the same query id twice, once as text and once as a number",
        ),
        ({"q": {1: 1.0, "1": 2.0}}, r"document 1 of query q is ranked twice"),
        ([("q", "d", 1.0)], r"is not a named tuple"),
        ([Row("q")], r"has no column 'doc_id'"),
        ({"q": ["a", "a"]}, "document a of query q is ranked twice"),
        (3, r"cannot be read from a int"),
    ],
)
def test_wrong_objects(run: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        iro.as_run(run)


def test_all_negative_grades_are_minus_one_for_trec_eval() -> None:
    qrels = iro.as_qrels({"q1": {"d1": -3, "d2": -1, "d3": 0, "d4": 2}})
    assert qrels.for_trec_eval().to_dict() == {"q1": {"d1": -1, "d2": -1, "d3": 0, "d4": 2}}


def test_qrels_keep_queries_without_judgments_and_count_a_judgment_once(write: Any) -> None:
    qrels = iro.as_qrels({"q1": {"d1": 1, "d2": -1}, "q2": {}})
    assert (qrels.query_ids, qrels.to_dict()) == (
        ("q1", "q2"),
        {"q1": {"d1": 1, "d2": -1}, "q2": {}},
    )
    lengths = iro.search_lengths(qrels, {"q1": {"d2": 2.0, "d1": 1.0}}, judged_only=True)
    assert lengths.esl()[0] == 1.0  # a negative grade is no judgment
    with pytest.raises(FormatError, match="contains no judgments"):
        iro.as_qrels({})
    with pytest.warns(
        IrOutcomesWarning, match=r"a\.run: 1 judgment repeated with the same grade and counted once"
    ):
        assert iro.read_qrels(write("q1 0 d1 1\nq2 0 d1 1\nq1 0 d1 1\n")).to_dict() == {
            "q1": {"d1": 1},
            "q2": {"d1": 1},
        }


def test_a_pipe_is_read_once_in_the_process_that_has_it(tmp_path: Path, write: Any) -> None:
    pipe, file = tmp_path / "pipe", write("q1 Q0 d1 1 3.0 t\n")
    os.mkfifo(pipe)

    def written(text: str, read: Callable[[], Any]) -> Any:
        writer = threading.Thread(target=pipe.write_text, args=(text,))
        writer.start()
        try:
            return read()
        finally:
            writer.join()

    with pytest.raises(FormatError, match=r"pipe: document d1 of query q1 is ranked twice"):
        written("q1 Q0 d1 1 3.0 t\nq1 Q0 d1 2 2.0 t\n", lambda: iro.read_run(pipe))
    found = written(
        "q1 Q0 d1 1 1.0 t\n", lambda: iro.evaluate({"q1": {"d1": 1}}, [file, pipe], n_jobs=2)
    )
    assert [table.rank.tolist() for table in found] == [[1], [1]]


MIB = 1 << 20
LINE = b"q1 Q0 d1 1 1.0 t\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x" * (16 * MIB), "has 1 column"),
        (LINE + b"x" * (16 * MIB), "line 2: a line longer than"),
        (LINE * MIB, "expands to more than 200 times its size: a decompression bomb?"),
        (
            LINE + b"\n" * (16 * MIB),
            "expands to more than 200 times its size: a decompression bomb?",
        ),
    ],
)
def test_bombs_are_refused_before_they_fill_the_memory(
    write: Any, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str
) -> None:
    monkeypatch.setattr(files, "UNSUSPICIOUS", 2 * MIB)
    path = write(gzip.compress(content))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=message):
            iro.read_run(path)
        assert tracemalloc.get_traced_memory()[1] < 48 * MIB
    finally:
        tracemalloc.stop()


def test_bombs_in_a_pipe_are_refused(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "UNSUSPICIOUS", 2 * MIB)
    end, start = os.pipe()
    os.write(start, gzip.compress(LINE * MIB))
    os.close(start)
    with pytest.raises(UnreadableFile, match="expands to more than 200 times its size"):
        iro.read_run(f"/dev/fd/{end}")
    os.close(end)


@pytest.mark.parametrize("form", ["TREC", "JSON lines", "dict"])
def test_one_long_id_does_not_widen_all(write: Any, form: str, tmp_path: Path) -> None:
    """Ids are alike to whatever reads them, and memory does not grow by the length of one."""
    documents = [f"d{place}" for place in range(100_000)]
    documents[60_000:60_000] = ["e" * 97, "e" * 900 + "b", "e" * 900 + "a"]
    run = {"q": dict.fromkeys(documents, 1.5), "r": {"d1": 2.0, "d2": 1.5}}
    rows = [(query, name, score) for query in run for name, score in run[query].items()]
    source: Any = run
    if form == "TREC":
        source = write("".join(f"{query} Q0 {name} 1 {score} t\n" for query, name, score in rows))
    elif form == "JSON lines":
        line = '{{"qid": "{}", "docno": "{}", "score": {}}}\n'
        source = write("".join(line.format(*row) for row in rows))
    tracemalloc.start()
    found = iro.as_run(source)
    assert tracemalloc.get_traced_memory()[1] < 60 * MIB
    tracemalloc.stop()
    assert found.to_dict() == run
    judged = {"q": dict.fromkeys(documents[59_998:60_005], 1), "r": {"d2": 1, "e" * 900: 1}}
    ranks = iro.search_lengths(judged, found).rank.tolist()
    order = sorted(documents, reverse=True)  # equal scores: the last id first
    assert ranks == [*(1 + order.index(name) for name in judged["q"]), 2, 0]
    iro.evaluate(judged, [found]).save(tmp_path / "long.npz")
    loaded: Any = iro.load_evaluation(tmp_path / "long.npz")
    assert loaded[0].rank.tolist() == ranks


@pytest.mark.parametrize("separator", [" ", "\t"])
def test_ids_have_at_most_1000_bytes_whichever_reader_takes_them(
    separator: str, write: Any
) -> None:
    for own, other in (("d" * 1000, "q"), ("d", "q" * 1000)):
        for end in ("", "\u2003"):  # white space that only the plain reader knows
            path = write(separator.join((other, "Q0", own, "1", "2.0", "t" + end)) + "\n")
            assert iro.read_run(path).to_dict() == {other: {own: 2.0}}
            for longer in ((other + "x" * 1000, own), (other, own + "x" * 1000)):
                path = write(
                    separator.join((longer[0], "Q0", longer[1], "1", "2.0", "t" + end)) + "\n"
                )
                with pytest.raises(FormatError, match="is longer than 1000 bytes"):
                    iro.read_run(path)


def test_a_long_id_in_lines_without_q0_is_refused_with_the_file_and_line(write: Any) -> None:
    path = write(f"\nq d 1 2.0\nq {'d' * 1001} 2 1.0\n")
    with pytest.raises(FormatError, match=f"{re.escape(str(path))}, line 3: a document id is"):
        iro.read_run(path)


@pytest.mark.parametrize("size", [*range(50, 58), 1000])
def test_a_block_may_end_anywhere_behind_a_header(
    size: int, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = "query_id document docid rank score tag\n\n\n\n\n"
    monkeypatch.setattr(files, "BLOCK_SIZE", size)
    run = iro.read_run(write(header + "q1 Q0 d1 1 3.0 t\n\nq1 Q0 d2 2 1.5 t\n"))
    assert run.to_dict() == {"q1": {"d1": 3.0, "d2": 1.5}}
    with pytest.raises(FormatError, match="line 8: has 5 columns"):
        iro.read_run(write(header + "q1 Q0 d1 1 3.0 t\n\nq1 Q0 d2 2 1.5\n"))


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("document", "gap"), [("d", " "), ("d ", "\t"), ("3 ", "\t")])
def test_ranks_of_lines_without_q0_are_checked_to_the_end(
    first: int, document: str, gap: str, write: Any
) -> None:
    rows = [("q", f"{document}{n}", str(n + first), str(100 - n)) for n in range(60)]
    lines = list(map(gap.join, rows))
    expected = {row[1]: float(row[3]) for row in rows}
    assert iro.read_run(write("\n".join(lines))).to_dict() == {"q": expected}
    for wrong in (59, 55):
        for line in (lines[wrong - 1], f"q{gap}x{gap}y{gap}1", f"q{gap}x{gap}1"):
            bad = [*lines[:wrong], line, *lines[wrong + 1 :], ""]
            with pytest.raises(FormatError) as refused:
                iro.read_run(write("\n".join(bad)))
            assert refused.value.line == wrong + 1


def test_the_first_document_can_be_called_0(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    for tag in ("", " t"):
        path.write_text(f"1 0 1 3.5{tag}\n1 4 2 2.5{tag}\n")
        assert iro.read_run(path).to_dict() == {"1": {"0": 3.5, "4": 2.5}}


@pytest.mark.parametrize("grade", [100, 101])
def test_grade_limits_are_alike_in_all_columns_without_names(grade: int, tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    for text in (
        f"q 0 d {grade}\nq 0 e 0\n",
        f"q d {grade}\nq e 0\n",
        f'{{"q": {{"d": {grade}, "e": 0}}}}',
        f'{{"query-id": "q", "corpus-id": "d", "score": {grade}}}\n{{"query-id": "q", "corpus-id": "e", "score": 0}}',
    ):
        path.write_text(text)
        if grade == 100:
            assert iro.read_qrels(path).to_dict() == {"q": {"d": 100, "e": 0}}
        else:
            with pytest.raises(FormatError, match="document d of query q has a grade above 100"):
                iro.read_qrels(path)
    path.write_text(f"query_id doc_id relevance\nq d {grade}\n")
    assert iro.read_qrels(path).to_dict() == {"q": {"d": grade}}


def test_what_is_wider_than_usual_or_has_blanks_is_read_whole(write: Any) -> None:
    """NumPy would cut query ids and numbers at its usual width."""
    query, number = "q" * 30, "0." + "1" * 30
    text = f"{query}1 Q0 d 1 {number} t\n{query}2 Q0 d 1 2.0 t\n"
    found = iro.read_run(write(text)).to_dict()
    assert found == {f"{query}1": {"d": float(number)}, f"{query}2": {"d": 2.0}}
    assert iro.read_run(write("q\tQ0\t a b \t1\t2.0\tt\n")).to_dict() == {"q": {"a b": 2.0}}
