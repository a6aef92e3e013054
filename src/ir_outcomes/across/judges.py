"""One comparison on the same queries under several judges, and an audit of judges by the labels of a reference."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ir_outcomes.across.conditions import agreement_of, conditions_of, differing
from ir_outcomes.across.result import (
    Answer,
    Audit,
    Condition,
    ConditionsComparison,
    Flip,
    by_contender,
)
from ir_outcomes.comparison.facets import POWER
from ir_outcomes.comparison.outcomes import Settings, horizon_of, pair_queries
from ir_outcomes.comparison.result import QueryOutcome
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import (
    Evaluation,
    contenders_of,
    evaluation_of,
    evaluations_of,
)
from ir_outcomes.formatting import fixed, interval, listed, percent, plural, pvalue_in_words
from ir_outcomes.notes import as_notes
from ir_outcomes.reading.measure_names import range_of
from ir_outcomes.statistics import Interval, differences, mean_test, queries_for_mean
from ir_outcomes.statistics.pooling import cautious_mean, prediction_powered_mean
from ir_outcomes.types import (
    POINTS,
    Correction,
    Floats,
    Ints,
    RankingTest,
    check_count,
    check_positive,
    length_unit,
)

OUTCOME_FACETS = ("coverage", "all queries")  # what is audited beside measures
FEWEST_LABELED = 10  # queries without which nothing is corrected
# Share of the reference's documents that a judge judged too, below which a note says so.
FEWEST_IN_COMMON = 0.9


def compare_judges(
    evaluations: Mapping[str, Evaluation],
    baseline: str | None = None,
    contenders: Sequence[str] | str | None = None,
    *,
    cutoff: int | None = None,
    alpha: float = 0.05,
    test: RankingTest = "t",
    correction: Correction = "holm",
    reference: str | None = None,
    measures: Sequence[Any] = (),
) -> ConditionsComparison:
    """Compare runs under several judges, such as people and language models.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        Evaluations of the same runs with the qrels of each judge; they may differ in qrels and
        `rel` only.
    baseline, contenders : str, and str or sequence of str
        Names of runs; by default the first is the baseline, and all others are contenders.
    cutoff, alpha, test, correction
        See `ir_outcomes.compare`.
    reference : str, optional
        Name of the judge that is the truth, such as people. It may have judged a part of the
        queries, a random sample (`ir_outcomes.to_label`) of at least 10. The differences of the
        other judges in coverage, over all queries and in the measures are tested for bias and
        corrected by prediction-powered inference; not in ranking, which each judge measures on
        other queries.
    measures : sequence of Measure or str
        Other measures to audit, such as ``["nDCG@10"]``; name them in ``evaluate(measures=)``.

    Raises
    ------
    ParameterError
        If there are fewer than two judges, or the reference is none of them.
    MismatchError
        If the evaluations differ in more than qrels and `rel`.

    References
    ----------
    Angelopoulos, Duchi and Zrnic 2023, "PPI++: efficient prediction-powered inference".

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> runs = {"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"y": 2.0, "x": 1.0}}}
    >>> judges = {"one": {"q": {"x": 1}}, "two": {"q": {"y": 1}}}
    >>> found = compare_judges({name: iro.evaluate(qrels, runs) for name, qrels in judges.items()}, "a")
    >>> [(flip.query_id, flip.better, flip.worse) for flip in found.flips]
    [('q', ('two',), ('one',))]
    """
    evaluations = evaluations_of(evaluations, cutoff)
    if len(evaluations) < 2:
        raise ParameterError("there must be at least two judges; with one, call compare")
    first = next(iter(evaluations.values()))
    for setting, said in differing(evaluations, "ties", "judged_only", "unit", "cutoff"):
        raise MismatchError(
            f"the judges differ in {setting} ({said}); judges may differ in qrels and rel only"
        )
    if len({evaluation.clusters is None for evaluation in evaluations.values()}) > 1:
        raise MismatchError(
            "some judges have clusters of queries and some have none; evaluate all with the same"
            " clusters"
        )
    for judge, evaluation in evaluations.items():
        missing = [name for name in first.names if name not in evaluation.names]
        if missing:
            raise MismatchError(
                f"{judge}: the run {some(missing)} is missing; evaluate the same runs for every"
                " judge"
            )
    if reference is not None and reference not in evaluations:
        raise ParameterError(
            f"this is no judge; they are {listed(list(evaluations))}", reference=reference
        )
    baseline = first.names[0] if baseline is None else baseline
    chosen = contenders_of(first.names, baseline, contenders)
    settings = Settings.of(first, alpha=alpha, test=test, correction=correction, family=len(chosen))
    rows = conditions_of(evaluations, baseline, chosen, settings, over_conditions="none")
    named = [first.scores_of(measure).measure for measure in measures]
    audits = []
    if reference is not None:
        audits = list(_audits(evaluations, reference, [baseline, *chosen], named, alpha))
    return ConditionsComparison(
        what="judge",
        baseline=baseline,
        conditions=tuple(rows),
        settings=settings,
        over_conditions="none",
        flips=tuple(flip for name, own in by_contender(rows).items() for flip in _flips(name, own)),
        sentences=(*agreement_of("judge", rows), *(_answer(audit, reference) for audit in audits)),
        reference=reference,
        audits=tuple(audits),
        notes=as_notes(_notes(evaluations, [baseline, *chosen], reference)),
    )


def _flips(contender: str, rows: Sequence[Condition]) -> Iterator[Flip]:
    """Find the queries on which judges disagree about the direction."""
    by_query: dict[str, list[tuple[str, QueryOutcome]]] = {}
    for row in rows:
        for query in row.comparison.queries or ():
            by_query.setdefault(query.query_id, []).append((row.condition, query))
    for query_id, judged in by_query.items():
        better = tuple(judge for judge, query in judged if _direction(query) > 0)
        worse = tuple(judge for judge, query in judged if _direction(query) < 0)
        if better and worse:
            texts = [query.text for _, query in judged if query.text]
            yield Flip(contender, query_id, better, worse, next(iter(texts), None))


def _direction(query: QueryOutcome) -> int:
    """Return whether the contender is better (1) or worse (-1) on a query: by what was found, then by search length."""
    change = (query.found_contender - query.found_baseline) or -(query.difference or 0.0)
    return int(change > 0) - int(change < 0)


def to_label(evaluation: Evaluation, n: int, *, seed: int = 0) -> tuple[str, ...]:
    """Draw the ids of n queries for people to label, so that `ir_outcomes.compare_judges` can audit a judge with them.

    Parameters
    ----------
    evaluation : Evaluation
        With the judge's qrels.
    n, seed : int
        How many queries, each set of which has the same chance, and the seed of the draw.

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
    evaluation = evaluation_of(evaluation)
    check_positive("n", n)
    check_count("seed", seed)
    if n > len(evaluation.query_ids):
        raise ParameterError(f"there are {plural('query', len(evaluation.query_ids))}", n=n)
    drawn = np.random.default_rng(seed).choice(len(evaluation.query_ids), n, replace=False)
    return tuple(evaluation.query_ids[place] for place in sorted(drawn))


def _audits(
    evaluations: Mapping[str, Evaluation],
    reference: str,
    runs: Sequence[str],
    measures: Sequence[str],
    alpha: float,
) -> Iterator[Audit]:
    """Audit every judge but the reference, for each facet and each run after the first, the baseline."""
    baseline, *contenders = runs
    truth = evaluations[reference]
    for contender in contenders:
        for judge, evaluation in evaluations.items():
            rows, columns = labeled_places(truth, evaluation)
            if judge != reference and len(rows) >= FEWEST_LABELED:
                for facet in (*OUTCOME_FACETS, *measures):
                    yield _audit(
                        levels_of(truth, baseline, contender, facet)[:, rows],
                        step_of(truth, rows, facet),
                        columns,
                        evaluation,
                        (baseline, contender),
                        judge,
                        facet,
                        alpha,
                    )


def _audit(
    by_truth: Floats,
    step: float,
    labeled: Ints,
    evaluation: Evaluation,
    runs: tuple[str, str],
    judge: str,
    facet: str,
    alpha: float,
) -> Audit:
    """Audit one judge by the levels of the labeled queries, (2, n)."""
    # As in Angelopoulos et al.: y by the reference and f by the judge, on the labeled queries.
    by_judge = levels_of(evaluation, *runs, facet)
    y = _changes(by_truth)
    f = _changes(by_judge[:, labeled])
    rest = _changes(np.delete(by_judge, labeled, axis=1))
    largest = _largest(evaluation, runs, facet, by_truth, by_judge)
    codes = evaluation.clusters
    clusters = None
    labeled_clusters = None
    if codes is not None:
        labeled_clusters = codes[labeled]
        clusters = (labeled_clusters, np.delete(codes, labeled))
    found = prediction_powered_mean(
        y, f, rest, 1 - alpha, largest=largest, step=step, clusters=clusters
    )
    rectified = y - found.weight * f
    imaginary = step * (1 + found.weight) * (largest or 0.0)
    claim = float(np.concatenate([f, rest]).mean())
    bias = differences(f, y)
    most = None if largest is None else 2 * largest
    bias_interval = cautious_mean(bias, most, step, labeled_clusters).interval(1 - alpha)
    if most is not None:
        bias_interval = bias_interval.within(-most, most)
    bias_p = mean_test(bias, clusters=labeled_clusters).pvalue
    measured_in, higher_is_better = _unit_and_direction(evaluation, facet)
    needed = None
    if claim:
        needed = queries_for_mean(
            rectified, len(y), claim, alpha=alpha, power=POWER, imaginary=imaginary
        )
    answer: Answer = "cannot be told"
    if bias_p <= alpha:
        answer = "wrong"
    elif min(end * claim for end in found.interval) > 0:
        answer = "holds"
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
        bias_interval=bias_interval,
        bias_p=bias_p,
        corrected=found.mean,
        corrected_interval=found.interval,
        weight=found.weight,
        correlation=_correlation(y, f),
        needed=needed,
        answer=answer,
    )


def _changes(levels: Floats) -> Floats:
    """Return contender minus baseline by query; 0 where a query is unanswerable for a judge and has no levels."""
    baseline, contender = np.nan_to_num(levels)
    return differences(baseline, contender)


def _unit_and_direction(evaluation: Evaluation, facet: str) -> tuple[str, bool]:
    """Return what the differences of a facet are measured in, and whether higher is better."""
    if facet == "coverage":
        return POINTS, True
    if facet == "all queries":
        return length_unit(evaluation.unit), False
    return facet, evaluation.scores_of(facet).higher_is_better


def step_of(truth: Evaluation, rows: Ints, facet: str) -> float:
    """Return the smallest possible difference of a labeled query as a share of the largest, on average: the weight of doubt."""
    if facet in OUTCOME_FACETS and truth.unit == "query":
        return 1.0
    relevant = truth.runs[0].relevant[rows]
    answerable = relevant[relevant > 0]
    return float(np.mean(1 / answerable)) if len(answerable) else 1.0


def _largest(
    evaluation: Evaluation, runs: tuple[str, str], facet: str, *levels: Floats
) -> float | None:
    """Return the largest possible difference of a query; None where the range of a measure is not known."""
    if facet == "coverage":
        return 100.0
    if facet == "all queries":
        horizon = horizon_of(*evaluation[[*runs]].at())
        return float(horizon) if horizon else None
    return range_of(facet, *levels)


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
    if facet in OUTCOME_FACETS:
        first, second = runs.at()
        pair = pair_queries(first, second, runs.unit)
        coverage = 100 * pair.found_baseline, 100 * pair.found_contender
        levels[:, runs.answerable] = coverage if facet == "coverage" else pair.all_queries
    else:
        levels[:, runs.answerable] = runs.scores_of(facet).on(runs.answerable_queries).values
    return levels


def _correlation(x: Floats, y: Floats) -> float | None:
    """Return Pearson's correlation; None where one of them is constant."""
    if len(x) < 2 or not np.ptp(x) or not np.ptp(y):
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _answer(audit: Audit, reference: str | None) -> str:
    """Write the answer of an audit with its numbers."""
    places = 2 if audit.facet in OUTCOME_FACETS else 4

    def value(mean: float, ends: Interval | None) -> str:
        return f"{fixed(mean, places, signed=True)} {interval(ends, places, signed=True)}"

    opening = (
        f"{audit.contender}, {audit.facet}: {audit.judge} finds"
        f" {fixed(audit.judge_difference, places, signed=True)} {audit.measured_in}, corrected by"
        f" {plural('query', audit.n_labeled)} of {reference} it is"
        f" {value(audit.corrected, audit.corrected_interval)}"
    )
    if audit.answer == "wrong":
        low, high = audit.bias_interval
        tested = pvalue_in_words(audit.bias_p)
        if low <= 0 <= high:
            tested = f"the interval includes zero, but the test, {tested}, decides"
        off = f"{value(audit.bias, audit.bias_interval)} ({tested})"
        return (
            f"{opening}; {audit.judge} is wrong about the difference, on the labeled queries by"
            f" {off}."
        )
    if audit.answer == "holds":
        return f"{opening}; the finding of {audit.judge} holds by {reference}."
    enough = ""
    queries = 0
    if audit.needed is not None:
        queries = audit.needed.queries or 0
    if queries > audit.n_labeled:
        enough = f"; if it is true, about {queries} would show it"
        if queries > audit.n_queries:
            enough += ", more than there are"
    return (
        f"{opening}; whether it holds cannot be told with"
        f" {plural('labeled query', audit.n_labeled)}{enough}."
    )


def _notes(
    evaluations: Mapping[str, Evaluation], runs: Sequence[str], reference: str | None
) -> Iterator[str]:
    ranking = {run.casefold() for run in runs}
    circular = [judge for judge in evaluations if judge.casefold() in ranking]
    if circular:
        yield (
            f"{listed(circular)}: a run has the judge's name. A judge that is also a ranker favors"
            " its own ranking, which makes the comparison circular."
        )
    if reference is None:
        return
    # An audit depends on a random sample, enough labeled queries, and the same documents.
    truth = evaluations[reference]
    labeled_by = {}
    for judge, evaluation in evaluations.items():
        if judge != reference:
            rows, _ = labeled_places(truth, evaluation)
            labeled_by[judge] = [truth.query_ids[row] for row in rows]
    if any(len(own) < len(evaluations[judge].query_ids) for judge, own in labeled_by.items()):
        yield (
            f"The queries that {reference} labeled must be a random sample of all, such as to_label"
            " draws."
        )
    for judge, labeled in labeled_by.items():
        if len(labeled) < FEWEST_LABELED:
            yield (
                f"{judge}: only {plural('query', len(labeled))} labeled by {reference}, and an"
                f" audit needs {FEWEST_LABELED}."
            )
        unknown = len(truth.query_ids) - len(labeled)
        if unknown:
            yield (
                f"{judge}: {plural('query', unknown)} of {reference} not judged by it; left out of"
                " the audit."
            )
        known = evaluations[judge].qrels
        if truth.qrels is None or known is None:
            continue
        documents = truth.qrels.to_dict()
        judged = known.to_dict()
        common = np.array(
            [document in judged[query] for query in labeled for document in documents[query]]
        )
        if common.size and common.mean() < FEWEST_IN_COMMON:
            yield (
                f"{judge}: {percent(1 - common.mean(), 0)} % of the documents that {reference}"
                " labeled are not judged by it, and a bias can come from that as well as from"
                " its judgments."
            )
