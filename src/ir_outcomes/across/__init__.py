"""The same comparison under several conditions: collections, slices of the queries, cutoffs, judges."""

from ir_outcomes.across.collections import CollectionsComparison, compare_collections
from ir_outcomes.across.cutoffs import CutoffsComparison, compare_cutoffs
from ir_outcomes.across.gate import gate
from ir_outcomes.across.judges import JudgesComparison, compare_judges
from ir_outcomes.across.slices import SlicesComparison, compare_slices

__all__ = [
    "CollectionsComparison",
    "CutoffsComparison",
    "JudgesComparison",
    "SlicesComparison",
    "compare_collections",
    "compare_cutoffs",
    "compare_judges",
    "compare_slices",
    "gate",
]
