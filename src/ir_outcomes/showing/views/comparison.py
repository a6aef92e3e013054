"""What is shown of a comparison, of several, and of the queries of one."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ir_outcomes.comparison.facets import Facet, Naive, RestrictedLength
from ir_outcomes.comparison.result import (
    QUERY_COLUMNS,
    Comparison,
    Comparisons,
    Queries,
    QueryOutcome,
    columns_of,
    measures_of,
    paper_columns,
)  # fmt: skip
from ir_outcomes.comparison.verdict import LABELS, SummaryVerdict
from ir_outcomes.comparison.wording import HEADLINES, coverage_words, size
from ir_outcomes.errors import some
from ir_outcomes.formatting import NOTHING, fixed, interval, listed, percent, plural, pvalue, pvalue_in_words
from ir_outcomes.results import Column, chosen
from ir_outcomes.showing import (
    Table,
    View,
    better,
    items_words,
    level_words,
    marked_best,
    places_of,
    queries_words,
    settings_words,
    table_of,
    table_of_texts,
    view_of,
)
from ir_outcomes.statistics import Test

LONGEST_NAME = 36  # of a run on the first screen
MARK = "*"  # significant before the correction, and not after it


Measured = Facet | RestrictedLength | Naive


@view_of.register
def _comparison(comparison: Comparison) -> View:
    alpha, whole = comparison.alpha, comparison.restricted
    facets: list[tuple[Facet | RestrictedLength, str | None]] = [
        (facet, corrected_p(facet)) for facet in (comparison.coverage, comparison.ranking)
    ]
    if whole is not None:
        facets.append((whole, pvalue(whole.pvalue, alpha)))
    rows = [(_named(facet), better(facet.higher_is_better), *_cells(facet), p) for facet, p in facets]
    headings = [(" ", ""), ("  ", ""), *_headings(alpha), ("p", "n")]
    return View(
        _title(comparison),
        comparison.verdict.label,
        tuple(_answer(comparison)),
        (table_of_texts(headings, rows, _outcomes_line(comparison), settings_caption(comparison)),),
        comparison.notes,
        "tests, effect sizes, power, unjudged documents",
        (_outcome_table(comparison), _tests_table(comparison)),
        (*_full_names(comparison), comparison.verdict.sentence, *_same_everywhere(comparison), *comparison.background),
    )


def _headings(alpha: float) -> list[tuple[str, str]]:
    return [("A", "n"), ("B", "n"), ("B - A", "n"), (level_words(alpha), "n")]


def _named(facet: Facet | RestrictedLength) -> str:
    unit = {"percentage points": ", %", "reciprocal": ""}.get(facet.measured_in, f", {facet.measured_in}")
    return f"{facet.name}{unit}"


def _cells(measured: Measured) -> tuple[str, ...]:
    """Write the means of both runs, their difference and its interval."""
    places = 4 if isinstance(measured, Naive) else places_of(measured.measured_in)
    return (
        fixed(measured.baseline, places),
        fixed(measured.contender, places),
        fixed(measured.difference, places, signed=True),
        NOTHING if isinstance(measured, Naive) else interval(measured.interval, places, signed=True),
    )


def _title(result: Comparison | Queries) -> str:
    """Say who is compared; of a name that is too long for the first screen only what is around the first difference."""
    names = (result.contender, result.baseline)
    differ = (place for place, (one, other) in enumerate(zip(*names, strict=False)) if one != other)
    start = max(0, next(differ, min(map(len, names))) - 10)
    contender, baseline = (
        name if len(name) <= LONGEST_NAME else f"{'...' if start else ''}{name[start : start + LONGEST_NAME - 6]}..."
        for name in names
    )
    return f"{contender} (B) against {baseline} (A)"


def _full_names(comparison: Comparison) -> Iterator[str]:
    if max(len(comparison.contender), len(comparison.baseline)) > LONGEST_NAME:
        yield f"A is {comparison.baseline}, B is {comparison.contender}."


def _answer(comparison: Comparison) -> Iterator[str]:
    """Say the differences in plain words."""
    if not comparison.coverage.n_nonzero and not comparison.ranking.n_nonzero:
        yield "The two runs do not differ on any query."
    else:
        chance = [
            "not significant" if facet.difference and facet.corrected > facet.alpha else ""
            for facet in (comparison.coverage, comparison.ranking)
        ]
        if comparison.verdict.label == "no significant difference":  # said once, below
            chance = ["", ""]
        of_ranking = f" ({chance[1]})" if chance[1] else ""
        yield f"It {coverage_words(comparison, test=chance[0])}, and {_ranking_words(comparison)}{of_ranking}."
        if comparison.verdict.label == "no significant difference":
            yield "These differences may be chance."
    if comparison.settings.margins is not None:
        yield _margin_sentence(comparison)


def _ranking_words(comparison: Comparison) -> str:
    ranking = comparison.ranking
    if ranking.difference is None:
        return "nothing is found by both, so their rankings cannot be compared"
    subject, unit, words = f"where both do, {ranking.measured_in} is", "", ("higher", "lower")
    if ranking.measured_in == "ranks":
        by_query = comparison.unit == "query"
        subject = "where both answer, the first answer stands" if by_query else "what both find stands"
        unit, words = " ranks", ("lower", "higher")
    if not ranking.difference:
        return f"{subject} equally high on average"
    change = size(ranking.difference, places_of(ranking.measured_in))
    return f"{subject} {change}{unit} {words[0] if ranking.difference > 0 else words[1]}"


def _margin_sentence(comparison: Comparison) -> str:
    margins = comparison.settings.margins or ()
    units = ("points of coverage", "ranks", "ranks over all queries")
    named = listed([f"{margin:g} {unit}" for margin, unit in zip(margins, units, strict=False) if margin is not None])
    if comparison.verdict.equivalent:
        return f"Equivalent within margins of {named}: larger differences are excluded in both directions."
    if comparison.verdict.non_inferior:
        return f"Non-inferior at margins of {named}: larger harm is excluded."
    return f"Not shown to be non-inferior at margins of {named}: larger harm is not excluded."


def corrected_p(facet: Facet | None) -> str | None:
    """Write the p-value that the label depends on, with a mark where only the raw one is significant."""
    if facet is None:
        return None
    lost = facet.pvalue <= facet.alpha < facet.corrected
    return f"{pvalue(facet.corrected, facet.alpha)}{MARK if lost else ''}"


def _outcomes_line(comparison: Comparison) -> str:
    counts = ", ".join(f"{name} {getattr(comparison.outcomes, name)}" for name in ("won", "both", "neither", "lost"))
    queries = queries_words(comparison.n_queries, comparison.n_unanswerable, comparison.settings.n_clusters)
    return f"{queries}{': ' if comparison.unit == 'query' else '; documents '}{counts}"


def settings_caption(comparison: Comparison, *left_out: str) -> str:
    """Say how runs were compared."""
    return "; ".join([", ".join(_settings([comparison], *left_out)), *corrected_words([comparison])])


def _settings(comparisons: Sequence[Comparison], *left_out: str) -> list[str]:
    """Return the settings in words; the values of a measure have no cutoff but the one in its name."""
    first = comparisons[0]
    own = ("cutoff",) if first.settings.cutoff is None and first.ranking.measured_in != "ranks" else ()
    depths = [item.restricted.horizon for item in comparisons if item.restricted is not None]
    return settings_words(first.settings, *left_out, *own, depth=max(depths, default=None))


def corrected_words(comparisons: Iterable[Comparison], what: str = "run") -> Iterator[str]:
    """Say how p-values are corrected and what the mark means, where there are several comparisons."""
    first, *others = comparisons
    settings = first.settings
    if settings.family == 1 or settings.correction == "none":
        return
    rule, family = CORRECTIONS[settings.correction], plural(what, settings.family)
    yield f"intervals of each by itself, p and labels by {rule} over {family}"
    facets = [facet for item in (first, *others) for facet in (item.coverage, item.ranking)]
    if any(facet.pvalue <= facet.alpha < facet.corrected for facet in facets):
        yield f"{MARK}: at most {settings.alpha:g} before it"


CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "fdr_bh": "Benjamini and Hochberg", "tukey": "Tukey"}


def _outcome_table(comparison: Comparison) -> Table:
    by_query, outcomes, shares = comparison.unit == "query", comparison.outcomes, comparison.outcomes.shares
    rows = [
        (
            name,
            found_by,
            getattr(outcomes, name),
            percent(None if shares is None else getattr(shares, name), 2, unit=" %"),
            NOTHING if median is None else f"{median:g}",
        )
        for name, found_by, median in (
            ("won", f"only {comparison.contender}", outcomes.won_at),
            ("both", "both runs", None),
            ("neither", "neither run", None),
            ("lost", f"only {comparison.baseline}", outcomes.lost_at),
        )
    ]
    found = f"found within {comparison.cutoff} by" if comparison.cutoff else "found by"
    items, share = ("queries", "share") if by_query else ("documents", "share within queries")
    caption = "" if by_query else "share within queries: averaged within each query first, so that each query weighs the same"
    headings = [("outcome", ""), (found, ""), (items, "n"), (share, "n"), ("median rank", "n")]
    return table_of_texts(headings, rows, caption)


def _tests_table(comparison: Comparison) -> Table:
    """Show every measured quantity with its raw p-value, and sizes of the changes below."""
    alpha, naive, whole = comparison.alpha, comparison.naive, comparison.restricted
    facets = [facet for facet in (comparison.coverage, comparison.ranking, comparison.reciprocal) if facet is not None]
    tested = [(_named(facet), facet.n, facet.n_nonzero, facet, facet.decides) for facet in facets]
    t, name = naive.tests["t"], "naive MRR" if comparison.reciprocal is not None else "naive mean"
    measured: list[tuple[str, int, int, Measured, Test]] = [*tested, (name, comparison.n_queries, t.n_nonzero, naive, t)]
    captions = ["n: queries that the line is measured on; differ: those on which the runs differ; p: not corrected"]
    if whole is not None:
        measured.append((_named(whole), whole.n, whole.n_nonzero, whole, whole.test))
    rows: list[Sequence[Any]] = [
        (name, n, differ, *_cells(what), pvalue(test.pvalue, alpha), test.name) for name, n, differ, what, test in measured
    ]
    if whole is not None:
        both, part = (fixed(value, 2, signed=True) for value in (whole.both, whole.won_and_lost))
        test, nothing = whole.won_and_lost_test, [NOTHING] * 4
        rows.append(("  part of both", *nothing, both, NOTHING, NOTHING, ""))
        rows.append(("  part of won and lost", *nothing, part, NOTHING, pvalue(test.pvalue, alpha), test.name))
        captions += [
            f"all queries: where a run finds nothing, its search length counts as {whole.horizon + 1}",
            f"shorter on {plural('query', whole.better)}, longer on {whole.worse}, equal on {whole.equal} "
            f"(sign test, {pvalue_in_words(whole.sign_test.pvalue)})",
        ]
    headings = [(" ", ""), ("n", "n"), ("differ", "n"), *_headings(alpha), ("p", "n"), ("test", "")]
    return table_of_texts(headings, rows, *captions, *_sizes(comparison))


def _sizes(comparison: Comparison) -> Iterator[str]:
    """Say how large the changes are: odds of won to lost, ratio of search lengths."""
    coverage, ranking = comparison.coverage, comparison.ranking
    if coverage.effect_size is not None and coverage.odds_interval is not None:
        low, high = coverage.odds_interval
        ends = f"[{fixed(low, 2)}, {'no limit' if high is None else fixed(high, 2)}]"
        yield f"won : lost {fixed(coverage.effect_size, 2)} {ends}"
    if ranking.ratio is not None and ranking.ratio_interval is not None:
        yield f"mean search length, B / A: {fixed(ranking.ratio, 2)} {interval(ranking.ratio_interval, 2)}"


def _same_everywhere(comparison: Comparison) -> Iterator[str]:
    labels = {at.label for at in comparison.cutoffs}
    if len(comparison.cutoffs) > 1:
        where = listed([str(at.cutoff) for at in comparison.cutoffs])
        each = "; ".join(f"{at.cutoff}: {at.label}" for at in comparison.cutoffs)
        yield f"The label is the same at the cutoffs {where}." if len(labels) == 1 else f"Labels by cutoff: {each}."


@view_of.register
def _comparisons(comparisons: Comparisons) -> View:
    if not comparisons.items:
        return View("There is no comparison", notes=comparisons.notes)
    ranked = sorted(comparisons, key=worst_last)
    first, alpha = ranked[0], ranked[0].alpha
    pairs = len({item.baseline for item in ranked}) > 1
    against = "" if pairs else f" against {first.baseline} (A)"
    captions = [
        f"{queries_words(first.n_queries, first.n_unanswerable, first.settings.n_clusters)}, {', '.join(_settings(ranked))}",
        "; ".join(corrected_words(ranked, "pair" if pairs else "run")),
    ]
    declared = columns_of(ranked)
    columns = (
        *chosen(declared, *(("contender=B", "baseline=A") if pairs else ("contender=run",)), "verdict"),
        *short_columns(ranked),
    )
    table = marked_best(
        table_of(columns, ranked, *captions, alpha=alpha),
        coverage_difference=([item.coverage.difference for item in ranked], True),
        restricted_difference=([None if item.restricted is None else item.restricted.difference for item in ranked], False),
    )
    significant = {
        (row, place)
        for row, item in enumerate(ranked)
        for place, column in enumerate(table.columns)
        for facet in (item.coverage, item.ranking)
        if column.name == f"{facet.name}_difference" and facet.corrected <= facet.alpha
    }
    return View(
        f"{plural('pair' if pairs else 'run', len(ranked))}{against}",
        counted_labels([item.verdict.label for item in ranked]),
        (),
        (replace(table, significant=frozenset(significant)),),
        (*comparisons.notes, *merged_notes(ranked, pairs)),
        "intervals, outcomes, tests, power",
        _details_tables(ranked, pairs),
        tuple(merged_notes(ranked, pairs, background=True)),
    )


def short_columns(comparisons: Sequence[Comparison]) -> tuple[Column, ...]:
    """Return differences with corrected p-values: coverage, ranking, all queries."""
    declared = columns_of(comparisons)
    shown = [
        *chosen(declared, "coverage_difference"),
        Column("coverage p", lambda item: corrected_p(item.coverage), "p", "n"),
        *chosen(declared, "ranking_difference"),
        Column("ranking p", lambda item: corrected_p(item.ranking), "p", "n"),
    ]
    if all(item.restricted for item in comparisons):
        shown += chosen(declared, "restricted_difference")
    groups = {"coverage_difference": "coverage", "ranking_difference": "ranking", "restricted_difference": "all"}
    groups |= {"coverage p": "coverage", "ranking p": "ranking"}
    return tuple(replace(column, group=groups[column.name], heading=column.unit or "p", unit="") for column in shown)


def worst_last(comparison: Comparison) -> tuple[int, float]:
    """Order comparisons by their label, best first, and within it by the search length over all queries."""
    whole = comparison.restricted
    return LABELS.index(comparison.verdict.label), -comparison.ranking.gain if whole is None else whole.difference


def counted_labels(labels: Sequence[str]) -> str:
    """Count labels, the best first."""
    counts = Counter(labels)
    return ", ".join(f"{counts[label]} {label}" for label in LABELS if label in counts)


def _details_tables(comparisons: Sequence[Comparison], pairs: bool) -> tuple[Table, Table]:
    declared = columns_of(comparisons)
    first = comparisons[0]
    names = chosen(declared, *(("contender=B", "baseline=A") if pairs else ("contender=run",)))
    outcomes = chosen(declared, "won", "both", "neither", "lost", "won_at=won at rank", "lost_at=lost at rank")
    intervals = (
        *chosen(declared, "coverage", "coverage_p", "ranking_baseline=mean A", "ranking_contender=mean B"),
        *chosen(declared, "ranking", "ranking_p"),
    )
    caption = "means: on what both find; A differs from row to row, because each row has its own queries that both answer"
    return (
        table_of((*names, *outcomes), comparisons, title="Outcomes, and median ranks of what was won and lost"),
        table_of(
            (*names, *intervals), comparisons, caption, title=f"{level_words(first.alpha)}s, and p before the correction",
            alpha=first.alpha,
        ),
    )  # fmt: skip


_NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?")


def merged_notes(comparisons: Sequence[Comparison], pairs: bool = False, *, background: bool = False) -> list[str]:
    """Say each kind of note once: where it is about one run, with its numbers; else with the names of the runs."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for item in comparisons:
        name = f"{item.contender} : {item.baseline}" if pairs else item.contender
        for note in item.background if background else item.notes:
            headline = note.partition(": ")[0]
            kind = headline if headline in HEADLINES else _NUMBER.sub("#", headline.replace(name, "#"))
            kinds.setdefault(kind, []).append((name, note))
    merged = []
    for kind in sorted(kinds, key=lambda kind: HEADLINES.index(kind) if kind in HEADLINES else len(HEADLINES)):
        names, notes = zip(*kinds[kind], strict=True)
        headline, colon, rest = notes[0].partition(": ")
        if len(names) == len(comparisons) and len(set(notes)) == 1:
            merged.append(notes[0])
        elif len(names) == 1:
            merged.append(f"{headline.rstrip('.')}, for {names[0]}{colon or '.'}{rest}")
        else:
            merged.append(f"{headline.rstrip('.')}, for {len(names)} of {len(comparisons)}: {some(names, 2 if pairs else 3)}.")
    return merged


def paper_view(result: Any) -> View:
    """Show the columns of Tables 1 and 2 of Lin et al. 2021, and the coverage test and verdict that they leave out."""
    comparisons = [result] if isinstance(result, Comparison) else list(result)
    first = comparisons[0]
    length, reciprocal = measures_of(first)
    directions = f"Lower is better for {length}, higher for MRR and {reciprocal}. " if reciprocal else ""
    captions = (
        f"Outcomes in % of the {items_words(first.unit)}; differences are B minus A; WRS: Wilcoxon rank sum, WSR: Wilcoxon "
        f"signed rank, t: paired t test; p-values are raw, the verdict uses corrected ones. {directions}A differs from row to "
        "row under (3), because each row has its own queries that both answer.",
        f"{queries_words(first.n_queries, first.n_unanswerable, first.settings.n_clusters)}, {settings_caption(first)}",
    )
    table = table_of(paper_columns(first), comparisons, *captions, alpha=first.alpha)
    return View("The columns of Tables 1 and 2 of Lin et al. 2021", tables=(table,), notes=result.notes)


@view_of.register
def _published(result: SummaryVerdict) -> View:
    change = fixed(100 * (result.won - result.lost) / result.n, 2, signed=True)
    longer = fixed(result.ranking_difference, 2, signed=True)
    coverage_p, ranking_p, low, high = (
        pvalue(p, result.alpha) for p in (result.coverage_pvalue, result.ranking_pvalue, *result.coverage_pvalues)
    )
    rows = [
        ("coverage, points", "higher", change, coverage_p, f"[{low}, {high}]" if result.rounding else NOTHING),
        ("ranking, ranks", "lower", longer, ranking_p, NOTHING),
    ]
    headings = [(" ", ""), ("  ", ""), ("B - A", "n"), ("p", "n"), ("p within rounding", "n")]
    settings = (
        f"{plural('query', result.n)}: won {result.won:g}, lost {result.lost:g}; alpha {result.alpha:g}; p: not corrected"
    )
    if result.rounding:
        settings += f"; rounded to within {result.rounding:g} percentage points"
    table = table_of_texts(headings, rows, settings)
    return View("Verdict from published numbers", result.label, tuple(_rounding_sentences(result)), (table,), result.notes)


def _rounding_sentences(result: SummaryVerdict) -> Iterator[str]:
    yield f"The strict rule says {result.strict}, the do-no-harm rule {result.do_no_harm}."
    if result.rounding and result.survives_rounding:
        yield "All numbers that round to these give the same verdict."
    elif result.rounding:
        yield f"Numbers that round to these can also give: {listed(list(result.labels[1:]))}."


@view_of.register
def _queries(queries: Queries) -> View:
    which = "" if queries.which is None else f", {queries.which}"
    return View(f"{plural('query', len(queries))}{which}: {_title(queries)}", tables=(queries_table(queries),))


def queries_table(queries: Iterable[QueryOutcome], title: str = "") -> Table:
    """Lay out queries with their outcome, what each run found of them, and the search lengths."""
    columns = (column for column in QUERY_COLUMNS if column.name not in ("restricted", "cluster"))
    return table_of(tuple(columns), queries, title=title)
