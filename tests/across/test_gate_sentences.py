"""What a gate says, recomputed from the runs by hand, in both units."""

import re

import pytest

import ir_outcomes as iro
from ir_outcomes.statistics.intervals import margin_interval
from tests.comparison.test_sentences import N, made_up, shows
from tests.helpers.by_hand import Pair, change_of
from tests.helpers.comparisons import compare_several

K = 20
LENGTH = {"query": "ranks", "document": "irrelevant documents above"}


def decided(unit: str, seed: int, margins: tuple[float, ...]) -> tuple[iro.GateResult, Pair]:
    qrels, a, b = made_up(seed, 90, 1 if unit == "query" else 4)
    result = compare_several(qrels, {"A": a}, {"B": b}, cutoff=K, unit=unit)
    pair = Pair(qrels, a, b, K, unit)
    return iro.gate(result, margins=margins, max_missing=0.2), pair


def harm_is_true(text: str, query: str, pair: Pair) -> None:
    """Check what is said to be lost on a query."""
    of_a, of_b = pair.found[query]
    by_query = pair.unit == "query"
    if found := re.fullmatch(rf"found by A(?: at ({N}))?, not by B", text):
        assert of_a == 1
        assert of_b == 0
        assert (found[1] is not None) is by_query
        if found[1]:
            assert shows(found[1], pair.items[query][0][0] or 0.0)
    elif found := re.fullmatch(rf"({N}) % found, now ({N}) %", text):
        assert shows(found[1], 100 * of_a, within=0.005)
        assert shows(found[2], 100 * of_b, within=0.005)
        assert of_b < of_a
    elif found := re.fullmatch(rf"({N}) more (ranks?|irrelevant documents? above)", text):
        before, after = pair.restricted[query]
        assert shows(found[1], after - before, within=0.005)
        assert found[2].replace("rank ", "ranks ").startswith(LENGTH[pair.unit].split()[0][:4])
    elif found := re.fullmatch(rf"ranked ({N}), now ({N})", text):
        assert by_query
        assert [shows(found[1 + side], pair.shared[query][side]) for side in (0, 1)] == [True, True]
    else:
        found = re.fullmatch(rf"({N}) irrelevant documents? above, now ({N})", text)
        assert found is not None, text
        assert not by_query
        # A search length is one more.
        before, after = pair.shared[query]
        assert shows(found[1], before - 1, within=0.001)
        assert shows(found[2], after - 1, within=0.001)


@pytest.mark.parametrize("margins", [(1.0, 0.5), (30.0, 0.5), (1.0, 9.0), (30.0, 9.0, 0.5)])
@pytest.mark.parametrize("unit", ["query", "document"])
def test_harms(unit: str, margins: tuple[float, ...]) -> None:
    said = 0
    for seed in (0, 3, 6, 7):
        result, pair = decided(unit, seed, margins)
        (decision,) = result.decisions
        for query, text in zip(decision.queries, decision.harms, strict=True):
            harm_is_true(text, query.query_id, pair)
            said += 1
    assert said


@pytest.mark.parametrize("unit", ["query", "document"])
def test_reasons_and_limits(unit: str) -> None:
    """The interval of each facet, what is said of it, and what would be excluded if no query differed."""
    for seed in range(9):
        margins = (8.0, 1.5, 2.5)
        result, pair = decided(unit, seed, margins)
        (decision,) = result.decisions
        rows = {"Coverage": pair.found, "Ranking": pair.shared, "All queries": pair.restricted}
        largest = {"Coverage": 1.0, "Ranking": K - 1.0, "All queries": float(K)}
        limits = []
        for facet, name in zip(decision.facets, rows, strict=True):
            changes = [float(b - a) for a, b in rows[name].values()]
            assert facet.difference is not None
            scale = 100 if name == "Coverage" else 1
            assert facet.difference == pytest.approx(scale * float(change_of(rows[name])))
            unchanged = margin_interval([0.0] * len(changes), largest[name], 0.95)
            assert unchanged is not None
            if name != "Coverage" or unit == "document":
                limits.append(scale * unchanged.high)
                interval = margin_interval(changes, largest[name], 0.95)
                assert interval is not None
                bounds = [scale * bound for bound in interval]
                assert facet.interval == pytest.approx(bounds)
            assert facet.interval is not None
            harm = -facet.interval.low if name == "Coverage" else facet.interval.high
            least = -facet.interval.high if name == "Coverage" else facet.interval.low
            expected = "inconclusive"
            if harm < facet.margin:
                expected = "harm excluded"
            elif least > facet.margin:
                expected = "harm shown"
            assert facet.status == expected
            about = [reason for reason in decision.reasons if reason.startswith(f"{name}: ")]
            if expected == "inconclusive":
                assert f"a loss of up to {harm:.3g} " in about[0]
                assert f"the margin is {facet.margin:.3g}" in about[0]
            if expected == "harm shown":
                assert f"it is between {least:.3g} and {harm:.3g}." in about[0]
        sentence = " ".join(str(result).split())
        said = re.search(
            r"If the runs did not differ on any query, harm beyond (.*?) would be excluded\.",
            sentence,
        )
        assert said is not None
        shown = re.findall(rf"({N}) (?:points|ranks|irrelevant documents above)", said[1])
        assert len(shown) == 3
        assert all(map(shows, shown[-len(limits) :], limits))
