"""How fast runs are evaluated and compared, as ratios to today's tools: ``python benchmarks/evaluation.py [--repeat N]``.

Synthetic runs like those of MS MARCO document ranking: one relevant document per query, 100
documents, scores with two decimals, so that many are tied. Times are processor times, the smallest
of several in this one process, or of whole processes in turn; only their ratios mean anything.
Before anything is timed, every search length is checked against pytrec_eval.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytrec_eval
from ir_measures import RR

from ir_outcomes import ASL, ESL, as_qrels, as_run, search_lengths

DEPTH = 100
MEASURES = {"recip_rank", "map"}

# What one writes today to compare two runs as Lin et al. do.
TODAY = """
import sys
import ir_measures
import numpy as np
from ir_measures import RR
from scipy.stats import binomtest, ttest_rel, wilcoxon

qrels = {}
for qrel in ir_measures.read_trec_qrels(sys.argv[1]):
    qrels.setdefault(qrel.query_id, {})[qrel.doc_id] = qrel.relevance
evaluator = ir_measures.evaluator([RR], qrels)
columns = []
for path in sys.argv[2:]:
    values = {metric.query_id: metric.value for metric in evaluator.iter_calc(ir_measures.read_trec_run(path))}
    columns.append(np.array([values[query] for query in qrels]))
a, b = columns
lost, won, both = np.sum((a > 0) & (b == 0)), np.sum((a == 0) & (b > 0)), (a > 0) & (b > 0)
print(lost, won, both.sum(), binomtest(int(won), int(won + lost)).pvalue)
x, y = 1 / a[both], 1 / b[both]
print(x.mean(), y.mean(), ttest_rel(y, x).pvalue, wilcoxon(y, x).pvalue, ttest_rel(b, a).pvalue)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=5193)
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()

    rng = np.random.default_rng(2021)
    qrels = {str(100_000 + query): {f"D{3_000_000 + query}": 1} for query in range(options.queries)}
    run, other = (make_run(qrels, rng) for _ in range(2))
    check(qrels, run)
    print(f"{options.queries} queries x {DEPTH} documents, best of {options.repeat}\n")
    print(f"{'ours against today':58}{'ours, ms':>10}{'today, ms':>11}{'ratio':>8}")
    in_process(qrels, run, options.repeat)
    whole_process(qrels, [run, other], options.repeat)


def make_run(
    qrels: dict[str, dict[str, int]], rng: np.random.Generator
) -> dict[str, dict[str, float]]:
    """Rank the relevant document of each query somewhere, or not at all."""
    run = {}
    for query, judged in qrels.items():
        documents = [f"D{number}" for number in rng.choice(3_000_000, DEPTH, replace=False)]
        place = int(rng.geometric(0.02)) - 1
        if place < DEPTH:
            documents[place] = next(iter(judged))
        scores = np.sort(np.round(rng.gamma(5, 3, DEPTH), 2))[::-1]
        run[query] = dict(zip(documents, scores.tolist(), strict=True))
    return run


def check(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> None:
    """Compare with pytrec_eval query by query, for one relevant document each and for many with grades, in all three forms."""
    rng = np.random.default_rng(1)
    many = {
        query: {d: int(rng.integers(0, 3)) for d in list(ranking)[::7]}
        for query, ranking in run.items()
    }
    for judged in (qrels, many):
        theirs = pytrec_eval.RelevanceEvaluator(judged, MEASURES).evaluate(run)
        for form in (run, as_run(run), frame_of(run, "score")):
            lengths = search_lengths(judged, form)
            precisions = (lengths.rank - lengths.irrelevant_above) / np.maximum(lengths.rank, 1)
            sums = np.bincount(lengths.query, weights=precisions, minlength=len(judged))
            ours = {
                "recip_rank": lengths.reciprocal_rank(),
                "map": sums / np.maximum(lengths.relevant, 1),
            }
            for name, values in ours.items():
                np.testing.assert_allclose(
                    values, [theirs[query][name] for query in judged], rtol=1e-12, err_msg=name
                )


def in_process(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]], repeat: int
) -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"})
    judgments, arrays = as_qrels(qrels), as_run(run)
    loaded = best(lambda: evaluator.evaluate(run), repeat)
    show(
        "ESL of a loaded run / pytrec_eval",
        best(lambda: search_lengths(judgments, arrays).esl(), repeat),
        loaded,
    )
    show(
        "ASL of a loaded run / pytrec_eval",
        best(lambda: search_lengths(judgments, arrays, cutoff=100).asl(missing="cutoff"), repeat),
        loaded,
    )
    forms: dict[str, tuple[Any, Any]] = {
        "a dict": (qrels, run),
        "a frame": (frame_of(qrels, "relevance"), frame_of(run, "score")),
        "a frame of objects": (
            frame_of(qrels, "relevance", object),
            frame_of(run, "score", object),
        ),
    }
    for name, (judged, ranked) in forms.items():
        times = repeat if name == "a dict" else max(2, repeat // 3)
        theirs = best(
            lambda judged=judged, ranked=ranked: ir_measures.calc_aggregate([RR], judged, ranked),
            times,
        )
        for measure in (ESL @ 100, ASL(missing="cutoff") @ 100):
            ours = best(
                lambda m=measure, j=judged, r=ranked: ir_measures.calc_aggregate([m], j, r), repeat
            )
            show(f"calc_aggregate of {measure.NAME} from {name} / of RR", ours, theirs)
    ours = best(lambda: list(ir_measures.iter_calc([ESL @ 100], qrels, run)), repeat)
    show(
        "iter_calc of ESL from a dict / of RR",
        ours,
        best(lambda: list(ir_measures.iter_calc([RR], qrels, run)), repeat),
    )


def whole_process(
    qrels: dict[str, dict[str, int]], runs: list[dict[str, dict[str, float]]], repeat: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, "qrels"), *(Path(folder, f"{name}.run") for name in "ab")]
        files[0].write_text(
            "".join(
                f"{query} 0 {d} {grade}\n"
                for query, judged in qrels.items()
                for d, grade in judged.items()
            )
        )
        for path, run in zip(files[1:], runs, strict=True):
            lines = (
                f"{query} Q0 {d} {rank} {score} {path.stem}\n"
                for query, ranking in run.items()
                for rank, (d, score) in enumerate(ranking.items(), 1)
            )
            path.write_text("".join(lines))
        today = [sys.executable, "-c", TODAY, *map(str, files)]
        ours = [sys.executable, "-m", "ir_outcomes", "compare", *map(str, files)]
        start = [sys.executable, "-c", "import cyclopts, numpy, ir_measures, scipy.special"]
        seconds = {name: [] for name in ("today", "ours", "start")}
        for _ in range(repeat):
            for name, command in (("today", today), ("ours", ours), ("start", start)):
                began = processor()
                subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
                seconds[name].append(processor() - began)
    show(
        "ir-outcomes compare, two files / script with scipy.stats",
        min(seconds["ours"]),
        min(seconds["today"]),
    )
    print(
        f"{'  of which starting Python and importing what it needs':58}{min(seconds['start']) * 1e3:10.1f}"
    )


def frame_of(nested: dict[str, dict[str, Any]], value: str, ids: Any = None) -> pd.DataFrame:
    rows = [
        (query, document, each)
        for query, inner in nested.items()
        for document, each in inner.items()
    ]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", value])
    return frame if ids is None else frame.astype({"query_id": ids, "doc_id": ids})


def processor() -> float:
    """Return the processor time of this process and of those that it started and that ended."""
    of_children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + of_children.ru_utime + of_children.ru_stime


def best(function: Callable[[], Any], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        began = processor()
        function()
        times.append(processor() - began)
    return min(times)


def show(what: str, ours: float, theirs: float) -> None:
    print(f"{what:58}{ours * 1e3:10.1f}{theirs * 1e3:11.1f}{theirs / ours:8.1f}")


if __name__ == "__main__":
    main()
