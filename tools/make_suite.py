"""Make the embedded suite of four small collections: ``PYTHONHASHSEED=0 python tools/make_suite.py``.

It is known-item search in the docstrings of numpy, scipy, scikit-learn and pandas: a query is the
first paragraph of a docstring, its only relevant document is the rest of the same docstring. The
packages, bm25s and PyStemmer must be installed in the versions of `VERSIONS`, because other
versions have other docstrings.
"""

import importlib
import inspect
import lzma
import os
import pkgutil
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import distribution, version
from pathlib import Path
from types import ModuleType
from typing import Any

import bm25s
import numpy as np
import Stemmer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

PACKAGES = {"numpy": "numpy", "scipy": "scipy", "scikit-learn": "sklearn", "pandas": "pandas"}
VERSIONS = {
    "numpy": "2.4.6",
    "scipy": "1.17.1",
    "scikit-learn": "1.9.1",
    "pandas": "3.1.1",
    "bm25s": "0.3.16",
    "PyStemmer": "3.1.0",
}
LICENSES = {
    "numpy": "licenses/LICENSE.txt",
    "scipy": "LICENSE.txt",
    "scikit-learn": "licenses/COPYING",
    "pandas": "licenses/LICENSE",
}
N_QUERIES = 300
DEPTH = 50
MIN_WORDS_OF_DOCUMENT = 30
WORDS_OF_QUERY = range(4, 21)
SEED = 2021
DATA = Path(__file__).parents[1] / "src" / "ir_outcomes" / "samples" / "data" / "suite"
NOT_PUBLIC = {
    "tests",
    "conftest",
    "testing",
    "f2py",
    "distutils",
    "externals",
    "setup",
    "formats",
    "core",
}
# Scipy computes these examples when it is imported.
VARYING = re.compile(r"^.*# may vary$", re.MULTILINE)
SIGNATURE = re.compile(r"^[\w.]+\(.*\)( -> .*)?$", re.DOTALL)


@dataclass(frozen=True)
class Docstring:
    """One documented object: its name, the first paragraph of its docstring, and the rest."""

    name: str
    summary: str
    rest: str


def public_modules(package: str) -> Iterator[ModuleType]:
    root = importlib.import_module(package)
    yield root
    for found in pkgutil.walk_packages(root.__path__, f"{package}.", onerror=lambda name: None):
        parts = found.name.split(".")
        if any(part.startswith("_") or part in NOT_PUBLIC for part in parts):
            continue
        try:
            yield importlib.import_module(found.name)
        except ImportError:  # modules that need a package that is not installed
            continue


def documented(module: ModuleType, package: str) -> Iterator[tuple[str, Any]]:
    """Yield the public functions, classes and methods of a module, with their names."""
    exported = getattr(module, "__all__", None)
    for name in sorted(exported or dir(module)):
        found = getattr(module, name, None)
        if name.startswith("_") or found is None or inspect.ismodule(found):
            continue
        if exported is None and getattr(found, "__module__", None) != module.__name__:
            continue  # imported for the module's own use
        yield f"{module.__name__}.{name}", found
        if inspect.isclass(found) and (found.__module__ or "").startswith(package):
            for attribute in sorted(dir(found)):
                if not attribute.startswith("_"):
                    yield (
                        f"{module.__name__}.{name}.{attribute}",
                        inspect.getattr_static(found, attribute),
                    )


def docstrings(package: str) -> list[Docstring]:
    """Find the docstrings of a package; the same text under several names counts once, under the shortest of them."""
    names: dict[str, str] = {}
    for module in public_modules(package):
        for name, found in documented(module, package):
            text = getattr(found, "__doc__", None)
            origin = getattr(found, "__module__", None)
            if (
                not callable(found)
                or not isinstance(text, str)
                or (origin and not origin.startswith(package))
            ):
                continue
            text = VARYING.sub("", inspect.cleandoc(text))
            names[text] = min(names.get(text, name), name, key=lambda known: (len(known), known))
    found_texts = []
    for text, name in names.items():
        paragraphs = text.split("\n\n")
        if SIGNATURE.match(paragraphs[0]):
            paragraphs = paragraphs[1:]
        if paragraphs and len(" ".join(paragraphs[1:]).split()) >= MIN_WORDS_OF_DOCUMENT:
            found_texts.append(
                Docstring(name, " ".join(paragraphs[0].split()), "\n\n".join(paragraphs[1:]))
            )
    return sorted(found_texts, key=lambda found: found.name)


def choose_queries(found: Iterable[Docstring]) -> list[Docstring]:
    """Draw the queries among the docstrings whose first paragraph is neither short nor long and occurs once."""
    found = list(found)
    occurrences = Counter(docstring.summary for docstring in found)
    usable = [
        docstring
        for docstring in found
        if occurrences[docstring.summary] == 1 and len(docstring.summary.split()) in WORDS_OF_QUERY
    ]
    chosen = random.Random(SEED).sample(usable, N_QUERIES)
    return sorted(chosen, key=lambda docstring: docstring.name)


def bm25(documents: list[str], queries: list[str], stemmer: Any = None) -> np.ndarray:
    """Score every document for every query by BM25."""
    index = bm25s.BM25(k1=1.2, b=0.75)
    index.index(
        bm25s.tokenize(documents, stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )
    tokens = bm25s.tokenize(
        queries, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
    )
    return np.stack(
        [index.get_scores(words) if words else np.zeros(len(documents)) for words in tokens]
    )


def latent_semantics(documents: list[str], queries: list[str]) -> np.ndarray:
    """Score every document for every query by the cosine in a space of 128 dimensions."""
    vectorizer = TfidfVectorizer(stop_words="english", sublinear_tf=True, min_df=2)
    weights = vectorizer.fit_transform(documents)
    decomposition = TruncatedSVD(128, algorithm="arpack", random_state=0)
    found = (
        decomposition.fit_transform(weights),
        decomposition.transform(vectorizer.transform(queries)),
    )
    document_vectors, query_vectors = (
        vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        for vectors in found
    )
    return np.asarray(np.round(query_vectors @ document_vectors.T, 6))


def fusion(scores: Iterable[np.ndarray]) -> np.ndarray:
    """Fuse several arrays of scores by reciprocal rank."""
    places = (
        np.argsort(np.argsort(-values, axis=1, kind="stable"), axis=1, kind="stable")
        for values in scores
    )
    return np.asarray(sum(1 / (61 + place) for place in places))


def systems(documents: list[str], queries: list[str]) -> dict[str, np.ndarray]:
    """Score every document for every query by each system, rounded: digits are what the files consist of."""
    stemmed = bm25(documents, queries, Stemmer.Stemmer("english"))
    return {
        "bm25": np.round(bm25(documents, queries), 2),
        "bm25-stem": np.round(stemmed, 2),
        "rrf-stem-lsa": np.round(fusion([stemmed, latent_semantics(documents, queries)]), 5),
    }


def results(scores: np.ndarray, names: list[str]) -> str:
    """Write one line for each query: numbers of documents and scores, in trec_eval's order."""
    lines = []
    for row in scores:
        order = sorted(
            np.flatnonzero(row > 0), key=lambda place: (row[place], names[place]), reverse=True
        )[:DEPTH]
        lines.append(" ".join(f"{place} {row[place]:g}" for place in order))
    return "\n".join(lines) + "\n"


def license_of(package: str) -> str:
    """Return the license of a package, without the licenses of software that its binaries contain."""
    text = distribution(package).read_text(LICENSES[package])
    if text is None:
        raise FileNotFoundError(f"{package}: {LICENSES[package]}")
    return text.partition("\n----")[0].rstrip() + "\n"


def compressed(text: str) -> bytes:
    return lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)


def main() -> int:
    wrong = {name: version(name) for name, wanted in VERSIONS.items() if version(name) != wanted}
    if wrong:
        print(f"the suite is made with {VERSIONS}; installed are {wrong}")
        return 1
    if os.environ.get("PYTHONHASHSEED") != "0":
        print("set PYTHONHASHSEED=0: scipy writes sets into its docstrings when it is imported")
        return 1
    warnings.simplefilter("ignore")
    for collection, package in PACKAGES.items():
        found = docstrings(package)
        queries = choose_queries(found)
        names = [docstring.name for docstring in found]
        folder = DATA / collection
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "qrels.txt").write_text(
            "".join(f"{query.name} 0 {query.name} 1\n" for query in queries), "utf-8"
        )
        (folder / "queries.tsv").write_text(
            "".join(f"{query.name}\t{query.summary}\n" for query in queries), "utf-8"
        )
        (folder / "LICENSE").write_text(license_of(collection), "utf-8")
        (folder / "documents.xz").write_bytes(compressed("\n".join(names) + "\n"))
        scored = systems(
            [docstring.rest for docstring in found], [query.summary for query in queries]
        )
        for system, scores in scored.items():
            (folder / f"{system}.xz").write_bytes(compressed(results(scores, names)))
        print(f"{collection}: {len(found)} documents, {len(queries)} queries")
    return 0


if __name__ == "__main__":
    sys.exit(main())
