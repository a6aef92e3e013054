"""Comparisons from per-query values: of another tool's output, or of a measure of an evaluation."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack, overload

import numpy as np
from ir_measures import Metric

from ir_outcomes.comparison.family import Family
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, evaluation_of, place_of
from ir_outcomes.evaluation.scores import Scores, parse_measure, scores_of_sources
from ir_outcomes.evaluation.systems import (
    Called,
    called_systems,
    check_baselines,
    digest_of_clusters,
)
from ir_outcomes.evaluation.systems import systems as systems_of
from ir_outcomes.notes import Note, as_notes, note
from ir_outcomes.pairs.measurements import measurements_of_values
from ir_outcomes.pairs.rules import RuleOptions, Rules, Settings
from ir_outcomes.reading.datasets import as_qrels
from ir_outcomes.reading.measure_names import (
    are_truth_values,
    base_name,
    cutoff_of,
    is_gain,
    is_reciprocal,
)
from ir_outcomes.reading.runs import check_names
from ir_outcomes.reading.values import Trials


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
        One of what `ir_outcomes.scores_from_outputs` takes.
    contenders : the same, or a list of such, optional
        Left out where the baseline is a table of several runs, of which the first, or the first of
        `names`, is the baseline.
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
    trials : {"mean"}, optional
        What becomes of several values of a query: their mean. By default they are an error.
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
    are_metrics = isinstance(contenders, list) and hasattr(next(iter(contenders), None), "query_id")
    several = (
        isinstance(contenders, (list, tuple))
        and not are_metrics
        and not hasattr(contenders, "per_query")
    )
    if contenders is None:
        sources, positions = [baseline], ["table of outputs"]
    else:
        others = list(contenders) if several else [contenders]
        numbers = [f" {number}" for number in range(1, len(others) + 1)] if others[1:] else [""]
        sources = [baseline, *others]
        positions = ["baseline", *(f"contender{number}" for number in numbers)]
    judgments = None if qrels is None else as_qrels(qrels)

    def answerable(measure: str) -> list[str]:
        if judgments is None:
            return []
        least_grade = rel or _meaning(measure, higher_is_better, rel).rel or 1
        codes = np.unique(judgments.codes[judgments.grades >= least_grade]).tolist()
        return [judgments.query_ids[code] for code in codes]

    scores = scores_of_sources(
        sources,
        positions,
        measure,
        higher_is_better,
        names,
        trials=trials,
        clusters=clusters,
        queries_of=None if judgments is None else answerable,
    )
    if len(scores.runs) == 1:
        raise ParameterError(f"there is one run only, {scores.runs[0]}; give another output")
    meaning = _meaning_of(scores, higher_is_better, rel)
    rel = meaning.rel if rel is None else rel
    n_unanswerable = 0
    if judgments is not None:
        rel = rel or 1
        n_unanswerable = len(judgments.query_ids) - len(scores.query_ids)
    systems = [Called(name, (name,)) for name in scores.runs]
    if replicates is not None:
        systems = _grouped(scores.runs, replicates)
    settings = _settings(meaning, rel, Rules(**rules), len(systems) - 1)
    notes = as_notes(_notes(scores, meaning, judgments is not None))
    values = _Values(scores, meaning, n_unanswerable, notes)
    results = values.compared(systems, settings)
    return Comparisons(results) if several or len(results) > 1 else results[0]


def compare_scores(
    scores: Scores, baseline: str, contenders: Sequence[str], **rules: Unpack[RuleOptions]
) -> Comparisons:
    """Compare runs by the values of a measure, reciprocal ranks as they are, too."""
    meaning = _meaning_of(scores, scores.higher_is_better, None)
    if meaning.kind == "reciprocal":
        meaning = replace(meaning, kind="gain", higher_is_better=True)
    systems = [Called(name, (name,)) for name in (baseline, *contenders)]
    settings = _settings(meaning, meaning.rel, Rules(**rules), len(contenders))
    notes = as_notes(_notes(scores, meaning, with_qrels=True))
    return Comparisons(_Values(scores, meaning, 0, notes).compared(systems, settings))


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
    meaning = _meaning_of(scores, scores.higher_is_better, evaluation.rel)
    settings = Settings.of(evaluation, Rules(**rules), len(systems) - 1)
    settings = replace(settings, cutoff=meaning.cutoff, unit="query")
    notes = as_notes(_about_values(meaning, scores.measure))
    n_unanswerable = len(evaluation.query_ids) - len(scores.query_ids)
    results = _Values(scores, meaning, n_unanswerable, notes).compared(systems, settings)
    if isinstance(contenders, str):
        return results[0]
    return Comparisons(results)


def _grouped(names: Sequence[str], replicates: Any) -> list[Called]:
    """Return the systems, that of the baseline first."""
    check_names(names)
    several = systems_of(names, replicates)
    systems = called_systems(names, several)
    if len(systems) < 2:
        raise ParameterError("replicates: all outputs are of one system, so nothing is compared")
    check_baselines(names[:1], several)
    return systems


def _meaning_of(scores: Scores, higher_is_better: bool | None, rel: int | None) -> _Meaning:
    meaning = _meaning(scores.measure, higher_is_better, rel)
    # Solved or not: 0 is "nothing found", whatever the measure is called.
    if meaning.kind == "value" and meaning.higher_is_better and are_truth_values(scores.values):
        return replace(meaning, kind="gain")
    return meaning


def _meaning(measure: str, higher_is_better: bool | None, rel: int | None) -> _Meaning:
    base = base_name(measure)
    if base in ("ASL", "Answered"):
        raise ParameterError(
            f"{measure} does not say both what was found and how far down; compare outputs of ESL"
            " or RR"
        )
    grade = re.search(r"rel=\s*0*([1-9][0-9]*)\s*[,)]", measure)
    cutoff = cutoff_of(measure)
    own_rel = int(grade[1]) if grade else None
    gain = is_gain(measure)
    found = _Meaning(
        "gain" if gain else "value", cutoff, own_rel, 0.0, higher_is_better is not False
    )
    if base == "ESL":
        esl = parse_measure(measure)
        found = _Meaning("rank", esl.cutoff, esl["rel"], esl.DEFAULT, False)
    elif is_reciprocal(measure):
        found = _Meaning("reciprocal", cutoff, own_rel, 0.0, False)
    elif higher_is_better is None and not gain:
        raise ParameterError(
            f"the direction of {measure} is not known; pass `higher_is_better=True` or"
            " `higher_is_better=False`"
        )
    if rel is not None and found.rel is not None and rel != found.rel:
        raise ParameterError(
            f"{measure} counts grades from {found.rel} on; leave `rel` out, or name the measure with"
            f" rel={rel}",
            rel=rel,
        )
    return found


@dataclass(frozen=True, eq=False)
class _Values:
    """Values of a measure by run and query, and how they are read."""

    scores: Scores
    meaning: _Meaning
    n_unanswerable: int
    notes: tuple[Note, ...]

    def compared(self, systems: Sequence[Called], settings: Settings) -> tuple[Comparison, ...]:
        """Compare the first system with each other one."""
        clusters = self.scores.clusters
        if clusters is not None:
            settings = replace(
                settings,
                n_clusters=len(np.unique(clusters)),
                clusters=digest_of_clusters(clusters, self.scores.query_ids),
            )
        values = self.scores.values
        if self.meaning.kind in ("reciprocal", "rank"):
            values = np.where(values == self.meaning.not_found, np.nan, values)
        scores = replace(self.scores, values=values)
        runs = {system.name: system.runs for system in systems}
        measurements = measurements_of_values(scores, runs, self.meaning.kind, self.meaning.cutoff)
        family = Family(measurements, settings)
        baseline, *contenders = systems
        return tuple(
            family.comparison(
                index,
                notes=[
                    own
                    for own in self.notes
                    if not own.runs or {*own.runs} & {*baseline.runs, *contender.runs}
                ],
                n_unanswerable=self.n_unanswerable,
                n_missing=tuple(map(self._n_missing, (baseline, contender))),
                runs=(baseline.runs, contender.runs),
            )
            for index, contender in enumerate(contenders)
        )

    def _n_missing(self, system: Called) -> int:
        return max(len(self.scores.lacks(run)) for run in system.runs)


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
    for own in scores.notes_on_output():
        # How much is missing is among the first notes anyway.
        yield note("missing ids", own.details, own.runs) if own.kind == "missing" else own
