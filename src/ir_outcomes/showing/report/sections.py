"""The parts of the page: comparisons with their evaluations, the matrix of labels, and the coordinates of charts."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from operator import itemgetter
from typing import Any, NamedTuple

from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.across.judges import JudgesComparison
from ir_outcomes.across.slices import CutoffsComparison, SlicesComparison, curve_of
from ir_outcomes.comparison.compare import build, measured_pair
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.results import Result
from ir_outcomes.showing import RANK_TICKS, tone
from ir_outcomes.showing.charts import curve_lines, pairs_of, round_numbers
from ir_outcomes.showing.views.across import sign_of

MOST_RUNS = 30  # of a leaderboard: all pairs are compared for the queries of some
TOP_RUNS = 10  # whose pairs show their queries
TOO_FEW = "too few queries"
LEFT, RIGHT, TOP, WIDTH = 46, 352, 8, 360  # margins and width of charts
UPPER, LOWER = (158, TOP), (268, 184)  # bottom and top of the panels of the curve

Evaluations = Evaluation | Mapping[str, Evaluation] | None


class Section(NamedTuple):
    """A comparison on the page, with its collection, slice, cutoff or judge where there are several, and its evaluation."""

    comparison: Comparison
    condition: str = ""
    has_label: bool = True
    evaluation: Evaluation | None = None

    @property
    def label(self) -> str:
        """The label, which a slice of few queries does not have."""
        return self.comparison.verdict.label if self.has_label else TOO_FEW

    @property
    def title(self) -> str:
        """A heading."""
        pair = f"{self.comparison.contender} against {self.comparison.baseline}"
        return f"{self.condition}: {pair}" if self.condition else pair


def sections_of(result: Result, evaluation: Evaluations) -> list[Section]:
    """List the comparisons of a result, in its order; none for results that hold no comparisons."""
    match result:
        case Comparison():
            found = [Section(result)]
        case Comparisons():
            found = [Section(comparison) for comparison in result]
        case CollectionsComparison() | SlicesComparison():
            found = [Section(row.comparison, row.condition, row.labelled) for row in result.conditions]
        case CutoffsComparison():
            found = [Section(comparison, f"cutoff {comparison.cutoff}") for comparison in result.comparisons]
        case JudgesComparison():
            found = [Section(judgment.comparison, judgment.judge) for judgment in result.judgments]
        case Leaderboard():
            found = _pairs_of(result, evaluation)
        case _:
            found = []
    return [section._replace(evaluation=_evaluation_of(section, evaluation)) for section in found]


def _pairs_of(result: Leaderboard, evaluation: Evaluations) -> list[Section]:
    """Compare the runs at the top with each other, corrected over all pairs as their labels are."""
    names = [standing.run for standing in result.standings]
    if not isinstance(evaluation, Evaluation) or result.settings is None or len(names) > MOST_RUNS:
        return []
    pairs = sorted(combinations(range(len(names)), 2), key=itemgetter(1))  # those of the first k runs come first
    runs = evaluation[names]
    measured = [measured_pair(evaluation, runs[high], runs[low], result.settings) for high, low in pairs]
    wanted = min(len(names), TOP_RUNS)
    return [Section(item) for item in build(measured, result.settings, wanted=wanted * (wanted - 1) // 2)]


def _evaluation_of(section: Section, evaluation: Evaluations) -> Evaluation | None:
    """Return the evaluation that a comparison was made from; None where it was not given."""
    if isinstance(evaluation, Mapping):
        if section.condition not in evaluation:
            raise ParameterError(
                f"evaluation lacks {section.condition!r}; give a mapping with the names of the result, of which it has "
                f"{some(list(evaluation), 10)}"
            )
        evaluation = evaluation[section.condition]
    if evaluation is not None:
        for run in (section.comparison.baseline, section.comparison.contender):
            evaluation.position(run)
        known = set(evaluation.query_ids)
        missing = [query.query_id for query in section.comparison.queries or () if query.query_id not in known]
        if missing:
            raise ParameterError(f"evaluation lacks the query {some(missing)}; give the one that the result was made from")
    return evaluation


class Matrix(NamedTuple):
    """Labels as signs: headings of the columns, and rows with a name and cells of sign, label, tone and section, or None."""

    what: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[str, str, str, int | None] | None]]]


def matrix_of(result: Result, sections: Sequence[Section]) -> Matrix | None:
    """Return the matrix of the pairs of a leaderboard, or of contenders by conditions; None where there is nothing to cross."""
    if isinstance(result, Leaderboard) and result.pairs:
        runs = [standing.run for standing in result.standings[:MOST_RUNS]]
        pairs = [[_cell(result.verdict(other, run).label, None) for other in runs[:place]] for place, run in enumerate(runs)]
        return Matrix("the run of the row against the run of the column", runs[:-1], list(zip(runs, pairs, strict=True))[1:])
    known = {
        (section.comparison.contender, section.condition): _cell(section.label, number)
        for number, section in enumerate(sections)
    }
    contenders, conditions = (list(dict.fromkeys(names)) for names in zip(*known, strict=True)) if known else ([], [])
    if len(contenders) < 2 or len(conditions) < 2:
        return None
    rows = [(run, [known.get((run, name)) for name in conditions]) for run in contenders]
    return Matrix(f"each run against {sections[0].comparison.baseline}", conditions, rows)


def _cell(label: str, section: int | None) -> tuple[str, str, str, int | None]:
    return ("" if label == TOO_FEW else sign_of(label)), label, tone(label), section


def curve_chart(section: Section) -> dict[str, Any] | None:
    """Place what both runs found by each rank, and below it their difference with its band.

    None without an evaluation, for fewer than two queries, or where no ranks were compared.
    """
    comparison, evaluation = section.comparison, section.evaluation
    if evaluation is None or comparison.queries is None or comparison.ranking.measured_in != "ranks":
        return None
    evaluation = evaluation.restrict([query.query_id for query in comparison.queries])
    curve = curve_of(evaluation[[comparison.baseline, comparison.contender]], 1 - comparison.alpha)
    if curve is None:
        return None
    (ranks, lines), last = curve_lines(curve), curve.ranks[-1]
    shares = round_numbers(0.0, max(*lines["baseline"], *lines["contender"], 1e-7))
    points = round_numbers(min(*lines["low"], 0.0), max(*lines["high"], 0.0))
    across = _scale(1.0, ranks[-1], LEFT, RIGHT, math.log)
    up, beside = _scale(shares[0], shares[-1], *UPPER), _scale(points[0], points[-1], *LOWER)
    places = [across(rank) for rank in ranks]

    def steps(name: str, scale: Callable[[float], float]) -> str:
        heights = [scale(value) for value in lines[name]]
        return f"M{places[0]} {heights[0]}" + "".join(f"H{x}V{y}" for x, y in zip(places[1:], heights[1:], strict=True))

    back = list(zip(places, map(beside, lines["low"]), strict=True))[:-1]
    return {
        "height": LOWER[0] + 36,
        "baseline": steps("baseline", up),
        "contender": steps("contender", up),
        "difference": steps("difference", beside),
        "band": f"{steps('high', beside)}{''.join(f'V{y}H{x}' for x, y in reversed(back))}Z",
        "ranks": [(across(tick), f"{tick:,}") for tick in RANK_TICKS if tick <= last],
        "heights": [
            *((up(share), f"{share:g}") for share in shares),
            *((beside(point), f"{point:+.3g}" if round(point, 9) else "0") for point in points),
        ],
        "zero": beside(0.0),
        "cutoff": across(comparison.cutoff) if comparison.cutoff and comparison.cutoff < last else None,
        "level": curve.level,
    }


def _scale(
    low: float, high: float, start: float, end: float, form: Callable[[float], float] = float
) -> Callable[[float], float]:
    """Return the function from values to places, `low` at `start` and `high` at `end`."""
    first, width = form(low), (form(high) - form(low)) or 1.0
    return lambda value: round(start + (end - start) * (form(value) - first) / width, 1)


def scatter(comparison: Comparison) -> dict[str, Any] | None:
    """Place the queries on which both runs found something, rank 1 at the top and at the right, so that up is better.

    None where there are none, or where no ranks were compared.
    """
    pairs = {} if comparison.queries is None else pairs_of(comparison)
    if not pairs or comparison.ranking.measured_in != "ranks":
        return None
    last, bottom = 1.25 * max(2.0, *(length for pair in pairs for length in pair)), TOP + RIGHT - LEFT
    across, down = _scale(0.8, last, RIGHT, LEFT, math.log), _scale(0.8, last, TOP, bottom, math.log)
    points = [
        {
            "x": across(baseline),
            "y": down(contender),
            "radius": round(min(14.0, 1.7 + 0.75 * number**0.5), 1),
            "lengths": (baseline, contender),
            "tone": "better" if contender < baseline else "worse" if contender > baseline else "same",
        }
        for (baseline, contender), number in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
    ]
    ticks = [(across(tick), down(tick), f"{tick:,}") for tick in RANK_TICKS if tick < last]
    return {"height": bottom + 40, "points": points, "ticks": ticks}
