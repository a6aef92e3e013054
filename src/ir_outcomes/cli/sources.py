"""The runs of commands that compare with a baseline: their arguments, and their evaluation."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ir_outcomes.cli.options import OneOrderOptions

if TYPE_CHECKING:
    from ir_outcomes.evaluation.evaluation import Evaluation

__all__ = ["BASELINE", "CONTENDERS", "EvaluatedRuns", "evaluated_with_baseline", "is_same_file", "run_files"]

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
    from ir_outcomes.reading.runs import is_path, run_paths

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
    others = [path for path in paths if not is_same_file(path, baseline)] or paths
    evaluation = options.evaluate(qrels, [baseline, *others], **settings)
    return EvaluatedRuns(
        evaluation,
        evaluation.names[0],
        list(evaluation.names[1:]),
        is_single=paths == list(runs) and len(runs) == 1,
        has_repeated_baseline=len(others) < len(paths),
    )


def is_same_file(path: str, baseline: str) -> bool:
    """Return whether two paths are the same file, or two names the same."""
    try:
        return os.path.samefile(path, baseline)
    except OSError:
        return path == baseline
