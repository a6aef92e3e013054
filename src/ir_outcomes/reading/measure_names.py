"""What is known about measures by their names, as ir_measures, trec_eval, ranx and MS MARCO write them."""

import re
from collections.abc import Sequence

from ir_measures.measures import registry

from ir_outcomes.types import Floats

RECIPROCALS = ("RR", "MRR", "mrr", "recip_rank")
# Higher for better runs, zero where nothing was found, and at most 1.
_SHARES = (
    *RECIPROCALS,
    "nDCG",
    "AP",
    "MAP",
    "P",
    "R",
    "Rprec",
    "RPrec",
    "Success",
    "ERR",
    "RBP",
    "Bpref",
    "infAP",
    "SetP",
    "SetR",
    "SetF",
    "SetAP",
    "IPrec",
    "map",
    "map_cut",
    "ndcg",
    "ndcg_cut",
    "recall",
    "success",
    "bpref",
    "set_P",
    "set_recall",
    "set_F",
    "set_map",
)
# Higher for better runs and zero where nothing was found.
_OTHER_GAINS = (
    "BPM",
    "SDCG",
    "INST",
    "INSQ",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "alpha_nDCG",
    "alpha_DCG",
    "NRBP",
    "nNRBP",
    "AP_IA",
    "P_IA",
    "StRecall",
    "ndcg_rel",
    "Rndcg",
    "iprec_at_recall",
    "G",
    "binG",
    "hits",
    "hit_rate",
    "precision",
    "f1",
    "r-precision",
    "dcg",
    "dcg_burges",
    "ndcg_burges",
    "rbp",
)
_OTHERS_BETWEEN_0_AND_1 = ("Judged", "Accuracy", "Compat", "Answered")


def base_name(measure: str) -> str:
    """Return a measure's name without its parameters and cutoff."""
    return re.split("[@(]", measure)[0]


def is_measure_name(text: str) -> bool:
    """Whether ir_measures or trec_eval has a measure of this name, such as nDCG@10 or P_5."""
    import pytrec_eval

    base = re.sub(r"_[0-9][0-9.]*$", "", base_name(text))
    return base in registry or base in pytrec_eval.supported_measures


def is_gain(measure: str) -> bool:
    """Whether a measure, by its name, is known to be higher for better runs and zero where nothing was found."""
    return _is_among((*_SHARES, *_OTHER_GAINS), measure)


def _is_among(names: Sequence[str], measure: str) -> bool:
    base = base_name(measure)
    return base in names or base.rstrip("_0123456789.") in names  # trec_eval writes P_5


def bounds_of(measure: str) -> tuple[float, float] | None:
    """Return the smallest and the largest possible value of a measure, by its name; None where they are not known."""
    cutoff = measure.rpartition("@")[2]
    if _is_among((*_SHARES, *_OTHERS_BETWEEN_0_AND_1), measure):
        return 0.0, 1.0
    if base_name(measure) in ("ESL", "ASL") and cutoff.isdigit():
        return 1.0, int(cutoff) + 1.0  # the largest is that of a missing document
    return None


def range_of(measure: str, *values: Floats) -> float | None:
    """Return the largest possible difference of two values of a measure; None where it is not known."""
    bounds = bounds_of(measure)
    if bounds is None:
        return None
    smallest, largest = bounds
    for of_runs in values:  # some tools write shares in percent
        if (of_runs < smallest).any() or (of_runs > largest).any():
            return None
    return largest - smallest
