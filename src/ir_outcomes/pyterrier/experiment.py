"""`experiment`: PyTerrier's Experiment, with both facets and the verdict."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, NamedTuple, cast

from ir_outcomes._checks import check_choice
from ir_outcomes._types import CoverageTest, OneOrder, RankingTest, UnitChoice
from ir_outcomes.comparison import Comparisons, compare
from ir_outcomes.errors import FormatError, InputError, IrOutcomesError, ParameterError
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.measures.recording import Recording
from ir_outcomes.pyterrier.columns import STYLES, Values, changes, facets, highlighted, known_correction, mean, rounded
from ir_outcomes.pyterrier.inputs import (
    baseline_places,
    measures_by_column,
    named_systems,
    query_texts,
    read_qrels,
    read_topics,
    task_of,
    terrier,
)
from ir_outcomes.pyterrier.settings import choose_settings
from ir_outcomes.reading.qrels import Qrels, as_qrels

__all__ = ["Frames", "experiment"]

_REPLACED = {"dataframe": "it is always a frame; call its to_dict()", "retr_systems": "write systems="}


class Frames(NamedTuple):
    """What ``perquery="both"`` returns.

    Attributes
    ----------
    averages : pandas.DataFrame
        A row for each system.
    perquery : pandas.DataFrame
        A row for each system, query and measure.
    """

    averages: Any
    perquery: Any


def experiment(
    systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any] = (),
    names: Sequence[str] | None = None,
    *,
    baseline: int | str | Sequence[int | str] | None = 0,
    perquery: bool | Literal["both"] = False,
    highlight: Literal["bold", "color", "colour"] | None = None,
    cutoff: int | None = None,
    rel: int | None = None,
    unit: UnitChoice = "auto",
    ties: OneOrder = "trec",
    judged_only: bool = False,
    alpha: float = 0.05,
    test: RankingTest = "t",
    coverage_test: CoverageTest = "exact",
    correction: str | None = "holm",
    correction_alpha: float | None = None,
    margins: tuple[float, float] | None = None,
    round: int | Mapping[str, int] | None = None,
    returns: Literal["frame", "comparisons", "both"] = "frame",
    **options: Any,
) -> Any:
    """Run and compare systems: `pyterrier.Experiment`, with both facets and the verdict.

    Parameters
    ----------
    systems : list or dict of transformers and frames
        The systems; the keys of a dict are their names.
    topics : frame, path, dataset id or dataset of PyTerrier
        With the columns ``qid`` and ``query``. Whole-number ids become text, here and in `qrels` and frames of results.
    qrels : frame, path, dataset id or dataset of PyTerrier
        With the columns ``qid``, ``docno`` and ``label``. A dataset id brings its cutoff, relevance and unit along.
    eval_metrics : sequence of measures or str
        Measures of ir_measures, as objects or text (``"ESL@100"``), or names of trec_eval's.
    names : sequence of str, optional
        Names of the systems; by default PyTerrier's.
    baseline : int, str, sequence of these, or None
        Which system the others are compared with: its place or name. Several baselines give a block of columns each, with the
        name of the baseline in the heading. None for means only.
    perquery : bool or "both"
        True for PyTerrier's frame of the values of each query, without any comparison; "both" for that and the usual frame.
    highlight : {"bold", "color", "colour"}, optional
        Mark the best value of each measure, in its own direction; the frame becomes a Styler of pandas.
    cutoff, rel : int, optional
        Of outcomes and verdicts. By default those of the measures, where they agree; else those of the dataset, or 100 and 1.
        They are in ``frame.attrs``, with a note on where they come from.
    unit, ties, judged_only
        See `ir_outcomes.evaluate`.
    alpha, coverage_test, margins
        See `ir_outcomes.compare`.
    test : {"t", "wilcoxon", "sign", "signflip"}
        Which test decides on ranking; the p-values of the measures are of the same test.
    correction : str or None
        Correction over the systems, of each facet and of each measure separately: "holm", "bonferroni", "fdr_bh", or any that
        ``statsmodels.stats.multitest.multipletests`` knows, if statsmodels is installed. Under those that only statsmodels has,
        verdicts are corrected by Holm's method. None or "none" for no correction, which is PyTerrier's default.
    correction_alpha : float, optional
        Level of the columns ``reject``; by default `alpha`.
    round : int or mapping of str to int, optional
        Decimal places of the means of the measures.
    returns : {"frame", "comparisons", "both"}
        The frame; the `Comparisons`, with everything that `ir_outcomes.compare` gives (of several baselines a dict by their
        names); or both, in this order.
    **options
        Passed on to `pyterrier.Experiment`: ``batch_size``, ``filter_by_qrels``, ``filter_by_topics``, ``plan``, ``save_dir``,
        ``save_mode``, ``save_format``, ``validate``, ``verbose``.

    Returns
    -------
    pandas.DataFrame, Comparisons, or both
        A row for each system: ``name``; the mean of each measure, over the queries where it is defined; how many queries are
        ``answered``; for each measure on how many queries the system is better (``+``) and worse (``-``) than the
        baseline, in the measure's own direction, with its p-value, and under a correction ``reject`` and ``p-value corrected``;
        then the difference and p-value of both facets, and the ``verdict``. The settings are in ``frame.attrs``.

    Raises
    ------
    MissingDependency
        If PyTerrier is not installed, or statsmodels or Jinja2 where an argument needs it.
    ParameterError
        If an argument makes no sense.
    InputError
        If topics, qrels or results are malformed, or do not belong together; or a system fails. The message names the system.

    References
    ----------
    Lin et al. 2021, sections 4 and 5.
    """
    terrier()
    import pandas as pd

    check_choice("returns", returns, ("frame", "comparisons", "both"))
    if perquery not in (False, True, "both"):
        raise ParameterError(f"perquery={perquery!r}: must be False, True or 'both'")
    if highlight is not None:
        check_choice("highlight", highlight, tuple(STYLES))
    for name, remedy in _REPLACED.items():
        if name in options:
            raise ParameterError(f"{name}: not an argument of ir_outcomes' experiment; {remedy}")
    if returns != "frame" and (baseline is None or perquery):
        raise ParameterError(f"returns={returns!r} needs a baseline, and no perquery; name one, or ask for the frame only")
    corrected_by = known_correction(correction)
    named = named_systems(systems, names)
    bases = baseline_places(baseline, list(named))
    measures = measures_by_column(eval_metrics)
    task = task_of(qrels)
    chosen = choose_settings(cutoff, rel, measures.values(), task)
    topics, qrels = read_topics(topics), read_qrels(qrels)
    settings: dict[str, Any] = {
        "cutoff": chosen.cutoff, "rel": chosen.rel, "ties": ties, "judged_only": judged_only,
    }  # fmt: skip
    ran = _run(named, topics, qrels, measures, settings, options)
    if perquery is True:
        return ran.perquery
    resolved_unit = task.unit if unit == "auto" and task is not None else unit
    evaluation = evaluate(
        ran.judgments, list(ran.lengths), names=list(named), unit=resolved_unit, queries=query_texts(topics), **settings
    )
    results: dict[int, Comparisons] = {}
    if len(named) > 1:
        for base in bases:
            found = compare(
                evaluation,
                evaluation.names[base],
                [name for place, name in enumerate(evaluation.names) if place != base],
                alpha=alpha,
                test=test,
                coverage_test=coverage_test,
                correction=cast("Any", corrected_by if corrected_by in ("bonferroni", "fdr_bh", "none") else "holm"),
                margins=margins,
            )
            results[base] = replace(cast("Comparisons", found), notes=chosen.notes)
    compared: Any = {evaluation.names[base]: result for base, result in results.items()}
    if not isinstance(baseline, (list, tuple)):
        compared = next(iter(results.values()), None)
    if returns == "comparisons":
        return compared

    columns: dict[str, Any] = {"name": list(named)}
    judged = set(ran.judgments.query_ids)
    values = {name: [ran.values[system, str(measure)] for system in named] for name, measure in measures.items()}
    for name, measure in measures.items():
        columns[name] = rounded([mean(measure, of_system, judged) for of_system in values[name]], name, round)
    columns["answered"] = [int(run.answered().sum()) for run in evaluation.at()]
    for base, result in results.items():
        block: dict[str, Any] = {}
        for name, measure in measures.items():
            level = alpha if correction_alpha is None else correction_alpha
            block |= changes(name, measure, values[name], base, judged, test=test, correction=corrected_by, alpha=level)
        block |= facets(result, base, corrected=corrected_by != "none")
        suffix = f" (against {evaluation.names[base]})" if len(bases) > 1 else ""
        columns |= {f"{heading}{suffix}": column for heading, column in block.items()}
    frame: Any = pd.DataFrame(columns)
    notes = list(chosen.notes)
    if corrected_by not in ("holm", "bonferroni", "fdr_bh", "none"):
        notes.append(f"Verdicts are corrected by holm; {corrected_by} corrects the p-values of the measures.")
    frame.attrs.update(
        settings, unit=evaluation.unit, alpha=alpha, correction=corrected_by, n_queries=int(evaluation.answerable.sum()),
        notes=notes,
    )  # fmt: skip
    if highlight is not None:
        frame = highlighted(frame, measures, highlight)
    shown = Frames(frame, ran.perquery) if perquery == "both" else frame
    return (shown, compared) if returns == "both" else shown


class _Ran(NamedTuple):
    """What an experiment left behind."""

    judgments: Qrels
    perquery: Any
    values: Mapping[tuple[str, str], Values]
    lengths: Sequence[Any]


def _run(
    named: Mapping[str, Any],
    topics: Any,
    qrels: Any,
    measures: Mapping[str, Any],
    settings: Mapping[str, Any],
    options: Mapping[str, Any],
) -> _Ran:
    """Let PyTerrier run and evaluate the systems, and keep the search lengths on the way."""
    judgments = as_qrels(qrels)
    with Recording(**settings) as recording:
        metrics = [*dict.fromkeys(measures.values()), recording.measure]
        with warnings.catch_warnings():
            # What it says of topics without qrels does not hold here: they are in no mean.
            warnings.filterwarnings("ignore", message=r".*topic\(s\) not found in qrels", category=UserWarning)
            try:
                perquery = terrier().Experiment(
                    list(named.values()), topics, qrels, metrics, list(named), perquery=True, **options
                )
            except Exception as error:
                system = _failed_system(error.__traceback__, named)
                if system is None or (isinstance(error, IrOutcomesError) and not isinstance(error, InputError)):
                    raise
                said = str(error) if isinstance(error, IrOutcomesError) else f"{type(error).__name__}: {error}"
                remedy = "; leave out that system, or take larger batches" if "no results" in said else ""
                raise FormatError(system, f"cannot be evaluated: {said}{remedy}") from error
    number = str(recording.measure)
    values: dict[tuple[str, str], dict[str, float]] = {}
    for name, measure, query, value in zip(*(list(perquery[c]) for c in ("name", "measure", "qid", "value")), strict=True):
        values.setdefault((name, measure), {})[query] = value
    lengths = []
    for name in named:
        numbers = values[name, number]
        evaluated = {query: numbers[query] for query in judgments.query_ids if query in numbers}
        lengths.append(replace(recording.lengths(name, evaluated), qrels_digest=judgments.digest))
    kept = perquery[perquery["measure"] != number].reset_index(drop=True)
    headings = {str(measure): name for name, measure in [*measures.items()][::-1]}  # of map and AP the first
    return _Ran(judgments, kept.assign(measure=kept["measure"].map(headings)), values, lengths)


def _failed_system(traceback: TracebackType | None, named: Mapping[str, Any]) -> str | None:
    """Find the system that PyTerrier was running: a function on the way to the error has it, or a part of it, as a variable."""
    parts = {name: [system, *getattr(system, "_transformers", ())] for name, system in named.items()}
    found: list[str] = []
    while traceback is not None:
        variables = list(traceback.tb_frame.f_locals.values())
        holding = [name for name, of_system in parts.items() if any(value is part for value in variables for part in of_system)]
        # A part that several pipelines share, which the tree plan runs once, fails for all of them.
        found = holding if not found or (holding and len(holding) < len(found)) else found
        traceback = traceback.tb_next
    return ", ".join(found) or None
