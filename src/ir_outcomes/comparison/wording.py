"""A comparison in words: the sentence of its verdict, and what notes and tables say like it."""

from collections.abc import Iterator, Sequence

import numpy as np

from ir_outcomes.comparison.facets import AllQueries, Facet, RestrictedLength
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.verdict import is_unconfirmed, meaning_of
from ir_outcomes.evaluation.remarks import MANY_MISSING
from ir_outcomes.formatting import moved, percent, places_of, plural, pvalue, pvalue_in_words, size
from ir_outcomes.statistics import Test
from ir_outcomes.types import DOCUMENTS_ABOVE, RANKS


def sentence_of(comparison: Comparison) -> str:
    """Say the verdict with its numbers."""
    meaning = meaning_of(comparison.verdict.label)
    opening = meaning.sentence.format(contender=comparison.contender, baseline=comparison.baseline)
    coverage = coverage_words(
        comparison, "percentage points", _deciding(comparison, comparison.coverage)
    )
    over_all = ""
    if meaning.by == "all queries" and comparison.all_queries is not None:
        over_all = f"; over all queries {over_all_words(comparison, comparison.all_queries)}"
    return f"{opening}: {comparison.contender} {coverage}, and {_ranking(comparison)}{over_all}."


def coverage_words(comparison: Comparison, points: str = "points", test: str = "") -> str:
    """Say the difference in coverage, with its test where there is one to say."""
    difference = comparison.coverage.difference or 0.0
    won, lost = won_and_lost(comparison)
    does, items = (
        ("answers", "queries") if comparison.unit == "query" else ("finds", "relevant documents")
    )
    if not comparison.in_lengths:
        does = "scores above zero on"
    how_many = "as many"
    if difference:
        direction = "more" if difference > 0 else "fewer"
        how_many = f"{size(difference, 2)} {points} {direction}"
    counts = f"(won {won}, lost {lost}{test and '; '}{test})"
    return f"{does} {how_many} of the {items}{_averaged(comparison, difference)} {counts}"


def _averaged(comparison: Comparison, difference: float) -> str:
    """Say why more documents are won than lost where the mean falls: queries have unequal numbers of them."""
    if comparison.unit == "query" or comparison.of_several_runs:
        return ""
    net = comparison.outcomes.won - comparison.outcomes.lost
    return "" if np.sign(net) == np.sign(difference) else ", averaged by query"


def label_words(comparison: Comparison) -> str:
    """Return the label, whether it holds for new runs, where that is known, and which run returned nothing for many queries."""
    label = comparison.verdict.label
    if comparison.verdict.new_runs is not None:
        runs = "also for new runs" if comparison.verdict.new_runs else "of these runs only"
        label = f"{label}, {runs}"
    n = comparison.n_queries
    has = "has values for" if of_values(comparison) else "returned results for"
    counts = [
        f"{which} {has} {n - missing} of {plural('query', n)}"
        for which, missing in missing_of_runs(comparison)
        if missing > MANY_MISSING * n
    ]
    return "; ".join([label, *counts])


def of_values(comparison: Comparison) -> bool:
    """Return whether values of another tool were compared, which do not say what runs returned."""
    return comparison.settings.ties == "unknown"


def missing_of_runs(
    comparison: Comparison, names: Sequence[str] = ("A", "B")
) -> Iterator[tuple[str, int]]:
    """Return for how many queries each run has no results; of a system with several runs, the one that lacks most."""
    for name, missing, n_runs in zip(names, comparison.n_missing, comparison.n_runs, strict=True):
        yield name if n_runs == 1 else f"a run of {name}", missing


def won_and_lost(comparison: Comparison) -> tuple[str, str]:
    """Return how many queries or documents were won and lost; of several runs which share."""
    outcomes = comparison.outcomes
    if comparison.of_several_runs and outcomes.shares is not None:
        shares = outcomes.shares
        return f"{percent(shares.won, 1)} %", f"{percent(shares.lost, 1)} %"
    return str(outcomes.won), str(outcomes.lost)


def words_of_test(test: Test) -> str:
    """Say a test and its p-value."""
    return f"{test.name.replace('wilcoxon', 'Wilcoxon')} {pvalue_in_words(test.pvalue)}"


def _deciding(comparison: Comparison, facet: Facet) -> str:
    """Name the deciding test of a facet, with its p-value."""
    method = facet.decides.method
    if comparison.settings.n_clusters is None:
        # Of several runs of a system: the rows of a query are its cluster.
        method = method.replace("by cluster", "by query")
    text = f"{method}, {pvalue_in_words(facet.pvalue)}"
    if facet.pvalue_corrected == facet.pvalue:
        return text
    return f"{text}, corrected {pvalue(facet.pvalue_corrected)}"


def _ranking(comparison: Comparison) -> str:
    """Say the estimate of the test that decides on ranking: its direction is that of the verdict."""
    facet = comparison.ranking
    if facet.baseline is None or facet.contender is None:
        return "nothing is found by both runs, so their rankings cannot be compared"
    n = plural("query", facet.n)
    places = places_of(facet.measured_in)
    lower = "lower"
    higher = "higher"
    if facet.measured_in == RANKS:
        where = f"on the {n} that both answer"
        what = "the search is"
        lower = "shorter"
        higher = "longer"
    elif facet.measured_in == DOCUMENTS_ABOVE:
        where = f"on what both find, on {n}"
        what = "a relevant document has"
        lower = "fewer"
        higher = "more"
    else:
        where = f"on the {n} where both are above zero"
        what = f"{facet.measured_in} is"
    # What a test of ranking is about, where that is not the mean.
    about = {"wilcoxon": "signed ranks"}.get(facet.test)
    if facet.test.endswith("()"):
        about = facet.test
    if about is not None:
        change = f"neither {higher} nor {lower}"
        if facet.decides.direction:
            change = higher if facet.decides.direction > 0 else lower
        if facet.measured_in == DOCUMENTS_ABOVE:
            change += f" {DOCUMENTS_ABOVE} it"
        change += f" by {about}"
    else:
        change = moved(facet.difference, facet.measured_in)
        if not facet.difference and facet.measured_in == DOCUMENTS_ABOVE:
            what = f"the number of {DOCUMENTS_ABOVE} a relevant one is"
    means = "means"
    if facet.measured_in == DOCUMENTS_ABOVE:
        means = "mean search lengths"
    means += f" {facet.baseline:.{places}f} to {facet.contender:.{places}f}"
    differ = "differs" if facet.n_nonzero == 1 else "differ"
    return (
        f"{where} ({facet.n_nonzero} of which {differ}) {what} {change} ({means};"
        f" {_deciding(comparison, facet)})"
    )


def counting(restricted: RestrictedLength) -> str:
    """Say which search length counts where nothing is found, as the head of the table says it."""
    length = restricted.horizon + 1
    if restricted.measured_in == RANKS:
        return f"counting {length} where nothing is found"
    return f"counting a search length of {length} for what is not found"


def over_all_words(comparison: Comparison, whole: AllQueries, where: str = "") -> str:
    """Say the difference over all queries, and its tests."""
    tests = [words_of_test(whole.test)]
    if comparison.settings.family > 1:
        tests.append(f"corrected {pvalue(whole.pvalue_corrected)}")
    if is_unconfirmed(comparison.verdict.label):
        tests.append(words_of_test(whole.tests["wilcoxon"]))
    return f"{change_over_all(comparison, whole, where)} ({', '.join(tests)})"


def change_over_all(comparison: Comparison, whole: AllQueries, where: str = "") -> str:
    """Say the difference over all queries, and what counts where nothing is found."""
    change = moved(whole.difference, whole.measured_in)
    if comparison.restricted is not None:
        change += f", {counting(comparison.restricted)}"
    what = {RANKS: f"{where}the search is ", DOCUMENTS_ABOVE: "there are "}.get(
        whole.measured_in, f"{where}{whole.measured_in} is "
    )
    if not whole.difference and whole.measured_in == DOCUMENTS_ABOVE:
        what = f"{where}the number of {DOCUMENTS_ABOVE} is "
    return f"{what}{change}"
