"""Small real collections for trying out everything without a network.

**The sample**, by `write_sample`: 1000 known-item queries over the descriptions of the 63,449
packages of Debian 12. The query is the synopsis of a package, the only relevant document its long
description with the name removed. The texts of the queries belong to the authors of the packages
and of their descriptions; ``data/NOTICE`` has their terms. There are four systems with 100
documents for each query:

- ``bm25``: k1 1.5, b 0.75, English stop words;
- ``bm25-flat``: BM25 with k1 0.9, b 0.4;
- ``bm25-stem``: BM25 with k1 1.2, b 0.75 and Snowball stems;
- ``rrf-stem-lsa``: reciprocal rank fusion of ``bm25-stem`` with a 256-dimensional latent semantic
  analysis;

and five runs of one system, `SEEDS`, in a folder ``seeds``: ``reranker_1`` to ``reranker_5`` reorder the
first 20 documents of ``bm25-stem`` by a small network that was trained on other queries, each time
from other random weights.

**The suite**, by `write_suite`: known-item search in the docstrings of numpy, scipy, scikit-learn
and pandas, a collection of 300 queries for each. The query is the first paragraph of a docstring,
the only relevant document the rest of it. The texts of the queries are distributed under the
licenses of these projects, which are written beside them. There are three systems with up to 50
documents for each query: ``bm25`` and ``bm25-stem`` (k1 1.2, b 0.75), and ``rrf-stem-lsa`` with 128
dimensions.
"""

import functools
import lzma
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from ir_outcomes.errors import ParameterError
from ir_outcomes.files import write_completely

__all__ = ["SEEDS", "SUITE_COLLECTIONS", "SUITE_SYSTEMS", "SYSTEMS", "write_sample", "write_suite"]

_DATA = files(__name__) / "data"
SYSTEMS = ("bm25", "bm25-flat", "bm25-stem", "rrf-stem-lsa")
SEEDS = 5  # runs of the reranker
RERANKED = 20  # documents
SUITE_COLLECTIONS = ("numpy", "scipy", "scikit-learn", "pandas")
SUITE_SYSTEMS = ("bm25", "bm25-stem", "rrf-stem-lsa")


def write_sample(folder: str | os.PathLike[str]) -> list[Path]:
    """Write the sample's qrels, queries and runs into a folder.

    Returns
    -------
    list of Path
        ``qrels.txt``, ``queries.tsv``, ``NOTICE``, which states whose the texts are, one
        ``<system>.run`` in TREC's six columns for each of `SYSTEMS`, and ``seeds/reranker_1.run``
        to ``seeds/reranker_5.run``.

    Raises
    ------
    ParameterError
        If a file with one of these names and other content exists, or the folder cannot be written
        to.

    Examples
    --------
    >>> import tempfile
    >>> [path.name for path in write_sample(tempfile.mkdtemp())][:7]
    ['qrels.txt', 'queries.tsv', 'NOTICE', 'bm25.run', 'bm25-flat.run', 'bm25-stem.run', 'rrf-stem-lsa.run']
    """
    return _write(_sample(), folder)


def write_suite(folder: str | os.PathLike[str]) -> list[Path]:
    """Write the suite of four collections into a folder.

    Returns
    -------
    list of Path
        ``NOTICE``, and for each of `SUITE_COLLECTIONS` a folder with ``qrels.txt``,
        ``queries.tsv``, ``LICENSE`` and one ``<system>.run`` in TREC's six columns for each of
        `SUITE_SYSTEMS`.

    Raises
    ------
    ParameterError
        If a file with one of these names and other content exists, or the folder cannot be written
        to.
    """
    return _write(_suite(), folder)


@functools.cache
def _sample() -> Mapping[str, bytes]:
    content = {name: (_DATA / name).read_bytes() for name in ("qrels.txt", "queries.tsv", "NOTICE")}
    for system in SYSTEMS:
        content[f"{system}.run"] = _as_trec(_entries(system), system)
    first = groupby(_entries("bm25-stem"), key=itemgetter(0))
    lists = [(query, [document for _, document, _ in entries]) for query, entries in first]
    orders = [line.split() for line in _lines((_DATA / "reranker.xz").read_bytes())]
    for seed in range(SEEDS):
        entries = []
        for (query, documents), letters in zip(lists, orders, strict=True):
            ranking = [documents[ord(letter) - ord("a")] for letter in letters[seed]]
            ranking += documents[RERANKED:]
            for above, document in enumerate(ranking):
                entries.append((query, document, str(len(ranking) - above)))
        name = f"reranker_{seed + 1}"
        content[f"seeds/{name}.run"] = _as_trec(entries, name)
    return content


def _entries(system: str) -> list[list[str]]:
    """Return query, document and score of each line of a run."""
    return [line.split() for line in _lines((_DATA / f"{system}.xz").read_bytes())]


@functools.cache
def _suite() -> Mapping[str, bytes]:
    content = {"NOTICE": (_DATA / "suite" / "NOTICE").read_bytes()}
    for collection in SUITE_COLLECTIONS:
        source = _DATA / "suite" / collection
        content |= {
            f"{collection}/{name}": (source / name).read_bytes()
            for name in ("qrels.txt", "queries.tsv", "LICENSE")
        }
        queries = [
            line.split()[0] for line in (source / "qrels.txt").read_text("utf-8").splitlines()
        ]
        documents = _lines((source / "documents.xz").read_bytes())
        for system in SUITE_SYSTEMS:  # a line has the numbers and scores of a query's documents
            rankings = zip(
                queries, map(str.split, _lines((source / f"{system}.xz").read_bytes())), strict=True
            )
            entries = (
                (query, documents[int(number)], score)
                for query, fields in rankings
                for number, score in zip(fields[::2], fields[1::2], strict=True)
            )
            content[f"{collection}/{system}.run"] = _as_trec(entries, system)
    return content


def _lines(compressed: bytes) -> list[str]:
    return lzma.decompress(compressed).decode("utf-8").splitlines()


def _as_trec(entries: Iterable[Sequence[str]], system: str) -> bytes:
    rankings = groupby(entries, key=itemgetter(0))
    ranked = (entry for _, ranking in rankings for entry in enumerate(ranking, 1))
    return "".join(
        f"{query} Q0 {document} {rank} {score} {system}\n"
        for rank, (query, document, score) in ranked
    ).encode()


def _write(content: Mapping[str, bytes], folder: str | os.PathLike[str]) -> list[Path]:
    written = {Path(folder, name): text for name, text in content.items()}
    try:
        for path, text in written.items():
            if path.exists() and path.read_bytes() != text:
                raise FileExistsError(f"{path} exists with other content")
        for path, text in written.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_completely(path, text)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte
        reason = getattr(error, "strerror", None) or error
        raise ParameterError(
            f"{folder}: the sample cannot be written there ({reason}); choose another folder"
        ) from error
    return list(written)
