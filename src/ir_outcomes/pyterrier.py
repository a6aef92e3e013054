"""The one place that knows PyTerrier: experiments with the right means, directions and verdicts.

`pyterrier.Experiment` takes the measures of this package as they are; but it averages by plain sum, takes the largest value for
the best, and calls a p-value that is not a number a rejection. `experiment` has the same arguments and runs it once, for its
per-query values, and does the rest itself. It needs the extra ``pyterrier``, which is PyTerrier without Java.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from ir_outcomes._checks import check_choice
from ir_outcomes._types import Ties
from ir_outcomes.comparison import Comparison, Comparisons, compare, compare_outputs
from ir_outcomes.errors import FormatError, IrOutcomesError, MissingDependency, ParameterError
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.measures import parse_measure
from ir_outcomes.measures.recording import Recording
from ir_outcomes.reading.columns import texts
from ir_outcomes.reading.qrels import as_qrels
from ir_outcomes.statistics import adjust, differences, t_test, wilcoxon

__all__ = ["comparisons", "experiment"]

_OURS = {
    "perquery": "call pyterrier.Experiment for the per-query values",
    "dataframe": "it is always a frame; call its to_dict()",
    "highlight": "it would mark the largest value, which is the worst search length",
    "correction_alpha": "write alpha=",
    "retr_systems": "write systems=",
}


def experiment(
    systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any] = (),
    names: Sequence[str] | None = None,
    *,
    baseline: int | str | None = 0,
    cutoff: int = 100,
    rel: int = 1,
    unit: Literal["auto", "query", "document"] = "auto",
    ties: Ties = "trec",
    judged_only: bool = False,
    alpha: float = 0.05,
    test: Literal["t", "wilcoxon", "sign", "signflip"] = "t",
    coverage_test: Literal["exact", "midp"] = "exact",
    correction: Literal["holm", "bonferroni", "fdr_bh", "none"] | None = "holm",
    margins: tuple[float, float] | None = None,
    round: int | Mapping[str, int] | None = None,
    returns: Literal["frame", "comparisons", "both"] = "frame",
    seed: int = 0,
    resamples: int = 99_999,
    **options: Any,
) -> Any:
    """Run and compare systems: `pyterrier.Experiment`, with both facets and the verdict.

    Parameters
    ----------
    systems : list or dict of transformers and frames
        The systems; a dict's keys are their names.
    topics : frame or path
        With the columns ``qid`` and ``query``. Whole-number ids become text, here and in `qrels` and frames of results.
    qrels : frame or path
        With the columns ``qid``, ``docno`` and ``label``.
    eval_metrics : sequence of measures or str
        Measures of ir_measures, as objects or text (``"ESL@100"``), or names of trec_eval's.
    names : sequence of str, optional
        Names of the systems; by default PyTerrier's.
    baseline : int, str or None
        Which system the others are compared with: its place or name. None for means only.
    cutoff, rel, unit, ties, judged_only, alpha, coverage_test, margins, seed, resamples
        See `ir_outcomes.compare`.
    test : {"t", "wilcoxon", "sign", "signflip"}
        Which test decides on ranking. The p-values of the measures are of Wilcoxon's test if it is that, else of the t-test.
    correction : {"holm", "bonferroni", "fdr_bh", "none"} or None
        Correction over the systems, of each facet and of each measure by itself.
    round : int or mapping of str to int, optional
        Decimal places of the measures' means.
    returns : {"frame", "comparisons", "both"}
        The frame; the `Comparisons`, with everything that `ir_outcomes.compare` gives; or both, in this order.
    **options
        Passed on to `pyterrier.Experiment`: ``batch_size``, ``filter_by_qrels``, ``filter_by_topics``, ``plan``, ``save_dir``,
        ``save_mode``, ``save_format``, ``validate``, ``verbose``.

    Returns
    -------
    pandas.DataFrame, Comparisons, or both
        A row for each system: ``name``; the mean of each measure, over the queries where it is defined; how many queries are
        ``answered``; for each measure on how many queries the system is better (``+``) and worse (``-``) than the
        baseline, in the measure's own direction, with its p-value; then the difference and corrected p-value of both facets,
        and the ``verdict``.

    Raises
    ------
    MissingDependency
        If PyTerrier is not installed.
    ParameterError
        If an argument makes no sense.
    InputError
        If topics, qrels or results are malformed, or do not belong together.

    References
    ----------
    Lin et al. 2021, sections 4 and 5.
    """
    pt = _pyterrier()
    check_choice("returns", returns, ("frame", "comparisons", "both"))
    for name, remedy in _OURS.items():
        if name in options:
            raise ParameterError(f"{name}: not an argument of ir_outcomes' experiment; {remedy}")
    if returns != "frame" and baseline is None:
        raise ParameterError(f"returns={returns!r} needs a baseline; name one, or ask for the frame only")
    runs, called = _systems(systems, names)
    base = _place(baseline, called)
    topics, qrels = _frame(topics, pt.io.read_topics, "topics"), _frame(qrels, pt.io.read_qrels, "qrels")
    _check_topics(topics)
    judgments = as_qrels(qrels)
    measures = _measures(eval_metrics)
    settings: dict[str, Any] = {"cutoff": cutoff, "rel": rel, "ties": ties, "judged_only": judged_only}
    with Recording(**settings) as recording:
        metrics = [*dict.fromkeys(measures.values()), recording.measure]
        with warnings.catch_warnings():
            # What it says of topics without qrels does not hold here: they are in no mean.
            warnings.filterwarnings("ignore", message=r".*topic\(s\) not found in qrels", category=UserWarning)
            try:
                table = _values(pt.Experiment(runs, topics, qrels, metrics, called, perquery=True, **options))
            except ValueError as error:
                if isinstance(error, IrOutcomesError) or "no results" not in str(error):
                    raise
                raise FormatError(
                    "the experiment", f"cannot be evaluated: {error}; leave out that system, or take larger batches"
                ) from error
    number = str(recording.measure)
    judged = set(judgments.query_ids)
    lengths: list[SearchLengths] = []
    for name in called:
        numbers = table[name, number]
        evaluated = {query: numbers[query] for query in judgments.query_ids if query in numbers}
        lengths.append(replace(recording.lengths(name, evaluated), qrels_digest=judgments.digest))

    result = None
    if base is not None and len(runs) > 1:
        result = compare(
            judgments, lengths[base], [each for place, each in enumerate(lengths) if place != base], **settings, unit=unit,
            alpha=alpha, test=test, coverage_test=coverage_test, correction=correction or "none", margins=margins,
            names=[called[base], *(name for place, name in enumerate(called) if place != base)], seed=seed, resamples=resamples,
            texts=_texts(topics),
        )  # fmt: skip
    if returns == "comparisons":
        return result
    columns: dict[str, Any] = {"name": called}
    for name, measure in measures.items():
        columns[name] = _rounded([_mean(measure, table[system, str(measure)], judged) for system in called], name, round)
    columns["answered"] = [int(each.answered().sum()) for each in lengths]
    if base is not None and isinstance(result, Comparisons):
        for name, measure in measures.items():
            columns |= _changes(name, measure, [table[each, str(measure)] for each in called], base, judged, test, correction)
        columns |= _facets(result, base)
    frame = _pandas().DataFrame(columns)
    return frame if returns == "frame" else (frame, result)


def comparisons(
    perquery: Any,
    *,
    baseline: str,
    measure: Any = None,
    qrels: Any = None,
    **settings: Any,
) -> Comparisons:
    """Compare the systems of an experiment that has already been run with ``perquery=True``.

    Parameters
    ----------
    perquery : frame or tuple
        What `pyterrier.Experiment` returned for ``perquery=True`` or ``"both"``, or the path of the ``perquery.csv`` in its
        ``save_dir``.
    baseline : str
        Name of the system that the others are compared with.
    measure : measure or str, optional
        Which of its measures; by default a reciprocal rank or ESL. See `ir_outcomes.compare_outputs`.
    qrels : frame or anything that `ir_outcomes.as_qrels` takes, optional
        Tells which queries are answerable. Without it, topics without qrels count as unanswered.
    **settings
        See `ir_outcomes.compare_outputs`.

    Returns
    -------
    Comparisons

    Raises
    ------
    ParameterError
        If there is no such system.
    FormatError
        If it is not per-query values.
    """
    if hasattr(perquery, "perquery"):
        perquery = perquery.perquery
    if isinstance(perquery, (str, os.PathLike)):
        perquery = _pandas().read_csv(perquery, dtype={"qid": str, "name": str})
    if not hasattr(perquery, "columns") or "name" not in perquery.columns:
        raise FormatError("the experiment", "is not a frame of per-query values; run it with perquery=True")
    names = list(dict.fromkeys(map(str, perquery["name"])))
    if baseline not in names:
        raise ParameterError(f"baseline={baseline!r}: no system has this name; they are {', '.join(names)}")
    if len(names) < 2:
        raise ParameterError(f"the experiment has one system only, {baseline}; there is nothing to compare it with")
    ordered = (baseline, *(name for name in names if name != baseline))
    text = None if measure is None else str(measure)
    others = [perquery] * (len(names) - 1)
    return cast("Comparisons", compare_outputs(perquery, others, names=ordered, measure=text, qrels=qrels, **settings))


def _pyterrier() -> Any:
    try:
        import pyterrier
    except ImportError:
        raise MissingDependency("this needs PyTerrier, without Java: pip install 'ir-outcomes[pyterrier]'") from None
    return pyterrier


def _pandas() -> Any:
    import pandas

    return pandas


def _systems(systems: Any, names: Sequence[str] | None) -> tuple[list[Any], list[str]]:
    if isinstance(systems, Mapping):
        runs, called = list(systems.values()), list(map(str, systems))
    elif isinstance(systems, (list, tuple)):
        runs = list(systems)
        called = [str(system) for system in runs] if names is None else list(map(str, names))
        if names is None and any(hasattr(system, "columns") for system in runs):
            called = [f"system {place}" if hasattr(run, "columns") else str(run) for place, run in enumerate(runs)]
    else:
        raise ParameterError(f"systems: must be a list or dict of transformers and frames, not {type(systems).__name__}")
    if len(called) != len(runs) or not runs:
        raise ParameterError(f"names: {len(called)} names for {len(runs)} systems; give one to each")
    twice = [name for name in called if called.count(name) > 1]
    if twice:
        raise ParameterError(f"two systems are called {twice[0]}; tell them apart with names=")
    return [_results(run, name) if hasattr(run, "columns") else run for run, name in zip(runs, called, strict=True)], called


def _place(baseline: int | str | None, called: list[str]) -> int | None:
    if baseline is None:
        return None
    if isinstance(baseline, str) and baseline in called:
        return called.index(baseline)
    if isinstance(baseline, (int, np.integer)) and not isinstance(baseline, bool) and 0 <= baseline < len(called):
        return int(baseline)
    raise ParameterError(
        f"baseline={baseline!r}: must be the place of a system, 0 to {len(called) - 1}, or its name: {', '.join(called)}"
    )


def _frame(data: Any, read: Any, what: str) -> Any:
    """Read topics or qrels, with ids as text: PyTerrier makes those of results text, and would then match none."""
    if isinstance(data, (str, os.PathLike)):
        data = read(os.fspath(data))
    if not hasattr(data, "columns"):
        raise FormatError(f"the {what}", f"must be a frame or a path, not {type(data).__name__}")
    for column in ("qid", "docno", "label") if what == "qrels" else ("qid",):
        if column not in data.columns:
            raise FormatError(f"the {what}", f"has no column {column!r}; its columns are {', '.join(map(str, data.columns))}")
    return _with_text_ids(data, f"the {what}")


def _results(frame: Any, name: str) -> Any:
    for column in ("qid", "docno", "score"):
        if column not in frame.columns:
            raise FormatError(name, f"has no column {column!r}; its columns are {', '.join(map(str, frame.columns))}")
    if not len(frame):
        raise FormatError(name, "holds no result at all; leave this system out")
    return _with_text_ids(frame, name)


def _with_text_ids(frame: Any, source: str) -> Any:
    ids = {column: texts(list(frame[column]), source, column) for column in ("qid", "docno") if column in frame.columns}
    return frame.assign(**ids)


def _check_topics(topics: Any) -> None:
    twice = topics["qid"][topics["qid"].duplicated()]
    if len(twice):
        raise FormatError("the topics", f"hold topic {twice.iloc[0]} twice; keep one")


def _texts(topics: Any) -> dict[str, str]:
    return dict(zip(topics["qid"], map(str, topics["query"]), strict=True)) if "query" in topics.columns else {}


def _measures(eval_metrics: Sequence[Any]) -> dict[str, Any]:
    """Turn measures and their names into measures, by the name of their column."""
    from ir_measures import parse_trec_measure

    if isinstance(eval_metrics, str) or not isinstance(eval_metrics, Sequence):
        raise ParameterError("eval_metrics: must be a list of measures, such as [ESL@100, 'map']")
    measures: dict[str, Any] = {}
    for each in eval_metrics:
        if each == "mrt":
            raise ParameterError("mrt: PyTerrier gives response times with means only; call pyterrier.Experiment for them")
        if isinstance(each, str):
            try:
                found = parse_trec_measure(each)
            except (ValueError, NameError):
                found = [parse_measure(each)]
            measures |= {each: found[0]} if len(found) == 1 else {str(measure): measure for measure in found}
        else:
            measures[str(each)] = each
    return measures


def _values(perquery: Any) -> dict[tuple[str, str], dict[str, float]]:
    table: dict[tuple[str, str], dict[str, float]] = {}
    columns = (list(perquery[column]) for column in ("name", "measure", "qid", "value"))
    for name, measure, query, value in zip(*columns, strict=True):
        table.setdefault((name, measure), {})[query] = value
    return table


def _mean(measure: Any, values: Mapping[str, float], judged: set[str]) -> float:
    total = measure.aggregator()
    for query, value in values.items():
        if query in judged:  # PyTerrier adds NaN for topics without qrels
            total.add(value)
    return float(total.result())


def _rounded(values: list[float], name: str, places: int | Mapping[str, int] | None) -> list[float]:
    chosen = places.get(name) if isinstance(places, Mapping) else places
    return values if chosen is None else [float(np.round(value, chosen)) for value in values]


def _changes(
    name: str,
    measure: Any,
    values: list[dict[str, float]],
    base: int,
    judged: set[str],
    test: str,
    correction: str | None,
) -> dict[str, Any]:
    """Make PyTerrier's columns of a measure, in its own direction, over the queries on which both systems have a value."""
    queries = [query for query in values[base] if query in judged]
    table = np.array([[each.get(query, np.nan) for query in queries] for each in values], dtype=np.float64)
    sign = 1 if getattr(measure, "HIGHER_IS_BETTER", True) else -1
    better, worse, pvalues = [], [], []
    for row in table:
        both = np.isfinite(table[base]) & np.isfinite(row)
        change: npt.NDArray[np.float64] = sign * differences(table[base][both], row[both])
        better.append(int(np.sum(change > 0)))
        worse.append(int(np.sum(change < 0)))
        pvalues.append((wilcoxon if test == "wilcoxon" else t_test)(change).pvalue)
    others = [place for place in range(len(values)) if place != base]
    columns: dict[str, Any] = {
        f"{name} +": _but(better, others),
        f"{name} -": _but(worse, others),
        f"{name} p-value": _but(pvalues, others),
    }
    if correction not in (None, "none"):
        corrected = dict(zip(others, adjust([pvalues[place] for place in others], str(correction)).tolist(), strict=True))
        columns[f"{name} p-value corrected"] = [corrected.get(place, np.nan) for place in range(len(values))]
    return columns


def _facets(result: Comparisons, base: int) -> dict[str, Any]:
    items: list[Comparison | None] = list(result)
    items.insert(base, None)
    return {
        "coverage difference": [np.nan if each is None else _number(each.coverage.difference) for each in items],
        "coverage p-value": [np.nan if each is None else each.coverage.pvalue_corrected for each in items],
        "ranking difference": [np.nan if each is None else _number(each.ranking.difference) for each in items],
        "ranking p-value": [np.nan if each is None else each.ranking.pvalue_corrected for each in items],
        "verdict": [None if each is None else each.verdict.label for each in items],
    }


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _but(values: Sequence[float], others: list[int]) -> list[float]:
    return [float(value) if place in others else np.nan for place, value in enumerate(values)]
