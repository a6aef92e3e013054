"""Do two halves of the queries say the same? Agreement of significance tests, and of the two-facet verdict."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ir_outcomes.checks import check_choice, check_positive
from ir_outcomes.comparison.outcomes import Unit, split
from ir_outcomes.comparison.verdict import LABELS, Finding, decide
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation import evaluate, task_of, unit_of
from ir_outcomes.lengths import SearchLengths
from ir_outcomes.ranking import Ties
from ir_outcomes.reading.several import runs_and_names
from ir_outcomes.results import Result, versions
from ir_outcomes.scores import Scores, scores
from ir_outcomes.statistics import differences
from ir_outcomes.statistics.signflips import sign_flip_pairs
from ir_outcomes.statistics.subsets import Classes, Tests, binomial_tests, classes, count, medians, rank_sum_tests, signed_tests

__all__ = ["Agreement", "TestAgreement", "VerdictAgreement", "agreement"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_SHARED_CLASSES = 2048  # with more distinct values than that, each pair of runs gets classes of its own
TESTS = (
    *((test, "mean") for test in ("sign", "ranksum", "wilcoxon", "t")),
    *((test, "median") for test in ("sign", "ranksum", "wilcoxon")),
)
COVERAGE_FLIPS = 999


@dataclass(frozen=True)
class TestAgreement:
    """How often two halves of the queries lead to the same conclusion by one test.

    Attributes
    ----------
    measure : str
        What is tested.
    test : str
        "sign", "ranksum", "wilcoxon" or "t".
    aggregate : str
        "mean" or "median": what says which of two runs is better.
    agree, partial, disagree : float
        Shares of all splits and pairs; they sum to 1.
    significant : float
        Share of splits and pairs that are significant in at least one half.
    """

    __test__ = False  # no class of tests, pytest

    measure: str
    test: str
    aggregate: str
    agree: float
    partial: float
    disagree: float
    significant: float


@dataclass(frozen=True)
class VerdictAgreement:
    """How often two halves of the queries give the same two-facet verdict.

    Attributes
    ----------
    same : float
        Share of splits and pairs with the same label in both halves.
    contradict : float
        Share with "better" (on both facets, or without harm) in one half and "worse" in the other.
    decided : float
        Share with a label other than "no significant difference" in at least one half.
    same_of_decided : float or None
        Share of the same label among those; None where there are none.
    labels : dict of str to dict of str to int
        Splits and pairs by the label of one half and of the other.
    unit : str
        "query" or "document".
    """

    same: float
    contradict: float
    decided: float
    same_of_decided: float | None
    labels: dict[str, dict[str, int]]
    unit: str


@dataclass(frozen=True)
class Agreement(Result):
    """Agreement over random half splits; the picture is "agreement".

    Attributes
    ----------
    tests : tuple of TestAgreement
        For each measure, test and aggregate.
    verdict : VerdictAgreement or None
        The same for the two-facet verdict; None where the runs were not given, only their values.
    n_queries, n_runs, n_pairs : int
        How many.
    splits, seed : int
        How many half splits, drawn from which seed.
    alpha : float
        Level of the tests; p-values are raw.
    notes : tuple of str
        What a careful reader must know.
    versions : dict of str to str
        Of ir_outcomes, NumPy, SciPy, ir_measures and Python.
    """

    tests: tuple[TestAgreement, ...]
    verdict: VerdictAgreement | None
    n_queries: int
    n_runs: int
    n_pairs: int
    splits: int
    seed: int
    alpha: float
    notes: tuple[str, ...]
    versions: dict[str, str]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measure, test and aggregate, and one for the verdict."""
        rows: list[dict[str, Any]] = [
            {
                "measure": each.measure,
                "test": each.test,
                "aggregate": each.aggregate,
                "agree": each.agree,
                "partial": each.partial,
                "disagree": each.disagree,
                "significant": each.significant,
            }
            for each in self.tests
        ]
        if self.verdict is not None:
            rows.append(
                {
                    "measure": f"outcomes by {self.verdict.unit}",
                    "test": "two facets",
                    "aggregate": None,
                    "agree": self.verdict.same,
                    "partial": 1.0 - self.verdict.same - self.verdict.contradict,
                    "disagree": self.verdict.contradict,
                    "significant": self.verdict.decided,
                }
            )
        return rows


def agreement(
    qrels: Any,
    runs: Any,
    *,
    measures: Sequence[Any] = ("RR", "nDCG@10"),
    cutoff: int | None = None,
    rel: int | None = None,
    unit: Literal["auto", "query", "document"] = "auto",
    ties: Ties = "trec",
    splits: int = 100,
    seed: int = 0,
    alpha: float = 0.05,
    names: Sequence[str] | None = None,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Agreement:
    """Split the queries in random halves, again and again, and count how often tests say the same of both.

    For every pair of runs, two halves *agree* if they agree as to which run is better, and the difference is significant in
    both or in neither; they *partially agree* if they agree as to which is better but only one is significant, or do not agree
    as to which is better and neither is significant; they *disagree* if they do not agree as to which is better, and at least
    one is significant. Equal aggregates count as a third answer to which run is better.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels`.
    runs : list, or dict from names to runs
        See `ir_outcomes.as_run`; at least two.
    measures : sequence of Measure or str
        What is tested; where a measure such as ESL is undefined in one of two runs, the query does not count for the pair.
    cutoff, rel, unit, ties
        Settings of the two-facet verdict; see `ir_outcomes.compare`.
    splits, seed : int
        How many half splits, and the seed they are drawn from.
    alpha : float
        Level of the tests, uncorrected as in the paper.
    names : sequence of str, optional
        Names of the runs.
    n_jobs : int or None
        Files evaluated at a time; see `ir_outcomes.evaluate`.
    cache : path, optional
        A folder that keeps what was found in run files; see `ir_outcomes.evaluate`.
    progress : bool
        Show progress bars on stderr.

    Returns
    -------
    Agreement

    Raises
    ------
    ParameterError
        If a setting makes no sense, or there are fewer than two runs or four queries.
    InputError
        If something cannot be read.

    References
    ----------
    Craswell et al. 2021, section 4.3, Table 4, after Buckley and Voorhees 2000.

    Examples
    --------
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(20)}
    >>> good = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> poor = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> result = agreement(qrels, {"good": good, "poor": poor}, measures=["RR"], splits=10)
    >>> result.tests[0].agree, result.verdict.same
    (1.0, 1.0)
    """
    check_positive("splits", splits)
    check_choice("unit", unit, ("auto", *get_args(Unit)))
    if seed < 0:
        raise ParameterError(f"seed={seed!r}: must be a whole number, 0 or more")
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha={alpha!r}: must be between 0 and 1")
    task = task_of(qrels)
    judgments = task.qrels if task else qrels
    items, given = runs_and_names(runs, names)
    if len(items) < 2:
        raise ParameterError("there is one run only; agreement needs at least two")
    cutoff = cutoff if cutoff is not None else task.cutoff if task else 100
    rel = rel if rel is not None else task.rel if task else 1
    lengths = evaluate(
        judgments, items, names=given, cutoff=cutoff, rel=rel, ties=ties, n_jobs=n_jobs, cache=cache, progress=progress
    )
    chosen = unit_of(unit, task, lengths[0])
    called = [each.name for each in lengths]
    tables = scores(judgments, items, measures, names=called, progress=progress)
    first, second = _halves(len(lengths[0].query_ids), splits, seed)
    return Agreement(
        tests=tuple(row for table in tables for row in _of_tests(table, first, second, alpha, progress)),
        verdict=_of_verdicts(lengths, chosen, splits, seed, alpha, progress),
        n_queries=len(lengths[0].query_ids),
        n_runs=len(items),
        n_pairs=len(items) * (len(items) - 1) // 2,
        splits=splits,
        seed=seed,
        alpha=alpha,
        notes=_notes(tables),
        versions=versions(),
    )


def _halves(n_queries: int, splits: int, seed: int) -> tuple[Ints, Ints]:
    """Draw the halves: (splits, n // 2) and (splits, n - n // 2) int arrays of queries."""
    if n_queries < 4:
        raise ParameterError(f"{n_queries} queries cannot be split in halves that can be tested; at least four are needed")
    order = np.argsort(np.random.default_rng(seed).random((splits, n_queries)), axis=1)
    return order[:, : n_queries // 2], order[:, n_queries // 2 :]


def _of_tests(table: Scores, first: Ints, second: Ints, alpha: float, progress: bool) -> Iterator[TestAgreement]:
    """Count agreement for each test and aggregate."""
    tallies = {key: np.zeros(4, dtype=np.int64) for key in TESTS}
    total = 0
    for halves in _tested_pairs(table, (first, second), progress):
        for (test, aggregate), tally in tallies.items():
            tally += _tally(*((half[aggregate], half[test].pvalue <= alpha) for half in halves))
        total += len(first)
    for (test, aggregate), (agree, partial, disagree, significant) in tallies.items():
        shares = (agree / total, partial / total, disagree / total, significant / total)
        yield TestAgreement(table.measure, test, aggregate, *map(float, shares))


def _tally(one: tuple[Any, Any], other: tuple[Any, Any]) -> Ints:
    (sign, significant), (other_sign, other_significant) = one, other
    same = sign == other_sign
    both, either = significant & other_significant, significant | other_significant
    agree = same & (both | ~either)
    disagree = ~same & either
    return np.array([agree.sum(), (~agree & ~disagree).sum(), disagree.sum(), either.sum()])


def _tested_pairs(table: Scores, halves: tuple[Ints, Ints], progress: bool) -> Iterator[tuple[dict[str, Any], ...]]:
    """Yield, for each pair of runs and each half: tests by name, and by "mean" and "median" the sign of what is better."""
    from tqdm import tqdm

    gains = table.gains()
    shared = _shared_classes(gains)
    counted = None if shared is None else [[count(code, len(shared.distinct), half) for half in halves] for code in shared.code]
    couples = list(combinations(range(len(gains)), 2))
    for x, y in tqdm(couples, f"halves by {table.measure}", disable=not progress):
        defined = ~np.isnan(gains[x]) & ~np.isnan(gains[y])
        change = np.zeros(len(defined))
        change[defined] = differences(gains[x][defined], gains[y][defined])
        signed = classes(np.abs(change))
        # Equal sizes of either sign are neighbours: one histogram serves both.
        code = np.where(defined, 2 * signed.code + (change < 0), -1)
        if counted is None or shared is None:
            own = classes(np.concatenate([gains[x][defined], gains[y][defined]]))
            codes = np.full((2, len(defined)), -1)
            codes[:, defined] = own.code.reshape(2, -1)
            pair = [[count(each, len(own.distinct), half) for half in halves] for each in codes]
            distinct = own.distinct
        else:
            pair, distinct = [counted[x], counted[y]], shared.distinct
        yield tuple(
            _tests_on(half, signed.distinct, code, distinct, x_counts, y_counts)
            for half, x_counts, y_counts in zip(halves, *pair, strict=True)
        )


def _tests_on(half: Ints, sizes: Floats, code: Ints, distinct: Floats, x: Ints, y: Ints) -> dict[str, Any]:
    counts = count(code, 2 * len(sizes), half)
    positive, negative = counts[:, ::2], counts[:, 1::2]
    tests: dict[str, Tests] = signed_tests(sizes, positive, negative)
    return {
        **tests,
        "ranksum": rank_sum_tests(x, y),
        "mean": _signs((positive - negative) @ sizes, slack=1e-12 * float(sizes[-1]) * half.shape[1]),
        "median": _signs(medians(distinct, y) - medians(distinct, x), slack=1e-12 * float(np.abs(distinct).max())),
    }


def _signs(values: Floats, slack: float) -> Ints:
    return (values > slack).astype(np.int64) - (values < -slack)


def _shared_classes(gains: Floats) -> Classes | None:
    """Put the values of all runs in common classes, where they are few and all defined."""
    if np.isnan(gains).any():
        return None
    common = classes(gains.ravel())
    return Classes(common.code.reshape(gains.shape), common.distinct) if len(common.distinct) <= MOST_SHARED_CLASSES else None


def _of_verdicts(
    lengths: list[SearchLengths], unit: Unit, splits: int, seed: int, alpha: float, progress: bool
) -> VerdictAgreement:
    """Count how often two halves of the answerable queries get the same label."""
    from tqdm import tqdm

    answerable = int(lengths[0].answerable.sum())
    halves = _halves(answerable, splits, seed)
    couples = list(combinations(range(len(lengths)), 2))
    split_of = {(x, y): split(lengths[x], lengths[y], unit) for x, y in couples}
    found = np.stack([split_of[0, 1].found_baseline, *(split_of[0, y].found_contender for y in range(1, len(lengths)))])
    whole = bool(np.isin(found, (0.0, 1.0)).all())
    flipped = [] if whole else [[sign_flip_pairs(found[:, rows], seed, COVERAGE_FLIPS) for rows in half] for half in halves]
    labels: Counter[tuple[str, str]] = Counter()
    for x, y in tqdm(couples, f"halves by outcome, {unit}", disable=not progress):
        each = split_of[x, y]
        sides = []
        for number, half in enumerate(halves):
            gained = (found[y] - found[x])[half]
            if whole:
                won, lost = (gained > 0).sum(axis=1), (gained < 0).sum(axis=1)
                coverage = Tests(binomial_tests(won, lost), np.sign(won - lost))
            else:
                pvalues = np.array([table[x, y] for table in flipped[number]])
                coverage = Tests(pvalues, _signs(gained.sum(axis=1), slack=1e-9))
            change = np.where(each.shared, each.length_baseline - each.length_contender, 0.0)  # more is better, as for coverage
            change[each.shared] = -differences(each.length_baseline[each.shared], each.length_contender[each.shared])
            signed = classes(np.abs(change))
            counts = count(np.where(each.shared, 2 * signed.code + (change < 0), -1), 2 * len(signed.distinct), half)
            ranking = signed_tests(signed.distinct, counts[:, ::2], counts[:, 1::2])
            sides.append(_labels(coverage, ranking["t"], ranking["wilcoxon"], alpha))
        labels.update(zip(*sides, strict=True))
    return _verdict_agreement(labels, unit)


def _labels(coverage: Tests, t: Tests, wilcoxon: Tests, alpha: float) -> list[str]:
    found = [_findings(coverage, alpha), _findings(t, alpha, wilcoxon)]
    cache: dict[tuple[Finding, Finding], str] = {}
    result = []
    for pair in zip(*found, strict=True):
        if pair not in cache:
            cache[pair] = decide(*pair)[0]
        result.append(cache[pair])
    return result


def _findings(test: Tests, alpha: float, veto: Tests | None = None) -> list[Finding]:
    up, down = ((test.pvalue <= alpha) & (test.direction == sign) for sign in (1, -1))
    gain, hurt = up, down
    if veto is not None:
        gain, hurt = (each | ((veto.pvalue <= alpha) & (veto.direction == sign)) for each, sign in ((up, 1), (down, -1)))
    return [Finding(*map(bool, row)) for row in zip(up, hurt, down, gain, strict=True)]


def _verdict_agreement(labels: Counter[tuple[str, str]], unit: Unit) -> VerdictAgreement:
    total = labels.total()
    nothing = LABELS[-1]
    decided = {pair: number for pair, number in labels.items() if set(pair) != {nothing}}
    opposite = {"better", "worse"}
    contradict = sum(number for pair, number in labels.items() if {label.split()[0] for label in pair} == opposite)
    same_of_decided = sum(number for (one, other), number in decided.items() if one == other)
    return VerdictAgreement(
        same=sum(number for (one, other), number in labels.items() if one == other) / total,
        contradict=contradict / total,
        decided=sum(decided.values()) / total,
        same_of_decided=same_of_decided / sum(decided.values()) if decided else None,
        labels={one: {other: labels[one, other] for other in LABELS} for one in LABELS},
        unit=unit,
    )


def _notes(tables: list[Scores]) -> tuple[str, ...]:
    notes = ["p-values are raw, as in Craswell et al. 2021; half of the queries tell less than all of them would."]
    for table in tables:
        undefined = int(np.isnan(table.values).any(axis=0).sum())
        if undefined:
            notes.append(
                f"{table.measure} is undefined for some run on {undefined} of {len(table.query_ids)} queries: a pair of "
                "runs is tested where both are defined."
            )
    return tuple(notes)
