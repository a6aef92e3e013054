"""Measurements of an evaluation, from search lengths or values."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ir_outcomes.choices import POINTS, RANKS, Floats, Ints, divided, length_unit
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import check_comparable
from ir_outcomes.evaluation.named_measures import parse_measure
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.systems import Systems
from ir_outcomes.pairs.differences import Clusters, FoundItems, Measurements, Quantity
from ir_outcomes.pairs.verdict import DECIDING, FACETS

COVERAGE = Quantity("coverage", POINTS, True, 100.0)
# With the values of each run by query, or of the items that it found.
MeasuredRow = tuple[Quantity, Floats | FoundItems]


def measurements_of(
    evaluation: Evaluation,
    cutoff: int | None = None,
    *,
    measures: Sequence[Scores] = (),
    with_reciprocal: bool = False,
) -> Measurements:
    """Take the search lengths of an evaluation.

    Parameters
    ----------
    evaluation : Evaluation
        Its systems, in their order.
    cutoff : int, optional
        k of all rows; by default that of the evaluation.
    measures : sequence of Scores
        Rows that were asked for, with values on the answerable queries for each run.
    with_reciprocal : bool
        Whether there are rows of reciprocal ranks, which the paper tests.
    """
    k = evaluation.cutoff if cutoff is None else cutoff
    by_system = evaluation.runs_by_system
    runs = [run.at(k) for of_system in by_system for run in of_system]
    for run in runs[1:]:
        check_comparable(runs[0], run)
    first = runs[0]
    answerable = first.answerable
    by_query = evaluation.unit == "query"
    if by_query:
        number = np.ones(int(answerable.sum()), dtype=np.int64)
        lengths = np.stack([run.esl()[answerable] for run in runs])
    else:
        number = first.relevant[answerable]
        lengths = np.stack([run.atoms() for run in runs])
    items = FoundItems.of(number, lengths)
    rows = _rows_of_lengths(items, k, length_unit(evaluation.unit))
    rows += [(_quantity(scores), _values(scores, evaluation.systems)) for scores in measures]
    if with_reciprocal:
        ranks = lengths if by_query else np.stack([run.esl()[answerable] for run in runs])
        name = "MRR on both" if by_query else "1 / length on both"
        rows += _rows_of_reciprocals(ranks, items, name)
    return Measurements(
        names=tuple(evaluation.systems),
        n_runs=tuple(map(len, by_system)),
        query_ids=first.answerable_queries,
        deciding=DECIDING,
        clusters=None if first.clusters is None else Clusters(first.clusters[answerable]),
        rankings=_numbered([run.diagnosis.digests.tobytes() for run in runs]),
        **_by_name(rows),
    )


def measurements_at(evaluation: Evaluation, cutoffs: Sequence[int]) -> Iterator[Measurements]:
    """Yield the rows that decide at each of some cutoffs."""
    deepest = measurements_of(evaluation, max(cutoffs))
    items = deepest.items["ranking"]
    ranks = items.lengths
    if evaluation.unit == "document":
        ranks = np.stack([run.rank for runs in evaluation.runs_by_system for run in runs])
    for k in cutoffs:
        found = items.found * (ranks <= k)
        within = replace(items, found=found, lengths=items.lengths * found)
        rows = _rows_of_lengths(within, k, length_unit(evaluation.unit))
        yield replace(deepest, **_by_name(rows))


def _rows_of_lengths(items: FoundItems, k: int | None, measured_in: str) -> list[MeasuredRow]:
    """Coverage, ranking and, where k is known, all queries."""
    ranking = Quantity("ranking", measured_in, False, None if k is None else k - 1.0)
    rows: list[MeasuredRow] = [(COVERAGE, items.shares()), (ranking, items)]
    if k is not None:
        # ESL(unanswered="cutoff+1")@k, or ASL(missing="cutoff")@k: a missing item stands behind a
        # list that is filled up to k.
        found = items.over_queries(items.found)
        missing = (items.number - found) * (k - found + 1.0)
        lengths = (items.over_queries(items.lengths) + missing) / items.number
        rows.append((Quantity("all queries", measured_in, False, float(k)), lengths))
    return rows


def _rows_of_reciprocals(ranks: Floats, items: FoundItems, name: str) -> list[MeasuredRow]:
    """Reciprocals over all queries, and on what both runs of a pair found."""
    naive, on_both = (Quantity(row, "reciprocal", True, 1.0) for row in ("MRR", name))
    return [(naive, np.nan_to_num(1 / ranks)), (on_both, items.reciprocal())]


def _by_name(rows: Sequence[MeasuredRow]) -> dict[str, Any]:
    """What `Measurements` hold of rows."""
    items = {row.name: values for row, values in rows if isinstance(values, FoundItems)}
    return {
        "quantities": {row.name: row for row, _ in rows},
        "levels": {row.name: values for row, values in rows if row.name not in items},
        "items": items,
    }


def _numbered(contents: Sequence[bytes]) -> Ints:
    """A number for each run, the same where the contents are the same."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(content, len(numbers)) for content in contents])


def _quantity(scores: Scores) -> Quantity:
    largest = None if scores.range is None else scores.range[1] - scores.range[0]
    return Quantity(scores.measure, scores.measure, scores.higher_is_better, largest)


def deciding_rows(values: Scores | None) -> tuple[str, ...]:
    """Return the rows that decide for runs (None), or for values of another tool."""
    if values is None or values.kind == "gain":
        return DECIDING
    if values.kind in ("rank", "reciprocal"):
        return FACETS if values.cutoff is None else DECIDING
    return ("all queries",)


def measurements_of_values(
    scores: Scores, systems: Systems, *, as_written: bool = False
) -> Measurements:
    """Take values that another tool computed.

    Reciprocal ranks and ranks are search lengths, unless reciprocals are taken `as_written`. A gain
    is 0 where nothing was found, and so is a truth value, which is 1 or 0. Of any other value only
    the mean is compared.
    """
    values = _values(scores, systems)
    if scores.kind == "rank" or (scores.kind == "reciprocal" and not as_written):
        ranks = _ranks_of(scores, values)
        items = FoundItems.of(np.ones(ranks.shape[1], dtype=np.int64), ranks)
        rows = _rows_of_lengths(items, scores.cutoff, RANKS)
        rows += _rows_of_reciprocals(ranks, items, "MRR on both")
        return _of_rows(rows, deciding_rows(scores), scores, systems)
    if scores.kind == "value":
        return measurements_of_means(scores, systems)
    above_zero = np.where(values == 0, np.nan, values)
    items = FoundItems.of(np.ones(values.shape[1], dtype=np.int64), above_zero)
    whole = _quantity(scores)._replace(name="all queries")
    ranking = whole._replace(name="ranking")
    rows = [(COVERAGE, items.shares()), (ranking, items), (whole, values)]
    if scores.kind != "truth":
        return _of_rows(rows, DECIDING, scores, systems)
    measurements = _of_rows(rows, ("all queries",), scores, systems)
    quantities = {COVERAGE.name: COVERAGE, whole.name: whole}  # all above zero are 1
    return replace(measurements, quantities=quantities)


def measurements_of_means(scores: Scores, systems: Systems) -> Measurements:
    """Take values of which only the mean is compared."""
    whole = _quantity(scores)._replace(name="all queries")
    return _of_rows([(whole, _values(scores, systems))], (whole.name,), scores, systems)


def _values(scores: Scores, systems: Systems) -> Floats:
    """(runs, queries) values of the runs of systems, in their order."""
    return scores.values[[scores.runs.index(run) for runs in systems.values() for run in runs]]


def _of_rows(
    rows: Sequence[MeasuredRow],
    deciding: tuple[str, ...],
    scores: Scores,
    systems: Systems,
) -> Measurements:
    """Rows of values, with their queries, clusters and systems."""
    contents = [_contents(scores, run) for runs in systems.values() for run in runs]
    return Measurements(
        names=tuple(systems),
        n_runs=tuple(map(len, systems.values())),
        query_ids=scores.query_ids,
        deciding=deciding,
        clusters=None if scores.clusters is None else Clusters(scores.clusters),
        rankings=_numbered(contents),
        **_by_name(rows),
    )


def _contents(scores: Scores, run: str) -> bytes:
    """Return what only runs with the same values share, none of them missing."""
    if scores.missing.get(run):
        return run.encode()
    whole = scores.values if scores.everywhere is None else scores.everywhere.values
    contents: bytes = whole[scores.runs.index(run)].tobytes()
    return contents


def _ranks_of(scores: Scores, values: Floats) -> Floats:
    """Ranks, also of rounded reciprocals, NaN where there is none."""
    if scores.kind == "rank":
        return np.where(values == parse_measure(scores.measure).DEFAULT, np.nan, values)
    ranks = divided(1.0, values, values > 0)
    whole = np.rint(ranks)
    slack = 1e-9 if scores.decimals is None else 0.5001 * 10.0**-scores.decimals
    return np.where(np.abs(1 / whole - values) <= slack, whole, ranks)
