"""Atomized search length: how far one reads to each relevant document."""

import math
from typing import TYPE_CHECKING, Any, get_args

from ir_measures.measures import ParamInfo

from ir_outcomes.choices import Missing
from ir_outcomes.errors import ParameterError
from ir_outcomes.measures.base import (
    BASELINE_PARAMS,
    CUTOFF_PARAMS,
    SearchLengthMeasure,
    mean_of_both,
)

if TYPE_CHECKING:
    from ir_outcomes.evaluation.lengths import SearchLengths


class _ASL(SearchLengthMeasure):
    """Atomized search length: irrelevant documents above the relevant ones, plus 1.

    The mean over the relevant documents of a query; lower is better. Neither Losee's average search
    length nor Sakai's achieved significance level. Under ``missing="retrieved"``, equation 3 as
    printed, short lists look good; compare runs with ``missing="cutoff"``. With a ``baseline`` it
    is restricted to the relevant documents that both runs found, and undefined where there are
    none; ``of="baseline"`` gives the baseline's value.

    References
    ----------
    Alex et al. 2022, equations 1 to 5.
    """

    NAME = __name__ = "ASL"
    HIGHER_IS_BETTER = False
    DEFAULT = math.inf
    SUPPORTED_PARAMS = {
        **CUTOFF_PARAMS,
        **BASELINE_PARAMS,
        "first": ParamInfo(
            dtype=int, required=False, desc="only the n best-ranked relevant documents (ASL@g1-n)"
        ),
        "missing": ParamInfo(
            dtype=str,
            default="retrieved",
            choices=get_args(Missing),
            desc=(
                "length of a relevant document not found: the irrelevant documents retrieved, or"
                " just behind the cutoff"
            ),
        ),
    }

    _only_alone = ("first", "missing")
    _fills_up = ("missing", "cutoff")

    def for_comparison(self) -> SearchLengthMeasure:
        """The measure with ``missing="cutoff"``."""
        # Equation 3 as printed makes short lists look good. With a baseline only what both runs
        # found counts.
        if "missing" in self.params or self.baseline is not None:
            return self
        if self.cutoff is None:
            raise ParameterError(
                f"{self} compares runs of any depth; write ASL(missing='cutoff')@k with the depth"
                " that all runs share, or ASL(missing='retrieved') for equation 3 of Alex et al."
                " as printed"
            )
        return type(self)(**self.params, missing="cutoff")

    def values(self, lengths: "SearchLengths") -> Any:
        return lengths.asl(self.params.get("first"), self["missing"])

    def values_against(self, baseline: "SearchLengths", contender: "SearchLengths") -> Any:
        return mean_of_both(baseline, contender, "document", self["of"])


ASL = _ASL()
