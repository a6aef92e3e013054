"""The results of the analyses of the tail: tables of numbers, and the settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ir_outcomes.choices import Missing, Ties
from ir_outcomes.results import HasFigures, Result


@dataclass(frozen=True)
class TailSettings:
    """How search lengths were computed, by `ir_outcomes.evaluate`."""

    cutoff: int  #: depth of the runs
    rel: int
    ties: Ties
    judged_only: bool
    missing: Missing  #: search length of a missing document


@dataclass(frozen=True)
class TailResult(Result):
    """Numbers on all relevant documents of the runs, as Alex et al. 2022 have them.

    Attributes
    ----------
    runs : tuple of str
        The runs in the order of the table, or baseline and contender.
    table : tuple of mapping of str to str, int, float or None
        Rows of exact values.
    settings : TailSettings or None
        None for published means and for measures that were named, which say their settings.
    """

    runs: tuple[str, ...]
    table: tuple[Mapping[str, str | int | float | None], ...]
    settings: TailSettings | None

    def rows(self) -> list[dict[str, Any]]:
        """The table as flat rows."""
        return list(map(dict, self.table))


@dataclass(frozen=True)
class Reordering(TailResult):
    """How runs are reordered, step by step, by another measure (Table 2)."""


@dataclass(frozen=True)
class ErrorReduction(TailResult):
    """The relative reduction in error of a contender (Table 1)."""


@dataclass(frozen=True)
class Headroom(HasFigures, TailResult, Result):
    """Queries by what the best run leaves to gain, as in Figures 1 to 4."""


@dataclass(frozen=True)
class LengthDistributions(TailResult):
    """Relevant documents by their search length (Figure 5).

    Attributes
    ----------
    edges : tuple of int
        The least search length of each bucket; the last is the end.
    n_documents, n_queries : int
        Relevant documents, and queries that have any.
    """

    edges: tuple[int, ...]
    n_documents: int
    n_queries: int


@dataclass(frozen=True)
class LengthChanges(HasFigures, TailResult, Result):
    """Relevant documents by the change of their search length, as in Figure 6.

    Attributes
    ----------
    edges : tuple of int
        The least size of a change of each bucket.
    n_documents, n_queries : int
        Relevant documents, and queries that have any.
    mean_change : float
        The difference of ASL, contender minus baseline, in irrelevant documents above a relevant
        one, lower is better.
    """

    edges: tuple[int, ...]
    n_documents: int
    n_queries: int
    mean_change: float
