"""The same comparison at several cutoffs, and how much is found by every rank."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ir_outcomes.across.conditions import agreement_of, conditions_of
from ir_outcomes.across.result import ConditionsComparison, Curve
from ir_outcomes.comparison.family import USUAL_CUTOFFS
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, evaluation_of
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.remarks import notes_on_grades
from ir_outcomes.formatting import listed, plural
from ir_outcomes.notes import as_notes
from ir_outcomes.statistics.corrections import band_of_events
from ir_outcomes.types import Correction, Floats, Ints, RankingTest, check_positive


def compare_cutoffs(
    evaluation: Evaluation,
    baseline: str,
    contenders: Sequence[str] | str | None = None,
    *,
    cutoffs: Sequence[int] = USUAL_CUTOFFS,
    alpha: float = 0.05,
    test: RankingTest = "t",
    correction: Correction = "holm",
    seed: int = 0,
    resamples: int = 9_999,
) -> ConditionsComparison:
    """Compare runs at several cutoffs; no run is read.

    Parameters
    ----------
    evaluation : Evaluation
        Of the runs.
    baseline, contenders : str, and str or sequence of str
        Names of runs; by default all others are contenders.
    cutoffs : sequence of int
        Which; those beyond the longest list of the shallowest run are left out, with a note.
    alpha, test, correction
        See `ir_outcomes.compare`; nothing is corrected for the number of cutoffs.
    seed, resamples : int
        Of the random signs of the band around the difference by every rank.

    Raises
    ------
    ParameterError
        If a cutoff is not a positive whole number, or none is within the lists.

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(40)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> found = compare_cutoffs(iro.evaluate(qrels, {"a": a, "b": b}), "a", "b", cutoffs=[1, 2])
    >>> found.labels("b")
    {'1': 'better on coverage', '2': 'better on ranking'}
    """
    for cutoff in cutoffs:
        check_positive("cutoff", cutoff)
    evaluation = evaluation_of(evaluation)
    chosen = contenders_of(evaluation.names, baseline, contenders)
    runs = evaluation[[baseline, *chosen]]
    depth = min(run.depth for run in runs)
    wanted = sorted(set(cutoffs))
    within = {str(cutoff): runs.with_cutoff(cutoff) for cutoff in wanted if cutoff <= depth}
    if not within:
        raise ParameterError(
            f"no cutoff of {listed([*map(str, wanted)])} is within the lists, which hold {depth}"
            " documents"
        )
    settings = Settings.of(runs, alpha=alpha, test=test, correction=correction, family=len(chosen))
    rows = conditions_of(within, baseline, chosen, settings, over_conditions="none")
    curves = [
        curve_of(runs[[baseline, name]], 1 - alpha, seed=seed, resamples=resamples)
        for name in chosen
    ]
    notes: list[str] = [*notes_on_grades(runs.qrels, runs.rel)]
    beyond = [str(cutoff) for cutoff in wanted if cutoff > depth]
    if beyond:
        lists = f"the longest list of the shallowest run ({plural('document', depth)})"
        notes.append(f"{listed(beyond)}: beyond {lists}; left out.")
    return ConditionsComparison(
        what="cutoff",
        baseline=baseline,
        conditions=tuple(rows),
        settings=replace(settings, cutoff=None),
        over_conditions="none",
        curves=tuple(curve for curve in curves if curve is not None),
        seed=seed,
        resamples=resamples,
        sentences=tuple(agreement_of("cutoff", rows)),
        notes=as_notes(notes),
    )


def curve_of(
    pair: Evaluation, level: float, *, seed: int = 0, resamples: int = 9_999
) -> Curve | None:
    """Return the curve of two runs to the depth of the shallower one, with its band; None for fewer than two queries."""
    n = int(pair.answerable.sum())
    depth = min(run.depth for run in pair)
    if n < 2 or depth < 1:
        return None
    baseline = pair[0]
    by_query = pair.unit == "query"
    smallest_step = 1.0
    if not by_query:
        smallest_step = float(np.mean(1 / baseline.relevant[baseline.answerable]))
    of_a = _steps(baseline, by_query)
    of_b = _steps(pair[1], by_query)
    band = band_of_events(
        (np.cumsum(baseline.answerable) - 1)[np.concatenate([of_a.query, of_b.query])],
        np.concatenate([of_a.rank, of_b.rank]),
        np.concatenate([-of_a.size, of_b.size]),
        n,
        depth,
        level,
        clusters=None if baseline.clusters is None else baseline.clusters[baseline.answerable],
        smallest_step=smallest_step,
        seed=seed,
        resamples=resamples,
    )
    return Curve(
        ranks=tuple(range(1, depth + 1)),
        baseline=of_a.shares(depth, n),
        contender=of_b.shares(depth, n),
        low=tuple(band.low.tolist()),
        high=tuple(band.high.tolist()),
        level=level,
        n=n,
        seed=seed,
        resamples=resamples,
    )


class _Steps(NamedTuple):
    """Where the share found rises; arrays with a value for each step."""

    query: Ints
    rank: Ints
    size: Floats

    def shares(self, depth: int, n: int) -> tuple[float, ...]:
        """Return the share of n queries found by each rank from 1 to the depth."""
        at_rank = np.bincount(self.rank, weights=self.size, minlength=depth + 1)
        found = np.cumsum(at_rank[1 : depth + 1]) / n
        return tuple(found.tolist())


def _steps(run: SearchLengths, by_query: bool) -> _Steps:
    """Return the steps of one run."""
    if by_query:
        ranks = run.esl()
        queries = np.flatnonzero(~np.isnan(ranks))
        return _Steps(queries, ranks[queries].astype(np.int64), np.ones(len(queries)))
    found = run.rank > 0
    query = run.query[found]
    return _Steps(query, run.rank[found], 1 / run.relevant[query])
