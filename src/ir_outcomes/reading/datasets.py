"""Qrels and rankings of public collections, by their ir_datasets ids."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ir_outcomes.errors import DatasetUnavailable

DATASET_PREFIX = "irds:"


def is_dataset_id(name: str) -> bool:
    """Tell whether ir_datasets knows a collection of this id."""
    import ir_datasets

    name = name.removeprefix(DATASET_PREFIX)
    if name in ir_datasets.registry:
        return True
    try:  # some ids are made on demand from a pattern, such as clirmatrix/...
        ir_datasets.load(name)
    except KeyError:
        return False
    return True


def dataset_qrels(name: str) -> list[Any]:
    """Load the judgments of a collection.

    Raises
    ------
    DatasetUnavailable
        If the id is unknown, has no qrels, or they cannot be fetched.
    """
    name = name.removeprefix(DATASET_PREFIX)
    dataset = _dataset(name)
    if not dataset.has_qrels():
        raise DatasetUnavailable(f"{name}: this collection has no qrels{_siblings(name)}")
    with _fetching(name, "qrels"):
        return list(dataset.qrels_iter())


def dataset_scoreddocs(name: str) -> list[Any]:
    """Load a collection's own ranking (``scoreddocs``).

    Raises
    ------
    DatasetUnavailable
        If the id is unknown, has no ranking, the ranking holds no scores, or it cannot be fetched.
    """
    name = name.removeprefix(DATASET_PREFIX)
    dataset = _dataset(name)
    if not dataset.has_scoreddocs():
        raise DatasetUnavailable(f"{name}: this collection has no ranking of its own; give a run file")
    with _fetching(name, "scoreddocs"):
        documents = list(dataset.scoreddocs_iter())
    if documents and len({document.score for document in documents}) == 1:
        raise DatasetUnavailable(
            f"{name}: every score of this collection's ranking is {documents[0].score}, so it has no order and "
            "cannot be a baseline; give a run file"
        )
    return documents


def _dataset(name: str) -> Any:
    import ir_datasets

    try:
        return ir_datasets.load(name)
    except KeyError:
        near = difflib.get_close_matches(name, list(ir_datasets.registry), n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise DatasetUnavailable(f"{name}: neither a file nor an ir_datasets id{hint}") from None


def _siblings(name: str) -> str:
    import ir_datasets

    parent = name.rpartition("/")[0]
    there = [other for other in ir_datasets.registry if other.startswith(f"{parent}/") and _has_qrels(other)]
    return f"; these do: {', '.join(there[:5])}" if parent and there else ""


def _has_qrels(name: str) -> bool:
    import ir_datasets

    return bool(ir_datasets.load(name).has_qrels())


@contextmanager
def _fetching(name: str, what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # ir_datasets raises RuntimeError, OSError or a hash error, by source
        raise DatasetUnavailable(
            f"{name}: its {what} could not be fetched ({error}); try again with a network connection, "
            "or give a file instead of the id"
        ) from error
