"""What commands analyse: evaluated runs, with a baseline or without, or per-query values of other tools."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ir_outcomes.cli.options import EvaluateOptions, OneOrderOptions, RunOptions, usage_error

if TYPE_CHECKING:
    from ir_outcomes.evaluation.evaluation import Evaluation
    from ir_outcomes.evaluation.scores import Scores

__all__ = [
    "BASELINE", "CONTENDERS", "FROM_OUTPUTS", "QRELS_OR_OUTPUT", "RUNS_OR_OUTPUTS", "EvaluatedRuns", "evaluated_with_baseline",
    "needed", "run_files", "scores", "settings_of_runs", "sources",
]  # fmt: skip

BASELINE = Annotated[
    str,
    typer.Argument(
        metavar="BASELINE",
        help="Run A: a file; the name of one of the other runs; best, the one with the highest mean reciprocal rank; or "
        "irds:<dataset id>, the run that comes with a dataset (irds: for that of QRELS).",
    ),
]
CONTENDERS = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="Run B, or several runs: files, or directories of run files.")
]
QRELS_OR_OUTPUT = Annotated[
    str,
    typer.Argument(
        metavar="QRELS", help="The qrels file or an ir_datasets id; with --from-outputs the file of the first run, or a table."
    ),
]
RUNS_OR_OUTPUTS = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN...", help="The runs: files, or directories of run files; with --from-outputs the files of the other runs."
    ),
]
FROM_OUTPUTS = Annotated[
    bool,
    typer.Option(
        "--from-outputs",
        help="Instead of qrels and runs, take per-query values: files that trec_eval -q, ir_measures -q or PyTerrier wrote, "
        "one for each run; or a single table, CSV or tab-separated, with a row for each run and a column for each query.",
    ),
]


class EvaluatedRuns(NamedTuple):
    """The runs of a call, by name."""

    evaluation: Evaluation
    baseline: str
    contenders: list[str]
    is_single: bool  # whether one contender was named, and no directory
    has_repeated_baseline: bool = False  # whether the baseline was also among the contenders, and left out there

    @property
    def one_or_all(self) -> str | list[str]:
        """The contenders as `compare` takes them: the name of a single one, or all names."""
        return self.contenders[0] if self.is_single else self.contenders


def run_files(runs: Sequence[str]) -> list[str]:
    """List the runs of a call, those of directories one by one."""
    from ir_outcomes.reading.run_lists import is_path, run_paths

    return [path for run in runs for path in (run_paths(run) if is_path(run) else [run])]


def evaluated_with_baseline(
    options: OneOrderOptions, qrels: Any, baseline: str, runs: Sequence[str], **settings: Any
) -> EvaluatedRuns:
    """Evaluate a baseline and contenders, where the baseline can be the name of one of the other runs."""
    from ir_outcomes.reading.files import name_of

    paths = run_files(runs)
    called = list(options.names) if options.names else [name_of(path) for path in paths]
    if not os.path.exists(baseline) and (baseline == "best" or baseline in called):
        evaluation = options.evaluate(qrels, paths, **settings)
        return EvaluatedRuns(evaluation, baseline, [name for name in evaluation.names if name != baseline], is_single=False)
    others = [path for path in paths if not _is_same_file(path, baseline)] or paths
    evaluation = options.evaluate(qrels, [baseline, *others], **settings)
    return EvaluatedRuns(
        evaluation,
        evaluation.names[0],
        list(evaluation.names[1:]),
        is_single=paths == list(runs) and len(runs) == 1,
        has_repeated_baseline=len(others) < len(paths),
    )


def _is_same_file(path: str, baseline: str) -> bool:
    try:
        return os.path.samefile(path, baseline)
    except OSError:
        return path == baseline


def needed(runs: Sequence[str] | None) -> list[str]:
    """Return the runs of a command that can do without them if it is given outputs."""
    if not runs:
        raise usage_error("Missing argument 'RUN...'.")
    return list(runs)


def sources(
    qrels: str,
    runs: list[str] | None,
    measures: list[str] | None,
    cutoff: int | None,
    from_outputs: bool,
    higher_is_better: bool | None,
    options: OneOrderOptions,
) -> Iterator[tuple[Any, str | None]]:
    """Yield what the runs are ranked by: an evaluation and a measure of it, or scores."""
    if from_outputs:
        for measure in measures or (None,):
            yield scores(qrels, runs, measure, higher_is_better, options), None
        return
    evaluation = options.evaluate(qrels, needed(runs), measures=measures or (), directions=higher_is_better)
    if cutoff is not None:
        yield evaluation.scores_of(None, cutoff=cutoff), None
        return
    for measure in measures or (None,):
        yield evaluation, measure


def scores(
    first: str, others: Sequence[str] | None, measure: str | None, higher_is_better: bool | None, options: EvaluateOptions
) -> Scores:
    """Read per-query values: one file for each run, or one file of several runs, which the names choose.

    Options that change nothing about values that are already computed are refused.
    """
    from ir_outcomes.evaluation.output_scores import scores_from_outputs

    has_cutoff = isinstance(options, RunOptions) and (options.cutoff is not None or options.unit != "auto")
    if settings_of_runs(options) or has_cutoff or options.cache is not None or options.n_jobs != 1:
        raise usage_error(
            "--cutoff, --rel, --ties, --unit, --judged-only, --jobs and --cache need runs; outputs are values already computed."
        )
    sources: Any = [first, *others] if others else first
    return scores_from_outputs(sources, measure, higher_is_better=higher_is_better, names=options.names)


def settings_of_runs(options: EvaluateOptions) -> bool:
    """Tell whether an option was given that changes search lengths."""
    return options.rel is not None or options.ties != "trec" or options.judged_only
