"""Boards over collections."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ir_outcomes.choices import Floats
from ir_outcomes.errors import InputError, MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import Allow
from ir_outcomes.evaluation.suites import collections_of
from ir_outcomes.formatting import listed
from ir_outcomes.leaderboards.board import CollectionOfBoard, Leaderboard, RunScore
from ir_outcomes.leaderboards.ordering import defined, order_of
from ir_outcomes.leaderboards.standings import (
    Scored,
    better_by,
    better_than,
    further_measures,
    notes_on_board,
    pairs_of_board,
    standings_of,
)
from ir_outcomes.notes import Note, as_notes, merged, note
from ir_outcomes.pairs.means import means_over_conditions
from ir_outcomes.pairs.rules import Rules, Settings
from ir_outcomes.statistics.estimate import Interval


def board_over_collections(
    evaluations: Mapping[str, Evaluation],
    measures: Any,
    cutoff: int | None,
    allow: Allow,
    groups: Mapping[str, str],
    rules: Rules,
    *,
    progress: bool,
) -> Leaderboard:
    """Order the systems that all collections have by unweighted means over these."""
    found = collections_of(evaluations, cutoff, groups, several_runs=True)
    systems, lacking = _in_all(found)
    _refuse_shared_queries(found)
    scored = {}
    for name, evaluation in found.items():
        try:
            scored[name] = Scored.of(evaluation[systems], measures, None, allow)
        except (InputError, ParameterError) as error:
            error.args = (f"collection {name}: {error}",)
            raise
    _check_sizes(scored)
    of_groups = [groups.get(name, (name,)) for name in found]
    sizes = Counter(of_groups)
    weights = np.array([1 / (len(sizes) * sizes[group]) for group in of_groups])
    means = np.tensordot(weights, [part.means for part in scored.values()], axes=1)
    first = next(iter(scored.values())).of_runs[0]
    ranks, order = order_of(means[0], first.higher_is_better)
    means = means[:, order]
    scored = {name: part.in_order(order) for name, part in scored.items()}
    parts = list(scored.values())
    names = parts[0].names
    rows = [part.rows_of_pairs(rules.alpha, progress=progress) for part in parts]
    row, deciding = parts[0].row, parts[0].deciding
    pairs = pairs_of_board(
        names, means_over_conditions(rows, of_groups, rules.alpha), deciding, rules
    )
    collections = []
    for part, name, of_part in zip(parts, scored, rows, strict=True):
        better = better_by(of_part.corrected(rules.correction, rules.alpha), row)
        n_queries = len(part.of_runs[0].query_ids)
        values = tuple(defined(part.means[0]))
        beaten = better_than(names, better)
        collections.append(CollectionOfBoard(name, groups.get(name), n_queries, values, beaten))
    n_queries = sum(part.n_queries for part in collections)
    return Leaderboard(
        measure=first.measure,
        higher_is_better=first.higher_is_better,
        alpha=rules.alpha,
        correction=rules.correction,
        standings=standings_of(
            ranks[order],
            means[0],
            _intervals(parts, weights, rules.alpha),
            pairs,
            row,
            _scores_of_runs(parts, weights),
        ),
        pairs=pairs,
        measures=further_measures(parts[0].of_runs[1:], means[1:], pairs),
        n_queries=n_queries,
        n_unanswerable=sum(len(member.query_ids) for member in found.values()) - n_queries,
        settings=_settings(found, rules, len(pairs)),
        collections=tuple(collections),
        notes=as_notes([*_notes_on_lacking(lacking), *_notes_on_runs(scored)]),
    )


def _in_all(evaluations: Mapping[str, Evaluation]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the systems of all collections, and which collections lack others."""
    members = {name: evaluation.system_names for name, evaluation in evaluations.items()}
    lacking = {
        system: [name for name, present in members.items() if system not in present]
        for system in dict.fromkeys(name for present in members.values() for name in present)
    }
    systems = [system for system, collections in lacking.items() if not collections]
    lacking = {system: collections for system, collections in lacking.items() if collections}
    if len(systems) < 2:
        without = listed([f"{system} ({some(names, 3)})" for system, names in lacking.items()][:10])
        raise ParameterError(
            "a board needs at least two systems that all collections have; leave out collections"
            f" that lack some: {without or 'there is one system only'}"
        )
    return systems, lacking


def _refuse_shared_queries(evaluations: Mapping[str, Evaluation]) -> None:
    """Raise an error where two collections have a query in common."""
    times = Counter(query for member in evaluations.values() for query in member.query_ids)
    collections: dict[Any, list[str]] = {}
    for name, evaluation in evaluations.items():
        repeated = [query for query in evaluation.query_ids if times[query] > 1]
        for query in _identified(evaluation, repeated):
            collections.setdefault(query, []).append(name)
    for (query, *_), names in collections.items():
        if len(names) > 1:
            raise MismatchError(
                f"{listed(names)} have query {query} in common, so that they are not independent;"
                " leave one of them out"
            )


def _identified(evaluation: Evaluation, queries: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield what identifies queries across collections.

    Whole numbers are ids in many unrelated collections, so they prove nothing by themselves.
    """
    qrels = evaluation.qrels
    if qrels is None:
        yield from ((query,) for query in queries if not query.isdigit())
        return
    positions = {query: position for position, query in enumerate(qrels.query_ids)}
    for query in queries:
        judged = slice(*qrels.offsets[positions[query] : positions[query] + 2])
        yield from ((query, document) for document in qrels.docids[judged].tolist())


def _check_sizes(scored: Mapping[str, Scored]) -> None:
    """Refuse collections in which no pair can be estimated."""
    for name, part in scored.items():
        scores = part.of_runs[0]
        units = scores.query_ids if scores.clusters is None else np.unique(scores.clusters)
        if len(units) < 2:
            raise ParameterError(
                f"collection {name} has fewer than two queries or clusters; leave it out"
            )


def _intervals(parts: Sequence[Scored], weights: Floats, alpha: float) -> list[Interval | None]:
    """Return the intervals of means over collections (Zou and Donner 2008)."""
    intervals: list[Interval | None] = []
    means = np.stack([part.means[0] for part in parts], axis=1)
    of_systems = zip(*(part.intervals(alpha) for part in parts), strict=True)
    for values, of_collections in zip(means, of_systems, strict=True):
        ends = np.array([(np.nan, np.nan) if one is None else one for one in of_collections])
        if np.isnan(ends).any():
            intervals.append(None)
            continue
        low, high = np.sqrt(((weights[:, None] * (ends - values[:, None])) ** 2).sum(axis=0))
        mean = weights @ values
        intervals.append(Interval(float(mean - low), float(mean + high)))
    return intervals


def _scores_of_runs(parts: Sequence[Scored], weights: Floats) -> list[tuple[RunScore, ...]]:
    """Return the mean of each run of systems with several, None where one is lacking."""
    found = []
    for of_collections in zip(*(part.scores_of_runs() for part in parts), strict=True):
        scores = [dict(runs) for runs in of_collections]
        runs = dict.fromkeys(run for of_collection in scores for run in of_collection)
        table = [[of_collection.get(run) for run in runs] for of_collection in scores]
        means = weights @ np.array(table, dtype=np.float64)
        found.append(tuple(map(RunScore, runs, defined(means))))
    return found


def _settings(evaluations: Mapping[str, Evaluation], rules: Rules, family: int) -> Settings | None:
    """Return how runs were compared, None of values."""
    first, *_ = members = list(evaluations.values())
    if first.values is not None:
        return None
    clusters = [member.n_clusters for member in members]
    total = None if None in clusters else sum(number or 0 for number in clusters)
    return replace(Settings.of(first, rules, family), n_clusters=total, clusters=None, task=None)


def _notes_on_lacking(lacking: Mapping[str, list[str]]) -> Iterator[Note]:
    if lacking:
        missing = [f"{system}, which {some(names, 3)} lacks" for system, names in lacking.items()]
        yield note("lacking", f"{'; '.join(missing)}.", [*lacking])


def _notes_on_runs(scored: Mapping[str, Scored]) -> list[Note]:
    """Say what is to be known about the runs of each collection."""
    by_name = []
    for name, part in scored.items():
        notes = [text for scores in part.of_runs for text in scores.notes()]
        if part.evaluation is not None:
            notes += notes_on_board(part.evaluation, part.of_runs[0])
        else:
            notes += part.of_runs[0].notes_on_output()
        by_name.append((name, as_notes(notes)))
    return merged(by_name)
