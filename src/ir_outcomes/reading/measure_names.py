"""Names of measures as tools spell them."""

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from ir_measures.measures import registry

from ir_outcomes.choices import Floats

# Families of measures, in small letters without separators.
# From 0, where nothing was found, to 1:
_SHARES = {
    "rr", "ap", "ndcg", "p", "r", "f", "success", "setap", "setp", "setr", "setf", "rprec", "apia", "alphandcg",
    "iprec", "accuracy", "err", "rbp", "bpref", "infap", "erria", "nerria", "pia", "strecall", "nnrbp", "nrbp",
    "ndcgburges", "11ptavg",
}  # fmt: skip
# From 0 to 1, where 0 does not mean that nothing was found, or nothing else is known:
_LIMITED = {"judged", "compat", "answered"}
# From 0, where nothing was found, without a largest value:
_UNLIMITED = {
    "bpm", "sdcg", "inst", "insq", "nerr8", "nerr9", "nerr10", "nerr11", "alphadcg", "ndcgrel", "rndcg", "g", "bing",
    "hits", "dcg", "dcgburges", "numrelret",
}  # fmt: skip
_OTHERS = {
    "gmmap", "gmbpref", "numnonreljudgedret", "numq", "numrel", "numret", "relativep", "setrelativep", "setrelp",
    "rprecmult", "utility", "runid", "relstring",
}  # fmt: skip
_OTHER_SPELLINGS = {
    "mrr": "rr", "reciprank": "rr", "reciprocalrank": "rr", "meanreciprocalrank": "rr",
    "map": "ap", "mapcut": "ap", "averageprecision": "ap", "avgprecision": "ap", "meanaverageprecision": "ap",
    "ndcgcut": "ndcg", "precision": "p", "prec": "p", "recall": "r", "rec": "r", "f1": "f",
    "hit": "success", "hitrate": "success", "setrecall": "setr", "setmap": "setap", "rprecision": "rprec",
    "mapia": "apia", "iprecatrecall": "iprec",
}  # fmt: skip
_FAMILIES = {name: name for name in _SHARES | _LIMITED | _UNLIMITED | _OTHERS} | _OTHER_SPELLINGS
_NAME = re.compile(r"(.*?)(\(.*\))?(?:(@|_at_|_cut_|[_ -]?)([0-9][0-9.]*))?")
_KEYS = re.compile(r"^(?:[A-Za-z]\w*\.)+(?=[A-Za-z])")  # as in metrics.ndcg@10
ROUNDING_OF_SUMS = 1e-9  # by which sums of floating-point numbers miss the ends of a range


class MeasureName(NamedTuple):
    """What a name says of its measure."""

    family: str | None  # None where it is not known
    parameters: str | None
    cutoff: str | None


@lru_cache(maxsize=4096)
def parsed_name(measure: str) -> MeasureName:
    """Return the parts of a name, such as nDCG(dcg='exp-log2')@10, P_5 or ndcg_cut_10."""
    whole = _FAMILIES.get(_folded(measure))
    found = _NAME.fullmatch(measure)
    if found is None or (whole and len(measure) > 1):  # such as NERR8, whose number is no cutoff
        return MeasureName(whole, None, None)
    name, parameters, sign, cutoff = found.groups()
    family = _FAMILIES.get(_folded(name))
    # Runs are called p and r, P1 and r_2, too.
    if len(name) == 1 and sign != "@" and not (name.isupper() and bool(sign) == bool(cutoff)):
        family = None
    return MeasureName(family, parameters, cutoff)


def _folded(text: str) -> str:
    return re.sub(r"[_\s-]", "", text).casefold()


def _innermost(measure: str) -> MeasureName:
    return parsed_name(_KEYS.sub("", measure))


def base_name(measure: str) -> str:
    """Return a measure's name without its parameters and cutoff."""
    return re.split("[@(]", _KEYS.sub("", measure))[0]


def cutoff_of(measure: str) -> int | None:
    """Return the cutoff in a measure's name, None without one."""
    cutoff = _innermost(measure).cutoff or ""
    return int(cutoff) if cutoff.isdecimal() and len(cutoff) < 10 else None


def is_measure_name(text: str) -> bool:
    """Whether a tool has a measure of this name, such as nDCG@10, P_5 or recall."""
    is_known = parsed_name(text).family is not None or base_name(text) in registry
    return is_known and not _KEYS.match(text)


def is_same_measure(one: str, other: str) -> bool:
    """Whether two names are spellings of one measure, as nDCG@10 and ndcg_cut_10 are."""
    return parsed_name(one).family is not None and parsed_name(one) == parsed_name(other)


def is_reciprocal(measure: str) -> bool:
    """Whether the values of a measure are reciprocal ranks."""
    return _innermost(measure).family == "rr"


def is_gain(measure: str) -> bool:
    """Whether a measure is higher for better runs and zero where nothing was found."""
    return _innermost(measure).family in _SHARES | _UNLIMITED


def bounds_of(measure: str) -> tuple[float, float] | None:
    """Return the smallest and largest value of a measure, None where not known."""
    if _innermost(measure).family in _SHARES | _LIMITED:
        return 0.0, 1.0
    cutoff = cutoff_of(measure)
    if base_name(measure) in ("ESL", "ASL") and cutoff:
        return 1.0, cutoff + 1.0  # the largest is that of a missing document
    return None


def are_truth_values(values: Floats) -> bool:
    """Whether all values are 1 or 0, as of what was solved or not."""
    return bool(np.isin(values, (0, 1)).all())
