"""Whether the other half of the queries says the same."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ir_outcomes.comparison.facets import run_tests, samples_of
from ir_outcomes.comparison.outcomes import coverage_test_for, pair_queries
from ir_outcomes.comparison.verdict import DIRECTIONS, LABELS, judge
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.formatting import with_progress
from ir_outcomes.leaderboards.board import evaluation_to_judge, notes_on_source, values_of
from ir_outcomes.results import Result
from ir_outcomes.statistics.counts import SLACK, Differences, Members, Pair, count, medians, membership, pairs_of
from ir_outcomes.statistics.tests import many_tests, rank_sum_tests
from ir_outcomes.types import Bools, Floats, Ints, Unit, check_count, check_number, check_positive


@dataclass(frozen=True)
class HalfAgreement:
    """How often two halves of the queries agree, by one test or by the two-facet verdict.

    All numbers are shares of splits and pairs of runs. The direction of a half is better, worse or none: of a test that of the
    aggregate where the test is significant, of a verdict that of its label. A half *decides* if it has a direction.
    """

    measure: str  #: what is tested; "outcomes by query" or "outcomes by document" for the verdict
    test: str  #: "sign", "ranksum", "wilcoxon", "t", or "two facets"
    aggregate: str | None  #: "mean" or "median": what says which of two runs is better; None for the verdict
    same: float  #: both halves have the same direction, or none
    one_sided: float  #: only one half decides
    opposite: float  #: one half says that the contender is better, the other that it is worse; the three sum to 1
    decided: float  #: at least one half decides
    replicates: float | None  #: probability that the other half has the same direction, given that a half decided
    #: The rates of Craswell et al. 2021, which also count which run is better where neither half is significant; `agree`,
    #: `partial` and `disagree` sum to 1. None for the verdict.
    agree: float | None = None
    partial: float | None = None  #: see `agree`
    disagree: float | None = None  #: see `agree`
    #: A test is significant in at least one half (their last row). It differs from `decided` only where the aggregates of two
    #: runs are equal. None for the verdict.
    significant: float | None = None


def first_halves(n_queries: int, splits: int, seed: int, clusters: Ints | None = None) -> Members:
    """(n_queries, splits): 1 where a query is in the first half of a split, else 0; clusters of queries stay together."""
    unit = np.arange(n_queries) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    n_units = int(unit.max(initial=-1)) + 1
    if n_units < 4:
        called = "queries" if clusters is None else "clusters of queries"
        raise ParameterError(f"{n_units} {called} cannot be split in halves that can be tested; at least four are needed")
    order = np.argsort(np.random.default_rng(seed).random((splits, n_units)), axis=1)
    return membership(order[:, : n_units // 2], n_units)[unit]


def rates(counts: Ints, directions: Ints) -> dict[str, Any]:
    """Return how often halves have the same direction, by the names of `HalfAgreement`.

    `counts` is (m, m), by what the first and the second half say; `directions` are those of the m things said: -1, 0 or 1.
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
    return _shares(counts, cells) | {"replicates": replicating / halves_that_decide if halves_that_decide else None}


def _shares(counts: Ints, cells: Mapping[str, Bools]) -> dict[str, Any]:
    """Return which share of the splits and pairs is in these cells, by their names."""
    return {name: int(counts[chosen].sum()) / int(counts.sum()) for name, chosen in cells.items()}


_TESTS = (
    *((test, "mean") for test in ("sign", "ranksum", "wilcoxon", "t")),
    *((test, "median") for test in ("sign", "ranksum", "wilcoxon")),
)

# What a test says of a half is one of six states: which run is better by the aggregate, and whether that is significant.
_SIGNS = np.repeat([-1, 0, 1], 2)
_SIGNIFICANT = np.tile([False, True], 3)
_DIRECTIONS = np.where(_SIGNIFICANT, _SIGNS, 0)
_SAME_RUN = np.equal.outer(_SIGNS, _SIGNS)
_BOTH, _EITHER = np.logical_and.outer(_SIGNIFICANT, _SIGNIFICANT), np.logical_or.outer(_SIGNIFICANT, _SIGNIFICANT)
_CRASWELL = {  # which states of the two halves count
    "agree": _SAME_RUN & (_BOTH | ~_EITHER),
    "partial": np.where(_SAME_RUN, _EITHER & ~_BOTH, ~_EITHER),
    "disagree": ~_SAME_RUN & _EITHER,
    "significant": _EITHER,
}


def agreement_of_tests(
    scores: Scores, splits: int = 100, seed: int = 0, alpha: float = 0.05, progress: bool = False
) -> list[HalfAgreement]:
    """Count how far halves agree, for each test and aggregate; see `ir_outcomes.agreement`."""
    first = first_halves(len(scores.query_ids), splits, seed, scores.clusters)
    states = {key: np.zeros((6, 6), dtype=np.int64) for key in _TESTS}
    gains = scores.gains()
    n_pairs = len(gains) * (len(gains) - 1) // 2
    for pair in with_progress(pairs_of(gains), "pair", n_pairs, shown=progress):
        changes = _halves(pair.change, 2 * len(pair.sizes), first)
        x, y = (_halves(code, len(pair.distinct), first) for code in (pair.x, pair.y))
        halves = [_states_of(pair, *counts, alpha) for counts in zip(changes, x, y, strict=True)]
        for key, counts in states.items():
            counts += np.bincount(6 * halves[0][key] + halves[1][key], minlength=36).reshape(6, 6)
    found = []
    for (test, aggregate), counts in states.items():
        shares = rates(counts, _DIRECTIONS) | _shares(counts, _CRASWELL)
        found.append(HalfAgreement(scores.measure, test, aggregate, **shares))
    return found


def _halves(code: Ints, n_classes: int, first: Members) -> tuple[Floats, Floats]:
    """Count each class of values in the first and in the second half of each split, (n_classes, n_splits)."""
    counts = count(code, n_classes, first)
    # The second half has what the first half lacks, so that only one of them has to be counted.
    return counts, np.bincount(code[code >= 0], minlength=n_classes)[:, None] - counts


def _states_of(pair: Pair, counts: Floats, x: Floats, y: Floats, alpha: float) -> dict[tuple[str, str], Ints]:
    """Return the state of one half of each split, (n_splits,), by test and aggregate."""
    changes = Differences.of_counts(pair.sizes, counts)
    pvalues = {name: many_tests(name, changes).pvalue for name in ("t", "wilcoxon", "sign")}
    pvalues["ranksum"] = rank_sum_tests(x, y)[0]
    # Equal means and medians are a third answer to which run is better. Rounding must not turn them into one of the other two,
    # so both have a slack, in proportion to the largest value.
    slack, rise = SLACK * float(np.abs(pair.distinct).max()), medians(pair.distinct, y) - medians(pair.distinct, x)
    change = {"mean": changes.totals, "median": np.where(np.abs(rise) > slack, rise, 0.0)}
    signs = {aggregate: np.sign(values).astype(np.int64) for aggregate, values in change.items()}
    return {(test, aggregate): 2 * (signs[aggregate] + 1) + (pvalues[test] <= alpha) for test, aggregate in _TESTS}


def agreement_of_verdicts(
    evaluation: Evaluation, splits: int, seed: int, alpha: float, progress: bool
) -> tuple[HalfAgreement, dict[str, dict[str, int]]]:
    """Count how far halves of the answerable queries agree on the verdict, with the numbers of both halves' labels."""
    chosen, codes = evaluation.answerable, evaluation.clusters
    first = first_halves(int(chosen.sum()), splits, seed, None if codes is None else codes[chosen])
    halves = np.concatenate([first, 1 - first], axis=1)
    unit = evaluation.unit
    # One test of coverage for all pairs and halves: a choice by what occurs in a half would change it from half to half.
    coverage_test = coverage_test_for(evaluation)
    pairs = list(combinations(evaluation.at(), 2))
    labels = np.zeros((len(LABELS), len(LABELS)), dtype=np.int64)
    for baseline, contender in with_progress(pairs, "pair", len(pairs), shown=progress):
        queries = pair_queries(baseline, contender, unit)
        samples = samples_of(queries, (alpha, alpha), subsets=halves, labels_only=True)
        tests = run_tests(samples, "t", coverage_test)
        found = judge(tests, alpha=alpha).label
        cells = len(LABELS) * found[:splits] + found[splits:]
        labels += np.bincount(cells, minlength=labels.size).reshape(labels.shape)
    agreement = HalfAgreement(f"outcomes by {unit}", "two facets", None, **rates(labels, DIRECTIONS))
    return agreement, {label: dict(zip(LABELS, row, strict=True)) for label, row in zip(LABELS, labels.tolist(), strict=True)}


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

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measure, test and aggregate, and a row for the verdict."""
        return [asdict(row) for row in (*self.tests, *(() if self.verdict is None else (self.verdict,)))]


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

    For tests also by the rates of Craswell et al.: two halves *agree* about which run is better, with a difference significant
    in both or in neither; they *disagree* about it, with at least one significant; or they agree *partially*. Equal aggregates
    count as a third answer to which run is better. Measures are split over all queries of the qrels, the verdict over the
    answerable ones.

    Parameters
    ----------
    source : Evaluation or Scores
        At least two runs; scores have no verdict, and their own measure.
    measures : sequence of Measure or str, optional
        What is tested; by default the reciprocal rank at the cutoff, and nDCG@10 if the evaluation has kept it. Where a measure
        is undefined in one of two runs, the query does not count for the pair.
    cutoff : int, optional
        Cutoff of the verdict and of the reciprocal rank; by default the evaluation's.
    splits, seed : int
        Number of random splits, and the seed of the random numbers.
    alpha : float
        Level of the tests and verdicts, not corrected, as in the paper.
    progress : bool
        On stderr.

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
    check_count("seed", seed)
    check_number("alpha", alpha)
    evaluation = evaluation_to_judge(source, cutoff)
    tested = values_of(evaluation or source, measures)
    verdict: HalfAgreement | None = None
    labels: dict[str, dict[str, int]] = {}
    if evaluation is not None:
        if measures is None:
            tested += [scores for scores in evaluation.scores if scores.measure == "nDCG@10"]
        verdict, labels = agreement_of_verdicts(evaluation, splits, seed, alpha, progress)
    notes = ["p-values are not corrected, as in Craswell et al. 2021; half of the queries have less power than all of them."]
    if source.clusters is not None:
        notes.append("Halves are of clusters, and verdicts take them as their unit; the tests of measures take queries.")
    notes += dict.fromkeys(note for scores in tested for note in scores.notes())
    n_runs = len(source.runs)
    return Agreement(
        tests=tuple(row for scores in tested for row in agreement_of_tests(scores, splits, seed, alpha, progress)),
        verdict=verdict,
        labels=labels,
        unit=None if evaluation is None else evaluation.unit,
        cutoff=None if evaluation is None else evaluation.cutoff,
        n_queries=len(source.query_ids),
        n_runs=n_runs,
        n_pairs=n_runs * (n_runs - 1) // 2,
        splits=splits,
        seed=seed,
        alpha=alpha,
        notes=(*notes, *notes_on_source(source)),
    )
