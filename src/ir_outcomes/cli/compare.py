"""The commands that compare runs with a baseline on one collection."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import ir_outcomes as iro
from ir_outcomes.cli.options import (
    ALPHA,
    BASELINE,
    CLUSTERS,
    CONTENDERS,
    HIGHER_IS_BETTER,
    NAMES,
    NOT_NEGATIVE,
    POSITIVE,
    QRELS,
    REL,
    REPLICATES,
    SHARE,
    TRIALS,
    CorrectedTests,
    FamilyTests,
    MarginTests,
    Means,
    RunOptions,
    SystemOptions,
    UsageError,
    evaluated_with_baseline,
)
from ir_outcomes.cli.output import (
    CALL,
    PAGE,
    QUIET,
    ComparisonOutput,
    Output,
    PageOptions,
    ReportOptions,
    note,
    progress_is_shown,
)

DEFAULT_PAGE = Path("report.html")


def compare(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    /,
    *,
    settings: SystemOptions = SystemOptions(),
    tests: FamilyTests = FamilyTests(),
    means: Means = Means(),
    per_query: Literal["won", "lost", "better", "worse"] | None = None,
    out: ComparisonOutput = ComparisonOutput(),
    page: ReportOptions = ReportOptions(),
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
    ir-outcomes compare qrels.txt bm25.run bm25-stem.run --per-query lost
    """
    compared = evaluated_with_baseline(
        settings, qrels, baseline, runs, **page.kept(), **means.kept()
    )
    result = iro.compare(
        *compared,
        measures=means.measures,
        progress=progress_is_shown(),
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
    outputs: list[str] | None = None,
    /,
    *,
    tests: MarginTests = MarginTests(),
    measure: Annotated[str | None, Parameter(name=["--measure", "-m"])] = None,
    qrels: str | None = None,
    rel: REL = None,
    names: NAMES = None,
    trials: TRIALS = None,
    clusters: CLUSTERS = None,
    replicates: REPLICATES = None,
    higher_is_better: HIGHER_IS_BETTER = None,
    out: ComparisonOutput = ComparisonOutput(),
) -> None:
    """Compare runs by per-query values of other tools.

    The files are what trec_eval -q, ir_measures -q or PyTerrier wrote; tables (CSV, TSV, JSON lines,
    JSON) with a row for each query and a column for each measure; or dicts of pytrec_eval or ranx as
    JSON. A file of several runs is given alone, and --names chooses them.

    Parameters
    ----------
    baseline
        Run A: a file of per-query values; or a file of several runs, the first of them run A.
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
    contenders = outputs if outputs is None or len(outputs) > 1 else outputs[0]
    result = iro.compare_outputs(
        baseline,
        contenders,
        measure=measure,
        qrels=qrels,
        rel=rel,
        higher_is_better=higher_is_better,
        names=names,
        trials=trials,
        clusters=clusters,
        replicates=replicates,
        progress=progress_is_shown(),
        **asdict(tests),
    )
    out.show(result, out.kind)


def verdict(
    *,
    n_queries: Annotated[int, Parameter(name="--n", validator=POSITIVE)],
    means: tuple[str, str] | None = None,
    won: float | None = None,
    lost: float | None = None,
    ranking_difference: Annotated[float | None, Parameter(name="--difference")] = None,
    ranking_pvalue: Annotated[float | None, Parameter(name="--pvalue", validator=SHARE)] = None,
    other_pvalues: Annotated[
        tuple[float, ...], Parameter(name="--other-pvalue", validator=SHARE)
    ] = (),
    rounding: Annotated[float, Parameter(validator=NOT_NEGATIVE)] = 0.0,
    alpha: ALPHA = 0.05,
    out: Output = Output(),
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
    ir-outcomes verdict --n 100 --won 20 --lost 9 --difference 0.5 --pvalue 0.03
    """
    numbers: tuple[Any, ...] = (won, lost, ranking_difference, ranking_pvalue)
    of_means = {"baseline": ["--means"], "contender": ["--means"]}
    CALL.options = {**CALL.options, **of_means}
    if means is not None and (*numbers, *other_pvalues, rounding) == (None, None, None, None, 0):
        out.write(iro.verdict_from_means(n_queries, *means, alpha=alpha))
    elif means is None and None not in numbers:
        out.write(
            iro.verdict_from_summary(
                n_queries, *numbers, other_pvalues=other_pvalues, alpha=alpha, rounding=rounding
            )
        )
    else:
        raise UsageError("Give either --means, or --won, --lost, --difference and --pvalue.")


def holes(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    /,
    *,
    settings: RunOptions = RunOptions(),
    to_judge: Annotated[int | None, Parameter(validator=POSITIVE)] = None,
    tests: CorrectedTests = CorrectedTests(),
    out: Output = Output(),
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
    compared = evaluated_with_baseline(settings, qrels, baseline, runs, unjudged=True)
    result = iro.holes(*compared, progress=progress_is_shown(), **asdict(tests))
    if to_judge is None:
        out.write(result)
    else:
        out.write_text(result.to_tsv(to_judge).rstrip())


def plan(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    /,
    *,
    settings: SystemOptions = SystemOptions(),
    tests: MarginTests = MarginTests(),
    out: Output = Output(),
) -> None:
    """Show how many queries it takes to detect a difference.

    The runs are a pilot. The differences, found with 80 % power, are those of --margins, by default
    1 percentage point and 0.5 ranks.

    Examples
    --------
    ir-outcomes plan qrels.txt bm25.run bm25-stem.run --margins 2pp,1ranks
    """
    compared = evaluated_with_baseline(settings, qrels, baseline, runs)
    result = iro.compare(*compared, progress=progress_is_shown(), **asdict(tests))
    out.write(*(iro.plan(comparison, *(tests.margins or ())) for comparison in _each(result)))


def report(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    /,
    *,
    settings: SystemOptions = SystemOptions(),
    tests: MarginTests = MarginTests(),
    means: Means = Means(),
    slices: Path | None = None,
    path: Annotated[Path, Parameter(name=["--output", "-o"]), PAGE] = DEFAULT_PAGE,
    page: PageOptions = PageOptions(),
    quiet: QUIET = False,
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
    ir-outcomes report qrels.txt bm25.run bm25-stem.run -o report.html
    """
    compared = evaluated_with_baseline(
        settings, qrels, baseline, runs, **page.kept(), **means.kept()
    )
    result = iro.compare(
        *compared,
        measures=means.measures,
        progress=progress_is_shown(),
        **asdict(tests),
    )
    page.save(path, result, compared[0], [qrels], slices=slices)
    if path == DEFAULT_PAGE:
        note(f"the page is {path}; open it in a browser, or choose its name with --output")
