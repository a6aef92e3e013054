"""The runs of a call: which they are, in which order, and their names."""

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from typing import Any, NamedTuple

from ir_outcomes.errors import (
    ParameterError,
    UnreadableFile,
    some,
)
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.systems import (
    Systems,
    is_rule,
    named_systems,
    system_by_rule,
    system_by_run,
)
from ir_outcomes.reading.files import STDIN, name_of
from ir_outcomes.reading.formats import path_and_order
from ir_outcomes.reading.runs import (
    Run,
    check_names,
    distinct_names,
    is_path,
    run_list,
    runs_and_names,
)


class NamedRun(NamedTuple):
    """A run of a call, with its name and that of its system."""

    run: Any
    name: str  # empty where the call gives none, until `_named`
    system: str


class Call(NamedTuple):
    """The runs of a call, those of baselines first."""

    runs: list[NamedRun]
    baselines: list[int]  # the positions of the baselines among the systems
    left_out: bool = False  # whether a baseline was also among the others


def runs_of_call(
    runs: Any,
    names: Sequence[str | None] | None = None,
    *,
    baselines: Sequence[Any] = (),
    replicates: Any = None,
) -> Call:
    """Decide what the runs of a call are, in which order, and their names.

    A run has the name that the call gives to it, else that of its file; where that is another's, it
    has its path, or a number behind it. The only run of a system has the name of the system.

    Parameters
    ----------
    runs : list of runs, dict from names to runs, directory or pattern of files, or one run
        See `ir_outcomes.evaluate`. In a dict, a list of runs stands for one system.
    names : sequence of str or None, optional
        What to call each, those of baselines that are not among `runs` first.
    baselines : sequence
        What the contenders are compared with: runs, or names of `runs` or of their systems.
    replicates : mapping, path or "by:" and a separator, optional
        See `ir_outcomes.evaluate`.

    Raises
    ------
    ParameterError
        If a name is given to two runs, there is nothing to compare, or a list of runs has no name.
    UnreadableFile
        If a baseline is neither a file nor the name of a run.
    """
    if runs is None:
        raise ParameterError("there is no contender; give a run, or several as a list or dict")
    contenders = list(zip(*runs_and_names(runs), strict=True))
    apart = [_baseline(baseline) for baseline in baselines if not _is_name(baseline)]
    if names is not None:
        items = [item for item, _ in apart + contenders]
        renamed = list(zip(*runs_and_names(items, names), strict=True))
        apart, contenders = renamed[: len(apart)], renamed[len(apart) :]
    check_names(name for _, name in apart + contenders)
    rest = _without(contenders, [baseline for baseline, _ in apart])
    listed = _listed(apart)
    n_apart = len(listed)
    listed += _listed(rest)
    named = _named(listed, replicates)
    several = replicates_in(named)
    for given, run in zip(listed[:n_apart], named, strict=False):
        if not given.system and run.system in several:
            raise ParameterError(
                f"replicates: {run.name}, a baseline, is one of several runs of {run.system}; to"
                f" compare with {run.system}, give all its runs, and its name as the baseline"
            )
    separate = iter(dict.fromkeys(run.system for run in named[:n_apart]))
    first = [
        _system_named(baseline, named) if _is_name(baseline) else next(separate)
        for baseline in baselines
    ]
    order = {system: position for position, system in enumerate(dict.fromkeys(first))}
    named.sort(key=lambda run: order.get(run.system, len(order)))
    return Call(named, [order[system] for system in first], len(rest) < len(contenders))


def _baseline(baseline: Any) -> tuple[Any, str | None]:
    """Return a baseline, which can be a dict from its name to it."""
    if not isinstance(baseline, Mapping):
        return baseline, None
    items, names = runs_and_names(baseline)
    if len(items) > 1:
        named = some(list(map(str, names)))
        raise ParameterError(
            f"baseline: a dict of {len(items)} runs ({named}); give the one run with its name"
        )
    return items[0], names[0]


def _is_name(baseline: Any) -> bool:
    """Return whether a baseline is the name of a run or system, and no file."""
    if not isinstance(baseline, str) or not is_path(baseline) or baseline == STDIN:
        return False
    return not os.path.exists(path_and_order(baseline)[0])


def _system_named(name: str, runs: Sequence[NamedRun]) -> str:
    """Return the system with a name, or the one of the run with it."""
    for run in runs:
        if name in (run.name, run.system):
            return run.system
    names = list(dict.fromkeys(chain(*(run[1:] for run in runs))))
    near = get_close_matches(name, names)
    hint = f"did you mean {some(near)}?" if near else f"the runs are {some(names, 10)}"
    raise UnreadableFile(f"{name}: neither a file nor the name of a run; {hint}")


def _without(
    items: Sequence[tuple[Any, str | None]], baselines: Iterable[Any]
) -> Sequence[tuple[Any, str | None]]:
    """Leave baselines out of the contenders, unless nothing would be left."""
    for baseline in baselines:
        for item, name in items:
            if any(_is_same(run, baseline) for _, run in _members(item) or ()):
                raise ParameterError(f"the baseline is also one of the runs of {name}, a contender")
        items = [item for item in items if not _is_same(item[0], baseline)] or items
    return items


def _is_same(run: Any, other: Any) -> bool:
    """Return whether two runs are the same object or the same file."""
    if is_path(run) and is_path(other):
        return bool(os.path.realpath(run) == os.path.realpath(other))
    if isinstance(run, str) and isinstance(other, str):
        return run == other
    return run is other


def _listed(items: Iterable[tuple[Any, str | None]]) -> list[NamedRun]:
    """Take runs, and lists of the runs of a system, which has the name, apart."""
    listed: list[NamedRun] = []
    for item, name in items:
        members = None if name is None and is_path(item) else _members(item)
        if members is None:
            listed.append(NamedRun(item, name or "", ""))
            continue
        if name is None:
            raise ParameterError(
                "a list of runs stands for a system, which needs a name; give a dict such as"
                ' {"dense": [first, second]}'
            )
        for number, (member, run) in enumerate(members, 1):
            in_memory = not (is_path(run) or isinstance(run, (str, Run, SearchLengths)))
            title = f"{name} {number}" if not member and in_memory else member
            listed.append(NamedRun(run, title, name))
    return listed


def _members(item: Any) -> list[tuple[str, Any]] | None:
    """Return the runs of a system with their names, None for a single run."""
    if isinstance(item, (list, tuple)) and item and isinstance(item[0], (list, tuple)):
        return None  # rows of a run
    members = run_list(item)
    if isinstance(members, dict):
        return [(str(name), run) for name, run in members.items()]
    return None if members is None else [("", run) for run in members]


def _named(listed: Sequence[NamedRun], replicates: Any) -> list[NamedRun]:
    """Name each run and its system."""
    titles = [_title(item.run) for item in listed]
    names = [item.name or title for item, title in zip(listed, titles, strict=True)]
    if is_rule(replicates):  # equal names, as those of a file given twice, would be of one system
        system_by_rule(names, replicates)
    given = [item.name or None for item in listed]
    names = distinct_names(titles, given, [item.run for item in listed])
    system_of = {name: item.system for name, item in zip(names, listed, strict=True) if item.system}
    if replicates is not None:
        for name, system in system_by_run(names, replicates).items():
            if system_of.setdefault(name, system) != system:
                raise ParameterError(
                    f"replicates: {name} is in two systems, {system_of[name]} and {system}"
                )
    systems = [system_of.get(name, name) for name in names]
    names, _ = named_systems(names, system_of)
    runs = [item.run for item in listed]
    return list(map(NamedRun, runs, names, systems))


def _title(run: Any) -> str:
    """Return the name of a run to which the call gives none."""
    if isinstance(run, (Run, SearchLengths)):
        return run.name
    if is_path(run):
        return name_of(path_and_order(run)[0])
    if isinstance(run, str):  # the ranking of a collection
        return run
    return "run"


def replicates_in(runs: Iterable[NamedRun]) -> Systems:
    """Return the names of the runs of each system that has several."""
    by_system: dict[str, tuple[str, ...]] = {}
    for run in runs:
        by_system[run.system] = (*by_system.get(run.system, ()), run.name)
    return {system: names for system, names in by_system.items() if len(names) > 1}
