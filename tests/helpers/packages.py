"""Packages of the extra dev, without which the tests that need them are skipped."""

from typing import Any

import pytest


def needed(name: str) -> Any:
    """Return a package or module; without it the test is skipped."""
    return pytest.importorskip(name, reason=f"{name} is not installed; the extra dev brings it")
