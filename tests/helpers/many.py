"""Small collections of runs for the tests of the analyses of many runs."""

import numpy as np

from tests.helpers.literal import Qrels, Run


def collection(
    n_runs: int, n_queries: int, relevant: int = 1, seed: int = 0, depth: int = 10
) -> tuple[Qrels, dict[str, Run]]:
    """Runs that rank `relevant` documents of each query somewhere, or not at all."""
    rng = np.random.default_rng(seed)
    golds = [f"g{number}" for number in range(relevant)]
    qrels = {f"q{number}": dict.fromkeys(golds, 1) for number in range(n_queries)}
    runs: dict[str, Run] = {}
    for number in range(n_runs):
        run: Run = {}
        for query in qrels:
            places = rng.permutation(depth + 4)[:relevant]
            places = np.maximum(places - rng.integers(0, 2 + number, relevant), 0)
            order: list[str] = [f"x{place}" for place in range(depth)]
            for gold, place in sorted(
                zip(golds, places.tolist(), strict=True), key=lambda pair: -pair[1]
            ):
                if place < depth:
                    order.insert(place, gold)
            run[query] = {document: 100.0 - place for place, document in enumerate(order[:depth])}
        runs[f"run{number}"] = run
    return qrels, runs


def judged_in_part(
    seed: int, n_queries: int, n_documents: int, share: float = 0.5, relevant: float = 0.4
) -> tuple[Qrels, dict[str, Run]]:
    """Two runs over the same documents, of which a share is judged."""
    rng = np.random.default_rng(seed)
    qrels: Qrels = {}
    runs: dict[str, Run] = {"A": {}, "B": {}}
    documents = [f"d{place}" for place in range(n_documents)]
    for query in (f"q{number}" for number in range(n_queries)):
        qrels[query] = {
            document: int(rng.random() < relevant) for document in documents if rng.random() < share
        }
        qrels[query].setdefault("elsewhere", int(rng.random() < 0.7))
        for run in runs.values():
            order = rng.permutation(documents)[: max(1, n_documents - 1)].tolist()
            run[query] = {document: 100.0 - place for place, document in enumerate(order)}
    return qrels, runs
