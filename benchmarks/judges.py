"""How often the audit of a judge covers, and what so many labels can tell: ``python benchmarks/judges.py --data FOLDER``.

- ``trec``: NIST's assessors against GPT-4o on three years of TREC DL (150 queries), all pairs of
  four rerankers, by document.
- ``known-item`` and ``msmarco``: all pairs of the runs, by query. The judge errs on a fifth of the
  queries: there it finds relevant what a run drawn at random ranks first.
- ``mt-rag``: all pairs of six runs, by document, with such a judge; whole conversations are drawn,
  and are the clusters.

In each trial as many queries as there are (at most 1000) are drawn with replacement, and the first
n are labeled. *bias*: how often its interval covers; *corrected*: the same, and for the worst pair;
*half width* of its interval, in points, ranks or the measure; *zero excluded*: in how many trials;
*labels alone*: half width without the judge; *judge alone*: how often the judge's own interval over
all queries covers; *weight* of the judge.
"""

import argparse
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ir_outcomes as iro
from ir_outcomes.across.judges import labeled_places, levels_of, step_of
from ir_outcomes.statistics import mean_interval
from ir_outcomes.statistics.pooling import cautious_mean, prediction_powered_mean
from ir_outcomes.types import Floats, Ints

YEARS = ("dl19", "dl20", "dl21")
LABELED = (10, 20, 30, 50)
MOST_QUERIES = 1000


class Differences(NamedTuple):
    """Differences of one pair of runs by the reference and by the judge, of what is 100 points, k ranks or 1 at most."""

    collection: str
    facet: str
    by_reference: Floats
    by_judge: Floats
    step: float
    largest: float
    clusters: Ints | None


def differences(
    name: str, reference: iro.Evaluation, judge: iro.Evaluation, *measures: str
) -> Iterator[Differences]:
    """Yield the differences of all pairs of runs."""
    rows, columns = labeled_places(reference, judge)
    for facet in ("coverage", "all queries", *measures):
        largest = {"coverage": 100.0, "all queries": float(reference.cutoff)}.get(facet, 1.0)
        step = step_of(reference, rows, facet)
        for pair in combinations(reference.names, 2):
            truth = np.nan_to_num(levels_of(reference, *pair, facet)[:, rows])
            found = np.nan_to_num(levels_of(judge, *pair, facet)[:, columns])
            clusters = None if reference.clusters is None else reference.clusters[rows]
            yield Differences(
                name, facet, truth[1] - truth[0], found[1] - found[0], step, largest, clusters
            )


def trec(data: Path) -> list[Differences]:
    """Return the differences of each pair of rerankers on the queries of all years, by NIST and by GPT-4o."""
    years = []
    for year in YEARS:
        folder = data / "suite-rerankers" / year
        runs = {path.name.removesuffix(".run.gz"): path for path in sorted(folder.glob("*.run.gz"))}
        nist, model = (
            iro.evaluate(
                folder / qrels, runs, rel=2, cutoff=10, unit="document", measures=["nDCG@10"]
            )
            for qrels in ("qrels.txt.gz", "qrels.gpt-4o.txt.gz")
        )
        years.append([*differences("trec", nist, model, "nDCG@10")])
    joined = []
    for of_years in zip(*years, strict=True):
        by_reference = np.concatenate([own.by_reference for own in of_years])
        by_judge = np.concatenate([own.by_judge for own in of_years])
        step = float(np.mean([own.step for own in of_years]))
        joined.append(of_years[0]._replace(by_reference=by_reference, by_judge=by_judge, step=step))
    return joined


def with_an_erring_judge(
    name: str, folder: Path, cutoff: int, **settings: Any
) -> list[Differences]:
    """Return the differences of each pair of runs, by the qrels and by a judge that errs on a fifth of the queries."""
    random = np.random.default_rng(0)
    paths = sorted(folder.glob("*.run.gz"))
    qrels = next(iter([*folder.glob("qrels.txt"), *folder.glob("qrels.txt.gz")]))
    known = iro.read_qrels(qrels).to_dict()
    runs = [iro.read_run(path).to_dict() for path in paths]
    tops = [
        {query: max(ranking, key=ranking.__getitem__) for query, ranking in run.items() if ranking}
        for run in runs
    ]
    judged = {}
    for query, judgments in known.items():
        top = tops[random.integers(len(tops))].get(query)
        judged[query] = {top: 1} if top is not None and random.random() < 0.2 else judgments
    reference, judge = (
        iro.evaluate(grades, paths, cutoff=cutoff, **settings) for grades in (known, judged)
    )
    return [*differences(name, reference, judge)]


def main(data: Path, trials: int) -> None:
    """Print a row for each collection, facet and number of labeled queries, over all pairs that differ."""
    print(f"{'':53}{'bias':>8}{'corrected':>12}{'half':>8}{'zero':>10}{'labels':>9}{'judge':>8}")
    print(
        f"{'collection':12}{'facet':>14}{'pairs':>7}{'labeled':>9}{'weight':>11}{'covers':>8}{'covers':>7}{'worst':>5}{'width':>8}"
        f"{'excluded':>10}{'alone':>9}{'alone':>8}"
    )
    everything = [
        *trec(data),
        *with_an_erring_judge("known-item", data / "known-item", 100),
        *with_an_erring_judge("msmarco", data / "msmarco-doc-dev", 10),
    ]
    conversations = data / "mt-rag" / "groups.tsv.gz"
    if conversations.exists():
        settings = {"unit": "document", "clusters": conversations}
        everything += with_an_erring_judge("mt-rag", data / "mt-rag", 10, **settings)
    for collection, facet in dict.fromkeys((own.collection, own.facet) for own in everything):
        chosen = [own for own in everything if (own.collection, own.facet) == (collection, facet)]
        differing = [own for own in chosen if own.by_reference.any()]
        for n in LABELED:
            of_pairs = [
                rates(own, n, trials, np.random.default_rng(place))
                for place, own in enumerate(differing)
            ]
            bias, corrected, half, excluded, alone, judge, weight = np.mean(of_pairs, axis=0)
            worst = min(own[1] for own in of_pairs)
            print(
                f"{collection:12}{facet:>14}{len(differing):7}{n:9}{weight:11.2f}{100 * bias:8.1f}{100 * corrected:7.1f}"
                f"{100 * worst:5.0f}{half:8.3g}{100 * excluded:10.1f}{alone:9.3g}{100 * judge:8.1f}",
                flush=True,
            )


def rates(own: Differences, n: int, trials: int, random: np.random.Generator) -> list[float]:
    """Return how often the intervals of one pair cover, and the other columns of the table; the weight is last."""
    y, f = own.by_reference, own.by_judge
    truth, bias = y.mean(), (y - f).mean()
    found = []
    for _ in range(trials):
        drawn, codes = _drawn(own, random)
        labeled, others = drawn[:n], drawn[n:]
        settings: dict[str, Any] = {"largest": own.largest, "step": own.step}
        of_labeled = None
        if codes is not None:
            settings["clusters"] = (codes[:n], codes[n:])
            of_labeled = codes[:n]
        powered = prediction_powered_mean(y[labeled], f[labeled], f[others], 0.95, **settings)
        low, high = powered.interval
        change = cautious_mean(
            y[labeled] - f[labeled], 2 * own.largest, own.step, of_labeled
        ).interval(0.95)
        alone = cautious_mean(y[labeled], own.largest, own.step, of_labeled).interval(0.95)
        judge = mean_interval(f[drawn], 0.95, own.largest, codes) or (0.0, 0.0)
        row = (
            change.low <= bias <= change.high,
            low <= truth <= high,
            (high - low) / 2,
            low > 0 or high < 0,
            (alone.high - alone.low) / 2,
            judge[0] <= truth <= judge[1],
            powered.weight,
        )
        found.append(row)
    means: list[float] = np.mean(found, axis=0).tolist()
    return means


def _drawn(own: Differences, random: np.random.Generator) -> tuple[Ints, Ints | None]:
    """Draw queries, or whole clusters in a random order of their queries, each draw of which is a cluster of its own."""
    size = len(own.by_reference)
    if own.clusters is None:
        return random.integers(size, size=min(size, MOST_QUERIES)), None
    members = [np.flatnonzero(own.clusters == code) for code in np.unique(own.clusters)]
    chosen = random.integers(len(members), size=len(members))
    places = np.concatenate([members[cluster] for cluster in chosen])
    codes = np.concatenate(
        [np.full(len(members[cluster]), place) for place, cluster in enumerate(chosen)]
    )
    order = random.permutation(len(places))
    return places[order], codes[order]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--trials", type=int, default=200)
    arguments = parser.parse_args()
    main(arguments.data, arguments.trials)
