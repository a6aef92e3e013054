"""How often verdicts err, repeat and decide on real runs: ``python benchmarks/verdict_errors.py [--only NAME]``.

For each board of real runs, each unit and each cutoff that the lists allow, over pairs of runs,
with raw p-values at 0.05:

- null, with the runs of each query swapped at random: how often the label is better; better or
  worse; anything but *no significant difference*; and better or worse at any of the cutoffs;
- halves of the queries: how often a half has a direction; of those, how often the other half has
  the same; and how often the two have opposite ones.

The t tests of reciprocal rank, average precision and nDCG@10 on all queries stand beside the label.
All rates are in percent.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from ir_measures import AP, RR, nDCG
from simulate_errors import with_swapped

import ir_outcomes as iro
from ir_outcomes.comparison.outcomes import PairedQueries, coverage_test_for, pair_queries
from ir_outcomes.comparison.pair_tests import run_tests, samples_of
from ir_outcomes.comparison.verdict import LABELS, NO_DIFFERENCE, judge
from ir_outcomes.statistics.counts import membership
from ir_outcomes.types import Bools, Floats, Ints, Unit

ALPHA = 0.05
CUTOFFS = (10, 100, 1000)


class Board(NamedTuple):
    """Runs of one collection."""

    name: str
    folder: str
    qrels: str
    rel: int


BOARDS = (
    Board("known-item", "known-item", "qrels.txt", 1),
    Board("MS MARCO documents dev", "msmarco-doc-dev", "qrels.txt", 1),
    Board("DL 2019 passages", "dl19-text", "qrels.txt.gz", 2),
    Board("DL 2020 passages", "dl20-passage", "qrels.txt", 2),
    Board("DL-Hard documents", "dl-hard-doc", "qrels.txt", 1),
    Board("TREC-COVID round 1", "trec-covid-r1", "qrels.round1.txt.gz", 1),
    Board("DL 2021 rerankers", "suite-rerankers/dl21", "qrels.txt.gz", 2),
    Board("TripClick", "suite-colberter/tripclick", "qrels.txt.gz", 1),
    Board("MT-RAG conversations", "mt-rag", "qrels.txt.gz", 1),
)


@dataclass
class Counts:
    """Directions of the label, or of a test, over samples: under the null hypothesis, and in two halves."""

    null: list[Ints] = field(default_factory=list)
    cells: Ints = field(default_factory=lambda: np.zeros((3, 3), dtype=np.int64))

    def add_halves(self, found: Ints) -> None:
        """Add the directions of all first halves, then of all second ones."""
        first, second = np.split(found + 1, 2)
        np.add.at(self.cells, (first, second), 1)

    def of_halves(self) -> str:
        """Say how often a half decides, how often the other one says the same, and how often it says the opposite."""
        cells = self.cells
        decided = cells[[0, 2]].sum() + cells[:, [0, 2]].sum()
        same = 2 * (cells[0, 0] + cells[2, 2])
        opposite = cells[0, 2] + cells[2, 0]
        total = cells.sum()
        return (
            f"{50 * decided / total:.0f}, {100 * same / max(decided, 1):.0f},"
            f" {100 * opposite / total:.2f}"
        )

    def of_null(self) -> str:
        """Say how often the direction is better, and better or worse."""
        found = np.concatenate(self.null)
        return f"{100 * np.mean(found > 0):.1f}, {100 * np.mean(found != 0):.1f}"


def labels(
    queries: PairedQueries, evaluation: iro.Evaluation, subsets: Floats
) -> tuple[Ints, Ints]:
    """Return label and direction of a pair on subsets of its queries."""
    samples = samples_of(queries, (ALPHA, ALPHA), subsets=subsets, labels_only=True)
    verdicts = judge(run_tests(samples, "t", coverage_test_for(evaluation)), alpha=ALPHA)
    return verdicts.label, verdicts.direction


def mean_directions(queries: PairedQueries, values: tuple[Floats, Floats], subsets: Floats) -> Ints:
    """Directions of the t test of a measure on subsets of the queries; higher is better."""
    of_measure = replace(
        queries,
        shared=np.ones(len(values[0]), dtype=bool),
        length_baseline=values[0],
        length_contender=values[1],
    )
    tests = samples_of(of_measure, subsets=subsets).ranking.many("t")
    return np.where(tests.pvalue <= ALPHA, tests.direction, 0)


def random_halves(n: int, splits: int, rng: np.random.Generator) -> Floats:
    """(n, 2 * splits) members of the first halves, then of the second ones."""
    first = membership(np.argsort(rng.random((splits, n)), axis=1)[:, : n // 2], n)
    return np.concatenate([first, 1 - first], axis=1)


def random_swaps(n: int, trials: int, rng: np.random.Generator) -> Floats:
    """(2 n, trials) members: each query once, as it is or with its runs swapped."""
    swap: Bools = rng.random((n, trials)) < 0.5
    return np.concatenate([~swap, swap]).astype(np.float32)


def rows_of_board(board: Board, data: Path, splits: int, most_pairs: int) -> Iterator[str]:
    """Yield a row for each unit and cutoff."""
    folder = data / board.folder
    paths = sorted(folder.glob("*.run.gz"))
    measures = (RR(rel=board.rel), AP(rel=board.rel), nDCG @ 10)
    units: list[Unit] = ["query", "document"]
    for unit in units:
        evaluation = iro.evaluate(
            folder / board.qrels, paths, cutoff=100, rel=board.rel, unit=unit, measures=measures
        )
        if unit == "document" and not evaluation.many_relevant:
            continue
        yield from rows_of_unit(board, evaluation, splits, most_pairs)


def rows_of_unit(
    board: Board, evaluation: iro.Evaluation, splits: int, most_pairs: int
) -> Iterator[str]:
    """Yield a row for each cutoff."""
    rng = np.random.default_rng(0)
    n = int(evaluation.answerable.sum())
    pairs = list(combinations(range(len(evaluation)), 2))
    pairs = [pairs[place] for place in sorted(rng.permutation(len(pairs))[:most_pairs])]
    halves = random_halves(n, splits, rng)
    swaps = random_swaps(n, 2 * splits, rng)
    depth = min(run.depth for run in evaluation)
    cutoffs = [cutoff for cutoff in CUTOFFS if cutoff <= max(depth, 10)]
    by_cutoff = {cutoff: Counts() for cutoff in cutoffs}
    any_label: dict[int, list[Bools]] = {cutoff: [] for cutoff in cutoffs}
    for pair in pairs:
        for cutoff in cutoffs:
            baseline, contender = (evaluation.at(cutoff)[place] for place in pair)
            queries = pair_queries(baseline, contender, evaluation.unit)
            _, of_halves = labels(queries, evaluation, halves)
            by_cutoff[cutoff].add_halves(of_halves)
            label, of_null = labels(with_swapped(queries), evaluation, swaps)
            by_cutoff[cutoff].null.append(of_null)
            any_label[cutoff].append(label != LABELS.index(NO_DIFFERENCE))
    anywhere = np.any([np.concatenate(counts.null) != 0 for counts in by_cutoff.values()], axis=0)
    tests = [
        of_measure(evaluation, scores.measure, pairs, halves, swaps) for scores in evaluation.scores
    ]
    beside = " | ".join(f"{counts.of_null()}; {counts.of_halves()}" for counts in tests)
    for cutoff, counts in by_cutoff.items():
        found = 100 * np.mean(np.concatenate(any_label[cutoff]))
        null = f"{counts.of_null()}, {found:.1f}, {100 * np.mean(anywhere):.0f}"
        name = f"{board.name}, {evaluation.unit}, {cutoff}"
        yield f"| {name} | {n} | {len(pairs)} | {null} | {counts.of_halves()} | {beside} |"


def of_measure(
    evaluation: iro.Evaluation,
    measure: str,
    pairs: Sequence[Sequence[int]],
    halves: Floats,
    swaps: Floats,
) -> Counts:
    """Count the directions of the t test of a measure."""
    scores = evaluation.scores_of(measure).on(evaluation.answerable_queries)
    counts = Counts()
    for pair in pairs:
        baseline, contender = (evaluation[place] for place in pair)
        queries = pair_queries(baseline, contender, evaluation.unit)
        values = np.nan_to_num(scores.values[list(pair)])
        counts.add_halves(mean_directions(queries, (values[0], values[1]), halves))
        swapped = np.concatenate([values, values[::-1]], axis=1)
        counts.null.append(mean_directions(with_swapped(queries), (swapped[0], swapped[1]), swaps))
    return counts


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument(
        "--splits", type=int, default=30, help="halves of each pair; twice as many swaps"
    )
    parser.add_argument("--pairs", type=int, default=60, help="at most so many pairs of a board")
    parser.add_argument("--only", help="boards with this in their name")
    arguments = parser.parse_args()
    print("| board, unit, cutoff | queries | pairs | null: better, or worse, any label, at any cutoff | halves: decided, same, "
          "opposite | RR's t: null better, or worse; halves | AP's t | nDCG@10's t |")  # fmt: skip
    print("|---|---:|---:|---|---|---|---|---|")
    for board in BOARDS:
        if arguments.only is None or arguments.only in board.name:
            for row in rows_of_board(board, arguments.data, arguments.splits, arguments.pairs):
                print(row, flush=True)


if __name__ == "__main__":
    main()
