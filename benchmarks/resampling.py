"""What resampling and leaderboards cost: rank distributions, agreement of halves, sign flips, verdicts on all pairs of runs.

Against the usual ways: a loop that indexes the drawn queries, SciPy's tests vectorised along an
axis, and a fresh matrix of signs for each pair. The long ones are measured on a part and multiplied
(marked x). Both sides of a ratio are measured one after the other on one machine.

    python benchmarks/resampling.py
    python benchmarks/resampling.py --board 1000
"""

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.statistics import sign_flip

RUNS, QUERIES = 40, 5193


def synthetic(n_runs: int, n_queries: int) -> Scores:
    """Reciprocal ranks of runs that share the difficulty of the queries; 0 where nothing is found within 100."""
    rng = np.random.default_rng(1)
    ease = rng.normal(0.0, 1.6, n_queries)
    skill = np.linspace(0.0, 0.7, n_runs)[:, None]
    ranks = np.exp(
        np.clip(1.8 - ease - skill + rng.normal(0, 0.7, (n_runs, n_queries)), 0, 8)
    ).astype(np.int64)
    values = np.where(ranks <= 100, 1.0 / np.maximum(ranks, 1), 0.0)
    return Scores(
        "RR",
        True,
        tuple(f"run{n:02d}" for n in range(n_runs)),
        tuple(map(str, range(n_queries))),
        values,
    )


def seconds(job: Callable[[], Any], repeat: int = 3) -> float:
    least = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        job()
        least = min(least, time.perf_counter() - start)
    return least


def ranks_by_index(values: np.ndarray, resamples: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(resamples):
        means = values[:, rng.integers(0, values.shape[1], values.shape[1])].mean(axis=1)
        scipy.stats.rankdata(-means, method="min")


def halves_by_scipy(values: np.ndarray, splits: int) -> None:
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(len(values), 1)
    for _ in range(splits):
        order = rng.permutation(values.shape[1])
        for half in (order[: values.shape[1] // 2], order[values.shape[1] // 2 :]):
            x, y = values[first][:, half], values[second][:, half]
            scipy.stats.ttest_rel(x, y, axis=1)
            scipy.stats.wilcoxon(x, y, axis=1, method="asymptotic", correction=False)
            scipy.stats.mannwhitneyu(x, y, axis=1, method="asymptotic", use_continuity=False)
            positive, negative = (x > y).sum(axis=1), (x < y).sum(axis=1)
            scipy.stats.binom.cdf(np.minimum(positive, negative), positive + negative, 0.5)


def fresh_signs(changes: np.ndarray, resamples: int) -> None:
    signs = 1 - 2 * np.random.default_rng(0).integers(
        0, 2, (resamples, changes.shape[1]), dtype=np.int8
    ).astype(np.float32)
    np.sum(np.abs(signs @ changes[0].astype(np.float32)) >= abs(changes[0].sum()))


def changes_of_pairs(n_runs: int, n_queries: int) -> np.ndarray:
    """Differences of all pairs of runs in the share of relevant documents found, as the document unit has them."""
    rng = np.random.default_rng(2)
    relevant = rng.integers(1, 150, n_queries)
    shares = np.clip(
        np.linspace(0.4, 0.6, n_runs)[:, None] + rng.normal(0, 0.15, (n_runs, n_queries)), 0, 1
    )
    found = rng.binomial(relevant, shares) / relevant
    first, second = np.triu_indices(n_runs, 1)
    return found[second] - found[first]


def measure_board(n_runs: int) -> None:
    """Print the processor time and memory that a leaderboard and the agreement of halves take, for each unit."""
    print(
        "| unit | runs | pairs | queries | s | peak, MB (before) | agreement, s"
        " |\n|---|---|---|---|---|---|---|"
    )
    for unit, n_queries, relevant in (("query", 5193, 1), ("document", 54, 20)):
        evaluation = evaluation_of(n_runs, n_queries, relevant)
        before, start = peak(), time.process_time()
        board = iro.leaderboard(evaluation)
        took = time.process_time() - start
        size = f"| {unit} | {n_runs} | {len(board.pairs)} | {n_queries}"
        print(f"{size} | {took:.1f} | {peak():.0f} ({before:.0f})", end="", flush=True)
        start = time.process_time()
        iro.agreement(evaluation)
        print(f" | {time.process_time() - start:.0f} |", flush=True)


def evaluation_of(n_runs: int, n_queries: int, relevant: int) -> iro.Evaluation:
    """Make search lengths of runs that share the difficulty of the queries."""
    rng = np.random.default_rng(1)
    qrels = {
        f"q{query}": {f"d{document}": 1 for document in range(relevant)}
        for query in range(n_queries)
    }
    lists = {
        query: {**dict.fromkeys(documents, 1.0), **{f"x{n}": 0.0 for n in range(100)}}
        for query, documents in qrels.items()
    }
    (template,) = iro.evaluate(qrels, [lists])
    ease = np.repeat(rng.normal(0.0, 1.6, n_queries), relevant)
    runs = []
    for number in range(n_runs):
        places = np.exp(
            np.clip(1.8 - ease - 0.7 * number / n_runs + rng.normal(0, 0.7, len(ease)), 0, 8)
        ).astype(np.int64)
        # No two documents of a query are at the same rank.
        places = (
            np.sort(places.reshape(n_queries, relevant), axis=1) + np.arange(1, relevant + 1)
        ).ravel()
        above = (places - np.tile(np.arange(1, relevant + 1), n_queries)) * (places <= 100)
        found = (places <= 100).reshape(n_queries, relevant).sum(axis=1)
        rank = np.where(places <= 100, places, 0)
        retrieved = np.maximum(100, found)
        runs.append(
            replace(
                template,
                name=f"run{number:04d}",
                rank=rank,
                irrelevant_above=above,
                retrieved=retrieved,
            )
        )
    return iro.evaluate(qrels, runs)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--board", type=int, metavar="RUNS", help="measure only a leaderboard of so many runs"
    )
    arguments = parser.parse_args()
    if arguments.board:
        measure_board(arguments.board)
        return
    repeat = arguments.repeat
    scores = synthetic(RUNS, QUERIES)
    values, pairs = scores.values, RUNS * (RUNS - 1) // 2
    changes = changes_of_pairs(RUNS, 54)
    rows = [
        (
            "rank distribution, 1000 resamples, numpy index loop",
            seconds(lambda: iro.rank_distribution(scores, resamples=1000), repeat),
            seconds(lambda: ranks_by_index(values, 1000), repeat),
            "",
            4,
        ),
        (
            "agreement, 100 splits x 780 pairs x 4 tests, scipy axis",
            seconds(lambda: iro.agreement(scores, splits=100), 1),
            50 * seconds(lambda: halves_by_scipy(values, 2), 1),
            "x",
            50,
        ),
        (
            "sign-flip, 780 pairs x 54 queries, 100,000 fresh signs per pair",
            seconds(lambda: [sign_flip(change) for change in changes], repeat),
            pairs * 10 * seconds(lambda: fresh_signs(changes, 10_000), 1),
            "x",
            100,
        ),
    ]
    print(f"{RUNS} runs x {QUERIES} queries, {len(np.unique(values))} distinct values\n")
    print("| job, against | ours, s | theirs, s | ratio | aim |\n|---|---|---|---|---|")
    for name, ours, theirs, mark, aim in rows:
        print(f"| {name} | {ours:.3f} | {theirs:.1f}{mark} | {theirs / ours:.0f} | {aim} |")


if __name__ == "__main__":
    main()
