"""What a run looks like as it was read, for notes and stops."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ir_outcomes.choices import Bools, Ints
from ir_outcomes.evaluation.ranking import Bytes


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What a run looks like as it was read; no measure depends on it.

    Attributes
    ----------
    listed : (n_queries,) bool array
        Whether the run holds the query at all.
    reordered : (n_queries,) bool array
        Whether the first relevant document would have another rank if ties stayed in the order of
        the input.
    against_ranks : (n_queries,) bool array
        Whether a document scores higher than one with a smaller rank, where the run has ranks.
    rising : (n_queries,) bool array
        Whether scores rise from one rank to the next, more than nine times as often as they fall.
    retrieves_itself, below_itself : (n_queries,) bool arrays
        Whether the run returned the document whose id is the query's own, and whether a relevant
        document stands below it.
    unjudged : (n_queries,) uint8 array
        Unjudged documents among the first 10.
    digests : (n_queries, 16) uint8 array
        First bytes of SHA-256 of the document ids of the query's whole list, in their order: what
        makes two runs identical.
    ignored : tuple of str
        Queries of the run that the qrels lack.
    unknown_ids : str
        What to know about the ids of a run of which the qrels have no query, or no document in
        whichever query; else empty.
    equal_scores : float
        Share of the queries with several documents in which all of them have the same score.
    longest : int
        Length of the longest list of any query of the qrels.
    """

    listed: Bools
    reordered: Bools
    against_ranks: Bools
    rising: Bools
    retrieves_itself: Bools
    below_itself: Bools
    unjudged: Bytes
    digests: Bytes
    ignored: tuple[str, ...]
    unknown_ids: str
    equal_scores: float
    longest: int

    def restrict(self, queries: Ints) -> Self:
        """Return the same of some queries; what is said of the whole run stays."""
        arrays: dict[str, Any] = {
            name: value[queries]
            for name, value in vars(self).items()
            if isinstance(value, np.ndarray)
        }
        return replace(self, **arrays)
