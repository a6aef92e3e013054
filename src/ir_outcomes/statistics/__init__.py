"""Tests, intervals, corrections, power and pooling on arrays; nothing here knows about retrieval."""

# For the packages above, until they import from the modules.
from ir_outcomes.statistics.corrections import CORRECTIONS as CORRECTIONS
from ir_outcomes.statistics.corrections import adjust, randomized_tukey_hsd
from ir_outcomes.statistics.corrections import first_step_level as first_step_level
from ir_outcomes.statistics.corrections import smallest_pvalue as smallest_pvalue
from ir_outcomes.statistics.counts import Differences as Differences
from ir_outcomes.statistics.counts import Members as Members
from ir_outcomes.statistics.counts import classes as classes
from ir_outcomes.statistics.counts import count as count
from ir_outcomes.statistics.counts import design_effect, differences, linearized
from ir_outcomes.statistics.counts import membership as membership
from ir_outcomes.statistics.counts import tally as tally
from ir_outcomes.statistics.counts import tally_rows as tally_rows
from ir_outcomes.statistics.counts import tally_subsets as tally_subsets
from ir_outcomes.statistics.counts import with_signs as with_signs
from ir_outcomes.statistics.intervals import (
    Interval,
    bounded_mean_interval,
    coverage_interval,
    mean_interval,
    odds_ratio_interval,
    ratio_interval,
)
from ir_outcomes.statistics.intervals import effective_df as effective_df
from ir_outcomes.statistics.intervals import equivalent as equivalent
from ir_outcomes.statistics.intervals import harm_excluded as harm_excluded
from ir_outcomes.statistics.intervals import harm_shown as harm_shown
from ir_outcomes.statistics.intervals import interval_of_mean as interval_of_mean
from ir_outcomes.statistics.intervals import log_ratio_influence as log_ratio_influence
from ir_outcomes.statistics.intervals import odds_ratio as odds_ratio
from ir_outcomes.statistics.intervals import ratio_of_means as ratio_of_means
from ir_outcomes.statistics.pooling import FEWEST_SAMPLES_TO_GENERALISE as FEWEST_SAMPLES_TO_GENERALISE
from ir_outcomes.statistics.pooling import (
    FixedMean,
    Heterogeneity,
    PoweredMean,
    RandomEffects,
    fixed_mean,
    heterogeneity_test,
    log_ratio_of_means,
    prediction_powered_mean,
    random_effects,
)
from ir_outcomes.statistics.power import (
    QueriesNeeded,
    detectable_mean,
    detectable_proportion,
    queries_for_coverage,
    queries_for_mean,
)
from ir_outcomes.statistics.resampling import Band, band_of_events
from ir_outcomes.statistics.tests import FEW as FEW
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
from ir_outcomes.statistics.tests import Tests as Tests
from ir_outcomes.statistics.tests import binomial_tests as binomial_tests
from ir_outcomes.statistics.tests import mean_tests as mean_tests
from ir_outcomes.statistics.tests import midp_test as midp_test
from ir_outcomes.statistics.tests import rank_sum_tests as rank_sum_tests
from ir_outcomes.statistics.tests import sign_flip_tests as sign_flip_tests
from ir_outcomes.statistics.tests import sign_tests as sign_tests
from ir_outcomes.statistics.tests import t_tests as t_tests
from ir_outcomes.statistics.tests import wilcoxon_tests as wilcoxon_tests

__all__ = [
    "Band",
    "FixedMean",
    "Heterogeneity",
    "Interval",
    "PoweredMean",
    "QueriesNeeded",
    "RandomEffects",
    "Test",
    "adjust",
    "band_of_events",
    "binomial_test",
    "bounded_mean_interval",
    "coverage_interval",
    "design_effect",
    "detectable_mean",
    "detectable_proportion",
    "differences",
    "fixed_mean",
    "heterogeneity_test",
    "linearized",
    "log_ratio_of_means",
    "mean_interval",
    "mean_test",
    "odds_ratio_interval",
    "paired_tests",
    "pairwise_tests",
    "prediction_powered_mean",
    "queries_for_coverage",
    "queries_for_mean",
    "random_effects",
    "randomized_tukey_hsd",
    "rank_sum",
    "ratio_interval",
    "sign_flip",
    "sign_test",
    "t_test",
    "wilcoxon",
]
