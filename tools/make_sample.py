"""Make the embedded sample from a folder of known-item runs: ``python tools/make_sample.py FOLDER``.

FOLDER holds ``qrels.txt``, ``queries.tsv`` and one ``<system>.run.gz`` for each system: queries are
the synopses of Debian 12 packages, documents the long descriptions of all packages with the name
removed, the target is the package itself. The reranker is trained on the queries that are not part
of the sample.
"""

import gzip
import lzma
import random
import string
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ir_outcomes.samples import RERANKED, SEEDS, SYSTEMS

N_QUERIES = 1000
SEED = 2021
FEATURES = ("bm25-stem", "bm25", "bm25-flat", "chargram", "rrf-stem-lsa")
HIDDEN = 8
EPOCHS = 3
BATCHES = 55
RATE = 0.5

Lists = dict[str, dict[str, float]]
Array = np.ndarray[Any, Any]


def main(folder: Path, target: Path) -> None:
    judgments = (folder / "qrels.txt").read_text().splitlines()
    chosen = set(random.Random(SEED).sample([line.split()[0] for line in judgments], N_QUERIES))

    def keep(lines: list[str]) -> list[str]:
        return [line for line in lines if line.split(maxsplit=1)[0] in chosen]

    (target / "qrels.txt").write_text("\n".join(keep(judgments)) + "\n")
    (target / "queries.tsv").write_text(
        "\n".join(keep((folder / "queries.tsv").read_text().splitlines())) + "\n"
    )
    for system in SYSTEMS:
        with gzip.open(folder / f"{system}.run.gz", "rt") as stream:
            lines = keep(stream.read().splitlines())
        text = "".join(f"{fields[0]} {fields[2]} {fields[4]}\n" for fields in map(str.split, lines))
        write(target / f"{system}.xz", text)
    lists = [lists_of(folder / f"{system}.run.gz") for system in FEATURES]
    relevant = {line.split()[0]: line.split()[2] for line in judgments}
    inputs = {query: features(query, lists) for query in relevant}
    examples = []
    for query, document in relevant.items():
        documents = list(lists[0][query])[:RERANKED] if query in lists[0] else []
        if query not in chosen and document in documents and len(documents) == RERANKED:
            examples.append((inputs[query], documents.index(document)))
    fitted = [fit(examples, seed) for seed in range(1, SEEDS + 1)]
    text = ""
    for query in lists[0]:
        if query in chosen:
            n = min(len(lists[0][query]), RERANKED)
            orders = (np.argsort(-scores(inputs[query][:n], *own), kind="stable") for own in fitted)
            letters = ("".join(string.ascii_lowercase[place] for place in own) for own in orders)
            text += " ".join(letters) + "\n"
    write(target / "reranker.xz", text)


def write(path: Path, text: str) -> None:
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def lists_of(path: Path) -> Lists:
    """Read the scores of each query's documents."""
    lists: Lists = {}
    with gzip.open(path, "rt") as stream:
        for line in stream:
            query, _, document, _, score, _ = line.split()
            lists.setdefault(query, {})[document] = float(score)
    return lists


def features(query: str, lists: list[Lists]) -> Array:
    """(RERANKED, 2 n_runs) scores, divided by the largest, and reciprocal ranks of the first run's documents in all runs."""
    found = np.zeros((RERANKED, 2 * len(lists)))
    first = list(lists[0].get(query, {}))[:RERANKED]
    for run, of_run in enumerate(lists):
        own = of_run.get(query, {})
        largest = max(own.values(), default=1.0)
        ranks = {document: rank for rank, document in enumerate(own, 1)}
        for place, document in enumerate(first):
            if document in own:
                found[place, 2 * run : 2 * run + 2] = own[document] / largest, 1 / ranks[document]
    return found


def scores(inputs: Array, hidden: Array, output: Array) -> Array:
    """Return the score of each document: a network with one hidden layer."""
    of_documents: Array = np.tanh(inputs @ hidden) @ output
    return of_documents


def fit(examples: list[tuple[Array, int]], seed: int) -> tuple[Array, Array]:
    """Train a network from weights and in an order that the seed draws: the softmax over a query's documents."""
    inputs = np.stack([own for own, _ in examples])
    places = np.array([place for _, place in examples])
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(inputs.shape[2], HIDDEN))
    output = rng.normal(size=HIDDEN) / np.sqrt(HIDDEN)
    for _ in range(EPOCHS):
        for batch in np.array_split(rng.permutation(len(inputs)), BATCHES):
            layer = np.tanh(inputs[batch] @ hidden)
            chances = np.exp(layer @ output)
            chances /= chances.sum(axis=1, keepdims=True)
            chances[np.arange(len(batch)), places[batch]] -= 1
            of_layer = chances[..., None] * output * (1 - layer**2)
            steps = (
                np.einsum("ij,ijk->k", chances, layer),
                np.einsum("ijf,ijk->fk", inputs[batch], of_layer),
            )
            output -= RATE * steps[0] / len(batch)
            hidden -= RATE * steps[1] / len(batch)
    return hidden, output


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(__file__).parents[1] / "src" / "ir_outcomes" / "samples" / "data")
