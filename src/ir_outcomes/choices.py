"""Array aliases and closed sets of choices."""

import math
from collections.abc import Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    TypeAlias,
    TypedDict,
)

from ir_outcomes.errors import ParameterError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.int64]
    Floats: TypeAlias = npt.NDArray[np.float64]
    Bools: TypeAlias = npt.NDArray[np.bool_]
else:

    def __getattr__(name: str) -> Any:
        """Make the aliases of arrays at first use, which imports NumPy."""
        if name not in ("Ints", "Floats", "Bools"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import numpy as np
        import numpy.typing as npt

        kinds = {"Ints": np.int64, "Floats": np.float64, "Bools": np.bool_}
        return globals().setdefault(name, npt.NDArray[kinds[name]])


# The largest of whole numbers such as cutoffs: other libraries and NumPy's integers take no larger
# ones.
LARGEST = 2**31 - 1


class Bounds(NamedTuple):
    """The bounds of a number: a whole number can be equal to them, another cannot."""

    low: float
    high: float


Positive = Annotated[int, Bounds(1, LARGEST)]
Count = Annotated[int, Bounds(0, LARGEST)]
Level = Annotated[float, Bounds(0.0, 0.5)]  # of significance
Share = Annotated[float, Bounds(0.0, 1.0)]
Finite = Annotated[float, Bounds(-math.inf, math.inf)]
Megabytes = Annotated[float, Bounds(0.0, 1000.0)]

Ties = Literal["trec", "msmarco", "input", "expected"]
Trials = Literal["mean"]  # what becomes of several values of a query
RunBy = Literal["score", "rank"]  # what orders the documents of a run file
OneOrder = Literal["trec", "msmarco", "input"]  # the tie rules that give one order
Unit = Literal["query", "document"]
UnitChoice = Literal["auto", "query", "document"]
Direction = Literal["better", "worse", "none"]
Missing = Literal["retrieved", "cutoff"]
OnError = Literal["raise", "report", "keep"]
Correction = Literal["holm", "bonferroni", "fdr_bh", "none"]
Mark = Literal["best", "significant"]  # what a format emphasizes

OUTCOMES = ("neither", "lost", "won", "both")

# Units. Search lengths differ by ranks where queries are answered, and where relevant documents are
# found by the irrelevant documents above them, because the two can differ in sign.
POINTS = "percentage points"  # of coverage
RANKS = "ranks"
DOCUMENTS_ABOVE = "irrelevant documents above"
LENGTHS = (RANKS, DOCUMENTS_ABOVE)


def divided(
    dividends: "npt.ArrayLike",
    divisors: "npt.NDArray[Any]",
    where: "Bools",
    otherwise: float = math.nan,
) -> "Floats":
    """Divide where that is asked for, and return another value elsewhere."""
    import numpy as np

    quotients = np.full(np.broadcast_shapes(np.shape(dividends), divisors.shape), otherwise)
    np.divide(dividends, divisors, out=quotients, where=where)
    return quotients


class ReadingOfValues(TypedDict, total=False):
    """How files of values are read, as keyword arguments."""

    range: tuple[float, float] | None
    id: str | None
    where: Mapping[str, str] | Sequence[str] | None
    trials: Trials | None


def or_none(value: float) -> float | None:
    """Return a number as results hold it: None where there is none."""
    return None if math.isnan(value) else float(value)


def length_unit(unit: str) -> str:
    """Return what search lengths are measured in."""
    return RANKS if unit == "query" else DOCUMENTS_ABOVE


def level_unit(measured_in: str) -> str:
    """Return the unit of a search length itself."""
    if measured_in == DOCUMENTS_ABOVE:
        return f"{DOCUMENTS_ABOVE}, plus 1"
    return measured_in


def unreachable(value: NoReturn) -> NoReturn:
    """Mark the end of a dispatch over a closed set, for mypy and at run time."""
    raise ParameterError(f"{value!r} is not handled here")
