"""Options from functions: names, types and help from signatures and docstrings."""

import inspect
import re
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from cyclopts import Group, Parameter, Token

import ir_outcomes as iro
from ir_outcomes.cli.output import STDIN

READING = Group("Reading", sort_key=1)
OPTIONS = Group("Options", sort_key=2)
VERDICT = Group("Verdict", sort_key=2)
OUTPUT = Group("Output", sort_key=3)
# Options that are not called like the argument.
NAMES: Mapping[str, tuple[str, ...]] = {
    "by_query": ("--by_query", "-q"),
    "contenders": ("--contender",),
    "higher_is_better": ("--higher-is-better", "--lower-is-better"),
    "system": ("--baseline",),
    "cutoff": ("--cutoff", "-k"),
    "judges": ("--judge",),
    "measure": ("--measure", "-m"),
    "measures": ("--measure", "-m"),
    "n_jobs": ("--jobs", "-j"),
    "no_summary": ("--no_summary", "-n"),
    "output": ("--output", "-o"),
    "output_format": ("--format", "--output_format", "-o"),
    "path": ("--output", "-o"),
    "places": ("--places", "-p"),
    "subsets": ("--subset",),
    "top_k": ("--top",),
}
# Arguments that the command line gives itself.
GIVEN = frozenset(
    (
        *("progress", "documents", "on_error", "inputs", "command", "condition"),
        *("settings", "groups"),
    )
)
ITEMS = (list, tuple, Collection, Iterable, Sequence)


class Option(NamedTuple):
    """A keyword-only argument."""

    annotation: Any
    default: Any
    text: str
    group: Group


def arguments_by_name(function: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """Return annotations and defaults of keyword-only arguments."""
    arguments: dict[str, tuple[Any, Any]] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            arguments[parameter.name] = (parameter.annotation, parameter.default)
        for shared in filter(is_typeddict, get_args(parameter.annotation)):
            hints = get_type_hints(shared, include_extras=True)
            arguments |= {name: (hint, default_of(function, name)) for name, hint in hints.items()}
    return arguments


def options_of(function: Callable[..., Any], group: Group) -> dict[str, Option]:
    """Return the options for the arguments of a function."""
    return {
        name: Option(annotation, default, first_sentence(function, name), group)
        for name, (annotation, default) in arguments_by_name(function).items()
        if name not in GIVEN
    }


def default_of(function: Callable[..., Any], name: str) -> Any:
    """Return the default of an argument that stands in another signature."""
    found = described(function, name)[1]
    return None if found is None else parameters_of(found)[name].default


def described(function: Callable[..., Any], name: str) -> tuple[str, Callable[..., Any] | None]:
    """Return what the docstring says about an argument, and what it refers to."""
    text = shared = ""
    for names, lines in entries_of(function):
        if name in re.findall(r"\w+", names.partition(" : ")[0]):
            text = " ".join(lines.split())
        elif names.startswith("**"):
            shared = " ".join(lines.split())
    reference = re.match(r"See `ir_outcomes\.(\w+)`", text)
    if reference:
        return text, getattr(iro, reference[1])
    groups = [] if text else re.findall(r"`ir_outcomes\.(\w+)`", shared)
    functions = (getattr(iro, group) for group in groups)
    return text, next((other for other in functions if name in parameters_of(other)), None)


@cache
def entries_of(function: Callable[..., Any]) -> list[tuple[str, str]]:
    """Return the names and lines of the parameters in a docstring."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", inspect.getdoc(function) or "", re.M | re.S
    )
    return re.findall(r"^(\S.*)\n((?: .*\n?|\n)*)", section[1] if section else "", re.M)


@cache
def parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function."""
    return inspect.signature(function).parameters


def first_sentence(function: Callable[..., Any], name: str) -> str:
    """Return the first sentence about an argument."""
    text, other = described(function, name)
    if other is not None:
        return first_sentence(other, name)
    return re.sub(r"`+(?:ir_outcomes\.)?([^`]*)`+", r"\1", re.split(r"(?<=\.) ", text)[0])


def word_type(annotation: Any) -> Any:
    """Return the type of words that an annotation allows."""
    if get_origin(annotation) is Annotated:
        return word_type(get_args(annotation)[0])
    kinds = [annotation]
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = [
            get_args(kind)[0] if get_origin(kind) is Annotated else kind
            for kind in get_args(annotation)
            if kind is not type(None)
        ]
    for kind in kinds:
        if get_origin(kind) is Literal or kind in (bool, int, Path):
            return kind
    if float in kinds:
        return float
    for kind in kinds:
        if get_origin(kind) in ITEMS and not any(map(is_path, kinds)):
            item, *others = get_args(kind)
            if others in ([], [...]):
                return types.GenericAlias(list, word_type(item))
            return types.GenericAlias(tuple, (item, *others))
    return str


def is_path(kind: Any) -> bool:
    """Return whether an annotation allows paths."""
    return getattr(get_origin(kind) or kind, "__name__", "") == "PathLike"


def words_of(kind: Any, tokens: Sequence[Token]) -> Any:
    """Return words as they were given."""
    words = ["-" if token.value == STDIN else token.value for token in tokens]
    return words[0] if kind is str else words


def single_word(kind: Any, annotation: Any, tokens: Sequence[Token]) -> Any:
    """Read a number or a path as it is written."""
    word = tokens[-1].value
    if kind is int and not re.fullmatch("[+-]?[0-9]+", word):
        raise ValueError(f"{word!r} is not a whole number.")
    try:
        return kind(word)
    except ValueError:
        raise ValueError(f"{word!r} is not a number.") from None


def margins_of(kind: Any, tokens: Sequence[Token]) -> tuple[float, ...]:
    """Read margins by their units, else by their position."""
    if len(tokens) > 1:  # cyclopts takes the option for a list
        raise ValueError("--margins is given more than once; give it once.")
    units = ("pp", "ranks", "ranks-all")
    parts = [
        re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(pp|ranks|ranks-all)?\s*", part)
        for part in tokens[0].value.split(",")
    ]
    if len(parts) == 1 and parts[0] and not parts[0][2]:  # of values of a measure
        return (float(parts[0][1]),)
    named = {
        part[2] or unit: float(part[1]) for part, unit in zip(parts, units, strict=False) if part
    }
    margins = tuple(named[unit] for unit in units if unit in named)
    if len(named) < len(parts) or not {"pp", "ranks"} <= named.keys() or min(margins) == 0:
        raise ValueError(
            f"{tokens[0].value!r}: write two positive numbers, percentage points of coverage and"
            " ranks, or a third, ranks over all queries, with a comma and no space between them,"
            " such as 1pp,0.5ranks or 1pp,0.5ranks,1ranks-all. Numbers without a unit are read in"
            " this order. Of values of a measure write one number, such as 0.01."
        )
    return margins


def names_of(name: str) -> tuple[str, ...]:
    """Return the names of an option, its opposite last."""
    return NAMES.get(name, (f"--{name.replace('_', '-')}",))


def parameter(name: str, option: Option) -> inspect.Parameter:
    """Make an option for cyclopts."""
    kind = word_type(option.annotation)
    details: dict[str, Any] = {
        "name": names_of(name),
        "help": option.text,
        "group": option.group,
        "show_default": option.default not in (None, True, False, (), inspect.Parameter.empty),
    }
    if name == "margins":
        kind = tuple[float, ...]
        details |= {"converter": margins_of, "n_tokens": 1, "allow_leading_hyphen": True}
        details["metavar"] = "1pp,0.5ranks"
    elif kind in (str, list[str]):
        details["converter"] = words_of
    elif kind in (int, float, Path):
        details["converter"] = partial(single_word, kind)
    elif name == "range":
        details |= {"allow_leading_hyphen": True}
    elif name == "higher_is_better":
        details["name"], details["negative"] = names_of(name)
    if option.default is None:
        kind |= None
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=option.default,
        annotation=Annotated[kind, Parameter(**details)],
    )


def arguments_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Make the positional arguments of a command."""
    parameters = []
    for argument in inspect.signature(function).parameters.values():
        if argument.kind in (argument.POSITIONAL_ONLY, argument.POSITIONAL_OR_KEYWORD):
            kind: Any = str
            if argument.name in ("runs", "outputs", "measures", "means"):
                kind = list[str]
            if argument.default is None:
                kind |= None
            details = Parameter(
                name=argument.name.upper(),
                help=first_sentence(function, argument.name),
                converter=words_of,
                show_default=False,
            )
            annotation = Annotated[kind, details]
            parameters.append(
                argument.replace(kind=argument.POSITIONAL_ONLY, annotation=annotation)
            )
    return parameters
