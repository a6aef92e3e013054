"""Real runs: against trec_eval's own numbers, published means and p-values, and the literal definitions."""

from pathlib import Path

import ir_measures
import numpy as np
import pytest
import scipy.stats
from ir_measures import AP, RR, P

import ir_outcomes as iro
from ir_outcomes.statistics.papers import signed_ranks, t_tests
from tests.helpers.comparisons import compare_pair

pytestmark = pytest.mark.realdata

COLLECTIONS = ("msmarco-doc-dev", "known-item", "dl20-passage", "dl-hard-doc")


def runs_of(real_data: Path, collection: str) -> list[Path]:
    return sorted(path for path in (real_data / collection).glob("*.run.gz"))


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_search_lengths_equal_pytrec_eval(real_data: Path, collection: str) -> None:
    qrels = iro.read_qrels(real_data / collection / "qrels.txt")
    rel = 2 if collection == "dl20-passage" else 1
    evaluator = ir_measures.evaluator([RR(rel=rel), P(rel=rel) @ 10, AP(rel=rel)], qrels.to_dict())
    paths = runs_of(real_data, collection)
    for path in paths[::3] if len(qrels.query_ids) > 1000 else paths:
        run = iro.read_run(path)
        lengths = iro.search_lengths(qrels, run, rel=rel)
        values = {
            (metric.measure.NAME, metric.query_id): metric.value
            for metric in evaluator.iter_calc(run.to_dict())
        }
        reciprocal, precision, average = (
            [values[name, query] for query in lengths.query_ids] for name in ("RR", "P", "AP")
        )
        assert lengths.reciprocal_rank().tolist() == reciprocal, path.name
        answered = lengths.answered() == 1
        assert (1 / lengths.esl()[answered]).tolist() == lengths.reciprocal_rank()[
            answered
        ].tolist()
        assert (lengths.at(10).relevant_retrieved / 10).tolist() == precision
        # Average precision from the atoms (Alex et al. 2022, equations 6 and 7): (relevant above +
        # 1) / rank.
        found = lengths.rank > 0
        above = lengths.rank[found] - 1 - lengths.irrelevant_above[found]
        sums = np.bincount(
            lengths.query[found],
            weights=(above + 1) / lengths.rank[found],
            minlength=len(lengths.query_ids),
        )
        ours = np.divide(sums, lengths.relevant, out=np.zeros(len(sums)), where=lengths.answerable)
        np.testing.assert_allclose(ours, average, rtol=1e-12)


# Published by the authors of the runs (INDEX.md of the data): mean RR, t test and Wilcoxon p
# against bm25.
NAIVE = {
    "bm25+rm3": (0.150097, 4.836e-68, 8.079e-70),
    "wordnet_syn+hyper+hypo": (0.215868, 0.0477789, 0.00028514),
    "wordnet_all": (0.216276, 0.0873990, 0.00055768),
}


@pytest.fixture(scope="module")
def msmarco(real_data: Path) -> dict[str, iro.SearchLengths]:
    folder = real_data / "msmarco-doc-dev"
    qrels = iro.read_qrels(folder / "qrels.txt")
    return {
        name: iro.search_lengths(qrels, folder / f"{name}.run.gz", cutoff=100)
        for name in ("bm25", *NAIVE)
    }


def test_published_naive_means_and_pvalues(msmarco: dict[str, iro.SearchLengths]) -> None:
    """As their authors computed them: reciprocal ranks rounded to 4 decimals, scipy's wilcoxon on the float differences."""
    rounded = {name: np.round(lengths.reciprocal_rank(), 4) for name, lengths in msmarco.items()}
    assert rounded["bm25"].mean() == pytest.approx(0.218537, abs=5e-7)
    for name, (mean, t, signed_rank) in NAIVE.items():
        assert rounded[name].mean() == pytest.approx(mean, abs=5e-7)
        change = rounded[name] - rounded["bm25"]
        assert t_tests(change).pvalue == pytest.approx(t, rel=2e-3)
        theirs = scipy.stats.wilcoxon(rounded["bm25"], rounded[name]).pvalue
        assert theirs == pytest.approx(signed_rank, rel=2e-3)
        # Ours treats differences that are equal but for rounding error as ties; the decision is the
        # same.
        assert (signed_ranks(change).pvalue[0] <= 0.05) == (signed_rank <= 0.05)


def test_outcome_split_of_msmarco(msmarco: dict[str, iro.SearchLengths], real_data: Path) -> None:
    """The figures of INDEX.md of the data, from a literal implementation."""
    for contender, outcomes, label in (
        ("bm25+rm3", (2700, 665, 188, 1640), "worse on both facets"),
        ("wordnet_all", (2829, 79, 59, 2226), "worse on ranking"),
    ):
        found = compare_pair(
            real_data / "msmarco-doc-dev" / "qrels.txt", msmarco["bm25"], msmarco[contender]
        )
        split = found.outcomes
        assert (split.neither, split.lost, split.won, split.both) == outcomes
        assert found.verdict.label == label
        assert found.naive.tests["t"].pvalue == pytest.approx(NAIVE[contender][1], rel=0.01)
    assert (found.ranking.baseline, found.ranking.contender) == pytest.approx(
        (3.4209, 3.4780), abs=5e-5
    )
    ranking = found.ranking.tests
    pvalues = (
        found.coverage.tests["exact"].pvalue,
        ranking["t"].pvalue,
        ranking["wilcoxon"].pvalue,
    )
    assert pvalues == pytest.approx((0.1055, 0.0031, 0.0006), abs=5e-5)
