"""What is found in files before a number is computed: corruptions of real files, each with its remedy, and healthy ones."""

import gzip
import itertools
import os
import random
import re
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesWarning
from ir_outcomes.reading.runs import changes_by_rank
from ir_outcomes.samples import SUITE_COLLECTIONS, write_suite
from tests.helpers.sample import write_small_sample

Fields = list[list[str]]


def read(path: Path) -> Fields:
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return [line.split() for line in text.splitlines()]


def write(path: Path, lines: Fields) -> Path:
    path.write_text("".join(f"{' '.join(line)}\n" for line in lines))
    return path


def column(place: int, change: Callable[[str], str]) -> Callable[[Fields], Fields]:
    return lambda lines: [
        [*line[:place], change(line[place]), *line[place + 1 :]] for line in lines
    ]


def first_half_of_queries(lines: Fields) -> Fields:
    queries = list(dict.fromkeys(line[0] for line in lines))
    kept = {*queries[: len(queries) // 2]}
    return [line for line in lines if line[0] in kept]


def shuffled_scores(lines: Fields) -> Fields:
    draw = random.Random(1)
    found = []
    for _, own in groupby(lines, key=lambda line: line[0]):
        ranking = list(own)
        scores = [line[4] for line in ranking]
        draw.shuffle(scores)
        found += [[*line[:4], score, line[5]] for line, score in zip(ranking, scores, strict=True)]
    return found


DOCUMENT, QUERY, SCORE = 2, 0, 4
# What is done to a run of the sample; the kind of the problem, and the rule.
OF_RUNS: dict[str, tuple[Callable[[Fields], Fields], str, str]] = {
    "documents from a data frame": (
        column(DOCUMENT, "{}.0".format),
        "document ids",
        'a trailing ".0"',
    ),
    "queries from a data frame": (column(QUERY, "{}.0".format), "query ids", 'a trailing ".0"'),
    "queries with zeros": (column(QUERY, "00{}".format), "query ids", "leading zeros"),
    "queries with a prefix": (
        column(QUERY, "debian-{}".format),
        "query ids",
        'the prefix "debian-"',
    ),
    "queries with a suffix": (column(QUERY, "{}-a".format), "query ids", 'the suffix "-a"'),
    "capital letters": (column(DOCUMENT, str.upper), "document ids", "capital letters"),
    "a prefix": (column(DOCUMENT, "debian:{}".format), "document ids", 'the prefix "debian:"'),
    "a suffix": (column(DOCUMENT, "{}_amd64".format), "document ids", 'the suffix "_amd64"'),
    "quotes": (
        column(DOCUMENT, '"{}"'.format),
        "document ids",
        "quotes or white space around them",
    ),
    "a comma": (column(DOCUMENT, "{},".format), "document ids", "a trailing comma"),
    "a file ending": (column(DOCUMENT, "{}.json".format), "document ids", "the file ending"),
    "addresses": (
        lambda lines: [
            [*line[:2], f"https://debian.org/{len(line[2])}/{line[2]}", *line[3:]] for line in lines
        ],
        "document ids",
        "the path or address before the last slash",
    ),
    "passages": (
        lambda lines: [[*line[:2], f"{line[2]}#{line[3]}", *line[3:]] for line in lines],
        "document ids",
        'what follows the last "#"',
    ),
    "documents of some queries": (
        lambda lines: [
            [*line[:2], f"{line[2]}.0" if int(line[0]) % 2 else line[2], *line[3:]]
            for line in lines
        ],
        "document ids",
        'a trailing ".0"',
    ),
    "half of the queries": (first_half_of_queries, "missing queries", ""),
    "distances": (column(SCORE, lambda score: str(-float(score))), "scores against ranks", ""),
    "scores of another stage": (shuffled_scores, "scores against ranks", ""),
    "one score": (column(SCORE, lambda score: "1"), "equal scores", ""),
    "other topics": (column(QUERY, lambda query: f"{int(query) % 997:03}"), "query ids", ""),
    "another corpus": (
        column(DOCUMENT, lambda document: str(abs(hash(document)))),
        "document ids",
        "",
    ),
}


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_small_sample(folder, 200)
    return folder


@pytest.mark.parametrize("what", OF_RUNS)
def test_a_corrupted_run_is_found_with_its_remedy(what: str, sample: Path, tmp_path: Path) -> None:
    change, kind, rule = OF_RUNS[what]
    damaged = write(tmp_path / "new.run", change(read(sample / "bm25.run")))
    result = iro.check(sample / "qrels.txt", [sample / "bm25-stem.run", damaged])
    (problem,) = result.problems
    assert (problem.kind, problem.files[0], result.exit_status) == (kind, str(damaged), 3)
    if not rule:
        assert problem.findings[0].repair is None
        return
    assert problem.findings[0].repair is not None
    assert problem.findings[0].repair.rule == f"{rule} in the run"
    judged_at_10 = round(
        (iro.check(sample / "qrels.txt", sample / "bm25.run").files[1].judged or 0) * 2000
    )
    some = {"query ids": 200, "document ids": judged_at_10}[kind]
    assert problem.findings[0].repair.matches == some or what == "documents of some queries"
    assert (
        f"Without {rule} in the run {problem.findings[0].repair.matches} more would match."
        in str(problem)
    )


def test_queries_and_documents_are_both_found(sample: Path, tmp_path: Path) -> None:
    lines = column(QUERY, "q{}".format)(column(DOCUMENT, "{}.0".format)(read(sample / "bm25.run")))
    problems = iro.check(sample / "qrels.txt", write(tmp_path / "new.run", lines)).problems
    rules = [own.repair.rule for problem in problems for own in problem.findings if own.repair]
    assert rules == ['the prefix "q" in the run', 'a trailing ".0" in the run']


def test_runs_that_are_repaired_alike_are_one_problem(sample: Path, tmp_path: Path) -> None:
    lines = read(sample / "bm25.run")
    changes = {"one": "{}.0", "other": "D{}", "two": "{}.0"}
    files = {
        name: str(write(tmp_path / name, column(DOCUMENT, change.format)(lines[place:])))
        for place, (name, change) in enumerate(changes.items())
    }
    problems = iro.check(sample / "qrels.txt", list(files.values())).problems
    assert {
        repair.rule: problem.files
        for problem in problems
        if (repair := problem.findings[0].repair) is not None
    } == {
        'a trailing ".0" in the run': [files["one"], files["two"]],
        'the prefix "D" in the run': [files["other"]],
    }


def test_the_qrels_can_be_what_was_changed(sample: Path, tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels.txt", column(QUERY, "0{}".format)(read(sample / "qrels.txt")))
    (problem,) = iro.check(qrels, sample / "bm25.run").problems
    assert problem.findings[0].repair is not None
    assert (problem.findings[0].repair.rule, problem.findings[0].repair.matches) == (
        "leading zeros in the qrels",
        200,
    )


def test_a_copy_under_another_name(sample: Path, tmp_path: Path) -> None:
    shutil.copy(sample / "bm25.run", tmp_path / "new.run")
    (problem,) = iro.check(
        sample / "qrels.txt", [sample / "bm25.run", tmp_path / "new.run"]
    ).problems
    assert (problem.kind, problem.files[0]) == ("identical runs", str(tmp_path / "new.run"))
    assert "Was the new run written?" in str(problem)


def test_repeated_judgments(sample: Path, tmp_path: Path) -> None:
    judgments = read(sample / "qrels.txt")
    qrels = write(tmp_path / "qrels.txt", [*judgments, *judgments[:7]])
    with pytest.warns(IrOutcomesWarning, match="7 judgments repeated"):
        result = iro.check(qrels, sample / "bm25.run")
    (problem,) = result.problems
    assert (problem.kind, problem.files[0], result.files[0].lines) == (
        "repeated judgments",
        str(qrels),
        207,
    )
    assert "7 judgments repeated" in str(problem)


def test_queries_whose_lines_stand_apart(sample: Path, tmp_path: Path) -> None:
    lines = read(sample / "bm25.run")
    apart = write(tmp_path / "apart.run", [*lines[1:], lines[0]])
    (problem,) = iro.check(sample / "qrels.txt", apart).problems
    assert (problem.kind, problem.files[0]) == ("scattered queries", str(apart))


def test_documents_that_a_run_has_twice(sample: Path, tmp_path: Path) -> None:
    lines = read(sample / "bm25.run")
    twice = write(tmp_path / "twice.run", [lines[0], *lines])
    assert [problem.kind for problem in iro.check(sample / "qrels.txt", twice).problems] == [
        "unreadable"
    ]
    assert not iro.check(sample / "qrels.txt", twice, duplicates="first").problems
    qrels = {"q": {"a": 1}}
    run = tmp_path / "a.run"
    run.write_text("q Q0 b 1 9 t\nq Q0 a 2 6 t\nq Q0 c 3 7 t\nq Q0 a 4 8 t\n")
    found = {
        each: int(iro.evaluate(qrels, [run], duplicates=each).runs[0].rank[0])
        for each in ("first", "max")
    }
    assert found == {"first": 3, "max": 2}


def test_what_cannot_be_read_is_listed_and_the_others_are_checked(
    sample: Path, tmp_path: Path
) -> None:
    lines = read(sample / "bm25.run")
    broken = write(tmp_path / "broken.run", [*lines[:5], lines[5][:4], *lines[6:]])
    named = write(tmp_path / "new.run", column(DOCUMENT, "{}.0".format)(lines))
    missing = tmp_path / "missing.run"
    empty = write(tmp_path / "empty.run", [])
    result = iro.check(sample / "qrels.txt", [broken, sample / "bm25.run", missing, empty, named])
    assert [(file.form, file.queries) for file in result.files[1:]] == [
        ("unreadable", 0), ("TREC", 200), ("unreadable", 0), ("unreadable", 0), ("TREC", 200),
    ]  # fmt: skip
    *unreadable, documents = result.problems
    assert [problem.files for problem in unreadable] == [
        [str(broken)],
        [str(missing)],
        [str(empty)],
    ]
    assert {problem.kind for problem in unreadable} == {"unreadable"}
    assert documents.kind == "document ids"
    assert str(unreadable[0]).startswith(f"{broken}, line 6: has 4 columns")
    assert (result.exit_status, result.view().headline) == (1, "2 runs and qrels read: 4 problems")
    nothing = iro.check(sample / "qrels.txt", missing)
    assert (nothing.exit_status, nothing.notes) == (1, ())
    assert iro.CheckResult.from_json(result.to_json()) == result


def test_the_facts(sample: Path) -> None:
    qrels = {"q1": {"d1": 2, "d2": 0, "d3": -1}, "q2": {"d1": 1}}
    run = {"q1": {"d1": 3.0, "d9": 3.0, "d2": 1.0}, "q3": {"d1": 1.0}, "q2": {"d1": 1.0}}
    result = iro.check(qrels, {"a": run})
    of_qrels, of_run = result.rows()
    assert (of_qrels["lines"], of_qrels["queries"], of_qrels["known"]) == (4, 2, None)
    assert of_run == {
        "file": "a", "form": "", "lines": 5, "queries": 3, "known": 2, "documents": 5 / 3, "judged": 0.75, "ties": 0.2,
        "depth": 3, "against_ranks": None, "itself": 0,
    }  # fmt: skip
    assert result.grades == {"-1": 1, "0": 1, "1": 1, "2": 1}
    of_run = iro.check(sample / "qrels.txt", sample / "bm25.run").rows()[1]
    assert (of_run["form"], of_run["against_ranks"], of_run["depth"]) == ("TREC", 0, 100)


@pytest.mark.parametrize(
    "damaged", ["documents", "some documents", "queries", "ranks", "scores", "nothing"]
)
def test_the_first_screen_by_hand(damaged: str, tmp_path: Path) -> None:
    """Every cell, the first line, and the numbers of the problem, counted in the files."""
    draw = random.Random(damaged)
    judged = {
        f"q{n}": {f"d{draw.randrange(40)}": draw.randrange(3) for _ in range(6)} for n in range(40)
    }
    lines = []
    for query in [*judged, "elsewhere"]:
        found = draw.sample(range(40), draw.randrange(8, 15))
        scores = sorted((draw.randrange(60) for _ in found), reverse=True)
        lines += [
            [query, "Q0", f"d{d}", str(rank), str(s), "r"]
            for rank, (d, s) in enumerate(zip(found, scores, strict=True), 1)
        ]
    changes: dict[str, Callable[[Fields], Fields]] = {
        "documents": column(DOCUMENT, "{}.0".format),
        "some documents": lambda own: [
            [*line[:2], line[2] + ".0" * (len(line[0]) == 3), *line[3:]] for line in own
        ],
        "queries": column(QUERY, "{}.0".format),
        "ranks": shuffled_scores,
        "scores": column(SCORE, lambda _: "7"),
        "nothing": lambda own: own,
    }
    lines = changes[damaged](lines)
    run = write(tmp_path / "new.run", lines)
    qrels = write(
        tmp_path / "qrels.txt",
        [[query, "0", d, str(grade)] for query, own in judged.items() for d, grade in own.items()],
    )
    view = iro.check(qrels, run).view()
    n_problems = int(damaged != "nothing")
    assert view.headline == f"1 run and qrels read: {n_problems} problem{'s' * (not n_problems)}"
    (table,) = view.tables
    of_qrels, of_run = (
        dict(zip([c.title for c in table.columns], row, strict=True)) for row in table.rows
    )
    n_judged = sum(map(len, judged.values()))
    assert (of_qrels["lines"], of_qrels["queries"]) == (str(n_judged), "40")
    by_query = {query: [*own] for query, own in groupby(lines, key=lambda line: line[QUERY])}
    known = {query: own for query, own in by_query.items() if query in judged}
    assert (of_run["lines"], of_run["queries"]) == (str(len(lines)), str(len(by_query)))
    assert of_run["known"] == str(len(known))
    assert float(of_run["per query"]) == pytest.approx(len(lines) / len(by_query), abs=0.051)
    assert of_run["depth"] == str(max(map(len, by_query.values())))
    ranked = {
        query: sorted(
            sorted(own, key=lambda line: line[DOCUMENT], reverse=True),
            key=lambda line: -float(line[SCORE]),
        )
        for query, own in by_query.items()
    }
    ties = sum(x[SCORE] == y[SCORE] for own in ranked.values() for x, y in itertools.pairwise(own))
    assert float(of_run["ties, %"]) == pytest.approx(100 * ties / len(lines), abs=0.051)
    top = {query: [line[DOCUMENT] for line in own[:10]] for query, own in ranked.items()}
    if known:
        of_known = [d in judged[query] for query in known for d in top[query]]
        share = 100 * sum(of_known) / len(of_known)
        assert float(of_run["judged, %"]) == pytest.approx(share, abs=0.051)
    grades = Counter(grade for own in judged.values() for grade in own.values())
    listing = ", ".join(f"{number} of {grade}" for grade, number in sorted(grades.items()))
    assert f"grades: {listing}" in table.captions
    text = view.sentences[0] if n_problems else ""
    if "documents" in damaged:
        (number, of) = re.findall(
            r"the qrels judge (\d+) of the (\d+) documents in its top 10", text
        )[0]
        entries = {(query, d) for query, own in top.items() for d in own}
        pairs = {(query, d) for query, own in judged.items() for d in own}
        assert (int(number), int(of)) == (len(entries & pairs), len(entries))
        repaired = {(query, d.removesuffix(".0")) for query, d in entries} & pairs
        more = len(repaired) - int(number)
        assert f'Without a trailing ".0" in the run {more} more would match.' in text
        unknown = sorted({d for _, d in entries - pairs})
        assert f"({', '.join(unknown[:3])} and {len(unknown) - 3} more; they have " in text
    if damaged == "queries":
        assert "the qrels lack 41 of its 41 queries" in text
        assert 'Without a trailing ".0" in the run 40 more would match.' in text
    if damaged == "ranks":
        against = sum(
            any(float(x[SCORE]) < float(y[SCORE]) for x, y in itertools.pairwise(own))
            for own in by_query.values()
        )
        assert f"in {against} of 41 queries a document scores higher than one ranked" in text
    if damaged == "scores":
        assert "all documents of a query have the same score." in text


def test_an_empty_list_and_objects_are_checked_too() -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    empty = iro.check(qrels, {"a": {"q1": {}}})
    assert [problem.kind for problem in empty.problems] == ["missing queries"]
    assert iro.check(qrels, [iro.as_run({"q1": {"d1": 1.0}, "q2": {"d2": 1.0}})]).problems == ()


def test_a_pipe_is_read_once(sample: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(
        target=lambda: pipe.write_bytes((sample / "bm25.run").read_bytes()), daemon=True
    )
    writer.start()
    result = iro.check(sample / "qrels.txt", pipe)
    assert (result.problems, result.files[1].against_ranks) == ((), None)


def test_what_contradicts_the_ranks_is_a_first_note_of_every_comparison(
    sample: Path, tmp_path: Path
) -> None:
    """Of a hundred queries one is not enough, and lines in another order than the ranks contradict nothing."""
    qrels = sample / "qrels.txt"
    lines = read(sample / "bm25.run")
    queries = list(dict.fromkeys(fields[QUERY] for fields in lines))
    negated = column(SCORE, lambda score: str(-float(score)))(lines)
    for number, expected in ((len(queries), True), (3, True), (2, False)):
        wrong = {*queries[:number]}
        kept = [[line for line in of if (line[QUERY] in wrong) == is_wrong]
                for of, is_wrong in ((negated, True), (lines, False))]  # fmt: skip
        run = write(tmp_path / "new.run", [*kept[0], *kept[1]])
        assert iro.check(qrels, run).files[1].against_ranks == number
        compared = iro.compare(qrels, sample / "bm25-stem.run", run, allow=["rising-scores"])
        evaluation = iro.evaluate(qrels, [sample / "bm25-stem.run", run])
        board = iro.leaderboard(evaluation, allow=["rising-scores"])
        share = f"{100 * number / len(queries):.0f}"
        for result in (compared, board):
            told = [note for note in result.notes if note.kind == "scores against ranks"]
            assert bool(told) is (expected and number < len(queries) / 2)  # what rises stops
            if told:
                assert f"in {share} % of the queries of new" in told[0]
    reversed_lines = write(tmp_path / "reversed.run", lines[::-1])
    assert not iro.search_lengths(qrels, reversed_lines).against_ranks.any()


REAL = (  # two runs of each collection
    ("dl-hard-doc", "qrels.txt", "bm25", "bm25+electra-mp"),
    ("dl19-text", "qrels.txt.gz", "bm25", "splade-p-p-ensemble-distil"),
    ("dl20-passage", "qrels.txt", "BM25", "splade"),
    ("known-item", "qrels.txt", "bm25", "bm25-coarse"),
    ("msmarco-doc-dev", "qrels.txt", "bm25", "wordnet_all"),
    ("mt-rag", "qrels.txt.gz", "bm25.lastturn", "elser.rewrite"),
    *((f"suite-colberter/{name}", "qrels.txt.gz", "tasb", "colberter") for name in (
        "antique", "dbpedia-entity", "nfcorpus", "trec-covid", "trec_podcast", "tripclick",
    )),
    *((f"suite-rerankers/{name}", "qrels.txt.gz", "monot5-base", "rank1-32b") for name in ("dl19", "dl20", "dl21")),
    ("suite-rerankers/dl21", "qrels.gpt-4o.txt.gz", "monot5-3b", "rankllama-13b"),
    ("trec-covid-r1", "qrels.round1.txt.gz", "baseline", "Tetralogie0Fr"),
    ("trec-covid-r1", "qrels.complete.txt.gz", "T5R3", "cu_dbmi_bm25_2"),
)  # fmt: skip


def test_the_samples_have_no_problem(sample: Path, tmp_path: Path) -> None:
    assert iro.check(sample / "qrels.txt", str(sample / "*.run")).problems == ()
    write_suite(tmp_path)
    for name in SUITE_COLLECTIONS:
        result = iro.check(tmp_path / name / "qrels.txt", str(tmp_path / name / "*.run"))
        assert (result.problems, result.exit_status) == ((), 0)


@pytest.mark.parametrize(
    "collection", REAL, ids=lambda collection: f"{collection[0]}-{collection[1]}"
)
def test_healthy_collections_have_no_problem(collection: tuple[str, ...], real_data: Path) -> None:
    folder, qrels, *runs = collection
    assert (
        iro.check(
            real_data / folder / qrels, [real_data / folder / f"{run}.run.gz" for run in runs]
        ).problems
        == ()
    )


@pytest.mark.parametrize(
    ("folder", "run", "change", "kind", "rule"),
    [
        ("msmarco-doc-dev", "bm25", column(DOCUMENT, lambda name: name[1:]), "document ids", 'the prefix "D" in the qrels'),
        ("suite-colberter/nfcorpus", "tasb", column(QUERY, str.lower), "query ids", "capital letters in the qrels"),
        (
            "suite-colberter/dbpedia-entity",
            "tasb",
            column(DOCUMENT, lambda document: document.strip("<>").removeprefix("dbpedia:")),
            "document ids",
            None,
        ),
        ("suite-rerankers/dl19", "monot5-3b", column(DOCUMENT, "msmarco_passage/{}.txt".format), "document ids",
         "the path or address before the last slash and the file ending in the run"),
        ("dl20-passage", "bm25_VBERT", None, "scores against ranks", None),
        ("trec-covid-r1", "RUIR-doc2vec", None, "scores against ranks", None),
    ],
)  # fmt: skip
def test_corrupted_runs_of_real_collections(
    folder: str,
    run: str,
    change: Callable[[Fields], Fields] | None,
    kind: str,
    rule: str | None,
    real_data: Path,
    tmp_path: Path,
) -> None:
    qrels, path = (
        next(real_data.joinpath(folder).glob("qrels*")),
        real_data / folder / f"{run}.run.gz",
    )
    if change is not None:
        path = write(tmp_path / "new.run", change(read(path)))
    (problem,) = iro.check(qrels, path).problems
    assert problem.kind == kind
    assert (problem.findings[0].repair and problem.findings[0].repair.rule) == rule


@given(
    lists=st.lists(
        st.lists(
            st.tuples(st.integers(1, 9), st.integers(0, 4)),
            min_size=1,
            max_size=5,
            unique_by=lambda line: line[0],
        ),
        min_size=1,
        max_size=4,
    )
)
def test_changes_by_rank_by_a_loop(lists: list[list[tuple[int, int]]]) -> None:
    """A document scores higher than one with a smaller rank, whatever the order of the lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.run")
        path.write_text(
            "".join(
                f"q{query} Q0 d{place} {rank} {score} x\n"
                for query, ranked in enumerate(lists)
                for place, (rank, score) in enumerate(ranked)
            )
        )
        found = changes_by_rank(path)
    expected = [
        any(of < other and low < high for of, low in ranked for other, high in ranked)
        for ranked in lists
    ]
    assert found is not None
    assert (found[0] > 0).tolist() == expected


def test_the_judged_share_is_that_of_the_lists_that_are_there() -> None:
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
    of_some = iro.check(qrels, {"some": {"q1": {"d1": 4.0, "d2": 3.0, "x": 2.0, "y": 1.0}}})
    assert of_some.files[1].judged == 0.5
    of_none = iro.check(qrels, {"others": {"q9": {"d1": 1.0}}})
    assert of_none.files[1].judged is None
