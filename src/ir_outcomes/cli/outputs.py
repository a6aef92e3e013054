"""The commands for numbers that were computed elsewhere: compare-outputs, verdict."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from ir_outcomes.cli.comparisons import KIND, check_kind
from ir_outcomes.cli.groups import add_command
from ir_outcomes.cli.options import ALPHA, HIGHER_IS_BETTER, NAMES, MarginOptions
from ir_outcomes.cli.streams import progress_is_shown
from ir_outcomes.cli.writing import ComparisonWriteOptions, WriteOptions

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_command(
        app,
        compare_outputs,
        "ir-outcomes measure qrels.txt bm25.run RR -q > bm25.tsv",
        "ir-outcomes measure qrels.txt bm25-stem.run RR -q > bm25-stem.tsv",
        "ir-outcomes compare-outputs bm25.tsv bm25-stem.tsv --qrels qrels.txt",
        name="compare-outputs",
    )
    add_command(app, verdict, "ir-outcomes verdict --n 5793 --won 869 --lost 869 --difference -1.35 --pvalue 8.68e-08")


def compare_outputs(
    baseline: Annotated[str, typer.Argument(metavar="BASELINE", help="Run A: a file of per-query values.")],
    contenders: Annotated[
        list[str], typer.Argument(metavar="OUTPUT...", help="Run B, or several runs: files of per-query values.")
    ],
    tests: MarginOptions,
    written: ComparisonWriteOptions,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            "-m",
            help="The measure to compare by; by default a reciprocal rank or ESL, or the only measure in the files.",
        ),
    ] = None,
    qrels: Annotated[
        str | None, typer.Option(metavar="QRELS", help="The qrels, which say which queries are answerable.")
    ] = None,
    rel: Annotated[
        int | None, typer.Option(min=1, help="The smallest grade that counts as relevant; by default the measure's, or 1.")
    ] = None,
    higher_is_better: HIGHER_IS_BETTER = None,
    names: NAMES = None,
    kind: KIND = "facets",
) -> None:
    """Compare runs by per-query values of other tools.

    The files are what trec_eval -q, ir_measures -q or PyTerrier wrote. In a file of several runs, --name chooses one for the
    baseline and one for each contender.
    """
    from ir_outcomes.comparison.outputs import compare_outputs as compare_values

    check_kind(kind, is_single=len(contenders) == 1)
    result = compare_values(
        baseline,
        contenders if len(contenders) > 1 else contenders[0],
        measure=measure,
        qrels=qrels,
        rel=rel,
        higher_is_better=higher_is_better,
        names=tuple(names) if names else None,
        progress=progress_is_shown(),
        **asdict(tests),
    )
    written.write(result, plot_kind=kind)


def verdict(
    n_queries: Annotated[int, typer.Option("--n", min=1, help="The number of queries.")],
    won: Annotated[float, typer.Option(help="How many queries only the contender answered.")],
    lost: Annotated[float, typer.Option(help="How many queries only the baseline answered.")],
    difference: Annotated[
        float,
        typer.Option(
            help="The mean search length of the contender minus that of the baseline, on the queries that both answered; in "
            "ranks, so that negative is better."
        ),
    ],
    pvalue: Annotated[float, typer.Option(min=0, max=1, help="The p-value of that difference.")],
    written: WriteOptions,
    other_pvalues: Annotated[
        list[float] | None,
        typer.Option(
            "--other-pvalue",
            min=0,
            max=1,
            help="The p-value of another test of that difference, for the harm check; may be given more than once.",
        ),
    ] = None,
    alpha: ALPHA = 0.05,
    rounding: Annotated[
        float,
        typer.Option(
            min=0, help="How far --won and --lost may be off, in percentage points of --n: 0.5 for whole percentages."
        ),
    ] = 0.0,
) -> None:
    """Compute the verdict from published numbers alone.

    Also says whether the verdict depends on how these numbers were rounded.
    """
    from ir_outcomes.comparison.published import verdict_from_summary

    others = tuple(other_pvalues or ())
    result = verdict_from_summary(
        n_queries, won, lost, difference, pvalue, other_pvalues=others, alpha=alpha, rounding=rounding
    )
    written.write(result)
