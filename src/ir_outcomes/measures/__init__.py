"""Measures of ir_measures, one file for each, their baselines and their provider."""

from ir_outcomes.measures.provider import OutcomesProvider, register

__all__ = ["OutcomesProvider", "register"]
