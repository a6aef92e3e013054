"""Named baselines: runs that measures such as ``ESL(baseline="bm25")@100`` are relative to.

A measure's parameters have to be text, by which ir_measures tells measures apart; so a baseline is given by name. Each is
evaluated once per qrels and settings, however many runs are measured against it.
"""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from typing import Any

from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.lengths import SearchLengths, search_lengths
from ir_outcomes.reading.datasets import DATASET_PREFIX
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, as_run

__all__ = ["baseline_lengths", "register_baseline"]

MOST_KEPT = 128

_registered: dict[str, Run] = {}
_digests: dict[tuple[Any, ...], str] = {}  # of what was read by path or id, so that it is not read again
_evaluated: OrderedDict[tuple[Any, ...], SearchLengths] = OrderedDict()


def register_baseline(name: str, run: Any, *, replace: bool = False) -> None:
    """Give a run a name that measures can use as their baseline.

    Parameters
    ----------
    name : str
        For example ``"bm25"``, for ``ESL(baseline="bm25")@100``.
    run : Run, path, ``"irds:<dataset id>"``, dict, frame or iterable
        See `ir_outcomes.as_run`.
    replace : bool
        Let the name stand for another run from now on.

    Raises
    ------
    ParameterError
        If the name stands for another run already, or is none.
    InputError
        If the run cannot be read.

    Examples
    --------
    >>> import ir_measures
    >>> from ir_outcomes import Outcome
    >>> register_baseline("x first", {"q1": {"x": 2.0, "gold": 1.0}, "q2": {"x": 1.0}}, replace=True)
    >>> qrels = {"q1": {"gold": 1}, "q2": {"gold": 1}}
    >>> won = Outcome(baseline="x first", case="won") @ 100
    >>> ir_measures.calc_aggregate([won], qrels, {"q1": {"gold": 1.0}, "q2": {"gold": 1.0}})
    {Outcome(baseline='x first',case='won')@100: 0.5}
    """
    if not isinstance(name, str) or not name.strip() or name.startswith(DATASET_PREFIX):
        raise ParameterError(f"a baseline cannot be called {name!r}; give it a name such as 'bm25'")
    checked = as_run(run, name)
    present = _registered.get(name)
    if present is not None and not replace and _digest(present) != _digest(checked):
        raise ParameterError(f"the baseline {name!r} is another run already; choose another name, or pass replace=True")
    _registered[name] = checked


def baseline_lengths(name: str, qrels: Qrels, settings: dict[str, Any]) -> SearchLengths:
    """Evaluate a baseline, or return what an earlier evaluation with the same content and settings gave.

    Parameters
    ----------
    name : str
        A registered name; or else ``irds:<dataset id>``; or else a path.
    qrels : Qrels
        The judgments.
    settings : dict
        Arguments of `ir_outcomes.search_lengths`.

    Raises
    ------
    ParameterError
        If the name is none of these; the message lists the registered ones.
    InputError
        If the run cannot be read.
    """
    run = _registered.get(name)
    place = None if run is not None else _place(name)
    digest = _digests.get(place) if place is not None else None
    if digest is None:
        run = run or as_run(name)
        digest = _digest(run)
        if place is not None:
            _digests[place] = digest
    key = (qrels.digest, digest, name, *sorted(settings.items()))
    if key not in _evaluated:
        _evaluated[key] = search_lengths(qrels, run or as_run(name), **settings)
        while len(_evaluated) > MOST_KEPT:
            _evaluated.popitem(last=False)
    _evaluated.move_to_end(key)
    return _evaluated[key]


def _place(name: str) -> tuple[Any, ...]:
    """Tell apart what can be read by path or id, by its content's outward signs."""
    if name.startswith(DATASET_PREFIX):
        return (name,)
    try:
        status = os.stat(name)
    except OSError:
        known = ", ".join(map(repr, _registered)) or "none yet"
        raise ParameterError(
            f"unknown baseline {name!r}: neither a registered name (known: {known}) nor a file; call "
            f"ir_outcomes.register_baseline({name!r}, run), or give a path or irds:<dataset id>"
        ) from None
    return (os.path.abspath(name), status.st_size, status.st_mtime_ns)


def _digest(run: Run) -> str:
    content = hashlib.sha256("\n".join(run.query_ids).encode())
    for array in (run.offsets, run.docids, run.scores):
        content.update(array.tobytes())
    return f"{content.hexdigest()[:32]} {run.docids.dtype.itemsize}"
