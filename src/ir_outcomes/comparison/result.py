"""What `compare` returns: results that carry the settings and versions that made them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self, overload

import numpy as np

from ir_outcomes.comparison.columns import columns_of, paper_columns, query_columns
from ir_outcomes.comparison.facets import (
    AllQueries,
    CoverageFacet,
    Facet,
    Means,
    MeasureMeans,
    RankingFacet,
    RestrictedLength,
    known_p,
)
from ir_outcomes.comparison.outcomes import Outcomes, PairedQueries, Settings
from ir_outcomes.comparison.runs_of_systems import SystemRun
from ir_outcomes.comparison.verdict import Verdict, direction_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.notes import Note
from ir_outcomes.results import OPTIONAL, HasPage, Result
from ir_outcomes.statistics import Test
from ir_outcomes.table_columns import rows_of
from ir_outcomes.types import LENGTHS, Direction, Floats, check_choice

WHICH = ("won", "lost", "better", "worse")


class QueryOutcome(NamedTuple):
    """What two runs did with one query."""

    query_id: str
    #: "neither", "lost", "won" or "both"; under ``unit="document"`` won or lost where the contender
    #: found more or fewer of the relevant documents
    outcome: str
    found_baseline: float  #: share of the relevant documents found (1 or 0 under ``unit="query"``), higher is better
    found_contender: float
    #: Search length on what both found, or where there is nothing on what the run found, in ranks.
    baseline: float | None
    contender: float | None
    difference: float | None  #: contender minus baseline, where both found something in common
    restricted: float | None = None  #: the same of the restricted search length, with a cutoff
    text: str | None = None  #: of the query, where it is known
    cluster: int | None = None  #: number of its cluster, where there are clusters
    #: pairs of runs that found something in common, where a system has several: `difference` is the
    #: mean over them
    n_shared: int | None = None

    @property
    def change(self) -> float | None:
        """Contender minus baseline, of the restricted search length where there is one."""
        if self.restricted is None:
            return self.difference
        return self.restricted


def query_outcomes(pair: PairedQueries, texts: Mapping[str, str]) -> tuple[QueryOutcome, ...]:
    """Return what two runs did with each query; of systems with several runs the means."""
    n = len(pair.query_ids)
    n_pairs = math.prod(pair.n_runs)
    times = np.maximum(pair.n_shared, 1)  # that a length was added up
    n_shared: list[int | None] = [None] * n
    if pair.pairs is not None:
        n_shared = pair.n_shared.astype(np.int64).tolist()
    found_a = pair.found_baseline / n_pairs
    found_b = pair.found_contender / n_pairs
    length_a = pair.length_baseline / times
    length_b = pair.length_contender / times
    gained = found_b - found_a
    code = np.select([gained < 0, gained > 0, found_a > 0], [1, 2, 3], 0)
    restricted = np.full(n, np.nan)
    if pair.restricted is not None:
        restricted = pair.restricted.contender / n_pairs - pair.restricted.baseline / n_pairs
    change = np.where(pair.shared, length_b - length_a, np.nan)
    columns = (
        [OUTCOMES[outcome] for outcome in code.tolist()],
        found_a.tolist(),
        found_b.tolist(),
        *map(_without_nan, (length_a, length_b, change, restricted)),
        [texts.get(query) for query in pair.query_ids],
        [None] * n if pair.clusters is None else pair.clusters.tolist(),
        n_shared,
    )
    return tuple(map(QueryOutcome, pair.query_ids, *columns))


def _without_nan(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


@dataclass(frozen=True, repr=False)
class Queries(Result, Sequence[QueryOutcome]):
    """Queries of a comparison, as `Comparison.per_query` returns them."""

    baseline: str
    contender: str
    which: str | None  #: what was asked for: "won", "lost", "better" or "worse"
    measured_in: str  #: unit of the search lengths
    items: tuple[QueryOutcome, ...]  #: the queries

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, key: Any) -> Any:
        return self.items[key]

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each query."""
        return rows_of(query_columns(self.measured_in), self.items)


class CutoffLabel(NamedTuple):
    """The label that the same comparison has at another cutoff."""

    cutoff: int
    label: str

    @property
    def direction(self) -> Direction:
        """Direction of the label for the contender."""
        return direction_of(self.label)


@dataclass(frozen=True, repr=False)
class Comparison(HasPage, Result):
    """A contender against a baseline: outcomes, both facets, and the verdict.

    The figures are "facets", "outcomes", "ranks" and "queries".

    Attributes
    ----------
    baseline, contender : str
        Names of the runs. Every difference is contender minus baseline.
    n_queries, n_unanswerable : int
        Answerable queries, which are compared, and those without a relevant document, which are
        left out.
    n_missing : pair of int
        Answerable queries without any result, of the baseline and of the contender; they count as
        unanswered.
    settings, outcomes : Settings and Outcomes
        How it was made, and the outcome split.
    coverage, ranking : CoverageFacet and RankingFacet
        Queries answered or relevant documents found, in percentage points; mean search length on
        what both found, in ranks or irrelevant documents above.
    reciprocal : Means or None
        Reciprocals on what both found, which decide nothing; None where another measure than a rank
        was compared.
    restricted : RestrictedLength or None
        Search lengths over all queries, and what the ranking facet leaves out; None without a
        cutoff.
    mean : AllQueries or None
        Means of another measure over all queries; None where search lengths were compared, or
        nothing can confirm.
    naive : Means
        Standard tests on reciprocal rank over all answerable queries: what the framework replaces.
    cutoffs : tuple of CutoffLabel
        The label at other cutoffs, ascending, not corrected for their number; empty where they are
        not known.
    verdict : Verdict
        The two-facet verdict.
    measures : tuple of MeasureMeans
        The measures that were asked for, which decide nothing.
    notes, background : tuple of Note
        What changes how the label is read, the most important first, each as "Headline: details.";
        and what else a careful reader may want to know.
    versions, run_metadata : mapping of str to str
        Of ir_outcomes, NumPy, SciPy and Python; the ir_metadata headers of the runs that have one,
        by name: YAML.
    identical : bool
        Whether both runs have the same documents in the same order for every query; False where
        lists are not known.
    n_runs : pair of int
        Numbers of runs of the baseline and of the contender. With several, outcomes count pairs of
        runs and queries, and what is said of a query is the mean over these pairs.
    runs : tuple of SystemRun
        What each run of a system that has several shows by itself.
    queries : tuple of QueryOutcome, optional
        Query by query; None where the result was restored from JSON without them.
    """

    baseline: str
    contender: str
    n_queries: int
    n_unanswerable: int
    n_missing: tuple[int, int]
    settings: Settings
    outcomes: Outcomes
    coverage: CoverageFacet
    ranking: RankingFacet
    reciprocal: Means | None
    restricted: RestrictedLength | None
    mean: AllQueries | None
    naive: Means
    cutoffs: tuple[CutoffLabel, ...]
    verdict: Verdict
    measures: tuple[MeasureMeans, ...] = ()
    run_metadata: Mapping[str, str] = field(default_factory=dict)
    background: tuple[Note, ...] = ()
    identical: bool = False
    n_runs: tuple[int, int] = (1, 1)
    runs: tuple[SystemRun, ...] = ()
    queries: tuple[QueryOutcome, ...] | None = field(default=None, compare=False, metadata=OPTIONAL)

    @property
    def unit(self) -> str:
        """What is answered or not: "query" or "document"."""
        return self.settings.unit

    @property
    def cutoff(self) -> int | None:
        """Ranks beyond it do not count; None where it is not known."""
        return self.settings.cutoff

    @property
    def rel(self) -> int | None:
        """Smallest grade of a relevant document; None where it is not known."""
        return self.settings.rel

    @property
    def ties(self) -> str:
        """Order among equal scores."""
        return self.settings.ties

    @property
    def alpha(self) -> float:
        """Level of tests, intervals and verdict."""
        return self.settings.alpha

    @property
    def systems(self) -> tuple[tuple[str, int], ...]:
        """The name of the baseline and that of the contender, each with its number of runs."""
        return tuple(zip((self.baseline, self.contender), self.n_runs, strict=True))

    @property
    def of_several_runs(self) -> bool:
        """Whether a system has several runs."""
        return self.n_runs != (1, 1)

    @property
    def in_lengths(self) -> bool:
        """Whether search lengths were compared, and not another measure."""
        return self.ranking.measured_in in LENGTHS

    @property
    def all_queries(self) -> AllQueries | None:
        """The means over all queries, which confirm and can decide; None where they are not known."""
        return self.mean if self.restricted is None else self.restricted

    @property
    def parts(self) -> tuple[Facet | AllQueries | MeasureMeans, ...]:
        """The rows of its table: coverage, ranking, all queries where they are known, and the measures that were asked for."""
        over_all = () if self.all_queries is None else (self.all_queries,)
        return (self.coverage, self.ranking, *over_all, *self.measures)

    def shown_test(self, part: Facet | AllQueries | MeasureMeans) -> tuple[float, str]:
        """Return the p-value of a facet, or over all queries, that the label hangs on, and its test.

        The test is "corrected" where the corrected p-value of the deciding test counts. Over all
        queries that is so where neither facet decides; else the raw p-value confirms, of Wilcoxon's
        test where only that does. Harm that makes a trade-off may be found by a test of ranking
        that does not decide.
        """
        if isinstance(part, MeasureMeans):
            return part.pvalue, part.test.name
        if isinstance(part, AllQueries):
            if min(self.coverage.pvalue_corrected, self.ranking.pvalue_corrected) > self.alpha:
                return part.pvalue_corrected, "corrected"
            tests: tuple[Test, ...] = (part.test, part.tests["wilcoxon"])
        elif part.found == "none" or part.pvalue <= self.alpha:
            return part.pvalue_corrected, "corrected"
        else:
            tests = part.harm_tests
        direction = {"better": 1, "worse": -1, "none": 0}[part.found] * (
            1 if part.higher_is_better else -1
        )
        shown = tests[0]
        if direction:
            shown = next(
                test for test in tests if test.pvalue <= self.alpha and test.direction == direction
            )
        return shown.pvalue, shown.name

    def per_query(self, which: str | None = None, top: int | None = None) -> Queries:
        """List the queries: which did I win, which did I lose.

        Parameters
        ----------
        which : {"won", "lost", "better", "worse"}, optional
            Only queries where the contender found more or less, or ranked what both found better or
            worse; the largest change first (for won and lost: the best-ranked answer first). By
            default all, in the order of the qrels.
        top : int, optional
            At most this many.

        Raises
        ------
        ParameterError
            If `which` is something else, or the result holds no queries.
        """
        if self.queries is None:
            raise ParameterError(
                "this result was stored without its queries; write it with to_json(per_query=True)"
            )
        if which is not None:
            check_choice("which", which, WHICH)
        chosen = list(self.queries)
        if which in ("won", "lost"):
            finder = "contender" if which == "won" else "baseline"
            chosen = [query for query in chosen if query.outcome == which]
            chosen.sort(key=lambda query: getattr(query, finder))
        elif which in ("better", "worse"):
            sign = 1
            if (which == "worse") == self.ranking.higher_is_better:
                sign = -1
            chosen = [query for query in chosen if sign * (query.difference or 0) > 0]
            chosen.sort(key=lambda query: -abs(query.difference or 0))
        return Queries(
            self.baseline, self.contender, which, self.ranking.measured_in, tuple(chosen[:top])
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row: a value for each column, None where there is none; units are those of the attributes."""
        return rows_of(columns_of([self]), [self])

    def paper_rows(self) -> list[dict[str, Any]]:
        """Return one row with the columns of Tables 1 and 2 of Lin et al. 2021."""
        return rows_of(paper_columns(self), [self])

    def long_rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each test; only the one that decides on a facet has a corrected p-value."""
        rows = []
        for measured in (
            self.coverage,
            self.ranking,
            self.reciprocal,
            self.all_queries,
            self.naive,
            *self.measures,
        ):
            if measured is None:
                continue
            low, high = measured.interval or (None, None)
            for name, test in measured.tests.items():
                corrected = None
                if isinstance(measured, Facet | AllQueries) and test == measured.decides:
                    corrected = known_p(measured.difference, measured.pvalue_corrected)
                row = {
                    "baseline": self.baseline,
                    "contender": self.contender,
                    "facet": measured.name,
                    "test": name,
                    "estimate": measured.difference,
                    "low": low,
                    "high": high,
                    "statistic": test.statistic,
                    "p": known_p(measured.difference, test.pvalue),
                    "p_corrected": corrected,
                    "n": measured.n,
                    "n_nonzero": test.n_nonzero,
                }
                rows.append(row)
        return rows


@dataclass(frozen=True, repr=False)
class Comparisons(HasPage, Result, Sequence[Comparison]):
    """Several comparisons, in the order in which the runs were given.

    The baseline's search length differs from row to row: each contender has its own set of queries
    that both answered. The figures are "facets", "outcomes" and "forest".

    Attributes
    ----------
    items : tuple of Comparison
        One for each contender, or for each pair; the p-values that decide are corrected over all of
        them.
    """

    items: tuple[Comparison, ...]

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, key: int | str) -> Comparison: ...

    @overload
    def __getitem__(self, key: slice) -> Self: ...

    def __getitem__(self, key: int | str | slice) -> Comparison | Self:
        if isinstance(key, slice):
            return replace(self, items=self.items[key])
        if isinstance(key, int):
            return self.items[key]
        for item in self.items:
            if item.contender == key:
                return item
        raise KeyError(
            f"{key}; the contenders are {', '.join(item.contender for item in self.items)}"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each comparison."""
        return rows_of(columns_of(self.items), self.items)

    def paper_rows(self) -> list[dict[str, Any]]:
        """Return a row for each comparison with the columns of Tables 1 and 2 of Lin et al. 2021."""
        if self.items:
            return rows_of(paper_columns(self.items[0]), self.items)
        return []

    def long_rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each test of each comparison."""
        return [row for item in self.items for row in item.long_rows()]
