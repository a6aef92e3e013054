"""Warnings that point at the line of the user's code, however deep in the package they arise."""

from __future__ import annotations

import os
import sys
import warnings

from ir_outcomes.errors import IrOutcomesWarning

__all__ = ["warn_user"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn_user(message: str) -> None:
    """Warn with an `IrOutcomesWarning` at the first caller outside this package.

    Unlike a fixed ``stacklevel`` this stays right when a function is called through another one of the package.
    """
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, IrOutcomesWarning, stacklevel=level)
