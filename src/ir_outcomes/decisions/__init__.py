"""Decisions: a gate, a plan, unjudged documents, published numbers."""
