"""Several runs of one system, against loops over all pairs of runs from the definitions."""

from collections.abc import Callable, Iterator
from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import nDCG

import ir_outcomes as iro
from tests.helpers import literal
from tests.helpers.comparisons import all_notes
from tests.helpers.estimate import check_row, half_of_new
from tests.helpers.systems import Run, drawn

CUTOFF = 6
LARGEST = {"coverage": 100.0, "ranking": CUTOFF - 1.0, "all queries": float(CUTOFF)}
Systems = tuple[list[Run], list[Run]]


def compared(
    seed: int, n_runs: tuple[int, int], relevant: int, **settings: Any
) -> tuple[iro.Comparison, dict[str, Any], Systems]:
    qrels, runs = drawn(seed, runs=dict(zip("ab", n_runs, strict=True)), relevant=relevant)
    contender: dict[str, Any] = {"b": runs["b"]}
    unit: Any = ["query", "document"][relevant > 1]
    settings |= {"cutoff": CUTOFF, "unit": unit}
    (result,) = iro.compare(qrels, {"a": runs["a"]}, contender, **settings)
    return result, qrels, (runs["a"], runs["b"])


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("relevant", [1, 3])
@pytest.mark.parametrize("n_runs", [(1, 5), (6, 1), (5, 6)])
def test_rows_and_intervals_for_new_runs(
    n_runs: tuple[int, int], relevant: int, clustered: bool
) -> None:
    clusters = {f"q{n}": f"c{n // 3}" for n in range(40)} if clustered else None
    result, qrels, systems = compared(7, n_runs, relevant, clusters=clusters)
    expected = literal.rows(qrels, *systems, result.unit, CUTOFF)
    for row in result.parts:
        pairs = expected[row.name]
        check_row(row, pairs, LARGEST[row.name], clusters=clusters)
        half = half_of_new(pairs, n_runs, clusters)
        assert row.difference is not None
        assert row.new_runs == pytest.approx((row.difference - half, row.difference + half))
        assert row.tests == {}
    assert (result.verdict.strict, result.verdict.do_no_harm) == (None, None)
    shares = result.outcomes.shares
    assert shares is not None
    assert 100 * (shares.won - shares.lost) == pytest.approx(result.coverage.difference)


def test_measures_are_compared_run_by_run() -> None:
    result, qrels, systems = compared(5, (1, 5), 3, measures=["nDCG@6"])
    values = [
        [
            {each.query_id: each.value for each in ir_measures.iter_calc([nDCG @ 6], qrels, run)}
            for run in runs
        ]
        for runs in systems
    ]
    pairs = [
        literal.Pair(query, 0, place, values[0][0][query], run[query])
        for place, run in enumerate(values[1])
        for query in qrels
    ]
    (row,) = result.measures
    check_row(row, pairs, 1.0)
    half = half_of_new(pairs, (1, 5))
    mean = row.difference or 0.0
    assert row.new_runs == pytest.approx((mean - half, mean + half))
    for run in result.runs:
        of_run = [pair.b - pair.a for pair in pairs if f"b {pair.run_b + 1}" == run.run]
        assert run.measures == pytest.approx((np.mean(of_run),))


def test_outcomes_queries_and_runs_are_means_over_pairs() -> None:
    result, qrels, systems = compared(3, (2, 3), 1)
    rows = literal.rows(qrels, *systems, "query", CUTOFF)
    names = {"ranking": "difference", "all queries": "all_queries"}
    assert result.outcomes.shares is not None
    won = [pair.b > pair.a for pair in rows["coverage"]]
    assert result.outcomes.shares.won == pytest.approx(np.mean(won))
    for query in result.per_query():
        for row, name in names.items():
            own = [pair.b - pair.a for pair in rows[row] if pair.query == query.query_id]
            value = getattr(query, name)
            assert value == (pytest.approx(np.mean(own)) if own else None)
    assert [run.run for run in result.runs] == ["a 1", "a 2", "b 1", "b 2", "b 3"]
    for run in result.runs:
        place = int(run.run[-1]) - 1
        for row, value in zip(rows, run[2:5], strict=False):
            side = "ab".index(run.system)
            own = [p.b - p.a for p in rows[row] if (p.run_a, p.run_b)[side] == place]
            assert value == pytest.approx(np.mean(own))


@pytest.mark.parametrize("relevant", [1, 3])
def test_one_run_on_both_sides_is_what_it_is_without(relevant: int) -> None:
    qrels, runs = drawn(2, runs={"a": 1, "b": 1, "c": 1}, relevant=relevant)
    (a,), (b,), (c,) = runs.values()
    settings: Any = {"cutoff": CUTOFF, "measures": ["nDCG@10"], "margins": (20.0, 2.0)}
    plain = iro.compare(qrels, {"a": a}, {"b": b, "c": c}, **settings)
    lists = iro.compare(qrels, {"a": [a]}, {"b": [b], "c": {"c": c}}, **settings)
    assert plain.to_json(per_query=True) == lists.to_json(per_query=True)
    evaluated = {"a": a, "x": b, "c": c}
    ev = iro.evaluate(qrels, evaluated, replicates={"x": "b"}, measures=["nDCG@10"])
    named = iro.compare(ev, "a", ["b", "c"], **settings)
    assert plain.to_json(per_query=True) == named.to_json(per_query=True)


def test_a_run_that_finds_nothing_has_no_ranking() -> None:
    qrels, runs = drawn(2, runs={"a": 1, "b": 3})
    runs["b"][1] = {query: {"nothing": 1.0} for query in qrels}
    (found,) = iro.compare(
        qrels, {"a": runs["a"][0]}, {"b": runs["b"]}, cutoff=CUTOFF, allow=["unknown-ids"]
    )
    assert [run.ranking is None for run in found.runs] == [False, True, False]
    assert (found.runs[1].coverage or 0) < 0


def test_a_label_holds_for_new_runs_where_their_intervals_exclude_zero() -> None:
    said = set()
    carrying = {
        "both facets": ("coverage", "ranking"),
        "coverage": ("coverage", "all_queries"),
        "ranking": ("ranking", "all_queries"),
        "all queries": ("all_queries",),
    }
    for seed in range(30):
        result, *_ = compared(seed, (1, 5), 1)
        verdict = result.verdict
        if verdict.direction == "none":
            assert verdict.new_runs is None
            continue
        names = next(p for name, p in carrying.items() if verdict.label.endswith(name))
        excluded = []
        for row in (getattr(result, name) for name in names):
            sign = 1 if row.higher_is_better == (verdict.direction == "better") else -1
            excluded.append(min(sign * row.new_runs.low, sign * row.new_runs.high) > 0)
        assert verdict.new_runs == all(excluded)
        said.add(verdict.new_runs)
    assert said == {True, False}


def test_intervals_for_new_runs_hold_those_for_these_runs() -> None:
    qrels = {f"q{n}": {"gold": 1} for n in range(30)}
    good = [{query: {"gold": 2.0, f"x{n}": 1.0} for query in qrels} for n in range(5)]
    moved = {query: {"x": 2.0, "gold": 1.0} for query in ("q1", "q2")}
    (found,) = iro.compare(qrels, {"a": good[0] | moved}, {"b": good})
    ranking = found.ranking
    assert ranking.differ == 2  # too few for a p-value of 0.05
    these, new = ranking.interval, ranking.new_runs
    assert these is not None
    assert new is not None
    assert new.low <= these.low < 0 < these.high <= new.high


@pytest.mark.parametrize("n_runs", [(1, 2), (1, 4), (5, 4)])
def test_few_runs_say_nothing_about_new_ones(n_runs: tuple[int, int]) -> None:
    result, *_ = compared(4, n_runs, 1)
    assert result.verdict.new_runs is None
    assert {row.new_runs for row in result.parts} == {None}
    assert any(note.kind == "few runs" for note in all_notes(result))
    (row,) = result.rows()
    assert (row["runs_baseline"], row["runs_contender"]) == n_runs
    assert iro.Comparison.from_json(result.to_json()) == result


def test_reciprocal_ranks_of_several_runs_have_the_rows_of_the_runs() -> None:
    expected, qrels, (a, b) = compared(5, (1, 5), 1)
    ev = iro.evaluate(qrels, {"a": a, "b": b}, cutoff=CUTOFF, measures=["RR@6"])
    scores = ev.scores_of("RR@6")
    rows = zip(scores.runs, scores.values.tolist(), strict=True)
    values = {run: dict(zip(scores.query_ids, row, strict=True)) for run, row in rows}
    systems = {run: system for system, runs in ev.replicates.items() for run in runs}
    of_values = iro.outputs(values, measure="RR@6", replicates=systems)
    by_rank = iro.compare(of_values, "a", "b")
    assert (by_rank.coverage, by_rank.ranking) == (expected.coverage, expected.ranking)


def every_analysis(ev: iro.Evaluation) -> Iterator[Callable[[], Any]]:
    """Yield calls of the analyses that take one run of each system."""
    yield lambda: iro.compare_slices(ev, "a", "b", by=dict.fromkeys(ev.query_ids, "x"))
    yield lambda: iro.compare_judges({"x": ev, "y": ev}, "a", "b")
    yield lambda: iro.compare_collections({"x": ev, "y": ev}, "a", "b")
    yield lambda: iro.holes(ev, "a", "b")
    yield lambda: iro.rank_distribution(ev)
    yield lambda: iro.agreement(ev)
    yield lambda: iro.reordering(ev)
    yield lambda: iro.rrie(ev, "a", "b")
    yield lambda: iro.headroom(ev)
    yield lambda: iro.length_distributions(ev)
    yield lambda: iro.length_changes(ev, "a", "b")


def test_every_other_analysis_refuses_several_runs() -> None:
    qrels, runs = drawn(4, runs={"a": 1, "b": 3})
    ev = iro.evaluate(qrels, runs, documents=100)
    for call in every_analysis(ev):
        with pytest.raises(iro.ParameterError, match="one run of each system"):
            call()
