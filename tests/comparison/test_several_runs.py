"""Several runs of one system, against straightforward computations from the definitions."""

import math
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ir_outcomes as iro
from ir_outcomes.comparison.outcomes import pair_queries
from ir_outcomes.statistics import paired_tests, sign_flip
from ir_outcomes.statistics.intervals import effective_df
from tests.helpers.systems import Run, drawn

CUTOFF = 6
Rows = list[tuple[str, int, int, float]]  # cluster, run of A, run of B, difference


def found_at(run: Run, query: str, document: str) -> float:
    """Return the rank of a document within the cutoff; infinity where it is not there."""
    order = sorted(run[query], key=lambda name: -run[query][name])[:CUTOFF]
    return order.index(document) + 1 if document in order else math.inf


def lengths(run: Run, query: str, golds: list[str], unit: str) -> list[float]:
    """Return the search length of each item of a query, infinity where it is not found."""
    ranks = [found_at(run, query, gold) for gold in golds]
    if unit == "query":
        return [min(ranks)]
    return [rank - sum(other < rank for other in ranks) for rank in ranks]


def mean_of(values: Iterable[float]) -> float:
    listed = list(values)
    return float(sum(listed) / len(listed))


def rows_of(
    qrels: dict[str, Any],
    systems: tuple[list[Run], list[Run]],
    unit: str,
    cluster_of: Callable[[str], str],
) -> dict[str, Rows]:
    """Return the differences of every query and pair of runs, by facet."""
    found: dict[str, Rows] = defaultdict(list)
    of_runs = [
        [
            {query: lengths(run, query, list(judged), unit) for query, judged in qrels.items()}
            for run in runs
        ]
        for runs in systems
    ]
    for (a, own), (b, others) in product(*map(enumerate, of_runs)):
        for query in qrels:
            pairs = list(zip(own[query], others[query], strict=True))
            at = (cluster_of(query), a, b)
            seen = [(x < math.inf, y < math.inf) for x, y in pairs]
            found["coverage"].append((*at, 100 * mean_of(y - x for x, y in seen)))
            limit = [(min(x, CUTOFF + 1), min(y, CUTOFF + 1)) for x, y in pairs]
            found["restricted"].append((*at, mean_of(y - x for x, y in limit)))
            both = [y - x for x, y in pairs if max(x, y) < math.inf]
            if both:
                found["ranking"].append((*at, mean_of(both)))
    return found


def half_of_these(rows: Rows) -> tuple[float, float]:
    """Return the mean over rows, and half the width of the interval by cluster, from the definition in design."""
    mean = np.mean([d for *_, d in rows])
    residuals: dict[str, float] = defaultdict(float)
    for cluster, _, _, d in rows:
        residuals[cluster] += float(d - mean)
    values = np.array(list(residuals.values()))
    n = len(values)
    error = math.sqrt(n / (n - 1) * np.sum(values**2)) / len(rows)
    return float(mean), stats.t.ppf(0.975, effective_df(values)) * error


def half_of_new(rows: Rows, n_runs: tuple[int, int]) -> float:
    """Return half the width of the interval for new runs, cell by cell."""
    mean, half = half_of_these(rows)
    clusters = sorted({row[0] for row in rows})
    total = half**2
    for side, number in enumerate(n_runs, 1):
        if number == 1:
            continue
        per_cell = len(rows) / (len(clusters) * number)
        sums: dict[tuple[str, int], float] = defaultdict(float)
        for cluster, *run_of_side, d in rows:
            sums[cluster, run_of_side[side - 1]] += d - mean
        cell = {at: mean + sums.get(at, 0.0) / per_cell for at in product(clusters, range(number))}
        of_run = [np.mean([cell[c, run] for c in clusters]) for run in range(number)]
        of_cluster = {c: np.mean([cell[c, run] for run in range(number)]) for c in clusters}
        v_s = sum((m - mean) ** 2 for m in of_run) / (number * (number - 1))
        residual = sum(
            (cell[c, run] - of_run[run] - of_cluster[c] + mean) ** 2
            for c, run in product(clusters, range(number))
        )
        n = len(clusters)
        v_e = residual / ((n - 1) * (number - 1) * n * number)
        total += stats.t.ppf(0.975, number - 1) ** 2 * max(v_s - v_e, 0)
    return math.sqrt(total)


def compared(
    seed: int, n_runs: tuple[int, int], relevant: int, clusters: Any = None, **settings: Any
) -> tuple[iro.Comparison, dict[str, Any], tuple[list[Run], list[Run]]]:
    qrels, runs = drawn(seed, runs=dict(zip("ab", n_runs, strict=True)), relevant=relevant)
    contender: dict[str, Any] = {"b": runs["b"]}
    unit: Any = ["query", "document"][relevant > 1]
    result = iro.compare(
        qrels,
        {"a": runs["a"]},
        contender,
        cutoff=CUTOFF,
        unit=unit,
        clusters=clusters,
        **settings,
    )
    return result[0], qrels, (runs["a"], runs["b"])


def pairs_of_queries(query: str) -> str:
    return f"c{int(query[1:]) // 3}"


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("relevant", [1, 3])
@pytest.mark.parametrize("n_runs", [(1, 5), (6, 1), (5, 6)])
def test_means_and_intervals_are_those_of_the_definition(
    n_runs: tuple[int, int], relevant: int, clustered: bool
) -> None:
    clusters = pairs_of_queries if clustered else None
    result, qrels, systems = compared(7, n_runs, relevant, clusters)
    expected = rows_of(qrels, systems, result.unit, clusters or str)
    for name, rows in expected.items():
        facet = getattr(result, name)
        mean, half = half_of_these(rows)
        assert facet.difference == pytest.approx(mean), name
        assert facet.interval == pytest.approx((mean - half, mean + half)), name
        wide = half_of_new(rows, n_runs)
        assert facet.new_runs == pytest.approx((mean - wide, mean + wide)), name
        tests = paired_tests([d for *_, d in rows], clusters=codes(rows))
        for test in facet.tests.values():
            assert test.pvalue == pytest.approx(tests[test.name].pvalue, abs=1e-9), test.name
    flips = sign_flip(sums_of(expected["coverage"]))
    assert result.coverage.test == "signflip"
    assert result.coverage.pvalue == pytest.approx(flips.pvalue)


@pytest.mark.parametrize("relevant", [1, 3])
@pytest.mark.parametrize("n_runs", [(1, 5), (5, 7)])
def test_complete_tables_are_two_way_analyses_of_variance(
    n_runs: tuple[int, int], relevant: int
) -> None:
    """Coverage and all queries, in both units; on the ranking facet cells are empty, and there is no closed form."""
    anova = pytest.importorskip("statsmodels.stats.anova")
    formula = pytest.importorskip("statsmodels.formula.api")
    result, qrels, systems = compared(7, n_runs, relevant)
    for name, rows in rows_of(qrels, systems, result.unit, str).items():
        errors = list(getattr(result, name).errors_of_runs)
        for run, number in zip("ab", n_runs, strict=True):
            if name == "ranking" or number == 1:
                continue
            frame = pd.DataFrame(rows, columns=["query", "a", "b", "d"])
            cells = frame.groupby(["query", run])["d"].mean().reset_index()
            table = anova.anova_lm(formula.ols(f"d ~ C(query) + C({run})", cells).fit())
            squares = table["sum_sq"] / table["df"]
            between = max((squares[f"C({run})"] - squares["Residual"]) / len(cells), 0.0)
            assert errors.pop(0) ** 2 == pytest.approx(between), (name, run)
        assert not errors or name == "ranking"


def codes(rows: Rows) -> list[int]:
    names = list(dict.fromkeys(row[0] for row in rows))
    return [names.index(row[0]) for row in rows]


def sums_of(rows: Rows) -> list[float]:
    return [round(float(d), 9) for d in np.bincount(codes(rows), [d for *_, d in rows])]


def test_outcomes_are_shares_of_pairs_of_runs() -> None:
    result, qrels, systems = compared(3, (2, 3), 1)
    assert result.outcomes.shares is not None
    won = np.mean(
        [
            lengths(a, q, ["d0"], "query")[0] == math.inf > lengths(b, q, ["d0"], "query")[0]
            for a, b in product(*systems)
            for q in qrels
        ]
    )
    assert result.outcomes.shares.won == pytest.approx(won)
    assert result.n_queries == len(qrels) == result.coverage.n
    assert sum(result.outcomes.shares) == pytest.approx(1)
    for run in result.runs:
        place = int(run.run.rpartition(" ")[2]) - 1
        own = [systems[0], systems[1]]
        own["ab".index(run.system)] = [own["ab".index(run.system)][place]]
        rows = rows_of(qrels, (own[0], own[1]), "query", str)
        assert run.coverage == pytest.approx(half_of_these(rows["coverage"])[0])
        assert run.ranking == pytest.approx(half_of_these(rows["ranking"])[0])
        assert run.all_queries == pytest.approx(half_of_these(rows["restricted"])[0])
    assert [run.run for run in result.runs] == ["a 1", "a 2", "b 1", "b 2", "b 3"]


def test_queries_have_the_means_of_their_pairs() -> None:
    result, qrels, systems = compared(3, (2, 3), 1)
    rows = rows_of(qrels, systems, "query", str)
    alone = 0
    for query in result.per_query():
        for name, value in (
            ("ranking", query.difference),
            ("restricted", query.restricted),
            ("coverage", 100 * (query.found_contender - query.found_baseline)),
        ):
            own = [d for at, *_, d in rows[name] if at == query.query_id]
            assert value == (pytest.approx(np.mean(own)) if own else None)
        # What a run found is shown where no pair of runs found something in common.
        for shown, runs in zip((query.baseline, query.contender), systems, strict=True):
            ranks = [found_at(run, query.query_id, "d0") for run in runs]
            found = [rank for rank in ranks if rank <= CUTOFF]
            if query.difference is None:
                assert shown == (pytest.approx(np.mean(found)) if found else None)
                alone += bool(found)
    assert alone > 2
    rest = result.restricted
    assert rest is not None
    changes = [round(query.restricted or 0, 9) for query in result.per_query()]
    assert (rest.better, rest.worse) == (sum(d < 0 for d in changes), sum(d > 0 for d in changes))


@pytest.mark.parametrize("relevant", [1, 3])
def test_one_run_on_both_sides_is_what_it_is_without(relevant: int) -> None:
    qrels, runs = drawn(2, runs={"a": 1, "b": 1, "c": 1}, relevant=relevant)
    (a,), (b,), (c,) = runs.values()
    settings: Any = {"cutoff": CUTOFF, "measures": ["nDCG@10"], "margins": (20.0, 2.0)}
    plain = iro.compare(qrels, {"a": a}, {"b": b, "c": c}, **settings)
    lists = iro.compare(qrels, {"a": [a]}, {"b": [b], "c": {"c": c}}, **settings)
    assert plain.to_json(per_query=True) == lists.to_json(per_query=True)
    ev = iro.evaluate(qrels, {"a": a, "x": b, "c": c}, replicates={"x": "b"}, measures=["nDCG@10"])
    named = iro.compare(ev, "a", ["b", "c"], **settings)
    assert plain.to_json(per_query=True) == named.to_json(per_query=True)


def test_a_single_run_beside_a_system_is_tested_as_without_it() -> None:
    qrels, runs = drawn(2, runs={"a": 1, "b": 5, "c": 1})
    both = iro.compare(
        qrels, {"a": runs["a"]}, {"b": runs["b"], "c": runs["c"]}, cutoff=CUTOFF, correction="none"
    )
    alone = iro.compare(qrels, {"a": runs["a"][0]}, {"c": runs["c"][0]}, cutoff=CUTOFF)[0]
    assert both["c"].coverage == alone.coverage
    assert both["c"].ranking == alone.ranking
    assert both["c"].runs == () != both["b"].runs


def test_names_and_lists_make_the_same_systems_of_the_contenders() -> None:
    qrels, runs = drawn(2, runs={"a": 1, "b": 3})
    named = {f"b_{place}": run for place, run in enumerate(runs["b"])}
    baseline = {"a": runs["a"][0]}
    by_rule, listed = (
        iro.compare(qrels, baseline, contenders, cutoff=CUTOFF, replicates=rule)
        for contenders, rule in ((named, "by:_"), ({"b": named}, None))
    )
    assert by_rule == listed


def test_a_run_that_finds_nothing_has_no_ranking_of_its_own() -> None:
    qrels, runs = drawn(2, runs={"a": 1, "b": 3})
    runs["b"][1] = {query: {"nothing": 1.0} for query in qrels}
    (found,) = iro.compare(qrels, {"a": runs["a"][0]}, {"b": runs["b"]}, cutoff=CUTOFF)
    changes = [run.ranking for run in found.runs]
    assert [change is None for change in changes] == [False, True, False]
    assert (found.runs[1].coverage or 0) < 0


def test_the_label_holds_for_new_runs_where_their_intervals_exclude_zero() -> None:
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
        parts = next(p for name, p in carrying.items() if verdict.label.endswith(name))
        excluded = []
        for part in (getattr(result, name) for name in parts):
            sign = 1 if part.higher_is_better == (verdict.direction == "better") else -1
            excluded.append(min(sign * part.new_runs.low, sign * part.new_runs.high) > 0)
        assert verdict.new_runs == all(excluded)
        said.add(verdict.new_runs)
        ending = "also for new runs" if verdict.new_runs else "of these runs only"
        assert result.to_text().splitlines()[0].endswith(ending)
    assert said == {True, False}


def test_a_table_of_systems_says_what_its_columns_are() -> None:
    said = set()
    for seed in range(10):
        result, qrels, ((own,), runs) = compared(seed, (1, 5), 1)
        systems = iro.compare(qrels, own, {"dense": runs}, cutoff=result.settings.cutoff)
        text = systems.to_text(details=True)
        assert "Outcomes, % of queries, averaged over queries and runs" in text
        assert "median ranks" not in text  # there is no such column
        known = systems["dense"].verdict.new_runs is not None
        assert ("new runs: whether the label holds for new runs" in text) is known
        said.add(known)
    assert said == {True, False}


@pytest.mark.parametrize("n_runs", [(1, 2), (1, 4), (5, 4)])
def test_few_runs_say_nothing_about_new_ones(n_runs: tuple[int, int]) -> None:
    result, *_ = compared(4, n_runs, 1)
    assert result.verdict.new_runs is None
    assert result.coverage.new_runs is result.ranking.new_runs is None
    assert any(note.kind == "few runs" for note in result.notes)
    assert "new runs" not in result.to_text().splitlines()[0]
    assert "coverage_new_runs_low" not in result.to_frame()
    (row,) = result.rows()
    assert (row["runs_baseline"], row["runs_contender"]) == n_runs


def test_runs_of_unequal_depth_have_the_depth_of_all() -> None:
    qrels, runs = drawn(4, runs={"a": 1, "b": 2})
    shallow = {query: dict(list(run.items())[:3]) for query, run in runs["b"][1].items()}
    result = iro.compare(
        qrels, {"a": runs["a"]}, {"b": [runs["b"][0], shallow]}, cutoff=CUTOFF, unit="query"
    )[0]
    (note,) = (note for note in result.notes if note.kind == "depth")
    assert "the runs return at most 3 to " in note
    assert "compare with `cutoff=3`, which all reach" in note


def test_memory_does_not_grow_with_the_pairs_of_runs() -> None:
    """400 pairs of 200 queries have 80,000 rows, of which an array of numbers takes 0.6 megabytes."""
    qrels, runs = drawn(4, runs={"a": 20, "b": 20}, n_queries=200)
    a, b = iro.evaluate(qrels, runs, cutoff=CUTOFF).systems
    tracemalloc.start()
    pair = pair_queries(a, b, "query")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert pair.n_runs == (20, 20)
    assert peak < 1_300_000


def test_a_thousand_runs_of_a_system() -> None:
    rng = np.random.default_rng(2)
    places = rng.poisson(3 + rng.normal(size=(1000, 1)) / 2, size=(1000, 20)).tolist()
    qrels = {f"q{n}": {"gold": 1} for n in range(20)}

    def run(at: list[int]) -> Run:
        documents = ({r: "gold" if r == place else f"d{r}" for r in range(8)} for place in at)
        return {
            query: {name: float(-rank) for rank, name in own.items()}
            for query, own in zip(qrels, documents, strict=True)
        }

    baseline = run([4] * 20)
    result = iro.compare(qrels, {"a": baseline}, {"b": list(map(run, places))}, cutoff=8)[0]
    assert result.n_runs == (1, 1000)
    answered = np.array(places) < 8
    assert result.coverage.difference == pytest.approx(100 * (answered.mean() - 1))
    for own, found, at in zip(result.runs, answered, np.array(places), strict=True):
        assert own.coverage == pytest.approx(100 * (found.mean() - 1))
        assert own.ranking == pytest.approx(float((at[found] - 4).mean()))


@pytest.mark.parametrize("clustered", [False, True])
def test_the_sentence_names_what_is_tested(clustered: bool) -> None:
    """The rows of a query are its cluster, which is no cluster of the user's."""
    clusters = pairs_of_queries if clustered else None
    result, *_ = compared(7, (1, 5), 1, clusters)
    assert ("by query" in result.verdict.sentence) is not clustered
    assert ("by cluster" in result.verdict.sentence) is clustered


def test_measures_are_compared_run_by_run() -> None:
    result, qrels, (a, b) = compared(5, (1, 5), 3, measures=["RR@6", "nDCG@6"])
    import ir_measures

    (own,) = a
    of_query: dict[str, list[float]] = defaultdict(list)
    for run in b:
        values = {m.query_id: m.value for m in ir_measures.nDCG(cutoff=6).iter_calc(qrels, run)}
        for m in ir_measures.nDCG(cutoff=6).iter_calc(qrels, own):
            of_query[m.query_id].append(values[m.query_id] - m.value)
    table = np.array([of_query[query] for query in qrels])
    means = result.measures[1]
    expected = stats.ttest_1samp(table.mean(axis=1), 0)
    assert means.difference == pytest.approx(table.mean())
    assert means.test.pvalue == pytest.approx(expected.pvalue)
    rows = [(q, 0, b, d) for q, line in enumerate(table) for b, d in enumerate(line)]
    half = half_of_new(rows, (1, 5))  # type: ignore[arg-type]
    assert means.new_runs == pytest.approx((table.mean() - half, table.mean() + half))
    assert [run.measures[1] for run in result.runs] == pytest.approx(table.mean(axis=0).tolist())


def test_the_difference_in_ranking_does_not_grow_with_the_runs() -> None:
    """Averaged within queries first it would: seldom answered queries would enter at full weight."""
    qrels, runs = drawn(11, runs={"a": 1, "b": 8}, n_queries=300)
    rows = [iro.compare(qrels, runs["a"][0], run, cutoff=CUTOFF).ranking for run in runs["b"]]
    together = iro.compare(qrels, {"a": runs["a"]}, {"b": runs["b"]}, cutoff=CUTOFF)[0].ranking
    weighted = np.average([own.difference for own in rows], weights=[own.n for own in rows])
    assert together.difference == pytest.approx(weighted)
    assert together.n >= max(own.n for own in rows)


def test_margins_take_the_interval_for_new_runs() -> None:
    result, qrels, systems = compared(9, (1, 5), 1, margins=(10.0, 2.0))
    rows = rows_of(qrels, systems, "query", str)["restricted"]
    sums = np.array(sums_of(rows)) / 5
    k = CUTOFF
    extended = np.concatenate([sums, [k, -k]])
    half = stats.t.ppf(0.975, effective_df(extended)) * extended.std(ddof=1) / math.sqrt(42)
    _, these = half_of_these(rows)
    half = math.sqrt(half**2 + half_of_new(rows, (1, 5)) ** 2 - these**2)
    assert result.restricted is not None
    center = extended.mean()
    assert result.restricted.margin_interval == pytest.approx((center - half, center + half))


def test_other_measures_are_compared_run_by_run() -> None:
    """Of reciprocal ranks both facets are those of the runs; of any other measure, its values are."""
    expected, qrels, (a, b) = compared(5, (1, 5), 1, measures=["RR@6"])
    runs = {"a": a, "b": b}
    ev = iro.evaluate(qrels, runs, cutoff=CUTOFF, measures=["RR@6", "nDCG@6"])
    by_rank = iro.compare_measure(ev, "a", "b", measure="RR@6")
    for result in (by_rank, outputs_of(ev, "RR@6", "RR@6")):
        assert (result.coverage, result.ranking) == (expected.coverage, expected.ranking)
        assert result.restricted is None or result.restricted == expected.restricted
        assert (result.runs[3][:4], result.n_runs) == (expected.runs[3][:4], (1, 5))
        assert result.naive == expected.naive
    by_gain = iro.compare_measure(ev, "a", ["b"], measure="nDCG@6")[0]
    values = ev.scores_of("nDCG@6").values
    assert by_gain.mean is not None
    assert by_gain.mean.difference == pytest.approx((values[1:] - values[0]).mean())
    shared = (values[1:] > 0) & (values[0] > 0)
    assert by_gain.ranking.difference == pytest.approx((values[1:] - values[0])[shared].mean())
    assert by_gain.mean.new_runs is not None


def outputs_of(ev: iro.Evaluation, measure: str, name: str) -> iro.Comparison:
    """Compare the values of an evaluation as another tool would have written them."""
    scores = ev.scores_of(measure)
    written = []
    for row in scores.values.tolist():
        written.append({q: {name: v} for q, v in zip(scores.query_ids, row, strict=True)})
    names = ("a", *(f"b {number}" for number in range(1, 6)))
    several: list[Any] = written[1:]
    results: iro.Comparisons = iro.compare_outputs(
        written[0], several, names=names, replicates="by: ", qrels=ev.qrels
    )
    return results[0]


def test_outputs_of_one_system_are_refused() -> None:
    written = [
        {"q1": {"recip_rank": 1.0}},
        {"q1": {"recip_rank": 0.5}},
        {"q1": {"recip_rank": 1 / 3}},
    ]
    with pytest.raises(iro.ParameterError, match="all outputs are of one system"):
        iro.compare_outputs(written[0], written[1:], names=("a_1", "a_2", "a_3"), replicates="by:_")
    with pytest.raises(iro.ParameterError, match="a_1, a baseline, is one of several runs of a"):
        iro.compare_outputs(written[0], written[1:], names=("a_1", "a_2", "b"), replicates="by:_")


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
    ev = iro.evaluate(qrels, runs, unjudged=True)
    for call in every_analysis(ev):
        with pytest.raises(iro.ParameterError, match="one run of each system"):
            call()


def test_an_evaluation_that_was_saved_knows_its_systems(tmp_path: Any) -> None:
    qrels, runs = drawn(4, runs={"a": 1, "b": 5})
    ev = iro.evaluate(qrels, runs, cutoff=CUTOFF)
    expected = iro.compare(ev, "a", "b")
    path = tmp_path / "board.npz"
    ev.save(path)
    for again in (iro.load_evaluation(path), iro.evaluate(qrels, [path])):
        result = iro.compare(again, "a", "b")
        assert (result.runs, result.verdict) == (expected.runs, expected.verdict)
        assert (result.coverage, result.ranking) == (expected.coverage, expected.ranking)
    assert [item.baseline for item in iro.compare(ev, "b")] == ["b"]
    assert [item.contender for item in iro.compare(ev, "best")] == ["a"]


@cache
def quantile(freedom: int) -> float:
    return float(stats.t.ppf(0.975, freedom))
