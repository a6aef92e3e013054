"""Runs evaluated once: search lengths, scores by other measures, and what keeps them."""
