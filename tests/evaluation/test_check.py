"""What is found in files before a number is computed: corruptions of real files, each with its remedy, and healthy ones."""

import gzip
import os
import random
import tempfile
import threading
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesWarning
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


def of_odd_queries(line: list[str]) -> list[str]:
    return [*line[:2], line[DOCUMENT] + ".0" * (int(line[QUERY]) % 2), *line[3:]]


# What is done to a run of the sample, and the kinds of the problems.
CORRUPTIONS: dict[str, tuple[Callable[[Fields], Fields], list[str]]] = {
    "documents": (column(DOCUMENT, "{}.0".format), ["unknown-ids"]),
    "queries": (column(QUERY, "{}.0".format), ["unknown-ids"]),
    "documents of some queries": (lambda lines: list(map(of_odd_queries, lines)), ["ids"]),
    # Queries that are written in another way are missing, too.
    "some queries": (column(QUERY, lambda q: q + ".0" * (int(q) % 2)), ["ids", "many missing"]),
    "half of the queries": (first_half_of_queries, ["many missing"]),
    "distances": (column(SCORE, lambda score: str(-float(score))), ["rising-scores"]),
    "scores of another stage": (shuffled_scores, ["scores against ranks"]),
    "one score": (column(SCORE, lambda score: "1"), ["equal-scores"]),
}


def kinds(result: iro.CheckResult) -> list[str]:
    return [problem.kind for problem in result.problems]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_small_sample(folder, 200)
    return folder


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_a_corrupted_run_is_found_with_its_remedy(
    corruption: str, sample: Path, tmp_path: Path
) -> None:
    change, expected = CORRUPTIONS[corruption]
    lines = read(sample / "bm25.run")
    damaged = write(tmp_path / "new.run", change(lines))
    result = iro.check(sample / "qrels.txt", [sample / "bm25-stem.run", damaged])
    assert kinds(result) == expected
    problem = result.problems[0]
    assert problem.runs == (str(damaged),)
    assert ('Without a trailing ".0" in the run ' in problem) == (expected[0].endswith("ids"))
    if corruption == "documents of some queries":
        changed = {line[QUERY] for line in lines if int(line[QUERY]) % 2}
        pairs = {(line[QUERY], line[DOCUMENT]) for line in read(sample / "qrels.txt")}
        top = {(line[QUERY], line[DOCUMENT]) for line in lines if int(line[3]) <= 10}
        matches = sum(pair in pairs and pair[0] in changed for pair in top)
        assert f"in the run {matches} more would match." in problem


def test_queries_and_documents_are_both_found(sample: Path, tmp_path: Path) -> None:
    lines = column(QUERY, "q{}".format)(column(DOCUMENT, "{}.0".format)(read(sample / "bm25.run")))
    result = iro.check(sample / "qrels.txt", write(tmp_path / "new.run", lines))
    assert kinds(result) == ["unknown-ids", "ids"]
    assert 'the prefix "q" in the run' in result.problems[0]
    assert 'a trailing ".0" in the run' in result.problems[1]


def test_runs_that_are_repaired_alike_are_one_problem(sample: Path, tmp_path: Path) -> None:
    lines = read(sample / "bm25.run")
    changes = {"one": "{}.0", "other": "D{}", "two": "{}.0"}
    files = [
        str(
            write(
                tmp_path / name,
                [*column(DOCUMENT, change.format)(lines[place:18_000]), *lines[18_000:]],
            )
        )
        for place, (name, change) in enumerate(changes.items())
    ]
    problems = iro.check(sample / "qrels.txt", files).problems
    assert [(problem.kind, problem.runs) for problem in problems] == [
        ("ids", (files[0], files[2])),
        ("ids", (files[1],)),
    ]


def test_problems_are_the_notes_of_a_comparison(sample: Path, tmp_path: Path) -> None:
    run = write(tmp_path / "new.run", shuffled_scores(read(sample / "bm25.run")))
    names = {"old": sample / "bm25-stem.run", "new": run}
    checked = iro.check(sample / "qrels.txt", names)
    compared = iro.compare(sample / "qrels.txt", {"old": names["old"]}, {"new": run})
    told = {*compared[0].notes, *compared[0].background}
    assert {*checked.problems, *checked.notes} <= told
    assert kinds(checked) == ["scores against ranks"]


def test_repeated_judgments(sample: Path, tmp_path: Path) -> None:
    judgments = read(sample / "qrels.txt")
    qrels = write(tmp_path / "qrels.txt", [*judgments, *judgments[:7]])
    with pytest.warns(IrOutcomesWarning, match="7 judgments repeated"):
        result = iro.check(qrels, sample / "bm25.run")
    assert (kinds(result), result.files[0].lines) == (["repeated judgments"], 207)
    assert f"7 judgments of {qrels}" in result.problems[0]


def test_queries_whose_lines_stand_apart(sample: Path, tmp_path: Path) -> None:
    lines = read(sample / "bm25.run")
    apart = write(tmp_path / "apart.run", [*lines[1:], lines[0]])
    (problem,) = iro.check(sample / "qrels.txt", [apart, sample / "bm25-stem.run"]).problems
    assert (problem.kind, problem.runs) == ("scattered", (str(apart),))


def test_documents_that_a_run_has_twice(sample: Path, tmp_path: Path) -> None:
    lines = read(sample / "bm25.run")
    twice = write(tmp_path / "twice.run", [lines[0], *lines])
    assert kinds(iro.check(sample / "qrels.txt", twice)) == ["unreadable"]
    assert not iro.check(sample / "qrels.txt", twice, duplicates="first").problems


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
    assert [(problem.kind, problem.runs) for problem in result.problems] == [
        *(("unreadable", (str(path),)) for path in (broken, missing, empty)),
        ("unknown-ids", (str(named),)),
    ]
    assert result.problems[0].startswith(f"{broken}, line 6: has 4 columns")
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
        "depth": 3, "against_ranks": 0, "itself": 0,
    }  # fmt: skip
    assert result.grades == {"-1": 1, "0": 1, "1": 1, "2": 1}
    of_run = iro.check(sample / "qrels.txt", sample / "bm25.run").rows()[1]
    assert (of_run["form"], of_run["against_ranks"], of_run["depth"]) == ("TREC", 0, 100)


def test_a_pipe_is_read_once(sample: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(
        target=lambda: pipe.write_bytes((sample / "bm25.run").read_bytes()), daemon=True
    )
    writer.start()
    result = iro.check(sample / "qrels.txt", pipe)
    assert (result.problems, result.files[1].lines) == ((), 20_000)


def test_scores_that_contradict_the_ranks_in_more_than_one_of_a_hundred_queries(
    sample: Path, tmp_path: Path
) -> None:
    """Lines in another order than the ranks contradict nothing."""
    lines = read(sample / "bm25.run")
    queries = list(dict.fromkeys(fields[QUERY] for fields in lines))
    for number, expected in ((2, []), (3, ["scores against ranks"]), (200, ["rising-scores"])):
        negated = {*queries[:number]}
        changed = [
            [*line[:4], str(-float(line[4])), line[5]] if line[QUERY] in negated else line
            for line in lines
        ]
        result = iro.check(sample / "qrels.txt", write(tmp_path / "new.run", changed))
        assert (kinds(result), result.files[1].against_ranks) == (expected, number)
    reversed_lines = write(tmp_path / "reversed.run", lines[::-1])
    assert iro.check(sample / "qrels.txt", reversed_lines).files[1].against_ranks == 0


def test_the_samples_have_no_problem(sample: Path, tmp_path: Path) -> None:
    assert iro.check(sample / "qrels.txt", str(sample / "*.run")).problems == ()
    write_suite(tmp_path)
    for name in SUITE_COLLECTIONS:
        result = iro.check(tmp_path / name / "qrels.txt", str(tmp_path / name / "*.run"))
        assert (result.problems, result.exit_status) == ((), 0)


@pytest.mark.realdata
def test_healthy_collections_have_no_problem(real_data: Path) -> None:
    collections = sorted(real_data.rglob("qrels*.txt*"))
    assert len(collections) > 20
    for qrels in collections:
        result = iro.check(qrels, sorted(qrels.parent.glob("*.run.gz"))[:1])
        assert result.problems == (), qrels


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
def test_scores_against_ranks_by_a_loop(lists: list[list[tuple[int, int]]]) -> None:
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
        run = iro.read_run(path)
    expected = [
        any(of < other and low < high for of, low in ranked for other, high in ranked)
        for ranked in lists
    ]
    found = [False] * len(lists) if run.against_ranks is None else run.against_ranks.tolist()
    assert found == expected


def test_the_judged_share_is_that_of_the_lists_that_are_there() -> None:
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
    of_some = iro.check(qrels, {"some": {"q1": {"d1": 4.0, "d2": 3.0, "x": 2.0, "y": 1.0}}})
    assert of_some.files[1].judged == 0.5
    of_none = iro.check(qrels, {"others": {"q9": {"d1": 1.0}}})
    assert of_none.files[1].judged is None
