"""A measure's value for every run and query, with its direction."""

import ast
import difflib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, get_args

import ir_measures
import numpy as np
from ir_measures.measures import Measure, registry

from ir_outcomes.arguments import check_choice, check_kind
from ir_outcomes.choices import LARGEST, Floats, Ints, divided
from ir_outcomes.errors import (
    IrOutcomesError,
    MismatchError,
    MissingDependency,
    ParameterError,
    shortened,
    some,
)
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.remarks import notes_on_ids
from ir_outcomes.evaluation.systems import clusters_of
from ir_outcomes.formatting import plural
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.files import read_ids
from ir_outcomes.reading.measure_names import base_name, is_gain, is_reciprocal
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, check_names, check_one_for_each, distinct_names
from ir_outcomes.reading.tables import Source
from ir_outcomes.reading.values import RunValues, Trials, read_values


@dataclass(frozen=True, eq=False)
class Scores:
    """Values of a measure.

    Attributes
    ----------
    measure : str
        Name of the measure.
    higher_is_better : bool
        Its direction.
    runs : tuple of str
        Names of the runs.
    query_ids : tuple of str
        The queries.
    values : (n_runs, n_queries) float array
        NaN where the measure is undefined.
    clusters : (n_queries,) int64 array or None
        The cluster of each query; None where queries are independent.
    absent : mapping of str to tuple of str, or None
        Of values that another tool computed: for each run the queries that it lacks.
    decimals : int or None
        Decimals that such values were rounded to; None where they were not.
    """

    measure: str
    higher_is_better: bool
    runs: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats
    clusters: Ints | None = None
    absent: Mapping[str, tuple[str, ...]] | None = None
    decimals: int | None = None

    def __post_init__(self) -> None:
        check_names(self.runs)
        infinite = np.isinf(self.values).sum(axis=1)
        if infinite.any():  # so would be the mean
            run = int(np.argmax(infinite))
            problem = (
                f"{self.measure} of {self.runs[run]} is infinite for"
                f" {plural('query', int(infinite[run]))} without results"
            )
            raise ParameterError(f"{problem}; compare runs with `missing='cutoff'`")

    def __repr__(self) -> str:
        return (
            f"<Scores: {self.measure}, {plural('run', len(self.runs))},"
            f" {plural('query', len(self.query_ids))}>"
        )

    def means(self) -> Floats:
        """(n_runs,) float array: means over the queries with a value, NaN without one."""
        defined = ~np.isnan(self.values)
        totals = np.where(defined, self.values, 0.0).sum(axis=1)
        numbers = defined.sum(axis=1)
        return divided(totals, numbers, numbers > 0)

    def gains(self) -> Floats:
        """(n_runs, n_queries) float array: values, negated where lower is better."""
        return self.values if self.higher_is_better else -self.values

    def take(self, places: Sequence[int]) -> "Scores":
        """Return the scores of the runs at these places."""
        return replace(
            self, runs=tuple(self.runs[place] for place in places), values=self.values[list(places)]
        )

    def on(self, queries: Iterable[str] | str | os.PathLike[str] | None) -> "Scores":
        """Keep some of the queries, a list or file of ids, by default all."""
        if queries is None:
            return self
        chosen = places_of_queries(queries, self.query_ids)
        ids = tuple(self.query_ids[column] for column in chosen)
        clusters = None if self.clusters is None else self.clusters[chosen]
        stays = {*ids}
        absent = self.absent and {
            run: tuple(query for query in missing if query in stays)
            for run, missing in self.absent.items()
        }
        values = self.values[:, chosen]
        return replace(self, query_ids=ids, values=values, clusters=clusters, absent=absent)

    def lacks(self, run: str) -> tuple[str, ...]:
        """Return the queries of which another tool computed no value for a run."""
        return (self.absent or {}).get(run, ())

    def runs_of_zeros(self) -> list[str]:
        """Return the runs whose values are 0 for every query, as where nothing ran."""
        zeros = (self.values == 0).all(axis=1).tolist()
        return [run for run, is_zero in zip(self.runs, zeros, strict=True) if is_zero]

    def notes(self) -> tuple[Note | str, ...]:
        """Say what a careful reader must know about these values."""
        notes: tuple[Note | str, ...] = tuple(self.notes_on_output())
        undefined = int(np.isnan(self.values).any(axis=0).sum())
        if not undefined:
            return notes
        text = (
            f"{self.measure} is undefined for some run on {undefined} of"
            f" {plural('query', len(self.query_ids))}; the mean of each run is over its own"
            " defined queries, so a run that answers fewer queries can look better: read"
            " coverage beside it, or use ESL(unanswered='cutoff+1') or RR."
        )
        return (text, *notes)

    def notes_on_output(self) -> Iterator[Note]:
        """Say which values of another tool are missing, zeros, or rounded."""
        if self.absent is None:
            return
        for run in filter(self.lacks, self.runs):
            queries = self.lacks(run)
            n = plural("query", len(queries))
            yield note(
                "missing", f"{run} lacks {n} ({some(queries)}), counted as unanswered.", [run]
            )
        for run in self.runs_of_zeros():
            n = plural("query", len(self.query_ids))
            text = f"{self.measure} of {run} is 0 for every query (all {n}); did it run?"
            yield note("equal-scores", text, [run])
        if self.clusters is None:
            yield from notes_on_ids(self.query_ids)
        if self.decimals is not None:
            effect = "small differences look like ties"
            if is_reciprocal(self.measure):
                longest = math.isqrt(10**self.decimals)
                effect = f"ranks beyond about {longest} cannot be told exactly"
            yield note(
                "values", f"Values are rounded to {plural('place', self.decimals)}: {effect}."
            )

    def problems(self, run: str) -> list[str]:
        """Return why a pipeline must not let the values of a run pass, whatever they say."""
        problems = []
        if run in self.runs_of_zeros():
            problems.append(f"{self.measure} of {run} is 0 for every query.")
        if self.lacks(run):
            n = plural("query", len(self.lacks(run)))
            queries = some(self.lacks(run))
            problems.append(f"{run} has no value of {self.measure} for {n} ({queries}).")
        return problems


def places_of_queries(
    queries: Iterable[str] | str | os.PathLike[str], query_ids: Sequence[str]
) -> Ints:
    """Return the positions of queries, a list or file of ids, ascending."""
    place = {query: index for index, query in enumerate(query_ids)}
    wanted = list(read_ids(queries) if isinstance(queries, (str, os.PathLike)) else queries)
    if not wanted:
        raise MismatchError("the list of queries is empty; name at least one")
    if missing := [query for query in wanted if query not in place]:
        raise MismatchError(f"there is no query {some(missing)} here")
    return np.array(sorted({place[query] for query in wanted}), dtype=np.int64)


def direction_of(measure: Any) -> bool:
    """Return whether higher values are better, `ParameterError` if not known."""
    # Measures of this package declare it.
    declared = getattr(registry.get(base_name(str(measure))), "HIGHER_IS_BETTER", None)
    if declared is not None:
        return bool(declared)
    if not is_gain(str(measure)):
        raise ParameterError(
            f"the direction of {measure} is not known; pass `higher_is_better=True` or"
            " `higher_is_better=False`"
        )
    return True


_LONGEST_NAME = 1000  # characters, with the parameters
# These need judgments per subtopic, which the qrels that ir_outcomes reads do not have.
_BY_SUBTOPIC = (
    "alpha_DCG",
    "alpha_nDCG",
    "ERR_IA",
    "nERR_IA",
    "NRBP",
    "nNRBP",
    "AP_IA",
    "P_IA",
    "StRecall",
)


def check_measure(measure: Any) -> Any:
    """Return a measure that can be computed, or say why it cannot."""
    if not isinstance(measure, Measure):
        raise ParameterError(
            f"{shortened(repr(measure))} is not a measure; give its name, such as 'nDCG@10', or an"
            " object of ir_measures"
        )
    try:
        measure.validate_params()  # type: ignore[no-untyped-call]  # ir_measures has no types for it
    except (AssertionError, AttributeError, TypeError) as error:
        known = ", ".join(measure.SUPPORTED_PARAMS) or "none"
        raise ParameterError(
            f"{measure.NAME}: {error} (its parameters: {known}); write it like P(rel=2)@10"
        ) from None
    for name in {"cutoff", "rel"} & measure.params.keys():  # P@0 would abort the interpreter
        if not 1 <= measure.params[name] <= LARGEST:
            raise ParameterError(f"{measure}: {name} must be from 1 to {LARGEST}")
    if measure.NAME in _BY_SUBTOPIC:
        raise ParameterError(
            f"{measure} needs judgments per subtopic, which ir_outcomes does not read; compute it"
            " with ir_measures and compare its output (compare_outputs)"
        )
    providers = [
        provider for provider in ir_measures.DefaultPipeline.providers if provider.supports(measure)
    ]
    if not providers:
        raise ParameterError(
            f"ir_measures does not compute {measure} with these parameters; try others, or"
            f" {measure.NAME}@10"
        )
    if not any(provider.is_available() for provider in providers):
        ways = " or ".join(
            f"{provider.NAME} ({provider.install_instructions()})" for provider in providers
        )
        raise MissingDependency(f"{measure} needs {ways}")
    return measure


def parse_measure(text: Any) -> Any:
    """Make a measure from its name, and check its parameters.

    A name is written ``Name(parameter=value, ...)@cutoff``. The parser of ir_measures fails in
    Python 3.14 and reads no negative numbers.

    Parameters
    ----------
    text : str or Measure
        For example ``"ESL@100"`` or ``"nDCG@10"``; a measure object is checked and returned.

    Raises
    ------
    ParameterError
        If the text is not a measure or names an unknown one, or its parameters are invalid.
    MissingDependency
        If only packages that are not installed compute it.

    Examples
    --------
    >>> parse_measure("ESL(unanswered='cutoff+1')@100")
    ESL(unanswered='cutoff+1')@100
    """
    if not isinstance(text, str):
        return check_measure(text)
    try:
        if len(text) > _LONGEST_NAME:
            raise ValueError(f"longer than {_LONGEST_NAME} characters")
        name, parameters, cutoff = _parsed(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise ParameterError(
            f"{shortened(text)!r} is not a measure ({error}); write Name(parameter=value)@cutoff,"
            " such as ESL(rel=2)@100"
        ) from None
    if name not in registry:
        # Of several names that differ in case only the first is the usual one: nDCG, and not NDCG.
        spellings = {spelled.casefold(): spelled for spelled in reversed(list(registry))}
        near = difflib.get_close_matches(name.casefold(), list(spellings), n=3)
        hint = "write one such as nDCG@10 or ESL@100"
        if near:
            at = "" if cutoff is None else f"@{cutoff}"
            hint = f"did you mean {', '.join(spellings[match] + at for match in near)}?"
        raise ParameterError(f"unknown measure {name[:80]}; {hint}")
    measure = registry[name]
    if cutoff is not None and measure.AT_PARAM in parameters:
        raise ParameterError(f"{text!r}: {measure.AT_PARAM} is given twice; write it once, after @")
    if cutoff is not None:
        parameters[measure.AT_PARAM] = cutoff
    return check_measure(measure(**parameters))


def _parsed(node: Any) -> tuple[str, dict[str, Any], Any]:
    """Return the name, the parameters, and what follows the @, None without one."""
    cutoff = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        node, cutoff = node.left, ast.literal_eval(node.right)
    parameters = {}
    if isinstance(node, ast.Call):
        if node.args or any(keyword.arg is None for keyword in node.keywords):
            raise ValueError("parameters must be named")
        parameters = {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
        node = node.func
    if not isinstance(node, ast.Name):
        raise ValueError("there is no measure name")
    return node.id, parameters, cutoff


def is_of_lengths(measure: Any) -> bool:
    """Return whether a measure is a reduction of search lengths."""
    return hasattr(measure, "for_comparison")


def comparable(named: Any) -> Any:
    """Parse a measure, and give each run's missing documents the same depth."""
    measure = parse_measure(named)
    return measure.for_comparison() if is_of_lengths(measure) else measure


Measures = Sequence[Any] | Measure | str  # several, or a single one


def each_measure(measures: Measures) -> Sequence[Any]:
    """Return measures as a list, a single one too."""
    return [measures] if isinstance(measures, (str, Measure)) else measures


def comparable_measures(measures: Measures, higher_is_better: bool | None) -> dict[Any, bool]:
    """Parse measures that runs are compared by, with their directions."""
    found: dict[Any, bool] = {}
    for measure in map(comparable, each_measure(measures)):
        if measure in found:
            raise ParameterError(f"{measure} is named twice; name each measure once")
        found[measure] = direction_of(measure) if higher_is_better is None else higher_is_better
    return found


def reciprocal_ranks(runs: Sequence[SearchLengths], cutoff: int | None) -> Scores:
    """Return the reciprocal ranks of the answerable queries at a cutoff."""
    first = runs[0].at(cutoff)
    chosen = first.answerable
    depth = "" if first.cutoff is None else f"@{first.cutoff}"
    grade = "" if first.rel == 1 else f"(rel={first.rel})"
    usual = "trec" if first.cutoff is None else "msmarco"
    rule = "" if first.ties == usual else f", ties {first.ties}"
    judged = ", judged only" if first.judged_only else ""
    values = np.stack([run.at(cutoff).reciprocal_rank()[chosen] for run in runs])
    return Scores(
        f"RR{grade}{depth}{rule}{judged}",
        True,
        tuple(run.name for run in runs),
        first.answerable_queries,
        values,
    )


def follows_from_lengths(measure: Any, settings: Mapping[str, Any]) -> bool:
    """Return whether search lengths computed with these settings determine a measure."""
    is_determined = is_of_lengths(measure) and measure.baseline is None
    return is_determined and all(
        measure.settings[name] == value for name, value in settings.items()
    )


def scores_from_lengths(measure: Any, runs: Sequence[SearchLengths]) -> Scores | None:
    """Compute a measure from search lengths, None where they do not tell it."""
    first = runs[0]
    if not follows_from_lengths(
        measure, {name: getattr(first, name) for name in ("rel", "ties", "judged_only")}
    ):
        return None
    cutoff = measure.settings["cutoff"]
    if any(run.cutoff is not None and (cutoff is None or cutoff > run.cutoff) for run in runs):
        return None
    values = np.stack([measure.values(run.at(cutoff)) for run in runs])
    return Scores(
        str(measure),
        direction_of(measure),
        tuple(run.name for run in runs),
        first.query_ids,
        values,
    )


def measure_values(qrels: Qrels, measures: tuple[Any, ...], run: Run) -> Floats:
    """(n_measures, n_queries) float array: what ir_measures computes."""
    values = np.full((len(measures), len(qrels.query_ids)), np.nan)
    if not measures:
        return values
    row_of = {measure: row for row, measure in enumerate(measures)}
    column_of = {query: column for column, query in enumerate(qrels.query_ids)}
    try:
        for metric in _evaluator(qrels, measures).iter_calc(run.to_dict()):
            values[row_of[metric.measure], column_of[metric.query_id]] = metric.value
    except (IrOutcomesError, MemoryError):
        raise
    except Exception as error:  # each provider of ir_measures has errors of its own
        names = some([str(measure) for measure in measures])
        reason = f"{type(error).__name__}: {error}"
        raise ParameterError(
            f"ir_measures cannot compute {names} for {run.name} ({reason})"
        ) from error
    return values


@lru_cache(maxsize=1)
def _evaluator(qrels: Qrels, measures: tuple[Any, ...]) -> Any:
    """Return an evaluator, which takes longer to make than to use."""
    return ir_measures.evaluator(measures, qrels.for_trec_eval().to_dict())


def scores_from_outputs(
    sources: Any,
    measure: Any = None,
    *,
    higher_is_better: bool | None = None,
    names: Sequence[str] | None = None,
    trials: Trials | None = None,
    clusters: Any = None,
) -> Scores:
    """Collect values of a measure that other tools wrote or returned.

    `leaderboard`, `rank_distribution` and `agreement` take the result instead of an `Evaluation`.

    Parameters
    ----------
    sources : list, mapping, frame or path
        One source for each run, or a mapping from names to sources, or one source of several runs:
        a file of ``trec_eval -q`` or ``ir_measures -q``; a table (CSV, TSV, JSON lines, a JSON list
        of objects, a frame) with a row for each query and a column for each measure, or with a row
        for each value, as PyTerrier writes it; a table of runs and queries, in which an empty cell
        is a query of which the run has no value; a dict ``{query: {measure: value}}``,
        ``{query: value}`` or ``{measure: {query: value}}``, also as JSON; an iterable of
        ``ir_measures.Metric``. Queries are in the column query_id, qid, query, topic, topic_id, id,
        case_id, sample_id, question_id or user_input; a column run, runid, model or system has the
        names of runs. Rows of means (all, mean, amean, ...) are not read.
    measure : str or Measure, optional
        The measure, as the tool writes it or in another spelling; by default a reciprocal rank or ESL, or the only one.
    higher_is_better : bool, optional
        Direction of the measure, where its name does not tell.
    names : sequence of str, optional
        Names of the runs; by default those in the sources, or the names of the files. Of one source
        of several runs, which of them, and in which order.
    trials : {"mean"}, optional
        What becomes of several values of a query: their mean. By default they are an error.
    clusters
        See `ir_outcomes.evaluate`.

    Returns
    -------
    Scores
        Queries in the order of their ids. A query that a run lacks and others have is 0 where the
        measure has that for a query without results, and undefined for ESL and ASL.

    Raises
    ------
    InputError
        If a source cannot be read, has a value that the measure cannot have, the sources are of
        different measures, or a query is missing and what it counts is not known.
    ParameterError
        If the measure or its direction is unknown, or names are repeated or not as many as sources.

    Examples
    --------
    >>> scores = scores_from_outputs({"a": {"q1": 0.5, "q2": 1.0}, "b": {"q1": 0.25, "q2": 1.0}}, "nDCG@10")
    >>> scores.higher_is_better, scores.means().tolist()
    (True, [0.75, 0.625])
    """
    check_kind(
        "sources",
        sources,
        (str, os.PathLike, Iterable),
        "an output of each run, or one of several runs",
    )
    path = sources if isinstance(sources, (str, os.PathLike)) else None
    if path is not None or hasattr(sources, "columns"):
        sources, positions = [sources], ["table of outputs"]
    elif isinstance(sources, Mapping):
        names = list(map(str, sources))
        sources, positions = list(sources.values()), [f"output of {name}" for name in names]
    else:
        sources = list(sources)
        positions = [f"output {number}" for number in range(1, len(sources) + 1)]
    scores = scores_of_sources(
        sources, positions, measure, higher_is_better, names, trials=trials, clusters=clusters
    )
    if path is not None and len(scores.runs) == 1:
        raise MismatchError(f"{os.fsdecode(path)} has one run only; give a file for each run")
    return scores


def scores_of_sources(
    sources: Sequence[Any],
    positions: Sequence[str],
    measure: Any,
    higher_is_better: bool | None,
    names: Sequence[str] | None,
    *,
    trials: Trials | None = None,
    clusters: Any = None,
    queries_of: Callable[[str], Iterable[str]] | None = None,
) -> Scores:
    """Return values of a run of each source, or of all runs of a single one.

    `queries_of` says which queries a measure is about; by default all that a source has, sorted.
    """
    check_kind("measure", measure, (str, Measure, type(None)), "the name of a measure")
    measure = None if measure is None else str(measure)
    if trials is not None:
        check_choice("trials", trials, get_args(Trials))
    of_runs = _of_runs(sources, positions, measure, names, trials)
    if not of_runs:
        raise ParameterError("there is no output; give one for each run")
    measures = list(dict.fromkeys(found.measure for found in of_runs))
    if len(measures) > 1:
        raise MismatchError(
            f"the outputs are of different measures ({some(measures)}); choose one with `measure`"
        )
    direction = direction_of(measures[0]) if higher_is_better is None else higher_is_better
    in_sources = {query for found in of_runs for query in found.values}
    query_ids = tuple(queries_of(measures[0]) if queries_of else sorted(in_sources))
    if in_sources.isdisjoint(query_ids):
        raise MismatchError(
            f"no query of the outputs ({some(sorted(in_sources), 3)}) is answerable in the qrels"
        )
    first = of_runs[0]
    absent = {}
    for found in of_runs:
        if found.values.keys().isdisjoint(first.values):
            raise MismatchError(
                f"{first.name} ({some(list(first.values), 3)}) and {found.name}"
                f" ({some(list(found.values), 3)}) have no query in common"
            )
        missing = tuple(query for query in query_ids if query not in found.values)
        if missing:
            absent[found.name] = missing
    decimals = [found.decimals for found in of_runs if found.decimals is not None]
    default = _value_of_missing(measures[0], absent)
    values = [[found.values.get(query, default) for query in query_ids] for found in of_runs]
    runs = tuple(found.name for found in of_runs)
    codes = None
    if clusters is not None:
        codes = clusters_of(clusters, query_ids, np.ones(len(query_ids), dtype=bool))
    return Scores(
        measures[0],
        direction,
        runs,
        query_ids,
        np.array(values),
        codes,
        absent,
        min(decimals, default=None),
    )


def _of_runs(
    sources: Sequence[Any],
    positions: Sequence[str],
    measure: str | None,
    names: Sequence[str] | None,
    trials: Trials | None,
) -> list[RunValues]:
    """Read one run from each source, or all that a single source has."""
    if len(sources) == 1:
        return read_values(
            sources[0], measure=measure, names=names, trials=trials, position=positions[0]
        )
    if names is not None:
        check_one_for_each(names, len(sources), "output")
    asked: Sequence[str | None] = [None] * len(sources) if names is None else names
    of_runs = []
    for source, name, position in zip(sources, asked, positions, strict=True):
        chosen = None if name is None else [name]
        found = read_values(source, measure=measure, names=chosen, trials=trials, position=position)
        if len(found) > 1:
            runs = [of_run.name for of_run in found]
            raise MismatchError(
                f"{Source.of(source, position).called} has the runs {some(runs)}; name one for each"
                f" output, such as `names={runs[:2]}`"
            )
        of_runs += found
    distinct = distinct_names([found.name for found in of_runs], asked, sources)
    return [replace(found, name=name) for found, name in zip(of_runs, distinct, strict=True)]


def _value_of_missing(measure: str, absent: Mapping[str, tuple[str, ...]]) -> float:
    """Return what a query without a value counts."""
    if is_gain(measure):
        return 0.0
    if absent and base_name(measure) not in ("ESL", "ASL"):
        (run, queries), *_ = absent.items()
        raise MismatchError(
            f"{run} has no value of {measure} for {some(queries)}, which other outputs have, and"
            " what these count is not known; write their values, or remove them from all outputs"
        )
    return math.nan
