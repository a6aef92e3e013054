"""ESL, ASL, Answered and Outcome as measures of ir_measures, and the provider that evaluates them.

Values come from `SearchLengths`, one run's or two runs'. ir_measures tells measures apart by their
text, so a baseline is given by its name.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import repeat
from typing import Any, get_args

import ir_measures
import numpy as np
from ir_measures.measures import Measure, ParamInfo
from ir_measures.measures.base import MeanAgg
from ir_measures.providers import Evaluator, Provider

# The module itself is not complete yet where it loads this.
from ir_measures.providers import registry as provider_registry

from ir_outcomes.errors import ParameterError, warn
from ir_outcomes.evaluation.baselines import baseline_lengths, register_baseline, registered
from ir_outcomes.evaluation.lengths import (
    OUTCOMES,
    PER_ATOM,
    PER_QUERY,
    SearchLengths,
    match,
    means_by_query,
)
from ir_outcomes.evaluation.search import search_lengths
from ir_outcomes.reading.datasets import as_qrels, as_run
from ir_outcomes.reading.runs import Run
from ir_outcomes.types import Missing, Ties, Unit, check_one_order, check_positive


class _MeanOfDefined(MeanAgg):
    """Mean of the values that are defined; NaN where none is."""

    def add(self, value: float) -> None:
        if not math.isnan(value):
            super().add(value)


SHARED: dict[str, ParamInfo] = {
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
_NEED = ParamInfo(dtype=int, default=1, desc="how many relevant documents have to be met")
_BASELINE = {
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


class SearchLengthMeasure(Measure):
    """What the measures share: parameters are checked on construction, and a mean skips undefined values."""

    HIGHER_IS_BETTER: bool
    DEFAULT = math.nan  # for a query without results

    def __init__(self, **params: Any) -> None:
        unknown = params.keys() - self.SUPPORTED_PARAMS.keys()
        if unknown:
            known = ", ".join(self.SUPPORTED_PARAMS)
            raise ParameterError(
                f"{self.NAME} has no parameter {', '.join(sorted(unknown))}; it has {known}"
            )
        # In one order, because ir_measures tells measures apart by their text.
        super().__init__(
            **{
                name: self._checked(name, params[name])
                for name in self.SUPPORTED_PARAMS
                if name in params
            }
        )
        # ir_measures tells measures apart by it, and asks for it several times per query.
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
            check_positive(f"{self.NAME}: {name}", value)
            return int(value)
        if not info.validate(value) or value == "":
            allowed = "a registered name, irds:<id> or a path"
            if name != "baseline":
                allowed = f"one of {str(info.choices)[1:-1]}"
            raise ParameterError(f"{self.NAME}: {name}={value!r}: must be {allowed}")
        return value

    def validate_params(self) -> None:
        """Check what depends on more than one parameter; called by ir_measures before use."""
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

    _only_alone: tuple[str, ...] = ()
    # The parameter, and its value, that gives a query without results the length cutoff + 1.
    _fills_up = ("", "")
    _example = ""  # of a measure that makes no sense without a baseline

    def __repr__(self) -> str:
        return self._text

    def __hash__(self) -> int:
        return hash(self._text)

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of `ir_outcomes.search_lengths` that this measure stands for."""
        return {
            "cutoff": self.cutoff,
            **{name: self[name] for name in ("rel", "ties", "judged_only")},
        }

    def for_comparison(self) -> Any:
        """Return the measure that treats runs of different depth alike."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process does not know the runs that were registered in this one.
        return _received, (type(self), self.params, registered.get(self.baseline or ""))

    def values(self, lengths: SearchLengths) -> Any:
        """Compute the (n_queries,) array of this measure's values, in the order of the qrels."""
        raise NotImplementedError

    def values_against(self, baseline: SearchLengths, contender: SearchLengths) -> Any:
        """Compute the same relative to a baseline."""
        raise NotImplementedError

    def _mean_of_both(
        self, baseline: SearchLengths, contender: SearchLengths, unit: Unit, need: int = 1
    ) -> Any:
        """Average, within each query, the lengths of what both runs found; NaN where there is nothing such."""
        items = match(baseline, contender, unit, need)
        n_queries = len(baseline.query_ids)
        both = items.found[0] & items.found[1]
        lengths = items.lengths[self["of"] == "contender"]
        return means_by_query(items.query[both], lengths[both], n_queries)

    def aggregator(self) -> _MeanOfDefined:
        """Return what ir_measures averages with: undefined values are skipped."""
        return _MeanOfDefined()


def _received(
    kind: type[SearchLengthMeasure], params: dict[str, Any], baseline: Run | None
) -> SearchLengthMeasure:
    """Return a measure that another process sent, after its baseline was registered here."""
    measure = kind(**params)
    if measure.baseline is not None and baseline is not None:
        register_baseline(measure.baseline, baseline, replace=True)
    return measure


class _ESL(SearchLengthMeasure):
    """Expected search length: the rank of the first relevant document. Lower is better.

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
        **SHARED,
        "need": _NEED,
        **_BASELINE,
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

    def values(self, lengths: SearchLengths) -> Any:
        esl = lengths.esl(self["need"])
        esl[lengths.answered(self["need"]) == 0] = self.DEFAULT
        return esl

    def values_against(self, baseline: SearchLengths, contender: SearchLengths) -> Any:
        return self._mean_of_both(baseline, contender, "query", self["need"])


class _ASL(SearchLengthMeasure):
    """Atomized search length: mean over the relevant documents of irrelevant documents above, plus 1. Lower is better.

    Neither Losee's average search length nor Sakai's achieved significance level. Under
    ``missing="retrieved"``, equation 3 as printed, short lists look good; compare runs with
    ``missing="cutoff"``. With a ``baseline`` it is restricted to the relevant documents that both
    runs found, and undefined where there are none; ``of="baseline"`` gives the baseline's value.

    References
    ----------
    Alex et al. 2022, equations 1 to 5.
    """

    NAME = __name__ = "ASL"
    HIGHER_IS_BETTER = False
    DEFAULT = math.inf
    SUPPORTED_PARAMS = {
        **SHARED,
        **_BASELINE,
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

    def values(self, lengths: SearchLengths) -> Any:
        return lengths.asl(self.params.get("first"), self["missing"])

    def for_comparison(self) -> Any:
        """Return the measure with ``missing="cutoff"``: equation 3 as printed makes short lists look good."""
        # With a baseline only what both runs found counts.
        if "missing" in self.params or self.baseline is not None:
            return self
        if self.cutoff is None:
            raise ParameterError(
                f"{self} compares runs of any depth; write ASL(missing='cutoff')@k with the depth"
                " that all runs share, or ASL(missing='retrieved') for equation 3 of Alex et al."
                " as printed"
            )
        return self(missing="cutoff")

    def values_against(self, baseline: SearchLengths, contender: SearchLengths) -> Any:
        return self._mean_of_both(baseline, contender, "document")


class _Answered(SearchLengthMeasure):
    """Whether a relevant document is within the cutoff: 1 or 0. Higher is better.

    References
    ----------
    Lin et al. 2021, section 4.
    """

    NAME = __name__ = "Answered"
    HIGHER_IS_BETTER = True
    DEFAULT = 0.0
    SUPPORTED_PARAMS = {**SHARED, "need": _NEED}

    def values(self, lengths: SearchLengths) -> Any:
        return lengths.answered(self["need"])


class _Outcome(SearchLengthMeasure):
    """Whether a query had one of the four outcomes: 1 or 0. Higher is better for "won" and "both", lower for the others.

    Under ``unit="document"`` the share of the query's relevant documents that had it. An
    unanswerable query counts as "neither", because a measure has to score every query;
    `ir_outcomes.compare` leaves it out.

    References
    ----------
    Lin et al. 2021, section 4: neither is (1), lost is "A wins", won is "B wins", both is (3) of
    Table 2.
    """

    NAME = __name__ = "Outcome"
    DEFAULT = 0.0
    SUPPORTED_PARAMS = {
        **SHARED,
        "baseline": _BASELINE["baseline"],
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

    def values_against(self, baseline: SearchLengths, contender: SearchLengths) -> Any:
        items = match(baseline, contender, self["unit"])
        n_queries = len(baseline.query_ids)
        shares = means_by_query(
            items.query, items.outcome == OUTCOMES.index(self["case"]), n_queries
        )
        return np.where(np.isnan(shares), float(self["case"] == "neither"), shares)


ESL = _ESL()
ASL = _ASL()
Answered = _Answered()
Outcome = _Outcome()
MEASURES: tuple[SearchLengthMeasure, ...] = (ESL, ASL, Answered, Outcome)


class OutcomesEvaluator(Evaluator):
    """Evaluates runs against qrels that were read once."""

    measures: list[SearchLengthMeasure]

    def __init__(self, measures: list[SearchLengthMeasure], qrels: Any) -> None:
        # A batch of topics without qrels, as PyTerrier makes it, yields nothing.
        is_empty = hasattr(qrels, "__len__") and not len(qrels)
        self._qrels = None if is_empty else as_qrels(qrels)
        super().__init__(measures, set() if self._qrels is None else set(self._qrels.query_ids))
        for measure in measures:
            # An unknown baseline is an error before any run.
            if measure.baseline is not None and self._qrels is not None:
                baseline_lengths(measure.baseline, self._qrels, measure.settings)

    def iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        """Yield the values of every query of the qrels, so that nothing remains to be filled in with defaults."""
        if self._qrels is None:
            return
        ranking = as_run(run)
        tables: dict[tuple[Any, ...], SearchLengths] = {}
        for measure in self.measures:
            settings = measure.settings
            key = tuple(settings.values())
            if key not in tables:
                tables[key] = search_lengths(self._qrels, ranking, **settings)
            if measure.baseline is None:
                values = measure.values(tables[key])
            else:
                values = measure.values_against(
                    baseline_lengths(measure.baseline, self._qrels, settings), tables[key]
                )
            yield from map(
                ir_measures.Metric, self._qrels.query_ids, repeat(measure), values.tolist()
            )


class OutcomesProvider(Provider):
    """Provides ESL, ASL, Answered and the measures relative to a baseline."""

    NAME = "ir_outcomes"
    PRIORITY = 0.0  # read by the entry point loader of ir_measures' branch "entry-points": after the built-in providers
    SUPPORTED_MEASURES = list(MEASURES)

    def supports(self, measure: Any) -> bool:
        """Return whether a measure is one of ours; its parameters are checked on the way."""
        if not isinstance(measure, SearchLengthMeasure):
            return False
        measure.validate_params()
        return True

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> OutcomesEvaluator:
        measures = list(measures)
        foreign = [str(measure) for measure in measures if not self.supports(measure)]
        if foreign:
            raise ParameterError(
                f"ir_outcomes does not provide {', '.join(foreign)}; call"
                " ir_measures.calc_aggregate instead"
            )
        return OutcomesEvaluator(measures, qrels)


class Recording(SearchLengthMeasure):
    """Keeps the search lengths of everything that is evaluated with it; the values number them."""

    NAME = __name__ = "SearchLengthsKept"
    HIGHER_IS_BETTER = True
    SUPPORTED_PARAMS = SHARED

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._kept: list[SearchLengths] = []

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of `ir_outcomes.search_lengths`: the whole depth, so that every cutoff can be asked for later."""
        return {**super().settings, "cutoff": None}

    def values(self, lengths: SearchLengths) -> Any:
        """(n_queries,) array: the number of these search lengths among those that are kept."""
        self._kept.append(lengths)
        return np.full(len(lengths.query_ids), float(len(self._kept) - 1))

    def lengths(self, name: str, numbers: Mapping[str, float]) -> SearchLengths:
        """Return what was kept of one system, in the order of the queries whose values of the measure are given."""
        used = sorted({int(number) for number in numbers.values()})
        parts = [self._kept[number] for number in used]  # one for each batch of topics
        rows = [
            (number, query)
            for number, part in zip(used, parts, strict=True)
            for query in part.query_ids
        ]
        relevant = np.concatenate([part.relevant for part in parts])
        arrays: Any = {
            field: np.concatenate([getattr(part, field) for part in parts])
            for field in (*PER_ATOM, *PER_QUERY)
        }
        joined = replace(
            parts[0],
            name=name,
            query_ids=tuple(query for _, query in rows),
            offsets=np.concatenate([[0], np.cumsum(relevant)]),
            ignored=tuple(
                sorted({query for part in parts for query in part.ignored} - set(numbers))
            ),
            **arrays,
        )
        place = {row: index for index, row in enumerate(rows)}
        return joined.restrict(
            np.array([place[int(number), query] for query, number in numbers.items()])
        )


def register() -> None:
    """Add the measures to ir_measures' names and the provider to its default pipeline."""
    for measure in MEASURES:
        present = ir_measures.measures.registry.get(measure.NAME)
        if present is not None and type(present).__module__ != type(measure).__module__:
            warn(
                f"ir_measures already knows a measure {measure.NAME} (from"
                f" {type(present).__module__}); that text keeps its meaning, use the object"
                f" ir_outcomes.{measure.NAME} for ours"
            )
        else:
            ir_measures.measures.registry[measure.NAME] = measure
    provider = OutcomesProvider()
    provider_registry[provider.NAME] = provider
    if not hasattr(ir_measures, "DefaultPipeline"):
        return  # it is being imported, loads this by the entry point, and makes its pipeline of the registry
    # ir_measures binds its functions to the pipeline object at import: the list inside it is the
    # only way in.
    pipeline = ir_measures.DefaultPipeline.providers
    pipeline[:] = [*(present for present in pipeline if present.NAME != provider.NAME), provider]
