from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.leaderboards.leaderboard import tiers
from tests.helpers.many import collection
from tests.helpers.values import as_values


def test_runs_stand_by_tier_and_then_by_the_measure() -> None:
    qrels = {f"q{number}": {"gold": 1} for number in range(100)}
    # "gambler" has the best mean reciprocal rank and answers far fewer queries than both others
    ranks = {"gambler": [1] * 60 + [0] * 40, "steady": [2] * 100, "slow": [3] * 100}
    runs: dict[str, dict[str, dict[str, float]]] = {
        name: {
            query: {
                **{f"x{place}": 9.0 - place for place in range(1, 5) if place != rank},
                **({"gold": 9.0 - rank} if rank else {}),
            }
            for query, rank in zip(qrels, own, strict=True)
        }
        for name, own in ranks.items()
    }
    evaluation = iro.evaluate(qrels, runs, cutoff=4)
    board = iro.leaderboard(evaluation)
    by_measure = iro.leaderboard(evaluation, order="measure")
    assert [own.run for own in by_measure.standings] == ["gambler", "steady", "slow"]
    assert [own.rank for own in by_measure.standings] == [1, 2, 3]
    keys = [(own.tier, -(own.score or 0)) for own in board.standings]
    assert keys == sorted(keys)
    assert {replace(own, rank=0) for own in board.standings} == {
        replace(own, rank=0) for own in by_measure.standings
    }
    assert board.pairs == by_measure.pairs
    for own in board.standings:
        directions = [
            board.verdict(other.run, own.run).direction
            for other in board.standings
            if other is not own
        ]
        assert (own.won, own.lost) == (directions.count("better"), directions.count("worse"))


def test_the_pairs_of_a_board_are_a_sequence_of_verdicts() -> None:
    board = iro.leaderboard(iro.evaluate(*collection(4, 40)))
    listed = tuple(board.pairs)
    with pytest.raises(IndexError):
        board.pairs[6]
    assert board.pairs == listed
    assert hash(board.pairs) == hash(listed)
    assert board.pairs != listed[:5]
    assert repr(board.pairs) == "AllPairs(6 pairs of 4 systems)"
    restored = iro.Leaderboard.from_json(board.to_json())
    assert restored == board
    assert isinstance(restored.pairs, tuple)
    for pair in listed:
        for own in (board, restored):
            assert own.verdict(pair.baseline, pair.contender) == pair
            assert own.verdict(pair.contender, pair.baseline) == pair.turned()


def test_intervals_of_bounded_means_stay_in_their_bounds() -> None:
    """The t interval of the first was [0.84, 1.10], that of the second began below 0."""
    values = {"best": [1.0] * 17 + [0.5], "worst": [0.88] + [0.0] * 17, "all": [1.0] * 18}
    outputs = {
        run: {f"q{place}": value for place, value in enumerate(row)} for run, row in values.items()
    }
    for standing in iro.leaderboard(iro.outputs(outputs, measure="P@5")).standings:
        assert standing.interval is not None
        assert (
            0
            <= standing.interval.low
            <= (standing.score or 0)
            <= standing.interval.high + 1e-12
            <= 1 + 1e-12
        )
        assert standing.interval.low < standing.interval.high


def test_measures_side_by_side_with_what_is_significant() -> None:
    qrels, runs = collection(5, 60, relevant=3, seed=2)
    names = ["AP@10", "coverage", "ranking", "all queries"]
    evaluation = iro.evaluate(qrels, runs, cutoff=6, measures=["AP@10"])
    board = iro.leaderboard(evaluation, measures=names)
    order = [standing.run for standing in board.standings]
    columns = {column.measure: column for column in board.measures}
    assert [(name, column.higher_is_better) for name, column in columns.items()] == [
        *zip(names, (True, True, False, False), strict=True)
    ]
    scores = evaluation.scores_of("AP@10")
    assert columns["AP@10"].values == pytest.approx(
        [scores.means()[scores.runs.index(run)] for run in order]
    )
    assert [any(column.better_than) for column in board.measures] == [True, False, False, False]
    for row in ("coverage", "ranking"):
        by_row = iro.leaderboard(evaluation, measures=[row])
        runs_of_row = [standing.run for standing in by_row.standings]
        beaten = dict(zip(runs_of_row, by_row.measures[0].better_than, strict=True))
        for own in board.pairs:
            found = getattr(own, row).found
            assert (own.baseline in beaten[own.contender]) == (found == "better")
            assert (own.contender in beaten[own.baseline]) == (found == "worse")
    everywhere = columns["all queries"].values
    assert None not in everywhere
    change = board.verdict(order[0], order[1]).all_queries.difference
    assert everywhere[1] - everywhere[0] == pytest.approx(change)  # type: ignore[operator]
    assert columns["coverage"].values == pytest.approx(
        [standing.coverage for standing in board.standings]
    )
    assert board.rows()[0]["AP@10"] == columns["AP@10"].values[0]


@pytest.mark.parametrize("clusters", [None, lambda query: int(query[1:]) // 2])
def test_letters_are_by_the_row_that_compare_has_of_a_measure(clusters: Any) -> None:
    qrels, runs = collection(4, 60, relevant=3, seed=2)
    evaluation = iro.evaluate(qrels, runs, cutoff=6, measures=["AP@10"], clusters=clusters)
    board = iro.leaderboard(evaluation, measures=["AP@10"], correction="none")
    order = [standing.run for standing in board.standings]
    better_than = dict(zip(order, board.measures[0].better_than, strict=True))
    for run in order:
        others = [other for other in order if other != run]
        for own in iro.compare(evaluation, run, others, measures=["AP@10"]):
            assert (run in better_than[own.contender]) == (own.measures[0].found == "better")


def test_scores_have_an_order_and_no_verdicts() -> None:
    evaluation = iro.evaluate(*collection(3, 30), cutoff=10, measures=["nDCG@5"])
    with_runs, alone = (
        iro.leaderboard(evaluation, measures=["nDCG@5"]),
        iro.leaderboard(as_values(evaluation.scores_of("nDCG@5"))),
    )
    assert {replace(standing, rank=0) for standing in alone.standings} == {
        replace(standing, rank=0, coverage=None, tier=None, won=None, lost=None)
        for standing in with_runs.standings
    }
    assert (alone.pairs, alone.tiers, alone.settings, alone.rows()[1]["above_verdict"]) == (
        (),
        (),
        None,
        None,
    )
    assert "no verdicts and no tiers" in alone.notes[0]
    assert iro.Leaderboard.from_json(alone.to_json()) == alone
    with pytest.raises(KeyError, match="there are no verdicts on scores"):
        alone.verdict("run0", "run1")


@pytest.mark.parametrize("unit", ["query", "document"])
@pytest.mark.parametrize("cutoff", [10, 40, 100])
def test_all_queries_count_to_the_depth_of_the_deepest_run(unit: Any, cutoff: int) -> None:
    """A list of 12 was first at the cutoff 1000, because what it missed counted 13 there, and 1001 in a longer one."""
    rng = np.random.default_rng(cutoff)
    documents = [f"d{place}" for place in range(40)]
    qrels = {
        f"q{number}": {str(document): 1 for document in rng.choice(documents, 3, replace=False)}
        for number in range(25)
    }
    lists = {
        f"run{depth}": {query: [*map(str, rng.permutation(documents)[:depth])] for query in qrels}
        for depth in (40, 12, 3)
    }
    runs = {
        run: {query: {d: -float(n) for n, d in enumerate(ranked)} for query, ranked in of.items()}
        for run, of in lists.items()
    }
    evaluation = iro.evaluate(qrels, runs, cutoff=cutoff, unit=unit)
    horizon = min(cutoff, 40)  # run40 is the deepest
    expected = {}
    for run, of in lists.items():
        of_queries: list[float] = []
        for query, ranked in of.items():
            places = [
                ranked.index(document) for document in qrels[query] if document in ranked[:cutoff]
            ]
            above = sorted(place - sum(other < place for other in places) + 1 for place in places)
            if unit == "query":
                of_queries.append(min(places) + 1 if places else horizon + 1)
            else:
                of_queries.append(sum([*above, *[horizon + 1] * (3 - len(places))]) / 3)
        expected[run] = sum(of_queries) / len(of_queries)
    board = iro.leaderboard(evaluation, measures=["all queries"])
    assert {standing.run: standing.score for standing in board.standings} == pytest.approx(expected)
    for standing in board.standings:
        assert standing.interval is not None
        assert 1 <= standing.interval.low <= standing.interval.high <= horizon + 1
    resampled = iro.rank_distribution(evaluation, measure="all queries", resamples=20)
    assert resampled.runs[0].run == min(expected, key=lambda run: expected[run])


def test_search_lengths_the_cutoff_of_the_call_and_any_order_give_the_same() -> None:
    qrels, runs = collection(3, 30)
    given = [iro.search_lengths(qrels, run, cutoff=10) for run in runs.values()]
    lengths = iro.evaluate(qrels, given, cutoff=10, names=list(runs))
    board = iro.leaderboard(iro.evaluate(qrels, runs, cutoff=10))
    turned = iro.evaluate(qrels, dict(reversed(list(runs.items()))))
    assert iro.leaderboard(lengths) == iro.leaderboard(turned, cutoff=10) == board


def test_equal_runs_share_rank_and_tier_and_an_empty_one_has_no_length() -> None:
    qrels, runs = collection(2, 80, seed=2)
    evaluation = iro.evaluate(
        qrels, {**runs, "twin": runs["run1"], "empty": {"q0": {"x": 1.0}}}, cutoff=10
    )
    board = iro.leaderboard(evaluation, allow=["unknown-ids"])
    twins = [
        (standing.rank, standing.tier)
        for standing in board.standings
        if standing.run in ("twin", "run1")
    ]
    assert twins == [(1, 1), (1, 1)]
    empty = board.verdict("run0", "empty")
    assert (empty.ranking.n, empty.ranking.difference) == (0, None)
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
        (evaluation, {"order": "losses"}, "order"),
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


@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n)))
def test_tiers_by_brute_force(bits: list[bool]) -> None:
    n = round(len(bits) ** 0.5)
    better = np.array(bits).reshape(n, n) & ~np.eye(n, dtype=bool)
    tier, cycles = tiers(better)
    closure = better | np.eye(n, dtype=bool)
    for middle in range(n):
        closure |= closure[:, [middle]] & closure[[middle], :]
    together = closure & closure.T
    assert {tuple(cycle) for cycle in cycles} == {
        tuple(np.flatnonzero(row).tolist()) for row in together if row.sum() > 1
    }
    for run in range(n):
        same = np.flatnonzero(together[run])
        beaten_by = [
            winner
            for winner in range(n)
            if better[winner, same].any() and not together[winner, run]
        ]
        assert tier[run] == 1 + max((tier[winner] for winner in beaten_by), default=0)
