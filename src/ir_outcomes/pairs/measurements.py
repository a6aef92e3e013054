"""Measurements of an evaluation, from search lengths or values."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ir_outcomes.choices import POINTS, RANKS, Floats, Ints, Unit, divided, length_unit
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths, check_comparable
from ir_outcomes.evaluation.named_measures import parse_measure
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.systems import Systems
from ir_outcomes.pairs.differences import Clusters, FoundItems, Measurements, Quantity
from ir_outcomes.pairs.verdict import DECIDING, FACETS

COVERAGE = Quantity("coverage", POINTS, True, 100.0)


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
    items = items_of(runs, evaluation.unit)
    levels = {
        "coverage": items.shares(),
        "all queries": lengths_over_all(runs, evaluation.unit, k),
        **{scores.measure: _values(scores, evaluation.systems) for scores in measures},
    }
    measured_in = length_unit(evaluation.unit)
    quantities = [
        COVERAGE,
        Quantity("ranking", measured_in, False, k - 1.0),
        Quantity("all queries", measured_in, False, float(k)),
        *(_quantity(scores) for scores in measures),
    ]
    of_both = {"ranking": items}
    if with_reciprocal:
        name = "MRR on both" if evaluation.unit == "query" else "1 / length on both"
        levels["MRR"] = np.stack([run.reciprocal_rank()[answerable] for run in runs])
        of_both[name] = items.reciprocal()
        quantities += [Quantity(row, "reciprocal", True, 1.0) for row in ("MRR", name)]
    return Measurements(
        names=tuple(evaluation.systems),
        n_runs=tuple(map(len, by_system)),
        query_ids=first.answerable_queries,
        quantities={quantity.name: quantity for quantity in quantities},
        levels=levels,
        items=of_both,
        deciding=DECIDING,
        clusters=None if first.clusters is None else Clusters(first.clusters[answerable]),
        rankings=_numbered([run.diagnosis.digests.tobytes() for run in runs]),
    )


def items_of(runs: Sequence[SearchLengths], unit: Unit) -> FoundItems:
    """What the runs found: queries, or relevant documents."""
    answerable = runs[0].answerable
    if unit == "document":
        lengths = np.stack([run.atoms() for run in runs])
        return FoundItems.of(runs[0].relevant[answerable], lengths)
    number = np.ones(int(answerable.sum()), dtype=np.int64)
    return FoundItems.of(number, np.stack([run.esl()[answerable] for run in runs]))


def lengths_over_all(runs: Sequence[SearchLengths], unit: Unit, k: int) -> Floats:
    """(runs, queries) ESL(unanswered="cutoff+1")@k, or ASL(missing="cutoff")@k."""
    answerable = runs[0].answerable
    if unit == "document":
        return np.stack([run.asl(missing="cutoff")[answerable] for run in runs])
    return np.stack([np.nan_to_num(run.esl()[answerable], nan=k + 1.0) for run in runs])


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
    values, measured = _measured(scores, systems)
    if scores.kind == "rank" or (scores.kind == "reciprocal" and not as_written):
        return _of_ranks(_ranks_of(scores, values), scores, measured)
    return _of_gains(scores, values, measured)


def measurements_of_means(scores: Scores, systems: Systems) -> Measurements:
    """Take values of which only the mean is compared."""
    values, measured = _measured(scores, systems)
    whole = _quantity(scores)._replace(name="all queries")
    return Measurements(
        quantities={whole.name: whole},
        levels={whole.name: values},
        items={},
        deciding=(whole.name,),
        **measured,
    )


def _values(scores: Scores, systems: Systems) -> Floats:
    """(runs, queries) values of the runs of systems, in their order."""
    return scores.values[[scores.runs.index(run) for runs in systems.values() for run in runs]]


def _measured(scores: Scores, systems: Systems) -> tuple[Floats, dict[str, Any]]:
    """Return the values of the runs of systems, and what is known of these."""
    codes = scores.clusters
    return _values(scores, systems), {
        "names": tuple(systems),
        "n_runs": tuple(map(len, systems.values())),
        "query_ids": scores.query_ids,
        "clusters": None if codes is None else Clusters(codes),
        "rankings": _numbered(
            [_contents(scores, run) for runs in systems.values() for run in runs]
        ),
    }


def _contents(scores: Scores, run: str) -> bytes:
    """Return what only runs with the same values share, none of them missing."""
    if scores.missing.get(run):
        return run.encode()
    whole = scores.values if scores.everywhere is None else scores.everywhere.values
    contents: bytes = whole[scores.runs.index(run)].tobytes()
    return contents


def _of_ranks(ranks: Floats, scores: Scores, measured: Mapping[str, Any]) -> Measurements:
    """Take ranks, (runs, queries), with NaN for queries that are not answered."""
    k = scores.cutoff
    items = FoundItems.of(np.ones(ranks.shape[1], dtype=np.int64), ranks)
    quantities = [COVERAGE, Quantity("ranking", RANKS, False, None if k is None else k - 1.0)]
    levels = {"coverage": items.shares(), "MRR": np.nan_to_num(1 / ranks)}
    if k is not None:
        levels["all queries"] = np.nan_to_num(ranks, nan=k + 1.0)
        quantities.append(Quantity("all queries", RANKS, False, float(k)))
    quantities += [Quantity(row, "reciprocal", True, 1.0) for row in ("MRR", "MRR on both")]
    return Measurements(
        quantities={quantity.name: quantity for quantity in quantities},
        levels=levels,
        items={"ranking": items, "MRR on both": items.reciprocal()},
        deciding=deciding_rows(scores),
        **measured,
    )


def _of_gains(scores: Scores, values: Floats, measured: Mapping[str, Any]) -> Measurements:
    """Take values of a measure, whose mean takes the place of all queries."""
    whole = _quantity(scores)._replace(name="all queries")
    levels = {"all queries": values}
    items: dict[str, FoundItems] = {}
    quantities = [whole]
    if scores.kind != "value":
        queries = np.ones(values.shape[1], dtype=np.int64)
        items["ranking"] = FoundItems.of(queries, np.where(values == 0, np.nan, values))
        levels["coverage"] = items["ranking"].shares()
        quantities = [COVERAGE, whole]
    is_split = scores.kind in ("gain", "reciprocal")
    if is_split:
        quantities.insert(1, whole._replace(name="ranking"))
    return Measurements(
        quantities={quantity.name: quantity for quantity in quantities},
        levels=levels,
        items=items,
        deciding=DECIDING if is_split else ("all queries",),
        **measured,
    )


def _ranks_of(scores: Scores, values: Floats) -> Floats:
    """Ranks, also of rounded reciprocals, NaN where there is none."""
    if scores.kind == "rank":
        return np.where(values == parse_measure(scores.measure).DEFAULT, np.nan, values)
    ranks = divided(1.0, values, values > 0)
    whole = np.rint(ranks)
    slack = 1e-9 if scores.decimals is None else 0.5001 * 10.0**-scores.decimals
    return np.where(np.abs(1 / whole - values) <= slack, whole, ranks)
