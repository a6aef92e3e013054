"""What tests and intervals do where queries come in clusters: ``python benchmarks/clusters.py``.

The population is the conversations of MT-RAG, with the differences of real pairs of runs on their
turns. A sample is some of them, drawn with replacement. A cluster is one conversation (about 7
turns), or, very unequal, all conversations of a user, a geometric number with mean 4. Under the
null hypothesis all differences of a cluster change their sign together. ``--data`` names the folder
of real runs. All rates are in percent; with 2000 samples, a rate of 5 is known to about 0.5.
"""

import argparse
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path

import numpy as np

import ir_outcomes as iro
from ir_outcomes.comparison.outcomes import pair_queries
from ir_outcomes.statistics import coverage_interval, design_effect, mean_interval, t_test
from ir_outcomes.statistics.counts import tally
from ir_outcomes.statistics.tests import Samples

ALPHA = 0.05
SIZES = (10, 30, 82, 500)
QUANTITIES = ("coverage", "ranking", "all queries")
FORMS = ("lastturn", "questions", "rewrite")


def differences_of(data: Path) -> tuple[np.ndarray, dict[tuple[str, str], dict[str, np.ndarray]]]:
    """Read the runs; return the conversation of each turn, and its difference by pair and quantity (NaN: none)."""
    folder = data / "mt-rag"
    runs = sorted(folder.glob("*.run.gz"))
    evaluation = iro.evaluate(
        folder / "qrels.txt.gz", runs, cutoff=10, unit="document", clusters="by:<::>"
    )
    codes = np.unique(evaluation[0].clusters[evaluation.answerable], return_inverse=True)[1]
    changes = {}
    for names in combinations(evaluation.names, 2):
        pair = pair_queries(*(evaluation[name].at(10) for name in names), "document")
        values = {"coverage": pair.found_contender - pair.found_baseline}
        values["ranking"] = np.where(
            pair.shared, pair.length_contender - pair.length_baseline, np.nan
        )
        if pair.all_queries is not None:
            values["all queries"] = pair.all_queries[1] - pair.all_queries[0]
        changes[names] = values
    return codes, changes


def drawn(
    rng: np.random.Generator, codes: np.ndarray, n_clusters: int, equal: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Draw conversations for each cluster; return their turns, and the cluster of each."""
    turns = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    conversations = np.ones(n_clusters, dtype=int) if equal else rng.geometric(1 / 4, n_clusters)
    chosen = [turns[code] for code in rng.integers(0, len(turns), conversations.sum())]
    return np.concatenate(chosen), np.repeat(
        np.repeat(np.arange(n_clusters), conversations), list(map(len, chosen))
    )


def null_rates(data: Path, trials: int) -> None:
    """Print how often true null hypotheses are rejected."""
    codes, changes = differences_of(data)
    pairs = list(changes.values())
    columns = ("t by query", "t", "sign flips", "Wilcoxon", "deciding")
    for equal in (True, False):
        print(
            "\nTrue null hypotheses rejected,"
            f" {'one conversation each' if equal else 'users of very unequal size'}"
        )
        print(f"{'':14}{'clusters':>9}" + "".join(f"{name:>12}" for name in columns))
        for quantity in QUANTITIES:
            for n_clusters in SIZES:
                rng = np.random.default_rng([n_clusters, QUANTITIES.index(quantity)])
                rejected = np.zeros(len(columns))
                for trial in range(trials):
                    turns, clusters = drawn(rng, codes, n_clusters, equal)
                    d = (
                        pairs[trial % len(pairs)][quantity][turns]
                        * rng.choice([-1.0, 1.0], n_clusters)[clusters]
                    )
                    d, clusters = d[~np.isnan(d)], clusters[~np.isnan(d)]
                    sample, levels = tally(d, clusters), (ALPHA, ALPHA)
                    flips = Samples(sample, levels, labels_only=True).many("signflip")
                    deciding = (
                        flips
                        if quantity == "coverage"
                        else Samples(sample, levels, labels_only=True).of_means()
                    )
                    by_query, by_cluster, ranks = (
                        Samples(tally(d)).many("t"),
                        Samples(sample).many("t"),
                        Samples(sample).many("wilcoxon"),
                    )
                    tests = (by_query, by_cluster, flips, ranks, deciding)
                    rejected += [test.pvalue[0] <= ALPHA for test in tests]
                print(
                    f"{quantity:14}{n_clusters:9}"
                    + "".join(f"{rate:12.1f}" for rate in 100 * rejected / trials),
                    flush=True,
                )


def coverage_rates(data: Path, trials: int) -> None:
    """Print how often 95 % intervals cover the mean over all turns, with whole conversations drawn."""
    codes, changes = differences_of(data)
    by: dict[str, Callable[..., tuple[float, float] | None]]
    by = {name: lambda d, clusters: mean_interval(d, 0.95, 10, clusters) for name in QUANTITIES}
    by["coverage"] = lambda d, clusters: coverage_interval(d, 0.5, 0.95, clusters)
    heads = f"{'':14}{'clusters':>9}{'by query':>12}{'by cluster':>12}"
    for equal in (True, False):
        print(
            "\n95 % intervals that cover,"
            f" {'one conversation each' if equal else 'users of very unequal size'}\n{heads}"
        )
        for quantity, n_clusters in product(QUANTITIES, SIZES):
            rng = np.random.default_rng([n_clusters, QUANTITIES.index(quantity)])
            covered = np.zeros(2)
            for trial in range(trials):
                values = list(changes.values())[trial % len(changes)][quantity]
                turns, clusters = drawn(rng, codes, n_clusters, equal)
                d = values[turns]
                defined, truth = ~np.isnan(d), np.nanmean(values)
                for place, of in enumerate((None, clusters[defined])):
                    interval = by[quantity](d[defined], of)
                    covered[place] += interval is not None and interval[0] <= truth <= interval[1]
            print(
                f"{quantity:14}{n_clusters:9}"
                + "".join(f"{rate:12.1f}" for rate in 100 * covered / trials),
                flush=True,
            )


def real_pairs(data: Path) -> None:
    """Print p-values of the real pairs before and after, and the design effects."""
    codes, changes = differences_of(data)
    heads = ("queries", "clusters", "design effect", "p by query", "p by cluster")
    print(f"\nAll queries, real pairs\n{'':32}" + "".join(f"{head:>15}" for head in heads))
    rows = {f"{x} > {y}": (values["all queries"], codes) for (x, y), values in changes.items()}
    forms = [changes[f"bm25.{form}", f"elser.{form}"]["all queries"] for form in FORMS]
    rows["bm25 > elser, three forms"] = np.concatenate(forms), np.tile(codes, 3)
    for name, (d, clusters) in rows.items():
        pvalues = t_test(d).pvalue, t_test(d, clusters).pvalue
        effect = design_effect(d, clusters) or 0.0
        print(
            f"{name:32}{len(d):15}{clusters.max() + 1:15}{effect:15.2f}"
            + "".join(f"{pvalue:15.2g}" for pvalue in pvalues)
        )


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--trials", type=int, default=2000, help="samples for each rate")
    arguments = parser.parse_args()
    real_pairs(arguments.data)
    null_rates(arguments.data, arguments.trials)
    coverage_rates(arguments.data, arguments.trials)


if __name__ == "__main__":
    main()
