"""What the charts of the page and the figures show, prepared once: gains, so that right or up is always better."""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, Literal, NamedTuple

from ir_outcomes.across.result import Condition, ConditionsComparison, Curve, Overall
from ir_outcomes.comparison.facets import AllQueries, Facet, MeasureMeans
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.formatting import fixed, interval, places_of, pvalue, short_unit
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.pages.content import TOO_FEW, sections_of
from ir_outcomes.results import Result
from ir_outcomes.types import DOCUMENTS_ABOVE

OUTCOMES = ("won", "both", "neither", "lost")  # the order of every picture
_RATIO_TICKS = (
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.3,
    0.5,
    0.7,
    0.8,
    0.9,
    1,
    1.1,
    1.25,
    1.5,
    2,
    3,
    5,
    10,
    20,
    50,
    100,
)
_SHARE_EDGES = (1, 2, 5, 10, 20, 50)  # points
_FINDINGS = {"better": "better", "worse": "worse", "none": ""}
_MINUS = "\N{MINUS SIGN}"
_AT_LEAST = "\N{GREATER-THAN OR EQUAL TO}"
_Bounds = tuple[float, float] | None
_Effect = tuple[float | None, _Bounds]
_NONE: _Effect = (None, None)


class Estimate(NamedTuple):
    """A gain with its interval, positive where the contender is better; both as text in their own unit; what is found."""

    gain: float | None
    low: float | None
    high: float | None
    text: str
    interval: str
    tone: str = "same"


class Axis(NamedTuple):
    """Range of an axis, and its ticks: places and texts."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def percent(self, value: float) -> float:
        """Return where a value is, in percent of the axis."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)


class Row(NamedTuple):
    """A row of a forest plot; a summary belongs to no section of the page."""

    name: str
    label: str
    estimates: Sequence[Estimate]
    section: int | None = None
    kind: Literal["condition", "these", "new"] = "condition"
    contender: str = ""
    margins: Sequence[float] = ()  # the largest tolerable harm, as gains; of a gate


class Forest(NamedTuple):
    """Estimates with intervals: what the rows are, a title and an axis for each panel, and the rows."""

    what: str
    panels: Sequence[tuple[str, Axis]]
    rows: Sequence[Row]


class Changes(NamedTuple):
    """Bins of a histogram from lost to won, their styles, the bin of each query (-1 where neither answered), what changes."""

    names: tuple[str, ...]
    tones: tuple[str, ...]
    bins: tuple[int, ...]
    what: str
    by_share: bool

    def counts(self) -> list[int]:
        """Return the number of queries in each bin."""
        found = Counter(self.bins)
        return [found[place] for place in range(len(self.names))]


def facets_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Return what the page shows of both facets, and of the check on all queries where it is known."""
    by_query = comparison.unit == "query"
    cutoff = comparison.cutoff
    ranking = comparison.ranking
    whole = comparison.restricted
    found = "queries answered" if by_query else "relevant documents found"
    if cutoff:
        found += f" within rank {cutoff if whole is None else min(cutoff, whole.horizon):,}"
    length = "rank of the first answer"
    if not by_query:
        length = f"{DOCUMENTS_ABOVE} a relevant one, plus 1"
    what = f"{length}, where both {'answer' if by_query else 'found it'}"
    if not comparison.in_lengths:
        what = f"mean {ranking.measured_in} where both are above 0"
    facets = ((comparison.coverage, found), (ranking, what))
    rows = [_facet_row(facet, explanation, comparison) for facet, explanation in facets]
    if whole is not None:
        missing = "where none" if by_query else "where not found"
        rows.append(_facet_row(whole, f"{length}, {whole.horizon + 1:,} {missing}", comparison))
    explanation = "mean over all queries, by t; the label does not depend on it"
    rows += [_facet_row(means, explanation, comparison) for means in comparison.measures]
    return rows


_TEST_WORDS = {"corrected": "", "wilcoxon": " by Wilcoxon", "t": " by t", "signflip": ""}


def _facet_row(
    part: Facet | AllQueries | MeasureMeans, explanation: str, comparison: Comparison
) -> dict[str, Any]:
    own, test = comparison.shown_test(part)
    unit, percent = (
        ("points", " %") if part.measured_in == "percentage points" else (part.measured_in, "")
    )
    estimate = change_of(part)._replace(tone=found_tone(part))
    means = {
        run: fixed(mean, places_of(part.measured_in)) + percent * (mean is not None)
        for run, mean in (("baseline", part.baseline), ("contender", part.contender))
    }
    name = part.name.capitalize()
    if isinstance(part, MeasureMeans):
        name = part.measure
        unit = ""
    words = _TEST_WORDS.get(test, "") if test != part.decides.name else ""
    return {
        "name": name,
        "explanation": explanation,
        "unit": unit,
        **means,
        "finding": _FINDINGS[part.found],
        "pvalue": f"{pvalue(own, comparison.alpha)}{words}",
        "estimate": estimate,
    }


def found_tone(part: Facet | AllQueries | MeasureMeans) -> str:
    """Return the style of what was found: "better", "worse" or "same"."""
    return "same" if part.found == "none" else part.found


def gain_sign(measured: Any) -> int:
    """Return what turns a difference into a gain: -1 where lower is better."""
    return 1 if measured.higher_is_better else -1


def change_of(facet: Facet | AllQueries | MeasureMeans) -> Estimate:
    """Return the difference of a facet as a gain."""
    return estimate_of(
        facet.difference, facet.interval, gain_sign(facet), places_of(facet.measured_in)
    )


def estimate_of(
    value: float | None, bounds: _Bounds, sign: int, places: int, *, signed: bool = True
) -> Estimate:
    """Return a difference and its interval as a gain."""
    low, high = sorted(sign * bound for bound in bounds) if bounds is not None else (None, None)
    text = fixed(value, places, signed=signed)
    range_ = interval(bounds, places, signed=signed) if bounds else ""
    return Estimate(
        None if value is None else sign * value,
        low,
        high,
        *(part.replace("-", _MINUS) for part in (text, range_)),
    )


def axis_of(
    estimates: Iterable[Estimate], sign: int, *, ratio: bool = False, null: bool = True
) -> Axis:
    """Return an axis that holds all of these with some space, no difference included; its ticks are in their own unit."""
    known = [value for estimate in estimates for value in estimate[:3] if value is not None] + (
        [0.0] if null else []
    )
    least = min(known, default=0.0)
    most = max(known, default=1.0)
    margin = 0.06 * (most - least) or 0.5
    least -= margin
    most += margin
    if ratio:  # gains are negative logarithms of ratios
        shown = [
            (-math.log(tick), f"{tick:g}")
            for tick in _RATIO_TICKS
            if least <= -math.log(tick) <= most
        ]
        while len(shown) > 5:
            keep = next((place for place, tick in enumerate(shown) if tick[1] == "1"), 0) % 2
            shown = shown[keep::2]
        return Axis(least, most, tuple(shown))
    native = [sign * tick for tick in round_numbers(least, most) if least <= tick <= most]
    texts = [
        f"{value:+.4g}".replace("-", _MINUS) if value and null else f"{abs(value):.4g}"
        for value in native
    ]
    return Axis(
        least, most, tuple((sign * value, text) for value, text in zip(native, texts, strict=True))
    )


def round_numbers(least: float, most: float) -> list[float]:
    """Choose about four round numbers that cover a range."""
    width = (most - least) or 1.0
    size = 10 ** math.floor(math.log10(width / 4))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor * 4 >= width * 0.9)
    first = math.floor(least / step + 1e-9)
    last = math.ceil(most / step - 1e-9)
    return [round(number * step, 12) + 0.0 for number in range(first, last + 1)]


def forest_of(result: Result) -> Forest | None:
    """Return the forest plot of a result; None where it has none."""
    match result:
        case Comparisons():
            return _of_contenders(result) if result.items else None
        case ConditionsComparison():
            return _of_conditions(result) if result.conditions else None
        case Leaderboard():
            return tiers_of(result)
    return None


def _of_contenders(result: Comparisons) -> Forest:
    """Return the differences of each contender, the best first."""
    has_one_baseline = len({item.baseline for item in result}) == 1
    rows = []
    for number, section in enumerate(sections_of(result)):
        item = section.comparison
        name = item.contender if has_one_baseline else section.title
        rows.append(Row(name, section.label, [_found(item.coverage), _found(item.ranking)], number))
    rows.sort(key=lambda row: (LABELS.index(row.label), -(row.estimates[0].gain or 0)))
    ranking = result[0].ranking
    return _with_axes(
        "run",
        ("coverage, points", f"ranking, {ranking.measured_in}"),
        (1, gain_sign(ranking)),
        rows,
    )


def _found(facet: Facet) -> Estimate:
    return change_of(facet)._replace(tone=found_tone(facet))


def _of_conditions(result: ConditionsComparison) -> Forest:
    """Return the effects under each condition and their means; ranking as ranks, drawn and pooled as a ratio."""
    measures = result.overall[0].pooled[2:] if result.overall else ()
    signs = (1, -1, *map(gain_sign, measures))
    rows = [_condition_row(number, row, signs) for number, row in enumerate(result.conditions)]
    for overall in result.overall:
        own = [place for place, row in enumerate(rows) if row.contender == overall.contender]
        rows[own[-1] + 1 : own[-1] + 1] = _mean_rows(overall, signs)
    if len(result.contenders) > 1:
        rows = [row._replace(name=f"{row.contender}, {row.name}") for row in rows]
    titles = (
        "coverage, points",
        "ranking, search length B / A",
        *(f"{measure.name}, difference" for measure in measures),
    )
    return _with_axes(result.what, titles, signs, rows)


def _condition_row(number: int, row: Condition, signs: Sequence[int]) -> Row:
    shown = [
        (own.effect, own.interval) if own else _NONE
        for own in (row.coverage, row.ranking, *row.measures)
    ]
    drawn = _drawn(shown, signs)
    comparison = row.comparison
    ranks = fixed(comparison.ranking.difference, 2, signed=True).replace("-", _MINUS)
    drawn[1] = drawn[1]._replace(
        text=f"{ranks} {short_unit(comparison.ranking.measured_in)}, B / A {drawn[1].text}"
    )
    for place, facet in enumerate((comparison.coverage, comparison.ranking)):
        # The ratio has an interval of its own.
        if not row.labelled or drawn[place].tone != found_tone(facet):
            drawn[place] = drawn[place]._replace(tone="same")
    return Row(row.condition, row.label or TOO_FEW, drawn, number, contender=comparison.contender)


def _mean_rows(overall: Overall, signs: Sequence[int]) -> Iterator[Row]:
    """Return a row for the means of these conditions, and one for a new one, if something is known of it."""
    means = [
        (own.these.effect, own.these.interval) if own.these else _NONE for own in overall.pooled
    ]
    yield Row(
        "these, mean",
        overall.label or "",
        _drawn(means, signs),
        kind="these",
        contender=overall.contender,
    )
    news = [(own.new.effect, own.new.prediction) if own.new else _NONE for own in overall.pooled]
    if any(effect is not None for effect, _ in news):
        yield Row(
            "a new one",
            overall.outlook,
            _drawn(news, signs),
            kind="new",
            contender=overall.contender,
        )


def _drawn(effects: Sequence[_Effect], signs: Sequence[int]) -> list[Estimate]:
    """Return coverage, ranking and measures as gains; that of ranking is a logarithm, which is written as a ratio."""
    drawn = []
    for place, ((effect, bounds), sign) in enumerate(zip(effects, signs, strict=True)):
        own = estimate_of(effect, bounds, sign, 2 if place < 2 else 3)
        if place == 1 and effect is not None:
            ratio, *ends = (fixed(math.exp(value), 2) for value in (effect, *(bounds or ())))
            own = own._replace(text=ratio, interval=f"[{', '.join(ends)}]" if ends else "")
        beyond_zero = max(own.low or 0, 0) + min(own.high or 0, 0)
        drawn.append(own._replace(tone=tone_of(beyond_zero)))
    return drawn


def tiers_of(result: Leaderboard) -> Forest:
    """Return the means of the runs, their tiers as labels."""
    sign = gain_sign(result)
    rows = []
    for own in result.standings:
        estimate = estimate_of(own.score, own.interval, sign, 4, signed=False)
        rows.append(Row(own.run, f"tier {own.tier}" if own.tier else "", [estimate]))
    axis = axis_of([row.estimates[0] for row in rows], sign, null=False)
    return Forest("run", [(f"mean {result.measure}", axis)], rows)


def _with_axes(
    what: str, titles: Sequence[str], signs: Sequence[int], rows: Sequence[Row]
) -> Forest:
    axes = [
        axis_of([row.estimates[place] for row in rows], sign, ratio=title.endswith("B / A"))
        for place, (title, sign) in enumerate(zip(titles, signs, strict=True))
    ]
    return Forest(what, list(zip(titles, axes, strict=True)), rows)


def gains_of(comparison: Comparison) -> list[float | None]:
    """Return the gain of each query on what both found; None where there is nothing in common."""
    sign = gain_sign(comparison.ranking)
    return [
        None if query.difference is None else sign * query.difference
        for query in comparison.per_query()
    ]


def changes_of(comparison: Comparison) -> Changes:
    """Sort the queries into bins from lost to won: by ranks, or by the share found, where that changes for most of them."""
    queries = comparison.per_query()
    shares = [round(100 * (query.found_contender - query.found_baseline), 6) for query in queries]
    by_share = 2 * sum(map(bool, shares)) > len(shares) and any(share % 100 for share in shares)
    if by_share:
        what = "share of the relevant documents found, points"
        place = bisect_left(_SHARE_EDGES, median(abs(share) for share in shares if share))
        # The edges lie about the usual change.
        edges: Sequence[float] = _SHARE_EDGES[max(place - 1, 0) : place + 2]
        names = [
            f"<{edges[0]}",
            *(f"{low}\N{EN DASH}{high}" for low, high in pairwise(edges)),
            f"{_AT_LEAST}{edges[-1]}",
        ]
        down = ["more above", *(f"{name} fewer" for name in names)]
        up = [
            "fewer above",
            *(f"{name} more" for name in names),
        ]
    else:
        what, names, edges = _bins_of_ranking(comparison)
        down = [*(f"{name} down" for name in names), "lost"]
        up = [
            *(f"{name} up" for name in names),
            "won",
        ]

    def step(share: float, gain: float | None) -> float:
        """Return the number of bins to the one of no change, negative for a loss."""
        if share and not by_share:
            return math.copysign(len(up), share)
        if share:
            return math.copysign(1 + bisect_right([0, *edges], abs(share)), share)
        if not gain:
            return 0
        limits = [] if by_share else edges
        return math.copysign(1 + bisect_right(limits, abs(gain)), gain)

    steps = [
        int(step(share, gain)) for share, gain in zip(shares, gains_of(comparison), strict=True)
    ]
    bins = [
        -1 if query.outcome == "neither" else len(down) + step
        for query, step in zip(queries, steps, strict=True)
    ]
    tones = (*["worse"] * len(down), "same", *["better"] * len(up))
    return Changes((*reversed(down), "same", *up), tones, tuple(bins), what, by_share)


def _bins_of_ranking(comparison: Comparison) -> tuple[str, list[str], list[float]]:
    """Return what changes, the names of the bins on one side, and the edges between these."""
    if not comparison.in_lengths:
        return comparison.ranking.measured_in, ["<0.1", "0.1\N{EN DASH}0.3", ">0.3"], [0.1, 0.3]
    # No bin is beyond the cutoff.
    last = comparison.restricted.horizon if comparison.restricted else 11
    edges = [edge for edge in (1, 2, 10, 100, 1000) if edge < last] or [1]
    names = [
        f"{low}" if high == low + 1 else f"{low}\N{EN DASH}{high - 1}"
        for low, high in pairwise(edges)
    ]
    if names and any((gain or 0) % 1 for gain in gains_of(comparison)):
        names[0] = "<2"  # search lengths of several documents are averages
    return (
        f"search length, {comparison.ranking.measured_in}",
        [*names, f"{_AT_LEAST}{edges[-1]}"],
        [float(edge) for edge in edges[1:]],
    )


def outcomes_of(comparison: Comparison) -> list[tuple[str, int, float]]:
    """Return number and share of each outcome: won, both, neither, lost."""
    shares = comparison.outcomes.shares
    return [
        (name, getattr(comparison.outcomes, name), float(getattr(shares, name, 0.0)))
        for name in OUTCOMES
    ]


def curve_lines(curve: Curve) -> tuple[list[float], dict[str, list[float]]]:
    """Return ranks so dense that steps are finer than a pixel or two, and at each the percentages found and their band."""
    last = curve.ranks[-1]
    chosen = {1, last, *range(1, min(last, 50) + 1)}
    if last > 1:
        steps = int(math.log(last) / math.log(1.02)) + 1
        chosen.update(round(1.02**step) for step in range(steps))
    ranks = sorted(chosen)
    shown = [*ranks, last]  # the last step gets a width too
    lines = {
        name: [100 * getattr(curve, name)[rank - 1] for rank in shown]
        for name in ("baseline", "contender", "low", "high")
    }
    lines["difference"] = [
        own - base for base, own in zip(lines["baseline"], lines["contender"], strict=True)
    ]
    return [*ranks, 1.08 * last], lines


def pairs_of(comparison: Comparison) -> list[tuple[float, float, int, str]]:
    """Return the pairs of search lengths where both runs found something, how many queries have each, and its tone."""
    found = Counter(
        (query.baseline, query.contender)
        for query in comparison.per_query()
        if query.difference is not None
        and query.baseline is not None
        and query.contender is not None
    )
    return [
        (base, own, number, tone_of(gain_sign(comparison.ranking) * (own - base)))
        for (base, own), number in found.items()
    ]


def tone_of(gain: float | None) -> str:
    """Return the style of a gain."""
    change = gain or 0
    if change > 0:
        return "better"
    return "worse" if change < 0 else "same"
