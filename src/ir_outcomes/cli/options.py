"""The options of the command line: their types, the groups that commands share, and the checks before any file is opened."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from ir_outcomes.cli.streams import progress_is_shown, quiet
from ir_outcomes.errors import escaped
from ir_outcomes.types import (
    Correction,
    FamilyCorrection,
    Missing,
    OneOrder,
    RankingTest,
    RunBy,
    Ties,
    UnitChoice,
)

if TYPE_CHECKING:
    from ir_outcomes.evaluation.evaluation import Evaluation

__all__ = [
    "ALPHA", "CORRECTION", "CUTOFF", "HIGHER_IS_BETTER", "MARGINS", "MISSING", "NAMES", "QRELS", "QUERIES", "QUIET",
    "RESAMPLES", "RUNS", "SEED", "CorrectedTestOptions", "EvaluateOptions", "FamilyOptions", "MarginOptions",
    "OneOrderOptions", "RunOptions", "SuiteOptions", "TestOptions", "bounded", "choice", "named_files", "usage_error",
]  # fmt: skip


MARGIN_UNITS = ("pp", "ranks", "ranks-all")
_MARGIN = re.compile(rf"(.+?)\s*({'|'.join(MARGIN_UNITS)})?")


def usage_error(message: str) -> typer.BadParameter:
    """Return the error of wrong usage, which ends the program with status 2."""
    return typer.BadParameter(escaped(message))


def choice(closed_set: Any, *declarations: str, help: str) -> Any:
    """Return an option with a closed set of values: a Literal, or a tuple of str.

    A parser gives text, unlike an Enum, whose members would end up in results.
    """
    values: tuple[str, ...] = closed_set if isinstance(closed_set, tuple) else get_args(closed_set)

    def parse(value: str) -> str:
        if value not in values:
            raise usage_error(f"{value!r} is not one of {', '.join(values)}.")
        return value

    def complete(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return typer.Option(*declarations, parser=parse, metavar="|".join(values), autocompletion=complete, help=help)


def bounded(low: float, high: float) -> Callable[[str], float]:
    """Return a parser of numbers between two bounds, the bounds excluded."""

    def parse(value: str) -> float:
        number = float(value)  # a ValueError is reported by typer
        if not low < number < high:
            raise usage_error(f"{value} is not between {low:g} and {high:g}.")
        return number

    parse.__name__ = "number"
    return parse


def _margins(text: str) -> tuple[float, ...]:
    """Read margins by their units; a number without a unit has that of its position."""
    parts = [_MARGIN.fullmatch(part.strip()) for part in text.split(",")]
    named = {part[2] or unit: part[1] for part, unit in zip(parts, MARGIN_UNITS, strict=False) if part}
    try:
        if len(named) < len(parts):
            raise ValueError("a unit is there twice, or a number is missing")
        margins = tuple(float(named[unit]) for unit in MARGIN_UNITS[: max(2, len(named))])
    except (ValueError, KeyError):
        raise usage_error(
            f"{text!r}: write two numbers, percentage points of coverage and ranks, or a third, ranks over all queries, such "
            "as 1pp,0.5ranks or 1pp,0.5ranks,1ranks-all. Numbers without a unit are read in this order."
        ) from None
    if not all(0 < margin < math.inf for margin in margins):
        raise usage_error(f"{text!r}: all margins must be positive and finite, such as 1pp,0.5.")
    return margins


def _jobs(text: str) -> int:
    number = int(text)
    if number == 0 or number < -1:
        raise usage_error(f"{text}: must be 1 or more, or -1 for one job per processor.")
    return number


def _as_text(name: str) -> str:
    """Show bytes of a name that are not UTF-8 as escapes, as in the names of files; JSON cannot contain them."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def named_files(words: Sequence[str] | None, option: str) -> dict[str, str]:
    """Read NAME=FILE words into a mapping from names to files."""
    files: dict[str, str] = {}
    for word in words or ():
        name, _, file = word.partition("=")
        if not (name and file):
            raise usage_error(f"{option} {word}: write NAME=FILE, such as private=private.txt.")
        if name in files:
            raise usage_error(f"{option}: {name} is given twice; use a different name for each file.")
        files[_as_text(name)] = file
    return files


QRELS = Annotated[
    str, typer.Argument(metavar="QRELS", help="The qrels file, or an ir_datasets id such as msmarco-document/dev.")
]
RUNS = Annotated[list[str], typer.Argument(metavar="RUN...", help="The runs: files, or directories of run files.")]
CUTOFF = Annotated[
    int | None,
    typer.Option("--cutoff", "-k", min=1, help="Ignore ranks beyond this one; by default the dataset's cutoff, or 100."),
]
ALPHA = Annotated[
    float,
    typer.Option(
        parser=bounded(0, 1),
        metavar="<float>",
        help="The significance level of tests and verdicts; intervals have level 1 - alpha.",
    ),
]
MARGINS = Annotated[
    Any,
    typer.Option(
        parser=_margins,
        metavar="POINTS,RANKS[,RANKS-ALL]",
        help="Non-inferiority margins: the largest tolerable losses of coverage (percentage points), of ranking (ranks), and "
        "over all queries (ranks; by default what the other two tolerate together), such as 1pp,0.5 or "
        "1pp,0.5ranks,1ranks-all.",
    ),
]
CORRECTION = Annotated[Correction, choice(Correction, help="The correction of p-values for several contenders.")]
_ORDERS = "The order of documents with equal scores: by descending id (trec), ascending id (msmarco), or as in the file (input)"
ONE_ORDER = Annotated[OneOrder, choice(OneOrder, help=f"{_ORDERS}.")]
UNIT = Annotated[
    UnitChoice,
    choice(
        UnitChoice,
        help="What is found or not: a query's first relevant document (query), or each of them (document). auto is the "
        "dataset's unit, or query where the median query has one relevant document.",
    ),
]
SEED = Annotated[int, typer.Option(min=0, help="The seed of the random numbers.")]
RESAMPLES = Annotated[int, typer.Option(min=1, help="The number of random resamples of the queries.")]
MISSING = Annotated[
    Missing,
    choice(
        Missing,
        help="The search length of a relevant document that was not retrieved: just beyond the cutoff (cutoff), or the number "
        "of irrelevant documents retrieved (retrieved; equation 3 of Alex et al. 2022).",
    ),
]
HIGHER_IS_BETTER = Annotated[
    bool | None,
    typer.Option(
        "--higher-is-better/--lower-is-better", help="Which values are better, for a measure whose direction is not known."
    ),
]
NAMES = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        help="A name for a run, instead of its file's; give one for each run, in their order.",
        callback=lambda names: names and list(map(_as_text, names)),
    ),
]
RUN_BY = Annotated[
    RunBy | None,
    choice(RunBy, "--run-by", help="What orders the documents of run files that do not say it: their ranks, or their scores."),
]
LAYOUT = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The form of the run files, such as rankllm, where several fit; FILE#NAME names that of one file.",
    ),
]
QUERIES = Annotated[
    str | None,
    typer.Option(
        "--queries",
        metavar="FILE",
        help="The texts of the queries: a file with an id, a tab and a text on each line; JSON lines; or a BEIR folder.",
    ),
]
QUIET = Annotated[
    bool,
    typer.Option(
        "--quiet", help="Print no warnings and no progress bars.", callback=lambda value: quiet(bool(value)), is_eager=True
    ),
]


@dataclass(frozen=True)
class SettingsOptions:
    """How runs are evaluated, whatever they are; the fields, also of subclasses, are arguments of `ir_outcomes.evaluate`."""

    rel: Annotated[
        int | None, typer.Option(min=1, help="The smallest grade that counts as relevant; by default the dataset's, or 1.")
    ] = None
    ties: Annotated[Ties, choice(Ties, help=f"{_ORDERS}; or the mean over all their orders (expected).")] = "trec"
    judged_only: Annotated[bool, typer.Option("--judged-only", help="Remove unjudged documents before ranks are counted.")] = (
        False
    )
    n_jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", parser=_jobs, metavar="<int>", help="How many runs to evaluate at a time; -1 for one per processor."
        ),
    ] = 1

    def settings(self) -> dict[str, Any]:
        """Return the arguments of `ir_outcomes.evaluate` that these options give."""
        return {**asdict(self), "progress": progress_is_shown()}


@dataclass(frozen=True)
class EvaluateOptions(SettingsOptions):
    """How runs are evaluated, for analyses that take a cutoff of their own."""

    names: NAMES = None
    run_by: RUN_BY = None
    layout: LAYOUT = None
    save: Annotated[
        Path | None,
        typer.Option(help="Write the search lengths to this file (.npz), which stands for the runs in later calls."),
    ] = None

    def evaluate(self, qrels: Any, runs: Any, **settings: Any) -> Evaluation:
        """Evaluate runs with these options."""
        from ir_outcomes.evaluation.evaluate import evaluate

        arguments = {**self.settings(), **settings}
        by, layout, saved_as = (arguments.pop(name) for name in ("run_by", "layout", "save"))
        if by and layout:
            raise usage_error("Give --run-by or --layout.")
        if by or layout:
            runs = [f"{run}#{by or layout}" if os.path.isfile(run) else run for run in runs]
        evaluation = evaluate(qrels, runs, **arguments)
        if saved_as is not None:
            evaluation.save(saved_as)
        return evaluation


@dataclass(frozen=True)
class OneOrderOptions(EvaluateOptions):
    """The same for analyses that need a single order among equal scores."""

    ties: ONE_ORDER = "trec"


@dataclass(frozen=True)
class RunOptions(OneOrderOptions):
    """How runs are evaluated, for analyses of outcomes."""

    cutoff: CUTOFF = None
    unit: UNIT = "auto"


@dataclass(frozen=True)
class SuiteOptions(SettingsOptions):
    """How the runs of all collections of a suite are evaluated; the suite names them."""

    ties: ONE_ORDER = "trec"
    cutoff: CUTOFF = None
    unit: UNIT = "auto"


@dataclass(frozen=True)
class TestOptions:
    """How the verdict on one contender is reached."""

    alpha: ALPHA = 0.05
    test: Annotated[
        RankingTest,
        choice(
            RankingTest,
            help="The test that decides on ranking; where fewer than 30 queries differ, signflip takes the place of t.",
        ),
    ] = "t"


@dataclass(frozen=True)
class CorrectedTestOptions(TestOptions):
    """How verdicts on several contenders are reached."""

    correction: CORRECTION = "holm"


@dataclass(frozen=True)
class MarginOptions(CorrectedTestOptions):
    """The same with non-inferiority margins."""

    margins: MARGINS = None


@dataclass(frozen=True)
class FamilyOptions(TestOptions):
    """How verdicts on several contenders, or on all pairs, are reached."""

    correction: Annotated[
        FamilyCorrection,
        choice(FamilyCorrection, help="The correction of p-values for several contenders; tukey is for --all-pairs."),
    ] = "holm"
    margins: MARGINS = None
