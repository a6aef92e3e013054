"""Comparisons from values by query."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Unpack, overload

from ir_measures import Metric

from ir_outcomes.arguments import separated
from ir_outcomes.comparison.family import Family
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.outputs import OutputOptions, are_sources, outputs
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.notes import Note, as_notes
from ir_outcomes.pairs.measurements import measurements_of_values
from ir_outcomes.pairs.rules import RuleOptions, Rules, Settings
from ir_outcomes.reading.tables import Source


class OutputSettings(OutputOptions, RuleOptions, total=False):
    """The settings of `compare_outputs`."""


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
    **settings: Unpack[OutputSettings],
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
    names : sequence of str, optional
        Names of the baseline and the contenders; in a source that holds several runs, which of them
        is meant.
    **settings
        What is read, and how; see `ir_outcomes.outputs`. Without qrels, unanswerable queries count
        as unanswered. And alpha, correction and margins; see `ir_outcomes.Rules`.

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
    sources = [Source.of(baseline, "table of outputs")]
    if contenders is not None:
        others = list(contenders) if several else [contenders]
        numbers = [f" {number}" for number, _ in enumerate(others, 1)] if others[1:] else [""]
        positions = [f"contender{number}" for number in numbers]
        sources = [Source.of(baseline, "baseline"), *map(Source.of, others, positions)]
    of_rules, of_values = separated(settings, Rules)
    rules = Rules(**of_rules)
    evaluation = outputs(*sources, **of_values)
    first, *rest = evaluation.systems
    if not rest:
        noun = "run" if len(evaluation.names) == 1 else "system"
        raise ParameterError(f"there is one {noun} only, {first}; give another output")
    with_qrels = settings.get("qrels") is not None
    results = compare_values(evaluation, rules, with_qrels=with_qrels)
    one_run_each = settings.get("replicates") is None
    return results if len(results) > 1 or (several and one_run_each) else results[0]


def compare_values(
    evaluation: Evaluation,
    rules: Rules,
    *,
    family: int | None = None,
    as_written: bool = False,
    with_qrels: bool = False,
) -> Comparisons:
    """Compare the first system of an evaluation with the others, by values of another tool.

    Reciprocal ranks become ranks, unless they are taken `as_written`.
    """
    if evaluation.values is None:
        raise ParameterError("these are runs, and no values of another tool; see compare")
    scores = evaluation.values
    systems = evaluation.systems
    settings = Settings.of_values(scores, rules, family or len(systems) - 1)
    notes = as_notes(_notes(scores, with_qrels or as_written))
    of_all = Family(measurements_of_values(scores, systems, as_written=as_written), settings)
    baseline, *contenders = systems.values()
    comparisons = []
    for index, contender in enumerate(contenders):
        of_pair = {*baseline, *contender}
        comparison = of_all.comparison(
            index,
            notes=[note for note in notes if not note.runs or of_pair.intersection(note.runs)],
            n_unanswerable=scores.n_unanswerable,
            n_missing=(scores.most_missing(baseline), scores.most_missing(contender)),
            runs=(baseline, contender),
        )
        comparisons.append(comparison)
    worst = scores.with_worst()
    if worst is not None:
        labels = Family(measurements_of_values(worst, systems), settings).labels
        comparisons = list(map(_with_label_of_worst, comparisons, labels))
    return Comparisons(tuple(comparisons))


def _with_label_of_worst(comparison: Comparison, label: str) -> Comparison:
    """Say which label the worst value for what is missing would give."""
    if label == comparison.verdict.label:
        return comparison
    words = f"With the worst value for what is missing: {label}."
    notes = [
        Note(f"{about} {words}", about.kind, about.runs)
        if about.kind == "missing-values"
        else about
        for about in comparison.notes
    ]
    return replace(comparison, notes=tuple(notes))


def _notes(scores: Scores, with_qrels: bool) -> Iterator[str]:
    unknown = "tie rule is that"
    if scores.cutoff is None and scores.kind != "value":
        unknown = "tie rule and cutoff are those"
    yield (
        f"Compared on values of {scores.measure} as they were written; the {unknown} of the tool"
        " that wrote them."
    )
    if scores.kind == "gain":
        yield (
            f"Coverage is the share of queries with {scores.measure} above zero, ranking the mean"
            f" of {scores.measure} where both runs are above zero."
        )
    if not with_qrels and scores.kind != "value":
        yield (
            "Without qrels, queries that have no relevant document cannot be told apart: they count"
            " as unanswered."
        )
    yield from scores.notes_on_output()
