"""Checks of arguments that the tests, intervals and corrections share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ir_outcomes._types import Floats
from ir_outcomes.errors import ParameterError


def numbers(name: str, values: npt.ArrayLike) -> Floats:
    """Convert to a one-dimensional array of finite numbers; raise ParameterError for anything else."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ParameterError(f"{name} has the shape {array.shape}: must be a list of numbers, one dimension")
    if not np.isfinite(array).all():
        raise ParameterError(f"{name} holds NaN or an infinity: must be finite numbers; leave out what has no value")
    return array


def rows_of_numbers(name: str, values: npt.ArrayLike) -> Floats:
    """Convert to a two-dimensional array of finite numbers; raise ParameterError for anything else."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or not np.isfinite(array).all():
        raise ParameterError(f"{name} of shape {array.shape}: must be a two-dimensional array of finite numbers")
    return array


def paired(baseline: npt.ArrayLike, contender: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Convert to two arrays of finite numbers of the same length."""
    x, y = numbers("baseline", baseline), numbers("contender", contender)
    if len(x) != len(y):
        raise ParameterError(f"baseline has {len(x)} values and contender {len(y)}: must be paired, one for one")
    return x, y


def check_draws(seed: int, resamples: int) -> None:
    """Raise ParameterError for a seed or a number of random draws that cannot be used."""
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ParameterError(f"seed={seed!r}: must be a whole number, 0 or more")
    if not isinstance(resamples, (int, np.integer)) or resamples < 1:
        raise ParameterError(f"resamples={resamples!r}: must be a whole number, 1 or more")


def check_discordant(won: int, lost: int, n: int | None = None) -> None:
    """Raise ParameterError for counts that are negative or exceed the number of queries."""
    if won < 0 or lost < 0 or (n is not None and won + lost > n):
        among = "" if n is None else f", n={n!r}"
        limit = "" if n is None else ", together at most n"
        raise ParameterError(f"won={won!r}, lost={lost!r}{among}: must be counts, 0 or more{limit}")


def check_share(name: str, value: float, *, above: float = 0.0) -> None:
    """Raise ParameterError for a value that is not strictly between `above` and 1."""
    if not above < value < 1:
        raise ParameterError(f"{name}={value!r}: must be between {above:g} and 1, such as {0.05 if name == 'alpha' else 0.95}")
