"""Several runs of one system, against loops over all pairs of runs from the definitions."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import nDCG
from scipy import stats

import ir_outcomes as iro
from tests.helpers import literal
from tests.helpers.estimate import Literal, check_row
from tests.helpers.systems import Run, drawn

CUTOFF = 6
LARGEST = {"coverage": 100.0, "ranking": CUTOFF - 1.0, "all queries": float(CUTOFF)}
Systems = tuple[list[Run], list[Run]]


def half_of_new(
    pairs: list[literal.Pair], n_runs: tuple[int, int], clusters: dict[str, str] | None = None
) -> float:
    """Return half the width of the interval for new runs, cell by cell."""
    these = Literal(literal.units(pairs, clusters), 0.05, None)
    assert these.interval is not None
    mean = these.mean
    names = sorted({clusters[pair.query] if clusters else pair.query for pair in pairs})
    total = (these.interval.high - mean) ** 2
    for side, number in enumerate(n_runs):
        if number == 1:
            continue
        per_cell = len(pairs) / (len(names) * number)
        sums: dict[tuple[str, int], float] = defaultdict(float)
        for pair in pairs:
            name = clusters[pair.query] if clusters else pair.query
            sums[name, (pair.run_a, pair.run_b)[side]] += pair.b - pair.a - mean
        cell = {at: mean + sums.get(at, 0.0) / per_cell for at in product(names, range(number))}
        of_run = [np.mean([cell[name, run] for name in names]) for run in range(number)]
        of_unit = {name: np.mean([cell[name, run] for run in range(number)]) for name in names}
        v_s = sum((m - mean) ** 2 for m in of_run) / (number * (number - 1))
        residual = sum(
            (cell[name, run] - of_run[run] - of_unit[name] + mean) ** 2
            for name, run in product(names, range(number))
        )
        n = len(names)
        v_e = residual / ((n - 1) * (number - 1) * n * number)
        total += stats.t.ppf(0.975, number - 1) ** 2 * max(v_s - v_e, 0)
    return math.sqrt(total)


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
    names = {"ranking": "difference", "all queries": "restricted"}
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


def test_names_and_lists_make_the_same_systems_beside_single_runs() -> None:
    qrels, runs = drawn(2, runs={"a": 1, "b": 3, "c": 1})
    named = {f"b_{place}": run for place, run in enumerate(runs["b"])}
    single = {"c": runs["c"][0]}
    baseline = {"a": runs["a"][0]}
    options: Any = {"cutoff": CUTOFF, "correction": "none"}
    by_rule, listed = (
        iro.compare(qrels, baseline, contenders | single, replicates=rule, **options)
        for contenders, rule in ((named, "by:_"), ({"b": named}, None))
    )
    assert by_rule == listed
    alone = iro.compare(qrels, baseline, single, **options)["c"]
    assert (listed["c"].parts, listed["c"].runs) == (alone.parts, ())


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
        "coverage": ("coverage", "restricted"),
        "ranking": ("ranking", "restricted"),
        "all queries": ("restricted",),
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


@pytest.mark.parametrize("n_runs", [(1, 2), (1, 4), (5, 4)])
def test_few_runs_say_nothing_about_new_ones(n_runs: tuple[int, int]) -> None:
    result, *_ = compared(4, n_runs, 1)
    assert result.verdict.new_runs is None
    assert {row.new_runs for row in result.parts} == {None}
    assert any(note.kind == "few runs" for note in result.notes)
    (row,) = result.rows()
    assert (row["runs_baseline"], row["runs_contender"]) == n_runs
    assert iro.Comparison.from_json(result.to_json()) == result


def test_other_measures_take_several_runs() -> None:
    """Of reciprocal ranks rows are those of the runs; of any other measure, those of its values."""
    expected, qrels, (a, b) = compared(5, (1, 5), 1)
    ev = iro.evaluate(qrels, {"a": a, "b": b}, cutoff=CUTOFF, measures=["RR@6", "nDCG@6"])
    by_rank = iro.compare_measure(ev, "a", "b", measure="RR@6")
    assert (by_rank.coverage, by_rank.ranking) == (expected.coverage, expected.ranking)
    scores = ev.scores_of("RR@6")
    written: list[Any] = [
        {query: {"RR@6": value} for query, value in zip(scores.query_ids, row, strict=True)}
        for row in scores.values.tolist()
    ]
    names = ("a", *(f"b {number}" for number in range(1, 6)))
    outputs = iro.compare_outputs(written[0], written[1:], names=names, replicates="by: ")
    (outputs,) = outputs if isinstance(outputs, iro.Comparisons) else (outputs,)
    assert (outputs.coverage, outputs.ranking) == (expected.coverage, expected.ranking)
    by_gain = iro.compare_measure(ev, "a", "b", measure="nDCG@6")
    values = ev.scores_of("nDCG@6").values
    assert by_gain.mean is not None
    assert by_gain.mean.difference == pytest.approx((values[1:] - values[0]).mean())
    assert by_gain.mean.new_runs is not None


def every_analysis(ev: iro.Evaluation) -> Iterator[Callable[[], Any]]:
    """Yield calls of the analyses that take one run of each system."""
    yield lambda: iro.compare_cutoffs(ev, "a", "b")
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


def test_an_evaluation_that_was_saved_knows_its_systems(tmp_path: Any) -> None:
    qrels, runs = drawn(4, runs={"a": 1, "b": 5})
    ev = iro.evaluate(qrels, runs, cutoff=CUTOFF)
    expected = iro.compare(ev, "a", "b")
    path = tmp_path / "board.npz"
    ev.save(path)
    result = iro.compare(iro.load_evaluation(path), "a", "b")
    assert (result.parts, result.runs, result.verdict) == (
        expected.parts,
        expected.runs,
        expected.verdict,
    )
