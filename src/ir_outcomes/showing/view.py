"""What is shown of a result, independent of the format: tables, statements and notes, as text that is not yet escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import groupby
from typing import Any, Literal, TypeVar, get_args

from ir_outcomes.errors import ParameterError
from ir_outcomes.formatting import NOTHING
from ir_outcomes.types import Columns, check_choice

__all__ = [
    "Cell", "Column", "Field", "Kind", "Layout", "Statement", "Table", "View", "best", "column_groups", "of_part", "tabulated",
    "view_of",
]  # fmt: skip

T = TypeVar("T")
U = TypeVar("U")
Kind = Literal["text", "number", "pvalue", "interval", "label"]
Cell = tuple[int, int]  # row and column, from 0


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    heading : str
        Its heading.
    kind : {"text", "number", "pvalue", "interval", "label"}
        What its cells hold; a label is a verdict.
    group : str
        A heading over this column and its neighbours of the same group.
    """

    heading: str
    kind: Kind = "text"
    group: str = ""

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, get_args(Kind))

    @property
    def numeric(self) -> bool:
        """Whether the cells are aligned to the right."""
        return self.kind in ("number", "pvalue", "interval")


Field = tuple[Column, Callable[[T], str]]  # a column, and what it says of an item


@dataclass(frozen=True)
class Table:
    """A table with what belongs to it; every format escapes the texts.

    Attributes
    ----------
    title : str
        What it shows.
    head : str
        How it was computed.
    columns : tuple of Column
        From left to right.
    rows : tuple of tuple of str
        Formatted cells, with the functions of `ir_outcomes.formatting`.
    caption : str
        What the columns mean: units and directions.
    sentences : tuple of str
        Sentences below the table.
    best, significant : frozenset of (int, int)
        Rows and columns of the cells that a format marks on request.
    """

    title: str
    head: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    sentences: tuple[str, ...] = ()
    best: frozenset[Cell] = frozenset()
    significant: frozenset[Cell] = frozenset()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells in a table of {len(self.columns)} columns: {row}")


@dataclass(frozen=True)
class Statement:
    """A verdict in words.

    Attributes
    ----------
    title : str
        What it is about, such as "Verdict" or the name of a run.
    label : str
        The verdict.
    sentences : tuple of str
        The verdict with its numbers.
    """

    title: str
    label: str
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """All that is shown of a result, from top to bottom."""

    tables: tuple[Table, ...]
    statements: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """What the caller chooses to see.

    Attributes
    ----------
    columns : {"default", "paper"}
        "paper" for those of Tables 1 and 2 of Lin et al. 2021.
    sentences : bool or None
        Whether a sentence explains each verdict; None for up to 3 verdicts.
    """

    columns: Columns = "default"
    sentences: bool | None = None

    def __post_init__(self) -> None:
        check_choice("columns", self.columns, get_args(Columns))


def tabulated(fields: Iterable[Field[T]], items: Iterable[T]) -> tuple[tuple[Column, ...], tuple[tuple[str, ...], ...]]:
    """Return the columns and the rows of a table with a row for each item.

    Examples
    --------
    >>> tabulated([(Column("run"), str), (Column("length", "number"), lambda name: f"{len(name)}")], ["bm25"])[1]
    (('bm25', '4'),)
    """
    columns, cells = zip(*fields, strict=True)
    return columns, tuple(tuple(cell(item) for cell in cells) for item in items)


def of_part(part_of: Callable[[T], U | None], field: Field[U]) -> Field[T]:
    """Show a field of a part of each item; a dash where an item has no such part.

    Examples
    --------
    >>> digits = (Column("digits", "number"), lambda number: f"{len(number)}")
    >>> tabulated([of_part(lambda name: name.partition("-")[2] or None, digits)], ["run-100", "bm25"])[1]
    (('3',), ('-',))
    """
    column, cell = field

    def cell_of(item: T) -> str:
        part = part_of(item)
        return NOTHING if part is None else cell(part)

    return column, cell_of


def column_groups(columns: Iterable[Column]) -> list[tuple[str, int]]:
    """Return the headings over several columns, each with its number of columns; empty where no column has one.

    Examples
    --------
    >>> column_groups([Column("run"), Column("change", group="coverage"), Column("p", group="coverage")])
    [('', 1), ('coverage', 2)]
    """
    groups = [(group, len(list(members))) for group, members in groupby(columns, key=lambda column: column.group)]
    return groups if any(group for group, _ in groups) else []


@singledispatch
def view_of(result: Any, layout: Layout) -> View:
    """Choose what is shown of a result, and how its numbers are written.

    A module of `ir_outcomes.showing.views` registers a function for each class of results. Call `Result.view`.

    Raises
    ------
    ParameterError
        If the result has no view.
    """
    raise ParameterError(f"{type(result).__name__} has no view")


def best(values: Sequence[float | None], column: int, *, higher_is_better: bool) -> frozenset[Cell]:
    """Find the cells of a column with the best value, all of them where several are equal.

    Examples
    --------
    >>> sorted(best([0.3, None, 0.5, 0.5], 2, higher_is_better=True))
    [(2, 2), (3, 2)]
    """
    known = [value for value in values if value is not None]
    if not known:
        return frozenset()
    top = max(known) if higher_is_better else min(known)
    return frozenset((row, column) for row, value in enumerate(values) if value == top)
