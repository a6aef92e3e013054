"""Runs evaluated once, by search lengths and by other measures."""
