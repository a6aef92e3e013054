"""Whether the other half of the queries says the same."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ir_outcomes.comparison.verdict import DIRECTIONS, LABELS
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.work import check_jobs
from ir_outcomes.leaderboards.halves import STATES, TESTS, TestsOfHalves, VerdictsOfHalves, added_up
from ir_outcomes.leaderboards.ordering import evaluation_to_judge, notes_on_source, values_of
from ir_outcomes.notes import as_notes
from ir_outcomes.results import Result
from ir_outcomes.types import Bools, Ints, Unit, check_count, check_level, check_positive


@dataclass(frozen=True)
class HalfAgreement:
    """How often two halves of the queries agree, by one test or by the two-facet verdict.

    All numbers are shares of splits and pairs of runs. The direction of a half is better, worse or
    none: of a test that of the aggregate where the test is significant, of a verdict that of its
    label. A half *decides* if it has a direction.
    """

    measure: str  #: what is tested; "outcomes by query" or "outcomes by document" for the verdict
    test: str  #: "sign", "ranksum", "wilcoxon", "t", or "two facets"
    #: What says which of two runs is better: "mean" or "median"; None for the verdict.
    aggregate: str | None
    same: float  #: both halves have the same direction, or none
    one_sided: float  #: only one half decides
    opposite: float  #: one half says that the contender is better, the other that it is worse; the three sum to 1
    decided: float  #: at least one half decides
    #: Probability that the other half has the same direction, given that a half decided.
    replicates: float | None
    #: The rates of Craswell et al. 2021, which also count which run is better where neither half is
    #: significant; `agree`, `partial` and `disagree` sum to 1. None for the verdict.
    agree: float | None = None
    partial: float | None = None  #: see `agree`
    disagree: float | None = None  #: see `agree`
    #: A test is significant in at least one half (their last row). It differs from `decided` only
    #: where the aggregates of two runs are equal. None for the verdict.
    significant: float | None = None


def rates(counts: Ints, directions: Ints) -> dict[str, Any]:
    """Return how often halves have the same direction, by the names of `HalfAgreement`.

    `counts` is (m, m), by what the first and the second half say; `directions` are those of the m
    things said: -1, 0 or 1.
    """
    first, second = np.meshgrid(directions, directions, indexing="ij")
    cells = {
        "same": first == second,
        "one_sided": (first == 0) != (second == 0),
        "opposite": first * second < 0,
        "decided": (first != 0) | (second != 0),
    }
    _, one_sided, opposite, decided = (int(counts[chosen].sum()) for chosen in cells.values())
    halves_that_decide = 2 * decided - one_sided
    replicating = 2 * (decided - one_sided - opposite)
    return _shares(counts, cells) | {
        "replicates": replicating / halves_that_decide if halves_that_decide else None
    }


def _shares(counts: Ints, cells: Mapping[str, Bools]) -> dict[str, Any]:
    """Return which share of the splits and pairs is in these cells, by their names."""
    total = int(counts.sum())
    return {name: int(counts[chosen].sum()) / total for name, chosen in cells.items()}


_SIGNS = np.array([sign for sign, _ in STATES])
_SIGNIFICANT = np.array([significant for _, significant in STATES])
_DIRECTIONS = np.where(_SIGNIFICANT, _SIGNS, 0)
_SAME_RUN = np.equal.outer(_SIGNS, _SIGNS)
_BOTH = np.logical_and.outer(_SIGNIFICANT, _SIGNIFICANT)
_EITHER = np.logical_or.outer(_SIGNIFICANT, _SIGNIFICANT)
_CRASWELL = {  # which states of the two halves count
    "agree": _SAME_RUN & (_BOTH | ~_EITHER),
    "partial": np.where(_SAME_RUN, _EITHER & ~_BOTH, ~_EITHER),
    "disagree": ~_SAME_RUN & _EITHER,
    "significant": _EITHER,
}


def agreement_of_tests(measure: str, counts: Ints) -> Iterator[HalfAgreement]:
    """Yield how far halves agree, for each test and aggregate, from what `TestsOfHalves` counted."""
    for (test, aggregate), of_states in zip(TESTS, counts, strict=True):
        shares = rates(of_states, _DIRECTIONS) | _shares(of_states, _CRASWELL)
        yield HalfAgreement(measure, test, aggregate, **shares)


@dataclass(frozen=True)
class Agreement(Result):
    """Agreement over random halves of the queries.

    Attributes
    ----------
    tests : tuple of HalfAgreement
        For each measure, test and aggregate.
    verdict : HalfAgreement or None
        The same for the two-facet verdict; None where only the values of a measure were given.
    labels : mapping of str to mapping of str to int
        Number of splits and pairs by the verdict of the first and of the second half; empty where
        there are no verdicts.
    unit : {"query", "document"} or None
        Of the verdict.
    cutoff : int or None
        Of the verdict.
    n_queries, n_runs, n_pairs : int
        Numbers of queries, of runs, and of the pairs of runs that were judged: all, or a random
        sample.
    splits, seed : int
        Number of random splits, and the seed of the random numbers.
    alpha : float
        Level of the tests and verdicts; p-values are not corrected.
    notes : tuple of str
        Caveats.
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

    @property
    def n_all_pairs(self) -> int:
        """Number of all pairs of the runs, of which `n_pairs` may be a random sample."""
        return self.n_runs * (self.n_runs - 1) // 2

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measure, test and aggregate, and a row for the verdict."""
        rows = [*map(asdict, self.tests)]
        if self.verdict is not None:
            rows.append(asdict(self.verdict))
        return rows


def agreement(
    source: Evaluation | Scores,
    *,
    measures: Sequence[Any] | str | None = None,
    cutoff: int | None = None,
    splits: int = 100,
    seed: int = 0,
    alpha: float = 0.05,
    pairs: int | None = 20_000,
    n_jobs: int | None = 1,
    progress: bool = False,
) -> Agreement:
    """Split the queries at random into halves, many times, and count how often both halves lead to the same conclusion.

    For tests also by the rates of Craswell et al.: two halves *agree* about which run is better,
    with a difference significant in both or in neither; they *disagree* about it, with at least one
    significant; or they agree *partially*. Equal aggregates count as a third answer to which run is
    better. Measures are split over all queries of the qrels, the verdict over the answerable ones.

    Parameters
    ----------
    source : Evaluation or Scores
        At least two runs; scores have no verdict, and their own measure.
    measures : sequence of Measure or str, optional
        What is tested; by default the reciprocal rank at the cutoff, and nDCG@10 if the evaluation
        has kept it. Where a measure is undefined in one of two runs, the query does not count for
        the pair.
    cutoff : int, optional
        Cutoff of the verdict and of the reciprocal rank; by default the evaluation's.
    splits, seed : int
        Number of random splits, and the seed of the random numbers.
    alpha : float
        Level of the tests and verdicts, not corrected, as in the paper.
    pairs : int, optional
        Most pairs of runs. Of more, which are those of over 200 runs, a random sample of this size
        is drawn; None takes all.
    n_jobs : int, optional
        Processes, as in `ir_outcomes.evaluate`.
    progress : bool
        On stderr.

    Raises
    ------
    ParameterError
        If a setting is invalid, there are fewer than two runs or four queries, or a measure is not
        available.

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
    check_count("seed", seed)
    check_level(alpha)
    check_positive("pairs", pairs, none_allowed=True)
    check_jobs(n_jobs)
    evaluation = evaluation_to_judge(source, cutoff)
    tested = values_of(evaluation or source, measures)
    n_runs = len(source.runs)
    judged = sampled(np.stack(np.triu_indices(n_runs, 1), axis=1), pairs, seed)
    verdict: HalfAgreement | None = None
    labels: dict[str, dict[str, int]] = {}
    if evaluation is not None:
        if measures is None:
            tested += [scores for scores in evaluation.scores if scores.measure == "nDCG@10"]
        of_labels = added_up(
            VerdictsOfHalves.of(evaluation, splits, seed, alpha), judged, n_jobs, progress
        )
        verdict = HalfAgreement(
            f"outcomes by {evaluation.unit}", "two facets", None, **rates(of_labels, DIRECTIONS)
        )
        labels = {
            label: dict(zip(LABELS, row, strict=True))
            for label, row in zip(LABELS, of_labels.tolist(), strict=True)
        }
    tests: list[HalfAgreement] = []
    for scores in tested:
        of_states = added_up(
            TestsOfHalves.of(scores, splits, seed, alpha), judged, n_jobs, progress
        )
        tests += agreement_of_tests(scores.measure, of_states)
    notes = [
        "p-values are not corrected, as in Craswell et al. 2021; half of the queries have less"
        " power than all of them."
    ]
    if source.clusters is not None:
        notes.append(
            "Halves are of clusters, and verdicts take them as their unit; the tests of measures"
            " take queries."
        )
    notes += dict.fromkeys(note for scores in tested for note in scores.notes())
    return Agreement(
        tests=tuple(tests),
        verdict=verdict,
        labels=labels,
        unit=None if evaluation is None else evaluation.unit,
        cutoff=None if evaluation is None else evaluation.cutoff,
        n_queries=len(source.query_ids),
        n_runs=n_runs,
        n_pairs=len(judged),
        splits=splits,
        seed=seed,
        alpha=alpha,
        notes=as_notes([*notes, *notes_on_source(source)]),
    )


def sampled(pairs: Ints, most: int | None, seed: int) -> Ints:
    """Return all pairs, or so many that are drawn at random, in their order."""
    if most is None or len(pairs) <= most:
        return pairs
    # Not the numbers that draw the halves.
    places = np.random.default_rng([seed, len(pairs)]).choice(len(pairs), most, replace=False)
    return pairs[np.sort(places)]
