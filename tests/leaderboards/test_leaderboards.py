from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.scores import Scores
from tests.helpers.many import collection
from tests.helpers.values import as_values

NAMES = ["AP@10", "coverage", "ranking", "all queries"]


@pytest.mark.parametrize("decides", NAMES)
def test_one_row_decides_order_ranks_and_who_is_better(decides: str) -> None:
    qrels, runs = collection(6, 60, relevant=3, seed=2)
    evaluation = iro.evaluate(qrels, runs, cutoff=6, measures=["AP@10"])
    names = [decides, *(name for name in NAMES if name != decides)]
    board = iro.leaderboard(evaluation, measures=names)
    assert (board.measure, board.higher_is_better) == (decides, decides in ("AP@10", "coverage"))
    scores = np.array([standing.score for standing in board.standings])
    falling = -scores if board.higher_is_better else scores
    assert np.all(np.diff(falling) >= -1e-9)
    order = [standing.run for standing in board.standings]
    further = {column.measure: column.better_than for column in board.measures}
    assert list(further) == names[1:]
    found_any = False
    for place, standing in enumerate(board.standings):
        others = [other for other in order if other != standing.run]
        pairs = [board.verdict(other, standing.run) for other in others]
        found = [pair.rows[decides].found for pair in pairs]
        found_any |= "better" in found
        assert standing.ranks == (1 + found.count("worse"), len(order) - found.count("better"))
        for name, better_than in {decides: None, **further}.items():
            beaten = standing.better_than if better_than is None else better_than[place]
            expected = [pair.baseline for pair in pairs if pair.rows[name].found == "better"]
            assert beaten == tuple(expected)
    assert found_any
    assert board.first == tuple(own.run for own in board.standings if own.ranks.best == 1)


def test_columns_are_the_means_of_their_rows() -> None:
    qrels, runs = collection(5, 60, relevant=3, seed=2)
    qrels["nothing"] = {"g0": 0}
    evaluation = iro.evaluate(qrels, runs, cutoff=6, unit="query", measures=["AP@10"])
    board = iro.leaderboard(evaluation, measures=NAMES)
    values = {column.measure: column.values for column in board.measures}
    values["AP@10"] = tuple(standing.score for standing in board.standings)
    assert (board.n_queries, board.n_unanswerable) == (60, 1)
    for pair in board.pairs:
        for name in ("AP@10", "coverage", "all queries"):
            for run in ("baseline", "contender"):
                place = [own.run for own in board.standings].index(getattr(pair, run))
                assert values[name][place] == pytest.approx(getattr(pair.rows[name], run))
    assert values["coverage"] == pytest.approx([own.coverage for own in board.standings])
    for standing, ranking in zip(board.standings, values["ranking"], strict=True):
        ranks = evaluation[standing.run].at(6).esl()
        assert ranking == pytest.approx(np.nanmean(ranks))
    row = board.rows()[0]
    assert [row[name] for name in NAMES[1:]] == [values[name][0] for name in NAMES[1:]]


def test_a_run_that_two_others_beat_by_the_measure_cannot_be_first() -> None:
    """It answers the most queries, and has the lowest reciprocal rank."""
    qrels = {f"q{number}": {"gold": 1} for number in range(100)}
    ranks = {"deep": [4] * 100, "one": [1] * 80 + [0] * 20, "other": [1] * 79 + [2] + [0] * 20}
    runs = {
        name: {
            query: {
                **{f"x{place}": 9.0 - place for place in range(1, 5) if place != rank},
                **({"gold": 9.0 - rank} if rank else {}),
            }
            for query, rank in zip(qrels, of_run, strict=True)
        }
        for name, of_run in ranks.items()
    }
    evaluation = iro.evaluate(qrels, runs, cutoff=4, measures=["RR@4"])
    board = iro.leaderboard(evaluation, measures=["RR@4"])
    ranges = {standing.run: tuple(standing.ranks) for standing in board.standings}
    assert ranges == {"one": (1, 2), "other": (1, 2), "deep": (3, 3)}
    assert board.first == ("one", "other")


def simulated(values: np.ndarray) -> Scores:
    runs = tuple(f"run{number}" for number in range(len(values)))
    queries = tuple(f"q{number}" for number in range(values.shape[1]))
    return Scores("score", True, runs, queries, values)


def test_all_true_ranks_lie_inside_in_95_percent_of_boards_with_ties() -> None:
    rng = np.random.default_rng(7)
    means = np.array([0.0, 0.0, 0.0, 0.3, 0.3, 0.6, 1.2, 1.2])
    lowest = 1 + (means > means[:, None]).sum(axis=1)  # the ranks that equal runs share
    highest = len(means) - (means < means[:, None]).sum(axis=1)
    inside: dict[str, list[bool]] = {"holm": [], "none": []}
    for _ in range(120):
        noise = rng.normal(size=(len(means), 40)) + rng.normal(size=40)
        scores = simulated(means[:, None] + noise)
        for correction, covered in inside.items():
            board = iro.leaderboard(as_values(scores), correction=correction)  # type: ignore[arg-type]
            ranks = {standing.run: standing.ranks for standing in board.standings}
            of_runs = [ranks[run] for run in scores.runs]
            covered.append(
                all(
                    own.best <= low and high <= own.worst
                    for own, low, high in zip(of_runs, lowest, highest, strict=True)
                )
            )
    assert np.mean(inside["holm"]) >= 0.95
    assert np.mean(inside["none"]) < 0.95  # so that the boards can tell


def test_values_are_decided_by_their_measure() -> None:
    evaluation = iro.evaluate(*collection(4, 80), cutoff=10, measures=["nDCG@5"])
    with_runs = iro.leaderboard(evaluation, measures=["nDCG@5"])
    alone = iro.leaderboard(as_values(evaluation.scores_of("nDCG@5")))
    for own, other in zip(alone.standings, with_runs.standings, strict=True):
        assert (own.run, own.score, own.interval, own.ranks, own.better_than) == (
            other.run,
            other.score,
            other.interval,
            other.ranks,
            other.better_than,
        )
    for pair in alone.pairs:
        row = with_runs.verdict(pair.baseline, pair.contender).rows["nDCG@5"]
        (only,) = pair.rows.values()
        assert (only.pvalue, only.interval, only.found) == (row.pvalue, row.interval, row.found)
        assert pair.direction == row.found
    assert alone.settings is None


def test_search_lengths_the_cutoff_of_the_call_and_any_order_give_the_same() -> None:
    qrels, runs = collection(3, 30)
    given = [iro.search_lengths(qrels, run, cutoff=10) for run in runs.values()]
    lengths = iro.evaluate(qrels, given, cutoff=10, names=list(runs))
    board = iro.leaderboard(iro.evaluate(qrels, runs, cutoff=10))
    turned = iro.evaluate(qrels, dict(reversed(list(runs.items()))))
    assert iro.leaderboard(lengths) == iro.leaderboard(turned, cutoff=10) == board


def test_equal_runs_share_rank_and_ranks_and_an_empty_one_has_no_length() -> None:
    qrels, runs = collection(2, 80, seed=2)
    evaluation = iro.evaluate(
        qrels, {**runs, "twin": runs["run1"], "empty": {"q0": {"x": 1.0}}}, cutoff=10
    )
    board = iro.leaderboard(evaluation, allow=["unknown-ids"])
    of_run = {standing.run: standing for standing in board.standings}
    for name in ("rank", "score", "interval", "ranks", "better_than"):
        assert getattr(of_run["twin"], name) == getattr(of_run["run1"], name)
    assert of_run["empty"].ranks == (4, 4)
    empty = board.verdict("run0", "empty")
    assert (empty.rows["ranking"].n, empty.rows["ranking"].difference) == (0, None)
    assert board.verdict("empty", "run0") == empty.turned()


def test_what_is_refused() -> None:
    qrels, runs = collection(2, 30)
    evaluation = iro.evaluate(qrels, runs)
    scores = evaluation.scores_of(None)
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (evaluation[["run0"]], {}, "there is only one run"),
        (runs, {}, r"`source` is of type dict; it must be what ir_outcomes\.evaluate"),
        (iro.evaluate(qrels, runs, ties="expected"), {}, "gives no single order"),
        (evaluation, {"correction": "sidak"}, "`correction='sidak'`: must be one of holm"),
        (evaluation, {"margins": (1.0, 1.0)}, "a board has no margins"),
        (evaluation, {"measures": ["coverage", "coverage"]}, "coverage is named twice"),
        (evaluation, {"measures": []}, "there is no measure"),
        (as_values(scores), {"cutoff": 10}, "have no other cutoff"),
        (as_values(scores), {"measures": ["AP"]}, "these values are of RR"),
    ]
    for source, settings, message in wrong:
        with pytest.raises(ParameterError, match=message):
            iro.leaderboard(source, **settings)
    with pytest.raises(KeyError, match="the runs are"):
        iro.leaderboard(evaluation).verdict("run0", "none")


def test_a_board_of_values_says_which_are_missing() -> None:
    values = {f"q{n}": n / 100 for n in range(100)}
    some_values = {query: value for query, value in values.items() if query != "q7"}
    board = iro.leaderboard(iro.outputs({"a": values, "b": some_values}, measure="nDCG@10"))
    assert [(note.kind, note.runs) for note in board.notes] == [("missing-values", ("b",))]
    assert board.n_queries == 99
