"""Runs, qrels, per-query outputs and ir_datasets tasks: everything is validated here."""
