"""What a page holds: its comparisons, the queries behind them with ranked lists and texts, curves, and its inputs."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter
from typing import Any, NamedTuple

from ir_outcomes.across.cutoffs import curve_of
from ir_outcomes.across.gate import GateResult
from ir_outcomes.across.result import ConditionsComparison, Curve
from ir_outcomes.comparison.compare import build, measured_pair
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.pages.lists import RankedLists, Texts, lists_of, texts_of_documents
from ir_outcomes.reading.files import file_digest, read_texts
from ir_outcomes.reading.qrels import query_texts
from ir_outcomes.reading.runs import is_path
from ir_outcomes.results import Result

MOST_RUNS = 30  # of a leaderboard: all pairs are compared for the queries of some
TOP_RUNS = 10  # whose pairs show their queries
TOO_FEW = "too few queries"

Evaluations = Evaluation | Mapping[str, Evaluation] | None


class Section(NamedTuple):
    """A comparison on the page, with its collection, slice, cutoff or judge where there are several."""

    comparison: Comparison
    condition: str = ""
    has_label: bool = True
    # None where it was not asked for, is not known, or no ranks were compared.
    curve: Curve | None = None
    queries: int | None = None  # the number of its set of queries; None where they are not known

    @property
    def label(self) -> str:
        """The label, which a slice of few queries does not have."""
        return self.comparison.verdict.label if self.has_label else TOO_FEW

    @property
    def title(self) -> str:
        """A heading."""
        pair = f"{self.comparison.contender} against {self.comparison.baseline}"
        return f"{self.condition}: {pair}" if self.condition else pair


@dataclass(frozen=True, eq=False)
class QuerySet:
    """Queries that one or several comparisons share."""

    ids: tuple[str, ...]
    texts: Sequence[str | None] | None  # None where none is known, as below
    slices: Sequence[str | None] | None
    relevant: Sequence[int] | None  # how many documents are relevant
    runs: Sequence[str]  # all that are compared
    changes: Sequence[float]  # the largest of any comparison
    lists: Sequence[RankedLists]
    documents: Mapping[str, str]  # first words by id


@dataclass(frozen=True, eq=False)
class PageContent:
    """All that is drawn on a page."""

    result: Result
    sections: Sequence[Section]
    sets: Sequence[QuerySet]
    has_evaluation: bool
    inputs: Sequence[tuple[str, str, str]]  # what it is, its name, and its SHA-256
    command: str | None  # as it was typed
    advice: Callable[[str], str]  # writes arguments in backticks as the place of the call has them


class _Source(NamedTuple):
    """A comparison, and the evaluation that it was made from, where it is known."""

    section: Section
    evaluation: Evaluation | None


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
    is_board = isinstance(result, Leaderboard)
    found = (
        _pairs_of(result, evaluation) if isinstance(result, Leaderboard) else sections_of(result)
    )
    sources = [_Source(section, _evaluation_of(section, evaluation)) for section in found]
    sharing: dict[Any, list[_Source]] = {}
    for source in sources:
        if source.section.comparison.queries is not None:
            sharing.setdefault(_key(source), []).append(source)
    numbers = {key: number for number, key in enumerate(sharing)}
    files = [*inputs, *(path for path in (docs, queries, slices) if is_path(path))]
    return PageContent(
        result=result,
        sections=[
            source.section._replace(
                curve=None if is_board else _curve_of(source), queries=numbers.get(_key(source))
            )
            for source in sources
        ],
        sets=[_query_set(members, texts, labels, docs) for members in sharing.values()],
        has_evaluation=any(source.evaluation is not None for source in sources),
        inputs=_inputs(sources, files),
        command=command,
        advice=advice,
    )


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


def _pairs_of(result: Leaderboard, evaluation: Evaluations) -> list[Section]:
    """Compare the runs at the top with each other, corrected over all pairs as their labels are."""
    names = [standing.run for standing in result.standings]
    if not isinstance(evaluation, Evaluation) or result.settings is None or len(names) > MOST_RUNS:
        return []
    # The pairs of the first k runs come first.
    pairs = sorted(combinations(range(len(names)), 2), key=itemgetter(1))
    runs = evaluation[names]
    measured = [
        measured_pair(evaluation, runs[high], runs[low], result.settings) for high, low in pairs
    ]
    wanted = min(len(names), TOP_RUNS)
    return [
        Section(item)
        for item in build(measured, result.settings, wanted=wanted * (wanted - 1) // 2)
    ]


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
        for run in (section.comparison.baseline, section.comparison.contender):
            evaluation.position(run)
        known = set(evaluation.query_ids)
        missing = [
            query.query_id
            for query in section.comparison.queries or ()
            if query.query_id not in known
        ]
        if missing:
            raise ParameterError(
                f"evaluation lacks the query {some(missing)}; give the one that the result was made"
                " from"
            )
    return evaluation


def _key(source: _Source) -> Any:
    """Return what the comparisons of one set of queries share."""
    return id(source.evaluation), tuple(
        query.query_id for query in source.section.comparison.queries or ()
    )


def _curve_of(source: _Source) -> Curve | None:
    comparison = source.section.comparison
    evaluation = source.evaluation
    if evaluation is None or comparison.queries is None or not comparison.in_lengths:
        return None
    of_queries = evaluation.restrict([query.query_id for query in comparison.queries])
    return curve_of(of_queries[[comparison.baseline, comparison.contender]], 1 - comparison.alpha)


def _query_set(
    sources: Sequence[_Source], texts: Mapping[str, str], labels: Mapping[str, str], docs: Texts
) -> QuerySet:
    evaluation = sources[0].evaluation
    comparisons = [source.section.comparison for source in sources]
    queries = comparisons[0].per_query()
    ids = tuple(query.query_id for query in queries)
    known = {**(evaluation.texts if evaluation else {}), **texts}
    words = [query.text or known.get(query.query_id) for query in queries]
    runs = list(
        dict.fromkeys(run for item in comparisons for run in (item.baseline, item.contender))
    )
    changes = [[abs(query.change or 0.0) for query in item.per_query()] for item in comparisons]
    relevant: list[int] | None = None
    lists: list[RankedLists] = []
    documents: dict[str, str] = {}
    if evaluation is not None:
        numbers = dict(zip(evaluation.query_ids, evaluation[0].relevant.tolist(), strict=True))
        relevant = [numbers[query] for query in ids]
        lists = lists_of(evaluation, runs, ids)
        wanted = {identifier for entry in lists for identifier in entry.ids}
        documents = texts_of_documents(docs, wanted, evaluation.collection) if wanted else {}
    return QuerySet(
        ids=ids,
        texts=words if any(words) else None,
        slices=[labels.get(query) for query in ids] if labels else None,
        relevant=relevant,
        runs=runs,
        changes=[max(of_query) for of_query in zip(*changes, strict=True)],
        lists=lists,
        documents=documents,
    )


def _inputs(sources: Sequence[_Source], files_too: Sequence[Any]) -> list[tuple[str, str, str]]:
    """Name every input once, with its file and its SHA-256; of judgments without a file, that of their content."""
    files = {os.path.abspath(os.fspath(path)): ("file", _file_name(path)) for path in files_too}
    judgments = {}
    for section, evaluation in sources:
        if evaluation is None:
            continue
        if not any(_file_name(path).startswith(evaluation.collection) for path in files_too):
            digest = evaluation[0].qrels_digest
            judgments[digest] = ("judgments", evaluation.collection, digest)
        where = (
            f", {section.condition}"
            if section.condition and section.condition != evaluation.collection
            else ""
        )
        for run in (section.comparison.baseline, section.comparison.contender):
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
