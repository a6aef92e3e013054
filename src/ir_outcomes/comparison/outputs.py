"""Comparisons from values by query."""

from typing import Any, Unpack, overload

from ir_measures import Metric

from ir_outcomes.arguments import separated
from ir_outcomes.comparison.family import compared
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.outputs import OutputOptions, are_sources, outputs
from ir_outcomes.pairs.rules import RuleOptions, Rules
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
    if len(evaluation.systems) == 1:
        noun = "run" if len(evaluation.names) == 1 else "system"
        (name,) = evaluation.systems
        raise ParameterError(f"there is one {noun} only, {name}; give another output")
    results = Comparisons(compared(evaluation, rules))
    one_run_each = settings.get("replicates") is None
    return results if len(results) > 1 or (several and one_run_each) else results[0]
