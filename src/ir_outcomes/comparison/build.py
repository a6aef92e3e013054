"""From per-query numbers of pairs of runs to finished comparisons: facets, correction over the family, verdict, words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ir_outcomes.comparison.facets import Facet, Naive, coverage_facet, ranking_facet, reciprocal_facet
from ir_outcomes.comparison.outcomes import OUTCOMES, Split
from ir_outcomes.comparison.result import Comparison, Comparisons, QueryOutcome
from ir_outcomes.comparison.settings import Settings
from ir_outcomes.comparison.verdict import Verdict, decide
from ir_outcomes.comparison.wording import notes_on_facets, sentence
from ir_outcomes.errors import ParameterError
from ir_outcomes.results import versions
from ir_outcomes.statistics import adjust, randomized_tukey_hsd


@dataclass(frozen=True, eq=False)
class Pair:
    """A baseline and a contender, measured but not yet tested.

    Attributes
    ----------
    baseline, contender : str
        Names.
    split : Split
        Per-query numbers.
    n_unanswerable : int
        Queries left out.
    naive : Naive
        What the framework replaces.
    notes : tuple of str
        What must be known about the input.
    texts : mapping of str to str
        Text of the queries, as far as it is known.
    """

    baseline: str
    contender: str
    split: Split
    n_unanswerable: int
    naive: Naive
    notes: tuple[str, ...]
    texts: Mapping[str, str] = field(default_factory=dict)


def build(pairs: Sequence[Pair], settings: Settings) -> Comparisons:
    """Test all pairs of a family, correct each facet over it, and reach the verdicts."""
    coverage = [coverage_facet(pair.split, settings) for pair in pairs]
    ranking = [ranking_facet(pair.split, settings) for pair in pairs]
    reciprocal = [reciprocal_facet(pair.split, settings) for pair in pairs]
    if settings.correction == "tukey":
        coverage, ranking = _by_tukey(coverage, pairs, settings, "found"), _by_tukey(ranking, pairs, settings, "length")
    else:
        coverage, ranking = _corrected(coverage, settings), _corrected(ranking, settings)
    rows = zip(pairs, coverage, ranking, reciprocal, strict=True)
    return Comparisons(tuple(_comparison(*row, settings) for row in rows))


def _comparison(pair: Pair, coverage: Facet, ranking: Facet, reciprocal: Facet | None, settings: Settings) -> Comparison:
    label, strict, do_no_harm = decide(coverage.finding(), ranking.finding())
    words = sentence(label, pair.baseline, pair.contender, settings.unit, pair.split.outcomes, coverage, ranking)
    return Comparison(
        baseline=pair.baseline,
        contender=pair.contender,
        n_queries=len(pair.split.query_ids),
        n_unanswerable=pair.n_unanswerable,
        settings=settings,
        outcomes=pair.split.outcomes,
        coverage=coverage,
        ranking=ranking,
        reciprocal_rank=reciprocal,
        naive=pair.naive,
        verdict=Verdict(label, strict, do_no_harm, _non_inferior(coverage, ranking, settings.margins), words),
        notes=(*pair.notes, *notes_on_facets(coverage, ranking, label)),
        versions=versions(),
        queries=_queries(pair.split, pair.texts),
    )


def _corrected(facets: list[Facet], settings: Settings) -> list[Facet]:
    pvalues = adjust([facet.pvalue for facet in facets], settings.correction).tolist()
    return [facet.corrected(pvalue) for facet, pvalue in zip(facets, pvalues, strict=True)]


def _by_tukey(facets: list[Facet], pairs: Sequence[Pair], settings: Settings, what: str) -> list[Facet]:
    """Correct by the randomized Tukey HSD test over all systems; where a run found nothing there is a gap."""
    if settings.unit == "document" and what == "length":
        raise ParameterError(
            "correction='tukey' needs one search length per query and run, which unit='document' does not have; "
            "use unit='query' or correction='holm'"
        )
    columns = {}
    for pair in pairs:
        columns[pair.baseline] = getattr(pair.split, f"{what}_baseline")
        columns[pair.contender] = getattr(pair.split, f"{what}_contender")
    place = {name: column for column, name in enumerate(columns)}
    table = np.stack(list(columns.values()), axis=1)
    pvalues = randomized_tukey_hsd(table, seed=settings.seed, resamples=settings.resamples)
    return [
        facet.corrected(float(pvalues[place[pair.baseline], place[pair.contender]]))
        for facet, pair in zip(facets, pairs, strict=True)
    ]


def _non_inferior(coverage: Facet, ranking: Facet, margins: tuple[float, float] | None) -> bool | None:
    if margins is None:
        return None

    def inside(facet: Facet, margin: float) -> bool:
        return facet.worst_case is not None and abs(min(0.0, facet.worst_case * (1 if facet.higher_is_better else -1))) < margin

    return (coverage.finding().up and inside(ranking, margins[1])) or (ranking.finding().up and inside(coverage, margins[0]))


def _queries(outcome: Split, texts: Mapping[str, str]) -> tuple[QueryOutcome, ...]:
    gained = outcome.found_contender - outcome.found_baseline
    code = np.where(gained < 0, 1, np.where(gained > 0, 2, np.where(outcome.found_baseline > 0, 3, 0)))
    differences = np.where(outcome.shared, outcome.length_contender - outcome.length_baseline, np.nan)
    rows = zip(
        outcome.query_ids,
        code.tolist(),
        np.stack([outcome.found_baseline, outcome.found_contender], axis=1).tolist(),
        np.stack([outcome.length_baseline, outcome.length_contender, differences], axis=1).tolist(),
        strict=True,
    )
    return tuple(
        QueryOutcome(query, OUTCOMES[each], a, b, _or_none(length_a), _or_none(length_b), _or_none(change), texts.get(query))
        for query, each, (a, b), (length_a, length_b, change) in rows
    )


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
