"""The leaderboard: runs in the order of a measure, and what that order hides."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, compress, pairwise
from math import isnan
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ir_outcomes.comparison.outcomes import Settings, pair_queries
from ir_outcomes.comparison.runs_of_systems import rows_of_measure
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import (
    Evaluation,
    notes_on_clusters,
    notes_on_documents,
    notes_on_grades,
    notes_on_listing,
    notes_on_ties,
)
from ir_outcomes.evaluation.lengths import metadata_of
from ir_outcomes.evaluation.replicates import Called, refuse_several_runs
from ir_outcomes.evaluation.scores import Scores, parse_measure, reciprocal_ranks
from ir_outcomes.formatting import plural, with_progress
from ir_outcomes.leaderboards.history import SotaHistory, history_of
from ir_outcomes.leaderboards.pairs import (
    PAIR_COLUMNS,
    PairVerdict,
    all_pairs,
    better_of,
    reordered_pairs,
)
from ir_outcomes.notes import as_notes
from ir_outcomes.reading.entries import read_entries
from ir_outcomes.reading.measure_names import bounds_of
from ir_outcomes.results import (
    NUMBER,
    Column,
    Form,
    HasPage,
    Result,
    attributes,
    of_part,
    rows_of,
)
from ir_outcomes.statistics import (
    Interval,
    adjust,
    bounded_mean_interval,
    differences,
    mean_interval,
)
from ir_outcomes.statistics.corrections import first_step_level
from ir_outcomes.statistics.counts import linearized_sums, shared_ranks, tally
from ir_outcomes.statistics.tests import Samples
from ir_outcomes.types import (
    Bools,
    Correction,
    Floats,
    Ints,
    check_choice,
    check_kind,
    check_level,
    check_one_order,
)

Order = Literal["measure", "wins"]


def check_number_of_runs(source: Evaluation | Scores, *, several_runs: bool = False) -> None:
    """Refuse what is neither an evaluation nor scores, has fewer than two runs, or several of a system where one is taken."""
    check_kind(
        "source",
        source,
        (Evaluation, Scores),
        "what ir_outcomes.evaluate or ir_outcomes.scores_from_outputs returns",
    )
    if isinstance(source, Evaluation) and source.replicates and not several_runs:
        refuse_several_runs(source.replicates)
    if len(systems_of(source)) < 2:
        what = "run" if len(source.runs) == 1 else "system"
        raise ParameterError(f"there is only one {what}; at least two are needed")


def systems_of(source: Evaluation | Scores) -> list[Called]:
    """Return the systems with the names of their runs; of scores, each run is a system."""
    if isinstance(source, Evaluation):
        return [system.called for system in source.systems]
    return [Called(run, (run,)) for run in source.runs]


def evaluation_to_judge(
    source: Evaluation | Scores, cutoff: int | None, *, several_runs: bool = False
) -> Evaluation | None:
    """Return the evaluation at this cutoff; None for scores, which have no verdicts."""
    check_number_of_runs(source, several_runs=several_runs)
    if isinstance(source, Scores):
        if cutoff is not None:
            raise ParameterError(
                "cutoff is a setting of the verdicts, and scores have no verdicts; evaluate the"
                " runs instead"
            )
        return None
    check_one_order(source.ties)
    return source if cutoff is None else source.with_cutoff(cutoff)


FACETS: dict[str, Callable[[Any], Floats]] = {  # what there is beside the measures of ir_measures
    "coverage": lambda own: 100 * own.found_baseline,
    "ranking": lambda own: own.length_baseline,
    "all queries": lambda own: own.restricted.baseline,
}


def scores_of(source: Evaluation | Scores, measure: Any = None) -> Scores:
    """Return the values of a measure or facet; by default the reciprocal rank at the evaluation's cutoff, over all queries."""
    if isinstance(source, Scores):
        if measure is not None and str(measure) != source.measure:
            raise ParameterError(f"these scores are of {source.measure}", measure=str(measure))
        return source
    if isinstance(measure, str) and measure in FACETS:
        return _facet_scores(source, measure)
    parsed = None if measure is None else parse_measure(measure)
    if parsed is not None and parsed.NAME != "RR":
        return source.scores_of(parsed)
    # Runs that were given as search lengths may have a smaller cutoff.
    cutoffs = [
        source.cutoff if parsed is None else parsed.params.get("cutoff"),
        *(run.cutoff for run in source.runs),
    ]
    named = reciprocal_ranks(
        source.runs, min((cutoff for cutoff in cutoffs if cutoff is not None), default=None)
    )
    if parsed is not None and named.measure != str(parsed):  # another order among equal scores
        return source.scores_of(parsed)
    # As ir_measures averages it: over all queries, 0 without a relevant document.
    values = np.zeros((len(source), len(source.query_ids)))
    values[:, source.answerable] = named.values
    return replace(named, query_ids=source.query_ids, values=values, clusters=source.clusters)


def board_horizon(source: Evaluation) -> int:
    """Return k of the restricted search length: one for all runs, or a short list would count little where it misses most."""
    deepest = max(run.depth for run in source.runs)
    return min(source.cutoff, deepest)


def _facet_scores(source: Evaluation, facet: str) -> Scores:
    """Return what each run has by itself in a facet."""
    horizon = board_horizon(source)
    values = []
    # One at a time, because what is known of the queries of a run takes half a MB.
    for run in source.runs:
        within = run.at(source.cutoff)
        own = pair_queries(within, within, source.unit, horizon)
        values.append(FACETS[facet](own))
    return Scores(
        facet, facet == "coverage", source.names, own.query_ids, np.stack(values), own.clusters
    )


def values_of(source: Evaluation | Scores, measures: Sequence[Any] | str | None) -> list[Scores]:
    """Return the values of each measure; of the default one where none is named."""
    named: list[Any] = (
        [measures] if measures is None or isinstance(measures, str) else list(measures)
    )
    if not named:
        raise ParameterError("there is no measure; name at least one, or leave measures out")
    found = [scores_of(source, name) for name in named]
    called = [scores.measure for scores in found]
    if repeated := [measure for measure in called if called.count(measure) > 1]:
        raise ParameterError(f"{repeated[0]} is named twice; name each measure once")
    return found


def means_of_systems(scores: Scores, systems: Sequence[Called]) -> Scores:
    """Return the values of each system, which are the means over its runs."""
    values = [
        _mean_of_runs(scores.values[[scores.runs.index(run) for run in system.runs]])
        for system in systems
    ]
    names = tuple(system.name for system in systems)
    return replace(scores, runs=names, values=np.stack(values))


def _mean_of_runs(values: Floats) -> Floats:
    """(n_queries,) mean of (n_runs, n_queries) values; where some are undefined, such that the mean is that of all values."""
    known = ~np.isnan(values)
    found: Floats = values.mean(axis=0)
    if known.all():
        return found
    sizes = known.sum(axis=0)
    any_known = sizes > 0
    found[~any_known] = np.nan
    if any_known.any():
        sums = np.where(known, values, 0.0).sum(axis=0)
        found[any_known] = linearized_sums(sums[any_known], sizes[any_known].astype(np.float64))
    return found


def order_of(scores: Scores) -> tuple[Ints, list[int]]:
    """Return the rank of each run by its mean, from 1, and the places of the runs, best first; an undefined mean is last."""
    means = scores.means() if scores.higher_is_better else -scores.means()
    ranks = shared_ranks(np.where(np.isnan(means), -np.inf, means)[None])[0]
    return ranks, np.lexsort((np.array(scores.runs), ranks)).tolist()


def defined(values: Floats) -> list[float | None]:
    """Return numbers as results hold them: None where there is none."""
    return [None if isnan(value) else value for value in values.tolist()]


def notes_on_source(source: Evaluation | Scores) -> tuple[str, ...]:
    """Say which runs lack queries or have others, how much ties decide, and whether queries may come in clusters."""
    if isinstance(source, Scores):
        return ()
    return (
        *notes_on_documents(source.runs),
        *notes_on_grades(source.qrels, source.rel),
        *notes_on_clusters(source.runs[0]),
        *notes_on_listing(source.runs),
        *notes_on_ties(source.runs),
    )


def tiers(better: Bools) -> tuple[Ints, list[list[int]]]:
    """Return the tier of each run, from 1, and the cycles, from the (n, n) matrix of "row is better than column"."""
    # "Better" need not be transitive, because each pair of runs has its own queries that both
    # answered: runs that are better than each other in a cycle (a strongly connected component)
    # count as one.
    from scipy.sparse.csgraph import connected_components

    n_components, component = connected_components(better, directed=True, connection="strong")
    winners, losers = np.nonzero(better)
    beaten_by = np.zeros((n_components, n_components), dtype=bool)
    beaten_by[component[losers], component[winners]] = True
    np.fill_diagonal(beaten_by, False)
    before = np.zeros(n_components, dtype=np.int64)
    tier = np.ones(n_components, dtype=np.int64)
    while (tier != before).any():  # which ends, because there are no cycles between components
        before = tier
        tier = 1 + np.where(beaten_by, tier, 0).max(axis=1)
    cycles = np.flatnonzero(np.bincount(component) > 1)
    return tier[component], [np.flatnonzero(component == cycle).tolist() for cycle in cycles]


class RunScore(NamedTuple):
    """What one run of a system that has several scores."""

    run: str  #: its name
    score: float | None  #: mean of the measure that orders the board; None where it is undefined


@dataclass(frozen=True)
class Standing:
    """The place of a run, or of a system of several runs, on a leaderboard."""

    rank: int  #: from 1, by what orders the runs; runs that are equal in it share the smaller rank
    run: str  #: its name, or that of the system
    score: float | None  #: mean of the measure, over the runs, too; None where it is undefined
    #: Of the score at level 1 - alpha: within the range of a measure between 0 and 1, or of search
    #: lengths up to a cutoff (`bounded_mean_interval`); for other measures Student's t with
    #: corrected degrees of freedom (`mean_interval`).
    interval: Interval | None
    #: Share of the answerable queries answered (or of their relevant documents found), in percent,
    #: higher is better; None where only the values of a measure were given.
    coverage: float | None
    #: From 1, the best: no run is better than a run of tier 1, and only runs of earlier tiers are
    #: better than a run of a later one, except in cycles. None where only the values of a measure
    #: were given.
    tier: int | None
    #: Runs that it is better than less those that are better, by the verdicts; None where only the
    #: values of a measure were given.
    net_wins: int | None
    runs: tuple[RunScore, ...] = ()  #: of a system that has several; else empty

    @property
    def range(self) -> Interval | None:
        """The smallest and the largest score of the runs; None where there is one run, or a score is undefined."""
        scores = [run.score for run in self.runs if run.score is not None]
        if not scores or len(scores) < len(self.runs):
            return None
        return Interval(min(scores), max(scores))


@dataclass(frozen=True)
class MeasureOfRuns:
    """A column of a leaderboard: a measure of all runs, and which of its differences are significant."""

    measure: str  #: its name
    higher_is_better: bool  #: its direction
    values: tuple[float | None, ...]  #: its mean for each run, in the order of the standings
    #: For each run those that it is significantly better than, corrected over all pairs: by the t
    #: test (sign flips where fewer than 30 differences are not zero); by the tests of the verdict
    #: for coverage, ranking and all queries.
    better_than: tuple[tuple[str, ...], ...]


RUNS_COLUMNS = (
    Column("runs", lambda standing: len(standing.runs) or 1, form=NUMBER),
    Column("range", heading="range of runs", form=Form(places=3, of_interval=True)),
)


@dataclass(frozen=True)
class Leaderboard(HasPage, Result):
    """Runs in the order of a measure, and what that order hides; the figures are "tiers", "verdicts" and "history".

    Attributes
    ----------
    measure : str
        What the runs are ordered by, or where `order` is "wins", those with equally many.
    order : {"measure", "wins"}
        What the runs are ordered by: the measure, or pairs won less pairs lost
        (`Standing.net_wins`).
    higher_is_better : bool
        Its direction.
    alpha : float
        Level of the intervals (1 - alpha), of the verdicts and of the tests of `measures`.
    correction : {"holm", "bonferroni", "fdr_bh", "none"}
        Of p-values over all pairs, separately for each facet and measure.
    standings : tuple of Standing
        Best first.
    pairs : sequence of PairVerdict
        Each lower run (the contender) against each higher one (the baseline), see `verdict`; empty
        where only the values of a measure were given.
    measures : tuple of MeasureOfRuns
        The measures that were asked for by name, the one that orders the runs first; empty where
        none was.
    cycles : tuple of tuple of str
        Runs that are better than each other in a cycle; all of them are in the same tier.
    history : SotaHistory or None
        Where dates were given.
    n_queries, n_unanswerable : int
        Queries with a relevant document, and without one, which are left out of the verdicts.
    settings : Settings or None
        How the verdicts were reached; None where there are none.
    notes : tuple of str
        Caveats.
    run_metadata : mapping of str to str
        The ir_metadata headers of the runs that have one, by name, without comment signs: YAML.
    """

    measure: str
    order: Order
    higher_is_better: bool
    alpha: float
    correction: Correction
    standings: tuple[Standing, ...]
    pairs: Sequence[PairVerdict]
    measures: tuple[MeasureOfRuns, ...]
    cycles: tuple[tuple[str, ...], ...]
    history: SotaHistory | None
    n_queries: int
    n_unanswerable: int
    settings: Settings | None
    run_metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The runs of each tier, the best tier first, in the order of the score; empty where there are no verdicts."""
        last = max(standing.tier or 0 for standing in self.standings)
        return tuple(
            tuple(standing.run for standing in self.standings if standing.tier == tier)
            for tier in range(1, last + 1)
        )

    @property
    def below_later_tiers(self) -> tuple[str, ...]:
        """The runs that stand below a run of a later tier, because tiers do not follow what orders the runs."""
        latest = 0
        found = []
        for standing in self.standings:
            tier = standing.tier or 0
            if tier < latest:
                found.append(standing.run)
            latest = max(latest, tier)
        return tuple(found)

    def verdict(self, baseline: str, contender: str) -> PairVerdict:
        """Return the verdict on a contender against a baseline; KeyError if there is none."""
        names = [standing.run for standing in self.standings]
        if not self.pairs or baseline == contender or not {baseline, contender} <= {*names}:
            why = "there are no verdicts on scores"
            if self.pairs:
                why = f"the runs are {some(names, 10)}"
            raise KeyError(f"{contender} against {baseline}; {why}")
        upper, lower = sorted(map(names.index, (baseline, contender)))
        # In the order of itertools.combinations.
        place = upper * len(names) - upper * (upper + 1) // 2 + lower - upper - 1
        pair = self.pairs[place]
        return pair if pair.baseline == baseline else pair.turned()

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run, with its verdict against the run above and against the best."""
        names = [standing.run for standing in self.standings]
        above = {}
        if self.pairs:
            above = {run: self.verdict(upper, run) for upper, run in pairwise(names)}
        best = {}
        if self.pairs:
            best = {run: self.verdict(names[0], run) for run in names[1:]}
        columns = (
            *attributes("rank", "tier", "run"),
            Column("measure", lambda _: self.measure),
            *attributes("score", "low=interval.low", "high=interval.high", "coverage", "net_wins"),
            *of_part(lambda standing: above.get(standing.run), PAIR_COLUMNS, "above_"),
            *of_part(lambda standing: best.get(standing.run), PAIR_COLUMNS, "best_"),
        )
        if any(standing.runs for standing in self.standings):
            columns = (*columns, *RUNS_COLUMNS)
        rows = rows_of(columns, self.standings)
        for measure in self.measures:
            for row, value, beaten in zip(rows, measure.values, measure.better_than, strict=True):
                row |= {measure.measure: value, f"{measure.measure} better than": ", ".join(beaten)}
        return rows


def leaderboard(
    source: Evaluation | Scores,
    *,
    measures: Sequence[Any] | str | None = None,
    order: Order | None = None,
    cutoff: int | None = None,
    alpha: float = 0.05,
    correction: Correction = "holm",
    entries: Any = None,
    progress: bool = False,
) -> Leaderboard:
    """Order runs by a measure, and say what that order hides: verdicts between all pairs, tiers, and significant differences.

    Parameters
    ----------
    source : Evaluation or Scores
        At least two runs, or systems: of several runs the score is the mean, and verdicts and
        intervals are about these runs, as those of `ir_outcomes.compare`. Scores have an order and
        intervals, but no verdicts and no tiers, and their own measure.
    measures : sequence of Measure or str, optional
        What to show for each run, with the runs that it is significantly better than: measures of
        ir_measures (see `Evaluation.scores_of`), and "coverage", "ranking" (mean search length
        where the run found something) and "all queries" (restricted search length; k is the cutoff,
        or the depth of the deepest run where that is less), at the cutoff. The first orders the
        runs; by default the reciprocal rank at the cutoff is the only one.
    order : {"measure", "wins"}, optional
        What orders the runs: the first measure, or pairs won less pairs lost by the verdicts, then
        the first measure. By default "wins" where the unit is documents and no measure was asked
        for, because the reciprocal rank is of one document.
    cutoff : int, optional
        Cutoff of the verdicts; by default the evaluation's.
    alpha : float
        Level of the verdicts, the tests and the intervals.
    correction : {"holm", "bonferroni", "fdr_bh", "none"}
        Of the p-values, over all pairs, separately for each facet and measure.
    entries : path, or iterable of mapping, optional
        Dates and groups of the runs, CSV or JSON with the columns ``id``, ``date`` and ``group``;
        adds the history.
    progress : bool
        On stderr.

    Raises
    ------
    ParameterError
        If a setting is invalid, there are fewer than two runs, or a measure is not available or
        named twice.
    InputError
        If the entries cannot be read, or lack a run.

    References
    ----------
    Lin et al. 2021, sections 4 and 5, Figure 1; Craswell et al. 2021, section 4.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(20)}
    >>> good = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> poor = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> board = leaderboard(evaluate(qrels, {"poor": poor, "good": good}))
    >>> [(standing.rank, standing.run, standing.score, standing.tier) for standing in board.standings]
    [(1, 'good', 1.0, 1), (2, 'poor', 0.5, 2)]
    >>> board.verdict("good", "poor").label
    'worse on ranking'
    """
    check_choice("correction", correction, get_args(Correction))
    check_level(alpha)
    evaluation = evaluation_to_judge(source, cutoff, several_runs=True)
    order = _checked_order(order, evaluation, measures)
    systems = systems_of(source)
    single_runs = values_of(evaluation or source, measures)
    of_runs = [means_of_systems(scores, systems) for scores in single_runs]
    ranks, by_measure = order_of(of_runs[0])
    ranks = ranks[by_measure]
    of_runs = [scores.take(by_measure) for scores in of_runs]
    notes = list(dict.fromkeys(note for scores in of_runs for note in scores.notes()))
    pairs: Sequence[PairVerdict] = ()
    directions: dict[str, Ints] = {}
    net_wins: Sequence[int | None] = [None] * len(ranks)
    coverage: Sequence[float | None] = [None] * len(ranks)
    tier: Sequence[int | None] = [None] * len(ranks)
    cycles: tuple[tuple[str, ...], ...] = ()
    if evaluation is not None:
        evaluation = evaluation[list(of_runs[0].runs)]
        judged, directions = all_pairs(
            evaluation, alpha=alpha, correction=correction, progress=progress
        )
        net = _net_wins(directions["verdict"], len(ranks))
        if order == "wins":
            by_wins = np.argsort(-net, kind="stable")  # of equally many the measure decides
            ranks = _ranks_by_wins(net[by_wins], ranks[by_wins])
            net = net[by_wins]
            of_runs = [scores.take(by_wins.tolist()) for scores in of_runs]
            evaluation = evaluation[list(of_runs[0].runs)]
            judged = judged.reordered(by_wins)
            places, is_turned = reordered_pairs(by_wins)
            signs = np.where(is_turned, -1, 1)
            directions = {name: own[places] * signs for name, own in directions.items()}
        pairs = judged
        net_wins = net.tolist()
    first = of_runs[0]
    names = first.runs
    means = defined(first.means())
    if evaluation is None:
        notes.append(
            f"Only values of {first.measure} were given: there are no verdicts and no tiers, which"
            " need the runs."
        )
    else:
        found, of_cycles = tiers(better_of(directions["verdict"], len(names)))
        tier = found.tolist()
        cycles = tuple(tuple(names[run] for run in cycle) for cycle in of_cycles)
        of_coverage = scores_of(evaluation, "coverage")
        coverage = means_of_systems(of_coverage, systems_of(evaluation)).means().tolist()
        notes += _notes(evaluation, first, cycles)
    columns = []
    called = {system.name: system for system in systems}
    for scores, own in () if measures is None else zip(of_runs, single_runs, strict=True):
        if scores.measure not in directions:
            directions[scores.measure] = _directions(
                own, [called[name] for name in names], alpha, correction, progress
            )
        better = better_of(directions[scores.measure], len(names)).tolist()
        better_than = tuple(tuple(compress(names, row)) for row in better)
        columns.append(
            MeasureOfRuns(
                scores.measure, scores.higher_is_better, tuple(defined(scores.means())), better_than
            )
        )
    bounds = _bounds(first, evaluation)
    if evaluation is None:
        answerable = first.values.shape[1]
    else:
        answerable = int(evaluation.answerable.sum())
    return Leaderboard(
        measure=first.measure,
        order=order,
        higher_is_better=first.higher_is_better,
        alpha=alpha,
        correction=correction,
        standings=tuple(
            Standing(
                rank,
                run,
                means[place],
                _interval(first, place, 1 - alpha, bounds),
                coverage[place],
                tier[place],
                net_wins[place],
                _scores_of_runs(single_runs[0], called[run]),
            )
            for place, (rank, run) in enumerate(zip(ranks.tolist(), names, strict=True))
        ),
        pairs=pairs,
        measures=tuple(columns),
        cycles=cycles,
        history=None if entries is None else _history(entries, first, evaluation, alpha),
        n_queries=answerable,
        n_unanswerable=0 if evaluation is None else len(evaluation.query_ids) - answerable,
        settings=(
            None
            if evaluation is None
            else Settings.of(evaluation, alpha=alpha, correction=correction, family=len(pairs))
        ),
        notes=as_notes(notes),
        run_metadata={} if evaluation is None else metadata_of(evaluation.runs),
    )


def _checked_order(order: Order | None, evaluation: Evaluation | None, measures: Any) -> Order:
    """Return what orders the runs; refuse the order by verdicts where there are none."""
    if order is None:
        is_by_wins = evaluation is not None and evaluation.unit == "document" and measures is None
        return "wins" if is_by_wins else "measure"
    check_choice("order", order, get_args(Order))
    if order == "wins" and evaluation is None:
        raise ParameterError(
            "scores have no verdicts, so no run wins; evaluate the runs, or leave `order` out",
            order=order,
        )
    return order


def _net_wins(directions: Ints, n_runs: int) -> Ints:
    """(n_runs,) number of runs that each is better than, less those that are better."""
    better = better_of(directions, n_runs)
    won: Ints = better.sum(axis=1)
    lost: Ints = better.sum(axis=0)
    return won - lost


def _ranks_by_wins(net_wins: Ints, ranks: Ints) -> Ints:
    """Return ranks of runs in their order, from 1; those with equally many wins and the same rank by the measure share one."""
    is_other = np.ones(len(ranks), dtype=bool)
    is_other[1:] = (np.diff(net_wins) != 0) | (np.diff(ranks) != 0)
    places = np.arange(1, len(ranks) + 1)
    found: Ints = np.maximum.accumulate(np.where(is_other, places, 1))
    return found


def _scores_of_runs(scores: Scores, system: Called) -> tuple[RunScore, ...]:
    """Return the score of each run of a system; nothing where it has one."""
    if len(system.runs) == 1:
        return ()
    own = scores.take([scores.runs.index(run) for run in system.runs])
    return tuple(map(RunScore, system.runs, defined(own.means())))


def _directions(
    scores: Scores, systems: Sequence[Called], alpha: float, correction: str, progress: bool
) -> Ints:
    """(n_pairs,) int array, by the t test: 1 where the contender has the better mean, -1 the baseline, else 0."""
    n_pairs = len(systems) * (len(systems) - 1) // 2
    levels = first_step_level(alpha, n_pairs, correction), alpha
    pvalues = []
    directions = []
    for pair in with_progress(combinations(systems, 2), "pair", n_pairs, shown=progress):
        rows = rows_of_measure(scores, *pair)
        baseline, contender = rows.gains()
        defined = ~np.isnan(baseline) & ~np.isnan(contender)
        clusters = None if rows.clusters is None else rows.clusters[defined]
        sample = tally(differences(baseline[defined], contender[defined]), clusters)
        test = Samples(sample, levels, labels_only=True).of_means()
        pvalues.append(test.pvalue[0])
        directions.append(test.direction[0])
    found: Ints = np.array(directions) * (adjust(pvalues, correction) <= alpha)
    return found


def _bounds(scores: Scores, evaluation: Evaluation | None) -> tuple[float, float]:
    """Return the smallest and the largest possible value of a measure, 0 and 1 where nothing else is known."""
    if scores.measure == "coverage":
        return 0.0, 100.0
    if evaluation is not None and scores.measure == "ranking":
        return 1.0, float(board_horizon(evaluation))
    if evaluation is not None and scores.measure == "all queries":
        return 1.0, board_horizon(evaluation) + 1.0
    return bounds_of(scores.measure) or (0.0, 1.0)


def _interval(
    scores: Scores, place: int, level: float, bounds: tuple[float, float]
) -> Interval | None:
    """Return the interval of a mean, inside the bounds of the measure where its values are inside them."""
    values = scores.values[place]
    defined = np.isfinite(values)
    values = values[defined]
    clusters = None if scores.clusters is None else scores.clusters[defined]
    smallest, largest = bounds
    if smallest < largest and len(values) and smallest <= values.min() and values.max() <= largest:
        return bounded_mean_interval(values, level, bounds, clusters)
    return mean_interval(values, level, clusters=clusters)


def _history(
    entries: Any, scores: Scores, evaluation: Evaluation | None, alpha: float
) -> SotaHistory:
    """Find who took first place, and judge each against the one before; the more submissions, the stricter."""
    means = dict(zip(scores.runs, defined(scores.means()), strict=True))
    read = read_entries(entries).entries
    names = [entry.run for entry in read]
    if missing := [run for run in means if run not in names]:
        raise MismatchError(
            f"the entries have no row for {some(missing)}; their ids are {some(names)}"
        )
    scored = [replace(entry, score=means.get(entry.run)) for entry in read]
    history = history_of(scored, higher_is_better=scores.higher_is_better, score=scores.measure)
    if evaluation is None:
        return history
    runs = list(history.runs[:1])
    for previous, run in pairwise(history.runs):
        pair = evaluation[[previous.run, run.run]]
        (verdict,), _ = all_pairs(pair, alpha=alpha, correction="none", looks=run.looks)
        runs.append(replace(run, verdict=verdict))
    return replace(history, runs=tuple(runs))


def _notes(
    evaluation: Evaluation, scores: Scores, cycles: Iterable[Sequence[str]]
) -> Iterator[str]:
    yield (
        "Every pair of runs has its own queries that both answered: a run's search length differs"
        ' from row to row, and "better" need not be transitive.'
    )
    unanswerable = ~evaluation.answerable
    number = int(unanswerable.sum())
    if (
        number
        and len(scores.query_ids) == len(unanswerable)
        and not np.isnan(scores.values[:, unanswerable]).any()
    ):
        without = (
            f"{plural('query', number)} without a relevant document"
            f" {'counts' if number == 1 else 'count'}"
        )
        yield f"{scores.measure} is averaged as ir_measures does: {without}."
    yield from notes_on_source(evaluation)
    for cycle in cycles:
        yield f"Better than each other in a cycle, and therefore in one tier: {', '.join(cycle)}."
    if evaluation.judged_only:  # every list ends where its judged documents end
        return
    cutoff = evaluation.cutoff
    measure = scores.measure
    depths = {run.name: min(run.depth, cutoff) for run in evaluation}
    deepest = max(depths.values())
    if deepest < cutoff:
        renamed = ""
        if f"@{cutoff}" in measure:
            renamed = f", and {measure} is {measure.replace(f'@{cutoff}', f'@{deepest}')}"
        yield (
            f"No run is deeper than {deepest}: the cutoff {cutoff} is in effect {deepest}{renamed}."
        )
    if shallow := [name for name, depth in depths.items() if depth < deepest]:
        yield (
            f"{some(shallow)}: no list reaches the cutoff of {cutoff}; coverage at unequal depth"
            f" favours the deeper runs. Use the common depth: `cutoff={min(depths.values())}`."
        )
