"""Commands from functions."""

import inspect
import os
import shlex
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    Parameter,
    UnusedCliTokensError,
)
from cyclopts.help import HelpPanel, PlainFormatter
from rich.console import Console

import ir_outcomes as iro
from ir_outcomes.choices import ReadingOfValues
from ir_outcomes.cli import functions, words
from ir_outcomes.cli.commands import COMMANDS, Command, Effect
from ir_outcomes.cli.output import DOCUMENTS, STDIN, Output
from ir_outcomes.cli.signatures import (
    OPTIONS,
    OUTPUT,
    READING,
    VERDICT,
    Option,
    arguments_by_name,
    arguments_of,
    names_of,
    options_of,
    parameter,
)
from ir_outcomes.cli.streams import (
    CALL,
    UsageError,
    example_of_call,
    missing,
    note,
    progress_is_shown,
)
from ir_outcomes.results import HasPage

PAGE = Path("report.html")
# Arguments of `evaluate` that the function behind it takes, too.
SHARED = {"measures", "n_jobs", "allow"}
OF_VALUES = ("outputs", *ReadingOfValues.__annotations__)
# Of all commands.
EFFECTS = (
    Effect(("plot_kind", "plot_title"), ("plot",)),
    Effect(("docs", "max_mb"), ("report",)),
    Effect(("higher_is_better",), ("measures", "outputs")),
    Effect(OF_VALUES[1:], ("outputs",)),
)


def function_of(name: str) -> Callable[..., Any]:
    """Find a function that only the command line has, or one of ir_outcomes."""
    found: Callable[..., Any] = getattr(functions if hasattr(functions, name) else iro, name)
    return found


def has_page(function: Callable[..., Any]) -> bool:
    """Return whether every result of a function can be written as a page."""
    annotation = inspect.signature(function).return_annotation
    kinds = get_args(annotation) or [annotation]
    return all(issubclass(kind, HasPage) for kind in kinds)


def outputs_of(entry: Command) -> dict[str, Option]:
    """Return the options on what is written."""
    options = options_of(Output, OUTPUT)
    names = []
    if entry.result:
        names += ["format", "output", "details", "rows", "caption", "label"]
    if entry.figures:
        names += ["plot", "plot_title"]
    if len(entry.figures) > 1:
        names += ["plot_kind"]
        kinds = Literal.__getitem__(entry.figures)
        options["plot_kind"] = options["plot_kind"]._replace(annotation=kinds)
    if entry.page:
        names += ["report"]
    if entry.page and entry.words != "values":  # which have no lists
        names += ["docs", "max_mb"]
    if entry.page and not entry.result:
        names = ["output", "docs", "max_mb"]
        options["output"] = options["report"]._replace(
            default=PAGE, text="Write the page to this file."
        )
    return {name: options[name] for name in (*names, "quiet")}


class Made:
    """A command that reads words, calls a function, and writes the result."""

    def __init__(self, name: str) -> None:
        self.entry = entry = COMMANDS[name]
        self.function = function_of(entry.function)
        if entry.page and not has_page(self.function):
            raise TypeError(f"{name}: a command with a page needs results that inherit HasPage")
        self.arguments = arguments_by_name(self.function)
        self.reader = getattr(words, entry.words)
        self.then = function_of(entry.then)
        group = VERDICT if "alpha" in self.arguments else OPTIONS
        self.reading = {
            name: option
            for name, option in options_of(self.reader, READING).items()
            if entry.values or name not in OF_VALUES
        }
        # Of what can be said about reading, a command that evaluates offers what it takes.
        evaluates = "settings" in inspect.signature(self.reader).parameters
        settings = options_of(iro.evaluate, READING) if evaluates else {}
        self.settings = {name: settings[name] for name in settings if name in entry.takes}
        explicit = inspect.signature(self.function).parameters
        self.own = {
            name: option
            for name, option in options_of(self.function, group).items()
            if name not in self.settings and (name in explicit or name not in settings)
        }
        self.after = options_of(self.then, OUTPUT)
        self.outputs = outputs_of(entry)
        every = {**self.settings, **self.own, **self.after, **self.outputs, **self.reading}
        for required in entry.requires:
            every[required] = every[required]._replace(default=inspect.Parameter.empty)
        self.options = every

    def command(self, *given: Any, **options: Any) -> int:
        """Run the command, and return its exit status."""
        chosen = {
            name: value for name, value in options.items() if value != self.options[name].default
        }
        # Notes and errors also name options of the command that evaluates the runs, and one measure.
        named = (*inspect.signature(iro.Reading).parameters, "measure", *self.options)
        CALL.options = {name: names_of(name) for name in named}
        CALL.options |= {"contender": ["RUNS"], "kind": names_of("plot_kind")}
        CALL.quiet = chosen.get("quiet", False)
        output = Output(**_taken(chosen, self.outputs))
        if not self.entry.result and self.entry.page:
            output = replace(output, output=None, report=output.output or PAGE)
        others = {name: value for name, value in chosen.items() if name not in self.outputs}
        targets = {name: value for name, value in others.items() if isinstance(value, Path)}
        inputs = [*given, *(value for name, value in others.items() if name not in targets)]
        output.check(targets, inputs, of_queries="per_query" in chosen)
        self._refuse_without_effect(chosen)
        # Rules are checked before runs are read.
        iro.Rules(**_taken(chosen, inspect.signature(iro.Rules).parameters))
        read = self._read(given, chosen, output)
        result = self._result(read, chosen)
        if self.entry.result:
            output.draw(functions.as_list(result))
            output.write(*self.then(result, output.rows, **_taken(chosen, self.after)))
        output.write_page(result, read.evaluation, read.files, chosen.get("queries"))
        if not self.entry.result and output.report == PAGE:
            note(f"the page is {PAGE}; open it in a browser, or choose its name with --output")
        return getattr(result, "exit_status", 0)

    def _refuse_without_effect(self, chosen: Mapping[str, Any]) -> None:
        """Refuse options that do nothing beside the others, or without others."""
        for effect in (*EFFECTS, *self.entry.effects):
            needed = [option for option in effect.needs if option in self.options]
            is_idle = effect.beside in chosen if effect.beside else bool(needed)
            if not is_idle or not chosen.keys().isdisjoint(needed):
                continue
            for name in filter(chosen.__contains__, effect.options):
                option = names_of(name)[-1 if chosen[name] is False else 0]
                if effect.beside:
                    other = names_of(effect.beside)[0]
                    raise UsageError(
                        f"{option} does nothing beside {other}; leave one of them out."
                    )
                others = " or ".join(names_of(other)[0] for other in needed)
                raise UsageError(f"{option} is for {others}; give it, too, or leave this out.")

    def _read(self, given: Sequence[Any], chosen: Mapping[str, Any], output: Output) -> words.Read:
        reading = _taken(chosen, self.reading)
        if self.settings:
            settings = {**_taken(chosen, self.settings), **self.entry.keeps}
            if output.report:
                settings["documents"] = DOCUMENTS
            if self.entry.words == "collections" and "allow" in chosen:
                settings["allow"] = [stop for stop in chosen["allow"] if stop != "cutoff"]
            reading["settings"] = {**settings, "progress": progress_is_shown()}
        read: words.Read = self.reader(*given, **reading)
        return read

    def _result(self, read: words.Read, chosen: Mapping[str, Any]) -> Any:
        of_pair = "contender" in inspect.signature(self.function).parameters
        if of_pair and isinstance(read.arguments[-1], list):
            raise UsageError("RUNS: this command compares two runs; give one beside BASELINE.")
        shared = [name for name in SHARED if name in self.arguments]
        options = _taken(chosen, [*self.own, *shared]) | _taken(read.options, self.arguments)
        if "progress" in self.arguments:
            options["progress"] = progress_is_shown()
        if "inputs" in self.arguments:
            options["inputs"] = [file for file in read.files if os.path.isfile(file)]
        return self.function(*read.arguments, **options)

    def signature(self) -> inspect.Signature:
        """Return what cyclopts parses by."""
        first = arguments_of(self.reader) or arguments_of(self.function)
        if self.entry.words == "pair" and not self.entry.values:  # only values have no BASELINE
            first[1] = first[1].replace(default=inspect.Parameter.empty)
        options = (parameter(name, option) for name, option in self.options.items())
        return inspect.Signature([*first, *options])


def _taken(chosen: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: chosen[name] for name in names if name in chosen}


def command(name: str) -> Callable[..., int]:
    """Return a command as a function with a signature."""
    made = Made(name)

    def run(*given: Any, **options: Any) -> int:
        return made.command(*given, **options)

    run.__signature__ = made.signature()  # type: ignore[attr-defined]  # cyclopts reads it
    return run


class PlainHelp(PlainFormatter):
    """Help, each entry on as few lines as possible."""

    def __call__(self, console: Console, options: Any, panel: HelpPanel) -> None:
        """Print a panel."""
        if panel.entries:
            console.print(f"{panel.title}:", markup=False, highlight=False)
        for entry in panel.entries:
            names = ", ".join(entry.display_labels_with_metavar or entry.positive_names)
            names = names.replace("CHOICE", "|".join(entry.choices or ()))
            text = entry.description.primary_renderable.plain if entry.description else ""
            if entry.default is not None:
                text += f" [default {entry.default}]"
            lines = textwrap.fill(
                f"{names}  {text}", console.width, initial_indent="  ", subsequent_indent="      "
            )
            console.print(lines, markup=False, highlight=False)
        if panel.entries:
            console.print()


@cache
def app(*built: str) -> App:
    """Return the command line, in which only the named commands are complete."""
    top = App(
        name="ir-outcomes",
        version=f"ir-outcomes {iro.__version__}",
        help=(
            "Is this run really better, and in which way?\n\nCompares runs (the ranked lists of"
            " search systems) by relevance judgments (qrels) on two facets: coverage, how many"
            " queries are answered at all, and ranking, how far down the answers are."
        ),
        help_epilogue=(
            "Example:\n  ir-outcomes sample ."
            "\n  ir-outcomes compare qrels.txt bm25.run bm25-stem.run"
        ),
        help_format="plaintext",
        help_formatter=PlainHelp(),
        default_parameter=Parameter(negative="", consume_multiple=False),
        result_action="return_value",
    )
    tail = App(name="tail", help="Show where all relevant documents are ranked.", help_epilogue="")
    top.command(tail)
    for name, entry in COMMANDS.items():
        *group, leaf = name.split()
        lines = (f"  ir-outcomes {example}" for example in entry.examples)
        (tail if group else top).command(
            command(name) if name in built else lambda: 0,
            name=leaf,
            help=entry.summary,
            help_epilogue="\n".join(["Examples:", *lines]),
        )
    return top


def run(typed: Sequence[str]) -> int:
    """Run a command, and return its exit status."""
    if typed.count("-") > 1:
        raise UsageError("Standard input can be read once; give - once.")
    program = app(CALL.command)
    try:
        status: int | None = program(
            [STDIN if word == "-" else word for word in typed],
            exit_on_error=False,
            print_error=False,
        )
    except MissingArgumentError as error:
        name = error.argument.name if error.argument else "An argument"
        if name in typed:
            raise UsageError(
                f"{name} needs a value. For example:\n  ir-outcomes {example_of_call()}"
            ) from None
        raise missing(name) from None
    except UnusedCliTokensError as error:
        unused = shlex.join(error.unused_tokens or ())
        raise UsageError(f"{unused}: this command takes fewer arguments; leave it out.") from None
    except CycloptsError as error:
        raise UsageError(str(error)) from None
    return status or 0
