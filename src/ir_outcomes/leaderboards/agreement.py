"""Do two halves of the queries lead to the same conclusions? Agreement of significance tests and of the two-facet verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ir_outcomes._checks import check_one_order, check_positive
from ir_outcomes._formatting import plural
from ir_outcomes._types import Unit
from ir_outcomes.comparison.settings import check_alpha
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.leaderboards.half_tests import agreement_of_tests
from ir_outcomes.leaderboards.half_verdicts import agreement_of_verdicts
from ir_outcomes.leaderboards.halves import HalfAgreement
from ir_outcomes.leaderboards.source import check_number_of_runs, notes_on_source, scores_of
from ir_outcomes.results import Result, versions
from ir_outcomes.statistics.checks import check_draws

__all__ = ["Agreement", "agreement"]


@dataclass(frozen=True)
class Agreement(Result):
    """Agreement over random halves of the queries; the figure is "agreement".

    Attributes
    ----------
    tests : tuple of HalfAgreement
        For each measure, test and aggregate.
    verdict : HalfAgreement or None
        The same for the two-facet verdict; None where only the values of a measure were given.
    labels : mapping of str to mapping of str to int
        Number of splits and pairs by the verdict of the first and of the second half; empty where there are no verdicts.
    unit : {"query", "document"} or None
        Of the verdict.
    cutoff : int or None
        Of the verdict.
    n_queries, n_runs, n_pairs : int
        Numbers of queries, runs, and pairs of runs.
    splits, seed : int
        Number of random splits, and the seed of the random numbers.
    alpha : float
        Level of the tests and verdicts; p-values are not corrected.
    notes : tuple of str
        Caveats.
    versions : mapping of str to str
        Of ir_outcomes, NumPy, SciPy, ir_measures and Python.
    """

    tests: tuple[HalfAgreement, ...]
    verdict: HalfAgreement | None
    labels: Mapping[str, Mapping[str, int]]
    unit: Unit | None
    cutoff: int | None
    n_queries: int
    n_runs: int
    n_pairs: int
    splits: int
    seed: int
    alpha: float
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measure, test and aggregate, and a row for the verdict."""
        rows = []
        for of_test in (*self.tests, *(() if self.verdict is None else (self.verdict,))):
            values = asdict(of_test)
            rows.append({name: values.pop(name) for name in ("measure", "test", "aggregate")} | values)
        return rows

    def _summary(self) -> str:
        return f"{plural('run', self.n_runs)}, {plural('split', self.splits)} of {plural('query', self.n_queries)}"


def agreement(
    source: Evaluation | Scores,
    *,
    measures: Sequence[Any] | str | None = None,
    cutoff: int | None = None,
    splits: int = 100,
    seed: int = 0,
    alpha: float = 0.05,
    progress: bool = False,
) -> Agreement:
    """Split the queries at random into halves, many times, and count how often both halves lead to the same conclusion.

    For tests and verdicts alike: how often do both halves have the *same* label (better, worse, no difference), does *only one*
    decide, do they say the *opposite*; and if a half decided, how often does the other half *replicate* its label. See `Rates`.

    For tests, beside these, the rates of Craswell et al.: two halves *agree* if they agree about which run is better, and the
    difference is significant in both or in neither; they *partially agree* if they agree about which is better but only one is
    significant, or do not agree about which is better and neither is significant; they *disagree* if they do not agree about
    which is better, and at least one is significant. Equal aggregates count as a third answer to which run is better. Measures
    are split over all queries of the qrels, as means of ir_measures are; the verdict over the answerable ones.

    Parameters
    ----------
    source : Evaluation or Scores
        At least two runs; from `ir_outcomes.evaluate`, or from `ir_outcomes.scores_from_outputs`. Scores have no verdict.
    measures : sequence of Measure or str, optional
        What is tested; by default the reciprocal rank of the whole lists, and nDCG@10 if the evaluation has kept it
        (``evaluate(measures=["nDCG@10"])``). Where a measure such as ESL is undefined in one of two runs, the query does not
        count for the pair. Scores have their own.
    cutoff : int, optional
        Cutoff of the verdict; by default the evaluation's.
    splits, seed : int
        Number of random splits, and the seed of the random numbers. It determines the halves and nothing else.
    alpha : float
        Level of the tests and verdicts, not corrected, as in the paper.
    progress : bool
        Show progress bars on stderr.

    Returns
    -------
    Agreement

    Raises
    ------
    ParameterError
        If a setting is invalid, there are fewer than two runs or four queries, or a measure is not available.

    References
    ----------
    Craswell et al. 2021, section 4.3, Table 4, after Buckley and Voorhees 2000.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(20)}
    >>> good = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> poor = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> result = agreement(evaluate(qrels, {"good": good, "poor": poor}), measures=["RR"], splits=10)
    >>> result.tests[0].agree, result.tests[0].replicates, result.verdict.same
    (1.0, 1.0, 1.0)
    """
    check_positive("splits", splits)
    check_draws(seed, splits)
    check_alpha(alpha)
    check_number_of_runs(source)
    n_runs = len(source.runs)
    verdict: HalfAgreement | None = None
    labels: dict[str, dict[str, int]] = {}
    if isinstance(source, Evaluation):
        check_one_order(source.ties)
        if cutoff is not None:
            source = source.with_cutoff(cutoff)
        tested = _measures(source, measures)
        verdict, labels = agreement_of_verdicts(source, splits, seed, alpha, progress)
    elif measures is not None or cutoff is not None:
        raise ParameterError(f"measures and cutoff are for an Evaluation; these scores are of {source.measure}")
    else:
        tested = [source]
    return Agreement(
        tests=tuple(row for scores in tested for row in agreement_of_tests(scores, splits, seed, alpha, progress)),
        verdict=verdict,
        labels=labels,
        unit=source.unit if isinstance(source, Evaluation) else None,
        cutoff=source.cutoff if isinstance(source, Evaluation) else None,
        n_queries=len(source.query_ids),
        n_runs=n_runs,
        n_pairs=n_runs * (n_runs - 1) // 2,
        splits=splits,
        seed=seed,
        alpha=alpha,
        notes=(*_notes(tested), *notes_on_source(source)),
        versions=versions(),
    )


def _measures(evaluation: Evaluation, measures: Sequence[Any] | str | None) -> list[Scores]:
    if measures is None:
        return [scores_of(evaluation), *(scores for scores in evaluation.scores if scores.measure == "nDCG@10")]
    named = [measures] if isinstance(measures, str) else list(measures)
    if not named:
        raise ParameterError("there is no measure; name at least one, or leave measures out")
    tested = [scores_of(evaluation, measure) for measure in named]
    repeated = [measure for measure, times in Counter(scores.measure for scores in tested).items() if times > 1]
    if repeated:
        raise ParameterError(f"{repeated[0]} is named twice; name each measure once")
    return tested


def _notes(tested: Sequence[Scores]) -> tuple[str, ...]:
    notes = ["p-values are not corrected, as in Craswell et al. 2021; half of the queries have less power than all of them."]
    for scores in tested:
        undefined = int(np.isnan(scores.values).any(axis=0).sum())
        if undefined:
            notes.append(
                f"{scores.measure} is undefined for some run on {undefined} of {plural('query', len(scores.query_ids))}: a "
                "pair of runs is tested on the queries where both are defined."
            )
    return tuple(notes)
