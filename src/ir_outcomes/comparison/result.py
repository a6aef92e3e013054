"""What `compare` returns."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self, overload

from ir_outcomes.choices import LENGTHS, Direction, Positive
from ir_outcomes.comparison.columns import columns_of, paper_columns, query_columns
from ir_outcomes.errors import ParameterError
from ir_outcomes.notes import Note
from ir_outcomes.pairs.outcomes import Outcomes, QueryOutcome
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.rules import Settings
from ir_outcomes.pairs.verdict import Verdict, direction_of
from ir_outcomes.results import OPTIONAL, HasFigures, HasPage, Result
from ir_outcomes.table_columns import Column, rows_of

Which = Literal["won", "lost", "better", "worse"]  # queries that are listed


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
        """One flat row for each query."""
        return rows_of(query_columns(self.measured_in), self.items)


class CutoffLabel(NamedTuple):
    """The label that the same comparison has at another cutoff."""

    cutoff: int
    label: str

    @property
    def direction(self) -> Direction:
        """Direction of the label for the contender."""
        return direction_of(self.label)


class SystemRun(NamedTuple):
    """What one run of a system that has several shows by itself."""

    system: str
    run: str
    coverage: float | None  #: contender minus baseline, in percentage points
    ranking: float | None  #: contender minus baseline, on what both found
    all_queries: float | None  #: contender minus baseline; None where it is not known
    measures: tuple[float | None, ...]  #: contender minus baseline, of the measures asked for


@dataclass(frozen=True, repr=False)
class Comparison(HasFigures, HasPage, Result):
    """A contender against a baseline: outcomes, rows, and the verdict.

    The figures are "facets" and "changes".

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
    coverage, ranking : Row
        Queries answered or relevant documents found, in percentage points; mean search length on
        what both found, in ranks or irrelevant documents above.
    all_queries : Row or None
        The row that gives the direction: by query ESL(unanswered="cutoff+1")@k, by document
        ASL(missing="cutoff")@k, or the mean of another measure; None where k is not known.
    naive, reciprocal : Row
        Reciprocal ranks over all answerable queries and on what both found, with the tests of
        Tables 1 and 2 of Lin et al. 2021; they decide nothing. Values of another measure have no
        `reciprocal`.
    cutoffs : tuple of CutoffLabel
        The label at other cutoffs, ascending, not corrected for their number; empty where they are
        not known.
    verdict : Verdict
        The two-facet verdict.
    measures : tuple of Row
        The measures that were asked for, corrected like the other rows; they decide on no label.
    notes, background : tuple of Note
        What changes how the label is read, the most important first; and what else a careful reader
        may want to know.
    versions : mapping of str to str
        Of ir_outcomes, NumPy, SciPy and Python.
    identical : bool
        Whether both runs have the same documents in the same order for every query, and no row
        differs; False where lists are not known.
    n_runs : pair of int
        Numbers of runs of the baseline and of the contender. With several, outcomes count pairs of
        runs and queries, and what is said of a query is the mean over these pairs.
    runs : tuple of SystemRun
        What each run of a system that has several shows by itself.
    queries : sequence of QueryOutcome, optional
        Query by query; None where the result was restored from JSON without them.
    """

    baseline: str
    contender: str
    n_queries: int
    n_unanswerable: int
    n_missing: tuple[int, int]
    settings: Settings
    outcomes: Outcomes
    coverage: Row
    ranking: Row
    all_queries: Row | None
    naive: Row
    reciprocal: Row | None
    cutoffs: tuple[CutoffLabel, ...]
    verdict: Verdict
    measures: tuple[Row, ...] = ()
    background: tuple[Note, ...] = ()
    identical: bool = False
    n_runs: tuple[int, int] = (1, 1)
    runs: tuple[SystemRun, ...] = ()
    queries: Sequence[QueryOutcome] | None = field(default=None, compare=False, metadata=OPTIONAL)

    @property
    def unit(self) -> str:
        """What is answered or not: "query" or "document"."""
        return self.settings.unit

    @property
    def cutoff(self) -> int | None:
        """Ranks beyond it do not count. None where it is not known."""
        return self.settings.cutoff

    @property
    def rel(self) -> int | None:
        """Smallest grade of a relevant document, None where it is not known."""
        return self.settings.rel

    @property
    def ties(self) -> str:
        """Order among equal scores."""
        return self.settings.ties

    @property
    def alpha(self) -> float:
        """Level of p-values, intervals and verdict."""
        return self.settings.alpha

    @property
    def systems(self) -> tuple[tuple[str, int], ...]:
        """The names of baseline and contender, each with its number of runs."""
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
    def deciding(self) -> tuple[Row, ...]:
        """The rows that the label is made from."""
        return tuple(row for row in self._possible if row.n)

    @property
    def with_margins(self) -> tuple[Row, ...]:
        """The rows with a margin, also one without a query, of which no harm is excluded."""
        return tuple(row for row in self._possible if row.margin is not None)

    @property
    def _possible(self) -> tuple[Row, ...]:
        rows = (self.coverage, self.ranking, self.all_queries)
        return tuple(row for row in rows if row is not None)

    @property
    def parts(self) -> tuple[Row, ...]:
        """The rows of its table: those that decide, and the measures that were asked for."""
        return (*self.deciding, *self.measures)

    def row(self, name: str) -> Row | None:
        """The row of this name, None where there is none."""
        rows = (*self._possible, *self.measures)
        return next((row for row in rows if row.name == name), None)

    def per_query(self, which: Which | None = None, top: Positive | None = None) -> Queries:
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
        """One flat row: a value for each column, None where there is none."""
        return rows_of(columns_of([self]), [self])

    def paper_table(self) -> "PaperTable":
        """Return the columns of Tables 1 and 2 of Lin et al. 2021."""
        return PaperTable((self,))


@dataclass(frozen=True, repr=False)
class Comparisons(HasFigures, HasPage, Result, Sequence[Comparison]):
    """Several comparisons, in the order in which the runs were given.

    The baseline's search length differs from row to row: each contender has its own set of queries
    that both answered. The figure is "facets".

    Attributes
    ----------
    items : tuple of Comparison
        One for each contender; labels and findings are corrected over all of them.
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
        """One flat row for each comparison."""
        return rows_of(columns_of(self.items), self.items)

    def paper_table(self) -> "PaperTable":
        """Return the columns of Tables 1 and 2 of Lin et al. 2021."""
        return PaperTable(self.items)


@dataclass(frozen=True, repr=False)
class PaperTable(Result):
    """Comparisons with the columns of Tables 1 and 2 of Lin et al. 2021.

    Attributes
    ----------
    comparisons : tuple of Comparison
        One for each row.
    """

    comparisons: tuple[Comparison, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Outcomes in %, search lengths and p-values of the papers' tests."""
        return paper_columns(self.comparisons[0]) if self.comparisons else ()

    def rows(self) -> list[dict[str, Any]]:
        """One flat row for each comparison."""
        return rows_of(self.columns, self.comparisons)
