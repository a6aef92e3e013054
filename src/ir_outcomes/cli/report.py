"""The command that writes the report page."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ir_outcomes.cli.groups import add_command
from ir_outcomes.cli.options import QRELS, QUERIES, QUIET, MarginOptions, RunOptions, bounded
from ir_outcomes.cli.sources import BASELINE, CONTENDERS, evaluated_with_baseline
from ir_outcomes.cli.streams import given_command, note, progress_is_shown
from ir_outcomes.cli.writing import check_target

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    add_command(
        app,
        report,
        "ir-outcomes report qrels.txt bm25.run bm25-stem.run -o report.html --queries queries.tsv",
        "ir-outcomes report qrels.txt bm25.run bm25-flat.run bm25-stem.run --max-mb 2",
    )


def report(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    options: RunOptions,
    tests: MarginOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file that the page is written to.")] = Path("report.html"),
    queries: QUERIES = None,
    docs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The texts of the documents: JSON lines with doc_id, and text or title. By default those of the dataset, "
            "if they are on this machine.",
        ),
    ] = None,
    slices: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The slices by which the page can filter: a file with a query id, a tab and a label on each line.",
        ),
    ] = None,
    max_mb: Annotated[
        float,
        typer.Option(
            parser=bounded(0, 1000),
            metavar="<float>",
            help="The size in megabytes that the page may reach by including ranked lists and texts.",
        ),
    ] = 5,
    quiet: QUIET = False,
) -> None:
    """Write one HTML page with every query behind the verdict.

    The page opens without a network. It shows the verdict, its pictures, all queries, and both ranked lists of a query.
    """
    from ir_outcomes.comparison.compare import compare
    from ir_outcomes.showing.report import report_of
    from ir_outcomes.showing.report.rankings import DEPTH

    check_target("--output", output)
    given = evaluated_with_baseline(options, qrels, baseline, runs, queries=queries, documents=DEPTH)
    result = compare(
        given.evaluation,
        given.baseline,
        given.one_or_all,
        progress=progress_is_shown(),
        **asdict(tests),
    )
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
