"""Means over conditions: plain loops over units, at the border, by any label, on real suites."""

import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

import ir_outcomes as iro
from ir_outcomes.pairs.differences import Quantity
from ir_outcomes.pairs.means import RowInConditions, mean_over_conditions
from tests.helpers import literal
from tests.helpers.labels import State, label_of
from tests.helpers.means import Mean, differences, mean_of_means, mean_of_units, units_of


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
            for facet, of_facet in values.items():
                units = units_of(of_facet, clusters.get(name))
                if len(units) >= 2:
                    of_rows[facet].append(mean_of_units(units, largest[facet], alpha))
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


RERANKERS = {
    name: f"{path}.run.gz"
    for name, path in zip("abc", ("monot5-3b", "monot5-base", "rank1-32b"), strict=True)
}


def read(
    folder: Path, qrels: str, runs: dict[str, str], rel: int
) -> tuple[literal.Qrels, dict[str, literal.Run]]:
    """The relevant documents of the queries that have some, and what runs return for these."""
    judged = iro.as_qrels(folder / qrels).to_dict()
    relevant = {
        query: {document: 1 for document, grade in grades.items() if grade >= rel}
        for query, grades in judged.items()
    }
    answerable = {query: documents for query, documents in relevant.items() if documents}
    lists = {name: iro.as_run(folder / path).to_dict() for name, path in runs.items()}
    return answerable, {
        name: {query: of_run.get(query, {}) for query in answerable}
        for name, of_run in lists.items()
    }


@pytest.mark.realdata
@pytest.mark.parametrize("unit", ["query", "document"])
def test_a_real_suite_is_plain_loops(real_data: Path, unit: str) -> None:
    suite = {}
    folder = real_data / "suite-colberter"
    for name in ("nfcorpus", "trec-covid", "trec_podcast"):
        paths = {"a": "tasb.run.gz", "b": "colberter.run.gz"}
        suite[name] = read(folder / name, "qrels.txt.gz", paths, 1)
    check(suite, "b", 10, 0.05, unit=unit)


@pytest.mark.realdata
def test_rerankers_of_three_years_are_plain_loops(real_data: Path) -> None:
    suite = {}
    for year in ("dl19", "dl20", "dl21"):
        folder = real_data / "suite-rerankers" / year
        suite[year] = read(folder, "qrels.txt.gz", RERANKERS, 2)
    check(suite, "bc", 10, 0.05, unit="document")


@pytest.mark.realdata
@pytest.mark.parametrize("unit", ["query", "document"])
@pytest.mark.parametrize("clustered", [False, True])
def test_biases_of_real_judges_are_plain_loops(
    real_data: Path, unit: Literal["query", "document"], clustered: bool
) -> None:
    """GPT-4o beside NIST: differences of differences on the queries of both, joined by id."""
    folder = real_data / "suite-rerankers" / "dl19"
    files = {"nist": "qrels.txt.gz", "gpt-4o": "qrels.gpt-4o.txt.gz"}
    inputs = {judge: read(folder, file, RERANKERS, 2) for judge, file in files.items()}
    every = {query for qrels, _ in inputs.values() for query in qrels}
    clusters = {query: f"cluster {int(query) % 17}" for query in every} if clustered else None
    judges = {
        judge: iro.evaluate(
            dict(reversed(qrels.items())) if judge == "nist" else qrels,
            runs,
            cutoff=10,
            unit=unit,
            clusters=clusters,
            on_error="keep",
        )
        for judge, (qrels, runs) in inputs.items()
    }
    found = iro.compare_judges(judges, "a", ["b", "c"], reference="nist")
    largest = {"coverage": 200.0, "ranking": 18.0, "all queries": 20.0}
    assert len(found.biases) == 6
    for bias in found.biases:
        truth, judge = (
            dict(differences(qrels, runs["a"], runs[bias.contender], unit, 10)[bias.row.name])
            for qrels, runs in inputs.values()
        )
        both = [query for query in truth if query in judge]
        units = units_of([(query, judge[query] - truth[query]) for query in both], clusters)
        expected = mean_of_units(units, largest[bias.row.name])
        assert bias.row.n == len(both)
        assert bias.row.differ == expected.differ
        assert bias.row.difference == pytest.approx(expected.difference, abs=1e-12)
        assert bias.row.pvalue == pytest.approx(expected.pvalue())
        assert bias.row.interval == pytest.approx(expected.interval())
