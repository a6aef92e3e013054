"""Every sentence of a comparison, recomputed from the runs by hand, in both units; one that no pattern knows fails."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.notes import Note, as_notes
from tests.helpers.by_hand import FEW, Pair, change_of, holm, mean_of
from tests.helpers.comparisons import all_notes, compare_several
from tests.helpers.literal import Qrels, Run, ranked, relevant
from tests.helpers.many import tied_multiset
from tests.helpers.runs import in_blocks, qrels_of, run_of

ALPHA = 0.05
N = r"\d+(?:\.\d+)?(?:e-\d+)?"
OPENINGS = {
    "better on both facets": "B is better than A on both facets",
    "better on coverage": "B is better than A on coverage",
    "better on ranking": "B is better than A on ranking",
    "better over all queries": "B is better than A over all queries",
    "coverage gain, unconfirmed": "B gains on coverage over A, not confirmed over all queries",
    "ranking gain, unconfirmed": "B gains on ranking over A, not confirmed over all queries",
    "no significant difference": "There is no significant difference between B and A",
    "trade-off": "B against A is a trade-off",
    "worse on both facets": "B is worse than A on both facets",
    "worse on coverage": "B is worse than A on coverage",
    "worse on ranking": "B is worse than A on ranking",
    "worse over all queries": "B is worse than A over all queries",
    "coverage loss, unconfirmed": "B loses on coverage to A, not confirmed over all queries",
    "ranking loss, unconfirmed": "B loses on ranking to A, not confirmed over all queries",
}


@dataclass
class Told:
    """A comparison, and what it is about."""

    comparison: iro.Comparison
    pair: Pair
    family: list[Pair]

    def corrected(self, pvalue: Callable[[Pair], float]) -> float:
        """Return the p-value of a test after Holm over the family."""
        values = [pvalue(pair) for pair in self.family]
        place = [pair is self.pair for pair in self.family].index(True)
        if self.comparison.settings.correction == "none":
            return values[place]
        return holm(values)[place]


def shows(text: str, value: float | Fraction, *, within: float = 0.0) -> bool:
    """Return whether a printed number is this one, rounded as it is printed, or within a relative error."""
    digits, _, exponent = text.partition("e")
    step = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    return abs(float(text) - float(value)) <= 0.5 * step * (1 + 1e-6) + within * float(value)


def matched(pattern: str, text: str) -> re.Match[str]:
    found = re.fullmatch(pattern, text)
    assert found is not None, f"no pattern for: {text}"
    return found


def sign(value: float | Fraction) -> int:
    return (value > 0) - (value < 0)


def moved(text: str, change: Fraction, unit: str) -> None:
    """Check a change of search lengths in words."""
    if abs(change) < 1e-12:
        assert text == "the same on average"
        return
    more, fewer, what = ("longer", "shorter", "ranks")
    pattern = rf"(?P<size>{N}) ranks (?P<word>longer|shorter)"
    if unit == "document":
        more, fewer, what = ("more", "fewer", "above")
        pattern = rf"(?P<size>{N}) (?P<word>more|fewer) irrelevant documents above"
    found = matched(pattern, text)
    assert what in text
    assert shows(found["size"], abs(change))
    assert found["word"] == (more if change > 0 else fewer)


# ---- the label, by the rules of design and docs/verdict.md


def label_by_hand(told: Told) -> tuple[str, bool]:
    """Return the label, and whether the guard made it."""
    pair = told.pair
    coverage = sign(change_of(pair.found))
    p_coverage = pair.coverage_pvalue()
    p_ranking = pair.ranking_pvalue()
    wilcoxon, by_ranks = pair.wilcoxon(pair.shared)
    mean = -sign(change_of(pair.shared)) if pair.shared else 0
    ranking = -by_ranks if pair.test == "wilcoxon" else mean
    significant = {
        "coverage": coverage * (told.corrected(Pair.coverage_pvalue) <= ALPHA),
        "ranking": ranking * (told.corrected(Pair.ranking_pvalue) <= ALPHA),
    }
    raw = {coverage * (p_coverage <= ALPHA), ranking * (p_ranking <= ALPHA)}
    raw.add(-by_ranks * (wilcoxon <= ALPHA))
    raw.add(mean * (pair.mean_pvalue(pair.shared) <= ALPHA))
    whole = -sign(change_of(pair.restricted))
    p_whole = pair.mean_pvalue(pair.restricted)
    p_signed, by_signed = pair.wilcoxon(pair.restricted)
    confirmed = 0
    if p_whole <= ALPHA or (p_signed <= ALPHA and -by_signed == whole):
        confirmed = whole
    decided = whole * (told.corrected(lambda own: own.mean_pvalue(own.restricted)) <= ALPHA)
    label = "no significant difference"
    for direction, word in ((1, ("better", "gain")), (-1, ("worse", "loss"))):
        changed = [name for name, own in significant.items() if own == direction]
        against = -direction in raw
        if changed and against:
            label = "trade-off"
        elif len(changed) == 2:
            label = f"{word[0]} on both facets"
        elif changed and confirmed == direction:
            label = f"{word[0]} on {changed[0]}"
        elif changed:
            label = f"{changed[0]} {word[1]}, unconfirmed"
        elif (
            decided == direction
            and not against
            and label == "no significant difference"
            and coverage * direction >= 0
            and mean * direction >= 0
        ):
            label = f"{word[0]} over all queries"
    if label in ("no significant difference", "trade-off"):
        return label, False
    claims = 1 if label.startswith("better") or "gain" in label else -1
    part = pair.of_won_and_lost
    contradicted = [
        -sign(change_of(rows)) == -claims and pair.mean_pvalue(rows) <= ALPHA
        for rows in (pair.restricted, part)
    ]
    return ("trade-off", True) if any(contradicted) else (label, False)


# ---- the sentence of the verdict


def sentence(told: Told) -> None:
    comparison = told.comparison
    label, guard = label_by_hand(told)
    assert (comparison.verdict.label, comparison.verdict.guard) == (label, guard)
    opening, _, rest = comparison.verdict.sentence.partition(": ")
    assert opening == OPENINGS[label]
    decided = " over all queries" in label
    found = matched(
        r"B (?P<coverage>.*?\)), and (?P<ranking>(?:on|nothing).*?)"
        + (r"; over all queries (?P<whole>.*)\." if decided else r"\."),
        rest,
    )
    coverage(told, found["coverage"])
    ranking(told, found["ranking"])
    if decided:
        whole(told, found["whole"])


def coverage(told: Told, text: str) -> None:
    pair = told.pair
    does = "answers" if pair.unit == "query" else "finds"
    items = "queries" if pair.unit == "query" else "relevant documents"
    found = matched(
        rf"{does} (?:as many|(?P<size>{N}) percentage points (?P<word>more|fewer)) of the {items}"
        rf"(?P<averaged>, averaged by query)? \(won (?P<won>\d+), lost (?P<lost>\d+); (?P<test>.*)\)",
        text,
    )
    change = 100 * change_of(pair.found)
    assert (found["size"] is None) == (change == 0)
    if change:
        assert shows(found["size"], abs(change))
        assert found["word"] == ("more" if change > 0 else "fewer")
    every = [item for items in pair.items.values() for item in items]
    assert int(found["won"]) == sum(a is None and b is not None for a, b in every)
    assert int(found["lost"]) == sum(b is None and a is not None for a, b in every)
    net = int(found["won"]) - int(found["lost"])
    assert (found["averaged"] is None) == (np.sign(net) == np.sign(float(change)))
    check_test(told, found["test"], Pair.coverage_pvalue)


def check_test(told: Told, text: str, pvalue: Callable[[Pair], float]) -> None:
    """Check the name of a test, its p-value, and the corrected one where it differs."""
    found = matched(rf"(?P<method>.*?),? p = (?P<p>{N})(?:, corrected (?P<corrected>{N}))?", text)
    within = 0.01 if "to within 1 %" in found["method"] else 1e-7
    raw = pvalue(told.pair)
    corrected = told.corrected(pvalue)
    assert shows(found["p"], raw, within=within)
    assert (float(found["p"]) <= ALPHA) == (raw <= ALPHA)
    if found["corrected"]:
        assert shows(found["corrected"], corrected, within=within)
        assert (float(found["corrected"]) <= ALPHA) == (corrected <= ALPHA)
    else:
        assert corrected == pytest.approx(raw)


def ranking(told: Told, text: str) -> None:
    pair = told.pair
    if not pair.shared:
        assert text == "nothing is found by both runs, so their rankings cannot be compared"
        return
    found = matched(
        r"on (?P<where>.*?) \((?P<n>\d+) of which (?P<verb>differs?)\) (?P<what>.*)"
        rf" \((?P<means>means|mean search lengths) (?P<a>{N}) to (?P<b>{N}); (?P<test>.*)\)",
        text,
    )
    n = len(pair.shared)
    queries = f"{n} {'query' if n == 1 else 'queries'}"
    by_query = pair.unit == "query"
    assert found["where"] == (
        f"the {queries} that both answer" if by_query else f"what both find, on {queries}"
    )
    differing = sum(a != b for a, b in pair.shared.values())
    assert (int(found["n"]), found["verb"]) == (
        differing,
        "differs" if differing == 1 else "differ",
    )
    assert shows(found["a"], mean_of(pair.shared, 0))
    assert shows(found["b"], mean_of(pair.shared, 1))
    assert found["means"] == ("means" if by_query else "mean search lengths")
    change = change_of(pair.shared)
    what = found["what"]
    if pair.test == "wilcoxon":
        by_signed_ranks(what, pair.wilcoxon(pair.shared)[1], pair.unit)
    elif by_query:
        moved(matched("the search is (.*)", what)[1], change, pair.unit)
    elif abs(change) < 1e-12:
        assert (
            what == "the number of irrelevant documents above a relevant one is the same on average"
        )
    else:
        moved(matched("a relevant document has (.*)", what)[1], change, pair.unit)
    check_test(told, found["test"], Pair.ranking_pvalue)


def by_signed_ranks(text: str, direction: int, unit: str) -> None:
    shorter, longer = "the search is shorter", "the search is longer"
    neither = "the search is neither longer nor shorter"
    if unit == "document":
        has = "a relevant document has"
        shorter, longer = (
            f"{has} {word} irrelevant documents above it" for word in ("fewer", "more")
        )
        neither = f"{has} neither more nor fewer irrelevant documents above it"
    assert text == f"{(neither, longer, shorter)[direction]} by signed ranks"


def whole(told: Told, text: str, there: str = "") -> None:
    """Check what is said of the search over all queries."""
    pair = told.pair
    change = change_of(pair.restricted)
    counts = f"counting {pair.horizon + 1} where nothing is found"
    opening = f"{there}the search is "
    if pair.unit == "document":
        counts = f"counting a search length of {pair.horizon + 1} for what is not found"
        opening = "there are "
        if abs(change) < 1e-12:
            opening = f"{there}the number of irrelevant documents above is "
    found = matched(
        rf"{opening}(?P<change>.*?), {counts} \((?P<name>t|sign-flip|signflip) p = (?P<p>{N})"
        rf"(?:, corrected (?P<corrected>{N}))?(?:, Wilcoxon p = (?P<wilcoxon>{N}))?\)",
        text,
    )
    moved(found["change"], change, pair.unit)
    raw = pair.mean_pvalue(pair.restricted)
    assert shows(found["p"], raw, within=1e-7)
    assert (found["name"] == "t") == (pair.n_differing(pair.restricted) >= FEW)
    if found["corrected"]:
        corrected = told.corrected(lambda own: own.mean_pvalue(own.restricted))
        assert shows(found["corrected"], corrected, within=1e-7)
    if found["wilcoxon"]:
        assert shows(found["wilcoxon"], pair.wilcoxon(pair.restricted)[0], within=1e-6)


# ---- notes


def guard(told: Told, text: str) -> None:
    pair = told.pair
    found = matched(
        r"The guard acted: (?P<claimed>.*?) (?:is|are) (?P<says>better|worse), but (?P<found>.*),"
        r" counting (?:a search length of )?(?P<count>\d+)"
        r" (?P<where>where nothing is found|for what is not found)"
        r" \(median ranks: lost (?P<lost>\S+), won (?P<won>\S+)\); so it is a trade-off\.",
        text,
    )
    by_query = pair.unit == "query"
    assert int(found["count"]) == pair.horizon + 1
    assert (found["where"] == "where nothing is found") is by_query
    direction = 1 if found["says"] == "better" else -1
    tests = {
        "coverage": direction
        * change_of(pair.found)
        * (told.corrected(Pair.coverage_pvalue) <= ALPHA),
        "ranking": -direction
        * change_of(pair.shared)
        * (told.corrected(Pair.ranking_pvalue) <= ALPHA),
    }
    changed = [name for name, change in tests.items() if change > 0]
    assert found["claimed"] == (" and ".join(changed) or "the search over all queries")
    verb = "is" if by_query else "has"
    parts = {
        "the search over all queries": pair.restricted,
        "what was won and lost by itself": pair.of_won_and_lost,
    }
    said = []
    for name, rows in parts.items():
        if direction * change_of(rows) > 0 and pair.mean_pvalue(rows) <= ALPHA:
            said.append(name)
            own = re.search(rf"{name} {verb} (.*?) \(p = ({N})\)", found["found"])
            assert own is not None
            moved(own[1], change_of(rows), pair.unit)
            assert shows(own[2], pair.mean_pvalue(rows), within=1e-7)
    assert said == [name for name in parts if name in found["found"]]
    assert said


def unconfirmed(told: Told, text: str) -> None:
    assert "unconfirmed" in told.comparison.verdict.label
    whole(told, matched(r"Not confirmed on all queries: (.*)\.", text)[1], "there ")


def all_queries_only(told: Told, text: str) -> None:
    pair = told.pair
    found = matched(
        r"Significant over all queries only: (?P<whole>.*\)), but (?P<facets>.*) points? the other"
        r" way, so the label has no direction\.",
        text,
    )
    whole(told, found["whole"], "there ")
    direction = sign(change_of(pair.restricted))
    facets = {"coverage": -change_of(pair.found), "ranking": change_of(pair.shared)}
    against = [name for name, change in facets.items() if change * direction < 0]
    # A test that is significant in the other direction says so too, where the mean does not.
    assert set(against) <= set(found["facets"].split(" and "))


def opposite_mean(told: Told, text: str) -> None:
    pair = told.pair
    found = matched(
        r"The mean over all queries goes the other way: (?P<means>.*?\))\."
        r"(?P<about> MRR mixes both facets and weighs the first ranks most\.)? The label does not"
        r" depend on (?P<them>it|them)\.",
        text,
    )
    tenth = Fraction(1, 10)
    early = {
        query: (a if a >= tenth else Fraction(0), b if b >= tenth else Fraction(0))
        for query, (a, b) in pair.reciprocal.items()
    }
    values = {"MRR": pair.reciprocal, "RR@10": early}
    better = told.comparison.verdict.direction == "better"
    means = re.findall(rf"(\S+) ({N}) to ({N}) \(t, p = ({N})\)", found["means"])
    for name, of_a, of_b, pvalue in means:
        assert shows(of_a, mean_of(values[name], 0))
        assert shows(of_b, mean_of(values[name], 1))
        assert shows(pvalue, pair.t(values[name]), within=1e-6)
        assert float(pvalue) <= ALPHA
        assert (float(of_b) < float(of_a)) is better
    assert (found["them"] == "it") == (len(means) == 1)
    assert bool(found["about"]) == ("MRR" in dict(row[:2] for row in means))


def other_cutoffs(told: Told, text: str) -> None:
    listing = matched(r"Directions differ by cutoff: (.*)\.", text)[1]
    said: dict[int, str] = {}
    for part in listing.split("; "):
        label, _, at = part.rpartition(" at ")
        for cutoff in re.findall(r"\d+", at):
            said[int(cutoff)] = label
    own = direction_of(told.comparison.verdict.label)
    shallower = min(at_cutoff(told.pair, 10**6).depths)
    expected = {}
    for cutoff in {10, 20, 50, 100, 1000, told.pair.cutoff}:
        if cutoff > shallower and cutoff != told.pair.cutoff:
            continue
        family = [at_cutoff(pair, cutoff) for pair in told.family]
        place = [pair is told.pair for pair in told.family].index(True)
        label, _ = label_by_hand(Told(told.comparison, family[place], family))
        if direction_of(label) != own:
            expected[cutoff] = label
    assert said == expected


def at_cutoff(pair: Pair, cutoff: int) -> Pair:
    return replace(pair, cutoff=cutoff)


def direction_of(label: str) -> str:
    first = label.split()[0]
    return first if first in ("better", "worse") and "unconfirmed" not in label else "none"


def contradiction(told: Told, text: str) -> None:
    pair = told.pair
    found = matched(
        rf"(?P<opening>[^:]*): (?P<first>.*?\(|)(?P<mean>t|sign-flip) p = (?P<t>{N}), Wilcoxon p ="
        rf" (?P<wilcoxon>{N})(?P<rest>.*)\.",
        text,
    )
    p_mean = pair.mean_pvalue(pair.shared)
    p_ranks, direction = pair.wilcoxon(pair.shared)
    assert shows(found["t"], p_mean, within=1e-7)
    assert shows(found["wilcoxon"], p_ranks, within=1e-6)
    opposite = sign(change_of(pair.shared)) != direction
    if found["opening"] == "Tests of ranking contradict each other":
        assert p_mean <= ALPHA
        assert p_ranks <= ALPHA
        assert opposite
    elif found["opening"] == "A few queries with large changes decide on ranking":
        assert p_mean <= ALPHA < p_ranks
    else:
        assert found["opening"] == "Most rankings change, not their mean"
        assert p_ranks <= ALPHA < p_mean


def missing(told: Told, text: str) -> None:
    pair = told.pair
    n = len(pair.queries)
    opening, _, listing = text.partition(": ")
    lacking = {
        name: sum(not pair.order(run, query) for query in pair.queries)
        for name, run in (("A", pair.a), ("B", pair.b))
    }
    if pair.judged_only:
        lacking = {
            name: sum(query not in run for query in pair.queries)
            for name, run in (("A", pair.a), ("B", pair.b))
        }
    parts = [
        f"{name} has no results for {number} of {n} queries ({100 * number / n:.1f} %)"
        for name, number in lacking.items()
        if number
    ]
    assert listing == f"{' and '.join(parts)}; they count as not found."
    many = max(lacking.values()) > 0.05 * n
    assert opening == ("Many queries are missing" if many else "Missing queries")
    label = told.comparison.view().label
    for name, number in lacking.items():
        said = f"; {name} returned results for {n - number} of {n} queries" in label
        assert said == (number > 0.05 * n)


def missing_ids(told: Told, text: str) -> None:
    pair = told.pair
    found = matched(
        r"(?P<names>.*?) lacks? (?P<n>\d+) quer(?:y|ies) of the qrels \((?P<ids>.*?)(?: and"
        r" (?P<more>\d+) more)?\), counted as unanswered\.",
        text,
    )
    for name in found["names"].split(", "):
        run = {"A": pair.a, "B": pair.b}[name]
        absent = [query for query in pair.queries if query not in run]
        assert int(found["n"]) == len(absent)
        named = found["ids"].split(", ")
        assert named == absent[: len(named)]
        assert len(absent) == len(named) + int(found["more"] or 0)


def depth(told: Told, text: str) -> None:
    pair = told.pair
    a, b = pair.depths
    found = matched(
        r"Unequal depth: (?P<judged>without unjudged documents )?A returns at most (?P<a>\d+)"
        r" documents?, B (?P<b>\d+)(?:; compare with `cutoff=(?P<both>\d+)`, which both reach)?\."
        r" Over all queries the search length of what is not found is (?P<counts>\d+), so a gain"
        r" may stay unconfirmed\.",
        text,
    )
    assert (int(found["a"]), int(found["b"]), int(found["counts"])) == (a, b, pair.horizon + 1)
    assert bool(found["judged"]) == pair.judged_only == (found["both"] is None)
    if found["both"]:
        assert int(found["both"]) == min(a, b)


def shallow(told: Told, text: str) -> None:
    a, b = told.pair.depths
    assert a == b
    assert text == (f"No run is deeper than {a}: the cutoff {told.pair.cutoff} is in effect {a}.")


def unjudged_share(pair: Pair, run: Run, cutoff: int) -> float:
    lists = [pair.order(run, query, cutoff) for query in pair.qrels]
    of_query = zip(pair.qrels.values(), lists, strict=True)
    unjudged = sum(document not in judged for judged, order in of_query for document in order)
    return unjudged / sum(map(len, lists))


def unjudged(told: Told, text: str) -> None:
    pair = told.pair
    shares = re.findall(r"(\d+) % of the top (\d+) of A and (\d+) % of B", text)
    assert [int(top) for _, top, _ in shares] == [
        top for top in sorted({10, pair.cutoff}) if top <= pair.cutoff
    ] or "Judged unequally" in text
    for of_a, top, of_b in shares:
        assert shows(of_a, 100 * unjudged_share(pair, pair.a, int(top)))
        assert shows(of_b, 100 * unjudged_share(pair, pair.b, int(top)))


def judged_unequally(told: Told, text: str) -> None:
    pair = told.pair
    unjudged(told, text)
    named = matched(r".*which can bias (.*): see `judged_only=True`\.", text)[1].split(" and ")
    expected = []
    for name, top in (("ranking", 10), ("coverage", pair.cutoff)):
        of_a, of_b = (unjudged_share(pair, run, top) for run in (pair.a, pair.b))
        if top <= pair.cutoff and abs(of_a - of_b) > 0.05:
            expected.append(name)
    assert named == expected


def few_differences(told: Told, text: str) -> None:
    pair = told.pair
    found = matched(
        rf"Few differences: nothing could be significant at (?P<level>{N}) on (?P<facets>.*)\.",
        text,
    )
    level = ALPHA / len(told.family)
    if told.comparison.settings.correction == "none":
        level = ALPHA
    assert shows(found["level"], level)
    noun = "query" if pair.clusters is None else "cluster"
    expected = {}
    for name, rows in (("coverage", pair.found), ("ranking", pair.shared)):
        differing = pair.n_differing(rows)
        if not any(a != b for a, b in rows.values()):
            continue
        smallest = min(1.0, 2.0 ** (1 - differing))
        if smallest > level:
            expected[name] = (differing, smallest)
    parts = re.findall(
        rf"(coverage|ranking) with (\d+) ({noun}|{noun[:-1]}ies|{noun}s) that (differs?) \(smallest"
        rf" possible p ({N})\)",
        found["facets"],
    )
    assert {name: int(number) for name, number, *_ in parts} == {
        name: differing for name, (differing, _) in expected.items()
    }
    for name, number, _, verb, smallest in parts:
        assert shows(smallest, expected[name][1])
        assert (verb == "differs") == (int(number) == 1)


def few_queries(told: Told, text: str) -> None:
    pair = told.pair
    listing = matched(
        r"Few queries: no significant difference of (.*) says little; see the intervals\.", text
    )[1]
    counts = {"coverage": len(pair.found), "ranking": len(pair.shared)}
    pvalues = {"coverage": Pair.coverage_pvalue, "ranking": Pair.ranking_pvalue}
    for name, number in re.findall(r"(coverage|ranking) \((\d+)\)", listing):
        assert int(number) == counts[name] < 60
        assert pvalues[name](pair) > ALPHA


def sign_flips(told: Told, text: str) -> None:
    pair = told.pair
    found = matched(
        r"Ranking: the runs differ on only (?P<n>\d+) (?P<noun>query|queries|clusters?), too few"
        rf" for the t test \(p = (?P<p>{N})\); the sign-flip test decides instead\.",
        text,
    )
    assert int(found["n"]) == pair.n_differing(pair.shared) < FEW
    assert found["noun"].startswith("quer" if pair.clusters is None else "cluster")
    assert shows(found["p"], pair.t(pair.shared), within=1e-6)


def about_a_test(told: Told, text: str) -> None:
    pair = told.pair
    facet, _, what = text.partition(": ")
    rows = {"Coverage": pair.found, "Ranking": pair.shared}[facet]
    changes = [change for change in pair.sums(rows) if change]
    nothing = "so there is nothing to test"
    all_equal = matched(
        rf"(?P<none>no query is answered by one run only, {nothing})\.|(?P<nothing>there is nothing"
        rf" to test)\.|(?P<zero>all differences are zero, {nothing})\.|(?P<sums>the differences of"
        rf" each query or cluster add up to zero, {nothing})\.|(?P<single>there is a single difference, too little to test)\."
        r"|(?P<one>all differences are in one cluster, too little to test)\.|(?:all"
        r" (?P<equal>\d+) differences are equal|the mean difference is the same in all"
        r" (?P<same>\d+) clusters), so t is undefined; its p-value is that of the sign-flip test\.",
        what,
    )
    if all_equal["none"]:
        assert all(a == b for a, b in pair.found.values())
    elif all_equal["nothing"]:
        assert not rows
    elif all_equal["zero"] or all_equal["sums"]:
        assert rows
        assert not changes
    elif all_equal["single"] or all_equal["one"]:
        assert len(changes) == 1
    elif all_equal["equal"]:
        assert int(all_equal["equal"]) == len(rows)
        assert len({b - a for a, b in rows.values()}) == 1
    else:
        assert pair.clusters is not None
        means = defaultdict[str, list[Fraction]](list)
        for query, (a, b) in rows.items():
            means[pair.clusters[query]].append(b - a)
        assert int(all_equal["same"]) == len(means)
        assert len({sum(changes) / len(changes) for changes in means.values()}) == 1


def intervals(told: Told, text: str) -> None:
    pair = told.pair
    found = matched(
        r"(?P<facet>Coverage|Ranking): the interval (?P<ratio>of the ratio )?(?P<verb>excludes"
        rf"|includes) (?P<neutral>zero|1), but the test \(p = (?P<p>{N})\) decides\.",
        text,
    )
    facet = {"Coverage": told.comparison.coverage, "Ranking": told.comparison.ranking}[
        found["facet"]
    ]
    interval = told.comparison.ranking.ratio_interval if found["ratio"] else facet.interval
    assert interval is not None
    neutral = 1 if found["ratio"] else 0
    excludes = not interval.low <= neutral <= interval.high
    assert (found["verb"] == "excludes") is excludes
    pvalue = {"Coverage": Pair.coverage_pvalue, "Ranking": Pair.ranking_pvalue}[found["facet"]]
    assert shows(found["p"], pvalue(pair), within=0.01)
    assert (float(found["p"]) <= ALPHA) is not excludes


def losses(told: Told, text: str) -> None:
    """Check what cannot be ruled out, and what is excluded, by the intervals that are shown."""
    comparison = told.comparison
    coverage, ranking = comparison.coverage.interval, comparison.ranking.interval
    unit = "ranks" if told.pair.unit == "query" else "irrelevant documents above"
    possible = []
    excluded = []
    for interval, of, name, what in (
        (coverage, -1, "coverage", "points of coverage"),
        (ranking, 1, "ranking", unit),
    ):
        if interval is None:
            continue
        loss = -interval.low if of < 0 else interval.high
        if loss > 0:
            size = f"{loss:.2f}" if loss >= 0.005 else f"{loss:.1g}"
            possible.append(f"{size} {what}")
        else:
            excluded.append(name)
    expected = {
        f"A loss of up to {' and '.join(possible)} cannot be ruled out.",
        f"Any loss of {' and '.join(excluded)} is excluded at the 95 % level.",
    }
    assert text in expected


def power(told: Told, text: str) -> None:
    """Check which facets are named; how large the differences are is the subject of tests of power."""
    pair = told.pair
    no_spread = re.fullmatch(
        r"(Coverage|Ranking) has no spread, so it is not known which difference would be found\.",
        text,
    )
    if no_spread:
        rows = {"Coverage": pair.found, "Ranking": pair.shared}[no_spread[1]]
        assert len(set(pair.sums(rows))) <= 1
        return
    if text == "On coverage not even 100 percentage points would be found with 80 % power.":
        assert told.comparison.coverage.detectable is None
        return
    unit = "ranks" if pair.unit == "query" else "irrelevant documents above"
    found = matched(
        rf"Smallest true difference that would be found with 80 % power:(?: (?:about )?(?P<points>{N})"
        rf" points of coverage)?(?: and)?(?: (?:about )?(?P<size>{N}) {unit})?\.",
        text,
    )
    for shown, facet in (
        (found["points"], told.comparison.coverage),
        (found["size"], told.comparison.ranking),
    ):
        assert (shown is None) == (facet.detectable is None)
        assert shown is None or shows(shown, facet.detectable or 0.0)


def clusters(told: Told, text: str) -> None:
    pair = told.pair
    assert pair.clusters is not None
    n_clusters = len({pair.clusters[query] for query in pair.queries})
    found = matched(
        rf"{len(pair.queries)} queries in {n_clusters} clusters?, which (?:is|are) the unit of every"
        rf" test and interval(?:; for the mean over all queries they are as good as (?P<good>\d+)"
        rf" independent queries \(design effect (?P<effect>{N})\))?\. The naive tests take queries as"
        r" independent\.",
        text,
    )
    if found["effect"]:
        changes = np.array([float(b - a) for a, b in pair.restricted.values()])
        owners = [pair.clusters[query] for query in pair.restricted]
        sums = Counter[str]()
        for owner, change in zip(owners, changes - changes.mean(), strict=True):
            sums[owner] += change
        of_clusters = sum(value**2 for value in sums.values()) * n_clusters / (n_clusters - 1)
        of_queries = changes.var(ddof=1) * len(changes)
        effect = of_clusters / of_queries
        assert shows(found["effect"], effect)
        assert shows(found["good"], len(pair.queries) / effect)


def chances(told: Told, text: str) -> None:
    n = len(told.family)
    assert text == (
        f"The {n} comparisons of this call are not corrected: with no true difference at all, at"
        f" least one of them says better or worse up to about {100 * ALPHA * n:.0f} % of the time."
    )


def unanswerable(told: Told, text: str) -> None:
    n = len(told.pair.qrels) - len(told.pair.queries)
    noun, verb, left_out = ("queries", "have", "are") if n > 1 else ("query", "has", "is")
    assert text == f"{n} {noun} {verb} no relevant document at rel 1 and {left_out} left out."


def ignored(told: Told, text: str) -> None:
    pair = told.pair
    found = matched(
        r"(?P<names>.*) (?:has|have) (?P<n>\d+) quer(?:y|ies) that the qrels lack \((?P<ids>.*)\),"
        r" ignored here\.",
        text,
    )
    for name in found["names"].split(", "):
        run = {"A": pair.a, "B": pair.b}[name]
        beyond = [query for query in run if query not in pair.qrels]
        assert (int(found["n"]), found["ids"].split(", ")) == (len(beyond), beyond)


def ties(told: Told, text: str) -> None:
    pair = told.pair
    found = matched(
        r"Tied scores: in (?P<least>\d+)(?: to (?P<most>\d+))? % of the queries that (?P<names>.*)"
        r" answers?, the rule 'trec' gives the first relevant document another rank than the order"
        r" of the input; if that order is meant, pass `ties='input'`\.",
        text,
    )
    shares = []
    for name in found["names"].split(", "):
        run = {"A": pair.a, "B": pair.b}[name]
        moved_queries = []
        for query in pair.queries:
            golds = pair.golds(query)
            first = [
                next((d for d in ranked(run.get(query, {}), rule) if d in golds), None)
                for rule in ("trec", "input")
            ]
            if first[0] is None or pair.lengths(run, query).count(None) == len(golds):
                continue
            places = [
                ranked(run[query], rule).index(document)
                for rule, document in zip(("trec", "input"), first, strict=True)
                if document is not None
            ]
            moved_queries.append(places[0] != places[1])
        shares.append(sum(moved_queries) / len(moved_queries))
    assert shows(found["least"], 100 * min(shares))
    assert shows(found["most"] or found["least"], 100 * max(shares))


def dependent(told: Told, text: str) -> None:
    found = matched(
        r"Dependent queries: by their ids they seem to be in (?P<n>\d+) clusters, and tests take"
        r" queries as independent; if so, pass `clusters='by:(?P<separator>.*)'`\.",
        text,
    )
    before = {query.rpartition(found["separator"])[0] for query in told.pair.qrels}
    assert int(found["n"]) == len(before)


def unknown_documents(told: Told, text: str) -> None:
    pair = told.pair
    found = matched(
        r"Unknown documents: the qrels know no document of (.*), in any query, so nothing can be"
        r" found; are ids written as in the qrels\?",
        text,
    )
    unknown = [
        name
        for name, run in (("A", pair.a), ("B", pair.b))
        if not any(d in pair.qrels.get(query, {}) for query, own in run.items() for d in own)
    ]
    assert found[1].split(", ") == unknown


def identical(told: Told, text: str) -> None:
    pair = told.pair
    assert text == (
        "Identical runs: A and B have the same documents in the same order for every query; was the"
        " new run written?"
    )
    assert all(pair.order(pair.a, query) == pair.order(pair.b, query) for query in pair.queries)


NOTES: dict[str, Callable[[Told, str], None]] = {
    "about a test": about_a_test,
    "all queries only": all_queries_only,
    "chances": chances,
    "clusters": clusters,
    "contradiction": contradiction,
    "dependent": dependent,
    "depth": depth,
    "excluded loss": losses,
    "few differences": few_differences,
    "few large changes": contradiction,
    "few queries": few_queries,
    "guard": guard,
    "identical": identical,
    "ignored": ignored,
    "intervals": intervals,
    "judged unequally": judged_unequally,
    "many missing": missing,
    "missing": missing,
    "missing ids": missing_ids,
    "most rankings": contradiction,
    "opposite mean": opposite_mean,
    "other cutoffs": other_cutoffs,
    "possible loss": losses,
    "power": power,
    "shallow": shallow,
    "sign flips": sign_flips,
    "ties": ties,
    "unanswerable": unanswerable,
    "unconfirmed": unconfirmed,
    "unjudged": unjudged,
    "unknown documents": unknown_documents,
}


def check(told: Told, seen: Counter[str]) -> None:
    """Recompute everything that a comparison says; a kind of note without a pattern is an error."""
    seen[told.comparison.verdict.label] += 1
    sentence(told)
    for note in all_notes(told.comparison):
        seen[note.kind] += 1
        NOTES[note.kind](told, str(note))
    zero_legend(told.comparison)


def zero_legend(comparison: iro.Comparison) -> None:
    """Check that the first screen says what decides if, and only if, an interval and its p differ about zero."""
    surprising = [
        part.name
        for part in (comparison.coverage, comparison.ranking, comparison.all_queries)
        if part is not None
        and part.interval is not None
        and (part.interval.low <= 0 <= part.interval.high) == (part.pvalue <= comparison.alpha)
    ]
    shown = "where an interval and p disagree about 0, p decides" in str(comparison)
    assert shown == bool(surprising), surprising


# ---- comparisons of all kinds


# The rankings of runs of `made_up`, which are kept as long as these.
ORDERS: dict[tuple[int, str], list[str]] = {}


@cache
def made_up(seed: int, n: int, relevant_documents: int, depth: int = 25) -> tuple[Qrels, Run, Run]:
    """Two runs over 30 documents: B moves the first relevant document up or down in some queries, by the seed."""
    rng = np.random.default_rng(seed)
    documents = [f"d{place}" for place in range(30)]
    qrels: Qrels = {}
    a: Run = {}
    b: Run = {}
    for query in (f"q{number:03}" for number in range(n)):
        order = [str(document) for document in rng.permutation(documents)]
        qrels[query] = dict.fromkeys(order[:8], 0)
        for document in order[8 : 8 + int(rng.integers(1, relevant_documents + 1))]:
            qrels[query][document] = 1
        golds = relevant(qrels[query], 1)
        for run, drift in ((a, 0), (b, seed % 3 - 1)):
            if rng.random() < 0.03:
                continue
            listing = [str(d) for d in rng.permutation(documents)[: rng.integers(5, depth)]]
            first = next((d for d in listing if d in golds), None)
            if first is not None and drift and rng.random() < 0.4:
                listing.remove(first)
                listing.insert(0 if drift > 0 else len(listing), first)
            run[query] = {document: 100.0 - place for place, document in enumerate(listing)}
    return qrels, a, b


SETTINGS: tuple[Mapping[str, Any], ...] = (
    {},
    {"judged_only": True},
    {"test": "wilcoxon"},
    {"test": "signflip"},
    {"clusters": True},
)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("unit", ["query", "document"])
def test_two_runs(unit: str, settings: Mapping[str, Any]) -> None:
    seen = Counter[str]()
    for seed, n, cutoff in itertools.product(range(12), (11, 40, 120), (5, 20)):
        qrels, a, b = made_up(seed, n, 1 if unit == "query" else 4)
        given = dict(settings)
        if given.get("clusters"):
            given["clusters"] = {query: query[:-1] for query in qrels}
        result = compare_several(qrels, {"A": a}, {"B": b}, cutoff=cutoff, unit=unit, **given)
        pair = Pair(qrels, a, b, cutoff, unit, **given, orders=ORDERS)
        check(Told(result["B"], pair, [pair]), seen)
    assert {"better on coverage", "worse over all queries", "unconfirmed", "sign flips"} & set(seen)
    assert len(seen) > 15


@pytest.mark.parametrize("correction", ["holm", "none"])
@pytest.mark.parametrize("unit", ["query", "document"])
def test_several_runs(unit: str, correction: str) -> None:
    seen = Counter[str]()
    for seed, n in itertools.product(range(1, 12), (40, 120)):
        of_query = 1 if unit == "query" else 4
        qrels, a, b = made_up(seed, n, of_query)
        runs = {"B": b, "C": {query: made_up_list(b, a, query) for query in qrels}, "D": dict(a)}
        result = compare_several(qrels, {"A": a}, runs, cutoff=20, unit=unit, correction=correction)
        family = [Pair(qrels, a, run, 20, unit) for run in runs.values()]
        for comparison, pair in zip(result, family, strict=True):
            check(Told(renamed(comparison), pair, family), seen)
    assert ("chances" in seen) == (correction == "none")


def made_up_list(first: Run, second: Run, query: str) -> dict[str, float]:
    """Return the list of one of the two runs, by the query's number."""
    return (first if int(query[1:]) % 3 else second).get(query, {"d0": 1.0})


def renamed(comparison: iro.Comparison) -> iro.Comparison:
    """Call the contender B, as patterns do."""
    name = comparison.contender
    sentence = re.sub(rf"\b{name}\b", "B", comparison.verdict.sentence)
    verdict = replace(comparison.verdict, sentence=sentence)
    notes, background = (
        tuple(Note(re.sub(rf"\b{name}\b", "B", note), note.kind) for note in as_notes(of))
        for of in (comparison.notes, comparison.background)
    )
    return replace(comparison, contender="B", verdict=verdict, notes=notes, background=background)


def special() -> Iterator[tuple[str, Qrels, Run, Run, dict[str, Any]]]:
    """Yield runs that made-up ones are not: each makes a note of its own."""
    qrels, runs = tied_multiset(400)
    yield "guard", qrels, runs["first"], runs["second"], {}
    yield "guard", qrels, runs["second"], runs["first"], {}
    # Most answers move from rank 2 to 1, some from 5 to 60.
    for blocks, kind in (
        (((60, 2, 1), (20, 5, 60), (20, 3, 3)), "opposite mean"),
        (((200, 2, 1), (40, 5, 60)), "contradiction"),
        (((300, 2, 1), (30, 5, 7), (20, 3, None), (9, None, 2)), "other cutoffs"),
        (((100, 4, 4), (60, 3, 2), (8, 2, 12)), "most rankings"),
    ):
        a, b = in_blocks(*blocks)
        yield kind, qrels_of(a), run_of(a, 100), run_of(b, 100), {}
        yield kind, qrels_of(a), run_of(b, 100), run_of(a, 100), {"measures": ["RR@10"]}
    a, b = in_blocks((40, 3, 2), (9, None, 4), (2, 5, None), (30, 8, 8))
    qrels = qrels_of(a)
    yield "depth", qrels, run_of(a, 10), run_of(b, 30), {}
    yield "depth", qrels, run_of(a, 60), run_of(b, 30), {}
    yield "shallow", qrels, run_of(a, 30), run_of(b, 30), {}
    wider = {**qrels, "q7": {"gold": 0}, "q8": {"gold": 0}}
    yield "unanswerable", wider, run_of(a, 100), run_of(b, 100), {}
    beyond = {**run_of(b, 100), "x1": {"d1": 1.0}, "x2": {"d1": 1.0}}
    yield "ignored", qrels, run_of(a, 100), beyond, {}
    tied = {query: dict.fromkeys(listing, 1.0) for query, listing in run_of(a, 100).items()}
    yield "ties", qrels, tied, run_of(b, 100), {}
    other = {query: {f"x{d}": s for d, s in own.items()} for query, own in run_of(b, 100).items()}
    yield "unknown documents", qrels, run_of(a, 100), other, {}
    talks = {query: f"talk{int(query[1:]) // 4}_{query}" for query in qrels}
    first = {talks[query]: own for query, own in run_of(a).items()}
    second = {talks[query]: own for query, own in run_of(b).items()}
    yield "dependent", qrels_of(first), first, second, {}


def of_unit(unit: str) -> Iterator[tuple[str, Told]]:
    """Yield special runs by query, or by document: then there is another relevant document, which neither finds."""
    for kind, qrels, a, b, settings in special():
        if unit == "document":
            qrels = {
                query: {**judged, "elsewhere": max(judged.values())}
                for query, judged in qrels.items()
            }
        result = compare_several(qrels, {"A": a}, {"B": b}, cutoff=100, unit=unit, **settings)
        pair = Pair(qrels, a, b, 100, unit)
        yield kind, Told(result["B"], pair, [pair])


@pytest.mark.parametrize("unit", ["query", "document"])
def test_special_runs(unit: str) -> None:
    for kind, told in of_unit(unit):
        seen = Counter[str]()
        check(told, seen)
        assert kind in seen, (kind, seen)


def first_documents(run: Run, qrels: Qrels) -> Run:
    """Return the first 100 documents for these queries."""
    return {
        query: {document: run[query][document] for document in ranked(run[query], "trec")[:100]}
        for query in qrels
        if query in run
    }


@pytest.mark.realdata
@pytest.mark.parametrize("cutoff", [10, 100])
def test_real_runs(real_data: Path, cutoff: int) -> None:
    folder = real_data / "known-item"
    every = iro.read_qrels(folder / "qrels.txt").to_dict()
    qrels = {query: every[query] for query in list(every)[:200]}
    runs = {
        name: first_documents(iro.read_run(folder / f"{name}.run.gz").to_dict(), qrels)
        for name in ("bm25", "bm25-stem", "rrf-stem-lsa", "bm25-flat", "chargram")
    }
    seen = Counter[str]()
    for a, b in itertools.permutations(runs, 2):
        result = compare_several(qrels, {"A": runs[a]}, {"B": runs[b]}, cutoff=cutoff, unit="query")
        pair = Pair(qrels, runs[a], runs[b], cutoff, "query")
        check(Told(result["B"], pair, [pair]), seen)
    assert "other cutoffs" in seen
    assert len(seen) > 6
