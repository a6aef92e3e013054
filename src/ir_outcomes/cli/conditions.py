"""The commands for the same comparison under several conditions: cutoffs, slices, judges, collections."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from ir_outcomes.cli.groups import add_command
from ir_outcomes.cli.options import (
    QRELS,
    QUERIES,
    RESAMPLES,
    RUNS,
    SEED,
    CorrectedTestOptions,
    RunOptions,
    SuiteOptions,
    TestOptions,
    choice,
    named_files,
    usage_error,
)
from ir_outcomes.cli.sources import BASELINE, CONTENDERS, evaluated_with_baseline
from ir_outcomes.cli.streams import note
from ir_outcomes.cli.writing import WriteOptions
from ir_outcomes.types import Correction

__all__ = ["register"]

CONTENDER = Annotated[str, typer.Argument(metavar="RUN", help="Run B: a run file.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_command(
        app,
        compare_cutoffs,
        "ir-outcomes compare-cutoffs qrels.txt bm25.run bm25-stem.run --at 10 --at 100",
        name="compare-cutoffs",
    )
    add_command(
        app,
        compare_slices,
        "ir-outcomes compare-slices qrels.txt bm25.run bm25-stem.run --by length --queries queries.tsv",
        name="compare-slices",
    )
    add_command(
        app,
        compare_judges,
        "ir-outcomes compare-judges bm25.run bm25-stem.run --judge people=qrels.txt@1 --judge model=model.txt@2",
        name="compare-judges",
    )
    add_command(
        app,
        compare_suite,
        "ir-outcomes suite suite --baseline bm25",
        "ir-outcomes suite suite.toml -m nDCG@10",
        name="suite",
    )


def compare_cutoffs(
    qrels: QRELS,
    baseline: BASELINE,
    contender: CONTENDER,
    options: RunOptions,
    tests: TestOptions,
    written: WriteOptions,
    cutoffs: Annotated[
        list[int] | None,
        typer.Option(
            "--at", min=1, help="A cutoff; give it once for each cutoff. By default 10, 20, 50, 100, 1000 and --cutoff."
        ),
    ] = None,
    resamples: RESAMPLES = 9999,
    seed: SEED = 0,
) -> None:
    """Compare two runs at several cutoffs.

    --plot draws how much each run finds by every rank, with a band around the difference.
    """
    from ir_outcomes.across.same_queries import compare_cutoffs as compare_at

    given = evaluated_with_baseline(options, qrels, baseline, [contender])
    chosen: dict[str, Any] = {"cutoffs": sorted(set(cutoffs))} if cutoffs else {}
    result = compare_at(
        given.evaluation, given.baseline, given.contenders[0], seed=seed, resamples=resamples, **chosen, **asdict(tests)
    )
    written.write(result)


def compare_slices(
    qrels: QRELS,
    baseline: BASELINE,
    runs: CONTENDERS,
    options: RunOptions,
    tests: CorrectedTestOptions,
    written: WriteOptions,
    by: Annotated[
        str,
        typer.Option(
            metavar="FILE|length",
            help="The slices: a file with a query id, a tab and a label on each line; or length, which groups queries by their "
            "number of words.",
        ),
    ],
    over_slices: Annotated[
        Correction, choice(Correction, help="The correction of p-values over slices, shown beside each label.")
    ] = "fdr_bh",
    queries: QUERIES = None,
    resamples: RESAMPLES = 9999,
    seed: SEED = 0,
) -> None:
    """Compare runs on slices of the queries.

    First tests whether the slices differ at all.
    """
    from ir_outcomes.across.slices import compare_slices as compare_by

    given = evaluated_with_baseline(options, qrels, baseline, runs, queries=queries)
    result = compare_by(
        given.evaluation, by, given.baseline, given.contenders,
        over_slices=over_slices, seed=seed, resamples=resamples, **asdict(tests),
    )  # fmt: skip
    written.write(result)


def compare_judges(
    runs: RUNS,
    options: RunOptions,
    tests: CorrectedTestOptions,
    written: WriteOptions,
    judges: Annotated[
        list[str],
        typer.Option(
            "--judge",
            metavar="NAME=QRELS[@REL]",
            help="The qrels of a judge, and the smallest grade that counts as relevant; give it once for each judge.",
        ),
    ],
    baseline: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name of the baseline; by default the first run.")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The judge that is the truth, on a random sample of the queries or on all: audit the others by it.",
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", help="Also audit this measure, such as nDCG@10; may be given more than once."),
    ] = None,
) -> None:
    """Compare runs under the qrels of several judges.

    Judges are, for example, assessors and language models.
    """
    from ir_outcomes.across.same_queries import compare_judges as compare_under

    if options.rel is not None:
        raise usage_error("--rel: write the smallest grade after each judge, such as --judge nist=qrels.txt@2.")
    sources = {name: _judge(text) for name, text in named_files(judges, "--judge").items()}
    if len(sources) < 2:
        raise usage_error("Give --judge at least twice, with different names.")
    if reference is None and measures:
        raise usage_error("--measure needs --reference.")
    evaluations = {
        name: options.evaluate(qrels, runs, rel=rel, measures=measures or ()) for name, (qrels, rel) in sources.items()
    }
    names = next(iter(evaluations.values())).names
    result = compare_under(
        evaluations, names[0] if baseline is None else baseline,
        reference=reference, measures=measures or (), **asdict(tests),
    )  # fmt: skip
    written.write(result)


def compare_suite(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="A folder of collections and runs, or a TOML or JSON file that lists them.")
    ],
    options: SuiteOptions,
    tests: CorrectedTestOptions,
    written: WriteOptions,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The name of the baseline; by default the one that SUITE names, or the first system."
        ),
    ] = None,
    contenders: Annotated[
        list[str] | None,
        typer.Option(
            "--contender",
            metavar="NAME",
            help="The name of a contender; may be given more than once. By default all other systems.",
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", help="Also pool this measure, such as nDCG@10; may be given more than once."),
    ] = None,
    over_collections: Annotated[
        Correction, choice(Correction, help="The correction of p-values over collections, shown beside each label.")
    ] = "holm",
    allow: Annotated[
        list[str] | None,
        choice(("cutoff",), help="A setting that may differ between the collections."),
    ] = None,
) -> None:
    """Compare systems on several collections.

    Shows what holds on average over these collections, and what to expect of a new one.
    """
    from ir_outcomes.across.collections import compare_collections
    from ir_outcomes.evaluation.evaluate import evaluate_suite
    from ir_outcomes.reading.suites import read_suite

    found = read_suite(suite)
    evaluations = evaluate_suite(found, measures=measures or (), **options.settings())
    first = baseline or found.baseline
    if first is None:
        first = found.systems[0]
        note(f"the baseline is {first}; choose another one with --baseline")
    result = compare_collections(
        evaluations, first, contenders or None,
        over_collections=over_collections, measures=measures or (), groups=found.groups or None, allow=tuple(allow or ()),
        **asdict(tests),
    )  # fmt: skip
    written.write(result)


def _judge(text: str) -> tuple[str, int | None]:
    """Separate qrels and the smallest grade of a relevant document, which stands behind the last @."""
    qrels, sign, grade = text.rpartition("@")
    if sign and grade.isascii() and grade.isdecimal() and int(grade) > 0:
        return qrels, int(grade)
    return text, None
