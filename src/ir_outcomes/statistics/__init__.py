"""Tests, intervals, corrections and power on arrays; nothing here knows about retrieval."""

from ir_outcomes.statistics.corrections import adjust
from ir_outcomes.statistics.counts import design_effect, differences, linearized
from ir_outcomes.statistics.intervals import (
    Interval,
    bounded_mean_interval,
    coverage_interval,
    margin_interval,
    mean_interval,
    ratio_interval,
)
from ir_outcomes.statistics.old_power import (
    QueriesNeeded,
    detectable_mean,
    detectable_proportion,
    queries_for_coverage,
    queries_for_margin,
    queries_for_mean,
)
from ir_outcomes.statistics.tests import (
    Test,
    binomial_test,
    mean_test,
    paired_tests,
    rank_sum,
    sign_flip,
    sign_test,
    t_test,
    wilcoxon,
)

# fmt: off
__all__ = [  # noqa: RUF022  # by subject
    "differences", "linearized", "design_effect",
    "Test", "t_test", "wilcoxon", "sign_test", "sign_flip", "mean_test", "paired_tests", "binomial_test", "rank_sum",
    "adjust",
    "Interval", "mean_interval", "bounded_mean_interval", "coverage_interval", "ratio_interval",
    "margin_interval",
    "QueriesNeeded", "detectable_mean", "detectable_proportion", "queries_for_coverage", "queries_for_mean",
    "queries_for_margin",
]
# fmt: on
