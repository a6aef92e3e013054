"""The command for pipelines: gate."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ir_outcomes.cli.groups import add_command
from ir_outcomes.cli.options import (
    MARGINS,
    QUERIES,
    CorrectedTestOptions,
    RunOptions,
    usage_error,
)
from ir_outcomes.cli.sources import EvaluatedRuns, evaluated_with_baseline, is_same_file, run_files
from ir_outcomes.cli.streams import given_command, note, progress_is_shown
from ir_outcomes.cli.writing import WriteOptions, check_target
from ir_outcomes.errors import EmptyInput, ParameterError

if TYPE_CHECKING:
    from ir_outcomes.across.gate import Side
    from ir_outcomes.evaluation.evaluation import Evaluation

__all__ = ["register"]

REPORTED_DOCUMENTS = 20  # of each list, on the page of the report


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    add_command(app, gate, "ir-outcomes gate qrels.txt bm25.run bm25-stem.run --margins 2pp,1 || echo status $?")


class _Compared(NamedTuple):
    """What is decided on, and what the page of the report shows."""

    sides: list[Side]
    compared: Any  # None where no run has results
    evaluations: Any
    inputs: list[str]


def gate(
    options: RunOptions,
    tests: CorrectedTestOptions,
    written: WriteOptions,
    margins: MARGINS,
    qrels: Annotated[str | None, typer.Argument(metavar="QRELS", help="The qrels file or an ir_datasets id.")] = None,
    baseline: Annotated[str | None, typer.Argument(metavar="BASELINE", help="Run A: the system in use.")] = None,
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN...", help="Run B or several: the systems to decide on.")
    ] = None,
    max_missing: Annotated[
        float,
        typer.Option(min=0, max=1, help="The largest tolerable share of answerable queries for which a run has no results."),
    ] = 0.05,
    suite: Annotated[
        str | None, typer.Option(metavar="SUITE", help="Decide on all collections of this suite, instead of QRELS and runs.")
    ] = None,
    system: Annotated[
        str | None, typer.Option("--baseline", metavar="NAME", help="With --suite: the name of the baseline.")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="A second baseline, such as the run of the last release (with --suite its name): both must pass, so that "
            "small losses cannot add up.",
        ),
    ] = None,
    allow_missing: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN@COLLECTION", help="With --suite: a run that this collection may lack."),
    ] = None,
    queries: QUERIES = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report page to this HTML file.")] = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also append the decision to this file as Markdown, such as the step summary of GitHub Actions.",
        ),
    ] = None,
) -> None:
    """Decide whether runs may replace the baseline.

    The exit status is 0 for pass, 3 for fail and 4 for inconclusive.

    A run passes if harm beyond the margins is excluded on both facets and over all queries. It fails if such harm is shown, if
    it has no results for too many queries, or if a collection of the suite lacks it. Of several decisions the worst is the exit
    status.
    """
    from ir_outcomes.across.gate import gate_of

    for option, path in (("--summary", summary), ("--report", report)):
        if path is not None:
            check_target(option, path)
    keep = REPORTED_DOCUMENTS if report is not None else 0
    if suite is not None:
        if qrels is not None:
            raise usage_error("--suite replaces QRELS and runs; leave them out.")
        found = _compare_suite(suite, system, reference, options, tests, keep)
    elif qrels is None or baseline is None or not runs:
        raise usage_error("Give QRELS, BASELINE and at least one RUN, or --suite.")
    elif system is not None or allow_missing:
        raise usage_error(f"{'--allow-missing' if allow_missing else '--baseline'} needs --suite.")
    else:
        found = _compare(qrels, baseline, runs, reference, options, tests, queries, keep)
    result = gate_of(
        found.sides, margins=margins, max_missing=max_missing, allow_missing=allow_missing or (), inputs=found.inputs
    )
    written.write(result)
    if summary is not None:
        _append(summary, f"{result.to_markdown(details=True)}\n")
    if report is not None:
        _write_report(found, report)
    raise typer.Exit(result.exit_status)


def _compare(
    qrels: str,
    baseline: str,
    runs: Sequence[str],
    reference: str | None,
    options: RunOptions,
    tests: CorrectedTestOptions,
    queries: str | None,
    documents: int,
) -> _Compared:
    from ir_outcomes.across.gate import Side, side_of
    from ir_outcomes.comparison.compare import compare
    from ir_outcomes.reading.files import name_of

    paths = run_files(runs)
    second = [] if reference is None else [reference]
    if any(is_same_file(path, baseline) or name_of(path) == baseline for path in second):
        raise usage_error("--reference: this is the baseline already; leave it out, or give another run.")
    every = list(dict.fromkeys((baseline, *paths, *second)))
    inputs = [path for path in dict.fromkeys((qrels, *every)) if os.path.isfile(path)]
    kept: dict[str, Any] = {"queries": queries, "documents": documents}
    empty: dict[str, str] = {}
    given: EvaluatedRuns | None
    try:
        given = evaluated_with_baseline(options, qrels, baseline, [*paths, *second], **kept)
    except EmptyInput as error:
        if error.source == qrels:
            raise
        empty = dict(_empty(options, qrels, every))
        options, present = replace(options, names=None), [path for path in paths if path not in empty]
        has_results = bool(present) and not {baseline, *second} & set(empty)
        given = evaluated_with_baseline(options, qrels, baseline, [*present, *second], **kept) if has_results else None
    lacking: dict[Any, str] = {(name_of(path), None): reason for path, reason in empty.items()}
    if given is None:
        contenders = [name_of(path) for path in paths]
        without = [path for path in (baseline, *second) if path in empty] or [baseline]  # or all contenders are empty
        return _Compared([Side(name_of(path), contenders, {}, lacking) for path in without], None, None, inputs)
    present = given.contenders[: len(given.contenders) - len(second)]
    compared: list[Any] = [
        compare(given.evaluation, name, present, progress=progress_is_shown(), **asdict(tests))
        for name in (given.baseline, *given.contenders[len(present) :])
    ]
    contenders = [item.contender for item in compared[0]] + [name_of(path) for path in paths if path in empty]
    return _Compared([side_of(side, contenders, lacking) for side in compared], compared[0], given.evaluation, inputs)


def _empty(options: RunOptions, qrels: str, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Find the runs without results, and why."""
    alone = replace(options, names=None)
    for path in paths:
        if os.path.isfile(path):  # "best" and the names of other runs are none
            try:
                alone.evaluate(qrels, [path])
            except EmptyInput as error:
                yield path, f"{error}."


def _compare_suite(
    path: str, system: str | None, reference: str | None, options: RunOptions, tests: CorrectedTestOptions, documents: int
) -> _Compared:
    from ir_outcomes.across.collections import compare_collections
    from ir_outcomes.across.gate import side_of
    from ir_outcomes.reading.suites import read_suite

    suite = read_suite(path)
    baseline = system or suite.baseline
    if baseline is None:
        raise usage_error("--baseline: name the baseline of the suite.")
    evaluations: dict[str, Evaluation] = {}
    empty: dict[tuple[str, str | None], str] = {}
    for collection in suite.collections:
        # Options of the command come before what the suite says.
        own = {name: getattr(collection, name) for name in ("cutoff", "rel") if getattr(options, name) is None}
        settings = {**own, "documents": documents}
        try:
            evaluations[collection.name] = options.evaluate(collection.qrels, dict(collection.runs), **settings)
        except EmptyInput as error:
            if error.source == collection.qrels:
                raise
            reasons = dict(_empty(options, collection.qrels, list(collection.runs.values())))
            empty |= {(name, collection.name): reasons[run] for name, run in collection.runs.items() if run in reasons}
            if present := {name: run for name, run in collection.runs.items() if run not in reasons}:
                evaluations[collection.name] = options.evaluate(collection.qrels, present, **settings)
    baselines = [baseline] if reference is None else [baseline, reference]
    contenders = [name for name in suite.systems if name not in baselines]
    evaluated = {name for evaluation in evaluations.values() for name in evaluation.names}
    present_there = [name for name in contenders if name in evaluated]
    rules: dict[str, Any] = {"groups": suite.groups or None, **asdict(tests)}
    compared = [compare_collections(evaluations, name, present_there, **rules) for name in baselines]
    inputs = [file for file in suite.files if os.path.isfile(file)]
    return _Compared([side_of(side, contenders, empty) for side in compared], compared[0], evaluations, inputs)


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise ParameterError(f"--summary {path}: cannot be written ({error.strerror})") from error


def _write_report(found: _Compared, path: Path) -> None:
    if found.compared is None:
        note("there is nothing to compare, so no report is written")
        return
    from ir_outcomes.showing.report import report_of

    report_of(found.compared, path, evaluation=found.evaluations, command=given_command(), inputs=found.inputs)
