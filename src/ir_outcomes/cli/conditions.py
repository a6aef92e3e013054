"""The commands that compare runs with a baseline under several conditions: cutoffs, slices, judges, collections."""

import re
from dataclasses import asdict
from typing import Annotated, Literal

from cyclopts import Parameter

import ir_outcomes as iro
from ir_outcomes.cli.options import (
    BASELINE,
    CONTENDERS,
    CUTOFFS,
    MEASURES,
    QRELS,
    RESAMPLES,
    RUNS,
    SEED,
    STATISTICS,
    CorrectedTests,
    Means,
    RunOptions,
    SuiteOptions,
    UsageError,
    evaluated_with_baseline,
    named_files,
    note_on_grades,
    run_files,
)
from ir_outcomes.cli.output import PLOT_KIND, PlotOutput, ReportOptions, note
from ir_outcomes.comparison.family import USUAL_CUTOFFS
from ir_outcomes.reading.collections import read_suite


def compare_cutoffs(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    /,
    *,
    settings: RunOptions = RunOptions(),
    cutoffs: CUTOFFS = USUAL_CUTOFFS,
    tests: CorrectedTests = CorrectedTests(),
    resamples: RESAMPLES = 9999,
    seed: SEED = 0,
    out: PlotOutput = PlotOutput(),
    kind: Annotated[Literal["curve", "forest"], PLOT_KIND] = "curve",
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
    ir-outcomes compare-cutoffs qrels.txt bm25.run bm25-stem.run --cutoffs 10,50
    """
    compared = evaluated_with_baseline(settings, qrels, baseline, runs)
    result = iro.compare_cutoffs(
        *compared,
        cutoffs=cutoffs,
        seed=seed,
        resamples=resamples,
        **asdict(tests),
    )
    out.show(result, kind)


def compare_slices(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    /,
    *,
    by: str,
    settings: RunOptions = RunOptions(),
    tests: CorrectedTests = CorrectedTests(),
    means: Means = Means(),
    resamples: RESAMPLES = 9999,
    seed: SEED = 0,
    out: PlotOutput = PlotOutput(),
    page: ReportOptions = ReportOptions(),
) -> None:
    """Compare runs on slices of the queries.

    First tests whether the slices differ at all.

    Parameters
    ----------
    by
        The slices: a file with a query id, a tab and a label on each line; or length, which groups
        queries by their number of words.

    Examples
    --------
    ir-outcomes compare-slices qrels.txt *.run --by length --queries queries.tsv
    """
    compared = evaluated_with_baseline(
        settings, qrels, baseline, runs, **page.kept(), **means.kept()
    )
    result = iro.compare_slices(
        *compared,
        by=by,
        measures=means.measures,
        seed=seed,
        resamples=resamples,
        **asdict(tests),
    )
    out.show(result)
    page.write(result, compared[0], qrels)


def compare_judges(
    runs: RUNS,
    /,
    *,
    judges: Annotated[list[str], Parameter(name="--judge")],
    baseline: str | None = None,
    reference: str | None = None,
    measures: MEASURES = (),
    settings: RunOptions = RunOptions(),
    tests: CorrectedTests = CorrectedTests(),
    out: PlotOutput = PlotOutput(),
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
    ir-outcomes compare-judges *.run --judge me=qrels.txt --judge llm=llm.txt@2
    """
    if measures and reference is None:
        raise UsageError("--measure is for an audit, which needs --reference.")
    evaluations = {}
    files = run_files(runs)
    for judge, source in named_files(judges, "--judge").items():
        qrels, *grade = re.split("@(?=[1-9][0-9]*$)", source)
        rel = int(grade[0]) if grade else settings.rel
        try:
            evaluations[judge] = settings.evaluate(qrels, files, rel=rel, measures=measures)
        except iro.MismatchError as error:
            raise iro.MismatchError(f"judge {judge} ({qrels}): {error}") from None
    first = next(iter(evaluations.values())).names[0]
    result = iro.compare_judges(
        evaluations,
        baseline or first,
        reference=reference,
        measures=measures,
        **asdict(tests),
    )
    out.show(result)


def compare_collections(
    suite: str,
    /,
    *,
    baseline: str | None = None,
    contenders: Annotated[list[str] | None, Parameter(name="--contender")] = None,
    settings: SuiteOptions = SuiteOptions(),
    measures: MEASURES = (),
    tests: CorrectedTests = CorrectedTests(),
    allow: Annotated[list[Literal["cutoff"]] | None, Parameter(group=STATISTICS)] = None,
    out: PlotOutput = PlotOutput(),
    page: ReportOptions = ReportOptions(),
) -> None:
    """Compare systems on several collections.

    Shows what holds on average over these collections, and what to expect of a new one.

    Parameters
    ----------
    suite
        A folder of collections and runs, or a TOML or JSON file that lists them.
    baseline
        The name of the baseline; by default the first system.
    contenders
        The name of a contender; may be given more than once. By default all other systems.
    measures
        Also pool this measure, such as nDCG@10; may be given more than once.
    allow
        A setting that may differ between the collections.

    Examples
    --------
    ir-outcomes compare-collections suite --baseline bm25
    """
    found = read_suite(suite)
    evaluations = iro.evaluate_suite(
        found, measures=measures, documents=page.documents, **settings.settings()
    )
    note_on_grades(settings.rel, *evaluations.values())
    first = baseline
    if first is None:
        first = found.systems[0]
        note(f"the baseline is {first}; choose another one with --baseline")
    result = iro.compare_collections(
        evaluations,
        first,
        contenders or None,
        measures=measures,
        allow=tuple(allow or ()),
        **asdict(tests),
    )
    out.show(result)
    page.write(result, evaluations)
