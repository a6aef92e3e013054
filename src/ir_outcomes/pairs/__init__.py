"""Pairs of systems: what they are measured on, the rows of their comparison, and their labels."""
