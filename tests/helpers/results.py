"""One result of each kind, over runs whose names attack every format."""

from __future__ import annotations

from functools import cache

import ir_outcomes as iro
from ir_outcomes.results import Result
from tests.helpers.many import collection

HOSTILE = ("*a<script>&_%#", "[b|c](http://d) `e`", "$x^2$ \\end{tabular} {y}~", "\x1b[31mr\u202ed\x9b плохо")


@cache
def every_result() -> tuple[Result, ...]:
    """Compute one result of each kind."""
    qrels, runs = collection(4, 30, relevant=2)
    named = dict(zip(HOSTILE, runs.values(), strict=True))
    baseline, *contenders = HOSTILE
    entries = [{"id": name, "date": f"2021-02-0{day}", "group": name} for day, name in enumerate(HOSTILE, 1)]
    two = list(named.values())[:2]
    comparison = iro.compare(qrels, *two, names=HOSTILE[:2])
    comparisons = iro.compare(qrels, named[baseline], {name: named[name] for name in contenders}, names=HOSTILE)
    return (
        comparison,
        comparisons,
        iro.leaderboard(qrels, named, cutoff=10, entries=entries),
        iro.sota_history([{**entry, "score": day} for day, entry in enumerate(entries)]),
        iro.rank_distribution(qrels, named, resamples=50),
        iro.agreement(qrels, named, splits=5),
        iro.reordering(qrels, named),
        iro.length_distributions(qrels, named),
        iro.length_changes(qrels, *two, names=HOSTILE[:2]),
        iro.rrie(qrels, *two, names=HOSTILE[:2]),
        iro.headroom(qrels, named),
    )


KINDS = (
    "Comparison",
    "Comparisons",
    "Leaderboard",
    "SotaHistory",
    "RankDistribution",
    "Agreement",
    "Reordering",
    "LengthDistributions",
    "LengthChanges",
    "RRIE",
    "Headroom",
)


def result_of(kind: str) -> Result:
    """Return the result of this kind."""
    return next(result for result in every_result() if type(result).__name__ == kind)
