"""What intervals for new runs of a system cover: ``python benchmarks/replicates.py``.

The system is a fusion of real runs by reciprocal ranks, whose weights differ from seed to seed; the
baseline is one of these runs. The population is all its seeds on all queries, at cutoff 10: known
items by query, with weights that are much alike, and with weights of which some leave a few runs;
MT-RAG by document; and two runs of MS MARCO, of which each seed is mostly the one or the other.
A sample is some queries, drawn with replacement, and some seeds. Beside the intervals stands that by
t of the means of these seeds on all queries, where nothing but the choice of the seeds is uncertain.
Under the null hypothesis both sides are seeds of one system. ``--data`` names the folder of real
runs. All rates are in percent; with 10,000 samples, a rate of 95 has a standard error of 0.2. That
takes more than half an hour; ``--samples 500`` shows the same within a few points. Writes
docs/several-runs.svg, unless other numbers of samples are asked for.
"""

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

import ir_outcomes as iro
from ir_outcomes.comparison.outcomes import PairedQueries, pair_queries
from ir_outcomes.statistics import Interval, mean_interval
from ir_outcomes.statistics.counts import Rows
from ir_outcomes.statistics.intervals import t_interval
from ir_outcomes.statistics.new_runs import Side

LEVEL = 0.95
DOCS = Path(__file__).parent.parent / "docs"
SAMPLES = 10_000
RUNS = (2, 3, 5, 10)
# The most that a query can change by.
QUANTITIES = {"coverage": 100.0, "ranking": 9.0, "all queries": 10.0}


class System(NamedTuple):
    """A fusion of real runs whose weights are drawn at random, and what it is compared with."""

    title: str
    folder: str
    baseline: str
    unit: str
    spread: float  # of the logarithms of the weights
    sizes: tuple[int, ...]  # numbers of queries in a sample
    runs: tuple[str, ...] = ()  # that are fused; by default all
    smoothing: int = 5  # a document at rank r gets weight / (smoothing + r)
    seeds: int = 100


SYSTEMS = (
    System("known items, by query", "known-item", "bm25", "query", 0.5, (200, 1000)),
    System("known items, with outliers", "known-item", "bm25", "query", 1.5, (200, 1000)),
    System("MT-RAG, by document", "mt-rag", "bm25.lastturn", "document", 1.5, (200, 500)),
    System(
        "MS MARCO, one of two runs",
        "msmarco-doc-dev",
        "bm25",
        "query",
        1.0,
        (200, 1000),
        ("bm25+rm3", "wordnet_all"),
        60,
        40,
    ),
)


class Share(NamedTuple):
    """How often, in percent, intervals hold the difference of these runs, and of the system."""

    quantity: str
    n_queries: int
    n_runs: int
    these: float
    by_queries: float  # of the system, over queries only
    by_new_runs: float  # of the system, for new runs
    by_runs: float  # of the system, over runs only, with all queries


def fused(runs: list[iro.Run], seed: int, spread: float, smoothing: int) -> iro.Run:
    """Fuse runs by reciprocal ranks with random weights, the same for all queries."""
    weights = np.exp(spread * np.random.default_rng(seed).normal(size=len(runs)))
    scores: dict[str, dict[str, float]] = {}
    for weight, run in zip(weights.tolist(), runs, strict=True):
        for place, query in enumerate(run.query_ids):
            own = scores.setdefault(query, {})
            begin, end = run.offsets[place : place + 2].tolist()
            order = np.argsort(-run.scores[begin:end], kind="stable")[:20]
            for rank, document in enumerate(run.docids[begin:end][order].tolist(), 1):
                name = document.decode()
                own[name] = own.get(name, 0.0) + weight / (smoothing + rank)
    return iro.as_run(scores, f"seed_{seed}")


def population(data: Path, system: System) -> iro.Evaluation:
    """Evaluate a baseline and the seeds of a system."""
    folder = data / system.folder
    qrels = next(path for path in folder.glob("qrels*") if path.is_file())
    runs = [iro.read_run(path) for path in sorted(folder.glob("*.run.gz"))]
    own = next(run for run in runs if run.name == system.baseline)
    parts = [run for run in runs if run.name in (system.runs or (run.name,))]
    made = [fused(parts, seed, system.spread, system.smoothing) for seed in range(system.seeds)]
    ev = iro.evaluate(qrels, [own, *made], cutoff=10, unit=system.unit)
    # Of longer lists `compare` would compute labels at other cutoffs, too.
    return replace(ev, runs=ev.at())


def values_of(pair: PairedQueries) -> dict[str, np.ndarray]:
    """Return the difference of each query by quantity; NaN where there is none."""
    change = pair.length_contender - pair.length_baseline
    everywhere = pair.all_queries
    assert everywhere is not None
    return {
        "coverage": 100 * (pair.found_contender - pair.found_baseline),
        "ranking": np.where(pair.shared, change, np.nan),
        "all queries": everywhere[1] - everywhere[0],
    }


def intervals_of(values: np.ndarray, largest: float) -> tuple[Interval, Interval]:
    """Return the intervals for these runs and for new ones, of the differences of (n_runs, n_queries)."""
    known = ~np.isnan(values)
    counted = known.any(axis=0)
    sums = np.where(known, values, 0.0)[:, counted]
    sizes = known[:, counted].astype(np.float64)
    rows = Rows(np.arange(sums.shape[1]), sizes.sum(axis=0))
    side = Side.of(sums, sizes, rows.cluster)
    these = mean_interval(sums.sum(axis=0), LEVEL, largest, rows)
    new = mean_interval(sums.sum(axis=0), LEVEL, largest, rows, [side])
    assert these is not None
    assert new is not None
    return these, new


def of_t(means: np.ndarray, truth: float) -> bool:
    """Return whether the interval by t of some means holds a number."""
    interval = t_interval(
        means.mean(), means.std(ddof=1) / len(means) ** 0.5, len(means) - 1, LEVEL
    )
    return interval.low <= truth <= interval.high


def coverage_table(ev: iro.Evaluation, sizes: tuple[int, ...], samples: int) -> list[Share]:
    """Print how often intervals hold the difference of these runs, and of the system."""
    found = []
    seeds = [values_of(pair_queries(ev[0], run, ev.unit, 10)) for run in ev[1:]]
    rng = np.random.default_rng(1)
    for quantity, largest in QUANTITIES.items():
        table = np.stack([own[quantity] for own in seeds])
        of_system = np.nanmean(table)
        of_runs = np.nanmean(table, axis=1)
        spread = of_runs.std(ddof=1)
        print(f"{quantity}: {of_system:+.2f}, standard deviation between seeds {spread:.2f}")
        for n, n_runs in product(sizes, RUNS):
            held = np.zeros(4)
            for _ in range(samples):
                own = rng.choice(len(table), n_runs, replace=False)
                runs = table[own]
                drawn = rng.choice(runs.shape[1], n, replace=True)
                these, new = intervals_of(runs[:, drawn], largest)
                truth = np.nanmean(runs)
                held += (
                    these.low <= truth <= these.high,
                    these.low <= of_system <= these.high,
                    new.low <= of_system <= new.high,
                    of_t(of_runs[own], of_runs.mean()),
                )
            share = Share(quantity, n, n_runs, *(100 * held / samples).tolist())
            found.append(share)
            print(
                f"  {n:5} queries, {n_runs:2} runs: these runs {share.these:.1f}; the system"
                f" {share.by_queries:.1f}, by the interval for new runs {share.by_new_runs:.1f};"
                f" by t of runs on all queries {share.by_runs:.1f}",
                flush=True,
            )
    return found


def draw(shares: dict[str, list[Share]], path: Path) -> None:
    """Draw the shares of samples of most queries against the number of runs, one panel for each population."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["svg.hashsalt"] = "several runs"
    figure, panels = plt.subplots(
        1, len(shares), figsize=(13, 3.6), sharey=True, layout="constrained"
    )
    for panel, (title, found) in zip(panels, shares.items(), strict=True):
        most = max(share.n_queries for share in found)
        for color, quantity in enumerate(QUANTITIES):
            own = [at for at in found if (at.quantity, at.n_queries) == (quantity, most)]
            runs = [at.n_runs for at in own]
            panel.plot(runs, [at.by_new_runs for at in own], f"C{color}o-", label=quantity)
            panel.plot(runs, [at.by_queries for at in own], f"C{color}o:")
        panel.axhline(100 * LEVEL, color="grey", linewidth=0.8)
        panel.set(xticks=RUNS, xlabel="runs of the system", ylim=(0, 101))
        panel.set_title(f"{title}, {most} queries", fontsize=10)
    panels[0].set_ylabel("the interval holds the system's\ndifference, % of samples")
    panels[0].plot([], [], "k-", label="interval for new runs")
    panels[0].plot([], [], "k:", label="interval over queries only")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    figure.savefig(path, metadata={"Date": None})


def null_rates(ev: iro.Evaluation, sizes: tuple[int, ...], samples: int) -> None:
    """Print how often one half of the seeds of one system is better than the other."""
    rng = np.random.default_rng(1)
    seeds = ev[1:]
    for n, n_runs in product(sizes, (5, 10)):
        labels = np.zeros(2)
        for _ in range(samples):
            names = [seeds.names[place] for place in rng.permutation(len(seeds))[: 2 * n_runs]]
            several = {"A": tuple(names[:n_runs]), "B": tuple(names[n_runs:])}
            drawn = rng.choice(
                len(ev.answerable_queries), min(n, len(ev.answerable_queries)), replace=False
            )
            queries = [ev.answerable_queries[place] for place in drawn]
            chosen = replace(seeds[names].restrict(queries), replicates=several)
            verdict = iro.compare(chosen, "A", "B").verdict
            labels += (verdict.direction != "none", bool(verdict.new_runs))
        shares = 100 * labels / samples
        print(
            f"  null, {n:5} queries, {n_runs:2} runs a side: better or worse {shares[0]:.1f}, also"
            f" for new runs {shares[1]:.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--null", type=int, default=200)
    parser.add_argument("--only", default="", help="part of the title of a system")
    options = parser.parse_args()
    shares = {}
    for system in SYSTEMS:
        if options.only not in system.title:
            continue
        ev = population(options.data, system)
        means = [100 * run.answered()[ev.answerable].mean() for run in ev[1:]]
        print(
            f"{system.title}, {len(ev.answerable_queries)} queries; coverage of the seeds"
            f" {np.mean(means):.1f}, standard deviation {np.std(means, ddof=1):.1f}",
            flush=True,
        )
        shares[system.title] = coverage_table(ev, system.sizes, options.samples)
        if options.null:
            null_rates(ev, system.sizes, options.null)
    if options.samples == SAMPLES and not options.only:
        draw(shares, DOCS / "several-runs.svg")


if __name__ == "__main__":
    main()
