"""How fast the report page of 5193 queries is written, opened, filtered, sorted and scrolled, in Chromium.

Run ``python benchmarks/report_page.py FOLDER``, where the folder has the qrels and the runs of MS
MARCO document dev; without it the runs are made up. It needs playwright and Chromium
($IR_OUTCOMES_CHROMIUM, or chromium on the path).
"""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import ir_outcomes as iro

# Changes a control, and returns the milliseconds until the browser has drawn the next frame.
TIMED = """([selector, event, value]) => new Promise((done) => {
  const control = document.querySelector(selector);
  const start = performance.now();
  if (event === "click") control.click();
  else if (event === "scroll") control.scrollTop = value;
  else { control.value = value; control.dispatchEvent(new Event(event, { bubbles: true })); }
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
})"""
STEPS = (
    ("search for a digit", "#words", "input", "7"),
    ("clear the search", "#words", "input", ""),
    ("sort by change", '[data-sort="change"]', "click", None),
    ("filter: won", "#histogram button:last-of-type", "click", None),
    ("no filter", "#reset", "click", None),
    ("scroll to the middle", "#list", "scroll", 100_000),
)


def made_up(n: int = 5193) -> iro.Evaluation:
    rng = np.random.default_rng(0)
    runs: dict[str, dict[str, dict[str, float]]] = {"first": {}, "second": {}}
    for run in runs.values():
        for query in range(n):
            order = [f"D{document}" for document in rng.integers(0, 3_000_000, 100).tolist()]
            order[int(rng.geometric(0.1)) % 100] = "gold"
            run[str(query)] = {document: float(-rank) for rank, document in enumerate(order)}
    return iro.evaluate({str(query): {"gold": 1} for query in range(n)}, runs, documents=20)


def main() -> None:
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        evaluation = iro.evaluate(
            folder / "qrels.txt", [folder / "bm25.run.gz", folder / "bm25+rm3.run.gz"], documents=20
        )
    else:
        evaluation = made_up()
    program = os.environ.get("IR_OUTCOMES_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        path = Path(place, "report.html")
        start = time.perf_counter()
        page = iro.report(evaluation, path=path)
        print(
            f"{'write':24}{1000 * (time.perf_counter() - start):8.0f} ms,"
            f" {len(page.html.encode()) / 1e6:.2f} MB"
        )
        browser = driver.chromium.launch(
            executable_path=program, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        for attempt in range(3):
            shown = browser.new_page(viewport={"width": 1280, "height": 900})
            start = time.perf_counter()
            shown.goto(f"file://{path}")
            print(f"{f'open ({attempt + 1})':24}{1000 * (time.perf_counter() - start):8.0f} ms")
        for name, *step in STEPS:
            print(f"{name:24}{shown.evaluate(TIMED, step):8.1f} ms")
        browser.close()


if __name__ == "__main__":
    main()
