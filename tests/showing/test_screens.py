"""The first screens are short: lines, words and notes of real results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.evaluation.evaluate import evaluate_suite
from ir_outcomes.results import Result
from ir_outcomes.samples import write_sample
from tests.helpers.many import collection


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> iro.Evaluation:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    return iro.evaluate(
        folder / "qrels.txt",
        str(folder / "*.run"),
        measures=["nDCG@10", "RR@10"],
        unjudged=True,
        queries=folder / "queries.tsv",
    )


def measured(result: Result) -> tuple[int, int, int]:
    """Lines, words and notes of a first screen, which fits into 80 columns."""
    text = result.to_text()
    lines = text.splitlines()
    notes = sum(line.startswith("! ") for line in lines)
    print(f"{type(result).__name__}: {len(lines)} lines, {len(text.split())} words, {notes} notes")  # noqa: T201
    assert max(map(len, lines)) <= 80, text
    assert notes <= 3
    return len(lines), len(text.split()), notes


def pair(evaluation: iro.Evaluation) -> Any:
    return iro.compare(evaluation, "bm25", "bm25-stem")


def check_pair(result: Any) -> None:
    assert isinstance(result, iro.Comparison)
    lines, words, _ = measured(result)
    assert lines <= 20
    assert words <= 160


ANALYSES: dict[str, Callable[[iro.Evaluation], Result]] = {
    "compare": lambda ev: iro.compare(ev, "bm25"),
    "all pairs": lambda ev: iro.compare(ev, all_pairs=True, baseline="bm25"),
    "leaderboard": iro.leaderboard,
    "measures": lambda ev: iro.leaderboard(ev, measures=["RR@10", "nDCG@10", "coverage"]),
    "cutoffs": lambda ev: iro.compare_cutoffs(ev, "bm25", "bm25-stem"),
    "slices": lambda ev: iro.compare_slices(ev, "length", "bm25", "bm25-stem"),
    "judges": lambda ev: iro.compare_judges({"nist": ev, "model": ev}, "bm25", "bm25-stem"),
    "gate": lambda ev: iro.gate(iro.compare(ev, "bm25"), margins=(1.0, 0.5)),
    "holes": lambda ev: iro.holes(ev, "bm25", "bm25-stem", cutoff=10),
    "plan": lambda ev: iro.plan(pair(ev)),
    "stability": lambda ev: iro.rank_distribution(ev, resamples=50),
    "agreement": lambda ev: iro.agreement(ev, splits=5),
    "reordering": iro.reordering,
}


@pytest.mark.parametrize("name", ANALYSES)
def test_first_screens_of_the_sample(name: str, sample: iro.Evaluation) -> None:
    assert measured(ANALYSES[name](sample))[0] <= 30


@pytest.mark.parametrize("contender", ["bm25-flat", "bm25-stem", "rrf-stem-lsa"])
def test_one_comparison_of_the_sample(contender: str, sample: iro.Evaluation) -> None:
    check_pair(iro.compare(sample, "bm25", contender))
    check_pair(iro.compare_measure(sample, "nDCG@10", "bm25", contender))


def test_twenty_runs(real_data: Path) -> None:
    runs = str(real_data / "trec-covid-r1" / "*.run.gz")
    evaluation = iro.evaluate(real_data / "trec-covid-r1" / "qrels.round1.txt.gz", runs, measures=["nDCG@10"])
    assert len(evaluation) == 20
    first, *others = evaluation.names
    boards = iro.leaderboard(evaluation), iro.leaderboard(evaluation, measures=["nDCG@10", "coverage", "ranking"])
    for result in (iro.compare(evaluation, first), *boards, iro.compare(evaluation, first, all_pairs=True)):
        assert measured(result)[0] <= 60
    for contender in others:
        check_pair(iro.compare(evaluation, first, contender))


def test_holes_of_twenty_runs(real_data: Path) -> None:
    folder = real_data / "trec-covid-r1"
    evaluation = iro.evaluate(folder / "qrels.round1.txt.gz", str(folder / "*.run.gz"), unjudged=True)
    for cutoff in (10, 20):
        shown = str(iro.holes(evaluation, "baseline", ["run1", "T5R3", "IRIT_marked_mu_pair"], cutoff=cutoff))
        assert max(map(len, shown.splitlines())) <= 80
        assert ("judged at 10" in shown) == (cutoff > 10)  # not the same columns twice


def test_names_of_collections_that_begin_alike_are_numbered(real_data: Path) -> None:
    suite = iro.evaluate_suite(real_data / "suite-rerankers")
    shown = str(iro.compare_collections({f"msmarco-passage-{name}": own for name, own in suite.items()}, "monot5-3b"))
    assert "1 msmarco-passage-dl19; 2 msmarco-passage-dl20; 3 msmarco-passage-dl21" in shown


def test_a_facet_that_may_be_chance_says_so(real_data: Path) -> None:
    folder = real_data / "msmarco-doc-dev"
    evaluation = iro.evaluate(folder / "qrels.txt", [folder / "bm25.run.gz", folder / "wordnet_all.run.gz"])
    first, second = str(iro.compare(evaluation, "bm25", "wordnet_all")).splitlines()[2:4]
    assert first.endswith("lost 79; not significant),")
    assert "not significant" not in second


def test_a_board_of_more_runs_than_letters() -> None:
    qrels, runs = collection(6, 40, relevant=2)
    evaluation = iro.evaluate(qrels, {f"run{number}": runs[f"run{number % 6}"] for number in range(30)})
    for measures in (None, ["Answered@6", "coverage", "ranking"]):
        board = iro.leaderboard(evaluation, measures=measures)
        assert measured(board)[0] <= 35
        assert "the number of runs" in board.to_text()


def test_long_ids_and_names(real_data: Path) -> None:
    """Conversations have long ids, and some runs have long names: the first screen has neither."""
    folder = real_data / "mt-rag"
    plain = iro.evaluate(next(folder.glob("qrels*")), sorted(folder.glob("*.run.gz")))
    for contender in plain.names[1:]:
        result = iro.compare(plain, plain.names[0], contender)
        assert measured(result)[0] <= 20
        assert "0326ebcdab78abae" not in result.to_text()
    names = [f"bm25-k1-1.5-b-0.75-stemmed-reranked-by-monot5-{size}-of-the-top-1000-documents" for size in ("3b", "base")]
    files = [folder / f"{name}.run.gz" for name in ("bm25.rewrite", "elser.rewrite")]
    named = iro.compare(iro.evaluate(next(folder.glob("qrels*")), files, names=names), *names)
    assert measured(named)[0] <= 20
    assert named.to_text().startswith("...by-monot5-base-of-the-top-1000... (B) against\n...by-monot5-3b-of-the-")
    assert names[0] in named.to_text(details=True).replace("\n", " ")


def suites(folder: Path) -> Iterator[Any]:
    evaluations = evaluate_suite(folder)
    names = next(iter(evaluations.values())).names
    yield iro.compare_collections(evaluations, names[0])
    yield iro.compare_collections(evaluations, names[0], names[1])


@pytest.mark.parametrize("name", ["suite-colberter", "suite-rerankers"])
def test_suites(name: str, real_data: Path) -> None:
    for result in suites(real_data / name):
        assert measured(result)[0] <= 30
