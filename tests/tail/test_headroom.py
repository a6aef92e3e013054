from __future__ import annotations

import ir_measures
import pytest
from ir_measures import P

import ir_outcomes as iro
from tests.helpers.many import collection


def test_headroom_is_of_the_best_run() -> None:
    qrels, runs = collection(3, 25, relevant=3)
    result = iro.headroom(iro.evaluate(qrels, runs))
    for best, higher_is_better in zip(result.measures, (True, False, True, False), strict=True):
        measure = iro.parse_measure(best.measure)
        means = {name: ir_measures.calc_aggregate([measure], qrels, run)[measure] for name, run in runs.items()}
        assert best.run == (max if higher_is_better else min)(means, key=lambda name: means[name])
        assert best.mean == pytest.approx(means[best.run])
        assert sum(best.counts) == 25
    assert iro.Headroom.from_json(result.to_json()) == result


def test_precision_is_at_the_depth_of_runs_that_are_less_deep_than_20() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    precision = iro.headroom(iro.evaluate(qrels, runs), cutoff=4).measures[0]
    assert precision.measure == "P@4"
    assert precision.mean == pytest.approx(ir_measures.calc_aggregate([P @ 4], qrels, runs[precision.run])[P @ 4])
