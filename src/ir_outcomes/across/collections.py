"""The same comparison on several collections: for these collections, and for a new one."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from ir_outcomes.across.conditions import conditions_of, differing, overall_of
from ir_outcomes.across.result import Condition, ConditionsComparison, Overall, by_contender
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, evaluations_of, place_of
from ir_outcomes.evaluation.remarks import UNEVEN_JUDGING, notes_on_grades
from ir_outcomes.evaluation.scores import Measures, each_measure
from ir_outcomes.formatting import listed, percent, plural
from ir_outcomes.notes import as_notes, merged
from ir_outcomes.statistics.pooling import FEWEST_SAMPLES_TO_GENERALISE
from ir_outcomes.types import Correction, RankingTest

OVER_COLLECTIONS = "holm"  # the correction of the p-values beside the labels
FEW_COLLECTIONS = 6  # where one of them can have most of the uncertainty of their mean
# Search lengths are called skewed where the degrees of freedom are a smaller share of the queries:
# at kurtosis 4.
SKEWED = 1 / 3


def compare_collections(
    evaluations: Mapping[str, Evaluation],
    baseline: str,
    contenders: Sequence[str] | str | None = None,
    *,
    cutoff: int | None = None,
    alpha: float = 0.05,
    test: RankingTest = "t",
    correction: Correction = "holm",
    measures: Measures = (),
    groups: Mapping[str, str] | None = None,
    allow: Collection[str] = (),
) -> ConditionsComparison:
    """Compare runs on several collections.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        Evaluations of runs with the same names, by the name of the collection.
    baseline : str
        Name of run A.
    contenders : str or sequence of str, optional
        Names of the other runs; by default all that any collection has.
    cutoff : int, optional
        Ranks beyond it do not count; by default that of the evaluations, which must agree.
    alpha, test
        See `ir_outcomes.compare`.
    correction : {"holm", "bonferroni", "fdr_bh", "none"}
        Over the contenders. Beside each label stand the p-values that are corrected over
        collections, too, by Holm, and whether it survives them.
    measures : sequence of Measure or str
        Other measures whose differences are shown, see `ir_outcomes.compare`, and pooled; name them
        in ``evaluate(measures=)``.
    groups : mapping of str to str, optional
        Collections of the same group, such as the parts of CQADupStack, are averaged first and
        count as one.
    allow : collection of str
        Settings that may differ between collections: "cutoff", "ties" or "judged_only".

    Raises
    ------
    ParameterError
        If there is no collection, the baseline is in none, or a setting makes no sense.
    MismatchError
        If the evaluations differ in a setting that is not allowed to differ.

    References
    ----------
    Soboroff 2018, "Meta-analysis for retrieval experiments involving multiple test collections";
    IntHout et al. 2014; Roever et al. 2015; Higgins, Thompson and Spiegelhalter 2009.

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
    evaluations = evaluations_of(evaluations, cutoff)
    if not evaluations:
        raise ParameterError("there is no collection; give a mapping from names to evaluations")
    unlike = list(differing(evaluations, "cutoff", "ties", "judged_only"))
    for setting, said in unlike:
        if setting not in allow:
            raise MismatchError(
                f"the collections differ in {setting} ({said}); evaluate them alike, or pass"
                f" `allow=({setting!r},)` if this is intended"
            )
    # With one relevant document the two are the same.
    if len({evaluation.unit for evaluation in evaluations.values()}) > 1:
        evaluations = {
            name: replace(evaluation, unit="document") for name, evaluation in evaluations.items()
        }
    names = tuple(
        dict.fromkeys(run for evaluation in evaluations.values() for run in evaluation.names)
    )
    place_of(baseline, names)
    chosen = [name for name in contenders_of(names, baseline, contenders) if name != baseline]
    if not chosen:
        raise ParameterError("there is no contender; name a run other than the baseline")
    for name in groups or {}:
        if name not in evaluations:
            raise ParameterError(
                f"groups names {name!r}, which is no collection; they are"
                f" {listed(list(evaluations)[:10])}"
            )
    first = next(iter(evaluations.values()))
    directions = {
        scores.measure: scores.higher_is_better
        for scores in map(first.scores_of, each_measure(measures))
    }
    settings = Settings.of(first, alpha=alpha, test=test, correction=correction, family=len(chosen))
    rows = conditions_of(
        evaluations,
        baseline,
        chosen,
        settings,
        over_conditions=OVER_COLLECTIONS,
        measures=list(directions),
        groups=groups,
    )
    missing = _missing(evaluations, (baseline, *chosen))
    if not rows:
        lacking = listed([f"{name} lacks {run}" for run, name in missing][:10])
        raise ParameterError(f"no collection has both {baseline!r} and a contender: {lacking}")
    overall = overall_of(rows, settings, list(directions.items()))
    on_grades = [
        (name, list(notes_on_grades(evaluation.qrels, evaluation.rel)))
        for name, evaluation in evaluations.items()
    ]
    if len({evaluation.cutoff for evaluation in evaluations.values()}) > 1:
        settings = replace(settings, cutoff=None)
    return ConditionsComparison(
        what="collection",
        baseline=baseline,
        conditions=tuple(rows),
        overall=tuple(overall),
        missing=missing,
        settings=settings,
        measures=tuple(directions),
        over_conditions=OVER_COLLECTIONS,
        notes=as_notes(
            [
                *merged(on_grades),
                *(f"The collections differ in {setting}: {said}." for setting, said in unlike),
                *_notes(evaluations, rows, missing, overall),
            ]
        ),
    )


def with_nothing_to_compare(
    evaluations: Mapping[str, Evaluation], baseline: str, contenders: Sequence[str], *, alpha: float
) -> ConditionsComparison:
    """Return what `compare_collections` cannot, for a gate: no collection has the baseline and a contender."""
    first = next(iter(evaluations.values()))
    missing = _missing(evaluations, dict.fromkeys((baseline, *contenders)))
    settings = Settings.of(first, alpha=alpha, family=max(1, len(contenders)))
    return ConditionsComparison("collection", baseline, (), settings, "none", missing=missing)


def _missing(
    evaluations: Mapping[str, Evaluation], runs: Collection[str]
) -> tuple[tuple[str, str], ...]:
    """Return the runs that an evaluation lacks, with its name."""
    return tuple(
        (run, name)
        for name, evaluation in evaluations.items()
        for run in runs
        if run not in evaluation.names
    )


def _notes(
    evaluations: Mapping[str, Evaluation],
    rows: Sequence[Condition],
    missing: Sequence[tuple[str, str]],
    overall: Sequence[Overall],
) -> Iterator[str]:
    for name, lacking in groupby(missing, key=itemgetter(1)):
        runs = listed([run for run, _ in lacking])
        yield (
            f"{name} lacks {runs}: it is left out of the means, where it counts neither as 0 nor as"
            " worst."
        )
    mean = overall[0].pooled[0].these
    if mean is not None and 1 < mean.k < FEWEST_SAMPLES_TO_GENERALISE:
        yield (
            f"With {plural('collection', mean.k)} nothing is said about a new one: how much effects"
            " vary between collections cannot be estimated from fewer than"
            f" {FEWEST_SAMPLES_TO_GENERALISE}."
        )
    of_contender = by_contender(rows)
    known = []
    for of_run in overall:
        for effect in of_run.pooled:
            if effect.these is not None:
                known.append((of_run.contender, effect, effect.these))
    for run, effect, mean in known:
        if effect.left_out:
            reason = "no variance"
            if effect.name == "ranking":
                reason = "fewer than 10 shared queries, or no difference"
            yield (
                f"{run}: there is no effect of {effect.name} in {listed(effect.left_out)}"
                f" ({reason}); the mean is over {plural('collection', mean.k)}."
            )
    for own in of_contender.values():
        yield from _about_skewed(own)
    for run, effect, mean in known:  # Simpson's paradox
        if effect.name not in ("coverage", "ranking"):
            continue
        facets = [getattr(row, effect.name) for row in of_contender[run]]
        total = sum(facet.n * facet.effect for facet in facets if facet is not None)
        if total * mean.effect < 0:
            yield (
                f"{run}: if each collection weighed as much as its queries, the mean effect on"
                f" {effect.name} would have the other direction. Here each weighs the same."
            )
    uneven = []
    for row in rows:
        if row.judged is None:
            continue
        of_a, of_b = row.judged
        if abs(of_a - of_b) > UNEVEN_JUDGING:
            shares = [
                f"{percent(of_a, 0)} % of {row.comparison.baseline}",
                f"{percent(of_b, 0)} % of {row.comparison.contender}",
            ]
            uneven.append(f"{row.condition} ({', '.join(shares)})")
    if uneven:
        yield (
            f"Runs are judged unequally within the cutoff in {listed(uneven)}: unjudged documents"
            " count as not relevant, which favours the run that has fewer of them."
        )
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


def _about_skewed(rows: Sequence[Condition]) -> Iterator[str]:
    """Say where most of the uncertainty of a mean ratio is that of one very skewed collection among few."""
    known = {row.condition: row.ranking for row in rows if row.ranking is not None}
    if not 1 < len(known) <= FEW_COLLECTIONS:
        return
    total = sum(effect.variance for effect in known.values())
    for name, effect in known.items():
        if effect.variance > total / 2 and effect.df < SKEWED * effect.n:
            yield (
                f"{rows[0].comparison.contender}: a few of the queries of {name} decide most of the"
                " ranking. Where one of 3 to 6 collections of 30 to 100 queries was as skewed, 95"
                " % intervals of the mean covered 92 to 94 %, and at most 81 to 88 % for a tenth"
                " of the pairs of runs."
            )


def _sharing(ids: Mapping[str, Collection[Any]]) -> list[str]:
    """Return the names of the collections that have an id in common with another one."""
    # Whole numbers are ids in many unrelated collections, so they prove nothing.
    times = Counter(known for own in ids.values() for known in {*own} if not known.isdigit())
    return [name for name, own in ids.items() if any(times[known] > 1 for known in own)]
