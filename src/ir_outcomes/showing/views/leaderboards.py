"""What is shown of leaderboards, histories, rank distributions and agreement."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from operator import itemgetter
from string import ascii_lowercase

from ir_outcomes.choices import length_unit, level_unit
from ir_outcomes.errors import some
from ir_outcomes.formatting import fixed, plural
from ir_outcomes.leaderboards.agreement import Agreement
from ir_outcomes.leaderboards.board import RUNS_COLUMNS, Leaderboard, Standing
from ir_outcomes.leaderboards.history import SOTA_COLUMNS, SotaHistory
from ir_outcomes.leaderboards.pairs import PAIR_COLUMNS
from ir_outcomes.leaderboards.stability import RANK_COLUMNS, RankDistribution
from ir_outcomes.notes import ranked
from ir_outcomes.showing import (
    Table,
    View,
    count,
    direction,
    level_words,
    queries_words,
    tops,
    view_of,
)
from ir_outcomes.showing.views.parts import (
    CORRECTIONS,
    depth_lines,
    row_fields,
    settings_words,
)
from ir_outcomes.table_columns import (
    NUMBER,
    PERCENT,
    Better,
    Column,
    Form,
    chosen,
    decimals,
    of_part,
)

MOST_GROUPS = 5
MOST_PLACES = 5  # as in Tables 1 and 2 of Craswell et al. 2021


@view_of.register
def _leaderboard(result: Leaderboard) -> View:
    names = [standing.run for standing in result.standings]
    details = [_standings(result)] if result.measures else []
    if any(standing.runs for standing in result.standings):
        runs = [(standing.run, run) for standing in result.standings for run in standing.runs]
        columns = (
            Column("run", lambda item: item[1].run),
            Column("of", itemgetter(0)),
            Column("score", lambda item: item[1].score, _short(result.measure), decimals(4)),
        )
        details.append(Table.of(columns, runs, title="Each run"))
    if result.pairs:
        details.append(_pairs_table(result, "Against the run above (A)", pairwise(names)))
        # The second run is in the table before.
        best = f"Against the first run, {names[0]} (A)"
        details.append(_pairs_table(result, best, [(names[0], name) for name in names[2:]]))
    notes = [note for note in result.notes if note not in depth_lines(result.notes)]
    first, background = ranked(notes)
    details = [table for table in details if table.rows]
    return View(
        answer_of(result),
        tables=(_measures(result) if result.measures else _standings(result),),
        notes=first,
        more="each pair, against the first" if details else "",
        details=tuple(details),
        background=background,
    )


def answer_of(result: Leaderboard) -> str:
    """Say which runs of a board no run is better than."""
    several = any(standing.runs for standing in result.standings)
    runs = plural("system" if several else "run", len(result.standings))
    if not result.pairs:
        return f"{runs} by {result.measure} ({direction(result.higher_is_better)})"
    if not any(standing.won for standing in result.standings):
        return f"{runs}: none is significantly better than another"
    first = result.tiers[0]
    if any(set(cycle) <= set(first) for cycle in result.cycles):
        return f"{len(first)} of {runs} in tier 1, of which some are better than each other"
    if len(first) > 2:
        return f"{len(first)} of {runs}: none is significantly better than them (tier 1)"
    return f"{runs}: none is significantly better than {' or '.join(first)} (tier 1)"


def _pairs_table(result: Leaderboard, title: str, pairs: Iterable[tuple[str, str]]) -> Table:
    return Table.of(
        (
            Column("contender", heading="run (B)"),
            *_pair_columns(*chosen(row_fields(result.alpha), "p")),
        ),
        (result.verdict(*pair) for pair in pairs),
        f"p of each pair by itself, verdict by {_correction(result)}; *: does not hold after it",
        title=title,
    )


def _pair_columns(p: Column) -> tuple[Column, ...]:
    """Return the columns of a pair, with a p-value beside each difference."""
    rows = (
        (*chosen(PAIR_COLUMNS, name), *of_part(name, (p,), f"{name}_"))
        for name in ("coverage", "ranking", "all_queries")
    )
    return (*chain.from_iterable(rows), *chosen(PAIR_COLUMNS, "verdict"))


def _short(measure: str) -> str:
    """Return a measure without its tie rule."""
    return measure.partition(", ")[0]


def _letters(result: Leaderboard) -> dict[str, str]:
    """Return a letter for each run, if there are enough letters."""
    names = [standing.run for standing in result.standings]
    if len(names) <= len(ascii_lowercase):
        return dict(zip(names, ascii_lowercase, strict=False))
    return {}


def _runs_table(result: Leaderboard, columns: Sequence[Column], *captions: str) -> Table:
    """Lay out a row for each run, with its tier."""
    letters = _letters(result)
    columns = (
        Column("letter", lambda standing: letters.get(standing.run, standing.rank), " "),
        Column("run"),
        *columns,
    )
    words = f"alpha {result.alpha:g}"
    if result.settings is not None:
        captions = (*captions, _TIERS)
        words = settings_words(result.settings)
    return Table.of(
        columns,
        result.standings,
        *captions,
        "" if result.order == "tier" else f"rows by {_short(result.measure)}",
        *_systems_lines(result),
        f"{queries_words(result)}, {words}",
        *depth_lines(result.notes),
    )


def _systems_lines(result: Leaderboard) -> list[str]:
    """List the runs of each system that has several."""
    lines = []
    for standing in result.standings:
        if standing.runs:
            runs = some([run.run for run in standing.runs], 3)
            number = plural("run", len(standing.runs))
            lines.append(f"{standing.run}: mean of {number} ({runs})")
    return [*lines, "verdicts and intervals are about these runs"] if lines else []


_TIER = Column("tier", form=NUMBER)
_TIERS = "tier 1: no run is better by the verdict; tier 2: only tier 1 is; and so on"


def _standings(result: Leaderboard) -> Table:
    letters = _letters(result)
    verdicts = [
        Column("won", heading="better than", form=NUMBER),
        Column("lost", heading="worse than", form=NUMBER),
    ]
    if letters:
        beaten: dict[str, list[str]] = {run: [] for run in letters}
        for pair in result.pairs:
            if pair.direction != "none":
                sides = pair.contender, pair.baseline
                best, loser = sides if pair.direction == "better" else sides[::-1]
                beaten[best].append(letters[loser])
        verdicts = [Column("beats", lambda run: " ".join(sorted(beaten[run.run])), "better than")]
    level = level_words(result.alpha)
    columns = (
        Column("score", heading=_short(result.measure), form=decimals(4)),
        Column("interval", heading=level, form=Form(places=3, of_interval=True)),
        *(RUNS_COLUMNS[1:] if any(standing.runs for standing in result.standings) else ()),
        Column("coverage", heading="coverage, %", form=decimals(1)),
        _TIER,
        *verdicts,
    )
    captions = [f"{level}: of the mean {_short(result.measure)} of a run by itself"]
    if result.settings is not None:
        if result.settings.unit == "document":
            captions.append("coverage: relevant documents found")
        runs = "" if letters else "the number of runs, "
        captions.append(f"better than: {runs}by the verdict, {_correction(result)}")
    table = _runs_table(result, columns, *captions)
    scores = tops([standing.score for standing in result.standings], result.higher_is_better)
    return table.marked(
        best={
            "score": scores,
            "coverage": tops([standing.coverage for standing in result.standings], True),
        }
    )


def _correction(result: Leaderboard) -> str:
    n_runs = len(result.standings)
    return (
        f"{CORRECTIONS.get(result.correction, 'no correction')} over"
        f" {plural('pair', n_runs * (n_runs - 1) // 2)}"
    )


def _measures(result: Leaderboard) -> Table:
    """Lay out the table for papers: runs and measures, with letters."""
    letters = _letters(result)
    measures = {measure.measure: measure for measure in result.measures}
    forms = {
        "coverage": ("coverage, %", decimals(1)),
        "ranking": ("ranking", decimals(2)),
        "all queries": ("all queries", decimals(2)),
    }
    runs = [standing.run for standing in result.standings]
    columns = []
    for name, measure in measures.items():
        heading, form = forms.get(name, (_short(name), decimals(4)))
        better: Better = "higher" if measure.higher_is_better else "lower"
        unit = ""
        if result.settings is not None and name in ("ranking", "all queries"):
            unit = level_unit(length_unit(result.settings.unit))
        value = partial(_value_of, dict(zip(runs, measure.values, strict=True)))
        columns.append(Column(name, value, heading, form, unit, better))
    letters_words = "Letters: the runs" if letters else "Raised: the number of runs"
    caption = (
        f"{letters_words} that each is significantly better than by {_short(result.measure)}"
        f" (two-sided t of the mean difference, alpha {result.alpha:g}, {_correction(result)})"
    )
    table = _runs_table(result, (*columns, _TIER), caption)
    best = {
        name: tops(measure.values, measure.higher_is_better) for name, measure in measures.items()
    }
    raised = {
        name: [
            "".join(sorted(letters[run] for run in worse)) if letters else str(len(worse) or "")
            for worse in measure.better_than
        ]
        for name, measure in measures.items()
    }
    return table.marked(best=best, raised=raised)


def _value_of(values: Mapping[str, float | None], standing: Standing) -> float | None:
    return values[standing.run]


@view_of.register
def _history(result: SotaHistory) -> View:
    columns = (
        *chosen(SOTA_COLUMNS, "number", "date", "run"),
        Column("score", lambda run: f"{run.score:.4g}", form=NUMBER),
        *chosen(SOTA_COLUMNS, "gain", "looks", "group"),
    )
    captions = [
        "gain: over the run displaced; looks: submissions up to and including this day, without the"
        " organizers' baselines",
        "scores alone do not tell whether a gain is more than chance",
    ]
    groups = [f"{group} {number}" for group, number in result.submissions.items()]
    if len(groups) > MOST_GROUPS:
        groups[MOST_GROUPS:] = [f"and {plural('other group', len(groups) - MOST_GROUPS)}"]
    if groups:
        captions.append(f"Most submissions: {'; '.join(groups)}.")
    return View(
        f"{plural('run', len(result.runs))} took first place by {result.score}"
        f" ({direction(result.higher_is_better)}), of {plural('entry', len(result.entries))} with a"
        " score",
        tables=(Table.of(columns, result.runs, *captions),),
        notes=result.notes,
    )


def _first(result: RankDistribution) -> str:
    """Say how often the first run is first, or the runs that tie for it."""
    leaders = [run for run in result.runs if run.rank == 1]
    if len(leaders) == 1:
        return f"{leaders[0].run} is first in {100 * leaders[0].first:.1f} % of the resamples."
    shares = some([f"{run.run} in {100 * run.first:.1f} %" for run in leaders])
    return (
        f"{len(leaders)} runs tie on all queries. Share of the resamples in which each is first,"
        f" alone or shared: {shares}."
    )


@view_of.register
def _rank_distribution(result: RankDistribution) -> View:
    below = {}
    for position, run in enumerate(result.runs[:-1]):
        below[run.run] = run.above[position + 1]
    shares = result.place_shares(MOST_PLACES)
    positions = range(min(MOST_PLACES, len(result.runs)))
    ranks = [
        Column(
            f"rank_{position + 1}",
            itemgetter(position),
            str(position + 1),
            PERCENT,
            group="rank, %",
        )
        for position in positions
    ]
    top = []
    of_top = ""
    if result.top_k < len(result.runs):  # all are among the first of as many
        top = [Column("top", heading=f"top {result.top_k}", form=PERCENT)]
        of_top = ", is among the first"
    columns = (
        *RANK_COLUMNS,
        Column(
            "range",
            lambda run: f"{run.low:.0f}..{run.high:.0f}",
            f"{100 * result.level:g} %",
            NUMBER,
        ),
        *of_part(lambda run: shares[run.run], ranks),
        *top,
        Column("over_next", lambda run: below.get(run.run), "over next", PERCENT),
    )
    condition = f", {result.condition}" if result.condition else ""
    tau = "undefined, because all runs tie"
    if result.median_tau is not None:
        tau = fixed(result.median_tau, 3)
    table = Table.of(
        columns,
        result.runs,
        f"expected: mean rank; {100 * result.level:g} %: interval of the rank;"
        f" {', '.join(['rank', *(column.title for column in top), 'over next'])}: % of the resamples"
        f" in which the run has this rank (alone or shared){of_top}, or is above the next run",
        f"{plural('bootstrap resample', result.resamples)} of {plural('query', result.n_queries)},"
        f" seed {result.seed}",
    )
    best = tops([run.score for run in result.runs], result.higher_is_better)
    return View(
        f"Ranks of {plural('run', len(result.runs))} by {result.measure}"
        f" ({direction(result.higher_is_better)}){condition}",
        sentences=(
            (
                f"{_first(result)} Median Kendall's tau between the order on a resample and the"
                f" order on all queries: {tau}."
            ),
        ),
        tables=(table.marked(best={"score": best}),),
        notes=result.notes,
    )


_TEST_NAMES = {
    "sign": "sign",
    "ranksum": "rank sum",
    "wilcoxon": "signed rank",
    "t": "t",
    "two facets": "verdict",
}
_SHARES = (
    "same",
    "one_sided",
    "opposite",
    "decided",
    "replicates",
    "agree",
    "partial",
    "disagree",
    "significant",
)
_HALVES = (
    Column("measure"),
    Column("test", lambda row: _TEST_NAMES[row.test]),
    Column("aggregate", heading="by"),
    Column(
        "tested",
        lambda row: (
            "verdict" if row.test == "two facets" else f"{row.measure}, {_TEST_NAMES[row.test]}"
        ),
        " ",
    ),
    *(Column(share, form=PERCENT) for share in _SHARES),
)
_WHAT = ("measure", "test", "aggregate")


@view_of.register
def _agreement(result: Agreement) -> View:
    verdict = [] if result.verdict is None else [result.verdict]
    first = [row for row in result.tests if row.test == "t"]
    cutoff = ""
    if result.cutoff is not None:
        cutoff = f", verdicts at cutoff {result.cutoff}"
    splits = f"{plural('split', result.splits)} of {plural('query', result.n_queries)}"
    sample = ""
    n_pairs = min((row.n_pairs for row in result.tests), default=result.n_pairs)
    if n_pairs < result.n_pairs:
        sample = f"tests other than t: a random sample of {n_pairs:,} pairs"
    notes, background = ranked(result.notes)
    return View(
        f"Would the other half of the queries say the same? {plural('run', result.n_runs)},"
        f" {count(result.n_pairs, 'pair')}",
        tables=(
            Table.of(
                chosen(_HALVES, "tested", "decided", "replicates=same answer", "opposite"),
                [*first, *verdict],
                "decided: % of splits and pairs in which a half decides; same answer: % of the"
                " halves that decide whose other half says the same; opposite: better in one half,"
                " worse in the other",
                f"{splits}, seed {result.seed}, alpha {result.alpha:g}{cutoff}",
            ),
        ),
        notes=notes,
        background=background,
        more="all tests, Craswell's Table 4",
        details=(
            Table.of(
                chosen(
                    _HALVES,
                    *_WHAT,
                    "same",
                    "one_sided=one side",
                    "opposite",
                    "decided",
                    "replicates=same answer",
                ),
                [*result.tests, *verdict],
                "In % of splits and pairs, by the direction in each half: better, worse or none."
                " same: the same in both halves; one side: only one half decides. by: the aggregate"
                " that says which run is better.",
                sample,
                title="Directions in both halves",
            ),
            Table.of(
                chosen(_HALVES, *_WHAT, "agree", "partial=partly", "disagree", "significant"),
                result.tests,
                "In % of splits and pairs. Which run is better counts here even where neither half"
                " is significant; significant: in at least one half.",
                sample,
                title="The same by the definition of Craswell et al. 2021, Table 4",
            ),
        ),
    )
