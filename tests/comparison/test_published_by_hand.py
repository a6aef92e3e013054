"""What is said of published counts, and of values of other tools, recomputed by hand."""

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
import scipy.stats

import ir_outcomes as iro
from tests.comparison.test_sentences import (
    ALPHA,
    Told,
    label_by_hand,
    made_up,
    matched,
    shows,
    sign,
)
from tests.helpers.by_hand import Pair, change_of, mean_of
from tests.helpers.comparisons import compare_pair
from tests.helpers.literal import esl, ranked

UNDECIDED = "no significant difference"


def label_of(won: int, lost: int, longer: float, p: float) -> tuple[str, str, str]:
    """Return the label without all queries, and what the strict rule and do no harm say, from the definitions."""
    coverage = scipy.stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
    found = {
        "coverage": sign(won - lost) * (coverage <= ALPHA),
        "ranking": -sign(longer) * (p <= ALPHA),
    }
    directions = set(found.values()) - {0}
    if len(directions) == 2:
        return "trade-off", "undecided", "undecided"
    if not directions:
        return UNDECIDED, "undecided", "undecided"
    side = {1: "better", -1: "worse"}[next(iter(directions))]
    named = [name for name, direction in found.items() if direction]
    if len(named) == 2:
        return f"{side} on both facets", side, side
    change = "gain" if side == "better" else "loss"
    return f"{named[0]} {change}, unconfirmed", "undecided", side


def test_published_counts() -> None:
    """Label, rules, p, and what numbers that round alike can give, by trying all of them."""
    seen = set()
    for won, lost, (longer, p), rounding in itertools.product(
        (0, 2, 12, 20),
        (0, 6, 20),
        ((0.5, 0.003), (-0.5, 0.003), (-1.25, 0.4)),
        (0.0, 0.5),
    ):
        n = 100 if not rounding else 400
        scale = n // 100
        counts = won * scale, lost * scale
        result = iro.verdict_from_summary(
            n, *counts, ranking_difference=longer, ranking_pvalue=p, rounding=rounding
        )
        view = result.view()
        label, strict, no_harm = label_of(*counts, longer, p)
        assert view.headline == f"Verdict from published numbers: {label}"
        assert view.sentences[0] == f"The strict rule says {strict}, the do-no-harm rule {no_harm}."
        slack = Fraction(rounding) / 100 * n
        of_won, of_lost = (
            [value for value in range(n + 1) if abs(value - count) <= slack] for count in counts
        )
        pairs = [(a, b) for a, b in itertools.product(of_won, of_lost) if a + b <= n]
        others = {label_of(a, b, longer, p)[0] for a, b in pairs} - {label}
        if not rounding:
            assert len(view.sentences) == 1
        elif others:
            said = view.sentences[1].removeprefix("Numbers that round to these can also give: ")
            words = said.removesuffix(".").replace(" and ", ", ").replace(", unconfirmed", "")
            assert set(words.split(", ")) == {
                other.removesuffix(", unconfirmed") for other in others
            }
            seen.add("others")
        else:
            assert view.sentences[1] == "All numbers that round to these give the same verdict."
            seen.add("the same")
        (table,) = view.tables
        rows = [dict(zip([c.title for c in table.columns], row, strict=True)) for row in table.rows]
        tested = [
            scipy.stats.binomtest(a, a + b).pvalue if a + b else 1.0 for a, b in (counts, *pairs)
        ]
        assert float(rows[0]["B - A"]) == pytest.approx(100 * (counts[0] - counts[1]) / n)
        assert shows(rows[0]["p"], tested[0], within=1e-6)
        assert float(rows[1]["B - A"]) == longer
        assert shows(rows[1]["p"], p)
        if rounding:
            ends = matched(r"\[(\S+), (\S+)\]", rows[0]["p within rounding"]).groups()
            assert shows(ends[0], min(tested), within=1e-6)
            assert shows(ends[1], max(tested), within=1e-6)
        unconfirmed = [note for note in view.notes if "cannot confirm" in note]
        assert bool(unconfirmed) is label.endswith("unconfirmed")
    assert seen == {"others", "the same"}


@pytest.mark.parametrize("measure", ["RR@20", "ESL@20"])
def test_values_of_other_tools(measure: str) -> None:
    """The same first screen as of the runs, but for what the values do not say."""
    for seed in range(4):
        qrels, a, b = made_up(seed, 60, 1)
        pair = Pair(qrels, a, b, 20, "query")
        outputs: list[dict[str, dict[str, float]]] = []
        for run in (a, b):
            own = {}
            for query in pair.queries:
                rank = esl(ranked(run.get(query, {}), "trec")[:20], pair.golds(query))
                value = rank if measure.startswith("ESL") else 1 / rank
                if not math.isnan(value):
                    own[query] = {measure: value}
                elif measure.startswith("RR"):
                    own[query] = {measure: 0.0}
            outputs.append(own)
        given: Any = {"qrels": {query: qrels[query] for query in pair.queries}}
        found: Any = iro.compare_outputs(*outputs, names=("A", "B"), **given)
        expected = compare_pair(qrels, a, b, names=["A", "B"], cutoff=20, unit="query")
        told = Told(expected, pair, [pair])
        view = found.view()
        label = label_by_hand(told)[0]
        for letter, own in zip("AB", outputs, strict=True):
            if len(own) < 0.95 * len(pair.queries):
                label += f"; {letter} has values for {len(own)} of {len(pair.queries)} queries"
        assert view.headline == f"B (B) against A (A): {label}"
        assert view.sentences == expected.view().sentences
        assert view.tables[0].rows == expected.view().tables[0].rows
        lacking = [query for query in pair.queries if query not in outputs[0]]
        said = [note for note in found.background if note.startswith("A lacks ")]
        assert len(said) == bool(lacking)
        if lacking:
            number = f"{len(lacking)} quer{'y' if len(lacking) == 1 else 'ies'}"
            assert said[0].startswith(f"A lacks {number} (")
            assert said[0].endswith("counted as unanswered.")


def test_values_of_a_measure() -> None:
    """Coverage is the share above zero, ranking the mean where both are."""
    for seed in range(4):
        qrels, a, b = made_up(seed, 60, 4)
        pair = Pair(qrels, a, b, 10, "query")
        values: list[dict[str, Fraction]] = []
        for run in (a, b):
            own = {}
            for query in pair.queries:
                top = ranked(run.get(query, {}), "trec")[:10]
                own[query] = Fraction(sum(document in pair.golds(query) for document in top), 10)
            values.append(own)
        outputs = [
            {query: {"P@10": float(value)} for query, value in own.items()} for own in values
        ]
        found: Any = iro.compare_outputs(*outputs, names=("A", "B"))
        view = found.view()
        rows = {row[0]: row for row in view.tables[0].rows}
        won = sum(y > 0 and not x for x, y in zip(*(own.values() for own in values), strict=True))
        lost = sum(x > 0 and not y for x, y in zip(*(own.values() for own in values), strict=True))
        both = {
            query: (x, values[1][query]) for query, x in values[0].items() if x and values[1][query]
        }
        n = len(pair.queries)
        change = 100 * (won - lost) / n
        points = (
            "as many"
            if won == lost
            else rf"{abs(change):.2f} points {'more' if won > lost else 'fewer'}"
        )
        said = matched(
            rf"It scores above zero on {points} of the queries \(won {won}, lost {lost}(; not"
            r" significant)?\), and where both do, P@10 is (?:(\S+) (higher|lower)|equally high on"
            r" average)( \(not significant\))?\.",
            view.sentences[0],
        )
        assert said[3] == {1: "higher", -1: "lower", 0: None}[sign(change_of(both))]
        assert said[2] is None or shows(said[2], abs(change_of(both)))
        for side, cell in ((0, rows["ranking, P@10"][1]), (1, rows["ranking, P@10"][2])):
            assert shows(cell, mean_of(both, side))
        assert float(rows["coverage, %"][3]) == pytest.approx(change, abs=0.006)
        notes = " ".join([*found.notes, *found.background])
        meaning = "Coverage is the share of queries with P@10 above zero, ranking the mean of P@10"
        assert f"{meaning} where both runs are above zero." in notes
