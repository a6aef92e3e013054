"""Groups of options that several commands share, written once as dataclasses.

A command takes a group as one parameter; on the command line, the fields of the group are options of the command. A group
that needs a check has it in `__post_init__`, which runs before the command begins.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_type_hints

import typer

from ir_outcomes.cli.writing import refuse_inputs

__all__ = ["add_command"]


def add_command(app: typer.Typer, function: Callable[..., None], *examples: str, name: str | None = None) -> None:
    """Add a command to the command line.

    Parameters
    ----------
    app : Typer
        The command line.
    function : callable
        The command. Its docstring is the help. A parameter that is annotated with a dataclass becomes one option for each
        field of that class.
    examples : str
        Complete commands, which the help shows. They run in the folder that ``ir-outcomes sample`` writes; the test of the
        command line runs each.
    name : str, optional
        The name; by default that of the function.
    """
    heading = "Example" if len(examples) == 1 else "Examples"
    epilog = "\n".join(["\b", f"{heading}:", *(f"  {example}" for example in examples)])
    app.command(name, epilog=epilog)(_flat(function))


def _flat(function: Callable[..., None]) -> Callable[..., None]:
    """Replace each group among the parameters of a function by its fields."""
    # Not by get_type_hints: on Python 3.10 it makes parameters whose default is None optional, around what typer looks for.
    declared = inspect.signature(function, eval_str=True).parameters
    groups: dict[str, Any] = {
        name: parameter.annotation for name, parameter in declared.items() if is_dataclass(parameter.annotation)
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in declared.items():
        group = groups.get(name)
        if group is None:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        of_fields = get_type_hints(group, include_extras=True)
        parameters += [_parameter(field, of_fields[field.name]) for field in fields(group)]

    def command(**values: Any) -> None:
        refuse_inputs(values)
        given = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)}) for name, group in groups.items()
        }
        function(**values, **given)

    command.__name__ = function.__name__
    command.__doc__ = function.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer and inspect read it
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _parameter(field: Field[Any], annotation: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
