"""A measure's value for every run and query, with its direction."""

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import ir_measures
import numpy as np

from ir_outcomes.arguments import check_fields, with_checked_methods
from ir_outcomes.choices import Bools, Floats, Ints, divided
from ir_outcomes.errors import (
    IrOutcomesError,
    MismatchError,
    ParameterError,
    some,
)
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.named_measures import direction_of, is_of_lengths
from ir_outcomes.evaluation.remarks import notes_on_ids
from ir_outcomes.formatting import plural
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.files import read_ids
from ir_outcomes.reading.measure_names import (
    bounds_of,
    cutoff_of,
    is_gain,
    is_reciprocal,
)
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, check_names
from ir_outcomes.values.names import Kind, Range, kind_of


@dataclass(frozen=True, eq=False)
class AllQueries:
    """Values of another tool for all queries of which any run has one.

    Attributes
    ----------
    query_ids : tuple of str
        All of them.
    values : (n_runs, n_queries) float array
        NaN where there is no value.
    missing : (n_runs, n_queries) bool array
        Where the tool has no value although the measure has one for every query.
    """

    query_ids: tuple[str, ...]
    values: Floats
    missing: Bools


@with_checked_methods
@dataclass(frozen=True, eq=False)
class Scores:
    """Values of a measure.

    Attributes
    ----------
    measure : str
        Name of the measure.
    higher_is_better : bool
        Its direction.
    runs : tuple of str
        Names of the runs.
    query_ids : tuple of str
        The queries; of values of another tool those of which all runs have one.
    values : (n_runs, n_queries) float array
        NaN where the measure is undefined.
    clusters : (n_queries,) int64 array or None
        The cluster of each query; None where queries are independent.
    range : pair of float, or None
        The smallest and largest value, said or known by the measure's name.
    missing : mapping of str to int
        Of values of another tool: for each run the number of queries that others have and it lacks.
    everywhere : AllQueries or None
        Their values, where any is missing.
    decimals : int or None
        Decimals that such values were rounded to; None where they were not.
    rel : int or None
        Smallest grade of a relevant document, where it is known.
    n_unanswerable : int or None
        Queries of the qrels that are left out, because they have no relevant document; None where
        there are no qrels.
    about : tuple of Note
        What was found when the values were read.
    """

    measure: str
    higher_is_better: bool
    runs: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats
    clusters: Ints | None = None
    range: Range | None = None
    missing: Mapping[str, int] = field(default_factory=dict)
    everywhere: AllQueries | None = None
    decimals: int | None = None
    rel: int | None = None
    n_unanswerable: int | None = None
    about: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        check_names(self.runs)
        if self.values.ndim != 2 or len(self.values) != len(self.runs):
            raise ParameterError(
                "must have a row for each run, and a column for each query",
                values=self.values.shape,
            )
        if self.range is None:
            object.__setattr__(self, "range", bounds_of(self.measure))
        infinite = np.isinf(self.values).sum(axis=1)
        if infinite.any():  # so would be the mean
            run = int(np.argmax(infinite))
            problem = (
                f"{self.measure} of {self.runs[run]} is infinite for"
                f" {plural('query', int(infinite[run]))} without results"
            )
            raise ParameterError(f"{problem}; compare runs with `missing='cutoff'`")

    def __repr__(self) -> str:
        return (
            f"<Scores: {self.measure}, {plural('run', len(self.runs))},"
            f" {plural('query', len(self.query_ids))}>"
        )

    def means(self) -> Floats:
        """(n_runs,) float array: means over the queries with a value, NaN without one."""
        defined = ~np.isnan(self.values)
        totals = np.where(defined, self.values, 0.0).sum(axis=1)
        numbers = defined.sum(axis=1)
        return divided(totals, numbers, numbers > 0)

    def gains(self) -> Floats:
        """(n_runs, n_queries) float array: values, negated where lower is better."""
        return self.values if self.higher_is_better else -self.values

    @property
    def kind(self) -> Kind:
        """How values are read: as ranks, their reciprocals, gains, or 0 and 1."""
        return kind_of(self.measure, self.values, self.higher_is_better)

    @property
    def cutoff(self) -> int | None:
        """The cutoff in the measure's name, None without one."""
        return cutoff_of(self.measure)

    def most_missing(self, runs: Iterable[str]) -> int:
        """Return the largest number of queries that a run lacks and others have."""
        return max(self.missing.get(run, 0) for run in runs)

    def take(self, positions: Sequence[int]) -> "Scores":
        """Return the scores of the runs at these positions."""
        rows = list(positions)
        if not set(rows) <= set(range(len(self.runs))):
            raise ParameterError(f"must be from 0 to {len(self.runs) - 1}", places=rows)
        runs = tuple(self.runs[row] for row in rows)
        everywhere = self.everywhere and replace(
            self.everywhere,
            values=self.everywhere.values[rows],
            missing=self.everywhere.missing[rows],
        )
        missing = {run: self.missing[run] for run in runs if run in self.missing}
        return replace(
            self, runs=runs, values=self.values[rows], everywhere=everywhere, missing=missing
        )

    def with_worst(self, complete: Sequence[str] = ()) -> "Scores | None":
        """Return the values with the worst of the range for what is missing.

        They are of all queries that the `complete` runs have. None where nothing is missing, the
        range of the measure is not known, or queries come in clusters.
        """
        if self.everywhere is None or self.range is None or self.clusters is not None:
            return None
        rows = [self.runs.index(run) for run in complete]
        columns = np.flatnonzero(~self.everywhere.missing[rows].any(axis=0))
        worst = self.range[not self.higher_is_better]
        values = np.where(self.everywhere.missing, worst, self.everywhere.values)[:, columns]
        query_ids = tuple(self.everywhere.query_ids[column] for column in columns.tolist())
        return replace(self, query_ids=query_ids, values=values, everywhere=None)

    def on(self, queries: Iterable[str] | str | os.PathLike[str] | None) -> "Scores":
        """Keep some of the queries, a list or file of ids, by default all."""
        if queries is None:
            return self
        positions = positions_of_queries(queries, self.query_ids)
        ids = tuple(self.query_ids[column] for column in positions)
        clusters = None if self.clusters is None else self.clusters[positions]
        values = self.values[:, positions]
        return replace(
            self, query_ids=ids, values=values, clusters=clusters, everywhere=None, missing={}
        )

    def lacks(self, run: str) -> tuple[str, ...]:
        """Return the queries of which another tool has no value for a run."""
        if self.everywhere is None:
            return ()
        columns = np.flatnonzero(self.everywhere.missing[self.runs.index(run)])
        return tuple(self.everywhere.query_ids[column] for column in columns.tolist())

    def runs_of_zeros(self) -> list[str]:
        """Return the runs whose values are 0 for every query, as where nothing ran."""
        zeros = (self.values == 0).all(axis=1).tolist()
        return [run for run, is_zero in zip(self.runs, zeros, strict=True) if is_zero]

    def notes(self) -> tuple[Note | str, ...]:
        """Say what a careful reader must know about these values."""
        undefined = int(np.isnan(self.values).any(axis=0).sum())
        if not undefined:
            return ()
        text = (
            f"{self.measure} is undefined for some run on {undefined} of"
            f" {plural('query', len(self.query_ids))}; the mean of each run is over its own"
            " defined queries, so a run that answers fewer queries can look better: read"
            " coverage beside it, or use ESL(unanswered='cutoff+1')@100 or RR."
        )
        return (text,)

    def notes_on_output(self) -> Iterator[Note]:
        """Say which values of another tool are missing, zeros, or rounded."""
        yield from self.about
        if self.everywhere is not None:
            parts = [
                f"{run} has none for {number} ({some(self.lacks(run))})"
                for run, number in self.missing.items()
                if number
            ]
            text = (
                f"of {self.measure}: {'; '.join(parts)}. Compared are the {len(self.query_ids)} of"
                f" {plural('query', len(self.everywhere.query_ids))} that all runs have."
            )
            yield note("missing-values", text, [run for run in self.missing if self.missing[run]])
        for run in self.runs_of_zeros():
            n = plural("query", len(self.query_ids))
            text = f"{self.measure} of {run} is 0 for every query (all {n}); did it run?"
            yield note("equal-scores", text, [run])
        if self.clusters is None:
            yield from notes_on_ids(self.query_ids)
        if self.decimals is not None:
            effect = "small differences look like ties"
            if is_reciprocal(self.measure):
                longest = math.isqrt(10**self.decimals)
                effect = f"ranks beyond about {longest} cannot be told exactly"
            yield note(
                "values", f"Values are rounded to {plural('place', self.decimals)}: {effect}."
            )

    def problems(self, run: str, max_missing: float) -> list[str]:
        """Return why a pipeline must not let the values of a run pass, whatever they say."""
        problems = []
        if run in self.runs_of_zeros() and is_gain(self.measure):
            problems.append(f"{self.measure} of {run} is 0 for every query.")
        queries = self.lacks(run)
        if self.everywhere is not None and len(queries) > max_missing * len(
            self.everywhere.query_ids
        ):
            n = plural("query", len(queries))
            problems.append(f"{run} has no value of {self.measure} for {n} ({some(queries)}).")
        return problems


def positions_of_queries(
    queries: Iterable[str] | str | os.PathLike[str], query_ids: Sequence[str]
) -> Ints:
    """Return the positions of queries, a list or file of ids, ascending."""
    position = {query: index for index, query in enumerate(query_ids)}
    ids = list(read_ids(queries) if isinstance(queries, (str, os.PathLike)) else queries)
    if not ids:
        raise MismatchError("the list of queries is empty; name at least one")
    if missing := [query for query in ids if query not in position]:
        raise MismatchError(f"there is no query {some(missing)} here")
    return np.array(sorted({position[query] for query in ids}), dtype=np.int64)


def reciprocal_ranks(runs: Sequence[SearchLengths], cutoff: int | None) -> Scores:
    """Return the reciprocal ranks of the answerable queries at a cutoff."""
    first = runs[0].at(cutoff)
    answerable = first.answerable
    depth = "" if first.cutoff is None else f"@{first.cutoff}"
    grade = "" if first.rel == 1 else f"(rel={first.rel})"
    usual = "trec" if first.cutoff is None else "msmarco"
    rule = "" if first.ties == usual else f", ties {first.ties}"
    judged = ", judged only" if first.judged_only else ""
    values = np.stack([run.at(cutoff).reciprocal_rank()[answerable] for run in runs])
    return Scores(
        f"RR{grade}{depth}{rule}{judged}",
        True,
        tuple(run.name for run in runs),
        first.answerable_queries,
        values,
        None if first.clusters is None else first.clusters[answerable],
    )


def follows_from_lengths(measure: Any, settings: Mapping[str, Any]) -> bool:
    """Return whether search lengths computed with these settings determine a measure."""
    is_determined = is_of_lengths(measure) and measure.baseline is None
    return is_determined and all(
        measure.settings[name] == value for name, value in settings.items()
    )


def scores_from_lengths(measure: Any, runs: Sequence[SearchLengths]) -> Scores | None:
    """Compute a measure from search lengths, None where they do not tell it."""
    first = runs[0]
    if not follows_from_lengths(
        measure, {name: getattr(first, name) for name in ("rel", "ties", "judged_only")}
    ):
        return None
    cutoff = measure.settings["cutoff"]
    if any(run.cutoff is not None and (cutoff is None or cutoff > run.cutoff) for run in runs):
        return None
    values = np.stack([measure.values(run.at(cutoff)) for run in runs])
    return Scores(
        str(measure),
        direction_of(measure),
        tuple(run.name for run in runs),
        first.query_ids,
        values,
    )


def measure_values(qrels: Qrels, measures: tuple[Any, ...], run: Run) -> Floats:
    """(n_measures, n_queries) float array: what ir_measures computes."""
    values = np.full((len(measures), len(qrels.query_ids)), np.nan)
    if not measures:
        return values
    row_of = {measure: row for row, measure in enumerate(measures)}
    column_of = {query: column for column, query in enumerate(qrels.query_ids)}
    try:
        for metric in _evaluator(qrels, measures).iter_calc(run.to_dict()):
            values[row_of[metric.measure], column_of[metric.query_id]] = metric.value
    except (IrOutcomesError, MemoryError):
        raise
    except Exception as error:  # each provider of ir_measures has errors of its own
        names = some([str(measure) for measure in measures])
        reason = f"{type(error).__name__}: {error}"
        raise ParameterError(
            f"ir_measures cannot compute {names} for {run.name} ({reason})"
        ) from error
    return values


@lru_cache(maxsize=1)
def _evaluator(qrels: Qrels, measures: tuple[Any, ...]) -> Any:
    """Return an evaluator, which takes longer to make than to use."""
    return ir_measures.evaluator(measures, qrels.for_trec_eval().to_dict())
