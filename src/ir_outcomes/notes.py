"""What a reader of a result should know beside its numbers: notes of a kind, on which their rank, place and merging hang."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from ir_outcomes.errors import some

# Kinds of notes from the most important to the least, each with what all notes of it say. A new one
# is a line here, and `note` where it is found. These change how the label is read, and their notes
# begin with the headline.
FIRST: Mapping[str, str] = {
    "unknown-ids": "Unknown ids",
    "rising-scores": "Scores rise with the rank",
    "equal-scores": "Equal scores",
    "many missing": "Many queries are missing",
    "scores against ranks": "Scores contradict ranks",
    "queries as documents": "Queries retrieved as documents",
    "identical": "Identical runs",
    "guard": "The guard acted",
    "grades": "Graded judgments",
    "opposite mean": "The mean over all queries goes the other way",
    "unconfirmed": "Not confirmed on all queries",
    "all queries only": "Significant over all queries only",
    "other cutoffs": "Directions differ by cutoff",
    "few runs": "Few runs of a system",
    "within margins": "Worse, within the margins",
    "contradiction": "Tests of ranking contradict each other",
    "few large changes": "A few queries with large changes decide on ranking",
    "most rankings": "Most rankings change, not their mean",
    "chosen baseline": "The baseline was chosen on these queries",
    "missing": "Missing queries",
    "depth": "Unequal depth",
    "judged unequally": "Judged unequally",
    "ties": "Tied scores",
    "positives only": "Only relevant documents are judged",
    "few judgments": "The label depends on few judgments",
    "few differences": "Few differences",
    "few queries": "Few queries",
    "dependent": "Dependent queries",
    "one system": "Runs of one system",
    "default effect": "Differences to detect by default",
}
BACKGROUND: Mapping[str, str] = {
    "no confirmation": "Without a cutoff nothing can confirm a direction",
    "unanswerable": "Queries without a relevant document are left out",
    "missing ids": "Queries without results count as not found",
    "ignored": "Queries that the qrels lack are ignored",
    "left out": "The baseline was also among the contenders",
    "shallow": "No run is as deep as the cutoff",
    "unjudged": "Unjudged documents",
    "about a test": "About the tests",
    "sign flips": "The sign-flip test decides on ranking, instead of t",
    "intervals": "An interval and its test disagree about zero",
    "possible loss": "Losses that cannot be ruled out",
    "excluded loss": "Losses that are excluded",
    "power": "Smallest true differences that would be found",
    "clusters": "Clusters are the unit of every test and interval",
    "chances": "The comparisons are not corrected",
    "values": "Compared on values as they were written",
    "remark": "",  # whatever is said once, of the whole result
}
KINDS = {**FIRST, **BACKGROUND}


class Note(str):
    """A note on a result: its text, with what it is about.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    runs : tuple of str
        The runs it is about; empty where it is about all, or the whole result.
    """

    __slots__ = ("kind", "runs")

    kind: str
    runs: tuple[str, ...]

    def __new__(cls, text: str, kind: str = "remark", runs: Sequence[str] = ()) -> Self:
        """Make a note of a kind that exists."""
        made = super().__new__(cls, text)
        made.kind = kind
        made.runs = tuple(runs)
        return made

    @property
    def headline(self) -> str:
        """What the note begins with, the same for all of its kind; empty for background."""
        return FIRST.get(self.kind, "")

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


NOTE_SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": list(KINDS)},
        "text": {"type": "string"},
        "runs": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["kind", "text", "runs"],
    "additionalProperties": False,
}


def note(kind: str, text: str, runs: Sequence[str] = ()) -> Note:
    """Make a note; one that changes how the label is read begins with the headline of its kind."""
    return Note(f"{FIRST[kind]}: {text}" if kind in FIRST else text, kind, runs)


def as_notes(texts: Iterable[str]) -> tuple[Note, ...]:
    """Return notes; plain text is a remark."""
    return tuple(text if isinstance(text, Note) else Note(text) for text in texts)


def ranked(notes: Iterable[str]) -> tuple[tuple[Note, ...], tuple[Note, ...]]:
    """Divide notes into those that change how the label is read, the most important first, and the background."""
    every = tuple(dict.fromkeys(as_notes(notes)))
    first = [own for kind in FIRST for own in every if own.kind == kind]
    return tuple(first), tuple(own for own in every if own.kind in BACKGROUND)


def merged(by_name: Sequence[tuple[str, Sequence[Note]]], most_named: int = 3) -> list[Note]:
    """Say each kind of note once: of a single item with its numbers, of several with their names."""
    texts: list[Note] = []
    for kind, names_by_note in _by_kind(by_name).items():
        names = list(dict.fromkeys(name for own in names_by_note.values() for name in own))
        every = list(names_by_note)
        if _is_about_all(names_by_note, len(by_name)):
            texts += every
        elif len(names) == 1:
            texts += [_of_one(own, names[0]) for own in every]
        else:
            of_all = f"for {len(names)} of {len(by_name)}: {some(names, most_named)}."
            texts.append(Note(f"{KINDS[kind]}, {of_all}", kind))
    return texts


def in_full(by_name: Sequence[tuple[str, Sequence[Note]]]) -> list[Note]:
    """Say each note with its numbers, and with the names of the items that it is about."""
    texts: list[Note] = []
    for names_by_note in _by_kind(by_name).values():
        if _is_about_all(names_by_note, len(by_name)):
            texts += names_by_note
            continue
        for own, names in names_by_note.items():
            texts.append(_of_one(own, ", ".join(names)))
    return texts


def _by_kind(by_name: Sequence[tuple[str, Sequence[Note]]]) -> dict[str, dict[Note, list[str]]]:
    """Return the notes of each kind, in the order of the kinds, with the names of their items."""
    found: dict[str, dict[Note, list[str]]] = {kind: {} for kind in KINDS}
    for name, notes in by_name:
        for own in notes:
            found[own.kind].setdefault(own, []).append(name)
    return {kind: names_by_note for kind, names_by_note in found.items() if names_by_note}


def _is_about_all(names_by_note: Mapping[Note, Sequence[str]], n_items: int) -> bool:
    """Return whether notes of a kind need no names: remarks, and one note that names runs itself or is the same for all."""
    (own, names), *others = names_by_note.items()
    if not KINDS[own.kind]:
        return True
    return not others and (len(names) == n_items or len(own.runs) > 1)


def _of_one(own: Note, name: str) -> Note:
    """Return a note with the name of the item that it is about."""
    text = f"{name}: {own}"
    if own.headline:
        text = f"{own.headline}, for {name}: {own.details}"
    return Note(text, own.kind, own.runs)
