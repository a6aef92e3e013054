"""A comparison in words: the sentence of its verdict."""

from collections.abc import Iterator, Sequence

from ir_outcomes.choices import DOCUMENTS_ABOVE, RANKS
from ir_outcomes.comparison.notes import counted_in
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.formatting import (
    listed,
    percent,
    places_of_means,
    plural,
    unit_behind,
)
from ir_outcomes.formatting import size as size_of
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.verdict import is_unconfirmed, meaning_of


def sentence_of(comparison: Comparison) -> str:
    """Say what was found, with the numbers of the facets that moved."""
    return " ".join(_sentences(comparison))


def _sentences(comparison: Comparison) -> Iterator[str]:
    if comparison.identical:
        yield "Both have the same documents in the same order: was the new run written?"
    elif not any(row.differ for row in comparison.deciding):
        yield _about_no_difference(comparison)
    elif not comparison.coverage.n:
        yield f"On average {_of_measure(comparison.all_queries or comparison.naive)}."
    else:
        yield from _about_facets(comparison)
    if comparison.settings.margins is not None:
        yield _about_margins(comparison)


def _about_no_difference(comparison: Comparison) -> str:
    """Say that no row differs, and how many queries cancel out within a unit."""
    rows = [row.name for row in comparison.deciding]
    queries = comparison.queries or ()
    differ = sum(any(query.change_in(name) for name in rows) for query in queries)
    if differ and comparison.settings.n_clusters is not None:
        return f"No cluster changes in sum; {differ} of {plural('query', len(queries))} differ."
    if comparison.of_several_runs:
        return "No query changes on average over the runs."
    return "The two runs do not differ on any query."


def _about_facets(comparison: Comparison) -> Iterator[str]:
    """Say both facets, and all queries where a facet does not say the same."""
    facets = (comparison.coverage, comparison.ranking)
    significant = any(row.found != "none" for row in comparison.deciding)
    said = [_significance(row) if significant else "" for row in facets]
    words = f"{coverage_words(comparison, said[0])}, and {ranking_words(comparison)}{_in_brackets(said[1])}"
    if comparison.unit == "document":
        yield f"Averaged by query, it {words}."
    else:
        yield f"It {words}."
    whole = comparison.all_queries
    if not significant:
        yield "No difference is significant."
    elif whole is None and is_unconfirmed(comparison.verdict.label):
        yield "Without a cutoff nothing is known over all queries."
    elif whole is not None and not _is_said_by_facets(comparison):
        yield f"Over all queries {_of_lengths(whole)}{_in_brackets(_significance(whole))}{_against(facets, whole)}."


def _significance(row: Row) -> str:
    """Say where a difference is not significant, or not after the correction."""
    if not row.difference or row.found != "none":
        return ""
    hurts = row.interval is not None and (row.interval.low > 0 or row.interval.high < 0)
    return "not after correction" if hurts else "not significant"


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""


def _is_said_by_facets(comparison: Comparison) -> bool:
    """Whether the facets that the label names say its direction."""
    meaning = meaning_of(comparison.verdict.label)
    rows = {"coverage": comparison.coverage, "ranking": comparison.ranking}
    named = [rows[name].found == meaning.direction for name in meaning.facets]
    against = _against([*rows.values()], comparison.all_queries or comparison.coverage)
    return bool(named) and all(named) and not against


def _against(facets: Sequence[Row], whole: Row) -> str:
    """Name the facets whose mean points the other way."""
    against = [row.name for row in facets if row.gain * whole.gain < 0]
    if not against:
        return ""
    verb = "points" if len(against) == 1 else "point"
    return f", though {listed(against)} {verb} the other way"


def coverage_words(comparison: Comparison, significance: str = "") -> str:
    """Say the difference in coverage, with what was won and lost."""
    row = comparison.coverage
    does, items = "answers", "queries"
    if comparison.unit == "document":
        does, items = "finds", "relevant documents"
    if not comparison.in_lengths:
        does = "scores above zero on"
    counted = "; ".join(filter(None, (_counted(comparison), significance)))
    if not row.difference:
        return f"{does} as many {items} ({counted})"
    change = _size(row)
    points = unit_behind(float(change), "points")
    way = "more" if row.difference > 0 else "fewer"
    return f"{does} {way} {items}, by {change} {points} ({counted})"


def _counted(comparison: Comparison) -> str:
    """Count what was won and lost, by document the queries."""
    row = comparison.coverage
    if comparison.unit == "query":
        return "won {}, lost {}".format(*won_and_lost(comparison))
    sides = {"more": row.better, "fewer": row.worse}
    first, second = sorted(sides, reverse=(row.difference or 0) > 0)
    on = plural(counted_in(comparison), sides[first])
    return f"{'' if row.difference else f'{first} '}on {on}, {second} on {sides[second]}"


def ranking_words(comparison: Comparison) -> str:
    """Say the difference in ranking."""
    row = comparison.ranking
    if row.difference is None:
        return "nothing is found by both, so their rankings cannot be compared"
    if row.measured_in == DOCUMENTS_ABOVE:
        return f"what both find has {_documents_above(row)}"
    if row.measured_in == RANKS:
        stands = "equally high on average"
        if row.difference:
            way = "lower" if row.difference > 0 else "higher"
            stands = f"{_size(row)} ranks {way}"
        return f"where both answer, the first answer stands {stands}"
    return f"where both do, {_of_measure(row)}"


def _documents_above(row: Row) -> str:
    if not row.difference:
        return "on average as many irrelevant ones above"
    way = "more" if row.difference > 0 else "fewer"
    return f"{_size(row)} {way} irrelevant ones above"


def _of_lengths(row: Row) -> str:
    """Say how the means of all queries differ."""
    if row.measured_in == DOCUMENTS_ABOVE:
        return f"there are {_documents_above(row)}"
    if row.measured_in == RANKS:
        if not row.difference:
            return "the search is as long on average"
        way = "longer" if row.difference > 0 else "shorter"
        return f"the search is {_size(row)} ranks {way}"
    return _of_measure(row)


def _of_measure(row: Row) -> str:
    """Say how the means of a measure differ."""
    if not row.difference:
        return f"{row.measured_in} is the same"
    way = "higher" if row.difference > 0 else "lower"
    return f"{row.measured_in} is {_size(row)} {way}"


def _size(row: Row) -> str:
    """Write the size of a difference with the decimals of its row."""
    return size_of(row.difference or 0.0, places_of_means(row))


def won_and_lost(comparison: Comparison) -> tuple[str, str]:
    """How many queries or documents, or which share of them, were won and lost."""
    outcomes = comparison.outcomes
    if comparison.of_several_runs and outcomes.shares is not None:
        shares = outcomes.shares
        return f"{percent(shares.won, 1)} %", f"{percent(shares.lost, 1)} %"
    return str(outcomes.won), str(outcomes.lost)


def _about_margins(comparison: Comparison) -> str:
    """Say whether harm beyond the margins is excluded, and on which rows it is not."""
    named = margins_named([comparison])
    if comparison.verdict.equivalent:
        return (
            f"Equivalent within margins of {named}: larger differences are excluded in both"
            " directions."
        )
    if comparison.verdict.non_inferior:
        return f"Non-inferior at margins of {named}: larger harm is excluded."
    rows = listed(
        [
            f"{'over' if name == 'all queries' else 'on'} {name}"
            for name in beyond_margins(comparison)
        ]
    )
    return (
        f"Not shown to be non-inferior at margins of {named}: larger harm is not excluded {rows}."
    )


def margins_named(comparisons: Sequence[Comparison]) -> str:
    """List the margins with their units, without one that depends on the run."""
    words: list[str] = []
    n_given = len(comparisons[0].settings.margins or ())
    for position, rows in enumerate(zip(*map(_rows_with_margins, comparisons), strict=False)):
        digits = 6 if position < n_given else 3  # those that were given as they are
        sizes = {f"{row.margin.size:.{digits}g}" for row in rows if row.margin is not None}
        if len(sizes) == 1:
            size = sizes.pop()
            first = rows[0]
            unit = "points of coverage" if first.name == "coverage" else first.measured_in
            over_all = " over all queries" if first.name == "all queries" and words else ""
            words.append(f"{size} {unit_behind(float(size), unit)}{over_all}")
    return listed(words)


def beyond_margins(comparison: Comparison) -> list[str]:
    """Name the rows on which harm beyond their margin is not excluded."""
    names = [row.name for row in _rows_with_margins(comparison)]
    excluded = {
        row.name
        for row in comparison.deciding
        if row.margin is not None and row.margin.found == "harm excluded"
    }
    return [name for name in names if name not in excluded]


def _rows_with_margins(comparison: Comparison) -> list[Row]:
    """Return the rows that margins are of: of values of other tools the mean alone."""
    rows = [comparison.coverage, comparison.ranking, comparison.all_queries]
    if len(comparison.settings.margins or ()) == 1:
        rows = rows[2:]
    return [row for row in rows if row is not None]
