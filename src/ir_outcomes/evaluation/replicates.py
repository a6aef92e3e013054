"""Several runs of one system: which runs belong together."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np

from ir_outcomes.errors import FormatError, ParameterError, some
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.formatting import plural
from ir_outcomes.reading.files import lines_of
from ir_outcomes.reading.runs import Run, check_names, is_path, run_list
from ir_outcomes.types import Floats

RULE = "by:"
Systems = Mapping[str, tuple[str, ...]]  # the runs of each system that has several, by its name


class Called(NamedTuple):
    """The name of a system, and those of its runs."""

    name: str
    runs: tuple[str, ...]


class System(NamedTuple):
    """What is compared: a system, and its runs; mostly one, of the same name."""

    name: str
    runs: tuple[SearchLengths, ...]

    @classmethod
    def of(cls, run: "SearchLengths | System") -> "System":
        """Return a run as a system of its own."""
        return run if isinstance(run, System) else cls(run.name, (run,))

    @property
    def called(self) -> Called:
        """Its name, and those of its runs."""
        return Called(self.name, tuple(run.name for run in self.runs))

    @property
    def depth(self) -> int:
        """Number of documents of the longest list of the shallowest run."""
        return min(run.depth for run in self.runs)

    def mean_reciprocal_ranks(self) -> Floats:
        """(n_queries,) float array: mean reciprocal rank over the runs; higher is better."""
        means: Floats = np.mean([run.reciprocal_rank() for run in self.runs], axis=0)
        return means

    def at(self, cutoff: int | None) -> Self:
        """Return the system at a cutoff; see `SearchLengths.at`."""
        return self._replace(runs=tuple(run.at(cutoff) for run in self.runs))


def systems(names: Sequence[str], replicates: Any) -> Systems:
    """Find which runs belong to one system.

    Parameters
    ----------
    names : sequence of str
        Names of the runs.
    replicates : "by:" and a separator, mapping of str to str, or path
        Names that are equal up to the last separator, with a whole number behind it; or the system
        of each run; or a file of lines with run, tab and system. Runs that are not mentioned are
        systems of their own.

    Returns
    -------
    dict of str to tuple of str
        The runs of each system that was named, in their order.

    Raises
    ------
    ParameterError
        If the rule fits no name, or names a system that has one run; a run is not among the names;
        a system is called like the run of another.

    Examples
    --------
    >>> systems(["bm25", "dense_1", "dense_2", "dense_3"], "by:_")
    {'dense': ('dense_1', 'dense_2', 'dense_3')}
    """
    return _runs_by_system(names, _system_of_runs(names, replicates))


def _system_of_runs(names: Sequence[str], replicates: Any) -> Mapping[str, str]:
    """Return the system of each run that has one."""
    if _is_rule(replicates):
        return _by_rule(names, replicates)
    system_of = _mapping_of(replicates)
    unknown = [str(run) for run in system_of if run not in names]
    if unknown:
        raise ParameterError(
            f"replicates: no run is called {some(unknown)}; the runs are {some(list(names), 10)}"
        )
    return system_of


def _is_rule(replicates: Any) -> bool:
    return isinstance(replicates, str) and replicates.startswith(RULE)


def _by_rule(names: Sequence[str], rule: str) -> dict[str, str]:
    """Return the system of each run whose name has a whole number behind the last separator."""
    separator = rule.removeprefix(RULE)
    if not separator:
        raise ParameterError('write the separator behind "by:", such as "by:_"', replicates=rule)
    found: dict[str, str] = {}
    for name in names:
        system, _, number = name.rpartition(separator)
        if system and number.isascii() and number.isdigit():
            found[name] = system
    if not found:
        raise ParameterError(
            f"no run has a name that ends in {separator!r} and a whole number; the runs are"
            f" {some(list(names))}",
            replicates=rule,
        )
    check_names(name for name in names if name in found)
    sizes = Counter(found.values())
    for run, system in found.items():
        if sizes[system] == 1:
            raise ParameterError(
                f"{run} would be the only run of a system {system}; rename it, or give a"
                " mapping of run to system",
                replicates=rule,
            )
    return found


def check_names_of_rule(names: Sequence[str], replicates: Any) -> None:
    """Refuse equal names where a rule finds systems by them, as those of a file that was given twice."""
    if _is_rule(replicates):
        _by_rule(names, replicates)


def _mapping_of(replicates: Any) -> Mapping[str, str]:
    """Return a mapping of run to system, which can be in a file of lines with run, tab and system."""
    if isinstance(replicates, Mapping):
        return replicates
    if not isinstance(replicates, (str, os.PathLike)):
        raise ParameterError(
            'must be "by:" and a separator, a mapping of run to system, or a file of lines with'
            " run, tab and system",
            replicates=replicates,
        )
    found: dict[str, str] = {}
    source = os.fspath(replicates)
    for number, line in lines_of(source):
        run, _, system = line.partition("\t")
        run = run.strip()
        system = system.strip()
        problem = "a line must be a run, a tab and its system"
        if run in found:
            problem = f"{run} is listed twice"
        if line.strip() and (not run or not system or run in found):
            raise FormatError(source, problem, line=number, text=line)
        if run:
            found[run] = system
    if not found:
        raise FormatError(source, "names no run")
    return found


class Listed(NamedTuple):
    """A run of a call, with its name and its system, where these were given."""

    run: Any
    name: str | None
    system: str | None


def listed_runs(items: Sequence[Any], names: Sequence[str | None]) -> list[Listed]:
    """Take runs, and lists of the runs of a system, which has the name, apart."""
    listed = []
    for item, name in zip(items, names, strict=True):
        of_system = runs_of_system(item)
        if name is None and is_path(item):
            of_system = None  # a directory in the place of a run, which is an error
        if of_system is None:
            listed.append(Listed(item, name, None))
            continue
        if name is None:
            raise ParameterError(
                "a list of runs stands for a system, which needs a name; give a dict such as"
                ' {"dense": [first, second]}'
            )
        for place, (own, run) in enumerate(of_system, 1):
            in_memory = not (is_path(run) or isinstance(run, (str, Run, SearchLengths)))
            called = f"{name} {place}" if own is None and in_memory else own
            listed.append(Listed(run, called, name))
    return listed


def runs_of_system(item: Any) -> list[tuple[str | None, Any]] | None:
    """Return the runs of a system, with their names in a dict; None for a single run."""
    if isinstance(item, (list, tuple)) and item and isinstance(item[0], (list, tuple)):
        return None  # rows of a run
    found = run_list(item)
    if found is None:
        return None
    if isinstance(found, dict):
        return [(str(name), run) for name, run in found.items()]
    return [(None, run) for run in found]


def _runs_by_system(names: Sequence[str], system_of: Mapping[str, str]) -> Systems:
    """Return the runs of each system, in their order, unless one is called like the run of another."""
    check_names(set(system_of.values()), "system")
    found: dict[str, tuple[str, ...]] = {}
    for run in names:
        if run in system_of:
            system = system_of[run]
            found[system] = (*found.get(system, ()), run)
    taken = [system for system, runs in found.items() if system in {*names} - {*runs}]
    if taken:
        raise ParameterError(
            f"replicates: {some(taken)} would be the name of a system and of a run that is not"
            " part of it; rename one of them"
        )
    return found


def named_systems(
    names: Sequence[str], in_lists: Sequence[str | None], replicates: Any
) -> tuple[list[str], Systems]:
    """Return the names of the runs, that of its system for a single run, and the systems that have several.

    A run can be of a system because a list, a saved evaluation or `replicates` says so.
    """
    system_of = {name: own for name, own in zip(names, in_lists, strict=True) if own is not None}
    if replicates is not None:
        for run, system in _system_of_runs(names, replicates).items():
            if system_of.setdefault(run, system) != system:
                raise ParameterError(
                    f"replicates: {run} is in two systems, {system_of[run]} and {system}"
                )
    found = _runs_by_system(names, system_of)
    alone = {runs[0]: system for system, runs in found.items() if len(runs) == 1}
    return [alone.get(name, name) for name in names], among(found, names)


def among(replicates: Systems, names: Sequence[str]) -> Systems:
    """Return the systems of which several runs are among some, with these runs."""
    kept = {
        system: tuple(run for run in names if run in runs) for system, runs in replicates.items()
    }
    return {system: runs for system, runs in kept.items() if len(runs) > 1}


def called_systems(names: Sequence[str], replicates: Systems) -> list[Called]:
    """Return all systems in the order of their first runs; a run that is of none is a system by itself."""
    system_of = {run: Called(name, runs) for name, runs in replicates.items() for run in runs}
    return list(dict.fromkeys(system_of.get(name, Called(name, (name,))) for name in names))


def refuse_several_runs(replicates: Systems) -> NoReturn:
    """Raise the error of an analysis that takes one run of each system."""
    system, runs = next(iter(replicates.items()))
    raise ParameterError(
        f"this analysis takes one run of each system, and {system} has {len(runs)}"
        f" ({some(runs)}); choose runs by their names, evaluation[[...]], or evaluate them without"
        " `replicates`, as systems of their own"
    )


def check_baselines(names: Iterable[str], replicates: Systems) -> None:
    """Refuse a baseline, given by itself, that is one of several runs of a system."""
    for system, runs in replicates.items():
        for name in names:
            if name in runs:
                raise ParameterError(
                    f"replicates: {name}, a baseline, is one of several runs of {system}; to"
                    f" compare with {system}, give all its runs, and its name as the baseline"
                )


def check_runs(system: System) -> None:
    """Refuse a system that has the same ranking twice, as a file that was given twice."""
    first_of: dict[bytes, str] = {}
    for run in system.runs:
        # Different runs may have the same judged documents, or no document at all.
        if run.judged_only or not run.retrieved.any():
            continue
        other = first_of.setdefault(run.digests.tobytes(), run.name)
        if other != run.name:
            raise ParameterError(
                f"{other} and {run.name}, two of the"
                f" {plural('run', len(system.runs))} of {system.name}, have the same documents"
                " in the same order for every query; give each run once"
            )
