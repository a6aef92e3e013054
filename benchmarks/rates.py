"""How often labels, intervals and margins err, on real and constructed runs: ``python benchmarks/rates.py``.

The tables of docs/verdict.md, in percent, at .05:

- *null*: both runs of each query, or cluster, are swapped at random, in all pairs of a board at
  once; better or worse by the p-value of each pair by itself, any label, and better or worse for
  any of four contenders under Holm;
- *halves*: how often a half of the queries has a direction; of those, how often the other half has
  the same; and how often the two have opposite ones;
- *intervals*: 95 % intervals of samples of queries, with replacement, that hold the mean of all;
- *margins*: constructed harm that is exactly the margin, which passes.

t tests of reciprocal rank, AP and nDCG@10 on all queries stand beside the label. The real runs are
looked for in ../shared/data, or where IR_OUTCOMES_REAL_DATA says.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ir_measures import AP, RR, nDCG

import ir_outcomes as iro
from ir_outcomes.choices import Floats, Ints, Unit
from ir_outcomes.pairs.differences import BlockOfPairs, Measurements, Quantity, RowSums
from ir_outcomes.pairs.measurements import measurements_of
from ir_outcomes.pairs.rows import RowsOfPairs, joined
from ir_outcomes.pairs.verdict import DECIDING, LABELS, NO_DIFFERENCE, SIGNS_OF_LABELS
from ir_outcomes.statistics.estimate import Sums, margin_intervals
from ir_outcomes.statistics.papers import t_of_sums, t_tests

DATA = Path(
    os.environ.get("IR_OUTCOMES_REAL_DATA", Path(__file__).parents[1] / ".." / "shared" / "data")
)
SEED = 2021
ALPHA = 0.05
PAIRS = 28  # of each board, drawn at random
SWAPS = 1000  # of each board
SPLITS = 448  # of each board
FAMILIES = 20  # of each board
SWAPS_OF_FAMILY = 250
SIZES = (20, 50, 200)  # queries of a sample
SAMPLES = 400  # of each size and pair
MARGIN_SAMPLES = 4000  # of each constructed case
MEASURES = (RR, AP, nDCG @ 10)

Lines = list[tuple[str, list[float]]]  # of a table: name and shares


class Board(NamedTuple):
    """Runs of one collection."""

    name: str
    folder: str
    qrels: str
    rel: int
    cutoffs: tuple[int, ...]
    clusters: str | None = None

    def evaluated(self) -> iro.Evaluation:
        """Evaluate the runs."""
        folder = DATA / self.folder
        return iro.evaluate(
            folder / self.qrels,
            sorted(folder.glob("*.run.gz")),
            rel=self.rel,
            measures=MEASURES,
            clusters=None if self.clusters is None else folder / self.clusters,
        )


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


def pairs_of(n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Draw pairs of n runs."""
    every = list(combinations(range(n), 2))
    return [every[index] for index in sorted(rng.permutation(len(every))[:PAIRS])]


class Pair(NamedTuple):
    """Two runs of a board."""

    measurements: Measurements
    runs: tuple[int, int]
    rows: dict[str, tuple[Floats, Floats]]  # sums of differences and their numbers, by unit

    @classmethod
    def of(cls, measurements: Measurements, baseline: int, contender: int) -> "Pair":
        """Take the differences of two runs."""
        systems = slice(baseline, baseline + 1), slice(contender, contender + 1)
        rows = {}
        for name in DECIDING:
            total, size = measurements.paired(name, *systems).units(measurements.clusters)
            rows[name] = total[0, 0], size[0, 0]
        return cls(measurements, (baseline, contender), rows)

    def swapped(self, signs: Floats) -> RowsOfPairs:
        """Estimate the rows with runs swapped where signs, (swaps, units), are below 0."""
        return self._estimated(
            {name: Sums.of(signs * total, size[None]) for name, (total, size) in self.rows.items()}
        )

    def halved(self, halves: Floats) -> RowsOfPairs:
        """Estimate the rows of first and of second halves, (units, splits)."""
        return self._estimated(
            {
                name: Sums.of(total[None], size[None], halves)
                for name, (total, size) in self.rows.items()
            }
        )

    def sampled(self, units: Ints) -> RowsOfPairs:
        """Estimate the rows of samples of (samples, n) units."""
        return self._estimated(
            {name: Sums.of(total[units], size[units]) for name, (total, size) in self.rows.items()}
        )

    def _estimated(self, sums: Mapping[str, Sums]) -> RowsOfPairs:
        samples = len(sums["coverage"].units)
        nothing = np.full(samples, np.nan)
        rows = {
            name: RowSums(row.units.astype(np.int64), nothing, nothing, row)
            for name, row in sums.items()
        }
        systems = np.tile(np.array(self.runs)[:, None], samples)
        return RowsOfPairs.of_block(self.measurements, BlockOfPairs(systems, rows), ALPHA)


class Agreement:
    """What two halves of the queries say about pairs."""

    def __init__(self) -> None:
        self.sides: list[Ints] = []

    def add(self, first: Ints, second: Ints) -> None:
        """Take the directions of both halves of each split of a pair."""
        self.sides.append(np.stack([first, second]))

    def shares(self) -> list[float]:
        """Return decides, same and opposite."""
        first, second = np.concatenate(self.sides, axis=1)
        told = first != 0
        same = np.mean((first == second)[told]) if told.any() else np.nan
        return [float(np.mean(told)), float(same), float(np.mean(first * second < 0))]


def splits_of(n: int, n_pairs: int, rng: np.random.Generator) -> Floats:
    """Draw (n, splits) zeros and ones, half of each, for one of so many pairs."""
    order = np.argsort(rng.random((n, SPLITS // n_pairs)), axis=0)
    return (order < n // 2).astype(np.float64)


def label_rates(
    measurements: Measurements, pairs: Sequence[tuple[int, int]], rng: np.random.Generator
) -> list[float]:
    """Return the rates of labels: null, any label, a family, and halves."""
    signs = rng.choice([-1.0, 1.0], size=(SWAPS, measurements.n_units))
    nulls, anything = [], []
    agreement = Agreement()
    for runs in pairs:
        pair = Pair.of(measurements, *runs)
        labels = pair.swapped(signs).labels(DECIDING)
        nulls.append(np.mean(SIGNS_OF_LABELS[labels] != 0))
        anything.append(np.mean(labels != LABELS.index(NO_DIFFERENCE)))
        halves = pair.halved(splits_of(measurements.n_units, len(pairs), rng))
        agreement.add(*np.split(SIGNS_OF_LABELS[halves.labels(DECIDING)], 2))
    family = family_rate(measurements, signs[:SWAPS_OF_FAMILY], rng)
    return [float(np.mean(nulls)), float(np.mean(anything)), family, *agreement.shares()]


def family_rate(measurements: Measurements, signs: Floats, rng: np.random.Generator) -> float:
    """Return how often any of four contenders is better or worse under Holm without a difference."""
    if len(measurements.names) < 5:
        return np.nan
    wrong = []
    for _ in range(FAMILIES):
        baseline, *contenders = rng.permutation(len(measurements.names))[:5].tolist()
        family = joined([Pair.of(measurements, baseline, run).swapped(signs) for run in contenders])
        for swap in range(len(signs)):
            members = taken(family, np.arange(swap, 4 * len(signs), len(signs)))
            labels = members.corrected("holm", ALPHA).labels(DECIDING)
            wrong.append(np.any(SIGNS_OF_LABELS[labels] != 0))
    return float(np.mean(wrong))


def taken(rows: Any, pairs: Ints) -> Any:
    """Return what some pairs have of rows."""
    if isinstance(rows, Quantity):
        return rows
    if isinstance(rows, np.ndarray):
        return rows[..., pairs]
    if isinstance(rows, dict):
        return {name: taken(row, pairs) for name, row in rows.items()}
    return type(rows)(*(taken(part, pairs) for part in rows))


def covered(pair: Pair, rng: np.random.Generator) -> Iterator[list[float]]:
    """Yield the shares of intervals that hold the mean of all queries, by row, for each size."""
    for n in SIZES:
        sampled = pair.sampled(rng.integers(pair.measurements.n_units, size=(SAMPLES, n)))
        shares = []
        for name, (total, size) in pair.rows.items():
            found = sampled.rows[name].estimates
            mean = total.sum() / size.sum() if size.any() else np.nan
            inside = (found.low <= mean) & (mean <= found.high)
            shares.append(float(np.mean(inside[~np.isnan(found.low)])) if size.any() else np.nan)
        yield shares


def t_rates(
    evaluation: iro.Evaluation, pairs: Sequence[tuple[int, int]], rng: np.random.Generator
) -> list[float]:
    """Return the null rates of t of the measures, and how often halves decide, agree and disagree."""
    found: list[float] = []
    for measure in MEASURES:
        scores = evaluation.scores_of(measure).on(evaluation.answerable_queries)
        n = scores.values.shape[1]
        signs = rng.choice([-1.0, 1.0], size=(SWAPS, n))
        nulls = []
        agreement = Agreement()
        for baseline, contender in pairs:
            d = scores.values[contender] - scores.values[baseline]
            total, squares = signs @ d, np.full(SWAPS, np.sum(d**2))
            tested = t_of_sums(np.full(SWAPS, float(n)), total, squares, squares - total**2 / n)
            nulls.append(np.mean(tested.pvalue <= ALPHA))
            halves = splits_of(n, len(pairs), rng)
            sides = (t_tests(d, members) for members in (halves, 1 - halves))
            agreement.add(*(np.where(side.pvalue <= ALPHA, side.direction, 0) for side in sides))
        found += [float(np.mean(nulls)), *agreement.shares()]
    return found


def passing(total: Floats, size: Floats, margin: float) -> float:
    """Return the share of samples, (samples, units), whose harm of this size passes."""
    return float(np.mean(margin_intervals(Sums.of(total, size), 0.95, 99.0)[1] < margin))


def margin_rates(rng: np.random.Generator) -> Iterator[tuple[str, list[float]]]:
    """Yield the worst rates at which harm exactly at the margin passes."""
    for n in (30, 50, 100, 200, 500, 2000):
        worst = 0.0
        for share in (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.4):
            for others in ((0.0,), (-1.0, 0.0, 1.0), (-1.0,), (-3.0,), (-1.0, 0.0, 0.0, 0.0, 1.0)):
                margin = share * 99 + (1 - share) * float(np.mean(others))
                if margin <= 0:
                    continue
                drawn = rng.choice(np.array(others), size=(MARGIN_SAMPLES, n))
                change = np.where(rng.random(drawn.shape) < share, 99.0, drawn)
                worst = max(worst, passing(change, np.ones((1, n)), margin))
        yield f"{n} queries", [worst]
    for expected in (1.5, 3.0, 5.0):
        worst = 0.0
        for n in (30, 60):
            for length in (5.0, 20.0):
                long = rng.random((MARGIN_SAMPLES, n)) < expected / n
                size = np.where(long, length, 1.0)
                rows_lost = expected / n * length
                margin = 99.0 * rows_lost / (rows_lost + 1 - expected / n)
                worst = max(worst, passing(np.where(long, 99.0 * length, 0.0), size, margin))
        yield f"long clusters that lose all, {expected:g} expected", [worst]


def table(heading: str, lines: Lines) -> None:
    """Print shares in percent, as a table of Markdown."""
    columns = heading.split("|")
    print("|", " | ".join(columns), "|")
    print("|", " | ".join("---" for _ in columns), "|")
    for name, shares in lines:
        cells = ["-" if np.isnan(share) else f"{100 * share:.1f}" for share in shares]
        print("|", " | ".join([name, *cells]), "|")
    print(flush=True)


def mean(name: str, lines: Lines, same_columns: Sequence[int]) -> tuple[str, list[float]]:
    """Return the line of the means of boards; *same* is a share of the halves that decide."""
    shares = np.array([of_board for _, of_board in lines])
    means = np.nanmean(shares, axis=0)
    for column in same_columns:
        decides = shares[:, column - 1]
        means[column] = np.nansum(decides * shares[:, column]) / decides.sum()
    return f"mean, {name}", means.tolist()


def main() -> None:
    rng = np.random.default_rng(SEED)
    boards, tests = [], []
    labels: dict[Unit, Lines] = {"query": [], "document": []}
    intervals: dict[tuple[str, int], list[list[float]]] = defaultdict(list)
    for board in BOARDS:
        print(board.name, file=sys.stderr)
        chosen = board.evaluated()
        units: tuple[Unit, ...] = ("query",) if chosen.unit == "query" else ("query", "document")
        for unit in units:
            evaluation = replace(chosen, unit=unit)
            pairs = pairs_of(len(evaluation), rng)
            for cutoff in board.cutoffs:
                measurements = measurements_of(evaluation, cutoff)
                line = f"{board.name}, {unit}, {cutoff}", label_rates(measurements, pairs, rng)
                labels[unit].append(line)
                if unit == chosen.unit:
                    boards.append(line)
                for runs in pairs:
                    shares = covered(Pair.of(measurements, *runs), rng)
                    for size, of_rows in zip(SIZES, shares, strict=True):
                        intervals[unit, size].append(of_rows)
                        if unit == chosen.unit:
                            intervals["auto", size].append(of_rows)
            if unit == chosen.unit and chosen.clusters is None:
                tests.append((board.name, t_rates(chosen, pairs, rng)))
    print(
        f"{SWAPS} swaps of a board in at most {PAIRS} pairs, {SPLITS} splits,"
        f" {FAMILIES} families with {SWAPS_OF_FAMILY} swaps each, {SAMPLES} samples of each size and"
        f" pair, {MARGIN_SAMPLES} samples of each harm; seed {SEED}\n"
    )
    means = [
        mean(f"unit {unit}, {len(lines)} boards", lines, [4]) for unit, lines in labels.items()
    ]
    means.append(mean("unit auto, as above", boards, [4]))
    heading = "board, unit auto, cutoff|null|any label|family of 4|decides|same|opposite"
    table(heading, [*boards, *means])
    heading = "|".join(f"{m}: null|decides|same|opposite" for m in ("RR", "AP", "nDCG@10"))
    table(f"board, t|{heading}", [*tests, mean("t", tests, [2, 6, 10])])
    covers = []
    for (name, n), of_pairs in sorted(intervals.items()):
        both = np.concatenate([np.nanmean(of_pairs, axis=0), np.nanmin(of_pairs, axis=0)])
        covers.append((f"{name}, {n}", both.tolist()))
    rows = "coverage|ranking|all queries"
    table(f"unit, queries|{rows}|worst: {rows.replace('|', '|worst: ')}", covers)
    table("harm at the margin|passes", list(margin_rates(rng)))


if __name__ == "__main__":
    main()
