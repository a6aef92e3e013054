"""Tasks: a collection by its ir_datasets id, with the settings it is evaluated with.

The settings of MS MARCO and the TREC Deep Learning track follow from their ids by rule: cutoffs as the papers and tracks have
them (MRR@100 for documents, where ir_datasets says RR@10), the relevance threshold from ir_datasets' `official_measures` where
it says one, the unit from whether judgments are sparse or deep.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ir_outcomes.errors import DatasetUnavailable
from ir_outcomes.reading.datasets import DATASET_PREFIX, Part, Source, dataset_of, load_part, source_of
from ir_outcomes.reading.qrels import Qrels, as_qrels
from ir_outcomes.reading.runs import Run, as_run

__all__ = ["Task", "known_tasks", "load"]

_MSMARCO = re.compile(r"msmarco-(?P<kind>document|passage)(?P<version>-v2)?/(?P<subset>.+)")
_DEEP = re.compile(r"trec-dl-(?P<year>\d{4}|hard)(/(judged|fold\d))?")
_SPARSE = re.compile(r"(train|dev)(\d|/2)?(/(small|judged))?")


@dataclass(frozen=True)
class Task:
    """A collection and how it is evaluated. Making one fetches nothing; what it holds is fetched when asked for.

    Attributes
    ----------
    dataset_id : str
        The ir_datasets id.
    cutoff : int
        Ranks beyond it do not count.
    rel : int
        Least grade of a relevant document.
    unit : {"auto", "query", "document"}
        What is answered or not.
    official_measure : str or None
        The measure that the collection's makers report first, in ir_measures' notation.
    n_queries, n_judgments : int or None
        As far as ir_datasets' metadata tell.
    baseline : str or None
        What to name as the baseline to compare with the collection's own ranking; None where there is no usable one.
    notes : tuple of str
        Where a setting is a guess, and why there is no baseline.
    """

    dataset_id: str
    cutoff: int
    rel: int
    unit: Literal["auto", "query", "document"]
    official_measure: str | None
    n_queries: int | None
    n_judgments: int | None
    baseline: str | None
    notes: tuple[str, ...]

    @cached_property
    def qrels(self) -> Qrels:
        """The judgments.

        Raises
        ------
        DatasetUnavailable
            If they cannot be had.
        """
        return as_qrels(load_part(self.dataset_id, "qrels"), name=self.dataset_id)

    @cached_property
    def queries(self) -> Mapping[str, str]:
        """Text of each query.

        Raises
        ------
        DatasetUnavailable
            If they cannot be had.
        """
        return {query.query_id: query.default_text() for query in load_part(self.dataset_id, "queries")}

    def baseline_run(self) -> Run:
        """Load the collection's own ranking.

        Raises
        ------
        DatasetUnavailable
            If there is none that has an order; known ones without are refused before they are fetched.
        """
        if self.baseline is None:
            raise DatasetUnavailable(f"{self.dataset_id}: {' '.join(self.notes)} Give a run file.")
        return as_run(load_part(self.dataset_id, "scoreddocs"), name=f"{DATASET_PREFIX}{self.dataset_id}")

    def source(self, part: Part) -> Source | None:
        """Tell whether a part is on this machine, and what it would download; None if there is no such part."""
        return source_of(self.dataset_id, part)


def load(dataset_id: str) -> Task:
    """Look up a task by its ir_datasets id.

    Parameters
    ----------
    dataset_id : str
        Such as ``"msmarco-document/dev"``; every id of MS MARCO and the TREC Deep Learning track is known with its settings,
        any other gets defaults and a note.

    Raises
    ------
    DatasetUnavailable
        If ir_datasets does not know the id.

    Examples
    --------
    >>> task = load("msmarco-passage/trec-dl-2020")
    >>> task.cutoff, task.rel, task.unit, task.official_measure
    (1000, 2, 'document', 'nDCG@10')
    """
    name = dataset_id.removeprefix(DATASET_PREFIX)
    dataset = dataset_of(name)
    # A dataset that was registered by hand has neither.
    metadata = (dataset.metadata() or {}) if hasattr(dataset, "metadata") else {}
    documentation = (dataset.documentation() or {}) if hasattr(dataset, "documentation") else {}
    official = list(documentation.get("official_measures") or [])
    cutoff, rel, unit, measure, notes = _settings(name, official)
    baseline, reason = _baseline(name, bool(dataset.has_scoreddocs()))
    return Task(
        dataset_id=name,
        cutoff=cutoff,
        rel=rel,
        unit=unit,
        official_measure=measure,
        n_queries=metadata.get("queries", {}).get("count"),
        n_judgments=metadata.get("qrels", {}).get("count"),
        baseline=baseline,
        notes=(*notes, *reason),
    )


def known_tasks() -> list[str]:
    """List the ids of MS MARCO and the TREC Deep Learning track that have qrels."""
    import ir_datasets

    return [name for name in sorted(ir_datasets.registry) if _is_known(name) and ir_datasets.load(name).has_qrels()]


def _is_known(name: str) -> bool:
    match = _MSMARCO.fullmatch(name)
    return match is not None and bool(_DEEP.fullmatch(match["subset"]) or _SPARSE.fullmatch(match["subset"]))


def _settings(
    name: str, official: list[str]
) -> tuple[int, int, Literal["auto", "query", "document"], str | None, tuple[str, ...]]:
    told = [int(rel) for measure in official for rel in re.findall(r"rel=(\d+)", measure)]
    first = official[0] if official else None
    match = _MSMARCO.fullmatch(name)
    if match is None or not _is_known(name):
        rel = told[0] if told else 1
        how = "by ir_datasets' official measures" if told else "a guess"
        note = f"{name} is not known here: cutoff 100 is a guess, rel {rel} is {how}, the unit follows from the qrels."
        return 100, rel, "auto", first, (note,)
    document, deep = match["kind"] == "document", _DEEP.fullmatch(match["subset"])
    if deep is None:
        cutoff = 100 if document else 10
        return cutoff, 1, "query", f"RR@{cutoff}", ()
    depth = 100 if document or match["version"] else 1000
    rel = told[0] if told else 1 if document and deep["year"] != "hard" else 2
    return depth, rel, "document", first or "nDCG@10", ()


def _baseline(name: str, has_ranking: bool) -> tuple[str | None, tuple[str, ...]]:
    if not has_ranking:
        return None, ("The collection has no ranking of its own.",)
    if name.startswith("msmarco-passage/"):
        return None, ("The collection's own ranking has no scores and is in random order: it cannot be a baseline.",)
    return f"{DATASET_PREFIX}{name}", ()
