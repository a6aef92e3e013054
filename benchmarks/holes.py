"""What unjudged documents would have said: official TREC-COVID runs of round 1, judged shallowly then and deeply later.

For all pairs of 20 runs it prints how many labels changed their direction under the complete
judgments, how many of these each warning of `ir_outcomes.holes` had caught, and how many pairs it
had warned of. Usage: benchmarks/holes.py FOLDER [CUTOFF]
"""

import sys
import time
from itertools import combinations
from pathlib import Path

import ir_outcomes as iro
from ir_outcomes.comparison.verdict import direction_of


def main(folder: Path, cutoff: int) -> None:
    """Print the rates."""
    runs = sorted(folder.glob("*.run.gz"))
    shallow = iro.evaluate(
        folder / "qrels.round1.txt.gz", runs, cutoff=cutoff, unit="document", documents=cutoff
    )
    complete = iro.evaluate(folder / "qrels.complete.txt.gz", runs, cutoff=cutoff, unit="document")
    pairs = list(combinations(shallow.names, 2))
    start = time.process_time()
    found = [iro.holes(shallow, *names).pairs[0] for names in pairs]
    seconds = time.process_time() - start
    before = [direction_of(pair.label) for pair in found]
    complete_labels = [iro.compare(complete, *names).verdict.label for names in pairs]
    after = [direction_of(label) for label in complete_labels]
    changed = [one != other for one, other in zip(before, after, strict=True)]
    opposite = sum(
        {one, other} == {"better", "worse"} for one, other in zip(before, after, strict=True)
    )
    print(
        f"{len(pairs)} pairs at cutoff {cutoff}, {seconds:.0f} s of CPU; {sum(changed)} directions"
        f" change, {opposite} reverse;"
        f" {sum(pair.label != label for pair, label in zip(found, complete_labels, strict=True))}"
        " labels change"
    )
    for word in ("stands", "could weaken", "could decide", "could reverse"):
        report(f"bound: {word}", [pair.bound.word == word for pair in found], changed)


def report(name: str, warned: list[bool], changed: list[bool]) -> None:
    """Print how many pairs were warned of, and how many of the changed ones are among them."""
    caught = sum(warning and change for warning, change in zip(warned, changed, strict=True))
    print(
        f"{name:26s} {sum(warned):4d} pairs ({sum(warned) / len(warned):4.0%}), {caught:3d} of"
        f" {sum(changed)} changed"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10)
