"""A comparison in words: the sentence of its verdict, and the notes that keep a reader from misreading it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ir_outcomes.comparison.facets import POWER, CoverageFacet, Facet, RankingFacet
from ir_outcomes.comparison.outcomes import PairedQueries
from ir_outcomes.evaluation.evaluation import UNEVEN_JUDGING, notes_on_queries, unjudged_share
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.formatting import listed, plural, pvalue, pvalue_in_words
from ir_outcomes.statistics import design_effect, differences, mean_test, wilcoxon
from ir_outcomes.statistics.corrections import smallest_pvalue
from ir_outcomes.statistics.counts import FEW

if TYPE_CHECKING:
    from ir_outcomes.comparison.result import Comparison

__all__ = ["notes_on_input", "notes_on_verdict", "ranked", "sentence"]

FEW_QUERIES = 60
_ABOUT = {"wilcoxon": "signed ranks"}  # what a test of ranking is about, where that is not the mean

_OPENINGS = {
    "better on both facets": "{contender} is better than {baseline} on both facets",
    "better without harm": "{contender} is better than {baseline} without significant harm",
    "worse on both facets": "{contender} is worse than {baseline} on both facets",
    "worse without gain": "{contender} is worse than {baseline} without significant gain",
    "coverage gain, unconfirmed": "{contender} gains on coverage over {baseline}, not confirmed over all queries",
    "ranking gain, unconfirmed": "{contender} gains on ranking over {baseline}, not confirmed over all queries",
    "coverage loss, unconfirmed": "{contender} loses on coverage to {baseline}, not confirmed over all queries",
    "ranking loss, unconfirmed": "{contender} loses on ranking to {baseline}, not confirmed over all queries",
    "trade-off": "{contender} against {baseline} is a trade-off",
    "no significant difference": "There is no significant difference between {contender} and {baseline}",
}


def sentence(label: str, pair: PairedQueries, unit: str, coverage: CoverageFacet, ranking: RankingFacet) -> str:
    """Say the verdict with its numbers."""
    opening = _OPENINGS[label].format(contender=pair.contender, baseline=pair.baseline)
    return f"{opening}: {pair.contender} {_coverage(coverage, pair, unit)}, and {_ranking(ranking, unit)}."


def notes_on_input(baseline: SearchLengths, contender: SearchLengths) -> Iterator[str]:
    """Yield what a careful reader must know about the runs."""
    yield from notes_on_queries((baseline, contender))
    yield from _about_depth(baseline, contender)
    yield from _about_judgments(baseline, contender)


# Notes that change how the label is read begin with one of these headlines, in the order in which they are shown. All other
# notes are background.
HEADLINES = (
    "The guard acted",
    "The mean over all queries goes the other way",
    "Not confirmed on all queries",
    "Another direction at other cutoffs",
    "Tests of ranking contradict each other",
    "A few queries with large changes decide on ranking",
    "Most queries change, the mean does not",
    "The baseline was chosen on these queries",
    "Missing queries",
    "Unequal depth",
    "Judged unequally",
    "Tied scores",
    "The label depends on few judgments",
    "Few differences",
    "Few queries",
    "Dependent queries",
    "Harm is not excluded",
)


def ranked(notes: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Divide notes into those that change how the label is read, the most important first, and the background."""
    places = {headline: place for place, headline in enumerate(HEADLINES)}
    distinct = list(dict.fromkeys(notes))
    first = [note for note in distinct if note.partition(":")[0] in places]
    first.sort(key=lambda note: places[note.partition(":")[0]])
    return tuple(first), tuple(note for note in distinct if note not in first)


def notes_on_verdict(comparison: Comparison, pair: PairedQueries) -> Iterator[str]:
    """Yield what a careful reader must know about the verdict."""
    yield from _about_guard(comparison)
    yield from _about_naive_mean(comparison)
    yield from _about_confirmation(comparison, pair)
    yield from _about_cutoffs(comparison)
    coverage, ranking = comparison.coverage, comparison.ranking
    for facet in (coverage, ranking):
        yield from _about_tests(facet)
    yield from _about_few_queries(comparison)
    yield from _about_disagreement(ranking)
    for facet in (coverage, ranking):
        yield from _about_interval(facet)
    yield from _about_harm(comparison)
    yield from _about_power(comparison)
    yield from _about_clusters(comparison, pair)
    yield from _about_chances(comparison)


def _coverage(facet: CoverageFacet, pair: PairedQueries, unit: str) -> str:
    items = "queries" if unit == "query" else "relevant documents"
    verb = "answers" if unit == "query" else "finds"
    if facet.difference is None:
        return f"{verb} nothing that can be compared"
    how_many = "as many"
    if facet.difference:
        how_many = f"{_size(facet.difference, 2)} percentage points {'more' if facet.difference > 0 else 'fewer'}"
    return f"{verb} {how_many} of the {items} (won {pair.outcomes.won}, lost {pair.outcomes.lost}; {_test(facet)})"


def _size(difference: float, places: int) -> str:
    """Write the size of a difference that is not 0, so that it does not read like 0."""
    return f"{abs(difference):.{places}f}" if abs(difference) >= 0.5 * 10.0**-places else f"{abs(difference):.1g}"


def _test(facet: Facet) -> str:
    text = f"{facet.decides.method}, {pvalue_in_words(facet.pvalue)}"
    if facet.corrected == facet.pvalue:
        return text
    return f"{text}, corrected {pvalue(facet.corrected)}"


def _ranking(facet: RankingFacet, unit: str) -> str:
    if facet.difference is None or facet.baseline is None or facet.contender is None:
        return "nothing is found by both runs, so their rankings cannot be compared"
    n, different = plural("query", facet.n), f"{facet.n_nonzero} of which differ"
    if facet.measured_in != "ranks":
        where, places, words = f"on the {n} where both are above zero", 4, ("higher", "lower")
        what = facet.measured_in
    else:
        what, places, words = "the search", 2, ("longer", "shorter")
        where = f"on the {n} that both answer" if unit == "query" else f"on what both find, on {n}"
    means = f"{facet.baseline:.{places}f} to {facet.contender:.{places}f}"
    where = f"{where} ({different})"
    return f"{where} {what} {_change(facet, places, words)} (means {means}; {_test(facet)})"


def _change(facet: RankingFacet, places: int, words: tuple[str, str]) -> str:
    """Say the estimate of the test that decides: its direction is that of the verdict."""
    unit = " ranks" if facet.measured_in == "ranks" else ""
    direction = facet.decides.direction
    about = facet.test if facet.test.endswith("()") else _ABOUT.get(facet.test)
    if about is not None:
        if direction == 0:
            return f"is neither {words[0]} nor {words[1]} by {about}"
        return f"is {words[0] if direction > 0 else words[1]} by {about}"
    if not facet.difference:
        return "is the same on average"
    return f"is {_size(facet.difference, places)}{unit} {words[0] if facet.difference > 0 else words[1]}"


def _about_guard(comparison: Comparison) -> Iterator[str]:
    restricted = comparison.restricted
    if restricted is None or not comparison.verdict.guard:
        return
    says, against = ("better", "longer") if comparison.verdict.do_no_harm == "better" else ("worse", "shorter")
    outcomes = comparison.outcomes
    where = f"median ranks: lost {_rank(outcomes.lost_at)}, won {_rank(outcomes.won_at)}"
    tests = (
        ("the search over all queries", restricted.difference, restricted.test),
        ("what was won and lost by itself", restricted.won_and_lost, restricted.won_and_lost_test),
    )
    sign = 1 if says == "better" else -1
    found = [
        f"{what} makes it {abs(difference):.2f} ranks {against} ({pvalue_in_words(test.pvalue)})"
        for what, difference, test in tests
        if test.pvalue <= comparison.alpha and test.direction == sign
    ]
    yield (
        f'The guard acted: the facets alone say "{says}", but {listed(found)}, counting {restricted.horizon + 1} where nothing '
        f"is found ({where}); so the label is trade-off."
    )


def _rank(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _about_naive_mean(comparison: Comparison) -> Iterator[str]:
    naive, t = comparison.naive, comparison.naive.tests["t"]
    says = {"better": 1, "worse": -1, "none": 0}[comparison.verdict.direction]
    is_opposite = says * t.direction * (1 if naive.higher_is_better else -1) < 0
    if not is_opposite or t.pvalue > comparison.alpha or naive.baseline is None or naive.contender is None:
        return
    measure = "MRR" if comparison.reciprocal is not None else "the mean"
    yield (
        f"The mean over all queries goes the other way: {measure} {naive.baseline:.4f} to {naive.contender:.4f} (t, "
        f"{pvalue_in_words(t.pvalue)}). It mixes both facets and weighs the first ranks most; the label does not depend on it."
    )


def _about_confirmation(comparison: Comparison, pair: PairedQueries) -> Iterator[str]:
    """Say that all queries do not confirm the one facet that changed, or that nothing can."""
    changed, is_unconfirmed, _ = comparison.verdict.label.partition(", unconfirmed")
    if pair.all_queries is None and pair.measure is None:
        opening = "Not confirmed on all queries: without" if is_unconfirmed else "Without"
        yield (
            f"{opening} a cutoff the search lengths over all queries are not known: they could not confirm "
            f"{f'the {changed}' if is_unconfirmed else 'a direction'}, or show that early answers were lost and late ones won."
        )
    elif pair.all_queries is None and is_unconfirmed:
        yield (
            f"Not confirmed on all queries: {pair.measure} is 0, its best value, where nothing is found, so its mean over all "
            f"queries cannot confirm the {changed}."
        )
    elif pair.all_queries is not None and is_unconfirmed:
        change = differences(*pair.all_queries)
        places, unit, words = (4, "", ("higher", "lower")) if pair.measure else (2, " ranks", ("longer", "shorter"))
        mean = float(change.mean())
        seen = f"{_size(mean, places)}{unit} {words[0] if mean > 0 else words[1]}" if mean else "the same on average"
        tests = mean_test(change, clusters=pair.clusters), wilcoxon(change, pair.clusters)
        pvalues = "; ".join(f"{test.method}, {pvalue_in_words(test.pvalue)}" for test in tests)
        yield (
            f"Not confirmed on all queries: there {pair.measure or 'the search'} is {seen} ({pvalues}), so the {changed} gives "
            "no direction."
        )


def _about_cutoffs(comparison: Comparison) -> Iterator[str]:
    """Say where the label has another direction; other words for the same direction are no news."""
    if all(at.direction == comparison.verdict.direction for at in comparison.cutoffs):
        return
    where: dict[str, list[str]] = {at.label: [] for at in comparison.cutoffs if at.cutoff == comparison.cutoff}
    for at in comparison.cutoffs:
        where.setdefault(at.label, []).append(str(at.cutoff))
    if len(where) > 1:
        _, *others = where.items()
        rest = "; ".join(f"{label} at {listed(cutoffs)}" for label, cutoffs in others)
        yield f"Another direction at other cutoffs: {rest}."


def _about_depth(baseline: SearchLengths, contender: SearchLengths) -> Iterator[str]:
    cutoff, depths = baseline.cutoff or 0, [baseline.depth, contender.depth]
    if min(depths) >= cutoff:
        return
    unequal = (
        f"Over all queries what is not found counts as rank {min(cutoff, max(depths)) + 1}, behind the deeper run, "
        "which can withhold the confirmation of a gain."
    )
    if depths[0] == depths[1]:
        if not baseline.judged_only:  # what remains is as deep as the judgments go
            yield f"No run is deeper than {depths[0]}: the cutoff {cutoff} is in effect {depths[0]}."
    elif baseline.judged_only:
        yield (
            f"Unequal depth: without unjudged documents {baseline.name} has at most {plural('document', depths[0])}, "
            f"{contender.name} {depths[1]}. {unequal}"
        )
    else:
        yield (
            f"Unequal depth: {baseline.name} returns at most {plural('document', depths[0])}, {contender.name} {depths[1]}; "
            f"compare with cutoff={max(min(depths), 1)}, which both reach. {unequal}"
        )


def _about_judgments(baseline: SearchLengths, contender: SearchLengths) -> Iterator[str]:
    if baseline.judged_only:
        return
    cutoff = baseline.cutoff
    parts: list[str] = []
    biased: dict[str, str] = {}  # the facet, and what says so
    for depth, facet in ((10, "ranking"), (cutoff, "coverage")):
        if depth is None or (cutoff is not None and depth > cutoff):
            continue
        shares = [unjudged_share(run, depth) for run in (baseline, contender)]
        if shares[0] is None or shares[1] is None:
            continue
        parts.append(f"{shares[0]:.0%} of the top {depth} of {baseline.name} and {shares[1]:.0%} of {contender.name}")
        if abs(shares[0] - shares[1]) > UNEVEN_JUDGING:
            biased[facet] = parts[-1]
    if not parts:
        return
    if biased:
        yield (
            f"Judged unequally: {next(iter(biased.values()))} are unjudged, which can bias {listed(list(biased))}; compare "
            "with judged_only=True too."
        )
    yield f"Unjudged documents: {'; '.join(dict.fromkeys(parts))}."


def _about_tests(facet: Facet) -> Iterator[str]:
    tests = (facet.tests[name] for name in dict.fromkeys((facet.test, "t")) if name in facet.tests)
    for note in dict.fromkeys(test.note for test in tests if test.note):
        yield f"{facet.name.capitalize()}: {note}."


def _about_few_queries(comparison: Comparison) -> Iterator[str]:
    """Say where a difference can be missed because few queries differ, or there are few queries."""
    # What tests rest on: clusters, where queries come in clusters.
    noun = "query" if comparison.settings.n_clusters is None else "cluster"
    coverage, ranking = comparison.coverage, comparison.ranking
    few = [(facet, facet.decides.n_nonzero) for facet in (coverage, ranking) if facet.n_nonzero]
    impossible = [
        f"{facet.name} with {plural(noun, differing)} that {'differs' if differing == 1 else 'differ'} "
        f"(smallest possible p {smallest_pvalue(differing):.2g})"
        for facet, differing in few
        if smallest_pvalue(differing) > facet.detectable_level
    ]
    if impossible:
        yield f"Few differences: nothing could be significant at {coverage.detectable_level:.2g} on {listed(impossible)}."
    differing = ranking.decides.n_nonzero
    if ranking.test == ranking.mean_test == "signflip" and differing:
        number = f"only {plural(noun, differing)}" if differing < FEW else f"{differing} clusters of very unequal size"
        yield (
            f"Ranking: the runs differ on {number}, too few for the t test "
            f"({pvalue_in_words(ranking.tests['t'].pvalue)}); the sign-flip test decides instead."
        )
    missed = [facet for facet, _ in few if facet.n < FEW_QUERIES and facet.pvalue > facet.alpha]
    if missed and not impossible:
        counts = listed([f"{facet.name} on {plural('query', facet.n)}" for facet in missed])
        yield f"Few queries: no significant difference of {counts} says little; look at the intervals."


def _about_disagreement(ranking: RankingFacet) -> Iterator[str]:
    """Say that the tests of the mean and of the signed ranks see different things; without a significant one it is no news."""
    mean, wilcoxon = ranking.tests[ranking.mean_test], ranking.tests["wilcoxon"]
    by_mean, by_ranks = (test.pvalue <= ranking.alpha and test.direction != 0 for test in (mean, wilcoxon))
    shown = f"{mean.name} {pvalue_in_words(mean.pvalue)}, Wilcoxon {pvalue_in_words(wilcoxon.pvalue)}"
    if by_mean and by_ranks and mean.direction != wilcoxon.direction:
        yield (
            f"Tests of ranking contradict each other: most queries change in one direction, the mean in the other ({shown}); "
            "a few queries with large changes do this."
        )
    elif by_mean and not by_ranks:
        yield f"A few queries with large changes decide on ranking: {shown}."
    elif by_ranks and not by_mean and ranking.mean_test == "t":
        yield f"Most queries change, the mean does not: {shown} on ranking; a few queries with large changes hide it."


def _about_interval(facet: Facet) -> Iterator[str]:
    name = facet.name.capitalize()
    ratio = facet.ratio_interval if isinstance(facet, RankingFacet) else None
    for what, interval, neutral, written in (("interval", facet.interval, 0, "zero"), ("interval of the ratio", ratio, 1, "1")):
        if interval is None:
            continue
        excludes = interval.low > neutral or interval.high < neutral
        if excludes != (facet.pvalue <= facet.alpha):
            verb = "excludes" if excludes else "includes"
            yield f"{name}: the {what} {verb} {written}, but the test ({pvalue_in_words(facet.pvalue)}) decides."


def _about_harm(comparison: Comparison) -> Iterator[str]:
    """Say which losses the intervals leave possible; where the label claims no harm, that changes how it is read."""
    losses, excluded = [], []
    for facet in (comparison.coverage, comparison.ranking):
        unit, places = _unit_of(facet)
        if facet.worst_case is not None:
            loss = facet.worst_case * (-1 if facet.higher_is_better else 1)
            if loss > 0:
                losses.append(f"{_size(loss, places)} {unit}")
            else:
                excluded.append(facet.name)
    if losses and comparison.verdict.label in ("better without harm", "no significant difference"):
        yield f"Harm is not excluded: a loss of up to {listed(losses)} is possible."
    elif losses:
        yield f"A loss of up to {listed(losses)} cannot be ruled out."
    if excluded:
        yield f"Any loss of {listed(excluded)} is excluded at the {1 - comparison.alpha:.0%} level."


def _about_power(comparison: Comparison) -> Iterator[str]:
    """Say how small a difference would be found."""
    coverage, ranking = comparison.coverage, comparison.ranking
    sizes = []
    for facet in (coverage, ranking):
        if facet.detectable is not None:
            size = comparison.settings.n_clusters or facet.n
            is_exact = size >= 200 and facet.decides.n_nonzero >= FEW and facet.test in ("t", "exact")
            sizes.append(f"{'' if is_exact else 'about '}{facet.detectable:.2f} {_unit_of(facet)[0]}")
    if sizes:
        yield f"Smallest true difference that would be found with {POWER:.0%} power: {listed(sizes)}."
    for facet in (coverage, ranking):
        if facet.detectable is not None:
            continue
        if facet is coverage and (coverage.won is not None or coverage.deviation):
            yield f"On coverage not even 100 percentage points would be found with {POWER:.0%} power."
        elif facet.deviation == 0:
            yield f"{facet.name.capitalize()} has no spread, so it is not known which difference would be found."


def _unit_of(facet: Facet) -> tuple[str, int]:
    """Return the unit of a facet in words, and the decimal places of its differences."""
    if facet.measured_in == "percentage points":
        return "points of coverage", 2
    return ("ranks", 2) if facet.measured_in == "ranks" else (f"of {facet.measured_in}", 4)


def _about_clusters(comparison: Comparison, pair: PairedQueries) -> Iterator[str]:
    if pair.clusters is None:
        return
    n, n_clusters = len(pair.query_ids), len(np.unique(pair.clusters))
    note = f"{plural('query', n)} in {plural('cluster', n_clusters)}, which are the unit of every test and interval"
    changes = pair.all_queries or (pair.found_baseline, pair.found_contender)
    effect = design_effect(differences(*changes), pair.clusters)
    if effect:
        independent = f"{n / effect:.0f} independent queries (design effect {effect:.2f})"
        note += f"; for the mean over all queries they are as good as {independent}"
    yield f"{note}. The naive tests take queries as independent."


def _about_chances(comparison: Comparison) -> Iterator[str]:
    """Say how often some label says better or worse where several comparisons are not corrected."""
    settings = comparison.settings
    if settings.family > 1 and settings.correction == "none" and comparison.verdict.direction != "none":
        at_least_once = min(1.0, settings.alpha * settings.family)
        yield (
            f"The {settings.family} comparisons of this call are not corrected: with no true difference at all, at least one "
            f"of them says better or worse up to about {at_least_once:.0%} of the time."
        )
