"""The commands for many runs: leaderboard, history, stability, agreement, reordering, tail."""

from __future__ import annotations

import json
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ir_outcomes.cli.output import QRELS, Format, save_picture, stdout_or
from ir_outcomes.errors import ParameterError

RUNS = Annotated[list[str], typer.Argument(help="run files, or a directory of runs", metavar="RUN...", show_default=False)]
CUTOFF = Annotated[int | None, typer.Option("--cutoff", "-k", help="ranks beyond it do not count", show_default=False)]
REL = Annotated[int | None, typer.Option(help="least grade of a relevant document; by default the dataset's, or 1")]
UNIT = Annotated[str, typer.Option(help="auto, query or document")]
TIES = Annotated[str, typer.Option(help="order among equal scores: trec, msmarco or input")]
MISSING = Annotated[str, typer.Option(help="length of a missing document: cutoff, or retrieved (equation 3 as printed)")]
ALPHA = Annotated[float, typer.Option(help="level of tests")]
SEED = Annotated[int, typer.Option(help="of random draws")]
MEASURES = Annotated[list[str] | None, typer.Option("--measure", "-m", help="may be given several times", show_default=False)]
JOBS = Annotated[int, typer.Option("--jobs", "-j", help="runs evaluated at a time; -1 for one per processor")]
CACHE = Annotated[
    Path | None, typer.Option(help="keep what is found in the runs in this directory, for next time", show_default=False)
]
FORMAT = Annotated[Format, typer.Option("--format", help="how to write the result")]
OUTPUT = Annotated[Path | None, typer.Option(help="write to this file instead of stdout", show_default=False)]
PICTURE = Annotated[Path | None, typer.Option("--plot", help="draw to this .png, .pdf or .svg", show_default=False)]


class Show(str, Enum):
    """What the tail command shows."""

    lengths = "lengths"
    changes = "changes"
    rrie = "rrie"
    headroom = "headroom"


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    for command in (leaderboard, history, stability, agreement, reordering, tail):
        app.command()(command)


def leaderboard(
    qrels: QRELS,
    runs: RUNS,
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="what to order by; by default RR at the cutoff", show_default=False)
    ] = None,
    cutoff: CUTOFF = None,
    rel: REL = None,
    unit: UNIT = "auto",
    ties: TIES = "trec",
    judged_only: Annotated[bool, typer.Option("--judged-only", help="remove unjudged documents first")] = False,
    alpha: ALPHA = 0.05,
    correction: Annotated[str, typer.Option(help="over all pairs: holm, bonferroni, fdr_bh or none")] = "holm",
    entries: Annotated[
        Path | None, typer.Option(help="dates and groups of the runs: CSV or JSON with id, date, group", show_default=False)
    ] = None,
    seed: SEED = 0,
    jobs: JOBS = 1,
    cache: CACHE = None,
    form: FORMAT = Format.text,
    output: OUTPUT = None,
    picture: PICTURE = None,
    kind: Annotated[str, typer.Option("--plot-kind", help="tiers, verdicts or history")] = "tiers",
) -> None:
    """Order runs by a measure; show tiers, and verdicts against the run above and the best."""
    from ir_outcomes.leaderboards import leaderboard as order_runs

    result = order_runs(
        qrels,
        runs,
        measure=measure,
        cutoff=cutoff,
        rel=rel,
        unit=cast("Any", unit),
        ties=cast("Any", ties),
        judged_only=judged_only,
        alpha=alpha,
        correction=cast("Any", correction),
        entries=entries,
        seed=seed,
        n_jobs=jobs,
        cache=cache,
        progress=sys.stderr.isatty(),
    )
    _finish([result], form, output, picture, kind)


def history(
    table: Annotated[str, typer.Argument(help="the leaderboard: CSV or JSON with id, date, score", show_default=False)],
    score: Annotated[str | None, typer.Option(help="column of the score", show_default=False)] = None,
    until: Annotated[str | None, typer.Option(help="leave out what came later, such as 2021-02-15", show_default=False)] = None,
    lower_is_better: Annotated[bool, typer.Option("--lower-is-better", help="of the score")] = False,
    form: FORMAT = Format.text,
    output: OUTPUT = None,
    picture: PICTURE = None,
) -> None:
    """Find each submission that took the top of a leaderboard, from a table of scores."""
    from ir_outcomes.leaderboards import sota_history

    result = sota_history(table, score=score, until=until, higher_is_better=not lower_is_better)
    _finish([result], form, output, picture)


def stability(
    qrels: QRELS,
    runs: RUNS,
    measures: MEASURES = None,
    queries: Annotated[
        list[str] | None,
        typer.Option(help="use only these queries: NAME=FILE with an id on each line; may be given several times"),
    ] = None,
    labels: Annotated[
        list[str] | None, typer.Option(help="other judgments: NAME=QRELS; may be given several times", show_default=False)
    ] = None,
    resamples: Annotated[int, typer.Option(help="of the queries, with replacement")] = 1000,
    top: Annotated[int, typer.Option(help="report the share of resamples among the top so many")] = 5,
    level: Annotated[float, typer.Option(help="of the intervals of ranks")] = 0.95,
    seed: SEED = 0,
    jobs: JOBS = 1,
    form: FORMAT = Format.text,
    output: OUTPUT = None,
    picture: PICTURE = None,
    kind: Annotated[str, typer.Option("--plot-kind", help="ranks or tau; several conditions are drawn together")] = "ranks",
) -> None:
    """Rank the runs on bootstrap resamples of the queries, for every measure, set of labels and set of queries."""
    from ir_outcomes.evaluation.scores import default_measure, scores
    from ir_outcomes.leaderboards.stability import distribution_of

    results = {}
    for label, source in {"": qrels, **_named(labels, "--labels")}.items():
        chosen = measures or [default_measure(source)]
        tables = scores(source, runs, chosen, n_jobs=jobs, progress=sys.stderr.isatty())
        for selection, file in {"": None, **_named(queries, "--queries")}.items():
            for table in tables:
                condition = ", ".join(filter(None, (label, selection)))
                result = distribution_of(
                    table.on(file), resamples=resamples, seed=seed, top_k=top, level=level, condition=condition
                )
                results[f"{table.measure}\n{condition}".strip()] = result
    if picture is not None and len(results) > 1:
        from ir_outcomes.showing.figures import blank_figure, conditions_plot

        save_picture(conditions_plot(results, ax=blank_figure()), picture)
        picture = None
    _finish(list(results.values()), form, output, picture, kind)


def agreement(
    qrels: QRELS,
    runs: RUNS,
    measures: MEASURES = None,
    cutoff: CUTOFF = None,
    rel: REL = None,
    unit: UNIT = "auto",
    ties: TIES = "trec",
    splits: Annotated[int, typer.Option(help="random splits in halves")] = 100,
    alpha: ALPHA = 0.05,
    seed: SEED = 0,
    jobs: JOBS = 1,
    cache: CACHE = None,
    form: FORMAT = Format.text,
    output: OUTPUT = None,
    picture: PICTURE = None,
) -> None:
    """Count how often significance tests, and the two-facet verdict, say the same of two halves of the queries."""
    from ir_outcomes.leaderboards import agreement as agree

    result = agree(
        qrels,
        runs,
        measures=measures,
        cutoff=cutoff,
        rel=rel,
        unit=cast("Any", unit),
        ties=cast("Any", ties),
        splits=splits,
        seed=seed,
        alpha=alpha,
        n_jobs=jobs,
        cache=cache,
        progress=sys.stderr.isatty(),
    )
    _finish([result], form, output, picture)


def reordering(
    qrels: QRELS,
    runs: RUNS,
    measures: MEASURES = None,
    cutoff: CUTOFF = None,
    rel: REL = None,
    ties: TIES = "trec",
    missing: MISSING = "cutoff",
    jobs: JOBS = 1,
    cache: CACHE = None,
    form: FORMAT = Format.text,
    output: OUTPUT = None,
    picture: PICTURE = None,
    kind: Annotated[str, typer.Option("--plot-kind", help="orders or changes")] = "orders",
) -> None:
    """Show what changes when runs are ordered by another measure; by default step by step from AP to ASL."""
    from ir_outcomes.tail import reordering as reorder

    result = reorder(
        qrels,
        runs,
        measures=measures,
        cutoff=cutoff,
        rel=rel,
        ties=cast("Any", ties),
        missing=cast("Any", missing),
        n_jobs=jobs,
        cache=cache,
        progress=sys.stderr.isatty(),
    )
    _finish([result], form, output, picture, kind)


def tail(
    qrels: QRELS,
    runs: RUNS,
    show: Annotated[
        Show, typer.Option(help="distribution of search lengths; changes or reduction in error of two runs; headroom")
    ] = Show.lengths,
    cutoff: CUTOFF = None,
    rel: REL = None,
    ties: TIES = "trec",
    missing: MISSING = "cutoff",
    jobs: JOBS = 1,
    cache: CACHE = None,
    form: FORMAT = Format.text,
    output: OUTPUT = None,
    picture: PICTURE = None,
    kind: Annotated[
        str | None,
        typer.Option("--plot-kind", help="of headroom: top precision, top length, precision, length", show_default=False),
    ] = None,
) -> None:
    """Look at the relevant documents far down, one by one."""
    from ir_outcomes.tail import headroom, length_changes, length_distributions, rrie

    settings: dict[str, Any] = {"cutoff": cutoff, "rel": rel, "ties": ties, "missing": missing}
    options = {**settings, "n_jobs": jobs, "cache": cache, "progress": sys.stderr.isatty()}
    result: Any
    if show is Show.lengths:
        result = length_distributions(qrels, runs, **options)
    elif show is Show.headroom:
        result = headroom(qrels, runs, **options)
    elif len(runs) != 2:
        raise ParameterError(f"--show {show.value} is for two runs, the baseline and the contender; there are {len(runs)}")
    else:
        result = (length_changes if show is Show.changes else rrie)(qrels, *runs, **options)
    _finish([result], form, output, picture, kind)


def _named(options: list[str] | None, option: str) -> dict[str, str]:
    """Take apart NAME=FILE."""
    pairs = [text.partition("=") for text in options or []]
    wrong = [f"{name}{sign}{file}" for name, sign, file in pairs if not (name and file)]
    if wrong:
        raise ParameterError(f"{option} {wrong[0]}: write NAME=FILE, such as private=private.txt")
    names = [name for name, _, _ in pairs]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ParameterError(f"{option}: {twice[0]} is given twice; tell them apart by their names")
    return {name: file for name, _, file in pairs}


def _finish(results: list[Any], form: Format, output: Path | None, picture: Path | None, kind: str | None = None) -> None:
    """Draw what is to be drawn, and write the results."""
    from ir_outcomes.showing import csv_, json_

    if picture is not None:
        from ir_outcomes.showing.figures import blank_figure

        save_picture(results[0].plot(kind, ax=blank_figure()), picture)
    with stdout_or(output) as write:
        if form is Format.json:
            several = [result.to_dict() for result in results]
            text = json.dumps(several, ensure_ascii=False, allow_nan=False, indent=2)
            write(text if len(several) > 1 else results[0].to_json(indent=2))
        elif form in (Format.csv, Format.jsonl):
            rows = [row for result in results for row in result.rows()]
            write(csv_.write(rows) if form is Format.csv else json_.write_lines(rows))
        else:
            for result in results:
                write(result.view() if form is Format.text else getattr(result, f"to_{form.value}")())
