"""The outcome split: what two runs did with each query, and the per-query numbers of both facets.

*Items* are what gets answered: queries (``unit="query"``), or the atoms of `SearchLengths` (``unit="document"``), averaged
within their query, so that each query weighs the same. With one relevant document per query the two are the same arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress

import numpy as np
import numpy.typing as npt

from ir_outcomes._types import Unit
from ir_outcomes.evaluation.items import OUTCOMES, match
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.results import Immutable

__all__ = ["OUTCOMES", "Outcomes", "Split", "split"]

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outcomes(Immutable):
    """How many queries (or relevant documents) had each outcome.

    Attributes
    ----------
    neither, lost, won, both : int
        Found by neither run; by the baseline only; by the contender only; by both. Counts of queries, or of relevant
        documents under ``unit="document"``.
    fractions : dict of str to float
        Share of each outcome, averaged within each query first; the four sum to 1 (empty where no query is answerable).

    References
    ----------
    Lin et al. 2021, section 4: neither is (1), lost is "A wins", won is "B wins", both is (3) of Table 2.
    """

    neither: int
    lost: int
    won: int
    both: int
    fractions: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Split:
    """Per-query numbers of a pair of runs, over the answerable queries.

    Attributes
    ----------
    query_ids : tuple of str
        The answerable queries, in the order of the qrels.
    outcomes : Outcomes
        Counts and shares.
    found_baseline, found_contender : (n,) float arrays
        Share of the query's items found, between 0 and 1, higher is better.
    shared : (n,) bool array
        Whether both runs found at least one same item: the queries of the ranking facet.
    length_baseline, length_contender : (n,) float arrays
        Mean search length over the items that both found, or where there are none over those the run found itself; ranks,
        lower is better; NaN where the run found nothing.
    reciprocal_baseline, reciprocal_contender : (n,) float arrays
        The same of reciprocal search lengths, higher is better.
    measure : str or None
        None for search lengths; the name of another measure whose values stand in the place of lengths.
    higher_is_better : bool
        Direction of the lengths, or of that measure.
    """

    query_ids: tuple[str, ...]
    outcomes: Outcomes
    found_baseline: _Floats
    found_contender: _Floats
    shared: npt.NDArray[np.bool_]
    length_baseline: _Floats
    length_contender: _Floats
    reciprocal_baseline: _Floats
    reciprocal_contender: _Floats
    measure: str | None = None
    higher_is_better: bool = False


def split(baseline: SearchLengths, contender: SearchLengths, unit: Unit) -> Split:
    """Split the answerable queries by outcome.

    Parameters
    ----------
    baseline, contender : SearchLengths
        Made with the same qrels and settings.
    unit : {"query", "document"}
        Whether a query's first relevant document or each of its relevant documents is an item.

    Raises
    ------
    MismatchError
        If the two were not made alike.

    References
    ----------
    Lin et al. 2021, section 4; for documents joined with Alex et al. 2022, equations 1 and 2.
    """
    items = match(baseline, contender, unit)
    answerable = baseline.answerable
    query_ids = tuple(compress(baseline.query_ids, answerable.tolist()))
    lengths, found, query = items.lengths, items.found, (np.cumsum(answerable) - 1)[items.query]
    both = found[0] & found[1]

    def per_query(values: npt.NDArray[np.generic], counted: npt.NDArray[np.bool_]) -> _Floats:
        totals = np.bincount(query[counted], weights=values[counted], minlength=len(query_ids))
        numbers = np.bincount(query[counted], minlength=len(query_ids))
        means: _Floats = np.divide(totals, numbers, out=np.full(len(query_ids), np.nan), where=numbers > 0)
        return means

    every = np.ones(len(query), dtype=bool)
    code = items.outcome
    fractions = {name: float(per_query(code == each, every).mean()) for each, name in enumerate(OUTCOMES) if len(query_ids)}
    shared = np.bincount(query[both], minlength=len(query_ids)) > 0
    # Lengths over what both found, where there is such a thing; else over what the run found itself.
    counted = [both | (one & ~shared[query]) for one in found]
    means = [per_query(length, count) for length, count in zip(lengths, counted, strict=True)]
    reciprocals = [per_query(1 / length, count) for length, count in zip(lengths, counted, strict=True)]
    return Split(
        query_ids=query_ids,
        outcomes=Outcomes(**dict(zip(OUTCOMES, np.bincount(code, minlength=4).tolist(), strict=True)), fractions=fractions),
        found_baseline=per_query(found[0], every),
        found_contender=per_query(found[1], every),
        shared=shared,
        length_baseline=means[0],
        length_contender=means[1],
        reciprocal_baseline=reciprocals[0],
        reciprocal_contender=reciprocals[1],
    )
