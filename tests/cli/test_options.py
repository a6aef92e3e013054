"""Every command with every option that it offers: the option changes the result, or is refused."""

import json
import random
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ir_outcomes.cli.build import Made
from ir_outcomes.cli.commands import COMMANDS
from tests.helpers.command_line import call

N = 24  # queries
RUNS = "a.run b.run c.run"
VALUES = "-m quality --higher-is-better"
PAIRS = ("tail rrie", "tail length-changes")  # which take two runs
# The words that each option is called with. One that is new needs an entry.
OPTIONS = {
    "cutoff": "--cutoff 3",
    "rel": "--rel 2",
    "unit": "--unit query",
    "ties": "--ties msmarco",
    "judged_only": "--judged-only",
    "drop_self": "--drop-self",
    "duplicates": "--duplicates max",
    "clusters": "--clusters clusters.tsv",
    "replicates": "--replicates by:_",
    "names": "--names x --names y --names z",
    "measures": "-m nDCG@5",
    "measure": "-m RR",
    "higher_is_better": "--lower-is-better",
    "queries": "--queries queries.tsv",
    "allow": "--allow unknown-ids",
    "alpha": "--alpha 0.45",
    "correction": "--correction none",
    "margins": "--margins 2pp,1ranks",
    "per_query": "--per-query better",
    "format": "--format csv",
    "output": "-o out.md",
    "details": "--details",
    "rows": "--rows 1",
    "caption": "--caption C",
    "label": "--label L",
    "plot": "--plot p.svg",
    "plot_title": "--plot-title",
    "report": "--report p.html",
    "docs": "--docs docs.jsonl",
    "max_mb": "--max-mb 0.02",
    "seed": "--seed 7",
    "resamples": "--resamples 50",
    "splits": "--splits 3",
    "top_k": "--top 1",
    "level": "--level .5",
    "subsets": "--subset s=ids.txt",
    "bins": "--bins 3",
    "missing": "--missing retrieved",
    "to_judge": "--to-judge 5",
    "summary": "--summary s.md",
    "max_missing": "--max-missing 0.5",
    "identical": "--identical fail",
    "contenders": "--contender b",
    "reference": "--reference c.run",
    "system": "--baseline b",
    "suite": "--suite suite",
    "outputs": "--outputs",
    "trials": "--trials mean",
    "until": "--until 2020-02-15",
    "score": "--score other",
    "places": "--places 2",
    "by_query": "--by_query",
    "no_summary": "--no_summary",
    "output_format": "--format jsonl",
    "baseline": "--baseline b",
    "by": "--by answers",
    "judges": "--judge z=other.txt@2",
    "won": "--won 30",
    "lost": "--lost 1",
    "n": "--n 400",
    "difference": "--difference .9",
    "pvalue": "--pvalue .01",
    "path": "-o other.npz",
    "qrels": "--qrels qrels.txt",
    "range": "--range 0.2 3",
    "id": "--id other",
    "where": "--where part=1",
}
SPEED = {"n_jobs", "quiet"}  # which change no result
ALIKE = {"output", "caption", "label", "plot_title", "docs", "max_mb"}  # whatever the command
# Words that an option needs beside it, without which it is refused.
NEEDED = {
    "caption": "--format latex", "label": "--format latex", "plot_kind": "--plot p.svg", "plot_title": "--plot p.svg",
    "docs": "--report p.html", "max_mb": "--report p.html --docs docs.jsonl",
}  # fmt: skip
# The words of a command where they are not qrels and runs.
WORDS = {
    "compare-outputs": "a.tsv b.tsv c.tsv -m nDCG@10", "verdict": "--won 20 --lost 9 --n 100 --difference .2 --pvalue .2",
    "compare-slices": "qrels.txt {} --by length --queries queries.tsv",
    "compare-judges": "{} --judge x=qrels.txt --judge z=other.txt", "compare-collections": "suite --baseline a",
    "gate": "qrels.txt {} --margins 30pp,1", "evaluate": "qrels.txt {} -o ev.npz", "sota-history": "entries.csv",
    "measure": "qrels.txt a.run nDCG@10 ESL@10", "datasets": "msmarco-document/dev", "sample": "made",
}  # fmt: skip
# The runs or words in which an option matters.
RUNS_FOR = {
    "duplicates": "a.run again.run",
    "allow": "a.run b.run alien.run",
    "replicates": "a.run b_1.run b_2.run",
    "identical": "a.run same.run",
    "missing": "a.run b.run --cutoff 5",
    "max_missing": "a.run few.run",
}
WORDS_FOR = {
    ("compare", "queries"): "qrels.txt a.run b.run --per-query better",
    ("leaderboard", "queries"): f"qrels.txt {RUNS} --report p.html",
    ("compare-collections", "queries"): "suite --baseline a --report p.html",
    ("compare-collections", "duplicates"): "again --baseline a",
    ("compare-collections", "allow"): "alien --baseline a",
    ("compare-slices", "queries"): "qrels.txt a.run b.run --by length --queries reversed.tsv",
    ("gate", "queries"): "qrels.txt a.run b.run --margins 0.1pp,0.01",
    ("gate", "cutoff"): "qrels.txt a.run b.run --margins 30pp,1",
    **{("compare-outputs", option): f"a.csv b.csv {VALUES}" for option in ("range", "id", "where")},
    **{("plan", option): "--outputs a-rr.csv b-rr.csv -m nDCG@10 --margins .3" for option in ("range", "id", "where")},
    **{("gate", option): f"--outputs a.csv b.csv {VALUES} --margins .3 --range 0 2" for option in ("range", "id", "where")},
    **{
        (command, option): f"--outputs a.csv b.csv c.csv {VALUES}"
        for command in ("leaderboard", "rank-distribution", "agreement")
        for option in ("range", "id", "where")
    },
    ("plan", "outputs"): "a-rr.csv b-rr.csv -m nDCG@10 --margins .3",
    ("holes", "clusters"): f"qrels.txt {RUNS} --alpha 0.3",
    ("compare-outputs", "rel"): "a.tsv b.tsv c.tsv -m nDCG@10 --qrels few.txt",
    ("compare-outputs", "trials"): "a.csv twice.csv -m quality --higher-is-better --id query_id",
    ("gate", "outputs"): "a.tsv b.tsv -m nDCG@10 --margins .3",
    ("compare-judges", "reference"): f"{RUNS} --judge c.run=qrels.txt --judge z=other.txt",
    ("measure", "duplicates"): "qrels.txt again.run nDCG@10",
    ("measure", "allow"): "qrels.txt alien.run nDCG@10",
    ("measure", "no_summary"): "qrels.txt a.run nDCG@10 --by_query",
    ("compare-outputs", "higher_is_better"): "a-num.tsv b-num.tsv -m NumRet",
    ("compare-outputs", "replicates"): "a.tsv b_1.tsv b_2.tsv -m nDCG@10",
}  # fmt: skip


def _run(numbers: random.Random, skill: float) -> dict[str, dict[str, float]]:
    """A run with ties, unjudged documents, and the query's own id in every third list."""
    run: dict[str, dict[str, float]] = {}
    for number in range(N):
        scores = {
            f"d{number}_{rank}": float(round(numbers.gauss(skill * (rank < 4), 1.5)))
            for rank in range(12)
        }
        if number % 3 == 0:
            scores[f"q{number}"] = 9.0
        scores[f"u{number}"] = 8.0
        run[f"q{number}"] = scores
    return run


def _write(path: Path, run: Mapping[str, Mapping[str, float]], more: str = "") -> None:
    lines = []
    for query, scores in run.items():
        order = sorted(scores, key=lambda document: -scores[document])
        lines += [f"{query} Q0 {d} {n} {scores[d]} {path.stem}" for n, d in enumerate(order, 1)]
    path.write_text("\n".join(lines) + f"\n{more}")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files in which every option changes something."""
    folder = tmp_path_factory.mktemp("options")
    numbers = random.Random(1)
    again = "".join(f"q{n} Q0 d{n}_0 20 20 again\n" for n in range(N))
    alien = {f"x{n}": {f"x{rank}": -float(rank) for rank in range(14)} for n in range(N)}
    suites = [folder / suite / name for suite in ("suite", "again", "alien") for name in "12"]
    for place in (folder, *suites):
        place.mkdir(exist_ok=True, parents=True)
        qrels = [f"q{n} 0 q{n} 0" for n in range(N)]
        qrels += [f"q{n} 0 d{n}_{r} {(2, 1, 1, 0)[r % 4]}" for n in range(N) for r in range(8)]
        (place / "qrels.txt").write_text("\n".join(qrels) + "\n")
        texts = [f"q{n}\ttext{' of a query' * (n % 3)} {n}\n" for n in range(N)]
        (place / "queries.tsv").write_text("".join(texts))
        (place / "clusters.tsv").write_text("".join(f"q{n}\tc{n // 4}\n" for n in range(N)))
        for name, skill in (("a", 0.2), ("b", 0.9), ("c", 1.4)):
            _write(place / f"{name}.run", _run(numbers, skill))
        if place.parent.name == "again":
            _write(place / "b.run", _run(numbers, 0.5), again.replace("again", "b"))
        if place.parent.name == "alien":
            _write(place / "b.run", alien)
    for name in ("b_1", "b_2"):
        _write(folder / f"{name}.run", _run(numbers, 0.7))
    _write(folder / "again.run", _run(numbers, 0.5), again)
    _write(folder / "alien.run", alien)
    run = _run(numbers, 0.9)
    _write(folder / "few.run", {query: run[query] for query in list(run)[:20]})
    (folder / "same.run").write_bytes((folder / "a.run").read_bytes())
    lengths = [f"q{n}\ttext{' of a query' * (n % 2)} {n}\n" for n in range(N)]
    (folder / "reversed.tsv").write_text("".join(lengths))
    (folder / "ids.txt").write_text("".join(f"q{n}\n" for n in range(12)))
    (folder / "other.txt").write_text((folder / "qrels.txt").read_text().replace("_3 0", "_3 1"))
    (folder / "few.txt").write_text("q0 0 d0_0 2\nq1 0 d1_0 2\nq2 0 d2_0 1\n")
    documents = [
        {"id": f"d{n}_{r}", "contents": f"text {n} {r} " * 90} for n in range(N) for r in range(12)
    ]
    (folder / "docs.jsonl").write_text("".join(f"{json.dumps(text)}\n" for text in documents))
    (folder / "entries.csv").write_text(
        "id,date,score,other\na,2020-01-01,.1,.3\nb,2020-02-01,.2,.2\nc,2020-03-01,.3,.1\n"
    )
    for shift, name in enumerate("abc"):
        rows = [f"q{n},o{(n + 5 * shift) % N},{n % 2},{numbers.random()}\n" for n in range(N)]
        for stem, measure in ((name, "quality"), (f"{name}-rr", "nDCG@10")):
            table = [f"query_id,other,part,{measure}\n", *rows]
            (folder / f"{stem}.csv").write_text("".join(table))
    (folder / "twice.csv").write_text((folder / "a.csv").read_text() + "q0,o0,1,0.5\n")
    for name in ("a", "b", "c", "b_1", "b_2"):
        for ending, measures in (("", ("nDCG@10", "RR")), ("-num", ("NumRet",))):
            words = ("measure", "qrels.txt", f"{name}.run", *measures, "-q")
            (folder / f"{name}{ending}.tsv").write_text(call(*words, folder=folder).stdout)
    return folder


def _without_settings(value: Any) -> Any:
    """Leave settings out, which repeat what was asked for."""
    if isinstance(value, dict):
        return {name: _without_settings(item) for name, item in value.items() if name != "settings"}
    return [_without_settings(item) for item in value] if isinstance(value, list) else value


@cache
def _result(words: str, folder: Path) -> tuple[int, Any]:
    """Return the status of a call, and all that it wrote; options share the call without them."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    done = call(*words.split(), folder=folder)
    shown: Any = done.stdout
    if words.endswith("--format json") and done.stdout:
        shown = _without_settings(json.loads(shown))
    written = {}
    for path in folder.rglob("*"):
        if path.is_file() and path not in before:
            # The page has the command, which would differ always.
            content = path.read_bytes().replace(words.encode(), b"")
            written[path.relative_to(folder)] = content
            path.unlink()
    return done.returncode, (shown, written)


def _cases() -> Iterator[tuple[str, str]]:
    """Yield every command with every option; what is written alike in commands that write the same, once."""
    tried = set()
    for command in COMMANDS:
        made = Made(command)
        written = tuple(made.outputs)
        for option in made.options:
            is_again = option in ALIKE and (option, written) in tried
            if option not in SPEED and not is_again:
                yield command, option
            tried.add((option, written))


@pytest.mark.filterwarnings("ignore::ir_outcomes.IrOutcomesWarning")
@pytest.mark.parametrize(("command", "option"), [*_cases()])
def test_an_option_changes_the_result_or_is_refused(command: str, option: str, data: Path) -> None:
    made = Made(command)
    # The first figure is the default.
    kinds = made.entry.figures
    chosen = f"--plot-kind {kinds[-1]}" if option == "plot_kind" else OPTIONS[option]
    runs = RUNS_FOR.get(option, "a.run b.run" if command in PAIRS else RUNS)
    chosen = chosen.replace(" --names z", "") if command in PAIRS else chosen
    if option == "allow" and "missing" in made.options:
        runs += " --missing retrieved"
    words = WORDS_FOR.get((command, option), WORDS.get(command, "qrels.txt {}")).format(runs)
    words = f" {words}"
    if option == "higher_is_better" and "measures" in made.options and command != "plan":
        words += " -m NumRet"
    is_of_output = option in made.outputs or option in made.after
    if made.entry.result and not is_of_output and "--per-query" not in words:
        words += " --format json"
    if option in NEEDED and made.entry.result:
        assert _result(f"{command} {chosen}{words}", data)[0] == 2
        words += f" {NEEDED[option]}"
    flag = chosen.split()[0]
    plain = words
    if flag != "--judge":  # which adds a judge
        words = re.sub(rf" {flag}( [^- ]\S*)+", "", words)
    status, result = _result(f"{command} {chosen}{words}", data)
    if status == 2:
        assert _result(f"{command}{plain}", data)[0] != 2 or option in ("plot_kind",)
        return
    assert status in (0, 1, 3, 4)
    before = _result(f"{command}{plain}", data)
    if option == "details" and before == (status, result):
        assert "--details" not in str(result)  # all is shown, and nothing more is offered
        return
    assert (status, result) != before
