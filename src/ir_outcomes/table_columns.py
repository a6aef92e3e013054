"""Columns of results, from which come rows, CSV, frames and all tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ir_outcomes.choices import unreachable
from ir_outcomes.formatting import (
    NOTHING,
    fixed,
    interval,
    percent,
    places_of_difference,
    places_of_means,
    pvalue,
)

Better = Literal["higher", "lower", ""]


@dataclass(frozen=True)
class Form:
    """How tables write the values of a column."""

    kind: Literal["text", "sign", "number", "percent", "pvalue", "decimals"] = "decimals"
    places: int | None = 0  # decimals; None for those with which the numbers of a row agree
    signed: bool = False
    of_interval: bool = False  # a value is a pair of bounds

    def written(self, value: Any, places: int, alpha: float) -> str:
        """Write a value, p-values so that they show on which side of `alpha` they are."""
        match self.kind:
            case "text" | "sign":
                return str(value)
            case "number":
                return f"{value:g}" if isinstance(value, float) else str(value)
            case "percent":
                return percent(value)
            case "pvalue":
                return pvalue(value, alpha)
            case "decimals":
                return fixed(value, places, signed=self.signed)
        unreachable(self.kind)


TEXT = Form("text")
SIGN = Form("sign")  # of a label; a dash is worse, and no missing value
NUMBER = Form("number")
PERCENT = Form("percent")  # of a share
PVALUE = Form("pvalue")
OF_ROW = Form(places=None)
SIGNED_OF_ROW = Form(places=None, signed=True)
INTERVAL_OF_ROW = Form(places=None, signed=True, of_interval=True)


def decimals(places: int) -> Form:
    """Return the form of numbers with so many decimals."""
    return Form(places=places)


def signed(places: int) -> Form:
    """Return the form of differences with so many decimals."""
    return Form(places=places, signed=True)


def signed_interval(places: int) -> Form:
    """Return the form of intervals of differences."""
    return Form(places=places, signed=True, of_interval=True)


@dataclass(frozen=True)
class Column:
    """What one column holds of an item, and how it is written."""

    name: str  # the key in rows, CSV and frames; an interval has two, name_low and name_high
    # The exact value: attributes, or keys of mappings, one after the other, such as "test.pvalue",
    # or a function of the item; by default what has the column's name.
    value: str | Callable[[Any], Any] = ""
    heading: str = ""  # in tables; by default the name
    form: Form = TEXT
    unit: str = ""  # for the legend of a table, unless it is the heading
    better: Better = ""  # which values are better
    group: str = ""  # a heading over this column and its neighbours of the same group
    part: tuple[Callable[[Any], Any], ...] = ()  # from the items of the table to what has the value

    @property
    def title(self) -> str:
        """The heading of the column."""
        return self.heading or self.name

    @property
    def numeric(self) -> bool:
        """Whether the cells are numbers."""
        return self.form.kind not in ("text", "sign")

    @property
    def align(self) -> Literal["left", "right"]:
        """The side on which the cells are aligned."""
        return "right" if self.numeric else "left"

    def _part_of(self, item: Any) -> Any:
        for step in self.part:
            item = step(item)
        return item

    def of(self, item: Any) -> Any:
        """Return the exact value, None where something on the way to it is None."""
        value = self._part_of(item)
        if callable(self.value):
            return None if value is None else self.value(value)
        for step in (self.value or self.name).split("."):
            if value is None:
                return None
            value = value[step] if isinstance(value, Mapping) else getattr(value, step)
        return value

    def text(self, item: Any, alpha: float = 0.05) -> str:
        """Return what tables show of an item, a dash where there is no value."""
        value = self.of(item)
        if value is None:
            return NOTHING
        form = self.form
        places = form.places
        if places is None:
            row = self._part_of(item)
            places = places_of_difference(row) if form.of_interval else places_of_means(row)
        if form.of_interval:
            return interval(value, places, signed=form.signed)
        return form.written(value, places, alpha)


def attributes(*names: str) -> tuple[Column, ...]:
    """Return a column for each attribute, or for each "column=attribute"."""
    pairs = (name.partition("=") for name in names)
    return tuple(Column(name, path) for name, _, path in pairs)


def of_part(
    part: str | Callable[[Any], Any], columns: Iterable[Column], prefix: str = ""
) -> tuple[Column, ...]:
    """Return columns of an attribute, or of a function, of the items."""
    value = Column("", part).of
    return tuple(
        replace(
            column,
            name=f"{prefix}{column.name}",
            value=column.value or column.name,
            part=(value, *column.part),
        )
        for column in columns
    )


def chosen(columns: Iterable[Column], *names: str, group: str | None = None) -> tuple[Column, ...]:
    """Return the columns with these names, where "name=heading" changes the heading."""
    declared = {column.name: column for column in columns}
    found = (
        (declared[name], heading) for name, _, heading in (name.partition("=") for name in names)
    )
    return tuple(
        replace(
            column,
            heading=heading or column.heading,
            group=column.group if group is None else group,
        )
        for column, heading in found
    )


def rows_of(columns: Sequence[Column], items: Iterable[Any]) -> list[dict[str, Any]]:
    """Return a flat row of exact values for each item."""
    rows = []
    for item in items:
        row: dict[str, Any] = {}
        for column in columns:
            value = column.of(item)
            if column.form.of_interval:
                row[f"{column.name}_low"], row[f"{column.name}_high"] = value or (None, None)
            else:
                row[column.name] = value
        rows.append(row)
    return rows
