"""Measures: parsed from text, with parameters that are checked, and directions, which ir_measures does not provide."""

from __future__ import annotations

import ast
import difflib
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ir_measures.measures import Measure
from ir_measures.measures import registry as measure_registry

from ir_outcomes.errors import MissingDependency, ParameterError
from ir_outcomes.types import LARGEST

__all__ = ["RECIPROCALS", "base_name", "check_measure", "higher_is_better", "is_gain", "parse_measure"]

# Measures that are higher for better runs and zero where nothing was found, as ir_measures and trec_eval name them.
_GAINS = (
    "nDCG", "AP", "MAP", "P", "R", "Rprec", "RPrec", "Success", "ERR", "RBP", "Bpref", "infAP", "BPM", "SDCG", "INST", "INSQ",
    "NERR8", "NERR9", "NERR10", "NERR11", "alpha_nDCG", "alpha_DCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall",
    "SetP", "SetR", "SetF", "SetAP", "IPrec",
    "map", "map_cut", "ndcg", "ndcg_cut", "ndcg_rel", "Rndcg", "recall", "success", "bpref", "set_P", "set_recall", "set_F",
    "set_map", "iprec_at_recall", "G", "binG",
)  # fmt: skip
RECIPROCALS = ("RR", "MRR", "recip_rank")
LONGEST_TEXT = 1000  # characters of a measure's name with its parameters


def base_name(measure: str) -> str:
    """Return a measure's name without its parameters and cutoff."""
    return measure.split("@")[0].split("(")[0]


def is_gain(measure: str) -> bool:
    """Whether a measure, by its name, is known to be higher for better runs and zero where nothing was found."""
    base = base_name(measure)
    return base in _GAINS or base.rstrip("_0123456789.") in _GAINS or base in RECIPROCALS


def is_measure_name(text: str) -> bool:
    """Whether ir_measures or trec_eval has a measure of this name, such as nDCG@10 or P_5."""
    base = re.sub(r"_[0-9][0-9.]*$", "", base_name(text))
    return base in measure_registry or base in _OF_TREC_EVAL or (is_gain(base) and base == text.split("@")[0])


_OF_TREC_EVAL = {
    "runid", "relstring", "num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "map", "map_cut", "map_avgjg",
    "gm_map", "gm_bpref", "bpref", "recip_rank", "iprec_at_recall", "11pt_avg", "P", "P_avgjg", "recall", "relative_P", "Rprec",
    "Rprec_mult", "Rprec_mult_avgjg", "utility", "infAP", "ndcg", "ndcg_cut", "ndcg_rel", "Rndcg", "success", "set_P",
    "set_relative_P", "set_recall", "set_map", "set_F", "G", "binG", "yaap",
}  # fmt: skip


def higher_is_better(measure: Any) -> bool:
    """Return the direction of a measure of ir_measures.

    Raises
    ------
    ParameterError
        If it is not known.
    """
    declared = getattr(measure, "HIGHER_IS_BETTER", None)  # our measures declare it
    if declared is not None:
        return bool(declared)
    if not is_gain(str(measure)):
        raise ParameterError(f"the direction of {measure} is not known; pass higher_is_better=True or higher_is_better=False")
    return True


class _Range(NamedTuple):
    """Values that a parameter may take, all of them finite; `open_at` are the ends that do not belong to it."""

    low: float
    high: float
    open_at: str = ""

    def holds(self, value: float) -> bool:
        above = value > self.low if "low" in self.open_at else value >= self.low
        below = value < self.high if "high" in self.open_at else value <= self.high
        return above and below and math.isfinite(value)

    def __str__(self) -> str:
        low, high = ("above " if "low" in self.open_at else ""), ("below " if "high" in self.open_at else "")
        if math.isinf(self.high):
            return f"finite and {low or 'at least '}{self.low:g}"
        return (
            f"from {self.low:.10g} to {self.high:.10g}" if not low and not high else f"between {self.low:g} and {self.high:g}"
        )


# Outside of these ranges ir_measures' providers divide by zero, ignore the value, or abort the interpreter (P@0).
_RANGES = {
    "cutoff": _Range(1, LARGEST),
    "rel": _Range(1, LARGEST),
    "min_rel": _Range(0, LARGEST),
    "max_rel": _Range(1, LARGEST),
    "recall": _Range(0, 1),
    "p": _Range(0, 1, "low high"),
    "alpha": _Range(0, 1),
    "T": _Range(0, math.inf, "low"),
}
_BETAS = {"SetF": _Range(0, math.inf, "low")}  # elsewhere beta is the persistence of a user
_EXAMPLES: dict[str, Any] = {"cutoff": 10, "max_rel": 3, "recall": 0.5, "baseline": "bm25"}
# These need judgments per subtopic, which the qrels that ir_outcomes reads do not have.
_BY_SUBTOPIC = (
    "alpha_DCG", "alpha_nDCG", "\N{GREEK SMALL LETTER ALPHA}_DCG", "\N{GREEK SMALL LETTER ALPHA}_nDCG", "ERR_IA", "nERR_IA",
    "NRBP", "nNRBP", "AP_IA", "MAP_IA", "P_IA", "StRecall",
)  # fmt: skip


def check_measure(measure: Any) -> Any:
    """Check that a measure can be computed, before another library is asked to.

    Parameters
    ----------
    measure : ir_measures.Measure
        A measure of ir_measures or ours.

    Returns
    -------
    ir_measures.Measure
        The same measure.

    Raises
    ------
    ParameterError
        If it is not a measure; a parameter is unknown, missing, of the wrong type or out of its range; or it needs judgments
        per subtopic.
    MissingDependency
        If only packages that are not installed compute it.

    Examples
    --------
    >>> from ir_measures import SDCG, nDCG
    >>> check_measure(nDCG @ 10)
    nDCG@10
    >>> check_measure(SDCG @ 10)
    Traceback (most recent call last):
        ...
    ir_outcomes.errors.ParameterError: SDCG needs max_rel; write SDCG(max_rel=3)@10
    """
    if not isinstance(measure, Measure):
        raise ParameterError(f"{measure!r} is not a measure; give its name, such as 'nDCG@10', or an object of ir_measures")
    params: Any = measure.params
    if not isinstance(params, Mapping):
        raise ParameterError(f"{measure.NAME}: its parameters must be a dict, not {type(params).__name__}")
    for problem in _problems(measure, params):
        raise ParameterError(problem)
    try:
        measure.validate_params()  # type: ignore[no-untyped-call]  # of ir_measures
    except AssertionError as error:
        raise ParameterError(f"{measure}: {error}") from None
    if measure.NAME in _BY_SUBTOPIC:
        raise ParameterError(
            f"{measure} needs judgments per subtopic, which ir_outcomes does not read; compute it with ir_measures and compare "
            "its output (compare_outputs)"
        )
    _check_provided(measure)
    return measure


def _problems(measure: Measure, params: Mapping[str, Any]) -> Iterator[str]:
    name, known = measure.NAME, measure.SUPPORTED_PARAMS
    for parameter, value in params.items():
        if parameter not in known:
            if parameter == measure.AT_PARAM:
                yield f"{name} has no cutoff; write {name} without @{value}"
            names = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            yield f"{name} has no parameter {parameter}; {names}"
            continue
        problem = _problem_of_value(str(name), parameter, value, known[parameter])
        if problem is not None:
            yield f"{name}: {parameter}={value!r}: {problem}"
    missing = [parameter for parameter, info in known.items() if info.required and parameter not in params]
    if missing:
        given = {**params, **{parameter: _EXAMPLES.get(parameter, 1) for parameter in missing}}
        at = f"@{given.pop(measure.AT_PARAM)}" if measure.AT_PARAM in given else ""
        inside = ",".join(f"{parameter}={value!r}" for parameter, value in given.items())
        yield f"{name} needs {' and '.join(missing)}; write {name}{f'({inside})' if inside else ''}{at}"
    if "max_rel" in params and params["max_rel"] <= params.get("min_rel", 0):
        yield f"{name}: max_rel={params['max_rel']!r}: must be greater than min_rel, {params.get('min_rel', 0)!r}"


def _problem_of_value(measure: str, parameter: str, value: Any, info: Any) -> str | None:
    """Describe what is wrong with the value of a parameter, or return None."""
    if info.dtype in (int, float) and isinstance(value, bool):
        return "must be a number"
    if info.dtype is int and not isinstance(value, int):
        return "must be a whole number"
    if info.dtype is float and not isinstance(value, float):
        return "must be a number with a decimal point, such as 0.5" if isinstance(value, int) else "must be a number"
    if info.dtype is float and "e" in repr(value):  # trec_eval reads SetF(beta=1e-07) as beta=1
        return "must be a number that can be written without an exponent"
    allowed = _BETAS.get(measure, _Range(0, 1, "low high")) if parameter == "beta" else _RANGES.get(parameter)
    if info.dtype in (int, float) and allowed is not None and not allowed.holds(value):
        return f"must be {allowed}"
    if info.dtype is dict and not _is_gains(value):
        return "must be a dict from grades to gains, both whole numbers, such as {1: 1, 2: 3}"
    if not info.validate(value):
        choices = info.choices if isinstance(info.choices, (list, tuple)) else ("True", "False") if info.dtype is bool else ()
        return f"must be one of {', '.join(map(str, choices))}" if choices else f"must be of type {info.dtype.__name__}"
    return None


def _is_gains(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(number, int) and not isinstance(number, bool) and abs(number) <= LARGEST
        for pair in value.items()
        for number in pair
    )


def _check_provided(measure: Measure) -> None:
    """Refuse a measure that none of ir_measures' installed providers computes."""
    import ir_measures

    absent = []
    for provider in ir_measures.DefaultPipeline.providers:
        if provider.supports(measure):
            if provider.is_available():
                return
            absent.append(provider)
    if not absent:
        raise ParameterError(f"ir_measures does not compute {measure} with these parameters; try others, or {measure.NAME}@10")
    ways = " or ".join(f"{provider.NAME} ({provider.install_instructions()})" for provider in absent)
    raise MissingDependency(f"{measure} needs {ways}")


def parse_measure(text: Any) -> Any:
    """Make a measure from its name, ``Name(parameter=value, ...)@cutoff``.

    Like `ir_measures.parse_measure`, but it also works on Python 3.14, its errors name what is known, and parameters are
    checked.

    Parameters
    ----------
    text : str or Measure
        For example ``"ESL@100"`` or ``"nDCG@10"``; a measure object is checked and returned.

    Returns
    -------
    ir_measures.Measure

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
    name, parameters, at = _parsed(text)
    if name not in measure_registry:
        known = {spelled.casefold(): spelled for spelled in measure_registry}
        near = [known[match] for match in difflib.get_close_matches(name.casefold(), list(known), n=3)]
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise ParameterError(f"unknown measure {name[:80]}{hint}")
    measure = measure_registry[name]
    if at is not None:
        if measure.AT_PARAM in parameters:
            raise ParameterError(f"{text!r}: {measure.AT_PARAM} is given twice; write it once, after @")
        parameters[measure.AT_PARAM] = at
    return check_measure(measure(**parameters))


def _parsed(text: str) -> tuple[str, dict[str, Any], Any]:
    """Return the name, the parameters in parentheses and what follows the @ (None where there is none)."""
    try:
        if len(text) > LONGEST_TEXT:
            raise ValueError(f"longer than {LONGEST_TEXT} characters")
        node = ast.parse(text.strip(), mode="eval").body
        parameters: dict[str, Any] = {}
        at = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at = ast.literal_eval(node.right)
            node = node.left
        if isinstance(node, ast.Call):
            if node.args or any(keyword.arg is None for keyword in node.keywords):
                raise ValueError("parameters must be named")
            parameters = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
            node = node.func
        if not isinstance(node, ast.Name):
            raise ValueError("there is no measure name")
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        shown = text if len(text) <= 80 else text[:77] + "..."
        raise ParameterError(
            f"{shown!r} is not a measure ({error}); write Name(parameter=value)@cutoff, such as ESL(rel=2)@100"
        ) from None
    return node.id, parameters, at
