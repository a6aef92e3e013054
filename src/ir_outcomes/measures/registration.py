"""Making the measures known to ir_measures, once and safely, and naming measures by text."""

from __future__ import annotations

import ast
import difflib
import warnings
from typing import Any

import ir_measures
from ir_measures.measures import Measure
from ir_measures.measures import registry as measure_registry
from ir_measures.providers import registry as provider_registry

from ir_outcomes.errors import IrOutcomesWarning, ParameterError
from ir_outcomes.measures.definitions import ASL, ESL, Answered, Outcome, SharedRR
from ir_outcomes.measures.provider import OutcomesProvider

__all__ = ["parse_measure", "register"]


def register() -> None:
    """Add the measures to ir_measures' names and the provider to its default pipeline.

    Doing it again, as on a reload, replaces what was registered before; a measure of another package that already has one
    of the names is left alone, with a warning.
    """
    for measure in (ESL, ASL, Answered, Outcome, SharedRR):
        present = measure_registry.get(measure.NAME)
        if present is not None and type(present).__module__ != type(measure).__module__:
            warnings.warn(
                f"ir_measures already knows a measure {measure.NAME} (from {type(present).__module__}); that text keeps its "
                f"meaning, use the object ir_outcomes.{measure.NAME} for ours",
                IrOutcomesWarning,
                stacklevel=3,
            )
        else:
            measure_registry[measure.NAME] = measure
    provider = OutcomesProvider()
    provider_registry[provider.NAME] = provider
    # ir_measures binds its functions to the pipeline object at import: the list inside it is the only way in.
    pipeline = ir_measures.DefaultPipeline.providers
    pipeline[:] = [other for other in pipeline if other.NAME != provider.NAME]
    pipeline.append(provider)


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
