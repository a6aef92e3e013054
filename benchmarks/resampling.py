"""What resampling and leaderboards cost: rank distributions, agreement of halves, sign flips, verdicts on all pairs of runs.

Against the usual ways: a loop that indexes the drawn queries, SciPy's tests vectorised along an
axis, and a fresh matrix of signs for each pair. The long ones are measured on a part and multiplied
(marked x). Both sides of a ratio are measured one after the other on one machine.

    python benchmarks/resampling.py
    python benchmarks/resampling.py --board 143
    python benchmarks/resampling.py --board 1000 --queries 1000
    python benchmarks/resampling.py --variants 143
"""

import argparse
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ir_measures
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


def measure_board(n_runs: int, n_queries: int) -> None:
    """Print what a leaderboard and the agreement of halves take, for each unit."""
    print_row(HEADS)
    print_row(["---"] * len(HEADS))
    for unit, queries, relevant in (("query", n_queries, 1), ("document", 54, 20)):
        of_board(unit, evaluation_of(n_runs, queries, relevant))


def measure_variants(folder: Path, n_runs: int) -> None:
    """Print the same for variants of real runs, many of whose pairs are close to a level."""
    print_row(HEADS)
    print_row(["---"] * len(HEADS))
    of_board("document, variants", iro.evaluate(folder / "qrels.txt", variants(folder, n_runs)))


HEADS = (
    "unit", "runs", "pairs", "queries", "leaderboard, s of a processor", "peak, MiB (before)",
    "agreement, s of a processor", "elapsed", "elapsed with two jobs",
)  # fmt: skip


def of_board(unit: str, evaluation: iro.Evaluation) -> None:
    before, start = peak(), time.process_time()
    board = iro.leaderboard(evaluation)
    took = f"{time.process_time() - start:.1f}"
    memory = f"{peak():.0f} ({before:.0f})"
    n_runs = len(evaluation.names)
    row = [unit, n_runs, len(board.pairs), len(evaluation.query_ids), took, memory]
    if unit != "query":  # its agreement takes many minutes of exact tests
        print_row([*row, "", "", ""])
        return
    start = time.process_time()
    elapsed = seconds(lambda: iro.agreement(evaluation), 1)
    agreement = f"{time.process_time() - start:.0f}"
    with_two = seconds(lambda: iro.agreement(evaluation, n_jobs=2), 1)
    print_row([*row, agreement, f"{elapsed:.0f}", f"{with_two:.0f}"])


def print_row(cells: Sequence[object]) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def variants(folder: Path, n_runs: int) -> dict[str, dict[str, dict[str, float]]]:
    """Fuse pairs of real runs, and disturb the scores, so that the runs differ little."""
    rng = np.random.default_rng(5)
    found: dict[str, dict[str, dict[str, float]]] = {}
    for path in sorted(folder.glob("*.run.gz")):
        ranked: dict[str, dict[str, float]] = {}
        for query, document, score in (
            (d.query_id, d.doc_id, d.score) for d in ir_measures.read_trec_run(str(path))
        ):
            ranked.setdefault(query, {})[document] = score
        found[path.name.removesuffix(".run.gz")] = {
            query: {
                document: 1 / (60 + place)
                for place, document in enumerate(
                    sorted(scores, key=lambda d: (-scores[d], d))[:300], 1
                )
            }
            for query, scores in ranked.items()
        }
    real = list(found)
    while len(found) < n_runs:
        one, other = (found[real[place]] for place in rng.integers(len(real), size=2))
        weight, noise = rng.choice([0, 0.1, 0.3, 0.5]), rng.choice([0.02, 0.05, 0.2])
        fused = {}
        for query, own in one.items():
            others = other.get(query, {})
            fused[query] = {
                document: ((1 - weight) * own.get(document, 0) + weight * others.get(document, 0))
                * np.exp(noise * rng.normal())
                for document in {**own, **others}
            }
        found[f"variant{len(found):03}"] = fused
    return dict(list(found.items())[:n_runs])


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
    parser.add_argument("--queries", type=int, default=QUERIES, help="of the leaderboard by query")
    parser.add_argument(
        "--variants",
        type=int,
        metavar="RUNS",
        help="measure only a leaderboard of variants of the runs of TREC DL 2020",
    )
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    arguments = parser.parse_args()
    if arguments.board:
        measure_board(arguments.board, arguments.queries)
        return
    if arguments.variants:
        measure_variants(arguments.data / "dl20-passage", arguments.variants)
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
