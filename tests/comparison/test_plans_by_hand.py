"""What a plan says, recomputed from the definition of power, in both units."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.statistics import margin_interval
from tests.comparison.test_sentences import N, made_up, matched, shows
from tests.helpers.by_hand import Pair
from tests.helpers.comparisons import compare_several

K = 20
CONFIDENCE = 0.8


def power_of_counts(n: int, share: float, effect: float, level: float) -> float:
    """Return the chance that the exact test on won against lost rejects, over all counts of n queries."""
    total = 0.0
    for m in range(1, n + 1):
        chance = scipy.stats.binom.pmf(m, n, share)
        if chance < 1e-10:
            continue
        lost = np.arange(m // 2 + 1)
        rejected = lost[2 * scipy.stats.binom.cdf(lost, m, 0.5) <= level]
        if not len(rejected):
            continue
        most = rejected[-1]
        for chance_lost in ((share - effect) / (2 * share), (share + effect) / (2 * share)):
            total += chance * scipy.stats.binom.cdf(most, m, chance_lost)
    return total


def power_of_t(n: int, share: float, deviation: float, effect: float, level: float) -> float:
    """Return the chance that the t test rejects, where each of n queries has a difference with this chance."""
    m = np.arange(2, n + 1)
    chances = scipy.stats.binom.pmf(m, n, share)
    m = m[chances > 1e-9]
    chances = chances[chances > 1e-9]
    critical = scipy.stats.t.isf(level / 2, m - 1)
    shift = effect / deviation * np.sqrt(m)
    return float(chances @ scipy.stats.nct.sf(critical, m - 1, shift))


def power(queries: int, d: list[float], n: int, effect: float, *, of_counts: bool) -> float:
    """Return the power of the test that decides, by the differences of a pilot of n queries."""
    if of_counts:
        differing = max(sum(change != 0 for change in d) / n, effect / 100)
        return power_of_counts(queries, differing, effect / 100, 0.05)
    return power_of_t(queries, len(d) / n, float(np.std(d, ddof=1)), effect, 0.05)


@pytest.mark.parametrize("unit", ["query", "document"])
def test_queries_that_are_needed(unit: Any) -> None:
    for seed, effects in ((1, (20.0, 4.0)), (2, (12.0, 2.5))):
        qrels, a, b = made_up(seed, 60, 1 if unit == "query" else 4)
        compared = compare_several(qrels, {"A": a}, {"B": b}, cutoff=K, unit=unit)["B"]
        pair = Pair(qrels, a, b, K, unit)
        plan = iro.plan(compared, *effects)
        view = plan.view()
        n = len(pair.queries)
        assert view.title == f"Queries needed for 80 % power, by a pilot of {n} (B against A)"
        headings = plan.to_text().splitlines()[2:4]
        assert " ".join(headings[0].split()) == "to detect it to pass a gate"
        assert headings[1].split() == ["estimate", "upper", "bound"] * 2
        shared = sum(
            (
                Fraction(sum(None not in item for item in items), len(items))
                for items in pair.items.values()
            ),
            Fraction(0),
        )
        implied = effects[1] * float(shared / n) + effects[0] / 100 * pair.horizon
        changes = {
            "coverage": [100 * float(y - x) for x, y in pair.found.values()],
            "ranking": [float(y - x) for x, y in pair.shared.values()],
            "all queries": [float(y - x) for x, y in pair.restricted.values()],
        }
        sizes = dict(zip(changes, (*effects, implied), strict=True))
        largest = {"coverage": 100.0, "ranking": K - 1.0, "all queries": float(K)}
        words = {"query": "ranks", "document": "irrelevant documents above"}[unit]
        (table,) = view.tables
        for row, (facet, d) in zip(table.rows, changes.items(), strict=True):
            what, to_detect, safe, to_pass, safe_to_pass = row
            said = matched(rf"{facet}, ({N}) (.*)", what)
            assert shows(said[1], sizes[facet], within=0.005)
            assert said[2] == ("points" if facet == "coverage" else words)
            assert int(safe) > int(to_detect)
            assert int(safe_to_pass) > int(to_pass)
            share = len(d) / n

            needed = int(to_detect)
            # The number of differences is averaged approximately, and counts are whole.
            of_counts = facet == "coverage" and unit == "query"
            around = (math.floor(0.98 * needed) - 1, math.ceil(1.02 * needed) + 1)
            reached = [power(size, d, n, sizes[facet], of_counts=of_counts) for size in around]
            assert reached[0] < 0.8 <= reached[1]
            if of_counts:
                differing = sum(value != 0 for value in d)
                limit = float(scipy.stats.beta.ppf(CONFIDENCE, differing + 1, n - differing))
                assert power_of_counts(int(safe) + 1, limit, sizes[facet] / 100, 0.05) >= 0.8
                # An exact test loses a little power here and there.
                assert power_of_counts(int(safe) - 8, limit, sizes[facet] / 100, 0.05) < 0.8
                continue
            # Equally good runs that differ as much pass the gate in four of five samples.
            draws = np.random.default_rng(seed)
            centred = np.array(d) - np.mean(d)
            passed = 0
            for _ in range(300):
                size = draws.binomial(int(to_pass), share)
                found = margin_interval(draws.choice(centred, size), largest[facet], 0.95)
                assert found is not None
                end = -found.low if facet == "coverage" else found.high
                passed += end < sizes[facet]
            assert passed / 300 == pytest.approx(0.8, abs=0.09)
        check_notes(plan, changes)


Rows = dict[str, list[float]]  # differences by query, or by cluster


def spread_of(rows: Rows) -> float:
    """Return the standard deviation for which SD / sqrt(G) is the cluster-robust standard error of the mean over all rows."""
    n_rows = sum(map(len, rows.values()))
    mean = sum(map(sum, rows.values())) / n_rows
    residuals = [sum(own) - len(own) * mean for own in rows.values()]
    n_groups = len(rows)
    error = math.sqrt(n_groups / (n_groups - 1) * sum(e**2 for e in residuals)) / n_rows
    return error * math.sqrt(n_groups)


def rows_of(pairs: list[Pair], group_of: Callable[[str], str]) -> dict[str, Rows]:
    """Return the differences of all pairs of runs, by facet and by group of queries."""
    rows: dict[str, Rows] = {"coverage": {}, "ranking": {}, "all queries": {}}
    for pair in pairs:
        found = {query: (100 * x, 100 * y) for query, (x, y) in pair.found.items()}
        parts = (found, pair.shared, pair.restricted)
        for own, part in zip(rows.values(), parts, strict=True):
            for query, (x, y) in part.items():
                own.setdefault(group_of(query), []).append(float(y - x))
    return rows


def check_needed(plan: iro.Plan, rows: dict[str, Rows], n_groups: int) -> None:
    """Check that so many queries, or clusters, have the power that was asked for, and clearly fewer have not."""
    for facet in plan.facets:
        own = rows[facet.name]
        needed = facet.needed.queries
        assert needed is not None
        assert needed < (facet.needed.upper or math.inf)
        deviation = spread_of(own)
        around = (math.floor(0.98 * needed) - 1, math.ceil(1.02 * needed) + 1)
        reached = [
            power_of_t(size, len(own) / n_groups, deviation, facet.effect, 0.05) for size in around
        ]
        assert reached[0] < 0.8 <= reached[1], facet.name


@pytest.mark.parametrize("unit", ["query", "document"])
def test_clusters_that_are_needed(unit: Any) -> None:
    qrels, a, b = made_up(3, 120, 1 if unit == "query" else 4)
    pair = Pair(qrels, a, b, K, unit)
    clusters = {query: f"c{place * place % 37}" for place, query in enumerate(qrels)}
    compared = compare_several(qrels, {"A": a}, {"B": b}, cutoff=K, unit=unit, clusters=clusters)
    plan = iro.plan(compared["B"], 3.0, 0.5)
    answerable = {clusters[query] for query in pair.queries}
    check_needed(plan, rows_of([pair], clusters.__getitem__), len(answerable))


@pytest.mark.parametrize("unit", ["query", "document"])
def test_queries_that_are_needed_with_several_runs(unit: Any) -> None:
    relevant = 1 if unit == "query" else 4
    qrels, a, b = made_up(4, 60, relevant)
    _, *others = made_up(5, 60, relevant)
    runs = {"dense": [b, *others]}
    compared = compare_several(qrels, {"A": a}, runs, cutoff=K, unit=unit)["dense"]
    pairs = [Pair(qrels, a, run, K, unit) for run in runs["dense"]]
    plan = iro.plan(compared, 15.0, 3.0)
    check_needed(plan, rows_of(pairs, str), len(pairs[0].queries))


def check_notes(plan: iro.Plan, changes: dict[str, list[float]]) -> None:
    """Check what is said of the smallest possible p."""
    text = " ".join(plan.to_text(details=True).split())
    for facet, d in changes.items():
        m = sum(change != 0 for change in d)
        queries = "1 query that differs" if m == 1 else f"{m} queries that differ"
        said = f"{facet.capitalize()}: with {queries} the smallest possible p is "
        _, found, after = text.partition(said)
        assert found, (said, text)
        smallest = min(1.0, 2.0 ** (1 - m))
        number = after.split()[0]
        assert shows(number.rstrip(".,"), smallest, within=0.01)
        assert number.endswith(",") is (smallest > 0.05)


@pytest.mark.parametrize("n_differing", [0, 1, 2])
def test_a_pilot_that_hardly_differs(n_differing: int) -> None:
    """What so few queries that differ can show, and why no number is given."""
    qrels = {f"q{number}": {"d": 1} for number in range(20)}
    a = {query: {"d": 2.0, "x": 1.0} for query in qrels}
    b = {query: dict(found) for query, found in a.items()}
    for query in [*qrels][:n_differing]:
        b[query] = {"x": 2.0, "d": 1.0}
    plan = iro.plan(compare_several(qrels, {"A": a}, {"B": b}, cutoff=5)["B"])
    changes = {"coverage": [0.0] * 20, "ranking": [1.0] * n_differing + [0.0] * (20 - n_differing)}
    check_notes(plan, changes | {"all queries": changes["ranking"]})
    text = " ".join(plan.to_text(details=True).split())
    few = "Ranking: no number of queries can be given, because fewer than two queries differ in it."
    assert (few in text) is (n_differing == 0)
