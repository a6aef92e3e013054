"""The base of every result: immutable, comparable, shown in every format, and restored from JSON.

Showing a result needs packages that take long to import; they are imported when something is shown.
"""

from __future__ import annotations

import json
import math
import os
import platform
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date
from functools import cache, partial
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NoReturn,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from ir_outcomes.errors import FormatError, IrOutcomesError, ParameterError, escaped
from ir_outcomes.types import Columns, Mark, check_choice

if TYPE_CHECKING:
    from ir_outcomes.showing.report import ReportPage
    from ir_outcomes.showing.view import View

__all__ = ["OPTIONAL", "SCHEMA", "FrozenDict", "Immutable", "Result", "as_plain", "cells_of", "versions"]

SCHEMA = 1  # raised when JSON written by an earlier version can no longer be read
OPTIONAL = types.MappingProxyType({"optional": True})  # metadata of a field that JSON holds only on request
LONGEST_SUMMARY = 160

K = TypeVar("K")
V = TypeVar("V", covariant=True)
R = TypeVar("R", bound="Result")


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


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the packages that compute a result."""
    from importlib.metadata import version  # reads metadata only; importing the packages would take four times as long

    packages = {name: version(name) for name in ("ir-outcomes", "numpy", "scipy", "ir-measures")}
    return FrozenDict({**packages, "python": platform.python_version()})


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
    if isinstance(value, FrozenDict):
        return value
    if isinstance(value, Mapping):
        return FrozenDict({key: _frozen(item) for key, item in value.items()})
    if isinstance(value, list) or type(value) is tuple:  # named tuples hold scalars
        return tuple(map(_frozen, value))
    return value.item() if isinstance(value, np.generic) else value


class Result(Immutable):
    """Base of all results: frozen dataclasses with `notes` and `versions` among their fields.

    A subclass defines `rows` and `_summary`, and a view in `ir_outcomes.showing.views`. Its fields are of these types, which
    JSON can restore: bool, int, float, str, date, Literal, dataclasses, NamedTuple, tuple, Sequence (restored as a tuple),
    Mapping with str keys, and unions of these with None. A field with ``metadata=OPTIONAL`` needs a default; JSON holds it only
    on request.
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
        per_query
            See `to_dict`.
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
        try:
            restored: R = _restored_dataclass(cls, data)
        except _Invalid as invalid:
            raise FormatError(f"JSON of {cls.__name__}", invalid.message()) from None
        return restored

    @classmethod
    def from_json(cls: type[R], text: str | bytes) -> R:
        """Restore what `to_json` returned.

        Raises
        ------
        FormatError
            If `text` is not JSON, holds something else, or was written by an incompatible version.
        """
        source = f"JSON of {cls.__name__}"
        if not isinstance(text, (str, bytes, bytearray)):
            raise FormatError(source, f"needs the text that to_json returned, not a {type(text).__name__}")
        try:
            data = json.loads(text, parse_constant=_refuse_constant)
        except FormatError:
            raise
        except (ValueError, RecursionError) as error:
            raise FormatError(source, f"is not valid JSON ({error})") from None
        return cls.from_dict(data)

    def long_rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each test: the pair, the facet, the test, its estimate, interval, statistic and p-values.

        Raises
        ------
        ParameterError
            If the result holds no comparisons.
        """
        raise ParameterError(f"{type(self).__name__} has no row for each test; leave long=True out")

    def to_frame(self, *, long: bool = False) -> Any:
        """Return `rows` as a pandas data frame, or `long_rows`, one row for each test, where `long`.

        Raises
        ------
        MissingDependency
            If pandas is not installed.
        """
        from ir_outcomes.showing.formats import as_frame

        return as_frame(self.long_rows() if long else self.rows())

    def to_text(self, *, details: bool = False, rows: int | None = 20, columns: Columns = "default") -> str:
        """Return the result as text, folded at the width of the terminal.

        Parameters
        ----------
        details : bool
            Show everything, instead of the label, a small table and the notes that change how the label is read.
        rows : int, optional
            How many rows of a table are shown; None for all.
        columns : {"default", "paper"}
            "paper" shows comparisons with the columns of Tables 1 and 2 of Lin et al. 2021.
        """
        from ir_outcomes.showing import text

        return text.write(self.view(columns=columns), details=details, rows=rows)

    def to_csv(self, *, columns: Columns = "default", spreadsheet: bool = False) -> str:
        """Return `rows` as CSV with a header; the values are exact, and empty where there is none.

        Parameters
        ----------
        columns
            See `to_text`.
        spreadsheet : bool
            Put an apostrophe before text that a spreadsheet would compute as a formula: names that start with ``=``, ``+``,
            ``-``, ``@``, a tab or a carriage return. By default names are written exactly.
        """
        from ir_outcomes.showing.formats import as_csv

        check_choice("columns", columns, get_args(Columns))
        return as_csv(self.rows() if columns == "default" else self.paper_rows(), spreadsheet=spreadsheet)

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
        columns
            See `to_text`.
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

    def to_html(self, *, columns: Columns = "default", full: bool = False) -> str:
        """Return what `to_text` shows in HTML, with the details in a fold; everything is escaped.

        Parameters
        ----------
        columns
            See `to_text`.
        full : bool
            Return a whole page with character set, title and style, instead of a part of a page.
        """
        from ir_outcomes.showing.formats import as_html

        return as_html(self.view(columns=columns), full=full)

    def to_markdown(self, *, details: bool = False, rows: int | None = None, columns: Columns = "default") -> str:
        """Return what `to_text` shows in GitHub's Markdown, with all rows; everything is escaped.

        Parameters
        ----------
        details, rows, columns
            See `to_text`.
        """
        from ir_outcomes.showing.formats import as_markdown

        return as_markdown(self.view(columns=columns), details=details, rows=rows)

    def to_report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        evaluation: Any = None,
        docs: Any = None,
        max_mb: float = 5,
        slices: Any = None,
        command: str | None = None,
        inputs: tuple[str | os.PathLike[str], ...] = (),
    ) -> ReportPage:
        """Write the result as one HTML page that opens without a network: the numbers, and every query behind them.

        A notebook shows the page in a frame.

        Parameters
        ----------
        path : path, optional
            Where the page is written.
        evaluation : Evaluation, or mapping of str to Evaluation, optional
            What the result was made from, by the name of the collection or judge where there are several; without it the page
            has no curve and no ranked lists. With ``evaluate(..., documents=20)`` the runs need not be read again.
        docs, max_mb, slices, command, inputs
            See `ir_outcomes.report`.

        Returns
        -------
        ReportPage
            With the page as ``html``.

        Raises
        ------
        ParameterError
            If the evaluation is not that of the result, or the page cannot be written.
        MissingDependency
            If Jinja2 is not installed.
        """
        from ir_outcomes.showing.report import report_of

        return report_of(
            self, path, evaluation=evaluation, docs=docs, max_mb=max_mb, slices=slices, command=command, inputs=inputs
        )

    def plot(self, kind: str | None = None, ax: Any = None) -> Any:
        """Draw a figure with matplotlib; the class says which kinds there are, and the first is the default.

        A notebook shows the figure under the cell, ``plt.show()`` in a script shows it. Scripts that draw many figures close
        each with ``plt.close(axes.figure)``.

        Parameters
        ----------
        kind : str, optional
            Which figure.
        ax : matplotlib Axes or Figure, optional
            Where to draw; by default on a new figure of pyplot. An empty ``matplotlib.figure.Figure()`` is resized to what the
            drawing needs, and needs neither a display nor closing.

        Returns
        -------
        matplotlib Axes
            Its ``.figure`` is the figure; ``.figure.savefig("name.pdf")`` embeds TrueType fonts.

        Raises
        ------
        ParameterError
            If there is no such figure of this result.
        MissingDependency
            If matplotlib is not installed.
        """
        from ir_outcomes.showing.figures import draw

        return draw(self, kind, ax)

    def view(self, *, columns: Columns = "default") -> View:
        """Return what every format shows of the result: label, sentences, tables and notes, as text that is not yet escaped.

        Raises
        ------
        ParameterError
            If the result does not have these columns.
        """
        from ir_outcomes.showing.views import view_of
        from ir_outcomes.showing.views.comparison import paper_view

        check_choice("columns", columns, get_args(Columns))
        if columns == "default":
            return view_of(self)
        if not self.has_paper_columns:
            raise self._no_paper_columns()
        return paper_view(self)

    def _no_paper_columns(self) -> ParameterError:
        return ParameterError(f"columns='paper' is for comparisons; {type(self).__name__} has columns='default' only")

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


def cells_of(source: object, *columns: str, prefix: str = "") -> dict[str, Any]:
    """Take attributes of an object as columns of a row; None where the object, or something on the way to it, is None.

    Parameters
    ----------
    source : object
        Where the values are.
    columns : str
        A column with the name of its attribute, or ``column=attribute``, such as ``"p=test.pvalue"``.
    prefix : str
        Of the names of all columns.

    Examples
    --------
    >>> cells_of(date(2021, 2, 28), "year", "of_month=day", prefix="date_")
    {'date_year': 2021, 'date_of_month': 28}
    """
    row = {}
    for column in columns:
        name, _, path = column.partition("=")
        value: Any = source
        for attribute in (path or name).split("."):
            value = None if value is None else getattr(value, attribute)
        row[f"{prefix}{name}"] = value
    return row


def as_plain(value: Any, *, per_query: bool = False) -> Any:
    """Turn a dataclass and what it holds into dicts, lists, text and numbers."""
    if type(value) in _SCALARS and not isinstance(value, date):  # most values of a large result
        return value
    if is_dataclass(value) and not isinstance(value, type):
        head = {"schema": SCHEMA, "kind": type(value).__name__} if isinstance(value, Result) else {}
        return head | {
            field.name: as_plain(getattr(value, field.name), per_query=per_query)
            for field in fields(value)
            if per_query or not field.metadata.get("optional")
        }
    if isinstance(value, Mapping):
        return {key: as_plain(item, per_query=per_query) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_plain(item, per_query=per_query) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value.isoformat() if isinstance(value, date) else value


def _refuse_constant(name: str) -> NoReturn:
    raise FormatError("JSON", f"holds {name}, which is not JSON and no value of a result")


class _Invalid(Exception):  # never leaves this module
    """A value that the type of its field does not allow; the path grows on the way up, so that valid values cost nothing."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.path = ""

    def below(self, step: str) -> _Invalid:
        self.path = f"{step}{self.path}"
        return self

    def message(self) -> str:
        return f"{self.path.lstrip('.')}: {self}" if self.path else str(self)


Restorer = Callable[[Any], Any]


def _restored_at(key: str, restore: Restorer, item: Any) -> Any:
    try:
        return restore(item)
    except _Invalid as invalid:
        raise invalid.below(f".{key}") from None


@cache
def _restorer(kind: Any) -> Restorer:
    """Return the function that turns what JSON gave back into this type, or raises `_Invalid`.

    It is built once for each type, because a comparison holds a row for each of thousands of queries.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _SCALARS:
        return _SCALARS[kind]
    if origin in (Union, types.UnionType):
        return _restorer_of_union(arguments)
    if origin is Literal:
        return _restorer_of_choices(arguments)
    if origin is tuple:
        return _restorer_of_tuple(arguments)
    if origin is Sequence:
        return _restorer_of_tuple((*arguments, Ellipsis))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _restorer_of_mapping(arguments[1])
    if is_dataclass(kind):
        return partial(_restored_dataclass, kind)
    if isinstance(kind, type) and issubclass(kind, tuple):  # a NamedTuple
        restore_tuple = _restorer_of_tuple(tuple(get_type_hints(kind).values()))
        return lambda value: kind(*restore_tuple(value))
    raise TypeError(f"results cannot hold {kind}: JSON would not restore it")


def _restorer_of_scalar(what: str, is_valid: Callable[[Any], bool]) -> Restorer:
    def restored(value: Any) -> Any:
        if is_valid(value):
            return value
        raise _not(what, value)

    return restored


def _restored_float(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:  # an integer beyond the largest float
            number = math.inf
        if math.isfinite(number):
            return number
    raise _not("a finite number", value)


def _restored_date(value: Any) -> date:
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise _not("a date such as 2021-02-28", value) from None


_SCALARS: dict[Any, Restorer] = {
    bool: _restorer_of_scalar("true or false", lambda value: isinstance(value, bool)),
    int: _restorer_of_scalar("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    float: _restored_float,
    str: _restorer_of_scalar("text", lambda value: isinstance(value, str)),
    date: _restored_date,
    type(None): _restorer_of_scalar("null", lambda value: value is None),
}


def _restorer_of_union(kinds: tuple[Any, ...]) -> Restorer:
    may_be_none = type(None) in kinds
    *others, last = (_restorer(kind) for kind in kinds if kind is not type(None))

    def restored(value: Any) -> Any:
        if value is None and may_be_none:
            return None
        for restore in others:
            with suppress(_Invalid):
                return restore(value)
        return last(value)  # or says what is wrong

    return restored


def _restorer_of_choices(choices: tuple[Any, ...]) -> Restorer:
    def restored(value: Any) -> Any:
        if isinstance(value, (str, int)) and value in choices:
            return value
        raise _not(f"one of {', '.join(map(str, choices))}", value)

    return restored


def _restorer_of_tuple(kinds: tuple[Any, ...]) -> Restorer:
    is_homogeneous = kinds[-1] is Ellipsis
    restorers = tuple(_restorer(kind) for kind in kinds if kind is not Ellipsis)

    def restored(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise _not("a list", value)
        if not is_homogeneous and len(value) != len(restorers):
            raise _Invalid(f"must be a list of {len(restorers)}, not of {len(value)}")
        chosen = restorers * len(value) if is_homogeneous else restorers
        items: list[Any] = []
        try:  # once for all items, because a comparison has many thousands
            for restore, item in zip(chosen, value, strict=True):
                items.append(restore(item))
        except _Invalid as invalid:
            raise invalid.below(f"[{len(items)}]") from None
        return tuple(items)

    return restored


def _restorer_of_mapping(kind: Any) -> Restorer:
    restore = _restorer(kind)

    return lambda value: FrozenDict({key: _restored_at(key, restore, item) for key, item in _object(value).items()})


def _restored_dataclass(kind: Any, value: Any) -> Any:
    values = dict(_object(value))
    if issubclass(kind, Result):
        _check_envelope(kind, values)
    restorers = _restorers_of_fields(kind)
    unknown = [key for key in values if key not in restorers]
    if unknown:
        raise _Invalid(f"has the unknown key {unknown[0]!r}")
    missing = [field.name for field in fields(kind) if field.name not in values and not _has_default(field)]
    if missing:
        raise _Invalid(f"lacks the key {missing[0]!r}")
    restored = {name: _restored_at(name, restorers[name], item) for name, item in values.items()}
    try:
        return kind(**restored)
    except IrOutcomesError as error:  # a combination of values that the class refuses
        raise _Invalid(str(error)) from None


@cache
def _restorers_of_fields(kind: Any) -> dict[str, Restorer]:
    hints = get_type_hints(kind)
    return {field.name: _restorer(hints[field.name]) for field in fields(kind)}


def _check_envelope(kind: type[Result], values: dict[str, Any]) -> None:
    """Take schema and kind from the values, and check that this class can be restored from them."""
    schema, name = values.pop("schema", None), values.pop("kind", None)
    if schema is None or name is None:
        missing = "schema" if schema is None else "kind"
        raise _Invalid(
            f"lacks the key {missing!r}: it was not written by to_json, or by a version before results had a schema number"
        )
    if name != kind.__name__:
        raise _Invalid(f"holds a result of kind {name!r}, which its own class reads")
    if schema != SCHEMA or isinstance(schema, bool):
        raise _Invalid(f"has the schema {schema!r}, and this version reads {SCHEMA}; compute the result again")


def _object(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return value
    raise _not("an object", value)


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _not(what: str, value: object) -> _Invalid:
    shown = repr(value)
    return _Invalid(f"must be {what}, not {shown if len(shown) <= 60 else f'{shown[:57]}...'}")
