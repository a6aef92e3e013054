"""Suites: which runs belong to which collection, from a folder or from a file that lists them."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ir_outcomes.errors import FormatError, MismatchError, UnreadableFile, escaped, some
from ir_outcomes.reading.datasets import is_dataset_id
from ir_outcomes.reading.files import COMPRESSION_ENDINGS, lines_of, name_of, parsed_json
from ir_outcomes.reading.runs import run_paths

LAYOUTS = """\
a suite is laid out in one of these ways:
  runs/<system>/<collection>.run.gz    with qrels/<collection>.txt.gz
  <collection>/<system>.run.gz         with <collection>/qrels.txt.gz or qrels/<collection>.txt.gz
Runs end in .run, .res or .trec, and may be compressed. Where there are no qrels, the name of the collection must be an
ir_datasets id, such as beir/nfcorpus/test: folders, or underscores instead of slashes. Or list the collections in a TOML
or JSON file."""
_RUN_ENDINGS = (".run", ".res", ".trec")
_RUNS, _QRELS = "runs", "qrels"


@dataclass(frozen=True)
class SuiteCollection:
    """One collection of a suite."""

    name: str
    qrels: str
    runs: Mapping[str, str]
    cutoff: int | None = None
    rel: int | None = None
    group: str | None = None  # collections of the same group are averaged first
    clusters: str | None = None


@dataclass(frozen=True)
class Suite:
    """Collections with runs of the same systems."""

    collections: tuple[SuiteCollection, ...]
    baseline: str | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of all systems, in the order in which they first occur."""
        return tuple(dict.fromkeys(system for collection in self.collections for system in collection.runs))

    @property
    def files(self) -> list[str]:
        """Qrels and runs of all collections: paths, or dataset ids."""
        return [file for collection in self.collections for file in (collection.qrels, *collection.runs.values())]

    @property
    def groups(self) -> dict[str, str]:
        """The group of each collection that has one."""
        return {collection.name: collection.group for collection in self.collections if collection.group is not None}


def read_suite(path: str | os.PathLike[str]) -> Suite:
    """Find the collections of a suite, without opening their runs and qrels.

    Parameters
    ----------
    path : path
        A folder, or a file ``.toml`` or ``.json``.

    Raises
    ------
    InputError
        If there is no such folder or file, it has another layout, or a collection has no qrels.

    Notes
    -----
    A folder is laid out as ``runs/<system>/<collection>.run.gz`` or ``<collection>/<system>.run.gz``, with the qrels beside the
    runs (``<collection>/qrels.txt.gz``) or in a folder of their own (``qrels/<collection>.txt.gz``); without qrels, the name of
    the collection is a dataset id, in folders or with underscores instead of slashes. Runs end in .run, .res or .trec.

    A file has a table for each collection, with paths relative to the file; JSON has the same structure::

        baseline = "bm25"                        # optional

        [collections.nfcorpus]
        qrels = "qrels/nfcorpus.txt"             # or: dataset = "beir/nfcorpus/test"
        runs = "runs/nfcorpus/*.run.gz"          # or a list of paths, or a table of names and paths
        cutoff = 100                             # optional, like the following
        rel = 1
        group = "small"
        clusters = "by:::"                       # or a file
    """
    target = Path(path)
    if target.is_dir():
        return Suite(tuple(_from_folder(target)))
    if not target.exists():
        raise UnreadableFile(f"{path}: no such folder or file; {LAYOUTS}")
    return _from_file(target)


def _from_folder(folder: Path) -> Iterable[SuiteCollection]:
    files = sorted(_files_below(folder))
    by_system = (folder / _RUNS).is_dir()
    found: dict[str, dict[str, str]] = {}
    for file in files:
        stem = _run_stem(file)
        if stem is None:
            continue
        if by_system:
            parts = file.relative_to(folder).parts
            if len(parts) < 3 or parts[0] != _RUNS:
                continue
            system, collection = parts[1], "/".join([*parts[2:-1], stem])
        else:
            system, collection = stem, file.parent.relative_to(folder).as_posix()
        runs = found.setdefault(collection, {})
        if system in runs:
            raise FormatError(str(folder), f"has two runs of {escaped(system)} for {escaped(collection)}; remove one")
        runs[system] = str(file)
    if not found or "." in found:
        problem = "has runs beside each other, without collections" if found else "has no runs in folders"
        raise FormatError(str(folder), f"{problem}; {LAYOUTS}")
    qrels = {collection: _qrels_of(folder, collection, files) for collection in found}
    missing = [name for name in found if qrels[name] is None]
    if missing:
        raise MismatchError(
            f"{folder}: there are no qrels of {some(missing, 10)}; add {_QRELS}/{missing[0]}.txt or {missing[0]}/qrels.txt, or "
            "name the folder like an ir_datasets id, such as beir/nfcorpus/test"
        )
    return [SuiteCollection(name, str(qrels[name]), found[name]) for name in sorted(found)]


def _files_below(folder: Path) -> Iterable[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(parent, name) for name in files if not name.startswith("."))


def _run_stem(file: Path) -> str | None:
    """Return the file's name without its endings if it is called like a run."""
    name = file.name
    for ending in COMPRESSION_ENDINGS:
        name = name.removesuffix(f".{ending}")
    stem, ending = os.path.splitext(name)
    return stem if ending in _RUN_ENDINGS else None


def _qrels_of(folder: Path, collection: str, files: Iterable[Path]) -> str | None:
    """Find the qrels of a collection: in its folder, in the folder of all qrels, or by dataset id."""
    wanted = {folder / collection / _QRELS, folder / _QRELS / collection}
    for file in files:
        if _run_stem(file) is None and (file.parent / name_of(file)) in wanted:
            return str(file)
    candidates = dict.fromkeys((collection, collection.replace("__", "/"), collection.replace("_", "/")))
    return next((name for name in candidates if "/" in name and is_dataset_id(name)), None)


@dataclass(frozen=True)
class _Listed:
    """A collection as a file lists it."""

    runs: str | list[str] | dict[str, str]
    qrels: str | None = None
    dataset: str | None = None
    cutoff: int | None = None
    rel: int | None = None
    group: str | None = None
    clusters: str | None = None


@dataclass(frozen=True)
class _File:
    """A file that lists collections."""

    collections: dict[str, _Listed]
    baseline: str | None = None


def _from_file(path: Path) -> Suite:
    import msgspec

    source, text = str(path), "".join(line for _, line in lines_of(path))
    try:
        content = parsed_json(text, source, 1) if path.suffix == ".json" else tomllib.loads(text)
        listed = msgspec.convert(content, _File)
    except (tomllib.TOMLDecodeError, RecursionError, msgspec.ValidationError) as error:
        problem = f"is not a TOML or JSON file of a suite ({error}); write a table [collections.<name>] for each collection"
        raise FormatError(source, f"{problem}, with qrels and runs") from None
    _check_keys(content, _File, source, "the file")
    for name, table in content["collections"].items():
        _check_keys(table, _Listed, source, f"collection {name!r}")
    suite = Suite(tuple(_collection(name, table, path) for name, table in listed.collections.items()), listed.baseline)
    if not suite.collections:
        raise FormatError(source, "lists no collection; write a table [collections.<name>] for each, with qrels and runs")
    if suite.baseline is not None and suite.baseline not in suite.systems:
        raise FormatError(source, f"no collection has a run called {suite.baseline!r}; the runs are {some(suite.systems, 10)}")
    return suite


def _check_keys(table: Mapping[str, Any], kind: Any, source: str, where: str) -> None:
    known = [field.name for field in fields(kind)]
    unknown = [key for key in table if key not in known]
    if unknown:
        raise FormatError(source, f"{where} has an unknown key {unknown[0]!r}; the keys are {', '.join(known)}")


def _collection(name: str, table: _Listed, path: Path) -> SuiteCollection:
    source, where = str(path), f"collection {name!r}"
    if bool(table.qrels) == bool(table.dataset):
        raise FormatError(source, f"{where} needs either qrels, a path, or dataset, an ir_datasets id")
    if table.dataset and not is_dataset_id(table.dataset):
        raise FormatError(source, f"{where}: dataset = {table.dataset!r} is not an ir_datasets id")
    qrels = table.dataset or str(path.parent / str(table.qrels))
    is_file = table.clusters is not None and not table.clusters.startswith("by:")
    clusters = str(path.parent / str(table.clusters)) if is_file else table.clusters
    return SuiteCollection(name, qrels, _runs(table.runs, path, where), table.cutoff, table.rel, table.group, clusters)


def _runs(listed: str | list[str] | dict[str, str], path: Path, where: str) -> dict[str, str]:
    """Find the runs of a collection: a folder, a pattern, a list of paths, or a table of names and paths."""
    if isinstance(listed, dict):
        return {name: str(path.parent / run) for name, run in listed.items()}
    paths = [found for run in ([listed] if isinstance(listed, str) else listed) for found in run_paths(path.parent / run)]
    runs = {name_of(found): found for found in paths}
    if len(runs) < len(paths):
        raise FormatError(str(path), f"{where}: two runs have the same name; write runs as a table of names and paths")
    return runs
