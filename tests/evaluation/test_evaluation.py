import subprocess
import warnings
from pathlib import Path
from typing import Any, Literal
from unittest import mock

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import (
    FormatError,
    IrOutcomesWarning,
    MismatchError,
    ParameterError,
)
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.evaluation import contenders_of
from ir_outcomes.reading.runs import run_paths
from tests.helpers.searchlengths import differing

QRELS = {f"q{n}": {f"d{n}": 1, f"d{n + 1}": 2, "d0": 0} for n in range(1, 9)}
SETTINGS: dict[str, Any] = {"cutoff": 5, "rel": 1, "ties": "trec"}


def lines(seed: int) -> str:
    rng = np.random.default_rng(seed)
    rows = [
        (query, f"d{document}", score)
        for query in QRELS
        for document, score in enumerate(rng.integers(0, 6, 12))
    ]
    return "".join(f"{query} Q0 {document} 1 {score} t\n" for query, document, score in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for n in range(6):
        (tmp_path / f"r{n}.txt").write_text(lines(n))
    return tmp_path


@pytest.mark.parametrize("ties", ["trec", "expected"])
def test_any_number_of_jobs_gives_the_same_in_the_same_order(
    folder: Path, ties: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    runs: list[Any] = [
        *run_paths(folder),
        {"q1": {"d1": 1.0}},
        iro.read_run(folder / "r3.txt", name="read"),
    ]
    settings = {"names": [None, "second", *[None] * 7], "cutoff": 5, "ties": ties, "progress": True}
    runs.insert(2, iro.search_lengths(QRELS, folder / "r1.txt", cutoff=5, ties=ties))
    serial, parallel = (evaluate(QRELS, runs, n_jobs=n_jobs, **settings) for n_jobs in (1, 2))
    assert serial.names == ("r0", "second", "r1", "r2", "r3", "r4", "r5", "run", "read")
    assert [differing(*pair) for pair in zip(serial, parallel, strict=True)] == [[]] * 9
    # What all runs share is held once.
    assert all(
        run.query_ids is parallel[0].query_ids and run.offsets is parallel[0].offsets
        for run in parallel
    )
    assert all(
        (run.level_size is parallel[0].level_size) == (ties != "expected") for run in parallel[1:]
    )
    out, err = capsys.readouterr()
    assert ("9/9" in err, out) == (True, "")


def test_scores_and_documents_are_the_same_with_jobs(folder: Path) -> None:
    more: dict[str, Any] = {"measures": ["nDCG@5", "ESL@5", "AP"], "documents": 3}
    serial, parallel = (
        evaluate(QRELS, folder, n_jobs=n_jobs, **more, **SETTINGS) for n_jobs in (1, 2)
    )
    for measure in more["measures"]:
        np.testing.assert_array_equal(
            serial.scores_of(measure).values, parallel.scores_of(measure).values
        )
    for ranked, same in zip(serial.documents, parallel.documents, strict=True):
        np.testing.assert_array_equal(ranked.docids, same.docids)
        np.testing.assert_array_equal(ranked.offsets, same.offsets)


def test_relative_paths_hold_after_a_change_of_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The processes stay, where they started.
    evaluate(QRELS, [folder / "r0.txt"] * 4, n_jobs=2, **SETTINGS)
    monkeypatch.chdir(folder)
    assert evaluate(QRELS, "r*.txt", n_jobs=2, **SETTINGS).names == tuple(f"r{n}" for n in range(6))


RUN = {"q1": {"d1": 1.0}}


def test_made_up_names_are_different_from_all_others(tmp_path: Path) -> None:
    """A run that was numbered could take the name that another run had been given."""
    old, new = tmp_path / "old" / "bm25.run", tmp_path / "new" / "bm25.run"
    for path in (old, new):
        path.parent.mkdir()
        path.write_text(lines(1))
    assert evaluate(QRELS, [RUN] * 3, names=[None, "run 0", None]).names == (
        "run 1",
        "run 0",
        "run 2",
    )
    found = evaluate(QRELS, [old, new, old, RUN], names=["bm25", None, None, str(old)])
    assert found.names == ("bm25", str(new), f"{old} 2", str(old))


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
    assert "r4: none of its queries is in the qrels" in messages[1]
    with (
        pytest.warns(IrOutcomesWarning, match="left out"),
        pytest.raises(MismatchError, match="none of its queries"),
    ):
        evaluate(QRELS, [folder / "r4.txt"], n_jobs=n_jobs, on_error="report", **SETTINGS)


def test_a_measure_that_cannot_be_computed_is_an_error_of_ours(folder: Path) -> None:
    """ir_measures ran a program that failed, and its error ended the evaluation with a traceback."""
    failed = subprocess.CalledProcessError(2, ["perl", "gdeval.pl"])
    with (
        mock.patch("ir_measures.providers.base.Evaluator.iter_calc", side_effect=failed),
        pytest.raises(
            ParameterError, match=r"cannot compute nDCG@5 for r0 \(CalledProcessError: .*gdeval\.pl"
        ),
    ):
        evaluate(QRELS, folder, measures=["nDCG@5"], **SETTINGS)


@pytest.mark.parametrize(
    ("relevant", "unit"),
    [
        ((1, 1, 1), "query"),
        ((1, 1, 5), "query"),
        ((1, 1, 2, 2), "document"),
        ((2, 2, 2), "document"),
        ((1, 0, 0, 1), "query"),
    ],
)
def test_by_default_the_unit_is_the_query_where_the_median_query_has_one_relevant_document(
    relevant: tuple[int, ...], unit: str
) -> None:
    qrels = {
        f"q{query}": {f"d{n}": 1 for n in range(number)} | {"bad": 0}
        for query, number in enumerate(relevant)
    }
    run = {query: {"d0": 1.0} for query in qrels}
    assert iro.evaluate(qrels, {"a": run}).unit == unit
    assert [
        iro.evaluate(qrels, {"a": run}, unit=chosen).unit for chosen in ("query", "document")
    ] == ["query", "document"]


def test_contenders_are_all_runs_but_the_baseline_unless_named() -> None:
    names = ("a", "b", "c")
    assert contenders_of(names, "b", None) == ["a", "c"]
    assert contenders_of(names, None, None) == ["a", "b", "c"]
    assert contenders_of(names, "b", "c") == ["c"]
    assert contenders_of(names, "b", ["c", "a", "c"]) == ["c", "a"]
    for baseline, contenders in (("x", None), ("b", "x")):
        with pytest.raises(ParameterError, match="x"):
            contenders_of(names, baseline, contenders)
    with pytest.raises(ParameterError, match="there is no contender"):
        contenders_of(("b",), "b", None)


@pytest.mark.parametrize("duplicates", ["first", "max"])
def test_duplicates_count_alike_when_runs_are_read_again(
    duplicates: Literal["first", "max"], tmp_path: Path
) -> None:
    """For measures that were not asked for."""
    qrels = {f"q{n}": {"d": 1, "e": 0} for n in range(20)}
    for run in ("a", "b"):
        lines = (f"{q} Q0 d 1 1 {run}\n{q} Q0 e 2 2 {run}\n{q} Q0 d 3 3 {run}\n" for q in qrels)
        (tmp_path / f"{run}.run").write_text("".join(lines))
    files = [tmp_path / "a.run", tmp_path / "b.run"]
    ev = iro.evaluate(qrels, files, duplicates=duplicates)
    asked = iro.evaluate(qrels, files, duplicates=duplicates, measures=["nDCG@10"])
    with pytest.warns(iro.IrOutcomesWarning, match="read again"):
        later = ev.scores_of("nDCG@10")
    assert later.values.tolist() == asked.scores_of("nDCG@10").values.tolist()
