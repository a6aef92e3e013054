"""Cells, labels and p-values are the same in JSON, CSV, text, Markdown, HTML and LaTeX."""

import csv
import html
import io
import re
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.formatting import pvalue
from ir_outcomes.results import Result
from ir_outcomes.showing import Table
from ir_outcomes.showing.formats import as_markdown
from ir_outcomes.showing.views.leaderboards import PAIR
from tests.comparison.test_sentences import shows
from tests.helpers.comparisons import compare_pair
from tests.helpers.many import collection
from tests.showing.test_formats import tabular_rows

NAMES = ("run0", "run1", "run2", "run3")


@cache
def evaluated(relevant: int) -> iro.Evaluation:
    qrels, runs = collection(4, 90, relevant=relevant, seed=3)
    return iro.evaluate(qrels, list(runs.values()), names=NAMES, cutoff=10, unjudged=True)


def of_queries(relevant: int) -> dict[str, str]:
    return {query: f"s{int(query[1:]) % 2}" for query in evaluated(relevant).query_ids}


RESULTS: dict[str, Callable[[int], Result]] = {
    "compare": lambda n: iro.compare(evaluated(n), "run0", list(NAMES[1:])),
    "measures": lambda n: iro.compare(evaluated(n), "run0", "run3"),
    "slices": lambda n: iro.compare_slices(evaluated(n), "run0", "run3", by=of_queries(n)),
    "cutoffs": lambda n: iro.compare_cutoffs(evaluated(n), "run0", "run3", cutoffs=(5, 10)),
    "collections": lambda n: iro.compare_collections(
        {name: evaluated(n) for name in ("c0", "c1")}, "run0", "run3"
    ),
    "gate": lambda n: iro.gate(
        iro.compare(evaluated(n), "run0", list(NAMES[1:])), margins=(1.0, 0.5)
    ),
    "holes": lambda n: iro.holes(evaluated(n), "run0", list(NAMES[1:]), cutoff=10),
    "leaderboard": lambda n: iro.leaderboard(evaluated(n), cutoff=10),
    "matrix": lambda n: iro.compare_slices(evaluated(n), "run0", list(NAMES[1:]), by=of_queries(n)),
    "judges": lambda n: iro.compare_judges(
        {name: evaluated(n) for name in ("j0", "j1")}, "run0", "run3", reference="j0"
    ),
    "agreement": lambda n: iro.agreement(evaluated(n), splits=5),
    "plan": lambda n: iro.plan(iro.compare(evaluated(n), "run0", "run3")),
    "rank distribution": lambda n: iro.rank_distribution(evaluated(n), resamples=50),
    "reordering": lambda n: iro.reordering(evaluated(n)),
    "lengths": lambda n: iro.length_distributions(evaluated(n)),
    "changes": lambda n: iro.length_changes(evaluated(n), "run0", "run3"),
    "queries": lambda n: compare_pair(evaluated(n), "run0", "run3").per_query("worse", top=5),
    "published": lambda n: iro.verdict_from_summary(
        100, won=20 + n, lost=9, ranking_difference=0.5, ranking_pvalue=0.003, rounding=0.5
    ),
}


@cache
def made(kind: str, relevant: int) -> Result:
    return RESULTS[kind](relevant)


# Those that show the labels of no run: of one comparison it is in the first line.
WITHOUT_LABELS = {
    "measures",
    "gate",
    "agreement",
    "plan",
    "rank distribution",
    "reordering",
    "lengths",
    "changes",
    "queries",
    "published",
}
each_result = pytest.mark.parametrize("relevant", [1, 3], ids=["query", "document"])
of_kind = pytest.mark.parametrize("kind", RESULTS)


class Cells(HTMLParser):
    """The rows of the tables of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
        self.inside = tag == "td" or (self.inside and tag in ("b", "sup"))

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "td"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


def plain(cells: Iterator[str]) -> tuple[str, ...]:
    return tuple(" ".join(cell.split()) for cell in cells)


def rows_of(tables: list[Table]) -> list[tuple[str, ...]]:
    return [plain(cell for cell in row) for table in tables for row in table.rows]


@each_result
@of_kind
def test_cells(kind: str, relevant: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    result = made(kind, relevant)
    view = result.view()
    expected = rows_of([table for table in (*view.tables, *view.details) if table.columns])
    assert [plain(iter(row)) for row in Cells(result.to_html()).rows if row] == expected
    lines = as_markdown(view, details=True).splitlines()
    body = [line for line in lines if line.startswith("|")]
    shown = [
        plain(html.unescape(re.sub(r"\\(.)|\*\*", r"\1", cell)) for cell in line[1:-1].split("|"))
        for place, line in enumerate(body)
        # Headings stand above the line of dashes.
        if not line.startswith("|-") and not body[min(place + 1, len(body) - 1)].startswith("|-")
    ]
    assert [row for row in shown if not set("".join(row)) <= set(":- ")] == expected
    text = result.to_text(details=True).splitlines()
    for row in expected:
        assert any(" ".join(line.split()) == " ".join(" ".join(row).split()) for line in text), row


def of_latex(cell: str) -> str:
    """Return what a cell of LaTeX shows."""
    text = re.sub(
        r"\\times10\^\{(-?\d+)\}", lambda power: f"e{int(power[1]):+03d}", cell.replace("$", "")
    )
    return re.sub(r"\\([%_&#])", r"\1", text).replace("--", "-").replace("\\textless{}", "<")


def body_of(result: Result) -> str:
    """Return the tables in LaTeX without their headings."""
    return re.sub(r"\\toprule\n.*?\\midrule", r"\\toprule", result.to_latex(), flags=re.DOTALL)


@each_result
@of_kind
def test_cells_of_latex(kind: str, relevant: int) -> None:
    result = made(kind, relevant)
    view = result.view()
    tables = [table for table in view.printed or view.tables if table.columns]
    tables = tables or [table for table in view.details if table.columns][:1]
    shown = [plain(map(of_latex, row)) for row in tabular_rows(body_of(result))]
    assert [row for row in shown if row] == rows_of(tables)
    # What is printed in a paper has the cells of the screen, where both have the column.
    for printed, table in zip(view.printed, view.tables, strict=False):
        names = [column.name for column in printed.columns]
        of_screen = [names.index(column.name) for column in table.columns]
        rows = rows_of([printed])
        assert [tuple(row[place] for place in of_screen) for row in rows][-len(table.rows) :] == (
            rows_of([table])
        )


def labels_in(data: Any) -> Iterator[tuple[str, str]]:
    """Yield the names and labels of all comparisons that JSON holds."""
    if isinstance(data, dict):
        label = data.get("label") or (data.get("verdict") or {}).get("label")
        name = data.get("contender") or data.get("name")
        if label and name:
            yield name, label
        for value in data.values():
            yield from labels_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from labels_in(value)


@each_result
@of_kind
def test_labels(kind: str, relevant: int) -> None:
    """Every label of a table is one that JSON has, of the run that its row, or the only one that is compared, names."""
    result = made(kind, relevant)
    known = set(labels_in(result.to_dict()))
    names = {name for name, _ in known}
    view = result.view()
    n_labels = 0
    for row in rows_of([*view.tables, *view.details]):
        for cell in row:
            label = cell.removesuffix("*").strip()
            if label not in LABELS:
                continue
            n_labels += 1
            of_row = names & set(row) or names
            assert {(name, label) for name in of_row} & known, row
    assert bool(n_labels) is (kind not in WITHOUT_LABELS)


# ---- p-values

ALPHA = 0.05
OF_FACET = {
    "coverage": "coverage",
    "ranking": "ranking",
    "all queries": "restricted",
    "p, all": "restricted",
    "restricted": "restricted",
    "all_queries": "restricted",
}
NAMED = ("contender", "condition", "judge", "name", "facet", "measure")


def pvalues_in(data: Any, names: frozenset[str] = frozenset()) -> Iterator[tuple[set[str], float]]:
    """Yield the p-values that JSON holds, with the names of what each is about."""
    if isinstance(data, list):
        for value in data:
            yield from pvalues_in(value, names)
    if not isinstance(data, dict):
        return
    named = {**(data.get("comparison") or {}), **data}
    own = {str(named[key]) for key in NAMED if isinstance(named.get(key), str)}
    names = names | own | {OF_FACET[name] for name in own & OF_FACET.keys()}
    for key, value in data.items():
        about = names | {facet for start, facet in OF_FACET.items() if key.startswith(start)}
        if isinstance(value, float) and ("pvalue" in key or re.search(r"_p(_|$)|^p_", key)):
            yield {*about, *names, key}, value
        elif key == "pvalues" and isinstance(value, dict):
            for test, own in value.items():
                yield {*about, test}, own
        else:
            yield from pvalues_in(value, about)


def facet_of(table: Table, place: int, row: tuple[str, ...]) -> str | None:
    """Return which facet a p-value of a table is about."""
    column = table.columns[place]
    for text in (column.group, column.name, row[0], *row[1:2]):
        for start, facet in OF_FACET.items():
            if text.startswith(start):
                return facet
    return None


def p_columns(table: Table) -> list[int]:
    return [
        place
        for place, column in enumerate(table.columns)
        if column.title in ("p", "raw p", "p, all", "bias p") or column.name == "pvalue_corrected"
    ]


def explains(label: str, shown: dict[str, str]) -> bool:
    """Return whether p-values as they are printed allow a label, by facet; there may be only that of all queries."""

    def small(facet: str) -> bool:
        if facet not in shown:
            return True
        return float(re.sub(r"\*| W", "", shown[facet])) <= ALPHA

    if label == "trade-off":
        marked = any("*" in own for own in shown.values())
        return marked or "coverage" not in shown or any(map(small, shown))
    if label.endswith("unconfirmed"):
        return small(label.partition(" ")[0])
    if label.endswith("over all queries"):
        facets = [facet for facet in ("coverage", "ranking") if facet in shown]
        return small("restricted") and not any(map(small, facets))
    if label.endswith("on both facets"):
        return small("coverage") and small("ranking")
    if label == "no significant difference":
        return not any(small(facet) for facet in ("coverage", "ranking") if facet in shown)
    return small(label.rpartition(" ")[2]) and small("restricted")


@each_result
@of_kind
def test_pvalues(kind: str, relevant: int) -> None:
    """Every p-value of a table is one that JSON has of the same run, condition and facet, and allows the label beside it."""
    result = made(kind, relevant)
    known = [*pvalues_in(result.to_dict())]
    names = {name for about, _ in known for name in about}
    view = result.view()
    n_shown = 0
    for table in (*view.tables, *view.details):
        places = p_columns(table)
        for row in rows_of([table]) if places else []:
            about = {*row[:2], *re.findall(r"^(\S+) \(B\)", table.title)} & names
            shown: dict[str, str] = {}
            for place in places:
                if row[place] in ("-", ""):
                    continue
                n_shown += 1
                facet = facet_of(table, place, row)
                wanted = about | ({facet} - {None})
                number = row[place].removesuffix("*").removesuffix(" W")
                same = [p for of, p in known if wanted <= of and shows(number, p)]
                assert same, (row, table.columns[place], wanted)
                if facet is not None and table.columns[place].title != "raw p":
                    shown[facet] = row[place]
            for label in {cell.removesuffix("*").strip() for cell in row} & {*LABELS}:
                assert explains(label, shown), row
    if kind == "measures":  # the label of a pair is in its first line
        (table, *_) = view.tables
        rows = {facet_of(table, 0, row): row[5] for row in rows_of([table])}
        assert explains(view.label, {facet: p for facet, p in rows.items() if facet is not None})
    with_p = {"compare", "measures", "slices", "cutoffs", "collections", "leaderboard", "matrix"}
    assert bool(n_shown) is (kind in with_p | {"judges", "published"})


@each_result
@of_kind
def test_pvalues_of_rows(kind: str, relevant: int) -> None:
    """CSV and frames have the same labels and p-values, those of JSON, and the p-value explains the label."""
    result = made(kind, relevant)
    known = {p for _, p in pvalues_in(result.to_dict())}
    frame = result.to_frame()
    lines = csv.DictReader(io.StringIO(result.to_csv()))
    for line, row, own in zip(lines, frame.to_dict("records"), result.rows(), strict=True):
        for name, text in line.items():
            if name not in own:  # of other rows of the result
                assert text == ""
            elif isinstance(own[name], float) and re.search(r"(^|_)p(_|$)", name):
                assert float(text) == row[name] == own[name]
                assert kind == "rank distribution" or own[name] in known, name
            elif name.endswith(("verdict", "label")):
                assert text == (own[name] or "")
        label = own.get("verdict")
        if label in LABELS and "coverage_p" in own:
            of = {"coverage": "coverage", "ranking": "ranking"}
            shown = {facet: str(own[f"{column}_p"]) for facet, column in of.items()}
            # Not corrected, a p-value can be small without a label.
            assert label.endswith(("difference", "queries")) or explains(label, shown)


@each_result
def test_pvalues_of_several_contenders(relevant: int) -> None:
    """The p-values of the first table are those of JSON and CSV, by name."""
    result = iro.compare(evaluated(relevant), "run0", list(NAMES[1:]))
    (table,) = result.view().tables
    items = {item["contender"]: item for item in result.to_dict()["items"]}
    lines = {row["contender"]: row for row in csv.DictReader(io.StringIO(result.to_csv()))}
    places = [place for place, column in enumerate(table.columns) if column.heading == "p"]
    for row in table.rows:
        item, line = items[row[0]], lines[row[0]]
        assert row[1] == item["verdict"]["label"] == line["verdict"]
        for place, facet in zip(places, ("coverage", "ranking"), strict=False):
            corrected = item[facet]["pvalue_corrected"]
            assert row[place].rstrip("*") == pvalue(corrected)
            assert float(line[f"{facet}_p_corrected"]) == corrected
            marked = item[facet]["pvalue_corrected"] > 0.05 >= float(line[f"{facet}_p"])
            assert row[place].endswith("*") is marked


def apart(relevant: int) -> iro.Evaluation:
    """Runs that find nothing in common with run0 (run1), on one query (run2), and on all of them (run3)."""
    queries = [f"q{n}" for n in range(8)]
    qrels = {query: {f"{query} {n}": 1 for n in range(relevant)} for query in queries}
    found = {"run0": queries[:5], "run1": queries[5:], "run2": queries[4:], "run3": queries}
    runs = {
        name: {
            query: {f"{query} 0" if query in own else "other": 2.0, "more": 1.0}
            for query in queries
        }
        for name, own in found.items()
    }
    return iro.evaluate(qrels, runs, cutoff=10)


OF_ONE_PAIR: dict[str, Callable[[iro.Evaluation, str], Any]] = {
    "compare": lambda ev, run: iro.compare(ev, "run0", run),
    "several": lambda ev, run: iro.compare(ev, "run0", [run, "run3"]),
    "collections": lambda ev, run: iro.compare_collections({"c": ev}, "run0", run),
    "cutoffs": lambda ev, run: iro.compare_cutoffs(ev, "run0", run, cutoffs=(1, 2)),
}


@each_result
@pytest.mark.parametrize("run", ["run1", "run2"])
@pytest.mark.parametrize("kind", OF_ONE_PAIR)
def test_what_is_not_compared_has_no_pvalue(kind: str, run: str, relevant: int) -> None:
    """Nothing found by both: no p-value in any row or table, and 1 with a note in the result; one query is tested, p = 1."""
    result = OF_ONE_PAIR[kind](apart(relevant), run)
    expected = None if run == "run1" else 1.0
    own = [row for row in result.rows() if row.get("contender") == run and "ranking_p" in row]
    assert own
    for row in own:
        assert row["ranking_p"] == row["ranking_p_corrected"] == expected
        assert row["coverage_p"] is not None
    tested = [row for row in result.long_rows() if row["contender"] == run]
    assert {row["p"] for row in tested if row["facet"] == "ranking"} == {expected}
    for row in tested:
        assert (row["p"] is None) is (row["estimate"] is None)
    n_shown = 0
    view = result.view()
    for table in (*view.tables, *view.details):
        for row_of_table in rows_of([table]):
            of_run = run in row_of_table or run in (*view.title.split(), *table.title.split())
            for place in p_columns(table) if of_run else []:
                if facet_of(table, place, row_of_table) == "ranking":
                    n_shown += 1
                    shown = row_of_table[place].rstrip("*")
                    assert shown == ("-" if expected is None else "1.000"), table.title
    assert n_shown or kind not in ("compare", "several")  # columns without any value are left out
    ((about, p), *_) = [
        (about, p)
        for about, p in pvalues_in(result.to_dict())
        if run in about and "ranking" in about and "pvalue" in about
    ]
    assert p == 1.0, about


@each_result
def test_pairs_of_a_board_that_are_not_compared_have_no_pvalue(relevant: int) -> None:
    pairs = iro.leaderboard(apart(relevant)).pairs
    assert {pair.ranking is None for pair in pairs} == {True, False}
    for pair in pairs:
        (shown,) = [column.text(pair) for column in PAIR if column.name == "ranking_p"]
        assert shown == ("-" if pair.ranking is None else pvalue(pair.ranking_p_corrected))
