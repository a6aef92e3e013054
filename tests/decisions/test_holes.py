"""Unjudged documents: bounds against comparisons with other qrels, and what to judge first."""

from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.decisions.holes import Bound
from ir_outcomes.errors import ParameterError
from tests.helpers import literal
from tests.helpers.comparisons import compare_pair
from tests.helpers.many import judged_in_part

CUTOFF = 5
Ranks = dict[tuple[str, str], tuple[int | None, int | None]]


def unjudged_in(qrels: literal.Qrels, runs: dict[str, literal.Run]) -> Ranks:
    """Ranks in A and B of the documents that nobody judged, within the cutoff."""
    tops = [
        {query: literal.ranked(run.get(query, {}), "trec")[:CUTOFF] for query in qrels}
        for run in runs.values()
    ]
    found: Ranks = {}
    for query, judged in qrels.items():
        for document in {*tops[0][query], *tops[1][query]} - {*judged}:
            a, b = (
                top[query].index(document) + 1 if document in top[query] else None for top in tops
            )
            found[query, document] = (a, b)
    return found


def with_relevant(qrels: literal.Qrels, pairs: Any) -> literal.Qrels:
    changed = {query: dict(judged) for query, judged in qrels.items()}
    for query, document in pairs:
        changed[query][document] = 1
    return changed


@pytest.mark.parametrize("unit", ["query", "document"])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_labels_with_other_qrels(unit: Any, clustered: bool, seed: int) -> None:
    qrels, runs = judged_in_part(seed, 40, 8)
    if seed % 2:  # ties
        for scores in (scores for run in runs.values() for scores in run.values()):
            scores.update({document: round(score / 2) for document, score in scores.items()})
    clusters = {query: query[:2] for query in qrels} if clustered else None
    options: Any = {"cutoff": CUTOFF, "unit": unit, "clusters": clusters}
    found = iro.holes(iro.evaluate(qrels, runs, documents=CUTOFF, **options), "A", "B")["B"]
    ranks = unjudged_in(qrels, runs)
    far = CUTOFF + 1
    families: list[list[tuple[str, str]]] = [
        [at for at, (a, b) in ranks.items() if (a or far) < (b or far)],
        [at for at, (a, b) in ranks.items() if (b or far) < (a or far)],
        [at for at, (a, b) in ranks.items() if a and b],
    ]
    labels = [
        compare_pair(with_relevant(qrels, family), *runs.values(), **options).verdict.label
        for family in ([], *families)
    ]
    assert (found.label, *found.bound[1:]) == tuple(labels)
    assert found.bound == Bound.of(labels[0], labels[1:])
    assert found.n_unjudged == len(ranks)
    listed = {(own.query_id, own.docid): (own.baseline, own.contender) for own in found.candidates}
    assert listed == ranks
    for side, run in enumerate(runs.values()):
        n = sum(min(len(run[query]), CUTOFF) for query in qrels)
        share = 1 - sum(own[side] is not None for own in ranks.values()) / n
        assert found.judged[side] == pytest.approx(share)
    assert found.judged_at_10 is None  # the cutoff does not reach so far


def test_what_changes_most_is_judged_first() -> None:
    """By how much the restricted search lengths of the query would move apart, or together."""
    qrels, runs = judged_in_part(7, 25, 8)
    options: Any = {"cutoff": CUTOFF, "unit": "query"}
    result = iro.holes(iro.evaluate(qrels, runs, documents=CUTOFF, **options))

    def apart(changed: literal.Qrels) -> dict[str, float]:
        rows = literal.rows(changed, [runs["A"]], [runs["B"]], "query", CUTOFF)["all queries"]
        return {pair.query: pair.b - pair.a for pair in rows}

    before = apart(qrels)
    gains = [
        abs(apart(with_relevant(qrels, [own[:2]]))[own.query_id] - before.get(own.query_id, 0.0))
        for own in result.to_judge(1000)
        if own.query_id in before
    ]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > gains[-1] == 0.0
    assert len(result.to_judge(3)) == len(result.to_tsv(3).splitlines()) == 3
    assert result.to_tsv(1) == "{}\t{}\n".format(*result.to_judge(1)[0][:2])


@pytest.mark.parametrize(
    ("label", "others", "word"),
    [
        ("better on ranking", ["better on both facets", "better on ranking"], "stands"),
        ("better on ranking", ["trade-off", "better on ranking"], "could weaken"),
        ("better on ranking", ["worse on coverage", "trade-off"], "could reverse"),
        ("trade-off", ["no significant difference", "trade-off"], "stands"),
        ("trade-off", ["worse on coverage", "better on ranking"], "could decide"),
    ],
)
def test_words_of_a_bound(label: str, others: list[str], word: str) -> None:
    assert Bound.of(label, [*others, label]).word == word


def test_several_contenders_are_by_themselves_and_judged_in_turn() -> None:
    qrels, runs = judged_in_part(5, 40, 8)
    runs["C"] = judged_in_part(6, 40, 8)[1]["A"]
    evaluation = iro.evaluate(qrels, runs, documents=CUTOFF, cutoff=CUTOFF)
    found = iro.holes(evaluation, "A")
    for name in "BC":
        assert found[name] == iro.holes(evaluation, "A", name)[name]
        assert found[name].label == compare_pair(evaluation, "A", name).verdict.label
    first = {own[:2] for pair in found.pairs for own in pair.candidates[:1]}
    assert {own[:2] for own in found.to_judge(2)} == first
    assert [row["verdict"] for row in found.rows()] == [found[name].label for name in "BC"]


def test_documents_are_needed_down_to_the_cutoff() -> None:
    qrels, runs = judged_in_part(3, 40, 8)
    for documents in (0, 2):
        with pytest.raises(ParameterError, match=r"pass `documents=5`"):
            iro.holes(iro.evaluate(qrels, runs, documents=documents, cutoff=CUTOFF), "A")
    with pytest.raises(ParameterError, match="removed the unjudged documents"):
        iro.holes(iro.evaluate(qrels, runs, documents=100, judged_only=True), "A")
