"""What is shown of leaderboards, their history, their stability, and the agreement of halves of the queries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ir_outcomes.formatting import NOTHING, fixed, interval, percent, plural, pvalue
from ir_outcomes.leaderboards import Agreement, Leaderboard, RankCorrelation, RankDistribution, SotaHistory
from ir_outcomes.leaderboards.agreement import HalfAgreement
from ir_outcomes.leaderboards.board import Standing
from ir_outcomes.leaderboards.history import SotaRun
from ir_outcomes.leaderboards.pairs import PairVerdict
from ir_outcomes.showing.view import Column, Field, Layout, Table, View, best, of_part, tabulated, view_of
from ir_outcomes.showing.words import direction, level_words, queries_words, settings_words

MOST_GROUPS = 5
MOST_PLACES = 5  # as in Tables 1 and 2 of Craswell et al. 2021


@view_of.register
def _leaderboard(result: Leaderboard, layout: Layout) -> View:
    names = [standing.run for standing in result.standings]
    tables = [_standings(result)]
    if result.pairs:
        above = [result.verdict(*pair) for pair in pairwise(names)]
        tables.append(_verdicts("Against the run above", above, result.alpha))
    if result.pairs and len(names) > 2:  # the second run is in the table before
        from_best = [result.verdict(names[0], name) for name in names[2:]]
        tables.append(_verdicts(f"Against the best run, {names[0]}", from_best, result.alpha))
    if result.history is None:
        return View(tuple(tables), notes=result.notes)
    history = view_of(result.history, layout)
    return View((*tables, *history.tables), notes=(*result.notes, *history.notes))


def _standings(result: Leaderboard) -> Table:
    fields: list[Field[Standing]] = [
        (Column("", "number"), lambda standing: str(standing.rank)),
        (Column("run"), lambda standing: standing.run),
        (Column("mean", "number"), lambda standing: fixed(standing.score, 4)),
        (Column(level_words(result.alpha), "interval"), lambda standing: interval(standing.interval, 4)),
    ]
    best_cells = best([standing.score for standing in result.standings], 2, higher_is_better=result.higher_is_better)
    if result.settings is not None:
        fields += [
            (Column("coverage", "number"), lambda standing: fixed(standing.coverage, 1)),
            (Column("tier", "number"), lambda standing: str(standing.tier)),
        ]
        best_cells |= best([standing.coverage for standing in result.standings], 4, higher_is_better=True)
    return Table(
        f"{plural('run', len(result.standings))} by {result.measure} ({direction(result.higher_is_better)})",
        _standings_head(result),
        *tabulated(fields, result.standings),
        _standings_caption(result),
        best=best_cells,
    )


def _standings_head(result: Leaderboard) -> str:
    settings = result.settings
    if settings is None:
        return f"{plural('query', result.n_queries)}, alpha {result.alpha:g}"
    queries = queries_words(result.n_queries, result.n_unanswerable)
    corrected = f"verdicts corrected by {settings.correction} over {plural('pair', len(result.pairs))}"
    return ", ".join([queries, *settings_words(settings), corrected])


def _standings_caption(result: Leaderboard) -> str:
    if result.settings is None:
        return ""
    items = "queries answered" if result.settings.unit == "query" else "relevant documents found, averaged within queries"
    return (
        f"coverage: % of {items}, higher is better. tier: no run is better than a run of tier 1; only runs of earlier tiers "
        "are better than a run of a later tier, except in cycles."
    )


_VERDICT: list[Field[PairVerdict]] = [
    (Column("cov", "number"), lambda pair: fixed(pair.coverage, 1, signed=True)),
    (Column("A", "number"), lambda pair: fixed(pair.baseline_length, 2)),
    (Column("B", "number"), lambda pair: fixed(pair.contender_length, 2)),
    (Column("verdict", "label"), lambda pair: pair.label),
]


def _verdicts(title: str, pairs: Sequence[PairVerdict], alpha: float) -> Table:
    coverage, baseline, contender, verdict = _VERDICT
    fields: list[Field[PairVerdict]] = [
        (Column("run"), lambda pair: pair.contender),
        coverage,
        (Column("p", "pvalue"), lambda pair: pvalue(pair.coverage_p_corrected)),
        baseline,
        contender,
        (Column("p", "pvalue"), lambda pair: pvalue(pair.ranking_p_corrected)),
        verdict,
    ]
    return Table(
        title,
        "A: that run, B: the run of the row",
        *tabulated(fields, pairs),
        "cov: change of coverage, percentage points, higher is better; A, B: mean search length on what both find, ranks, "
        "lower is better (A differs from row to row, because each pair has its own queries that both answer); p: corrected.",
        significant=frozenset(
            (row, column)
            for row, pair in enumerate(pairs)
            for column, p in ((1, pair.coverage_p_corrected), (4, pair.ranking_p_corrected))
            if p <= alpha
        ),
    )


@view_of.register
def _history(result: SotaHistory, layout: Layout) -> View:
    fields: list[Field[SotaRun]] = [
        (Column("", "number"), lambda run: str(run.number)),
        (Column("date"), lambda run: run.date.isoformat()),
        (Column("run"), lambda run: run.run),
        (Column("score", "number"), lambda run: f"{run.score:.4g}"),
        (Column("gain", "number"), lambda run: fixed(run.gain, 4, signed=True)),
        (Column("looks", "number"), lambda run: str(run.looks)),
        (Column("group"), lambda run: run.group or NOTHING),
    ]
    caption = (
        "gain: over the run displaced; looks: submissions up to and including this one, without the organizers' baselines."
    )
    if any(run.verdict is not None for run in result.runs):
        fields += [of_part(lambda run: run.verdict, field) for field in _VERDICT]
        caption += (
            " The verdict is on this run (B) against the run it displaced (A): cov is the change of coverage in percentage "
            "points, A and B are mean search lengths on what both find, and p-values are multiplied by the number of looks."
        )
    groups = [f"{group} {number}" for group, number in list(result.submissions.items())[:MOST_GROUPS]]
    more = len(result.submissions) - len(groups)
    others = [f"and {plural('other group', more)}"] if more else []
    listed = f"Most submissions: {'; '.join([*groups, *others])}."
    table = Table(
        f"{plural('run', len(result.runs))} took first place by {result.score} ({direction(result.higher_is_better)})",
        f"{plural('entry', len(result.entries))} with a score",
        *tabulated(fields, result.runs),
        caption,
        (listed,) if groups else (),
    )
    return View((table,), notes=result.notes)


@view_of.register
def _rank_distribution(result: RankDistribution, layout: Layout) -> View:
    places = min(MOST_PLACES, len(result.runs))
    shares = result.place_shares(places)
    columns = (
        Column("", "number"),
        Column("run"),
        Column("mean", "number"),
        Column("expected", "number"),
        Column(f"{100 * result.level:g} %", "interval"),
        *(Column(str(place), "number", group="rank, %") for place in range(1, places + 1)),
        Column(f"top {result.top_k}", "number"),
        Column("over next", "number"),
    )
    rows = tuple(
        (
            str(run.rank),
            run.run,
            fixed(run.score, 4),
            fixed(run.expected_rank, 2),
            f"{run.low:.0f}..{run.high:.0f}",
            *map(percent, shares[run.run]),
            percent(run.top),
            percent(run.above[place + 1]) if place + 1 < len(result.runs) else NOTHING,
        )
        for place, run in enumerate(result.runs)
    )
    condition = f", {result.condition}" if result.condition else ""
    tau = "undefined, because all runs tie" if result.median_tau is None else fixed(result.median_tau, 3)
    table = Table(
        f"Ranks of {plural('run', len(rows))} by {result.measure} ({direction(result.higher_is_better)}){condition}",
        f"{plural('bootstrap resample', result.resamples)} of {plural('query', result.n_queries)}, seed {result.seed}",
        columns,
        rows,
        f"expected: mean rank over the resamples; {columns[4].heading}: interval of the rank; rank, "
        f"top {result.top_k}, over next: % of the resamples in which the run has this rank (alone or shared), is among "
        f"the top {result.top_k}, and is above the run below it.",
        (f"Median Kendall's tau between the order on a resample and the order on all queries: {tau}.",),
        best=best([run.score for run in result.runs], 2, higher_is_better=result.higher_is_better),
    )
    return View((table,), notes=result.notes)


@view_of.register
def _rank_correlation(result: RankCorrelation, layout: Layout) -> View:
    pairs = len(result.runs) * (len(result.runs) - 1) // 2
    tau = "undefined, because all runs tie in one of them" if result.tau is None else fixed(result.tau, 3)
    table = Table(
        f"{plural('run', len(result.runs))} in the order of {result.first} and of {result.second}",
        "",
        (Column("run"), Column(result.first, "number"), Column(result.second, "number")),
        tuple((run.run, str(run.first), str(run.second)) for run in result.runs),
        "Ranks, 1 is the best.",
        (f"Kendall's tau: {tau}; {result.swapped} of {plural('pair', pairs)} of runs in opposite order.",),
    )
    return View((table,), notes=result.notes)


_TEST_NAMES = {"sign": "sign", "ranksum": "rank sum", "wilcoxon": "signed rank", "t": "t", "two facets": "two facets"}
_TESTED: list[Field[HalfAgreement]] = [
    (Column("measure"), lambda row: row.measure),
    (Column("test"), lambda row: _TEST_NAMES[row.test]),
    (Column("by"), lambda row: row.aggregate or NOTHING),
]
_SAME_LABEL: list[Field[HalfAgreement]] = [
    (Column("same", "number"), lambda row: percent(row.same)),
    (Column("one side", "number"), lambda row: percent(row.one_sided)),
    (Column("opposite", "number"), lambda row: percent(row.opposite)),
    (Column("decided", "number"), lambda row: percent(row.decided)),
    (Column("replicates", "number"), lambda row: percent(row.replicates)),
]
_SAME_BETTER: list[Field[HalfAgreement]] = [
    (Column("agree", "number"), lambda row: percent(row.agree)),
    (Column("partly", "number"), lambda row: percent(row.partial)),
    (Column("disagree", "number"), lambda row: percent(row.disagree)),
    (Column("significant", "number"), lambda row: percent(row.significant)),
]


@view_of.register
def _agreement(result: Agreement, layout: Layout) -> View:
    every = (*result.tests, *(() if result.verdict is None else (result.verdict,)))
    cutoff = "" if result.cutoff is None else f", verdicts at cutoff {result.cutoff}"
    head = (
        f"{plural('random split', result.splits)} of {plural('query', result.n_queries)}, seed {result.seed}, alpha "
        f"{result.alpha:g}{cutoff}"
    )
    labels = Table(
        f"Agreement between halves of the queries, {plural('run', result.n_runs)}, {plural('pair', result.n_pairs)}",
        head,
        *tabulated([*_TESTED, *_SAME_LABEL], every),
        "In % of splits and pairs, by the direction of each half: better, worse or none, of tests and verdicts alike. same: "
        "the same direction in both halves, or none in both; one side: only one half decides, that is has a direction; "
        "opposite: better in one half, worse in the other; decided: at least one half decides. replicates: % of the halves "
        "that decide whose other half has the same direction. by: the aggregate that says which run is better.",
        _verdict_sentences(result),
    )
    craswell = Table(
        "The same by the definition of Craswell et al. 2021, Table 4",
        head,
        *tabulated([*_TESTED, *_SAME_BETTER], result.tests),
        "In % of splits and pairs. Which run is better counts here even where neither half is significant; significant: in at "
        "least one half.",
    )
    return View((labels, craswell), notes=result.notes)


def _verdict_sentences(result: Agreement) -> tuple[str, ...]:
    verdict = result.verdict
    if verdict is None:
        return ()
    same, opposite, replicates = (percent(share, unit=" %") for share in (verdict.same, verdict.opposite, verdict.replicates))
    replicated = (
        "no half decides"
        if verdict.replicates is None
        else f"where a half decides, the other half has the same direction in {replicates}"
    )
    return (
        f"Two-facet verdict: both halves have the same direction in {same} of splits and pairs; {replicated}; they contradict "
        f"each other (better in one, worse in the other) in {opposite}.",
    )
