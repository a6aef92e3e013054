"""Comparisons from per-query values: of another tool's output, or of a measure of an evaluation."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any, Literal, Unpack, overload

import numpy as np
from ir_measures import Metric

from ir_outcomes.comparison.compare import Rules
from ir_outcomes.comparison.family import MeasuredPair, judged
from ir_outcomes.comparison.margins import check_range
from ir_outcomes.comparison.outcomes import Settings, check_rules, checked_margins, from_pairs
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, evaluation_of, place_of
from ir_outcomes.evaluation.lengths import Items
from ir_outcomes.evaluation.scores import parse_measure
from ir_outcomes.evaluation.systems import (
    Called,
    called_systems,
    check_baselines,
    clusters_of,
    digest_of_clusters,
)
from ir_outcomes.evaluation.systems import systems as systems_of
from ir_outcomes.formatting import plural
from ir_outcomes.notes import as_notes
from ir_outcomes.reading.datasets import as_qrels
from ir_outcomes.reading.measure_names import RECIPROCALS, base_name, is_gain, range_of
from ir_outcomes.reading.outputs import Output, read_output_of_each_run
from ir_outcomes.reading.runs import check_names
from ir_outcomes.types import Correction, Floats, Ints, RankingTest


@dataclass(frozen=True)
class _Meaning:
    """How to read the values of a measure."""

    kind: Literal["reciprocal", "rank", "value"]  # reciprocal of a rank, rank, or any other value
    cutoff: int | None
    rel: int | None
    not_found: float  # the value that stands for "nothing found"
    higher_is_better: bool


class MeasureRules(Rules, total=False):
    """How verdicts by another measure are reached."""

    test: RankingTest


class OutputSettings(MeasureRules, total=False):
    """The settings of `compare_outputs`."""

    measure: str | None
    qrels: Any
    rel: int | None
    higher_is_better: bool | None
    names: tuple[str, ...] | None
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
    baseline: Any, contenders: Any, **settings: Unpack[OutputSettings]
) -> Comparison: ...


def compare_outputs(
    baseline: Any,
    contenders: Any,
    *,
    measure: str | None = None,
    qrels: Any = None,
    rel: int | None = None,
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    test: RankingTest = "t",
    correction: Correction = "holm",
    margins: tuple[float, ...] | None = None,
    names: tuple[str, ...] | None = None,
    clusters: Any = None,
    replicates: Any = None,
    progress: bool = False,
) -> Comparison | Comparisons:
    """Compare runs by per-query values that a tool has already computed.

    Reciprocal ranks and ESL give ranks: coverage is the share of queries with an answer, ranking
    the mean rank on what both answered. Of any other measure that is zero where nothing was found
    (nDCG@k, AP, P@k, recall), coverage is the share of queries above zero, and ranking the mean
    value where both runs are above zero; it is labelled with the measure.

    Parameters
    ----------
    baseline : path, CalcResults, iterable of Metric, dict or frame
        The text of ``trec_eval -q``, of ``ir_measures -q`` (tsv or jsonl) or PyTerrier's
        ``perquery.csv``; ir_measures' `CalcResults` or `Metric` values; the dicts of pytrec_eval
        and ranx, also as JSON; PyTerrier's ``perquery=True`` frame.
    contenders : the same, or a list of such
    measure : str, optional
        Which measure, as the source names it; by default a reciprocal rank or ESL, or the only one
        there is.
    qrels : see `ir_outcomes.as_qrels`, optional
        Tells which queries are answerable. Without it, unanswerable queries count as unanswered.
    rel : int, optional
        Smallest grade of a relevant document; by default that of the measure, or 1 with qrels, and
        unknown without them.
    higher_is_better : bool, optional
        Direction of a measure that is not known here.
    alpha, test, correction, margins, clusters, replicates, progress
        See `ir_outcomes.compare`.
    names : tuple of str, optional
        Names of the baseline and the contenders; in a source that holds several runs, which of them
        is meant.

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

    A frame with several runs, such as that of PyTerrier, is given for both; ``names`` says which
    of them are compared:

    >>> import pandas as pd
    >>> rows = [("bm25", f"q{n}", "recip_rank", 1 / 4) for n in range(8)]
    >>> rows += [("bm25-stem", f"q{n}", "recip_rank", 1 / 2) for n in range(8)]
    >>> frame = pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])
    >>> compare_outputs(frame, frame, names=("bm25", "bm25-stem")).ranking.difference
    -2.0
    """
    if isinstance(contenders, list) and not contenders:
        raise ParameterError("there is no contender; give one output, or several as a list")
    are_metrics = isinstance(contenders, list) and hasattr(next(iter(contenders), None), "query_id")
    several = (
        isinstance(contenders, (list, tuple))
        and not are_metrics
        and not hasattr(contenders, "per_query")
    )
    sources = [baseline, *(contenders if several else [contenders])]
    positions = [
        "baseline",
        *("contender" if len(sources) == 2 else f"contender {n}" for n in range(1, len(sources))),
    ]
    judgments = None if qrels is None else as_qrels(qrels)
    outputs = read_output_of_each_run(sources, positions, measure=measure, names=names)
    first = outputs[0]
    for output in outputs[1:]:
        if output.measure != first.measure:
            problem = (
                f"{first.name} has values of {first.measure}, {output.name} of {output.measure};"
                " choose with `measure`"
            )
            raise MismatchError(problem)
        if not output.values.keys() & first.values.keys():
            ids = some(list(first.values), 3)
            others = some(list(output.values), 3)
            raise MismatchError(
                f"{first.name} ({ids}) and {output.name} ({others}) have no query in common"
            )
    meaning = _meaning(first.measure, higher_is_better, rel)
    check_rules(alpha, test, correction)
    systems = [Called(output.name, (output.name,)) for output in outputs]
    if replicates is not None:
        systems = _grouped(outputs, replicates)
    if rel is None:
        rel = meaning.rel
    least_grade = 1 if rel is None else rel
    if judgments is not None:
        rel = least_grade
    settings = Settings(
        cutoff=meaning.cutoff,
        rel=rel,
        unit="query",
        ties="unknown",
        judged_only=False,
        alpha=alpha,
        test=test,
        correction=correction,
        family=len(systems) - 1,
        margins=checked_margins(margins),
    )
    queries = tuple(dict.fromkeys(query for output in outputs for query in output.values))
    n_unanswerable = 0
    if judgments is not None:
        answerable = np.unique(judgments.codes[judgments.grades >= least_grade]).tolist()
        queries = tuple(judgments.query_ids[code] for code in answerable)
        n_unanswerable = len(judgments.query_ids) - len(queries)
    if not any(query in output.values for output in outputs for query in queries):
        raise MismatchError(
            f"no query of the outputs ({some(list(first.values), 3)}) is answerable in the qrels"
        )
    codes = None
    if clusters is not None:
        codes = clusters_of(clusters, queries, np.ones(len(queries), dtype=bool))
    settings = _with_clusters(settings, codes)
    notes = _notes(outputs, meaning, judgments is not None)
    values = _Values(outputs, queries, n_unanswerable, codes, meaning, notes)
    results = _compared(values, systems, settings, progress)
    return Comparisons(results) if several else results[0]


@overload
def compare_measure(
    evaluation: Evaluation,
    baseline: str,
    contenders: str,
    *,
    measure: Any,
    **rules: Unpack[MeasureRules],
) -> Comparison: ...


@overload
def compare_measure(
    evaluation: Evaluation,
    baseline: str,
    contenders: list[str] | tuple[str, ...] | None = None,
    *,
    measure: Any,
    **rules: Unpack[MeasureRules],
) -> Comparisons: ...


def compare_measure(
    evaluation: Evaluation,
    baseline: str,
    contenders: Sequence[str] | str | None = None,
    *,
    measure: Any,
    alpha: float = 0.05,
    test: RankingTest = "t",
    correction: Correction = "holm",
    margins: tuple[float, ...] | None = None,
    progress: bool = False,
) -> Comparison | Comparisons:
    """Compare runs of an evaluation by a measure of ir_measures instead of ranks.

    Coverage is the share of answerable queries above zero, ranking the mean value where both runs
    are above zero.

    Parameters
    ----------
    evaluation : Evaluation
        Made with ``evaluate(measures=[measure])``, so that no run is read again.
    baseline, contenders : str, and str or sequence of str, optional
        Names of the runs; by default all others are contenders.
    measure : Measure or str
        Such as ``nDCG@10``.
    alpha, test, correction, margins, progress
        See `ir_outcomes.compare`.

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
    outputs = []
    for name in chain.from_iterable(system.runs for system in systems):
        row = scores.values[evaluation.position(name)].tolist()
        of_queries = dict(zip(scores.query_ids, row, strict=True))
        outputs.append(Output(name, scores.measure, of_queries, None))
    meaning = _meaning(scores.measure, scores.higher_is_better, evaluation.rel)
    settings = Settings.of(
        evaluation,
        alpha=alpha,
        test=test,
        correction=correction,
        family=len(systems) - 1,
        margins=checked_margins(margins),
    )
    settings = replace(settings, cutoff=meaning.cutoff, unit="query", coverage_test="exact")
    queries = evaluation.answerable_queries
    n_unanswerable = len(evaluation.query_ids) - len(queries)
    clusters = None
    if evaluation.clusters is not None:
        clusters = evaluation.clusters[evaluation.answerable]
    settings = _with_clusters(settings, clusters)
    notes = _about_values(meaning, scores.measure)
    values = _Values(outputs, queries, n_unanswerable, clusters, meaning, notes)
    results = _compared(values, systems, settings, progress)
    if isinstance(contenders, str):
        return results[0]
    return Comparisons(results)


@dataclass(frozen=True)
class _Values:
    """Values of a measure, query by query, and how they are read."""

    outputs: Sequence[Output]  # of every run
    queries: tuple[str, ...]  # the answerable ones
    n_unanswerable: int
    clusters: Ints | None  # (n_queries,)
    meaning: _Meaning
    notes: list[str]


def _with_clusters(settings: Settings, clusters: Ints | None) -> Settings:
    """Return the settings of queries that can come in clusters."""
    if clusters is None:
        return settings
    return replace(
        settings,
        coverage_test="signflip",
        n_clusters=len(np.unique(clusters)),
        clusters=digest_of_clusters(clusters),
    )


def _grouped(outputs: Sequence[Output], replicates: Any) -> list[Called]:
    """Return the systems, that of the baseline first."""
    names = [output.name for output in outputs]
    check_names(names)
    several = systems_of(names, replicates)
    systems = called_systems(names, several)
    if len(systems) < 2:
        raise ParameterError("replicates: all outputs are of one system, so nothing is compared")
    check_baselines(names[:1], several)
    return systems


def _meaning(measure: str, higher_is_better: bool | None, rel: int | None) -> _Meaning:
    base = base_name(measure)
    at = measure.rpartition("@")[2]
    if base in ("ASL", "Answered"):
        raise ParameterError(
            f"{measure} does not say both what was found and how far down; compare outputs of ESL"
            " or RR"
        )
    grade = re.search(r"rel=\s*0*([1-9][0-9]*)\s*[,)]", measure)
    cutoff = int(at) if at.isdigit() else None
    own_rel = int(grade[1]) if grade else None
    found = _Meaning("value", cutoff, own_rel, 0.0, higher_is_better in (None, True))
    if base == "ESL":
        esl = parse_measure(measure)
        found = _Meaning("rank", esl.cutoff, esl["rel"], esl.DEFAULT, False)
    elif base in RECIPROCALS:
        found = _Meaning("reciprocal", cutoff, own_rel, 0.0, False)
    elif higher_is_better is None and not is_gain(measure):
        raise ParameterError(
            f"the direction of {measure} is not known; pass `higher_is_better=True` or"
            " `higher_is_better=False` (its value must be 0 where nothing was found)"
        )
    if rel is not None and found.rel is not None and rel != found.rel:
        raise ParameterError(
            f"{measure} counts grades from {found.rel} on; leave `rel` out, or name the measure with"
            f" rel={rel}",
            rel=rel,
        )
    return found


def _compared(
    values: _Values, systems: Sequence[Called], settings: Settings, progress: bool
) -> tuple[Comparison, ...]:
    """Compare the first system with each other one."""
    meaning = values.meaning
    queries = values.queries
    is_value = meaning.kind == "value"
    measure = values.outputs[0].measure
    lengths = {output.name: _lengths(output, queries, meaning) for output in values.outputs}
    if settings.margins is not None and is_value:
        check_range(measure, range_of(measure, *lengths.values()))
    lacking: dict[str, list[str]] = {}
    for output in values.outputs:
        lacking[output.name] = [query for query in queries if query not in output.values]

    def n_missing(system: Called) -> int:
        return max(len(lacking[run]) for run in system.runs)

    def mean_reciprocals(system: Called) -> Floats:
        found = [lengths[run] for run in system.runs]
        values_of_runs = [np.nan_to_num(own if is_value else 1 / own) for own in found]
        means: Floats = np.mean(values_of_runs, axis=0)
        return means

    baseline, *contenders = systems
    pairs = []
    for contender in contenders:
        place = np.arange(len(queries))
        items = (
            Items(place, (lengths[run], lengths[other]))
            for run, other in product(baseline.runs, contender.runs)
        )
        horizon = None if is_value else meaning.cutoff
        pair = from_pairs(baseline, contender, queries, items, horizon, values.clusters)
        if is_value:  # values of the measure are no ranks: it is not known where things were found
            pair = replace(
                pair,
                outcomes=replace(pair.outcomes, lost_at=None, won_at=None),
                measure=measure,
                higher_is_better=meaning.higher_is_better,
            )
        notes = list(values.notes)
        for run in (*baseline.runs, *contender.runs):
            if lacking[run]:
                n = plural("query", len(lacking[run]))
                notes.append(f"{run} lacks {n} ({some(lacking[run])}), counted as unanswered.")
        measured = MeasuredPair(
            queries=pair,
            settings=settings.of_pair(pair),
            n_unanswerable=values.n_unanswerable,
            n_missing=(n_missing(baseline), n_missing(contender)),
            reciprocal_ranks=(mean_reciprocals(baseline), mean_reciprocals(contender)),
            notes=as_notes(notes),
        )
        pairs.append(measured)
    return judged(pairs, settings, progress=progress)


def _lengths(output: Output, queries: tuple[str, ...], meaning: _Meaning) -> Floats:
    """Convert values to ranks, or leave them; NaN where nothing was found."""
    values = np.array([output.values.get(query, math.nan) for query in queries], dtype=np.float64)
    values[values == meaning.not_found] = np.nan
    if meaning.kind != "reciprocal":
        return values
    ranks = 1 / values
    whole = np.rint(ranks)
    slack = 1e-9 if output.places is None else 0.5001 * 10.0**-output.places
    return np.where(np.abs(1 / whole - values) <= slack, whole, ranks)


def _about_values(meaning: _Meaning, measure: str) -> list[str]:
    ranking = f"ranking the mean of {measure} where both runs are above zero."
    if meaning.kind == "value":
        return [f"Coverage is the share of queries with {measure} above zero, {ranking}"]
    return []


def _notes(outputs: Sequence[Output], meaning: _Meaning, with_qrels: bool) -> list[str]:
    measure = outputs[0].measure
    unknown = "tie rule is that"
    if meaning.cutoff is None and meaning.kind != "value":
        unknown = "tie rule and cutoff are those"
    notes = [
        f"Compared on values of {measure} as they were written; the {unknown} of the tool that wrote"
        " them."
    ]
    notes += _about_values(meaning, measure)
    if not with_qrels:
        notes.append(
            "Without qrels, queries that have no relevant document cannot be told apart: they count"
            " as unanswered."
        )
    places = min((output.places for output in outputs if output.places is not None), default=None)
    if places is not None:
        effect = "small differences look like ties"
        if meaning.kind == "reciprocal":
            effect = f"ranks beyond about {math.isqrt(10**places)} cannot be told exactly"
        notes.append(f"Values are rounded to {plural('place', places)}: {effect}.")
    return notes
