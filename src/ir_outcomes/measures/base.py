"""What the measures share: their parameters, and means that skip undefined values.

Values come from `SearchLengths`, of one run or of two. ir_measures tells measures apart by their
text, so a baseline is given by its name. Nothing here imports NumPy before a value is computed.
"""

import math
from typing import TYPE_CHECKING, Any, get_args

from ir_measures.measures import Measure, ParamInfo
from ir_measures.measures.base import MeanAgg

from ir_outcomes.arguments import check_argument, check_one_order
from ir_outcomes.choices import Positive, Ties, Unit
from ir_outcomes.errors import ParameterError, shortened

if TYPE_CHECKING:
    from ir_outcomes.evaluation.lengths import SearchLengths
    from ir_outcomes.reading.runs import Run

CUTOFF_PARAMS = {
    "cutoff": ParamInfo(
        dtype=int, required=False, desc="ranking cutoff: ranks beyond it do not count"
    ),
    "rel": ParamInfo(dtype=int, default=1, desc="minimum grade of a relevant document"),
    "judged_only": ParamInfo(
        dtype=bool,
        default=False,
        choices=(False, True),
        desc="remove unjudged documents before ranks are counted",
    ),
    "ties": ParamInfo(
        dtype=str, default="trec", choices=get_args(Ties), desc="order among equal scores"
    ),
}
NEED_PARAM = ParamInfo(dtype=int, default=1, desc="how many relevant documents have to be met")
BASELINE_PARAMS = {
    "baseline": ParamInfo(
        dtype=str,
        required=False,
        desc="restrict to what this run found too: a name, irds:<id> or path",
    ),
    "of": ParamInfo(
        dtype=str,
        default="contender",
        choices=("contender", "baseline"),
        desc="with a baseline: whose value",
    ),
}


class MeanOfDefined(MeanAgg):
    """Mean of the values that are defined, NaN where none is."""

    def add(self, value: float) -> None:
        """Add a value, unless it is undefined."""
        if not math.isnan(value):
            super().add(value)


class SearchLengthMeasure(Measure):
    """A measure whose parameters are checked on construction."""

    HIGHER_IS_BETTER: bool
    DEFAULT = math.nan  # for a query without results
    CAN_BE_UNDEFINED = True  # a NaN in a file of values is no missing value

    # Parameters that a baseline makes pointless.
    _only_alone: tuple[str, ...] = ()
    # The parameter, and its value, that gives a query without results the length cutoff + 1.
    _fills_up = ("", "")
    _example = ""  # of a measure that makes no sense without a baseline

    def __init__(self, **params: Any) -> None:
        unknown = params.keys() - self.SUPPORTED_PARAMS.keys()
        if unknown:
            allowed = ", ".join(self.SUPPORTED_PARAMS)
            raise ParameterError(
                f"{self.NAME} has no parameter {', '.join(sorted(unknown))}; it has {allowed}"
            )
        # In one order, because ir_measures tells measures apart by their text.
        names = [name for name in self.SUPPORTED_PARAMS if name in params]
        super().__init__(**{name: self._checked(name, params[name]) for name in names})
        # ir_measures asks for it several times per query.
        self._text = str(super().__repr__())
        self.cutoff: int | None = self.params.get("cutoff")
        self.baseline: str | None = self.params.get("baseline")
        if self.cutoff is not None and self._fills_up in self.params.items():
            self.DEFAULT = float(self.cutoff + 1)
        if self.baseline is not None and "of" in self.SUPPORTED_PARAMS:
            self.DEFAULT = math.nan  # only what both runs found counts

    def _checked(self, name: str, value: Any) -> Any:
        info = self.SUPPORTED_PARAMS[name]
        if info.dtype is int:
            check_argument(f"{self.NAME}: {name}", value, Positive)
            return int(value)
        if not info.validate(value) or value == "":
            allowed = "a registered name, irds:<id> or a path"
            if name != "baseline":
                allowed = f"one of {str(info.choices)[1:-1]}"
            raise ParameterError(f"{self.NAME}: {name}={shortened(repr(value))}: must be {allowed}")
        return value

    def validate_params(self) -> None:
        """Check what depends on more than one parameter."""
        if self.cutoff is None and self._fills_up in self.params.items():
            name, value = self._fills_up
            raise ParameterError(f"{self}: {name}={value!r} needs a cutoff: write {self}@100")
        if self.baseline is None:
            if self._example:
                raise ParameterError(f"{self.NAME} compares with a baseline: write {self._example}")
            if "of" in self.params:
                example = f"{self.NAME}(baseline='bm25',of='baseline')"
                raise ParameterError(f"{self}: of={self['of']!r} needs a baseline: write {example}")
            return
        check_one_order(self["ties"], f"{self}: ")
        for name in self._only_alone:
            if name in self.params:
                raise ParameterError(
                    f"{self}: with a baseline only what both runs found counts; leave {name} out"
                )

    def __repr__(self) -> str:
        return self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process does not know the runs that were registered in this one.
        run = None
        if self.baseline is not None:
            from ir_outcomes.measures.baselines import registered

            run = registered.get(self.baseline)
        return _received, (type(self), self.params, run)

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of `ir_outcomes.search_lengths` that this measure stands for."""
        rest = {name: self[name] for name in ("rel", "ties", "judged_only")}
        return {"cutoff": self.cutoff, **rest}

    def for_comparison(self) -> "SearchLengthMeasure":
        """The measure that treats runs of different depth alike."""
        return self

    def values(self, lengths: "SearchLengths") -> Any:
        """Compute the (n_queries,) array of values, in the order of the qrels."""
        raise NotImplementedError

    def values_against(self, baseline: "SearchLengths", contender: "SearchLengths") -> Any:
        """Compute the same relative to a baseline."""
        raise NotImplementedError

    def aggregator(self) -> MeanOfDefined:
        """What ir_measures averages with: undefined values are skipped."""
        return MeanOfDefined()


def found_by_both(
    baseline: "SearchLengths", contender: "SearchLengths", unit: Unit, need: int = 1
) -> tuple[Any, Any]:
    """Return the query of each item, and (2, items) search lengths, else NaN."""
    import numpy as np

    from ir_outcomes.evaluation.lengths import check_comparable

    check_comparable(baseline, contender)
    runs = (baseline, contender)
    if unit == "document":
        return baseline.query, np.stack([run.atoms() for run in runs])
    answerable = np.flatnonzero(baseline.answerable)
    return answerable, np.stack([run.esl(need)[answerable] for run in runs])


def mean_of_both(
    baseline: "SearchLengths", contender: "SearchLengths", unit: Unit, side: str, need: int = 1
) -> Any:
    """Average within each query the lengths of what both runs found."""
    import numpy as np

    from ir_outcomes.evaluation.lengths import means_by_query

    query, lengths = found_by_both(baseline, contender, unit, need)
    both = ~np.isnan(lengths).any(axis=0)
    of_side = lengths[int(side == "contender")]
    return means_by_query(query[both], of_side[both], len(baseline.query_ids))


def _received(
    kind: type[SearchLengthMeasure], params: dict[str, Any], baseline: "Run | None"
) -> SearchLengthMeasure:
    """Register the baseline of a measure that another process sent."""
    measure = kind(**params)
    if measure.baseline is not None and baseline is not None:
        from ir_outcomes.measures.baselines import register_baseline

        register_baseline(measure.baseline, baseline, replace=True)
    return measure
