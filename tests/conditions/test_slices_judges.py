"""Slices and judges: comparisons of the same queries, against SciPy and plain loops."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import permutation_test

import ir_outcomes as iro
from ir_outcomes.errors import MismatchError, ParameterError
from tests.helpers import literal
from tests.helpers.comparisons import compare_several
from tests.helpers.corrections import multipletests
from tests.helpers.estimate import mean_of_queries
from tests.helpers.runs import qrels_of, run_of

Run = dict[str, int | None]


@pytest.fixture(scope="module")
def ranks() -> dict[str, Run]:
    """Run b is better on the first half of the queries only."""
    rng = np.random.default_rng(4)
    a = {
        f"q{q}": int(rank) if rank <= 30 else None
        for q, rank in enumerate(rng.geometric(0.15, 120))
    }
    moved = {q: max(1, r - 3) if r and int(q[1:]) < 60 else r for q, r in a.items()}
    return {"a": a, "b": moved}


@pytest.fixture(scope="module")
def evaluation(ranks: dict[str, Run]) -> iro.Evaluation:
    texts = {q: "word " * (1 + int(q[1:]) % 4) for q in ranks["a"]}
    runs = {name: run_of(run, 30) for name, run in ranks.items()}
    return iro.evaluate(qrels_of(texts), runs, cutoff=30, queries=texts)


def halves(evaluation: iro.Evaluation) -> dict[str, str]:
    return {q: "first" if int(q[1:]) < 60 else "second" for q in evaluation.query_ids}


def test_slices_are_the_comparisons_of_their_queries(evaluation: iro.Evaluation) -> None:
    labels = halves(evaluation)
    found = iro.compare_slices(evaluation, "a", by=labels)
    assert found.names == ("first", "second")
    for row in found.conditions:
        queries = [q for q in evaluation.query_ids if labels[q] == row.condition]
        assert row.comparison == compare_several(evaluation.restrict(queries), "a", ["b"])[0]
    (overall,) = found.overall
    rows = [row.comparison.coverage for row in found.conditions]
    assert overall.coverage.difference == pytest.approx(
        sum(row.difference or 0 for row in rows) / 2
    )
    assert overall.new == {}


def test_slices_have_the_depth_of_all_queries() -> None:
    ranks = {f"q{q}": 1 + q % 3 for q in range(20)}
    lists = {f"q{q}": 30 if q < 10 else 5 for q in range(20)}
    runs = {
        name: {
            query: {
                "gold" if rank == ranks[query] + worse else f"x{rank}": float(-rank)
                for rank in range(1, depth + 1)
            }
            for query, depth in lists.items()
        }
        for worse, name in enumerate("ab")
    }
    evaluation = iro.evaluate({query: {"gold": 1} for query in ranks}, runs)
    labels = {query: "deep" if depth == 30 else "flat" for query, depth in lists.items()}
    k = evaluation.cutoff
    for row in iro.compare_slices(evaluation, "a", by=labels).conditions:
        assert row.comparison.all_queries is not None
        assert (row.comparison.ranking.largest, row.comparison.all_queries.largest) == (k - 1, k)


def test_whether_slices_differ_is_scipys_permutation_test(
    ranks: dict[str, Run], evaluation: iro.Evaluation
) -> None:
    thirds = {query: f"third {int(query[1:]) % 3}" for query in evaluation.query_ids}
    for labels in (thirds, halves(evaluation)):
        found = iro.compare_slices(evaluation, "a", by=labels, seed=7, resamples=500)
        pairs = {query: (ranks["a"][query], ranks["b"][query]) for query in labels}
        changes = {
            "coverage": {
                q: 100.0 * ((b is not None) - (a is not None)) for q, (a, b) in pairs.items()
            },
            "ranking": {q: float(b - a) for q, (a, b) in pairs.items() if a and b},
        }
        for row in found.differ:
            of_row = dict(sorted(changes[row.row].items()))  # as the labels are permuted
            if len(set(of_row.values())) == 1:
                assert row.pvalue is None
                continue
            values = np.array([*of_row.values()])
            names = np.array([labels[query] for query in of_row])

            def between(permuted: Any, values: Any = values) -> float:
                members = [values[permuted == name] for name in np.unique(permuted)]
                return float(sum(own.sum() ** 2 / len(own) for own in members))

            expected = permutation_test(
                (names,),
                between,
                permutation_type="pairings",
                alternative="greater",
                n_resamples=500,
                rng=np.random.default_rng(7),
            )
            assert row.pvalue == expected.pvalue
            assert row.slices == len(set(labels.values()))


def test_whether_slices_differ_is_corrected_over_the_contenders() -> None:
    """With random labels and 20 contenders it was said that they differ in 9 of 12 draws."""
    rng = np.random.default_rng(5)
    ranks = {f"q{q}": int(rank) for q, rank in enumerate(rng.integers(2, 12, 120))}
    runs = {"a": run_of(ranks)}
    for number in range(20):
        moved = {q: max(1, rank + int(rng.integers(-3, 4))) for q, rank in ranks.items()}
        runs[f"b{number:02d}"] = run_of(moved)
    evaluation = iro.evaluate(qrels_of(ranks), runs, cutoff=12)
    labels = {q: str(rng.choice(["odd", "even"])) for q in ranks}
    found = iro.compare_slices(evaluation, "a", by=labels, resamples=999)
    raw: list[Any] = [row.pvalue for row in found.differ if row.row == "ranking"]
    corrected: list[Any] = [row.pvalue_corrected for row in found.differ if row.row == "ranking"]
    np.testing.assert_allclose(corrected, multipletests(raw, method="holm")[1])
    assert min(raw) <= 0.05
    uncorrected = iro.compare_slices(evaluation, "a", by=labels, resamples=99, correction="none")
    assert all(row.pvalue_corrected == row.pvalue for row in uncorrected.differ)


def test_slices_by_length_are_quartiles(evaluation: iro.Evaluation) -> None:
    found = iro.compare_slices(evaluation, "a", by="length")
    assert found.names == ("1 word", "2 words", "3 words", "4 words")
    assert sum(row.comparison.n_queries for row in found.conditions) == 120


@pytest.mark.parametrize(
    ("by", "error", "message"),
    [
        ("won", ParameterError, "regress to the mean"),
        ("b", ParameterError, "regress to the mean"),
        ("x", ParameterError, "slices need at least two"),
        (None, MismatchError, "no answerable query has a label"),
    ],
)
def test_slices_that_are_refused(
    evaluation: iro.Evaluation, by: Any, error: type[Exception], message: str
) -> None:
    labels = dict.fromkeys(evaluation.query_ids, by) if by else {"z": "x"}
    with pytest.raises(error, match=message):
        iro.compare_slices(evaluation, "a", by=labels)


def test_small_slices_have_no_label_and_count_in_the_means(
    evaluation: iro.Evaluation, tmp_path: Path
) -> None:
    path = tmp_path / "kinds.tsv"
    lines = [f"q{q}\t{'small' if q < 20 else 'large'}\n" for q in range(110)]
    path.write_text("".join(lines) + "q999\tlarge\n")
    found = iro.compare_slices(evaluation, "a", by=path)
    labels = found.labels("b")
    assert (labels["small"], labels["large"] is None) == (None, False)
    assert found.overall[0].ranking.n == 2
    notes = "\n".join(found.notes)
    assert "10 queries without a label" in notes
    assert "1 label ignored, of queries that the qrels lack: q999." in notes


def test_slices_of_clusters_are_not_tested(evaluation: iro.Evaluation) -> None:
    runs = [replace(run, clusters=np.arange(120) // 4) for run in evaluation]
    clustered = iro.compare_slices(
        replace(evaluation, runs=tuple(runs)), "a", by=halves(evaluation)
    )
    assert clustered.differ == ()
    assert iro.compare_slices(evaluation, "a", by=halves(evaluation)).differ


def judged(
    seed: int, n: int = 60, flipped: float = 0.3
) -> tuple[dict[str, dict[str, dict[str, int]]], dict[str, dict[str, dict[str, float]]]]:
    """Qrels of people and of a model that often prefers another document, and two runs."""
    rng = np.random.default_rng(seed)
    people = {f"q{q}": {"x": 1, "y": 0} for q in range(n)}
    model = {
        q: {"x": 0, "y": 1} if rng.random() < flipped else dict(own) for q, own in people.items()
    }
    runs: dict[str, dict[str, dict[str, float]]] = {"a": {}, "b": {}}
    for query in people:
        for run in runs.values():
            order = rng.permutation(["x", "y", *(f"d{place}" for place in range(10))]).tolist()
            run[query] = {document: -float(place) for place, document in enumerate(order[:8])}
    return {"people": people, "model": model}, runs


@pytest.mark.parametrize("seed", range(3))
def test_a_bias_is_the_difference_of_differences_on_the_same_queries(seed: int) -> None:
    qrels, runs = judged(seed)
    labeled = [f"q{q}" for q in range(0, 60, 2)]
    truth = {query: qrels["people"][query] for query in labeled}
    judges = {
        name: iro.evaluate(own, runs, cutoff=8, on_error="keep")
        for name, own in (("people", truth), ("model", qrels["model"]))
    }
    found = iro.compare_judges(judges, "a", reference="people")
    people, model = (
        literal.rows(own, [runs["a"]], [runs["b"]], "query", 8)
        for own in (truth, {query: qrels["model"][query] for query in labeled})
    )
    names = ["coverage", "ranking", "all queries"]
    assert [bias.row.name for bias in found.biases] == names
    for bias in found.biases:
        of_judge = {pair.query: pair.b - pair.a for pair in model[bias.row.name]}
        of_row = [
            (pair.b - pair.a, of_judge[pair.query])
            for pair in people[bias.row.name]
            if pair.query in of_judge
        ]
        expected = mean_of_queries([judge - people for people, judge in of_row])
        assert (bias.judge, bias.contender, bias.row.n) == ("model", "b", len(of_row))
        assert bias.row.baseline == pytest.approx(np.mean([people for people, _ in of_row]))
        assert bias.row.contender == pytest.approx(np.mean([judge for _, judge in of_row]))
        assert bias.row.difference == pytest.approx(expected.difference)
        assert bias.row.standard_error == pytest.approx(expected.error)
        assert bias.row.pvalue == pytest.approx(expected.pvalue())
        opposite = {bias.reference_found, bias.judge_found} == {"better", "worse"}
        changed = bias.row.pvalue <= 0.05 and bias.reference_found != bias.judge_found
        agrees = bias.reference_found == bias.judge_found != "none"
        answer = "differs" if opposite or changed else "cannot be told"
        assert bias.answer == ("agrees" if agrees else answer)
    assert type(found).from_json(found.to_json()) == found


def test_a_reference_of_few_queries_tells_nothing() -> None:
    qrels, runs = judged(1)
    few = {query: qrels["people"][query] for query in list(qrels["people"])[:9]}
    judges = {
        name: iro.evaluate(own, runs, cutoff=8, on_error="keep")
        for name, own in (("people", few), ("model", qrels["model"]))
    }
    found = iro.compare_judges(judges, "a", reference="people")
    assert found.biases == ()
    assert any("only 9 queries labeled by people" in note for note in found.notes)
    with pytest.raises(ParameterError, match="this is no judge; they are people and model"):
        iro.compare_judges(judges, "a", reference="nobody")


def test_flips_are_queries_on_which_judges_disagree() -> None:
    qrels, runs = judged(2)
    found = iro.compare_judges(
        {name: iro.evaluate(own, runs, cutoff=8) for name, own in qrels.items()}, "a"
    )
    signs = {}
    for name, own in qrels.items():
        for pair in literal.rows(own, [runs["a"]], [runs["b"]], "query", 8)["all queries"]:
            signs[name, pair.query] = np.sign(pair.a - pair.b)
    expected = {
        query for query in qrels["people"] if signs["people", query] * signs["model", query] < 0
    }
    assert {flip.query_id for flip in found.flips} == expected
    for flip in found.flips:
        assert flip.better == tuple(name for name in qrels if signs[name, flip.query_id] > 0)


def test_judges_may_differ_in_qrels_and_rel_only() -> None:
    runs = {"a": {"q": {"x": 1.0}}, "b": {"q": {"x": 1.0}}}
    ev = iro.evaluate({"q": {"x": 2}}, runs, cutoff=10)
    strict = iro.evaluate({"q": {"x": 2}}, runs, cutoff=10, rel=2)
    found = iro.compare_judges({"B": ev, "strict b": strict}, "a")
    assert [row.comparison.rel for row in found.conditions] == [1, 2]
    assert any("B: a run has the judge's name" in note for note in found.notes)
    for judges, error, message in (
        ({"one": ev, "two": ev.with_cutoff(5)}, MismatchError, "with the same `cutoff`"),
        ({"one": ev, "two": ev[["a"]]}, MismatchError, "the run b is missing"),
        ({"one": ev}, ParameterError, "at least two judges"),
    ):
        with pytest.raises(error, match=message):
            iro.compare_judges(judges, "a")
    with pytest.raises(ParameterError, match="without the texts of the queries; pass `queries`"):
        iro.compare_slices(ev, "a", by="length")


def test_queries_to_label_are_a_seeded_sample(evaluation: iro.Evaluation) -> None:
    drawn = iro.to_label(evaluation, 20, seed=3)
    assert len(set(drawn)) == 20
    assert drawn == iro.to_label(evaluation, 20, seed=3) != iro.to_label(evaluation, 20, seed=4)
    assert set(drawn) <= set(evaluation.query_ids)
    with pytest.raises(ParameterError, match="there are 120 queries"):
        iro.to_label(evaluation, 121)
