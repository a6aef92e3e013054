"""Means over conditions: plain loops over units, at the border, by any label, on real suites."""

import math
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.pairs.differences import Quantity
from ir_outcomes.pairs.means import RowInConditions, mean_over_conditions
from tests.helpers import literal
from tests.helpers.corrections import multipletests
from tests.helpers.estimate import Mean, mean_of_means, mean_of_units
from tests.helpers.labels import State, label_of


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
            pairs = literal.rows(qrels, [runs["a"]], [runs[contender]], unit, k)
            for facet in largest:
                units = literal.units(pairs[facet], clusters.get(name))
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


@pytest.mark.parametrize(("moved", "unit"), [(0.02, "query"), (0.3, "document")])
@pytest.mark.parametrize("seed", [0, 2, 5, 7])  # clustered or not, both levels
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
