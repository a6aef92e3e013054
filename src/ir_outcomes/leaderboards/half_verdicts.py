"""The two-facet verdict on both halves of many random splits of the queries, for all pairs of runs."""

from __future__ import annotations

from dataclasses import asdict
from itertools import combinations

import numpy as np

from ir_outcomes.comparison.outcomes import pair_queries
from ir_outcomes.comparison.pair_tests import coverage_test_for, judge, run_tests, samples_of
from ir_outcomes.comparison.verdict import DIRECTIONS, LABELS
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.leaderboards.halves import HalfAgreement, first_halves, rates
from ir_outcomes.statistics.counts import membership

__all__ = ["agreement_of_verdicts"]

_UNDECIDED = LABELS.index("no significant difference")


def agreement_of_verdicts(
    evaluation: Evaluation, splits: int, seed: int, alpha: float, progress: bool
) -> tuple[HalfAgreement, dict[str, dict[str, int]]]:
    """Count how far halves of the answerable queries agree on the verdict; see `ir_outcomes.agreement`.

    Returns
    -------
    agreement : HalfAgreement
        The rates.
    labels : dict of str to dict of str to int
        Number of splits and pairs by the label of the first and of the second half.
    """
    from tqdm import tqdm

    n_answerable = int(evaluation.answerable.sum())
    first = membership(first_halves(n_answerable, splits, seed), n_answerable)
    halves = np.concatenate([first, 1 - first], axis=1)
    # One test of coverage for all pairs and halves: a choice by what occurs in a half would change it from half to half.
    unit = evaluation.unit
    coverage_test = coverage_test_for(unit, evaluation.many_relevant, "exact")
    pairs = list(combinations(evaluation.at(), 2))
    labels = np.zeros((len(LABELS), len(LABELS)), dtype=np.int64)
    for baseline, contender in tqdm(pairs, f"verdicts in halves by {unit}", disable=not progress):
        samples = samples_of(pair_queries(baseline, contender, unit), halves)
        codes = judge(run_tests(samples, "t", coverage_test, level=alpha), alpha=alpha).verdicts.label
        cells = len(LABELS) * codes[:splits] + codes[splits:]
        labels += np.bincount(cells, minlength=labels.size).reshape(labels.shape)
    agreement = HalfAgreement(
        **asdict(rates(labels, DIRECTIONS, _UNDECIDED)),
        measure=f"outcomes by {unit}",
        test="two facets",
        aggregate=None,
        agree=None,
        partial=None,
        disagree=None,
        significant=None,
    )
    return agreement, {label: dict(zip(LABELS, row, strict=True)) for label, row in zip(LABELS, labels.tolist(), strict=True)}
