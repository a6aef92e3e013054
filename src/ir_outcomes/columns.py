"""Columns of results, declared once: rows, CSV, frames, and the tables of every format come from them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ir_outcomes.formatting import NOTHING, fixed, percent, pvalue

Better = Literal["higher", "lower", ""]


@dataclass(frozen=True)
class Column:
    """What one column holds of an item, and how it is written."""

    name: str  # the key in rows, CSV and frames; an interval has two, name_low and name_high
    # The exact value: attributes one after the other, such as "test.pvalue", or a function of the item; by default the
    # attribute with the column's name.
    value: str | Callable[[Any], Any] = ""
    heading: str = ""  # in tables; by default the name
    # How tables write it: "" as text, "n" as text to the right, ".2f" and "+.2f" with so many decimals, "[.2f]" as an interval,
    # "%" as a share in percent, "p" as a p-value, "label" as a verdict.
    form: str = ""
    unit: str = ""  # for the legend of a table
    better: Better = ""  # which values are better
    group: str = ""  # a heading over this column and its neighbours of the same group

    @property
    def title(self) -> str:
        """The heading of the column."""
        return self.heading or self.name

    @property
    def numeric(self) -> bool:
        """Whether the cells are aligned to the right."""
        return self.form not in ("", "label")

    @property
    def is_interval(self) -> bool:
        """Whether the value is a pair of bounds."""
        return self.form.startswith("[")

    def of(self, item: Any) -> Any:
        """Return the exact value; None where the item, or something on the way to the value, is None."""
        if callable(self.value):
            return None if item is None else self.value(item)
        for attribute in (self.value or self.name).split("."):
            item = None if item is None else getattr(item, attribute)
        return item

    def text(self, item: Any, alpha: float = 0.05) -> str:
        """Return what tables show of an item; a dash where there is no value."""
        value, form = self.of(item), self.form.strip("[]")
        if value is None:
            return NOTHING
        if self.is_interval:
            return f"[{', '.join(_written(bound, form, alpha) for bound in value)}]"
        return _written(value, form, alpha)


def _written(value: Any, form: str, alpha: float) -> str:
    if form in ("", "n", "label"):
        return str(value)
    if form == "p":
        return pvalue(value, alpha)
    if form == "%":
        return percent(value)
    return fixed(value, int(form.strip("+.f")), signed=form.startswith("+"))


def attributes(*names: str) -> tuple[Column, ...]:
    """Return a column for each attribute, or for each "column=attribute"."""
    pairs = (name.partition("=") for name in names)
    return tuple(Column(name, path) for name, _, path in pairs)


def of_part(part: str | Callable[[Any], Any], columns: Iterable[Column], prefix: str = "") -> tuple[Column, ...]:
    """Return columns of an attribute, or of a function, of the items as columns of the items."""
    inner = Column("", part)

    def value_of(column: Column) -> Callable[[Any], Any]:
        return lambda item: column.of(inner.of(item))

    return tuple(replace(column, name=f"{prefix}{column.name}", value=value_of(column)) for column in columns)


def chosen(columns: Iterable[Column], *names: str) -> tuple[Column, ...]:
    """Return the columns with these names in this order; "name=heading" gives one another heading."""
    known = {column.name: column for column in columns}
    pairs = (name.partition("=") for name in names)
    return tuple(replace(known[name], heading=heading or known[name].heading) for name, _, heading in pairs)


def rows_of(columns: Sequence[Column], items: Iterable[Any]) -> list[dict[str, Any]]:
    """Return a flat row of exact values for each item."""
    rows = []
    for item in items:
        row: dict[str, Any] = {}
        for column in columns:
            value = column.of(item)
            if column.is_interval:
                row[f"{column.name}_low"], row[f"{column.name}_high"] = value or (None, None)
            else:
                row[column.name] = value
        rows.append(row)
    return rows
