"""The command for pipelines: gate."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter
from cyclopts.validators import Number

from ir_outcomes.cli.options import (
    QUERIES,
    STATISTICS,
    CorrectedTests,
    EvaluatedRuns,
    RunOptions,
    UsageError,
    evaluated_with_baseline,
    is_same_file,
    margins_of,
    run_files,
    without_names,
)
from ir_outcomes.cli.output import OUTPUT, Output, given_command, note, progress_is_shown
from ir_outcomes.errors import EmptyInput, ParameterError

if TYPE_CHECKING:
    from ir_outcomes.across.gate import Side
    from ir_outcomes.evaluation.evaluation import Evaluation


class _Compared(NamedTuple):
    """What is decided on, and what the page of the report shows."""

    sides: list[Side]
    compared: Any  # None where no run has results
    evaluations: Any
    inputs: list[str]


def gate(
    qrels: Annotated[str | None, Parameter(help="The qrels file or an ir_datasets id.")] = None,
    baseline: Annotated[str | None, Parameter(help="Run A: the system in use.")] = None,
    runs: Annotated[list[str] | None, Parameter(help="Run B or several: the systems to decide on.")] = None,
    /,
    *,
    margins: Annotated[tuple[float, ...], Parameter(converter=margins_of, n_tokens=1)],
    reference: str | None = None,
    suite: str | None = None,
    system: Annotated[str | None, Parameter(name="--baseline")] = None,
    options: RunOptions = RunOptions(),
    max_missing: Annotated[float, Parameter(group=STATISTICS, validator=Number(gte=0, lte=1))] = 0.05,
    allow_missing: Annotated[list[str] | None, Parameter(group=STATISTICS)] = None,
    tests: CorrectedTests = CorrectedTests(),
    queries: QUERIES = None,
    output: Output = Output(),
    report: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    summary: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
) -> None:
    """Decide whether runs may replace the baseline.

    The exit status is 0 for pass, 3 for fail and 4 for inconclusive.

    A run passes if harm beyond the margins is excluded on both facets and over all queries. It fails if such harm is shown, if
    it has no results for too many queries, or if a collection of the suite lacks it. Of several decisions the worst is the exit
    status.

    Parameters
    ----------
    margins
        The largest tolerable losses of coverage (percentage points) and of ranking (ranks), such as 1pp,0.5ranks; a third, of
        ranks over all queries, follows from them.
    reference
        A second baseline, such as the run of the last release (with --suite its name): both must pass, so that small losses
        cannot add up.
    suite
        Decide on all collections of this suite, instead of QRELS and runs.
    system
        With --suite: the name of the baseline.
    max_missing
        The largest tolerable share of answerable queries for which a run has no results.
    allow_missing
        RUN@COLLECTION, with --suite: a run that this collection may lack.
    report
        Also write the report page to this HTML file.
    summary
        Also append the decision to this file as Markdown, such as the step summary of GitHub Actions.

    Examples
    --------
    ir-outcomes gate qrels.txt bm25.run bm25-stem.run --margins 2pp,1 || echo status $?
    """
    from ir_outcomes.across.gate import gate as decide

    keep = 0 if report is None else 20
    if suite is not None:
        if qrels is not None:
            raise UsageError("--suite replaces QRELS and runs; leave them out.")
        found = _gate_suite(suite, system, reference, options, tests, keep)
    elif qrels is None or baseline is None or not runs:
        raise UsageError("Give QRELS, BASELINE and at least one RUN, or --suite.")
    elif system is not None or allow_missing:
        raise UsageError(f"{'--allow-missing' if allow_missing else '--baseline'} needs --suite.")
    else:
        found = _gate_runs(qrels, baseline, runs, reference, options, tests, queries, keep)
    side, *second = found.sides
    result = decide(
        side, reference=second[0] if second else None,
        margins=margins, max_missing=max_missing, allow_missing=allow_missing or (), inputs=found.inputs,
    )  # fmt: skip
    output.write(result)
    if summary is not None:
        _append(summary, f"{result.to_markdown(details=True)}\n")
    if report is not None:
        _write_report(found, report)
    sys.exit(result.exit_status)


def _gate_runs(
    qrels: str,
    baseline: str,
    runs: Sequence[str],
    reference: str | None,
    options: RunOptions,
    tests: CorrectedTests,
    queries: str | None,
    documents: int,
) -> _Compared:
    from ir_outcomes.across.gate import Side, side_of
    from ir_outcomes.comparison.compare import compare
    from ir_outcomes.reading.files import name_of

    paths = run_files(runs)
    second = [] if reference is None else [reference]
    if any(is_same_file(path, baseline) or name_of(path) == baseline for path in second):
        raise UsageError("--reference: this is the baseline already; leave it out, or give another run.")
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
        options, present = without_names(options), [path for path in paths if path not in empty]
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
    for path in paths:
        if os.path.isfile(path):  # "best" and the names of other runs are none
            try:
                without_names(options).evaluate(qrels, [path])
            except EmptyInput as error:
                yield path, f"{error}."


def _gate_suite(
    path: str, system: str | None, reference: str | None, options: RunOptions, tests: CorrectedTests, documents: int
) -> _Compared:
    from ir_outcomes.across.collections import compare_collections
    from ir_outcomes.across.gate import side_of
    from ir_outcomes.reading.suites import read_suite

    suite = read_suite(path)
    baseline = system or suite.baseline
    if baseline is None:
        raise UsageError("--baseline: name the baseline of the suite.")
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
