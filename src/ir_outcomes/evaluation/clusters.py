"""Which queries belong together: clusters, numbered."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import MismatchError, ParameterError, some, warn
from ir_outcomes.reading.qrels import query_texts
from ir_outcomes.types import Bools, Ints


def digest_of_clusters(codes: Ints | None) -> str | None:
    """Return a digest of which queries share a cluster; None where queries are independent."""
    if codes is None:
        return None
    return hashlib.sha256(codes.tobytes()).hexdigest()[:32]


def clusters_of(clusters: Any, query_ids: tuple[str, ...], answerable: Bools) -> Ints | None:
    """Number the cluster of each query, given as `ir_outcomes.evaluate` takes them; None with a warning where all have one."""
    labels: list[str | None]
    if isinstance(clusters, str) and clusters.startswith("by:"):
        separator = clusters.removeprefix("by:")
        if not separator or not any(separator in query for query in query_ids):
            raise ParameterError(
                f"no query id has this separator; the ids are {some(query_ids, 3)}",
                clusters=clusters,
            )
        labels = [text_before(separator, query) for query in query_ids]
    elif callable(clusters):
        labels = [clusters(query) for query in query_ids]
    else:
        known = clusters if isinstance(clusters, Mapping) else query_texts(clusters, ("cluster",))
        labels = [known.get(query) for query in query_ids]
    lacking = [query for query, label in zip(query_ids, labels, strict=True) if label is None]
    if lacking:
        raise MismatchError(
            f"clusters: there is none of query {some(lacking)}; name the cluster of each query of"
            " the qrels"
        )
    codes = unless_independent(by_first_occurrence(np.array(list(map(str, labels)))), answerable)
    if codes is None:
        warn("every cluster has one answerable query, so clusters are ignored")
    return codes


def unless_independent(codes: Ints, answerable: Bools) -> Ints | None:
    """Return the clusters; None where no two answerable queries share one, so that all are independent."""
    if np.bincount(codes[answerable]).max(initial=0) > 1:
        return codes
    return None


def text_before(separator: str, query: str) -> str:
    """Return the id up to the last separator; the whole id without one."""
    return query.rpartition(separator)[0] or query


def separator_in(query_ids: Sequence[str]) -> str | None:
    """Return what separates clusters from trials or turns in ids such as s0_t0, s0_t1, s1_t0.

    The same texts stand behind it in three clusters or more, which those of PLAIN-7 and PLAIN-12
    and of 2023-5 and 2024-123 do not.
    """
    for separator in ("<::>", "::", "#", "_", "-", "."):
        clusters = defaultdict[str, set[str]](set)
        for query in query_ids:
            cluster, _, trial = query.rpartition(separator)
            clusters[cluster].add(trial)
        clusters.pop("", None)  # of ids without this separator
        times = Counter(chain.from_iterable(clusters.values()))
        repeated = {trial for trial, n_clusters in times.items() if n_clusters > 2}
        sizes = [len(trials & repeated) for trials in clusters.values()]
        in_clusters = [size for size in sizes if size > 1]
        if len(in_clusters) > 2 and 2 * sum(in_clusters) >= len(query_ids):
            return separator
    return None


def by_first_occurrence(labels: npt.NDArray[Any]) -> Ints:
    """Number the labels in the order in which they first occur: equal where the same queries are together."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]
