"""What the confirmation of directions with one facet costs and gains: ``python benchmarks/confirmation.py [--only NAME]``.

For each board of real runs and each unit, over all pairs of runs, before and after the confirmation, with raw p-values:

- opposite: pairs and splits in which both halves of the queries have a direction, and opposite ones;
- replicates: how often one half has the direction of the other, where that one has any;
- lost: directions on all queries that are *unconfirmed*;
- null: with the runs of each query swapped at random, how often a label is better, and better or worse;
- any cutoff: the same, at any of the cutoffs 10, 20, 50, 100 and 1000 that the lists allow.

RR's t test on all queries stands beside it. All rates are in percent.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from simulate_errors import with_swapped

import ir_outcomes as iro
from ir_outcomes.comparison.facets import run_tests, samples_of
from ir_outcomes.comparison.outcomes import coverage_test_for, pair_queries
from ir_outcomes.comparison.verdict import judge
from ir_outcomes.statistics.counts import membership
from ir_outcomes.types import Bools, Floats, Ints, Unit

ALPHA = 0.05
CUTOFFS = (10, 20, 50, 100, 1000)


class Board(NamedTuple):
    """Runs of one collection, as they are compared there."""

    name: str
    folder: str
    qrels: str
    cutoff: int
    rel: int


BOARDS = (
    Board("known-item", "known-item", "qrels.txt", 100, 1),
    Board("MS MARCO documents dev", "msmarco-doc-dev", "qrels.txt", 10, 1),
    Board("DL 2019 passages", "dl19-text", "qrels.txt.gz", 100, 2),
    Board("DL 2020 passages", "dl20-passage", "qrels.txt", 100, 2),
    Board("DL 2020 passages", "dl20-passage", "qrels.txt", 1000, 2),
    Board("DL-Hard documents", "dl-hard-doc", "qrels.txt", 100, 1),
    Board("TREC-COVID round 1", "trec-covid-r1", "qrels.round1.txt.gz", 100, 1),
    Board("DL 2021 rerankers", "suite-rerankers/dl21", "qrels.txt.gz", 100, 2),
    Board("TripClick", "suite-colberter/tripclick", "qrels.txt.gz", 10, 1),
    Board("MT-RAG conversations", "mt-rag", "qrels.txt.gz", 10, 1),
)


class Directions(NamedTuple):
    """Directions of many samples of the queries of a pair: 1 better, -1 worse, 0 none."""

    before: Ints
    after: Ints


def directions(
    evaluation: iro.Evaluation, pair: Sequence[int], cutoff: int, subsets: Floats | None, *, swapped: bool
) -> Directions:
    """Judge a pair on subsets of its queries, or on all of them; `swapped` adds each query with its runs swapped."""
    baseline, contender = (evaluation.at(cutoff)[place] for place in pair)
    queries = pair_queries(baseline, contender, evaluation.unit)
    queries = with_swapped(queries) if swapped else queries
    samples = samples_of(queries, (ALPHA, ALPHA), subsets=subsets, labels_only=True)
    tests = run_tests(samples, "t", coverage_test_for(evaluation))
    verdicts = judge(tests, alpha=ALPHA)
    return Directions(np.where(verdicts.guard, 0, verdicts.do_no_harm), verdicts.direction)


def naive_directions(evaluation: iro.Evaluation, pair: Sequence[int], cutoff: int, halves: Floats) -> Ints:
    """Directions of the t test of reciprocal rank over all queries."""
    baseline, contender = (evaluation.at(cutoff)[place] for place in pair)
    ranks = [run.reciprocal_rank()[evaluation.answerable] for run in (baseline, contender)]
    queries = pair_queries(baseline, contender, evaluation.unit)
    queries = replace(queries, shared=np.ones_like(queries.shared), length_baseline=ranks[0], length_contender=ranks[1])
    tests = samples_of(queries, subsets=halves).ranking.many("t")
    return np.where(tests.pvalue <= ALPHA, tests.direction, 0)


class Halves:
    """Counts of directions in two halves."""

    def __init__(self) -> None:
        self.cells = np.zeros((3, 3), dtype=np.int64)

    def add(self, found: Ints) -> None:
        """Add the directions of all first halves, then of all second ones."""
        first, second = np.split(found + 1, 2)
        np.add.at(self.cells, (first, second), 1)

    def rates(self) -> tuple[float, float]:
        """Return the percentages of opposite directions, and of replicated ones."""
        cells = self.cells
        decided = cells[[0, 2]].sum() + cells[:, [0, 2]].sum()
        return 100 * (cells[0, 2] + cells[2, 0]) / cells.sum(), 100 * 2 * (cells[0, 0] + cells[2, 2]) / max(decided, 1)


def random_halves(n: int, splits: int, rng: np.random.Generator) -> Floats:
    """(n, 2 * splits) members of the first halves, then of the second ones."""
    first = membership(np.argsort(rng.random((splits, n)), axis=1)[:, : n // 2], n)
    return np.concatenate([first, 1 - first], axis=1)


def random_swaps(n: int, trials: int, rng: np.random.Generator) -> Floats:
    """(2 n, trials) members: each query once, as it is or with its runs swapped."""
    swap: Bools = rng.random((n, trials)) < 0.5
    return np.concatenate([~swap, swap]).astype(np.float32)


def board_rows(board: Board, data: Path, splits: int, most_pairs: int) -> Iterator[str]:
    """Yield a row for each unit."""
    folder = data / board.folder
    paths = sorted(path for path in folder.glob("*.run.gz"))
    units: list[Unit] = ["query", "document"]
    for unit in units:
        evaluation = iro.evaluate(folder / board.qrels, paths, cutoff=board.cutoff, rel=board.rel, unit=unit)
        if unit == "document" and not evaluation.many_relevant:
            continue
        rng = np.random.default_rng(0)
        n = int(evaluation.answerable.sum())
        pairs = list(combinations(range(len(evaluation)), 2))
        pairs = [pairs[place] for place in sorted(rng.permutation(len(pairs))[:most_pairs])]
        halves, swaps = random_halves(n, splits, rng), random_swaps(n, 2 * splits, rng)
        of_halves = {name: Halves() for name in ("before", "after", "RR's t")}
        whole, null, anywhere = [], [], []
        for pair in pairs:
            found = directions(evaluation, pair, board.cutoff, halves, swapped=False)
            of_halves["before"].add(found.before)
            of_halves["after"].add(found.after)
            of_halves["RR's t"].add(naive_directions(evaluation, pair, board.cutoff, halves))
            whole.append(directions(evaluation, pair, board.cutoff, None, swapped=False))
            depth = min(evaluation[place].depth for place in pair)
            cutoffs = [cutoff for cutoff in CUTOFFS if cutoff <= depth]
            at = {k: directions(evaluation, pair, k, swaps, swapped=True) for k in {*cutoffs, board.cutoff}}
            null.append(at[board.cutoff])
            anywhere.append(Directions(*(np.any([at[k][part] != 0 for k in at], axis=0) for part in (0, 1))))
        opposite, replicates = zip(*(half.rates() for half in of_halves.values()), strict=True)
        before, after = (np.concatenate([each[part] for each in whole]) for part in (0, 1))
        lost = 100 * np.sum((before != 0) & (after == 0)) / max(np.sum(before != 0), 1)
        columns = [
            " / ".join(f"{rate:.3f}" for rate in opposite),
            " / ".join(f"{rate:.0f}" for rate in replicates),
            f"{lost:.0f} of {np.sum(before != 0)}",
            " / ".join(f"{100 * np.mean([each[part] > 0 for each in null]):.1f}" for part in (0, 1)),
            " / ".join(f"{100 * np.mean([each[part] != 0 for each in null]):.1f}" for part in (0, 1)),
            " / ".join(f"{100 * np.mean([each[part] for each in anywhere]):.1f}" for part in (0, 1)),
        ]
        yield f"| {board.name}, {unit}, {board.cutoff} | {n} | {len(pairs)} | " + " | ".join(columns) + " |"


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--splits", type=int, default=30, help="halves of each pair; twice as many swaps")
    parser.add_argument("--pairs", type=int, default=200, help="at most so many pairs of a board")
    parser.add_argument("--only", help="boards with this in their name")
    arguments = parser.parse_args()
    print("| board, unit, cutoff | queries | pairs | opposite: before / after / RR's t | replicates: the same | lost | "
          "null, better: before / after | null, better or worse | null, any cutoff |")  # fmt: skip
    print("|---|---:|---:|---|---|---|---|---|---|")
    for board in BOARDS:
        if arguments.only is None or arguments.only in board.name:
            for row in board_rows(board, arguments.data, arguments.splits, arguments.pairs):
                print(row, flush=True)


if __name__ == "__main__":
    main()
