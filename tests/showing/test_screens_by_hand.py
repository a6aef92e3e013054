"""First screens, recomputed from the runs by hand, in both units: sentences, cells, legends, and what is said of several runs."""

import itertools
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.comparison.verdict import LABELS
from tests.comparison.test_sentences import (
    ALPHA,
    N,
    Told,
    at_cutoff,
    direction_of,
    label_by_hand,
    made_up,
    matched,
    moved,
    shows,
    sign,
)
from tests.helpers.by_hand import Pair, change_of, holm, mean_of
from tests.helpers.comparisons import compare_several
from tests.helpers.literal import Qrels, Run
from tests.helpers.many import collection, judged_in_part

each_unit = pytest.mark.parametrize("unit", ["query", "document"])
ROWS: dict[str, Callable[[Pair], dict[str, tuple[Fraction, Fraction]]]] = {
    "coverage": lambda pair: pair.found,
    "ranking": lambda pair: pair.shared,
    "all queries": lambda pair: pair.restricted,
}
PVALUES: dict[str, Callable[[Pair], float]] = {
    "coverage": Pair.coverage_pvalue,
    "ranking": Pair.ranking_pvalue,
    "all queries": lambda pair: pair.mean_pvalue(pair.restricted),
}
HIGHER = {"coverage": 1, "ranking": -1, "all queries": -1}


def gain_of(pair: Pair, facet: str) -> int:
    """Return 1 where the contender is better by its mean, -1 where it is worse."""
    rows = ROWS[facet](pair)
    return HIGHER[facet] * sign(change_of(rows)) if rows else 0


def shown(told: Told, facet: str) -> tuple[str, float, str]:
    """Return what a facet is found to be, the p-value that counts, and the mark or letter behind it."""
    pair = told.pair
    gain = gain_of(pair, facet)
    raw = PVALUES[facet](pair)
    corrected = told.corrected(PVALUES[facet])
    word = {1: "better", -1: "worse", 0: ""}
    mark = "*" if raw <= ALPHA < corrected else ""
    if facet != "all queries":
        if corrected <= ALPHA:
            return word[gain], corrected, ""
        if told.comparison.verdict.label != "trade-off":
            return "", corrected, mark
        # What makes a trade-off may be found by a raw p-value, on ranking by Wilcoxon's, too.
        if raw <= ALPHA:
            return word[gain], corrected, mark
        p, direction = pair.wilcoxon(pair.shared)
        if facet == "ranking" and p <= ALPHA:
            return word[-direction], p, " W"
        return "", corrected, mark
    facets = ("coverage", "ranking")
    if all(told.corrected(PVALUES[name]) > ALPHA for name in facets):
        return word[gain] if corrected <= ALPHA else "", corrected, mark
    if raw <= ALPHA:
        return word[gain], raw, ""
    p, direction = pair.wilcoxon(pair.restricted)
    if p <= ALPHA and -direction == gain:
        return word[gain], p, " W"
    return "", raw, ""


# ---- one contender


def check_pair(told: Told, seen: Counter[str]) -> None:
    """Recompute the first screen of one comparison."""
    label, _ = label_by_hand(told)
    view = told.comparison.view()
    assert view.headline == f"B (B) against A (A): {label}"
    answer(told, view.sentences, seen)
    (table,) = view.tables
    unit = "ranks" if told.pair.unit == "query" else "above"
    names = {"coverage": "coverage, %", "ranking": f"ranking, {unit}"}
    names["all queries"] = f"all queries, {unit}"
    letters = set()
    for facet, row in zip(names, table.rows, strict=True):
        cells = dict(zip((column.title for column in table.columns), row, strict=True))
        p, of_a, of_b, change = (cells[heading] for heading in ("p", "A", "B", "B - A"))
        assert row[0] == names[facet]
        word, own, mark = shown(told, facet)
        assert cells.get("found", "") == word, (facet, row, told.comparison.verdict.label)
        assert matched(rf"({N})(\*| W)?", p)[2] == (mark or None), (facet, row)
        assert shows(p.removesuffix(mark), own, within=1e-6)
        letters.add(mark)
        rows = ROWS[facet](told.pair)
        scale = 100 if facet == "coverage" else 1
        if not rows:
            assert {of_a, of_b, change} == {"-"}
            continue
        assert shows(of_a, scale * mean_of(rows, 0))
        assert shows(of_b, scale * mean_of(rows, 1))
        assert shows(change.lstrip("+-"), scale * abs(change_of(rows)))
        if sign(change_of(rows)) and float(change):
            assert (change[0] == "+") is (change_of(rows) > 0)
    legend = "\n".join(table.captions)
    assert ("W: by Wilcoxon only" in legend) is (" W" in letters)
    assert ("plus 1; fewer are better" in legend) is (unit == "above")
    every = [item for items in told.pair.items.values() for item in items]
    outcomes = {
        "won": sum(a is None and b is not None for a, b in every),
        "both": sum(a is not None and b is not None for a, b in every),
        "neither": sum(a is None and b is None for a, b in every),
        "lost": sum(a is not None and b is None for a, b in every),
    }
    said = ", ".join(f"{name} {number}" for name, number in outcomes.items())
    between = ": " if unit == "ranks" else "; documents "
    assert table.captions[0] == f"{len(told.pair.queries)} queries{between}{said}"


def answer(told: Told, sentences: tuple[str, ...], seen: Counter[str]) -> None:
    """Check the sentences under the label."""
    pair = told.pair
    by_query = pair.unit == "query"
    founds = {facet: shown(told, facet)[0] for facet in ("coverage", "ranking")}
    if not any(a != b for rows in (pair.found, pair.shared) for a, b in rows.values()):
        assert sentences == ("The two runs do not differ on any query.",)
        seen["the same"] += 1
        return
    does, items = ("answers", "queries") if by_query else ("finds", "relevant documents")
    found = matched(
        rf"It {does} (?P<how>as many|{N} points (?:more|fewer)) of the {items}"
        rf"(?P<averaged>, averaged by query)? \(won (?P<won>\d+), lost (?P<lost>\d+)"
        r"(?P<c>; not significant)?\), and (?P<ranking>.*?)(?P<r> \(not significant\))?\.",
        sentences[0],
    )
    change = 100 * change_of(pair.found)
    if change:
        size, _, word = found["how"].split()
        assert shows(size, abs(change))
        assert word == ("more" if change > 0 else "fewer")
    else:
        assert found["how"] == "as many"
    assert bool(found["averaged"]) is (
        not by_query and sign(int(found["won"]) - int(found["lost"])) != sign(change)
    )
    apart = not any(founds.values())
    length = change_of(pair.shared) if pair.shared else Fraction(0)
    assert bool(found["c"]) is bool(not apart and not founds["coverage"] and change)
    assert bool(found["r"]) is bool(not apart and not founds["ranking"] and length)
    size = f"(?P<size>{N})"
    if not pair.shared:
        assert found["ranking"].startswith("nothing is found by both")
    elif by_query:
        own = matched(
            rf"where both answer, the first answer stands (?:{size} ranks (?P<word>\w+)|"
            r"equally high on average)",
            found["ranking"],
        )
        words = {1: "lower", -1: "higher", 0: None}
    else:
        own = matched(
            rf"what both find has (?:{size} (?P<word>\w+)|on average as many)"
            r" irrelevant documents above it",
            found["ranking"],
        )
        words = {1: "more", -1: "fewer", 0: None}
    if pair.shared:
        assert own["word"] == words[sign(length)]
        assert own["size"] is None or shows(own["size"], abs(length))
    rest = sentences[1:]
    if told.comparison.verdict.label.endswith("over all queries"):
        over_all(told, *rest)
        seen["over all queries"] += 1
    elif apart and (change or length):
        assert rest == ("Neither difference is significant.",)
        seen["neither"] += 1
    else:
        assert not rest
        seen["a facet"] += 1


def over_all(told: Told, text: str) -> None:
    pair = told.pair
    what, counts = "the search is ", f"counting {pair.horizon + 1} where nothing is found"
    if pair.unit == "document":
        what, counts = "there are ", f"counting {pair.horizon} for what is not found"
    found = matched(
        rf"Neither is significant by itself; over all queries {what}(.*), {counts}, and (.*)\.",
        text,
    )
    moved(found[1], change_of(pair.restricted), pair.unit)
    moving = [name for name in ("coverage", "ranking") if gain_of(pair, name)]
    whole = gain_of(pair, "all queries")
    assert all(gain_of(pair, name) == whole for name in moving)
    assert (
        found[2]
        == (
            "neither facet moves",
            f"{''.join(moving)} points this way",
            "both facets point this way",
        )[len(moving)]
    )


@each_unit
def test_one_contender(unit: str) -> None:
    seen = Counter[str]()
    for seed, n, cutoff in itertools.product(range(9), (11, 40, 120), (5, 20)):
        qrels, a, b = made_up(seed, n, 1 if unit == "query" else 4)
        result = compare_several(qrels, {"A": a}, {"B": b}, cutoff=cutoff, unit=unit)
        pair = Pair(qrels, a, b, cutoff, unit)
        check_pair(Told(result["B"], pair, [pair]), seen)
    assert {"over all queries", "neither", "a facet"} <= set(seen)


# ---- several contenders


def told_of(
    unit: str, seed: int, n: int, correction: str = "holm", cutoff: int = 20
) -> tuple[iro.Comparisons, dict[str, Told]]:
    """Compare three runs with A, one of which is A itself."""
    qrels, a, b = made_up(seed, n, 1 if unit == "query" else 4)
    mixed = {query: (b if int(query[1:]) % 3 else a).get(query, {"d0": 1.0}) for query in qrels}
    runs = {"B": b, "C": mixed, "D": dict(a)}
    result = compare_several(qrels, {"A": a}, runs, cutoff=cutoff, unit=unit, correction=correction)
    family = [Pair(qrels, a, run, cutoff, unit) for run in runs.values()]
    return result, {
        name: Told(result[name], pair, family) for name, pair in zip(runs, family, strict=True)
    }


@pytest.mark.parametrize("correction", ["holm", "none"])
@each_unit
def test_several_contenders(unit: str, correction: str) -> None:
    marks = set()
    for seed, n in itertools.product(range(1, 9), (40, 120)):
        result, told = told_of(unit, seed, n, correction)
        view = result.view()
        (table,) = view.tables
        labels = {name: label_by_hand(own)[0] for name, own in told.items()}
        changes = {name: change_of(own.pair.restricted) for name, own in told.items()}
        best_first = sorted(told, key=lambda name: (LABELS.index(labels[name]), changes[name]))
        assert [row[0] for row in table.rows] == best_first
        counts = Counter(labels[name] for name in best_first)
        counted = ", ".join(f"{number} {label}" for label, number in counts.items())
        assert view.headline == f"3 runs against A (A): {counted}"
        for row in table.rows:
            marks |= check_row(told[row[0]], labels[row[0]], row)
        legend = "\n".join(table.captions)
        whole = [shown(own, "all queries") for own in told.values()]
        corrected = [own.corrected(PVALUES["all queries"]) for own in told.values()]
        is_raw = any(p != other for (_, p, _), other in zip(whole, corrected, strict=True))
        assert "not corrected where it only confirms" in legend or not is_raw
        assert ("by Holm over 3 runs" in legend) is (correction == "holm")
        assert ("at most 0.05 without Holm" in legend) is (
            "*" in "".join(itertools.chain(*table.rows))
        )
        check_merged(result, [*map(str, (*view.notes, *view.background))])
    assert marks == ({"", "*"} if correction == "holm" else {""})


def check_row(told: Told, label: str, row: tuple[str, ...]) -> set[str]:
    """Check the row of a contender, and return the marks behind its p-values."""
    _, verdict, *cells = row
    assert verdict == label
    marks = set()
    for facet, change, p in zip(ROWS, cells[::2], cells[1::2], strict=True):
        _, own, mark = shown(told, facet)
        rows = ROWS[facet](told.pair)
        if rows:
            expected = (100 if facet == "coverage" else 1) * change_of(rows)
            assert shows(change.lstrip("+-"), abs(expected))
            assert not float(change) or change[0] == ("+" if expected > 0 else "-")
        assert matched(rf"({N})(\*| W)?", p)[2] == (mark or None)
        assert shows(p.removesuffix(mark), own, within=1e-6)
        marks.add(mark)
    return marks


def check_merged(result: iro.Comparisons, texts: list[str]) -> None:
    """Check that a note on several contenders names those that have it, and one on a single one is its own."""
    notes = {item.contender: (*item.notes, *item.background) for item in result}
    for text in texts:
        if found := re.fullmatch(r"(.*), for (\d+) of 3: (.*)\.", text):
            having = [
                name
                for name, own in notes.items()
                if any(iro.notes.KINDS[note.kind].headline == found[1] for note in own)
            ]
            assert set(found[3].split(", ")) == set(having)
            assert int(found[2]) == len(having)
        elif found := re.fullmatch(r"(?:([A-Z].*), for )?([BCD]): (.*)", text):
            own = [str(note) for note in notes[found[2]]]
            assert (f"{found[1]}: {found[3]}" if found[1] else found[3]) in own
        else:
            assert all(text in map(str, own) for own in notes.values()), text
