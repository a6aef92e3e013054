"""The same comparison on several collections."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import ClassVar, Literal, Unpack

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
    notes_on_condition,
    notes_on_left_out,
    overall_of,
)
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, refuse_measures
from ir_outcomes.evaluation.named_measures import Measures
from ir_outcomes.evaluation.remarks import UNEVEN_JUDGING, Stop
from ir_outcomes.evaluation.suites import collections_of, differing, notes_on_shared_ids
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
    missing = tuple(
        (run, name)
        for name, evaluation in evaluations.items()
        for run in (baseline, *chosen)
        if run not in evaluation.systems
    )
    if not conditions:
        lacking = listed([f"{name} lacks {run}" for run, name in missing][:10])
        raise ParameterError(f"no collection has both {baseline!r} and a contender: {lacking}")
    overall = overall_of(
        conditions, deciding_over(evaluations), checked, len(chosen), new_collection=True
    )
    on_conditions = [
        (name, list(notes_on_condition(evaluation))) for name, evaluation in evaluations.items()
    ]
    return CollectionsComparison(
        baseline=baseline,
        conditions=tuple(conditions),
        overall=tuple(overall),
        missing=missing,
        settings=Settings.of_collections(evaluations.values(), checked, len(chosen)),
        notes=as_notes(
            [
                *merged(on_conditions),
                *(
                    f"The collections differ in {setting}: {said}."
                    for setting, said in differing(evaluations, "cutoff")
                ),
                *_notes(evaluations, conditions, missing, overall),
            ]
        ),
    )


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
    yield from notes_on_shared_ids(evaluations)


def _about_weights(overall: Overall, conditions: Sequence[Condition]) -> Iterator[Note]:
    """Say where a mean weighted by numbers of queries has another direction."""
    for row in overall.parts:
        parts = filter(None, (item.comparison.row(row.name) for item in conditions))
        total = sum(part.n * part.difference for part in parts if part.difference is not None)
        if total * (row.difference or 0.0) < 0:
            text = (
                f"{overall.contender}: if each collection weighed as much as its queries, the mean of"
                f" {row.name} would have the other direction. Here each weighs the same."
            )
            yield Note(text)
