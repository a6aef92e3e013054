"""The command line: parses, calls, shows.

A command is a function of `compare` or `many`; its parameters are those of the function in Python that it calls. Exit status
0; 1 for bad input, with a message that names it; 2 for wrong usage.
"""

from __future__ import annotations

import functools
import importlib.metadata
import inspect
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

from cyclopts import App, CycloptsError, Parameter

from ir_outcomes.cli import compare, gate, many
from ir_outcomes.cli.options import MAIN, STDIN, UsageError
from ir_outcomes.cli.output import check_targets, error_line, messages, quiet

__all__ = ["COMMANDS", "app", "main"]

PROGRAM = "ir-outcomes"
_COMPARED = "qrels.txt bm25.run bm25-stem.run"
# Each command: its function, its arguments, and examples, which run in the folder that `ir-outcomes sample` writes.
COMMANDS: dict[str, tuple[Callable[..., None], str, tuple[str, ...]]] = {
    "compare": (
        compare.compare,
        "QRELS BASELINE RUN...",
        (
            f"{_COMPARED} --cutoff 100",
            "qrels.txt bm25 *.run --format latex",
            f"{_COMPARED} --per-query lost --queries queries.tsv --rows 10",
        ),
    ),
    "compare-measure": (
        compare.compare_measure,
        "QRELS MEASURE BASELINE RUN...",
        ("qrels.txt nDCG@10 bm25.run bm25-stem.run",),
    ),
    "compare-outputs": (
        compare.compare_outputs,
        "BASELINE OUTPUT...",
        ("bm25.tsv bm25-stem.tsv --qrels qrels.txt",),
    ),
    "verdict": (compare.verdict, "", ("--n 5793 --won 869 --lost 869 --difference -1.35 --pvalue 8.68e-08",)),
    "compare-cutoffs": (compare.compare_cutoffs, "QRELS BASELINE RUN", (f"{_COMPARED} --at 10 --at 100",)),
    "compare-slices": (
        compare.compare_slices,
        "QRELS BASELINE RUN...",
        (f"{_COMPARED} --by length --queries queries.tsv",),
    ),
    "compare-judges": (
        compare.compare_judges,
        "RUN...",
        ("bm25.run bm25-stem.run --judge people=qrels.txt@1 --judge model=model.txt@2",),
    ),
    "suite": (compare.compare_suite, "SUITE", ("suite --baseline bm25", "suite.toml -m nDCG@10")),
    "holes": (compare.holes, "QRELS BASELINE RUN...", (f"{_COMPARED} --cutoff 10", f"{_COMPARED} --cutoff 10 --to-judge 20")),
    "gate": (gate.gate, "[QRELS BASELINE RUN...]", (f"{_COMPARED} --margins 2pp,1 || echo status $?",)),
    "report": (compare.report, "QRELS BASELINE RUN...", (f"{_COMPARED} -o report.html --queries queries.tsv",)),
    "leaderboard": (
        many.leaderboard,
        "QRELS [RUN...]",
        ("qrels.txt *.run --cutoff 100", "qrels.txt *.run --measure nDCG@10 --plot tiers.pdf"),
    ),
    "history": (many.history, "ENTRIES", ("leaderboard.csv --until 2021-02-15",)),
    "stability": (
        many.stability,
        "QRELS [RUN...]",
        ("qrels.txt *.run --resamples 200", "qrels.txt *.run -m RR@10 -m nDCG@10 --resamples 200 --plot ranks.pdf"),
    ),
    "agreement": (many.agreement, "QRELS [RUN...]", ("qrels.txt *.run --splits 10",)),
    "reordering": (many.reordering, "QRELS RUN...", ("qrels.txt *.run --plot-kind changes --plot changes.pdf",)),
    "tail": (
        many.tail,
        "QRELS RUN...",
        ("qrels.txt *.run", "qrels.txt bm25.run rrf-stem-lsa.run --show changes --bins 10"),
    ),
    "measure": (
        many.measure,
        "QRELS RUN MEASURE...",
        ("qrels.txt bm25.run ESL@100 Answered@100 nDCG@10", "qrels.txt bm25.run RR@10 -q -n"),
    ),
    "datasets": (many.datasets, "[ID]", ("", "msmarco-document/dev")),
    "sample": (many.sample, "FOLDER", ("sample", "--suite suite")),
}


def _version() -> str:
    return f"{PROGRAM} {importlib.metadata.version(PROGRAM)}"


app = App(
    name=PROGRAM,
    version=_version,
    help="Is this run really better, and in which way?\n\nCompares runs (the ranked lists of search systems) by relevance "
    "judgments (qrels) on two facets: coverage, how many queries are answered at all, and ranking, how far down the answers "
    "are.",
    help_epilogue=f"Example:\n\n- {PROGRAM} sample .\n- {PROGRAM} compare {_COMPARED}",
    help_format="markdown",
    group_parameters=MAIN,
    default_parameter=Parameter(
        negative="", show_default=lambda value: None if value in (None, False) else str(value), consume_multiple=False
    ),
    result_action="return_value",
)


def _checked(function: Callable[..., None]) -> Callable[..., None]:
    """Check the files that a command writes before it begins; --quiet is obeyed from the start."""

    @functools.wraps(function)
    def command(*arguments: Any, **options: Any) -> None:
        given = inspect.signature(function).bind(*arguments, **options).arguments
        values: dict[str, Any] = {}
        for name, value in given.items():
            grouped = is_dataclass(value) and not isinstance(value, type)
            values |= {field.name: getattr(value, field.name) for field in fields(value)} if grouped else {name: value}
        quiet(bool(values.get("quiet")))
        check_targets(values)
        function(*arguments, **options)

    return command


for _name, (_function, _arguments, _examples) in COMMANDS.items():
    _lines = "\n".join(f"- {PROGRAM} {_name} {_example}".rstrip() for _example in _examples)
    app.command(
        _checked(_function),
        name=_name,
        usage=f"Usage: {PROGRAM} {_name} {_arguments} [OPTIONS]",
        help_epilogue=f"{'Example' if len(_examples) == 1 else 'Examples'}:\n{_lines}",
    )


def main() -> None:
    """Run the command line; bad input ends with a message, never with a traceback."""
    with messages():
        try:
            app([STDIN if word == "-" else word for word in sys.argv[1:]], exit_on_error=False, print_error=False)
        except (CycloptsError, UsageError) as error:
            known = [word for word in sys.argv[1:2] if word in COMMANDS]
            error_line(f"error: {error}\nSee {' '.join([PROGRAM, *known])} --help.")
            sys.exit(2)
