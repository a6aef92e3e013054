"""Comparisons from per-query values: of another tool's output, or of a measure of an evaluation."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack, overload

from ir_measures import Metric

from ir_outcomes.comparison.family import Family
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, evaluation_of, place_of
from ir_outcomes.evaluation.outputs import are_sources, evaluation_of_values
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.systems import System
from ir_outcomes.notes import Note, as_notes, note
from ir_outcomes.pairs.measurements import measurements_of_values
from ir_outcomes.pairs.rules import RuleOptions, Rules, Settings
from ir_outcomes.values.table import Trials


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
    clusters, replicates
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
    first, *rest = evaluation.systems
    if not rest:
        noun = "run" if len(evaluation.names) == 1 else "system"
        raise ParameterError(f"there is one {noun} only, {first.name}; give another output")
    results = compare_values(
        evaluation, [first, *rest], Rules(**rules), with_qrels=qrels is not None
    )
    return results if len(results) > 1 or (several and replicates is None) else results[0]


def compare_values(
    evaluation: Evaluation,
    systems: Sequence[System],
    rules: Rules,
    *,
    family: int | None = None,
    as_written: bool = False,
    with_qrels: bool = False,
) -> Comparisons:
    """Compare the first of some systems with the others, by values that another tool computed.

    Reciprocal ranks become ranks, unless they are taken `as_written`.
    """
    if evaluation.values is None:
        raise ParameterError("these are runs, and no values of another tool; see compare")
    runs = [run for system in systems for run in system.runs]
    scores = evaluation.values.take([evaluation.position(run) for run in runs])
    settings = Settings.of_values(scores, rules, family or len(systems) - 1)
    notes = as_notes(_notes(scores, with_qrels or as_written))
    comparisons = _compared(scores, systems, settings, notes, as_written=as_written)
    worst = scores.with_worst()
    if worst is None:
        return Comparisons(comparisons)
    labels = Family(measurements_of_values(worst, systems), settings).labels
    return Comparisons(tuple(map(_with_label_of_worst, comparisons, labels)))


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
    for name in wanted:
        place_of(name, known)
    systems = evaluation.systems_named(wanted)
    places = [evaluation.position(run) for system in systems for run in system.runs]
    scores = scores.on(evaluation.answerable_queries).take(places)
    n_unanswerable = len(evaluation.query_ids) - len(scores.query_ids)
    scores = replace(scores, rel=evaluation.rel, n_unanswerable=n_unanswerable)
    settings = Settings.of(evaluation, Rules(**rules), len(systems) - 1)
    settings = replace(settings, cutoff=scores.cutoff, unit="query")
    results = _compared(scores, systems, settings, as_notes(_about_values(scores)))
    if isinstance(contenders, str):
        return results[0]
    return Comparisons(results)


def _compared(
    scores: Scores,
    systems: Sequence[System],
    settings: Settings,
    notes: Sequence[Note],
    *,
    as_written: bool = False,
) -> tuple[Comparison, ...]:
    """Compare the first system with each other one."""
    measurements = measurements_of_values(scores, systems, as_written=as_written)
    family = Family(measurements, settings)
    baseline, *contenders = systems
    return tuple(
        family.comparison(
            index,
            notes=[
                own
                for own in notes
                if not own.runs or {*own.runs} & {*baseline.runs, *contender.runs}
            ],
            n_unanswerable=scores.n_unanswerable,
            n_missing=(scores.most_missing(baseline.runs), scores.most_missing(contender.runs)),
            runs=(baseline.runs, contender.runs),
        )
        for index, contender in enumerate(contenders)
    )


def _with_label_of_worst(comparison: Comparison, label: str) -> Comparison:
    """Say which label the worst value for what is missing would give."""
    if label == comparison.verdict.label:
        return comparison
    notes = [
        note(
            own.kind,
            f"{own.details} With the worst value for what is missing: {label}.",
            own.runs,
        )
        if own.kind == "missing-values"
        else own
        for own in comparison.notes
    ]
    return replace(comparison, notes=tuple(notes))


def _about_values(scores: Scores) -> Iterator[str]:
    if scores.kind == "gain":
        yield (
            f"Coverage is the share of queries with {scores.measure} above zero, ranking the mean"
            f" of {scores.measure} where both runs are above zero."
        )


def _notes(scores: Scores, with_qrels: bool) -> Iterator[str]:
    unknown = "tie rule is that"
    if scores.cutoff is None and scores.kind != "value":
        unknown = "tie rule and cutoff are those"
    yield (
        f"Compared on values of {scores.measure} as they were written; the {unknown} of the tool"
        " that wrote them."
    )
    yield from _about_values(scores)
    if not with_qrels and scores.kind != "value":
        yield (
            "Without qrels, queries that have no relevant document cannot be told apart: they count"
            " as unanswered."
        )
    yield from scores.notes_on_output()
