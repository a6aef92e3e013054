"""All relevant documents, however far down: distributions of search lengths, headroom, and what averaging precision hides."""

from ir_outcomes.tail.lengths import (
    DocumentChange,
    DocumentChanges,
    LengthChanges,
    LengthDistribution,
    LengthDistributions,
    TailSettings,
    length_changes,
    length_distributions,
)
from ir_outcomes.tail.reordering import Change, Reordering, reordering
from ir_outcomes.tail.rrie import RRIE, Headroom, MeasureHeadroom, Reduction, headroom, rrie, rrie_from_means

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
    "headroom",
    "length_changes",
    "length_distributions",
    "reordering",
    "rrie",
    "rrie_from_means",
]
