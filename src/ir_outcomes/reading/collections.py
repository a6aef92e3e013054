"""Suites: folders of collections with runs of the same systems."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ir_outcomes.errors import FormatError, ParameterError, UnreadableFile, escaped, some
from ir_outcomes.reading.datasets import is_dataset_id
from ir_outcomes.reading.files import COMPRESSION_ENDINGS, name_of

LAYOUT = (
    "a suite is a folder with COLLECTION/SYSTEM.run and COLLECTION/qrels.txt; runs end in .run,"
    " .res or .trec, and files may be compressed. Without qrels the name of the collection must be"
    " an ir_datasets id, such as beir/nfcorpus/test"
)
_RUN_ENDINGS = (".run", ".res", ".trec")
_QRELS = "qrels"


@dataclass(frozen=True)
class SuiteCollection:
    """One collection of a suite."""

    name: str
    qrels: str  # a path, or a dataset id
    runs: Mapping[str, str]  # the path of each system's run


@dataclass(frozen=True)
class Suite:
    """Collections with runs of the same systems."""

    collections: tuple[SuiteCollection, ...]

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


def read_suite(path: str | os.PathLike[str]) -> Suite:
    """Find the collections of a suite, without opening their runs and qrels.

    Parameters
    ----------
    path : path
        A folder with ``COLLECTION/SYSTEM.run`` (or .res, .trec) and ``COLLECTION/qrels.txt``, which
        may be compressed. Without qrels the collection is called like a dataset id, such as
        ``beir/nfcorpus/test``. Links are followed; names that begin with a dot are skipped.

    Raises
    ------
    InputError
        If there is no such folder, or a folder in it neither is nor contains a collection, so that
        nothing would be compared there.
    """
    folder = _folder(path, LAYOUT)
    problems: dict[str, str] = {}
    collections = _collections(folder, "", (), problems)
    if problems:
        named = some([f"{escaped(name)} ({words})" for name, words in problems.items()], 10)
        raise FormatError(
            str(folder),
            f"nothing can be compared in {named}; add what is lacking, remove it, or let its name"
            f" begin with a dot; {LAYOUT}",
        )
    if not collections:
        raise FormatError(str(folder), f"has no runs in folders; {LAYOUT}")
    return Suite(tuple(sorted(collections, key=lambda collection: collection.name)))


def read_folders(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    """Return the files of values in each folder of a folder.

    Names that begin with a dot are skipped.

    Raises
    ------
    InputError
        If there is no such folder, or a folder in it has no files or other folders.
    """
    layout = "give a folder with a folder of values for each collection: COLLECTION/SYSTEM.csv"
    folder = _folder(path, layout)
    folders: dict[str, list[str]] = {}
    problems = []
    for collection in _visible(folder):
        files = _visible(collection) if collection.is_dir() else []
        if not files or not all(file.is_file() for file in files):
            problems.append(escaped(collection.name))
        folders[collection.name] = list(map(str, files))
    if problems or not folders:
        wrong = f"has something else than files of values in {some(problems, 10)}"
        raise FormatError(str(folder), f"{wrong if problems else 'is empty'}; {layout}")
    return folders


def _folder(path: str | os.PathLike[str], layout: str) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise ParameterError(
            f"`suite` is of type {type(path).__name__}; it must be a path; {layout}"
        )
    if not os.path.isdir(path):
        raise UnreadableFile(f"{path}: no such folder; {layout}")
    return Path(path)


def _visible(folder: Path) -> list[Path]:
    """Return what is in a folder, without names that begin with a dot."""
    try:
        return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise UnreadableFile(f"{folder}: cannot be read: {error.strerror or error}") from error


def _collections(
    folder: Path, name: str, above: tuple[Path, ...], problems: dict[str, str]
) -> list[SuiteCollection]:
    """Return the collections of a folder, and add what is none, and why."""
    resolved = folder.resolve()
    if any(outer.is_relative_to(resolved) for outer in above):
        problems[name] = "a link to a folder above it"
        return []
    entries = _visible(folder)
    collections: list[SuiteCollection] = []
    runs: dict[str, str] = {}
    qrels: str | None = None
    n_problems = len(problems)
    for entry in entries:
        within = f"{name}/{entry.name}".lstrip("/")
        system = _system(entry)
        if entry.is_dir():
            collections += _collections(entry, within, (*above, resolved), problems)
        elif not entry.exists():
            problems[within] = "a link to nothing"
        elif system in runs:
            raise FormatError(
                str(folder), f"has two runs of {escaped(system)} for {escaped(name)}; remove one"
            )
        elif system is not None:
            runs[system] = str(entry)
        elif name_of(entry) == _QRELS:
            qrels = str(entry)
    if runs and not name:
        beside = "has runs beside each other, without collections"
        raise FormatError(str(folder), f"{beside}; {LAYOUT}")
    if runs and (qrels is not None or is_dataset_id(name)):
        collections.append(SuiteCollection(name, qrels or name, runs))
    elif runs:
        problems[name] = "no qrels"
    elif name and not collections and len(problems) == n_problems:
        lacking = "no runs" if qrels else "neither runs nor qrels"
        problems[name] = lacking if entries else "empty"
    return collections


def _system(file: Path) -> str | None:
    """Return the file's name without its endings if it is called like a run."""
    if file.suffix.removeprefix(".") in COMPRESSION_ENDINGS:
        file = file.with_suffix("")
    return file.stem if file.suffix in _RUN_ENDINGS else None
