"""What the runs of an evaluation are measured on: search lengths, or values of a measure."""

from collections.abc import Mapping, Sequence

import numpy as np

from ir_outcomes.choices import POINTS, RANKS, Floats, Ints, Unit, divided, length_unit
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths, check_comparable
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.pairs.differences import Clusters, FoundItems, Measurements, Quantity
from ir_outcomes.pairs.verdict import DECIDING
from ir_outcomes.reading.measure_names import range_of

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
    systems = evaluation.systems
    runs = [run.at(k) for system in systems for run in system.runs]
    for run in runs[1:]:
        check_comparable(runs[0], run)
    first = runs[0]
    answerable = first.answerable
    items = items_of(runs, evaluation.unit)
    levels = {
        "coverage": items.shares(),
        "all queries": lengths_over_all(runs, evaluation.unit, k),
        **{scores.measure: scores.values for scores in measures},
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
        names=evaluation.system_names,
        n_runs=tuple(len(system.runs) for system in systems),
        query_ids=first.answerable_queries,
        quantities={quantity.name: quantity for quantity in quantities},
        levels=levels,
        items=of_both,
        deciding=DECIDING,
        clusters=None if first.clusters is None else Clusters(first.clusters[answerable]),
        rankings=_numbered_rankings(runs),
    )


def items_of(runs: Sequence[SearchLengths], unit: Unit) -> FoundItems:
    """Return what the runs found: queries, or relevant documents."""
    answerable = runs[0].answerable
    if unit == "document":
        lengths = np.stack([run.atoms() for run in runs])
        return FoundItems.of(runs[0].relevant[answerable], lengths)
    number = np.ones(int(answerable.sum()), dtype=np.int64)
    return FoundItems.of(number, np.stack([run.esl()[answerable] for run in runs]))


def lengths_over_all(runs: Sequence[SearchLengths], unit: Unit, k: int) -> Floats:
    """(runs, queries) ESL(unanswered="cutoff+1")@k, or by document ASL(missing="cutoff")@k."""
    answerable = runs[0].answerable
    if unit == "document":
        return np.stack([run.asl(missing="cutoff")[answerable] for run in runs])
    return np.stack([np.nan_to_num(run.esl()[answerable], nan=k + 1.0) for run in runs])


def _numbered_rankings(runs: Sequence[SearchLengths]) -> Ints:
    """Return a number for each run, the same where all rankings are the same."""
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(run.digests.tobytes(), len(seen)) for run in runs])


def _quantity(scores: Scores) -> Quantity:
    largest = range_of(scores.measure, scores.values)
    return Quantity(scores.measure, scores.measure, scores.higher_is_better, largest)


def measurements_of_values(
    scores: Scores, systems: Mapping[str, Sequence[str]], kind: str, k: int | None
) -> Measurements:
    """Take values that another tool computed.

    Parameters
    ----------
    scores : Scores
        A value for each run and query.
    systems : mapping of str to sequence of str
        The runs of each system.
    kind : {"reciprocal", "rank", "gain", "truth", "value"}
        How values are read. Reciprocal ranks and ranks are search lengths. A gain is 0 where
        nothing was found, and so is a truth value, which is 1 or 0. Of any other value only the
        mean is compared.
    k : int or None
        The cutoff of the measure, where it is known.
    """
    runs = [scores.runs.index(run) for of_system in systems.values() for run in of_system]
    values = scores.values[runs]
    queries = np.ones(values.shape[1], dtype=np.int64)
    items: dict[str, FoundItems] = {}
    levels: dict[str, Floats] = {}
    quantities: list[Quantity] = []
    deciding: tuple[str, ...] = DECIDING
    if kind in ("reciprocal", "rank"):
        lengths = _ranks_of(scores, values) if kind == "reciprocal" else values
        items = {"ranking": FoundItems.of(queries, lengths)}
        items["MRR on both"] = items["ranking"].reciprocal()
        levels["coverage"] = items["ranking"].shares()
        quantities = [COVERAGE, Quantity("ranking", RANKS, False, None if k is None else k - 1.0)]
        if k is None:
            deciding = ("coverage", "ranking")
        else:
            levels["all queries"] = np.nan_to_num(lengths, nan=k + 1.0)
            quantities.append(Quantity("all queries", RANKS, False, float(k)))
        levels["MRR"] = np.nan_to_num(1 / lengths)
        quantities += [Quantity(row, "reciprocal", True, 1.0) for row in ("MRR", "MRR on both")]
    else:
        whole = _quantity(scores)._replace(name="all queries")
        levels["all queries"] = values
        if kind != "value":
            items["ranking"] = FoundItems.of(queries, np.where(values == 0, np.nan, values))
            levels["coverage"] = items["ranking"].shares()
            quantities = [COVERAGE]
        if kind == "gain":
            quantities.append(whole._replace(name="ranking"))
        else:
            deciding = ("all queries",)
        quantities.append(whole)
    codes = scores.clusters
    return Measurements(
        names=tuple(systems),
        n_runs=tuple(map(len, systems.values())),
        query_ids=scores.query_ids,
        quantities={quantity.name: quantity for quantity in quantities},
        levels=levels,
        items=items,
        deciding=deciding,
        clusters=None if codes is None else Clusters(codes),
    )


def _ranks_of(scores: Scores, values: Floats) -> Floats:
    """Convert reciprocal ranks, that can have been rounded, to ranks; NaN where there is none."""
    ranks = divided(1.0, values, values > 0)
    whole = np.rint(ranks)
    slack = 1e-9 if scores.decimals is None else 0.5001 * 10.0**-scores.decimals
    return np.where(np.abs(1 / whole - values) <= slack, whole, ranks)
