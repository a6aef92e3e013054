"""The command line: parses, calls, shows.

Data goes to stdout, everything else to stderr. Exit status 0; 1 for bad input, with a message that names it; 2 for wrong usage.
Each module of commands has a function `register` that adds them; `add_command` turns a function into a command.
"""

import functools
from typing import Annotated

import typer

from ir_outcomes.cli import comparisons, conditions, gate, holes, leaderboards, outputs, report, single, tail
from ir_outcomes.cli.streams import messages, print_lines

__all__ = ["app", "main"]

PROGRAM = "ir-outcomes"
HELP = """Is this run really better, and in which way?

Compares runs (the ranked lists of search systems) by relevance judgments (qrels) on two facets: coverage, how many queries are
answered at all, and ranking, how far down the answers are.
"""

app = typer.Typer(
    name=PROGRAM,
    help=HELP,
    epilog="\b\nExample:\n  ir-outcomes sample .\n  ir-outcomes compare qrels.txt bm25.run bm25-stem.run",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(is_given: bool) -> None:
    if is_given:
        from importlib.metadata import version

        print_lines(f"{PROGRAM} {version(PROGRAM)}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Hold the options of the program itself."""


for module in (comparisons, outputs, conditions, holes, gate, leaderboards, tail, report, single):
    module.register(app)


@functools.cache
def command() -> typer.core.TyperGroup:
    """Return the program with all its commands, built once in each process."""
    built = typer.main.get_command(app)
    assert isinstance(built, typer.core.TyperGroup)
    return built


def main() -> None:
    """Run the command line; bad input ends with a message, never with a traceback."""
    with messages():
        command()(prog_name=PROGRAM)
