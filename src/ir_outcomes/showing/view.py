"""What is shown of a result in every format, as text that is not yet escaped.

Every view has the same order: the label, one or two sentences, a small table, at most three notes
that change how the label is read, and one line that says what else there is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import nan
from operator import itemgetter
from typing import Any, Self

from ir_outcomes.formatting import NOTHING
from ir_outcomes.table_columns import SIGN, Column

MOST_NOTES = 3


@dataclass(frozen=True)
class Table:
    """A table with what belongs to it, as text that formats escape."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]  # what the cells show
    captions: tuple[str, ...] = ()  # lines below: what the columns mean, and the settings
    title: str = ""  # what it shows, where the view has several tables
    # Of each row, by the name of a column: what LaTeX prints in bold and with a dagger on request.
    best: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    significant: Mapping[str, Sequence[bool]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        columns: Iterable[Column],
        items: Iterable[Any],
        *captions: str,
        title: str = "",
        alpha: float = 0.05,
    ) -> Self:
        """Lay out a row for each item, without the columns that are empty."""
        items = list(items)
        laid_out = [(column, [column.text(item, alpha) for item in items]) for column in columns]
        filled = [
            (column, cells)
            for column, cells in laid_out
            if not items or column.form == SIGN or not {NOTHING, ""}.issuperset(cells)
        ]
        remaining = tuple(column for column, _ in filled)
        rows = tuple(zip(*(cells for _, cells in filled), strict=True))
        return cls(remaining, rows, tuple(filter(None, (legend(remaining), *captions))), title)

    @classmethod
    def of_texts(
        cls,
        columns: Iterable[Column],
        rows: Iterable[Sequence[Any]],
        *captions: str,
        title: str = "",
    ) -> Self:
        """Lay out rows that hold what the columns show, one after the other."""
        by_position = [
            replace(column, value=itemgetter(position)) for position, column in enumerate(columns)
        ]
        return cls.of(by_position, rows, *captions, title=title)


def with_marks(cells: Sequence[str], marks: Sequence[str]) -> list[str]:
    """Write marks behind the cells of a column, where they leave the cells aligned."""
    width = max(map(len, marks), default=0)
    if width == 0:
        return [*cells]
    return [f"{cell} {mark:<{width}}" for cell, mark in zip(cells, marks, strict=True)]


@dataclass(frozen=True)
class View:
    """All that is shown of a result."""

    title: str  # who is compared with whom, or what was counted
    label: str = ""  # the answer, such as a verdict
    sentences: tuple[str, ...] = ()  # the answer in plain words
    tables: tuple[Table, ...] = ()  # the numbers behind it
    notes: tuple[str, ...] = ()  # what changes how the label is read, the most important first
    more: str = ""  # what the details are about
    # Makes everything else, which is shown on request.
    details: Callable[[], Sequence[Table]] = tuple
    # Notes that do not change how the label is read; shown with the details.
    background: tuple[str, ...] = ()
    # In the place of the tables in LaTeX: a table of a paper stands without its sentences.
    printed: tuple[Table, ...] = ()
    most_lines: int | None = None  # of the first screen, where a note more would be too many
    most_notes: int | None = MOST_NOTES  # first notes that are shown at once, None for all

    @property
    def headline(self) -> str:
        """The first line."""
        return f"{self.title}: {self.label}" if self.label else self.title

    @property
    def first_notes(self) -> tuple[str, ...]:
        """The notes that are shown at once."""
        return self.notes[: self.most_notes]

    @property
    def other_notes(self) -> tuple[str, ...]:
        """The notes that are shown with the details."""
        return (*self.notes[len(self.first_notes) :], *self.background)


def legend(columns: Iterable[Column]) -> str:
    """Say units and directions once for all columns that share them."""
    meanings: dict[str, list[str]] = {}
    for column in columns:
        unit = "" if column.unit == column.heading else column.unit
        meaning = ", ".join(
            filter(None, (unit, f"{column.better} is better" if column.better else ""))
        )
        if meaning:
            meanings.setdefault(meaning, []).append(column.group or column.title)
    return "; ".join(
        f"{', '.join(dict.fromkeys(headings))}: {meaning}" for meaning, headings in meanings.items()
    )


def column_groups(columns: Iterable[Column]) -> list[tuple[str, slice]]:
    """Return the headings over several columns, each with its slice of columns."""
    groups = []
    first = 0
    for group, members in groupby(columns, key=lambda column: column.group):
        groups.append((group, slice(first, first := first + len(list(members)))))
    return groups if any(group for group, _ in groups) else []


def tops(values: Sequence[float | None], higher_is_better: bool) -> list[bool]:
    """Return which values are the best."""
    top = (max if higher_is_better else min)(
        (value for value in values if value is not None), default=nan
    )
    return [value == top for value in values]
