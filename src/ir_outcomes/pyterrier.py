"""The one module that knows PyTerrier: experiments with the right means, directions and verdicts.

`pyterrier.Experiment` takes the measures of this package as they are; but it averages by plain sum, takes the largest value for
the best, and calls a p-value that is not a number a rejection. `experiment` has the same arguments and runs it once, for its
per-query values, and computes the rest itself. It needs the extra ``pyterrier``, which is PyTerrier without Java.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.outputs import compare_outputs
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import DatasetUnavailable, FormatError, ParameterError, not_installed
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.evaluation import DEFAULT_CUTOFF
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.scores import parse_measure
from ir_outcomes.measures.definitions import SearchLengthMeasure
from ir_outcomes.measures.provider import Recording
from ir_outcomes.reading.columns import texts
from ir_outcomes.reading.datasets import Task, is_dataset_id, open_collection, reason_of
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import DATASET_PREFIX, distinct_names
from ir_outcomes.statistics import differences, paired_tests
from ir_outcomes.types import OneOrder, RankingTest, UnitChoice, check_choice

__all__ = ["comparisons", "experiment"]


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

    Raises
    ------
    ParameterError
        If there is no such system.
    FormatError
        If it is not per-query values.
    """
    perquery = getattr(perquery, "perquery", perquery)
    if isinstance(perquery, (str, os.PathLike)):
        import pandas as pd

        perquery = pd.read_csv(perquery, dtype={"qid": str, "name": str})
    if not hasattr(perquery, "columns") or "name" not in perquery.columns:
        raise FormatError("the experiment", "is not a frame of per-query values; run it with perquery=True")
    names = list(dict.fromkeys(map(str, perquery["name"])))
    if baseline not in names:
        raise ParameterError(f"baseline={baseline!r}: no system has this name; they are {', '.join(names)}")
    contenders = [name for name in names if name != baseline]
    if not contenders:
        raise ParameterError(f"the experiment has one system only, {baseline}; there is nothing to compare it with")
    outputs: Any = [perquery] * len(contenders)
    text = None if measure is None else str(measure)
    found = compare_outputs(perquery, outputs, names=(baseline, *contenders), measure=text, qrels=qrels, **settings)
    return cast("Comparisons", found)


class Frames(NamedTuple):
    """What ``perquery="both"`` returns."""

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
    correction: str | None = "holm",
    correction_alpha: float | None = None,
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
        With the columns ``qid`` and ``query``. Whole-number ids become text, here and in `qrels` and frames of results.
    qrels : frame, path, dataset id or dataset of PyTerrier
        With the columns ``qid``, ``docno`` and ``label``. A dataset id brings its cutoff, relevance and unit along.
    eval_metrics : sequence of measures or str
        Measures of ir_measures, as objects or text (``"ESL@100"``), or names of trec_eval's.
    names : sequence of str, optional
        Names of the systems; by default PyTerrier's.
    baseline : int, str, sequence of these, or None
        Which system the others are compared with: its place or name. Several give a block of columns each; None means only.
    perquery : bool or "both"
        True for PyTerrier's frame of the values of each query, without any comparison; "both" for that and the usual frame.
    highlight : {"bold", "color", "colour"}, optional
        Mark the best value of each measure, in its own direction; the frame becomes a Styler of pandas.
    cutoff, rel : int, optional
        Of outcomes and verdicts. By default those of the measures, where they agree; else those of the dataset, or 100 and 1.
        They are in ``frame.attrs``, with a note on where they come from.
    unit, ties, judged_only
        See `ir_outcomes.evaluate`.
    alpha, margins
        See `ir_outcomes.compare`.
    test : {"t", "wilcoxon", "signflip"}
        Which test decides on ranking; the p-values of the measures are of the same test.
    correction : str or None
        Correction over the systems, of each facet and of each measure separately: "holm", "bonferroni", "fdr_bh", or any that
        ``statsmodels.stats.multitest.multipletests`` knows; under those, verdicts are corrected by Holm's method. None for no
        correction, which is PyTerrier's default.
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
        A row for each system: ``name``; the mean of each measure, over the queries where it is defined; ``answered (queries)``;
        for each measure on how many queries the system is better (``+``) and worse (``-``) than the baseline, in the measure's
        own direction, with its p-value, and under a correction ``reject`` and ``p-value corrected``; then the difference and
        p-value of both facets, with their unit in the name, and the ``verdict``. The settings are in ``frame.attrs``.

    Raises
    ------
    MissingDependency
        If PyTerrier is not installed.
    ParameterError
        If an argument makes no sense.
    InputError
        If topics or qrels are malformed. What a system or PyTerrier raises is passed on.
    """
    _terrier()
    import pandas as pd

    check_choice("returns", returns, ("frame", "comparisons", "both"))
    if perquery not in (False, True, "both"):
        raise ParameterError(f"perquery={perquery!r}: must be False, True or 'both'")
    if highlight is not None:
        check_choice("highlight", highlight, tuple(_STYLES))
    if "dataframe" in options:
        raise ParameterError("dataframe: not an argument of ir_outcomes' experiment; it is always a frame, call its to_dict()")
    if returns != "frame" and (baseline is None or perquery):
        raise ParameterError(f"returns={returns!r} needs a baseline, and no perquery; name one, or ask for the frame only")
    corrected_by = _known_correction(correction)
    named = _named_systems(systems, names)
    bases = _baseline_places(baseline, list(named))
    measures = _measures_by_column(eval_metrics)
    collection = open_collection(_of_dataset(qrels, "get_qrels"), {})
    chosen, about_settings = _choose_settings(cutoff, rel, measures.values(), collection.task)
    topics = _read_topics(topics)
    settings: dict[str, Any] = {**chosen, "ties": ties, "judged_only": judged_only}
    ran = _run(named, topics, collection.qrels, measures, settings, options)
    if perquery is True:
        return ran.perquery
    evaluation = evaluate(
        collection.task or collection.qrels, ran.lengths, names=list(named), unit=unit, queries=_query_texts(topics), **settings
    )
    results: dict[int, Comparisons] = {}
    for base in bases if len(named) > 1 else ():
        found = compare(
            evaluation,
            evaluation.names[base],
            [name for place, name in enumerate(evaluation.names) if place != base],
            alpha=alpha,
            test=test,
            correction=cast("Any", corrected_by if corrected_by in _OURS.values() else "holm"),
            margins=margins,
        )
        results[base] = replace(cast("Comparisons", found), notes=about_settings)
    compared: Any = {evaluation.names[base]: result for base, result in results.items()}
    if not isinstance(baseline, (list, tuple)):
        compared = next(iter(results.values()), None)
    if returns == "comparisons":
        return compared

    columns: dict[str, Any] = {"name": list(named)}
    values = {name: [ran.values[system, str(measure)] for system in named] for name, measure in measures.items()}
    for name, measure in measures.items():
        columns[name] = [_mean(measure, of_system) for of_system in values[name]]
    columns[_ANSWERED] = [int(run.answered().sum()) for run in evaluation.at()]
    for base, result in results.items():
        block: dict[str, Any] = {}
        for name, measure in measures.items():
            level = alpha if correction_alpha is None else correction_alpha
            block |= _changes(name, measure, values[name], base, test=test, correction=corrected_by, alpha=level)
        block |= _facets(result, base, corrected=corrected_by != "none")
        suffix = f" (against {evaluation.names[base]})" if len(bases) > 1 else ""
        columns |= {f"{heading}{suffix}": column for heading, column in block.items()}
    frame: Any = pd.DataFrame(columns)
    if round is not None:
        frame = frame.round(round if isinstance(round, Mapping) else dict.fromkeys(measures, round))
    notes = list(about_settings)
    if corrected_by not in _OURS.values():
        notes.append(f"Verdicts are corrected by holm; {corrected_by} corrects the p-values of the measures.")
    frame.attrs.update(
        settings, unit=evaluation.unit, alpha=alpha, correction=corrected_by, n_queries=int(evaluation.answerable.sum()),
        notes=notes,
    )  # fmt: skip
    if highlight is not None:
        frame = _highlighted(frame, measures, highlight)
    shown = Frames(frame, ran.perquery) if perquery == "both" else frame
    return (shown, compared) if returns == "both" else shown


class _Ran(NamedTuple):
    """What an experiment left behind."""

    perquery: Any
    values: Mapping[tuple[str, str], _Values]
    lengths: list[SearchLengths]


def _run(
    named: Mapping[str, Any],
    topics: Any,
    judgments: Qrels,
    measures: Mapping[str, Any],
    settings: Mapping[str, Any],
    options: Mapping[str, Any],
) -> _Ran:
    """Let PyTerrier run and evaluate the systems, and keep the search lengths on the way."""
    import pandas as pd

    rows = [(query, *judged) for query, documents in judgments.to_dict().items() for judged in documents.items()]
    qrels = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    recording = Recording(**settings)
    metrics = [*dict.fromkeys(measures.values()), recording]
    with warnings.catch_warnings():
        # What it says of topics without qrels does not hold here: they are in no mean.
        warnings.filterwarnings("ignore", message=r".*topic\(s\) not found in qrels", category=UserWarning)
        perquery = _terrier().Experiment(list(named.values()), topics, qrels, metrics, list(named), perquery=True, **options)
    number = str(recording)
    values: dict[tuple[str, str], dict[str, float]] = {}
    judged = perquery[perquery["qid"].isin(judgments.query_ids)]  # PyTerrier adds NaN for topics without qrels
    for name, measure, query, value in zip(*(judged[c] for c in ("name", "measure", "qid", "value")), strict=True):
        values.setdefault((name, measure), {})[query] = value
    lengths = []
    for name in named:
        numbers = values[name, number]
        evaluated = {query: numbers[query] for query in judgments.query_ids if query in numbers}
        lengths.append(replace(recording.lengths(name, evaluated), qrels_digest=judgments.digest))
    kept = perquery[perquery["measure"] != number].reset_index(drop=True)
    headings = {str(measure): name for name, measure in [*measures.items()][::-1]}  # of map and AP the first
    return _Ran(kept.assign(measure=kept["measure"].map(headings)), values, lengths)


def _choose_settings(
    cutoff: int | None, rel: int | None, measures: Iterable[Any], task: Task | None
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return cutoff and rel, with notes: those of the arguments, else of the measures if they agree, else of the dataset."""
    measures = list(measures)
    # Our measures come before others, because the number of answered queries stands beside them.
    own = [measure for measure in measures if isinstance(measure, SearchLengthMeasure)]
    notes, chosen = [], {}
    defaults = {"cutoff": task.cutoff if task else DEFAULT_CUTOFF, "rel": task.rel if task else 1}
    for name, given in (("cutoff", cutoff), ("rel", rel)):
        found = (_parameter(measure, name) for measure in own or measures)
        values = sorted({value for value in found if value is not None})
        chosen[name] = given if given is not None else values[0] if len(values) == 1 else defaults[name]
        others = f"measures use {', '.join(map(str, values))}"
        if given is not None and own and values and values != [given]:
            notes.append(f"Outcomes and verdicts use {name} {given}, the argument; {others}.")
        elif given is None and values:
            why = "that of the measures" if len(values) == 1 else f"because {others}; choose another one with {name}="
            notes.append(f"Outcomes and verdicts use {name} {chosen[name]}, {why}.")
    return chosen, tuple(notes)


def _parameter(measure: Any, name: str) -> int | None:
    if name not in getattr(measure, "SUPPORTED_PARAMS", {}):
        return None
    value = measure.params.get(name)
    if value is None and name == "rel" and isinstance(measure, SearchLengthMeasure):
        value = measure[name]  # the default of ours is 1; without a cutoff they say nothing
    return value if isinstance(value, int) else None


def _terrier() -> Any:
    """Import PyTerrier."""
    try:
        import pyterrier
    except ImportError:
        raise not_installed("this needs PyTerrier, without Java", "pyterrier") from None
    return pyterrier


def _named_systems(systems: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """Return the systems by name."""
    if isinstance(systems, Mapping):
        systems, names = list(systems.values()), list(systems)
    elif not isinstance(systems, (list, tuple)):
        raise ParameterError(f"systems: must be a list or dict of transformers and frames, not {type(systems).__name__}")
    runs = list(systems)
    if not runs or (names is not None and len(names) != len(runs)):
        raise ParameterError(f"names: {len(names or ())} names for {len(runs)} systems; give one to each")
    own = [f"system {place}" if hasattr(run, "columns") else str(run) for place, run in enumerate(runs)]
    called = distinct_names(own, [None] * len(runs) if names is None else list(map(str, names)), runs)
    return dict(zip(called, runs, strict=True))


def _baseline_places(baseline: Any, names: Sequence[str]) -> list[int]:
    """Find the places of the baselines: none, one, or several."""
    if baseline is None:
        return []
    given = list(baseline) if isinstance(baseline, (list, tuple)) else [baseline]
    places = [names.index(item) if item in names else item for item in given]
    for item in places:
        if isinstance(item, bool) or not isinstance(item, (int, np.integer)) or not 0 <= item < len(names):
            place = f"the place of a system, 0 to {len(names) - 1}"
            raise ParameterError(f"baseline={item!r}: must be {place}, or its name: {', '.join(names)}")
    if not places or len(set(places)) < len(places):
        raise ParameterError(f"baseline={baseline!r}: name each baseline once, at least one")
    return places


def _read_topics(topics: Any) -> Any:
    """Return topics as a frame with ids that are text; from a frame, a path, a dataset id or a dataset of PyTerrier."""
    import pandas as pd

    topics = _of_dataset(topics, "get_topics")
    if isinstance(topics, (str, os.PathLike)):
        topics = _terrier().io.read_topics(os.fspath(topics))
    if not hasattr(topics, "columns") or "qid" not in topics.columns:
        kinds = "a frame with the column qid, a path, a dataset id, or a dataset of PyTerrier"
        raise FormatError("the topics", f"must be {kinds}, not {type(topics).__name__}")
    # PyTerrier makes the ids of results text, which would match no number. As objects: it goes through the rows, which with
    # the text type of pandas 3 takes twice the time.
    ids = texts(topics["qid"].tolist(), "the topics", "qid")
    repeated = [query for query, times in Counter(ids).items() if times > 1]
    if repeated:
        raise FormatError("the topics", f"hold topic {repeated[0]} twice; keep one")
    return topics.assign(qid=pd.Series(ids, topics.index, dtype=object))


def _of_dataset(data: Any, getter: Literal["get_topics", "get_qrels"]) -> Any:
    """Take topics or qrels from a dataset of PyTerrier, and topics from a dataset id or a Task; all else stays as it is."""
    if getter == "get_qrels" and hasattr(data, "irds_ref"):
        return f"{DATASET_PREFIX}{data.irds_ref().dataset_id()}"
    name = data.dataset_id if isinstance(data, Task) else data
    if getter == "get_topics" and isinstance(name, str) and not os.path.exists(name) and is_dataset_id(name):
        data = _terrier().get_dataset(f"{DATASET_PREFIX}{name.removeprefix(DATASET_PREFIX)}")
    if not hasattr(data, getter):
        return data
    try:
        return getattr(data, getter)()
    except Exception as error:  # PyTerrier and ir_datasets raise many kinds
        what = getter.removeprefix("get_")
        raise DatasetUnavailable(
            f"{data}: its {what} cannot be loaded ({reason_of(error)}); try again with a network connection, or give a frame"
        ) from error


def _query_texts(topics: Any) -> dict[str, str]:
    """Return the text of each query, where the topics have it."""
    return dict(zip(topics["qid"], map(str, topics["query"]), strict=True)) if "query" in topics.columns else {}


def _measures_by_column(eval_metrics: Sequence[Any]) -> dict[str, Any]:
    """Turn measures and their names into measures, by the name of their column."""
    from ir_measures import parse_trec_measure

    if isinstance(eval_metrics, str) or not isinstance(eval_metrics, Sequence):
        raise ParameterError("eval_metrics: must be a list of measures, such as [ESL@100, 'map']")
    measures: dict[str, Any] = {}
    for metric in eval_metrics:
        if metric == "mrt":
            raise ParameterError("mrt: PyTerrier gives response times with means only; call pyterrier.Experiment for them")
        if isinstance(metric, str):
            try:
                found = parse_trec_measure(metric)
            except (ValueError, NameError):
                found = [parse_measure(metric)]
            measures |= {metric: found[0]} if len(found) == 1 else {str(measure): measure for measure in found}
        else:
            measures[str(metric)] = metric
    return measures


_Values = Mapping[str, float]  # of a measure, by query

# What this package calls the corrections of statsmodels that it has, too.
_OURS = {"b": "bonferroni", "h": "holm", "fdr_bh": "fdr_bh", "none": "none"}
_ANSWERED = "answered (queries)"
_STYLES = {"bold": "font-weight: bold", "color": "background-color: lightgreen", "colour": "background-color: lightgreen"}


def _known_correction(name: str | None) -> str:
    """Return our name of a correction, or that of statsmodels, which PyTerrier brings, where only statsmodels has it."""
    from statsmodels.stats.multitest import multitest_alias

    aliases = {**multitest_alias, "none": "none"}
    if (name or "none") not in aliases:
        raise ParameterError(f"correction={name!r}: must be one of {', '.join(aliases)}")
    return _OURS.get(aliases[name or "none"], name or "none")


def _mean(measure: Any, values: _Values) -> float:
    """Average the values of a measure as ir_measures does."""
    total = measure.aggregator()
    for value in values.values():
        total.add(value)
    return float(total.result())


def _changes(
    name: str,
    measure: Any,
    values: Sequence[_Values],
    base: int,
    *,
    test: str,
    correction: str,
    alpha: float,
) -> dict[str, list[Any]]:
    """Make PyTerrier's columns of a measure, in its own direction, over the queries on which both systems have a value."""
    from statsmodels.stats.multitest import multipletests

    of_systems = np.array([[of_system.get(query, np.nan) for query in values[base]] for of_system in values], dtype=np.float64)
    sign = 1 if getattr(measure, "HIGHER_IS_BETTER", True) else -1
    better, worse, pvalues = [], [], []
    for row in of_systems:
        both = np.isfinite(of_systems[base]) & np.isfinite(row)
        change = sign * differences(of_systems[base][both], row[both])
        better.append(int(np.sum(change > 0)))
        worse.append(int(np.sum(change < 0)))
        pvalues.append(paired_tests(change)[test].pvalue)
    columns: dict[str, list[Any]] = {
        f"{name} {heading}": [np.nan if place == base else float(value) for place, value in enumerate(column)]
        for heading, column in (("+", better), ("-", worse), ("p-value", pvalues))
    }
    if correction != "none":
        with np.errstate(divide="ignore"):  # Sidak's takes the logarithm of 1 - p, where p can be 1
            rejected, corrected = multipletests([*pvalues[:base], *pvalues[base + 1 :]], alpha, correction)[:2]
        columns[f"{name} reject"] = np.insert(rejected, base, False).tolist()
        columns[f"{name} p-value corrected"] = np.insert(corrected, base, np.nan).tolist()
    return columns


def _facets(result: Comparisons, base: int, *, corrected: bool) -> dict[str, list[Any]]:
    """Return the columns of the two facets and the verdict, with the unit of each in its name."""
    items: list[Comparison | None] = list(result)
    items.insert(base, None)
    pvalue, unit = "p-value corrected" if corrected else "p-value", f"by {result[0].settings.unit}"

    def column(value: Callable[[Comparison], float | None]) -> list[float]:
        values = [None if item is None else value(item) for item in items]
        return [np.nan if found is None else found for found in values]

    return {
        f"coverage difference (pp, {unit})": column(lambda item: item.coverage.difference),
        f"coverage {pvalue}": column(lambda item: item.coverage.pvalue_corrected),
        f"ranking difference (ranks, {unit})": column(lambda item: item.ranking.difference),
        f"ranking {pvalue}": column(lambda item: item.ranking.pvalue_corrected),
        "verdict": [None if item is None else item.verdict.label for item in items],
    }


def _highlighted(frame: Any, measures: Mapping[str, Any], how: str) -> Any:
    """Mark the best value of each measure, which is the smallest one for a search length; returns a Styler of pandas."""
    directions = {name: getattr(measure, "HIGHER_IS_BETTER", True) for name, measure in measures.items()}
    directions[_ANSWERED] = True

    def styles(column: Any) -> list[str]:
        best = column.max() if directions[column.name] else column.min()
        return [_STYLES[how] if value == best else "" for value in column]

    return frame.style.apply(styles, axis=0, subset=[name for name in frame.columns if name in directions])
