"""From words to evaluations: the first arguments of the functions.

The positional arguments of a reader are the words of a command, its keyword-only arguments are
options, and `settings` are those of `ir_outcomes.evaluate`.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ir_outcomes as iro
from ir_outcomes.cli.streams import UsageError, note


class Read(NamedTuple):
    """What a function is called with, and what it was read from."""

    arguments: tuple[Any, ...]
    options: Mapping[str, Any] = {}
    evaluation: Any = None  # or evaluations by name
    files: Sequence[str] = ()


def plain(*words: Any) -> Read:
    """Take words as they are."""
    return Read(words)


def files(qrels: str, runs: list[str], /) -> Read:
    """Take files as they are.

    Parameters
    ----------
    qrels
        Qrels: a file, or an ir_datasets id.
    runs
        Runs: files or directories.
    """
    return Read((qrels, runs))


def values(baseline: str, outputs: list[str], /) -> Read:
    """Take files of per-query values.

    Parameters
    ----------
    baseline
        Run A: a file that trec_eval -q, ir_measures -q or PyTerrier wrote, or a dict as JSON.
    outputs
        Run B, or several: such files.
    """
    return Read((baseline, outputs if len(outputs) > 1 else outputs[0]))


def pair(qrels: str, baseline: str, runs: list[str], /, *, settings: Mapping[str, Any]) -> Read:
    """Evaluate a baseline and contenders.

    Parameters
    ----------
    qrels
        Qrels: a file, or an ir_datasets id.
    baseline
        Run A: a file, the name of one of RUNS, or irds:ID.
    runs
        Run B, or several: files or directories.
    """
    evaluation, first, others = with_baseline(qrels, baseline, runs, settings)
    return Read((evaluation, first, others), {}, evaluation, [qrels])


def with_baseline(
    qrels: str, baseline: str, runs: Sequence[str], settings: Mapping[str, Any], *last: str
) -> tuple["iro.Evaluation", str, str | list[str]]:
    """Evaluate runs, and name the baseline and the contenders, or the one contender.

    `last` are further files, which come behind the runs.
    """
    if os.path.isdir(baseline):
        raise UsageError(
            f"{baseline}: BASELINE is one run, not a directory; name a file in it, or one of RUNS."
        )
    from ir_outcomes.evaluation.replicates import check_baselines

    paths = [path for path in run_files(runs) if not any(is_same_file(path, one) for one in last)]
    if is_named(baseline, paths, settings):
        evaluation = evaluated(qrels, [*paths, *last], settings)
        names = [name for name in evaluation.system_names if name != baseline]
    else:
        others = [path for path in paths if not is_same_file(path, baseline)]
        if others and len(others) < len(paths):
            note(f"{baseline} is also among the runs; it is not compared with itself")
        evaluation = evaluated(qrels, [baseline, *(others or paths), *last], settings)
        baseline, *names = evaluation.system_names
        check_baselines([evaluation.names[0]], evaluation.replicates)
    return evaluation, baseline, names[0] if len(names) == 1 else names


def is_named(baseline: str, paths: Sequence[str], settings: Mapping[str, Any]) -> bool:
    """Return whether the baseline is the name of one of the runs, and not a file."""
    if os.path.exists(baseline) or baseline == "-" or baseline.startswith("irds:"):
        return False
    from ir_outcomes.evaluation.replicates import systems
    from ir_outcomes.reading.files import name_of

    names = list(settings.get("names") or map(name_of, paths))
    if settings.get("replicates"):
        names += systems(names, settings["replicates"])
    return baseline in names or not os.path.splitext(baseline)[1]


def board(
    qrels: str,
    runs: list[str] | None = None,
    /,
    *,
    from_outputs: bool = False,
    settings: Mapping[str, Any],
) -> Read:
    """Evaluate runs, or take values that other tools computed.

    Parameters
    ----------
    qrels
        Qrels: a file, an ir_datasets id, or a saved evaluation.
    runs
        Runs: files or directories.
    from_outputs
        Take files of per-query values of --measure, instead of QRELS and RUNS.
    """
    if from_outputs:
        (measure,) = settings.get("measures", ()) or [None]
        taken = {"names", "clusters", "higher_is_better", "measures"}
        if not settings.keys() <= taken | {"progress"}:
            raise UsageError(
                "--from-outputs takes computed values; leave out options on how runs are evaluated."
            )
        taken -= {"measures"}
        options = {name: settings[name] for name in taken if name in settings}
        outputs = [qrels, *runs] if runs else qrels
        return Read((iro.scores_from_outputs(outputs, measure, **options),), {"measures": None})
    from ir_outcomes.leaderboards.ordering import FACETS

    if not runs:
        raise UsageError("RUNS is missing: give files of runs, or directories of them.")
    kept = [measure for measure in settings.get("measures", ()) if measure not in FACETS]
    evaluation = evaluated(qrels, run_files(runs), {**settings, "measures": kept})
    return Read((evaluation,), {}, evaluation, [qrels])


def judges(
    runs: list[str],
    /,
    *,
    judges: list[str],
    baseline: str | None = None,
    settings: Mapping[str, Any],
) -> Read:
    """Evaluate runs with the qrels of each judge.

    Parameters
    ----------
    runs
        Runs: files or directories.
    judges
        NAME=QRELS[@REL], once for each judge: the qrels, and the smallest relevant grade.
    baseline
        Name of the baseline, by default the first run.
    """
    evaluations = {}
    files = run_files(runs)
    for judge, source in named_files(judges, "--judge").items():
        qrels, *grade = re.split("@(?=[1-9][0-9]*$)", source)
        given = {**settings, "rel": int(grade[0])} if grade else settings
        try:
            evaluations[judge] = evaluated(qrels, files, given)
        except iro.MismatchError as error:
            raise iro.MismatchError(f"judge {judge} ({qrels}): {error}") from None
    return Read((evaluations, baseline), {}, evaluations)


def suite(
    suite: str,
    /,
    *,
    baseline: str | None = None,
    contenders: list[str] | None = None,
    settings: Mapping[str, Any],
) -> Read:
    """Evaluate the runs of several collections.

    Parameters
    ----------
    suite
        A folder of collections and runs, or a TOML or JSON file that lists them.
    baseline
        Name of the baseline, by default that of SUITE or the first system.
    contenders
        Name of a contender; by default all other systems.
    """
    from ir_outcomes.reading.suites import read_suite

    found = read_suite(suite)
    evaluations = iro.evaluate_suite(found, **settings)
    first = baseline or found.baseline
    if first is None:
        first = found.systems[0]
        note(f"the baseline is {first}; choose another one with --baseline")
    groups = {"groups": found.groups or None}
    return Read((evaluations, first, contenders), groups, evaluations, found.files)


def gate(
    qrels: str | None = None,
    baseline: str | None = None,
    runs: list[str] | None = None,
    /,
    *,
    suite: str | None = None,
    system: str | None = None,
    contenders: list[str] | None = None,
    reference: str | None = None,
    settings: Mapping[str, Any],
) -> Read:
    """Evaluate runs, or those of a suite.

    Parameters
    ----------
    qrels
        Qrels: a file, or an ir_datasets id.
    baseline
        Run A: the system in use.
    runs
        Run B, or several: the systems to decide on.
    suite
        Decide on all collections of this suite, instead of QRELS and runs.
    system
        Name of the baseline in the suite.
    contenders
        Name of a contender, which must be there; by default all other runs.
    reference
        A second baseline, such as the last release; both must pass.
    """
    from ir_outcomes.reading.files import name_of
    from ir_outcomes.reading.suites import read_suite

    if suite is not None and qrels is None:
        if {"names", "replicates"} & settings.keys():
            raise UsageError("--names and --replicates are for RUNS; a suite names its runs.")
        found = read_suite(suite)
        first = system or found.baseline
        if first is None:
            raise UsageError("--baseline: name the baseline of the suite.")
        evaluations = iro.evaluate_suite(found, **settings)
        options = {
            "reference": reference,
            "groups": found.groups or None,
            "systems": found.systems,
            "collections": found.without_runs,
        }
        return Read((evaluations, first, contenders), options, evaluations, found.files)
    if not (qrels and baseline and runs) or suite or system:
        raise UsageError(
            "Give QRELS, BASELINE and at least one RUN, or else --suite FOLDER with --baseline"
            " NAME."
        )
    last = [] if reference is None else [reference]
    if any(is_same_file(file, baseline) or name_of(file) == baseline for file in last):
        raise UsageError(
            "--reference: this is the baseline already; leave it out, or give another run."
        )
    evaluation, first, _ = with_baseline(qrels, baseline, runs, settings, *last)
    options = {} if reference is None else {"reference": evaluation.system_names[-1]}
    files = dict.fromkeys([qrels, baseline, *run_files(runs), *last])
    return Read((evaluation, first, contenders), options, evaluation, list(files))


def evaluated(qrels: str, runs: Sequence[str], settings: Mapping[str, Any]) -> "iro.Evaluation":
    """Evaluate runs, and say what counts as relevant."""
    from ir_outcomes.evaluation.evaluation import is_saved

    if is_saved(qrels):
        raise UsageError(
            f"{qrels} is a saved evaluation, which stands for its runs; give QRELS before it."
        )
    return iro.evaluate(qrels, runs, **settings)


def named_files(words: Sequence[str], option: str) -> dict[str, str]:
    """Read NAME=FILE words into a mapping from names to files."""
    files: dict[str, str] = {}
    for word in words:
        name, _, file = word.partition("=")
        if not (name and file):
            raise UsageError(f"{option} {word}: write NAME=FILE, such as private=private.txt.")
        if name in files:
            raise UsageError(
                f"{option}: {name} is given twice; use a different name for each file."
            )
        files[name] = file
    return files


def run_files(runs: Sequence[str]) -> list[str]:
    """List the files of runs, those of directories one by one, each file only once."""
    from ir_outcomes.reading.runs import run_paths

    files: dict[str, str] = {}
    for path in (path for run in runs for path in run_paths(run)):
        file = os.path.realpath(path)
        if file in files:
            note(f"{path} is given again; it counts once")
        else:
            files[file] = path
    return list(files.values())


def is_same_file(path: str, other: str) -> bool:
    """Return whether two paths are of one file."""
    return path == other or (
        os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)
    )
