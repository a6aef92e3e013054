"""How often the gate passes, drawn from real search lengths: ``python benchmarks/gate.py --data FOLDER``.

Queries are drawn with replacement from all queries of MS MARCO documents (dev), BM25 against contenders that are a little worse
over all queries, with margins of 1 pp and 0.5 ranks. *significance*: passes if any significant increase over all queries stops
instead of the third margin. *false passes*: with a third margin that is exactly the true harm over all queries, so that every
pass is an error.
"""

import argparse
from pathlib import Path

import numpy as np

from ir_outcomes import evaluate
from ir_outcomes.comparison.outcomes import PairedQueries, pair_queries
from ir_outcomes.statistics import coverage_interval, mean_interval, t_test
from ir_outcomes.statistics.intervals import harm
from ir_outcomes.types import Ints

SIZES = (1000, 4000, 16000)
COVERAGE, RANKING = 0.01, 0.5  # share of the queries, ranks


def decisions(pair: PairedQueries, drawn: Ints, true_harm: float) -> tuple[bool, bool, bool]:
    """Return whether drawn queries pass, pass by significance, and pass over all queries with a margin of the true harm."""
    restricted, shared = pair.restricted, pair.shared[drawn]
    assert restricted is not None
    found = (pair.found_contender - pair.found_baseline)[drawn]
    ranking = (pair.length_contender - pair.length_baseline)[drawn][shared]
    over_all = (restricted.contender - restricted.baseline)[drawn]
    interval, test, n = mean_interval(over_all, 0.95), t_test(over_all), len(drawn)
    of_facets = (
        harm(coverage_interval(found, pair.item_share, 0.95), COVERAGE, n, higher_is_better=True),
        harm(mean_interval(ranking, 0.95), RANKING, len(ranking), higher_is_better=False),
    )
    facets = set(of_facets) == {"harm excluded"}
    margin = RANKING * float(shared.mean()) + COVERAGE * restricted.horizon
    return (
        facets and harm(interval, margin, n, higher_is_better=False) == "harm excluded",
        facets and not (test.direction > 0 and test.pvalue <= 0.05),
        harm(interval, true_harm, n, higher_is_better=False) == "harm excluded",
    )


def main(data: Path, trials: int) -> None:
    """Print a row for each pair: percent of trials at each number of queries."""
    random = np.random.default_rng(0)
    print(f"{'contender':20} {'harm':>5} | passes % at {SIZES} | significance | false passes")
    baseline, *contenders = evaluate(data / "qrels.txt", [data / "bm25.run.gz", *sorted(data.glob("wordnet*.run.gz"))]).at(100)
    for contender in contenders:
        pair = pair_queries(baseline, contender, "query")
        assert pair.restricted is not None
        true_harm = float((pair.restricted.contender - pair.restricted.baseline).mean())
        if true_harm > 0:
            n = len(pair.query_ids)
            rates = [
                100 * np.mean([decisions(pair, random.integers(n, size=size), true_harm) for _ in range(trials)], axis=0)
                for size in SIZES
            ]
            columns = (" ".join(f"{rate:5.1f}" for rate in column) for column in zip(*rates, strict=True))
            print(f"{contender.name:20} {true_harm:5.2f} | {' | '.join(columns)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/msmarco-doc-dev"))
    parser.add_argument("--trials", type=int, default=1000)
    arguments = parser.parse_args()
    main(arguments.data, arguments.trials)
