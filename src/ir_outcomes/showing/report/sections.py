"""Which comparisons a result holds, one section of the page for each, and the evaluation that each was made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from itertools import combinations
from operator import itemgetter
from typing import NamedTuple

from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.across.same_queries import CutoffsComparison, JudgesComparison
from ir_outcomes.across.slices import SlicesComparison
from ir_outcomes.comparison.compare import build, measured_pair
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.results import Result
from ir_outcomes.showing.views.across import sign_of
from ir_outcomes.showing.words import tone

MOST_RUNS = 30  # of a leaderboard: all pairs are compared for the queries of some
TOP_RUNS = 10  # whose pairs show their queries
TOO_FEW = "too few queries"

Evaluations = Evaluation | Mapping[str, Evaluation] | None


class Section(NamedTuple):
    """A comparison on the page, with its collection, slice, cutoff or judge where there are several."""

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


@singledispatch
def sections_of(result: Result, evaluation: Evaluations) -> list[Section]:
    """List the comparisons of a result, in its order; none for results that hold no comparisons."""
    return []


@sections_of.register
def _comparison(result: Comparison, evaluation: Evaluations) -> list[Section]:
    return [Section(result)]


@sections_of.register
def _comparisons(result: Comparisons, evaluation: Evaluations) -> list[Section]:
    return [Section(comparison) for comparison in result]


@sections_of.register(CollectionsComparison)
@sections_of.register(SlicesComparison)
def _conditions(result: CollectionsComparison | SlicesComparison, evaluation: Evaluations) -> list[Section]:
    return [Section(row.comparison, row.condition, row.label is not None) for row in result.conditions]


@sections_of.register
def _cutoffs(result: CutoffsComparison, evaluation: Evaluations) -> list[Section]:
    return [Section(comparison, f"cutoff {comparison.cutoff}") for comparison in result.comparisons]


@sections_of.register
def _judges(result: JudgesComparison, evaluation: Evaluations) -> list[Section]:
    return [Section(judgment.comparison, judgment.judge) for judgment in result.judgments]


@sections_of.register
def _leaderboard(result: Leaderboard, evaluation: Evaluations) -> list[Section]:
    """Compare the runs at the top with each other, corrected over all pairs as their labels are."""
    names = [standing.run for standing in result.standings]
    if not isinstance(evaluation, Evaluation) or result.settings is None or len(names) > MOST_RUNS:
        return []
    pairs = sorted(combinations(range(len(names)), 2), key=itemgetter(1))  # those of the first k runs come first
    runs = evaluation[names]
    measured = [measured_pair(evaluation, runs[high], runs[low], result.settings) for high, low in pairs]
    wanted = min(len(names), TOP_RUNS)
    return [Section(item) for item in build(measured, result.settings, wanted=wanted * (wanted - 1) // 2)]


def evaluation_of(section: Section, evaluation: Evaluations) -> Evaluation | None:
    """Return the evaluation that a comparison was made from; None where it was not given."""
    if evaluation is None:
        return None
    if isinstance(evaluation, Mapping):
        if section.condition not in evaluation:
            raise ParameterError(
                f"evaluation lacks {section.condition!r}; give a mapping with the names of the result, of which it has "
                f"{some(list(evaluation), 10)}"
            )
        evaluation = evaluation[section.condition]
    for run in (section.comparison.baseline, section.comparison.contender):
        evaluation.position(run)
    known = set(evaluation.query_ids)
    missing = [query.query_id for query in section.comparison.queries or () if query.query_id not in known]
    if missing:
        raise ParameterError(f"evaluation lacks the query {some(missing)}; give the evaluation that the result was made from")
    return evaluation


class Matrix(NamedTuple):
    """Labels as signs: headings of the columns, and rows with a name and cells of sign, label, tone and section, or None."""

    what: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, str, str, int | None] | None, ...]], ...]


def matrix_of(result: Result, sections: Sequence[Section]) -> Matrix | None:
    """Return the matrix of the pairs of a leaderboard, or of contenders by conditions; None where there is nothing to cross."""
    if isinstance(result, Leaderboard) and result.pairs:
        runs = [standing.run for standing in result.standings[:MOST_RUNS]]
        pairs = tuple(
            (run, tuple(_cell(result.verdict(better, run).label, None) for better in runs[:place]))
            for place, run in enumerate(runs)
        )
        return Matrix("the run of the row against the run of the column", tuple(runs[:-1]), pairs[1:])
    contenders = list(dict.fromkeys(section.comparison.contender for section in sections))
    conditions = list(dict.fromkeys(section.condition for section in sections))
    if len(contenders) < 2 or len(conditions) < 2:
        return None
    known = {
        (section.comparison.contender, section.condition): _cell(section.label, number)
        for number, section in enumerate(sections)
    }
    rows = tuple((run, tuple(known.get((run, name)) for name in conditions)) for run in contenders)
    return Matrix(f"each run against {sections[0].comparison.baseline}", tuple(conditions), rows)


def _cell(label: str, section: int | None) -> tuple[str, str, str, int | None]:
    return ("" if label == TOO_FEW else sign_of(label)), label, tone(label), section
