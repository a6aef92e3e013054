"""A real cluster of processes on this machine: joblib's dask backend, with a worker that dies in the middle."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import distributed
import pytest
from joblib import parallel_config

from ir_outcomes.evaluation.evaluate import evaluate
from tests.helpers.searchlengths import differing

QUERIES, DEPTH, RUNS = 100, 100, 40


def write_runs(folder: Path) -> list[str]:
    paths = [folder / f"run{n:02}.txt" for n in range(RUNS)]
    for n, path in enumerate(paths):
        lines = [
            f"q{query} Q0 d{(rank * (n + 1) + query) % 997} {rank} {1000 - rank} t\n"
            for query in range(QUERIES)
            for rank in range(1, DEPTH + 1)
        ]
        path.write_text("".join(lines))
    return [str(path) for path in paths]


@pytest.mark.filterwarnings("ignore")  # of distributed and its dependencies, which differ with their versions
def test_a_worker_that_dies_midway_changes_nothing(tmp_path: Path) -> None:
    runs, cache = write_runs(tmp_path), tmp_path / "cache"
    qrels = {f"q{query}": {f"d{query}": 1, f"d{query + 40}": 2} for query in range(QUERIES)}
    expected = evaluate(qrels, runs, cutoff=50, rel=1, ties="trec")
    done_when_killed = []

    def kill_one(pid: int) -> None:
        while len(list(cache.glob("*.npz"))) < 5:  # entries appear as the workers finish runs
            time.sleep(0.005)
        os.kill(pid, signal.SIGKILL)
        done_when_killed.append(len(list(cache.glob("*.npz"))))

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        killer = threading.Thread(target=kill_one, args=[next(iter(pids.values()))], daemon=True)
        killer.start()
        with parallel_config(backend="dask"):
            found = evaluate(qrels, runs, cutoff=50, rel=1, ties="trec", n_jobs=None, cache=cache)
        killer.join(5)
    assert done_when_killed[0] < RUNS
    assert os.getpid() not in pids.values()
    assert [differing(*pair) for pair in zip(expected, found, strict=True)] == [[]] * RUNS
