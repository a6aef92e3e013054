"""Command lines: every command with all of its options, and words that do not belong there."""

from __future__ import annotations

import io
import json
import random
import re
import shutil
import warnings
from functools import cache
from pathlib import Path

from rich.console import Console

from ir_outcomes.cli import app
from tests.fuzz.inputs import IDS, NUMBERS, damaged
from tests.helpers.command_line import call

__all__ = ["command_lines"]

WORDS = [
    *("qrels", "a.run", "b.run", "a.out", "b.out", "entries.csv", "suite", "slices.tsv", "queries.tsv", ".", "none", "*.run"),
    *("nist=qrels", "other=qrels@2", "a", "b", "RR", "P@0", "nDCG@5", "ESL@10", "1pp,0.5", "1,inf", "a,b", "dev", "\x1b"),
    *("\udce9", *NUMBERS, *IDS),
]
USUAL = {
    "compare": "qrels a.run b.run",
    "compare-measure": "qrels a.run b.run --measure nDCG@5",
    "compare-outputs": "a.out b.out --measure RR",
    "verdict": "--n 100 --won 9 --lost 3 --difference 0.5 --pvalue 0.1",
    "compare-cutoffs": "qrels a.run b.run",
    "compare-slices": "qrels a.run b.run --by slices.tsv",
    "compare-judges": "a.run b.run --judge nist=qrels --judge other=qrels@2",
    "suite": "suite --baseline a",
    "holes": "qrels a.run b.run",
    "plan": "qrels a.run b.run",
    "evaluate": "qrels a.run -o kept.npz",
    "gate": "qrels a.run b.run --margins 1,1",
    "leaderboard": "qrels a.run b.run",
    "history": "entries.csv",
    "stability": "qrels a.run b.run --resamples 9",
    "agreement": "qrels a.run b.run --splits 2",
    "reordering": "qrels a.run b.run -m RR -m ASL(missing='cutoff')@5",
    "tail": "qrels a.run b.run",
    "report": "qrels a.run b.run",
    "measure": "qrels a.run ESL@10",
    "datasets": "none",
    "sample": "written",
}
SLOW = {"--jobs", "--resamples", "--splits", "--plot", "--report"}
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def command_lines(rng: random.Random, folder: Path) -> None:
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    write_inputs(rng, work)
    command = rng.choice(list(USUAL))
    arguments = USUAL[command].split()
    for _ in range(rng.randint(0, 3)):
        change(rng, command, arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = call(command, *arguments, folder=work)
    shown = " ".join(map(ascii, [command, *arguments]))
    if done.returncode not in (0, 1, 2, *((3, 4) if command == "gate" else ())):
        raise AssertionError(f"{shown}: exit status {done.returncode}")
    if done.returncode in (1, 2) and not done.stderr.strip():
        raise AssertionError(f"{shown}: no message")
    if "Traceback" in done.stderr or CONTROL.search(done.stderr):
        raise AssertionError(f"{shown}: {done.stderr!r}")


def change(rng: random.Random, command: str, arguments: list[str]) -> None:
    """Add an option with a value that fits or not, or replace, remove or add a word."""
    kind = rng.random()
    if kind < 0.6 and options_of(command):
        name, values = rng.choice(options_of(command))
        arguments += [name, *([rng.choice([*values, *values, *WORDS])] if values is not None else [])]
    elif kind < 0.8 and arguments:
        arguments[rng.randrange(len(arguments))] = rng.choice(WORDS)
    elif kind < 0.9 and arguments:
        del arguments[rng.randrange(len(arguments))]
    else:
        arguments.insert(rng.randint(0, len(arguments)), rng.choice(WORDS))


OPTION = re.compile(r"^│ \*? *(--[\w-]+)(?: -\w)?(?: ([A-Z]+)(?:\.\.\.)?)?  (.*)│$", re.MULTILINE)  # of a help text
CHOICES = re.compile(r"\[choices: ([^]]*)\]")


@cache
def options_of(command: str) -> list[tuple[str, list[str] | None]]:
    """Return the options that the help text names, and some values of each; None where an option takes no value."""
    printed = io.StringIO()
    app([command, "--help"], console=Console(file=printed, width=600))
    found = []
    for name, value, text in OPTION.findall(printed.getvalue()):
        if name not in SLOW:
            choices = CHOICES.search(text)
            values = choices[1].split(", ") if choices else ["1", "2", "0.5", "qrels", "RR"]
            found.append((name, values if value else None))
    return found


def write_inputs(rng: random.Random, folder: Path) -> None:
    """Write the files that the commands read, one of them damaged."""
    texts = {
        "qrels": "q1 0 d1 1\nq1 0 d4 2\nq2 0 d2 1\n",
        "a.run": "q1 Q0 d1 1 2 t\nq2 Q0 d2 1 2 t\n",
        "b.run": "q1 Q0 d1 1 2 t\nq2 Q0 d3 1 3 t\nq2 Q0 d2 1 2 t\n",
        "a.out": "q1\tRR\t1.0\nq2\tRR\t0.5\n",
        "b.out": "q1\tRR\t0.5\nq2\tRR\t0.5\n",
        "entries.csv": "id,date,score,group\na,2021-01-02,0.5,x\nb,2021-01-03,0.75,y\n",
        "slices.tsv": "q1\tshort\nq2\tlong\n",
        "queries.tsv": "q1\twhat is\nq2\twho was\n",
        "docs.jsonl": json.dumps({"doc_id": "d1", "text": "text"}) + "\n",
    }
    for number in (1, 2):
        texts[f"suite/c{number}/qrels.txt"] = texts["qrels"]
        texts[f"suite/c{number}/a.run"] = texts["a.run"]
        texts[f"suite/c{number}/b.run"] = texts["b.run"]
    broken = rng.choice(list(texts)) if rng.random() < 0.3 else None
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(damaged(rng, text.encode()) if name == broken else text.encode())
