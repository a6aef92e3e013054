"""What is shown of comparisons under several conditions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ir_outcomes.conditions.collections import CollectionsComparison
from ir_outcomes.conditions.conditions import (
    Condition,
    ConditionsComparison,
    MeansOverConditions,
    Overall,
    condition_columns,
)
from ir_outcomes.conditions.judges import JudgesComparison
from ir_outcomes.conditions.slices import FEWEST_QUERIES_OF_A_SLICE, SlicesComparison
from ir_outcomes.formatting import NOTHING, fixed, listed, places_of, plural, pvalue
from ir_outcomes.notes import ranked
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.verdict import LABELS, TRADE_OFF, direction_of, is_unconfirmed, meaning_of
from ir_outcomes.showing.registry import Section, sections_of, view_of
from ir_outcomes.showing.view import Table, View
from ir_outcomes.showing.views.parts import (
    CORRECTIONS,
    correction_of,
    details_of,
    difference_words,
    direction_words,
    directions,
    row_fields,
    settings_words,
)
from ir_outcomes.table_columns import (
    INTERVAL_OF_ROW,
    NUMBER,
    PVALUE,
    SIGN,
    SIGNED_OF_ROW,
    Column,
    attributes,
    chosen,
    of_part,
)

MEAN, NEW = "these, mean", "a new one"  # lines behind the conditions
TOO_FEW = f"fewer than {FEWEST_QUERIES_OF_A_SLICE} queries"
DAGGER = "‡"  # a label that Holm over the conditions does not keep
# Conditions whose names are headings of a matrix; more, or longer names, have numbers.
MOST_NAMED = 8
ALL_NAMES = 44  # characters of their names that fit beside each other
MOST_FLIPS = 10  # queries on which judges disagree that are listed
SIGNS = {"better": "+", "worse": "-", TRADE_OFF: "~", "unconfirmed": "?", "none": "."}
SIGNS_EXPLAINED = "+ better, - worse, ~ trade-off, ? unconfirmed, . no significant difference"


@sections_of.register
def _sections(result: ConditionsComparison) -> list[Section]:
    return [section for run in result.contenders for section in _sections_of(result, run)]


def _sections_of(result: ConditionsComparison, run: str) -> Iterator[Section]:
    """The conditions of a contender, their means, and a new condition."""
    for row in result.of(run):
        section = Section.of(row.comparison, row.condition)
        if row.label is None:  # nothing is found on so few queries
            rows = {name: replace(part, found="none") for name, part in section.rows.items()}
            section = section._replace(label=TOO_FEW, rows=rows)
        yield section
    overall = _overall(result, run)
    if overall is None:
        return
    means = {row.name: row for row in overall.parts}
    yield Section(run, MEAN, overall.label, means)
    if overall.outlook:
        expected = {
            name: replace(means[name], interval=ends, found="none")
            for name, ends in overall.new.items()
        }
        yield Section(run, NEW, overall.outlook, expected)


def _overall(result: ConditionsComparison, run: str) -> Overall | None:
    """What holds on average for a contender, nothing where conditions are judges."""
    if not isinstance(result, MeansOverConditions):
        return None
    return next(item for item in result.overall if item.contender == run)


@view_of.register
def _collections(result: CollectionsComparison) -> View:
    several = len(result.overall) > 1
    return _view(result, "" if several else _average(result.overall[0], len(result.names)))


@view_of.register
def _slices(result: SlicesComparison) -> View:
    differences = [_differences(result)] if result.differ else []
    return _view(result, _slices_answer(result), by=result.by, details=differences)


@view_of.register
def _judges(result: JudgesComparison) -> View:
    flips = [_flips_table(result)] if result.flips else []
    view = _view(result, details=flips)
    agreement = [_agreement(result, run) for run in result.contenders]
    if result.biases:
        view = replace(view, tables=(*view.tables, _biases_table(result)))
    if len(agreement) == 1:
        return replace(view, sentences=tuple(agreement))
    lines = map(": ".join, zip(result.contenders, agreement, strict=True))
    return replace(view, background=(*lines, *view.background))


def _view(
    result: ConditionsComparison, answer: str = "", by: str = "", details: Sequence[Table] = ()
) -> View:
    """Show an overview of one contender, or a matrix of several above their overviews."""
    runs = _best_first(result)
    compared = plural("run", len(runs)) if len(runs) > 1 else f"{runs[0]} (B)"
    conditions = plural(result.over, len(result.names)) + (f" by {by}" if by else "")
    tables = [_overview(result, run, by) for run in runs]
    subjects = ["counts", "p", "tests" if result.over == "judge" else "means"]
    if len(runs) > 1:
        tables.insert(0, _matrix(result, runs))
        subjects.insert(0, f"each {result.over}")
    if any(row.judged for row in result.conditions):
        subjects.append("judged shares")

    def every_table() -> list[Table]:
        of_runs = (table for run in runs for table in _details(result, run))
        return [*details, *tables[1:], *of_runs]

    first, background = ranked(result.notes)
    return View(
        f"{compared} against {result.baseline} (A), {conditions}",
        answer,
        tables=(replace(tables[0], title=""),),
        notes=(*_hurt(result), *first),
        more=", ".join(subjects),
        details=every_table,
        background=background,
    )


def settings_line(result: ConditionsComparison) -> str:
    """Say how runs were compared, and the smallest relevant grades where they differ."""
    rels = {row.condition: row.comparison.rel for row in result.conditions}
    if len(set(rels.values())) == 1:
        return settings_words(result.settings)
    words = settings_words(replace(result.settings, rel=None))
    return f"{words}; rel: {', '.join(f'{name} {rel}' for name, rel in rels.items())}"


def _direction(label: str | None) -> str:
    return "none" if label is None else direction_of(label)


def _best_first(result: ConditionsComparison) -> list[str]:
    """Order contenders by label on average, by labels, and by all queries."""

    def order(run: str) -> tuple[int, int, float]:
        counts = Counter(map(_direction, result.labels(run).values()))
        overall = _overall(result, run)
        average = LABELS.index(overall.label) if overall else 0
        comparisons = [row.comparison for row in result.of(run)]
        gain = sum((item.all_queries or item.ranking).gain for item in comparisons)
        return average, counts["worse"] - counts["better"], -gain

    return sorted(result.contenders, key=order)


def _average(overall: Overall, n: int) -> str:
    """Say what holds on average."""
    counts = {"better": overall.better, "worse": overall.worse}
    counted = [f"{side} in {number}" for side, number in counts.items() if number]
    answer = f"{' and '.join(counted)} of {n}" if counted else "no direction in any"
    return f"{overall.label} on average, {answer}"


def _slices_answer(result: SlicesComparison) -> str:
    """Say whether slices differ at all."""
    if not result.differ:
        return "whether they differ is not tested: queries come in clusters"
    if all(row.pvalue is None for row in result.differ):
        return "whether they differ cannot be tested"
    rows_by_run: dict[str, list[str]] = {}
    for row in result.differ:
        if row.pvalue_corrected is not None and row.pvalue_corrected <= result.settings.alpha:
            rows_by_run.setdefault(row.contender, []).append(row.row)
    if not rows_by_run:
        return "no evidence that they differ"
    if len(result.contenders) == 1:
        return f"they differ on {listed(*rows_by_run.values())}"
    return f"they differ for {listed([f'{run} on {listed(rows)}' for run, rows in rows_by_run.items()])}"


def _agreement(result: JudgesComparison, contender: str) -> str:
    """Say how far the labels of a contender agree over judges."""
    labels = [row.comparison.verdict.label for row in result.of(contender)]
    frequent = max(labels, key=labels.count)
    times = labels.count(frequent)
    several = plural(result.over, len(labels))
    agreement = f"a different label under each of {several}"
    if times > 1:
        agreement = f'the same label under {times} of {several} ("{frequent}")'
    opposite = {"better", "worse"} <= {direction_of(label) for label in labels}
    words = f"{agreement}, {'opposite directions occur' if opposite else 'never opposite'}"
    return f"{words[0].upper()}{words[1:]}."


def _hurt(result: ConditionsComparison) -> Iterator[str]:
    """Name the conditions that a good average hides."""
    for contender in result.contenders:
        item = _overall(result, contender)
        if item is not None and item.hurt and _direction(item.label) != "worse":
            run = f"{contender}: " if len(result.contenders) > 1 else ""
            named = [
                f"{row.condition} ({f'on {listed(row.hurt)}' if row.hurt else row.label})"
                for row in result.of(contender)
                if row.condition in item.hurt
            ]
            yield f"{run}Harm in {listed(named)}, though the average is not worse."


def _mark(row: Condition) -> str:
    """Return the mark of a label that Holm over the conditions does not keep."""
    return "" if row.holds else f" {DAGGER}"


def _dagger_legend(result: ConditionsComparison, rows: Sequence[Condition]) -> str:
    if any(map(_mark, rows)):
        return f"{DAGGER}: another label with Holm over the {result.over}s"
    return ""


def _row_words(name: str, section: Section) -> str:
    """Write the difference of a row, with its interval where it gives the direction."""
    row = section.rows.get(name)
    if row is None or row.difference is None:
        return NOTHING
    if name == "all queries":
        return difference_words(row)
    if section.condition == NEW:  # whose difference is that of the line above
        return ""
    return fixed(row.difference, places_of(row.measured_in), signed=True)


def _overview(result: ConditionsComparison, run: str, by: str) -> Table:
    """Show the differences and the label in each condition, and over all of them."""
    rows = result.of(run)
    parts = _parts(result)
    overall = _overall(result, run)
    groups = {row.condition: f" ({row.group})" for row in rows if row.group}
    daggers = {row.condition: _mark(row) for row in rows}
    p = ""
    explained = []
    if overall is not None:
        unit = "group" if groups else result.over
        explained.append(f"mean: each {unit} counts the same")
        if overall.outlook:
            explained.append("a new one: where its difference is expected")
        if overall.all_queries.n:
            of_mean = pvalue(overall.all_queries.pvalue, result.settings.alpha)
            p = f", p of the mean {of_mean}"
    columns = [
        Column(
            "name",
            lambda section: section.condition + groups.get(section.condition, ""),
            by if 0 < len(by) < 12 else result.over,
        ),
        *(Column(part.name, partial(_row_words, part.name), form=NUMBER) for part in parts),
        Column(
            "verdict", lambda section: _short(section.label) + daggers.get(section.condition, "")
        ),
    ]
    if result.over == "slice":
        queries = of_part("comparison", (Column("queries", "n_queries", form=NUMBER),))
        columns[1:1] = queries
    captions = (
        directions(parts),
        "; ".join(filter(None, (*explained, _dagger_legend(result, rows)))),
        _direction_line(result, p),
        settings_line(result),
    )
    title = f"{run} (B) against {result.baseline} (A)"
    return Table.of(columns, _sections_of(result, run), *captions, title=title)


def _short(label: str) -> str:
    """A label as tables have it, and what stands in the place of one."""
    return meaning_of(label).short if label in LABELS else label


def _direction_line(result: ConditionsComparison, p: str = "") -> str:
    """Say what gives the direction, and how labels are corrected."""
    words = direction_words([row.comparison for row in result.conditions]) + p
    correction = correction_of(result.settings)
    return f"{words}; {correction} runs" if correction else words


def _parts(result: ConditionsComparison) -> list[Row]:
    """Return the rows of the first table, first the one that gives the direction."""
    return sorted(result.conditions[0].comparison.parts, key=lambda row: row.name != "all queries")


def sign_of(label: str | None) -> str:
    """Return the sign of a label in a matrix, blank where there is none."""
    if label is None:
        return ""
    if label == TRADE_OFF:
        return SIGNS[label]
    return SIGNS["unconfirmed" if is_unconfirmed(label) else direction_of(label)]


def _matrix(result: ConditionsComparison, runs: Sequence[str]) -> Table:
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
        overall = _overall(result, run)
        of_conditions = (signs.get(name, "") for name in names)
        average = overall and overall.label
        lines.append((run, *of_conditions, counts["better"], counts["worse"], average))
    columns = (
        Column("run"),
        *(Column(heading, form=SIGN) for heading in headings),
        Column("better", form=NUMBER),
        Column("worse", form=NUMBER),
        Column("on average"),
    )
    captions = (
        SIGNS_EXPLAINED,
        _dagger_legend(result, result.conditions),
        numbered,
        _direction_line(result),
        settings_line(result),
    )
    return Table.of_texts(columns, lines, *captions)


def _details(result: ConditionsComparison, run: str) -> Iterator[Table]:
    """Yield judged shares, means, and all rows of the conditions of one contender."""
    rows = result.of(run)
    overall = _overall(result, run)
    title = f"{run} (B) against {result.baseline} (A)"
    if any(row.judged for row in rows):
        named = f"condition={result.over}", "judged_baseline", "judged_contender"
        columns = chosen(condition_columns(rows), *named, group="")
        yield Table.of(columns, rows, title=f"{title}, % of the first 10 documents judged")
    if overall is not None:
        fields = "better", "worse", "difference", "interval", "p"
        means = (
            Column("name", heading=f"mean of {result.over}s"),
            Column("n", heading=f"{result.over}s", form=NUMBER),
            *chosen(row_fields(result.settings.alpha), *fields),
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
    answers = {bias.answer for bias in result.biases}
    caption = "; ".join(
        (
            f"B - A by {result.reference} and by the judge on the same {plural('query', labeled)}",
            "bias: the judge's less the reference's",
            *(f"{answer}: {words}" for answer, words in meanings.items() if answer in answers),
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
