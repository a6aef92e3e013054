"""The estimate, the papers' tests, families, resamples and planning; nothing here knows about retrieval."""
