import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.comparison.holdings import Holdings, holdings_of, labels_of
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.verdict import DIRECTIONS, LABELS, direction_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.types import OneOrder
from tests.helpers import literal
from tests.helpers.comparisons import compare_pair, compare_several
from tests.helpers.many import judged_in_part
from tests.helpers.runs import trec


def label_of(
    qrels: literal.Qrels,
    runs: dict[str, literal.Run],
    pairs: list[tuple[str, str]],
    **settings: Any,
) -> str:
    """The label where these pairs of query and document are relevant too."""
    new = {
        query: grades | {d: 1 for q, d in pairs if q == query} for query, grades in qrels.items()
    }
    return compare_pair(new, runs["A"], runs["B"], names=["A", "B"], **settings).verdict.label


def setting(
    qrels: literal.Qrels, runs: dict[str, literal.Run], cutoff: int, **settings: Any
) -> tuple[Any, Holdings]:
    evaluation = iro.evaluate(qrels, runs, unjudged=True, cutoff=cutoff, **settings)
    first, second = evaluation.unjudged
    return evaluation, holdings_of(
        (evaluation[0], evaluation[1]), (first, second), Settings.of(evaluation)
    )


@pytest.mark.parametrize("unit", ["query", "document"])
@pytest.mark.parametrize("ties", get_args(OneOrder))
@pytest.mark.parametrize("cutoff", [2, 5])
def test_assignments_give_the_label_of_new_judgments(unit: Any, ties: Any, cutoff: int) -> None:
    qrels, runs = judged_in_part(cutoff, 24, 6)
    for ranked in (ranked for run in runs.values() for ranked in run.values()):
        ranked.update({document: round(score / 2) for document, score in ranked.items()})  # ties
    evaluation, pair = setting(qrels, runs, cutoff, unit=unit, ties=ties)
    rng = np.random.default_rng(1)
    assignments = rng.random((8, len(pair))) < np.linspace(0, 0.9, 8)[:, None]
    found = [LABELS[label] for label in labels_of(pair, assignments).tolist()]
    for assignment, label in zip(assignments, found, strict=True):
        places = np.flatnonzero(assignment)
        chosen = [
            (evaluation.query_ids[pair.query[place]], pair.docids[place].decode())
            for place in places
        ]
        assert label == label_of(qrels, runs, chosen, unit=unit, ties=ties, cutoff=cutoff)


@pytest.mark.parametrize("unit", ["query", "document"])
def test_assignments_are_tested_by_clusters_of_their_own(unit: Any) -> None:
    """Clusters of few queries, and many assignments at once, each of which has the label of new judgments."""
    qrels, runs = judged_in_part(6, 40, 6)
    clusters = {query: f"c{place // 4}" for place, query in enumerate(qrels)}
    evaluation, pair = setting(qrels, runs, 5, unit=unit, clusters=clusters)
    # More and more of what B has in front of A is relevant.
    favours = np.array([rank_a == 0 or 0 < rank_b < rank_a for rank_a, rank_b in pair.ranks.T])
    random = np.random.default_rng(2).random((12, len(pair)))
    assignments = favours & (random < np.linspace(0, 0.8, 12)[:, None])
    found = [LABELS[label] for label in labels_of(pair, assignments).tolist()]
    assert len(set(found)) > 1
    for assignment, label in zip(assignments, found, strict=True):
        chosen = [
            (evaluation.query_ids[pair.query[place]], pair.docids[place].decode())
            for place in np.flatnonzero(assignment)
        ]
        assert label == label_of(qrels, runs, chosen, unit=unit, cutoff=5, clusters=clusters)


def test_documents_are_tested_as_in_compare_wherever_the_level_is() -> None:
    """Where each query has one relevant document, and some have more once others are judged."""
    queries = [f"q{number}" for number in range(16)]
    qrels = {query: {"gold": 1, "bad": 0} for query in queries}
    random = np.random.default_rng(5)

    def run(share: float) -> literal.Run:
        found = random.random(16) < share
        lists = [["gold", "x", "y"] if own else ["bad", "y", "x"] for own in found]
        return {
            query: {document: -place for place, document in enumerate(random.permutation(own))}
            for query, own in zip(queries, lists, strict=True)
        }

    runs = {"A": run(0.3), "B": run(0.9)}
    pair = setting(qrels, runs, 2, unit="document")[1]
    every = random.random((4, len(pair))) < np.array([[0.0], [0.2], [0.5], [1.0]])
    labels = set()
    for alpha in (0.01, 0.03, 0.05, 0.1, 0.2, 0.4):
        at_level = replace(pair, settings=replace(pair.settings, alpha=alpha))
        found = [LABELS[label] for label in labels_of(at_level, every).tolist()]
        labels.update(found)
        for assignment, label in zip(every, found, strict=True):
            chosen = [
                (queries[pair.query[place]], pair.docids[place].decode())
                for place in np.flatnonzero(assignment)
            ]
            settings: Any = {"unit": "document", "cutoff": 2, "alpha": alpha}
            assert label == label_of(qrels, runs, chosen, **settings)
    assert len(labels) == 3


def test_brute_force_never_reverses_a_label_that_stands() -> None:
    """All assignments of up to 10 unjudged documents of small cases in which the runs clearly differ."""
    direction = dict(zip(LABELS, DIRECTIONS, strict=True))
    outside: Counter[str] = Counter()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        qrels = {f"q{number}": {"gold": 1, "bad": 0, "poor": 0} for number in range(16)}
        unjudged = rng.choice(16, 9, replace=False)
        runs: dict[str, literal.Run] = {"A": {}, "B": {}}
        for number, query in enumerate(qrels):
            first = (
                ["bad", "poor", "gold"]
                if rng.random() < 0.4 + 0.4 * seed / 7
                else ["gold", "bad", "poor"]
            )
            for run, order in zip(runs.values(), (first, ["gold", "bad", "poor"]), strict=True):
                documents = list(order)
                if number in unjudged[:5]:
                    documents.insert(int(rng.integers(0, 4)), "x")
                run[query] = {document: 9.0 - place for place, document in enumerate(documents)}
            if number in unjudged[5:]:
                runs["AB"[int(rng.integers(2))]][query]["y"] = float(rng.uniform(6, 9.5))
        evaluation, pair = setting(qrels, runs, 5, unit="document")
        found = iro.holes(evaluation, "A", "B")["B"]
        every = np.array(list(itertools.product([False, True], repeat=len(pair))))
        directions, own = DIRECTIONS[labels_of(pair, every)], direction[found.label]
        if found.bound.word == "stands":
            outside["assignments"] += len(directions)
            outside["changed"] += int(np.sum(directions != own))
            assert not np.any(directions == -own) or own == 0
        if found.tipping is None:
            outside["missed"] += int(np.any(directions[every.sum(axis=1) <= 5] != own))
        else:
            smallest = int(every.sum(axis=1)[directions != own].min())
            assert smallest <= found.tipping.n <= smallest + 1
    assert outside["assignments"] > 1000
    assert outside["changed"] < 0.05 * outside["assignments"]
    assert outside["missed"] == 0


def test_a_document_at_the_same_rank_of_both_runs_favours_neither() -> None:
    """If the first document of both lists were relevant they would tie; the bound of either run leaves it out."""
    qrels = {f"q{number}": {"gold": 1} for number in range(12)}
    orders = {"A": ["x", "gold", "y", "z"], "B": ["x", "y", "z", "gold"]}
    runs = {
        name: {query: {document: -place for place, document in enumerate(order)} for query in qrels}
        for name, order in orders.items()
    }
    evaluation = iro.evaluate(qrels, runs, unjudged=True, unit="query")
    found = iro.holes(evaluation, "A", "B")["B"]
    assert found.label == found.bound.baseline == "worse on ranking"
    assert found.bound.both == "no significant difference"
    swapped = iro.holes(evaluation, "B", "A")["A"]
    assert swapped.label == swapped.bound.contender == "better on ranking"


def test_what_one_run_returned_is_not_among_what_both_did() -> None:
    qrels = {f"q{number}": {"gold": 1} for number in range(12)}
    runs = {
        "A": {query: {"gold": 1.0} for query in qrels},
        "B": {query: {"x": 2.0, "gold": 1.0} for query in qrels},
    }
    found = iro.holes(iro.evaluate(qrels, runs, unjudged=True, unit="query"), "A", "B")["B"]
    assert found.label == found.bound.both == "worse on ranking"
    assert found.bound.contender == "no significant difference"


def test_the_tipping_point_changes_the_direction_and_no_document_can_be_left_out() -> None:
    qrels, runs = judged_in_part(3, 40, 8)
    evaluation = iro.evaluate(qrels, runs, unjudged=True, cutoff=5)
    found = iro.holes(evaluation, "A", "B")["B"]
    tipping = found.tipping
    assert tipping is not None
    assert len(tipping.documents) == tipping.n == tipping.share * found.n_unjudged
    chosen = [(document.query_id, document.docid) for document in tipping.documents]
    assert label_of(qrels, runs, chosen, cutoff=5) == tipping.label
    assert direction_of(tipping.label) != direction_of(found.label)
    for left_out in range(len(chosen)):
        rest = chosen[:left_out] + chosen[left_out + 1 :]
        assert direction_of(label_of(qrels, runs, rest, cutoff=5)) == direction_of(found.label)
    (note,) = [
        note
        for note in compare_pair(evaluation, "A", "B").notes
        if "depends on few judgments" in note
    ]
    assert f"at most {tipping.n} unjudged document" in note
    assert f'"{tipping.label}"' in note
    without = compare_pair(iro.evaluate(qrels, runs, cutoff=5), "A", "B")
    assert not any("depends on few judgments" in note for note in without.notes)


def test_a_label_without_direction_can_only_be_decided() -> None:
    """Other words for no direction are no change; the bound and the tipping point speak of directions."""
    words: Counter[str] = Counter()
    for seed in range(12):
        found = iro.holes(
            iro.evaluate(*judged_in_part(seed, 30, 8), unjudged=True, cutoff=5), "A", "B"
        )["B"]
        own, after = direction_of(found.label), {direction_of(label) for label in found.bound[1:]}
        opposite = {"better", "worse"} <= after | {own}
        changed = (
            "could decide" if own == "none" else "could reverse" if opposite else "could weaken"
        )
        assert found.bound.word == ("stands" if after == {own} else changed)
        words[found.bound.word] += 1
    assert words["could decide"]


def test_runs_are_read_again_where_unjudged_documents_were_not_kept(tmp_path: Path) -> None:
    qrels, runs = judged_in_part(3, 40, 8)
    paths = [tmp_path / f"{name}.run" for name in runs]
    for path, run in zip(paths, runs.values(), strict=True):
        path.write_text(trec(run))
    clusters = {query: str(number // 3) for number, query in enumerate(qrels)}
    settings: dict[str, Any] = {"cutoff": 5, "clusters": clusters}
    kept, not_kept = (
        iro.evaluate(qrels, paths, unjudged=unjudged, **settings) for unjudged in (True, False)
    )
    some = [query for query in qrels if clusters[query] < "7"]
    for whole, part in ((kept, not_kept), (kept.restrict(some), not_kept.restrict(some))):
        with pytest.warns(
            iro.IrOutcomesWarning, match="all runs are read again; pass `unjudged=True` to evaluate"
        ):
            again = iro.holes(part, "A")
        assert again == iro.holes(whole, "A")
    with pytest.raises(ParameterError, match="some runs cannot be read again"):
        iro.holes(
            iro.evaluate(
                qrels, [iro.search_lengths(qrels, path, cutoff=5) for path in paths], cutoff=5
            ),
            "A",
        )


def test_ranks_judged_shares_and_pairs_to_judge() -> None:
    qrels = {f"q{number}": {"gold": 1, "bad": 0} for number in range(10)}
    a = {query: {"gold": 3.0, "x": 2.0, "bad": 1.0} for query in qrels}
    b = {
        query: {"x": 3.0, "y\t1": 2.0, "gold": 1.0} if query != "q3" else {"gold": 1.0}
        for query in qrels
    }
    result = iro.holes(iro.evaluate(qrels, {"a": a, "b": b}, unjudged=True, cutoff=3), "a")
    found = result["b"]
    assert found.judged == found.judged_at_10 == pytest.approx((2 / 3, 10 / 28))
    ranks = {(document.query_id, document.docid): document[2:] for document in found.candidates}
    assert (ranks["q3", "x"], ranks["q4", "x"], ranks["q4", "y\t1"]) == (
        (2, None),
        (2, 1),
        (None, 2),
    )
    assert len(result.to_judge(5)) == len(result.to_tsv(5).splitlines()) == 5
    assert len(result.to_judge(1000)) == found.n_unjudged == 19


def test_several_contenders_have_the_labels_of_compare() -> None:
    qrels, runs = judged_in_part(5, 40, 8)
    runs["C"] = {query: dict(sorted(ranked.items())) for query, ranked in runs["B"].items()}
    runs["D"] = judged_in_part(6, 40, 8)[1]["A"]
    evaluation = iro.evaluate(qrels, runs, unjudged=True, cutoff=6)
    for correction in ("holm", "fdr_bh", "none"):
        found = iro.holes(evaluation, "A", cutoff=4, correction=correction)
        compared = compare_several(evaluation, "A", cutoff=4, correction=correction)
        assert [pair.label for pair in found.pairs] == [item.verdict.label for item in compared]


def test_each_contender_is_corrected_over_all_wherever_the_level_is() -> None:
    """Just above and just below the corrected p of each contender."""
    qrels, runs = judged_in_part(8, 40, 8)
    runs["C"] = judged_in_part(9, 40, 8)[1]["A"]
    runs["D"] = judged_in_part(6, 40, 8)[1]["A"]
    evaluation = iro.evaluate(qrels, runs, unjudged=True, cutoff=4)

    def labels(alpha: float) -> list[str]:
        compared = [item.verdict.label for item in compare_several(evaluation, "A", alpha=alpha)]
        assert [pair.label for pair in iro.holes(evaluation, "A", alpha=alpha).pairs] == compared
        return compared

    corrected = {item.coverage.pvalue_corrected for item in compare_several(evaluation, "A")}
    smallest = min(corrected)
    assert labels(smallest * (1 - 1e-6)) != labels(smallest * (1 + 1e-6))


@pytest.mark.parametrize(
    ("kept", "settings", "message"),
    [
        (
            {"unjudged": True, "judged_only": True},
            {},
            "`judged_only=True` removed the unjudged documents",
        ),
        ({"unjudged": True}, {"cutoff": 200}, "were kept to rank 100"),
    ],
)
def test_what_is_refused(kept: dict[str, Any], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        iro.holes(iro.evaluate(*judged_in_part(0, 5, 4), **kept), "A", **settings)


@pytest.mark.realdata
def test_what_stands_stands_under_complete_judgments(real_data: Path) -> None:
    """A part of benchmarks/holes.py, which goes through all pairs."""
    folder, words = real_data / "trec-covid-r1", Counter[str]()
    runs = [
        folder / f"{name}.run.gz"
        for name in ("BBGhelani1", "irc_entrez", "factum-1", "tcs_ilabs_gg_r1")
    ]
    settings: dict[str, Any] = {"cutoff": 10, "unit": "document"}
    shallow = iro.evaluate(folder / "qrels.round1.txt.gz", runs, unjudged=True, **settings)
    complete = iro.evaluate(folder / "qrels.complete.txt.gz", runs, **settings)
    for pair in itertools.combinations(shallow.names, 2):
        found = iro.holes(shallow, *pair).pairs[0]
        words[found.bound.word] += 1
        if found.bound.word == "stands":
            assert compare_pair(complete, *pair).verdict.direction == direction_of(found.label)
    assert words["stands"] > 0


def test_what_would_change_both_runs_alike_is_judged_last() -> None:
    qrels = {query: {"gold": 1} for query in ("q1", "q2", "q3")}
    judged = {"x1": 0, "x2": 0}
    for own in qrels.values():
        own |= judged
    alike = {"alike": 9.0, "x1": 8.0, "x2": 7.0, "gold": 6.0}
    plain = {"x1": 9.0, "x2": 8.0, "gold": 7.0}
    runs = {
        "A": {"q1": alike, "q2": plain, "q3": {"x1": 9.0, "of_a": 8.0, "gold": 7.0}},
        "B": {"q1": alike, "q2": {"of_b": 9.0, "x1": 8.0, "gold": 7.0}, "q3": plain},
    }
    found = iro.holes(iro.evaluate(qrels, runs, cutoff=10, unjudged=True), "A", "B")["B"]
    # "of_b" brings B's answer from rank 3 to rank 1, "of_a" A's from 3 to 2.
    assert [document.docid for document in found.candidates] == ["of_b", "of_a", "alike"]


def run_with(at: dict[int, str], length: int) -> dict[str, float]:
    """List judged documents, with others at some ranks."""
    return {at.get(rank, f"x{rank}"): float(-rank) for rank in range(1, length + 1)}


@pytest.mark.parametrize(("lost", "tipping"), [(14, 5), (16, None)])
def test_at_most_five_documents_are_a_tipping_point(lost: int, tipping: int | None) -> None:
    """Of 14 answers lost 4 won make p = 0.03 and 5 make 0.06; of 16 it takes 6."""
    judged = {"gold": 1, **{f"x{rank}": 0 for rank in range(1, 11)}}
    queries = [f"q{number:02}" for number in range(lost + 16)]
    runs: dict[str, literal.Run] = {"A": {}, "B": {}}
    for place, query in enumerate(queries):
        runs["A"][query] = run_with({10: "gold"} if place < lost + 10 else {}, 10)
        runs["B"][query] = run_with({10: "gold"} if lost <= place < lost + 10 else {}, 10)
        if place >= lost + 10:
            runs["B"][query] = run_with({10: "new"}, 10)
    evaluation = iro.evaluate(dict.fromkeys(queries, judged), runs, cutoff=10, unjudged=True)
    found = iro.holes(evaluation, "A", "B")["B"]
    assert found.label == "worse on coverage"
    assert (found.tipping and found.tipping.n) == tipping


def test_a_facet_that_nothing_changes_does_not_count_for_what_is_judged_first() -> None:
    """All queries are answered by both runs, so that documents change only how early."""
    judged = {"gold": 1, **{f"x{rank}": 0 for rank in range(1, 61)}}
    queries = {"q1": "one rank", "q2": "two ranks", "q3": "many ranks"}
    ranks = {"one rank": 59, "two ranks": 58, "many ranks": 10}
    runs = {
        "A": {query: run_with({60: "gold"}, 60) for query in queries},
        "B": {query: run_with({ranks[d]: d, 60: "gold"}, 60) for query, d in queries.items()},
    }
    evaluation = iro.evaluate(dict.fromkeys(queries, judged), runs, cutoff=100, unjudged=True)
    found = iro.holes(evaluation, "A", "B")["B"]
    assert [own.docid for own in found.candidates] == ["many ranks", "two ranks", "one rank"]
