"""Runs under the same qrels and settings, which every analysis takes."""

import hashlib
import io
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, BinaryIO, Self, cast, overload

import numpy as np
import numpy.typing as npt

from ir_outcomes.arguments import check_argument, check_fields, with_checked_methods
from ir_outcomes.choices import Bools, Ints, Positive, Ties, Unit
from ir_outcomes.errors import (
    FormatError,
    MismatchError,
    ParameterError,
    UnreadableFile,
    shortened,
    some,
    warn,
)
from ir_outcomes.evaluation.lengths import FLAGS, PER_ATOM, SearchLengths
from ir_outcomes.evaluation.named_measures import comparable, direction_of
from ir_outcomes.evaluation.ranking import DIGEST, RankedDocuments, filtered, score_bits, spans
from ir_outcomes.evaluation.scores import (
    Scores,
    measure_values,
    positions_of_queries,
    reciprocal_ranks,
    scores_from_lengths,
)
from ir_outcomes.evaluation.systems import System, refuse_several_runs, replicates_among
from ir_outcomes.files import write_completely
from ir_outcomes.notes import Note
from ir_outcomes.reading.columns import LARGEST_WHOLE
from ir_outcomes.reading.datasets import as_run
from ir_outcomes.reading.files import refuse_bomb
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
        if self.values is not None:
            sizes = f"{len(self)} runs, {len(self.query_ids)} queries"
            return f"Evaluation(values of {self.values.measure!r}, {sizes})"
        return (
            f"Evaluation({self.collection!r}, {len(self.runs)} runs, {len(self.query_ids)} queries,"
            f" cutoff={self.cutoff}, rel={self.rel}, unit={self.unit!r})"
        )

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
            runs = self.lists("search lengths")
            return runs[key if isinstance(key, int) else self.position(key)]
        if isinstance(key, slice):
            positions = list(range(len(self))[key])
        else:
            positions = [self.position(name) for name in self.runs_of(key)]
        fields = {name: getattr(self, name) for name in ("runs", "documents", "sources")}
        taken: dict[str, Any] = {
            name: tuple(of_runs[position] for position in positions)
            for name, of_runs in fields.items()
            if of_runs
        }
        scores = tuple(scores.take(positions) for scores in self.scores)
        names = tuple(self.names[position] for position in positions)
        if self.values is not None:
            taken["values"] = self.values.take(positions)
        return replace(
            self, scores=scores, replicates=replicates_among(self.replicates, names), **taken
        )

    def lists(self, analysis: str) -> tuple[SearchLengths, ...]:
        """Return the runs, for what needs ranked lists."""
        if self.values is not None:
            raise ParameterError(
                f"{analysis} need ranked lists, and these are values of {self.values.measure} that"
                " another tool computed; evaluate the runs themselves"
            )
        return self.runs

    def runs_of(self, names: Iterable[Any]) -> list[str]:
        """Return the names of runs, of all runs where one is that of a system."""
        runs: list[str] = []
        for name in names:
            runs += self.replicates.get(name, (name,)) if isinstance(name, str) else (name,)
        return runs

    def position(self, name: str) -> int:
        """Return the position of a run, by its name."""
        if isinstance(name, str) and name in self.replicates:
            raise ParameterError(
                f"{name} stands for {some(self.replicates[name])}; name one of these runs"
            )
        return position_of(name, self.names)

    @property
    def systems(self) -> list[System]:
        """The systems with the names of their runs, in the order of their first runs."""
        system_of = {
            run: System(name, runs) for name, runs in self.replicates.items() for run in runs
        }
        return list(
            dict.fromkeys(system_of.get(name, System(name, (name,))) for name in self.names)
        )

    @property
    def runs_by_system(self) -> list[tuple[SearchLengths, ...]]:
        """The runs of each system."""
        by_name = dict(zip(self.names, self.lists("search lengths"), strict=True))
        return [tuple(by_name[run] for run in system.runs) for system in self.systems]

    def systems_named(self, names: Sequence[str]) -> list[System]:
        """Return some systems, with the names of their runs."""
        systems = self.systems
        return [systems[position_of(name, self.system_names)] for name in names]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the runs."""
        if self.values is not None:
            return self.values.runs
        return tuple(run.name for run in self.runs)

    @property
    def system_names(self) -> tuple[str, ...]:
        """Names of the systems, which are those of the runs where no system has several."""
        return tuple(system.name for system in self.systems)

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
            return self.values.n_unanswerable
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
            return self._values_of(self.values, measure)
        if measure is None:
            scores = reciprocal_ranks(self.runs, self.cutoff)
        else:
            measure = comparable(measure)
            stored = (scores for scores in self.scores if scores.measure == str(measure))
            scores = (
                next(stored, None)
                or scores_from_lengths(measure, self.runs)
                or self._read_scores(measure)
            )
        if self.clusters is None:
            return scores
        position = {query: index for index, query in enumerate(self.query_ids)}
        return replace(
            scores, clusters=self.clusters[[position[query] for query in scores.query_ids]]
        )

    def _values_of(self, values: Scores, measure: Any) -> Scores:
        named = None if measure is None else str(measure)
        if named in (None, values.measure) or is_same_measure(str(named), values.measure):
            return values
        raise ParameterError(f"these values are of {values.measure}", measure=named)

    def _read_scores(self, measure: Any) -> Scores:
        remedy = f"pass `measures=[{str(measure)!r}]` to evaluate"
        if self.qrels is None or not self.sources or any(source is None for source in self.sources):
            raise ParameterError(
                f"{measure} was not kept, and some runs cannot be read again; {remedy}"
            )
        warn(f"{measure} was not kept, so all runs are read again; {remedy}")
        runs = [
            as_run(source, name, duplicates=self.duplicates)
            for source, name in zip(self.sources, self.names, strict=True)
        ]
        drop_self = self.runs[0].drop_self
        runs = [filtered(self.qrels, run, drop_self=drop_self) for run in runs]
        values = np.concatenate([measure_values(self.qrels, (measure,), run) for run in runs])
        return Scores(
            str(measure), direction_of(measure), self.names, self.qrels.query_ids, values
        ).on(self.query_ids)

    def restrict(self, queries: Iterable[str] | str | os.PathLike[str]) -> Self:
        """Return the evaluation of some queries, given by ids or a file of ids."""
        if self.values is not None:
            return replace(self, values=self.values.on(queries))
        chosen = positions_of_queries(queries, self.query_ids)
        query_ids = tuple(self.query_ids[index] for index in chosen.tolist())
        runs = tuple(run.restrict(chosen) for run in self.runs)
        qrels = self.qrels
        if qrels is not None:
            rows, offsets = spans(qrels.offsets[chosen], np.diff(qrels.offsets)[chosen])
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
            documents=tuple(documents.restrict(chosen) for documents in self.documents),
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
        content = io.BytesIO()
        np.savez_compressed(content, **_stored(self))  # type: ignore[arg-type]  # its argument allow_pickle has another type
        write_completely(path, content.getvalue())

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
    if cutoff is not None and evaluation.values is not None:
        raise ParameterError(
            "values that another tool computed have no other cutoff", cutoff=cutoff
        )
    if cutoff is not None:
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
    names: tuple[str, ...], baseline: str | None, contenders: str | Sequence[str] | None
) -> list[str]:
    """Return the names of contenders without the baseline, by default all other runs."""
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


_ZIP = b"PK\x03\x04"
_LAYOUT = (  # of saved files; it must change whenever a file of the old layout would be misread
    "evaluation 14"
)
_DIGEST = "SHA-256"  # of everything else in a saved file


def _stored(evaluation: Evaluation) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a file, without what follows from others."""
    if evaluation.values is not None:
        return _stored_values(evaluation, evaluation.values)
    first = evaluation.runs[0]
    if evaluation.qrels is None or evaluation.qrels.digest != first.qrels_digest:
        raise ParameterError("an evaluation is saved with its qrels, and this one has none")
    nothing = np.empty(0, dtype=np.int64)
    stored = replace(
        evaluation,
        runs=tuple(
            replace(run, query_ids=(), offsets=nothing, qrels_digest="") for run in evaluation
        ),
        scores=tuple(replace(scores, query_ids=()) for scores in evaluation.scores),
        texts={},
        documents=(),
        sources=(),
        qrels=replace(evaluation.qrels, texts={}),
    )
    return _arrays_of(stored, score_bits(first.ties))


def _stored_values(evaluation: Evaluation, values: Scores) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a file of values that another tool computed."""
    about: Any = tuple(note.as_dict() for note in values.about)
    stored = replace(evaluation, sources=(), texts={}, values=replace(values, about=about))
    return _arrays_of(stored, score_bits(evaluation.ties))


def _arrays_of(stored: Evaluation, bits: int) -> dict[str, npt.NDArray[Any]]:
    import msgspec

    arrays: dict[str, npt.NDArray[Any]] = {"score bits": np.array(bits)}
    names: dict[int, str] = {}

    def name_of_array(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value.item()  # a number of NumPy
        name = names.setdefault(id(value), f"array {len(names)}")
        arrays[name] = value
        return name

    arrays[_LAYOUT] = np.frombuffer(msgspec.json.encode(stored, enc_hook=name_of_array), np.uint8)
    arrays[_DIGEST] = np.array(digest_of_arrays(arrays))
    return arrays


def digest_of_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return the SHA-256 of named arrays, as hexadecimal digits."""
    content = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        content.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        content.update(array.tobytes())
    return content.hexdigest()


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
    import msgspec

    source = os.fsdecode(path)
    try:
        with open(path, "rb") as stream:
            arrays = _arrays_in(stream, source)
        if arrays.pop(_DIGEST) != digest_of_arrays(arrays):
            raise ValueError("another SHA-256")
        text = arrays[_LAYOUT].tobytes()
        bits = int(arrays["score bits"])

        def restored(kind: type, content: Any) -> Any:
            return Note.from_dict(content) if kind is Note else arrays[content]

        stored = msgspec.json.decode(text, type=Evaluation, dec_hook=restored)
        evaluation = _completed(stored)
    except UnreadableFile:
        raise
    except OSError as error:
        raise UnreadableFile(f"{source}: cannot be read: {error.strerror or error}") from error
    except (
        Exception
    ) as error:  # whatever zipfile, zlib, msgspec and NumPy raise for arbitrary bytes
        problem = (
            "is not a saved evaluation of this version, or is damaged; evaluate the runs again"
        )
        raise FormatError(source, problem) from error
    if bits != score_bits(evaluation.ties):
        raise MismatchError(
            f"{source} was evaluated where pytrec_eval compares scores in {bits} bits, here it does"
            f" in {score_bits(evaluation.ties)}, so that ties differ; evaluate the runs again"
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


def _completed(stored: Evaluation) -> Evaluation:
    """Return an evaluation with what follows from the arrays of a file."""
    if stored.values is not None:
        _check_values(stored.values)
        return stored
    _check_arrays(stored)
    qrels = cast(Qrels, stored.qrels)
    first = stored.runs[0]
    relevant = qrels.codes[qrels.grades >= first.rel]
    completed = replace(
        first,
        query_ids=qrels.query_ids,
        offsets=np.searchsorted(relevant, np.arange(len(qrels.query_ids) + 1)),
    )
    runs = tuple(replace(run.sharing(completed), qrels_digest=qrels.digest) for run in stored.runs)
    scores = tuple(replace(scores, query_ids=qrels.query_ids) for scores in stored.scores)
    return replace(stored, runs=runs, scores=scores)


def _check_values(scores: Scores) -> None:
    """Refuse arrays of values that have another shape or kind."""
    shape = len(scores.runs), len(scores.query_ids)
    expected: list[tuple[Any, tuple[int, ...], type]] = [(scores.values, shape, np.float64)]
    if scores.clusters is not None:
        expected.append((scores.clusters, shape[1:], np.int64))
    everywhere = scores.everywhere
    if everywhere is not None:
        whole = len(scores.runs), len(everywhere.query_ids)
        expected += [(everywhere.values, whole, np.float64), (everywhere.missing, whole, np.bool_)]
    _check_shapes(expected)


def _check_arrays(stored: Evaluation) -> None:
    """Refuse arrays of another shape or kind, and grades that no qrels can have."""
    qrels = cast(Qrels, stored.qrels)
    if np.any((qrels.grades > LARGEST_WHOLE) | (qrels.grades < -LARGEST_WHOLE)):
        raise ValueError("a grade is too large")
    n_queries = len(qrels.query_ids)
    n_judgments = len(qrels.grades)
    n_atoms = int(np.sum(qrels.grades >= stored.rel))
    expected: list[tuple[Any, tuple[int, ...], type]] = [
        (qrels.offsets, (n_queries + 1,), np.int64),
        (qrels.grades, (n_judgments,), np.int64),
        (qrels.docids, (n_judgments,), np.bytes_),
    ]
    for run in stored.runs:
        expected += [(getattr(run, name), (n_atoms,), np.int32) for name in PER_ATOM]
        expected += [(getattr(run, name), (n_queries,), np.bool_) for name in FLAGS]
        expected += [
            (run.retrieved, (n_queries,), np.int32),
            (run.unjudged, (n_queries,), np.uint8),
            (run.digests, (n_queries, DIGEST), np.uint8),
        ]
        if run.clusters is not None:
            expected.append((run.clusters, (n_queries,), np.int64))
    shape = len(stored.runs), n_queries
    expected += [(scores.values, shape, np.float64) for scores in stored.scores]
    _check_shapes(expected)


def _check_shapes(expected: Sequence[tuple[Any, tuple[int, ...], type]]) -> None:
    for array, shape, kind in expected:
        if array.shape != shape or not np.issubdtype(array.dtype, kind):
            raise ValueError("an array of another shape or kind")
