"""One comparison on the same queries under several cutoffs or judges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes.across.audit import Audit, audits, notes_on_audits, sentence_of
from ir_outcomes.across.conditions import compare_in, differing
from ir_outcomes.comparison.compare import USUAL_CUTOFFS, compare
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.result import Comparison, QueryOutcome, columns_of, long_rows_of
from ir_outcomes.comparison.verdict import direction_of
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.formatting import listed, plural
from ir_outcomes.results import Column, Immutable, Result, of_part, rows_of
from ir_outcomes.statistics.intervals import band_of_events
from ir_outcomes.types import Correction, RankingTest, check_positive


@dataclass(frozen=True)
class Curve(Immutable):
    """Share of the queries answered (or documents found) by rank k, in both runs, for k from 1 to the depth."""

    ranks: tuple[int, ...]  #: the ranks k
    baseline: tuple[float, ...]  #: share found by rank k, averaged over the answerable queries, higher is better
    contender: tuple[float, ...]  #: the same of the contender
    low: tuple[float, ...]  #: band of the difference (contender minus baseline) that holds for all k at once
    high: tuple[float, ...]
    level: float  #: of the band
    n: int  #: answerable queries
    seed: int  #: of the random signs
    resamples: int  #: how many


@dataclass(frozen=True, repr=False)
class CutoffsComparison(Result):
    """Two runs at several cutoffs; the picture is "curve".

    Attributes
    ----------
    baseline, contender : str
        Names of the runs.
    comparisons : tuple of Comparison
        What `ir_outcomes.compare` gives at each cutoff, ascending; not corrected for the number of cutoffs.
    curve : Curve or None
        None for fewer than two queries.
    """

    baseline: str
    contender: str
    comparisons: tuple[Comparison, ...]
    curve: Curve | None

    @property
    def labels(self) -> dict[int, str]:
        """The label at each cutoff."""
        return {comparison.cutoff or 0: comparison.verdict.label for comparison in self.comparisons}

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each cutoff."""
        return rows_of(columns_of(self.comparisons), self.comparisons)

    def long_rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each cutoff and test."""
        return [{"cutoff": item.cutoff, **row} for item in self.comparisons for row in long_rows_of(item)]

    def _summary(self) -> str:
        return f"{self.contender!r} against {self.baseline!r} at {plural('cutoff', len(self.comparisons))}"


def compare_cutoffs(
    evaluation: Evaluation,
    baseline: str,
    contender: str,
    *,
    cutoffs: Sequence[int] = USUAL_CUTOFFS,
    alpha: float = 0.05,
    test: RankingTest = "t",
    seed: int = 0,
    resamples: int = 9_999,
) -> CutoffsComparison:
    """Compare two runs at several cutoffs; no run is read.

    Parameters
    ----------
    evaluation : Evaluation
        Of the runs.
    baseline, contender : str
        Names of the runs.
    cutoffs : sequence of int
        Which; those beyond the longest list of the shallower run are left out, with a note.
    alpha, test
        See `ir_outcomes.compare`.
    seed, resamples : int
        Of the random signs of the band.

    Returns
    -------
    CutoffsComparison

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
    >>> found.labels
    {1: 'better without harm', 2: 'better without harm'}
    """
    for cutoff in cutoffs:
        check_positive("cutoff", cutoff)
    pair = evaluation[[baseline, contender]]
    depth, wanted = min(run.depth for run in pair), sorted(set(cutoffs))
    within = [cutoff for cutoff in wanted if cutoff <= depth]
    if not within:
        raise ParameterError(f"no cutoff of {listed([*map(str, wanted)])} is within the lists, which hold {depth} documents")
    beyond = [str(cutoff) for cutoff in wanted if cutoff > depth]
    comparisons: Any = [compare(pair.with_cutoff(cutoff), baseline, contender, alpha=alpha, test=test) for cutoff in within]
    return CutoffsComparison(
        baseline=baseline,
        contender=contender,
        comparisons=tuple(comparisons),
        curve=curve_of(pair, 1 - alpha, seed=seed, resamples=resamples),
        notes=tuple(_notes(comparisons, beyond, depth)),
    )


def curve_of(pair: Evaluation, level: float, *, seed: int = 0, resamples: int = 9_999) -> Curve | None:
    """Return the curve of two runs to the depth of the shallower one, with its band; None for fewer than two queries."""
    n, depth = int(pair.answerable.sum()), min(run.depth for run in pair)
    if n < 2 or depth < 1:
        return None
    baseline = pair[0]
    by_query = pair.unit == "query"
    events = [_steps(run, by_query) for run in pair]
    query, rank, step = (np.concatenate(parts) for parts in zip(*events, strict=True))
    band = band_of_events(
        (np.cumsum(baseline.answerable) - 1)[query],
        rank,
        np.where(np.arange(len(step)) < len(events[0][0]), -step, step),
        n,
        depth,
        level,
        clusters=None if baseline.clusters is None else baseline.clusters[baseline.answerable],
        smallest_step=1.0 if by_query else float(np.mean(1 / baseline.relevant[baseline.answerable])),
        seed=seed,
        resamples=resamples,
    )
    found = [np.bincount(ranks, weights=steps, minlength=depth + 1)[1 : depth + 1] for _, ranks, steps in events]
    shares = [tuple((np.cumsum(at_rank) / n).tolist()) for at_rank in found]
    low, high = tuple(band.low.tolist()), tuple(band.high.tolist())
    return Curve(tuple(range(1, depth + 1)), shares[0], shares[1], low, high, level, n, seed, resamples)


def _steps(run: SearchLengths, by_query: bool) -> tuple[Any, Any, Any]:
    """Return where the share found rises: query, rank and by how much."""
    if by_query:
        ranks = run.esl()
        queries = np.flatnonzero(~np.isnan(ranks))
        return queries, ranks[queries].astype(np.int64), np.ones(len(queries))
    found = run.rank > 0
    query = run.query[found]
    return query, run.rank[found], 1 / run.relevant[query]


def _notes(comparisons: Sequence[Comparison], beyond: Sequence[str], depth: int) -> Iterator[str]:
    most, times, opposite = prevailing([comparison.verdict.label for comparison in comparisons])
    if times < len(comparisons):
        how = f'"{most}" at {times}' if times > 1 else "another one at each"
        yield (
            f"The label depends on the cutoff: {how} of {plural('cutoff', len(comparisons))}, "
            f"{'with' if opposite else 'never with'} opposite directions. Labels are not corrected for the number of cutoffs: "
            "decide on one before looking."
        )
    if beyond:
        yield f"{listed(beyond)}: beyond the longest list of the shallower run ({plural('document', depth)}); left out."


@dataclass(frozen=True)
class Judgment(Immutable):
    """One contender under one judge."""

    judge: str  #: the judge
    comparison: Comparison  #: what `ir_outcomes.compare` gives with its qrels


@dataclass(frozen=True)
class Flip(Immutable):
    """A query on which judges disagree about which run is better."""

    contender: str  #: the run
    query_id: str  #: the query
    better: tuple[str, ...]  #: judges for whom the contender is better
    worse: tuple[str, ...]  #: judges for whom it is worse
    text: str | None  #: the query's text, where it is known


@dataclass(frozen=True, repr=False)
class JudgesComparison(Result):
    """Contenders against a baseline under several judges; nothing is pooled.

    Attributes
    ----------
    baseline : str
        The run that the others are compared with.
    judgments : tuple of Judgment
        One for each contender and judge, contender by contender.
    flips : tuple of Flip
        Queries on which judges disagree about the direction.
    sentences : tuple of str
        For each contender, how far the judges agree; then what each audit says.
    reference : str or None
        The judge that the others are audited by.
    audits : tuple of Audit
        For each contender, judge and facet, whether the judge's difference holds by the reference.
    """

    baseline: str
    judgments: tuple[Judgment, ...]
    flips: tuple[Flip, ...]
    sentences: tuple[str, ...]
    reference: str | None
    audits: tuple[Audit, ...]

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges."""
        return tuple(dict.fromkeys(judgment.judge for judgment in self.judgments))

    def labels(self, contender: str) -> dict[str, str]:
        """Return the label of one contender under each judge."""
        return {
            judgment.judge: judgment.comparison.verdict.label
            for judgment in self.judgments
            if judgment.comparison.contender == contender
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each contender and judge."""
        declared = columns_of([judgment.comparison for judgment in self.judgments])
        return rows_of((Column("judge"), *of_part("comparison", declared)), self.judgments)

    def long_rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each contender, judge and test."""
        return [{"judge": judgment.judge, **row} for judgment in self.judgments for row in long_rows_of(judgment.comparison)]

    def _summary(self) -> str:
        return f"{plural('judge', len(self.judges))} against {self.baseline!r}"


def compare_judges(
    evaluations: Mapping[str, Evaluation],
    baseline: str,
    contenders: Sequence[str] | str | None = None,
    *,
    cutoff: int | None = None,
    alpha: float = 0.05,
    test: RankingTest = "t",
    correction: Correction = "holm",
    reference: str | None = None,
    measures: Sequence[Any] = (),
) -> JudgesComparison:
    """Compare runs under several judges, such as people and language models.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        Evaluations of the same runs with the qrels of each judge; they may differ in qrels and `rel` only.
    baseline, contenders : str, and str or sequence of str
        Names of runs; by default all others are contenders.
    cutoff, alpha, test, correction
        See `ir_outcomes.compare`.
    reference : str, optional
        Name of the judge that is the truth, such as people. It may have judged a part of the queries, a random sample
        (`ir_outcomes.to_label`) of at least 10. The differences of the other judges in coverage, over all queries and in the
        measures are tested for bias and corrected by prediction-powered inference; not in ranking, which each judge measures
        on other queries.
    measures : sequence of Measure or str
        Other measures to audit, such as ``["nDCG@10"]``; name them in ``evaluate(measures=)``.

    Returns
    -------
    JudgesComparison

    Raises
    ------
    ParameterError
        If there are fewer than two judges, or the reference is none of them.
    MismatchError
        If the evaluations differ in more than qrels and `rel`.

    Notes
    -----
    That judges agree does not make them right. A judge that is also a run of the comparison favours its own ranking.

    References
    ----------
    Angelopoulos, Duchi and Zrnic 2023, "PPI++: efficient prediction-powered inference".

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> runs = {"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"y": 2.0, "x": 1.0}}}
    >>> judges = {"one": {"q": {"x": 1}}, "two": {"q": {"y": 1}}}
    >>> found = compare_judges({name: iro.evaluate(qrels, runs) for name, qrels in judges.items()}, "a")
    >>> [(flip.query_id, flip.better, flip.worse) for flip in found.flips]
    [('q', ('two',), ('one',))]
    """
    if len(evaluations) < 2:
        raise ParameterError("there must be at least two judges; with one, call compare")
    if cutoff is not None:
        evaluations = {judge: evaluation.with_cutoff(cutoff) for judge, evaluation in evaluations.items()}
    first = next(iter(evaluations.values()))
    for setting, said in differing(evaluations, "ties", "judged_only", "unit", "cutoff"):
        raise MismatchError(f"the judges differ in {setting} ({said}); judges may differ in qrels and rel only")
    for judge, evaluation in evaluations.items():
        if missing := [name for name in first.names if name not in evaluation.names]:
            raise MismatchError(f"{judge}: the run {some(missing)} is missing; evaluate the same runs for every judge")
    chosen = contenders_of(first, baseline, contenders)
    if reference is not None and reference not in evaluations:
        raise ParameterError(f"reference={reference!r} is no judge; they are {listed(list(evaluations))}")
    settings = Settings.of(first, alpha=alpha, test=test, correction=correction, family=len(chosen))
    judgments = [Judgment(*compared) for compared in compare_in(evaluations, baseline, chosen, settings)]
    sentences: list[str] = []
    flips: list[Flip] = []
    audited: list[Audit] = []
    for name in chosen:
        own = [judgment for judgment in judgments if judgment.comparison.contender == name]
        sentences.append(_sentence(name, own))
        flips += _flips(name, own)
    notes = list(_notes_on_judges(evaluations, [baseline, *chosen]))
    if reference is not None:
        named = [first.scores_of(measure).measure for measure in measures]
        audited += audits(evaluations, reference, [baseline, *chosen], named, alpha)
        sentences += [sentence_of(audit, reference) for audit in audited]
        notes += notes_on_audits(evaluations, reference)
    return JudgesComparison(
        baseline=baseline,
        judgments=tuple(judgments),
        flips=tuple(flips),
        sentences=tuple(sentences),
        reference=reference,
        audits=tuple(audited),
        notes=tuple(notes),
    )


def prevailing(labels: Sequence[str]) -> tuple[str, int, bool]:
    """Return the label that occurs most often, the first of several; how often; and whether labels have opposite directions."""
    most = max(labels, key=labels.count)
    return most, labels.count(most), {"better", "worse"} <= {direction_of(label) for label in labels}


def _sentence(contender: str, judgments: Sequence[Judgment]) -> str:
    most, times, opposite = prevailing([judgment.comparison.verdict.label for judgment in judgments])
    directions = "opposite directions occur" if opposite else "never opposite"
    if times == 1:
        return f"{contender}: a different label under each of {plural('judge', len(judgments))}, {directions}."
    return f'{contender}: the same label under {times} of {plural("judge", len(judgments))} ("{most}"), {directions}.'


def _flips(contender: str, judgments: Sequence[Judgment]) -> Iterator[Flip]:
    """Find the queries on which judges disagree about the direction."""
    by_query: dict[str, list[tuple[str, QueryOutcome]]] = {}
    for judgment in judgments:
        for query in judgment.comparison.queries or ():
            by_query.setdefault(query.query_id, []).append((judgment.judge, query))
    for query_id, judged in by_query.items():
        better, worse = (tuple(judge for judge, query in judged if _direction(query) == sign) for sign in (1, -1))
        if better and worse:
            yield Flip(contender, query_id, better, worse, next((query.text for _, query in judged if query.text), None))


def _direction(query: QueryOutcome) -> int:
    """Return whether the contender is better (1) or worse (-1) on a query: by what was found, then by search length."""
    change = (query.found_contender - query.found_baseline) or -(query.difference or 0.0)
    return int(change > 0) - int(change < 0)


def _notes_on_judges(evaluations: Mapping[str, Evaluation], runs: Sequence[str]) -> Iterator[str]:
    circular = [judge for judge in evaluations if judge.casefold() in {run.casefold() for run in runs}]
    if circular:
        yield (
            f"{listed(circular)}: a run has the judge's name. A judge that is also a ranker favors its own ranking, which "
            "makes the comparison circular."
        )
