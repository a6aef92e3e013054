"""One result of each kind, over runs whose names attack every format."""

from collections.abc import Callable
from functools import cache
from typing import Any

import ir_outcomes as iro
from ir_outcomes.results import Result
from tests.helpers.many import collection

HOSTILE = (
    "*a<script>&_%#",
    "[b|c](http://d) `e`",
    "$x^2$ \\end{tabular} {y}~",
    "\x1b[31mr\u202ed\x9b плохо",
)
ENTRIES: list[dict[str, Any]] = [
    {"id": name, "date": f"2021-02-0{day}", "group": name, "score": day}
    for day, name in enumerate(HOSTILE, 1)
]


@cache
def _evaluated() -> iro.Evaluation:
    qrels, runs = collection(4, 30, relevant=2)
    return iro.evaluate(qrels, list(runs.values()), names=HOSTILE, documents=100)


@cache
def _comparisons() -> Any:
    return iro.compare(_evaluated(), HOSTILE[0], list(HOSTILE[1:]))


def _checked() -> iro.CheckResult:
    qrels, runs = collection(4, 30, relevant=2)
    runs["run0"] = {
        query: {f"{document}.0": score for document, score in found.items()}
        for query, found in runs["run0"].items()
    }
    return iro.check(qrels, dict(zip(HOSTILE, runs.values(), strict=True)))


def _slices() -> dict[str, str]:
    queries = _evaluated().query_ids
    return {query: f"{HOSTILE[place % 2]} slice" for place, query in enumerate(queries)}


_BUILDERS: dict[str, Callable[[], Any]] = {
    "Comparison": lambda: _comparisons()[0],
    "Comparisons": _comparisons,
    "CheckResult": _checked,
    "Queries": lambda: _comparisons()[0].per_query("worse"),
    "PaperTable": lambda: _comparisons().paper_table(),
    "Reordering": lambda: iro.reordering(_evaluated()),
    "LengthDistributions": lambda: iro.length_distributions(_evaluated()),
    "LengthChanges": lambda: iro.length_changes(_evaluated(), *HOSTILE[:2]),
    "ErrorReduction": lambda: iro.rrie(_evaluated(), *HOSTILE[:2]),
    "Headroom": lambda: iro.headroom(_evaluated()),
    "SummaryVerdict": lambda: iro.verdict_from_summary(
        won=20, lost=9, n=100, ranking_difference=0.5, ranking_pvalue=1e-310
    ),
    "Leaderboard": lambda: iro.leaderboard(_evaluated(), cutoff=10),
    "SotaHistory": lambda: iro.sota_history(ENTRIES, score="score"),
    "RankDistribution": lambda: iro.rank_distribution(_evaluated(), resamples=50),
    "Agreement": lambda: iro.agreement(_evaluated(), splits=5),
    "CollectionsComparison": lambda: iro.compare_collections(
        {name: _evaluated() for name in HOSTILE}, *HOSTILE[:2]
    ),
    "SlicesComparison": lambda: iro.compare_slices(_evaluated(), *HOSTILE[:2], by=_slices()),
    "JudgesComparison": lambda: iro.compare_judges(
        {name: _evaluated() for name in HOSTILE}, *HOSTILE[:2]
    ),
    "GateResult": lambda: iro.gate(_evaluated(), HOSTILE[0], margins=(1.0, 0.5)),
    "Plan": lambda: iro.plan(_comparisons()[0]),
    "Holes": lambda: iro.holes(_evaluated(), HOSTILE[0], list(HOSTILE[1:]), cutoff=10),
}
KINDS = tuple(_BUILDERS)


@cache
def result_of(kind: str) -> Result:
    """Return a result of this kind."""
    result = _BUILDERS[kind]()
    assert type(result).__name__ == kind
    assert isinstance(result, Result)
    return result
