import importlib
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import ir_measures
import pytest
from ir_measures import RR, Success, nDCG

import ir_outcomes as iro
from ir_outcomes import ASL, ESL, Answered
from ir_outcomes.errors import IrOutcomesWarning, ParameterError
from ir_outcomes.measures import register
from tests.helpers.entry_points import declare_entry_points

QRELS = {"q1": {"a": 1}, "q2": {"b": 2, "c": 1}, "q3": {"z": 1}, "absent": {"a": 1}, "empty": {}}
RUN = {
    "q1": {"x": 2.0, "a": 1.0},
    "q2": {"b": 3.0, "y": 2.0, "c": 1.0},
    "q3": {"y": 1.0},
    "stray": {"a": 1.0},
    "empty": {"a": 1.0},
}


def test_aggregates_beside_other_measures() -> None:
    found = ir_measures.calc_aggregate(
        [ESL @ 100, Answered @ 100, nDCG @ 10, RR, Success @ 100], QRELS, RUN
    )
    assert found[ESL @ 100] == 1.5
    assert found[Answered @ 100] == found[Success @ 100] == 0.4
    alone = ir_measures.calc_aggregate([nDCG @ 10, RR], QRELS, RUN)
    assert found[nDCG @ 10] == alone[nDCG @ 10]
    assert found[RR] == alone[RR]
    assert math.isnan(ir_measures.calc_aggregate([ESL], {"q": {"a": 1}}, {"q": {"b": 1.0}})[ESL])
    with pytest.warns(
        IrOutcomesWarning,
        match=r"in 2 queries \(q3, absent\) there are no results, which scores inf",
    ):
        assert ir_measures.calc_aggregate([ASL], QRELS, RUN) == {ASL: math.inf}


def test_registering(monkeypatch: pytest.MonkeyPatch) -> None:
    importlib.reload(iro)
    register()
    (ours,) = [
        provider
        for provider in ir_measures.DefaultPipeline.providers
        if provider.NAME == "ir_outcomes"
    ]
    assert ir_measures.calc_aggregate(
        [iro.parse_measure("ESL@100"), iro.ESL @ 100], QRELS, RUN
    ) == {ESL @ 100: 1.5}
    with pytest.raises(
        ParameterError, match=r"ir_outcomes does not provide RR; call ir_measures\.calc_aggregate"
    ):
        ours.calc_aggregate([ESL @ 100, RR], QRELS, RUN)
    monkeypatch.setitem(ir_measures.measures.registry, "ESL", nDCG)
    with pytest.warns(IrOutcomesWarning, match="ir_measures already knows a measure ESL"):
        register()
    assert ir_measures.measures.registry["ESL"] is nDCG


# What the branch does after its own providers are registered, and how its default pipeline takes
# the others.
LOADING = """
from importlib.metadata import entry_points
for _entry in entry_points(group="ir_measures.provider"):
    _provider = _entry.load()()
    registry[_provider.NAME] = _provider
"""
PIPELINE = """
DefaultPipeline.providers += sorted(
    (p for p in providers.registry.values() if getattr(p, "PRIORITY", None) is not None and p not in DefaultPipeline.providers),
    key=lambda provider: provider.PRIORITY,
)
"""


def test_the_command_of_ir_measures_knows_our_measures(tmp_path: Path) -> None:
    """By the entry point that ir_measures' branch "entry-points" reads, without an import."""
    package = tmp_path / "ir_measures"
    shutil.copytree(
        Path(ir_measures.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    with (package / "providers" / "__init__.py").open("a") as providers:
        providers.write(LOADING)
    with (package / "__init__.py").open("a") as whole:
        whole.write(PIPELINE)
    declare_entry_points(tmp_path)
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run").write_text("q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\n")
    path = os.pathsep.join([str(tmp_path), str(Path(iro.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-m", "ir_measures", "qrels", "run", "ESL@100 Answered@100 RR"],
        cwd=tmp_path, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert done.stdout.split() == [
        "ESL@100",
        "2.0000",
        "Answered@100",
        "1.0000",
        "RR",
        "0.5000",
    ], done.stderr
