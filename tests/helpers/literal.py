"""The definitions, written down once more from the papers alone: slow, plain, and sharing no code with the package."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

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


class Pair(NamedTuple):
    """What two runs have in a query."""

    query: str
    run_a: int
    run_b: int
    a: float
    b: float


def rows(
    qrels: Qrels, runs_a: list[Run], runs_b: list[Run], unit: str, cutoff: int, rel: int = 1
) -> dict[str, list[Pair]]:
    """Values of coverage, ranking, all queries and MRR: of each answerable query and pair of runs."""
    found: dict[str, list[Pair]] = {"coverage": [], "ranking": [], "all queries": [], "MRR": []}
    for (a, run_a), (b, run_b) in itertools.product(enumerate(runs_a), enumerate(runs_b)):
        for query, judged in qrels.items():
            golds = relevant(judged, rel)
            if not golds:
                continue
            lists = [ranked(run.get(query, {}), "trec")[:cutoff] for run in (run_a, run_b)]
            ranks = [esl(order, golds) for order in lists]
            lengths = [[rank] for rank in ranks]
            if unit == "document":
                lengths = [
                    [atom(order, golds, d) if d in order else math.nan for d in golds]
                    for order in lists
                ]
            both = [pair for pair in zip(*lengths, strict=True) if not any(map(math.isnan, pair))]

            def add(row: str, values: list[list[float]], query: str = query) -> None:
                means = (sum(of_run) / len(of_run) for of_run in values)
                found[row].append(Pair(query, a, b, *means))  # noqa: B023

            add("coverage", [[100.0 * (not math.isnan(x)) for x in run] for run in lengths])
            beyond = [cutoff + 1] * 2  # ESL(unanswered="cutoff+1")
            if unit == "document":  # ASL(missing="cutoff"): behind a list that is filled to k
                beyond = [cutoff + 1 - sum(not math.isnan(x) for x in run) for run in lengths]
            filled = [
                [missing if math.isnan(x) else x for x in run]
                for run, missing in zip(lengths, beyond, strict=True)
            ]
            add("all queries", filled)
            add("MRR", [[0.0 if math.isnan(rank) else 1 / rank] for rank in ranks])
            if both:
                add("ranking", [list(of_run) for of_run in zip(*both, strict=True)])
    return found


def units(pairs: list[Pair], clusters: dict[str, str] | None = None) -> list[tuple[float, float]]:
    """Sums of differences and their numbers, by query or cluster; rounding is no difference."""
    added: dict[str, tuple[float, float, float]] = {}
    for pair in pairs:
        unit = pair.query if clusters is None else clusters[pair.query]
        total, magnitude, number = added.get(unit, (0.0, 0.0, 0.0))
        added[unit] = (
            total + pair.b - pair.a,
            magnitude + abs(pair.a) + abs(pair.b),
            number + 1,
        )
    return [
        (0.0 if abs(total) <= 1e-9 * magnitude else total, number)
        for total, magnitude, number in added.values()
    ]
