"""What is shown of comparisons under several conditions."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ir_outcomes.conditions.collections import CollectionsComparison
from ir_outcomes.conditions.conditions import Condition, ConditionsComparison, Overall
from ir_outcomes.conditions.judges import JudgesComparison
from ir_outcomes.conditions.slices import FEWEST_QUERIES_OF_A_SLICE, SlicesComparison
from ir_outcomes.formatting import NOTHING, fixed, listed, places_of, plural, pvalue
from ir_outcomes.notes import ranked
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.verdict import TRADE_OFF, direction_of, is_unconfirmed, meaning_of
from ir_outcomes.showing import Table, View, numbers, texts, view_of
from ir_outcomes.showing.views.parts import (
    CORRECTIONS,
    details_of,
    difference_words,
    direction_words,
    directions,
    row_called,
    row_fields,
    settings_words,
)
from ir_outcomes.table_columns import (
    INTERVAL_OF_ROW,
    NUMBER,
    PERCENT,
    PVALUE,
    SIGN,
    SIGNED_OF_ROW,
    Column,
    attributes,
    chosen,
    of_part,
)

DAGGER = "‡"  # a label that Holm over the conditions does not keep
# Conditions whose names are headings of a matrix; more, or longer names, have numbers.
MOST_NAMED = 8
ALL_NAMES = 44  # characters of their names that fit beside each other
MOST_FLIPS = 10  # queries on which judges disagree that are listed
SIGNS = {"better": "+", "worse": "-", TRADE_OFF: "~", "unconfirmed": "?", "none": "."}
SIGNS_EXPLAINED = "+ better, - worse, ~ trade-off, ? unconfirmed, . no significant difference"


class _Particulars(NamedTuple):
    """What one kind of conditions has beside the comparisons."""

    answer: str  # of several contenders; empty without
    overall: Mapping[str, Overall] = {}
    by: str = ""  # what the conditions are made by
    sentences: Mapping[str, str] = {}  # about contenders
    tables: tuple[Table, ...] = ()
    details: tuple[Table, ...] = ()


@view_of.register
def _collections(result: CollectionsComparison) -> View:
    return _view(result, _Particulars("", {item.contender: item for item in result.overall}))


@view_of.register
def _slices(result: SlicesComparison) -> View:
    overall = {item.contender: item for item in result.overall}
    differences = (_differences(result),) if result.differ else ()
    answer = _slices_answer(result)
    return _view(result, _Particulars(answer, overall, result.by, details=differences))


@view_of.register
def _judges(result: JudgesComparison) -> View:
    agreement = {run: _agreement(result, run) for run in result.contenders}
    biases = (_biases_table(result),) if result.biases else ()
    flips = (_flips_table(result),) if result.flips else ()
    return _view(result, _Particulars("", sentences=agreement, tables=biases, details=flips))


def _view(result: ConditionsComparison, particulars: _Particulars) -> View:
    """Show an overview of one contender, or a matrix of several."""
    overall = particulars.overall
    runs = _best_first(result, overall)
    by = f" by {particulars.by}" if particulars.by else ""
    compared = f"{plural(result.over, len(result.names))}{by}"
    if len(runs) == 1:
        view = _view_of_one(result, runs[0], particulars, compared)
    else:
        view = _view_of_several(result, runs, particulars, compared)
    first, background = ranked(result.notes)
    details = [table for run in runs for table in _details(result, run, overall.get(run))]
    return replace(
        view,
        notes=(*_hurt(result, overall), *first),
        details=(*view.details, *particulars.details, *details),
        background=(*view.background, *background),
    )


def _view_of_one(
    result: ConditionsComparison, run: str, particulars: _Particulars, compared: str
) -> View:
    """Show an overview, without notes and details."""
    overall = particulars.overall
    overview = _overview(result, run, particulars)
    answer = f"{compared}; {particulars.answer}"
    if not particulars.answer:
        answer = _answer(overall[run], compared) if overall else ""
    judged = ", judged shares" if any(row.judged for row in result.conditions) else ""
    sentences = particulars.sentences.values()
    return View(
        overview.title if overall else f"{overview.title}, {compared}",
        answer,
        sentences=tuple(f"{words[0].upper()}{words[1:]}." for words in sentences),
        tables=(replace(overview, title=""), *particulars.tables),
        more=f"counts, p, {'means' if overall else 'tests'}{judged}",
    )


def _view_of_several(
    result: ConditionsComparison, runs: Sequence[str], particulars: _Particulars, compared: str
) -> View:
    """Show a matrix, with the overviews as details."""
    return View(
        f"{plural('run', len(runs))} against {result.baseline} (A), {compared}",
        particulars.answer,
        tables=(_matrix(result, runs, particulars.overall), *particulars.tables),
        more=f"each {result.over}, counts, p, means",
        details=tuple(_overview(result, run, particulars) for run in runs),
        background=tuple(f"{run}: {words}." for run, words in particulars.sentences.items()),
    )


def _settings(result: ConditionsComparison) -> str:
    """Say how runs were compared, except for what differs by condition."""
    settings = result.settings
    if len(set(_rels(result).values())) > 1:
        settings = replace(settings, rel=None)
    words = settings_words(settings)
    return words.removeprefix("no cutoff, ") if result.settings.cutoff is None else words


def _rels(result: ConditionsComparison) -> dict[str, int | None]:
    """Return the smallest relevant grade in each condition."""
    return {row.condition: row.comparison.rel for row in result.conditions}


def _rels_line(result: ConditionsComparison) -> str:
    """Say the smallest relevant grades, where they differ."""
    rels = _rels(result)
    if len(set(rels.values())) == 1:
        return ""
    return f"rel: {', '.join(f'{name} {rel}' for name, rel in rels.items())}"


def _direction(label: str | None) -> str:
    return "none" if label is None else direction_of(label)


def _best_first(result: ConditionsComparison, overall: Mapping[str, Overall]) -> list[str]:
    """Return contenders by label on average, then by better less worse."""

    def order(run: str) -> tuple[int, int, float]:
        counts = Counter(map(_direction, result.labels(run).values()))
        gains = [row.comparison.coverage.gain for row in result.of(run)]
        average = overall[run].label if run in overall else None
        side = ("better", "none", "worse").index(_direction(average))
        return side, counts["worse"] - counts["better"], -sum(gains)

    return sorted(result.contenders, key=order)


def _answer(overall: Overall, compared: str) -> str:
    """Say what holds on average."""
    counted = [
        f"{side} in {number} of {compared}"
        for side, number in (("better", overall.better), ("worse", overall.worse))
        if number
    ]
    return f"{overall.label} on average, {' and '.join(counted) or f'no direction in {compared}'}"


def _slices_answer(result: SlicesComparison) -> str:
    """Say whether slices differ at all."""
    if not result.differ:
        return "whether they differ is not tested: queries come in clusters"
    if all(row.pvalue is None for row in result.differ):
        return "whether they differ cannot be tested"
    found: dict[str, list[str]] = {}
    for row in result.differ:
        if row.pvalue_corrected is not None and row.pvalue_corrected <= result.settings.alpha:
            found.setdefault(row.contender, []).append(row.row)
    if not found:
        return "no evidence that they differ"
    if len(result.contenders) == 1:
        return f"they differ on {listed(*found.values())}"
    return f"they differ for {listed([f'{run} on {listed(rows)}' for run, rows in found.items()])}"


def _agreement(result: JudgesComparison, contender: str) -> str:
    """Say how far the labels of a contender agree over judges."""
    labels = [row.comparison.verdict.label for row in result.of(contender)]
    frequent = max(labels, key=labels.count)
    times = labels.count(frequent)
    several = plural(result.over, len(labels))
    same = f"a different label under each of {several}"
    if times > 1:
        same = f'the same label under {times} of {several} ("{frequent}")'
    opposite = {"better", "worse"} <= {direction_of(label) for label in labels}
    return f"{same}, {'opposite directions occur' if opposite else 'never opposite'}"


def _hurt(result: ConditionsComparison, overall: Mapping[str, Overall]) -> Iterator[str]:
    """Name the conditions that a good average hides."""
    for contender, item in overall.items():
        if item.hurt and _direction(item.label) != "worse":
            run = f"{contender}: " if len(overall) > 1 else ""
            labels = result.labels(contender)
            named = [f"{name} ({labels[name] or 'too few queries'})" for name in item.hurt]
            yield f"{run}Harm in {listed(named)}, though the average is not worse."


def _mark(row: Condition) -> str:
    """Return the mark of a label that Holm over the conditions does not keep."""
    return "" if row.holds else f" {DAGGER}"


def _dagger_legend(result: ConditionsComparison, rows: Sequence[Condition]) -> str:
    if any(map(_mark, rows)):
        return f"{DAGGER}: another label with Holm over the {result.over}s"
    return ""


def _row_words(row: Row | None) -> str:
    """Write the difference of a row, with its interval where it gives the direction."""
    if row is None or row.difference is None:
        return NOTHING
    if row.name == "all queries":
        return difference_words(row, row.interval)
    return fixed(row.difference, places_of(row.measured_in), signed=True)


def _overview(result: ConditionsComparison, run: str, particulars: _Particulars) -> Table:
    """Show the differences and the label in each condition, and over all of them."""
    rows = result.of(run)
    parts = _parts(result)
    names = [row.name for row in parts]
    lines = [_overview_line(result, row, names) for row in rows]
    explained = []
    direction = direction_words([row.comparison for row in result.conditions])
    overall = particulars.overall.get(run)
    if overall is not None:
        means = [row_called(overall.parts, name) for name in names]
        label = meaning_of(overall.label).short
        lines.append(("these, mean", "", *map(_row_words, means), label))
        one = "group" if any(row.group for row in rows) else result.over
        explained.append(f"mean: each {one} counts the same")
        if "all queries" in overall.new:
            ranges = [
                difference_words(row, overall.new.get(name)) if name == "all queries" else ""
                for name, row in zip(names, means, strict=True)
            ]
            lines.append(("a new one", "", *ranges, overall.outlook))
            explained.append("a new one: where its difference is expected")
        if overall.all_queries.n:
            p = pvalue(overall.all_queries.pvalue, result.settings.alpha)
            direction = f"{direction}, p of the mean {p}"
    columns = (
        *texts(particulars.by if 0 < len(particulars.by) < 12 else result.over),
        *numbers("queries", *names),
        *texts("verdict"),
    )
    captions = (
        directions(parts),
        "; ".join(filter(None, (*explained, _dagger_legend(result, rows)))),
        "; ".join(filter(None, (direction, _correction(result)))),
        _settings(result),
    )
    title = f"{run} (B) against {result.baseline} (A)"
    return Table.of_texts(columns, lines, *captions, title=title)


def _parts(result: ConditionsComparison) -> list[Row]:
    """Return the rows of the first table, first the one that gives the direction."""
    return sorted(result.conditions[0].comparison.parts, key=lambda row: row.name != "all queries")


def _correction(result: ConditionsComparison) -> str:
    settings = result.settings
    if settings.family == 1 or settings.correction == "none":
        return ""
    return f"labels by {CORRECTIONS[settings.correction]} over {plural('run', settings.family)}"


def _overview_line(
    result: ConditionsComparison, row: Condition, names: Sequence[str]
) -> tuple[str, ...]:
    """Return what the table says of one condition."""
    detail = f"rel {row.comparison.rel}" if result.over == "judge" else row.group
    name = f"{row.condition} ({detail})" if detail else row.condition
    queries = f"{row.comparison.n_queries}" if result.over == "slice" else ""
    parts = [row_called(row.comparison.parts, name) for name in names]
    words = [_row_words(part) for part in parts]
    label = f"fewer than {FEWEST_QUERIES_OF_A_SLICE} queries"
    if row.label is not None:
        label = f"{meaning_of(row.label).short}{_mark(row)}"
    return (name, queries, *words, label)


def sign_of(label: str | None) -> str:
    """Return the sign of a label in a matrix, blank where there is none."""
    if label is None:
        return ""
    if label == TRADE_OFF:
        return SIGNS[label]
    return SIGNS["unconfirmed" if is_unconfirmed(label) else direction_of(label)]


def _matrix(
    result: ConditionsComparison, runs: Sequence[str], overall: Mapping[str, Overall]
) -> Table:
    """Show a sign for each run and condition, counts, and the label on average."""
    names = result.names
    headings: Sequence[str] = names
    numbered = ""
    if len(names) > MOST_NAMED or sum(map(len, names)) > ALL_NAMES:
        headings = [str(number) for number, _ in enumerate(names, start=1)]
        numbered = "; ".join(map(" ".join, zip(headings, names, strict=True)))
    lines = []
    for run in runs:
        rows = result.of(run)
        signs = {row.condition: f"{sign_of(row.label)}{_mark(row).strip()}" for row in rows}
        counts = Counter(_direction(row.label) for row in rows)
        average = overall[run].label if run in overall else None
        of_conditions = (signs.get(name, "") for name in names)
        lines.append((run, *of_conditions, counts["better"], counts["worse"], average))
    direction = direction_words([row.comparison for row in result.conditions])
    columns = (
        *texts("run"),
        *(Column(heading, form=SIGN) for heading in headings),
        *numbers("better", "worse"),
        *texts("on average"),
    )
    captions = (
        SIGNS_EXPLAINED,
        _dagger_legend(result, result.conditions),
        numbered,
        "; ".join(filter(None, (direction, _correction(result)))),
        _settings(result),
        _rels_line(result),
    )
    return Table.of_texts(columns, lines, *captions)


def _details(result: ConditionsComparison, run: str, overall: Overall | None) -> Iterator[Table]:
    """Yield judged shares, means, and all rows of the conditions of one contender."""
    rows = result.of(run)
    title = f"{run} (B) against {result.baseline} (A)"
    if any(row.judged for row in rows):
        columns = (
            Column("condition", heading=result.over),
            Column("A", lambda row: row.judged and row.judged[0], form=PERCENT),
            Column("B", lambda row: row.judged and row.judged[1], form=PERCENT),
        )
        yield Table.of(columns, rows, title=f"{title}, % of the first 10 documents judged")
    if overall is not None:
        means = (
            Column("name", heading=f"mean of {result.over}s"),
            Column("n", heading=f"{result.over}s", form=NUMBER),
            *chosen(row_fields(result.settings.alpha), "better", "worse", "difference"),
            Column("interval", form=INTERVAL_OF_ROW),
            Column("pvalue", heading="p", form=PVALUE),
        )
        explained = f"better, worse: {result.over}s in which the mean difference is"
        yield Table.of(means, overall.parts, explained, title=f"{title}, means")
    comparisons = [(row.condition, row.comparison) for row in rows]
    shown = {(row.name, "difference") for row in _parts(result)} | {("all queries", "interval")}
    yield from details_of(comparisons, result.over, shown, f"{title}, each row")


def _differences(result: SlicesComparison) -> Table:
    """Show whether slices differ at all."""
    columns = [
        *attributes("run=contender", "row"),
        Column("slices", form=NUMBER),
        Column("pvalue", heading="p", form=PVALUE),
    ]
    explained = f"{plural('permutation', result.resamples)} of the labels, seed {result.seed}"
    if len(result.contenders) > 1:
        columns.append(Column("pvalue_corrected", heading="corrected", form=PVALUE))
        rule = CORRECTIONS.get(result.settings.correction, "not")
        explained += f"; corrected: {rule} over the runs, for each row"
    return Table.of(columns, result.differ, explained, title=f"Do slices by {result.by} differ?")


def _biases_table(result: JudgesComparison) -> Table:
    """Show each judge's difference beside the reference's on the same queries."""
    several = len(result.contenders) > 1
    columns = (
        *(attributes("run=contender") if several else ()),
        Column("judge"),
        Column("row", "row.name"),
        *of_part(
            "row",
            (
                Column("baseline", heading=f"{result.reference}", form=SIGNED_OF_ROW),
                Column("contender", heading="judge's", form=SIGNED_OF_ROW),
                Column("interval", heading="bias", form=INTERVAL_OF_ROW),
            ),
        ),
        Column("p", lambda bias: pvalue(bias.row.pvalue, result.settings.alpha), form=NUMBER),
        Column("answer", heading=" "),
    )
    labeled = max(bias.row.n for bias in result.biases)
    meanings = {
        "differs": "it is significant and changes the finding, or the findings are opposite",
        "agrees": "the same finding, not none",
    }
    shown = {bias.answer for bias in result.biases}
    caption = "; ".join(
        (
            f"B - A by {result.reference} and by the judge on the same {plural('query', labeled)}",
            "bias: the judge's less the reference's",
            *(f"{answer}: {words}" for answer, words in meanings.items() if answer in shown),
        )
    )
    title = f"Beside {result.reference}"
    return Table.of(columns, result.biases, caption, title=title)


def _flips_table(result: JudgesComparison) -> Table:
    """Show the first queries on which judges disagree about the direction."""
    columns = (
        *attributes("run=contender", "query=query_id"),
        Column("better for", lambda flip: ", ".join(flip.better)),
        Column("worse for", lambda flip: ", ".join(flip.worse)),
        Column("text"),
    )
    detail = ""
    if len(result.flips) > MOST_FLIPS:
        detail = f"the first {MOST_FLIPS}; all are in the JSON"
    title = f"Judges disagree about the direction on {plural('query', len(result.flips))}"
    return Table.of(columns, result.flips[:MOST_FLIPS], detail, title=title)
