"""How often a gate passes: harm that is as large as the margin, and runs that are better: ``python benchmarks/gate.py``.

*Constructed*: a share of all queries loses all k ranks, and the others move by one rank up or down,
so that most samples hold few or none of those that matter. *Real*: queries, or conversations, are
drawn with replacement from those of a pair of real runs; the margin is the true harm of one facet,
so that every pass of that facet is an error (nominal: 2.5 %). *Power*: how often better runs pass
the whole gate. A line shows first the intervals that stand beside p-values, then those that decide.

Of real pairs, those that pass most often are drawn again with more trials, so that the worst is not
the luckiest of many.
"""

import argparse
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ir_outcomes import evaluate
from ir_outcomes.comparison.outcomes import pair_queries
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.ranking import spans
from ir_outcomes.statistics import Interval, coverage_interval, margin_interval, mean_interval
from ir_outcomes.types import Floats, Ints, Unit

SIZES = (30, 50, 100, 200, 500, 1000, 4000)
# Queries of a sample, in the mean, that lose everything.
SHARES_OF_N = (
    0.1,
    0.25,
    0.5,
    1,
    1.5,
    2,
    3,
    4,
    6,
    9,
)
MARGINS = (1.0, 0.5), (2.0, 1.0)  # percentage points and ranks
LEVEL = 0.95
MOST_PAIRS = 12
HARDEST = 3


class Facet(NamedTuple):
    """The harm of each query (NaN where the facet is not measured), the largest possible, and how coverage is tested."""

    name: str
    harm: Floats
    largest: float
    step: float | None = None  # of coverage, mean of 1 / relevant documents

    def ends(self, rows: Ints, clusters: Ints | None) -> tuple[float, float]:
        """Return the harmful end of the plain interval of a sample, and of the one that decides."""
        harm = self.harm[rows]
        known = ~np.isnan(harm)
        groups = None if clusters is None else clusters[known]
        values = harm[known]
        if self.step is None:
            plain = mean_interval(values, LEVEL, self.largest, groups)
        else:
            plain = coverage_interval(values, self.step, LEVEL, groups)
        if self.step == 1 and groups is None:
            return _end(plain), _end(plain)
        return _end(plain), _end(margin_interval(values, self.largest, LEVEL, groups))


def _end(interval: Interval | None) -> float:
    return np.inf if interval is None else interval.high


class Pair(NamedTuple):
    """Two runs of a collection, the second as the contender."""

    name: str
    facets: tuple[Facet, ...]
    clusters: Ints | None

    def draw(self, size: int, random: np.random.Generator) -> tuple[Ints, Ints | None]:
        """Draw queries, or clusters with all their queries, and number the clusters."""
        if self.clusters is None:
            return random.integers(len(self.facets[0].harm), size=size), None
        sizes = np.bincount(self.clusters)
        by_cluster = np.argsort(self.clusters, kind="stable")
        drawn = random.integers(len(sizes), size=size)
        rows, _ = spans((np.cumsum(sizes) - sizes)[drawn], sizes[drawn])
        return by_cluster[rows], np.repeat(np.arange(size), sizes[drawn])


def pairs_of(
    evaluation: Evaluation, cutoff: int, unit: Unit, random: np.random.Generator
) -> Iterator[Pair]:
    """Yield pairs of runs in both directions, at random where there are many."""
    couples = list(permutations(evaluation.at(cutoff), 2))
    chosen = random.permutation(len(couples))[:MOST_PAIRS].tolist()
    for baseline, contender in (couples[place] for place in chosen):
        pair = pair_queries(baseline, contender, unit)
        restricted = pair.restricted
        if restricted is None:
            continue
        ranking = np.where(pair.shared, pair.length_contender - pair.length_baseline, np.nan)
        by_query = unit == "query" or not evaluation.many_relevant
        facets = (
            Facet(
                "coverage",
                pair.found_baseline - pair.found_contender,
                1.0,
                1.0 if by_query else pair.item_share,
            ),
            Facet("ranking", ranking, restricted.horizon - 1.0),
            Facet(
                "all queries", restricted.contender - restricted.baseline, float(restricted.horizon)
            ),
        )
        clusters = (
            None if pair.clusters is None else np.unique(pair.clusters, return_inverse=True)[1]
        )
        yield Pair(f"{baseline.name} / {contender.name}", facets, clusters)


def false_passes(
    pair: Pair, facet: Facet, size: int, trials: int, random: np.random.Generator
) -> Floats:
    """Return the percentage of samples that pass with a margin of the true harm: plain, and by the interval that decides."""
    true = float(np.nanmean(facet.harm))
    passed = np.zeros(2)
    for _ in range(trials):
        passed += np.array(facet.ends(*pair.draw(size, random))) < true
    return 100 * passed / trials


def constructed(
    size: int, k: int, share: float, trials: int, random: np.random.Generator
) -> Floats:
    """Return the same where this share of all queries loses k ranks and the others move by one."""
    pair = Pair("constructed", (), None)
    passed = np.zeros(2)
    for _ in range(trials):
        harm = np.where(random.random(size) < share, float(k), random.choice([-1.0, 1.0], size))
        ends = Facet("all queries", harm, float(k)).ends(np.arange(size), pair.clusters)
        passed += np.array(ends) < share * k
    return 100 * passed / trials


def power(
    pair: Pair, size: int, margins: tuple[float, float], trials: int, random: np.random.Generator
) -> Floats:
    """Return the percentage of samples in which all three facets pass."""
    _, ranking, over_all = pair.facets
    both = float(np.mean(~np.isnan(ranking.harm)))
    limits = margins[0] / 100, margins[1], margins[1] * both + margins[0] / 100 * over_all.largest
    passed = np.zeros(2)
    for _ in range(trials):
        rows, clusters = pair.draw(size, random)
        ends = np.array([facet.ends(rows, clusters) for facet in pair.facets])
        passed += np.all(ends < np.array(limits)[:, np.newaxis], axis=0)
    return 100 * passed / trials


def collections(data: Path) -> Iterator[tuple[str, Evaluation, int, Unit]]:
    """Yield evaluations with a cutoff and a unit."""
    dev = evaluate(data / "msmarco-doc-dev/qrels.txt", str(data / "msmarco-doc-dev/*.run.gz"))
    yield "MS MARCO dev by query at 10", dev, 10, "query"
    known = evaluate(data / "known-item/qrels.txt", str(data / "known-item/*.run.gz"))
    yield "known-item by query at 100", known, 100, "query"
    dl20 = evaluate(data / "dl20-passage/qrels.txt", str(data / "dl20-passage/*.gz"), rel=2)
    yield "DL 2020 by document at 10", dl20, 10, "document"
    yield "DL 2020 by query at 100", dl20, 100, "query"
    yield "DL 2020 by document at 100", dl20, 100, "document"
    hard = evaluate(data / "dl-hard-doc/qrels.txt", str(data / "dl-hard-doc/*.run.gz"))
    yield "DL-Hard by document at 100", hard, 100, "document"
    turns = evaluate(
        data / "mt-rag/qrels.txt.gz", str(data / "mt-rag/*.run.gz"), clusters="by:<::>"
    )
    yield "MT-RAG by conversation at 10", turns, 10, "document"


def row(name: str, rates: list[Floats], form: Callable[[float], str] = "{:5.1f}".format) -> None:
    """Print a line: plain, then what decides, for each size."""
    plain, deciding = (" ".join(form(float(rate[place])) for rate in rates) for place in (0, 1))
    print(f"{name:34} | {plain} | {deciding}", flush=True)


def main(data: Path, trials: int) -> None:
    """Print percentages of samples for each number of queries (of MT-RAG, conversations)."""
    random = np.random.default_rng(0)
    sizes = " ".join(f"{size:5}" for size in SIZES)
    print(f"{'false passes, %, nominal 2.5':34} | {sizes} | {sizes}")
    for k in (10, 100):
        worst = []
        for size in SIZES:
            shares = [most / size for most in SHARES_OF_N]
            rates = [constructed(size, k, share, 16 * trials, random) for share in shares]
            worst.append(np.max(rates, axis=0))
        row(f"constructed, k = {k}, worst share", worst)
    powers = []
    for name, evaluation, cutoff, unit in collections(data):
        pairs = list(pairs_of(evaluation, cutoff, unit, random))
        for place, what in enumerate(("coverage", "ranking", "all queries")):
            harmful = [pair for pair in pairs if np.nanmean(pair.facets[place].harm) > 0]
            if not harmful:
                continue
            worst = []
            for size in SIZES:
                first = [
                    false_passes(pair, pair.facets[place], size, trials, random)[1]
                    for pair in harmful
                ]
                hardest = [harmful[number] for number in np.argsort(first)[-HARDEST:].tolist()]
                again = [
                    false_passes(pair, pair.facets[place], size, 16 * trials, random)
                    for pair in hardest
                ]
                worst.append(np.max(again, axis=0))
            row(f"{name}: {what}", worst)
        better = [
            pair for pair in pairs if all(np.nanmean(facet.harm) <= 0 for facet in pair.facets)
        ]
        powers += [(name, margins, better) for margins in MARGINS]
    print("\nbetter runs pass, %")
    for name, margins, better in powers:
        rates = [
            np.mean([power(pair, size, margins, trials, random) for pair in better], axis=0)
            for size in SIZES
        ]
        row(f"{name.replace(' by ', ', ')}: {margins[0]:g}pp,{margins[1]:g}", rates)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--trials", type=int, default=100)
    arguments = parser.parse_args()
    main(arguments.data, arguments.trials)
