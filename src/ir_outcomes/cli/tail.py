"""The commands about the whole list of relevant documents: reordering, tail."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from ir_outcomes.cli.groups import add_command
from ir_outcomes.cli.options import MISSING, QRELS, RUNS, EvaluateOptions, choice, usage_error
from ir_outcomes.cli.writing import WriteOptions
from ir_outcomes.types import unreachable

__all__ = ["register"]

Show = Literal["lengths", "changes", "rrie", "headroom"]
SHARED_CUTOFF = Annotated[
    int | None,
    typer.Option(
        "--cutoff",
        "-k",
        min=1,
        help="Ignore ranks beyond this one; by default that of the dataset, or 100, or the depth that all runs reach.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_command(app, reordering, "ir-outcomes reordering qrels.txt *.run --plot-kind changes --plot changes.pdf")
    add_command(
        app,
        tail,
        "ir-outcomes tail qrels.txt *.run",
        "ir-outcomes tail qrels.txt bm25.run rrf-stem-lsa.run --show changes --bins 10",
    )


def reordering(
    qrels: QRELS,
    runs: RUNS,
    options: EvaluateOptions,
    written: WriteOptions,
    measures: Annotated[
        list[str] | None, typer.Option("--measure", "-m", help="A measure; give at least two, the old one first.")
    ] = None,
    cutoff: SHARED_CUTOFF = None,
    missing: MISSING = "cutoff",
    kind: Annotated[Any, choice(("orders", "changes"), "--plot-kind", help="The figure that --plot draws.")] = "orders",
) -> None:
    """Show how runs are reordered by another measure.

    By default in steps from average precision (AP) to atomized search length (ASL).
    """
    from ir_outcomes.reading.measure_names import parse_measure
    from ir_outcomes.tail.reordering import reordering as reorder

    if measures and len(measures) < 2:
        raise usage_error("Give --measure at least twice, the old measure first.")
    # The analysis gives an ASL the depth that all runs share, and computes it from search lengths.
    kept = [measure for measure in measures or () if parse_measure(measure).NAME != "ASL"]
    evaluation = options.evaluate(qrels, runs, measures=kept)
    written.write(reorder(evaluation, measures=measures, cutoff=cutoff, missing=missing), plot_kind=kind)


def tail(
    qrels: QRELS,
    runs: RUNS,
    options: EvaluateOptions,
    written: WriteOptions,
    show: Annotated[
        Show,
        choice(
            Show,
            help="The distribution of search lengths (lengths); between two runs their changes (changes) or the relative "
            "reduction in error (rrie); or the distribution of what the best run leaves to gain (headroom).",
        ),
    ] = "lengths",
    cutoff: SHARED_CUTOFF = None,
    missing: MISSING = "cutoff",
    bins: Annotated[
        int | None,
        typer.Option(
            min=1, help="The number of buckets of equal width; by default 10 for lengths, and growing buckets for changes."
        ),
    ] = None,
    kind: Annotated[
        Any,
        choice(
            ("top precision", "top length", "precision", "length"),
            "--plot-kind",
            help="The figure of --show headroom; quote a name of two words.",
        ),
    ] = None,
) -> None:
    """Show where all relevant documents are ranked.

    The search length of a relevant document is the number of irrelevant documents above it, plus 1.
    """
    from ir_outcomes.tail.lengths import length_changes, length_distributions
    from ir_outcomes.tail.rrie import headroom, rrie

    if show in ("changes", "rrie") and len(runs) != 2:
        raise usage_error(f"--show {show} is for two runs, the baseline and the contender; there are {len(runs)}.")
    if bins is not None and show not in ("lengths", "changes"):
        raise usage_error("--bins is for --show lengths and --show changes.")
    if kind is not None and show != "headroom":
        raise usage_error("--plot-kind is for --show headroom.")
    evaluation = options.evaluate(qrels, runs)
    result: Any
    if show == "lengths":
        number = {} if bins is None else {"bins": bins}
        result = length_distributions(evaluation, cutoff=cutoff, missing=missing, **number)
    elif show == "changes":
        result = length_changes(evaluation, *evaluation.names, cutoff=cutoff, missing=missing, bins=bins)
    elif show == "rrie":
        result = rrie(evaluation, *evaluation.names, cutoff=cutoff, missing=missing)
    elif show == "headroom":
        result = headroom(evaluation, cutoff=cutoff, missing=missing)
    else:
        unreachable(show)
    written.write(result, plot_kind=kind)
