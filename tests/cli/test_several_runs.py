"""`--replicates` on the commands that take it."""

import json
from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from tests.helpers.command_line import call
from tests.helpers.systems import drawn

DENSE = [f"dense_{number}.json" for number in range(1, 6)]
BY = ("--replicates", "by:_", "--cutoff", "6")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    qrels, runs = drawn(1, runs={"bm25": 1, "dense": 5}, n_queries=60)
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 d0 1\n" for query in qrels))
    (tmp_path / "bm25.json").write_text(json.dumps(runs["bm25"][0]))
    for name, run in zip(DENSE, runs["dense"], strict=True):
        (tmp_path / name).write_text(json.dumps(run))
    return tmp_path


def expected(folder: Path, **settings: Any) -> iro.Comparison:
    runs: dict[str, Any] = {"dense": [folder / name for name in DENSE]}
    found: iro.Comparisons = iro.compare(
        folder / "qrels.txt", {"bm25": folder / "bm25.json"}, runs, cutoff=6, **settings
    )
    return found[0]


def test_compare_takes_a_rule_or_a_file(folder: Path) -> None:
    found = expected(folder)
    (folder / "systems.tsv").write_text("".join(f"{name[:-5]}\tdense\n" for name in DENSE))
    for rule in ("by:_", "systems.tsv"):
        words = ("bm25.json", *DENSE, "--replicates", rule, "--cutoff", "6", "--format", "json")
        done = call("compare", "qrels.txt", *words, folder=folder)
        assert done.returncode == 0, done.stderr
        result = iro.Comparison.from_json(done.stdout)
        assert (result.coverage, result.ranking) == (found.coverage, found.ranking)
        assert (result.runs, result.contender) == (found.runs, "dense")
    done = call("compare", "qrels.txt", "bm25.json", *DENSE, *BY, folder=folder)
    assert done.stdout.startswith("dense (5 runs, B) against bm25 (A): ")
    assert "dense: 5 runs (dense_1, dense_2, dense_3 and 2 more); B - A: coverage" in done.stdout
