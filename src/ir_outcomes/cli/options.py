"""The options of the command line: groups that commands share, as dataclasses, and what reads their values.

A field of a group is an option; its docstring is the help. The names of the fields are those of the arguments in Python.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Group, Parameter, Token
from cyclopts.validators import Number

from ir_outcomes.cli.output import progress_is_shown
from ir_outcomes.types import Correction, FamilyCorrection, OneOrder, RankingTest, RunBy, Ties, UnitChoice

if TYPE_CHECKING:
    from ir_outcomes.evaluation.evaluation import Evaluation

__all__ = [
    "ALPHA",
    "BASELINE",
    "CONTENDERS",
    "MAIN",
    "MEASURES",
    "NAMES",
    "POSITIVE",
    "QRELS",
    "RESAMPLES",
    "SEED",
    "STATISTICS",
    "STDIN",
    "ClusteredRunOptions",
    "CorrectedTests",
    "EvaluateOptions",
    "EvaluatedRuns",
    "FamilyTests",
    "OneOrderOptions",
    "RunOptions",
    "SavedRunOptions",
    "SuiteOptions",
    "Tests",
    "UsageError",
    "evaluated_with_baseline",
    "margins_of",
    "named_files",
]  # fmt: skip

MAIN = Group("Options", sort_key=1)
STATISTICS = Group("Statistics", sort_key=2)
STDIN = "\0"  # stands for "-" while the words of a command are parsed, which takes a bare hyphen for an option


class UsageError(Exception):
    """Wrong usage, which ends the program with status 2."""


def _words(kind: Any, tokens: Sequence[Token]) -> Any:
    """Return words as they were given; bytes of a name that are not UTF-8 stay as they are in names of files."""
    words = ["-" if token.value == STDIN else token.value for token in tokens]
    return words if kind is not str else words[0]


def _as_text(kind: Any, tokens: Sequence[Token]) -> list[str]:
    """Show bytes of names that are not UTF-8 as escapes, as in the names of files; JSON cannot contain them."""
    return [os.fsencode(token.value).decode("utf-8", "backslashreplace") for token in tokens]


def margins_of(kind: Any, tokens: Sequence[Token]) -> tuple[float, ...]:
    """Read margins by their units; a number without a unit has that of its position."""
    units = ("pp", "ranks", "ranks-all")
    text = tokens[0].value
    parts = [re.fullmatch(rf"(.+?)\s*({'|'.join(units)})?", part.strip()) for part in text.split(",")]
    named = {part[2] or unit: part[1] for part, unit in zip(parts, units, strict=False) if part}
    try:
        if len(named) < len(parts):
            raise ValueError("a unit is there twice, or a number is missing")
        margins = tuple(float(named[unit]) for unit in units[: max(2, len(named))])
    except (ValueError, KeyError):
        raise ValueError(
            f"{text!r}: write two numbers, percentage points of coverage and ranks, or a third, ranks over all queries, such "
            "as 1pp,0.5ranks or 1pp,0.5ranks,1ranks-all. Numbers without a unit are read in this order."
        ) from None
    if not all(0 < margin < math.inf for margin in margins):
        raise ValueError(f"{text!r}: all margins must be positive and finite, such as 1pp,0.5.")
    return margins


def named_files(words: Sequence[str] | None, option: str) -> dict[str, str]:
    """Read NAME=FILE words into a mapping from names to files."""
    files: dict[str, str] = {}
    for word in words or ():
        name, _, file = word.partition("=")
        if not (name and file):
            raise UsageError(f"{option} {word}: write NAME=FILE, such as private=private.txt.")
        if name in files:
            raise UsageError(f"{option}: {name} is given twice; use a different name for each file.")
        files[os.fsencode(name).decode("utf-8", "backslashreplace")] = file
    return files


def _jobs(kind: Any, number: int) -> None:
    if number == 0 or number < -1:
        raise ValueError("Must be 1 or more, or -1 for one job per processor.")


POSITIVE = Number(gte=1)
BETWEEN_0_AND_1 = Number(gt=0, lt=1)
QRELS = Annotated[str, Parameter(converter=_words, help="The qrels file, or an ir_datasets id such as msmarco-document/dev.")]
BASELINE = Annotated[
    str,
    Parameter(
        converter=_words,
        help="Run A: a file; the name of one of the other runs; best, the one with the highest mean reciprocal rank; or "
        "irds:ID, the run that comes with a dataset (irds: for that of QRELS).",
    ),
]
CONTENDERS = Annotated[
    list[str], Parameter(converter=_words, help="Run B, or several runs: files, or directories of run files.")
]
RUNS = Annotated[list[str], Parameter(converter=_words, help="The runs: files, or directories of run files.")]
ALPHA = Annotated[float, Parameter(group=STATISTICS, validator=BETWEEN_0_AND_1)]
SEED = Annotated[int, Parameter(group=STATISTICS, validator=Number(gte=0), help="The seed of the random numbers.")]
RESAMPLES = Annotated[
    int, Parameter(group=STATISTICS, validator=POSITIVE, help="The number of random resamples of the queries.")
]
MEASURES = Annotated[list[str] | None, Parameter(name=["--measure", "-m"])]
NAMES = Annotated[list[str] | None, Parameter(name="--name", converter=_as_text)]
QUERIES = Annotated[
    str | None,
    Parameter(help="The texts of the queries: a file with an id, a tab and a text on each line; JSON lines; or a BEIR folder."),
]
HIGHER_IS_BETTER = Annotated[
    bool | None,
    Parameter(
        name="--higher-is-better",
        negative="--lower-is-better",
        group=STATISTICS,
        help="Which values are better, for a measure whose direction is not known.",
    ),
]
MARGINS = Annotated[
    tuple[float, ...] | None,
    Parameter(
        group=MAIN,
        converter=margins_of,
        n_tokens=1,
        help="Non-inferiority margins: the largest tolerable losses of coverage (percentage points) and of ranking (ranks), "
        "and, after a second comma, over all queries (ranks), such as 1pp,0.5ranks.",
    ),
]
_ORDERS = "The order of documents with equal scores: by descending id (trec), ascending id (msmarco), or as in the file (input)"
CUTOFF = Annotated[int | None, Parameter(alias="-k", group=MAIN, validator=POSITIVE)]
REL = Annotated[int | None, Parameter(group=MAIN, validator=POSITIVE)]
ONE_ORDER = Annotated[OneOrder, Parameter(help=f"{_ORDERS}.")]


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class SettingsOptions:
    """How runs are evaluated, whatever they are; the fields, also of subclasses, are arguments of `ir_outcomes.evaluate`."""

    rel: REL = None
    """The smallest grade that counts as relevant; by default the dataset's, or 1."""
    ties: Annotated[Ties, Parameter(help=f"{_ORDERS}; or the mean over all their orders (expected).")] = "trec"
    judged_only: bool = False
    """Remove unjudged documents before ranks are counted."""
    n_jobs: Annotated[int, Parameter(name=["--jobs", "-j"], validator=_jobs)] = 1
    """How many runs to evaluate at a time; -1 for one per processor."""

    def settings(self) -> dict[str, Any]:
        """Return the arguments of `ir_outcomes.evaluate` that these options give."""
        return {**asdict(self), "progress": progress_is_shown()}


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class EvaluateOptions(SettingsOptions):
    """How runs are evaluated, for analyses that take a cutoff of their own."""

    names: NAMES = None
    """A name for a run, instead of its file's; give one for each run, in their order."""
    run_by: RunBy | None = None
    """What orders the documents of run files that do not say it: their ranks, or their scores."""
    layout: str | None = None
    """The form of the run files, such as rankllm, where several fit; FILE#NAME names that of one file."""

    def evaluate(self, qrels: Any, runs: Any, **settings: Any) -> Evaluation:
        """Evaluate runs with these options."""
        from ir_outcomes.evaluation.evaluate import evaluate

        arguments = {**self.settings(), **settings}
        by, layout, saved_as = (arguments.pop(name, None) for name in ("run_by", "layout", "save"))
        if by and layout:
            raise UsageError("Give --run-by or --layout.")
        if by or layout:
            runs = [f"{run}#{by or layout}" if os.path.isfile(run) else run for run in runs]
        evaluation = evaluate(qrels, runs, **arguments)
        if saved_as is not None:
            evaluation.save(saved_as)
        return evaluation


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class OneOrderOptions(EvaluateOptions):
    """The same for analyses that need a single order among equal scores."""

    ties: ONE_ORDER = "trec"


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class RunOptions(OneOrderOptions):
    """How runs are evaluated, for analyses of outcomes."""

    cutoff: CUTOFF = None
    """Ignore ranks beyond this one; by default the dataset's cutoff, or 100."""
    unit: Annotated[UnitChoice, Parameter(group=MAIN)] = "auto"
    """What is found or not: a query's first relevant document (query), or each of them (document). auto is the dataset's unit,
    or query where the median query has one relevant document."""


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class ClusteredRunOptions(RunOptions):
    """The same where queries can come in clusters."""

    clusters: str | None = None
    """The clusters of the queries, which are then the unit of every test and interval: a file with a query id, a tab and a
    cluster on each line, or by: and a separator, the id up to its last one."""


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class SavedRunOptions(ClusteredRunOptions):
    """The same for commands that keep what they evaluated."""

    save: Path | None = None
    """Write the search lengths to this file (.npz), which stands for the runs in later calls."""


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class SuiteOptions(SettingsOptions):
    """How the runs of all collections of a suite are evaluated; the suite names them."""

    ties: ONE_ORDER = "trec"
    cutoff: CUTOFF = None
    """Ignore ranks beyond this one; by default that of each collection."""
    unit: Annotated[UnitChoice, Parameter(group=MAIN)] = "auto"
    """What is found or not: a query's first relevant document (query), or each of them (document)."""


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class Tests:
    """How the verdict on one contender is reached."""

    alpha: ALPHA = 0.05
    """The significance level of tests and verdicts; intervals have level 1 - alpha."""
    test: RankingTest = "t"
    """The test that decides on ranking; where fewer than 30 queries differ, signflip takes the place of t."""


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class CorrectedTests(Tests):
    """How verdicts on several contenders are reached."""

    correction: Correction = "holm"
    """The correction of p-values for several contenders."""


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class MarginTests(CorrectedTests):
    """The same with non-inferiority margins."""

    margins: MARGINS = None


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class FamilyTests(Tests):
    """How verdicts on several contenders, or on all pairs, are reached."""

    correction: FamilyCorrection = "holm"
    """The correction of p-values for several contenders; tukey is for --all-pairs."""
    margins: MARGINS = None


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
    from ir_outcomes.evaluation.evaluate import is_saved
    from ir_outcomes.evaluation.evaluation import load_evaluation
    from ir_outcomes.reading.files import name_of

    paths = run_files(runs)
    called = list(options.names or ())
    for path in () if options.names else paths:
        called += load_evaluation(path).names if is_saved(path) else [name_of(path)]
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
    """Whether two paths are of one file."""
    try:
        return os.path.samefile(path, baseline)
    except OSError:
        return path == baseline


def without_names(options: RunOptions) -> RunOptions:
    """Return the options for a part of the runs."""
    return replace(options, names=None)
