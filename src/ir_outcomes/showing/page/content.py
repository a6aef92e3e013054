"""What a page is about: runs under conditions, of which two can be chosen."""

from collections.abc import Mapping, Sequence
from itertools import chain, combinations, product, starmap
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.choices import Floats
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.leaderboards.board import BoardPair, Leaderboard
from ir_outcomes.leaderboards.ordering import means_of_systems, scores_of
from ir_outcomes.pairs.measurements import measurements_of
from ir_outcomes.pairs.rules import Settings
from ir_outcomes.pairs.verdict import DECIDING
from ir_outcomes.results import Result
from ir_outcomes.showing.registry import Section, sections_of
from ir_outcomes.showing.views.leaderboards import ranks_words
from ir_outcomes.showing.views.parts import CORRECTIONS, MARK, shown_p, within_words

Evaluations = Evaluation | Mapping[str, Evaluation] | None

MOST_RUNS = 150  # of a board whose pairs can be chosen


class Changes(NamedTuple):
    """What runs have for each query, of systems of several runs the means over them."""

    queries: tuple[str, ...]
    quantity: tuple[str, bool]  # what they are measured in, and whether higher is better
    items: Any  # (n_queries,) what there is to find
    found: Floats  # (n_runs, n_queries)
    values: Floats  # (n_runs, n_queries), of the row over all queries, or of a measure


class Grid(NamedTuple):
    """The runs under one condition, in the order in which they are shown."""

    condition: str
    runs: Sequence[str]
    start: tuple[str, str]  # baseline and contender until others are chosen
    pairs: Sequence[Section | BoardPair]
    settings: Settings | None  # None of a board of values
    changes: Changes | None  # None where no queries are known
    evaluation: Evaluation | None  # of these queries only
    within: Sequence[str] = ()  # whether pairs are within the margins, where there are any
    decider: str = ""  # the row that comes first, of a board
    details: Sequence[str] = ()  # beside the names of the runs
    remark: str = ""


def grids_of(result: Result, evaluation: Evaluations) -> list[Grid]:
    """Put the comparisons of a result together by condition."""
    if isinstance(result, Leaderboard):
        return [_grid_of_board(result, evaluation)]
    by_condition: dict[str, list[Section]] = {}
    for section in sections_of(result):
        if section.comparison is not None:
            by_condition.setdefault(section.condition, []).append(section)
    return [_grid_of(condition, members, evaluation) for condition, members in by_condition.items()]


def _grid_of_board(board: Leaderboard, evaluation: Evaluations) -> Grid:
    """Lay out the pairs of the first runs, by the row that decides."""
    standings = board.standings[:MOST_RUNS]
    runs = [standing.run for standing in standings]
    worse_runs = [run for run in runs if run not in board.first] or runs[1:]
    changes = of_runs = None
    if isinstance(evaluation, Evaluation):
        of_runs = evaluation[runs]
        if board.settings is not None and board.settings.cutoff is not None:
            answerable = of_runs.restrict(of_runs.answerable_queries)
            of_runs = answerable.with_cutoff(board.settings.cutoff)
        changes = _changes_of(
            of_runs, "all queries" if board.measure in DECIDING else board.measure
        )
    remark = ""
    if len(runs) < len(board.standings):
        remark = f"Any two of the first {MOST_RUNS} runs can be chosen."
    return Grid(
        "",
        runs,
        (worse_runs[0], runs[0]),
        [*starmap(board.verdict, combinations(runs, 2))],
        board.settings,
        changes,
        of_runs,
        decider=board.measure,
        details=[f"ranks {ranks_words(standing)}" for standing in standings],
        remark=remark,
    )


def _grid_of(condition: str, sections: Sequence[Section], evaluation: Evaluations) -> Grid:
    comparisons = [section.comparison for section in sections if section.comparison is not None]
    pairs = [(section.baseline, section.contender) for section in sections]
    runs = list(dict.fromkeys(chain.from_iterable(pairs)))
    if isinstance(evaluation, Mapping):
        evaluation = evaluation.get(condition)
    first = comparisons[0]
    if evaluation is None or evaluation.values is not None or first.queries is None:
        # Values of another tool can have texts, too.
        changes = _changes_of_comparisons(comparisons, runs)
    else:
        evaluation = evaluation[runs].restrict(query.query_id for query in first.queries)
        if first.cutoff is not None:
            evaluation = evaluation.with_cutoff(first.cutoff)
        changes = _changes_of(evaluation)
    within = [within_words(comparison) for comparison in comparisons]
    return Grid(condition, runs, pairs[0], sections, first.settings, changes, evaluation, within)


def _changes_of(evaluation: Evaluation, row: str = "all queries") -> Changes:
    """Take a row or measure, or search lengths where it is not defined."""
    scores = means_of_systems(scores_of(evaluation, row), evaluation.systems)
    if evaluation.values is not None:
        everything = np.ones_like(scores.values)
        quantity = row, scores.higher_is_better
        return Changes(scores.query_ids, quantity, everything[0], everything, scores.values)
    measurements = measurements_of(evaluation)
    values = scores.on(measurements.query_ids).values
    if np.isnan(values).any():
        return _changes_of(evaluation)
    items = measurements.items["ranking"]
    of_runs = np.add.reduceat(items.over_queries(items.found), measurements.starts[:-1])
    hits = of_runs / np.array(measurements.n_runs)[:, None]
    unit = measurements.quantities[row].measured_in if row in DECIDING else row
    quantity = unit, scores.higher_is_better
    return Changes(measurements.query_ids, quantity, items.number, hits, values)


def _changes_of_comparisons(comparisons: Sequence[Comparison], runs: list[str]) -> Changes | None:
    """Take what comparisons say of each query."""
    first = comparisons[0]
    if first.queries is None or (first.in_lengths and first.unit == "document"):
        return None  # search lengths on what both found are not those of the runs
    columns: dict[str, Any] = {}
    for comparison, side in product(comparisons, ("baseline", "contender")):
        columns[getattr(comparison, side)] = [
            (getattr(query, f"found_{side}"), getattr(query, side) or 0.0)
            for query in comparison.queries or ()
        ]
    hits, values = np.array([columns[run] for run in runs]).transpose(2, 0, 1)
    if first.in_lengths:
        values += (1 - hits) * ((first.cutoff or 0) + 1)
    queries = tuple(query.query_id for query in first.queries)
    quantity = first.ranking.measured_in, first.ranking.higher_is_better
    return Changes(queries, quantity, np.ones(len(queries)), hits, values)


def marks_of(grids: Sequence[Grid]) -> str:
    """Explain the marks of pictures, each once."""
    words = {"Right is better; blue is better, orange and hatched worse, grey neither.": None}
    for grid in grids:
        if grid.settings is not None and grid.settings.family > 1:
            rule = CORRECTIONS.get(grid.settings.correction, "no correction")
            words[f"Intervals are of each pair by itself, labels and colours by {rule}."] = None
            rows = [row for pair in grid.pairs for row in pair.rows.values()]
            if any(shown_p(row, grid.settings.alpha).endswith(MARK) for row in rows):
                words[f"{MARK}: significant by itself, not under {rule}."] = None
        words[grid.remark] = None
    return " ".join(filter(None, words))


def meaning_of(grids: Sequence[Grid]) -> str:
    """Explain outcomes and lists, where there are any."""
    sentences = []
    if any("coverage" in pair.rows for grid in grids for pair in grid.pairs):
        sentences.append("Won: B finds more of what is relevant; lost: A does.")
        sentences.append("Full bars are queries won or lost.")
    if any(grid.evaluation and grid.evaluation.documents for grid in grids):
        sentences.append("In the lists \u2713 is relevant with its grade, ? not judged.")
    return " ".join(sentences)
