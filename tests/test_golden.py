"""What results say, in files that are reviewed as differences: ``python -m tests.test_golden`` writes them again."""

import json
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.results import Result
from tests.helpers.many import collection
from tests.helpers.values import as_values

GOLDEN = Path(__file__).parent / "golden"
NAMES = ("bm25", "dense", "rerank", "splade-cocondenser-ensembledistil")
SEEDS = ("bm25", "dense_1", "dense_2", "dense_3", "dense_4", "dense_5")
MEASURES = ["nDCG@10", "RR@10"]
ENTRIES = [
    {"id": name, "date": f"2021-02-0{day}", "group": name[:2], "score": day / 10}
    for day, name in enumerate(NAMES, 1)
]


@cache
def evaluated(relevant: int = 1, names: tuple[str, ...] = NAMES) -> iro.Evaluation:
    """By query with one relevant document, else by document."""
    qrels, runs = collection(len(names), 90, relevant=relevant, seed=3)
    settings: dict[str, Any] = {"replicates": "by:_"} if names == SEEDS else {"documents": 10}
    return iro.evaluate(
        qrels, list(runs.values()), names=names, cutoff=10, measures=MEASURES, **settings
    )


def compared(*contender: str, relevant: int = 1, **settings: Any) -> Any:
    return iro.compare(evaluated(relevant), "bm25", *contender, **settings)


def values_of(measure: str) -> iro.Evaluation:
    """Values of a measure, as another tool would have computed them."""
    return as_values(evaluated().scores_of(measure))


def two_runs(*runs: str, **settings: Any) -> iro.Evaluation:
    qrels, lists = collection(2, 90, seed=3)
    named = {name: lists[run] for name, run in zip(("bm25", "dense"), runs, strict=True)}
    return iro.evaluate(qrels, named, cutoff=10, **settings)


def groups(number: int) -> dict[str, str]:
    queries = evaluated().query_ids
    return {query: f"group {place % number + 1}" for place, query in enumerate(queries)}


def renamed(lists: Any, prefix: str) -> dict[str, dict[str, Any]]:
    """Return qrels or a run with other queries and documents."""
    return {
        prefix + query: {prefix + document: value for document, value in of_query.items()}
        for query, of_query in lists.items()
    }


def suite(relevant: int, number: int) -> dict[str, iro.Evaluation]:
    """Collections that have neither queries nor documents in common."""
    found = {}
    for seed in range(number):
        qrels, runs = collection(len(NAMES), 90, relevant=relevant, seed=seed)
        others = [renamed(run, f"{seed}-") for run in runs.values()]
        found[f"collection{seed}"] = iro.evaluate(
            renamed(qrels, f"{seed}-"), others, names=NAMES, cutoff=10
        )
    return found


def judges() -> dict[str, iro.Evaluation]:
    """People, and a model with other grades that overlooks a document in every third query."""
    people, runs = collection(len(NAMES), 90, relevant=2, seed=3)
    model = {
        query: dict.fromkeys(["g1"] if place % 3 == 0 else judged, 2)
        for place, (query, judged) in enumerate(people.items())
    }
    settings: dict[str, Any] = {"names": NAMES, "cutoff": 10, "unit": "document"}
    return {
        "people": iro.evaluate(people, list(runs.values()), **settings),
        "model": iro.evaluate(model, list(runs.values()), rel=2, **settings),
    }


def checked() -> Result:
    """Two runs; of the second the ids of documents have a suffix."""
    qrels, runs = collection(2, 90, relevant=2, seed=3)
    runs["run1"] = {
        query: {f"{document}.0": score for document, score in documents.items()}
        for query, documents in runs["run1"].items()
    }
    return iro.check(qrels, dict(zip(NAMES, runs.values(), strict=False)))


# Result -> how it is made, and the formats that are kept of it.
RESULTS: dict[str, tuple[Callable[[], Result], str]] = {
    "pair": (lambda: compared(NAMES[3]), "text details markdown csv json html"),
    "pair-documents": (lambda: compared(NAMES[3], relevant=3), "details"),
    "pair-measures": (
        lambda: compared(NAMES[3], relevant=3, measures=MEASURES),
        "details latex",
    ),
    "pair-margins": (lambda: compared(NAMES[3], margins=(5.0, 1.0625)), "details"),
    "pair-clusters": (
        lambda: iro.compare(two_runs("run0", "run1", clusters=groups(30)), "bm25"),
        "details",
    ),
    "pair-systems": (lambda: iro.compare(evaluated(names=SEEDS), "bm25", "dense"), "details"),
    "several": (compared, "details"),
    "several-documents": (lambda: compared(relevant=3, measures=MEASURES), "text"),
    "outputs-ranks": (lambda: iro.compare(values_of("RR@10"), "bm25", NAMES[3]), "details"),
    "outputs-values": (lambda: iro.compare(values_of("nDCG@10"), "bm25", NAMES[3]), "text"),
    "queries": (lambda: compared(NAMES[3]).per_query("worse", top=5), "text csv"),
    "collections": (
        lambda: iro.compare_collections(suite(1, 6), "bm25", NAMES[3]),
        "details latex csv",
    ),
    "collections-documents": (lambda: iro.compare_collections(suite(3, 3), "bm25"), "text"),
    "slices": (
        lambda: iro.compare_slices(evaluated(), "bm25", NAMES[3], by=groups(3)),
        "text",
    ),
    "judges": (
        lambda: iro.compare_judges(judges(), "bm25", NAMES[3], reference="people"),
        "details",
    ),
    "judges-several": (lambda: iro.compare_judges(judges(), "bm25"), "text"),
    "gate-pass": (
        lambda: iro.gate(evaluated(), "bm25", NAMES[3], margins=(40.0, 5.0)),
        "text markdown",
    ),
    "gate-identical": (
        lambda: iro.gate(two_runs("run0", "run0"), "bm25", margins=(1.0, 0.5)),
        "text",
    ),
    "gate-inconclusive": (
        lambda: iro.gate(evaluated(3), "bm25", margins=(10.0, 0.5)),
        "details",
    ),
    "gate-suite": (
        lambda: iro.gate(suite(1, 3), "bm25", NAMES[3], reference="dense", margins=(15.0, 4.0)),
        "text",
    ),
    "gate-values": (
        lambda: iro.gate(values_of("nDCG@10"), "bm25", "rerank", margins=(0.1,)),
        "text",
    ),
    "gate-fail": (
        lambda: iro.gate(evaluated(), NAMES[3], "bm25", margins=(1.0, 0.1)),
        "details",
    ),
    "holes": (lambda: iro.holes(evaluated(2), "bm25", NAMES[3], cutoff=10), "details"),
    "holes-several": (lambda: iro.holes(evaluated(2), "bm25", cutoff=10), "text"),
    "plan": (lambda: iro.plan(compared(NAMES[3])), "details"),
    "published": (
        lambda: iro.verdict_from_summary(
            won=20, lost=11, n=100, ranking_difference=-0.5, ranking_pvalue=0.003
        ),
        "text",
    ),
    "published-counts": (lambda: iro.verdict_from_summary(20, 9), "text"),
    "board": (lambda: iro.leaderboard(evaluated()), "details"),
    "board-measures": (lambda: iro.leaderboard(evaluated(3), measures=MEASURES), "text"),
    "board-systems": (lambda: iro.leaderboard(evaluated(names=SEEDS)), "text"),
    "board-collections": (
        lambda: iro.leaderboard(suite(1, 7), groups={"collection1": "x", "collection2": "x"}),
        "details latex csv",
    ),
    "ranks": (lambda: iro.rank_distribution(evaluated(), resamples=50), "text"),
    "agreement": (lambda: iro.agreement(evaluated(), splits=10), "details"),
    "history": (lambda: iro.sota_history(ENTRIES, score="score"), "text"),
    "lengths": (lambda: iro.length_distributions(evaluated(3)), "text"),
    "changes": (lambda: iro.length_changes(evaluated(3), "bm25", NAMES[3]), "text"),
    "rrie": (lambda: iro.rrie(evaluated(3), "bm25", NAMES[3]), "text"),
    "headroom": (lambda: iro.headroom(evaluated(3)), "text"),
    "reordering": (lambda: iro.reordering(evaluated(3)), "text"),
    "check-problem": (checked, "text"),
}
ENDINGS = {"text": "txt", "details": "details.txt", "markdown": "md", "latex": "tex"}
FILES = {
    f"{name}.{ENDINGS.get(form, form)}": (name, form)
    for name, (_, forms) in RESULTS.items()
    for form in forms.split()
}


@cache
def result_of(name: str) -> Result:
    return RESULTS[name][0]()


def rounded(text: str) -> str:
    """Print numbers with as many digits as are the same on every machine."""
    return re.sub(
        r"-?\b\d+\.\d+(e[+-]?\d+)?",
        lambda number: f"{value:.6g}" if abs(value := float(number[0])) > 1e-12 else "0",
        text,
    )


def without_versions(data: dict[str, Any]) -> dict[str, Any]:
    """Leave out the versions of a result, and of results within it."""
    return {key: value for key, value in data.items() if key != "versions"}


def shown(name: str, form: str) -> str:
    result = result_of(name)
    if form == "details":
        text = result.to_text(details=True)
    elif form == "json":
        data = json.loads(result.to_json(), object_hook=without_versions)
        text = rounded(json.dumps(data, indent=1))
    elif form == "csv":
        text = rounded(result.to_csv())
    else:
        text = getattr(result, f"to_{form}")()
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


@pytest.mark.parametrize("file", FILES)
def test_what_results_say(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert shown(*FILES[file]) == (GOLDEN / file).read_text("utf-8")


def test_every_file_is_compared() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(FILES)


def test_text_fits_a_terminal_and_first_screens_have_three_notes() -> None:
    for file in FILES:
        lines = (GOLDEN / file).read_text("utf-8").splitlines()
        assert not file.endswith(".txt") or max(map(len, lines)) <= 80, file
        assert sum(line.startswith("! ") for line in lines) <= 3 or "details" in file, file


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    GOLDEN.mkdir(exist_ok=True)
    for path in GOLDEN.iterdir():
        if path.name not in FILES:
            path.unlink()
    failed = []
    for file, of in FILES.items():
        try:
            (GOLDEN / file).write_text(shown(*of), "utf-8")
        except Exception as error:  # the others are written all the same
            failed.append(f"{file} is not written: {error!r}")
    sys.exit("\n".join(failed) or None)
