"""The result of the analyses of the tail: a table of numbers, and the settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

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
    analysis : str
        Which of the five functions computed it, with hyphens.
    runs : tuple of str
        The runs in the order of the table, or baseline and contender.
    table : tuple of mapping of str to str, int, float or None
        Rows of exact values.
    settings : TailSettings or None
        None for published means and for measures that were named, which say their settings.
    edges : tuple of int
        The least search length of each bucket, or size of a change; the last of lengths is the end.
    n_documents, n_queries : int
        Relevant documents, and queries that have any.
    mean_change : float or None
        Of length changes: the difference of ASL, contender minus baseline, in irrelevant documents
        above a relevant one, lower is better.
    """

    analysis: Literal["length-distributions", "length-changes", "rrie", "headroom", "reordering"]
    runs: tuple[str, ...]
    table: tuple[Mapping[str, str | int | float | None], ...]
    settings: TailSettings | None = None
    edges: tuple[int, ...] = ()
    n_documents: int = 0
    n_queries: int = 0
    mean_change: float | None = None

    def rows(self) -> list[dict[str, Any]]:
        """The table as flat rows."""
        return list(map(dict, self.table))


@dataclass(frozen=True)
class TailHistogram(HasFigures, TailResult, Result):
    """Counts of documents or queries by size, which are drawn as bars.

    The figures are "changes" of lengths (Figure 6) and "headroom" (Figures 1 to 4).
    """
