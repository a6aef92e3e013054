"""The commands that compare runs with a baseline: compare, compare-measure."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ir_outcomes.cli.groups import add_command
from ir_outcomes.cli.options import (
    HIGHER_IS_BETTER,
    QRELS,
    QUERIES,
    SEED,
    FamilyOptions,
    MarginOptions,
    OneOrderOptions,
    RunOptions,
    choice,
    usage_error,
)
from ir_outcomes.cli.sources import BASELINE, CONTENDERS, evaluated_with_baseline
from ir_outcomes.cli.streams import progress_is_shown
from ir_outcomes.cli.writing import ComparisonWriteOptions

if TYPE_CHECKING:
    from ir_outcomes.comparison.result import Comparison

__all__ = ["KIND", "check_kind", "register"]

Which = Literal["won", "lost", "better", "worse"]
OF_ALL = ("facets", "outcomes", "restricted")
OF_ONE = ("ranks", "differences", "queries")  # figures of a single contender

KIND = Annotated[
    Any,
    choice(
        (*OF_ALL, *OF_ONE), "--plot-kind", help=f"The figure that --plot draws; {', '.join(OF_ONE)} are for a single contender."
    ),
]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_command(
        app,
        compare,
        "ir-outcomes compare qrels.txt bm25.run bm25-stem.run --cutoff 100",
        "ir-outcomes compare qrels.txt bm25 *.run --format latex",
        "ir-outcomes compare qrels.txt bm25.run bm25-stem.run --per-query lost --queries queries.tsv --top 10",
    )
    add_command(
        app,
        compare_measure,
        "ir-outcomes compare-measure qrels.txt nDCG@10 bm25.run bm25-stem.run",
        name="compare-measure",
    )


def compare(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    options: RunOptions,
    tests: FamilyOptions,
    written: ComparisonWriteOptions,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Compare every two runs, instead of all with the baseline.")
    ] = False,
    seed: SEED = 0,
    queries: QUERIES = None,
    per_query: Annotated[
        Which | None,
        choice(
            Which, help="List the queries that the contender won or lost, or ranks better or worse, instead of the comparison."
        ),
    ] = None,
    top: Annotated[int | None, typer.Option(min=1, help="List at most this many queries.")] = None,
    kind: KIND = "facets",
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Show how many queries it takes to detect the differences of --margins (by default 1pp,0.5) with 80 % power, "
            "instead of the comparison.",
        ),
    ] = False,
) -> None:
    """Compare runs with a baseline, on coverage and on ranking.

    Coverage is the share of queries that are answered within the cutoff. Ranking is the mean rank of the first relevant
    document on the queries that both runs answer. Shows how many queries were won and lost, both facets with tests and
    intervals, and the verdict.
    """
    from ir_outcomes.comparison.compare import compare as compare_runs
    from ir_outcomes.comparison.plan import plan as plan_queries
    from ir_outcomes.comparison.result import Comparisons

    if tests.correction == "tukey" and not all_pairs:
        raise usage_error("--correction tukey needs --all-pairs.")
    if plan and per_query is not None:
        raise usage_error("--plan and --per-query show different things; use one of them.")
    if top is not None and per_query is None:
        raise usage_error("--top needs --per-query.")
    check_kind(kind, is_single=len(runs) == 1 and not all_pairs)
    given = evaluated_with_baseline(options, qrels, baseline, runs, queries=queries)
    contenders = given.contenders if all_pairs else given.one_or_all
    if given.has_repeated_baseline:
        contenders = [given.baseline, *given.contenders]  # `compare` leaves it out with a note
    result = compare_runs(
        given.evaluation,
        given.baseline,
        contenders,
        all_pairs=all_pairs,
        seed=seed,
        progress=progress_is_shown(),
        **asdict(tests),
    )
    comparisons = list(result) if isinstance(result, Comparisons) else [result]
    if plan:
        written.write(*(plan_queries(comparison, *(tests.margins or ())[:2]) for comparison in comparisons))
    elif per_query is None:
        written.write(result, plot_kind=kind)
    else:
        _write_queries(comparisons, per_query, top, written)


def compare_measure(
    qrels: QRELS,
    measure: Annotated[str, typer.Argument(metavar="MEASURE", help="A measure of ir_measures, such as nDCG@10.")],
    baseline: BASELINE,
    runs: CONTENDERS,
    options: OneOrderOptions,
    tests: MarginOptions,
    written: ComparisonWriteOptions,
    higher_is_better: HIGHER_IS_BETTER = None,
    kind: KIND = "facets",
) -> None:
    """Compare runs by another measure instead of ranks.

    Coverage is the share of queries with a value above zero, ranking the mean value of the queries where both runs are above
    zero. The measure has a cutoff and a relevance level of its own; --rel says which queries are answerable.
    """
    from ir_outcomes.comparison.outputs import compare_measure as compare_values

    check_kind(kind, is_single=len(runs) == 1)
    if baseline == "best":
        raise usage_error("The baseline best is the run with the highest reciprocal rank; name a run instead.")
    given = evaluated_with_baseline(options, qrels, baseline, runs, measures=[measure], directions=higher_is_better)
    result = compare_values(
        given.evaluation,
        measure,
        given.baseline,
        given.one_or_all,
        progress=progress_is_shown(),
        **asdict(tests),
    )
    written.write(result, plot_kind=kind)


def check_kind(kind: str, *, is_single: bool) -> None:
    """Refuse a figure of a single contender for several."""
    if kind in OF_ONE and not is_single:
        raise usage_error(f"--plot-kind {kind} is for a single contender; choose from {', '.join(OF_ALL)}.")


def _write_queries(comparisons: list[Comparison], which: Which, top: int | None, written: ComparisonWriteOptions) -> None:
    from ir_outcomes.showing.views.comparison import queries_view

    found = [(comparison, comparison.per_query(which, top)) for comparison in comparisons]
    views = [queries_view(queries, comparison, which) for comparison, queries in found]
    rows = [
        {**({"contender": comparison.contender} if len(comparisons) > 1 else {}), **query._asdict()}
        for comparison, queries in found
        for query in queries
    ]
    written.write_views(views, rows)
