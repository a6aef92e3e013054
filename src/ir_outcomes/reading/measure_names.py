"""Measures: parsed from text, with parameters that are checked, and directions, which ir_measures does not provide."""

import ast
import difflib
import re
from typing import Any

import ir_measures
from ir_measures.measures import Measure
from ir_measures.measures import registry as measure_registry

from ir_outcomes.errors import MissingDependency, ParameterError
from ir_outcomes.types import LARGEST

# Measures that are higher for better runs and zero where nothing was found, as ir_measures and trec_eval name them.
_GAINS = (
    "nDCG", "AP", "MAP", "P", "R", "Rprec", "RPrec", "Success", "ERR", "RBP", "Bpref", "infAP", "BPM", "SDCG", "INST", "INSQ",
    "NERR8", "NERR9", "NERR10", "NERR11", "alpha_nDCG", "alpha_DCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall",
    "SetP", "SetR", "SetF", "SetAP", "IPrec",
    "map", "map_cut", "ndcg", "ndcg_cut", "ndcg_rel", "Rndcg", "recall", "success", "bpref", "set_P", "set_recall", "set_F",
    "set_map", "iprec_at_recall", "G", "binG",
)  # fmt: skip
_OTHERS_OF_TREC_EVAL = (
    "runid", "relstring", "num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "map_avgjg", "gm_map",
    "gm_bpref", "11pt_avg", "P_avgjg", "relative_P", "Rprec_mult", "Rprec_mult_avgjg", "utility", "set_relative_P", "yaap",
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
    return base in measure_registry or base in (*_GAINS, *RECIPROCALS, *_OTHERS_OF_TREC_EVAL)


def higher_is_better(measure: Any) -> bool:
    """Return the direction of a measure of ir_measures; one that is not known is a `ParameterError`."""
    declared = getattr(measure, "HIGHER_IS_BETTER", None)  # our measures declare it
    if declared is not None:
        return bool(declared)
    if not is_gain(str(measure)):
        raise ParameterError(f"the direction of {measure} is not known; pass higher_is_better=True or higher_is_better=False")
    return True


# These need judgments per subtopic, which the qrels that ir_outcomes reads do not have.
_BY_SUBTOPIC = ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall")


def check_measure(measure: Any) -> Any:
    """Return a measure that can be computed, or say why it cannot, before another library is asked to."""
    if not isinstance(measure, Measure):
        raise ParameterError(f"{measure!r} is not a measure; give its name, such as 'nDCG@10', or an object of ir_measures")
    try:
        measure.validate_params()  # type: ignore[no-untyped-call]  # of ir_measures
    except (AssertionError, AttributeError, TypeError) as error:
        known = ", ".join(measure.SUPPORTED_PARAMS) or "none"
        raise ParameterError(f"{measure.NAME}: {error} (its parameters: {known}); write it like P(rel=2)@10") from None
    for name in {"cutoff", "rel"} & measure.params.keys():  # P@0 would abort the interpreter
        if not 1 <= measure.params[name] <= LARGEST:
            raise ParameterError(f"{measure}: {name} must be from 1 to {LARGEST}")
    if measure.NAME in _BY_SUBTOPIC:
        raise ParameterError(
            f"{measure} needs judgments per subtopic, which ir_outcomes does not read; compute it with ir_measures and compare "
            "its output (compare_outputs)"
        )
    providers = [provider for provider in ir_measures.DefaultPipeline.providers if provider.supports(measure)]
    if not providers:
        raise ParameterError(f"ir_measures does not compute {measure} with these parameters; try others, or {measure.NAME}@10")
    if not any(provider.is_available() for provider in providers):
        ways = " or ".join(f"{provider.NAME} ({provider.install_instructions()})" for provider in providers)
        raise MissingDependency(f"{measure} needs {ways}")
    return measure


def parse_measure(text: Any) -> Any:
    """Make a measure from its name, ``Name(parameter=value, ...)@cutoff``; its parameters are checked.

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
    name, parameters, at = _parsed(text)
    if name not in measure_registry:
        known = {spelled.casefold(): spelled for spelled in measure_registry}
        near = [known[match] for match in difflib.get_close_matches(name.casefold(), list(known), n=3)]
        hint = f"did you mean {', '.join(near)}?" if near else "write one such as nDCG@10 or ESL@100"
        raise ParameterError(f"unknown measure {name[:80]}; {hint}")
    measure = measure_registry[name]
    if at is not None:
        if measure.AT_PARAM in parameters:
            raise ParameterError(f"{text!r}: {measure.AT_PARAM} is given twice; write it once, after @")
        parameters[measure.AT_PARAM] = at
    return check_measure(measure(**parameters))


def _parsed(text: str) -> tuple[str, dict[str, Any], Any]:
    """Return the name, the parameters in parentheses and what follows the @, None where there is none."""
    try:
        if len(text) > LONGEST_TEXT:
            raise ValueError(f"longer than {LONGEST_TEXT} characters")
        node: Any = ast.parse(text.strip(), mode="eval").body
        at = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            node, at = node.left, ast.literal_eval(node.right)
        call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
        if call.args or any(keyword.arg is None for keyword in call.keywords):
            raise ValueError("parameters must be named")
        if not isinstance(call.func, ast.Name):
            raise ValueError("there is no measure name")
        return call.func.id, {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}, at
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        shown = text if len(text) <= 80 else text[:77] + "..."
        problem = "its values must be numbers or texts in quotes" if "malformed" in str(error) else error
        raise ParameterError(
            f"{shown!r} is not a measure ({problem}); write Name(parameter=value)@cutoff, such as ESL(rel=2)@100"
        ) from None
