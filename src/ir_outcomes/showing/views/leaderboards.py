"""What is shown of leaderboards, their history, their stability, and the agreement of halves of the queries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ir_outcomes._formatting import NOTHING, fixed, interval, percent, plural, pvalue
from ir_outcomes.leaderboards import Agreement, Leaderboard, RankDistribution, SotaHistory
from ir_outcomes.leaderboards.pairs import PairVerdict
from ir_outcomes.showing.view import Column, Layout, Table, View, best, view_of

MOST_GROUPS = 5


@view_of.register
def _leaderboard(result: Leaderboard, layout: Layout) -> View:
    names = [standing.run for standing in result.standings]
    alpha = result.settings.alpha
    above = [result.verdict(*pair) for pair in pairwise(names)]
    tables = [_standings(result), _verdicts("Against the run above", above, alpha)]
    if len(names) > 2:  # the second run is in the table before
        from_best = [result.verdict(names[0], name) for name in names[2:]]
        tables.append(_verdicts(f"Against the best run, {names[0]}", from_best, alpha))
    if result.history is None:
        return View(tuple(tables), notes=result.notes)
    history = view_of(result.history, layout)
    return View((*tables, *history.tables), notes=(*result.notes, *history.notes))


def _standings(result: Leaderboard) -> Table:
    settings = result.settings
    items = "queries answered" if settings.unit == "query" else "relevant documents found, averaged within queries"
    unanswerable = f" ({result.n_unanswerable} unanswerable left out)" if result.n_unanswerable else ""
    columns = (
        Column("", "number"),
        Column("run"),
        Column("mean", "number"),
        Column(f"{100 * (1 - settings.alpha):g} % interval", "interval"),
        Column("coverage", "number"),
        Column("tier", "number"),
    )
    rows = tuple(
        (
            str(standing.rank),
            standing.run,
            fixed(standing.score, 4),
            interval(standing.interval, 4),
            fixed(standing.coverage, 1),
            str(standing.tier),
        )
        for standing in result.standings
    )
    scores = [standing.score for standing in result.standings]
    coverages = [standing.coverage for standing in result.standings]
    return Table(
        f"{plural('run', len(rows))} by {result.measure} ({_direction(result.higher_is_better)})",
        f"{plural('query', result.n_queries)}{unanswerable}, cutoff {settings.cutoff}, rel {settings.rel}, "
        f"unit {settings.unit}, ties {settings.ties}, alpha {settings.alpha:g}, verdicts corrected by {settings.correction} "
        f"over {plural('pair', len(result.pairs))}",
        columns,
        rows,
        f"coverage: % of {items}, higher is better. tier: no run is better than a run of tier 1; only runs of earlier tiers "
        "are better than a run of a later tier, except in cycles.",
        best=best(scores, 2, higher_is_better=result.higher_is_better) | best(coverages, 4, higher_is_better=True),
    )


def _verdicts(title: str, pairs: Sequence[PairVerdict], alpha: float) -> Table:
    rows = []
    for pair in pairs:
        coverage, *lengths, label = _verdict_cells(pair)
        rows.append(
            (
                pair.contender,
                coverage,
                pvalue(pair.coverage_p_corrected),
                *lengths,
                pvalue(pair.ranking_p_corrected),
                label,
            )
        )
    columns = (
        Column("run"),
        Column("cov", "number"),
        Column("p", "pvalue"),
        Column("A", "number"),
        Column("B", "number"),
        Column("p", "pvalue"),
        Column("verdict", "label"),
    )
    return Table(
        title,
        "A: that run, B: the run of the row",
        columns,
        tuple(rows),
        "cov: change of coverage, percentage points, higher is better; A, B: mean search length on what both find, ranks, "
        "lower is better (A differs from row to row, because each pair has its own queries that both answer); p: corrected.",
        significant=frozenset(
            (row, column)
            for row, pair in enumerate(pairs)
            for column, p in ((1, pair.coverage_p_corrected), (4, pair.ranking_p_corrected))
            if p <= alpha
        ),
    )


def _verdict_cells(pair: PairVerdict | None) -> tuple[str, str, str, str]:
    if pair is None:
        return (NOTHING,) * 4
    lengths = fixed(pair.baseline_length, 2), fixed(pair.contender_length, 2)
    return (fixed(pair.coverage, 1, signed=True), *lengths, pair.label)


@view_of.register
def _history(result: SotaHistory, layout: Layout) -> View:
    has_verdicts = any(run.verdict is not None for run in result.runs)
    columns = [
        Column("", "number"),
        Column("date"),
        Column("run"),
        Column("score", "number"),
        Column("gain", "number"),
        Column("looks", "number"),
        Column("group"),
    ]
    if has_verdicts:
        columns += [Column(name, "number") for name in ("cov", "A", "B")] + [Column("verdict", "label")]
    rows = []
    for run in result.runs:
        cells = [
            str(run.number),
            run.date.isoformat(),
            run.run,
            f"{run.score:.4g}",
            fixed(run.gain, 4, signed=True),
            str(run.looks),
            run.group or NOTHING,
        ]
        rows.append((*cells, *(_verdict_cells(run.verdict) if has_verdicts else ())))
    groups = [f"{group} {number}" for group, number in list(result.submissions.items())[:MOST_GROUPS]]
    more = len(result.submissions) - len(groups)
    others = [f"and {plural('other group', more)}"] if more else []
    listed = f"Most submissions: {'; '.join([*groups, *others])}."
    explained = (
        " The verdict is on this run (B) against the run it displaced (A): cov is the change of coverage in percentage points, "
        "A and B are mean search lengths on what both find, and p-values are multiplied by the number of looks."
        if has_verdicts
        else ""
    )
    return View(
        (
            Table(
                f"{plural('run', len(rows))} took the top by {result.score} ({_direction(result.higher_is_better)})",
                f"{plural('entry', len(result.entries))} with a score",
                tuple(columns),
                tuple(rows),
                "gain: over the run displaced; looks: submissions up to and including this one, without the organizers' "
                f"baselines.{explained}",
                (listed,) if groups else (),
            ),
        ),
        notes=result.notes,
    )


@view_of.register
def _rank_distribution(result: RankDistribution, layout: Layout) -> View:
    columns = (
        Column("", "number"),
        Column("run"),
        Column("mean", "number"),
        Column("expected", "number"),
        Column(f"{100 * result.level:g} %", "interval"),
        Column("first", "number"),
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
            percent(run.first),
            percent(run.top),
            percent(run.above[place + 1]) if place + 1 < len(result.runs) else NOTHING,
        )
        for place, run in enumerate(result.runs)
    )
    condition = f", {result.condition}" if result.condition else ""
    tau = "undefined, because all runs tie" if result.median_tau is None else fixed(result.median_tau, 3)
    return View(
        (
            Table(
                f"Ranks of {plural('run', len(rows))} by {result.measure} ({_direction(result.higher_is_better)}){condition}",
                f"{plural('bootstrap resample', result.resamples)} of {plural('query', result.n_queries)}, seed {result.seed}",
                columns,
                rows,
                f"expected: mean rank over the resamples; {columns[4].heading}: interval of the rank; first, "
                f"top {result.top_k}, over next: % of the resamples in which the run is first (alone or shared), among the "
                f"top {result.top_k}, and above the run below it.",
                (f"Median Kendall's tau between the order on a resample and the order on all queries: {tau}.",),
                best=best([run.score for run in result.runs], 2, higher_is_better=result.higher_is_better),
            ),
        ),
        notes=result.notes,
    )


_TEST_NAMES = {"sign": "sign", "ranksum": "rank sum", "wilcoxon": "signed rank", "t": "t"}


@view_of.register
def _agreement(result: Agreement, layout: Layout) -> View:
    columns = (
        Column("measure"),
        Column("test"),
        Column("by"),
        *(Column(name, "number") for name in ("agree", "partly", "disagree", "significant")),
    )
    rows = [
        (
            test.measure,
            _TEST_NAMES[test.test],
            test.aggregate,
            *map(percent, (test.agree, test.partial, test.disagree, test.significant)),
        )
        for test in result.tests
    ]
    sentences: tuple[str, ...] = ()
    if result.verdict is not None:
        verdict = result.verdict
        shares = (verdict.same, 1 - verdict.same - verdict.contradict, verdict.contradict, verdict.decided)
        rows.append((f"outcomes by {verdict.unit}", "two facets", NOTHING, *map(percent, shares)))
        decided = "" if verdict.same_of_decided is None else f", {_percent(verdict.same_of_decided)} where a half decides"
        sentences = (
            f"Two-facet verdict: both halves give the same label in {_percent(verdict.same)} of splits and pairs{decided}; "
            f"they contradict each other (better in one, worse in the other) in {_percent(verdict.contradict)}.",
        )
    return View(
        (
            Table(
                f"Agreement between halves of the queries, {plural('run', result.n_runs)}, {plural('pair', result.n_pairs)}",
                f"{plural('random split', result.splits)} of {plural('query', result.n_queries)}, seed {result.seed}, alpha "
                f"{result.alpha:g}",
                columns,
                tuple(rows),
                "In % of splits and pairs. by: the aggregate that says which run is better; significant: in at least one half. "
                "For the verdict: the same label, different labels, opposite labels; decided in at least one half.",
                sentences,
            ),
        ),
        notes=result.notes,
    )


def _percent(share: float) -> str:
    return percent(share, unit=" %")


def _direction(higher_is_better: bool) -> str:
    return f"{'higher' if higher_is_better else 'lower'} is better"
