"""The comparisons of a call, from the arrays of its pairs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ir_outcomes.choices import divided, or_none
from ir_outcomes.comparison.notes import (
    notes_on_input,
    notes_on_measures,
    notes_on_values,
    notes_on_verdict,
)
from ir_outcomes.comparison.result import Comparison, CutoffLabel, SystemRun
from ir_outcomes.comparison.wording import sentence_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.named_measures import Measures, comparable, each_measure
from ir_outcomes.evaluation.remarks import (
    n_missing,
    notes_on_copies,
    notes_on_grades,
    notes_on_systems,
)
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.systems import Systems
from ir_outcomes.files import with_progress
from ir_outcomes.formatting import plural
from ir_outcomes.notes import Note, as_notes, ranked
from ir_outcomes.pairs.differences import Measurements
from ir_outcomes.pairs.measurements import measurements_at, measurements_of, measurements_of_values
from ir_outcomes.pairs.outcomes import Outcomes, QueryOutcomes, SystemPair
from ir_outcomes.pairs.rows import (
    Row,
    RowsOfPairs,
    interval_of_new_runs,
    margin_of,
    over_all_queries,
)
from ir_outcomes.pairs.rules import Rules, Settings
from ir_outcomes.pairs.verdict import (
    DECIDING,
    FACETS,
    LABELS,
    Decision,
    Verdict,
    decision,
    direction_of,
    meaning_of,
)

USUAL_CUTOFFS = (10, 20, 50, 100, 1000)


def compared(
    evaluation: Evaluation,
    rules: Rules,
    *,
    measures: Measures = (),
    notes: Sequence[Note] = (),
    family: int | None = None,
    for_gate: bool = False,
    progress: bool = False,
) -> tuple[Comparison, ...]:
    """Compare the first system of an evaluation with the others, as part of a family.

    A gate takes reciprocal ranks of another tool as they are written, which else become ranks, and
    decides on these runs only.
    """
    first, *others = evaluation.systems.values()
    settings = Settings.of(evaluation, rules, family or len(others))
    values = evaluation.values
    cutoffs: list[list[CutoffLabel]] = [[] for _ in others]
    on_pairs: list[list[Note]] = [[] for _ in others]
    if values is None:
        asked = known_means(evaluation, measures)
        measurements = measurements_of(evaluation, measures=asked, with_reciprocal=True)
        names = [scores.measure for scores in asked]
        pairs = Family(measurements, settings, names, for_gate=for_gate)
        lists = [[run.at(evaluation.cutoff) for run in runs] for runs in evaluation.runs_by_system]
        missing = [max(map(n_missing, runs)) for runs in lists]
        cutoffs = labels_elsewhere(evaluation, settings)
        on_pairs = list(_notes_on_pairs_of_runs(evaluation, lists, names))
        notes = [*notes, *_notes_on_runs(evaluation)]
    else:
        measurements = measurements_of_values(values, evaluation.systems, as_written=for_gate)
        pairs = Family(measurements, settings, for_gate=for_gate)
        missing = list(map(values.most_missing, evaluation.systems.values()))
        notes = [*notes, *as_notes(notes_on_values(values))]
    worst = _labels_of_worst(evaluation, settings)
    comparisons = []
    for index, contender in enumerate(with_progress(others, "pair", len(others), shown=progress)):
        runs = {*first, *contender}
        on_these = [about for about in notes if not about.runs or runs.intersection(about.runs)]
        if worst:
            on_these = list(_with_label_of_worst(on_these, pairs.labels[index], worst[index]))
        comparison = pairs.comparison(
            index,
            evaluation,
            notes=[*on_these, *on_pairs[index]],
            n_missing=(missing[0], missing[index + 1]),
            elsewhere=cutoffs[index],
        )
        comparisons.append(comparison)
    return tuple(comparisons)


def known_means(evaluation: Evaluation, measures: Measures) -> tuple[Scores, ...]:
    """The values of measures on the answerable queries, all defined."""
    scores_of_measures = []
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
        scores_of_measures.append(scores)
    return tuple(scores_of_measures)


def labels_elsewhere(evaluation: Evaluation, settings: Settings) -> list[list[CutoffLabel]]:
    """The labels of each pair at the other cutoffs that its lists reach."""
    first, *others = ([run.depth for run in runs] for runs in evaluation.runs_by_system)
    reach = [min(*first, *depths) for depths in others]
    labels: list[list[CutoffLabel]] = [[] for _ in others]
    cutoffs = [k for k in USUAL_CUTOFFS if k <= max(reach, default=0) and k != evaluation.cutoff]
    if not cutoffs:
        return labels
    for cutoff, measurements in zip(cutoffs, measurements_at(evaluation, cutoffs), strict=True):
        rows = RowsOfPairs.of_family(measurements, DECIDING, settings.alpha)
        rows = rows.corrected(settings.correction, settings.alpha, family=settings.family)
        for index, label in enumerate(rows.labels(DECIDING).tolist()):
            if cutoff <= reach[index]:
                labels[index].append(CutoffLabel(cutoff, LABELS[label]))
    return labels


def _notes_on_runs(evaluation: Evaluation) -> Iterator[Note]:
    """Say what a careful reader must know about the contenders and the judgments."""
    if not evaluation.replicates:
        yield from notes_on_systems(evaluation.names[1:])
        yield from notes_on_copies(evaluation.runs[1:])
    yield from notes_on_grades(evaluation.qrels, evaluation.rel)


def _notes_on_pairs_of_runs(
    evaluation: Evaluation, lists: Sequence[Sequence[SearchLengths]], measures: Sequence[str]
) -> Iterator[list[Note]]:
    """Yield what a careful reader must know about each contender beside the baseline."""
    baseline, *contenders = evaluation.runs_by_system
    first, *others = lists
    for contender, of_contender in zip(contenders, others, strict=True):
        positives_only = evaluation.positives_only
        yield [
            *notes_on_measures(baseline, contender, measures),
            *notes_on_input(first, of_contender, positives_only=positives_only),
        ]


def _labels_of_worst(evaluation: Evaluation, settings: Settings) -> list[str]:
    """The labels with the worst values for what is missing, none where nothing is."""
    worst = None if evaluation.values is None else evaluation.values.with_worst()
    if worst is None:
        return []
    return Family(measurements_of_values(worst, evaluation.systems), settings).labels


def _with_label_of_worst(notes: Sequence[Note], label: str, worst: str) -> Iterator[Note]:
    """Say which label the worst value for what is missing would give."""
    for about in notes:
        if about.kind == "missing-values" and worst != label:
            text = f"{about} With the worst value for what is missing: {worst}."
            yield Note(text, about.kind, about.runs)
        else:
            yield about


class Family:
    """The rows and labels of one baseline and its contenders, corrected over these."""

    def __init__(
        self,
        measurements: Measurements,
        settings: Settings,
        measures: Sequence[str] = (),
        *,
        for_gate: bool = False,
    ) -> None:
        """Estimate all rows, and those of `measures` that were asked for."""
        self.for_gate = for_gate
        self.measurements = measurements
        self.settings = settings
        self.measures = measures
        alpha, correction = settings.alpha, settings.correction
        names = [name for name in measurements.quantities if name in DECIDING]
        rows = RowsOfPairs.of_family(measurements, [*measurements.quantities], alpha)
        corrected = [*names, *measures]
        self.rows = rows.corrected(correction, alpha, corrected, family=settings.family)
        self.labels = [LABELS[label] for label in self.rows.labels(measurements.deciding).tolist()]

    def comparison(
        self,
        index: int,
        evaluation: Evaluation,
        *,
        notes: Sequence[Note],
        n_missing: tuple[int, int],
        elsewhere: Sequence[CutoffLabel],
    ) -> Comparison:
        """Put together the comparison of one contender."""
        settings, measurements = self.settings, self.measurements
        pair = SystemPair(measurements, 0, index + 1)
        outcomes = pair.outcomes()
        rows = {name: self._row(index, name, pair) for name in self.rows.rows}
        rows |= self._with_margins(index, rows, pair, outcomes)
        label = self.labels[index]
        cutoffs = [*elsewhere]
        if elsewhere and settings.cutoff is not None:
            cutoffs = sorted([*elsewhere, CutoffLabel(settings.cutoff, label)])
        strict, do_no_harm = _by_the_paper(rows, settings.alpha)
        non_inferior, equivalent = _within(rows, settings)
        naive, reciprocal = self._of_the_paper(rows, pair)
        # Of values whose mean alone is compared.
        whole = next(iter(measurements.quantities.values()))
        absent = {name: Row.absent(whole._replace(name=name)) for name in FACETS}
        draft = Comparison(
            baseline=pair.baseline_name,
            contender=pair.contender_name,
            n_queries=len(measurements.query_ids),
            n_unanswerable=evaluation.n_unanswerable,
            n_missing=n_missing,
            settings=settings,
            outcomes=outcomes,
            coverage=rows.get("coverage", absent["coverage"]),
            ranking=rows.get("ranking", absent["ranking"]),
            all_queries=rows.get("all queries"),
            naive=naive,
            reciprocal=reciprocal,
            cutoffs=tuple(cutoffs),
            verdict=Verdict(
                label=label,
                direction=direction_of(label),
                strict=strict,
                do_no_harm=do_no_harm,
                non_inferior=non_inferior,
                equivalent=equivalent,
                sentence="",
                new_runs=_holds_for_new_runs(label, rows),
            ),
            measures=tuple(rows[name] for name in self.measures),
            identical=bool(self.rows.identical[index]),
            n_runs=pair.n_runs,
            runs=tuple(self._runs_of_systems(pair, evaluation.systems)),
            queries=QueryOutcomes(pair, evaluation.texts),
        )
        verdict = replace(draft.verdict, sentence=sentence_of(draft))
        first, background = ranked((*notes, *notes_on_verdict(draft)))
        return replace(draft, verdict=verdict, notes=first, background=background)

    def _row(self, index: int, name: str, pair: SystemPair) -> Row:
        """A row with the papers' tests, and its interval for new runs."""
        row = self.rows.rows[name].row(index, self.settings.first_level)
        clusters = self.measurements.clusters
        if not pair.by_runs and clusters is None:
            return replace(row, tests=pair.tests(name, unpaired=row.measured_in == "reciprocal"))
        if not pair.by_runs or self.for_gate:
            return row
        codes = None if clusters is None else clusters.codes
        new_runs = interval_of_new_runs(row, pair.sides(name), codes, self.settings.alpha)
        return replace(row, new_runs=new_runs)

    def _with_margins(
        self, index: int, rows: Mapping[str, Row], pair: SystemPair, outcomes: Outcomes
    ) -> dict[str, Row]:
        """The rows that have a margin, with it."""
        level = 1 - self.settings.first_level
        identical = bool(self.rows.identical[index])
        with_margins = {}
        for name, size in self._margins(rows, pair, outcomes).items():
            sums = self.rows.sums[name]
            of_pair = type(sums)(*(column[index : index + 1] for column in sums))
            margin = margin_of(rows[name], of_pair, size, level, identical=identical)
            with_margins[name] = replace(rows[name], margin=margin)
        return with_margins

    def _margins(
        self, rows: Mapping[str, Row], pair: SystemPair, outcomes: Outcomes
    ) -> dict[str, float]:
        """The margin of each row that has one."""
        margins = self.settings.margins
        if margins is None:
            return {}
        whole = rows.get("all queries")
        if not self.measurements.in_lengths:
            return {"all queries": _margin_of_values(rows["all queries"], margins)}
        if len(margins) == 1:
            raise ParameterError(
                "must be two or three numbers, of coverage, ranking and all queries, such as"
                " `margins=(1.0, 0.5)`",
                margins=margins,
            )
        sizes = list(margins)
        if len(margins) == 2 and whole is not None and whole.largest is not None:
            n_pairs = math.prod(pair.n_runs)
            sizes.append(over_all_queries(*margins, rows["ranking"], whole, outcomes, n_pairs))
        named = zip(DECIDING, sizes, strict=False)
        return {name: size for name, size in named if name in rows}

    def _of_the_paper(self, rows: Mapping[str, Row], pair: SystemPair) -> tuple[Row, Row | None]:
        """The naive mean of all queries, and reciprocals on what both found."""
        if "MRR" in rows:
            naive, reciprocal = [row for row in rows.values() if row.measured_in == "reciprocal"]
            return naive, reciprocal
        whole = rows["all queries"]
        if whole.tests:
            tests = pair.tests("all queries", unpaired=True)
            whole = replace(whole, tests=tests, margin=None)
        return replace(whole, name=whole.measured_in), None

    def _runs_of_systems(self, pair: SystemPair, systems: Systems) -> Iterator[SystemRun]:
        """Yield what each run of a system that has several shows by itself."""
        names = (pair.baseline_name, pair.contender_name)
        several = {name: systems[name] for name in names if len(systems[name]) > 1}
        if not several:
            return
        rows = (*DECIDING, *self.measures)
        sides = [pair.sides(name) if name in self.rows.rows else None for name in rows]
        for side, (system, runs) in enumerate(several.items()):
            means: list[list[float | None]] = [[None] * len(runs)] * len(rows)
            for row, of_row in enumerate(sides):
                if of_row is not None:
                    sums, sizes = (values.sum(axis=1) for values in of_row[side])
                    means[row] = list(map(or_none, divided(sums, sizes, sizes > 0)))
            for run, coverage, ranking, whole, *measures in zip(runs, *means, strict=True):
                yield SystemRun(system, run, coverage, ranking, whole, tuple(measures))


def _by_the_paper(rows: Mapping[str, Row], alpha: float) -> tuple[Decision | None, Decision | None]:
    """What the rules of Lin et al. 2021 say, None without their tests."""
    signs = []
    for name in FACETS:
        row = rows.get(name)
        if row is None or not row.tests:
            return None, None
        test = next(iter(row.tests.values()))
        significant = test.pvalue <= alpha and row.difference is not None
        signs.append(int(np.sign(row.gain)) if significant else 0)
    return decision(*signs)


def _margin_of_values(whole: Row, margins: tuple[float, ...]) -> float:
    """The margin of the mean of a measure, which its range must allow to be exceeded."""
    if len(margins) != 1:
        raise ParameterError(
            f"must be one number, of the mean of {whole.measured_in}, such as `margins=(0.01,)`",
            margins=margins,
        )
    if whole.largest is None:
        raise ParameterError(
            f"`margins`: the range of {whole.measured_in} is not known, so harm cannot be excluded;"
            " give its smallest and largest value, such as `range=(0, 1)`"
        )
    if margins[0] >= whole.largest:
        raise ParameterError(
            f"no loss of {whole.measured_in} can exceed this margin: its range is {whole.largest:g}",
            margins=margins[0],
        )
    return margins[0]


def _within(rows: Mapping[str, Row], settings: Settings) -> tuple[bool | None, bool | None]:
    """Whether rows are non-inferior and equivalent, None without margins."""
    if settings.margins is None:
        return None, None
    margins = [row.margin for row in rows.values() if row.margin is not None]
    is_whole = len(margins) >= (1 if len(settings.margins) == 1 else len(DECIDING))
    non_inferior = all(margin.found == "harm excluded" for margin in margins)
    return is_whole and non_inferior, is_whole and all(margin.equivalent for margin in margins)


def _holds_for_new_runs(label: str, rows: Mapping[str, Row]) -> bool | None:
    """Whether the intervals for new runs exclude 0 on the side of each row."""
    meaning = meaning_of(label)
    if meaning.direction == "none":
        return None
    carrying = [rows[name] for name in meaning.rows if name in rows]
    intervals = [row.new_runs for row in carrying]
    if None in intervals:
        return None
    return all(interval.low > 0 or interval.high < 0 for interval in intervals if interval)
