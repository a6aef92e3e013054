"""First screens, recomputed from the runs by hand, in both units: sentences, cells, legends, and lines on several runs."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.comparison.verdict import LABELS
from tests.comparison.test_sentences import (
    ALPHA,
    ORDERS,
    N,
    Told,
    at_cutoff,
    direction_of,
    label_by_hand,
    made_up,
    matched,
    moved,
    of_unit,
    shows,
    sign,
)
from tests.helpers.by_hand import Pair, change_of, holm, mean_of
from tests.helpers.comparisons import compare_pair, compare_several
from tests.helpers.literal import Qrels, Run
from tests.helpers.many import collection, judged_in_part
from tests.helpers.runs import qrels_of, run_of

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


@cache
def by_holm() -> iro.Comparison:
    """Return a comparison of which only the correction counts, where no other is at hand."""
    return compare_pair(*made_up(1, 11, 1))


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
    # What follows says which run returned nothing for many queries; `test_sentences` checks it.
    assert view.headline.partition(";")[0] == f"B (B) against A (A): {label}"
    answer(told, view.sentences, seen)
    table = view.tables[0]
    unit = "ranks" if told.pair.unit == "query" else "above"
    names = {"coverage": "coverage, %", "ranking": f"ranking, {unit}"}
    names["all queries"] = f"all queries, {unit}"
    letters = set()
    for facet, row in zip(names, table.rows, strict=False):  # then come measures
        cells = dict(zip((column.title for column in table.columns), row, strict=True))
        p, of_a, of_b, change = (cells[heading] for heading in ("p", "A", "B", "B - A"))
        assert row[0] == names[facet]
        word, own, mark = shown(told, facet)
        assert cells.get("found", "") == word, (facet, row, told.comparison.verdict.label)
        rows = ROWS[facet](told.pair)
        scale = 100 if facet == "coverage" else 1
        if not rows:
            assert {of_a, of_b, change, p} == {"-"}
            continue
        assert matched(rf"({N})(\*| W)?", p)[2] == (mark or None), (facet, row)
        assert shows(p.removesuffix(mark), own, within=1e-6)
        letters.add(mark)
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
    left_out = len(told.pair.qrels) - len(told.pair.queries)
    without = f" ({left_out} unanswerable left out)" if left_out else ""
    assert f"{len(told.pair.queries)} queries{without}{between}{said}" in table.captions


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
        what = "there are "
        counts = f"counting a search length of {pair.horizon + 1} for what is not found"
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
def test_one_contender(unit: Any) -> None:
    seen = Counter[str]()
    for seed, n, cutoff in itertools.product(range(9), (11, 40, 120), (5, 20)):
        qrels, a, b = made_up(seed, n, 1 if unit == "query" else 4)
        result = compare_several(qrels, {"A": a}, {"B": b}, cutoff=cutoff, unit=unit)
        pair = Pair(qrels, a, b, cutoff, unit, orders=ORDERS)
        check_pair(Told(result["B"], pair, [pair]), seen)
    assert {"over all queries", "neither", "a facet"} <= set(seen)


@each_unit
def test_special_runs(unit: str) -> None:
    for _, told in of_unit(unit):
        check_pair(told, Counter[str]())


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
def test_several_contenders(unit: Any, correction: str) -> None:
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
        check_that_details_say_all(result, "\n".join((*view.notes, *view.background)))
    assert marks == ({"", "*"} if correction == "holm" else {""})


def check_row(told: Told, label: str, row: tuple[str, ...]) -> set[str]:
    """Check the row of a contender, and return the marks behind its p-values."""
    _, verdict, *cells = row
    assert verdict == label
    marks = set()
    for facet, change, p in zip(ROWS, cells[::2], cells[1::2], strict=True):
        _, own, mark = shown(told, facet)
        rows = ROWS[facet](told.pair)
        if not rows:
            assert {change, p} == {"-"}
            continue
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
                if any(iro.notes.KINDS[note.kind] == found[1] for note in own)
            ]
            assert set(found[3].split(", ")) == set(having)
            assert int(found[2]) == len(having)
        elif found := re.fullmatch(r"(?:([A-Z].*), for )?([BCD](?:, [BCD])*): (.*)", text):
            for name in found[2].split(", "):
                own = [str(note) for note in notes[name]]
                assert (f"{found[1]}: {found[3]}" if found[1] else found[3]) in own
        else:
            assert all(text in map(str, own) for own in notes.values()), text


def check_that_details_say_all(result: iro.Comparisons, text: str) -> None:
    """Check that no number of a note on one contender is left out, however many others have such a note."""
    for item in result:
        for note in (*item.notes, *item.background):
            assert note.details in text


# ---- boards


@each_unit
def test_boards(unit: Any) -> None:
    """The order, scores, coverage, tiers and letters of a board, and the line on tiers."""
    explained = Counter[bool]()
    made = [collection(4, n, 1 if unit == "query" else 3, seed) for seed, n in enumerate((60, 160))]
    # "far" answers all at rank 4, the others fewer at rank 1, so it is neither better nor worse.
    places: dict[str, list[int | None]] = {
        "far": [4] * 90,
        "most": [1] * 70 + [None] * 20,
        "less": [1] * 50 + [None] * 40,
    }
    ids = [f"q{number}" for number in range(90)]
    of_places = {name: run_of(dict(zip(ids, ranks, strict=True))) for name, ranks in places.items()}
    made.append((qrels_of(ids), of_places))
    for qrels, runs in made:
        board = iro.leaderboard(iro.evaluate(qrels, runs, cutoff=6, unit=unit))
        pairs = {
            (a, b): Pair(qrels, runs[a], runs[b], 6, unit)
            for a, b in itertools.combinations(runs, 2)
        }
        beaten: dict[str, set[str]] = {name: set() for name in runs}
        for (a, b), pair in pairs.items():
            label, _ = label_by_hand(Told(by_holm(), pair, [*pairs.values()]))
            if direction_of(label) == "better":
                beaten[b].add(a)
            elif direction_of(label) == "worse":
                beaten[a].add(b)
        rr = {}
        found = {}
        for (a, b), pair in pairs.items():
            for side, name in enumerate((a, b)):
                rr[name] = mean_of(pair.reciprocal, side)
                found[name] = mean_of(pair.found, side)
        lost = {name: sum(name in own for own in beaten.values()) for name in runs}
        net = {name: len(beaten[name]) - lost[name] for name in runs}
        by_wins = unit == "document"
        order = sorted(runs, key=lambda name: (-net[name] * by_wins, -rr[name]))
        (table,) = board.view().tables
        columns = [column.name for column in table.columns]
        rows = [dict(zip(columns, row, strict=True)) for row in table.rows]
        assert [row["run"] for row in rows] == order
        letters = {row["run"]: row["letter"] for row in rows}
        tiers: dict[str, int] = {}
        for name in sorted(runs, key=lambda name: lost[name]):
            above = [tiers[other] for other, own in beaten.items() if name in own]
            tiers[name] = 1 + max(above, default=0)
        for row in rows:
            name = row["run"]
            assert shows(row["score"], rr[name])
            assert shows(row["coverage"], 100 * found[name])
            assert row.get("beats", "").split() == sorted(letters[other] for other in beaten[name])
            assert int(row["tier"]) == tiers[name]
            assert not by_wins or int(row["net_wins"]) == net[name]
        below = [
            name
            for place, name in enumerate(order)
            if any(tiers[above] > tiers[name] for above in order[:place])
        ]
        legend = "\n".join(table.captions)
        explained[bool(below)] += 1
        assert (f"{', '.join(below)} stand" in legend) is bool(below)
        n_pairs = len(pairs)
        beats = "better than: " if any(beaten.values()) else "no run is better than another: "
        assert f"{beats}by the verdict on coverage and ranking, Holm over {n_pairs} pairs" in legend
    assert explained[True] == (unit == "query")  # by document rows are in the order of wins


# ---- holes


def with_relevant(pair: Pair, more: list[tuple[str, str]]) -> Told:
    """Return the pair where these unjudged documents are relevant, too."""
    qrels = {query: dict(judged) for query, judged in pair.qrels.items()}
    for query, document in more:
        qrels[query][document] = 1
    judged = Pair(qrels, pair.a, pair.b, pair.cutoff, pair.unit)
    return Told(by_holm(), judged, [judged])


@each_unit
def test_holes(unit: Any) -> None:
    """How many documents are unjudged, what the bound says, and that the tipping point tips and needs every document."""
    seen = Counter[str]()
    for seed in range(5):
        qrels, runs = judged_in_part(seed, 40, 8, share=0.7)
        for query in list(qrels)[::2] if seed % 2 else []:  # B ranks what is relevant higher
            best = [d for d in runs["B"][query] if qrels[query].get(d)]
            runs["B"][query] = {d: s + 999 * (d in best) for d, s in runs["B"][query].items()}
        evaluation = iro.evaluate(qrels, runs, cutoff=4, unit=unit, unjudged=True)
        result = iro.holes(evaluation, "A", "B")
        view = result.view()
        pair = Pair(qrels, runs["A"], runs["B"], 4, unit)
        ranks: dict[tuple[str, str], list[float]] = {}
        counts = [0, 0]
        for side, run in enumerate((pair.a, pair.b)):
            for query in qrels:
                for rank, document in enumerate(pair.order(run, query), 1):
                    if document not in qrels[query]:
                        ranks.setdefault((query, document), [99, 99])[side] = rank
                        counts[side] += 1
        shares = [
            100 * count / sum(len(pair.order(run, query)) for query in qrels)
            for count, run in zip(counts, (pair.a, pair.b), strict=True)
        ]
        found = matched(
            rf"(\d+) unjudged documents are in the top 4 of A or B \(({N}) % of what A returns"
            rf" there, ({N}) % of B\)\.",
            view.sentences[0],
        )
        assert int(found[1]) == len(ranks)
        assert shows(found[2], shares[0])
        assert shows(found[3], shares[1])
        own, _ = label_by_hand(with_relevant(pair, []))
        assert f": {own}; " in view.headline
        families = [
            [key for key, (a, b) in ranks.items() if a < b],
            [key for key, (a, b) in ranks.items() if b < a],
            [key for key, (a, b) in ranks.items() if max(a, b) < 99],
        ]
        labels = [label_by_hand(with_relevant(pair, more))[0] for more in families]
        directions = {direction_of(label) for label in labels}
        other = {"better": "worse", "worse": "better"}.get(direction_of(own))
        words = view.headline
        seen["bound" if len(view.sentences) == 3 else "stands"] += 1
        if len(view.sentences) == 3:
            assert view.sentences[2] == (
                f"If all that favour A were relevant: {labels[0]}; all that favour B: {labels[1]};"
                f" all that both return: {labels[2]}."
            )
            word = "could weaken"
            if other is None:
                word = "could decide"
            elif other in directions:
                word = "could reverse"
            assert words.endswith(f"the extreme bound {word} it")
        else:
            assert directions == {direction_of(own)}
        (tipping,) = [found_holes.tipping for found_holes in result.pairs]
        if tipping is None:
            assert view.sentences[1].startswith("No set of at most five of them was found")
            continue
        seen["tipping"] += 1
        more = [(document.query_id, document.docid) for document in tipping.documents]
        label, _ = label_by_hand(with_relevant(pair, more))
        number = f"{len(more)} document{'s' * (len(more) > 1)}"
        assert f"{number} would make it {label}" in words
        assert view.sentences[1] == f"{len(more)} of them, if relevant, would make it: {label}."
        assert direction_of(label) != direction_of(own)
        for place in range(len(more)):
            rest = [*more[:place], *more[place + 1 :]]
            kept, _ = label_by_hand(with_relevant(pair, rest))
            assert direction_of(kept) == direction_of(own)
    assert {"tipping", "bound"} <= set(seen)


# ---- conditions


def fdr(pvalues: list[float]) -> list[float]:
    """Return p-values corrected by the method of Benjamini and Hochberg."""
    n = len(pvalues)
    order = sorted(range(n), key=pvalues.__getitem__, reverse=True)
    adjusted = [1.0] * n
    smallest = 1.0
    for step, place in enumerate(order):
        smallest = min(smallest, pvalues[place] * n / (n - step))
        adjusted[place] = smallest
    return adjusted


def keeps(told: list[Told], correction: Callable[[list[float]], list[float]]) -> list[bool]:
    """Return which verdicts a correction over all conditions and contenders keeps: what carries them is still significant."""
    facets = {
        name: correction([pvalue(own.pair) for own in told]) for name, pvalue in PVALUES.items()
    }
    kept = []
    for place, own in enumerate(told):
        label, _ = label_by_hand(own)
        carrying = ["coverage", "ranking"]
        if label.endswith("over all queries"):
            carrying = ["all queries"]
        lost = any(own.corrected(PVALUES[name]) <= ALPHA < facets[name][place] for name in carrying)
        kept.append(label == "no significant difference" or not lost)
    return kept


def check_conditions(
    result: iro.ConditionsComparison,
    told: dict[tuple[str, str], Told],
    correction: Callable[[list[float]], list[float]] | None,
) -> None:
    """Check signs, counts and rows of conditions, by contender and condition."""
    view = result.view()
    names = list(dict.fromkeys(name for _, name in told))
    runs = list(dict.fromkeys(run for run, _ in told))
    kept = dict.fromkeys(told, True)
    if correction is not None:
        kept = dict(zip(told, keeps([*told.values()], correction), strict=True))
    labels = {key: label_by_hand(own)[0] for key, own in told.items()}
    signs = {"better": "+", "worse": "-", "none": "."}
    tables = [view.tables[0]]
    if len(runs) > 1:
        for row in view.tables[0].rows:
            expected = []
            directions: Counter[str] = Counter()
            after: Counter[str] = Counter()
            for name in names:
                label = labels[row[0], name]
                is_kept = kept[row[0], name]
                plain = "?" if "unconfirmed" in label else signs[direction_of(label)]
                sign = {"trade-off": "~"}.get(label, plain)
                expected.append(sign if is_kept else f"{sign}*")
                directions[direction_of(label)] += 1
                after[direction_of(label)] += is_kept
            shown_counts = row[1 + len(names) : 3 + len(names)]
            assert list(row[1 : 1 + len(names)]) == expected
            assert list(shown_counts) == [
                f"{directions[side]}"
                + (f" ({after[side]})" if after[side] < directions[side] else "")
                for side in ("better", "worse")
            ]
        legend = " ".join(view.tables[0].captions)
        assert ("does not keep" in legend) is (not all(kept.values()))
        of_run = {table.title.partition(" (B)")[0]: table for table in view.details[::-1]}
        tables = [of_run[run] for run in runs]
    for run, table in zip(runs, tables, strict=True):
        rows = {
            row[0]: dict(zip([c.title for c in table.columns], row, strict=True))
            for row in table.rows
        }
        for name in names:
            own = told[run, name]
            cells = rows[name]
            star = "" if kept[run, name] else " *"
            assert cells["verdict"] == labels[run, name] + star
            assert shows(
                cells["coverage, points"].split()[0].lstrip("+-"),
                abs(100 * change_of(own.pair.found)),
            )
            if cells.get("ranking, B / A", "-") != "-":
                ratio = mean_of(own.pair.shared, 1) / mean_of(own.pair.shared, 0)
                assert shows(cells["ranking, B / A"].split()[0], ratio)
            _, p, mark = shown(own, "all queries")
            assert shows(cells["p, all"].removesuffix(mark), p, within=1e-6)
            assert cells["p, all"].endswith(mark)
        legend = " ".join(table.captions)
        assert ("does not keep" in legend) is (not all(kept[run, name] for name in names))
        assert ("p*: at most 0.05 without Holm" in legend) is any(
            cells["p, all"].endswith("*") for cells in rows.values()
        )
        disagreeing = False
        for name in names:
            for facet, heading, none in (
                ("coverage", "coverage, points", 0.0),
                ("ranking", "ranking, B / A", 1.0),
            ):
                ends = re.search(r"\[(.*), (.*)\]", rows[name].get(heading, ""))
                if ends:
                    includes = float(ends[1]) <= none <= float(ends[2])
                    is_significant = PVALUES[facet](told[run, name].pair) <= ALPHA
                    disagreeing |= includes == is_significant
        assert ("an interval and a test disagree" in legend) is disagreeing


def parts_of(
    qrels: Qrels, runs: dict[str, Run], unit: str, cutoff: int = 5
) -> dict[str, dict[str, Pair]]:
    """Return each contender on the queries of each half, by the number in their id."""
    halves = {
        f"s{half}": {query: own for query, own in qrels.items() if int(query[1:]) % 2 == half}
        for half in (0, 1)
    }
    return {
        name: {run: Pair(own, runs["A"], runs[run], cutoff, unit) for run in ("B", "C")}
        for name, own in halves.items()
    }


def three_runs(unit: str, seed: int, n: int = 160) -> tuple[Qrels, dict[str, Run]]:
    qrels, a, b = made_up(seed, n, 1 if unit == "query" else 4)
    mixed = {query: (b if int(query[1:]) % 3 else a).get(query, {"d0": 1.0}) for query in qrels}
    return qrels, {"A": a, "B": b, "C": mixed}


@each_unit
def test_slices(unit: Any) -> None:
    for seed in (2, 3, 4, 5):
        qrels, runs = three_runs(unit, seed)
        evaluation = iro.evaluate(qrels, runs, cutoff=5, unit=unit)
        by = {query: f"s{int(query[1:]) % 2}" for query in qrels}
        pairs = parts_of(qrels, runs, unit)
        for contenders in (["B"], ["B", "C"]):
            result = iro.compare_slices(evaluation, "A", contenders, by=by, resamples=99)
            told = {
                (run, name): Told(by_holm(), own[run], [own[other] for other in contenders])
                for run in contenders
                for name, own in pairs.items()
            }
            check_conditions(result, told, fdr)


@each_unit
def test_collections(unit: Any) -> None:
    """Rows, how often it is better and worse, also after Holm, means of these, and who is hurt."""
    evaluations = {}
    pairs: dict[str, dict[str, Pair]] = {}
    for number, seed in enumerate((2, 3, 5, 8)):
        qrels, runs = three_runs(unit, seed, 80 + 60 * number)
        evaluations[f"c{number}"] = iro.evaluate(qrels, runs, cutoff=12, unit=unit)
        pairs[f"c{number}"] = {
            run: Pair(qrels, runs["A"], runs[run], 12, unit) for run in ("B", "C")
        }
    for contenders in (["B"], ["C"], ["B", "C"]):
        result = iro.compare_collections(evaluations, "A", contenders)
        told = {
            (run, name): Told(by_holm(), own[run], [own[other] for other in contenders])
            for run in contenders
            for name, own in pairs.items()
        }
        check_conditions(result, told, holm)
        if len(contenders) > 1:
            continue
        view = result.view()
        kept = keeps([*told.values()], holm)
        directions = [direction_of(label_by_hand(own)[0]) for own in told.values()]
        counted = []
        for side in ("better", "worse"):
            n = directions.count(side)
            still = sum(own == side and keep for own, keep in zip(directions, kept, strict=True))
            if n:
                counted.append(f"{side} in {n}" + (f" ({still} after Holm)" if still < n else ""))
        assert view.label.partition(" on average, ")[2] == (" and ".join(counted) or "none decided")
        row = next(row for row in view.tables[0].rows if row[0] == "these, mean")
        effects: list[Fraction] = [100 * change_of(own.pair.found) for own in told.values()]
        assert shows(row[1].split()[0].lstrip("+-"), abs(sum(effects, Fraction(0)) / 4))
        shared = [own.pair.shared for own in told.values()]
        ratios = [
            float(mean_of(rows, 1) / mean_of(rows, 0))
            for rows in shared
            if len(rows) >= 10 and any(of_a != of_b for of_a, of_b in rows.values())
        ]
        if len(ratios) < 4:
            said = f"or no difference); the mean is over {len(ratios)} collection"
            assert said in " ".join(view.notes)
        assert shows(row[2].split()[0], math.prod(ratios) ** (1 / len(ratios)))
        hurt = {name: harms(own) for (_, name), own in told.items() if is_hurt(own)}
        warned = [note for note in view.notes if note.startswith("Hurt (")]
        average = view.label.partition(" on average")[0]
        if not hurt or direction_of(average) == "worse":
            assert not warned
            continue
        (warning,) = warned
        start = "Hurt (raw p at most 0.05) or a trade-off: "
        assert warning.startswith(start)
        listing = re.findall(r"(c\d) \((.*?)\)", warning.removeprefix(start))
        assert [name for name, _ in listing] == [*hurt]
        for name, where in listing:
            if not hurt[name]:
                assert where == label_by_hand(told[contenders[0], name])[0]
                continue
            for said, (facet, p) in zip(where.split("; "), hurt[name], strict=True):
                assert said.partition(" = ")[0] == facet
                assert shows(said.partition(" = ")[2], p, within=1e-6)


def harms(told: Told) -> list[tuple[str, float]]:
    """Return the facets that worsen by an uncorrected p-value, as the sentence names them, with that p-value."""
    pair = told.pair
    found = [
        (f"{facet}, p", PVALUES[facet](pair))
        for facet in ("coverage", "ranking")
        if gain_of(pair, facet) < 0 and PVALUES[facet](pair) <= ALPHA
    ]
    p, direction = pair.wilcoxon(pair.shared)
    if p <= ALPHA and direction > 0 and "ranking, p" not in dict(found):
        found.append(("ranking, Wilcoxon p", p))
    return found


def is_hurt(told: Told) -> bool:
    """Return whether a facet worsens by an uncorrected p-value, or the label says so."""
    label, _ = label_by_hand(told)
    return bool(harms(told)) or label == "trade-off" or "worse" in label


@each_unit
def test_cutoffs(unit: Any) -> None:
    for seed in (1, 2, 3):
        qrels, runs = three_runs(unit, seed)
        evaluation = iro.evaluate(qrels, runs, unit=unit)
        cutoffs = (3, 5, 9)
        result = iro.compare_cutoffs(evaluation, "A", "B", cutoffs=cutoffs, resamples=99)
        pair = Pair(qrels, runs["A"], runs["B"], 5, unit)
        at = {str(cutoff): at_cutoff(pair, cutoff) for cutoff in cutoffs}
        told = {("B", name): Told(by_holm(), own, [own]) for name, own in at.items()}
        check_conditions(result, told, None)
        labels = [label_by_hand(own)[0] for own in told.values()]
        (most, times) = Counter(labels).most_common(1)[0]
        same = "a different label at each of 3 cutoffs"
        if times > 1:
            same = f'the same label at {times} of 3 cutoffs ("{most}")'
        opposite = {"better", "worse"} <= {*map(direction_of, labels)}
        ever = "opposite directions occur" if opposite else "never opposite"
        assert result.view().sentences == (f"B: {same}, {ever}.",)
