"""The script that decides on any two runs in the page, run by Node.js: it says what Python says."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.comparison.outcomes import coverage_test_for
from ir_outcomes.leaderboards.pairs import all_pairs
from ir_outcomes.pages.lists import rank_columns
from ir_outcomes.statistics import Test, sign_flip
from ir_outcomes.types import Unit
from tests.helpers.comparisons import compare_several
from tests.helpers.histogram import changes_of
from tests.helpers.literal import Qrels, Run
from tests.helpers.many import tied_multiset

UNITS: tuple[Unit, ...] = get_args(Unit)
RUNNER = """
const boards = JSON.parse(require("fs").readFileSync(0, "utf8"));
const results = boards.map(({ sizes, ranks, depths, cutoff, rules }) => {
  const lengths = ranks.map((column) => searchLengths(column, sizes, cutoff));
  const found = [];
  for (let contender = 1; contender < ranks.length; contender += 1) {
    for (let baseline = 0; baseline < contender; baseline += 1) {
      const horizon = Math.min(cutoff, Math.max(depths[baseline], depths[contender]));
      const pair = pairQueries(lengths[baseline], lengths[contender], sizes, horizon);
      const queries = Array.from(pair.a, (_, query) => query);
      const tests = testPair(pair, queries, rules);
      const { a, b, shared: both, foundA, foundB } = pair;
      const arrays = [a, b, both, foundA, foundB].map((values) => Array.from(values));
      const numbers = { a: arrays[0], b: arrays[1], both: arrays[2], foundA: arrays[3], foundB: arrays[4] };
      const changes = changesOf(numbers, { measure: null, higher: false, horizon });
      found.push({ baseline, contender, label: judge(tests, rules.alpha), tests, changes });
    }
  }
  return found;
});
console.log(JSON.stringify(results));
"""


def run_node(program: str, given: Any) -> Any:
    """Run the script of the page with a program behind it."""
    node = os.environ.get("IR_OUTCOMES_NODE") or shutil.which("node")
    if node is None:
        pytest.skip("there is no Node.js; set IR_OUTCOMES_NODE to its path")
    folder = files("ir_outcomes.showing.report")
    parts = [(folder / name).read_text(encoding="utf-8") for name in ("verdict.js", "changes.js")]
    script = "\n".join(parts)
    done = subprocess.run(
        [node, "-e", f'"use strict";{script}{program}'],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def board_of(evaluation: iro.Evaluation, **rules: Any) -> dict[str, Any]:
    columns = rank_columns(evaluation, list(evaluation.names), evaluation.unit, evaluation.cutoff)
    given = {"alpha": 0.05, "test": "t", "coverageTest": coverage_test_for(evaluation)} | rules
    return {**columns._asdict(), "cutoff": evaluation.cutoff, "rules": given}


def judged(evaluations: Sequence[iro.Evaluation], **rules: Any) -> list[dict[tuple[str, str], Any]]:
    """Return what the script says of all pairs of each evaluation."""
    boards = [board_of(evaluation, **rules) for evaluation in evaluations]
    results = run_node(RUNNER, boards)
    return [
        {
            (evaluation.names[item["baseline"]], evaluation.names[item["contender"]]): item
            for item in found
        }
        for evaluation, found in zip(evaluations, results, strict=True)
    ]


def agrees(bounds: dict[str, float], test: Test) -> bool:
    """Whether a p-value lies within bounds, to 1e-9 where they are one number; Python's may be off by 1 %."""
    if bounds["direction"] != test.direction:
        return False
    if bounds["low"] == bounds["high"] and "within" not in test.method:
        near = test.pvalue < 1e-12 and bounds["low"] < 2e-12
        return near or abs(bounds["low"] - test.pvalue) <= 1e-9 * test.pvalue
    return bounds["low"] * 0.99 <= test.pvalue <= bounds["high"] * 1.01


def check_tests(item: Any, comparison: iro.Comparison) -> None:
    """Compare the label and all p-values of a pair."""
    restricted: Any = comparison.restricted
    expected = {
        "coverage": comparison.coverage.decides,
        "ranking": comparison.ranking.decides,
        "rankingMean": comparison.ranking.tests[comparison.ranking.mean_test],
        "rankingWilcoxon": comparison.ranking.tests["wilcoxon"],
        "everywhere": restricted.test,
        "everywhereWilcoxon": restricted.tests["wilcoxon"],
        "wonAndLost": restricted.won_and_lost_test,
    }
    for name, test in expected.items():
        assert agrees(item["tests"][name], test), (name, item["tests"][name], test)
    assert item["label"] == comparison.verdict.label


@cache
def boards() -> list[iro.Evaluation]:
    return [evaluation for seed in range(12) for evaluation in made_up(seed)]


def made_up(seed: int) -> Iterator[iro.Evaluation]:
    """Boards of few and of many queries whose runs differ little or much, some with one relevant document for each query."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 6, 25, 45, 80, 300]))
    most = int(rng.choice([1, 2, 4, 9]))
    depth = int(rng.choice([3, 10, 40]))
    qrels: Qrels = {
        f"q{query}": {f"g{place}": 1 for place in range(int(rng.integers(1, most + 1)))}
        for query in range(n)
    }
    runs: dict[str, Run] = {}
    scores: dict[str, dict[str, float]] = {
        query: dict(
            zip([*golds, *(f"x{place}" for place in range(depth))], rng.random(60), strict=False)
        )
        for query, golds in qrels.items()
    }
    for number in range(4):
        noise = float(rng.choice([0.0, 0.02, 0.3]))
        share = float(rng.choice([0.1, 0.5, 1.0]))
        lift = float(rng.choice([0.0, 0.1, 0.3]))
        runs[f"run{number}"] = {}
        for query, known in scores.items():
            changed = {
                document: value
                + (rng.random() < share) * (noise * rng.normal() + lift * document.startswith("g"))
                for document, value in known.items()
            }
            kept = sorted(changed, key=lambda document: -changed[document])
            runs[f"run{number}"][query] = {
                document: changed[document] for document in kept[: depth - number]
            }
    for unit in UNITS:
        yield iro.evaluate(qrels, runs, unit=unit, cutoff=int(rng.choice([2, 10, 100])))


@pytest.mark.parametrize("test", ["t", "wilcoxon", "signflip"])
def test_labels_and_pvalues_of_made_up_runs_are_those_of_python(test: str) -> None:
    labels = set()
    for evaluation, found in zip(boards(), judged(boards(), test=test), strict=True):
        expected = compare_several(
            evaluation, evaluation.names[0], all_pairs=True, correction="none", test=test
        )
        assert len(expected) == len(found)
        for comparison in expected:
            check_tests(found[comparison.baseline, comparison.contender], comparison)
            labels.add(comparison.verdict.label)
    assert len(labels) >= 8


def test_bins_of_the_histogram_are_those_of_python() -> None:
    by_share = set()
    for evaluation, found in zip(boards(), judged(boards()), strict=True):
        for comparison in compare_several(evaluation, evaluation.names[0], all_pairs=True):
            own = found[comparison.baseline, comparison.contender]["changes"]
            expected = changes_of(comparison)
            assert own["bins"] == [
                list(each) for each in zip(expected.names, expected.tones, strict=True)
            ]
            assert own["bin"] == list(expected.bins)
            assert own["by_share"] == expected.by_share
            by_share.add(expected.by_share)
    assert by_share == {True, False}


def test_opposite_parts_are_a_trade_off() -> None:
    qrels, runs = tied_multiset(400)
    evaluation = iro.evaluate(qrels, runs, unit="query", cutoff=100)
    ((comparison,),) = [compare_several(evaluation, "first", ["second"], correction="none")]
    (found,) = judged([evaluation])
    check_tests(found["first", "second"], comparison)


def test_labels_of_some_of_the_queries_are_those_of_python() -> None:
    evaluations = []
    for seed in range(4):
        for evaluation in made_up(seed):
            some = evaluation.query_ids[:: 1 + seed]
            evaluations.append(evaluation.restrict(some))
    for evaluation, found in zip(evaluations, judged(evaluations), strict=True):
        for comparison in compare_several(
            evaluation, evaluation.names[0], all_pairs=True, correction="none"
        ):
            assert (
                found[comparison.baseline, comparison.contender]["label"]
                == comparison.verdict.label
            )


def test_distributions_are_those_of_scipy() -> None:
    freedoms = [1, 2, 5, 28, 53, 199, 999, 5192, 100_000]
    values = [0.0001, 0.001, 0.1, 0.7, 1.5, 1.96, 2.5, 4.0, 6.5, 12.0, 30.0]
    counts = [(0, 1), (3, 3), (2, 9), (40, 60), (900, 1100), (2400, 2793), (0, 900), (10, 5000)]
    program = """
    const { freedoms, values, counts } = JSON.parse(require("fs").readFileSync(0, "utf8"));
    console.log(JSON.stringify({
      t: freedoms.map((freedom) => values.map((value) => tailOfT(value, freedom))),
      normal: values.map(tailOfNormal),
      binomial: counts.map(([won, lost]) => binomialTest(won, lost).low),
    }));
    """
    found = run_node(program, {"freedoms": freedoms, "values": values, "counts": counts})
    expected = 2 * scipy.stats.t.sf(np.array(values), np.array(freedoms)[:, None])
    np.testing.assert_allclose(found["t"], expected, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(
        found["normal"], 2 * scipy.stats.norm.sf(values), rtol=1e-11, atol=1e-300
    )
    exact = [scipy.stats.binomtest(won, won + lost).pvalue for won, lost in counts]
    np.testing.assert_allclose(found["binomial"], exact, rtol=1e-9, atol=1e-300)


def test_sign_flips_are_counted_exactly_or_bounded() -> None:
    rng = np.random.default_rng(3)
    samples = [
        rng.integers(-4, 6, 18) / 6,  # on a lattice
        rng.normal(0.3, 1, 16),
        rng.normal(0.2, 1, 40),
        rng.integers(-30, 45, 1500) / 4,
        rng.normal(0.3, 1, 90),
        rng.normal(0.12, 1, 400),
    ]
    program = """
    const samples = JSON.parse(require("fs").readFileSync(0, "utf8"));
    console.log(JSON.stringify(samples.map((values) => {
      const queries = values.map((_, query) => query);
      return signFlipTest(sampleOf(values.map(() => 0), values, queries), 0.05);
    })));
    """
    found = run_node(program, [sample.tolist() for sample in samples])
    for sample, bounds in zip(samples[:2], found, strict=False):
        signs = np.array(list(np.ndindex(*[2] * len(sample)))) * 2 - 1
        sums = np.abs(signs @ sample)
        expected = np.mean(sums >= np.abs(sample.sum()) - 1e-9)
        assert bounds["low"] == bounds["high"] == pytest.approx(expected, rel=1e-12)
    for sample, bounds in zip(samples, found, strict=True):
        assert agrees(bounds, sign_flip(sample))
    assert all(bounds["high"] <= 1.02 * bounds["low"] for bounds in found)


def test_places_in_python_that_the_script_names_exist() -> None:
    package = Path(iro.__file__).parent
    script = (files("ir_outcomes.showing.report") / "verdict.js").read_text(encoding="utf-8")
    words = re.sub(r"\n *//", "", script)
    named = re.findall(r"([a-z]+/[a-z_]+\.py)(?:, ([A-Za-z_.]+))?", words)
    assert len(named) >= 15
    for module, name in named:
        text = (package / module).read_text(encoding="utf-8")
        last = name.rstrip(".").rpartition(".")[2]
        assert re.search(rf"\bdef {last}\b|^{last} = ", text, re.MULTILINE) or not last, name


BOARDS = ("msmarco-doc-dev", "known-item", "dl20-passage", "dl-hard-doc", "trec-covid-r1", "mt-rag")


@pytest.mark.realdata
@pytest.mark.parametrize("collection", BOARDS)
@pytest.mark.parametrize("unit", UNITS)
def test_labels_of_real_boards_are_those_of_python(
    real_data: Path, collection: str, unit: Unit
) -> None:
    folder = real_data / collection
    (qrels,) = [path for path in folder.glob("qrels*") if "round1" not in path.name][:1]
    whole = iro.evaluate(qrels, sorted(folder.glob("*.run.gz")), unit=unit, cutoff=100)
    evaluations = [whole, replace(whole, cutoff=10)]
    for evaluation, found in zip(evaluations, judged(evaluations), strict=True):
        expected, _ = all_pairs(evaluation, alpha=0.05, correction="none")
        labels = {(pair.baseline, pair.contender): pair for pair in expected}
        assert labels.keys() == found.keys()
        for names, pair in labels.items():
            own = found[names]
            assert own["label"] == pair.label, (names, own, pair)
            ranking = own["tests"]["ranking"]
            assert ranking["low"] == pytest.approx(pair.ranking_p, rel=1e-9, abs=1e-12)
        first = evaluation.names[0]
        for comparison in compare_several(
            evaluation, first, list(evaluation.names[1:6]), correction="none"
        ):
            check_tests(found[first, comparison.contender], comparison)
    assert len(list(combinations(whole.names, 2))) == len(found)
