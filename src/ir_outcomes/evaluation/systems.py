"""Systems and their runs, of which a system may have several, such as seeds."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ir_outcomes.errors import (
    FormatError,
    ParameterError,
    some,
)
from ir_outcomes.evaluation.clusters import RULE
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.formatting import plural
from ir_outcomes.reading.runs import (
    check_names,
)
from ir_outcomes.reading.texts import SYSTEMS, read_texts

Systems = Mapping[str, tuple[str, ...]]  # the names of the runs of each system


def system_by_run(names: Sequence[str], replicates: Any) -> Mapping[str, str]:
    """Return the system of each run that has one, as `replicates` of `evaluate` says."""
    if is_rule(replicates):
        return system_by_rule(names, replicates)
    system_of = _mapping_of(replicates)
    unknown = [str(run) for run in system_of if run not in names]
    if unknown:
        raise ParameterError(
            f"replicates: no run is called {some(unknown)}; the runs are {some(list(names), 10)}"
        )
    return system_of


def is_rule(replicates: Any) -> bool:
    """Return whether replicates are "by:" and a separator."""
    return isinstance(replicates, str) and replicates.startswith(RULE)


def system_by_rule(names: Sequence[str], rule: str) -> dict[str, str]:
    """Return the systems of names with a whole number behind a separator."""
    separator = rule.removeprefix(RULE)
    if not separator:
        raise ParameterError('write the separator behind "by:", such as "by:_"', replicates=rule)
    system_of: dict[str, str] = {}
    for name in names:
        system, _, number = name.rpartition(separator)
        if system and number.isascii() and number.isdigit():
            system_of[name] = system
    if not system_of:
        raise ParameterError(
            f"no run has a name that ends in {separator!r} and a whole number; the runs are"
            f" {some(list(names))}",
            replicates=rule,
        )
    check_names(name for name in names if name in system_of)
    sizes = Counter(system_of.values())
    for run, system in system_of.items():
        if sizes[system] == 1:
            raise ParameterError(
                f"{run} would be the only run of a system {system}; rename it, or give a"
                " mapping of run to system",
                replicates=rule,
            )
    return system_of


def _mapping_of(replicates: Any) -> Mapping[str, str]:
    """Return the system of each run, given as a mapping or in a file."""
    if isinstance(replicates, Mapping):
        return replicates
    if not isinstance(replicates, (str, os.PathLike)):
        raise ParameterError(
            'must be "by:" and a separator, a mapping of run to system, or a file of lines with'
            " run, tab and system",
            replicates=replicates,
        )
    system_of = read_texts(replicates, SYSTEMS)
    if not system_of:
        raise FormatError(os.fsdecode(replicates), "names no run")
    return system_of


def named_systems(names: Sequence[str], system_of: Mapping[str, str]) -> tuple[list[str], Systems]:
    """Return names of runs, and the runs of each system that has several.

    The only run of a system is called like it. Raises `ParameterError` if a system is called like the run of another.
    """
    check_names(set(system_of.values()), "system")
    systems: dict[str, tuple[str, ...]] = {}
    for run in names:
        if run in system_of:
            system = system_of[run]
            systems[system] = (*systems.get(system, ()), run)
    taken = [system for system, runs in systems.items() if system in {*names} - {*runs}]
    if taken:
        raise ParameterError(
            f"replicates: {some(taken)} would be the name of a system and of a run that is not"
            " part of it; rename one of them"
        )
    several = {system: runs for system, runs in systems.items() if len(runs) > 1}
    alone = {runs[0]: system for system, runs in systems.items() if system not in several}
    return [alone.get(name, name) for name in names], several


def refuse_several_runs(replicates: Systems) -> NoReturn:
    """Raise the error of an analysis that takes one run of each system."""
    system, runs = next(iter(replicates.items()))
    raise ParameterError(
        f"this analysis takes one run of each system, and {system} has {len(runs)}"
        f" ({some(runs)}); choose one of each by name (in Python evaluation[[...]]), or evaluate them"
        " without `replicates`, as systems of their own"
    )


def check_runs(system: str, runs: Sequence[SearchLengths]) -> None:
    """Refuse a system that has the same ranking twice, as a file that was given twice."""
    first_of: dict[bytes, str] = {}
    for run in runs:
        # Different runs may have the same judged documents, or no document at all.
        if run.judged_only or not run.retrieved.any():
            continue
        twin = first_of.setdefault(run.diagnosis.digests.tobytes(), run.name)
        if twin != run.name:
            raise ParameterError(
                f"{twin} and {run.name}, two of the {plural('run', len(runs))} of {system}, have"
                " the same documents in the same order for every query; give each run once"
            )
