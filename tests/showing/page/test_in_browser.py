"""The page in a real browser, from a file and with the network off."""

import csv
import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from tests.helpers.comparisons import compare_pair, compare_several
from tests.helpers.packages import needed
from tests.helpers.runs import run_of
from tests.showing.page.test_page import BAD, hostile

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
pytestmark = pytest.mark.browser


@cache
def made_up(n: int = 200) -> iro.Evaluation:
    """Three runs: the first has ranks at random, the others are somewhat better or worse."""
    rng = np.random.default_rng(7)
    qrels = {f"{1000 + number}": {"gold": 2, "d3": 0} for number in range(n)}
    first = rng.integers(1, 46, n)
    runs = {}
    for name, better in (("first", 0), ("second", 6), ("third", -3)):
        ranks = np.maximum(first - better + rng.integers(-9, 10, n), 1)
        runs[name] = run_of(dict(zip(qrels, ranks.tolist(), strict=True)), depth=30)
    texts = {query: f"words about topic {number % 7}" for number, query in enumerate(qrels)}
    return iro.evaluate(qrels, runs, documents=20, queries=texts, cutoff=25)


def report(evaluation: Any, *runs: str, **options: Any) -> iro.ReportPage:
    docs = {"gold": "the text of the relevant document"}
    return iro.report(evaluation, *runs, docs=docs, command="ir-outcomes report", **options)


def gate() -> iro.ReportPage:
    result = iro.gate(made_up(), "first", "third", margins=(1.0, 1.0))
    page: iro.ReportPage = result.to_report(evaluation=made_up())
    return page


PAGES: dict[str, Callable[[], iro.ReportPage]] = {
    "pair": lambda: report(made_up(), "first", "second"),
    "notebook": lambda: iro.ReportPage(PAGES["pair"]()._repr_html_()),
    "short": lambda: report(made_up(), "first", "second", cutoff=5),
    "three": lambda: report(made_up(), "first", margins=(1.0, 3.0)),
    "collections": lambda: report({"one": made_up(30), "two": made_up(12)}, "first"),
    "board": lambda: iro.leaderboard(made_up(30)).to_report(evaluation=made_up(30)),
    "gate": gate,
    "hostile": hostile,
    "values": lambda: iro.compare_outputs(
        {f"q{n}": n / 20 for n in range(20)},
        {f"q{n}": (n + 3) % 20 / 20 for n in range(20)},
        measure="latency",
        higher_is_better=False,
    ).to_report(),
}


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
    """Open a page; nothing may be written to the console, and nothing requested but the page."""
    messages: list[str] = []
    requests: list[str] = []
    contexts = []

    def opened(name: str = "pair", address: str = "", **settings: Any) -> Any:
        path = pages / f"{name}.html"
        if not path.exists():
            PAGES[name]().save(path)
        viewport = {"width": 1200, "height": 900}
        context = chromium.new_context(**{"viewport": viewport, "offline": True, **settings})
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
    assert all(url.startswith(("file://", "blob:")) for url in requests)


def changes_listed(page: Any) -> list[float]:
    """The changes of the listed queries, as they are shown."""
    texts = page.locator("#list tbody td:last-child").all_inner_texts()
    return [float(text.split("\n")[0].replace("\u2212", "-")) for text in texts]


def shown(page: Any, name: str) -> str:
    return str(page.locator(f"#{name}").inner_text())


def bar(page: Any, words: str) -> Any:
    return page.locator("#histogram").get_by_role("button", name=words)


def numbers_of(*texts: str) -> list[float]:
    words = " ".join(text.split("\n")[0] for text in texts).replace("\u2212", "-")
    return [float(number) for number in re.findall(r"[+-]?\d+\.\d+", words)]


def rows_shown(page: Any) -> list[list[str]]:
    """The cells of the rows of the chosen pair, without the scales below its pictures."""
    lines = page.locator("#overviews .scroll").first.locator("tbody tr").all()
    return [line.locator("td:not(.drawn), .drawn > span").all_inner_texts() for line in lines]


def choose(page: Any, side: str, run: str) -> None:
    selects = page.locator("#chooser select")
    (selects.last if side == "a" else selects.nth(-2)).select_option(run)


def chosen(page: Any) -> list[str]:
    return [select.input_value() for select in page.locator("#chooser select").all()]


def outcome_buttons(page: Any) -> list[str]:
    texts: list[str] = page.locator("#outcomes button").all_inner_texts()
    return texts


def test_rows_say_what_python_found(visit: Callable[..., Any]) -> None:
    (comparison, _) = compare_several(made_up(), "first", margins=(1.0, 3.0))
    page = visit("three", "#a=first&b=second")
    assert shown(page, "found") == comparison.verdict.label
    drawings = page.locator("#overviews .scroll").first.locator(".drawn").all()
    for cells, drawing, row in zip(rows_shown(page), drawings, comparison.parts, strict=True):
        assert row.margin is not None
        assert cells[2].endswith(row.margin.found)
        ends = row.difference, *(row.interval or ())
        assert numbers_of(cells[3]) == pytest.approx(ends, abs=0.0101)
        tone = drawing.get_attribute("class").split()[-1]
        assert tone == ("same" if row.found == "none" else row.found)
        dot, zero = (drawing.locator(f".{kind}").bounding_box()["x"] for kind in ("dot", "zero"))
        assert (dot > zero) == (row.gain > 0)


def test_queries_are_those_of_python(visit: Callable[..., Any]) -> None:
    comparison = compare_pair(made_up(), "first", "second")
    changes = np.array([query.change for query in comparison.per_query()])
    page = visit()
    mean = f"{changes.mean():+.2f} ranks".replace("-", "\u2212")
    assert shown(page, "count") == f"200 queries, mean change {mean}"
    split = comparison.outcomes
    counts = {"won": split.won, "both": split.both, "neither": split.neither, "lost": split.lost}
    assert outcome_buttons(page) == [f"{name}, {number}" for name, number in counts.items()]
    listed = changes_listed(page)
    assert list(map(abs, listed)) == sorted(np.abs(changes), reverse=True)[: len(listed)]
    ends = np.nextafter([0, 1, 2, 5, 10, 30, np.inf], np.inf)
    better, worse = (np.histogram(sign * changes, ends)[0].tolist() for sign in (-1, 1))
    numbers, heights = bars_drawn(page)
    assert numbers == [*worse[::-1], int((changes == 0).sum()), *better]
    assert_true_heights(numbers, heights, is_broken=True)


def bars_drawn(page: Any) -> tuple[list[int], list[float]]:
    """Numbers and heights of the bars, from the largest loss on."""
    bars = page.locator("#histogram button").all()
    numbers = [int(re.findall(r": (\d+)", bar.get_attribute("title"))[0]) for bar in bars]
    parts = ([part.bounding_box() for part in bar.locator("i").all()] for bar in bars)
    return numbers, [sum(part["height"] for part in of_bar) for of_bar in parts]


def assert_true_heights(numbers: list[int], heights: list[float], *, is_broken: bool) -> None:
    """Only the bar without a change may be lower than its number is to the others."""
    scale = sum(heights[7:]) / sum(numbers[7:])
    assert heights[:6] == pytest.approx([scale * number for number in numbers[:6]], abs=1)
    assert (heights[6] < scale * numbers[6] - 1) == is_broken


def test_search_bars_and_outcomes_filter_the_list(visit: Callable[..., Any]) -> None:
    page = visit()
    page.get_by_role("searchbox").fill("Topic 3 10")
    texts = [f"{1000 + n} topic {n % 7}" for n in range(200)]
    n = sum("3" in text and "10" in text for text in texts)
    assert shown(page, "count").startswith(f"{n} queries, mean")
    page.get_by_role("button", name="Show all").click()
    bar(page, "better, up to 5 ranks").click()
    listed = changes_listed(page)
    assert listed
    assert all(-5 <= change < -2 for change in listed)
    bar(page, "better, up to 2 ranks").click()
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    page.reload()  # the address keeps both
    assert len(changes_listed(page)) > len(listed)
    page.get_by_role("button", name="Show all").click()
    won = outcome_buttons(page)[0]
    page.get_by_role("button", name=won).click()
    assert shown(page, "count").startswith(f"{won.removeprefix('won, ')} queries, mean")
    page.get_by_role("searchbox").fill("no such words")
    assert shown(page, "count").startswith("0 queries, mean change 0.00")


def test_the_address_keeps_the_choice(visit: Callable[..., Any]) -> None:
    page = visit("three", "#a=first&b=third&q=1042&s=topic")
    assert page.locator("#query h3").inner_text() == "words about topic 0"
    assert "1042" in shown(page, "query")
    assert chosen(page) == ["third", "first"]
    page.locator("#list th button").nth(3).click()
    address = page.evaluate("location.hash")
    page.evaluate("location.hash = '#a=first&b=second&q=1001'")
    assert "1001" in shown(page, "query")
    assert address.startswith("#c=&a=first&b=third&q=")
    assert visit("three", "#a=first&b=no&c=no&q=no&__proto__=x").locator("#query h3").count() == 1


def test_choosing_the_other_run_lets_the_two_change_places(visit: Callable[..., Any]) -> None:
    result = compare_several(made_up(), "first")
    page = visit("three", "#a=first&b=third")
    choose(page, "b", "first")
    assert chosen(page) == ["first", "third"]
    choose(page, "b", "second")
    assert page.locator("#overviews table").count() == 0  # the two were not compared
    second, third = (
        np.array([item.change for item in result[name].per_query()], dtype=float)
        for name in ("second", "third")
    )
    mean = (second - third).mean()
    assert numbers_of(shown(page, "count")) == [pytest.approx(mean, abs=0.0051)]


def test_all_pairs_of_a_board(visit: Callable[..., Any]) -> None:
    result = iro.leaderboard(made_up(30))
    page = visit("board")
    runs = [standing.run for standing in result.standings]
    assert chosen(page)[0] == runs[0]
    for a, b in permutations(runs, 2):
        page.evaluate("address => { location.hash = address }", f"#a={a}&b={b}")
        page.wait_for_function("b => document.querySelector('#chooser select').value === b", arg=b)
        verdict = result.verdict(a, b)
        assert shown(page, "found").strip() == verdict.label
        row = verdict.rows["all queries"]
        means = [row.baseline, row.contender, row.difference]
        assert numbers_of(*rows_shown(page)[0])[:3] == pytest.approx(means, abs=0.0101)


def test_collections_are_chosen_in_the_list(visit: Callable[..., Any]) -> None:
    page = visit("collections")
    assert shown(page, "count").startswith("30 queries")
    page.locator(".overview").get_by_role("button", name="two").click()
    assert page.evaluate("location.hash").startswith("#c=two&a=first&b=second&q=")
    assert shown(page, "count").startswith("12 queries")
    assert chosen(page)[0] == "two"


def test_lists_have_judgments_texts_and_a_line_at_the_cutoff(visit: Callable[..., Any]) -> None:
    page = visit("short")
    lists = page.locator(".ranked")
    assert lists.first.locator("li").count() == 20
    assert lists.first.locator("li").nth(5).get_attribute("class").endswith("cut")
    gold = page.locator("li.relevant").first
    assert "✓ 2" in gold.inner_text()
    opener = gold.get_by_role("button", name="gold")
    assert not gold.locator("p").is_visible()
    opener.click()
    assert gold.locator("p").inner_text() == "the text of the relevant document"
    assert opener.get_attribute("aria-expanded") == "true"


def test_listed_queries_are_saved(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit(address="#s=about 3")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    download.value.save_as(tmp_path / "queries.csv")
    with open(tmp_path / "queries.csv", newline="", encoding="utf-8") as stream:
        saved = {
            row["query"]: (row["text"], float(row["change"])) for row in csv.DictReader(stream)
        }
    queries = compare_pair(made_up(), "first", "second").per_query()
    expected = {own.query_id: (own.text, own.change) for own in queries}
    assert saved == {id: own for id, own in expected.items() if "3" in f"{id} {own[0]}"}


def test_long_lists_are_filled_as_they_are_looked_at(visit: Callable[..., Any]) -> None:
    page = visit()
    first = page.locator("#list tbody tr").count()
    page.get_by_role("button", name="Show more").click()
    assert page.locator("#list tbody tr").count() == 2 * first < 200


def test_values_of_another_tool_have_no_outcomes(visit: Callable[..., Any]) -> None:
    page = visit("values")
    assert "mean change 0.0000 latency" in shown(page, "count")
    assert bar(page, "better, over 0.3 latency").count() == 1
    assert outcome_buttons(page) == []
    assert_true_heights(*bars_drawn(page), is_broken=False)
    assert "Won" not in page.locator("main").inner_text()


def test_keyboard(visit: Callable[..., Any]) -> None:
    page = visit()
    page.locator("#list th button").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator("#list [aria-current=true]").inner_text() == (
        page.locator("#list th button").nth(2).inner_text()
    )
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "true"
    page.get_by_role("searchbox").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").startswith("won, ")


def test_hostile_names_are_text(visit: Callable[..., Any]) -> None:
    page = visit("hostile")
    page.get_by_text("How this was made").click()
    for button in page.locator("#list th button, .ranked button").all():
        button.click()
    assert BAD.replace("\u2028", "\\u2028") in page.locator("details").last.inner_text()
    assert page.locator("img").count() == 0
    assert page.title().startswith("</script>")


@pytest.mark.parametrize("name", ["three", "collections", "board"])
def test_page_is_not_wider_than_a_phone(visit: Callable[..., Any], name: str) -> None:
    page = visit(name, viewport={"width": 360, "height": 800})
    for summary in page.locator("summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_without_javascript(visit: Callable[..., Any]) -> None:
    page = visit(java_script_enabled=False)
    page.get_by_text("All numbers").click()
    assert page.locator("details table").first.is_visible()


def test_frame_of_a_notebook(visit: Callable[..., Any]) -> None:
    frame = visit("notebook").frame_locator("iframe")
    frame.get_by_role("searchbox").fill("1042")
    frame.locator("#list th button").click()
    assert "1042" in frame.locator("#query").inner_text()


def test_paper(visit: Callable[..., Any]) -> None:
    page = visit("three", color_scheme="dark")
    page.emulate_media(media="print")
    assert page.locator("#list tbody tr:visible").count() == 25
    assert not page.locator("#filters").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(253, 253, 251)"


@pytest.mark.parametrize("name", ["three", "board", "gate", "values"])
def test_accessibility(visit: Callable[..., Any], name: str) -> None:
    axe = needed("axe_playwright_python.sync_playwright").Axe()
    page = visit(name, color_scheme="light")
    page.locator("details").evaluate_all("all => all.forEach((own) => { own.open = true })")
    page.locator("#histogram button").first.click()

    def violations(**options: Any) -> list[Any]:
        options["resultTypes"] = ["violations"]
        return list(axe.run(page, options=options).response["violations"])

    found = violations()
    page.emulate_media(color_scheme="dark")  # nothing but the contrast depends on it
    found += violations(runOnly=["color-contrast"])
    page.set_viewport_size({"width": 360, "height": 800})
    found += violations(runOnly=["target-size", "scrollable-region-focusable"])
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []
