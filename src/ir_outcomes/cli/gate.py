"""The command that decides for a pipeline: on one collection, or on a suite."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

import ir_outcomes as iro
from ir_outcomes.across.collections import with_nothing_to_compare
from ir_outcomes.cli import options, output
from ir_outcomes.errors import some
from ir_outcomes.evaluation.evaluation import MANY_MISSING
from ir_outcomes.reading.files import name_of
from ir_outcomes.reading.suites import read_suite


def gate(
    qrels: Annotated[str | None, Parameter(help="The qrels file or an ir_datasets id.")] = None,
    baseline: Annotated[str | None, Parameter(help="Run A: the system in use.")] = None,
    runs: Annotated[
        list[str] | None, Parameter(help="Run B or several: the systems to decide on.")
    ] = None,
    /,
    *,
    margins: Annotated[tuple[float, ...], Parameter(converter=options.margins_of, n_tokens=1)],
    reference: str | None = None,
    suite: str | None = None,
    system: Annotated[str | None, Parameter(name="--baseline")] = None,
    contenders: Annotated[
        list[str] | None, Parameter(name="--contender", group=options.STATISTICS)
    ] = None,
    settings: options.SystemOptions = options.SystemOptions(),
    max_missing: Annotated[
        float, Parameter(group=options.STATISTICS, validator=options.SHARE)
    ] = MANY_MISSING,
    allow_missing: Annotated[list[str] | None, Parameter(group=options.STATISTICS)] = None,
    tests: options.CorrectedTests = options.CorrectedTests(),
    means: options.Means = options.Means(),
    queries: Annotated[output.QUERIES, Parameter(group=output.OUTPUT)] = None,
    out: output.Output = output.Output(),
    report: Annotated[Path | None, output.PAGE] = None,
    summary: Annotated[Path | None, output.TARGET] = None,
) -> int:
    """Decide whether runs may replace the baseline.

    The exit status is 0 for pass, 3 for fail and 4 for inconclusive.

    A run passes if harm beyond the margins is excluded on both facets and over all queries; it
    fails if such harm is shown, or if it lacks results for too many queries or a collection. Of
    several decisions the worst counts.

    Parameters
    ----------
    margins
        The largest tolerable losses of coverage (percentage points) and of ranking (ranks), such as
        1pp,0.5ranks; a third, of ranks over all queries, follows from them.
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
    ir-outcomes gate qrels.txt bm25.run bm25-stem.run --margins 2pp,1 || echo status $?
    """
    page = output.ReportOptions(queries=queries, report=report)
    kept: dict[str, Any] = {**page.kept(), **means.kept(), "on_error": "keep"}
    asked = {"measures": means.measures or ()}
    evaluated: Any
    compared: list[Any]
    collections: tuple[str, ...] = ()
    if suite is not None and qrels is None:
        if settings.names or settings.layout:
            raise options.UsageError(
                "--names and --layout are for RUN; a suite names its runs itself."
            )
        if settings.replicates:
            raise options.UsageError("--replicates is for QRELS and RUNS, not for a suite.")
        found = read_suite(suite)
        first = system or found.baseline
        if first is None:
            raise options.UsageError("--baseline: name the baseline of the suite.")
        given = settings.settings()
        del given["names"], given["layout"]
        evaluated = iro.evaluate_suite(found, **kept, **given)
        options.note_on_grades(settings.rel, *evaluated.values())
        against = [first] if reference is None else [first, reference]
        files = found.files
        collections = found.without_runs
        chosen = _contenders(contenders, found.systems, against)
        present = [name for name in chosen if name in found.systems]
        compared = []
        for name in against:
            if any(
                {name, contender} <= {*evaluation.names}
                for evaluation in evaluated.values()
                for contender in present
            ):
                rules: dict[str, Any] = {"groups": found.groups or None, **asked, **asdict(tests)}
                compared.append(iro.compare_collections(evaluated, name, present, **rules))
            elif name in found.systems:
                compared.append(with_nothing_to_compare(evaluated, name, chosen, alpha=tests.alpha))
            else:
                raise iro.ParameterError(
                    f"no collection has a run called {name!r}; the runs are"
                    f" {some(found.systems, 10)}"
                )
    elif (
        qrels is not None
        and baseline is not None
        and runs
        and not (suite or system or allow_missing)
    ):
        paths = options.run_files(runs)
        if reference is not None and (
            options.is_same_file(reference, baseline) or name_of(reference) == baseline
        ):
            raise options.UsageError(
                "--reference: this is the baseline already; leave it out, or give another run."
            )
        evaluated, first, others = options.evaluated_with_baseline(
            settings, qrels, baseline, paths, reference=reference, **kept
        )
        there = [others] if isinstance(others, str) else others
        against = [first] if reference is None else [first, there.pop()]
        files = list(dict.fromkeys(filter(None, [qrels, baseline, *paths, reference])))
        chosen = _contenders(contenders, there, against)
        present = [name for name in there if name in chosen] or there
        rules = {"progress": output.progress_is_shown(), **asked, **asdict(tests)}
        compared = [iro.compare(evaluated, name, present, **rules) for name in against]
    else:
        raise options.UsageError(
            "Give QRELS, BASELINE and at least one RUN, or else --suite FOLDER with --baseline"
            " NAME: all other systems of the suite are then contenders, and --allow-missing can be"
            " given."
        )
    result = iro.gate(
        compared[0],
        reference=None if reference is None else compared[1],
        margins=margins,
        max_missing=max_missing,
        allow_missing=allow_missing or (),
        contenders=chosen,
        collections=collections,
        inputs=filter(os.path.isfile, files),
    )
    out.write(result)
    if summary is not None:
        from ir_outcomes.showing.formats import as_markdown

        with summary.open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(f"{as_markdown(output.in_options(result), details=True)}\n")
    page.write(result, evaluated, *files)
    return result.exit_status


def _contenders(
    asked: Sequence[str] | None, runs: Sequence[str], against: Sequence[str]
) -> list[str]:
    """Return the contenders that must be there: those that were named, or all runs but the baselines."""
    for name in asked or ():
        if name in against:
            raise options.UsageError(f"--contender {name}: this is a baseline; name another run.")
    return list(asked or [name for name in runs if name not in against])
