"""Every command with every option that it offers: the option changes the result, or is refused."""

import json
import random
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import IO, Any

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from ir_outcomes.cli.commands import COMMANDS
from tests.helpers.command_line import call, made

N = 24  # queries
VALUES = "a.csv b.csv -m quality"
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
    "names": "--names x --names y",
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
# What commands that read alike do alike, and what is written alike by those that write the same.
READ_ALIKE = {"names", "duplicates", "allow", "drop_self", "ties"}
WRITTEN_ALIKE = {"output", "caption", "label", "plot_title", "docs", "max_mb"}
# Words that an option needs beside it, without which it is refused.
NEEDED = {
    "caption": "--format latex", "label": "--format latex", "plot_kind": "--plot p.svg", "plot_title": "--plot p.svg",
    "docs": "--report p.html", "max_mb": "--report p.html --docs docs.jsonl",
}  # fmt: skip
# The words of a command where they are not qrels and runs.
WORDS = {
    "compare-outputs": "a.csv b.csv -m nDCG@10", "verdict": "--won 20 --lost 9 --n 100 --difference .2 --pvalue .2",
    "compare-slices": "qrels.txt {} --by halves.tsv", "rank-distribution": "qrels.txt {} --resamples 100",
    "compare-judges": "{} --judge x=qrels.txt --judge z=other.txt", "compare-collections": "suite --baseline a",
    "gate": "qrels.txt {} --margins 30pp,1", "evaluate": "qrels.txt {} -o ev.npz", "sota-history": "entries.csv",
    "measure": "qrels.txt a.run nDCG@10 ESL@10", "datasets": "msmarco-document/dev", "sample": "made",
    "agreement": "qrels.txt {} --splits 20",
}  # fmt: skip
# The runs or words in which an option matters.
RUNS_FOR = {
    "duplicates": "a.run again.run",
    "allow": "a.run alien.run",
    "replicates": "a.run b_1.run b_2.run",
    "identical": "a.run same.run",
    "missing": "a.run b.run --cutoff 5",
    "max_missing": "a.run few.run",
    **dict.fromkeys(("contenders", "correction", "rows", "top_k"), "a.run b.run c.run"),
}
OF_VALUES = ("higher_is_better", "range", "id", "where")
WORDS_FOR = {
    ("compare", "queries"): "qrels.txt a.run b.run --per-query better",
    ("leaderboard", "queries"): "qrels.txt a.run b.run --report p.html",
    ("compare-collections", "queries"): "suite --baseline a --report p.html",
    ("compare-collections", "duplicates"): "again --baseline a",
    ("compare-collections", "allow"): "alien --baseline a",
    ("compare-slices", "queries"): "qrels.txt a.run b.run --by length --queries reversed.tsv",
    ("gate", "queries"): "qrels.txt a.run b.run --margins 0.1pp,0.01",
    ("gate", "cutoff"): "qrels.txt a.run b.run --margins 30pp,1",
    **{("compare-outputs", option): VALUES for option in OF_VALUES},
    **{("plan", option): f"--outputs {VALUES} --margins .3" for option in OF_VALUES[1:]},
    **{("gate", option): f"--outputs {VALUES} --margins .3 --range 0 2" for option in OF_VALUES},
    **{
        (command, option): f"--outputs {VALUES}"
        for command in ("leaderboard", "rank-distribution", "agreement")
        for option in OF_VALUES
    },
    ("agreement", "higher_is_better"): "qrels.txt a.run b.run -m NumRet",  # which needs it
    ("compare-outputs", "correction"): "a.csv b.csv b_1.csv b_2.csv -m nDCG@10",
    **{(f"tail {command}", "rows"): "qrels.txt a.run b.run" for command in ("rrie", "length-changes")},
    ("plan", "outputs"): "a.csv b.csv -m nDCG@10 --margins .3",
    ("holes", "clusters"): "qrels.txt a.run b.run --alpha .02",
    ("compare-outputs", "rel"): "a.csv b.csv -m nDCG@10 --qrels few.txt",
    ("compare-outputs", "trials"): "a.csv twice.csv -m nDCG@10 --id query_id",
    ("compare-outputs", "replicates"): "a.csv b_1.csv b_2.csv -m nDCG@10",
    ("gate", "outputs"): "a.csv b.csv -m nDCG@10 --margins .3",
    ("compare-judges", "reference"): "a.run b.run --judge c.run=qrels.txt --judge z=other.txt",
    ("measure", "duplicates"): "qrels.txt again.run nDCG@10",
    ("measure", "allow"): "qrels.txt alien.run nDCG@10",
    ("measure", "no_summary"): "qrels.txt a.run nDCG@10 --by_query",
}  # fmt: skip


def _run(numbers: random.Random, skill: float, n_queries: int = N) -> list[str]:
    """A run with ties, unjudged documents, and the query's own id in every third list."""
    lines = []
    for query in range(n_queries):
        scores = {
            f"d{query}_{rank}": round(numbers.gauss(skill * (rank < 4), 1.5)) for rank in range(12)
        }
        scores |= {f"u{query}": 8} | ({f"q{query}": 9} if query % 3 == 0 else {})
        order = sorted(scores, key=lambda document: -scores[document])
        lines += [f"q{query} Q0 {d} {rank} {scores[d]} t" for rank, d in enumerate(order, 1)]
    return lines


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files in which every option changes something."""
    folder = tmp_path_factory.mktemp("options")
    numbers = random.Random(1)

    def write(name: str, lines: Iterable[str]) -> None:
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text("".join(f"{line}\n" for line in lines))

    queries = range(N)
    judged = [f"q{n} 0 q{n} 0" for n in queries]
    judged += [f"q{n} 0 d{n}_{r} {(2, 1, 1, 0)[r % 4]}" for n in queries for r in range(8)]
    again = [*_run(numbers, 0.5), *(f"q{n} Q0 d{n}_0 20 20 t" for n in queries)]
    alien = [f"x{n} Q0 x{rank} {rank} {-rank} t" for n in queries for rank in range(14)]
    suites = {"suite": None, "again": again, "alien": alien}
    for place in ("", *(f"{suite}/{number}/" for suite in suites for number in "12")):
        write(f"{place}qrels.txt", judged)
        write(f"{place}clusters.tsv", (f"q{n}\tc{n // 4}" for n in queries))
        write(f"{place}queries.tsv", (f"q{n}\ttext{' of a query' * (n % 3)} {n}" for n in queries))
        for name, skill in (("a", 0.2), ("b", 0.9), ("c", 1.4)):
            other = suites.get(place.partition("/")[0]) if name == "b" else None
            write(f"{place}{name}.run", other or _run(numbers, skill))
    for name, run in {
        "b_1": _run(numbers, 0.7), "b_2": _run(numbers, 0.7), "again": again, "alien": alien, "few": _run(numbers, 0.9, 20),
        "same": (folder / "a.run").read_text().splitlines(),
    }.items():  # fmt: skip
        write(f"{name}.run", run)
    write("reversed.tsv", (f"q{n}\ttext{' of a query' * (n % 2)} {n}" for n in queries))
    write("halves.tsv", (f"q{n}\thalf {n % 2}" for n in queries))
    write("ids.txt", (f"q{n}" for n in range(12)))
    write("other.txt", (line.replace("_3 0", "_3 1") for line in judged))
    write("few.txt", ("q0 0 d0_0 2", "q1 0 d1_0 2", "q2 0 d2_0 1"))
    write(
        "docs.jsonl",
        (
            json.dumps({"id": f"d{n}_{r}", "contents": f"text {n} {r} " * 90})
            for n in queries
            for r in range(12)
        ),
    )
    write(
        "entries.csv",
        ("id,date,score,other", "a,2020-01-01,.1,.3", "b,2020-02-01,.2,.2", "c,2020-03-01,.3,.1"),
    )
    for shift, name in enumerate(("a", "b", "b_1", "b_2")):
        rows = [
            f"q{n},o{(n + 5 * shift) % N},{n % 2},{','.join(str(numbers.random()) for _ in range(3))}"
            for n in queries
        ]
        write(f"{name}.csv", ("query_id,other,part,quality,nDCG@10,RR", *rows))
    write("twice.csv", (*(folder / "a.csv").read_text().splitlines(), "q0,o0,1,0.5,0.5,0.5"))
    return folder


def _without_settings(value: Any) -> Any:
    """Leave settings out, which repeat what was asked for."""
    if isinstance(value, dict):
        return {name: _without_settings(item) for name, item in value.items() if name != "settings"}
    return [_without_settings(item) for item in value] if isinstance(value, list) else value


@cache
def _result(words: str, folder: Path) -> tuple[int, Any]:
    """Return the status of a call, and all that it wrote; options share the call without them."""
    before = {*folder.rglob("*")}
    done = call(*words.split(), folder=folder)
    shown: Any = done.stdout
    if words.endswith("--format json") and done.stdout:
        shown = _without_settings(json.loads(shown))
    written = {}
    for path in {*folder.rglob("*")} - before:
        if path.is_file():
            # The page has the command, which would differ always.
            written[path.relative_to(folder)] = path.read_bytes().replace(words.encode(), b"")
            path.unlink()
    return done.returncode, (shown, written)


def _cases() -> Iterator[tuple[str, str]]:
    """Yield every command with every option; those that are alike once."""
    tried: set[tuple[object, ...]] = set()
    for command, entry in COMMANDS.items():
        for option in made(command).options:
            case: tuple[object, ...] = (option, command)
            if option in READ_ALIKE and entry.words != "plain":
                case = (option, entry.words)
            if option in WRITTEN_ALIKE:
                case = (option, *made(command).outputs)
            if option not in SPEED and case not in tried:
                yield command, option
            tried.add(case)


def _texts(figure: Figure, file: IO[bytes], **_: Any) -> None:
    """Write the texts of a figure; tests of figures draw them."""
    file.write(str([text.get_text() for text in figure.findobj(Text)]).encode())


@pytest.mark.filterwarnings("ignore::ir_outcomes.IrOutcomesWarning")
@pytest.mark.parametrize(("command", "option"), [*_cases()])
def test_an_option_changes_the_result_or_is_refused(
    command: str, option: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Figure, "savefig", _texts)
    entry, options = COMMANDS[command], made(command).options
    of_output = {*made(command).outputs, *made(command).after}
    # The first figure is the default.
    chosen = f"--plot-kind {entry.figures[-1]}" if option == "plot_kind" else OPTIONS[option]
    runs = RUNS_FOR.get(option, "a.run b.run")
    if option == "allow" and "missing" in options:
        runs += " --missing retrieved"
    words = WORDS_FOR.get((command, option), WORDS.get(command, "qrels.txt {}"))
    words = f" {words.format(runs)}"
    if entry.result and option not in of_output and "--per-query" not in words:
        words += " --format json"
    if option in NEEDED and entry.result:
        assert _result(f"{command} {chosen}{words}", data)[0] == 2
        words += f" {NEEDED[option]}"
    plain = f" --higher-is-better{words}" if "-m quality" in words else words
    flag = chosen.split()[0]
    if flag != "--judge":  # which adds a judge
        words = re.sub(rf" {flag}( [^- ]\S*)+", "", words)
    status, result = _result(f"{command} {chosen}{words}", data)
    before, result_before = _result(f"{command}{plain}", data)
    if status == 2:
        assert before != 2
        return
    assert status in (0, 1, 3, 4)
    if option == "details" and result == result_before:
        assert "--details" not in str(result)  # all is shown, and nothing more is offered
        return
    assert (status, result) != (before, result_before)
