"""Runs at a shared depth: ASL compares runs only where a missing document costs each of them the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np

from ir_outcomes._checks import check_choice, check_positive
from ir_outcomes._formatting import plural
from ir_outcomes._types import Missing, Ties
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.notes import UNEVEN_JUDGING, notes_on_queries, unjudged_share

__all__ = ["RunsAtDepth", "TailSettings", "check_evaluation", "pair_at_depth", "runs_at_depth"]


@dataclass(frozen=True)
class TailSettings:
    """How the search lengths of an analysis were computed.

    Attributes
    ----------
    cutoff : int or None
        Depth of the runs; None where runs of unequal depth were asked for.
    rel : int
        Smallest grade of a relevant document.
    ties : {"trec", "msmarco", "input", "expected"}
        Order among equal scores.
    judged_only : bool
        Whether unjudged documents were removed before ranks were counted.
    missing : {"retrieved", "cutoff"}
        Search length of a missing document; see `SearchLengths.asl`.
    """

    cutoff: int | None
    rel: int
    ties: Ties
    judged_only: bool
    missing: Missing


class RunsAtDepth(NamedTuple):
    """Search lengths of runs at a depth, with the settings and notes of the result that is made of them."""

    runs: tuple[SearchLengths, ...]
    settings: TailSettings
    notes: tuple[str, ...]

    @property
    def depth(self) -> int:
        """The depth, or that of the deepest run where they are unequal."""
        return self.settings.cutoff or max(_reached(run) for run in self.runs)


def runs_at_depth(ev: Evaluation, cutoff: int | None, missing: Missing) -> RunsAtDepth:
    """Take all runs of an evaluation at a shared depth.

    Parameters
    ----------
    ev : Evaluation
        The runs.
    cutoff : int or None
        The depth; None for the one that all runs reach.
    missing : {"retrieved", "cutoff"}
        See `SearchLengths.asl`.

    Raises
    ------
    MismatchError
        If there is no cutoff, the runs differ in depth, and ``missing="retrieved"`` was not asked for; or if the cutoff is
        larger than the one that search lengths were computed with.
    ParameterError
        If `ev` is not an evaluation, a setting is invalid, or under ``missing="retrieved"`` a missing document would have no
        search length.
    """
    check_evaluation(ev)
    check_positive("cutoff", cutoff, none_allowed=True)
    check_choice("missing", missing, get_args(Missing))
    reached = {run.name: _reached(run) for run in ev.runs}
    shared = min(reached.values())
    notes = list(notes_on_queries(ev.runs))
    runs = ev.runs
    if cutoff is not None:
        runs = ev.at(cutoff)
        shallow = [name for name, depth in reached.items() if depth < cutoff]
        if shallow:
            notes.append(f"{some(shallow)}: no list reaches the cutoff {cutoff}; what is ranked below its end is unknown.")
    elif max(reached.values()) == shared:
        cutoff = shared
        runs = ev.at(cutoff)
    elif missing == "cutoff":
        after = " after unjudged documents are removed" if ev.judged_only else ""
        raise MismatchError(
            f"the runs differ in depth{after} ({_depths(reached)}), and short lists look good in ASL: give the depth that all "
            f"share, cutoff={shared}, or missing='retrieved' for equation 3 of Alex et al. 2022 as printed"
        )
    else:
        notes.insert(0, f"The runs differ in depth ({_depths(reached)}); short lists look good in ASL, equation 3.")
    if missing == "retrieved":
        _refuse_lists_without_irrelevant_documents(runs)
    notes += _notes_on_unjudged(ev.runs, min(cutoff or shared, shared))
    return RunsAtDepth(runs, TailSettings(cutoff, ev.rel, ev.ties, ev.judged_only, missing), tuple(notes))


def pair_at_depth(ev: Evaluation, baseline: str, contender: str, cutoff: int | None, missing: Missing) -> RunsAtDepth:
    """Do the same with two runs, by their names; see `runs_at_depth`."""
    check_evaluation(ev)
    return runs_at_depth(ev[[baseline, contender]], cutoff, missing)


def check_evaluation(ev: Any) -> None:
    """Refuse what is not an `Evaluation`.

    Raises
    ------
    ParameterError
        Naming `evaluate`.
    """
    if not isinstance(ev, Evaluation):
        raise ParameterError(
            f"the analyses take an Evaluation, not a {type(ev).__name__}; make one with ir_outcomes.evaluate(qrels, runs)"
        )


def _reached(run: SearchLengths) -> int:
    """Length of the longest list of a run."""
    return int(run.retrieved.max(initial=1))


def _depths(reached: dict[str, int]) -> str:
    """Name the runs of each depth.

    Examples
    --------
    >>> _depths({"a": 1000, "b": 100, "c": 1000})
    '100: b; 1000: a, c'
    """
    names_at = {depth: [name for name in reached if reached[name] == depth] for depth in sorted(set(reached.values()))}
    return "; ".join(f"{depth}: {some(names, 3)}" for depth, names in names_at.items())


def _notes_on_unjudged(runs: Sequence[SearchLengths], depth: int) -> Iterator[str]:
    """Say where runs have unequal shares of unjudged documents, in the first documents of lists that all reach this depth."""
    depths = [kept for kept in runs[0].unjudged_depths if kept is not None and kept <= depth]
    if not depths or runs[0].judged_only:
        return
    first = max(depths)
    of_runs = {run.name: unjudged_share(run, first) for run in runs}
    shares = {name: share for name, share in of_runs.items() if share is not None}
    least, most = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    if shares[most] - shares[least] > UNEVEN_JUDGING:
        yield (
            f"Of the first {first} documents, {shares[least]:.0%} are unjudged in {least} and {shares[most]:.0%} in {most}. "
            "They count as irrelevant, which favors runs that have fewer of them; compare the result with judged_only=True."
        )


def _refuse_lists_without_irrelevant_documents(runs: Sequence[SearchLengths]) -> None:
    """Refuse what equation 3 gives a search length of 0: a missing document where no irrelevant document is retrieved."""
    for run in runs:
        irrelevant = run.retrieved - run.relevant_retrieved
        without = np.flatnonzero(run.answerable & (irrelevant == 0) & (run.relevant_retrieved < run.relevant))
        if len(without):
            queries = [run.query_ids[query] for query in without]
            raise ParameterError(
                f"{run.name}: no irrelevant documents for {plural('query', len(queries))} ({some(queries)}), where a missing "
                "document has no search length under equation 3; use missing='cutoff'"
            )
