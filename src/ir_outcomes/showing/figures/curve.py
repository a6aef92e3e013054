"""The curve: what two runs have found by each rank, and their difference with a simultaneous band."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.showing.figures._labels import Names
from ir_outcomes.showing.figures._style import BLACK, BLUE, LIGHT, ORANGE, Frame, count, legend_beside, styled

__all__ = ["curve"]

_LOG_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)


@styled
def curve(
    k: npt.ArrayLike,
    share_a: npt.ArrayLike,
    share_b: npt.ArrayLike,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    ax: Any = None,
    *,
    baseline: str = "baseline",
    contender: str = "contender",
    unit: str = "query",
    level: float = 0.95,
    n: int | None = None,
) -> Any:
    r"""Draw the share of queries answered by each rank for both runs, and below it their difference with its band.

    Parameters
    ----------
    k : (m,) array_like of int
        Ranks, ascending, from 1.
    share_a, share_b : (m,) array_like of float
        Share of the queries answered (or of the relevant documents found) by rank k, by the baseline and by the contender,
        between 0 and 1, higher is better.
    low, high : (m,) array_like of float
        Simultaneous band of contender minus baseline, as shares.
    ax : matplotlib Axes or Figure, optional
        Where to draw; by default on a new figure.
    baseline, contender : str
        Names of the runs.
    unit : {"query", "document"}
        What is found.
    level : float
        Level of the band.
    n : int, optional
        Number of queries.

    Returns
    -------
    matplotlib Axes
        The upper panel.

    Raises
    ------
    ParameterError
        If the arrays are empty or differ in length.
    MissingDependency
        If matplotlib is not installed.

    Examples
    --------
    >>> axes = curve([1, 2, 3], [0.2, 0.4, 0.5], [0.3, 0.4, 0.6], [0.0, -0.1, 0.0], [0.2, 0.1, 0.2], contender="minilm")
    >>> axes.get_ylabel()
    '% of queries\nanswered by rank k'
    """
    ranks, first, second, least, most = (
        np.atleast_1d(np.asarray(values, dtype=np.float64)) for values in (k, share_a, share_b, low, high)
    )
    if ranks.size == 0 or len({values.shape for values in (ranks, first, second, least, most)}) > 1:
        raise ParameterError("k, share_a, share_b, low and high must have the same length, at least 1")
    last = ranks[-1]
    # the last step gets a width too
    ranks = np.append(ranks, 1.08 * last)
    first, second, least, most = (np.append(values, values[-1]) for values in (first, second, least, most))
    frame = Frame(ax, 5.2, 3.0, rows=2, heights=(2.7, 1.5), sharex=True)
    above, below = frame.panels
    names = Names([baseline, contender])
    above.step(ranks, 100 * first, where="post", color=ORANGE, linestyle="--", linewidth=1.6, label=names[baseline])
    above.step(ranks, 100 * second, where="post", color=BLUE, linewidth=1.6, label=names[contender])
    what = "queries\nanswered" if unit == "query" else "relevant documents\nfound"
    above.set_ylabel(f"% of {what} by rank k")
    legend_beside(above)
    below.fill_between(
        ranks,
        100 * least,
        100 * most,
        step="post",
        facecolor=LIGHT,
        edgecolor="#777777",
        linewidth=0.6,
        label=f"{100 * level:g} % band, for all k at once",
    )
    below.step(ranks, 100 * (second - first), where="post", color=BLACK, linewidth=1.4, label="contender minus baseline")
    below.axhline(0, color=BLACK, linewidth=0.6, linestyle=":")
    below.set_ylabel("difference,\npercentage points")
    below.set_xlabel("rank k (log scale)")
    legend_beside(below)
    for panel in (above, below):
        panel.set_xscale("log")
        panel.set_xlim(ranks[0], ranks[-1])
        shown = [tick for tick in _LOG_TICKS if ranks[0] <= tick <= last]
        panel.set_xticks(shown, [f"{tick:,}" for tick in shown])
        panel.minorticks_off()
    above.tick_params(axis="x", labelbottom=False)
    size = "" if n is None else f", {count(n, 'query', 'queries')}"
    return frame.finish(f"{names[contender]} against {names[baseline]}: found by rank k (higher is better){size}")
