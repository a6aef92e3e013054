"""ESL, ASL and Answered as ir_measures measures, and the provider that evaluates them."""

from ir_outcomes.measures.definitions import ASL, ESL, Answered
from ir_outcomes.measures.registration import parse_measure, register

__all__ = ["ASL", "ESL", "Answered", "parse_measure", "register"]
