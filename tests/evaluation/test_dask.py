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
    runs = write_runs(tmp_path)
    qrels = {f"q{query}": {f"d{query}": 1, f"d{query + 40}": 2} for query in range(QUERIES)}
    expected = evaluate(qrels, runs, cutoff=50, rel=1, ties="trec")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        busy: list[bool] = []

        def kill_one() -> None:
            while not any(client.processing().values()):
                time.sleep(0.001)
            os.kill(next(iter(pids.values())), signal.SIGKILL)
            busy.append(True)

        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        with parallel_config(backend="dask"):
            found = evaluate(qrels, runs, cutoff=50, rel=1, ties="trec", n_jobs=None)
        killer.join(5)
    assert busy
    assert os.getpid() not in pids.values()
    assert [differing(*pair) for pair in zip(expected, found, strict=True)] == [[]] * RUNS
