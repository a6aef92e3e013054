"""ESL, ASL, Answered and Outcome as ir_measures measures, the provider that evaluates them, and named baselines."""

from ir_outcomes.measures.baselines import register_baseline
from ir_outcomes.measures.definitions import ASL, ESL, Answered, Outcome
from ir_outcomes.measures.provider import register
from ir_outcomes.reading.measure_names import parse_measure

__all__ = [
    "ASL",
    "ESL",
    "Answered",
    "Outcome",
    "parse_measure",
    "register",
    "register_baseline",
]
