"""The command that decides for a pipeline: on one collection, or on a suite."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from cyclopts import Parameter

import ir_outcomes as iro
from ir_outcomes.across.collections import with_nothing_to_compare
from ir_outcomes.cli.options import (
    SHARE,
    STATISTICS,
    CorrectedTests,
    Means,
    SystemOptions,
    UsageError,
    evaluated_with_baseline,
    is_same_file,
    margins_of,
    note_on_grades,
    run_files,
)
from ir_outcomes.cli.output import (
    OUTPUT,
    PAGE,
    QUERIES,
    TARGET,
    Output,
    ReportOptions,
    in_options,
    progress_is_shown,
)
from ir_outcomes.errors import some
from ir_outcomes.evaluation.remarks import MANY_MISSING
from ir_outcomes.reading.collections import read_suite
from ir_outcomes.reading.files import name_of


def gate(
    qrels: Annotated[str | None, Parameter(help="The qrels file or an ir_datasets id.")] = None,
    baseline: Annotated[str | None, Parameter(help="Run A: the system in use.")] = None,
    runs: Annotated[
        list[str] | None, Parameter(help="Run B or several: the systems to decide on.")
    ] = None,
    /,
    *,
    margins: Annotated[tuple[float, ...], Parameter(converter=margins_of, n_tokens=1)],
    reference: str | None = None,
    suite: str | None = None,
    system: Annotated[str | None, Parameter(name="--baseline")] = None,
    contenders: Annotated[list[str] | None, Parameter(name="--contender", group=STATISTICS)] = None,
    settings: SystemOptions = SystemOptions(),
    max_missing: Annotated[float, Parameter(group=STATISTICS, validator=SHARE)] = MANY_MISSING,
    allow_missing: Annotated[list[str] | None, Parameter(group=STATISTICS)] = None,
    tests: CorrectedTests = CorrectedTests(),
    means: Means = Means(),
    queries: Annotated[QUERIES, Parameter(group=OUTPUT)] = None,
    out: Output = Output(),
    report: Annotated[Path | None, PAGE] = None,
    summary: Annotated[Path | None, TARGET] = None,
) -> int:
    """Decide whether runs may replace the baseline.

    The exit status is 0 for pass, 3 for fail and 4 for inconclusive.

    A run passes if harm beyond the margins is excluded on both facets and over all queries; it
    fails if such harm is shown, or if it lacks results for too many queries or a collection. Of
    several decisions the worst counts.

    Parameters
    ----------
    margins
        The largest tolerable losses of coverage (percentage points) and of ranking (ranks), without
        a space, such as 1pp,0.5ranks; a third, of ranks over all queries, follows from them.
    reference
        A second baseline, such as the run of the last release (with --suite its name): both must
        pass, so that small losses cannot add up.
    suite
        Decide on all collections of this suite, instead of QRELS and runs.
    system
        With --suite: the name of the baseline.
    contenders
        The name of a contender, which must be there; may be given more than once. By default all
        other runs.
    max_missing
        The largest tolerable share of answerable queries for which a run has no results.
    allow_missing
        RUN@COLLECTION, with --suite: a run that this collection may lack.
    report
        Also write the report page to this HTML file.
    summary
        Also append the decision to this file as Markdown, such as the step summary of GitHub
        Actions.

    Examples
    --------
    ir-outcomes gate qrels.txt bm25.run bm25-stem.run --margins 2pp,1
    """
    page = ReportOptions(queries=queries, report=report)
    kept = {**page.kept(), **means.kept(), "on_error": "keep"}
    rules = {"measures": means.measures, **asdict(tests)}
    if suite is not None and qrels is None:
        found = _on_suite(suite, system, reference, contenders, settings, kept, rules)
    elif qrels and baseline and runs and not (suite or system or allow_missing):
        files = [qrels, baseline, *run_files(runs)]
        found = _on_runs(files, reference, contenders, settings, kept, rules)
    else:
        raise UsageError(
            "Give QRELS, BASELINE and at least one RUN, or else --suite FOLDER with --baseline"
            " NAME: all other systems of the suite are then contenders, and --allow-missing can be"
            " given."
        )
    result = iro.gate(
        found.compared[0],
        reference=None if reference is None else found.compared[1],
        margins=margins,
        max_missing=max_missing,
        allow_missing=allow_missing or (),
        contenders=found.contenders,
        collections=found.collections,
        inputs=filter(os.path.isfile, found.files),
    )
    out.write(result)
    if summary is not None:
        from ir_outcomes.showing.formats import as_markdown

        with summary.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(f"{as_markdown(in_options(result), details=True)}\n")
    page.write(result, found.evaluated, *found.files)
    return result.exit_status


class _Compared(NamedTuple):
    """What a gate decides on: comparisons with the baseline and the reference, and what they were made from."""

    evaluated: Any
    compared: list[Any]
    contenders: list[str]
    files: list[str]
    collections: Sequence[str] = ()


def _on_suite(
    suite: str,
    system: str | None,
    reference: str | None,
    contenders: Sequence[str] | None,
    settings: SystemOptions,
    kept: dict[str, Any],
    rules: dict[str, Any],
) -> _Compared:
    if settings.names or settings.layout:
        raise UsageError("--names and --layout are for RUN; a suite names its runs itself.")
    if settings.replicates:
        raise UsageError("--replicates is for QRELS and RUNS, not for a suite.")
    found = read_suite(suite)
    first = system
    if first is None:
        raise UsageError("--baseline: name the baseline of the suite.")
    given = settings.settings()
    del given["names"], given["layout"]
    evaluated = iro.evaluate_suite(found, **kept, **given)
    note_on_grades(settings.rel, *evaluated.values())
    against = [first] if reference is None else [first, reference]
    chosen = _contenders(contenders, found.systems, against)
    present = [name for name in chosen if name in found.systems]
    compared: list[Any] = []
    for name in against:
        if name not in found.systems:
            raise iro.ParameterError(
                f"no collection has a run called {name!r}; the runs are {some(found.systems, 10)}"
            )
        together = [
            evaluation
            for evaluation in evaluated.values()
            if name in evaluation.names and not set(present).isdisjoint(evaluation.names)
        ]
        if together:
            compared.append(iro.compare_collections(evaluated, name, present, **rules))
        else:
            compared.append(with_nothing_to_compare(evaluated, name, chosen, alpha=rules["alpha"]))
    return _Compared(evaluated, compared, chosen, found.files, found.without_runs)


def _on_runs(
    files: list[str],
    reference: str | None,
    contenders: Sequence[str] | None,
    settings: SystemOptions,
    kept: dict[str, Any],
    rules: dict[str, Any],
) -> _Compared:
    qrels, baseline, *runs = files
    if reference is not None and (
        is_same_file(reference, baseline) or name_of(reference) == baseline
    ):
        raise UsageError(
            "--reference: this is the baseline already; leave it out, or give another run."
        )
    evaluated, first, others = evaluated_with_baseline(
        settings, qrels, baseline, runs, reference=reference, **kept
    )
    there = [others] if isinstance(others, str) else others
    against = [first] if reference is None else [first, there.pop()]
    chosen = _contenders(contenders, there, against)
    present = [name for name in there if name in chosen] or there
    compared = [
        iro.compare(evaluated, name, present, progress=progress_is_shown(), **rules)
        for name in against
    ]
    if reference is not None:
        files = [*files, reference]
    return _Compared(evaluated, compared, chosen, list(dict.fromkeys(files)))


def _contenders(
    asked: Sequence[str] | None, runs: Sequence[str], against: Sequence[str]
) -> list[str]:
    """Return the contenders that must be there: those that were named, or all runs but the baselines."""
    for name in asked or ():
        if name in against:
            raise UsageError(f"--contender {name}: this is a baseline; name another run.")
    return list(asked or [name for name in runs if name not in against])
