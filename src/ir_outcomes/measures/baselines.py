"""Named baselines: runs that measures such as ``ESL(baseline="bm25")@100`` are relative to.

ir_measures identifies measures by their text, so a baseline is given by name. Each one is evaluated once per qrels and
settings, however many runs are measured against it.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.lengths import SearchLengths, search_lengths
from ir_outcomes.reading.columns import digest_of
from ir_outcomes.reading.datasets import DATASET_PREFIX
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, as_run

__all__ = ["baseline_lengths", "register_baseline", "use_baseline_lengths"]

MOST_KEPT = 128

_registered: dict[str, Run] = {}
_digests: dict[_State, str] = {}  # of what was read by path or id, so that it is not read again
_evaluated: OrderedDict[tuple[Any, ...], SearchLengths] = OrderedDict()
_resolved: dict[tuple[Any, ...], SearchLengths] = {}  # evaluated by the process that this one works for
_lock = threading.Lock()
_TICK = 20_000_000  # nanoseconds; Linux updates the time of files every 10 ms or more often


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


def baseline_lengths(name: str, qrels: Qrels, settings: Mapping[str, Any]) -> SearchLengths:
    """Evaluate a baseline, or return the result of an earlier evaluation with the same content and settings.

    Parameters
    ----------
    name : str
        A registered name; otherwise ``irds:<dataset id>``; otherwise a path.
    qrels : Qrels
        The judgments.
    settings : mapping
        Arguments of `ir_outcomes.search_lengths`.

    Raises
    ------
    ParameterError
        If the name is none of these; the message lists the registered ones.
    InputError
        If the run cannot be read.
    """
    run = _registered.get(name)
    digest: str | None
    if run is not None:
        digest = _digest(run)
    else:
        resolved = _resolved.get((name, qrels.digest, *sorted(settings.items())))
        if resolved is not None:
            return resolved
        state = _state(name)
        digest = _digests.get(state)
        if digest is None:
            run = as_run(name)
            digest = _digest(run)
            if state.is_settled:
                _digests[state] = digest
    key = (qrels.digest, digest, name, *sorted(settings.items()))
    with _lock:
        lengths = _evaluated.get(key)
    if lengths is None:
        lengths = search_lengths(qrels, run if run is not None else as_run(name), **settings)
    with _lock:  # other threads may drop entries, this one too
        _evaluated[key] = lengths
        _evaluated.move_to_end(key)
        while len(_evaluated) > MOST_KEPT:
            _evaluated.popitem(last=False)
    return lengths


def use_baseline_lengths(name: str, qrels: Qrels, settings: Mapping[str, Any], lengths: SearchLengths) -> None:
    """Let `baseline_lengths` return what another process computed: names are registered in that process only."""
    _resolved[(name, qrels.digest, *sorted(settings.items()))] = lengths


class _State(NamedTuple):
    """What tells that the content behind a path or dataset id has not changed."""

    place: str
    size: int = 0
    modified: int = 0
    changed: int = 0  # unlike the modification time, it cannot be set by a program
    inode: int = 0

    @property
    def is_settled(self) -> bool:
        """Whether a further change would show: two within a tick of the file system's clock can have the same time."""
        return time.time_ns() - max(self.modified, self.changed) > _TICK


def _state(name: str) -> _State:
    if name.startswith(DATASET_PREFIX):
        return _State(name)
    try:
        status = os.stat(name)
    except (OSError, ValueError):
        known = some([repr(registered) for registered in _registered]) or "none yet"
        raise ParameterError(
            f"unknown baseline {name!r}: neither a registered name (known: {known}) nor a file; call "
            f"ir_outcomes.register_baseline({name!r}, run), or give a path or irds:<dataset id>"
        ) from None
    return _State(os.path.abspath(name), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _digest(run: Run) -> str:
    return f"{digest_of(run.query_ids, run.offsets, run.docids, run.scores)} {run.docids.dtype.itemsize}"
