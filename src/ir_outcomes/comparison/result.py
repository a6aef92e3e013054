"""What `compare` returns: results that carry the settings and versions that made them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, overload

from ir_outcomes.comparison.facets import CoverageFacet, Naive, RankingFacet, RestrictedLength
from ir_outcomes.comparison.outcomes import Outcomes, Settings
from ir_outcomes.comparison.verdict import LABELS, Decision, Direction, direction_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.formatting import plural
from ir_outcomes.results import OPTIONAL, Result, cells_of

__all__ = ["Comparison", "Comparisons", "CutoffLabel", "QueryOutcome", "Verdict", "row_of"]

WHICH = ("won", "lost", "better", "worse")


class QueryOutcome(NamedTuple):
    """What two runs did with one query.

    Attributes
    ----------
    query_id : str
        The query.
    outcome : str
        "neither", "lost", "won" or "both"; under ``unit="document"`` won or lost where the contender found more or fewer of
        the relevant documents.
    found_baseline, found_contender : float
        Share of the relevant documents found (1 or 0 under ``unit="query"``), higher is better.
    baseline, contender : float or None
        Search length on what both found, or where there is nothing on what the run found itself; ranks, lower is better; None
        where it found nothing.
    difference : float or None
        Contender minus baseline, where both found something in common.
    restricted : float or None
        The same of the restricted search length, which every query has; None without a cutoff.
    text : str or None
        The query's text, where it is known.
    cluster : int or None
        Number of its cluster; None where queries are independent.
    """

    query_id: str
    outcome: str
    found_baseline: float
    found_contender: float
    baseline: float | None
    contender: float | None
    difference: float | None
    restricted: float | None = None
    text: str | None = None
    cluster: int | None = None


class CutoffLabel(NamedTuple):
    """The label that the same comparison has at another cutoff."""

    cutoff: int
    label: str

    @property
    def direction(self) -> Direction:
        """Direction of the label for the contender."""
        return direction_of(self.label)


@dataclass(frozen=True)
class Verdict:
    """The two-facet significance verdict on a contender.

    Attributes
    ----------
    label : str
        One of `ir_outcomes.comparison.verdict.LABELS`, after the confirmation and the guard.
    direction : {"better", "worse", "none"}
        Direction of the label for the contender.
    strict : {"better", "worse", "undecided"}
        The paper's strict rule, before the guard: both facets improve significantly and neither is hurt, or the same for the
        baseline.
    do_no_harm : {"better", "worse", "undecided"}
        The paper's weaker rule, before the guard: at least one facet improves significantly and none is hurt, or the same for
        the baseline.
    guard : bool or None
        Whether the label became "trade-off" because the search lengths over all queries contradict it; None where they are not
        known, so that it could not be checked.
    non_inferior : bool or None
        Whether harm beyond the margins is excluded on both facets and over all queries, which needs a cutoff; None without
        margins.
    equivalent : bool or None
        Whether differences beyond the margins in either direction are excluded on all of these; None without margins.
    sentence : str
        The verdict in plain words, with its numbers.

    References
    ----------
    Lin et al. 2021, section 5.
    """

    label: str
    direction: Direction
    strict: Decision
    do_no_harm: Decision
    guard: bool | None
    non_inferior: bool | None
    equivalent: bool | None
    sentence: str


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """A contender against a baseline: outcomes, both facets, and the verdict.

    Attributes
    ----------
    baseline, contender : str
        Names of the runs. Every difference is contender minus baseline.
    n_queries : int
        Answerable queries: those that are compared.
    n_unanswerable : int
        Queries of the qrels without a relevant document, which are left out.
    n_missing : pair of int
        Answerable queries without any result, of the baseline and of the contender; they count as unanswered.
    settings : Settings
        How it was made.
    outcomes : Outcomes
        The outcome split.
    coverage : CoverageFacet
        Queries answered (or relevant documents found), percentage points, higher is better.
    ranking : RankingFacet
        Mean search length on what both found, ranks, lower is better.
    reciprocal : RankingFacet or None
        The same on reciprocals, higher is better; it decides nothing. None where another measure than a rank was compared.
    restricted : RestrictedLength or None
        Search lengths over all queries, and what the ranking facet leaves out; None without a cutoff.
    naive : Naive
        Standard tests on reciprocal rank over all answerable queries: what the framework replaces.
    cutoffs : tuple of CutoffLabel
        The label at other cutoffs, ascending, not corrected for their number; empty where they are not known.
    verdict : Verdict
        The two-facet verdict.
    notes : tuple of str
        What a careful reader must know, the most important first.
    versions : mapping of str to str
        Of ir_outcomes, NumPy, SciPy and Python.
    run_metadata : mapping of str to str
        The ir_metadata headers of the runs that have one, by name, without comment signs: YAML.
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
    reciprocal: RankingFacet | None
    restricted: RestrictedLength | None
    naive: Naive
    cutoffs: tuple[CutoffLabel, ...]
    verdict: Verdict
    notes: tuple[str, ...]
    versions: Mapping[str, str]
    run_metadata: Mapping[str, str] = field(default_factory=dict)
    queries: tuple[QueryOutcome, ...] | None = field(default=None, compare=False, metadata=OPTIONAL)

    has_paper_columns: ClassVar[bool] = True

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

    def _summary(self) -> str:
        return f"{self.contender!r} against {self.baseline!r}: {self.verdict.label}, {plural('query', self.n_queries)}"

    def per_query(self, which: str | None = None, top: int | None = None) -> list[QueryOutcome]:
        """List the queries: which did I win, which did I lose.

        Parameters
        ----------
        which : {"won", "lost", "better", "worse"}, optional
            Only queries where the contender found more or less, or ranked what both found better or worse; the largest
            change first (for won and lost: the best-ranked answer first). By default all, in the order of the qrels.
        top : int, optional
            At most this many.

        Raises
        ------
        ParameterError
            If `which` is something else, or the result holds no queries.
        """
        if self.queries is None:
            raise ParameterError("this result was stored without its queries; write it with to_json(per_query=True)")
        if which is not None and which not in WHICH:
            raise ParameterError(f"which={which!r}: must be one of {', '.join(WHICH)}")
        chosen = list(self.queries)
        if which in ("won", "lost"):
            finder = "contender" if which == "won" else "baseline"
            chosen = [query for query in chosen if query.outcome == which]
            chosen.sort(key=lambda query: getattr(query, finder))
        elif which in ("better", "worse"):
            sign = 1 if (which == "worse") != self.ranking.higher_is_better else -1
            chosen = [query for query in chosen if sign * (query.difference or 0) > 0]
            chosen.sort(key=lambda query: -abs(query.difference or 0))
        return chosen[:top]

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row: a value for each column, None where there is none; units are those of the attributes."""
        return [row_of(self)]

    def paper_rows(self) -> list[dict[str, Any]]:
        """Return one row with the columns of Tables 1 and 2 of Lin et al. 2021."""
        return [_paper_row(self)]


@dataclass(frozen=True, repr=False)
class Comparisons(Result, Sequence[Comparison]):
    """Several comparisons, in the order in which the runs were given.

    The baseline's search length differs from row to row: each contender has its own set of queries that both answered.

    Attributes
    ----------
    items : tuple of Comparison
        One for each contender, or for each pair; the p-values that decide are corrected over all of them.
    notes : tuple of str
        What a careful reader must know about the call as a whole.
    """

    items: tuple[Comparison, ...]
    notes: tuple[str, ...] = ()

    has_paper_columns: ClassVar[bool] = True

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.items)

    @overload
    def __getitem__(self, key: int | str) -> Comparison: ...

    @overload
    def __getitem__(self, key: slice) -> Comparisons: ...

    def __getitem__(self, key: int | str | slice) -> Comparison | Comparisons:
        if isinstance(key, slice):
            return Comparisons(self.items[key], self.notes)
        if isinstance(key, int):
            return self.items[key]
        for item in self.items:
            if item.contender == key:
                return item
        raise KeyError(f"{key}; the contenders are {', '.join(item.contender for item in self.items)}")

    def _summary(self) -> str:
        baselines = {item.baseline for item in self.items}
        against = f" against {baselines.pop()!r}" if len(baselines) == 1 else ""
        return f"{plural('comparison', len(self.items))}{against}"

    def sorted(self, by: str = "verdict") -> Comparisons:
        """Order the comparisons, best first.

        Parameters
        ----------
        by : {"verdict", "coverage", "ranking", "name"}
            The verdict, in the order of `ir_outcomes.comparison.verdict.LABELS`; the change of a facet; or the contender's
            name.

        Raises
        ------
        ParameterError
            If `by` is something else.
        """
        if by not in _ORDERS:
            raise ParameterError(f"by={by!r}: must be one of {', '.join(_ORDERS)}")
        return Comparisons(tuple(sorted(self.items, key=_ORDERS[by])), self.notes)

    def filter(self, *labels: str) -> Comparisons:
        """Keep the comparisons with one of these verdicts.

        Raises
        ------
        ParameterError
            If a label is not one of `ir_outcomes.comparison.verdict.LABELS`.
        """
        unknown = [label for label in labels if label not in LABELS]
        if unknown:
            raise ParameterError(f"no verdict is called {unknown[0]!r}; they are {', '.join(LABELS)}")
        return Comparisons(tuple(item for item in self.items if item.verdict.label in labels), self.notes)

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each comparison."""
        return [row_of(item) for item in self.items]

    def paper_rows(self) -> list[dict[str, Any]]:
        """Return a row for each comparison with the columns of Tables 1 and 2 of Lin et al. 2021."""
        return [_paper_row(item) for item in self.items]


_OF_FACET = (
    "n", "n_nonzero", "baseline", "contender", "difference", "low=interval.low", "high=interval.high", "effect=effect_size",
    "test", "p=pvalue", "p_corrected=pvalue_corrected", "detectable",
)  # fmt: skip
_OF_RESTRICTED = (
    "restricted_difference=difference", "restricted_low=interval.low", "restricted_high=interval.high",
    "restricted_p=test.pvalue", "restricted_both=both", "restricted_won=won", "restricted_lost=lost",
    "won_and_lost_p=won_and_lost_test.pvalue", "queries_better=better", "queries_worse=worse", "queries_equal=equal",
)  # fmt: skip


def row_of(comparison: Comparison) -> dict[str, Any]:
    """Return a column for each value, None where there is none; units are those of `Comparison`."""
    row = cells_of(comparison, "baseline", "contender", "n_queries", "n_unanswerable", "cutoff", "rel", "unit", "ties")
    shares = (f"{outcome}_share=shares.{outcome}" for outcome in OUTCOMES)
    row |= cells_of(comparison.outcomes, *OUTCOMES, *shares, "lost_at", "won_at")
    for name in ("coverage", "ranking", "reciprocal"):
        if (facet := getattr(comparison, name)) is not None:
            row |= cells_of(facet, *_OF_FACET, prefix=f"{name}_")
    row.pop("reciprocal_p_corrected", None)  # it decides nothing, so it is not corrected
    row |= cells_of(comparison.ranking, "ratio", prefix="ranking_")
    if comparison.restricted is not None:
        row |= cells_of(comparison.restricted, *_OF_RESTRICTED)
    row |= cells_of(comparison.naive, "baseline", "contender", "difference", prefix="naive_")
    row |= {f"naive_p_{name}": pvalue for name, pvalue in comparison.naive.pvalues.items()}
    row |= cells_of(comparison.settings, "alpha", "correction", "family")
    row |= cells_of(
        comparison.verdict, "verdict=label", "direction", "strict", "do_no_harm", "guard", "non_inferior", "equivalent"
    )
    return row | {f"verdict_at_{at.cutoff}": at.label for at in comparison.cutoffs}


def measures_of(comparison: Comparison) -> tuple[str, str]:
    """Return what the ranking facet and the facet of its reciprocals are called beside the columns of the paper."""
    if comparison.reciprocal is None:
        return comparison.ranking.measured_in, ""
    return ("ESL", "RR") if comparison.unit == "query" else ("ASL", "reciprocal ASL")


def _paper_row(comparison: Comparison) -> dict[str, Any]:
    """Return the columns of Table 1 and then of Table 2 of Lin et al. 2021; p-values are raw, as in the paper.

    The difference is that of the naive means (MRR). The coverage test stands beside the outcomes, where the paper leaves it
    to the reader.
    """
    naive = comparison.naive.pvalues
    row = cells_of(comparison, "A=baseline", "B=contender", "delta=naive.difference")
    row |= {"naive_wrs_p": naive["ranksum"], "naive_wsr_p": naive["wilcoxon"], "naive_t_p": naive["t"]}
    row |= cells_of(
        comparison, "neither=outcomes.shares.neither", "a_wins=outcomes.shares.lost", "b_wins=outcomes.shares.won",
        "coverage_p=coverage.pvalue", "both=outcomes.shares.both",
    )  # fmt: skip
    for measure, facet in zip(measures_of(comparison), (comparison.ranking, comparison.reciprocal), strict=True):
        if facet is not None:
            name = measure.lower().replace(" ", "_")
            row |= {
                f"a_{name}": facet.baseline,
                f"b_{name}": facet.contender,
                f"{name}_wsr_p": facet.pvalues["wilcoxon"],
                f"{name}_t_p": facet.pvalues["t"],
            }
    return row | {"verdict": comparison.verdict.label}


_ORDERS: dict[str, Callable[[Comparison], Any]] = {
    "verdict": lambda item: LABELS.index(item.verdict.label),
    "coverage": lambda item: -item.coverage.gain,
    "ranking": lambda item: -item.ranking.gain,
    "name": lambda item: item.contender,
}
