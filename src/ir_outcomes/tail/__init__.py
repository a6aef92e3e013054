"""The relevant documents far down: distributions of search lengths, headroom, and what averaging precision hides."""

from ir_outcomes.tail.distributions import LengthChanges, LengthDistributions, length_changes, length_distributions
from ir_outcomes.tail.headroom import Headroom, headroom
from ir_outcomes.tail.reordering import Reordering, reordering
from ir_outcomes.tail.rrie import RRIE, rrie
from ir_outcomes.tail.weighting import effective_share, equivalent_lengths

__all__ = [
    "RRIE",
    "Headroom",
    "LengthChanges",
    "LengthDistributions",
    "Reordering",
    "effective_share",
    "equivalent_lengths",
    "headroom",
    "length_changes",
    "length_distributions",
    "reordering",
    "rrie",
]
