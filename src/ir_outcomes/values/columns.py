"""The columns of runs, measures, values and ids in a table of values."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ir_outcomes.choices import Trials
from ir_outcomes.errors import FormatError, MismatchError, ParameterError, some
from ir_outcomes.formatting import plural
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.forms import normal
from ir_outcomes.reading.measure_names import (
    base_name,
    is_measure_name,
    is_reciprocal,
    is_same_measure,
)
from ir_outcomes.reading.tables import Source, strict_number
from ir_outcomes.values.records import (
    INDEX_TITLES,
    KEY,
    MEANS,
    MEASURE_TITLES,
    QUERY_TITLES,
    RUN_TITLES,
    VALUE_TITLES,
    Records,
)

EMPTY = ("", "nan", "null", "none")
_NO_VALUES = "has no column of values; call it value, or choose one of its columns"
_EVALUATORS = ("name", "metric_name", "evaluator", "scorer", "score_name", "evaluation_name")
_TEXTS = ("query", "question", "user_input", "input")  # of queries, whose ids must not mix them up


class TableLayout(NamedTuple):
    """The columns of a source that hold runs, values and ids of a measure."""

    records: Records
    run: str | None
    value: str
    measure: str
    n_queries: int = 0  # that the tool evaluated, as it says

    @property
    def id_columns(self) -> list[str]:
        """The columns whose names are those of ids."""
        titles = self.records.titled(*QUERY_TITLES)
        return [title for title in titles if title not in (self.value, self.run)]


def layout_of(records: Records, measure: str | None) -> TableLayout:
    """Find the columns of runs and values, in tables of every layout."""
    if not records.size:
        raise records.source.error(f"has no values by query; {MEANS}")
    column = None if measure is None else _column_of(records, measure)
    if column is not None and measure is not None:
        return TableLayout(records, _run_column(records), column, measure)
    kind = _kind_column(records, measure)
    if kind is not None:
        return _long(records, kind, measure)
    no_measures = {*_query_columns(records), *records.titled(*RUN_TITLES)[:1]}
    names: dict[str, None] = {}
    for title in [title for title in records.columns if title not in no_measures]:
        parts = (_inner(title, depth) for depth in (2, 1, 0))
        names |= dict.fromkeys(islice(filter(is_measure_name, parts), 1))
    if not names:
        return _crossed(records, measure)
    name = _measure_among(list(names), measure, records.source)
    column = _column_of(records, name)
    return TableLayout(records, _run_column(records), str(column), measure or name)


def text_of(cell: Any) -> str:
    """Return a cell as text."""
    return "" if cell is None else str(cell)


def _query_columns(records: Records) -> list[str]:
    return [*records.titled(*QUERY_TITLES), *(title for title in records.columns if title == KEY)]


def _run_column(records: Records, kind: str | None = None) -> str | None:
    """Return the column of runs, called name only where nothing else can be."""
    titles = records.titled(*RUN_TITLES)
    if not titles and (kind is not None or not _query_columns(records)):
        titles = [title for title in records.titled("name") if title != kind]
    return titles[0] if titles else None


def _column_of(records: Records, measure: str) -> str | None:
    """Return the column of a measure, in any spelling or below other keys."""
    if measure in records.columns:
        return measure
    for same in (str.__eq__, is_same_measure):
        for depth in range(3):
            titles = [title for title in records.columns if same(_inner(title, depth), measure)]
            if len(titles) > 1:
                raise ParameterError(
                    f"{records.source.name} has several columns of {measure} ({some(titles)});"
                    " choose one with `measure`"
                )
            if titles:
                return titles[0]
    return None


def _inner(title: str, depth: int) -> str:
    """Return a title or a part of it, so that scores.match.value is match."""
    outer, _, last = title.rpartition(".")
    if depth == 2 and last in VALUE_TITLES:
        last = outer.rpartition(".")[2]
    return last if depth else title


def _kind_column(records: Records, measure: str | None) -> str | None:
    """Return the column with the names of measures."""
    titles = records.titled(*MEASURE_TITLES)
    if not titles and measure is not None:
        evaluators = records.titled(*_EVALUATORS)
        titles = [title for title in evaluators if measure in records.columns[title]]
    return titles[0] if titles else None


def _measure_among(names: Sequence[str], measure: str | None, source: Source) -> str:
    """Choose the measure that is meant among those of a source."""
    if measure is None:
        ranks = [name for name in names if is_reciprocal(name) or base_name(name) == "ESL"]
        chosen = ranks or list(names)
    else:
        spellings = [name for name in names if is_same_measure(name, measure)]
        chosen = [measure] if measure in names else spellings
    if len(chosen) == 1:
        return chosen[0]
    problem = f"several measures ({some(chosen)}); choose one with `measure`"
    if not chosen:
        problem = f"no values of {measure}; it has {some(list(names))}"
    raise ParameterError(f"{source.name} has {problem}")


def _long(records: Records, kind: str, measure: str | None) -> TableLayout:
    """Keep the rows of a measure, and the queries of others."""
    value = next(iter(records.titled(*VALUE_TITLES)), None)
    if value is None:
        raise records.source.error(f"{_NO_VALUES} ({some(records.titles)}) with `measure`")
    names = records.columns[kind]
    name = _measure_among(list(map(text_of, dict.fromkeys(names))), measure, records.source)
    run = _run_column(records, kind)
    if set(names) == {name}:
        return TableLayout(records, run, value, measure or name)
    rows = [row for row, of_row in enumerate(names) if text_of(of_row) == name]
    query = next(iter(records.titled(*QUERY_TITLES)), None)
    queries = [None] * records.size if query is None else records.columns[query]
    counts = [
        strict_number(records.columns[value][row])
        for row, of_row in enumerate(names)
        if of_row == "num_q" and queries[row] == "all"
    ]
    runs = records.columns[run] if run else [None] * records.size
    pairs = list(zip(runs, queries, strict=True))
    with_value = {pairs[row] for row in rows}
    others = {pair: row for row, pair in enumerate(pairs) if pair not in with_value}
    kept = records.take([*rows, *others.values()])
    kept.columns[value][len(rows) :] = [None] * len(others)
    return TableLayout(kept, run, value, measure or name, int(max(filter(None, counts), default=0)))


def _crossed(records: Records, measure: str | None) -> TableLayout:
    """Read a single column of values, or a table of runs and queries."""
    source = records.source
    queries = _query_columns(records)
    run = next(iter(records.titled(*RUN_TITLES)), None)
    index = [title for title in [*records.columns][:1] if title in INDEX_TITLES]
    named = [*queries[:1], *([run] if run else ()), *index]  # what names the rows
    columns = [title for title in records.columns if title not in (*queries, *named)]
    if len(columns) == 1 and (queries or index):
        if measure is None and normal(columns[0]) not in VALUE_TITLES:
            measure = columns[0]
        if measure is not None:
            return TableLayout(records, run, columns[0], measure)
    if measure is None and named:
        remedy = "name it with `measure`"
        if columns[1:]:
            remedy = f"choose one of its columns ({some(columns, 12)}) with `measure`"
        raise ParameterError(
            f"{source.name} has values without the name of their measure; {remedy}"
        )
    numeric = [title for title in columns if _are_numbers(records.columns[title])]
    if measure is None or (queries and run) or 2 * len(numeric) <= len(columns):
        if queries:
            choices = f"({some(columns, 12)}) with `measure`: there is no {measure}"
            raise source.error(f"{_NO_VALUES} {choices}")
        raise _without_ids(records)
    label = named[0] if named else columns.pop(0)
    rows = list(map(text_of, records.columns[label]))
    are_queries = bool(queries)
    if not queries and run is None:
        # Pandas numbers rows so where nothing is named.
        is_counted = rows == list(map(str, range(len(rows))))
        are_numbers = [all(map(str.isdigit, names)) for names in (rows, columns)]
        if is_counted or are_numbers[0] == are_numbers[1]:
            raise source.error(
                f"has rows ({some(sorted(rows))}) and columns ({some(columns)}), and it cannot be"
                f" told which are the queries; call the first column, {label!r}, query_id or run"
            )
        are_queries = are_numbers[0]
    of_rows = rows * len(columns)
    of_columns = [title for title in columns for _ in rows]
    of_query, of_run = (of_rows, of_columns) if are_queries else (of_columns, of_rows)
    for row, name in enumerate(columns if are_queries else rows):
        if not name.isdigit() and strict_number(name or "0") is not None:
            problem = "has no name of a run here; write the table with a header and their names"
            raise records.error(0 if are_queries else row, problem, name)
    numbers = None if records.numbers is None else list(records.numbers) * len(columns)
    cells = [cell for title in columns for cell in records.columns[title]]
    long = {"query_id": of_query, "run": of_run, "value": cells}
    return TableLayout(Records(source, long, numbers), "run", "value", measure)


def _are_numbers(cells: Sequence[Any]) -> bool:
    """Return whether a column has numbers or nothing, at least in its first rows."""
    return all(
        not isinstance(cell, (list, tuple, dict))
        and (not isinstance(cell, str) or any(map(str.isdigit, cell)) or cell.casefold() in EMPTY)
        for cell in cells[:20]
        if cell is not None
    )


# --- the rows that are chosen


def conditions_of(where: Any) -> dict[str, str]:
    """Return columns with the values that choose rows."""
    if isinstance(where, Mapping):
        return {str(column): str(value) for column, value in where.items()}
    conditions = {}
    for pair in [where] if isinstance(where, str) else where or ():
        column, sign, value = str(pair).partition("=")
        if not sign or not column:
            raise ParameterError("must be COLUMN=VALUE, such as filter=strict", where=pair)
        conditions[column] = value
    return conditions


def rows_with(records: Records, conditions: Mapping[str, str]) -> Records:
    """Return the rows that have all of these values."""
    for column, value in conditions.items():
        cells = list(map(str, records.columns[_named_column(records, column, "where")]))
        rows = [row for row, cell in enumerate(cells) if _folded(cell) == _folded(value)]
        if not rows:
            raise records.source.error(
                f"has no row with {column}={value}; the column has {some(sorted(set(cells)))}"
            )
        records = records.take(rows)
    return records


def _folded(text: str) -> str:
    return text.casefold() if text.casefold() in ("true", "false") else text


def _named_column(records: Records, name: str, argument: str) -> str:
    """Return the title of a column that a caller names."""
    titles = [name] if name in records.columns else records.titled(normal(name))
    if not titles:
        raise records.source.error(
            f"has no column {name!r} (`{argument}`); its columns are {some(records.titles, 12)}"
        )
    return titles[0]


# --- the ids of queries


def columns_of_ids(
    layouts: Sequence[TableLayout], explicit: str | None, trials: Trials | None
) -> list[str]:
    """Return the column of ids of each source."""
    if explicit is not None:
        return [_named_column(layout.records, explicit, "id") for layout in layouts]
    by_name = [{normal(title): title for title in layout.id_columns} for layout in layouts]
    shared = [name for name in by_name[0] if all(name in others for others in by_name)]
    if not shared:
        return list(map(_first_id, layouts))
    first, *others = ([titles[name] for titles in by_name] for name in shared)
    if others and _are_doubtful(layouts, first):
        return next((titles for titles in others if _are_ids(layouts, titles, trials)), first)
    return first


def _first_id(layout: TableLayout) -> str:
    """Return the first known column of ids, keys outside of records, or an index."""
    columns = layout.records.columns
    titles = [*layout.id_columns, *(title for title in (KEY, *INDEX_TITLES) if title in columns)]
    if titles and not (titles[0] in INDEX_TITLES and _is_counted(columns[titles[0]])):
        return titles[0]
    raise _without_ids(layout.records)


def _without_ids(records: Records) -> FormatError:
    return records.source.error(
        "has no column of query ids; name it with `id`, or call it query_id or query: its columns are"
        f" {some(records.titles, 12)}. Of values, {MEANS}"
    )


def _is_counted(cells: Sequence[Any]) -> bool:
    """Return whether ids are the numbers of rows, from 0 or 1 on."""
    first = str(cells[0])
    if first not in ("0", "1"):
        return False
    return all(str(cell) == str(number) for number, cell in enumerate(cells, int(first)))


def _are_doubtful(layouts: Sequence[TableLayout], titles: Sequence[str]) -> bool:
    """Return whether ids are row numbers, or are other ones in each source."""
    cells = [layout.records.columns[title] for layout, title in zip(layouts, titles, strict=True)]
    if any(map(_is_counted, cells)):
        return True
    first = set(map(str, cells[0]))
    return any(first.isdisjoint(map(str, others)) for others in cells[1:])


def _are_ids(layouts: Sequence[TableLayout], titles: Sequence[str], trials: Trials | None) -> bool:
    """Return whether values are the same in all sources, and distinct unless trials."""
    sets = []
    for layout, title in zip(layouts, titles, strict=True):
        columns = layout.records.columns
        cells = columns[title]
        runs = columns[layout.run] if layout.run else [None] * len(cells)
        if trials is None and len(set(zip(runs, cells, strict=True))) < len(cells):
            return False
        sets.append(set(map(str, cells)))
    return all(others == sets[0] for others in sets)


def differing_texts(
    layouts: Sequence[TableLayout], ids: Sequence[str], *, is_explicit: bool
) -> Iterator[Note]:
    """Refuse, or note, ids that stand for different texts in two sources."""
    if len(layouts) < 2:
        return
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for layout, id_title in zip(layouts, ids, strict=True):
        columns = layout.records.columns
        for title in layout.records.titled(*_TEXTS):
            if title in (id_title, layout.value):
                continue
            text_by_id = texts[normal(title)]
            differing = []
            for query, cell in zip(columns[id_title], columns[title], strict=True):
                text = " ".join(cell.split()) if isinstance(cell, str) else None
                if text is not None and text_by_id.setdefault(str(query), text) != text:
                    differing.append(str(query))
            if not differing:
                continue
            verb = "has" if len(differing) == 1 else "have"
            problem = (
                f"{id_title} {differing[0]} has another {title} in {layout.records.source.name}"
                f" than in the first output, as {plural('id', len(differing))} {verb}"
            )
            if not is_explicit:
                raise MismatchError(
                    f"{problem}; name the column of ids with `id`, such as `id={title!r}`, or with"
                    f" `id={id_title!r}` if the same queries are meant"
                )
            yield note("other texts", f"{problem}.")
