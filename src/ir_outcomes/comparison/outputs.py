"""Comparisons from per-query values: of another tool's output, or of a measure of an evaluation."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, Unpack, overload

import numpy as np
from ir_measures import Metric

from ir_outcomes.choices import Floats
from ir_outcomes.comparison.family import MeasuredPair, judged
from ir_outcomes.comparison.outcomes import PairedQueries, Sample, Settings, from_items
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import RuleOptions, Rules
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, evaluation_of, place_of
from ir_outcomes.evaluation.lengths import Items
from ir_outcomes.evaluation.outputs import are_sources, evaluation_of_values
from ir_outcomes.evaluation.scores import Scores, parse_measure
from ir_outcomes.evaluation.systems import Called, digest_of_clusters
from ir_outcomes.notes import Note, as_notes
from ir_outcomes.values.table import Trials


@dataclass(frozen=True)
class _Meaning:
    """How to read the values of a measure."""

    # Reciprocal of a rank; rank; value that is 0 where nothing was found; any other value.
    kind: Literal["reciprocal", "rank", "gain", "value"]
    cutoff: int | None
    rel: int | None
    not_found: float  # the value that stands for "nothing found"
    higher_is_better: bool


class OutputSettings(RuleOptions, total=False):
    """The settings of `compare_outputs`."""

    measure: str | None
    qrels: Any
    rel: int | None
    higher_is_better: bool | None
    trials: Trials | None
    names: tuple[str, ...] | None
    range: tuple[float, float] | None
    id: str | None
    where: Mapping[str, str] | Sequence[str] | None
    allow: Collection[Literal["missing-values"]]
    clusters: Any
    replicates: Any
    progress: bool


@overload
def compare_outputs(
    baseline: Any, contenders: list[Metric], **settings: Unpack[OutputSettings]
) -> Comparison: ...


@overload
def compare_outputs(
    baseline: Any, contenders: list[Any] | tuple[Any, ...], **settings: Unpack[OutputSettings]
) -> Comparisons: ...


@overload
def compare_outputs(
    baseline: Any, contenders: None = None, **settings: Unpack[OutputSettings]
) -> Comparison | Comparisons: ...


@overload
def compare_outputs(
    baseline: Any, contenders: Any, **settings: Unpack[OutputSettings]
) -> Comparison: ...


def compare_outputs(
    baseline: Any,
    contenders: Any = None,
    *,
    measure: str | None = None,
    qrels: Any = None,
    rel: int | None = None,
    higher_is_better: bool | None = None,
    trials: Trials | None = None,
    names: tuple[str, ...] | None = None,
    range: tuple[float, float] | None = None,
    id: str | None = None,
    where: Mapping[str, str] | Sequence[str] | None = None,
    allow: Collection[Literal["missing-values"]] = (),
    clusters: Any = None,
    replicates: Any = None,
    progress: bool = False,
    **rules: Unpack[RuleOptions],
) -> Comparison | Comparisons:
    """Compare runs by per-query values that a tool has already computed.

    Reciprocal ranks and ESL give ranks: coverage is the share of queries with an answer, ranking
    the mean rank on what both answered. Of a measure that is zero where nothing was found (nDCG@k,
    AP, P@k, recall), or only 1 or 0, coverage is the share of queries above zero, ranking the mean
    value where both runs are above zero, and the mean over all queries confirms. Of any other value
    only the means over all queries are compared.

    Parameters
    ----------
    baseline : path, frame, dict, CalcResults or iterable of Metric
        One of what `ir_outcomes.outputs` takes.
    contenders : the same, or a list of such, optional
        Left out where the baseline is a table of several runs, of which the first, or the first of
        `names`, is the baseline.
    measure, range, id, where, trials, higher_is_better, qrels, rel, allow
        See `ir_outcomes.outputs`. Without qrels, unanswerable queries count as unanswered.
    clusters, replicates, progress
        See `ir_outcomes.evaluate`.
    names : tuple of str, optional
        Names of the baseline and the contenders; in a source that holds several runs, which of them
        is meant.
    **rules
        alpha, correction and margins; see `ir_outcomes.Rules`.

    Raises
    ------
    InputError
        If a source has none of these forms, a value is not possible, or two sources have no query
        in common.
    ParameterError
        If a measure has to be chosen, or its direction given, or it does not say what was found.

    Examples
    --------
    >>> a = {f"q{n}": {"recip_rank": 1 / 4} for n in range(8)}
    >>> b = {f"q{n}": {"recip_rank": 1 / 2} for n in range(8)}
    >>> compare_outputs(a, b).ranking.difference
    -2.0

    A frame with several runs, such as that of PyTerrier, is given once:

    >>> import pandas as pd
    >>> rows = [("bm25", f"q{n}", "recip_rank", 1 / 4) for n in range(8)]
    >>> rows += [("bm25-stem", f"q{n}", "recip_rank", 1 / 2) for n in range(8)]
    >>> frame = pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])
    >>> compare_outputs(frame).ranking.difference
    -2.0
    """
    if isinstance(contenders, list) and not contenders:
        raise ParameterError("there is no contender; give one output, or several as a list")
    several = isinstance(contenders, (list, tuple)) and are_sources(contenders)
    sources, positions = [baseline], ["table of outputs"]
    if contenders is not None:
        others = list(contenders) if several else [contenders]
        numbers = [f" {number}" for number, _ in enumerate(others, 1)] if others[1:] else [""]
        sources = [baseline, *others]
        positions = ["baseline", *(f"contender{number}" for number in numbers)]
    evaluation = evaluation_of_values(
        sources,
        positions,
        measure=measure,
        range=range,
        id=id,
        where=where,
        trials=trials,
        names=names,
        higher_is_better=higher_is_better,
        qrels=qrels,
        rel=rel,
        clusters=clusters,
        replicates=replicates,
        allow=allow,
    )
    first, *rest = evaluation.called
    if not rest:
        noun = "run" if len(evaluation.names) == 1 else "system"
        raise ParameterError(f"there is one {noun} only, {first.name}; give another output")
    results = compare_values(
        evaluation, [first, *rest], Rules(**rules), with_qrels=qrels is not None, progress=progress
    )
    return results if len(results) > 1 or (several and replicates is None) else results[0]


def compare_values(
    evaluation: Evaluation,
    systems: Sequence[Called],
    rules: Rules,
    *,
    as_written: bool = False,
    with_qrels: bool = False,
    progress: bool = False,
) -> Comparisons:
    """Compare the first of some systems with the others, by values that another tool computed.

    Reciprocal ranks become ranks, unless they are taken `as_written`.
    """
    if evaluation.values is None:
        raise ParameterError("these are runs, and no values of another tool; see compare")
    runs = [run for system in systems for run in system.runs]
    scores = evaluation.values.take([evaluation.position(run) for run in runs])
    meaning = _meaning(scores, scores.rel)
    if as_written and meaning.kind == "reciprocal":
        meaning = replace(meaning, kind="gain", higher_is_better=True)
    settings = _settings(meaning, scores.rel, rules, len(systems) - 1)
    notes = as_notes(_notes(scores, meaning, with_qrels or as_written))
    values = _Values(scores, meaning, scores.n_unanswerable, notes)
    return Comparisons(values.compared(systems, settings, progress=progress))


def _settings(meaning: _Meaning, rel: int | None, rules: Rules, family: int) -> Settings:
    return Settings(
        cutoff=meaning.cutoff,
        rel=rel,
        unit="query",
        ties="unknown",
        judged_only=False,
        alpha=rules.alpha,
        correction=rules.correction,
        family=family,
        margins=rules.margins,
    )


@overload
def compare_measure(
    evaluation: Evaluation,
    baseline: str,
    contenders: str,
    *,
    measure: Any,
    **rules: Unpack[RuleOptions],
) -> Comparison: ...


@overload
def compare_measure(
    evaluation: Evaluation,
    baseline: str,
    contenders: list[str] | tuple[str, ...] | None = None,
    *,
    measure: Any,
    **rules: Unpack[RuleOptions],
) -> Comparisons: ...


def compare_measure(
    evaluation: Evaluation,
    baseline: str,
    contenders: Sequence[str] | str | None = None,
    *,
    measure: Any,
    **rules: Unpack[RuleOptions],
) -> Comparison | Comparisons:
    """Compare runs of an evaluation by a measure of ir_measures instead of ranks.

    See `compare_outputs` for what is compared.

    Parameters
    ----------
    evaluation : Evaluation
        Made with ``evaluate(measures=[measure])``, so that no run is read again.
    baseline, contenders : str, and str or sequence of str, optional
        Names of the runs; by default all others are contenders.
    measure : Measure or str
        Such as ``nDCG@10``.
    **rules
        alpha, correction and margins; see `ir_outcomes.Rules`.

    Raises
    ------
    ParameterError
        If the measure was not kept, or does not say what was found.
    """
    evaluation = evaluation_of(evaluation, several_runs=True)
    scores = evaluation.scores_of(measure)
    known = evaluation.system_names
    wanted = [baseline, *contenders_of(known, baseline, contenders)]
    systems = [evaluation.systems[place_of(name, known)].called for name in wanted]
    places = [evaluation.position(run) for system in systems for run in system.runs]
    scores = scores.on(evaluation.answerable_queries).take(places)
    meaning = _meaning(scores, evaluation.rel)
    settings = Settings.of(evaluation, Rules(**rules), len(systems) - 1)
    settings = replace(settings, cutoff=meaning.cutoff, unit="query")
    notes = as_notes(_about_values(meaning, scores.measure))
    n_unanswerable = len(evaluation.query_ids) - len(scores.query_ids)
    results = _Values(scores, meaning, n_unanswerable, notes).compared(systems, settings)
    if isinstance(contenders, str):
        return results[0]
    return Comparisons(results)


def _meaning(scores: Scores, rel: int | None) -> _Meaning:
    """Return how the values of a measure are read."""
    kind = scores.kind
    if kind == "rank":
        esl = parse_measure(scores.measure)
        return _Meaning("rank", esl.cutoff, rel, esl.DEFAULT, False)
    if kind == "reciprocal":
        return _Meaning("reciprocal", scores.cutoff, rel, 0.0, False)
    # Solved or not: 0 is "nothing found", whatever the measure is called.
    read_as: Literal["gain", "value"] = "value" if kind == "value" else "gain"
    return _Meaning(read_as, scores.cutoff, rel, 0.0, scores.higher_is_better)


@dataclass(frozen=True, eq=False)
class _Values:
    """Values of a measure by run and query, and how they are read."""

    scores: Scores
    meaning: _Meaning
    n_unanswerable: int
    notes: tuple[Note, ...]

    def compared(
        self, systems: Sequence[Called], settings: Settings, *, progress: bool = False
    ) -> tuple[Comparison, ...]:
        """Compare the first system with each other one."""
        clusters = self.scores.clusters
        if clusters is not None:
            settings = replace(
                settings,
                n_clusters=len(np.unique(clusters)),
                clusters=digest_of_clusters(clusters),
            )
        baseline, *contenders = systems
        pairs = [self._pair(baseline, contender) for contender in contenders]
        return judged(pairs, settings, progress=progress)

    def _pair(self, baseline: Called, contender: Called) -> MeasuredPair:
        """Measure one pair of systems."""
        lengths = {run: self._lengths(run) for run in (*baseline.runs, *contender.runs)}
        naive = [self._means(system, lengths) for system in (baseline, contender)]
        return MeasuredPair(
            queries=self.paired(baseline, contender),
            n_unanswerable=self.n_unanswerable,
            n_missing=(0, 0),
            naive=Sample(naive[0], naive[1], np.ones(len(self.scores.query_ids))),
            notes=tuple(own for own in self.notes if not own.runs or {*lengths} & {*own.runs}),
            systems=(baseline, contender),
        )

    def paired(self, baseline: Called, contender: Called) -> PairedQueries:
        """Return the values of two systems by query."""
        queries = self.scores.query_ids
        is_rank = self.meaning.kind in ("reciprocal", "rank")
        lengths = {run: self._lengths(run) for run in (*baseline.runs, *contender.runs)}
        items = (
            Items(np.arange(len(queries)), (lengths[run], lengths[other]))
            for run, other in product(baseline.runs, contender.runs)
        )
        return from_items(
            (baseline, contender),
            queries,
            items,
            horizon=self.meaning.cutoff if is_rank else None,
            clusters=self.scores.clusters,
            measure=None if is_rank else self.scores.measure,
            higher_is_better=self.meaning.higher_is_better and not is_rank,
            mean_alone=self.meaning.kind == "value",
            bounds=None if is_rank else self.scores.range,
            same_rankings=not self.scores.missing and self._are_equal(baseline, contender),
        )

    def _lengths(self, run: str) -> Floats:
        """Convert the values of a run to ranks, or leave them; NaN where nothing was found."""
        values: Floats = self.scores.values[self.scores.runs.index(run)]
        if self.meaning.kind == "value":
            return values
        values = np.where(values == self.meaning.not_found, np.nan, values)
        if self.meaning.kind != "reciprocal":
            return values
        ranks = 1 / values
        whole = np.rint(ranks)
        decimals = self.scores.decimals
        slack = 1e-9 if decimals is None else 0.5001 * 10.0**-decimals
        return np.where(np.abs(1 / whole - values) <= slack, whole, ranks)

    def _means(self, system: Called, lengths: dict[str, Floats]) -> Floats:
        """Return the mean reciprocal ranks, or values, of the runs of a system."""
        found = [lengths[run] for run in system.runs]
        if self.meaning.kind in ("reciprocal", "rank"):
            found = [1 / own for own in found]
        means: Floats = np.mean([np.nan_to_num(own) for own in found], axis=0)
        return means

    def _are_equal(self, baseline: Called, contender: Called) -> bool:
        """Return whether two systems have the same values for every query."""
        a, b = (
            self.scores.values[[self.scores.runs.index(run) for run in system.runs]]
            for system in (baseline, contender)
        )
        return np.array_equal(a, b, equal_nan=True)


def _about_values(meaning: _Meaning, measure: str) -> Iterator[str]:
    if meaning.kind == "gain":
        yield (
            f"Coverage is the share of queries with {measure} above zero, ranking the mean of"
            f" {measure} where both runs are above zero."
        )


def _notes(scores: Scores, meaning: _Meaning, with_qrels: bool) -> Iterator[str]:
    unknown = "tie rule is that"
    if meaning.cutoff is None and meaning.kind != "value":
        unknown = "tie rule and cutoff are those"
    yield (
        f"Compared on values of {scores.measure} as they were written; the {unknown} of the tool"
        " that wrote them."
    )
    yield from _about_values(meaning, scores.measure)
    if not with_qrels:
        yield (
            "Without qrels, queries that have no relevant document cannot be told apart: they count"
            " as unanswered."
        )
    yield from scores.notes_on_output()
