"""Suites: folders of collections with runs of the same systems."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ir_outcomes.arguments import check_kind
from ir_outcomes.errors import FormatError, MismatchError, UnreadableFile, escaped, some
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


def read_suite(path: str | os.PathLike[str]) -> Suite:
    """Find the collections of a suite, without opening their runs and qrels.

    Parameters
    ----------
    path : path
        A folder with ``COLLECTION/SYSTEM.run`` (or .res, .trec) and ``COLLECTION/qrels.txt``, which
        may be compressed. Without qrels the collection is called like a dataset id, such as
        ``beir/nfcorpus/test``.

    Raises
    ------
    InputError
        If there is no such folder, it has another layout, or a collection has no qrels.
    """
    check_kind("suite", path, (str, os.PathLike), f"a path; {LAYOUT}")
    folder = Path(path)
    if not folder.is_dir():
        raise UnreadableFile(f"{path}: no such folder; {LAYOUT}")
    runs: dict[str, dict[str, str]] = {}
    qrels: dict[str, str] = {}
    for file in sorted(folder.rglob("*")):
        within = file.relative_to(folder)
        collection = within.parent.as_posix()
        if any(part.startswith(".") for part in within.parts) or not file.is_file():
            continue
        system = _system(file)
        if system is None:
            if name_of(file) == _QRELS:
                qrels[collection] = str(file)
        elif system in runs.setdefault(collection, {}):
            raise FormatError(
                str(folder),
                f"has two runs of {escaped(system)} for {escaped(collection)}; remove one",
            )
        else:
            runs[collection][system] = str(file)
    if not runs or "." in runs:
        problem = "has no runs in folders"
        if runs:
            problem = "has runs beside each other, without collections"
        raise FormatError(str(folder), f"{problem}; {LAYOUT}")
    missing = [name for name in runs if name not in qrels and not is_dataset_id(name)]
    if missing:
        raise MismatchError(
            f"{folder}: there are no qrels of {some(missing, 10)}; add {missing[0]}/qrels.txt, or"
            " name the folder like an ir_datasets id, such as beir/nfcorpus/test"
        )
    return Suite(
        tuple(SuiteCollection(name, qrels.get(name, name), runs[name]) for name in sorted(runs)),
        tuple(sorted(qrels.keys() - runs.keys() - {"."})),
    )


def _system(file: Path) -> str | None:
    """Return the file's name without its endings if it is called like a run."""
    if file.suffix.removeprefix(".") in COMPRESSION_ENDINGS:
        file = file.with_suffix("")
    return file.stem if file.suffix in _RUN_ENDINGS else None
