"""The base of every result: immutable, comparable, shown in every format.

What shows a result lies above this module, and is imported when something is shown: `SHOWN_BY`
names it.
"""

import json
import os
import platform
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from ir_outcomes.arguments import checked, with_checked_methods
from ir_outcomes.choices import Mark, Positive
from ir_outcomes.errors import FormatError, escaped, shortened
from ir_outcomes.notes import Note

# Raised when JSON written by an earlier version can no longer be read, or would be misread.
SCHEMA = 4
# Metadata of a field that JSON holds only on request.
OPTIONAL = types.MappingProxyType({"optional": True})
LONGEST_SUMMARY = 160

# "module:function" by what it makes of a result; filled by `ir_outcomes`, the only edge upwards.
SHOWN_BY: dict[str, str] = {}

K = TypeVar("K")
V = TypeVar("V", covariant=True)
R = TypeVar("R", bound="Result")


class FrozenDict(Mapping[K, V]):
    """A mapping that cannot be changed, and is hashable if its values are."""

    # types.MappingProxyType can be neither hashed nor pickled.
    __slots__ = ("_items",)

    def __init__(self, items: Mapping[K, V]) -> None:
        self._items: dict[K, Any] = dict(items)

    def __getitem__(self, key: K) -> V:
        item: V = self._items[key]
        return item

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return repr(dict(self))


def shown(form: str, *arguments: Any, **options: Any) -> Any:
    """Call a function of `SHOWN_BY`, which is imported with the first call."""
    module, _, function = SHOWN_BY[form].partition(":")
    return checked(getattr(import_module(module), function))(*arguments, **options)


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the packages that compute a result."""
    # They are imported before a result is made; reading their metadata would take longer.
    import ir_measures
    import numpy
    import scipy

    from ir_outcomes import __version__

    packages = {"numpy": numpy, "scipy": scipy, "ir-measures": ir_measures}
    of_packages = {name: package.__version__ for name, package in packages.items()}
    return FrozenDict(
        {"ir-outcomes": __version__, **of_packages, "python": platform.python_version()}
    )


class Immutable:
    """Base of frozen dataclasses whose mappings and sequences become immutable, too."""

    # A field holds computed values; but the papers' tests and the queries of a pair are computed
    # when they are asked for, as ``==`` and JSON do.

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            object.__setattr__(self, item.name, _frozen(getattr(self, item.name)))


def _frozen(value: Any) -> Any:
    """Replace mappings by `FrozenDict`, lists by tuples, scalars by Python's numbers."""
    if value is None or type(value) in (bool, int, float, str):  # most values of a large result
        return value
    if isinstance(value, FrozenDict):
        return value
    if isinstance(value, Mapping):
        return FrozenDict({key: _frozen(item) for key, item in value.items()})
    if isinstance(value, list) or type(value) is tuple:  # named tuples hold scalars
        return tuple(map(_frozen, value))
    return value.item() if hasattr(value, "dtype") else value  # a scalar of NumPy


@with_checked_methods
@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Immutable):
    """Base of all results, which are frozen dataclasses.

    A subclass defines `rows`, and has a view in `ir_outcomes.showing.views`. Its fields are of
    these types, which JSON can restore: bool, int, float, str, date, Literal, dataclasses,
    NamedTuple, tuple, Sequence (restored as a tuple), Mapping with str keys, and unions of these
    with None. A field with ``metadata=OPTIONAL`` needs a default; JSON holds it only on request.

    Attributes
    ----------
    notes : tuple of Note
        What a reader of the numbers should know: text, with the kind of note and the runs it is
        about.
    versions : mapping of str to str
        The versions of Python and of the packages that computed it.
    """

    notes: tuple[Note, ...] = ()
    versions: Mapping[str, str] = field(default_factory=versions)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A dataclass replaces an inherited __repr__ by one that lists every field: a megabyte for a
        # large leaderboard.
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]
        with_checked_methods(cls)

    def rows(self) -> list[dict[str, Any]]:
        """Return flat rows with exact values, None where there is no value."""
        raise NotImplementedError

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return dicts, lists, text and numbers, with `per_query` those of each query."""
        return dict(as_plain(self, per_query=per_query))

    def to_json(self, *, per_query: bool = False) -> str:
        """Return `to_dict` as JSON on one line, without NaN or infinity."""
        return json.dumps(self.to_dict(per_query=per_query), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls: type[R], data: Mapping[str, Any]) -> R:
        """Restore what `to_dict` of this version returned, or raise `FormatError`."""
        import msgspec  # takes as long to import as the rest of this package

        head = data if isinstance(data, Mapping) else {}
        kind, schema = head.get("kind"), head.get("schema")
        if (kind, schema) != (cls.__name__, SCHEMA):
            wanted = f"of kind {cls.__name__!r} with schema {SCHEMA}, as this version writes it"
            reason = (
                f"must be an object {wanted}; it has kind {kind!r} and schema {schema!r}: make the"
                " result again from its runs"
            )
            raise FormatError("JSON", reason)
        try:
            restored = msgspec.convert(data, cls, dec_hook=_restored_note)
            json.dumps(data, allow_nan=False, default=str)
        except msgspec.ValidationError as error:
            # Such as: Expected `float`, got `str` - at `$.parts[1].level`
            problem, _, path = str(error).partition(" - at `$")
            path = path.removesuffix("`").lstrip(".")
            raise FormatError("JSON", f"{path}: {problem}" if path else problem) from None
        except ValueError as error:  # `to_json` could not write it
            raise FormatError("JSON", f"holds NaN or infinity ({error})") from None
        return restored

    @classmethod
    def from_json(cls: type[R], text: str | bytes) -> R:
        """Restore what `to_json` of this version returned, or raise `FormatError`."""
        import msgspec

        try:
            data = msgspec.json.decode(text)
        except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError, TypeError) as error:
            raise FormatError(
                "JSON",
                f"is not valid ({error}); it is the text that to_json returned, not a path",
            ) from None
        return cls.from_dict(data)

    def to_frame(self) -> Any:
        """Return `rows` as a data frame of pandas."""
        return shown("frame", self.rows())

    def to_text(self, *, details: bool = False, rows: Positive | None = 20) -> str:
        """Return the result as text, folded at the width of the terminal.

        Parameters
        ----------
        details : bool
            Show everything, instead of the label, a small table and the notes that change how the
            label is read.
        rows : int, optional
            How many rows of a table are shown; None for all.
        """
        return str(shown("text", self.view(), details=details, rows=rows))

    def to_csv(self) -> str:
        """Return `rows` as CSV with a header.

        Values are exact, and empty where there is none. Names and ids are as they are: import those
        of strangers into a spreadsheet as text, because it computes what begins with ``=``, ``+``,
        ``-`` or ``@``.
        """
        return str(shown("csv", self.rows()))

    def to_latex(
        self,
        *,
        caption: bool | str = False,
        label: str | None = None,
        wide: bool = False,
        mark: tuple[Mark, ...] = (),
    ) -> str:
        r"""Return the tables in LaTeX for ``\usepackage{booktabs}``, all of it escaped.

        Parameters
        ----------
        caption : bool or str
            True puts each table into a float with the result's own caption; text is the caption
            instead and is taken as LaTeX. By default the caption is a comment.
        label : str, optional
            Put the table into a float with this ``\label``; of several tables the second gets
            ``-2`` at the end, and so on. `ParameterError` if it holds characters that LaTeX does
            not allow in labels.
        wide : bool
            Put the table into a float over both columns, ``table*``.
        mark : tuple of {"best", "significant"}
            Print the best value of each column in bold; mark significant differences with a dagger.
        """
        return str(
            shown(
                "latex",
                self.view(),
                caption=caption,
                label=label,
                wide=wide,
                mark=mark,
            )
        )

    def to_html(self, *, full: bool = False) -> str:
        """Return what `to_text` shows in HTML, with the details in a fold.

        Everything is escaped. With `full` a whole page with character set, title and style, instead of a part of a page.
        """
        return str(shown("html", self.view(), full=full))

    def to_markdown(self, *, details: bool = False, rows: Positive | None = None) -> str:
        """Return what `to_text` shows in GitHub's Markdown, with everything escaped."""
        return str(shown("markdown", self.view(), details=details, rows=rows))

    def view(self) -> Any:
        """Return what every format shows of the result, as text that is not yet escaped."""
        return shown("view", self)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {shortened(escaped(self.view().headline), LONGEST_SUMMARY)}>"
        )

    def __str__(self) -> str:
        return self.to_text()


@with_checked_methods
class HasPage:
    """What results have beside `Result` that have queries behind them."""

    def to_report(
        self, path: str | os.PathLike[str] | None = None, *, evaluation: Any = None, **options: Any
    ) -> Any:
        """Write the numbers and the queries behind them as one HTML page.

        Parameters
        ----------
        path : path, optional
            Where the page is written.
        evaluation : Evaluation, or mapping of str to Evaluation, optional
            What the result was made from, by the name of the collection or judge where there are
            several; without it the page has no ranked lists.
        **options
            ``docs``, ``max_mb``, ``command`` and ``inputs`` of `ir_outcomes.report`,
            which names the errors, too.
        """
        return shown("report", self, path, evaluation=evaluation, **options)


@with_checked_methods
class HasFigures:
    """What results have beside `Result` of which there are figures."""

    def plot(self, kind: str | None = None, ax: Any = None) -> Any:
        """Draw a figure with matplotlib and return its Axes.

        Parameters
        ----------
        kind : str, optional
            Which figure; the class says which there are, the first is the default.
        ax : matplotlib Figure, SubFigure or Axes, optional
            Where to draw; by default on a new figure of pyplot. An empty
            ``matplotlib.figure.Figure()`` is resized to what the drawing needs, and needs neither a
            display nor closing. A figure with one panel can be drawn on Axes.
        """
        return shown("figure", self, kind, ax)


def _restored_note(kind: type, value: Any) -> Note:
    """Restore a note for msgspec, which knows no classes like it."""
    try:
        return Note.from_dict(value)
    except (KeyError, TypeError):
        raise ValueError(f"Expected a note with kind, text and runs, got {value!r}") from None


def as_plain(value: Any, *, per_query: bool = False) -> Any:
    """Turn a dataclass and what it holds into dicts, lists, text and numbers."""
    if value is None or type(value) in (bool, int, float, str):  # most values of a large result
        return value
    if isinstance(value, Note):
        return value.as_dict()
    if is_dataclass(value) and not isinstance(value, type):
        head = {}
        if isinstance(value, Result):
            head = {"schema": SCHEMA, "kind": type(value).__name__}
        return head | {
            item.name: as_plain(getattr(value, item.name), per_query=per_query)
            # Notes and versions come last.
            for item in sorted(fields(value), key=lambda item: bool(item.kw_only))
            if per_query or not item.metadata.get("optional")
        }
    if isinstance(value, Mapping):
        return {key: as_plain(item, per_query=per_query) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_plain(item, per_query=per_query) for item in value]
    if hasattr(value, "dtype"):  # a scalar of NumPy, in a named tuple
        return value.item()
    return value.isoformat() if isinstance(value, date) else value
