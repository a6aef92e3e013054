"""A comparison in words: the sentence of its verdict, and the notes that keep a reader from misreading it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ir_outcomes.comparison.facets import POWER, CoverageFacet, Facet, RankingFacet
from ir_outcomes.comparison.outcomes import PairedQueries
from ir_outcomes.evaluation.evaluation import UNEVEN_JUDGING, notes_on_queries, unjudged_share
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.formatting import listed, plural, pvalue, pvalue_in_words
from ir_outcomes.statistics import design_effect, differences, mean_test, wilcoxon
from ir_outcomes.statistics.corrections import smallest_pvalue
from ir_outcomes.statistics.tests import FEW

if TYPE_CHECKING:
    from ir_outcomes.comparison.result import Comparison

__all__ = ["notes_on_input", "notes_on_verdict", "sentence"]

FEW_QUERIES = 60

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


def notes_on_verdict(comparison: Comparison, pair: PairedQueries) -> tuple[list[str], list[str]]:
    """Return the notes that a reader must see first, and the others."""
    first = [
        *_about_guard(comparison),
        *_about_naive_mean(comparison),
        *_about_confirmation(comparison, pair),
        *_about_cutoffs(comparison),
    ]
    coverage, ranking = comparison.coverage, comparison.ranking
    later: list[str] = []
    for facet in (coverage, ranking):
        later += [*_about_tests(facet), *_about_few_queries(facet, comparison.settings.n_clusters)]
    later += [*_about_within_facet(comparison), *_about_disagreement(ranking)]
    for facet in (coverage, ranking):
        later += _about_interval(facet)
    later += [*_about_certainty(comparison), *_about_clusters(comparison, pair), *_about_chances(comparison)]
    return first, later


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
    if facet.test == "wilcoxon":
        if direction == 0:
            return "is neither longer nor shorter on most queries" if unit else "is the same on most queries"
        return f"is {words[0] if direction > 0 else words[1]} by signed ranks"
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
        f'The facets alone say "{says}", but {listed(found)}, counting {restricted.horizon + 1} where nothing is found '
        f"({where}); so the label is trade-off."
    )


def _rank(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _about_naive_mean(comparison: Comparison) -> Iterator[str]:
    naive, t = comparison.naive, comparison.naive.tests["t"]
    says = {"better": 1, "worse": -1, "none": 0}[comparison.verdict.direction]
    is_opposite = says * t.direction * (1 if naive.higher_is_better else -1) < 0
    if not is_opposite or t.pvalue > comparison.alpha or naive.baseline is None or naive.contender is None:
        return
    measure = "Mean reciprocal rank" if comparison.reciprocal is not None else "The mean"
    yield (
        f"{measure} over all queries goes the other way: {naive.baseline:.4f} to {naive.contender:.4f} (t, "
        f"{pvalue_in_words(t.pvalue)}). It mixes both facets and weighs the first ranks most; the label "
        "does not depend on it."
    )


def _about_confirmation(comparison: Comparison, pair: PairedQueries) -> Iterator[str]:
    """Say that all queries do not confirm the one facet that changed, or that nothing can."""
    changed, is_unconfirmed, _ = comparison.verdict.label.partition(", unconfirmed")
    if pair.all_queries is None and pair.measure is None:
        yield (
            "Without a cutoff the search lengths over all queries are not known: they could not confirm "
            f"{f'the {changed}' if is_unconfirmed else 'a direction'}, or show that early answers were lost and late ones won."
        )
    elif pair.all_queries is None and is_unconfirmed:
        yield (
            f"{pair.measure} is 0, its best value, where nothing is found, so its mean over all queries cannot confirm the "
            f"{changed}."
        )
    elif pair.all_queries is not None and is_unconfirmed:
        change = differences(*pair.all_queries)
        places, unit, words = (4, "", ("higher", "lower")) if pair.measure else (2, " ranks", ("longer", "shorter"))
        mean = float(change.mean())
        seen = f"{_size(mean, places)}{unit} {words[0] if mean > 0 else words[1]}" if mean else "the same on average"
        tests = mean_test(change, clusters=pair.clusters), wilcoxon(change, pair.clusters)
        pvalues = "; ".join(f"{test.method}, {pvalue_in_words(test.pvalue)}" for test in tests)
        yield (
            f"The {changed} is not confirmed: over all queries {pair.measure or 'the search'} is {seen} ({pvalues}), so the "
            "label has no direction."
        )


def _about_cutoffs(comparison: Comparison) -> Iterator[str]:
    """Say where the label has another direction; other words for the same direction are no news."""
    if all(at.direction == comparison.verdict.direction for at in comparison.cutoffs):
        return
    where: dict[str, list[str]] = {at.label: [] for at in comparison.cutoffs if at.cutoff == comparison.cutoff}
    for at in comparison.cutoffs:
        where.setdefault(at.label, []).append(str(at.cutoff))
    if len(where) > 1:
        (shown, own), *others = where.items()
        only = " only" if len(own) == 1 else ""
        rest = "; ".join(f'at {listed(cutoffs)} "{label}"' for label, cutoffs in others)
        yield f'The label depends on the cutoff: "{shown}" at {listed(own)}{only}; {rest}.'


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
            f"Without unjudged documents {baseline.name} has at most {plural('document', depths[0])}, {contender.name} "
            f"{depths[1]}. {unequal}"
        )
    else:
        yield (
            f"Coverage is compared at unequal depth: {baseline.name} returns at most {plural('document', depths[0])}, "
            f"{contender.name} {depths[1]}; compare at cutoff {max(min(depths), 1)}, which both reach. {unequal}"
        )


def _about_judgments(baseline: SearchLengths, contender: SearchLengths) -> Iterator[str]:
    if baseline.judged_only:
        return
    cutoff = baseline.cutoff
    parts: list[str] = []
    biased: list[str] = []
    for depth, facet in ((10, "ranking"), (cutoff, "coverage")):
        if depth is None or (cutoff is not None and depth > cutoff):
            continue
        shares = [unjudged_share(run, depth) for run in (baseline, contender)]
        if shares[0] is None or shares[1] is None:
            continue
        parts.append(f"{shares[0]:.0%} of the top {depth} of {baseline.name} and {shares[1]:.0%} of {contender.name}")
        if abs(shares[0] - shares[1]) > UNEVEN_JUDGING:
            biased.append(facet)
    if not parts:
        return
    note = f"Unjudged documents: {'; '.join(dict.fromkeys(parts))}."
    if biased:
        note += (
            f" They count as not relevant, which can bias {listed(biased)} against the run that has more of them; "
            "compare with judged_only=True too."
        )
    yield note


def _about_tests(facet: Facet) -> Iterator[str]:
    tests = (facet.tests[name] for name in dict.fromkeys((facet.test, "t")) if name in facet.tests)
    for note in dict.fromkeys(test.note for test in tests if test.note):
        yield f"{facet.name.capitalize()}: {note}."


def _about_few_queries(facet: Facet, clusters: int | None) -> Iterator[str]:
    # What tests rest on: clusters, where queries come in clusters.
    name, differing = facet.name.capitalize(), facet.decides.n_nonzero
    noun = "query" if clusters is None else "cluster"
    if 0 < facet.n < FEW_QUERIES:
        yield f'{name} rests on {plural("query", facet.n)}: "not significantly worse" says little, look at the interval.'
    if isinstance(facet, RankingFacet) and facet.test == "signflip" and "t" in facet.tests and 0 < differing < FEW:
        yield (
            f"{name}: the runs differ on only {plural(noun, differing)}, too few for the t test "
            f"({pvalue_in_words(facet.tests['t'].pvalue)}); the sign-flip test decides instead."
        )
    smallest = smallest_pvalue(differing)
    if differing and smallest > facet.detectable_level:
        yield (
            f"{name}: with {plural(noun, differing)} that {'differs' if differing == 1 else 'differ'}, the smallest "
            f"possible p-value is {smallest:.2g}; no result could be significant at {facet.detectable_level:.2g}."
        )


def _about_within_facet(comparison: Comparison) -> Iterator[str]:
    """Say that one facet by itself is a trade-off, where two of its tests are significant in opposite directions."""
    ranking = comparison.ranking
    mean = ranking.tests["signflip" if ranking.tests["sign"].n_nonzero < FEW else "t"]
    tests = (ranking.decides, mean, ranking.tests["wilcoxon"])
    significant = {test.direction for test in tests if test.pvalue <= ranking.alpha and test.direction}
    if len(significant) == 2:
        yield (
            "Ranking contradicts itself: most queries change in one direction and the mean in the other, both significantly. "
            "A few queries with large changes do this; list them with per_query."
        )


def _about_disagreement(ranking: RankingFacet) -> Iterator[str]:
    t, wilcoxon = ranking.tests["t"], ranking.tests["wilcoxon"]
    if ranking.tests["sign"].n_nonzero < FEW:  # t neither decides nor vetoes there
        return
    disagree = (t.pvalue <= ranking.alpha) != (wilcoxon.pvalue <= ranking.alpha)
    opposite = t.direction * wilcoxon.direction < 0
    if disagree or opposite:
        how = "point in opposite directions" if opposite else "disagree"
        yield (
            f"Ranking: the t test ({pvalue_in_words(t.pvalue)}, of the mean) and the Wilcoxon test "
            f"({pvalue_in_words(wilcoxon.pvalue)}, of signed ranks) {how}; a few queries with large changes dominate the mean."
        )


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


def _about_certainty(comparison: Comparison) -> Iterator[str]:
    coverage, ranking = comparison.coverage, comparison.ranking
    losses, excluded, sizes = [], [], []
    for facet in (coverage, ranking):
        unit, places = _unit_of(facet)
        if facet.worst_case is not None:
            loss = facet.worst_case * (-1 if facet.higher_is_better else 1)
            if loss > 0:
                losses.append(f"up to {_size(loss, places)} {unit}")
            else:
                excluded.append(facet.name)
        if facet.detectable is not None:
            size = comparison.settings.n_clusters or facet.n
            is_exact = size >= 200 and facet.decides.n_nonzero >= FEW and facet.test in ("t", "exact")
            sizes.append(f"{'' if is_exact else 'about '}{facet.detectable:.2f} {unit}")
    found = [f"do not exclude a loss of {listed(losses)}"] if losses else []
    found += [f"exclude any loss of {listed(excluded)}"] if excluded else []
    if found:
        yield f"At the {1 - coverage.alpha:.0%} level, these data {', but '.join(found)}."
    notes = [f"Smallest true difference that would be found with {POWER:.0%} power: {listed(sizes)}."] if sizes else []
    for facet in (coverage, ranking):
        if facet.detectable is not None:
            continue
        if facet is coverage and (coverage.won is not None or coverage.deviation):
            notes.append(f"On coverage not even 100 percentage points would be found with {POWER:.0%} power.")
        elif facet.deviation == 0:
            notes.append(f"{facet.name.capitalize()} has no spread, so it is not known which difference would be found.")
    yield " ".join(notes)


def _unit_of(facet: Facet) -> tuple[str, int]:
    """Return the unit of a facet in words, and the decimal places of its differences."""
    if facet.measured_in == "percentage points":
        return "percentage points of coverage", 2
    return ("ranks of search length", 2) if facet.measured_in == "ranks" else (f"of {facet.measured_in}", 4)


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
