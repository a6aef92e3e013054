"""Runs, qrels, values of other tools and tasks of ir_datasets, read and checked."""
