"""Fuzz for a while: ``python -m tests.fuzz --seconds 600``. A failure prints the target and the seed that reproduces it."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.fuzz.targets import TARGETS

SLOWEST = 20  # seconds that a single input may take


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to run")
    parser.add_argument("--seed", type=int, default=None, help="run one seed only, to reproduce a failure")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--targets", nargs="+", choices=list(TARGETS), default=list(TARGETS), help="what to fuzz")
    options = parser.parse_args()
    end, seed, failures, numbers = time.monotonic() + options.seconds, options.start, 0, Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            seed = seed + 1 if options.seed is None else options.seed
            for name in options.targets:
                started = time.monotonic()
                try:
                    TARGETS[name](random.Random(f"{name} {seed}"), Path(folder))
                except Exception:
                    failures += 1
                    sys.stderr.write(f"{name}, seed {seed}:\n{traceback.format_exc()}\n")
                if time.monotonic() - started > SLOWEST:
                    failures += 1
                    sys.stderr.write(f"{name}, seed {seed}: took more than {SLOWEST} seconds\n")
                numbers[name] += 1
            if options.seed is not None or failures >= 20:
                break
    sys.stdout.write(f"{sum(numbers.values()):,} inputs ({dict(numbers)}), last seed {seed}, {failures} failures\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
