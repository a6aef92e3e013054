"""Ids that differ between run and qrels, and the rule that makes them match."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from os.path import commonprefix
from typing import NamedTuple

import numpy as np

from ir_outcomes.errors import some
from ir_outcomes.evaluation.ranking import ranking
from ir_outcomes.formatting import plural
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run

DEPTH = 10  # documents of each list whose ids are looked at
MANY_IDS = 0.05  # of the judged documents, so many more that another way of writing ids adds
SAMPLE = 10  # queries in which a rule has to help before it is tried in all

# The query within which an id has to match (empty for the id of a query itself), and the id.
Entry = tuple[str, str]


class Rule(NamedTuple):
    """What tools and spreadsheets do to ids."""

    words: str  # what is too much in the id, or what its letters are
    undo: Callable[[str], str]


def _removal(words: str, pattern: str) -> Rule:
    """Return the rule that removes what a pattern matches."""
    return Rule(words, partial(re.compile(pattern).sub, ""))


_ENDING = (  # not any: names within names have points, too
    r"(\.(html?|txt|jsonl?|xml|pdf|md|rst|csv|tsv|docx?|trec|gz|zip))+"
)
RULES = (
    _removal("quotes or white space around them", r"^[\"'\s]+|[\"'\s]+$"),
    _removal("a trailing comma", r"[,;]+$"),
    _removal('a trailing ".0"', r"\.0$"),
    _removal("leading zeros", r"^0+"),
    _removal("the path or address before the last slash", r"^.*/"),
    _removal("the file ending", f"{_ENDING}$"),
    _removal("the path or address before the last slash and the file ending", f"^.*/|{_ENDING}$"),
    _removal('what follows the last "#"', r"#[^#]*$"),
    Rule("capital letters", str.casefold),
    Rule("decomposed letters", partial(unicodedata.normalize, "NFC")),
    Rule("composed letters", partial(unicodedata.normalize, "NFD")),
)


@dataclass(frozen=True)
class Repair:
    """A rule that makes ids match."""

    rule: str  #: what has to be removed, and from which side
    matches: int  #: ids of the qrels that the run then has besides those that it has now
    undo: Callable[[str], str]  #: makes an id what it is without that

    def __str__(self) -> str:
        return f"Without {self.rule} {self.matches} more would match."


def repair_of(unknown: Collection[Entry], absent: Collection[Entry]) -> Repair | None:
    """Return the rule by which most ids would match, None without one."""
    sides = {"run": (unknown, absent), "qrels": (absent, unknown)}
    repairs = [
        Repair(f"{rule.words} in the {side}", _matches(rule, *of_side), rule.undo)
        for rule in (*RULES, *_affixes(unknown), *_affixes(absent))
        for side, of_side in sides.items()
    ]
    best = max(repairs, key=lambda repair: repair.matches)
    return best if best.matches else None


def repair_of_queries(unknown: Iterable[str], absent: Iterable[str]) -> Repair | None:
    """Return the rule by which most queries would match, None without one."""
    of_run, of_qrels = ({("", query) for query in queries} for queries in (unknown, absent))
    return repair_of(of_run, of_qrels) if of_run and of_qrels else None


def _matches(rule: Rule, changed: Iterable[Entry], others: Iterable[Entry]) -> int:
    """Return how many ids are among the others when a rule is undone."""
    pairs = ((query, identifier, rule.undo(identifier)) for query, identifier in changed)
    repaired = {(query, new) for query, identifier, new in pairs if new != identifier}
    return len(repaired.intersection(others))


def _affixes(entries: Iterable[Entry]) -> Iterator[Rule]:
    """Yield the prefixes and suffixes that at least half of the ids have."""
    ids = [identifier for _, identifier in entries]
    for prefix in accumulate(_shared_beginning(ids)):
        if not prefix[-1].isdigit():  # topic 15 is no other way of writing topic 5
            yield _removal(f'the prefix "{prefix}"', f"^{re.escape(prefix)}")
    for reversed_suffix in accumulate(_shared_beginning(identifier[::-1] for identifier in ids)):
        suffix = reversed_suffix[::-1]
        if not suffix[0].isdigit():
            yield _removal(f'the suffix "{suffix}"', f"{re.escape(suffix)}$")


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


def documents_to_repair(qrels: Qrels, run: Run, of_queries: Repair | None) -> Documents:
    """Compare ids of documents, in a sample if no rule helps there."""
    # Trying the rules on all ids takes much longer than reading them.
    step = max(1, len(run.query_ids) // SAMPLE)
    sampled = compared_documents(qrels, run, of_queries, step)
    return sampled if sampled.repair is None else compared_documents(qrels, run, of_queries)


def compared_documents(
    qrels: Qrels, run: Run, of_queries: Repair | None, step: int = 1
) -> Documents:
    """Compare ids of documents, where queries match, also if only by a rule."""
    # Only every so many queries are compared.
    change = str if of_queries is None else of_queries.undo
    code_of = {change(query): code for code, query in enumerate(qrels.query_ids)}
    order = ranking(run, "trec").order
    listed: set[Entry] = set()
    judged: set[Entry] = set()
    for position in range(0, len(run.query_ids), step):
        query = change(run.query_ids[position])
        rows = np.arange(*run.offsets[position : position + 2])[:DEPTH]
        docids = run.docids[rows if order is None else order[rows]]
        listed.update((query, docid.decode()) for docid in docids.tolist())
        if query in code_of:
            code = code_of[query]
            docids = qrels.docids[slice(*qrels.offsets[code : code + 2])]
            judged.update((query, docid.decode()) for docid in docids.tolist())
    unknown = listed - judged
    absent = judged - listed
    n_judged = len(listed & judged)
    few = MANY_IDS * n_judged
    repair = None
    if len(unknown) > few:  # no rule makes more of them match
        repair = repair_of(unknown, absent)
    if repair is not None and repair.matches <= few:
        repair = None
    examples = (some(sorted({docid for _, docid in ids}), 3) for ids in (unknown, absent))
    return Documents(len(listed), n_judged, f"({'; they have '.join(examples)})", repair)


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
    problem = f"the qrels have none of its {plural('document', len(run))} {documents.examples}."
    return f"{problem} {documents.repair or 'Are these from the same collection?'}"
