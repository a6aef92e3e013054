"""What a page is about: runs under conditions, of which two can be chosen."""

from collections.abc import Mapping, Sequence
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.choices import LENGTHS, Floats
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.pairs.measurements import measurements_of
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.rules import Settings
from ir_outcomes.pairs.verdict import LABELS
from ir_outcomes.results import Result
from ir_outcomes.showing.sections import Section, sections_of
from ir_outcomes.showing.views.leaderboards import ranks_words

Evaluations = Evaluation | Mapping[str, Evaluation] | None


class Pair(NamedTuple):
    """Two runs, with what was found."""

    baseline: str
    contender: str
    label: str
    rows: Mapping[str, Row]
    sentence: str = ""


class Lengths(NamedTuple):
    """What runs found for each query, of systems of several runs the means over them."""

    items: Any  # (n_queries,) what there is to find
    found: Floats  # (n_runs, n_queries)
    values: Floats  # (n_runs, n_queries), of the row over all queries


class Grid(NamedTuple):
    """The runs under one condition, in the order in which they are shown."""

    condition: str
    runs: Sequence[str]
    pairs: Sequence[Pair]
    settings: Settings
    evaluation: Evaluation | None  # of its queries only
    # Of each row what it is measured in, and whether higher is better.
    units: Mapping[str, tuple[str, bool]]
    comparisons: Sequence[Comparison] = ()
    details: Sequence[str] = ()  # beside the names of the runs

    @property
    def measured(self) -> tuple[str, bool]:
        """What the changes of queries are measured in, and whether higher is better."""
        names = [name for name in self.units if name != "coverage"]
        return self.units[names[0]]

    @property
    def in_lengths(self) -> bool:
        """Whether search lengths were compared, and not another measure."""
        return self.measured[0] in LENGTHS

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries, as far as they are known."""
        if self.evaluation is not None:
            return self.evaluation.query_ids
        if self.in_lengths and self.settings.unit == "document":
            return ()  # search lengths on what both found are not those of the runs
        queries = [comparison.queries or () for comparison in self.comparisons[:1]]
        return tuple(query.query_id for query in chain(*queries))

    def lengths(self) -> Lengths:
        """Return what the runs found for each query, or the values compared."""
        if self.evaluation is None or not self.in_lengths:
            columns: dict[str, Any] = {}
            for comparison, side in product(self.comparisons, ("baseline", "contender")):
                columns[getattr(comparison, side)] = [
                    (getattr(query, f"found_{side}"), getattr(query, side) or 0.0)
                    for query in comparison.queries or ()
                ]
            found, values = np.array([columns[run] for run in self.runs]).transpose(2, 0, 1)
            if self.in_lengths:
                values += (1 - found) * ((self.settings.cutoff or 0) + 1)
            return Lengths(np.ones(len(self.queries)), found, values)
        measurements = measurements_of(self.evaluation)
        items = measurements.items["ranking"]
        of_runs = np.stack([items.over_queries(items.found), measurements.levels["all queries"]])
        sums = np.add.reduceat(of_runs, measurements.starts[:-1], axis=1)
        return Lengths(items.number, *(sums / np.array(measurements.n_runs)[:, None]))


def grids_of(result: Result, evaluation: Evaluations) -> list[Grid]:
    """Put the comparisons of a result together by condition."""
    if isinstance(result, Leaderboard):
        return [_grid_of_board(result, result.settings, evaluation)] if result.settings else []
    sections: dict[str, list[Section]] = {}
    for section in sections_of(result):
        sections.setdefault(section.condition, []).append(section)
    if isinstance(result, Comparisons):
        sections[""].sort(key=lambda section: LABELS.index(section.label))
    return [_grid_of(condition, members, evaluation) for condition, members in sections.items()]


def _grid_of_board(board: Leaderboard, settings: Settings, evaluation: Evaluations) -> Grid:
    runs = [standing.run for standing in board.standings]
    units = {
        name: (row.measured_in, row.higher_is_better) for name, row in board.pairs[0].rows.items()
    }
    pairs = [Pair(pair.baseline, pair.contender, pair.label, pair.rows) for pair in board.pairs]
    of_runs = None
    if isinstance(evaluation, Evaluation):
        of_runs = evaluation[runs].restrict(evaluation.answerable_queries)
    details = [f"ranks {ranks_words(standing)}" for standing in board.standings]
    return Grid("", runs, pairs, settings, of_runs, units, details=details)


def _grid_of(condition: str, sections: Sequence[Section], evaluation: Evaluations) -> Grid:
    comparisons = [section.comparison for section in sections]
    pairs = []
    units: dict[str, tuple[str, bool]] = {}
    for section, comparison in zip(sections, comparisons, strict=True):
        rows = {row.name: row for row in comparison.parts}
        units |= {name: (row.measured_in, row.higher_is_better) for name, row in rows.items()}
        names = comparison.baseline, comparison.contender
        pairs.append(Pair(*names, section.label, rows))
    runs = list(dict.fromkeys(run for pair in pairs for run in pair[:2]))
    if isinstance(evaluation, Mapping):
        evaluation = evaluation.get(condition)
    first = comparisons[0]
    if evaluation is not None and first.queries is not None:
        evaluation = evaluation[runs].restrict(query.query_id for query in first.queries)
        if first.cutoff is not None:
            evaluation = evaluation.with_cutoff(first.cutoff)
    return Grid(condition, runs, pairs, first.settings, evaluation, units, comparisons)
