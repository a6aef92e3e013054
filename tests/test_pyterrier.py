"""Experiments over a dozen texts, inside PyTerrier without Java."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from ir_measures import RR, nDCG

import ir_outcomes as iro
from ir_outcomes import ESL, Answered
from ir_outcomes.errors import FormatError, MismatchError, MissingDependency, ParameterError
from tests.helpers.entry_points import declare_entry_points

COLLECTION = """the cat sat on the mat, a dog chased the cat, dogs and cats are pets, the stock market fell sharply,
investors sold stock in the market, rain fell on the mat, heavy rain and wind, wind power from the sea, the sea was calm,
power stations burn coal, coal and steel prices, steel bridges over the sea"""
TEXTS = {f"d{number}": text.strip() for number, text in enumerate(COLLECTION.split(","), 1)}
TOPICS = pd.DataFrame(
    [
        ("1", "cat on mat"),
        ("2", "stock market"),
        ("3", "sea wind"),
        ("4", "coal power"),
        ("5", "pets"),
        ("6", "zebra"),
    ],
    columns=["qid", "query"],
)
QRELS = pd.DataFrame(
    [*zip("11233456", ["d2", "d6", "d5", "d9", "d8", "d11", "d3", "d4"], [1] * 8, strict=True)],
    columns=["qid", "docno", "label"],
)
NAMES = ["shorter", "longer", "shallow"]


class Overlap(pt.Transformer):  # type: ignore[misc]
    """Ranks texts by how many words of the query they hold, the shorter or (`longer`) the longer text first."""

    def __init__(self, longer: bool = False, depth: int = 5) -> None:
        self.longer = longer
        self.depth = depth

    def transform(self, topics: pd.DataFrame) -> pd.DataFrame:
        rows = []
        for topic in topics.itertuples():
            wanted = set(getattr(topic, "query", "").split())
            shared = {document: len(wanted & set(text.split())) for document, text in TEXTS.items()}
            scores = {
                name: n + len(TEXTS[name]) * (0.001 if self.longer else -0.001)
                for name, n in shared.items()
                if n
            }
            best = sorted(scores, key=lambda name: -scores[name])[: self.depth]
            rows += [(topic.qid, topic.query, name, scores[name]) for name in best]
        ranked: pd.DataFrame = pt.model.add_ranks(
            pd.DataFrame(rows, columns=["qid", "query", "docno", "score"])
        )
        return ranked


def systems() -> list[Overlap]:
    return [Overlap(), Overlap(longer=True), Overlap(depth=1)]


FRAMES = {name: system(TOPICS) for name, system in zip(NAMES, systems(), strict=True)}
RANKED = FRAMES["shorter"]
MEASURES = [
    ESL @ 5,
    ESL(unanswered="cutoff+1") @ 5,
    Answered @ 5,
    nDCG @ 10,
    "map",
    RR,
]


def test_the_measures_inside_a_plain_experiment() -> None:
    plain = pt.Experiment(systems(), TOPICS, QRELS, MEASURES, names=NAMES)
    ours = iro.pyterrier.experiment(systems(), TOPICS, QRELS, MEASURES, NAMES)
    # Where PyTerrier is right, the two agree.
    for name in ("ESL(unanswered='cutoff+1')@5", "Answered@5", "nDCG@10", "AP", "RR"):
        np.testing.assert_allclose(ours[name], plain["map" if name == "AP" else name], rtol=1e-12)
    # Where it is not: an undefined value makes the mean undefined.
    assert plain["ESL@5"].isna().all()
    assert ours["ESL@5"].tolist() == [1.6, 1.6, 1.0]
    assert ours["answered (queries)"].tolist() == [5, 5, 2]
    # pt.Evaluate uses the measures' own averages.
    assert pt.Evaluate(systems()[0](TOPICS), QRELS, metrics=[ESL @ 5]) == {"ESL@5": 1.6}
    assert not pt.java.started()


def test_each_system_runs_once() -> None:
    calls = []

    class Counted(Overlap):
        def transform(self, topics: pd.DataFrame) -> pd.DataFrame:
            calls.append(len(topics))
            return super().transform(topics)

    iro.pyterrier.experiment([Counted(), Counted(True)], TOPICS, QRELS, MEASURES, NAMES[:2])
    assert calls == [6, 6]


@pytest.mark.parametrize("unit", ["query", "document"])
def test_the_comparison_is_that_of_the_runs(unit: Any) -> None:
    found = iro.pyterrier.experiment(
        systems(), TOPICS, QRELS, [nDCG @ 10], NAMES, baseline="longer", cutoff=5, unit=unit
    )
    runs = {name: frame[["qid", "docno", "score"]] for name, frame in FRAMES.items()}
    ev = iro.evaluate(QRELS, runs, cutoff=5, unit=unit, measures=[nDCG @ 10])
    compared = {item.contender: item for item in iro.compare(ev, "longer", measures=[nDCG @ 10])}
    gains = dict(zip(ev.names, ev.scores_of("nDCG@10").values, strict=True))
    for row in found.to_dict("records"):
        name = row["name"]
        if name == "longer":
            assert not isinstance(row["verdict"], str)
            continue
        item = compared[name]
        assert row["verdict"] == item.verdict.label
        for facet in (item.coverage, item.ranking):
            assert row[f"{facet.name}_difference"] == pytest.approx(facet.difference)
            assert row[f"{facet.name}_p_corrected"] == facet.pvalue_corrected
        assert row["nDCG@10_p"] == item.measures[0].pvalue
        assert row["nDCG@10_better"] == np.sum(gains[name] > gains["longer"])
        assert row["nDCG@10_differ"] == np.sum(gains[name] != gains["longer"])


def test_frames_dicts_and_no_baseline() -> None:
    means = iro.pyterrier.experiment(FRAMES, TOPICS, QRELS, [ESL @ 5], baseline=None)
    assert list(means.columns) == ["name", "ESL@5", "answered (queries)"]
    assert list(means["name"]) == NAMES
    alone = iro.pyterrier.experiment([RANKED], TOPICS, QRELS, ["map"])
    assert list(alone.columns) == ["name", "AP", "answered (queries)"]


def test_topics_without_qrels_and_qrels_without_topics() -> None:
    more = pd.concat(
        [TOPICS, pd.DataFrame([("7", "rain"), ("8", "steel")], columns=["qid", "query"])]
    )
    expected = iro.pyterrier.experiment(FRAMES, TOPICS, QRELS, MEASURES)
    found = iro.pyterrier.experiment(systems(), more, QRELS, MEASURES, NAMES)
    pd.testing.assert_frame_equal(found, expected)
    few, only = (
        iro.pyterrier.experiment(
            FRAMES, topics, qrels, ["Answered@5"], unit="query", allow=["unknown-ids"]
        )
        for topics, qrels in ((TOPICS.head(2), QRELS), (TOPICS, QRELS[QRELS["qid"] < "3"]))
    )
    # The lists of other queries say how long a list can be, which intervals of few queries depend on.
    columns = [column for column in few if not re.search("interval|restricted|detectable", column)]
    pd.testing.assert_frame_equal(few[columns], only[columns])


def test_whole_number_ids() -> None:
    expected = iro.pyterrier.experiment(FRAMES, TOPICS, QRELS, [ESL @ 5])
    numbered = [
        frame.assign(qid=frame["qid"].astype(int)) for frame in (*FRAMES.values(), TOPICS, QRELS)
    ]
    *runs, topics, qrels = numbered
    found = iro.pyterrier.experiment(runs, topics, qrels, [ESL @ 5], NAMES)
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"baseline": 7}, ParameterError, "no run is called 7; the runs are shorter"),
        ({"eval_metrics": "map"}, ParameterError, "`eval_metrics` is of type str"),
        ({"systems": RANKED}, ParameterError, "`systems` is of type DataFrame"),
        ({"systems": [RANKED, 7, RANKED]}, ParameterError, "systems: 7 is no transformer"),
        (
            {"topics": TOPICS.rename(columns={"qid": "id"})},
            FormatError,
            "the topics: must be a frame with the column qid",
        ),
        (
            {"topics": pd.concat([TOPICS, TOPICS.head(1)])},
            FormatError,
            "the topics: hold topic 1 twice",
        ),
        ({"topics": TOPICS.assign(qid="x" + TOPICS["qid"])}, MismatchError, "none of the topics"),
        (
            {"systems": [RANKED, RANKED.drop(columns="docno"), RANKED]},
            FormatError,
            "system 1: a ranking has the columns",
        ),
    ],
)
def test_what_is_wrong_is_said(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    everything = {
        "systems": [RANKED, FRAMES["longer"], FRAMES["shallow"]],
        "topics": TOPICS,
        "qrels": QRELS,
        "names": NAMES,
        **arguments,
    }
    with pytest.raises(error, match=message):
        iro.pyterrier.experiment(**everything)


def test_settings_come_from_the_measures() -> None:
    graded = QRELS.assign(label=[2, 1, 2, 1, 1, 2, 1, 1])
    frame = iro.pyterrier.experiment(FRAMES, TOPICS, graded, [ESL(rel=2) @ 3, nDCG @ 10])
    assert (frame.attrs["cutoff"], frame.attrs["rel"]) == (3, 2)
    differing = iro.pyterrier.experiment(FRAMES, TOPICS, graded, [ESL @ 3, ESL @ 5])
    assert (differing.attrs["cutoff"], differing.attrs["rel"]) == (4, 1)  # the longest list
    chosen = iro.pyterrier.experiment(FRAMES, TOPICS, graded, [ESL @ 3], cutoff=4)
    assert chosen.attrs["cutoff"] == 4


def test_dataset_ids_and_datasets_of_pyterrier(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "msmarco-passage/trec-dl-2020/judged"
    graded = QRELS.assign(label=2)
    data = Mock(
        spec=["get_topics", "get_qrels"],
        **{"get_topics.return_value": TOPICS, "get_qrels.return_value": graded},
    )
    monkeypatch.setattr(pt, "get_dataset", {f"irds:{name}": data}.__getitem__)
    monkeypatch.setattr(iro.Task, "qrels", iro.as_qrels(graded))
    frame = iro.pyterrier.experiment(FRAMES, name, name, ["map"])
    assert (frame.attrs["cutoff"], frame.attrs["rel"], frame.attrs["unit"]) == (1000, 2, "document")
    given = iro.pyterrier.experiment(FRAMES, data, data, ["map"])
    assert (given["AP"].tolist(), given.attrs["rel"]) == (frame["AP"].tolist(), 1)


def test_without_pyterrier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyterrier", None)
    with pytest.raises(MissingDependency, match=r'pip install "ir-outcomes\[pyterrier\]"'):
        iro.pyterrier.experiment(systems(), TOPICS, QRELS)


def test_importing_pyterrier_loads_the_module(tmp_path: Path) -> None:
    """PyTerrier loads the modules that packages declare as entry points of its own."""
    declare_entry_points(tmp_path)
    code = (
        "import pyterrier as pt, ir_measures; print(pt.outcomes.experiment.__module__,"
        " ir_measures.parse_measure('ESL@100'))"
    )
    path = os.pathsep.join(
        [str(tmp_path), *map(str, iro.__path__[0].rsplit("/ir_outcomes", 1)[:1])]
    )
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.stdout == "ir_outcomes.pyterrier ESL@100\n", done.stderr
