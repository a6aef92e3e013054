"""What an audit of judges says, recomputed from the runs by hand, in both units."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.statistics.intervals import effective_df
from tests.comparison.test_sentences import ALPHA, N, made_up, matched, shows, sign
from tests.helpers.by_hand import FEW, Pair, flipped
from tests.helpers.literal import Qrels

K = 20
WORDS = {
    ("coverage", "query"): "percentage points",
    ("coverage", "document"): "percentage points",
    ("all queries", "query"): "ranks",
    ("all queries", "document"): "irrelevant documents above",
}


def changes(pair: Pair, facet: str) -> dict[str, Fraction]:
    """Return the difference of each query, 0 where it is unanswerable."""
    rows = pair.found if facet == "coverage" else pair.restricted
    scale = 100 if facet == "coverage" else 1
    own = {query: scale * (b - a) for query, (a, b) in rows.items()}
    return {query: own.get(query, Fraction(0)) for query in pair.qrels}


def center_and_error(values: np.ndarray, largest: float, step: float) -> tuple[float, float, float]:
    """Return mean, squared error and degrees of freedom with two more values of this weight, at both largest ones."""
    n = len(values)
    size = n + 2 * step
    center = values.sum() / size
    spread = (np.square(values).sum() + 2 * step * step * largest**2) / size - center**2
    df = step * (n - 1) + (1 - step) * effective_df(values)
    return float(center), float(spread * (1 + (1 - step) / (n - 1)) / size), df


def ends(center: float, squared: float, df: float, most: float) -> tuple[float, float]:
    half = float(scipy.stats.t.ppf(1 - ALPHA / 2, df)) * math.sqrt(squared)
    return max(center - half, -most), min(center + half, most)


def pvalue_of(values: list[Fraction]) -> float:
    differing = tuple(value for value in values if value)
    if len(differing) < FEW:
        return flipped(differing)
    return float(scipy.stats.ttest_1samp([float(value) for value in values], 0).pvalue)


def shows_interval(text: str, low: float, high: float) -> None:
    for end, own in zip(matched(r"\[(\S+), (\S+)\]", text).groups(), (low, high), strict=True):
        assert shows(end.lstrip("+-"), abs(own))
        assert not float(end) or sign(float(end)) == sign(own)


def check(text: str, by_judge: Pair, by_people: Pair, facet: str) -> str:
    """Check the sentence on a facet, and return its answer."""
    unit = by_judge.unit
    said = matched(
        rf"B, {facet}: model finds ([+-]{N}) (.*), corrected by (\d+) queries of people it is"
        rf" ([+-]{N}) (\[.*?\]); (.*)\.",
        text,
    )
    claim, words, labeled, corrected, interval, answer = said.groups()
    of_people = changes(by_people, facet)
    of_judge = changes(by_judge, facet)
    y = np.array([float(change) for change in of_people.values()])
    f = np.array([float(of_judge[query]) for query in of_people])
    rest = np.array([float(own) for query, own in of_judge.items() if query not in of_people])
    every = np.concatenate([f, rest])
    assert shows(claim[1:], abs(every.mean()))
    assert words == WORDS[facet, unit]
    assert int(labeled) == len(y)
    most = 100.0 if facet == "coverage" else float(K)
    step = 1.0
    if unit == "document":
        step = float(np.mean([1 / len(by_people.golds(query)) for query in by_people.queries]))
    weight = 0.0
    if len(rest):
        best = np.cov(y, f)[0, 1] / ((1 + len(y) / len(rest)) * every.var(ddof=1))
        weight = min(1.0, max(0.0, float(best)))
    rectified = y - weight * f
    center, squared, df = center_and_error(rectified, (1 + weight) * most, step)
    mean = float(rectified.mean())
    if weight:
        mean += weight * float(rest.mean())
        center += weight * float(rest.mean())
        squared += weight**2 * float(every.var(ddof=1)) / len(rest)
    assert shows(corrected[1:], abs(mean))
    low, high = ends(center, squared, df, most)
    shows_interval(interval, low, high)
    bias = [of_people[query] - of_judge[query] for query in of_people]
    p = pvalue_of(bias)
    if p <= ALPHA:
        wrong = matched(
            rf"model is wrong about the difference, on the labeled queries by ([+-]{N}) (\[.*?\])"
            rf" \((the interval includes zero, but the test, )?p = ({N})(, decides)?\)",
            answer,
        )
        own = np.array([float(change) for change in bias])
        of_bias = ends(*center_and_error(own, 2 * most, step), 2 * most)
        assert shows(wrong[1][1:], abs(own.mean()))
        shows_interval(wrong[2], *of_bias)
        assert (wrong[3] is not None) is (of_bias[0] <= 0 <= of_bias[1])
        assert shows(wrong[4], p, within=1e-6)
        return "wrong"
    if sign(low) == sign(high) == sign(float(every.mean())):
        assert answer == "the finding of model holds by people"
        return "holds"
    unsure = matched(
        r"whether it holds cannot be told with (\d+) labeled queries"
        r"(?:; if it is true, about (\d+) would show it(, more than there are)?)?",
        answer,
    )
    assert int(unsure[1]) == len(y)
    if unsure[2] is None:
        return "cannot be told"
    size = int(unsure[2])
    assert size > len(y)
    assert (unsure[3] is not None) is (size > len(every))
    # Among so many labels, and two imaginary ones, a t test finds what the judge finds.
    imagined = (1 + weight) * most * step * math.sqrt((len(y) + 2) / (size + 2))
    deviation = float(np.append(rectified, [imagined, -imagined]).std(ddof=1))
    shift = abs(float(every.mean())) / deviation * math.sqrt(size)
    critical = float(scipy.stats.t.isf(ALPHA / 2, size - 1))
    assert scipy.stats.nct.sf(critical, size - 1, shift) == pytest.approx(0.8, abs=0.05)
    return "so many would"


@pytest.mark.parametrize("unit", ["query", "document"])
def test_audits(unit: Any) -> None:
    seen = Counter[str]()
    for seed in range(8):
        qrels, a, b = made_up(seed, 120, 1 if unit == "query" else 4)
        rng = np.random.default_rng(seed)
        for query in [*qrels][:90] if seed % 4 == 1 else []:  # B is much better
            golds = [document for document, grade in qrels[query].items() if grade]
            b[query] = b.get(query, {}) | dict.fromkeys(golds, 999.0)
        model: Qrels = {}
        for query, judged in qrels.items():
            top = [*a.get(query, {}), *judged][0]
            errs = rng.random() < (0.6 if seed % 4 == 3 else 0.04)
            model[query] = {top: 1} if errs else dict(judged)
        runs = {"A": a, "B": b}
        judge = iro.evaluate(model, runs, cutoff=K, unit=unit)
        some = iro.to_label(judge, (120, 40)[seed // 4], seed=seed)
        people = {query: qrels[query] for query in some}
        judges = {"people": iro.evaluate(people, runs, cutoff=K, unit=unit), "model": judge}
        result = iro.compare_judges(judges, "A", reference="people")
        pairs = Pair(model, a, b, K, unit), Pair(people, a, b, K, unit)
        _, coverage, whole = result.sentences
        seen[check(coverage, *pairs, "coverage")] += 1
        seen[check(whole, *pairs, "all queries")] += 1
    assert set(seen) >= {"wrong", "holds", "so many would"}, seen
