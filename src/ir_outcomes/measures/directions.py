"""Whether higher is better: ours say it themselves, the others are listed here, because ir_measures does not say it."""

from __future__ import annotations

from typing import Any

from ir_outcomes.errors import ParameterError
from ir_outcomes.measures.definitions import SearchLengthMeasure

__all__ = ["RECIPROCALS", "higher_is_better", "is_gain"]

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
    if isinstance(measure, SearchLengthMeasure):
        return measure.HIGHER_IS_BETTER
    if not is_gain(str(measure)):
        raise ParameterError(
            f"whether {measure} is better when higher is not known here; say it with higher_is_better=True or False"
        )
    return True
