"""Runs evaluated by several processes, and what happens when one is killed."""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import joblib
import pytest
from ir_measures import nDCG

import ir_outcomes as iro
from ir_outcomes import ESL
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.runs_of_call import NamedRun
from ir_outcomes.evaluation.work import each_run, in_parallel
from tests.helpers.packages import needed

QRELS = {"q1": {"d1": 1}}


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.run" for name in "abcde"]
    for rank, path in enumerate(paths, 1):
        path.write_text(
            "".join(f"q1 Q0 x{place} {place} {9 - place} t\n" for place in range(1, rank))
            + f"q1 Q0 d1 {rank} 1 t\n"
        )
    return paths


class Deadly:
    """Kills the process that gets the file "c"."""

    def __call__(self, path: Any, name: str | None) -> Any:
        if Path(path).name == "c.run":
            os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_is_an_error_that_names_the_remedy(paths: list[Path]) -> None:
    with pytest.raises(
        ParameterError, match=r"`n_jobs=2`: a process was killed, .*; use fewer jobs"
    ):
        list(each_run(Deadly(), [NamedRun(path, path, path) for path in paths], 2))  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_backends_of_joblib(paths: list[Path], backend: str) -> None:
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = iro.evaluate(QRELS, paths, n_jobs=None)
    assert [run.mean_esl() for run in found] == [1.0, 2.0, 3.0, 4.0, 5.0]


# Of distributed and its dependencies, which differ with their versions.
@pytest.mark.filterwarnings("ignore")
def test_a_worker_of_a_cluster_that_dies_midway_changes_nothing(paths: list[Path]) -> None:
    """A real cluster of processes on this machine, with joblib's dask backend."""
    distributed = needed("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        killed: list[bool] = []

        def kill_one() -> None:
            while not any(client.processing().values()):
                time.sleep(0.001)
            os.kill(next(iter(pids.values())), signal.SIGKILL)
            killed.append(True)

        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        with joblib.parallel_config(backend="dask"):
            found = iro.evaluate(QRELS, paths * 6, n_jobs=None)
        killer.join(5)
    assert killed
    assert os.getpid() not in pids.values()
    assert [run.mean_esl() for run in found] == [1.0, 2.0, 3.0, 4.0, 5.0] * 6


@pytest.mark.parametrize("n_jobs", [0, "2", True])
def test_numbers_of_jobs_that_are_refused(paths: list[Path], n_jobs: Any) -> None:
    with pytest.raises(ParameterError, match="n_jobs"):
        iro.evaluate(QRELS, paths, n_jobs=n_jobs)


def test_named_baselines_reach_the_processes_which_are_no_more_than_there_are_files(
    paths: list[Path],
) -> None:
    iro.register_baseline("of this process only", {"q1": {"d1": 1.0}}, replace=True)
    measure = ESL(baseline="of this process only") @ 100
    found = iro.evaluate(
        QRELS, paths[:2], n_jobs=1_000_000, measures=[measure, nDCG @ 10], higher_is_better=False
    )
    assert found.scores_of(measure).values[:, 0].tolist() == [1.0, 2.0]


def test_a_single_job_needs_no_other_package(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "joblib", None)
    assert len(iro.evaluate(QRELS, paths[:2], n_jobs=1).runs) == 2
    assert list(in_parallel([lambda: 1, lambda: 2], 1)) == [1, 2]
    with pytest.raises(iro.MissingDependency, match="several jobs need joblib"):
        iro.evaluate(QRELS, paths[:2], n_jobs=2)
