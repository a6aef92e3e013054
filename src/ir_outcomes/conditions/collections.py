"""The same comparison on several collections."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar, Literal, Unpack

from ir_outcomes.choices import Positive
from ir_outcomes.conditions.conditions import (
    FEWEST_COLLECTIONS,
    Condition,
    Kind,
    MeansOverConditions,
    Overall,
    by_contender,
    conditions_of,
    deciding_over,
    notes_on_left_out,
    overall_of,
    row_called,
)
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, refuse_measures
from ir_outcomes.evaluation.named_measures import Measures
from ir_outcomes.evaluation.remarks import UNEVEN_JUDGING, Stop, notes_on_grades
from ir_outcomes.evaluation.suites import collections_of, differing
from ir_outcomes.formatting import listed, percent, plural
from ir_outcomes.notes import Note, as_notes, merged, note
from ir_outcomes.pairs.rules import RuleOptions, Rules, Settings


@dataclass(frozen=True, repr=False)
class CollectionsComparison(MeansOverConditions):
    """Contenders against a baseline on several collections.

    The figure is "forest".

    Attributes
    ----------
    missing : tuple of (str, str)
        Runs that a collection lacks, with its name: there they are neither compared nor part of a
        mean.
    """

    over: ClassVar[Kind] = "collection"

    missing: tuple[tuple[str, str], ...] = ()


def compare_collections(
    evaluations: Mapping[str, Evaluation],
    baseline: str,
    contenders: Sequence[str] | str | None = None,
    *,
    cutoff: Positive | None = None,
    measures: Measures = (),
    groups: Mapping[str, str] | None = None,
    allow: Collection[Literal[Stop, "cutoff"]] = (),
    **rules: Unpack[RuleOptions],
) -> CollectionsComparison:
    """Compare runs on several collections.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        Evaluations of runs with the same names, by the name of the collection; or of values of one
        measure (`ir_outcomes.outputs`).
    baseline : str
        Name of run A.
    contenders : str or sequence of str, optional
        Names of the other runs; by default all that any collection has.
    cutoff : int, optional
        Ranks beyond it do not count; by default that of the evaluations, which must agree.
    measures : sequence of Measure or str
        Other measures whose differences are shown, see `ir_outcomes.compare`, and pooled; name them
        in ``evaluate(measures=)``.
    groups : mapping of str to str, optional
        Collections of the same group, such as the parts of CQADupStack, are averaged first and
        count as one.
    allow : collection of {"unknown-ids", "rising-scores", "equal-scores", "cutoff"}
        What is meant although it looks like a mistake, see `ir_outcomes.compare`; and collections
        that differ in the cutoff.
    **rules
        alpha, correction and margins; see `ir_outcomes.Rules`. Labels are corrected over the
        contenders; a mark says where they would not stay by Holm over the collections, too.

    Raises
    ------
    ParameterError
        If there is no collection, the baseline is in none, or a setting makes no sense.
    MismatchError
        If the evaluations differ in a setting that is not allowed to differ.

    References
    ----------
    Satterthwaite 1946 and Welch 1947 for the degrees of freedom of the mean of these collections.

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(40)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> found = compare_collections({"first": iro.evaluate(qrels, {"a": a, "b": b})}, "a")
    >>> found.overall[0].label
    'better on ranking'
    """
    evaluations = collections_of(
        evaluations,
        cutoff,
        groups or {},
        allow=allow,
        remedy=", or pass `allow=['cutoff']` if this is intended",
    )
    for evaluation in evaluations.values():
        refuse_measures(evaluation, measures)
    names = tuple(
        dict.fromkeys(run for evaluation in evaluations.values() for run in evaluation.names)
    )
    chosen = contenders_of(names, baseline, contenders)
    first = next(iter(evaluations.values()))
    checked = Rules(**rules)
    conditions = conditions_of(
        evaluations,
        baseline,
        chosen,
        checked,
        over_conditions=True,
        allow=[stop for stop in allow if stop != "cutoff"],
        measures=measures,
        groups=groups,
    )
    missing = _missing(evaluations, (baseline, *chosen))
    if not conditions:
        lacking = listed([f"{name} lacks {run}" for run, name in missing][:10])
        raise ParameterError(f"no collection has both {baseline!r} and a contender: {lacking}")
    overall = overall_of(
        conditions, deciding_over(evaluations), checked, len(chosen), new_collection=True
    )
    on_grades = [
        (name, [*notes_on_grades(evaluation.qrels, evaluation.rel), *_of_values(evaluation)])
        for name, evaluation in evaluations.items()
    ]
    settings = Settings.of(first, checked, len(chosen))
    if len({evaluation.cutoff for evaluation in evaluations.values()}) > 1:
        settings = replace(settings, cutoff=None)
    return CollectionsComparison(
        baseline=baseline,
        conditions=tuple(conditions),
        overall=tuple(overall),
        missing=missing,
        settings=settings,
        notes=as_notes(
            [
                *merged(on_grades),
                *(
                    f"The collections differ in {setting}: {said}."
                    for setting, said in differing(evaluations, "cutoff")
                ),
                *_notes(evaluations, conditions, missing, overall),
            ]
        ),
    )


def _of_values(evaluation: Evaluation) -> Iterator[Note]:
    """Say what is known of values that another tool computed."""
    if evaluation.values is not None:
        yield from evaluation.values.notes_on_output()


def _missing(
    evaluations: Mapping[str, Evaluation], runs: Collection[str]
) -> tuple[tuple[str, str], ...]:
    """Return the runs that an evaluation lacks, with its name."""
    return tuple(
        (run, name)
        for name, evaluation in evaluations.items()
        for run in missing_runs(evaluation, runs)
    )


def missing_runs(evaluation: Evaluation, runs: Iterable[str]) -> list[str]:
    """Return the runs that an evaluation lacks."""
    return [run for run in runs if run not in evaluation.systems]


def _notes(
    evaluations: Mapping[str, Evaluation],
    conditions: Sequence[Condition],
    missing: Sequence[tuple[str, str]],
    overall: Sequence[Overall],
) -> Iterator[str]:
    for name, lacking in groupby(missing, key=itemgetter(1)):
        runs = listed([run for run, _ in lacking])
        yield (
            f"{name} lacks {runs}: it is left out of the means, where it counts neither as 0 nor as"
            " worst."
        )
    k = max(row.n for item in overall for row in item.parts)
    if 1 < k < FEWEST_COLLECTIONS:
        yield (
            f"With {plural('collection', k)} nothing is said about a new one, which takes"
            f" {FEWEST_COLLECTIONS}."
        )
    of_contender = by_contender(conditions)
    for item in overall:
        yield from notes_on_left_out(item)
        yield from _about_weights(item, of_contender[item.contender])
    uneven = [
        f"{row.condition} ({percent(row.judged[0], 0)} % of {row.comparison.baseline},"
        f" {percent(row.judged[1], 0)} % of {row.comparison.contender})"
        for row in conditions
        if row.judged is not None and abs(row.judged[0] - row.judged[1]) > UNEVEN_JUDGING
    ]
    if uneven:
        yield note(
            "judged unequally",
            f"of the first 10 documents, in {listed(uneven)}; unjudged documents count as not relevant.",
        )
    yield from _about_shared_ids(evaluations)


def _about_weights(overall: Overall, conditions: Sequence[Condition]) -> Iterator[Note]:
    """Say where a mean weighted by numbers of queries has another direction."""
    for row in overall.parts:
        parts = filter(None, (row_called(item.comparison, row.name) for item in conditions))
        total = sum(part.n * part.difference for part in parts if part.difference is not None)
        if total * (row.difference or 0.0) < 0:
            text = (
                f"{overall.contender}: if each collection weighed as much as its queries, the mean of"
                f" {row.name} would have the other direction. Here each weighs the same."
            )
            yield Note(text)


def _about_shared_ids(evaluations: Mapping[str, Evaluation]) -> Iterator[str]:
    """Say which collections have ids of queries or judged documents in common."""
    documents = {
        name: evaluation.qrels.docids.tolist()
        for name, evaluation in evaluations.items()
        if evaluation.qrels is not None
    }
    queries = {name: evaluation.query_ids for name, evaluation in evaluations.items()}
    shared = []
    for kind, ids in (("queries", queries), ("judged documents", documents)):
        names = _sharing(ids)
        if names:
            shared.append(f"of {kind} ({some(names, 6)})")
    if shared:
        yield (
            f"Collections have ids {listed(shared)} in common: if these are the same, the"
            " collections are not independent, and the means are less certain than their intervals"
            " say."
        )


def _sharing(ids: Mapping[str, Collection[Any]]) -> list[str]:
    """Return the names of the collections that have an id in common with another one."""
    # Whole numbers are ids in many unrelated collections, so they prove nothing.
    times = Counter(known for own in ids.values() for known in {*own} if not known.isdigit())
    return [name for name, own in ids.items() if any(times[known] > 1 for known in own)]
