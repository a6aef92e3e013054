"""How time and memory grow with queries, depth and runs, beside other tools: ``python benchmarks/scale.py [--quick]``.

Every point is a process of its own, which reads run files and finds the reciprocal rank of every
query, and keeps nothing else. Files are made up: no ties, and ten relevant documents per query.
Times are processor times, the least of several rounds, without imports; memory is the peak of the
process with its imports (Linux only). All tools must find the same mean, else the benchmark stops.
Writes docs/scale.csv and docs/scale.svg.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DOCS = Path(__file__).parents[1] / "docs"
TOOLS = ("ir_outcomes", "pytrec_eval", "ir_measures", "ranx")
DISTINCT = 100  # files; more runs than these are links to them
RANX_LINES = 600_000  # in a run; above, ranx takes minutes

Values = list[float]


def write_run(path: Path, seed: int, queries: int, depth: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = range(1, depth + 1)
    scores = [f"{5000 - 0.25 * rank:.2f}" for rank in ranks]
    with path.open("w") as file:
        for query in range(queries):
            documents = rng.permutation(2 * depth)[:depth].tolist()
            rows = zip(documents, ranks, scores, strict=True)
            file.writelines(
                f"q{query} Q0 doc{document:08} {rank} {score} s{seed}\n"
                for document, rank, score in rows
            )


def write_collection(folder: Path, queries: int, depth: int, runs: int) -> None:
    (folder / "runs").mkdir()
    with (folder / "qrels.txt").open("w") as file:
        for query in range(queries):
            file.writelines(
                f"q{query} 0 doc{(7 * query + each) % (2 * depth):08} {each % 2}\n"
                for each in range(20)
            )
    for number in range(runs):
        path = folder / "runs" / f"run{number:05}.txt"
        if number < DISTINCT:
            write_run(path, number, queries, depth)
        else:
            path.symlink_to(folder / "runs" / f"run{number % DISTINCT:05}.txt")


def ours() -> Callable[[str, list[str]], Values]:
    from ir_outcomes.evaluation.evaluate import evaluate

    def work(qrels: str, runs: list[str]) -> Values:
        tables = evaluate(qrels, runs, cutoff=None, rel=1, ties="trec")
        return [float(table.reciprocal_rank().mean()) for table in tables]

    return work


def of_pytrec_eval() -> Callable[[str, list[str]], Values]:
    import pytrec_eval

    def work(qrels: str, runs: list[str]) -> Values:
        with open(qrels) as file:
            evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"recip_rank"})
        means = []
        for path in runs:
            with open(path) as file:
                found = evaluator.evaluate(pytrec_eval.parse_run(file))
            means.append(float(np.mean([each["recip_rank"] for each in found.values()])))
        return means

    return work


def of_ir_measures() -> Callable[[str, list[str]], Values]:
    import ir_measures

    def work(qrels: str, runs: list[str]) -> Values:
        evaluator = ir_measures.evaluator(
            [ir_measures.RR], list(ir_measures.read_trec_qrels(qrels))
        )
        return [
            float(
                np.mean(
                    [each.value for each in evaluator.iter_calc(ir_measures.read_trec_run(path))]
                )
            )
            for path in runs
        ]

    return work


def of_ranx() -> Callable[[str, list[str]], Values]:
    import ranx

    def work(qrels: str, runs: list[str]) -> Values:
        judged = ranx.Qrels.from_file(qrels, kind="trec")
        return [
            float(ranx.evaluate(judged, ranx.Run.from_file(path, kind="trec"), "mrr"))
            for path in runs
        ]

    return work


def worker(tool: str) -> Callable[[str, list[str]], Values]:
    makers: dict[str, Callable[[], Callable[[str, list[str]], Values]]] = {
        "ir_outcomes": ours,
        "pytrec_eval": of_pytrec_eval,
        "ir_measures": of_ir_measures,
        "ranx": of_ranx,
    }
    return makers[tool]()


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_one(tool: str, folder: str, runs: int, rounds: int) -> None:
    """Measure in this process, and print what came out."""
    work, qrels = worker(tool), f"{folder}/qrels.txt"
    paths = sorted(str(path) for path in Path(folder, "runs").iterdir())[:runs]
    if tool == "ranx":
        work(qrels, paths[:1])  # compilation
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        values = work(qrels, paths)
        seconds.append(time.process_time() - start)
    print(json.dumps({"seconds": min(seconds), "mib": peak_mib(), "mean": float(np.mean(values))}))


def measure(tool: str, folder: Path, runs: int, lines: int) -> dict[str, float]:
    rounds = 5 if lines <= 1_000_000 else 2
    command = [sys.executable, __file__, "--one", tool, str(folder), str(runs), str(rounds)]
    done = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def sweep(
    axis: str, sizes: list[tuple[int, int, int]], tools: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Measure collections of (queries, depth, runs), which differ along one axis."""
    rows = []
    for queries, depth, runs in sizes:
        with tempfile.TemporaryDirectory() as name:
            write_collection(Path(name), queries, depth, runs)
            means = set()
            for tool in tools:
                if tool == "ranx" and queries * depth > RANX_LINES:
                    continue
                found = measure(tool, Path(name), runs, queries * depth * runs)
                means.add(round(found["mean"], 6))
                size = {
                    "axis": axis,
                    "queries": queries,
                    "depth": depth,
                    "runs": runs,
                    "tool": tool,
                }
                rows.append(
                    {**size, "seconds": f"{found['seconds']:.4f}", "mib": f"{found['mib']:.1f}"}
                )
                print(*rows[-1].values(), sep="\t", flush=True)
            if len(means) != 1:
                raise SystemExit(f"the tools disagree: {means}")
    return rows


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["svg.hashsalt"] = "scale"
    figure, panels = plt.subplots(1, 4, figsize=(14, 3.8), layout="constrained")
    titles = {
        "queries": "one run, 100 deep",
        "depth": "one run, 500 queries",
        "runs": "runs of 54 queries, 100 deep",
    }
    for panel, (axis, number) in zip(
        panels,
        [("queries", "seconds"), ("depth", "seconds"), ("runs", "seconds"), ("runs", "mib")],
        strict=True,
    ):
        for color, tool in enumerate(TOOLS):
            points = [
                (int(row[axis]), float(row[number]))
                for row in rows
                if row["axis"] == axis and row["tool"] == tool
            ]
            if points:
                panel.plot(
                    *zip(*points, strict=True), "o-", markersize=3, color=f"C{color}", label=tool
                )
        panel.set(xscale="log", yscale="log", xlabel=axis, title=titles[axis])
        panel.set_ylabel("seconds of a processor" if number == "seconds" else "peak memory, MiB")
        panel.grid(alpha=0.3)
    figure.legend(
        *panels[2].get_legend_handles_labels(), loc="outside lower center", ncols=len(TOOLS)
    )
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="small sizes only, and no files written"
    )
    parser.add_argument(
        "--one", nargs=4, metavar=("TOOL", "FOLDER", "RUNS", "ROUNDS"), help=argparse.SUPPRESS
    )
    options = parser.parse_args()
    if options.one:
        tool, folder, runs, rounds = options.one
        measure_one(tool, folder, int(runs), int(rounds))
        return
    end = 2 if options.quick else None
    rows = sweep("queries", [(n, 100, 1) for n in (50, 500, 5000, 50_000)][:end], TOOLS)
    rows += sweep("depth", [(500, n, 1) for n in (10, 100, 1000, 10_000)][:end], TOOLS)
    rows += sweep("runs", [(54, 100, n) for n in (10, 100, 1000, 4000)][:end], TOOLS)
    if not options.quick:
        with (DOCS / "scale.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        draw(rows, DOCS / "scale.svg")


if __name__ == "__main__":
    main()
