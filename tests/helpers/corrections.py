"""Corrected p-values by statsmodels."""

from typing import Any
from unittest import mock

from statsmodels.stats import multitest


def multipletests(p: Any, method: str) -> Any:
    # Statsmodels collects garbage each time, half a second in a large process.
    with mock.patch("gc.collect"):
        return multitest.multipletests(p, method=method)
