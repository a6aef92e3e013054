"""Whether the other half of the queries says the same."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ir_outcomes.choices import Bools, Count, Floats, Ints, Level, Positive, Unit
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import Allow
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.files import with_progress
from ir_outcomes.leaderboards.ordering import (
    blocks_of_pairs,
    evaluation_to_judge,
    notes_on_source,
    values_of,
)
from ir_outcomes.notes import as_notes
from ir_outcomes.pairs.measurements import measurements_of, measurements_of_means
from ir_outcomes.pairs.rows import RowsOfPairs
from ir_outcomes.pairs.verdict import DECIDING, LABELS, SIGNS_OF_LABELS
from ir_outcomes.results import Result
from ir_outcomes.statistics.estimate import ROUNDING, Sums
from ir_outcomes.statistics.papers import Subsets, rank_sums, signed_ranks, signs, t_of_sums
from ir_outcomes.statistics.resampling import first_halves

MOST_PAIRS = 1000  # of the tests that have to look at each pair by itself


@dataclass(frozen=True)
class HalfAgreement:
    """How often two halves of the queries agree, by a test or the verdict.

    All numbers are shares of splits and pairs of runs. The direction of a half is better, worse or
    none: of a test that of the aggregate where the test is significant, of a verdict that of its
    label. A half *decides* if it has a direction.
    """

    measure: str  #: its name; "outcomes by query" or "outcomes by document" for the verdict
    test: str  #: "sign", "ranksum", "wilcoxon", "t", or "two facets"
    #: which of two runs is better is said by "mean" or "median"; None for the verdict
    aggregate: str | None
    n_pairs: int  #: pairs of runs that were split: all, or a random sample
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


SHARES = (
    *("same", "one_sided", "opposite", "decided"),
    *("agree", "partial", "disagree", "significant"),
)
TESTS = (
    *((test, "mean") for test in ("sign", "ranksum", "wilcoxon", "t")),
    *((test, "median") for test in ("sign", "ranksum", "wilcoxon")),
)


def counted(sign: Floats | Ints, significant: Bools) -> Ints:
    """Count splits and pairs that are in each of `SHARES`, and all of them.

    Which run is better in a half (-1, 0 or 1) and whether that is significant are (n_pairs,
    2 * n_splits), first halves before second ones.
    """
    sign_a, sign_b = np.split(sign, 2, axis=1)
    significant_a, significant_b = np.split(significant, 2, axis=1)
    either = significant_a | significant_b
    both = significant_a & significant_b
    same_run = sign_a == sign_b
    first = np.where(significant_a, sign_a, 0)
    second = np.where(significant_b, sign_b, 0)
    cells = (
        first == second,
        (first == 0) != (second == 0),
        first * second < 0,
        (first != 0) | (second != 0),
        same_run & (both | ~either),
        np.where(same_run, either & ~both, ~either),
        ~same_run & either,
        either,
    )
    return np.array([*map(np.count_nonzero, cells), sign_a.size])


def of_counts(
    measure: str, test: str, aggregate: str | None, counts: Ints, splits: int
) -> HalfAgreement:
    """Return the shares of splits and pairs, of the verdict the first ones only."""
    *numbers, total = counts.tolist()
    shares = SHARES if aggregate else SHARES[:4]
    _, one_sided, opposite, decided, *_ = numbers
    halves = 2 * decided - one_sided  # that decide
    return HalfAgreement(
        measure=measure,
        test=test,
        aggregate=aggregate,
        n_pairs=total // splits,
        replicates=2 * (decided - one_sided - opposite) / halves if halves else None,
        **{name: number / total for name, number in zip(shares, numbers, strict=False)},
    )


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
    n_queries, n_runs : int
        Numbers of queries and of runs.
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
    splits: int
    seed: int
    alpha: float

    @property
    def n_pairs(self) -> int:
        """Number of pairs of runs, of which tests other than t may take a sample."""
        return self.n_runs * (self.n_runs - 1) // 2

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each test of a measure, and a row for the verdict."""
        rows = [*map(asdict, self.tests)]
        if self.verdict is not None:
            rows.append(asdict(self.verdict))
        return rows


def agreement(
    source: Evaluation,
    *,
    measures: Sequence[Any] | str | None = None,
    cutoff: Positive | None = None,
    splits: Positive = 100,
    seed: Count = 0,
    alpha: Level = 0.05,
    allow: Allow = (),
    progress: bool = False,
) -> Agreement:
    """Count how often random halves of the queries lead to the same conclusion.

    For tests also by the rates of Craswell et al.: two halves *agree* about which run is better,
    with a difference significant in both or in neither; they *disagree* about it, with at least one
    significant; or they agree *partially*. Equal aggregates count as a third answer to which run is
    better. Measures are split over all queries of the qrels, the verdict over the answerable ones.

    Parameters
    ----------
    source : Evaluation
        At least two runs; values of another tool have no verdict, and their own measure.
    measures : sequence of Measure or str, optional
        What is tested; by default the reciprocal rank at the cutoff, and nDCG@10 if the evaluation
        has kept it. Where a measure is undefined in one of two runs, the query does not count for
        the pair.
    cutoff : int, optional
        Cutoff of the verdict and of the reciprocal rank; by default the evaluation's.
    splits : int
        Number of random splits.
    seed : int
        Seed of the random numbers.
    alpha : float
        Level of the tests and verdicts, not corrected, as in the paper. Signed ranks are tested by
        their normal approximation.
    allow : collection of {"unknown-ids", "rising-scores", "equal-scores"}
        What is meant, and must not stop the verdicts.
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
    evaluation = evaluation_to_judge(source, cutoff, allow)
    of_runs = evaluation.values is None
    tested = values_of(evaluation, measures)
    if of_runs and measures is None:
        tested += [scores for scores in evaluation.scores if scores.measure == "nDCG@10"]
    verdict: HalfAgreement | None = None
    labels: dict[str, dict[str, int]] = {}
    if of_runs:
        with threadpool_limits(1, "blas"):  # threads wait for each other
            verdict, labels = _verdict(evaluation, splits, seed, alpha, progress)
    tests: list[HalfAgreement] = []
    for scores in tested:
        with threadpool_limits(1, "blas"):
            tests += _tests(scores, splits, seed, alpha, progress)
    notes = [
        "p-values are not corrected, as in Craswell et al. 2021; half of the queries have less"
        " power than all of them."
    ]
    if evaluation.clusters is not None:
        notes.append(
            "Halves are of clusters, and verdicts take them as their unit; the tests of measures"
            " take queries."
        )
    notes += dict.fromkeys(note for scores in tested for note in scores.notes())
    return Agreement(
        tests=tuple(tests),
        verdict=verdict,
        labels=labels,
        unit=evaluation.unit if of_runs else None,
        cutoff=evaluation.cutoff if of_runs else None,
        n_queries=len(evaluation.query_ids),
        n_runs=len(evaluation.names),
        splits=splits,
        seed=seed,
        alpha=alpha,
        notes=as_notes([*notes, *notes_on_source(evaluation)]),
    )


def _verdict(
    evaluation: Evaluation, splits: int, seed: int, alpha: float, progress: bool
) -> tuple[HalfAgreement, dict[str, dict[str, int]]]:
    """Return how far labels of both halves agree, and how often each occurs."""
    measurements = measurements_of(evaluation)
    clusters = None if measurements.clusters is None else measurements.clusters.codes
    first = first_halves(measurements.query_ids, splits, seed, clusters)
    if clusters is not None:
        first = first[np.unique(clusters, return_index=True)[1]]
    n_labels = len(LABELS)
    labels = np.zeros(n_labels**2, dtype=np.int64)
    counts = np.zeros(len(SHARES) + 1, dtype=np.int64)
    for block in blocks_of_pairs(measurements, DECIDING, first, shown=progress):
        label = RowsOfPairs.of_block(measurements, block, alpha).labels(DECIDING)
        label = label.reshape(block.systems.shape[1], -1)
        counts += counted(SIGNS_OF_LABELS[label], SIGNS_OF_LABELS[label] != 0)
        label_a, label_b = np.split(label, 2, axis=1)
        labels += np.bincount((n_labels * label_a + label_b).ravel(), minlength=n_labels**2)
    by_label = {
        label: dict(zip(LABELS, row, strict=True))
        for label, row in zip(LABELS, labels.reshape(n_labels, -1).tolist(), strict=True)
    }
    measure = f"outcomes by {evaluation.unit}"
    return of_counts(measure, "two facets", None, counts, splits), by_label


def _tests(
    scores: Scores, splits: int, seed: int, alpha: float, progress: bool
) -> Iterator[HalfAgreement]:
    """Yield how far the tests of a measure agree."""
    values = scores.gains()
    first = first_halves(scores.query_ids, splits, seed, scores.clusters)
    counts = {test: np.zeros(len(SHARES) + 1, dtype=np.int64) for test in TESTS}
    # Of queries, also where these are in clusters.
    systems = {run: (run,) for run in scores.runs}
    measurements = measurements_of_means(replace(scores, clusters=None), systems)
    row = "all queries"
    for block in blocks_of_pairs(measurements, (row,), first, shown=progress):
        tests = t_of(block.rows[row].sums)
        shape = block.systems.shape[1], -1
        significant = (tests.pvalue <= alpha).reshape(shape)
        counts["t", "mean"] += counted(tests.direction.reshape(shape), significant)
    pairs = np.stack(np.triu_indices(len(values), 1), axis=1)
    if len(pairs) > MOST_PAIRS:
        rng = np.random.default_rng([seed, len(pairs)])  # not the numbers that draw the halves
        pairs = pairs[np.sort(rng.choice(len(pairs), MOST_PAIRS, replace=False))]
    # Counts are exact in it, and twice as fast.
    halves = np.concatenate([first, 1 - first], axis=1).astype(np.float32)

    @cache
    def aggregates(run: int, defined: bytes) -> Floats:
        rows = np.frombuffer(defined, dtype=np.bool_)
        of_run = values[run][rows]
        members = halves[rows]
        means = of_run @ members / np.maximum(members.sum(axis=0), 1)
        return np.stack([means, medians(of_run, members)])

    for pair in with_progress(pairs.tolist(), "pair", len(pairs), shown=progress):
        x, y = values[pair]
        defined = ~(np.isnan(x) | np.isnan(y))
        x, y, members = x[defined], y[defined], halves[defined]
        pvalues = {
            "sign": signs(y - x, members).pvalue,
            "ranksum": rank_sums(x, y, members, members).pvalue,
            "wilcoxon": signed_ranks(y - x, members).pvalue,
        }
        slack = ROUNDING * np.abs([x, y]).max(initial=0.0)
        baseline, contender = (aggregates(run, defined.tobytes()) for run in pair)
        for aggregate, rise in zip(("mean", "median"), contender - baseline, strict=True):
            sign = np.sign(np.where(np.abs(rise) > slack, rise, 0.0))[None]
            for test, pvalue in pvalues.items():
                counts[test, aggregate] += counted(sign, pvalue[None] <= alpha)
    for (test, aggregate), numbers in counts.items():
        yield of_counts(scores.measure, test, aggregate, numbers, splits)


def t_of(sums: Sums) -> Subsets:
    """Run the paired t test on sums, whose totals are rounded to 0."""
    squares = np.where(sums.differ > 0, sums.squares, 0.0)
    above = np.abs(sums.total) > ROUNDING * np.sqrt(sums.rows * squares)
    total = np.where(above, sums.total, 0.0)
    return t_of_sums(sums.rows, total, squares, squares - total**2 / np.maximum(sums.rows, 1))


def medians(values: Floats, members: npt.NDArray[Any]) -> Floats:
    """Return the median of each subset, (n, n_subsets) of 0 and 1, or 0."""
    subsets = (values[is_member] for is_member in members.T > 0)
    return np.array([np.median(subset) if len(subset) else 0.0 for subset in subsets])
