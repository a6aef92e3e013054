"""Checks of arguments by the annotations of public functions."""

import inspect
import os
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, wraps
from numbers import Integral, Real
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Self,
    TypeVar,
    Union,
    Unpack,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ir_outcomes.choices import Bounds, OneOrder
from ir_outcomes.errors import ParameterError, some

if TYPE_CHECKING:
    from ir_outcomes.choices import Floats

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
TEXTS = (str, bytes, bytearray)
# What is said of a kind; of other classes their name.
WORDS = {
    str: "a text",
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    "PathLike": "a path",
    "Callable": "a function",
    "Evaluation": "what ir_outcomes.evaluate returns, or a file that it was saved to",
    "Comparison": "what ir_outcomes.compare returns for one contender",
    "Comparisons": "what ir_outcomes.compare returns for several contenders",
}


def checked(function: F) -> F:
    """Let a function refuse arguments that its signature does not name."""
    signature = inspect.signature(function)
    # Whether all arguments have a name, also those behind ``**``.
    is_closed = all(
        parameter.kind is not parameter.VAR_KEYWORD or get_origin(parameter.annotation) is Unpack
        for parameter in signature.parameters.values()
    )

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        kinds = _kinds(function)
        for name in filter(lambda name: name not in kinds and is_closed, options):
            like = get_close_matches(name, kinds, 1)
            hint = f"; did you mean {like[0]}?" if like else ""
            raise ParameterError(f"{function.__name__} has no argument {name}{hint}")
        try:
            bound = signature.bind(*arguments, **options).arguments
        except TypeError as error:
            names = [name for name in kinds if name != "self"]
            raise ParameterError(
                f"{function.__name__}: {error}; it takes {some(names, len(names))}"
            ) from None
        for name, value in bound.items():
            given = {name: value}
            if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                given = value
            for argument, item in given.items():
                kind = kinds.get(argument, Any)
                check_argument(argument, item, type(arguments[0]) if kind is Self else kind)
        return function(*arguments, **options)

    return cast(F, call)


def with_checked_methods(cls: C) -> C:
    """Check the arguments of the public methods of a class."""
    for name, method in list(vars(cls).items()):
        if inspect.isfunction(method) and not name.startswith("_"):
            setattr(cls, name, checked(method))
    return cls


@cache
def _kinds(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of arguments, also of those behind ``**``."""
    kinds: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        kind = parameter.annotation
        if parameter.kind is parameter.VAR_KEYWORD:
            for shared in filter(is_typeddict, get_args(kind)):
                kinds |= get_type_hints(shared, include_extras=True)
        elif kind is not parameter.empty and not isinstance(kind, str):
            kinds[name] = kind if parameter.default is not None else kind | None
    return kinds


def separated(options: Mapping[str, Any], group: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options that a group has, and all others."""
    names = group.__annotations__
    others = {name: value for name, value in options.items() if name not in names}
    return {name: options[name] for name in names if name in options}, others


def check_argument(name: str, value: Any, kind: Any) -> None:
    """Refuse a value that is of no kind that an annotation names."""
    if fits(value, kind):
        return
    choices = [
        choice for one in _members(kind) if get_origin(one) is Literal for choice in get_args(one)
    ]
    if choices and isinstance(value, str):
        raise ParameterError(f"must be one of {', '.join(map(str, choices))}", **{name: value})
    for one in _members(kind):
        if get_origin(one) is Annotated and fits(value, get_args(one)[0]):
            raise ParameterError(f"must be {_words(one)}", **{name: value})
    raise ParameterError(f"`{name}` is of type {type(value).__name__}; it must be {_words(kind)}")


def fits(value: Any, kind: Any) -> bool:
    """Return whether a value is of a kind, as annotations name it."""
    origin, items = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, item) for item in items)
    if origin is Literal:
        return isinstance(value, (str, bool, int)) and value in items
    if origin is Annotated:
        return fits(value, items[0]) and all(is_within(value, bounds) for bounds in items[1:])
    if kind is bool:
        return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")
    if kind in (int, float):
        return isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool)
    if origin is Callable:
        return callable(value)
    if origin in (Sequence, Collection, Iterable, list, tuple):
        return _is_list(value, origin) and _items_fit(value, items)
    if not isinstance(origin or kind, type):
        return True
    if kind.__name__ == "Evaluation" and isinstance(value, (str, os.PathLike)):
        return str(value).endswith(".npz")  # a saved one
    if not isinstance(value, origin or kind):
        return False
    if isinstance(value, Mapping) and items:
        return _all_fit(value, items[0]) and _all_fit(value.values(), items[1])
    return True


def _all_fit(values: Collection[Any], kind: Any) -> bool:
    """Return whether all values are of a kind, looking at each class once."""
    if isinstance(kind, type) and kind not in (Any, bool, int, float):
        return all(issubclass(cls, kind) for cls in set(map(type, values)))
    return all(fits(value, kind) for value in values)


def is_within(value: Any, bounds: Bounds) -> bool:
    """Return whether a number is within bounds, which whole numbers may equal."""
    number = float(value)
    if isinstance(value, Integral) and isinstance(bounds.low, int):
        return bounds.low <= number <= bounds.high
    return bounds.low < number < bounds.high


def _is_list(value: Any, origin: Any) -> bool:
    """Return whether a value holds items, in an order where that is asked for."""
    if isinstance(value, (*TEXTS, Mapping)) or hasattr(value, "columns"):
        return False
    if origin in (Collection, Iterable):
        return isinstance(value, origin)
    return isinstance(value, Sequence) or getattr(value, "ndim", 0) == 1


def _items_fit(value: Any, kinds: tuple[Any, ...]) -> bool:
    """Return whether the items are of a kind, without using up an iterator."""
    if not isinstance(value, Collection) or not kinds:
        return True
    if len(kinds) > 1 and kinds[1] is not ...:
        return len(value) == len(kinds) and all(map(fits, value, kinds))
    return _all_fit(value, kinds[0])


def _members(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _words(kind: Any) -> str:
    """Say what kinds an annotation names."""
    words = []
    for member in _members(kind):
        origin, items = get_origin(member), get_args(member)
        name = getattr(origin or member, "__name__", str(member))
        if member is type(None):
            continue
        if origin is Annotated and items[0] is int:
            words.append(f"a whole number, {items[1].low} or more, at most {items[1].high:,}")
        elif origin is Annotated:
            words.append(f"a number between {items[1].low:g} and {items[1].high:g}")
        elif origin is Literal:
            words.append(f"one of {', '.join(map(str, items))}")
        elif origin is Mapping:
            words.append("a mapping")
        elif origin in (Sequence, Collection, Iterable, list, tuple):
            words.append("a list" if items[0] is Any else f"a list, each item {_words(items[0])}")
        else:
            words.append(WORDS.get(member) or WORDS.get(name) or f"a {name}")
    return " or ".join(dict.fromkeys(words)) or "None"


def numbers(name: str, values: Any) -> "Floats":
    """Convert to a one-dimensional array of finite numbers."""
    import numpy as np

    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ParameterError(
            f"{name} has the shape {array.shape}: must be a list of numbers, one dimension"
        )
    if not np.isfinite(array).all():
        raise ParameterError(
            f"{name} holds NaN or an infinity: must be finite numbers; leave out what has no value"
        )
    return array


def check_fields(instance: Any) -> None:
    """Refuse fields of a dataclass of kinds that its annotations do not name."""
    for name, kind in get_type_hints(type(instance), include_extras=True).items():
        check_argument(name, getattr(instance, name), kind)


def check_one_order(ties: str, subject: str = "") -> None:
    """Refuse the tie rule that stands for many orders."""
    if ties == "expected":
        rules = ", ".join(map(repr, get_args(OneOrder)))
        raise ParameterError(
            f"{subject}`ties='expected'` gives no single order to compare; use one of {rules}"
        )
