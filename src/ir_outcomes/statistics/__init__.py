"""Tests, intervals, corrections and power on arrays; nothing here knows about retrieval."""

from ir_outcomes.statistics.corrections import adjust, randomized_tukey_hsd
from ir_outcomes.statistics.counts import design_effect, differences, linearized
from ir_outcomes.statistics.intervals import (
    Interval,
    bounded_mean_interval,
    coverage_interval,
    mean_interval,
    odds_ratio_interval,
    ratio_interval,
)
from ir_outcomes.statistics.power import (
    QueriesNeeded,
    detectable_mean,
    detectable_proportion,
    queries_for_coverage,
    queries_for_mean,
)
from ir_outcomes.statistics.tests import (
    Test,
    binomial_test,
    mean_test,
    paired_tests,
    pairwise_tests,
    rank_sum,
    sign_flip,
    sign_test,
    t_test,
    wilcoxon,
)

__all__ = [
    "Interval",
    "QueriesNeeded",
    "Test",
    "adjust",
    "binomial_test",
    "bounded_mean_interval",
    "coverage_interval",
    "design_effect",
    "detectable_mean",
    "detectable_proportion",
    "differences",
    "linearized",
    "mean_interval",
    "mean_test",
    "odds_ratio_interval",
    "paired_tests",
    "pairwise_tests",
    "queries_for_coverage",
    "queries_for_mean",
    "randomized_tukey_hsd",
    "rank_sum",
    "ratio_interval",
    "sign_flip",
    "sign_test",
    "t_test",
    "wilcoxon",
]
