"""Notes: what a reader of a result should know beside its numbers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from ir_outcomes.errors import some

# The kinds of notes that change how a label is read, the most important first, each with what its
# notes begin with. They stand on the first screen.
FIRST: Mapping[str, str] = {
    # Stops that were allowed.
    "unknown-ids": "Unknown ids",
    "rising-scores": "Scores rise with the rank",
    "equal-scores": "Equal scores",
    "beyond lists": "The cutoff lies beyond all lists",
    "missing-values": "Missing values",
    "other texts": "Texts differ",
    "many missing": "Many queries are missing",
    "measure depth": "Lists of different depth",
    "scores against ranks": "Scores contradict ranks",
    "queries as documents": "Queries retrieved as documents",
    "other cutoffs": "Other cutoffs",
    "opposite mean": "A mean goes the other way",
    "lacking": "Left out of the board",
    "few decide": "A few queries decide",
    "judged unequally": "Judged unequally",
    "dependent": "Dependent queries",
    "grades": "Graded judgments",
    "positives only": "Only relevant documents are judged",
}
# All other kinds, which are background; where the beginning is empty, notes are their text alone.
BACKGROUND: Mapping[str, str] = {
    "identical": "Identical runs",
    "ids": "Ids written in two ways",
    "scattered": "Scattered queries",
    "repeated judgments": "Repeated judgments",
    "missing": "Missing queries",
    "depth": "Unequal depth",
    "ties": "Tied scores",
    "few differences": "Few differences",
    "few runs": "Few runs of a system",
    "one system": "Runs of one system",
    "within margins": "Worse, within the margins",
    "not planned": "No number of queries can be given",
    "default effect": "Differences to detect by default",
    "unreadable": "",
    "unlisted": "",
    "unanswerable": "",
    "missing ids": "",
    "ignored": "",
    "left out": "",
    "summaries": "",
    "values": "",
    "unjudged": "",
    "clusters": "",
    "chances": "",
}
HEADLINES = {**FIRST, **BACKGROUND}
REMARK = "remark"  # of plain texts; said once, of the whole result
Named = Sequence[tuple[str, Sequence["Note"]]]  # the names of items with their notes


class Note(str):
    """A note on a result: its text, with what it is about.

    Attributes
    ----------
    kind : str
        One of `FIRST`, of `BACKGROUND`, or `REMARK`.
    runs : tuple of str
        The runs it is about; empty where it is about all, or the whole result.
    """

    __slots__ = ("kind", "runs")

    kind: str
    runs: tuple[str, ...]

    def __new__(cls, text: str, kind: str = REMARK, runs: Sequence[str] = ()) -> Self:
        """Make a note."""
        made = super().__new__(cls, text)
        made.kind = kind
        made.runs = tuple(runs)
        return made

    @property
    def headline(self) -> str:
        """What the notes of its kind begin with, where they do."""
        return HEADLINES.get(self.kind, "")

    @property
    def details(self) -> str:
        """The text without the headline of its kind."""
        return self.removeprefix(f"{self.headline}: ")

    def as_dict(self) -> dict[str, Any]:
        """Return kind, text and runs, as JSON holds them."""
        return {"kind": self.kind, "text": str(self), "runs": list(self.runs)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Restore what `as_dict` returned."""
        return cls(data["text"], data["kind"], data["runs"])


def note(kind: str, text: str, runs: Sequence[str] = ()) -> Note:
    """Make a note of a declared kind, which begins with the headline of the kind."""
    headline = HEADLINES[kind]
    return Note(f"{headline}: {text}" if headline else text, kind, runs)


def as_notes(texts: Iterable[str]) -> tuple[Note, ...]:
    """Return notes, of plain text remarks."""
    return tuple(text if isinstance(text, Note) else Note(text) for text in texts)


def ranked(notes: Iterable[str]) -> tuple[tuple[Note, ...], tuple[Note, ...]]:
    """Divide notes into first ones, the most important first, and background."""
    distinct = tuple(dict.fromkeys(as_notes(notes)))
    first = [item for kind in FIRST for item in distinct if item.kind == kind]
    return tuple(first), tuple(item for item in distinct if item.kind not in FIRST)


def merged(by_name: Named, limit: int = 3) -> list[Note]:
    """Say each kind of first notes once, with the names of the items."""
    texts: list[Note] = []
    for kind, found in _by_kind(by_name).items():
        names = list(dict.fromkeys(name for of_note in found.values() for name in of_note))
        if kind not in FIRST or len(names) == 1 or _is_about_all(found, len(by_name)):
            texts += _with_names(found, len(by_name))
        else:
            of_all = f"for {len(names)} of {len(by_name)}: {some(names, limit)}."
            texts.append(Note(f"{FIRST[kind]}, {of_all}", kind))
    return texts


def in_full(by_name: Named) -> list[Note]:
    """Say each note with the names of the items that it is about."""
    texts: list[Note] = []
    for found in _by_kind(by_name).values():
        texts += _with_names(found, len(by_name))
    return texts


def _by_kind(by_name: Named) -> dict[str, dict[Note, list[str]]]:
    """Return the notes of each kind, first ones first, with the names of their items."""
    found: dict[str, dict[Note, list[str]]] = {kind: {} for kind in FIRST}
    for name, notes in by_name:
        for item in notes:
            found.setdefault(item.kind, {}).setdefault(item, []).append(name)
    return {kind: names for kind, names in found.items() if names}


def _is_about_all(found: Mapping[Note, Sequence[str]], n_items: int) -> bool:
    """Return whether notes of a kind need no names of items."""
    item, names = next(iter(found.items()))
    is_single = len(found) == 1 and (len(names) == n_items or len(item.runs) > 1)
    return is_single or item.kind == REMARK


def _with_names(found: Mapping[Note, Sequence[str]], n_items: int) -> list[Note]:
    if _is_about_all(found, n_items):
        return list(found)
    texts = []
    for item, names in found.items():
        text = f"{', '.join(names)}: {item}"
        if item.headline:
            text = f"{item.headline}, for {', '.join(names)}: {item.details}"
        texts.append(Note(text, item.kind, item.runs))
    return texts
