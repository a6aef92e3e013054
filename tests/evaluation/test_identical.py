"""Which runs are identical: the same documents in the same order, whatever they were read from."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given

import ir_outcomes as iro
from tests.helpers import literal, strategies
from tests.helpers.runs import trec

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}}
RUN = {"q1": {"d1": 3.0, "x": 2.0, "yé": 1.0}, "q2": {"z": 2.0, "d2": 1.0}}


def is_identical(run: literal.Run, other: Any, **settings: object) -> bool:
    one, another = (iro.search_lengths(QRELS, found, **settings) for found in (run, other))  # type: ignore[arg-type]
    return np.array_equal(one.diagnosis.digests, another.diagnosis.digests)


def test_neither_form_nor_cutoff_nor_other_queries_change_them(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text(trec(RUN))
    other = {query: dict(reversed(ranked.items())) for query, ranked in reversed(RUN.items())}
    assert is_identical(RUN, path)
    assert is_identical(RUN, {**other, "q3": {"d": 1.0}}, cutoff=1)
    assert not is_identical(RUN, {**RUN, "q1": {"d1": 3.0, "x": 2.0}}, cutoff=1)  # beyond it


def test_judged_only_and_saved_files_keep_it(tmp_path: Path) -> None:
    other = {**RUN, "q1": {"d1": 3.0, "unjudged": 2.0}}
    assert (is_identical(RUN, other), is_identical(RUN, other, judged_only=True)) == (False, True)
    iro.evaluate(QRELS, {"a": RUN, "b": other}).save(tmp_path / "board.npz")
    a, b = iro.load_evaluation(tmp_path / "board.npz")
    assert (
        np.array_equal(a.diagnosis.digests, b.diagnosis.digests),
        np.array_equal(a.diagnosis.digests[1:], b.diagnosis.digests[1:]),
    ) == (False, True)


@given(qrels=strategies.qrels, run=strategies.runs, settings=strategies.settings)
def test_digests_are_those_of_the_ranked_ids(
    qrels: literal.Qrels, run: literal.Run, settings: dict[str, object]
) -> None:
    ties = str(settings["ties"])
    if ties == "expected":
        return
    found = iro.search_lengths(qrels, run, ties=ties)  # type: ignore[arg-type]
    for query, digest in zip(qrels, found.diagnosis.digests, strict=True):
        order = literal.ranked(run.get(query, {}), ties)
        expected = hashlib.sha256("\0".join(order).encode()).digest()[:16] if order else bytes(16)
        assert digest.tobytes() == expected
