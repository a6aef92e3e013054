"""Named baselines: runs that measures such as ``ESL(baseline="bm25")@100`` are relative to.

ir_measures identifies measures by their text, so a baseline is given by name. Each one is evaluated once per qrels and
settings, however many runs are measured against it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.lengths import SearchLengths, search_lengths
from ir_outcomes.reading.columns import digest_of
from ir_outcomes.reading.datasets import DATASET_PREFIX
from ir_outcomes.reading.files import file_digest
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, as_run

MOST_KEPT = 128

_registered: dict[str, Run] = {}
_evaluated: dict[tuple[Any, ...], SearchLengths] = {}  # the last used at the end


def register_baseline(name: str, run: Any, *, replace: bool = False) -> None:
    """Give a run a name that measures can use as their baseline.

    Parameters
    ----------
    name : str
        For example ``"bm25"``, for ``ESL(baseline="bm25")@100``.
    run : Run, path, ``"irds:<dataset id>"``, dict, frame or iterable
        See `ir_outcomes.as_run`.
    replace : bool
        Register the name for this run even if it is registered for another one.

    Raises
    ------
    ParameterError
        If the name is registered for another run, or is not a name.
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
        raise ParameterError(f"the baseline {name!r} is registered for another run; choose another name, or pass replace=True")
    _registered[name] = checked


def registered_run(name: str | None) -> Run | None:
    """Return the run that is registered under a name; None where there is none."""
    return None if name is None else _registered.get(name)


def baseline_lengths(name: str, qrels: Qrels, settings: Mapping[str, Any]) -> SearchLengths:
    """Return the search lengths of a registered name, else of ``irds:<dataset id>``, else of a path."""
    run = _registered.get(name)
    if run is None and not name.startswith(DATASET_PREFIX) and not os.path.exists(name):
        known = some([repr(registered) for registered in _registered]) or "none yet"
        raise ParameterError(
            f"unknown baseline {name!r}: neither a registered name (known: {known}) nor a file; call "
            f"ir_outcomes.register_baseline({name!r}, run), or give a path or irds:<dataset id>"
        )
    content = _digest(run) if run is not None else name if name.startswith(DATASET_PREFIX) else file_digest(name)
    key = (qrels.digest, content, name, *sorted(settings.items()))
    lengths = _evaluated.pop(key, None)
    if lengths is None:
        lengths = search_lengths(qrels, as_run(name) if run is None else run, **settings)
    _evaluated[key] = lengths
    for oldest in list(_evaluated)[:-MOST_KEPT]:
        _evaluated.pop(oldest, None)  # another thread may have done so
    return lengths


def _digest(run: Run) -> str:
    """Return a hash of the content of a run."""
    return f"{digest_of(run.query_ids, run.offsets, run.docids, run.scores)} {run.docids.dtype.itemsize}"
