"""What is shown of leaderboards, their history, their stability, and the agreement of halves of the queries."""

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from itertools import pairwise
from operator import itemgetter
from string import ascii_lowercase

from ir_outcomes.errors import some
from ir_outcomes.formatting import fixed, listed, plural
from ir_outcomes.leaderboards.agreement import Agreement
from ir_outcomes.leaderboards.board import RUNS_COLUMNS, Leaderboard, Standing
from ir_outcomes.leaderboards.history import SOTA_COLUMNS, SotaHistory
from ir_outcomes.leaderboards.ordering import FACETS
from ir_outcomes.leaderboards.pairs import PAIR_COLUMNS, PairVerdict
from ir_outcomes.leaderboards.stability import RANK_COLUMNS, RankDistribution
from ir_outcomes.notes import ranked
from ir_outcomes.showing import (
    Table,
    View,
    direction,
    level_words,
    queries_words,
    settings_words,
    tops,
    view_of,
)
from ir_outcomes.showing.views.parts import CORRECTIONS, depth_lines, runs_words
from ir_outcomes.table_columns import (
    NUMBER,
    PERCENT,
    PVALUE,
    TEXT,
    Better,
    Column,
    Form,
    chosen,
    decimals,
    of_part,
)
from ir_outcomes.types import length_unit, level_unit

MOST_GROUPS = 5
MOST_PLACES = 5  # as in Tables 1 and 2 of Craswell et al. 2021


def _whole_p(pair: PairVerdict) -> float:
    """Return the p-value of all queries: corrected where it decides, raw where it only confirms or contradicts a facet."""
    if pair.label.endswith(("over all queries", "no significant difference")):
        return pair.all_queries_p_corrected
    return pair.all_queries_p


_SHOWN = {column.name: column for column in PAIR_COLUMNS if column.name != "run"}
PAIR = tuple({**_SHOWN, "all_queries_p": Column("all_queries_p", _whole_p, "p", PVALUE)}.values())


@view_of.register
def _leaderboard(result: Leaderboard) -> View:
    names = [standing.run for standing in result.standings]
    standings = _standings(result)
    history = [] if result.history is None else [view_of(result.history)]
    details = [standings] if result.measures else []
    more = "each pair, against the best"
    runs = [(standing.run, run) for standing in result.standings for run in standing.runs]
    noun = "run"
    if runs:
        noun = "system"
        columns = (
            Column("run", lambda own: own[1].run),
            Column("of", lambda own: own[0]),
            Column("score", lambda own: own[1].score, _short(result.measure), decimals(4)),
        )
        details.append(Table.of(columns, runs, title="Each run"))
        more = "each run, each pair, against the best"
    if result.pairs:
        details.append(_pairs_table(result, "Against the run above (A)", list(pairwise(names))))
        # The second run is in the table before.
        details.append(
            _pairs_table(
                result,
                f"Against the best run, {names[0]} (A)",
                [(names[0], name) for name in names[2:]],
            )
        )
    notes = [note for note in result.notes if note not in depth_lines(result.notes)]
    first, background = ranked((*notes, *(note for view in history for note in view.notes)))
    return View(
        f"{plural(noun, len(names))} by {_order_words(result)}",
        tables=(
            _measures(result) if result.measures else standings,
            *(table for view in history for table in view.tables),
        ),
        notes=first,
        more=more if details else "",
        details=tuple(table for table in details if table.rows),
        background=background,
    )


def _order_words(result: Leaderboard) -> str:
    """Say what orders the runs."""
    by_measure = f"{result.measure} ({direction(result.higher_is_better)})"
    if result.order == "measure":
        return by_measure
    return f"pairs won less pairs lost, then {by_measure}"


def _tiers_caption(result: Leaderboard) -> str:
    """Say why runs stand below runs of a later tier, where any do."""
    lower = result.below_later_tiers
    if not lower:
        return ""
    order = "pairs won less pairs lost"
    if result.order == "measure":
        order = _short(result.measure)
    stand = "stands" if len(lower) == 1 else "stand"
    return (
        f"rows are in the order of {order}, tiers are by the verdicts: {some(lower, 3)} {stand}"
        " below runs of a later tier"
    )


_NET_WINS = Column("net_wins", lambda standing: f"{standing.net_wins:+d}", "won - lost", NUMBER)


def _pairs_table(result: Leaderboard, title: str, pairs: Iterable[tuple[str, str]]) -> Table:
    caption = (
        "length: mean on what both find, so A differs from row to row; p: corrected, of all queries"
        " only where it decides; where it is large beside one facet, Wilcoxon's test confirms"
    )
    verdicts = (result.verdict(*pair) for pair in pairs)
    return Table.of(
        (Column("contender", heading="run (B)"), *PAIR),
        verdicts,
        caption,
        title=title,
        alpha=result.alpha,
    )


def _short(measure: str) -> str:
    """Return a measure without its tie rule."""
    return measure.partition(", ")[0]


def _letters(result: Leaderboard) -> dict[str, str]:
    """Return a letter for each run; none where there are too few."""
    names = [standing.run for standing in result.standings]
    if len(names) <= len(ascii_lowercase):
        return dict(zip(names, ascii_lowercase, strict=False))
    return {}


def _written(runs: Collection[str], letters: Mapping[str, str], between: str = "") -> str:
    """Return the letters of runs, or their number where they have none."""
    if letters:
        return between.join(sorted(letters[run] for run in runs))
    return str(len(runs) or "")


def _runs_table(result: Leaderboard, columns: Iterable[Column], *captions: str) -> Table:
    """Lay out a row for each run."""
    letters = _letters(result)
    settings = result.settings
    run = (
        Column("letter", lambda standing: letters.get(standing.run, standing.rank), " "),
        Column("run"),
    )
    words = f"alpha {result.alpha:g}" if settings is None else settings_words(settings)
    return Table.of(
        (*run, *columns),
        result.standings,
        *captions,
        *_systems_lines(result),
        f"{queries_words(result)}, {words}",
        *depth_lines(result.notes),
        alpha=result.alpha,
    )


def _systems_lines(result: Leaderboard) -> list[str]:
    """List the runs of each system that has several."""
    lines = []
    for standing in result.standings:
        if standing.runs:
            lines.append(f"{standing.run}: mean of {runs_words(standing.runs)}")
    return [*lines, "tests and intervals are about these runs"] if lines else []


def _standings(result: Leaderboard) -> Table:
    letters = _letters(result)
    beaten: dict[str, list[str]] = {standing.run: [] for standing in result.standings}
    for pair in result.pairs:
        if pair.direction == "better":
            beaten[pair.contender].append(pair.baseline)
        elif pair.direction == "worse":
            beaten[pair.baseline].append(pair.contender)
    columns = (
        *((_NET_WINS,) if result.order == "wins" else ()),
        Column("score", heading=_short(result.measure), form=decimals(4)),
        Column(
            "interval", heading=level_words(result.alpha), form=Form(places=3, of_interval=True)
        ),
        *(RUNS_COLUMNS[1:] if any(standing.runs for standing in result.standings) else ()),
        Column("coverage", heading="coverage, %", form=decimals(1)),
        Column("tier", form=NUMBER),
        Column(
            "beats",
            lambda standing: _written(beaten[standing.run], letters, " "),
            "better than",
            TEXT if letters else NUMBER,
        ),
    )
    captions = []
    if result.settings is not None:
        of_documents = ""
        if result.settings.unit == "document":
            of_documents = (
                "coverage: share of a query's relevant documents that are found, mean over queries"
            )
        beats = "no run is better than another: "
        if any(beaten.values()):
            beats = "better than: " if letters else "better than: the number of runs, "
        captions = [
            of_documents,
            f"{beats}by the verdict on coverage and ranking, {_correction(result)}",
            "tier 1: no run is better; tier 2: only runs of tier 1 are better; and so on",
            _tiers_caption(result),
        ]
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
    """Lay out the table for papers: runs and measures, with letters for the runs that each is significantly better than."""
    letters = _letters(result)
    measures = {measure.measure: measure for measure in result.measures}
    forms = {
        "coverage": ("coverage, %", decimals(1)),
        "ranking": ("ranking", decimals(2)),
        "all queries": ("all queries", decimals(2)),
    }
    runs = [standing.run for standing in result.standings]
    columns = [_NET_WINS] if result.order == "wins" else []
    for name, measure in measures.items():
        heading, form = forms.get(name, (_short(name), decimals(4)))
        better: Better = "higher" if measure.higher_is_better else "lower"
        unit = ""
        if result.settings is not None and name in ("ranking", "all queries"):
            unit = level_unit(length_unit(result.settings.unit))
        value = partial(_value_of, dict(zip(runs, measure.values, strict=True)))
        columns.append(Column(name, value, heading, form, unit, better))
    what = "Letters: the runs" if letters else "Raised: the number of runs"
    tests = "t test (sign flips where fewer than 30 queries differ)"
    if facets := [name for name in measures if name in FACETS]:
        tests += f", for {listed(facets)} the test of the verdict"
    caption = (
        f"{what} that this one is significantly better than: {tests}, {_correction(result)}, level"
        f" {result.alpha:g}"
    )
    table = _runs_table(result, columns, caption)
    best = {
        name: tops(measure.values, measure.higher_is_better) for name, measure in measures.items()
    }
    raised = {
        name: [_written(worse, letters) for worse in measure.better_than]
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
        *of_part("verdict", PAIR),
    )
    captions = [
        "gain: over the run displaced; looks: submissions up to and including this day, without the"
        " organizers' baselines"
    ]
    if any(run.verdict is not None for run in result.runs):
        captions.append(
            "verdict: on this run (B) against the run it displaced (A); p: multiplied by the number"
            " of looks, of all queries only where it decides"
        )
    else:
        captions.append("scores alone do not tell whether a gain is more than chance")
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


@view_of.register
def _rank_distribution(result: RankDistribution) -> View:
    below = {}
    for place, run in enumerate(result.runs[:-1]):
        below[run.run] = run.above[place + 1]
    shares = result.place_shares(MOST_PLACES)
    places = range(min(MOST_PLACES, len(result.runs)))
    ranks = [
        Column(f"rank_{place + 1}", itemgetter(place), str(place + 1), PERCENT, group="rank, %")
        for place in places
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
                f"{result.runs[0].run} is first in {100 * result.runs[0].first:.1f} % of the"
                " resamples. Median Kendall's tau between the order on a resample and the order on"
                f" all queries: {tau}."
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
    pairs = plural("pair", result.n_pairs)
    if result.n_pairs < result.n_all_pairs:
        pairs = f"a random sample of {result.n_pairs:,} of {result.n_all_pairs:,} pairs"
    notes, background = ranked(result.notes)
    return View(
        f"Would the other half of the queries say the same? {plural('run', result.n_runs)},"
        f" {pairs}",
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
                title="Directions in both halves",
            ),
            Table.of(
                chosen(_HALVES, *_WHAT, "agree", "partial=partly", "disagree", "significant"),
                result.tests,
                "In % of splits and pairs. Which run is better counts here even where neither half"
                " is significant; significant: in at least one half.",
                title="The same by the definition of Craswell et al. 2021, Table 4",
            ),
        ),
    )
