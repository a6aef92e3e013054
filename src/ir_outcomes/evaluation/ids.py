"""Whether the ids of a run are those of the qrels, and if not, the rule that would make them match."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from itertools import islice, permutations
from typing import NamedTuple

from ir_outcomes.evaluation.ranking import NestedRun
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run

Entry = tuple[Hashable, str]  # an id, and the query within which it has to match; None for the id of a query itself

_SAMPLE = 5000  # ids by which a rule is chosen
_FILE_ENDING = re.compile(r"(\.[A-Za-z]\w{0,4})+$")


class Rule(NamedTuple):
    """A change of ids that tools and spreadsheets make, and how to undo it on either side."""

    words: str
    undo: Callable[[str], str]


RULES = (
    Rule("white space around them", str.strip),
    Rule("quotes around them", lambda identifier: identifier.strip("\"'")),
    Rule("a trailing comma", lambda identifier: identifier.rstrip(",;")),
    Rule('a trailing ".0"', lambda identifier: identifier.removesuffix(".0")),
    Rule("leading zeros", lambda identifier: identifier.lstrip("0")),
    Rule("capital letters", str.casefold),
    Rule("the path or address before the last slash", lambda identifier: identifier.rpartition("/")[2]),
    Rule("the file ending", lambda identifier: _FILE_ENDING.sub("", identifier)),
    Rule('what follows the last "#"', lambda identifier: identifier.rpartition("#")[0] or identifier),
)


class Repair(NamedTuple):
    """A rule that makes ids match."""

    rule: str  # what has to be removed, and from which side
    matches: int  # ids of the qrels that the run then has besides those that it has now
    undo: Callable[[str], str]

    def __str__(self) -> str:
        return f"Without {self.rule} {self.matches} would match."


def repair_of(unknown: Collection[Entry], wanted: Collection[Entry]) -> Repair | None:
    """Return the rule by which most ids of the qrels that a run lacks are among its unknown ids; None if there is none."""
    if not unknown or not wanted:
        return None
    sample = set(islice(unknown, _SAMPLE))
    queries = {query for query, _ in sample}
    lacking = {entry for entry in wanted if entry[0] in queries}
    rules = [*RULES, *_affixes(sample, lacking), *_affixes(lacking, sample)]
    best = max(rules, key=lambda rule: len(_matching(rule, sample, lacking)))
    if not _matching(best, sample, lacking):
        both = [Rule(f"{first.words} and {second.words}", _in_turn(first, second)) for first, second in permutations(RULES, 2)]
        best = max(both, key=lambda rule: len(_matching(rule, sample, lacking)))
    matching = _matching(best, unknown, wanted)
    if not matching:
        return None
    in_qrels = any(best.undo(identifier) != identifier for _, identifier in matching)
    found = {(query, best.undo(identifier)) for query, identifier in matching}
    in_run = any(best.undo(entry[1]) != entry[1] and (entry[0], best.undo(entry[1])) in found for entry in unknown)
    where = {(True, False): " in the run", (False, True): " in the qrels"}.get((in_run, in_qrels), "")
    return Repair(f"{best.words}{where}", len(matching), best.undo)


def repair_of_queries(unknown: Iterable[str], lacking: Iterable[str]) -> Repair | None:
    """Return the rule by which most queries that a run lacks are among those that the qrels lack; None if there is none."""
    return repair_of([(None, query) for query in unknown], [(None, query) for query in lacking])


def _in_turn(first: Rule, second: Rule) -> Callable[[str], str]:
    return lambda identifier: second.undo(first.undo(identifier))


def _matching(rule: Rule, unknown: Collection[Entry], wanted: Collection[Entry]) -> list[Entry]:
    """Return the wanted ids that are among the unknown ones when a rule is undone on both sides."""
    changed = {(query, rule.undo(identifier)) for query, identifier in unknown}
    return [(query, identifier) for query, identifier in wanted if (query, rule.undo(identifier)) in changed]


def _affixes(longer: Collection[Entry], shorter: Collection[Entry]) -> Iterator[Rule]:
    """Yield the prefix and the suffix without which most of the longer ids are among the shorter ones."""
    prefixes: Counter[str] = Counter()
    suffixes: Counter[str] = Counter()
    for query, identifier in longer:
        for cut in range(1, len(identifier)):
            before, behind = identifier[:cut], identifier[cut:]
            if before[-1].isdigit() and behind[0].isdigit():  # topic 15 is no other way of writing topic 5
                continue
            if (query, behind) in shorter:
                prefixes[before] += 1
            if (query, before) in shorter:
                suffixes[behind] += 1
    if prefixes:
        prefix = max(prefixes, key=prefixes.__getitem__)
        yield Rule(f'the prefix "{prefix}"', lambda identifier: identifier.removeprefix(prefix))
    if suffixes:
        suffix = max(suffixes, key=suffixes.__getitem__)
        yield Rule(f'the suffix "{suffix}"', lambda identifier: identifier.removesuffix(suffix))


def shares_documents(qrels: Qrels, run: Run | NestedRun) -> bool:
    """Return whether the qrels have any document of a run, in whichever query."""
    if isinstance(run, Run):
        return not set(qrels.docids.tolist()).isdisjoint(run.docids.tolist())
    known = {docid.decode() for docid in qrels.docids.tolist()}
    return any(not known.isdisjoint(ranking) for ranking in run.data.values())
