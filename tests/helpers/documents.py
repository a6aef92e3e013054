"""Precision and search length of each relevant document, by their definitions."""

from tests.helpers.literal import Qrels, Run


def documents_by_definition(
    qrels: Qrels, run: Run, query: str, depth: int
) -> list[tuple[float, float]]:
    """Precision (equation 6, 0 if missing) and search length (the list filled up to the depth) of each relevant document."""
    ranking = run.get(query, {})
    return documents_of_list(qrels[query], sorted(ranking, key=lambda d: -ranking[d]), depth)


def documents_of_list(
    grades: dict[str, int], ranked: list[str], depth: int
) -> list[tuple[float, float]]:
    """Do the same for one ranked list."""
    ranked = ranked[:depth]
    golds = [document for document, grade in grades.items() if grade >= 1]
    found = sum(document in golds for document in ranked)
    result = []
    for gold in golds:
        if gold not in ranked:
            result.append((0.0, depth - found + 1.0))
            continue
        above = ranked[: ranked.index(gold)]
        relevant = sum(document in golds for document in above)
        result.append(((relevant + 1) / (len(above) + 1), len(above) - relevant + 1.0))
    return result
