"""How often the audit of a judge covers, and what the judge is worth: ``python benchmarks/judges.py --data FOLDER``.

NIST's assessors against GPT-4o on three years of TREC DL (150 queries), all pairs of four rerankers, cutoff 10, by document. In
each trial 150 queries are drawn with replacement, and the first n are labeled. *judge alone*: the judge's own interval over
all queries covers the assessors' mean.
"""

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np

import ir_outcomes as iro
from ir_outcomes.across.judges import labeled_places, levels_of
from ir_outcomes.statistics import mean_interval
from ir_outcomes.statistics.pooling import prediction_powered_mean
from ir_outcomes.types import Floats

YEARS = ("dl19", "dl20", "dl21")
RUNS = ("monot5-base", "monot5-3b", "rank1-32b", "rankllama-13b")
JUDGES = {"nist": "qrels.txt.gz", "gpt-4o": "qrels.gpt-4o.txt.gz"}


def differences(data: Path, facet: str) -> dict[tuple[str, str], tuple[Floats, Floats]]:
    """Return the differences of each pair of runs on the queries of all years, by NIST and by GPT-4o."""
    found: dict[tuple[str, str], list[tuple[Floats, Floats]]] = {pair: [] for pair in combinations(RUNS, 2)}
    for year in YEARS:
        runs = {run: data / year / f"{run}.run.gz" for run in RUNS}
        nist, model = (
            iro.evaluate(data / year / qrels, runs, rel=2, cutoff=10, unit="document", measures=["nDCG@10"])
            for qrels in JUDGES.values()
        )
        places = labeled_places(nist, model)
        for pair, of_years in found.items():
            first, second = (
                np.nan_to_num(levels_of(evaluation, *pair, facet)[:, at])
                for evaluation, at in zip((nist, model), places, strict=True)
            )
            of_years.append((first[1] - first[0], second[1] - second[0]))
    return {pair: (np.concatenate([y for y, _ in of]), np.concatenate([f for _, f in of])) for pair, of in found.items()}


def main(data: Path, trials: int) -> None:
    """Print a row for each facet and number of labeled queries, over all pairs."""
    random = np.random.default_rng(0)
    print(f"{'facet':12}{'labeled':>8}{'corrected covers':>18}{'labels alone':>14}{'judge alone':>13}{'worth':>7}")
    for facet in ("coverage", "all queries", "nDCG@10"):
        pairs = list(differences(data, facet).values())
        for n in (15, 30, 50):
            covered, worth = [], []
            for y, f in pairs:
                for _ in range(trials):
                    drawn = random.integers(len(y), size=len(y))
                    labeled, others = drawn[:n], drawn[n:]
                    found = prediction_powered_mean(y[labeled], f[labeled], f[others], 0.95)
                    alone = prediction_powered_mean(y[labeled], f[labeled], [], 0.95)
                    ends = (found.interval, alone.interval, mean_interval(f[drawn], 0.95) or found.interval)
                    covered.append([low <= y.mean() <= high for low, high in ends])
                    worth.append(1 / found.worth)
            rates = 100 * np.mean(covered, axis=0)
            print(f"{facet:12}{n:8}{rates[0]:18.1f}{rates[1]:14.1f}{rates[2]:13.1f}{1 / np.mean(worth):7.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/suite-rerankers"))
    parser.add_argument("--trials", type=int, default=500)
    arguments = parser.parse_args()
    main(arguments.data, arguments.trials)
