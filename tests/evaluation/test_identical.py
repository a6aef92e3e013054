"""Which runs are identical: the same documents in the same order, whatever they were read from."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import ir_outcomes as iro
from tests.helpers import literal, strategies
from tests.helpers.runs import trec

QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}}
RUN = {"q1": {"d1": 3.0, "x": 2.0, "yé": 1.0}, "q2": {"z": 2.0, "d2": 1.0}}


def is_identical(run: literal.Run, other: literal.Run, **settings: object) -> bool:
    one, another = (iro.search_lengths(QRELS, found, **settings) for found in (run, other))  # type: ignore[arg-type]
    return np.array_equal(one.diagnosis.digests, another.diagnosis.digests)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({**RUN, "q3": {"d": 1.0}}, True),  # a query that the qrels lack
        (
            {
                query: {d: 10 * score for d, score in ranked.items()}
                for query, ranked in RUN.items()
            },
            True,
        ),
        # Written in another order.
        (
            {"q2": {"d2": 1.0, "z": 2.0}, "q1": {"yé": 1.0, "d1": 3.0, "x": 2.0}},
            True,
        ),
        ({**RUN, "q1": {"d1": 3.0, "yé": 2.0, "x": 1.0}}, False),
        ({**RUN, "q1": {"d1": 3.0, "x": 2.0}}, False),  # beyond all that is relevant
        ({**RUN, "q1": {"d1x": 3.0, "x": 2.0, "yé": 1.0}}, False),
        ({"q1": RUN["q1"]}, False),
        ({**RUN, "q2": {"d2": 1.0, "z": 1.0}}, True),  # tied: by id, descending
        ({**RUN, "q2": {"d2": 1.0, "a": 1.0}}, False),
    ],
)
def test_identical_means_the_same_documents_in_the_same_order(
    other: literal.Run, same: bool, tmp_path: Path
) -> None:
    assert is_identical(RUN, other) == is_identical(RUN, other, cutoff=1) == same
    files = [tmp_path / "a.run", tmp_path / "b.run"]
    for file, run in zip(files, (RUN, other), strict=True):
        file.write_text(trec(run))
    lengths = [iro.search_lengths(QRELS, source) for source in (*files, RUN)]
    assert [
        np.array_equal(lengths[0].diagnosis.digests, run.diagnosis.digests) for run in lengths
    ] == [
        True,
        same,
        True,
    ]


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
