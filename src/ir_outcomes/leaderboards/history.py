"""The history of the state of the art: each submission that took the top, and how often the test queries were looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from ir_outcomes._formatting import plural
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.leaderboards.pairs import PairVerdict
from ir_outcomes.reading.entries import Entry, read_entries
from ir_outcomes.results import Result, versions

__all__ = ["SotaHistory", "SotaRun", "history_of", "sota_history"]


@dataclass(frozen=True)
class SotaRun:
    """A submission that took the top.

    Attributes
    ----------
    number : int
        1 for the first.
    run, group : str
        Which, and by whom (None where the table does not say).
    date : date
        When.
    score : float
        Its score.
    gain : float or None
        Over the state of the art that it displaced, in the score's unit; None for the first.
    looks : int
        Submissions up to and including this day, with and without a score, the organizers' baselines left out: how often the
        same test queries had been looked at.
    verdict : PairVerdict or None
        Against the state of the art that it displaced; None for the first, and where there are no runs. Its corrected
        p-values are those of one comparison times `looks` (Bonferroni).
    """

    number: int
    run: str
    group: str | None
    date: date
    score: float
    gain: float | None
    looks: int
    verdict: PairVerdict | None


@dataclass(frozen=True)
class SotaHistory(Result):
    """Who took the top of a leaderboard, and when; the picture is "history", Figure 1 of Lin et al. 2021.

    Attributes
    ----------
    runs : tuple of SotaRun
        In the order of time.
    entries : tuple of Entry
        All submissions with a score, in the order of time.
    submissions : dict of str to int
        Number of submissions of each group, as the table spells it, most first.
    higher_is_better : bool
        Direction of the score.
    score : str
        What the score is.
    notes : tuple of str
        What a careful reader must know.
    versions : dict of str to str
        Of ir_outcomes, NumPy, SciPy, ir_measures and Python.
    """

    runs: tuple[SotaRun, ...]
    entries: tuple[Entry, ...]
    submissions: dict[str, int]
    higher_is_better: bool
    score: str
    notes: tuple[str, ...]
    versions: dict[str, str]

    def _summary(self) -> str:
        return f"{plural('run', len(self.runs))} of {plural('entry', len(self.entries))} took the top by {self.score}"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run that took the top."""
        return [
            {
                "number": each.number,
                "run": each.run,
                "group": each.group,
                "date": each.date.isoformat(),
                "score": each.score,
                "gain": each.gain,
                "looks": each.looks,
                "coverage": None if each.verdict is None else each.verdict.coverage,
                "coverage_p_corrected": None if each.verdict is None else each.verdict.coverage_p_corrected,
                "ranking": None if each.verdict is None else each.verdict.ranking,
                "ranking_p_corrected": None if each.verdict is None else each.verdict.ranking_p_corrected,
                "verdict": None if each.verdict is None else each.verdict.label,
            }
            for each in self.runs
        ]


def sota_history(
    table: Any, *, score: str | None = None, until: date | str | None = None, higher_is_better: bool = True
) -> SotaHistory:
    """Find each submission that took the top of a leaderboard, from a table of scores alone.

    The history begins with the first submission that beats the organizers' baselines; a submission takes the top with a
    strictly better score than all before it. Of several on one day the best counts.

    Parameters
    ----------
    table : path, or iterable of mapping
        CSV or JSON; see `ir_outcomes.reading.entries.read_entries` for its columns.
    score : str, optional
        Column of the score; by default the one whose name holds "eval", or "score".
    until : date or str, optional
        Leave out what came later, such as "2021-02-15".
    higher_is_better : bool
        Direction of the score.

    Returns
    -------
    SotaHistory

    Raises
    ------
    InputError
        If the table cannot be read.
    ParameterError
        If there is no column of scores.

    References
    ----------
    Lin et al. 2021, Figure 1; Craswell et al. 2021, section 2: "beginning with the first submission that beat
    organizer-supplied baselines".

    Examples
    --------
    >>> table = [
    ...     {"id": "bm25", "date": "2020-08-01", "score": 0.2, "baseline": True},
    ...     {"id": "a", "date": "2020-08-10", "score": 0.19},
    ...     {"id": "b", "date": "2020-08-20", "score": 0.3},
    ...     {"id": "c", "date": "2020-09-01", "score": 0.35},
    ... ]
    >>> [(each.number, each.run, each.looks) for each in sota_history(table).runs]
    [(1, 'b', 2), (2, 'c', 3)]
    """
    entries, column = read_entries(table, score)
    if until is not None:
        try:
            last = until if isinstance(until, date) else date.fromisoformat(until)
        except ValueError:
            raise ParameterError(f"until={until!r}: write a date such as 2021-02-15") from None
        entries = tuple(each for each in entries if each.date <= last)
        if not entries:
            raise ParameterError(f"until={last.isoformat()}: nothing was submitted by then")
    if not any(each.score is not None for each in entries):
        raise ParameterError("no entry has a score; name its column with score=")
    return history_of(entries, higher_is_better=higher_is_better, score=column or "score")


def history_of(entries: Sequence[Entry], *, higher_is_better: bool, score: str) -> SotaHistory:
    """Do the same with entries that are already read."""
    sign = 1 if higher_is_better else -1
    unscored = [each.run for each in entries if each.score is None]
    scored = sorted((each for each in entries if each.score is not None), key=lambda each: (each.date, each.run))
    best = max((sign * _score(each) for each in scored if each.is_baseline), default=float("-inf"))
    runs: list[SotaRun] = []
    submissions = [each for each in scored if not each.is_baseline]
    for each in submissions:
        top_of_day = max(sign * _score(other) for other in submissions if other.date == each.date)
        value = sign * _score(each)
        if value > best and value == top_of_day:
            looks = sum(other.date <= each.date and not other.is_baseline for other in entries)
            gain = None if not runs else _score(each) - runs[-1].score
            runs.append(SotaRun(len(runs) + 1, each.run, each.group, each.date, _score(each), gain, looks, None))
            best = value
    notes = []
    if unscored:
        notes.append(f"{len(unscored)} entries have no score: they count as looks, but take no place: {some(unscored)}.")
    if not runs:
        notes.append("No submission beats the organizers' baselines.")
    groups = Counter(each.group for each in submissions if each.group is not None)
    return SotaHistory(
        tuple(runs), tuple(scored), dict(groups.most_common()), higher_is_better, score, tuple(notes), versions()
    )


def with_verdicts(history: SotaHistory, verdicts: dict[tuple[str, str], PairVerdict]) -> SotaHistory:
    """Add the verdict on each run against the one it displaced; `verdicts` is keyed by baseline and contender."""
    judged = [
        each if before is None else replace(each, verdict=verdicts[before.run, each.run])
        for before, each in zip((None, *history.runs[:-1]), history.runs, strict=True)
    ]
    return replace(history, runs=tuple(judged))


def entries_of(source: Any, scores: dict[str, float]) -> tuple[Entry, ...]:
    """Take the entries of a table, with these scores instead of its own; entries of other runs have none.

    Raises
    ------
    MismatchError
        If the table lacks a run.
    """
    entries = {each.run: each for each in read_entries(source).entries}
    missing = [run for run in scores if run not in entries]
    if missing:
        raise MismatchError(f"the table of entries has no row for {some(missing)}; its ids are {some(list(entries))}")
    return tuple(replace(entry, score=scores.get(run)) for run, entry in entries.items())


def _score(entry: Entry) -> float:
    if entry.score is None:
        raise ValueError("an entry without a score")
    return entry.score
