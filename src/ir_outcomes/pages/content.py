"""What a page holds: its comparisons, the queries behind them with ranked lists and texts, curves, and its inputs."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from ir_outcomes.across.cutoffs import curve_of
from ir_outcomes.across.gate import GateResult
from ir_outcomes.across.result import ConditionsComparison, Curve
from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.pages.lists import (
    RankColumns,
    RankedLists,
    Texts,
    lists_of,
    rank_columns,
    texts_of_documents,
)
from ir_outcomes.reading.files import file_digest, read_texts
from ir_outcomes.reading.qrels import query_texts
from ir_outcomes.reading.runs import is_path
from ir_outcomes.results import Result

TOO_FEW = "too few queries"

Evaluations = Evaluation | Mapping[str, Evaluation] | None


class Section(NamedTuple):
    """A comparison on the page, with its collection, slice, cutoff or judge where there are several."""

    comparison: Comparison
    condition: str = ""
    has_label: bool = True
    curve: Curve | None = None  # of a result that is one comparison of ranks, if the runs are known

    @property
    def label(self) -> str:
        """The label, which a slice of few queries does not have."""
        if self.has_label:
            return self.comparison.verdict.label
        return TOO_FEW

    @property
    def title(self) -> str:
        """A heading."""
        pair = f"{self.comparison.contender} against {self.comparison.baseline}"
        return f"{self.condition}: {pair}" if self.condition else pair


@dataclass(frozen=True, eq=False)
class QuerySet:
    """Queries that one or several grids share."""

    ids: tuple[str, ...]
    texts: Sequence[str | None] | None  # None where none is known, as below
    slices: Sequence[str | None] | None
    relevant: Sequence[int] | None  # how many documents are relevant
    runs: Sequence[str]  # all that are compared, of systems all their runs
    first: Mapping[str, int]  # of each system that has several, the place of its first run
    # Where they rank what is relevant; None where that is not known, or no ranks were compared.
    columns: RankColumns | None
    changes: Sequence[float]  # how much the search lengths of the runs differ
    lists: Callable[[int], RankedLists] | None  # of a query, by its place
    documents: Callable[[Collection[str]], Mapping[str, str]]  # first words by id


@dataclass(frozen=True)
class Grid:
    """The runs under one condition, any two of which can be chosen on the page."""

    condition: str
    runs: Sequence[str]
    settings: Settings
    # Of the pairs of the call, the baseline first, corrected over them; slices of few queries have none.
    labels: Mapping[tuple[str, str], str]
    sections: Sequence[Section]
    queries: int | None = None  # the number of its set of queries; None where they are not known


@dataclass(frozen=True, eq=False)
class PageContent:
    """All that is drawn on a page."""

    result: Result
    sections: Sequence[Section]
    grids: Sequence[Grid]
    sets: Sequence[QuerySet]
    has_evaluation: bool
    inputs: Sequence[tuple[str, str, str]]  # what it is, its name, and its SHA-256
    command: str | None  # as it was typed
    advice: Callable[[str], str]  # writes arguments in backticks as the place of the call has them


class _Group(NamedTuple):
    """A grid, with the evaluation that its runs come from, where it is known."""

    grid: Grid
    evaluation: Evaluation | None
    ids: tuple[str, ...] | None  # of the queries; None where they are not known


def collect(
    result: Result,
    *,
    evaluation: Evaluations = None,
    docs: Texts = None,
    queries: Texts = None,
    slices: Texts = None,
    command: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
    advice: Callable[[str], str] = str,
) -> PageContent:
    """Collect what the page of a result holds; the arguments are those of `ir_outcomes.report`."""
    labels = _mapping(slices, read_texts)
    texts = _mapping(queries, query_texts)
    groups = _groups_of(result, evaluation)
    sharing: dict[Any, list[_Group]] = {}
    for group in groups:
        if group.ids is not None:
            sharing.setdefault((id(group.evaluation), group.ids), []).append(group)
    numbers = {key: number for number, key in enumerate(sharing)}
    grids = []
    for group in groups:
        queries_of_grid = numbers.get((id(group.evaluation), group.ids))
        grids.append(replace(group.grid, queries=queries_of_grid))
    files = [*inputs, *(path for path in (docs, queries, slices) if is_path(path))]
    return PageContent(
        result=result,
        sections=[section for group in groups for section in group.grid.sections],
        grids=grids,
        sets=[_query_set(members, texts, labels, docs) for members in sharing.values()],
        has_evaluation=any(group.evaluation is not None for group in groups),
        inputs=_inputs(groups, files),
        command=command,
        advice=advice,
    )


def _groups_of(result: Result, evaluation: Evaluations) -> list[_Group]:
    """Put the comparisons of a result together by their conditions; a board is one group."""
    if isinstance(result, Leaderboard):
        return _group_of_board(result, evaluation)
    sections: dict[str, list[Section]] = {}
    for section in sections_of(result):
        sections.setdefault(section.condition, []).append(section)
    groups = [_group_of_sections(own, evaluation) for own in sections.values()]
    if isinstance(result, Comparison):
        (group,) = groups
        curve = _curve_of(result, group.evaluation)
        section = group.grid.sections[0]._replace(curve=curve)
        return [group._replace(grid=replace(group.grid, sections=[section]))]
    return groups


def _group_of_board(result: Leaderboard, evaluation: Evaluations) -> list[_Group]:
    if result.settings is None:
        return []
    runs = [standing.run for standing in result.standings]
    labels = {(pair.baseline, pair.contender): pair.label for pair in result.pairs}
    own = evaluation[runs] if isinstance(evaluation, Evaluation) else None
    ids = None if own is None else own.answerable_queries
    sections = []
    if own is not None and own.replicates and len(runs) > 1:
        rules = {name: getattr(result.settings, name) for name in ("cutoff", "alpha", "test")}
        compared = compare(own, runs[0], runs[1:], correction="none", **rules)
        # Pairs of a board have their label, corrected over all of them, and no other words.
        sections = [Section(comparison, has_label=False) for comparison in compared]
    return [_Group(Grid("", runs, result.settings, labels, sections), own, ids)]


def _group_of_sections(sections: list[Section], evaluation: Evaluations) -> _Group:
    comparisons = [section.comparison for section in sections]
    evaluations = [_evaluation_of(section, evaluation) for section in sections]
    runs: dict[str, None] = {}
    for comparison in comparisons:
        runs |= {comparison.baseline: None, comparison.contender: None}
    labels = {
        (section.comparison.baseline, section.comparison.contender): section.label
        for section in sections
    }
    ids = None
    if comparisons[0].queries is not None:
        ids = tuple(query.query_id for query in comparisons[0].queries)
    settings = comparisons[0].settings
    grid = Grid(sections[0].condition, list(runs), settings, labels, sections)
    return _Group(grid, evaluations[0], ids)


def _mapping(given: Texts, read: Callable[[Any], Mapping[str, str]]) -> Mapping[str, str]:
    """Return texts by id, from a file if it is one."""
    if given is None:
        return {}
    return given if isinstance(given, Mapping) else read(given)


def sections_of(result: Result) -> list[Section]:
    """List the comparisons of a result, in its order; none for results that hold no comparisons."""
    match result:
        case Comparison():
            return [Section(result)]
        case Comparisons():
            return [Section(comparison) for comparison in result]
        case ConditionsComparison():
            prefix = "cutoff " if result.what == "cutoff" else ""
            return [
                Section(row.comparison, f"{prefix}{row.condition}", row.labelled)
                for row in result.conditions
            ]
        case GateResult():
            return [
                Section(decision.comparison, decision.condition or "")
                for decision in result.worst_first
                if decision.comparison is not None
            ]
    return []


def _evaluation_of(section: Section, evaluation: Evaluations) -> Evaluation | None:
    """Return the evaluation that a comparison was made from; None where it was not given."""
    if isinstance(evaluation, Mapping):
        if section.condition not in evaluation:
            raise ParameterError(
                f"evaluation lacks {section.condition!r}; give a mapping with the names of the"
                f" result, of which it has {some(list(evaluation), 10)}"
            )
        evaluation = evaluation[section.condition]
    if evaluation is not None:
        compared = section.comparison
        for run in evaluation.runs_of([compared.baseline, compared.contender]):
            evaluation.position(run)
        known = set(evaluation.query_ids)
        missing = [
            query.query_id for query in compared.queries or () if query.query_id not in known
        ]
        if missing:
            raise ParameterError(
                f"evaluation lacks the query {some(missing)}; give the one that the result was made"
                " from"
            )
    return evaluation


def _curve_of(comparison: Comparison, evaluation: Evaluation | None) -> Curve | None:
    if evaluation is None or comparison.queries is None or not comparison.in_lengths:
        return None
    if comparison.of_several_runs:
        return None
    of_queries = evaluation.restrict([query.query_id for query in comparison.queries])
    return curve_of(of_queries[[comparison.baseline, comparison.contender]], 1 - comparison.alpha)


def _query_set(
    groups: Sequence[_Group], texts: Mapping[str, str], labels: Mapping[str, str], docs: Texts
) -> QuerySet:
    ids = groups[0].ids or ()
    evaluation = groups[0].evaluation
    sections = [section for group in groups for section in group.grid.sections]
    comparisons = [section.comparison for section in sections]
    runs = list(dict.fromkeys(run for group in groups for run in group.grid.runs))
    known = dict(texts)
    if comparisons:
        known |= {query.query_id: query.text for query in comparisons[0].per_query() if query.text}
    if evaluation is not None:
        known = {**evaluation.texts, **known}
    words = [known.get(query) for query in ids]
    columns = None
    relevant: list[int] | None = None
    single = runs
    lists: Callable[[int], RankedLists] | None = None
    documents: Callable[[Collection[str]], Mapping[str, str]] = _no_documents
    if evaluation is not None:
        numbers = dict(zip(evaluation.query_ids, evaluation[0].relevant.tolist(), strict=True))
        relevant = [numbers[query] for query in ids]
        single = evaluation.runs_of(runs)
        lists = lists_of(evaluation, single, ids)
        documents = partial(texts_of_documents, docs, collection=evaluation.collection)
        cutoffs = [group.grid.settings.cutoff or 0 for group in groups]
        if (
            single == runs
            and all(cutoffs)
            and all(comparison.in_lengths for comparison in comparisons)
        ):
            own = evaluation.restrict(ids)
            columns = rank_columns(own, runs, groups[0].grid.settings.unit, max(cutoffs))
    return QuerySet(
        ids=ids,
        texts=words if any(words) else None,
        slices=[labels.get(query) for query in ids] if labels else None,
        relevant=relevant,
        runs=single,
        first=_first_runs(runs, single, evaluation),
        columns=columns,
        changes=_changes_of(comparisons) if columns is None else columns.changes(),
        lists=lists,
        documents=documents,
    )


def _first_runs(
    systems: Sequence[str], runs: Sequence[str], evaluation: Evaluation | None
) -> dict[str, int]:
    """Return the place of the first run of each system that has several."""
    if evaluation is None:
        return {}
    of_systems = evaluation.replicates
    return {name: runs.index(of_systems[name][0]) for name in systems if name in of_systems}


def _no_documents(wanted: Collection[str]) -> Mapping[str, str]:
    return {}


def _changes_of(comparisons: Sequence[Comparison]) -> list[float]:
    """Return the largest change of each query in any comparison."""
    changes = [[abs(query.change or 0.0) for query in own.per_query()] for own in comparisons]
    return [max(of_query) for of_query in zip(*changes, strict=True)]


def _inputs(groups: Sequence[_Group], files_too: Sequence[Any]) -> list[tuple[str, str, str]]:
    """Name every input once, with its file and its SHA-256; of judgments without a file, that of their content."""
    files = {os.path.abspath(os.fspath(path)): ("file", _file_name(path)) for path in files_too}
    judgments = {}
    for group in groups:
        evaluation = group.evaluation
        if evaluation is None:
            continue
        if not any(_file_name(path).startswith(evaluation.collection) for path in files_too):
            digest = evaluation[0].qrels_digest
            judgments[digest] = ("judgments", evaluation.collection, digest)
        where = ""
        condition = group.grid.condition
        if condition and condition != evaluation.collection:
            where = f", {condition}"
        for run in evaluation.runs_of(group.grid.runs):
            source = evaluation.sources[evaluation.position(run)] if evaluation.sources else None
            if source is not None and is_path(source) and os.path.isfile(source):
                files.setdefault(
                    os.path.abspath(os.fspath(source)), (f"run {run}{where}", _file_name(source))
                )
    return [
        *judgments.values(),
        *((what, name, file_digest(path)) for path, (what, name) in files.items()),
    ]


def _file_name(path: Any) -> str:
    return os.path.basename(os.fsencode(path)).decode("utf-8", "backslashreplace")
