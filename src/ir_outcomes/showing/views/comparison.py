"""What is shown of a comparison, of several, and of the queries of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ir_outcomes._formatting import NOTHING, fixed, interval, listed, percent, plural, pvalue, pvalue_in_words
from ir_outcomes.comparison.facets import Facet, RestrictedLength
from ir_outcomes.comparison.outcomes import OUTCOMES
from ir_outcomes.comparison.published import SummaryVerdict
from ir_outcomes.comparison.result import Comparison, Comparisons, QueryOutcome
from ir_outcomes.errors import some
from ir_outcomes.showing.view import Cell, Column, Layout, Statement, Table, View, best, view_of

__all__ = ["queries_table", "queries_view"]

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
    names = _names(comparisons)
    statements = [_statement(item, name, True) for item, name in zip(comparisons, names, strict=True)] if explained else []
    return View((_table_2(comparisons),), tuple(statements), notes)


@view_of.register
def _published(result: SummaryVerdict, layout: Layout) -> View:
    low, high = result.coverage_pvalues
    rounded = f"[{pvalue(low)}, {pvalue(high)}]" if result.rounding else NOTHING
    rows = (
        (
            "coverage, percentage points",
            "higher",
            fixed(100 * (result.won - result.lost) / result.n, 2, signed=True),
            pvalue(result.coverage_pvalue),
            rounded,
        ),
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
    columns = (
        Column("query"),
        Column("outcome"),
        Column("found A", "number"),
        Column("found B", "number"),
        Column("length A", "number"),
        Column("length B", "number"),
        Column("change", "number"),
        Column("text"),
    )
    rows = tuple(
        (
            query.query_id,
            query.outcome,
            fixed(query.found_baseline, 2),
            fixed(query.found_contender, 2),
            fixed(query.baseline, 2),
            fixed(query.contender, 2),
            fixed(query.difference, 2, signed=True),
            query.text or "",
        )
        for query in queries
    )
    caption = "found: share of the relevant documents, higher is better; length: mean search length, ranks, lower is better."
    return Table(title, f"A: {baseline}, B: {contender}", columns, rows, caption)


def _head(comparison: Comparison) -> str:
    settings = comparison.settings
    parts = [plural("query", comparison.n_queries)]
    if comparison.n_unanswerable:
        parts[0] += f" ({comparison.n_unanswerable} unanswerable left out)"
    parts += [
        f"cutoff {settings.cutoff or 'unknown'}",
        f"rel {settings.rel}",
        f"unit {settings.unit}",
        f"ties {settings.ties}",
        *(["judged only"] if settings.judged_only else []),
        f"alpha {settings.alpha:g}",
    ]
    if settings.family > 1:
        parts.append(f"verdict corrected by {settings.correction} over {settings.family} comparisons")
    return ", ".join(parts)


def _items(comparison: Comparison) -> str:
    return "queries" if comparison.unit == "query" else "relevant documents, averaged within queries"


def _outcome_table(comparison: Comparison) -> Table:
    within = f"found within {comparison.cutoff} by" if comparison.cutoff else "found by"
    by_query = comparison.unit == "query"
    found_by = {
        "neither": "neither run",
        "lost": f"only {comparison.baseline}",
        "won": f"only {comparison.contender}",
        "both": "both runs",
    }
    median_rank = {"lost": comparison.outcomes.lost_at, "won": comparison.outcomes.won_at}
    return Table(
        f"{comparison.contender} (B) against {comparison.baseline} (A, the baseline)",
        _head(comparison),
        (
            Column("outcome"),
            Column(within),
            Column("queries" if by_query else "documents", "number"),
            Column("share" if by_query else "share within queries", "number"),
            Column("median rank", "number"),
        ),
        tuple(
            (
                outcome,
                found_by[outcome],
                str(getattr(comparison.outcomes, outcome)),
                percent(_share(comparison, outcome), 2, unit=" %"),
                _rank(median_rank.get(outcome)),
            )
            for outcome in OUTCOMES
        ),
        "" if by_query else "share within queries: averaged within each query first, so that each query weighs the same.",
    )


def _rank(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _share(comparison: Comparison, outcome: str) -> float | None:
    shares = comparison.outcomes.shares
    return None if shares is None else float(getattr(shares, outcome))


def _facet_columns(comparison: Comparison, heading: str) -> tuple[Column, ...]:
    return (
        Column(heading),
        Column("better"),
        Column("n", "number"),
        Column("differ", "number"),
        Column("A", "number"),
        Column("B", "number"),
        Column("B - A", "number"),
        Column(f"{100 * (1 - comparison.alpha):g} % interval", "interval"),
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


def _facet_row(facet: Facet) -> tuple[str, ...]:
    places = _places(facet)
    unit = "%" if facet.name == "coverage" else facet.measured_in
    return (
        facet.name if unit == "reciprocal" else f"{facet.name}, {unit}",
        _better(facet.higher_is_better),
        str(facet.n),
        str(facet.n_nonzero),
        fixed(facet.baseline, places),
        fixed(facet.contender, places),
        fixed(facet.difference, places, signed=True),
        interval(facet.interval, places, signed=True),
        pvalue(facet.pvalue),
        facet.test,
    )


def _naive_row(comparison: Comparison) -> tuple[str, ...]:
    naive = comparison.naive
    return (
        "naive MRR" if comparison.reciprocal is not None else "naive mean",
        _better(naive.higher_is_better),
        str(comparison.n_queries),
        str(naive.tests["t"].n_nonzero),
        fixed(naive.baseline, 4),
        fixed(naive.contender, 4),
        fixed(naive.difference, 4, signed=True),
        "",
        pvalue(naive.pvalues["t"]),
        "t",
    )


def _restricted_table(comparison: Comparison, restricted: RestrictedLength) -> Table:
    """Show the search length over all queries, and its parts."""
    part = restricted.won_and_lost_test
    rows = (
        (
            "search length, ranks",
            "lower",
            str(restricted.n),
            str(restricted.better + restricted.worse),
            fixed(restricted.baseline, 2),
            fixed(restricted.contender, 2),
            fixed(restricted.difference, 2, signed=True),
            interval(restricted.interval, 2, signed=True),
            pvalue(restricted.test.pvalue),
            restricted.test.name,
        ),
        ("  part of both", "", "", "", "", "", fixed(restricted.both, 2, signed=True), "", "", ""),
        (
            "  part of won and lost",
            *("", "", "", "", ""),
            fixed(restricted.won_and_lost, 2, signed=True),
            "",
            pvalue(part.pvalue),
            part.name,
        ),
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


def _better(higher_is_better: bool) -> str:
    return "higher" if higher_is_better else "lower"


def _places(facet: Facet) -> int:
    return 2 if facet.measured_in in ("percentage points", "ranks") else 4


def _sizes(comparison: Comparison) -> str:
    """Say how large the changes are: odds of won to lost, ratio of search lengths, shift of a typical query."""
    coverage, ranking = comparison.coverage, comparison.ranking
    sizes = []
    if coverage.effect_size is not None and coverage.odds_interval is not None:
        low, high = coverage.odds_interval
        ends = f"[{fixed(low, 2)}, {'no limit' if high is None else fixed(high, 2)}]"
        sizes.append(f"won : lost {fixed(coverage.effect_size, 2)} {ends}")
    if ranking.ratio is not None and ranking.ratio_interval is not None:
        sizes.append(f"B reads {fixed(ranking.ratio, 2)} {interval(ranking.ratio_interval, 2)} times as far as A")
    if ranking.shift is not None:
        places = _places(ranking)
        shift = f"{fixed(ranking.shift, places, signed=True)} {interval(ranking.shift_interval, places, signed=True)}"
        sizes.append(f"typical query {shift} {ranking.measured_in} (Hodges-Lehmann)")
    return "; ".join(sizes)


def _statement(comparison: Comparison, title: str, explained: bool) -> Statement:
    sentences = [comparison.verdict.sentence] if explained else []
    if comparison.settings.margins is not None:
        sentences.append(_margin_sentence(comparison, comparison.settings.margins))
    if explained and len(comparison.cutoffs) > 1 and len({at.label for at in comparison.cutoffs}) == 1:
        sentences.append(f"The label is the same at the cutoffs {listed([str(at.cutoff) for at in comparison.cutoffs])}.")
    return Statement(title, comparison.verdict.label, tuple(sentences))


def _margin_sentence(comparison: Comparison, margins: tuple[float, float]) -> str:
    named = f"{margins[0]:g} pp of coverage and {margins[1]:g} {comparison.ranking.measured_in}"
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


def _names(comparisons: Comparisons) -> list[str]:
    """Name each comparison: by the contender, and by the baseline too where there are several."""
    if len({item.baseline for item in comparisons}) > 1:
        return [f"{item.baseline} : {item.contender}" for item in comparisons]
    return [item.contender for item in comparisons]


def _table_2(comparisons: Comparisons) -> Table:
    """Show the columns of Table 2 of Lin et al. 2021 in short, with the verdict."""
    first = comparisons[0]
    columns = (
        Column("run"),
        *(Column(name, "number") for name in ("lost", "won", "both", "cov")),
        Column("p", "pvalue"),
        Column("A", "number"),
        Column("B", "number"),
        Column("p", "pvalue"),
        Column("all", "number"),
        Column("verdict", "label"),
    )
    rows = []
    for name, item in zip(_names(comparisons), comparisons, strict=True):
        rows.append(
            (
                name,
                *(percent(_share(item, outcome)) for outcome in ("lost", "won", "both")),
                fixed(item.coverage.difference, 1, signed=True),
                pvalue(item.coverage.pvalue_corrected),
                *(fixed(length, _places(item.ranking)) for length in (item.ranking.baseline, item.ranking.contender)),
                pvalue(item.ranking.pvalue_corrected),
                NOTHING if item.restricted is None else fixed(item.restricted.difference, 2, signed=True),
                item.verdict.label,
            )
        )
    over_all = [None if item.restricted is None else item.restricted.difference for item in comparisons]
    mean = "mean search length" if first.reciprocal is not None else f"mean {first.ranking.measured_in}"
    unit = ", ranks" if first.ranking.measured_in == "ranks" else ""
    return Table(
        _title(comparisons),
        _head(first),
        columns,
        tuple(rows),
        f"lost, won, both: outcomes in % of the {_items(first)}; cov: change of coverage, percentage points, higher is better; "
        f"A, B: {mean} of baseline and contender on what both find{unit}, {_better(first.ranking.higher_is_better)} is better "
        "(A differs from row to row, because each row has its own queries that both answer); all: change of the search length "
        f"over all queries{_restricted_caption(first)}, lower is better; "
        f"p: corrected by {first.settings.correction} over {plural('comparison', first.settings.family)}.",
        best=best([item.coverage.difference for item in comparisons], 4, higher_is_better=True)
        | best(over_all, 9, higher_is_better=False),
        significant=_significant([item.coverage for item in comparisons], 4)
        | _significant([item.ranking for item in comparisons], 7),
    )


def _restricted_caption(comparison: Comparison) -> str:
    if comparison.restricted is None:
        return ""
    return f", counting {comparison.restricted.horizon + 1} where nothing is found"


def _significant(facets: Sequence[Facet], column: int) -> frozenset[Cell]:
    return frozenset((row, column) for row, facet in enumerate(facets) if facet.pvalue_corrected <= facet.alpha)


def _paper_table(comparisons: Sequence[Comparison]) -> Table:
    """Show the columns of Tables 1 and 2 of Lin et al. 2021, and the coverage test and verdict that they leave out."""
    first = comparisons[0]
    on_ranks = first.reciprocal is not None
    both = "(3) both find"
    columns = [
        Column("A", group="Runs"),
        Column("B", group="Runs"),
        Column("difference", "number", "MRR" if on_ranks else "mean"),
        *(Column(f"{test} p", "pvalue", "MRR" if on_ranks else "mean") for test in ("WRS", "WSR", "t")),
        Column("all", "number", "(1) neither"),
        Column("A wins", "number", "(2) one run finds"),
        Column("B wins", "number", "(2) one run finds"),
        Column("p", "pvalue", "(2) one run finds"),
        Column("all", "number", both),
        *_paper_columns("ESL" if on_ranks else first.ranking.measured_in, both),
        *(_paper_columns("RR", both) if on_ranks else ()),
        Column("verdict", "label"),
    ]
    rows = []
    for item in comparisons:
        shares = [percent(_share(item, outcome)) for outcome in OUTCOMES]
        naive = item.naive
        cells = [item.baseline, item.contender, fixed(naive.difference, 4, signed=True)]
        cells += [pvalue(naive.pvalues[test]) for test in ("ranksum", "wilcoxon", "t")]
        cells += [*shares[:3], pvalue(item.coverage.pvalue), shares[3]]
        for facet in filter(None, (item.ranking, item.reciprocal)):
            cells += [fixed(mean, _places(facet)) for mean in (facet.baseline, facet.contender)]
            cells += [pvalue(facet.pvalues[test]) for test in ("wilcoxon", "t")]
        rows.append((*cells, item.verdict.label))
    return Table(
        "The columns of Tables 1 and 2 of Lin et al. 2021",
        _head(first),
        tuple(columns),
        tuple(rows),
        f"Outcomes in % of the {_items(first)}; differences are B minus A; WRS: Wilcoxon rank sum, WSR: Wilcoxon signed rank, "
        "t: paired t test; p-values are raw. Lower is better for ESL, higher for MRR and RR. A differs from row to row under "
        "(3), because each row has its own queries that both answer. The verdict uses corrected p-values.",
    )


def _paper_columns(measure: str, group: str) -> list[Column]:
    means = [Column(f"{run} {measure}", "number", group) for run in "AB"]
    return [*means, Column(f"{measure} WSR p", "pvalue", group), Column(f"{measure} t p", "pvalue", group)]


def _merged_notes(comparisons: Comparisons) -> Iterator[str]:
    """Say each note once, with the runs it is about where it is not about all.

    Notes that differ only in names and numbers are of one kind. Of a kind the first is shown, and the runs with other numbers
    are named; their notes are in the comparisons themselves.
    """
    names = _names(comparisons)
    kinds: dict[str, dict[str, list[str]]] = {}
    places: dict[str, int] = {}  # the most important notes of a comparison come first, and so do those of all
    for name, item in zip(names, comparisons, strict=True):
        for place, note in enumerate(item.notes):
            kind = _kind(note, item)
            kinds.setdefault(kind, {}).setdefault(note, []).append(name)
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
