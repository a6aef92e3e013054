"""What a reader of a result should know beside its numbers: notes of a kind, on which their rank, place and merging hang."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from ir_outcomes.errors import some


class NoteKind(NamedTuple):
    """What notes of one kind have in common."""

    headline: str  # what all of them say; a note that changes the reading begins with it
    is_first: bool = False  # whether it changes how the label is read; all others are background


# From the most important to the least. A new note is a line here, and `note` where it is found.
KINDS: Mapping[str, NoteKind] = {
    "unknown documents": NoteKind("Unknown documents", is_first=True),
    "many missing": NoteKind("Many queries are missing", is_first=True),
    "guard": NoteKind("The guard acted", is_first=True),
    "grades": NoteKind("Graded judgments", is_first=True),
    "opposite mean": NoteKind("The mean over all queries goes the other way", is_first=True),
    "unconfirmed": NoteKind("Not confirmed on all queries", is_first=True),
    "all queries only": NoteKind("Significant over all queries only", is_first=True),
    "other cutoffs": NoteKind("Another direction at other cutoffs", is_first=True),
    "few runs": NoteKind("Few runs of a system", is_first=True),
    "within margins": NoteKind("Worse, within the margins", is_first=True),
    "contradiction": NoteKind("Tests of ranking contradict each other", is_first=True),
    "few large changes": NoteKind(
        "A few queries with large changes decide on ranking", is_first=True
    ),
    "most rankings": NoteKind("Most rankings change, not their mean", is_first=True),
    "chosen baseline": NoteKind("The baseline was chosen on these queries", is_first=True),
    "missing": NoteKind("Missing queries", is_first=True),
    "depth": NoteKind("Unequal depth", is_first=True),
    "judged unequally": NoteKind("Judged unequally", is_first=True),
    "ties": NoteKind("Tied scores", is_first=True),
    "positives only": NoteKind("Only relevant documents are judged", is_first=True),
    "few judgments": NoteKind("The label depends on few judgments", is_first=True),
    "few differences": NoteKind("Few differences", is_first=True),
    "few queries": NoteKind("Few queries", is_first=True),
    "dependent": NoteKind("Dependent queries", is_first=True),
    "default effect": NoteKind("Differences to detect by default", is_first=True),
    # Background.
    "no confirmation": NoteKind("Without a cutoff nothing can confirm a direction"),
    "unanswerable": NoteKind("Queries without a relevant document are left out"),
    "missing ids": NoteKind("Queries without results count as not found"),
    "ignored": NoteKind("Queries that the qrels lack are ignored"),
    "left out": NoteKind("The baseline was also among the contenders"),
    "shallow": NoteKind("No run is as deep as the cutoff"),
    "unjudged": NoteKind("Unjudged documents"),
    "about a test": NoteKind("About the tests"),
    "sign flips": NoteKind("The sign-flip test decides on ranking, instead of t"),
    "intervals": NoteKind("An interval and its test disagree about zero"),
    "possible loss": NoteKind("Losses that cannot be ruled out"),
    "excluded loss": NoteKind("Losses that are excluded"),
    "power": NoteKind("Smallest true differences that would be found"),
    "clusters": NoteKind("Clusters are the unit of every test and interval"),
    "chances": NoteKind("The comparisons are not corrected"),
    "values": NoteKind("Compared on values as they were written"),
    "remark": NoteKind(""),  # whatever is said once, of the whole result
}


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
        rule = KINDS[self.kind]
        return rule.headline if rule.is_first else ""

    @property
    def details(self) -> str:
        """The text without the headline of its kind."""
        rule = KINDS[self.kind]
        if rule.is_first:
            return self[len(rule.headline) + 2 :]
        return str(self)

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
    rule = KINDS[kind]
    return Note(f"{rule.headline}: {text}" if rule.is_first else text, kind, runs)


def as_notes(texts: Iterable[str]) -> tuple[Note, ...]:
    """Return notes; plain text is a remark."""
    return tuple(text if isinstance(text, Note) else Note(text) for text in texts)


def ranked(notes: Iterable[str]) -> tuple[tuple[Note, ...], tuple[Note, ...]]:
    """Divide notes into those that change how the label is read, the most important first, and the background."""
    order = {kind: place for place, kind in enumerate(KINDS)}
    every = tuple(dict.fromkeys(as_notes(notes)))
    first = sorted(
        (own for own in every if KINDS[own.kind].is_first), key=lambda own: order[own.kind]
    )
    return tuple(first), tuple(own for own in every if not KINDS[own.kind].is_first)


def merged(by_name: Sequence[tuple[str, Sequence[Note]]], most_named: int = 3) -> list[Note]:
    """Say each kind of note once: of a single item with its numbers, of several with their names."""
    of_kind: dict[str, list[tuple[str, Note]]] = {}
    for name, notes in by_name:
        for own in notes:
            of_kind.setdefault(own.kind, []).append((name, own))
    texts: list[Note] = []
    for kind, rule in KINDS.items():
        found = of_kind.get(kind, [])
        if not found:
            continue
        names = list(dict.fromkeys(name for name, _ in found))
        every = list(dict.fromkeys(own for _, own in found))
        if (len(every) == 1 and len(names) == len(by_name)) or not rule.headline:
            texts += every
        elif len(names) == 1:
            texts += [_of_one(own, rule, names[0]) for own in every]
        else:
            text = (
                f"{rule.headline}, for {len(names)} of {len(by_name)}: {some(names, most_named)}."
            )
            texts.append(Note(text, kind))
    return texts


def _of_one(own: Note, rule: NoteKind, name: str) -> Note:
    """Return a note with the name of the item that it is about."""
    if rule.is_first:
        text = f"{rule.headline}, for {name}: {own.details}"
    else:
        text = f"{name}: {own}"
    return Note(text, own.kind, own.runs)
