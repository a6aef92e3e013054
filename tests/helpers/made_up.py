"""Made-up results with as many runs as a figure should bear, built without computing anything."""

from __future__ import annotations

from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np

from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.leaderboards.board import Leaderboard, Standing
from ir_outcomes.statistics.intervals import Interval

__all__ = [
    "agreement",
    "board",
    "comparison",
    "comparisons",
    "correlation",
    "cutoffs",
    "distributions",
    "headroom",
    "history",
    "length_changes",
    "long_names",
    "ranks",
    "reordering",
    "rrie",
]


TAIL = SimpleNamespace(cutoff=1000, rel=2, ties="trec", judged_only=False, missing="cutoff")


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


def board(n_runs: int) -> Any:
    rng = np.random.default_rng(n_runs)
    names = long_names(n_runs)
    scores = np.sort(rng.uniform(0.2, 0.45, n_runs))[::-1]
    standings = [
        Standing(
            rank=place + 1,
            run=name,
            score=float(score),
            interval=Interval(float(score) - 0.012, float(score) + 0.012),
            coverage=80.0,
            tier=1 + place // 6,
        )
        for place, (name, score) in enumerate(zip(names, scores, strict=True))
    ]
    labels = [label for label in LABELS if "unconfirmed" not in label]
    pairs = []
    for low in range(n_runs):
        for high in range(low):
            far = [0.01, 0.03, 0.3, 0.06, 0.2, 0.4]
            label = str(rng.choice(labels, p=far if low - high > 3 else [0, 0.05, 0.7, 0.1, 0.1, 0.05]))
            pairs.append(SimpleNamespace(baseline=names[high], contender=names[low], label=label))
    return Leaderboard(
        measure="RR@100",
        higher_is_better=True,
        alpha=0.05,
        correction="holm",
        measures=(),
        standings=tuple(standings),
        pairs=pairs,  # type: ignore[arg-type]
        cycles=(),
        history=history(n_runs),
        n_queries=5193,
        n_unanswerable=0,
        settings=SimpleNamespace(cutoff=100, rel=1, alpha=0.05, unit="query"),  # type: ignore[arg-type]
        notes=(),
        versions={},
    )


def history(n_runs: int) -> Any:
    rng = np.random.default_rng(n_runs)
    day, best = date(2019, 3, 1), 0.0
    entries: list[Any] = []
    leaders: list[Any] = []
    for number, name in enumerate(long_names(n_runs)):
        day += timedelta(days=int(rng.integers(0, 9)))
        score = float(0.42 - 0.15 * np.exp(-number / 20) - abs(rng.normal(0, 0.02)))
        entry = SimpleNamespace(run=name, date=day, score=score, is_baseline=number == 0)
        entries.append(entry)
        if score > best and not entry.is_baseline:
            best = score
            leaders.append(SimpleNamespace(number=len(leaders) + 1, run=name, date=day, score=score))
    return SimpleNamespace(runs=leaders, entries=entries, score="MRR@100", higher_is_better=True)


def ranks(n_runs: int, resamples: int = 200) -> Any:
    rng = np.random.default_rng(n_runs)
    names = long_names(n_runs)
    means = np.sort(rng.uniform(0.2, 0.45, n_runs))[::-1] + rng.normal(0, 0.01, (resamples, n_runs))
    placed = np.argsort(np.argsort(-means, axis=1), axis=1) + 1
    runs = [
        SimpleNamespace(
            run=name,
            rank=place + 1,
            score=0.3,
            counts=tuple(np.bincount(placed[:, place], minlength=n_runs + 1)[1:].tolist()),
            expected_rank=float(placed[:, place].mean()),
            low=float(np.quantile(placed[:, place], 0.025)),
            high=float(np.quantile(placed[:, place], 0.975)),
        )
        for place, name in enumerate(names)
    ]
    taus = tuple(rng.uniform(0.7, 0.95, resamples).tolist())
    return SimpleNamespace(
        measure="nDCG@10",
        higher_is_better=True,
        condition="",
        runs=runs,
        taus=taus,
        median_tau=float(np.median(taus)),
        n_queries=43,
        resamples=resamples,
        level=0.95,
        top_k=5,
    )


def agreement() -> Any:
    shares = {"same": 0.7, "one_sided": 0.2, "opposite": 0.1, "decided": 0.6, "replicates": 0.62}
    paper = {"agree": 0.7, "partial": 0.25, "disagree": 0.05, "significant": 0.8}
    tests = [
        SimpleNamespace(measure=measure, test=test, aggregate=aggregate, **shares, **paper)
        for measure in ["RR@100", "nDCG(cutoff=10,dcg='exp-log2')"]
        for test in ("sign", "ranksum", "wilcoxon", "t")
        for aggregate in ("mean", "median")
    ]
    verdict = SimpleNamespace(measure="outcomes by query", test="two facets", aggregate=None, **shares)
    return SimpleNamespace(tests=tests, verdict=verdict, n_queries=43, n_runs=14, n_pairs=91, splits=100, alpha=0.05)


def correlation(n_runs: int) -> Any:
    rng = np.random.default_rng(n_runs)
    ranks = 1 + np.argsort(np.argsort(np.arange(n_runs) + rng.normal(0, 4, n_runs)))
    runs = [
        SimpleNamespace(run=name, first=place, second=int(ranks[place - 1])) for place, name in enumerate(long_names(n_runs), 1)
    ]
    return SimpleNamespace(first="dev", second="eval", tau=0.886, swapped=4, runs=runs)


def reordering(n_runs: int) -> Any:
    rng = np.random.default_rng(n_runs)
    measures = ["AP(rel=2)@1000", "ASL(missing='cutoff',first=10)@1000", "ASL(missing='cutoff')@1000"]
    start = rng.uniform(0.2, 0.5, n_runs)
    values = np.array([start, start + rng.normal(0, 0.03, n_runs), start + rng.normal(0, 0.05, n_runs)]).round(2)
    change = {"tau": 0.8, "delta_sort": 12.0}
    steps = ["best ten documents only", "all relevant documents", "both changes together"]
    return SimpleNamespace(
        runs=long_names(n_runs),
        measures=measures,
        values=values.tolist(),
        changes=[SimpleNamespace(step=step, **change) for step in steps],
        settings=TAIL,
    )


def cutoffs(depth: int) -> Any:
    """A comparison at several cutoffs with its curve up to a rank."""
    baseline, contender = long_names(2)
    ranks = range(1, depth + 1)
    first, second = [rank / (rank + 9) for rank in ranks], [rank / (rank + 6) for rank in ranks]
    low, high = ([own - base + side for base, own in zip(first, second, strict=True)] for side in (-0.05, 0.05))
    curve = SimpleNamespace(ranks=tuple(ranks), baseline=first, contender=second, low=low, high=high, level=0.95, n=1)
    return SimpleNamespace(
        baseline=baseline, contender=contender, curve=curve, comparisons=[SimpleNamespace(unit="query", settings=TAIL)]
    )


def distributions(n_runs: int) -> Any:
    rng = np.random.default_rng(n_runs)
    edges = (1, 51, 101, 151, 201, 251, 301, 351, 401, 451, 501)
    runs = [
        SimpleNamespace(
            run=name, counts=tuple((900 / np.arange(1, 11) ** 1.4 + rng.integers(0, 60, 10)).astype(int).tolist()), missing=400
        )
        for name in long_names(n_runs)
    ]
    return SimpleNamespace(runs=runs, edges=edges, n_documents=2500, n_queries=54, settings=TAIL)


def length_changes() -> Any:
    baseline, contender = long_names(2)
    return SimpleNamespace(
        baseline=baseline,
        contender=contender,
        edges=(1, 2, 5, 10, 20, 50, 100, 200, 500),
        further_up=(5, 9, 20, 40, 60, 90, 70, 40, 11),
        further_down=(4, 12, 25, 30, 50, 60, 55, 20, 16),
        unchanged=33,
        won=20,
        lost=10,
        neither=400,
        n_documents=1200,
        settings=TAIL,
        mean=-3.2,
    )


def rrie() -> Any:
    baseline, contender = long_names(2)
    names = ["P@20", "ASL(missing='cutoff',first=10)@1000", "AP@1000", "ASL(missing='cutoff')@1000"]
    reductions = [
        SimpleNamespace(measure=name, rrie=value) for name, value in zip(names, (0.12, -0.08, 0.31, None), strict=True)
    ]
    return SimpleNamespace(baseline=baseline, contender=contender, reductions=reductions, settings=TAIL)


def headroom(n_runs: int) -> Any:
    precisions = tuple(tenth / 10 for tenth in range(10))
    lengths = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
    best = long_names(n_runs)[-1]
    names = ["P@20", "ASL(missing='cutoff',first=10)@1000", "AP@1000", "ASL(missing='cutoff')@1000"]
    measures = [
        SimpleNamespace(measure=name, run=best, mean=0.513, edges=edges, counts=(1, 4, 5, 8, 9, 12, 6, 5, 3, 1))
        for name, edges in zip(names, (precisions, lengths, precisions, lengths), strict=True)
    ]
    return SimpleNamespace(measures=measures, n_runs=n_runs, settings=TAIL)
