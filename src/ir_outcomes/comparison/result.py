"""What `compare` returns: results that carry the settings and versions that made them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self, overload

import numpy as np

from ir_outcomes.comparison.facets import (
    AllQueries,
    CoverageFacet,
    Facet,
    Means,
    MeasureMeans,
    RankingFacet,
    RestrictedLength,
)
from ir_outcomes.comparison.outcomes import Outcomes, PairedQueries, Settings
from ir_outcomes.comparison.runs_of_systems import SystemRun
from ir_outcomes.comparison.verdict import Verdict, direction_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.notes import Note
from ir_outcomes.results import (
    NUMBER,
    OPTIONAL,
    PERCENT,
    PVALUE,
    Better,
    Column,
    Form,
    HasPage,
    Result,
    attributes,
    decimals,
    of_part,
    rows_of,
    signed,
    signed_interval,
)
from ir_outcomes.statistics import Test
from ir_outcomes.types import LENGTHS, RANKS, Direction, Floats, check_choice, level_unit

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
    n_shared: list[int | None] = [None] * len(pair.query_ids)
    if pair.is_of_several:
        n_shared = pair.shared.reshape(-1, len(n_shared)).sum(axis=0).tolist()
    pair = pair.by_query()
    gained = pair.found_contender - pair.found_baseline
    n = len(pair.query_ids)
    code = np.select([gained < 0, gained > 0, pair.found_baseline > 0], [1, 2, 3], 0)
    if pair.restricted is None:
        restricted = np.full(n, np.nan)
    else:
        restricted = pair.restricted.contender - pair.restricted.baseline
    change = np.where(pair.shared, pair.length_contender - pair.length_baseline, np.nan)
    columns = (
        [OUTCOMES[outcome] for outcome in code.tolist()],
        pair.found_baseline.tolist(),
        pair.found_contender.tolist(),
        *map(_without_nan, (pair.length_baseline, pair.length_contender, change, restricted)),
        [texts.get(query) for query in pair.query_ids],
        [None] * n if pair.clusters is None else pair.clusters.tolist(),
        n_shared,
    )
    return tuple(map(QueryOutcome, pair.query_ids, *columns))


def _without_nan(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def query_columns(measured_in: str = RANKS) -> tuple[Column, ...]:
    """Return the columns of queries, with the unit of their search lengths."""
    share = "share of the relevant documents"
    length = level_unit(measured_in)
    return (
        Column("query_id", heading="query"),
        Column("outcome"),
        Column("found_baseline", heading="found A", form=decimals(2), unit=share, better="higher"),
        Column("found_contender", heading="found B", form=decimals(2), unit=share, better="higher"),
        Column("baseline", heading="length A", form=decimals(2), unit=length, better="lower"),
        Column("contender", heading="length B", form=decimals(2), unit=length, better="lower"),
        Column("difference", heading="change", form=signed(2), unit=measured_in, better="lower"),
        *attributes("restricted", "text", "cluster"),
    )


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
    def rel(self) -> int:
        """Smallest grade of a relevant document."""
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
                    corrected = measured.pvalue_corrected
                row = {
                    "baseline": self.baseline,
                    "contender": self.contender,
                    "facet": measured.name,
                    "test": name,
                    "estimate": measured.difference,
                    "low": low,
                    "high": high,
                    "statistic": test.statistic,
                    "p": test.pvalue,
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
    that both answered.

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


def columns_of(comparisons: Sequence[Comparison]) -> tuple[Column, ...]:
    """Return the columns of comparisons, with the units of their facets."""
    first = comparisons[0] if comparisons else None
    unit = RANKS if first is None else first.ranking.measured_in
    measure = "" if unit in LENGTHS else unit
    new_runs = any(item.coverage.new_runs for item in comparisons)
    several = any(item.of_several_runs for item in comparisons)
    ranking = _facet_columns("ranking", unit, "lower", 2, new_runs)
    if first is not None and measure:
        ranking = _facet_columns(
            "ranking",
            measure,
            "higher" if first.ranking.higher_is_better else "lower",
            4,
            new_runs,
        )
    cutoffs = sorted({at.cutoff for item in comparisons for at in item.cutoffs})
    return (
        *attributes("baseline", "contender"),
        Column("n_queries", heading="queries", form=NUMBER),
        *attributes("n_unanswerable", "cutoff", "rel", "unit", "ties"),
        *(Column(outcome, f"outcomes.{outcome}", form=NUMBER) for outcome in OUTCOMES),
        *(
            Column(f"{outcome}_share", f"outcomes.shares.{outcome}", outcome, PERCENT)
            for outcome in OUTCOMES
        ),
        *attributes("lost_at=outcomes.lost_at", "won_at=outcomes.won_at"),
        *_facet_columns("coverage", "points", "higher", 2, new_runs),
        *ranking,
        *(_means_columns("reciprocal", "wilcoxon", "t") if not measure else ()),
        Column("ranking_ratio", "ranking.ratio", "B / A", decimals(2), better="lower"),
        *(
            _restricted_columns(unit, new_runs)
            if first is None or first.restricted is not None
            else ()
        ),
        *_means_columns("naive", "ranksum", "wilcoxon", "t"),
        *(measure_columns(first.measures) if first else ()),
        *attributes(
            "alpha=settings.alpha", "correction=settings.correction", "family=settings.family"
        ),
        Column("verdict", "verdict.label"),
        *of_part(
            "verdict",
            attributes("direction", "strict", "do_no_harm", "guard", "non_inferior", "equivalent"),
        ),
        *(_RUNS_COLUMNS if several else ()),
        *(Column(f"verdict_at_{cutoff}", _label_at(cutoff)) for cutoff in cutoffs),
    )


def _restricted_columns(unit: str, new_runs: bool) -> tuple[Column, ...]:
    parts = attributes(
        "restricted_both=restricted.both",
        "restricted_won=restricted.won",
        "restricted_lost=restricted.lost",
    )
    counts = (
        "queries_better=restricted.better",
        "queries_worse=restricted.worse",
        "queries_equal=restricted.equal",
    )
    return (
        Column(
            "restricted_difference",
            "restricted.difference",
            "all queries",
            signed(2),
            unit,
            "lower",
        ),
        Column(
            "restricted", "restricted.interval", "all queries", signed_interval(2), unit, "lower"
        ),
        *_new_runs_column("restricted", "restricted", signed_interval(2), unit, "lower", new_runs),
        Column("restricted_p", "restricted.test.pvalue", "raw p", PVALUE),
        Column("restricted_p_corrected", "restricted.pvalue_corrected", "p", PVALUE),
        *parts,
        Column("won_and_lost_p", "restricted.won_and_lost_test.pvalue", "p", PVALUE),
        *attributes(*counts),
    )


def names_of(comparison: Comparison) -> tuple[str, str]:
    """Return what the ranking facet and the facet of its reciprocals are called beside the columns of the paper."""
    if comparison.reciprocal is None:
        return comparison.ranking.measured_in, ""
    if comparison.unit == "query":
        return ("ESL", "RR")
    return ("ASL", "reciprocal ASL")


def _new_runs_column(
    name: str, part: str, form: Form, unit: str, better: Better, is_known: bool
) -> tuple[Column, ...]:
    """Return the column of an interval for new runs; none where no comparison has such intervals."""
    heading = "all queries" if name == "restricted" else name
    column = Column(
        f"{name}_new_runs", f"{part}.new_runs", f"{heading}, new runs", form, unit, better
    )
    return (column,) if is_known else ()


def _means_columns(name: Literal["reciprocal", "naive"], *tests: str) -> tuple[Column, ...]:
    means = attributes(
        *(f"{name}_{mean}={name}.{mean}" for mean in ("baseline", "contender", "difference"))
    )
    return (
        *means,
        *(Column(f"{name}_p_{test}", _pvalue_of(name, test), form=PVALUE) for test in tests),
    )


def _facet_columns(
    name: Literal["coverage", "ranking"],
    unit: str,
    better: Better,
    places: int,
    new_runs: bool,
) -> tuple[Column, ...]:
    return (
        Column(f"{name}_n", f"{name}.n", "n", NUMBER),
        Column(f"{name}_n_nonzero", f"{name}.n_nonzero", "differ", NUMBER),
        Column(f"{name}_baseline", f"{name}.baseline", "A", decimals(places)),
        Column(f"{name}_contender", f"{name}.contender", "B", decimals(places)),
        Column(f"{name}_difference", f"{name}.difference", name, signed(places), unit, better),
        Column(name, f"{name}.interval", name, signed_interval(places), unit, better),
        *attributes(f"{name}_effect={name}.effect_size", f"{name}_test={name}.test"),
        *_new_runs_column(name, name, signed_interval(places), unit, better, new_runs),
        Column(f"{name}_p", f"{name}.pvalue", "raw p", PVALUE),
        Column(f"{name}_p_corrected", f"{name}.pvalue_corrected", "p", PVALUE),
        *attributes(f"{name}_detectable={name}.detectable"),
    )


def measure_columns(measures: Sequence[MeasureMeans]) -> tuple[Column, ...]:
    """Return the columns of measures, of items that have such `measures`."""
    return tuple(
        column
        for place, means in enumerate(measures)
        for column in _columns_of_measure(place, means)
    )


def _columns_of_measure(place: int, means: MeasureMeans) -> tuple[Column, ...]:
    name = means.measure
    better: Better = "higher" if means.higher_is_better else "lower"
    columns = (
        Column(f"{name}_baseline", "baseline", "A", decimals(4)),
        Column(f"{name}_contender", "contender", "B", decimals(4)),
        Column(f"{name}_difference", "difference", "B - A", signed(4), better=better),
        Column(name, "interval", form=signed_interval(4), better=better),
        *_new_runs_of(name, means, better),
        Column(f"{name}_p", "pvalue", "p", PVALUE),
    )
    return of_part(lambda item: item.measures[place] if item.measures else None, columns)


def _new_runs_of(name: str, means: MeasureMeans, better: Better) -> tuple[Column, ...]:
    """Return the column of the interval of a measure for new runs; none without such an interval."""
    column = Column(f"{name}_new_runs", "new_runs", form=signed_interval(4), better=better)
    return () if means.new_runs is None else (column,)


def _pvalue_of(facet: str, test: str) -> Callable[[Comparison], float]:
    return lambda item: getattr(item, facet).tests[test].pvalue


_RUNS_COLUMNS = (
    Column("runs_baseline", lambda item: item.n_runs[0], "runs A", NUMBER),
    Column("runs_contender", lambda item: item.n_runs[1], "runs B", NUMBER),
    Column("holds_for_new_runs", "verdict.new_runs", "new runs"),
)


def _label_at(cutoff: int) -> Callable[[Comparison], str | None]:
    return lambda item: next((at.label for at in item.cutoffs if at.cutoff == cutoff), None)


def paper_columns(first: Comparison) -> tuple[Column, ...]:
    """Return the columns of Tables 1 and 2 of Lin et al. 2021; p-values are raw, as in the paper."""
    on_ranks = first.reciprocal is not None
    length, reciprocal = names_of(first)
    one = "(2) one run finds"
    both = "(3) both find"
    naive = "MRR" if on_ranks else "mean"
    return (
        Column("A", "baseline", group="Runs"),
        Column("B", "contender", group="Runs"),
        Column("delta", "naive.difference", "difference", signed(4), group=naive),
        *(
            Column(
                f"naive_{short.lower()}_p",
                _pvalue_of("naive", test),
                f"{short} p",
                PVALUE,
                group=naive,
            )
            for short, test in (("WRS", "ranksum"), ("WSR", "wilcoxon"), ("t", "t"))
        ),
        Column("neither", "outcomes.shares.neither", "all", PERCENT, group="(1) neither"),
        Column("a_wins", "outcomes.shares.lost", "A wins", PERCENT, group=one),
        Column("b_wins", "outcomes.shares.won", "B wins", PERCENT, group=one),
        Column("coverage_p", "coverage.pvalue", "p", PVALUE, group=one),
        Column("both", "outcomes.shares.both", "all", PERCENT, group=both),
        *_paper_facet("ranking", length, 2 if on_ranks else 4, both),
        *(_paper_facet("reciprocal", reciprocal, 4, both) if on_ranks else ()),
        Column("verdict", "verdict.label"),
    )


def _paper_facet(
    name: Literal["ranking", "reciprocal"], measure: str, places: int, group: str
) -> tuple[Column, ...]:
    key = measure.lower().replace(" ", "_")
    return (
        Column(f"a_{key}", f"{name}.baseline", f"A {measure}", decimals(places), group=group),
        Column(f"b_{key}", f"{name}.contender", f"B {measure}", decimals(places), group=group),
        Column(
            f"{key}_wsr_p", _pvalue_of(name, "wilcoxon"), f"{measure} WSR p", PVALUE, group=group
        ),
        Column(f"{key}_t_p", _pvalue_of(name, "t"), f"{measure} t p", PVALUE, group=group),
    )
