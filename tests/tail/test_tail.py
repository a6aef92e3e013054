from __future__ import annotations

import statistics
from itertools import combinations
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, P

import ir_outcomes as iro
from ir_outcomes.errors import MismatchError, ParameterError
from ir_outcomes.tail.measures import average_precision, document_precisions, precision_at
from ir_outcomes.tail.reordering import ablation
from ir_outcomes.tail.rrie import reduction
from tests.helpers.literal import Qrels, Run
from tests.helpers.many import collection


def plain_documents(qrels: Qrels, run: Run, query: str, depth: int) -> list[tuple[float, float]]:
    """Precision (equation 6, 0 if missing) and search length (the list filled up to the depth) of each relevant document."""
    order = sorted(run.get(query, {}), key=lambda d: -run[query][d])[:depth]
    golds = [d for d, grade in qrels[query].items() if grade >= 1]
    found = sum(d in golds for d in order)
    result = []
    for gold in golds:
        if gold not in order:
            result.append((0.0, depth - found + 1.0))
            continue
        above = order[: order.index(gold)]
        relevant = sum(d in golds for d in above)
        result.append(((relevant + 1) / (len(above) + 1), len(above) - relevant + 1.0))
    return result


def test_the_way_from_ap_to_asl_is_what_its_steps_are_called() -> None:
    qrels, runs = collection(3, 15, relevant=3, seed=6)
    tables = [iro.search_lengths(qrels, run, cutoff=10) for run in runs.values()]
    ap, atomized, harmonic, asl = ablation(tables, "cutoff")
    for number, run in enumerate(runs.values()):
        documents = [plain_documents(qrels, run, query, 10) for query in qrels]
        inverse = [[1 / length for _, length in each] for each in documents]
        expected = {
            "AP": [statistics.fmean(p for p, _ in each) for each in documents],
            "atomized P": [statistics.fmean(each) for each in inverse],
            "harmonic P": [statistics.harmonic_mean(each) for each in inverse],
        }
        for table in (ap, atomized, harmonic):
            assert table.values[number].tolist() == pytest.approx(expected[table.measure])
        assert 1 / asl.means()[number] == pytest.approx(statistics.harmonic_mean(expected["harmonic P"]))
        of_pytrec_eval = {each.query_id: each.value for each in ir_measures.iter_calc([ir_measures.AP @ 10], qrels, run)}
        assert ap.values[number].tolist() == pytest.approx([of_pytrec_eval[query] for query in qrels])
    assert [table.higher_is_better for table in (ap, atomized, harmonic, asl)] == [True, True, True, False]


def better(values: np.ndarray, magnitudes: np.ndarray, rising: bool) -> list[int]:
    """How many runs are 10 % better than each, and significantly so."""
    counts = [0] * len(values)
    for one, other in combinations(range(len(values)), 2):
        for mine, theirs in ((one, other), (other, one)):
            d = values[theirs] - values[mine]
            if d.any() and magnitudes[theirs] >= 1.1 * magnitudes[mine]:
                test = scipy.stats.ttest_1samp(d, 0)
                counts[mine] += bool(test.pvalue <= 0.05 and (d.mean() > 0) == rising)
    return counts


@pytest.mark.parametrize("seed", range(4))
def test_reordering_by_loops(seed: int) -> None:
    qrels, runs = collection(5, 25, relevant=3, seed=seed)
    tables = ablation([iro.search_lengths(qrels, run, cutoff=10) for run in runs.values()], "cutoff")
    result = iro.reordering(qrels, runs, cutoff=10)
    magnitudes = [table.means() if table.higher_is_better else 1 / table.means() for table in tables]
    counts = [better(table.values, m, table.higher_is_better) for table, m in zip(tables, magnitudes, strict=True)]
    assert [each.step for each in result.changes] == [
        "atomize P", "harmonic within queries", "harmonic across queries", "cumulative",
    ]  # fmt: skip
    for change, (old, new) in zip(result.changes, ((0, 1), (1, 2), (2, 3), (0, 3)), strict=True):
        moved = [abs(a - b) for a, b in zip(counts[old], counts[new], strict=True)]
        assert change.delta_sort == pytest.approx(100 * max(moved) / 5)
        place = list(runs).index(change.run)
        assert (change.better_before, change.better_after) == (counts[old][place], counts[new][place])
        assert change.tau == pytest.approx(scipy.stats.kendalltau(magnitudes[old].round(9), magnitudes[new].round(9)).statistic)
        ratios = magnitudes[new] / magnitudes[old]
        assert (change.delta_value, change.deviation) == pytest.approx((ratios.mean(), ratios.std(ddof=1)))
    assert np.array(result.values) == pytest.approx(np.array(magnitudes))
    assert iro.Reordering.from_json(result.to_json()) == result


def test_reordering_by_any_two_measures() -> None:
    qrels, runs = collection(3, 25, relevant=2)
    result = iro.reordering(qrels, runs, measures=["RR", "ESL(unanswered='cutoff+1')@10"])
    (change,) = result.changes
    rr, esl = (
        [ir_measures.calc_aggregate([iro.parse_measure(name)], qrels, run)[iro.parse_measure(name)] for run in runs.values()]
        for name in ("RR", "ESL(unanswered='cutoff+1')@10")
    )
    assert change.tau == pytest.approx(scipy.stats.kendalltau(rr, [-each for each in esl]).statistic)
    with pytest.raises(ParameterError, match="name at least two"):
        iro.reordering(qrels, runs, measures=["RR"])
    with pytest.raises(ParameterError, match="there is one run only"):
        iro.reordering(qrels, {"a": runs["run0"]}, cutoff=10)


def test_rrie_is_table_1() -> None:
    published = [  # Alex et al. 2022, Table 1: P@20, ASL@g1-10, MAP, ASL for documents and passages
        (0.456, 0.594, 25), (14, 5, 69), (0.401, 0.543, 24), (39, 27, 32),
        (0.517, 0.706, 39), (51, 6, 90), (0.400, 0.572, 29), (264, 215, 19),
    ]  # fmt: skip
    for baseline, contender, percent in published:
        found = reduction("m", baseline, contender).rrie
        assert found is not None
        assert 100 * found == pytest.approx(percent, abs=1.0)
    assert reduction("P@20", 1.0, 0.9).rrie is None


def test_rrie_of_two_runs() -> None:
    qrels, runs = collection(2, 25, relevant=3)
    result = iro.rrie(qrels, runs["run0"], runs["run1"], names=["A", "B"])
    assert result.cutoff == 10
    for each in result.reductions:
        measure = iro.parse_measure(each.measure)
        means = [ir_measures.calc_aggregate([measure], qrels, run)[measure] for run in runs.values()]
        assert (each.baseline, each.contender) == pytest.approx(tuple(means))
        assert each.rrie == pytest.approx(((means[0] - 1) - (means[1] - 1)) / (means[0] - 1))
    assert iro.RRIE.from_json(result.to_json()) == result


def test_appendix_a_1() -> None:
    lengths = [1, 1, 1, 2, 4, 5, 10, 10000, 10000]
    found = iro.equivalent_lengths(lengths)
    assert found.mean() == pytest.approx(9 / sum(1 / length for length in lengths))  # equation 15
    printed = [1, 1, 1, 2.1, 2.7, 2.9, 3, 3.2, 3.2]
    assert [abs(a - b) < 0.05 for a, b in zip(found, printed, strict=True)] == [True] * 5 + [False] + [True] * 3
    assert found[5] == pytest.approx(2.8, abs=0.03)  # with 2.9 the mean would be another
    for wrong in ([], [0.5], [np.inf], [[1.0]]):
        with pytest.raises(ParameterError, match="lengths: must be"):
            iro.equivalent_lengths(wrong)


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=30))
def test_equivalent_lengths_have_the_weighted_mean(lengths: list[float]) -> None:
    assert iro.equivalent_lengths(lengths).mean() == pytest.approx(len(lengths) / sum(1 / each for each in lengths))


@pytest.mark.parametrize("seed", range(5))
def test_the_effective_share_by_trying_every_part(seed: int) -> None:
    qrels, runs = collection(1, 12, relevant=3, seed=seed)
    table = iro.search_lengths(qrels, runs["run0"])
    documents = [(p, 1 / len(qrels[query])) for query in qrels for p, _ in plain_documents(qrels, runs["run0"], query, 99)]
    assert sorted(document_precisions(table).tolist()) == pytest.approx(sorted(p for p, _ in documents))
    target = sum(w for _, w in documents) / sum(p * w for p, w in documents)
    documents.sort(key=lambda each: -each[0])
    tried = []
    for size in range(1, sum(p > 0 for p, _ in documents) + 1):
        part = documents[:size]
        weight = sum(w for _, w in part)
        tried.append((abs(sum(w / p for p, w in part) / weight - target), weight / sum(w for _, w in documents)))
    assert iro.effective_share(table) == pytest.approx(min(tried)[1])


def test_distributions_count_every_relevant_document() -> None:
    qrels, runs = collection(3, 25, relevant=3)
    result = iro.length_distributions(qrels, runs, bins=4)
    assert result.n_documents == 75
    for each in result.runs:
        plain = [length for query in qrels for p, length in plain_documents(qrels, runs[each.run], query, 10) if p > 0]
        assert each.missing == 75 - len(plain)
        assert each.counts == tuple(np.histogram(plain, result.edges)[0].tolist())
        assert sum(each.counts) == len(plain)
        means = [np.mean([length for _, length in plain_documents(qrels, runs[each.run], query, 10)]) for query in qrels]
        assert each.asl == pytest.approx(np.mean(means))
    assert iro.LengthDistributions.from_json(result.to_json()) == result


def test_changes_are_mirrored() -> None:
    qrels, runs = collection(2, 25, relevant=3)
    there = iro.length_changes(qrels, runs["run0"], runs["run1"], names=["A", "B"])
    back = iro.length_changes(qrels, runs["run1"], runs["run0"], names=["B", "A"])
    assert (there.wins, there.losses, there.unchanged) == (back.losses, back.wins, back.unchanged)
    assert there.mean == pytest.approx(-back.mean)
    assert there.found_only_by_contender == back.found_only_by_baseline
    assert sum(there.wins) + sum(there.losses) + there.unchanged + there.found_by_neither == 75
    assert sum(row["documents"] for row in there.rows()) == 75
    assert iro.LengthChanges.from_json(there.to_json()) == there


def test_runs_of_unequal_depth_are_refused() -> None:
    qrels, runs = collection(2, 25, relevant=3)
    runs["short"] = {query: dict(list(ranking.items())[:4]) for query, ranking in runs["run0"].items()}
    message = r"the runs differ in depth \(4: short; 10: run0, run1\).*cutoff=4, or missing='retrieved'"
    analyses: list[Any] = [iro.length_distributions, iro.reordering, iro.headroom]
    for analysis in analyses:
        with pytest.raises(MismatchError, match=message):
            analysis(qrels, runs)
        assert analysis(qrels, runs, cutoff=4).cutoff == 4
        assert "short lists look good" in analysis(qrels, runs, missing="retrieved").notes[0]
    assert "no list reaches the depth of 8" in iro.length_distributions(qrels, runs, cutoff=8).notes[0]


def test_an_infinite_asl_is_refused_everywhere() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    del runs["run1"]["q3"]
    first, second = runs.values()
    analyses: list[Any] = [iro.length_distributions, iro.reordering, iro.headroom]
    for analysis in analyses:
        with pytest.raises(ParameterError, match=r"run1: no irrelevant documents for 1 queries \(q3\)"):
            analysis(qrels, runs, missing="retrieved")
        assert analysis(qrels, runs).to_json()
    for of_two in (iro.rrie, iro.length_changes):
        with pytest.raises(ParameterError, match="B: no irrelevant documents for 1 queries"):
            of_two(qrels, first, second, missing="retrieved", names=["A", "B"])
        assert of_two(qrels, first, second, names=["A", "B"]).to_json()


def test_documents_that_neither_run_finds_do_not_move() -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    short, long = ({"q": {"a": 9.0, "x": 8.0, "y": 7.0}}, {"q": {"a": 9.0, "b": 8.0, "x": 7.0}})
    found = iro.length_changes(qrels, short, long, names=["A", "B"])
    assert (sum(found.wins), sum(found.losses), found.unchanged, found.found_by_neither) == (1, 0, 1, 1)
    assert found.mean == pytest.approx((0 - 2 - 1) / 3)  # c is missing from a list with one irrelevant document less


def test_two_runs_are_two_runs(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.run").write_text("q Q0 d 1 1 t\n")
    for of_two in (iro.rrie, iro.length_changes):
        with pytest.raises(ParameterError, match="baseline and contender must be one run each; these are 4 runs"):
            of_two({"q": {"d": 1}}, tmp_path, tmp_path / "a.run")


def test_lists_of_relevant_documents_only_are_refused_under_equation_3() -> None:
    runs = {"bare": {"q": {"a": 1.0}}, "other": {"q": {"a": 2.0, "x": 1.0}}}
    with pytest.raises(ParameterError, match=r"bare: no irrelevant documents for 1 queries \(q\)"):
        iro.reordering({"q": {"a": 1, "b": 1}}, runs, cutoff=2, missing="retrieved")


def test_what_is_left_out_is_said() -> None:
    qrels, runs = collection(2, 12, relevant=2)
    judged = {**qrels, "none": {"d": 0}}
    runs = {name: {**{q: r for q, r in run.items() if q != "q4"}, "zz": {"d": 1.0}} for name, run in runs.items()}
    for analysis in (iro.length_distributions, iro.headroom, iro.reordering):
        found = analysis(judged, runs)
        assert found.notes[:3] == (
            "1 queries have no relevant document at rel 1 and are left out.",
            "run0, run1 lack 1 queries of the qrels (q4); they count as unanswered.",
            "run0, run1 have 1 queries that the qrels lack (zz); they are ignored.",
        )
    assert iro.headroom(judged, runs).measures == iro.headroom(qrels, runs).measures


def test_settings_of_the_way_to_asl_are_no_settings_of_named_measures() -> None:
    qrels, runs = collection(2, 10)
    for setting in ({"cutoff": 3}, {"rel": 2}, {"ties": "msmarco"}, {"missing": "retrieved"}, {"cache": "kept"}):
        with pytest.raises(ParameterError, match=f"{next(iter(setting))} is for the way from AP to ASL"):
            iro.reordering(qrels, runs, measures=["RR", "AP"], **setting)


def test_runs_that_are_equal_but_for_rounding_tie() -> None:
    qrels = {f"q{n}": {"d": 1} for n in range(7)}
    ranks = [1, 3, 7, 9, 2, 6, 4]
    runs = {
        name: {
            q: {("d" if place == rank else f"x{place}"): -place for place in range(1, 10)}
            for q, rank in zip(qrels, order, strict=True)
        }
        for name, order in (("one", ranks), ("turned", ranks[::-1]), ("none", [99] * 7))
    }
    assert [each.tau for each in iro.reordering(qrels, runs).changes] == [1.0] * 4
    assert iro.reordering(qrels, runs, measures=["RR", "ESL@9"]).changes[0].tau == 1.0


def test_precision_needs_one_order_and_lists_that_are_deep_enough() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    first, second = runs.values()
    for analysis in (iro.headroom, iro.reordering, iro.length_distributions):
        with pytest.raises(ParameterError, match="ties='expected' gives no single order"):
            analysis(qrels, runs, ties="expected")
    for of_two in (iro.rrie, iro.length_changes):
        with pytest.raises(ParameterError, match="ties='expected'"):
            of_two(qrels, first, second, names=["A", "B"], ties="expected")
    measure = iro.headroom(qrels, runs, cutoff=4).measures[0]
    assert measure.measure == "P@4"
    assert measure.mean == pytest.approx(ir_measures.calc_aggregate([P @ 4], qrels, runs[measure.run])[P @ 4])


def test_precision_and_average_precision_are_those_of_ir_measures() -> None:
    qrels, runs = collection(1, 40, relevant=3, seed=7)
    qrels["q0"] = {"d0": 0}  # unanswerable
    table = iro.search_lengths(qrels, runs["run0"], cutoff=8)
    expected = {
        (each.measure, each.query_id): each.value for each in ir_measures.iter_calc([P @ 5, AP @ 8], qrels, runs["run0"])
    }
    for measure, values in ((P @ 5, precision_at(table, 5)), (AP @ 8, average_precision(table))):
        assert values.tolist() == pytest.approx([expected[measure, query] for query in table.query_ids])


def test_headroom_is_of_the_best_run() -> None:
    qrels, runs = collection(3, 25, relevant=3)
    result = iro.headroom(qrels, runs)
    for each, rising in zip(result.measures, (True, False, True, False), strict=True):
        measure = iro.parse_measure(each.measure)
        means = {name: ir_measures.calc_aggregate([measure], qrels, run)[measure] for name, run in runs.items()}
        assert each.run == (max if rising else min)(means, key=lambda name: means[name])
        assert each.mean == pytest.approx(means[each.run])
        assert sum(each.counts) == 25
    assert iro.Headroom.from_json(result.to_json()) == result


@pytest.mark.realdata
def test_bm25_with_rm3_on_the_passages_of_2020(real_data: Path) -> None:
    folder = real_data / "dl20-passage"
    (found,) = iro.length_distributions(folder / "qrels.txt", [folder / "BM25RM3.run.gz"], missing="retrieved").runs
    assert found.asl == pytest.approx(270.2, abs=0.05)  # the paper: 264 for its best BM25 run, with MAP 0.400
    assert found.asl_top == pytest.approx(30.9, abs=0.05)
    table = iro.search_lengths(folder / "qrels.txt", folder / "BM25RM3.run.gz")
    assert ablation([table], "retrieved")[0].means()[0] == pytest.approx(0.4022, abs=5e-5)
