"""One comparison on the same queries under several judges, and their bias beside a reference."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ir_outcomes.choices import Count, Positive
from ir_outcomes.comparison.outcomes import PairedQueries, Sample, Settings, pair_queries
from ir_outcomes.comparison.result import QueryOutcome
from ir_outcomes.comparison.rows import Quantity, Row, estimated_row, found_alone
from ir_outcomes.comparison.verdict import RuleOptions, Rules
from ir_outcomes.conditions.conditions import (
    Answer,
    Bias,
    Condition,
    ConditionsComparison,
    Flip,
    by_contender,
    conditions_of,
    differing,
)
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import (
    Evaluation,
    contenders_of,
    evaluation_of,
    evaluations_of,
)
from ir_outcomes.evaluation.remarks import Allow
from ir_outcomes.formatting import listed, percent, plural
from ir_outcomes.notes import as_notes

FEWEST_LABELED = 10  # queries without which nothing is said about a judge
# Share of the reference's documents that a judge judged too, below which a note says so.
FEWEST_IN_COMMON = 0.9


def compare_judges(
    evaluations: Mapping[str, Evaluation],
    baseline: str | None = None,
    contenders: Sequence[str] | str | None = None,
    *,
    cutoff: Positive | None = None,
    reference: str | None = None,
    measures: Sequence[Any] = (),
    allow: Allow = (),
    **rules: Unpack[RuleOptions],
) -> ConditionsComparison:
    """Compare runs under several judges, such as people and language models.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        Evaluations of the same runs with the qrels of each judge; they may differ in qrels and
        `rel` only.
    baseline, contenders : str, and str or sequence of str
        Names of runs; by default the first is the baseline, and all others are contenders.
    cutoff : int, optional
        Ranks beyond it do not count; by default that of the evaluations.
    reference : str, optional
        Name of the judge that is the truth, such as people. It may have judged a part of the
        queries, a random sample (`ir_outcomes.to_label`) of at least 10. For each row the
        difference that another judge finds is set beside the reference's on the same queries.
    measures : sequence of Measure or str
        Other measures, such as ``["nDCG@10"]``; name them in ``evaluate(measures=)``.
    allow : collection of {"unknown-ids", "rising-scores", "equal-scores"}
        What is meant although it looks like a mistake; see `ir_outcomes.compare`.
    **rules
        alpha, correction and margins; see `ir_outcomes.Rules`.

    Raises
    ------
    ParameterError
        If there are fewer than two judges, or the reference is none of them.
    MismatchError
        If the evaluations differ in more than qrels and `rel`.

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
    checked = Rules(**rules)
    conditions = conditions_of(
        evaluations,
        baseline,
        chosen,
        rules,
        over_conditions=False,
        allow=allow,
        measures=measures,
    )
    settings = Settings.of(first, checked, len(chosen))
    biases: list[Bias] = []
    if reference is not None:
        biases = list(_biases(evaluations, conditions, reference, settings))
    return ConditionsComparison(
        over="judge",
        baseline=baseline,
        conditions=tuple(conditions),
        settings=settings,
        flips=tuple(
            flip
            for name, of_name in by_contender(conditions).items()
            for flip in _flips(name, of_name)
        ),
        reference=reference,
        biases=tuple(biases),
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


def to_label(evaluation: Evaluation, n: Positive, *, seed: Count = 0) -> tuple[str, ...]:
    """Draw the ids of n queries for people to label, so that `ir_outcomes.compare_judges` can set a judge beside them.

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
    if n > len(evaluation.query_ids):
        raise ParameterError(f"there are {plural('query', len(evaluation.query_ids))}", n=n)
    drawn = np.random.default_rng(seed).choice(len(evaluation.query_ids), n, replace=False)
    return tuple(evaluation.query_ids[place] for place in sorted(drawn))


def _biases(
    evaluations: Mapping[str, Evaluation],
    conditions: Sequence[Condition],
    reference: str,
    settings: Settings,
) -> Iterator[Bias]:
    """Set every judge beside the reference, row by row, for each contender."""
    truth = evaluations[reference]
    for condition in conditions:
        judge = condition.condition
        if judge == reference:
            continue
        evaluation = evaluations[judge]
        labeled = [query for query in truth.answerable_queries if query in _answerable(evaluation)]
        if len(labeled) < FEWEST_LABELED:
            continue
        comparison = condition.comparison
        names = [comparison.baseline, comparison.contender]
        by_truth, by_judge = (
            _pair(own[names].restrict(_in_order(own, labeled))) for own in (truth, evaluation)
        )
        for row in comparison.parts:
            samples = [
                _sample(own, pair, row, labeled)
                for own, pair in ((truth[names], by_truth), (evaluation[names], by_judge))
            ]
            yield _bias(row, judge, comparison.contender, samples, by_truth, settings)


def _answerable(evaluation: Evaluation) -> frozenset[str]:
    return frozenset(evaluation.answerable_queries)


def _in_order(evaluation: Evaluation, queries: Sequence[str]) -> list[str]:
    """Return the queries in the order of an evaluation."""
    chosen = frozenset(queries)
    return [query for query in evaluation.query_ids if query in chosen]


def _pair(evaluation: Evaluation) -> PairedQueries:
    first, second = evaluation.at()
    return pair_queries(first, second, evaluation.unit)


def _sample(
    evaluation: Evaluation, pair: PairedQueries, row: Row, queries: Sequence[str]
) -> Sample:
    """Return the values of a row on the labeled queries, in the reference's order."""
    found = {
        "coverage": pair.coverage,
        "ranking": pair.ranking,
        "all queries": pair.all_queries,
    }.get(row.name)
    ids: Sequence[str] = pair.query_ids
    if found is None:
        scores = evaluation.scores_of(row.name).on(tuple(queries))
        found = Sample(scores.values[0], scores.values[1], np.ones(len(queries)))
        ids = queries
    column = {query: index for index, query in enumerate(ids)}
    order = [column[query] for query in queries]
    return Sample(found.baseline[order], found.contender[order], found.size[order])


def _bias(
    row: Row,
    judge: str,
    contender: str,
    samples: Sequence[Sample],
    pair: PairedQueries,
    settings: Settings,
) -> Bias:
    """Estimate the judge's difference less the reference's, on the queries that both can tell."""
    truth, judged = samples
    size = np.minimum(truth.size, judged.size)
    by_reference, by_judge = (
        np.where(size > 0, own.contender - own.baseline, 0.0) for own in samples
    )
    quantity = Quantity(row.name, row.measured_in, row.higher_is_better, row.largest)
    twice = None if row.largest is None else 2 * row.largest
    alpha = settings.alpha
    bias = found_alone(
        estimated_row(
            quantity._replace(largest=twice),
            Sample(by_reference, by_judge, size),
            pair.clusters,
            settings,
        ),
        alpha,
    )
    by_truth = found_alone(estimated_row(quantity, truth, pair.clusters, settings), alpha)
    reference_found = by_truth.found
    answer: Answer = "cannot be told"
    if {reference_found, row.found} == {"better", "worse"} or (
        bias.pvalue <= alpha and reference_found != row.found
    ):
        answer = "differs"
    elif reference_found == row.found != "none":
        answer = "agrees"
    return Bias(contender, judge, bias, reference_found, row.found, answer)


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
    # The bias depends on a random sample, enough labeled queries, and the same documents.
    truth = evaluations[reference]
    labeled_by = {
        judge: _in_order(truth, evaluation.query_ids)
        for judge, evaluation in evaluations.items()
        if judge != reference
    }
    if any(len(own) < len(evaluations[judge].query_ids) for judge, own in labeled_by.items()):
        yield (
            f"The queries that {reference} labeled must be a random sample of all, such as to_label"
            " draws."
        )
    for judge, labeled in labeled_by.items():
        if len(labeled) < FEWEST_LABELED:
            yield (
                f"{judge}: only {plural('query', len(labeled))} labeled by {reference}; at least"
                f" {FEWEST_LABELED} are needed to say anything."
            )
        unknown = len(truth.query_ids) - len(labeled)
        if unknown:
            yield (
                f"{judge}: {plural('query', unknown)} of {reference} not judged by it; left out."
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
