"""SVG coordinates of the curve and the scatter; the template draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ir_outcomes.across.same_queries import Curve
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.showing.charts import curve_lines, pairs_of, round_numbers
from ir_outcomes.showing.words import RANK_TICKS

LEFT, RIGHT, TOP, WIDTH = 46, 8, 8, 360  # margins and width
UPPER, GAP, LOWER = 150, 26, 84  # heights of the panels of the curve


class Tick(NamedTuple):
    """A mark of an axis."""

    place: float
    text: str


class CurveChart(NamedTuple):
    """What both runs found by each rank, and below it their difference with its band."""

    height: int
    baseline: str  # paths
    contender: str
    difference: str
    band: str
    ranks: tuple[Tick, ...]
    shares: tuple[Tick, ...]
    points: tuple[Tick, ...]
    zero: float
    cutoff: float | None


class Point(NamedTuple):
    """A point of the scatter, and the search lengths of its queries."""

    x: float
    y: float
    radius: float
    baseline: float
    contender: float
    tone: str


class Scatter(NamedTuple):
    """Search length against search length on logarithmic axes, 1 at the top and at the right, so that up is better."""

    height: int
    points: tuple[Point, ...]
    ticks: tuple[tuple[float, float, str], ...]  # place across, place down, rank


def curve_chart(curve: Curve, cutoff: int | None) -> CurveChart:
    """Draw the curve on a logarithmic axis of ranks."""
    (ranks, lines), last = curve_lines(curve), curve.ranks[-1]
    end = ranks[-1]

    def across(rank: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log(rank) / math.log(end) if end > 1 else 0.0)

    shares = round_numbers(0.0, max(*lines["baseline"], *lines["contender"], 1e-7))
    points = round_numbers(min(*lines["low"], 0.0), max(*lines["high"], 0.0))
    up = _scale(shares, TOP, UPPER)
    beside = _scale(points, TOP + UPPER + GAP, LOWER)
    places = [*map(across, ranks)]
    band = _steps(places, [*map(beside, lines["high"])])
    under = _steps(places, [*map(beside, lines["low"])])
    return CurveChart(
        height=TOP + UPPER + GAP + LOWER + 36,
        baseline=_path(_steps(places, [*map(up, lines["baseline"])])),
        contender=_path(_steps(places, [*map(up, lines["contender"])])),
        difference=_path(_steps(places, [*map(beside, lines["difference"])])),
        band=f"{_path([*band, *reversed(under)])}Z",
        ranks=tuple(Tick(round(across(tick), 1), f"{tick:,}") for tick in RANK_TICKS if tick <= last),
        shares=tuple(Tick(round(up(share), 1), f"{share:g}") for share in shares),
        points=tuple(Tick(round(beside(point), 1), f"{point:+.3g}" if round(point, 9) else "0") for point in points),
        zero=round(beside(0.0), 1),
        cutoff=round(across(cutoff), 1) if cutoff and cutoff < last else None,
    )


def _scale(ticks: Sequence[float], top: float, height: float) -> Callable[[float], float]:
    """Return the function from values to places between the first tick at the bottom and the last one at the top."""
    least, width = ticks[0], (ticks[-1] - ticks[0]) or 1.0
    return lambda value: top + height * (1 - (value - least) / width)


def _steps(places: Sequence[float], heights: Sequence[float]) -> list[tuple[float, float]]:
    corners = []
    for place, following, height in zip(places, places[1:], heights, strict=False):
        corners += [(place, height), (following, height)]
    return corners


def _path(corners: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)


def scatter(comparison: Comparison) -> Scatter | None:
    """Place the queries on which both runs found something; None where there are none, or no ranks were compared."""
    pairs = {} if comparison.queries is None else pairs_of(comparison)
    if not pairs or comparison.ranking.measured_in != "ranks":
        return None
    end = 1.25 * max(2.0, *(length for pair in pairs for length in pair))
    size = WIDTH - LEFT - RIGHT

    def place(length: float) -> float:
        return size * math.log(length / 0.8) / math.log(end / 0.8)

    points = (
        Point(
            round(WIDTH - RIGHT - place(baseline), 1),
            round(TOP + place(contender), 1),
            round(min(14.0, 1.7 + 0.75 * number**0.5), 1),
            baseline,
            contender,
            "better" if contender < baseline else "worse" if contender > baseline else "same",
        )
        for (baseline, contender), number in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
    )
    ticks = tuple(
        (round(WIDTH - RIGHT - place(tick), 1), round(TOP + place(tick), 1), f"{tick:,}") for tick in RANK_TICKS if tick < end
    )
    return Scatter(TOP + size + 40, tuple(points), ticks)
