"""Queries that are not independent: which of them are together, through everything that is done with an evaluation."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesWarning, MismatchError, ParameterError
from ir_outcomes.evaluation.lengths import check_comparable
from ir_outcomes.evaluation.remarks import notes_on_queries

# The first query is unanswerable.
QRELS = {f"c{n // 3}_{n}": {"d": 1 if n else 0, "e": 0} for n in range(12)}
RUNS = {
    "a": {query: {"d": 1.0} for query in QRELS},
    "b": {query: {"e": 2.0, "d": 1.0} for query in QRELS},
}
CONVERSATIONS = {query: query.partition("_")[0] for query in QRELS}
CODES = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def evaluated(clusters: Any, **settings: Any) -> iro.Evaluation:
    return iro.evaluate(QRELS, RUNS, clusters=clusters, **settings)


def test_clusters_come_from_a_mapping_a_file_a_function_or_the_ids(tmp_path: Path) -> None:
    table, lines = tmp_path / "clusters.tsv", tmp_path / "clusters.jsonl.gz"
    table.write_text(
        "".join(f"{query}\t{cluster}\n" for query, cluster in CONVERSATIONS.items()) + "other\tc9\n"
    )
    objects = [{"query_id": query, "cluster": cluster} for query, cluster in CONVERSATIONS.items()]
    lines.write_bytes(gzip.compress("".join(json.dumps(item) + "\n" for item in objects).encode()))
    for clusters in (
        CONVERSATIONS,
        table,
        str(lines),
        lambda query: int(query[1:].partition("_")[0]),
        "by:_",
    ):
        found = evaluated(clusters)
        assert found.clusters is not None
        assert found.clusters.tolist() == CODES
        assert found[1].clusters is found[0].clusters
        assert found.n_clusters == 4
    assert (evaluated(None).clusters, evaluated(None).n_clusters) == (None, None)


def test_clusters_stay_through_cutoffs_queries_runs_and_scores() -> None:
    found = evaluated("by:_", measures=["nDCG@10"])
    half = found.restrict([query for query in QRELS if not query.startswith("c1")])
    assert half.n_clusters == 3
    scores = found.scores_of("nDCG@10")
    parts: list[tuple[Any, list[int]]] = [
        *((run, CODES) for run in (*found.at(1), found[["b"]], found.with_cutoff(3), scores)),
        (half, [0, 0, 0, 1, 1, 1, 2, 2, 2]),
        (found.scores_of(None), CODES[1:]),  # of the answerable queries only
        (scores.on(["c0_1", "c3_9"]), [0, 3]),
    ]
    for part, expected in parts:
        assert part.clusters.tolist() == expected


def test_clusters_of_one_query_are_ignored_and_that_is_said() -> None:
    with pytest.warns(
        IrOutcomesWarning, match="every cluster has one answerable query, so clusters are ignored"
    ):
        assert evaluated(lambda query: query).clusters is None
    found = evaluated(
        {query: "c0" if query in ("c0_0", "c0_1", "c0_2") else query for query in QRELS}
    )
    assert found.n_clusters == 10
    assert (
        found.restrict([query for query in QRELS if query not in ("c0_0", "c0_1")]).clusters is None
    )


def test_search_lengths_that_were_evaluated_with_clusters_give_them_to_other_runs() -> None:
    lengths = list(evaluated("by:_"))
    found = iro.evaluate(QRELS, [*lengths, {"c0_1": {"d": 1.0}}])
    assert [run.clusters.tolist() for run in found] == [CODES] * 3  # type: ignore[union-attr]
    with pytest.raises(MismatchError, match="a and run were evaluated with different clusters"):
        check_comparable(lengths[0], iro.search_lengths(QRELS, RUNS["b"]))


@pytest.mark.parametrize(
    ("clusters", "error", "message"),
    [
        ({"c0_1": "c0"}, MismatchError, "clusters: there is none of query c0_0"),
        ("by:::", ParameterError, "no query id has this separator; the ids are c0_0"),
    ],
)
def test_what_is_refused(clusters: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        evaluated(clusters)


def test_a_suite_has_clusters_for_each_collection(tmp_path: Path) -> None:
    judged = "".join(
        f"{query} 0 {document} {grade}\n"
        for query, docs in QRELS.items()
        for document, grade in docs.items()
    )
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "qrels.txt").write_text(judged)
        (tmp_path / name / "a.run").write_text("".join(f"{query} Q0 d 1 1 a\n" for query in QRELS))
    for given, expected in (
        (None, [None, None]),
        ("by:_", [4, 4]),
        ({"second": "by:_"}, [None, 4]),
        ({"first": CONVERSATIONS}, [4, None]),
    ):
        found = iro.evaluate(tmp_path, clusters=given)
        assert [evaluation.n_clusters for evaluation in found.values()] == expected


def test_ids_that_look_like_clusters_are_noted() -> None:
    ids = [f"{conversation}<::>{turn}" for conversation in range(10) for turn in range(2)]
    runs = {"a": {query: {"d": 1.0} for query in ids}}
    qrels = {query: {"d": 1} for query in ids}
    (note,) = notes_on_queries(iro.evaluate(qrels, runs).runs)
    assert re.fullmatch(
        r"Dependent queries: by their ids they seem to be in 10 clusters, .* pass"
        r" `clusters='by:<::>'`\.",
        note,
    )
    assert not list(notes_on_queries(iro.evaluate(qrels, runs, clusters="by:<::>").runs))
    assert not list(notes_on_queries(iro.evaluate(qrels, runs).restrict(ids[16:]).runs))  # too few


@pytest.mark.realdata
def test_the_conversations_of_mt_rag_and_no_other_data_look_like_clusters(real_data: Path) -> None:
    qrels = {
        path.parent.name: iro.read_qrels(path) for path in sorted(real_data.glob("*/qrels.txt*"))
    }
    assert len(qrels) > 5
    for name, judged in qrels.items():
        notes = notes_on_queries(
            [iro.search_lengths(judged, {query: {"d": 1.0} for query in judged.query_ids})]
        )
        assert any(note.startswith("Dependent queries") for note in notes) == (name == "mt-rag")
