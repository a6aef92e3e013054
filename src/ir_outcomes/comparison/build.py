"""From paired queries to finished comparisons: tests, correction over the family, verdicts, words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ir_outcomes._progress import with_progress
from ir_outcomes._types import Floats
from ir_outcomes.comparison.facets import Naive, coverage_facet, ranking_facet, reciprocal_facet, restricted_length
from ir_outcomes.comparison.margins import within_margins
from ir_outcomes.comparison.outcomes import OUTCOMES, PairedQueries, pair_queries
from ir_outcomes.comparison.pair_tests import DecidingCoverageTest, Judgment, judge, run_tests, samples_of, stacked
from ir_outcomes.comparison.result import Comparison, CutoffLabel, QueryOutcome, Verdict
from ir_outcomes.comparison.settings import Settings
from ir_outcomes.comparison.verdict import DECISIONS, LABELS
from ir_outcomes.comparison.wording import notes_on_verdict, sentence
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.results import versions
from ir_outcomes.statistics import randomized_tukey_hsd

__all__ = ["USUAL_CUTOFFS", "MeasuredPair", "build", "labels_by_cutoff"]

USUAL_CUTOFFS = (10, 20, 50, 100, 1000)


@dataclass(frozen=True, eq=False)
class MeasuredPair:
    """A baseline and a contender, measured but not yet tested.

    Attributes
    ----------
    queries : PairedQueries
        Numbers of each query.
    n_unanswerable : int
        Queries left out.
    n_missing : pair of int
        Answerable queries without any result, of baseline and contender.
    naive : Naive
        What the framework replaces.
    cutoffs : tuple of CutoffLabel
        The labels at other cutoffs.
    notes : tuple of str
        What must be known about the input.
    texts : mapping of str to str
        Texts of the queries, as far as they are known.
    metadata : mapping of str to str
        Metadata of the two runs, as far as they have any.
    """

    queries: PairedQueries
    n_unanswerable: int
    n_missing: tuple[int, int]
    naive: Naive
    cutoffs: tuple[CutoffLabel, ...] = ()
    notes: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)


def build(
    pairs: Sequence[MeasuredPair],
    settings: Settings,
    coverage_test: DecidingCoverageTest,
    *,
    wanted: int | None = None,
    progress: bool = False,
) -> tuple[Comparison, ...]:
    """Test all pairs of a family, correct each facet over it, and reach the verdicts of the first `wanted` pairs, or of all."""
    judgment = _judged([pair.queries for pair in pairs], settings, coverage_test)
    places = range(len(pairs[:wanted]))
    shown = with_progress(places, "pair", len(places), shown=progress)
    return tuple(_comparison(pairs[place], place, judgment, settings, coverage_test) for place in shown)


def labels_by_cutoff(
    pairs: Sequence[tuple[SearchLengths, SearchLengths]], settings: Settings, coverage_test: DecidingCoverageTest
) -> list[tuple[CutoffLabel, ...]]:
    """Find the label of each pair at its own cutoff, and at the usual ones up to the longest list of its shallower run.

    Parameters
    ----------
    pairs : sequence of pairs of SearchLengths
        The family, with the whole depth of the runs.
    settings : Settings
        Of the comparison.
    coverage_test : {"exact", "midp", "signflip"}
        The test that decides on coverage.

    Returns
    -------
    list of tuple of CutoffLabel
        For each pair, ascending. The labels are those of `ir_outcomes.compare` at each cutoff, corrected over the family, not
        for the number of cutoffs.
    """
    own = settings.cutoff
    reach = [min(run.depth for run in pair) for pair in pairs]
    shown: list[list[CutoffLabel]] = [[] for _ in pairs]
    for cutoff in sorted({*USUAL_CUTOFFS, *(() if own is None else (own,))}):
        if cutoff != own and cutoff > max(reach, default=0):
            continue
        at_cutoff = [pair_queries(baseline.at(cutoff), contender.at(cutoff), settings.unit) for baseline, contender in pairs]
        judgment = _judged(at_cutoff, replace(settings, cutoff=cutoff), coverage_test)
        for place, label in enumerate(judgment.verdicts.labels()):
            if cutoff == own or cutoff <= reach[place]:
                shown[place].append(CutoffLabel(cutoff, label))
    return [tuple(labels) for labels in shown]


def _judged(pairs: Sequence[PairedQueries], settings: Settings, coverage_test: DecidingCoverageTest) -> Judgment:
    tests = stacked([run_tests(samples_of(pair), settings.test, coverage_test) for pair in pairs])
    if settings.correction == "tukey":
        return judge(tests, alpha=settings.alpha, corrected=_tukey(pairs, settings))
    return judge(tests, alpha=settings.alpha, correction=settings.correction)


def _comparison(
    pair: MeasuredPair, place: int, judgment: Judgment, settings: Settings, coverage_test: DecidingCoverageTest
) -> Comparison:
    queries, verdicts = pair.queries, judgment.verdicts
    coverage = coverage_facet(queries, settings, coverage_test)
    coverage = replace(coverage, pvalue_corrected=float(judgment.coverage[place]))
    ranking = replace(ranking_facet(queries, settings), pvalue_corrected=float(judgment.ranking[place]))
    restricted = restricted_length(queries.restricted, settings)
    within = None if settings.margins is None else within_margins(coverage, ranking, settings.margins)
    label = LABELS[verdicts.label[place]]
    comparison = Comparison(
        baseline=queries.baseline,
        contender=queries.contender,
        n_queries=len(queries.query_ids),
        n_unanswerable=pair.n_unanswerable,
        n_missing=pair.n_missing,
        settings=settings,
        outcomes=queries.outcomes,
        coverage=coverage,
        ranking=ranking,
        reciprocal=reciprocal_facet(queries, settings),
        restricted=restricted,
        naive=pair.naive,
        cutoffs=pair.cutoffs,
        verdict=Verdict(
            label=label,
            strict=DECISIONS[int(verdicts.strict[place])],
            do_no_harm=DECISIONS[int(verdicts.do_no_harm[place])],
            guard=None if restricted is None else bool(verdicts.guard[place]),
            non_inferior=None if within is None else within.non_inferior,
            equivalent=None if within is None else within.equivalent,
            sentence=sentence(label, queries, settings.unit, coverage, ranking),
        ),
        notes=(),
        versions=versions(),
        run_metadata=pair.metadata,
        queries=_query_outcomes(queries, pair.texts),
    )
    first, later = notes_on_verdict(comparison)
    return replace(comparison, notes=(*first, *pair.notes, *later))


def _tukey(pairs: Sequence[PairedQueries], settings: Settings) -> tuple[Floats, Floats]:
    """Correct by the randomized Tukey HSD test over all systems; where a run found nothing there is a gap."""
    if settings.unit == "document":
        raise ParameterError(
            "correction='tukey' needs one search length per query and run, which unit='document' does not have; "
            "use unit='query' or correction='holm'"
        )

    def corrected(what: str) -> Floats:
        columns: dict[str, Floats] = {}
        for pair in pairs:
            columns[pair.baseline] = getattr(pair, f"{what}_baseline")
            columns[pair.contender] = getattr(pair, f"{what}_contender")
        place = {name: column for column, name in enumerate(columns)}
        values = np.stack(list(columns.values()), axis=1)
        pvalues = randomized_tukey_hsd(values, seed=settings.seed)
        return np.array([pvalues[place[pair.baseline], place[pair.contender]] for pair in pairs])

    return corrected("found"), corrected("length")


def _query_outcomes(pair: PairedQueries, texts: Mapping[str, str]) -> tuple[QueryOutcome, ...]:
    gained = pair.found_contender - pair.found_baseline
    code = np.where(gained < 0, 1, np.where(gained > 0, 2, np.where(pair.found_baseline > 0, 3, 0)))
    change = np.where(pair.shared, pair.length_contender - pair.length_baseline, np.nan)
    rows = zip(
        pair.query_ids,
        code.tolist(),
        np.stack([pair.found_baseline, pair.found_contender], axis=1).tolist(),
        np.stack([pair.length_baseline, pair.length_contender, change], axis=1).tolist(),
        strict=True,
    )
    return tuple(
        QueryOutcome(query, OUTCOMES[outcome], a, b, _or_none(length_a), _or_none(length_b), _or_none(moved), texts.get(query))
        for query, outcome, (a, b), (length_a, length_b, moved) in rows
    )


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
