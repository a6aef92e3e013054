"""The same verdict from per-query values that are already there, with no run file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.comparison.build import Pair, build
from ir_outcomes.comparison.facets import naive_tests
from ir_outcomes.comparison.outcomes import OUTCOMES, Outcomes, Split
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.settings import CoverageTest, FamilyCorrection, RankingTest, Settings
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.reading.measure_names import RECIPROCALS, is_gain
from ir_outcomes.reading.outputs import Output, read_output
from ir_outcomes.reading.qrels import as_qrels

__all__ = ["compare_outputs"]

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Meaning:
    """How to read a measure's values."""

    kind: str  # "reciprocal" of a rank, "rank", or "value"
    cutoff: int | None
    not_found: float  # the value that stands for "nothing found"
    higher_is_better: bool


def compare_outputs(
    baseline: Any,
    contenders: Any,
    *,
    measure: str | None = None,
    qrels: Any = None,
    rel: int = 1,
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    test: RankingTest = "t",
    coverage_test: CoverageTest = "exact",
    correction: FamilyCorrection = "holm",
    margins: tuple[float, float] | None = None,
    names: tuple[str, ...] | None = None,
    seed: int = 0,
    resamples: int = 99_999,
) -> Comparison | Comparisons:
    """Compare runs by per-query values that a tool has already computed.

    Reciprocal ranks and ESL give ranks: coverage is the share of queries with an answer, ranking the mean rank on what both
    answered. Of any other measure that is zero where nothing was found (nDCG@k, AP, P@k, recall), coverage is the share of
    queries above zero, and ranking the mean value where both runs are above zero; it is labelled with the measure.

    Parameters
    ----------
    baseline : path, CalcResults, iterable of Metric, dict or frame
        The text of ``trec_eval -q``, of ``ir_measures -q`` (tsv or jsonl) or PyTerrier's ``perquery.csv``; ir_measures'
        `CalcResults` or `Metric` values; pytrec_eval's dict of dict; PyTerrier's ``perquery=True`` frame.
    contenders : the same, or a list of such
        Run B, or several.
    measure : str, optional
        Which measure, as the source names it; by default a reciprocal rank or ESL, or the only one there is.
    qrels : see `ir_outcomes.as_qrels`, optional
        Tells which queries are answerable. Without it, unanswerable ones count as unanswered.
    rel : int
        Least grade of a relevant document in `qrels`.
    higher_is_better : bool, optional
        Direction of a measure that is not known here.
    alpha, test, coverage_test, correction, margins, seed, resamples
        See `ir_outcomes.compare`.
    names : tuple of str, optional
        Names of the baseline and the contenders; in a source that holds several runs, which of them is meant.

    Returns
    -------
    Comparison or Comparisons

    Raises
    ------
    FormatError
        If a source is none of these forms.
    ParameterError
        If a measure has to be chosen, or its direction told, or it does not say what was found.
    MismatchError
        If the sources have no query in common.

    Examples
    --------
    >>> a = {f"q{n}": {"recip_rank": 1 / 4} for n in range(8)}
    >>> b = {f"q{n}": {"recip_rank": 1 / 2} for n in range(8)}
    >>> compare_outputs(a, b).ranking.difference
    -2.0
    """
    one = hasattr(contenders, "per_query") or (
        isinstance(contenders, list) and hasattr(next(iter(contenders), None), "query_id")
    )
    several = isinstance(contenders, (list, tuple)) and not one
    sources = [baseline, *(contenders if several else [contenders])]
    if names is not None and len(names) != len(sources):
        raise ParameterError(f"names: {len(names)} names for {len(sources)} outputs; name the baseline first")
    positions = ["baseline", *("contender" if len(sources) == 2 else f"contender {n}" for n in range(1, len(sources)))]
    outputs = [
        read_output(source, measure=measure, name=name, position=position)
        for source, name, position in zip(sources, names or [None] * len(sources), positions, strict=True)
    ]
    first = outputs[0]
    for other in outputs[1:]:
        if other.measure != first.measure:
            raise MismatchError(
                f"{first.name} has values of {first.measure}, {other.name} of {other.measure}; choose with measure="
            )
        if not set(other.values) & set(first.values):
            raise MismatchError(
                f"{first.name} ({some(list(first.values), 3)}) and {other.name} ({some(list(other.values), 3)}) "
                "have no query in common"
            )
    meaning = _meaning(first.measure, higher_is_better)
    settings = Settings(
        cutoff=meaning.cutoff, rel=rel, unit="query", ties="unknown", judged_only=False, alpha=alpha, test=test,
        coverage_test=coverage_test, correction=correction, family=len(outputs) - 1, margins=margins, seed=seed,
        resamples=resamples,
    )  # fmt: skip
    queries, unanswerable = _queries(outputs, qrels, rel)
    notes = _notes(outputs, meaning, qrels is not None)
    pairs = [_pair(first, other, queries, unanswerable, meaning, notes) for other in outputs[1:]]
    results = build(pairs, settings)
    return results if several else results[0]


def _meaning(measure: str, higher_is_better: bool | None) -> _Meaning:
    from ir_outcomes.measures import parse_measure

    base = measure.split("@")[0].split("(")[0]
    if base in RECIPROCALS:
        at = measure.rpartition("@")[2]
        return _Meaning("reciprocal", int(at) if at.isdigit() else None, 0.0, False)
    if base == "ESL":
        esl = parse_measure(measure)
        return _Meaning("rank", esl.cutoff, esl.DEFAULT, False)
    if base in ("ASL", "Answered"):
        raise ParameterError(f"{measure} does not say both what was found and how far down; compare outputs of ESL or RR")
    if higher_is_better is None and not is_gain(measure):
        raise ParameterError(
            f"whether {measure} is better when higher is not known here; say it with higher_is_better=True or False "
            "(its value must be 0 where nothing was found)"
        )
    return _Meaning("value", None, 0.0, higher_is_better is None or higher_is_better)


def _queries(outputs: list[Output], qrels: Any, rel: int) -> tuple[list[str], int]:
    if qrels is None:
        return list(dict.fromkeys(query for output in outputs for query in output.values)), 0
    judgments = as_qrels(qrels)
    answerable = [query for query, grades in judgments.to_dict().items() if any(grade >= rel for grade in grades.values())]
    if not any(query in output.values for output in outputs for query in answerable):
        raise MismatchError(f"no query of the outputs ({some(list(outputs[0].values), 3)}) is answerable in the qrels")
    return answerable, len(judgments.query_ids) - len(answerable)


def _pair(
    baseline: Output, contender: Output, queries: list[str], unanswerable: int, meaning: _Meaning, notes: tuple[str, ...]
) -> Pair:
    lengths = [_lengths(output, queries, meaning) for output in (baseline, contender)]
    found = [~np.isnan(each) for each in lengths]
    code = found[0] + 2 * found[1]
    n = len(queries)
    fractions = {name: float(np.mean(code == each)) for each, name in enumerate(OUTCOMES)} if n else {}
    split = Split(
        query_ids=tuple(queries),
        outcomes=Outcomes(**dict(zip(OUTCOMES, np.bincount(code, minlength=4).tolist(), strict=True)), fractions=fractions),
        found_baseline=found[0].astype(np.float64),
        found_contender=found[1].astype(np.float64),
        shared=found[0] & found[1],
        length_baseline=lengths[0],
        length_contender=lengths[1],
        reciprocal_baseline=1 / lengths[0],
        reciprocal_contender=1 / lengths[1],
        measure=baseline.measure if meaning.kind == "value" else None,
        higher_is_better=meaning.higher_is_better,
    )
    scores = [np.nan_to_num(each if meaning.kind == "value" else 1 / each) for each in lengths]
    missing = tuple(
        f"{output.name} lacks {len(lacking)} of the queries ({some(lacking)}); they count as unanswered."
        for output in (baseline, contender)
        if (lacking := [query for query in queries if query not in output.values])
    )
    return Pair(baseline.name, contender.name, split, unanswerable, naive_tests(*scores), (*notes, *missing))


def _lengths(output: Output, queries: list[str], meaning: _Meaning) -> _Floats:
    """Turn values into ranks, or leave them; NaN where nothing was found."""
    values = np.array([output.values.get(query, math.nan) for query in queries], dtype=np.float64)
    values = np.where(values == meaning.not_found, np.nan, values)
    if meaning.kind != "reciprocal":
        return values
    ranks = 1 / values
    whole = np.rint(ranks)
    slack = 1e-9 if output.places is None else 0.5001 * 10.0**-output.places
    return np.where(np.abs(1 / whole - values) <= slack, whole, ranks)


def _notes(outputs: list[Output], meaning: _Meaning, with_qrels: bool) -> tuple[str, ...]:
    measure = outputs[0].measure
    cutoff = "its tie rule is" if meaning.cutoff is not None or meaning.kind == "value" else "its tie rule and cutoff are"
    notes = [f"Compared on values of {measure} as they were written; {cutoff} the writing tool's, and not known here."]
    if meaning.kind == "value":
        notes.append(
            f"Coverage is the share of queries with {measure} above zero, ranking the mean of {measure} where both runs are "
            "above zero."
        )
    if not with_qrels:
        notes.append("Without qrels, queries that have no relevant document cannot be told apart: they count as unanswered.")
    places = [output.places for output in outputs if output.places is not None]
    if places and meaning.kind == "reciprocal":
        last = math.isqrt(10 ** min(places))
        notes.append(f"Values are rounded to {min(places)} places: ranks beyond about {last} cannot be told exactly.")
    elif places:
        notes.append(f"Values are rounded to {min(places)} places: small differences look like ties.")
    return tuple(notes)
