"""What is shown of a comparison, of several, and of the queries of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from ir_outcomes.comparison.facets import Facet, Naive, RestrictedLength
from ir_outcomes.comparison.published import SummaryVerdict
from ir_outcomes.comparison.result import Comparison, Comparisons, QueryOutcome, measures_of
from ir_outcomes.errors import some
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.formatting import NOTHING, fixed, interval, listed, percent, plural, pvalue, pvalue_in_words
from ir_outcomes.showing.view import Cell, Column, Field, Layout, Statement, Table, View, best, tabulated, view_of
from ir_outcomes.showing.words import better, direction, items_words, level_words, places_of, queries_words, settings_words

__all__ = ["queries_table", "queries_view", "share_of"]

MOST_SENTENCES = 3  # contenders whose verdicts are explained unless asked for
_NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?")


@view_of.register
def _comparison(comparison: Comparison, layout: Layout) -> View:
    if layout.columns == "paper":
        return View((_paper_table([comparison]),), notes=comparison.notes)
    explained = layout.sentences is not False
    restricted = () if comparison.restricted is None else (_restricted_table(comparison, comparison.restricted),)
    return View(
        (_outcome_table(comparison), _facet_table(comparison), *restricted),
        (_statement(comparison, "Verdict", explained),),
        comparison.notes,
    )


@view_of.register
def _comparisons(comparisons: Comparisons, layout: Layout) -> View:
    if not comparisons.items:
        return View((Table("There is no comparison", "", (), ()),))
    notes = tuple(_merged_notes(comparisons))
    if layout.columns == "paper":
        return View((_paper_table(comparisons.items),), notes=notes)
    explained = len(comparisons) <= MOST_SENTENCES if layout.sentences is None else layout.sentences
    name_of = _naming(comparisons)
    statements = [_statement(item, name_of(item), True) for item in comparisons] if explained else []
    return View((_table_2(comparisons),), tuple(statements), notes)


@view_of.register
def _published(result: SummaryVerdict, layout: Layout) -> View:
    low, high = result.coverage_pvalues
    rounded = f"[{pvalue(low)}, {pvalue(high)}]" if result.rounding else NOTHING
    change = fixed(100 * (result.won - result.lost) / result.n, 2, signed=True)
    rows = (
        ("coverage, percentage points", "higher", change, pvalue(result.coverage_pvalue), rounded),
        ("ranking, ranks", "lower", fixed(result.ranking_difference, 2, signed=True), pvalue(result.ranking_pvalue), NOTHING),
    )
    columns = (
        Column("facet"),
        Column("better"),
        Column("B - A", "number"),
        Column("p", "pvalue"),
        Column("p within rounding", "interval"),
    )
    head = f"{plural('query', result.n)}, won {result.won:g}, lost {result.lost:g}, alpha {result.alpha:g}"
    if result.rounding:
        head += f", rounded to within {result.rounding:g} percentage points"
    table = Table("Verdict from published numbers", head, columns, rows, "p: not corrected.")
    return View((table,), (Statement("Verdict", result.label, tuple(_rounding_sentences(result))),), result.notes)


def _rounding_sentences(result: SummaryVerdict) -> Iterator[str]:
    yield f"The strict rule says {result.strict}, the do-no-harm rule {result.do_no_harm}."
    if result.rounding and result.survives_rounding:
        yield "All numbers that round to these give the same verdict."
    elif result.rounding:
        yield f"Numbers that round to these can also give: {listed(list(result.labels[1:]))}."


def queries_view(queries: Iterable[QueryOutcome], comparison: Comparison) -> View:
    """Show a list of queries, as `Comparison.per_query` returns them."""
    return View((queries_table(queries, "", comparison.baseline, comparison.contender),))


def queries_table(queries: Iterable[QueryOutcome], title: str, baseline: str, contender: str) -> Table:
    """Lay out queries with their outcome, what each run found of them, and the search lengths."""
    fields: list[Field[QueryOutcome]] = [
        (Column("query"), lambda query: query.query_id),
        (Column("outcome"), lambda query: query.outcome),
        (Column("found A", "number"), lambda query: fixed(query.found_baseline, 2)),
        (Column("found B", "number"), lambda query: fixed(query.found_contender, 2)),
        (Column("length A", "number"), lambda query: fixed(query.baseline, 2)),
        (Column("length B", "number"), lambda query: fixed(query.contender, 2)),
        (Column("change", "number"), lambda query: fixed(query.difference, 2, signed=True)),
        (Column("text"), lambda query: query.text or ""),
    ]
    caption = "found: share of the relevant documents, higher is better; length: mean search length, ranks, lower is better."
    return Table(title, f"A: {baseline}, B: {contender}", *tabulated(fields, queries), caption)


def _head(comparison: Comparison) -> str:
    settings = comparison.settings
    # The values of a measure have no cutoff but the one in its name.
    left_out = ("cutoff",) if settings.cutoff is None and comparison.ranking.measured_in != "ranks" else ()
    parts = [queries_words(comparison.n_queries, comparison.n_unanswerable), *settings_words(settings, *left_out)]
    if settings.family > 1:
        parts.append(f"verdict corrected by {settings.correction} over {settings.family} comparisons")
    return ", ".join(parts)


def _outcome_table(comparison: Comparison) -> Table:
    by_query = comparison.unit == "query"
    outcomes = comparison.outcomes
    found_by = {
        "neither": "neither run",
        "lost": f"only {comparison.baseline}",
        "won": f"only {comparison.contender}",
        "both": "both runs",
    }
    median_ranks = {"lost": outcomes.lost_at, "won": outcomes.won_at}

    def median_rank(outcome: str) -> str:
        rank = median_ranks.get(outcome)
        return "" if rank is None else f"{rank:g}"

    fields: list[Field[str]] = [
        (Column("outcome"), str),
        (Column(f"found within {comparison.cutoff} by" if comparison.cutoff else "found by"), found_by.__getitem__),
        (Column("queries" if by_query else "documents", "number"), lambda outcome: str(getattr(outcomes, outcome))),
        (
            Column("share" if by_query else "share within queries", "number"),
            lambda outcome: percent(share_of(comparison, outcome), 2, unit=" %"),
        ),
        (Column("median rank", "number"), median_rank),
    ]
    return Table(
        f"{comparison.contender} (B) against {comparison.baseline} (A, the baseline)",
        _head(comparison),
        *tabulated(fields, OUTCOMES),
        "" if by_query else "share within queries: averaged within each query first, so that each query weighs the same.",
    )


def share_of(comparison: Comparison, outcome: str) -> float | None:
    """Return the share of an outcome; None where there is no query."""
    shares = comparison.outcomes.shares
    return None if shares is None else float(getattr(shares, outcome))


def _facet_columns(comparison: Comparison, heading: str) -> tuple[Column, ...]:
    return (
        Column(heading),
        Column("better"),
        *(Column(name, "number") for name in ("n", "differ", "A", "B", "B - A")),
        Column(level_words(comparison.alpha), "interval"),
        Column("p", "pvalue"),
        Column("test"),
    )


def _facet_table(comparison: Comparison) -> Table:
    facets = (comparison.coverage, comparison.ranking, comparison.reciprocal)
    rows = [_facet_row(facet) for facet in facets if facet is not None]
    sizes = _sizes(comparison)
    return Table(
        "",
        "",
        _facet_columns(comparison, "facet"),
        (*rows, _naive_row(comparison)),
        "n: queries that the row is measured on; differ: those on which the runs differ; p: not corrected.",
        sentences=(sizes,) if sizes else (),
    )


def _means(measured: Facet | Naive | RestrictedLength, places: int) -> tuple[str, str, str]:
    """Write the means of both runs and their difference."""
    means = fixed(measured.baseline, places), fixed(measured.contender, places)
    return *means, fixed(measured.difference, places, signed=True)


def _mean(facet: Facet, run: Literal["baseline", "contender"]) -> str:
    return fixed(getattr(facet, run), places_of(facet.measured_in))


def _facet_row(facet: Facet) -> tuple[str, ...]:
    places = places_of(facet.measured_in)
    unit = "%" if facet.name == "coverage" else facet.measured_in
    return (
        facet.name if unit == "reciprocal" else f"{facet.name}, {unit}",
        better(facet.higher_is_better),
        str(facet.n),
        str(facet.n_nonzero),
        *_means(facet, places),
        interval(facet.interval, places, signed=True),
        pvalue(facet.pvalue),
        facet.test,
    )


def _naive_row(comparison: Comparison) -> tuple[str, ...]:
    naive = comparison.naive
    return (
        "naive MRR" if comparison.reciprocal is not None else "naive mean",
        better(naive.higher_is_better),
        str(comparison.n_queries),
        str(naive.tests["t"].n_nonzero),
        *_means(naive, 4),
        "",
        pvalue(naive.pvalues["t"]),
        "t",
    )


def _restricted_table(comparison: Comparison, restricted: RestrictedLength) -> Table:
    """Show the search length over all queries, and its parts."""
    test, part = restricted.test, restricted.won_and_lost_test
    counts = str(restricted.n), str(restricted.better + restricted.worse)
    bounds = interval(restricted.interval, 2, signed=True)
    both, won_and_lost = (fixed(value, 2, signed=True) for value in (restricted.both, restricted.won_and_lost))
    blank = [""] * 5
    rows = (
        ("search length, ranks", "lower", *counts, *_means(restricted, 2), bounds, pvalue(test.pvalue), test.name),
        ("  part of both", *blank, both, "", "", ""),
        ("  part of won and lost", *blank, won_and_lost, "", pvalue(part.pvalue), part.name),
    )
    return Table(
        "",
        "",
        _facet_columns(comparison, "all queries"),
        rows,
        f"Where a run finds nothing, its search length counts as {restricted.horizon + 1}. These lines check the verdict.",
        sentences=(
            f"Shorter on {plural('query', restricted.better)}, longer on {restricted.worse}, equal on {restricted.equal} "
            f"(sign test, {pvalue_in_words(restricted.sign_test.pvalue)}).",
        ),
    )


def _sizes(comparison: Comparison) -> str:
    """Say how large the changes are: odds of won to lost, ratio of search lengths."""
    coverage, ranking = comparison.coverage, comparison.ranking
    sizes = []
    if coverage.effect_size is not None and coverage.odds_interval is not None:
        low, high = coverage.odds_interval
        ends = f"[{fixed(low, 2)}, {'no limit' if high is None else fixed(high, 2)}]"
        sizes.append(f"won : lost {fixed(coverage.effect_size, 2)} {ends}")
    if ranking.ratio is not None and ranking.ratio_interval is not None:
        sizes.append(f"B reads {fixed(ranking.ratio, 2)} {interval(ranking.ratio_interval, 2)} times as far as A")
    return "; ".join(sizes)


def _statement(comparison: Comparison, title: str, explained: bool) -> Statement:
    sentences = [comparison.verdict.sentence] if explained else []
    if comparison.settings.margins is not None:
        sentences.append(_margin_sentence(comparison, comparison.settings.margins))
    if explained and len(comparison.cutoffs) > 1 and len({at.label for at in comparison.cutoffs}) == 1:
        sentences.append(f"The label is the same at the cutoffs {listed([str(at.cutoff) for at in comparison.cutoffs])}.")
    return Statement(title, comparison.verdict.label, tuple(sentences))


def _margin_sentence(comparison: Comparison, margins: tuple[float, ...]) -> str:
    parts = [f"{margins[0]:g} pp of coverage", f"{margins[1]:g} {comparison.ranking.measured_in}"]
    if len(margins) > 2:
        parts.append(f"{margins[2]:g} ranks over all queries")
    named = listed(parts)
    if comparison.verdict.equivalent:
        return f"Equivalent within the margins of {named}: larger differences are excluded in both directions."
    if comparison.verdict.non_inferior:
        return f"Non-inferior at margins of {named}: larger harm is excluded."
    return f"Not shown to be non-inferior at margins of {named}: larger harm is not excluded."


def _title(comparisons: Comparisons) -> str:
    baselines = {item.baseline for item in comparisons}
    if len(baselines) > 1:
        return f"{plural('pair', len(comparisons))} of runs, the second against the first"
    return f"{plural('run', len(comparisons))} against {baselines.pop()} (the baseline)"


def _naming(comparisons: Comparisons) -> Callable[[Comparison], str]:
    """Choose how to name each comparison: by the contender, and by the baseline too where there are several."""
    if len({item.baseline for item in comparisons}) > 1:
        return lambda item: f"{item.baseline} : {item.contender}"
    return lambda item: item.contender


def _table_2(comparisons: Comparisons) -> Table:
    """Show the columns of Table 2 of Lin et al. 2021 in short, with the verdict."""
    first = comparisons[0]
    fields: list[Field[Comparison]] = [
        (Column("run"), _naming(comparisons)),
        (Column("lost", "number"), lambda item: percent(share_of(item, "lost"))),
        (Column("won", "number"), lambda item: percent(share_of(item, "won"))),
        (Column("both", "number"), lambda item: percent(share_of(item, "both"))),
        (Column("cov", "number"), lambda item: fixed(item.coverage.difference, 1, signed=True)),
        (Column("p", "pvalue"), lambda item: pvalue(item.coverage.pvalue_corrected)),
        (Column("A", "number"), lambda item: _mean(item.ranking, "baseline")),
        (Column("B", "number"), lambda item: _mean(item.ranking, "contender")),
        (Column("p", "pvalue"), lambda item: pvalue(item.ranking.pvalue_corrected)),
        (Column("all", "number"), lambda item: fixed(_over_all(item), 2, signed=True)),
        (Column("verdict", "label"), lambda item: item.verdict.label),
    ]
    mean = "mean search length" if first.reciprocal is not None else f"mean {first.ranking.measured_in}"
    items = items_words(first.unit)
    unit = ", ranks" if first.ranking.measured_in == "ranks" else ""
    return Table(
        _title(comparisons),
        _head(first),
        *tabulated(fields, comparisons),
        f"lost, won, both: outcomes in % of the {items}; cov: change of coverage, percentage points, higher is better; "
        f"A, B: {mean} of baseline and contender on what both find{unit}, {direction(first.ranking.higher_is_better)} "
        "(A differs from row to row, because each row has its own queries that both answer); all: change of the search length "
        f"over all queries{_restricted_caption(first)}, lower is better; "
        f"p: corrected by {first.settings.correction} over {plural('comparison', first.settings.family)}.",
        best=best([item.coverage.difference for item in comparisons], 4, higher_is_better=True)
        | best([_over_all(item) for item in comparisons], 9, higher_is_better=False),
        significant=_significant([item.coverage for item in comparisons], 4)
        | _significant([item.ranking for item in comparisons], 7),
    )


def _over_all(comparison: Comparison) -> float | None:
    return None if comparison.restricted is None else comparison.restricted.difference


def _restricted_caption(comparison: Comparison) -> str:
    if comparison.restricted is None:
        return ""
    return f", counting {comparison.restricted.horizon + 1} where nothing is found"


def _significant(facets: Sequence[Facet], column: int) -> frozenset[Cell]:
    return frozenset((row, column) for row, facet in enumerate(facets) if facet.corrected <= facet.alpha)


def _paper_table(comparisons: Sequence[Comparison]) -> Table:
    """Show the columns of Tables 1 and 2 of Lin et al. 2021, and the coverage test and verdict that they leave out."""
    first = comparisons[0]
    on_ranks = first.reciprocal is not None
    length, reciprocal = measures_of(first)
    better = f"Lower is better for {length}, higher for MRR and {reciprocal}. " if on_ranks else ""
    items = items_words(first.unit)
    naive, one, both = "MRR" if on_ranks else "mean", "(2) one run finds", "(3) both find"
    fields: list[Field[Comparison]] = [
        (Column("A", group="Runs"), lambda item: item.baseline),
        (Column("B", group="Runs"), lambda item: item.contender),
        (Column("difference", "number", naive), lambda item: fixed(item.naive.difference, 4, signed=True)),
        (Column("WRS p", "pvalue", naive), lambda item: pvalue(item.naive.pvalues["ranksum"])),
        (Column("WSR p", "pvalue", naive), lambda item: pvalue(item.naive.pvalues["wilcoxon"])),
        (Column("t p", "pvalue", naive), lambda item: pvalue(item.naive.pvalues["t"])),
        (Column("all", "number", "(1) neither"), lambda item: percent(share_of(item, "neither"))),
        (Column("A wins", "number", one), lambda item: percent(share_of(item, "lost"))),
        (Column("B wins", "number", one), lambda item: percent(share_of(item, "won"))),
        (Column("p", "pvalue", one), lambda item: pvalue(item.coverage.pvalue)),
        (Column("all", "number", both), lambda item: percent(share_of(item, "both"))),
        *_paper_fields(length, both, lambda item: item.ranking),
        *(_paper_fields(reciprocal, both, lambda item: item.reciprocal or item.ranking) if on_ranks else ()),
        (Column("verdict", "label"), lambda item: item.verdict.label),
    ]
    return Table(
        "The columns of Tables 1 and 2 of Lin et al. 2021",
        _head(first),
        *tabulated(fields, comparisons),
        f"Outcomes in % of the {items}; differences are B minus A; WRS: Wilcoxon rank sum, WSR: Wilcoxon signed rank, "
        f"t: paired t test; p-values are raw. {better}A differs from row to row under (3), because each row has its own "
        "queries that both answer. The verdict uses corrected p-values.",
    )


def _paper_fields(measure: str, group: str, facet_of: Callable[[Comparison], Facet]) -> list[Field[Comparison]]:
    return [
        (Column(f"A {measure}", "number", group), lambda item: _mean(facet_of(item), "baseline")),
        (Column(f"B {measure}", "number", group), lambda item: _mean(facet_of(item), "contender")),
        (Column(f"{measure} WSR p", "pvalue", group), lambda item: pvalue(facet_of(item).pvalues["wilcoxon"])),
        (Column(f"{measure} t p", "pvalue", group), lambda item: pvalue(facet_of(item).pvalues["t"])),
    ]


def _merged_notes(comparisons: Comparisons) -> Iterator[str]:
    """Say each note once, with the runs it is about where it is not about all.

    Notes that differ only in names and numbers are of one kind. Of a kind the first is shown, and the runs with other numbers
    are named; their notes are in the comparisons themselves.
    """
    name_of = _naming(comparisons)
    kinds: dict[str, dict[str, list[str]]] = {}
    places: dict[str, int] = {}  # the most important notes of a comparison come first, and so do those of all
    for item in comparisons:
        for place, note in enumerate(item.notes):
            kind = _kind(note, item)
            kinds.setdefault(kind, {}).setdefault(note, []).append(name_of(item))
            places[kind] = min(place, places.get(kind, place))
    yield from comparisons.notes
    for kind in sorted(kinds, key=lambda kind: places[kind]):
        notes = kinds[kind]
        (note, about), *others = notes.items()
        alike = [name for runs in notes.values() for name in runs]
        everywhere = len(alike) == len(comparisons)
        if not others:
            yield note if everywhere else f"{some(about)}: {note}"
        else:
            rest = "all others" if everywhere else some([name for _, runs in others for name in runs])
            yield f"{some(about)}: {note} The same, with other numbers, applies to {rest}."


def _kind(note: str, comparison: Comparison) -> str:
    """Reduce a note to what it says, without names and numbers."""
    for name in sorted((comparison.baseline, comparison.contender), key=len, reverse=True):
        note = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "#", note)
    return _NUMBER.sub("#", note)
