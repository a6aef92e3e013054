"""Boards over collections: means of their pairs, what is found in each, ranks on simulated suites."""

from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import MismatchError, ParameterError
from ir_outcomes.evaluation.scores import Scores
from tests.helpers.many import collection
from tests.helpers.values import as_values

ALL_ROWS = ["AP@10", "coverage", "ranking", "all queries"]


def suite(
    number: int = 3, n_runs: int = 5, names: Any = None, **settings: Any
) -> dict[str, iro.Evaluation]:
    """Collections of different sizes that share no query, with the same runs."""
    found = {}
    for seed in range(number):
        qrels, runs = collection(n_runs, 40 + 10 * seed, relevant=2, seed=seed)
        qrels = {f"{seed}-{query}": judged for query, judged in qrels.items()}
        of_names = dict(zip(names or runs, runs.values(), strict=True))
        lists = {
            name: {f"{seed}-{query}": documents for query, documents in run.items()}
            for name, run in of_names.items()
        }
        found[f"c{seed}"] = iro.evaluate(qrels, lists, cutoff=10, measures=["AP@10"], **settings)
    return found


def values_of(table: dict[str, np.ndarray], **settings: Any) -> dict[str, iro.Evaluation]:
    """Values in [0, 1] of runs on the queries of each collection."""
    return {
        name: as_values(
            Scores(
                "score",
                True,
                tuple(f"run{number}" for number in range(len(values))),
                tuple(f"{name}-{number}" for number in range(values.shape[1])),
                values,
                range=(0.0, 1.0),
            ),
            **settings,
        )
        for name, values in table.items()
    }


@pytest.mark.parametrize("unit", ["query", "document"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"groups": {"c0": "same", "c2": "same"}}, {"clusters": lambda query: query[-1]}],
)
def test_pairs_are_those_of_compare_collections(unit: Any, settings: dict[str, Any]) -> None:
    clusters = settings.get("clusters")
    groups = settings.get("groups")
    evaluations = suite(unit=unit, clusters=clusters)
    board = iro.leaderboard(evaluations, measures=ALL_ROWS, groups=groups, correction="none")
    compared = 0
    for baseline in evaluations["c0"].names:
        found = iro.compare_collections(
            evaluations, baseline, measures=["AP@10"], groups=groups, correction="none"
        )
        for overall in found.overall:
            pair = board.verdict(baseline, overall.contender)
            assert pair.label == overall.label
            assert len(overall.parts) == len(pair.rows) == 4
            for row in overall.parts:
                own = pair.rows[row.name]
                assert (own.n, own.differ, own.better) == (row.n, row.differ, row.better)
                assert own.found == row.found
                for name in ("difference", "standard_error", "df", "pvalue", "interval", "largest"):
                    assert getattr(own, name) == pytest.approx(getattr(row, name), abs=1e-12)
                compared += 1
    assert compared == 5 * 4 * 4


def test_scores_are_means_over_groups_and_their_order_is_that_of_the_board() -> None:
    evaluations = suite(4)
    groups = {"c1": "same", "c3": "same"}
    board = iro.leaderboard(evaluations, measures=["AP@10", "coverage"], groups=groups)
    boards = {
        name: iro.leaderboard(evaluation, measures=["AP@10", "coverage"])
        for name, evaluation in evaluations.items()
    }
    weights = {"c0": 1 / 3, "c1": 1 / 6, "c2": 1 / 3, "c3": 1 / 6}
    assert [part.group for part in board.collections] == [None, "same", None, "same"]
    assert [part.n_queries for part in board.collections] == [40, 50, 60, 70]
    assert board.n_queries == 220
    for place, standing in enumerate(board.standings):
        scores = {
            name: next(own for own in of_one.standings if own.run == standing.run)
            for name, of_one in boards.items()
        }
        mean = sum(weights[name] * (own.score or 0) for name, own in scores.items())
        assert standing.score == pytest.approx(mean)
        # Zou and Donner 2008: the squares of the halves add up.
        ends = [np.subtract(own.interval, own.score) for own in scores.values()]  # type: ignore[arg-type]
        half = np.sqrt(((np.array(ends).T * [*weights.values()]) ** 2).sum(axis=1))
        assert standing.interval == pytest.approx((mean - half[0], mean + half[1]))
        others = [other.run for other in board.standings if other is not standing]
        found = [board.verdict(other, standing.run).rows["AP@10"].found for other in others]
        assert standing.ranks == (1 + found.count("worse"), 5 - found.count("better"))
        coverage = sum(weights[name] * (own.coverage or 0) for name, own in scores.items())
        assert standing.coverage == pytest.approx(coverage)
        assert board.measures[0].values[place] == pytest.approx(coverage)
        assert [part.values[place] for part in board.collections] == pytest.approx(
            [own.score for own in scores.values()]
        )
        for part in board.collections:
            assert set(part.better_than[place]) == set(scores[part.collection].better_than)
        assert board.better_in(standing.run) == {
            name: len(own.better_than) for name, own in scores.items() if own.better_than
        }
        worse = {
            name: sum(standing.run in other.better_than for other in of_one.standings)
            for name, of_one in boards.items()
        }
        assert board.worse_in(standing.run) == {name: n for name, n in worse.items() if n}
    falling = [standing.score or 0 for standing in board.standings]
    assert falling == sorted(falling, reverse=True)
    assert any(board.worse_in(standing.run) for standing in board.standings)
    assert [row["c0 mean"] for row in board.rows()] == [*board.collections[0].values]
    assert iro.Leaderboard.from_json(board.to_json()) == board


def test_systems_of_several_runs_score_the_mean_of_their_runs() -> None:
    names = ["a_1", "a_2", "b_1", "b_2", "c"]
    evaluations = suite(3, names=names, replicates="by:_")
    board = iro.leaderboard(evaluations)
    assert {standing.run for standing in board.standings} == {"a", "b", "c"}
    alone = {name: iro.leaderboard(evaluation) for name, evaluation in evaluations.items()}
    for standing in board.standings:
        own = [
            next(other for other in of_one.standings if other.run == standing.run)
            for of_one in alone.values()
        ]
        assert standing.score == pytest.approx(np.mean([other.score for other in own]))
        assert [run.run for run in standing.runs] == [run.run for run in own[0].runs]
        for place, run in enumerate(standing.runs):
            assert run.score == pytest.approx(np.mean([other.runs[place].score for other in own]))
    row = board.verdict("a", "b").rows["all queries"]
    errors = [of_one.verdict("a", "b").rows["all queries"] for of_one in alone.values()]
    assert row.standard_error == pytest.approx(
        np.sqrt(sum((one.standard_error or 0) ** 2 for one in errors)) / 3
    )


def test_a_system_that_a_collection_lacks_is_left_out_by_name() -> None:
    evaluations = suite(3)
    evaluations["c1"] = evaluations["c1"][["run0", "run2", "run3", "run4"]]
    board = iro.leaderboard(evaluations)
    assert {standing.run for standing in board.standings} == {"run0", "run2", "run3", "run4"}
    (lacking,) = (note for note in board.notes if note.kind == "lacking")
    assert lacking.runs == ("run1",)
    assert "c1" in lacking
    assert lacking in board.view().first_notes
    evaluations["c2"] = evaluations["c2"][["run1", "run2"]]
    with pytest.raises(ParameterError, match="run0"):
        iro.leaderboard(evaluations)


def test_better_on_average_and_worse_somewhere_is_said_first() -> None:
    rng = np.random.default_rng(0)
    noise = {name: rng.random((1, 200)) * 0.2 for name in ("c0", "c1", "c2")}
    gains = {"c0": 0.5, "c1": 0.4, "c2": -0.2}
    table = {
        name: np.concatenate([0.3 + values, 0.3 + values + gains[name] * rng.random(200)])
        for name, values in noise.items()
    }
    board = iro.leaderboard(values_of(table))
    assert board.standings[0].better_than == ("run0",)
    assert board.worse_in("run1") == {"c2": 1}
    said = board.view().first_notes[0]
    assert ("run1 than run0" in said, "c2" in said, "c0" in said) == (True, True, False)
    assert "run1 than" not in "".join(iro.leaderboard(values_of({"c0": table["c0"]})).view().notes)


def test_what_is_refused() -> None:
    evaluations = suite(3)
    wrong: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        ({}, {}, ParameterError, "no collection"),
        ({**evaluations, "c1": evaluations["c1"].with_cutoff(5)}, {}, MismatchError, "cutoff=5"),
        (evaluations, {"groups": {"c7": "x"}}, ParameterError, "c7"),
        (evaluations, {"margins": (1.0, 1.0)}, ParameterError, "margins"),
        (evaluations["c0"], {"groups": {"c0": "x"}}, ParameterError, "groups"),
        (evaluations, {"measures": ["AP@10", "AP@10"]}, ParameterError, "collection c0"),
        (
            {**evaluations, "values": values_of({"v": np.eye(5)})["v"]},
            {},
            MismatchError,
            "what is compared",
        ),
        (
            values_of({"one": np.ones((2, 1)), "two": np.ones((2, 4))}),
            {},
            ParameterError,
            "collection one",
        ),
    ]
    for source, settings, error, words in wrong:
        with pytest.raises(error, match=words):
            iro.leaderboard(source, **settings)


def test_whole_numbers_are_ids_of_unrelated_collections() -> None:
    found = {}
    for seed in range(2):
        qrels, runs = collection(5, 30, seed=seed)
        lists = {
            name: {
                query[1:]: {f"{seed}-{document}": score for document, score in documents.items()}
                for query, documents in run.items()
            }
            for name, run in runs.items()
        }
        found[f"c{seed}"] = iro.evaluate(
            {query[1:]: {f"{seed}-g0": 1} for query in qrels}, lists, cutoff=10
        )
    assert not any("in common" in note for note in iro.leaderboard(found).notes)
    (said,) = (
        note
        for note in iro.leaderboard({**found, "c2": suite(3)["c2"], "again": suite(3)["c2"]}).notes
        if "in common" in note
    )
    assert "(c2, again)" in said
