"""From words to evaluations: the first arguments of the functions.

The positional arguments of a reader are the words of a command, its keyword-only arguments are
options, and `settings` are those of `ir_outcomes.evaluate`.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Unpack

import ir_outcomes as iro
from ir_outcomes.choices import ReadingOfValues
from ir_outcomes.cli.signatures import names_of
from ir_outcomes.cli.streams import UsageError, missing, note


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


def values(baseline: str, outputs: list[str] | None = None, /) -> Read:
    """Take files of per-query values.

    Parameters
    ----------
    baseline
        Run A: a file that trec_eval -q, ir_measures -q or PyTerrier wrote, a table, or JSON; or one of
        all runs.
    outputs
        Run B, or several: such files.
    """
    if outputs is None:
        return Read((baseline,))
    return Read((baseline, outputs if len(outputs) > 1 else outputs[0]))


def pair(
    qrels: str,
    baseline: str | None = None,
    runs: list[str] | None = None,
    /,
    *,
    outputs: bool = False,
    settings: Mapping[str, Any],
    **how: Unpack[ReadingOfValues],
) -> Read:
    """Evaluate a baseline and contenders, or take values that other tools computed.

    Parameters
    ----------
    qrels
        Qrels: a file, an ir_datasets id, or a saved evaluation with all runs.
    baseline
        Run A: a file, the name of one of RUNS, or irds:ID.
    runs
        Run B, or several: files or directories.
    outputs
        Files are values of --measure by query that other tools computed, without qrels.
    **how
        See `ir_outcomes.outputs`.
    """
    if outputs:
        files = [file for file in (qrels, baseline, *(runs or ())) if file]
        evaluation = values_of(files, how, settings)
        first, *others = evaluation.systems
        options: dict[str, Any] = {"measures": ()}
    else:
        if baseline is None:
            raise missing("BASELINE")
        evaluation, (first,), others = with_baselines(qrels, [baseline], runs, settings)
        files, options = [qrels], {}
    contenders = others[0] if len(others) == 1 else others
    return Read((evaluation, first, contenders), options, evaluation, files)


def with_baselines(
    qrels: str, baselines: list[str], runs: Sequence[str] | None, settings: Mapping[str, Any]
) -> tuple["iro.Evaluation", list[str], list[str]]:
    """Evaluate runs, and name baselines and contenders."""
    from ir_outcomes.evaluation.evaluation import is_saved
    from ir_outcomes.evaluation.runs_of_call import runs_of_call

    if is_saved(qrels):
        evaluation = saved(qrels, settings)
        others = [name for name in evaluation.systems if name not in baselines]
        return evaluation, baselines, list(runs or others)
    if not runs:
        raise missing("RUNS")
    options = dict(settings)
    call = runs_of_call(
        run_files(runs),
        options.pop("names", None),
        baselines=baselines,
        replicates=settings.get("replicates"),
    )
    if call.left_out:
        note("a baseline is also among the runs; it is not compared with itself")
    evaluation = iro.evaluate(qrels, call, **options)
    names = list(evaluation.systems)
    first = [names[position] for position in call.baselines]
    return evaluation, first, [name for name in names if name not in first]


def saved(path: str, settings: Mapping[str, Any]) -> "iro.Evaluation":
    """Read a saved evaluation, of which only the cutoff can be another one."""
    if not settings.keys() <= {"cutoff", "measures", "higher_is_better", *_OF_RUNS}:
        raise UsageError(f"{path} is a saved evaluation; leave out options on how runs are read.")
    evaluation = iro.load_evaluation(path)
    if settings.get("documents") == "cutoff" and not evaluation.documents:
        raise UsageError(f"{path} has no lists of documents; give QRELS and the runs in its place.")
    if "cutoff" in settings:
        evaluation = evaluation.with_cutoff(settings["cutoff"])
    return evaluation


def board(
    qrels: str,
    runs: list[str] | None = None,
    /,
    *,
    outputs: bool = False,
    settings: Mapping[str, Any],
    **how: Unpack[ReadingOfValues],
) -> Read:
    """Evaluate runs, or take values that other tools computed.

    Parameters
    ----------
    qrels
        Qrels: a file, an ir_datasets id, or a saved evaluation.
    runs
        Runs: files or directories.
    outputs
        Files are values of --measure by query that other tools computed, without qrels.
    **how
        See `ir_outcomes.outputs`.
    """
    from ir_outcomes.evaluation.evaluation import is_saved

    if outputs:
        evaluation = values_of([qrels, *(runs or ())], how, settings)
        return Read((evaluation,), {"measures": None}, evaluation)
    if is_saved(qrels):
        evaluation = saved(qrels, settings)
        return Read((evaluation[list(runs)] if runs else evaluation,), {}, evaluation, [qrels])
    if not runs:
        raise missing("RUNS")
    evaluation = iro.evaluate(qrels, run_files(runs), **without_rows(settings))
    return Read((evaluation,), {}, evaluation, [qrels])


def board_or_suite(
    qrels: str | None = None,
    runs: list[str] | None = None,
    /,
    *,
    suite: str | None = None,
    outputs: bool = False,
    settings: Mapping[str, Any],
    **how: Unpack[ReadingOfValues],
) -> Read:
    """Evaluate runs, or those of a suite, or take values that other tools computed.

    Parameters
    ----------
    qrels
        Qrels: a file, an ir_datasets id, or a saved evaluation.
    runs
        Runs: files or directories.
    suite
        Order the systems by their means over all collections of this folder. With --outputs it has
        a folder of files for each collection.
    outputs
        Files are values of --measure by query that other tools computed, without qrels.
    **how
        See `ir_outcomes.outputs`.
    """
    if (suite is None) == (qrels is None):
        raise UsageError("Give QRELS and RUNS, or else --suite FOLDER.")
    if suite is None:
        return board(str(qrels), runs, outputs=outputs, settings=settings, **how)
    if outputs:
        evaluations, _ = values_of_suite(suite, how, settings)
        return Read((evaluations,), {"measures": None})
    evaluations = iro.evaluate(suite, **without_rows(settings))
    return Read((evaluations,), {}, evaluations, evaluations.suite.files)


def without_rows(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without the measures that are rows, which need not be evaluated."""
    from ir_outcomes.pairs.verdict import DECIDING

    measures = [measure for measure in settings.get("measures", ()) if measure not in DECIDING]
    return {**settings, "measures": measures}


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
            evaluations[judge] = iro.evaluate(qrels, files, **given)
        except iro.MismatchError as error:
            raise iro.MismatchError(f"judge {judge} ({qrels}): {error}") from None
    return Read((evaluations, baseline), {}, evaluations)


def collections(
    suite: str,
    /,
    *,
    baseline: str | None = None,
    contenders: list[str] | None = None,
    outputs: bool = False,
    allow: Sequence[
        Literal["unknown-ids", "rising-scores", "equal-scores", "missing-values", "cutoff"]
    ] = (),
    settings: Mapping[str, Any],
    **how: Unpack[ReadingOfValues],
) -> Read:
    """Evaluate the runs of several collections, or take values of other tools.

    Parameters
    ----------
    suite
        A folder of collections with qrels and runs; with --outputs of folders of values.
    baseline
        Name of the baseline, by default the first system.
    contenders
        Name of a contender; by default all other systems.
    outputs
        Files are values of --measure by query that other tools computed, without qrels.
    **how
        See `ir_outcomes.outputs`.
    allow
        See `ir_outcomes.compare_collections`.
    """
    options: dict[str, Any] = {}
    if outputs:
        evaluations, files = values_of_suite(suite, how, {**settings, "allow": allow})
        systems = tuple(next(iter(evaluations.values())).systems)
        options["measures"] = ()
    else:
        evaluations = iro.evaluate(suite, **settings)
        files, systems = evaluations.suite.files, evaluations.suite.systems
    if baseline is None:
        baseline = systems[0]
        note(f"the baseline is {baseline}; choose another one with --baseline")
    known = None if outputs else evaluations
    return Read((evaluations, baseline, contenders), options, known, files)


def gate(
    qrels: str | None = None,
    baseline: str | None = None,
    runs: list[str] | None = None,
    /,
    *,
    suite: str | None = None,
    outputs: bool = False,
    system: str | None = None,
    contenders: list[str] | None = None,
    reference: str | None = None,
    settings: Mapping[str, Any],
    **how: Unpack[ReadingOfValues],
) -> Read:
    """Evaluate runs, or those of a suite, or take values that another tool computed.

    Parameters
    ----------
    qrels
        Qrels: a file, an ir_datasets id, or a saved evaluation with all runs.
    baseline
        Run A: the system in use.
    runs
        Run B, or several: the systems to decide on.
    suite
        Decide on all collections of this suite.
    outputs
        Files are values of --measure by query that other tools computed, without qrels: OLD NEW, or
        one of all runs. With several measures each is decided on.
    **how
        See `ir_outcomes.outputs`.
    system
        Name of the baseline in the suite.
    contenders
        Name of a contender that must be there, by default all.
    reference
        A second baseline, such as the last release; both must pass.
    """
    options = {} if reference is None else {"reference": reference}
    if suite and system and not qrels:
        read = collections(
            suite,
            baseline=system,
            contenders=contenders,
            outputs=outputs,
            allow=["missing-values"],
            settings=settings,
            **how,
        )
        return read._replace(options={**read.options, **options})
    if suite or system or not qrels or not (baseline or outputs):
        raise UsageError(
            "Give QRELS, BASELINE and at least one RUN, or else --suite FOLDER with --baseline NAME,"
            " or --outputs OLD NEW."
        )
    baselines = [qrels if outputs else str(baseline), *options.values()]
    if len({*map(os.path.realpath, baselines)}) < len(baselines):
        raise UsageError(
            "--reference: this is the baseline already; leave it out, or give another run."
        )
    if outputs:
        files = [file for file in (qrels, baseline, *(runs or ())) if file]
        last = [reference] if reference and os.path.exists(reference) else []
        refuse_only_baselines(last, files[1:])
        of_measures = {
            measure: values_of(
                [*files, *last],
                how,
                {**settings, "measures": [measure], "allow": ["missing-values"]},
            )
            for measure in settings.get("measures") or [None]
        }
        evaluation = next(iter(of_measures.values()))
        options |= {"reference": list(evaluation.systems)[-1]} if last else {}
        source = evaluation if len(of_measures) == 1 else of_measures
        first = next(iter(evaluation.systems))
        return Read((source, first, contenders), {**options, "measures": ()}, None, [*files, *last])
    if "names" not in settings:
        refuse_path_twice([*baselines[:1], *(runs or ())])
        refuse_only_baselines(baselines, runs or ())
    evaluation, names, others = with_baselines(qrels, baselines, runs, settings)
    options = dict(zip(options, names[1:], strict=True))
    files = list(dict.fromkeys([qrels, *baselines[:1], *(runs or ()), *baselines]))
    return Read((evaluation, names[0], contenders or others), options, evaluation, files)


_OF_RUNS = ("progress", "on_error", "documents")  # settings that commands give themselves


def values_of(
    files: Sequence[str], how: ReadingOfValues, settings: Mapping[str, Any]
) -> "iro.Evaluation":
    """Take the values of one measure that other tools computed."""
    given = {name: settings[name] for name in settings if name not in _OF_RUNS}
    measures = given.pop("measures", ())
    if len(measures) > 1:
        raise UsageError("--measure: values of other tools are of one measure; give it once.")
    allow = [stop for stop in given.pop("allow", ()) if stop == "missing-values"]
    of_values = {"names", "clusters", "replicates", "higher_is_better"}
    if of_runs := given.keys() - of_values:
        options = ", ".join(sorted(names_of(name)[0] for name in of_runs))
        raise UsageError(f"{options}: leave it out; values of other tools are read as they are.")
    measure = measures[0] if measures else None
    evaluation: iro.Evaluation = iro.outputs(*files, measure=measure, allow=allow, **how, **given)
    if len(evaluation.names) < 2:
        raise iro.MismatchError(f"{files[0]} has one run only; give a file for each run")
    return evaluation


def values_of_suite(
    suite: str, how: ReadingOfValues, settings: Mapping[str, Any]
) -> tuple[dict[str, "iro.Evaluation"], list[str]]:
    """Take the values of each collection of a suite, with the files."""
    from ir_outcomes.reading.collections import read_folders

    folders = read_folders(suite)
    evaluations = {name: values_of(files, how, settings) for name, files in folders.items()}
    return evaluations, [file for files in folders.values() for file in files]


def refuse_path_twice(paths: Sequence[str]) -> None:
    """Refuse a run that would be decided on by a comparison with itself."""
    files = [os.path.realpath(path) for path in paths]
    for path, file in zip(paths, files, strict=True):
        if files.count(file) > 1:
            raise UsageError(
                f"{path} is given twice; name it once, or give --names that tell the runs apart."
            )


def refuse_only_baselines(baselines: Sequence[str], runs: Sequence[str]) -> None:
    """Refuse runs that are all baselines, each of which would pass against itself."""
    files = set(map(os.path.realpath, baselines))
    if runs and files.issuperset(map(os.path.realpath, run_files(runs))):
        raise UsageError("No run is left to decide on: all are baselines; give another run.")


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
