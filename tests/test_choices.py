"""What a type checker tells users: the Python of the README is strict, and one run gives one comparison."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import ir_outcomes as iro

ROOT = Path(__file__).parents[1]
REVEALED = """
import ir_outcomes as iro

def show(ev: iro.Evaluation, run: dict[str, dict[str, float]], paths: list[str]) -> None:
    qrels = {"q": {"d": 1}}
    reveal_type(iro.compare(qrels, run, run))  # Comparison
    reveal_type(iro.compare(qrels, run, {"q": {"d": 1}}, cutoff=10))  # Comparison
    reveal_type(iro.compare(qrels, "a.run", "b.run", margins=(1.0, 0.5)))  # Comparison
    reveal_type(iro.compare(ev, "a", "b", alpha=0.01))  # Comparison
    reveal_type(iro.compare_outputs("a.txt", "b.txt"))  # Comparison
    reveal_type(iro.compare(ev, "a"))  # Comparisons
    reveal_type(iro.compare(qrels, run, [run]))  # Comparisons
    reveal_type(iro.compare(qrels, run, (run, run), correction="fdr_bh"))  # Comparisons
    reveal_type(iro.compare(qrels, "a.run", {"b": "b.run"}))  # Comparisons
    reveal_type(iro.compare(qrels, run, {"b": run}))  # Comparisons
    reveal_type(iro.compare(qrels, run, {"b": [run, run]}))  # Comparisons
    reveal_type(iro.compare_outputs("a.txt", paths, measure="AP"))  # Comparisons
    iro.compare(ev, "a", cutof=10)  # error
    iro.compare(ev, "a", correction="homl")  # error
"""


def test_strict_code_of_users(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed; the extra dev brings it")
    blocks = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S
    )
    (tmp_path / "readme.py").write_text("\n".join(blocks))
    (tmp_path / "revealed.py").write_text(REVEALED)
    kept = getattr(pytestconfig, "cache", None)  # None with -p no:cacheprovider
    cache = kept.mkdir("mypy") if kept else tmp_path / "cache"
    words = f"-m mypy --strict --follow-imports=silent --cache-dir={cache} readme.py revealed.py"
    done = subprocess.run(
        [sys.executable, *words.split()],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(iro.__file__).parents[1])},
    )
    found: dict[str, str] = {}
    for place, kind in re.findall(r'^(\w+\.py:\d+): (?:.*type is ".*\.)?(\w+)', done.stdout, re.M):
        found.setdefault(place, kind)
    assert found == {
        f"revealed.py:{number}": line.partition("  # ")[2]
        for number, line in enumerate(REVEALED.splitlines(), 1)
        if "  # " in line
    }
