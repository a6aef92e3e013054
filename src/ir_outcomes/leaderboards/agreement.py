"""Whether the other half of the queries says the same."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ir_outcomes.comparison.verdict import DIRECTIONS, LABELS, RowEstimates, Rules, judge
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import Allow
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.systems import Called
from ir_outcomes.formatting import with_progress
from ir_outcomes.leaderboards.differences import (
    Board,
    LengthDifferences,
    SummedPairs,
    ValueDifferences,
)
from ir_outcomes.leaderboards.ordering import evaluation_to_judge, notes_on_source, values_of
from ir_outcomes.leaderboards.pairs import board_of, estimates_of, sign_test
from ir_outcomes.notes import as_notes
from ir_outcomes.results import Result
from ir_outcomes.statistics.estimate import ROUNDING, Sums
from ir_outcomes.statistics.papers import rank_sums, signed_ranks, signs
from ir_outcomes.statistics.resampling import first_halves
from ir_outcomes.types import (
    Bools,
    Floats,
    Ints,
    Unit,
    check_count,
    check_level,
    check_positive,
    divided,
)

MOST_PAIRS = 1000  # of the tests that have to look at each pair by itself


@dataclass(frozen=True)
class HalfAgreement:
    """How often two halves of the queries agree, by one test or by the two-facet verdict.

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


TESTS = (
    *((test, "mean") for test in ("sign", "ranksum", "wilcoxon", "t")),
    *((test, "median") for test in ("sign", "ranksum", "wilcoxon")),
)
# What a test says of a half: which run is better by the aggregate (-1, 0 or 1), and whether that is
# significant.
STATES = tuple((sign, significant) for sign in (-1, 0, 1) for significant in (False, True))
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
        """Number of pairs of the runs, of which the tests other than t may take a sample."""
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
    allow: Allow = (),
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
    check_positive("splits", splits)
    check_count("seed", seed)
    check_level(alpha)
    evaluation = evaluation_to_judge(source, cutoff, allow)
    tested = values_of(evaluation or source, measures)
    verdict: HalfAgreement | None = None
    labels: dict[str, dict[str, int]] = {}
    if evaluation is not None:
        if measures is None:
            tested += [scores for scores in evaluation.scores if scores.measure == "nDCG@10"]
        counts = _labels_of_halves(evaluation, splits, seed, alpha, progress)
        shares = rates(counts, DIRECTIONS)
        measure = f"outcomes by {evaluation.unit}"
        verdict = HalfAgreement(measure, "two facets", None, int(counts.sum()) // splits, **shares)
        labels = {
            label: dict(zip(LABELS, row, strict=True))
            for label, row in zip(LABELS, counts.tolist(), strict=True)
        }
    tests: list[HalfAgreement] = []
    for scores in tested:
        tests += _Tests(scores, splits, seed, alpha).agreement(progress)
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
        n_runs=len(source.runs),
        splits=splits,
        seed=seed,
        alpha=alpha,
        notes=as_notes([*notes, *notes_on_source(source)]),
    )


def _joint(first_and_second: Ints, n_states: int) -> Ints:
    """Count states of the first and of the second half, (m, m), from those of (pairs, halves)."""
    first, second = np.split(first_and_second, 2, axis=1)
    cells = (n_states * first + second).ravel()
    return np.bincount(cells, minlength=n_states**2).reshape(n_states, n_states)


def _labels_of_halves(
    evaluation: Evaluation, splits: int, seed: int, alpha: float, progress: bool
) -> Ints:
    """Count the labels of both halves of the answerable queries over all splits and pairs."""
    lengths = LengthDifferences.of(evaluation)
    board = board_of(evaluation, lengths)
    clusters = None if evaluation.clusters is None else evaluation.clusters[evaluation.answerable]
    first = first_halves(lengths.n_queries, splits, seed, clusters)
    if clusters is not None:
        first = first[np.unique(clusters, return_index=True)[1]]
    counts = np.zeros((len(LABELS), len(LABELS)), dtype=np.int64)
    for pairs in _with_progress(board, first, progress):
        rows = {
            name: RowEstimates.of(found, higher_is_better=name == "coverage")
            for name, found in estimates_of(lengths, pairs, alpha).items()
        }
        longer = pairs.sums["all queries"].better
        shorter = pairs.sums["all queries"].differ - longer
        found = judge(rows, Rules(alpha, "none"), sign_test(shorter, longer)).label
        counts += _joint(found.reshape(len(pairs.places), -1), len(LABELS))
    return counts


def _with_progress(board: Board, first: Floats, progress: bool) -> Iterator[SummedPairs]:
    n_pairs = board.n_systems * (board.n_systems - 1) // 2
    sums = board.sums(first)
    return iter(
        with_progress(sums, "pair", n_pairs, shown=progress, size=lambda own: len(own.places))
    )


class _Tests:
    """Runs the tests of a measure on both halves of the queries."""

    def __init__(self, scores: Scores, splits: int, seed: int, alpha: float) -> None:
        self.measure = scores.measure
        self.values = scores.gains()
        self.first = first_halves(len(scores.query_ids), splits, seed, scores.clusters)
        self.alpha = alpha
        self.pairs = np.stack(np.triu_indices(len(self.values), 1), axis=1)
        self.chosen = np.arange(len(self.pairs))
        if len(self.pairs) > MOST_PAIRS:
            rng = np.random.default_rng([seed, len(self.pairs)])  # not the halves' numbers
            self.chosen = np.sort(rng.choice(len(self.pairs), MOST_PAIRS, replace=False))

    def agreement(self, progress: bool) -> Iterator[HalfAgreement]:
        """Yield how far halves agree, by each test and aggregate."""
        n_states = len(STATES)
        counts = {test: np.zeros((n_states, n_states), dtype=np.int64) for test in TESTS}
        source = ValueDifferences(self.values)
        board = Board.of(source, [Called("", ("",))] * len(self.values), None)
        for pairs in _with_progress(board, self.first, progress):
            sums = pairs.sums["measure"]
            states = _state(_signs_of(sums), t_pvalues(sums) <= self.alpha)
            counts["t", "mean"] += _joint(states.reshape(len(pairs.places), -1), n_states)
        # Counts are exact in it, and twice as fast.
        members = np.concatenate([self.first, 1 - self.first], axis=1).astype(np.float32)
        for baseline, contender in with_progress(
            self.pairs[self.chosen].tolist(), "pair", len(self.chosen), shown=progress
        ):
            for test, states in self._states(baseline, contender, members).items():
                counts[test] += _joint(states[None], n_states)
        for (test, aggregate), of_states in counts.items():
            n_pairs = len(self.pairs if test == "t" else self.chosen)
            shares = rates(of_states, _DIRECTIONS) | _shares(of_states, _CRASWELL)
            yield HalfAgreement(self.measure, test, aggregate, n_pairs, **shares)

    def _states(
        self, baseline: int, contender: int, members: Floats
    ) -> dict[tuple[str, str], Ints]:
        """Return what the tests but t say of one pair, by test and aggregate."""
        x, y = self.values[[baseline, contender]]
        defined = ~(np.isnan(x) | np.isnan(y))
        x, y, members = x[defined], y[defined], members[defined]
        pvalues = {
            "sign": signs(y - x, members).pvalue,
            "ranksum": rank_sums(x, y, members, members).pvalue,
            "wilcoxon": signed_ranks(y - x, members).pvalue,
        }
        slack = ROUNDING * np.abs([x, y]).max(initial=0.0)
        rises = {
            "mean": (y - x) @ members / np.maximum(members.sum(axis=0), 1),
            "median": medians(y, members) - medians(x, members),
        }
        return {
            (test, aggregate): _state(
                np.sign(np.where(np.abs(rise) > slack, rise, 0.0)), pvalues[test] <= self.alpha
            )
            for aggregate, rise in rises.items()
            for test in pvalues
        }


def _state(sign: Floats, significant: Bools) -> Ints:
    """Return places in `STATES`."""
    return 2 * (sign.astype(np.int64) + 1) + significant


def _signs_of(sums: Sums) -> Floats:
    """Return the signs of means; one that is 0 but for rounding is 0."""
    size = np.sqrt(sums.rows * np.maximum(sums.squares, 0.0))
    above = (sums.differ > 0) & (np.abs(sums.total) > ROUNDING * size)
    signs_of: Floats = np.sign(np.where(above, sums.total, 0.0))
    return signs_of


def t_pvalues(sums: Sums) -> Floats:
    """Return p-values of paired t tests from sums; `papers.t_tests` has its conventions."""
    from scipy.special import stdtr

    n = sums.rows
    mean = divided(sums.total, n, n > 0, 0.0)
    rest = sums.squares - n * mean**2
    varies = rest > ROUNDING * sums.squares
    df = np.maximum(n - 1, 1)
    t = divided(mean, np.sqrt(np.maximum(rest, 0) / df / np.maximum(n, 1)), varies, 0.0)
    pvalue = np.where(varies, 2 * stdtr(df, -np.abs(t)), 2.0 ** (1 - n))
    return np.where((n > 1) & (sums.differ > 0), pvalue, 1.0)


def medians(values: Floats, members: Floats) -> Floats:
    """Return the median of each subset, (n, n_subsets) of 0 and 1; 0 where it is empty."""
    order = np.argsort(values)
    upto = np.cumsum(members[order] > 0, axis=0, dtype=np.int32)
    if not len(upto):
        return np.zeros(members.shape[1])
    sizes = upto[-1]
    middle = [
        np.argmax(upto >= np.maximum(place, 1), axis=0)
        for place in ((sizes + 1) // 2, sizes // 2 + 1)
    ]
    ends: Floats = values[order][np.stack(middle)]
    return np.where(sizes > 0, ends.mean(axis=0), 0.0)
