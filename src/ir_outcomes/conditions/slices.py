"""The same comparison on slices of the queries: first whether they differ at all."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, Unpack

import numpy as np
import numpy.typing as npt

from ir_outcomes.choices import OUTCOMES, Count, Floats, Ints, Positive
from ir_outcomes.conditions.conditions import (
    Kind,
    MeansOverConditions,
    conditions_of,
    deciding_over,
    notes_on_condition,
    notes_on_left_out,
    overall_of,
)
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import (
    Evaluation,
    contenders_of,
    evaluation_of,
    refuse_measures,
)
from ir_outcomes.evaluation.named_measures import Measures, each_measure
from ir_outcomes.evaluation.remarks import STOPS, Allow, refuse_stops
from ir_outcomes.formatting import plural
from ir_outcomes.notes import as_notes
from ir_outcomes.pairs.measurements import measurements_of, measurements_of_values
from ir_outcomes.pairs.outcomes import SystemPair
from ir_outcomes.pairs.rules import RuleOptions, Rules, Settings
from ir_outcomes.pairs.verdict import FACETS
from ir_outcomes.reading.texts import LABELS, read_texts
from ir_outcomes.results import Immutable
from ir_outcomes.statistics.families import adjust

FEWEST_QUERIES_OF_A_SLICE = 30  # for a label


@dataclass(frozen=True)
class SliceDifference(Immutable):
    """Whether the slices differ in one row at all."""

    contender: str  #: the run
    row: str  #: "coverage" or "ranking"; "all queries" of values without these
    pvalue: float | None  #: of the permutation test; None where there is nothing to compare
    pvalue_corrected: float | None  #: the same, corrected over the contenders, which decides
    slices: int  #: slices that were compared


@dataclass(frozen=True, repr=False)
class SlicesComparison(MeansOverConditions):
    """Contenders against a baseline on slices of the queries.

    The figure is "forest".

    Attributes
    ----------
    by : str
        What the slices are made by.
    differ : tuple of SliceDifference
        For each contender, coverage and ranking, whether they differ at all; empty where queries
        come in clusters.
    seed, resamples : int
        Of the permutations.
    """

    over: ClassVar[Kind] = "slice"

    by: str
    differ: tuple[SliceDifference, ...]
    seed: int
    resamples: int


def compare_slices(
    evaluation: Evaluation,
    baseline: str,
    contenders: Sequence[str] | str | None = None,
    *,
    by: Mapping[str, str] | str | os.PathLike[str],
    cutoff: Positive | None = None,
    measures: Measures = (),
    allow: Allow = (),
    seed: Count = 0,
    resamples: Positive = 9_999,
    **rules: Unpack[RuleOptions],
) -> SlicesComparison:
    """Compare runs on slices of the queries.

    Parameters
    ----------
    evaluation : Evaluation
        Of the runs, or of values of another tool (`ir_outcomes.outputs`).
    baseline, contenders : str, and str or sequence of str
        Names of runs; by default all others are contenders.
    by : mapping of str to str, path, or "length"
        The slice of each query: query ids to labels, a file with lines of id, tab and label, or the
        number of words of the query in quartiles, for which the evaluation must know the texts.
        Labels that are names of outcomes or runs are refused: slices made from a run's own result
        regress to the mean.
    cutoff : int, optional
        Ranks beyond it do not count; by default that of the evaluation.
    measures : sequence of Measure or str
        Measures that are shown beside the labels; see `ir_outcomes.compare`.
    allow : collection of {"unknown-ids", "rising-scores", "equal-scores"}
        What is meant although it looks like a mistake; see `ir_outcomes.compare`.
    resamples : int
        Number of permutations of the labels (`scipy.stats.permutation_test`).
    seed : int
        Seed of the random numbers.
    **rules
        alpha, correction and margins; see `ir_outcomes.Rules`. The correction is over the
        contenders, also of the tests whether slices differ. A mark says which labels would not
        stay by Holm over the slices, too.

    Raises
    ------
    ParameterError
        If labels are names of outcomes or runs, there are fewer than two slices, or the texts are
        not known.
    MismatchError
        If no query of the evaluation has a label.

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(80)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0, "x": 1.0} if int(q[1:]) < 40 else a[q] for q in qrels}
    >>> ev = iro.evaluate(qrels, {"a": a, "b": b})
    >>> kinds = {q: "first" if int(q[1:]) < 40 else "second" for q in qrels}
    >>> found = compare_slices(ev, "a", by=kinds)
    >>> [(row.condition, row.label) for row in found.conditions]
    [('first', 'better on ranking'), ('second', 'no significant difference')]
    """
    checked = Rules(**rules)
    evaluation = evaluation_of(evaluation, cutoff=cutoff, values=True)
    chosen = contenders_of(evaluation.names, baseline, contenders)
    systems = evaluation[[baseline, *chosen]]
    refuse_stops(systems.runs, allow)
    refuse_measures(evaluation, measures)
    labels, named = _labels(evaluation, by)
    slices = _slices(evaluation, labels)
    asked = [evaluation.scores_of(measure) for measure in each_measure(measures)]
    # With them no slice reads the runs again.
    evaluation = replace(evaluation, scores=(*asked, *evaluation.scores))
    parts = {label: evaluation.restrict(queries) for label, queries in slices.items()}
    conditions = conditions_of(
        parts,
        baseline,
        chosen,
        checked,
        over_conditions=True,
        allow=STOPS,  # a few queries of a slice say less about that than all do
        measures=[scores.measure for scores in asked],
        fewest=FEWEST_QUERIES_OF_A_SLICE,
    )
    differ: list[SliceDifference] = []
    if evaluation.clusters is None:  # the test permutes the labels of queries, not of clusters
        differ = list(_differences(systems, labels, seed, resamples, checked))
    overall = overall_of(conditions, deciding_over(parts), checked, len(chosen))
    left_out = [note for item in overall for note in notes_on_left_out(item)]
    return SlicesComparison(
        baseline=baseline,
        by=named,
        differ=tuple(differ),
        conditions=tuple(conditions),
        overall=tuple(overall),
        settings=Settings.of(evaluation, checked, len(chosen)),
        seed=seed,
        resamples=resamples,
        notes=as_notes([*_notes(evaluation, labels), *left_out]),
    )


def _labels(evaluation: Evaluation, by: Any) -> tuple[dict[str, str], str]:
    """Return the label of each query, and what they are made by."""
    if isinstance(by, str) and by == "length":
        return _by_length(evaluation), "query length"
    if isinstance(by, Mapping):
        named = "labels"
        labels = {query: str(label) for query, label in by.items()}
    else:
        named = os.path.basename(os.fspath(by))
        labels = read_texts(by, LABELS)
        if len(labels) > FEWEST_QUERIES_OF_A_SLICE and len(set(labels.values())) == len(labels):
            raise ParameterError(
                f"{named} has another label for each query, as the texts of queries have; for"
                " slices by their length pass `by='length'` and `queries`"
            )
    refused = sorted(set(labels.values()) & {*OUTCOMES, *evaluation.names})
    if refused:
        raise ParameterError(
            f"the label {refused[0]!r} is the name of an outcome or a run: slices made from a run's"
            " own result regress to the mean; slice by something that is known before the runs are"
            " made"
        )
    return labels, named


def _by_length(evaluation: Evaluation) -> dict[str, str]:
    """Label the queries by the quartile of their number of words."""
    if evaluation.values is not None:
        raise ParameterError(
            "values of another tool come without the texts of queries; give a file of labels",
            by="length",
        )
    words = {
        query: len(evaluation.texts[query].split())
        for query in evaluation.query_ids
        if query in evaluation.texts
    }
    counts = [words[query] for query in evaluation.answerable_queries if query in words]
    if not counts:
        raise ParameterError(
            "the runs were evaluated without the texts of the queries; pass `queries`", by="length"
        )
    quarters = np.quantile(counts, [0.25, 0.5, 0.75, 1], method="inverted_cdf")
    ends = np.unique(quarters).astype(int).tolist()
    names = []
    start = 1
    for end in ends:
        names.append(plural("word", end) if start == end else f"{start} to {end} words")
        start = end + 1
    last = len(ends) - 1
    return {
        query: names[min(int(np.searchsorted(ends, number)), last)]
        for query, number in words.items()
    }


def _slices(evaluation: Evaluation, labels: Mapping[str, str]) -> dict[str, list[str]]:
    slices: dict[str, list[str]] = {}
    for query in evaluation.answerable_queries:
        if query in labels:
            slices.setdefault(labels[query], []).append(query)
    if not slices:
        raise MismatchError(
            f"no answerable query has a label; the labels are for {some(list(labels), 3)}, the"
            f" queries are {some(evaluation.query_ids, 3)}"
        )
    if len(slices) < 2:
        raise ParameterError(
            f"all queries have the label {next(iter(slices))!r}; slices need at least two"
        )
    return dict(sorted(slices.items(), key=lambda item: _natural(item[0])))


def _natural(label: str) -> tuple[float, str]:
    first = label.split(" ", 1)[0]
    return (float(first) if first.isdecimal() else float("inf"), label)


def _differences(
    evaluation: Evaluation, labels: Mapping[str, str], seed: int, resamples: int, rules: Rules
) -> Iterator[SliceDifference]:
    """Test for each contender whether slices differ at all, corrected over these."""
    if evaluation.values is None:
        measurements = measurements_of(evaluation)
    else:
        measurements = measurements_of_values(evaluation.values, evaluation.systems)
    rows = [name for name in FACETS if name in measurements.quantities] or ["all queries"]
    # The permutations are drawn for the queries by their ids, whatever the order of the qrels is.
    column = {query: index for index, query in enumerate(measurements.query_ids)}
    labelled = [query for query in sorted(column) if query in labels]
    columns = [column[query] for query in labelled]
    of_queries = np.array([labels[query] for query in labelled])
    by_row = []
    for name in rows:
        tests = []
        for index in range(1, len(measurements.names)):
            pair = SystemPair(measurements, 0, index)
            values = pair.values(name)
            counted = values.size[columns] > 0
            change = (values.contender - values.baseline)[columns][counted]
            pvalue = _pvalue_of_slices(change, of_queries[counted], seed, resamples)
            n_slices = len(np.unique(of_queries[counted]))
            tests.append(SliceDifference(pair.contender_name, name, pvalue, pvalue, n_slices))
        pvalues = [1.0 if test.pvalue is None else test.pvalue for test in tests]
        corrected = adjust(pvalues, rules.correction).tolist()
        by_row.append(
            [
                test if test.pvalue is None else replace(test, pvalue_corrected=pvalue)
                for test, pvalue in zip(tests, corrected, strict=True)
            ]
        )
    yield from chain.from_iterable(zip(*by_row, strict=True))


def _pvalue_of_slices(
    change: Floats, labels: npt.NDArray[np.str_], seed: int, resamples: int
) -> float | None:
    """Permute labels of queries, with the sum of squares between slices as statistic.

    None where there is nothing to compare.
    """
    from scipy.stats import permutation_test

    codes = np.unique(labels, return_inverse=True)[1]
    sizes = np.bincount(codes)
    if len(sizes) < 2 or len(change) < 3 or not np.ptp(change):
        return None

    def between(permuted: Ints, axis: int = -1) -> Floats:
        sums = [
            np.where(permuted == code, change, 0.0).sum(axis=axis) for code in range(len(sizes))
        ]
        squares: Floats = np.sum(
            [total**2 / size for total, size in zip(sums, sizes, strict=True)], axis=0
        )
        return squares

    test = permutation_test(
        (codes,),
        between,
        permutation_type="pairings",
        vectorized=True,
        alternative="greater",
        n_resamples=resamples,
        batch=max(1, 2_000_000 // len(change)),
        rng=np.random.default_rng(seed),
    )
    return float(test.pvalue)


def _notes(evaluation: Evaluation, labels: Mapping[str, str]) -> Iterator[str]:
    yield from notes_on_condition(evaluation)
    if evaluation.clusters is not None:
        yield (
            "Whether slices differ is not tested where queries come in clusters;"
            " the rows respect them."
        )
    missing = [query for query in evaluation.answerable_queries if query not in labels]
    if missing:
        yield f"{plural('query', len(missing))} without a label left out: {some(missing)}."
    unknown = sorted(set(labels) - set(evaluation.query_ids))
    if unknown:
        yield (
            f"{plural('label', len(unknown))} ignored, of queries that the qrels lack:"
            f" {some(unknown)}."
        )
