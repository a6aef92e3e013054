import statistics
import warnings
from itertools import combinations

import ir_measures
import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.tail.measures import ablation
from tests.helpers.documents import documents_by_definition
from tests.helpers.many import collection


def test_the_steps_from_ap_to_asl_are_what_they_are_called() -> None:
    qrels, runs = collection(3, 15, relevant=3, seed=6)
    ap, atomized, harmonic, asl = ablation(iro.evaluate(qrels, runs).at(10), "cutoff")
    for number, run in enumerate(runs.values()):
        documents = [documents_by_definition(qrels, run, query, 10) for query in qrels]
        inverse = [[1 / length for _, length in of_query] for of_query in documents]
        expected = {
            "AP": [
                statistics.fmean(precision for precision, _ in of_query) for of_query in documents
            ],
            "atomized P": [statistics.fmean(of_query) for of_query in inverse],
            "harmonic P": [statistics.harmonic_mean(of_query) for of_query in inverse],
        }
        for scores in (ap, atomized, harmonic):
            assert scores.values[number].tolist() == pytest.approx(expected[scores.measure])
        assert 1 / asl.means()[number] == pytest.approx(
            statistics.harmonic_mean(expected["harmonic P"])
        )
        of_pytrec_eval = {
            value.query_id: value.value
            for value in ir_measures.iter_calc([ir_measures.AP @ 10], qrels, run)
        }
        assert ap.values[number].tolist() == pytest.approx(
            [of_pytrec_eval[query] for query in qrels]
        )
    assert [scores.higher_is_better for scores in (ap, atomized, harmonic, asl)] == [
        True,
        True,
        True,
        False,
    ]


def better(values: np.ndarray, means: np.ndarray, higher_is_better: bool) -> list[int]:
    """How many runs are 10 % better than a run, and significantly so."""
    counts = [0] * len(values)
    for first, second in combinations(range(len(values)), 2):
        for mine, theirs in ((first, second), (second, first)):
            d = values[theirs] - values[mine]
            if d.any() and means[theirs] >= 1.1 * means[mine]:
                test = scipy.stats.ttest_1samp(d, 0)
                counts[mine] += bool(test.pvalue <= 0.05 and (d.mean() > 0) == higher_is_better)
    return counts


@pytest.mark.parametrize("seed", range(2))
def test_reordering_by_loops(seed: int) -> None:
    qrels, runs = collection(5, 25, relevant=3, seed=seed)
    ev = iro.evaluate(qrels, runs)
    steps = ablation(ev.at(10), "cutoff")
    result = iro.reordering(ev, cutoff=10)
    means = [scores.means() if scores.higher_is_better else 1 / scores.means() for scores in steps]
    counts = [
        better(scores.values, m, scores.higher_is_better)
        for scores, m in zip(steps, means, strict=True)
    ]
    rows = result.rows()
    assert [row["step"] for row in rows] == [
        "atomize P", "harmonic within queries", "harmonic across queries", "cumulative",
    ]  # fmt: skip
    for row, (old, new) in zip(rows, ((0, 1), (1, 2), (2, 3), (0, 3)), strict=True):
        moved = [abs(a - b) for a, b in zip(counts[old], counts[new], strict=True)]
        assert row["delta_sort"] == pytest.approx(100 * max(moved) / 5)
        place = list(runs).index(row["run"])
        assert (row["better_before"], row["better_after"]) == (
            counts[old][place],
            counts[new][place],
        )
        assert row["kendall_tau"] == pytest.approx(
            scipy.stats.kendalltau(means[old].round(9), means[new].round(9)).statistic
        )
        ratios = means[new] / means[old]
        assert (row["delta_value"], row["delta_value_deviation"]) == pytest.approx(
            (ratios.mean(), ratios.std(ddof=1))
        )


def test_reordering_by_any_two_measures() -> None:
    qrels, runs = collection(3, 25, relevant=2)
    names = ["RR", "ESL(unanswered='cutoff+1')@10"]
    ev = iro.evaluate(qrels, runs, measures=names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the runs are not read again
        result = iro.reordering(ev, measures=names)
    rr, esl = (ev.scores_of(name).means() for name in names)
    assert (result.settings, len(result.table)) == (None, 1)
    assert result.table[0]["kendall_tau"] == pytest.approx(
        scipy.stats.kendalltau(rr, -esl).statistic
    )
    with pytest.raises(ParameterError, match="name at least two"):
        iro.reordering(ev, measures=["RR"])
    with pytest.raises(ParameterError, match="there is only 1 run"):
        iro.reordering(ev[["run0"]])


def test_a_named_asl_names_its_depth() -> None:
    qrels, runs = collection(3, 25, relevant=3)
    runs["short"] = {
        query: dict(list(ranking.items())[:4]) for query, ranking in runs["run0"].items()
    }
    ev = iro.evaluate(qrels, runs, measures=["AP"])
    with pytest.raises(
        ParameterError, match=r"write ASL\(missing='cutoff'\)@k with the depth that all runs share"
    ):
        iro.reordering(ev, measures=["AP", "ASL"])
    with pytest.raises(ParameterError, match="cutoff and missing are for the way from AP to ASL"):
        iro.reordering(ev, measures=["AP", "ASL@4"], cutoff=4)


def test_runs_that_are_equal_but_for_rounding_tie() -> None:
    qrels = {f"q{n}": {"d": 1} for n in range(7)}
    ranks = [1, 3, 7, 9, 2, 6, 4]
    runs = {}
    for name, order in (("first", ranks), ("turned", ranks[::-1]), ("none", [99] * 7)):
        documents = [
            [("d" if place == rank else f"x{place}") for place in range(1, 10)] for rank in order
        ]
        runs[name] = dict(zip(qrels, documents, strict=True))
    taus = [row["kendall_tau"] for row in iro.reordering(iro.evaluate(qrels, runs)).table]
    assert taus == pytest.approx([1.0] * 4)
