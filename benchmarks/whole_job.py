"""Forty runs from files to 780 pairs of them, each tested four ways and corrected: whole processes, one after the other.

    python benchmarks/whole_job.py [--runs 40] [--repeat 3]

Ours evaluates the runs, with one job, with two, and with two workers of a dask cluster on this
machine, and tests all pairs from histograms; today's reads with ir_measures, evaluates all runs
with one of its evaluators, and loops over SciPy's tests. All print how many pairs are significant
after Holm's correction, which must agree. Elapsed times, and processor times with those of all
processes; the least of several rounds in which each way has its turn.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

OURS = """
import sys
from itertools import combinations
from ir_outcomes import evaluate
from ir_outcomes.statistics import adjust, differences, paired_tests, rank_sum

tables = evaluate(sys.argv[1], sys.argv[2:], cutoff=None, rel=1, ties="trec")
values = [table.reciprocal_rank() for table in tables]
pvalues = {"t": [], "wilcoxon": [], "sign": [], "ranksum": []}
for x, y in combinations(values, 2):
    paired = paired_tests(differences(x, y))
    for name in ("t", "wilcoxon", "sign"):
        pvalues[name].append(paired[name].pvalue)
    pvalues["ranksum"].append(rank_sum(x, y).pvalue)
for name, family in pvalues.items():
    print(name, sum(p <= 0.05 for p in adjust(family, "holm")))
"""

DASK = """
import joblib
from distributed import Client, LocalCluster

if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster), joblib.parallel_config(backend="dask"):
        exec(OURS)
"""

TODAY = """
import sys
from itertools import combinations
import ir_measures
import numpy as np
from ir_measures import RR
from scipy.stats import binomtest, mannwhitneyu, ttest_rel, wilcoxon

qrels = {}
for qrel in ir_measures.read_trec_qrels(sys.argv[1]):
    qrels.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.relevance
evaluator = ir_measures.evaluator([RR], qrels)
rows = []
for path in sys.argv[2:]:
    found = {metric.query_id: metric.value for metric in evaluator.iter_calc(ir_measures.read_trec_run(path))}
    rows.append(np.array([found[query] for query in qrels]))
pvalues = {"t": [], "wilcoxon": [], "sign": [], "ranksum": []}
for x, y in combinations(rows, 2):
    d = np.round(y - x, 12)
    pvalues["t"].append(ttest_rel(y, x).pvalue)
    pvalues["wilcoxon"].append(wilcoxon(d, correction=False, method="approx").pvalue)
    won, lost = int(np.sum(d > 0)), int(np.sum(d < 0))
    pvalues["sign"].append(binomtest(won, won + lost).pvalue)
    pvalues["ranksum"].append(mannwhitneyu(x, y, method="asymptotic", use_continuity=False).pvalue)
for name, values in pvalues.items():
    order = np.argsort(values)
    adjusted = np.maximum.accumulate(np.array(values)[order] * np.arange(len(values), 0, -1))
    print(name, int(np.sum(adjusted <= 0.05)))
"""


def write(folder: Path, n_runs: int, n_queries: int = 5193, depth: int = 100) -> list[Path]:
    rng = np.random.default_rng(0)
    golds = [f"D{gold}" for gold in rng.choice(3_200_000, n_queries, replace=False).tolist()]
    paths = [folder / "qrels.txt"]
    paths[0].write_text("".join(f"{query} 0 {gold} 1\n" for query, gold in enumerate(golds)))
    ease = rng.normal(0, 1.6, n_queries)
    for number in range(n_runs):
        ranks = (
            np.exp(np.clip(1.8 - ease - number / 120 + rng.normal(0, 0.7, n_queries), 0, 8))
            .astype(int)
            .tolist()
        )
        paths.append(folder / f"run{number:02d}.run")
        with paths[-1].open("w") as stream:
            for query, (gold, rank) in enumerate(zip(golds, ranks, strict=True)):
                documents = [
                    f"X{document}" for document in rng.integers(0, 3_200_000_000, depth).tolist()
                ]
                if rank <= depth:
                    documents[rank - 1] = gold
                scores = np.sort(rng.gamma(2, 4, depth))[::-1].tolist()
                rows = zip(documents, scores, strict=True)
                stream.write(
                    "".join(
                        f"{query} Q0 {d} {place} {s:.4f} run\n"
                        for place, (d, s) in enumerate(rows, 1)
                    )
                )
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    any_jobs = OURS.replace('ties="trec"', 'ties="trec", n_jobs=None')
    scripts = {
        "ours": OURS,
        "ours, two jobs": OURS.replace('ties="trec"', 'ties="trec", n_jobs=2'),
        "ours, two workers of dask": f"OURS = {any_jobs!r}\n{DASK}",
        "ir_measures and SciPy": TODAY,
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in scripts}
    printed = set()
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        paths = write(folder, arguments.runs)
        for name, script in scripts.items():
            (folder / f"{name}.py").write_text(script)
        for _ in range(arguments.repeat):
            for name in scripts:
                before, start = os.times(), time.perf_counter()
                command = [sys.executable, folder / f"{name}.py", *paths]
                printed.add(
                    subprocess.run(command, capture_output=True, text=True, check=True).stdout
                )
                elapsed, after = time.perf_counter() - start, os.times()
                processor = sum(after[2:4]) - sum(before[2:4])  # of the processes that ended
                times[name].append((elapsed, processor))
    assert len(printed) == 1, printed
    print("| way | elapsed, s | processor, s |\n|---|---|---|")
    for name, of_name in times.items():
        elapsed, processor = (min(column) for column in zip(*of_name, strict=True))
        print(f"| {name} | {elapsed:.1f} | {processor:.1f} |")


if __name__ == "__main__":
    main()
