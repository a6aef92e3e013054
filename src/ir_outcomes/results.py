"""The base of every result: immutable, comparable, shown in every format, and restored from JSON.

Showing a result needs packages that take long to import; they are imported when something is shown.
"""

from __future__ import annotations

import json
import math
import platform
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    NoReturn,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from ir_outcomes._checks import check_choice
from ir_outcomes._types import Columns, Mark
from ir_outcomes.errors import FormatError, IrOutcomesError, ParameterError, escaped

if TYPE_CHECKING:
    from ir_outcomes.showing.view import View

__all__ = ["OPTIONAL", "SCHEMA", "FrozenDict", "Immutable", "Result", "as_plain", "versions"]

SCHEMA = 1  # raised when JSON written by an earlier version can no longer be read
OPTIONAL = types.MappingProxyType({"optional": True})  # metadata of a field that JSON holds only on request
LONGEST_SUMMARY = 160

K = TypeVar("K")
V = TypeVar("V", covariant=True)
R = TypeVar("R", bound="Result")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute a result."""
    from importlib.metadata import version  # reads metadata only; importing the packages would take four times as long

    packages = {name: version(name) for name in ("ir-outcomes", "numpy", "scipy", "ir-measures")}
    return {**packages, "python": platform.python_version()}


class FrozenDict(Mapping[K, V]):
    """A mapping that cannot be changed; equal to any mapping with the same items, hashable if its values are.

    `types.MappingProxyType` can be neither hashed nor pickled.

    Examples
    --------
    >>> shares = FrozenDict({"won": 0.25, "lost": 0.75})
    >>> shares["won"], shares == {"lost": 0.75, "won": 0.25}
    (0.25, True)
    >>> shares["won"] = 1.0
    Traceback (most recent call last):
    TypeError: 'FrozenDict' object does not support item assignment
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[K, V]) -> None:
        object.__setattr__(self, "_items", dict(items))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a FrozenDict cannot be changed: {name}")

    def __getitem__(self, key: K) -> V:
        return self._items[key]  # type: ignore[attr-defined,no-any-return]  # set with object.__setattr__

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self._items)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


class Immutable:
    """Base of frozen dataclasses whose fields hold mappings or sequences: these become immutable, too.

    A field holds computed values only. What is computed on request is a method or a property, so that ``==``, ``hash`` and
    JSON never compute anything.
    """

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            object.__setattr__(self, field.name, _frozen(getattr(self, field.name)))


def _frozen(value: Any) -> Any:
    """Replace mappings by `FrozenDict`, lists by tuples, and NumPy scalars by Python's numbers."""
    if isinstance(value, Mapping):
        return FrozenDict({key: _frozen(item) for key, item in value.items()})
    if isinstance(value, list) or type(value) is tuple:  # named tuples hold scalars
        return tuple(map(_frozen, value))
    return value.item() if isinstance(value, np.generic) else value


class Result(Immutable):
    """Base of all results: frozen dataclasses with `notes` and `versions` among their fields.

    A subclass defines `rows` and `_summary`, and a view in `ir_outcomes.showing.views`. Its fields are of these types, which
    JSON can restore: bool, int, float, str, date, Literal, dataclasses, NamedTuple, tuple, Mapping with str keys, and unions
    of these with None. A field with ``metadata=OPTIONAL`` needs a default; JSON holds it only on request.
    """

    has_paper_columns: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A dataclass replaces an inherited __repr__ by one that lists every field: a megabyte for a large leaderboard.
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def rows(self) -> list[dict[str, Any]]:
        """Return the result as a list of flat rows with exact values; None where there is no value."""
        raise NotImplementedError

    def paper_rows(self) -> list[dict[str, Any]]:
        """Return the columns of Tables 1 and 2 of Lin et al. 2021 as flat rows with exact values; only comparisons have them.

        Raises
        ------
        ParameterError
            If the result is not a comparison.
        """
        raise self._no_paper_columns()

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return the result as dicts, lists, text and numbers, with the schema number and the kind of the result.

        Parameters
        ----------
        per_query : bool
            Include the values of each query, where the result has them.
        """
        result: dict[str, Any] = as_plain(self, per_query=per_query)
        return result

    def to_json(self, *, per_query: bool = False, indent: int | None = None) -> str:
        """Return `to_dict` as JSON, without NaN or infinity.

        Parameters
        ----------
        per_query : bool
            Include the values of each query, where the result has them.
        indent : int, optional
            Spaces for each level; by default everything is on one line.
        """
        return json.dumps(self.to_dict(per_query=per_query), ensure_ascii=False, allow_nan=False, indent=indent)

    @classmethod
    def from_dict(cls: type[R], data: Mapping[str, Any]) -> R:
        """Restore what `to_dict` returned.

        Raises
        ------
        FormatError
            If `data` is something else, or was written by an incompatible version.
        """
        restored: R = _restored(cls, data, _Place(f"the JSON of a {cls.__name__}"))
        return restored

    @classmethod
    def from_json(cls: type[R], text: str | bytes) -> R:
        """Restore what `to_json` returned.

        Raises
        ------
        FormatError
            If `text` is not JSON, holds something else, or was written by an incompatible version.
        """
        source = f"the JSON of a {cls.__name__}"
        if not isinstance(text, (str, bytes, bytearray)):
            raise FormatError(source, f"needs the text that to_json returned, not a {type(text).__name__}")
        try:
            data = json.loads(text, parse_constant=_refuse_constant)
        except FormatError:
            raise
        except (ValueError, RecursionError) as error:
            raise FormatError(source, f"is not valid JSON ({error})") from None
        return cls.from_dict(data)

    def to_frame(self) -> Any:
        """Return `rows` as a pandas data frame.

        Raises
        ------
        MissingDependency
            If pandas is not installed.
        """
        from ir_outcomes.showing.frames import data_frame

        return data_frame(self.rows())

    def to_text(self, *, columns: Columns = "default", sentences: bool | None = None) -> str:
        """Return the result as text: tables as wide as they need, sentences and notes in 80 columns.

        Parameters
        ----------
        columns : {"default", "paper"}
            "paper" shows comparisons with the columns of Tables 1 and 2 of Lin et al. 2021.
        sentences : bool, optional
            Whether a sentence explains each verdict; by default for up to 3 contenders.
        """
        from ir_outcomes.showing import text

        return text.write(self.view(columns=columns, sentences=sentences))

    def to_csv(self, *, columns: Columns = "default", spreadsheet: bool = False) -> str:
        """Return `rows` as CSV with a header; the values are exact, and empty where there is none.

        Parameters
        ----------
        columns : {"default", "paper"}
            "paper" writes comparisons with the columns of Tables 1 and 2 of Lin et al. 2021.
        spreadsheet : bool
            Put an apostrophe before text that a spreadsheet would compute as a formula: names that start with ``=``, ``+``,
            ``-``, ``@``, a tab or a carriage return. By default names are written exactly.
        """
        from ir_outcomes.showing import csv_

        check_choice("columns", columns, get_args(Columns))
        return csv_.write(self.rows() if columns == "default" else self.paper_rows(), spreadsheet=spreadsheet)

    def to_latex(
        self,
        *,
        columns: Columns = "default",
        caption: bool | str = False,
        label: str | None = None,
        wide: bool = False,
        mark: tuple[Mark, ...] = (),
    ) -> str:
        r"""Return the tables in LaTeX; they need ``\usepackage{booktabs}``. Everything is escaped.

        Parameters
        ----------
        columns : {"default", "paper"}
            "paper" shows comparisons with the columns of Tables 1 and 2 of Lin et al. 2021.
        caption : bool or str
            True puts each table into a float with the result's own caption; text is used as the caption instead and is taken
            as LaTeX. By default the caption is a comment.
        label : str, optional
            Put the table into a float with this ``\label``; of several tables the second gets ``-2`` at the end, and so on.
        wide : bool
            Put the table into a float over both columns, ``table*``.
        mark : tuple of {"best", "significant"}
            Print the best value of each column in bold; mark significant differences with a dagger.

        Raises
        ------
        ParameterError
            If the label holds characters that LaTeX does not allow in labels, or a choice is invalid.
        """
        from ir_outcomes.showing import latex

        return latex.write(self.view(columns=columns), caption=caption, label=label, wide=wide, mark=mark)

    def to_html(self, *, columns: Columns = "default", sentences: bool | None = None, full: bool = False) -> str:
        """Return the tables, sentences and notes in HTML; everything is escaped.

        Parameters
        ----------
        columns : {"default", "paper"}
            "paper" shows comparisons with the columns of Tables 1 and 2 of Lin et al. 2021.
        sentences : bool, optional
            Whether a sentence explains each verdict; by default for up to 3 contenders.
        full : bool
            Return a whole page with character set, title and style, instead of a part of a page.
        """
        from ir_outcomes.showing import html

        return html.write(self.view(columns=columns, sentences=sentences), full=full)

    def to_markdown(self, *, columns: Columns = "default", sentences: bool | None = None) -> str:
        """Return the tables, sentences and notes in GitHub's Markdown; everything is escaped.

        Parameters
        ----------
        columns : {"default", "paper"}
            "paper" shows comparisons with the columns of Tables 1 and 2 of Lin et al. 2021.
        sentences : bool, optional
            Whether a sentence explains each verdict; by default for up to 3 contenders.
        """
        from ir_outcomes.showing import markdown

        return markdown.write(self.view(columns=columns, sentences=sentences))

    def plot(self, kind: str | None = None, ax: Any = None) -> Any:
        """Draw a picture with matplotlib; the class says which kinds there are, and the first is the default.

        Parameters
        ----------
        kind : str, optional
            Which picture.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure, which is ``.figure`` of what is returned.

        Raises
        ------
        ParameterError
            If there is no such picture of this result.
        MissingDependency
            If matplotlib is not installed.
        """
        from ir_outcomes.showing.pictures import draw

        return draw(self, kind, ax)

    def view(self, *, columns: Columns = "default", sentences: bool | None = None) -> View:
        """Return what every format shows of the result: tables, statements and notes, as text that is not yet escaped.

        Raises
        ------
        ParameterError
            If the result does not have these columns.
        """
        from ir_outcomes.showing.view import Layout
        from ir_outcomes.showing.views import view_of

        if columns == "paper" and not self.has_paper_columns:
            raise self._no_paper_columns()
        return view_of(self, Layout(columns, sentences))

    def _no_paper_columns(self) -> ParameterError:
        return ParameterError(f"columns='paper' is for comparisons; a {type(self).__name__} has columns='default' only")

    def _summary(self) -> str:
        """Describe the result in a few words, for its `repr`: main names and counts."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        summary = escaped(self._summary())
        shown = summary if len(summary) <= LONGEST_SUMMARY else f"{summary[: LONGEST_SUMMARY - 3]}..."
        return f"<{type(self).__name__}: {shown}>"

    def __str__(self) -> str:
        return self.to_text()


def as_plain(value: Any, *, per_query: bool = False) -> Any:
    """Turn a dataclass and what it holds into dicts, lists, text and numbers."""
    if is_dataclass(value) and not isinstance(value, type):
        head = {"schema": SCHEMA, "kind": type(value).__name__} if isinstance(value, Result) else {}
        return head | {
            field.name: as_plain(getattr(value, field.name), per_query=per_query)
            for field in fields(value)
            if per_query or not _is_optional(field)
        }
    if isinstance(value, Mapping):
        return {key: as_plain(item, per_query=per_query) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [as_plain(item, per_query=per_query) for item in value]
    return value.isoformat() if isinstance(value, date) else value


def _is_optional(field: Field[Any]) -> bool:
    return bool(field.metadata.get("optional", False))


def _refuse_constant(name: str) -> NoReturn:
    raise FormatError("JSON", f"holds {name}, which is not JSON and no value of a result")


class _Place(NamedTuple):
    """Where in the JSON a value is, for messages."""

    source: str
    path: str = ""

    def at(self, key: object) -> _Place:
        path = f"{self.path}[{key}]" if isinstance(key, int) else f"{self.path}.{key}".lstrip(".")
        return self._replace(path=path)

    def error(self, problem: str) -> FormatError:
        return FormatError(self.source, f"{self.path}: {problem}" if self.path else problem)

    def expected(self, what: str, value: object) -> FormatError:
        shown = repr(value)
        return self.error(f"must be {what}, not {shown if len(shown) <= 60 else f'{shown[:57]}...'}")


def _restored(kind: Any, value: Any, place: _Place) -> Any:
    """Turn what JSON gave back into the type that a field declares, or say what is wrong with it."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if kind is None or kind is type(None):
        return _checked(value, value is None, "null", place)
    if origin in (Union, types.UnionType):
        return _restored_union(arguments, value, place)
    if origin is Literal:
        return _checked(value, isinstance(value, str) and value in arguments, f"one of {', '.join(map(str, arguments))}", place)
    if origin is tuple:
        return _restored_tuple(arguments, value, place)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        _checked(value, isinstance(value, Mapping) and all(isinstance(key, str) for key in value), "an object", place)
        return FrozenDict({key: _restored(arguments[1], item, place.at(key)) for key, item in value.items()})
    if is_dataclass(kind):
        return _restored_dataclass(kind, value, place)
    if isinstance(kind, type) and issubclass(kind, tuple):  # a NamedTuple
        restored = _restored_tuple(tuple(_hints(kind).values()), value, place)
        return kind(*restored)
    return _restored_scalar(kind, value, place)


def _restored_scalar(kind: Any, value: Any, place: _Place) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is bool:
        return _checked(value, isinstance(value, bool), "true or false", place)
    if kind is int:
        return _checked(value, isinstance(value, int) and is_number, "a whole number", place)
    if kind is float:
        try:
            is_finite = is_number and math.isfinite(value)
        except OverflowError:  # an integer beyond the largest float
            is_finite = False
        return float(_checked(value, is_finite, "a finite number", place))
    if kind is str:
        return _checked(value, isinstance(value, str), "text", place)
    if kind is date:
        try:
            return date.fromisoformat(_checked(value, isinstance(value, str), "a date", place))
        except ValueError:
            raise place.expected("a date such as 2021-02-28", value) from None
    raise TypeError(f"results cannot hold a {kind}: JSON would not restore it")


def _restored_union(kinds: tuple[Any, ...], value: Any, place: _Place) -> Any:
    chosen = [kind for kind in kinds if kind is not type(None)]
    if value is None and len(chosen) < len(kinds):
        return None
    for kind in chosen[:-1]:
        try:
            return _restored(kind, value, place)
        except FormatError:  # the last kind says what is wrong
            continue
    return _restored(chosen[-1], value, place)


def _restored_tuple(kinds: tuple[Any, ...], value: Any, place: _Place) -> tuple[Any, ...]:
    _checked(value, isinstance(value, (list, tuple)), "a list", place)
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    elif len(kinds) != len(value):
        raise place.error(f"must be a list of {len(kinds)}, not of {len(value)}")
    return tuple(_restored(kind, item, place.at(number)) for number, (kind, item) in enumerate(zip(kinds, value, strict=True)))


def _restored_dataclass(kind: Any, value: Any, place: _Place) -> Any:
    _checked(value, isinstance(value, Mapping), "an object", place)
    hints = _hints(kind)
    known = {field.name: field for field in fields(kind)}
    if issubclass(kind, Result):
        _check_envelope(kind, value, place)
    unknown = [str(key) for key in value if key not in known and not (issubclass(kind, Result) and key in ("schema", "kind"))]
    if unknown:
        raise place.error(f"has the unknown key {unknown[0]!r}")
    missing = [name for name, field in known.items() if name not in value and not _has_default(field)]
    if missing:
        raise place.error(f"lacks the key {missing[0]!r}")
    values = {name: _restored(hints[name], value[name], place.at(name)) for name in known if name in value}
    try:
        return kind(**values)
    except FormatError:
        raise
    except IrOutcomesError as error:  # a combination of values that the class refuses
        raise place.error(str(error)) from None


def _check_envelope(kind: type[Result], value: Mapping[str, Any], place: _Place) -> None:
    if "schema" not in value or "kind" not in value:
        missing = "kind" if "schema" in value else "schema"
        raise place.error(
            f"lacks the key {missing!r}: it was not written by to_json, or by a version before results had a schema number"
        )
    if value["kind"] != kind.__name__:
        raise place.error(f"holds a result of kind {value['kind']!r}; it is read by the from_json of that class")
    if value["schema"] != SCHEMA or isinstance(value["schema"], bool):
        raise place.error(f"has the schema {value['schema']!r}, and this version reads {SCHEMA}; write the result again")


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _checked(value: Any, is_valid: bool, what: str, place: _Place) -> Any:
    if not is_valid:
        raise place.expected(what, value)
    return value


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    """Return the types of a class's fields; evaluating the annotations takes longer than everything else here."""
    return get_type_hints(kind)
