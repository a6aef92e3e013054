"""The command for unjudged documents: holes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ir_outcomes.cli.groups import add_command
from ir_outcomes.cli.options import QRELS, CorrectedTestOptions, RunOptions
from ir_outcomes.cli.sources import BASELINE, CONTENDERS, evaluated_with_baseline
from ir_outcomes.cli.streams import progress_is_shown
from ir_outcomes.cli.writing import WriteOptions

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    add_command(
        app,
        holes,
        "ir-outcomes holes qrels.txt bm25.run bm25-stem.run --cutoff 10",
        "ir-outcomes holes qrels.txt bm25.run bm25-stem.run --cutoff 10 --to-judge 20",
    )


def holes(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    options: RunOptions,
    tests: CorrectedTestOptions,
    written: WriteOptions,
    to_judge: Annotated[
        int | None,
        typer.Option(
            min=1, help="Write up to this many pairs of query and document, those to judge first, as TSV instead of the result."
        ),
    ] = None,
) -> None:
    """Show how far verdicts depend on unjudged documents.

    Unjudged documents count as not relevant. Shows whether the direction of a label would change if some of them were relevant.
    """
    from ir_outcomes.comparison.holes import holes as find_holes

    given = evaluated_with_baseline(options, qrels, baseline, runs, unjudged=True)
    result = find_holes(
        given.evaluation, given.baseline, given.contenders,
        progress=progress_is_shown(), **asdict(tests),
    )  # fmt: skip
    if to_judge is None:
        written.write(result)
    else:
        written.write_text(result.to_tsv(to_judge))
