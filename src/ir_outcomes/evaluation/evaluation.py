"""Runs under the same qrels and settings, which every analysis takes."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, cast, overload

import numpy as np

from ir_outcomes.arguments import check_argument, check_fields, with_checked_methods
from ir_outcomes.choices import Bools, Ints, Positive, Ties, Unit
from ir_outcomes.errors import (
    MismatchError,
    ParameterError,
    shortened,
    some,
    warn,
)
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.named_measures import comparable, direction_of
from ir_outcomes.evaluation.ranking import RankedDocuments, filtered, score_bits, spans
from ir_outcomes.evaluation.saved import (
    read_saved,
    shapes_of_runs,
    shapes_of_values,
    write_saved,
)
from ir_outcomes.evaluation.scores import (
    Scores,
    measure_values,
    positions_of_queries,
    reciprocal_ranks,
    scores_from_lengths,
)
from ir_outcomes.evaluation.systems import Systems, refuse_several_runs
from ir_outcomes.reading.datasets import as_run
from ir_outcomes.reading.measure_names import is_same_measure
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Duplicates, check_names

DEFAULT_CUTOFF = 100


@with_checked_methods
@dataclass(frozen=True, eq=False)
class Evaluation(Sequence[SearchLengths]):
    """Search lengths of several runs under the same qrels and settings.

    An evaluation is a sequence: ``len(ev)``, ``ev[0]``, iteration; ``ev["bm25"]`` finds a run by
    its name, and a slice or a list of names is an evaluation of those runs.

    Attributes
    ----------
    runs : tuple of SearchLengths
        The runs. Those that were read from files keep their whole depth.
    collection : str
        What the qrels are called: the dataset id or the name of the file.
    cutoff : int
        The default of the analyses: ranks beyond it do not count.
    unit : {"query", "document"}
        What is answered or not.
    texts : mapping of str to str
        Texts of queries by query id, as far as they are known.
    scores : tuple of Scores
        Values of the measures that were asked for and do not follow from search lengths, for all
        runs; see `scores_of`.
    documents : tuple of RankedDocuments
        The first documents of each list of each run; empty where they were not asked for.
    sources : tuple of object
        What each run was read from; None where it cannot be read again.
    qrels : Qrels or None
        The judgments; None where they were not kept.
    replicates : mapping of str to tuple of str
        The names of the runs of each system that has several, by its name.
    duplicates : {"first", "max"} or None
        What counts of a document that is ranked twice, where the runs are read again.
    values : Scores or None
        Values that another tool computed, see `ir_outcomes.outputs`; there are no runs then.
    """

    runs: tuple[SearchLengths, ...]
    collection: str
    cutoff: int
    unit: Unit
    texts: Mapping[str, str] = field(default_factory=dict)
    scores: tuple[Scores, ...] = ()
    documents: tuple[RankedDocuments, ...] = ()
    sources: tuple[Any, ...] = ()
    qrels: Qrels | None = None
    replicates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    duplicates: Duplicates | None = None
    values: Scores | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        check_names(self.names)

    def __repr__(self) -> str:
        settings = f"cutoff={self.cutoff}, rel={self.rel}, unit={self.unit!r}"
        if self.values is not None:
            settings = "values of another tool"  # whose settings are not known
        sizes = f"{len(self)} runs, {len(self.query_ids)} queries"
        return f"Evaluation({self.collection!r}, {sizes}, {settings})"

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[SearchLengths]:
        return iter(self.runs)

    @overload
    def __getitem__(self, key: int | str) -> SearchLengths: ...

    @overload
    def __getitem__(self, key: slice | list[str]) -> Self: ...

    def __getitem__(self, key: int | str | slice | list[str]) -> SearchLengths | Self:
        if isinstance(key, (int, str)):
            position = position_of(key, self.names) if isinstance(key, str) else key
            return self.lists("search lengths")[position]
        if isinstance(key, slice):
            names = list(self.names[key])
        else:
            names = [run for name in map(str, key) for run in self.replicates.get(name, (name,))]
        positions = [position_of(name, self.names) for name in names]
        fields = {name: getattr(self, name) for name in ("runs", "documents", "sources")}
        taken: dict[str, Any] = {
            name: tuple(of_runs[position] for position in positions)
            for name, of_runs in fields.items()
            if of_runs
        }
        scores = tuple(scores.take(positions) for scores in self.scores)
        if self.values is not None:
            taken["values"] = self.values.take(positions)
        replicates = {
            system: tuple(run for run in runs if run in names)
            for system, runs in self.replicates.items()
            if len({*runs}.intersection(names)) > 1
        }
        return replace(self, scores=scores, replicates=replicates, **taken)

    def lists(self, analysis: str) -> tuple[SearchLengths, ...]:
        """Return the runs, for what needs ranked lists."""
        if self.values is not None:
            raise ParameterError(
                f"{analysis} need ranked lists, and these are values of {self.values.measure} that"
                " another tool computed; evaluate the runs themselves"
            )
        return self.runs

    @cached_property
    def systems(self) -> Systems:
        """The names of the runs of each system, in the order of the first runs."""
        system_of = {run: name for name, runs in self.replicates.items() for run in runs}
        names = dict.fromkeys(system_of.get(run, run) for run in self.names)
        return {name: self.replicates.get(name, (name,)) for name in names}

    @property
    def runs_by_system(self) -> list[tuple[SearchLengths, ...]]:
        """The runs of each system."""
        by_name = dict(zip(self.names, self.lists("search lengths"), strict=True))
        return [tuple(by_name[run] for run in runs) for runs in self.systems.values()]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the runs."""
        if self.values is not None:
            return self.values.runs
        return tuple(run.name for run in self.runs)

    @property
    def query_ids(self) -> tuple[str, ...]:
        """All queries of the qrels, in their order."""
        return (self.values or self.runs[0]).query_ids

    @property
    def rel(self) -> int:
        """Smallest grade of a relevant document."""
        return (self.values or self.runs[0]).rel or 1

    @property
    def ties(self) -> Ties:
        """Order among equal scores."""
        return "trec" if self.values is not None else self.runs[0].ties

    @property
    def judged_only(self) -> bool:
        """Whether unjudged documents were removed before ranks were counted."""
        return self.values is None and self.runs[0].judged_only

    @property
    def positives_only(self) -> bool:
        """Whether the qrels are known to hold relevant documents only."""
        return self.qrels is not None and self.qrels.positives_only(self.rel)

    @property
    def answerable(self) -> Bools:
        """(n_queries,) bool array: whether the query has a relevant document."""
        if self.values is not None:
            return np.ones(len(self.query_ids), dtype=bool)
        return self.runs[0].answerable

    @property
    def answerable_queries(self) -> tuple[str, ...]:
        """The queries that have a relevant document."""
        return self.query_ids if self.values is not None else self.runs[0].answerable_queries

    @property
    def n_unanswerable(self) -> int:
        """Number of queries that are left out, because they have no relevant document."""
        if self.values is not None:
            return self.values.n_unanswerable or 0
        return int(np.sum(~self.answerable))

    @property
    def clusters(self) -> Ints | None:
        """(n_queries,) int64 array of clusters, None where queries are independent."""
        return (self.values or self.runs[0]).clusters

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters that have an answerable query, None without clusters."""
        if self.clusters is None:
            return None
        return len(np.unique(self.clusters[self.answerable]))

    def at(self, cutoff: Positive | None = None) -> tuple[SearchLengths, ...]:
        """Return the search lengths of all runs at a cutoff, by default its own."""
        return tuple(run.at(self.cutoff if cutoff is None else cutoff) for run in self.runs)

    def scores_of(self, measure: Any) -> Scores:
        """Return the values of a measure such as ``nDCG@10`` for all runs.

        Measures of search lengths with the settings of this evaluation are computed from what is
        here. Others must have been asked for in ``evaluate(measures=)``, or the runs are read again
        where that is possible, with a warning, else `ParameterError`. None is the reciprocal rank
        at the evaluation's cutoff (see `with_cutoff`), over the answerable queries.
        """
        if self.values is not None:
            name = self.values.measure if measure is None else str(measure)
            if name == self.values.measure or is_same_measure(name, self.values.measure):
                return self.values
            raise ParameterError(f"these values are of {self.values.measure}", measure=name)
        if measure is None:
            return reciprocal_ranks(self.runs, self.cutoff)
        measure = comparable(measure)
        stored = (scores for scores in self.scores if scores.measure == str(measure))
        scores = (
            next(stored, None)
            or scores_from_lengths(measure, self.runs)
            or self._read_scores(measure)
        )
        return scores if self.clusters is None else replace(scores, clusters=self.clusters)

    def _read_scores(self, measure: Any) -> Scores:
        remedy = f"pass `measures=[{str(measure)!r}]` to evaluate"
        if self.qrels is None or not self.sources or any(source is None for source in self.sources):
            raise ParameterError(
                f"{measure} was not kept, and some runs cannot be read again; {remedy}"
            )
        warn(f"{measure} was not kept, so all runs are read again; {remedy}")
        values = []
        for source, lengths in zip(self.sources, self.runs, strict=True):
            run = as_run(source, lengths.name, duplicates=self.duplicates)
            run = filtered(self.qrels, run, drop_self=lengths.drop_self)
            values += [*measure_values(self.qrels, (measure,), run)]
        direction = direction_of(measure)
        return Scores(str(measure), direction, self.names, self.query_ids, np.array(values))

    def restrict(self, queries: Iterable[str] | str | os.PathLike[str]) -> Self:
        """Return the evaluation of some queries, given by ids or a file of ids."""
        if self.values is not None:
            return replace(self, values=self.values.on(queries))
        positions = positions_of_queries(queries, self.query_ids)
        query_ids = tuple(self.query_ids[index] for index in positions.tolist())
        runs = tuple(run.restrict(positions) for run in self.runs)
        qrels = self.qrels
        if qrels is not None:
            rows, offsets = spans(qrels.offsets[positions], np.diff(qrels.offsets)[positions])
            qrels = replace(
                qrels,
                query_ids=query_ids,
                offsets=offsets,
                docids=qrels.docids[rows],
                grades=qrels.grades[rows],
                texts={},
            )
            runs = tuple(replace(run, qrels_digest=qrels.digest) for run in runs)
        return replace(
            self,
            runs=runs,
            qrels=qrels,
            scores=tuple(scores.on(query_ids) for scores in self.scores),
            documents=tuple(documents.restrict(positions) for documents in self.documents),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the evaluation with its qrels to a file that stands for both.

        It holds the search lengths, scores of measures, settings, clusters, names and judgments,
        but no texts and no documents. Its name must end in ``.npz``; it is written completely or
        not at all.

        Raises
        ------
        ParameterError
            If the name has another ending, the file cannot be written, or there are no qrels.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import ir_outcomes as iro
        >>> path = pathlib.Path(tempfile.mkdtemp(), "board.npz")
        >>> qrels = {"q1": {"d2": 1}}
        >>> iro.evaluate(qrels, {"bm25": {"q1": {"d1": 9.0, "d2": 8.0}}}).save(path)
        >>> iro.load_evaluation(path)["bm25"].esl().tolist()
        [2.0]
        """
        if not os.fspath(path).endswith(".npz"):
            raise ParameterError(f"{os.fspath(path)}: the name of a saved evaluation ends in .npz")
        qrels = self.qrels
        if self.values is None:
            if qrels is None or qrels.digest != self.runs[0].qrels_digest:
                raise ParameterError("an evaluation is saved with its qrels, and this one has none")
            qrels = replace(qrels, texts={})
        # The queries of runs and scores follow from the qrels.
        stored = replace(
            self,
            runs=tuple(replace(run, query_ids=()) for run in self.runs),
            scores=tuple(replace(scores, query_ids=()) for scores in self.scores),
            texts={},
            documents=(),
            sources=(),
            qrels=qrels,
        )
        write_saved(path, stored, score_bits(self.ties))

    def with_cutoff(self, cutoff: Positive) -> Self:
        """Return the same with another default cutoff."""
        return replace(self, cutoff=cutoff)


def is_saved(source: Any) -> bool:
    """Return whether this is the path of a saved evaluation, by its ending."""
    return isinstance(source, (str, os.PathLike)) and os.fspath(source).endswith(".npz")


def evaluation_of(
    source: Any, *, cutoff: int | None = None, several_runs: bool = False, values: bool = False
) -> Evaluation:
    """Return an evaluation, or that of a file, at a cutoff or its own."""
    evaluation = load_evaluation(source) if is_saved(source) else source
    check_argument("evaluation", evaluation, Evaluation)
    if not values:
        evaluation.lists("results of this kind")
    if evaluation.replicates and not several_runs:
        refuse_several_runs(evaluation.replicates)
    if cutoff is not None:
        if evaluation.values is not None:
            raise ParameterError(
                "values that another tool computed have no other cutoff", cutoff=cutoff
            )
        evaluation = evaluation.with_cutoff(cutoff)
    return cast(Evaluation, evaluation)


def evaluations_of(
    named: Mapping[str, Evaluation],
    cutoff: int | None = None,
    *,
    several_runs: bool = False,
    values: bool = False,
) -> dict[str, Evaluation]:
    """Return evaluations by their names, at a cutoff or each at its own."""
    return {
        str(name): evaluation_of(source, cutoff=cutoff, several_runs=several_runs, values=values)
        for name, source in named.items()
    }


def refuse_measures(evaluation: Evaluation, measures: Any) -> None:
    """Refuse other measures beside values of another tool."""
    if evaluation.values is not None and measures:
        raise ParameterError("values that another tool computed have no other measure")


def position_of(name: Any, names: tuple[str, ...]) -> int:
    """Return the position of a run among others, by its name."""
    if not isinstance(name, str) or name not in names:
        raise ParameterError(
            f"no run is called {shortened(repr(name))}; the runs are {some(names, 10)}"
        )
    return names.index(name)


def contenders_of(
    names: Iterable[str], baseline: str | None, contenders: str | Sequence[str] | None
) -> list[str]:
    """Return the names of contenders without the baseline, by default all other runs."""
    names = tuple(names)
    if baseline is not None:
        position_of(baseline, names)
    if contenders is None:
        contenders = names
    chosen = [contenders] if isinstance(contenders, str) else list(contenders)
    for name in chosen:
        position_of(name, names)
    chosen = [name for name in dict.fromkeys(chosen) if name != baseline]
    if not chosen:
        raise ParameterError("there is no contender; name a run other than the baseline")
    return chosen


def load_evaluation(path: str | os.PathLike[str]) -> Evaluation:
    """Read what `Evaluation.save` wrote.

    Parameters
    ----------
    path : path
        The file. Whoever can write it can write results: it is checked for damage, not for truth.

    Raises
    ------
    FormatError
        If it is not such a file, is damaged, or has another layout.
    MismatchError
        If it was evaluated where pytrec_eval compares scores at another precision.
    """
    stored, bits = read_saved(path, Evaluation, _shapes)
    if bits != score_bits(stored.ties):
        raise MismatchError(
            f"{os.fsdecode(path)} was evaluated where pytrec_eval compares scores in {bits} bits,"
            f" here it does in {score_bits(stored.ties)}, so that ties differ; evaluate the runs"
            " again"
        )
    if stored.qrels is None:
        return stored
    query_ids = stored.qrels.query_ids
    return replace(
        stored,
        runs=tuple(replace(run, query_ids=query_ids) for run in stored.runs),
        scores=tuple(replace(scores, query_ids=query_ids) for scores in stored.scores),
    )


def _shapes(stored: Evaluation) -> Iterator[tuple[Any, Any]]:
    """Yield the arrays of a file, each with the shape that it must have."""
    if stored.values is not None:
        return shapes_of_values(stored.values)
    return shapes_of_runs(stored.runs, cast(Qrels, stored.qrels), stored.scores)
