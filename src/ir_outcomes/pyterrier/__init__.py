"""The one place that knows PyTerrier: experiments with the right means, directions and verdicts.

`pyterrier.Experiment` takes the measures of this package as they are; but it averages by plain sum,
takes the largest value for the best, and calls a p-value that is not a number a rejection.
`experiment` has the same arguments and runs it once, for its per-query values, and computes the
rest itself. It needs the extra ``pyterrier``, which is PyTerrier without Java.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Literal, get_args

import numpy as np

from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.result import Comparisons
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.evaluation import DEFAULT_CUTOFF
from ir_outcomes.measures.base import SearchLengthMeasure
from ir_outcomes.measures.recording import Recording
from ir_outcomes.pyterrier.inputs import (
    measures_by_column,
    named_baselines,
    named_systems,
    of_dataset,
    read_topics,
    terrier,
)
from ir_outcomes.reading.datasets import Task, open_collection
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.statistics import adjust, differences, paired_tests
from ir_outcomes.types import Correction, Floats, OneOrder, RankingTest, UnitChoice, check_choice

__all__ = ["experiment"]


def experiment(
    systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any] = (),
    names: Sequence[str] | None = None,
    *,
    baseline: int | str | Sequence[int | str] | None = 0,
    highlight: Literal["bold", "color", "colour"] | None = None,
    cutoff: int | None = None,
    rel: int | None = None,
    unit: UnitChoice = "auto",
    ties: OneOrder = "trec",
    judged_only: bool = False,
    alpha: float = 0.05,
    test: RankingTest | Callable[..., Any] = "t",
    correction: Correction | None = "holm",
    margins: tuple[float, ...] | None = None,
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
        With the columns ``qid`` and ``query``. Whole-number ids become text, here and in `qrels`
        and frames of results.
    qrels : frame, path, dataset id or dataset of PyTerrier
        With the columns ``qid``, ``docno`` and ``label``. A dataset id brings its cutoff, relevance
        and unit along.
    eval_metrics : sequence of measures or str
        Measures of ir_measures, as objects or text (``"ESL@100"``), or names of trec_eval's.
    names : sequence of str, optional
        Names of the systems; by default PyTerrier's.
    baseline : int, str, sequence of these, or None
        Which system the others are compared with: its place or name. Several give a block of
        columns each; None means only.
    highlight : {"bold", "color", "colour"}, optional
        Mark the best value of each measure, in its own direction; the frame becomes a Styler of
        pandas.
    cutoff, rel : int, optional
        Of outcomes and verdicts. By default those of the measures, where they agree; else those of
        the dataset, or 100 and 1.
    unit, ties, judged_only, alpha, margins
        See `ir_outcomes.evaluate` and `ir_outcomes.compare`.
    test : {"t", "wilcoxon", "signflip"} or callable
        Which test decides on ranking; the p-values of the measures are of the same test. As in
        PyTerrier it can be a function of paired values, such as ``scipy.stats.ttest_rel``; it is
        called with the differences and with zeros.
    correction : {"holm", "bonferroni", "fdr_bh", "none"} or None
        Correction over the systems, of each facet and measure separately.
    round : int or mapping of str to int, optional
        Decimal places of the means of the measures.
    returns : {"frame", "comparisons", "both"}
        The frame; the `Comparisons` behind it (of several baselines a dict by their names); or
        both, in this order.
    **options
        Passed on to `pyterrier.Experiment`: ``batch_size``, ``filter_by_qrels``,
        ``filter_by_topics``, ``plan``, ``save_dir``, ``save_mode``, ``save_format``, ``validate``,
        ``verbose``.

    Returns
    -------
    pandas.DataFrame, Comparisons, or both
        A row for each system: ``name``; the mean of each measure, over the queries where it is
        defined; ``answered (queries)``; for each measure on how many queries the system is better
        (``+``) and worse (``-``) than the baseline, in the measure's own direction, with its
        p-value, and under a correction ``reject`` and ``p-value corrected``; then both facets, with
        their unit, and the ``verdict``. The settings, and notes on where they come from, are in
        ``frame.attrs``.

    Raises
    ------
    MissingDependency
        If PyTerrier is not installed.
    ParameterError
        If an argument makes no sense.
    InputError
        If topics or qrels are malformed. What a system or PyTerrier raises is passed on.
    """
    terrier()
    import pandas as pd

    check_choice("returns", returns, ("frame", "comparisons", "both"))
    if highlight is not None:
        check_choice("highlight", highlight, tuple(_STYLES))
    for name in _INSTEAD.keys() & options.keys():
        raise ParameterError(
            f"{name}: not an argument of ir_outcomes' experiment; {_INSTEAD[name]}"
        )
    if returns != "frame" and baseline is None:
        raise ParameterError(
            "needs a baseline; name one, or ask for the frame only", returns=returns
        )
    corrected_by = "none" if correction is None else correction
    check_choice("correction", corrected_by, get_args(Correction))
    named = named_systems(systems, names)
    bases = named_baselines(baseline, list(named))
    measures = measures_by_column(eval_metrics)
    collection = open_collection(of_dataset(qrels, "get_qrels"), {})
    judgments = collection.qrels
    chosen, about_settings = _choose_settings(cutoff, rel, measures.values(), collection.task)
    settings: dict[str, Any] = {**chosen, "ties": ties, "judged_only": judged_only}
    topics = read_topics(topics)
    kept = Recording(**settings)
    values = _run(named, topics, judgments, [*measures.values(), kept], options)
    numbers = values.loc[str(kept)]
    lengths = [
        replace(kept.lengths(name, numbers.loc[name].to_dict()), qrels_digest=judgments.digest)
        for name in named
    ]
    texts_of = {}
    if "query" in topics.columns:
        texts_of = dict(zip(topics["qid"], map(str, topics["query"]), strict=True))
    evaluation = evaluate(
        collection.task or judgments,
        lengths,
        names=list(named),
        unit=unit,
        queries=texts_of,
        **settings,
    )
    deciding = _of_differences(test) if callable(test) else test
    results: dict[str, Comparisons] = {}
    rules: dict[str, Any] = {
        "alpha": alpha,
        "test": deciding,
        "margins": margins,
        "correction": corrected_by,
    }
    for base in bases if len(named) > 1 else ():
        others = [name for name in named if name != base]
        results[base] = replace(compare(evaluation, base, others, **rules), notes=about_settings)
    compared: Any = results
    if not isinstance(baseline, (list, tuple)):
        compared = next(iter(results.values()), None)
    if returns == "comparisons":
        return compared

    by_query = {
        name: values.loc[str(measure)].loc[list(named)].to_numpy()
        for name, measure in measures.items()
    }
    columns: dict[str, Any] = {"name": list(named)}
    for name, measure in measures.items():
        columns[name] = [_mean(measure, of_system) for of_system in by_query[name]]
    columns[_ANSWERED] = [int(run.answered().sum()) for run in evaluation.at()]
    for base, result in results.items():
        place = list(named).index(base)
        block: dict[str, Any] = {}
        for name, measure in measures.items():
            values_of = by_query[name]
            block |= _changes(name, measure, values_of, place, deciding, corrected_by, alpha)
        block |= _facets(result, place, corrected=corrected_by != "none")
        suffix = f" (against {base})" if len(bases) > 1 else ""
        columns |= {f"{heading}{suffix}": column for heading, column in block.items()}
    frame: Any = pd.DataFrame(columns)
    if round is not None:
        frame = frame.round(round if isinstance(round, Mapping) else dict.fromkeys(measures, round))
    frame.attrs.update(
        settings,
        unit=evaluation.unit,
        alpha=alpha,
        correction=corrected_by,
        n_queries=int(evaluation.answerable.sum()),
        notes=list(about_settings),
    )
    shown = frame if highlight is None else _highlighted(frame, measures, _STYLES[highlight])
    return (shown, compared) if returns == "both" else shown


def _run(
    named: Mapping[str, Any],
    topics: Any,
    judgments: Qrels,
    measures: Iterable[Any],
    options: Mapping[str, Any],
) -> Any:
    """Let PyTerrier run and evaluate the systems; returns a row of values for each measure and system, by query."""
    import pandas as pd

    grades = judgments.for_trec_eval().to_dict()
    rows = [(query, *judged) for query, documents in grades.items() for judged in documents.items()]
    qrels = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    metrics = list(dict.fromkeys(measures))
    with warnings.catch_warnings():
        # What it says of topics without qrels does not hold here: they are in no mean.
        warnings.filterwarnings(
            "ignore", message=r".*topic\(s\) not found in qrels", category=UserWarning
        )
        ran = terrier().Experiment(
            list(named.values()), topics, qrels, metrics, list(named), perquery=True, **options
        )
    # PyTerrier adds NaN for topics without qrels.
    judged = ran[ran["qid"].isin(judgments.query_ids)]
    values = judged.pivot(index=["measure", "name"], columns="qid", values="value")
    return values[[query for query in judgments.query_ids if query in values.columns]]


def _choose_settings(
    cutoff: int | None, rel: int | None, measures: Iterable[Any], task: Task | None
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return cutoff and rel, with notes: those of the arguments, else of the measures if they agree, else of the dataset."""
    measures = list(measures)
    # Our measures come before others, because the number of answered queries stands beside them.
    own = [measure for measure in measures if isinstance(measure, SearchLengthMeasure)]
    defaults = (task.cutoff, task.rel) if task else (DEFAULT_CUTOFF, 1)
    notes = []
    chosen = {}
    for name, given, default in zip(("cutoff", "rel"), (cutoff, rel), defaults, strict=True):
        found = (_parameter(measure, name) for measure in own or measures)
        values = sorted({value for value in found if value is not None})
        used = f"measures use {', '.join(map(str, values))}"
        if given is not None:
            chosen[name], why = given, f"the argument; {used}"
        elif len(values) == 1:
            chosen[name], why = values[0], "that of the measures"
        else:
            chosen[name], why = default, f"because {used}; choose another one with `{name}`"
        if values and (given is None or (own and values != [given])):
            notes.append(f"Outcomes and verdicts use {name} {chosen[name]}, {why}.")
    return chosen, tuple(notes)


def _parameter(measure: Any, name: str) -> int | None:
    """Return the cutoff or relevance level that a measure has; the default level of ours is 1."""
    if name not in getattr(measure, "SUPPORTED_PARAMS", {}):
        return None
    value = measure[name] if isinstance(measure, SearchLengthMeasure) else measure.params.get(name)
    return value if isinstance(value, int) else None


# What serves instead of arguments of PyTerrier.
_INSTEAD = {
    "dataframe": "it is always a frame, call its to_dict()",
    "perquery": "call pyterrier.Experiment for the values of each query",
    "correction_alpha": "give alpha",
}
_ANSWERED = "answered (queries)"
_STYLES = {
    "bold": "font-weight: bold",
    "color": "background-color: lightgreen",
    "colour": "background-color: lightgreen",
}


def _mean(measure: Any, values: Floats) -> float:
    """Average the values of a measure as ir_measures does."""
    total = measure.aggregator()
    for value in values.tolist():
        total.add(value)
    return float(total.result())


def _of_differences(test: Callable[..., Any]) -> Callable[[Floats], Any]:
    """Make a test of differences from one of paired values, which returns SciPy's result, or a statistic and a p-value."""

    @wraps(test)
    def of_one_sample(changes: Floats) -> Any:
        found = test(changes, np.zeros(len(changes)))
        return found if hasattr(found, "pvalue") else found[1]

    return of_one_sample


def _pvalue(changes: Floats, test: str | Callable[[Floats], Any]) -> float:
    if not callable(test):
        return paired_tests(changes)[test].pvalue
    found = test(changes)
    return float(getattr(found, "pvalue", found))


def _changes(
    name: str,
    measure: Any,
    values: Floats,
    base: int,
    test: str | Callable[..., Any],
    correction: str,
    alpha: float,
) -> dict[str, Any]:
    """Make PyTerrier's columns of (n_systems, n_queries) values, in the direction of the measure, where both have a value."""
    sign = 1 if getattr(measure, "HIGHER_IS_BETTER", True) else -1
    changes = []
    for row in np.delete(values, base, axis=0):
        both = np.isfinite(values[base]) & np.isfinite(row)
        changes.append(sign * differences(values[base][both], row[both]))
    pvalues = [_pvalue(change, test) for change in changes]
    is_tested = [len(change) > 0 for change in changes]
    columns = {
        "+": [np.sum(change > 0) for change in changes],
        "-": [np.sum(change < 0) for change in changes],
        "p-value": np.where(is_tested, pvalues, np.nan),
    }
    rejected: dict[str, Any] = {}
    if correction != "none":
        corrected = adjust(pvalues, correction)
        columns["p-value corrected"] = np.where(is_tested, corrected, np.nan)
        rejected = {f"{name} reject": np.insert(corrected <= alpha, base, False)}
    return {
        f"{name} {heading}": _beside_baseline(column, base) for heading, column in columns.items()
    } | rejected


def _beside_baseline(column: Any, base: int) -> Floats:
    """Return the numbers of the contenders with NaN in the place of the baseline, and where there is none."""
    return np.insert(np.asarray(column, dtype=np.float64), base, np.nan)


def _facets(result: Comparisons, base: int, *, corrected: bool) -> dict[str, Any]:
    """Return the columns of the two facets and the verdict, with the unit of each in its name."""
    pvalue = "p-value corrected" if corrected else "p-value"
    unit = f"by {result[0].settings.unit}"
    labels: list[str | None] = [item.verdict.label for item in result]
    rows = result.rows()
    columns = {
        f"coverage difference (pp, {unit})": [row["coverage_difference"] for row in rows],
        f"coverage {pvalue}": [row["coverage_p_corrected"] for row in rows],
        f"ranking difference (ranks, {unit})": [row["ranking_difference"] for row in rows],
        f"ranking {pvalue}": [row["ranking_p_corrected"] for row in rows],
    }
    numbers = {heading: _beside_baseline(column, base) for heading, column in columns.items()}
    return {**numbers, "verdict": [*labels[:base], None, *labels[base:]]}


def _highlighted(frame: Any, measures: Mapping[str, Any], style: str) -> Any:
    """Mark the best value of each measure, which is the smallest one for a search length; returns a Styler of pandas."""
    lower = [
        name for name, measure in measures.items() if not getattr(measure, "HIGHER_IS_BETTER", True)
    ]
    higher = [name for name in (*measures, _ANSWERED) if name not in lower]
    return frame.style.highlight_max(higher, props=style).highlight_min(lower, props=style)
