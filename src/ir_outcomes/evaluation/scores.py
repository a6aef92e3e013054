"""A measure's value for every run and query, with its direction."""

import ast
import difflib
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import ir_measures
import numpy as np
from ir_measures.measures import Measure, registry

from ir_outcomes.arguments import check_fields, with_checked_methods
from ir_outcomes.choices import LARGEST, Bools, Floats, Ints, divided
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
from ir_outcomes.formatting import plural
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.files import read_ids
from ir_outcomes.reading.measure_names import (
    base_name,
    bounds_of,
    cutoff_of,
    is_gain,
    is_reciprocal,
)
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, check_names
from ir_outcomes.values.names import Kind, Range, kind_of


@dataclass(frozen=True, eq=False)
class AllQueries:
    """Values of another tool for all queries of which any run has one.

    Attributes
    ----------
    query_ids : tuple of str
        All of them.
    values : (n_runs, n_queries) float array
        NaN where there is no value.
    missing : (n_runs, n_queries) bool array
        Where the tool has no value although the measure has one for every query.
    """

    query_ids: tuple[str, ...]
    values: Floats
    missing: Bools


@with_checked_methods
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
        The queries; of values of another tool those of which all runs have one.
    values : (n_runs, n_queries) float array
        NaN where the measure is undefined.
    clusters : (n_queries,) int64 array or None
        The cluster of each query; None where queries are independent.
    range : pair of float, or None
        The smallest and largest value, said or known by the measure's name.
    missing : mapping of str to int
        Of values of another tool: for each run the number of queries that others have and it lacks.
    everywhere : AllQueries or None
        Their values, where any is missing.
    decimals : int or None
        Decimals that such values were rounded to; None where they were not.
    rel : int or None
        Smallest grade of a relevant document, where it is known.
    n_unanswerable : int
        Queries of the qrels that are left out, because they have no relevant document.
    about : tuple of Note
        What was found when the values were read.
    """

    measure: str
    higher_is_better: bool
    runs: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats
    clusters: Ints | None = None
    range: Range | None = None
    missing: Mapping[str, int] = field(default_factory=dict)
    everywhere: AllQueries | None = None
    decimals: int | None = None
    rel: int | None = None
    n_unanswerable: int = 0
    about: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        check_names(self.runs)
        if self.values.ndim != 2 or len(self.values) != len(self.runs):
            raise ParameterError(
                "must have a row for each run, and a column for each query",
                values=self.values.shape,
            )
        if self.range is None:
            object.__setattr__(self, "range", bounds_of(self.measure))
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

    @property
    def kind(self) -> Kind:
        """How values are read: as ranks, their reciprocals, gains, or 0 and 1."""
        return kind_of(self.measure, self.values, self.higher_is_better)

    @property
    def cutoff(self) -> int | None:
        """The cutoff in the measure's name, None without one."""
        return cutoff_of(self.measure)

    def most_missing(self, runs: Iterable[str]) -> int:
        """Return the largest number of queries that a run lacks and others have."""
        return max(self.missing.get(run, 0) for run in runs)

    def take(self, positions: Sequence[int]) -> "Scores":
        """Return the scores of the runs at these positions."""
        rows = list(positions)
        if not set(rows) <= set(range(len(self.runs))):
            raise ParameterError(f"must be from 0 to {len(self.runs) - 1}", places=rows)
        runs = tuple(self.runs[row] for row in rows)
        everywhere = self.everywhere and replace(
            self.everywhere,
            values=self.everywhere.values[rows],
            missing=self.everywhere.missing[rows],
        )
        missing = {run: self.missing[run] for run in runs if run in self.missing}
        return replace(
            self, runs=runs, values=self.values[rows], everywhere=everywhere, missing=missing
        )

    def with_worst(self, complete: Sequence[str] = ()) -> "Scores | None":
        """Return the values with the worst of the range for what is missing.

        They are of all queries that the `complete` runs have. None where nothing is missing, the
        range of the measure is not known, or queries come in clusters.
        """
        if self.everywhere is None or self.range is None or self.clusters is not None:
            return None
        rows = [self.runs.index(run) for run in complete]
        columns = np.flatnonzero(~self.everywhere.missing[rows].any(axis=0))
        worst = self.range[not self.higher_is_better]
        values = np.where(self.everywhere.missing, worst, self.everywhere.values)[:, columns]
        query_ids = tuple(self.everywhere.query_ids[column] for column in columns.tolist())
        return replace(self, query_ids=query_ids, values=values, everywhere=None)

    def on(self, queries: Iterable[str] | str | os.PathLike[str] | None) -> "Scores":
        """Keep some of the queries, a list or file of ids, by default all."""
        if queries is None:
            return self
        chosen = positions_of_queries(queries, self.query_ids)
        ids = tuple(self.query_ids[column] for column in chosen)
        clusters = None if self.clusters is None else self.clusters[chosen]
        values = self.values[:, chosen]
        return replace(
            self, query_ids=ids, values=values, clusters=clusters, everywhere=None, missing={}
        )

    def lacks(self, run: str) -> tuple[str, ...]:
        """Return the queries of which another tool has no value for a run."""
        if self.everywhere is None:
            return ()
        columns = np.flatnonzero(self.everywhere.missing[self.runs.index(run)])
        return tuple(self.everywhere.query_ids[column] for column in columns.tolist())

    def runs_of_zeros(self) -> list[str]:
        """Return the runs whose values are 0 for every query, as where nothing ran."""
        zeros = (self.values == 0).all(axis=1).tolist()
        return [run for run, is_zero in zip(self.runs, zeros, strict=True) if is_zero]

    def notes(self) -> tuple[Note | str, ...]:
        """Say what a careful reader must know about these values."""
        undefined = int(np.isnan(self.values).any(axis=0).sum())
        if not undefined:
            return ()
        text = (
            f"{self.measure} is undefined for some run on {undefined} of"
            f" {plural('query', len(self.query_ids))}; the mean of each run is over its own"
            " defined queries, so a run that answers fewer queries can look better: read"
            " coverage beside it, or use ESL(unanswered='cutoff+1')@100 or RR."
        )
        return (text,)

    def notes_on_output(self) -> Iterator[Note]:
        """Say which values of another tool are missing, zeros, or rounded."""
        yield from self.about
        if self.everywhere is not None:
            parts = [
                f"{run} has none for {number} ({some(self.lacks(run))})"
                for run, number in self.missing.items()
                if number
            ]
            text = (
                f"of {self.measure}: {'; '.join(parts)}. Compared are the {len(self.query_ids)} of"
                f" {plural('query', len(self.everywhere.query_ids))} that all runs have."
            )
            yield note("missing-values", text, [run for run in self.missing if self.missing[run]])
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

    def problems(self, run: str, max_missing: float) -> list[str]:
        """Return why a pipeline must not let the values of a run pass, whatever they say."""
        problems = []
        if run in self.runs_of_zeros() and is_gain(self.measure):
            problems.append(f"{self.measure} of {run} is 0 for every query.")
        queries = self.lacks(run)
        if self.everywhere is not None and len(queries) > max_missing * len(
            self.everywhere.query_ids
        ):
            n = plural("query", len(queries))
            problems.append(f"{run} has no value of {self.measure} for {n} ({some(queries)}).")
        return problems


def positions_of_queries(
    queries: Iterable[str] | str | os.PathLike[str], query_ids: Sequence[str]
) -> Ints:
    """Return the positions of queries, a list or file of ids, ascending."""
    position = {query: index for index, query in enumerate(query_ids)}
    wanted = list(read_ids(queries) if isinstance(queries, (str, os.PathLike)) else queries)
    if not wanted:
        raise MismatchError("the list of queries is empty; name at least one")
    if missing := [query for query in wanted if query not in position]:
        raise MismatchError(f"there is no query {some(missing)} here")
    return np.array(sorted({position[query] for query in wanted}), dtype=np.int64)


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


def grade_of(measure: str, rel: int | None) -> int | None:
    """Return the smallest relevant grade, by a measure's name or as given."""
    found = re.search(r"rel=\s*0*([1-9][0-9]*)\s*[,)]", measure)
    grade = int(found[1]) if found else None
    if base_name(measure) == "ESL":
        grade = parse_measure(measure)["rel"]
    if rel is not None and grade is not None and rel != grade:
        raise ParameterError(
            f"{measure} counts grades from {grade} on; leave `rel` out, or name the measure with"
            f" rel={rel}",
            rel=rel,
        )
    return grade if rel is None else rel


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
        cutoff = measure.SUPPORTED_PARAMS.get("cutoff")
        if cutoff is not None and cutoff.required and "cutoff" not in measure.params:
            raise ParameterError(f"{measure} needs a cutoff; write {measure}@10") from None
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
        for one in node.keywords:
            if isinstance(one.value, ast.Name):
                raise ValueError(f"texts need quotes: {one.arg}={one.value.id!r}")
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
