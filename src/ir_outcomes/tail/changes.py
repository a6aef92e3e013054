"""What a contender does to each relevant document: further up or down, won or lost, and which documents these are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ir_outcomes._checks import check_choice, check_positive
from ir_outcomes._formatting import plural
from ir_outcomes._types import Bools, Floats, Missing
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.results import OPTIONAL, Result, versions
from ir_outcomes.tail.depth import TailSettings, pair_at_depth
from ir_outcomes.tail.measures import document_lengths

__all__ = ["DocumentChange", "DocumentChanges", "LengthChanges", "Moved", "length_changes"]

Moved = Literal["lost", "won", "further up", "further down"]

SIZES = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000)


class DocumentChange(NamedTuple):
    """A relevant document that at least one of two runs found.

    Attributes
    ----------
    query_id, document_id : str
        The query, and the document that is relevant to it.
    baseline_rank, contender_rank : int or None
        Ranks, lower is better; None where it is not found. Under ``ties="expected"`` the first rank of its tie level.
    change : float or None
        Search length in the contender minus search length in the baseline, ranks, lower is better; None where only one run
        found it.
    """

    query_id: str
    document_id: str
    baseline_rank: int | None
    contender_rank: int | None
    change: float | None


@dataclass(frozen=True)
class DocumentChanges(Result):
    """Relevant documents that a contender lost, won, or moved in one direction.

    Attributes
    ----------
    baseline, contender : str
        Names of the runs.
    which : {"lost", "won", "further up", "further down"}
        What happened to the documents.
    documents : tuple of DocumentChange
        The documents; those found only once by their rank, the others by the size of the change, the largest first.
    n_documents : int
        How many such documents there are, listed or not.
    settings, notes, versions
        As in `LengthChanges`.
    """

    baseline: str
    contender: str
    which: Moved
    documents: tuple[DocumentChange, ...]
    n_documents: int
    settings: TailSettings
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each document that is listed."""
        return [document._asdict() for document in self.documents]

    def _summary(self) -> str:
        return f"{self.contender} against {self.baseline}: {self.which}, {len(self.documents)} of {self.n_documents} documents"


@dataclass(frozen=True)
class LengthChanges(Result):
    """What a contender does to each relevant document; the figure is "changes", Figure 6.

    Each relevant document is counted once: in `further_up`, `further_down`, `unchanged`, `won`, `lost` or `neither`.

    Attributes
    ----------
    baseline, contender : str
        Names; changes are contender minus baseline, ranks, lower is better.
    edges : tuple of int
        Sizes of the changes: bucket i holds those from ``edges[i]`` up to, not including, ``edges[i + 1]``; the last is open.
        A size that is not a whole number, which ``ties="expected"`` gives, is rounded up.
    further_up, further_down : tuple of int
        Relevant documents that both runs found and the contender ranks higher (a smaller search length), and lower, by size.
    unchanged : int
        Relevant documents that both found, with the same search length.
    won, lost, neither : int
        Relevant documents that only the contender found, only the baseline found, and neither found.
    mean : float
        Mean change over all relevant documents, queries weighing the same: the difference of ASL, in ranks.
    settings : TailSettings
        Depth, relevance, tie rule and the search length of a missing document in `mean`.
    notes, versions
        See `ir_outcomes.Comparison`.
    moves : tuple of DocumentChange or None
        The documents that at least one run found; see `documents`. None where they are not known; JSON holds them only with
        ``to_json(per_query=True)``.
    """

    baseline: str
    contender: str
    edges: tuple[int, ...]
    further_up: tuple[int, ...]
    further_down: tuple[int, ...]
    unchanged: int
    won: int
    lost: int
    neither: int
    mean: float
    settings: TailSettings
    notes: tuple[str, ...]
    versions: Mapping[str, str]
    moves: tuple[DocumentChange, ...] | None = field(default=None, compare=False, metadata=OPTIONAL)

    @property
    def n_documents(self) -> int:
        """Number of relevant documents."""
        found_by_both = sum(self.further_up) + sum(self.further_down) + self.unchanged
        return found_by_both + self.won + self.lost + self.neither

    def documents(self, which: Moved, top: int | None = None) -> DocumentChanges:
        """List the documents that were lost, won, or moved in one direction.

        Parameters
        ----------
        which : {"lost", "won", "further up", "further down"}
            Documents that only the baseline found, that only the contender found, or that both found and the contender ranks
            higher or lower.
        top : int, optional
            Only so many: the best-ranked of those lost or won, and the largest changes. By default all.

        Raises
        ------
        ParameterError
            If a setting is invalid, or the documents are not known.

        Examples
        --------
        >>> from ir_outcomes import evaluate
        >>> runs = {"A": {"q": {"a": 3.0, "b": 2.0}}, "B": {"q": {"b": 3.0, "x": 2.0}}}
        >>> result = length_changes(evaluate({"q": {"a": 1, "b": 1}}, runs), "A", "B")
        >>> result.documents("lost").documents[0][:4]
        ('q', 'a', 1, None)
        """
        check_choice("which", which, get_args(Moved))
        check_positive("top", top, none_allowed=True)
        if self.moves is None:
            raise ParameterError(
                "the documents are not known: compute the result from qrels and runs, or write its JSON with "
                "to_json(per_query=True)"
            )
        chosen = sorted((move for move in self.moves if _moved(move) == which), key=_importance)
        return DocumentChanges(
            self.baseline,
            self.contender,
            which,
            tuple(chosen[:top]),
            len(chosen),
            self.settings,
            self.notes,
            self.versions,
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each kind and size of change, with the number and share of all relevant documents."""
        highs = [*(high - 1 for high in self.edges[1:]), None]
        counted: list[tuple[str, int | None, int | None, int]] = [
            (change, low, high, number)
            for change, numbers in (("further up", self.further_up), ("further down", self.further_down))
            for low, high, number in zip(self.edges, highs, numbers, strict=True)
        ]
        counted.append(("unchanged", 0, 0, self.unchanged))
        counted += [(change, None, None, getattr(self, change)) for change in ("won", "lost", "neither")]
        return [
            {"change": change, "from": low, "to": high, "documents": number, "share": number / self.n_documents}
            for change, low, high, number in counted
        ]

    def _summary(self) -> str:
        moved = f"{sum(self.further_up)} further up, {sum(self.further_down)} further down, {self.won} won, {self.lost} lost"
        return f"{self.contender} against {self.baseline}, {plural('relevant document', self.n_documents)}: {moved}"


def length_changes(
    ev: Evaluation,
    baseline: str,
    contender: str,
    *,
    cutoff: int | None = None,
    missing: Missing = "cutoff",
    bins: int | None = None,
) -> LengthChanges:
    """Count the relevant documents that a contender ranks higher or lower by how far, and those that only one run found.

    Parameters
    ----------
    ev : Evaluation
        The runs; see `ir_outcomes.evaluate`.
    baseline, contender : str
        Names of two runs of the evaluation.
    cutoff, missing
        See `ir_outcomes.rrie`; `missing` is for the mean change only.
    bins : int, optional
        Number of buckets of equal width in each direction, up to the depth, as in Figure 6. By default the buckets grow: 1 to
        2, 3 to 9, 10 to 29 and so on.

    Returns
    -------
    LengthChanges

    Raises
    ------
    MismatchError, ParameterError
        As `ir_outcomes.rrie`.

    Notes
    -----
    The paper gives a document that a run lacks the search length of equation 3, so its Figure 6 also counts documents that
    only one system found, by differences that are lower bounds. Here they are counted separately, as won and lost: how far
    they moved is not known.

    References
    ----------
    Alex et al. 2022, section 4.5, Figure 6.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> runs = {"A": {"q": {"x": 3.0, "a": 2.0}}, "B": {"q": {"a": 3.0, "x": 2.0}}}
    >>> result = length_changes(evaluate({"q": {"a": 1}}, runs), "A", "B")
    >>> result.further_up, result.mean
    ((1,), -1.0)
    """
    check_positive("bins", bins, none_allowed=True)
    found = pair_at_depth(ev, baseline, contender, cutoff, missing)
    first, second = found.runs
    by_first, by_second = first.rank > 0, second.rank > 0
    by_both = by_first & by_second
    changes = document_lengths(second, missing) - document_lengths(first, missing)
    edges = _growing_edges(changes[by_both]) if bins is None else _equal_edges(found.depth, bins)
    return LengthChanges(
        baseline=first.name,
        contender=second.name,
        edges=edges,
        further_up=_by_size(-changes[by_both], edges),
        further_down=_by_size(changes[by_both], edges),
        unchanged=int(np.sum(changes[by_both] == 0)),
        won=int(np.sum(by_second & ~by_first)),
        lost=int(np.sum(by_first & ~by_second)),
        neither=int(np.sum(~by_first & ~by_second)),
        mean=float(np.nanmean(second.asl(missing=missing)) - np.nanmean(first.asl(missing=missing))),
        settings=found.settings,
        notes=found.notes,
        versions=versions(),
        moves=None if ev.qrels is None else _moves(ev.qrels, first, second, np.where(by_both, changes, np.nan)),
    )


def _growing_edges(changes: Floats) -> tuple[int, ...]:
    largest = float(np.abs(changes).max(initial=1.0))
    return tuple(size for size in SIZES if size <= max(largest, 1.0))


def _equal_edges(depth: int, bins: int) -> tuple[int, ...]:
    """Give buckets the same whole number of ranks, so that together they reach the depth.

    Examples
    --------
    >>> _equal_edges(1000, 4), _equal_edges(10, 3)
    ((1, 251, 501, 751), (1, 5, 9))
    """
    width = -(-depth // bins)
    return tuple(range(1, 1 + width * bins, width))


def _by_size(changes: Floats, edges: tuple[int, ...]) -> tuple[int, ...]:
    """Count the positive changes by their size."""
    counts, _ = np.histogram(np.ceil(changes[changes > 0]), [*edges, np.inf])
    return tuple(counts.tolist())


def _moves(qrels: Qrels, baseline: SearchLengths, contender: SearchLengths, changes: Floats) -> tuple[DocumentChange, ...]:
    """List the documents that at least one run found; `changes` are NaN where only one did."""
    found = (baseline.rank > 0) | (contender.rank > 0)
    documents = qrels.docids[_judgments(qrels, baseline)][found]
    ranks = [run.rank[found].tolist() for run in (baseline, contender)]
    return tuple(
        DocumentChange(
            baseline.query_ids[query],
            document.decode(),
            before or None,
            after or None,
            None if np.isnan(change) else change,
        )
        for query, document, before, after, change in zip(
            baseline.query[found].tolist(), documents.tolist(), *ranks, changes[found].tolist(), strict=True
        )
    )


def _judgments(qrels: Qrels, lengths: SearchLengths) -> Bools:
    """Mark the judgments that are the atoms of search lengths, which may be of some of the queries only."""
    queries = set(lengths.query_ids)
    kept = np.array([query in queries for query in qrels.query_ids], dtype=bool)
    judgments: Bools = (qrels.grades >= lengths.rel) & kept[qrels.codes]
    return judgments


def _moved(move: DocumentChange) -> Moved | None:
    """Say what happened to a document; None where its search length stayed the same."""
    if move.change is None:
        return "won" if move.baseline_rank is None else "lost"
    if move.change == 0:
        return None
    return "further up" if move.change < 0 else "further down"


def _importance(move: DocumentChange) -> float:
    """Sort the best-ranked of the documents that one run found first, and the largest changes."""
    if move.change is not None:
        return -abs(move.change)
    rank = move.contender_rank if move.baseline_rank is None else move.baseline_rank
    assert rank is not None  # at least one run found the document
    return float(rank)
