"""What is shown of the agreement of halves, of ranks on resamples, and of a history, recomputed by plain loops."""

import datetime
import itertools
import re
from collections import Counter
from statistics import median
from typing import Any

import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.leaderboards.halves import first_halves
from tests.comparison.test_sentences import (
    ALPHA,
    Told,
    direction_of,
    label_by_hand,
    matched,
    shows,
    sign,
)
from tests.helpers.by_hand import Pair
from tests.helpers.comparisons import compare_pair
from tests.helpers.literal import Qrels, Run, esl, ranked
from tests.helpers.many import collection

K = 6
each_unit = pytest.mark.parametrize("unit", ["query", "document"])


def rows_of(table: Any) -> list[dict[str, str]]:
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for row in table.rows]


def collected(unit: str, n: int, seed: int = 0) -> tuple[Qrels, dict[str, Run]]:
    return collection(4, n, 1 if unit == "query" else 3, seed)


def reciprocal_ranks(qrels: Qrels, run: Run) -> dict[str, float]:
    """Return RR at the cutoff of each query."""
    values = {}
    for query, judged in qrels.items():
        rank = esl(ranked(run[query], "trec")[:K], list(judged))
        values[query] = 0.0 if np.isnan(rank) else 1 / rank
    return values


def by_t(x: list[float], y: list[float]) -> int:
    """Return the direction of a significant t test of y against x, 0 for none."""
    change = np.subtract(y, x)
    if not change.any() or scipy.stats.ttest_1samp(change, 0).pvalue > ALPHA:
        return 0
    return sign(float(change.sum()))


DIRECTIONS = {"better": 1, "worse": -1, "none": 0}


def verdict_of(pair: Pair, told: iro.Comparison) -> int:
    return DIRECTIONS[direction_of(label_by_hand(Told(told, pair, [pair]))[0])]


@each_unit
def test_agreement(unit: Any) -> None:
    """How often a half decides, how often the other one then says the same, and how often the opposite."""
    qrels, runs = collected(unit, 60)
    del runs["run1"]
    evaluation = iro.evaluate(qrels, runs, cutoff=K, unit=unit)
    view = iro.agreement(evaluation, splits=4, seed=3).view()
    told = compare_pair(evaluation, "run0", "run2")
    found: dict[str, list[tuple[int, int]]] = {"RR@6, ties trec, t": [], "verdict": []}
    for half in first_halves(60, 4, seed=3).astype(bool).T:
        assert half.sum() == 30
        halves = [list(itertools.compress(qrels, chosen)) for chosen in (half, ~half)]
        for a, b in itertools.combinations(runs, 2):
            of_t = []
            of_verdict = []
            for queries in halves:
                own = {query: qrels[query] for query in queries}
                values = [[*reciprocal_ranks(own, runs[run]).values()] for run in (a, b)]
                of_t.append(by_t(*values))
                of_verdict.append(verdict_of(Pair(own, runs[a], runs[b], K, unit), told))
            found["RR@6, ties trec, t"].append((of_t[0], of_t[1]))
            found["verdict"].append((of_verdict[0], of_verdict[1]))
    question = "Would the other half of the queries say the same?"
    assert view.headline == f"{question} 3 runs, 3 pairs"
    (table,) = view.tables
    assert [row[" "] for row in rows_of(table)] == list(found)
    for row in rows_of(table):
        said = found[row[" "]]
        assert len(said) == 12
        decided = [pair for pair in said if any(pair)]
        deciding = [(one, other) for pair in said for one, other in (pair, pair[::-1]) if one]
        same = sum(one == other for one, other in deciding)
        opposite = sum(one * other < 0 for one, other in said)
        assert shows(row["decided"], 100 * len(decided) / len(said))
        assert shows(row["same answer"], 100 * same / len(deciding))
        assert shows(row["opposite"], 100 * opposite / len(said))
    assert table.captions[-1] == "4 splits of 60 queries, seed 3, alpha 0.05, verdicts at cutoff 6"


@pytest.mark.parametrize("top_k", [2, 3, 4, 5])
def test_the_share_among_the_first_of_as_many_is_no_column(top_k: int) -> None:
    qrels, runs = collected("query", 25, seed=5)
    names = list(runs)[:4]
    evaluation = iro.evaluate(qrels, {name: runs[name] for name in names}, cutoff=K)
    result = iro.rank_distribution(evaluation, resamples=20, top_k=top_k)
    (table,) = result.view().tables
    is_shown = top_k < len(names)
    assert (f"top {top_k}" in [column.title for column in table.columns]) is is_shown
    legend = " ".join(table.captions)
    assert (f"top {top_k}" in legend, "among the first" in legend) == (is_shown, is_shown)
    always = all(row[f"top_{top_k}"] == 1.0 for row in result.rows())
    assert is_shown or always


@each_unit
def test_ranks_on_resamples(unit: Any) -> None:
    """Every cell and the sentence, from the resamples drawn once more."""
    n = 25
    qrels, runs = collected(unit, n, seed=5)
    runs["same"] = runs["run0"]  # always shares its rank
    evaluation = iro.evaluate(qrels, runs, cutoff=K, unit=unit)
    view = iro.rank_distribution(evaluation, resamples=40, seed=2, top_k=2).view()
    values = {name: [*reciprocal_ranks(qrels, run).values()] for name, run in runs.items()}
    drawn = np.random.default_rng(2).integers(0, n, (40, n))
    every = [range(n), *drawn.tolist()]
    places = []
    for sample in every:
        means = {
            name: round(float(np.mean(np.take(own, sample))), 9) for name, own in values.items()
        }
        places.append(
            {name: 1 + sum(other > own for other in means.values()) for name, own in means.items()}
        )
    on_all, *samples = places
    taus = []
    for sample in samples:
        of_both = [[own[name] for name in runs] for own in (on_all, sample)]
        taus.append(scipy.stats.kendalltau(*of_both).statistic)
    (table,) = view.tables
    rows = rows_of(table)
    names = [row["run"] for row in rows]
    assert [on_all[name] for name in names] == sorted(on_all.values())
    first = 100 * sum(sample[names[0]] == 1 for sample in samples) / 40
    said = matched(
        rf"{names[0]} is first in (\S+) % of the resamples\. Median Kendall's tau between the order"
        r" on a resample and the order on all queries: (\S+)\.",
        view.sentences[0],
    )
    assert shows(said[1], first)
    assert shows(said[2], median(taus))
    for place, row in enumerate(rows):
        name = row["run"]
        own = [sample[name] for sample in samples]
        assert shows(row["mean"], float(np.mean(values[name])))
        assert shows(row["expected"], float(np.mean(own)))
        low, high = map(int, row["95 %"].split(".."))
        assert sum(low <= rank <= high for rank in own) >= 38
        for rank in range(1, 6):
            assert shows(row[str(rank)], 100 * own.count(rank) / 40)
        assert shows(row["top 2"], 100 * sum(rank <= 2 for rank in own) / 40)
        if place + 1 < len(rows):
            below = names[place + 1]
            above = sum(sample[name] < sample[below] for sample in samples)
            assert shows(row["over next"], 100 * above / 40)


def test_history() -> None:
    """Who took first place, by how much, after how many submissions; and which groups submitted most."""
    rng = np.random.default_rng(7)
    for n in (1, 2, 9, 40):
        entries = []
        for number in range(n):
            day = datetime.date(2021, 1, 1) + datetime.timedelta(int(rng.integers(0, 30)))
            group = f"g{rng.integers(0, 8)}"
            entry: dict[str, Any] = {"id": f"r{number:02}", "date": day.isoformat(), "group": group}
            entry |= {
                "score": int(rng.integers(0, 50)) / 100,
                "baseline": bool(rng.random() < 0.2 and number),
            }
            if rng.random() < 0.15 and number:
                entry["score"] = None
            entries.append(entry)
        view = iro.sota_history(entries, score="score").view()
        scored = [entry for entry in entries if entry["score"] is not None]
        own = [entry for entry in entries if not entry["baseline"]]
        (table,) = view.tables
        rows = rows_of(table)
        runs = f"{len(rows)} run{'s' * (len(rows) != 1)}"
        of = f"{len(scored)} entr{'y' if len(scored) == 1 else 'ies'}"
        assert (
            view.title
            == f"{runs} took first place by score (higher is better), of {of} with a score"
        )
        by_id = {entry["id"]: entry for entry in entries}
        before: float | None = None
        for number, row in enumerate(rows, 1):
            entry = by_id[row["run"]]
            assert (row["date"], row[" "]) == (entry["date"], str(number))
            assert float(row["score"]) == entry["score"]
            earlier = [other for other in scored if other["date"] < entry["date"]]
            assert all(other["score"] < entry["score"] for other in earlier)
            so_far = sum(other["date"] <= entry["date"] for other in own)
            assert int(row["looks"]) == so_far
            if before is not None:
                assert shows(row["gain"].lstrip("+"), entry["score"] - before)
            before = entry["score"]
        assert not rows or before == max(entry["score"] for entry in scored if entry in own)
        counts = Counter(entry["group"] for entry in own)
        (legend,) = [line for line in table.captions if line.startswith("Most submissions")]
        for group, number in re.findall(r"(g\d) (\d+)", legend):
            assert counts[group] == int(number)
        if more := re.search(r"and (\d+) other groups?\.", legend):
            assert int(more[1]) == len(counts) - 5


@each_unit
def test_pairs_of_a_board(unit: Any) -> None:
    """The p-values beside a label explain it; that of all queries is corrected only where it decides."""
    raw = 0
    for seed in range(3):
        qrels, runs = collected(unit, 120, seed)
        rng = np.random.default_rng(seed)
        ids = [*qrels]
        for number in range(3):
            # What is found more is small beside the noise of what is found by all.
            ranks = [int(rank) for rank in rng.integers(1, 7, 80 + 10 * number)]
            found = dict(zip(ids, ranks, strict=False))
            runs[f"deep{number}"] = {
                query: {
                    ("g0" if place == found.get(query) else f"x{place}"): 9.0 - place
                    for place in range(1, 9)
                }
                for query in ids
            }
        board = iro.leaderboard(iro.evaluate(qrels, runs, cutoff=K, unit=unit))
        pairs = {(pair.baseline, pair.contender): pair for pair in board.pairs}
        for table in board.view().details[:2]:
            names = [standing.run for standing in board.standings]
            above = dict(itertools.pairwise(names[::-1]))
            for row in table.rows:
                run, _, coverage, _, _, ranking, _, whole, label = row
                other = above[run] if "above" in table.title else names[0]
                pair = pairs.get((other, run)) or pairs[run, other]
                decides = min(pair.coverage_p_corrected, pair.ranking_p_corrected) > ALPHA
                own = pair.all_queries_p_corrected if decides else pair.all_queries_p
                if label != "trade-off":
                    assert shows(whole, own), row
                    raw += not decides and pair.all_queries_p_corrected > ALPHA >= own
                if " on coverage" in label:
                    assert float(coverage) <= ALPHA < float(ranking)
                elif " on ranking" in label:
                    assert float(ranking) <= ALPHA < float(coverage)
                elif "over all" in label:
                    assert float(whole) <= ALPHA < min(float(coverage), float(ranking))
    assert raw
