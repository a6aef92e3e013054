"""One comparison under several judges, and their bias beside a reference."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self, Unpack

import numpy as np

from ir_outcomes.choices import Count, Direction, Floats, Ints, Positive
from ir_outcomes.comparison.family import known_means
from ir_outcomes.conditions.conditions import (
    Condition,
    ConditionsComparison,
    Kind,
    by_contender,
    conditions_of,
)
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import (
    Evaluation,
    contenders_of,
    evaluation_of,
    evaluations_of,
)
from ir_outcomes.evaluation.named_measures import Measures
from ir_outcomes.evaluation.remarks import Allow
from ir_outcomes.evaluation.suites import differing
from ir_outcomes.formatting import listed, percent, plural
from ir_outcomes.notes import as_notes
from ir_outcomes.pairs.differences import Clusters, Measurements, Quantity
from ir_outcomes.pairs.measurements import measurements_of
from ir_outcomes.pairs.outcomes import QueryOutcome, SystemPair
from ir_outcomes.pairs.rows import Row, RowsOfPairs
from ir_outcomes.pairs.rules import RuleOptions, Rules, Settings
from ir_outcomes.results import Immutable
from ir_outcomes.statistics.estimate import ROUNDING

FEWEST_LABELED = 10  # queries without which nothing is said about a judge
# Share of the reference's documents that a judge judged too, below which a note says so.
FEWEST_IN_COMMON = 0.9


@dataclass(frozen=True)
class Flip(Immutable):
    """A query on which judges disagree about which run is better."""

    contender: str  #: the run
    query_id: str  #: the query
    better: tuple[str, ...]  #: judges for whom the contender is better
    worse: tuple[str, ...]  #: judges for whom it is worse
    text: str | None  #: the query's text, where it is known


Answer = Literal["agrees", "differs", "cannot be told"]


@dataclass(frozen=True)
class Bias(Immutable):
    """A judge's difference in one row, less the reference's on the same queries."""

    contender: str  #: the run
    judge: str  #: who is compared with the reference
    #: `baseline` is the reference's difference, `contender` the judge's, and the difference the bias
    row: Row
    reference_found: Direction  #: what the reference finds on these queries
    judge_found: Direction  #: what the judge finds on all its queries
    answer: Answer


@dataclass(frozen=True, repr=False)
class JudgesComparison(ConditionsComparison):
    """Contenders against a baseline under several judges.

    The figure is "forest".

    Attributes
    ----------
    flips : tuple of Flip
        Queries on which judges disagree about the direction.
    reference : str or None
        The judge that the others are compared with.
    biases : tuple of Bias
        For each contender, judge and row, the difference from the reference; empty without one.
    """

    over: ClassVar[Kind] = "judge"

    flips: tuple[Flip, ...]
    reference: str | None
    biases: tuple[Bias, ...]


def compare_judges(
    evaluations: Mapping[str, Evaluation],
    baseline: str | None = None,
    contenders: Sequence[str] | str | None = None,
    *,
    cutoff: Positive | None = None,
    reference: str | None = None,
    measures: Measures = (),
    allow: Allow = (),
    **rules: Unpack[RuleOptions],
) -> JudgesComparison:
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
            f"the judges differ in {setting} ({said}); evaluate all with the same `{setting}`"
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
        checked,
        over_conditions=False,
        allow=allow,
        measures=measures,
    )
    settings = Settings.of(first, checked, len(chosen))
    biases: list[Bias] = []
    if reference is not None:
        judges = {
            judge: _Judge.of(evaluation[[baseline, *chosen]], measures)
            for judge, evaluation in evaluations.items()
        }
        biases = list(_biases(judges, conditions, reference, settings))
    return JudgesComparison(
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
    """Find the queries on which judges disagree about the direction over all queries."""
    by_query: dict[str, list[tuple[str, QueryOutcome]]] = {}
    for row in rows:
        for query in row.comparison.queries or ():
            by_query.setdefault(query.query_id, []).append((row.condition, query))
    for query_id, outcomes in by_query.items():
        # Search lengths are compared, of which lower ones are better.
        better = tuple(judge for judge, query in outcomes if (query.all_queries or 0) < 0)
        worse = tuple(judge for judge, query in outcomes if (query.all_queries or 0) > 0)
        if better and worse:
            texts = [query.text for _, query in outcomes if query.text]
            yield Flip(contender, query_id, better, worse, next(iter(texts), None))


def to_label(evaluation: Evaluation, n: Positive, *, seed: Count = 0) -> tuple[str, ...]:
    """Draw n queries for people to label, as a reference of judges.

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
    ('q55', 'q66', 'q84')
    """
    evaluation = evaluation_of(evaluation)
    if n > len(evaluation.query_ids):
        raise ParameterError(f"there are {plural('query', len(evaluation.query_ids))}", n=n)
    # The draw is of sorted ids, so that it does not depend on the order of the qrels.
    queries = sorted(evaluation.query_ids)
    drawn = np.random.default_rng(seed).choice(len(queries), n, replace=False)
    return tuple(queries[index] for index in sorted(drawn))


class _Judge(NamedTuple):
    """What runs have under one judge, and what it says of each query."""

    measurements: Measurements
    columns: dict[str, int]  # of the answerable queries
    judgments: dict[str, Any]  # grades, the smallest relevant one, and the rankings that they judge

    @classmethod
    def of(cls, evaluation: Evaluation, measures: Measures) -> Self:
        """Measure the runs of an evaluation."""
        measurements = measurements_of(evaluation, measures=known_means(evaluation, measures))
        grades = {} if evaluation.qrels is None else evaluation.qrels.to_dict()
        rankings = np.concatenate([run.diagnosis.digests for run in evaluation.runs], axis=1)
        judgments = {
            query: (grades[query], evaluation.rel, ranking.tobytes())
            for query, ranking in zip(evaluation.query_ids, rankings, strict=True)
            if query in grades
        }
        columns = {query: index for index, query in enumerate(measurements.query_ids)}
        return cls(measurements, columns, judgments)

    def levels(self, contender: str, name: str, queries: Sequence[str]) -> Floats:
        """(2, queries) values of baseline and contender, NaN where the row does not count."""
        pair = SystemPair(self.measurements, 0, self.measurements.names.index(contender))
        values = pair.values(name)
        levels = np.where(values.size > 0, [values.baseline, values.contender], np.nan)
        selected: Floats = levels[:, [self.columns[query] for query in queries]]
        return selected


def _biases(
    judges: Mapping[str, _Judge],
    conditions: Sequence[Condition],
    reference: str,
    settings: Settings,
) -> Iterator[Bias]:
    """Set every judge beside the reference, row by row, for each contender."""
    truth = judges[reference]
    for condition in conditions:
        judge = judges[condition.condition]
        queries = [query for query in truth.columns if query in judge.columns]
        if judge is truth or len(queries) < FEWEST_LABELED:
            continue
        comparison = condition.comparison
        rows = {row.name: row for row in comparison.parts}
        of_truth, of_judge = (
            {name: labels.levels(comparison.contender, name, queries) for name in rows}
            for labels in (truth, judge)
        )
        biases = {name: _bias_levels(of_truth[name], of_judge[name]) for name in rows}
        identical = all(
            query in truth.judgments and truth.judgments[query] == judge.judgments.get(query)
            for query in queries
        )
        codes = None
        if truth.measurements.clusters is not None:
            clusters = truth.measurements.clusters.codes
            codes = clusters[[truth.columns[query] for query in queries]]
        by_truth, by_both = (
            _estimated(rows, levels, queries, codes, settings, factor, identical=is_identical)
            for levels, factor, is_identical in ((of_truth, 1, False), (biases, 2, identical))
        )
        for name, row in rows.items():
            found, bias = by_truth[name].found, by_both[name]
            answer = _answer(bias, found, row.found, settings.alpha)
            yield Bias(comparison.contender, condition.condition, bias, found, row.found, answer)


def _bias_levels(truth: Floats, judge: Floats) -> Floats:
    """(2, queries) differences by the reference and by the judge, else NaN."""
    both = np.stack([truth, judge])
    differences = both[:, 1] - both[:, 0]
    differences[np.abs(differences) <= ROUNDING * np.abs(both).sum(axis=1)] = 0.0
    return np.where(np.isnan(differences).any(axis=0), np.nan, differences)


def _estimated(
    rows: Mapping[str, Row],
    levels: Mapping[str, Floats],
    queries: Sequence[str],
    clusters: Ints | None,
    settings: Settings,
    factor: int,
    *,
    identical: bool,
) -> dict[str, Row]:
    """Estimate rows like these from two values by query of `factor` times K."""
    quantities = {
        name: Quantity(
            name,
            row.measured_in,
            row.higher_is_better,
            None if row.largest is None else factor * row.largest,
        )
        for name, row in rows.items()
    }
    measurements = Measurements(
        names=("", " "),
        n_runs=(1, 1),
        query_ids=tuple(queries),
        quantities=quantities,
        levels=levels,
        items={},
        deciding=(),
        clusters=None if clusters is None else Clusters(clusters),
        rankings=np.array([0, 0 if identical else 1]),
    )
    pairs = RowsOfPairs.of_family(measurements, [*quantities], settings.alpha)
    return {name: row.row(0, settings.first_level) for name, row in pairs.rows.items()}


def _answer(bias: Row, reference_found: Direction, judge_found: Direction, alpha: float) -> Answer:
    """Say whether the judge can stand for the reference."""
    if {reference_found, judge_found} == {"better", "worse"}:
        return "differs"
    if reference_found == judge_found:
        return "cannot be told" if judge_found == "none" else "agrees"
    return "differs" if bias.pvalue <= alpha else "cannot be told"


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
    labeled = frozenset(truth.query_ids)
    labeled_by = {
        judge: [query for query in evaluation.query_ids if query in labeled]
        for judge, evaluation in evaluations.items()
        if judge != reference
    }
    if any(
        len(queries) < len(evaluations[judge].query_ids) for judge, queries in labeled_by.items()
    ):
        yield (
            f"The queries that {reference} labeled must be a random sample of all, such as to_label"
            " draws."
        )
    for judge, queries in labeled_by.items():
        if len(queries) < FEWEST_LABELED:
            yield (
                f"{judge}: only {plural('query', len(queries))} labeled by {reference}; at least"
                f" {FEWEST_LABELED} are needed to say anything."
            )
        unknown = len(truth.query_ids) - len(queries)
        if unknown:
            yield (
                f"{judge}: {plural('query', unknown)} of {reference} not judged by it; left out."
            )
        qrels = evaluations[judge].qrels
        if truth.qrels is None or qrels is None:
            continue
        documents = truth.qrels.to_dict()
        judged = qrels.to_dict()
        common = np.array(
            [document in judged[query] for query in queries for document in documents[query]]
        )
        if common.size and common.mean() < FEWEST_IN_COMMON:
            yield (
                f"{judge}: {percent(1 - common.mean(), 0)} % of the documents that {reference}"
                " labeled are not judged by it, and a bias can come from that as well as from"
                " its judgments."
            )
