"""What is shown of verdicts on published numbers."""

from collections.abc import Iterator

from ir_outcomes.comparison.published import Counts, MeansVerdict, SummaryVerdict
from ir_outcomes.formatting import (
    NOTHING,
    fixed,
    listed,
    percent,
    plural,
    pvalue,
)
from ir_outcomes.showing import (
    Table,
    View,
    numbers,
    texts,
    view_of,
)


@view_of.register
def _published(result: SummaryVerdict) -> View:
    change = fixed(100 * (result.won - result.lost) / result.n, 2, signed=True)
    longer = fixed(result.ranking_difference, 2, signed=True)
    coverage_p, ranking_p, low, high = (
        pvalue(p, result.alpha)
        for p in (result.coverage_pvalue, result.ranking_pvalue, *result.coverage_pvalues)
    )
    within_rounding = f"[{low}, {high}]" if result.rounding else NOTHING
    rows = [
        ("coverage, points", change, coverage_p, within_rounding),
        ("ranking, ranks", longer, ranking_p, NOTHING),
    ]
    columns = texts("facet") + numbers("B - A", "p", "p within rounding")
    settings = (
        f"{plural('query', result.n)}: won {result.won:g}, lost {result.lost:g}; alpha"
        f" {result.alpha:g}; p: not corrected"
    )
    if result.rounding:
        settings += f"; rounded to within {result.rounding:g} percentage points"
    directions = "coverage: higher is better; ranking: lower is better"
    table = Table.of_texts(columns, rows, directions, settings)
    return View(
        "Verdict from published numbers",
        result.label,
        tuple(_rounding_sentences(result)),
        (table,),
        result.notes,
    )


def _rounding_sentences(result: SummaryVerdict) -> Iterator[str]:
    yield f"The strict rule says {result.strict}, the do-no-harm rule {result.do_no_harm}."
    if result.rounding and result.survives_rounding:
        yield "All numbers that round to these give the same verdict."
    elif result.rounding:
        yield f"Numbers that round to these can also give: {listed(list(result.labels[1:]))}."


@view_of.register
def _means_verdict(result: MeansVerdict) -> View:
    title = (
        f"Shares answered {result.baseline} and {result.contender} of {plural('query', result.n)}"
    )
    if result.net is None:
        return View(title, "there are no such shares", tuple(_impossible_shares(result)))
    answered = [_range(counts) for counts in (result.answered_baseline, result.answered_contender)]
    most = f"two such runs differ on at most {plural('query', result.most_differing or 0)}"
    return View(
        title,
        _net_words(result.net),
        (
            _threshold_words(result),
            "What a comparison needs beside them: won and lost, or the runs.",
        ),
        more="how many queries were answered",
        background=(f"Queries answered: {answered[0]} (A) and {answered[1]} (B); {most}.",),
    )


def _impossible_shares(result: MeansVerdict) -> Iterator[str]:
    for share, counts in (
        (result.baseline, result.answered_baseline),
        (result.contender, result.answered_contender),
    ):
        if counts is None:
            yield f"No whole number of {plural('query', result.n)} is printed as {share}."
    yield (
        f"Is {result.n} the number of answerable queries, and are these shares of queries answered,"
        " printed without an error?"
    )


def _range(counts: Counts | None) -> str:
    if counts is None:
        return NOTHING
    if counts.low == counts.high:
        return f"{counts.low}"
    return f"{counts.low} to {counts.high}"


def _net_words(net: Counts) -> str:
    """Return how many more queries were won than lost."""
    if net.low == net.high == 0:
        return "as many queries won as lost"
    if net.low < 0 < net.high:
        return f"net between {plural('query', -net.low)} lost and {net.high} won"
    size = Counts(min(map(abs, net)), max(map(abs, net)))
    noun = "query" if size.high == 1 else "queries"
    return f"net {_range(size)} {noun} {'won' if net.high > 0 else 'lost'}"


def _threshold_words(result: MeansVerdict) -> str:
    """Return when the net number is significant."""
    test = f"exact, {100 * result.alpha:g} %"
    if result.significant == "never" or result.threshold is None:
        return f"It cannot be significant ({test}), however few queries the runs differ on."
    if result.significant == "always":
        return (
            f"Significant ({test}) whichever queries they are: such runs differ on at most"
            f" {result.most_differing}."
        )
    low, high = result.threshold
    words = (
        f"Significant ({test}) only if the runs differ on at most {plural('query', high)}"
        f" ({percent(high / result.n)} %)"
    )
    if low == high:
        return f"{words}."
    least = f"on at most {low}" if low else "never"
    return f"{words}; for the smallest net number that the rounding allows, {least}."
