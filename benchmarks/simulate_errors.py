"""How often tests, intervals and rules err, drawn from real search lengths: ``python benchmarks/simulate_errors.py``.

The population is all queries of a real pair of runs; samples are drawn from it with replacement.
Under the null hypothesis each drawn query has its two runs swapped at random, so that neither facet
differs. As "true" populations the pairs are taken as they are. ``--data`` names the folder of real
runs. All rates are in percent; with 400 trials for each of five pairs, a rate of 5 is known to
about 0.5.
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from ir_measures import AP, RR, P, Success, nDCG

from ir_outcomes import evaluate, search_lengths
from ir_outcomes.comparison.outcomes import CoverageTest, PairedQueries, Restricted, pair_queries
from ir_outcomes.comparison.pair_tests import PairTests, run_tests, samples_of, stacked
from ir_outcomes.comparison.verdict import LABELS, judge
from ir_outcomes.statistics import (
    bounded_mean_interval,
    coverage_interval,
    detectable_mean,
    detectable_proportion,
    mean_interval,
    ratio_interval,
    t_test,
)
from ir_outcomes.statistics.intervals import t_interval
from ir_outcomes.statistics.kernels import Pvalues, binomial_tests
from ir_outcomes.types import Unit

ALPHA = 0.05
SIZES = (20, 50, 200, 1000)
FAMILIES = (1, 5, 20)


class Population(NamedTuple):
    """The pairs of runs of one collection, seen in one unit."""

    name: str
    coverage_test: CoverageTest
    pairs: list[PairedQueries]


def populations(data: Path, n_pairs: int) -> Iterator[Population]:
    """Read the real runs; of each collection take this many pairs, spread over all of them."""
    collections: tuple[tuple[str, int, int, tuple[Unit, ...]], ...] = (
        ("known-item", 100, 1, ("query",)),
        ("msmarco-doc-dev", 10, 1, ("query",)),
        ("dl20-passage", 100, 2, ("query", "document")),
    )
    for name, cutoff, rel, units in collections:
        qrels, paths = data / name / "qrels.txt", sorted((data / name).glob("*.run.gz"))
        lengths = [search_lengths(qrels, path, cutoff=cutoff, rel=rel) for path in paths]
        for unit in units:
            pairs = [pair_queries(*runs, unit) for runs in combinations(lengths, 2)]
            differing = [pair for pair in pairs if np.nanmean(_change(pair) != 0) > 0.05]
            chosen = differing[:: max(1, len(differing) // n_pairs)][:n_pairs]
            yield Population(
                f"{name}, unit {unit}", "signflip" if unit == "document" else "exact", chosen
            )


def _change(pair: PairedQueries) -> np.ndarray:
    return (pair.length_contender - pair.length_baseline)[pair.shared]


def with_swapped(pair: PairedQueries) -> PairedQueries:
    """Put each query in twice, the second time with its runs swapped: the population of the null hypothesis."""

    def both(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.concatenate([first, second])

    lengths = pair.restricted
    restricted = None
    if lengths is not None:
        restricted = Restricted(
            lengths.horizon,
            both(lengths.baseline, lengths.contender),
            both(lengths.contender, lengths.baseline),
            both(lengths.both, -lengths.both),
            both(lengths.won, -lengths.lost),
            both(lengths.lost, -lengths.won),
        )
    return replace(
        pair,
        query_ids=pair.query_ids * 2,
        found_baseline=both(pair.found_baseline, pair.found_contender),
        found_contender=both(pair.found_contender, pair.found_baseline),
        shared=both(pair.shared, pair.shared),
        length_baseline=both(pair.length_baseline, pair.length_contender),
        length_contender=both(pair.length_contender, pair.length_baseline),
        restricted=restricted,
    )


def draws(rng: np.random.Generator, queries: int, n: int, trials: int) -> np.ndarray:
    """Draw n of the queries with replacement; return how often each was drawn, (queries, trials)."""
    drawn = rng.integers(0, queries, (trials, n)) + queries * np.arange(trials)[:, np.newaxis]
    return (
        np.bincount(drawn.ravel(), minlength=trials * queries)
        .reshape(trials, queries)
        .T.astype(np.float32)
    )


def _column(tests: PairTests, trial: int) -> PairTests:
    def chosen(test: Pvalues | None) -> Pvalues | None:
        return None if test is None else Pvalues(test.pvalue[[trial]], test.direction[[trial]])

    return PairTests._make(map(chosen, tests))


def rates(population: Population, n: int, trials: int, null: bool) -> dict[str, float]:
    """Run the tests and rules on samples of n queries, under the null hypothesis or from the pairs as they are."""
    rng = np.random.default_rng(n)
    pairs = [with_swapped(pair) for pair in population.pairs] if null else population.pairs
    members = draws(rng, len(pairs[0].query_ids), n, trials)
    tests = [
        run_tests(samples_of(pair, subsets=members), "t", population.coverage_test)
        for pair in pairs
    ]
    verdicts = [judge(test, alpha=ALPHA) for test in tests]
    label = np.concatenate([verdict.label for verdict in verdicts])
    strict = np.concatenate([verdict.strict for verdict in verdicts])
    do_no_harm = np.concatenate([verdict.do_no_harm for verdict in verdicts])
    guard = np.concatenate([verdict.guard for verdict in verdicts])
    found = {
        "coverage test": np.concatenate([test.coverage.pvalue for test in tests]) <= ALPHA,
        "ranking, t or sign-flip": (
            np.concatenate([test.ranking_mean.pvalue for test in tests]) <= ALPHA
        ),
        "ranking, Wilcoxon": (
            np.concatenate([test.ranking_wilcoxon.pvalue for test in tests]) <= ALPHA
        ),
        "strict: better or worse": strict != 0,
        "no harm: better or worse": do_no_harm != 0,
        "label: better or worse": np.concatenate([verdict.direction for verdict in verdicts]) != 0,
        "label: better": np.concatenate([verdict.direction for verdict in verdicts]) > 0,
        "guard changes the label": guard,
        "trade-off without the guard": (label == LABELS.index("trade-off")) & ~guard,
    }
    return {name: 100 * float(np.mean(values)) for name, values in found.items()}


def family_rates(population: Population, n: int, trials: int) -> dict[str, float]:
    """Say how often any contender of a family is called better or worse under the null hypothesis, after Holm's correction."""
    rng = np.random.default_rng(n)
    pairs = [with_swapped(pair) for pair in population.pairs]
    members = draws(rng, len(pairs[0].query_ids), n, trials)
    result = {}
    for size in FAMILIES:
        # Contenders beyond the number of real pairs are these pairs again, on other queries.
        tests = []
        for place in range(size):
            subsets = np.roll(members, place // len(pairs), axis=1)
            samples = samples_of(pairs[place % len(pairs)], subsets=subsets)
            tests.append(run_tests(samples, "t", population.coverage_test))
        decided = np.zeros(2)
        for trial in range(trials):
            columns = [_column(test, trial) for test in tests]
            verdicts = judge(stacked(columns), alpha=ALPHA, correction="holm")
            decided += [bool((verdicts.strict != 0).any()), bool((verdicts.direction != 0).any())]
        result[f"{_contenders(size)}: any strict"] = 100 * decided[0] / trials
        result[f"{_contenders(size)}: any label"] = 100 * decided[1] / trials
    return result


def _contenders(number: int) -> str:
    return "1 contender" if number == 1 else f"{number} contenders"


def interval_rates(population: Population, n: int, trials: int) -> dict[str, float]:
    """Say how often each interval at level 0.95 covers the value of the whole population; NaN for what the unit does not have.

    Samples in which all differences of ranking are 0 have a row of their own; equal ones are left
    out elsewhere.
    """
    rng = np.random.default_rng(n)
    covered: dict[str, list[bool]] = {}
    level = 1 - ALPHA

    def note(name: str, interval: tuple[float, float] | None, truth: float) -> None:
        if interval is not None:
            covered.setdefault(name, []).append(interval[0] - 1e-9 <= truth <= interval[1] + 1e-9)

    for pair in population.pairs:
        lengths, d = (
            (
                pair.length_baseline[pair.shared],
                pair.length_contender[pair.shared],
            ),
            _change(pair),
        )
        found = pair.found_contender - pair.found_baseline
        for _ in range(trials):
            drawn = rng.integers(0, len(found), n)
            note(
                "coverage",
                coverage_interval(found[drawn], pair.item_share, level),
                float(found.mean()),
            )
            drawn = rng.integers(0, len(d), n)
            sample = d[drawn]
            if not sample.any() and pair.restricted is not None:
                none_differs = mean_interval(sample, level, pair.restricted.horizon - 1)
                note("mean difference, none of n", none_differs, float(d.mean()))
            if np.all(sample == sample[0]):
                continue
            note("mean difference", mean_interval(sample, level), float(d.mean()))
            plain = t_interval(sample.mean(), sample.std(ddof=1) / math.sqrt(n), n - 1, level)
            note("mean difference, plain t", plain, float(d.mean()))
            ratio = ratio_interval(lengths[0][drawn], lengths[1][drawn], level)
            note("ratio of means", ratio, float(lengths[1].mean() / lengths[0].mean()))
    return {name: 100 * float(np.mean(values)) for name, values in covered.items()}


def bounded_rates(data: Path, n: int, trials: int) -> dict[str, float]:
    """Say how often intervals of a run's mean score cover it, where it is within 0.1 of a bound (0 or 1) and elsewhere."""
    rng = np.random.default_rng(n)
    covered: dict[str, list[float]] = {}
    for name, rel in (
        ("trec-covid-r1", 1),
        ("dl20-passage", 2),
        ("dl-hard-doc", 1),
        ("known-item", 1),
        ("msmarco-doc-dev", 1),
    ):
        qrels = next((data / name).glob("qrels*"))
        measures = [RR(rel=rel), Success(rel=rel) @ 10, nDCG @ 10, P(rel=rel) @ 10, AP(rel=rel)]
        evaluation = evaluate(
            qrels, sorted((data / name).glob("*.run.gz"))[:6], rel=rel, measures=measures
        )
        for values in (run for measure in measures for run in evaluation.scores_of(measure).values):
            mean = float(values.mean())
            where = "near a bound" if min(mean, 1 - mean) < 0.1 else "elsewhere"
            hits = np.zeros(2)
            for sample in rng.choice(values, (trials, n)):
                by_t = t_interval(
                    sample.mean(), sample.std(ddof=1) / math.sqrt(n), n - 1, 1 - ALPHA
                )
                intervals = (by_t, bounded_mean_interval(sample, 1 - ALPHA) or by_t)
                hits += [low <= mean + 1e-12 and mean - 1e-12 <= high for low, high in intervals]
            for how, rate in zip(("t", "bounded"), 100 * hits / trials, strict=True):
                covered.setdefault(f"{how}, {where}", []).append(rate)
    least = {f"{name}, least of all": float(np.min(rates)) for name, rates in covered.items()}
    return {name: float(np.mean(rates)) for name, rates in covered.items()} | least


def detectable_rates(population: Population, n: int, trials: int) -> dict[str, float]:
    """Say how often the tests find a true difference of the size called detectable, for a family of each size."""
    rng = np.random.default_rng(n)
    result = {}
    for size in FAMILIES:
        level = ALPHA / size
        coverage, ranking = [], []
        for pair in population.pairs:
            found, d = pair.found_contender - pair.found_baseline, _change(pair)
            if population.coverage_test == "exact":
                share = float(np.mean(found != 0))
                size_of_effect = detectable_proportion(n, share, level)
                if size_of_effect is not None:
                    discordant = max(share, size_of_effect)
                    odds = [
                        (discordant + size_of_effect) / 2,
                        (discordant - size_of_effect) / 2,
                        1 - discordant,
                    ]
                    counts = rng.multinomial(n, np.clip(odds, 0, 1), trials)
                    coverage.append(
                        np.mean(binomial_tests(counts[:, 0], counts[:, 1]).pvalue <= level)
                    )
            if not d.any():
                continue
            symmetric = np.concatenate([d, -d])
            effect = detectable_mean(n, float(symmetric.std()), level) or 0.0
            ranking.append(
                np.mean(
                    [
                        t_test(rng.choice(symmetric, n) + effect).pvalue <= level
                        for _ in range(trials // 2)
                    ]
                )
            )
        result[f"coverage, {_contenders(size)}"] = (
            100 * float(np.mean(coverage)) if coverage else float("nan")
        )
        result[f"ranking by t, {_contenders(size)}"] = 100 * float(np.mean(ranking))
    return result


def show(title: str, columns: list[dict[str, float]]) -> None:
    """Print one column for each number of queries."""
    print(f"\n{title}\n{'queries':34}" + "".join(f"{n:8}" for n in SIZES))
    for name in dict.fromkeys(name for column in columns for name in column):
        values = [column.get(name, float("nan")) for column in columns]
        print(
            f"{name:34}"
            + "".join("       -" if np.isnan(value) else f"{value:8.1f}" for value in values),
            flush=True,
        )


def main() -> None:
    """Read the arguments and print five tables for each collection and unit, and one of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument(
        "--trials", type=int, default=400, help="for each pair of runs and number of queries"
    )
    parser.add_argument("--pairs", type=int, default=5, help="pairs of runs of each collection")
    arguments = parser.parse_args()
    trials = arguments.trials
    scores = [bounded_rates(arguments.data, n, trials) for n in SIZES[:3]]
    show("Mean scores of runs: 95 % intervals that cover", scores)
    of_all: list[tuple[int, list[dict[str, float]]]] = []
    for population in populations(arguments.data, arguments.pairs):
        print(
            f"\n=== {population.name}: {len(population.pairs)} pairs of runs, {trials} samples of"
            " each"
        )
        show(
            "Null hypothesis: rejections and verdicts",
            [rates(population, n, trials, null=True) for n in SIZES],
        )
        show(
            "Null hypothesis, Holm: any of the contenders",
            [family_rates(population, n, trials) for n in SIZES],
        )
        show(
            "Pairs as they are: rejections and verdicts",
            [rates(population, n, trials, null=False) for n in SIZES],
        )
        intervals = [interval_rates(population, n, trials) for n in SIZES]
        show("95 % intervals that cover", intervals)
        of_all.append((len(population.pairs), intervals))
        show(
            "Power at the difference called detectable",
            [detectable_rates(population, n, trials) for n in SIZES],
        )
    show(
        "All pairs of runs: 95 % intervals that cover",
        [_mean_of([(k, row[i]) for k, row in of_all]) for i in range(len(SIZES))],
    )


def _mean_of(rows: list[tuple[int, dict[str, float]]]) -> dict[str, float]:
    """Average the rates of several collections, weighted by their numbers of pairs."""
    names = dict.fromkeys(name for _, row in rows for name in row)
    return {
        name: float(
            np.average(
                [row[name] for _, row in rows if name in row],
                weights=[k for k, row in rows if name in row],
            )
        )
        for name in names
    }


if __name__ == "__main__":
    main()
