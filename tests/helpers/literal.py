"""The definitions, written down once more from the papers alone: slow, plain, and sharing no code with the package."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]


def ranked(documents: dict[str, float], ties: str) -> list[str]:
    if ties == "trec":  # score descending as float32, then document id descending
        return sorted(
            sorted(documents, key=str.encode, reverse=True), key=lambda d: -np.float32(documents[d])
        )
    if ties == "msmarco":
        return sorted(sorted(documents, key=str.encode), key=lambda d: -documents[d])
    return sorted(documents, key=lambda d: -documents[d])


def orders(documents: dict[str, float]) -> Iterator[list[str]]:
    """Every order that a weak ordering allows."""
    scores = sorted(set(documents.values()), reverse=True)
    levels = [[d for d in documents if documents[d] == score] for score in scores]
    for choice in itertools.product(*(itertools.permutations(level) for level in levels)):
        yield [d for level in choice for d in level]


def relevant(judged: dict[str, int], rel: int) -> list[str]:
    return [d for d in judged if judged[d] >= rel]


def top(
    order: list[str], judged: dict[str, int], cutoff: int | None, judged_only: bool
) -> list[str]:
    if judged_only:
        order = [d for d in order if judged.get(d, -1) >= 0]
    return order if cutoff is None else order[:cutoff]


def esl(order: list[str], golds: list[str], need: int = 1) -> float:
    """Lin et al. 2021, section 4: the rank at which the need-th relevant document is met; undefined where there is none."""
    seen = 0
    for rank, document in enumerate(order, 1):
        seen += document in golds
        if seen == need:
            return rank
    return math.nan


def atom(order: list[str], golds: list[str], document: str) -> float:
    """Alex et al. 2022, equation 1."""
    return 1 + sum(d not in golds for d in order[: order.index(document)])


def asl(
    order: list[str], golds: list[str], missing: str, cutoff: int | None, first: int | None
) -> float:
    """Alex et al. 2022, equations 1 to 5, with the edges as the README states them."""
    if not golds:
        return math.nan
    irrelevant = sum(d not in golds for d in order)
    if missing == "retrieved":
        other = float(irrelevant) if order else math.inf
    else:
        assert cutoff is not None
        other = cutoff - (len(order) - irrelevant) + 1
    found = [atom(order, golds, d) for d in order if d in golds]
    lengths = found + [other] * (len(golds) - len(found))
    lengths = lengths[:first]
    return sum(lengths) / len(lengths)


def expected_esl(
    documents: dict[str, float], golds: list[str], cutoff: int | None, need: int
) -> tuple[float, float, float]:
    """Cooper 1968 by enumeration: chance of an answer, expected rank given one, expected reciprocal rank."""
    ranks = [esl(order[:cutoff], golds, need) for order in orders(documents)]
    answers = [Fraction(int(rank)) for rank in ranks if not math.isnan(rank)]
    if not answers:
        return 0.0, math.nan, 0.0
    reciprocal = sum(1 / rank for rank in answers) / len(ranks)
    return len(answers) / len(ranks), float(sum(answers) / len(answers)), float(reciprocal)
