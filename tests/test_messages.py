"""The messages that the docs explain are those that the package prints."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesError
from ir_outcomes.notes import FIRST

MESSAGES = (Path(__file__).parents[1] / "docs" / "messages.md").read_text("utf-8")
QRELS = {f"q{number}": {"d1": 1, "d2": 0} for number in range(40)}
RUN = {query: {"d2": 2.0, "d1": 1.0} for query in QRELS}
SILENT = {**RUN, "q0": {"d2": 1.0}}


def first_cells(section: str) -> list[str]:
    """Return what the table of a section explains."""
    _, _, text = MESSAGES.partition(f"\n## {section}\n")
    lines = text.partition("\n## ")[0].splitlines()
    rows = [line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")]
    return rows[1:]


def read(content: bytes, name: str = "some.run") -> Callable[[Path], Any]:
    def from_file(folder: Path) -> Any:
        (folder / name).write_bytes(content)
        return iro.read_run(folder / name)

    return from_file


def compared(**settings: Any) -> Callable[[Path], Any]:
    return lambda folder: iro.compare(QRELS, {"bm25": SILENT}, RUN, **settings)


def from_saved(folder: Path) -> Any:
    iro.evaluate(QRELS, {"bm25": RUN}).save(folder / "board.npz")
    return iro.evaluate(QRELS, folder / "board.npz", measures=["AP"])


def from_loaded(folder: Path) -> Any:
    iro.evaluate(QRELS, {"bm25": RUN, "new": RUN}).save(folder / "board.npz")
    return iro.compare(folder / "board.npz", "bm25", measures=["AP"])


CALLS: dict[str, dict[str, Callable[[Path], Any]]] = {
    "Errors of input": {
        "has 5 columns, expected 6 or 3": read(b"q1 Q0 d1 1 2.0\n"),
        "has three columns, and it cannot be told whether the third has ranks or scores": read(
            b"q1 d1 1\nq1 d2 3\n"
        ),
        "document d7 has two grades for query 12": lambda folder: iro.as_qrels(
            pd.DataFrame({"query_id": ["12"] * 2, "doc_id": ["d7"] * 2, "relevance": [1, 2]})
        ),
        "has no score or grade (NaN)": lambda folder: iro.as_run(
            pd.DataFrame({"query_id": ["1"], "doc_id": ["d"], "score": [float("nan")]})
        ),
        "is not UTF-8": read(b"q1 Q0 d\xff1 1 2.0 x\n"),
        "contains a NUL byte; is this a text file?": read("q1 Q0 d1 1 2.0 x\n".encode("utf-16")),
    },
    "Errors of arguments": {
        "the qrels know no document of bm25, in any query": lambda folder: iro.evaluate(
            QRELS, {"bm25": {query: {"d1.0": 1.0} for query in QRELS}}
        ),
        "none of its queries is in the qrels": lambda folder: iro.evaluate(
            QRELS, {"bm25": {"0012": {"d1": 1.0}}}
        ),
        "`ties='expected'` gives no single order to compare": compared(ties="expected"),
    },
    "Measures that were asked for": {
        "ESL@10 is undefined for bm25 on 1 query of 40": compared(measures=["ESL@10"]),
        "unknown measure ndcg; did you mean nDCG": compared(measures=["ndcg"]),
        "the direction of NumRet is not known": compared(measures=["NumRet"]),
        "AP was not kept, and some runs cannot be read again": from_loaded,
        "the search lengths of bm25, of a saved evaluation, do not hold AP": from_saved,
        "alpha_nDCG@10 needs judgments per subtopic": compared(measures=["alpha_nDCG@10"]),
    },
}


@pytest.mark.parametrize("section", CALLS)
def test_every_message_is_raised(section: str, tmp_path: Path) -> None:
    assert first_cells(section) == list(CALLS[section])
    for message, call in CALLS[section].items():
        with pytest.raises(IrOutcomesError, match=re.escape(message)):
            call(tmp_path)


def test_every_first_note_is_explained() -> None:
    explained = [name for row in first_cells("Notes of a comparison") for name in row.split("; ")]
    printed = list(FIRST.values())
    assert sorted(explained) == sorted(printed)


def test_opposite_means_name_the_measures_that_were_asked_for() -> None:
    """The example of the docs: what is below rank 10 changes the label and not nDCG@10."""
    first = {f"d{rank}": 100.0 - rank for rank in range(60)}
    up = {"gold": 99.5, **first}
    down = {"gold": 88.5, **first}
    far = {"gold": 41.5, **first}
    qrels = {f"q{number}": {"gold": 1} for number in range(60)}
    near = [number % 2 == 0 for number in range(60)]
    a = {f"q{number}": up if is_near else far for number, is_near in enumerate(near)}
    b = dict.fromkeys(a, down)
    found = iro.compare(qrels, {"a": a}, {"b": b}, measures=["nDCG@10"])
    (comparison,) = found
    assert comparison.verdict.direction == "better"
    (opposite,) = [own for own in comparison.notes if own.kind == "opposite mean"]
    assert "nDCG@10" in opposite
