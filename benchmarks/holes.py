"""What unjudged documents would have said: official TREC-COVID runs of round 1, judged shallowly then and deeply later.

For all pairs of 20 runs it prints how many labels changed under the complete judgments, how many of these each warning of
`ir_outcomes.holes` had caught, and how many pairs it had warned of. Usage: python benchmarks/holes.py FOLDER [CUTOFF]
"""

from __future__ import annotations

import sys
import time
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import ir_outcomes as iro
from ir_outcomes.comparison.verdict import LABELS

PRIORS = (None, 0.25)
TIPPING = (1, 2, 3, 5, 10, 20)


class Pair(NamedTuple):
    """One pair of runs under shallow and complete judgments."""

    before: iro.Holes
    with_prior: iro.Holes
    after: str


def main(folder: Path, cutoff: int) -> None:
    """Print the rates."""
    runs = sorted(folder.glob("*.run.gz"))
    shallow = iro.evaluate(folder / "qrels.round1.txt.gz", runs, cutoff=cutoff, unit="document", unjudged=True)
    complete = iro.evaluate(folder / "qrels.complete.txt.gz", runs, cutoff=cutoff, unit="document")
    pairs, start = [], time.process_time()
    for names in combinations(shallow.names, 2):
        before = iro.holes(shallow, *names, prior=PRIORS[0])
        pairs.append((names, before))
    seconds = time.process_time() - start
    judged = [
        Pair(before, iro.holes(shallow, *names, prior=PRIORS[1]), iro.compare(complete, *names).verdict.label)
        for names, before in pairs
    ]
    changed = [pair.before.pairs[0].label != pair.after for pair in judged]
    print(
        f"{len(judged)} pairs at cutoff {cutoff}, {seconds:.0f} s of CPU; {sum(changed)} labels change, "
        f"{reversed_of(judged)} reverse"
    )
    for word in ("stands", "could weaken", "could reverse"):
        report(f"bound: {word}", [pair.before.pairs[0].bound.word == word for pair in judged], changed)
    for prior, holes in zip(PRIORS, zip(*((pair.before, pair.with_prior) for pair in judged), strict=True), strict=True):
        name = "by rank" if prior is None else f"{prior}"
        report(f"flag, prior {name}", [found.pairs[0].flagged for found in holes], changed)
    for most in TIPPING:
        report(f"tipping point at most {most}", [tipping(pair.before) <= most for pair in judged], changed)


def reversed_of(judged: list[Pair]) -> int:
    """Count the labels that changed to the opposite direction."""
    direction = dict(zip(LABELS, (1, 1, -1, -1, 0, 0), strict=True))
    return sum(direction[pair.before.pairs[0].label] * direction[pair.after] < 0 for pair in judged)


def tipping(found: iro.Holes) -> float:
    """Return the tipping point, infinite where there is none."""
    point = found.pairs[0].tipping
    return float("inf") if point is None else point.n


def report(name: str, warned: list[bool], changed: list[bool]) -> None:
    """Print how many pairs were warned of, and how many of the changed ones are among them."""
    caught = sum(warning and change for warning, change in zip(warned, changed, strict=True))
    print(f"{name:26s} {sum(warned):4d} pairs ({sum(warned) / len(warned):4.0%}), {caught:3d} of {sum(changed)} changed")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10)
