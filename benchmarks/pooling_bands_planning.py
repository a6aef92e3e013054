"""How often intervals over collections, bands and plans hold, by simulation: ``python benchmarks/pooling_bands_planning.py``.

``--data`` names the folder of real runs; bands and plans are drawn from them. Rates are in percent;
with 1000 trials a rate of 95 is known to about 1.4.
"""

import argparse
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ir_outcomes import search_lengths
from ir_outcomes.statistics import (
    Interval,
    differences,
    queries_for_coverage,
    queries_for_mean,
    ratio_interval,
    sign_flip,
)
from ir_outcomes.statistics.corrections import Band, band_of_events
from ir_outcomes.statistics.intervals import t_interval
from ir_outcomes.statistics.pooling import (
    RandomEffects,
    fixed_mean,
    log_ratio_of_means,
    random_effects,
)

ALPHA = 0.05
SIZES = (50, 200, 1000)
COLLECTIONS = (("msmarco-doc-dev", 10), ("known-item", 100))
NORMAL = 1.959964


def dersimonian_laird(y: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of DerSimonian and Laird with normal quantiles, the older method."""
    w = 1 / v
    q = w @ (y - w @ y / w.sum()) ** 2
    tau_squared = max(0.0, (q - (len(y) - 1)) / (w.sum() - (w**2).sum() / w.sum()))
    w = 1 / (v + tau_squared)
    mean, half = w @ y / w.sum(), NORMAL / math.sqrt(w.sum())
    return mean - half, mean + half


def pooling(trials: int) -> None:
    """Print how often the intervals cover, for unequal collections of 30 to 1000 queries."""
    print(
        "\nIntervals over collections: coverage in %, and the older method (DerSimonian-Laird,"
        " normal z) for contrast"
    )
    print(
        f"{'collections':>12}{'tau':>7}{'these':>8}{'mean of all':>13}{'prediction':>12}{'t(k-2)':>10}{'width':>7}{'DL, z':>8}"
    )
    for k in (5, 8, 12, 18):
        for tau in (0.0, 0.05, 0.1, 0.2, 0.4):
            rng = np.random.default_rng(1000 * k + int(100 * tau))
            covered, widths = np.zeros(5), np.zeros(2)
            for _ in range(trials):
                n = np.exp(rng.uniform(math.log(30), math.log(1000), k)).astype(int)
                deviation = rng.uniform(0.5, 2.0, k)
                true = rng.normal(0.2, tau, k)
                y = rng.normal(true, deviation / np.sqrt(n))
                v = deviation**2 * rng.chisquare(n - 1) / (n - 1) / n
                these, pooled = fixed_mean(y, v, n, 1 - ALPHA), random_effects(y, v, 1 - ALPHA)
                older = dersimonian_laird(y, v)
                plain = plain_prediction(y, v, pooled)
                widths += [pooled.predicted_high - pooled.predicted_low, plain.high - plain.low]
                new = rng.normal(0.2, tau)
                covered += [
                    these.low <= true.mean() <= these.high,
                    pooled.low <= 0.2 <= pooled.high,
                    pooled.predicted_low <= new <= pooled.predicted_high,
                    plain.low <= new <= plain.high,
                    older[0] <= 0.2 <= older[1],
                ]
            rates = 100 * covered / trials
            print(
                f"{k:12}{tau:7.2f}{rates[0]:8.1f}{rates[1]:13.1f}{rates[2]:12.1f}{rates[3]:10.1f}{widths[0] / widths[1]:7.2f}"
                f"{rates[4]:8.1f}",
                flush=True,
            )


def plain_prediction(y: np.ndarray, v: np.ndarray, pooled: RandomEffects) -> Interval:
    """Return the prediction interval around one estimate of tau^2, t with k - 2 degrees of freedom, the older method."""
    w = 1 / (v + pooled.tau_squared)
    q = float(w @ (y - pooled.effect) ** 2) / (pooled.k - 1)
    variance = pooled.tau_squared + max(1.0, q) / float(w.sum())
    return t_interval(pooled.effect, math.sqrt(variance), pooled.k - 2, 1 - ALPHA)


def first_ranks(data: Path, collection: str, cutoff: int, rel: int = 1) -> dict[str, np.ndarray]:
    """Read the rank of the first relevant document in each run, NaN where there is none within the cutoff."""
    folder = data / collection
    return {
        path.name.removesuffix(".run.gz"): (
            search_lengths(folder / "qrels.txt", path, cutoff=cutoff, rel=rel).esl()
        )
        for path in sorted(folder.glob("*.run.gz"))
    }


def band_of_ranks(baseline: Any, contender: Any, depth: int, level: float, **settings: Any) -> Band:
    """The band of the difference of the shares of queries answered by rank k, from first ranks (infinite: not answered)."""
    x, y = np.asarray(baseline, dtype=float), np.asarray(contender, dtype=float)
    first, second = (np.flatnonzero((x != y) & np.isfinite(ranks)) for ranks in (x, y))
    query, rank = np.concatenate([second, first]), np.concatenate([y[second], x[first]]).astype(int)
    return band_of_events(
        query,
        rank,
        np.repeat([1.0, -1.0], [len(second), len(first)]),
        len(x),
        depth,
        level,
        **settings,
    )


def bands(data: Path, trials: int) -> None:
    """Print how often the band holds at all ranks at once, drawn from the real pairs of runs."""
    print(
        "\nSimultaneous 95 % bands on real pairs: at all ranks; where at least 5 queries differ;"
        " with widths never 0"
    )
    print(f"{'collection':20}{'queries':>8}{'all ranks':>11}{'5 differ':>10}{'never 0':>9}")
    for collection, depth in COLLECTIONS:
        pairs = list(combinations(first_ranks(data, collection, depth).values(), 2))
        ranks = np.arange(1, depth + 1)
        for n in SIZES:
            rng = np.random.default_rng(n)
            held = np.zeros(3)
            for trial in range(trials):
                baseline, contender = pairs[trial % len(pairs)]
                curves = (contender[:, np.newaxis] <= ranks).astype(float) - (
                    baseline[:, np.newaxis] <= ranks
                )
                truth, drawn = curves.mean(axis=0), rng.integers(0, len(baseline), n)
                enough = (curves[drawn] != 0).sum(axis=0) >= 5
                for column, smallest_step in ((0, None), (2, 1.0)):
                    band = band_of_ranks(
                        baseline[drawn],
                        contender[drawn],
                        depth,
                        0.95,
                        smallest_step=smallest_step,
                        seed=trial,
                        resamples=499,
                    )
                    inside = (band.low <= truth + 1e-12) & (truth <= band.high + 1e-12)
                    held[column] += inside.all()
                    held[1] += inside[enough].all() if column == 0 else 0
            rates = 100 * held / trials
            print(f"{collection:20}{n:8}{rates[0]:11.1f}{rates[1]:10.1f}{rates[2]:9.1f}")


def pairs_that_differ(data: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the ranks of pairs of runs on what both answer, where more than 5 % of the queries differ."""
    return [
        pair
        for collection, cutoff in COLLECTIONS
        for pair in _both_answered(first_ranks(data, collection, cutoff))
    ]


def ranking_of_these(data: Path, trials: int) -> None:
    """Print how often the interval of the mean log ratio covers that of the whole collections, by jackknife."""
    pairs = pairs_that_differ(data)
    print(
        f"\nRanking of these collections, drawn from {len(pairs)} real pairs: coverage in %,"
        " jackknife and delta method"
    )
    print(f"{'collections':>12}{'queries of each':>17}{'jackknife':>11}{'delta':>7}")
    for k in (3, 6, 18):
        for n in (30, 50, 100, 200):
            rng = np.random.default_rng(1000 * k + n)
            covered = np.zeros(2)
            for _ in range(trials):
                covered += _mean_covers(
                    [pairs[pair] for pair in rng.choice(len(pairs), k, replace=False)], n, rng
                )
            rates = 100 * covered / trials
            print(f"{k:12}{n:17}{rates[0]:11.1f}{rates[1]:7.1f}")


def _mean_covers(
    pairs: list[tuple[np.ndarray, np.ndarray]], n: int, rng: np.random.Generator
) -> list[bool]:
    """Return whether the interval of the mean log ratio covers, of n queries of each pair, by jackknife and delta method."""
    found = []
    for x, y in pairs:
        drawn = rng.integers(0, len(x), n)
        effect = log_ratio_of_means(x[drawn], y[drawn])
        if effect is not None:
            to_first_order = y[drawn] / y[drawn].mean() - x[drawn] / x[drawn].mean()
            true = math.log(y.mean() / x.mean())
            found.append(
                (true, effect.mean, effect.variance, to_first_order.var(ddof=1) / n, effect.df + 1)
            )
    true, effects, jackknife, delta, sizes = np.array(found).T
    intervals = [fixed_mean(effects, v, sizes, 1 - ALPHA) for v in (jackknife, delta)]
    return [interval.low <= true.mean() <= interval.high for interval in intervals]


def one_skewed_of_few(data: Path, trials: int) -> None:
    """Print how often the interval of the mean log ratio covers where one collection is very skewed, for each such pair."""
    known, marco = (
        first_ranks(data, *collection)
        for collection in (("known-item", 100), ("msmarco-doc-dev", 10))
    )
    trec = first_ranks(data, "dl20-passage", 100, rel=2)
    skewed = [*_both_answered(known), *_both_answered(trec)]
    even = [
        *_both_answered(
            {name: np.where(ranks > 10, np.nan, ranks) for name, ranks in known.items()}
        ),
        *_both_answered(marco),
    ]
    print(
        f"\nOne very skewed collection (of {len(skewed)} pairs) among others (of {len(even)}):"
        " coverage in %"
    )
    print(
        "and that of the tenth part of these pairs where it is smallest; ratio: of the skewed"
        " collection by itself"
    )
    print(
        f"{'collections':>12}{'queries of each':>17}{'jackknife':>11}{'tenth':>7}{'ratio':>7}{'tenth':>7}"
    )
    for k in (3, 6):
        for n in (30, 50, 100):
            rng = np.random.default_rng(1000 * k + n)
            rates = []
            for x, y in skewed:
                covered = np.zeros(2)
                for _ in range(max(1, trials // 5)):
                    others = [even[pair] for pair in rng.choice(len(even), k - 1, replace=False)]
                    drawn = rng.integers(0, len(x), n)
                    ratio = ratio_interval(x[drawn], y[drawn], 1 - ALPHA)
                    alone = ratio is None or ratio.low <= y.mean() / x.mean() <= ratio.high
                    covered += [_mean_covers([(x, y), *others], n, rng)[0], alone]
                rates.append(100 * covered / max(1, trials // 5))
            (mean, alone), (worst, worst_alone) = (
                np.mean(rates, axis=0),
                np.quantile(rates, 0.1, axis=0),
            )
            print(f"{k:12}{n:17}{mean:11.1f}{worst:7.1f}{alone:7.1f}{worst_alone:7.1f}", flush=True)


def _both_answered(runs: dict[str, np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the ranks of pairs of runs on what both answer, where more than 5 % of the queries differ."""
    pairs = []
    for baseline, contender in combinations(runs.values(), 2):
        both = np.isfinite(baseline) & np.isfinite(contender)
        if np.mean(baseline[both] != contender[both]) > 0.05:
            pairs.append((baseline[both], contender[both]))
    return pairs


def null_over_collections(data: Path, trials: int) -> None:
    """Print how often the mean of six collections is called different from 0 although the runs of each query are exchanged."""
    pairs = pairs_that_differ(data)
    print("\nNull hypothesis, ranking of six collections: mean called different from 0, in %")
    print(f"{'queries of each':>16}{'t on log ratios':>17}{'sign flips':>12}")
    for n in (50, 200):
        rng = np.random.default_rng(n)
        rejected = np.zeros(2)
        for _ in range(trials):
            effects, variances, samples = [], [], []
            for pair in rng.choice(len(pairs), 6, replace=False):
                drawn, swapped = rng.integers(0, len(pairs[pair][0]), n), rng.random(n) < 0.5
                first, second = (values[drawn] for values in pairs[pair])
                lengths = np.where(swapped, second, first), np.where(swapped, first, second)
                log_ratio = log_ratio_of_means(*lengths)
                if log_ratio is not None:
                    effects.append(log_ratio.mean)
                    variances.append(log_ratio.variance)
                total = float(np.sum(lengths))
                # Those of each collection weigh the same.
                samples.append(differences(*lengths) * (2 / total if total else 0.0))
            by_t = fixed_mean(effects, variances, [n] * len(effects), 1 - ALPHA)
            rejected += [by_t.pvalue <= ALPHA, sign_flip(np.concatenate(samples)).pvalue <= ALPHA]
        rates = 100 * rejected / trials
        print(f"{n:16}{rates[0]:17.1f}{rates[1]:12.1f}")


def planning(data: Path, pilots: int, samples: int) -> None:
    """Print what power the planned numbers reach, from pilots of 200 of the real queries.

    The effect planned for is that of the whole set. The realised power is that of the tests, on
    samples of the planned size.
    """
    print(
        "\nPlans from pilots of 200 queries, in %: power of the planned number, and how often the"
        " upper bound reaches 80"
    )
    print(f"{'pair':52}{'facet':>10}{'median n':>10}{'power':>8}{'upper bound':>13}")
    summary: dict[str, list[tuple[float, float]]] = {}
    for collection, cutoff in COLLECTIONS:
        ranks = first_ranks(data, collection, cutoff)
        for seed, (first, second) in enumerate(combinations(ranks, 2)):
            baseline, contender = ranks[first], ranks[second]
            answered = np.isfinite(np.stack([baseline, contender]))
            won, lost = answered[1] & ~answered[0], answered[0] & ~answered[1]
            d = contender - baseline  # NaN where not both answer
            effects = {"coverage": float(won.mean() - lost.mean()), "ranking": float(np.nanmean(d))}
            for facet, effect in effects.items():
                rng = np.random.default_rng(seed)
                found = []
                for _ in range(pilots):
                    drawn = rng.integers(0, len(d), 200)
                    if abs(effect) < 1e-9:
                        continue
                    if facet == "coverage":
                        plan = queries_for_coverage(
                            200, int(won[drawn].sum()), int(lost[drawn].sum()), effect, alpha=ALPHA
                        )
                    else:
                        plan = queries_for_mean(
                            d[drawn][np.isfinite(d[drawn])], 200, effect, alpha=ALPHA
                        )
                    if plan.queries is not None and plan.upper is not None and plan.upper <= 50_000:
                        found.append(plan)
                if len(found) < pilots / 2:
                    continue  # an effect too small to be planned for from this pilot
                typical = sorted(found, key=lambda plan: plan.queries or 0)[len(found) // 2]
                realised = 100 * _power(rng, facet, won, lost, d, typical.queries or 2, samples)
                reached = np.mean(
                    [
                        _power(rng, facet, won, lost, d, plan.upper or 2, samples) >= 0.78
                        for plan in found
                    ]
                )
                summary.setdefault(f"{collection}, {facet}", []).append((realised, float(reached)))
                pair = f"{collection}: {first}, {second}"
                print(
                    f"{pair:52}{facet:>10}{typical.queries:10}{realised:8.1f}{100 * reached:13.1f}"
                )
    for name, rows in summary.items():
        powers, shares = np.array(rows).T
        print(
            f"mean of {name}: power {powers.mean():.1f}, upper bound reaches 80 in"
            f" {100 * shares.mean():.1f}"
        )


def _power(
    rng: np.random.Generator,
    facet: str,
    won: np.ndarray,
    lost: np.ndarray,
    d: np.ndarray,
    n: int,
    samples: int,
) -> float:
    """Draw samples of n queries and count how often the test is significant."""
    from scipy.special import stdtr
    from scipy.stats import binom

    if facet == "coverage":
        shares = [float(won.mean()), float(lost.mean())]
        counts = rng.multinomial(n, [*shares, 1 - sum(shares)], samples)
        p = 2 * binom.cdf(counts[:, :2].min(axis=1), counts[:, :2].sum(axis=1), 0.5)
        return float(np.mean(p <= ALPHA))
    values, counts = np.unique(np.where(np.isnan(d), np.inf, d), return_counts=True)
    drawn = rng.multinomial(n, counts / counts.sum(), samples).astype(float)
    finite = np.isfinite(values)
    size = drawn[:, finite].sum(axis=1)
    total, squares = drawn[:, finite] @ values[finite], drawn[:, finite] @ values[finite] ** 2
    mean = total / size
    variance = np.maximum(1e-300, (squares - size * mean**2) / (size - 1))
    return float(np.mean(2 * stdtr(size - 1, -np.abs(mean) / np.sqrt(variance / size)) <= ALPHA))


def main() -> None:
    """Read the arguments and print the six tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument(
        "--trials", type=int, default=1000, help="samples for each row of the first two tables"
    )
    parser.add_argument("--pilots", type=int, default=20, help="for each pair of runs")
    parser.add_argument("--samples", type=int, default=400, help="of each planned size")
    arguments = parser.parse_args()
    pooling(arguments.trials)
    ranking_of_these(arguments.data, arguments.trials)
    one_skewed_of_few(arguments.data, arguments.trials)
    null_over_collections(arguments.data, arguments.trials)
    bands(arguments.data, arguments.trials // 2)
    planning(arguments.data, arguments.pilots, arguments.samples)


if __name__ == "__main__":
    main()
