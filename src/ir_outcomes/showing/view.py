"""What is shown of a result, independent of the format, as text that is not yet escaped.

Every view has the same order: the label, one or two sentences, a small table, at most three notes that change how the label is
read, and one line that says what else there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from itertools import groupby
from operator import itemgetter
from typing import Any

from ir_outcomes.columns import Column
from ir_outcomes.errors import ParameterError
from ir_outcomes.formatting import NOTHING

__all__ = ["Cell", "Table", "View", "best", "column_groups", "legend", "table_of", "table_of_texts", "view_of"]

MOST_NOTES = 3
Cell = tuple[int, int]  # row and column, from 0


@dataclass(frozen=True)
class Table:
    """A table with what belongs to it; every format escapes the texts.

    Attributes
    ----------
    columns : tuple of Column
        From left to right.
    rows : tuple of tuple of str
        What the cells show.
    captions : tuple of str
        Lines below: what the columns mean, and the settings.
    title : str
        What it shows, where the view has several tables.
    best, significant : frozenset of (int, int)
        Rows and columns of the cells that a format marks on request; the best of a table with superscripts are always bold.
    raised : mapping of (int, int) to str
        Superscripts of cells: letters or digits.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    captions: tuple[str, ...] = ()
    title: str = ""
    best: frozenset[Cell] = frozenset()
    significant: frozenset[Cell] = frozenset()
    raised: Mapping[Cell, str] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """All that is shown of a result.

    Attributes
    ----------
    title : str
        Who is compared with whom, or what was counted.
    label : str
        The answer, such as a verdict.
    sentences : tuple of str
        The answer in plain words.
    tables : tuple of Table
        The numbers behind it.
    notes : tuple of str
        What changes how the label is read, the most important first; formats show `MOST_NOTES`, the others are details.
    more : str
        What the details are about.
    details : tuple of Table
        Everything else that is shown on request.
    background : tuple of str
        Notes that do not change how the label is read; shown with the details.
    """

    title: str
    label: str = ""
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    more: str = ""
    details: tuple[Table, ...] = ()
    background: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The first line."""
        return f"{self.title}: {self.label}" if self.label else self.title

    @property
    def first_notes(self) -> tuple[str, ...]:
        """The notes that are shown at once."""
        return self.notes[:MOST_NOTES]

    @property
    def other_notes(self) -> tuple[str, ...]:
        """The notes that are shown with the details."""
        return (*self.notes[MOST_NOTES:], *self.background)


def table_of(
    columns: Sequence[Column], items: Iterable[Any], *captions: str, title: str = "", alpha: float = 0.05, legends: bool = True
) -> Table:
    """Lay out a row for each item; columns that are empty in all rows are left out."""
    rows = [[column.text(item, alpha) for column in columns] for item in items]
    kept = [place for place in range(len(columns)) if not rows or any(row[place] not in ("", NOTHING) for row in rows)]
    shown = tuple(columns[place] for place in kept)
    explained = [legend(shown)] if legends and legend(shown) else []
    return Table(
        shown, tuple(tuple(row[place] for place in kept) for row in rows), (*explained, *filter(None, captions)), title
    )


def table_of_texts(
    headings: Iterable[tuple[str, str]], rows: Iterable[Sequence[Any]], *captions: str, title: str = ""
) -> Table:
    """Lay out rows of texts below their headings, each given with the form of its column."""
    columns = [Column(heading, itemgetter(place), form=form) for place, (heading, form) in enumerate(headings)]
    return table_of(columns, rows, *captions, title=title)


def legend(columns: Iterable[Column]) -> str:
    """Say units and directions once for all columns that share them.

    Examples
    --------
    >>> legend([Column("won", unit="points", better="higher"), Column("p"), Column("length", unit="ranks", better="lower")])
    'won: points, higher is better; length: ranks, lower is better'
    """
    meanings: dict[str, list[str]] = {}
    for column in columns:
        meaning = ", ".join(
            [*([column.unit] if column.unit else []), *([f"{column.better} is better"] if column.better else [])]
        )
        if meaning:
            meanings.setdefault(meaning, []).append(column.group or column.title)
    return "; ".join(f"{', '.join(dict.fromkeys(headings))}: {meaning}" for meaning, headings in meanings.items())


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
def view_of(result: Any) -> View:
    """Choose what is shown of a result; a module of `ir_outcomes.showing.views` registers a function for each class.

    Raises
    ------
    ParameterError
        If the result has no view.
    """
    raise ParameterError(f"{type(result).__name__} has no view")


def marked_best(table: Table, **columns: tuple[Sequence[float | None], bool]) -> Table:
    """Mark the cells of columns with the best value: by the column's name, the values, and whether higher is better."""
    places = {column.name: place for place, column in enumerate(table.columns)}
    found = {
        (row, places[name])
        for name, (values, higher) in columns.items()
        if name in places
        for row in best(values, higher_is_better=higher)
    }
    return replace(table, best=table.best | found)


def best(values: Sequence[float | None], *, higher_is_better: bool) -> list[int]:
    """Return the places of the best value, all of them where several are equal.

    Examples
    --------
    >>> best([0.3, None, 0.5, 0.5], higher_is_better=True)
    [2, 3]
    """
    known = [value for value in values if value is not None]
    choose: Callable[..., float] = max if higher_is_better else min
    return [place for place, value in enumerate(values) if value is not None and value == choose(known)]
