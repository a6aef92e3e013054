"""Measures of ir_measures, one file for each, their baselines and their provider."""

from ir_outcomes.measures.answered import Answered
from ir_outcomes.measures.asl import ASL
from ir_outcomes.measures.esl import ESL
from ir_outcomes.measures.outcome import Outcome
from ir_outcomes.measures.provider import MEASURES, OutcomesProvider, register

__all__ = ["ASL", "ESL", "MEASURES", "Answered", "Outcome", "OutcomesProvider", "register"]
