"""A family of comparisons: its pairs measured, tested, corrected over the family, and judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from ir_outcomes.comparison.facets import AllQueries, Facet, RestrictedLength
from ir_outcomes.comparison.margins import against_margins, within_margins
from ir_outcomes.comparison.measured import Facets, means_of_measure
from ir_outcomes.comparison.notes import notes_on_input, notes_on_verdict
from ir_outcomes.comparison.outcomes import PairedQueries, Settings, pair_queries
from ir_outcomes.comparison.pair_tests import run_tests, samples_of, stacked
from ir_outcomes.comparison.result import Comparison, CutoffLabel, query_outcomes
from ir_outcomes.comparison.runs_of_systems import (
    AskedMeasure,
    holds_for_new_runs,
    measure_of_runs,
    runs_of_systems,
)
from ir_outcomes.comparison.verdict import (
    DECISIONS,
    LABELS,
    NAMES,
    Verdict,
    Verdicts,
    direction_of,
    judge,
)
from ir_outcomes.comparison.wording import sentence_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import n_missing, notes_on_grades
from ir_outcomes.evaluation.scores import Measures, Scores, comparable, each_measure
from ir_outcomes.evaluation.systems import System
from ir_outcomes.formatting import plural, with_progress
from ir_outcomes.notes import Note, ranked
from ir_outcomes.statistics.kernels import Kernel
from ir_outcomes.types import Floats, Ints

USUAL_CUTOFFS = (10, 20, 50, 100, 1000)

_Part = TypeVar("_Part", bound=Facet | AllQueries)


@dataclass(frozen=True, eq=False)
class MeasuredPair:
    """A baseline and a contender, measured but not yet tested."""

    queries: PairedQueries
    settings: Settings  # of this pair
    n_unanswerable: int
    # Answerable queries without any result, of baseline and contender; of several runs the most.
    n_missing: tuple[int, int]
    # Reciprocals of the rank of the first relevant document, or the values of another measure.
    reciprocal_ranks: tuple[Floats, Floats]
    notes: tuple[Note, ...] = ()
    # Labels at other cutoffs; None where they are not known.
    elsewhere: tuple[CutoffLabel, ...] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    # Values of the measures that were asked for, on the answerable queries.
    asked: tuple[AskedMeasure, ...] = ()


def measured_pairs(
    evaluation: Evaluation,
    pairs: Sequence[tuple[System, System]],
    settings: Settings,
    own_test: Kernel | None,
    measures: Measures,
    notes: Sequence[Sequence[Note]],
) -> list[MeasuredPair]:
    """Measure pairs of systems at the cutoff of the settings; `notes` are what is known about each pair."""
    asked = known_means(evaluation, measures)
    answerable = evaluation.answerable
    labels = labels_elsewhere(pairs, settings, own_test)
    measured = []
    for (baseline, contender), own_notes, elsewhere in zip(pairs, notes, labels, strict=True):
        a = baseline.at(settings.cutoff)
        b = contender.at(settings.cutoff)
        queries = pair_queries(a, b, settings.unit)
        pair = MeasuredPair(
            queries=queries,
            settings=settings.of_pair(queries),
            n_unanswerable=int(np.sum(~answerable)),
            n_missing=(max(map(n_missing, a.runs)), max(map(n_missing, b.runs))),
            reciprocal_ranks=(
                a.mean_reciprocal_ranks()[answerable],
                b.mean_reciprocal_ranks()[answerable],
            ),
            notes=(
                *own_notes,
                *notes_on_grades(evaluation.qrels, evaluation.rel),
                *notes_on_input(a, b, positives_only=evaluation.positives_only),
            ),
            elsewhere=elsewhere,
            texts=evaluation.texts,
            asked=tuple(measure_of_runs(scores, a.called, b.called) for scores in asked),
        )
        measured.append(pair)
    return measured


def known_means(evaluation: Evaluation, measures: Measures) -> tuple[Scores, ...]:
    """Return the values of measures on the answerable queries; one that is undefined there has no comparable means."""
    found = []
    for measure in dict.fromkeys(map(comparable, each_measure(measures))):
        scores = evaluation.scores_of(measure).on(evaluation.answerable_queries)
        undefined = np.isnan(scores.values).sum(axis=1)
        if undefined.any():
            run = int(np.argmax(undefined))
            raise ParameterError(
                f"{measure} is undefined for {scores.runs[run]} on"
                f" {plural('query', int(undefined[run]))} of {len(scores.query_ids)}, so means"
                " would be of different queries; choose one that every query has, such as RR or"
                " ESL(unanswered='cutoff+1')@100"
            )
        found.append(scores)
    return tuple(found)


def labels_elsewhere(
    pairs: Sequence[tuple[System, System]], settings: Settings, own_test: Kernel | None
) -> list[tuple[CutoffLabel, ...]]:
    """Return the labels of each pair at the usual cutoffs but its own, up to the longest list of its shallower run."""
    reach = [min(baseline.depth, contender.depth) for baseline, contender in pairs]
    shown: list[tuple[CutoffLabel, ...]] = [()] * len(pairs)
    for cutoff in USUAL_CUTOFFS:
        if cutoff == settings.cutoff or cutoff > max(reach, default=0):
            continue
        tests = []
        for baseline, contender in pairs:
            queries = pair_queries(baseline.at(cutoff), contender.at(cutoff), settings.unit)
            samples = samples_of(queries, settings.levels, labels_only=True)
            tests.append(run_tests(samples, settings.test, settings.coverage_test, own_test))
        verdicts = judge(stacked(tests), alpha=settings.alpha, correction=settings.correction)
        for place, label in enumerate(verdicts.labels()):
            if cutoff <= reach[place]:
                shown[place] += (CutoffLabel(cutoff, label),)
    return shown


def judged(
    pairs: Sequence[MeasuredPair],
    settings: Settings,
    own_test: Kernel | None = None,
    *,
    progress: bool,
) -> tuple[Comparison, ...]:
    """Test all pairs of a family, correct each facet over it, and reach the verdicts."""
    tested = []
    for pair in with_progress(pairs, "pair", len(pairs), shown=progress):
        tested.append(Facets.of(pair.queries, pair.reciprocal_ranks, pair.settings, own_test))
    tests = stacked([facets.tests for facets in tested])
    verdicts = judge(tests, alpha=settings.alpha, correction=settings.correction)
    return tuple(
        _comparison(pair, facets, verdicts, place)
        for place, (pair, facets) in enumerate(zip(pairs, tested, strict=True))
    )


def _comparison(pair: MeasuredPair, tested: Facets, verdicts: Verdicts, place: int) -> Comparison:
    """Put together what was measured of a pair, and its verdict among those of the family."""

    def with_verdict(part: _Part, found: Ints, corrected: Floats) -> _Part:
        return replace(
            part, found=NAMES[int(found[place])], pvalue_corrected=float(corrected[place])
        )

    queries = pair.queries
    corrected = verdicts.corrected
    coverage = with_verdict(tested.coverage, verdicts.coverage_found, corrected.coverage)
    ranking = with_verdict(tested.ranking, verdicts.ranking_found, corrected.ranking)
    all_queries = tested.all_queries
    if all_queries is not None and corrected.all_queries is not None:
        all_queries = with_verdict(all_queries, verdicts.all_queries_found, corrected.all_queries)
    restricted = None
    mean = None
    if isinstance(all_queries, RestrictedLength):
        restricted = all_queries
    else:
        mean = all_queries
    label = LABELS[verdicts.label[place]]
    cutoffs: list[CutoffLabel] = []
    if pair.elsewhere is not None and pair.settings.cutoff is not None:
        cutoffs = sorted([*pair.elsewhere, CutoffLabel(pair.settings.cutoff, label)])
    comparison = Comparison(
        baseline=queries.baseline,
        contender=queries.contender,
        n_queries=len(queries.query_ids),
        n_unanswerable=pair.n_unanswerable,
        n_missing=pair.n_missing,
        settings=pair.settings,
        outcomes=queries.outcomes,
        coverage=coverage,
        ranking=ranking,
        reciprocal=tested.reciprocal,
        restricted=restricted,
        mean=mean,
        naive=tested.naive,
        cutoffs=tuple(cutoffs),
        verdict=Verdict(
            label=label,
            direction=direction_of(label),
            strict=DECISIONS[int(verdicts.strict[place])],
            do_no_harm=DECISIONS[int(verdicts.do_no_harm[place])],
            guard=None if restricted is None else bool(verdicts.guard[place]),
            non_inferior=None,
            equivalent=None,
            sentence="",
            new_runs=holds_for_new_runs(label, (coverage, ranking, all_queries)),
        ),
        run_metadata=pair.metadata,
        identical=queries.identical,
        n_runs=queries.n_runs,
        runs=runs_of_systems(queries, pair.asked),
        queries=query_outcomes(queries, pair.texts),
        measures=tuple(means_of_measure(own, queries, pair.settings) for own in pair.asked),
    )
    verdict = replace(comparison.verdict, sentence=sentence_of(comparison))
    if pair.settings.margins is not None:
        within = within_margins(comparison, against_margins(comparison, pair.settings.margins))
        verdict = replace(verdict, non_inferior=within.non_inferior, equivalent=within.equivalent)
    notes, background = ranked((*pair.notes, *notes_on_verdict(comparison, queries)))
    return replace(comparison, verdict=verdict, notes=notes, background=background)
