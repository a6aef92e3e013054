"""Measures by their names: what they mean, and what can be computed."""

import ast
import difflib
import re
from collections.abc import Sequence
from typing import Any

import ir_measures
from ir_measures.measures import Measure, registry

from ir_outcomes.choices import LARGEST
from ir_outcomes.errors import (
    MissingDependency,
    ParameterError,
    shortened,
)
from ir_outcomes.reading.measure_names import (
    base_name,
    is_gain,
)


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
    match = re.search(r"rel=\s*0*([1-9][0-9]*)\s*[,)]", measure)
    grade = int(match[1]) if match else None
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
        names = ", ".join(measure.SUPPORTED_PARAMS) or "none"
        raise ParameterError(
            f"{measure.NAME}: {error} (its parameters: {names}); write it like P(rel=2)@10"
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
        for keyword in node.keywords:
            if isinstance(keyword.value, ast.Name):
                raise ValueError(f"texts need quotes: {keyword.arg}={keyword.value.id!r}")
        parameters = {
            str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords
        }
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
    direction_by_measure: dict[Any, bool] = {}
    for measure in map(comparable, each_measure(measures)):
        if measure in direction_by_measure:
            raise ParameterError(f"{measure} is named twice; name each measure once")
        direction_by_measure[measure] = (
            direction_of(measure) if higher_is_better is None else higher_is_better
        )
    return direction_by_measure
