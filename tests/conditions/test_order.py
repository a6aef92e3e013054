"""The order of lines in qrels and runs changes no number and no label."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro

K = 10
MEASURES = ["nDCG@5", "RR@10"]
Lines = dict[str, list[str]]


def lines_of(seed: int, n_queries: int = 40) -> Lines:
    """Two qrels of the same queries, and three runs with scores and ranks, as lines."""
    rng = np.random.default_rng(seed)
    documents = [f"d{number:02d}" for number in range(15)]
    lines: Lines = {name: [] for name in ("people", "model", "a", "b", "c")}
    for number in range(n_queries):
        query = f"q{seed}-{number}"
        grades = rng.choice(4, len(documents), p=[0.7, 0.1, 0.1, 0.1])
        for judge in ("people", "model"):
            if rng.random() < 0.9 or judge == "model":
                own = np.where(rng.random(len(documents)) < 0.1, 1, grades)
                lines[judge] += [
                    f"{query} 0 {document} {grade}"
                    for document, grade in zip(documents, own, strict=True)
                ]
        for run in "abc":
            order = rng.permutation(documents)[:12].tolist()
            lines[run] += [
                f"{query} Q0 {document} {rank} {round(20 / rank, 3)} t"
                for rank, document in enumerate(order, 1)
            ]
    return lines


def shuffled(lines: Lines, seed: int) -> Lines:
    rng = np.random.default_rng(seed)
    return {name: rng.permutation(own).tolist() for name, own in lines.items()}


def written(folder: Path, lines: Lines) -> dict[str, str]:
    folder.mkdir()
    for name, own in lines.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in own))
    return {name: str(folder / f"{name}.txt") for name in lines}


def evaluated(files: dict[str, str], qrels: str, form: str, **settings: Any) -> iro.Evaluation:
    runs = {name: f"{files[name]}{form}" for name in "abc"}
    evaluation: iro.Evaluation = iro.evaluate(
        files[qrels], runs, cutoff=K, measures=MEASURES, **settings
    )
    return evaluation


def by_id(query: str) -> str:
    return f"group {int(query.partition('-')[2]) % 3}"


def compare(every: list[dict[str, str]], form: str, **settings: Any) -> Any:
    return iro.compare(
        evaluated(every[0], "people", form, **settings),
        "a",
        ["b", "c"],
        measures=MEASURES,
        margins=(5.0, 1.0),
    )


def collections(every: list[dict[str, str]], form: str, **settings: Any) -> Any:
    suite = {
        f"c{number}": evaluated(files, "people", form, **settings)
        for number, files in enumerate(every)
    }
    return iro.compare_collections(suite, "a", measures=MEASURES)


def slices(every: list[dict[str, str]], form: str, **settings: Any) -> Any:
    evaluation = evaluated(every[0], "people", form, **settings)
    by = {query: by_id(query) for query in evaluation.query_ids}
    return iro.compare_slices(evaluation, "a", by=by, measures=MEASURES, resamples=199)


def judges(every: list[dict[str, str]], form: str, **settings: Any) -> Any:
    both = {
        name: evaluated(every[0], name, form, on_error="keep", **settings)
        for name in ("people", "model")
    }
    return iro.compare_judges(both, "a", reference="people", measures=MEASURES)


def agreement(every: list[dict[str, str]], form: str, **settings: Any) -> Any:
    evaluation = evaluated(every[0], "people", form, **settings)
    return iro.agreement(evaluation, measures=MEASURES, splits=10)


def ranks(every: list[dict[str, str]], form: str, **settings: Any) -> Any:
    evaluation = evaluated(every[0], "people", form, **settings)
    return iro.rank_distribution(evaluation, measure=MEASURES[0], resamples=50)


def gate(every: list[dict[str, str]], form: str, **settings: Any) -> Any:
    evaluation = evaluated(every[0], "people", form, **settings)
    return iro.gate(evaluation, "a", margins=(5.0, 1.0))


def assert_alike(one: Any, other: Any, at: str) -> None:
    """Compare what results hold, numbers to 1e-12, what is said of queries by their ids."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), at
        for key in one.keys() - {"notes", "background"}:
            assert_alike(one[key], other[key], f"{at}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), at
        pairs = [one, other]
        if one and isinstance(one[0], dict) and "query_id" in one[0]:
            pairs = [sorted(own, key=lambda item: str(item["query_id"])) for own in pairs]
        for index, (first, second) in enumerate(zip(*pairs, strict=True)):
            assert_alike(first, second, f"{at}[{index}]")
    elif isinstance(one, float) and isinstance(other, float):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12), at
    else:
        assert one == other, at


@pytest.mark.parametrize(
    ("unit", "clustered", "form"), [("query", False, "#rank"), ("document", True, "")]
)
@pytest.mark.parametrize("analysis", [compare, collections, slices, judges, agreement, ranks, gate])
def test_shuffled_lines_change_nothing(
    tmp_path: Path, analysis: Callable[..., Any], unit: str, clustered: bool, form: str
) -> None:
    settings: dict[str, Any] = {"unit": unit}
    if clustered:
        settings["clusters"] = {
            f"q{seed}-{number}": f"cluster {number // 3}"
            for seed in range(2)
            for number in range(40)
        }
    lines = [lines_of(seed) for seed in range(2)]
    files = [written(tmp_path / f"{seed}", own) for seed, own in enumerate(lines)]
    expected = analysis(files, form, **settings).to_dict()
    again = [
        written(tmp_path / f"{seed} again", shuffled(own, seed)) for seed, own in enumerate(lines)
    ]
    assert_alike(expected, analysis(again, form, **settings).to_dict(), analysis.__name__)


def test_the_queries_to_label_do_not_depend_on_the_order_of_the_qrels(tmp_path: Path) -> None:
    lines = lines_of(0)
    files = [written(tmp_path / "one", lines), written(tmp_path / "other", shuffled(lines, 1))]
    one, other = (iro.to_label(evaluated(own, "model", ""), 12) for own in files)
    assert one == other


def test_a_judge_with_the_same_judgments_in_another_order_has_no_bias(tmp_path: Path) -> None:
    lines = lines_of(3)
    same = lines | {"model": lines["people"][::-1]}
    files = written(tmp_path / "files", same)
    for measure in ("nDCG@5", "RR@10"):
        both = {name: evaluated(files, name, "", on_error="keep") for name in ("people", "model")}
        found = iro.compare_judges(both, "a", "b", reference="people", measures=[measure])
        assert [bias.row.name for bias in found.biases] == [
            "coverage",
            "ranking",
            "all queries",
            measure,
        ]
        for bias in found.biases:
            assert (bias.row.differ, bias.row.interval) == (0, (0.0, 0.0))
            assert bias.answer != "differs"
