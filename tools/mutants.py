"""Break copies of the package, one fault at a time, and see whether the tests of numbers notice.

python tools/mutants.py [WORD ...]    all faults of tools/mutants.toml, or those that have a word
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTEST = (
    f"{sys.executable} -m pytest -x -n0 -p no:cacheprovider --hypothesis-profile=mutants".split()
)


def survives(file: str, old: str, new: str, tests: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "tree")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        path = copy / "src/ir_outcomes" / file
        text = path.read_text("utf-8")
        if text.count(old) != 1:
            sys.exit(f"{file} has {old!r} {text.count(old)} times, expected once")
        path.write_text(text.replace(old, new), "utf-8")
        names = [f"tests/{name}" for name in tests.split()]
        environment = os.environ | {"PYTHONPATH": str(copy / "src")}
        done = subprocess.run([*PYTEST, *names], cwd=copy, env=environment, capture_output=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stdout.decode())
    return done.returncode == 0


faults = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
n_survivors = 0
for file, mutants in faults.items():
    for old, new, tests in mutants:
        if all(word in f"{file} {old}" for word in sys.argv[1:]):
            survivor = survives(file, old, new, tests)
            n_survivors += survivor
            print("survived" if survivor else "killed", file, old, "->", new, flush=True)
print(n_survivors, "survived")
