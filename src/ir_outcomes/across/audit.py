"""Audit of judges: whether the difference of two runs that a judge finds holds by the labels of a reference."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ir_outcomes.across.conditions import answerable_queries
from ir_outcomes.comparison.facets import POWER
from ir_outcomes.comparison.outcomes import pair_queries
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.formatting import fixed, interval, percent, plural, pvalue_in_words
from ir_outcomes.results import Immutable
from ir_outcomes.statistics import Interval, QueriesNeeded, differences, mean_interval, mean_test, queries_for_mean
from ir_outcomes.statistics.pooling import prediction_powered_mean
from ir_outcomes.types import Floats, Ints, check_count, check_positive

FEWEST_LABELED = 10  # queries without which nothing is corrected
FEWEST_IN_COMMON = 0.9  # share of the reference's documents that a judge judged too, below which a note says so
_MEASURED = {"coverage": ("percentage points", True), "all queries": ("ranks", False)}
Answer = Literal["holds", "cannot be told", "wrong"]


@dataclass(frozen=True)
class Audit(Immutable):
    """The difference that one judge finds in one facet, against the reference."""

    contender: str  #: the run
    judge: str  #: who is audited
    facet: str  #: "coverage", "all queries" (the restricted search length) or a measure
    measured_in: str  #: unit of all differences, which are contender minus baseline
    higher_is_better: bool  #: their direction
    n_labeled: int  #: queries that the reference labeled, of those that the judge judged
    n_queries: int  #: queries that the judge judged
    judge_difference: float  #: mean difference by the judge, over all queries
    reference_difference: float  #: mean difference by the reference, over the queries that it labeled
    bias: float  #: mean of reference minus judge over the labeled queries
    bias_interval: Interval | None  #: its interval at level 1 - alpha
    bias_p: float  #: of a bias of 0, not corrected
    corrected: float  #: difference over all queries by prediction-powered inference
    corrected_interval: Interval  #: its interval at level 1 - alpha
    weight: float  #: of the judge in it, from 0 (the labels alone) to 1
    worth: float  #: how many times as many labeled queries would give so narrow an interval without the judge
    correlation: float | None  #: of the differences by judge and by reference, over the labeled queries
    correlation_of_levels: float | None  #: of the values of both runs by judge and by reference
    needed: QueriesNeeded | None  #: labeled queries that would show a difference as large as the judge's; None where it is 0
    answer: Answer  #: wrong: the bias is significant; holds: else, and the corrected interval excludes 0 on the judge's side


def to_label(evaluation: Evaluation, n: int, *, seed: int = 0) -> tuple[str, ...]:
    """Draw queries for people to label, so that `ir_outcomes.compare_judges` can audit a judge with them.

    Parameters
    ----------
    evaluation : Evaluation
        With the judge's qrels.
    n : int
        How many queries.
    seed : int
        Of the draw.

    Returns
    -------
    tuple of str
        Query ids in the order of the qrels; every set of n queries has the same chance.

    Raises
    ------
    ParameterError
        If there are not so many queries.

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{number}": {"d": 1} for number in range(100)}
    >>> iro.to_label(iro.evaluate(qrels, [qrels]), 3)
    ('q51', 'q63', 'q83')
    """
    check_positive("n", n)
    check_count("seed", seed)
    if n > len(evaluation.query_ids):
        raise ParameterError(f"n={n}: there are {plural('query', len(evaluation.query_ids))}")
    drawn = np.random.default_rng(seed).choice(len(evaluation.query_ids), n, replace=False)
    return tuple(evaluation.query_ids[place] for place in sorted(drawn))


def audits(
    evaluations: Mapping[str, Evaluation], reference: str, runs: Sequence[str], measures: Sequence[str], alpha: float
) -> Iterator[Audit]:
    """Audit every judge but the reference, for each facet and each run after the first, the baseline."""
    baseline, *contenders = runs
    for contender in contenders:
        for judge in evaluations:
            rows, columns = labeled_places(evaluations[reference], evaluations[judge])
            if judge != reference and len(rows) >= FEWEST_LABELED:
                for facet in (*_MEASURED, *measures):
                    truth = levels_of(evaluations[reference], baseline, contender, facet)[:, rows]
                    yield _audit(truth, columns, evaluations[judge], (baseline, contender), judge, facet, alpha)


def _audit(
    by_truth: Floats, labeled: Ints, evaluation: Evaluation, runs: tuple[str, str], judge: str, facet: str, alpha: float
) -> Audit:
    """Audit one judge by the levels of the labeled queries, (2, n)."""
    by_judge = levels_of(evaluation, *runs, facet)
    # A query that is unanswerable for a judge has no levels, and the difference 0.
    samples = by_truth, by_judge[:, labeled], np.delete(by_judge, labeled, axis=1)
    y, f, rest = (differences(*np.nan_to_num(levels)) for levels in samples)
    found = prediction_powered_mean(y, f, rest, 1 - alpha)
    claim, bias = float(np.concatenate([f, rest]).mean()), differences(f, y)
    bias_p, (low, high) = mean_test(bias).pvalue, found.interval
    by_truth, by_judge = (levels.ravel() for levels in samples[:2])
    known = ~np.isnan(by_truth + by_judge)
    measured_in, higher_is_better = _MEASURED.get(facet) or (facet, evaluation.scores_of(facet).higher_is_better)
    return Audit(
        contender=runs[1],
        judge=judge,
        facet=facet,
        measured_in=measured_in,
        higher_is_better=higher_is_better,
        n_labeled=len(labeled),
        n_queries=len(evaluation.query_ids),
        judge_difference=claim,
        reference_difference=float(y.mean()),
        bias=float(bias.mean()),
        bias_interval=mean_interval(bias, 1 - alpha),
        bias_p=bias_p,
        corrected=found.mean,
        corrected_interval=found.interval,
        weight=found.weight,
        worth=found.worth,
        correlation=_correlation(y, f),
        correlation_of_levels=_correlation(by_truth[known], by_judge[known]),
        needed=queries_for_mean(y - found.weight * f, len(y), claim, alpha=alpha, power=POWER) if claim else None,
        answer="wrong" if bias_p <= alpha else "holds" if min(low * claim, high * claim) > 0 else "cannot be told",
    )


def labeled_places(truth: Evaluation, evaluation: Evaluation) -> tuple[Ints, Ints]:
    """Return the places of the queries that the reference labeled and the judge judged, in both."""
    places = {query: place for place, query in enumerate(evaluation.query_ids)}
    both = [(row, places[query]) for row, query in enumerate(truth.query_ids) if query in places]
    rows, columns = np.array(both, dtype=np.int64).reshape(-1, 2).T
    return rows, columns


def levels_of(evaluation: Evaluation, baseline: str, contender: str, facet: str) -> Floats:
    """Return the values of both runs on all queries, (2, n); NaN where a query is unanswerable."""
    runs = evaluation[[baseline, contender]]
    levels = np.full((2, len(runs.query_ids)), np.nan)
    if facet in _MEASURED:
        pair = pair_queries(runs[0].at(runs.cutoff), runs[1].at(runs.cutoff), runs.unit)
        coverage = 100 * pair.found_baseline, 100 * pair.found_contender
        levels[:, runs.answerable] = coverage if facet == "coverage" else pair.all_queries
    else:
        levels[:, runs.answerable] = runs.scores_of(facet).on(answerable_queries(runs)).values
    return levels


def _correlation(x: Floats, y: Floats) -> float | None:
    """Return Pearson's correlation; None where one of them is constant."""
    return float(np.corrcoef(x, y)[0, 1]) if len(x) > 1 and np.ptp(x) and np.ptp(y) else None


def sentence_of(audit: Audit, reference: str) -> str:
    """Write the answer of an audit with its numbers."""
    places = 2 if audit.facet in _MEASURED else 4

    def value(mean: float, ends: Interval | None) -> str:
        return f"{fixed(mean, places, signed=True)} {interval(ends, places, signed=True)}"

    opening = (
        f"{audit.contender}, {audit.facet}: {audit.judge} finds {fixed(audit.judge_difference, places, signed=True)} "
        f"{audit.measured_in}, corrected by {plural('query', audit.n_labeled)} of {reference} it is "
        f"{value(audit.corrected, audit.corrected_interval)}"
    )
    if audit.answer == "wrong":
        off = f"{value(audit.bias, audit.bias_interval)} ({pvalue_in_words(audit.bias_p)})"
        return f"{opening}; {audit.judge} is wrong about the difference, on the labeled queries by {off}."
    if audit.answer == "holds":
        return f"{opening}; the finding of {audit.judge} holds by {reference}."
    more = audit.needed.queries if audit.needed is not None and audit.n_labeled < audit.n_queries else None
    enough = "" if more is None else f"; about {more} would show it"
    return f"{opening}; whether it holds cannot be told with {plural('labeled query', audit.n_labeled)}{enough}."


def notes_on_audits(evaluations: Mapping[str, Evaluation], reference: str) -> Iterator[str]:
    """Say what an audit depends on: a random sample, enough labeled queries, and the same documents."""
    truth, others = evaluations[reference], [judge for judge in evaluations if judge != reference]
    labeled_by = {judge: [truth.query_ids[row] for row in labeled_places(truth, evaluations[judge])[0]] for judge in others}
    if any(len(labeled_by[judge]) < len(evaluations[judge].query_ids) for judge in others):
        yield f"The queries that {reference} labeled must be a random sample of all, such as to_label draws."
    if truth.clusters is not None:
        yield "Dependent queries: audits take queries as independent; the labels respect clusters."
    for judge, labeled in labeled_by.items():
        evaluation = evaluations[judge]
        if len(labeled) < FEWEST_LABELED:
            yield f"{judge}: only {plural('query', len(labeled))} labeled by {reference}, and an audit needs {FEWEST_LABELED}."
        unknown = len(truth.query_ids) - len(labeled)
        if unknown:
            yield f"{judge}: {plural('query', unknown)} of {reference} not judged by it; left out of the audit."
        if truth.qrels is not None and evaluation.qrels is not None:
            documents, judged = truth.qrels.to_dict(), evaluation.qrels.to_dict()
            common = np.array([document in judged[query] for query in labeled for document in documents[query]])
            if common.size and common.mean() < FEWEST_IN_COMMON:
                yield (
                    f"{judge}: {percent(1 - common.mean(), 0)} % of the documents that {reference} labeled are not judged by "
                    "it, and a bias can come from that as well as from its judgments."
                )
