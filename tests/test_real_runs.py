"""Real runs: against trec_eval's own numbers, published means and p-values, and the literal definitions."""

import gzip
import warnings
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import scipy.stats
from ir_measures import AP, RR, P

import ir_outcomes as iro
from ir_outcomes.statistics.papers import paired_tests
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


def test_trec_eval_numbers_published_with_the_runs(real_data: Path) -> None:
    qrels = iro.read_qrels(real_data / "dl-hard-doc" / "qrels.txt")
    for path in runs_of(real_data, "dl-hard-doc"):
        with gzip.open(path.with_name(path.name.replace(".run.gz", ".run.eval.gz")), "rt") as lines:
            theirs = {(name, query): value for name, query, value in map(str.split, lines)}
        # They were made with trec_eval -l 2.
        lengths = iro.search_lengths(qrels, iro.read_run(path), rel=2)
        # And one for all.
        assert sum(name == "recip_rank" for name, _ in theirs) == len(lengths.query_ids) + 1
        columns = {"recip_rank": [f"{value:.4f}" for value in lengths.reciprocal_rank()]}
        columns["num_rel_ret"] = list(map(str, lengths.relevant_retrieved))
        columns |= {
            f"P_{k}": [f"{number / k:.4f}" for number in lengths.at(k).relevant_retrieved]
            for k in (5, 10, 100)
        }
        for name, ours in columns.items():
            assert ours == [theirs[name, query] for query in lengths.query_ids], (path.name, name)


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
        ours = paired_tests(rounded[name] - rounded["bm25"])
        assert ours["t"].pvalue == pytest.approx(t, rel=2e-3)
        theirs = scipy.stats.wilcoxon(rounded["bm25"], rounded[name]).pvalue
        assert theirs == pytest.approx(signed_rank, rel=2e-3)
        # Ours treats differences that are equal but for rounding error as ties; the decision is the
        # same.
        assert (ours["wilcoxon"].pvalue <= 0.05) == (signed_rank <= 0.05)


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


def test_known_item_table(real_data: Path) -> None:
    """Answered share, mean ESL, MRR@100 and outcomes against bm25 of INDEX.md of the data, from a literal implementation."""
    values = {
        "bm25": (0.914, 5.59, 0.6550, None),
        "bm25-stem": (0.937, 5.04, 0.6831, (174, 16, 84, 2726)),
        "chargram": (0.914, 7.33, 0.5652, (169, 90, 89, 2652)),
        "rrf-stem-lsa": (0.925, 11.83, 0.3911, (181, 44, 77, 2698)),
    }
    folder = real_data / "known-item"
    qrels = iro.read_qrels(folder / "qrels.txt")
    lengths = {
        name: iro.search_lengths(qrels, folder / f"{name}.run.gz", cutoff=100) for name in values
    }
    for name, (answered, esl, mrr, outcomes) in values.items():
        run = lengths[name]
        assert run.coverage() == pytest.approx(answered, abs=5e-4)
        assert run.mean_esl() == pytest.approx(esl, abs=5e-3)
        assert run.reciprocal_rank().mean() == pytest.approx(mrr, abs=5e-5)
        if outcomes is not None:
            split = compare_pair(qrels, lengths["bm25"], run).outcomes
            assert (split.neither, split.lost, split.won, split.both) == outcomes


def test_asl_of_dl20(real_data: Path) -> None:
    """ASL and ASL@g1-10 at rel 1 of INDEX.md of the data; short lists look good, as design and docs warn."""
    values = {
        "BM25": (312.4, 38.1),
        # Alex et al. 2022, Table 1: 264 for the best BM25 run of the track.
        "BM25RM3": (
            270.2,
            30.9,
        ),
        "prf_rank_beta1": (227.0, 20.6),
        "splade": (30.2, 4.8),
    }
    folder = real_data / "dl20-passage"
    qrels = iro.read_qrels(folder / "qrels.txt")
    for name, (asl, first_ten) in values.items():
        lengths = iro.search_lengths(qrels, folder / f"{name}.run.gz")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", iro.IrOutcomesWarning)
            assert np.nanmean(lengths.asl()) == pytest.approx(asl, abs=0.05)
            assert np.nanmean(lengths.asl(first=10)) == pytest.approx(first_ten, abs=0.05)
