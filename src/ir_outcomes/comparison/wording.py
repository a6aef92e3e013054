"""A comparison in plain words: the sentence of its verdict, and the notes that keep a reader from misreading it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ir_outcomes.comparison.facets import POWER, Facet
from ir_outcomes.comparison.outcomes import Outcomes
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.notes import notes_on_queries

FEW_QUERIES = 60
UNEVEN_JUDGING = 0.05

_OPENINGS = {
    "better on both facets": "{contender} is better than {baseline} on both facets",
    "better without harm": "{contender} is better than {baseline} without significant harm",
    "worse on both facets": "{contender} is worse than {baseline} on both facets",
    "worse without gain": "{contender} is worse than {baseline} without significant gain",
    "trade-off": "{contender} against {baseline} is a trade-off",
    "no significant difference": "There is no significant difference between {contender} and {baseline}",
}


def pvalue_text(pvalue: float) -> str:
    """Write a p-value for a sentence.

    Examples
    --------
    >>> pvalue_text(0.0312), pvalue_text(3e-9)
    ('p = 0.031', 'p = 3e-09')
    """
    return f"p = {pvalue:.2g}" if pvalue < 0.001 else f"p = {pvalue:.3f}"


def sentence(label: str, baseline: str, contender: str, unit: str, outcomes: Outcomes, coverage: Facet, ranking: Facet) -> str:
    """Say the verdict with its numbers."""
    opening = _OPENINGS[label].format(contender=contender, baseline=baseline)
    return f"{opening}: it {_coverage(coverage, outcomes, unit)}, and {_ranking(ranking, unit)}."


ENOUGH_FOR_BOOTSTRAP = 200  # queries; benchmarks/simulate_errors.py


def notes_on_input(baseline: SearchLengths, contender: SearchLengths) -> Iterator[str]:
    """Yield what a careful reader must know of the runs."""
    yield from notes_on_queries((baseline, contender))
    yield from _about_depth(baseline, contender)
    yield from _about_judgments(baseline, contender)


def notes_on_facets(coverage: Facet, ranking: Facet, label: str) -> Iterator[str]:
    """Yield what a careful reader must know of the tests, and of what the verdict does not say."""
    for facet in (coverage, ranking):
        yield from _about_tests(facet)
    yield from _about_disagreement(ranking)
    for facet in (coverage, ranking):
        yield from _about_interval(facet)
    if ranking.ratio_interval is not None and ranking.n < ENOUGH_FOR_BOOTSTRAP:
        yield (
            f"The bootstrap interval of the ratio of search lengths is too narrow on {ranking.n} queries: one of 95% covers "
            "about 88% at 20 queries and 93% at 200."
        )
    yield from _about_certainty(coverage, ranking, label)


def _coverage(facet: Facet, outcomes: Outcomes, unit: str) -> str:
    what = "of the queries" if unit == "query" else "of the relevant documents"
    verb = "answers" if unit == "query" else "finds"
    if facet.difference is None:
        return f"{verb} nothing that can be compared"
    test = _test(facet)
    split = f"won {outcomes.won}, lost {outcomes.lost}"
    if facet.difference == 0:
        return f"{verb} as many {what} ({split}; {test})"
    more = "more" if facet.difference > 0 else "fewer"
    return f"{verb} {abs(facet.difference):.2f} percentage points {more} {what} ({split}; {test})"


def _test(facet: Facet) -> str:
    text = f"{facet.decides.method}, {pvalue_text(facet.pvalue)}"
    if facet.pvalue_corrected == facet.pvalue:
        return text
    return f"{text}, corrected {pvalue_text(facet.pvalue_corrected).removeprefix('p = ')}"


def _ranking(facet: Facet, unit: str) -> str:
    if facet.difference is None or facet.baseline is None or facet.contender is None:
        return "nothing is found by both runs, so their rankings cannot be compared"
    where = f"on the {facet.n} queries that both answer" if unit == "query" else "on the relevant documents that both find"
    test = _test(facet)
    lengths = f"{facet.baseline:.2f} to {facet.contender:.2f}"
    if facet.difference == 0:
        return f"{where} the search length is the same ({lengths}; {test})"
    if facet.measured_in != "ranks":
        change = "higher" if facet.difference > 0 else "lower"
        lengths = f"{facet.baseline:.4f} to {facet.contender:.4f}"
        return (
            f"on the {facet.n} queries where both are above zero {facet.measured_in} is {abs(facet.difference):.4f} {change} "
            f"({lengths}; {test})"
        )
    change = "longer" if facet.difference > 0 else "shorter"
    return f"{where} the search is {abs(facet.difference):.2f} ranks {change} ({lengths}; {test})"


def _about_depth(baseline: SearchLengths, contender: SearchLengths) -> Iterator[str]:
    if baseline.judged_only:  # what is left is as deep as the judgments go
        return
    cutoff = baseline.cutoff or 0
    depths = [int(run.retrieved.max(initial=0)) for run in (baseline, contender)]
    if depths[0] == depths[1] < cutoff:
        yield f"No run is deeper than {depths[0]}: the cutoff {cutoff} is in effect {depths[0]}."
    elif min(depths) < cutoff:
        yield (
            f"Coverage is compared at unequal depth: {baseline.name} returns at most {depths[0]} documents, {contender.name} "
            f"{depths[1]}; compare at cutoff {min(depths)} to put both on one footing."
        )


def _about_judgments(baseline: SearchLengths, contender: SearchLengths) -> Iterator[str]:
    if baseline.judged_only:
        return
    tops = [
        _share(run.unjudged_within(min(10, run.cutoff or 10)), np.minimum(run.retrieved, 10)) for run in (baseline, contender)
    ]
    alls = [_share(run.unjudged_within(run.cutoff), run.retrieved) for run in (baseline, contender)]
    note = (
        f"Unjudged documents: {tops[0]:.0%} of the top 10 of {baseline.name} and {tops[1]:.0%} of {contender.name}; "
        f"{alls[0]:.0%} and {alls[1]:.0%} of the top {baseline.cutoff}."
    )
    biased = [facet for facet, shares in (("ranking", tops), ("coverage", alls)) if abs(shares[0] - shares[1]) > UNEVEN_JUDGING]
    if biased:
        note += (
            f" They count as not relevant, which can bias {' and '.join(biased)} against the run that has more of them; "
            "look at judged_only=True too."
        )
    yield note


def _share(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]) -> float:
    return float(part.sum() / max(whole.sum(), 1))


def _about_tests(facet: Facet) -> Iterator[str]:
    tests = (facet.tests[name] for name in dict.fromkeys((facet.test, "t")) if name in facet.tests)
    for note in dict.fromkeys(test.note for test in tests if test.note):
        yield f"{facet.name.capitalize()}: {note}."


def _about_disagreement(ranking: Facet) -> Iterator[str]:
    t, wilcoxon = ranking.tests["t"], ranking.tests["wilcoxon"]
    apart = (t.pvalue <= ranking.alpha) != (wilcoxon.pvalue <= ranking.alpha)
    opposite = t.direction * wilcoxon.direction < 0
    if apart or opposite:
        how = "point in opposite directions" if opposite else "disagree"
        yield (
            f"Ranking: the t test ({pvalue_text(t.pvalue)}, of the mean) and the Wilcoxon test "
            f"({pvalue_text(wilcoxon.pvalue)}, of typical queries) {how}; a few queries with large changes weigh on the mean."
        )


def _about_interval(facet: Facet) -> Iterator[str]:
    if facet.interval is None:
        return
    excludes_zero = facet.interval.low > 0 or facet.interval.high < 0
    if excludes_zero != (facet.pvalue <= facet.alpha):
        side = "leaves out" if excludes_zero else "includes"
        yield f"{facet.name.capitalize()}: the interval {side} zero, but the test ({pvalue_text(facet.pvalue)}) decides."


def _about_certainty(coverage: Facet, ranking: Facet, label: str) -> Iterator[str]:
    unit = ranking.measured_in
    yield (
        f"Harm that these data cannot exclude at the {1 - coverage.alpha:.0%} level: coverage "
        f"{_bound(coverage, 'pp')}, ranking {_bound(ranking, unit)}. Smallest difference that would be found with "
        f"{POWER:.0%} power: {_detectable(coverage, 'pp')} of coverage, {_detectable(ranking, unit)} of ranking."
    )
    if coverage.n < FEW_QUERIES:
        yield f'On {coverage.n} queries "not significantly worse" says little: look at the intervals.'
    if label in ("better without harm", "worse without gain"):
        yield (
            f"The do-no-harm rule asks for one significant facet out of two: with no true difference at all it says better or "
            f"worse up to {2 * coverage.alpha:.0%} of the time, whatever the correction."
        )


def _bound(facet: Facet, unit: str) -> str:
    worst = facet.worst_case
    if worst is None:
        return "unknown"
    return f"{worst:+.2f} {unit}" if (worst < 0) == facet.higher_is_better else "none"


def _detectable(facet: Facet, unit: str) -> str:
    return "none" if facet.detectable is None else f"{facet.detectable:.2f} {unit}"
