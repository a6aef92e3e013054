"""The file format of search lengths: an npz archive without pickles, with the arrays and one JSON text for everything else.

A file is written completely or not at all, so that processes share a folder without locks. Whatever is read is checked: its
size before it is decompressed, and the values, because a file may be damaged, or written by somebody else.
"""

from __future__ import annotations

import io
import json
import os
import stat
import uuid
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import FormatError, MismatchError, ParameterError, UnreadableFile
from ir_outcomes.evaluation.ranking import pytrec_eval_compares_as_float32
from ir_outcomes.reading.files import LARGEST_RATIO, UNSUSPICIOUS
from ir_outcomes.types import Floats, Ties

__all__ = ["LAYOUT", "PER_ATOM", "PER_QUERY", "load_parts", "load_values", "save_parts", "save_values", "score_bits"]

LAYOUT = 4  # must change whenever a file of the old layout would be misread

PER_ATOM = ("rank", "irrelevant_above", "level_relevant", "level_irrelevant")
PER_QUERY = ("retrieved", "unjudged", "listed")
_ARRAYS = ("offsets", *PER_ATOM, *PER_QUERY)
_TEXTS = ("unjudged_depths", "name", "query_ids", "ignored", "cutoff", "rel", "ties", "judged_only", "qrels_digest", "metadata")
_LARGEST_TEXT = 32 << 20  # bytes of JSON, which take up to twenty times as much as Python objects
_LARGEST_FILE = 1 << 30

_Arrays = dict[str, npt.NDArray[Any]]


def save_parts(parts: Mapping[str, Any], path: str | os.PathLike[str], key: str | None = None) -> None:
    """Write the fields of search lengths to a file; see `SearchLengths.save`.

    Parameters
    ----------
    parts : mapping
        Fields of `SearchLengths`.
    path : path
        The file.
    key : str, optional
        States what a cache entry was computed from.

    Raises
    ------
    ParameterError
        If the file cannot be written, or is a directory, device or pipe.
    """
    about = {field: parts[field] for field in _TEXTS}
    about |= {"layout": LAYOUT, "score_bits": score_bits(parts["ties"]), "key": key}
    text = json.dumps(about, default=lambda number: number.item())  # of NumPy
    arrays = {field: np.ascontiguousarray(parts[field]) for field in _ARRAYS}
    content = io.BytesIO()
    members: dict[str, Any] = {"about": np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    np.savez_compressed(content, **members)
    _write_completely(path, content.getvalue())


def load_parts(path: str | os.PathLike[str]) -> tuple[dict[str, Any], str | None]:
    """Read the fields of search lengths from a file; see `SearchLengths.load`.

    Returns
    -------
    dict
        Arguments of `SearchLengths`.
    str or None
        The key that it was saved with.

    Raises
    ------
    UnreadableFile
        If the file is missing, cannot be opened or is not a regular file.
    FormatError
        If it is not such a file, is damaged, was saved with another layout, or has values that search lengths cannot have.
    MismatchError
        If it was computed where pytrec_eval compares scores at another precision.
    """
    source = os.fsdecode(path)
    about, arrays = _content(source)
    if about.get("layout") != LAYOUT:
        raise FormatError(
            source,
            f"was saved by another version of ir_outcomes (layout {about.get('layout')!r}, this one has {LAYOUT}); "
            "evaluate the run again",
        )
    missing = [field for field in (*_ARRAYS, *_TEXTS, "score_bits", "key") if field not in arrays and field not in about]
    if missing:
        raise FormatError(source, f"lacks a part of search lengths ({', '.join(missing)}); evaluate the run again")
    for problem in _wrong_texts(about):
        raise FormatError(source, f"{problem}; evaluate the run again")
    for problem in _wrong_values(about, arrays):
        raise FormatError(source, f"its parts do not fit together: {problem}; evaluate the run again")
    bits = score_bits(about["ties"])
    if about["score_bits"] != bits:
        raise MismatchError(
            f"{source} was computed where pytrec_eval compares scores in {about['score_bits']} bits, here it does in {bits}, "
            "so that ties differ; evaluate the run again"
        )
    lists = {field: tuple(about[field]) for field in ("query_ids", "ignored", "unjudged_depths")}
    return {**{field: about[field] for field in _TEXTS}, **lists, **arrays}, about["key"]


def save_values(values: Floats, path: str | os.PathLike[str], key: str) -> None:
    """Write the values of measures to an entry of the cache: a line that states what they were computed from, then the numbers.

    Raises
    ------
    ParameterError
        If the file cannot be written.
    """
    _write_completely(path, f"{json.dumps(key)}\n".encode() + np.ascontiguousarray(values, dtype="<f8").tobytes())


def load_values(path: str | os.PathLike[str], key: str, shape: tuple[int, int]) -> Floats:
    """Read what `save_values` wrote; no more is read than an entry of this key and shape can hold.

    Raises
    ------
    UnreadableFile
        If the file cannot be opened.
    FormatError
        If it is the entry of something else, or damaged.
    """
    source, head = os.fsdecode(path), f"{json.dumps(key)}\n".encode()
    size = len(head) + 8 * shape[0] * shape[1]
    try:
        with open(path, "rb") as stream:
            content = stream.read(size + 1)
    except OSError as error:
        raise UnreadableFile(f"{source}: {error.strerror or error}") from error
    if len(content) != size or not content.startswith(head):
        raise FormatError(source, "is damaged, or the entry of another run or of other measures")
    return np.frombuffer(content, dtype="<f8", offset=len(head)).astype(np.float64).reshape(shape)


def score_bits(ties: str) -> int | None:
    """At which precision scores are compared, where pytrec_eval decides it."""
    if ties != "trec":
        return None
    return 32 if pytrec_eval_compares_as_float32() else 64


def _content(source: str) -> tuple[dict[str, Any], _Arrays]:
    try:
        with open(source, "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableFile(f"{source}: is not a regular file")
            return _unpacked(stream, status.st_size)
    except UnreadableFile:
        raise
    except Exception as error:  # whatever zipfile, zlib, json and NumPy raise for arbitrary bytes
        if isinstance(error, OSError) or (isinstance(error, ValueError) and "null" in str(error)):
            raise UnreadableFile(f"{source}: {getattr(error, 'strerror', None) or error}") from error
        raise FormatError(
            source, f"does not have search lengths, or is damaged ({type(error).__name__}: {error}); evaluate the run again"
        ) from error


def _unpacked(stream: Any, size: int) -> tuple[dict[str, Any], _Arrays]:
    """Read all members of the archive, after their sizes were checked."""
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        total = sum(member.file_size for member in members)
        if total > _LARGEST_FILE or (total > UNSUSPICIOUS and total > LARGEST_RATIO * size):
            raise ValueError(f"it would expand to {total:,} bytes; a decompression bomb?")
        names = [member.filename.removesuffix(".npy") for member in members]
        if sorted(names) != sorted({*names} & {"about", *_ARRAYS}):
            raise ValueError("it has other members than search lengths")
        content = {}
        for name, member in zip(names, members, strict=True):
            # With other methods zipfile decompresses the whole member, whatever its stated size.
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("it is compressed by another method")
            if name == "about" and member.file_size > _LARGEST_TEXT:
                raise ValueError("its text is too large")
            with archive.open(member) as file:
                content[name] = _array(file.read(member.file_size))  # with the size, or more than it would be decompressed
    text = content.pop("about")
    about = json.loads(text.tobytes())
    if not isinstance(about, dict):
        raise TypeError("its text is not an object")
    return about, content


def _array(data: bytes) -> npt.NDArray[Any]:
    """Read an array whose stated size is that of the data, without pickles."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array has another version")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy mends headers of Python 2, which we have not written, and warns
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype not in (np.dtype(np.int64), np.dtype(np.bool_), np.dtype(np.uint8)) or (is_fortran and len(shape) > 1):
        raise ValueError("an array has another type")
    n_values = 1
    for length in shape:
        n_values *= length
    if n_values * dtype.itemsize != len(data) - stream.tell() or any(length < 0 for length in shape):
        raise ValueError("an array has another size than it states")
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape).copy()


def _wrong_texts(about: Mapping[str, Any]) -> Iterator[str]:
    """Describe what is wrong with the part that is JSON."""
    if not all(isinstance(about[field], str) for field in ("name", "qrels_digest", "metadata")):
        yield "its name or metadata is not text"
    for field in ("query_ids", "ignored"):
        if not isinstance(about[field], list) or not all(isinstance(query, str) for query in about[field]):
            yield f"its {field} are not texts"
        elif len(set(about[field])) < len(about[field]):
            yield f"its {field} are repeated"
    if not (about["cutoff"] is None or _is_count(about["cutoff"])) or not _is_count(about["rel"]):
        yield "its cutoff or rel is not a positive whole number"
    if about["ties"] not in get_args(Ties) or not isinstance(about["judged_only"], bool):
        yield "its tie rule or judged_only is unknown"
    depths = about["unjudged_depths"]
    if not isinstance(depths, list) or not all(depth is None or _is_count(depth) for depth in depths):
        yield "its depths are not positive whole numbers"
    if not isinstance(about["key"], (str, type(None))):
        yield "its key is not text"


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 1 << 62


def _wrong_values(about: Mapping[str, Any], arrays: _Arrays) -> Iterator[str]:
    """Describe what search lengths cannot have: each line assumes that those before found nothing."""
    n_queries, depths = len(about["query_ids"]), about["unjudged_depths"]
    for field in _ARRAYS:
        if arrays[field].dtype != (np.bool_ if field == "listed" else np.int64):
            yield f"{field} has the wrong type"
    offsets = arrays["offsets"]
    if offsets.shape != (n_queries + 1,) or offsets[0] != 0 or np.any(np.diff(offsets) < 0):
        yield "offsets"
    shapes: dict[str, tuple[int, ...]] = {field: (int(offsets[-1]),) for field in PER_ATOM}
    shapes |= dict.fromkeys(PER_QUERY, (n_queries,))
    shapes["unjudged"] = (n_queries, len(depths))
    for field, shape in shapes.items():
        if arrays[field].shape != shape:
            yield f"{field} has the wrong size"
    rank, above, retrieved, unjudged = (arrays[field] for field in ("rank", "irrelevant_above", "retrieved", "unjudged"))
    level_relevant, level_irrelevant = arrays["level_relevant"], arrays["level_irrelevant"]
    cutoff = np.iinfo(np.int64).max if about["cutoff"] is None else about["cutoff"]
    if retrieved.min(initial=0) < 0 or retrieved.max(initial=0) > cutoff or np.any(retrieved[~arrays["listed"]] > 0):
        yield "numbers of retrieved documents"
    if rank.min(initial=0) < 0 or np.any(rank > np.repeat(retrieved, np.diff(offsets))):
        yield "ranks are negative, or beyond the cutoff or the list"
    if above.min(initial=0) < 0 or np.any(above > np.maximum(rank - 1, 0)):
        yield "numbers of irrelevant documents"
    in_one_order = about["ties"] != "expected"
    if level_relevant.min(initial=1) < 1 or level_irrelevant.min(initial=0) < 0:
        yield "sizes of tie levels"
    if in_one_order and (level_relevant.max(initial=1) > 1 or level_irrelevant.max(initial=0) > 0):
        yield "sizes of tie levels"
    within = np.array([np.iinfo(np.int64).max if depth is None else depth for depth in depths], dtype=np.int64)
    if unjudged.min(initial=0) < 0 or np.any(unjudged > np.minimum(retrieved[:, None], within)):
        yield "numbers of unjudged documents"


def _write_completely(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a temporary file beside it and rename that: whoever reads sees the old content or the new, never a part."""
    target = Path(path)
    try:
        target = target.resolve()  # a link stays one
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    if not stat.S_ISREG(mode):  # renaming would replace a device
        raise ParameterError(f"{os.fsdecode(path)}: cannot be written, because it is not a regular file")
    beside = target.with_name(f".{uuid.uuid4().hex}")
    try:
        beside.write_bytes(content)
        os.replace(beside, target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def _unwritable(path: str | os.PathLike[str], error: Exception) -> ParameterError:
    return ParameterError(f"{os.fsdecode(path)}: cannot be written ({getattr(error, 'strerror', None) or error})")
