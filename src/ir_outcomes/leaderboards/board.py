"""A leaderboard: standings, verdicts on all pairs, and measures of all runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from ir_outcomes.choices import Correction
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.errors import some
from ir_outcomes.leaderboards.differences import number_of_pair
from ir_outcomes.leaderboards.pairs import PAIR_COLUMNS, PairVerdict
from ir_outcomes.results import HasFigures, HasPage, Result
from ir_outcomes.statistics.estimate import Interval
from ir_outcomes.table_columns import NUMBER, Column, Form, attributes, of_part, rows_of

Order = Literal["tier", "measure"]


class RunScore(NamedTuple):
    """The score of one run of a system that has several."""

    run: str  #: its name
    score: float | None  #: mean of the measure that is shown; None where it is undefined


@dataclass(frozen=True)
class Standing:
    """The place of a run, or of a system of several runs, on a leaderboard."""

    rank: int  #: from 1, in the order of the board; equal runs share the smaller rank
    run: str  #: its name, or that of the system
    score: float | None  #: mean of the measure, over the runs, too; None where it is undefined
    #: of the score by itself, at level 1 - alpha; see `ir_outcomes.statistics.bounded`
    interval: Interval | None
    #: share of the answerable queries answered (or of their relevant documents found), in percent,
    #: higher is better; None where only the values of a measure were given
    coverage: float | None
    #: from 1, the best: no run is better than a run of tier 1, and only runs of earlier tiers are
    #: better than a run of a later one, except in cycles; None without verdicts
    tier: int | None
    won: int | None  #: number of runs that it is better than, by the verdicts
    lost: int | None  #: number of runs that are better than it
    runs: tuple[RunScore, ...] = ()  #: of a system that has several; else empty

    @property
    def range(self) -> Interval | None:
        """The smallest and the largest score of several runs, if all are defined."""
        scores = [run.score for run in self.runs if run.score is not None]
        if not scores or len(scores) < len(self.runs):
            return None
        return Interval(min(scores), max(scores))


@dataclass(frozen=True)
class MeasureOfRuns:
    """A column of a leaderboard: a measure of all runs."""

    measure: str  #: its name
    higher_is_better: bool  #: its direction
    values: tuple[float | None, ...]  #: its mean for each run, in the order of the standings
    #: of the first measure for each run those that it is significantly better than, corrected over
    #: all pairs, by the estimate of `ir_outcomes.compare`; empty for the others
    better_than: tuple[tuple[str, ...], ...] = ()


RUNS_COLUMNS = (
    Column("runs", lambda standing: len(standing.runs) or 1, form=NUMBER),
    Column("range", heading="range of runs", form=Form(places=3, of_interval=True)),
)


@dataclass(frozen=True)
class Leaderboard(HasFigures, HasPage, Result):
    """Runs by tier and measure, with figures "tiers" and "verdicts".

    Attributes
    ----------
    measure : str
        The measure that is shown, and orders the runs of a tier.
    order : {"tier", "measure"}
        What orders the runs: their tier, then the measure; or the measure alone.
    higher_is_better : bool
        Direction of the measure.
    alpha : float
        Level of the intervals (1 - alpha), of the verdicts and of the tests of `measures`.
    correction : {"holm", "bonferroni", "fdr_bh", "none"}
        Of p-values over all pairs, separately for each row and measure.
    standings : tuple of Standing
        Best first.
    pairs : sequence of PairVerdict
        The verdicts on all pairs, in the order of `itertools.combinations` of the runs by the
        measure, see `verdict`; empty where only the values of a measure were given.
    measures : tuple of MeasureOfRuns
        The measures that were asked for by name, the one that orders the runs first; empty where
        none was.
    cycles : tuple of tuple of str
        Runs that are better than each other in a cycle; all of them are in the same tier.
    n_queries, n_unanswerable : int
        Queries with a relevant document, and without one, which are left out of the verdicts.
    settings : Settings or None
        How the verdicts were reached; None where there are none.
    notes : tuple of Note
        Caveats.
    """

    measure: str
    order: Order
    higher_is_better: bool
    alpha: float
    correction: Correction
    standings: tuple[Standing, ...]
    pairs: Sequence[PairVerdict]
    measures: tuple[MeasureOfRuns, ...]
    cycles: tuple[tuple[str, ...], ...]
    n_queries: int
    n_unanswerable: int
    settings: Settings | None

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The runs of each tier, the best tier first, where there are verdicts."""
        last = max(standing.tier or 0 for standing in self.standings)
        return tuple(
            tuple(standing.run for standing in self.standings if standing.tier == tier)
            for tier in range(1, last + 1)
        )

    def verdict(self, baseline: str, contender: str) -> PairVerdict:
        """Return the verdict on a contender against a baseline, or raise KeyError."""
        first = self.pairs[: len(self.standings) - 1]
        names = [*(pair.baseline for pair in first[:1]), *(pair.contender for pair in first)]
        if baseline == contender or not {baseline, contender} <= {*names}:
            reason = (
                f"the runs are {some(names, 10)}" if names else "there are no verdicts on scores"
            )
            raise KeyError(f"{contender} against {baseline}; {reason}")
        upper, lower = sorted(map(names.index, (baseline, contender)))
        pair: PairVerdict = self.pairs[number_of_pair(upper, lower, len(names))]
        return pair if pair.baseline == baseline else pair.turned()

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run, with verdicts against the run above and the first."""
        names = [standing.run for standing in self.standings]
        above = {}
        best = {}
        if self.pairs:
            above = {run: self.verdict(upper, run) for upper, run in pairwise(names)}
            best = {run: self.verdict(names[0], run) for run in names[1:]}
        columns = (
            *attributes("rank", "tier", "run"),
            Column("measure", lambda _: self.measure),
            *attributes("score", "low=interval.low", "high=interval.high", "coverage"),
            *attributes("won", "lost"),
            *of_part(lambda standing: above.get(standing.run), PAIR_COLUMNS, "above_"),
            *of_part(lambda standing: best.get(standing.run), PAIR_COLUMNS, "best_"),
        )
        if any(standing.runs for standing in self.standings):
            columns = (*columns, *RUNS_COLUMNS)
        rows = rows_of(columns, self.standings)
        for measure in self.measures:
            for row, value in zip(rows, measure.values, strict=True):
                row[measure.measure] = value
            for row, beaten in zip(rows, measure.better_than, strict=False):
                row[f"{measure.measure} better than"] = ", ".join(beaten)
        return rows
