"""What is said about runs and their queries: what is missing, unknown, ignored, tied or unjudged, and how ids would match."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, product, repeat
from os.path import commonprefix

import numpy as np

from ir_outcomes.errors import some
from ir_outcomes.evaluation.clusters import text_before
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.formatting import percent, plural
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.qrels import Qrels

MANY_AGAINST_RANKS = 0.01  # share of the queries whose scores contradict their ranks
MANY_RUNS = 3  # whose names differ only in a number
MANY_REORDERED = 0.2  # share of the answered queries; files of usual systems have up to 0.15
# Share of the answerable queries above which missing results are the first thing to know.
MANY_MISSING = 0.05
UNEVEN_JUDGING = 0.05  # shares of unjudged documents that differ by more can bias a comparison


def of_unknown_documents(runs: Iterable[SearchLengths]) -> list[str]:
    """Name the runs that have documents, of which the qrels know none, in any query."""
    # Under judged_only the documents that are not judged have been removed.
    return [run.name for run in runs if not run.known and (run.judged_only or run.retrieved.any())]


def notes_on_documents(runs: Sequence[SearchLengths]) -> Iterator[Note]:
    """Say of which runs the qrels know no document, and of which the scores contradict the ranks beside them."""
    names = of_unknown_documents(runs)
    if names:
        text = (
            f"the qrels know no document of {some(names)}, in any query, so nothing can be found;"
            " are ids written as in the qrels?"
        )
        yield note("unknown documents", text, names)
    shares = {
        run.name: float(run.against_ranks[run.answerable].mean())
        for run in runs
        if run.answerable.any()
    }
    names = [name for name, share in shares.items() if share > MANY_AGAINST_RANKS]
    if names:
        share = _range_of([shares[name] for name in names])
        text = (
            f"in {share} of the queries of {some(names, 3)} a document scores higher than one ranked"
            " before it, and scores decide; if the ranks are right, put #rank behind the path; if"
            " lower scores are better, negate them."
        )
        yield note("scores against ranks", text, names)


def notes_on_copies(runs: Iterable[SearchLengths]) -> Iterator[Note]:
    """Say which runs have the same lists, as a file and its copy have."""
    of_lists = defaultdict[bytes, list[str]](list)
    for run in runs:
        if run.listed.any():
            of_lists[run.digests.tobytes()].append(run.name)
    groups = [names for names in of_lists.values() if len(names) > 1]
    if groups:
        others = ""
        if len(groups) > 1:
            others = f", and so have {plural('other group', len(groups) - 1)} of runs"
        text = (
            f"{some(groups[0])} have the same documents in the same order for every query{others};"
            " is one a copy, or the wrong file?"
        )
        yield note("identical", text, list(chain.from_iterable(groups)))


def notes_on_grades(qrels: Qrels | None, rel: int) -> Iterator[Note]:
    """Say that a grade counts as relevant here that does not count in the track that the judgments are of."""
    if qrels is not None and rel == 1 and qrels.grades.max(initial=0) > 1:
        text = (
            "the qrels have grades above 1, and grade 1 counts as relevant here, as it does not in"
            " TREC DL's passage tasks; see `rel=2`."
        )
        yield note("grades", text)


def notes_on_queries(runs: Sequence[SearchLengths]) -> Iterator[Note]:
    """Say which queries are left out, count as unanswered, or are ignored."""
    unanswerable = int(np.sum(~runs[0].answerable))
    if unanswerable:
        verb = "has" if unanswerable == 1 else "have"
        left_out = "is" if unanswerable == 1 else "are"
        text = (
            f"{plural('query', unanswerable)} {verb} no relevant document at rel {runs[0].rel} and"
            f" {left_out} left out."
        )
        yield note("unanswerable", text)
    yield from notes_on_clusters(runs[0])
    yield from notes_on_listing(runs)
    yield from notes_on_ties(runs)


def notes_on_clusters(run: SearchLengths) -> Iterator[Note]:
    """Say that ids look like those of clusters: the text before a separator is that of several queries each."""
    if run.clusters is not None:
        return
    for separator in ("<::>", "::", "#", "_"):
        n_clusters = len({text_before(separator, query) for query in run.query_ids})
        if 10 <= n_clusters <= len(run.query_ids) / 2:
            text = (
                f"by their ids they seem to be in {n_clusters} clusters, and tests take queries as"
                f" independent; if so, pass `clusters='by:{separator}'`."
            )
            yield note("dependent", text)
            return


def notes_on_systems(names: Sequence[str]) -> Iterator[Note]:
    """Say that names look like those of several runs of a system, which differ only in the number at their end."""
    for separator in ("_", "-", "."):
        parts = [name.rpartition(separator) for name in names]
        numbered = Counter(system for system, _, number in parts if number.isdecimal())
        systems = [system for system, times in numbered.items() if system and times >= MANY_RUNS]
        if systems:
            text = (
                f"by their names some seem to be runs of {some(systems, 3)}, such as its seeds; if"
                f" so, pass `replicates='by:{separator}'`, and they count as one system."
            )
            yield note("one system", text)
            return


def notes_on_listing(runs: Sequence[SearchLengths]) -> Iterator[Note]:
    """Say which queries runs lack, or have beyond the qrels; runs with the same queries share a note."""
    lacking = defaultdict[str, list[str]](list)
    ignoring = defaultdict[str, list[str]](list)
    for run in runs:
        absent = [run.query_ids[query] for query in np.flatnonzero(run.answerable & ~run.listed)]
        if absent:
            lacking[f"{plural('query', len(absent))} of the qrels ({some(absent)})"].append(
                run.name
            )
        if run.ignored:
            repair = repair_of_queries(run.ignored, absent) or ""
            queries = (
                f"{plural('query', len(run.ignored))} that the qrels lack ({some(run.ignored)})"
            )
            ignoring[f"{queries}, ignored here. {repair}".rstrip()].append(run.name)
    for queries, names in lacking.items():
        lack = "lacks" if len(names) == 1 else "lack"
        yield note("missing", f"{some(names)} {lack} {queries}, counted as unanswered.", names)
    for queries, names in ignoring.items():
        have = "has" if len(names) == 1 else "have"
        yield note("ignored", f"{some(names)} {have} {queries}", names)


def note_on_depth(deepest: int, cutoff: int, renamed: str = "") -> Note:
    """Say where all lists end before the cutoff."""
    text = f"No run is deeper than {deepest}: the cutoff {cutoff} is in effect {deepest}{renamed}."
    return note("shallow", text)


def notes_on_ties(runs: Sequence[SearchLengths]) -> Iterator[Note]:
    """Say which runs have so many equal scores that the rule for ties decides where many first relevant documents stand."""
    shares = {
        run.name: float(run.reordered[run.answered() > 0].mean())
        for run in runs
        if run.answered().any()
    }
    named = [name for name, share in shares.items() if share >= MANY_REORDERED]
    if named:
        share = _range_of([shares[name] for name in named])
        text = (
            f"in {share} of the queries that {some(named, 3)}"
            f" {'answers' if len(named) == 1 else 'answer'}, the rule {runs[0].ties!r} gives the"
            " first relevant document another rank than the order of the input; if that order is"
            " meant, pass `ties='input'`."
        )
        yield note("ties", text, named)


def _range_of(shares: Sequence[float]) -> str:
    """Write the smallest and the largest share in per cent."""
    least = percent(min(shares), 0)
    most = percent(max(shares), 0)
    return f"{most} %" if least == most else f"{least} to {most} %"


def n_missing(run: SearchLengths) -> int:
    """Count the answerable queries for which the run returned nothing."""
    # Under judged_only an empty list can mean that all its documents were removed, so only absent
    # queries count.
    absent = ~run.listed if run.judged_only else run.retrieved == 0
    return int(np.sum(run.answerable & absent))


def unjudged_share(run: SearchLengths, depth: int) -> float | None:
    """Share of unjudged documents among the first documents of all lists; None where this depth was not kept."""
    unjudged = run.unjudged_within(depth)
    if unjudged is None:
        return None
    documents = np.minimum(run.retrieved, depth).sum()
    return float(unjudged.sum() / max(documents, 1))


# --- how ids would match

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
