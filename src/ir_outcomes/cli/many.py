"""The commands for many runs, and for the far end of the lists."""

from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import ir_outcomes as iro
from ir_outcomes.cli.options import (
    ALPHA,
    CORRECTION,
    LEVEL,
    MEASURES,
    POSITIVE,
    QRELS,
    RESAMPLES,
    RUNS,
    SEED,
    SHARED_CUTOFF,
    STATISTICS,
    EvaluateOptions,
    RunOptions,
    Sources,
    SystemOptions,
    TailOptions,
    TailRules,
    UsageError,
    named_files,
    run_files,
)
from ir_outcomes.cli.output import (
    PLOT_KIND,
    QUIET,
    TARGET,
    Output,
    PlotOutput,
    ReportOptions,
    note_of_old_file,
    progress_is_shown,
)
from ir_outcomes.evaluation.evaluation import is_saved


def evaluate(
    qrels: QRELS,
    runs: RUNS,
    /,
    *,
    path: Annotated[Path, Parameter(name=["--output", "-o"]), TARGET],
    settings: SystemOptions = SystemOptions(),
    measures: MEASURES = (),
    quiet: QUIET = False,
) -> None:
    """Evaluate runs once, into a file that stands for them.

    Parameters
    ----------
    path
        The file to write (.npz).
    measures
        Also keep the values of this measure, such as nDCG@10; may be given more than once.

    Examples
    --------
    ir-outcomes evaluate qrels.txt *.run -o board.npz
    """
    evaluation = settings.evaluate_all(qrels, runs, measures=measures)
    note_of_old_file(path)
    evaluation.save(path)


def leaderboard(
    qrels: QRELS,
    runs: RUNS | None = None,
    /,
    *,
    sources: Sources = Sources(),
    settings: SystemOptions = SystemOptions(),
    order: Literal["measure", "wins"] | None = None,
    entries: Path | None = None,
    alpha: ALPHA = 0.05,
    correction: CORRECTION = "holm",
    out: PlotOutput = PlotOutput(),
    kind: Annotated[Literal["tiers", "verdicts", "history"], PLOT_KIND] = "tiers",
    page: ReportOptions = ReportOptions(),
) -> None:
    """Order runs by a measure, with tiers and verdicts.

    Compares each run with the run above it and with the best. The first measure orders the runs; by
    default it is the reciprocal rank within the cutoff, and where the unit is documents pairs won
    less pairs lost.

    Parameters
    ----------
    order
        What orders the runs: the first measure, or pairs won less pairs lost by the verdicts
        (wins), then the measure.
    entries
        Dates and groups of the runs, for --plot-kind history: a CSV or JSON file with id, date and
        group.
    correction
        The correction of p-values over all pairs.
    kind
        The figure of --plot.

    Examples
    --------
    ir-outcomes leaderboard qrels.txt *.run --measure nDCG@10 --plot tiers.pdf
    """
    source, measures = sources.read(qrels, runs, settings, **page.kept())
    result = iro.leaderboard(
        source,
        measures=measures,
        order=order,
        alpha=alpha,
        correction=correction,
        entries=entries,
        progress=progress_is_shown(),
    )
    out.show(result, kind)
    page.write(result, None if sources.from_outputs else source, qrels)


def sota_history(
    entries: str,
    /,
    *,
    score: str | None = None,
    until: str | None = None,
    lower_is_better: bool = False,
    out: PlotOutput = PlotOutput(),
) -> None:
    """Find the submissions that took first place.

    Parameters
    ----------
    entries
        The leaderboard: a CSV or JSON file with id, date and score.
    score
        The name of the column with the score; by default score, or the one with eval in its name.
    until
        Leave out entries after this date, such as 2021-02-15.
    lower_is_better
        Smaller scores are better.

    Examples
    --------
    ir-outcomes sota-history leaderboard.csv --until 2021-02-15
    """
    out.show(
        iro.sota_history(entries, score=score, until=until, higher_is_better=not lower_is_better)
    )


def rank_distribution(
    qrels: QRELS,
    runs: RUNS | None = None,
    /,
    *,
    sources: Sources = Sources(),
    cutoff: SHARED_CUTOFF = None,
    settings: EvaluateOptions = EvaluateOptions(),
    subsets: Annotated[list[str] | None, Parameter(name="--subset")] = None,
    labels: list[str] | None = None,
    top_k: Annotated[int, Parameter(name="--top", validator=POSITIVE)] = 5,
    level: Annotated[float, Parameter(group=STATISTICS, validator=LEVEL)] = 0.95,
    resamples: RESAMPLES = 1000,
    seed: SEED = 0,
    out: PlotOutput = PlotOutput(),
) -> None:
    """Rank the runs on bootstrap resamples of the queries.

    Shows how far the ranks depend on the choice of queries, for each measure, each qrels and each
    subset of the queries.

    Parameters
    ----------
    subsets
        NAME=FILE: also rank the runs on the queries in this file only; it has one id on each line.
    labels
        NAME=QRELS: also rank the runs by these other qrels.
    top_k
        Report how often each run is among the first so many.
    level
        The confidence level of the intervals of ranks.

    Examples
    --------
    ir-outcomes rank-distribution qrels.txt *.run -m RR@10 -m nDCG@10
    """
    sets = {"": None, **named_files(subsets, "--subset")}
    judgments = {"": qrels, **named_files(labels, "--labels")}
    results = {}
    for label, judged in judgments.items():
        source, measures = sources.read(judged, runs, settings, cutoff=cutoff)
        for measure, (subset, file) in product(measures or (None,), sets.items()):
            condition = ", ".join(filter(None, (label, subset)))
            result = iro.rank_distribution(
                source,
                measure=measure,
                queries=file,
                resamples=resamples,
                seed=seed,
                top_k=top_k,
                level=level,
                condition=condition,
                progress=progress_is_shown(),
            )
            results[f"{result.measure}\n{condition}".strip()] = result
    plot = result.plot
    if len(results) > 1:
        from ir_outcomes.showing.figures.leaderboards import conditions_plot

        plot = partial(conditions_plot, results)
    out.draw(plot)
    out.write(*results.values())


def agreement(
    qrels: QRELS,
    runs: RUNS | None = None,
    /,
    *,
    sources: Sources = Sources(),
    settings: RunOptions = RunOptions(),
    splits: Annotated[int, Parameter(validator=POSITIVE)] = 100,
    pairs: Annotated[int, Parameter(validator=POSITIVE)] = 20_000,
    alpha: ALPHA = 0.05,
    seed: SEED = 0,
    out: Output = Output(),
) -> None:
    """Count how often verdicts agree on halves of queries.

    Divides the queries at random, many times, and counts how often both halves give a pair of runs
    the same verdict, and how often each significance test decides alike, by default by the
    reciprocal rank and nDCG@10 (of saved evaluations, where it was kept).

    Parameters
    ----------
    splits
        The number of random splits into halves.
    pairs
        The most pairs of runs to judge; of more, a random sample of so many is drawn.

    Examples
    --------
    ir-outcomes agreement qrels.txt *.run --splits 10
    """
    kept = [iro.load_evaluation(run).scores for run in runs or () if is_saved(run)]
    has_it = [any(scores.measure == "nDCG@10" for scores in known) for known in kept]
    default = ["nDCG@10"] if all(has_it) else []
    source, measures = sources.read(qrels, runs, settings, default=default)
    result = iro.agreement(
        source,
        measures=measures,
        splits=splits,
        seed=seed,
        alpha=alpha,
        pairs=pairs,
        n_jobs=settings.n_jobs,
        progress=progress_is_shown(),
    )
    out.write(result)


def reordering(
    qrels: QRELS,
    runs: RUNS,
    /,
    *,
    measures: MEASURES = (),
    settings: TailOptions = TailOptions(),
    rules: TailRules = TailRules(),
    out: Output = Output(),
) -> None:
    """Show how runs are reordered by another measure.

    By default in steps from average precision (AP) to atomized search length (ASL).

    Parameters
    ----------
    measures
        A measure; give at least two, the old one first.

    Examples
    --------
    ir-outcomes reordering qrels.txt *.run
    """
    evaluation = settings.evaluate_all(qrels, runs, measures=measures)
    out.write(iro.reordering(evaluation, measures=measures or None, **asdict(rules)))


def tail(
    qrels: QRELS,
    runs: RUNS,
    /,
    *,
    show: Literal["lengths", "changes", "rrie", "headroom"] = "lengths",
    bins: Annotated[int | None, Parameter(validator=POSITIVE)] = None,
    settings: TailOptions = TailOptions(),
    rules: TailRules = TailRules(),
    out: PlotOutput = PlotOutput(),
    kind: Annotated[
        Literal["top precision", "top length", "precision", "length"] | None, PLOT_KIND
    ] = None,
) -> None:
    """Show where all relevant documents are ranked.

    Parameters
    ----------
    show
        The distribution of search lengths (lengths); between two runs their changes (changes) or
        the relative reduction in error (rrie); or the distribution of what the best run leaves to
        gain (headroom).
    bins
        The number of buckets of equal width, of lengths (by default 10) and of changes (by default
        growing buckets).
    kind
        The figure of --show headroom; quote a name of two words.

    Examples
    --------
    ir-outcomes tail qrels.txt bm25.run rrf-stem-lsa.run --show changes --bins 9
    """
    if show == "rrie" and out.plot is not None:
        raise UsageError("--plot is not for --show rrie, which has no figure.")
    if bins is not None and show not in ("lengths", "changes"):
        raise UsageError("--bins is for --show lengths and --show changes.")
    files = run_files(runs)
    if show in ("changes", "rrie") and len(files) != 2:
        raise UsageError(
            f"--show {show} is for two runs, the baseline and the contender; there are"
            f" {len(files)}."
        )
    evaluation = settings.evaluate(qrels, files)
    result: Any
    if show == "lengths":
        result = iro.length_distributions(evaluation, bins=bins or 10, **asdict(rules))
    elif show == "changes":
        result = iro.length_changes(evaluation, *evaluation.names, bins=bins, **asdict(rules))
    elif show == "rrie":
        result = iro.rrie(evaluation, *evaluation.names, **asdict(rules))
    else:
        result = iro.headroom(evaluation, **asdict(rules))
    out.show(result, kind)
