"""Processor time and memory of boards: 143 runs like TREC-COVID's, 1000 x 1000, 143 x 5193.

    python benchmarks/boards.py [DATA]

DATA has the folder trec-covid-r1. The 143 runs are its 20 and seeded variants, which exchange some
neighbouring documents in each query; the other boards are ranks drawn at random.
"""

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import ir_outcomes as iro
from ir_outcomes.leaderboards import agreement

EXCHANGED = 0.3  # share of the places in a list whose document changes with one further down


def covid_like(data: Path, n_runs: int) -> iro.Evaluation:
    """Evaluate the runs of TREC-COVID's first round, and variants of them."""
    qrels = iro.read_qrels(data / "trec-covid-r1" / "qrels.complete.txt.gz")
    runs = [
        iro.read_run(path).to_dict() for path in sorted((data / "trec-covid-r1").glob("*.run.gz"))
    ]
    lengths = []
    for number in range(n_runs):
        run = runs[number % len(runs)]
        if number >= len(runs):
            run = variant(run, np.random.default_rng(number))
        lengths.append(iro.search_lengths(qrels, iro.as_run(run, f"run{number}")))
    return iro.evaluate(qrels, lengths, unit="document")


def variant(run: dict[str, dict[str, float]], rng: np.random.Generator) -> Any:
    """Exchange some documents of each query with others further down."""
    changed = {}
    for query, scores in run.items():
        documents = sorted(scores, key=lambda document: -scores[document])
        places = np.arange(len(documents), dtype=np.float64)
        moved = rng.random(len(documents)) < EXCHANGED
        places[moved] += rng.exponential(20, int(moved.sum()))
        order = np.argsort(places, kind="stable").tolist()
        changed[query] = {documents[place]: -float(rank) for rank, place in enumerate(order)}
    return changed


def drawn(n_runs: int, n_queries: int, cutoff: int = 100) -> iro.Evaluation:
    """Draw the rank of one relevant document in each query, or that it was not found."""
    rng = np.random.default_rng(0)
    qrels = {f"q{query}": {"d": 1} for query in range(n_queries)}
    template = iro.search_lengths(qrels, {query: {"d": 1.0} for query in qrels}, cutoff=cutoff)
    difficulty = rng.normal(1.5, 1.5, n_queries)
    runs = []
    for number in range(n_runs):
        skill = rng.normal(0, 0.2)
        rank = np.exp(difficulty - skill + rng.normal(0, 0.7, n_queries)).astype(np.int32) + 1
        rank[rank > cutoff] = 0
        run = replace(
            template,
            name=f"run{number}",
            rank=rank,
            retrieved=np.full(n_queries, cutoff, dtype=np.int32),
            digests=rng.integers(0, 255, template.digests.shape).astype(template.digests.dtype),
        )
        runs.append(run)
    return iro.evaluate(qrels, runs, cutoff=cutoff)


def timed(name: str, work: Callable[[], Any]) -> Any:
    """Print the processor time of some work, and the largest memory so far."""
    start = time.process_time()
    result = work()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name:60} {seconds:7.2f} s {peak:7.0f} MB")
    return result


def main() -> None:
    """Time every board."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("../shared/data")
    wide = timed("making 1000 runs x 1000 queries", lambda: drawn(1000, 1000))
    timed("leaderboard, 1000 runs x 1000 queries", lambda: iro.leaderboard(wide))
    wide = None  # its memory
    board = timed("evaluating 143 runs like TREC-COVID's", lambda: covid_like(data, 143))
    timed("leaderboard, 143 runs like TREC-COVID's", lambda: iro.leaderboard(board))
    timed("agreement, the same", lambda: iro.agreement(board))
    deep = timed("making 143 runs x 5193 queries", lambda: drawn(143, 5193))
    timed("agreement, 143 runs x 5193 queries", lambda: iro.agreement(deep))
    agreement.MOST_PAIRS = 1
    timed("the same, labels and t only", lambda: iro.agreement(deep))
    timed("rank_distribution, 143 runs x 5193", lambda: iro.rank_distribution(deep))


if __name__ == "__main__":
    main()
