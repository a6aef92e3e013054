"""What a page is about: the comparisons of a result by condition, any two runs of which can be chosen."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ir_outcomes.across.gate import GateResult
from ir_outcomes.across.result import ConditionsComparison
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import LABELS, NO_DIFFERENCE
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.results import Result
from ir_outcomes.showing.page.today import rows_of_pair, rows_of_parts
from ir_outcomes.types import LENGTHS

TOO_FEW = "too few queries"

Evaluations = Evaluation | Mapping[str, Evaluation] | None


class Section(NamedTuple):
    """A comparison, with its collection, slice, cutoff or judge where there are several."""

    comparison: Comparison
    condition: str = ""
    has_label: bool = True

    @property
    def label(self) -> str:
        """The label, which a slice of few queries does not have."""
        return self.comparison.verdict.label if self.has_label else TOO_FEW

    @property
    def title(self) -> str:
        """A heading."""
        pair = f"{self.comparison.contender} against {self.comparison.baseline}"
        return f"{self.condition}: {pair}" if self.condition else pair


class Pair(NamedTuple):
    """Two runs of a grid, with what Python found."""

    baseline: str
    contender: str
    label: str
    rows: Sequence[Any]
    sentence: str = ""


class Grid(NamedTuple):
    """The runs under one condition, any two of which can be chosen."""

    condition: str
    runs: Sequence[str]
    pairs: Sequence[Pair]
    settings: Settings
    evaluation: Evaluation | None
    comparisons: Sequence[Comparison] = ()
    details: Sequence[str] = ()  # beside the names of the runs of a board
    best_first: bool = False  # the order of the runs is not that of the result

    @property
    def in_lengths(self) -> bool:
        """Whether search lengths were compared, and not another measure."""
        return any(row.measured_in in LENGTHS for pair in self.pairs[:1] for row in pair.rows)

    @property
    def order(self) -> list[str]:
        """The runs in the order in which they are listed."""
        if not self.best_first:
            return list(self.runs)
        ranks = {pair.contender: LABELS.index(pair.label) for pair in self.pairs}
        return sorted(self.runs, key=lambda run: ranks.get(run, len(LABELS)))

    @property
    def opening(self) -> Sequence[str]:
        """The baseline and the contender that the page opens on, of a board the best run and the first that is worse."""
        if not self.best_first and not self.details:
            return self.pairs[0][:2]
        best = self.order[0]
        pairs = [pair for pair in self.pairs if best in pair[:2]]
        pair = next((own for own in pairs if own.label != NO_DIFFERENCE), pairs[0])
        return sorted(pair[:2], key=lambda run: run == best)

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries that are compared, as far as they are known."""
        if self.comparisons:
            return tuple(query.query_id for query in self.comparisons[0].queries or ())
        return () if self.evaluation is None else self.evaluation.answerable_queries


def sections_of(result: Result) -> list[Section]:
    """List the comparisons of a result in its order, none where it holds no comparisons."""
    match result:
        case Comparison():
            return [Section(result)]
        case Comparisons():
            return [Section(comparison) for comparison in result]
        case ConditionsComparison():
            prefix = "cutoff " if result.what == "cutoff" else ""
            return [
                Section(row.comparison, f"{prefix}{row.condition}", row.labelled)
                for row in result.conditions
            ]
        case GateResult():
            return [
                Section(decision.comparison, decision.condition or "")
                for decision in result.worst_first
                if decision.comparison is not None
            ]
    return []


def grids_of(result: Result, evaluation: Evaluations) -> list[Grid]:
    """Put the comparisons of a result together by condition, where a board is one grid."""
    if isinstance(result, Leaderboard):
        if result.settings is None:
            return []
        runs = [standing.run for standing in result.standings]
        board = evaluation[runs] if isinstance(evaluation, Evaluation) else None
        pairs = [
            Pair(own.baseline, own.contender, own.label, rows_of_pair(own)) for own in result.pairs
        ]
        details = [
            f"{own.score:.4g}, tier {own.tier}" for own in result.standings if own.score is not None
        ]
        return [Grid("", runs, pairs, result.settings, board, details=details)]
    sections: dict[str, list[Section]] = {}
    for section in sections_of(result):
        sections.setdefault(section.condition, []).append(section)
    grids = [_grid_of(condition, members, evaluation) for condition, members in sections.items()]
    return [grid._replace(best_first=isinstance(result, Comparisons)) for grid in grids]


def _grid_of(condition: str, sections: Sequence[Section], evaluation: Evaluations) -> Grid:
    if isinstance(evaluation, Mapping):
        if condition not in evaluation:
            raise ParameterError(
                f"evaluation lacks {condition!r}; give a mapping with the names of the result, of"
                f" which it has {some(list(evaluation), 10)}"
            )
        evaluation = evaluation[condition]
    runs: dict[str, None] = {}
    pairs = []
    for section in sections:
        own = section.comparison
        runs |= {own.baseline: None, own.contender: None}
        sentence = own.verdict.sentence if section.has_label else ""
        pairs.append(Pair(own.baseline, own.contender, section.label, rows_of_parts(own), sentence))
    comparisons = [section.comparison for section in sections]
    grid = Grid(condition, list(runs), pairs, comparisons[0].settings, evaluation, comparisons)
    if evaluation is not None:
        missing = set(grid.queries).difference(evaluation.query_ids)
        if missing:
            raise ParameterError(
                f"evaluation lacks the query {some(sorted(missing))}; give the one that the result"
                " was made from"
            )
    return grid
