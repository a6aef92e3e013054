"""The same comparison under several conditions: collections, slices of the queries, cutoffs, judges."""

from ir_outcomes.across.audit import to_label
from ir_outcomes.across.collections import CollectionsComparison, compare_collections
from ir_outcomes.across.gate import GateResult, gate
from ir_outcomes.across.same_queries import CutoffsComparison, JudgesComparison, compare_cutoffs, compare_judges
from ir_outcomes.across.slices import SlicesComparison, compare_slices

__all__ = [
    "CollectionsComparison",
    "CutoffsComparison",
    "GateResult",
    "JudgesComparison",
    "SlicesComparison",
    "compare_collections",
    "compare_cutoffs",
    "compare_judges",
    "compare_slices",
    "gate",
    "to_label",
]
