"""Search lengths: how far to read, in a run, to each relevant document.

`search_lengths` computes it; every measure, outcome, facet and bootstrap is a reduction of it.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ir_outcomes.arguments import with_checked_methods
from ir_outcomes.choices import Bools, Floats, Ints, Missing, Positive, Ties, divided
from ir_outcomes.errors import MismatchError, ParameterError, some, warn
from ir_outcomes.evaluation.diagnosis import Diagnosis
from ir_outcomes.evaluation.ranking import expectations, spans
from ir_outcomes.formatting import plural

SETTINGS = ("cutoff", "rel", "ties", "judged_only", "drop_self")  # of `search_lengths`
Ranks = npt.NDArray[np.int32]


@with_checked_methods
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
    rank : (n_atoms,) int32 array
        Rank of the document, from 1; 0 where it is not within the cutoff. Under ``ties="expected"``
        the first of its tie level.
    level_size : (n_atoms,) int32 array
        Documents in its tie level: 1 under every rule that gives one order.
    retrieved : (n_queries,) int32 array
        Documents that the run returned within the cutoff.
    cutoff, rel, ties, judged_only, drop_self
        See `search_lengths`.
    qrels_digest : str
        Hash of the qrels.
    diagnosis : Diagnosis
        What the run looks like as it was read, for notes.
    clusters : (n_queries,) int64 array or None
        The cluster of each query, numbered; None where no two answerable queries share one.
    """

    name: str
    query_ids: tuple[str, ...]
    offsets: Ints
    rank: Ranks
    level_size: Ranks
    retrieved: Ranks
    cutoff: int | None
    rel: int
    ties: Ties
    judged_only: bool
    drop_self: bool
    qrels_digest: str
    diagnosis: Diagnosis
    clusters: Ints | None = None

    def __repr__(self) -> str:
        return (
            f"SearchLengths({self.name!r}, {len(self.query_ids)} queries, cutoff={self.cutoff},"
            f" rel={self.rel})"
        )

    def at(self, cutoff: Positive | None) -> Self:
        """Return the search lengths at a smaller cutoff, None for the whole lists.

        Raises `MismatchError` if these search lengths were computed with a smaller cutoff.
        """
        if cutoff == self.cutoff:
            return self
        if cutoff is None or (self.cutoff is not None and cutoff > self.cutoff):
            depth = "the whole lists" if cutoff is None else f"cutoff={cutoff}"
            raise MismatchError(
                f"{self.name} was evaluated with `cutoff={self.cutoff}`, which says nothing about"
                f" {depth}; evaluate the run again"
            )
        is_within = (self.rank > 0) & (self.rank <= cutoff)
        level_size = self.level_size
        if self.ties == "expected":
            level_size = np.where(is_within, level_size, 1)
        shorter = replace(
            self,
            rank=np.where(is_within, self.rank, 0),
            level_size=level_size,
            retrieved=np.minimum(self.retrieved, cutoff),
            cutoff=cutoff,
        )
        # What is found within the cutoff has the same numbers.
        vars(shorter).update(query=self.query, _number=self._number)
        return shorter

    def restrict(self, queries: Ints) -> Self:
        """Return the search lengths of some queries, given as ascending indices."""
        relevant = self.relevant[queries]
        atoms, offsets = spans(self.offsets[queries], relevant)
        query_ids = tuple(self.query_ids[query] for query in queries.tolist())
        digest = hashlib.sha256("\n".join((self.qrels_digest, *query_ids)).encode()).hexdigest()[
            :32
        ]
        clusters = None
        if self.clusters is not None:
            numbers = np.unique(self.clusters[queries], return_inverse=True)[1]
            clusters = unless_independent(numbers, relevant > 0)
        return replace(
            self,
            query_ids=query_ids,
            offsets=offsets,
            rank=self.rank[atoms],
            level_size=self.level_size[atoms],
            retrieved=self.retrieved[queries],
            qrels_digest=digest,
            diagnosis=self.diagnosis.restrict(queries),
            clusters=clusters,
        )

    def sharing(self, first: Self) -> Self:
        """Return the same, which holds what is the same in all runs only once."""
        level_size = self.level_size if self.ties == "expected" else first.level_size
        return replace(
            self, query_ids=first.query_ids, offsets=first.offsets, level_size=level_size
        )

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
        """Number of documents of the longest list within the cutoff, of the whole run."""
        longest = self.diagnosis.longest
        return min(longest, self.cutoff or longest)

    @cached_property
    def query(self) -> Ints:
        """(n_atoms,) int64 array: the query of each atom."""
        return np.repeat(np.arange(len(self.query_ids)), self.relevant)

    @cached_property
    def relevant_retrieved(self) -> Ints:
        """(n_queries,) int64 array: relevant documents found within the cutoff."""
        return np.bincount(self.query[self.rank > 0], minlength=len(self.query_ids))

    @cached_property
    def irrelevant_above(self) -> Ints:
        """(n_atoms,) int64 array: irrelevant documents above its tie level."""
        return np.where(self.rank > 0, self.rank - 1 - self._levels[0], 0)

    @property
    def level_relevant(self) -> Ints:
        """(n_atoms,) int64 array: relevant documents in its tie level."""
        return self._levels[1]

    @property
    def level_irrelevant(self) -> Ints:
        """(n_atoms,) int64 array: other documents in its tie level."""
        return np.where(self.rank > 0, self.level_size - self._levels[1], 0)

    def atoms(self) -> Floats:
        """(n_atoms,) float array: irrelevant documents above, plus 1, NaN if missing.

        ASL_{q,d} in ranks, lower is better (Alex et al. 2022, equations 1 and 2).
        """
        lengths = self.irrelevant_above + 1.0
        if self.ties == "expected":
            lengths += self.level_irrelevant / 2
        return np.where(self.rank > 0, lengths, np.nan)

    def esl(self, need: Positive = 1) -> Floats:
        """(n_queries,) float array: rank of the `need`-th relevant document.

        Expected search length, from 1, lower is better; NaN where the query is unanswered. Under
        ``ties="expected"`` the expected rank,
        given that there is an answer. Lin et al. 2021, section 4; Cooper 1968, who counts only the
        irrelevant documents, and includes `need`.
        """
        return self._first(need)[1]

    def answered(self, need: Positive = 1) -> Floats:
        """(n_queries,) float array: whether that many are within the cutoff.

        1 or 0, higher is better; 0 for an unanswerable query. Under ``ties="expected"`` the
        probability. Lin et al. 2021, section 4.
        """
        return self._first(need)[0]

    def reciprocal_rank(self, need: Positive = 1) -> Floats:
        """(n_queries,) float array: reciprocal rank of the `need`-th relevant one.

        Higher is better; 0 where the query is unanswered. Under ``ties="expected"`` the expected
        reciprocal.
        """
        return self._first(need)[2]

    def mean_esl(self, need: Positive = 1) -> float | None:
        """Mean of `esl` over the answered queries, weighted by their chances."""
        probability, rank, _ = self._first(need)
        answered = probability > 0
        if not answered.any():
            return None
        return float(np.average(rank[answered], weights=probability[answered]))

    def asl(self, first: Positive | None = None, missing: Missing = "retrieved") -> Floats:
        """Atomized search length: mean of irrelevant documents above, plus 1.

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
        lengths = self.document_lengths(missing)
        query = self.query
        if first is not None:
            counted = self._number < first
            query, lengths = query[counted], lengths[counted]
        return means_by_query(query, lengths, len(self.query_ids))

    def document_lengths(self, missing: Missing = "retrieved") -> Floats:
        """(n_atoms,) float array: search length of each document, found or not."""
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
                    f" ranked first; use ASL(missing='cutoff')@{self.cutoff or 100}"
                )
            length_if_missing = np.where(self.retrieved > 0, irrelevant, np.inf)
        elif self.cutoff is None:
            raise ParameterError(
                "needs a cutoff: write ASL(missing='cutoff')@1000", missing=missing
            )
        else:
            length_if_missing = self.cutoff - self.relevant_retrieved + 1.0
        lengths = self.irrelevant_above + 1.0
        if self.ties == "expected":
            # The s-th of r relevant documents in a level has i s/(r+1) of its i others above it.
            s = self._number - (self.rank - 1 - self.irrelevant_above) + 1
            lengths += (self.level_irrelevant * s) / (self.level_relevant + 1)
        return np.where(self.rank > 0, lengths, length_if_missing[self.query])

    def _named(self, queries: Ints) -> str:
        return (
            f"{plural('query', len(queries))}"
            f" ({some([self.query_ids[query] for query in queries])})"
        )

    @property
    def _order(self) -> Ints:
        """Atoms by query and rank, missing ones last."""
        ranks = np.where(self.rank > 0, self.rank, np.iinfo(np.int32).max)
        return np.argsort(self.query << 32 | ranks, kind="stable")

    @cached_property
    def _number(self) -> Ints:
        """Number of each atom in its query by rank, from 0, missing ones last."""
        order = self._order
        number = np.empty_like(order)
        number[order] = np.arange(len(number)) - self.offsets[:-1][self.query]
        return number

    @cached_property
    def _levels(self) -> tuple[Ints, Ints]:
        """For each atom, relevant documents above its tie level, and in it."""
        ones = np.ones(len(self.rank), dtype=np.int64)
        if self.ties != "expected":
            return self._number, ones
        order = self._order
        query = self.query[order]
        rank = self.rank[order]
        is_first = np.append(True, (np.diff(query) != 0) | (np.diff(rank) != 0))[: len(rank)]
        begins = np.flatnonzero(is_first)
        sizes = np.diff(begins, append=len(rank))
        above = np.empty_like(ones)
        above[order] = np.repeat(begins, sizes) - self.offsets[:-1][query]
        together = np.empty_like(ones)
        together[order] = np.repeat(sizes, sizes)
        return above, np.where(self.rank > 0, together, 1)

    def _first(self, need: int) -> tuple[Floats, Floats, Floats]:
        """Return chance, expected rank and expected reciprocal rank of an answer."""
        if self.ties == "expected":
            return self._expected_first(need)
        ranks = np.zeros(len(self.query_ids), dtype=np.int64)
        is_needed = self._number == need - 1
        ranks[self.query[is_needed]] = self.rank[is_needed]
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
        order = self._order
        for query in range(n_queries):
            atoms = order[self.offsets[query] : self.offsets[query + 1]]
            atoms = atoms[self.rank[atoms] > 0]
            if len(atoms) < need:
                continue
            atom = atoms[need - 1]
            n_above = int(self.rank[atom]) - 1
            needed = need - int(np.sum(self.rank[atoms] <= n_above))
            level = int(self.level_relevant[atom]), int(self.level_irrelevant[atom])
            probability[query], rank[query], reciprocal[query] = expectations(
                n_above, *level, needed, self.cutoff
            )
        return probability, rank, reciprocal


def means_by_query(query: Ints, values: npt.NDArray[Any], n_queries: int) -> Floats:
    """(n_queries,) means of the values of each query, NaN where there is none."""
    totals = np.bincount(query, weights=values, minlength=n_queries)
    numbers = np.bincount(query, minlength=n_queries)
    return divided(totals, numbers, numbers > 0)


def check_comparable(baseline: SearchLengths, contender: SearchLengths) -> None:
    """Refuse to compare what has other qrels or settings."""
    for setting in ("qrels_digest", *SETTINGS):
        a = getattr(baseline, setting)
        b = getattr(contender, setting)
        if a != b:
            noun = setting.removesuffix("_digest")
            raise MismatchError(
                f"{baseline.name} and {contender.name} were evaluated with different {noun} ({a}"
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


def unless_independent(codes: Ints, answerable: Bools) -> Ints | None:
    """Return the clusters, None where no two answerable queries share one."""
    if np.bincount(codes[answerable]).max(initial=0) > 1:
        return codes
    return None
