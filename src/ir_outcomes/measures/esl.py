"""Expected search length: how far one reads to the first relevant document."""

from typing import TYPE_CHECKING, Any

from ir_measures.measures import ParamInfo

from ir_outcomes.measures.base import (
    BASELINE_PARAMS,
    CUTOFF_PARAMS,
    NEED_PARAM,
    SearchLengthMeasure,
    mean_of_both,
)

if TYPE_CHECKING:
    from ir_outcomes.evaluation.lengths import SearchLengths


class _ESL(SearchLengthMeasure):
    """Expected search length: rank of the first relevant document, lower is better.

    Undefined (NaN) for an unanswered query, and left out of the mean; show `Answered` beside it.
    Cooper (1968) and van Rijsbergen count only the non-relevant documents read; this counts the
    relevant ones too, so the best value is 1. With a ``baseline`` it is restricted to the queries
    that both runs answered; ``of="baseline"`` gives the baseline's value there.

    References
    ----------
    Lin et al. 2021, section 4; Cooper 1968.
    """

    NAME = __name__ = "ESL"
    HIGHER_IS_BETTER = False
    SUPPORTED_PARAMS = {
        **CUTOFF_PARAMS,
        "need": NEED_PARAM,
        **BASELINE_PARAMS,
        "unanswered": ParamInfo(
            dtype=str,
            default="undefined",
            choices=("undefined", "cutoff+1"),
            desc=(
                "value of an unanswered query: undefined (NaN), or the smallest rank still possible"
            ),
        ),
    }

    _only_alone = ("unanswered",)
    _fills_up = ("unanswered", "cutoff+1")

    def values(self, lengths: "SearchLengths") -> Any:
        esl = lengths.esl(self["need"])
        esl[lengths.answered(self["need"]) == 0] = self.DEFAULT
        return esl

    def values_against(self, baseline: "SearchLengths", contender: "SearchLengths") -> Any:
        return mean_of_both(baseline, contender, "query", self["of"], self["need"])


ESL = _ESL()
