"""The report page in a real browser, from a file and with the network off."""

import csv
import os
import shutil
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.comparison.verdict import MIRRORED
from ir_outcomes.formatting import pvalue
from ir_outcomes.showing.charts import facets_of
from ir_outcomes.showing.report import report_of
from tests.helpers.comparisons import compare_pair, compare_several
from tests.helpers.histogram import changes_of
from tests.helpers.packages import needed
from tests.helpers.results import KINDS, result_of
from tests.helpers.runs import run_of

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
pytestmark = pytest.mark.browser
BAD = "<img src=x onerror=\"document.title='run'\"></script><script>document.title='run'</script>"


@cache
def made_up(n: int = 200) -> iro.Evaluation:
    rng = np.random.default_rng(7)
    qrels = {f"{1000 + number}": {"gold": 2, "d3": 0} for number in range(n)}
    ranks = [dict(zip(qrels, rng.integers(1, 46, n).tolist(), strict=True)) for _ in range(3)]
    runs = {
        name: run_of(own, depth=30)
        for name, own in zip(("first", "second", "third"), ranks, strict=True)
    }
    texts = {query: f"words about topic {number % 7}" for number, query in enumerate(qrels)}
    return iro.evaluate(qrels, runs, documents=20, queries=texts)


@cache
def five() -> iro.Evaluation:
    """Five runs of which some are much alike, and others far apart."""
    rng = np.random.default_rng(11)
    qrels = {f"{1000 + number}": {"gold": 2, "d3": 0} for number in range(120)}
    first = rng.integers(1, 40, len(qrels))
    runs = {}
    for number, (better, noise) in enumerate([(0, 0), (1, 1), (4, 3), (9, 12), (-6, 20)]):
        ranks = np.maximum(first - better + rng.integers(-noise, noise + 1, len(qrels)), 1)
        runs[f"r{number}"] = run_of(dict(zip(qrels, ranks.tolist(), strict=True)), depth=30)
    colours = ("red", "green", "blue", "white")
    texts = {query: f"words about {colours[number % 4]}" for number, query in enumerate(qrels)}
    return iro.evaluate(qrels, runs, documents=20, queries=texts)


@cache
def by_document() -> iro.Evaluation:
    return replace(five(), unit="document")


def sliced() -> Any:
    evaluation = five()
    by = {query: "few" if place < 4 else "many" for place, query in enumerate(evaluation.query_ids)}
    return iro.compare_slices(evaluation, "r0", by=by).to_report(evaluation=evaluation)


@cache
def clustered() -> iro.Evaluation:
    evaluation = five()
    groups = {query: str(int(query) // 3) for query in evaluation.query_ids}
    runs = {name: evaluation[name] for name in evaluation.names}
    assert evaluation.qrels is not None
    return iro.evaluate(
        evaluation.qrels, runs, clusters=groups, queries=evaluation.texts, documents=0
    )


@cache
def systems() -> iro.Evaluation:
    evaluation = made_up(60)
    assert evaluation.qrels is not None
    names = ("second", "third")
    runs = dict(zip(evaluation.names, evaluation.sources, strict=True))
    return iro.evaluate(
        evaluation.qrels, runs, documents=20, replicates=dict.fromkeys(names, "dense")
    )


def report(evaluation: Any, *runs: str, **options: Any) -> Any:
    slices = {query: "even" if int(query) % 2 == 0 else "odd" for query in made_up().query_ids}
    docs = {"gold": "the text of the relevant document, on topics without a number"}
    return iro.report(
        evaluation, *runs, slices=slices, docs=docs, command="ir-outcomes report", **options
    )


def hostile() -> Any:
    """A page whose names are markup, or those that objects of JavaScript have."""
    documents = [BAD, "constructor", "toString", "__proto__", "hasOwnProperty"]
    run = {
        query: {document: -float(rank) for rank, document in enumerate(documents)}
        for query in ("valueOf", BAD)
    }
    qrels = {query: {"constructor": 1} for query in run}
    evaluation = iro.evaluate(
        qrels, {"__proto__": run, BAD: run}, documents=20, queries={"valueOf": BAD}
    )
    return iro.report(
        evaluation, docs={"__proto__": BAD}, slices=dict.fromkeys(run, BAD), command=BAD
    )


def apart() -> Any:
    """A page with a query on which both runs found something, but nothing in common."""
    qrels = {f"q{number}": {"x": 1, "y": 1} for number in range(9)}
    run = {query: {"x": 2.0, "z": 1.0} for query in qrels}
    other = {**run, "q0": {"z": 2.0, "y": 1.0}}
    evaluation = iro.evaluate(qrels, {"a": run, "b": other}, documents=5, unit="document")
    return iro.report(evaluation)


def alike() -> Any:
    """A page of turns of one conversation."""
    qrels = {f"694e275f1a01ad0e8ac448ad809f7930694e275f1a01ad0<::>{n}": {"x": 1} for n in range(9)}
    run = {query: {"x": 1.0} for query in qrels}
    return iro.report(iro.evaluate(qrels, {"a": run, "b": run}, documents=5))


LONG_IDS = [
    "msmarco_passage_03_5601134501", "msmarco_passage_03_5601134502", "msmarco_passage_41_5601134502",
    "a-rather-long-name-of-a-document-in-front-of-the-chapter-1-of-the-same-book-with-a-long-title",
    "a-rather-long-name-of-a-document-in-front-of-the-chapter-2-of-the-same-book-with-a-long-title",
]  # fmt: skip


def long_ids() -> Any:
    """A page whose documents have ids that are alike where they begin, or begin and end."""
    run = {"q0": {document: -float(rank) for rank, document in enumerate(LONG_IDS)}}
    evaluation = iro.evaluate({"q0": {LONG_IDS[0]: 1}}, {"a": run, "b": run}, documents=5)
    return iro.report(evaluation)


def gate() -> Any:
    evaluation = made_up()
    decided = iro.gate(iro.compare(evaluation, "first", cutoff=30), margins=(0.1, 0.1))
    return decided.to_report(evaluation=evaluation)


def traded_off() -> Any:
    """A page of runs with all labels; "wide" answers more queries, but lower in its lists."""
    qrels = {f"q{number}": {"gold": 1} for number in range(60)}
    ranks = dict.fromkeys(qrels, 1)
    high = {query: 25 if place < 20 else 1 for place, query in enumerate(qrels)}
    runs = {
        "high": run_of(high, depth=30),
        "wide": run_of({query: 8 + place % 2 for place, query in enumerate(qrels)}, depth=30),
        "better": run_of(ranks, depth=30),
        "worse": run_of(dict.fromkeys(qrels, 25), depth=30),
        "alike": run_of(high | {"q0": ranks["q0"]}, depth=30),
    }
    evaluation = iro.evaluate(qrels, runs, cutoff=20, documents=20)
    compared = iro.compare(evaluation, "high")
    assert compared["wide"].verdict.label == "trade-off"
    return compared.to_report(evaluation=evaluation)


def of_a_command() -> Any:
    """A page that says which option of its command makes it larger."""

    def as_option(text: str) -> str:
        return text.replace("`max_mb`", "--max-mb")

    return report_of(
        compared(), evaluation=made_up(), command="ir-outcomes", advice=as_option, max_mb=0.15
    )


def page_of_kind(kind: str) -> Any:
    result: Any = result_of(kind)
    return result.to_report()


PAGES: dict[str, Callable[[], Any]] = {
    "pair": lambda: report(made_up(), "first", "second"),
    "small": lambda: report(made_up(), "first", "second", max_mb=0.15),
    "of a command": of_a_command,
    "short": lambda: report(made_up(), "first", "second", cutoff=5),
    "three": lambda: report(made_up(), "first"),
    "collections": lambda: report({"one": made_up(30), "two": made_up(12)}, "first"),
    "board": lambda: iro.leaderboard(made_up(30)).to_report(evaluation=made_up(30)),
    "hostile": hostile,
    "apart": apart,
    "alike": alike,
    "gate": gate,
    "long ids": long_ids,
    "several": lambda: iro.report(five(), "r0"),
    "board of five": lambda: iro.leaderboard(five()).to_report(evaluation=five()),
    "by document": lambda: iro.leaderboard(by_document()).to_report(evaluation=by_document()),
    "slices": sliced,
    "clusters": lambda: iro.report(clustered(), "r0"),
    "systems": lambda: iro.report(systems(), "first"),
    "trade-off": traded_off,
}
for kind in KINDS:
    if hasattr(getattr(iro, kind.split()[0], None), "to_report"):
        PAGES[kind] = partial(page_of_kind, kind)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = needed("playwright.sync_api")
    program = (
        os.environ.get("IR_OUTCOMES_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("google-chrome")
    )
    if program is None:
        pytest.skip("there is no Chromium; set IR_OUTCOMES_CHROMIUM to its path")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def visit(chromium: Any, pages: Path) -> Iterator[Callable[..., Any]]:
    """Open a page; at the end, nothing may have been written to the console, and nothing requested but the page."""
    messages: list[str] = []
    requests: list[str] = []
    contexts = []

    def opened(name: str = "pair", address: str = "", **settings: Any) -> Any:
        path = pages / f"{name}.html"
        if not path.exists():
            PAGES[name]().save(path)
        context = chromium.new_context(
            **{"viewport": {"width": 1200, "height": 900}, "offline": True, **settings}
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"file://{path}{address}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert messages == []
    assert all(url.startswith("file://") for url in requests)


def compared(contender: str = "second", **rules: Any) -> iro.Comparison:
    return compare_pair(made_up(), "first", contender, **rules)


def shown_ids(page: Any) -> list[str]:
    ids: list[str] = page.locator("#rows tr[data-id]").evaluate_all(
        "rows => rows.map((row) => row.dataset.id)"
    )
    return ids


def counted(page: Any) -> str:
    return str(page.locator("#count").inner_text())


def test_search(visit: Callable[..., Any]) -> None:
    page = visit()
    assert counted(page).startswith("200 of 200 queries")
    page.get_by_role("searchbox").fill("topic 13")
    found = [query for query in made_up().query_ids if "13" in query]
    assert counted(page).startswith(f"{len(found)} of 200")
    assert set(shown_ids(page)) <= set(found)
    page.get_by_role("searchbox").fill("1042")
    assert shown_ids(page) == ["1042"]
    assert "s=1042" in page.url
    page.get_by_role("searchbox").fill("nothing is like this")
    assert "No query is like this" in page.locator("#rows").inner_text()


def test_the_largest_change_is_listed_first(visit: Callable[..., Any]) -> None:
    page = visit()
    largest = sorted(compared().per_query(), key=lambda query: -abs(query.restricted or 0.0))
    shown = page.locator("#rows td.c-change").all_inner_texts()
    numbers = [float(text.replace("\N{MINUS SIGN}", "-")) for text in shown]
    assert numbers == [query.restricted for query in largest[: len(numbers)]]


def test_bars_of_the_histogram_filter_the_list(
    visit: Callable[..., Any],
) -> None:
    comparison, page = compared(), visit()
    queries, changes = comparison.per_query(), changes_of(comparison)
    bars = page.locator("#histogram button")
    assert bars.locator(".name").all_inner_texts() == list(changes.names)
    assert [int(text) for text in bars.locator("b").all_inner_texts()] == changes.counts()
    for place, name in enumerate(changes.names):
        bars.nth(place).click()
        assert bars.nth(place).get_attribute("aria-pressed") == "true"
        expected = [
            query.query_id for query, own in zip(queries, changes.bins, strict=True) if own == place
        ]
        assert counted(page).startswith(f"{name}: {len(expected)} of 200")
        assert set(shown_ids(page)) <= set(expected)
    page.get_by_role("button", name=f"{compared().outcomes.won} won").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    pressed = page.locator("#histogram [aria-pressed=true]")
    assert pressed.inner_text() == f"{compared().outcomes.won}\nwon"
    page.get_by_role("combobox", name="Slice").select_option("odd")
    assert (
        f"{len([query for query in comparison.per_query('won') if int(query.query_id) % 2])} of 200"
        in counted(page)
    )
    page.get_by_role("button", name="Reset").click()
    assert counted(page).startswith("200 of 200")


def test_bars_say_what_they_are_to_pointer_and_keyboard(visit: Callable[..., Any]) -> None:
    page = visit()
    outcomes = compared().outcomes
    tip = page.locator("#tip")
    won = page.locator("#histogram button", has_text="won")
    expected = f"won: {outcomes.won} of 200 queries, coverage changes"
    won.hover()
    assert tip.inner_text() == expected
    page.mouse.move(5, 5)
    tip.wait_for(state="hidden")
    page.keyboard.press("Tab")
    won.focus()
    assert tip.inner_text() == expected
    page.keyboard.press("Escape")
    tip.wait_for(state="hidden")
    colours = [
        page.locator("#histogram button", has_text=name)
        .first.locator(".bar")
        .evaluate("bar => getComputedStyle(bar).opacity")
        for name in ("won", "lost", "up", "down")
    ]
    assert (colours[0] == colours[1] == "1", colours[2] == colours[3] != "1") == (True, True)


def test_curve_is_read_rank_by_rank(visit: Callable[..., Any]) -> None:
    page = visit()
    curve = iro.compare_cutoffs(made_up(), "first", "second", cutoffs=[10, 30]).curves[0]
    page.locator("svg.curve .column").first.focus()
    for rank in range(2, 12):
        page.keyboard.press("ArrowRight")
        said = page.locator("#tip").inner_text()
        assert said == page.evaluate("document.activeElement.ariaLabel")
        shares = [100 * getattr(curve, run)[rank - 1] for run in ("baseline", "contender")]
        assert said.startswith(f"rank {rank}: A {shares[0]:.1f} %, B {shares[1]:.1f} %, difference")
        difference = float(said.split("difference ")[1].split()[0].replace("\N{MINUS SIGN}", "-"))
        assert difference == pytest.approx(shares[1] - shares[0], abs=0.051)
    page.keyboard.press("End")
    assert page.locator("#tip").inner_text().startswith("rank 30: ")


def test_points_of_the_scatter_say_their_queries(visit: Callable[..., Any]) -> None:
    page = visit()
    both = [query for query in compared().per_query() if query.outcome == "both"]
    pairs = Counter((query.baseline, query.contender) for query in both)
    points = page.locator("svg.scatter .point")
    expected = {
        f"A {first:g}, B {second:g}: {number} {'query' if number == 1 else 'queries'}"
        for (first, second), number in pairs.items()
    }
    labels = "points => points.map((point) => point.ariaLabel)"
    assert set(points.evaluate_all(labels)) == expected
    points.first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip").inner_text() == points.nth(1).get_attribute("aria-label")
    page.keyboard.press("Escape")
    page.locator("#tip").wait_for(state="hidden")
    points.last.hover()
    assert page.locator("#tip").inner_text() == points.last.get_attribute("aria-label")


def test_without_javascript(visit: Callable[..., Any]) -> None:
    page = visit("pair", java_script_enabled=False)
    table = page.locator("#queries noscript table")
    largest = sorted(compared().per_query(), key=lambda query: -abs(query.change or 0))
    ids = table.locator("tbody tr td:first-child").all_inner_texts()
    assert ids == [query.query_id for query in largest[:100]]
    assert page.locator("h1").is_visible()
    numbers = page.locator("#summary noscript table").first.inner_text()
    numbers = numbers.replace("-", "\N{MINUS SIGN}")
    assert all(row["estimate"].text in numbers for row in facets_of(compared())[:2])
    assert not page.locator("#both").is_visible()


def test_choosing_a_query_is_a_step_in_the_history(visit: Callable[..., Any]) -> None:
    page = visit()
    first, second, third, fourth, fifth = shown_ids(page)[:5]
    for query in (second, fourth):
        page.locator(f"#rows tr[data-id='{query}'] a").click()
    page.get_by_role("searchbox").fill(fourth)
    page.go_back()
    page.locator("#query", has_text=second).wait_for()
    assert f"q={second}" in page.url
    page.go_back()
    page.locator("#query", has_text=first).wait_for()
    page.go_forward()
    page.locator("#query", has_text=second).wait_for()
    page.get_by_role("button", name="Next query").click()
    page.locator("#query", has_text=third).wait_for()
    page.get_by_role("button", name="Previous query").click()
    page.locator("#query", has_text=second).wait_for()
    before = page.url
    with page.context.expect_page() as opened:
        page.locator(f"#rows tr[data-id='{fifth}'] a").click(modifiers=["ControlOrMeta"])
    assert f"q={fifth}" in opened.value.url
    assert page.url == before


def test_query_of_a_link_is_shown(visit: Callable[..., Any]) -> None:
    page = visit(address="#q=1134")
    assert page.locator("#query-title").inner_text() == made_up().texts["1134"]
    assert page.locator("#query code").inner_text() == "1134"
    assert page.locator("#rows tr:has([aria-current])").get_attribute("data-id") == "1134"
    for side, ranked in enumerate(made_up().documents[:2]):
        place = made_up().query_ids.index("1134")
        start, end = ranked.offsets[place : place + 2]
        shown = page.locator("#lists section").nth(side).locator("li .id").all_inner_texts()
        assert shown[: end - start] == [name.decode() for name in ranked.docids[start:end]]


def test_none_in_common(visit: Callable[..., Any]) -> None:
    page = visit("apart", "#q=q0")
    said = page.locator("#query")
    assert "On what each found, none in common, search length: A 1, B 2." in said.inner_text()
    page.locator("#rows tr[data-id='q1'] a").click()
    assert "On what both found, search length: A 1, B 1." in said.inner_text()


def test_documents_are_marked_and_say_their_rank_in_the_other_run(
    visit: Callable[..., Any],
) -> None:
    both = next(
        query for query in compared().per_query("better") if query.baseline and query.baseline <= 20
    )
    page = visit(address=f"#q={both.query_id}")
    first, second = page.locator("#lists section").all()
    gold = first.locator("li", has_text="gold")
    assert gold.locator(".mark").inner_text() == "✔ 2\nrelevant, grade 2"
    assert "the text of the relevant document" in gold.inner_text()
    assert "judged not relevant, grade 0" in first.locator("li", has_text="d3").first.inner_text()
    assert "unjudged" in first.locator("li", has_text="d5").first.inner_text()
    assert gold.locator(".elsewhere").inner_text() == f"B {both.contender or 0:g}"
    there = second.locator("li", has_text="gold").locator(".elsewhere")
    assert there.inner_text() == f"A {both.baseline or 0:g}"


def test_phone_shows_one_ranking_after_the_other(visit: Callable[..., Any]) -> None:
    page = visit(address="#q=1134", viewport={"width": 360, "height": 800})
    first, second = page.locator("#lists section").all()
    assert first.bounding_box()["width"] > 240
    assert second.bounding_box()["x"] > 240
    page.set_viewport_size({"width": 1200, "height": 800})
    assert second.bounding_box()["x"] + second.bounding_box()["width"] < 1200


def test_what_a_whole_list_lacks_was_not_returned(visit: Callable[..., Any]) -> None:
    page = visit("apart", "#q=q0")
    first, second = page.locator("#lists section").all()
    assert first.locator("li", has_text="x").locator(".elsewhere").inner_text() == "not in B"
    assert second.locator("li", has_text="z").locator(".elsewhere").inner_text() == "A 2"


def test_query_without_lists_says_so(visit: Callable[..., Any]) -> None:
    page = visit("small")
    rankings = page.evaluate("JSON.parse(document.querySelector('#data').text).sets[0].rankings")
    n_kept = sum(entry is not None for entry in rankings)
    assert 1 < n_kept < len(rankings)
    assert f"the {n_kept} queries that change most" in page.locator("#queries").inner_text()
    without = made_up().query_ids[rankings.index(None)]
    shown = visit("small", f"#q={without}").locator("#query").inner_text()
    assert "Its ranked lists are not part of the page." in shown


def test_other_runs_stand_beside_the_pair_where_they_are_chosen_or_fit(
    visit: Callable[..., Any],
) -> None:
    page = visit("three", "#b=second&q=1134")
    names = page.locator("#lists h4")
    pair = ["A · first", "B · second"]
    assert names.all_inner_texts() == [*pair, "C · third"]
    place = page.locator("#lists").bounding_box()
    left = names.nth(2).bounding_box()["x"]
    assert left > place["x"] + place["width"] - 60  # two are in view where it is narrow
    page.set_viewport_size({"width": 2000, "height": 900})
    place = page.locator("#lists").bounding_box()
    assert names.nth(2).bounding_box()["x"] < place["x"] + place["width"] - 200
    assert page.locator("#both").evaluate("box => box.clientWidth") > 1800
    others = page.get_by_role("combobox", name="Other lists")
    others.select_option("only A and B")
    assert names.all_inner_texts() == pair
    page.reload()
    assert names.all_inner_texts() == pair
    others.select_option("third")
    assert names.all_inner_texts() == [*pair, "C · third"]
    ranked = made_up().documents[2].first(20)
    query = made_up().query_ids.index("1134")
    start, end = ranked.offsets[query : query + 2]
    ids = page.locator("#lists section").nth(2).locator("li .id").all_inner_texts()
    assert ids[: end - start] == [name.decode() for name in ranked.docids[start:end]]


def test_ids_are_cut_but_never_alike(visit: Callable[..., Any]) -> None:
    page = visit("long ids", "#q=q0")
    shown = page.locator("#lists section").first.locator("li .id").all_inner_texts()
    assert len(set(shown)) == len(shown) == len(LONG_IDS)
    assert any("…" in form for form in shown)
    for identifier, form in zip(LONG_IDS, shown, strict=True):
        start, end = form.partition("…")[::2]
        assert (identifier.startswith(start), identifier.endswith(end)) == (True, True)
    page.locator("#lists button.id").first.click()
    assert page.locator("#lists li .id").first.inner_text() == LONG_IDS[0]


def test_ids_of_queries_that_begin_alike_differ_in_the_list(visit: Callable[..., Any]) -> None:
    page = visit("alike")
    for width in (360, 1200):
        page.set_viewport_size({"width": width, "height": 800})
        page.reload()
        shown = page.locator("#rows td.c-id a").all_inner_texts()
        assert (len(shown), len(set(shown))) == (9, 9)
        assert all("…" in form for form in shown)
        hidden = "links => links.filter((link) => link.scrollWidth > link.clientWidth).length"
        assert page.locator("#rows td.c-id a").evaluate_all(hidden) == 0


def test_texts_open_and_words_of_the_query_are_marked(visit: Callable[..., Any]) -> None:
    page = visit(address="#q=1134")
    gold = page.locator("#lists section").nth(1).locator("li", has_text="gold")
    assert gold.locator("mark").all_inner_texts() == ["topics"]
    button = gold.get_by_role("button", name="gold")
    for expected in ("true", "false"):
        button.press("Enter")
        assert button.get_attribute("aria-expanded") == expected
    gold.locator(".text").click()
    assert button.get_attribute("aria-expanded") == "true"


def test_listed_queries_are_saved(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit(accept_downloads=True)
    page.get_by_role("searchbox").fill("topic 3")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    assert saved.value.suggested_filename == "second against first.csv"
    saved.value.save_as(tmp_path / "saved.csv")
    with (tmp_path / "saved.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    by_id = {query.query_id: query for query in compared().per_query()}
    expected = [query for query, own in by_id.items() if "3" in f"{query} {own.text}"]
    assert sorted(row["query"] for row in rows) == sorted(expected)
    for row in rows:
        own = by_id[row["query"]]
        assert (row["text"], row["slice"]) == (own.text, "odd" if int(own.query_id) % 2 else "even")
        for heading, value in (("first", own.baseline), ("second", own.contender)):
            assert row[f"rank of {heading}"] == ("" if value is None else f"{value:g}")
        assert float(row["change"]) == own.restricted


def test_line_at_the_cutoff(visit: Callable[..., Any]) -> None:
    found = next(
        query for query in compared().per_query() if query.baseline and 5 < query.baseline <= 10
    )
    page = visit("short", f"#q={found.query_id}")
    items = page.locator("#lists section").first.locator("li")
    places = items.evaluate_all(
        "items => items.map((item) => item.querySelector('.rank')?.textContent ?? item.textContent)"
    )
    assert places[:7] == ["1", "2", "3", "4", "5", "cutoff 5", "6"]
    assert "behind" in (items.nth(int(found.baseline or 0)).get_attribute("class") or "")
    assert page.locator("#rows tr:has([aria-current]) td.c-A").inner_text() == "none"


def label_shown(page: Any) -> str:
    return str(page.locator("#pair .label").inner_text()).lstrip("▲▼ ")


def test_a_pair_is_chosen_and_has_the_colours_of_its_findings(
    visit: Callable[..., Any],
) -> None:
    page = visit("three")
    page.get_by_role("combobox", name="B", exact=True).select_option("third")
    page.locator("#histogram button", has_text="lost").click()
    assert counted(page).startswith(f"lost: {compared('third').outcomes.lost} of 200")
    address = page.url.partition("#")[2]
    page.locator("#forest a", has_text="second").click()
    # Its rows are those of the chosen pair, and the filter stays.
    assert "second against first" in page.locator("#pair h3").inner_text()
    assert counted(page).startswith(f"lost: {compared().outcomes.lost} of 200")
    color = "item => getComputedStyle(item).color"
    better, worse = (
        page.locator(f"#sides .{tone}").evaluate(color) for tone in ("better", "worse")
    )
    assert better != worse
    for contender in ("second", "third"):
        page.get_by_role("combobox", name="B", exact=True).select_option(contender)
        rows = page.locator("#pair .facet[role=group]")
        for place, row in enumerate(facets_of(compared(contender))):
            shown = rows.nth(place).locator(".finding")
            assert row["finding"] in shown.inner_text()
            assert row["estimate"].text in rows.nth(place).locator(".value").inner_text()
            assert row["estimate"].interval in rows.nth(place).locator(".value").inner_text()
            expected = {"better": better, "worse": worse}.get(row["estimate"].tone)
            assert (shown.evaluate(color) == expected) is (expected is not None)
    hatched = page.locator("#histogram .worse .bar").first.evaluate(
        "bar => getComputedStyle(bar).backgroundImage"
    )
    assert "gradient" in hatched
    dark = visit("three", f"#{address}", color_scheme="dark")
    assert counted(dark).startswith(f"lost: {compared('third').outcomes.lost} of 200")
    assert dark.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 18, 21)"
    assert dark.locator("#sides .better").evaluate(color) not in (better, worse)


@pytest.mark.parametrize("name", ["several", "board of five"])
def test_any_two_runs_have_the_label_of_python(visit: Callable[..., Any], name: str) -> None:
    evaluation = five()
    corrected = {
        "several": compare_several(evaluation, "r0"),
        "board of five": compare_several(evaluation, "r0", all_pairs=True),
    }[name]
    of_call = {(item.baseline, item.contender): item.verdict.label for item in corrected}
    raw = {
        (item.baseline, item.contender): item.verdict.label
        for item in compare_several(evaluation, "r0", all_pairs=True, correction="none")
    }
    page = visit(name)
    page.locator("#matrix td[data-a]:not(.corrected, .raw)").first.wait_for(state="detached")
    for (a, b), label in (raw | of_call).items():
        for pair, expected in (((a, b), label), ((b, a), MIRRORED[label])):
            cell = page.locator(f"#matrix td[data-a='{pair[0]}'][data-b='{pair[1]}']")
            is_raw = (a, b) not in of_call
            words = f"{pair[1]} against {pair[0]}: {expected}{', not corrected' * is_raw}"
            assert cell.get_attribute("aria-label") == words
            cell.click()
            assert label_shown(page) == expected
            assert ("not corrected" in page.locator("#pair h3").inner_text()) is is_raw
    assert len({*raw.values(), *of_call.values()}) > 3


def test_what_is_filtered_is_what_is_counted_and_decided(visit: Callable[..., Any]) -> None:
    evaluation = five()
    page = visit("several", "#b=r3")
    page.get_by_role("searchbox").fill("blue")
    chosen = [query for query, text in evaluation.texts.items() if text.endswith("blue")]
    some = compare_pair(evaluation.restrict(chosen), "r0", "r3", correction="none")
    said = page.locator("#listed").inner_text()
    assert said.startswith(
        f"These {len(chosen)} queries: {some.verdict.label} (exploratory: chosen on these queries)."
    )
    coverage = f"{some.coverage.difference:+.2f}".replace("-", "\N{MINUS SIGN}")
    assert f"coverage {coverage} points (p {pvalue(some.coverage.pvalue)})" in said
    changes = changes_of(compare_pair(evaluation, "r0", "r3"))
    places = {query: place for place, query in enumerate(evaluation.answerable_queries)}
    numbers = [0] * len(changes.names)
    for query in chosen:
        if changes.bins[places[query]] >= 0:
            numbers[changes.bins[places[query]]] += 1
    bars = page.locator("#histogram button b")
    assert [int(text) for text in bars.all_inner_texts()] == numbers
    shown = page.locator("#query code").inner_text()
    assert shown in chosen
    ids = shown_ids(page)
    page.get_by_role("button", name="Next query").click()
    assert page.locator("#query code").inner_text() == ids[1]
    page.get_by_role("combobox", name="B", exact=True).select_option("r2")
    # Filter and query stay, and a reload restores all of it.
    assert counted(page).startswith(f"{len(chosen)} of")
    assert page.locator("#query code").inner_text() == ids[1]
    before = (page.locator("#pair h3").inner_text(), counted(page))
    page.reload()
    assert (page.locator("#pair h3").inner_text(), counted(page)) == before
    assert page.locator("#query code").inner_text() == ids[1]
    page.go_back()
    page.locator("#pair h3", has_text="r3 against r0").wait_for()
    page.get_by_role("searchbox").fill("")
    assert page.locator("#listed").inner_text() == ""


@pytest.mark.parametrize("name", ["several", "by document"])
def test_all_runs_on_the_listed_queries(visit: Callable[..., Any], name: str) -> None:
    evaluation = five() if name == "several" else by_document()
    page = visit(name)
    page.get_by_role("searchbox").fill("blue")
    page.get_by_text("All runs on these queries").click()
    chosen = [query for query, text in evaluation.texts.items() if text.endswith("blue")]
    some = evaluation.restrict(chosen)
    expected = []
    for run in evaluation.names:
        other = "r0" if run != "r0" else "r1"
        own = compare_pair(some, other, run, correction="none")
        assert own.restricted is not None
        assert own.restricted.horizon == 30
        expected.append((own.restricted.contender, own.coverage.contender, run))
    expected.sort()
    rows = page.locator("#means tbody tr")
    assert rows.locator("th").all_inner_texts() == [run for _, _, run in expected]
    assert rows.locator("td").all_inner_texts() == [
        f"{value:.2f}" for length, found, _ in expected for value in (found, length)
    ]


def test_pairs_that_were_not_tested_have_no_label(visit: Callable[..., Any]) -> None:
    page = visit("clusters", "#a=r1&b=r2")
    assert "no label" in page.locator("#pair h3").inner_text()
    assert "queries come in clusters" in page.locator("#pair h3").inner_text()
    assert page.locator("#pair .facet[role=group]").count() == 0
    page.get_by_role("searchbox").fill("blue")
    assert page.locator("#listed").inner_text() == ""
    page.get_by_role("combobox", name="A", exact=False).select_option("r0")
    expected = compare_several(clustered(), "r0")["r2"].verdict.label
    assert label_shown(page) == expected


@pytest.mark.parametrize("name", ["board of five", "by document"])
def test_numbers_of_the_page_are_those_of_python(visit: Callable[..., Any], name: str) -> None:
    evaluation = five() if name == "board of five" else by_document()
    comparison = compare_pair(evaluation, "r2", "r4", correction="none")
    page = visit(name, "#a=r2&b=r4")
    rows = page.locator("#pair .facet[role=group]")
    expected = facets_of(comparison)
    assert rows.count() == len(expected) == 3
    for place, row in enumerate(expected):
        shown = rows.nth(place)
        assert shown.locator(".name span").inner_text() == row["explanation"]
        assert shown.locator(".value b").inner_text() == row["estimate"].text
        means = f"A {row['baseline']} → B {row['contender']}"
        assert shown.locator(".means").inner_text() == means
        test = (comparison.coverage, comparison.ranking, comparison.restricted)[place]
        assert test is not None
        assert shown.locator(".finding span").inner_text() == f"p {pvalue(test.pvalue)}"


def test_charts_are_those_of_the_chosen_pair(visit: Callable[..., Any]) -> None:
    page = visit("several", "#a=r1&b=r4")
    queries = compare_pair(five(), "r1", "r4").per_query()
    columns = [[query.baseline for query in queries], [query.contender for query in queries]]
    ranks = page.locator("#figures svg.curve .column")
    assert ranks.count() == 30
    for rank in range(1, 31):
        said = ranks.nth(rank - 1).get_attribute("aria-label") or ""
        shares = [
            100 * sum(length is not None and length <= rank for length in lengths) / len(queries)
            for lengths in columns
        ]
        assert said.startswith(f"rank {rank}: A {shares[0]:.1f} %, B {shares[1]:.1f} %")
    both = {pair for pair in zip(*columns, strict=True) if None not in pair}
    assert page.locator("#figures .scatter .point").count() == len(both)
    assert "r4 against r1" in page.locator("#pair h3").inner_text()


def test_slices_of_few_queries_have_no_label(visit: Callable[..., Any]) -> None:
    page = visit("slices", "#c=few&a=r0&b=r3")
    assert label_shown(page) == "too few queries"
    assert "corrected" not in page.locator("#pair h3").inner_text()
    page.get_by_role("combobox", name="A", exact=False).last.select_option("r2")
    assert "there are too few queries" in page.locator("#pair h3").inner_text()
    page.get_by_role("combobox", name="Slice", exact=True).first.select_option("many")
    assert "r3 against r2" in page.locator("#pair h3").inner_text()
    assert label_shown(page).startswith("better")


MISSING = """() => {
  const nodes = [...document.body.querySelectorAll("*:not(script)")];
  const attributes = nodes.flatMap((node) => [...node.attributes].map(({ name, value }) => `${name}=${value}`));
  const texts = nodes.flatMap((node) => [...node.childNodes].filter((own) => own.nodeType === 3));
  const all = [...attributes, ...texts.map((own) => own.data), document.title];
  return all.filter((text) => /undefined|NaN|null/.test(text));
}"""


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_written_where_a_value_is_missing(visit: Callable[..., Any], name: str) -> None:
    page = visit(name)
    assert page.evaluate(MISSING) == []
    for choice in ("#condition", "#run-b"):
        options = page.locator(f"{choice}:visible option").evaluate_all(
            "all => all.map((own) => own.value)"
        )
        for value in options:
            page.locator(choice).select_option(value)
            assert page.evaluate(MISSING) == []


def test_labels_of_a_forest_plot_have_their_signs(visit: Callable[..., Any]) -> None:
    labels = visit("trade-off").locator("#forest .label").all_inner_texts()
    assert labels == [
        "\N{BLACK UP-POINTING TRIANGLE} better on coverage",
        "no significant difference",
        "trade-off",
        "\N{BLACK DOWN-POINTING TRIANGLE} worse on coverage",
    ]


def test_matrix_by_keyboard(visit: Callable[..., Any]) -> None:
    page = visit("several")
    page.locator("#matrix td[tabindex='0']").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    assert page.locator("#tip").inner_text().startswith("r2 against r1")
    page.keyboard.press("Enter")
    assert "r2 against r1" in page.locator("#pair h3").inner_text()


def test_keyboard(visit: Callable[..., Any]) -> None:
    page = visit()
    largest = sorted(compared().per_query(), key=lambda query: -abs(query.restricted or 0.0))
    ids = [query.query_id for query in largest]
    assert len(shown_ids(page)) < 100  # only rows in view exist
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the queries"
    page.locator("#rows a").first.focus()
    for key, place in (("ArrowDown", 1), ("End", -1), ("ArrowUp", -2), ("Home", 0)):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.closest('tr').dataset.id") == ids[place]
        assert page.locator("#query code").inner_text() == ids[place]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "previous"


def test_hostile_names_are_text(visit: Callable[..., Any]) -> None:
    page = visit("hostile", "#q=valueOf")
    assert BAD in page.locator("#query-title").inner_text()
    cut = page.locator("#lists button.id", has_text="<img").first
    cut.click()
    assert cut.inner_text() == BAD
    for name in ("constructor", "toString", "__proto__", "hasOwnProperty"):
        assert page.locator("#lists li .id", has_text=name).first.inner_text() == name
    # Of __proto__ in both lists.
    assert page.locator("#lists .text").all_inner_texts() == [
        BAD,
        BAD,
    ]
    assert "native code" not in page.locator("#query").inner_text()
    assert page.title() != "run"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


def test_queries_of_a_gate_are_links(visit: Callable[..., Any]) -> None:
    page = visit("gate")
    row = page.locator("#causes tbody tr").nth(4)
    run, query, _ = row.locator("th, td").all_inner_texts()
    row.get_by_role("link").click()
    assert page.locator("#query code").inner_text() == query.split()[0]
    assert page.locator("#lists h4").all_inner_texts()[:2] == ["A · first", f"B · {run}"]
    assert page.locator("#query").evaluate("box => box.getBoundingClientRect().top") < 900


@pytest.mark.parametrize("name", ["pair", "collections", "board", "gate", "long ids"])
def test_page_is_not_wider_than_the_window(visit: Callable[..., Any], name: str) -> None:
    page = visit(name, "#c=one&q=1014" if name == "collections" else "#q=1014")
    for width in (360, 820, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert (
            name in ("board", "long ids")
            or page.evaluate("document.querySelector('#rows td.c-id').clientWidth") > 90
        )


@pytest.mark.parametrize("name", ["trade-off", "gate", "board of five", "slices"])
def test_labels_stand_beside_the_names_of_runs_on_a_phone(
    visit: Callable[..., Any], name: str
) -> None:
    page = visit(name, viewport={"width": 400, "height": 800})
    rows = page.locator("#forest tbody tr:has(.label)")
    assert rows.count() >= 2
    for row in rows.all():
        run, label = row.locator("th").bounding_box(), row.locator(".label").bounding_box()
        drawn = row.locator("svg").first.bounding_box()
        assert run["x"] + run["width"] <= label["x"] < label["x"] + label["width"] <= 400
        assert max(run["y"], label["y"]) < min(run["y"] + run["height"], drawn["y"])


def test_an_option_is_not_broken_at_its_hyphen(visit: Callable[..., Any]) -> None:
    for width in range(360, 460, 10):
        page = visit("of a command", viewport={"width": width, "height": 800})
        advice = page.locator("#queries .whole")
        assert advice.inner_text() == "Raise --max-mb for more."
        assert advice.evaluate("own => own.getClientRects().length") == 1


def test_facets_by_document_on_a_phone(visit: Callable[..., Any]) -> None:
    page = visit("apart", viewport={"width": 360, "height": 800})
    names, axes = page.locator(".facet:not(.heads) .name"), page.locator(".scatter > text")
    assert names.count() == 3
    assert min(names.evaluate_all("names => names.map((name) => name.clientWidth)")) > 90
    unit = "irrelevant documents above, plus 1"
    assert axes.all_text_contents()[-2:] == [f"A: {unit}", f"B: {unit}"]


SMALL = """() => [...document.querySelectorAll("a[href], button, input, select, summary")].filter((target) => {
  const { width, height } = (target.matches("[type=checkbox]") ? target.parentNode : target).getBoundingClientRect();
  return width && !target.matches(".skip") && (width < 24 || height < 24);
}).map((target) => target.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("name", ["pair", "three", "collections", "board", "gate", "long ids"])
def test_targets_are_as_large_as_a_thumb_needs(visit: Callable[..., Any], name: str) -> None:
    page = visit(name, "#q=1014", viewport={"width": 360, "height": 800})
    assert page.evaluate(SMALL) == []


def test_frame_of_a_notebook(chromium: Any) -> None:
    messages: list[str] = []
    page = chromium.new_page(viewport={"width": 900, "height": 900})
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.set_content(compared().to_report(evaluation=made_up())._repr_html_())
    frame = page.frame_locator("iframe")
    frame.get_by_role("searchbox").fill("1042")
    frame.locator("#rows tr[data-id='1042'] a").click()
    assert frame.locator("#query code").inner_text() == "1042"
    page.close()
    assert messages == []


def test_paper(visit: Callable[..., Any], tmp_path: Path) -> None:
    pypdf = needed("pypdf")
    page = visit("collections", "#c=one&q=1001", color_scheme="dark")
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    text = "\n".join(sheet.extract_text() for sheet in pypdf.PdfReader(tmp_path / "page.pdf").pages)
    text = unicodedata.normalize("NFKC", text)  # without ligatures
    assert all(
        words in text
        for words in ("second against first", "the first 25 are printed", "words about topic 1")
    )
    assert all(words not in text for words in ("Next query", "Reset"))
    assert page.locator("details[open]").count() == 0


@pytest.mark.parametrize("name", ["collections", "several"])
def test_accessibility(visit: Callable[..., Any], name: str) -> None:
    axe = needed("axe_playwright_python.sync_playwright").Axe()
    page = visit(name, "#c=one&q=1014", color_scheme="light")
    page.locator("#made details").evaluate_all(
        "all => all.forEach((details) => { details.open = true })"
    )
    # The lists of what passed would take most of the time.
    # Two rules are off by default: names as they are read, and targets as a thumb needs them.
    rules = {name: {"enabled": True} for name in ("label-content-name-mismatch", "target-size")}
    options: dict[str, Any] = {"resultTypes": ["violations"], "rules": rules}
    found = axe.run(page, options=options).response["violations"]
    page.emulate_media(color_scheme="dark")
    options["runOnly"] = ["color-contrast"]  # nothing else depends on the colours
    found += axe.run(page, options=options).response["violations"]
    page.set_viewport_size({"width": 360, "height": 800})
    options["runOnly"] = ["target-size", "label-content-name-mismatch"]
    found += axe.run(page, options=options).response["violations"]
    assert not found, "\n".join(
        f"{rule['id']}: {[node['html'][:200] for node in rule['nodes'][:3]]}" for rule in found
    )


def test_a_system_shows_means_and_the_lists_of_its_runs(visit: Callable[..., Any]) -> None:
    page = visit("systems")
    result = iro.compare(systems(), "first", "dense")
    query = max(result.per_query(), key=lambda own: abs(own.change or 0))
    row = page.locator("#rows tr[data-id]").first
    row.click()
    assert row.get_attribute("data-id") == query.query_id
    said = page.locator("#query").inner_text()
    assert "Numbers are means over runs." in said
    assert "A · first" in said
    assert "B · second" in said
    assert "C · third" in said
    assert page.locator(".strip .run").count() == 3 * 2
