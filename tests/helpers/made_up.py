"""Results with as many runs as a figure should bear."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from typing import Any

import numpy as np

import ir_outcomes as iro
from tests.helpers.comparisons import compare_several
from tests.helpers.many import collection

MODELS = ["default", "default+rm3", "tuned", "tuned+rm3", "unicoil-noexp", "splade-distil-cocodenser-medium"]


def long_names(n: int) -> list[str]:
    """Names of the kind that MS MARCO runs have: long, and different in the middle only."""
    return [
        f"run.msmarco-v1-passage.bm25-{MODELS[place % 6]}{f'.v{place // 6}' if place > 5 else ''}.dev" for place in range(n)
    ]


def comparison(baseline: str, contender: str, seed: int = 0, n: int = 300, **settings: Any) -> Any:
    qrels, runs = collection(2, n, seed=seed, depth=30)
    return iro.compare(qrels, *runs.values(), names=[baseline, contender], **settings)


def comparisons(n_runs: int, n: int = 50, **settings: Any) -> list[Any]:
    """A baseline and `n_runs` - 1 contenders."""
    qrels, runs = collection(n_runs, n, seed=1, depth=30)
    baseline, *contenders = runs.values()
    return list(compare_several(qrels, baseline, contenders, names=long_names(n_runs), **settings))


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


def reordering(n_runs: int) -> iro.Reordering:
    return iro.reordering(evaluated(n_runs))


def cutoffs(depth: int) -> iro.CutoffsComparison:
    return iro.compare_cutoffs(evaluated(2).with_cutoff(depth), *long_names(2), cutoffs=[depth], resamples=99)


def headroom(n_runs: int) -> iro.Headroom:
    return iro.headroom(evaluated(n_runs))
