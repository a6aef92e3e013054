"""What is shown of leaderboards, histories, rank distributions and agreement."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, permutations
from operator import itemgetter
from string import ascii_lowercase

from ir_outcomes.errors import some
from ir_outcomes.formatting import NOTHING, fixed, listed, plural
from ir_outcomes.leaderboards.agreement import Agreement, HalfAgreement
from ir_outcomes.leaderboards.board import (
    BoardPair,
    CollectionOfBoard,
    Leaderboard,
    MeasureOfRuns,
    Standing,
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
    TEST_NAMES,
    columns_of_rows,
    directions,
    rows_by_name,
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

Part = MeasureOfRuns | CollectionOfBoard
COVERAGE = "coverage, %"
MOST_NAMED = 4  # runs that can be first
MOST_COLLECTIONS = 6  # whose means stand in the first table
MOST_PLACES = 5  # as in Tables 1 and 2 of Craswell et al. 2021


@view_of.register
def _leaderboard(result: Leaderboard) -> View:
    runs = [(standing.run, run) for standing in result.standings for run in standing.runs]
    form = decimals(_PLACES.get(result.measure, 4))
    of_run = (
        Column("run", lambda item: item[1].run),
        Column("of", itemgetter(0)),
        Column("score", lambda item: item[1].score, _short(result.measure), form),
    )
    best = f"Against the first run, {result.standings[0].run} (A)"

    def details() -> list[Table]:
        tables = (
            _letters_table(result, result.measures, "By each measure"),
            _letters_table(result, result.collections, "In each collection"),
            Table.of(of_run, runs, title="Each run"),
            _pairs_table(result, "Against the run above (A)", result.against_above()),
            # The second run is in the table before.
            _pairs_table(result, best, result.against_first()[1:]),
        )
        return [table for table in tables if table.rows]

    first, background = ranked(result.notes)
    return View(
        answer_of(result),
        tables=(_standings(result),),
        notes=(*_worse_somewhere(result), *first),
        more="rows and label of each pair, against the first",
        details=details,
        background=background,
    )


def _decider(result: Leaderboard) -> MeasureOfRuns:
    """What decides the board, as its further measures are."""
    scores = tuple(standing.score for standing in result.standings)
    better_than = tuple(standing.better_than for standing in result.standings)
    return MeasureOfRuns(result.measure, result.higher_is_better, scores, better_than)


def _column(result: Leaderboard, part: Part) -> Column:
    """The column of the means by a measure, or in a collection."""
    measure, name, heading, unit = result.measure, "", "", ""
    better: Better = ""
    if isinstance(part, CollectionOfBoard):
        name, heading = f"collection {part.collection}", part.collection
    else:
        measure = name = part.measure
        heading = COVERAGE if measure == "coverage" else _short(measure)
        unit = "" if result.settings is None else _unit(measure, result.settings)
        better = "higher" if part.higher_is_better else "lower"
    runs = (standing.run for standing in result.standings)
    values = dict(zip(runs, part.values, strict=True))
    form = decimals(_PLACES.get(measure, 4))
    return Column(
        name, lambda standing: values[standing.run], heading, form, unit=unit, better=better
    )


def _worse_somewhere(result: Leaderboard) -> Iterator[str]:
    """Name systems that are better than another on average, but worse somewhere."""
    pairs = []
    for winner, loser in permutations(result.standings, 2) if result.collections else ():
        position = result.standings.index(loser)
        names = [
            part.collection
            for part in result.collections
            if winner.run in part.better_than[position] and loser.run in winner.better_than
        ]
        if names:
            pairs.append(f"{winner.run} than {loser.run} in {listed(names)}")
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
    rows = rows_by_name(pairs)
    columns = (
        Column("contender", heading="run (B)"),
        *columns_of_rows(rows, result.alpha),
        Column("verdict", "label"),
    )
    return Table.of(
        columns,
        pairs,
        directions(of_name[0] for of_name in rows.values()),
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


def _standings(result: Leaderboard) -> Table:
    """Lay out a row for each run, by what decides."""
    letters = _letters(result)
    by_document = result.settings is not None and result.settings.unit == "document"
    ends = Form(places=_PLACES.get(result.measure, 3), of_interval=True)
    level = level_words(result.alpha)
    parts: list[Part] = [_decider(result), *result.measures, *result.collections]
    decider, *further = (_column(result, part) for part in parts)
    n_measures = len(result.measures)
    measures, collections = further[:n_measures], further[n_measures:]
    has_coverage = any(column.heading == COVERAGE for column in (decider, *measures))
    if not has_coverage and not collections:
        measures.append(Column("coverage", heading=COVERAGE, form=decimals(1)))
    group = "pairs (collections)"
    columns = (
        _letter_column(result),
        Column("run"),
        decider,
        Column("interval", heading=level, form=ends),
        Column("range", heading="range of runs", form=ends),
        *measures,
        Column("ranks", ranks_words),
        Column("beats", lambda standing: _beaten(standing.better_than, letters), "better than"),
        *collections[:MOST_COLLECTIONS],
        Column(
            "better", lambda item: _counted(result.better_in(item.run)), "", NUMBER, group=group
        ),
        Column("worse", lambda item: _counted(result.worse_in(item.run)), "", NUMBER, group=group),
    )
    table = Table.of(
        columns,
        result.standings,
        "coverage: relevant documents found" if by_document and not collections else "",
        f"{level}: of each mean {'over these collections' if collections else 'by itself'};"
        f" {_ranks_line(result)}",
        f"better than: {'' if letters else 'the number of runs, '}{by_words(result.measure)},"
        f" adjusted t, {family_words(result)}",
        *_systems_lines(result),
        *_collections_lines(result),
        _settings_line(result),
    )
    higher = {part.measure: part.higher_is_better for part in result.measures}
    best = {}
    for column in (decider, *measures, *collections):
        is_higher = column.name == "coverage" or higher.get(column.name, result.higher_is_better)
        best[column.name] = tops([column.of(item) for item in result.standings], is_higher)
    return replace(table, best=best)


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


def _counted(pairs: Mapping[str, int]) -> str:
    """Write a number of pairs with the number of their collections."""
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


def _letters_table(result: Leaderboard, parts: Sequence[Part], title: str) -> Table:
    """Lay out which runs each is better than, by measure or collection."""
    letters = _letters(result)
    columns = [_letter_column(result), Column("run")]
    for part in (_decider(result), *parts):
        column = _column(result, part)
        marks = [
            _beaten(runs, letters).replace(" ", "") if runs else "" for runs in part.better_than
        ]
        cells = with_marks([column.text(standing) for standing in result.standings], marks)
        by_standing = dict(zip(result.standings, cells, strict=True))
        columns.append(replace(column, value=by_standing.get, form=NUMBER))
    return Table.of(
        columns,
        result.standings if parts else (),
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
    over_next = {}
    for position, run in enumerate(result.runs[:-1]):
        over_next[run.run] = run.above[position + 1]
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
        Column("over_next", lambda run: over_next.get(run.run), "over next", PERCENT),
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


_TEST_NAMES = TEST_NAMES | {"sign": "sign", "two facets": "verdict"}
_CRASWELL = "Craswell et al. 2021, Table 4"
_HALVES = (
    Column("measure"),
    Column("test", lambda row: _TEST_NAMES[row.test]),
    Column("aggregate", heading="by"),
    Column("same", form=PERCENT),
    Column("one_sided", heading="one side", form=PERCENT),
    Column("opposite", form=PERCENT),
    Column("decided", form=PERCENT),
    Column("replicates", heading="same answer", form=PERCENT),
    Column("agree", form=PERCENT, group=_CRASWELL),
    Column("partial", heading="partly", form=PERCENT, group=_CRASWELL),
    Column("disagree", form=PERCENT, group=_CRASWELL),
    Column("significant", form=PERCENT, group=_CRASWELL),
)


def _tested(row: HalfAgreement) -> str:
    return "verdict" if row.test == "two facets" else f"{row.measure}, {_TEST_NAMES[row.test]}"


@view_of.register
def _agreement(result: Agreement) -> View:
    verdict = [] if result.verdict is None else [result.verdict]
    first = [row for row in result.tests if row.test == "t"]
    cutoff = "" if result.cutoff is None else f", verdicts at cutoff {result.cutoff}"
    splits = f"{plural('split', result.splits)} of {plural('query', result.n_queries)}"
    n_pairs = min((row.n_pairs for row in result.tests), default=result.n_pairs)
    sample = ""
    if n_pairs < result.n_pairs:
        sample = f"tests other than t: a random sample of {n_pairs:,} pairs"
    notes, background = ranked(result.notes)
    table = Table.of(
        (Column("tested", _tested, " "), *chosen(_HALVES, "decided", "replicates", "opposite")),
        [*first, *verdict],
        "decided: % of splits and pairs in which a half decides; same answer: % of the halves that"
        " decide whose other half says the same; opposite: better in one half, worse in the other",
        f"{splits}, seed {result.seed}, alpha {result.alpha:g}{cutoff}",
    )
    every = Table.of(
        _HALVES,
        [*result.tests, *verdict],
        "In % of splits and pairs, by the direction in each half: better, worse or none. same: the"
        " same in both halves; one side: only one half decides. by: the aggregate that says which"
        " run is better.",
        "By the definition of Craswell et al. the better run counts, too, where neither half is"
        " significant; significant: in at least one half.",
        sample,
        title="All tests",
    )
    return View(
        f"Would the other half of the queries say the same? {plural('run', result.n_runs)},"
        f" {count(result.n_pairs, 'pair')}",
        tables=(table,),
        notes=notes,
        background=background,
        more="all tests, Craswell's Table 4",
        details=lambda: (every,),
    )
