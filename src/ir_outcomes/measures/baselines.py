"""Runs that measures can use as their baseline, by name."""

import os
from collections.abc import Mapping
from typing import Any

from ir_outcomes.errors import ParameterError, shortened, some
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.search import search_lengths
from ir_outcomes.reading.columns import digest_of
from ir_outcomes.reading.datasets import as_run
from ir_outcomes.reading.files import file_digest
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import DATASET_PREFIX, Run

MOST_KEPT = 128

registered: dict[str, Run] = {}
# Search lengths of baselines, by digests and settings, so that each is computed once.
_evaluated: dict[tuple[Any, ...], SearchLengths] = {}


def register_baseline(name: str, run: Any, *, replace: bool = False) -> None:
    """Give a run a name that measures can use as their baseline.

    Parameters
    ----------
    name : str
        For example ``"bm25"``, for ``ESL(baseline="bm25")@100``.
    run
        See `ir_outcomes.as_run`.
    replace : bool
        Register the name for this run even if it is registered for another one.

    Raises
    ------
    ParameterError
        If the name is registered for another run, or is not a name.

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
        raise ParameterError(
            f"a baseline cannot be called {shortened(repr(name))}; give it a name such as 'bm25'"
        )
    checked = as_run(run, name)
    present = registered.get(name)
    if present is not None and not replace and _digest(present) != _digest(checked):
        raise ParameterError(
            f"the baseline {name!r} is registered for another run; choose another name, or pass"
            " `replace=True`"
        )
    registered[name] = checked


def baseline_lengths(name: str, qrels: Qrels, settings: Mapping[str, Any]) -> SearchLengths:
    """The search lengths of a registered name, a dataset id or a path."""
    run = registered.get(name)
    if run is None and not name.startswith(DATASET_PREFIX) and not os.path.exists(name):
        names = some(list(map(repr, registered))) or "none yet"
        raise ParameterError(
            f"unknown baseline {name!r}: neither a registered name (known: {names}) nor a file;"
            f" call ir_outcomes.register_baseline({name!r}, run), or give a path or"
            " irds:<dataset id>"
        )
    if run is not None:
        content = _digest(run)
    elif name.startswith(DATASET_PREFIX):
        content = name
    else:
        content = file_digest(name)
    key = (qrels.digest, content, name, *sorted(settings.items()))
    if key not in _evaluated:
        if len(_evaluated) >= MOST_KEPT:
            _evaluated.clear()
        _evaluated[key] = search_lengths(qrels, as_run(name) if run is None else run, **settings)
    return _evaluated[key]


def _digest(run: Run) -> str:
    return digest_of(run.query_ids, run.offsets, run.docids, run.scores)
