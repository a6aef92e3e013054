"""Runs evaluated once under the same qrels and settings: what every analysis takes."""

import io
import os
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, BinaryIO, Self, cast, overload

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import (
    FormatError,
    MismatchError,
    ParameterError,
    UnreadableFile,
    shortened,
    some,
    warn,
)
from ir_outcomes.evaluation.lengths import (
    FLAGS,
    PER_ATOM,
    PER_QUERY,
    SearchLengths,
    by_first_occurrence,
    check_comparable,
    unless_independent,
)
from ir_outcomes.evaluation.ranking import DIGEST, RankedDocuments, joined, score_bits, spans
from ir_outcomes.evaluation.scores import (
    Scores,
    comparable,
    direction_of,
    known_scores,
    measure_values,
    places_of_queries,
)
from ir_outcomes.evaluation.search import JUDGED_DEPTH
from ir_outcomes.evaluation.systems import (
    System,
    among,
    called_systems,
    refuse_several_runs,
    systems,
)
from ir_outcomes.formatting import write_completely
from ir_outcomes.reading.datasets import as_run
from ir_outcomes.reading.files import refuse_bomb
from ir_outcomes.reading.measure_names import bounds_of
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import check_names
from ir_outcomes.types import Bools, Ints, Ties, Unit, check_kind, check_positive

DEFAULT_CUTOFF = 100


@dataclass(frozen=True, eq=False)
class Evaluation(Sequence[SearchLengths]):
    """Search lengths of several runs, made from the same qrels with the same settings; see `evaluate`.

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
    many_relevant : bool
        Whether any answerable query of the collection has more than one relevant document.
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
    """

    runs: tuple[SearchLengths, ...]
    collection: str
    cutoff: int
    unit: Unit
    many_relevant: bool
    texts: Mapping[str, str] = field(default_factory=dict)
    scores: tuple[Scores, ...] = ()
    documents: tuple[RankedDocuments, ...] = ()
    sources: tuple[Any, ...] = ()
    qrels: Qrels | None = None
    replicates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_names(self.names)

    def __repr__(self) -> str:
        return (
            f"Evaluation({self.collection!r}, {len(self.runs)} runs, {len(self.query_ids)} queries,"
            f" cutoff={self.cutoff}, rel={self.rel}, unit={self.unit!r})"
        )

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[SearchLengths]:
        return iter(self.runs)

    @overload
    def __getitem__(self, key: int | str) -> SearchLengths: ...

    @overload
    def __getitem__(self, key: slice | list[str]) -> Self: ...

    def __getitem__(self, key: int | str | slice | list[str]) -> SearchLengths | Self:
        if isinstance(key, int):
            return self.runs[key]
        if isinstance(key, str):
            return self.runs[self.position(key)]
        if isinstance(key, slice):
            places = list(range(len(self.runs))[key])
        else:
            places = [self.position(name) for name in self.runs_of(key)]
        kept = {name: getattr(self, name) for name in ("runs", "documents", "sources")}
        taken: dict[str, Any] = {
            name: tuple(of_runs[place] for place in places)
            for name, of_runs in kept.items()
            if of_runs
        }
        scores = tuple(scores.take(places) for scores in self.scores)
        names = tuple(self.names[place] for place in places)
        return replace(self, scores=scores, replicates=among(self.replicates, names), **taken)

    def runs_of(self, names: Iterable[Any]) -> list[str]:
        """Return the names of runs, of all runs where one is that of a system."""
        runs: list[str] = []
        for name in names:
            runs += self.replicates.get(name, (name,)) if isinstance(name, str) else (name,)
        return runs

    def position(self, name: str) -> int:
        """Return the place of a run, by its name."""
        if isinstance(name, str) and name in self.replicates:
            raise ParameterError(
                f"{name} stands for {some(self.replicates[name])}; name one of these runs"
            )
        return place_of(name, self.names)

    @cached_property
    def systems(self) -> tuple[System, ...]:
        """The systems with their runs, in the order of their first runs; a run that is of none is a system by itself."""
        called = dict(zip(self.names, self.runs, strict=True))
        return tuple(
            System(name, tuple(called[run] for run in runs))
            for name, runs in called_systems(self.names, self.replicates)
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the runs."""
        return tuple(run.name for run in self.runs)

    @property
    def system_names(self) -> tuple[str, ...]:
        """Names of the systems, which are those of the runs where no system has several."""
        return tuple(system.name for system in self.systems)

    @property
    def query_ids(self) -> tuple[str, ...]:
        """All queries of the qrels, in their order."""
        return self.runs[0].query_ids

    @property
    def rel(self) -> int:
        """Smallest grade of a relevant document."""
        return self.runs[0].rel

    @property
    def ties(self) -> Ties:
        """Order among equal scores."""
        return self.runs[0].ties

    @property
    def judged_only(self) -> bool:
        """Whether unjudged documents were removed before ranks were counted."""
        return self.runs[0].judged_only

    @property
    def drop_self(self) -> bool:
        """Whether documents whose id is the query's own were removed before ranks were counted."""
        return self.runs[0].drop_self

    @property
    def positives_only(self) -> bool:
        """Whether the qrels hold relevant documents only, so that they say nothing about judging; False where not known."""
        return self.qrels is not None and self.qrels.positives_only(self.rel)

    @property
    def answerable(self) -> Bools:
        """(n_queries,) bool array: whether the query has a relevant document."""
        return self.runs[0].answerable

    @property
    def answerable_queries(self) -> tuple[str, ...]:
        """The queries that have a relevant document."""
        return self.runs[0].answerable_queries

    @property
    def clusters(self) -> Ints | None:
        """(n_queries,) int64 array: the cluster of each query; None where queries are independent."""
        return self.runs[0].clusters

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters that have an answerable query; None where queries are independent."""
        if self.clusters is None:
            return None
        return len(np.unique(self.clusters[self.answerable]))

    def at(self, cutoff: int | None = None) -> tuple[SearchLengths, ...]:
        """Return the search lengths of all runs at a cutoff, by default the evaluation's own; see `SearchLengths.at`."""
        return tuple(run.at(self.cutoff if cutoff is None else cutoff) for run in self.runs)

    def scores_of(self, measure: Any) -> Scores:
        """Return the values of a measure such as ``nDCG@10`` for all runs.

        Measures of search lengths with the settings of this evaluation are computed from what is
        here. Others must have been asked for in ``evaluate(measures=)``, or the runs are read again
        where that is possible, with a warning, else `ParameterError`. None is the reciprocal rank
        at the evaluation's cutoff (see `with_cutoff`), over the answerable queries.
        """
        scores = known_scores(measure, self.runs, self.cutoff, self.scores) or self._read_scores(
            comparable(measure)
        )
        if self.clusters is None:
            return scores
        place = {query: index for index, query in enumerate(self.query_ids)}
        return replace(scores, clusters=self.clusters[[place[query] for query in scores.query_ids]])

    def _read_scores(self, measure: Any) -> Scores:
        remedy = f"pass `measures=[{str(measure)!r}]` to evaluate"
        if self.qrels is None or not self.sources or any(source is None for source in self.sources):
            raise ParameterError(
                f"{measure} was not kept, and some runs cannot be read again; {remedy}"
            )
        warn(f"{measure} was not kept, so all runs are read again; {remedy}")
        runs = [as_run(source, name) for source, name in zip(self.sources, self.names, strict=True)]
        if self.drop_self:
            runs = [joined(self.qrels, run, judged_only=False, drop_self=True).run for run in runs]
        values = np.concatenate([measure_values(self.qrels, (measure,), run) for run in runs])
        return Scores(
            str(measure), direction_of(measure), self.names, self.qrels.query_ids, values
        ).on(self.query_ids)

    def restrict(self, queries: Iterable[str] | str | os.PathLike[str]) -> Self:
        """Return the evaluation of some of the queries: their ids, or a file with one id on each line."""
        chosen = places_of_queries(queries, self.query_ids)
        kept = [self.query_ids[index] for index in chosen.tolist()]
        qrels = None if self.qrels is None else restricted_qrels(self.qrels, chosen)
        runs = tuple(run.restrict(chosen) for run in self.runs)
        if qrels is not None:
            runs = tuple(replace(run, qrels_digest=qrels.digest) for run in runs)
        return replace(
            self,
            runs=runs,
            qrels=qrels,
            scores=tuple(scores.on(kept) for scores in self.scores),
            documents=tuple(documents.restrict(chosen) for documents in self.documents),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the evaluation with its qrels to a file that stands for both wherever they are asked for.

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
        content = io.BytesIO()
        np.savez_compressed(content, **arrays_of(self))  # type: ignore[arg-type]  # its argument allow_pickle has another type
        write_completely(path, content.getvalue())

    def with_cutoff(self, cutoff: int) -> Self:
        """Return the same with another default cutoff."""
        check_positive("cutoff", cutoff)
        return replace(self, cutoff=cutoff)


def is_saved(source: Any) -> bool:
    """Return whether this is the path of a file that `Evaluation.save` wrote, by its ending."""
    return isinstance(source, (str, os.PathLike)) and os.fspath(source).endswith(".npz")


def evaluation_of(
    source: Any, *, cutoff: int | None = None, several_runs: bool = False
) -> Evaluation:
    """Return an evaluation, given as one or as the path of a file, at a cutoff or its own; few analyses take several runs."""
    evaluation = load_evaluation(source) if is_saved(source) else source
    check_kind(
        "evaluation",
        evaluation,
        Evaluation,
        "what ir_outcomes.evaluate returns, or a file that it was saved to",
    )
    if evaluation.replicates and not several_runs:
        refuse_several_runs(evaluation.replicates)
    if cutoff is not None:
        evaluation = evaluation.with_cutoff(cutoff)
    return cast(Evaluation, evaluation)


def evaluations_of(named: Any, cutoff: int | None = None) -> dict[str, Evaluation]:
    """Return evaluations by their names, at a cutoff or each at its own."""
    check_kind(
        "evaluations", named, Mapping, "a mapping from names to what ir_outcomes.evaluate returns"
    )
    return {str(name): evaluation_of(source, cutoff=cutoff) for name, source in named.items()}


def place_of(name: Any, names: tuple[str, ...]) -> int:
    """Return the place of a run among others, by its name."""
    if not isinstance(name, str) or name not in names:
        raise ParameterError(
            f"no run is called {shortened(repr(name))}; the runs are {some(names, 10)}"
        )
    return names.index(name)


def contenders_of(
    names: tuple[str, ...], baseline: str | None, contenders: str | Sequence[str] | None
) -> list[str]:
    """Return the names of the contenders: one, several, or by default all runs but the baseline, which may not be known yet."""
    if baseline is not None:
        place_of(baseline, names)
    if contenders is None:
        contenders = [name for name in names if name != baseline]
    check_kind("contenders", contenders, Collection, "the name of a run, or several names")
    chosen = [contenders] if isinstance(contenders, str) else list(contenders)
    for name in chosen:
        place_of(name, names)
    if not chosen:
        raise ParameterError("there is no contender; name a run other than the baseline")
    return list(dict.fromkeys(chosen))


@dataclass(frozen=True)
class _Facts:
    """What a file says of an evaluation beside its arrays."""

    layout: int
    score_bits: int
    collection: str
    cutoff: int
    unit: Unit
    many_relevant: bool
    query_ids: tuple[str, ...]
    names: tuple[str, ...]
    replicates: dict[str, tuple[str, ...]]
    measures: dict[str, bool]  # whether higher is better, by their names
    depth: int | None  # ranks beyond it were not counted
    rel: int
    ties: Ties
    judged_only: bool
    drop_self: bool
    # Of each run.
    ignored: tuple[tuple[str, ...], ...]
    unknown_ids: tuple[str, ...]
    equal_scores: tuple[bool, ...]


_LAYOUT = 11  # of saved files; it must change whenever a file of the old layout would be misread
_ZIP = b"PK\x03\x04"
_DAMAGED = "is not a saved evaluation of this version, or is damaged; evaluate the runs again"


def arrays_of(evaluation: Evaluation) -> dict[str, npt.NDArray[Any]]:
    """Return what a file holds: nothing that follows from the rest."""
    import msgspec

    qrels = evaluation.qrels
    if qrels is None or qrels.digest != evaluation.runs[0].qrels_digest:
        raise ParameterError("an evaluation is saved with its qrels, and this one has none")
    first, *others = evaluation.runs
    for run in others:
        check_comparable(first, run)
    facts = _Facts(
        layout=_LAYOUT,
        score_bits=score_bits(first.ties),
        collection=evaluation.collection,
        cutoff=evaluation.cutoff,
        unit=evaluation.unit,
        many_relevant=evaluation.many_relevant,
        query_ids=qrels.query_ids,
        names=evaluation.names,
        replicates=dict(evaluation.replicates),
        measures={scores.measure: scores.higher_is_better for scores in evaluation.scores},
        depth=first.cutoff,
        rel=first.rel,
        ties=first.ties,
        judged_only=first.judged_only,
        drop_self=first.drop_self,
        ignored=tuple(run.ignored for run in evaluation),
        unknown_ids=tuple(run.unknown_ids for run in evaluation),
        equal_scores=tuple(run.equal_scores for run in evaluation),
    )
    arrays = {
        name: np.stack([getattr(run, name) for run in evaluation])
        for name in (*PER_ATOM, *PER_QUERY)
    }
    if first.ties != "expected":
        del arrays["level_size"]
    if first.clusters is not None:
        arrays["clusters"] = first.clusters
    for row, scores in enumerate(evaluation.scores):
        arrays[f"values {row}"] = scores.values
    return {
        "facts": np.frombuffer(msgspec.json.encode(facts), np.uint8),
        "judgments": np.diff(qrels.offsets),
        "docids": qrels.docids,
        "grades": qrels.grades,
        **arrays,
    }


def load_evaluation(path: str | os.PathLike[str]) -> Evaluation:
    """Read what `Evaluation.save` wrote; its runs cannot be read again for what was not kept.

    Parameters
    ----------
    path : path
        The file. Nothing in it is believed that can be checked.

    Raises
    ------
    FormatError
        If it is not such a file, is damaged, holds what no run can have, or has another layout.
    MismatchError
        If it was evaluated where pytrec_eval compares scores at another precision.
    """
    check_kind("path", path, (str, os.PathLike), "the path of a file that Evaluation.save wrote")
    source = os.fsdecode(path)
    try:
        with open(path, "rb") as stream:
            arrays = _arrays_in(stream, source)
        facts, evaluation = _evaluation_in(arrays)
    except UnreadableFile:
        raise
    except OSError as error:
        raise UnreadableFile(f"{source}: cannot be read: {error.strerror or error}") from error
    except (
        Exception
    ) as error:  # whatever zipfile, zlib, msgspec and NumPy raise for arbitrary bytes
        raise FormatError(source, _DAMAGED) from error
    if facts.score_bits != score_bits(facts.ties):
        raise MismatchError(
            f"{source} was evaluated where pytrec_eval compares scores in {facts.score_bits} bits,"
            f" here it does in {score_bits(facts.ties)}, so that ties differ; evaluate the runs again"
        )
    return evaluation


def _arrays_in(stream: BinaryIO, source: str) -> dict[str, Any]:
    """Return the arrays in a file, unless it expands to much more than its size."""
    if stream.read(4) != _ZIP:  # zipfile would look for the end of a device that has none
        raise ValueError("not a ZIP archive")
    with zipfile.ZipFile(stream) as archive:
        size = sum(member.file_size for member in archive.infolist())
        refuse_bomb(source, size, os.fstat(stream.fileno()).st_size)
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as arrays:
        return dict(arrays)


def _evaluation_in(arrays: dict[str, Any]) -> tuple[_Facts, Evaluation]:
    """Return the evaluation that arrays hold; raise `ValueError` for what no evaluation can have."""
    import msgspec

    facts = msgspec.json.decode(arrays.pop("facts").tobytes(), type=_Facts)
    _require(facts.layout == _LAYOUT, "layout")
    judgments = arrays.pop("judgments")
    qrels = Qrels(
        facts.collection,
        facts.query_ids,
        np.concatenate([[0], np.cumsum(judgments)]).astype(np.int64),
        arrays.pop("docids"),
        arrays.pop("grades"),
    )
    _check_qrels(qrels, judgments)
    relevant = qrels.grades >= facts.rel
    offsets = np.searchsorted(qrels.codes[relevant], np.arange(len(facts.query_ids) + 1))
    clusters = arrays.pop("clusters", None)
    values = [arrays.pop(f"values {row}") for row in range(len(facts.measures))]
    level_size = np.ones((len(facts.names), int(relevant.sum())), dtype=np.int32)
    arrays = {"level_size": level_size, **arrays}
    _check_arrays(facts, qrels, offsets, arrays, clusters)
    _require(
        len(facts.names)
        == len(facts.ignored)
        == len(facts.unknown_ids)
        == len(facts.equal_scores)
        > 0,
        "runs",
    )
    runs = tuple(
        SearchLengths(
            name=name,
            query_ids=facts.query_ids,
            offsets=offsets,
            **{field: of_runs[row] for field, of_runs in arrays.items()},
            ignored=facts.ignored[row],
            unknown_ids=facts.unknown_ids[row],
            equal_scores=facts.equal_scores[row],
            cutoff=facts.depth,
            rel=facts.rel,
            ties=facts.ties,
            judged_only=facts.judged_only,
            drop_self=facts.drop_self,
            qrels_digest=qrels.digest,
            clusters=clusters,
        )
        for row, name in enumerate(facts.names)
    )
    _check_runs(facts, runs)
    scores = tuple(
        Scores(measure, higher, facts.names, facts.query_ids, of_measure)
        for (measure, higher), of_measure in zip(facts.measures.items(), values, strict=True)
    )
    for of_measure in scores:
        shape = (len(facts.names), len(facts.query_ids))
        _check_array(of_measure.measure, of_measure.values, shape, np.float64)
        least, greatest = bounds_of(of_measure.measure) or (-np.inf, np.inf)
        defined = of_measure.values[~np.isnan(of_measure.values)]
        is_possible = (defined >= least - _ROUNDING) & (defined <= greatest + _ROUNDING)
        _require(is_possible.all(), of_measure.measure)
    evaluation = Evaluation(
        runs=tuple(run.sharing(runs[0]) for run in runs),
        collection=facts.collection,
        cutoff=facts.cutoff,
        unit=facts.unit,
        many_relevant=facts.many_relevant,
        scores=scores,
        qrels=qrels,
        replicates=facts.replicates,
    )
    return facts, evaluation


_ROUNDING = 1e-9


def _require(is_possible: Any, what: str) -> None:
    if not is_possible:
        raise ValueError(f"impossible {what}")


def _check_array(
    name: str, array: npt.NDArray[Any], shape: tuple[int, ...], kind: npt.DTypeLike
) -> None:
    _require(array.shape == shape and array.dtype == kind, name)


def _check_qrels(qrels: Qrels, judgments: Ints) -> None:
    """Check that judgments are those of these queries, each document once."""
    n_judgments = len(qrels.docids)
    _check_array("judgments", judgments, (len(qrels.query_ids),), np.int64)
    _require((judgments >= 0).all() and judgments.sum() == n_judgments, "judgments")
    _check_array("grades", qrels.grades, (n_judgments,), np.int64)
    _require(qrels.docids.shape == (n_judgments,) and qrels.docids.dtype.kind == "S", "docids")
    docids = [docid.decode() for docid in qrels.docids.tolist()]
    pairs = set(zip(qrels.codes.tolist(), docids, strict=True))
    _require(all(docids) and len(pairs) == n_judgments, "docids")
    _require(len({*qrels.query_ids}) == len(qrels.query_ids), "query ids")


def _check_arrays(
    facts: _Facts, qrels: Qrels, offsets: Ints, arrays: Mapping[str, Any], clusters: Ints | None
) -> None:
    """Check shapes, ranges, ranks within a query, and that counts fit to each other."""
    n_runs = len(facts.names)
    n_queries = len(facts.query_ids)
    kinds = {"unjudged": np.uint8, "digests": np.uint8, **dict.fromkeys(FLAGS, np.bool_)}
    shapes: dict[str, tuple[int, ...]] = {
        **dict.fromkeys(PER_ATOM, (n_runs, int(offsets[-1]))),
        **dict.fromkeys(PER_QUERY, (n_runs, n_queries)),
        "digests": (n_runs, n_queries, DIGEST),
    }
    _require(arrays.keys() == shapes.keys(), "names of arrays")
    for name, shape in shapes.items():
        _check_array(name, arrays[name], shape, kinds.get(name, np.int32))
    rank, retrieved, unjudged = arrays["rank"], arrays["retrieved"], arrays["unjudged"]
    query = np.repeat(np.arange(n_queries), np.diff(offsets))
    found = rank > 0
    _require((rank >= 0).all() and (rank <= retrieved[:, query]).all(), "rank")
    _check_levels(facts.ties, query, rank, arrays["level_size"])
    last = rank - 1 + arrays["level_size"]
    _require(facts.depth is not None or (last <= retrieved[:, query])[found].all(), "level_size")
    _require((retrieved >= 0).all(), "retrieved")
    _require(facts.depth is None or (retrieved <= facts.depth).all(), "retrieved")
    depth = np.minimum(retrieved, min(JUDGED_DEPTH, facts.depth or JUDGED_DEPTH))
    n_judged = np.bincount(qrels.codes[qrels.grades >= 0], minlength=n_queries)
    n_relevant = np.zeros(retrieved.shape, dtype=np.int64)
    rows, atoms = np.nonzero(found & (last <= JUDGED_DEPTH))
    np.add.at(n_relevant, (rows, query[atoms]), 1)
    _require((unjudged <= np.maximum(depth - n_relevant, 0)).all(), "unjudged")
    _require((unjudged >= depth - n_judged).all() or facts.ties == "expected", "unjudged")
    if facts.judged_only:
        _require((unjudged == 0).all() and (retrieved <= n_judged).all(), "unjudged")
    listed, answerable = arrays["listed"], np.diff(offsets) > 0
    has_documents = retrieved > 0
    _require((listed | ~has_documents).all(), "listed")
    _require((arrays["digests"].any(axis=2) == has_documents).all(), "digests")
    _require((arrays["reordered"] <= (answerable & has_documents)).all(), "reordered")
    _require((arrays["against_ranks"] <= listed).all(), "against_ranks")
    _require((arrays["rising"] <= arrays["against_ranks"]).all(), "rising")
    _require((arrays["retrieves_itself"] <= has_documents & (not facts.drop_self)).all(), "itself")
    _require((arrays["below_itself"] <= arrays["retrieves_itself"] & answerable).all(), "itself")
    if clusters is not None:
        _check_array("clusters", clusters, (n_queries,), np.int64)
        numbered = unless_independent(by_first_occurrence(clusters), answerable)
        _require(numbered is not None and np.array_equal(numbered, clusters), "clusters")


def _check_levels(ties: Ties, query: Ints, rank: npt.NDArray[Any], size: npt.NDArray[Any]) -> None:
    """Check that no two documents of a query stand at one rank, or tie levels at the same ranks."""
    _require((size >= 1).all() and (size[rank == 0] == 1).all(), "level_size")
    for of_run, sizes in zip(rank, size, strict=True):
        order = np.lexsort((of_run, query))
        order = order[of_run[order] > 0]
        places = of_run[order].astype(np.int64)
        together = query[order][1:] == query[order][:-1]
        if ties == "expected":
            sizes = sizes[order]
            same = together & (places[1:] == places[:-1])
            _require((sizes[1:] == sizes[:-1])[same].all(), "level_size")
            apart = places[1:] >= places[:-1] + sizes[:-1]
            _require((same | apart)[together].all(), "rank")
            level = np.cumsum(np.append(True, ~same))[: len(order)]
            _require((np.bincount(level)[level] <= sizes).all(), "level_size")
        else:
            _require((places[1:] > places[:-1])[together].all(), "rank")


def _check_runs(facts: _Facts, runs: Sequence[SearchLengths]) -> None:
    """Check what is said of runs beside their arrays."""
    for number in (facts.cutoff, facts.rel):
        check_positive("cutoff", number)
    check_positive("cutoff", facts.depth, none_allowed=True)
    _require(facts.depth is None or facts.cutoff <= facts.depth, "cutoff")
    _require(facts.many_relevant or runs[0].relevant.max(initial=0) <= 1, "many_relevant")
    for run in runs:
        _require(not (run.unknown_ids and (run.rank > 0).any()), "unknown_ids")
        _require(list(run.ignored) == sorted({*run.ignored} - {*facts.query_ids}), "ignored")
    system_of = {run: system for system, of in facts.replicates.items() for run in of}
    _require(not system_of or systems(facts.names, system_of) == facts.replicates, "replicates")
    _require(all(len(of_system) > 1 for of_system in facts.replicates.values()), "replicates")


def restricted_qrels(qrels: Qrels, queries: Ints) -> Qrels:
    """Return the judgments of some of the queries, given by their places, ascending."""
    rows, offsets = spans(qrels.offsets[queries], np.diff(qrels.offsets)[queries])
    return replace(
        qrels,
        query_ids=tuple(qrels.query_ids[query] for query in queries.tolist()),
        offsets=offsets,
        docids=qrels.docids[rows],
        grades=qrels.grades[rows],
        texts={},
    )
