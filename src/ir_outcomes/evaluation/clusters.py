"""Clusters of queries: what belongs together, as said or as ids suggest."""

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ir_outcomes.arguments import check_argument
from ir_outcomes.choices import Bools, Ints
from ir_outcomes.errors import (
    MismatchError,
    ParameterError,
    some,
    warn,
)
from ir_outcomes.evaluation.lengths import unless_independent
from ir_outcomes.reading.texts import CLUSTERS, read_texts

RULE = "by:"


def clusters_of(clusters: Any, query_ids: tuple[str, ...], answerable: Bools) -> Ints | None:
    """Number the cluster of each query, None where each has one query."""
    labels: list[Any]
    if isinstance(clusters, str) and clusters.startswith(RULE):
        separator = clusters.removeprefix(RULE)
        if not separator or not any(separator in query for query in query_ids):
            raise ParameterError(
                f"no query id has this separator; the ids are {some(query_ids, 3)}",
                clusters=clusters,
            )
        labels = [text_before(separator, query) for query in query_ids]
    elif callable(clusters):
        labels = [clusters(query) for query in query_ids]
    else:
        check_argument("clusters", clusters, Mapping[str, Any] | str | os.PathLike[str])
        cluster_of = clusters if isinstance(clusters, Mapping) else read_texts(clusters, CLUSTERS)
        labels = [cluster_of.get(query) for query in query_ids]
    absent = [query for query, label in zip(query_ids, labels, strict=True) if label is None]
    if absent:
        raise MismatchError(
            f"clusters: there is none of query {some(absent)}; name the cluster of each query of"
            " the qrels"
        )
    # Numbers in the order of the labels do not depend on the order of the queries.
    numbers = np.unique(np.array(list(map(str, labels))), return_inverse=True)[1]
    codes = unless_independent(numbers, answerable)
    if codes is None:
        warn("every cluster has one answerable query, so clusters are ignored")
    return codes


def digest_of_clusters(codes: Ints | None, query_ids: Sequence[str]) -> str | None:
    """Return a digest of clusters in any order, None where queries are independent."""
    if codes is None:
        return None
    clusters: dict[int, list[str]] = {}
    for code, query in zip(codes.tolist(), query_ids, strict=True):
        clusters.setdefault(code, []).append(query)
    content = repr(sorted(map(sorted, clusters.values())))
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:32]


def text_before(separator: str, query: str) -> str:
    """Return the id up to the last separator, or the whole id."""
    return query.rpartition(separator)[0] or query


def separator_in(query_ids: Sequence[str]) -> str | None:
    """Return what separates clusters from trials in ids such as s0_t0 and s1_t0.

    The same texts stand behind it in three clusters or more, which those of PLAIN-7 and PLAIN-12
    and of 2023-5 and 2024-123 do not.
    """
    text = "\0".join(query_ids)
    for separator in ("<::>", "::", "#", "_", "-", ".", "/", ":", "@"):
        if separator not in text:
            continue
        separable = [query for query in query_ids if separator in query]
        if 2 * len(separable) < len(query_ids):
            continue
        clusters = defaultdict[str, set[str]](set)
        for query in separable:
            cluster, _, trial = query.rpartition(separator)
            clusters[cluster].add(trial)
        clusters.pop("", None)  # of ids that begin with it
        times = Counter(chain.from_iterable(clusters.values()))
        repeated = {trial for trial, n_clusters in times.items() if n_clusters > 2}
        sizes = [len(trials & repeated) for trials in clusters.values()]
        in_clusters = [size for size in sizes if size > 1]
        if len(in_clusters) > 2 and 2 * sum(in_clusters) >= len(query_ids):
            return separator
    return None
