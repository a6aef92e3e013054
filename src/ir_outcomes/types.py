"""Array aliases, closed sets of choices, and checks of arguments."""

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, get_args

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


Ties = Literal["trec", "msmarco", "input", "expected"]
RunBy = Literal["score", "rank"]  # what orders the documents of a run file
OneOrder = Literal["trec", "msmarco", "input"]  # the tie rules that give one order
Unit = Literal["query", "document"]
UnitChoice = Literal["auto", "query", "document"]
Direction = Literal["better", "worse", "none"]
Missing = Literal["retrieved", "cutoff"]
OnError = Literal["raise", "report", "keep"]
RankingTest = Literal["t", "wilcoxon", "signflip"]
Correction = Literal["holm", "bonferroni", "fdr_bh", "none"]
# Of a comparison that is shown; "paper" is Tables 1 and 2 of Lin et al. 2021.
Columns = Literal["default", "paper"]
Mark = Literal["best", "significant"]  # what a format emphasizes

OUTCOMES = ("neither", "lost", "won", "both")

# Units. Search lengths differ by ranks where queries are answered, and where relevant documents are
# found by the irrelevant documents above them, because the two can differ in sign.
POINTS = "percentage points"  # of coverage
RANKS = "ranks"
DOCUMENTS_ABOVE = "irrelevant documents above"
LENGTHS = (RANKS, DOCUMENTS_ABOVE)

# The largest of whole numbers such as cutoffs: other libraries and NumPy's integers take no larger
# ones.
LARGEST = 2**31 - 1


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


def numbers(name: str, values: "npt.ArrayLike") -> "Floats":
    """Convert to a one-dimensional array of finite numbers; refuse anything else."""
    import numpy as np

    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ParameterError(
            f"{name} has the shape {array.shape}: must be a list of numbers, one dimension"
        )
    if not np.isfinite(array).all():
        raise ParameterError(
            f"{name} holds NaN or an infinity: must be finite numbers; leave out what has no value"
        )
    return array


def length_unit(unit: str) -> str:
    """Return what search lengths are measured in."""
    return RANKS if unit == "query" else DOCUMENTS_ABOVE


def level_unit(measured_in: str) -> str:
    """Return the unit of a search length itself."""
    if measured_in == DOCUMENTS_ABOVE:
        return f"{DOCUMENTS_ABOVE}, plus 1"
    return measured_in


def check_positive(name: str, value: object, *, none_allowed: bool = False) -> None:
    """Refuse what is not a whole number from 1 to `LARGEST`."""
    if not (none_allowed and value is None):
        check_count(name, value, least=1)


def check_count(name: str, value: object, least: int = 0) -> None:
    """Refuse what is not a whole number from `least` to `LARGEST`."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Integral)
        or not least <= int(value) <= LARGEST
    ):
        raise ParameterError(
            f"must be a whole number, {least} or more, at most {LARGEST:,}", **{name: value}
        )


def check_number(name: str, value: object, above: float = 0.0, below: float = 1.0) -> None:
    """Refuse what is not a number strictly between two bounds."""
    if isinstance(value, bool) or not isinstance(value, Real) or not above < float(value) < below:
        raise ParameterError(f"must be a number between {above:g} and {below:g}", **{name: value})


def check_level(alpha: object) -> None:
    """Refuse a significance level that is not between 0 and 0.5."""
    check_number("alpha", alpha, below=0.5)


def check_kind(name: str, value: object, kinds: type | tuple[type, ...], wanted: str) -> None:
    """Refuse a value of another kind than an argument takes, which is said in words."""
    if not isinstance(value, kinds):
        raise ParameterError(f"`{name}` is of type {type(value).__name__}; it must be {wanted}")


def check_draws(seed: object, resamples: object) -> None:
    """Refuse a seed or a number of random draws that cannot be used."""
    check_count("seed", seed)
    check_positive("resamples", resamples)


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse what is not one of the choices."""
    if value not in choices:
        raise ParameterError(f"must be one of {', '.join(choices)}", **{name: value})


def check_one_order(ties: str, subject: str = "") -> None:
    """Refuse the tie rule that stands for many orders."""
    if ties == "expected":
        rules = ", ".join(map(repr, get_args(OneOrder)))
        raise ParameterError(
            f"{subject}`ties='expected'` gives no single order to compare; use one of {rules}"
        )


def unreachable(value: NoReturn) -> NoReturn:
    """Mark the end of a dispatch over a closed set, for mypy and at run time."""
    raise ParameterError(f"{value!r} is not handled here")
