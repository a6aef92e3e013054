from __future__ import annotations

import builtins
import json
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, IrOutcomesWarning, MismatchError, MissingDependency, ParameterError
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.reading.runs import run_paths
from tests.helpers.searchlengths import differing

QRELS = {f"q{n}": {f"d{n}": 1, f"d{n + 1}": 2, "d0": 0} for n in range(1, 9)}
SETTINGS: dict[str, Any] = {"cutoff": 5, "rel": 1, "ties": "trec"}


def lines(seed: int) -> str:
    rng = np.random.default_rng(seed)
    rows = [(query, f"d{document}", score) for query in QRELS for document, score in enumerate(rng.integers(0, 6, 12))]
    return "".join(f"{query} Q0 {document} 1 {score} t\n" for query, document, score in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for n in range(6):
        (tmp_path / f"r{n}.txt").write_text(lines(n))
    return tmp_path


def test_any_number_of_jobs_gives_the_same_in_the_same_order(folder: Path) -> None:
    runs: list[Any] = [*run_paths(folder), {"q1": {"d1": 1.0}}, iro.read_run(folder / "r3.txt", name="read")]
    runs.insert(2, iro.search_lengths(QRELS, folder / "r1.txt", cutoff=5))
    names = [None, "second", *[None] * 7]
    serial = evaluate(QRELS, runs, names=names, **SETTINGS)
    parallel = evaluate(QRELS, runs, names=names, n_jobs=2, **SETTINGS)
    assert serial.names == ("r0", "second", "r1", "r2", "r3", "r4", "r5", "run", "read")
    assert [differing(*pair) for pair in zip(serial, parallel, strict=True)] == [[]] * 9


def test_relative_paths_hold_after_a_change_of_directory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate(QRELS, [folder / "r0.txt"] * 4, n_jobs=2, **SETTINGS)  # the processes stay, where they started
    monkeypatch.chdir(folder)
    assert evaluate(QRELS, "r*.txt", n_jobs=2, **SETTINGS).names == tuple(f"r{n}" for n in range(6))


RUN = {"q1": {"d1": 1.0}}


@pytest.mark.parametrize(
    "call",
    [
        lambda: evaluate(QRELS, [RUN] * 3, names=["a", None, "a"]),
        lambda: evaluate(QRELS, {"a": RUN, "b": RUN})[["a", "a"]],
        lambda: iro.compare_outputs({"q1": 0.5}, {"q1": 0.2}, measure="RR", names=("a", "a")),
    ],
)
def test_a_name_that_is_given_twice_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ParameterError, match="are called a; give each"):
        call()


def test_made_up_names_are_different_from_all_others(tmp_path: Path) -> None:
    """A run that was numbered could take the name that another run had been given."""
    old, new = tmp_path / "old" / "bm25.run", tmp_path / "new" / "bm25.run"
    for path in (old, new):
        path.parent.mkdir()
        path.write_text(lines(1))
    assert evaluate(QRELS, [RUN] * 3, names=[None, "run 0", None]).names == ("run 1", "run 0", "run 2")
    found = evaluate(QRELS, [old, new, old, RUN], names=["bm25", None, None, str(old)])
    assert found.names == ("bm25", str(new), f"{old} 2", str(old))
    compared = iro.compare_outputs(*(_output(path, value) for path, value in ((old, 0.5), (new, 0.2))), measure="RR")
    assert isinstance(compared, iro.Comparison)
    assert (compared.baseline, compared.contender) == (str(old), str(new))


def _output(path: Path, value: float) -> Path:
    path.write_text("".join(f"RR\t{query}\t{value}\n" for query in QRELS))
    return path


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_broken_file_names_itself(folder: Path, n_jobs: int) -> None:
    broken = folder / "r2.txt"
    broken.write_text("q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 three t\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FormatError, match=r"r2\.txt, line 2: (.|\n)*three") as caught:
            evaluate(QRELS, folder, n_jobs=n_jobs, **SETTINGS)
    assert (caught.value.source, caught.value.line) == (str(broken), 2)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_rest_is_evaluated_when_errors_are_reported(folder: Path, n_jobs: int) -> None:
    (folder / "r2.txt").write_text("q1 Q0 d1 1 3.0 t\nq1 d1\n")
    (folder / "r4.txt").write_text("another-topic Q0 d1 1 3.0 t\n")
    with pytest.warns(IrOutcomesWarning) as warned:
        found = evaluate(QRELS, folder, n_jobs=n_jobs, on_error="report", **SETTINGS)
    assert found.names == ("r0", "r1", "r3", "r5")
    messages = [str(warning.message) for warning in warned]
    assert len(messages) == 2
    assert "r2.txt, line 2" in messages[0]
    assert "none of the queries of r4 is in the qrels" in messages[1]


def test_if_all_runs_fail_reporting_is_not_enough() -> None:
    with pytest.warns(IrOutcomesWarning, match="left out"), pytest.raises(MismatchError, match="none of the queries"):
        evaluate(QRELS, [{"other": {"d": 1.0}}], on_error="report", **SETTINGS)


def test_settings_that_make_no_sense(folder: Path) -> None:
    with pytest.raises(ParameterError, match="on_error='ignore': must be one of raise, report"):
        evaluate(QRELS, folder, on_error="ignore", **SETTINGS)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="cutoff=0"):
        evaluate(QRELS, folder, n_jobs=2, on_error="report", cutoff=0, rel=1, ties="trec")


def test_without_joblib_one_job_works_and_several_say_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **more: Any) -> Any:
        if name.startswith("joblib"):
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert len(evaluate(QRELS, folder, **SETTINGS)) == 6
    with pytest.raises(MissingDependency, match=r'pip install "\.\[parallel\]"'):
        evaluate(QRELS, folder, n_jobs=2, **SETTINGS)


def test_progress_goes_to_stderr(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(QRELS, folder, progress=True, **SETTINGS)
    out, err = capsys.readouterr()
    assert "6/6" in err
    assert not out


@pytest.mark.parametrize("ties", ["trec", "expected"])
def test_what_all_runs_share_is_held_once(folder: Path, ties: Any) -> None:
    found = evaluate(QRELS, folder, cutoff=5, rel=1, ties=ties, n_jobs=2)
    assert all(run.query_ids is found[0].query_ids and run.offsets is found[0].offsets for run in found)
    assert all((run.level_relevant is found[0].level_relevant) == (ties != "expected") for run in found[1:])
    alone = [iro.search_lengths(QRELS, path, ties=ties, count_unjudged_at=(5,)) for path in run_paths(folder)]
    assert [differing(*pair) for pair in zip(alone, found, strict=True)] == [[]] * 6


def test_scores_and_documents_are_the_same_with_jobs(folder: Path) -> None:
    more: dict[str, Any] = {"measures": ["nDCG@5", "ESL@5", "AP"], "documents": 3, "unjudged": True}
    serial, parallel = (evaluate(QRELS, folder, n_jobs=n_jobs, **more, **SETTINGS) for n_jobs in (1, 2))
    for measure in more["measures"]:
        np.testing.assert_array_equal(serial.scores_of(measure).values, parallel.scores_of(measure).values)
    for kept in ("documents", "unjudged"):
        for ranked, same in zip(getattr(serial, kept), getattr(parallel, kept), strict=True):
            np.testing.assert_array_equal(ranked.docids, same.docids)
            np.testing.assert_array_equal(ranked.offsets, same.offsets)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_of_the_reader_reach_the_caller(folder: Path, n_jobs: int) -> None:
    """Those of another process went to nobody."""
    predictions = {"mteb_model_meta": {"model_name": "e5"}, "default": {"test": {q: {q: 9.0, "d1": 1.0} for q in QRELS}}}
    (folder / "r7.json").write_text(json.dumps(predictions))
    for measures in ((), ["nDCG@5"]):
        with pytest.warns(IrOutcomesWarning) as warned:
            evaluate(QRELS, folder, n_jobs=n_jobs, measures=measures, **SETTINGS)
        (warning,) = warned
        assert "r7.json" in str(warning.message)
        assert warning.filename == __file__


def test_a_measure_that_cannot_be_computed_is_an_error_of_ours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ir_measures ran a program that failed, and its error ended the evaluation with a traceback."""

    def failing(*_: Any) -> Any:
        raise subprocess.CalledProcessError(2, ["perl", "gdeval.pl"])

    monkeypatch.setattr("ir_measures.providers.base.Evaluator.iter_calc", failing)
    with pytest.raises(ParameterError, match=r"cannot compute nDCG@5 for r0 \(CalledProcessError: .*gdeval\.pl"):
        evaluate(QRELS, folder, measures=["nDCG@5"], **SETTINGS)
