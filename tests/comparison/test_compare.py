"""Families, margins, cutoffs, notes, lists and settings of comparisons; and drawn real pairs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import MismatchError, ParameterError
from ir_outcomes.pairs.rows import Row
from ir_outcomes.statistics.families import adjust
from tests.helpers import literal
from tests.helpers.comparisons import all_notes, compare_pair, compare_ranks, compare_several
from tests.helpers.estimate import margin_interval
from tests.helpers.labels import State, label_of
from tests.helpers.many import collection
from tests.helpers.runs import in_blocks, qrels_of, run_of, trec

CUTOFF = 5
MARGINS = (8.0, 1.0)


def sign_of(row: Row) -> int:
    return int(np.sign(row.gain))


@pytest.mark.parametrize("relevant", [1, 3])
@pytest.mark.parametrize("correction", ["holm", "bonferroni", "fdr_bh", "none"])
def test_a_family_corrects_each_row_and_labels_follow(correction: Any, relevant: int) -> None:
    qrels, runs = collection(4, 60, relevant=relevant, depth=30)
    options: Any = {"correction": correction, "alpha": 0.1}
    evaluation = iro.evaluate(qrels, runs, cutoff=CUTOFF)
    family = compare_several(evaluation, "run0", **options)
    alone = [compare_pair(evaluation, "run0", item.contender, **options) for item in family]
    for place, rows in enumerate(zip(*(item.deciding for item in family), strict=True)):
        expected = adjust([row.pvalue for row in rows], correction).tolist()
        assert [row.pvalue_corrected for row in rows] == expected
        for row, item in zip(rows, alone, strict=True):
            same = item.deciding[place]
            assert (row.pvalue, row.interval, row.tests) == (same.pvalue, same.interval, same.tests)
            found = sign_of(row) * (row.pvalue_corrected <= 0.1)
            assert row.found == {1: "better", -1: "worse", 0: "none"}[found]
    for item in family:
        coverage, ranking, everywhere = (
            State(sign_of(row), row.pvalue <= 0.1, row.pvalue_corrected <= 0.1)
            for row in item.deciding
        )
        assert item.verdict.label == label_of(coverage, ranking, everywhere)
    # Labels at other cutoffs are those of comparisons made there.
    for cutoff in (10, 20):
        there = compare_several(evaluation.with_cutoff(cutoff), "run0", **options)
        for item, other in zip(family, there, strict=True):
            assert dict(item.cutoffs)[cutoff] == other.verdict.label
            assert dict(item.cutoffs)[CUTOFF] == item.verdict.label
    assert family["run2"] == family[1]
    assert len(family[:2]) == 2
    with pytest.raises(KeyError, match="the contenders are run1, run2, run3"):
        family["run9"]


@pytest.mark.parametrize("relevant", [1, 3])
@pytest.mark.parametrize("clustered", [False, True])
def test_margins_take_their_interval(relevant: int, clustered: bool) -> None:
    qrels, runs = collection(3, 300, relevant=relevant)
    clusters = {query: query[:3] for query in qrels} if clustered else None
    evaluation = iro.evaluate(qrels, runs, cutoff=CUTOFF, clusters=clusters)
    said = set()
    for number, margins in enumerate((MARGINS, (40.0, 3.0, 3.0), (0.5, 0.1, 0.2))):
        for item in compare_several(evaluation, "run0", margins=margins):
            lists = [runs["run0"]], [runs[item.contender]]
            rows = literal.rows(qrels, *lists, item.unit, CUTOFF)
            implied = implied_margin(qrels, runs["run0"], margins, item.ranking.n)
            for row, size in zip(item.deciding, (*margins, implied), strict=False):
                assert row.margin is not None
                assert row.largest is not None
                sums = literal.units(rows[row.name], clusters)
                expected = margin_interval(sums, row.largest, 0.05 / 2)
                assert row.margin.interval == pytest.approx(expected)
                assert row.margin.size == pytest.approx(size)
                low, high = expected
                gains = expected if row.higher_is_better else (-high, -low)
                says = "harm shown" if gains[1] < -size else "not excluded"
                assert row.margin.found == ("harm excluded" if gains[0] > -size else says)
                assert row.margin.equivalent == (-size < gains[0] and gains[1] < size)
            of_rows = [row.margin for row in item.deciding if row.margin is not None]
            safe = all(margin.found == "harm excluded" for margin in of_rows)
            assert item.verdict.non_inferior == safe
            assert item.verdict.equivalent == all(margin.equivalent for margin in of_rows)
            said.add((number, safe))
    assert {(1, True), (2, False)} <= said


def implied_margin(qrels: Any, run: Any, margins: Any, n_shared: int) -> float:
    """Ranking margin x s + coverage margin / 100 x w: by query w is k, by document k + n - f."""
    n_relevant = [len(judged) for judged in qrels.values()]
    n_found = [
        len({*judged} & {*literal.ranked(run[query], "trec")[:CUTOFF]})
        for query, judged in qrels.items()
    ]
    w = float(CUTOFF)
    if max(n_relevant) > 1:
        w += float(np.mean(n_relevant) - np.mean(n_found))
    return float(min(margins[1] * n_shared / len(qrels) + margins[0] / 100 * w, CUTOFF))


def test_identical_runs_are_inside_of_any_margin() -> None:
    a, _ = in_blocks((10, 3, None), (5, None, None))
    for margins, expected in (((0.1, 0.1), True), (None, None)):
        found = compare_ranks(a, dict(a), margins=margins)
        assert (found.verdict.non_inferior, found.verdict.equivalent) == (expected, expected)
        assert {row.interval for row in found.deciding} == {(0.0, 0.0)}
    # The same ranks of other documents are no proof.
    other = compare_pair(qrels_of(a), run_of(a, 20), run_of(a, 21), margins=(0.1, 0.1))
    assert (other.identical, other.verdict.non_inferior) == (False, False)


@pytest.mark.parametrize(("depth", "shown"), [(19, [10]), (20, [10, 20]), (50, [10, 20, 50])])
def test_cutoffs_go_to_the_longest_list_of_the_shallower_run(depth: int, shown: list[int]) -> None:
    a, b = in_blocks((30, 3, 2), (30, 9, 15))
    for first, second in ((120, depth), (depth, 120)):
        found = compare_pair(qrels_of(a), run_of(a, first), run_of(b, second))
        assert [at.cutoff for at in found.cutoffs] == [*shown, 100]
        assert "depth" in kinds(found)


# Kind -> how many queries have which ranks in A and B, and settings.
NOTES: dict[str, tuple[Any, dict[str, Any]]] = {
    "opposite mean": (((60, 2, 1), (20, 5, 60), (20, 3, 3)), {}),
    "few decide": (((20, 40, 10), (20, 2, 3), (20, 3, 3)), {}),
    "other cutoffs": (((60, 90, 20), (25, 5, None)), {}),
    "few differences": (((3, 2, 1), (60, 2, 2)), {}),
    "clusters": (((60, 3, 2),), {"clusters": {f"q{n}": str(n // 3) for n in range(60)}}),
}


def kinds(found: iro.Comparison) -> set[str]:
    return {note.kind for note in all_notes(found)}


@pytest.mark.parametrize("kind", NOTES)
def test_notes_stand_where_they_belong_also_for_mirrored_runs(kind: str) -> None:
    blocks, options = NOTES[kind]
    a, b = in_blocks(*blocks)
    found = kinds(compare_ranks(a, b, **options))
    assert kind in found
    assert kinds(compare_ranks(b, a, **options)) == found
    assert kind not in kinds(compare_ranks(*in_blocks((60, 3, 2), (20, 2, 2))))


@pytest.mark.parametrize(("missing", "kind"), [(0, None), (2, "missing"), (3, "many missing")])
def test_results_that_are_missing(missing: int, kind: str | None) -> None:
    a, _ = in_blocks((40, 3, None))
    b = dict(list(a.items())[missing:])
    found = compare_pair(qrels_of(a), run_of(a), run_of(b))
    assert found.n_missing == (0, missing)
    assert kinds(found) & {"missing", "many missing"} == ({kind} if kind else set())


@pytest.mark.parametrize(("judged", "is_uneven"), [((5, 5), False), ((6, 2), True), ((2, 6), True)])
def test_runs_that_are_judged_unequally(judged: tuple[int, int], is_uneven: bool) -> None:
    """Of ten documents of each run so many are judged."""
    qrels = {
        f"q{n}": {
            "gold": 1,
            **{f"{run}{d}": 0 for run, m in zip("ab", judged, strict=True) for d in range(m)},
        }
        for n in range(9)
    }
    runs = [
        {query: {"gold": 99.0} | {f"{run}{d}": float(-d) for d in range(9)} for query in qrels}
        for run in "ab"
    ]
    assert ("judged unequally" in kinds(compare_pair(qrels, *runs))) == is_uneven
    positives = {query: {"gold": 1} for query in qrels}
    assert not kinds(compare_pair(positives, *runs)) & {"judged unequally", "unjudged"}
    assert not kinds(compare_pair(qrels, *runs, judged_only=True)) & {"judged unequally"}


def test_a_grade_that_does_not_count_in_trec_dl_is_noted() -> None:
    qrels = {f"{number}": {"7": 3, "8": 1, "9": 0} for number in range(40)}
    runs = [dict.fromkeys(qrels, scores) for scores in ({"7": 2.0, "8": 1.0}, {"8": 2.0})]
    for rel, is_said in ((1, True), (2, False)):
        found = compare_pair(qrels, *runs, rel=rel, allow=["unknown-ids"])
        assert ("grades" in kinds(found)) == is_said


def test_uncorrected_families_say_how_often_one_of_them_errs() -> None:
    a, b = in_blocks((40, None, 3), (200, 2, 2))
    runs = run_of(a), [run_of(b), run_of(b)]
    for correction in ("none", "holm"):
        first, _ = compare_several(qrels_of(a), *runs, correction=correction)
        assert ("chances" in kinds(first)) == (correction == "none")


def test_documents_that_the_qrels_do_not_know_stop_a_comparison() -> None:
    qrels, runs = collection(2, 40, relevant=2)
    a, b = runs.values()
    wrong = {query: {f"{d}.0": score for d, score in run.items()} for query, run in b.items()}
    with pytest.raises(MismatchError, match=r"allow=\['unknown-ids'\]"):
        compare_pair(qrels, a, wrong)
    found = compare_pair(qrels, a, wrong, allow=["unknown-ids"])
    assert found.notes[0].kind == "unknown-ids"
    assert (found.ranking.n, found.ranking.difference, found.ranking.gain) == (0, None, 0.0)
    assert "1.000" not in "".join(
        line for line in str(found).splitlines() if line.startswith("ranking, ")
    )


@pytest.mark.parametrize(
    "blocks", [[(1, 1, 1)], [(1, 1, 3)], [(1, 1, None), (1, None, 1)], [(1, 1, 2), (1, 2, 3)]]
)
def test_degenerate_pairs_are_defined(blocks: Any) -> None:
    found = compare_ranks(*in_blocks(*blocks))
    assert found.verdict.label == "no significant difference"
    assert "nan" not in str(found).lower()


def test_queries_are_listed_by_what_happened_to_them() -> None:
    a = {"q1": 1, "q2": 9, "q3": None, "q4": 5, "q5": 3, "q6": 2}
    b = {"q1": None, "q2": 1, "q3": 4, "q4": 6, "q5": 9, "q6": None}
    found: Any = compare_ranks(a, b)  # which takes any text, without a type checker
    for which, expected in (
        (None, [*a]),
        ("lost", ["q1", "q6"]),
        ("won", ["q3"]),
        ("worse", ["q5", "q4"]),
    ):
        assert [query.query_id for query in found.per_query(which)] == expected
    assert [query.query_id for query in found.per_query("better", top=1)] == ["q2"]
    with pytest.raises(ParameterError, match="must be one of won, lost, better, worse"):
        found.per_query("best")
    with pytest.raises(ParameterError, match="stored without its queries"):
        iro.Comparison.from_json(found.to_json()).per_query()


def test_runs_are_compared_once(tmp_path: Path) -> None:
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    first, second = {"q": {"a": 1.0}}, {"r": {"b": 1.0}}
    evaluation = iro.evaluate(qrels, {"x": first, "y": second, "z": first})
    found = compare_several(evaluation, "x", ["y", "y", "z"])
    assert ([item.contender for item in found], found[0].settings.family) == (["y", "z"], 2)
    with pytest.raises(ParameterError, match="rel and names: an evaluation has its own"):
        iro.compare(evaluation, "x", rel=2, names=["X", "Y", "Z"])
    for name, run in {"a": first, "b": second}.items():
        (tmp_path / f"{name}.run").write_text(trec(run))
    (item,) = compare_several(qrels, tmp_path / "a.run", str(tmp_path / "*.run"))
    assert (item.contender, item.settings.family) == ("b", 1)
    assert "left out" in kinds(item)
