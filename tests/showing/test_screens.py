"""The first screens are short: lines, words and notes of real results."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from tests.helpers.many import collection
from tests.helpers.sample import write_small_sample


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> iro.Evaluation:
    folder = tmp_path_factory.mktemp("sample")
    write_small_sample(folder, 500)
    queries, runs = folder / "queries.tsv", str(folder / "*.run")
    return iro.evaluate(
        folder / "qrels.txt", runs, measures=["nDCG@10", "RR@10"], unjudged=True, queries=queries
    )


def check(result: Any, most: int = 30, words: int = 160, of_pair: int = 20) -> str:
    """A first screen has so many lines of 80 columns and three notes; that of a pair 20 lines and 160 words."""
    text = str(result)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("! ") for line in lines) <= 3
    is_pair = isinstance(result, iro.Comparison)
    assert len(lines) <= (of_pair if is_pair else most)
    assert not is_pair or len(text.split()) <= words
    return text


# Of those whose screens the documents do not show; tests/test_documents.py measures the others.
ANALYSES: dict[str, Callable[[iro.Evaluation], Any]] = {
    "pairs": lambda ev: iro.compare(ev, all_pairs=True, baseline="bm25"),
    "measure of a pair": lambda ev: iro.compare_measure(
        ev, "bm25", "rrf-stem-lsa", measure="nDCG@10"
    ),
    "measures": lambda ev: iro.leaderboard(ev, measures=["RR@10", "nDCG@10", "coverage"]),
    "cutoffs": lambda ev: iro.compare_cutoffs(ev, "bm25", "bm25-stem"),
    "holes": lambda ev: iro.holes(ev, "bm25", "bm25-stem", cutoff=10),
    "plan": lambda ev: iro.plan(iro.compare(ev, "bm25", "bm25-stem")),
    "rank distribution": lambda ev: iro.rank_distribution(ev, resamples=50),
    "reordering": iro.reordering,
}


@pytest.mark.parametrize("name", ANALYSES)
def test_first_screens_of_the_sample(name: str, sample: iro.Evaluation) -> None:
    check(ANALYSES[name](sample))


def test_twenty_runs(real_data: Path) -> None:
    folder = real_data / "trec-covid-r1"
    qrels, holes_of = (
        folder / "qrels.round1.txt.gz",
        (
            "baseline",
            "run1",
            "T5R3",
            "IRIT_marked_mu_pair",
        ),
    )
    evaluation = iro.evaluate(qrels, str(folder / "*.run.gz"))
    first, *others = evaluation.names
    assert len(others) == 19
    check(iro.compare(evaluation, first), 60)
    for contender in others[::9]:
        check(iro.compare(evaluation, first, contender))
    unjudged = iro.evaluate(qrels, [folder / f"{name}.run.gz" for name in holes_of], unjudged=True)
    for cutoff in (10, 20):
        shown = check(iro.holes(unjudged, "baseline", cutoff=cutoff))
        assert ("judged at 10" in shown) == (cutoff > 10)  # not the same columns twice


def test_a_board_of_more_runs_than_letters() -> None:
    qrels, runs = collection(6, 120, relevant=2)
    evaluation = iro.evaluate(
        qrels, {f"run{number}": runs[f"run{number % 6}"] for number in range(30)}
    )
    for measures in (None, ["Answered@6", "coverage", "ranking"]):
        assert "the number of runs" in check(iro.leaderboard(evaluation, measures=measures), 38)


def test_long_ids_and_names(real_data: Path) -> None:
    """Conversations have long ids, which the first screen lacks, and some runs long names, which it has once, in whole."""
    folder = real_data / "mt-rag"
    qrels, files = (
        next(folder.glob("qrels*")),
        [folder / f"{name}.run.gz" for name in ("bm25.rewrite", "elser.rewrite")],
    )
    names = [
        f"bm25-k1-1.5-b-0.75-stemmed-reranked-by-monot5-{size}-of-the-top-1000-documents"
        for size in ("3b", "base")
    ]
    result = iro.compare(iro.evaluate(qrels, files, names=names), *names)
    text = check(result, words=175, of_pair=22)  # the names take four lines
    assert "0326ebcdab78abae" not in text
    title = f"{names[1]} (B)\nagainst\n{names[0]} (A):\nbetter on both facets\n\n"
    assert text.startswith(title)
    assert text.count(names[0]) == text.count(names[1]) == 1


def test_suites(real_data: Path) -> None:
    found = iro.compare_collections(iro.evaluate_suite(real_data / "suite-colberter"), "colberter")
    directions = [row for row in found.conditions if str(row.label).startswith("worse")]
    kept = sum(row.survives for row in directions)
    assert (len(directions), kept) == (5, 4)
    assert "worse in 5 (4 after Holm)" in " ".join(check(found).split())
    suite = {
        f"msmarco-passage-{name}": own
        for name, own in iro.evaluate_suite(real_data / "suite-rerankers").items()
    }
    text = check(iro.compare_collections(suite, "monot5-3b"))
    # Long names are numbered.
    assert "1 msmarco-passage-dl19; 2 msmarco-passage-dl20; 3 msmarco-passage-dl21" in text
