"""What `compare` returns: frozen results that carry the settings and versions that made them, and survive JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

from ir_outcomes.comparison.facets import Facet, Naive
from ir_outcomes.comparison.outcomes import Outcomes
from ir_outcomes.comparison.settings import Settings
from ir_outcomes.comparison.verdict import LABELS, Verdict
from ir_outcomes.errors import ParameterError
from ir_outcomes.results import plain
from ir_outcomes.statistics import Interval, Test

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
        Search length on what both found, or where there is nothing such on what the run found itself; ranks, lower is
        better; None where it found nothing.
    difference : float or None
        Contender minus baseline, where both found something in common.
    text : str or None
        The query's text, where it is known.
    """

    query_id: str
    outcome: str
    found_baseline: float
    found_contender: float
    baseline: float | None
    contender: float | None
    difference: float | None
    text: str | None = None


class _Shown:
    """What a comparison and a list of them have in common: the ways to show them.

    Showing is the last room of the house; it is entered only when something is to be shown.
    """

    def _items(self) -> tuple[Comparison, ...]:
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each comparison; the columns are those of the CSV."""
        from ir_outcomes.showing.tables import as_frame, row_of

        return as_frame(map(row_of, self._items()))

    def to_csv(self) -> str:
        """Return CSV with a row for each comparison."""
        from ir_outcomes.showing.tables import as_csv, row_of

        return as_csv([row_of(item) for item in self._items()])

    def to_latex(self) -> str:
        r"""Return a LaTeX table with the columns of Table 2 of Lin et al. 2021; needs ``\usepackage{booktabs}``."""
        from ir_outcomes.showing.tables import as_latex

        return as_latex(self._items())

    def to_html(self) -> str:
        """Return an HTML table with sentences and notes; everything is escaped."""
        from ir_outcomes.showing.tables import as_html

        return as_html(self._items())

    def _repr_html_(self) -> str:
        return self.to_html()

    def plot(self, kind: str = "facets", ax: Any = None) -> Any:
        """Draw a picture with matplotlib.

        Parameters
        ----------
        kind : {"facets", "outcomes", "ranks", "differences"}
            Change of coverage against change of ranking; shares of the outcomes; search length against search length; the
            histogram of their differences. The last two are for a single comparison.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure, which is ``.figure`` of what is returned.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        MissingDependency
            If matplotlib is not installed.
        """
        from ir_outcomes.showing.plots import plot

        return plot(self, kind, ax)


@dataclass(frozen=True)
class Comparison(_Shown):
    """A contender against a baseline: outcomes, both facets, and the verdict.

    Attributes
    ----------
    baseline, contender : str
        Names of the runs. Every difference is contender minus baseline.
    n_queries : int
        Answerable queries: those that are compared.
    n_unanswerable : int
        Queries of the qrels without a relevant document: left out.
    settings : Settings
        How it was made.
    outcomes : Outcomes
        The split.
    coverage : Facet
        Queries answered (or relevant documents found), percentage points, higher is better.
    ranking : Facet
        Mean search length on what both found, ranks, lower is better.
    reciprocal_rank : Facet or None
        The same on reciprocals, higher is better; it decides nothing. None where another measure than a rank was compared.
    naive : Naive
        Standard tests on reciprocal rank over all answerable queries: what the framework replaces.
    verdict : Verdict
        The two-facet verdict.
    notes : tuple of str
        What a careful reader must know.
    versions : dict of str to str
        Of ir_outcomes, NumPy, SciPy and Python.
    queries : tuple of QueryOutcome, optional
        Query by query; absent where the result was read from JSON without them.
    """

    baseline: str
    contender: str
    n_queries: int
    n_unanswerable: int
    settings: Settings
    outcomes: Outcomes
    coverage: Facet
    ranking: Facet
    reciprocal_rank: Facet | None
    naive: Naive
    verdict: Verdict
    notes: tuple[str, ...]
    versions: dict[str, str]
    queries: tuple[QueryOutcome, ...] | None = field(default=None, repr=False, compare=False)

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
        """Least grade of a relevant document."""
        return self.settings.rel

    @property
    def ties(self) -> str:
        """Ranking rule."""
        return self.settings.ties

    @property
    def alpha(self) -> float:
        """Level of tests, intervals and verdict."""
        return self.settings.alpha

    def per_query(self, which: str | None = None, top: int | None = None) -> list[QueryOutcome]:
        """List the queries: which did I win, which did I lose.

        Parameters
        ----------
        which : {"won", "lost", "better", "worse"}, optional
            Only queries where the contender found more or less, or ranked what both found better or worse; the largest
            change first (for won and lost: the best-ranked answer first). By default all, in the order of the qrels.
        top : int, optional
            At most so many.

        Raises
        ------
        ParameterError
            If `which` is something else, or the result holds no queries.
        """
        if self.queries is None:
            raise ParameterError("this result was stored without its queries; write it with to_json(per_query=True)")
        chosen = list(self.queries)
        if which in ("won", "lost"):
            finder = "contender" if which == "won" else "baseline"
            chosen = [query for query in chosen if query.outcome == which]
            chosen.sort(key=lambda query: getattr(query, finder))
        elif which in ("better", "worse"):
            sign = 1 if which == "worse" else -1
            chosen = [query for query in chosen if sign * (query.difference or 0) > 0]
            chosen.sort(key=lambda query: -abs(query.difference or 0))
        elif which is not None:
            raise ParameterError(f"which={which!r}: must be one of {', '.join(WHICH)}")
        return chosen[:top]

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return everything as plain dicts, lists, text and numbers; `per_query` adds the queries."""
        result: dict[str, Any] = plain(self)
        if not per_query:
            del result["queries"]
        return result

    def to_json(self, *, per_query: bool = False, indent: int | None = None) -> str:
        """Return `to_dict` as JSON: no NaN, no infinity."""
        return json.dumps(self.to_dict(per_query=per_query), ensure_ascii=False, allow_nan=False, indent=indent)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        """Rebuild what `to_dict` returned."""
        margins = data["settings"]["margins"]
        queries = data.get("queries")
        return cls(
            baseline=data["baseline"],
            contender=data["contender"],
            n_queries=data["n_queries"],
            n_unanswerable=data["n_unanswerable"],
            settings=Settings(**{**data["settings"], "margins": tuple(margins) if margins else None}),
            outcomes=Outcomes(**data["outcomes"]),
            coverage=_facet(data["coverage"]),
            ranking=_facet(data["ranking"]),
            reciprocal_rank=None if data["reciprocal_rank"] is None else _facet(data["reciprocal_rank"]),
            naive=Naive(**{**data["naive"], "tests": _tests(data["naive"]["tests"])}),
            verdict=Verdict(**data["verdict"]),
            notes=tuple(data["notes"]),
            versions=dict(data["versions"]),
            queries=None if queries is None else tuple(QueryOutcome(*query) for query in queries),
        )

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """Rebuild what `to_json` returned."""
        return cls.from_dict(json.loads(text))

    def _items(self) -> tuple[Comparison, ...]:
        return (self,)

    def __str__(self) -> str:
        from ir_outcomes.showing.text import comparison_text

        return comparison_text(self)


@dataclass(frozen=True)
class Comparisons(_Shown):
    """Several comparisons, in the order the runs were given.

    The baseline's search length differs from row to row: each contender has its own set of queries that both answered.

    Attributes
    ----------
    items : tuple of Comparison
        One for each contender, or for each pair; the p-values that decide are corrected over all of them.
    """

    items: tuple[Comparison, ...]

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
            return Comparisons(self.items[key])
        if isinstance(key, int):
            return self.items[key]
        for item in self.items:
            if item.contender == key:
                return item
        raise KeyError(f"{key}; the contenders are {', '.join(item.contender for item in self.items)}")

    def sorted(self, by: str = "verdict") -> Comparisons:
        """Order the comparisons, best first.

        Parameters
        ----------
        by : {"verdict", "coverage", "ranking", "name"}
            The verdict, as in the order of `ir_outcomes.comparison.verdict.LABELS` but with the worse ones last; the change of
            a facet; or the contender's name.

        Raises
        ------
        ParameterError
            If `by` is something else.
        """
        if by not in _ORDERS:
            raise ParameterError(f"by={by!r}: must be one of {', '.join(_ORDERS)}")
        return Comparisons(tuple(sorted(self.items, key=_ORDERS[by])))

    def filter(self, *labels: str) -> Comparisons:
        """Keep the comparisons with one of these verdicts.

        Raises
        ------
        ParameterError
            If a label is none of `ir_outcomes.comparison.verdict.LABELS`.
        """
        unknown = [label for label in labels if label not in LABELS]
        if unknown:
            raise ParameterError(f"no verdict is called {unknown[0]!r}; they are {', '.join(LABELS)}")
        return Comparisons(tuple(item for item in self.items if item.verdict.label in labels))

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return everything as plain dicts, lists, text and numbers."""
        return {"comparisons": [item.to_dict(per_query=per_query) for item in self.items]}

    def to_json(self, *, per_query: bool = False, indent: int | None = None) -> str:
        """Return `to_dict` as JSON: no NaN, no infinity."""
        return json.dumps(self.to_dict(per_query=per_query), ensure_ascii=False, allow_nan=False, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Comparisons:
        """Rebuild what `to_json` returned."""
        return cls(tuple(Comparison.from_dict(item) for item in json.loads(text)["comparisons"]))

    def _items(self) -> tuple[Comparison, ...]:
        return self.items

    def __str__(self) -> str:
        from ir_outcomes.showing.text import comparisons_text

        return comparisons_text(self)


_FROM_BEST = (LABELS[0], LABELS[1], LABELS[5], LABELS[4], LABELS[3], LABELS[2])


def _gain(facet: Facet) -> float:
    return (facet.difference or 0.0) * (1 if facet.higher_is_better else -1)


_ORDERS: dict[str, Callable[[Comparison], Any]] = {
    "verdict": lambda item: _FROM_BEST.index(item.verdict.label),
    "coverage": lambda item: -_gain(item.coverage),
    "ranking": lambda item: -_gain(item.ranking),
    "name": lambda item: item.contender,
}


def _facet(data: Mapping[str, Any]) -> Facet:
    intervals = {name: data[name] and Interval(*data[name]) for name in ("interval", "ratio_interval")}
    return Facet(**{**data, **intervals, "tests": _tests(data["tests"])})


def _tests(data: Mapping[str, Any]) -> dict[str, Test]:
    return {name: Test(**test) for name, test in data.items()}
