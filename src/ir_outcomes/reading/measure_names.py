"""Measures named by text, and their directions, which ir_measures does not provide."""

from __future__ import annotations

import ast
import difflib
from typing import Any

from ir_measures.measures import Measure
from ir_measures.measures import registry as measure_registry

from ir_outcomes.errors import ParameterError

__all__ = ["RECIPROCALS", "higher_is_better", "is_gain", "parse_measure"]

# Measures whose values grow with effectiveness and are zero where nothing was found, as ir_measures and trec_eval name them.
_GAINS = (
    "nDCG", "AP", "MAP", "P", "R", "Rprec", "RPrec", "Success", "ERR", "RBP", "Bpref", "infAP", "BPM", "SDCG", "INST", "INSQ",
    "NERR8", "NERR9", "NERR10", "NERR11", "alpha_nDCG", "alpha_DCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall",
    "SetP", "SetR", "SetF", "SetAP", "IPrec",
    "map", "map_cut", "ndcg", "ndcg_cut", "ndcg_rel", "Rndcg", "recall", "success", "bpref", "set_P", "set_recall", "set_F",
    "set_map", "iprec_at_recall", "G", "binG",
)  # fmt: skip
RECIPROCALS = ("RR", "MRR", "recip_rank")


def is_gain(measure: str) -> bool:
    """Tell whether a measure, by its name, is known to grow with effectiveness and to be zero where nothing was found."""
    base = measure.split("@")[0].split("(")[0]
    return base in _GAINS or base.rstrip("_0123456789.") in _GAINS or base in RECIPROCALS


def higher_is_better(measure: Any) -> bool:
    """Tell the direction of a measure of ir_measures.

    Raises
    ------
    ParameterError
        If it is not known.
    """
    declared = getattr(measure, "HIGHER_IS_BETTER", None)  # our measures declare it
    if declared is not None:
        return bool(declared)
    if not is_gain(str(measure)):
        raise ParameterError(
            f"whether {measure} is better when higher is not known here; say it with higher_is_better=True or False"
        )
    return True


def parse_measure(text: str | Any) -> Any:
    """Make a measure from its name, ``Name(parameter=value, ...)@cutoff``.

    The same as `ir_measures.parse_measure`, but it also works on Python 3.14 and its errors name what is known.

    Parameters
    ----------
    text : str or Measure
        For example ``"ESL@100"`` or ``"nDCG@10"``; a measure object is returned as it is.

    Returns
    -------
    ir_measures.Measure

    Raises
    ------
    ParameterError
        If the text is no measure or names an unknown one.

    Examples
    --------
    >>> parse_measure("ESL(unanswered='cutoff+1')@100")
    ESL(unanswered='cutoff+1')@100
    """
    if isinstance(text, Measure):
        return text
    try:
        node = ast.parse(text.strip(), mode="eval").body
        parameters: dict[str, Any] = {}
        at = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at = ast.literal_eval(node.right)
            node = node.left
        if isinstance(node, ast.Call):
            if node.args:
                raise ValueError("parameters must be named")
            parameters = {keyword.arg or "**": ast.literal_eval(keyword.value) for keyword in node.keywords}
            node = node.func
        if not isinstance(node, ast.Name):
            raise ValueError("no measure name")
    except (SyntaxError, ValueError) as error:
        raise ParameterError(
            f"{text!r} is not a measure ({error}); write Name(parameter=value)@cutoff, such as ESL(rel=2)@100"
        ) from None
    if node.id not in measure_registry:
        near = difflib.get_close_matches(node.id, list(measure_registry), n=3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise ParameterError(f"unknown measure {node.id}{hint}")
    measure = measure_registry[node.id]
    if at is not None:
        parameters[measure.AT_PARAM] = at
    return measure(**parameters)
