"""Whether the ids of a run are those of the qrels, and if not, the rule that would make them match."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, product, repeat
from os.path import commonprefix

# The query within which an id has to match (empty for the id of a query itself), and the id.
Entry = tuple[str, str]
# What tools and spreadsheets do to ids, and the pattern of what has to be removed.
Rule = tuple[str, str]

_ENDING = (  # not any: names within names have points, too
    r"(\.(html?|txt|jsonl?|xml|pdf|md|rst|csv|tsv|docx?|trec|gz|zip))+"
)
RULES = (
    ("quotes or white space around them", r"^[\"'\s]+|[\"'\s]+$"),
    ("a trailing comma", r"[,;]+$"),
    ('a trailing ".0"', r"\.0$"),
    ("leading zeros", r"^0+"),
    ("the path or address before the last slash", r"^.*/"),
    ("the file ending", f"{_ENDING}$"),
    ("the path or address before the last slash and the file ending", f"^.*/|{_ENDING}$"),
    ('what follows the last "#"', r"#[^#]*$"),
    ("capital letters", ""),  # the one rule that removes nothing
)


@dataclass(frozen=True)
class Repair:
    """A rule that makes ids match."""

    rule: str  #: what has to be removed, and from which side
    matches: int  #: ids of the qrels that the run then has besides those that it has now
    pattern: str  #: regular expression of what has to be removed; empty where letters have to become small

    def undo(self, identifier: str) -> str:
        """Return an id as it is without what has to be removed."""
        return _undo(self.pattern)(identifier)

    def __str__(self) -> str:
        return f"Without {self.rule} {self.matches} more would match."


def repair_of(unknown: Collection[Entry], lacking: Collection[Entry]) -> Repair | None:
    """Return the rule by which most ids that a run lacks are among those that the qrels do not know; None without one."""
    rules = [*RULES, *_affixes(unknown), *_affixes(lacking)]
    sides = {"run": (unknown, lacking), "qrels": (lacking, unknown)}
    found = Counter(
        {(rule, side): _matches(rule, *sides[side]) for rule, side in product(rules, sides)}
    )
    [(((words, pattern), side), matches)] = found.most_common(1)
    if matches:
        return Repair(f"{words} in the {side}", matches, pattern)
    return None


def repair_of_queries(unknown: Iterable[str], lacking: Iterable[str]) -> Repair | None:
    """Return the rule by which most queries that a run lacks are among those that the qrels lack; None if there is none."""
    # `repeat` has no end.
    return repair_of(set(zip(repeat(""), unknown)), set(zip(repeat(""), lacking)))


def _undo(pattern: str) -> Callable[[str], str]:
    return partial(re.compile(pattern).sub, "") if pattern else str.casefold


def _matches(rule: Rule, changed: Iterable[Entry], others: Iterable[Entry]) -> int:
    """Return how many ids are among the others when a rule is undone."""
    undo = _undo(rule[1])
    return len({(query, undo(identifier)) for query, identifier in changed}.intersection(others))


def _affixes(entries: Iterable[Entry]) -> Iterator[Rule]:
    """Yield the prefixes and suffixes that at least half of the ids have."""
    ids = [identifier for _, identifier in entries]
    for prefix in accumulate(_shared_beginning(ids)):
        if not prefix[-1].isdigit():  # topic 15 is no other way of writing topic 5
            yield f'the prefix "{prefix}"', f"^{re.escape(prefix)}"
    for reversed_suffix in accumulate(_shared_beginning(identifier[::-1] for identifier in ids)):
        suffix = reversed_suffix[::-1]
        if not suffix[0].isdigit():
            yield f'the suffix "{suffix}"', f"{re.escape(suffix)}$"


def _shared_beginning(ids: Iterable[str]) -> str:
    """Return what the middle half of the ids, in the order of their letters, begin with."""
    ordered = sorted(ids)
    return commonprefix(ordered[len(ordered) // 4 :: len(ordered) // 2 + 1])  # noqa: RUF071  # letter by letter is meant
