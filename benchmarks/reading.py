"""What reading a run costs, beside ir_measures and the least possible, reading the bytes; ratios of processor times in one run.

python benchmarks/reading.py            5193 x 100 lines, text and gzip
python benchmarks/reading.py --large    6980 x 1000 lines, and the memory they take
"""

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import ir_measures
import numpy as np

import ir_outcomes as iro

_MEMORY = """
import sys, ir_outcomes as iro
def now(what): return int(open("/proc/self/status").read().split(what)[1].split()[0]) / 1024
iro.read_run(sys.argv[1]); before = now("VmRSS:")
iro.read_run(sys.argv[2]); print(now("VmHWM:") - before)
"""


def write_run(path: Path, n_queries: int, depth: int) -> None:
    rng = np.random.default_rng(0)
    with path.open("w") as stream:
        for query in rng.choice(1_200_000, n_queries, replace=False).tolist():
            documents = rng.choice(3_200_000, depth, replace=False).tolist()
            scores = np.sort(rng.gamma(2, 4, depth))[::-1].tolist()
            rows = zip(documents, scores, strict=True)
            stream.write(
                "".join(
                    f"{query} Q0 D{d} {rank} {s:.4f} run\n" for rank, (d, s) in enumerate(rows, 1)
                )
            )


def to_dict(path: Path) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = {}
    for row in ir_measures.read_trec_run(str(path)):
        run.setdefault(row.query_id, {})[row.doc_id] = row.score
    return run


def seconds(job: Callable[[], object], repeat: int) -> float:
    least = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        job()
        least = min(least, time.process_time() - start)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true")
    large = parser.parse_args().large
    shape, repeat = ((6980, 1000), 2) if large else ((5193, 100), 7)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "plain.run")
        write_run(path, *shape)
        paths = [path]
        if not large:
            paths.append(Path(folder, "packed.run.gz"))
            paths[1].write_bytes(gzip.compress(path.read_bytes()))
        assert iro.read_run(path).to_dict() == to_dict(path)
        limit = seconds(lambda: path.read_bytes().count(b"\n"), repeat)
        size = os.path.getsize(path) / 1e6
        print(
            f"{shape[0]} x {shape[1]} lines, {size:.1f} MB; bytes read and newlines counted in"
            f" {limit:.4f} s\n"
        )
        print(
            "| file | ours, s | ir_measures to dict, s | faster | times the limit"
            " |\n|---|---|---|---|---|"
        )
        for each in paths:
            ours = seconds(lambda each=each: iro.read_run(each), repeat)  # type: ignore[misc]
            theirs = seconds(lambda each=each: to_dict(each), max(repeat // 2, 1))  # type: ignore[misc]
            print(
                f"| {each.name} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.1f} |"
                f" {ours / limit:.1f} |"
            )
        if large:
            small = Path(folder, "small.run")
            write_run(small, 50, 100)
            done = subprocess.run(
                [sys.executable, "-c", _MEMORY, small, path],
                capture_output=True,
                text=True,
                check=True,
            )
            extra = float(done.stdout) * (1 << 20) / os.path.getsize(path)
            print(f"\nExtra memory: {extra:.2f} times the size of the file")


if __name__ == "__main__":
    main()
