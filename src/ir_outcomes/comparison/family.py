"""A family of comparisons: measured, corrected over the family, and labelled."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from ir_outcomes.comparison.notes import notes_on_input, notes_on_verdict
from ir_outcomes.comparison.outcomes import (
    PairedQueries,
    Sample,
    Settings,
    pair_queries,
    sample_of_runs,
)
from ir_outcomes.comparison.result import Comparison, CutoffLabel, QueryOutcomes, SystemRun
from ir_outcomes.comparison.rows import (
    Quantity,
    Row,
    Rows,
    RowsOfPair,
    against_margin,
    deciding_samples,
    estimates_of,
    found_alone,
    labels_of_rows,
    margins_of,
    rows_of_pair,
)
from ir_outcomes.comparison.verdict import (
    CARRYING,
    LABELS,
    NAMES,
    Decision,
    Labels,
    RowEstimates,
    Verdict,
    decision,
    direction_of,
    judge,
    meaning_of,
)
from ir_outcomes.comparison.wording import sentence_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import n_missing, notes_on_grades
from ir_outcomes.evaluation.scores import Measures, Scores, comparable, each_measure
from ir_outcomes.evaluation.systems import Called, System
from ir_outcomes.files import with_progress
from ir_outcomes.formatting import plural
from ir_outcomes.notes import Note, ranked
from ir_outcomes.reading.measure_names import range_of
from ir_outcomes.statistics.estimate import Estimates, Sums

USUAL_CUTOFFS = (10, 20, 50, 100, 1000)


@dataclass(frozen=True, eq=False)
class MeasuredPair:
    """A baseline and a contender, measured but not yet estimated."""

    queries: PairedQueries
    n_unanswerable: int
    # Answerable queries without any result, of baseline and contender; of several runs the most.
    n_missing: tuple[int, int]
    naive: Sample  # reciprocal ranks over all queries, or the values of another measure
    notes: tuple[Note, ...] = ()
    # Labels at other cutoffs; None where they are not known.
    elsewhere: tuple[CutoffLabel, ...] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    # Values of the measures that were asked for, on the answerable queries.
    asked: tuple["AskedMeasure", ...] = ()
    systems: tuple[Called, ...] = ()


@dataclass(frozen=True, eq=False)
class AskedMeasure:
    """Values of a measure that was asked for, of two systems."""

    quantity: Quantity
    sample: Sample


def measured_pairs(
    evaluation: Evaluation,
    pairs: Sequence[tuple[System, System]],
    settings: Settings,
    measures: Measures,
    notes: Sequence[Sequence[Note]],
) -> list[MeasuredPair]:
    """Measure pairs of systems, with `notes` on each, at the cutoff of the settings."""
    scores = known_means(evaluation, measures)
    answerable = evaluation.answerable
    labels = labels_elsewhere(pairs, settings)
    measured = []
    for (baseline, contender), notes_of_pair, elsewhere in zip(pairs, notes, labels, strict=True):
        a = baseline.at(settings.cutoff)
        b = contender.at(settings.cutoff)
        ranks_of_a, ranks_of_b = (own.mean_reciprocal_ranks()[answerable] for own in (a, b))
        asked = tuple(_asked_measure(own, a.called, b.called) for own in scores)
        queries = pair_queries(a, b, settings.unit)
        if any(own.sample.differs for own in asked):
            queries = replace(queries, identical=False)
        pair = MeasuredPair(
            queries=queries,
            n_unanswerable=int(np.sum(~answerable)),
            n_missing=(max(map(n_missing, a.runs)), max(map(n_missing, b.runs))),
            naive=Sample(ranks_of_a, ranks_of_b, np.ones(int(answerable.sum()))),
            notes=(
                *notes_of_pair,
                *notes_on_grades(evaluation.qrels, evaluation.rel),
                *notes_on_input(a, b, positives_only=evaluation.positives_only),
            ),
            elsewhere=elsewhere,
            texts=evaluation.texts,
            asked=asked,
            systems=(a.called, b.called),
        )
        measured.append(pair)
    return measured


def known_means(evaluation: Evaluation, measures: Measures) -> tuple[Scores, ...]:
    """Return the values of measures on the answerable queries, all defined."""
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


def _asked_measure(scores: Scores, baseline: Called, contender: Called) -> AskedMeasure:
    """Add up the values of a measure over the pairs of runs of two systems."""
    of_a, of_b = ([scores.runs.index(run) for run in own.runs] for own in (baseline, contender))
    pairs = [
        ((place, other), scores.values[[a, b]])
        for (place, a), (other, b) in product(enumerate(of_a), enumerate(of_b))
    ]
    sample = sample_of_runs((len(of_a), len(of_b)), pairs, scores.values.shape[1])
    measure = scores.measure
    largest = range_of(measure, *sample.each())
    return AskedMeasure(Quantity(measure, measure, scores.higher_is_better, largest), sample)


def labels_elsewhere(
    pairs: Sequence[tuple[System, System]], settings: Settings
) -> list[tuple[CutoffLabel, ...]]:
    """Return the labels of each pair at the other cutoffs that its lists reach."""
    reach = [min(baseline.depth, contender.depth) for baseline, contender in pairs]
    shown: list[tuple[CutoffLabel, ...]] = [()] * len(pairs)
    for cutoff in USUAL_CUTOFFS:
        if cutoff == settings.cutoff or cutoff > max(reach, default=0):
            continue
        found = [
            estimates_of(
                pair_queries(baseline.at(cutoff), contender.at(cutoff), settings.unit), settings
            )
            for baseline, contender in pairs
        ]
        for index, label in enumerate(labels_of_estimates(found, settings).names()):
            if cutoff <= reach[index]:
                shown[index] += (CutoffLabel(cutoff, label),)
    return shown


def labels_of_estimates(
    pairs: Sequence[Mapping[str, tuple[Sums, Estimates]]], settings: Settings
) -> Labels:
    """Label the pairs of a family from the estimates of their search lengths."""
    rows = {}
    for name in pairs[0]:
        found = [pair[name][1] for pair in pairs]
        joined = Estimates(*map(np.concatenate, zip(*found, strict=True)))
        rows[name] = RowEstimates.of(joined, higher_is_better=name == "coverage")
    sign_test = None
    if "all queries" in rows:
        sums = [pair["all queries"][0] for pair in pairs]
        longer, differ = (
            np.concatenate([getattr(own, field) for own in sums]) for field in ("better", "differ")
        )
        sign_test = RowEstimates.of_sign_test(differ - longer, longer)
    return judge(rows, settings.rules, sign_test)


def judged(
    pairs: Sequence[MeasuredPair], settings: Settings, *, progress: bool = False
) -> tuple[Comparison, ...]:
    """Estimate all pairs of a family, correct each row over it, and label them."""
    estimated = []
    for pair in with_progress(pairs, "pair", len(pairs), shown=progress):
        estimated.append(rows_of_pair(pair.queries, pair.naive, settings))
    rows = {name: [own.deciding[name] for own in estimated] for name in estimated[0].deciding}
    labels = labels_of_rows(rows, settings.rules)
    return tuple(
        _comparison(pair, settings, found, labels, index)
        for index, (pair, found) in enumerate(zip(pairs, estimated, strict=True))
    )


def _comparison(
    pair: MeasuredPair, settings: Settings, found: RowsOfPair, labels: Labels, index: int
) -> Comparison:
    """Put together the rows of a pair, and its label among those of the family."""
    queries = pair.queries
    margins = _margins_by_row(settings.margins, queries, found)
    rows = {}
    for name, (_, sample) in deciding_samples(queries, settings).items():
        margin = None
        size = margins[name]
        if size is not None:
            level = 1 - settings.first_level
            margin = against_margin(
                found.deciding[name], sample, queries.clusters, size, level, queries.identical
            )
        rows[name] = replace(
            found.deciding[name],
            pvalue_corrected=float(labels.corrected[name][index]),
            found=NAMES[int(labels.found[name][index])],
            margin=margin,
        )
    whole = rows.get("all queries")
    label = LABELS[labels.label[index]]
    cutoffs: list[CutoffLabel] = []
    if pair.elsewhere is not None and settings.cutoff is not None:
        cutoffs = sorted([*pair.elsewhere, CutoffLabel(settings.cutoff, label)])
    makes = Rows(queries, settings)
    asked = (makes.row(own.quantity, own.sample) for own in pair.asked)
    strict, do_no_harm = _by_the_paper(rows["coverage"], rows["ranking"], settings.alpha)
    comparison = Comparison(
        baseline=queries.baseline,
        contender=queries.contender,
        n_queries=len(queries.query_ids),
        n_unanswerable=pair.n_unanswerable,
        n_missing=pair.n_missing,
        settings=settings,
        outcomes=queries.outcomes,
        coverage=rows["coverage"],
        ranking=rows["ranking"],
        restricted=whole if queries.measure is None else None,
        mean=None if queries.measure is None else whole,
        naive=found.naive,
        reciprocal=found.reciprocal,
        cutoffs=tuple(cutoffs),
        verdict=Verdict(
            label=label,
            direction=direction_of(label),
            strict=strict,
            do_no_harm=do_no_harm,
            non_inferior=_within(margins, rows.values(), "non_inferior"),
            equivalent=_within(margins, rows.values(), "equivalent"),
            sentence="",
            new_runs=_holds_for_new_runs(label, rows),
        ),
        identical=queries.identical,
        n_runs=queries.n_runs,
        runs=tuple(_runs_of_systems(pair)),
        queries=QueryOutcomes(queries, pair.texts),
        measures=tuple(found_alone(row, settings.alpha) for row in asked),
    )
    verdict = replace(comparison.verdict, sentence=sentence_of(comparison))
    comparison = replace(comparison, verdict=verdict)
    notes, background = ranked((*pair.notes, *notes_on_verdict(comparison)))
    return replace(comparison, notes=notes, background=background)


def _by_the_paper(
    coverage: Row, ranking: Row, alpha: float
) -> tuple[Decision | None, Decision | None]:
    """Return what the rules of Lin et al. 2021 say, None without their tests."""
    if not coverage.n or not coverage.tests or not ranking.tests:
        return None, None
    signs = []
    for row, test in (
        (coverage, next(iter(coverage.tests.values()))),
        (ranking, ranking.tests["t"]),
    ):
        significant = test.pvalue <= alpha and row.difference is not None
        signs.append(int(np.sign(row.gain)) if significant else 0)
    return decision(*signs)


def _margins_by_row(
    margins: Sequence[float] | None, queries: PairedQueries, found: RowsOfPair
) -> dict[str, float | None]:
    """Return the margin of each row, None where it has none."""
    by_row: dict[str, float | None] = dict.fromkeys(("coverage", "ranking", "all queries"))
    if margins is None:
        return by_row
    by_values = queries.measure is not None
    if by_values != (len(margins) == 1):
        wanted = (
            "two or three numbers, of coverage, ranking and all queries, such as"
            " `margins=(1.0, 0.5)`"
        )
        if by_values:
            wanted = f"one number, of the mean of {queries.measure}, such as `margins=(0.01,)`"
        raise ParameterError(f"must be {wanted}", margins=tuple(margins))
    if by_values:
        whole = found.deciding.get("all queries")
        if whole is None or whole.largest is None:
            raise ParameterError(
                f"`margins`: the range of {queries.measure} is not known, so harm cannot be"
                " excluded; say it, such as `range=(0, 1)`"
            )
        if margins[0] >= whole.largest:
            raise ParameterError(
                f"no loss of {queries.measure} can exceed this margin: its range is {whole.largest:g}",
                margins=margins[0],
            )
        return by_row | {"all queries": margins[0]}
    sizes = margins_of(margins, queries.outcomes, found.deciding.get("all queries"))
    return by_row | dict(zip(by_row, sizes, strict=False))


def _within(margins: Mapping[str, float | None], rows: Collection[Row], which: str) -> bool | None:
    """Return whether all rows stay inside their margins, None without margins."""
    against = [row.margin for row in rows if row.margin is not None]
    if not any(margins.values()):
        return None
    by_values = margins["coverage"] is None
    if len(against) < (1 if by_values else 3):
        return False
    if which == "equivalent":
        return all(own.equivalent for own in against)
    return all(own.found == "harm excluded" for own in against)


def _holds_for_new_runs(label: str, rows: Mapping[str, Row]) -> bool | None:
    """Return whether the intervals for new runs exclude 0 on the label's side."""
    direction, by = meaning_of(label)
    if direction == "none":
        return None
    held = []
    for name in CARRYING[by]:
        row = rows.get(name)
        if row is None or row.new_runs is None:
            return None
        above = (direction == "better") == row.higher_is_better
        held.append(row.new_runs.low > 0 if above else row.new_runs.high < 0)
    return all(held)


def _runs_of_systems(pair: MeasuredPair) -> Iterator[SystemRun]:
    """Yield what each run of a system that has several shows."""
    queries = pair.queries
    samples = [queries.coverage, queries.ranking, queries.all_queries]
    samples += [own.sample for own in pair.asked]
    several = [system for system in pair.systems if len(system.runs) > 1]
    for side, system in enumerate(several):
        for index, run in enumerate(system.runs):
            means = [
                _mean_of_run(own, side, index) if own is not None and own.sides else None
                for own in samples
            ]
            coverage, ranking, whole, *measures = means
            yield SystemRun(system.name, run, coverage, ranking, whole, tuple(measures))


def _mean_of_run(sample: Sample, side: int, run: int) -> float | None:
    """Return the mean difference of one run, None where nothing of it counts."""
    sums, sizes = sample.sides[side]
    rows = sizes[run].sum()
    return float(sums[run].sum() / rows) if rows else None
