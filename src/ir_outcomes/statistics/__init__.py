"""Tests, intervals and corrections on arrays; nothing here knows of retrieval."""

from ir_outcomes.statistics.binomial import binomial_test, midp_test
from ir_outcomes.statistics.corrections import CORRECTIONS, adjust, randomized_tukey_hsd
from ir_outcomes.statistics.intervals import (
    Interval,
    hodges_lehmann,
    interval_of_mean,
    mean_interval,
    odds_ratio,
    odds_ratio_interval,
    paired_proportion_interval,
    ratio_of_means,
    ratio_of_means_interval,
)
from ir_outcomes.statistics.paired import (
    Test,
    differences,
    paired_tests,
    rank_sum,
    sign_flip,
    sign_test,
    t_test,
    wilcoxon,
)
from ir_outcomes.statistics.pairs import pairwise_tests
from ir_outcomes.statistics.power import detectable_mean, detectable_proportion

__all__ = [
    "CORRECTIONS",
    "Interval",
    "Test",
    "adjust",
    "binomial_test",
    "detectable_mean",
    "detectable_proportion",
    "differences",
    "hodges_lehmann",
    "interval_of_mean",
    "mean_interval",
    "midp_test",
    "odds_ratio",
    "odds_ratio_interval",
    "paired_proportion_interval",
    "paired_tests",
    "pairwise_tests",
    "randomized_tukey_hsd",
    "rank_sum",
    "ratio_of_means",
    "ratio_of_means_interval",
    "sign_flip",
    "sign_test",
    "t_test",
    "wilcoxon",
]
