"""A small real collection for trying out everything without a network.

1000 known-item queries over the descriptions of the 63,449 packages of Debian 12: the query is the synopsis of a package, the
only relevant document its long description with the name removed. The texts of the queries belong to the authors of the
packages and of their descriptions; ``data/NOTICE`` has their terms. Four systems, 100 documents for each query:

- ``bm25``: k1 1.5, b 0.75, English stop words;
- ``bm25-flat``: BM25 with k1 0.9, b 0.4;
- ``bm25-stem``: BM25 with k1 1.2, b 0.75 and Snowball stems;
- ``rrf-stem-lsa``: reciprocal rank fusion of ``bm25-stem`` with a 256-dimensional latent semantic analysis.
"""

from __future__ import annotations

import lzma
import os
from importlib.resources import files
from pathlib import Path

from ir_outcomes.errors import ParameterError

__all__ = ["SYSTEMS", "write_sample"]

SYSTEMS = ("bm25", "bm25-flat", "bm25-stem", "rrf-stem-lsa")


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
    data = files(__name__) / "data"
    content = {name: (data / name).read_bytes() for name in ("qrels.txt", "queries.tsv", "NOTICE")}
    for system in SYSTEMS:
        content[f"{system}.run"] = _as_trec(lzma.decompress((data / f"{system}.xz").read_bytes()).decode(), system).encode()
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, text in content.items():
            path = target / name
            if path.exists() and path.read_bytes() != text:
                raise ParameterError(f"{path} exists with other content; choose another folder")
            path.write_bytes(text)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte
        if isinstance(error, ParameterError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise ParameterError(f"{target}: the sample cannot be written there ({reason}); choose another folder") from error
    return [target / name for name in content]


def _as_trec(text: str, system: str) -> str:
    lines = []
    last, rank = "", 0
    for line in text.splitlines():
        query, document, score = line.split()
        rank = rank + 1 if query == last else 1
        last = query
        lines.append(f"{query} Q0 {document} {rank} {score} {system}\n")
    return "".join(lines)
