"""The commands for many runs: leaderboard, history, stability, agreement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ir_outcomes.cli.groups import add_command
from ir_outcomes.cli.options import (
    ALPHA,
    CORRECTION,
    CUTOFF,
    HIGHER_IS_BETTER,
    RESAMPLES,
    SEED,
    EvaluateOptions,
    OneOrderOptions,
    RunOptions,
    bounded,
    choice,
    named_files,
    usage_error,
)
from ir_outcomes.cli.streams import progress_is_shown
from ir_outcomes.cli.writing import WriteOptions, save_figure

if TYPE_CHECKING:
    from ir_outcomes.evaluation.scores import Scores

__all__ = ["register"]

QRELS_OR_OUTPUT = Annotated[
    str,
    typer.Argument(
        metavar="QRELS", help="The qrels file or an ir_datasets id; with --from-outputs the file of the first run, or a table."
    ),
]
RUNS_OR_OUTPUTS = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN...", help="The runs: files, or directories of run files; with --from-outputs the files of the other runs."
    ),
]
FROM_OUTPUTS = Annotated[
    bool,
    typer.Option(
        "--from-outputs",
        help="Instead of qrels and runs, take per-query values: files that trec_eval -q, ir_measures -q or PyTerrier wrote, "
        "one for each run; or a single table, CSV or tab-separated, with a row for each run and a column for each query.",
    ),
]
MEASURES = Annotated[
    list[str] | None, typer.Option("--measure", "-m", help="A measure, such as nDCG@10; give it once for each measure.")
]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_command(
        app,
        leaderboard,
        "ir-outcomes leaderboard qrels.txt *.run --cutoff 100",
        "ir-outcomes leaderboard qrels.txt *.run --measure nDCG@10 --measure AP --measure coverage --format latex",
    )
    add_command(app, history, "ir-outcomes history leaderboard.csv --until 2021-02-15")
    add_command(
        app,
        stability,
        "ir-outcomes stability qrels.txt *.run --resamples 200",
        "ir-outcomes stability qrels.txt *.run -m RR@10 -m nDCG@10 --resamples 200 --plot ranks.pdf",
    )
    add_command(app, agreement, "ir-outcomes agreement qrels.txt *.run --splits 10")


def leaderboard(
    qrels: QRELS_OR_OUTPUT,
    options: RunOptions,
    written: WriteOptions,
    runs: RUNS_OR_OUTPUTS = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            help="A measure such as nDCG@10, or coverage, ranking or all queries; give it once for each column, first the one "
            "that orders the runs (by default the reciprocal rank within the cutoff).",
        ),
    ] = None,
    from_outputs: FROM_OUTPUTS = False,
    higher_is_better: HIGHER_IS_BETTER = None,
    alpha: ALPHA = 0.05,
    correction: CORRECTION = "holm",
    entries: Annotated[
        Path | None, typer.Option(help="Dates and groups of the runs: a CSV or JSON file with id, date and group.")
    ] = None,
    kind: Annotated[
        Any, choice(("tiers", "verdicts", "history"), "--plot-kind", help="The figure that --plot draws.")
    ] = "tiers",
) -> None:
    """Order runs by a measure, with tiers and verdicts.

    Shows what is significantly better than what by each measure, and compares each run with the run above it and with the best.
    """
    from ir_outcomes.leaderboards.board import FACETS
    from ir_outcomes.leaderboards.board import leaderboard as order_runs

    if written.plot is not None and kind == "history" and entries is None:
        raise usage_error("--plot-kind history needs --entries.")
    if written.plot is not None and kind == "verdicts" and from_outputs:
        raise usage_error("--plot-kind verdicts needs the runs; --from-outputs has no verdicts.")
    source: Any
    if from_outputs:
        source, measures = _scores_of_one(qrels, runs, measures, higher_is_better, options), None
    else:
        kept = [measure for measure in measures or () if measure not in FACETS]
        source = options.evaluate(qrels, _needed(runs), measures=kept, directions=higher_is_better)
    result = order_runs(
        source, measures=measures, alpha=alpha, correction=correction, entries=entries, progress=progress_is_shown()
    )
    written.write(result, plot_kind=kind)


def history(
    entries: Annotated[
        str, typer.Argument(metavar="ENTRIES", help="The leaderboard: a CSV or JSON file with id, date and score.")
    ],
    written: WriteOptions,
    score: Annotated[
        str | None,
        typer.Option(help="The name of the column with the score; by default score, or the one with eval in its name."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="Leave out entries after this date, such as 2021-02-15.")
    ] = None,
    lower_is_better: Annotated[bool, typer.Option("--lower-is-better", help="Smaller scores are better.")] = False,
) -> None:
    """Find the submissions that took first place.

    Needs only the dates and scores of a leaderboard, no runs.
    """
    from ir_outcomes.leaderboards.history import sota_history

    written.write(sota_history(entries, score=score, until=until, higher_is_better=not lower_is_better))


def stability(
    qrels: QRELS_OR_OUTPUT,
    options: OneOrderOptions,
    written: WriteOptions,
    runs: RUNS_OR_OUTPUTS = None,
    measures: MEASURES = None,
    cutoff: CUTOFF = None,
    from_outputs: FROM_OUTPUTS = False,
    higher_is_better: HIGHER_IS_BETTER = None,
    subsets: Annotated[
        list[str] | None,
        typer.Option(
            "--subset",
            metavar="NAME=FILE",
            help="Also rank the runs on the queries in this file only; it has one id on each line.",
        ),
    ] = None,
    labels: Annotated[
        list[str] | None, typer.Option("--labels", metavar="NAME=QRELS", help="Also rank the runs by these other qrels.")
    ] = None,
    resamples: RESAMPLES = 1000,
    top: Annotated[int, typer.Option(min=1, help="Report how often each run is among the first so many.")] = 5,
    level: Annotated[
        float, typer.Option(parser=bounded(0, 1), metavar="<float>", help="The confidence level of the intervals of ranks.")
    ] = 0.95,
    seed: SEED = 0,
    kind: Annotated[
        Any, choice(("ranks", "tau"), "--plot-kind", help="The figure that --plot draws; conditions are drawn together.")
    ] = "ranks",
) -> None:
    """Rank the runs on bootstrap resamples of the queries.

    Shows how far the ranks depend on the choice of queries, for each measure, each qrels and each subset of the queries.
    """
    from ir_outcomes.leaderboards.stability import rank_distribution

    sets = {"": None, **named_files(subsets, "--subset")}
    judgments = {"": qrels, **named_files(labels, "--labels")}
    if measures and (cutoff is not None or (not from_outputs and _settings_of_runs(options))):
        raise usage_error(
            "--cutoff, --rel, --ties and --judged-only are for the default measure; write them into --measure, "
            "as in RR(rel=2)@10."
        )
    if from_outputs and (cutoff is not None or labels):
        raise usage_error("--cutoff and --labels need runs; outputs are values of one measure.")
    results = {}
    for label, judged in judgments.items():
        for source, measure in _sources(judged, runs, measures, cutoff, from_outputs, higher_is_better, options):
            for subset, file in sets.items():
                condition = ", ".join(filter(None, (label, subset)))
                result = rank_distribution(
                    source, measure=measure, queries=file, resamples=resamples, seed=seed, top_k=top, level=level,
                    condition=condition, progress=progress_is_shown(),
                )  # fmt: skip
                results[f"{result.measure}\n{condition}".strip()] = result
    if written.plot is not None and len(results) > 1:
        from ir_outcomes.showing.figures import blank_figure, conditions_plot

        save_figure(conditions_plot(results, ax=blank_figure()), written.plot)
        written = replace(written, plot=None)
    written.write(*results.values(), plot_kind=kind)


def agreement(
    qrels: QRELS_OR_OUTPUT,
    options: RunOptions,
    written: WriteOptions,
    runs: RUNS_OR_OUTPUTS = None,
    measures: MEASURES = None,
    from_outputs: FROM_OUTPUTS = False,
    higher_is_better: HIGHER_IS_BETTER = None,
    splits: Annotated[int, typer.Option(min=1, help="The number of random splits into halves.")] = 100,
    alpha: ALPHA = 0.05,
    seed: SEED = 0,
) -> None:
    """Count how often verdicts agree on halves of the queries.

    Divides the queries at random, many times, and counts for each pair of runs how often both halves give the same verdict, and
    how often each significance test decides alike.
    """
    from ir_outcomes.leaderboards.agreement import agreement as agree

    source: Any
    if from_outputs:
        source, measures = _scores_of_one(qrels, runs, measures, higher_is_better, options), None
    else:
        source = options.evaluate(qrels, _needed(runs), measures=measures or ["nDCG@10"], directions=higher_is_better)
    result = agree(source, measures=measures, splits=splits, seed=seed, alpha=alpha, progress=progress_is_shown())
    written.write(result)


def _needed(runs: Sequence[str] | None) -> list[str]:
    """Return the runs, which only a command that is given outputs can do without."""
    if not runs:
        raise usage_error("Missing argument 'RUN...'.")
    return list(runs)


def _sources(
    qrels: str,
    runs: list[str] | None,
    measures: list[str] | None,
    cutoff: int | None,
    from_outputs: bool,
    higher_is_better: bool | None,
    options: OneOrderOptions,
) -> Iterator[tuple[Any, str | None]]:
    """Yield what the runs are ranked by: an evaluation and a measure of it, or scores."""
    if from_outputs:
        for measure in measures or (None,):
            yield _scores(qrels, runs, measure, higher_is_better, options), None
        return
    evaluation = options.evaluate(qrels, _needed(runs), measures=measures or (), directions=higher_is_better)
    if cutoff is not None:
        evaluation = evaluation.with_cutoff(cutoff)
    for measure in measures or (None,):
        yield evaluation, measure


def _scores(
    first: str, others: Sequence[str] | None, measure: str | None, higher_is_better: bool | None, options: EvaluateOptions
) -> Scores:
    """Read per-query values: one file for each run, or one file of several runs, which the names choose.

    Options that change nothing about values that are already computed are refused.
    """
    from ir_outcomes.evaluation.scores import scores_from_outputs

    has_cutoff = isinstance(options, RunOptions) and (options.cutoff is not None or options.unit != "auto")
    if _settings_of_runs(options) or has_cutoff or options.n_jobs != 1:
        raise usage_error(
            "--cutoff, --rel, --ties, --unit, --judged-only, and --jobs need runs; outputs are values already computed."
        )
    outputs: Any = [first, *others] if others else first
    return scores_from_outputs(outputs, measure, higher_is_better=higher_is_better, names=options.names)


def _scores_of_one(
    first: str,
    others: Sequence[str] | None,
    measures: Sequence[str] | None,
    higher_is_better: bool | None,
    options: EvaluateOptions,
) -> Scores:
    if measures and len(measures) > 1:
        raise usage_error("--from-outputs takes one --measure.")
    return _scores(first, others, measures[0] if measures else None, higher_is_better, options)


def _settings_of_runs(options: EvaluateOptions) -> bool:
    """Return whether an option was given that changes search lengths."""
    return options.rel is not None or options.ties != "trec" or options.judged_only
