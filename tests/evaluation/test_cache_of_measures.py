from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesWarning
from ir_outcomes.evaluation import evaluate as evaluate_module
from ir_outcomes.reading.runs import run_and_warnings
from ir_outcomes.samples import write_sample


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_sample(tmp_path)
    return tmp_path


def test_values_of_measures_come_from_the_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, cache = [folder / "bm25.run", folder / "bm25-stem.run"], folder / "cache"
    plain = iro.evaluate(folder / "qrels.txt", runs, measures=["nDCG@10", "AP"])
    first = iro.evaluate(folder / "qrels.txt", runs, measures=["nDCG@10", "AP"], cache=cache)
    reading = Mock(wraps=run_and_warnings)
    monkeypatch.setattr(evaluate_module, "run_and_warnings", reading)
    again = iro.evaluate(folder / "qrels.txt", runs, measures=["nDCG@10", "AP"], cache=cache)
    assert reading.call_count == 0
    for ev in (first, again):
        for scores, expected in zip(ev.scores, plain.scores, strict=True):
            np.testing.assert_array_equal(scores.values, expected.values)
        assert [run.esl().tolist() for run in ev.runs[:1]] != []
    other = iro.evaluate(folder / "qrels.txt", runs[:1], measures=["P@5"], cache=cache)
    assert reading.call_count == 1  # only for the new measure, and only once
    assert other.scores[0].measure == "P@5"


def test_a_damaged_entry_is_computed_again_with_a_warning(folder: Path) -> None:
    cache = folder / "cache"
    plain = iro.evaluate(folder / "qrels.txt", [folder / "bm25.run"], measures=["nDCG@10"], cache=cache)
    (entry,) = cache.glob("*.npy")
    content = entry.read_bytes()
    for wrong in (content[:-8], content + b"x", b"{}\n" + content, b""):
        entry.write_bytes(wrong)
        with pytest.warns(IrOutcomesWarning, match="a cache entry is unusable"):
            again = iro.evaluate(folder / "qrels.txt", [folder / "bm25.run"], measures=["nDCG@10"], cache=cache)
        np.testing.assert_array_equal(again.scores[0].values, plain.scores[0].values)
    assert entry.read_bytes() == content
