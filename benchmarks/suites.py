"""How often the overall label of a suite errs: ``python benchmarks/suites.py [--trials N]``.

Queries are drawn from real pairs of runs, and under the null the two runs are swapped at random on
each query, in every collection. The label over all collections is then better or worse at most 2
alpha of the time, because either facet may decide. The real runs are looked for in ../shared/data
beside the project, or where $IR_OUTCOMES_REAL_DATA points.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import ir_outcomes as iro
from ir_outcomes.across.conditions import FACETS, effects_of, label_of, pooled_effect
from ir_outcomes.comparison.outcomes import from_items
from ir_outcomes.types import Floats

DATA = Path(os.environ.get("IR_OUTCOMES_REAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
ALPHA = 0.05
PAIRS = (
    ("known-item", "bm25", "bm25-stem", 100),
    ("known-item", "bm25-flat", "rrf-stem-lsa", 100),
    ("msmarco-doc-dev", "bm25", "wordnet_all", 10),
    ("msmarco-doc-dev", "bm25", "bm25+rm3", 10),
    ("dl20-passage", "BM25", "BM25RM3", 100),
    ("dl20-passage", "ANCE", "splade", 100),
)


def real_lengths() -> list[tuple[tuple[Floats, Floats], int]]:
    """Rank of the first relevant document in both runs of each pair, NaN where there is none; and the cutoff."""
    result = []
    for folder, baseline, contender, cutoff in PAIRS:
        paths = [next((DATA / folder).glob(f"{name}*.gz")) for name in (baseline, contender)]
        ev = iro.evaluate(DATA / folder / "qrels.txt", paths, cutoff=cutoff, unit="query")
        ranks = [run.esl()[ev.answerable] for run in ev.at()]
        result.append(((ranks[0], ranks[1]), cutoff))
    return result


def trial(
    rng: np.random.Generator, pairs: Sequence[tuple[tuple[Floats, Floats], int]], n: int
) -> str:
    effects = []
    for (a, b), cutoff in pairs:
        drawn = rng.integers(0, len(a), n)
        swapped = rng.random(n) < 0.5
        lengths = np.where(swapped, b[drawn], a[drawn]), np.where(swapped, a[drawn], b[drawn])
        ids = tuple(map(str, range(n)))
        effects.append(
            effects_of(from_items(("a", "b"), ids, np.arange(n), lengths, cutoff), 1 - ALPHA)
        )
    pooled = [
        pooled_effect(
            {str(place): pair[facet] for place, pair in enumerate(effects)},
            {},
            name,
            higher_is_better,
            ALPHA,
        )
        for facet, (name, higher_is_better) in enumerate(FACETS)
    ]
    coverage, ranking, all_queries = pooled
    return label_of(coverage, ranking, all_queries, ALPHA)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    trials = parser.parse_args().trials
    pairs = real_lengths()
    print(
        "six collections without any difference: overall labels in %, nominal at most 10 better or"
        " worse"
    )
    print(f"{'queries each':>14}{'better':>10}{'worse':>10}{'trade-off':>11}")
    for n in (50, 200):
        rng = np.random.default_rng(n)
        labels = [trial(rng, pairs, n) for _ in range(trials)]
        shares = [
            100 * np.mean([label.startswith(start) for label in labels])
            for start in ("better", "worse", "trade")
        ]
        print(f"{n:14d}" + "".join(f"{share:10.1f}" for share in shares))


if __name__ == "__main__":
    main()
