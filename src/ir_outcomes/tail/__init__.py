"""All relevant documents, however far down: distributions of search lengths, headroom, and what averaging precision hides."""

from ir_outcomes.tail.changes import DocumentChange, DocumentChanges, LengthChanges, length_changes
from ir_outcomes.tail.depth import TailSettings
from ir_outcomes.tail.distributions import LengthDistribution, LengthDistributions, length_distributions
from ir_outcomes.tail.headroom import Headroom, MeasureHeadroom, headroom
from ir_outcomes.tail.reordering import Change, Reordering, reordering
from ir_outcomes.tail.rrie import RRIE, Reduction, reduction, rrie, rrie_from_means
from ir_outcomes.tail.weighting import effective_share, equivalent_lengths

__all__ = [
    "RRIE",
    "Change",
    "DocumentChange",
    "DocumentChanges",
    "Headroom",
    "LengthChanges",
    "LengthDistribution",
    "LengthDistributions",
    "MeasureHeadroom",
    "Reduction",
    "Reordering",
    "TailSettings",
    "effective_share",
    "equivalent_lengths",
    "headroom",
    "length_changes",
    "length_distributions",
    "reduction",
    "reordering",
    "rrie",
    "rrie_from_means",
]
