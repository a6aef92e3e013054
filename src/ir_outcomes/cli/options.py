"""The options of the command line: groups that commands share, as dataclasses, and what reads their values.

A field of a group is an option; its docstring is the help. The names of the fields are those of the
arguments in Python.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from itertools import chain
from typing import Annotated, Any

from cyclopts import Group, Parameter, Token
from cyclopts.validators import Number

import ir_outcomes as iro
from ir_outcomes.cli.output import MAIN, note, progress_is_shown
from ir_outcomes.evaluation.evaluation import is_saved
from ir_outcomes.evaluation.systems import check_baselines, systems
from ir_outcomes.formatting import listed
from ir_outcomes.leaderboards.ordering import FACETS
from ir_outcomes.reading.files import name_of
from ir_outcomes.reading.runs import run_paths
from ir_outcomes.types import Correction, Missing, OneOrder, RankingTest, Ties, UnitChoice

STATISTICS = Group("Statistics", sort_key=2)
STDIN = (  # stands for "-" while the words of a command are parsed, which takes a bare hyphen for an option
    "\0"
)


class UsageError(Exception):
    """Wrong usage, which ends the program with status 2."""


def _words(kind: Any, tokens: Sequence[Token]) -> Any:
    """Return words as they were given; bytes of a name that are not UTF-8 stay as they are in names of files."""
    words = ["-" if token.value == STDIN else token.value for token in tokens]
    return words if kind is not str else words[0]


def margins_of(kind: Any, tokens: Sequence[Token]) -> tuple[float, ...]:
    """Read margins by their units; a number without a unit has that of its position."""
    if len(tokens) > 1:  # cyclopts takes the option for a list
        raise ValueError("--margins is given more than once; give it once.")
    units = ("pp", "ranks", "ranks-all")
    parts = [
        re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(pp|ranks|ranks-all)?\s*", part)
        for part in tokens[0].value.split(",")
    ]
    named = {
        part[2] or unit: float(part[1]) for part, unit in zip(parts, units, strict=False) if part
    }
    margins = tuple(named[unit] for unit in units if unit in named)
    if len(named) < len(parts) or not {"pp", "ranks"} <= named.keys() or min(margins) == 0:
        raise ValueError(
            f"{tokens[0].value!r}: write two positive numbers, percentage points of coverage and"
            " ranks, or a third, ranks over all queries, with a comma and no space between them,"
            " such as 1pp,0.5ranks or 1pp,0.5ranks,1ranks-all. Numbers without a unit are read in"
            " this order."
        )
    return margins


def numbers_of(kind: Any, tokens: Sequence[Token]) -> tuple[int, ...]:
    """Read positive whole numbers, separated by commas."""
    words = tokens[0].value.split(",")
    if not all(word.strip().isdecimal() and int(word) > 0 for word in words):
        raise ValueError(
            f"{tokens[0].value!r}: write positive whole numbers, separated by commas, such as"
            " 10,100."
        )
    return tuple(int(word) for word in words)


def named_files(words: Sequence[str] | None, option: str) -> dict[str, str]:
    """Read NAME=FILE words into a mapping from names to files."""
    files: dict[str, str] = {}
    for word in words or ():
        name, _, file = word.partition("=")
        if not (name and file):
            raise UsageError(f"{option} {word}: write NAME=FILE, such as private=private.txt.")
        if name in files:
            raise UsageError(
                f"{option}: {name} is given twice; use a different name for each file."
            )
        files[name] = file
    return files


def _qrels(kind: Any, word: str) -> None:
    if is_saved(word):
        raise ValueError(
            f"{word} is a saved evaluation, which stands for its runs; give QRELS before it."
        )


def _jobs(kind: Any, number: int) -> None:
    if number == 0 or number < -1:
        raise ValueError("Must be 1 or more, or -1 for one job per processor.")


POSITIVE = Number(gte=1)
NOT_NEGATIVE = Number(gte=0)
LEVEL = Number(gt=0, lt=1)
SHARE = Number(gte=0, lte=1)
QRELS = Annotated[
    str,
    Parameter(
        converter=_words,
        validator=_qrels,
        help="The qrels file, or an ir_datasets id such as msmarco-document/dev.",
    ),
]
BASELINE = Annotated[
    str,
    Parameter(
        converter=_words,
        help=(
            "Run A: a file; the name of one of the other runs; best, the one with the highest mean"
            " reciprocal rank; or irds:ID, the run that comes with a dataset (irds: for that of"
            " QRELS)."
        ),
    ),
]
CONTENDERS = Annotated[
    list[str],
    Parameter(converter=_words, help="Run B, or several runs: files, or directories of run files."),
]
RUNS = Annotated[
    list[str], Parameter(converter=_words, help="The runs: files, or directories of run files.")
]
ALPHA = Annotated[
    float,
    Parameter(
        group=STATISTICS,
        validator=Number(gt=0, lt=0.5),
        help="The significance level of tests and verdicts; intervals have level 1 - alpha.",
    ),
]
SEED = Annotated[
    int, Parameter(group=STATISTICS, validator=NOT_NEGATIVE, help="The seed of the random numbers.")
]
RESAMPLES = Annotated[
    int,
    Parameter(
        group=STATISTICS, validator=POSITIVE, help="The number of random resamples of the queries."
    ),
]
CORRECTION = Annotated[Correction, Parameter(group=STATISTICS)]
MEASURES = Annotated[tuple[str, ...], Parameter(name=["--measure", "-m"])]
NAMES = Annotated[
    tuple[str, ...] | None,
    Parameter(
        name="--names",
        help=(
            "A name for a run, instead of its file's; give one for each run, in their order:"
            " --names a --names b."
        ),
    ),
]
CUTOFFS = Annotated[
    tuple[int, ...],
    Parameter(
        converter=numbers_of, n_tokens=1, show_default=lambda cutoffs: ",".join(map(str, cutoffs))
    ),
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
REPLICATES = Annotated[
    str | None,
    Parameter(
        group=STATISTICS,
        help=(
            "Which runs are of one system, such as its seeds: by: and a separator, for names that"
            " are equal up to its last one with a whole number behind it; or a file with a run, a"
            " tab and its system on each line."
        ),
    ),
]
_ORDERS = (
    "The order of documents with equal scores: by descending id (trec), ascending id (msmarco), or"
    " as in the file (input)"
)
SHARED_CUTOFF = Annotated[
    int | None,
    Parameter(
        name=["--cutoff", "-k"],
        group=MAIN,
        validator=POSITIVE,
        help=(
            "Ignore ranks beyond this one; by default that of the dataset, or 100, or the depth"
            " that all runs reach."
        ),
    ),
]
REL = Annotated[
    int | None,
    Parameter(
        group=MAIN,
        validator=POSITIVE,
        help=(
            "The smallest grade that counts as relevant; by default that of the dataset, suite or"
            " measure, or 1."
        ),
    ),
]


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class Settings:
    """How runs are evaluated, whatever they are; the fields, also of subclasses, are arguments of `ir_outcomes.evaluate`."""

    rel: REL = None
    ties: Annotated[OneOrder, Parameter(help=f"{_ORDERS}.")] = "trec"
    judged_only: bool = False
    """Remove unjudged documents before ranks are counted."""
    n_jobs: Annotated[int, Parameter(name=["--jobs", "-j"], validator=_jobs)] = 1
    """How many runs to evaluate at a time; -1 for one per processor."""

    def settings(self) -> dict[str, Any]:
        """Return the arguments of `ir_outcomes.evaluate` that these options give."""
        return {**asdict(self), "progress": progress_is_shown()}


@dataclass(frozen=True)
class SuiteOptions(Settings):
    """How outcomes are determined."""

    cutoff: Annotated[int | None, Parameter(alias="-k", group=MAIN, validator=POSITIVE)] = None
    """Ignore ranks beyond this one; by default the cutoff of the dataset or suite, or 100."""
    unit: Annotated[UnitChoice, Parameter(group=MAIN)] = "auto"
    """What is found or not: a query's first relevant document (query), or each of them (document). auto is the dataset's unit,
    or query where the median query has one relevant document."""


@dataclass(frozen=True)
class EvaluateOptions(Settings):
    """How runs are named, read and evaluated, for analyses that take a cutoff of their own."""

    names: NAMES = None
    layout: str | None = None
    """How the run files are read where there is a choice: their form, such as rankllm, or what orders their documents, rank or
    score; FILE#rank says it for one file."""

    def evaluate(self, qrels: Any, runs: Any, **settings: Any) -> iro.Evaluation:
        """Evaluate runs with these options; arguments come before them."""
        arguments = {**self.settings(), **settings}
        if layout := arguments.pop("layout"):
            runs = [f"{run}#{layout}" if os.path.isfile(run) else run for run in runs]
        evaluation = iro.evaluate(qrels, runs, **arguments)
        note_on_grades(arguments["rel"], evaluation)
        return evaluation

    def evaluate_all(self, qrels: Any, runs: Sequence[str], **settings: Any) -> iro.Evaluation:
        """Do the same for runs among which no file counts twice."""
        return self.evaluate(qrels, run_files(runs), **settings)


@dataclass(frozen=True)
class TailOptions(EvaluateOptions):
    """The same for analyses that do not need a single order among equal scores."""

    ties: Annotated[
        Ties, Parameter(help=f"{_ORDERS}; or the mean over all their orders (expected).")
    ] = "trec"  # type: ignore[assignment]  # one choice more than the class above has


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class TailRules:
    """Where lists end, and what that means for relevant documents that are not in them."""

    cutoff: SHARED_CUTOFF = None
    missing: Missing = "cutoff"
    """The search length of a relevant document that was not retrieved: just beyond the cutoff (cutoff), or the number of
    irrelevant documents retrieved (retrieved; equation 3 of Alex et al. 2022)."""


@Parameter(name="*", group=MAIN)
@dataclass(frozen=True)
class Means:
    """What is shown beside the facets."""

    measures: MEASURES = ()
    """Also show the means of this measure, such as nDCG@10, which decide nothing; may be given more than once."""
    higher_is_better: HIGHER_IS_BETTER = None

    def kept(self) -> dict[str, Any]:
        """Return the arguments of `ir_outcomes.evaluate` that keep the values."""
        return {"measures": self.measures, "higher_is_better": self.higher_is_better}


@Parameter(name="*", group=MAIN)
@dataclass(frozen=True)
class Sources:
    """What many runs are compared by."""

    measures: MEASURES = ()
    """A measure such as nDCG@10, or, of a leaderboard, coverage, ranking or all queries; may be given more than once."""
    from_outputs: bool = False
    """Instead of qrels and runs, take per-query values: files that trec_eval -q, ir_measures -q or PyTerrier wrote, or dicts of
    pytrec_eval or ranx as JSON, one for each run; or a single table, CSV or tab-separated, of runs and queries."""
    higher_is_better: HIGHER_IS_BETTER = None

    def read(
        self,
        first: str,
        runs: Sequence[str] | None,
        settings: EvaluateOptions,
        default: Sequence[str] = (),
        **kept: Any,
    ) -> tuple[Any, list[str] | None]:
        """Return an evaluation and measures of it, or the scores of one measure and None."""
        measures = list(self.measures)
        if self.from_outputs:
            given: dict[str, Any] = {"names": settings.names}
            if isinstance(settings, RunOptions):
                given["clusters"] = settings.clusters
            if settings != type(settings)(**given) or kept.get("cutoff") or len(measures) > 1:
                raise UsageError(
                    "--from-outputs takes the computed values of one --measure; leave out options"
                    " on how runs are evaluated."
                )
            outputs = [first, *runs] if runs else first
            measure = measures[0] if measures else None
            direction = self.higher_is_better
            return iro.scores_from_outputs(
                outputs, measure, higher_is_better=direction, **given
            ), None
        if not runs:
            raise UsageError("RUNS is missing: give files of runs, or directories of them.")
        kept["measures"] = [measure for measure in measures or default if measure not in FACETS]
        kept["higher_is_better"] = self.higher_is_better
        evaluation = settings.evaluate_all(first, runs, **kept)
        return evaluation, measures or None


def note_on_grades(rel: int | None, *evaluations: iro.Evaluation) -> None:
    """Say what counts as relevant, where the qrels are graded and nobody said it."""
    graded = {
        (int(evaluation.qrels.grades.min(initial=0)), int(evaluation.qrels.grades.max(initial=0)))
        for evaluation in evaluations
        if rel is None and evaluation.rel == 1 and evaluation.qrels is not None
    }
    found = [f"{lowest} to {highest}" for lowest, highest in sorted(graded) if highest > 1]
    if found:
        note(f"qrels hold grades {listed(found)}; relevant means 1 or more here, choose with --rel")


@dataclass(frozen=True)
class RunOptions(EvaluateOptions, SuiteOptions):
    """The same for analyses of outcomes."""

    clusters: str | None = None
    """The clusters of the queries, which are then the unit of every test and interval: a file with a query id, a tab and a
    cluster on each line, or by: and a separator, the id up to its last one."""


@dataclass(frozen=True)
class SystemOptions(RunOptions):
    """The same for analyses that take several runs of a system."""

    replicates: REPLICATES = None


@Parameter(name="*", group=STATISTICS)
@dataclass(frozen=True)
class Tests:
    """How the verdict on one contender is reached."""

    alpha: ALPHA = 0.05
    test: RankingTest = "t"
    """The test that decides on ranking; where fewer than 30 queries differ, signflip takes the place of t."""


@dataclass(frozen=True)
class CorrectedTests(Tests):
    """How verdicts on several contenders are reached."""

    correction: Correction = "holm"
    """The correction of p-values for several contenders."""


@dataclass(frozen=True)
class MarginTests(CorrectedTests):
    """The same with non-inferiority margins."""

    margins: Annotated[
        tuple[float, ...] | None, Parameter(group=MAIN, converter=margins_of, n_tokens=1)
    ] = None
    """Non-inferiority margins: the largest tolerable losses of coverage (percentage points) and of ranking (ranks), and, after
    a second comma, over all queries (ranks), without spaces, such as 1pp,0.5ranks."""


@dataclass(frozen=True)
class FamilyTests(MarginTests):
    """The same where all pairs can be compared."""

    all_pairs: Annotated[bool, Parameter(group=MAIN)] = False
    """Compare every two runs, instead of all with the baseline."""


def run_files(runs: Sequence[str]) -> list[str]:
    """List the runs of a call, those of directories one by one, and a file that is given again only once."""
    listed: dict[str, str] = {}
    for path in (path for run in runs for path in run_paths(run)):
        file = os.path.realpath(path)
        if file in listed:
            note(f"{path} is given again; it counts once")
        else:
            listed[file] = path
    return list(listed.values())


def evaluated_with_baseline(
    options: EvaluateOptions,
    qrels: Any,
    baseline: str,
    runs: Sequence[str],
    *,
    reference: str | None = None,
    **settings: Any,
) -> tuple[iro.Evaluation, str, str | list[str]]:
    """Evaluate a baseline, which can be the name of one of the other runs, and contenders; with a second baseline behind them.

    Returns the evaluation, the name of the baseline, and the names of the contenders, or the one
    contender.
    """
    if is_saved(baseline) and len(iro.load_evaluation(baseline)) > 1:
        raise UsageError(
            f"{baseline} holds several runs: give it among RUNS, and the name of one of them as"
            " BASELINE."
        )
    if os.path.isdir(baseline):
        raise UsageError(
            f"{baseline}: BASELINE is one run, not a directory; name a file in it, or one of RUNS."
        )
    paths = run_files(runs)
    last = []
    if reference is not None:
        paths = [path for path in paths if not is_same_file(path, reference)]
        last = [reference]
    names_of = (
        iro.load_evaluation(path).system_names if is_saved(path) else [name_of(path)]
        for path in paths
    )
    known = list(options.names or chain.from_iterable(names_of))
    replicates = getattr(options, "replicates", None)
    if replicates is not None and not os.path.exists(baseline):
        known += systems(known, replicates)
    if not os.path.exists(baseline) and baseline in ("best", *known):
        evaluation = options.evaluate(qrels, [*paths, *last], **settings)
        return evaluation, baseline, [name for name in evaluation.system_names if name != baseline]
    near = get_close_matches(baseline, known)
    if near and not os.path.exists(baseline) and not os.path.splitext(baseline)[1]:
        raise UsageError(
            f"{baseline}: neither a file nor the name of a run; did you mean {', '.join(near)}?"
        )
    others = [path for path in paths if not is_same_file(path, baseline)]
    if others and len(others) < len(paths):
        note(f"{baseline} is also among the runs; it is not compared with itself")
    evaluation = options.evaluate(qrels, [baseline, *(others or paths), *last], **settings)
    first, *names = evaluation.system_names
    if replicates is not None:
        baselines = (
            evaluation.names[:1] if reference is None else evaluation.names[:: len(evaluation) - 1]
        )
        check_baselines(baselines, evaluation.replicates)
    return evaluation, first, names[0] if len(names) == 1 else names


def is_same_file(path: str, other: str) -> bool:
    """Return whether two paths are of one file."""
    return path == other or (
        os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)
    )
