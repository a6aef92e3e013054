"""What is shown of a result in every format, as text that is not yet escaped.

Every view has the same order: the label, one or two sentences, a small table, at most three notes
that change how the label is read, and one line that says what else there is.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, singledispatch
from itertools import groupby, pairwise
from math import nan
from operator import itemgetter
from typing import Any, Self

from ir_outcomes.choices import Mark
from ir_outcomes.errors import ParameterError
from ir_outcomes.formatting import NOTHING, plural
from ir_outcomes.pairs.verdict import LABELS, direction_of
from ir_outcomes.table_columns import NUMBER, SIGN, Column

MOST_NOTES = 3
Cell = tuple[int, int]  # row and column, from 0


@dataclass(frozen=True)
class Table:
    """A table with what belongs to it, as text that formats escape."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]  # what the cells show
    captions: tuple[str, ...] = ()  # lines below: what the columns mean, and the settings
    title: str = ""  # what it shows, where the view has several tables
    best: Collection[Cell] = ()  # bold on request; in a table with superscripts always
    significant: Collection[Cell] = ()  # marked on request
    raised: Mapping[Cell, str] = field(default_factory=dict)  # superscripts: letters or digits

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
        shown = tuple(column for column, _ in filled)
        rows = tuple(zip(*(cells for _, cells in filled), strict=True))
        return cls(shown, rows, tuple(filter(None, (legend(shown), *captions))), title)

    @classmethod
    def of_texts(
        cls,
        columns: Iterable[Column],
        rows: Iterable[Sequence[Any]],
        *captions: str,
        title: str = "",
    ) -> Self:
        """Lay out rows that hold what the columns show, one after the other."""
        placed = [
            replace(column, value=itemgetter(position)) for position, column in enumerate(columns)
        ]
        return cls.of(placed, rows, *captions, title=title)

    def marked(self, **marks: Mapping[str, Iterable[Any]]) -> Self:
        """Mark cells as best, significant or raised, by the names of columns."""
        columns = [column.name for column in self.columns]
        cells = {
            mark: {
                (row, columns.index(name)): value
                for name, values in of_columns.items()
                if name in columns
                for row, value in enumerate(values)
                if value
            }
            for mark, of_columns in marks.items()
        }
        return replace(self, **cells)  # type: ignore[arg-type]

    def marks_legend(self, mark: Collection[Mark] = ()) -> list[str]:
        """Explain the marks that are printed."""
        words = []
        if self.best and ("best" in mark or self.raised):
            words.append("Bold: the best value of the column.")
        if self.significant and "significant" in mark:
            words.append("Dagger: significantly different from the baseline.")
        return words


def texts(*headings: str) -> tuple[Column, ...]:
    """Return columns of texts for `Table.of_texts`."""
    return tuple(map(Column, headings))


def numbers(*headings: str) -> tuple[Column, ...]:
    """Return columns that are aligned to the right for `Table.of_texts`."""
    return tuple(Column(heading, form=NUMBER) for heading in headings)


class Details(Sequence[Table]):
    """Tables that are made when they are shown."""

    def __init__(self, make: Callable[[], Sequence[Table]]) -> None:
        self._make = cache(make)

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self._make())

    def __getitem__(self, key: Any) -> Any:
        return self._make()[key]


@dataclass(frozen=True)
class View:
    """All that is shown of a result."""

    title: str  # who is compared with whom, or what was counted
    label: str = ""  # the answer, such as a verdict
    sentences: tuple[str, ...] = ()  # the answer in plain words
    tables: tuple[Table, ...] = ()  # the numbers behind it
    notes: tuple[str, ...] = ()  # what changes how the label is read, the most important first
    more: str = ""  # what the details are about
    details: Sequence[Table] = ()  # everything else, which is shown on request
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


@singledispatch
def view_of(result: Any) -> View:
    """Choose what is shown of a result, by its class."""
    raise ParameterError(f"{type(result).__name__} has no view")


def tone(label: str | None) -> str:
    """Return the style of a label: "better", "worse", "mixed" or "same"."""
    label = (label or "").removesuffix(" *")
    if label == "trade-off":
        return "mixed"
    direction = direction_of(label) if label in LABELS else "none"
    return "same" if direction == "none" else direction


def sentence(text: str) -> str:
    """Write a caption as a sentence."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def direction(higher_is_better: bool) -> str:
    """Say which direction is better."""
    return "higher is better" if higher_is_better else "lower is better"


def count(number: int, noun: str) -> str:
    """Write a number with its noun, and with a comma for thousands."""
    return f"{number:,} {plural(noun, number).partition(' ')[2]}"


def bucket_names(edges: Sequence[int], *, is_open: bool = False) -> list[str]:
    """Name ranges of ranks, each without its upper end, or the last one without any."""
    names = [
        str(low) if low == high - 1 else f"{low} to {high - 1}" for low, high in pairwise(edges)
    ]
    return [*names, f"{edges[-1]} or more"] if is_open else names


def conditions_words(settings: Any) -> str:
    """Say in the title of a figure what counts as found."""
    cutoff = "no cutoff"
    if settings.cutoff is not None:
        cutoff = f"cutoff {settings.cutoff:,}"
    if settings.rel is not None:
        cutoff += f", grade {settings.rel} or more"
    by_document = getattr(settings, "unit", "query") == "document"
    return f"{cutoff}, averaged by query" if by_document else cutoff


def level_words(alpha: float) -> str:
    """Write the level of the intervals that belong to this level of the tests."""
    return f"{100 * (1 - alpha):g} % interval"


def queries_words(result: Any) -> str:
    """Say how many queries were evaluated, and in how many clusters."""
    left_out = ""
    if result.n_unanswerable:
        left_out = f" ({result.n_unanswerable} unanswerable left out)"
    clusters = result.settings and result.settings.n_clusters
    within = f" in {plural('cluster', clusters)}" if clusters else ""
    return f"{plural('query', result.n_queries)}{within}{left_out}"
