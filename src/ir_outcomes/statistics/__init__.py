"""The estimate, the papers' tests, families, resamples and planning."""
