"""The commands that compare runs with a baseline: on one collection, and under several conditions."""

import re
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import ir_outcomes as iro
from ir_outcomes.cli import options, output
from ir_outcomes.comparison.family import USUAL_CUTOFFS
from ir_outcomes.reading.suites import read_suite


def compare(
    qrels: options.QRELS,
    baseline: options.BASELINE,
    runs: options.CONTENDERS,
    /,
    *,
    settings: options.SystemOptions = options.SystemOptions(),
    tests: options.FamilyTests = options.FamilyTests(),
    means: options.Means = options.Means(),
    per_query: Literal["won", "lost", "better", "worse"] | None = None,
    out: output.ComparisonOutput = output.ComparisonOutput(),
    page: output.ReportOptions = output.ReportOptions(),
) -> None:
    """Compare runs with a baseline on coverage and ranking.

    Coverage is the share of queries that are answered within the cutoff. Ranking is the mean rank
    of the first relevant document on the queries that both runs answer.

    Parameters
    ----------
    per_query
        List the queries that the contender won or lost, or ranks better or worse, instead of the
        comparison.

    Examples
    --------
    ir-outcomes compare qrels.txt bm25.run bm25-stem.run --cutoff 100
    ir-outcomes compare qrels.txt bm25.run bm25-stem.run -m nDCG@10 -m RR@10
    ir-outcomes compare qrels.txt bm25.run bm25-stem.run --per-query lost --queries queries.tsv --rows 10
    """
    compared = options.evaluated_with_baseline(
        settings, qrels, baseline, runs, **page.kept(), **means.kept()
    )
    result = iro.compare(
        *compared,
        measures=means.measures or (),
        progress=output.progress_is_shown(),
        **asdict(tests),
    )
    out.draw(partial(result.plot, out.kind))
    if per_query is None:
        out.write(result)
    else:
        out.write(
            *(comparison.per_query(per_query, out.rows) for comparison in _each(result)),
            as_rows=True,
        )
    page.write(result, compared[0], qrels)


def _each(result: iro.Comparison | iro.Comparisons) -> list[iro.Comparison]:
    return [result] if isinstance(result, iro.Comparison) else list(result)


def compare_outputs(
    baseline: str,
    outputs: list[str],
    /,
    *,
    tests: options.MarginTests = options.MarginTests(),
    measure: Annotated[str | None, Parameter(name=["--measure", "-m"])] = None,
    qrels: str | None = None,
    rel: options.REL = None,
    names: options.NAMES = None,
    replicates: options.REPLICATES = None,
    higher_is_better: options.HIGHER_IS_BETTER = None,
    out: output.ComparisonOutput = output.ComparisonOutput(),
) -> None:
    """Compare runs by per-query values of other tools.

    The files are what trec_eval -q, ir_measures -q or PyTerrier wrote, or dicts of pytrec_eval or
    ranx as JSON; in a file of several runs, --names chooses them.

    Parameters
    ----------
    baseline
        Run A: a file of per-query values.
    outputs
        Run B, or several runs: files of per-query values.
    measure
        The measure to compare by; by default a reciprocal rank or ESL, or the only measure in the
        files.
    qrels
        The qrels, which say which queries are answerable.

    Examples
    --------
    ir-outcomes compare-outputs bm25.tsv bm25-stem.tsv --qrels qrels.txt
    """
    result = iro.compare_outputs(
        baseline,
        outputs if len(outputs) > 1 else outputs[0],
        measure=measure,
        qrels=qrels,
        rel=rel,
        higher_is_better=higher_is_better,
        names=names,
        replicates=replicates,
        progress=output.progress_is_shown(),
        **asdict(tests),
    )
    out.show(result, out.kind)


def verdict(
    *,
    n_queries: Annotated[int, Parameter(name="--n", validator=options.POSITIVE)],
    means: tuple[str, str] | None = None,
    won: float | None = None,
    lost: float | None = None,
    ranking_difference: Annotated[float | None, Parameter(name="--difference")] = None,
    ranking_pvalue: Annotated[
        float | None, Parameter(name="--pvalue", validator=options.SHARE)
    ] = None,
    other_pvalues: Annotated[
        tuple[float, ...], Parameter(name="--other-pvalue", validator=options.SHARE)
    ] = (),
    rounding: Annotated[float, Parameter(validator=options.NOT_NEGATIVE)] = 0.0,
    alpha: options.ALPHA = 0.05,
    out: output.Output = output.Output(),
) -> None:
    """Say what published numbers allow to conclude.

    Either two shares of answered queries, or won, lost and the difference in ranking with its
    p-value.

    Parameters
    ----------
    n_queries
        The number of answerable queries.
    means
        The shares of queries that the baseline and the contender answer, as printed: all decimals
        count.
    won
        How many queries only the contender answered.
    lost
        How many queries only the baseline answered.
    ranking_difference
        The mean search length of the contender minus that of the baseline, on the queries that both
        answered, in ranks.
    ranking_pvalue
        The p-value of that difference.
    other_pvalues
        The p-value of another test of that difference, for the harm check; may be given more than
        once.
    rounding
        How far --won and --lost may be off, in percentage points of --n: 0.5 for whole percentages.

    Examples
    --------
    ir-outcomes verdict --n 5193 --means .4439 .4400
    ir-outcomes verdict --n 5793 --won 869 --lost 869 --difference -1.35 --pvalue 8.68e-08
    """
    numbers: tuple[Any, ...] = (won, lost, ranking_difference, ranking_pvalue)
    of_means = {"baseline": ["--means"], "contender": ["--means"]}
    output.CALL.options = {**output.CALL.options, **of_means}
    if means is not None and (*numbers, *other_pvalues, rounding) == (None, None, None, None, 0):
        out.write(iro.verdict_from_means(n_queries, *means, alpha=alpha))
    elif means is None and None not in numbers:
        out.write(
            iro.verdict_from_summary(
                n_queries, *numbers, other_pvalues=other_pvalues, alpha=alpha, rounding=rounding
            )
        )
    else:
        raise options.UsageError(
            "Give either --means, or --won, --lost, --difference and --pvalue."
        )


def compare_cutoffs(
    qrels: options.QRELS,
    baseline: options.BASELINE,
    runs: options.CONTENDERS,
    /,
    *,
    settings: options.RunOptions = options.RunOptions(),
    cutoffs: options.CUTOFFS = USUAL_CUTOFFS,
    tests: options.CorrectedTests = options.CorrectedTests(),
    resamples: options.RESAMPLES = 9999,
    seed: options.SEED = 0,
    out: output.PlotOutput = output.PlotOutput(),
    kind: Annotated[Literal["curve", "forest"], output.PLOT_KIND] = "curve",
) -> None:
    """Compare runs at several cutoffs.

    --plot draws how much each run finds by every rank, with a band around the difference.

    Parameters
    ----------
    cutoffs
        The cutoffs, separated by commas.
    kind
        The figure of --plot: what is found by every rank (curve), or the effects at each cutoff
        (forest).

    Examples
    --------
    ir-outcomes compare-cutoffs qrels.txt bm25.run bm25-stem.run --cutoffs 10,100
    """
    compared = options.evaluated_with_baseline(settings, qrels, baseline, runs)
    result = iro.compare_cutoffs(
        *compared,
        cutoffs=cutoffs,
        seed=seed,
        resamples=resamples,
        **asdict(tests),
    )
    out.show(result, kind)


def compare_slices(
    qrels: options.QRELS,
    baseline: options.BASELINE,
    runs: options.CONTENDERS,
    /,
    *,
    by: str,
    settings: options.RunOptions = options.RunOptions(),
    tests: options.CorrectedTests = options.CorrectedTests(),
    over_slices: options.CORRECTION = "fdr_bh",
    means: options.Means = options.Means(),
    resamples: options.RESAMPLES = 9999,
    seed: options.SEED = 0,
    out: output.PlotOutput = output.PlotOutput(),
    page: output.ReportOptions = output.ReportOptions(),
) -> None:
    """Compare runs on slices of the queries.

    First tests whether the slices differ at all.

    Parameters
    ----------
    by
        The slices: a file with a query id, a tab and a label on each line; or length, which groups
        queries by their number of words.
    over_slices
        The correction of p-values over slices, shown beside each label.

    Examples
    --------
    ir-outcomes compare-slices qrels.txt bm25.run bm25-stem.run --by length --queries queries.tsv
    """
    compared = options.evaluated_with_baseline(
        settings, qrels, baseline, runs, **page.kept(), **means.kept()
    )
    result = iro.compare_slices(
        *compared,
        by=by,
        measures=means.measures or (),
        over_slices=over_slices,
        seed=seed,
        resamples=resamples,
        **asdict(tests),
    )
    out.show(result)
    page.write(result, compared[0], qrels)


def compare_judges(
    runs: options.RUNS,
    /,
    *,
    judges: Annotated[list[str], Parameter(name="--judge")],
    baseline: str | None = None,
    reference: str | None = None,
    measures: options.MEASURES = None,
    settings: options.RunOptions = options.RunOptions(),
    tests: options.CorrectedTests = options.CorrectedTests(),
    out: output.PlotOutput = output.PlotOutput(),
) -> None:
    """Compare runs under the qrels of several judges.

    Parameters
    ----------
    judges
        NAME=QRELS[@REL], once for each judge: the qrels, and the smallest relevant grade (by
        default --rel).
    baseline
        The name of the baseline; by default the first run.
    reference
        The judge that is the truth, on a random sample of the queries or on all: audit the others
        by it.
    measures
        Also audit this measure, such as nDCG@10; may be given more than once.

    Examples
    --------
    ir-outcomes compare-judges bm25.run bm25-stem.run --judge people=qrels.txt@1 --judge model=model.txt@2
    """
    if measures and reference is None:
        raise options.UsageError("--measure is for an audit, which needs --reference.")
    evaluations = {}
    for judge, source in options.named_files(judges, "--judge").items():
        qrels, *grade = re.split("@(?=[1-9][0-9]*$)", source)
        rel = int(grade[0]) if grade else settings.rel
        try:
            evaluations[judge] = settings.evaluate(qrels, runs, rel=rel, measures=measures or ())
        except iro.MismatchError as error:
            raise iro.MismatchError(f"judge {judge} ({qrels}): {error}") from None
    first = next(iter(evaluations.values())).names[0]
    result = iro.compare_judges(
        evaluations,
        baseline or first,
        reference=reference,
        measures=measures or (),
        **asdict(tests),
    )
    out.show(result)


def compare_collections(
    suite: str,
    /,
    *,
    baseline: str | None = None,
    contenders: Annotated[list[str] | None, Parameter(name="--contender")] = None,
    settings: options.SuiteOptions = options.SuiteOptions(),
    measures: options.MEASURES = None,
    tests: options.CorrectedTests = options.CorrectedTests(),
    over_collections: options.CORRECTION = "holm",
    allow: Annotated[list[Literal["cutoff"]] | None, Parameter(group=options.STATISTICS)] = None,
    out: output.PlotOutput = output.PlotOutput(),
    page: output.ReportOptions = output.ReportOptions(),
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
    ir-outcomes compare-collections suite --baseline bm25
    """
    found = read_suite(suite)
    evaluations = iro.evaluate_suite(
        found, measures=measures or (), documents=page.documents, **settings.settings()
    )
    options.note_on_grades(settings.rel, *evaluations.values())
    first = baseline or found.baseline
    if first is None:
        first = found.systems[0]
        output.note(f"the baseline is {first}; choose another one with --baseline")
    result = iro.compare_collections(
        evaluations,
        first,
        contenders or None,
        over_collections=over_collections,
        measures=measures or (),
        groups=found.groups or None,
        allow=tuple(allow or ()),
        **asdict(tests),
    )
    out.show(result)
    page.write(result, evaluations)


def holes(
    qrels: options.QRELS,
    baseline: options.BASELINE,
    runs: options.CONTENDERS,
    /,
    *,
    settings: options.RunOptions = options.RunOptions(),
    to_judge: Annotated[int | None, Parameter(validator=options.POSITIVE)] = None,
    tests: options.CorrectedTests = options.CorrectedTests(),
    out: output.Output = output.Output(),
) -> None:
    """Show how far verdicts depend on unjudged documents.

    Shows whether the direction of a label would change if some of them were relevant.

    Parameters
    ----------
    to_judge
        Write up to this many pairs of query and document, those to judge first, as TSV instead of
        the result.

    Examples
    --------
    ir-outcomes holes qrels.txt bm25.run bm25-stem.run --cutoff 10 --to-judge 20
    """
    compared = options.evaluated_with_baseline(settings, qrels, baseline, runs, unjudged=True)
    result = iro.holes(*compared, progress=output.progress_is_shown(), **asdict(tests))
    if to_judge is None:
        out.write(result)
    else:
        out.write_text(result.to_tsv(to_judge).rstrip())


def plan(
    qrels: options.QRELS,
    baseline: options.BASELINE,
    runs: options.CONTENDERS,
    /,
    *,
    settings: options.SystemOptions = options.SystemOptions(),
    tests: options.MarginTests = options.MarginTests(),
    out: output.Output = output.Output(),
) -> None:
    """Show how many queries it takes to detect a difference.

    The runs are a pilot. The differences, found with 80 % power, are those of --margins, by default
    1 percentage point and 0.5 ranks. Of a system with several runs it also shows how many runs, and
    how many queries, halve the interval for new runs.

    Examples
    --------
    ir-outcomes plan qrels.txt bm25.run bm25-stem.run --margins 2pp,1ranks
    """
    compared = options.evaluated_with_baseline(settings, qrels, baseline, runs)
    result = iro.compare(*compared, progress=output.progress_is_shown(), **asdict(tests))
    out.write(*(iro.plan(comparison, *(tests.margins or ())) for comparison in _each(result)))


def report(
    qrels: options.QRELS,
    baseline: options.BASELINE,
    runs: options.CONTENDERS,
    /,
    *,
    settings: options.RunOptions = options.RunOptions(),
    tests: options.MarginTests = options.MarginTests(),
    means: options.Means = options.Means(),
    slices: Path | None = None,
    path: Annotated[Path, Parameter(name=["--output", "-o"]), output.PAGE] = Path("report.html"),
    page: output.PageOptions = output.PageOptions(),
    quiet: output.QUIET = False,
) -> None:
    """Write an HTML page with every query behind a verdict.

    The page opens without a network. It is that of compare --report.

    Parameters
    ----------
    slices
        The slices by which the page can filter: a file with a query id, a tab and a label on each
        line.
    path
        The file that the page is written to.

    Examples
    --------
    ir-outcomes report qrels.txt bm25.run bm25-stem.run -o report.html --queries queries.tsv
    """
    compared = options.evaluated_with_baseline(
        settings, qrels, baseline, runs, **page.kept(), **means.kept()
    )
    result = iro.compare(
        *compared,
        measures=means.measures or (),
        progress=output.progress_is_shown(),
        **asdict(tests),
    )
    page.save(path, result, compared[0], [qrels], slices=slices)
