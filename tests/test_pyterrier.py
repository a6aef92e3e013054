"""Real experiments: a BM25 index without Java over a dozen texts, inside PyTerrier."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import bm25s
import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from ir_measures import RR, NumRet, nDCG
from statsmodels.stats.multitest import multipletests

import ir_outcomes as iro
from ir_outcomes import ESL, Answered, Outcome
from ir_outcomes.comparison.result import Comparisons
from ir_outcomes.errors import DatasetUnavailable, FormatError, IrOutcomesWarning, MissingDependency, ParameterError
from tests.helpers.comparisons import compare_several
from tests.helpers.entry_points import declare_entry_points
from tests.test_documents import PRINTING, prepare, printed_by

TEXTS = {
    "d1": "the cat sat on the mat",
    "d2": "a dog chased the cat",
    "d3": "dogs and cats are pets",
    "d4": "the stock market fell sharply",
    "d5": "investors sold stock in the market",
    "d6": "rain fell on the mat",
    "d7": "heavy rain and wind",
    "d8": "wind power from the sea",
    "d9": "the sea was calm",
    "d10": "power stations burn coal",
    "d11": "coal and steel prices",
    "d12": "steel bridges over the sea",
}
TOPICS = pd.DataFrame(
    [("1", "cat on mat"), ("2", "stock market"), ("3", "sea wind"), ("4", "coal power"), ("5", "pets"), ("6", "zebra")],
    columns=["qid", "query"],
)
QRELS = pd.DataFrame(
    [*zip("11233456", ["d2", "d6", "d5", "d9", "d8", "d11", "d3", "d4"], [1] * 8, strict=True)],
    columns=["qid", "docno", "label"],
)
NAMES = ["bm25", "saturated", "shallow"]


class Bm25(pt.Transformer):  # type: ignore[misc]
    def __init__(self, k1: float = 1.5, depth: int = 5) -> None:
        self.k1 = k1
        self.depth = depth

    def transform(self, topics: pd.DataFrame) -> pd.DataFrame:
        index = bm25s.BM25(k1=self.k1)
        index.index(bm25s.tokenize(list(TEXTS.values()), stopwords=None, show_progress=False), show_progress=False)
        rows = []
        for topic in topics.itertuples():
            if hasattr(topic, "query"):
                words = bm25s.tokenize([topic.query], stopwords=None, show_progress=False)
                documents, scores = index.retrieve(words, k=self.depth, show_progress=False)
                found = zip(documents[0], scores[0], strict=True)
                rows += [(topic.qid, topic.query, list(TEXTS)[place], float(score)) for place, score in found if score > 0]
        ranked: pd.DataFrame = pt.model.add_ranks(pd.DataFrame(rows, columns=["qid", "query", "docno", "score"]))
        return ranked


def systems() -> list[Bm25]:
    return [Bm25(), Bm25(k1=0.1), Bm25(depth=1)]


MEASURES = [ESL @ 5, ESL(unanswered="cutoff+1") @ 5, Answered @ 5, nDCG @ 10, "map", NumRet(rel=1), RR]


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    return {name: system(TOPICS) for name, system in zip(NAMES, systems(), strict=True)}


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


@pytest.mark.parametrize("unit", ["query", "document"])
@pytest.mark.parametrize("options", [{}, {"batch_size": 4}, {"plan": "tree"}])
def test_the_comparison_is_that_of_the_runs(frames: dict[str, pd.DataFrame], unit: Any, options: dict[str, Any]) -> None:
    found = iro.pyterrier.experiment(
        systems(), TOPICS, QRELS, names=NAMES, cutoff=5, unit=unit, returns="comparisons", verbose=False, **options
    )
    runs = {name: frame[["qid", "docno", "score"]] for name, frame in frames.items()}
    expected = iro.compare(QRELS, runs.pop("bm25"), runs, cutoff=5, unit=unit, names=NAMES)
    assert isinstance(found, Comparisons)
    assert found == expected
    assert found[0].per_query()[0].text == "cat on mat"


def test_frames_dicts_and_the_baseline_by_name(frames: dict[str, pd.DataFrame]) -> None:
    by_name = iro.pyterrier.experiment(frames, TOPICS, QRELS, ["ESL@5", "nDCG@10"], baseline="saturated", cutoff=5, round=2)
    assert by_name["name"].tolist() == NAMES
    assert by_name["nDCG@10"].tolist() == [round(value, 2) for value in by_name["nDCG@10"]]
    assert by_name["verdict"].isna().tolist() == [False, True, False]
    assert pd.isna(by_name["ranking difference (ranks, by query)"][1])
    assert by_name["coverage difference (pp, by query)"][2] == pytest.approx(-50)
    assert list(by_name.columns[:4]) == ["name", "ESL@5", "nDCG@10", "answered (queries)"]
    means = iro.pyterrier.experiment(frames, TOPICS, QRELS, [ESL @ 5], baseline=None)
    assert list(means.columns) == ["name", "ESL@5", "answered (queries)"]
    _, result = iro.pyterrier.experiment(systems()[:2], TOPICS, QRELS, ["map"], returns="both")
    assert len(result) == 1


def test_topics_without_qrels_and_qrels_without_topics() -> None:
    more = pd.concat([TOPICS, pd.DataFrame([("7", "rain"), ("8", "steel")], columns=["qid", "query"])])
    expected = iro.pyterrier.experiment(systems(), TOPICS, QRELS, MEASURES, NAMES, cutoff=5)
    options: dict[str, Any]
    for options in ({}, {"batch_size": 2}, {"plan": "tree"}):
        found = iro.pyterrier.experiment(systems(), more, QRELS, MEASURES, NAMES, cutoff=5, verbose=False, **options)
        pd.testing.assert_frame_equal(found, expected)
    few = iro.pyterrier.experiment(systems(), TOPICS.head(2), QRELS, ["map"], NAMES, returns="comparisons")
    assert few[0].n_queries == 2
    for options in ({"filter_by_topics": False}, {"filter_by_topics": False, "batch_size": 2}):
        kept = iro.pyterrier.experiment(systems(), TOPICS.head(2), QRELS, ["map"], NAMES, returns="comparisons", **options)
        assert kept[0].n_queries == 6
        assert kept[0].outcomes.neither == 4


def test_whole_number_ids(frames: dict[str, pd.DataFrame]) -> None:
    expected = iro.pyterrier.experiment(frames, TOPICS, QRELS, MEASURES, cutoff=5)
    numbered = {name: frame.assign(qid=frame["qid"].astype(int)) for name, frame in frames.items()}
    topics, qrels = (frame.assign(qid=frame["qid"].astype(int)) for frame in (TOPICS, QRELS))
    pd.testing.assert_frame_equal(iro.pyterrier.experiment(numbered, topics, qrels, MEASURES, cutoff=5), expected)
    pd.testing.assert_frame_equal(iro.pyterrier.experiment(frames, topics, QRELS, MEASURES, cutoff=5), expected)


def test_named_baselines_inside_an_experiment(frames: dict[str, pd.DataFrame]) -> None:
    iro.register_baseline("terrier bm25", frames["bm25"], replace=True)
    measures = [Outcome(baseline="terrier bm25", case=case) @ 5 for case in ("neither", "lost", "won", "both")]
    plain = pt.Experiment(systems(), TOPICS, QRELS, measures, names=NAMES)
    (lost,) = plain.loc[plain["name"] == "shallow", str(measures[1])]
    assert lost == 0.5
    np.testing.assert_allclose(plain[[str(each) for each in measures]].sum(axis=1), 1)


def test_saved_results_are_used_again(tmp_path: Path) -> None:
    again: dict[str, Any] = {"save_dir": str(tmp_path), "save_mode": "reuse", "verbose": False}
    first = iro.pyterrier.experiment(systems(), TOPICS, QRELS, ["ESL@5"], NAMES, **again)
    assert (tmp_path / "bm25.res.gz").exists()
    second = iro.pyterrier.experiment(
        [Empty(), Bm25(), pt.Transformer.identity()], TOPICS, QRELS, ["ESL@5"], NAMES, validate="ignore", **again
    )
    pd.testing.assert_frame_equal(first, second)
    expected = iro.pyterrier.experiment(systems(), TOPICS, QRELS, names=NAMES, cutoff=5, returns="comparisons")
    found = iro.pyterrier.comparisons(tmp_path / "perquery.csv", baseline="bm25", measure="ESL@5", qrels=QRELS)
    assert [comparison.outcomes for comparison in found] == [comparison.outcomes for comparison in expected]


def test_an_experiment_already_run() -> None:
    run = pt.Experiment(systems(), TOPICS, QRELS, [ESL @ 5, nDCG @ 10], names=NAMES, perquery=True)
    expected = iro.pyterrier.experiment(systems(), TOPICS, QRELS, names=NAMES, cutoff=5, unit="query", returns="comparisons")
    both = pt.Experiment(systems(), TOPICS, QRELS, [ESL @ 5, nDCG @ 10], names=NAMES, perquery="both")
    for perquery in (run, both):
        found = iro.pyterrier.comparisons(perquery, baseline="bm25", measure=ESL @ 5, qrels=QRELS)
        assert {each.contender for each in found} == {"saturated", "shallow"}
        for each in found:
            assert each.outcomes == expected[each.contender].outcomes
            assert each.verdict.label == expected[each.contender].verdict.label
    with pytest.raises(ParameterError, match="no system has this name; they are bm25, saturated, shallow"):
        iro.pyterrier.comparisons(run, baseline="bm52")
    with pytest.raises(ParameterError, match="one system only, bm25"):
        iro.pyterrier.comparisons(run[run["name"] == "bm25"], baseline="bm25")
    with pytest.raises(FormatError, match="run it with perquery=True"):
        iro.pyterrier.comparisons({"bm25": 1}, baseline="bm25")


class Empty(pt.Transformer):  # type: ignore[misc]
    def transform(self, topics: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame([], columns=["qid", "query", "docno", "score", "rank"])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"highlight": "italic"}, ParameterError, "highlight='italic': must be one of bold"),
        ({"dataframe": False}, ParameterError, "dataframe: .*always a frame"),
        ({"correction": "homl"}, ParameterError, "correction='homl': must be one of .*holm"),
        ({"baseline": [0, 0]}, ParameterError, "name each baseline once"),
        ({"baseline": 7}, ParameterError, "baseline=7: must be the place of a system, 0 to 2, or its name: bm25"),
        ({"perquery": "both"}, ParameterError, "perquery='both': must be True or False"),
        ({"baseline": None, "returns": "both"}, ParameterError, "needs a baseline"),
        ({"names": ["a", "b"]}, ParameterError, "2 names for 3 systems"),
        ({"eval_metrics": "map"}, ParameterError, "eval_metrics: must be a list"),
        ({"eval_metrics": ["ELS@5"]}, ParameterError, "unknown measure ELS; did you mean ESL"),
        ({"eval_metrics": ["map", "mrt"]}, ParameterError, "mrt: .*call pyterrier.Experiment"),
        ({"systems": Bm25()}, ParameterError, "systems: must be a list or dict"),
        ({"topics": TOPICS.rename(columns={"qid": "id"})}, FormatError, "the topics: must be a frame with the column qid"),
        ({"topics": pd.concat([TOPICS, TOPICS.head(1)])}, FormatError, "the topics: hold topic 1 twice"),
        ({"qrels": QRELS.drop(columns="label")}, FormatError, "the qrels: has no column .*'label'"),
        ({"systems": [Bm25(), Bm25()(TOPICS).head(0), Bm25()]}, ValueError, "no results in dataframe"),
    ],
)
def test_what_is_wrong_is_said(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    everything = {"systems": systems(), "topics": TOPICS, "qrels": QRELS, "names": NAMES, **arguments}
    with pytest.raises(error, match=message):
        iro.pyterrier.experiment(**everything)


def test_duplicate_rows(frames: dict[str, pd.DataFrame]) -> None:
    twice = pd.concat([frames["bm25"], frames["bm25"].head(1)])
    with pytest.raises(FormatError, match="is ranked twice for query 1"):
        iro.pyterrier.experiment([frames["shallow"], twice], TOPICS, QRELS, names=["a", "b"])
    with pytest.warns(IrOutcomesWarning, match="1 judgment repeated with the same grade"):
        iro.pyterrier.experiment(frames, TOPICS, pd.concat([QRELS, QRELS.head(1)]), cutoff=5)


def test_the_columns_say_their_unit(frames: dict[str, pd.DataFrame]) -> None:
    """ESL by query stood beside a ranking difference by document, and both were called ranks."""
    several = pd.concat([QRELS, pd.DataFrame([[query, "d7", 1] for query in "123456"], columns=QRELS.columns)])
    for qrels, unit in ((QRELS, "query"), (several, "document")):
        frame = iro.pyterrier.experiment(frames, TOPICS, qrels, [ESL @ 5])
        assert [name for name in frame.columns if "difference" in name] == [
            f"coverage difference (pp, by {unit})", f"ranking difference (ranks, by {unit})",
        ]  # fmt: skip
        assert frame.attrs["unit"] == unit


def test_settings_come_from_the_measures(frames: dict[str, pd.DataFrame]) -> None:
    graded = QRELS.assign(label=[2, 1, 2, 1, 1, 2, 1, 1])
    frame = iro.pyterrier.experiment(frames, TOPICS, graded, [ESL(rel=2) @ 3, nDCG @ 10])
    expected = ir_measures.calc_aggregate([Answered(rel=2) @ 3], graded_qrels(graded), ir_run(frames["bm25"]))
    assert frame["answered (queries)"][0] == round(expected[Answered(rel=2) @ 3] * 6)
    assert (frame.attrs["cutoff"], frame.attrs["rel"]) == (3, 2)
    assert "cutoff 3, that of the measures" in " ".join(frame.attrs["notes"])
    by_hand = compare_several(graded, frames["bm25"], [frames["saturated"], frames["shallow"]], names=NAMES, cutoff=3, rel=2)
    assert frame["verdict"].tolist()[1:] == [comparison.verdict.label for comparison in by_hand]

    differing, result = iro.pyterrier.experiment(frames, TOPICS, graded, [ESL @ 3, ESL @ 5], returns="both")
    assert (differing.attrs["cutoff"], differing.attrs["rel"]) == (100, 1)
    assert "because measures use 3, 5; choose another one with cutoff=" in result.notes[0]
    chosen = iro.pyterrier.experiment(frames, TOPICS, graded, [ESL @ 3], cutoff=4)
    assert chosen.attrs["cutoff"] == 4
    assert "cutoff 4, the argument; measures use 3" in chosen.attrs["notes"][0]
    assert iro.pyterrier.experiment(frames, TOPICS, QRELS, [nDCG @ 10, RR @ 10]).attrs["cutoff"] == 10


def graded_qrels(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})


def ir_run(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.rename(columns={"qid": "query_id", "docno": "doc_id"})[["query_id", "doc_id", "score"]]


def test_values_of_each_query() -> None:
    measures = [Answered @ 5, nDCG @ 10, "recip_rank", "map", ir_measures.AP, "P_10"]  # map and AP are one measure
    plain = pt.Experiment(systems(), TOPICS, QRELS, measures, names=NAMES, perquery=True)
    ours = iro.pyterrier.experiment(systems(), TOPICS, QRELS, measures, NAMES, perquery=True)
    pd.testing.assert_frame_equal(ours, plain)


def test_the_best_value_is_highlighted_in_its_own_direction(frames: dict[str, pd.DataFrame]) -> None:
    measure = ESL(unanswered="cutoff+1") @ 5
    styled = iro.pyterrier.experiment(frames, TOPICS, QRELS, [measure, nDCG @ 10], baseline=None, highlight="bold")
    rules = styled.to_html().split("</style>")[0]
    best = {name: styled.data[name].agg(how) for name, how in ((str(measure), "min"), ("nDCG@10", "max"))}
    for column, name in enumerate(styled.data.columns):
        if name in best:
            for row, value in enumerate(styled.data[name]):
                assert (f"row{row}_col{column}" in rules) == (value == best[name])
    assert styled.data.attrs["cutoff"] == 5


@pytest.mark.parametrize("correction", ["holm", "hs", "bonf"])
def test_corrections_of_statsmodels(frames: dict[str, pd.DataFrame], correction: str) -> None:
    measures = [nDCG @ 10, "map"]
    ours = iro.pyterrier.experiment(frames, TOPICS, QRELS, measures, correction=correction, correction_alpha=0.2)
    for name in ("nDCG@10", "map"):
        with np.errstate(divide="ignore"):
            rejected, corrected, _, _ = multipletests(ours[f"{name} p-value"][1:], alpha=0.2, method=correction)
        np.testing.assert_allclose(ours[f"{name} p-value corrected"][1:], corrected)
        assert ours[f"{name} reject"].tolist() == [False, *rejected]
    if correction == "hs":
        assert ours.attrs["notes"][-1].startswith("Verdicts are corrected by holm")
    without = iro.pyterrier.experiment(frames, TOPICS, QRELS, measures, correction=None)
    assert not [name for name in without.columns if "corrected" in name or "reject" in name]
    assert "coverage p-value" in without.columns


def test_several_baselines(frames: dict[str, pd.DataFrame]) -> None:
    frame, results = iro.pyterrier.experiment(
        frames, TOPICS, QRELS, [nDCG @ 10], baseline=["bm25", 2], cutoff=5, returns="both"
    )
    assert list(results) == ["bm25", "shallow"]
    for name, result in results.items():
        single = iro.pyterrier.experiment(frames, TOPICS, QRELS, [nDCG @ 10], baseline=name, cutoff=5)
        assert single["verdict"].dropna().tolist() == [comparison.verdict.label for comparison in result]
        for column in ("nDCG@10 +", "nDCG@10 p-value corrected", "ranking difference (ranks, by query)", "verdict"):
            pd.testing.assert_series_equal(frame[f"{column} (against {name})"], single[column], check_names=False)


def test_dataset_ids_and_datasets_of_pyterrier(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "msmarco-passage/trec-dl-2020/judged"

    class Data:
        def get_topics(self) -> pd.DataFrame:
            return TOPICS

        def get_qrels(self) -> pd.DataFrame:
            return QRELS.assign(label=2)

    asked = []

    def get_dataset(asked_for: str) -> Data:
        asked.append(asked_for)
        return Data()

    monkeypatch.setattr(pt, "get_dataset", get_dataset)
    monkeypatch.setattr(iro.Task, "qrels", iro.as_qrels(QRELS.assign(label=2)))
    frame = iro.pyterrier.experiment(systems(), name, name, ["map"], NAMES)
    assert asked == [f"irds:{name}"]
    assert (frame.attrs["cutoff"], frame.attrs["rel"], frame.attrs["unit"]) == (1000, 2, "document")
    given = iro.pyterrier.experiment(systems(), Data(), Data(), ["map"], NAMES)
    assert given["map"].tolist() == frame["map"].tolist()
    assert given.attrs["rel"] == 1


def test_a_dataset_that_cannot_be_loaded_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    class Data:
        def get_topics(self) -> pd.DataFrame:
            raise RuntimeError("All download sources failed", [("a mirror", ConnectionError("no network"))])

        def __repr__(self) -> str:
            return "IRDSDataset('vaswani')"

    monkeypatch.setattr(pt, "get_dataset", lambda _: Data())
    with pytest.raises(DatasetUnavailable, match=r"IRDSDataset\('vaswani'\): its topics cannot be loaded \(no network\)"):
        iro.pyterrier.experiment(systems(), "irds:vaswani", QRELS, ["map"], NAMES)


def test_without_pyterrier(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyterrier", None)
    with pytest.raises(MissingDependency, match=r'pip install "\.\[pyterrier\]"'):
        iro.pyterrier.experiment(systems(), TOPICS, QRELS)


def test_the_documentation_prints_what_it_shows(tmp_path: Path, real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path, real_data)
    monkeypatch.chdir(tmp_path)
    document = Path(__file__).parents[1] / "docs" / "pyterrier.md"
    names: dict[str, object] = {}
    pairs = PRINTING.findall(document.read_text(encoding="utf-8"))
    for code, shown in pairs:
        assert printed_by(code, document, names) == shown.rstrip("\n")
    assert sum(bool(shown) for _, shown in pairs) >= 5


def test_importing_pyterrier_loads_the_module(tmp_path: Path) -> None:
    """PyTerrier loads the modules that packages declare as entry points of its own."""
    declare_entry_points(tmp_path)
    code = "import pyterrier as pt, ir_measures; print(pt.outcomes.experiment.__module__, ir_measures.parse_measure('ESL@100'))"
    path = os.pathsep.join([str(tmp_path), *map(str, iro.__path__[0].rsplit("/ir_outcomes", 1)[:1])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout == "ir_outcomes.pyterrier ESL@100\n", done.stderr
