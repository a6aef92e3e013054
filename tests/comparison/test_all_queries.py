"""What the verdict says about all queries: restricted search lengths, the guard, few differences, and other cutoffs."""

import time
from concurrent.futures import ThreadPoolExecutor
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
from ir_outcomes.statistics import Interval
from ir_outcomes.types import Unit
from tests.helpers import literal, strategies
from tests.helpers.comparisons import all_notes, compare_pair, compare_ranks, compare_several
from tests.helpers.runs import in_blocks, qrels_of, run_of, trec


@given(
    qrels=strategies.qrels,
    a=strategies.runs,
    b=strategies.runs,
    unit=st.sampled_from(["query", "document"]),
)
def test_restricted_lengths_against_the_definition(qrels: Any, a: Any, b: Any, unit: Any) -> None:
    pair = pair_queries(
        iro.search_lengths(qrels, a, cutoff=5), iro.search_lengths(qrels, b, cutoff=5), unit
    )
    restricted = pair.restricted
    assert restricted is not None
    k = min(5, max(len(run.get(q, {})) for q in qrels for run in (a, b)))
    assert restricted.horizon == k
    golds = [(q, gold) for q, judged in qrels.items() if (gold := literal.relevant(judged, 1))]
    for place, (q, gold) in enumerate(golds):
        found: list[list[float | None]] = []
        for top in (literal.ranked(run.get(q, {}), "trec")[:5] for run in (a, b)):
            if unit == "query":
                found.append([next((rank for rank, d in enumerate(top, 1) if d in gold), None)])
            else:
                found.append([literal.atom(top, gold, d) if d in top else None for d in gold])
        parts = {"both": 0.0, "won": 0.0, "lost": 0.0, "neither": 0.0}
        for x, y in zip(*found, strict=True):
            kind = (
                "neither"
                if x is None and y is None
                else "won"
                if x is None
                else "lost"
                if y is None
                else "both"
            )
            parts[kind] += ((y or k + 1) - (x or k + 1)) / len(found[0])
        of_query = {name: getattr(restricted, name)[place] for name in ("both", "won", "lost")}
        assert of_query | {"neither": 0.0} == pytest.approx(parts)
        assert restricted.contender[place] - restricted.baseline[place] == pytest.approx(
            sum(parts.values())
        )


def test_the_same_ranks_in_both_runs_are_not_better() -> None:
    """50 answers at rank 1 are lost and 50 at rank 90 won: ranks, coverage and mean reciprocal rank are the same."""
    a, b = in_blocks((50, 1, None), (50, None, 90), (50, 90, 1), (850, 5, 5))
    found, mirrored = compare_ranks(a, b), compare_ranks(b, a)
    assert (found.naive.difference, found.coverage.difference) == (0, 0)
    assert (found.verdict.label, found.verdict.do_no_harm, found.verdict.guard) == (
        "trade-off",
        "better",
        True,
    )
    assert (mirrored.verdict.label, mirrored.verdict.do_no_harm, mirrored.verdict.guard) == (
        "trade-off",
        "worse",
        True,
    )
    restricted = found.restricted
    assert restricted is not None
    assert (restricted.difference, restricted.both, restricted.won_and_lost) == pytest.approx(
        (0, -4.45, 4.45), abs=1e-12
    )
    assert (restricted.better, restricted.worse, restricted.equal) == (100, 50, 850)
    assert restricted.sign_test.pvalue == pytest.approx(scipy.stats.binomtest(50, 150).pvalue)
    assert (found.outcomes.lost_at, found.outcomes.won_at) == (1, 90)
    guard = "The guard acted: ranking is better, but what was won and lost by itself is 4.45 ranks longer"
    assert found.notes[0].startswith(guard)


@pytest.mark.parametrize(
    ("blocks", "label", "guard", "do_no_harm", "first"),
    [
        # Many late answers move up by 15 ranks, fewer fall from rank 1 to rank 2, so that
        # reciprocal ranks fall.
        (
            ((60, 1, 2), (60, 40, 25), (200, 3, 3)),
            "better on ranking",
            False,
            "better",
            "The mean over all queries goes",
        ),
        # Better ranking on what both found, and a loss of answers that is not significant: people
        # read more.
        (
            ((60, 3, 2), (2, 1, None)),
            "ranking gain, unconfirmed",
            False,
            "better",
            "Not confirmed on all queries: there the",
        ),
        (((60, 3, 2), (2, 1, 1)), "better on ranking", False, "better", ""),
        # Wilcoxon confirms: one query won and one lost dominate the spread of the mean, and most
        # queries are better.
        (
            ((40, 3, 2), (1, 1, None), (1, None, 1), (400, 1, 1)),
            "better on ranking",
            False,
            "better",
            "",
        ),
        (
            ((60, 30, 20), (20, 5, 5)),
            "better on ranking",
            False,
            "better",
            "Directions differ by cutoff: ",
        ),
        # Other words at another cutoff are no news.
        (((60, 30, 20), (30, None, 5)), "better on both facets", False, "better", ""),
    ],
)
def test_labels(blocks: Any, label: str, guard: bool, do_no_harm: str, first: str) -> None:
    found = compare_ranks(*in_blocks(*blocks))
    assert (found.verdict.label, found.verdict.guard, found.verdict.do_no_harm) == (
        label,
        guard,
        do_no_harm,
    )
    assert "".join(found.notes).startswith(first)
    assert first or not any("other cutoffs" in note for note in found.notes)


def test_four_differences_do_not_decide() -> None:
    found = compare_ranks(*in_blocks((30, None, 3), (4, 2, 3), (896, 2, 2), (70, None, None)))
    ranking = found.ranking
    assert (ranking.n, ranking.n_nonzero, ranking.test, ranking.pvalue) == (
        900,
        4,
        "signflip",
        0.125,
    )
    assert set(ranking.pvalues) == {"t", "wilcoxon", "signflip", "sign"}
    assert ranking.pvalues["t"] == pytest.approx(0.0453, abs=1e-3)
    assert found.verdict.label == "better on coverage"
    notes = "\n".join(all_notes(found))
    assert "Ranking: the runs differ on only 4 queries, too few for the t test (p = 0.045)" in notes
    assert (
        "nothing could be significant at 0.05 on ranking with 4 queries that differ (smallest"
        " possible p 0.12)" in notes
    )


@pytest.mark.filterwarnings("ignore:Precision loss")  # where all differences are equal
def test_the_sentence_follows_the_deciding_test_which_can_be_a_function() -> None:
    def signed_logs(d: np.ndarray) -> Any:
        return scipy.stats.ttest_1samp(np.copysign(np.log1p(np.abs(d)), d), 0)

    for test, name in (("wilcoxon", "signed ranks"), (signed_logs, "signed_logs()")):
        found = compare_ranks(*in_blocks((58, 2, 1), (2, 2, 90)), test=test)
        assert (found.verdict.do_no_harm, (found.ranking.difference or 0) > 0) == ("better", True)
        assert f"shorter by {name} (means" in found.verdict.sentence
    assert (found.settings.test, found.ranking.test) == ("signed_logs()", "signed_logs()")
    change = np.array([query.difference for query in found.per_query()])
    assert found.ranking.pvalue == pytest.approx(signed_logs(change).pvalue)
    balanced = in_blocks((30, 2, 1), (30, 1, 2))
    given: tuple[Any, ...] = scipy.stats.wilcoxon, lambda d: np.float32(0.25)
    assert [compare_ranks(*balanced, test=test).ranking.pvalue for test in given] == [1.0, 0.25]


def test_functions_of_one_name_stay_apart_in_threads_and_leave_nothing_behind() -> None:
    runs = in_blocks((30, 2, 1), (30, 1, 2))

    def pvalue_by(share: float) -> float:
        def own(differences: np.ndarray) -> float:
            time.sleep(0.001)  # the other threads go on
            return share

        return compare_ranks(*runs, test=own).ranking.pvalue

    shares = [place / 20 for place in range(1, 13)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(pvalue_by, shares)) == shares
    with pytest.raises(iro.ParameterError, match=r"own\(\)"):
        compare_ranks(*runs, test="own()")
    a, b = (
        run_of({f"q{n}": rank for n, rank in enumerate(ranks)}, 20)
        for ranks in ((1, 2, 3), (2, 2, 2))
    )
    evaluation = iro.evaluate(qrels_of(a), {"a": a, "b": b})
    with pytest.raises(iro.ParameterError, match=r"own\(\)"):
        iro.compare_cutoffs(evaluation, "a", "b", test="own()")  # type: ignore[arg-type]


def test_all_equal_differences_on_few_queries_are_inside_no_margin() -> None:
    few, many = (compare_ranks(*in_blocks((n, 3, 2)), margins=(60, 5)) for n in (12, 400))
    assert few.ranking.interval == Interval(-1, -1)
    assert (few.verdict.non_inferior, many.verdict.non_inferior) == (False, True)
    assert "Not shown to be non-inferior" in " ".join(str(few).split())
    a, _ = in_blocks((10, 3, None), (5, None, None))
    itself = compare_ranks(a, dict(a), margins=(0.1, 0.1)).verdict
    assert (itself.non_inferior, itself.equivalent) == (True, True)
    assert compare_ranks(a, dict(a)).verdict.non_inferior is None


def test_margins_are_corrected_over_the_family() -> None:
    ranks = np.random.default_rng(1).integers(5, 16, (3, 200)).tolist()
    runs = [run_of({f"q{n}": rank for n, rank in enumerate(of_run)}, 20) for of_run in ranks]
    given: Any = {"margins": (5.0, 0.3)}
    together = compare_several(qrels_of(runs[0]), *runs[:1], runs[1:], **given)[0].ranking
    alone = compare_pair(qrels_of(runs[0]), *runs[:2], **given).ranking
    wide, narrow = together.margin_interval, alone.margin_interval
    assert together.interval == alone.interval
    assert wide is not None
    assert narrow is not None
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.realdata
def test_cutoffs_are_the_labels_of_compare(real_data: Path) -> None:
    runs = sorted((real_data / "dl20-passage").glob("*.gz"))[:3]
    evaluation = iro.evaluate(real_data / "dl20-passage" / "qrels.txt", runs, rel=2)
    for unit in get_args(Unit):
        ev = replace(evaluation, unit=unit)
        found = compare_several(ev, ev.names[0], list(ev.names[1:]))
        for cutoff in (10, 1000):
            for item, other in zip(
                found,
                compare_several(ev, ev.names[0], list(ev.names[1:]), cutoff=cutoff),
                strict=True,
            ):
                at = dict(item.cutoffs)
                assert (cutoff in at) == (
                    cutoff <= min(run.depth for run in ev[[item.baseline, item.contender]])
                )
                assert at.get(cutoff, other.verdict.label) == other.verdict.label


def test_the_baseline_among_the_contenders_is_left_out(tmp_path: Path) -> None:
    a, b = in_blocks((20, 3, 2), (20, 2, 2))
    for name, ranks in {"a": a, "b": b, "c": a}.items():
        (tmp_path / f"{name}.run").write_text(trec(run_of(ranks)))
    found = compare_several(qrels_of(a), tmp_path / "a.run", str(tmp_path / "*.run"))
    assert ([item.contender for item in found], found[0].settings.family) == (["b", "c"], 2)
    assert (
        "The baseline was also among the contenders; it is not compared with itself."
        in found[0].background
    )


def test_uncorrected_comparisons_say_how_often_one_of_them_errs() -> None:
    a, b = in_blocks((40, None, 3), (200, 2, 2))
    runs = run_of(a), [run_of(b), run_of(b)]
    raw, holm = (
        compare_several(qrels_of(a), *runs, correction=rule)[0].background
        for rule in ("none", "holm")
    )
    assert any(
        "are not corrected" in note and "up to about 10 % of the time" in note for note in raw
    )
    assert not any("are not corrected" in note for note in holm)


def test_where_no_query_differs_an_interval_has_a_width_and_identical_runs_have_none() -> None:
    found, same = (
        compare_ranks(*in_blocks((50, 3, 3), *more), cutoff=20) for more in ([(2, None, 4)], [])
    )
    share = 1 - 0.025 ** (1 / 50)
    assert found.ranking.interval == pytest.approx((-19 * share, 19 * share))
    assert same.restricted is not None
    assert same.ranking.interval == same.restricted.interval == Interval(0, 0)
    unknown = iro.compare_outputs(
        *({f"q{n}": {"RR": 1 / 3} for n in range(9)} | {"x": {"RR": rr}} for rr in (0.0, 0.5))
    )
    assert isinstance(unknown, iro.Comparison)
    assert (unknown.ranking.n_nonzero, unknown.ranking.interval) == (0, None)


def test_notes_on_power_and_depth() -> None:
    few, flat = compare_ranks(*in_blocks((2, None, 3))), compare_ranks(*in_blocks((40, 3, 2)))
    assert any("not even 100 percentage points would be found" in note for note in all_notes(few))
    assert any("Ranking has no spread" in note for note in all_notes(flat))
    a, b = in_blocks((40, 3, 2), (10, 5, None))
    found = compare_pair(qrels_of(a), run_of(a, 20), run_of(b, 50), cutoff=100)
    (note,) = [note for note in found.notes if note.startswith("Unequal depth")]
    assert "so a gain may stay unconfirmed" in note
