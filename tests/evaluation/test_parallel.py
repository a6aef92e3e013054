"""Runs evaluated by several processes, and what happens when one is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import joblib
import pytest
from ir_measures import nDCG

import ir_outcomes as iro
from ir_outcomes import ESL, measures
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluate import each_run
from ir_outcomes.reading.datasets import as_qrels

QRELS = {"q1": {"d1": 1}}


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.run" for name in "abcde"]
    for rank, path in enumerate(paths, 1):
        path.write_text(
            "".join(f"q1 Q0 x{place} {place} {9 - place} t\n" for place in range(1, rank)) + f"q1 Q0 d1 {rank} 1 t\n"
        )
    return paths


class Deadly:
    """Kills the process that gets the file "c"."""

    def __call__(self, path: Any, name: str | None) -> Any:
        if Path(path).name == "c.run":
            os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_is_an_error_that_names_the_remedy(paths: list[Path]) -> None:
    with pytest.raises(ParameterError, match=r"n_jobs=2: a process that evaluates runs was killed, .*; use fewer jobs"):
        list(each_run(Deadly(), [(path, None) for path in paths], 2))  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_backends_of_joblib(paths: list[Path], backend: str) -> None:
    expected = [1.0, 2.0, 3.0, 4.0, 5.0]
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = iro.evaluate(QRELS, paths, n_jobs=None)
    assert [run.mean_esl() for run in found] == expected


@pytest.mark.parametrize("n_jobs", [0, "2", True])
def test_numbers_of_jobs_that_are_refused(paths: list[Path], n_jobs: Any) -> None:
    with pytest.raises(ParameterError, match="n_jobs="):
        iro.evaluate(QRELS, paths, n_jobs=n_jobs)


def test_very_many_jobs_start_no_more_processes_than_there_are_files(paths: list[Path]) -> None:
    assert len(iro.evaluate(QRELS, paths, n_jobs=1_000_000)) == 5


def test_named_baselines_reach_the_processes(paths: list[Path]) -> None:
    iro.register_baseline("of this process only", {"q1": {"d1": 1.0}}, replace=True)
    measure = ESL(baseline="of this process only") @ 100
    found = iro.evaluate(QRELS, paths, n_jobs=2, measures=[measure, nDCG @ 10], directions=False)
    assert found.scores_of(measure).values[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_baseline_file_that_changes_within_size_and_time_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    settings = {"cutoff": 10, "rel": 1, "ties": "trec", "judged_only": False}
    for text, rank in (("q1 Q0 d1 1 9 t\nq1 Q0 d2 2 8 t\n", 1.0), ("q1 Q0 d2 1 9 t\nq1 Q0 d1 2 8 t\n", 2.0)):
        path.write_text(text)
        os.utime(path, ns=(10**18, 10**18))
        assert measures.baseline_lengths(str(path), as_qrels(QRELS), settings).esl().tolist() == [rank]
