"""Decisions that rest on comparisons: a gate, a plan, unjudged documents, published numbers."""
