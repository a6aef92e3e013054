"""What a gate says, recomputed from the runs by hand, in both units."""

import itertools
import math
import re
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.statistics.intervals import effective_df, margin_interval
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


# ---- the whole first screen, of one contender and of several


def facets_by_hand(pair: Pair, margins: tuple[float, ...], level: float) -> list[dict[str, Any]]:
    """Return for each facet its difference, interval, margin, and what is found, from the definition."""
    both = [
        Fraction(sum(None not in item for item in items), len(items))
        for items in pair.items.values()
    ]
    share = float(sum(both, Fraction(0)) / len(both))
    implied = margins[1] * share + margins[0] / 100 * pair.horizon
    wanted = (*margins, implied)[:3]
    found = []
    for name, rows, scale, most, margin in zip(
        ("coverage", "ranking", "all queries"),
        (pair.found, pair.shared, pair.restricted),
        (100, 1, 1),
        (100.0, K - 1.0, float(K)),
        wanted,
        strict=True,
    ):
        changes = np.array([scale * float(b - a) for a, b in rows.values()])
        n = len(changes)
        if name == "coverage" and pair.unit == "query":
            # Bonett and Price 2012: the Wald interval of two more queries, one won and one lost.
            size = n + 2
            center = changes.sum() / size
            spread = (np.square(changes).sum() + 2 * most**2) / size - center**2
            half = float(scipy.stats.norm.isf((1 - level) / 2)) * math.sqrt(spread / size)
        else:
            imagined = np.append(changes, [most, -most])
            center = imagined.mean()
            df = effective_df(imagined)
            error = float(imagined.std(ddof=1)) / math.sqrt(n + 2)
            half = float(scipy.stats.t.isf((1 - level) / 2, df)) * error
        low, high = max(center - half, -most), min(center + half, most)
        least, worst = (-high, -low) if name == "coverage" else (low, high)
        status = "inconclusive"
        if worst < margin:
            status = "harm excluded"
        elif least > margin:
            status = "harm shown"
        own = {"name": name, "difference": scale * float(change_of(rows)), "margin": margin}
        found.append(own | {"low": low, "high": high, "status": status, "n": n})
    return found


def overall(facets: list[dict[str, Any]]) -> str:
    statuses = {facet["status"] for facet in facets}
    if "harm shown" in statuses:
        return "fail"
    return "inconclusive" if "inconclusive" in statuses else "pass"


def check_reason(text: str, facets: list[dict[str, Any]], pair: Pair) -> None:
    """Check the first reason of a decision."""
    status = overall(facets)
    unit = LENGTH[pair.unit]
    units = {"coverage": "percentage points", "ranking": unit, "all queries": unit}
    if status == "pass":
        size = rf"({N}) (?:percentage points?|ranks?|irrelevant documents? above)"
        harm = rf"{size} of coverage, {size} of ranking and {size} over all queries"
        both_ways = "The runs are equivalent within the margins: differences beyond"
        found = re.fullmatch(
            rf"(?:Harm beyond|(?P<same>{both_ways})) {harm} (?:is|are) excluded"
            r"(?P<ways> in both directions)?\.",
            text,
        )
        assert found is not None, text
        shown = [found[2], found[3], found[4]]
        for number, facet in zip(shown, facets, strict=True):
            assert shows(number, facet["margin"], within=0.005)
        inside = all(max(-facet["low"], facet["high"]) < facet["margin"] for facet in facets)
        assert (found["same"] is not None) is (found["ways"] is not None) is inside
        return
    deciding = "harm shown" if status == "fail" else "inconclusive"
    facet = next(facet for facet in facets if facet["status"] == deciding)
    least, worst = facet["low"], facet["high"]
    if facet["name"] == "coverage":
        least, worst = -facet["high"], -facet["low"]
    if status == "fail":
        found = re.fullmatch(
            rf"{facet['name'].capitalize()}: a loss of more than ({N}) (.*) is shown; it is between"
            rf" ({N}) and ({N})\.",
            text,
        )
        assert found is not None, text
        assert shows(found[1], facet["margin"], within=0.005)
        assert shows(found[3], least, within=0.005)
        assert shows(found[4], worst, within=0.005)
    else:
        found = re.match(
            rf"{facet['name'].capitalize()}: a loss of up to ({N}) (.*) is not excluded, and the"
            rf" margin is ({N})\. ",
            text,
        )
        assert found is not None, text
        assert shows(found[1], worst, within=0.005)
        assert shows(found[3], facet["margin"], within=0.005)
    singular = units[facet["name"]].replace("points", "point").replace("ranks", "rank")
    assert found[2] in (units[facet["name"]], singular.replace("documents", "document"))
    assert (found[2] == units[facet["name"]]) is (found[1] != "1")


@cache
def compared(unit: Any, seed: int, names: tuple[str, ...]) -> tuple[Any, dict[str, Pair]]:
    """Compare so many runs with A."""
    qrels, a, b = made_up(seed, 90, 1 if unit == "query" else 4)
    mixed = {query: (b if int(query[1:]) % 3 else a).get(query, {"d0": 1.0}) for query in qrels}
    runs = {name: {"B": b, "C": mixed}[name] for name in names}
    result = compare_several(qrels, {"A": a}, runs, cutoff=K, unit=unit)
    return result, {name: Pair(qrels, a, run, K, unit) for name, run in runs.items()}


@pytest.mark.parametrize("margins", [(1.0, 0.5), (25.0, 4.0), (14.0, 2.0), (1.0, 9.0, 6.0)])
@pytest.mark.parametrize("unit", ["query", "document"])
def test_the_first_screen(unit: str, margins: tuple[float, ...]) -> None:
    for seed, names in itertools.product((1, 2), (("B",), ("B", "C"))):
        result, pairs = compared(unit, seed, names)
        level = 1 - 0.05 / len(names)
        facets = {name: facets_by_hand(pairs[name], margins, level) for name in names}
        status = {name: overall(own) for name, own in facets.items()}
        worst = max(status.values(), key=["pass", "inconclusive", "fail"].index)
        view = iro.gate(result, margins=margins, max_missing=0.2).view()
        (table, *_) = view.tables
        if len(names) == 1:
            assert view.headline == f"{worst}: B against A"
            check_reason(view.sentences[0], facets["B"], pairs["B"])
            for row, facet in zip(table.rows, facets["B"], strict=True):
                check_cells(
                    dict(zip([c.title for c in table.columns], row, strict=True)), facet, unit
                )
            continue
        counts = Counter(status.values())
        order = [key for key in ("fail", "inconclusive", "pass") if counts[key]]
        counted = ", ".join(f"{counts[key]} {key}" for key in order)
        assert view.headline == f"{worst}: 2 contenders against A: {counted}"
        said = dict(
            text.split(": ", 1) for text in view.sentences if not text.startswith("If the runs did")
        )
        assert set(said) == {name for name in names if status[name] != "pass"}
        for name, text in said.items():
            check_reason(text, facets[name], pairs[name])
        assert {row[0]: row[1] for row in table.rows} == status
        for row in table.rows:
            for cell, facet in zip(row[2:], facets[row[0]], strict=True):
                check_interval(cell, facet)
        ends = [[own[place]["margin"] for own in facets.values()] for place in range(3)]
        found = re.fullmatch(
            rf"margins: coverage (-{N}) percentage points, ranking \+({N}) {LENGTH[unit]}, all"
            rf" queries \+({N})(?: to \+({N}))? {LENGTH[unit]}",
            table.captions[0],
        )
        assert found is not None, table.captions[0]
        assert shows(found[1][1:], margins[0])
        assert shows(found[2], margins[1])
        assert shows(found[3], min(ends[2]))
        assert shows(found[4] or found[3], max(ends[2]))
        assert table.captions[-2].startswith(f"{100 * level:.4g} % intervals for margins, which")


def check_interval(text: str, facet: dict[str, Any]) -> None:
    found = re.fullmatch(r"\[(\S+), (\S+)\]", text)
    assert found is not None, text
    for end, own in zip(found.groups(), (facet["low"], facet["high"]), strict=True):
        assert shows(end.lstrip("+-"), abs(own))
        assert not float(end) or (end[0] == "-") is bool(own < 0)


def check_cells(cells: dict[str, str], facet: dict[str, Any], unit: str) -> None:
    """Check the row of a facet."""
    of_lengths = "ranks" if unit == "query" else "above"
    assert (
        cells["facet"]
        == f"{facet['name']}, {'points' if facet['name'] == 'coverage' else of_lengths}"
    )
    assert shows(cells["B - A"].lstrip("+-"), abs(facet["difference"]))
    check_interval(next(cell for cell in cells.values() if cell.startswith("[")), facet)
    assert shows(cells["margin"][1:], facet["margin"])
    assert cells["margin"][0] == ("-" if facet["name"] == "coverage" else "+")
    assert cells["finding"] == facet["status"]


@pytest.mark.parametrize("unit", ["query", "document"])
def test_the_queries_named_have_the_largest_harm(unit: str) -> None:
    """They are of the facets that failed, else of those that are not settled, in turn, the largest harm first."""
    for seed in (0, 3, 6):
        result, pair = decided(unit, seed, (4.0, 1.5))
        (decision,) = result.decisions
        facets = facets_by_hand(pair, (4.0, 1.5), 0.95)
        shown = [facet["name"] for facet in facets if facet["status"] == "harm shown"]
        open_ones = [facet["name"] for facet in facets if facet["status"] == "inconclusive"]
        (note, *_) = result.view().notes
        found = re.fullmatch(r"B, most harm (.*?): (.*)\.", note)
        assert found is not None, note
        named = [part.split(" (")[0] for part in found[2].split("; ")]
        lost = {query: float(a - b) for query, (a, b) in pair.found.items()}
        longer = {query: float(b - a) for query, (a, b) in pair.shared.items()}
        whole = {query: float(b - a) for query, (a, b) in pair.restricted.items()}
        harms = {"coverage": lost, "ranking": longer, "all queries": whole}
        kinds = shown or open_ones
        said = re.split(", | and ", re.sub(r"\b(on|over) ", "", found[1]))
        assert said == [*kinds, *["in turn"] * (len(kinds) > 1)]
        assert harms[kinds[0]][named[0]] == pytest.approx(max(harms[kinds[0]].values()))
        for query in named:
            more = [
                sum(harm > harms[kind].get(query, 0.0) + 1e-9 for harm in harms[kind].values())
                for kind in kinds
            ]
            assert min(more) < len(named)
        assert len(decision.queries) >= len(named)


@pytest.mark.parametrize("unit", ["query", "document"])
def test_how_many_queries_settle_it(unit: str) -> None:
    """The number in the sentence is that of the table, and of a plan for the same margin."""
    said = 0
    for seed in (0, 2, 3):
        qrels, a, b = made_up(seed, 90, 1 if unit == "query" else 4)
        result = compare_several(qrels, {"A": a}, {"B": b}, cutoff=K, unit=unit)
        decision = iro.gate(result, margins=(4.0, 1.0), max_missing=0.2)
        plan = iro.plan(result["B"], 4.0, 1.0)
        text = " ".join(decision.to_text(details=True).split())
        for facet, planned in zip(decision.decisions[0].facets, plan.facets, strict=True):
            if facet.status != "inconclusive":
                continue
            assert planned.to_pass is not None
            number, upper = planned.to_pass.queries, planned.to_pass.upper
            n = len(Pair(qrels, a, b, K, unit).queries)
            start = f"{facet.name.capitalize()}: a loss of up to "
            sentences = text[text.index(start) :]
            if number is not None and number > n:
                said += 1
                assert (
                    f"about {number} queries like these exclude a loss beyond the margin with 80 %"
                    f" power (80 % upper bound: {upper}; there are {n})."
                ) in sentences
            else:
                assert f"With {n} queries a loss beyond the margin would be excluded" in sentences
    assert said
