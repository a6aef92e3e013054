"""ESL, ASL and Answered as ir_measures measures: names, parameters, defaults; the values come from `SearchLengths`."""

from __future__ import annotations

import math
from typing import Any, get_args

from ir_measures.measures import Measure, ParamInfo
from ir_measures.measures.base import MeanAgg

from ir_outcomes.checks import check_positive
from ir_outcomes.errors import ParameterError
from ir_outcomes.lengths import Missing, SearchLengths
from ir_outcomes.ranking import Ties

__all__ = ["ASL", "ESL", "Answered", "SearchLengthMeasure"]


class _MeanOfDefined(MeanAgg):
    """Mean of the values that are defined; NaN where none is."""

    def add(self, value: float) -> None:
        if not math.isnan(value):
            super().add(value)


_SHARED: dict[str, ParamInfo] = {
    "cutoff": ParamInfo(dtype=int, required=False, desc="ranking cutoff: ranks beyond it do not count"),
    "rel": ParamInfo(dtype=int, default=1, desc="minimum grade of a relevant document"),
    "judged_only": ParamInfo(dtype=bool, default=False, desc="remove unjudged documents before ranks are counted"),
    "ties": ParamInfo(dtype=str, default="trec", choices=get_args(Ties), desc="order among equal scores"),
}
_NEED = ParamInfo(dtype=int, default=1, desc="how many relevant documents have to be met")


class SearchLengthMeasure(Measure):
    """What the three measures share: parameters are checked on construction, and a mean skips undefined values."""

    HIGHER_IS_BETTER: bool

    def __init__(self, **params: Any) -> None:
        unknown = params.keys() - self.SUPPORTED_PARAMS.keys()
        if unknown:
            known = ", ".join(self.SUPPORTED_PARAMS)
            raise ParameterError(f"{self.NAME} has no parameter {', '.join(sorted(unknown))}; it has {known}")
        # In one order, because ir_measures tells measures apart by their text.
        super().__init__(**{name: self._checked(name, params[name]) for name in self.SUPPORTED_PARAMS if name in params})
        self.DEFAULT = self._without_results()

    def _checked(self, name: str, value: Any) -> Any:
        info = self.SUPPORTED_PARAMS[name]
        if info.dtype is int:
            check_positive(f"{self.NAME}: {name}", value)
            return int(value)
        allowed = (False, True) if info.dtype is bool else info.choices
        if not isinstance(value, info.dtype) or value not in allowed:
            raise ParameterError(f"{self.NAME}: {name}={value!r}: must be one of {', '.join(map(repr, allowed))}")
        return value

    def validate_params(self) -> None:
        """Check what depends on more than one parameter; called by ir_measures before use."""

    @property
    def cutoff(self) -> int | None:
        """The cutoff, or None."""
        cutoff: int | None = self.params.get("cutoff")
        return cutoff

    def _needs_cutoff(self, name: str) -> None:
        if self.cutoff is None:
            raise ParameterError(f"{self}: {name}={self[name]!r} needs a cutoff: write {self}@100")

    def _without_results(self) -> float:
        raise NotImplementedError

    def values(self, lengths: SearchLengths) -> Any:
        """Compute the (n_queries,) array of this measure's values, in the order of the qrels."""
        raise NotImplementedError

    def aggregator(self) -> _MeanOfDefined:
        """Return what ir_measures averages with: undefined values are skipped."""
        return _MeanOfDefined()


class _ESL(SearchLengthMeasure):
    """Expected search length: the rank of the first relevant document. Lower is better.

    Undefined (NaN) for an unanswered query, and left out of the mean; show `Answered` beside it. Cooper (1968) and van
    Rijsbergen count only the non-relevant documents read; this counts the relevant ones too, so the best value is 1.

    References
    ----------
    Lin et al. 2021, section 4; Cooper 1968.
    """

    __name__ = "ESL"
    NAME = __name__
    PRETTY_NAME = "Expected Search Length"
    SHORT_DESC = "The rank of the first relevant document (lower is better; undefined where there is none)."
    HIGHER_IS_BETTER = False
    SUPPORTED_PARAMS = {
        **_SHARED,
        "need": _NEED,
        "unanswered": ParamInfo(
            dtype=str,
            default="undefined",
            choices=("undefined", "cutoff+1"),
            desc="value of an unanswered query: undefined (NaN), or the smallest rank still possible",
        ),
    }

    def validate_params(self) -> None:
        if self["unanswered"] == "cutoff+1":
            self._needs_cutoff("unanswered")

    def _without_results(self) -> float:
        if self["unanswered"] == "undefined" or self.cutoff is None:
            return math.nan
        return float(self.cutoff + 1)

    def values(self, lengths: SearchLengths) -> Any:
        esl = lengths.esl(self["need"])
        esl[lengths.answered(self["need"]) == 0] = self._without_results()
        return esl


class _ASL(SearchLengthMeasure):
    """Atomized search length: mean over the relevant documents of irrelevant documents above, plus 1. Lower is better.

    Neither Losee's average search length nor Sakai's achieved significance level. Under ``missing="retrieved"``, equation 3
    as printed, short lists look good; compare runs with ``missing="cutoff"``.

    References
    ----------
    Alex et al. 2022, equations 1 to 5.
    """

    __name__ = "ASL"
    NAME = __name__
    PRETTY_NAME = "Atomized Search Length"
    SHORT_DESC = "The mean over the relevant documents of irrelevant documents above, plus 1 (lower is better)."
    HIGHER_IS_BETTER = False
    SUPPORTED_PARAMS = {
        **_SHARED,
        "first": ParamInfo(dtype=int, required=False, desc="only the n best-ranked relevant documents (ASL@g1-n)"),
        "missing": ParamInfo(
            dtype=str,
            default="retrieved",
            choices=get_args(Missing),
            desc="length of a relevant document not found: the irrelevant documents retrieved, or just behind the cutoff",
        ),
    }

    def validate_params(self) -> None:
        if self["missing"] == "cutoff":
            self._needs_cutoff("missing")

    def _without_results(self) -> float:
        if self["missing"] == "retrieved" or self.cutoff is None:
            return math.inf
        return float(self.cutoff + 1)

    def values(self, lengths: SearchLengths) -> Any:
        return lengths.asl(self.params.get("first"), self["missing"])


class _Answered(SearchLengthMeasure):
    """Whether a relevant document is within the cutoff: 1 or 0. Higher is better.

    References
    ----------
    Lin et al. 2021, section 4.
    """

    __name__ = "Answered"
    NAME = __name__
    PRETTY_NAME = "Answered"
    SHORT_DESC = "1 if a relevant document is within the cutoff, else 0."
    HIGHER_IS_BETTER = True
    SUPPORTED_PARAMS = {**_SHARED, "need": _NEED}

    def _without_results(self) -> float:
        return 0.0

    def values(self, lengths: SearchLengths) -> Any:
        return lengths.answered(self["need"])


ESL = _ESL()
ASL = _ASL()
Answered = _Answered()
