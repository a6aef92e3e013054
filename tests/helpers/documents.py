"""Precision and search length of each relevant document, by their definitions."""

from tests.helpers import literal


def documents_by_definition(
    qrels: literal.Qrels, run: literal.Run, query: str, depth: int
) -> list[tuple[float, float]]:
    """Precision (equation 6, 0 if missing) and search length (the list filled up to the depth) of each relevant document."""
    order = literal.ranked(run.get(query, {}), "input")[:depth]
    golds = literal.relevant(qrels[query], 1)
    missing = depth - len({*order} & {*golds}) + 1.0
    found = []
    for gold in golds:
        if gold in order:
            rank = order.index(gold) + 1
            length = literal.atom(order, golds, gold)
            found.append(((rank - length + 1) / rank, length))
        else:
            found.append((0.0, missing))
    return found
