"""Values of other tools under several conditions: plain loops over the values, rows that there are."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from tests.helpers.command_line import call

Values = dict[str, dict[str, float]]


def drawn(seed: int, n: int = 50, shift: float = 0.05) -> Values:
    """Values of two runs from 0 to 1, of which "b" is higher on most queries."""
    rng = np.random.default_rng(seed)
    old = rng.random(n).round(3)
    new = np.clip(old + rng.normal(shift, 0.1, n), 0, 1).round(3)
    queries = [f"c{seed}-q{number}" for number in range(n)]
    return {
        name: dict(zip(queries, values.tolist(), strict=True))
        for name, values in (("a", old), ("b", new))
    }


def evaluated(values: Values, measure: str = "faithfulness", **settings: Any) -> iro.Evaluation:
    settings = {"higher_is_better": True, "range": (0, 1), **settings}
    return iro.outputs(values, measure=measure, **settings)


@pytest.mark.parametrize(
    ("measure", "rows"),
    [
        ("nDCG@10", ["coverage", "ranking", "all queries"]),
        ("RR@10", ["coverage", "ranking", "all queries"]),
        ("RR", ["coverage", "ranking"]),
        ("accuracy", ["coverage", "all queries"]),
        ("faithfulness", ["all queries"]),
    ],
)
def test_every_kind_of_measure_has_its_rows_and_labels(measure: str, rows: list[str]) -> None:
    suite = {}
    for seed in range(3):
        values = drawn(seed, 60, 0.2)
        if measure.startswith("RR"):
            values = {
                run: {query: 1 / max(1, round(9 * (1 - value)) + 1) for query, value in own.items()}
                for run, own in values.items()
            }
        if measure == "accuracy":
            values = {
                run: {query: float(value > 0.5) for query, value in own.items()}
                for run, own in values.items()
            }
        suite[f"c{seed}"] = evaluated(values, measure)
    result = iro.compare_collections(suite, "a")
    (overall,) = result.overall
    assert [row.name for row in overall.parts] == rows
    mean_alone = measure in ("accuracy", "faithfulness")
    assert (overall.label == "better") is mean_alone
    for item in result.conditions:
        assert item.comparison == iro.compare(suite[item.condition], "a", "b")
        assert (item.label_over_conditions in ("better", "worse")) <= mean_alone
    evaluation = suite["c0"]
    halves = {query: str(number % 2) for number, query in enumerate(evaluation.query_ids)}
    of_slices = iro.compare_slices(evaluation, "a", by=halves)
    assert [row.name for row in of_slices.overall[0].parts] == rows
    tested = [row.row for row in of_slices.differ]
    assert tested == [row for row in rows if row != "all queries"] or tested == ["all queries"]


def test_whether_the_means_of_slices_differ_is_tested() -> None:
    values = drawn(1, 80)
    kinds = {query: "up" if number < 40 else "down" for number, query in enumerate(values["a"])}
    moved = {
        query: value + (0.2 if kinds[query] == "up" else -0.2)
        for query, value in values["a"].items()
    }
    evaluation = evaluated({"a": values["a"], "b": moved}, range=(-1, 2))
    result = iro.compare_slices(evaluation, "a", by=kinds)
    assert [(row.row, row.pvalue) for row in result.differ] == [("all queries", 1e-4)]
    assert result.labels("b") == {"down": "worse", "up": "better"}


def test_what_cannot_be_compared_is_refused() -> None:
    one, other = evaluated(drawn(1)), evaluated(drawn(2), "relevance")
    with pytest.raises(iro.MismatchError, match="faithfulness"):
        iro.compare_collections({"one": one, "other": other}, "a")
    with pytest.raises(iro.ParameterError, match="have no other measure"):
        iro.compare_collections({"one": one}, "a", measures=["nDCG@10"])
    with pytest.raises(iro.ParameterError, match="have no other measure"):
        iro.compare_slices(one, "a", by="length", measures=["nDCG@10"])
    with pytest.raises(iro.ParameterError, match="come without the texts"):
        iro.compare_slices(one, "a", by="length")


def test_missing_values_are_noted_under_conditions() -> None:
    values = drawn(1, 60)
    del values["b"]["c1-q0"]
    evaluation = evaluated(values)
    halves = {query: str(number % 2) for number, query in enumerate(values["a"])}
    of_slices = iro.compare_slices(evaluation, "a", by=halves)
    of_collections = iro.compare_collections({"one": evaluation}, "a")
    for result in (of_slices, of_collections):
        assert "missing-values" in [item.kind for item in result.notes]
    assert sum(item.comparison.n_queries for item in of_slices.conditions) == 59


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed in range(3):
        collection = tmp_path / "suite" / f"c{seed}"
        collection.mkdir(parents=True)
        for run, own in drawn(seed, 60).items():
            lines = [f"{query},{value}" for query, value in own.items()]
            (collection / f"{run}.csv").write_text(
                "\n".join(["id,faithfulness", *lines]), encoding="utf-8"
            )
    labels = [f"c0-q{number}\t{number % 2}" for number in range(60)]
    (tmp_path / "labels.tsv").write_text("\n".join(labels), encoding="utf-8")
    return tmp_path


OF_VALUES = ("--outputs", "-m", "faithfulness", "--higher-is-better", "--range", "0", "1")


def test_commands_take_files_of_values(folder: Path) -> None:
    words = ("compare-collections", "suite", *OF_VALUES, "--baseline", "a", "--format", "json")
    done = call(*words, folder=folder)
    assert done.returncode == 0, done.stderr
    suite = {f"c{seed}": evaluated(drawn(seed, 60)) for seed in range(3)}
    found = iro.CollectionsComparison.from_json(done.stdout)
    assert found.overall == iro.compare_collections(suite, "a").overall
    files = ("suite/c0/a.csv", "suite/c0/b.csv")
    by = ("--by", "labels.tsv", "--format", "json")
    done = call("compare-slices", *files, *OF_VALUES, *by, folder=folder)
    assert done.returncode == 0, done.stderr
    labels = {f"c0-q{number}": str(number % 2) for number in range(60)}
    expected = iro.compare_slices(suite["c0"], "a", by=labels)
    assert iro.SlicesComparison.from_json(done.stdout).conditions == expected.conditions


def test_reports_take_files_of_values(folder: Path) -> None:
    files = ("suite/c0/a.csv", "suite/c0/b.csv")
    assert call("report", *files, *OF_VALUES, "-o", "page.html", folder=folder).returncode == 0
    assert "faithfulness" in (folder / "page.html").read_text(encoding="utf-8")


def test_folders_without_values_stop_the_command(folder: Path) -> None:
    (folder / "suite" / "empty").mkdir()
    done = call("compare-collections", "suite", *OF_VALUES, folder=folder)
    assert done.returncode == 1
    assert "empty" in done.stderr
    (folder / "suite" / "empty").rmdir()
    (folder / "suite" / ".hidden").mkdir()
    assert call("compare-collections", "suite", *OF_VALUES, folder=folder).returncode == 0
    done = call("compare-collections", "suite", "--range", "0", "1", folder=folder)
    assert (done.returncode, "--outputs" in done.stderr) == (2, True)
