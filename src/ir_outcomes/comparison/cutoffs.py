"""The labels of a family of comparisons at several cutoffs, from search lengths that are already computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ir_outcomes.comparison.build import family_labels
from ir_outcomes.comparison.outcomes import pair_queries
from ir_outcomes.comparison.pair_tests import DecidingCoverageTest
from ir_outcomes.comparison.result import CutoffLabel
from ir_outcomes.comparison.settings import Settings
from ir_outcomes.evaluation.lengths import SearchLengths

__all__ = ["USUAL_CUTOFFS", "labels_by_cutoff"]

USUAL_CUTOFFS = (10, 20, 50, 100, 1000)


def labels_by_cutoff(
    pairs: Sequence[tuple[SearchLengths, SearchLengths]], settings: Settings, coverage_test: DecidingCoverageTest
) -> list[tuple[CutoffLabel, ...]]:
    """Find the label of each pair at its own cutoff, and at the usual ones up to the longest list of its shallower run.

    Parameters
    ----------
    pairs : sequence of pairs of SearchLengths
        The family, with the whole depth of the runs.
    settings : Settings
        Of the comparison.
    coverage_test : {"exact", "midp", "signflip"}
        The test that decides on coverage.

    Returns
    -------
    list of tuple of CutoffLabel
        For each pair, ascending. The labels are those of `ir_outcomes.compare` at each cutoff, corrected over the family, not
        for the number of cutoffs.
    """
    own = settings.cutoff
    reach = [min(run.depth for run in pair) for pair in pairs]
    shown: list[list[CutoffLabel]] = [[] for _ in pairs]
    for cutoff in sorted({*USUAL_CUTOFFS, *(() if own is None else (own,))}):
        if cutoff != own and cutoff > max(reach, default=0):
            continue
        at_cutoff = [pair_queries(baseline.at(cutoff), contender.at(cutoff), settings.unit) for baseline, contender in pairs]
        labels = family_labels(at_cutoff, replace(settings, cutoff=cutoff), coverage_test)
        for place, label in enumerate(labels):
            if cutoff == own or cutoff <= reach[place]:
                shown[place].append(CutoffLabel(cutoff, label))
    return [tuple(labels) for labels in shown]
