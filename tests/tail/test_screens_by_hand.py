"""What is shown of the tail, recomputed by loops over the runs: lengths, changes, reduction in error, headroom, reordering."""

import itertools
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from tests.comparison.test_sentences import matched, shows, sign
from tests.helpers.literal import Qrels, Run, asl, atom, ranked
from tests.helpers.many import collection

K = 10
each_number = pytest.mark.parametrize("relevant", [1, 3])
Values = dict[str, list[float]]


def rows_of(view: Any) -> list[dict[str, str]]:
    (table,) = view.tables
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for row in table.rows]


@cache
def made(relevant: int) -> tuple[Qrels, dict[str, Run], iro.Evaluation]:
    qrels, runs = collection(4, 40, relevant, seed=2)
    return qrels, runs, iro.evaluate(qrels, runs, cutoff=K)


def lengths(qrels: Qrels, run: Run) -> dict[tuple[str, str], float | None]:
    """Return the search length of each relevant document; None where it is not found."""
    found = {}
    for query, judged in qrels.items():
        order = ranked(run[query], "trec")[:K]
        for document in judged:
            found[query, document] = atom(order, [*judged], document) if document in order else None
    return found


def measured(qrels: Qrels, run: Run) -> Values:
    """Return the measures of each query: precision, ASL@g1-10, AP and ASL."""
    values: Values = {f"P@{K}": [], "top": [], f"AP@{K}": [], "all": []}
    for query, judged in qrels.items():
        order = ranked(run[query], "trec")[:K]
        ranks = [rank for rank, document in enumerate(order, 1) if document in judged]
        values[f"P@{K}"].append(len(ranks) / K)
        values[f"AP@{K}"].append(
            sum(number / rank for number, rank in enumerate(ranks, 1)) / len(judged)
        )
        values["top"].append(asl(order, [*judged], "cutoff", K, 10))
        values["all"].append(asl(order, [*judged], "cutoff", K, None))
    return values


NAMES = {
    f"P@{K}": f"P@{K}",
    "top": f"ASL(first=10,missing='cutoff')@{K}",
    f"AP@{K}": f"AP@{K}",
    "all": f"ASL(missing='cutoff')@{K}",
}


def averaged(qrels: Qrels, run: Run) -> float:
    """Return the share of the relevant documents that AP in effect averages: Alex et al. 2022, Appendix A.1."""
    precisions = []
    for query, judged in qrels.items():
        order = ranked(run[query], "trec")[:K]
        for document in judged:
            place = order.index(document) + 1 if document in order else 0
            own = sum(other in judged for other in order[:place]) / place if place else 0.0
            precisions.append(own)
    target = len(precisions) / sum(precisions)
    best = sorted((own for own in precisions if own), reverse=True)
    means = [np.mean([1 / own for own in best[:number]]) for number in range(1, len(best) + 1)]
    return (1 + int(np.argmin([abs(mean - target) for mean in means]))) / len(precisions)


@each_number
def test_lengths(relevant: int) -> None:
    qrels, runs, evaluation = made(relevant)
    view = iro.length_distributions(evaluation).view()
    assert view.title == f"Search lengths of {40 * relevant} relevant documents of 40 queries"
    rows = rows_of(view)
    means = {name: float(np.mean(measured(qrels, run)["all"])) for name, run in runs.items()}
    assert [row["run"] for row in rows] == sorted(runs, key=lambda name: means[name])
    for row in rows:
        run = runs[row["run"]]
        own = lengths(qrels, run).values()
        assert shows(row["ASL"], means[row["run"]])
        assert shows(row["ASL@g1-10"], float(np.mean(measured(qrels, run)["top"])))
        assert shows(row["1"], 100 * sum(length == 1 for length in own) / len(own))
        assert shows(row["missing"], 100 * sum(length is None for length in own) / len(own))
        assert shows(row["averaged"], 100 * averaged(qrels, run))
    # A bucket of several search lengths is named by its ends.
    wide = iro.length_distributions(evaluation, bins=2).view()
    for row in rows_of(wide):
        known = [length or 99 for length in lengths(qrels, runs[row["run"]]).values()]
        heading = next(heading for heading in row if heading.startswith("1 to "))
        last = int(heading.removeprefix("1 to "))
        assert shows(row[heading], 100 * sum(length <= last for length in known) / len(known))


@each_number
@pytest.mark.parametrize("pair", [("run0", "run3"), ("run3", "run0")])
def test_changes(relevant: int, pair: tuple[str, str]) -> None:
    qrels, runs, evaluation = made(relevant)
    result = iro.length_changes(evaluation, *pair)
    view = result.view()
    before, after = (lengths(qrels, runs[name]) for name in pair)
    n = len(before)
    a, b = (float(np.mean(measured(qrels, runs[name])["all"])) for name in pair)
    said = matched(
        r"Mean change of ASL ([+-]\S+) irrelevant documents above a relevant one \(each query"
        r" weighs the same; lower is better\)\.",
        view.sentences[0],
    )
    assert shows(said[1][1:], abs(b - a))
    assert not float(said[1]) or (said[1][0] == "+") is (b > a)
    said = matched(
        r"Same search length in both runs: (\d+) \((\S+) %\); found by neither: (\d+) \((\S+) %\)\.",
        view.sentences[1],
    )
    both = [key for key in before if before[key] is not None and after[key] is not None]
    change = {key: (after[key] or 0) - (before[key] or 0) for key in both}
    same = sum(not size for size in change.values())
    neither = sum(before[key] is None and after[key] is None for key in before)
    for number, count, share in ((same, said[1], said[2]), (neither, said[3], said[4])):
        assert int(count) == number
        assert shows(share, 100 * number / n)
    for cells in view.tables[0].rows:
        size, *shown = cells
        up = down = 0
        if size == "one run only":
            up = sum(before[key] is None and after[key] is not None for key in before)
            down = sum(after[key] is None and before[key] is not None for key in before)
        else:
            low, _, high = size.replace("or more", "to 99").partition(" to ")
            sizes = range(int(low), int(high or low) + 1)
            up = sum(-moved in sizes for moved in change.values())
            down = sum(moved in sizes for moved in change.values())
        assert [int(shown[0]), int(shown[2])] == [up, down]
        assert shows(shown[1], 100 * up / n)
        assert shows(shown[3], 100 * down / n)


@each_number
def test_reduction_in_error(relevant: int) -> None:
    qrels, runs, evaluation = made(relevant)
    for a, b in itertools.permutations(runs, 2):
        means = [
            {NAMES[name]: float(np.mean(own)) for name, own in measured(qrels, runs[run]).items()}
            for run in (a, b)
        ]
        view = iro.rrie(evaluation, a, b).view()
        rows = rows_of(view)
        assert {row["measure"] for row in rows} == set(NAMES.values())
        for row in rows:
            of_a, of_b = (own[row["measure"]] for own in means)
            assert shows(row["A"], of_a)
            assert shows(row["B"], of_b)
            # What B removes of the distance from 1, in % of the distance of A.
            removed = 100 * (1 - abs(of_b - 1) / abs(of_a - 1))
            assert shows(row["RRIE, %"].lstrip("-"), abs(removed))
            assert not float(row["RRIE, %"]) or (row["RRIE, %"][0] == "-") is (removed < 0)
        assert "distance from the optimum of 1 that B removes" in view.tables[0].captions[-2]


@each_number
def test_headroom(relevant: int) -> None:
    qrels, runs, evaluation = made(relevant)
    view = iro.headroom(evaluation).view()
    assert view.title == "What the best of 4 runs leaves to gain"
    values = {name: measured(qrels, run) for name, run in runs.items()}
    starts = {"ASL": [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]}
    for row in rows_of(view):
        own = next(name for name, called in NAMES.items() if called == row["measure"])
        means = {run: float(np.mean(by_measure[own])) for run, by_measure in values.items()}
        is_length = row["measure"].startswith("ASL")
        assert means[row["best run"]] == (min if is_length else max)(means.values())
        assert shows(row["mean"], means[row["best run"]])
        edges = starts["ASL"] if is_length else [tenth / 10 for tenth in range(10)]
        places = Counter(
            sum(edge <= value for edge in edges) - 1 for value in values[row["best run"]][own]
        )
        heading = list(row)[-1]
        assert [int(number) for number in row[heading].split()] == [
            places[place] for place in range(10)
        ]


def is_better(values: list[float], others: list[float], means: tuple[float, float]) -> bool:
    """Return whether the other run's mean is 10 % better, and significantly so."""
    change = np.subtract(others, values)
    if means[1] < 1.1 * means[0] or not change.any():
        return False
    return bool(scipy.stats.ttest_1samp(change, 0).pvalue <= 0.05)


@each_number
def test_reordering(relevant: int) -> None:
    """Of measures that are computed here: by how many runs each is beaten, the order, and the mean ratio."""
    qrels, runs, _ = made(relevant)
    evaluation = iro.evaluate(qrels, runs, cutoff=K, measures=[f"P@{K}", f"AP@{K}"])
    names = [f"P@{K}", f"AP@{K}", NAMES["all"]]
    view = iro.reordering(evaluation, measures=names).view()
    assert view.title == "Reordering of 4 runs"
    values = [
        {run: measured(qrels, own)[name] for run, own in runs.items()}
        for name in (*names[:2], "all")
    ]
    means = [{run: float(np.mean(own)) for run, own in by_run.items()} for by_run in values]
    means[2] = {run: 1 / mean for run, mean in means[2].items()}
    beaten: list[dict[str, int]] = []
    for by_run, of_runs in zip(values, means, strict=True):
        counts = {}
        for run in runs:
            counts[run] = sum(
                is_better(by_run[run], by_run[other], (of_runs[run], of_runs[other]))
                for other in runs
            )
        beaten.append(counts)
    rows = rows_of(view)
    assert len(rows) == 3
    for row, (old, new) in zip(rows, ((0, 1), (1, 2), (0, 2)), strict=True):
        moved = {run: abs(beaten[old][run] - beaten[new][run]) for run in runs}
        assert shows(row["sort"], 100 * max(moved.values()) / 4)
        assert moved[row["run"]] == max(moved.values())
        shown = (int(row["before"]), int(row["after"]))
        assert shown == (beaten[old][row["run"]], beaten[new][row["run"]])
        ratio = float(np.mean([means[new][run] / means[old][run] for run in runs]))
        assert shows(row["value"].removesuffix("x"), ratio)
        tau = scipy.stats.kendalltau(
            *([round(means[side][run], 9) for run in runs] for side in (old, new))
        ).statistic
        assert shows(row["tau"].lstrip("-"), abs(tau))
        assert not float(row["tau"]) or sign(float(row["tau"])) == sign(float(tau))
