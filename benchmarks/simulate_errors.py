"""How often the tests, intervals and rules err, by simulation: ``python benchmarks/simulate_errors.py [--trials N]``.

Queries are drawn as real comparisons look: most are answered by both runs with no difference at all, the rest differ by a few
ranks either way; some are answered by one run only. Under the complete null both facets are symmetric. Rates are in percent;
with 2000 trials a rate of 5 is known to about 1.
"""

from __future__ import annotations

import argparse

import numpy as np

from ir_outcomes.comparison.verdict import Finding, decide
from ir_outcomes.statistics import (
    Test,
    binomial_test,
    interval_of_mean,
    midp_test,
    odds_ratio_interval,
    paired_proportion_interval,
    ratio_of_means_interval,
    sign_flip,
    sign_test,
    t_test,
    wilcoxon,
)

ALPHA = 0.05
SIZES = (20, 50, 200, 1000, 6000)
DISCORDANT = 0.03  # share of queries won, and share lost, under the null
LONGEST = 40  # ranks that a query may move, so that no search length falls below 1


def draw(rng: np.random.Generator, n: int, won: float, worse: float, tied: float) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Draw won, lost, and the search lengths in both runs of the queries that both answer, 70 % of them equal.

    The others move by geometric steps; `tied` is the chance that such a step is of one rank only.
    """
    outcomes = rng.multinomial(n, [won, DISCORDANT, 0.1, 0.9 - won - DISCORDANT])
    both = int(outcomes[3])
    lengths = LONGEST + rng.geometric(0.2, both).astype(float)
    steps = np.minimum(rng.geometric(tied, both), LONGEST) * rng.choice([-1, 1], both, p=[0.5 - worse, 0.5 + worse])
    return int(outcomes[0]), int(outcomes[1]), lengths, lengths + np.where(rng.random(both) < 0.7, 0, steps)


def finding(decides: Test, checks: list[Test], higher_is_better: bool) -> Finding:
    sign = 1 if higher_is_better else -1
    seen = {sign * test.direction for test in [decides, *checks] if test.pvalue <= ALPHA}
    up, down = (decides.pvalue <= ALPHA and sign * decides.direction == way for way in (1, -1))
    return Finding(up=up, hurt=-1 in seen, down=down, gain=1 in seen)


def trial(rng: np.random.Generator, n: int, won: float = DISCORDANT, worse: float = 0.0, tied: float = 0.15) -> dict[str, bool]:
    n_won, n_lost, baseline, contender = draw(rng, n, won, worse, tied)
    d = contender - baseline
    coverage = {"exact": binomial_test(n_won, n_lost), "midp": midp_test(n_won, n_lost)}
    ranking = {"t": t_test(d), "wilcoxon": wilcoxon(d), "sign": sign_test(d), "signflip": sign_flip(d)}
    result = {name: test.pvalue <= ALPHA for name, test in (coverage | ranking).items()}
    label, strict, do_no_harm = decide(
        finding(coverage["exact"], [], True), finding(ranking["t"], [ranking["wilcoxon"]], False)
    )
    result |= {"strict better": strict == "better", "no-harm better": do_no_harm == "better"}
    result |= {"better or worse": do_no_harm != "undecided", "without harm": label == "better without harm"}
    share, mean = won - DISCORDANT, 0.3 * 2 * worse * (1 - (1 - tied) ** LONGEST) / tied
    proportion = paired_proportion_interval(n_won, n_lost, n, 1 - ALPHA)
    interval = interval_of_mean(float(d.mean()), float(d.std(ddof=1)), len(d), 1 - ALPHA) if len(d) > 1 else None
    ratio = ratio_of_means_interval(baseline, contender, 1 - ALPHA, resamples=499)
    truth = 1 + mean / (LONGEST + 1 / 0.2)
    odds = odds_ratio_interval(n_won, n_lost, 1 - ALPHA)
    result["interval of coverage"] = proportion is not None and proportion.low <= share <= proportion.high
    result["interval of odds"] = odds is None or odds.low <= won / DISCORDANT <= odds.high
    result["interval of mean"] = interval is None or interval.low <= mean <= interval.high
    result["interval of ratio"] = ratio is None or ratio.low <= truth <= ratio.high
    return result


def table(title: str, trials: int, **settings: float) -> None:
    print(f"\n{title}")
    columns: dict[int, dict[str, float]] = {}
    for n in SIZES:
        rng = np.random.default_rng(n)
        results = [trial(rng, n, **settings) for _ in range(max(50, min(trials, trials * 400 // n)))]
        columns[n] = {name: 100 * float(np.mean([result[name] for result in results])) for name in results[0]}
    print(f"{'queries':24}" + "".join(f"{n:>8}" for n in SIZES))
    for name in columns[SIZES[0]]:
        print(f"{name:24}" + "".join(f"{columns[n][name]:8.1f}" for n in SIZES))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000, help="for up to 400 queries; fewer above")
    trials = parser.parse_args().trials
    table("Complete null: rejections, verdicts and intervals that cover, in % (70 % of differences are zero)", trials)
    table("Complete null with heavy ties: three of four changes are by one rank", trials, tied=0.75)
    table("Coverage improves (won 6 %, lost 3 %), ranking is slightly worse (by 0.1 ranks)", trials, won=0.06, worse=0.025)


if __name__ == "__main__":
    main()
