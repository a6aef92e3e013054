"""The outcome split of one pair of systems."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.choices import OUTCOMES, Floats, divided, or_none
from ir_outcomes.pairs.differences import Measurements, PairedValues
from ir_outcomes.results import FrozenDict
from ir_outcomes.statistics.papers import Test, binomial_test, rank_sum, signed_ranks, t_tests


class Shares(NamedTuple):
    """Shares of the four outcomes, averaged within each query first, with a sum of 1."""

    neither: float
    lost: float
    won: float
    both: float


@dataclass(frozen=True)
class Outcomes:
    """How many queries, or relevant documents, had each outcome."""

    neither: int  #: found by neither run: (1) of Table 2
    lost: int  #: found by the baseline only: "A wins"
    won: int  #: found by the contender only: "B wins"
    both: int  #: (3) of Table 2
    shares: Shares | None  #: None where no query is answerable


class QueryOutcome(NamedTuple):
    """What two systems did with one query, of several runs on average."""

    query_id: str
    #: "neither", "lost", "won" or "both"; by document won or lost where the contender found more or
    #: fewer of the relevant documents
    outcome: str
    found_baseline: (
        float  #: share of the relevant documents found (1 or 0 by query), higher is better
    )
    found_contender: float
    #: search length on what both found, or where there is nothing on what the run found
    baseline: float | None
    contender: float | None
    difference: float | None  #: contender minus baseline, where both found something in common
    #: contender minus baseline of the row over all queries; None where that is not known
    all_queries: float | None = None
    text: str | None = None  #: of the query, where it is known
    cluster: int | None = None  #: number of its cluster, where there are clusters

    @property
    def change(self) -> float | None:
        """Contender minus baseline over all queries, else on what both found."""
        return self.difference if self.all_queries is None else self.all_queries

    def change_in(self, row: str) -> float | None:
        """Contender minus baseline in a row, None where the query does not count."""
        if row == "coverage":
            return 100 * (self.found_contender - self.found_baseline)
        return self.difference if row == "ranking" else self.all_queries


@dataclass(frozen=True, eq=False)
class SystemPair:
    """One pair of systems, with its values on every query."""

    measurements: Measurements
    baseline: int  # index of the system
    contender: int

    @property
    def baseline_name(self) -> str:
        """The name of the baseline."""
        return self.measurements.names[self.baseline]

    @property
    def contender_name(self) -> str:
        """The name of the contender."""
        return self.measurements.names[self.contender]

    @property
    def by_runs(self) -> bool:
        """Whether a system has several runs."""
        return math.prod(self.n_runs) > 1

    @property
    def n_runs(self) -> tuple[int, int]:
        """Numbers of runs of both systems."""
        n_runs = self.measurements.n_runs
        return n_runs[self.baseline], n_runs[self.contender]

    @property
    def runs(self) -> tuple[range, range]:
        """Indices of the runs of both systems."""
        starts = self.measurements.starts.tolist()
        first, second = (
            range(starts[system], starts[system + 1]) for system in (self.baseline, self.contender)
        )
        return first, second

    @property
    def _slices(self) -> tuple[slice, slice]:
        return slice(self.baseline, self.baseline + 1), slice(self.contender, self.contender + 1)

    def values(self, name: str) -> PairedValues:
        """The values of a row, (queries,) arrays summed over the pairs of runs."""
        n = len(self.measurements.query_ids)
        values = self.measurements.paired(name, *self._slices)
        baseline, contender, size = (np.broadcast_to(part, (1, 1, n))[0, 0] for part in values[:3])
        return PairedValues(baseline, contender, size)

    def means(self, name: str) -> tuple[Floats, Floats]:
        """Mean values of both systems on the queries that count in a row."""
        values = self.values(name)
        counted = values.size > 0
        size = values.size[counted]
        return values.baseline[counted] / size, values.contender[counted] / size

    def tests(self, name: str, *, unpaired: bool = False) -> "PaperTests":
        """The papers' tests of a row, also the rank sum test where it is asked for."""
        if name == "coverage":
            is_counted = self.measurements.items["ranking"].single
            return PaperTests(self, name, ["exact" if is_counted else "t"])
        return PaperTests(self, name, ["t", "wilcoxon", *(["ranksum"] if unpaired else [])])

    def sides(self, name: str) -> list[tuple[Floats, Floats]]:
        """Sums and numbers of differences, (n_runs, queries), of sides with several runs."""
        values = self.measurements.pairs_of_runs(name, *self._slices)
        shape = *self.n_runs, len(self.measurements.query_ids)
        difference = np.broadcast_to(values.contender - values.baseline, shape)
        size = np.broadcast_to(values.size, shape)
        return [
            (difference.sum(axis=axis), size.sum(axis=axis))
            for axis, n_runs in zip((1, 0), self.n_runs, strict=True)
            if n_runs > 1
        ]

    def outcomes(self) -> Outcomes:
        """Count the outcomes of all pairs of runs."""
        items = self.measurements.items.get("ranking")
        if items is None or not len(items.number):
            return Outcomes(0, 0, 0, 0, None)
        counts = np.zeros(4, dtype=np.int64)
        weights = np.zeros(4)
        weight = 1 / items.number[items.query]
        for baseline, contender in product(*self.runs):
            outcome = (items.found[baseline] + 2 * items.found[contender]).astype(np.int64)
            counts += np.bincount(outcome, minlength=4)
            weights += np.bincount(outcome, weights=weight, minlength=4)
        shares = Shares(*(weights / weights.sum()).tolist())
        neither, lost, won, both = counts.tolist()
        return Outcomes(neither, lost, won, both, shares)

    def queries(self, texts: Mapping[str, str]) -> Iterator[QueryOutcome]:
        """Yield what both systems did with each query."""
        whole = self.measurements
        n = len(whole.query_ids)
        nothing: list[Any] = [None] * n
        change = nothing
        if "all queries" in whole.levels:
            change = list(map(or_none, _quotient(self.values("all queries")).tolist()))
        columns: list[Any]
        if "ranking" not in whole.items:
            a, b = self.values("all queries")[:2]
            columns = [["both"] * n, [1.0] * n, [1.0] * n, a.tolist(), b.tolist(), (b - a).tolist()]
        else:
            coverage, ranking = self.values("coverage"), self.values("ranking")
            n_pairs = math.prod(self.n_runs)
            found = np.stack([coverage.baseline, coverage.contender]) / 100 / n_pairs
            gained = found[1] - found[0]
            code = np.select([gained < 0, gained > 0, found[0] > 0], [1, 2, 3], 0)
            columns = [
                [OUTCOMES[outcome] for outcome in code.tolist()],
                *found.tolist(),
                *(map(or_none, side.tolist()) for side in (*self.lengths(), _quotient(ranking))),
            ]
        clusters = nothing if whole.clusters is None else whole.clusters.codes.tolist()
        named = [texts.get(query) for query in whole.query_ids]
        yield from map(QueryOutcome, whole.query_ids, *columns, change, named, clusters)

    def lengths(self) -> Floats:
        """(2, queries) search lengths on what both found, else what each found."""
        ranking = self.values("ranking")
        items = self.measurements.items["ranking"]
        lengths = []
        for level, runs in zip(ranking[:2], self.runs, strict=True):
            number = items.over_queries(items.found[runs.start : runs.stop])
            sums = items.over_queries(items.lengths[runs.start : runs.stop])
            means = divided(sums, number, number > 0, 0.0).sum(axis=0)
            n_answered = (number > 0).sum(axis=0)
            alone = divided(means, n_answered, n_answered > 0)
            shared = divided(level, ranking.size, ranking.size > 0)
            lengths.append(np.where(ranking.size > 0, shared, alone))
        return np.stack(lengths)


class QueryOutcomes(Sequence[QueryOutcome]):
    """What two systems did with each query, put together when it is asked for."""

    def __init__(self, pair: SystemPair, texts: Mapping[str, str]) -> None:
        self._pair = pair
        self._texts = texts

    @cached_property
    def _items(self) -> tuple[QueryOutcome, ...]:
        return tuple(self._pair.queries(self._texts))

    def __len__(self) -> int:
        return len(self._pair.measurements.query_ids)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[QueryOutcome]:
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._items == tuple(other)

    def __hash__(self) -> int:
        return hash(self._items)


_TESTS: dict[str, Callable[[Floats, Floats], Test]] = {
    "exact": lambda a, b: binomial_test(int(np.sum(b > a)), int(np.sum(b < a))),
    "t": lambda a, b: t_tests(b - a).first("t"),
    "wilcoxon": lambda a, b: signed_ranks(b - a).first("wilcoxon"),
    "ranksum": rank_sum,
}


class PaperTests(FrozenDict[str, Test]):
    """The papers' tests of a row of one pair, made when they are asked for."""

    def __init__(self, pair: SystemPair, row: str, names: Sequence[str]) -> None:
        super().__init__(dict.fromkeys(names))  # type: ignore[arg-type]  # not made yet
        self._pair = pair
        self._row = row

    @cached_property
    def _means(self) -> tuple[Floats, Floats]:
        return self._pair.means(self._row)

    def __getitem__(self, name: str) -> Test:
        if self._items[name] is None:
            self._items[name] = _TESTS[name](*self._means)
        test: Test = self._items[name]
        return test


def _quotient(values: PairedValues) -> Floats:
    """(queries,) mean difference over the pairs of runs that count, NaN without one."""
    return divided(values.contender - values.baseline, values.size, values.size > 0)
