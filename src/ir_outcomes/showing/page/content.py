"""What a page is about: the runs under each condition, any two of which can be chosen."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.results import Result
from ir_outcomes.showing.page.today import rows_of_pair, rows_of_parts
from ir_outcomes.showing.sections import Section, sections_of
from ir_outcomes.types import LENGTHS, POINTS, Floats, Unit

Evaluations = Evaluation | Mapping[str, Evaluation] | None


class Pair(NamedTuple):
    """Two runs, with what was found."""

    baseline: str
    contender: str
    label: str
    rows: Sequence[Any]
    sentence: str = ""


class Grid(NamedTuple):
    """The runs under one condition, in the order in which they are shown."""

    condition: str
    runs: Sequence[str]
    pairs: Sequence[Pair]
    settings: Settings
    evaluation: Evaluation | None  # of its queries only
    comparisons: Sequence[Comparison] = ()
    details: Sequence[str] = ()  # beside the names of the runs

    @property
    def measured(self) -> Any:
        """The first row that is not coverage, where there is one."""
        rows = [row for pair in self.pairs for row in pair.rows]
        return next((row for row in rows if row.measured_in != POINTS), rows[0])

    @property
    def in_lengths(self) -> bool:
        """Whether search lengths were compared, and not another measure."""
        return self.measured.measured_in in LENGTHS

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries, as far as they are known."""
        if self.evaluation is not None:
            return self.evaluation.query_ids
        if self.in_lengths and self.settings.unit == "document":
            return ()  # search lengths on what both found are not those of the runs
        return tuple(query.query_id for query in self.comparisons[0].queries or ())

    @property
    def systems(self) -> list[Sequence[str]]:
        """The names of the runs of each system."""
        several = self.evaluation.replicates if self.evaluation else {}
        return [several.get(name, (name,)) for name in self.runs]

    def lengths(self) -> Floats:
        """Return (3, n_runs, n_queries): what can be found, what was found, and the sums of its search lengths, or values."""
        if self.evaluation is None or not self.in_lengths:
            columns: dict[str, Any] = {}
            for own in self.comparisons:
                for run, side in ((own.baseline, "baseline"), (own.contender, "contender")):
                    columns[run] = [
                        (1.0, getattr(query, f"found_{side}"), getattr(query, side) or 0.0)
                        for query in own.queries or ()
                    ]
            return np.array([columns[run] for run in self.runs]).transpose(2, 0, 1)
        runs = dict(zip(self.evaluation.names, self.evaluation.at(self.settings.cutoff), strict=True))
        of_systems = [
            np.mean([_found(runs[name], self.settings.unit) for name in names], axis=0)
            for names in self.systems
        ]
        return np.stack(of_systems, axis=1)


def _found(run: SearchLengths, unit: Unit) -> Sequence[Floats]:
    """Return what can be found of each query, what a run found, and the sums of its search lengths."""
    if unit == "query":
        return np.ones(len(run.query_ids)), run.answered(), np.nan_to_num(run.esl())
    total = np.bincount(run.query, np.nan_to_num(run.atoms()), len(run.query_ids))
    return run.relevant, run.relevant_retrieved, total


def grids_of(result: Result, evaluation: Evaluations) -> list[Grid]:
    """Put the comparisons of a result together by condition, where a board is one grid."""
    if isinstance(result, Leaderboard):
        if result.settings is None:
            return []
        runs = [own.run for own in result.standings]
        pairs = [
            Pair(own.baseline, own.contender, own.label, rows_of_pair(own)) for own in result.pairs
        ]
        board = None
        if isinstance(evaluation, Evaluation):
            board = evaluation[runs].restrict(evaluation.answerable_queries)
        details = [f"tier {own.tier}" for own in result.standings]
        return [Grid("", runs, pairs, result.settings, board, details=details)]
    sections: dict[str, list[Section]] = {}
    for section in sections_of(result):
        sections.setdefault(section.condition, []).append(section)
    if isinstance(result, Comparisons):
        sections[""].sort(key=lambda section: LABELS.index(section.label))
    margins = getattr(result, "margins", None)
    return [
        _grid_of(condition, members, evaluation, margins) for condition, members in sections.items()
    ]


def _grid_of(
    condition: str, sections: Sequence[Section], evaluation: Evaluations, margins: Any
) -> Grid:
    comparisons = [section.comparison for section in sections]
    pairs = [
        Pair(own.baseline, own.contender, section.label, rows_of_parts(own, margins), own.verdict.sentence)
        for section, own in zip(sections, comparisons, strict=True)
    ]
    runs = list(dict.fromkeys(run for pair in pairs for run in pair[:2]))
    own = evaluation.get(condition) if isinstance(evaluation, Mapping) else evaluation
    queries = comparisons[0].queries
    if own is not None and queries is not None:
        own = own[runs].restrict(query.query_id for query in queries)
    return Grid(condition, runs, pairs, comparisons[0].settings, own, comparisons)
