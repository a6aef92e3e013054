"""The history of the state of the art: every submission that took first place."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from ir_outcomes.errors import ParameterError, some
from ir_outcomes.formatting import plural
from ir_outcomes.notes import as_notes
from ir_outcomes.reading.tables import Entry, read_entries
from ir_outcomes.results import HasFigures, Result
from ir_outcomes.statistics.resampling import ROUNDING
from ir_outcomes.table_columns import NUMBER, Column, attributes, rows_of, signed


@dataclass(frozen=True)
class SotaRun:
    """A submission that took first place."""

    number: int  #: 1 for the first
    run: str  #: the submission
    group: str | None  #: who submitted it, where the entries say so
    date: date  #: the day of the submission
    score: float  #: its score
    #: Difference from the previous state of the art, in the unit of the score; None for the first.
    gain: float | None
    #: Number of submissions up to and including this day, with and without a score, without the
    #: organizers' baselines: how often the same test queries had been used.
    looks: int


SOTA_COLUMNS = (
    Column("number", heading=" ", form=NUMBER),
    *attributes("run", "group"),
    Column("date", lambda run: run.date.isoformat()),
    Column("score"),
    Column("gain", form=signed(4)),
    Column("looks", form=NUMBER),
)


@dataclass(frozen=True)
class SotaHistory(HasFigures, Result):
    """Who took first place, and when, with the figure "history" (Lin et al. 2021).

    Attributes
    ----------
    runs : tuple of SotaRun
        In the order of time.
    entries : tuple of Entry
        All submissions with a score, in the order of time.
    submissions : mapping of str to int
        Number of submissions of each group, with and without a score, as the entries spell it, most
        first.
    higher_is_better : bool
        Direction of the score.
    score : str
        Name of the score.
    notes : tuple of str
        Caveats.
    """

    runs: tuple[SotaRun, ...]
    entries: tuple[Entry, ...]
    submissions: Mapping[str, int]
    higher_is_better: bool
    score: str

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run that took first place."""
        return rows_of(SOTA_COLUMNS, self.runs)


def sota_history(
    entries: Any,
    *,
    score: str | None = None,
    until: date | str | None = None,
    higher_is_better: bool = True,
) -> SotaHistory:
    """Find each submission that took first place, from dates and scores alone.

    The history begins with the first submission that beats the organizers' baselines of its day and
    before; a submission takes first place with a strictly better score than all entries before it.
    Scores that are equal except for rounding are equal. Of several submissions on one day the best
    counts.

    Parameters
    ----------
    entries : path, or iterable of mapping
        CSV or JSON with the columns id, date and a score, and optionally group and baseline, which
        marks the baselines of the organizers.
    score : str, optional
        Column of the score; by default the one whose name contains "eval", or "score".
    until : date or str, optional
        Leave out later submissions; a text is written as "2021-02-15".
    higher_is_better : bool
        Direction of the score.

    Raises
    ------
    InputError
        If the entries cannot be read.
    ParameterError
        If no entry has a score, or `until` is not a date or is before the first entry.

    References
    ----------
    Lin et al. 2021, Figure 1; Craswell et al. 2021, section 1: "beginning with the first submission
    that beat organizer-supplied baselines".

    Examples
    --------
    >>> entries = [
    ...     {"id": "bm25", "date": "2020-08-01", "score": 0.2, "baseline": True},
    ...     {"id": "a", "date": "2020-08-10", "score": 0.19},
    ...     {"id": "b", "date": "2020-08-20", "score": 0.3},
    ...     {"id": "c", "date": "2020-09-01", "score": 0.35},
    ... ]
    >>> [(run.number, run.run, run.looks) for run in sota_history(entries).runs]
    [(1, 'b', 2), (2, 'c', 3)]
    """
    read, column = read_entries(entries, score)
    if until is not None:
        try:
            # The time of a datetime does not count.
            last = datetime.fromisoformat(str(until)).date()
        except ValueError:
            raise ParameterError("write a date such as 2021-02-15", until=until) from None
        read = tuple(entry for entry in read if entry.date <= last)
    if not any(entry.score is not None for entry in read):
        upto = "" if until is None else f" up to {until}"
        raise ParameterError(
            f"no entry{upto} has a score; name its column with `score`, or give a later day"
        )
    sign = 1 if higher_is_better else -1
    gains = {entry.run: sign * entry.score for entry in read if entry.score is not None}
    scored = sorted(
        (entry for entry in read if entry.run in gains),
        key=lambda entry: (entry.date, entry.run),
    )
    submitted = sorted(entry.date for entry in read if not entry.is_baseline)
    slack = ROUNDING * max(map(abs, gains.values()), default=0.0)
    best = float("-inf")
    runs: list[SotaRun] = []
    # A baseline must be beaten from its own day on, but never takes first place; of a day's
    # submissions the best comes first.
    for entry in sorted(
        scored, key=lambda entry: (entry.date, not entry.is_baseline, -gains[entry.run])
    ):
        if gains[entry.run] <= best + slack:
            continue
        best = gains[entry.run]
        if not entry.is_baseline:
            gain = sign * best - runs[-1].score if runs else None
            runs.append(
                SotaRun(
                    number=len(runs) + 1,
                    run=entry.run,
                    group=entry.group,
                    date=entry.date,
                    score=sign * best,
                    gain=gain,
                    looks=bisect_right(submitted, entry.date),
                )
            )
    groups = Counter(
        entry.group for entry in read if entry.group is not None and not entry.is_baseline
    )
    notes = []
    if unscored := [entry.run for entry in read if entry.score is None]:
        verb, counts = ("has", "it counts") if len(unscored) == 1 else ("have", "they count")
        notes.append(
            f"{plural('entry', len(unscored))} {verb} no score: {counts} as a use of the test"
            f" queries, but cannot take first place: {some(unscored)}."
        )
    if not runs:
        notes.append("No submission beats the organizers' baselines.")
    return SotaHistory(
        tuple(runs),
        tuple(scored),
        dict(groups.most_common()),
        higher_is_better,
        column or "score",
        notes=as_notes(notes),
    )
