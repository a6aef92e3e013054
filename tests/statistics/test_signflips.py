"""Sign-flip p-values: exact where they say so, within 1 % elsewhere, and never stopped by a smallest value."""

import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.statistics import differences, sign_flip, signflips
from ir_outcomes.statistics.signflips import _far_from, saddlepoint_pvalues, subset_sums
from ir_outcomes.statistics.tests import Samples
from ir_outcomes.types import Floats
from tests.helpers.samples import tally_rows


def flipped(changes: tuple[Fraction, ...]) -> float:
    """Return the share of all assignments of signs whose sum is at least as far from 0."""
    if len(changes) < 2:
        return 1.0
    scale = math.lcm(*(change.denominator for change in changes))
    steps = [int(abs(change) * scale) for change in changes]
    chances = np.ones(1)
    for step in steps:
        wider = np.zeros(len(chances) + 2 * step)
        wider[: len(chances)] += chances / 2
        wider[2 * step :] += chances / 2
        chances = wider
    center = sum(steps)
    observed = abs(int(sum(changes) * scale))
    if observed == 0:
        return 1.0
    return float(chances[: center - observed + 1].sum() + chances[center + observed :].sum())


whole = st.lists(st.integers(-6, 6), max_size=9).map(
    lambda values: np.array(values, dtype=np.float64)
)


def enumerated(d: Floats) -> float:
    """The p-value from its definition, in exact arithmetic."""
    numbers = [Fraction(value).limit_denominator(10_000) for value in d.tolist()]
    observed = abs(sum(numbers, Fraction(0)))
    assignments = itertools.product((-1, 1), repeat=len(d))
    sums = [
        abs(sum((s * x for s, x in zip(signs, numbers, strict=True)), Fraction(0)))
        for signs in assignments
    ]
    return sum(total >= observed for total in sums) / len(sums)


def convolved(d: list[int]) -> Fraction:
    """The same by convolution of Python integers, for longer samples."""
    ways = {0: 1}
    for value in d:
        after: dict[int, int] = {}
        for total, number in ways.items():
            for moved in (total + value, total - value):
                after[moved] = after.get(moved, 0) + number
        ways = after
    return Fraction(sum(n for total, n in ways.items() if abs(total) >= abs(sum(d))), 2 ** len(d))


def in_two_halves(d: Floats) -> float:
    """The p-value of up to about 44 differences, without classes or pruning."""
    sizes = np.abs(d[d != 0])
    halves = []
    for half in (sizes[::2], sizes[1::2]):
        sums = np.zeros(1)
        for size in half:
            sums = np.concatenate([sums, sums + size])
        halves.append(np.sort(sums))
    limit = min(d[d > 0].sum(), -d[d < 0].sum()) + 1e-12 * sizes.sum()
    return min(
        1.0,
        2
        * float(np.searchsorted(halves[1], limit - halves[0], side="right").sum())
        / 2.0 ** len(sizes),
    )


@given(d=whole)
def test_whole_differences_are_exact(d: Floats) -> None:
    assert sign_flip(d).pvalue == pytest.approx(enumerated(d[d != 0]), rel=1e-12)


@pytest.mark.parametrize(
    "d", [[3] * 200 + [-3] * 2 + [1] * 20, [*list(range(1, 150)), -7, -1], [5, 3, 1] * 120]
)
def test_tiny_tails_are_exact(d: list[int]) -> None:
    expected = float(convolved(d))
    assert expected < 1e-40
    assert sign_flip(np.array(d, dtype=float)).pvalue == pytest.approx(expected, rel=1e-12)


def test_it_equals_scipys_permutation_test() -> None:
    d = np.sqrt(np.arange(1, 12.0)) * [1, -1, 1, 1, 1, -1, 1, 1, 1, -1, 1]
    expected = scipy.stats.permutation_test(
        (d,), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert sign_flip(d).pvalue == pytest.approx(expected.pvalue, rel=1e-12)


def test_ties_count_where_no_float_holds_them() -> None:
    """1/2 = 1/3 + 1/6: sums that equal the observed one must count; equal sizes are enumerated together."""
    sizes = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)] * 10 + [
        Fraction(1, p) for p in (991, 997, 983)
    ]
    d = [-size if place % 4 == 0 else size for place, size in enumerate(sizes)]
    scale = 991 * 997 * 983 * 6
    test = sign_flip([float(value) for value in d])
    assert test.method == "sign-flip, exact"
    assert test.pvalue == pytest.approx(
        float(convolved([int(value * scale) for value in d])), rel=1e-12
    )


def samples(n: int, seed: int) -> dict[str, Floats]:
    """Differences of many kinds that are too many to be enumerated quickly."""
    rng = np.random.default_rng(seed)
    relevant = rng.integers(1, 200, n)
    thirds = np.append(np.tile([1 / 2, 1 / 3, 1 / 6], n), 1 / rng.choice(np.arange(900, 999), n))
    signs = rng.choice([-1, 1], n, p=[0.25, 0.75])
    return {
        "normal": rng.normal([0, 0.3, 1][seed % 3], 1, n),
        "skewed": rng.standard_cauchy(n) + 1,
        "one dominates": np.append(rng.normal(0.5, 1, n - 1), 60 * rng.choice([-1, 1])),
        "shares": rng.binomial(relevant, 0.2) / relevant * signs,
        "nearly on a scale": thirds[-n - 12 : -12] * signs,
        "reciprocals": 1 / rng.geometric(0.1, n) - 1 / rng.geometric(0.2, n),
    }


@pytest.mark.parametrize(("n", "seed"), [(31, 0), (36, 1)])
def test_up_to_42_differences_are_exact(n: int, seed: int) -> None:
    for name, values in samples(n, seed).items():
        d = differences(np.zeros(n), values)
        found = sign_flip(d)
        assert found.method == "sign-flip, exact"
        assert found.pvalue == pytest.approx(in_two_halves(d), rel=1e-9), name
    assert [sign_flip(samples(most, 1)["normal"]).method for most in (42, 43)] == [
        "sign-flip, exact",
        "sign-flip, to within 1 %",
    ]


def test_bounds_that_straddle_a_level_are_refined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more differences than are enumerated p is known to a thousandth where a level is near, else to a hundredth."""
    d = np.random.default_rng(1).normal(0.4, 1, 24)
    exact = sign_flip(d).pvalue
    monkeypatch.setattr(signflips, "MOST_ENUMERATED", 20)
    coarse = sign_flip(d).pvalue
    below = 0.5 * (exact + coarse)  # a level between the exact p-value and its upper bound
    assert coarse == sign_flip(d, levels=(1e-9, 1e-8)).pvalue
    fine = sign_flip(d, levels=(below, below)).pvalue
    assert exact * (1 - 1e-9) <= fine <= exact * 1.0005
    assert (fine <= below) == (exact <= below)
    # Also where any p-value up to the second level is of interest.
    assert sign_flip(d, levels=(below, 0.9)).pvalue == fine
    assert Samples(tally_rows([d]), (below, below)).many("signflip").pvalue.tolist() == [fine]


@pytest.mark.parametrize(("n", "largest"), [(12, 9), (30, 5000), (52, 20_000), (1400, 300)])
def test_counts_are_those_of_all_sums(n: int, largest: int) -> None:
    """Those with a sum up to either limit: one by one, in an array, and with numbers beyond any type."""
    rng = np.random.default_rng(n)
    units = np.unique(rng.integers(1, largest, n))
    counts = rng.multinomial(n, np.full(len(units), 1 / len(units)))
    total = int(units @ counts)
    for share in (0.02, 0.2, 0.4, 0.5):
        limit = int(total * share)
        ways, exponent = subset_sums(np.repeat(units, counts).tolist(), limit)
        for lower in (-3, limit // 2, limit - 1, limit):
            wanted = [ways.sum(), ways[: max(lower + 1, 0)].sum()]
            found = signflips._counted(units, counts.astype(np.float64), limit, lower)
            scaled = [share_of(float(ways_up_to), exponent - n) for ways_up_to in wanted]
            assert found == pytest.approx(scaled, rel=1e-12, abs=1e-320)


def share_of(number: float, exponent: int) -> float:
    """Multiply by a power of two that may be too small for a float."""
    mantissa, own = math.frexp(number)
    return math.ldexp(mantissa, own + exponent)


@pytest.mark.parametrize(("n", "seed"), [(60, 0), (101, 1), (250, 2)])
def test_the_grid_of_many_differences_is_within_one_percent(n: int, seed: int) -> None:
    """Against sizes that are multiples of a unit so small that only this test counts in it."""
    for name, values in samples(n, seed).items():
        d = np.rint(values * (1 << 21) / np.abs(values).sum())
        sizes, counts = np.unique(np.abs(d[d != 0]), return_counts=True)
        ways, exponent = subset_sums(
            np.repeat(sizes, counts).astype(int).tolist(),
            limit := int(min(d[d > 0].sum(), -d[d < 0].sum())),
        )
        exact = float(ways.sum()) * 2.0 ** (exponent - np.sum(d != 0))
        found = signflips._counted_on_grid(sizes, counts.astype(np.float64), float(limit), None)
        assert found == pytest.approx(exact, rel=0.01), name
        assert found >= exact * (0.999 if n > signflips.MOST_BOUNDED else 1 - 1e-12), name


@pytest.mark.realdata
def test_real_differences_by_document(real_data: Path) -> None:
    """Shares of relevant documents found, in exact arithmetic against the grid, down to p of about 1e-12."""
    folder = real_data / "dl20-passage"
    evaluation = iro.evaluate(folder / "qrels.txt", sorted(folder.glob("*.run.gz"))[:6], rel=2)
    pvalues = []
    for x, y in itertools.combinations(evaluation.at(100), 2):
        gained = (y.relevant_retrieved - x.relevant_retrieved)[x.answerable].tolist()
        gains = [
            Fraction(gain, number)
            for gain, number in zip(gained, x.relevant[x.answerable].tolist(), strict=True)
        ]
        # Off by 1e-5: too little to matter beside 1 %.
        units = [round(gain * (1 << 16)) for gain in gains]
        limit = min(sum(u for u in units if u > 0), -sum(u for u in units if u < 0))
        ways, exponent = subset_sums([abs(u) for u in units if u], limit + len(units) // 2)
        pvalues.append(
            sign_flip(differences(np.zeros(len(gains)), [float(gain) for gain in gains])).pvalue
        )
        upper = min(1.0, 2 * float(ways.sum()) * 2.0 ** (exponent - sum(u != 0 for u in units)))
        assert pvalues[-1] == pytest.approx(upper, rel=0.02)
    assert min(pvalues) < 1e-6


def test_edges() -> None:
    samples = tally_rows([[0.0] * 6, [1.0] * 6, [1.0, -1.0] * 3, [5.0, 0, 0, 0, 0, 0]])
    approximate = saddlepoint_pvalues(samples)
    # The largest sums have no saddlepoint.
    assert np.isfinite(approximate).tolist() == [
        True,
        False,
        True,
        False,
    ]
    assert approximate[2] == pytest.approx(1.0)
    assert Samples(samples, (0.05, 0.05), labels_only=True).many("signflip").pvalue.tolist() == [
        1.0,
        2.0**-5,
        1.0,
        1.0,
    ]
    tiny = np.array([1.0, 2.0, -1.0, 5.0, 3.0, -2.0, 4.0]) * 1e-30
    assert sign_flip(tiny).pvalue == pytest.approx(sign_flip(tiny * 1e30).pvalue, rel=1e-12)
    assert sign_flip([*range(1, 54), -1e-9]).pvalue == pytest.approx(2.0**-53, rel=1e-9)
    assert sign_flip([math.sqrt(n) for n in range(1, 3000)]).pvalue > 0


@pytest.mark.parametrize(("n", "level"), [(8, 0.1), (14, 0.05), (24, 0.01)])
def test_labels_are_those_of_exact_pvalues(n: int, level: float) -> None:
    """Differences of search lengths: mostly small, some large, some 0; and all of one sign, whose sum has no saddlepoint."""
    rng = np.random.default_rng(n)
    signs = np.sign(rng.normal(rng.uniform(-0.9, 0.9, (80, 1)), 1, (80, n)))
    changes = np.exp(rng.normal(0, 1, (80, n))) * signs * (rng.random((80, n)) < 0.9)
    changes[60:] = rng.uniform(0.5, 3, (20, n))
    changes[70:, 0] *= -0.01  # the sum is near the largest one
    samples = tally_rows(changes)
    exact, approximate = Samples(samples).many("signflip").pvalue, saddlepoint_pvalues(samples)
    far = _far_from((level, level), samples, approximate)
    assert ((exact <= level) == (approximate <= level))[far].all()
    assert far.any() or n == 8
    flips = Samples(samples, (level, level), labels_only=True).many("signflip")
    for test in (flips, Samples(samples, (level, level), labels_only=True).of_means()):
        assert ((test.pvalue <= level) == (exact <= level)).all()


@pytest.mark.parametrize("n", [24, 40])
def test_saddlepoint_approximations_are_close_for_many_similar_differences(n: int) -> None:
    rng = np.random.default_rng(n)
    found = []
    for shift in np.linspace(0.05, 0.9, 12):
        d = rng.gamma(4, 1, n) * np.where(rng.random(n) < 0.5 + shift / 2, 1, -1)
        exact = sign_flip(d).pvalue
        (approximate,) = saddlepoint_pvalues(tally_rows([d]))
        assert approximate == pytest.approx(exact, rel=0.01)
        found.append(exact)
    assert min(found) < 1e-4 < 0.1 < max(found)


def test_many_samples_are_exact_unless_only_labels_are_asked_for() -> None:
    rng = np.random.default_rng(7)
    rows = rng.integers(-9, 12, (12, 36))
    samples = tally_rows(rows)
    exact = [flipped(tuple(Fraction(int(change)) for change in row if change)) for row in rows]
    np.testing.assert_allclose(Samples(samples).many("signflip").pvalue, exact, rtol=1e-9)
