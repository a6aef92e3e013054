"""Experiments over a dozen texts, inside PyTerrier without Java."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from ir_measures import RR, NumRet, nDCG
from scipy import stats
from statsmodels.stats.multitest import multipletests

import ir_outcomes as iro
from ir_outcomes import ESL, Answered
from ir_outcomes.errors import DatasetUnavailable, FormatError, MissingDependency, ParameterError
from tests.helpers.comparisons import compare_several
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
    NumRet(rel=1),
    RR,
]


def test_the_measures_inside_a_plain_experiment() -> None:
    plain = pt.Experiment(systems(), TOPICS, QRELS, MEASURES, names=NAMES)
    ours = iro.pyterrier.experiment(systems(), TOPICS, QRELS, MEASURES, NAMES, cutoff=5)
    # Where PyTerrier is right, the two agree.
    for name in ("ESL(unanswered='cutoff+1')@5", "Answered@5", "nDCG@10", "map", "RR"):
        np.testing.assert_allclose(ours[name], plain[name], rtol=1e-12)
    # Where it is not: an undefined value makes the mean undefined, and counts become shares.
    assert plain["ESL@5"].isna().all()
    assert ours["ESL@5"].tolist() == [1.6, 1.6, 1.0]
    assert ours["answered (queries)"].tolist() == [5, 5, 2]
    assert plain["NumRet(rel=1)"].max() < 2
    assert ours["NumRet(rel=1)"].tolist() == [7.0, 7.0, 2.0]
    # pt.Evaluate uses the measures' own averages.
    evaluated = pt.Evaluate(systems()[0](TOPICS), QRELS, metrics=[ESL @ 5, NumRet(rel=1)])
    assert evaluated == {"ESL@5": 1.6, "NumRet(rel=1)": 7.0}
    assert not pt.java.started()


@pytest.mark.parametrize(
    ("unit", "options"),
    [("query", {"plan": "tree"}), ("document", {"batch_size": 4}), ("document", {})],
)
def test_the_comparison_is_that_of_the_runs(unit: Any, options: dict[str, Any]) -> None:
    found = iro.pyterrier.experiment(
        systems(),
        TOPICS,
        QRELS,
        names=NAMES,
        cutoff=5,
        unit=unit,
        returns="comparisons",
        verbose=False,
        **options,
    )
    runs = {name: frame[["qid", "docno", "score"]] for name, frame in FRAMES.items()}
    assert found == iro.compare(QRELS, runs.pop("shorter"), runs, cutoff=5, unit=unit, names=NAMES)
    assert found[0].per_query()[0].text == "cat on mat"


def test_frames_dicts_and_the_baseline_by_name() -> None:
    found = iro.pyterrier.experiment(
        FRAMES, TOPICS, QRELS, ["ESL@5", "nDCG@10"], baseline="longer", cutoff=5, round=2
    )
    assert list(found.columns[:4]) == ["name", "ESL@5", "nDCG@10", "answered (queries)"]
    assert found["nDCG@10"].tolist() == [round(value, 2) for value in found["nDCG@10"]]
    assert found["verdict"].isna().tolist() == [False, True, False]
    assert found["coverage difference (pp, by query)"].tolist() == pytest.approx(
        [0, np.nan, -50], nan_ok=True
    )
    means = iro.pyterrier.experiment(FRAMES, TOPICS, QRELS, [ESL @ 5], baseline=None)
    assert list(means.columns) == ["name", "ESL@5", "answered (queries)"]
    _, result = iro.pyterrier.experiment(
        list(FRAMES.values())[:2], TOPICS, QRELS, ["map"], returns="both"
    )
    assert len(result) == 1


def test_topics_without_qrels_and_qrels_without_topics() -> None:
    more = pd.concat(
        [TOPICS, pd.DataFrame([("7", "rain"), ("8", "steel")], columns=["qid", "query"])]
    )
    expected = iro.pyterrier.experiment(FRAMES, TOPICS, QRELS, MEASURES, cutoff=5)
    options: dict[str, Any]
    for options in ({"batch_size": 2}, {"plan": "tree"}):
        found = iro.pyterrier.experiment(
            systems(), more, QRELS, MEASURES, NAMES, cutoff=5, verbose=False, **options
        )
        pd.testing.assert_frame_equal(found, expected)
    few: dict[str, Any] = {"topics": TOPICS.head(2), "qrels": QRELS, "returns": "comparisons"}
    assert iro.pyterrier.experiment(FRAMES, **few)[0].n_queries == 2
    kept = iro.pyterrier.experiment(systems(), **few, filter_by_topics=False, batch_size=2)
    assert (kept[0].n_queries, kept[0].outcomes.neither) == (6, 4)


def test_whole_number_ids() -> None:
    expected = iro.pyterrier.experiment(FRAMES, TOPICS, QRELS, [ESL @ 5])
    numbered = [
        frame.assign(qid=frame["qid"].astype(int)) for frame in (*FRAMES.values(), TOPICS, QRELS)
    ]
    *runs, topics, qrels = numbered
    found = iro.pyterrier.experiment(runs, topics, qrels, [ESL @ 5], NAMES)
    pd.testing.assert_frame_equal(found, expected)
    pd.testing.assert_frame_equal(
        iro.pyterrier.experiment(FRAMES, topics, QRELS, [ESL @ 5]), expected
    )


def test_saved_results_are_used_again(tmp_path: Path) -> None:
    again: dict[str, Any] = {
        "save_dir": str(tmp_path),
        "save_mode": "reuse",
        "verbose": False,
        "validate": "ignore",
    }
    first = iro.pyterrier.experiment(systems(), TOPICS, QRELS, ["ESL@5"], NAMES, **again)
    others = [Overlap(depth=depth) for depth in (2, 3, 4)]
    pd.testing.assert_frame_equal(
        iro.pyterrier.experiment(others, TOPICS, QRELS, ["ESL@5"], NAMES, **again), first
    )
    saved = tmp_path / "perquery.csv"
    found = iro.compare_outputs(
        saved, [saved, saved], names=tuple(NAMES), measure="ESL@5", qrels=QRELS
    )
    assert [comparison.verdict.label for comparison in found] == first["verdict"].tolist()[1:]


def test_an_experiment_already_run() -> None:
    arguments: dict[str, Any] = {"eval_metrics": [ESL @ 5, nDCG @ 10], "names": NAMES}
    run = pt.Experiment(list(FRAMES.values()), TOPICS, QRELS, perquery=True, **arguments)
    both = pt.Experiment(list(FRAMES.values()), TOPICS, QRELS, perquery="both", **arguments)
    expected = iro.pyterrier.experiment(
        FRAMES, TOPICS, QRELS, cutoff=5, unit="query", returns="comparisons"
    )
    for perquery in (run, both.perquery):
        found = iro.compare_outputs(
            perquery, [perquery, perquery], names=tuple(NAMES), measure="ESL@5", qrels=QRELS
        )
        assert [(each.contender, each.outcomes, each.verdict.label) for each in found] == [
            (each.contender, each.outcomes, each.verdict.label) for each in expected
        ]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"highlight": "italic"}, ParameterError, "`highlight='italic'`: must be one of bold"),
        ({"dataframe": False}, ParameterError, "dataframe: .*always a frame"),
        ({"correction": "homl"}, ParameterError, "`correction='homl'`: must be one of holm"),
        ({"baseline": [0, 0]}, ParameterError, "name each baseline once"),
        (
            {"baseline": 7},
            ParameterError,
            "`baseline=7`: must be the place of a system, 0 to 2, or its name: shorter",
        ),
        ({"perquery": True}, ParameterError, "perquery: .*call pyterrier.Experiment"),
        ({"baseline": None, "returns": "both"}, ParameterError, "needs a baseline"),
        ({"names": ["a", "b"]}, ParameterError, "2 names for 3 systems"),
        ({"eval_metrics": "map"}, ParameterError, "eval_metrics: must be a list"),
        ({"eval_metrics": ["map", "mrt"]}, ParameterError, "mrt: .*call pyterrier.Experiment"),
        ({"systems": RANKED}, ParameterError, "systems: must be a list or dict"),
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
        ({"qrels": QRELS.drop(columns="label")}, FormatError, "the qrels: has no column .*'label'"),
        ({"systems": [RANKED, RANKED.head(0), RANKED]}, ValueError, "no results in dataframe"),
    ],
)
def test_what_is_wrong_is_said(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    everything = {
        "systems": [RANKED] * 3,
        "topics": TOPICS,
        "qrels": QRELS,
        "names": NAMES,
        **arguments,
    }
    with pytest.raises(error, match=message):
        iro.pyterrier.experiment(**everything)


@pytest.mark.parametrize(("more", "unit"), [("", "query"), ("123456", "document")])
def test_the_columns_say_their_unit(more: str, unit: str) -> None:
    """ESL by query stood beside a ranking difference by document, and both were called ranks."""
    several = pd.concat(
        [QRELS, pd.DataFrame([[query, "d7", 1] for query in more], columns=QRELS.columns)]
    )
    frame = iro.pyterrier.experiment(FRAMES, TOPICS, several, [ESL @ 5])
    found = [name for name in frame.columns if "difference" in name]
    assert found == [
        f"coverage difference (pp, by {unit})",
        f"ranking difference (ranks, by {unit})",
    ]


def test_settings_come_from_the_measures() -> None:
    graded = QRELS.assign(label=[2, 1, 2, 1, 1, 2, 1, 1])
    frame = iro.pyterrier.experiment(FRAMES, TOPICS, graded, [ESL(rel=2) @ 3, nDCG @ 10])
    assert (frame.attrs["cutoff"], frame.attrs["rel"]) == (3, 2)
    assert "cutoff 3, that of the measures" in " ".join(frame.attrs["notes"])
    by_hand = compare_several(
        graded,
        FRAMES["shorter"],
        [FRAMES["longer"], FRAMES["shallow"]],
        names=NAMES,
        cutoff=3,
        rel=2,
    )
    assert frame["verdict"].tolist()[1:] == [comparison.verdict.label for comparison in by_hand]
    assert frame["answered (queries)"][0] == by_hand[0].outcomes.lost + by_hand[0].outcomes.both

    differing, result = iro.pyterrier.experiment(
        FRAMES, TOPICS, graded, [ESL @ 3, ESL @ 5], returns="both"
    )
    assert (differing.attrs["cutoff"], differing.attrs["rel"]) == (100, 1)
    assert "because measures use 3, 5; choose another one with `cutoff`" in result.notes[0]
    chosen = iro.pyterrier.experiment(FRAMES, TOPICS, graded, [ESL @ 3], cutoff=4)
    assert chosen.attrs["notes"][0].endswith("cutoff 4, the argument; measures use 3.")
    assert (
        iro.pyterrier.experiment(FRAMES, TOPICS, QRELS, [nDCG @ 10, RR @ 10]).attrs["cutoff"] == 10
    )


def test_the_best_value_is_highlighted_in_its_own_direction() -> None:
    measure = ESL(unanswered="cutoff+1") @ 5
    styled = iro.pyterrier.experiment(
        FRAMES, TOPICS, QRELS, [measure, nDCG @ 10], baseline=None, highlight="bold"
    )
    rules = styled.to_html().split("</style>")[0]
    for column, name, best in ((1, str(measure), "min"), (2, "nDCG@10", "max")):
        for row, value in enumerate(styled.data[name]):
            assert (f"row{row}_col{column}" in rules) == (value == styled.data[name].agg(best))
    assert styled.data.attrs["cutoff"] == 5


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "fdr_bh"])
def test_corrections_are_those_of_statsmodels(
    correction: Literal["holm", "bonferroni", "fdr_bh"],
) -> None:
    ours = iro.pyterrier.experiment(
        FRAMES, TOPICS, QRELS, ["map"], correction=correction, alpha=0.2
    )
    rejected, corrected, _, _ = multipletests(ours["map p-value"][1:], alpha=0.2, method=correction)
    np.testing.assert_allclose(ours["map p-value corrected"][1:], corrected)
    assert ours["map reject"].tolist() == [False, *rejected]
    without = iro.pyterrier.experiment(FRAMES, TOPICS, QRELS, ["map"], correction=None)
    assert not [name for name in without.columns if "corrected" in name or "reject" in name]
    assert "coverage p-value" in without.columns


@pytest.mark.parametrize(
    "test", [stats.ttest_rel, lambda x, y: (None, stats.ttest_rel(x, y).pvalue)]
)
def test_a_function_of_paired_values_is_the_test_as_in_pyterrier(test: Any) -> None:
    by_name = iro.pyterrier.experiment(FRAMES, TOPICS, QRELS, ["map"], test="t")
    by_function, results = iro.pyterrier.experiment(
        FRAMES, TOPICS, QRELS, ["map"], test=test, returns="both"
    )
    assert results[0].settings.test == f"{test.__name__}()"
    np.testing.assert_allclose(by_function["map p-value"][1:], by_name["map p-value"][1:])


def test_what_no_two_runs_have_in_common_has_no_pvalue() -> None:
    first, last = (
        pd.DataFrame({"qid": ["1", "5"], "docno": documents, "score": [1.0, 1.0]})
        for documents in (["d1", "d9"], ["d9", "d3"])
    )
    table = iro.pyterrier.experiment([first, last], TOPICS, QRELS, [ESL @ 5])
    assert table["ESL@5 +"][1] == table["ESL@5 -"][1] == 0
    columns = ["ESL@5 p-value", "ESL@5 p-value corrected", "ranking p-value corrected"]
    assert table.loc[1, columns].isna().all()
    assert not table["ESL@5 reject"][1]
    assert table["coverage p-value corrected"][1] == 1.0


def test_several_baselines() -> None:
    given: dict[str, Any] = {"topics": TOPICS, "qrels": QRELS, "eval_metrics": [nDCG @ 10]}
    frame, results = iro.pyterrier.experiment(
        FRAMES, **given, baseline=["shorter", 2], returns="both"
    )
    assert list(results) == ["shorter", "shallow"]
    for name, result in results.items():
        single = iro.pyterrier.experiment(FRAMES, **given, baseline=name)
        assert single["verdict"].dropna().tolist() == [
            comparison.verdict.label for comparison in result
        ]
        for column in (
            "nDCG@10 +",
            "nDCG@10 p-value corrected",
            "ranking difference (ranks, by query)",
            "verdict",
        ):
            pd.testing.assert_series_equal(
                frame[f"{column} (against {name})"], single[column], check_names=False
            )


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
    assert (given["map"].tolist(), given.attrs["rel"]) == (frame["map"].tolist(), 1)
    data.get_topics.side_effect = RuntimeError(
        "All sources failed", [("a mirror", ConnectionError("no network"))]
    )
    with pytest.raises(
        DatasetUnavailable, match=r"Mock.*: its topics cannot be loaded \(no network\)"
    ):
        iro.pyterrier.experiment(FRAMES, data, QRELS, ["map"])


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
