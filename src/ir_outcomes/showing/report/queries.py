"""The data of the page: a column of ranks for each run, labels of the pairs of the call, and lists as the size allows."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ir_outcomes.across.result import Curve
from ir_outcomes.comparison.facets import AllQueries, Facet, MeasureMeans
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.verdict import LABELS, MIRRORED, NO_DIFFERENCE
from ir_outcomes.errors import escaped
from ir_outcomes.pages.content import TOO_FEW, Grid, PageContent, QuerySet, Section
from ir_outcomes.pages.lists import DEPTH, RankedLists
from ir_outcomes.showing import tone
from ir_outcomes.showing.charts import curve_lines
from ir_outcomes.showing.report.decision import causes_of, rows_of_facets
from ir_outcomes.showing.views.across import sign_of

Data = dict[str, Any]  # what becomes JSON
Place = tuple[int, int]  # the number of a set of queries, and of a query in it
Listed = tuple[dict[int, str], dict[str, str]]  # ranked lists by place, and texts by document
CODES = {label: chr(ord("a") + place) for place, label in enumerate((*LABELS, TOO_FEW))}
FIRST_QUERIES = 100  # whose lists may make a page of the default size larger
NO_LABEL = "."  # of a pair that is not one of the call
TESTS = ("t", "wilcoxon", "signflip")  # that the script knows


def embed(content: PageContent, drawn: Data, space: int, beyond: int) -> tuple[Data, int]:
    """Choose what the page holds: all columns, then ranked lists of some queries, with their texts.

    The first queries may take so much beyond the space. Return what the template takes, and what is
    left for their ranked lists, which is negative where even the rest is too large.
    """
    sets = content.sets
    head = json_for_html(
        {
            "depth": DEPTH,
            "labels": _labels(),
            "opening": opening_of(content),
            "grids": [_grid_data(grid, content) for grid in content.grids],
            **drawn,
        }
    )
    parts = [json_for_html(_set_data(own)) for own in sets]
    left = space - _size(head) - sum(map(_size, parts))
    # This is for names, null, and punctuation.
    left -= 60 + sum(5 * len(own.ids) + 40 for own in sets)
    order = _in_order(content)
    listed = _with_texts(sets, _chosen_lists(sets, order, left, beyond), left, beyond)
    shown = []
    for number, own in enumerate(sets):
        lists, texts = listed[number]
        rankings = "null"
        if own.lists:
            rankings = _array(lists.get(place, "null") for place in range(len(own.ids)))
        documents = json_for_html(texts)
        shown.append(f'{parts[number][:-1]},"rankings":{rankings},"documents":{documents}}}')
    data = f'{head[:-1]},"sets":{_array(shown)}}}'
    n = sum(len(lists) for lists, _ in listed)
    return {"n": n, "total": len(order), "data": data}, left + beyond


def _in_order(content: PageContent) -> list[Place]:
    """List the queries that have ranked lists: those that a gate names, then those that differ most."""
    named = {query for _, query, *_ in causes_of(content.result)}
    order = []
    for number, own in enumerate(content.sets):
        if own.lists is None:
            continue
        for place, (query, change) in enumerate(zip(own.ids, own.changes, strict=True)):
            order.append((query not in named, -change, number, place))
    return [(number, place) for *_, number, place in sorted(order)]


def _chosen_lists(
    sets: Sequence[QuerySet], order: Sequence[Place], space: int, beyond: int
) -> dict[Place, RankedLists]:
    """Describe as many ranked lists as fit without their texts."""
    lists_by_set = {number: own.lists for number, own in enumerate(sets) if own.lists}
    chosen: dict[Place, RankedLists] = {}
    for number, place in order:
        entry = lists_by_set[number](place)
        space -= _size(json_for_html(entry._asdict()))
        if _is_full(space, len(chosen), beyond):
            break
        chosen[number, place] = entry
    return chosen


def _with_texts(
    sets: Sequence[QuerySet], chosen: Mapping[Place, RankedLists], space: int, beyond: int
) -> list[Listed]:
    """Return for each set the ranked lists that fit with their texts, as JSON by place, and these texts by id."""
    wanted: list[set[str]] = [set() for _ in sets]
    for (number, _), entry in chosen.items():
        wanted[number].update(entry.ids)
    known = [own.documents(ids) if ids else {} for own, ids in zip(sets, wanted, strict=True)]
    listed: list[Listed] = [({}, {}) for _ in sets]
    for n, ((number, place), entry) in enumerate(chosen.items()):
        lists, texts = listed[number]
        new = {}
        for document in entry.ids:
            if document in known[number] and document not in texts:
                new[document] = known[number][document]
        data = json_for_html(entry._asdict())
        space -= _size(data) - len("null")
        space -= _size(json_for_html(new))
        if _is_full(space, n, beyond):
            break
        lists[place] = data
        texts |= new
    return listed


def _is_full(left: int, n: int, beyond: int) -> bool:
    """Say whether the page has no space for another query after the first n."""
    if n < FIRST_QUERIES:
        return left + beyond < 0
    return left < 0


def _labels() -> list[tuple[str, str, str]]:
    """List the labels with tone and sign."""
    return [(label, tone(label), sign_of(label if label in LABELS else None)) for label in CODES]


def _grid_data(grid: Grid, content: PageContent) -> Data:
    settings = grid.settings
    codes = {pair: CODES[label] for pair, label in grid.labels.items()}
    for (a, b), label in grid.labels.items():
        codes[b, a] = CODES[MIRRORED.get(label, label)]
    rows = []
    for a in grid.runs:
        rows.append("".join(codes.get((a, b), NO_LABEL) for b in grid.runs))
    compared = [section.comparison for section in grid.sections]
    pairs = []
    has_columns = grid.queries is not None and content.sets[grid.queries].columns is not None
    for section in grid.sections:
        notes = list(map(content.advice, section.comparison.notes))
        pairs.append(_pair_data(section, has_columns) | {"notes": notes})
    return {
        "name": grid.condition,
        "set": grid.queries,
        "runs": grid.runs,
        "codes": rows,
        "unit": settings.unit,
        "cutoff": settings.cutoff,
        "rel": settings.rel,
        "rules": {
            "alpha": settings.alpha,
            "test": settings.test,
            "coverageTest": settings.coverage_test,
        },
        "silent": why_silent(grid),
        "family": settings.family,
        "correction": settings.correction,
        "measure": next((own.ranking.measured_in for own in compared if not own.in_lengths), None),
        "pairs": pairs,
    }


def why_silent(grid: Grid) -> str | None:
    """Return why the script says no label, if it does not."""
    settings = grid.settings
    if TOO_FEW in grid.labels.values():
        return "there are too few queries"
    if settings.n_clusters is not None:
        return "queries come in clusters"
    if any(section.comparison.of_several_runs for section in grid.sections):
        return "a system has several runs"
    if settings.test not in TESTS:
        return f"{settings.test} decides on ranking"
    return None


def _pair_data(section: Section, has_columns: bool) -> Data:
    """Return what Python says of a pair of the call, and its queries where the page has no column of ranks for them."""
    comparison = section.comparison
    rows = rows_of_facets(comparison)
    parts: list[Facet | AllQueries | MeasureMeans] = [comparison.coverage, comparison.ranking]
    if comparison.restricted is not None:
        parts.append(comparison.restricted)
    parts += comparison.measures
    given = None
    if not has_columns and comparison.queries is not None:
        given = _queries_of(comparison)
    drawn = [_row_data(row, part) for row, part in zip(rows, parts, strict=True)]
    for run in comparison.runs:
        changes = [run.coverage, run.ranking]
        if comparison.restricted is not None:
            changes.append(run.all_queries)
        changes += run.measures
        for row, change in zip(drawn, changes, strict=True):
            row["runs"] += [] if change is None else [_short(change)]
    return {
        "a": comparison.baseline,
        "b": comparison.contender,
        "sentence": comparison.verdict.sentence if section.has_label else "",
        "horizon": comparison.restricted and comparison.restricted.horizon,
        "rows": drawn,
        "given": given,
        "curve": section.curve and _curve_data(section.curve),
    }


def _curve_data(curve: Curve) -> Data:
    """Return what both runs found by rank, and the band of their difference, in percent and points."""
    ranks, lines = curve_lines(curve)
    names = {"a": "baseline", "b": "contender", "low": "low", "high": "high"}
    columns = {short: list(map(_short, lines[name][:-1])) for short, name in names.items()}
    return {"ranks": ranks[:-1], "level": curve.level, **columns}


def _row_data(row: Data, part: Facet | AllQueries | MeasureMeans) -> Data:
    """Return a row of numbers, which the script draws."""
    return {
        "name": row["name"],
        "explanation": row["explanation"],
        "unit": row["unit"],
        "higher": part.higher_is_better,
        "a": row["baseline"],
        "b": row["contender"],
        "difference": _short(part.difference),
        "interval": part.interval and list(map(_short, part.interval)),
        "newRuns": part.new_runs and list(map(_short, part.new_runs)),
        "runs": [],
        "p": row["pvalue"],
        "found": part.found,
        "margin": row["margin"],
    }


def _set_data(own: QuerySet) -> Data:
    columns = own.columns
    return {
        "ids": own.ids,
        "texts": own.texts,
        "slices": own.slices,
        "relevant": own.relevant,
        "runs": own.runs,
        "first": own.first,
        "columns": None if columns is None else columns._asdict(),
    }


def _queries_of(comparison: Comparison) -> Data:
    """Return the numbers of each query of a pair, by column."""
    queries = comparison.per_query()
    return {
        "a": [query.baseline for query in queries],
        "b": [query.contender for query in queries],
        "change": [query.change for query in queries],
        "both": [query.difference is not None for query in queries],
        "foundA": [query.found_baseline for query in queries],
        "foundB": [query.found_contender for query in queries],
    }


def opening_of(content: PageContent) -> tuple[str, str, str] | None:
    """Choose the condition, baseline and contender that the page opens on: the best row, and none without changes."""
    sections = [section for grid in content.grids for section in grid.sections]
    if sections:
        best = min(sections, key=_order).comparison
        condition = min(sections, key=_order).condition
        return condition, best.baseline, best.contender
    if not content.grids or len(content.grids[0].runs) < 2:
        return None
    grid = content.grids[0]
    best_run, *others = grid.runs
    worse = [run for run in others if grid.labels.get((best_run, run)) != NO_DIFFERENCE]
    return grid.condition, [*worse, *others][0], best_run


def _order(section: Section) -> tuple[bool, int, float]:
    """Sort pairs without changes last, then by label, then by coverage."""
    comparison = section.comparison
    is_still = comparison.coverage.n_nonzero == comparison.ranking.n_nonzero == 0
    return is_still, list(CODES).index(section.label), -comparison.coverage.gain


def _short(value: float | None) -> float | None:
    """Round to more digits than are shown; whole numbers need no fraction."""
    if value is None:
        return None
    return int(value) if value == int(value) else round(value, 4)


def _visible(value: Any) -> Any:
    """Escape control characters in all text of plain data."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, dict):
        return {escaped(key): _visible(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_visible(item) for item in value]
    return value


def json_for_html(value: Any) -> str:
    """Write JSON that can stand inside of a script element of HTML, whatever its text says."""
    text = json.dumps(_visible(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _array(items: Iterable[str]) -> str:
    return f"[{','.join(items)}]"


def _size(text: str) -> int:
    return len(text.encode())
