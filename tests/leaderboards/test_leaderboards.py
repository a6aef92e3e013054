import pickle
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.comparison.verdict import MIRRORED
from ir_outcomes.errors import MismatchError, ParameterError
from ir_outcomes.leaderboards.leaderboard import tiers
from ir_outcomes.statistics import adjust, differences, mean_test
from tests.helpers.comparisons import compare_pair, compare_several
from tests.helpers.many import collection, tied_multiset

CLUSTERS = {
    f"q{number}": f"c{number // 4 if number < 80 else number % 20}" for number in range(120)
}


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
@pytest.mark.parametrize(
    ("unit", "relevant"), [("query", 1), ("query", 3), ("document", 3), ("document", 1)]
)
def test_the_verdicts_are_those_of_compare(unit: Any, relevant: int, clusters: Any) -> None:
    qrels, runs = collection(4, 60 if clusters is None else 120, relevant, seed=relevant)
    evaluation = iro.evaluate(qrels, runs, cutoff=8, unit=unit, clusters=clusters)
    board = iro.leaderboard(evaluation)
    compared = compare_several(evaluation, "run0", all_pairs=True)
    assert len(board.pairs) == len(compared) == 6
    shown = {standing.run: standing.coverage for standing in board.standings}
    for comparison in compared:
        pair = board.verdict(comparison.baseline, comparison.contender)
        coverage, ranking = comparison.coverage, comparison.ranking
        assert pair.label == comparison.verdict.label
        assert (pair.coverage_p, pair.coverage_p_corrected) == pytest.approx(
            (coverage.pvalue, coverage.pvalue_corrected)
        )
        assert (pair.ranking_p, pair.ranking_p_corrected) == pytest.approx(
            (ranking.pvalue, ranking.pvalue_corrected)
        )
        assert (pair.coverage, pair.ranking) == pytest.approx(
            (coverage.difference, ranking.difference)
        )
        assert pair.baseline_length == pytest.approx(ranking.baseline)
        assert (pair.turned().turned(), pair.turned().label) == (pair, MIRRORED[pair.label])
        found = shown[comparison.baseline], shown[comparison.contender]
        assert found == pytest.approx((coverage.baseline, coverage.contender))
    if clusters is not None:
        plain = iro.leaderboard(
            iro.evaluate(qrels, runs, cutoff=8, unit=unit), measures=["Answered@8"]
        )
        by_cluster = iro.leaderboard(evaluation, measures=["Answered@8"])
        assert [one.score for one in plain.standings] == [one.score for one in by_cluster.standings]
        assert not {one.interval for one in plain.standings} & {
            one.interval for one in by_cluster.standings
        }
        with pytest.raises(
            ParameterError,
            match="the analyses of the tail take queries as independent; evaluate without",
        ):
            iro.headroom(evaluation)


@pytest.mark.parametrize("clusters", [None, lambda query: int(query[1:]) // 2])
@pytest.mark.parametrize(
    ("unit", "relevant", "n_queries"),
    [("query", 1, 26), ("query", 1, 90), ("document", 3, 26), ("document", 3, 60)],
)
def test_stored_pvalues_are_those_of_each_pair_by_itself(
    unit: Any, relevant: int, n_queries: int, clusters: Any
) -> None:
    """With few differences and with many, and far from the levels, where labels need no exact p-values."""
    evaluation = iro.evaluate(
        *collection(5, n_queries, relevant, seed=3), cutoff=8, unit=unit, clusters=clusters
    )
    for pair in iro.leaderboard(evaluation).pairs:
        names = [pair.baseline, pair.contender]
        (alone,) = iro.compare(evaluation[names], pair.baseline, correction="none")
        assert alone.restricted is not None
        stored = (pair.coverage_p, pair.ranking_p, pair.all_queries_p)
        expected = (alone.coverage.pvalue, alone.ranking.pvalue, alone.restricted.pvalue)
        assert stored == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("pairs._MOST_NUMBERS", 1),
        ("pairs._MOST_NUMBERS", 100),
        ("pairs._MOST_SHARES", 1),
        ("changes._DEEPEST", 1),
    ],
)
@pytest.mark.parametrize(("relevant", "unit"), [(1, "query"), (3, "document")])
def test_blocks_of_any_size_give_the_same(
    limit: str, value: int, relevant: int, unit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, runs = collection(6, 40, relevant, seed=1)
    runs["short"] = {
        query: dict(list(ranking.items())[:4]) for query, ranking in runs["run2"].items()
    }
    evaluation = iro.evaluate(qrels, runs, cutoff=8, unit=unit)
    expected = iro.leaderboard(evaluation).pairs
    monkeypatch.setattr(f"ir_outcomes.leaderboards.{limit}", value)
    for pair, same in zip(expected, iro.leaderboard(evaluation).pairs, strict=True):
        assert pair.label == same.label
        for name in ("coverage_p", "ranking_p", "ranking", "all_queries"):
            assert getattr(pair, name) == pytest.approx(getattr(same, name))


def test_the_pairs_of_a_board_are_a_sequence_of_verdicts() -> None:
    board = iro.leaderboard(iro.evaluate(*collection(4, 40)))
    listed = tuple(board.pairs)
    names = [standing.run for standing in board.standings]
    assert [(pair.baseline, pair.contender) for pair in listed] == [*combinations(names, 2)]
    assert (board.pairs[-1], board.pairs[1:3]) == (listed[-1], listed[1:3])
    with pytest.raises(IndexError):
        board.pairs[6]
    assert board.pairs == listed == pickle.loads(pickle.dumps(board.pairs))
    assert hash(board.pairs) == hash(listed)
    assert board.pairs != listed[:5]
    assert board.pairs != (*listed[:5], listed[0])
    assert repr(board.pairs) == "PairVerdicts(6 pairs of 4 runs)"
    restored = iro.Leaderboard.from_json(board.to_json())
    assert restored == board
    assert restored.pairs == board.pairs


def test_intervals_of_bounded_means_stay_in_their_bounds() -> None:
    """The t interval of the first was [0.84, 1.10], that of the second began below 0."""
    values = {"best": [1.0] * 17 + [0.5], "worst": [0.88] + [0.0] * 17, "all": [1.0] * 18}
    outputs = {
        run: {f"q{place}": value for place, value in enumerate(row)} for run, row in values.items()
    }
    for standing in iro.leaderboard(iro.scores_from_outputs(outputs, measure="P@5")).standings:
        assert standing.interval is not None
        assert (
            0
            <= standing.interval.low
            <= (standing.score or 0)
            <= standing.interval.high + 1e-12
            <= 1 + 1e-12
        )
        assert standing.interval.low < standing.interval.high
    evaluation = iro.evaluate(*collection(3, 12))
    board = iro.leaderboard(evaluation, measures=["ESL(unanswered='cutoff+1')@3", "coverage"])
    assert all(
        standing.interval is not None and standing.interval.low >= 1 for standing in board.standings
    )
    assert not board.higher_is_better
    assert board.standings[0].score == min(board.measures[0].values)  # type: ignore[type-var]
    by_coverage = iro.leaderboard(evaluation, measures="coverage")
    assert all(
        standing.interval is not None and standing.interval.high <= 100
        for standing in by_coverage.standings
    )


def test_measures_side_by_side_with_what_is_significant() -> None:
    qrels, runs = collection(5, 60, relevant=3, seed=2)
    names = ["AP@10", "ESL@6", "coverage", "ranking", "all queries"]
    evaluation = iro.evaluate(qrels, runs, cutoff=6, measures=["AP@10"])
    board = iro.leaderboard(evaluation, measures=names)
    order = [standing.run for standing in board.standings]
    columns = {column.measure: column for column in board.measures}
    assert [(name, column.higher_is_better) for name, column in columns.items()] == [
        *zip(names, (True, False, True, False, False), strict=True)
    ]
    for name in names[:2]:
        scores = evaluation.scores_of(name)
        rows = dict(zip(scores.runs, scores.gains(), strict=True))
        tested = {}
        for first, second in combinations(order, 2):
            defined = ~np.isnan(rows[first]) & ~np.isnan(rows[second])
            tested[first, second] = mean_test(
                differences(rows[first][defined], rows[second][defined])
            )
        corrected = adjust([test.pvalue for test in tested.values()], "holm")
        significant = [
            (*pair, test.direction)
            for (pair, test), p in zip(tested.items(), corrected, strict=True)
            if p <= 0.05
        ]
        better = {
            (second, first) if direction > 0 else (first, second)
            for first, second, direction in significant
        }
        beaten_by = zip(order, columns[name].better_than, strict=True)
        assert {(run, worse) for run, beaten in beaten_by for worse in beaten} == better
        assert columns[name].values == pytest.approx(
            [scores.means()[scores.runs.index(run)] for run in order]
        )
    assert any(columns["AP@10"].better_than)
    for facet, sign in (("coverage", 1), ("ranking", -1)):
        for pair in board.pairs:
            is_better = (
                getattr(pair, f"{facet}_p_corrected") <= 0.05 and sign * getattr(pair, facet) > 0
            )
            assert (
                pair.baseline in columns[facet].better_than[order.index(pair.contender)]
            ) == is_better
    restricted = compare_pair(evaluation, order[0], order[1]).restricted
    assert restricted is not None
    everywhere = columns["all queries"].values
    assert everywhere[1] - everywhere[0] == pytest.approx(restricted.difference)  # type: ignore[operator]
    assert board.verdict(order[0], order[1]).all_queries == pytest.approx(restricted.difference)
    assert columns["coverage"].values == pytest.approx(
        [standing.coverage for standing in board.standings]
    )
    assert board.rows()[0]["ESL@6"] == columns["ESL@6"].values[0]


def test_scores_have_an_order_and_no_verdicts() -> None:
    evaluation = iro.evaluate(*collection(3, 30), cutoff=10, measures=["nDCG@5"])
    with_runs, alone = (
        iro.leaderboard(evaluation, measures=["nDCG@5"]),
        iro.leaderboard(evaluation.scores_of("nDCG@5")),
    )
    assert alone.standings == tuple(
        replace(standing, coverage=None, tier=None, net_wins=None)
        for standing in with_runs.standings
    )
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


def test_differences_of_coverage_are_found_among_102_runs() -> None:
    """Every second run finds only one of two relevant documents, always at rank 1."""
    qrels = {f"q{number}": {"g0": 1, "g1": 1} for number in range(20)}
    found = {"g0": 9.0, "g1": 8.0}, {"g0": 9.0, "x": 5.0}
    runs = {
        f"run{number:03d}": {query: found[number % 2] | {f"x{number}": 1.0} for query in qrels}
        for number in range(102)
    }
    board = iro.leaderboard(iro.evaluate(qrels, runs, cutoff=10, unit="document"), order="measure")
    labels = {(pair.coverage, pair.label) for pair in board.pairs}
    assert labels == {
        (0, "no significant difference"),
        (50, "better on coverage"),
        (-50, "worse on coverage"),
    }
    assert [len(tier) for tier in board.tiers] == [51, 51]
    assert max(pair.coverage_p for pair in board.pairs if pair.coverage) == pytest.approx(2.0**-19)


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


def test_tiers_use_the_label_after_the_guard() -> None:
    board = iro.leaderboard(iro.evaluate(*tied_multiset(1000), cutoff=100))
    assert [pair.label for pair in board.pairs] == ["trade-off"]
    assert [standing.tier for standing in board.standings] == [1, 1]


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
    entries = [
        {"id": name, "date": f"2021-01-0{day}"}
        for day, name in enumerate(("run1", "twin", "run0", "empty"), 1)
    ]
    board = iro.leaderboard(evaluation, entries=entries)
    twins = [
        (standing.rank, standing.tier)
        for standing in board.standings
        if standing.run in ("twin", "run1")
    ]
    assert twins == [(1, 1), (1, 1)]
    empty = board.verdict("run0", "empty")
    assert (empty.baseline_length, empty.contender_length, empty.ranking) == (None, None, None)
    assert board.verdict("empty", "run0") == empty.turned()
    assert board.history is not None
    # Its twin does not take first place from it.
    assert [run.run for run in board.history.runs] == ["run1"]


def test_what_is_refused() -> None:
    qrels, runs = collection(2, 30)
    evaluation = iro.evaluate(qrels, runs)
    scores = evaluation.scores_of(None)
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (evaluation[["run0"]], {}, "there is only one run"),
        (runs, {}, r"`source` is of type dict; it must be what ir_outcomes\.evaluate"),
        (iro.evaluate(qrels, runs, ties="expected"), {}, "gives no single order"),
        (evaluation, {"correction": "sidak"}, "`correction='sidak'`: must be one of holm"),
        (evaluation, {"measures": ["coverage", "coverage"]}, "coverage is named twice"),
        (evaluation, {"measures": []}, "there is no measure"),
        (scores, {"cutoff": 10}, "cutoff is a setting of the verdicts"),
        (scores, {"measures": ["AP"]}, "these scores are of RR"),
    ]
    for source, settings, message in wrong:
        with pytest.raises(ParameterError, match=message):
            iro.leaderboard(source, **settings)
    with pytest.raises(KeyError, match="the runs are"):
        iro.leaderboard(evaluation).verdict("run0", "none")


def test_depth_and_missing_queries_are_noted() -> None:
    qrels, runs = collection(2, 30)
    del runs["run0"]["q3"]
    evaluation = iro.evaluate(qrels, runs, cutoff=100, ties="msmarco")
    board = iro.leaderboard(evaluation)
    assert (
        "No run is deeper than 10: the cutoff 100 is in effect 10, and RR@100 is RR@10."
        in board.notes
    )
    missing = iro.holes(iro.evaluate(qrels, runs, cutoff=100, documents=100), "run1")
    for shown in (board, missing, replace(missing, pairs=missing.pairs[:1])):
        assert "No run is deeper than 10: the cutoff 100 is in effect 10" in " ".join(
            shown.to_text().split()
        )
    for result in (
        board,
        iro.rank_distribution(evaluation, resamples=5),
        iro.agreement(evaluation, splits=2),
    ):
        assert (
            "Missing queries: run0 lacks 1 query of the qrels (q3), counted as unanswered."
            in result.notes
        )
    runs["short"] = {
        query: dict(list(ranking.items())[:3]) for query, ranking in runs["run1"].items()
    }
    board = iro.leaderboard(iro.evaluate(qrels, runs, cutoff=10))
    assert any(note.startswith("short: no list reaches the cutoff of 10") for note in board.notes)


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


def test_a_leaderboard_with_dates() -> None:
    evaluation = iro.evaluate(*collection(3, 80, seed=2), cutoff=10)
    entries = [
        {"id": f"run{n}", "date": f"2021-01-0{n + 1}", "group": "ba"[n % 2]} for n in range(3)
    ]
    others = [{"id": f"other{number}", "date": "2021-01-01"} for number in range(50)]
    given = (
        (evaluation, entries),
        (evaluation.scores_of(None), entries),
        (evaluation, [*entries, *others]),
    )
    history, of_scores, crowded = (
        iro.leaderboard(source, entries=dated).history for source, dated in given
    )
    assert history is not None
    assert of_scores is not None
    assert crowded is not None
    assert (history.submissions, len(history.runs) > 1) == ({"b": 2, "a": 1}, True)
    for previous, run in pairwise(history.runs):
        assert run.verdict is not None
        assert (run.verdict.baseline, run.verdict.contender) == (previous.run, run.run)
        for facet in ("coverage", "ranking"):
            raw, corrected = (
                getattr(run.verdict, f"{facet}_p{more}") for more in ("", "_corrected")
            )
            assert corrected == pytest.approx(min(1.0, run.looks * raw))
    assert of_scores.runs == tuple(replace(run, verdict=None) for run in history.runs)
    assert [run.looks for run in crowded.runs] == [run.looks + 50 for run in history.runs]
    assert crowded.notes[0].startswith(
        "50 entries have no score: they count as a use of the test queries"
    )
    with pytest.raises(MismatchError, match="no row for run0"):
        iro.leaderboard(evaluation, entries=entries[1:])


def wins_by_counting(evaluation: iro.Evaluation) -> dict[str, int]:
    """Count for each run the pairs won less those lost, one comparison after the other."""
    net = dict.fromkeys(evaluation.names, 0)
    for comparison in compare_several(evaluation, evaluation.names[0], all_pairs=True):
        sign = {"better": 1, "none": 0, "worse": -1}[comparison.verdict.direction]
        net[comparison.contender] += sign
        net[comparison.baseline] -= sign
    return net


def test_runs_in_the_order_of_their_wins() -> None:
    qrels, runs = collection(7, 80, relevant=3, seed=5)
    runs["twin"] = dict(runs["run2"])
    evaluation = iro.evaluate(qrels, runs, cutoff=8, unit="document", measures=["P@1"])
    by_measure = iro.leaderboard(evaluation, measures=["P@1"])
    board = iro.leaderboard(evaluation, measures=["P@1", "coverage"], order="wins")
    net = wins_by_counting(evaluation)
    score = {standing.run: standing.score or 0 for standing in by_measure.standings}
    keys = {run: (-net[run], -score[run]) for run in net}
    assert [standing.run for standing in board.standings] == sorted(
        keys, key=lambda run: (keys[run], run)
    )
    assert [standing.run for standing in board.standings] != [
        standing.run for standing in by_measure.standings
    ]
    assert {standing.run: standing.net_wins for standing in board.standings} == net
    assert {standing.run: standing.net_wins for standing in by_measure.standings} == net
    for standing in board.standings:
        assert standing.rank == 1 + sum(key < keys[standing.run] for key in keys.values())
    # what is said of each run and pair is the same in both orders
    of_run = {standing.run: standing for standing in by_measure.standings}
    for standing in board.standings:
        assert replace(standing, rank=0) == replace(of_run[standing.run], rank=0)
    for one, other in combinations(net, 2):
        assert board.verdict(one, other) == by_measure.verdict(one, other)
    for own in (board, by_measure):
        names = [standing.run for standing in own.standings]
        assert [(pair.baseline, pair.contender) for pair in own.pairs] == [*combinations(names, 2)]
    beaten = dict(
        zip([row.run for row in board.standings], board.measures[0].better_than, strict=True)
    )
    expected = dict(
        zip(
            [row.run for row in by_measure.standings],
            by_measure.measures[0].better_than,
            strict=True,
        )
    )
    assert {run: {*runs} for run, runs in beaten.items()} == {
        run: {*runs} for run, runs in expected.items()
    }
    by_coverage = iro.leaderboard(evaluation, measures="coverage").measures[0]
    expected = dict(zip(score_order(evaluation, "coverage"), by_coverage.better_than, strict=True))
    beaten = dict(
        zip([row.run for row in board.standings], board.measures[1].better_than, strict=True)
    )
    assert {run: {*runs} for run, runs in beaten.items()} == {
        run: {*runs} for run, runs in expected.items()
    }


def score_order(evaluation: iro.Evaluation, measure: str) -> list[str]:
    return [standing.run for standing in iro.leaderboard(evaluation, measures=measure).standings]


def test_wins_order_documents_where_no_measure_was_asked_for() -> None:
    qrels, runs = collection(4, 40, relevant=3, seed=3)
    documents = iro.evaluate(qrels, runs, cutoff=8, unit="document")
    queries = iro.evaluate(qrels, runs, cutoff=8, unit="query")
    assert iro.leaderboard(documents).order == "wins"
    assert iro.leaderboard(documents, measures="coverage").order == "measure"
    assert iro.leaderboard(documents, order="measure").order == "measure"
    assert iro.leaderboard(queries).order == "measure"
    text = iro.leaderboard(queries, order="wins").to_text()
    assert text.startswith("4 runs by pairs won less pairs lost, then RR@8")
    assert "won - lost" in text
    scores = iro.scores_from_outputs({"a": {"q": 1.0}, "b": {"q": 0.5}}, measure="P@5")
    assert iro.leaderboard(scores).standings[0].net_wins is None
    with pytest.raises(ParameterError, match="scores have no verdicts"):
        iro.leaderboard(scores, order="wins")
    with pytest.raises(ParameterError, match="order"):
        iro.leaderboard(queries, order="losses")  # type: ignore[arg-type]


def test_tiers_that_contradict_the_order_are_explained_in_one_line() -> None:
    qrels = {f"q{number}": {"gold": 1} for number in range(100)}
    # "gambler" has the best mean reciprocal rank and answers far fewer queries than both others
    ranks = {"gambler": [1] * 60 + [0] * 40, "steady": [2] * 100, "slow": [3] * 100}
    runs = {
        name: {
            query: {
                **{f"x{place}": 9.0 - place for place in range(1, 5) if place != rank},
                **({"gold": 9.0 - rank} if rank else {}),
            }
            for query, rank in zip(qrels, own, strict=True)
        }
        for name, own in ranks.items()
    }
    board = iro.leaderboard(iro.evaluate(qrels, runs, cutoff=4))
    tiers_in_order = [standing.tier for standing in board.standings]
    expected = [
        standing.run
        for place, standing in enumerate(board.standings)
        if any((above or 0) > (standing.tier or 0) for above in tiers_in_order[:place])
    ]
    assert list(board.below_later_tiers) == expected
    contradicting = replace(
        board,
        standings=tuple(replace(row, tier=3 - place) for place, row in enumerate(board.standings)),
    )
    names = [standing.run for standing in board.standings]
    assert contradicting.below_later_tiers == tuple(names[1:])
    line = (
        f"rows are in the order of RR@4, tiers are by the verdicts: {names[1]}, {names[2]} stand"
        " below runs of a later tier"
    )
    assert line in " ".join(contradicting.to_text().split())
    in_order = replace(board, standings=tuple(replace(row, tier=1) for row in board.standings))
    assert "runs of a later tier" not in in_order.to_text()


def test_ties_are_one_note_for_all_runs() -> None:
    qrels = {f"q{number}": {"b": 1} for number in range(10)}
    tied = {query: {"b": 1.0, "c": 1.0} for query in qrels}
    clear = {query: {"b": 2.0, "c": 1.0} for query in qrels}
    board = iro.leaderboard(iro.evaluate(qrels, {"one": tied, "two": tied, "clear": clear}))
    (note,) = [note for note in board.notes if note.startswith("Tied scores")]
    assert "queries that one, two answer, the rule" in note
