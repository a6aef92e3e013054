"""Runs: which documents a system ranks for which queries, in arrays."""

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ir_outcomes.arguments import with_checked_methods
from ir_outcomes.choices import Bools, Floats, Ints, RunBy
from ir_outcomes.errors import (
    FormatError,
    IrOutcomesError,
    ParameterError,
    UnreadableFile,
    some,
    warn,
)
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import Columns, Ids, Rows, nested_dict, repeated
from ir_outcomes.reading.files import lines_of, name_of
from ir_outcomes.reading.formats import path_and_order, read_any_file, seems_to_be_a_run
from ir_outcomes.reading.forms import RUN
from ir_outcomes.reading.objects import columns_of, is_ranking

Duplicates = Literal["first", "max"]  # what counts of a document that is ranked twice
DATASET_PREFIX = "irds:"  # and an ir_datasets id: the ranking that comes with a collection


# Rises of scores for each fall: ranks of a first stage beside the scores of a second one agree by
# chance.
_UPSIDE_DOWN = 9


@with_checked_methods
@dataclass(frozen=True, eq=False)
class Run:
    """A checked run: no document twice in a query, no NaN score.

    Attributes
    ----------
    name : str
        What results call it.
    query_ids : tuple of str
        Its queries, in order of first appearance.
    offsets : (n_queries + 1,) int64 array
        The rows of query i are ``offsets[i]:offsets[i + 1]``, in the input's order.
    docids : (n,) bytes array
        Document ids in UTF-8.
    scores : (n,) float64 array
        Higher is ranked first.
    by_rank : bool
        Whether the order is that of a rank column or of a list; `scores` are then the negated
        ranks, without ties.
    texts : mapping of str to str
        The texts of queries, where the file has them.
    form : str
        What the file was; empty where it is none.
    against_ranks : (n_queries,) bool array or None
        Whether a document scores higher than one with a smaller rank; None where none does, or there
        are no ranks beside scores.
    rising : (n_queries,) bool array or None
        Whether scores rise from one rank to the next, more than nine times as often as they fall;
        None as above.
    scattered : int
        Queries whose rows did not follow each other in the input.
    """

    name: str
    query_ids: tuple[str, ...]
    offsets: Ints
    docids: Ids
    scores: Floats
    by_rank: bool = False
    texts: Mapping[str, str] = field(default_factory=dict)
    form: str = ""
    against_ranks: Bools | None = None
    rising: Bools | None = None
    scattered: int = 0

    def __len__(self) -> int:
        return len(self.docids)

    def __repr__(self) -> str:
        return (
            f"Run({self.name!r}, {plural('query', len(self.query_ids))},"
            f" {plural('document', len(self))})"
        )

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query id: {document id: score}}``, as pytrec_eval takes it."""
        return nested_dict(self.query_ids, self.offsets, self.docids, self.scores)

    def take(self, rows: Rows) -> "Run":
        """Return the run that holds only these rows, which are in ascending order."""
        offsets = np.searchsorted(rows, self.offsets).astype(np.int64)
        return replace(self, offsets=offsets, docids=self.docids[rows], scores=self.scores[rows])


def read_run(
    path: str | os.PathLike[str],
    *,
    by: RunBy | None = None,
    name: str | None = None,
    duplicates: Duplicates | None = None,
) -> Run:
    r"""Read a file of a run.

    The content decides what the file is, not its name: TREC's six columns, three columns, CSV, TSV
    or Parquet with names of columns, or JSON; the documentation lists all names. It may be
    compressed.

    Parameters
    ----------
    path : path
        The file; ``-`` is standard input. ``"path#rank"`` and ``"path#score"`` say the same as
        `by`.
    by : {"score", "rank"}, optional
        What orders the documents of a query: the score (higher first), or the rank column (lower
        first). By default the score where there is one. Three columns that could be either must say
        it.
    name : str, optional
        What to call the run; by default the file name without the endings that say its format.
    duplicates : {"first", "max"}, optional
        What counts of a document that a query has several times, as passages of one document: its
        first row, or the one with the best score. By default it is an error.

    Raises
    ------
    InputError
        If the file cannot be read to its end (`UnreadableFile`), a line is malformed, a score is
        not a number, or a document or rank is repeated within a query (`FormatError`).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "bm25.run")
    >>> _ = path.write_text("q1 Q0 d2 1 14.5 bm25\nq1 Q0 d1 2 13.0 bm25\n")
    >>> read_run(path)
    Run('bm25', 1 query, 2 documents)
    """
    check_names([name])
    file, order = path_and_order(path)
    by = by or order
    columns = read_any_file(file, RUN._replace(by=by))
    if by is not None and columns.value_name != by:
        raise FormatError(columns.source, f"contains {columns.value_name}s; leave `by={by!r}` out")
    return _checked(columns, name or name_of(file), duplicates)


def run_of(data: Any, name: str | None = None, duplicates: Duplicates | None = None) -> Run:
    """Take a run as `ir_outcomes.as_run` does, but no id of ir_datasets."""
    check_names([name])
    if isinstance(data, Run):
        return data
    if isinstance(data, (str, os.PathLike)):
        return read_run(data, name=name, duplicates=duplicates)
    return _checked(columns_of(data, name or "the run", RUN), name or "run", duplicates)


def _refuse_several_tags(columns: Columns) -> None:
    """Refuse the lines of several systems in one file of TREC, told by their tags."""
    if columns.form != "TREC" or not os.path.isfile(columns.source):
        return
    tags = dict.fromkeys(line.split()[-1] for _, line in lines_of(columns.source))
    if len(tags) > 1:
        problem = f"has the lines of several systems (tags {some(list(tags))}); give each a file"
        raise FormatError(columns.source, problem)


def _checked(columns: Columns, name: str, duplicates: Duplicates | None) -> Run:
    codes = columns.codes
    begins = np.append(codes[:1], codes[1:][codes[1:] != codes[:-1]])
    scattered = int(np.sum(np.bincount(begins) > 1))
    against_ranks = rising = None
    ordered = columns.by_rank()
    if ordered is not None and (rises := ordered.changes(np.greater)).any():
        against_ranks = rises > 0
        rising = rises > _UPSIDE_DOWN * ordered.changes(np.less)
    by_rank = columns.value_name == "rank"
    if by_rank:
        columns.refuse_fractions()
        columns = replace(columns, values=-columns.values)
    columns = columns.grouped()
    again = repeated(columns.offsets, columns.docids)
    if len(again):
        _refuse_several_tags(columns)
        if duplicates is None:
            row = int(again[0])
            raise columns.error(
                row,
                f"{columns.described(row)} is ranked twice; keep only its best line, or pass"
                " `duplicates='first'` or `duplicates='max'`",
            )
        order = np.arange(len(columns.codes))
        if duplicates == "max":
            order = np.lexsort((-columns.values, columns.codes))
        again = order[repeated(columns.offsets, columns.docids[order])]
        columns = columns.select(np.delete(np.arange(len(order)), again))
    if by_rank and len(again := repeated(columns.offsets, columns.values)):
        row = int(again[0])
        problem = (
            f"rank {-columns.values[row]:.0f} is given twice for query {columns.names(row)[0]}; a"
            " rank must occur only once"
        )
        raise columns.error(row, problem)
    return Run(
        name,
        tuple(columns.query_ids),
        columns.offsets,
        columns.docids,
        columns.values,
        by_rank,
        columns.texts.queries,
        columns.form,
        against_ranks,
        rising,
        scattered,
    )


def run_list(runs: Any) -> list[Any] | dict[str, Any] | None:
    """Return the runs of a list, dict, directory or pattern, or None for one run."""
    listed: list[Any] | dict[str, Any] | None = None
    if isinstance(runs, Mapping):
        listed = None if _is_run(runs) else dict(runs)
    elif isinstance(runs, (list, tuple)):
        # Named tuples are the rows of a run.
        are_rows = hasattr(runs, "_fields") or (runs and _is_row(runs[0]))
        listed = None if are_rows else [path for run in runs for path in run_paths(run)]
    elif _is_directory_or_pattern(runs):
        listed = run_paths(runs)
    if listed is not None and not listed:
        raise ParameterError("there is no run; give at least one")
    return listed


def runs_and_names(
    runs: Any, names: Sequence[str | None] | None = None
) -> tuple[list[Any], list[str | None]]:
    """Return runs as a list, and the name that the call or a dict gives to each."""
    listed = run_list(runs)
    if listed is None:
        listed = [runs]
    items = list(listed.values()) if isinstance(listed, dict) else listed
    if names is None:
        return items, list(listed) if isinstance(listed, dict) else [None] * len(items)
    check_one_for_each(names, len(items))
    check_names(names)
    return items, list(names)


def check_one_for_each(names: Sequence[str | None], number: int, item: str = "run") -> None:
    """Refuse a text, which is a sequence of its letters, and another number of names."""
    if isinstance(names, str) or len(names) != number:
        raise ParameterError(
            f"must be one name for each of the {plural(item, number)}, such as `names=['a', 'b']`",
            names=names,
        )


def check_names(names: Iterable[str | None], item: str = "run") -> None:
    """Refuse names that are no text, blank, or equal apart from their blanks."""
    chosen = [name for name in names if name is not None]
    for name in chosen:
        if not isinstance(name, str):
            raise ParameterError(
                f"the name {name!r} of a {item} is not text; convert names with str"
            )
        if not name.strip():
            raise ParameterError(
                f"the name {name!r} of a {item} is blank; give one that can be seen"
            )
    seen = Counter(" ".join(name.split()) for name in chosen)
    repeated = [name for name, times in seen.items() if times > 1]
    if repeated:
        raise ParameterError(
            f"several {item}s are called {some(repeated)}; give each {item} a name of its own"
        )


def distinct_names(
    titles: Sequence[str], chosen: Sequence[str | None], sources: Sequence[Any]
) -> list[str]:
    """Return a name for each run, with its path or a number where two are equal."""
    check_names(chosen)
    names = [name or title for title, name in zip(titles, chosen, strict=True)]
    times = Counter(names)
    ambiguous = [
        index for index, name in enumerate(chosen) if name is None and times[names[index]] > 1
    ]
    taken = {name for index, name in enumerate(names) if index not in ambiguous}
    for index in ambiguous:
        stem = names[index]
        candidates = []
        if isinstance(sources[index], (str, os.PathLike)):
            stem = os.fspath(sources[index])
            candidates = [stem]
        numbered = (f"{stem} {number}" for number in count(index))
        names[index] = next(name for name in chain(candidates, numbered) if name not in taken)
        taken.add(names[index])
    return names


def run_paths(source: Any) -> list[Any]:
    """List the runs of a directory or a pattern, or what is a run by itself."""
    if not _is_directory_or_pattern(source):
        return [source]
    path = os.fspath(source)
    is_folder = os.path.isdir(path)
    listed = _matches(os.path.join(glob.escape(path), "*") if is_folder else path)
    # Folders in a folder are named; a pattern such as ** enters them.
    found = sorted(file for file in listed if is_folder or not os.path.isdir(file))
    if all(map(os.path.isdir, found)):
        problem = "the directory contains no file" if is_folder else "no file matches this pattern"
        raise UnreadableFile(f"{path}: {problem}")
    runs = [file for file in found if _is_probably_run(file)]
    rest = [
        os.path.relpath(file, path) if is_folder else file for file in found if file not in runs
    ]
    if not runs:
        raise UnreadableFile(
            f"{path}: contains no run, but {some(rest)}; name a file itself to read it as a run"
        )
    if rest:
        left_out = (
            "are not runs and are left out" if len(rest) > 1 else "is not a run and is left out"
        )
        warn(f"{path}: {some(rest, 20)} {left_out}; name a file itself to read it as a run")
    return runs


def is_path(run: Any) -> bool:
    """Return whether a run is given as a path, and not as a dataset id."""
    return isinstance(run, os.PathLike) or (
        isinstance(run, str) and not run.startswith(DATASET_PREFIX)
    )


def _is_run(runs: Mapping[Any, Any]) -> bool:
    """Return whether a dict is a run, and not a dict of runs."""
    first = next(
        (
            value
            for value in runs.values()
            if not isinstance(value, (Mapping, list, tuple)) or len(value)
        ),
        None,
    )
    if first is None:
        return bool(runs)
    if isinstance(first, Mapping):
        inner = next(iter(first.values()))
        return not isinstance(inner, Mapping) and not is_ranking(inner)
    # Ids of documents, unless they are the files of a system's runs, which may be missing.
    if not is_ranking(first):
        return False
    is_file = isinstance(first[0], str) and (
        os.path.exists(first[0]) or re.search(r"\.(run|trec|res)(\.gz|\.zst)?$", first[0])
    )
    return not is_file


def _is_row(item: Any) -> bool:
    """Return whether an item of a list is part of a run, and no run."""
    if isinstance(item, dict):
        return RUN.is_flat(item) or RUN.shape_of(item) is not None
    return hasattr(item, "_fields")


def _is_directory_or_pattern(run: Any) -> bool:
    if not is_path(run):
        return False
    is_pattern = any(sign in os.fspath(run) for sign in "*?[") and not os.path.exists(run)
    return is_pattern or os.path.isdir(run)


def _matches(pattern: str) -> list[str]:
    """Return the visible paths that match a pattern, without following links."""
    path = Path(pattern)
    within = path.relative_to(path.anchor)
    if within.name == "**":
        within /= "*"
    try:
        found = list(Path(path.anchor).glob(str(within)))
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"{pattern}: cannot be searched ({error})") from None
    hidden = (any(name.startswith(".") for name in {*file.parts} - {*path.parts}) for file in found)
    return [str(file) for file, is_hidden in zip(found, hidden, strict=True) if not is_hidden]


def _is_probably_run(path: str) -> bool:
    """Return whether a file in a directory is a run, or cannot be read."""
    if os.path.isdir(path):
        return False
    name = os.path.basename(path).lower()
    # Such files stand beside runs in many repositories.
    if name.startswith(("readme", "license")) or name.endswith(".md"):
        return False
    if not os.path.isfile(path):  # a pipe can be read only once
        return True
    try:
        return seems_to_be_a_run(path)
    except IrOutcomesError:
        return True
