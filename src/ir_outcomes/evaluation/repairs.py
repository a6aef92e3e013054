"""Ids that differ between run and qrels, and the rule that makes them match."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, product, repeat
from os.path import commonprefix
from typing import NamedTuple

import numpy as np

from ir_outcomes.errors import some
from ir_outcomes.evaluation.ranking import ranking, spans
from ir_outcomes.formatting import plural
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run

DEPTH = 10  # documents of each list whose ids are looked at
SAMPLE = 10  # queries in which a rule has to help before it is tried in all

# The query within which an id has to match (empty for the id of a query itself), and the id.
Entry = tuple[str, str]


class Rule(NamedTuple):
    """What tools and spreadsheets do to ids."""

    words: str
    pattern: str  # of what has to be removed; empty where letters have to change
    signs: str = ""  # an id that has none of them does not change; empty where that is not known


_ENDING = (  # not any: names within names have points, too
    r"(\.(html?|txt|jsonl?|xml|pdf|md|rst|csv|tsv|docx?|trec|gz|zip))+"
)
_LETTERS: Mapping[str, Callable[[str], str]] = {  # rules that remove nothing
    "capital letters": str.casefold,
    "decomposed letters": partial(unicodedata.normalize, "NFC"),
    "composed letters": partial(unicodedata.normalize, "NFD"),
}
RULES = (
    Rule("quotes or white space around them", r"^[\"'\s]+|[\"'\s]+$"),
    Rule("a trailing comma", r"[,;]+$", ",;"),
    Rule('a trailing ".0"', r"\.0$", "."),
    Rule("leading zeros", r"^0+", "0"),
    Rule("the path or address before the last slash", r"^.*/", "/"),
    Rule("the file ending", f"{_ENDING}$", "."),
    Rule("the path or address before the last slash and the file ending", f"^.*/|{_ENDING}$", "./"),
    Rule('what follows the last "#"', r"#[^#]*$", "#"),
    *(Rule(letters, "") for letters in _LETTERS),
)


@dataclass(frozen=True)
class Repair:
    """A rule that makes ids match."""

    rule: str  #: what has to be removed, and from which side
    matches: int  #: ids of the qrels that the run then has besides those that it has now
    pattern: (
        str  #: regular expression of what has to be removed; empty where letters have to change
    )

    def undo(self, identifier: str) -> str:
        """Return an id as it is without what has to be removed."""
        return _undo(self.rule.rpartition(" in the ")[0], self.pattern)(identifier)

    def __str__(self) -> str:
        return f"Without {self.rule} {self.matches} more would match."


def repair_of(unknown: Collection[Entry], absent: Collection[Entry]) -> Repair | None:
    """Return the rule by which most ids would match, None without one."""
    rules = [*RULES, *_affixes(unknown), *_affixes(absent)]
    sides = {"run": (unknown, absent), "qrels": (absent, unknown)}
    signs = {
        side: set[str]().union(*(identifier for _, identifier in changed))
        for side, (changed, _) in sides.items()
    }
    matches = Counter(
        {
            (rule, side): _matches(rule, *sides[side])
            for rule, side in product(rules, sides)
            if not rule.signs or not signs[side].isdisjoint(rule.signs)
        }
    )
    [((rule, side), most)] = matches.most_common(1)
    return Repair(f"{rule.words} in the {side}", most, rule.pattern) if most else None


def repair_of_queries(unknown: Iterable[str], absent: Iterable[str]) -> Repair | None:
    """Return the rule by which most queries would match, None without one."""
    # `repeat` has no end.
    return repair_of(set(zip(repeat(""), unknown)), set(zip(repeat(""), absent)))


def _undo(words: str, pattern: str) -> Callable[[str], str]:
    return partial(re.compile(pattern).sub, "") if pattern else _LETTERS[words]


def _matches(rule: Rule, changed: Iterable[Entry], others: Iterable[Entry]) -> int:
    """Return how many ids are among the others when a rule is undone."""
    undo = _undo(rule.words, rule.pattern)
    pairs = ((query, identifier, undo(identifier)) for query, identifier in changed)
    repaired = {(query, new) for query, identifier, new in pairs if new != identifier}
    return len(repaired.intersection(others))


def _affixes(entries: Iterable[Entry]) -> Iterator[Rule]:
    """Yield the prefixes and suffixes that at least half of the ids have."""
    ids = [identifier for _, identifier in entries]
    for prefix in accumulate(_shared_beginning(ids)):
        if not prefix[-1].isdigit():  # topic 15 is no other way of writing topic 5
            yield Rule(f'the prefix "{prefix}"', f"^{re.escape(prefix)}")
    for reversed_suffix in accumulate(_shared_beginning(identifier[::-1] for identifier in ids)):
        suffix = reversed_suffix[::-1]
        if not suffix[0].isdigit():
            yield Rule(f'the suffix "{suffix}"', f"{re.escape(suffix)}$")


def _shared_beginning(ids: Iterable[str]) -> str:
    """Return what the middle half of the sorted ids begin with."""
    ordered = sorted(ids)
    return commonprefix(ordered[len(ordered) // 4 :: len(ordered) // 2 + 1])  # noqa: RUF071  # letter by letter is meant


@dataclass(frozen=True)
class Documents:
    """Top documents beside judged ones, with the rule by which more would match."""

    n_listed: int
    n_judged: int  # of these
    examples: str
    repair: Repair | None


def documents_to_repair(
    qrels: Qrels, run: Run, of_queries: Repair | None, share: float
) -> Documents:
    """Compare ids of documents, in a sample if no rule helps there."""
    # Trying the rules on all ids takes much longer than reading them.
    step = max(1, len(run.query_ids) // SAMPLE)
    sampled = compared_documents(qrels, run, of_queries, share, step)
    if sampled.repair is None:
        return sampled
    return compared_documents(qrels, run, of_queries, share)


def compared_documents(
    qrels: Qrels, run: Run, of_queries: Repair | None, share: float = 0, step: int = 1
) -> Documents:
    """Compare ids of documents, where queries match, also if only by a rule."""
    # A rule has to add more than a share to those judged. Only every so many queries are compared.
    change = str if of_queries is None else of_queries.undo
    queries = [change(query) for query in run.query_ids[::step]]
    starts = run.offsets[:-1][::step]
    sizes = np.minimum(np.diff(run.offsets)[::step], DEPTH)
    rows, _ = spans(starts, sizes)
    order = ranking(run, "trec").order
    if order is not None:
        rows = order[rows]
    listed = _entries(queries, sizes.tolist(), run.docids[rows].tolist())
    code_of = {change(query): code for code, query in enumerate(qrels.query_ids)}
    codes = np.array([code_of[query] for query in queries if query in code_of], dtype=np.int64)
    sizes = np.diff(qrels.offsets)[codes]
    rows, _ = spans(qrels.offsets[codes], sizes)
    judged = _entries(
        [query for query in queries if query in code_of],
        sizes.tolist(),
        qrels.docids[rows].tolist(),
    )
    unknown = listed - judged
    absent = judged - listed
    n_judged = len(listed & judged)
    repair = None
    if len(unknown) > share * n_judged:  # no rule makes more of them match
        repair = repair_of(unknown, absent)
    if repair is not None and repair.matches <= share * n_judged:
        repair = None
    examples = (some(sorted({docid for _, docid in ids}), 3) for ids in (unknown, absent))
    return Documents(len(listed), n_judged, f"({'; they have '.join(examples)})", repair)


def _entries(queries: Iterable[str], sizes: Iterable[int], docids: Iterable[bytes]) -> set[Entry]:
    """Return document ids with their queries, which have so many each."""
    of_query = (query for query, size in zip(queries, sizes, strict=True) for _ in range(size))
    return set(zip(of_query, map(bytes.decode, docids), strict=True))


def about_unknown_ids(qrels: Qrels, run: Run, any_judged: bool) -> str:
    """Say what differs where no query or document of a run is known."""
    if any_judged or not len(run):
        return ""
    if {*qrels.query_ids}.isdisjoint(run.query_ids):
        question: Repair | str | None = repair_of_queries(run.query_ids, qrels.query_ids)
        if not set(qrels.docids.tolist()).isdisjoint(map(str.encode, run.query_ids)):
            question = "They are documents there; exchange query and document in one of the files."
        return (
            f"none of its queries is in the qrels; the run has {some(run.query_ids, 3)}, the qrels"
            f" have {some(qrels.query_ids, 3)}. {question or 'Are these for the same topics?'}"
        )
    if not set(qrels.docids.tolist()).isdisjoint(run.docids.tolist()):
        return ""
    documents = compared_documents(qrels, run, None)
    found = f"the qrels have none of its {plural('document', len(run))} {documents.examples}."
    return f"{found} {documents.repair or 'Are these from the same collection?'}"
