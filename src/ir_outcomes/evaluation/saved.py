"""Saved evaluations: archives of arrays, refused where they are damaged."""

import hashlib
import io
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import FormatError, UnreadableFile
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.ranking import DIGEST
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.files import write_completely
from ir_outcomes.notes import Note
from ir_outcomes.reading.columns import LARGEST_WHOLE
from ir_outcomes.reading.files import refuse_bomb
from ir_outcomes.reading.qrels import Qrels

T = TypeVar("T")
Array = npt.NDArray[Any]
_ZIP = b"PK\x03\x04"
_LAYOUT = "evaluation 15"  # it changes whenever a file of the old layout would be misread
_DIGEST = "SHA-256"  # of everything else in the file
_BITS = "score bits"


def write_saved(path: str | os.PathLike[str], content: Any, bits: int) -> None:
    """Write a dataclass with arrays, each of which is stored once."""
    import msgspec

    arrays = {_BITS: np.array(bits)}
    names: dict[int, str] = {}

    def encoded(value: Any) -> Any:
        if isinstance(value, Note):
            return value.as_dict()
        if not isinstance(value, np.ndarray):
            return value.item()  # a number of NumPy
        name = names.setdefault(id(value), f"array {len(names)}")
        arrays[name] = value.astype(np.bytes_) if value.dtype == object else value  # long ids
        return name

    arrays[_LAYOUT] = np.frombuffer(msgspec.json.encode(content, enc_hook=encoded), np.uint8)
    arrays[_DIGEST] = np.array(digest_of_arrays(arrays))
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # its argument allow_pickle has another type
    write_completely(path, file.getvalue())


def read_saved(
    path: str | os.PathLike[str], kind: type[T], shapes: Callable[[T], Iterator[tuple[Array, Any]]]
) -> tuple[T, int]:
    """Read a dataclass whose arrays have these shapes, and the bits of scores."""
    import msgspec

    source = os.fsdecode(path)
    try:
        with open(path, "rb") as stream:
            arrays = _arrays_in(stream, source)
        if arrays.pop(_DIGEST) != digest_of_arrays(arrays):
            raise ValueError("another SHA-256")

        def decoded(kind: Any, value: Any) -> Any:
            if kind is Note:
                return Note.from_dict(value)
            [number] = get_args(get_args(kind)[1])  # of npt.NDArray[number]
            if not np.issubdtype(arrays[value].dtype, number):
                raise ValueError("an array of another kind")
            return arrays[value]

        content = msgspec.json.decode(arrays[_LAYOUT].tobytes(), type=kind, dec_hook=decoded)
        for array, shape in shapes(content):
            if array.shape != shape:
                raise ValueError("an array of another shape")
        return content, int(arrays[_BITS])
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


def _arrays_in(stream: BinaryIO, source: str) -> dict[str, Array]:
    """Return the arrays in a file, unless it expands to much more than its size."""
    if stream.read(4) != _ZIP:  # zipfile would look for the end of a device that has none
        raise ValueError("not a ZIP archive")
    with zipfile.ZipFile(stream) as archive:
        size = sum(member.file_size for member in archive.infolist())
        refuse_bomb(source, size, os.fstat(stream.fileno()).st_size)
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as arrays:
        return dict(arrays)


def digest_of_arrays(arrays: Mapping[str, Array]) -> str:
    """Return the SHA-256 of named arrays, as hexadecimal digits."""
    content = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        content.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        content.update(array.tobytes())
    return content.hexdigest()


def shapes_of_runs(
    runs: Sequence[SearchLengths], qrels: Qrels, scores: Sequence[Scores]
) -> Iterator[tuple[Array, Any]]:
    """Yield the arrays of runs and their qrels, each with the shape that it must have."""
    if np.any((qrels.grades > LARGEST_WHOLE) | (qrels.grades < -LARGEST_WHOLE)):
        raise ValueError("a grade is too large")
    n_queries = len(qrels.query_ids)
    n_atoms = int(np.sum(qrels.grades >= runs[0].rel))
    expected = {
        "offsets": (n_queries + 1,),
        "rank": (n_atoms,),
        "level_size": (n_atoms,),
        "digests": (n_queries, DIGEST),
    }
    yield qrels.offsets, expected["offsets"]
    yield qrels.docids, (len(qrels.grades),)
    yield qrels.grades, (len(qrels.grades),)
    for run in runs:
        for name, value in {**vars(run), **vars(run.diagnosis)}.items():
            if isinstance(value, np.ndarray):
                yield value, expected.get(name, (n_queries,))
    for of_measure in scores:
        yield of_measure.values, (len(runs), n_queries)


def shapes_of_values(scores: Scores) -> Iterator[tuple[Array, Any]]:
    """Yield the arrays of values, each with the shape that it must have."""
    shape = len(scores.runs), len(scores.query_ids)
    yield scores.values, shape
    if scores.clusters is not None:
        yield scores.clusters, shape[1:]
    if scores.everywhere is not None:
        of_all = len(scores.runs), len(scores.everywhere.query_ids)
        yield scores.everywhere.values, of_all
        yield scores.everywhere.missing, of_all
