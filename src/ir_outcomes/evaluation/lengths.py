"""The one computation: how far one has to read, in a run, to each relevant document.

`search_lengths` computes it; every measure, outcome, facet and bootstrap is a reduction of it.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple, Self, get_args

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import MismatchError, ParameterError, some, warn
from ir_outcomes.evaluation.clusters import by_first_occurrence, unless_independent
from ir_outcomes.evaluation.ranking import expectations, spans
from ir_outcomes.formatting import plural
from ir_outcomes.types import OUTCOMES as OUTCOMES
from ir_outcomes.types import (
    Bools,
    Floats,
    Ints,
    Missing,
    Ties,
    Unit,
    check_choice,
    check_positive,
    divided,
)

PER_ATOM = ("rank", "irrelevant_above", "level_relevant", "level_irrelevant")
FLAGS = ("listed", "reordered", "against_ranks")  # of each query, yes or no
PER_QUERY = ("retrieved", "unjudged", "digests", *FLAGS)


@dataclass(frozen=True, eq=False)
class SearchLengths:
    """Where a run ranks each relevant document.

    An *atom* is a (query, relevant document) pair. Atoms stand in the order of the qrels, so the
    arrays of two runs under the same qrels and settings line up element by element.

    Attributes
    ----------
    name : str
        The run.
    query_ids : tuple of str
        All queries of the qrels, in their order; the rows of every per-query array.
    offsets : (n_queries + 1,) int64 array
        The atoms of query i are ``offsets[i]:offsets[i + 1]``; none for an unanswerable query.
    rank : (n_atoms,) int64 array
        Rank of the document, from 1; 0 where it is not within the cutoff. Under ``ties="expected"``
        the first of its tie level.
    irrelevant_above : (n_atoms,) int64 array
        Non-relevant documents above the document, or above its tie level; 0 where it is not found.
    level_relevant, level_irrelevant : (n_atoms,) int64 arrays
        Relevant and other documents in its tie level: 1 and 0 under every rule that gives one
        order.
    retrieved : (n_queries,) int64 array
        Documents that the run returned within the cutoff.
    unjudged : (n_queries, n_depths) int64 array
        Unjudged documents within each of the `unjudged_depths`.
    unjudged_depths : tuple of int or None
        Ascending; None stands for the whole list.
    listed : (n_queries,) bool array
        Whether the run holds the query at all.
    reordered : (n_queries,) bool array
        Whether the first relevant document would have another rank if ties stayed in the order of
        the input.
    against_ranks : (n_queries,) bool array
        Whether the run is a file in which a document scores higher than one with a smaller rank.
    digests : (n_queries,) int64 array
        Digest of the document ids of the query's whole list, in their order: what makes two runs
        identical.
    ignored : tuple of str
        Queries of the run that the qrels lack.
    known : bool
        Whether the qrels have any document of the run, in whichever query.
    cutoff, rel, ties, judged_only
        See `search_lengths`.
    qrels_digest : str
        Hash of the qrels.
    metadata : str
        See `Run.metadata`.
    clusters : (n_queries,) int64 array or None
        The cluster of each query, numbered; None where no two answerable queries share one.
    """

    name: str
    query_ids: tuple[str, ...]
    offsets: Ints
    rank: Ints
    irrelevant_above: Ints
    level_relevant: Ints
    level_irrelevant: Ints
    retrieved: Ints
    unjudged: Ints
    unjudged_depths: tuple[int | None, ...]
    listed: Bools
    reordered: Bools
    against_ranks: Bools
    digests: Ints
    ignored: tuple[str, ...]
    known: bool
    cutoff: int | None
    rel: int
    ties: Ties
    judged_only: bool
    qrels_digest: str
    metadata: str = ""
    clusters: Ints | None = None

    def __repr__(self) -> str:
        return (
            f"SearchLengths({self.name!r}, {len(self.query_ids)} queries, cutoff={self.cutoff},"
            f" rel={self.rel})"
        )

    def at(self, cutoff: int | None) -> Self:
        """Return the search lengths at a smaller cutoff, without looking at the run again; None asks for the whole lists.

        Unjudged documents are counted only at the depths that were kept. Raises `MismatchError` if
        these search lengths were computed with a smaller cutoff.
        """
        check_positive("cutoff", cutoff, none_allowed=True)
        if cutoff == self.cutoff:
            return self
        if cutoff is None or (self.cutoff is not None and cutoff > self.cutoff):
            wanted = "the whole lists" if cutoff is None else f"cutoff={cutoff}"
            raise MismatchError(
                f"{self.name} was evaluated with `cutoff={self.cutoff}`, which says nothing about"
                f" {wanted}; evaluate the run again"
            )
        found = (self.rank > 0) & (self.rank <= cutoff)
        kept = [
            column
            for column, depth in enumerate(self.unjudged_depths)
            if depth is not None and depth <= cutoff
        ]
        return replace(
            self,
            rank=np.where(found, self.rank, 0),
            irrelevant_above=np.where(found, self.irrelevant_above, 0),
            level_relevant=np.where(found, self.level_relevant, 1),
            level_irrelevant=np.where(found, self.level_irrelevant, 0),
            retrieved=np.minimum(self.retrieved, cutoff),
            unjudged=self.unjudged[:, kept],
            unjudged_depths=tuple(self.unjudged_depths[column] for column in kept),
            cutoff=cutoff,
        )

    def restrict(self, queries: Ints) -> Self:
        """Return the search lengths of some of the queries, given as (m,) ascending indices into `query_ids`."""
        relevant = self.relevant[queries]
        atoms, offsets = spans(self.offsets[queries], relevant)
        arrays: dict[str, Any] = {field: getattr(self, field)[atoms] for field in PER_ATOM}
        arrays |= {field: getattr(self, field)[queries] for field in PER_QUERY}
        query_ids = tuple(self.query_ids[query] for query in queries.tolist())
        digest = hashlib.sha256("\n".join((self.qrels_digest, *query_ids)).encode()).hexdigest()[
            :32
        ]
        clusters = None
        if self.clusters is not None:
            clusters = unless_independent(by_first_occurrence(self.clusters[queries]), relevant > 0)
        return replace(
            self,
            query_ids=query_ids,
            offsets=offsets,
            qrels_digest=digest,
            clusters=clusters,
            **arrays,
        )

    def sharing(self, first: Self) -> Self:
        """Return the same, which holds what is the same in all runs only once: half of the memory under most rules."""
        levels = () if self.ties == "expected" else ("level_relevant", "level_irrelevant")
        return replace(
            self, **{field: getattr(first, field) for field in ("query_ids", "offsets", *levels)}
        )

    def is_identical_to(self, other: Self) -> bool:
        """Return whether the other run has the same documents in the same order for every query; at any cutoff."""
        return np.array_equal(self.digests, other.digests)

    def unjudged_within(self, depth: int | None) -> Ints | None:
        """(n_queries,) int64 array: unjudged documents within this depth; None where that depth was not kept."""
        if depth not in self.unjudged_depths:
            return None
        return self.unjudged[:, self.unjudged_depths.index(depth)]

    @cached_property
    def relevant(self) -> Ints:
        """(n_queries,) int64 array: number of relevant documents."""
        return np.diff(self.offsets)

    @property
    def answerable(self) -> Bools:
        """(n_queries,) bool array: whether the query has a relevant document."""
        return self.relevant > 0

    @cached_property
    def answerable_queries(self) -> tuple[str, ...]:
        """The queries that have a relevant document."""
        return tuple(compress(self.query_ids, self.answerable.tolist()))

    @property
    def depth(self) -> int:
        """Number of documents of the longest list, within the cutoff."""
        return int(self.retrieved.max(initial=0))

    @cached_property
    def query(self) -> Ints:
        """(n_atoms,) int64 array: the query of each atom."""
        return np.repeat(np.arange(len(self.query_ids)), self.relevant)

    @cached_property
    def relevant_retrieved(self) -> Ints:
        """(n_queries,) int64 array: relevant documents found within the cutoff."""
        return np.bincount(self.query[self.rank > 0], minlength=len(self.query_ids))

    def atoms(self) -> Floats:
        """(n_atoms,) float array: irrelevant documents above each document, plus 1; NaN where it is not found.

        ASL_{q,d} in ranks, lower is better (Alex et al. 2022, equations 1 and 2).
        """
        found = self.rank > 0
        return np.where(found, self.irrelevant_above + 1 + self.level_irrelevant / 2, np.nan)

    def esl(self, need: int = 1) -> Floats:
        """(n_queries,) float array: expected search length, the rank of the `need`-th relevant document; lower is better.

        From 1; NaN where the query is unanswered. Under ``ties="expected"`` the expected rank,
        given that there is an answer. Lin et al. 2021, section 4; Cooper 1968, who counts only the
        irrelevant documents, and includes `need`.
        """
        return self._first(need)[1]

    def answered(self, need: int = 1) -> Floats:
        """(n_queries,) float array: whether the `need`-th relevant document is within the cutoff, 1 or 0; higher is better.

        0 for an unanswerable query. Under ``ties="expected"`` the probability. Lin et al. 2021,
        section 4.
        """
        return self._first(need)[0]

    def reciprocal_rank(self, need: int = 1) -> Floats:
        """(n_queries,) float array: reciprocal of the rank of the `need`-th relevant document; higher is better.

        0 where the query is unanswered. Under ``ties="expected"`` the expected reciprocal.
        """
        return self._first(need)[2]

    def mean_esl(self, need: int = 1) -> float | None:
        """Mean of `esl` over the answered queries, each weighted with its probability of an answer; None without any."""
        probability, rank, _ = self._first(need)
        answered = probability > 0
        if not answered.any():
            return None
        return float(np.average(rank[answered], weights=probability[answered]))

    def coverage(self, need: int = 1) -> float | None:
        """Share of the answerable queries that are answered, between 0 and 1; None where no query is answerable."""
        if self.answerable.any():
            return float(self.answered(need)[self.answerable].mean())
        return None

    def asl(self, first: int | None = None, missing: Missing = "retrieved") -> Floats:
        """Atomized search length: mean over a query's relevant documents of irrelevant documents above, plus 1.

        Parameters
        ----------
        first : int, optional
            Only the `first` best-ranked relevant documents, missing ones last (the paper's
            ASL@g1-n).
        missing : {"retrieved", "cutoff"}
            Search length of a relevant document that was not found: the number of irrelevant
            documents retrieved (equation 3 as printed; with a warning where the run returned so
            little that a missing document scores no worse than one ranked first), or that of a list
            filled up to the cutoff with irrelevant documents, plus 1.

        Returns
        -------
        (n_queries,) float array
            Ranks, lower is better; NaN for an unanswerable query; under "retrieved", inf where the
            run returned nothing.

        Raises
        ------
        ParameterError
            If there is no cutoff to fill up to, or it splits a tie level under ``ties="expected"``.

        References
        ----------
        Alex et al. 2022, equations 1 to 5.
        """
        check_positive("first", first, none_allowed=True)
        lengths = self.document_lengths(missing)
        counted = np.ones(len(lengths), dtype=bool) if first is None else self._place < first
        return means_by_query(self.query[counted], lengths[counted], len(self.query_ids))

    def document_lengths(self, missing: Missing = "retrieved") -> Floats:
        """(n_atoms,) float array: search length of every relevant document, found or not, which `asl` averages; see there."""
        check_choice("missing", missing, get_args(Missing))
        if self.ties == "expected" and self.cutoff is not None:
            last = self.rank - 1 + self.level_relevant + self.level_irrelevant
            split = np.unique(self.query[(self.rank > 0) & (last > self.cutoff)])
            if len(split):
                raise ParameterError(
                    f"the cutoff {self.cutoff} splits a group of tied documents in"
                    f" {self._named(split)}, where ASL has no expectation; leave the cutoff out, or"
                    " use `ties='trec'`",
                    ties="expected",
                )
        irrelevant = self.retrieved - self.relevant_retrieved
        if missing == "retrieved":
            short = np.flatnonzero(
                self.answerable & (self.relevant_retrieved < self.relevant) & (irrelevant <= 1)
            )
            if len(short):
                warn(
                    f"ASL of {self.name}: in {self._named(short)} there are no results, which"
                    " scores inf, or so few that a missing document scores no worse than one"
                    " ranked first; use ASL(missing='cutoff')@k"
                )
            length_if_missing = np.where(self.retrieved > 0, irrelevant, np.inf)
        elif self.cutoff is None:
            raise ParameterError(
                "needs a cutoff: write ASL(missing='cutoff')@1000", missing=missing
            )
        else:
            length_if_missing = self.cutoff - self.relevant_retrieved + 1.0
        # The s-th of r relevant documents in a tie level has i s/(r+1) of its i others above it.
        s = self._place - (self.rank - 1 - self.irrelevant_above) + 1
        lengths = (self.irrelevant_above + 1) + (self.level_irrelevant * s) / (
            self.level_relevant + 1
        )
        return np.where(self.rank > 0, lengths, length_if_missing[self.query])

    def _named(self, queries: Ints) -> str:
        return (
            f"{plural('query', len(queries))}"
            f" ({some([self.query_ids[query] for query in queries])})"
        )

    @cached_property
    def _order(self) -> Ints:
        """Atoms by query and rank, missing ones last."""
        last = np.iinfo(np.int64).max
        ranks = np.where(self.rank > 0, self.rank, last)
        return np.lexsort((ranks, self.query))

    @cached_property
    def _place(self) -> Ints:
        """Place of each atom among the relevant documents of its query, from 0, missing ones last."""
        place = np.empty_like(self._order)
        place[self._order] = np.arange(len(place)) - self.offsets[:-1][self.query]
        return place

    def _first(self, need: int) -> tuple[Floats, Floats, Floats]:
        """Return per query the probability of an answer, the expected rank given one, and the expected reciprocal rank."""
        check_positive("need", need)
        if self.ties == "expected":
            return self._expected_first(need)
        ranks = np.zeros(len(self.query_ids), dtype=np.int64)
        wanted = self._place == need - 1
        ranks[self.query[wanted]] = self.rank[wanted]
        answered = ranks > 0
        return (
            answered.astype(np.float64),
            np.where(answered, ranks, np.nan),
            divided(1.0, ranks, answered, otherwise=0.0),
        )

    def _expected_first(self, need: int) -> tuple[Floats, Floats, Floats]:
        """Compute `_first` under Cooper's weak ordering, query by query."""
        n_queries = len(self.query_ids)
        probability = np.zeros(n_queries)
        rank = np.full(n_queries, np.nan)
        reciprocal = np.zeros(n_queries)
        for query in range(n_queries):
            atoms = self._order[self.offsets[query] : self.offsets[query + 1]]
            atoms = atoms[self.rank[atoms] > 0]
            if len(atoms) < need:
                continue
            atom = atoms[need - 1]
            before = int(self.rank[atom]) - 1
            needed = need - int(np.sum(self.rank[atoms] <= before))
            level = int(self.level_relevant[atom]), int(self.level_irrelevant[atom])
            probability[query], rank[query], reciprocal[query] = expectations(
                before, *level, needed, self.cutoff
            )
        return probability, rank, reciprocal


def means_by_query(query: Ints, values: npt.NDArray[Any], n_queries: int) -> Floats:
    """(n_queries,) means of the values, given with the query of each; NaN where a query has none."""
    totals = np.bincount(query, weights=values, minlength=n_queries)
    numbers = np.bincount(query, minlength=n_queries)
    return divided(totals, numbers, numbers > 0)


def metadata_of(runs: Iterable[SearchLengths]) -> dict[str, str]:
    """Return the metadata of the runs that have any, by name, as results keep them."""
    return {run.name: run.metadata for run in runs if run.metadata}


def check_comparable(baseline: SearchLengths, contender: SearchLengths) -> None:
    """Refuse to set side by side what was not made from the same qrels with the same settings."""
    for setting in ("qrels_digest", "cutoff", "rel", "ties", "judged_only"):
        a = getattr(baseline, setting)
        b = getattr(contender, setting)
        if a != b:
            what = setting.removesuffix("_digest")
            raise MismatchError(
                f"{baseline.name} and {contender.name} were evaluated with different {what} ({a}"
                f" and {b}); evaluate both in the same way"
            )
    first = baseline.clusters
    second = contender.clusters
    if first is not second and (
        first is None or second is None or not np.array_equal(first, second)
    ):
        raise MismatchError(
            f"{baseline.name} and {contender.name} were evaluated with different clusters; give"
            " both the same"
        )


class Items(NamedTuple):
    """What a pair of runs is compared on: queries, or relevant documents, with their search lengths; NaN where not found."""

    query: Ints  # (n,) index into all queries of the qrels
    lengths: tuple[Floats, Floats]  # (n,) in the baseline and in the contender

    @property
    def found(self) -> tuple[Bools, Bools]:
        """Pair of (n,) bool arrays: whether baseline and contender found it."""
        return ~np.isnan(self.lengths[0]), ~np.isnan(self.lengths[1])

    @property
    def outcome(self) -> Ints:
        """(n,) int64 array: the outcome, as an index into `OUTCOMES`."""
        baseline, contender = self.found
        return baseline + 2 * contender.astype(np.int64)


def match(baseline: SearchLengths, contender: SearchLengths, unit: Unit, need: int = 1) -> Items:
    """Set two runs side by side."""
    check_comparable(baseline, contender)
    if unit == "document":
        return Items(baseline.query, (baseline.atoms(), contender.atoms()))
    answerable = np.flatnonzero(baseline.answerable)
    return Items(answerable, (baseline.esl(need)[answerable], contender.esl(need)[answerable]))
