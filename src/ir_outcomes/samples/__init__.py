"""Small real collections for trying out everything without a network: one of 1000 queries, and a suite of four.

**The sample**, by `write_sample`: 1000 known-item queries over the descriptions of the 63,449 packages of Debian 12. The query
is the synopsis of a package, the only relevant document its long description with the name removed. The texts of the queries
belong to the authors of the packages and of their descriptions; ``data/NOTICE`` has their terms. There are four systems with
100 documents for each query:

- ``bm25``: k1 1.5, b 0.75, English stop words;
- ``bm25-flat``: BM25 with k1 0.9, b 0.4;
- ``bm25-stem``: BM25 with k1 1.2, b 0.75 and Snowball stems;
- ``rrf-stem-lsa``: reciprocal rank fusion of ``bm25-stem`` with a 256-dimensional latent semantic analysis.

**The suite**, by `write_suite`: known-item search in the docstrings of numpy, scipy, scikit-learn and pandas, a collection of
300 queries for each. The query is the first paragraph of a docstring, the only relevant document the rest of it. The texts of
the queries are distributed under the licenses of these projects, which are written beside them. There are three systems with up
to 50 documents for each query: ``bm25`` and ``bm25-stem`` (k1 1.2, b 0.75), and ``rrf-stem-lsa`` with 128 dimensions.
"""

import functools
import lzma
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from ir_outcomes.errors import ParameterError
from ir_outcomes.formatting import write_completely

__all__ = ["SUITE_COLLECTIONS", "SUITE_SYSTEMS", "SYSTEMS", "write_sample", "write_suite"]

SYSTEMS = ("bm25", "bm25-flat", "bm25-stem", "rrf-stem-lsa")
SUITE_COLLECTIONS = ("numpy", "scipy", "scikit-learn", "pandas")
SUITE_SYSTEMS = ("bm25", "bm25-stem", "rrf-stem-lsa")


def write_sample(folder: str | os.PathLike[str]) -> list[Path]:
    """Write the sample's qrels, queries and runs into a folder, which is created if it does not exist.

    Returns
    -------
    list of Path
        ``qrels.txt``, ``queries.tsv``, one ``<system>.run`` in TREC's six columns for each of `SYSTEMS`, and ``NOTICE``, which
        states whose the texts are.

    Raises
    ------
    ParameterError
        If a file with one of these names and other content exists, or the folder cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> [path.name for path in write_sample(tempfile.mkdtemp())]
    ['qrels.txt', 'queries.tsv', 'NOTICE', 'bm25.run', 'bm25-flat.run', 'bm25-stem.run', 'rrf-stem-lsa.run']
    """
    return _write(_sample(), folder)


def write_suite(folder: str | os.PathLike[str]) -> list[Path]:
    """Write the suite of four collections into a folder, which is created if it does not exist.

    Returns
    -------
    list of Path
        ``NOTICE``, and for each of `SUITE_COLLECTIONS` a folder with ``qrels.txt``, ``queries.tsv``, ``LICENSE`` and one
        ``<system>.run`` in TREC's six columns for each of `SUITE_SYSTEMS`.

    Raises
    ------
    ParameterError
        If a file with one of these names and other content exists, or the folder cannot be written to.
    """
    return _write(_suite(), folder)


@functools.cache
def _sample() -> Mapping[str, bytes]:
    data = files(__name__) / "data"
    content = {name: (data / name).read_bytes() for name in ("qrels.txt", "queries.tsv", "NOTICE")}
    for system in SYSTEMS:
        lines = _decompressed((data / f"{system}.xz").read_bytes()).splitlines()
        content[f"{system}.run"] = _as_trec(map(str.split, lines), system)
    return content


@functools.cache
def _suite() -> Mapping[str, bytes]:
    data = files(__name__) / "data" / "suite"
    content = {"NOTICE": (data / "NOTICE").read_bytes()}
    for collection in SUITE_COLLECTIONS:
        source = data / collection
        content |= {f"{collection}/{name}": (source / name).read_bytes() for name in ("qrels.txt", "queries.tsv", "LICENSE")}
        queries = [line.split()[0] for line in (source / "qrels.txt").read_text("utf-8").splitlines()]
        documents = _decompressed((source / "documents.xz").read_bytes()).splitlines()
        for system in SUITE_SYSTEMS:
            results = _decompressed((source / f"{system}.xz").read_bytes()).splitlines()
            entries = (
                (query, documents[int(number)], score)
                for query, line in zip(queries, results, strict=True)
                for number, score in _pairs(line.split())
            )
            content[f"{collection}/{system}.run"] = _as_trec(entries, system)
    return content


def _pairs(fields: list[str]) -> Iterable[tuple[str, str]]:
    return zip(fields[::2], fields[1::2], strict=True)


def _decompressed(content: bytes) -> str:
    return lzma.decompress(content).decode("utf-8")


def _write(content: Mapping[str, bytes], folder: str | os.PathLike[str]) -> list[Path]:
    target = Path(folder)
    try:
        for name, text in content.items():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and path.read_bytes() != text:
                raise ParameterError(f"{path} exists with other content; choose another folder")
            write_completely(path, text)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte
        if isinstance(error, ParameterError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise ParameterError(f"{target}: the sample cannot be written there ({reason}); choose another folder") from error
    return [target / name for name in content]


def _as_trec(entries: Iterable[Sequence[str]], system: str) -> bytes:
    lines = []
    last, rank = "", 0
    for query, document, score in entries:
        rank = rank + 1 if query == last else 1
        last = query
        lines.append(f"{query} Q0 {document} {rank} {score} {system}\n")
    return "".join(lines).encode()
