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
    reveal_type(iro.compare(qrels, run, run))
    reveal_type(iro.compare(qrels, run, {"q": {"d": 1}}, cutoff=10))
    reveal_type(iro.compare(qrels, "a.run", "b.run", margins=(1.0, 0.5)))
    reveal_type(iro.compare(ev, "a", "b", alpha=0.01))
    reveal_type(iro.compare_outputs("a.txt", "b.txt"))

    reveal_type(iro.compare(ev, "a"))
    reveal_type(iro.compare(qrels, run, [run]))
    reveal_type(iro.compare(qrels, run, (run, run), correction="fdr_bh"))
    reveal_type(iro.compare(qrels, "a.run", {"b": "b.run"}))
    reveal_type(iro.compare(qrels, run, {"b": run}))
    reveal_type(iro.compare(qrels, run, {"b": [run, run]}))
    reveal_type(iro.compare_outputs("a.txt", paths, measure="AP"))

    iro.compare(ev, "a", cutof=10)
    iro.compare(ev, "a", correction="homl")
"""


def test_strict_code_of_users(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed; the extra dev brings it")
    readme = tmp_path / "readme.py"
    readme.write_text(
        "\n".join(
            re.findall(
                r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S
            )
        )
    )
    revealed = tmp_path / "revealed.py"
    revealed.write_text(REVEALED)
    kept = getattr(pytestconfig, "cache", None)  # None with -p no:cacheprovider
    cache = kept.mkdir("mypy") if kept else tmp_path / "cache"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--follow-imports=silent",
            f"--cache-dir={cache}",
            readme,
            revealed,
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(iro.__file__).parents[1])},
    )
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("readme.py")] == []
    single, several, _ = REVEALED.partition("def show")[2].split("\n\n")
    found = re.findall(r'Revealed type is "ir_outcomes\.comparison\.result\.(\w+)"', done.stdout)
    assert found == ["Comparison"] * single.count("reveal_type") + ["Comparisons"] * several.count(
        "reveal_type"
    )
    wrong = {
        number
        for number, line in enumerate(REVEALED.splitlines(), 1)
        if "cutof=" in line or "homl" in line
    }
    assert {int(line.split(":")[1]) for line in lines if "error: " in line} == wrong
