"""Pairs of systems: measurements, rows and labels."""
