"""ESL, ASL, Answered and Outcome as ir_measures measures, the provider that evaluates them, and named baselines."""

from ir_outcomes.measures.baselines import register_baseline
from ir_outcomes.measures.definitions import ASL, ESL, Answered, Outcome, SharedRR, split
from ir_outcomes.measures.registration import parse_measure, register

__all__ = ["ASL", "ESL", "Answered", "Outcome", "SharedRR", "parse_measure", "register", "register_baseline", "split"]
