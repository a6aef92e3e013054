"""Whether the ids of a run are those of the qrels, and if not, the rule that would make them match."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product

from ir_outcomes.evaluation.ranking import NestedRun
from ir_outcomes.reading.datasets import as_run
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run

Entry = tuple[str, str]  # the query within which an id has to match, empty for the id of a query itself; and the id
Rule = tuple[str, str]  # what tools and spreadsheets do to ids, and the pattern of what has to be removed

_SAMPLE = 250  # queries by which a rule is chosen
_ENDING = r"(\.(html?|txt|jsonl?|xml|pdf|md|rst|csv|tsv|docx?|trec|gz|zip))+"  # not any: names within names have points, too
RULES: tuple[Rule, ...] = (
    ("white space around them", r"^\s+|\s+$"),
    ("quotes around them", r"^[\"']+|[\"']+$"),
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
        return f"Without {self.rule} {self.matches} would match."


def repair_of(unknown: Collection[Entry], lacking: Collection[Entry]) -> Repair | None:
    """Return the rule by which most ids that a run lacks are among those that the qrels do not know; None without one."""
    queries = list(dict.fromkeys(query for query, _ in lacking))
    chosen = {*queries[:: len(queries) // _SAMPLE + 1]}
    sample, sought = ({entry for entry in entries if entry[0] in chosen} for entries in (unknown, lacking))
    rules: list[Rule] = [*RULES, *_affixes(sample, sought), *_affixes(sought, sample)]
    sides = {"run": (sample, sought), "qrels": (sought, sample)}
    rule, side = max(product(rules, sides), key=lambda choice: _matches(choice[0], *sides[choice[1]]))
    matches = _matches(rule, unknown, lacking) if side == "run" else _matches(rule, lacking, unknown)
    words, pattern = rule
    return Repair(f"{words} in the {side}", matches, pattern) if matches else None


def repair_of_queries(unknown: Iterable[str], lacking: Iterable[str]) -> Repair | None:
    """Return the rule by which most queries that a run lacks are among those that the qrels lack; None if there is none."""
    return repair_of([("", query) for query in unknown], [("", query) for query in lacking])


def _undo(pattern: str) -> Callable[[str], str]:
    return partial(re.compile(pattern).sub, "") if pattern else str.casefold


def _matches(rule: Rule, changed: Iterable[Entry], others: Iterable[Entry]) -> int:
    """Return how many ids are among the others when a rule is undone."""
    undo = _undo(rule[1])
    return len({(query, undo(identifier)) for query, identifier in changed}.intersection(others))


def _affixes(longer: Collection[Entry], shorter: Collection[Entry]) -> list[Rule]:
    """Return the prefix or suffix, if there is any, without which most of the longer ids are among the shorter ones."""
    found: Counter[Rule] = Counter()
    for query, identifier in longer:
        for cut in range(1, len(identifier)):
            before, behind = identifier[:cut], identifier[cut:]
            if before[-1].isdigit() and behind[0].isdigit():  # topic 15 is no other way of writing topic 5
                continue
            if (query, behind) in shorter:
                found[f'the prefix "{before}"', f"^{re.escape(before)}"] += 1
            if (query, before) in shorter:
                found[f'the suffix "{behind}"', f"{re.escape(behind)}$"] += 1
    undone = [(rule, _undo(rule[1])) for rule, _ in found.most_common(1)]
    # Elsewhere names within names have many endings in common, such as those of a class and of its methods.
    return [rule for rule, undo in undone if 2 * sum(undo(identifier) != identifier for _, identifier in longer) >= len(longer)]


def shares_documents(qrels: Qrels, run: Run | NestedRun) -> bool:
    """Return whether the qrels have any document of a run, in whichever query."""
    known = set(qrels.docids.tolist())
    return not known.isdisjoint(as_run(run.data).docids.tolist() if isinstance(run, NestedRun) else run.docids.tolist())
