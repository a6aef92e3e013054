"""Which of the four outcomes a query had, beside a baseline."""

from typing import TYPE_CHECKING, Any, get_args

from ir_measures.measures import ParamInfo

from ir_outcomes.choices import OUTCOMES, Unit
from ir_outcomes.errors import ParameterError
from ir_outcomes.measures.base import (
    BASELINE_PARAMS,
    CUTOFF_PARAMS,
    SearchLengthMeasure,
    found_by_both,
)

if TYPE_CHECKING:
    from ir_outcomes.evaluation.lengths import SearchLengths


class _Outcome(SearchLengthMeasure):
    """Whether a query had one of the four outcomes: 1 or 0.

    Higher is better for "won" and "both", lower for the others. Under ``unit="document"`` it is the
    share of the query's relevant documents that had the outcome. An unanswerable query counts as
    "neither", because a measure has to score every query; `ir_outcomes.compare` leaves it out.

    References
    ----------
    Lin et al. 2021, section 4: neither is (1), lost is "A wins", won is "B wins", both is (3) of
    Table 2.
    """

    NAME = __name__ = "Outcome"
    DEFAULT = 0.0
    SUPPORTED_PARAMS = {
        **CUTOFF_PARAMS,
        "baseline": BASELINE_PARAMS["baseline"],
        "case": ParamInfo(dtype=str, required=False, choices=OUTCOMES, desc="which outcome"),
        "unit": ParamInfo(
            dtype=str, default="query", choices=get_args(Unit), desc="what is found or not"
        ),
    }

    _example = "Outcome(baseline='bm25',case='won')@100"

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.HIGHER_IS_BETTER = self.params.get("case") not in ("neither", "lost")

    def validate_params(self) -> None:
        super().validate_params()
        if "case" not in self.params:
            raise ParameterError(
                f"{self}: case is missing; it is one of {', '.join(OUTCOMES)}: write"
                f" {self._example}"
            )

    def values_against(self, baseline: "SearchLengths", contender: "SearchLengths") -> Any:
        import numpy as np

        from ir_outcomes.evaluation.lengths import means_by_query

        query, lengths = found_by_both(baseline, contender, self["unit"])
        had_it = np.array([1, 2]) @ ~np.isnan(lengths) == OUTCOMES.index(self["case"])
        shares = means_by_query(query, had_it, len(baseline.query_ids))
        return np.where(np.isnan(shares), float(self["case"] == "neither"), shares)


Outcome = _Outcome()
