"""Runs of several systems for tests, drawn at random, some of which are several runs of one system."""

import numpy as np

Run = dict[str, dict[str, float]]


def drawn(
    seed: int, *, n_queries: int = 40, runs: dict[str, int], relevant: int = 1, depth: int = 12
) -> tuple[dict[str, dict[str, int]], dict[str, list[Run]]]:
    """Draw qrels with up to so many relevant documents a query, and lists in which runs of a system resemble each other."""
    rng = np.random.default_rng(seed)
    qrels = {
        f"q{query}": {f"d{n}": 1 for n in range(rng.integers(1, relevant + 1))}
        for query in range(n_queries)
    }
    documents = [f"d{n}" for n in range(2 * depth)]
    difficulty = rng.normal(size=(n_queries, len(documents)))
    found: dict[str, list[Run]] = {}
    for place, (name, number) in enumerate(runs.items()):
        own = difficulty + 0.7 * rng.normal(size=difficulty.shape)
        own[:, :relevant] += 0.8 + 0.5 * place
        found[name] = []
        for _ in range(number):
            scores = own + 0.6 * rng.normal(size=own.shape)
            scores[:, :relevant] += 0.4 * rng.normal()
            lists = np.argsort(-scores, axis=1)[:, :depth]
            found[name].append(
                {
                    query: {documents[d]: float(depth - rank) for rank, d in enumerate(row)}
                    for query, row in zip(qrels, lists, strict=True)
                }
            )
    return qrels, found
