"""How often labels, intervals and margins err, on real and constructed runs: ``python benchmarks/rates.py``.

The tables of docs/verdict.md, in percent, with p-values of each pair by itself at .05:

- *null*: both runs of each query are swapped at random; better or worse, and any label;
- *halves*: how often a half of the queries has a direction; of those, how often the other half has
  the same; and how often the two have opposite ones;
- *cover*: 95 % intervals of samples of 20, 50 and 200 queries, with replacement, that hold the mean
  of all queries;
- *margins*: constructed harm that is exactly the margin, which passes.

t tests of reciprocal rank, AP and nDCG@10 on all queries stand beside the label. The real runs are
looked for in ../shared/data, or where IR_OUTCOMES_REAL_DATA says.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ir_measures import AP, RR, nDCG

import ir_outcomes as iro
from ir_outcomes.choices import Floats, Ints
from ir_outcomes.pairs.rules import Rules
from ir_outcomes.pairs.verdict import (
    LABELS,
    NO_DIFFERENCE,
    PairedQueries,
    RowEstimates,
    Sample,
    judge,
    pair_queries,
)
from ir_outcomes.statistics.estimate import (
    Estimates,
    Sums,
    Units,
    estimates,
    margin_intervals,
    sign_pvalues,
)
from ir_outcomes.statistics.papers import t_tests

DATA = Path(
    os.environ.get("IR_OUTCOMES_REAL_DATA", Path(__file__).parents[1] / ".." / "shared" / "data")
)
SEED = 2021
SWAPS = 400  # of each pair
HALVES = 16
SAMPLES = 400
PAIRS = 28  # of each board, drawn at random
ROWS = ("coverage", "ranking", "all queries")
MEASURES = (RR, AP, nDCG @ 10)


class Board(NamedTuple):
    """Runs of one collection."""

    name: str
    folder: str
    qrels: str
    rel: int
    cutoffs: tuple[int, ...]
    clusters: str | None = None


BOARDS = (
    Board("known-item", "known-item", "qrels.txt", 1, (10, 100)),
    Board("MS MARCO documents dev", "msmarco-doc-dev", "qrels.txt", 1, (10,)),
    Board("DL 2019 passages", "dl19-text", "qrels.txt.gz", 2, (10, 100)),
    Board("DL 2020 passages", "dl20-passage", "qrels.txt", 2, (10, 100)),
    Board("DL 2021 rerankers", "suite-rerankers/dl21", "qrels.txt.gz", 2, (10, 100)),
    Board("DL-Hard documents", "dl-hard-doc", "qrels.txt", 1, (10, 100, 1000)),
    Board("TREC-COVID round 1", "trec-covid-r1", "qrels.round1.txt.gz", 1, (10, 100)),
    Board("TripClick", "suite-colberter/tripclick", "qrels.txt.gz", 1, (10,)),
    Board("MT-RAG conversations", "mt-rag", "qrels.txt.gz", 1, (10,), "groups.tsv.gz"),
)


@dataclass(frozen=True)
class Row:
    """The differences of a row by unit, those of size 0 included, and the most that one can be."""

    total: Floats
    size: Floats
    largest: float

    @classmethod
    def of(cls, sample: Sample, clusters: Ints | None, largest: float) -> "Row":
        total = np.where(sample.size > 0, sample.contender - sample.baseline, 0.0)
        if clusters is None:
            return cls(total, sample.size, largest)
        return cls(np.bincount(clusters, total), np.bincount(clusters, sample.size), largest)

    def estimated(self, weights: Floats | None = None, signs: Floats | None = None) -> Estimates:
        """Estimate samples, (units, samples) numbers of times that a unit is drawn, or flipped units."""
        sums = self.sums(weights, signs)
        return estimates(sums, 0.05, self.largest)

    def sums(self, weights: Floats | None = None, signs: Floats | None = None) -> Sums:
        counted = self.size > 0
        units = Units(self.total[counted], self.size[counted])
        if signs is None:
            return Sums.of(units, None if weights is None else weights[counted])
        signs = signs[counted]
        plain = Sums.of(units, np.ones((len(units.total), signs.shape[1])))
        products = units.total * units.size
        rows = plain.rows[0]
        weight = (rows / np.maximum(rows - units.size, 1)) ** 2
        return plain._replace(
            total=units.total @ signs,
            products=products @ signs,
            weighted_products=(weight * products) @ signs,
            better=((units.total[:, None] * signs) > 0).sum(axis=0).astype(np.float64),
        )


def rows_of(pair: PairedQueries) -> dict[str, Row]:
    """Return the rows of a pair."""
    horizon = pair.horizon or 0
    samples = {"coverage": (pair.coverage, 100.0), "ranking": (pair.ranking, horizon - 1.0)}
    if pair.all_queries is not None:
        samples["all queries"] = (pair.all_queries, float(horizon))
    return {name: Row.of(own, pair.clusters, most) for name, (own, most) in samples.items()}


def labels_of(rows: Mapping[str, Row], **drawn: Any) -> Ints:
    """Return the labels of samples, or of flipped pairs, as indices into `LABELS`."""
    found = {
        name: RowEstimates.of(row.estimated(**drawn), higher_is_better=name == "coverage")
        for name, row in rows.items()
    }
    whole = rows["all queries"].sums(**drawn)
    better, worse = whole.differ - whole.better, whole.better
    sign_test = RowEstimates(np.sign(better - worse).astype(np.int64), sign_pvalues(better, worse))
    return judge(found, Rules(correction="none"), sign_test).label


DIRECTION = np.array([1] * 4 + [0] * 6 + [-1] * 4)
NOTHING = LABELS.index(NO_DIFFERENCE)


def evaluated(board: Board) -> iro.Evaluation:
    """Evaluate the runs of a board, with the measures that stand beside the label."""
    folder = DATA / board.folder
    clusters = None if board.clusters is None else folder / board.clusters
    return iro.evaluate(
        folder / board.qrels,
        sorted(folder.glob("*.run.gz")),
        rel=board.rel,
        measures=MEASURES,
        clusters=clusters,
    )


def pairs_of(evaluation: iro.Evaluation, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Draw pairs of runs."""
    every = list(combinations(evaluation.names, 2))
    chosen = rng.permutation(len(every))[:PAIRS]
    return [every[index] for index in sorted(chosen)]


def rates_of(evaluation: iro.Evaluation, cutoff: int, rng: np.random.Generator) -> list[float]:
    """Return null, halves and coverage of one board at one cutoff."""
    nulls, anything, decides, same, opposite = ([] for _ in range(5))
    cover: dict[int, list[float]] = {20: [], 50: [], 200: []}
    runs = {run.name: run for run in evaluation.with_cutoff(cutoff).at()}
    for first, second in pairs_of(evaluation, rng):
        pair = pair_queries(runs[first], runs[second], evaluation.unit)
        rows = rows_of(pair)
        n = len(rows["coverage"].total)
        if n < 20 or not any(row.total.any() for row in rows.values()):
            continue
        signs = rng.choice([-1.0, 1.0], size=(n, SWAPS))
        label = labels_of(rows, signs=signs)
        nulls.append(np.mean(DIRECTION[label] != 0))
        anything.append(np.mean(label != NOTHING))
        members = np.argsort(rng.random((n, HALVES)), axis=0) < n // 2
        halves = [
            DIRECTION[labels_of(rows, weights=own.astype(np.float64))]
            for own in (members, ~members)
        ]
        told = halves[0] != 0
        decides.append(np.mean(told))
        if told.any():
            same.append((np.mean((halves[0] == halves[1])[told]), told.sum()))
        opposite.append(np.mean(halves[0] * halves[1] < 0))
        for size, found in cover.items():
            weights = rng.multinomial(size, np.full(n, 1 / n), size=SAMPLES).T.astype(np.float64)
            covered = []
            for row in rows.values():
                if not row.size.any():
                    continue
                mean = row.total.sum() / row.size.sum()
                sampled = row.estimated(weights=weights)
                inside = (sampled.low <= mean) & (mean <= sampled.high)
                covered.append(np.mean(inside[~np.isnan(sampled.low)]))
            found.append(covered + [np.nan] * (3 - len(covered)))
    agree = weighted(same)
    shares = [np.mean(nulls), np.mean(anything), np.mean(decides), agree, np.mean(opposite)]
    covers = [np.nanmean(np.array(found), axis=0) for found in cover.values()]
    worst = [np.nanmin(np.array(found)) for found in cover.values()]
    return [*shares, *np.concatenate(covers), *worst]


def t_rates(evaluation: iro.Evaluation, rng: np.random.Generator) -> list[float]:
    """Return the null rates of t on the measures, and how often halves decide, agree and disagree."""
    found = []
    for measure in MEASURES:
        scores = evaluation.scores_of(measure).on(evaluation.answerable_queries)
        null, decides, same, opposite = ([] for _ in range(4))
        for first, second in pairs_of(evaluation, rng):
            row, other = (scores.runs.index(name) for name in (first, second))
            d = scores.values[other] - scores.values[row]
            n = len(d)
            signs = rng.choice([-1.0, 1.0], size=(n, 100))
            flipped = [t_tests(d * column).pvalue[0] <= 0.05 for column in signs.T]
            null.append(np.mean(flipped))
            members = (np.argsort(rng.random((n, HALVES)), axis=0) < n // 2).astype(float)
            sides = []
            for own in (members, 1 - members):
                tested = t_tests(d, own)
                sides.append(np.where(tested.pvalue <= 0.05, tested.direction, 0))
            told = sides[0] != 0
            decides.append(np.mean(told))
            if told.any():
                same.append((np.mean((sides[0] == sides[1])[told]), told.sum()))
            opposite.append(np.mean(sides[0] * sides[1] < 0))
        agree = weighted(same)
        found += [np.mean(null), np.mean(decides), agree, np.mean(opposite)]
    return found


def families(evaluation: iro.Evaluation, cutoff: int, rng: np.random.Generator) -> float:
    """Return how often a family of four null pairs has any better or worse under Holm."""
    runs = evaluation.with_cutoff(cutoff).at()
    if len(runs) < 5:
        return np.nan
    found = []
    for _ in range(20):
        first, *others = (runs[index] for index in rng.permutation(len(runs))[:5])
        pairs = [rows_of(pair_queries(first, run, evaluation.unit)) for run in others]
        n = len(pairs[0]["coverage"].total)
        signs = rng.choice([-1.0, 1.0], size=(n, SWAPS))
        every = [{name: row.estimated(signs=signs) for name, row in rows.items()} for rows in pairs]
        sums = [rows["all queries"].sums(signs=signs) for rows in pairs]
        for draw in range(0, SWAPS, 4):
            rows = {
                name: RowEstimates.of(
                    Estimates(
                        *(
                            np.array([getattr(own[name], field)[draw] for own in every])
                            for field in Estimates._fields
                        )
                    ),
                    higher_is_better=name == "coverage",
                )
                for name in ROWS
            }
            longer = np.array([own.better[draw] for own in sums])
            shorter = np.array([own.differ[draw] for own in sums]) - longer
            sign_test = RowEstimates(
                np.sign(shorter - longer).astype(np.int64), sign_pvalues(shorter, longer)
            )
            label = judge(rows, Rules(), sign_test).label
            found.append(np.any(DIRECTION[label] != 0))
    return float(np.mean(found))


def margin_rates(rng: np.random.Generator) -> Iterator[tuple[str, float]]:
    """Yield the worst rates at which harm exactly at the margin passes."""
    for n in (30, 50, 100, 200, 500, 2000):
        worst = 0.0
        for share in (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.4):
            for others in ((0,), (-1, 0, 1), (-1,), (-3,), (-1, 0, 0, 0, 1)):
                drawn = rng.choice(np.array(others, dtype=float), size=(n, 2000))
                harmed = rng.random((n, 2000)) < share
                change = np.where(harmed, 99.0, drawn)
                margin = share * 99 + (1 - share) * float(np.mean(others))
                if margin <= 0:
                    continue
                sums = Sums.of_queries(
                    np.full(2000, float(n)),
                    change.sum(axis=0),
                    (change**2).sum(axis=0),
                    (change != 0).sum(axis=0).astype(float),
                    (change > 0).sum(axis=0).astype(float),
                )
                high = margin_intervals(sums, 0.95, 99.0)[1]
                worst = max(worst, float(np.mean(high < margin)))
        yield f"{n} queries", worst
    for expected in (1.5, 3.0, 5.0):
        worst = 0.0
        for n in (30, 60):
            for size in (5, 20):
                passed = []
                for _ in range(1500):
                    long = rng.random(n) < expected / n
                    sizes = np.where(long, float(size), 1.0)
                    units = Units(np.where(long, 99.0 * size, 0.0), sizes)
                    p = expected / n
                    margin = 99.0 * p * size / (p * size + 1 - p)
                    high = margin_intervals(Sums.of(units), 0.95, 99.0)[1]
                    passed.append(high[0] < margin)
                worst = max(worst, float(np.mean(passed)))
        yield f"long clusters that lose all, {expected:g} expected", worst


def weighted(shares: list[tuple[float, int]]) -> float:
    """Return the mean of shares, weighted by what they are shares of."""
    if not shares:
        return float("nan")
    values, weights = zip(*shares, strict=True)
    return float(np.average(values, weights=weights))


def percent(values: list[float]) -> list[str]:
    return ["-" if np.isnan(value) else f"{100 * value:.1f}" for value in values]


def main() -> None:
    rng = np.random.default_rng(SEED)
    label_lines, t_lines, cover_lines = [], [], []
    for board in BOARDS:
        print(board.name, file=sys.stderr)
        evaluation = evaluated(board)
        for cutoff in board.cutoffs:
            found = rates_of(evaluation, cutoff, rng)
            name = f"{board.name}, {evaluation.unit}, {cutoff}"
            of_family = families(evaluation, cutoff, rng)
            null, anything, decides, same, opposite, *cover = percent(found)
            (shown_family,) = percent([of_family])
            label_lines.append((name, null, anything, shown_family, decides, same, opposite))
            cover_lines.append((name, *cover))
        if evaluation.clusters is None:
            t_lines.append((board.name, *percent(t_rates(evaluation, rng))))
    table("board, unit, cutoff|null|any label|family of 4|decides|same|opposite", label_lines)
    measures = "|".join(f"{m}: null|decides|same|opposite" for m in ("RR", "AP", "nDCG@10"))
    table(f"board|{measures}", t_lines)
    sizes = "|".join(f"{n}: coverage|ranking|all" for n in (20, 50, 200))
    table(f"board, unit, cutoff|{sizes}|worst 20|worst 50|worst 200", cover_lines)
    margins = [(name, *percent([rate])) for name, rate in margin_rates(rng)]
    table("harm at the margin|passes", margins)


def table(heading: str, lines: list[tuple[str, ...]]) -> None:
    columns = heading.split("|")
    print("|", " | ".join(columns), "|")
    print("|", " | ".join("---" for _ in columns), "|")
    for line in lines:
        print("|", " | ".join(line), "|")
    numbers = [[float("nan" if cell == "-" else cell) for cell in line[1:]] for line in lines]
    print("| mean |", " | ".join(percent((np.nanmean(numbers, axis=0) / 100).tolist())), "|")
    print()


if __name__ == "__main__":
    main()
