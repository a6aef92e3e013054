"""Suites: which runs belong to which collection, from a folder or from a file that lists them."""

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ir_outcomes.errors import FormatError, MismatchError, UnreadableFile, escaped, some
from ir_outcomes.reading.datasets import is_dataset_id
from ir_outcomes.reading.files import COMPRESSION_ENDINGS, lines_of, name_of, parsed_json
from ir_outcomes.reading.runs import run_paths
from ir_outcomes.types import check_kind

LAYOUTS = """\
a suite is laid out in one of these ways:
  runs/<system>/<collection>.run.gz    with qrels/<collection>.txt.gz
  <collection>/<system>.run.gz         with <collection>/qrels.txt.gz or qrels/<collection>.txt.gz
Runs end in .run, .res or .trec, and may be compressed. Where there are no qrels, the name of the collection must be an
ir_datasets id, such as beir/nfcorpus/test: folders, or underscores instead of slashes. Or list the collections in a TOML
or JSON file."""
_RUN_ENDINGS = (".run", ".res", ".trec")
_QRELS_ENDINGS = (".txt", ".tsv", ".qrels", ".qrel")
_RUNS = "runs"
_QRELS = "qrels"


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
    without_runs: tuple[str, ...] = ()  # collections that have qrels and no run

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of all systems, in the order in which they first occur."""
        return tuple(
            dict.fromkeys(system for collection in self.collections for system in collection.runs)
        )

    @property
    def files(self) -> list[str]:
        """Qrels and runs of all collections: paths, or dataset ids."""
        return [
            file
            for collection in self.collections
            for file in (collection.qrels, *collection.runs.values())
        ]

    @property
    def groups(self) -> dict[str, str]:
        """The group of each collection that has one."""
        return {
            collection.name: collection.group
            for collection in self.collections
            if collection.group is not None
        }


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
    Runs are ``runs/<system>/<collection>.run.gz`` or ``<collection>/<system>.run.gz`` (or .res,
    .trec), qrels ``<collection>/qrels.txt.gz`` or ``qrels/<collection>.txt.gz``. Without qrels the
    name of the collection is a dataset id, in folders or with underscores instead of slashes. A
    file has a table for each collection, with paths relative to the file; JSON has the same
    structure::

        baseline = "bm25"                        # optional

        [collections.nfcorpus]
        qrels = "qrels/nfcorpus.txt"             # or: dataset = "beir/nfcorpus/test"
        runs = "runs/nfcorpus/*.run.gz"          # or a list of paths, or a table of names and paths
        cutoff = 100                             # optional, like the following
        rel = 1
        group = "small"
        clusters = "by:::"                       # or a file
    """
    check_kind("suite", path, (str, os.PathLike), f"a path; {LAYOUTS}")
    target = Path(path)
    if target.is_dir():
        return _from_folder(target)
    if not target.exists():
        raise UnreadableFile(f"{path}: no such folder or file; {LAYOUTS}")
    return _from_file(target)


def _from_folder(folder: Path) -> Suite:
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    by_system = (folder / _RUNS).is_dir()
    found: dict[str, dict[str, str]] = {}
    for file in files:
        stem = _run_stem(file)
        folders = file.relative_to(folder).parts[:-1]
        if stem is None or (by_system and (len(folders) < 2 or folders[0] != _RUNS)):
            continue
        system = stem
        collection = "/".join(folders)
        if by_system:
            system = folders[1]
            collection = "/".join([*folders[2:], stem])
        if system in found.setdefault(collection, {}):
            raise FormatError(
                str(folder),
                f"has two runs of {escaped(system)} for {escaped(collection)}; remove one",
            )
        found[collection][system] = str(file)
    if not found or "" in found:
        problem = "has no runs in folders"
        if found:
            problem = "has runs beside each other, without collections"
        raise FormatError(str(folder), f"{problem}; {LAYOUTS}")
    qrels = {collection: _qrels_of(folder, collection, files) for collection in found}
    missing = [name for name in found if qrels[name] is None]
    if missing:
        raise MismatchError(
            f"{folder}: there are no qrels of {some(missing, 10)}; add {_QRELS}/{missing[0]}.txt or"
            f" {missing[0]}/qrels.txt, or name the folder like an ir_datasets id, such as"
            " beir/nfcorpus/test"
        )
    collections = tuple(
        SuiteCollection(name, str(qrels[name]), found[name]) for name in sorted(found)
    )
    judged = {_judged_collection(folder, file) for file in files}
    return Suite(collections, without_runs=tuple(sorted(filter(None, judged - found.keys()))))


def _run_stem(file: Path) -> str | None:
    """Return the file's name without its endings if it is called like a run."""
    if file.suffix.removeprefix(".") in COMPRESSION_ENDINGS:
        file = file.with_suffix("")
    return file.stem if file.suffix in _RUN_ENDINGS else None


def _judged_collection(folder: Path, file: Path) -> str | None:
    """Return the collection that a file has qrels of, by its name; None for other files."""
    without_compression = file
    if file.suffix.removeprefix(".") in COMPRESSION_ENDINGS:
        without_compression = file.with_suffix("")
    if without_compression.suffix not in _QRELS_ENDINGS:
        return None
    place = file.parent.relative_to(folder)
    name = name_of(file)
    if name == _QRELS and place.parts:
        return place.as_posix()
    if place.parts[:1] == (_QRELS,):
        return (Path(*place.parts[1:]) / name).as_posix()
    return None


def _qrels_of(folder: Path, collection: str, files: Iterable[Path]) -> str | None:
    """Find the qrels of a collection: in its folder, in the folder of all qrels, or by dataset id."""
    wanted = {folder / collection / _QRELS, folder / _QRELS / collection}
    for file in files:
        if _run_stem(file) is None and (file.parent / name_of(file)) in wanted:
            return str(file)
    candidates = dict.fromkeys(
        (collection, collection.replace("__", "/"), collection.replace("_", "/"))
    )
    return next((name for name in candidates if "/" in name and is_dataset_id(name)), None)


def _from_file(path: Path) -> Suite:
    import msgspec

    class Listed(msgspec.Struct, forbid_unknown_fields=True):
        """A collection as a file lists it."""

        runs: str | list[str] | dict[str, str]
        qrels: str | None = None
        dataset: str | None = None
        cutoff: int | None = None
        rel: int | None = None
        group: str | None = None
        clusters: str | None = None

    class File(msgspec.Struct, forbid_unknown_fields=True):
        """A file that lists collections."""

        collections: dict[str, Listed]
        baseline: str | None = None

    def collection(name: str, listed: Listed) -> SuiteCollection:
        if bool(listed.qrels) == bool(listed.dataset):
            raise FormatError(
                source,
                f"collection {name!r} needs either qrels, a path, or dataset, an ir_datasets id",
            )
        if listed.dataset and not is_dataset_id(listed.dataset):
            raise FormatError(
                source,
                f"collection {name!r}: dataset = {listed.dataset!r} is not an ir_datasets id",
            )
        qrels = listed.dataset or str(path.parent / str(listed.qrels))
        clusters = listed.clusters
        if clusters is not None and not clusters.startswith("by:"):
            clusters = str(path.parent / clusters)
        if isinstance(listed.runs, dict):
            runs = {system: str(path.parent / run) for system, run in listed.runs.items()}
        else:  # a folder, a pattern, or paths
            named = listed.runs
            if isinstance(listed.runs, str):
                named = [listed.runs]
            files = _run_files([path.parent / run for run in named])
            runs = {name_of(file): str(file) for file in files}
            if len(runs) < len(files):
                problem = (
                    f"collection {name!r}: two runs have the same name; write runs as a table of"
                    " names and paths"
                )
                raise FormatError(source, problem)
        return SuiteCollection(name, qrels, runs, listed.cutoff, listed.rel, listed.group, clusters)

    source = str(path)
    text = "".join(line for _, line in lines_of(path))
    try:
        if path.suffix == ".json":
            content = parsed_json(text, source, 1)
        else:
            content = tomllib.loads(text)
        file = msgspec.convert(content, File)
    except (tomllib.TOMLDecodeError, RecursionError, msgspec.ValidationError) as error:
        problem = (
            f"is not a TOML or JSON file of a suite ({error}); write a table [collections.<name>]"
            " for each collection"
        )
        keys = (
            "qrels (or dataset) and runs, and where they are needed cutoff, rel, group and clusters"
        )
        raise FormatError(source, f"{problem}, with {keys}") from None
    every = [collection(name, listed) for name, listed in file.collections.items()]
    suite = Suite(
        tuple(known for known in every if known.runs),
        file.baseline,
        tuple(known.name for known in every if not known.runs),
    )
    if not every:
        raise FormatError(
            source,
            "lists no collection; write a table [collections.<name>] for each, with qrels and runs",
        )
    if not suite.collections:
        raise FormatError(
            source,
            f"no collection has a run: no file is where it says for {some(suite.without_runs)}",
        )
    if suite.baseline is not None and suite.baseline not in suite.systems:
        raise FormatError(
            source,
            f"no collection has a run called {suite.baseline!r}; the runs are"
            f" {some(suite.systems, 10)}",
        )
    return suite


def _run_files(named: Sequence[Path]) -> list[Any]:
    """List the runs of folders, patterns and paths; none where not one of them has any."""
    found: list[Any] = []
    empty: list[UnreadableFile] = []
    for source in named:
        try:
            found += run_paths(source)
        except UnreadableFile as error:
            empty.append(error)
    if found and empty:
        raise empty[0]
    return found
