"""The commands that compare runs with a baseline: on one collection, under several conditions, for a pipeline."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

from cyclopts import Parameter
from cyclopts.validators import Number

from ir_outcomes.cli.options import (
    ALPHA,
    BASELINE,
    CONTENDERS,
    HIGHER_IS_BETTER,
    MAIN,
    NAMES,
    QRELS,
    QUERIES,
    REL,
    RESAMPLES,
    RUNS,
    SEED,
    STATISTICS,
    CorrectedTests,
    EvaluatedRuns,
    FamilyTests,
    MarginTests,
    OneOrderOptions,
    RunOptions,
    SavedRunOptions,
    SuiteOptions,
    Tests,
    UsageError,
    evaluated_with_baseline,
    is_same_file,
    margins_of,
    named_files,
    run_files,
    without_names,
)
from ir_outcomes.cli.output import OUTPUT, Output, PlotOutput, ReportOutput, given_command, note, progress_is_shown
from ir_outcomes.errors import EmptyInput, ParameterError
from ir_outcomes.types import Correction

if TYPE_CHECKING:
    from ir_outcomes.across.gate import GateRow
    from ir_outcomes.comparison import Comparison
    from ir_outcomes.comparison.outcomes import Settings
    from ir_outcomes.evaluation.evaluation import Evaluation

Which = Literal["won", "lost", "better", "worse"]
Kind = Literal["facets", "outcomes", "restricted", "ranks", "differences", "queries"]
OF_ONE: tuple[Kind, ...] = ("ranks", "differences", "queries")  # figures of a single contender

KIND = Annotated[
    Kind, Parameter(name="--plot-kind", group=OUTPUT, help="The figure of --plot; the last three are for a single contender.")
]
POSITIVE = Number(gte=1)


def compare(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    /,
    *,
    options: SavedRunOptions = SavedRunOptions(),
    tests: FamilyTests = FamilyTests(),
    all_pairs: Annotated[bool, Parameter(group=MAIN)] = False,
    queries: QUERIES = None,
    per_query: Annotated[Which | None, Parameter(group=MAIN)] = None,
    plan: Annotated[bool, Parameter(group=MAIN)] = False,
    output: ReportOutput = ReportOutput(),
    kind: KIND = "facets",
) -> None:
    """Compare runs with a baseline, on coverage and on ranking.

    Coverage is the share of queries that are answered within the cutoff. Ranking is the mean rank of the first relevant
    document on the queries that both runs answer.

    Parameters
    ----------
    all_pairs
        Compare every two runs, instead of all with the baseline.
    queries
        The texts of the queries: a file with an id, a tab and a text on each line; JSON lines; or a BEIR folder.
    per_query
        List the queries that the contender won or lost, or ranks better or worse, instead of the comparison.
    plan
        Show how many queries it takes to detect the differences of --margins (by default 1pp,0.5) with 80 % power.
    """
    from ir_outcomes.comparison import Comparisons
    from ir_outcomes.comparison import compare as compare_runs
    from ir_outcomes.comparison import plan as plan_queries

    if tests.correction == "tukey" and not all_pairs:
        raise UsageError("--correction tukey needs --all-pairs.")
    if plan and per_query is not None:
        raise UsageError("--plan and --per-query show different things; use one of them.")
    if output.plot is not None and (plan or per_query is not None):
        raise UsageError("--plot draws the comparison; leave --plan and --per-query out.")
    _check_kind(kind, is_single=len(runs) == 1 and not all_pairs)
    given = evaluated_with_baseline(options, qrels, baseline, runs, queries=queries, documents=output.documents)
    contenders = given.contenders if all_pairs else given.one_or_all
    if given.has_repeated_baseline:
        contenders = [given.baseline, *given.contenders]  # `compare` leaves it out with a note
    result = compare_runs(
        given.evaluation, given.baseline, contenders, all_pairs=all_pairs, progress=progress_is_shown(), **asdict(tests)
    )
    comparisons = list(result) if isinstance(result, Comparisons) else [result]
    _note_on_grades(given.evaluation, options.rel)
    if plan:
        output.write(*(plan_queries(comparison, *(tests.margins or ())[:2]) for comparison in comparisons))
    elif per_query is None:
        output.draw(result, kind)
        output.write(result)
        output.write_report(result, given.evaluation, (qrels, queries))
    else:
        _write_queries(comparisons, per_query, output)


def _note_on_grades(evaluation: Evaluation, rel: int | None) -> None:
    """Say what counts as relevant, where the qrels are graded and nobody said it."""
    highest = int(evaluation.qrels.grades.max(initial=0))
    if rel is None and highest > 1 and evaluation.rel == 1:
        lowest = int(evaluation.qrels.grades.min(initial=0))
        note(f"qrels hold grades {lowest} to {highest}; relevant means 1 or more here, TREC DL's setting is 2 (--rel 2)")


def _check_kind(kind: str, *, is_single: bool) -> None:
    """Refuse a figure of a single contender for several."""
    if kind in OF_ONE and not is_single:
        raise UsageError(f"--plot-kind {kind} is for a single contender; choose from {', '.join(get_args(Kind)[:3])}.")


def _write_queries(comparisons: list[Comparison], which: Which, output: Output) -> None:
    from ir_outcomes.showing.views.comparison import queries_view

    found = [(comparison, comparison.per_query(which, output.rows)) for comparison in comparisons]
    rows = [
        {**({"contender": comparison.contender} if len(comparisons) > 1 else {}), **query._asdict()}
        for comparison, queries in found
        for query in queries
    ]
    output.write_views([queries_view(queries, comparison, which) for comparison, queries in found], rows)


def compare_measure(
    qrels: QRELS,
    measure: str,
    baseline: BASELINE,
    runs: CONTENDERS,
    /,
    *,
    options: OneOrderOptions = OneOrderOptions(),
    tests: MarginTests = MarginTests(),
    output: PlotOutput = PlotOutput(),
    higher_is_better: HIGHER_IS_BETTER = None,
    kind: KIND = "facets",
) -> None:
    """Compare runs by another measure instead of ranks.

    Coverage is the share of queries with a value above zero, ranking the mean value of the queries where both runs are above
    zero. The measure has a cutoff and a relevance level of its own; --rel says which queries are answerable.

    Parameters
    ----------
    measure
        A measure of ir_measures, such as nDCG@10.
    """
    from ir_outcomes.comparison import compare_measure as compare_values

    _check_kind(kind, is_single=len(runs) == 1)
    if baseline == "best":
        raise UsageError("The baseline best is the run with the highest reciprocal rank; name a run instead.")
    given = evaluated_with_baseline(options, qrels, baseline, runs, measures=[measure], directions=higher_is_better)
    result = compare_values(
        given.evaluation, measure, given.baseline, given.one_or_all, progress=progress_is_shown(), **asdict(tests)
    )
    output.draw(result, kind)
    output.write(result)


def compare_outputs(
    baseline: str,
    outputs: list[str],
    /,
    *,
    tests: MarginTests = MarginTests(),
    measure: Annotated[str | None, Parameter(name=["--measure", "-m"], group=MAIN)] = None,
    qrels: Annotated[str | None, Parameter(group=MAIN)] = None,
    rel: REL = None,
    names: Annotated[NAMES, Parameter(group=MAIN)] = None,
    output: PlotOutput = PlotOutput(),
    higher_is_better: HIGHER_IS_BETTER = None,
    kind: KIND = "facets",
) -> None:
    """Compare runs by per-query values of other tools.

    The files are what trec_eval -q, ir_measures -q or PyTerrier wrote. In a file of several runs, --name chooses one for the
    baseline and one for each contender.

    Parameters
    ----------
    baseline
        Run A: a file of per-query values.
    outputs
        Run B, or several runs: files of per-query values.
    measure
        The measure to compare by; by default a reciprocal rank or ESL, or the only measure in the files.
    qrels
        The qrels, which say which queries are answerable.
    rel
        The smallest grade that counts as relevant; by default the measure's, or 1.
    names
        The name of a run; give one for each, in their order.
    """
    from ir_outcomes.comparison import compare_outputs as compare_values

    _check_kind(kind, is_single=len(outputs) == 1)
    result = compare_values(
        baseline,
        outputs if len(outputs) > 1 else outputs[0],
        measure=measure,
        qrels=qrels,
        rel=rel,
        higher_is_better=higher_is_better,
        names=tuple(names) if names else None,
        progress=progress_is_shown(),
        **asdict(tests),
    )
    output.draw(result, kind)
    output.write(result)


def verdict(
    *,
    n_queries: Annotated[int, Parameter(name="--n", group=MAIN, validator=POSITIVE)],
    won: Annotated[float, Parameter(group=MAIN)],
    lost: Annotated[float, Parameter(group=MAIN)],
    difference: Annotated[float, Parameter(group=MAIN)],
    pvalue: Annotated[float, Parameter(group=MAIN, validator=Number(gte=0, lte=1))],
    other_pvalues: Annotated[
        list[float] | None, Parameter(name="--other-pvalue", group=MAIN, validator=Number(gte=0, lte=1))
    ] = None,
    rounding: Annotated[float, Parameter(group=MAIN, validator=Number(gte=0))] = 0.0,
    alpha: ALPHA = 0.05,
    output: Output = Output(),
) -> None:
    """Compute the verdict from published numbers alone.

    Also says whether the verdict depends on how these numbers were rounded.

    Parameters
    ----------
    n_queries
        The number of queries.
    won
        How many queries only the contender answered.
    lost
        How many queries only the baseline answered.
    difference
        The mean search length of the contender minus that of the baseline, on the queries that both answered; in ranks, so
        that negative is better.
    pvalue
        The p-value of that difference.
    other_pvalues
        The p-value of another test of that difference, for the harm check; may be given more than once.
    rounding
        How far --won and --lost may be off, in percentage points of --n: 0.5 for whole percentages.
    alpha
        The significance level.
    """
    from ir_outcomes.comparison import verdict_from_summary

    others = tuple(other_pvalues or ())
    output.write(
        verdict_from_summary(n_queries, won, lost, difference, pvalue, other_pvalues=others, alpha=alpha, rounding=rounding)
    )


def compare_cutoffs(
    qrels: QRELS,
    baseline: BASELINE,
    run: CONTENDERS,
    /,
    *,
    options: RunOptions = RunOptions(),
    cutoffs: Annotated[list[int] | None, Parameter(name="--at", group=MAIN, validator=POSITIVE)] = None,
    tests: Tests = Tests(),
    resamples: RESAMPLES = 9999,
    seed: SEED = 0,
    output: PlotOutput = PlotOutput(),
) -> None:
    """Compare two runs at several cutoffs.

    --plot draws how much each run finds by every rank, with a band around the difference.

    Parameters
    ----------
    run
        Run B.
    cutoffs
        A cutoff; give it once for each cutoff. By default 10, 20, 50, 100, 1000 and --cutoff.
    """
    from ir_outcomes.across import compare_cutoffs as compare_at

    if len(run) != 1:
        raise UsageError("Give one RUN.")
    given = evaluated_with_baseline(options, qrels, baseline, run)
    chosen: dict[str, Any] = {"cutoffs": sorted(set(cutoffs))} if cutoffs else {}
    result = compare_at(
        given.evaluation, given.baseline, given.contenders[0], seed=seed, resamples=resamples, **chosen, **asdict(tests)
    )
    output.draw(result)
    output.write(result)


def compare_slices(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    /,
    *,
    by: Annotated[str, Parameter(group=MAIN)],
    options: RunOptions = RunOptions(),
    queries: QUERIES = None,
    tests: CorrectedTests = CorrectedTests(),
    over_slices: Annotated[Correction, Parameter(group=STATISTICS)] = "fdr_bh",
    resamples: RESAMPLES = 9999,
    seed: SEED = 0,
    output: ReportOutput = ReportOutput(),
) -> None:
    """Compare runs on slices of the queries.

    First tests whether the slices differ at all.

    Parameters
    ----------
    by
        The slices: a file with a query id, a tab and a label on each line; or length, which groups queries by their number of
        words.
    queries
        The texts of the queries: a file with an id, a tab and a text on each line; JSON lines; or a BEIR folder.
    over_slices
        The correction of p-values over slices, shown beside each label.
    """
    from ir_outcomes.across import compare_slices as compare_by

    given = evaluated_with_baseline(options, qrels, baseline, runs, queries=queries, documents=output.documents)
    result = compare_by(
        given.evaluation, by, given.baseline, given.contenders,
        over_slices=over_slices, seed=seed, resamples=resamples, **asdict(tests),
    )  # fmt: skip
    output.draw(result)
    output.write(result)
    output.write_report(result, given.evaluation, (qrels, queries))


def compare_judges(
    runs: RUNS,
    /,
    *,
    judges: Annotated[list[str], Parameter(name="--judge", group=MAIN)],
    baseline: Annotated[str | None, Parameter(group=MAIN)] = None,
    reference: Annotated[str | None, Parameter(group=MAIN)] = None,
    measures: Annotated[list[str] | None, Parameter(name=["--measure", "-m"], group=MAIN)] = None,
    options: RunOptions = RunOptions(),
    tests: CorrectedTests = CorrectedTests(),
    output: Output = Output(),
) -> None:
    """Compare runs under the qrels of several judges.

    Judges are, for example, assessors and language models.

    Parameters
    ----------
    judges
        NAME=QRELS[@REL]: the qrels of a judge, and the smallest grade that counts as relevant; give it once for each judge.
    baseline
        The name of the baseline; by default the first run.
    reference
        The judge that is the truth, on a random sample of the queries or on all: audit the others by it.
    measures
        Also audit this measure, such as nDCG@10; may be given more than once.
    """
    from ir_outcomes.across import compare_judges as compare_under

    if options.rel is not None:
        raise UsageError("--rel: write the smallest grade after each judge, such as --judge nist=qrels.txt@2.")
    sources = {name: _judge(text) for name, text in named_files(judges, "--judge").items()}
    if len(sources) < 2:
        raise UsageError("Give --judge at least twice, with different names.")
    if reference is None and measures:
        raise UsageError("--measure needs --reference.")
    evaluations = {
        name: options.evaluate(qrels, runs, rel=rel, measures=measures or ()) for name, (qrels, rel) in sources.items()
    }
    names = next(iter(evaluations.values())).names
    output.write(
        compare_under(
            evaluations, names[0] if baseline is None else baseline,
            reference=reference, measures=measures or (), **asdict(tests),
        )
    )  # fmt: skip


def _judge(text: str) -> tuple[str, int | None]:
    """Separate qrels and the smallest grade of a relevant document, which stands behind the last @."""
    qrels, sign, grade = text.rpartition("@")
    if sign and grade.isascii() and grade.isdecimal() and int(grade) > 0:
        return qrels, int(grade)
    return text, None


def compare_suite(
    suite: str,
    /,
    *,
    baseline: Annotated[str | None, Parameter(group=MAIN)] = None,
    contenders: Annotated[list[str] | None, Parameter(name="--contender", group=MAIN)] = None,
    options: SuiteOptions = SuiteOptions(),
    measures: Annotated[list[str] | None, Parameter(name=["--measure", "-m"], group=MAIN)] = None,
    tests: CorrectedTests = CorrectedTests(),
    over_collections: Annotated[Correction, Parameter(group=STATISTICS)] = "holm",
    allow: Annotated[list[Literal["cutoff"]] | None, Parameter(group=STATISTICS)] = None,
    output: ReportOutput = ReportOutput(),
) -> None:
    """Compare systems on several collections.

    Shows what holds on average over these collections, and what to expect of a new one.

    Parameters
    ----------
    suite
        A folder of collections and runs, or a TOML or JSON file that lists them.
    baseline
        The name of the baseline; by default the one that SUITE names, or the first system.
    contenders
        The name of a contender; may be given more than once. By default all other systems.
    measures
        Also pool this measure, such as nDCG@10; may be given more than once.
    over_collections
        The correction of p-values over collections, shown beside each label.
    allow
        A setting that may differ between the collections.
    """
    from ir_outcomes.across import compare_collections
    from ir_outcomes.evaluation.evaluate import evaluate_suite
    from ir_outcomes.reading.suites import read_suite

    found = read_suite(suite)
    evaluations = evaluate_suite(found, measures=measures or (), documents=output.documents, **options.settings())
    first = baseline or found.baseline
    if first is None:
        first = found.systems[0]
        note(f"the baseline is {first}; choose another one with --baseline")
    result = compare_collections(
        evaluations, first, contenders or None,
        over_collections=over_collections, measures=measures or (), groups=found.groups or None, allow=tuple(allow or ()),
        **asdict(tests),
    )  # fmt: skip
    if output.plot is not None and len(result.overall) > 1:
        raise UsageError("--plot is for one contender; choose it with --contender.")
    output.draw(result)
    output.write(result)
    output.write_report(result, evaluations)


def holes(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    /,
    *,
    options: RunOptions = RunOptions(),
    to_judge: Annotated[int | None, Parameter(group=MAIN, validator=POSITIVE)] = None,
    tests: CorrectedTests = CorrectedTests(),
    output: Output = Output(),
) -> None:
    """Show how far verdicts depend on unjudged documents.

    Unjudged documents count as not relevant. Shows whether the direction of a label would change if some of them were relevant.

    Parameters
    ----------
    to_judge
        Write up to this many pairs of query and document, those to judge first, as TSV instead of the result.
    """
    from ir_outcomes.comparison import holes as find_holes

    given = evaluated_with_baseline(options, qrels, baseline, runs, unjudged=True)
    result = find_holes(given.evaluation, given.baseline, given.contenders, progress=progress_is_shown(), **asdict(tests))
    if to_judge is None:
        output.write(result)
    else:
        output.write_text(result.to_tsv(to_judge))


def report(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    /,
    *,
    options: RunOptions = RunOptions(),
    queries: QUERIES = None,
    docs: Annotated[Path | None, Parameter(group=MAIN)] = None,
    slices: Annotated[Path | None, Parameter(group=MAIN)] = None,
    tests: MarginTests = MarginTests(),
    output: Annotated[Path, Parameter(alias="-o", group=OUTPUT)] = Path("report.html"),
    max_mb: Annotated[float, Parameter(group=OUTPUT, validator=Number(gt=0, lt=1000))] = 5,
    quiet: Annotated[bool, Parameter(group=OUTPUT)] = False,
) -> None:
    """Write one HTML page with every query behind the verdict.

    The page opens without a network. It shows the verdict, its pictures, all queries, and both ranked lists of a query.

    Parameters
    ----------
    queries
        The texts of the queries: a file with an id, a tab and a text on each line; JSON lines; or a BEIR folder.
    docs
        The texts of the documents: JSON lines with doc_id, and text or title. By default those of the dataset, if they are on
        this machine.
    slices
        The slices by which the page can filter: a file with a query id, a tab and a label on each line.
    output
        The file that the page is written to.
    max_mb
        The size in megabytes that the page may reach by including ranked lists and texts.
    quiet
        Print no warnings and no progress bars.
    """
    from ir_outcomes.comparison import compare as compare_runs
    from ir_outcomes.showing.report import report_of
    from ir_outcomes.showing.report.rankings import DEPTH

    given = evaluated_with_baseline(options, qrels, baseline, runs, queries=queries, documents=DEPTH)
    result = compare_runs(given.evaluation, given.baseline, given.one_or_all, progress=progress_is_shown(), **asdict(tests))
    page = report_of(
        result,
        evaluation=given.evaluation,
        docs=docs,
        slices=slices,
        max_mb=max_mb,
        command=given_command(),
        inputs=[path for path in (qrels, queries) if path is not None and os.path.isfile(path)],
    )
    if output.is_file():
        note(f"{output} exists and is overwritten")
    page.save(output)


class _Compared(NamedTuple):
    """What is decided on, and what the page of the report shows."""

    baseline: str
    rows: list[GateRow]
    settings: Settings | None
    compared: Any  # None where no run has results
    evaluations: Any
    inputs: list[str]


def gate(
    qrels: Annotated[str | None, Parameter(help="The qrels file or an ir_datasets id.")] = None,
    baseline: Annotated[str | None, Parameter(help="Run A: the system in use.")] = None,
    runs: Annotated[list[str] | None, Parameter(help="Run B or several: the systems to decide on.")] = None,
    /,
    *,
    margins: Annotated[tuple[float, ...], Parameter(group=MAIN, converter=margins_of, n_tokens=1)],
    reference: Annotated[str | None, Parameter(group=MAIN)] = None,
    suite: Annotated[str | None, Parameter(group=MAIN)] = None,
    system: Annotated[str | None, Parameter(name="--baseline", group=MAIN)] = None,
    options: RunOptions = RunOptions(),
    max_missing: Annotated[float, Parameter(group=STATISTICS, validator=Number(gte=0, lte=1))] = 0.05,
    allow_missing: Annotated[list[str] | None, Parameter(group=STATISTICS)] = None,
    tests: CorrectedTests = CorrectedTests(),
    queries: QUERIES = None,
    output: Output = Output(),
    report: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    summary: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
) -> None:
    """Decide whether runs may replace the baseline.

    The exit status is 0 for pass, 3 for fail and 4 for inconclusive.

    A run passes if harm beyond the margins is excluded on both facets and over all queries. It fails if such harm is shown, if
    it has no results for too many queries, or if a collection of the suite lacks it. Of several decisions the worst is the exit
    status.

    Parameters
    ----------
    margins
        The largest tolerable losses of coverage (percentage points) and of ranking (ranks), such as 1pp,0.5ranks; a third, of
        ranks over all queries, follows from them.
    reference
        A second baseline, such as the run of the last release (with --suite its name): both must pass, so that small losses
        cannot add up.
    suite
        Decide on all collections of this suite, instead of QRELS and runs.
    system
        With --suite: the name of the baseline.
    max_missing
        The largest tolerable share of answerable queries for which a run has no results.
    allow_missing
        RUN@COLLECTION, with --suite: a run that this collection may lack.
    queries
        The texts of the queries: a file with an id, a tab and a text on each line; JSON lines; or a BEIR folder.
    report
        Also write the report page to this HTML file.
    summary
        Also append the decision to this file as Markdown, such as the step summary of GitHub Actions.
    """
    from ir_outcomes.across.gate import gate_of

    keep = 0 if report is None else 20
    if suite is not None:
        if qrels is not None:
            raise UsageError("--suite replaces QRELS and runs; leave them out.")
        found = _gate_suite(suite, system, reference, allow_missing or [], options, tests, keep)
    elif qrels is None or baseline is None or not runs:
        raise UsageError("Give QRELS, BASELINE and at least one RUN, or --suite.")
    elif system is not None or allow_missing:
        raise UsageError(f"{'--allow-missing' if allow_missing else '--baseline'} needs --suite.")
    else:
        found = _gate_runs(qrels, baseline, runs, reference, options, tests, queries, keep)
    result = gate_of(found.baseline, found.rows, found.settings, margins=margins, max_missing=max_missing, inputs=found.inputs)
    output.write(result)
    if summary is not None:
        _append(summary, f"{result.to_markdown(details=True)}\n")
    if report is not None:
        _write_report(found, report)
    sys.exit(result.exit_status)


def _gate_runs(
    qrels: str,
    baseline: str,
    runs: Sequence[str],
    reference: str | None,
    options: RunOptions,
    tests: CorrectedTests,
    queries: str | None,
    documents: int,
) -> _Compared:
    from ir_outcomes.across.gate import GateRow
    from ir_outcomes.comparison import compare as compare_runs
    from ir_outcomes.reading.files import name_of

    paths = run_files(runs)
    second = [] if reference is None else [reference]
    if any(is_same_file(path, baseline) or name_of(path) == baseline for path in second):
        raise UsageError("--reference: this is the baseline already; leave it out, or give another run.")
    inputs = [path for path in dict.fromkeys((qrels, baseline, *paths, *second)) if os.path.isfile(path)]
    kept: dict[str, Any] = {"queries": queries, "documents": documents}
    empty: dict[str, str] = {}
    given: EvaluatedRuns | None
    try:
        given = evaluated_with_baseline(options, qrels, baseline, [*paths, *second], **kept)
    except EmptyInput as error:
        if error.source == qrels:
            raise
        empty = dict(_empty(options, qrels, [baseline, *paths, *second]))
        options, paths = without_names(options), [path for path in paths if path not in empty]
        has_results = bool(paths) and not {baseline, *second} & set(empty)
        given = evaluated_with_baseline(options, qrels, baseline, [*paths, *second], **kept) if has_results else None
    rows: list[GateRow] = []
    compared: Any = None
    if given is not None:
        contenders = given.contenders[: len(given.contenders) - len(second)]
        rules: dict[str, Any] = {**asdict(tests), "progress": progress_is_shown()}
        compared = compare_runs(given.evaluation, given.baseline, contenders, **rules)
        rows = [GateRow(item.contender, item) for item in compared]
        for name in given.contenders[len(contenders) :]:
            again: Any = compare_runs(given.evaluation, name, [item.contender for item in compared], **rules)
            rows += [GateRow(item.contender, item, reference=name) for item in again]
    for what, path in (("baseline", baseline), *(("reference", path) for path in second)):
        if path in empty:
            lacking = f"The {what} cannot be compared with: {empty.pop(path)}"
            rows += [GateRow(name_of(path), lacking) for path in paths]
    rows += [GateRow(name_of(path), f"There is nothing to compare: {reason}") for path, reason in empty.items()]
    if given is None:
        return _Compared(name_of(baseline), rows, None, None, None, inputs)
    return _Compared(compared[0].baseline, rows, compared[0].settings, compared, given.evaluation, inputs)


def _empty(options: RunOptions, qrels: str, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Find the runs without results, and why."""
    for path in paths:
        if os.path.isfile(path):  # "best" and the names of other runs are none
            try:
                without_names(options).evaluate(qrels, [path])
            except EmptyInput as error:
                yield path, f"{error}."


def _gate_suite(
    path: str,
    system: str | None,
    reference: str | None,
    allow_missing: Sequence[str],
    options: RunOptions,
    tests: CorrectedTests,
    documents: int,
) -> _Compared:
    from ir_outcomes.across import compare_collections
    from ir_outcomes.across.gate import rows_to_decide
    from ir_outcomes.reading.suites import read_suite

    suite = read_suite(path)
    baseline = system or suite.baseline
    if baseline is None:
        raise UsageError("--baseline: name the baseline of the suite.")
    evaluations: dict[str, Evaluation] = {}
    empty: dict[tuple[str, str], str] = {}
    for collection in suite.collections:
        # Options of the command come before what the suite says.
        own = {name: getattr(collection, name) for name in ("cutoff", "rel") if getattr(options, name) is None}
        settings = {**own, "documents": documents}
        runs = dict(collection.runs)
        try:
            evaluations[collection.name] = options.evaluate(collection.qrels, runs, **settings)
        except EmptyInput as error:
            if error.source == collection.qrels:
                raise
            found = dict(_empty(options, collection.qrels, list(runs.values())))
            empty |= {(name, collection.name): found[run] for name, run in runs.items() if run in found}
            present = {name: run for name, run in runs.items() if run not in found}
            if present:
                evaluations[collection.name] = options.evaluate(collection.qrels, present, **settings)
    baselines = [baseline] if reference is None else [baseline, reference]
    contenders = [name for ev in evaluations.values() for name in ev.names if name not in baselines]
    rules: dict[str, Any] = {"groups": suite.groups or None, **asdict(tests)}
    compared = [compare_collections(evaluations, name, contenders, **rules) for name in baselines]
    inputs = [file for file in suite.files if os.path.isfile(file)]
    rows = rows_to_decide(compared, allow_missing, empty)
    return _Compared(baseline, rows, compared[0].settings, compared[0], evaluations, inputs)


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise ParameterError(f"--summary {path}: cannot be written ({error.strerror})") from error


def _write_report(found: _Compared, path: Path) -> None:
    if found.compared is None:
        note("there is nothing to compare, so no report is written")
        return
    from ir_outcomes.showing.report import report_of

    report_of(found.compared, path, evaluation=found.evaluations, command=given_command(), inputs=found.inputs)
