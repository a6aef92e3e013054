"""What whole jobs cost beside other tools, in processor time: ``python benchmarks/jobs.py``.

    python benchmarks/jobs.py [--only WORD] [--rounds 2]

Every way to do a job is a process of its own; all of them take turns, and the least of the rounds
counts. Ratios are other / ours: above 1 ir_outcomes is faster. Runs are made up in forms that are
met: scores as Python prints them, ids like MS MARCO's or URLs, lists of 1 to 1000 documents, lines in
no order, CSV and JSON lines; values are those of other tools. Boards are ranks drawn at random, and variants of the runs of
TREC-COVID, which are looked for in ../shared/data, or where IR_OUTCOMES_REAL_DATA says. Seconds are
of one machine, on which other work may run; only the ratios mean something.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).parent
DATA = Path(os.environ.get("IR_OUTCOMES_REAL_DATA", HERE.parents[1] / "shared" / "data"))
SCRIPT = """
import json, resource, sys, time
def memory(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
{imports}
before, start = memory(), time.process_time()
{work}
seconds = time.process_time() - start
print(json.dumps([seconds, memory(), memory() - before, round(float(result), 6)]))
"""


class Way(NamedTuple):
    """How a job is done: its imports, which cost nothing unless `whole`, and its work."""

    imports: str
    work: str
    whole: bool = False


OURS = Way(
    "import ir_outcomes as iro, ir_outcomes.comparison.family",
    "result = iro.evaluate(sys.argv[1], [sys.argv[2]], cutoff=None)[0].reciprocal_rank().mean()",
)
PYTREC_EVAL = Way(
    "import pytrec_eval, numpy as np",
    """
with open(sys.argv[1]) as file:
    evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"recip_rank"})
with open(sys.argv[2]) as file:
    found = evaluator.evaluate(pytrec_eval.parse_run(file))
result = np.mean([values["recip_rank"] for values in found.values()])
""",
)
POLARS_READS = """
def columns(path, width, **names):
    kinds = {f"column_{number}": pl.String for number in range(1, width + 1)}
    if "column_5" in kinds:
        kinds["column_5"] = pl.Float64
    lines = pl.scan_csv(path, separator=" ", has_header=False, schema=kinds)
    return lines.select(list(names)).rename(names).collect()
def read(path):
    lines = columns(path, 6, column_1="query", column_3="document", column_5="score")
    lines = lines.sort("query", "score", "document", descending=[False, True, True])
    lines = lines.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))
    found = lines.join(qrels, on=["query", "document"]).group_by("query").agg(pl.min("rank"))
    return qrels.select("query").join(found, on="query", how="left", maintain_order="left")["rank"]
qrels = columns(sys.argv[1], 4, column_1="query", column_3="document")
"""
POLARS = Way(
    "import polars as pl", POLARS_READS + "result = (1 / read(sys.argv[2])).sum() / len(qrels)"
)
TESTS = """
from scipy.stats import binomtest, ttest_rel
both = (a > 0) & (b > 0)
won, lost = int(((a == 0) & (b > 0)).sum()), int(((a > 0) & (b == 0)).sum())
binomtest(won, won + lost).pvalue, ttest_rel(a[both], b[both]).pvalue
result = np.mean(b > 0)
"""
COMPARE = {
    "ir_outcomes": Way(
        "",
        """
from ir_outcomes import compare
comparison = compare(sys.argv[1], sys.argv[2], sys.argv[3])
str(comparison)
result = comparison.coverage.contender / 100
""",
        whole=True,
    ),
    "ir_measures, SciPy": Way(
        "",
        """
import ir_measures, numpy as np
from ir_measures import RR
qrels = {}
for line in ir_measures.read_trec_qrels(sys.argv[1]):
    qrels.setdefault(line.query_id, {})[line.doc_id] = line.relevance
evaluator = ir_measures.evaluator([RR @ 100], qrels)
def read(path):
    found = {m.query_id: m.value for m in evaluator.iter_calc(ir_measures.read_trec_run(path))}
    ranks = np.array([found[query] for query in qrels])
    return np.divide(1, ranks, out=np.zeros_like(ranks), where=ranks > 0)
a, b = read(sys.argv[2]), read(sys.argv[3])
"""
        + TESTS,
        whole=True,
    ),
    "Polars, SciPy": Way(
        "",
        "import numpy as np, polars as pl\n"
        + POLARS_READS
        + "a, b = (read(path).fill_null(0).to_numpy() for path in sys.argv[2:4])"
        + TESTS,
        whole=True,
    ),
}


TREC = "{query} Q0 {document} {rank} {score} run\n"
CSV = "{query},{document},{rank},{score}\n"
JSON_LINES = '{{"query_id": "{query}", "doc_id": "{document}", "rank": {rank}, "score": {score}}}\n'


def write_run(
    path: Path,
    n_queries: int,
    depth: int,
    ids: str = "D{}",
    line: str = TREC,
    *,
    shuffled: bool = False,
) -> None:
    """Write a run whose lists have `depth` documents; with 0, from 1 to 1000."""
    rng = np.random.default_rng(depth + len(path.stem))
    golds = rng.permutation(n_queries).tolist()
    with path.open("w") as stream, (path.parent / "qrels.txt").open("w") as qrels:
        if line == CSV:
            stream.write("query_id,doc_id,rank,score\n")
        for query in range(n_queries):
            length = depth or int(1000 ** rng.random())
            documents = [ids.format(number) for number in rng.choice(9_000_000, length, False)]
            gold = ids.format(9_000_000 + query)
            qrels.write(f"{query} 0 {gold} 1\n")
            place = int(rng.exponential(40)) + golds[query] % 3
            if place < length:
                documents[place] = gold
            values = np.sort(rng.gamma(2, 4, length))[::-1].tolist()
            for place in rng.permutation(length).tolist() if shuffled else range(length):
                cells = {"query": query, "document": documents[place], "rank": place + 1}
                stream.write(line.format(**cells, score=values[place]))


URL = "https://www.example.org/library/articles/{}.html"
READERS = {"ir_outcomes": OURS, "pytrec_eval": PYTREC_EVAL, "Polars": POLARS}
FORMS: dict[str, dict[str, Any]] = {
    "read 7 million lines": {"n_queries": 7000, "depth": 1000},
    "read 519,300 lines, ids are URLs": {"n_queries": 5193, "depth": 100, "ids": URL},
    "read 519,300 lines, not in order": {"n_queries": 5193, "depth": 100, "shuffled": True},
    "read 519,300 lines of CSV": {"n_queries": 5193, "depth": 100, "line": CSV},
    "read 519,300 lines of JSON": {"n_queries": 5193, "depth": 100, "line": JSON_LINES},
    "read 5193 lists of 1 to 1000": {"n_queries": 5193, "depth": 0},
    "read 10^6 queries of 10": {"n_queries": 1_000_000, "depth": 10},
}


VALUES = Way(
    "import ir_outcomes as iro, ir_outcomes.comparison.family",
    "result = iro.compare_outputs(*sys.argv[1:]).ranking.n",
)
VALUE_FORMS = {  # header and lines
    "CSV": ("query_id,nDCG@10\n", "{},{}\n"),
    "JSON lines": ("", '{{"query_id": {}, "nDCG@10": {}}}\n'),
}


def write_values(path: Path, header: str, line: str) -> None:
    """Write a value of nDCG@10 for each of 300,000 queries."""
    values = np.random.default_rng(len(path.stem)).random(300_000).round(4)
    path.write_text(header + "".join(map(line.format, range(300_000), values)))


def drawn(n_runs: int, n_queries: int) -> Any:
    """Draw the rank of one relevant document in each query, or that it was not found."""
    import ir_outcomes as iro

    rng = np.random.default_rng(0)
    qrels = {f"q{query}": {"d": 1} for query in range(n_queries)}
    template = iro.search_lengths(qrels, qrels, cutoff=100)
    difficulty = rng.normal(1.5, 1.5, n_queries)
    runs = []
    for number in range(n_runs):
        noise = rng.normal(0, 0.7, n_queries) - rng.normal(0, 0.2)
        rank = np.exp(difficulty + noise).astype(np.int32) + 1
        rank[rank > 100] = 0
        digests = rng.integers(0, 255, template.diagnosis.digests.shape).astype(np.uint8)
        diagnosis = replace(template.diagnosis, digests=digests)
        runs.append(replace(template, name=f"run{number}", rank=rank, diagnosis=diagnosis))
    return iro.evaluate(qrels, runs, cutoff=100)


def covid_like() -> Any:
    """Evaluate the 20 runs of TREC-COVID's first round, and variants of them, by document."""
    import ir_outcomes as iro

    folder = DATA / "trec-covid-r1"
    qrels = iro.read_qrels(folder / "qrels.complete.txt.gz")
    runs = [iro.read_run(path).to_dict() for path in sorted(folder.glob("*.run.gz"))]
    for number in range(len(runs), 143):
        runs.append(variant(runs[number % 20], np.random.default_rng(number)))
    lengths = [
        iro.search_lengths(qrels, iro.as_run(run, f"run{number}"))
        for number, run in enumerate(runs)
    ]
    return iro.evaluate(qrels, lengths, unit="document")


def variant(run: dict[str, dict[str, float]], rng: np.random.Generator) -> Any:
    """Exchange three in ten documents of each query with others further down."""
    changed = {}
    for query, scores in run.items():
        documents = sorted(scores, key=lambda document: -scores[document])
        n = len(documents)
        places = np.arange(n) + rng.exponential(20, n) * (rng.random(n) < 0.3)
        order = np.argsort(places, kind="stable").tolist()
        changed[query] = {documents[place]: -float(rank) for rank, place in enumerate(order)}
    return changed


def on_board(board: str, work: str) -> Way:
    """Do some work on a board, with its ranks (runs x queries) at hand."""
    return Way(
        f"import jobs, numpy as np, ir_outcomes as iro, scipy.special, scipy.stats\n"
        f"ev = jobs.{board}\n"
        "ranks = np.array([run.rank for run in ev])",
        work + "\nresult = 0",
    )


PAIR = """
both = (a > 0) & (b > 0)
won, lost = int(((a == 0) & (b > 0)).sum()), int(((a > 0) & (b == 0)).sum())
scipy.stats.binomtest(won, max(won + lost, 1))
scipy.stats.ttest_rel(a[both], b[both]), scipy.stats.ttest_rel(np.where(a, a, 101), np.where(b, b, 101))
"""
ONE = "for b in ranks[1:]:\n    a = ranks[0]" + PAIR.replace("\n", "\n    ")
PAIRS = "for i in range(143):\n  for j in range(i):\n    a, b = ranks[i], ranks[j]" + PAIR.replace(
    "\n", "\n    "
)
RESAMPLES = """
values, rng = np.where(ranks, 1 / np.maximum(ranks, 1), 0), np.random.default_rng(0)
for _ in range(1000):
    scipy.stats.rankdata(-values[:, rng.integers(0, 5193, 5193)].mean(axis=1))
"""
# Some runs have equal scores, or scores that rise.
COVID = "iro.compare(ev, ev[0].name, allow=['equal-scores', 'rising-scores'])"
BOARDS = {  # name: board, our work, SciPy's
    "compare 1 with 39, 5193 queries": ("drawn(40, 5193)", "iro.compare(ev, 'run0')", ONE),
    "compare 1 with 142 by document": ("covid_like()", COVID, None),
    "rank_distribution, 40 x 5193": ("drawn(40, 5193)", "iro.rank_distribution(ev)", RESAMPLES),
    "leaderboard, 143 x 5193": ("drawn(143, 5193)", "iro.leaderboard(ev)", PAIRS),
    "leaderboard, 143 by document": ("covid_like()", "iro.leaderboard(ev)", None),
    "agreement, 143 x 5193": ("drawn(143, 5193)", "iro.agreement(ev)", None),
    "agreement, 143 by document": ("covid_like()", "iro.agreement(ev)", None),
    "compare one pair, 10^6 queries": ("drawn(2, 1_000_000)", "iro.compare(ev, 'run0')", ONE),
}


class Cost(NamedTuple):
    """What a process took: seconds of a processor, and MiB at the peak and of them its work's."""

    seconds: float
    peak: float
    added: float
    result: float


def cost(way: Way, *arguments: object) -> Cost:
    """Do a job in a process of its own."""
    script = SCRIPT.format(imports=way.imports, work=way.work)
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path[1:]])},
    )
    after = os.times()
    found = Cost(*json.loads(done.stdout))
    if way.whole:
        return found._replace(seconds=sum(after[2:4]) - sum(before[2:4]))
    return found


def measure(
    name: str, ways: dict[str, Way], rounds: int, *arguments: object, lines: int = 0
) -> None:
    """Print a row of the table: what our way takes, and the ratio of each other to it."""
    costs: dict[str, list[Cost]] = {tool: [] for tool in ways}
    for _ in range(rounds):
        for tool, way in ways.items():
            costs[tool].append(cost(way, *arguments))
    least = {tool: min(of_tool) for tool, of_tool in costs.items()}
    if len({round(one.result, 3) for one in least.values()}) > 1:
        raise SystemExit(f"{name}: the tools disagree: {least}")
    ours = least.pop("ir_outcomes")
    added = f"{ours.added * 2**20 / lines:.0f}" if lines else ""
    others = ", ".join(f"{tool} {each.seconds / ours.seconds:.2f}" for tool, each in least.items())
    print(f"| {name} | {ours.seconds:.2f} | {ours.peak:.0f} | {added} | {others} |", flush=True)


def main() -> None:
    """Print the table of docs/scale.md."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="a part of the name of the jobs to measure")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    tools = ("numpy", "scipy", "polars", "pytrec-eval-terrier", "ir-measures")
    print("Python", sys.version, *(f"{tool} {version(tool)}" for tool in tools), sep=", ")
    print(f"load before: {os.getloadavg()[0]:.1f}\n")
    print("| job | s | peak, MiB | bytes a line | other / ours |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name_of_folder:
        qrels, *runs = (Path(name_of_folder, name) for name in ("qrels.txt", "run", "other"))
        name = "compare 2 runs of 519,300 lines"
        if options.only in name:
            for run in runs:
                write_run(run, 5193, 100)
            measure(name, COMPARE, options.rounds, qrels, *runs)
        for name, form in FORMS.items():
            if options.only in name:
                write_run(runs[0], **form)
                with runs[0].open("rb") as stream:
                    lines = sum(1 for _ in stream)
                ways = READERS if form.get("line", TREC) == TREC else {"ir_outcomes": OURS}
                measure(name, ways, options.rounds, qrels, runs[0], lines=lines)
        for tool, value_form in VALUE_FORMS.items():
            name = f"values of 2 x 300,000 queries, {tool}"
            if options.only in name:
                for run in runs:
                    write_values(run, *value_form)
                measure(name, {"ir_outcomes": VALUES}, options.rounds, *runs, lines=600_000)
    for name, (board, work, peer) in BOARDS.items():
        if options.only in name:
            ways = {"ir_outcomes": on_board(board, work)}
            if peer:
                ways["SciPy"] = on_board(board, peer)
            measure(name, ways, options.rounds)
    print(f"\nload after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
