"""The commands that compare runs with a baseline: on one collection, under several conditions, for a pipeline."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from cyclopts import Parameter
from cyclopts.validators import Number

from ir_outcomes.cli.options import (
    ALPHA,
    BASELINE,
    CONTENDERS,
    HIGHER_IS_BETTER,
    MEASURES,
    NAMES,
    QRELS,
    QUERIES,
    REL,
    RESAMPLES,
    RUNS,
    SEED,
    STATISTICS,
    ClusteredRunOptions,
    CorrectedTests,
    FamilyTests,
    MarginTests,
    OneOrderOptions,
    RunOptions,
    SuiteOptions,
    Tests,
    UsageError,
    evaluated_with_baseline,
    named_files,
)
from ir_outcomes.cli.output import OUTPUT, Output, PlotOutput, ReportOutput, given_command, note, progress_is_shown
from ir_outcomes.errors import MismatchError
from ir_outcomes.types import Correction

if TYPE_CHECKING:
    from ir_outcomes.comparison.result import Comparison
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
    options: ClusteredRunOptions = ClusteredRunOptions(),
    tests: FamilyTests = FamilyTests(),
    all_pairs: bool = False,
    queries: QUERIES = None,
    per_query: Which | None = None,
    plan: bool = False,
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
    per_query
        List the queries that the contender won or lost, or ranks better or worse, instead of the comparison.
    plan
        Show how many queries it takes to detect the differences of --margins (by default 1pp,0.5) with 80 % power.

    Examples
    --------
    ir-outcomes compare qrels.txt bm25.run bm25-stem.run --cutoff 100
    ir-outcomes compare qrels.txt bm25 *.run --format latex
    ir-outcomes compare qrels.txt bm25.run bm25-stem.run --per-query lost --queries queries.tsv --rows 10
    """
    from ir_outcomes.comparison.compare import compare as compare_runs
    from ir_outcomes.comparison.plan import plan as plan_queries
    from ir_outcomes.comparison.result import Comparisons

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
    if evaluation.qrels is None:  # of a saved evaluation
        return
    grades = evaluation.qrels.grades
    lowest, highest = int(grades.min(initial=0)), int(grades.max(initial=0))
    if rel is None and highest > 1 and evaluation.rel == 1:
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

    Examples
    --------
    ir-outcomes compare-measure qrels.txt nDCG@10 bm25.run bm25-stem.run
    """
    from ir_outcomes.comparison.outputs import compare_measure as compare_values

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
    measure: Annotated[str | None, Parameter(name=["--measure", "-m"])] = None,
    qrels: str | None = None,
    rel: REL = None,
    names: NAMES = None,
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

    Examples
    --------
    ir-outcomes compare-outputs bm25.tsv bm25-stem.tsv --qrels qrels.txt
    """
    from ir_outcomes.comparison.outputs import compare_outputs as compare_values

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
    n_queries: Annotated[int, Parameter(name="--n", validator=POSITIVE)],
    won: float,
    lost: float,
    difference: float,
    pvalue: Annotated[float, Parameter(validator=Number(gte=0, lte=1))],
    other_pvalues: Annotated[list[float] | None, Parameter(name="--other-pvalue", validator=Number(gte=0, lte=1))] = None,
    rounding: Annotated[float, Parameter(validator=Number(gte=0))] = 0.0,
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

    Examples
    --------
    ir-outcomes verdict --n 5793 --won 869 --lost 869 --difference -1.35 --pvalue 8.68e-08
    """
    from ir_outcomes.comparison.published import verdict_from_summary

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
    cutoffs: Annotated[list[int] | None, Parameter(name="--at", validator=POSITIVE)] = None,
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

    Examples
    --------
    ir-outcomes compare-cutoffs qrels.txt bm25.run bm25-stem.run --at 10 --at 100
    """
    from ir_outcomes.across.same_queries import compare_cutoffs as compare_at

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
    by: str,
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
    over_slices
        The correction of p-values over slices, shown beside each label.

    Examples
    --------
    ir-outcomes compare-slices qrels.txt bm25.run bm25-stem.run --by length --queries queries.tsv
    """
    from ir_outcomes.across.slices import compare_slices as compare_by

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
    judges: Annotated[list[str], Parameter(name="--judge")],
    baseline: str | None = None,
    reference: str | None = None,
    measures: MEASURES = None,
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

    Examples
    --------
    ir-outcomes compare-judges bm25.run bm25-stem.run --judge people=qrels.txt@1 --judge model=model.txt@2
    """
    from ir_outcomes.across.same_queries import compare_judges as compare_under

    if options.rel is not None:
        raise UsageError("--rel: write the smallest grade after each judge, such as --judge nist=qrels.txt@2.")
    sources = {name: _judge(text) for name, text in named_files(judges, "--judge").items()}
    if len(sources) < 2:
        raise UsageError("Give --judge at least twice, with different names.")
    if reference is None and measures:
        raise UsageError("--measure needs --reference.")
    evaluations = {}
    for judge, (qrels, rel) in sources.items():
        try:
            evaluations[judge] = options.evaluate(qrels, runs, rel=rel, measures=measures or ())
        except MismatchError as error:
            raise MismatchError(f"judge {judge} ({qrels}): {error}") from None
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
    baseline: str | None = None,
    contenders: Annotated[list[str] | None, Parameter(name="--contender")] = None,
    options: SuiteOptions = SuiteOptions(),
    measures: MEASURES = None,
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

    Examples
    --------
    ir-outcomes suite suite --baseline bm25
    ir-outcomes suite suite.toml -m nDCG@10
    """
    from ir_outcomes.across.collections import compare_collections
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
    to_judge: Annotated[int | None, Parameter(validator=POSITIVE)] = None,
    tests: CorrectedTests = CorrectedTests(),
    output: Output = Output(),
) -> None:
    """Show how far verdicts depend on unjudged documents.

    Unjudged documents count as not relevant. Shows whether the direction of a label would change if some of them were relevant.

    Parameters
    ----------
    to_judge
        Write up to this many pairs of query and document, those to judge first, as TSV instead of the result.

    Examples
    --------
    ir-outcomes holes qrels.txt bm25.run bm25-stem.run --cutoff 10
    ir-outcomes holes qrels.txt bm25.run bm25-stem.run --cutoff 10 --to-judge 20
    """
    from ir_outcomes.comparison.holes import holes as find_holes

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
    docs: Path | None = None,
    slices: Path | None = None,
    tests: MarginTests = MarginTests(),
    output: Annotated[Path, Parameter(alias="-o", group=OUTPUT)] = Path("report.html"),
    max_mb: Annotated[float, Parameter(group=OUTPUT, validator=Number(gt=0, lt=1000))] = 5,
    quiet: Annotated[bool, Parameter(group=OUTPUT)] = False,
) -> None:
    """Write one HTML page with every query behind the verdict.

    The page opens without a network. It shows the verdict, its pictures, all queries, and both ranked lists of a query.

    Parameters
    ----------
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

    Examples
    --------
    ir-outcomes report qrels.txt bm25.run bm25-stem.run -o report.html --queries queries.tsv
    """
    from ir_outcomes.comparison.compare import compare as compare_runs
    from ir_outcomes.showing.report import report_of
    from ir_outcomes.showing.report.queries import DEPTH

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
