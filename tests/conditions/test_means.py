"""Means over conditions: plain loops over units, at the border, by any label, on real suites."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

import ir_outcomes as iro
from ir_outcomes.pairs.differences import Quantity
from ir_outcomes.pairs.means import RowInConditions, mean_over_conditions
from tests.helpers import literal
from tests.helpers.labels import State, label_of
from tests.helpers.means import Mean, mean_of_means, mean_of_units

Values = dict[str, list[tuple[str, float]]]  # of each row, differences by query


def drawn(
    seed: int, collection: int, n_queries: int, moved: float
) -> tuple[literal.Qrels, dict[str, literal.Run]]:
    """One to three relevant documents a query, and three runs that share most of their lists."""
    rng = np.random.default_rng([seed, collection])
    qrels: literal.Qrels = {}
    runs: dict[str, literal.Run] = {name: {} for name in "abc"}
    for number in range(n_queries):
        query = f"c{collection}q{number}"
        documents = [f"d{document}" for document in range(12)]
        qrels[query] = dict.fromkeys(
            rng.choice(documents, int(rng.integers(1, 4)), replace=False).tolist(), 1
        )
        order = rng.permutation(documents)[:8].tolist()
        for run in runs.values():
            own = [*order]
            if rng.random() < moved:
                own = rng.permutation(documents)[:8].tolist()
            run[query] = {document: -float(place) for place, document in enumerate(own)}
    return qrels, runs


def differences(qrels: literal.Qrels, a: literal.Run, b: literal.Run, unit: str, k: int) -> Values:
    """The three rows by their definitions, query by query."""
    rows: Values = {"coverage": [], "ranking": [], "all queries": []}
    for query, judged in qrels.items():
        golds = [*judged]
        orders = [literal.ranked(run[query], "trec")[:k] for run in (a, b)]
        if unit == "document":
            found = [set(order) & set(golds) for order in orders]
            shares = [100 * len(own) / len(golds) for own in found]
            lengths = [
                np.mean([literal.atom(order, golds, d) for d in found[0] & found[1]])
                if found[0] & found[1]
                else None
                for order in orders
            ]
            whole = [literal.asl(order, golds, "cutoff", k, None) for order in orders]
        else:
            first = [literal.esl(order, golds) for order in orders]
            shares = [0.0 if math.isnan(rank) else 100.0 for rank in first]
            lengths = first if all(shares) else [None, None]
            whole = [k + 1.0 if math.isnan(rank) else rank for rank in first]
        rows["coverage"].append((query, shares[1] - shares[0]))
        rows["all queries"].append((query, whole[1] - whole[0]))
        if lengths[0] is not None:
            rows["ranking"].append((query, float(lengths[1] - lengths[0])))
    return rows


def units_of(
    values: list[tuple[str, float]], clusters: Mapping[str, str] | None
) -> list[tuple[float, float]]:
    sums: dict[str, list[float]] = {}
    for query, value in values:
        sums.setdefault(query if clusters is None else clusters[query], []).append(value)
    exact = ((math.fsum(own), float(len(own))) for own in sums.values())
    return [(0.0 if abs(total) < 1e-9 else total, n) for total, n in exact]


def check(
    suite: dict[str, tuple[literal.Qrels, dict[str, literal.Run]]],
    contenders: str,
    k: int,
    alpha: float,
    **settings: Any,
) -> None:
    """Compare what holds on average with the literal estimates of every collection."""
    clusters = settings.pop("clusters", {})
    unit = settings["unit"]
    evaluations = {
        name: iro.evaluate(qrels, runs, cutoff=k, clusters=clusters.get(name), **settings)
        for name, (qrels, runs) in suite.items()
    }
    found = iro.compare_collections(evaluations, "a", [*contenders], alpha=alpha)
    largest = {"coverage": 100.0, "ranking": k - 1.0, "all queries": float(k)}
    means: dict[str, dict[str, Mean]] = {}
    for contender in contenders:
        of_rows: dict[str, list[Mean]] = {name: [] for name in largest}
        for name, (qrels, runs) in suite.items():
            values = differences(qrels, runs["a"], runs[contender], unit, k)
            for row, of_row in values.items():
                units = units_of(of_row, clusters.get(name))
                if len(units) >= 2:
                    of_rows[row].append(mean_of_units(units, largest[row], alpha))
        means[contender] = {
            name: mean_of_means(of_row) for name, of_row in of_rows.items() if of_row
        }
    for overall in found.overall:
        states = {}
        for row in (overall.coverage, overall.ranking, overall.all_queries):
            expected = means[overall.contender].get(row.name)
            if expected is None:
                assert (row.n, row.difference, row.pvalue, row.interval) == (0, None, 1.0, None)
                states[row.name] = State(0, raw=False, corrected=False)
                continue
            assert row.difference == pytest.approx(expected.difference, abs=1e-12)
            assert row.standard_error == pytest.approx(expected.error)
            assert row.df == pytest.approx(expected.df)
            assert row.pvalue == pytest.approx(expected.pvalue())
            assert row.interval == pytest.approx(expected.interval(alpha), abs=1e-9)
            assert row.largest == pytest.approx(expected.largest)
            assert row.interval is not None
            assert (row.pvalue <= alpha) == (row.interval.low > 0 or row.interval.high < 0)
            family = [
                means[own][row.name].pvalue() if row.name in means[own] else 1.0
                for own in contenders
            ]
            corrected = multipletests(family, method="holm")[1]
            of_row = corrected[contenders.index(overall.contender)]
            assert row.pvalue_corrected == pytest.approx(of_row)
            states[row.name] = State(
                int(np.sign(row.gain)), expected.pvalue() <= alpha, of_row <= alpha
            )
        assert overall.label == label_of(*(states[name] for name in largest))


@pytest.mark.parametrize("unit", ["query", "document"])
@pytest.mark.parametrize("moved", [0.02, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_random_suites_are_plain_loops(seed: int, moved: float, unit: str) -> None:
    """Of few queries, of which few differ, all of one size or in clusters of different sizes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 30, int(rng.integers(1, 6))).tolist()
    suite = {f"c{n}": drawn(seed, n, size, moved) for n, size in enumerate(sizes)}
    settings: dict[str, Any] = {"unit": unit}
    if seed % 2:
        settings["clusters"] = {
            name: {query: f"cluster {int(rng.geometric(0.3))}" for query in qrels}
            for name, (qrels, _) in suite.items()
        }
    check(suite, "bc", 6, 0.05 if seed % 4 < 2 else 0.2, **settings)


def in_conditions(rng: np.random.Generator, k: int, few: bool) -> RowInConditions:
    """A row with a difference, in some conditions."""
    column = np.ones((k, 1))
    return RowInConditions(
        baseline=column,
        contender=column,
        difference=rng.normal(-0.5, 0.5, (k, 1)),
        standard_error=rng.uniform(0.1, 0.6, (k, 1)),
        df=rng.integers(5, 60, (k, 1)).astype(float),
        differ=rng.integers(0 if few else 10, 3 if few else 40, (k, 1)).astype(float),
        largest=99.0 * column,
        unseen=rng.uniform(0.1, 9, (k, 1)),
    )


@pytest.mark.parametrize("few", [False, True])
def test_the_interval_of_a_mean_excludes_zero_where_alpha_is_its_pvalue(few: bool) -> None:
    rng = np.random.default_rng(0)
    quantity = Quantity("ranking", "ranks", False, 99.0)
    for _ in range(500):
        k = int(rng.integers(2, 6))
        conditions = in_conditions(rng, k, few)
        found = mean_over_conditions(quantity, conditions, range(k), 0.05).row
        pvalue = float(found.estimates.pvalue[0])
        if not 1e-6 < pvalue < 0.5:
            continue
        for alpha, significant in ((pvalue, True), (math.nextafter(pvalue, 0.0), False)):
            row = mean_over_conditions(quantity, conditions, range(k), alpha).row.row(0, alpha)
            assert row.interval is not None
            assert (row.interval.low > 0 or row.interval.high < 0) == significant
            assert (row.found != "none") == significant


@pytest.mark.realdata
@pytest.mark.parametrize("unit", ["query", "document"])
def test_a_real_suite_is_plain_loops(real_data: Path, unit: str) -> None:
    suite = {}
    folder = real_data / "suite-colberter"
    for name in ("nfcorpus", "trec-covid", "trec_podcast"):
        qrels = iro.as_qrels(folder / name / "qrels.txt.gz").to_dict()
        relevant = {
            query: {document: 1 for document, grade in judged.items() if grade >= 1}
            for query, judged in qrels.items()
        }
        runs = {
            run: iro.as_run(folder / name / f"{path}.run.gz").to_dict()
            for run, path in (("a", "tasb"), ("b", "colberter"))
        }
        answerable = {query: judged for query, judged in relevant.items() if judged}
        suite[name] = (
            answerable,
            {
                run: {query: by_query.get(query, {}) for query in answerable}
                for run, by_query in runs.items()
            },
        )
    check(suite, "b", 10, 0.05, unit=unit)


@pytest.mark.realdata
def test_rerankers_of_three_years_are_plain_loops(real_data: Path) -> None:
    suite = {}
    for year in ("dl19", "dl20", "dl21"):
        folder = real_data / "suite-rerankers" / year
        qrels = iro.as_qrels(folder / "qrels.txt.gz").to_dict()
        relevant = {
            query: {document: 1 for document, grade in judged.items() if grade >= 2}
            for query, judged in qrels.items()
        }
        answerable = {query: judged for query, judged in relevant.items() if judged}
        named = zip("abc", ("monot5-3b", "monot5-base", "rank1-32b"), strict=True)
        runs = {run: iro.as_run(folder / f"{path}.run.gz").to_dict() for run, path in named}
        suite[year] = (
            answerable,
            {
                run: {query: by_query.get(query, {}) for query in answerable}
                for run, by_query in runs.items()
            },
        )
    check(suite, "bc", 10, 0.05, unit="document")
