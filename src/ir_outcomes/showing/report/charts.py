"""Geometry of the pictures: places in percent or in the units of an SVG's view box; the template draws them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from ir_outcomes.across.same_queries import Curve
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.showing.words import RANK_TICKS

__all__ = ["CurveChart", "Part", "Scatter", "Strip", "curve_chart", "outcome_bar", "scatter", "strips"]

LEFT, RIGHT, TOP, WIDTH = 46, 8, 8, 360  # margins and width of the curve and the scatter
UPPER, GAP, LOWER = 150, 26, 84  # heights of the panels of the curve


class Part(NamedTuple):
    """A part of the outcome bar: places in percent of its width."""

    outcome: str
    number: int
    share: float
    start: float
    width: float


def outcome_bar(comparison: Comparison) -> list[Part]:
    """Place the four outcomes beside each other: lost, neither, both, won."""
    shares = comparison.outcomes.shares
    parts: list[Part] = []
    start = 0.0
    for outcome in ("lost", "neither", "both", "won"):
        share = 0.0 if shares is None else float(getattr(shares, outcome))
        parts.append(Part(outcome, getattr(comparison.outcomes, outcome), share, round(100 * start, 3), round(100 * share, 3)))
        start += share
    assert len(parts) == len(OUTCOMES)
    return parts


class Strip(NamedTuple):
    """An estimate with its interval on a line; places in percent of its width, None where there is none."""

    zero: float
    estimate: float | None
    low: float | None
    high: float | None


def strips(values: Sequence[tuple[float | None, tuple[float, float] | None]], null: float = 0.0) -> list[Strip]:
    """Place estimates and intervals on one common scale that contains the value of no difference.

    Examples
    --------
    >>> strips([(1.0, (0.0, 2.0))])
    [Strip(zero=4.0, estimate=50.0, low=4.0, high=96.0)]
    """
    known = [null]
    for estimate, interval in values:
        known += [*([] if estimate is None else [estimate]), *(interval or ())]
    least, most = min(known), max(known)
    width = (most - least) or 1.0

    def place(value: float | None) -> Any:
        return None if value is None else round(4 + 92 * ((value - least) / width if most > least else 0.5), 2)

    return [Strip(place(null), place(estimate), *map(place, interval or (None, None))) for estimate, interval in values]


class Tick(NamedTuple):
    """A mark of an axis."""

    place: float
    text: str


class CurveChart(NamedTuple):
    """The curve: what both runs found by each rank, and below it their difference with its band."""

    height: int
    baseline: str  # paths
    contender: str
    difference: str
    band: str
    ranks: tuple[Tick, ...]
    shares: tuple[Tick, ...]
    points: tuple[Tick, ...]
    zero: float


def curve_chart(curve: Curve) -> CurveChart:
    """Draw the curve on a logarithmic axis of ranks."""
    last = curve.ranks[-1]
    end = 1.08 * last  # the last step gets a width too
    drawn = _drawn_ranks(last)

    def across(rank: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log(rank) / math.log(end) if end > 1 else 0.0)

    most = max(*curve.baseline, *curve.contender, 1e-9)
    shares = [100 * share for share in _ticks(0.0, most)]
    top = max(shares[-1] / 100, most)

    def up(share: float) -> float:
        return TOP + UPPER * (1 - share / top)

    least, greatest = min(*curve.low, 0.0), max(*curve.high, 0.0)
    points = _ticks(least, greatest)
    least, greatest = min(least, points[0]), max(greatest, points[-1])
    floor = TOP + UPPER + GAP

    def beside(difference: float) -> float:
        return floor + LOWER * (1 - (difference - least) / ((greatest - least) or 1.0))

    places = [across(rank) for rank in drawn] + [across(end)]
    gained = [contender - baseline for baseline, contender in zip(curve.baseline, curve.contender, strict=True)]
    band = _steps(places, [beside(curve.high[rank - 1]) for rank in drawn])
    under = _steps(places, [beside(curve.low[rank - 1]) for rank in drawn])
    return CurveChart(
        height=floor + LOWER + 36,
        baseline=_path(_steps(places, [up(curve.baseline[rank - 1]) for rank in drawn])),
        contender=_path(_steps(places, [up(curve.contender[rank - 1]) for rank in drawn])),
        difference=_path(_steps(places, [beside(gained[rank - 1]) for rank in drawn])),
        band=f"{_path([*band, *reversed(under)])}Z",
        ranks=tuple(Tick(round(across(tick), 1), f"{tick:,}") for tick in RANK_TICKS if tick <= last),
        shares=tuple(Tick(round(up(share / 100), 1), f"{share:g}") for share in shares),
        points=tuple(Tick(round(beside(point), 1), f"{100 * point:+.3g}" if round(point, 12) else "0") for point in points),
        zero=round(beside(0.0), 1),
    )


def _drawn_ranks(last: int) -> list[int]:
    """Choose the ranks at which steps are drawn: all of the first, then so many that steps are finer than a pixel or two."""
    ranks = {round(1.02**step) for step in range(int(math.log(last) / math.log(1.02)) + 1)} if last > 1 else set()
    return sorted(ranks | {1, last} | set(range(1, min(last, 50) + 1)))


def _steps(places: Sequence[float], heights: Sequence[float]) -> list[tuple[float, float]]:
    corners = []
    for place, following, height in zip(places, places[1:], heights, strict=False):
        corners += [(place, height), (following, height)]
    return corners


def _path(corners: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)


def _ticks(least: float, most: float) -> list[float]:
    """Choose about four round numbers that cover a range.

    Examples
    --------
    >>> _ticks(0.0, 0.93)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    width = (most - least) or 1.0
    size = 10 ** math.floor(math.log10(width / 4))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor * 4 >= width * 0.9)
    first, last = math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9)
    return [round(number * step, 12) + 0.0 for number in range(first, last + 1)]


class Point(NamedTuple):
    """A point of the scatter, and the search lengths of its queries."""

    x: float
    y: float
    radius: float
    baseline: float
    contender: float
    number: int


class Scatter(NamedTuple):
    """Search length against search length on logarithmic axes."""

    height: int
    points: tuple[Point, ...]
    ticks: tuple[tuple[float, float, str], ...]  # place across, place down, rank


def scatter(comparison: Comparison) -> Scatter | None:
    """Place the queries on which both runs found something; None where there are none, or no ranks were compared."""
    pairs = Counter(
        (query.baseline, query.contender)
        for query in comparison.queries or ()
        if query.difference is not None and query.baseline is not None and query.contender is not None
    )
    if not pairs or comparison.ranking.measured_in != "ranks":
        return None
    end = 1.25 * max(2.0, *(length for pair in pairs for length in pair))
    size = WIDTH - LEFT - RIGHT

    def place(length: float) -> float:
        return size * math.log(length / 0.8) / math.log(end / 0.8)

    points = (
        Point(
            round(LEFT + place(baseline), 1),
            round(TOP + size - place(contender), 1),
            round(min(14.0, 1.7 + 0.75 * number**0.5), 1),
            baseline,
            contender,
            number,
        )
        for (baseline, contender), number in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
    )
    ticks = tuple(
        (round(LEFT + place(tick), 1), round(TOP + size - place(tick), 1), f"{tick:,}") for tick in RANK_TICKS if tick < end
    )
    return Scatter(TOP + size + 40, tuple(points), ticks)
