"""What the charts of the page and the figures show, prepared once: gains, so that right or up is always better."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from ir_outcomes.across.conditions import written
from ir_outcomes.across.result import Condition, ConditionsComparison, Curve, Overall
from ir_outcomes.comparison.facets import AllQueries, Facet, MeasureMeans, known_p
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.formatting import fixed, interval, places_of, pvalue, short_unit
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.results import Result
from ir_outcomes.showing.sections import TOO_FEW, sections_of
from ir_outcomes.types import DOCUMENTS_ABOVE, POINTS

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
_MINUS = "\N{MINUS SIGN}"
_Bounds = tuple[float, float] | None


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


def facets_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Return what the page shows of both facets, and of the check on all queries where it is known."""
    by_query = comparison.unit == "query"
    cutoff = comparison.cutoff
    ranking = comparison.ranking
    whole = comparison.restricted
    found = "relevant documents found"
    length = f"{DOCUMENTS_ABOVE} a relevant one, plus 1"
    what = f"{length}, where both found it"
    missing = "where not found"
    if by_query:
        found = "queries answered"
        length = "rank of the first answer"
        what = f"{length}, where both answer"
        missing = "where none"
    if cutoff and whole is not None:
        cutoff = min(cutoff, whole.horizon)
    if cutoff:
        found += f" within rank {cutoff:,}"
    if not comparison.in_lengths:
        what = f"mean {ranking.measured_in} where both are above 0"
    facets = ((comparison.coverage, found), (ranking, what))
    rows = [_facet_row(facet, explanation, comparison) for facet, explanation in facets]
    if whole is not None:
        rows.append(_facet_row(whole, f"{length}, {whole.horizon + 1:,} {missing}", comparison))
    explanation = "mean over all queries, by t; the label does not depend on it"
    rows += [_facet_row(means, explanation, comparison) for means in comparison.measures]
    return rows


_TEST_WORDS = {"wilcoxon": " by Wilcoxon", "t": " by t"}


def _facet_row(
    part: Facet | AllQueries | MeasureMeans, explanation: str, comparison: Comparison
) -> dict[str, Any]:
    own, test = comparison.shown_test(part)
    estimate = change_of(part)
    unit = part.measured_in
    places = places_of(unit)
    name = part.name.capitalize()
    percent = ""
    if isinstance(part, MeasureMeans):
        name = part.measure
        unit = ""
    elif unit == POINTS:
        unit = "points"
        percent = " %"
    words = ""
    if test != part.decides.name:
        words = _TEST_WORDS.get(test, "")
    return {
        "name": name,
        "explanation": explanation,
        "unit": unit,
        "baseline": f"{fixed(part.baseline, places)}{percent}",
        "contender": f"{fixed(part.contender, places)}{percent}",
        "finding": "" if part.found == "none" else part.found,
        "pvalue": f"{pvalue(known_p(part.difference, own), comparison.alpha)}{words}",
        "estimate": estimate,
    }


def found_tone(part: Facet | AllQueries | MeasureMeans) -> str:
    """Return the style of what was found: "better", "worse" or "same"."""
    return "same" if part.found == "none" else part.found


def gain_sign(measured: Any) -> int:
    """Return what turns a difference into a gain: -1 where lower is better."""
    return 1 if measured.higher_is_better else -1


def change_of(part: Facet | AllQueries | MeasureMeans) -> Estimate:
    """Return the difference of a part as a gain, in the style of what was found."""
    places = places_of(part.measured_in)
    estimate = estimate_of(part.difference, part.interval, gain_sign(part), places)
    return estimate._replace(tone=found_tone(part))


def estimate_of(
    value: float | None, bounds: _Bounds, sign: int, places: int, *, signed: bool = True
) -> Estimate:
    """Return a difference and its interval as a gain."""
    gain = None if value is None else sign * value
    text = fixed(value, places, signed=signed).replace("-", _MINUS)
    if bounds is None:
        return Estimate(gain, None, None, text, "")
    low, high = sorted(sign * bound for bound in bounds)
    range_ = interval(bounds, places, signed=signed).replace("-", _MINUS)
    return Estimate(gain, low, high, text, range_)


def axis_of(
    estimates: Iterable[Estimate], sign: int, *, ratio: bool = False, null: bool = True
) -> Axis:
    """Return an axis that holds all of these with some space, no difference included; its ticks are in their own unit."""
    values = [0.0 if null else None]
    for estimate in estimates:
        values += [estimate.gain, estimate.low, estimate.high]
    known = [value for value in values if value is not None]
    least = min(known, default=0.0)
    most = max(known, default=1.0)
    margin = 0.06 * (most - least) or 0.5
    least -= margin
    most += margin
    if ratio:  # gains are negative logarithms of ratios
        shown = [tick for tick in _RATIO_TICKS if least <= -math.log(tick) <= most]
        while len(shown) > 5:
            first = shown.index(1) % 2 if 1 in shown else 0  # 1 stays
            shown = shown[first::2]
        return Axis(least, most, tuple((-math.log(tick), f"{tick:g}") for tick in shown))
    ticks = []
    for gain in round_numbers(least, most):
        if least <= gain <= most:
            text = f"{sign * gain:+.4g}".replace("-", _MINUS)
            if not null or not gain:
                text = f"{abs(gain):.4g}"
            ticks.append((gain, text))
    return Axis(least, most, tuple(ticks))


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
        estimates = [change_of(item.coverage), change_of(item.ranking)]
        rows.append(Row(name, section.label, estimates, number))
    rows.sort(key=lambda row: (LABELS.index(row.label), -(row.estimates[0].gain or 0)))
    ranking = result[0].ranking
    return _with_axes(
        "run",
        ("coverage, points", f"ranking, {ranking.measured_in}"),
        (1, gain_sign(ranking)),
        rows,
    )


def _of_conditions(result: ConditionsComparison) -> Forest:
    """Return the effects under each condition and their means; ranking as ranks, drawn and pooled as a ratio."""
    measures = result.conditions[0].comparison.measures
    titles = ["coverage, points", "ranking, search length B / A"]
    titles += [f"{means.measure}, difference" for means in measures]
    signs = [1, -1, *map(gain_sign, measures)]
    rows = []
    for contender in result.contenders:
        for number, row in enumerate(result.conditions):
            if row.comparison.contender == contender:
                rows.append(_condition_row(number, row, signs))
        for overall in result.overall:
            if overall.contender == contender:
                rows += _mean_rows(overall)
    if len(result.contenders) > 1:
        rows = [row._replace(name=f"{row.contender}, {row.name}") for row in rows]
    return _with_axes(result.what, titles, signs, rows)


def _condition_row(number: int, row: Condition, signs: Sequence[int]) -> Row:
    comparison = row.comparison
    effects = (row.coverage, row.ranking, *row.measures)
    gains = []
    for place, (own, sign) in enumerate(zip(effects, signs, strict=True)):
        gains.append(_gain_of(own.effect, own.interval, sign, place) if own else _NOTHING)
    coverage, ranking, *measures = gains
    ranks = fixed(comparison.ranking.difference, 2, signed=True).replace("-", _MINUS)
    unit = short_unit(comparison.ranking.measured_in)
    ranking = ranking._replace(text=f"{ranks} {unit}, B / A {ranking.text}")
    # The ratio has an interval of its own.
    if not row.labelled or coverage.tone != found_tone(comparison.coverage):
        coverage = coverage._replace(tone="same")
    if not row.labelled or ranking.tone != found_tone(comparison.ranking):
        ranking = ranking._replace(tone="same")
    return Row(
        row.condition,
        row.label or TOO_FEW,
        [coverage, ranking, *measures],
        number,
        contender=comparison.contender,
    )


def _mean_rows(overall: Overall) -> Iterator[Row]:
    """Return a row for the means of these conditions, and one for a new one, if something is known of it."""
    these = []
    news = []
    for place, own in enumerate(overall.pooled):
        sign = gain_sign(own)
        mean = own.these
        new = own.new
        these.append(_gain_of(mean.effect, mean.interval, sign, place) if mean else _NOTHING)
        news.append(_gain_of(new.effect, new.prediction, sign, place) if new else _NOTHING)
    label = overall.label or ""
    yield Row("these, mean", label, these, kind="these", contender=overall.contender)
    if any(estimate.gain is not None for estimate in news):
        yield Row("a new one", overall.outlook, news, kind="new", contender=overall.contender)


_NOTHING = Estimate(None, None, None, _MINUS, "")


def _gain_of(effect: float, bounds: _Bounds, sign: int, place: int) -> Estimate:
    """Return the effect on coverage, ranking or a measure as a gain; the logarithm of a ratio is written as the ratio."""
    gain = estimate_of(effect, bounds, sign, 2 if place < 2 else 3)
    if place == 1:
        text, _, range_ = written("ranking", effect, bounds).partition(" ")
        gain = gain._replace(text=text, interval=range_)
    beyond_zero = max(gain.low or 0, 0) + min(gain.high or 0, 0)
    return gain._replace(tone=tone_of(beyond_zero))


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
