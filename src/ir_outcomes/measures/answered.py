"""Whether a query is answered."""

from typing import TYPE_CHECKING, Any

from ir_outcomes.measures.base import CUTOFF_PARAMS, NEED_PARAM, SearchLengthMeasure

if TYPE_CHECKING:
    from ir_outcomes.evaluation.lengths import SearchLengths


class _Answered(SearchLengthMeasure):
    """Whether a relevant document is within the cutoff: 1 or 0, higher is better.

    References
    ----------
    Lin et al. 2021, section 4.
    """

    NAME = __name__ = "Answered"
    HIGHER_IS_BETTER = True
    DEFAULT = 0.0
    SUPPORTED_PARAMS = {**CUTOFF_PARAMS, "need": NEED_PARAM}

    def values(self, lengths: "SearchLengths") -> Any:
        return lengths.answered(self["need"])


Answered = _Answered()
