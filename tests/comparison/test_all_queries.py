"""What the verdict says about all queries: restricted search lengths, the guard, few differences, and other cutoffs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.comparison.outcomes import pair_queries
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.statistics import Interval
from ir_outcomes.types import Unit
from tests.helpers import literal, strategies
from tests.helpers.comparisons import all_notes, compare_pair, compare_several
from tests.helpers.runs import qrels_of, run_of

Ranks = dict[str, int | None]


def compare(a: Ranks, b: Ranks, depth: int = 100, **settings: Any) -> Comparison:
    result = compare_pair(qrels_of(a), run_of(a, depth), run_of(b, depth), names=["A", "B"], **settings)
    return result


def in_blocks(*blocks: tuple[int, int | None, int | None]) -> tuple[Ranks, Ranks]:
    """Ranks in two runs: how many queries have which rank in A and in B."""
    pairs = [(a, b) for number, a, b in blocks for _ in range(number)]
    return {f"q{n}": a for n, (a, _) in enumerate(pairs)}, {f"q{n}": b for n, (_, b) in enumerate(pairs)}


@given(qrels=strategies.qrels, a=strategies.runs, b=strategies.runs, unit=st.sampled_from(["query", "document"]))
def test_restricted_lengths_against_the_definition(qrels: Any, a: Any, b: Any, unit: Any) -> None:
    pair = pair_queries(iro.search_lengths(qrels, a, cutoff=5), iro.search_lengths(qrels, b, cutoff=5), unit)
    golds = {q: literal.relevant(judged, 1) for q, judged in qrels.items()}
    golds = {q: gold for q, gold in golds.items() if gold}
    tops = [{q: literal.ranked(run.get(q, {}), "trec")[:5] for q in golds} for run in (a, b)]
    depths = [max((len(run.get(q, {})) for q in qrels), default=0) for run in (a, b)]
    k = min(5, max(depths))
    restricted = pair.restricted
    assert restricted is not None
    assert restricted.horizon == k
    for place, (q, gold) in enumerate(golds.items()):
        found: list[list[float | None]] = []
        for top in tops:
            order = top[q]
            if unit == "query":
                found.append([next((r for r, d in enumerate(order, 1) if d in gold), None)])
            else:
                found.append([literal.atom(order, gold, d) if d in order else None for d in gold])
        both = won = lost = 0.0
        for x, y in zip(*found, strict=True):
            if x is not None and y is not None:
                both += y - x
            elif y is not None:
                won += y - (k + 1)
            elif x is not None:
                lost += k + 1 - x
        n = len(found[0])
        parts = (restricted.both[place], restricted.won[place], restricted.lost[place])
        assert parts == pytest.approx((both / n, won / n, lost / n))
        assert restricted.contender[place] - restricted.baseline[place] == pytest.approx(sum(parts))


def test_the_same_ranks_in_both_runs_are_not_better() -> None:
    """50 answers at rank 1 are lost and 50 at rank 90 won: ranks, coverage and mean reciprocal rank are the same."""
    a, b = in_blocks((50, 1, None), (50, None, 90), (50, 90, 1), (850, 5, 5))
    assert sorted(map(str, a.values())) == sorted(map(str, b.values()))
    found = compare(a, b)
    assert found.naive.difference == 0
    assert found.coverage.difference == 0
    assert found.verdict.do_no_harm == "better"
    assert found.verdict.guard is True
    assert found.verdict.label == "trade-off"
    restricted = found.restricted
    assert restricted is not None
    assert restricted.difference == pytest.approx(0, abs=1e-12)
    assert restricted.both == pytest.approx(-4.45)
    assert restricted.won_and_lost == pytest.approx(4.45)
    assert (restricted.better, restricted.worse, restricted.equal) == (100, 50, 850)
    assert restricted.sign_test.pvalue == pytest.approx(scipy.stats.binomtest(50, 150).pvalue)
    assert (found.outcomes.lost_at, found.outcomes.won_at) == (1, 90)
    assert found.notes[0].startswith(
        'The guard acted: the facets alone say "better", but what was won and lost by itself makes it 4'
    )
    mirrored = compare(b, a)
    assert (mirrored.verdict.label, mirrored.verdict.do_no_harm, mirrored.verdict.guard) == ("trade-off", "worse", True)


def test_an_opposite_naive_mean_changes_no_label_and_is_the_first_note() -> None:
    # Many late answers move up by 15 ranks, fewer fall from rank 1 to rank 2, so that reciprocal ranks fall.
    a, b = in_blocks((60, 1, 2), (60, 40, 25), (200, 3, 3))
    found = compare(a, b)
    assert found.verdict.label == "trade-off" or found.verdict.label.startswith("better")
    if found.verdict.label.startswith("better"):
        assert found.notes[0].startswith("The mean over all queries goes the other way: MRR")


def test_four_differences_do_not_decide() -> None:
    a, b = in_blocks((30, None, 3), (4, 2, 3), (896, 2, 2), (70, None, None))
    found = compare(a, b)
    ranking = found.ranking
    assert (ranking.n, ranking.n_nonzero) == (900, 4)
    assert ranking.pvalues["t"] == pytest.approx(0.0453, abs=1e-3)
    assert ranking.pvalues["wilcoxon"] == ranking.pvalues["signflip"] == 0.125
    assert (ranking.test, ranking.pvalue) == ("signflip", 0.125)
    assert found.verdict.label == "better without harm"
    notes = "\n".join(all_notes(found))
    assert "Ranking: the runs differ on only 4 queries, too few for the t test (p = 0.045)" in notes
    assert "nothing could be significant at 0.05 on ranking with 4 queries that differ (smallest possible p 0.12)" in notes


def test_the_sentence_follows_the_deciding_test() -> None:
    a, b = in_blocks((58, 2, 1), (2, 2, 90))
    found = compare(a, b, test="wilcoxon")
    assert found.verdict.do_no_harm == "better"
    assert found.ranking.difference is not None
    assert found.ranking.difference > 0
    assert "shorter by signed ranks (means" in found.verdict.sentence
    assert "longer" not in found.verdict.sentence
    nothing = compare(*in_blocks((10, 2, 2)))
    assert nothing.verdict.sentence.startswith("There is no significant difference between B and A: B answers as many")


@pytest.mark.filterwarnings("ignore:Precision loss")  # where all differences are equal
def test_a_function_of_the_differences_decides() -> None:
    def signed_logs(d: np.ndarray) -> Any:
        return scipy.stats.ttest_1samp(np.copysign(np.log1p(np.abs(d)), d), 0)

    found = compare(*in_blocks((58, 2, 1), (2, 2, 90)), test=signed_logs)
    assert (found.settings.test, found.ranking.test) == ("signed_logs()", "signed_logs()")
    change = np.array([query.difference for query in found.per_query()])
    assert found.ranking.pvalue == pytest.approx(signed_logs(change).pvalue)
    assert found.ranking.difference is not None
    assert found.ranking.difference > 0 > found.ranking.decides.direction
    assert found.verdict.do_no_harm == "better"
    assert "shorter by signed_logs() (means" in found.verdict.sentence
    assert iro.Comparison.from_json(found.to_json(per_query=True)) == found
    assert compare(*in_blocks((30, 2, 1), (30, 1, 2)), test=scipy.stats.wilcoxon).ranking.pvalue == 1.0
    assert compare(*in_blocks((30, 2, 1), (30, 1, 2)), test=lambda d: np.float32(0.25)).ranking.pvalue == 0.25


def test_a_run_against_itself_is_non_inferior_and_equivalent() -> None:
    a, _ = in_blocks((10, 3, None), (5, None, None))
    found = compare(a, dict(a), margins=(0.1, 0.1))
    assert (found.verdict.non_inferior, found.verdict.equivalent) == (True, True)


def test_all_equal_differences_on_few_queries_are_inside_no_margin() -> None:
    few, many = compare(*in_blocks((12, 3, 2)), margins=(60, 5)), compare(*in_blocks((40, 3, 2)), margins=(60, 5))
    assert few.ranking.interval == Interval(-1, -1)
    assert (few.verdict.non_inferior, many.verdict.non_inferior) == (False, True)


def test_margins_are_corrected_over_the_family() -> None:
    rng = np.random.default_rng(1)
    a: Ranks = {f"q{n}": 20 for n in range(400)}
    runs = {
        f"B{m}": run_of({q: 20 + int(step) for q, step in zip(a, rng.integers(-5, 6, 400), strict=True)}, 100) for m in range(8)
    }
    family = compare_several(qrels_of(a), run_of(a, 100), runs, margins=(5.0, 0.3))
    alone = [compare_pair(qrels_of(a), run_of(a, 100), run, margins=(5.0, 0.3)) for run in runs.values()]
    for corrected, raw in zip(family, alone, strict=True):
        assert corrected.ranking.interval == raw.ranking.interval
        wide, narrow = corrected.ranking.margin_interval, raw.ranking.margin_interval
        assert wide is not None
        assert narrow is not None
        assert wide.low < narrow.low < narrow.high < wide.high
        assert not corrected.verdict.non_inferior or raw.verdict.non_inferior


@pytest.mark.parametrize(
    ("folder", "rel", "n_runs", "cutoffs"),
    [("dl20-passage", 2, 5, (10, 20, 50, 100, 1000)), ("msmarco-doc-dev", 1, 2, (10, 50))],
)
@pytest.mark.realdata
def test_cutoffs_are_the_labels_of_compare(
    real_data: Path, folder: str, rel: int, n_runs: int, cutoffs: tuple[int, ...]
) -> None:
    runs = sorted(path for path in (real_data / folder).glob("*.gz"))[:n_runs]
    evaluation = iro.evaluate(real_data / folder / "qrels.txt", runs, rel=rel)
    for unit in get_args(Unit):
        ev = replace(evaluation, unit=unit)
        found = compare_several(ev, ev.names[0], list(ev.names[1:]))
        for cutoff in cutoffs:
            labels = [item.verdict.label for item in compare_several(ev, ev.names[0], list(ev.names[1:]), cutoff=cutoff)]
            for item, label in zip(found, labels, strict=True):
                at = dict(item.cutoffs)
                depth = min(int(ev[name].retrieved.max()) for name in (item.baseline, item.contender))
                assert (cutoff in at) == (cutoff <= depth or cutoff == 100)
                assert at.get(cutoff, label) == label


def test_the_baseline_among_the_contenders_is_left_out(tmp_path: Path) -> None:
    a, b = in_blocks((20, 3, 2), (20, 2, 2))
    runs = {"a": run_of(a), "b": run_of(b), "c": run_of(a)}
    for name, run in runs.items():
        lines = [f"{q} Q0 {d} 1 {s} x" for q, ranking in run.items() for d, s in ranking.items()]
        (tmp_path / f"{name}.run").write_text("\n".join(lines))
    found = compare_several(qrels_of(a), tmp_path / "a.run", str(tmp_path / "*.run"))
    assert [item.contender for item in found] == ["b", "c"]
    assert found[0].settings.family == 2
    assert "The baseline was also among the contenders; it is not compared with itself." in found[0].background
    objects = compare_several(qrels_of(a), runs["a"], [runs["a"], runs["b"]])
    assert len(objects) == 1


def test_uncorrected_comparisons_say_how_often_one_of_them_errs() -> None:
    a, b = in_blocks((40, None, 3), (200, 2, 2))
    notes = {}
    for correction in ("none", "holm"):
        found = compare_several(qrels_of(a), run_of(a), {"B": run_of(b), "C": run_of(b)}, correction=correction)
        assert found[0].verdict.direction == "better"
        notes[correction] = [note for note in found[0].background if "are not corrected" in note]
    assert "up to about 10 % of the time" in notes["none"][0]
    assert notes["holm"] == []


def test_a_direction_of_one_facet_needs_all_queries() -> None:
    """Better ranking on what both found, and a loss of answers that is not significant: people read more."""
    found = compare(*in_blocks((60, 3, 2), (2, 1, None)))
    assert (found.verdict.do_no_harm, found.verdict.guard) == ("better", False)
    assert (found.verdict.label, found.verdict.direction) == ("ranking gain, unconfirmed", "none")
    assert found.restricted is not None
    assert found.restricted.difference > 0
    assert found.notes[0].startswith("Not confirmed on all queries: there the search is ")
    assert " ranks longer (" in found.notes[0]
    mirrored = compare(*in_blocks((60, 2, 3), (2, None, 1)))
    assert (mirrored.verdict.label, mirrored.verdict.direction) == ("ranking loss, unconfirmed", "none")
    confirmed = compare(*in_blocks((60, 3, 2), (2, 1, 1)))
    assert (confirmed.verdict.label, confirmed.verdict.direction) == ("better without harm", "better")


def test_wilcoxon_confirms_what_one_lost_and_one_won_query_hide_from_t() -> None:
    """The mean moves in the same direction, and most queries do; one query won and one lost dominate the spread."""
    found = compare(*in_blocks((40, 3, 2), (1, 1, None), (1, None, 1), (400, 1, 1)))
    assert found.restricted is not None
    assert found.restricted.difference < 0
    assert found.restricted.test.pvalue > 0.05
    assert found.verdict.label == "better without harm"


def test_other_words_at_another_cutoff_are_no_news_but_another_direction_is() -> None:
    both = compare(*in_blocks((60, 30, 20), (30, None, 5)))
    assert {at.direction for at in both.cutoffs} == {"better"}
    assert len({at.label for at in both.cutoffs}) > 1
    assert not any(note.startswith("Another direction at other cutoffs: ") for note in both.notes)
    late = compare(*in_blocks((60, 30, 20), (20, 5, 5)))
    assert late.verdict.direction == "better"
    assert any(note.startswith("Another direction at other cutoffs: ") for note in late.notes)


def test_where_no_query_differs_an_interval_has_a_width_and_identical_runs_have_none() -> None:
    n = 50
    found = compare(*in_blocks((n, 3, 3), (2, None, 4)), cutoff=20)
    share = 1 - 0.025 ** (1 / n)
    assert found.ranking.interval == pytest.approx((-19 * share, 19 * share))
    assert any(" ranks cannot be ruled out" in note or "ranks is possible" in note for note in all_notes(found))
    same = compare(*in_blocks((n, 3, 3)), cutoff=20)
    assert same.ranking.interval == Interval(0, 0)
    assert same.restricted is not None
    assert same.restricted.interval == Interval(0, 0)
    unknown = iro.compare_outputs(*({f"q{n}": {"RR": 1 / 3} for n in range(9)} | {"x": {"RR": rr}} for rr in (0.0, 0.5)))
    assert isinstance(unknown, iro.Comparison)
    assert (unknown.ranking.n_nonzero, unknown.ranking.interval) == (0, None)


def test_no_spread_is_told_from_not_reachable() -> None:
    few = compare(*in_blocks((2, None, 3)))
    assert any("not even 100 percentage points would be found" in note for note in all_notes(few))
    assert any("Ranking has no spread" in note for note in all_notes(compare(*in_blocks((40, 3, 2)))))


def test_unequal_depth_can_withhold_the_confirmation() -> None:
    a, b = in_blocks((40, 3, 2), (10, 5, None))
    found = compare_pair(qrels_of(a), run_of(a, 20), run_of(b, 50), cutoff=100)
    (note,) = [note for note in found.notes if note.startswith("Unequal depth")]
    assert "so a gain may stay unconfirmed" in note
    assert not any("withhold" in note for note in compare(a, b, cutoff=2).notes)


def test_one_document_more_does_not_change_the_kind_of_test() -> None:
    """Both runs find the same documents, or one finds one document fewer: the interval moves a little, and no test changes."""
    qrels = {f"q{n}": {f"d{m}": 1 for m in range(20)} for n in range(43)}
    run = {q: {f"d{m}": 50.0 - m for m in range(20)} for q in qrels}
    fewer = {q: dict(ranking) for q, ranking in run.items()}
    del fewer["q0"]["d19"]
    same = compare_pair(qrels, run, {q: dict(ranking) for q, ranking in run.items()}, margins=(1.0, 1.0))
    almost = compare_pair(qrels, run, fewer, margins=(1.0, 1.0))
    assert same.coverage.test == almost.coverage.test == "signflip"
    assert same.coverage.interval is not None
    assert almost.coverage.interval is not None
    assert abs(same.coverage.interval.low - almost.coverage.interval.low) < 0.5
    assert -100 <= same.coverage.interval.low <= same.coverage.interval.high <= 100
