"""The command line: parses, calls, shows.

A command is a function of a module here; its parameters are those of the function in Python that it
calls. Exit status 0; 1 for bad input, with a message that names it; 2 for wrong usage; `gate` has
further ones.
"""

import importlib.metadata
import inspect
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import is_dataclass
from functools import partial
from typing import Any

from cyclopts import App, CycloptsError, MissingArgumentError, Parameter, UnusedCliTokensError

from ir_outcomes.cli import compare, conditions, files, gate, many
from ir_outcomes.cli.options import STDIN, UsageError
from ir_outcomes.cli.output import CALL, MAIN, TARGETS, error_line, files_of, messages
from ir_outcomes.errors import InputError
from ir_outcomes.evaluation.evaluation import is_saved
from ir_outcomes.reading.formats import seems_to_be_a_run

__all__ = ["COMMANDS", "app", "examples_of", "main"]

PROGRAM = "ir-outcomes"
COMMANDS: dict[str, Callable[..., int | None]] = {
    "check": files.check,
    "compare": compare.compare,
    "compare-outputs": compare.compare_outputs,
    "verdict": compare.verdict,
    "compare-cutoffs": conditions.compare_cutoffs,
    "compare-slices": conditions.compare_slices,
    "compare-judges": conditions.compare_judges,
    "compare-collections": conditions.compare_collections,
    "holes": compare.holes,
    "plan": compare.plan,
    "gate": gate.gate,
    "report": compare.report,
    "evaluate": many.evaluate,
    "leaderboard": many.leaderboard,
    "sota-history": many.sota_history,
    "rank-distribution": many.rank_distribution,
    "agreement": many.agreement,
    "reordering": many.reordering,
    "tail": many.tail,
    "measure": files.measure,
    "datasets": files.datasets,
    "sample": files.sample,
}

app = App(
    name=PROGRAM,
    version=lambda: f"{PROGRAM} {importlib.metadata.version(PROGRAM)}",
    help=(
        "Is this run really better, and in which way?\n\nCompares runs (the ranked lists of search"
        " systems) by relevance judgments (qrels) on two facets: coverage, how many queries are"
        " answered at all, and ranking, how far down the answers are."
    ),
    help_epilogue=(
        f"Example:\n\n- {PROGRAM} sample .\n- {PROGRAM} compare qrels.txt bm25.run bm25-stem.run"
    ),
    help_format="markdown",
    group_parameters=MAIN,
    default_parameter=Parameter(
        negative="",
        show_default=lambda value: None if value in (None, False, ()) else str(value),
        consume_multiple=False,
    ),
    result_action="return_value",
)


def examples_of(function: Callable[..., int | None]) -> list[str]:
    """Return the examples of a command, which run in the folder that `ir-outcomes sample` writes."""
    return (
        inspect.cleandoc(function.__doc__ or "").partition("Examples\n--------\n")[2].splitlines()
    )


def _begin(command: str, **arguments: Any) -> None:
    """Keep what the messages of a call need, and refuse outputs that would overwrite an input or each other."""
    parameters = app[command].assemble_argument_collection(default_parameter=app.default_parameter)
    values: dict[str, Any] = {}
    for name, value in arguments.items():
        values |= vars(value) if is_dataclass(value) else {name: value}
    CALL.options = {parameter.field_info.name: parameter.names for parameter in parameters}
    CALL.quiet = values.get("quiet", False)
    targets = [values.pop(name) for name in TARGETS if values.get(name)]
    named = []
    if targets:
        named = [os.path.realpath(file) for file in (*files_of(values.values()), *targets)]
    for target in targets:
        if named.count(os.path.realpath(target)) > 1:
            raise ValueError(
                f"{target} is an input or another output of this command and would be overwritten;"
                " choose another file."
            )


for _name, _function in COMMANDS.items():
    _lines = "\n".join(f"- {example}" for example in examples_of(_function))
    app.command(
        _function,
        name=_name,
        help_epilogue=f"Examples:\n\n{_lines}",
        validator=partial(_begin, _name),
    )


def _missing(argument: Any, command: str, *words: str) -> str:
    """Say which argument is missing, and show an example; runs without qrels leave the last place empty."""
    missing = argument.name
    if (
        words
        and app[command].assemble_argument_collection()[0].name == "QRELS"
        and _is_run(words[0])
    ):
        missing = f"{words[0]} is a run, so QRELS"
    if missing == "RUNS" and is_saved(words[-1]):
        missing = f"BASELINE, the name of one of the runs in {words[-1]},"
    example, _, _ = examples_of(COMMANDS[command])[0].partition(" ||")
    return f"{missing} is missing. For example:\n  {example}"


def _is_run(word: str) -> bool:
    with suppress(InputError):
        if os.path.isfile(word):
            return seems_to_be_a_run(word)
        return ".run" in word
    return False


def main() -> None:
    """Run the command line; bad input ends with a message, never with a traceback."""
    with messages():
        try:
            CALL.words = sys.argv[1:]
            status = app(
                [STDIN if word == "-" else word for word in CALL.words],
                exit_on_error=False,
                print_error=False,
            )
        except (CycloptsError, UsageError) as error:
            known = [word for word in CALL.words[:1] if word in COMMANDS]
            if isinstance(error, MissingArgumentError):
                problem = _missing(error.argument, *CALL.words)
            elif isinstance(error, UnusedCliTokensError) and "--names" in CALL.words:
                problem = (
                    f"there is no place for {' '.join(error.unused_tokens or ())}; give --names"
                    " once for each run, such as --names a --names b."
                )
            else:
                problem = str(error)
            error_line(f"error: {problem}\nSee {' '.join([PROGRAM, *known])} --help.")
            status = 2
    sys.exit(status)
