"""What is said about runs: what stops an analysis, and what to know."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, compress, islice
from typing import Literal, get_args

import numpy as np

from ir_outcomes.errors import MismatchError, some
from ir_outcomes.evaluation.clusters import separator_in, text_before
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.repairs import repair_of_queries
from ir_outcomes.evaluation.search import JUDGED_DEPTH
from ir_outcomes.formatting import listed, percent, plural
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.qrels import Qrels

MANY_AGAINST_RANKS = 0.01  # share of the queries whose scores contradict their ranks
MANY_BELOW_ITSELF = 0.01  # share of the queries that are documents, too, above what is relevant
MANY_RUNS = 3  # whose names differ only in a number
MANY_REORDERED = 0.2  # share of the answered queries; files of usual systems have up to 0.15
# Share of the answerable queries above which missing results are the first thing to know.
MANY_MISSING = 0.05
# Shares of the queries in which all scores are equal: more stop, and as many are a note.
MOST_EQUAL = 0.5
MANY_EQUAL = 0.05
UNEVEN_JUDGING = 0.05  # shares of unjudged documents that differ by more can bias a comparison

# What stops an analysis unless its argument `allow` lists it; notes of these kinds say so.
Stop = Literal["unknown-ids", "rising-scores", "equal-scores", "missing-values"]
STOPS: tuple[Stop, ...] = get_args(Stop)
Allow = Collection[Stop]


def refuse_stops(runs: Iterable[SearchLengths], allow: Allow = ()) -> None:
    """Raise the error about runs whose results would mean nothing.

    Parameters
    ----------
    runs : iterable of SearchLengths
        Those that are compared.
    allow : collection of {"unknown-ids", "rising-scores", "equal-scores"}
        What is meant: a run of whose queries or documents the qrels have none; scores that rise
        with the rank in more than half of the queries; scores that are all equal beside ranks.

    Raises
    ------
    MismatchError
        With what would repair the first that is not allowed.
    """
    for stop in stops_of(runs):
        if stop.kind not in allow:
            raise MismatchError(f"{stop.details} If that is meant, pass `allow=[{stop.kind!r}]`.")


def stops_of(runs: Iterable[SearchLengths]) -> list[Note]:
    """Say which runs cannot be judged as they were read, by kinds."""
    runs = list(runs)
    stops = []
    unknown = [run for run in runs if run.diagnosis.unknown_ids]
    if unknown:
        texts = [f"{run.name}: {run.diagnosis.unknown_ids}" for run in unknown[:3]]
        if len(unknown) > 3:
            texts.append(f"The same holds for {plural('other run', len(unknown) - 3)}.")
        stops.append(note("unknown-ids", " ".join(texts), [run.name for run in unknown]))
    rising = {run.name: run.diagnosis for run in runs if rises(run)}
    if rising:
        names = list(rising)
        first = rising[names[0]]
        text = (
            f"in {first.rising.sum()} of {plural('query', int(first.listed.sum()))} of {some(names)}"
            " scores rise with the rank. If lower scores are better, negate them; if the ranks are"
            " right, put #rank behind the path."
        )
        stops.append(note("rising-scores", text, names))
    names = [run.name for run in runs if run.diagnosis.equal_scores > MOST_EQUAL]
    if names:
        text = (
            f"all documents of a query have the same score in {some(names)}, so their order is that"
            " of their ids. If the ranks beside them are right, put #rank behind the path."
        )
        stops.append(note("equal-scores", text, names))
    return stops


def rises(run: SearchLengths) -> bool:
    """Return whether scores rise with the rank in more than half of the queries."""
    return bool(2 * run.diagnosis.rising.sum() > run.diagnosis.listed.sum())


def notes_on_documents(runs: Sequence[SearchLengths]) -> Iterator[Note]:
    """Say what stops an analysis, and what scores or ids contradict."""
    yield from stops_of(runs)
    shares = {run.name: run.diagnosis.equal_scores for run in runs}
    if equal := {name: n for name, n in shares.items() if MANY_EQUAL <= n <= MOST_EQUAL}:
        text = (
            f"in {_range_of(equal)} of the queries of {some([*equal], 3)} all documents have the"
            " same score, so their order is that of their ids."
        )
        yield note("equal-scores", text, [*equal])
    answerable = runs[0].answerable
    if not answerable.any():
        return
    shares = {
        run.name: float(run.diagnosis.against_ranks[answerable].mean())
        for run in runs
        if not rises(run)
    }
    if against := {name: n for name, n in shares.items() if n > MANY_AGAINST_RANKS}:
        text = (
            f"in {_range_of(against)} of the queries of {some([*against], 3)}; scores decide (for"
            " ranks: #rank behind the path)."
        )
        yield note("scores against ranks", text, [*against])
    numbers = {run.name: int(run.diagnosis.below_itself[answerable].sum()) for run in runs}
    least = MANY_BELOW_ITSELF * answerable.sum()
    if below := {name: n for name, n in numbers.items() if n > least}:
        text = (
            f"in {plural('query', max(below.values()))} of {some([*below], 3)} the document with the"
            " query's own id stands above what is relevant; if queries are documents, too, pass"
            " `drop_self=True`."
        )
        yield note("queries as documents", text, [*below])


def notes_on_copies(runs: Iterable[SearchLengths]) -> Iterator[Note]:
    """Say which runs have the same lists, as a file and its copy have."""
    of_lists = defaultdict[bytes, list[str]](list)
    for run in runs:
        if run.diagnosis.listed.any():
            of_lists[run.diagnosis.digests.tobytes()].append(run.name)
    groups = [names for names in of_lists.values() if len(names) > 1]
    if groups:
        rest = ""
        if len(groups) > 1:
            rest = f", and so have {plural('other group', len(groups) - 1)} of runs"
        text = (
            f"{some(groups[0])} have the same documents in the same order for every query{rest};"
            " is one a copy, or the wrong file?"
        )
        yield note("identical", text, list(chain.from_iterable(groups)))


def notes_on_grades(qrels: Qrels | None, rel: int) -> Iterator[Note]:
    """Say that every grade above 0 of graded judgments counts."""
    highest = 0 if qrels is None else int(qrels.grades.max(initial=0))
    if rel == 1 and highest > 1:
        text = f"grade 1 counts as relevant, of grades up to {highest}; see `rel=2`."
        yield note("grades", text)


def notes_on_runs(runs: Sequence[SearchLengths], qrels: Qrels | None) -> Iterator[Note]:
    """Say what a reader of any analysis of these runs should know."""
    yield from notes_on_documents(runs)
    yield from notes_on_copies(runs)
    yield from notes_on_grades(qrels, runs[0].rel)
    yield from notes_on_queries(runs)


def notes_on_unanswerable(runs: Sequence[SearchLengths]) -> Iterator[Note]:
    """Say how many queries are left out."""
    unanswerable = int(np.sum(~runs[0].answerable))
    if unanswerable:
        verb = "has" if unanswerable == 1 else "have"
        left_out = "is" if unanswerable == 1 else "are"
        text = (
            f"{plural('query', unanswerable)} {verb} no relevant document at rel {runs[0].rel} and"
            f" {left_out} left out."
        )
        yield note("unanswerable", text)


def notes_on_queries(runs: Sequence[SearchLengths]) -> Iterator[Note]:
    """Say which queries belong together, count as unanswered, are ignored, or tied."""
    if runs[0].clusters is None:
        yield from notes_on_ids(runs[0].query_ids)
    yield from notes_on_listing(runs)
    yield from notes_on_ties(runs)


@lru_cache(maxsize=8)  # it takes longer than a comparison, and all contenders have the same queries
def notes_on_ids(query_ids: tuple[str, ...]) -> tuple[Note, ...]:
    """Say that ids look like those of clusters or trials."""
    separator = separator_in(query_ids)
    if separator is None:
        return ()
    n_clusters = len({text_before(separator, query) for query in query_ids})
    text = (
        f"by their ids they seem to be in {n_clusters} clusters, and tests take queries as"
        f" independent; if so, pass `clusters='by:{separator}'`."
    )
    return (note("dependent", text),)


def notes_on_systems(names: Sequence[str]) -> Iterator[Note]:
    """Say that names look like those of several runs of a system."""
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
    """Say which queries runs lack, or have beyond the qrels."""
    runs_without = defaultdict[str, list[str]](list)
    runs_beyond = defaultdict[tuple[str, str], list[str]](list)
    for run in runs:
        absent = list(compress(run.query_ids, run.answerable & ~run.diagnosis.listed))
        ignored = run.diagnosis.ignored
        if absent:
            queries = f"{plural('query', len(absent))} of the qrels ({some(absent)})"
            runs_without[queries].append(run.name)
        if ignored:
            queries = f"{plural('query', len(ignored))} that the qrels lack ({some(ignored)}), ignored here."
            # Of unknown ids the rule is said before.
            repair = None if run.diagnosis.unknown_ids else repair_of_queries(ignored, absent)
            if repair is None:
                runs_beyond["ignored", queries].append(run.name)
            else:
                runs_beyond["ids", f"{queries} {repair}"].append(run.name)
    for queries, names in runs_without.items():
        lack = "lacks" if len(names) == 1 else "lack"
        yield note("missing", f"{some(names)} {lack} {queries}, counted as unanswered.", names)
    for (kind, queries), names in runs_beyond.items():
        have = "has" if len(names) == 1 else "have"
        yield note(kind, f"{some(names)} {have} {queries}", names)


def notes_on_missing(
    missing: Mapping[str, int], n_queries: int, runs: Sequence[str] = ()
) -> Iterator[Note]:
    """Say which runs have no results for how many of the answerable queries."""
    numbers = {name: number for name, number in missing.items() if number}
    if not numbers:
        return
    texts = [
        f"{name} has no results for {number} of {n_queries} queries"
        f" ({percent(number / n_queries)} %)"
        for name, number in islice(numbers.items(), 3)
    ]
    if len(numbers) > 3:
        texts.append(f"{plural('other run', len(numbers) - 3)} lack some, too")
    kind = "many missing" if max(numbers.values()) > MANY_MISSING * n_queries else "missing"
    remedy = "Run the system on them, or leave them out of the qrels."
    yield note(kind, f"{listed(texts)}; they count as not found. {remedy}", runs)


def note_on_depth(deepest: int, cutoff: int) -> Note:
    """Say where all lists end before the cutoff."""
    text = f"the longest list has {plural('document', deepest)}, the cutoff is {cutoff}."
    return note("beyond lists", text)


def notes_on_ties(runs: Sequence[SearchLengths]) -> Iterator[Note]:
    """Say which runs have many results that hang on the rule for ties."""
    shares = {
        run.name: float(run.diagnosis.reordered[answered].mean())
        for run in runs
        if (answered := run.answered() > 0).any()
    }
    if tied := {name: n for name, n in shares.items() if n >= MANY_REORDERED}:
        text = (
            f"in {_range_of(tied)} of the queries that {some([*tied], 3)}"
            f" {'answers' if len(tied) == 1 else 'answer'}, the rule {runs[0].ties!r} gives the"
            " first relevant document another rank than the order of the input; if that order is"
            " meant, pass `ties='input'`."
        )
        yield note("ties", text, [*tied])


def _range_of(shares: Mapping[str, float]) -> str:
    """Write the smallest and the largest share in per cent."""
    lowest = percent(min(shares.values()), 0)
    highest = percent(max(shares.values()), 0)
    return f"{highest} %" if lowest == highest else f"{lowest} to {highest} %"


def n_missing(run: SearchLengths) -> int:
    """Count the answerable queries for which the run returned nothing."""
    # Under judged_only an empty list can mean that all its documents were removed, so only absent
    # queries count.
    absent = ~run.diagnosis.listed if run.judged_only else run.retrieved == 0
    return int(np.sum(run.answerable & absent))


def unjudged_share(run: SearchLengths) -> float | None:
    """Share of unjudged documents among the first, None where lists are cut before."""
    if run.cutoff is not None and run.cutoff < JUDGED_DEPTH:
        return None
    documents = np.minimum(run.retrieved, JUDGED_DEPTH).sum()
    return float(run.diagnosis.unjudged.sum() / max(documents, 1))
