"""Made-up results with as many runs as a figure should bear."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

import ir_outcomes as iro
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.evaluation.lengths import OUTCOMES
from tests.helpers.many import collection


def long_names(n: int) -> list[str]:
    """Names of the kind that MS MARCO runs have: long, and different in the middle only."""
    models = [
        "bm25-default",
        "bm25-default+rm3",
        "bm25-tuned",
        "bm25-tuned+rm3",
        "unicoil-noexp",
        "splade-distil-cocodenser-medium",
    ]
    return [
        f"run.msmarco-v1-passage.{models[number % 6]}{'.v' + str(number // 6) if number > 5 else ''}.dev" for number in range(n)
    ]


def comparison(baseline: str, contender: str, seed: int = 0, n: int = 300, **settings: Any) -> Any:
    rng = np.random.default_rng(seed)
    coverage, ranking = rng.normal(0.5, 2), rng.normal(-0.4, 1.2)
    wide = rng.uniform(0.5, 1.6)
    shares = rng.dirichlet([8, 1, 1.5, 30])
    queries = []
    for number in range(n):
        outcome = rng.choice(["neither", "lost", "won", "both"], p=shares)
        base = float(rng.geometric(0.2)) if outcome in ("lost", "both") else None
        own = float(rng.geometric(0.22)) if outcome in ("won", "both") else None
        difference = own - base if own is not None and base is not None else None
        queries.append(
            SimpleNamespace(
                query_id=f"q{number}",
                outcome=outcome,
                baseline=base,
                contender=own,
                difference=difference,
                restricted=(101 if own is None else own) - (101 if base is None else base),
                found_baseline=float(base is not None),
                found_contender=float(own is not None),
                text=None,
            )
        )
    return SimpleNamespace(
        baseline=baseline,
        contender=contender,
        n_queries=n,
        n_unanswerable=0,
        settings=SimpleNamespace(**{"cutoff": 100, "rel": 1, "unit": "query", "alpha": 0.05, "ties": "trec", **settings}),
        unit="query",
        cutoff=100,
        outcomes=SimpleNamespace(
            shares=SimpleNamespace(**dict(zip(OUTCOMES, shares, strict=True))),
            **{outcome: sum(query.outcome == outcome for query in queries) for outcome in OUTCOMES},
        ),
        coverage=SimpleNamespace(
            difference=coverage,
            interval=(coverage - wide, coverage + wide),
            higher_is_better=True,
            measured_in="percentage points",
            n=n,
        ),
        ranking=SimpleNamespace(
            difference=ranking,
            interval=(ranking - wide, ranking + 1.2 * wide),
            higher_is_better=False,
            measured_in="ranks",
            n=n,
        ),
        restricted=SimpleNamespace(
            horizon=100,
            both=ranking,
            won=-abs(coverage),
            lost=0.5 * wide,
            interval=(ranking - 2 * wide, ranking + wide),
            difference=ranking - abs(coverage) + 0.5 * wide,
        ),
        verdict=SimpleNamespace(label=LABELS[int(rng.integers(len(LABELS)))]),
        queries=tuple(queries),
        per_query=lambda: queries,
    )


def comparisons(n_runs: int, n: int = 50, **settings: Any) -> list[Any]:
    """A baseline and `n_runs` - 1 contenders."""
    names = long_names(n_runs)
    return [comparison(names[0], name, seed, n, **settings) for seed, name in enumerate(names[1:], 1)]


@cache
def evaluated(n_runs: int) -> iro.Evaluation:
    qrels, runs = collection(n_runs, 40, relevant=3, depth=50)
    return iro.evaluate(qrels, list(runs.values()), names=long_names(n_runs), cutoff=50, measures=["nDCG@10"])


def _entries(n_runs: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(n_runs)
    days = np.cumsum(rng.integers(0, 9, n_runs)).tolist()
    scores = 0.42 - 0.15 * np.exp(-np.arange(n_runs) / 20) - abs(rng.normal(0, 0.02, n_runs))
    return [
        {"id": name, "date": date(2019, 3, 1) + timedelta(days=day), "score": score}
        for name, day, score in zip(long_names(n_runs), days, scores.tolist(), strict=True)
    ]


def history(n_runs: int) -> iro.SotaHistory:
    return iro.sota_history(_entries(n_runs))


def board(n_runs: int) -> iro.Leaderboard:
    return iro.leaderboard(evaluated(n_runs), entries=_entries(n_runs))


def ranks(n_runs: int, measure: str | None = None) -> iro.RankDistribution:
    return iro.rank_distribution(evaluated(n_runs), measure=measure, resamples=200)


def agreement() -> iro.Agreement:
    return iro.agreement(evaluated(5), measures=["nDCG@10"], splits=5)


def correlation(n_runs: int) -> iro.RankCorrelation:
    return iro.rank_correlation(ranks(n_runs), ranks(n_runs, "nDCG@10"))


def reordering(n_runs: int) -> iro.Reordering:
    return iro.reordering(evaluated(n_runs))


def cutoffs(depth: int) -> iro.CutoffsComparison:
    return iro.compare_cutoffs(evaluated(2).with_cutoff(depth), *long_names(2), cutoffs=[depth], resamples=99)


def distributions(n_runs: int) -> iro.LengthDistributions:
    return iro.length_distributions(evaluated(n_runs))


def length_changes() -> iro.LengthChanges:
    return iro.length_changes(evaluated(2), *long_names(2))


def rrie() -> iro.RRIE:
    return iro.rrie(evaluated(2), *long_names(2))


def headroom(n_runs: int) -> iro.Headroom:
    return iro.headroom(evaluated(n_runs))
