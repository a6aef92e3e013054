"""What is shown of leaderboards, histories, rank distributions and agreement."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, permutations
from operator import itemgetter
from string import ascii_lowercase
from typing import NamedTuple

from ir_outcomes.errors import some
from ir_outcomes.formatting import NOTHING, fixed, listed, plural
from ir_outcomes.leaderboards.agreement import Agreement
from ir_outcomes.leaderboards.board import (
    BoardPair,
    Leaderboard,
    Standing,
    pair_columns,
)
from ir_outcomes.leaderboards.history import SOTA_COLUMNS, SotaHistory
from ir_outcomes.leaderboards.stability import RANK_COLUMNS, RankDistribution
from ir_outcomes.notes import ranked
from ir_outcomes.pairs.rules import Settings
from ir_outcomes.showing.registry import view_of
from ir_outcomes.showing.view import Table, View, tops, with_marks
from ir_outcomes.showing.views.parts import (
    CORRECTIONS,
    MARK,
    row_fields,
    settings_words,
)
from ir_outcomes.showing.words import count, direction, level_words, queries_words
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
MOST_NAMED = 4  # runs that can be first
MOST_COLLECTIONS = 6  # whose means stand in the first table
MOST_PLACES = 5  # as in Tables 1 and 2 of Craswell et al. 2021


class _Means(NamedTuple):
    """A column of means with what was found by it: of the board, a measure or a collection."""

    column: Column
    values: Sequence[float | None]  # in the order of the standings
    better_than: Sequence[Sequence[str]]
    higher_is_better: bool


def _means(result: Leaderboard) -> list[_Means]:
    """The means that decide, then those of further measures, then those of collections."""
    standings = result.standings
    scores = [standing.score for standing in standings]
    better_than = [standing.better_than for standing in standings]
    higher = result.higher_is_better
    decider = _measure_column(result, result.measure, higher, "score")
    means = [_Means(decider, scores, better_than, higher)]
    for part in result.measures:
        column = _measure_column(result, part.measure, part.higher_is_better, part.measure)
        means.append(_Means(column, part.values, part.better_than, part.higher_is_better))
    for of_collection in result.collections:
        name = of_collection.collection
        column = Column(f"collection {name}", heading=name, form=decider.form)
        means.append(_Means(column, of_collection.values, of_collection.better_than, higher))
    runs = [standing.run for standing in standings]
    placed = []
    for item in means:
        values = dict(zip(runs, item.values, strict=True))
        (column,) = of_part("run", [replace(item.column, value=values.get)])
        placed.append(item._replace(column=column))
    return placed


@view_of.register
def _leaderboard(result: Leaderboard) -> View:
    decider, *others = means = _means(result)
    n_measures = len(result.measures)
    measures, collections = others[:n_measures], others[n_measures:]
    runs = [(standing.run, run) for standing in result.standings for run in standing.runs]
    score = Column("score", heading=_short(result.measure), form=decider.column.form)
    columns = (
        Column("run", lambda item: item[1].run),
        Column("of", itemgetter(0)),
        *of_part(itemgetter(1), [score]),
    )
    details = (
        _letters_table(result, [decider, *measures], "By each measure"),
        _letters_table(result, [decider, *collections], "In each collection"),
        Table.of(columns, runs, title="Each run"),
        _pairs_table(result, "Against the run above (A)", result.against_above()),
        # The second run is in the table before.
        _pairs_table(
            result,
            f"Against the first run, {result.standings[0].run} (A)",
            result.against_first()[1:],
        ),
    )
    first, background = ranked(result.notes)
    return View(
        answer_of(result),
        tables=(_standings(result, means),),
        notes=(*_worse_somewhere(result), *first),
        more="rows and label of each pair, against the first",
        details=tuple(table for table in details if table.rows),
        background=background,
    )


def _worse_somewhere(result: Leaderboard) -> Iterator[str]:
    """Name systems that are better than another on average, but worse somewhere."""
    pairs = []
    for winner, other in permutations(result.standings, 2) if result.collections else ():
        place = result.standings.index(other)
        names = [
            part.collection
            for part in result.collections
            if winner.run in part.better_than[place] and other.run in winner.better_than
        ]
        if names:
            pairs.append(f"{winner.run} than {other.run} in {listed(names)}")
    if pairs:
        yield f"Better on average, but worse in a collection: {some(pairs, 3)}."


def answer_of(result: Leaderboard) -> str:
    """Say which runs can be first."""
    several = result.collections or any(standing.runs for standing in result.standings)
    runs = plural("system" if several else "run", len(result.standings))
    if result.collections:
        runs += f" on {plural('collection', len(result.collections))}"
    first = result.first
    by = by_words(result.measure)
    if len(first) == 1:
        return f"{runs}: {first[0]} is first {by}"
    if not first:  # of pairs that are compared on different queries
        return f"{runs}: none is first {by}, because each is found worse than another"
    if len(first) == len(result.standings):
        return f"{runs}: {'both' if len(first) == 2 else 'all'} can be first {by}"
    if len(first) <= MOST_NAMED:
        return f"{runs}: {listed(first)} can be first {by}"
    return f"{len(first)} of {runs} can be first {by}"


def by_words(measure: str) -> str:
    """Say by what a board is decided, such as "over all queries", "by nDCG@10"."""
    return "over all queries" if measure == "all queries" else f"by {_short(measure)}"


def _pairs_table(result: Leaderboard, title: str, pairs: Sequence[BoardPair]) -> Table:
    columns = [Column("contender", heading="run (B)")]
    shown = {column.name: column for column in pair_columns(result.pairs[0])}
    for name in result.pairs[0].rows:
        prefix = name.replace(" ", "_")
        p = of_part("rows", of_part(itemgetter(name), chosen(row_fields(result.alpha), "p")))
        columns.append(shown[f"{prefix}_difference"])
        columns += (replace(column, name=f"{prefix}_p") for column in p)
    return Table.of(
        (*columns, Column("verdict", "label")),
        pairs,
        f"p of each pair by itself, verdict by {family_words(result)}; {MARK}: does not hold after it",
        title=title,
    )


def _short(measure: str) -> str:
    """Return a measure without its tie rule."""
    return measure.partition(", ")[0]


def _letters(result: Leaderboard) -> dict[str, str]:
    """Return a letter for each run, if there are enough letters."""
    names = [standing.run for standing in result.standings]
    if len(names) <= len(ascii_lowercase):
        return dict(zip(names, ascii_lowercase, strict=False))
    return {}


def _letter_column(result: Leaderboard) -> Column:
    letters = _letters(result)
    return Column("letter", lambda standing: letters.get(standing.run, standing.rank), " ")


COVERAGE = "coverage, %"
_PLACES = {"coverage": 1, "ranking": 2, "all queries": 2}


def _systems_lines(result: Leaderboard) -> list[str]:
    """List the runs of each system that has several."""
    lines = []
    for standing in result.standings:
        if standing.runs:
            runs = some([run.run for run in standing.runs], 3)
            number = plural("run", len(standing.runs))
            lines.append(f"{standing.run}: mean of {number} ({runs})")
    return [*lines, "ranks, labels and intervals are about these runs"] if lines else []


def _standings(result: Leaderboard, means: Sequence[_Means]) -> Table:
    """Lay out a row for each run, by what decides."""
    letters = _letters(result)
    by_document = result.settings is not None and result.settings.unit == "document"
    ends = Form(places=_PLACES.get(result.measure, 3), of_interval=True)
    decider, *others = (item.column for item in means)
    n_measures = len(result.measures)
    level = level_words(result.alpha)
    columns = [
        _letter_column(result),
        Column("run"),
        decider,
        Column("interval", heading=level, form=ends),
    ]
    if any(standing.runs for standing in result.standings):
        columns.append(Column("range", heading="range of runs", form=ends))
    columns += others[:n_measures]
    shows_coverage = any(column.heading == COVERAGE for column in columns)
    if not shows_coverage and not result.collections:
        columns.append(Column("coverage", heading=COVERAGE, form=decimals(1)))
    columns += [
        Column("ranks", ranks_words),
        Column("beats", lambda standing: _beaten(standing.better_than, letters), "better than"),
    ]
    if result.collections:
        columns += others[n_measures : n_measures + MOST_COLLECTIONS]
        columns += (
            Column(name, partial(_counts_of, count), name, NUMBER, group="pairs (collections)")
            for name, count in (("better", result.better_in), ("worse", result.worse_in))
        )
    shows_coverage = any(column.heading == COVERAGE for column in columns)
    table = Table.of(
        columns,
        result.standings,
        "coverage: relevant documents found" if by_document and shows_coverage else "",
        f"{level}: of each mean {'over these collections' if result.collections else 'by itself'};"
        f" {_ranks_line(result)}",
        f"better than: {'' if letters else 'the number of runs, '}{by_words(result.measure)},"
        f" adjusted t, {family_words(result)}",
        *_systems_lines(result),
        *_collections_lines(result),
        _settings_line(result),
    )
    coverage = [standing.coverage for standing in result.standings]
    best = {item.column.name: tops(item.values, item.higher_is_better) for item in means}
    return replace(table, best={"coverage": tops(coverage, True), **best})


def _collections_lines(result: Leaderboard) -> list[str]:
    """Explain what is found in the boards of the collections."""
    if not result.collections:
        return []
    n_pairs = len(result.collections) * (len(result.standings) - 1)
    lines = [
        f"pairs (collections): of {n_pairs} pairs of each system in the boards of the collections,"
        " how many find it better and worse, and in how many collections",
        "columns of collections: the mean in each",
    ]
    if others := result.collections[MOST_COLLECTIONS:]:
        lines[-1] += f"; of {plural('other', len(others))} in the details"
    return lines


def _counts_of(count: Callable[[str], Mapping[str, int]], standing: Standing) -> str:
    """Write a number of pairs with the number of their collections."""
    pairs = count(standing.run)
    return f"{sum(pairs.values())} ({len(pairs)})" if pairs else NOTHING


def _settings_line(result: Leaderboard) -> str:
    words = "" if result.settings is None else settings_words(result.settings)
    groups = any(part.group is not None for part in result.collections)
    within = "collections of a group count as one" if groups else ""
    return ", ".join(filter(None, (queries_words(result), words, within)))


def ranks_words(standing: Standing) -> str:
    """Write the ranks that are possible: "2", "1-4"."""
    best, worst = standing.ranks
    return str(best) if best == worst else f"{best}-{worst}"


def _beaten(names: Sequence[str], letters: Mapping[str, str]) -> str:
    """Write the letters of runs, many in a row as "j-t", or the number of runs."""
    if not letters:
        return str(len(names) or NOTHING)
    beaten = enumerate(sorted(letters[name] for name in names))
    rows = groupby(beaten, key=lambda item: ord(item[1]) - item[0])
    words = ([letter for _, letter in row] for _, row in rows)
    return " ".join(f"{row[0]}-{row[-1]}" if len(row) > 3 else " ".join(row) for row in words)


def _ranks_line(result: Leaderboard) -> str:
    if result.correction in ("holm", "bonferroni"):
        confidence = f"{100 * (1 - result.alpha):g} %"
        return f"ranks: those that are possible with {confidence} confidence, all at once"
    return "ranks: from 1 + the runs that are better to the number of runs - those that are worse"


def _measure_column(result: Leaderboard, measure: str, higher_is_better: bool, name: str) -> Column:
    better: Better = "higher" if higher_is_better else "lower"
    unit = "" if result.settings is None else _unit(measure, result.settings)
    heading = COVERAGE if measure == "coverage" else _short(measure)
    form = decimals(_PLACES.get(measure, 4))
    return Column(name, heading=heading, form=form, unit=unit, better=better)


def _unit(measure: str, settings: Settings) -> str:
    """Say what the mean of a row of search lengths is."""
    if measure == "ranking":
        return "mean search length where a run found something"
    if measure != "all queries":
        return ""
    length = "ESL(unanswered='cutoff+1')"
    if settings.unit == "document":
        length = "ASL(missing='cutoff')"
    return f"mean search length, {length}@{settings.cutoff}"


def family_words(result: Leaderboard) -> str:
    """Say over how many pairs p-values are corrected, and how."""
    n_runs = len(result.standings)
    return (
        f"{CORRECTIONS.get(result.correction, 'no correction')} over"
        f" {plural('pair', n_runs * (n_runs - 1) // 2)}"
    )


def _letters_table(result: Leaderboard, means: Sequence[_Means], title: str) -> Table:
    """Lay out which runs each is better than, by measure or collection."""
    letters = _letters(result)
    columns = [_letter_column(result), Column("run")]
    for column, *_, better_than, _ in means:
        marks = [_beaten(runs, letters).replace(" ", "") if runs else "" for runs in better_than]
        cells = with_marks([column.text(standing) for standing in result.standings], marks)
        by_standing = dict(zip(result.standings, cells, strict=True))
        columns.append(replace(column, value=by_standing.get, form=NUMBER, part=()))
    return Table.of(
        columns,
        result.standings if means[1:] else (),
        f"{'Letters: the runs' if letters else 'Behind a mean: the number of runs'} that each is"
        f" better than in this column (adjusted t, alpha {result.alpha:g}, {family_words(result)})",
        title=title,
    )


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
        tables=(replace(table, best={"score": best}),),
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
